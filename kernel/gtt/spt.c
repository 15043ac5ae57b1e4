// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow page tables: what engines walk. The shadow of a table page (tables.c) for one level is a
 * *shadow page*. Drivers point all unused entries at one scratch chain, so all entries that use a
 * guest page at the same level share one shadow page. A guest page that is used at several levels,
 * which only an attacker does, has a shadow page for each level. A shadow entry points to a lower
 * level or maps data, so there are no cycles.
 *
 * A *sync* of a table page compares the guest's entries with the snapshot, from which alone shadows
 * are derived, and translates those that differ.
 *
 * In this order: entries above the last level (the others are in leaf.c); shadow pages; the sync.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "internal.h"

static struct ghyvi_translation translate_large(struct ghyvi_gtt *gtt, u64 guest_entry)
{
	u64 gfn = ghyvi_entry_large_gfn(guest_entry);
	struct ghyvi_large *large;

	if (ghyvi_entry_reject_alias(gtt, gfn, GHYVI_ENTRIES))
		return (struct ghyvi_translation){ ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PD),
						   -EFAULT };
	large = ghyvi_large_get(gtt, gfn);
	if (IS_ERR(large)) {
		/*
		 * Pinning 512 pages may cost as much as all other retries of this sync. If memory
		 * is short, they would fail as well.
		 */
		gtt->deferral.nomem_left = 0;
		gtt->deferral.unbacked_left -= min(gtt->deferral.unbacked_left, GHYVI_RETRY_NOMEM);
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PD, guest_entry, PTR_ERR(large));
	}
	return (struct ghyvi_translation){
		ghyvi_large_entry(large) | (guest_entry & GHYVI_ENTRY_WRITE), 0
	};
}

struct ghyvi_translation ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level,
					       u64 guest_entry, struct ghyvi_tree *tree)
{
	struct ghyvi_shadow_page *child;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return (struct ghyvi_translation){};
	if (ghyvi_entry_is_large(level, guest_entry))
		return translate_large(gtt, guest_entry);
	if (level == GHYVI_LEVEL_PDP && (guest_entry & GHYVI_ENTRY_LARGE))
		return ghyvi_entry_reject(gtt, level, guest_entry, -EOPNOTSUPP);
	child = ghyvi_shadow_get(gtt, ghyvi_entry_gfn(guest_entry),
				 ghyvi_entry_below(gtt, level, guest_entry), tree);
	if (IS_ERR(child)) {
		tree->refused += PTR_ERR(child) == -ENOSPC;
		return ghyvi_entry_reject(gtt, level, guest_entry, PTR_ERR(child));
	}
	return (struct ghyvi_translation){
		child->dma | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE), 0
	};
}

/*
 * @page has lost a link. If the other trees have none any more, it belongs to the tree of the last
 * link: otherwise the sync of any tree would compare it for as long as it exists. A page of a level
 * above has tables below, and remains shared. So does one that this sync has not compared yet: it
 * may be done with the pages of that tree.
 */
static void shadow_unshare(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	const struct ghyvi_table_page *parent = xa_load(&gtt->tables, page->table->parent_gfn);
	const struct ghyvi_shadow_page *last = parent ? parent->shadows[GHYVI_LEVEL_PD] : NULL;
	u64 entry = last ? last->entries[page->table->parent_index] : 0;

	if (page->refs != 1 || page->level > GHYVI_LEVEL_PT || page->tree != &gtt->shared_tree ||
	    !(entry & GHYVI_ENTRY_PRESENT) || (entry & GHYVI_SHADOW_ADDRESS_MASK) != page->dma ||
	    last->tree == page->tree)
		return;
	if (!list_empty(&page->table->relaxed_node) && page->table->compared != gtt->syncs)
		return;
	page->tree->pages--;
	page->tree = last->tree;
	page->tree->pages++;
	ghyvi_table_update_tree(gtt, page->table);
}

static void release_table(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 guest_entry)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, ghyvi_entry_gfn(guest_entry));
	struct ghyvi_shadow_page *child;

	child = table ? table->shadows[ghyvi_entry_below(gtt, page->level, guest_entry)] : NULL;
	if (WARN_ON_ONCE(!child))
		return;
	/* Keep the link if the new entry at @index points to the same table. */
	if (child->parent == page && child->parent_index == index &&
	    (page->entries[index] & GHYVI_SHADOW_ADDRESS_MASK) != child->dma)
		ghyvi_table_64k_unlink(gtt, child);
	ghyvi_shadow_put(gtt, child);
	shadow_unshare(gtt, child);
}

/*
 * Drop the reference that @shadow_entry holds. It was translated from @guest_entry and has been
 * replaced at @index of @page, which is above the last level.
 */
static void entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 guest_entry, u64 shadow_entry)
{
	unsigned int level = page->level;

	if (!(shadow_entry & GHYVI_ENTRY_PRESENT) ||
	    shadow_entry == ghyvi_entry_scratch(gtt, level))
		return;
	if (ghyvi_entry_is_large(level, guest_entry))
		ghyvi_large_put(gtt, ghyvi_entry_large_gfn(guest_entry));
	else
		release_table(gtt, page, index, guest_entry);
}

