// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler step by step: clock and pGPU are the test's, and nothing happens that the test does
 * not do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"
#include "rule.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC

struct player {
	struct ghyvi_workload base;
	u32 context[GHYVI_CTX_DWORDS];
	struct ghyvi_sched_entity *entity;
	struct ghyvi_stats stats;
	int prepare_result;
	bool cancel_in_prepare;
	void (*in_prepare)(void);
	unsigned int prepared;
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
	lockdep_assert_held(&sched->engines[engine].lock);
	armed[engine] = at;
}

static const struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static int gpu_run(void *pgpu, struct ghyvi_job *job)
{
	might_sleep();
	lockdep_assert_held(&sched->engines[job->engine].start);
	assert_null(gpu.job);
	gpu.runs++;
	if (!gpu.run_result)
		gpu.job = job;
	return gpu.run_result;
}

static void gpu_preempt(void *pgpu, struct ghyvi_job *job)
{
	lockdep_assert_held(&sched->engines[job->engine].lock);
	assert_ptr_equal(job, gpu.job);
	gpu.preempts++;
}

static void gpu_cancel(void *pgpu, struct ghyvi_job *job)
{
	might_sleep();
	assert_ptr_equal(job, gpu.job);
	gpu.cancels++;
	if (gpu.in_cancel)
		gpu.in_cancel();
}

static const struct ghyvi_pgpu_ops ops = { .run = gpu_run,
					   .preempt = gpu_preempt,
					   .cancel = gpu_cancel };

static int prepare(struct ghyvi_workload *base)
{
	struct player *player = container_of(base, struct player, base);

	might_sleep();
	player->prepared++;
	if (player->cancel_in_prepare)
		assert_false(ghyvi_sched_cancel(sched, base));
	if (player->in_prepare)
		player->in_prepare();
	return player->prepare_result;
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct player *player = container_of(base, struct player, base);

	might_sleep();
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
	/*
	 * The backend did not have it yet, perhaps: it is stopped once more, preempt_timeout_us
	 * later.
	 */
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
		ghyvi_sched_settings(sched, &is);
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

/* What is counted, and for which vGPU. */

static void time_is_charged_to_the_engine_that_spent_it(void **state)
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

static void a_kick_goes_on_until_a_workload_runs(void **state)
{
	players[0].prepare_result = -EFAULT;
	players[1].cancel_in_prepare = true;
	ghyvi_sched_queue(sched, &players[0].base);
	ghyvi_sched_queue(sched, &players[1].base);
	ghyvi_sched_queue(sched, &players[2].base);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_runs(2);
	assert_int_equal(players[0].completed, 1);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(players[1].completed, 1);
	assert_int_equal(players[1].status, GHYVI_JOB_CANCELLED);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* The workload belongs to its owner again, whatever its state was. */
static void assert_is_its_owners(unsigned int i)
{
	int completed = players[i].completed;
	unsigned int cancels = gpu.cancels;

	assert_false(ghyvi_sched_cancel(sched, &players[i].base));
	assert_int_equal(ghyvi_sched_update_tail(sched, &players[i].base, 64), -ESTALE);
	assert_int_equal(players[i].context[GHYVI_CTX_RING_TAIL], 0);
	assert_int_equal(players[i].completed, completed);
	assert_int_equal(gpu.cancels, cancels);
}

static void an_idle_workload_cannot_be_cancelled_or_extended(void **state)
{
	submit(0);
	submit(1);
	assert_true(ghyvi_sched_cancel(sched, &players[1].base));
	assert_is_its_owners(1);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_is_its_owners(0);
	players[0].prepare_result = -EFAULT;
	submit(0);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	assert_is_its_owners(0);
	gpu.run_result = -EIO;
	submit(1);
	assert_int_equal(players[1].status, GHYVI_JOB_ERROR);
	assert_is_its_owners(1);
	gpu.run_result = 0;
	players[2].cancel_in_prepare = true;
	submit(2);
	assert_int_equal(players[2].status, GHYVI_JOB_CANCELLED);
	assert_is_its_owners(2);
}

/* A preparation that takes too long; the timer fires while it is under way. */

static u64 meanwhile_ns; /* how long vGPU 1 has the engine meanwhile */

static void lose_the_engine(void)
{
	u64 late_at = now + MS;

	ASSERT(armed[GHYVI_RCS] == GHYVI_SCHED_NEVER);
	ghyvi_sched_queue(sched, &players[1].base);
	ASSERT(armed[GHYVI_RCS] == late_at);
	now = late_at - 1;
	fire();
	ASSERT(!gpu.job);
	ASSERT(armed[GHYVI_RCS] == late_at);
	now = late_at;
	fire();
	ASSERT(gpu.job == &players[1].base.job);
	ASSERT(!sched->engines[GHYVI_RCS].nr_waiting);
	if (!meanwhile_ns)
		return;
	leave(meanwhile_ns, GHYVI_JOB_COMPLETE);
	ghyvi_sched_queue(sched, &players[1].base);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	ASSERT(gpu.job == &players[1].base.job);
}

static void a_late_workload_returns_like_a_sleeper(void **state)
{
	struct sched_rq *run = &players[0].entity->rqs[GHYVI_RCS];

	set_knobs(0, GHYVI_SCHED_WEIGHT_MAX, 0, 0);
	set_settings(1000, 5000);
	meanwhile_ns = 10 * NSEC_PER_SEC;
	players[0].in_prepare = lose_the_engine;
	submit(0);
	/* Level with vGPU 1, less a tenth of a window at its weight. */
	assert_int_equal(run->fair.vtime,
			 meanwhile_ns - 1000ULL * GHYVI_SCHED_WINDOW_DEFAULT_US / 10 / 10);
	assert_int_equal(sched->engines[GHYVI_RCS].nr_waiting, 1);
	assert_runs(1);
	assert_int_equal(players[0].prepared, 1);
	assert_int_equal(players[0].completed, 0);
	players[0].in_prepare = NULL;
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].prepared, 1);
	assert_int_equal(atomic64_read(&players[0].stats.switches_rcs), 2);
}

