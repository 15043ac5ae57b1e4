// SPDX-License-Identifier: GPL-2.0-only
/* GPU time is charged while it is used: placement of new vGPUs, caps within a workload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "sched/policy_credit.h"
#include "../../tools/sched-sim/experiments.h"

#define MS NSEC_PER_MSEC
#define BEGIN_NS NSEC_PER_SEC
#define WINDOW_NS (1000ULL * GHYVI_SCHED_WINDOW_DEFAULT_US)

/* Two vGPUs on an engine and a clock that do what the test says. */

static struct {
	u64 now, timer;
	struct ghyvi_job *running;
	bool never_begins;
	unsigned int preempts, cancels;
} hand;

static struct ghyvi_sched *sched;
static struct player {
	struct ghyvi_workload base;
	unsigned int completed;
	bool resubmits; /* when it was preempted */
} a, b;

static int hand_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	assert_null(hand.running);
	hand.running = job;
	if (!hand.never_begins)
		job->begun_ns = hand.now;
	return 0;
}

static void hand_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	assert_ptr_equal(job, hand.running);
	hand.preempts++;
}

static void hand_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	hand.cancels++;
}

static const struct ghyvi_pgpu_ops hand_ops = {
	.run = hand_run,
	.preempt = hand_preempt,
	.cancel = hand_cancel,
};
static struct ghyvi_pgpu_device hand_device = { .ops = &hand_ops };

static u64 hand_clock_now(struct ghyvi_sched_clock *clock)
{
	return hand.now;
}

static void hand_clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	hand.timer = at;
}

static struct ghyvi_sched_clock hand_clock = { .now = hand_clock_now, .arm = hand_clock_arm };

static void complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	struct player *player = container_of(workload, struct player, base);

	player->completed++;
	if (status == GHYVI_JOB_PREEMPTED && player->resubmits)
		ghyvi_sched_queue(sched, workload);
}

static struct sched_rq *rq_of(struct player *player)
{
	return &player->base.owner->rqs[GHYVI_RCS];
}

static void init_player(struct player *player)
{
	*player = (struct player){ .base = { .owner = ghyvi_sched_entity_create(sched, NULL, NULL),
					     .complete = complete } };
}

static int setup(void **state)
{
	memset(&hand, 0, sizeof(hand));
	hand.now = BEGIN_NS;
	hand.timer = GHYVI_SCHED_NEVER;
	sched = ghyvi_sched_create_on(&hand_device, &hand_clock);
	init_player(&a);
	init_player(&b);
	return 0;
}

static int teardown(void **state)
{
	ghyvi_sched_entity_destroy(a.base.owner);
	ghyvi_sched_entity_destroy(b.base.owner);
	ghyvi_sched_destroy(sched);
	return 0;
}

static void submit(struct player *player)
{
	ghyvi_sched_queue(sched, &player->base);
	ghyvi_sched_kick(sched, GHYVI_RCS);
}

/* The job ends after @busy_ns on the engine. */
static void finish_after(u64 busy_ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = hand.running;

	assert_non_null(job);
	hand.running = NULL;
	job->busy_ns = busy_ns;
	job->done(job, status);
}

static void finish(enum ghyvi_job_status status)
{
	finish_after(hand.now - hand.running->begun_ns, status);
}

/* Time passes, and timers fire. */
static void pass_until(u64 until)
{
	while (hand.timer <= until) {
		hand.now = max(hand.now, hand.timer);
		hand.timer = GHYVI_SCHED_NEVER;
		ghyvi_sched_timer(sched, GHYVI_RCS);
	}
	hand.now = until;
}

static void pass(u64 ns)
{
	pass_until(hand.now + ns);
}

static void set_knobs(struct player *player, u32 weight, u32 cap)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap };

	assert_int_equal(ghyvi_sched_set_knobs(player->base.owner, &knobs), 0);
}

static void end_all(void)
{
	a.resubmits = b.resubmits = false;
	while (hand.running)
		finish(GHYVI_JOB_COMPLETE);
	ghyvi_sched_cancel(sched, &a.base);
	if (b.base.sched)
		ghyvi_sched_cancel(sched, &b.base);
}

static void newcomer_starts_level_with_what_the_running_vgpu_has_had(void **state)
{
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	submit(&b);
	assert_int_equal(rq_of(&a)->fair.vtime, 10 * NSEC_PER_SEC);
	assert_int_equal(rq_of(&b)->fair.vtime, 10 * NSEC_PER_SEC);
	end_all();
	assert_int_equal(rq_of(&a)->fair.vtime, 10 * NSEC_PER_SEC);
}

