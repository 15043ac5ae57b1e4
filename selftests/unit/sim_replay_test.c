// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator: the effect of a record on policies and on the optimum. Pages are linked, freed and
 * change roots. The optimum is compared with all possible courses.
 */
#include <time.h>

#include "../../tools/sim/generator.h"
#include "sim_listed.h"

#define MANY_ROOTS 65536u /* as many as a trace may have */

/*
 * Every course of one page from record @at on, by trying them all; nothing is shared with the
 * optimum's dynamic programme. Where the page is not there it has no state; where it comes, any
 * that suits it.
 */
struct courses {
	const struct listed *l;
	const struct ghyvi_shadow_tuning *t;
	bool foresight;
	bool started; /* a page starts relaxed if it was linked just now, and protected otherwise */
	u64 page;
};

struct state {
	unsigned int at;
	u32 store; /* of those of the record */
	bool there, relaxed, own_root, freed;
	u64 root; /* if @own_root; else all reach it */
};

static u64 cheapest(const struct courses *c, struct state s);

static u64 cheapest_as(const struct courses *c, struct state s, bool relaxed)
{
	s.relaxed = relaxed;
	return cheapest(c, s);
}

static u64 at_submission(const struct courses *c, struct state s, u64 root)
{
	u64 stay, change;

	s.at++;
	if (!s.there || (s.own_root && s.root != root))
		return cheapest(c, s);
	if (s.relaxed) {
		stay = cheapest(c, s);
		change = cheapest_as(c, s, false) + c->t->protect_ns;
		return min(stay, change) + c->t->scan_ns;
	}
	stay = cheapest(c, s);
	change = c->foresight ? cheapest_as(c, s, true) : stay;
	return min(stay, change);
}

static u64 at_store(const struct courses *c, struct state s, const struct trace_record *record)
{
	u64 stay, change;

	if (record->type == TRACE_STORES && s.store + 1 < record->count) {
		s.store++;
	} else {
		s.store = 0;
		s.at++;
	}
	if (s.relaxed)
		return cheapest(c, s);
	stay = cheapest(c, s);
	change = cheapest_as(c, s, true);
	return min(stay, change) + c->t->trap_ns;
}

static u64 cheapest(const struct courses *c, struct state s)
{
	const struct trace_record *record = &c->l->records[s.at];
	u64 one, other;

	if (s.at == c->l->count)
		return 0;
	if (record->type == TRACE_SUBMISSION)
		return at_submission(c, s, record->root);
	if (record->page != c->page) {
		s.at++;
		return cheapest(c, s);
	}
	if (record->type == TRACE_PAGE_FREED) {
		s = (struct state){ .at = s.at + 1, .freed = true };
		return cheapest(c, s);
	}
	if (!s.there) {
		s.there = true;
		if (c->started)
			return cheapest_as(c, s,
					   s.freed || record->type == TRACE_PAGE_ROOT ||
						   record->type == TRACE_PAGE_SHARED);
		one = cheapest_as(c, s, false);
		other = cheapest_as(c, s, true);
		return min(one, other);
	}
	if (record->type == TRACE_STORES || record->type == TRACE_WIDE_STORE)
		return at_store(c, s, record);
	s.at++;
	s.own_root = record->type == TRACE_PAGE_ROOT;
	s.root = record->root;
	return cheapest(c, s);
}

static u64 cheapest_of_all(const struct listed *l, const struct ghyvi_shadow_tuning *t,
			   bool foresight, bool started, u32 pages)
{
	struct courses c = { l, t, foresight, started, 0 };
	struct state s = { 0 };
	u64 one, other, sum = 0;

	for (c.page = 0; c.page < pages; c.page++) {
		s.there = c.page < l->source.table_pages;
		one = cheapest_as(&c, s, false);
		other = cheapest_as(&c, s, s.there && !started);
		sum += min(one, other);
	}
	return sum;
}

