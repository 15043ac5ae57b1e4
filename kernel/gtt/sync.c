// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sync points, traps, and the settings of a gtt that affect them. The policy decides, here is what
 * becomes of its decisions. Pages that the policy wants to be strict again are write-protected
 * first, in batches, and scanned afterwards, so that no store is missed in between.
 *
 * DOC: tables that the guest has freed
 *
 * A page is refused as data while it is a table page (ghyvi_entry_reject_alias()): the page is
 * *blocking*. If stores to upper levels do not trap, the guest may have unlinked the page and made
 * data of it. The policies "relaxed" and "nested" protect no upper level, and the hypervisor may
 * fail to protect a page. So each sync looks whether the blocking pages are linked in the guest's
 * tables. If one is not, it compares all upper levels.
 *
 * Where a page was linked last is a hint, see struct ghyvi_table_page. A page that is linked
 * elsewhere costs a comparison at each sync, but no wrong decision.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "internal.h"
#include "../shadow/policies.h"

/*
 * Maximum number of passes over a tree for entries that are refused a table page. Each finds those
 * of the level below; more are needed only if the guest goes on linking tables meanwhile.
 */
#define SYNC_PASSES_MAX 8u

struct ranking {
	struct ghyvi_table_page **tables;
	u32 count;
};

static void rank_collect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	struct ranking *ranking = data;

	if (table->history.leaf && table->history.heat)
		ranking->tables[ranking->count++] = table;
	else
		table->history.rank = GHYVI_RANK_UNKNOWN;
}

static int rank_compare(const void *a, const void *b)
{
	const struct ghyvi_table_page *first = *(struct ghyvi_table_page *const *)a;
	const struct ghyvi_table_page *second = *(struct ghyvi_table_page *const *)b;

	cond_resched(); /* sort() does not, and there may be a million tables */
	if (first->history.heat == second->history.heat)
		return 0;
	return first->history.heat > second->history.heat ? -1 : 1;
}

void ghyvi_tables_rank(struct ghyvi_gtt *gtt)
{
	struct ranking ranking = { NULL, 0 };
	u32 i;

	lockdep_assert_held(&gtt->lock);
	ranking.tables = kvmalloc_array(gtt->nr_tables + gtt->nr_ggtt_tables + 1,
					sizeof(*ranking.tables), GFP_KERNEL_ACCOUNT);
	if (!ranking.tables)
		return; /* the old ranks remain until the next ranking */
	ghyvi_tables_each(gtt, rank_collect, &ranking);
	sort(ranking.tables, ranking.count, sizeof(*ranking.tables), rank_compare, NULL);
	for (i = 0; i < ranking.count; i++)
		ranking.tables[i]->history.rank = i;
	kvfree(ranking.tables);
}

static bool wants_protection(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	struct ghyvi_shadow_view page;

	if (table->protected || table->gfn == GHYVI_INVALID_GFN)
		return false;
	if (gtt->policy->nested || (ghyvi_table_is_ggtt(table) && !gtt->ggtt_live))
		return false;
	if (ghyvi_gtt_is_untracked(gtt) && !ghyvi_table_is_ggtt(table))
		return false;
	page = ghyvi_table_view(gtt, table);
	return !table->history.leaf || (gtt->policy->protect && gtt->policy->protect(&page));
}

/* Protect @count pages of gtt->batch from @first on. Returns how many came before a failure. */
static unsigned int protect_pages(struct ghyvi_gtt *gtt, unsigned int first, unsigned int count)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	if (ghyvi_gtt_is_untracked(gtt))
		return ghyvi_ggtt_unmap(gtt, gtt->batch + first, count);
	return p->hv->ops->protect(p->hv, gtt->batch_gfns + first, count);
}

static void protect_batch(struct ghyvi_gtt *gtt, unsigned int count)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	unsigned int first = 0, done, i;
	u64 started;

	while (first < count) {
		started = ktime_get_ns();
		done = protect_pages(gtt, first, count - first);
		for (i = first; i < first + done; i++) {
			gtt->batch[i]->protected = true;
			trace_ghyvi_relax_change(p->reporter, "protect", gtt->batch[i]->gfn);
		}
		ghyvi_cost_protected(gtt, started, done);
		ghyvi_count_add(p->stats, protects, done);
		atomic64_add(done, &p->stats->protected_now);
		first += done + 1; /* a page that could not be protected stays relaxed */
	}
}