/* Between two workloads of the only other vGPU, which is not anticipated. */
static void newcomer_starts_level_with_the_vgpu_that_has_just_left(void **state)
{
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	finish(GHYVI_JOB_COMPLETE);
	pass(MS);
	submit(&b);
	assert_int_equal(rq_of(&b)->fair.vtime, 10 * NSEC_PER_SEC);
	end_all();
}

static void a_waking_vgpu_is_placed_a_tenth_of_a_window_behind_the_running_one(void **state)
{
	submit(&b);
	pass(MS);
	finish(GHYVI_JOB_COMPLETE);
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	submit(&b);
	assert_int_equal(rq_of(&a)->fair.vtime - rq_of(&b)->fair.vtime, WINDOW_NS / 10);
	end_all();
}

static void budgets_are_charged_while_the_workload_runs(void **state)
{
	static const char *const names[] = { "credit", "band" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ghyvi_sched_set_policy(sched, names[i]);
		submit(&a);
		pass(20 * MS);
		ghyvi_sched_queue(sched, &b.base);
		assert_int_equal(credit_rq(rq_of(&a))->used_ns, 20 * MS);
		assert_int_equal(credit_rq(rq_of(&a))->left_ns, -20 * (s64)MS);
		end_all();
		assert_int_equal(credit_rq(rq_of(&a))->used_ns, 20 * MS);
	}
}

/* A refill pays for what ran before it, not for what comes after. */
static void missed_ticks_refill_before_later_time_is_charged(void **state)
{
	ghyvi_sched_set_policy(sched, "credit");
	submit(&a);
	pass(80 * MS); /* 2 ticks; alone, each refills all of a period */
	finish(GHYVI_JOB_COMPLETE);
	assert_int_equal(credit_rq(rq_of(&a))->left_ns, -20 * (s64)MS);
}

static void a_job_that_has_not_begun_costs_nothing(void **state)
{
	hand.never_begins = true;
	submit(&a);
	pass(MS);
	ghyvi_sched_queue(sched, &b.base);
	pass(MS);
	ghyvi_sched_timer(sched, GHYVI_RCS);
	assert_int_equal(rq_of(&a)->fair.vtime, 0);
	hand.never_begins = false;
	finish_after(0, GHYVI_JOB_PREEMPTED);
	assert_int_equal(rq_of(&a)->fair.vtime, 0);
	end_all();
}

