// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: execution lists: ports, events, preemption, and the reports of broken rules. */
#include "emu_fixture.h"

#define XY_COLOR_BLT (2u << 29 | 0x50u << 22 | 3u << 20 | 5)

static void one_context_completes(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234, USER_INTERRUPT, NOOP);
	run_context(0);
	assert_int_equal(*word(GGTT_DATA), 0x1234);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(csb(1), 0x818);
	assert_int_equal(*word(HWSP + HWSP_CSB_WRITE), 1);
	assert_int_equal(image(0)[GHYVI_CTX_RING_HEAD], image(0)[GHYVI_CTX_RING_TAIL]);
	assert_int_equal(image(0)[GHYVI_CTX_CONTROL] & 1, 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EXECLIST_STATUS_HI), 0);
	expect_no_violation();
}

static void second_element_follows(void **state)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		make_context(n, GHYVI_RENDER_BASE);
		EMIT(n, STORE_GGTT, GGTT_DATA + 4 * n, 0, n + 1);
	}
	submit(descriptor(0), descriptor(1));
	run_all();
	assert_int_equal(*word(GGTT_DATA), 1);
	assert_int_equal(*word(GGTT_DATA + 4), 2);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(csb(1), 0x814);
	assert_int_equal(csb(2), 0x818);
}

/* It kills engines (drm/intel 1501). */
static void second_element_without_a_command_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(1), 0); /* as the first one it may */
	run_all();
	expect_no_violation();
	EMIT(0, NOOP, NOOP);
	submit(descriptor(0), descriptor(1));
	run_all();
	expect_violations(EMU_IDLE_PROMOTION, 1);
}

static void preemption_at_the_end_is_also_a_completion(void **state)
{
	struct emu_engine *engine = &emu->engines[GHYVI_RCS];

	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, NOOP, NOOP);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, NOOP, NOOP);
	submit(descriptor(0), 0);
	emu_execlist_arbitrate(engine);
	assert_int_equal(engine->state, EMU_RUNNING);
	engine->cs.ring_head = engine->cs.ring_tail;
	run_context(1);
	assert_int_equal(csb(1), 0x812);
	assert_int_equal(csb(2), 0x818);
}

static void lite_restore_moves_the_tail(void **state)
{
	start_waiting();
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7);
	run_context(0);
	assert_int_equal(csb(1), 0x8002);
	*word(DATA) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(*word(GGTT_DATA), 7);
	assert_int_equal(csb(2), 0x818);
	expect_no_violation();
}

/* i915 moves the tail in the image, and writes ELSP then. */
static void tail_moved_before_the_end_is_executed(void **state)
{
	start_waiting();
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7);
	*word(DATA) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_IDLE);
	assert_int_equal(*word(GGTT_DATA), 0);
	run_context(0);
	assert_int_equal(*word(GGTT_DATA), 7);
	expect_no_violation();
}

static void tail_moved_before_a_preemption_is_executed(void **state)
{
	start_waiting();
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, NOOP, NOOP);
	*word(DATA) = 1;
	submit(descriptor(1), descriptor(0));
	run_all();
	assert_int_equal(*word(GGTT_DATA), 7);
	expect_no_violation();
}

/* i915: live_timeslice_rewind() */
static void forced_restore_takes_the_tail_back(void **state)
{
	u32 tail;

	start_waiting();
	tail = image(0)[GHYVI_CTX_RING_TAIL];
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7);
	run_context(0);
	image(0)[GHYVI_CTX_RING_TAIL] = tail;
	submit(descriptor(0) | CTX_DESC_FORCE_RESTORE, 0);
	run_all();
	*word(DATA) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_IDLE);
	expect_no_violation();
}

static void same_tail_is_reported(void **state)
{
	start_waiting();
	run_context(0);
	expect_violations(EMU_SAME_TAIL, 1);
}

static void changed_image_needs_a_forced_restore(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, NOOP, NOOP);
	run_context(0);
	EMIT(0, NOOP, NOOP); /* the tail may move */
	run_context(0);
	expect_no_violation();
	image(0)[GHYVI_CTX_RING_HEAD] = 0;
	run_context(0);
	expect_violations(EMU_NO_RESTORE, 1);
	image(0)[GHYVI_CTX_RING_HEAD] = 0;
	submit(descriptor(0) | CTX_DESC_FORCE_RESTORE, 0);
	run_all();
	expect_violations(EMU_NO_RESTORE, 1);
}

