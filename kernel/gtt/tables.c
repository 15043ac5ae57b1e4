// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table pages and their shadow pages. Drivers point all unused entries at one scratch chain, so shadow pages are
 * shared by (guest page, level); with one guest page at several levels (which no driver does, but an attacker)
 * it has a shadow page for each. Levels only ever go down, so there are no cycles.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "mm_types.h"

struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_mm *mm, u64 gfn, u64 *guest, int ggtt_page)
{
	struct ghyvi_table_page *table;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->snapshot = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!table->snapshot) {
		kfree(table);
		return NULL;
	}
	table->gfn = gfn;
	table->guest = guest;
	table->ggtt_page = ggtt_page;
	table->history.rank = GHYVI_RANK_UNKNOWN;
	table->history.leaf = true;
	table->tree = &mm->shared_tree;
	INIT_LIST_HEAD(&table->relaxed_node);
	return table;
}

void ghyvi_table_free(struct ghyvi_mm *mm, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(mm, table);
	ghyvi_table_clear_relaxed(mm, table);
	free_page((unsigned long)table->snapshot);
	kfree(table);
}

static struct ghyvi_table_page *table_create(struct ghyvi_mm *mm, u64 gfn, unsigned int level)
{
	const struct ghyvi_mm_params *p = &mm->params;
	struct ghyvi_table_page *table;
	unsigned int i;
	u64 bus;
	int ret;

	if (mm->nr_tables >= mm->tuning.tables_max)
		return ERR_PTR(-ENOSPC);
	ret = ghyvi_pin_page(mm, gfn, &bus);
	if (ret) {
		ghyvi_count(p->stats, pin_failures);
		return ERR_PTR(ret);
	}
	table = ghyvi_table_alloc(mm, gfn, phys_to_virt(bus), -1);
	if (!table) {
		ret = -ENOMEM;
		goto err_unpin;
	}
	ret = xa_err(xa_store(&mm->tables, gfn, table, GFP_KERNEL_ACCOUNT));
	if (ret)
		goto err_free;
	ghyvi_pin_table(mm, gfn, true);
	mm->nr_tables++;
	atomic64_inc(&p->stats->tables_now);
	atomic64_inc(&p->stats->pinned_pages_now);

	/* arm before scan */
	ghyvi_table_protect_initial(mm, table, level);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		table->snapshot[i] = READ_ONCE(table->guest[i]);
	return table;

err_free:
	ghyvi_table_free(mm, table);
err_unpin:
	p->hv_ops->unpin(p->hv, gfn);
	return ERR_PTR(ret);
}

static void table_destroy(struct ghyvi_mm *mm, struct ghyvi_table_page *table)
{
	u64 gfn = table->gfn;

	xa_erase(&mm->tables, gfn);
	ghyvi_pin_table(mm, gfn, false);
	mm->nr_tables--;
	mm->tables_freed += table->has_blocked_alias || mm->table_limit_hit;
	mm->table_limit_hit = false;
	atomic64_dec(&mm->params.stats->tables_now);
	trace_ghyvi_table_free(mm->params.reporter, gfn);
	ghyvi_table_free(mm, table);
	mm->params.hv_ops->unpin(mm->params.hv, gfn);
	atomic64_dec(&mm->params.stats->pinned_pages_now);
}

bool ghyvi_tables_in(struct ghyvi_mm *mm, u64 gfn, u64 count)
{
	unsigned long at = gfn;

	return xa_find(&mm->tables, &at, gfn + count - 1, XA_PRESENT);
}

