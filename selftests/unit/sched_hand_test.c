// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler step by step, on a clock and a pGPU that the test controls.
 */
#include "sched_by_hand.h"

/* The backend stops a workload while the same workload completes by itself. */

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
		/* The owner must not free it while the backend has its address. */
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
	/* The workload was completed once, and the engine was given to the other one. */
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

/* The times at which the running workload is preempted and stopped. */

static void a_workload_is_preempted_after_a_timeslice_and_stopped_after_the_timeout(void **state)
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
	/* The next waiting workload waits as long. */
	since = now;
	submit(1);
	for (i = 0; i < 3 && !gpu.cancels; i++)
		fire_after(armed[GHYVI_RCS] - now);
	assert_int_equal(gpu.cancels, 1);
	assert_in_range(now - since, 2 * MS, 3 * MS);
	leave(MS, GHYVI_JOB_CANCELLED);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* From the time at which it had to yield to the time at which it did, whatever its end is. */
static void the_time_that_a_workload_overstays_is_told(void **state)
{
	const enum ghyvi_job_status ends[] = { GHYVI_JOB_PREEMPTED, GHYVI_JOB_COMPLETE,
					       GHYVI_JOB_ERROR };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		set_settings(1000, 300000);
		submit(0);
		submit(1);
		assert_runs(0);
		now = armed[GHYVI_RCS];
		fire();
		leave(200 * MS, ends[i]);
		assert_int_equal(players[0].base.overstayed_ns, 200 * MS);
		drain();
		assert_int_equal(players[1].base.overstayed_ns, 0);
	}
	/* It is told once: in the next turn the workload yields in time. */
	submit(0);
	drain();
	assert_int_equal(players[0].base.overstayed_ns, 0);
	/* Nothing is lost while no other waits. */
	submit(0);
	leave(500 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].base.overstayed_ns, 0);
}

static void without_a_timeout_a_workload_is_preempted_and_never_stopped(void **state)
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

/* Under policies without a timeslice, such as fifo. */
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

/* Statistics, and the vGPU that each belongs to. */

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
	/* Another workload of the same vGPU is no switch. */
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

static void a_late_workload_is_placed_like_a_waking_vgpu(void **state)
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
	struct player second = { .base = { .owner = players[0].entity,
					   .prepare = player_prepare,
					   .complete = player_complete } };

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

/* A guest's thread has prepared a workload, and gets no time on a CPU to start it. */

static void *submit_0(void *unused)
{
	submit(0);
	return NULL;
}

static void *leave_to_0(void *unused)
{
	leave(MS, GHYVI_JOB_COMPLETE);
	return NULL;
}

static void *fire_the_timer(void *unused)
{
	fire();
	return NULL;
}

static bool cancelled_at_once;

static void *cancel_0(void *unused)
{
	cancelled_at_once = ghyvi_sched_cancel(sched, &players[0].base);
	return NULL;
}

static bool is_prepared(unsigned int i)
{
	struct sched_engine *engine = &sched->engines[GHYVI_RCS];
	bool prepared;

	spin_lock(&engine->lock);
	prepared = players[i].base.prepared;
	spin_unlock(&engine->lock);
	return prepared;
}

/*
 * The thread does @begin, which gives the engine to vGPU 0, and waits for a lock before it starts
 * the workload. Meanwhile the timer fires, with vGPU @other waiting, and @then is done.
 */
static void hold_before_start(void *(*begin)(void *), unsigned int other, void *(*then)(void *))
{
	struct mutex *start = &sched->engines[GHYVI_RCS].start;
	pthread_t threads[3];
	unsigned int i, ms;

	sched->run_copies = true; /* only then there is such a lock */
	mutex_lock(start);
	assert_int_equal(pthread_create(&threads[0], NULL, begin, NULL), 0);
	usleep_range(50000, 50000); /* until it waits */
	ghyvi_sched_queue(sched, &players[other].base);
	now += MS;
	assert_int_equal(pthread_create(&threads[1], NULL, fire_the_timer, NULL), 0);
	for (ms = 0; !is_prepared(other) && ms < 1000; ms++)
		usleep_range(1000, 1100);
	assert_int_equal(pthread_create(&threads[2], NULL, then, NULL), 0);
	mutex_unlock(start);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}

static void *do_nothing(void *unused)
{
	return NULL;
}

