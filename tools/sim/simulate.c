// SPDX-License-Identifier: GPL-2.0-only
/* Replay of a trace. The number of table pages, not the length of the trace, bounds its memory. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static int no_memory(struct simulation *sim)
{
	snprintf(sim->source->message, TRACE_MESSAGE_BYTES, "out of memory");
	return -1;
}

/* Pages and roots */

/* Resizes @array to @elements of @bytes each. Returns false, without a change, if out of memory. */
static bool enlarge(void *array, size_t elements, size_t bytes)
{
	void **at = array, *bigger = realloc(*at, elements * bytes);

	if (bigger)
		*at = bigger;
	return bigger;
}

static int grow_pages(struct simulation *sim)
{
	u32 room = sim->page_room ? sim->page_room * 2 : 64, i;

	if (!enlarge(&sim->pages, room, sizeof(*sim->pages)) ||
	    !enlarge(&sim->dirty, room, sizeof(*sim->dirty)))
		return no_memory(sim);
	for (i = 0; i < sim->run_count; i++)
		if (!enlarge(&sim->runs[i].pages, room, sizeof(*sim->runs[i].pages)))
			return no_memory(sim);
	sim->page_room = room;
	return 0;
}

static int grow_roots(struct simulation *sim)
{
	u32 room = sim->root_room ? sim->root_room * 2 : 16, i;

	if (!enlarge(&sim->roots, room, sizeof(*sim->roots)))
		return no_memory(sim);
	for (i = 0; i < sim->run_count; i++)
		if (!enlarge(&sim->runs[i].relaxed, room, sizeof(*sim->runs[i].relaxed)))
			return no_memory(sim);
	sim->root_room = room;
	return 0;
}

static int compare_profile(const void *number, const void *profile)
{
	u64 a = *(const u64 *)number, b = ((const struct profile *)profile)->number;

	return a < b ? -1 : a > b;
}

static u32 rank_of(const struct simulation *sim, u64 number)
{
	const struct profile *found = NULL;

	if (sim->profile_count)
		found = bsearch(&number, sim->profile, sim->profile_count, sizeof(*sim->profile),
				compare_profile);
	return found ? found->rank : GHYVI_RANK_UNKNOWN;
}

/* Finds or adds page @number; an added page does not exist in the guest yet. */
static int find_page(struct simulation *sim, u64 number, u32 *at)
{
	*at = index_find(&sim->page_index, number);
	if (*at != NONE)
		return 0;
	if (sim->page_count == TRACE_TABLE_PAGES_MAX) {
		snprintf(sim->source->message, TRACE_MESSAGE_BYTES,
			 "more than %u table pages in one trace", TRACE_TABLE_PAGES_MAX);
		return -1;
	}
	if (sim->page_count == sim->page_room && grow_pages(sim))
		return -1;
	if (index_add(&sim->page_index, number, sim->page_count))
		return no_memory(sim);
	*at = sim->page_count++;
	sim->pages[*at] = (struct guest_page){ .number = number,
					       .rank = rank_of(sim, number),
					       .foresight.foresight = true };
	return 0;
}

static int add_root(struct simulation *sim, u32 *at)
{
	unsigned int i;

	if (sim->root_count == sim->root_room && grow_roots(sim))
		return -1;
	*at = sim->root_count++;
	sim->roots[*at] = (struct root){ 0 };
	for (i = 0; i < sim->run_count; i++)
		sim->runs[i].relaxed[*at] =
			(struct relaxed_pages){ { NONE, NONE }, { NONE, NONE }, 0 };
	return 0;
}

static int find_root(struct simulation *sim, u64 number, u32 *at)
{
	*at = index_find(&sim->root_index, number);
	if (*at != NONE)
		return 0;
	if (sim->root_count > TRACE_ROOTS_MAX) { /* root_count includes EVERY_ROOT */
		snprintf(sim->source->message, TRACE_MESSAGE_BYTES,
			 "more than %u roots in one trace", TRACE_ROOTS_MAX);
		return -1;
	}
	if (add_root(sim, at))
		return -1;
	return index_add(&sim->root_index, number, *at) ? no_memory(sim) : 0;
}

/* Page @at exists from now on. */
static void add_page(struct simulation *sim, u32 at, u32 root, bool linked_now)
{
	struct guest_page *page = &sim->pages[at];
	unsigned int i;

	page->there = true;
	page->root = root;
	page->submissions_seen = submissions_of(sim, at);
	optimum_start(&page->started, linked_now);
	limit_start(&page->limits, linked_now);
	for (i = 0; i < sim->run_count; i++)
		run_new_page(sim, &sim->runs[i], at, linked_now);
}

