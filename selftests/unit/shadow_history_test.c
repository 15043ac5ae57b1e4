// SPDX-License-Identifier: GPL-2.0-only
/* The effect of bursts, gaps and neighbours on accounts and decisions, in figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "shadow/policies.h"

/* predict.c: bursts and gaps */

static struct ghyvi_experience experience;
static const struct ghyvi_shadow_tuning tuning = { .trap_ns = 2000,
						   .scan_ns = 1000,
						   .protect_ns = 9000 };

static int setup_history(void **state)
{
	memset(&experience, 0, sizeof(experience));
	return 0;
}

static bool trap(struct ghyvi_page_history *history, u32 now)
{
	return ghyvi_history_trap(history, &experience, &tuning, now, 3);
}

static void scan(struct ghyvi_page_history *history, u32 now, u32 changed, bool taken_back)
{
	ghyvi_history_scan(history, &experience, &tuning, now, changed, taken_back);
}

static u32 seed = 1;

static u32 any(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u32)(((u64)seed * below) >> 32);
}

/* account.c */

/* The optimum of one page by dynamic programming, as in the simulator. */
static void the_account_is_the_work_function(void **state)
{
	s64 relaxed, protected, best, take_back;
	struct ghyvi_page_account account;
	u32 step, i, n;

	for (step = 0; step < 2000; step++) {
		struct ghyvi_shadow_tuning by = { .trap_ns = 1 + any(5000),
						  .scan_ns = 1 + any(3000),
						  .protect_ns = any(9000) };

		account = (struct ghyvi_page_account){ .regret_ns = 1 << 30 };
		take_back = (s64)by.scan_ns + by.protect_ns;
		relaxed = step % 2 ? 0 : 1ll << 50;
		protected = step % 2 ? 1ll << 50 : 0;
		ghyvi_account_open(&account, &by, step % 2);
		for (i = 0; i < 20; i++) {
			n = 1 + any(6);
			ghyvi_account_stores(&account, &by, n);
			relaxed = min(relaxed, protected + by.trap_ns);
			protected += n * by.trap_ns;
			n = 1 + any(40);
			ghyvi_account_submissions(&account, &by, n);
			protected = min(protected, relaxed + take_back);
			relaxed += n * by.scan_ns;
		}
		assert_int_equal(account.offset_ns,
				 min(relaxed, protected + by.trap_ns) - protected);
		best = min(relaxed, protected);
		assert_int_equal((1 << 30) - account.regret_ns, 2 * best);
	}
}

static void a_page_pays_for_traps_scans_and_protections(void **state)
{
	struct ghyvi_page_history history = { .leaf = true };

	assert_true(trap(&history, 0));
	assert_false(trap(&history, 0));
	assert_false(trap(&history, 0));
	assert_int_equal(history.writes, 3);
	assert_int_equal(history.account.paid_ns, 3 * 2000);
	/* The next burst settles: segmented would have paid a round of 12000. */
	assert_true(trap(&history, 1));
	assert_int_equal(experience.balance_ns, 12000 + 11 - 6000);
	assert_int_equal(experience.bursts[3].total, 1);
	assert_int_equal(experience.bursts[3].sum[2], 2);
	/* One trap, relaxed, and two entries more. */
	scan(&history, 1, 2, true);
	assert_int_equal(experience.balance_ns, 6011 + 12011 - (2000 + 1000 + 9000));
	assert_int_equal(experience.bursts[3].total, 2);
	assert_int_equal(experience.bursts[3].sum[2], 4);
	assert_int_equal(history.writes, 0);
	assert_int_equal(history.account.paid_ns, 0);
	assert_int_equal(history.heat, 3 + 1 + 2);
}

static void the_balance_is_bounded_above(void **state)
{
	struct ghyvi_page_account account = { .paid_ns = 0 };
	unsigned int i;

	for (i = 0; i < 200; i++)
		ghyvi_account_settle(&account, &experience, &tuning, true, false);
	assert_int_equal(experience.balance_ns, 128 * 12000);
	assert_true(ghyvi_account_affords(&experience, &tuning));
	account.paid_ns = (128 + 32) * 12000;
	ghyvi_account_settle(&account, &experience, &tuning, false, false);
	assert_true(ghyvi_account_affords(&experience, &tuning));
	account.paid_ns = 1;
	ghyvi_account_settle(&account, &experience, &tuning, false, false);
	assert_false(ghyvi_account_affords(&experience, &tuning));
}

