// SPDX-License-Identifier: GPL-2.0-only
/* Jobs of the software pGPU that are preempted, and tails that move. */
#include "softgpu_fixture.h"

static void lite_restore_runs_on_to_the_new_tail(void **state)
{
	struct rig *rig = *state;

	/* A semaphore keeps the job alive until the tail has moved. */
	ring(rig, MI_SEMAPHORE(4), 1, ADDRESS(DATA));
	rig_start(rig);
	ring(rig, MI_STORE, ADDRESS(DATA + 8), 99);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail),
			 0);
	WRITE_ONCE(*(u32 *)rig->data, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 99);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, 0), -ESTALE);
}

static void update_tail_is_honoured_or_refused(void **state)
{
	struct rig *rig = *state;
	unsigned int round, refused = 0;

	for (round = 0; round < 2000; round++) {
		u32 before = rig->tail;

		ring(rig, MI_STORE, ADDRESS(DATA), round);
		rig_start(rig);
		before = rig->tail;
		ring(rig, MI_STORE, ADDRESS(DATA + 4), round);
		if (softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail)) {
			rig->tail = before;
			refused++;
		}
		assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], rig->tail);
		if (rig->tail != before)
			assert_int_equal(data32(rig, 4), round);
	}
	(void)refused;
}

static void a_tail_outside_the_ring_is_an_error(void **state)
{
	const u32 tails[] = { RING_BYTES, RING_BYTES + 8 };
	struct rig *rig = *state;
	unsigned int i;

	rig->job.budget_ns = NSEC_PER_SEC;
	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		rig_reset(rig);
		WRITE_ONCE(*(u32 *)rig->data, 0);
		ring(rig, MI_SEMAPHORE(4), 1, ADDRESS(DATA));
		rig_start(rig);
		assert_int_equal(
			softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, tails[i]), 0);
		WRITE_ONCE(*(u32 *)rig->data, 1);
		assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
		assert_non_null(strstr(rig_reason(rig), "is outside the ring"));
		/* It stands where the tail was before. */
		assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 16);
	}
}

static void preempt_stops_between_ring_commands_and_can_go_on(void **state)
{
	struct rig *rig = *state;
	u32 head;

	ring(rig, MI_STORE, ADDRESS(DATA + 4), 1);
	head = rig->tail;
	ring(rig, MI_SEMAPHORE(4), 1, ADDRESS(DATA), MI_STORE, ADDRESS(DATA + 8), 2);
	rig_start(rig);
	while (!data32(rig, 4))
		sched_yield();
	rig_preempt(rig);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], head);
	assert_int_equal(data32(rig, 8), 0);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
}

/* The batch waits at a semaphore for DATA to be 1; preempt it there. */
static void preempt_at_semaphore(struct rig *rig)
{
	rig_start(rig);
	while (!data32(rig, 4))
		sched_yield();
	rig_preempt(rig);
}

/*
 * Arbitration is off, as i915 has it around the batches of a vGPU. The guest does not see the
 * preemption.
 */
static void preempt_stops_inside_a_batch_and_can_go_on(void **state)
{
	struct rig *rig = *state;
	u32 head;

	rig->job.restore = false;
	batch(rig->batch, MI_LRI(1), GPR(3), 33, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1,
	      ADDRESS(DATA), MI_SRM, GPR(3), ADDRESS(DATA + 8), MI_BATCH_END);
	ring(rig, MI_ARB_OFF, MI_BATCH_START, ADDRESS(BATCH));
	head = rig->tail;
	ring(rig, MI_STORE, ADDRESS(DATA + 12), 3, MI_ARB_ON);
	preempt_at_semaphore(rig);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], head);
	assert_int_equal(data32(rig, 8), 0);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 33);
	assert_int_equal(data32(rig, 12), 3);
}

static void preemption_keeps_the_callers_of_a_batch(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH2), MI_STORE,
	      ADDRESS(DATA + 12), 3, MI_BATCH_END);
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA),
	      MI_STORE, ADDRESS(DATA + 8), 2, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 16), 4);
	preempt_at_semaphore(rig);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
	assert_int_equal(data32(rig, 12), 3);
	assert_int_equal(data32(rig, 16), 4);
}