static void waiter_is_preempted_in_its_batch_and_resumes(void **state)
{
	u32 *batch = word(BATCH);

	make_context(0, GHYVI_RENDER_BASE);
	memcpy(batch,
	       (const u32[]){ SEMAPHORE, 1, (u32)DATA_VA, DATA_VA >> 32, STORE_PPGTT,
			      (u32)DATA_VA + 8, DATA_VA >> 32, 3, BATCH_END },
	       36);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	run_context(0);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, STORE_GGTT, GGTT_DATA, 0, 5);
	run_context(1);
	assert_int_equal(csb(1), 0x882); /* it waits for a semaphore */
	assert_int_equal(csb(2), 0x818);
	assert_int_equal(*word(GGTT_DATA), 5);
	assert_int_equal(image(0)[0x0f], (u32)BATCH_VA | 1);
	assert_int_equal(image(0)[0x11], RING_BB_PPGTT);

	*word(DATA) = 1;
	run_context(0);
	assert_int_equal(*word(DATA + 8), 3);
	assert_int_equal(csb(4), 0x818);
	assert_int_equal(image(0)[0x0f], 0);
	expect_no_violation();
}

static void batch_without_arbitration_point_is_not_preempted(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	memcpy(word(BATCH), (const u32[]){ NOOP, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32 }, 16);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	emu_run_engines(emu);
	submit(descriptor(1), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_true(emu->engines[GHYVI_RCS].has_pending);
	*word(BATCH) = ARB_CHECK;
	run_all();
	assert_int_equal(csb(1), 0x802);
	assert_int_equal(csb(2), 0x818);
}

/* The virtual machine waits for a slice when it accesses a register. */
static void slice_ends_when_it_has_moved_much(void **state)
{
	unsigned int i;

	enable_engine(GHYVI_BLITTER_BASE);
	make_context(0, GHYVI_BLITTER_BASE);
	for (i = 0; i < 40; i++)
		EMIT(0, XY_COLOR_BLT, 3u << 24 | 0xf0u << 16 | 4096, 0, 1u << 16 | 1024,
		     (u32)DATA_VA, (u32)(DATA_VA >> 32), i + 1);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234);
	submit_to(GHYVI_BLITTER_BASE, descriptor(0), 0);
	emu_run_engines(emu);
	assert_in_range(*word(DATA), 1, 39);
	assert_int_equal(*word(GGTT_DATA), 0);
	run_all();
	assert_int_equal(*word(DATA), 40);
	assert_int_equal(*word(GGTT_DATA), 0x1234);
	expect_no_violation();
}

/* A user of the virtual machine can let a blit write any number of rows, here all to one page. */
static void fill_rows(unsigned int n, u32 pitch, u32 pixels, u32 rows, u32 color)
{
	EMIT(n, XY_COLOR_BLT, 3u << 24 | 0xf0u << 16 | pitch, 0, rows << 16 | pixels, (u32)DATA_VA,
	     (u32)(DATA_VA >> 32), color);
}

static void slice_ends_within_a_blit(void **state)
{
	const struct emu_engine *engine = &emu->engines[GHYVI_BCS];

	enable_engine(GHYVI_BLITTER_BASE);
	make_context(0, GHYVI_BLITTER_BASE);
	fill_rows(0, 0, 1024, 0x7fff, 7);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234);
	submit_to(GHYVI_BLITTER_BASE, descriptor(0), 0);
	emu_run_engines(emu);
	assert_in_range(engine->softgpu_job.rows, 1, SOFTGPU_SLICE_BYTES / GHYVI_PAGE_BYTES);
	/* Meanwhile no other context gets the engine. */
	make_context(1, GHYVI_BLITTER_BASE);
	submit_to(GHYVI_BLITTER_BASE, descriptor(1), 0);
	emu_run_engines(emu);
	assert_int_equal(engine->image.lrca, CONTEXT);
	assert_int_equal(*word(GGTT_DATA), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0x1234);
	assert_int_equal(engine->commands, 3); /* and a NOOP */
	expect_no_violation();
}