/* The units of the first five classes in which gaps of the context might have ended. */
static void assert_units(const struct ghyvi_histogram *gaps, u32 a, u32 b, u32 c, u32 d, u32 e)
{
	assert_int_equal(gaps->units[0], a);
	assert_int_equal(gaps->units[1], b);
	assert_int_equal(gaps->units[2], c);
	assert_int_equal(gaps->units[3], d);
	assert_int_equal(gaps->units[4], e);
}

static void a_page_that_was_freed_ends_its_gap(void **state)
{
	const struct ghyvi_histogram *gaps = &experience.forecasts[GHYVI_GAP_UNKNOWN].gaps;
	struct ghyvi_page_history history = { .leaf = true };

	/* It starts relaxed: its first gap begins when it is linked. */
	scan(&history, 7, 0, false);
	assert_true(history.known);
	scan(&history, 8, 0, false);
	scan(&history, 9, 0, true);
	ghyvi_history_free(&history, &experience, &tuning, 12);
	assert_units(gaps, 1, 1, 2, 4, 0);
	assert_int_equal(gaps->total, 1);
	assert_int_equal(gaps->freed[3], 1);
	assert_int_equal(gaps->sum[3], 4);
	assert_int_equal(experience.balance_ns, -(3 * 1000 + 9000));
}

static void a_gap_that_has_not_ended_shows_how_long_it_is(void **state)
{
	const struct ghyvi_histogram *gaps = &experience.forecasts[GHYVI_GAP_UNKNOWN].gaps;
	struct ghyvi_page_history history = { .leaf = true };

	trap(&history, 5);
	scan(&history, 5, 0, false); /* its burst's own scan */
	assert_units(gaps, 0, 0, 0, 0, 0);
	scan(&history, 6, 0, false);
	assert_units(gaps, 1, 0, 0, 0, 0);
	scan(&history, 7, 0, true);
	/* Protected, it is not observed any more: it counts as long. */
	assert_units(gaps, 1, 1, 2, 4, 8);
	scan(&history, 9, 0, true);
	assert_units(gaps, 1, 1, 2, 4, 8);
	assert_int_equal(gaps->total, 0);
	/* Its end is known now. */
	trap(&history, 9);
	assert_units(gaps, 1, 1, 2, 0, 0);
	assert_int_equal(gaps->units[14], 0);
	assert_int_equal(gaps->total, 1);
	assert_int_equal(experience.all_gaps.units[2], 2);
	assert_int_equal(history.passed, 0);
}

static void neighbours_relaxed_ahead_save_a_trap_or_cost_scans_and_the_protection(void **state)
{
	struct ghyvi_page_history history = { .leaf = true, .ahead = true };
	unsigned int i;

	scan(&history, 0, 5, true);
	assert_int_equal(experience.ahead_credit_ns, 2000);
	assert_false(history.ahead);
	scan(&history, 1, 5, true);
	assert_int_equal(experience.ahead_credit_ns, 2000);
	history.ahead = true;
	scan(&history, 2, 0, false);
	assert_int_equal(experience.ahead_credit_ns, 2000 - 1000);
	assert_true(history.ahead);
	scan(&history, 3, 0, true);
	assert_int_equal(experience.ahead_credit_ns, 2000 - 1000 - 10000);
	assert_false(history.ahead);
	for (i = 4; i < 100; i++) {
		history.ahead = true;
		scan(&history, i, 1, true);
	}
	assert_int_equal(experience.ahead_credit_ns, 32 * 2000);
}

static void expect(struct ghyvi_page_history *history, u32 now, unsigned int start,
		   unsigned int distance)
{
	ghyvi_history_expect(history, &experience, &tuning, now, start, distance);
}