/* A privileged batch stays one, a user's batch does not become one. */
static void preemption_keeps_the_rights_of_a_batch(void **state)
{
	struct rig *rig = *state;

	batch(rig->ggtt_data + 512, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1,
	      ADDRESS(DATA), MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT), 5, MI_BATCH_END);
	ring(rig, MI_BATCH_START_GGTT, ADDRESS(DATA_GGTT + 512));
	preempt_at_semaphore(rig);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)rig->ggtt_data, 5);

	*(u64 *)rig->data = 0;
	rig_reset(rig);
	memset(&rig->backend, 0, sizeof(rig->backend));
	memcpy(rig->batch, rig->ggtt_data + 512, 64);
	rig->batch[11] = 6;
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	preempt_at_semaphore(rig);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)rig->ggtt_data, 5);
}

/* softgpu does not read the part of the context in which hardware keeps the position. */
static void preemption_keeps_the_position_out_of_the_context(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA),
	      MI_STORE, ADDRESS(DATA + 8), 2, MI_BATCH_END);
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 12), 3, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	preempt_at_semaphore(rig);
	for (i = 0x0d; i <= 0x17; i++) {
		assert_int_equal(rig->context[i], 0);
		rig->context[i] = i & 4 ? LOW(BATCH2) : HIGH(BATCH2);
	}
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
	assert_int_equal(data32(rig, 12), 0);
}

static void a_preempted_context_is_not_loaded_by_the_guest(void **state)
{
	struct rig *rig = *state;

	batch(rig->indirect, MI_LRI(1), GPR(3), 33, MI_NOOP);
	memset(rig->indirect + 16, 0, 48);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	ring(rig, MI_SRM, GPR(3), ADDRESS(DATA + 8), MI_LRI(1), GPR(3), 44, MI_STORE,
	     ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA), MI_SRM, GPR(3),
	     ADDRESS(DATA + 12));
	preempt_at_semaphore(rig);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 33);
	assert_int_equal(data32(rig, 12), 44);
}

/*
 * Its images have no place for the registers, but a batch that is away for a moment must find them.
 */
static void preempt_keeps_the_registers_of_gen8_too(void **state)
{
	preempt_stops_inside_a_batch_and_can_go_on(state);
}

static void a_preempted_job_goes_on_to_the_last_tail(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA),
	      MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	ring(rig, MI_STORE, ADDRESS(DATA + 8), 2);
	while (!data32(rig, 4))
		sched_yield();
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail),
			 0);
	rig_preempt(rig);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail),
			 -ESTALE);
	*(u32 *)rig->data = 1;
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
}

#define COUNT_UP 255
#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define COUNT \
	MI(0x1a, 3), ALU(0x80, 0x20, 0), ALU(0x80, 0x21, 1), ALU(0x100, 0, 0), ALU(0x180, 0, 0x31)

/* Each block counts and stores, calls a batch that counts, and stores. */
static void write_counting_batches(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < COUNT_UP; i++)
		batch(rig->batch + 16 * i, COUNT, MI_SRM, GPR(0), ADDRESS(DATA + 8 * i),
		      MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH3), MI_SRM, GPR(0),
		      ADDRESS(DATA + 8 * i + 4));
	rig->batch[16 * i] = MI_BATCH_END;
	batch(rig->batch3, COUNT, MI_BATCH_END);
}

static enum ghyvi_job_status preempt_until_it_ends(struct rig *rig, unsigned int *preempted)
{
	enum ghyvi_job_status status;
	u64 until;

	do {
		rig_start(rig);
		until = ktime_get_ns() + rand() % 200000;
		while (ktime_get_ns() < until)
			;
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		*preempted += status == GHYVI_JOB_PREEMPTED;
	} while (status == GHYVI_JOB_PREEMPTED);
	return status;
}

