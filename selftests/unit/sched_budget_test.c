// SPDX-License-Identifier: GPL-2.0-only
/* Single decisions of "credit" and "band", on budgets that the test sets. */
#include "sched/policy_credit.h"
#include "sched_decide.h"

#define PERIOD_NS ((s64)CREDIT_PERIOD_NS)
#define IDLE_NS (500 * US)

/* All three vGPUs wait, in this order, with weights 100, 300 and 100. */
static u64 update_clock(void)
{
	u64 time;

	spin_lock(&engine->lock);
	time = ghyvi_sched_update_clock(engine);
	spin_unlock(&engine->lock);
	return time;
}

static void all_wait(const char *policy)
{
	unsigned int i;

	assert_int_equal(ghyvi_sched_set_policy(sched, policy), 0);
	set_knobs(1, 300, 0, 0);
	for (i = 0; i < VGPUS; i++)
		queue(i);
}

static unsigned int place(unsigned int i)
{
	struct sched_rq *run;
	unsigned int at = 0;

	list_for_each_entry(run, &engine->rqs, link) {
		if (run == runs[i])
			return at;
		at++;
	}
	fail();
	return 0;
}

/* A share of one fifth is 200 permille. */
static void set_budget(unsigned int i, s64 left_ns, u64 permille)
{
	credit_rq(runs[i])->left_ns = left_ns;
	credit_rq(runs[i])->permille = permille;
}

static void a_period_refills_by_weight(void **state)
{
	all_wait("credit");
	assert_int_equal(ghyvi_sched_total_weight(engine), 500);
	set_budget(0, -7, 0);
	set_budget(1, 5, 0);
	ghyvi_sched_credit_tick(engine, credit_engine(engine)->window_start + PERIOD_NS);
	assert_int_equal(credit_rq(runs[0])->left_ns, PERIOD_NS / 5 - 7);
	assert_int_equal(credit_rq(runs[1])->left_ns, 3 * PERIOD_NS / 5 + 5);
	assert_int_equal(credit_rq(runs[2])->left_ns, PERIOD_NS / 5);
}

static void a_budget_beyond_a_period_is_forgotten(void **state)
{
	static const struct {
		s64 before, after;
	} steps[] = {
		{ 4 * PERIOD_NS / 5, PERIOD_NS },
		{ 4 * PERIOD_NS / 5 + 1, 0 },
		{ -6 * PERIOD_NS / 5, -PERIOD_NS },
		{ -6 * PERIOD_NS / 5 - 1, 0 },
	};
	unsigned int i;

	all_wait("credit");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		set_budget(0, steps[i].before, 0);
		ghyvi_sched_credit_tick(engine, credit_engine(engine)->window_start + PERIOD_NS);
		assert_int_equal(credit_rq(runs[0])->left_ns, steps[i].after);
	}
}

static void shares_are_of_the_last_second(void **state)
{
	u64 begin;

	all_wait("band");
	begin = credit_engine(engine)->window_start;
	assert_int_equal(begin, now);
	ghyvi_sched_credit_charge(runs[0], 25 * MS);
	assert_int_equal(credit_rq(runs[0])->left_ns, -25 * (s64)MS);
	ghyvi_sched_credit_tick(engine, begin); /* no time has passed */
	assert_int_equal(credit_rq(runs[0])->permille, 0);
	ghyvi_sched_credit_tick(engine, begin + 100 * MS);
	assert_int_equal(credit_rq(runs[0])->permille, 250);
	assert_int_equal(credit_rq(runs[1])->permille, 0);
	ghyvi_sched_credit_tick(engine, begin + 1000 * MS - 1);
	assert_int_equal(credit_engine(engine)->window_start, begin);
	assert_int_equal(credit_rq(runs[0])->used_ns, 25 * MS);
	ghyvi_sched_credit_tick(engine, begin + 1000 * MS);
	assert_int_equal(credit_rq(runs[0])->permille, 25);
	assert_int_equal(credit_rq(runs[0])->used_ns, 0);
	assert_int_equal(credit_engine(engine)->window_start, begin + 1000 * MS);
	ghyvi_sched_credit_charge(runs[0], 10);
	ghyvi_sched_credit_charge(runs[0], -3);
	assert_int_equal(credit_rq(runs[0])->used_ns, 7);
	assert_int_equal(credit_rq(runs[0])->left_ns, -25 * (s64)MS - 7 + 4 * (PERIOD_NS / 5));
}

