// SPDX-License-Identifier: GPL-2.0-only
/* The predictions of adaptive, and adversaries against each of its guarantees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "shadow/policies.h"

#define PAGES 7u
#define NEVER_NS (1ll << 50)

/* Pages under adaptive, one store a burst, and what their gaps have cost. */
static struct game {
	struct ghyvi_experience experience;
	struct ghyvi_shadow_tuning tuning;
	struct player {
		struct ghyvi_page_history history;
		bool relaxed;
		u32 now; /* submissions so far */
		u64 paid_ns;
		s64 ends_relaxed_ns, ends_protected_ns; /* the optimum at traps only */
	} players[PAGES];
	u64 paid_ns, bursts, traps, scans, ahead;
	bool neighbours; /* the pages are neighbours in the address space */
} game;

static void game_begins(u32 trap_ns, u32 scan_ns, u32 protect_ns)
{
	unsigned int i;

	memset(&game, 0, sizeof(game));
	game.tuning = (struct ghyvi_shadow_tuning){ .trap_ns = trap_ns,
						    .scan_ns = scan_ns,
						    .protect_ns = protect_ns };
	for (i = 0; i < PAGES; i++) {
		game.players[i].history.leaf = true;
		game.players[i].ends_relaxed_ns = NEVER_NS;
	}
}

static struct ghyvi_shadow_view view(struct player *p)
{
	return (struct ghyvi_shadow_view){ &p->history, &game.tuning, &game.experience };
}

static void pay(struct player *p, u64 ns)
{
	p->paid_ns += ns;
	game.paid_ns += ns;
}

static u64 round_ns(void)
{
	return (u64)game.tuning.trap_ns + game.tuning.scan_ns + game.tuning.protect_ns;
}

static s64 optimum(const struct player *p)
{
	return min(p->ends_relaxed_ns, p->ends_protected_ns);
}

/* As kernel/gtt/sync.c, after a trap. */
static void relax_ahead(struct player *p, bool begins)
{
	struct player *end = game.players + PAGES, *next;
	struct ghyvi_shadow_view page = view(p);
	unsigned int left;

	for (next = p + 1; begins && next < end; next++)
		if (!next->relaxed)
			ghyvi_history_expect(&next->history, &game.experience, &game.tuning,
					     next->now, p->history.start, next - p);
	left = p->relaxed ? ghyvi_policy_adaptive.ahead(&page) : 0;
	for (next = p + 1; left && next < end; next++, left--) {
		if (next->relaxed)
			continue;
		ghyvi_history_ahead(&next->history);
		next->relaxed = true;
		game.ahead++;
	}
}

/* A store. @first: of its burst. Returns the number of stores that the page has not trapped. */
static u32 store(struct player *p, bool first)
{
	struct ghyvi_shadow_view page = view(p);
	bool begins;

	game.bursts += first;
	p->ends_relaxed_ns = min(p->ends_relaxed_ns, p->ends_protected_ns + game.tuning.trap_ns);
	p->ends_protected_ns += game.tuning.trap_ns;
	if (p->relaxed)
		return 1; /* found by the next scan */
	game.traps++;
	pay(p, game.tuning.trap_ns);
	begins = ghyvi_history_trap(&p->history, &game.experience, &game.tuning, p->now, 0);
	p->relaxed = ghyvi_policy_adaptive.relax(&page);
	if (p->relaxed)
		ghyvi_history_relaxed(&p->history, &game.experience);
	if (game.neighbours)
		relax_ahead(p, begins);
	return 0;
}

/* @changed: stores found by this scan. */
static void submission(struct player *p, u32 changed)
{
	struct ghyvi_shadow_view page = view(p);
	bool take_back;

	p->ends_protected_ns = min(p->ends_protected_ns, p->ends_relaxed_ns + game.tuning.scan_ns +
								 game.tuning.protect_ns);
	p->ends_relaxed_ns += game.tuning.scan_ns;
	if (p->relaxed) {
		take_back = ghyvi_policy_adaptive.protect(&page);
		game.scans++;
		pay(p, game.tuning.scan_ns + (take_back ? game.tuning.protect_ns : 0));
		ghyvi_history_scan(&p->history, &game.experience, &game.tuning, p->now, changed,
				   take_back);
		p->relaxed = !take_back;
	}
	p->now++;
}

