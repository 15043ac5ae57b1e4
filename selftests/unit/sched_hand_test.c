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
	fire_after(2 * MS);
	assert_int_equal(gpu.preempts, 1);
	gpu.in_cancel = leave_while_cancelled;
	fire_after(2 * MS);
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
	ghyvi_sched_get_settings(sched, &settings);
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
	fire();
}

static void a_workload_is_stopped_by_one_thread_at_a_time(void **state)
{
	set_settings(1000, 2000);
	submit_both();
	fire_after(2 * MS);
	gpu.in_cancel = knobs_change_while_stopping;
	fire_after(2 * MS);
	gpu.in_cancel = NULL;
	fire_after(10 * MS);
	assert_int_equal(gpu.cancels, 1);
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
	submit_both();
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

/* Until then the engine was busy with other work, for which the workload is not stopped. */
static void the_timeout_counts_from_the_begin_of_the_job(void **state)
{
	struct sched_rq *rq = &players[0].entity->rqs[GHYVI_RCS];

	set_settings(1000, 2000);
	submit_both();
	fire_after(MS); /* asked to yield */
	now += 2 * MS - 1;
	gpu.job->begun_ns = now;
	fire_after(1);
	assert_int_equal(gpu.cancels, 0);
	assert_int_equal(armed[GHYVI_RCS], now - 1 + 2 * MS);
	/* It begins after the timeout, before the thread that stops it runs. */
	now += 2 * MS;
	gpu.job->begun_ns = now;
	players[0].base.timed_out = true;
	ghyvi_sched_stop_work(&rq->stop);
	assert_int_equal(gpu.cancels, 0);
	assert_int_equal(armed[GHYVI_RCS], now + 2 * MS);
	fire_after(2 * MS);
	assert_int_equal(gpu.cancels, 1);
	leave(2 * MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].status, GHYVI_JOB_ERROR);
	drain();
}

