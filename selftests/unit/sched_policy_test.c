// SPDX-License-Identifier: GPL-2.0-only
/* The guarantees of each policy, under a virtual clock; and the knobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"
#include "../../tools/sched-sim/experiments.h"

#define DURATION_NS (10 * NSEC_PER_SEC)
#define assert_near(value, wanted, within) \
	assert_true((value) >= (wanted) - (within) && (value) <= (wanted) + (within))
#define assert_at_least(value, least) assert_true((value) >= (least))
#define assert_at_most(value, most) assert_true((value) <= (most))

static struct sim_result run(struct sim_setup setup)
{
	struct sim_result result;

	setup.duration_ns = min(setup.duration_ns, DURATION_NS);
	assert_int_equal(sim_run(&setup, &result), 0);
	return result;
}

static struct sim_result isolation(const char *policy, unsigned int vgpus, unsigned int depth)
{
	return run(sim_isolation(policy, vgpus, depth, SIM_SHORT_NS, SIM_LONG_NS));
}

static void fifo_and_credit_give_time_by_length(void **state)
{
	struct sim_result fifo = isolation("fifo", 2, 1), credit = isolation("credit", 2, 1);

	assert_near(fifo.jain_1s, 0.665, 0.005);
	assert_near(credit.jain_1s, 0.665, 0.005);
	assert_at_least(fifo.utilisation, 0.998);
	assert_near(fifo.share[1] / fifo.share[0], 5.9, 0.05);
}

static void band_isolates_two_and_idles(void **state)
{
	struct sim_result result = isolation("band", 2, 1);

	assert_at_least(result.jain_1s, 0.98);
	assert_near(result.utilisation, 0.98, 0.01);
}

static void fair_isolates_whatever_the_depth(void **state)
{
	unsigned int depth, vgpus;

	for (vgpus = 2; vgpus <= 4; vgpus += 2)
		for (depth = 1; depth <= 2; depth++) {
			double fifo = isolation("fifo", vgpus, depth).utilisation;
			struct sim_result fair = isolation("fair", vgpus, depth);

			assert_at_least(fair.jain_1s_min, 0.999);
			/* 4 cannot do better than 0.991: sim_even() */
			assert_at_least(fair.jain_100ms_p5, vgpus == 2 ? 0.99 : 0.985);
			assert_at_most(fair.max_lag, 1.0);
			assert_at_least(fair.utilisation, (depth == 1 ? 0.975 : 0.99) * fifo);
		}
}

static void fair_lags_one_request_at_most_for_many_and_for_1_to_100(void **state)
{
	static const unsigned int vgpus[] = { 2, 4, 16 };
	unsigned int i, depth;

	for (i = 0; i < ARRAY_SIZE(vgpus); i++)
		for (depth = 1; depth <= 2; depth++) {
			struct sim_result same = isolation("fair", vgpus[i], depth);
			struct sim_result hundred = run(sim_isolation(
				"fair", vgpus[i], depth, SIM_SHORT_NS, 100 * SIM_SHORT_NS));

			assert_at_most(same.max_lag, 1.0);
			assert_at_least(same.jain, 0.999);
			assert_at_least(same.utilisation, 0.975);
			assert_at_most(hundred.max_lag, 1.0);
			assert_at_least(hundred.utilisation, 0.975);
		}
}

static void preemption_makes_sixteen_fair_within_100_ms(void **state)
{
	static const u64 lengths[] = { SIM_LONG_NS, 100 * SIM_SHORT_NS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct sim_setup setup = sim_isolation("fair", 16, 1, SIM_SHORT_NS, lengths[i]);
		struct sim_result result;

		setup.command_ns = SIM_COMMAND_NS;
		result = run(setup);
		assert_at_least(result.jain_1s_min, 0.999);
		assert_at_least(result.jain_100ms_p5, 0.99);
		assert_at_least(result.utilisation, 0.99);
		assert_at_most(result.max_lag, 1.0);
		assert_true(result.preemptions > 0);
	}
}

/* Two vGPUs with equal demand. Preparing a request of one takes as long as the request. */
static void preparation_is_charged_to_its_vgpu(void **state)
{
	static const char *const policies[] = { "fair", "band" };
	unsigned int i, depth;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		for (depth = 1; depth <= 2; depth++) {
			struct sim_setup setup =
				sim_isolation(policies[i], 2, depth, SIM_SHORT_NS, SIM_SHORT_NS);
			struct sim_result result;

			setup.vgpu[1].prepare_ns = SIM_SHORT_NS;
			result = run(setup);
			assert_at_least(result.share[0] * result.utilisation, 0.48);
			assert_at_least(result.share[1] * result.utilisation, 0.235);
		}
}

static void a_vgpu_that_starts_late_gets_its_share_and_no_more(void **state)
{
	struct sim_setup setup = sim_isolation("fair", 2, 1, SIM_SHORT_NS, SIM_LONG_NS);
	unsigned int late;

	for (late = 0; late < 2; late++) {
		struct sim_result result;

		setup.vgpu[late].start_ns = 5 * NSEC_PER_SEC;
		setup.vgpu[!late].start_ns = 0;
		result = run(setup);
		assert_at_most(result.max_lag, 1.0);
		assert_at_least(result.jain_1s_min, 0.999);
	}
}

