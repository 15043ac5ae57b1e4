// SPDX-License-Identifier: GPL-2.0-only
/* Replay. Memory is bounded by the number of table pages, not by the length of the trace. */
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

static int grow(struct simulation *sim)
{
	u32 room = sim->page_room ? sim->page_room * 2 : 1024, i;
	void *pages = realloc(sim->pages, room * sizeof(*sim->pages));
	u32 *index, *list;

	if (!pages)
		return no_memory(sim);
	sim->pages = pages;
	list = realloc(sim->dirty, room * sizeof(*list));
	if (!list)
		return no_memory(sim);
	sim->dirty = list;
	for (i = 0; i < sim->run_count; i++) {
		pages = realloc(sim->runs[i].pages, room * sizeof(*sim->runs[i].pages));
		if (!pages)
			return no_memory(sim);
		sim->runs[i].pages = pages;
		list = realloc(sim->runs[i].relaxed, room * sizeof(*list));
		if (!list)
			return no_memory(sim);
		sim->runs[i].relaxed = list;
	}
	index = realloc(sim->index, room * 2 * sizeof(*index));
	if (!index)
		return no_memory(sim);
	sim->index = index;
	sim->index_mask = room * 2 - 1;
	memset(index, 0xff, room * 2 * sizeof(*index));
	for (i = 0; i < sim->page_count; i++)
		*page_slot(sim, sim->pages[i].number) = i;
	sim->page_room = room;
	return 0;
}

static int find_page(struct simulation *sim, u64 number, u32 *at)
{
	struct guest_page *page;
	unsigned int i;

	if (sim->page_count) {
		*at = *page_slot(sim, number);
		if (*at != NONE)
			return 0;
	}
	if (sim->page_count == TRACE_TABLE_PAGES_MAX) {
		snprintf(sim->source->message, TRACE_MESSAGE_BYTES,
			 "more than %u table pages in one trace", TRACE_TABLE_PAGES_MAX);
		return -1;
	}
	if (sim->page_count == sim->page_room && grow(sim))
		return -1;
	*at = sim->page_count++;
	page = &sim->pages[*at];
	memset(page, 0, sizeof(*page));
	page->number = number;
	page->foresight.foresight = true;
	page->root = EVERY_ROOT;
	page->rank = GHYVI_RANK_UNKNOWN;
	page->submissions_seen = sim->counts->submissions;
	*page_slot(sim, number) = *at;
	for (i = 0; i < sim->run_count; i++)
		run_new_page(sim, &sim->runs[i], *at, false);
	return 0;
}

static int find_root(struct simulation *sim, u64 number, u32 *at)
{
	/* Few, and in the order of their first use. */
	for (*at = 0; *at < sim->root_count; ++*at)
		if (sim->roots[*at].number == number)
			return 0;
	if (sim->root_count == ROOTS_MAX) {
		snprintf(sim->source->message, TRACE_MESSAGE_BYTES, "more than %u roots", ROOTS_MAX);
		return -1;
	}
	sim->roots[sim->root_count++] = (struct root){ .number = number };
	return 0;
}

/* Submissions that reached the page since it was last accounted for. */
static void account(struct simulation *sim, struct guest_page *page)
{
	u64 now = page->root == EVERY_ROOT ? sim->counts->submissions :
					     sim->roots[page->root].submissions;
	u64 count = now - page->submissions_seen;

	optimum_submissions(&page->foresight, &sim->costs, count);
	optimum_submissions(&page->trap_only, &sim->costs, count);
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
	account(sim, page);
	if (page->freed) {
		page->freed = false;
		for (i = 0; i < sim->run_count; i++)
			run_new_page(sim, &sim->runs[i], at, true);
	}
	optimum_stores(&page->foresight, &sim->costs, stores);
	optimum_stores(&page->trap_only, &sim->costs, stores);
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
	if (page->freed)
		return 0;
	account(sim, page);
	optimum_restart(&page->foresight);
	optimum_restart(&page->trap_only);
	page->root = EVERY_ROOT;
	page->submissions_seen = sim->counts->submissions;
	page->freed = true;
	for (i = 0; i < sim->run_count; i++)
		run_take_back(&sim->runs[i], at);
	return 0;
}

static int on_page_root(struct simulation *sim, u64 number, u64 root_number)
{
	struct guest_page *page;
	u32 at, root;

	if (find_page(sim, number, &at) || find_root(sim, root_number, &root))
		return -1;
	page = &sim->pages[at];
	if (page->root == root)
		return 0;
	account(sim, page);
	page->root = root;
	page->submissions_seen = sim->roots[root].submissions;
	return 0;
}