/* Translate entry @index of a shadow page above the last level. @value is the guest's entry. */
static struct ghyvi_translation shadow_translate(struct ghyvi_gtt *gtt,
						 struct ghyvi_shadow_page *page, unsigned int index,
						 u64 value)
{
	struct ghyvi_translation translation =
		ghyvi_entry_translate(gtt, page->level, value, page->tree);
	struct ghyvi_table_page *child;

	if (!(value & GHYVI_ENTRY_PRESENT) || ghyvi_entry_is_large(page->level, value))
		return translation;
	child = xa_load(&gtt->tables, ghyvi_entry_gfn(value));
	if (child && page->level == GHYVI_LEVEL_PD &&
	    translation.entry != ghyvi_entry_scratch(gtt, page->level) &&
	    ghyvi_entry_below(gtt, page->level, value) == GHYVI_LEVEL_PT_64K)
		translation.entry |=
			ghyvi_table_64k_link(gtt, child->shadows[GHYVI_LEVEL_PT_64K], page, index);
	if (child) {
		child->parent_gfn = page->table->gfn;
		child->parent_index = index;
		if (page->level == GHYVI_LEVEL_PD)
			trace_ghyvi_table_link(gtt->params.reporter, child->gfn, page->tree->id,
					       child->parent_gfn, index);
	}
	return translation;
}

/*
 * Guest entry @index, above the last level, changed from @old to @value. Returns 0 or the error
 * with which the entry is deferred.
 */
static int shadow_set_one(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 old, u64 value)
{
	struct ghyvi_translation translation = shadow_translate(gtt, page, index, value);
	u64 old_entry = page->entries[index];

	WRITE_ONCE(page->entries[index], translation.entry);
	entry_release(gtt, page, index, old, old_entry);
	return translation.err;
}

/* @count guest entries from @index on changed from @old to @values. */
static void shadow_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       const u64 *old, const u64 *values, unsigned int count)
{
	unsigned int i;
	int err;

	if (page->level <= GHYVI_LEVEL_PT) {
		ghyvi_leaf_set(gtt, page, index, old, values, count);
		return;
	}
	for (i = 0; i < count; i++) {
		if (values[i] == old[i])
			continue;
		err = shadow_set_one(gtt, page, index + i, old[i], values[i]);
		if (err)
			ghyvi_table_defer_entry(gtt, page->table, index + i, err);
	}
}

void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry)
{
	u64 old_entry;

	if (page->level <= GHYVI_LEVEL_PT) {
		ghyvi_leaf_clear(gtt, page, index, guest_entry);
		return;
	}
	old_entry = page->entries[index];
	WRITE_ONCE(page->entries[index], ghyvi_entry_scratch(gtt, page->level));
	entry_release(gtt, page, index, guest_entry, old_entry);
}

/* Translate the entries of a new shadow page from the snapshot. */
static void shadow_fill(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	static const u64 none[GHYVI_PTES_PER_LINE];
	unsigned int index;

	for (index = 0; index < GHYVI_ENTRIES; index += GHYVI_PTES_PER_LINE) {
		shadow_set(gtt, page, index, none, page->table->snapshot + index,
			   GHYVI_PTES_PER_LINE);
		cond_resched();
	}
}

static struct ghyvi_shadow_page *shadow_create(struct ghyvi_gtt *gtt,
					       struct ghyvi_table_page *table, unsigned int level,
					       struct ghyvi_tree *tree)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_shadow_page *page;
	int err;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	err = -ENOMEM;
	page->entries = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		goto err_free;
	err = p->pgpu_ops->map_page(p->client, virt_to_phys(page->entries), GHYVI_PAGE_TABLE,
				    &page->dma);
	if (err)
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
	return ERR_PTR(err);
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

/* Protect and sync @table, which is about to be used above the last level. */
static void table_make_strict(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	/*
	 * Sync the page here only if it is a leaf: its entries point to no other table page. A page
	 * that is also used at upper levels may be in the middle of an update further up the call
	 * stack. If such a page is not protected yet, it is relaxed already and stays so.
	 */
	bool leaf = table->history.leaf;

	lockdep_assert_held(&gtt->lock);
	/* The next sync removes the page from the list. It finds no difference. */
	ghyvi_table_protect(gtt, table);
	if (leaf)
		ghyvi_table_sync(gtt, table);
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
		/* A sync skips a page that is about to be freed. */
		if (!page->refs++ && !list_empty(&table->relaxed_node) &&
		    table->compared != gtt->syncs)
			list_move_tail(&table->relaxed_node, &table->tree->relaxed);
		/* Even if it was dying: the tables below still belong to its former tree. */
		if (page->tree != tree)
			shadow_share(gtt, page);
		return page;
	}
	if (!table) {
		table = ghyvi_table_create(gtt, gfn, level);
		if (IS_ERR(table))
			return ERR_CAST(table);
	} else if (level > GHYVI_LEVEL_PT) {
		table_make_strict(gtt, table);
	}
	page = shadow_create(gtt, table, level, tree);
	if (IS_ERR(page) && !table->levels)
		ghyvi_table_destroy(gtt, table);
	return page;
}

