// SPDX-License-Identifier: GPL-2.0-only
/* The predictions of adaptive, and its bound against an adversary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "shadow/policies.h"

#define PAGES 7u

/* Pages under adaptive, one store a burst, and what their gaps have cost. */
static struct game {
	struct ghyvi_experience experience;
	struct ghyvi_shadow_tuning tuning;
	struct player {
		struct ghyvi_page_history history;
		bool relaxed;
		u32 now,
			/*
			 * submissions so far, and since the last burst but the one that scanned
			 * it
			 */
			clean;
		u64 paid_ns;
	} players[PAGES];
	u64 paid_ns, best_ns, gaps;
	u64 traps, scans;
} game;

static void game_begins(u32 trap_ns, u32 scan_ns, u32 protect_ns)
{
	unsigned int i;

	memset(&game, 0, sizeof(game));
	game.tuning = (struct ghyvi_shadow_tuning){ .trap_ns = trap_ns,
						    .scan_ns = scan_ns,
						    .protect_ns = protect_ns };
	for (i = 0; i < PAGES; i++)
		game.players[i].history.leaf = true;
}

static struct ghyvi_shadow_view view(struct player *p)
{
	return (struct ghyvi_shadow_view){ &p->history, &game.tuning, &game.experience };
}

static void store(struct player *p)
{
	struct ghyvi_shadow_view page = view(p);
	u64 price = ghyvi_gap_rental(&game.tuning).buy_ns;

	if (p->history.known && p->history.scans) {
		game.paid_ns += p->paid_ns + (p->relaxed ? 0 : price);
		game.best_ns += min((u64)p->clean * game.tuning.scan_ns, price);
		game.gaps++;
	}
	p->paid_ns = 0;
	p->clean = 0;
	if (p->relaxed)
		return; /* found by the next scan */
	game.traps++;
	ghyvi_history_trap(&p->history, &game.experience, &game.tuning, p->now, 0);
	assert_true(ghyvi_policy_adaptive.relax(&page));
	p->relaxed = true;
}

/* @stored: since the one before. */
static void submission(struct player *p, bool stored)
{
	struct ghyvi_shadow_view page = view(p);
	bool take_back;

	if (p->relaxed) {
		take_back = ghyvi_policy_adaptive.protect(&page);
		game.scans++;
		if (!stored)
			p->paid_ns += game.tuning.scan_ns;
		ghyvi_history_scan(&p->history, &game.experience, &game.tuning, p->now,
				   stored && !p->history.writes, take_back);
		if (take_back)
			p->relaxed = false;
	}
	p->clean += !stored;
	p->now++;
}