static void optimum_equals_brute_force(void **state)
{
	struct ghyvi_shadow_tuning tuning;
	struct sim_result r;
	unsigned int i, pages;
	struct listed l;

	seed = 1;
	for (i = 0; i < 3000; i++) {
		pages = 1 + any(2);
		random_trace(&l, 1 + any(14), pages, 1 + any(3));
		tuning = random_tuning();
		listed_run(&l, &tuning, &r);
		assert_int_equal(r.optimum_ns, cheapest_of_all(&l, &tuning, true, false, pages));
		assert_int_equal(r.optimum_trap_ns,
				 cheapest_of_all(&l, &tuning, false, false, pages));
		assert_int_equal(r.optimum_started_ns,
				 cheapest_of_all(&l, &tuning, false, true, pages));
		sim_result_free(&r);
	}
}

/* One page under a waiting limit, record by record; nothing is shared with tools/sim/limits.h. */
static u64 cost_of_limit(const struct listed *l, const struct ghyvi_shadow_tuning *t, u64 page,
			 u64 limit, bool start_relaxed)
{
	struct state s = { .there = page < l->source.table_pages };
	u64 cost = 0, clean = 0;

	for (; s.at < l->count; s.at++) {
		const struct trace_record *record = &l->records[s.at];

		if (record->type == TRACE_SUBMISSION) {
			if (!s.there || !s.relaxed || (s.own_root && s.root != record->root))
				continue;
			cost += t->scan_ns;
			if (clean++ != limit)
				continue;
			cost += t->protect_ns;
			s.relaxed = false;
		} else if (record->page != page) {
			continue;
		} else if (record->type == TRACE_PAGE_FREED) {
			s = (struct state){ .at = s.at, .freed = true };
		} else {
			bool store = record->type == TRACE_STORES ||
				     record->type == TRACE_WIDE_STORE;

			if (!s.there)
				s.relaxed = start_relaxed && (s.freed || !store);
			if (!s.there || store)
				clean = 0;
			if (store && !s.relaxed)
				cost += t->trap_ns;
			s.relaxed |= store;
			if (!store) {
				s.own_root = record->type == TRACE_PAGE_ROOT;
				s.root = record->root;
			}
			s.there = true;
		}
	}
	return cost;
}

static void the_best_limit_equals_brute_force(void **state)
{
	static const u64 limits[] = { 0, 1, 2, 4, 8, 16, 32, U64_MAX };
	struct ghyvi_shadow_tuning tuning;
	unsigned int i, k, page;
	struct sim_result r;
	struct listed l;
	u64 best, cost;

	seed = 4;
	for (i = 0; i < 2000; i++) {
		random_trace(&l, 1 + any(RECORDS), 3, 3);
		tuning = random_tuning();
		listed_run(&l, &tuning, &r);
		best = U64_MAX;
		for (k = 0; k < 2 * ARRAY_SIZE(limits); k++) {
			for (cost = 0, page = 0; page < 3; page++)
				cost += cost_of_limit(&l, &tuning, page, limits[k / 2], k % 2);
			best = min(best, cost);
		}
		assert_int_equal(r.limit.cost_ns, best);
		assert_true(r.optimum_trap_ns <= best);
		sim_result_free(&r);
	}
}

static void no_policy_beats_the_optimum(void **state)
{
	struct ghyvi_shadow_tuning tuning;
	struct sim_result r;
	struct listed l;
	unsigned int i, p;

	seed = 2;
	for (i = 0; i < 600; i++) {
		random_trace(&l, RECORDS, 4, 3);
		tuning = random_tuning();
		listed_run(&l, &tuning, &r);
		assert_true(r.optimum_ns <= r.optimum_trap_ns);
		for (p = 0; p < ghyvi_shadow_policy_count; p++) {
			assert_true(r.optimum_ns <= r.policies[p].cost_ns);
			/* A page that is relaxed with its neighbour did not trap. */
			if (!ghyvi_shadow_policies[p]->ahead)
				assert_true(r.optimum_trap_ns <= r.policies[p].cost_ns);
		}
		sim_result_free(&r);
	}
}

/*
 * The optimum relaxes at the one trap that it pays for, and the page stays so until it is freed and
 * when it is back.
 */
