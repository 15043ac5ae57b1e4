// SPDX-License-Identifier: GPL-2.0-only
/* Jobs, rings and batches of the software pGPU. */
#include "softgpu_fixture.h"

static void an_empty_ring_completes_at_once(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 0);
}

static void head_is_saved_where_the_tail_was(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_NOOP, MI_NOOP, MI_USER_INTERRUPT, MI_NOOP);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 16);
	assert_int_equal(atomic_read(&rig->interrupts), 1);
	assert_true(rig->job.busy_ns > 0);
	assert_int_equal(rig->registers[0x2034 / 4], 16);
	assert_int_equal(rig->registers[0x2038 / 4], RING_GGTT);
}

static void packets_wrap_at_the_end_of_the_ring(void **state)
{
	struct rig *rig = *state;

	rig->tail = RING_BYTES - 8;
	rig->context[GHYVI_CTX_RING_HEAD] = rig->tail;
	ring(rig, MI_STORE, ADDRESS(DATA + 8), 0x1234);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 0x1234);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 8);
}

static void every_engine_runs_jobs(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		rig->job.engine = i;
		ring(rig, MI_STORE, ADDRESS(DATA + 4 * i), i + 1);
		assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(data32(rig, 4 * i), i + 1);
	}
}

static void a_packet_that_goes_beyond_the_tail_is_an_error(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_NOOP, MI_NOOP, MI_STORE, LOW(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 8);
	assert_non_null(strstr(rig_reason(rig), "do not fit"));
}

static void a_bad_ring_is_an_error(void **state)
{
	struct rig *rig = *state;

	rig->context[GHYVI_CTX_RING_CTL] &= ~1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig->context[GHYVI_CTX_RING_CTL] |= 1;
	rig->context[GHYVI_CTX_RING_HEAD] = RING_BYTES;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig->context[GHYVI_CTX_RING_HEAD] = 0;
	rig->context[GHYVI_CTX_RING_START] = RING_GGTT + 8;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig->context[GHYVI_CTX_RING_START] = RING_GGTT;
	rig->context[GHYVI_CTX_RING_TAIL] = RING_BYTES;
	rig->job.budget_ns = NSEC_PER_SEC;
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "bad ring"));
}

static void batches_chain_and_return(void **state)
{
	struct rig *rig = *state;

	/* ring -> batch -> (second level) batch2 -> back -> (chain) batch3 -> ring */
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_START | MI_SECOND_LEVEL,
	      ADDRESS(BATCH2), MI_STORE, ADDRESS(DATA + 8), 3, MI_BATCH_START, ADDRESS(BATCH3));
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 4), 2, MI_BATCH_END);
	batch(rig->batch3, MI_STORE, ADDRESS(DATA + 12), 4, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 16), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (int i = 0; i < 5; i++)
		assert_int_equal(data32(rig, 4 * i), i + 1);
}

static void second_level_batches_do_not_nest(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH2));
	batch(rig->batch2, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH3));
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_ERROR);
	rig_reset(rig);
	ring(rig, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

static void a_batch_crosses_pages(void **state)
{
	struct rig *rig = *state;
	u32 *p = rig->batch + 1022;

	batch(p, MI_STORE, ADDRESS(DATA), 77, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH + 4088));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 77);
}

/* What the last packet had there would be executed once more. */
static void a_packet_whose_end_cannot_be_read_is_not_executed(void **state)
{
	const u32 increment = MI(0x2f, 1) | 5 << 8;
	u64 end = BATCH + BATCH_PAGES * PAGE_SIZE;
	struct rig *rig = *state;

	batch(rig->batch + BATCH_PAGES * 1024 - 4, increment, ADDRESS(DATA), increment);
	ring(rig, MI_BATCH_START, ADDRESS(end - 16));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(data32(rig, 0), 1);
	assert_non_null(strstr(rig_reason(rig), "not present"));
}

static void batch_end_in_the_ring_is_an_error(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_BATCH_END);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

static void the_indirect_context_runs_first_and_ends_by_size(void **state)
{
	struct rig *rig = *state;

	batch((u32 *)rig->indirect, MI_ARB_OFF, MI_STORE, ADDRESS(DATA), 5, MI_ARB_ON);
	((u32 *)rig->indirect)[16] = 0xffffffff; /* beyond its one line: must not be reached */
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	ring(rig, MI_LRM, GPR(0), ADDRESS(DATA), MI_SRM, GPR(0), ADDRESS(DATA + 4));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4), 5);
	/* Only the render engine has one. */
	rig->job.engine = GHYVI_BCS;
	memset(rig->data, 0, 8);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
}