static void time_given_back_after_a_tick_leaves_no_debt(void **state)
{
	u64 begin = 5000 * MS;

	all_wait("credit");
	ghyvi_sched_credit_tick(engine, begin);
	ghyvi_sched_credit_charge(runs[0], 25 * MS);
	ghyvi_sched_credit_tick(engine, begin + 1000 * MS);
	ghyvi_sched_credit_charge(runs[0], -5 * (s64)MS);
	assert_int_equal(credit_rq(runs[0])->used_ns, 0);
	ghyvi_sched_credit_tick(engine, begin + 2000 * MS);
	assert_int_equal(credit_rq(runs[0])->permille, 0);
}

static void ticks_come_every_period(void **state)
{
	static const char *const policies[] = { "credit", "band" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		all_wait(policies[i]);
		now += PERIOD_NS - 1;
		update_clock();
		assert_int_equal(credit_rq(runs[0])->left_ns, 0);
		now += 1;
		assert_int_equal(update_clock(), now);
		assert_int_equal(credit_rq(runs[0])->left_ns, PERIOD_NS / 5);
		now += 2 * PERIOD_NS;
		update_clock();
		assert_int_equal(credit_rq(runs[0])->left_ns, 3 * PERIOD_NS / 5);
	}
}

/* At most 64 missed ticks are replayed; the next follows one period later. */
static void at_most_64_missed_ticks_are_replayed(void **state)
{
	u64 begin;

	all_wait("credit");
	begin = engine->next_tick - PERIOD_NS;
	now = begin + 64 * PERIOD_NS;
	update_clock();
	assert_int_equal(engine->next_tick, begin + 65 * PERIOD_NS);
	now = begin + 200 * PERIOD_NS + 5;
	update_clock();
	assert_int_equal(engine->next_tick, now + PERIOD_NS);
}

static void credit_moves_an_empty_budget_to_the_end(void **state)
{
	u64 until = GHYVI_SCHED_NEVER;

	all_wait("credit");
	set_budget(0, 1, 1000);
	ghyvi_sched_credit.on_complete(engine, runs[0], MS, false, now);
	assert_int_equal(place(0), 0);
	assert_ptr_equal(ghyvi_sched_credit.pick_next(engine, now, &until), runs[0]);
	set_budget(0, 0, 0);
	ghyvi_sched_credit.on_complete(engine, runs[0], MS, false, now);
	assert_int_equal(place(0), 2);
	assert_ptr_equal(ghyvi_sched_credit.pick_next(engine, now, &until), runs[1]);
	assert_ptr_equal(ghyvi_sched_credit.peek_next(engine), runs[1]);
	set_budget(1, -1, 0);
	ghyvi_sched_credit.on_complete(engine, runs[1], MS, false, now);
	assert_int_equal(place(1), 2);
	assert_int_equal(until, GHYVI_SCHED_NEVER);
}

static void a_vgpu_without_work_is_passed_over(void **state)
{
	all_wait("credit");
	assert_true(ghyvi_sched_cancel(sched, &workloads[0]));
	assert_ptr_equal(ghyvi_sched_credit.peek_next(engine), runs[1]);
	assert_true(ghyvi_sched_cancel(sched, &workloads[1]));
	assert_ptr_equal(ghyvi_sched_credit.peek_next(engine), runs[2]);
	assert_true(ghyvi_sched_cancel(sched, &workloads[2]));
	assert_null(ghyvi_sched_credit.peek_next(engine));
}

