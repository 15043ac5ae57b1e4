// SPDX-License-Identifier: GPL-2.0-only
/* The effect of costs, durations, bursts, gaps and neighbours on predictions, in figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "gtt/entries.h"
#include "gtt/pins.h"
#include "gtt/tables.h"
#include "gtt/trees.h"
#include "shadow/shadow.h"
#include "shadow/policies.h"

/* costs.c */

static u64 now_ns;
static struct ghyvi_gtt *gtt;

static u64 test_clock(void)
{
	return now_ns;
}

static int setup_costs(void **state)
{
	gtt = calloc(1, sizeof(*gtt));
	now_ns = NSEC_PER_SEC;
	shim_clock = test_clock;
	return 0;
}

static int teardown_costs(void **state)
{
	shim_clock = NULL;
	free(gtt);
	return 0;
}

static void scan_took(u64 ns, u32 pages)
{
	u64 started = now_ns;

	now_ns += ns;
	ghyvi_cost_scanned(gtt, started, pages);
}

static void a_sample_counts_for_an_eighth(void **state)
{
	gtt->tuning.scan_ns = 8000;
	scan_took(16000, 1);
	assert_int_equal(gtt->tuning.scan_ns, 8000 - 1000 + 2000);
	scan_took(1600 * 10, 10);
	assert_int_equal(gtt->tuning.scan_ns, 9000 - 1125 + 200);
}

static void interruptions_are_not_measured_as_costs(void **state)
{
	gtt->tuning.scan_ns = 8000;
	scan_took(1000001, 1);
	scan_took(7, 8); /* less than 1 ns for each page */
	scan_took(5000, 0);
	assert_int_equal(gtt->tuning.scan_ns, 8000);
	scan_took(1000000, 1);
	assert_int_equal(gtt->tuning.scan_ns, 8000 - 1000 + 125000);
}

static void every_cost_is_at_least_one_nanosecond(void **state)
{
	gtt->tuning.scan_ns = 0; /* an administrator may say so */
	scan_took(7, 1);
	assert_int_equal(gtt->tuning.scan_ns, 1);
}

static void protection_costs_half_a_trap_besides(void **state)
{
	u64 started = now_ns;

	gtt->tuning.protect_ns = 8000;
	gtt->tuning.trap_ns = 4000;
	now_ns += 30000;
	ghyvi_cost_protected(gtt, started, 5);
	assert_int_equal(gtt->tuning.protect_ns, 8000 - 1000 + (6000 + 2000) / 8);
	ghyvi_cost_protected(gtt, started, 0);
	assert_int_equal(gtt->tuning.protect_ns, 8000);
}

static void trap_after(u64 ns, u64 gpa)
{
	now_ns += ns;
	ghyvi_cost_trapped(gtt, gpa);
}

static void only_traps_of_neighbours_in_one_loop_are_measured(void **state)
{
	gtt->tuning.trap_ns = 8000;
	trap_after(0, 0x5000);
	trap_after(16000, 0x5008);
	assert_int_equal(gtt->tuning.trap_ns, 9000);
	trap_after(16000, 0x5008); /* the same entry once more */
	assert_int_equal(gtt->tuning.trap_ns, 9000 - 1125 + 2000);
	trap_after(16000, 0x5011); /* 9 bytes on */
	trap_after(16000, 0x5010); /* back */
	trap_after(200000, 0x5018); /* much later */
	assert_int_equal(gtt->tuning.trap_ns, 9875);
	trap_after(199999, 0x5020);
	assert_int_equal(gtt->tuning.trap_ns, 9875 - 1234 + 24999);
}

/* experience.c */

static void durations_are_told_apart_by_powers_of_two(void **state)
{
	unsigned int i;

	assert_int_equal(ghyvi_duration_class(0), 0);
	for (i = 1; i < GHYVI_DURATION_CLASSES - 1; i++) {
		assert_int_equal(ghyvi_duration_class(1u << (i - 1)), i);
		assert_int_equal(ghyvi_duration_class((1u << i) - 1), i);
	}
	assert_int_equal(ghyvi_duration_class(1u << 14), 15);
	assert_int_equal(ghyvi_duration_class(U32_MAX), 15);
}

static const struct ghyvi_rent_or_buy rental = { .rent_ns = 1000,
						 .buy_ns = 64000,
						 .enter_ns = 500 };

