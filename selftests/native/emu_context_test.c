// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: what context images restore and save. */
#include <linux/compiler.h>
#include <pthread.h>
#include <sched.h>
#include "emu_fixture.h"

static void batch_state_of_software_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[0x11] = RING_BB_PPGTT;
	run_context(0);
	expect_violations(EMU_BBSTATE, 1);
}

#define GPR0 (GHYVI_RENDER_BASE + GEN8_RING_CS_GPR)
#define SRM_GGTT (0x24u << 23 | 1u << 22 | 2)

static void inhibited_restore_shows_the_previous_context(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, LRI, GPR0, 0x5ec4e7, NOOP);
	run_context(0);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, SRM_GGTT, GPR0, GGTT_DATA, 0);
	run_context(1);
	assert_int_equal(*word(GGTT_DATA), 0x5ec4e7);
}

static void saved_context_gets_its_registers_back(void **state)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		make_context(n, GHYVI_RENDER_BASE);
		EMIT(n, LRI, GPR0, 10 + n, NOOP);
		EMIT(n, LRI, 0x7014, 0xffff0000 | (1u << n), NOOP);
		run_context(n);
	}
	EMIT(0, SRM_GGTT, GPR0, GGTT_DATA, 0);
	EMIT(0, SRM_GGTT, 0x7014, GGTT_DATA + 4, 0);
	run_context(0);
	assert_int_equal(*word(GGTT_DATA), 10);
	assert_int_equal(*word(GGTT_DATA + 4), 1);
	expect_no_violation();
}

static u32 register_of_context(unsigned int n, u32 offset)
{
	EMIT(n, SRM_GGTT, offset, GGTT_DATA, 0);
	run_context(n);
	return *word(GGTT_DATA);
}

/* The batch changes the command streamer, and other units only if they are not restored. */
static void indirect_batch_runs_before_other_units_are_restored(void **state)
{
	const u32 chicken = 0x7014, instpm = GHYVI_RENDER_BASE + RING_INSTPM, bit = 0x1000;
	const u32 batch[] = { LRI, chicken, bit << 16, LRI, instpm, 0x01000100 };
	unsigned int i;

	make_context(0, GHYVI_RENDER_BASE);
	for (i = 0; i < 16; i++)
		word(GGTT_DATA + 64)[i] = i < ARRAY_SIZE(batch) ? batch[i] : NOOP;
	image(0)[GHYVI_CTX_INDIRECT] = (GGTT_DATA + 64) | 1;
	wr(chicken, bit << 16 | bit);
	assert_int_equal(register_of_context(0, chicken), 0);
	EMIT(0, LRI, chicken, bit << 16 | bit, NOOP);
	assert_int_equal(register_of_context(0, chicken), bit);
	assert_int_equal(register_of_context(0, chicken), bit);
	assert_int_equal(register_of_context(0, instpm), 0x100);
	expect_no_violation();
}

static void image_has_the_base_address_of_preempted_threads(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, GPGPU_CSR_BASE_ADDRESS, 0x5000, 1, NOOP);
	run_context(0);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, GPGPU_CSR_BASE_ADDRESS, 0x6000, 2, NOOP);
	run_context(1);
	assert_int_equal(image(0)[0x44], GPGPU_CSR_BASE_ADDRESS);
	assert_int_equal(image(0)[0x45], 0x5000);
	EMIT(0, NOOP, NOOP);
	run_context(0);
	assert_int_equal(image(0)[0x45], 0x5000);
	assert_int_equal(image(0)[0x46], 1);
	expect_no_violation();
}

static bool is_saved(u32 offset)
{
	const u32 *dwords = image(0) + GHYVI_PAGE_BYTES / 4;
	unsigned int i;

	for (i = 0; dwords[i] != BATCH_END; i++)
		if (dwords[i] == offset)
			return true;
	return false;
}

/* By IGT's gem_ctx_isolation, which runs on hardware, and GVT-g's list. */
static void registers_of_real_images_are_saved(void **state)
{
	static const u32 offsets[] = { 0x20d8, 0x22c8, 0x22dc, 0x22f0, 0x22fc, 0x2364, 0x2448,
				       0x2454, 0x4de0, 0x4df4, 0x4dfc, 0x7034, 0xe400, 0xe404 };
	unsigned int i;

	make_context(0, GHYVI_RENDER_BASE);
	run_context(0);
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		assert_true(is_saved(offsets[i]));
	assert_false(is_saved(0x20e4)); /* GVT-g switches it itself */
	EMIT(0, LRI, 0x7034, 0x60000121, NOOP);
	run_context(0);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, LRI, 0x7034, 0x60000160, NOOP);
	run_context(1);
	assert_int_equal(register_of_context(0, 0x7034), 0x60000121);
}