static void protect_list(struct ghyvi_gtt *gtt, struct list_head *list)
{
	struct ghyvi_table_page *table;
	unsigned int count = 0;

	list_for_each_entry(table, list, relaxed_node) {
		if (!wants_protection(gtt, table))
			continue;
		gtt->batch[count] = table;
		gtt->batch_gfns[count++] = table->gfn;
		if (count == GHYVI_PROTECT_BATCH) {
			protect_batch(gtt, count);
			count = 0;
		}
	}
	protect_batch(gtt, count);
}

/*
 * Sync the pages on @list, or only those of upper levels. Those that remain relaxed are moved to
 * @done.
 */
static void sync_relaxed_list(struct ghyvi_gtt *gtt, struct list_head *list, struct list_head *done,
			      bool only_upper)
{
	struct ghyvi_table_page *table;
	u32 pages = 0, changed = 0;
	bool was_protected;
	u64 started;

	if (list_empty(list))
		return;
	started = ktime_get_ns();
	/* Syncing an upper-level page may list more pages: newly linked or newly shared ones. */
	while (!list_empty(list)) {
		table = list_first_entry(list, struct ghyvi_table_page, relaxed_node);
		list_move_tail(&table->relaxed_node, done);
		cond_resched();
		if (!ghyvi_table_is_due(gtt, table) || (only_upper && table->history.leaf))
			continue;
		/*
		 * ghyvi_table_sync() may write-protect this page. Entries compared before
		 * that may be stale, so the page is unlisted only if it was protected beforehand.
		 */
		was_protected = table->protected;
		changed += ghyvi_table_sync(gtt, table);
		pages++;
		if (was_protected && !table->deferred.retry)
			ghyvi_table_clear_relaxed(gtt, table);
	}
	/* Only the scans of this list: a whole sync and translating have other costs. */
	if (!changed && !only_upper)
		ghyvi_cost_scanned(gtt, started, pages);
}

static void sync_tree(struct ghyvi_gtt *gtt, struct ghyvi_root *root, bool only_upper)
{
	LIST_HEAD(done);

	if (root->retry && !only_upper)
		ghyvi_root_fill_top(root);
	sync_relaxed_list(gtt, &root->tree.relaxed, &done, only_upper);
	list_splice_init(&done, &root->tree.relaxed);
}

/*
 * Sync the tree of @root, or all if it is NULL. The pages that several roots may reach are synced
 * first, and those that become shared last.
 */
static void sync_pass(struct ghyvi_gtt *gtt, struct ghyvi_root *root, bool only_upper)
{
	struct list_head *shared = &gtt->shared_tree.relaxed;
	LIST_HEAD(done);

	gtt->passes++;
	if (!only_upper)
		ghyvi_ggtt_collect(gtt);
	sync_relaxed_list(gtt, shared, &done, only_upper);
	if (root)
		sync_tree(gtt, root, only_upper);
	else
		list_for_each_entry(root, &gtt->root_lru, lru)
			sync_tree(gtt, root, only_upper);
	/* Pages of these trees that have become shared meanwhile. */
	sync_relaxed_list(gtt, shared, &done, only_upper);
	list_splice_init(&done, shared);
}

/* Let this sync retry all deferred entries once more. */
static void retry_deferred_again(struct ghyvi_gtt *gtt)
{
	gtt->deferral.generation = ghyvi_generation(gtt);
	gtt->deferral.unbacked_left = GHYVI_RETRY_UNBACKED;
}

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

/*
 * Free what the guest has unlinked. @compared: all upper levels have just been compared. Returns
 * true if deferred entries are worth a retry.
 */
static bool drop_unlinked(struct ghyvi_gtt *gtt, bool compared)
{
	u64 freed = gtt->deferral.tables_freed;
	struct ghyvi_table_page *table;

	if (!compared)
		sync_pass(gtt, NULL, true);
	ghyvi_gtt_reap_unused(gtt);
	list_for_each_entry(table, &gtt->blocking, blocking)
		table->linked = gtt->syncs;
	if (gtt->deferral.tables_freed == freed)
		return false;
	retry_deferred_again(gtt);
	return true;
}

/* A look that finds nothing is not repeated before the next sync: a guest may cause many. */
bool ghyvi_gtt_drop_unlinked(struct ghyvi_gtt *gtt, u64 gfn)
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

static u32 refused_of(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	return root->tree.refused + gtt->shared_tree.refused;
}

static void retry_refused(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	root->tree.refused = 0;
	gtt->shared_tree.refused = 0;
	gtt->deferral.tables_freed++;
	retry_deferred_again(gtt);
}

