// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table pages and their shadow pages. Drivers point all unused entries at one scratch chain, so all
 * entries that use a guest page at the same level share one shadow page. A guest page that is used
 * at several levels, which only an attacker does, has a shadow page for each level. A shadow entry
 * points to a lower level or maps data, so there are no cycles.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "entries.h"
#include "pins.h"
#include "tables.h"
#include "trees.h"

struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest,
					   int ggtt_page)
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
	table->tree = &gtt->shared_tree;
	INIT_LIST_HEAD(&table->relaxed_node);
	return table;
}

void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_clear_relaxed(gtt, table);
	free_page((unsigned long)table->snapshot);
	kfree(table);
}

static struct ghyvi_table_page *table_create(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_table_page *table;
	unsigned int i;
	u64 hpa;
	int ret;

	if (gtt->nr_tables >= gtt->tuning.tables_max)
		return ERR_PTR(-ENOSPC);
	ret = ghyvi_pin_page(gtt, gfn, &hpa);
	if (ret) {
		ghyvi_count(p->stats, pin_failures);
		return ERR_PTR(ret);
	}
	table = ghyvi_table_alloc(gtt, gfn, phys_to_virt(hpa), -1);
	if (!table) {
		ret = -ENOMEM;
		goto err_unpin;
	}
	ret = xa_err(xa_store(&gtt->tables, gfn, table, GFP_KERNEL_ACCOUNT));
	if (ret)
		goto err_free;
	ghyvi_pin_table(gtt, gfn, true);
	gtt->nr_tables++;
	atomic64_inc(&p->stats->tables_now);
	atomic64_inc(&p->stats->pinned_pages_now);

	/* Write-protect (or list) before the scan, so that no store is missed in between. */
	ghyvi_table_protect_initial(gtt, table, level);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		table->snapshot[i] = READ_ONCE(table->guest[i]);
	return table;

err_free:
	ghyvi_table_free(gtt, table);
err_unpin:
	p->hv->ops->unpin(p->hv, gfn);
	return ERR_PTR(ret);
}

static void table_destroy(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	u64 gfn = table->gfn;

	gtt->forget_table(gtt, table);
	xa_erase(&gtt->tables, gfn);
	ghyvi_pin_table(gtt, gfn, false);
	gtt->nr_tables--;
	gtt->deferral.tables_freed += table->has_blocked_alias || gtt->deferral.table_limit_hit;
	gtt->deferral.table_limit_hit = false;
	atomic64_dec(&gtt->params.stats->tables_now);
	trace_ghyvi_table_free(gtt->params.reporter, gfn);
	ghyvi_table_free(gtt, table);
	gtt->params.hv->ops->unpin(gtt->params.hv, gfn);
	atomic64_dec(&gtt->params.stats->pinned_pages_now);
}

void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				     void *data),
		       void *data)
{
	struct ghyvi_table_page *table;
	unsigned long at;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	xa_for_each(&gtt->tables, at, table)
		visit(gtt, table, data);
	for (i = 0; i < gtt->nr_ggtt_tables; i++)
		if (gtt->ggtt_tables[i])
			visit(gtt, gtt->ggtt_tables[i], data);
}

bool ghyvi_tables_in(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	unsigned long at = gfn;

	return xa_find(&gtt->tables, &at, gfn + count - 1, XA_PRESENT);
}

/* Translate entry @index of a shadow page above the last level. @value is the guest's entry. */
static u64 shadow_translate(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
			    unsigned int index, u64 value)
{
	u64 entry = ghyvi_entry_translate(gtt, page->level, value, page->tree);
	struct ghyvi_table_page *child;

	if (page->level != GHYVI_LEVEL_PD || !(value & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(page->level, value))
		return entry;
	child = xa_load(&gtt->tables, ghyvi_entry_gfn(value));
	if (child && entry != ghyvi_entry_scratch(gtt, page->level) &&
	    ghyvi_entry_below(gtt, page->level, value) == GHYVI_LEVEL_PT_64K)
		entry |= ghyvi_table_64k_link(gtt, child->shadows[GHYVI_LEVEL_PT_64K], page, index);
	if (child) {
		child->parent_gfn = page->table->gfn;
		child->parent_index = index;
		trace_ghyvi_table_link(gtt->params.reporter, child->gfn, page->tree->id,
				       child->parent_gfn, index);
	}
	return entry;
}

struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by)
{
	struct ghyvi_table_page *parent;
	unsigned int index = table->parent_index + by;

	if (ghyvi_table_is_ggtt(table)) {
		index = table->ggtt_page + by;
		return index < gtt->nr_ggtt_tables ? gtt->ggtt_tables[index] : NULL;
	}
	parent = xa_load(&gtt->tables, table->parent_gfn);
	/* parent_gfn is a hint: the guest may have linked the table elsewhere since. */
	if (!parent || !parent->shadows[GHYVI_LEVEL_PD] || index >= GHYVI_ENTRIES ||
	    ghyvi_entry_gfn(parent->snapshot[table->parent_index]) != table->gfn ||
	    !(parent->snapshot[index] & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(GHYVI_LEVEL_PD, parent->snapshot[index]))
		return NULL;
	return xa_load(&gtt->tables, ghyvi_entry_gfn(parent->snapshot[index]));
}

void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index)
{
	u64 bit = BIT_ULL(index % 64);

	if (!table->deferred.retry)
		table->deferred.generation = gtt->deferral.generation;
	if (gtt->deferral.err != -EFAULT)
		ghyvi_table_set_nomem(table, index);
	else if (!ghyvi_table_entry_deferred(table, index))
		table->deferred.unbacked[index / 64] |= bit;
	table->deferred.entries[index / 64] |= bit;
	table->deferred.retry = true;
	gtt->deferral.any = true;
	ghyvi_table_mark_relaxed(gtt, table);
	gtt->deferral.err = 0;
}

