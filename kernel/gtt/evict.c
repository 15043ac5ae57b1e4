// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: eviction of trees
 *
 * A vGPU may have tables_max table pages. A tree that no workload holds is kept for speed alone: the host can forget it, and
 * shadows it again when a workload names it, as a tree that the guest never announced. When a submission needs table pages
 * and none are left, the trees used least recently are forgotten until there are enough.
 *
 * No tree goes in the middle of a translation, which could work on a page of that tree. An entry that finds no table page
 * points at scratch, is counted (ghyvi_tree.refused) and waits; when the pass over the tree is complete, trees are evicted
 * and the next pass tries the waiting entries again.
 *
 * A guest may go through more trees than fit in turn, and then each submission shadows again what the one before evicted.
 * Two limits bound the host's cost. A tree is young until GHYVI_EVICT_AGE submissions have passed since its last use, and one
 * operation evicts at most GHYVI_EVICT_YOUNG pages of young trees. Older trees go without limit, but each was built before
 * the last GHYVI_EVICT_AGE submissions: these together evict at most tables_max pages of old trees. What finds no
 * table page after that stays at scratch.
 */
#include <linux/minmax.h>

#include "gtt_types.h"

static bool is_young(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	return gtt->submissions - root->used < GHYVI_EVICT_AGE;
}

static bool may_go(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	/* A workload's reference comes on top of the one that the gtt has while the root is known. */
	if (!root->known || root->refs > 1)
		return false;
	return !is_young(gtt, root) || root->tree.pages <= gtt->young_left;
}

static bool any_may_go(const struct ghyvi_gtt *gtt)
{
	const struct ghyvi_root *root;

	list_for_each_entry(root, &gtt->root_lru, lru)
		if (may_go(gtt, root))
			return true;
	return false;
}

static void evict_root(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	if (is_young(gtt, root))
		gtt->young_left -= min(gtt->young_left, root->tree.pages);
	ghyvi_root_forget(root);
	ghyvi_count(gtt->params.stats, evicted_trees);
}

static bool tables_fit(const struct ghyvi_gtt *gtt, u32 tables, u32 wanted)
{
	return (u64)tables + wanted <= gtt->tuning.tables_max;
}

/* As many as should do, with one invalidation. Returns whether any has gone. */
static bool evict_some(struct ghyvi_gtt *gtt, u32 wanted)
{
	struct ghyvi_root *root, *next;
	u32 tables = gtt->nr_tables;
	bool any = false;

	list_for_each_entry_safe(root, next, &gtt->root_lru, lru) {
		if (tables_fit(gtt, tables, wanted))
			break;
		if (!may_go(gtt, root))
			continue;
		/* An estimate: a table page may serve several levels, and one that trees share goes with the last of them. */
		tables -= min(tables, root->tree.pages);
		evict_root(gtt, root);
		any = true;
	}
	ghyvi_tables_reap(gtt);
	return any;
}

bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted)
{
	u32 before = gtt->nr_tables;

	while (!tables_fit(gtt, gtt->nr_tables, wanted) && evict_some(gtt, wanted))
		;
	return gtt->nr_tables < before;
}

void ghyvi_trees_evict_begin(struct ghyvi_gtt *gtt)
{
	gtt->young_left = GHYVI_EVICT_YOUNG;
}

static u32 refused_of(const struct ghyvi_gtt *gtt, const struct ghyvi_tree *tree)
{
	return tree->refused + gtt->shared_tree.refused;
}

static void try_refused_again(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree)
{
	tree->refused = 0;
	gtt->shared_tree.refused = 0;
	gtt->tables_freed++;
	gtt->generation = ghyvi_generation(gtt);
	gtt->retry_unbacked_left = GHYVI_RETRY_UNBACKED;
}

void ghyvi_tree_expect_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree)
{
	/* The guest may have changed its entries since, so those that still need a table page are counted first. */
	if (refused_of(gtt, tree) && any_may_go(gtt))
		try_refused_again(gtt, tree);
}

bool ghyvi_tree_make_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree)
{
	u32 refused = refused_of(gtt, tree);

	if (!refused || !ghyvi_trees_evict(gtt, refused))
		return false;
	try_refused_again(gtt, tree);
	return true;
}