/* Accounts for the submissions that have reached page @at since the last call. */
static void account(struct simulation *sim, u32 at)
{
	struct guest_page *page = &sim->pages[at];
	u64 now = submissions_of(sim, at), count = now - page->submissions_seen;

	optimum_submissions(&page->foresight, &sim->costs, count);
	optimum_submissions(&page->trap_only, &sim->costs, count);
	optimum_submissions(&page->started, &sim->costs, count);
	limit_submissions(&page->limits, &sim->limits, count);
	page->submissions_seen = now;
}

/* Records */

static int on_store(struct simulation *sim, const struct trace_record *record)
{
	bool wide = record->type == TRACE_WIDE_STORE;
	u32 stores = wide ? 1 : record->count, at;
	struct guest_page *page;
	unsigned int i;

	if (find_page(sim, record->page, &at))
		return -1;
	page = &sim->pages[at];
	if (page->there)
		account(sim, at);
	else
		add_page(sim, at, EVERY_ROOT, page->freed);
	optimum_stores(&page->foresight, &sim->costs, stores);
	optimum_stores(&page->trap_only, &sim->costs, stores);
	optimum_stores(&page->started, &sim->costs, stores);
	limit_store(&page->limits, &sim->limits);
	sim->counts->stores += stores;
	page->stores += stores;
	if (!page->written.count)
		sim->dirty[sim->dirty_count++] = at;
	written_set(&page->written, record->entry, record->count);
	for (i = 0; i < sim->run_count; i++)
		run_store(sim, &sim->runs[i], at, record->entry, record->count, wide);
	return 0;
}

static int on_submission(struct simulation *sim, u64 number)
{
	struct guest_page *page;
	unsigned int i;
	u32 root, at;

	if (find_root(sim, number, &root))
		return -1;
	for (i = 0; i < sim->run_count; i++)
		run_submission(sim, &sim->runs[i], root);
	sim->roots[root].submissions++;
	sim->roots[EVERY_ROOT].submissions++;
	sim->counts->submissions++;
	while (sim->dirty_count) {
		at = sim->dirty[--sim->dirty_count];
		page = &sim->pages[at];
		sim->counts->pairs++;
		sim->counts->entries_changed += page->written.count;
		written_clear(&page->written);
	}
	return 0;
}

static int on_page_freed(struct simulation *sim, u64 number)
{
	struct guest_page *page;
	unsigned int i;
	u32 at;

	if (find_page(sim, number, &at))
		return -1;
	page = &sim->pages[at];
	if (page->there) {
		account(sim, at);
		optimum_restart(&page->foresight);
		optimum_restart(&page->trap_only);
		for (i = 0; i < sim->run_count; i++)
			run_free_page(sim, &sim->runs[i], at);
	}
	page->there = false;
	page->freed = true;
	return 0;
}

/* A root record of a page that does not exist means that the page has just been linked. */
static int on_page_root(struct simulation *sim, u64 number, u32 root)
{
	struct guest_page *page;
	unsigned int i;
	u32 at;

	if (find_page(sim, number, &at))
		return -1;
	page = &sim->pages[at];
	if (!page->there) {
		add_page(sim, at, root, true);
		return 0;
	}
	if (page->root == root)
		return 0;
	account(sim, at);
	for (i = 0; i < sim->run_count; i++)
		run_change_root(sim, &sim->runs[i], at, page->root, root);
	page->root = root;
	page->submissions_seen = submissions_of(sim, at);
	return 0;
}

static int on_record(struct simulation *sim, const struct trace_record *record)
{
	u32 root;

	switch (record->type) {
	case TRACE_STORES:
	case TRACE_WIDE_STORE:
		return on_store(sim, record);
	case TRACE_SUBMISSION:
		return on_submission(sim, record->root);
	case TRACE_PAGE_FREED:
		return on_page_freed(sim, record->page);
	case TRACE_PAGE_ROOT:
		return find_root(sim, record->root, &root) ? -1 :
							     on_page_root(sim, record->page, root);
	case TRACE_PAGE_SHARED:
		return on_page_root(sim, record->page, EVERY_ROOT);
	default:
		return 0;
	}
}

