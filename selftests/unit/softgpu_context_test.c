// SPDX-License-Identifier: GPL-2.0-only
/* Contexts and registers: what a job loads, saves and publishes; and when it stops. */
#include "softgpu_fixture.h"

/* Registers that engines publish during and after a job. */

static u32 shown(struct rig *rig, u32 offset)
{
	return READ_ONCE(rig->registers[offset / 4]);
}

static void wait_until_shown(struct rig *rig, u32 offset, u32 value)
{
	while (shown(rig, offset) != value) /* never: shows as a time-out of the test program */
		usleep_range(50, 100);
}

static void registers_show_the_position_of_an_engine(void **state)
{
	struct rig *rig = *state;
	u64 semaphore = DATA + 0x40;

	ring(rig, 0, 0, MI_SEMAPHORE(4), 1, ADDRESS(DATA), 0);
	rig_start(rig);
	wait_until_shown(rig, RCS + 0x74, RING_GGTT + 8);
	wait_until_shown(rig, RCS + 0x68, MI_SEMAPHORE(4));
	assert_int_equal(shown(rig, RCS + 0x5c), 0);
	assert_int_equal(shown(rig, RCS + 0x30), 0); /* the tail is for the core to show */
	assert_int_equal(shown(rig, RCS + 0x34), 8);
	assert_int_equal(shown(rig, RCS + 0x38), RING_GGTT);
	assert_int_equal(shown(rig, RCS + 0x3c), (RING_BYTES - 4096) | 1);
	assert_int_equal(shown(rig, RCS + 0x140), 0);
	assert_int_equal(shown(rig, RCS + 0x168), 0);
	WRITE_ONCE(*(u32 *)rig->data, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(shown(rig, RCS + 0x34), 32);
	assert_int_equal(shown(rig, RCS + 0x74), RING_GGTT + 32);
	rig_reset(rig);

	WRITE_ONCE(*(u32 *)rig->data, 0);
	batch(rig->data + 0x40, MI_SEMAPHORE(4), 1, ADDRESS(DATA), MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(semaphore));
	rig_start(rig);
	wait_until_shown(rig, RCS + 0x5c, HIGH(semaphore));
	wait_until_shown(rig, RCS + 0x74, LOW(semaphore));
	assert_int_equal(shown(rig, RCS + 0x140), LOW(semaphore) | 1);
	assert_int_equal(shown(rig, RCS + 0x168), HIGH(semaphore));
	WRITE_ONCE(*(u32 *)rig->data, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
}

static u64 in_16_days(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return ((u64)time.tv_sec + 400 * 3600) * NSEC_PER_SEC + (u64)time.tv_nsec;
}

static void timestamps_wrap_at_36_bits(void **state)
{
	struct rig *rig = *state;
	u64 ticks;

	shim_clock = in_16_days; /* 0x1000000000 ticks are 95 minutes */
	ring(rig, MI_SRM, RCS + 0x358, ADDRESS(DATA), MI_SRM, RCS + 0x35c, ADDRESS(DATA + 4));
	ring(rig, PIPE_CONTROL, POST_TIMESTAMP, ADDRESS(DATA + 8), 0, 0);
	ticks = softgpu_ticks(9, ktime_get_ns());
	assert_completes(rig);
	assert_true(ticks > 1ULL << 40);
	ticks &= GENMASK_ULL(35, 0);
	assert_true(data64(rig, 0) - ticks < 60ULL * SECOND_HZ ||
		    data64(rig, 0) < 60ULL * SECOND_HZ);
	assert_int_equal(data64(rig, 0) >> 36, 0);
	assert_int_equal(data64(rig, 8) >> 36, 0);
	shim_clock = NULL;
}

static void timestamps_of_every_engine_can_be_read(void **state)
{
	static const u32 bases[] = { RCS, BCS, 0x12000, 0x1a000 };
	struct rig *rig = *state;
	u64 before, after;
	unsigned int i;

	rig->context[GHYVI_CTX_TIMESTAMP] = 5000;
	memset(rig->data, 0xff, 64);
	for (i = 0; i < 4; i++)
		ring(rig, MI_SRM, bases[i] + 0x358, ADDRESS(DATA + 16 * i), MI_SRM,
		     bases[i] + 0x35c, ADDRESS(DATA + 16 * i + 4), MI_SRM, bases[i] + 0x3a8,
		     ADDRESS(DATA + 16 * i + 8));
	before = softgpu_ticks(9, ktime_get_ns()) & GENMASK_ULL(35, 0);
	assert_completes(rig);
	after = softgpu_ticks(9, ktime_get_ns()) & GENMASK_ULL(35, 0);
	for (i = 0; i < 4; i++) {
		assert_in_range(data64(rig, 16 * i), before, after);
		if (i)
			assert_int_equal(data32(rig, 16 * i + 8), 0);
		else
			assert_in_range(data32(rig, 8), 5000, 5000 + (after - before));
	}
}

/* Contexts that can be loaded. */

static void a_context_must_name_a_ring_of_whole_pages(void **state)
{
	static const struct {
		u32 start, control, head, tail;
		bool good;
	} rows[] = {
		{ RING_GGTT, 1, 4096 - 8, 0, true },
		{ RING_GGTT, 1, 4096, 0, false },
		{ RING_GGTT, 1, 0, 4096, false },
		{ RING_GGTT, 1, 4096 - 4, 4096 - 8, true },
		{ RING_GGTT, 0x1001, 4096, 8192 - 8, true },
		{ RING_GGTT, 0x1001, 8192, 0, false },
		{ RING_GGTT, 0x1001, 0, 8192, false },
		{ RING_GGTT, 0x1000, 0, 0, false },
		{ RING_GGTT + 4, 1, 0, 0, false },
		{ RING_GGTT + 2048, 1, 0, 0, false },
		{ RING_GGTT, 0xff000fff, 3, 7, true },
	};
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		enum ghyvi_job_status status;

		rig->context[GHYVI_CTX_RING_START] = rows[i].start;
		rig->context[GHYVI_CTX_RING_CTL] = rows[i].control;
		rig->context[GHYVI_CTX_RING_HEAD] = rows[i].head;
		rig->context[GHYVI_CTX_RING_TAIL] = rows[i].tail;
		rig->job.budget_ns = NSEC_PER_SEC;
		assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
		status = rig_wait(rig);
		if (status != (rows[i].good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR))
			fail_msg("row %u: %d, %s", i, status, rig_reason(rig));
	}
}

static void tables_have_three_or_four_levels(void **state)
{
	struct rig *rig = *state;
	unsigned int levels;

	for (levels = 0; levels < 6; levels++) {
		rig->job.levels = levels;
		assert_int_equal(rig_run(rig),
				 levels == 3 || levels == 4 ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
	}
}

/* Gen9 loads what the context has; Gen8, or a context that is not restored, begins with zeroes. */
static void registers_are_saved_and_loaded_at_the_same_place(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < 16; i++)
		load_gpr(rig, i, 0x100000001ULL * (i + 1));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(gpr(rig, i) == 0x100000001ULL * (i + 1));
	for (i = 0; i < 16; i++)
		ring(rig, MI_SRM, GPR(i), ADDRESS(DATA + 8 * i), MI_SRM, GPR(i) + 4,
		     ADDRESS(DATA + 8 * i + 4));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(data64(rig, 8 * i) == 0x100000001ULL * (i + 1));
	rig->job.restore = false;
	for (i = 0; i < 16; i++)
		ring(rig, MI_SRM, GPR(i), ADDRESS(DATA + 8 * i), MI_SRM, GPR(i) + 4,
		     ADDRESS(DATA + 8 * i + 4));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(data64(rig, 8 * i) == 0);
}

static void gen8_loads_no_registers(void **state)
{
	struct rig *rig = *state;

	rig->context[GHYVI_CTX_GPR] = 7;
	*(u32 *)rig->data = 5;
	ring(rig, MI_SRM, GPR(0), ADDRESS(DATA));
	assert_completes(rig);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(rig->context[GHYVI_CTX_GPR], 7);
}

/*
 * The indirect context batch runs before the ring, has the length of its cache lines, and exists on
 * RCS only.
 */
static void an_indirect_context_is_as_long_as_its_lines(void **state)
{
	struct rig *rig = *state;
	unsigned int lines;

	for (lines = 0; lines < 4; lines++) {
		unsigned int i;

		memset(rig->data, 0, 64);
		memset(rig->indirect, 0, 4096);
		for (i = 0; i < 3; i++) {
			/* The last thing of each line. */
			u32 *p = (u32 *)(rig->indirect + 64 * i + 48);

			batch(p, MI_STORE, ADDRESS(DATA + 4 * i), i + 1);
		}
		rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | lines;
		rig->job.engine = GHYVI_RCS;
		assert_completes(rig);
		for (i = 0; i < 3; i++)
			assert_int_equal(data32(rig, 4 * i), i < lines ? i + 1 : 0);
		memset(rig->data, 0, 64);
		rig->job.engine = GHYVI_BCS;
		assert_completes(rig);
		assert_int_equal(data32(rig, 0), 0);
	}
	rig->job.engine = GHYVI_RCS;
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	batch(rig->indirect, MI_BATCH_END);
	assert_error(rig, "indirect context batch");
	batch(rig->indirect, MI_BATCH_START, ADDRESS(BATCH));
	assert_error(rig, "indirect context batch");
	batch(rig->indirect + 56, MI_STORE, LOW(DATA));
	memset(rig->indirect, 0, 56);
	assert_error(rig, "do not fit");
}

/*
 * The indirect context batch does not change registers that the image restores after it: those that
 * are not the command streamer's. In a context that is not restored, it does.
 */
static void registers_are_restored_after_the_indirect_context(void **state)
{
	const u32 chicken = 0x7014, instpm = RCS + 0xc0, bit = 0x1000, own_bit = 0x100;
	struct rig *rig = *state;

	batch(rig->indirect, MI_LRI(2), chicken, bit << 16, instpm, own_bit << 16 | own_bit);
	memset(rig->indirect + 20, 0, 44);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	ring(rig, MI_LRI(1), chicken, bit << 16 | bit);
	assert_completes(rig);
	ring(rig, MI_SRM, chicken, ADDRESS(DATA), MI_SRM, instpm, ADDRESS(DATA + 4));
	assert_completes(rig);
	assert_int_equal(data32(rig, 0), bit);
	assert_int_equal(data32(rig, 4), own_bit);
	rig->job.restore = false;
	ring(rig, MI_SRM, chicken, ADDRESS(DATA));
	assert_completes(rig);
	assert_int_equal(data32(rig, 0), 0);
}

static void a_blit_needs_all_its_dwords(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	ring(rig, 0x54000004, 3 << 24 | 0xf0 << 16 | 64, 0, 0x00010001, ADDRESS(DATA));
	assert_error(rig, "of 6 dwords");
	ring(rig, 0x54000006, 3 << 24 | 0xf0 << 16 | 64, 0, 0x00010001, ADDRESS(DATA), 1, 1);
	assert_error(rig, "of 8 dwords");
	ring(rig, 0x54c00007, 3 << 24 | 0xcc << 16 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     LOW(DATA));
	assert_error(rig, "of 9 dwords");
	ring(rig, 0x50800007, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, LOW(DATA));
	assert_error(rig, "of 9 dwords");
	ring(rig, 0x50800008, 2 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, ADDRESS(DATA));
	assert_error(rig, "unknown depth");
	ring(rig, 0x50800008 | 3 << 13, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     ADDRESS(DATA));
	assert_error(rig, "pitch does not fit");
	ring(rig, 0x50800008 | 3 << 20, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     ADDRESS(DATA));
	assert_error(rig, "pitch does not fit");
	ring(rig, 0x51000008, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, ADDRESS(DATA));
	assert_error(rig, "is unknown");
}

static void pitches_of_tiles_are_positive_multiples(void **state)
{
	/* In dwords, as a tiled surface has it; then whether it fits X and Y tiles. */
	static const struct {
		u32 pitch;
		bool x, y;
	} rows[] = {
		{ 0, false, false },	  { 128, true, true },	 { 32, false, true },
		{ 127, false, false },	  { 129, false, false }, { 31, false, false },
		{ 0xff80, false, false }, { 256, true, true },	 { 64, false, true },
	};
	struct rig *rig = *state;
	unsigned int i, tiling;

	rig->job.engine = GHYVI_BCS;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (tiling = 1; tiling < 3; tiling++) {
			bool good = tiling == 1 ? rows[i].x : rows[i].y;

			ring(rig, 0x50800008 | tiling << 13, 3 << 24 | rows[i].pitch, 0, 0x00010001,
			     ADDRESS(DATA), 0, 64, ADDRESS(DATA));
			assert_int_equal(rig_run(rig), good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
			rig_reset(rig);
			ring(rig, 0x50800008 | tiling << 20, 3 << 24 | 64, 0, 0x00010001,
			     ADDRESS(DATA), 0, rows[i].pitch, ADDRESS(DATA));
			assert_int_equal(rig_run(rig), good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
			rig_reset(rig);
		}
}

/* The call does not wait: the engine has another job, no job, or has not begun the job. */
static void cancelling_a_job_that_is_not_on_the_engine_returns(void **state)
{
	struct rig *rig = *state;
	struct softgpu_job backend = {};
	struct ghyvi_job stranger = {
		.client = rig->client,
		.engine = GHYVI_RCS,
		.context = rig->context,
		.backend = &backend,
	};

	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_completes(rig);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, 8), -ESTALE);
	ring(rig, MI_SEMAPHORE(4), 7, ADDRESS(DATA));
	rig_start(rig);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &stranger);
	softgpu_ops.preempt(softgpu_device(rig->gpu), &stranger);
	assert_int_equal(softgpu_ops.update_tail(softgpu_device(rig->gpu), &stranger, 8), -ESTALE);
	assert_false(backend.stop || backend.preempt);
	WRITE_ONCE(*(u32 *)rig->data, 7);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
}

