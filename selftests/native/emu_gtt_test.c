// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: translations, and the reports of stale ones. */
#include "emu_fixture.h"

static void ggtt_change_without_flush_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 9);
	emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * (GGTT_DATA >> 12), DATA | 1, 8);
	run_context(0);
	expect_violations(EMU_GGTT_STALE, 1);
	assert_int_equal(*word(DATA), 9);
}

static void wait_with_changed_entry(void)
{
	start_waiting();
	*entry(TABLES + 0x3000) = (DATA + 0x2000) | 3;
	*word(DATA + 0x2000) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
}

static void ppgtt_change_without_invalidation_is_reported(void **state)
{
	wait_with_changed_entry();
	expect_violations(EMU_PPGTT_STALE, 1);
	assert_int_equal(csb(1), 0x818);
}

static void adversary_keeps_stale_translations(void **state)
{
	emu_adversary_parse(&emu->adversary, "stale-tlb");
	wait_with_changed_entry();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_WAITING);
	wr(GEN8_RTCR, 1);
	assert_int_equal(rd(GEN8_RTCR), 0);
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(csb(1), 0x818);
}

static void absent_entry_hangs_the_engine(void **state)
{
	*entry(TABLES + 0x3000) = 0;
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 2);
	run_context(0);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_int_equal(rd(GEN8_RING_FAULT_REG) & RING_FAULT_VALID, 1);
	expect_violations(EMU_NOT_PRESENT, 1);
}

/* Hardware raises no interrupt for it, and has no error of the engine. */
static void fault_is_silent(void **state)
{
	const u32 base = GHYVI_RENDER_BASE;

	wr(base + RING_EMR, 0);
	wr(GEN8_GT_ISR0 + IRQ_IMR, 0);
	make_context(0, base);
	EMIT(0, STORE_PPGTT, 0x7000, 0, 2);
	run_context(0);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_int_equal(rd(GEN8_RING_FAULT_REG) & RING_FAULT_VALID, 1);
	assert_int_equal(rd(base + RING_EIR), 0);
	assert_int_equal(rd(GEN8_GT_ISR0 + IRQ_IIR) & BIT(EMU_IRQ_ERROR), 0);
	expect_violations(EMU_NOT_PRESENT, 1);
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	apply_workarounds();
	enable_engine(base);
	wr(base + RING_EMR, 0);
	ring(0)[0] = BATCH_END; /* no fault: the engine tells */
	run_context(0);
	assert_int_equal(rd(base + RING_EIR), RING_ERROR_INSTRUCTION);
	assert_int_not_equal(rd(GEN8_GT_ISR0 + IRQ_IIR) & BIT(EMU_IRQ_ERROR), 0);
}

static void read_only_pages_drop_writes(void **state)
{
	*entry(TABLES + 0x3000) = DATA | 1;
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 2);
	run_context(0);
	assert_int_equal(*word(DATA), 0);
	assert_int_equal(csb(1), 0x818);
}

static u32 through_aperture(u32 pitch, u32 x, u32 y)
{
	return emu_region_read(emu, 2, GGTT_DATA + y * pitch + x, 4);
}

/* Each page of 4 KiB is a tile. */
static void fences_detile(void **state)
{
	u32 i;

	for (i = 0; i < 4 * 4096; i += 4)
		*word(GGTT_DATA + i) = i;
	wr(FENCE_REG_GEN6_HI(3), (GGTT_DATA + 0x3000) | (1024 / GEN6_FENCE_PITCH_UNIT - 1));
	wr(FENCE_REG_GEN6_LO(3), GGTT_DATA | GEN6_FENCE_VALID);
	assert_int_equal(through_aperture(1024, 508, 7), 7 * 512 + 508);
	assert_int_equal(through_aperture(1024, 512, 0), 4096);
	assert_int_equal(through_aperture(1024, 516, 9), 3 * 4096 + 512 + 4);
	*word(GGTT_DATA + 0x4000) = 1;
	assert_int_equal(through_aperture(1024, 0, 16), 1); /* behind the fence */
	wr(FENCE_REG_GEN6_HI(3), (GGTT_DATA + 0x3000) | (256 / GEN6_FENCE_PITCH_UNIT - 1));
	wr(FENCE_REG_GEN6_LO(3), GGTT_DATA | GEN6_FENCE_VALID | GEN6_FENCE_TILING_Y);
	assert_int_equal(through_aperture(256, 12, 31), 31 * 16 + 12);
	assert_int_equal(through_aperture(256, 16, 1), 512 + 16);
	assert_int_equal(through_aperture(256, 128 + 112, 33), 3 * 4096 + 7 * 512 + 16);
	emu_region_write(emu, 2, GGTT_DATA + 256 + 16, 99, 4);
	assert_int_equal(*word(GGTT_DATA + 512 + 16), 99);
	wr(FENCE_REG_GEN6_LO(3), 0);
	assert_int_equal(through_aperture(256, 16, 1), 256 + 16);
}

#define UPDATE_GTT(entries) (0x23u << 23 | 2 * (entries))

static void update_goes_on_at_the_first_entry(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, UPDATE_GTT(3), 0xfffff000, 0x1001, 0, 0x2001, 0, 0x3001, 0);
	run_context(0);
	assert_int_equal(emu_ggtt_read(emu, EMU_GTTMMADR_BYTES - 8, 8), 0x1001);
	assert_int_equal(emu_ggtt_read(emu, EMU_GGTT_OFFSET, 8), 0x2001);
	assert_int_equal(emu_ggtt_read(emu, EMU_GGTT_OFFSET + 8, 8), 0x3001);
}

static void change_entry(u32 index, u64 value)
{
	emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * index, value, 8);
}

static void entry_that_changes_often_is_noted_once(void **state)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		change_entry(7, i % 2 ? 0x7001 : 0x5001);
	change_entry(8, 0x5001);
	assert_int_equal(emu->nr_ggtt_dirty, 2);
	wr(GFX_FLSH_CNTL_GEN6, 1);
	assert_int_equal(emu->nr_ggtt_dirty, 0);
	assert_int_equal(emu->ggtt_live[8], 0x5001);
	change_entry(7, 0x9001);
	emu_device_reset(emu);
	assert_int_equal(emu->nr_ggtt_dirty, 0);
	change_entry(7, 0x9001);
	assert_int_equal(emu->nr_ggtt_dirty, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fences_detile),
		TEST(ggtt_change_without_flush_is_reported),
		TEST(ppgtt_change_without_invalidation_is_reported),
		TEST(adversary_keeps_stale_translations),
		TEST(absent_entry_hangs_the_engine),
		TEST(fault_is_silent),
		TEST(read_only_pages_drop_writes),
		TEST(update_goes_on_at_the_first_entry),
		TEST(entry_that_changes_often_is_noted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
