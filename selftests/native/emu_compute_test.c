// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: kernels on its execution units. */
#include <stdio.h>
#include "emu_fixture.h"
#include "emu_kernels.h"

#define PAGE(n) (0xa00000u + (n)*GHYVI_PAGE_BYTES)
#define PAGE_VA(n) (DATA_VA + 0x10000 + (n)*GHYVI_PAGE_BYTES)
#define KERNEL 0 /* numbers of pages */
#define DYNAMIC 1
#define OUTPUT 2
#define OUTPUT_PAGES 32
/* More than a slice executes: each takes 13 instructions. */
#define GROUPS (OUTPUT_PAGES * GHYVI_PAGE_BYTES / 32)
#define CS_CHICKEN1 0x2580
#define SWITCH_BATCH 0x950000u
#define SAVED 40 /* pages for a group in progress */
#define SAVED_PAGES 16
#define SHARED_GROUPS 3

static struct emu_compute_counts counts(void)
{
	return emu_compute_counts(&emu->engines[GHYVI_RCS]);
}

static u32 *output(void)
{
	return word(PAGE(OUTPUT));
}

static void make_pages(enum emu_kernel kernel)
{
	unsigned int i;

	for (i = 0; i < OUTPUT + OUTPUT_PAGES; i++)
		*entry(TABLES + 0x3000 + 8 * (16 + i)) = PAGE(i) | 3;
	emu_kernel_put(kernel, word(PAGE(KERNEL)));
	emu_kernel_descriptor(word(PAGE(DYNAMIC)));
}

/* The context's batch: the state, a dispatch, and a store at DATA behind it. */
static void put_batch(bool state, u32 groups)
{
	const u32 end[] = { PIPE_CONTROL, BIT(20) | BIT(14), (u32)DATA_VA, DATA_VA >> 32, 1, 0,
			    BATCH_END };
	u32 *batch = word(BATCH);

	if (state) {
		emu_kernel_state(batch, PAGE_VA(OUTPUT), PAGE_VA(DYNAMIC), PAGE_VA(KERNEL));
		batch += EMU_STATE_DWORDS;
	}
	emu_kernel_walker(batch, groups);
	memcpy(batch + EMU_WALKER_DWORDS, end, sizeof(end));
}

static void prepare_dispatch(unsigned int n, enum emu_kernel kernel, u32 groups)
{
	make_pages(kernel);
	put_batch(true, groups);
	make_context(n, GHYVI_RENDER_BASE);
	/* As i915 does, the units are cleaned at each switch. */
	memcpy(word(SWITCH_BATCH), (const u32[]){ PIPE_CONTROL, PIPE_CONTROL_FLUSH_L3 }, 8);
	image(n)[27] = SWITCH_BATCH | 1;
}

static void start_dispatch(unsigned int n, enum emu_kernel kernel, u32 groups)
{
	prepare_dispatch(n, kernel, groups);
	EMIT(n, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	submit(descriptor(n), 0);
}

static void expect_output(u32 groups)
{
	u32 i;

	for (i = 0; i < OUTPUT_PAGES * GHYVI_PAGE_BYTES / 4; i++)
		assert_int_equal(output()[i], i < 8 * groups ? 4 * i + 7 : 0);
}

static void walker_executes_each_group_once(void **state)
{
	start_dispatch(0, EMU_KERNEL_ADDS, GROUPS);
	emu_run_engines(emu);
	assert_int_equal(*word(DATA), 0); /* the slice ends before the dispatch */
	run_all();
	expect_output(GROUPS);
	assert_int_equal(*word(DATA), 1);
	assert_int_equal(csb(1), 0x818);
	expect_no_violation();
}

static void oracle_sees_each_page(void **state)
{
	unsigned int kernel = 0, dynamic = 0, written = 0;
	u64 page;
	char line[128], access[8];

	emu->oracle.file = tmpfile();
	start_dispatch(0, EMU_KERNEL_ADDS, GROUPS);
	run_all();
	emu_oracle_write(emu);
	rewind(emu->oracle.file);
	while (fgets(line, sizeof(line), emu->oracle.file)) {
		if (sscanf(line, "rcs %*x %*u %*x ppgtt %lx %7s", (unsigned long *)&page, access) !=
		    2)
			continue;
		kernel += page == PAGE(KERNEL) && !strcmp(access, "r");
		dynamic += page == PAGE(DYNAMIC) && !strcmp(access, "r");
		written += page >= PAGE(OUTPUT) && page < PAGE(OUTPUT + OUTPUT_PAGES) &&
			   !strcmp(access, "rw");
	}
	assert_int_equal(kernel, 1);
	assert_int_equal(dynamic, 1);
	assert_int_equal(written, OUTPUT_PAGES);
	fclose(emu->oracle.file);
	free(emu->oracle.entries);
	free(emu->oracle.lives);
}

static void wild_access_is_a_fault(void **state)
{
	start_dispatch(0, EMU_KERNEL_WILD, 1);
	run_all();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_true(rd(GEN8_RING_FAULT_REG) & RING_FAULT_VALID);
	assert_int_equal(rd(GEN8_FAULT_TLB_DATA0), (PAGE_VA(OUTPUT) + 0x7fff0000) >> 12);
	assert_int_equal(*word(DATA), 0);
	expect_violations(EMU_NOT_PRESENT, 1);
}

static void stores_to_a_read_only_page_are_dropped(void **state)
{
	make_pages(EMU_KERNEL_ADDS);
	*entry(TABLES + 0x3000 + 8 * (16 + OUTPUT)) = PAGE(OUTPUT) | 1;
	put_batch(true, 256);
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	run_context(0);
	assert_int_equal(output()[0], 0);
	assert_int_equal(output()[1024], 4096 + 7);
	assert_int_equal(*word(DATA), 1);
	expect_no_violation();
}

static void unsupported_instruction_is_an_error(void **state)
{
	start_dispatch(0, EMU_KERNEL_UNSUPPORTED, 1);
	run_all();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EIR), RING_ERROR_INSTRUCTION);
	expect_no_violation();
}