static void band_demotes_a_vgpu_over_its_budget_and_share(void **state)
{
	static const struct {
		s64 left_ns;
		u64 permille;
		bool demoted;
	} cases[] = {
		{ -1, 201, true },  { -1, 200, false }, { 0, 201, false },
		{ 1, 1000, false }, { -1, 0, false },
	};
	unsigned int i;

	all_wait("band");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		list_move(&runs[0]->link, &engine->rqs);
		set_budget(0, cases[i].left_ns, cases[i].permille);
		credit_engine(engine)->from = credit_engine(engine)->arrived = runs[1];
		credit_engine(engine)->completed = false;
		credit_engine(engine)->wait_until = 7;
		ghyvi_sched_band.on_complete(engine, runs[0], MS, false, now);
		assert_int_equal(place(0), cases[i].demoted ? 2 : 0);
		assert_ptr_equal(credit_engine(engine)->from, runs[0]);
		assert_null(credit_engine(engine)->arrived);
		assert_true(credit_engine(engine)->completed);
		assert_int_equal(credit_engine(engine)->wait_until, 0);
	}
}

static void assert_idles(bool idles)
{
	u64 until = GHYVI_SCHED_NEVER;
	struct sched_rq *run;

	run = ghyvi_sched_band.pick_next(engine, now, &until);
	if (idles) {
		assert_null(run);
		assert_int_equal(until, now + IDLE_NS);
		assert_int_equal(credit_engine(engine)->wait_until, until);
	} else {
		assert_ptr_equal(run, runs[0]);
		assert_int_equal(until, GHYVI_SCHED_NEVER);
		assert_int_equal(credit_engine(engine)->wait_until, 0);
		assert_null(credit_engine(engine)->arrived);
		assert_false(credit_engine(engine)->completed);
	}
	credit_engine(engine)->wait_until = 0;
}

static void band_idles_before_a_vgpu_that_is_over_its_share(void **state)
{
	all_wait("band");
	/* Another vGPU's workload has completed. */
	set_budget(0, 5, 201);
	credit_engine(engine)->completed = true;
	credit_engine(engine)->from = runs[1];
	credit_engine(engine)->arrived = runs[1];
	assert_idles(true);
	credit_engine(engine)->completed = true;
	credit_engine(engine)->from = runs[0];
	assert_idles(false);
	credit_engine(engine)->completed = true;
	credit_engine(engine)->from = runs[1];
	set_budget(0, -5, 200);
	assert_idles(false);
	/* The engine was idle. */
	credit_engine(engine)->completed = false;
	set_budget(0, 1, 201);
	assert_idles(false);
	set_budget(0, 0, 201);
	assert_idles(true);
	set_budget(0, 0, 200);
	assert_idles(false);
}

static void band_does_not_idle_for_a_lone_vgpu(void **state)
{
	assert_int_equal(ghyvi_sched_set_policy(sched, "band"), 0);
	queue(0);
	set_budget(0, -5, 5000);
	credit_engine(engine)->completed = true;
	credit_engine(engine)->from = runs[1];
	assert_idles(false);
}

static void band_idles_for_half_a_millisecond(void **state)
{
	u64 until = GHYVI_SCHED_NEVER, end;

	all_wait("band");
	credit_engine(engine)->arrived = NULL;
	set_budget(0, -5, 1000);
	assert_null(ghyvi_sched_band.pick_next(engine, now, &until));
	end = now + IDLE_NS;
	now = end - 1;
	until = GHYVI_SCHED_NEVER;
	assert_null(ghyvi_sched_band.pick_next(engine, now, &until));
	assert_int_equal(until, end);
	assert_int_equal(credit_engine(engine)->wait_until, end);
	now = end;
	assert_ptr_equal(ghyvi_sched_band.pick_next(engine, now, &until), runs[0]);
	assert_int_equal(credit_engine(engine)->wait_until, 0);
}