/* From the time at which it had to yield to the time at which it did, whatever its end is. */
static void the_time_that_a_workload_overstays_is_told(void **state)
{
	const enum ghyvi_job_status ends[] = { GHYVI_JOB_PREEMPTED, GHYVI_JOB_COMPLETE,
					       GHYVI_JOB_ERROR };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		set_settings(1000, 300000);
		submit_both();
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

/* The engine was busy with other work, or the host was late: that is no time of the workload. */
static void a_workload_that_begins_late_overstays_from_then_on(void **state)
{
	unsigned int begins;

	for (begins = 0; begins < 2; begins++) {
		set_settings(1000, 300000);
		submit_both();
		assert_runs(0);
		now = armed[GHYVI_RCS];
		fire();
		now += 150 * MS;
		if (begins)
			gpu.job->begun_ns = now;
		leave(begins ? 50 * MS : 0, GHYVI_JOB_PREEMPTED);
		assert_int_equal(players[0].base.overstayed_ns, begins * 50 * MS);
		drain();
	}
	submit_both();
	now = armed[GHYVI_RCS];
	fire();
	gpu.job->waited_ns = 150 * MS;
	leave(200 * MS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(players[0].base.overstayed_ns, 50 * MS);
	drain();
}

static void a_wait_before_others_wait_excuses_no_overstay(void **state)
{
	set_settings(1000, 300000);
	submit(0);
	now += 500 * MS;
	gpu.job->waited_ns = 400 * MS;
	submit(1);
	gpu.job->waited_ns += 50 * MS;
	leave(200 * MS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(players[0].base.overstayed_ns, 150 * MS);
	drain();
}

/* The job waits from 300 ms before others do to 50 ms after that. */
static void a_wait_that_began_before_others_waited_excuses_its_last_part_only(void **state)
{
	set_settings(1000, 300000);
	submit(0);
	now += 200 * MS;
	gpu.job->waited_ns = 100 * MS;
	gpu.job->waited_ns -= now;
	now += 300 * MS;
	submit(1);
	gpu.job->waited_ns += now + 50 * MS;
	leave(200 * MS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(players[0].base.overstayed_ns, 150 * MS);
	drain();
}

/* The timeout bounds what others wait; a vGPU is not blamed for the part that it waited itself. */
static void a_wait_is_excused_and_does_not_extend_the_timeout(void **state)
{
	set_settings(1000, 300000);
	submit_both();
	now = armed[GHYVI_RCS];
	fire();
	gpu.job->waited_ns -= now;
	assert_int_equal(armed[GHYVI_RCS], now + 300 * MS);
	fire_after(300 * MS);
	assert_int_equal(gpu.cancels, 1);
	gpu.job->waited_ns += now;
	leave(10 * MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(players[0].base.overstayed_ns, 10 * MS);
	drain();
}

static void without_a_timeout_a_workload_is_preempted_and_never_stopped(void **state)
{
	set_settings(1000, 0);
	submit_both();
	fire_after(1 * MS);
	assert_int_equal(gpu.preempts, 1);
	assert_int_equal(armed[GHYVI_RCS], GHYVI_SCHED_NEVER);
	fire_after(1000 * MS);
	assert_int_equal(gpu.cancels, 0);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* Under policies without a timeslice, such as fifo. */
static void a_policy_without_a_slice_leaves_the_longer_of_slice_and_timeout(void **state)
{
	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	set_settings(1000, 5000);
	submit_both();
	assert_int_equal(armed[GHYVI_RCS], now + 5 * MS);
	leave(MS, GHYVI_JOB_COMPLETE);
	leave(MS, GHYVI_JOB_COMPLETE);
	set_settings(10000, 5000);
	submit_both();
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
	assert_int_equal(players[0].entity->rqs[GHYVI_RCS].fair.vtime, 0);
	assert_int_equal(players[0].completed, 1);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(gpu.cancels, 0);
}

static void a_kick_goes_on_until_a_workload_runs(void **state)
{
	unsigned int i;

	gpu.run_result = -EIO;
	gpu.refusals = 2;
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_queue(sched, &players[i].base);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_runs(2);
	for (i = 0; i < 2; i++) {
		assert_int_equal(players[i].completed, 1);
		assert_int_equal(players[i].status, GHYVI_JOB_ERROR);
	}
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
	submit_both();
	assert_true(ghyvi_sched_cancel(sched, &players[1].base));
	assert_is_its_owners(1);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_is_its_owners(0);
	gpu.run_result = -EIO;
	submit(1);
	assert_int_equal(players[1].status, GHYVI_JOB_ERROR);
	assert_is_its_owners(1);
}

/* Preparation: what its owner says that it has cost. */

static u64 vtime(unsigned int i)
{
	return players[i].entity->rqs[GHYVI_RCS].fair.vtime;
}

static void preparation_is_charged_and_counted(void **state)
{
	submit(0);
	ghyvi_sched_charge_preparation(players[0].entity, GHYVI_RCS, 3 * MS);
	assert_int_equal(vtime(0), 3 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.prepare_ns_rcs), 3 * MS);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(vtime(0), 4 * MS);
	assert_int_equal(atomic64_read(&players[0].stats.busy_ns_rcs), MS);
}

static void preparation_of_a_queued_workload_changes_its_place(void **state)
{
	submit(0);
	ghyvi_sched_queue(sched, &players[1].base);
	ghyvi_sched_queue(sched, &players[2].base);
	ghyvi_sched_charge_preparation(players[1].entity, GHYVI_RCS, 5 * MS);
	leave(10 * MS, GHYVI_JOB_COMPLETE);
	assert_runs(2);
	leave(MS, GHYVI_JOB_COMPLETE);
	assert_runs(1);
	leave(MS, GHYVI_JOB_COMPLETE);
}

/* The vGPU is placed a tenth of a window, 10 ms, behind the other, and charged from there. */
static void idle_time_pays_for_no_preparation(void **state)
{
	unsigned int i;

	submit(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	submit(1);
	leave(100 * MS, GHYVI_JOB_COMPLETE);
	for (i = 0; i < 4; i++)
		ghyvi_sched_charge_preparation(players[0].entity, GHYVI_RCS, 5 * MS);
	submit(1);
	submit(0);
	assert_int_equal(vtime(0), vtime(1) + 4 * 5 * MS - 10 * MS);
	drain();
}

/*
 * A thread that prepares a workload has no CPU for 100 ms, and has used 1 ms of it. The workload is
 * queued after that: the others had the engine, and this vGPU is not behind them for it.
 */
static void a_thread_without_cpu_costs_its_vgpu_no_engine_time(void **state)
{
	u64 before, waited, until = now + 100 * MS;

	submit(0);
	leave(MS, GHYVI_JOB_COMPLETE);
	before = vtime(0);
	submit(1);
	submit(2);
	while (now < until) {
		unsigned int i = gpu.job == &players[1].base.job ? 1 : 2;

		leave(MS, GHYVI_JOB_COMPLETE);
		submit(i);
	}
	submit(0);
	ghyvi_sched_charge_preparation(players[0].entity, GHYVI_RCS, MS);
	assert_true(vtime(0) <= max(vtime(1), vtime(2)));
	for (waited = 0; gpu.job != &players[0].base.job; waited += MS)
		leave(MS, GHYVI_JOB_COMPLETE);
	assert_true(waited <= 2 * MS);
	assert_true(vtime(0) >= before);
	drain();
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
	submit_both();
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
	submit_both();
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
		TEST(the_timeout_counts_from_the_begin_of_the_job),
		TEST(the_time_that_a_workload_overstays_is_told),
		TEST(a_workload_that_begins_late_overstays_from_then_on),
		TEST(a_wait_before_others_wait_excuses_no_overstay),
		TEST(a_wait_that_began_before_others_waited_excuses_its_last_part_only),
		TEST(a_wait_is_excused_and_does_not_extend_the_timeout),
		TEST(without_a_timeout_a_workload_is_preempted_and_never_stopped),
		TEST(a_policy_without_a_slice_leaves_the_longer_of_slice_and_timeout),
		TEST(time_is_charged_to_the_engine_that_spent_it),
		TEST(a_workload_that_does_not_start_costs_nothing),
		TEST(a_kick_goes_on_until_a_workload_runs),
		TEST(an_idle_workload_cannot_be_cancelled_or_extended),
		TEST(preparation_is_charged_and_counted),
		TEST(preparation_of_a_queued_workload_changes_its_place),
		TEST(idle_time_pays_for_no_preparation),
		TEST(a_thread_without_cpu_costs_its_vgpu_no_engine_time),
		TEST(a_switch_to_a_vgpu_that_replaces_another_is_counted),
		TEST(a_timer_that_is_armed_is_not_armed_again),
		TEST(a_cancelled_workload_is_not_reported_as_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