static void weights_are_kept(void **state)
{
	unsigned int depth;

	for (depth = 1; depth <= 2; depth++) {
		struct sim_setup setup = sim_weights(depth);
		struct sim_result result = run(setup);

		assert_at_most(sim_weights_error(&setup, &result), 0.02);
	}
}

static void caps_are_kept_alone_and_in_company(void **state)
{
	static const unsigned int percent[] = { 5, 20, 45 };
	unsigned int i, alone, depth;

	for (i = 0; i < ARRAY_SIZE(percent); i++)
		for (alone = 0; alone < 2; alone++)
			for (depth = 1; depth <= 2; depth++) {
				struct sim_setup setup =
					sim_cap(percent[i], alone, depth, SIM_SHORT_NS);
				struct sim_result result = run(setup);

				/*
				 * Alone. Beside workloads of SIM_LONG_NS that cannot be interrupted
				 * it may come late by one of them in each window, which no other
				 * window makes up for.
				 */
				assert_at_most(sim_cap_error(&setup, &result),
					       alone ? 0.02 : SIM_LONG_NS / 1e8);
				if (!alone)
					assert_at_least(result.utilisation, 0.97);
			}
}

static void no_submission_pattern_gains_gpu_time(void **state)
{
	unsigned int i, depth;

	for (i = 0; i < sim_nr_games; i++)
		for (depth = 1; depth <= 2; depth++) {
			struct sim_result result = run(sim_play(&sim_games[i], depth));

			if (result.share[1] * result.utilisation > 0.51)
				fail_msg("%s: %.3f", sim_games[i].name, result.share[1]);
		}
}

static void a_sleeper_costs_no_other_vgpu_time(void **state)
{
	struct sim_setup setup = sim_isolation("fair", 2, 1, SIM_SHORT_NS, SIM_SHORT_NS);
	struct sim_result result;

	setup.vgpu[1].think_ns = 20 * SIM_SHORT_NS; /* not worth waiting for */
	result = run(setup);
	assert_at_least(result.share[0] * result.utilisation, 0.90);
	assert_at_most(result.max_wait_ns, SIM_SHORT_NS + SIM_SWITCH_NS);
}

static void endless_work_costs_the_others_its_share_and_one_timeout(void **state)
{
	struct sim_result result = run(sim_endless("fair"));

	assert_true(result.errors[1] > 0);
	assert_int_equal(result.errors[0] + result.errors[2], 0);
	/* timeslice, timeout, and what the two others have queued */
	assert_at_most(result.max_wait_ns, (2 + 100 + 4) * NSEC_PER_MSEC);
	assert_at_most(result.share[1], 0.34);
	assert_true(run(sim_endless("fifo")).errors[1] > 0);
}

static void priority_runs_first_but_gets_no_larger_share(void **state)
{
	struct sim_setup setup = sim_isolation("fair", 4, 1, SIM_SHORT_NS, SIM_SHORT_NS);
	struct sim_result result;

	setup.vgpu[0].priority = GHYVI_SCHED_PRIORITY_MAX;
	result = run(setup);
	assert_near(result.share[0], 0.25, 0.005);
}

/* The think time that "fair" measures. */

#define THINK_NS 200000
#define TURNS 20

static u64 hand_now;
static enum ghyvi_job_status last_status;

static u64 hand_clock_now(struct ghyvi_sched_clock *clock)
{
	return hand_now;
}

static void hand_clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
}

static int hand_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	return 0;
}

static struct ghyvi_sched_clock hand_clock = { .now = hand_clock_now, .arm = hand_clock_arm };
static const struct ghyvi_pgpu_ops hand_ops = { .run = hand_run };
static struct ghyvi_pgpu_device hand_device = { .ops = &hand_ops };

/* The preempted one is back in the queue 2 us later. */
static void hand_complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	last_status = status;
	if (status != GHYVI_JOB_PREEMPTED)
		return;
	hand_now += 2000;
	ghyvi_sched_queue(workload->sched, workload);
}