static void table_clear_deferred(struct ghyvi_table_page *table, unsigned int index)
{
	table->deferred.entries[index / 64] &= ~BIT_ULL(index % 64);
	table->deferred.unbacked[index / 64] &= ~BIT_ULL(index % 64);
}

/* Guest entry @index, above the last level, changed from @old to @value. */
static void shadow_set_one(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
			   unsigned int index, u64 old, u64 value)
{
	u64 old_entry = page->entries[index];

	WRITE_ONCE(page->entries[index], shadow_translate(gtt, page, index, value));
	ghyvi_entry_release(gtt, page, index, old, old_entry);
}

/* @count guest entries from @index on changed from @old to @values. */
static void shadow_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       const u64 *old, const u64 *values, unsigned int count)
{
	unsigned int i;

	if (page->level == GHYVI_LEVEL_PT) {
		ghyvi_leaf_set(gtt, page, index, old, values, count);
		return;
	}
	for (i = 0; i < count; i++) {
		if (values[i] == old[i])
			continue;
		if (page->level == GHYVI_LEVEL_PT_64K)
			ghyvi_group_set(gtt, page, index + i, old[i], values[i]);
		else
			shadow_set_one(gtt, page, index + i, old[i], values[i]);
		if (gtt->deferral.err)
			ghyvi_table_defer_entry(gtt, page->table, index + i);
	}
}

void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry)
{
	u64 old_entry;

	if (page->level == GHYVI_LEVEL_PT) {
		ghyvi_leaf_clear(gtt, page, index, guest_entry);
		return;
	}
	if (page->level == GHYVI_LEVEL_PT_64K) {
		ghyvi_group_clear(gtt, page, index, guest_entry);
		return;
	}
	old_entry = page->entries[index];
	WRITE_ONCE(page->entries[index], ghyvi_entry_scratch(gtt, page->level));
	ghyvi_entry_release(gtt, page, index, guest_entry, old_entry);
}

/* Translate the entries of a new shadow page from the snapshot. */
static void shadow_fill(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	static const u64 none[GHYVI_PTES_PER_LINE];
	unsigned int at;

	for (at = 0; at < GHYVI_ENTRIES; at += GHYVI_PTES_PER_LINE) {
		shadow_set(gtt, page, at, none, page->table->snapshot + at, GHYVI_PTES_PER_LINE);
		cond_resched();
	}
}

static struct ghyvi_shadow_page *shadow_create(struct ghyvi_gtt *gtt,
					       struct ghyvi_table_page *table, unsigned int level,
					       struct ghyvi_tree *tree)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_shadow_page *page;
	int ret;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	ret = -ENOMEM;
	page->entries = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		goto err_free;
	ret = p->pgpu_ops->map_page(p->client, virt_to_phys(page->entries), GHYVI_PAGE_TABLE,
				    &page->dma);
	if (ret)
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
	ghyvi_table_update_tree(gtt, table);
	shadow_fill(gtt, page);
	return page;

err_page:
	free_page((unsigned long)page->entries);
err_free:
	kfree(page);
	return ERR_PTR(ret);
}

/* A second tree reaches @page now, and with it all tables below. */
static void shadow_share(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *child;
	unsigned int i, below;

	if (page->tree == &gtt->shared_tree)
		return;
	cond_resched();
	page->tree->pages--;
	page->tree = &gtt->shared_tree;
	page->tree->pages++;
	ghyvi_table_update_tree(gtt, page->table);
	for (i = 0; page->level > GHYVI_LEVEL_PT && i < GHYVI_ENTRIES; i++) {
		if (ghyvi_entry_is_large(page->level, page->table->snapshot[i]))
			continue;
		child = xa_load(&gtt->tables, ghyvi_entry_gfn(page->table->snapshot[i]));
		below = ghyvi_entry_below(gtt, page->level, page->table->snapshot[i]);
		if (child && child->shadows[below])
			shadow_share(gtt, child->shadows[below]);
	}
}