static void an_arrival_within_its_share_ends_the_idling_of_band(void **state)
{
	static const struct {
		s64 left_ns;
		u64 permille;
		bool chosen;
	} cases[] = {
		{ -1, 1000, false }, { 0, 1000, false }, { 1, 1000, true },
		{ -1, 0, true },     { 0, 200, true },
	};
	u64 until = GHYVI_SCHED_NEVER;
	unsigned int i;

	all_wait("band");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_budget(0, -5, 1000);
		set_budget(2, cases[i].left_ns, cases[i].permille);
		credit_engine(engine)->wait_until = now + 10;
		credit_engine(engine)->completed = true;
		credit_engine(engine)->arrived = runs[2];
		assert_ptr_equal(ghyvi_sched_band.pick_next(engine, now, &until),
				 cases[i].chosen ? runs[2] : NULL);
		assert_int_equal(credit_engine(engine)->wait_until, cases[i].chosen ? 0 : now + 10);
		assert_ptr_equal(credit_engine(engine)->arrived, cases[i].chosen ? NULL : runs[2]);
		assert_int_equal(credit_engine(engine)->completed, !cases[i].chosen);
	}
	/* It arrived before the engine idled, or has no work any more. */
	set_budget(2, 1, 0);
	set_budget(0, 1, 0);
	credit_engine(engine)->wait_until = 0;
	credit_engine(engine)->arrived = runs[2];
	assert_ptr_equal(ghyvi_sched_band.pick_next(engine, now, &until), runs[0]);
	assert_true(ghyvi_sched_cancel(sched, &workloads[2]));
	set_budget(0, -5, 1000);
	credit_engine(engine)->wait_until = now + 10;
	credit_engine(engine)->arrived = runs[2];
	assert_null(ghyvi_sched_band.pick_next(engine, now, &until));
}

static void only_a_wakeup_on_a_free_engine_is_an_arrival(void **state)
{
	all_wait("band");
	credit_engine(engine)->arrived = NULL;
	ghyvi_sched_band.on_arrival(engine, runs[1], false, now);
	assert_null(credit_engine(engine)->arrived);
	engine->current_workload = &workloads[0];
	ghyvi_sched_band.on_arrival(engine, runs[1], true, now);
	assert_null(credit_engine(engine)->arrived);
	engine->current_workload = NULL;
	ghyvi_sched_band.on_arrival(engine, runs[1], true, now);
	assert_ptr_equal(credit_engine(engine)->arrived, runs[1]);
}

static void a_destroyed_vgpu_is_forgotten(void **state)
{
	all_wait("band");
	credit_engine(engine)->from = runs[0];
	credit_engine(engine)->arrived = runs[1];
	ghyvi_sched_band.remove(engine, runs[2]);
	assert_ptr_equal(credit_engine(engine)->from, runs[0]);
	assert_ptr_equal(credit_engine(engine)->arrived, runs[1]);
	ghyvi_sched_band.remove(engine, runs[0]);
	assert_null(credit_engine(engine)->from);
	assert_ptr_equal(credit_engine(engine)->arrived, runs[1]);
	ghyvi_sched_band.remove(engine, runs[1]);
	assert_null(credit_engine(engine)->arrived);
}

static void fifo_serves_in_order_of_arrival(void **state)
{
	u64 until = GHYVI_SCHED_NEVER;

	all_wait("fifo");
	assert_ptr_equal(ghyvi_sched_fifo.peek_next(engine), runs[0]);
	assert_true(ghyvi_sched_cancel(sched, &workloads[0]));
	assert_ptr_equal(ghyvi_sched_fifo.pick_next(engine, now, &until), runs[1]);
	assert_true(ghyvi_sched_cancel(sched, &workloads[1]));
	assert_true(ghyvi_sched_cancel(sched, &workloads[2]));
	assert_null(ghyvi_sched_fifo.peek_next(engine));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_period_refills_by_weight),
		TEST(a_budget_beyond_a_period_is_forgotten),
		TEST(shares_are_of_the_last_second),
		TEST(time_given_back_after_a_tick_leaves_no_debt),
		TEST(ticks_come_every_period),
		TEST(at_most_64_missed_ticks_are_replayed),
		TEST(credit_moves_an_empty_budget_to_the_end),
		TEST(a_vgpu_without_work_is_passed_over),
		TEST(band_demotes_a_vgpu_over_its_budget_and_share),
		TEST(band_idles_before_a_vgpu_that_is_over_its_share),
		TEST(band_does_not_idle_for_a_lone_vgpu),
		TEST(band_idles_for_half_a_millisecond),
		TEST(an_arrival_within_its_share_ends_the_idling_of_band),
		TEST(only_a_wakeup_on_a_free_engine_is_an_arrival),
		TEST(a_destroyed_vgpu_is_forgotten),
		TEST(fifo_serves_in_order_of_arrival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