static void a_limit_of_preparation_is_the_shorter_of_slice_and_timeout(void **state)
{
	meanwhile_ns = 0;
	set_settings(20000, 1000);
	players[0].in_prepare = lose_the_engine;
	submit(0);
	players[0].in_prepare = NULL;
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	set_settings(1000, 0);
	players[0].in_prepare = lose_the_engine;
	submit(0);
	players[0].in_prepare = NULL;
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].completed + players[1].completed, 4);
}

static void cancel_and_lose_the_engine(void)
{
	int completed = players[0].completed;

	ASSERT(!ghyvi_sched_cancel(sched, &players[0].base));
	lose_the_engine();
	ASSERT(players[0].completed == completed);
}

static void lose_the_engine_and_be_cancelled(void)
{
	int completed = players[0].completed;

	lose_the_engine();
	ASSERT(!ghyvi_sched_cancel(sched, &players[0].base));
	ASSERT(players[0].completed == completed);
	ASSERT(!ghyvi_sched_cancel(sched, &players[0].base));
}

static void a_late_workload_can_be_cancelled_before_and_after(void **state)
{
	void (*const ways[])(void) = { cancel_and_lose_the_engine,
				       lose_the_engine_and_be_cancelled };
	unsigned int i, fails;

	meanwhile_ns = 0;
	set_settings(1000, 5000);
	for (i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		fails = i / 2;
		players[0].prepare_result = fails ? -EFAULT : 0;
		players[0].in_prepare = ways[i % 2];
		submit(0);
		assert_int_equal(players[0].completed, i + 1);
		assert_int_equal(players[0].status, GHYVI_JOB_CANCELLED);
		assert_is_its_owners(0);
		assert_runs(1);
		leave(MS, GHYVI_JOB_COMPLETE);
		assert_null(gpu.job);
		assert_int_equal(sched->engines[GHYVI_RCS].nr_waiting, 0);
		now += 100 * MS;
	}
	assert_int_equal(atomic64_read(&players[0].stats.busy_ns_rcs), 0);
}

