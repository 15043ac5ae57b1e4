// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: what user batches may do, and the predicate. */
#include "emu_fixture.h"

static void run_user_batch(u32 base, const u32 *commands, unsigned int dwords)
{
	make_context(0, base);
	memcpy(word(BATCH), commands, 4 * dwords);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	submit_to(base, descriptor(0), 0);
	run_all();
}

static void user_batch_cannot_write_control_registers(void **state)
{
	run_user_batch(GHYVI_RENDER_BASE,
		       (const u32[]){ LRI, GHYVI_RENDER_BASE + RING_HWS_PGA, 0x5000, BATCH_END },
		       4);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), HWSP);
	assert_int_equal(csb(1), 0x818);
}

static void user_batch_of_the_blitter_can(void **state)
{
	enable_engine(GHYVI_BLITTER_BASE);
	run_user_batch(GHYVI_BLITTER_BASE,
		       (const u32[]){ LRI, GHYVI_RENDER_BASE + RING_HWS_PGA, 0x5000, BATCH_END },
		       4);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0x5000);
}

static void user_batch_cannot_store_to_the_ggtt(void **state)
{
	run_user_batch(GHYVI_RENDER_BASE,
		       (const u32[]){ STORE_GGTT, GGTT_DATA, 0, 1, STORE_PPGTT, (u32)DATA_VA,
				      DATA_VA >> 32, 2, BATCH_END },
		       9);
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(*word(DATA), 2);
}

static void slot_opens_a_register(void **state)
{
	const u32 batch[] = { LRI, 0x2248, 0x77, BATCH_END };

	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x2248), 0);
	wr(RING_FORCE_TO_NONPRIV_FIRST, 0x2248);
	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x2248), 0x77);
}

static void slots_of_each_engine_are_its_own(void **state)
{
	const u32 offset = GHYVI_VIDEO_BASE + RING_INSTPM;
	const u32 batch[] = { LRI, offset, 0x00010001, BATCH_END };

	assert_int_equal(rd(GHYVI_VIDEO_BASE + 0x4d0), GHYVI_VIDEO_BASE + RING_NOPID);
	enable_engine(GHYVI_VIDEO_BASE);
	wr(RING_FORCE_TO_NONPRIV_FIRST, offset);
	run_user_batch(GHYVI_VIDEO_BASE, batch, 4);
	assert_int_equal(rd(offset), 0);
	wr(GHYVI_VIDEO_BASE + 0x4d0 + 4 * (RING_FORCE_TO_NONPRIV_SLOTS - 1), offset);
	run_user_batch(GHYVI_VIDEO_BASE, batch, 4);
	assert_int_equal(rd(offset), 1);
}

/* A range of four registers, for reads only and then for all accesses. */
static void slots_of_coffee_lake_have_rights(void **state)
{
	const u32 batch[] = { LRI, 0x224c, 0x77, BATCH_END };

	emu->platform = emu_platform_find("coffeelake");
	wr(RING_FORCE_TO_NONPRIV_FIRST, 0x2240 | 1 | RING_FORCE_TO_NONPRIV_READ_ONLY);
	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x224c), 0);
	wr(RING_FORCE_TO_NONPRIV_FIRST, 0x2240 | 1);
	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x224c), 0x77);
}

static void predicate_ends_with_its_batch(void **state)
{
	const u32 commands[] = {
		SET_PREDICATE_ALWAYS, STORE_PPGTT, (u32)DATA_VA,     DATA_VA >> 32, 1,
		SET_PREDICATE,	      STORE_PPGTT, (u32)DATA_VA + 4, DATA_VA >> 32, 2,
		SET_PREDICATE_ALWAYS, BATCH_END
	};

	memcpy(word(BATCH), commands, sizeof(commands));
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32, STORE_GGTT, GGTT_DATA, 0, 3, NOOP);
	run_context(0);
	assert_int_equal(*word(DATA), 0);
	assert_int_equal(*word(DATA + 4), 2);
	assert_int_equal(*word(GGTT_DATA), 3);
	expect_no_violation();
}

/* i915 waits for a time in such a loop (alloc_noa_wait()). */
static void batch_start_obeys_its_predicate(void **state)
{
	const u32 commands[] = { STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 1, BATCH_END };
	u32 result;

	memcpy(word(BATCH), commands, sizeof(commands));
	for (result = 0; result < 2; result++) {
		make_context(0, GHYVI_RENDER_BASE);
		EMIT(0, LRI, GHYVI_RENDER_BASE + MI_PREDICATE_RESULT_1, result,
		     BATCH_START | MI_BATCH_PREDICATE, (u32)BATCH_VA, BATCH_VA >> 32);
		run_context(0);
		assert_int_equal(*word(DATA), result);
	}
	expect_no_violation();
}

static void batch_of_a_user_batch_is_one(void **state)
{
	const u32 next[] = { STORE_GGTT,   GGTT_DATA,	  0, 1,	       STORE_PPGTT,
			     (u32)DATA_VA, DATA_VA >> 32, 2, BATCH_END };
	const u32 first[] = { BATCH_START & ~MI_BATCH_PPGTT_HSW, (u32)BATCH_VA + 0x100,
			      BATCH_VA >> 32, BATCH_END };

	memcpy(word(BATCH), first, sizeof(first));
	memcpy(word(BATCH + 0x100), next, sizeof(next));
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32, STORE_GGTT, GGTT_DATA + 4, 0, 3, NOOP);
	run_context(0);
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(*word(DATA), 2);
	assert_int_equal(*word(GGTT_DATA + 4), 3);
	expect_no_violation();
}

static void predicate_of_a_ring_reaches_the_next_context(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(0, SET_PREDICATE_ALWAYS, NOOP);
	EMIT(1, STORE_GGTT, GGTT_DATA, 0, 1, SET_PREDICATE, STORE_GGTT, GGTT_DATA + 4, 0, 2, NOOP);
	submit(descriptor(0), descriptor(1));
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(*word(GGTT_DATA + 4), 2);
	expect_no_violation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(user_batch_cannot_write_control_registers),
		TEST(user_batch_of_the_blitter_can),
		TEST(user_batch_cannot_store_to_the_ggtt),
		TEST(slot_opens_a_register),
		TEST(slots_of_each_engine_are_its_own),
		TEST(slots_of_coffee_lake_have_rights),
		TEST(predicate_ends_with_its_batch),
		TEST(batch_start_obeys_its_predicate),
		TEST(batch_of_a_user_batch_is_one),
		TEST(predicate_of_a_ring_reaches_the_next_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