static void the_regret_budget_is_bounded_and_decides_when_used_up(void **state)
{
	s64 credit = 0;

	ghyvi_regret_charge(&credit, 31 * 1000, 1000);
	assert_int_equal(credit, 31000);
	ghyvi_regret_charge(&credit, 5000, 1000);
	assert_int_equal(credit, 32000);
	ghyvi_regret_charge(&credit, -64000, 1000);
	assert_true(ghyvi_regret_ok(credit, 1000));
	ghyvi_regret_charge(&credit, -1, 1000);
	assert_int_equal(credit, -32001);
	assert_false(ghyvi_regret_ok(credit, 1000));
}

static u32 limit(const struct ghyvi_histogram *d, const struct ghyvi_rent_or_buy *by)
{
	return ghyvi_rental_plan(d, NULL, by).limit;
}

/* The ends of gaps are observed also if the page is protected, so exploring gains nothing. */
static void a_plan_without_experience_buys_at_once(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	struct ghyvi_rent_or_buy free = { .buy_ns = 64000, .again_ns = 1000000 };

	assert_int_equal(limit(&d, &rental), 0);
	assert_int_equal(ghyvi_rental_plan(&d, NULL, &rental).cost_ns, 64000);
	assert_int_equal(limit(&d, &free), 0xffff + 2);
}

static void a_histogram_of_256_durations_is_halved(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	ghyvi_histogram_add(&d, 100, 0, false);
	for (i = 0; i < 251; i++)
		ghyvi_histogram_add(&d, 3, 0, i < 20);
	for (i = 0; i < 4; i++)
		ghyvi_histogram_add_censored(&d);
	assert_int_equal(d.total, 252);
	assert_int_equal(d.count[2], 251);
	assert_int_equal(d.freed[2], 20);
	assert_int_equal(d.sum[2], 753);
	assert_int_equal(d.longest[2], 3);
	assert_int_equal(d.longest[7], 100);
	assert_int_equal(d.censored, 4);
	ghyvi_histogram_add(&d, 2, 0, false);
	assert_int_equal(d.count[2], 125 + 1);
	assert_int_equal(d.freed[2], 10);
	assert_int_equal(d.sum[2], 376 + 2);
	assert_int_equal(d.longest[2], 3);
	assert_int_equal(d.count[7], 0);
	assert_int_equal(d.longest[7], 0);
	assert_int_equal(d.total, 126);
	assert_int_equal(d.censored, 2);
	for (i = 0; i < 3; i++)
		ghyvi_histogram_remove_censored(&d);
	assert_int_equal(d.censored, 0);
	ghyvi_histogram_add(&d, 70000, 0, false);
	assert_int_equal(d.longest[15], 0xffff);
	assert_int_equal(d.sum[15], 0xffff);
}

/* Waiting saves nothing at the end of a page that is freed but the price. */
static void pages_that_are_freed_are_not_taken_back(void **state)
{
	const struct ghyvi_rent_or_buy by = { .rent_ns = 1000, .buy_ns = 5000, .again_ns = 50000 };
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 10; i++)
		ghyvi_histogram_add(&d, 20, 0, true);
	assert_int_equal(limit(&d, &by), 0);
	/* The imaginary duration may end with a burst. */
	assert_in_range(ghyvi_rental_plan(&d, NULL, &by).cost_ns, 5000, 5000 + 50000 / 11);
	for (i = 0; i < 10; i++)
		ghyvi_histogram_add(&d, 20, 0, false);
	assert_in_range(limit(&d, &by), 20 + 2, 31 + 2);
	assert_in_range(ghyvi_rental_plan(&d, NULL, &by).cost_ns, 20000, 23000);
}

/* What is known of the durations of one class, as doubles; @tail: of those beyond the longest. */
struct odds {
	double from, mean, to, ends;
};