static int replay(struct simulation *sim)
{
	struct trace_record record;
	int got, err;

	for (;;) {
		got = sim->source->next(sim->source, &record);
		if (got <= 0)
			return got;
		switch (record.type) {
		case TRACE_STORES:
		case TRACE_WIDE_STORE:
			err = on_store(sim, &record);
			break;
		case TRACE_SUBMISSION:
			err = on_submission(sim, record.root);
			break;
		case TRACE_PAGE_FREED:
			err = on_page_freed(sim, record.page);
			break;
		case TRACE_PAGE_ROOT:
			err = on_page_root(sim, record.page, record.root);
			break;
		default:
			err = 0;
			break;
		}
		if (err)
			return err;
	}
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

/* Bring the @width neighbours that were written most, of @count pages in the order of their numbers, to the front. */
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

	if (!order)
		return no_memory(sim);
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
	free(order);
	return 0;
}

/* The profile stays, everything else starts over. */
static void forget_pass(struct simulation *sim)
{
	u32 i;

	for (i = 0; i < sim->page_count; i++) {
		struct guest_page *page = &sim->pages[i];

		*page = (struct guest_page){ .number = page->number, .rank = page->rank,
					     .root = EVERY_ROOT, .foresight.foresight = true };
	}
	sim->root_count = 0;
	sim->dirty_count = 0;
	memset(sim->counts, 0, sizeof(*sim->counts));
}

static void sum_up(struct simulation *sim, struct sim_result *result)
{
	struct sim_policy_counts *counts;
	struct guest_page *page;
	u32 i;

	for (i = 0; i < sim->page_count; i++) {
		page = &sim->pages[i];
		account(sim, page);
		result->optimum_ns += optimum_cost(&page->foresight);
		result->optimum_trap_ns += optimum_cost(&page->trap_only);
		sim->counts->pages_written += page->stores > 0;
		if (page->stores > sim->counts->most_written)
			sim->counts->most_written = page->stores;
	}
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
	u32 at;

	sim->runs = calloc(count, sizeof(*sim->runs));
	if (!sim->runs)
		return no_memory(sim);
	sim->run_count = count;
	for (i = 0; i < count; i++) {
		struct run *run = &sim->runs[i];

		run->policy = policies[i];
		run->counts = &counts[i];
		run->pages = calloc(sim->page_room, sizeof(*run->pages));
		run->relaxed = calloc(sim->page_room, sizeof(*run->relaxed));
		if (sim->page_room && (!run->pages || !run->relaxed))
			return no_memory(sim);
		for (at = 0; at < sim->page_count; at++)
			run_new_page(sim, run, at, false);
	}
	return 0;
}

static int add_existing_pages(struct simulation *sim)
{
	u32 number, at;

	for (number = 0; number < sim->source->table_pages; number++)
		if (find_page(sim, number, &at))
			return -1;
	return 0;
}

static int run_all(struct simulation *sim, const struct ghyvi_shadow_policy *const *policies,
		   unsigned int count, enum sim_profile profile, struct sim_result *result)
{
	bool ranked = false;
	unsigned int i;

	for (i = 0; i < count; i++)
		ranked |= policies[i]->ranked;
	if (add_existing_pages(sim))
		return -1;
	if (ranked) {
		if (replay(sim) || rank(sim, profile) || sim->source->rewind(sim->source))
			return -1;
		forget_pass(sim);
	}
	if (add_runs(sim, policies, count, result->policies) || replay(sim))
		return -1;
	sum_up(sim, result);
	return 0;
}

int simulate(struct trace_source *source, const struct ghyvi_shadow_policy *const *policies,
	     unsigned int count, const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
	     struct sim_result *result)
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
	result->policies = calloc(count, sizeof(*result->policies));
	sim.roots = malloc(ROOTS_MAX * sizeof(*sim.roots));
	if (!result->policies || !sim.roots)
		err = no_memory(&sim);
	else
		err = run_all(&sim, policies, count, profile, result);
	for (i = 0; i < sim.run_count; i++) {
		free(sim.runs[i].pages);
		free(sim.runs[i].relaxed);
	}
	free(sim.runs);
	free(sim.pages);
	free(sim.index);
	free(sim.dirty);
	free(sim.roots);
	if (err)
		sim_result_free(result);
	return err;
}

void sim_result_free(struct sim_result *result)
{
	free(result->policies);
	result->policies = NULL;
}
