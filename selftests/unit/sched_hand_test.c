// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler step by step: clock and pGPU are the test's, and nothing happens that the test does not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC

struct player {
	struct ghyvi_workload base;
	u32 context[GHYVI_CTX_DWORDS];
	struct ghyvi_sched_entity *entity;
	struct ghyvi_stats stats;
	int prepare_result;
	bool cancel_in_prepare;
	_Atomic int completed;
	enum ghyvi_job_status status;
};

static struct ghyvi_sched *sched;
static struct player players[VGPUS];
static u64 now;
static u64 armed[GHYVI_ENGINES];

static struct {
	struct ghyvi_job *job; /* on the engine */
	unsigned int runs, preempts, cancels;
	int run_result;
	void (*in_cancel)(void);
} gpu;

static u64 clock_now(void *clock)
{
	return now;
}

static void clock_arm(void *clock, enum ghyvi_engine_id engine, u64 at)
{
	armed[engine] = at;
}

static const struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static int gpu_run(void *pgpu, struct ghyvi_job *job)
{
	assert_null(gpu.job);
	gpu.runs++;
	if (!gpu.run_result)
		gpu.job = job;
	return gpu.run_result;
}

static void gpu_preempt(void *pgpu, struct ghyvi_job *job)
{
	assert_ptr_equal(job, gpu.job);
	gpu.preempts++;
}

static void gpu_cancel(void *pgpu, struct ghyvi_job *job)
{
	assert_ptr_equal(job, gpu.job);
	gpu.cancels++;
	if (gpu.in_cancel)
		gpu.in_cancel();
}

static const struct ghyvi_pgpu_ops ops = { .run = gpu_run, .preempt = gpu_preempt, .cancel = gpu_cancel };

static int prepare(struct ghyvi_workload *base)
{
	struct player *player = container_of(base, struct player, base);

	if (player->cancel_in_prepare)
		assert_false(ghyvi_sched_cancel(sched, base));
	return player->prepare_result;
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct player *player = container_of(base, struct player, base);

	player->status = status;
	player->completed++;
}

static int setup(void **state)
{
	struct player *player;

	memset(players, 0, sizeof(players));
	memset(&gpu, 0, sizeof(gpu));
	now = NSEC_PER_SEC;
	shim_quiet = true;
	sched = ghyvi_sched_create_on(&ops, NULL, &by_hand, NULL);
	for (player = players; player < players + VGPUS; player++) {
		player->entity = ghyvi_sched_entity_create(sched, &player->stats, NULL);
		player->base.owner = player->entity;
		player->base.prepare = prepare;
		player->base.complete = complete;
		player->base.job.context = player->context;
	}
	return IS_ERR(sched);
}

static void submit(unsigned int i)
{
	ghyvi_sched_queue(sched, &players[i].base);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
}

/* The engine was busy for @ns with what it has, and that leaves. */
static void leave(u64 ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = gpu.job;

	assert_non_null(job);
	now += ns;
	gpu.job = NULL;
	job->busy_ns = ns;
	job->done(job, status);
}

/* The time that the scheduler asked for has come; or not yet, and it is woken for nothing. */
static void fire(void)
{
	armed[GHYVI_RCS] = GHYVI_SCHED_NEVER;
	ghyvi_sched_timer(sched, GHYVI_RCS);
}

static void fire_after(u64 ns)
{
	now += ns;
	fire();
}

/* All that is queued runs, and the engine is idle for long. */
static void drain(void)
{
	while (gpu.job || sched->engines[GHYVI_RCS].nr_waiting) {
		if (gpu.job)
			leave(MS, GHYVI_JOB_COMPLETE);
		else
			fire_after(MS);
	}
	now += 100 * MS;
}

static int teardown(void **state)
{
	unsigned int i;

	drain(); /* if the test failed */
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(players[i].entity);
	ghyvi_sched_destroy(sched);
	return 0;
}

static void assert_runs(unsigned int i)
{
	assert_ptr_equal(gpu.job, &players[i].base.job);
}

static void set_settings(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}

static void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap, .priority = priority };

	assert_int_equal(ghyvi_sched_set_knobs(players[i].entity, &knobs), 0);
}

/* The backend stops a workload; meanwhile the same workload leaves the engine by itself. */

static pthread_t engine_thread;
static _Atomic bool done_is_called, done_returned;

static void *leave_meanwhile(void *job)
{
	done_is_called = true;
	((struct ghyvi_job *)job)->busy_ns = 50 * MS;
	((struct ghyvi_job *)job)->done(job, GHYVI_JOB_CANCELLED);
	done_returned = true;
	return NULL;
}

static void leave_while_cancelled(void)
{
	struct ghyvi_job *job = gpu.job;
	unsigned int i;

	gpu.job = NULL;
	pthread_create(&engine_thread, NULL, leave_meanwhile, job);
	while (!done_is_called)
		usleep_range(100, 200);
	for (i = 0; i < 50; i++) {
		usleep_range(1000, 1000);
		/* Its owner could free it, and the backend still has its address. */
		assert_int_equal(players[0].completed, 0);
		assert_false(done_returned);
	}
}

