// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables that the guest has freed. A page is refused as data while it is a table page
 * (reject_alias() in spt.c): the page is *blocking*. If stores to upper levels do not trap, the
 * guest may have unlinked the page and made data of it. The policies "relaxed" and "nested" protect
 * no upper level, and the hypervisor may fail to protect a page. So each sync looks whether the
 * blocking pages are linked in the guest's tables. If one is not, it compares all upper levels.
 *
 * Where a page was linked last is a hint, see struct ghyvi_table_page. A page that is linked
 * elsewhere costs a comparison at each sync, but no wrong decision.
 */
#include <linux/compiler.h>
#include <linux/sched.h>

#include "internal.h"

/* Returns true if the guest's entries lead from the top of a four-level tree to @table. */
static bool is_linked(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	const struct ghyvi_shadow_page *top;
	struct ghyvi_table_page *parent;
	unsigned int level;
	u64 entry;

	for (level = GHYVI_LEVEL_PT; level <= GHYVI_LEVEL_PML4; level++, table = parent) {
		top = table->shadows[GHYVI_LEVEL_PML4];
		if (top && top->refs)
			return true;
		parent = xa_load(&gtt->tables, table->parent_gfn);
		if (!parent)
			return false;
		entry = READ_ONCE(parent->guest[table->parent_index]);
		if (!(entry & GHYVI_ENTRY_PRESENT) || entry & GHYVI_ENTRY_LARGE ||
		    ghyvi_entry_gfn(entry) != table->gfn)
			return false;
	}
	return false;
}

static bool are_linked(struct ghyvi_gtt *gtt)
{
	struct ghyvi_table_page *table;

	list_for_each_entry(table, &gtt->blocking, blocking) {
		if (!is_linked(gtt, table))
			return false;
		table->linked = gtt->syncs;
		cond_resched();
	}
	return true;
}

static void sync_upper(struct ghyvi_gtt *gtt, struct list_head *list)
{
	struct ghyvi_table_page *table;
	LIST_HEAD(done);

	while (!list_empty(list)) {
		table = list_first_entry(list, struct ghyvi_table_page, relaxed_node);
		list_move_tail(&table->relaxed_node, &done);
		if (!table->history.leaf && ghyvi_table_is_due(gtt, table))
			ghyvi_table_sync(gtt, table);
		cond_resched();
	}
	list_splice_init(&done, list);
}

static void sync_all_upper(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root;

	gtt->passes++;
	sync_upper(gtt, &gtt->shared_tree.relaxed);
	list_for_each_entry(root, &gtt->root_lru, lru)
		sync_upper(gtt, &root->tree.relaxed);
	/* Pages of these trees that have become shared meanwhile. */
	sync_upper(gtt, &gtt->shared_tree.relaxed);
}

/* Free what the guest has unlinked. @compared: all upper levels have just been compared. */
static bool drop_unlinked(struct ghyvi_gtt *gtt, bool compared)
{
	u64 freed = gtt->deferral.tables_freed;
	struct ghyvi_table_page *table;

	if (!compared)
		sync_all_upper(gtt);
	ghyvi_gtt_reap_unused(gtt);
	list_for_each_entry(table, &gtt->blocking, blocking)
		table->linked = gtt->syncs;
	if (gtt->deferral.tables_freed == freed)
		return false;
	ghyvi_gtt_retry_deferred(gtt);
	return true;
}

bool ghyvi_links_drop(struct ghyvi_gtt *gtt, bool all_synced)
{
	lockdep_assert_held(&gtt->lock);
	return !are_linked(gtt) && drop_unlinked(gtt, all_synced);
}

/* A look that finds nothing is not repeated before the next sync: a guest may cause many. */
bool ghyvi_links_drop_page(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, gfn);
	bool any;

	lockdep_assert_held(&gtt->lock);
	if (!table || gtt->deferral.vain_look || is_linked(gtt, table))
		return false;
	any = drop_unlinked(gtt, false);
	gtt->deferral.vain_look = !any;
	return any;
}
