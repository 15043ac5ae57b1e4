// SPDX-License-Identifier: GPL-2.0-only
/*
 * The self-check. Every shadow entry that a context can reach must be the translation of the
 * guest's entry, and no store to a table page may be missed. A page whose stores trap is compared
 * with guest memory. A relaxed page must have been compared by the last sync, and its shadow must
 * be the translation of the snapshot taken then. A deferred entry must be due for a retry.
 */
#include <linux/delay.h>
#include <linux/sched.h>

#include "internal.h"

/*
 * A store to a protected page reaches memory shortly before its trap takes gtt->lock. The check is
 * repeated this often before a difference counts.
 */
#define CHECK_ATTEMPTS 20
/*
 * GGTT table pages whose translations one check verifies. All GGTT table pages are compared with
 * their snapshot.
 */
#define CHECK_GGTT_PAGES 8

struct check {
	struct ghyvi_gtt *gtt;
	u64 since; /* gtt->syncs at the last sync of the tree */
	u64 generation; /* ghyvi_generation() now */
	unsigned int differences;
	/* The first difference: */
	const char *what;
	u64 gfn;
	unsigned int index, level;
	u64 guest, shadow;
};

static void check_differs(struct check *check, const char *what,
			  const struct ghyvi_table_page *table, unsigned int level,
			  unsigned int index, u64 guest, u64 shadow)
{
	if (!check->differences++) {
		check->what = what;
		check->gfn = table->gfn;
		check->level = level;
		check->index = index;
		check->guest = guest;
		check->shadow = shadow;
	}
}

/* Returns true if all pages can be pinned at the same time. */
static bool can_pin(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count)
{
	unsigned int pinned = 0;
	bool all;
	u64 hpa;

	while (pinned < count && !gtt->params.hv->ops->pin(gtt->params.hv, gfn + pinned, &hpa))
		pinned++;
	all = pinned == count;
	while (pinned--)
		gtt->params.hv->ops->unpin(gtt->params.hv, gfn + pinned);
	return all;
}

/*
 * Returns true if one of @count guest pages from @gfn on was known to be a table when sync number
 * @since was done, or later.
 */
static bool has_table(struct ghyvi_gtt *gtt, u64 gfn, u64 count, u64 since)
{
	struct ghyvi_table_page *table;
	unsigned long table_gfn;

	xa_for_each_range(&gtt->tables, table_gfn, table, gfn, gfn + count - 1)
		if (!list_empty(&table->blocking) && table->linked >= since)
			return true;
	return false;
}

/* Returns true if the target of the guest's entry cannot be mapped at present. */
static bool is_unmappable(const struct check *check, u64 guest, unsigned int level)
{
	struct ghyvi_gtt *gtt = check->gtt;
	u64 gfn = ghyvi_entry_gfn(guest);
	unsigned int count = 1;

	if (ghyvi_entry_is_large(level, guest)) {
		gfn = ghyvi_entry_large_gfn(guest);
		count = GHYVI_ENTRIES;
	} else if (level == GHYVI_LEVEL_PT_64K) {
		gfn = ghyvi_entry_group_gfn(guest);
		count = GHYVI_PTES_PER_64K;
	} else if (level == GHYVI_LEVEL_PDP && guest & GHYVI_ENTRY_LARGE) {
		return true;
	} else if (level > GHYVI_LEVEL_PT) {
		return !xa_load(&gtt->tables, gfn) &&
		       (gtt->nr_tables >= gtt->tuning.tables_max || !can_pin(gtt, gfn, 1));
	}
	return has_table(gtt, gfn, count, check->since) || !can_pin(gtt, gfn, count);
}

/*
 * Scratch is right for guest entry @index if its target cannot be mapped, or could not and the next
 * sync will retry it.
 */
static bool scratch_is_right(const struct check *check, const struct ghyvi_table_page *table,
			     unsigned int level, unsigned int index, u64 guest)
{
	if (ghyvi_table_entry_deferred(table, index)) {
		if (!table->deferred.retry)
			return false;
		if (table->deferred.generation != check->generation ||
		    (table->deferred.nomem && !ghyvi_table_entry_unbacked(table, index)))
			return true;
	}
	return is_unmappable(check, guest, level);
}

static bool leads_to_pin(struct ghyvi_gtt *gtt, u64 gfn, u64 address)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	return pin && !ghyvi_pin_is_idle(pin) && ghyvi_pin_dma(pin) == address;
}