/* A burst, and @clean submissions after the one that it belongs to. */
static void gap(struct player *p, u32 clean)
{
	submission(p, store(p, true));
	while (clean--)
		submission(p, 0);
}

static void short_gaps_are_waited_for_and_long_ones_are_not(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 20; i++)
		gap(&game.players[0], 3);
	game.traps = 0;
	for (i = 0; i < 100; i++)
		gap(&game.players[0], 3);
	assert_int_equal(game.traps, 0);

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 20; i++)
		gap(&game.players[0], 1000);
	game.scans = 0;
	for (i = 0; i < 100; i++)
		gap(&game.players[0], 1000);
	assert_int_equal(game.scans, 100);
}

/* Pages are protected and their gaps never end. */
static void censored_durations_do_not_accumulate(void **state)
{
	const struct ghyvi_rent_or_buy rental = { 1000, 20000, 1000, 40000 };
	struct ghyvi_histogram durations = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		ghyvi_histogram_add_censored(&durations);
	assert_in_range(durations.total + durations.censored, 1, 256);
	/* As many short ones as are known at a time, and nothing is left of the others. */
	for (i = 0; i < 1024; i++)
		ghyvi_histogram_add(&durations, 3, 0, false);
	assert_in_range(ghyvi_rental_plan(&durations, NULL, &rental).limit, 3 + 2, 15 + 2);
	/* What was known before is forgotten for what waits now. */
	for (i = 0; i < 1024; i++)
		ghyvi_histogram_add_censored(&durations);
	assert_int_equal(ghyvi_rental_plan(&durations, NULL, &rental).limit, 0);
}

static void a_gap_is_predicted_by_the_previous_one(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 200; i++) {
		if (i == 20)
			game.traps = game.scans = 0;
		gap(&game.players[0], i % 2 ? 500 : 3);
	}
	assert_int_equal(game.traps, 90);
	/*
	 * In short gaps the page is scanned; in a long one it is protected at the first clean scan.
	 */
	assert_int_equal(game.scans, 90 * (1 + 3 + 1 + 1));
}

static void a_page_uses_the_experience_of_others(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 20; i++)
		gap(&game.players[0], 25);
	gap(&game.players[1], 25);
	gap(&game.players[1], 25);
	game.traps = 0;
	gap(&game.players[1], 25);
	assert_int_equal(game.traps, 0);
}

static void a_change_of_the_pattern_is_learnt(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 2000; i++)
		gap(&game.players[0], 3);
	for (i = 0; i < 2000; i++)
		gap(&game.players[0], 40);
	game.traps = 0;
	for (i = 0; i < 100; i++)
		gap(&game.players[0], 40);
	assert_int_equal(game.traps, 0);
}

static u32 seed;

static u32 any(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u32)(((u64)seed * below) >> 32);
}

/* How an adversary moves: it knows the state of the page. */
enum style { SPITE, AT_ONCE, SOON, RARELY, LONG_BURST, STYLES };

/* Pages in which nothing is stored while they are relaxed, and which are written when protected. */
static void spite(struct player *p)
{
	u32 left = 100000;

	while (p->relaxed && left--)
		submission(p, 0);
	for (left = 1000; !p->relaxed && left; left--)
		store(p, left == 1000);
	submission(p, 0);
}

static void move(struct player *p, enum style style)
{
	u32 stores = style == LONG_BURST ? 1 + any(500) : 1, changed = 0, i;

	if (style == SPITE) {
		spite(p);
		return;
	}
	for (i = 0; i < stores; i++)
		changed += store(p, !i);
	submission(p, changed);
	for (i = style == RARELY ? any(400) : style == SOON ? any(5) : 0; i; i--)
		submission(p, 0);
}

/*
 * The guarantee for one page: three times the optimum at traps only, and ROUNDS times the price of
 * a round.
 */
#define ROUNDS 6