/* Replays the whole trace on an empty simulation. */
static int replay(struct simulation *sim)
{
	struct trace_record record;
	u32 number, at;
	int got;

	if (add_root(sim, &at)) /* EVERY_ROOT */
		return -1;
	for (number = 0; number < sim->source->table_pages; number++) {
		if (find_page(sim, number, &at))
			return -1;
		add_page(sim, at, EVERY_ROOT, false);
	}
	while ((got = sim->source->next(sim->source, &record)) > 0)
		if (on_record(sim, &record))
			return -1;
	return got;
}

static int by_number(const void *a, const void *b)
{
	const struct guest_page *first = *(struct guest_page *const *)a;
	const struct guest_page *second = *(struct guest_page *const *)b;

	return first->number < second->number ? -1 : 1;
}

static int hotter(const void *a, const void *b)
{
	const struct guest_page *first = *(struct guest_page *const *)a;
	const struct guest_page *second = *(struct guest_page *const *)b;

	if (first->stores != second->stores)
		return first->stores > second->stores ? -1 : 1;
	return by_number(a, b);
}

/*
 * Of @count pages sorted by number, moves the @width consecutive pages with most stores to the
 * front.
 */
static void band_to_front(struct guest_page **order, u32 count, u32 width)
{
	u64 stores = 0, most;
	u32 i, best = 0;

	for (i = 0; i < width; i++)
		stores += order[i]->stores;
	most = stores;
	for (i = width; i < count; i++) {
		stores += order[i]->stores - order[i - width]->stores;
		if (stores > most) {
			most = stores;
			best = i - width + 1;
		}
	}
	for (i = 0; i < width; i++) {
		struct guest_page *page = order[i];

		order[i] = order[best + i];
		order[best + i] = page;
	}
}

static int rank(struct simulation *sim, enum sim_profile profile)
{
	struct guest_page **order = calloc(sim->page_count + 1, sizeof(*order));
	u32 i, front = 0;

	sim->profile = calloc(sim->page_count + 1, sizeof(*sim->profile));
	if (!order || !sim->profile) {
		free(order);
		return no_memory(sim);
	}
	for (i = 0; i < sim->page_count; i++)
		order[i] = &sim->pages[i];
	if (profile == SIM_PROFILE_BAND && sim->tuning->static_pages < sim->page_count) {
		front = sim->tuning->static_pages;
		qsort(order, sim->page_count, sizeof(*order), by_number);
		band_to_front(order, sim->page_count, front);
	}
	qsort(order, front, sizeof(*order), hotter);
	qsort(order + front, sim->page_count - front, sizeof(*order), hotter);
	for (i = 0; i < sim->page_count; i++)
		order[i]->rank = i;
	qsort(order, sim->page_count, sizeof(*order), by_number);
	for (i = 0; i < sim->page_count; i++)
		sim->profile[i] = (struct profile){ order[i]->number, order[i]->rank };
	sim->profile_count = sim->page_count;
	free(order);
	return 0;
}

/* Resets all but the profile. No page and no root may exist before the second pass reaches it. */
static void forget_pass(struct simulation *sim)
{
	index_clear(&sim->page_index);
	index_clear(&sim->root_index);
	sim->page_count = 0;
	sim->root_count = 0;
	sim->dirty_count = 0;
	memset(sim->counts, 0, sizeof(*sim->counts));
	memset(&sim->limits, 0, sizeof(sim->limits));
}

static struct sim_limit best_limit(const struct simulation *sim)
{
	struct sim_limit best = { .cost_ns = UINT64_MAX };
	const struct limit_counts *counts;
	unsigned int relaxed, i;
	u64 cost;

	for (relaxed = 0; relaxed < 2; relaxed++) {
		for (i = 0; i < LIMITS; i++) {
			counts = &sim->limits.counts[relaxed][i];
			cost = counts->traps * sim->costs.trap_ns +
			       counts->scans * sim->costs.scan_ns +
			       counts->protects * sim->costs.protect_ns;
			if (cost < best.cost_ns)
				best = (struct sim_limit){ limit_at(i), relaxed, cost };
		}
	}
	return best;
}

static void sum_up(struct simulation *sim, struct sim_result *result)
{
	struct sim_policy_counts *counts;
	struct guest_page *page;
	u32 i;

	for (i = 0; i < sim->page_count; i++) {
		page = &sim->pages[i];
		if (page->there)
			account(sim, i);
		result->optimum_ns += optimum_cost(&page->foresight);
		result->optimum_trap_ns += optimum_cost(&page->trap_only);
		result->optimum_started_ns += optimum_cost(&page->started);
		sim->counts->pages_written += page->stores > 0;
		if (page->stores > sim->counts->most_written)
			sim->counts->most_written = page->stores;
	}
	result->limit = best_limit(sim);
	for (i = 0; i < sim->run_count; i++) {
		counts = &result->policies[i];
		counts->entries_compared = counts->pages_scanned * sim->entries;
		counts->cost_ns = counts->traps * sim->costs.trap_ns +
				  counts->pages_scanned * sim->costs.scan_ns +
				  counts->protects * sim->costs.protect_ns;
	}
}