/* A command that was left out, or done twice, would show in all counts from there on. */
static void each_command_runs_once_wherever_it_is_preempted(void **state)
{
	struct rig *rig = *state;
	unsigned int i, preempted = 0, rounds;

	write_counting_batches(rig);
	for (rounds = 0; rounds < 2000 && preempted < 100; rounds++) {
		rig_reset(rig);
		memset(&rig->backend, 0, sizeof(rig->backend));
		memset(rig->data, 0, 8 * COUNT_UP);
		ring(rig, MI_LRI(2), GPR(0), 0, GPR(1), 1, MI_BATCH_START, ADDRESS(BATCH));
		assert_int_equal(preempt_until_it_ends(rig, &preempted), GHYVI_JOB_COMPLETE);
		for (i = 0; i < 2 * COUNT_UP; i++)
			assert_int_equal(data32(rig, 4 * i), i + 1);
	}
	assert_true(preempted >= 100);
}

static sem_t inside, go_on, ended;
static enum ghyvi_job_status ended_with;

static void slow_done(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	sem_post(&inside);
	while (sem_wait(&go_on))
		;
	rig_of(job)->status = status;
	sem_post(&rig_of(job)->done);
}

static void second_done(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	ended_with = status;
	sem_post(&ended);
}

static enum ghyvi_job_status second_ends(void)
{
	while (sem_wait(&ended))
		;
	return ended_with;
}

/*
 * The engine still completes the previous job when the second one, whose tail has moved, is
 * preempted.
 */
static void a_job_that_never_began_keeps_its_last_tail(void **state)
{
	static u32 context[GHYVI_CTX_DWORDS];
	struct rig *rig = *state;
	struct softgpu_job backend = {};
	struct ghyvi_job second;

	sem_init(&inside, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&ended, 0, 0);
	ring(rig, MI_STORE, ADDRESS(DATA + 4), 1);
	rig->job.done = slow_done;
	rig_start(rig);
	while (sem_wait(&inside))
		;
	memcpy(context, rig->context, sizeof(context));
	second = rig->job;
	second.backend = &backend;
	second.context = context;
	second.done = second_done;
	second.busy_ns = 0;
	context[GHYVI_CTX_RING_HEAD] = rig->tail;
	ring(rig, MI_STORE, ADDRESS(DATA + 8), 2);
	ring_pad(rig);
	context[GHYVI_CTX_RING_TAIL] = rig->tail;
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &second), 0);
	ring(rig, MI_STORE, ADDRESS(DATA + 12), 3);
	ring_pad(rig);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &second, rig->tail), 0);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &second);
	sem_post(&go_on);
	assert_int_equal(second_ends(), GHYVI_JOB_CANCELLED);
	assert_int_equal(second.busy_ns, 0);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &second), 0);
	assert_int_equal(second_ends(), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
	assert_int_equal(data32(rig, 12), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(lite_restore_runs_on_to_the_new_tail),
		RIG_TEST(update_tail_is_honoured_or_refused),
		RIG_TEST(a_tail_outside_the_ring_is_an_error),
		RIG_TEST(preempt_stops_between_ring_commands_and_can_go_on),
		RIG_TEST(preempt_stops_inside_a_batch_and_can_go_on),
		RIG_TEST(preemption_keeps_the_callers_of_a_batch),
		RIG_TEST(preemption_keeps_the_rights_of_a_batch),
		RIG_TEST(preemption_keeps_the_position_out_of_the_context),
		RIG_TEST(a_preempted_context_is_not_loaded_by_the_guest),
		cmocka_unit_test_setup_teardown(preempt_keeps_the_registers_of_gen8_too,
						rig_setup_gen8, rig_teardown),
		RIG_TEST(a_preempted_job_goes_on_to_the_last_tail),
		RIG_TEST(each_command_runs_once_wherever_it_is_preempted),
		RIG_TEST(a_job_that_never_began_keeps_its_last_tail),
	};

	return cmocka_run_group_tests_name("softgpu preemption", tests, NULL, NULL);
}