static void endless_kernel_leaves_the_device_usable(void **state)
{
	unsigned int i;

	start_dispatch(0, EMU_KERNEL_ENDLESS, 1);
	for (i = 0; i < 20; i++)
		assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	emu_device_reset(emu);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NONE);
	set_up_again();
	start_dispatch(0, EMU_KERNEL_ADDS, 2);
	run_all();
	expect_output(2);
}

/* Context 1 stores 5 at GGTT_DATA while context 0 is in its dispatch. */
static void interrupt_dispatch(void)
{
	start_dispatch(0, EMU_KERNEL_ADDS, GROUPS);
	emu_run_engines(emu); /* the commands before the dispatch */
	emu_run_engines(emu); /* a slice */
	assert_int_equal(output()[8 * GROUPS - 1], 0);
	make_context(1, GHYVI_RENDER_BASE);
	/* And other bases, which are its own. */
	EMIT(1, 0x61010011, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0);
	EMIT(1, STORE_GGTT, GGTT_DATA, 0, 5);
	run_context(1);
	assert_int_equal(*word(GGTT_DATA), 5);
}

static void walker_is_preempted_between_groups(void **state)
{
	u32 done;

	interrupt_dispatch();
	assert_true(csb(1) & GEN8_CTX_STATUS_PREEMPTED);
	assert_int_equal(*word(DATA), 0);
	for (done = 0; done < GROUPS && output()[8 * done]; done++)
		;
	assert_in_range(done, 1, GROUPS - 1);
	run_context(0);
	expect_output(GROUPS);
	assert_int_equal(*word(DATA), 1);
	assert_int_equal(counts().groups, GROUPS);
	assert_int_equal(counts().preempted, 1);
	expect_no_violation();
}

static void walker_is_not_preempted_if_the_driver_says_so(void **state)
{
	wr(CS_CHICKEN1, BIT(18) | BIT(2)); /* at commands only, as i915 sets it */
	interrupt_dispatch();
	expect_output(GROUPS);
	assert_int_equal(counts().preempted, 0);
}

static void state_is_the_contexts_own(void **state)
{
	start_dispatch(0, EMU_KERNEL_ADDS, 1);
	run_all();
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, 0x61010011, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0);
	run_context(1);
	memset(output(), 0, GHYVI_PAGE_BYTES);
	put_batch(false, 3);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	run_context(0);
	expect_output(3);
	expect_no_violation();
}