static void registers_of_the_context_are_kept_unless_restore_is_inhibited(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_LRI(2), GPR(3), 7, GPR(15) + 4, 8);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->context[GHYVI_CTX_GPR + 2 * 6], 7);
	assert_int_equal(rig->context[GHYVI_CTX_GPR + 2 * 31], 8);
	ring(rig, MI_SRM, GPR(3), ADDRESS(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 7);
	rig->job.restore = false;
	ring(rig, MI_SRM, GPR(3), ADDRESS(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
}

static void cancel_ends_an_endless_batch_and_waits(void **state)
{
	struct rig *rig = *state;
	u64 begin;

	rig_start_endless(rig);
	begin = ktime_get_ns();
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	assert_true(ktime_get_ns() - begin < 2 * NSEC_PER_SEC);
	/* No later write. */
	WRITE_ONCE(*(u32 *)rig->data, 0);
	usleep_range(2000, 2000);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
	/* The engine goes on with other jobs; a second cancel finds nothing. */
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_reset(rig);
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 2);
}

static pthread_mutex_t cores_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t left;

static void done_that_waits_for_the_core(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	sem_post(&left);
	pthread_mutex_lock(&cores_lock);
	pthread_mutex_unlock(&cores_lock);
}

/* The core cancels with the lock that the done() of the job before is waiting for. */
static void cancel_of_a_queued_job_does_not_wait_for_the_one_before(void **state)
{
	struct rig *rig = *state;
	struct softgpu_job backend = {};
	struct ghyvi_job before = rig->job;

	before.backend = &backend;
	before.done = done_that_waits_for_the_core;
	sem_init(&left, 0, 0);
	pthread_mutex_lock(&cores_lock);
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &before), 0);
	sem_wait(&left);
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	rig_start(rig);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	pthread_mutex_unlock(&cores_lock);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
	assert_int_equal(data32(rig, 0), 0);
}

static void a_stopped_job_tells_where_the_engine_was(void **state)
{
	const u32 bad = 0x16 << 23;
	struct rig *rig = *state;

	ring(rig, MI_NOOP, MI_NOOP, bad, MI_NOOP);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_true(rig->job.fault.valid);
	assert_int_equal(rig->job.fault.ipehr, bad);
	assert_int_equal(rig->job.fault.ring_head, 8);
	assert_int_equal(rig->job.fault.acthd, RING_GGTT + 8);

	rig_reset(rig);
	rig->job.fault.valid = false;
	batch(rig->batch, MI_NOOP, bad);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_true(rig->job.fault.valid);
	assert_int_equal(rig->job.fault.ipehr, bad);
	assert_int_equal(rig->job.fault.ring_head, 12);
	assert_int_equal(rig->job.fault.acthd, BATCH + 12); /* after the command */

	rig_reset(rig);
	rig->job.fault.valid = false;
	batch(rig->batch, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_false(rig->job.fault.valid);
}

static void an_engine_that_is_destroyed_takes_no_job(void **state)
{
	struct rig *rig = *state;
	struct softgpu_engine *engine = &rig->gpu->engines[GHYVI_VCS];
	struct task_struct *thread = engine->thread;

	rig->job.engine = GHYVI_VCS;
	WRITE_ONCE(engine->stopping, true);
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), -EIO);
	WRITE_ONCE(engine->stopping, false);
	engine->thread = NULL;
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), -EIO);
	engine->thread = thread;
}

static void an_engine_takes_as_many_jobs_as_the_resources_say(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_pgpu_resources resources;
	struct softgpu_job backend = {};
	struct ghyvi_job other = rig->job;

	softgpu_ops.resources(softgpu_device(rig->gpu), &resources);
	assert_int_equal(resources.jobs_per_engine, 1);
	other.backend = &backend;
	rig_start_endless(rig);
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &other), -EBUSY);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
}

static void a_batch_that_is_changed_while_it_loops_ends(void **state)
{
	struct rig *rig = *state;

	rig_start_endless(rig);
	WRITE_ONCE(rig->batch[7], MI_BATCH_END);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
}

static void resources_have_the_documented_values(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_pgpu_resources resources;
	u64 before = softgpu_ops.timestamp(softgpu_device(rig->gpu));

	softgpu_ops.resources(softgpu_device(rig->gpu), &resources);
	assert_int_equal(resources.engines, 0xf);
	assert_int_equal(resources.ggtt_bytes, 4ULL << 30);
	assert_true(resources.private_ggtt);
	assert_int_equal(resources.timestamp_hz, NSEC_PER_SEC);
	usleep_range(1000, 1000);
	assert_true(softgpu_ops.timestamp(softgpu_device(rig->gpu)) - before >= 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(an_empty_ring_completes_at_once),
		RIG_TEST(head_is_saved_where_the_tail_was),
		RIG_TEST(packets_wrap_at_the_end_of_the_ring),
		RIG_TEST(every_engine_runs_jobs),
		RIG_TEST(a_packet_that_goes_beyond_the_tail_is_an_error),
		RIG_TEST(a_bad_ring_is_an_error),
		RIG_TEST(batches_chain_and_return),
		RIG_TEST(second_level_batches_do_not_nest),
		RIG_TEST(a_batch_crosses_pages),
		RIG_TEST(a_packet_whose_end_cannot_be_read_is_not_executed),
		RIG_TEST(batch_end_in_the_ring_is_an_error),
		RIG_TEST(the_indirect_context_runs_first_and_ends_by_size),
		RIG_TEST(registers_of_the_context_are_kept_unless_restore_is_inhibited),
		RIG_TEST(cancel_ends_an_endless_batch_and_waits),
		RIG_TEST(cancel_of_a_queued_job_does_not_wait_for_the_one_before),
		RIG_TEST(a_stopped_job_tells_where_the_engine_was),
		RIG_TEST(an_engine_that_is_destroyed_takes_no_job),
		RIG_TEST(an_engine_takes_as_many_jobs_as_the_resources_say),
		RIG_TEST(a_batch_that_is_changed_while_it_loops_ends),
		RIG_TEST(resources_have_the_documented_values),
	};

	return cmocka_run_group_tests_name("softgpu engine", tests, NULL, NULL);
}