static void a_workload_that_is_prepared_and_not_started_gives_way(void **state)
{
	set_settings(1000, 5000);
	hold_before_start(submit_0, 1, do_nothing);
	assert_runs(1);
	assert_int_equal(players[0].prepared, 1);
	assert_int_equal(players[0].completed, 0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].prepared, 1);
}

static void a_workload_that_gave_way_before_its_start_can_be_cancelled(void **state)
{
	set_settings(1000, 5000);
	hold_before_start(submit_0, 1, cancel_0);
	assert_runs(1);
	assert_int_equal(players[0].completed, !cancelled_at_once);
	if (!cancelled_at_once)
		assert_int_equal(players[0].status, GHYVI_JOB_CANCELLED);
	assert_is_its_owners(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_null(gpu.job);
}

/* It was prepared while another one had the engine: the thread only starts it. */
static void a_workload_prepared_ahead_and_not_started_gives_way(void **state)
{
	set_settings(1000, 5000);
	meanwhile_ns = 0;
	players[0].in_prepare = lose_the_engine;
	submit(0);
	players[0].in_prepare = NULL;
	assert_runs(1);
	hold_before_start(leave_to_0, 2, do_nothing);
	assert_runs(2);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(players[0].prepared, 1);
}

static _Atomic bool owner_went_on;

static void *withdraw_0(void *unused)
{
	assert_int_equal(ghyvi_sched_update_tail(sched, &players[0].base, 64), 0);
	assert_true(ghyvi_sched_park(sched, &players[0].base));
	ghyvi_sched_queue(sched, &players[0].base);
	assert_true(ghyvi_sched_cancel(sched, &players[0].base));
	owner_went_on = true;
	return NULL;
}

/* A thread of that one's guest may get no time on a CPU in run(). */
static void a_queued_workload_does_not_wait_until_another_is_passed_to_the_pgpu(void **state)
{
	struct mutex *start = &sched->engines[GHYVI_RCS].start;
	pthread_t thread;
	unsigned int ms;
	bool waited;

	owner_went_on = false;
	sched->run_copies = true;
	ghyvi_sched_queue(sched, &players[0].base);
	mutex_lock(start);
	assert_int_equal(pthread_create(&thread, NULL, withdraw_0, NULL), 0);
	for (ms = 0; !owner_went_on && ms < 2000; ms++)
		usleep_range(1000, 1100);
	waited = !owner_went_on;
	mutex_unlock(start);
	pthread_join(thread, NULL);
	assert_false(waited);
	assert_int_equal(players[0].context[GHYVI_CTX_RING_TAIL], 64);
	assert_int_equal(players[0].completed, 0);
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
static void a_cancelled_workload_is_not_reported_as_stopped(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_workload_stays_while_the_backend_stops_it),
		TEST(a_workload_is_stopped_by_one_thread_at_a_time),
		TEST(a_workload_is_preempted_after_a_timeslice_and_stopped_after_the_timeout),
		TEST(the_timeout_counts_only_while_others_wait),
		TEST(the_time_that_a_workload_overstays_is_told),
		TEST(without_a_timeout_a_workload_is_preempted_and_never_stopped),
		TEST(a_policy_without_a_slice_leaves_the_longer_of_slice_and_timeout),
		TEST(time_is_charged_to_the_engine_that_spent_it),
		TEST(a_workload_that_does_not_start_costs_nothing),
		TEST(a_kick_goes_on_until_a_workload_runs),
		TEST(an_idle_workload_cannot_be_cancelled_or_extended),
		TEST(a_late_workload_is_placed_like_a_waking_vgpu),
		TEST(a_limit_of_preparation_is_the_shorter_of_slice_and_timeout),
		TEST(a_late_workload_can_be_cancelled_before_and_after),
		TEST(a_failed_late_workload_enqueues_the_next),
		TEST(a_workload_that_is_prepared_and_not_started_gives_way),
		TEST(a_workload_that_gave_way_before_its_start_can_be_cancelled),
		TEST(a_workload_prepared_ahead_and_not_started_gives_way),
		TEST(a_queued_workload_does_not_wait_until_another_is_passed_to_the_pgpu),
		TEST(preparation_is_charged_and_counted),
		TEST(a_switch_to_a_vgpu_that_replaces_another_is_counted),
		TEST(a_timer_that_is_armed_is_not_armed_again),
		TEST(a_cancelled_workload_is_not_reported_as_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