static void submissions_without_a_page_cost_the_optimum_nothing(void **state)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;
	unsigned int i;
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, stores(7, 0, 10));
	list(&l, freed(7));
	for (i = 0; i < 40; i++)
		list(&l, submission(0));
	list(&l, stores(7, 0, 10));
	list(&l, freed(7));
	for (i = 0; i < 10; i++)
		list(&l, submission(0));
	listed_run(&l, &tuning, &r);
	assert_int_equal(r.optimum_trap_ns, 0);
	sim_result_free(&r);
}

static void a_submission_scans_only_what_its_root_reaches(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, page_root(7, 1));
	list(&l, stores(7, 0, 10));
	list(&l, submission(2));
	list(&l, submission(1));
	list(&l, submission(2));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.policies[place("full")].pages_scanned, 1);
	assert_int_equal(r.policies[place("segmented")].pages_scanned, 1);
	assert_int_equal(r.policies[place("dynamic")].pages_scanned, 1);
	sim_result_free(&r);
}

static void a_freed_page_is_not_scanned_and_starts_over(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, stores(7, 0, 10));
	list(&l, submission(0));
	list(&l, freed(7));
	list(&l, submission(0));
	list(&l, stores(7, 0, 10));
	list(&l, submission(0));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.policies[place("full")].pages_scanned, 2);
	assert_int_equal(r.policies[place("dynamic")].pages_scanned, 2);
	assert_int_equal(r.policies[place("dynamic")].traps, 2);
	sim_result_free(&r);
}

static void assert_scans_and_traps(const struct sim_result *r, const char *policy, u64 scans,
				   u64 traps)
{
	assert_int_equal(r->policies[place(policy)].pages_scanned, scans);
	assert_int_equal(r->policies[place(policy)].traps, traps);
}

/* Only pages of the GGTT can be protected without write tracking: those known by their gfn. */
static void relaxed_protects_only_pages_of_the_ggtt(void **state)
{
	const u64 pages[] = { 7, TRACE_PAGE_PLACED | 7, 0 };
	struct sim_result r;
	struct listed l;
	unsigned int i, s;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		listed_init(&l, 1); /* page 0 is a guest's from the start */
		list(&l, stores(pages[i], 0, 5));
		for (s = 0; s < 40; s++)
			list(&l, submission(1));
		list(&l, stores(pages[i], 0, 5));
		list(&l, submission(1));
		listed_run(&l, &default_tuning, &r);
		/* Page 0 is scanned 41 times; the GGTT's page is not once its scans have cost P. */
		if (i == 0)
			assert_scans_and_traps(&r, "relaxed", 41 + 21 + 1, 1);
		else
			assert_scans_and_traps(&r, "relaxed", i == 1 ? 2 * 41 : 41, 0);
		sim_result_free(&r);
	}
}

/* Policies that start new pages relaxed do not trap its first store, the others do. */
static void an_announced_page_has_been_linked_now(void **state)
{
	struct trace_record announce[] = { page_root(7, 1), page_shared(7) };
	struct sim_result r;
	struct listed l;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		listed_init(&l, 0);
		if (i & 1) { /* not for the first time */
			list(&l, stores(7, 0, 1));
			list(&l, freed(7));
		}
		list(&l, submission(1));
		list(&l, announce[i / 2]);
		list(&l, stores(7, 0, 5));
		list(&l, submission(1));
		listed_run(&l, &default_tuning, &r);
		assert_scans_and_traps(&r, "full", 1, 0);
		assert_scans_and_traps(&r, "adaptive", 1, i & 1);
		assert_scans_and_traps(&r, "segmented", 1, 1 + (i & 1));
		assert_scans_and_traps(&r, "dynamic", 1, 1 + (i & 1));
		assert_scans_and_traps(&r, "strict", 0, 5 + (i & 1));
		sim_result_free(&r);
	}
}

/*
 * oos relaxes at the second store since the last submission that reached the page, by whatever
 * root.
 */