/* Each 4 KiB must map the guest's page, whether @shadow maps 2 MiB or points to a table. */
static bool large_is_right(struct ghyvi_gtt *gtt, u64 gfn, u64 shadow)
{
	u64 address = shadow & GHYVI_SHADOW_ADDRESS_MASK, entry;
	const struct ghyvi_large *large = xa_load(&gtt->larges, gfn);
	bool whole = shadow & GHYVI_ENTRY_LARGE, right;
	unsigned int i;

	right = whole ? IS_ALIGNED(address, GHYVI_LARGE_BYTES) :
			large && large->table && large->dma == address;
	for (i = 0; right && i < GHYVI_ENTRIES; i++) {
		entry = whole ? (address + i * GHYVI_PAGE_BYTES) | GHYVI_ENTRY_PRESENT |
					GHYVI_ENTRY_WRITE :
				large->table[i];
		right = leads_to_pin(gtt, gfn + i, entry & GHYVI_SHADOW_ADDRESS_MASK) &&
			(entry & ~GHYVI_SHADOW_ADDRESS_MASK) ==
				(GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE);
	}
	return right;
}

/*
 * Through an entry with GHYVI_ENTRY_64K set the GPU reads only each 16th entry of the table, so
 * each group must be contiguous and aligned.
 */
static bool groups_are_whole(const u64 *entries)
{
	unsigned int i, first;

	for (i = 0; i < GHYVI_ENTRIES; i++) {
		first = i - i % GHYVI_PTES_PER_64K;
		if (!entries[first] && !entries[i])
			continue;
		if (!IS_ALIGNED(entries[first] & GHYVI_SHADOW_ADDRESS_MASK,
				GHYVI_PTES_PER_64K * GHYVI_PAGE_BYTES) ||
		    entries[i] != entries[first] + (i - first) * GHYVI_PAGE_BYTES)
			return false;
	}
	return true;
}

static bool leads_to_table(struct ghyvi_gtt *gtt, u64 guest, u64 shadow, unsigned int level)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, ghyvi_entry_gfn(guest));
	unsigned int below = ghyvi_entry_below(gtt, level, guest);

	if (shadow & GHYVI_ENTRY_LARGE || !table || !table->shadows[below] ||
	    table->shadows[below]->dma != (shadow & GHYVI_SHADOW_ADDRESS_MASK))
		return false;
	return !(shadow & GHYVI_ENTRY_64K) ||
	       (below == GHYVI_LEVEL_PT_64K && groups_are_whole(table->shadows[below]->entries));
}

/* Index of the guest's entry from which entry @index of a shadow was translated. */
static unsigned int guest_index(unsigned int level, unsigned int index)
{
	return level == GHYVI_LEVEL_PT_64K ? round_down(index, GHYVI_PTES_PER_64K) : index;
}

/* @index is the index of the shadow entry. */
static bool entry_is_right(const struct check *check, const struct ghyvi_table_page *table,
			   unsigned int level, unsigned int index, u64 guest, u64 shadow)
{
	struct ghyvi_gtt *gtt = check->gtt;
	u64 address = shadow & GHYVI_SHADOW_ADDRESS_MASK;

	if (!(guest & GHYVI_ENTRY_PRESENT))
		/* A guest can write the value GHYVI_SNAPSHOT_STALE itself. */
		return !shadow ||
		       (guest == GHYVI_SNAPSHOT_STALE && shadow == ghyvi_entry_scratch(gtt, level));
	if (shadow == ghyvi_entry_scratch(gtt, level))
		return scratch_is_right(check, table, level, guest_index(level, index), guest);
	if (!(shadow & GHYVI_ENTRY_PRESENT) ||
	    !!(shadow & GHYVI_ENTRY_WRITE) !=
		    (ghyvi_table_is_ggtt(table) || (guest & GHYVI_ENTRY_WRITE)))
		return false;
	if (level == GHYVI_LEVEL_PT_64K)
		return leads_to_pin(gtt, ghyvi_entry_group_gfn(guest) + index % GHYVI_PTES_PER_64K,
				    address);
	if (level == GHYVI_LEVEL_PT)
		return leads_to_pin(gtt, ghyvi_entry_gfn(guest), address);
	if (ghyvi_entry_is_large(level, guest))
		return large_is_right(gtt, ghyvi_entry_large_gfn(guest), shadow);
	return leads_to_table(gtt, guest, shadow, level);
}

/* Returns true if each store since sync number @since has trapped or is found by the next sync. */
static bool is_watched(const struct ghyvi_table_page *table, u64 since)
{
	if (!list_empty(&table->relaxed_node))
		return table->compared >= since;
	if (table->gfn == GHYVI_INVALID_GFN)
		return true; /* the BAR is not mapped: the guest cannot write the page */
	return table->protected && !table->deferred.retry;
}

static void check_watched(struct check *check, const struct ghyvi_table_page *table,
			  unsigned int level, u64 since)
{
	if (!is_watched(table, since))
		check_differs(check, "stores may be missed", table, level, 0,
			      READ_ONCE(table->guest[0]), table->shadows[level]->entries[0]);
}

