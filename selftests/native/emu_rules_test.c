// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulated GPU: rules that hardware enforces silently and that the other tests do not break.
 * Each report counts, and reports nothing else.
 */
#include "emu_fixture.h"

static void submit_store(u64 address)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)address, address >> 32, 2);
	run_context(0);
}

static void status_page_outside_of_its_range_is_reported(void **state)
{
	emu->hwsp_start = HWSP;
	emu->hwsp_end = HWSP + GHYVI_PAGE_BYTES;
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HWSP);
	expect_no_violation();
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HWSP - GHYVI_PAGE_BYTES);
	expect_violations(EMU_HWSP, 1);
	wr(GHYVI_BLITTER_BASE + RING_HWS_PGA, HWSP + GHYVI_PAGE_BYTES);
	expect_violations(EMU_HWSP, 2);
}

static void submission_without_run_lists_is_reported(void **state)
{
	wr(GHYVI_RENDER_BASE + RING_MODE, RING_MODE_RUN_LIST_ENABLE << 16);
	submit_store(DATA_VA);
	expect_violations(EMU_RUN_LIST_OFF, 1);
}

static void image_that_cannot_be_loaded_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[1] = STORE_GGTT;
	run_context(0);
	expect_violations(EMU_INVALID_CONTEXT, 1);
}

static void submit_store_as(u64 submitted)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 2);
	submit(submitted, 0);
	run_all();
}

static void id_that_no_context_may_have_is_reported(void **state)
{
	submit_store_as(descriptor(0) | 1ull << 52);
	expect_no_violation();
	submit_store_as(descriptor(0) | 1ull << 53);
	expect_violations(EMU_INVALID_CONTEXT, 1);
}

/* i915 gives the id of a context that has left the engine to the next one. */
static void id_of_two_contexts_at_a_time_is_reported(void **state)
{
	const u64 same = (descriptor(1) & GENMASK_ULL(31, 0)) |
			 (descriptor(0) & GENMASK_ULL(63, 32));

	submit_store_as(descriptor(0));
	make_context(1, GHYVI_RENDER_BASE);
	submit(same, 0);
	run_all();
	expect_no_violation();
	submit(same, descriptor(0));
	expect_violations(EMU_INVALID_CONTEXT, 1);
	set_up_again();
	start_waiting();
	make_context(1, GHYVI_RENDER_BASE);
	submit(same, 0);
	expect_violations(EMU_INVALID_CONTEXT, 2);
}

static void ring_that_does_not_exist_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[GHYVI_CTX_RING_TAIL] = 0x8000; /* behind its end */
	run_context(0);
	expect_violations(EMU_INVALID_CONTEXT, 1);
}

static void address_that_is_not_ram_is_reported(void **state)
{
	*entry(TABLES + 0x3000) = 0x7f00000000ull | 3;
	submit_store(DATA_VA);
	expect_violations(EMU_NOT_RAM, 1);
}

static void large_page_with_the_gtt_cache_is_reported(void **state)
{
	*entry(TABLES + 0x2000) = DATA | GHYVI_ENTRY_LARGE | 3;
	wr(HSW_GTT_CACHE_EN, 0);
	submit_store(DATA_VA);
	expect_no_violation();
	assert_int_equal(*word(DATA), 2);
	set_up_again();
	*entry(TABLES + 0x2000) = DATA | GHYVI_ENTRY_LARGE | 3;
	wr(HSW_GTT_CACHE_EN, 0xf0007fff);
	submit_store(DATA_VA);
	expect_violations(EMU_GTT_CACHE, 1);
}

static void access_to_a_suspended_function_is_reported(void **state)
{
	assert_int_not_equal(emu_bar_read(emu, emu_config_bar(emu, 0) + GEN8_MASTER_IRQ, 4), ~0ull);
	expect_no_violation();
	emu_config_write(emu, 0xd4, 3, 2); /* D3hot */
	assert_int_equal(emu_bar_read(emu, emu_config_bar(emu, 0) + GEN8_MASTER_IRQ, 4), ~0ull);
	expect_violations(EMU_SUSPENDED, 1);
	emu_bar_write(emu, emu_config_bar(emu, 0) + GEN8_MASTER_IRQ, 1u << 31, 4);
	expect_violations(EMU_SUSPENDED, 2);
	emu_config_write(emu, 0xd4, 0, 2);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 0);
}

/* A context with a walker, and perhaps a PIPE_CONTROL before it, in its indirect batch. */
static void run_walker(unsigned int n, bool clears)
{
	const u32 batch[16] = { PIPE_CONTROL, PIPE_CONTROL_FLUSH_L3 };
	const u32 walker[16] = { GPGPU_WALKER };

	make_context(n, GHYVI_RENDER_BASE);
	memcpy(word(GGTT_DATA), batch, sizeof(batch));
	image(n)[GHYVI_CTX_INDIRECT] = clears ? GGTT_DATA | 1 : 0;
	emit(n, walker, ARRAY_SIZE(walker));
	run_context(n);
}

static void threads_with_the_state_of_another_context_are_reported(void **state)
{
	run_walker(0, false);
	run_walker(0, false); /* its own */
	run_walker(1, true);
	run_walker(0, true);
	expect_no_violation();
	run_walker(1, false);
	expect_violations(EMU_EU_STATE, 1);
}

static unsigned int lines_with(const char *text, const char *what)
{
	unsigned int count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

static void log_of_a_guest_that_hangs_engines_is_limited(void **state)
{
	char *text = NULL;
	size_t bytes;
	unsigned int i;

	emu->log = open_memstream(&text, &bytes);
	for (i = 0; i < 1000; i++)
		emu_engine_hang(&emu->engines[GHYVI_RCS], "test %u", i);
	emu_log_summary(emu);
	fclose(emu->log);
	assert_in_range(lines_with(text, "hangs: test"), 200, 400);
	assert_true(lines_with(text, "lines are left out"));
	assert_int_equal(lines_with(text, "count interrupts"), 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(status_page_outside_of_its_range_is_reported),
		TEST(submission_without_run_lists_is_reported),
		TEST(image_that_cannot_be_loaded_is_reported),
		TEST(id_that_no_context_may_have_is_reported),
		TEST(id_of_two_contexts_at_a_time_is_reported),
		TEST(ring_that_does_not_exist_is_reported),
		TEST(address_that_is_not_ram_is_reported),
		TEST(large_page_with_the_gtt_cache_is_reported),
		TEST(access_to_a_suspended_function_is_reported),
		TEST(threads_with_the_state_of_another_context_are_reported),
		TEST(log_of_a_guest_that_hangs_engines_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
