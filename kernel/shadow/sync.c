// SPDX-License-Identifier: GPL-2.0-only
/*
 * Synchronisation points. Arm before scan: pages the policy wants back are protected first, in batches, then
 * compared, so that no store falls between the two.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "../gtt/mm_types.h"

static bool wants_protection(struct ghyvi_mm *mm, const struct ghyvi_table_page *table)
{
	struct ghyvi_shadow_view page;

	if (table->protected || table->gfn == GHYVI_INVALID_GFN)
		return false;
	if (mm->policy->nested || (ghyvi_table_is_ggtt(table) && !mm->ggtt_live))
		return false;
	page = ghyvi_table_view(mm, table);
	return !table->history.leaf || mm->policy->protect(&page);
}

static void protect_batch(struct ghyvi_mm *mm, unsigned int count)
{
	const struct ghyvi_mm_params *p = &mm->params;
	unsigned int at = 0, done, i;
	u64 started;

	while (at < count) {
		started = ktime_get_ns();
		done = p->hv_ops->protect(p->hv, mm->batch_gfns + at, count - at);
		for (i = at; i < at + done; i++) {
			mm->batch[i]->protected = true;
			trace_oos_change(p->reporter, "protect", mm->batch[i]->gfn);
		}
		ghyvi_cost_protected(mm, started, done);
		ghyvi_count_add(p->stats, protects, done);
		atomic64_add(done, &p->stats->protected_now);
		at += done + 1; /* the page that could not be protected stays listed */
	}
}

static void protect_list(struct ghyvi_mm *mm, struct list_head *list)
{
	struct ghyvi_table_page *table;
	unsigned int count = 0;

	list_for_each_entry(table, list, relaxed_node) {
		if (!wants_protection(mm, table))
			continue;
		mm->batch[count] = table;
		mm->batch_gfns[count++] = table->gfn;
		if (count == GHYVI_PROTECT_BATCH) {
			protect_batch(mm, count);
			count = 0;
		}
	}
	protect_batch(mm, count);
}

struct scanned {
	u32 pages, changed;
};

/* Moves the list to @done. */
static void sync_list(struct ghyvi_mm *mm, struct list_head *list, struct list_head *done, struct scanned *scanned)
{
	struct ghyvi_table_page *table;
	bool armed;

	/* An upper-level page may add to the list: pages that are linked anew, or from a second tree. */
	while (!list_empty(list)) {
		table = list_first_entry(list, struct ghyvi_table_page, relaxed_node);
		list_move_tail(&table->relaxed_node, done);
		/* Translation may protect the page it works on: what was scanned until then proves nothing. */
		armed = table->protected;
		scanned->changed += ghyvi_table_sync(mm, table);
		scanned->pages++;
		if (armed && !table->retry)
			ghyvi_table_clear_relaxed(mm, table);
		cond_resched();
	}
}

static void sync_tree(struct ghyvi_mm *mm, struct ghyvi_tree *tree, struct scanned *scanned)
{
	LIST_HEAD(done);

	sync_list(mm, &tree->relaxed, &done, scanned);
	list_splice_init(&done, &tree->relaxed);
}

/* What several roots may lead to comes first: upper levels, which decide what a tree contains. */
static void sync_pass(struct ghyvi_mm *mm, struct ghyvi_tree *tree, struct scanned *scanned)
{
	struct list_head *shared = &mm->shared_tree.relaxed;
	struct ghyvi_root *root;
	LIST_HEAD(done);

	sync_list(mm, shared, &done, scanned);
	if (tree) {
		ghyvi_root_fill_top(container_of(tree, struct ghyvi_root, tree));
		sync_tree(mm, tree, scanned);
	} else {
		list_for_each_entry(root, &mm->root_lru, lru) {
			ghyvi_root_fill_top(root);
			sync_tree(mm, &root->tree, scanned);
		}
	}
	/* What these trees have come to share with others meanwhile. */
	sync_list(mm, shared, &done, scanned);
	list_splice_init(&done, shared);
}

/* For the sake of a tree that is about to be used, others may have to go. */
static void sync_one(struct ghyvi_mm *mm, struct ghyvi_tree *tree, struct scanned *scanned)
{
	ghyvi_trees_evict_begin(mm);
	ghyvi_tree_expect_room(mm, tree);
	do
		sync_pass(mm, tree, scanned);
	while (ghyvi_tree_make_room(mm, tree));
	container_of(tree, struct ghyvi_root, tree)->used = ++mm->submissions;
	tree->synced++;
	tree->last_sync = mm->syncs;
	mm->shared_tree.synced++;
}