static void blit_of_several_slices_writes_each_row(void **state)
{
	unsigned int i;

	enable_engine(GHYVI_BLITTER_BASE);
	make_context(0, GHYVI_BLITTER_BASE);
	fill_rows(0, 4, 1, 1024, 0xabcd);
	submit_to(GHYVI_BLITTER_BASE, descriptor(0), 0);
	emu_run_engines(emu);
	assert_int_equal(*word(DATA + 4 * 1023), 0);
	run_all();
	for (i = 0; i < 1024; i++)
		assert_int_equal(*word(DATA + 4 * i), 0xabcd);
}

/* What is left of it is left out, and nothing of the next one. */
static void blit_of_several_slices_ends_with_a_reset(void **state)
{
	unsigned int i;

	enable_engine(GHYVI_BLITTER_BASE);
	make_context(0, GHYVI_BLITTER_BASE);
	fill_rows(0, 0, 1024, 0x7fff, 7);
	submit_to(GHYVI_BLITTER_BASE, descriptor(0), 0);
	emu_run_engines(emu);
	wr(GHYVI_BLITTER_BASE + RING_MI_MODE, MI_MODE_STOP << 16 | MI_MODE_STOP);
	wr(GHYVI_BLITTER_BASE + RING_RESET_CTL, RESET_CTL_REQUEST << 16 | RESET_CTL_REQUEST);
	wr(GEN6_GDRST, GEN6_GRDOM_BLT);
	wr(GHYVI_BLITTER_BASE + RING_RESET_CTL, RESET_CTL_REQUEST << 16);
	enable_engine(GHYVI_BLITTER_BASE);
	make_context(1, GHYVI_BLITTER_BASE);
	fill_rows(1, 4, 1, 100, 0xabcd);
	submit_to(GHYVI_BLITTER_BASE, descriptor(1), 0);
	run_all();
	for (i = 0; i < 100; i++)
		assert_int_equal(*word(DATA + 4 * i), 0xabcd);
	expect_no_violation();
}

static void early_submission_is_dropped_and_reported(void **state)
{
	start_waiting();
	emu->engines[GHYVI_RCS].arbitration = false;
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(1), 0);
	submit(descriptor(1), 0);
	expect_violations(EMU_ELSP_EARLY, 1);
}

static void reset_of_a_running_engine_is_reported(void **state)
{
	start_waiting();
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	expect_violations(EMU_RESET_RUNNING, 1);
}

static void event_without_preset_pointer_is_reported(void **state)
{
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	apply_workarounds();
	wr(GHYVI_RENDER_BASE + RING_MODE,
	   RING_MODE_RUN_LIST_ENABLE << 16 | RING_MODE_RUN_LIST_ENABLE);
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HWSP);
	make_context(0, GHYVI_RENDER_BASE);
	run_context(0);
	expect_violations(EMU_CSB_POINTER, 1);
}

static void missing_workaround_is_reported(void **state)
{
	wr(0x20e0, 0x40000000);
	make_context(0, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	expect_violations(EMU_WORKAROUND, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_context_completes),
		TEST(second_element_follows),
		TEST(second_element_without_a_command_is_reported),
		TEST(preemption_at_the_end_is_also_a_completion),
		TEST(lite_restore_moves_the_tail),
		TEST(tail_moved_before_the_end_is_executed),
		TEST(tail_moved_before_a_preemption_is_executed),
		TEST(forced_restore_takes_the_tail_back),
		TEST(same_tail_is_reported),
		TEST(changed_image_needs_a_forced_restore),
		TEST(waiter_is_preempted_in_its_batch_and_resumes),
		TEST(batch_without_arbitration_point_is_not_preempted),
		TEST(slice_ends_when_it_has_moved_much),
		TEST(slice_ends_within_a_blit),
		TEST(blit_of_several_slices_writes_each_row),
		TEST(blit_of_several_slices_ends_with_a_reset),
		TEST(early_submission_is_dropped_and_reported),
		TEST(reset_of_a_running_engine_is_reported),
		TEST(event_without_preset_pointer_is_reported),
		TEST(missing_workaround_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