static void a_workload_stays_while_the_backend_stops_it(void **state)
{
	done_is_called = done_returned = false;
	set_settings(1000, 2000);
	submit(0);
	assert_runs(0);
	submit(1);
	now += 2 * MS;
	fire();
	assert_int_equal(gpu.preempts, 1);
	gpu.in_cancel = leave_while_cancelled;
	now += 2 * MS;
	fire();
	pthread_join(engine_thread, NULL);
	gpu.in_cancel = NULL;
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(players[0].completed, 1);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&players[0].stats.preempt_timeouts_rcs), 1);
	/* It was handed back once, and the engine went to the other one. */
	assert_runs(1);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[1].completed, 1);
}

static void knobs_change_while_stopping(void)
{
	struct ghyvi_sched_settings settings;

	/* Reviews the engine; the workload is being stopped already. */
	now += 10 * MS;
	ghyvi_sched_settings(sched, &settings);
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
	fire();
}

static void a_workload_is_stopped_by_one_thread_at_a_time(void **state)
{
	set_settings(1000, 2000);
	submit(0);
	submit(1);
	now += 2 * MS;
	fire();
	gpu.in_cancel = knobs_change_while_stopping;
	now += 2 * MS;
	fire();
	assert_int_equal(gpu.cancels, 1);
	/* The backend did not have it yet, perhaps: it is stopped once more, preempt_timeout_us later. */
	gpu.in_cancel = NULL;
	assert_int_equal(armed[GHYVI_RCS], now - 10 * MS + 2 * MS);
	fire();
	assert_int_equal(gpu.cancels, 2);
	leave(0, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].status, GHYVI_JOB_PREEMPTED);
	assert_int_equal(atomic64_read(&players[0].stats.preempt_timeouts_rcs), 0);
	assert_runs(1);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* When the running one is asked to leave, and stopped. */

static void it_is_asked_after_a_timeslice_and_stopped_after_the_timeout(void **state)
{
	u64 asked_at;

	set_settings(1000, 2000);
	submit(0);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER); /* alone */
	submit(1);
	asked_at = armed[GHYVI_RCS];
	assert_int_equal(asked_at, now + 1 * MS);
	now = asked_at - 1;
	fire();
	assert_int_equal(gpu.preempts, 0);
	assert_int_equal(armed[GHYVI_RCS], asked_at);
	now = asked_at;
	fire();
	assert_int_equal(gpu.preempts, 1);
	assert_int_equal(atomic64_read(&players[0].stats.preempt_requests_rcs), 1);
	assert_int_equal(armed[GHYVI_RCS], asked_at + 2 * MS);
	now = asked_at + 2 * MS - 1;
	fire();
	assert_int_equal(gpu.cancels, 0);
	now = asked_at + 2 * MS;
	fire();
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(gpu.preempts, 1);
	leave(0, GHYVI_JOB_PREEMPTED);
	leave(MS, GHYVI_JOB_COMPLETE);
}

static void the_timeout_counts_only_while_others_wait(void **state)
{
	unsigned int i;
	u64 since;

	set_settings(1000, 2000);
	submit(0);
	submit(1);
	fire_after(1 * MS);
	assert_int_equal(gpu.preempts, 1);
	assert_true(ghyvi_sched_cancel(sched, &players[1].base));
	fire_after(5 * MS);
	assert_int_equal(gpu.cancels, 0);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER);
	/* The next one that waits waits as long. */
	since = now;
	submit(1);
	for (i = 0; i < 3 && !gpu.cancels; i++)
		fire_after(armed[GHYVI_RCS] - now);
	assert_int_equal(gpu.cancels, 1);
	assert_in_range(now - since, 2 * MS, 3 * MS);
	leave(MS, GHYVI_JOB_CANCELLED);
	leave(MS, GHYVI_JOB_COMPLETE);
}

static void without_a_timeout_it_is_asked_and_never_stopped(void **state)
{
	set_settings(1000, 0);
	submit(0);
	submit(1);
	now += 1 * MS;
	fire();
	assert_int_equal(gpu.preempts, 1);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER);
	now += 1000 * MS;
	fire();
	assert_int_equal(gpu.cancels, 0);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* Under policies that have no opinion: fifo and its like. */
static void a_policy_without_a_slice_leaves_the_longer_of_slice_and_timeout(void **state)
{
	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	set_settings(1000, 5000);
	submit(0);
	submit(1);
	assert_int_equal(armed[GHYVI_RCS], now + 5 * MS);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
	set_settings(10000, 5000);
	submit(0);
	submit(1);
	assert_int_equal(armed[GHYVI_RCS], now + 10 * MS);
	set_settings(10000, 0);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
}

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
	submit(0);
	submit(1);
}

static void a_priority_is_worth_timeslices_also_for_those_that_wait(void **state)
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