/* One imaginary duration among those that reach the class. @all: durations of all contexts. */
static unsigned int odds_of(struct odds *odds, const u32 *durations, unsigned int count,
			    unsigned int waiting, const u32 *all, unsigned int all_count,
			    unsigned int class)
{
	u32 first = class ? 1u << (class - 1) : 0, last = class ? (1u << class) - 1 : 0;
	u32 inside = 0, reach = waiting, sum = 0, longest = 0, i, all_inside = 0, all_reach = 0;
	double prior = 1 / 32., tail;

	for (i = 0; i < count; i++) {
		reach += durations[i] >= first;
		if (durations[i] < first || durations[i] > last)
			continue;
		inside++;
		sum += durations[i];
		longest = max(longest, durations[i]);
	}
	for (i = 0; i < all_count; i++) {
		all_reach += all[i] >= first;
		all_inside += all[i] >= first && all[i] <= last;
	}
	if (all)
		prior = (all_inside + 1 / 32.) / (all_reach + 1);
	if (!inside) {
		*odds = (struct odds){ first, (first + last) / 2, last, prior / (reach + 1) };
		return 1;
	}
	odds[0] = (struct odds){ first, sum / inside, longest, (inside + prior) / (reach + 1) };
	if (longest == last)
		return 1;
	tail = prior * (last - longest) / (last + 1 - first);
	odds[1] = (struct odds){ longest + 1, (longest + 1 + last) / 2, last,
				 tail / (reach - inside + 1) };
	return 2;
}

/* The expected cost of waiting to the end of the stage @until, or of buying at once if it is -1. */
static double expected_cost(const struct odds *odds, int until, const struct ghyvi_rent_or_buy *by)
{
	double left = 1, cost = until < 0 ? 0 : by->enter_ns;
	int i;

	for (i = 0; i <= until; i++) {
		cost += left * odds[i].ends * (odds[i].mean - odds[i].from) * by->rent_ns;
		left *= 1 - odds[i].ends;
		cost += left * (odds[i].to + 1 - odds[i].from) * by->rent_ns;
	}
	return cost + left * by->buy_ns;
}

/* Stages that may pay at all: those of classes that begin before the break-even point. */
static int stages_of(struct odds *odds, const u32 *durations, unsigned int count,
		     unsigned int waiting, const u32 *all, unsigned int all_count,
		     const struct ghyvi_rent_or_buy *by)
{
	unsigned int class;
	int stages = 0;

	for (class = 0; class < GHYVI_DURATION_CLASSES - 1; class ++)
		if ((class ? 1u << (class - 1) : 0) * by->rent_ns <= by->buy_ns)
			stages += odds_of(odds + stages, durations, count, waiting, all, all_count,
					  class);
	return stages;
}

static u32 seed = 1;

static u32 any(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u32)(((u64)seed * below) >> 32);
}

static u32 any_durations(u32 *durations, u32 max, struct ghyvi_histogram *d)
{
	u32 count = any(max), i;

	for (i = 0; i < count; i++) {
		durations[i] = any(2u << any(8));
		ghyvi_histogram_add(d, durations[i], 0, false);
	}
	return count;
}

/* The plan is as good as the best of all limits, computed forward and in floating point. */
static void the_limit_minimises_the_expected_cost(void **state)
{
	unsigned int round, i, count, all_count, waiting, waited = 0;
	u32 durations[30], all[60];

	for (round = 0; round < 20000; round++) {
		struct ghyvi_rent_or_buy by = { 1000 + any(50000), 1000 + any(2000000), any(60000),
						0, 0 };
		struct ghyvi_histogram d = { .total = 0 }, all_d = { .total = 0 };
		struct odds odds[2 * GHYVI_DURATION_CLASSES];
		struct ghyvi_rental_plan plan;
		double at_once, best = 1e18, chosen = 1e18, cost, rounded;
		int stage, stages;

		count = any_durations(durations, ARRAY_SIZE(durations), &d);
		all_count = any_durations(all, ARRAY_SIZE(all), &all_d);
		waiting = any(4);
		for (i = 0; i < waiting; i++)
			ghyvi_histogram_add_censored(&d);
		stages = stages_of(odds, durations, count, waiting, round % 2 ? all : NULL,
				   round % 2 ? all_count : 0, &by);
		plan = ghyvi_rental_plan(&d, round % 2 ? &all_d : NULL, &by);
		at_once = expected_cost(odds, -1, &by);
		for (stage = 0; stage < stages; stage++) {
			cost = expected_cost(odds, stage, &by) * (1 + 1 / 8.);
			best = min(best, cost);
			if (plan.limit == odds[stage].to + 2)
				chosen = cost;
		}
		if (!plan.limit)
			chosen = at_once;
		/* Probabilities are rounded down three times in each stage. */
		rounded = 3. * by.buy_ns * stages / GHYVI_CERTAIN + 10;
		assert_true(chosen <= min(best, at_once) + rounded);
		assert_true(plan.cost_ns <= chosen + rounded && plan.cost_ns + rounded >= chosen);
		waited += plan.limit > 0;
	}
	assert_true(waited > 2000 && waited < 18000);
}