/* Another CPU charges up to its now, while the job's end is on its way. */
static void completion_refunds_time_charged_after_the_end(void **state)
{
	submit(&a);
	pass(5 * MS);
	ghyvi_sched_queue(sched, &b.base);
	assert_int_equal(rq_of(&a)->fair.vtime, 5 * MS);
	finish_after(4 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(rq_of(&a)->fair.vtime, 4 * MS);
	end_all();
}

static void a_job_that_has_ended_is_charged_to_its_end(void **state)
{
	submit(&a);
	pass(5 * MS);
	hand.running->busy_ns = 4 * MS;
	ghyvi_sched_queue(sched, &b.base);
	assert_int_equal(rq_of(&a)->fair.vtime, 4 * MS);
	finish_after(4 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(rq_of(&a)->fair.vtime, 4 * MS);
	end_all();
}

static void a_new_weight_counts_from_now_on(void **state)
{
	submit(&a);
	pass(10 * MS);
	set_knobs(&a, 200, 0);
	pass(10 * MS);
	finish(GHYVI_JOB_COMPLETE);
	assert_int_equal(rq_of(&a)->fair.vtime, 15 * MS);
}

static void a_new_policy_is_charged_for_the_rest_only(void **state)
{
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	ghyvi_sched_set_policy(sched, "credit");
	pass(3 * MS);
	ghyvi_sched_set_policy(sched, "fair");
	pass(2 * MS);
	finish(GHYVI_JOB_COMPLETE);
	assert_int_equal(rq_of(&a)->fair.vtime, 2 * MS);
}

/* Caps. */

static void a_lone_vgpu_is_preempted_when_its_cap_is_used_up(void **state)
{
	a.resubmits = true;
	set_knobs(&a, 100, 10);
	submit(&a);
	pass(WINDOW_NS / 10 - 1000);
	assert_int_equal(hand.preempts, 0);
	pass(2000);
	assert_int_equal(hand.preempts, 1);
	finish(GHYVI_JOB_PREEMPTED);
	assert_null(hand.running);
	pass_until(BEGIN_NS + WINDOW_NS - MS);
	assert_null(hand.running);
	pass_until(BEGIN_NS + WINDOW_NS + MS);
	assert_non_null(hand.running);
	end_all();
}

static void a_cap_that_is_set_holds_for_the_workload_that_runs(void **state)
{
	submit(&a);
	pass(NSEC_PER_SEC);
	set_knobs(&a, 100, 10);
	assert_int_equal(hand.preempts, 0);
	pass(WINDOW_NS / 10 + 1000);
	assert_int_equal(hand.preempts, 1);
	end_all();
}

/* A workload is stopped only while another one waits. */
static void the_timeout_after_a_used_up_cap_starts_when_another_waits(void **state)
{
	set_knobs(&a, 100, 10);
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	assert_int_equal(hand.preempts, 1);
	assert_int_equal(hand.cancels, 0);
	submit(&b);
	pass(1000ULL * GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US - MS);
	assert_int_equal(hand.cancels, 0); /* the timeout starts when another workload waits */
	pass(2 * MS);
	assert_int_equal(hand.cancels, 1);
	end_all();
}

static void a_cap_of_100_percent_does_not_limit(void **state)
{
	set_knobs(&a, 100, 100);
	submit(&a);
	pass(10 * NSEC_PER_SEC);
	assert_int_equal(hand.preempts, 0);
	finish(GHYVI_JOB_COMPLETE);
	submit(&a);
	assert_non_null(hand.running);
	end_all();
}

static void debt_is_one_window_at_most(void **state)
{
	set_knobs(&a, 100, 1);
	submit(&a);
	pass(60 * NSEC_PER_SEC);
	finish(GHYVI_JOB_COMPLETE);
	submit(&a);
	assert_null(hand.running);
	pass(WINDOW_NS - MS);
	assert_null(hand.running);
	pass(MS + 1000);
	assert_non_null(hand.running);
	end_all();
}

static void unused_time_of_more_than_one_window_is_lost(void **state)
{
	unsigned int i;

	a.resubmits = true;
	set_knobs(&a, 100, 20);
	/* Idle for long, then busy as much as possible, in pieces. */
	pass(10 * NSEC_PER_SEC);
	submit(&a);
	for (i = 0; i < 10; i++) {
		assert_non_null(hand.running);
		pass(WINDOW_NS / 50);
		assert_int_equal(hand.preempts, 0);
		finish(GHYVI_JOB_PREEMPTED);
	}
	assert_null(hand.running);
	end_all();
}

static void a_new_window_length_keeps_the_used_time(void **state)
{
	struct ghyvi_sched_settings settings;

	a.resubmits = true;
	set_knobs(&a, 100, 20);
	submit(&a);
	pass(WINDOW_NS / 5 + 1000);
	assert_int_equal(hand.preempts, 1);
	finish(GHYVI_JOB_PREEMPTED);
	assert_null(hand.running);
	ghyvi_sched_get_settings(sched, &settings);
	settings.window_us /= 2;
	ghyvi_sched_set_settings(sched, &settings);
	assert_null(hand.running);
	settings.window_us *= 3;
	ghyvi_sched_set_settings(sched, &settings);
	/* 20 of 150 ms were used, 30 may be. */
	assert_non_null(hand.running);
	pass(WINDOW_NS / 10 - MS / 2);
	assert_int_equal(hand.preempts, 1);
	pass(2 * MS);
	assert_int_equal(hand.preempts, 2);
	end_all();
}

/*
 * Compared with a list of all runs: no window has more than the cap plus the time of a preemption.
 */
static void no_window_gets_more_than_the_cap(void **state)
{
	static const u32 percent[] = { 1, 10, 50, 99 };
	unsigned int seed = 1, round;

	a.resubmits = true;
	for (round = 0; round < ARRAY_SIZE(percent); round++) {
		struct sim_spans spans = { 0 };
		u64 end = hand.now + 3 * NSEC_PER_SEC, most, had = 0, ran;

		set_knobs(&a, 100, percent[round]);
		submit(&a);
		while (hand.now < end) {
			u64 length = rand_r(&seed) % (rand_r(&seed) % 4 ? 30 * MS : MS / 4);
			unsigned int asked = hand.preempts;
			u64 until = hand.now + length;

			while (hand.preempts == asked && hand.timer <= until)
				pass_until(hand.timer);
			if (hand.preempts == asked)
				pass_until(until);
			if (hand.running) {
				ran = hand.now - hand.running->begun_ns;
				sim_spans_add(&spans, 0, hand.running->begun_ns, hand.now);
				had += ran;
				finish(GHYVI_JOB_PREEMPTED);
			}
		}
		most = sim_most_in_window(&spans, 0, WINDOW_NS);
		assert_true(most <= WINDOW_NS * percent[round] / 100 + 1000);
		/* The vGPU that always has work gets most of the time. */
		assert_true(had >= 3 * NSEC_PER_SEC * percent[round] / 100 * 8 / 10);
		sim_spans_free(&spans);
		a.resubmits = false;
		end_all();
		a.resubmits = true;
		pass(2 * WINDOW_NS);
	}
}

/* In the simulator. */

static struct sim_result simulate(struct sim_setup setup, struct sim_spans *spans)
{
	struct sim_result result;

	setup.span = sim_spans_add;
	setup.span_data = spans;
	assert_int_equal(sim_run(&setup, &result), 0);
	return result;
}

static const u64 lengths_ms[] = { 1, 10, 100, 1000, 10000, 60000 };

static void newcomer_and_incumbent_share_by_weight_at_every_length(void **state)
{
	static const u32 weights[] = { 100, 300 };
	unsigned int i, w, long_vgpu;

	for (i = 0; i < ARRAY_SIZE(lengths_ms); i++)
		for (w = 0; w < ARRAY_SIZE(weights); w++)
			for (long_vgpu = 0; long_vgpu < 2; long_vgpu++) {
				struct sim_setup setup =
					sim_newcomer(long_vgpu, lengths_ms[i] * MS, weights[w]);
				struct sim_spans spans = { 0 };

				setup.duration_ns = SIM_LATE_NS + 3 * NSEC_PER_SEC;
				simulate(setup, &spans);
				assert_true(sim_share_error(&spans, &setup, SIM_LATE_NS + 200 * MS,
							    setup.duration_ns, 100 * MS) <= 0.02);
				sim_spans_free(&spans);
			}
}

static void sleeping_and_waking_gains_no_time_at_any_length(void **state)
{
	unsigned int i, both;

	for (i = 0; i < ARRAY_SIZE(lengths_ms); i++)
		for (both = 0; both < 2; both++) {
			u64 long_ns = lengths_ms[i] * MS;
			u64 other_ns = both ? long_ns : SIM_SHORT_NS;
			struct sim_spans spans = { 0 };

			assert_true(simulate(sim_on_off(long_ns, other_ns), &spans).share[0] >=
				    0.74);
			sim_spans_free(&spans);
		}
}

static void caps_hold_in_any_window_at_every_length(void **state)
{
	unsigned int i, alone;

	for (i = 0; i < ARRAY_SIZE(lengths_ms); i++)
		for (alone = 0; alone < 2; alone++) {
			struct sim_setup setup = sim_cap(10, alone, 1, lengths_ms[i] * MS);
			struct sim_spans spans = { 0 };
			struct sim_result result;

			setup.command_ns = SIM_COMMAND_NS;
			setup.duration_ns = 10 * NSEC_PER_SEC;
			result = simulate(setup, &spans);
			assert_true(sim_most_in_window(&spans, 0, WINDOW_NS) <=
				    WINDOW_NS / 10 + SIM_COMMAND_NS + SIM_SWITCH_NS);
			assert_true(sim_longest_pause(&spans, 0) <= WINDOW_NS + SIM_LONG_NS);
			assert_true(sim_cap_error(&setup, &result) <= 0.02);
			sim_spans_free(&spans);
		}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(newcomer_starts_level_with_what_the_running_vgpu_has_had),
		TEST(newcomer_starts_level_with_the_vgpu_that_has_just_left),
		TEST(a_waking_vgpu_is_placed_a_tenth_of_a_window_behind_the_running_one),
		TEST(budgets_are_charged_while_the_workload_runs),
		TEST(missed_ticks_refill_before_later_time_is_charged),
		TEST(a_job_that_has_not_begun_costs_nothing),
		TEST(completion_refunds_time_charged_after_the_end),
		TEST(a_job_that_has_ended_is_charged_to_its_end),
		TEST(a_new_weight_counts_from_now_on),
		TEST(a_new_policy_is_charged_for_the_rest_only),
		TEST(a_lone_vgpu_is_preempted_when_its_cap_is_used_up),
		TEST(a_cap_that_is_set_holds_for_the_workload_that_runs),
		TEST(the_timeout_after_a_used_up_cap_starts_when_another_waits),
		TEST(a_cap_of_100_percent_does_not_limit),
		TEST(debt_is_one_window_at_most),
		TEST(unused_time_of_more_than_one_window_is_lost),
		TEST(a_new_window_length_keeps_the_used_time),
		TEST(no_window_gets_more_than_the_cap),
		cmocka_unit_test(newcomer_and_incumbent_share_by_weight_at_every_length),
		cmocka_unit_test(sleeping_and_waking_gains_no_time_at_any_length),
		cmocka_unit_test(caps_hold_in_any_window_at_every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