static void a_page_is_expected_until_its_next_burst(void **state)
{
	const struct ghyvi_histogram *second = &experience.ahead[3][1].gaps;
	const struct ghyvi_histogram *first = &experience.ahead[4][0].gaps;
	struct ghyvi_page_history history = { .leaf = true };

	expect(&history, 1, 3, 2); /* had no burst yet */
	assert_int_equal(history.expected, 0);
	trap(&history, 1);
	expect(&history, 1, 3, 2); /* has one now */
	assert_int_equal(history.expected, 0);
	expect(&history, 5, 3, 2);
	assert_int_equal(second->censored, 1);
	trap(&history, 8);
	assert_int_equal(history.expected, 0);
	assert_int_equal(second->censored, 0);
	assert_int_equal(second->total, 1);
	assert_int_equal(second->sum[2], 3);
	assert_int_equal(second->freed[2], 0);
	/* Expected once more before it was written. */
	expect(&history, 10, 3, 2);
	expect(&history, 14, 4, 1);
	assert_int_equal(second->censored, 0);
	assert_int_equal(second->freed[3], 1);
	assert_int_equal(second->sum[3], 4);
	assert_int_equal(first->censored, 1);
	/* A scan that finds stores ends it as well, and one that finds none does not. */
	scan(&history, 15, 0, false);
	assert_int_equal(history.expected, 1);
	scan(&history, 16, 1, false);
	assert_int_equal(first->sum[2], 2);
	expect(&history, 20, 4, 1);
	ghyvi_history_free(&history, &experience, &tuning, 40);
	assert_int_equal(first->freed[5], 1);
	assert_int_equal(first->censored, 0);
}

static void pages_follow_while_relaxing_them_has_paid(void **state)
{
	const struct ghyvi_shadow_tuning by = { .trap_ns = 40000,
						.scan_ns = 1000,
						.protect_ns = 20000 };
	struct ghyvi_page_history history = { .leaf = true };
	u32 now = 0, i;

	assert_false(ghyvi_history_follows(&experience, 3, 1));
	ghyvi_history_trap(&history, &experience, &by, now, 0);
	for (i = 0; i < 10; i++, now += 10) {
		ghyvi_history_expect(&history, &experience, &by, now + 5, 3, 1);
		ghyvi_history_trap(&history, &experience, &by, now + 8, 0);
	}
	assert_true(ghyvi_history_follows(&experience, 3, 1));
	assert_false(ghyvi_history_follows(&experience, 3, 2));
	assert_false(ghyvi_history_follows(&experience, 4, 1));
	assert_true(ghyvi_histogram_waits(&experience.ahead[3][0].gaps,
					  experience.ahead[3][0].waits, 3));
	assert_false(ghyvi_histogram_waits(&experience.ahead[3][0].gaps,
					   experience.ahead[3][0].waits, 16));
	for (i = 0; i < 40; i++, now += 500)
		ghyvi_history_expect(&history, &experience, &by, now, 3, 1);
	assert_false(ghyvi_history_follows(&experience, 3, 1));
}

/* The policies, asked with one history each. */

static void policies_relax_by_stores_and_by_rank(void **state)
{
	struct ghyvi_shadow_tuning by = { .trap_ns = 1, .oos_threshold = 3, .static_pages = 10 };
	struct ghyvi_page_history history = { .leaf = true };
	struct ghyvi_shadow_view page = { &history, &by, &experience };

	history.writes = 2;
	assert_false(ghyvi_policy_oos.relax(&page));
	history.writes = 3;
	assert_true(ghyvi_policy_oos.relax(&page));
	history.rank = 9;
	assert_true(ghyvi_policy_static.relax(&page));
	assert_false(ghyvi_policy_static.protect(&page));
	history.rank = 10;
	assert_false(ghyvi_policy_static.relax(&page));
	assert_true(ghyvi_policy_static.protect(&page));
	history.rank = GHYVI_RANK_UNKNOWN;
	assert_false(ghyvi_policy_static.relax_new(&page));
}

