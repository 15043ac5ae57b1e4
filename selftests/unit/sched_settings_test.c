// SPDX-License-Identifier: GPL-2.0-only
/* Settings, knobs and policies: ranges, defaults, and changes while workloads wait. */
#include "sched/policy_credit.h"
#include "sched_by_hand.h"

/* Settings and knobs change while workloads wait. */

/* vGPU 0 has had @lead_ns more of the engine than vGPU 1, and both wait while vGPU 2 runs. */
static void wait_with_a_lead(u64 lead_ns)
{
	submit(0);
	ghyvi_sched_queue(sched, &players[1].base);
	leave(lead_ns + MS, GHYVI_JOB_COMPLETE);
	assert_runs(1);
	leave(MS, GHYVI_JOB_COMPLETE);
	submit(2);
	assert_runs(2);
	submit_both();
}

static void a_priority_is_worth_timeslices_also_for_waiting_vgpus(void **state)
{
	set_knobs(0, 100, 0, GHYVI_SCHED_PRIORITY_MAX);
	set_settings(10000, 100000);
	wait_with_a_lead(5 * MS);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	drain();

	wait_with_a_lead(5 * MS);
	set_settings(100, 100000); /* 0.7 ms of a lead are forgiven now, not 70 */
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(1);
	drain();
}

static void knobs_take_effect_for_waiting_vgpus_at_once(void **state)
{
	set_settings(10000, 100000);
	wait_with_a_lead(5 * MS);
	set_knobs(0, 100, 0, GHYVI_SCHED_PRIORITY_MAX);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	drain();
}

static void submit_on(unsigned int engine, unsigned int i)
{
	players[i].base.job.engine = engine;
	ghyvi_sched_queue(sched, &players[i].base);
	ghyvi_sched_kick(sched, engine);
}

/* As wait_with_a_lead(), of 5 ms, on another engine. */
static void wait_on(unsigned int engine)
{
	set_settings(10000, 100000);
	submit_on(engine, 0);
	leave(5 * MS, GHYVI_JOB_COMPLETE);
	submit_on(engine, 1);
	leave(MS, GHYVI_JOB_COMPLETE);
	submit_on(engine, 2);
	submit_on(engine, 0);
	submit_on(engine, 1);
	assert_runs(2);
}

static void knobs_and_settings_take_effect_on_every_engine(void **state)
{
	unsigned int engine, i;

	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		wait_on(engine);
		set_knobs(0, 100, 0, GHYVI_SCHED_PRIORITY_MAX);
		leave(MS, GHYVI_JOB_COMPLETE);
		assert_runs(0);
		for (i = 0; i < 2; i++)
			leave(MS, GHYVI_JOB_COMPLETE);
		now += 1000 * MS;
		wait_on(engine);
		set_settings(100, 100000);
		leave(MS, GHYVI_JOB_COMPLETE);
		assert_runs(1);
		for (i = 0; i < 2; i++)
			leave(MS, GHYVI_JOB_COMPLETE);
		set_knobs(0, 100, 0, 0);
	}
}

static void a_weight_counts_from_its_change_on_every_engine(void **state)
{
	unsigned int engine;
	u64 before;

	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		set_knobs(0, 100, 0, 0);
		submit_on(engine, 0);
		before = players[0].entity->rqs[engine].fair.vtime;
		gpu.job->begun_ns = now;
		now += 10 * MS;
		set_knobs(0, 200, 0, 0);
		assert_int_equal(players[0].entity->rqs[engine].fair.vtime, before + 10 * MS);
		leave(10 * MS, GHYVI_JOB_COMPLETE);
	}
}

static void settings_change_while_workloads_wait_on_every_engine(void **state)
{
	static const char *const policies[] = { "fifo", "credit", "band", "fair" };
	unsigned int engine, i;

	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		for (i = 0; i < VGPUS; i++) {
			players[i].base.job.engine = engine;
			ghyvi_sched_queue(sched, &players[i].base);
		}
		ghyvi_sched_kick(sched, engine);
		for (i = 0; i < ARRAY_SIZE(policies); i++) {
			assert_int_equal(ghyvi_sched_set_policy(sched, policies[i]), 0);
			set_settings(1000 + i, 2000 + i);
			assert_int_equal(sched->engines[engine].nr_enqueued, VGPUS - 1);
		}
		for (i = 0; i < VGPUS; i++)
			leave(MS, GHYVI_JOB_COMPLETE);
		assert_null(gpu.job);
		assert_int_equal(sched->engines[engine].nr_enqueued, 0);
	}
	for (i = 0; i < VGPUS; i++)
		assert_int_equal(players[i].completed, GHYVI_ENGINES);
}

