// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table pages: guest pages that hold table entries. A table page is *protected* (its stores trap),
 * *relaxed* (its shadow may be stale, and the next sync compares it), or both. sync.c and the
 * policies of kernel/shadow decide when. Its *snapshot* has the guest's entries as they were read,
 * each once. An entry that cannot be translated maps scratch; if that may pass it is *deferred*,
 * and syncs retry it.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <trace/events/ghyvi.h>

#include "internal.h"

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
	trace_ghyvi_relax_change(p->reporter, "protect", table->gfn);
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

/* Protect or list a new @table, as the policy decides, before its entries are first read. */
static void table_protect_initial(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				  unsigned int level)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);

	lockdep_assert_held(&gtt->lock);
	if (level <= GHYVI_LEVEL_PT && gtt->policy->relax_new(&page))
		ghyvi_table_mark_relaxed(gtt, table);
	else if (!ghyvi_table_protect(gtt, table))
		ghyvi_table_mark_relaxed(gtt, table);
}

void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index, int err)
{
	u64 bit = BIT_ULL(index % 64);

	if (!table->deferred.retry)
		table->deferred.generation = gtt->deferral.generation;
	if (err != -EFAULT)
		ghyvi_table_set_nomem(table, index);
	else if (!ghyvi_table_entry_deferred(table, index))
		table->deferred.unbacked[index / 64] |= bit;
	table->deferred.entries[index / 64] |= bit;
	table->deferred.retry = true;
	gtt->deferral.any = true;
	ghyvi_table_mark_relaxed(gtt, table);
}

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
	INIT_LIST_HEAD(&table->blocking);
	return table;
}

void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_clear_relaxed(gtt, table);
	free_page((unsigned long)table->snapshot);
	kfree(table);
}

struct ghyvi_table_page *ghyvi_table_create(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_table_page *table;
	unsigned int i;
	u64 hpa;
	int err;

	if (gtt->nr_tables >= gtt->tuning.tables_max)
		return ERR_PTR(-ENOSPC);
	err = ghyvi_pin_page(gtt, gfn, &hpa, NULL);
	if (err) {
		ghyvi_count(p->stats, pin_failures);
		return ERR_PTR(err);
	}
	table = ghyvi_table_alloc(gtt, gfn, phys_to_virt(hpa), -1);
	if (!table) {
		err = -ENOMEM;
		goto err_unpin;
	}
	err = xa_err(xa_store(&gtt->tables, gfn, table, GFP_KERNEL_ACCOUNT));
	if (err)
		goto err_free;
	ghyvi_pin_set_table(gtt, gfn, true);
	gtt->nr_tables++;
	atomic64_inc(&p->stats->tables_now);
	atomic64_inc(&p->stats->pinned_pages_now);

	/* Write-protect (or list) before the scan, so that no store is missed in between. */
	table_protect_initial(gtt, table, level);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		table->snapshot[i] = READ_ONCE(table->guest[i]);
	return table;

err_free:
	ghyvi_table_free(gtt, table);
err_unpin:
	p->hv->ops->unpin(p->hv, gfn);
	return ERR_PTR(err);
}

void ghyvi_table_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (table->history.leaf)
		ghyvi_history_free(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, ghyvi_table_now(gtt, table));
}

void ghyvi_table_destroy(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	u64 gfn = table->gfn;

	ghyvi_table_forget(gtt, table);
	xa_erase(&gtt->tables, gfn);
	ghyvi_pin_set_table(gtt, gfn, false);
	gtt->nr_tables--;
	gtt->deferral.tables_freed += !list_empty(&table->blocking) ||
				      gtt->deferral.table_limit_hit;
	list_del(&table->blocking);
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
	unsigned long gfn;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	xa_for_each(&gtt->tables, gfn, table) {
		visit(gtt, table, data);
		cond_resched(); /* there may be a million */
	}
	for (i = 0; i < gtt->nr_ggtt_tables; i++)
		if (gtt->ggtt_tables[i])
			visit(gtt, gtt->ggtt_tables[i], data);
}

struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by)
{
	struct ghyvi_table_page *parent;
	unsigned int index = table->parent_index + by;

	if (ghyvi_table_is_ggtt(table))
		return ghyvi_ggtt_table(gtt, table->ggtt_page + by);
	parent = xa_load(&gtt->tables, table->parent_gfn);
	/* parent_gfn is a hint: the guest may have linked the table elsewhere since. */
	if (!parent || !parent->shadows[GHYVI_LEVEL_PD] || index >= GHYVI_ENTRIES ||
	    ghyvi_entry_gfn(parent->snapshot[table->parent_index]) != table->gfn ||
	    !(parent->snapshot[index] & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(GHYVI_LEVEL_PD, parent->snapshot[index]))
		return NULL;
	return xa_load(&gtt->tables, ghyvi_entry_gfn(parent->snapshot[index]));
}