static void a_failed_late_workload_enqueues_the_next(void **state)
{
	struct player second = {
		.base = { .owner = players[0].entity, .prepare = prepare, .complete = complete }
	};

	meanwhile_ns = 0;
	set_settings(1000, 5000);
	players[0].in_prepare = lose_the_engine;
	players[0].prepare_result = -EFAULT;
	second.base.job.context = second.context;
	ghyvi_sched_queue(sched, &players[0].base);
	ghyvi_sched_queue(sched, &second.base);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(sched->engines[GHYVI_RCS].nr_waiting, 1);
	assert_int_equal(second.completed, 0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(gpu.job, &second.base.job);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(second.completed, 1);
}

static void prepare_for_3_ms(void)
{
	now += 3 * MS;
}

static void preparation_is_charged_and_counted(void **state)
{
	players[0].in_prepare = prepare_for_3_ms;
	submit(0);
	assert_int_equal(players[0].entity->rqs[GHYVI_RCS].fair.vtime, 3 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.prepare_ns_rcs), 3 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.wait_ns_rcs), 0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].entity->rqs[GHYVI_RCS].fair.vtime, 4 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.busy_ns_rcs), MS);
}

/* Defaults of a new scheduler and of a new vGPU, and knobs that were set are read back. */
static void settings_and_knobs_begin_with_the_defaults(void **state)
{
	static const struct ghyvi_sched_knobs wanted = { .weight = 7, .cap = 9, .priority = 3 };
	struct ghyvi_sched_settings settings;
	struct ghyvi_sched_knobs knobs;

	ghyvi_sched_settings(sched, &settings);
	assert_int_equal(settings.timeslice_us, GHYVI_SCHED_TIMESLICE_DEFAULT_US);
	assert_int_equal(settings.preempt_timeout_us, GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US);
	assert_int_equal(settings.window_us, GHYVI_SCHED_WINDOW_DEFAULT_US);
	ghyvi_sched_knobs(players[0].entity, &knobs);
	assert_int_equal(knobs.weight, GHYVI_SCHED_WEIGHT_DEFAULT);
	assert_int_equal(knobs.cap, 0);
	assert_int_equal(knobs.priority, 0);
	assert_int_equal(ghyvi_sched_set_knobs(players[0].entity, &wanted), 0);
	ghyvi_sched_knobs(players[0].entity, &knobs);
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
		ghyvi_sched_knobs(players[0].entity, &knobs);
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
		assert_ptr_equal(sched->engines[i].policy, &sched_credit);
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
static void a_policy_begins_without_the_past(void **state)
{
	struct sched_engine *engine = &sched->engines[GHYVI_RCS];
	struct sched_rq *run = &players[0].entity->rqs[GHYVI_RCS];

	set_settings(1000, 2000);
	submit(0);
	submit(1);
	fire_after(MS);
	assert_int_equal(gpu.preempts, 1);
	run->fair.vtime = engine->fair.vtime = 5;
	run->budget.left_ns = 6;
	engine->budget.wait_until = 7;
	now += MS / 2;
	assert_int_equal(ghyvi_sched_set_policy(sched, "fair"), 0);
	assert_int_equal(run->fair.vtime, 5); /* no switch */
	assert_int_equal(ghyvi_sched_set_policy(sched, "band"), 0);
	assert_int_equal(run->fair.vtime, 0);
	assert_int_equal(run->budget.left_ns, 0);
	assert_int_equal(engine->fair.vtime, 0);
	assert_int_equal(engine->budget.wait_until, 0);
	assert_int_equal(engine->budget.window_start, now);
	assert_int_equal(engine->next_tick, now + SCHED_BUDGET_PERIOD_NS);
	assert_int_equal(engine->nr_waiting, 1);
	assert_int_equal(engine->preempt_requested_ns,
			 0); /* it is preempted again after the new slice */
	assert_int_equal(gpu.preempts, 1);
	assert_int_equal(armed[GHYVI_RCS], NSEC_PER_SEC + 2 * MS);
	fire_after(MS / 2);
	assert_int_equal(gpu.preempts, 2);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* A new vGPU may be allocated at the address of the last one. */
static void a_switch_to_a_vgpu_that_replaces_another_is_counted(void **state)
{
	struct sched_engine *engine = &sched->engines[GHYVI_RCS];

	submit(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(engine->last, &players[0].entity->rqs[GHYVI_RCS]);
	ghyvi_sched_entity_destroy(players[1].entity);
	assert_ptr_equal(engine->last, &players[0].entity->rqs[GHYVI_RCS]);
	ghyvi_sched_entity_destroy(players[0].entity);
	assert_null(engine->last);
	assert_true(list_empty(&engine->rqs));
	players[0].entity = ghyvi_sched_entity_create(sched, &players[0].stats, NULL);
	players[1].entity = ghyvi_sched_entity_create(sched, &players[1].stats, NULL);
}

/* The clock is armed only when the time changes. */
static void a_timer_that_is_armed_is_not_armed_again(void **state)
{
	set_settings(1000, 2000);
	submit(0);
	submit(1);
	armed[GHYVI_RCS] = 1;
	set_settings(1000, 3000);
	assert_int_equal(armed[GHYVI_RCS], 1);
	set_settings(2000, 3000);
	assert_int_equal(armed[GHYVI_RCS], now + 2 * MS);
	leave(0, GHYVI_JOB_COMPLETE);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER);
	leave(0, GHYVI_JOB_COMPLETE);
	assert_int_equal(sched->engines[GHYVI_RCS].armed, GHYVI_SCHED_NEVER);
}

/* Only a workload that was stopped for others fails. */
static void a_workload_that_was_cancelled_is_not_told_to_be_stopped(void **state)
{
	submit(0);
	assert_false(ghyvi_sched_cancel(sched, &players[0].base));
	assert_int_equal(gpu.cancels, 1);
	leave(MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(atomic64_read(&players[0].stats.preempt_timeouts_rcs), 0);
	/* It completes while it is being stopped. */
	set_settings(1000, 2000);
	submit(0);
	submit(1);
	fire_after(MS);
	fire_after(2 * MS);
	assert_int_equal(gpu.cancels, 2);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].status, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
	/* The next submission begins without the timeout. */
	submit(0);
	assert_false(ghyvi_sched_cancel(sched, &players[0].base));
	leave(MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(atomic64_read(&players[0].stats.preempt_timeouts_rcs), 0);
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
		TEST(time_is_charged_to_the_engine_that_spent_it),
		TEST(a_workload_that_does_not_start_costs_nothing),
		TEST(a_kick_goes_on_until_a_workload_runs),
		TEST(an_idle_workload_cannot_be_cancelled_or_extended),
		TEST(a_late_workload_returns_like_a_sleeper),
		TEST(a_limit_of_preparation_is_the_shorter_of_slice_and_timeout),
		TEST(a_late_workload_can_be_cancelled_before_and_after),
		TEST(a_failed_late_workload_enqueues_the_next),
		TEST(preparation_is_charged_and_counted),
		TEST(settings_and_knobs_begin_with_the_defaults),
		TEST(knobs_out_of_range_by_one_change_nothing),
		TEST(the_list_of_policies_fits_its_buffer),
		TEST(a_policy_begins_without_the_past),
		TEST(a_switch_to_a_vgpu_that_replaces_another_is_counted),
		TEST(a_timer_that_is_armed_is_not_armed_again),
		TEST(a_workload_that_was_cancelled_is_not_told_to_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