/* A context without durations of its own does what is best for those of all contexts. */
static void a_context_uses_what_others_have_shown(void **state)
{
	const struct ghyvi_rent_or_buy by = { .rent_ns = 1000, .buy_ns = 20000, .again_ns = 40000 };
	struct ghyvi_histogram d = { .total = 0 }, all = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&all, 20, 0, false);
	assert_in_range(ghyvi_rental_plan(&d, &all, &by).limit, 20 + 2, 31 + 2);
	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&all, 1000, 0, false);
	for (i = 0; i < 50; i++)
		ghyvi_histogram_add(&all, 200, 0, false);
	assert_int_equal(ghyvi_rental_plan(&d, &all, &by).limit, 0);
	/* Its own durations outweigh them. */
	for (i = 0; i < 20; i++)
		ghyvi_histogram_add(&d, 20, 0, false);
	assert_in_range(ghyvi_rental_plan(&d, &all, &by).limit, 20 + 2, 31 + 2);
}

/* A duration longer than all before it does not end the wait if few of them reached the longest. */
static void the_limit_is_beyond_the_longest_of_a_few_durations(void **state)
{
	const struct ghyvi_rent_or_buy by = { .rent_ns = 100, .buy_ns = 40000, .again_ns = 15000 };
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 1; i < 20; i++)
		ghyvi_histogram_add(&d, i, 0, false);
	assert_true(limit(&d, &by) >= 31 + 2);
	/* Many reach it, and none ends soon after. */
	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&d, 5000, 0, false);
	assert_true(limit(&d, &by) <= 19 + 2);
}

/* Those of one length: waiting for them has to be an eighth cheaper than the price. */
static void waiting_needs_a_minimum_gain(void **state)
{
	struct ghyvi_rent_or_buy by = { .rent_ns = 16000, .buy_ns = 17500 };
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 200; i++)
		ghyvi_histogram_add(&d, 1, 0, false);
	assert_int_equal(limit(&d, &by), 0);
	by.buy_ns = 18500;
	assert_int_equal(limit(&d, &by), 3);
}

/* history.c */

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

/* Not even one of 4096 durations ended in a class: what was known before is forgotten. */
static void durations_that_go_on_are_halved_too(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&d, 3, 0, false);
	for (i = 0; i < 4096 - 100; i++)
		ghyvi_histogram_pass(&d, 0);
	assert_int_equal(d.units[0], 4096);
	assert_int_equal(d.total, 100);
	ghyvi_histogram_pass(&d, 0);
	assert_int_equal(d.units[0], 2048 + 1);
	assert_int_equal(d.total, 50);
}

/* Waiting for 40 units is dear at first, and cheap when most of them have passed. */
static void what_was_paid_before_does_not_decide(void **state)
{
	const struct ghyvi_rent_or_buy by = { .rent_ns = 1000, .buy_ns = 40000 };
	struct ghyvi_histogram d = { .total = 0 };
	struct ghyvi_rental_plan plan;
	unsigned int i;

	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&d, i < 90 ? 40 : 1000, 0, false);
	plan = ghyvi_rental_plan(&d, NULL, &by);
	assert_int_equal(plan.limit, 0);
	assert_false(ghyvi_histogram_waits(&d, plan.waits, 0));
	assert_true(ghyvi_histogram_waits(&d, plan.waits, 32));
	assert_true(ghyvi_histogram_waits(&d, plan.waits, 40));
	assert_false(ghyvi_histogram_waits(&d, plan.waits, 41));
	assert_false(ghyvi_histogram_waits(&d, plan.waits, 64));
}

/* How many durations must have passed all classes before nothing is hoped for any more. */
static u32 hope_ends(u32 cohort)
{
	const struct ghyvi_rent_or_buy by = { .rent_ns = 1000, .buy_ns = 64000, .cohort = cohort };
	struct ghyvi_histogram all = { .total = 0 }, d = { .total = 0 };
	u32 passed = 0, i;

	for (; ghyvi_rental_plan(&d, &all, &by).waits & 1; passed++) {
		for (i = 0; i < 128; i++) {
			ghyvi_histogram_pass(&d, i);
			ghyvi_histogram_pass(&all, i);
		}
	}
	return passed;
}

