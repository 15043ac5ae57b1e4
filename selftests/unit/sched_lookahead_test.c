// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preparation: look-ahead, the thread that prepares, and workloads that are not prepared in time.
 */
#include "sched/sched_types.h"
#include "sched_items.h"

/* Look-ahead. */

static void test_the_next_workload_is_prepared_once_while_the_engine_runs(void **state)
{
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	queue(2);
	wait_for(&items[1].prepared);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(items[2].prepared, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(2);
	wait_for(&items[2].prepared);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(3);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].prepared, 1);
	assert_int_equal(items[2].prepared, 1);
}

static void test_a_workload_picked_during_its_preparation_starts_after_it(void **state)
{
	go = 0;
	items[1].in_prepare = wait_to_go;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	go = 1;
	wait_for_runs(2);
	assert_int_equal(ran(1), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(3);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].prepared, 1);
}

static void test_a_workload_prepared_ahead_can_fail_or_be_cancelled(void **state)
{
	items[2].prepare_result = -EFAULT;
	items[3].in_prepare = cancel_in_prepare;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	usleep_range(1000, 2000);
	assert_true(ghyvi_sched_cancel(sched, &items[1].base));
	queue(2);
	wait_for(&items[2].completed);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
	queue(3);
	wait_for(&items[3].completed);
	assert_int_equal(items[3].status, GHYVI_JOB_CANCELLED);
	queue(4);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(2);
	assert_int_equal(ran(1), 4);
	assert_int_equal(items[1].completed, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

/* The thread that prepares. */

/* Fails when @counter does not become @value. */
static void assert_becomes(_Atomic int *counter, int value)
{
	becomes(counter, value);
	assert_int_equal(*counter, value);
}

static void test_a_guests_thread_prepares_and_starts_its_own_workload(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);

	submit(0);
	assert_int_equal(gpu.runs, 1);
	assert_true(pthread_equal(items[0].preparer, pthread_self()));
	assert_true(pthread_equal(items[0].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

/* With a mutex it could be throttled, and keep all other vGPUs from starting. */
static void test_a_guests_thread_takes_no_mutex_to_start_its_workload(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);
	struct mutex *start = &sched->engines[GHYVI_RCS].start;

	mutex_lock(start); /* so that taking it again ends the program */
	submit(0);
	assert_int_equal(gpu.runs, 1);
	mutex_unlock(start);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

/* That guest's process may be about to be killed, or have no time on a CPU left. */
static void test_a_guests_thread_leaves_anothers_workload_to_the_host(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	set_timeouts(GHYVI_SCHED_TIMESLICE_MAX_US, 0);
	queue(0);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(ran(0), 0);
	assert_false(pthread_equal(items[0].preparer, pthread_self()));
	assert_false(pthread_equal(items[0].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

/*
 * Two vGPUs; the second one's workload is already prepared when a thread of the first one's guest
 * gives it the engine.
 */
static void test_a_guests_thread_does_not_start_anothers_prepared_workload(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	items[0].prepare_result = -EFAULT;
	items[0].in_prepare = queue_1_and_have_it_prepared;
	submit(0);
	assert_becomes(&gpu.runs, 1);
	assert_false(pthread_equal(items[1].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

/* The guest's thread may be throttled in run(), and the engine waits meanwhile. */
static void test_a_run_that_copies_is_called_by_the_host(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);

	submit(0);
	assert_true(pthread_equal(items[0].preparer, pthread_self()));
	assert_becomes(&gpu.runs, 1);
	assert_false(pthread_equal(items[0].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

static void take_5_ms(void)
{
	usleep_range(5000, 5100);
}

static void test_copying_is_charged_as_preparation(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);

	gpu.before_run = gpu.in_update = take_5_ms;
	submit(0);
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 64), 0);
	gpu.before_run = gpu.in_update = NULL;
	assert_true((u64)atomic64_read(&stats.prepare_ns_rcs) >= 10 * NSEC_PER_MSEC);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_true(entity->rqs[GHYVI_RCS].fair.vtime >= 10 * NSEC_PER_MSEC);
	ghyvi_sched_entity_destroy(entity);
}

static void let_another_have_the_engine(struct item *item)
{
	assert_becomes(&gpu.runs, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

/* It is prepared when the guest's thread gives it the engine for the second time. */
static void test_a_late_workload_whose_run_copies_is_started_by_the_host(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	set_timeouts(100, 1000);
	items[0].in_prepare = let_another_have_the_engine;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS, one);
	assert_becomes(&gpu.runs, 2);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[0].prepared, 1);
	assert_int_equal(ran(1), 0);
	assert_false(pthread_equal(items[0].starter, pthread_self()));
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

static void test_a_workload_for_the_host_to_start_can_be_cancelled(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);
	unsigned int i;

	for (i = 1; i <= 200; i++) {
		submit(0);
		if (!ghyvi_sched_cancel(sched, &items[0].base) && gpu_take(GHYVI_RCS))
			items[0].base.job.done(&items[0].base.job, GHYVI_JOB_CANCELLED);
		assert_becomes(&items[0].completed, i);
	}
	ghyvi_sched_entity_destroy(entity);
}

/* A guest's VMM sets the knobs when it loads a saved state. */
static void test_a_thread_that_sets_knobs_starts_no_workload(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);
	struct ghyvi_sched_knobs knobs;

	queue_1_and_have_it_prepared(NULL);
	ghyvi_sched_knobs(one, &knobs);
	assert_int_equal(ghyvi_sched_set_knobs(one, &knobs), 0);
	assert_becomes(&gpu.runs, 1);
	assert_false(pthread_equal(items[1].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

/* A workload in preparation keeps its engine only until another vGPU is due. */

static void prepare_until_told(struct item *item)
{
	int ms;

	for (ms = 0; !go && ms < 2 * PATIENCE_MS; ms++)
		usleep_range(1000, 1100);
}

/* The first vGPU gets the engine, and its preparation does not end. */
static void give_engine_to_a_slow_one(struct ghyvi_sched_entity *entities[2])
{
	unsigned int i;

	go = 0;
	for (i = 0; i < 2; i++)
		entities[i] = give_owner(&items[i]);
	items[0].in_prepare = prepare_until_told;
	queue(0);
	/* As the other's thread, which does not prepare. */
	ghyvi_sched_kick(sched, GHYVI_RCS, items[1].base.owner);
	assert_becomes(&items[0].prepared, 1);
}

static void forget_owners(struct ghyvi_sched_entity *entities[2])
{
	ghyvi_sched_entity_destroy(entities[0]);
	ghyvi_sched_entity_destroy(entities[1]);
}

static void the_slow_one_gives_way(const char *policy, u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_entity *entities[2];

	assert_int_equal(ghyvi_sched_set_policy(sched, policy), 0);
	set_timeouts(timeslice_us, preempt_timeout_us);
	give_engine_to_a_slow_one(entities);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(ran(0), 1);
	assert_int_equal(items[0].completed, 0);
	go = 1;
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_becomes(&gpu.runs, 2);
	assert_int_equal(ran(1), 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[0].prepared, 1);
	assert_true(atomic64_read(&stats.prepare_ns_rcs) > 0);
	forget_owners(entities);
}

static void test_a_workload_prepared_for_longer_than_a_timeslice_gives_way(void **state)
{
	static const char *const names[] = { "fifo", "credit", "band", "fair" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		the_slow_one_gives_way(names[i], 100, 0);
	}
}

static void test_a_workload_prepared_for_longer_than_the_timeout_gives_way(void **state)
{
	the_slow_one_gives_way("fair", GHYVI_SCHED_TIMESLICE_MAX_US,
			       GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US);
}

static void test_a_workload_prepared_while_no_other_waits_keeps_the_engine(void **state)
{
	struct ghyvi_sched_entity *entities[2];

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	usleep_range(10000, 11000);
	go = 1;
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(atomic64_read(&stats.switches_rcs), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	forget_owners(entities);
}

static void test_workloads_of_one_vgpu_stay_in_order_when_the_first_is_late(void **state)
{
	struct ghyvi_sched_entity *entities[2];
	int i;

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	items[2].base.owner = items[0].base.owner;
	queue(2);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	submit(1);
	assert_becomes(&gpu.runs, 2); /* the other vGPU still has the engine for itself */
	go = 1;
	for (i = 2; i <= 4; i++) {
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		if (i < 4)
			assert_becomes(&gpu.runs, i + 1);
	}
	assert_int_equal(ran(1), 1);
	assert_int_equal(ran(2), 0);
	assert_int_equal(ran(3), 2);
	forget_owners(entities);
}

static void test_a_late_workload_can_fail(void **state)
{
	struct ghyvi_sched_entity *entities[2];

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	items[0].prepare_result = -EFAULT;
	items[2].base.owner = items[0].base.owner;
	queue(2);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	go = 1;
	assert_becomes(&items[0].completed, 1);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_becomes(&gpu.runs, 2); /* the next workload of the queue runs */
	assert_int_equal(ran(1), 2);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	forget_owners(entities);
}

/* Before the engine is given to another, and after. */
static void test_a_late_workload_can_be_cancelled(void **state)
{
	struct ghyvi_sched_entity *entities[2];
	bool after;

	for (after = false;; after = true) {
		set_timeouts(100, 1000);
		give_engine_to_a_slow_one(entities);
		if (!after)
			assert_false(ghyvi_sched_cancel(sched, &items[0].base));
		submit(1);
		assert_becomes(&gpu.runs, 1);
		assert_int_equal(ran(0), 1);
		if (after)
			assert_false(ghyvi_sched_cancel(sched, &items[0].base));
		assert_int_equal(items[0].completed, 0);
		go = 1;
		assert_becomes(&items[0].completed, 1);
		assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		assert_int_equal(gpu.runs, 1);
		forget_owners(entities);
		if (after)
			break;
		teardown(state);
		setup(state);
	}
}

static void prepare_for_2_ms(struct item *item)
{
	usleep_range(2000, 2100);
}

static void test_failed_preparation_ahead_is_counted(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[1]);

	items[1].in_prepare = prepare_for_2_ms;
	items[1].prepare_result = -EFAULT;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].completed);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&stats.prepared_ahead_rcs), 1);
	assert_true(atomic64_read(&stats.prepare_ns_rcs) >= 2000000);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

#define COPYING(f) cmocka_unit_test_setup_teardown(f, setup_on_copying_gpu, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_next_workload_is_prepared_once_while_the_engine_runs),
		TEST(test_a_guests_thread_prepares_and_starts_its_own_workload),
		TEST(test_a_guests_thread_takes_no_mutex_to_start_its_workload),
		TEST(test_a_guests_thread_leaves_anothers_workload_to_the_host),
		TEST(test_a_guests_thread_does_not_start_anothers_prepared_workload),
		TEST(test_a_thread_that_sets_knobs_starts_no_workload),
		COPYING(test_a_run_that_copies_is_called_by_the_host),
		COPYING(test_copying_is_charged_as_preparation),
		COPYING(test_a_late_workload_whose_run_copies_is_started_by_the_host),
		COPYING(test_a_workload_for_the_host_to_start_can_be_cancelled),
		TEST(test_a_workload_prepared_for_longer_than_a_timeslice_gives_way),
		TEST(test_a_workload_prepared_for_longer_than_the_timeout_gives_way),
		TEST(test_a_workload_prepared_while_no_other_waits_keeps_the_engine),
		TEST(test_workloads_of_one_vgpu_stay_in_order_when_the_first_is_late),
		TEST(test_a_late_workload_can_fail),
		TEST(test_a_late_workload_can_be_cancelled),
		TEST(test_failed_preparation_ahead_is_counted),
		TEST(test_a_workload_picked_during_its_preparation_starts_after_it),
		TEST(test_a_workload_prepared_ahead_can_fail_or_be_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