/* kvmgt scans from the engine's part on, up to the end of the image. */
static void saved_image_is_one_stream_with_one_end(void **state)
{
	unsigned int i = 0x50, lists = 0, states = 0;
	const u32 *dwords = image(0);

	make_context(0, GHYVI_RENDER_BASE);
	run_context(0);
	while (dwords[i] != BATCH_END) {
		assert_in_range(i, 0x50, 2 * GHYVI_PAGE_BYTES / 4);
		if (dwords[i] == NOOP) {
			i++;
			continue;
		}
		if (dwords[i] >> 29 == COMMAND_TYPE_3D) {
			states++;
			i += dwords[i] >> 16 == PIPELINE_SELECT >> 16 ? 1 : (dwords[i] & 0xff) + 2;
			continue;
		}
		assert_int_equal(MI_OPCODE(dwords[i]), 0x22);
		lists++;
		i += (dwords[i] & 0xff) + 2;
	}
	assert_in_range(i, GHYVI_PAGE_BYTES / 4, 2 * GHYVI_PAGE_BYTES / 4);
	assert_in_range(lists, 4, 10);
	assert_int_equal(states, 3);
}

/* i915 and kvmgt write the OA control into saved images, at a fixed place. */
static void oa_control_has_a_fixed_place(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[0x128] = GEN8_OACTXCONTROL; /* before a first use there is no list around it */
	run_context(0);
	assert_int_equal(image(0)[0x128], GEN8_OACTXCONTROL);
	assert_int_equal(image(0)[0x3de], 0xe458);
	image(0)[0x129] = 0x41;
	EMIT(0, NOOP, NOOP);
	run_context(0);
	assert_int_equal(rd(GEN8_OACTXCONTROL), 0x41);
	expect_no_violation();
}

#define LAST_BATCH_OFFSET 22

struct spoiler {
	bool begun, ended;
};

static void *spoil_offset(void *data)
{
	struct spoiler *spoiler = data;

	while (!READ_ONCE(spoiler->ended)) {
		WRITE_ONCE(image(0)[LAST_BATCH_OFFSET], EMU_REGISTERS_BYTES);
		WRITE_ONCE(spoiler->begun, true);
	}
	return NULL;
}

/* By another CPU of the virtual machine, at any time. */
static void offsets_may_change_while_an_image_is_saved(void **state)
{
	static struct spoiler spoiler;
	pthread_t cpu;
	unsigned int i;

	assert_int_equal(pthread_create(&cpu, NULL, spoil_offset, &spoiler), 0);
	while (!READ_ONCE(spoiler.begun))
		sched_yield();
	for (i = 0; i < 100000; i++) {
		make_context(0, GHYVI_RENDER_BASE);
		image(0)[GHYVI_CTX_RING_HEAD] = 0;
		image(0)[GHYVI_CTX_RING_TAIL] = 8;
		run_context(0);
	}
	WRITE_ONCE(spoiler.ended, true);
	pthread_join(cpu, NULL);
	assert_int_equal(emu->engines[GHYVI_RCS].idles, i);
}

#define LAST_PAGE (RAM_BYTES - GHYVI_PAGE_BYTES)

/* The ring's part, too, names registers that have rules of their own. */
static void image_sets_a_status_page_by_the_rules(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	emu->hwsp_start = HWSP;
	emu->hwsp_end = HWSP + GHYVI_PAGE_BYTES;
	image(0)[GHYVI_CTX_INDIRECT + 1] = GHYVI_RENDER_BASE + RING_HWS_PGA;
	image(0)[GHYVI_CTX_INDIRECT + 2] = LAST_PAGE | 0xff8;
	run_context(0);
	expect_violations(EMU_HWSP, 1);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), LAST_PAGE);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(*word(LAST_PAGE + HWSP_CSB + 8), 0x818);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batch_state_of_software_is_reported),
		TEST(inhibited_restore_shows_the_previous_context),
		TEST(saved_context_gets_its_registers_back),
		TEST(indirect_batch_runs_before_other_units_are_restored),
		TEST(image_has_the_base_address_of_preempted_threads),
		TEST(registers_of_real_images_are_saved),
		TEST(saved_image_is_one_stream_with_one_end),
		TEST(oa_control_has_a_fixed_place),
		TEST(offsets_may_change_while_an_image_is_saved),
		TEST(image_sets_a_status_page_by_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
