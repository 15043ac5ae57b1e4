// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler core: order, one job per engine, cancel in every state, no kick lost. */
#include "bounded.h"
#include "sched_items.h"

static void first_come_first_served_one_at_a_time(void **state)
{
	int i;

	for (i = 0; i < 4; i++)
		queue(i);
	assert_int_equal(gpu.runs, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_int_equal(gpu.runs, 1);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_int_equal(gpu.runs, 1);
	for (i = 0; i < 4; i++) {
		assert_int_equal(ran(i), i);
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		assert_int_equal(items[i].completed, 1);
		assert_int_equal(items[i].status, GHYVI_JOB_COMPLETE);
	}
	assert_int_equal(gpu.runs, 4);
}

static void engines_are_independent(void **state)
{
	items[1].base.job.engine = GHYVI_VECS;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_VECS);
	assert_null(gpu.running[GHYVI_RCS]);
	assert_non_null(gpu.running[GHYVI_VECS]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_VECS, GHYVI_JOB_COMPLETE);
}

static void a_failed_start_does_not_block_the_next_workload(void **state)
{
	gpu.run_error = -EIO;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	wait_for(&items[0].completed);
	wait_for(&items[1].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
	gpu.run_error = 0;
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_int_equal(ran(0), 2);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
}

static void cancel_removes_a_queued_workload(void **state)
{
	queue(0);
	queue(1);
	queue(2);
	assert_true(ghyvi_sched_cancel(sched, &items[1].base));
	ghyvi_sched_kick(sched, GHYVI_RCS);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].completed, 0);
	assert_int_equal(ran(1), 2);
	assert_int_equal(gpu.cancels, 0);
}

static void cancel_of_a_running_workload_stops_the_engine(void **state)
{
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(items[0].completed, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_int_equal(gpu.runs, 1); /* the engine is free only when its job is back */
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static void update_tail_in_every_state(void **state)
{
	queue(0);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 8), 0);
	assert_int_equal(items[0].context[GHYVI_CTX_RING_TAIL], 8);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_int_equal(gpu.updates, 0);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 16), 0);
	assert_int_equal(gpu.updates, 1);
	gpu.update_error = -ESTALE;
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 24), -ESTALE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 32), -ESTALE);
	assert_int_equal(gpu.updates, 2);
}

/* The backend copies commands in a guest's thread that gets no time on a CPU. */
static bool another_ran;

static void wait_for_another(void)
{
	unsigned int ms;

	for (ms = 0; gpu.runs < 2 && ms < 2000; ms++)
		usleep_range(1000, 1100);
	another_ran = gpu.runs == 2;
}

static void *move_tail_of_0(void *unused)
{
	(void)ghyvi_sched_update_tail(sched, &items[0].base, 8);
	return NULL;
}