static void preemption_does_not_count_as_think_time(void **state)
{
	struct ghyvi_sched *by_hand = ghyvi_sched_create_on(&hand_device, &hand_clock);
	struct ghyvi_sched_entity *entity = ghyvi_sched_entity_create(by_hand, NULL, NULL);
	struct ghyvi_workload workload = { .owner = entity, .complete = hand_complete };
	const struct sched_rq *rq = &entity->rqs[GHYVI_RCS];
	unsigned int i, turn;

	hand_now = NSEC_PER_SEC;
	for (i = 0; i < 10; i++) {
		hand_now += THINK_NS;
		ghyvi_sched_queue(by_hand, &workload);
		ghyvi_sched_kick(by_hand, GHYVI_RCS);
		for (turn = 0; turn < TURNS; turn++) {
			workload.job.busy_ns = 2 * NSEC_PER_MSEC;
			hand_now += workload.job.busy_ns;
			workload.job.done(&workload.job, turn == TURNS - 1 ? GHYVI_JOB_COMPLETE :
									     GHYVI_JOB_PREEMPTED);
			/* Only a vGPU whose workload has completed is anticipated. */
			assert_int_equal(!hlist_unhashed(&rq->fair.anticipated),
					 i > 0 && turn == TURNS - 1);
		}
		assert_int_equal(last_status, GHYVI_JOB_COMPLETE);
	}
	assert_near(rq->fair.think_ns, THINK_NS, 8);
	ghyvi_sched_entity_destroy(entity);
	ghyvi_sched_destroy(by_hand);
}

/* Knobs and settings, on the host's clock. */

static const struct ghyvi_pgpu_ops no_ops;
static struct ghyvi_pgpu_device no_device = { .ops = &no_ops };
static struct ghyvi_sched *sched;

static int setup(void **state)
{
	sched = ghyvi_sched_create(&no_device);
	return IS_ERR(sched);
}

static int teardown(void **state)
{
	ghyvi_sched_destroy(sched);
	return 0;
}

static void policies_are_listed_and_switched_by_name(void **state)
{
	char text[64];

	ghyvi_sched_policy_list(sched, text, sizeof(text));
	assert_string_equal(text, "fifo credit band [fair]\n");
	assert_int_equal(ghyvi_sched_set_policy(sched, "band"), 0);
	assert_int_equal(ghyvi_sched_set_policy(sched, "tbs"), -EINVAL);
	assert_int_equal(ghyvi_sched_set_policy(sched, ""), -EINVAL);
	ghyvi_sched_policy_list(sched, text, sizeof(text));
	assert_string_equal(text, "fifo credit [band] fair\n");
}

static void knobs_out_of_range_change_nothing(void **state)
{
	static const struct ghyvi_sched_knobs bad[] = {
		{ .weight = 0 },
		{ .weight = 1001 },
		{ .weight = 1, .cap = 101 },
		{ .weight = 1, .priority = 8 },
	};
	struct ghyvi_sched_entity *entity = ghyvi_sched_entity_create(sched, NULL, NULL);
	struct ghyvi_sched_knobs knobs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ghyvi_sched_set_knobs(entity, &bad[i]), -EINVAL);
	ghyvi_sched_get_knobs(entity, &knobs);
	assert_int_equal(knobs.weight, 100);
	assert_int_equal(knobs.cap, 0);
	assert_int_equal(knobs.priority, 0);
	knobs = (struct ghyvi_sched_knobs){ .weight = 1000, .cap = 100, .priority = 7 };
	assert_int_equal(ghyvi_sched_set_knobs(entity, &knobs), 0);
	ghyvi_sched_entity_destroy(entity);
}

static void settings_out_of_range_change_nothing(void **state)
{
	struct ghyvi_sched_settings good, bad;

	ghyvi_sched_get_settings(sched, &good);
	bad = good;
	bad.timeslice_us = 99;
	assert_int_equal(ghyvi_sched_set_settings(sched, &bad), -EINVAL);
	bad = good;
	bad.preempt_timeout_us = 999;
	assert_int_equal(ghyvi_sched_set_settings(sched, &bad), -EINVAL);
	bad = good;
	bad.window_us = 1000001;
	assert_int_equal(ghyvi_sched_set_settings(sched, &bad), -EINVAL);
	ghyvi_sched_get_settings(sched, &bad);
	assert_memory_equal(&good, &bad, sizeof(good));
	good.preempt_timeout_us = 0;
	assert_int_equal(ghyvi_sched_set_settings(sched, &good), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifo_and_credit_give_time_by_length),
		cmocka_unit_test(band_isolates_two_and_idles),
		cmocka_unit_test(fair_isolates_whatever_the_depth),
		cmocka_unit_test(fair_lags_one_request_at_most_for_many_and_for_1_to_100),
		cmocka_unit_test(preemption_makes_sixteen_fair_within_100_ms),
		cmocka_unit_test(preparation_is_charged_to_its_vgpu),
		cmocka_unit_test(a_vgpu_that_starts_late_gets_its_share_and_no_more),
		cmocka_unit_test(weights_are_kept),
		cmocka_unit_test(caps_are_kept_alone_and_in_company),
		cmocka_unit_test(no_submission_pattern_gains_gpu_time),
		cmocka_unit_test(a_sleeper_costs_no_other_vgpu_time),
		cmocka_unit_test(endless_work_costs_the_others_its_share_and_one_timeout),
		cmocka_unit_test(priority_runs_first_but_gets_no_larger_share),
		cmocka_unit_test(preemption_does_not_count_as_think_time),
		TEST(policies_are_listed_and_switched_by_name),
		TEST(knobs_out_of_range_change_nothing),
		TEST(settings_out_of_range_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