/* Translate entry @index of a shadow page above the last level, which reads @value in the guest. */
static u64 shadow_translate(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index, u64 value)
{
	u64 entry = ghyvi_entry_translate(mm, page->level, value, page->tree);
	struct ghyvi_table_page *child;

	if (page->level != GHYVI_LEVEL_PD || !(value & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(page->level, value))
		return entry;
	child = xa_load(&mm->tables, ghyvi_entry_gfn(value));
	if (child && entry != ghyvi_entry_scratch(mm, page->level) &&
	    ghyvi_entry_below(mm, page->level, value) == GHYVI_LEVEL_PT_64K)
		entry |= ghyvi_table_64k_link(mm, child->shadows[GHYVI_LEVEL_PT_64K], page, index);
	if (child) {
		child->parent_gfn = page->table->gfn;
		child->parent_index = index;
		trace_ghyvi_table_link(mm->params.reporter, child->gfn, page->tree->id, child->parent_gfn,
				       index);
	}
	return entry;
}

struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_mm *mm, const struct ghyvi_table_page *table,
					       int by)
{
	struct ghyvi_table_page *parent;
	unsigned int index = table->parent_index + by;

	if (ghyvi_table_is_ggtt(table)) {
		index = table->ggtt_page + by;
		return index < mm->nr_ggtt_tables ? mm->ggtt_tables[index] : NULL;
	}
	parent = xa_load(&mm->tables, table->parent_gfn);
	/* The guest may have linked it elsewhere meanwhile. */
	if (!parent || !parent->shadows[GHYVI_LEVEL_PD] || index >= GHYVI_ENTRIES ||
	    ghyvi_entry_gfn(parent->snapshot[table->parent_index]) != table->gfn ||
	    !(parent->snapshot[index] & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(GHYVI_LEVEL_PD, parent->snapshot[index]))
		return NULL;
	return xa_load(&mm->tables, ghyvi_entry_gfn(parent->snapshot[index]));
}

void ghyvi_table_defer_entry(struct ghyvi_mm *mm, struct ghyvi_table_page *table, unsigned int index)
{
	u64 bit = BIT_ULL(index % 64);

	if (!table->retry)
		table->generation = mm->generation;
	if (mm->defer_err != -EFAULT)
		ghyvi_table_set_nomem(table, index);
	else if (!ghyvi_table_entry_deferred(table, index))
		table->unbacked[index / 64] |= bit;
	table->deferred[index / 64] |= bit;
	table->retry = true;
	mm->has_deferred = true;
	ghyvi_table_mark_relaxed(mm, table);
	mm->defer_err = 0;
}

static void table_wait_no_more(struct ghyvi_table_page *table, unsigned int index)
{
	table->deferred[index / 64] &= ~BIT_ULL(index % 64);
	table->unbacked[index / 64] &= ~BIT_ULL(index % 64);
}

/* Entry @index of the guest, not of the last level, was @old and is @value. */
static void shadow_set_one(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index, u64 old,
			   u64 value)
{
	u64 old_entry = page->entries[index];

	WRITE_ONCE(page->entries[index], shadow_translate(mm, page, index, value));
	ghyvi_entry_release(mm, page, index, old, old_entry);
}

/* @count entries of the guest from @index on were @old and are @values. */
static void shadow_set(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index, const u64 *old,
		       const u64 *values, unsigned int count)
{
	unsigned int i;

	if (page->level == GHYVI_LEVEL_PT) {
		ghyvi_leaf_set(mm, page, index, old, values, count);
		return;
	}
	for (i = 0; i < count; i++) {
		if (values[i] == old[i])
			continue;
		if (page->level == GHYVI_LEVEL_PT_64K)
			ghyvi_group_set(mm, page, index + i, old[i], values[i]);
		else
			shadow_set_one(mm, page, index + i, old[i], values[i]);
		if (mm->defer_err)
			ghyvi_table_defer_entry(mm, page->table, index + i);
	}
}

void ghyvi_shadow_clear(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry)
{
	u64 old_entry;

	if (page->level == GHYVI_LEVEL_PT) {
		ghyvi_leaf_clear(mm, page, index, guest_entry);
		return;
	}
	if (page->level == GHYVI_LEVEL_PT_64K) {
		ghyvi_group_clear(mm, page, index, guest_entry);
		return;
	}
	old_entry = page->entries[index];
	WRITE_ONCE(page->entries[index], ghyvi_entry_scratch(mm, page->level));
	ghyvi_entry_release(mm, page, index, guest_entry, old_entry);
}

/* Entries of a new page, from the snapshot. */
static void shadow_fill(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page)
{
	static const u64 none[GHYVI_PTES_PER_LINE];
	unsigned int at;

	for (at = 0; at < GHYVI_ENTRIES; at += GHYVI_PTES_PER_LINE) {
		shadow_set(mm, page, at, none, page->table->snapshot + at, GHYVI_PTES_PER_LINE);
		cond_resched();
	}
}

static struct ghyvi_shadow_page *shadow_create(struct ghyvi_mm *mm, struct ghyvi_table_page *table,
					       unsigned int level, struct ghyvi_tree *tree)
{
	const struct ghyvi_mm_params *p = &mm->params;
	struct ghyvi_shadow_page *page;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->entries = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		goto err_free;
	if (p->pgpu_ops->own_page(p->client, virt_to_phys(page->entries), GHYVI_PAGE_TABLE))
		goto err_page;
	page->table = table;
	page->level = level;
	page->refs = 1;
	page->tree = tree;
	tree->pages++;
	if (level == GHYVI_LEVEL_PT_64K)
		ghyvi_count(p->stats, tables_64k);
	INIT_LIST_HEAD(&page->dying);
	table->shadows[level] = page;
	table->levels |= BIT(level);
	if (level > GHYVI_LEVEL_PT)
		table->history.leaf = false;
	ghyvi_table_update_tree(mm, table);
	shadow_fill(mm, page);
	return page;

err_page:
	free_page((unsigned long)page->entries);
err_free:
	kfree(page);
	return ERR_PTR(-ENOMEM);
}

/* A second tree leads here now, and so to everything below. */
static void shadow_share(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *child;
	unsigned int i, below;

	if (page->tree == &mm->shared_tree)
		return;
	cond_resched();
	page->tree->pages--;
	page->tree = &mm->shared_tree;
	page->tree->pages++;
	ghyvi_table_update_tree(mm, page->table);
	for (i = 0; page->level > GHYVI_LEVEL_PT && i < GHYVI_ENTRIES; i++) {
		if (ghyvi_entry_is_large(page->level, page->table->snapshot[i]))
			continue;
		child = xa_load(&mm->tables, ghyvi_entry_gfn(page->table->snapshot[i]));
		below = ghyvi_entry_below(mm, page->level, page->table->snapshot[i]);
		if (child && child->shadows[below])
			shadow_share(mm, child->shadows[below]);
	}
}

/* The reference is dropped with ghyvi_shadow_put(). */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_mm *mm, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree)
{
	struct ghyvi_table_page *table = xa_load(&mm->tables, gfn);
	struct ghyvi_shadow_page *page;

	if (table && table->shadows[level]) {
		page = table->shadows[level];
		page->refs++;
		/* Also when it was about to go: what it leads to still belongs to its tree of before. */
		if (page->tree != tree)
			shadow_share(mm, page);
		return page;
	}
	if (!table) {
		table = table_create(mm, gfn, level);
		if (IS_ERR(table))
			return ERR_CAST(table);
	} else if (level > GHYVI_LEVEL_PT) {
		ghyvi_table_make_strict(mm, table);
	}
	page = shadow_create(mm, table, level, tree);
	if (IS_ERR(page) && !table->levels)
		table_destroy(mm, table);
	return page;
}