/*
 * The guest may have written a relaxed page since it was last compared, or a page of the GGTT that
 * was mapped since, so its shadow is compared with the snapshot.
 */
static u64 guest_entry(const struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table,
		       unsigned int index)
{
	u64 entry = READ_ONCE(table->guest[index]);

	if (!table->protected || !list_empty(&table->relaxed_node) ||
	    (table->unmapped && ghyvi_ggtt_is_written(gtt, table)))
		return table->snapshot[index];
	return entry;
}

static void check_page(struct check *check, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table, *child;
	struct ghyvi_gtt *gtt = check->gtt;
	unsigned int i, below;
	u64 guest;

	if (page->check_mark == gtt->check_mark)
		return;
	page->check_mark = gtt->check_mark;
	cond_resched();
	check_watched(check, table, page->level, check->since);
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		guest = guest_entry(gtt, table, guest_index(page->level, i));
		if (!entry_is_right(check, table, page->level, i, guest, page->entries[i])) {
			check_differs(check, "wrong translation", table, page->level, i, guest,
				      page->entries[i]);
			continue;
		}
		if (page->level <= GHYVI_LEVEL_PT || !(guest & GHYVI_ENTRY_PRESENT) ||
		    ghyvi_entry_is_large(page->level, guest) ||
		    page->entries[i] == ghyvi_entry_scratch(gtt, page->level))
			continue;
		child = xa_load(&gtt->tables, ghyvi_entry_gfn(guest));
		below = ghyvi_entry_below(gtt, page->level, guest);
		if (child && child->shadows[below])
			check_page(check, child->shadows[below]);
	}
}

static void check_ggtt_page(struct check *check, struct ghyvi_table_page *table, bool translations)
{
	struct ghyvi_gtt *gtt = check->gtt;
	unsigned int i;
	u64 guest, entry;

	check_watched(check, table, GHYVI_LEVEL_PT, gtt->syncs);
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		guest = guest_entry(gtt, table, i);
		entry = table->shadows[GHYVI_LEVEL_PT]->entries[i];
		if (guest != table->snapshot[i]) {
			check_differs(check, "wrong translation", table, GHYVI_LEVEL_PT, i, guest,
				      entry);
		} else if (translations) {
			entry = gtt->params.pgpu_ops->ggtt_read(
				gtt->params.client, (u64)table->ggtt_page * GHYVI_ENTRIES + i);
			if (!entry_is_right(check, table, GHYVI_LEVEL_PT, i, guest, entry))
				check_differs(check, "wrong translation", table, GHYVI_LEVEL_PT, i,
					      guest, entry);
		}
	}
}

static void check_once(struct check *check, struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = check->gtt;
	u32 i, n;

	check->generation = ghyvi_generation(gtt);
	check->since = root ? max(root->tree.last_sync, gtt->shared_tree.last_sync) : 0;
	gtt->check_mark++;
	for (i = 0; root && i < 4; i++)
		if (root->pages[i] && root->pages[i]->table)
			check_page(check, root->pages[i]);
	for (i = 0; i < gtt->nr_ggtt_tables; i++) {
		n = (gtt->check_ggtt + i) % gtt->nr_ggtt_tables;
		if (gtt->ggtt_tables[n])
			check_ggtt_page(check, gtt->ggtt_tables[n], i < CHECK_GGTT_PAGES);
	}
	if (gtt->nr_ggtt_tables)
		gtt->check_ggtt = (gtt->check_ggtt + CHECK_GGTT_PAGES) % gtt->nr_ggtt_tables;
}

unsigned int ghyvi_gtt_check(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	struct check check = { .differences = 0 };
	unsigned int attempt;
	bool nested;

	for (attempt = 0; attempt < CHECK_ATTEMPTS; attempt++) {
		check = (struct check){ .gtt = gtt };
		mutex_lock(&gtt->lock);
		nested = root ? root->nested : gtt->policy->nested;
		if (!nested)
			check_once(&check, root);
		ghyvi_gtt_unlock(gtt);
		if (nested)
			return 0;
		if (!check.differences)
			break;
		usleep_range(500, 1000);
	}
	ghyvi_count(gtt->params.stats, checks);
	if (check.differences) {
		ghyvi_count_add(gtt->params.stats, check_differences, check.differences);
		ghyvi_report(
			gtt->params.reporter,
			"self-check: %u mismatches, first: %s: table page 0x%llx level %u entry %u guest 0x%llx shadow 0x%llx",
			check.differences, check.what, check.gfn, check.level, check.index,
			check.guest, check.shadow);
	}
	return check.differences;
}