static void assert_page_bound(const struct player *p)
{
	assert_true(p->paid_ns <= 3 * (u64)optimum(p) + ROUNDS * round_ns());
}

/* The guarantee for all: "segmented", a thousandth more, and what relaxed pages may lose. */
static void assert_segmented_bound(void)
{
	u64 segmented = game.bursts * round_ns();

	assert_true(game.paid_ns <= segmented + segmented / 1024 + (32 + 3 * PAGES) * round_ns());
	if (game.tuning.trap_ns >= game.tuning.scan_ns + game.tuning.protect_ns)
		assert_true(game.traps <= game.bursts);
}

static void any_costs(unsigned int round)
{
	if (round % 2)
		game_begins(20000 + any(50000), 100 + any(3000), 500 + any(15000));
	else
		game_begins(1000 + any(20000), 100 + any(5000), 500 + any(60000));
}

/* Long phases of one style teach what the next phase breaks. */
static void no_adversary_exceeds_three_times_the_optimum(void **state)
{
	unsigned int i, round, phase = 0;
	struct player *p;

	for (round = 0; round < 60; round++) {
		seed = round;
		any_costs(round);
		for (i = 0; i < 3000; i++) {
			if (!any(60))
				phase = any(STYLES);
			p = &game.players[any(PAGES)];
			/* Where segmented is cheaper, its price is the other guarantee. */
			game.experience.balance_ns = 0;
			move(p, any(8) ? phase : any(STYLES));
			assert_page_bound(p);
		}
	}
}

static void no_adversary_exceeds_segmented_by_more_than_the_start(void **state)
{
	unsigned int i, round, phase = 0;

	for (round = 0; round < 60; round++) {
		seed = 1000 + round;
		any_costs(round);
		for (i = 0; i < 3000; i++) {
			if (!any(200))
				phase = any(STYLES);
			move(&game.players[any(PAGES)], phase);
			assert_segmented_bound();
		}
	}
}

/* Pages are written in order, which teaches to relax them ahead. Then only the first is written. */
static void no_adversary_of_neighbours_exceeds_segmented_by_more_than_the_start(void **state)
{
	unsigned int i, round, at = 0;
	bool in_order = true;
	u64 ahead = 0;

	for (round = 0; round < 60; round++) {
		seed = 2000 + round;
		any_costs(round);
		game.neighbours = true;
		for (i = 0; i < 3000; i++) {
			if (!any(200))
				in_order = any(2);
			at = in_order ? (at + 1) % PAGES : 0;
			move(&game.players[at], AT_ONCE);
			for (at = at ?: 1; !in_order && at < PAGES; at++)
				while (game.players[at].relaxed)
					submission(&game.players[at], 0);
			while (!in_order && game.players[0].relaxed)
				submission(&game.players[0], 0);
			at %= PAGES;
			assert_segmented_bound();
		}
		ahead += game.ahead;
	}
	assert_true(ahead > 300);
}

/* Pages that are linked, never written and freed: segmented pays nothing for them. */
static void pages_that_are_linked_but_not_written_cost_the_start_only(void **state)
{
	struct player *p = &game.players[0];
	struct ghyvi_shadow_view page;
	unsigned int i;

	game_begins(10000, 200, 3000);
	page = view(p);
	for (i = 0; i < 5000; i++) {
		*p = (struct player){ .history.leaf = true };
		p->relaxed = ghyvi_policy_adaptive.relax_new(&page);
		submission(p, 0);
		submission(p, 0);
		ghyvi_history_free(&p->history, &game.experience, &game.tuning, p->now);
		assert_true(game.paid_ns <= (32 + 1) * round_ns());
	}
	assert_false(p->relaxed);
}

/*
 * Many pages stay relaxed after a burst, for less than segmented pays to protect them, and are
 * freed. Their rents are paid long after their bursts.
 */