static void a_slow_move_of_a_tail_does_not_block_other_workloads(void **state)
{
	pthread_t thread;

	gpu.in_update = wait_for_another;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	queue(1);
	assert_int_equal(pthread_create(&thread, NULL, move_tail_of_0, NULL), 0);
	wait_for(&gpu.updates);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(2);
	pthread_join(thread, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_true(another_ran);
}

/* Completion. */

static void a_slow_complete_does_not_block_other_workloads(void **state)
{
	int i;

	go = 0;
	for (i = 0; i < 2; i++)
		items[i].in_complete = wait_to_go;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu.run_error = -EIO; /* comes back from a kick */
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	gpu.run_error = 0;
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(ran(1), 2);
	assert_int_equal(items[0].completed + items[1].completed, 0);
	go = 1;
	for (i = 0; i < 2; i++)
		wait_for(&items[i].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
}

/* Submits the next workload in complete(), as the device model does; no other thread kicks. */
static void queue_again(struct item *item)
{
	if (item->completed < 2)
		ghyvi_sched_queue(sched, &item->base);
}

static void a_workload_queued_in_complete_gets_the_engine(void **state)
{
	int i;

	items[0].in_complete = queue_again;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	for (i = 1; i <= 3; i++) {
		wait_for_runs(i);
		gpu_leave(GHYVI_RCS, i == 2 ? GHYVI_JOB_PREEMPTED : GHYVI_JOB_COMPLETE);
	}
	while (items[0].completed < 3)
		usleep_range(100, 200);
	assert_int_equal(gpu.runs, 3);
}

static void preemption_is_requested_then_enforced_and_reported(void **state)
{
	struct ghyvi_sched_entity *hog = give_owner(&items[0]), *other = give_owner(&items[1]);
	char text[GHYVI_REPORT_BYTES];

	set_timeouts(100, 1000);
	submit(0);
	usleep_range(10000, 20000);
	assert_int_equal(gpu.preempts, 0); /* no other vGPU is enqueued */
	queue(1);
	wait_for(&gpu.preempts);
	wait_for(&gpu.cancels);
	assert_int_equal(gpu.runs, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(ran(1), 1);
	assert_int_equal(atomic64_read(&stats.preempt_requests_rcs), 1);
	assert_int_equal(atomic64_read(&stats.preempt_timeouts_rcs), 1);
	ghyvi_report_last(&reporter, text, sizeof(text));
	assert_non_null(strstr(text, "preemption timed out"));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_COMPLETE);
	assert_true(atomic64_read(&stats.busy_ns_rcs) > 0);
	assert_true(atomic64_read(&stats.wait_ns_rcs) > 0);
	ghyvi_sched_entity_destroy(hog);
	ghyvi_sched_entity_destroy(other);
}

/* The backend got the workload while it was still busy with the previous one. */
static void a_workload_that_never_began_is_not_stopped(void **state)
{
	struct ghyvi_sched_entity *late = give_owner(&items[0]), *other = give_owner(&items[1]);
	char text[GHYVI_REPORT_BYTES];

	set_timeouts(100, 1000);
	submit(0);
	queue(1);
	wait_for(&gpu.cancels);
	gpu.never_begins = true;
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	gpu.never_begins = false;
	assert_int_equal(items[0].status, GHYVI_JOB_PREEMPTED);
	assert_int_equal(atomic64_read(&stats.preempt_timeouts_rcs), 0);
	ghyvi_report_last(&reporter, text, sizeof(text));
	assert_string_equal(text, "");
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(late);
	ghyvi_sched_entity_destroy(other);
}

/* The clock serves all engines: it does not wait for the job that another thread stops. */
static _Atomic int cancelled;

static void stop_slowly(void)
{
	cancelled = 1;
	wait_for(&go);
}

static void the_clock_serves_other_engines_while_a_job_is_stopped(void **state)
{
	struct ghyvi_sched_entity *owners[4];
	int i, preempts;

	cancelled = go = 0;
	for (i = 0; i < 4; i++) {
		owners[i] = give_owner(&items[i]);
		items[i].base.job.engine = i < 2 ? GHYVI_RCS : GHYVI_BCS;
	}
	set_timeouts(100, 1000);
	gpu.in_cancel = stop_slowly;
	submit(0);
	submit(1);
	wait_for(&cancelled);
	preempts = gpu.preempts;
	submit_to(GHYVI_BCS, 2);
	submit_to(GHYVI_BCS, 3);
	assert_true(becomes(&gpu.preempts, preempts + 1));
	go = 1;
	for (i = 0; i < 2; i++) {
		gpu_finish(GHYVI_RCS, i ? GHYVI_JOB_COMPLETE : GHYVI_JOB_CANCELLED);
		gpu_finish(GHYVI_BCS, GHYVI_JOB_COMPLETE);
	}
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	for (i = 0; i < 4; i++)
		ghyvi_sched_entity_destroy(owners[i]);
}

static void without_a_timeout_no_workload_is_stopped(void **state)
{
	struct ghyvi_sched_entity *hog = give_owner(&items[0]), *other = give_owner(&items[1]);

	set_timeouts(100, 0);
	submit(0);
	queue(1);
	wait_for(&gpu.preempts);
	usleep_range(10000, 20000);
	assert_int_equal(gpu.cancels, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(items[0].status, GHYVI_JOB_PREEMPTED);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(hog);
	ghyvi_sched_entity_destroy(other);
}

/* Threads: an engine, and vGPUs that submit, kick, cancel and wait. */

#define VGPUS 4
#define ROUNDS 3000
#define ROUNDS_PER_STEP 100
#define ENOUGH_NS (10 * NSEC_PER_SEC) /* on a busy machine */
#define YIELDS 20

static _Atomic bool stop_engine;

/* One turn of a thread that polls: on a busy machine, leave the CPUs to what it waits for. */
static void poll_again(unsigned int *turns)
{
	if (++*turns <= YIELDS)
		sched_yield();
	else
		usleep_range(20, 50);
}

static void *engine_thread(void *unused)
{
	unsigned int turns = 0;

	while (!stop_engine) {
		struct ghyvi_job *job = gpu_take(GHYVI_RCS);

		if (job) {
			turns = 0;
			job->done(job, GHYVI_JOB_COMPLETE);
		} else {
			poll_again(&turns);
		}
	}
	return NULL;
}

static void *switcher_thread(void *unused)
{
	static const char *const names[] = { "fifo", "credit", "band", "fair" };
	unsigned int i;

	for (i = 0; !stop_engine; i++) {
		ghyvi_sched_set_policy(sched, names[i % ARRAY_SIZE(names)]);
		usleep_range(100, 200);
	}
	return NULL;
}

static void *vgpu_thread(void *data)
{
	struct item *item = data;
	unsigned int seed = item->number, turns;
	u64 began = ktime_get_ns();
	int i, expected = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (i % ROUNDS_PER_STEP == 0) {
			bound_case("nothing_is_lost_between_threads"); /* there is progress */
			if (ktime_get_ns() - began > ENOUGH_NS)
				break;
		}
		item->off_limits = false;
		ghyvi_sched_queue(sched, &item->base);
		if (rand_r(&seed) % 4 == 0)
			sched_yield();
		ghyvi_sched_kick(sched, GHYVI_RCS);
		if (rand_r(&seed) % 3 == 0) {
			if (ghyvi_sched_cancel(sched, &item->base))
				continue;
			item->off_limits = true;
		}
		expected++;
		/* a lost kick shows as a time-out of the test program */
		for (turns = 0; item->completed != expected;)
			poll_again(&turns);
	}
	return (void *)(long)expected;
}

static void nothing_is_lost_between_threads(void **state)
{
	struct ghyvi_sched_entity *entities[VGPUS];
	pthread_t engine, switcher, vgpus[VGPUS];
	int i;

	stop_engine = false;
	set_timeouts(100, 1000);
	for (i = 0; i < VGPUS; i++)
		entities[i] = give_owner(&items[i]);
	pthread_create(&engine, NULL, engine_thread, NULL);
	pthread_create(&switcher, NULL, switcher_thread, NULL);
	for (i = 0; i < VGPUS; i++)
		pthread_create(&vgpus[i], NULL, vgpu_thread, &items[i]);
	for (i = 0; i < VGPUS; i++) {
		void *expected;

		pthread_join(vgpus[i], &expected);
		assert_int_equal(items[i].completed, (long)expected);
	}
	stop_engine = true;
	pthread_join(engine, NULL);
	pthread_join(switcher, NULL);
	assert_null(gpu.running[GHYVI_RCS]);
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(entities[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_come_first_served_one_at_a_time),
		TEST(engines_are_independent),
		TEST(a_failed_start_does_not_block_the_next_workload),
		TEST(cancel_removes_a_queued_workload),
		TEST(cancel_of_a_running_workload_stops_the_engine),
		TEST(update_tail_in_every_state),
		TEST(a_slow_move_of_a_tail_does_not_block_other_workloads),
		TEST(a_slow_complete_does_not_block_other_workloads),
		TEST(a_workload_queued_in_complete_gets_the_engine),
		TEST(preemption_is_requested_then_enforced_and_reported),
		TEST(a_workload_that_never_began_is_not_stopped),
		TEST(the_clock_serves_other_engines_while_a_job_is_stopped),
		TEST(without_a_timeout_no_workload_is_stopped),
		TEST(nothing_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
