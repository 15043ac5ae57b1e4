// SPDX-License-Identifier: GPL-2.0-only
/* The limit of a job's GPU time: which jobs it ends, and which not. */
#include "softgpu_fixture.h"

#define BUDGET_NS (20 * NSEC_PER_MSEC)

/* A job is seen to run until it writes here. */
static void wait_for_data(struct rig *rig, u32 offset)
{
	while (!data32(rig, offset))
		usleep_range(100, 200);
}

static void an_endless_batch_ends_when_its_time_is_used_up(void **state)
{
	struct rig *rig = *state;

	rig->job.budget_ns = BUDGET_NS;
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_ERROR);
	assert_int_equal(data32(rig, 0), 1);
	assert_true(rig->job.busy_ns >= BUDGET_NS);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
	assert_non_null(strstr(rig_reason(rig), "GPU time of 20 ms used up"));
}

static void waiting_for_a_semaphore_uses_time_up(void **state)
{
	struct rig *rig = *state;

	rig->job.budget_ns = BUDGET_NS;
	ring(rig, MI_SEMAPHORE(4) | MI_GGTT, 1, ADDRESS(DATA_GGTT)); /* equal to 1 */
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 0);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
}

/* Each poll is a slice. They begin at 10 us, and become one each 500 us within 12 polls. */
static void a_long_wait_for_a_semaphore_polls_seldom(void **state)
{
	struct rig *rig = *state;
	const struct softgpu_engine *engine = &rig->gpu->engines[GHYVI_RCS];
	u64 slices = engine->slice;

	rig->job.budget_ns = BUDGET_NS;
	ring(rig, MI_SEMAPHORE(4) | MI_GGTT, 1, ADDRESS(DATA_GGTT)); /* equal to 1 */
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	slices = engine->slice - slices;
	assert_in_range(slices, 2, rig->job.busy_ns / 500000 + 20);
}

static void without_a_budget_nothing_ends_it(void **state)
{
	struct rig *rig = *state;

	rig->job.budget_ns = 0;
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	wait_for_data(rig, 0);
	usleep_range(2 * BUDGET_NS / 1000, 2 * BUDGET_NS / 1000);
	assert_int_equal(sem_trywait(&rig->done), -1);
	rig_cancel(rig);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 0);
}

/* A preempted job gets no additional time. */
static void an_endless_batch_uses_its_time_up_in_parts(void **state)
{
	struct rig *rig = *state;
	enum ghyvi_job_status status = GHYVI_JOB_PREEMPTED;
	u64 busy_ns = 0;
	unsigned int parts;

	rig->job.budget_ns =
		10 * BUDGET_NS; /* far more than a part gets, also where CPUs are rare */
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	for (parts = 0; status == GHYVI_JOB_PREEMPTED; parts++) {
		rig_start(rig);
		wait_for_data(rig, 0);
		usleep_range(1000, 1000);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		busy_ns += rig->job.busy_ns;
	}
	assert_int_equal(status, GHYVI_JOB_ERROR);
	assert_true(parts > 2);
	assert_true(busy_ns >= 10 * BUDGET_NS && busy_ns < 40 * BUDGET_NS);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
}

/*
 * Ends @parts of the job by preemption, with @between before each goes on, until it ends by itself.
 */
static enum ghyvi_job_status run_in_parts(struct rig *rig, unsigned int *parts, u64 *busy_ns,
					  void (*between)(struct rig *rig))
{
	enum ghyvi_job_status status = GHYVI_JOB_PREEMPTED;

	*busy_ns = 0;
	for (*parts = 0; status == GHYVI_JOB_PREEMPTED && *busy_ns < 100 * BUDGET_NS; (*parts)++) {
		if (*parts) {
			between(rig);
			assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
		} else {
			rig_start(rig);
		}
		usleep_range(1000, 1000);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		*busy_ns += rig->job.busy_ns;
	}
	return status;
}

static void add_nothing(struct rig *rig)
{
}

static void add_to_the_ring(struct rig *rig)
{
	ring(rig, MI_NOOP, MI_NOOP);
	rig->context[GHYVI_CTX_RING_TAIL] = rig->tail;
}