static void settings_accept_both_ends_of_their_ranges(void **state)
{
	static const struct ghyvi_sched_settings good[] = {
		{ GHYVI_SCHED_TIMESLICE_MIN_US, GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US,
		  GHYVI_SCHED_WINDOW_MIN_US },
		{ GHYVI_SCHED_TIMESLICE_MAX_US, GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US,
		  GHYVI_SCHED_WINDOW_MAX_US },
		{ GHYVI_SCHED_TIMESLICE_MAX_US, 0, GHYVI_SCHED_WINDOW_MAX_US },
	};
	static const struct ghyvi_sched_settings steps[] = { { 1, 0, 0 },
							     { 0, 1, 0 },
							     { 0, 0, 1 } };
	struct ghyvi_sched_settings bad, is;
	unsigned int i, step;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(ghyvi_sched_set_settings(sched, &good[i]), 0);
		ghyvi_sched_get_settings(sched, &is);
		assert_memory_equal(&is, &good[i], sizeof(is));
		for (step = 0; step < ARRAY_SIZE(steps) && i < 2; step++) {
			bad = good[i];
			bad.timeslice_us += i ? steps[step].timeslice_us :
						-steps[step].timeslice_us;
			bad.preempt_timeout_us += i ? steps[step].preempt_timeout_us :
						      -steps[step].preempt_timeout_us;
			bad.window_us += i ? steps[step].window_us : -steps[step].window_us;
			assert_int_equal(ghyvi_sched_set_settings(sched, &bad), -EINVAL);
		}
	}
	set_knobs(0, GHYVI_SCHED_WEIGHT_MIN, 0, 0);
	set_knobs(0, GHYVI_SCHED_WEIGHT_MAX, GHYVI_SCHED_CAP_MAX, GHYVI_SCHED_PRIORITY_MAX);
}

/* Defaults of a new scheduler and of a new vGPU, and knobs that were set are read back. */
static void settings_and_knobs_begin_with_the_defaults(void **state)
{
	static const struct ghyvi_sched_knobs wanted = { .weight = 7, .cap = 9, .priority = 3 };
	struct ghyvi_sched_settings settings;
	struct ghyvi_sched_knobs knobs;

	ghyvi_sched_get_settings(sched, &settings);
	assert_int_equal(settings.timeslice_us, GHYVI_SCHED_TIMESLICE_DEFAULT_US);
	assert_int_equal(settings.preempt_timeout_us, GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US);
	assert_int_equal(settings.window_us, GHYVI_SCHED_WINDOW_DEFAULT_US);
	ghyvi_sched_get_knobs(players[0].entity, &knobs);
	assert_int_equal(knobs.weight, GHYVI_SCHED_WEIGHT_DEFAULT);
	assert_int_equal(knobs.cap, 0);
	assert_int_equal(knobs.priority, 0);
	assert_int_equal(ghyvi_sched_set_knobs(players[0].entity, &wanted), 0);
	ghyvi_sched_get_knobs(players[0].entity, &knobs);
	assert_memory_equal(&knobs, &wanted, sizeof(knobs));
}

/* One knob is out of range by one. */
static void knobs_out_of_range_by_one_change_nothing(void **state)
{
	static const struct ghyvi_sched_knobs bad[] = {
		{ GHYVI_SCHED_WEIGHT_MIN - 1, GHYVI_SCHED_CAP_MAX, GHYVI_SCHED_PRIORITY_MAX },
		{ GHYVI_SCHED_WEIGHT_MAX + 1, 0, 0 },
		{ GHYVI_SCHED_WEIGHT_MAX, GHYVI_SCHED_CAP_MAX + 1, 0 },
		{ GHYVI_SCHED_WEIGHT_MAX, 0, GHYVI_SCHED_PRIORITY_MAX + 1 },
	};
	struct ghyvi_sched_knobs knobs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(ghyvi_sched_set_knobs(players[0].entity, &bad[i]), -EINVAL);
		ghyvi_sched_get_knobs(players[0].entity, &knobs);
		assert_int_equal(knobs.weight, GHYVI_SCHED_WEIGHT_DEFAULT);
	}
}