static void rents_that_are_paid_later_count_against_the_protections_they_replace(void **state)
{
	static struct ghyvi_page_history histories[300];
	struct ghyvi_experience *experience = &game.experience;
	u32 pages = ARRAY_SIZE(histories), i, now;

	game_begins(5000, 100, 40000);
	for (i = 0; i < pages; i++)
		histories[i] = (struct ghyvi_page_history){ .leaf = true };
	for (now = 0; now < 200; now++)
		for (i = 0; i < pages; i++)
			ghyvi_history_scan(&histories[i], experience, &game.tuning, now, !now,
					   false);
	for (i = 0; i < pages; i++) {
		ghyvi_history_free(&histories[i], experience, &game.tuning, now);
		assert_true(ghyvi_account_affords(experience, &game.tuning));
	}
	/* The trap of each burst and the rest of its protection were saved. */
	assert_true(experience->balance_ns > 0);
}

/*
 * 160 pages are written in turn, each after 671 submissions, which is worth waiting for. Many wait
 * already when the first of them has waited for more than 512.
 */
#define REGULAR 160u

static void pages_of_a_regular_rhythm_cost_less_than_under_segmented(void **state)
{
	static struct player pages[REGULAR];
	struct player *p;
	u32 now, i;

	memset(pages, 0, sizeof(pages));
	game_begins(50000, 100, 40000);
	for (i = 0; i < REGULAR; i++) {
		pages[i].history.leaf = true;
		pages[i].ends_relaxed_ns = NEVER_NS;
	}
	for (now = 0; now < 4 * 672; now++) {
		for (i = 0; i < REGULAR; i++) {
			p = &pages[i];
			submission(p, now % 672 == 4 * i ? store(p, true) : 0);
		}
	}
	assert_true(game.paid_ns < game.bursts * round_ns() * 9 / 10);
}

/* Where pages are never protected, T can only be measured by traps that were saved. */
static void few_of_the_saved_traps_are_spent_on_measuring(void **state)
{
	struct ghyvi_experience experience = { .traps_saved = 0 };
	unsigned int i;

	assert_false(ghyvi_account_measures(&experience, true));
	for (i = 0; i < 1024; i++)
		assert_false(ghyvi_account_measures(&experience, false));
	assert_true(ghyvi_account_measures(&experience, true));
	assert_false(ghyvi_account_measures(&experience, true));
}

/* Stores to a protected page until adaptive relaxes it, at most @n. Returns their number. */
static u32 stores_that_trap(struct player *p, u32 n)
{
	struct ghyvi_shadow_view page = view(p);
	u32 traps = 0;

	while (traps < n && !p->relaxed) {
		ghyvi_history_trap(&p->history, &game.experience, &game.tuning, p->now, 3);
		p->relaxed = ghyvi_policy_adaptive.relax(&page);
		if (p->relaxed)
			ghyvi_history_relaxed(&p->history, &game.experience);
		traps++;
	}
	return traps;
}

/* A burst of @n stores to a protected page. Returns the number of those that trapped. */
static u32 burst(struct player *p, u32 n)
{
	u32 traps = stores_that_trap(p, n);

	if (p->relaxed)
		ghyvi_history_scan(&p->history, &game.experience, &game.tuning, p->now, n - traps,
				   true);
	p->relaxed = false;
	p->now += 500;
	return traps;
}

static void short_bursts_trap_and_long_ones_relax_where_traps_are_cheap(void **state)
{
	unsigned int i;

	game_begins(2000, 1000, 9000);
	for (i = 0; i < 5; i++)
		burst(&game.players[0], 2);
	assert_int_equal(burst(&game.players[0], 2), 2);
	for (i = 0; i < 400; i++)
		burst(&game.players[0], 300);
	assert_int_equal(burst(&game.players[0], 300), 1);
	assert_true(burst(&game.players[1], 300) == 1);
}

/* A driver that used short bursts fills many pages before it submits. */
static void long_bursts_are_recognised_before_they_end(void **state)
{
	static struct player pages[100];
	u32 first, i, traps = 0;

	memset(pages, 0, sizeof(pages));
	game_begins(2000, 1000, 39000);
	for (i = 0; i < 20; i++)
		burst(&game.players[0], 2);
	first = stores_that_trap(&pages[0], 512);
	assert_in_range(first, 3, 40);
	for (i = 1; i < ARRAY_SIZE(pages); i++)
		traps += stores_that_trap(&pages[i], 512);
	assert_in_range(traps, ARRAY_SIZE(pages) - 1, first * ARRAY_SIZE(pages) * 2 / 3);
}

