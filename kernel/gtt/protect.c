// SPDX-License-Identifier: GPL-2.0-only
/*
 * State changes of a table page: protected (its stores trap), relaxed (listed: its shadow may be
 * stale, and the next sync compares it), or both. kernel/shadow decides when.
 */
#include <trace/events/ghyvi.h>

#include "tables.h"

static struct ghyvi_tree *find_tree(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	struct ghyvi_tree *tree = NULL;
	unsigned int level;

	for (level = 0; level <= GHYVI_LEVELS; level++) {
		if (!table->shadows[level])
			continue;
		if (tree && tree != table->shadows[level]->tree)
			return &gtt->shared_tree;
		tree = table->shadows[level]->tree;
	}
	return tree ?: &gtt->shared_tree;
}

void ghyvi_table_mark_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (!list_empty(&table->relaxed_node))
		return;
	table->compared = gtt->syncs; /* until now every store has trapped */
	list_add_tail(&table->relaxed_node, &table->tree->relaxed);
	atomic64_inc(&gtt->params.stats->relaxed_now);
}

void ghyvi_table_clear_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (list_empty(&table->relaxed_node))
		return;
	list_del_init(&table->relaxed_node);
	atomic64_dec(&gtt->params.stats->relaxed_now);
}

void ghyvi_table_update_tree(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	struct ghyvi_tree *tree = find_tree(gtt, table);

	lockdep_assert_held(&gtt->lock);
	/* Each tree counts its own syncs. Keep the number of syncs since the page's last burst. */
	table->history.burst_at += tree->synced - table->tree->synced;
	table->history.expected_at += tree->synced - table->tree->synced;
	table->tree = tree;
	if (!list_empty(&table->relaxed_node))
		list_move_tail(&table->relaxed_node, &tree->relaxed);
}

bool ghyvi_table_protect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	lockdep_assert_held(&gtt->lock);
	if (table->protected)
		return true;
	if (gtt->policy->nested || ghyvi_gtt_is_untracked(gtt))
		return false;
	if (table->gfn == GHYVI_INVALID_GFN || p->hv->ops->protect(p->hv, &table->gfn, 1) != 1)
		return false;
	table->protected = true;
	ghyvi_count(p->stats, protects);
	atomic64_inc(&p->stats->protected_now);
	trace_oos_change(p->reporter, "protect", table->gfn);
	return true;
}

void ghyvi_table_unprotect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	if (!table->protected)
		return;
	if (table->unmapped) /* the next access maps it */
		gtt->ggtt_map.nr_unmapped--;
	else
		p->hv->ops->unprotect(p->hv, &table->gfn, 1);
	table->unmapped = false;
	table->protected = false;
	ghyvi_count(p->stats, unprotects);
	atomic64_dec(&p->stats->protected_now);
}

void ghyvi_table_protect_initial(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				 unsigned int level)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);

	lockdep_assert_held(&gtt->lock);
	if (level <= GHYVI_LEVEL_PT && gtt->policy->relax_new(&page))
		ghyvi_table_mark_relaxed(gtt, table);
	else if (!ghyvi_table_protect(gtt, table))
		ghyvi_table_mark_relaxed(gtt, table);
}

void ghyvi_table_make_strict(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	/*
	 * Sync the page here only if it is a leaf: its entries point to no other table page. A page
	 * that is also used at upper levels may be in the middle of an update further up the call
	 * stack. If such a page is not protected yet, it is listed already and stays so.
	 */
	bool leaf = table->history.leaf;

	lockdep_assert_held(&gtt->lock);
	/* The next sync removes the page from the list. It finds no difference. */
	ghyvi_table_protect(gtt, table);
	if (leaf)
		gtt->sync_table(gtt, table);
}