/* A burst, and @clean submissions after the one that it belongs to. */
static void gap(struct player *p, u32 clean)
{
	store(p);
	submission(p, true);
	while (clean--)
		submission(p, false);
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

/* Pages are protected and then freed, so their gaps never end. */
static void censored_durations_do_not_accumulate(void **state)
{
	const struct ghyvi_rent_or_buy rental = { 1000, 60000, 1000 };
	struct ghyvi_histogram durations = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		ghyvi_histogram_add_censored(&durations, &rental);
	assert_in_range(durations.total + durations.censored, 1, 256);
	/* As many short ones as are known at a time, and nothing is left of the others. */
	for (i = 0; i < 1024; i++)
		ghyvi_durations_add(&durations, 3, &rental);
	assert_int_equal(durations.limit, 3 + 2);
	/* What was known before is forgotten for what waits now. */
	for (i = 0; i < 1024; i++)
		ghyvi_histogram_add_censored(&durations, &rental);
	assert_int_equal(durations.limit, 0);
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

/* The bound of Documentation/policies.md. */
static void assert_bound(void)
{
	u64 price = ghyvi_gap_rental(&game.tuning).buy_ns;

	assert_true(game.paid_ns <=
		    2 * game.best_ns + game.gaps * game.tuning.scan_ns + (32 + PAGES + 1) * price);
}

/* Each page is written as soon as it is protected; other gaps make protection look worthwhile. */
static void no_adversary_makes_gaps_cost_more_than_twice_the_optimum(void **state)
{
	struct player *p;
	unsigned int i, round;
	u32 style;

	for (round = 0; round < 40; round++) {
		seed = round;
		/* Each store relaxes: what bursts cost is another game. */
		game_begins(20000 + any(50000), 100 + any(3000), 500 + any(15000));
		for (i = 0; i < 4000; i++) {
			p = &game.players[any(PAGES)];
			style = any(3 + round % 3);
			store(p);
			submission(p, true);
			switch (style) {
			case 0: /* just when it was protected */
				while (p->relaxed)
					submission(p, false);
				break;
			case 1:
				break;
			case 2:
				submission(p, false);
				submission(p, false);
				break;
			default:
				for (style = any(200); style; style--)
					submission(p, false);
			}
			assert_bound();
		}
	}
}

/*
 * A burst of @n stores to a page that stays protected while adaptive wants it to; the traps it
 * paid.
 */
static u32 burst(struct player *p, u32 n)
{
	struct ghyvi_shadow_view page = view(p);
	u32 i, traps = 0;

	for (i = 0; i < n && !p->relaxed; i++) {
		ghyvi_history_trap(&p->history, &game.experience, &game.tuning, p->now, 3);
		p->relaxed = ghyvi_policy_adaptive.relax(&page);
		traps++;
	}
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

/*
 * Pages 0, 1, 2 are neighbours; a trap on the first, at its end, and then the others are written.
 */
static unsigned int run_of(unsigned int pages)
{
	struct ghyvi_shadow_view first = view(&game.players[0]);
	unsigned int i, ahead = 0;

	for (i = 0; i < pages; i++) {
		ghyvi_history_trap(&game.players[i].history, &game.experience, &game.tuning,
				   game.players[0].now, i ? 0 : 15);
		ghyvi_history_run(i ? &game.players[i - 1].history : NULL, &game.players[i].history,
				  &game.experience);
		if (!i)
			ahead = ghyvi_policy_adaptive.ahead(&first);
	}
	for (i = 0; i < pages; i++)
		ghyvi_history_scan(&game.players[i].history, &game.experience, &game.tuning,
				   game.players[0].now, 0, true);
	game.players[0].now++;
	return ahead;
}

static void neighbours_are_relaxed_as_far_as_runs_went(void **state)
{
	unsigned int i;

	game_begins(40000, 1000, 20000);
	assert_int_equal(run_of(3), 0); /* nothing known */
	for (i = 0; i < 10; i++)
		run_of(3);
	assert_int_equal(run_of(3), 2);
	for (i = 0; i < 40; i++)
		run_of(1);
	assert_int_equal(run_of(1), 0);
}

static void neighbours_stay_protected_when_relaxing_them_did_not_pay(void **state)
{
	struct player *p = &game.players[1];
	unsigned int i;

	game_begins(40000, 1000, 20000);
	for (i = 0; i < 10; i++)
		run_of(2);
	assert_int_equal(run_of(2), 1);
	for (i = 0; i < 100; i++) {
		p->history.ahead = true;
		ghyvi_history_scan(&p->history, &game.experience, &game.tuning, 1000 + i, 0, true);
	}
	assert_int_equal(run_of(2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_gaps_are_waited_for_and_long_ones_are_not),
		cmocka_unit_test(censored_durations_do_not_accumulate),
		cmocka_unit_test(a_gap_is_predicted_by_the_previous_one),
		cmocka_unit_test(a_page_uses_the_experience_of_others),
		cmocka_unit_test(a_change_of_the_pattern_is_learnt),
		cmocka_unit_test(no_adversary_makes_gaps_cost_more_than_twice_the_optimum),
		cmocka_unit_test(short_bursts_trap_and_long_ones_relax_where_traps_are_cheap),
		cmocka_unit_test(neighbours_are_relaxed_as_far_as_runs_went),
		cmocka_unit_test(neighbours_stay_protected_when_relaxing_them_did_not_pay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