/* Sync one tree. Others are evicted to make room for entries that were refused a table page. */
static void sync_tree_evicting(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	u32 refused, passes;

	for (passes = 1;; passes++) {
		sync_pass(gtt, root, false);
		refused = refused_of(gtt, root);
		if (!refused || passes == SYNC_PASSES_MAX || !ghyvi_trees_evict(gtt, refused))
			return;
		retry_refused(gtt, root);
	}
}

/* Sync one tree that is about to be used. */
static void sync_submission_tree(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	ghyvi_trees_evict_begin(gtt);
	/*
	 * The guest may have changed its entries since they were refused. A pass that retries them
	 * counts those that still need a table page, before trees are evicted for them.
	 */
	if (refused_of(gtt, root) && ghyvi_trees_can_evict(gtt))
		retry_refused(gtt, root);
	sync_tree_evicting(gtt, root);
	if (!are_linked(gtt) && drop_unlinked(gtt, false))
		sync_tree_evicting(gtt, root);
	root->used = ++gtt->submissions;
	root->tree.synced++;
	root->tree.last_sync = gtt->syncs;
	gtt->shared_tree.synced++;
}

static void sync_all(struct ghyvi_gtt *gtt)
{
	sync_pass(gtt, NULL, false);
	if (!are_linked(gtt) && drop_unlinked(gtt, true))
		sync_pass(gtt, NULL, false);
	gtt->flushes++;
	gtt->shared_tree.last_sync = gtt->syncs;
}

static void sync_trees(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	ghyvi_count(gtt->params.stats, syncs);
	trace_ghyvi_sync(gtt->params.reporter, root ? root->tree.id : 0);
	gtt->deferral.nomem_left = GHYVI_RETRY_NOMEM;
	gtt->deferral.unbacked_left = GHYVI_RETRY_UNBACKED;
	gtt->deferral.vain_look = false;
	if (gtt->deferral.any)
		gtt->deferral.generation = ghyvi_generation(gtt);
	gtt->syncs++;
	if (root)
		sync_submission_tree(gtt, root);
	else
		sync_all(gtt);
}

static void protect_lists(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	protect_list(gtt, &gtt->shared_tree.relaxed);
	if (root)
		protect_list(gtt, &root->tree.relaxed);
	else
		list_for_each_entry(root, &gtt->root_lru, lru)
			protect_list(gtt, &root->tree.relaxed);
}

/* Sync the relaxed pages that @root may reach, or all of them if @root is NULL. */
static void gtt_sync_locked(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	lockdep_assert_held(&gtt->lock);
	ghyvi_ggtt_collect(gtt); /* before the policy decides which pages to protect */
	if (gtt->policy->ranked && !gtt->rank_in--) {
		ghyvi_tables_rank(gtt);
		gtt->rank_in = GHYVI_RANK_INTERVAL;
	}
	protect_lists(gtt, root);
	sync_trees(gtt, root);
}

void ghyvi_gtt_sync(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	mutex_lock(&gtt->lock);
	gtt_sync_locked(gtt, root && !root->nested ? root : NULL);
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_flush(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	/* This is no submission: relaxed pages are synced and stay relaxed. */
	sync_trees(gtt, NULL);
	if (gtt->policy->nested) /* there are no shadow entries whose changes remove pages */
		ghyvi_aperture_remove_all(gtt);
	ghyvi_gtt_invalidate(gtt);
	ghyvi_gtt_unlock(gtt);
}

/* A burst of the page began with a trap. The pages after it may be written next. */
static void expect_neighbours(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	unsigned int start = table->history.start, distance;

	for (distance = 1; distance <= GHYVI_AHEAD_PAGES; distance++) {
		table = ghyvi_table_neighbour(gtt, table, 1);
		if (!table)
			return;
		if (table->protected && table->history.leaf)
			ghyvi_history_expect(&table->history, ghyvi_table_experience(gtt, table),
					     &gtt->tuning, ghyvi_table_now(gtt, table), start,
					     distance);
	}
}

/* Unprotect and list @table. The next sync finds the stores that do not trap meanwhile. */
static void table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_mark_relaxed(gtt, table);
	ghyvi_count(gtt->params.stats, relaxes);
	trace_ghyvi_relax_change(gtt->params.reporter, "relax", table->gfn);
}