void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	lockdep_assert_held(&gtt->lock);
	if (--page->refs)
		return;
	/*
	 * An engine may have cached its entries, and the guest may point to it again.
	 * ghyvi_gtt_unlock() decides.
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
		ghyvi_table_destroy(gtt, table);
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
		ghyvi_table_destroy(gtt, table);
}

void ghyvi_tables_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_shadow_page *page;

	lockdep_assert_held(&gtt->lock);
	while (!list_empty(&gtt->dying)) {
		page = list_first_entry(&gtt->dying, struct ghyvi_shadow_page, dying);
		list_del_init(&page->dying);
		if (!page->refs)
			shadow_destroy(gtt, page);
		cond_resched();
	}
}

static void table_clear_deferred(struct ghyvi_table_page *table, unsigned int index)
{
	table->deferred.entries[index / 64] &= ~BIT_ULL(index % 64);
	table->deferred.unbacked[index / 64] &= ~BIT_ULL(index % 64);
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
	for (levels = table->levels; levels; levels &= levels - 1) {
		page = table->shadows[__ffs(levels)];
		if (page->entries[index] == ghyvi_entry_scratch(gtt, page->level))
			shadow_set(gtt, page, index, &none, &value, 1);
	}
}

static bool entry_differs(const u64 *guest, const u64 *snapshot)
{
	return READ_ONCE(*guest) != *snapshot;
}

/* Unrolled by hand, because most lines are equal and a loop doubles the cost of comparing them. */
static bool line_differs(const u64 *guest, const u64 *snapshot)
{
	return entry_differs(guest, snapshot) || entry_differs(guest + 1, snapshot + 1) ||
	       entry_differs(guest + 2, snapshot + 2) || entry_differs(guest + 3, snapshot + 3) ||
	       entry_differs(guest + 4, snapshot + 4) || entry_differs(guest + 5, snapshot + 5) ||
	       entry_differs(guest + 6, snapshot + 6) || entry_differs(guest + 7, snapshot + 7);
}

/* Returns the end of the lines from @index on that differ, at most one update. */
static unsigned int lines_end(const struct ghyvi_table_page *table, unsigned int index)
{
	unsigned int end = min(index + GHYVI_PTES_PER_UPDATE, GHYVI_ENTRIES);

	while (index < end && line_differs(table->guest + index, table->snapshot + index))
		index += GHYVI_PTES_PER_LINE;
	return index;
}

/*
 * Retry deferred entries within the limits of GHYVI_RETRY_UNBACKED and GHYVI_RETRY_NOMEM. Entries
 * that the guest has changed are translated with their line instead.
 */
static void retry_deferred(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			   unsigned int *first, unsigned int *last)
{
	bool all = table->deferred.generation != gtt->deferral.generation;
	u32 *left = all ? &gtt->deferral.unbacked_left : &gtt->deferral.nomem_left;
	unsigned int i;

	if (all ? !gtt->deferral.unbacked_left : !table->deferred.nomem)
		return;
	table->deferred.generation = gtt->deferral.generation;
	table->deferred.nomem = false;
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!ghyvi_table_entry_deferred(table, i) ||
		    (!all && ghyvi_table_entry_unbacked(table, i)))
			continue;
		/* The guest may restore a changed entry before its line is compared: keep it. */
		if (READ_ONCE(table->guest[i]) != table->snapshot[i] || (!all && !*left)) {
			ghyvi_table_set_nomem(table, i);
			continue;
		}
		ghyvi_table_retry_entry(gtt, table, i);
		*first = min(*first, i);
		*last = i;
		if (ghyvi_table_entry_deferred(table, i) && *left)
			--*left;
	}
}

unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	unsigned int index, end, changed = 0, first = GHYVI_ENTRIES, last = 0;

	if (table->deferred.retry)
		retry_deferred(gtt, table, &first, &last);
	for (index = 0; index < GHYVI_ENTRIES; index = end) {
		end = lines_end(table, index);
		if (end == index) {
			end += GHYVI_PTES_PER_LINE;
			continue;
		}
		changed += ghyvi_table_update(gtt, table, index, table->guest + index, end - index);
		first = min(first, index);
		last = max(last, end - 1);
	}
	table->compared = gtt->syncs;
	table->passed = gtt->passes;
	if (table->deferred.retry)
		table->deferred.retry =
			memchr_inv(table->deferred.entries, 0, sizeof(table->deferred.entries));
	if (first <= last && ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, first, last);
	ghyvi_count(gtt->params.stats, scans);
	ghyvi_count_add(gtt->params.stats, entries_compared, GHYVI_ENTRIES);
	ghyvi_count_add(gtt->params.stats, entries_changed, changed);
	if (table->history.leaf)
		ghyvi_history_scan(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, ghyvi_table_now(gtt, table), changed,
				   table->protected);
	trace_ghyvi_relax_sync(gtt->params.reporter, gtt->policy->name, table->gfn, GHYVI_ENTRIES,
			       changed);
	return changed;
}
