// SPDX-License-Identifier: GPL-2.0-only
/* The effect of costs and durations on plans, in figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "gtt/internal.h"

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
	assert_int_equal(gtt->tuning.scan_ns, 8000 - 1000 + (2 * 8000 + 128) / 8);
}

/* One long sample changes the average by less than a quarter; several are believed. */
static void a_cost_follows_the_samples_but_no_single_one(void **state)
{
	unsigned int i;

	gtt->tuning.scan_ns = 200;
	scan_took(500000, 1);
	assert_in_range(gtt->tuning.scan_ns, 200, 250);
	for (i = 0; i < 60; i++)
		scan_took(26000, 1);
	assert_in_range(gtt->tuning.scan_ns, 25000, 26000);
	for (i = 0; i < 60; i++)
		scan_took(200, 1);
	assert_in_range(gtt->tuning.scan_ns, 200, 220);
	gtt->tuning.scan_ns = 0;
	for (i = 0; i < 100; i++)
		scan_took(100000, 1);
	assert_in_range(gtt->tuning.scan_ns, 95000, 100000);
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
	assert_int_equal(gtt->tuning.trap_ns, 9875 - 1234 + (2 * 9875 + 128) / 8);
}

/* predict.c: durations */

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

static void a_plan_without_experience_rents_for_a_part_of_the_price(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	struct ghyvi_rent_or_buy free = { .buy_ns = 64000, .again_ns = 1000000 };
	struct ghyvi_rent_or_buy dear = { .rent_ns = 16000, .buy_ns = 64000 };

	assert_in_range(limit(&d, &rental), 64 / 8, 64 / 2);
	assert_true(ghyvi_rental_plan(&d, NULL, &rental).cost_ns < 64000);
	assert_int_equal(limit(&d, &dear), 0);
	assert_int_equal(ghyvi_rental_plan(&d, NULL, &dear).cost_ns, 64000);
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

/* The probability that the imaginary duration of all contexts ends in a class. */
#define IMAGINARY (1 / 8.)

/* One imaginary duration among those that reach the class. @all: durations of all contexts. */
static unsigned int odds_of(struct odds *odds, const u32 *durations, unsigned int count,
			    unsigned int waiting, const u32 *all, unsigned int all_count,
			    unsigned int class)
{
	u32 first = class ? 1u << (class - 1) : 0, last = class ? (1u << class) - 1 : 0;
	u32 inside = 0, reach = waiting, sum = 0, longest = 0, i, all_inside = 0, all_reach = 0;
	double prior = IMAGINARY, tail;

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
		prior = (all_inside + IMAGINARY) / (all_reach + 1);
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
						0 };
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
/* Not even one of 4096 durations ended in a class: what was known before is forgotten. */
static void durations_that_go_on_are_halved_too(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		ghyvi_histogram_add(&d, 3, 0, false);
	for (i = 0; i < 4096 - 100; i++)
		ghyvi_histogram_pass(&d, 0, 1);
	assert_int_equal(d.units[0], 4096);
	assert_int_equal(d.total, 100);
	ghyvi_histogram_pass(&d, 0, 1);
	assert_int_equal(d.units[0], 2048 + 1);
	assert_int_equal(d.total, 50);
}

/* Whether a duration ends at 671 is not known before: 512 units do not show that it goes on. */
static void a_duration_shows_nothing_before_the_mean_of_its_class(void **state)
{
	struct ghyvi_histogram none = { .total = 0 }, d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 4; i++)
		ghyvi_histogram_add(&d, i % 2 ? 571 : 771, 0, false);
	assert_int_equal(ghyvi_histogram_shown(&d, &none, 511), 512);
	assert_int_equal(ghyvi_histogram_shown(&d, &none, 512), 512);
	assert_int_equal(ghyvi_histogram_shown(&d, &none, 670), 512);
	assert_int_equal(ghyvi_histogram_shown(&d, &none, 671), 1024);
	assert_int_equal(ghyvi_histogram_shown(&d, &none, 1024), 1025);
	/* Those of all contexts decide where there are no others. */
	assert_int_equal(ghyvi_histogram_shown(&none, &d, 670), 512);
	assert_int_equal(ghyvi_histogram_shown(&none, &d, 671), 1024);
	assert_int_equal(ghyvi_histogram_shown(&none, &none, 670), 671);
	ghyvi_histogram_pass(&none, 600, 512);
	ghyvi_histogram_pass(&none, 5, 20);
	ghyvi_histogram_pass(&none, 16300, 65536);
	assert_int_equal(none.units[3], 8 - 5);
	assert_int_equal(none.units[4], 8);
	assert_int_equal(none.units[5], 20 - 16);
	assert_int_equal(none.units[14], 16384 - 16300);
	assert_int_equal(none.units[15], 65536 - 16384);
}

/* Only durations that end are counted in total, so any number may be skipped before counts age. */
static void the_units_of_many_skipped_durations_fit(void **state)
{
	struct ghyvi_histogram d = { .total = 0 };
	unsigned int i;

	for (i = 0; i < 1 << 19; i++)
		assert_int_equal(ghyvi_histogram_skip(&d, 1), 16384);
	assert_true(d.units[14] == 1ull << 32);
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

#define COSTS(f) cmocka_unit_test_setup_teardown(f, setup_costs, teardown_costs)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COSTS(a_sample_counts_for_an_eighth),
		COSTS(interruptions_are_not_measured_as_costs),
		COSTS(a_cost_follows_the_samples_but_no_single_one),
		COSTS(every_cost_is_at_least_one_nanosecond),
		COSTS(protection_costs_half_a_trap_besides),
		COSTS(only_traps_of_neighbours_in_one_loop_are_measured),
		cmocka_unit_test(durations_are_told_apart_by_powers_of_two),
		cmocka_unit_test(the_regret_budget_is_bounded_and_decides_when_used_up),
		cmocka_unit_test(a_plan_without_experience_rents_for_a_part_of_the_price),
		cmocka_unit_test(a_histogram_of_256_durations_is_halved),
		cmocka_unit_test(pages_that_are_freed_are_not_taken_back),
		cmocka_unit_test(the_limit_minimises_the_expected_cost),
		cmocka_unit_test(a_context_uses_what_others_have_shown),
		cmocka_unit_test(the_limit_is_beyond_the_longest_of_a_few_durations),
		cmocka_unit_test(waiting_needs_a_minimum_gain),
		cmocka_unit_test(durations_that_go_on_are_halved_too),
		cmocka_unit_test(a_duration_shows_nothing_before_the_mean_of_its_class),
		cmocka_unit_test(the_units_of_many_skipped_durations_fit),
		cmocka_unit_test(what_was_paid_before_does_not_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