/* As many as a ring takes. */
static void more_in_the_ring_gives_an_endless_batch_no_time(void **state)
{
	struct rig *rig = *state;
	u64 started = ktime_get_ns();

	rig->job.budget_ns = 10 * BUDGET_NS;
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	wait_for_data(rig, 0);
	while (ktime_get_ns() - started < 100 * BUDGET_NS) {
		ring(rig, MI_NOOP, MI_NOOP);
		if (softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail))
			break;
		usleep_range(10000, 10000);
	}
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job); /* if it has not ended */
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
}

/* Also not while it is off the engine. */
static void more_between_its_turns_gives_an_endless_batch_no_time(void **state)
{
	struct rig *rig = *state;
	unsigned int parts;
	u64 busy_ns;

	rig->job.budget_ns = 10 * BUDGET_NS;
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	assert_int_equal(run_in_parts(rig, &parts, &busy_ns, add_to_the_ring), GHYVI_JOB_ERROR);
	assert_true(parts > 2 && busy_ns >= 10 * BUDGET_NS);
}

/* A wait in the ring is as endless as one in a batch. */
static void a_semaphore_in_the_ring_uses_its_time_up_in_parts(void **state)
{
	struct rig *rig = *state;
	unsigned int parts;
	u64 busy_ns;

	rig->job.budget_ns = 10 * BUDGET_NS;
	ring(rig, MI_SEMAPHORE(4) | MI_GGTT, 1, ADDRESS(DATA_GGTT));
	assert_int_equal(run_in_parts(rig, &parts, &busy_ns, add_nothing), GHYVI_JOB_ERROR);
	assert_true(parts > 2 && busy_ns >= 10 * BUDGET_NS);
}

/*
 * A context whose work ends, and which is given more to do again and again, may stay on its engine
 * for ever.
 */
static void added_commands_have_their_own_budget(void **state)
{
	struct rig *rig = *state;
	u64 started = ktime_get_ns();
	u32 i;

	rig->job.budget_ns = 30 * BUDGET_NS; /* long: this thread may have to wait for a CPU */
	WRITE_ONCE(*(u32 *)rig->ggtt_data, 0);
	ring(rig, MI_SEMAPHORE(1) | MI_GGTT, 1, ADDRESS(DATA_GGTT)); /* at least 1 */
	rig_start(rig);
	for (i = 2; ktime_get_ns() - started < 40 * BUDGET_NS; i++) {
		ring(rig, MI_SEMAPHORE(1) | MI_GGTT, i, ADDRESS(DATA_GGTT));
		assert_int_equal(
			softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail), 0);
		usleep_range(10000, 10000);
		WRITE_ONCE(*(u32 *)rig->ggtt_data, i - 1);
		usleep_range(1000, 1000);
	}
	WRITE_ONCE(*(u32 *)rig->ggtt_data, i);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 0);
}

/* The engine reads its clock and the tail one after the other. */
static void a_tail_that_moves_meanwhile_is_no_overrun(void **state)
{
	struct rig *rig = *state;
	u64 started = ktime_get_ns();

	rig->job.budget_ns = 3600ull * NSEC_PER_SEC;
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	wait_for_data(rig, 0);
	while (ktime_get_ns() - started < 20 * BUDGET_NS &&
	       !softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail))
		;
	rig_cancel(rig);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 0);
}

static void the_next_job_starts_from_its_own_state(void **state)
{
	struct rig *rig = *state;

	an_endless_batch_ends_when_its_time_is_used_up(state);
	rig_reset(rig);
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 2, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(an_endless_batch_ends_when_its_time_is_used_up),
		RIG_TEST(waiting_for_a_semaphore_uses_time_up),
		RIG_TEST(a_long_wait_for_a_semaphore_polls_seldom),
		RIG_TEST(without_a_budget_nothing_ends_it),
		RIG_TEST(an_endless_batch_uses_its_time_up_in_parts),
		RIG_TEST(more_in_the_ring_gives_an_endless_batch_no_time),
		RIG_TEST(more_between_its_turns_gives_an_endless_batch_no_time),
		RIG_TEST(a_semaphore_in_the_ring_uses_its_time_up_in_parts),
		RIG_TEST(added_commands_have_their_own_budget),
		RIG_TEST(a_tail_that_moves_meanwhile_is_no_overrun),
		RIG_TEST(the_next_job_starts_from_its_own_state),
	};

	return cmocka_run_group_tests_name("softgpu budget", tests, NULL, NULL);
}