/* Context 1 comes while a group of context 0, which takes several slices, is in progress. */
static void interrupt_group(unsigned int pages)
{
	const u64 saved = PAGE_VA(SAVED);
	unsigned int i;

	prepare_dispatch(0, EMU_KERNEL_SHARES, SHARED_GROUPS);
	emu_kernel_share(word(PAGE(DYNAMIC)), word(BATCH) + EMU_STATE_DWORDS);
	for (i = SAVED; i < SAVED + pages; i++)
		*entry(TABLES + 0x3000 + 8 * (16 + i)) = PAGE(i) | 3;
	EMIT(0, GPGPU_CSR_BASE_ADDRESS, (u32)saved, saved >> 32, BATCH_START, (u32)BATCH_VA,
	     BATCH_VA >> 32);
	submit(descriptor(0), 0);
	emu_run_engines(emu); /* the commands before the dispatch */
	emu_run_engines(emu); /* a slice */
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, GPGPU_CSR_BASE_ADDRESS, 0x5000, 0, STORE_GGTT, GGTT_DATA, 0, 5);
	run_context(1);
}

static void expect_shared(void)
{
	u32 group, result[8];

	for (group = 0; group < SHARED_GROUPS; group++) {
		emu_kernel_shares_result(group, result);
		assert_memory_equal(output() + 8 * group, result, sizeof(result));
	}
}

static void walker_is_preempted_within_a_group(void **state)
{
	interrupt_group(SAVED_PAGES);
	assert_int_equal(*word(GGTT_DATA), 5);
	assert_true(csb(1) & GEN8_CTX_STATUS_PREEMPTED);
	assert_int_equal(counts().groups, 0);
	assert_int_equal(counts().within, 1);
	assert_in_range(*word(PAGE(SAVED)), 4 * 4096, (SAVED_PAGES - 1) * GHYVI_PAGE_BYTES);
	assert_int_equal(output()[0], 0);
	run_context(0);
	expect_shared();
	assert_int_equal(*word(DATA), 1);
	assert_int_equal(counts().groups, SHARED_GROUPS);
	assert_int_equal(counts().within, 1);
	expect_no_violation();
}

/* At each slice that ends within a group, another context comes. */
static void walker_is_preempted_again_and_again(void **state)
{
	unsigned int times;

	interrupt_group(SAVED_PAGES);
	for (times = 1; !*word(DATA); times++) {
		submit(descriptor(0), 0);
		emu_run_engines(emu);
		emu_run_engines(emu);
		EMIT(1, NOOP, NOOP);
		run_context(1);
	}
	assert_in_range(times, 4, 20);
	assert_in_range(counts().within, 3, times);
	expect_shared();
	assert_int_equal(counts().groups, SHARED_GROUPS);
	expect_no_violation();
}

static void group_goes_on_if_the_driver_says_so(void **state)
{
	wr(CS_CHICKEN1, BIT(17) | BIT(1)); /* at groups only */
	interrupt_group(SAVED_PAGES);
	assert_int_equal(*word(GGTT_DATA), 5);
	assert_int_equal(counts().within, 0);
	assert_in_range(counts().groups, 1, SHARED_GROUPS);
	run_context(0);
	expect_shared();
}

static void group_without_pages_to_save_it_is_a_fault(void **state)
{
	interrupt_group(1);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_true(rd(GEN8_RING_FAULT_REG) & RING_FAULT_VALID);
	assert_int_equal(rd(GEN8_FAULT_TLB_DATA0), PAGE_VA(SAVED + 1) >> 12);
	assert_int_equal(*word(GGTT_DATA), 0);
	expect_violations(EMU_NOT_PRESENT, 1);
}

static void damaged_group_is_an_error(void **state)
{
	static const struct {
		unsigned int dword;
		u32 value;
	} damages[] = { { 0, 0 }, { 0, ~0u }, { 1, 1 }, { 2, 0 }, { 6, 1000 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		interrupt_group(SAVED_PAGES);
		word(PAGE(SAVED))[damages[i].dword] = damages[i].value;
		run_context(0);
		assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
		assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EIR), RING_ERROR_INSTRUCTION);
		assert_int_equal(*word(DATA), 0);
		set_up_again();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(walker_executes_each_group_once),
		TEST(oracle_sees_each_page),
		TEST(wild_access_is_a_fault),
		TEST(stores_to_a_read_only_page_are_dropped),
		TEST(unsupported_instruction_is_an_error),
		TEST(endless_kernel_leaves_the_device_usable),
		TEST(walker_is_preempted_between_groups),
		TEST(walker_is_not_preempted_if_the_driver_says_so),
		TEST(walker_is_preempted_within_a_group),
		TEST(walker_is_preempted_again_and_again),
		TEST(group_goes_on_if_the_driver_says_so),
		TEST(group_without_pages_to_save_it_is_a_fault),
		TEST(damaged_group_is_an_error),
		TEST(state_is_the_contexts_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