static void a_page_that_changes_roots_keeps_its_burst(void **state)
{
	struct trace_record changes[] = { page_root(7, 2), page_shared(7) };
	struct sim_result r;
	struct listed l;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		listed_init(&l, 0);
		if (i / 2) {
			/* The page's own root has had fewer submissions than all together. */
			list(&l, submission(2));
			list(&l, page_root(7, 1));
		}
		list(&l, stores(7, 0, 1));
		if (i & 1)
			list(&l, submission(1));
		list(&l, changes[i / 2]);
		list(&l, stores(7, 1, 1));
		list(&l, submission(2));
		listed_run(&l, &default_tuning, &r);
		assert_scans_and_traps(&r, "oos", !(i & 1), 2);
		sim_result_free(&r);
	}
}

/* The last page of one directory and the first of the next have consecutive numbers, too. */
static void pages_of_two_page_directories_are_not_neighbours(void **state)
{
	const struct ghyvi_shadow_policy *adaptive = ghyvi_shadow_policy_find("adaptive");
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result r;
	struct listed l;
	unsigned int i, n;
	u64 first;

	tuning.trap_ns = 8000; /* cheap enough for pages to be protected in each gap */
	tuning.protect_ns = 1000;
	for (n = 0; n < 2; n++) {
		first = TRACE_PAGE_PLACED | (511 - n);
		listed_init(&l, 0);
		for (i = 0; i < RECORDS; i++)
			list(&l, i % 12 < 2 ? stores(first + i % 12, 0, 1) : submission(0));
		assert_int_equal(simulate(&l.source, &adaptive, 1, &tuning, SIM_PROFILE_PAGES, &r),
				 0);
		/*
		 * Of neighbours, the second one is relaxed with the first once it has followed it,
		 * which is expected from its second burst on.
		 */
		assert_int_equal(r.policies[0].traps, n ? 8 : 12);
		sim_result_free(&r);
	}
}

static u64 scans_of_adaptive(struct listed *l, const struct ghyvi_shadow_tuning *tuning)
{
	const struct ghyvi_shadow_policy *adaptive = ghyvi_shadow_policy_find("adaptive");
	struct sim_result r;
	u64 scans;

	l->at = 0;
	assert_int_equal(simulate(&l->source, &adaptive, 1, tuning, SIM_PROFILE_PAGES, &r), 0);
	scans = r.policies[0].pages_scanned;
	sim_result_free(&r);
	return scans;
}

static void a_freed_page_is_not_relaxed_with_its_neighbour(void **state)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;
	u64 scans, more[2];
	struct listed l;
	unsigned int i, n;

	tuning.trap_ns = 8000;
	tuning.protect_ns = 1000;
	for (n = 0; n < 2; n++) {
		listed_init(&l, 0);
		for (i = 0; i < 60; i++)
			list(&l, i % 12 < 2 ? stores(7 + i % 12, 0, 1) : submission(0));
		if (n)
			list(&l, freed(8));
		scans = scans_of_adaptive(&l, &tuning);
		list(&l, stores(7, 0, 1));
		list(&l, submission(0));
		more[n] = scans_of_adaptive(&l, &tuning) - scans;
	}
	assert_int_equal(more[0], 2);
	assert_int_equal(more[1], 1);
}

/* segmented and adaptive, in this order. @before: what the guest has done before, or NULL. */
static struct sim_result two_policies(struct listed *l, struct trace_source *before)
{
	const struct ghyvi_shadow_policy *two[] = { ghyvi_shadow_policy_find("segmented"),
						    ghyvi_shadow_policy_find("adaptive") };
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result result;
	int err;

	tuning.protect_ns = 10000;
	l->source.rewind(&l->source);
	err = before ? simulate_experienced(&l->source, before, two, 2, &tuning, SIM_PROFILE_PAGES,
					    &result) :
		       simulate(&l->source, two, 2, &tuning, SIM_PROFILE_PAGES, &result);
	assert_int_equal(err, 0);
	return result;
}

/* A page that is written again after 15 scans, which is longer than adaptive waits at first. */
static void list_gaps(struct listed *l, u32 page)
{
	unsigned int i;

	listed_init(l, 0);
	for (i = 0; i < RECORDS / 16 * 16; i++)
		list(l, i % 16 ? submission(0) : stores(page, 0, 1));
}

