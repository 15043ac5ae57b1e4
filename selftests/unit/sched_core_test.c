// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler core: order, one job per engine, cancel in every state, no kick lost. */
#include "bounded.h"
#include "sched_items.h"

static void test_first_come_first_served_one_at_a_time(void **state)
{
	int i;

	for (i = 0; i < 4; i++)
		queue(i);
	assert_int_equal(gpu.runs, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(items[2].prepared, 0); /* only the next one is prepared early */
	for (i = 0; i < 4; i++) {
		assert_int_equal(ran(i), i);
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		assert_int_equal(items[i].completed, 1);
		assert_int_equal(items[i].status, GHYVI_JOB_COMPLETE);
	}
	assert_int_equal(gpu.runs, 4);
}

static void test_engines_are_independent(void **state)
{
	items[1].base.job.engine = GHYVI_VECS;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_VECS, NULL);
	assert_null(gpu.running[GHYVI_RCS]);
	assert_non_null(gpu.running[GHYVI_VECS]);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_VECS, GHYVI_JOB_COMPLETE);
}

static void test_a_failed_start_does_not_block_the_next_workload(void **state)
{
	items[0].prepare_result = -EFAULT;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[0].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(ran(0), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);

	gpu.run_error = -EIO;
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[2].completed);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
	assert_int_equal(items[2].completed, 1);
}

static void test_cancel_removes_a_queued_workload(void **state)
{
	queue(0);
	queue(1);
	queue(2);
	assert_true(ghyvi_sched_cancel(sched, &items[1].base));
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].completed, 0);
	assert_int_equal(items[1].prepared, 0);
	assert_int_equal(ran(1), 2);
	assert_int_equal(gpu.cancels, 0);
}

static void test_cancel_while_preparing_keeps_it_off_the_engine(void **state)
{
	items[0].in_prepare = cancel_in_prepare;
	items[1].in_prepare = cancel_in_prepare;
	items[1].prepare_result = -ECANCELED;
	queue(0);
	queue(1);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[0].completed);
	wait_for(&items[1].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[1].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(ran(0), 2);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(gpu.cancels, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static void test_cancel_of_a_running_workload_stops_the_engine(void **state)
{
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(items[0].completed, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1); /* the engine is free only when its job is back */
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static void test_update_tail_in_every_state(void **state)
{
	queue(0);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 8), 0);
	assert_int_equal(items[0].context[GHYVI_CTX_RING_TAIL], 8);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
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

static void test_a_slow_move_of_a_tail_does_not_block_other_workloads(void **state)
{
	pthread_t thread;

	gpu.in_update = wait_for_another;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
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

static void test_a_slow_complete_does_not_block_other_workloads(void **state)
{
	int i;

	go = 0;
	for (i = 0; i < 3; i++)
		items[i].in_complete = wait_to_go;
	items[1].prepare_result =
		-EFAULT; /* comes back from the look-ahead, the next from a kick */
	items[2].prepare_result = -EFAULT;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(3);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(ran(1), 3);
	assert_int_equal(items[0].completed + items[1].completed + items[2].completed, 0);
	go = 1;
	for (i = 0; i < 3; i++)
		wait_for(&items[i].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
}

/* Submits the next workload in complete(), as the device model does; no other thread kicks. */
static void queue_again(struct item *item)
{
	if (item->completed < 2)
		ghyvi_sched_queue(sched, &item->base);
}

static void test_a_workload_queued_in_complete_gets_the_engine(void **state)
{
	int i;

	items[0].in_complete = queue_again;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	for (i = 1; i <= 3; i++) {
		wait_for_runs(i);
		gpu_leave(GHYVI_RCS, i == 2 ? GHYVI_JOB_PREEMPTED : GHYVI_JOB_COMPLETE);
	}
	while (items[0].completed < 3)
		usleep_range(100, 200);
	assert_int_equal(gpu.runs, 3);
}

static void test_preemption_is_requested_then_enforced_and_reported(void **state)
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
static void test_a_workload_that_never_began_is_not_stopped(void **state)
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

static void let_timeslice_pass(void)
{
	gpu.before_run = NULL;
	queue(1);
	wait_for(&gpu.preempts);
	gpu.preempts = 0;
}

/* The backend does not know the job yet. */
static void test_an_early_preemption_request_is_repeated(void **state)
{
	struct ghyvi_sched_entity *late = give_owner(&items[0]), *other = give_owner(&items[1]);

	set_timeouts(100, 0);
	gpu.before_run = let_timeslice_pass;
	submit(0);
	wait_for_runs(1);
	wait_for(&gpu.preempts);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_PREEMPTED);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(late);
	ghyvi_sched_entity_destroy(other);
}

static _Atomic int destroyed_soon;

static void return_late(void)
{
	wait_for(&destroyed_soon);
	usleep_range(50 * 1000, 50 * 1000); /* ghyvi_sched_destroy() has begun by now */
}

static void *submitter(void *unused)
{
	submit(0);
	return NULL;
}

/* The thread reads the clock after run(), when the job has been completed. */
static void test_destruction_waits_for_a_thread_that_returns_from_run(void **state)
{
	pthread_t thread;

	destroyed_soon = 0;
	gpu.after_run = return_late;
	pthread_create(&thread, NULL, submitter, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	destroyed_soon = 1;
	ghyvi_sched_destroy(sched);
	pthread_join(thread, NULL);
	gpu.after_run = NULL;
}

static void test_without_a_timeout_no_workload_is_stopped(void **state)
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
			bound_case("test_nothing_is_lost_between_threads"); /* there is progress */
			if (ktime_get_ns() - began > ENOUGH_NS)
				break;
		}
		item->off_limits = false;
		ghyvi_sched_queue(sched, &item->base);
		if (rand_r(&seed) % 4 == 0)
			sched_yield();
		ghyvi_sched_kick(sched, GHYVI_RCS, item->base.owner);
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

static void test_nothing_is_lost_between_threads(void **state)
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
		TEST(test_first_come_first_served_one_at_a_time),
		TEST(test_engines_are_independent),
		TEST(test_a_failed_start_does_not_block_the_next_workload),
		TEST(test_cancel_removes_a_queued_workload),
		TEST(test_cancel_while_preparing_keeps_it_off_the_engine),
		TEST(test_cancel_of_a_running_workload_stops_the_engine),
		TEST(test_update_tail_in_every_state),
		TEST(test_a_slow_move_of_a_tail_does_not_block_other_workloads),
		TEST(test_a_slow_complete_does_not_block_other_workloads),
		TEST(test_a_workload_queued_in_complete_gets_the_engine),
		TEST(test_preemption_is_requested_then_enforced_and_reported),
		TEST(test_a_workload_that_never_began_is_not_stopped),
		cmocka_unit_test_setup_teardown(test_an_early_preemption_request_is_repeated,
						setup_on_copying_gpu, teardown),
		cmocka_unit_test_setup(test_destruction_waits_for_a_thread_that_returns_from_run,
				       setup_on_copying_gpu),
		TEST(test_without_a_timeout_no_workload_is_stopped),
		TEST(test_nothing_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