static void relax_ahead(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);
	unsigned int left = gtt->policy->ahead ? gtt->policy->ahead(&page) : 0;

	for (; left; left--) {
		table = ghyvi_table_neighbour(gtt, table, 1);
		if (!table)
			return;
		if (!table->protected || !table->history.leaf)
			continue;
		ghyvi_history_ahead(&table->history);
		table_relax(gtt, table);
	}
}

void ghyvi_table_stored(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last)
{
	unsigned int index, count, changed = 0;

	for (index = first; index <= last; index += count) {
		count = min(last - index + 1, GHYVI_PTES_PER_UPDATE);
		changed += ghyvi_table_update(gtt, table, index, table->guest + index, count);
	}
	if (changed && ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, first, last);
}

/* Handle a trapped store: translate the entries that it touched, then apply the policy. */
static void table_trap(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int offset,
		       unsigned int bytes)
{
	unsigned int first = offset / 8, last = (offset + bytes - 1) / 8;
	struct ghyvi_shadow_view page;

	ghyvi_table_stored(gtt, table, first, last);
	/* Only leaf pages are relaxed, so only their stores are recorded. */
	if (!table->history.leaf)
		return;
	if (ghyvi_history_trap(&table->history, ghyvi_table_experience(gtt, table), &gtt->tuning,
			       ghyvi_table_now(gtt, table),
			       first * GHYVI_BURST_STARTS / GHYVI_ENTRIES) &&
	    gtt->policy->ahead)
		expect_neighbours(gtt, table);
	page = ghyvi_table_view(gtt, table);
	if (!table->protected || !gtt->policy->relax(&page))
		return;
	table_relax(gtt, table);
	ghyvi_history_relaxed(&table->history, ghyvi_table_experience(gtt, table));
	relax_ahead(gtt, table);
}

static struct ghyvi_table_page *table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, gfn);

	return table ? table : ghyvi_ggtt_table_by_gfn(gtt, gfn);
}