static int add_runs(struct simulation *sim, const struct ghyvi_shadow_policy *const *policies,
		    unsigned int count, struct sim_policy_counts *counts)
{
	unsigned int i;

	sim->runs = calloc(count + 1, sizeof(*sim->runs));
	if (!sim->runs)
		return no_memory(sim);
	sim->run_count = count;
	for (i = 0; i < count; i++) {
		struct run *run = &sim->runs[i];

		run->policy = policies[i];
		run->counts = &counts[i];
		run->pages = calloc(sim->page_room, sizeof(*run->pages));
		run->relaxed = calloc(sim->root_room, sizeof(*run->relaxed));
		if ((sim->page_room && !run->pages) || (sim->root_room && !run->relaxed))
			return no_memory(sim);
	}
	return 0;
}

static void forget_accounts(struct ghyvi_experience *experience)
{
	experience->traps_saved = 0;
	experience->balance_ns = 0;
	experience->ahead_credit_ns = 0;
}

/* Resets the counts and what bounds the cost of a policy, but not what it has learnt. */
static void forget_costs(struct simulation *sim)
{
	unsigned int i;

	for (i = 0; i < sim->run_count; i++) {
		forget_accounts(&sim->runs[i].experience);
		forget_accounts(&sim->runs[i].ggtt_experience);
		memset(sim->runs[i].counts, 0, sizeof(*sim->runs[i].counts));
	}
}

/* Replays @before, and forgets all but what the policies have learnt from it. */
static int gain_experience(struct simulation *sim, struct trace_source *before)
{
	struct trace_source *source = sim->source;
	int err;

	sim->source = before;
	err = replay(sim) || before->rewind(before);
	sim->source = source;
	if (err)
		return -1;
	forget_pass(sim);
	forget_costs(sim);
	return 0;
}

static int run_all(struct simulation *sim, const struct ghyvi_shadow_policy *const *policies,
		   unsigned int count, enum sim_profile profile, struct trace_source *before,
		   struct sim_result *result)
{
	bool ranked = false;
	unsigned int i;

	for (i = 0; i < count; i++)
		ranked |= policies[i]->ranked;
	if (ranked) {
		if (replay(sim) || rank(sim, profile) || sim->source->rewind(sim->source))
			return -1;
		forget_pass(sim);
	}
	if (add_runs(sim, policies, count, result->policies) ||
	    (before && gain_experience(sim, before)) || replay(sim))
		return -1;
	sum_up(sim, result);
	return 0;
}

static int run_simulation(struct trace_source *source,
			  const struct ghyvi_shadow_policy *const *policies, unsigned int count,
			  const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
			  struct trace_source *before, struct sim_result *result)
{
	struct simulation sim = {
		.source = source,
		.tuning = tuning,
		.costs = { tuning->trap_ns, tuning->scan_ns, tuning->protect_ns },
		.counts = &result->trace,
		.entries = trace_entries(source),
	};
	unsigned int i;
	int err;

	memset(result, 0, sizeof(*result));
	result->policies = calloc(count + 1, sizeof(*result->policies));
	if (!result->policies)
		err = no_memory(&sim);
	else
		err = run_all(&sim, policies, count, profile, before, result);
	for (i = 0; i < sim.run_count; i++) {
		free(sim.runs[i].pages);
		free(sim.runs[i].relaxed);
	}
	free(sim.runs);
	free(sim.pages);
	free(sim.dirty);
	free(sim.roots);
	free(sim.profile);
	index_free(&sim.page_index);
	index_free(&sim.root_index);
	if (err)
		sim_result_free(result);
	return err;
}

int simulate(struct trace_source *source, const struct ghyvi_shadow_policy *const *policies,
	     unsigned int count, const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
	     struct sim_result *result)
{
	return run_simulation(source, policies, count, tuning, profile, NULL, result);
}

int simulate_experienced(struct trace_source *source, struct trace_source *before,
			 const struct ghyvi_shadow_policy *const *policies, unsigned int count,
			 const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
			 struct sim_result *result)
{
	return run_simulation(source, policies, count, tuning, profile, before, result);
}

void sim_result_free(struct sim_result *result)
{
	free(result->policies);
	result->policies = NULL;
}
