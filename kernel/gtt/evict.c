// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: eviction of trees
 *
 * A vGPU may have tables_max table pages. A tree that no workload holds is kept only to avoid
 * shadowing it again. The host can evict it, and shadows it again when a workload uses it, like a
 * tree that the guest never announced. If a submission needs more table pages than are left, the
 * least recently used trees are evicted until there are enough.
 *
 * No tree is evicted during a translation, because the translation may use a page of that tree. An
 * entry that is refused a table page maps scratch, is counted (ghyvi_tree.refused) and is deferred.
 * Trees are evicted after the pass over the tree, and the next pass retries the deferred entries.
 *
 * A guest may cycle through more trees than fit. Each submission then shadows what an earlier one
 * evicted. Two limits bound the cost for the host. A tree is young until GHYVI_EVICT_AGE
 * submissions have passed since its last use, and one operation evicts at most GHYVI_EVICT_YOUNG
 * pages of young trees. Old trees are evicted without limit. But each of them was built before the
 * last GHYVI_EVICT_AGE submissions, so these submissions together evict at most tables_max pages of
 * old trees. An entry that is refused a table page after that keeps mapping scratch.
 */
#include <linux/minmax.h>

#include "tables.h"
#include "trees.h"

static bool is_young(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	return gtt->submissions - root->used < GHYVI_EVICT_AGE;
}

static bool may_go(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	/* The gtt holds one reference while the root is known. Further ones belong to workloads. */
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

/* Evict as many trees as should suffice, with one invalidation. Returns true if any was evicted. */
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
		/*
		 * An estimate: a table page may be used at several levels, and a table page that
		 * trees share is freed with the last of them.
		 */
		tables -= min(tables, root->tree.pages);
		evict_root(gtt, root);
		any = true;
	}
	ghyvi_gtt_reap(gtt);
	return any;
}

bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted)
{
	u32 before = gtt->nr_tables;

	lockdep_assert_held(&gtt->lock);
	while (!tables_fit(gtt, gtt->nr_tables, wanted) && evict_some(gtt, wanted))
		;
	return gtt->nr_tables < before;
}

void ghyvi_trees_evict_begin(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
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
	gtt->deferral.tables_freed++;
	gtt->deferral.generation = ghyvi_generation(gtt);
	gtt->deferral.unbacked_left = GHYVI_RETRY_UNBACKED;
}

void ghyvi_tree_expect_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree)
{
	lockdep_assert_held(&gtt->lock);
	/*
	 * The guest may have changed its entries since they were refused. A pass that retries them
	 * counts those that still need a table page, before trees are evicted for them.
	 */
	if (refused_of(gtt, tree) && any_may_go(gtt))
		try_refused_again(gtt, tree);
}

bool ghyvi_tree_make_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree)
{
	u32 refused = refused_of(gtt, tree);

	lockdep_assert_held(&gtt->lock);
	if (!refused || !ghyvi_trees_evict(gtt, refused))
		return false;
	try_refused_again(gtt, tree);
	return true;
}