static void adaptive_relaxes_one_store_after_the_limit_and_protects_at_it(void **state)
{
	/* A trap costs 1000, to be rid of traps 16000; a scan 500, to be rid of scans 16500. */
	struct ghyvi_shadow_tuning by = { .trap_ns = 1000, .scan_ns = 500, .protect_ns = 15500 };
	struct ghyvi_page_history history = { .leaf = true, .known = true };
	struct ghyvi_shadow_view page = { &history, &by, &experience };

	const struct ghyvi_rent_or_buy burst = { .rent_ns = 1000, .buy_ns = 16000 };
	unsigned int i;

	experience = (struct ghyvi_experience){ .balance_ns = 0 };
	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&experience.bursts[0], 3, 0, false);
	history.writes = ghyvi_rental_plan(&experience.bursts[0], NULL, &burst).limit;
	assert_in_range(history.writes, 3 + 2, 15 + 2);
	assert_false(ghyvi_policy_adaptive.relax(&page));
	history.writes++;
	assert_true(ghyvi_policy_adaptive.relax(&page));
	ghyvi_histogram_add(&experience.forecasts[0].gaps, 3, 0, false);
	experience.forecasts[0].planned = true;
	experience.forecasts[0].waits = 1 << 0 | 1 << 2 | 1 << 4; /* units 0 to 3 */
	history.scans = 4;
	assert_false(ghyvi_policy_adaptive.protect(&page));
	history.scans++;
	assert_true(ghyvi_policy_adaptive.protect(&page));
	/* With a trap of that cost the page is relaxed at once, unless it measures. */
	by.trap_ns = 16000;
	history.writes = 1;
	assert_true(ghyvi_policy_adaptive.relax(&page));
	history.measures = true;
	assert_false(ghyvi_policy_adaptive.relax(&page));
}

/* Two bursts of one store: 16000 is the price only if the page is not written again soon. */
static void adaptive_relaxes_at_once_what_is_kept_relaxed_for_less(void **state)
{
	struct ghyvi_shadow_tuning by = { .trap_ns = 1000, .scan_ns = 100, .protect_ns = 15500 };
	struct ghyvi_page_history history = { .leaf = true };
	struct ghyvi_shadow_view page = { &history, &by, &experience };
	u32 now;

	for (now = 0; now < 40; now += 2)
		ghyvi_history_trap(&history, &experience, &by, now, 3);
	assert_int_equal(experience.forecasts[2].price_ns < 0, true);
	assert_true(ghyvi_policy_adaptive.relax(&page));
	for (; now < 40000; now += 1000)
		ghyvi_history_trap(&history, &experience, &by, now, 3);
	assert_false(ghyvi_policy_adaptive.relax(&page));
}

/*
 * Gaps of 100, bursts of one store. Each gap costs more rent than the trap that it saves, and less
 * than the protection. The page is protected all the same: then it is never relaxed again.
 */
static void a_protection_also_saves_the_rents_of_later_gaps(void **state)
{
	struct ghyvi_shadow_tuning by = { .trap_ns = 5000, .scan_ns = 300, .protect_ns = 40000 };
	struct ghyvi_page_history history = { .leaf = true }, relaxed = { .leaf = true };
	const struct ghyvi_gap_forecast *forecast = experience.forecasts;
	u32 now;

	for (now = 0; now < 100 * 100; now += 100)
		ghyvi_history_trap(&history, &experience, &by, now, 3);
	forecast += history.gap_context;
	assert_true(forecast->price_ns > by.trap_ns);
	assert_false(ghyvi_histogram_waits(&forecast->gaps, forecast->waits, 0));
	/* A page that is relaxed is not kept so, either. */
	relaxed.gap_context = history.gap_context;
	relaxed.known = true;
	relaxed.scans = 1;
	assert_true(ghyvi_policy_adaptive.protect(
		&(struct ghyvi_shadow_view){ &relaxed, &by, &experience }));
}

static void adaptive_follows_the_work_function_after_losses(void **state)
{
	struct ghyvi_shadow_tuning by = { .trap_ns = 1000, .scan_ns = 500, .protect_ns = 15500 };
	struct ghyvi_page_history history = { .leaf = true, .known = true };
	struct ghyvi_shadow_view page = { &history, &by, &experience };

	history.account.offset_ns = 1000;
	history.account.regret_ns = 4 * 17000 + 1;
	history.writes = 16;
	assert_false(ghyvi_policy_adaptive.relax(&page));
	history.writes = 17;
	assert_true(ghyvi_policy_adaptive.relax(&page));
	history.account.offset_ns = -15500;
	history.scans = 31;
	assert_false(ghyvi_policy_adaptive.protect(&page));
	history.scans = 32;
	assert_true(ghyvi_policy_adaptive.protect(&page));
	/* More than segmented by 32 rounds: as segmented. */
	experience.balance_ns = -32 * 17000 - 1;
	history.scans = 0;
	history.writes = 1;
	assert_true(ghyvi_policy_adaptive.relax(&page));
	assert_true(ghyvi_policy_adaptive.protect(&page));
	assert_false(ghyvi_policy_adaptive.relax_new(&page));
}