static void knobs_count_also_for_those_that_wait(void **state)
{
	set_settings(10000, 100000);
	wait_with_a_lead(5 * MS);
	set_knobs(0, 100, 0, GHYVI_SCHED_PRIORITY_MAX);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	drain();
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
		ghyvi_sched_kick(sched, engine, NULL);
		for (i = 0; i < ARRAY_SIZE(policies); i++) {
			assert_int_equal(ghyvi_sched_set_policy(sched, policies[i]), 0);
			set_settings(1000 + i, 2000 + i);
			assert_int_equal(sched->engines[engine].nr_waiting, VGPUS - 1);
		}
		for (i = 0; i < VGPUS; i++)
			leave(MS, GHYVI_JOB_COMPLETE);
		assert_null(gpu.job);
		assert_int_equal(sched->engines[engine].nr_waiting, 0);
	}
	for (i = 0; i < VGPUS; i++)
		assert_int_equal(players[i].completed, GHYVI_ENGINES);
}

static void settings_may_be_what_their_ranges_end_with(void **state)
{
	static const struct ghyvi_sched_settings good[] = {
		{ GHYVI_SCHED_TIMESLICE_MIN_US, GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US, GHYVI_SCHED_WINDOW_MIN_US },
		{ GHYVI_SCHED_TIMESLICE_MAX_US, GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US, GHYVI_SCHED_WINDOW_MAX_US },
		{ GHYVI_SCHED_TIMESLICE_MAX_US, 0, GHYVI_SCHED_WINDOW_MAX_US },
	};
	static const struct ghyvi_sched_settings steps[] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
	struct ghyvi_sched_settings bad, is;
	unsigned int i, step;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(ghyvi_sched_set_settings(sched, &good[i]), 0);
		ghyvi_sched_settings(sched, &is);
		assert_memory_equal(&is, &good[i], sizeof(is));
		for (step = 0; step < ARRAY_SIZE(steps) && i < 2; step++) {
			bad = good[i];
			bad.timeslice_us += i ? steps[step].timeslice_us : -steps[step].timeslice_us;
			bad.preempt_timeout_us += i ? steps[step].preempt_timeout_us : -steps[step].preempt_timeout_us;
			bad.window_us += i ? steps[step].window_us : -steps[step].window_us;
			assert_int_equal(ghyvi_sched_set_settings(sched, &bad), -EINVAL);
		}
	}
	set_knobs(0, GHYVI_SCHED_WEIGHT_MIN, 0, 0);
	set_knobs(0, GHYVI_SCHED_WEIGHT_MAX, GHYVI_SCHED_CAP_MAX, GHYVI_SCHED_PRIORITY_MAX);
}

/* What is counted, and for which vGPU. */

static void time_is_counted_where_it_was_spent(void **state)
{
	players[0].base.job.engine = GHYVI_RCS;
	submit(0);
	ghyvi_sched_queue(sched, &players[1].base);
	assert_int_equal(atomic64_read(&players[0].stats.wait_ns_rcs), 0);
	leave(3 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&players[0].stats.busy_ns_rcs), 3 * MS);
	assert_int_equal(atomic64_read(&players[1].stats.wait_ns_rcs), 3 * MS);
	leave(4 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&players[1].stats.busy_ns_rcs), 4 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.switches_rcs), 1);
	assert_int_equal(atomic64_read(&players[1].stats.switches_rcs), 1);
	/* The same one again is no switch. */
	submit(1);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&players[1].stats.switches_rcs), 1);
	submit(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&players[0].stats.switches_rcs), 2);
}

static void a_workload_that_does_not_start_costs_nothing(void **state)
{
	gpu.run_result = -EIO;
	players[0].base.job.busy_ns = 5 * MS; /* of its turn before */
	submit(0);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&players[0].stats.busy_ns_rcs), 0);
	gpu.run_result = 0;
	players[1].prepare_result = -EFAULT;
	submit(1);
	assert_int_equal(players[1].status, GHYVI_JOB_ERROR);
	players[2].cancel_in_prepare = true;
	submit(2);
	assert_int_equal(players[2].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].completed + players[1].completed + players[2].completed, 3);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(gpu.cancels, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_workload_stays_while_the_backend_stops_it),
		TEST(a_workload_is_stopped_by_one_thread_at_a_time),
		TEST(it_is_asked_after_a_timeslice_and_stopped_after_the_timeout),
		TEST(the_timeout_counts_only_while_others_wait),
		TEST(without_a_timeout_it_is_asked_and_never_stopped),
		TEST(a_policy_without_a_slice_leaves_the_longer_of_slice_and_timeout),
		TEST(a_priority_is_worth_timeslices_also_for_those_that_wait),
		TEST(knobs_count_also_for_those_that_wait),
		TEST(settings_change_while_workloads_wait_on_every_engine),
		TEST(settings_may_be_what_their_ranges_end_with),
		TEST(time_is_counted_where_it_was_spent),
		TEST(a_workload_that_does_not_start_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