/* Between slices an engine releases the lock of its translations. */

static void a_long_batch_reschedules(void **state)
{
	struct rig *rig = *state;
	struct softgpu_engine *engine = &rig->gpu->engines[GHYVI_RCS];
	unsigned int i;
	u64 slice;

	slice = engine->slice;
	for (i = 0; i < 10 * SOFTGPU_SLICE_COMMANDS; i++)
		ring(rig, 0);
	assert_completes(rig);
	assert_in_range(engine->slice - slice, 10, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(registers_show_the_position_of_an_engine),
		RIG_TEST(timestamps_wrap_at_36_bits),
		RIG_TEST(timestamps_of_every_engine_can_be_read),
		RIG_TEST(a_context_must_name_a_ring_of_whole_pages),
		RIG_TEST(tables_have_three_or_four_levels),
		RIG_TEST(registers_are_saved_and_loaded_at_the_same_place),
		cmocka_unit_test_setup_teardown(gen8_loads_no_registers, rig_setup_gen8,
						rig_teardown),
		RIG_TEST(an_indirect_context_is_as_long_as_its_lines),
		RIG_TEST(registers_are_restored_after_the_indirect_context),
		RIG_TEST(a_blit_needs_all_its_dwords),
		RIG_TEST(pitches_of_tiles_are_positive_multiples),
		RIG_TEST(cancelling_a_job_that_is_not_on_the_engine_returns),
		RIG_TEST(a_long_batch_reschedules),
	};

	return cmocka_run_group_tests_name("softgpu operands", tests, NULL, NULL);
}