static void assert_same_but_adaptive(const struct sim_result *a, const struct sim_result *b)
{
	assert_memory_equal(&a->trace, &b->trace, sizeof(a->trace));
	assert_int_equal(a->optimum_started_ns, b->optimum_started_ns);
	assert_memory_equal(&a->policies[0], &b->policies[0], sizeof(*a->policies));
}

static void an_experienced_policy_does_not_learn_again(void **state)
{
	struct sim_result begins, goes_on;
	struct listed l;

	list_gaps(&l, 7);
	begins = two_policies(&l, NULL);
	goes_on = two_policies(&l, &l.source);
	assert_same_but_adaptive(&begins, &goes_on);
	assert_in_range(begins.policies[1].traps, 2, begins.policies[0].traps);
	/* The page starts protected. */
	assert_int_equal(goes_on.policies[1].traps, 1);
	assert_int_equal(goes_on.policies[1].protects, 0);
	sim_result_free(&begins);
	sim_result_free(&goes_on);
}

/* Of what the guest did before, policies keep what they learnt, and nothing is counted. */
static void what_was_done_before_is_not_counted(void **state)
{
	struct sim_result alone, after;
	struct listed l, once, often;
	unsigned int i;

	list_gaps(&l, 7);
	list_gaps(&often, 2);
	alone = two_policies(&l, NULL);
	after = two_policies(&l, &often.source);
	assert_same_but_adaptive(&alone, &after);
	assert_true(after.policies[1].cost_ns < alone.policies[1].cost_ns);
	sim_result_free(&after);
	/* What pages did that were written once does not hold for this one. */
	listed_init(&once, 3);
	for (i = 0; i < RECORDS; i++)
		list(&once, i % 2 ? submission(0) : stores(i < 6 ? i / 2 : 100 + i, 0, 1));
	after = two_policies(&l, &once.source);
	assert_same_but_adaptive(&alone, &after);
	assert_true(after.policies[1].cost_ns > alone.policies[1].cost_ns);
	sim_result_free(&alone);
	sim_result_free(&after);
}

static void assert_counts_alone(struct trace_source *source, enum sim_profile profile,
				const struct ghyvi_shadow_tuning *tuning)
{
	struct sim_result all, alone;
	unsigned int i;

	source->rewind(source);
	assert_int_equal(simulate(source, ghyvi_shadow_policies, ghyvi_shadow_policy_count, tuning,
				  profile, &all),
			 0);
	for (i = 0; i < ghyvi_shadow_policy_count; i++) {
		source->rewind(source);
		assert_int_equal(
			simulate(source, &ghyvi_shadow_policies[i], 1, tuning, profile, &alone), 0);
		assert_memory_equal(&alone.trace, &all.trace, sizeof(all.trace));
		assert_memory_equal(alone.policies, &all.policies[i], sizeof(*all.policies));
		assert_int_equal(alone.optimum_ns, all.optimum_ns);
		assert_int_equal(alone.optimum_trap_ns, all.optimum_trap_ns);
		sim_result_free(&alone);
	}
	sim_result_free(&all);
}

/* `make -C tools/sim check` does the same with the recorded traces. */
static void a_policy_counts_the_same_alone_and_among_all(void **state)
{
	static const char *const resolutions[] = { "480p", "720p", "1080p" };
	struct ghyvi_shadow_tuning tuning;
	struct generator g;
	struct listed l;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		assert_int_equal(generator_init(&g, resolutions[i % 3], i < 6, 30, i % 2 ? 4 : 8),
				 0);
		assert_counts_alone(&g.source, SIM_PROFILE_BAND, &default_tuning);
		generator_free(&g);
	}
	seed = 3;
	for (i = 0; i < 300; i++) {
		random_trace(&l, RECORDS, 6, 3);
		tuning = random_tuning();
		assert_counts_alone(&l.source, i % 2 ? SIM_PROFILE_PAGES : SIM_PROFILE_BAND,
				    &tuning);
	}
}

static void one_wide_store_is_one_trap(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, stores(7, 0, 4));
	l.records[0].type = TRACE_WIDE_STORE;
	list(&l, submission(0));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 1);
	assert_int_equal(r.trace.entries_changed, 4);
	assert_int_equal(r.policies[place("strict")].traps, 1);
	assert_int_equal(r.policies[place("full")].entries_found, 4);
	sim_result_free(&r);
}