/* All engines have the active policy; a short buffer gets a truncated list. */
static void the_list_of_policies_fits_its_buffer(void **state)
{
	static const char all[] = "fifo [credit] band fair\n";
	char text[sizeof(all) + 1];
	size_t bytes;
	unsigned int i;

	assert_int_equal(ghyvi_sched_set_policy(sched, "credit"), 0);
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_ptr_equal(sched->engines[i].policy, &ghyvi_sched_credit);
	assert_int_equal(ghyvi_sched_policy_list(sched, text, sizeof(text)), sizeof(all) - 1);
	assert_string_equal(text, all);
	for (bytes = 1; bytes < sizeof(all); bytes++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(ghyvi_sched_policy_list(sched, text, bytes), bytes - 1);
		assert_memory_equal(text, all, bytes - 1);
		assert_int_equal(text[bytes - 1], 0);
		assert_int_equal(text[bytes], 'x');
	}
}

/* A switch resets the policies' state; the running job stays. */
static void a_policy_starts_without_state_of_the_previous_one(void **state)
{
	struct sched_engine *engine = &sched->engines[GHYVI_RCS];
	struct sched_rq *run = &players[0].entity->rqs[GHYVI_RCS];

	set_settings(1000, 2000);
	submit_both();
	fire_after(MS);
	assert_int_equal(gpu.preempts, 1);
	run->fair.vtime = engine->fair.vtime = 5;
	credit_rq(run)->left_ns = 6;
	credit_engine(engine)->wait_until = 7;
	now += MS / 2;
	assert_int_equal(ghyvi_sched_set_policy(sched, "fair"), 0);
	assert_int_equal(run->fair.vtime, 5); /* no switch */
	assert_int_equal(ghyvi_sched_set_policy(sched, "band"), 0);
	assert_int_equal(run->fair.vtime, 0);
	assert_int_equal(credit_rq(run)->left_ns, 0);
	assert_int_equal(engine->fair.vtime, 0);
	assert_int_equal(credit_engine(engine)->wait_until, 0);
	assert_int_equal(credit_engine(engine)->window_start, now);
	assert_int_equal(engine->next_tick, now + CREDIT_PERIOD_NS);
	assert_int_equal(engine->nr_enqueued, 1);
	assert_int_equal(engine->preempt_requested_ns,
			 0); /* it is preempted again after the new slice */
	assert_int_equal(gpu.preempts, 1);
	assert_int_equal(armed[GHYVI_RCS], NSEC_PER_SEC + 2 * MS);
	fire_after(MS / 2);
	assert_int_equal(gpu.preempts, 2);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/*
 * A thread of another VMM, with the lock that only changes of the policy take: the three calls are
 * made when a VMM pauses, saves and loads its vGPU.
 */
static _Atomic bool vmm_went_on;

static void *pause_save_and_load(void *unused)
{
	struct ghyvi_sched_settings settings;
	struct ghyvi_sched_knobs knobs;

	ghyvi_sched_get_settings(sched, &settings);
	ghyvi_sched_get_knobs(players[0].entity, &knobs);
	assert_int_equal(ghyvi_sched_set_knobs(players[0].entity, &knobs), 0);
	vmm_went_on = true;
	return NULL;
}

static void a_vmm_does_not_wait_for_a_change_of_the_policy(void **state)
{
	bool waited;
	pthread_t thread;
	unsigned int ms;

	vmm_went_on = false;
	mutex_lock(&sched->policy_lock);
	assert_int_equal(pthread_create(&thread, NULL, pause_save_and_load, NULL), 0);
	for (ms = 0; !vmm_went_on && ms < 2000; ms++)
		usleep_range(1000, 1100);
	waited = !vmm_went_on;
	mutex_unlock(&sched->policy_lock);
	pthread_join(thread, NULL);
	assert_false(waited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_priority_is_worth_timeslices_also_for_waiting_vgpus),
		TEST(knobs_take_effect_for_waiting_vgpus_at_once),
		TEST(knobs_and_settings_take_effect_on_every_engine),
		TEST(a_weight_counts_from_its_change_on_every_engine),
		TEST(settings_change_while_workloads_wait_on_every_engine),
		TEST(settings_accept_both_ends_of_their_ranges),
		TEST(settings_and_knobs_begin_with_the_defaults),
		TEST(knobs_out_of_range_by_one_change_nothing),
		TEST(the_list_of_policies_fits_its_buffer),
		TEST(a_policy_starts_without_state_of_the_previous_one),
		TEST(a_vmm_does_not_wait_for_a_change_of_the_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