static void sync_lists(struct ghyvi_mm *mm, struct ghyvi_tree *tree)
{
	struct scanned scanned = { 0, 0 };
	u64 started = ktime_get_ns();

	ghyvi_count(mm->params.stats, synchronisations);
	trace_ghyvi_sync(mm->params.reporter, tree ? tree->id : 0);
	mm->retry_nomem_left = GHYVI_RETRY_NOMEM;
	mm->retry_unbacked_left = GHYVI_RETRY_UNBACKED;
	if (mm->has_deferred)
		mm->generation = ghyvi_generation(mm);
	mm->syncs++;
	if (tree) {
		sync_one(mm, tree, &scanned);
	} else {
		sync_pass(mm, NULL, &scanned);
		mm->flushes++;
		mm->shared_tree.last_sync = mm->syncs;
	}
	if (!scanned.changed) /* else translation is in the time, too */
		ghyvi_cost_scanned(mm, started, scanned.pages);
}

static void protect_lists(struct ghyvi_mm *mm, struct ghyvi_tree *tree)
{
	struct ghyvi_root *root;

	protect_list(mm, &mm->shared_tree.relaxed);
	if (tree)
		protect_list(mm, &tree->relaxed);
	else
		list_for_each_entry(root, &mm->root_lru, lru)
			protect_list(mm, &root->tree.relaxed);
}

void ghyvi_mm_sync_locked(struct ghyvi_mm *mm, struct ghyvi_tree *tree)
{
	if (mm->policy->ranked && !mm->rank_in--) {
		ghyvi_tables_rank(mm);
		mm->rank_in = GHYVI_RANK_INTERVAL;
	}
	protect_lists(mm, tree);
	sync_lists(mm, tree);
}

void ghyvi_mm_sync(struct ghyvi_mm *mm, struct ghyvi_root *root)
{
	mutex_lock(&mm->lock);
	ghyvi_mm_sync_locked(mm, root && !root->nested ? &root->tree : NULL);
	ghyvi_mm_unlock(mm);
}

void ghyvi_mm_flush(struct ghyvi_mm *mm)
{
	mutex_lock(&mm->lock);
	/* Nothing is submitted: relaxed pages are brought up to date and stay relaxed. */
	sync_lists(mm, NULL);
	mm->params.pgpu_ops->invalidate(mm->params.client);
	ghyvi_mm_unlock(mm);
}

/* A page that the new policy starts relaxed, were it new. */
static void relax_if_new(struct ghyvi_mm *mm, struct ghyvi_table_page *table, void *data)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(mm, table);

	if (table->protected && table->history.leaf && mm->policy->relax_new(&page))
		ghyvi_table_relax(mm, table);
}

int ghyvi_mm_set_policy(struct ghyvi_mm *mm, const char *name)
{
	const struct ghyvi_shadow_policy *policy = ghyvi_shadow_policy_find(name);

	if (!policy)
		return -EINVAL;
	if (policy->nested && !mm->params.nested)
		return -EOPNOTSUPP;
	mutex_lock(&mm->lock);
	WRITE_ONCE(mm->policy, policy);
	/* Credit is for decisions of one policy. */
	mm->experience = (struct ghyvi_experience){ 0 };
	mm->rank_in = 0;
	if (policy->nested)
		ghyvi_nested_enter(mm);
	else
		ghyvi_nested_leave(mm);
	/* Relaxed pages that the new policy would not relax do not wait for the next submission. */
	ghyvi_mm_sync_locked(mm, NULL);
	ghyvi_tables_each(mm, relax_if_new, NULL);
	ghyvi_mm_unlock(mm);
	return 0;
}

int ghyvi_mm_set_tuning(struct ghyvi_mm *mm, const struct ghyvi_shadow_tuning *tuning)
{
	if (tuning->static_pages > GHYVI_STATIC_PAGES_MAX || !tuning->oos_threshold ||
	    tuning->oos_threshold > GHYVI_OOS_THRESHOLD_MAX ||
	    tuning->idle_pins > GHYVI_IDLE_PINS_MAX || tuning->tables_max < GHYVI_TABLES_MIN ||
	    tuning->tables_max > GHYVI_TABLES_MAX)
		return -EINVAL;
	mutex_lock(&mm->lock);
	/* Entries that found no table page left may find one now. */
	mm->tables_freed += tuning->tables_max > mm->tuning.tables_max;
	mm->tuning = *tuning;
	mm->rank_in = 0;
	ghyvi_trees_evict_begin(mm);
	ghyvi_trees_evict(mm, 0);
	ghyvi_mm_unlock(mm);
	return 0;
}

void ghyvi_mm_tuning(struct ghyvi_mm *mm, struct ghyvi_shadow_tuning *tuning)
{
	mutex_lock(&mm->lock);
	*tuning = mm->tuning;
	mutex_unlock(&mm->lock);
}

int ghyvi_mm_policy_list(struct ghyvi_mm *mm, char *buffer, size_t bytes)
{
	const struct ghyvi_shadow_policy *active = READ_ONCE(mm->policy);
	unsigned int i;
	int at = 0;

	for (i = 0; i < ghyvi_shadow_policy_count; i++)
		at += scnprintf(buffer + at, bytes - at,
				ghyvi_shadow_policies[i] == active ? "%s[%s]" : "%s%s", i ? " " : "",
				ghyvi_shadow_policies[i]->name);
	return at + scnprintf(buffer + at, bytes - at, "\n");
}