static void adaptive_relaxes_neighbours_while_that_pays(void **state)
{
	/* A neighbour saves a trap of 3000, or costs 2000. */
	struct ghyvi_shadow_tuning by = { .trap_ns = 3000, .scan_ns = 500, .protect_ns = 1500 };
	struct ghyvi_page_history history = { .leaf = true, .known = true, .start = 3 };
	struct ghyvi_shadow_view page = { &history, &by, &experience };
	struct ghyvi_gap_forecast *after = experience.ahead[3];
	unsigned int i;

	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 0);
	for (i = 0; i < GHYVI_AHEAD_PAGES; i++) {
		after[i].gaps.total = 1;
		after[i].price_ns = -1;
	}
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), GHYVI_AHEAD_PAGES);
	after[2].price_ns = 0;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 2);
	after[1].gaps.total = 0;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 1);
	experience.ahead_credit_ns = -32 * 2000;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 1);
	experience.ahead_credit_ns--;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 0);
	experience.ahead_credit_ns = 0;
	experience.balance_ns = -32 * 5000 - 1; /* more than segmented: as segmented */
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 0);
	experience.balance_ns = 0;
	by.trap_ns = 2000;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 1);
	by.trap_ns = 1999;
	assert_int_equal(ghyvi_policy_adaptive.ahead(&page), 0);
}

static void adaptive_keeps_a_neighbour_relaxed_until_its_own_limit(void **state)
{
	struct ghyvi_shadow_tuning by = { .trap_ns = 3000, .scan_ns = 500, .protect_ns = 1500 };
	struct ghyvi_page_history history = {
		.leaf = true, .known = true, .expected = 2, .expected_start = 3
	};
	struct ghyvi_shadow_view page = { &history, &by, &experience };

	experience.ahead[3][1].planned = true;
	experience.ahead[3][1].waits = 1 << 1 | 1 << 3 | 1 << 5; /* units 0 to 3 */
	experience.forecasts[GHYVI_GAP_UNKNOWN].planned = true;
	experience.forecasts[GHYVI_GAP_UNKNOWN].waits = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7;
	ghyvi_history_ahead(&history);
	assert_int_equal(history.scans, 1);
	history.scans = 4;
	assert_false(ghyvi_policy_adaptive.protect(&page));
	history.scans = 5;
	assert_true(ghyvi_policy_adaptive.protect(&page));
	/* After its burst the gap decides. */
	history.ahead = false;
	assert_false(ghyvi_policy_adaptive.protect(&page));
}

#define HISTORY(f) cmocka_unit_test_setup(f, setup_history)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HISTORY(the_account_is_the_work_function),
		HISTORY(a_page_pays_for_traps_scans_and_protections),
		HISTORY(the_balance_is_bounded_above),
		HISTORY(a_page_that_was_freed_ends_its_gap),
		HISTORY(a_gap_that_has_not_ended_shows_how_long_it_is),
		HISTORY(neighbours_relaxed_ahead_save_a_trap_or_cost_scans_and_the_protection),
		HISTORY(a_page_is_expected_until_its_next_burst),
		HISTORY(pages_follow_while_relaxing_them_has_paid),
		HISTORY(policies_relax_by_stores_and_by_rank),
		HISTORY(adaptive_relaxes_one_store_after_the_limit_and_protects_at_it),
		HISTORY(adaptive_relaxes_at_once_what_is_kept_relaxed_for_less),
		HISTORY(a_protection_also_saves_the_rents_of_later_gaps),
		HISTORY(adaptive_follows_the_work_function_after_losses),
		HISTORY(adaptive_relaxes_neighbours_while_that_pays),
		HISTORY(adaptive_keeps_a_neighbour_relaxed_until_its_own_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