/* Submissions only, by so many roots in turn. */
struct many_roots {
	struct trace_source source;
	u32 roots, left;
};

static int many_roots_next(struct trace_source *source, struct trace_record *record)
{
	struct many_roots *m = (struct many_roots *)source;

	if (!m->left)
		return 0;
	*record = submission(--m->left % m->roots * 0x10001ull & TRACE_ROOT_MAX);
	return 1;
}

static u64 cpu_ns(u32 roots, u32 submissions)
{
	const struct ghyvi_shadow_policy *strict = ghyvi_shadow_policy_find("strict");
	struct many_roots m = { { .next = many_roots_next, .entry_bytes = 8 }, roots, submissions };
	struct timespec before, after;
	struct sim_result r;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	assert_int_equal(simulate(&m.source, &strict, 1, &default_tuning, SIM_PROFILE_PAGES, &r),
			 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	assert_int_equal(r.trace.submissions, submissions);
	sim_result_free(&r);
	return (after.tv_sec - before.tv_sec) * 1000000000ull + after.tv_nsec - before.tv_nsec;
}

/* The cost of so many more submissions when all roots are known: new ones need memory. */
static u64 more_submissions_ns(u32 roots, u32 submissions)
{
	u64 few = ~0ull, all = ~0ull;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		few = min(few, cpu_ns(roots, submissions));
		all = min(all, cpu_ns(roots, 2 * submissions));
	}
	return all > few ? all - few : 0;
}

/*
 * A search through all roots makes it some hundred times slower. On a busy machine the difference
 * of two durations may be far too short now and then, but not each time.
 */
static void many_roots_are_found_as_fast_as_one(void **state)
{
	unsigned int tries;
	u64 one, many;

	for (tries = 0; tries < 5; tries++) {
		one = more_submissions_ns(1, 2 * MANY_ROOTS);
		many = more_submissions_ns(MANY_ROOTS, 2 * MANY_ROOTS);
		print_message("# %u submissions: %llu us by one root, %llu us by %u\n",
			      2 * MANY_ROOTS, (unsigned long long)one / 1000,
			      (unsigned long long)many / 1000, MANY_ROOTS);
		if (many < 16 * one)
			return;
	}
	fail_msg("many roots are slower");
}

static void roots_beyond_the_limit_are_refused(void **state)
{
	const struct ghyvi_shadow_policy *strict = ghyvi_shadow_policy_find("strict");
	struct many_roots m = { { .next = many_roots_next, .entry_bytes = 8 },
				MANY_ROOTS + 1,
				MANY_ROOTS + 1 };
	struct sim_result r;

	assert_int_equal(simulate(&m.source, &strict, 1, &default_tuning, SIM_PROFILE_PAGES, &r),
			 -1);
	assert_string_equal(m.source.message, "more than 65536 roots in one trace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(optimum_equals_brute_force),
		cmocka_unit_test(the_best_limit_equals_brute_force),
		cmocka_unit_test(no_policy_beats_the_optimum),
		cmocka_unit_test(submissions_without_a_page_cost_the_optimum_nothing),
		cmocka_unit_test(a_submission_scans_only_what_its_root_reaches),
		cmocka_unit_test(a_freed_page_is_not_scanned_and_starts_over),
		cmocka_unit_test(relaxed_protects_only_pages_of_the_ggtt),
		cmocka_unit_test(an_announced_page_has_been_linked_now),
		cmocka_unit_test(a_page_that_changes_roots_keeps_its_burst),
		cmocka_unit_test(pages_of_two_page_directories_are_not_neighbours),
		cmocka_unit_test(an_experienced_policy_does_not_learn_again),
		cmocka_unit_test(what_was_done_before_is_not_counted),
		cmocka_unit_test(a_freed_page_is_not_relaxed_with_its_neighbour),
		cmocka_unit_test(a_policy_counts_the_same_alone_and_among_all),
		cmocka_unit_test(one_wide_store_is_one_trap),
		cmocka_unit_test(many_roots_are_found_as_fast_as_one),
		cmocka_unit_test(roots_beyond_the_limit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