static void a_hope_ends_after_a_few_cohorts(void **state)
{
	assert_int_equal(hope_ends(0), 0);
	assert_in_range(hope_ends(1), 1, 8);
	assert_in_range(hope_ends(20), 4 * hope_ends(1), 8 * 20);
}

static void hopes_are_paid_from_an_account(void **state)
{
	unsigned int i;

	/* A round of 12000, a scan of 1000, a protection of 9000. */
	assert_true(ghyvi_account_explores(&experience, &tuning));
	ghyvi_account_explored(&experience, &tuning, true);
	assert_int_equal(experience.explored_ns, 1000 - 9000 / 8);
	for (i = 0; i < 96; i++)
		ghyvi_account_explored(&experience, &tuning, false);
	assert_true(ghyvi_account_explores(&experience, &tuning));
	ghyvi_account_explored(&experience, &tuning, false);
	assert_false(ghyvi_account_explores(&experience, &tuning));
	ghyvi_account_found(&experience, &tuning);
	assert_true(ghyvi_account_explores(&experience, &tuning));
	for (i = 0; i < 1000; i++)
		ghyvi_account_found(&experience, &tuning);
	assert_int_equal(experience.explored_ns, -64 * 12000);
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
	history.writes = limit(&experience.bursts[0], &burst);
	assert_in_range(history.writes, 3 + 2, 15 + 2);
	assert_false(ghyvi_policy_adaptive.relax(&page));
	history.writes++;
	assert_true(ghyvi_policy_adaptive.relax(&page));
	ghyvi_histogram_add(&experience.forecasts[0].gaps, 3, 0, false);
	experience.forecasts[0].planned = true;
	experience.forecasts[0].hopes = 1 << 0 | 1 << 2 | 1 << 4; /* units 0 to 3 */
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

#define COSTS(f) cmocka_unit_test_setup_teardown(f, setup_costs, teardown_costs)
#define HISTORY(f) cmocka_unit_test_setup(f, setup_history)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COSTS(a_sample_counts_for_an_eighth),
		COSTS(interruptions_are_not_measured_as_costs),
		COSTS(every_cost_is_at_least_one_nanosecond),
		COSTS(protection_costs_half_a_trap_besides),
		COSTS(only_traps_of_neighbours_in_one_loop_are_measured),
		HISTORY(durations_are_told_apart_by_powers_of_two),
		HISTORY(the_regret_budget_is_bounded_and_decides_when_used_up),
		HISTORY(a_plan_without_experience_buys_at_once),
		HISTORY(a_histogram_of_256_durations_is_halved),
		HISTORY(pages_that_are_freed_are_not_taken_back),
		HISTORY(the_limit_minimises_the_expected_cost),
		cmocka_unit_test(a_context_uses_what_others_have_shown),
		cmocka_unit_test(the_limit_is_beyond_the_longest_of_a_few_durations),
		HISTORY(waiting_needs_a_minimum_gain),
		HISTORY(the_account_is_the_work_function),
		HISTORY(a_page_pays_for_traps_scans_and_protections),
		HISTORY(the_balance_is_bounded_above),
		HISTORY(a_page_that_was_freed_ends_its_gap),
		HISTORY(a_gap_that_has_not_ended_shows_how_long_it_is),
		cmocka_unit_test(durations_that_go_on_are_halved_too),
		cmocka_unit_test(what_was_paid_before_does_not_decide),
		cmocka_unit_test(a_hope_ends_after_a_few_cohorts),
		HISTORY(hopes_are_paid_from_an_account),
		HISTORY(neighbours_relaxed_ahead_save_a_trap_or_cost_scans_and_the_protection),
		HISTORY(a_page_is_expected_until_its_next_burst),
		HISTORY(pages_follow_while_relaxing_them_has_paid),
		HISTORY(policies_relax_by_stores_and_by_rank),
		HISTORY(adaptive_relaxes_one_store_after_the_limit_and_protects_at_it),
		HISTORY(adaptive_relaxes_at_once_what_is_kept_relaxed_for_less),
		HISTORY(adaptive_follows_the_work_function_after_losses),
		HISTORY(adaptive_relaxes_neighbours_while_that_pays),
		HISTORY(adaptive_keeps_a_neighbour_relaxed_until_its_own_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