/* Returns the shadow page with a reference, which ghyvi_shadow_put() drops, or an ERR_PTR. */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, gfn);
	struct ghyvi_shadow_page *page;

	lockdep_assert_held(&gtt->lock);
	if (table && table->shadows[level]) {
		page = table->shadows[level];
		page->refs++;
		/* Even if it was dying: the tables below still belong to its former tree. */
		if (page->tree != tree)
			shadow_share(gtt, page);
		return page;
	}
	if (!table) {
		table = table_create(gtt, gfn, level);
		if (IS_ERR(table))
			return ERR_CAST(table);
	} else if (level > GHYVI_LEVEL_PT) {
		ghyvi_table_make_strict(gtt, table);
	}
	page = shadow_create(gtt, table, level, tree);
	if (IS_ERR(page) && !table->levels)
		table_destroy(gtt, table);
	return page;
}

void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	lockdep_assert_held(&gtt->lock);
	if (--page->refs)
		return;
	/*
	 * An engine may have cached its entries, and the guest may point to it again.
	 * ghyvi_gtt_reap() decides.
	 */
	if (list_empty(&page->dying))
		list_add_tail(&page->dying, &gtt->dying);
}

static void table_drop_shadow(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			      unsigned int level)
{
	table->shadows[level] = NULL;
	table->levels &= ~BIT(level);
	table->history.leaf = !table->shadows[GHYVI_LEVEL_PD] && !table->shadows[GHYVI_LEVEL_PDP] &&
			      !table->shadows[GHYVI_LEVEL_PML4];
	ghyvi_table_update_tree(gtt, table);
}

static void shadow_destroy(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	/* No parent links it, and gtt_reap() has invalidated: entries of 64 KiB may be split. */
	page->ips_cached = false;
	for (i = 0; table && i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(gtt, page, i, table->snapshot[i]);
	if (table)
		table_drop_shadow(gtt, table, page->level);
	page->tree->pages--;
	gtt->params.pgpu_ops->unmap_page(gtt->params.client, page->dma);
	free_page((unsigned long)page->entries);
	kfree(page);
	if (table && !table->levels)
		table_destroy(gtt, table);
}

void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	lockdep_assert_held(&gtt->lock);
	if (!table)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(gtt, page, i, table->snapshot[i]);
	page->table = NULL;
	table_drop_shadow(gtt, table, page->level);
	if (!table->levels)
		table_destroy(gtt, table);
}

static void tables_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_shadow_page *page;

	while (!list_empty(&gtt->dying)) {
		page = list_first_entry(&gtt->dying, struct ghyvi_shadow_page, dying);
		list_del_init(&page->dying);
		if (!page->refs)
			shadow_destroy(gtt, page);
		cond_resched();
	}
}

/* If more than @max idle pins are left, release them until there are at most @keep. */
static void gtt_reap(struct ghyvi_gtt *gtt, u32 max, u32 keep)
{
	lockdep_assert_held(&gtt->lock);
	if (list_empty(&gtt->dying) && list_empty(&gtt->dying_larges) &&
	    list_empty(&gtt->dying_roots) && gtt->nr_idle_pins <= max)
		return;
	/*
	 * What is freed here was reachable only through objects that are freed here, too: children
	 * through their parents, the pins of their entries through them. One invalidation is
	 * enough.
	 */
	ghyvi_gtt_invalidate(gtt);
	tables_reap(gtt);
	ghyvi_larges_reap(gtt);
	ghyvi_roots_reap(gtt);
	if (gtt->nr_idle_pins > max)
		ghyvi_pins_trim(gtt, keep);
}

void ghyvi_gtt_reap(struct ghyvi_gtt *gtt)
{
	gtt_reap(gtt, gtt->tuning.idle_pins, gtt->tuning.idle_pins / 2);
}

void ghyvi_gtt_reap_all(struct ghyvi_gtt *gtt)
{
	gtt_reap(gtt, 0, 0);
}

unsigned int ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				unsigned int index, const u64 *source, unsigned int count)
{
	u64 *values = table->snapshot + index, old[GHYVI_PTES_PER_UPDATE], value;
	unsigned int i, changed = 0;
	u32 levels;

	for (i = 0; i < count; i++) {
		value = READ_ONCE(source[i]);
		changed += value != values[i];
		old[i] = values[i];
		values[i] = value;
	}
	if (!changed)
		return 0;
	if (ghyvi_table_is_ggtt(table))
		gtt->ggtt_updating = table;
	for (i = 0; table->deferred.retry && i < count; i++)
		if (values[i] != old[i])
			table_clear_deferred(table, index + i);
	/* Translation may add a level to @table. Its new shadow is filled from the snapshot. */
	for (levels = table->levels; levels; levels &= levels - 1)
		shadow_set(gtt, table->shadows[__ffs(levels)], index, old, values, count);
	return changed;
}

void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index)
{
	u64 none = 0, value = table->snapshot[index];
	struct ghyvi_shadow_page *page;
	u32 levels;

	table_clear_deferred(table, index);
	if (ghyvi_table_is_ggtt(table))
		gtt->ggtt_updating = table;
	for (levels = table->levels; levels; levels &= levels - 1) {
		page = table->shadows[__ffs(levels)];
		if (page->entries[index] == ghyvi_entry_scratch(gtt, page->level))
			shadow_set(gtt, page, index, &none, &value, 1);
	}
}