void ghyvi_gtt_trap(struct ghyvi_gtt *gtt, u64 gpa, unsigned int bytes)
{
	struct ghyvi_table_page *table;
	unsigned int offset, part;

	trace_ghyvi_trap(gtt->params.reporter, READ_ONCE(gtt->policy)->name, gpa, bytes);
	ghyvi_count(gtt->params.stats, table_write_traps);
	ghyvi_count_add(gtt->params.stats, table_write_bytes, bytes);
	mutex_lock(&gtt->lock);
	/* The store trapped before the policy changed. Pages still shadowed are relaxed. */
	if (gtt->policy->nested)
		goto out;
	ghyvi_cost_trapped(gtt, gpa);
	for (; bytes; gpa += part, bytes -= part) {
		offset = gpa % GHYVI_PAGE_BYTES;
		part = min(bytes, GHYVI_PAGE_BYTES - offset);
		table = table_by_gfn(gtt, gpa >> GHYVI_PAGE_SHIFT);
		if (table)
			table_trap(gtt, table, offset, part);
	}
out:
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_protection_lost(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table;
	unsigned long table_gfn;
	u32 i;

	mutex_lock(&gtt->lock);
	xa_for_each_range(&gtt->tables, table_gfn, table, gfn, gfn + count - 1) {
		ghyvi_table_unprotect(gtt, table);
		ghyvi_table_mark_relaxed(gtt, table);
	}
	for (i = 0; i < gtt->nr_ggtt_tables; i++) {
		table = gtt->ggtt_tables[i];
		if (table && table->gfn != GHYVI_INVALID_GFN && table->gfn - gfn < count)
			ghyvi_ggtt_relax(gtt, table);
	}
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_ggtt_live(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_page_history first_store = { .writes = 1,
							.rank = GHYVI_RANK_UNKNOWN,
							.leaf = true };
	struct ghyvi_shadow_view page = { &first_store, &gtt->tuning, &gtt->ggtt_experience };

	mutex_lock(&gtt->lock);
	if (gtt->ggtt_gfn != GHYVI_INVALID_GFN && !gtt->ggtt_live && !gtt->params.untracked_ggtt) {
		gtt->ggtt_live = true;
		/* A policy that relaxes pages at their first store can wait for the next sync. */
		if (!gtt->policy->relax(&page))
			gtt_sync_locked(gtt, NULL);
	}
	ghyvi_gtt_unlock(gtt);
}

/* Relax a strict leaf page if the new policy would start it relaxed. */
static void relax_if_new(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);

	if (table->protected && table->history.leaf && gtt->policy->relax_new(&page))
		table_relax(gtt, table);
}

/* Drop the protections of the kind that the new policy does not use. */
static void relax_any(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	if (!table->protected)
		return;
	if (ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_relax(gtt, table);
	else
		table_relax(gtt, table);
}

static void account_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	table->history.account.regret_ns = 0;
	table->history.account.paid_ns = 0;
}

static void experience_forget(struct ghyvi_gtt *gtt)
{
	memset(&gtt->experience, 0, sizeof(gtt->experience));
	memset(&gtt->ggtt_experience, 0, sizeof(gtt->ggtt_experience));
	ghyvi_tables_each(gtt, account_forget, NULL);
}

void ghyvi_gtt_forget_guest(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	experience_forget(gtt);
	mutex_unlock(&gtt->lock);
}

int ghyvi_gtt_set_policy(struct ghyvi_gtt *gtt, const char *name)
{
	const struct ghyvi_shadow_policy *policy = ghyvi_shadow_policy_find(name);

	if (!policy)
		return -EINVAL;
	if (policy->nested && !gtt->params.nested)
		return -EOPNOTSUPP;
	mutex_lock(&gtt->lock);
	if (policy->untracked != gtt->policy->untracked && !gtt->params.untracked)
		ghyvi_tables_each(gtt, relax_any, NULL);
	WRITE_ONCE(gtt->policy, policy);
	/* The accounts and the histograms belong to the decisions of one policy. */
	experience_forget(gtt);
	gtt->rank_in = 0;
	if (policy->nested)
		ghyvi_nested_enter(gtt);
	else
		ghyvi_nested_leave(gtt);
	/* Relaxed pages that the new policy wants strict are protected now, not at a submission. */
	gtt_sync_locked(gtt, NULL);
	ghyvi_tables_each(gtt, relax_if_new, NULL);
	ghyvi_gtt_unlock(gtt);
	return 0;
}

/* Word by word: ghyvi_gtt_get_tuning() reads gtt->tuning without the lock. */
static void copy_tuning(struct ghyvi_shadow_tuning *to, const struct ghyvi_shadow_tuning *from)
{
	WRITE_ONCE(to->static_pages, READ_ONCE(from->static_pages));
	WRITE_ONCE(to->oos_threshold, READ_ONCE(from->oos_threshold));
	WRITE_ONCE(to->idle_pins, READ_ONCE(from->idle_pins));
	WRITE_ONCE(to->tables_max, READ_ONCE(from->tables_max));
	WRITE_ONCE(to->trap_ns, READ_ONCE(from->trap_ns));
	WRITE_ONCE(to->scan_ns, READ_ONCE(from->scan_ns));
	WRITE_ONCE(to->protect_ns, READ_ONCE(from->protect_ns));
}

int ghyvi_gtt_set_tuning(struct ghyvi_gtt *gtt, const struct ghyvi_shadow_tuning *tuning)
{
	if (tuning->static_pages > GHYVI_STATIC_PAGES_MAX || !tuning->oos_threshold ||
	    tuning->oos_threshold > GHYVI_OOS_THRESHOLD_MAX ||
	    tuning->idle_pins > GHYVI_IDLE_PINS_MAX || tuning->tables_max < GHYVI_TABLES_MIN ||
	    tuning->tables_max > GHYVI_TABLES_MAX)
		return -EINVAL;
	mutex_lock(&gtt->lock);
	/* Entries that were refused a table page may get one now. */
	gtt->deferral.tables_freed += tuning->tables_max > gtt->tuning.tables_max;
	copy_tuning(&gtt->tuning, tuning);
	gtt->rank_in = 0;
	ghyvi_trees_evict_begin(gtt);
	ghyvi_trees_evict(gtt, 0);
	ghyvi_gtt_unlock(gtt);
	return 0;
}

/*
 * Without gtt->lock: its holder may be pinning guest memory, which can take any time, and an
 * administrator's program must be able to show the settings meanwhile.
 */
void ghyvi_gtt_get_tuning(struct ghyvi_gtt *gtt, struct ghyvi_shadow_tuning *tuning)
{
	copy_tuning(tuning, &gtt->tuning);
}

int ghyvi_gtt_policy_list(struct ghyvi_gtt *gtt, char *buffer, size_t bytes)
{
	const struct ghyvi_shadow_policy *active = READ_ONCE(gtt->policy);
	unsigned int i = 0;

	while (i < ghyvi_shadow_policy_count && ghyvi_shadow_policies[i] != active)
		i++;
	return ghyvi_choice_list(&ghyvi_shadow_policy_choices, i, buffer, bytes);
}