/* The pages after the first are expected, as in kernel/gtt/sync.c. */
static void expect_others(u32 now)
{
	unsigned int i;

	for (i = 1; i < PAGES; i++)
		ghyvi_history_expect(&game.players[i].history, &game.experience, &game.tuning, now,
				     15, i);
}

/*
 * All pages are neighbours. There is a trap on the first, at its end, and then the others of
 * @pages are written, each @apart submissions after the one before. Returns how many pages
 * adaptive would relax with the first.
 */
static unsigned int run_of(unsigned int pages, u32 apart)
{
	struct ghyvi_shadow_view first = view(&game.players[0]);
	unsigned int i, ahead = 0;
	u32 now = game.players[0].now;

	for (i = 0; i < pages; i++, now += apart) {
		ghyvi_history_trap(&game.players[i].history, &game.experience, &game.tuning, now,
				   i ? 0 : 15);
		if (i)
			continue;
		expect_others(now);
		ahead = ghyvi_policy_adaptive.ahead(&first);
	}
	for (i = 0; i < pages; i++)
		ghyvi_history_scan(&game.players[i].history, &game.experience, &game.tuning, now, 0,
				   true);
	game.players[0].now += 500;
	return ahead;
}

static void neighbours_are_relaxed_as_far_as_they_were_written(void **state)
{
	static const u32 apart[] = { 0, 2, 5 };
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(apart); j++) {
		game_begins(40000, 1000, 20000);
		assert_int_equal(run_of(3, apart[j]), 0); /* nothing known */
		for (i = 0; i < 10; i++)
			run_of(3, apart[j]);
		assert_int_equal(run_of(3, apart[j]), 2);
		for (i = 0; i < 40; i++)
			run_of(1, apart[j]);
		assert_int_equal(run_of(1, apart[j]), 0);
	}
}

/* Waiting for the neighbour costs more than its trap. */
static void neighbours_that_are_written_late_stay_protected(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 40; i++)
		assert_int_equal(run_of(2, 80), 0);
}

static void neighbours_stay_protected_when_relaxing_them_did_not_pay(void **state)
{
	struct player *p = &game.players[1];
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 10; i++)
		run_of(2, 0);
	assert_int_equal(run_of(2, 0), 1);
	for (i = 0; i < 100; i++) {
		p->history.ahead = true;
		ghyvi_history_scan(&p->history, &game.experience, &game.tuning, 1000 + i, 0, true);
	}
	assert_int_equal(run_of(2, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_gaps_are_waited_for_and_long_ones_are_not),
		cmocka_unit_test(censored_durations_do_not_accumulate),
		cmocka_unit_test(a_gap_is_predicted_by_the_previous_one),
		cmocka_unit_test(a_page_uses_the_experience_of_others),
		cmocka_unit_test(a_change_of_the_pattern_is_learnt),
		cmocka_unit_test(no_adversary_exceeds_three_times_the_optimum),
		cmocka_unit_test(no_adversary_exceeds_segmented_by_more_than_the_start),
		cmocka_unit_test(
			no_adversary_of_neighbours_exceeds_segmented_by_more_than_the_start),
		cmocka_unit_test(pages_that_are_linked_but_not_written_cost_the_start_only),
		cmocka_unit_test(
			rents_that_are_paid_later_count_against_the_protections_they_replace),
		cmocka_unit_test(pages_of_a_regular_rhythm_cost_less_than_under_segmented),
		cmocka_unit_test(few_of_the_saved_traps_are_spent_on_measuring),
		cmocka_unit_test(short_bursts_trap_and_long_ones_relax_where_traps_are_cheap),
		cmocka_unit_test(long_bursts_are_recognised_before_they_end),
		cmocka_unit_test(neighbours_are_relaxed_as_far_as_they_were_written),
		cmocka_unit_test(neighbours_that_are_written_late_stay_protected),
		cmocka_unit_test(neighbours_stay_protected_when_relaxing_them_did_not_pay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