void ghyvi_shadow_put(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page)
{
	if (--page->refs)
		return;
	/* An engine may still have it cached, and the guest may point at it again: decided in reap. */
	if (list_empty(&page->dying))
		list_add_tail(&page->dying, &mm->dying);
}

static void table_drop_shadow(struct ghyvi_mm *mm, struct ghyvi_table_page *table, unsigned int level)
{
	table->shadows[level] = NULL;
	table->levels &= ~BIT(level);
	table->history.leaf = !table->shadows[GHYVI_LEVEL_PD] && !table->shadows[GHYVI_LEVEL_PDP] &&
			      !table->shadows[GHYVI_LEVEL_PML4];
	ghyvi_table_update_tree(mm, table);
}

static void shadow_destroy(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	for (i = 0; table && i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(mm, page, i, table->snapshot[i]);
	if (table)
		table_drop_shadow(mm, table, page->level);
	page->tree->pages--;
	mm->params.pgpu_ops->disown_page(mm->params.client, virt_to_phys(page->entries));
	free_page((unsigned long)page->entries);
	kfree(page);
	if (table && !table->levels)
		table_destroy(mm, table);
}

void ghyvi_shadow_detach(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	if (!table)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(mm, page, i, table->snapshot[i]);
	page->table = NULL;
	table_drop_shadow(mm, table, page->level);
	if (!table->levels)
		table_destroy(mm, table);
}

void ghyvi_tables_reap(struct ghyvi_mm *mm)
{
	struct ghyvi_shadow_page *page;
	struct ghyvi_root *root;

	if (list_empty(&mm->dying) && list_empty(&mm->dying_larges) && list_empty(&mm->dying_roots))
		return;
	mm->params.pgpu_ops->invalidate(mm->params.client);
	/* What dies with its parent was reachable only through it, so the one invalidation covers it. */
	while (!list_empty(&mm->dying)) {
		page = list_first_entry(&mm->dying, struct ghyvi_shadow_page, dying);
		list_del_init(&page->dying);
		if (!page->refs)
			shadow_destroy(mm, page);
		cond_resched();
	}
	ghyvi_larges_reap(mm);
	while (!list_empty(&mm->dying_roots)) {
		root = list_first_entry(&mm->dying_roots, struct ghyvi_root, lru);
		WARN_ON_ONCE(!list_empty(&root->tree.relaxed));
		list_del(&root->lru);
		kfree(root);
	}
}

void ghyvi_table_update(struct ghyvi_mm *mm, struct ghyvi_table_page *table, unsigned int index,
			const u64 *values, unsigned int count)
{
	u64 old[GHYVI_PTES_PER_LINE];
	unsigned int i;
	u32 levels;

	if (ghyvi_table_is_ggtt(table))
		mm->ggtt_updating = table;
	memcpy(old, table->snapshot + index, count * sizeof(*old));
	memcpy(table->snapshot + index, values, count * sizeof(*values));
	for (i = 0; table->retry && i < count; i++)
		if (values[i] != old[i])
			table_wait_no_more(table, index + i);
	/* Translation may give the page a use more, which is then made from the snapshot. */
	for (levels = table->levels; levels; levels &= levels - 1)
		shadow_set(mm, table->shadows[__ffs(levels)], index, old, values, count);
}

void ghyvi_table_retry_entry(struct ghyvi_mm *mm, struct ghyvi_table_page *table, unsigned int index)
{
	u64 none = 0, value = table->snapshot[index];
	struct ghyvi_shadow_page *page;
	u32 levels;

	table_wait_no_more(table, index);
	if (ghyvi_table_is_ggtt(table))
		mm->ggtt_updating = table;
	for (levels = table->levels; levels; levels &= levels - 1) {
		page = table->shadows[__ffs(levels)];
		if (page->entries[index] == ghyvi_entry_scratch(mm, page->level))
			shadow_set(mm, page, index, &none, &value, 1);
	}
}
