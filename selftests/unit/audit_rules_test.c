// SPDX-License-Identifier: GPL-2.0-only
/* What passes and what is refused, command by command. */
#include "audit_fixture.h"

#define OUTSIDE (GGTT_START + GGTT_BYTES)
#define FLUSH_DW(dwords) MI(0x26, (dwords)-2)
#define POST (1u << 14)
#define STORE_INDEX (1u << 21)
#define PIPE_CONTROL 0x7a000004u
#define PIPE_GGTT (1u << 24)

static int setup(void **state)
{
	make_audit(9, GHYVI_RCS, "full");
	return 0;
}

static int setup_gen8(void **state)
{
	make_audit(8, GHYVI_RCS, "full");
	return 0;
}

static int setup_bcs(void **state)
{
	make_audit(9, GHYVI_BCS, "full");
	return 0;
}

static int setup_vcs8(void **state)
{
	make_audit(8, GHYVI_VCS, "full");
	return 0;
}

static int teardown(void **state)
{
	drop_audit();
	return 0;
}

/* One command in the ring, which the guest's kernel wrote. */
#define KERNEL(...)                \
	do {                       \
		fresh();           \
		ring(__VA_ARGS__); \
		submit();          \
	} while (0)
/* One in a batch of its user space. */
#define USER(...)                                                       \
	do {                                                            \
		fresh();                                                \
		ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP); \
		put(USER_BATCH, __VA_ARGS__, BATCH_END);                \
		submit();                                               \
	} while (0)

static void commands_of_i915_pass(void **state)
{
	KERNEL(PIPE_CONTROL, 0x00344c1c, 0xd0, 0, 0, 0);
	assert_passed();
	KERNEL(STORE | GLOBAL, KERNEL_DATA, 0, 7, NOOP, MI(0x05, 0), MI(0x08, 0), MI(0x08, 1));
	assert_passed();
	KERNEL(PIPE_CONTROL, 0x01104080, KERNEL_DATA, 0, 9, 0, MI(0x02, 0));
	assert_passed();
	KERNEL(LOAD_IMM(2), 0x2580, 0x00010001, 0x7014, 0x00020002, NOOP);
	assert_passed();
	KERNEL(MI(0x24, 2) | GLOBAL, 0xb118, KERNEL_DATA, 0);
	assert_passed();
	KERNEL(MI(0x29, 2) | GLOBAL, 0xb118, KERNEL_DATA, 0);
	assert_passed();
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
}

static void unknown_commands_are_refused(void **state)
{
	KERNEL(MI(0x16, 1), 0, 0);
	assert_refused("unknown-command");
	KERNEL(0x20000000, 0);
	assert_refused("unknown-command");
	KERNEL(0x54c00008); /* the blitter's */
	assert_refused("unknown-command");
	USER(0x7fff0000, 0);
	assert_refused("unknown-command");
}

static void each_generation_has_its_commands(void **state)
{
	USER(0x73a00001, 0, 0); /* HCP_BSD_OBJECT, Gen9 */
	assert_refused("unknown-command");
	USER(0x70000003, 0, 0, 0, 0); /* MFX_PIPE_MODE_SELECT */
	assert_passed();
}

static void lengths_are_checked(void **state)
{
	KERNEL(MI(0x20, 1), KERNEL_DATA, 0);
	assert_refused("length");
	KERNEL(LOAD_IMM(1) + 1, 0x2600, 1, 0x2604);
	assert_refused("length");
	USER(0x7b000006, 0, 0, 0, 0, 0, 0, 0); /* 3DPRIMITIVE of 8 dwords */
	assert_refused("length");
	KERNEL(STORE, KERNEL_DATA);
	assert_refused("fit");
}

static void global_addresses_stay_in_the_partition(void **state)
{
	static const u32 outside[] = { OUTSIDE, GGTT_START - 4, 0, 0xfffffffc };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		KERNEL(STORE | GLOBAL, outside[i], 0, 1);
		assert_refused("ggtt-range");
		KERNEL(MI(0x24, 2) | GLOBAL, 0x2600, outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x29, 2) | GLOBAL, 0x2600, outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x1c, 2) | GLOBAL, 1, outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x2f, 1) | GLOBAL, outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x2e, 3) | GLOBAL, LO(USER_START), HI(USER_START), outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x2e, 3) | BIT(21), outside[i], 0, LO(USER_START), HI(USER_START));
		assert_refused("ggtt-range");
		KERNEL(PIPE_CONTROL, POST | PIPE_GGTT, outside[i], 0, 0, 0);
		assert_refused("ggtt-range");
		KERNEL(FLUSH_DW(5) | POST, (outside[i] & ~7u) | 4, 0, 0, 0);
		assert_refused("ggtt-range");
		KERNEL(START_KERNEL, outside[i], 0);
		assert_refused("ggtt-range");
	}
	/* The upper half counts, too. */
	KERNEL(STORE | GLOBAL, KERNEL_DATA, 1, 1);
	assert_refused("ggtt-range");
	/* Several elements: the last of them is what leaves. */
	KERNEL(MI(0x20, 3) | GLOBAL, OUTSIDE - 4, 0, 1, 2);
	assert_refused("ggtt-range");
	KERNEL(MI(0x20, 3) | GLOBAL, OUTSIDE - 8, 0, 1, 2);
	assert_passed();
	/* Without the bit they are the PPGTT's. */
	KERNEL(STORE, OUTSIDE, 0, 1);
	assert_passed();
	KERNEL(FLUSH_DW(5) | POST, OUTSIDE, 0, 0, 0);
	assert_passed();
	/* Nothing is written without a post-sync operation, and an index is no address. */
	KERNEL(PIPE_CONTROL, PIPE_GGTT, OUTSIDE, 0, 0, 0);
	assert_passed();
	KERNEL(PIPE_CONTROL, POST | PIPE_GGTT | STORE_INDEX, 0x40, 0, 0, 0);
	assert_passed();
}

static void users_cannot_name_global_addresses(void **state)
{
	/* Dropped by the engine, so nothing to refuse. */
	USER(STORE | GLOBAL, OUTSIDE, 0, 1);
	assert_passed();
	USER(PIPE_CONTROL, POST | PIPE_GGTT, OUTSIDE, 0, 0, 0);
	assert_passed();
	USER(MI(0x1c, 2) | GLOBAL, 1, KERNEL_DATA, 0);
	assert_refused("domain");
	USER(MI(0x23, 2), GGTT_START, 0, 0);
	assert_refused("domain");
}

static void registers_are_those_of_the_list(void **state)
{
	KERNEL(LOAD_IMM(1), 0x2230, 1); /* the submit port */
	assert_refused("register");
	KERNEL(LOAD_IMM(2), 0x2600, 1, 0x941c, 1); /* the reset, behind a harmless one */
	assert_refused("register");
	KERNEL(LOAD_IMM(1), 0x22600, 1); /* another engine's */
	assert_refused("register");
	KERNEL(MI(0x29, 2), 0x24d0, LO(USER_START), HI(USER_START));
	assert_refused("register");
	KERNEL(MI(0x2a, 1), 0x2600, 0x101008);
	assert_refused("register");
	KERNEL(LOAD_IMM(1), 0x200000, 1);
	assert_refused("register-file");
	KERNEL(MI(0x24, 2), 0x400000, LO(USER_START), HI(USER_START));
	assert_refused("register-file");
	KERNEL(MI(0x24, 2), 0x200000, LO(USER_START), HI(USER_START));
	assert_refused("register-file");
	KERNEL(MI(0x24, 2), 0x1ffffc, LO(USER_START), HI(USER_START));
	assert_passed();
	KERNEL(LOAD_IMM(1) | 1 << 8, 0x2580, 1);
	assert_refused("register-bytes");
	KERNEL(MI(0x24, 2), 0x2358, LO(USER_START), HI(USER_START));
	assert_passed();
	/* Users' writes are dropped by the engine, unless there is no such register. */
	USER(LOAD_IMM(1), 0x2230, 1);
	assert_passed();
	USER(LOAD_IMM(1), 0x200000, 1);
	assert_refused("register-file");
}

static void registers_shared_by_vgpus_are_refused(void **state)
{
	KERNEL(MI(0x27, 1), GGTT_START, 0);
	assert_refused("domain"); /* CLFLUSH */
	KERNEL(MI(0x28, 2), GGTT_START, 0, 0);
	assert_refused("domain"); /* REPORT_PERF_COUNT */
	USER(MI(0x28, 2), LO(USER_START), HI(USER_START), 0);
	assert_refused("domain");
	KERNEL(MI(0x2d, 2), 0, LO(USER_START), HI(USER_START));
	assert_refused("domain");
	KERNEL(PIPE_CONTROL, 1 << 23 | POST, 0x2230, 0, 1, 0);
	assert_refused("mmio-write");
	KERNEL(MI(0x1c, 2) | 1 << 16, 1, KERNEL_DATA, 0);
	assert_refused("semaphore-mode");
	KERNEL(MI(0x1c, 2) | 5 << 12, 1, KERNEL_DATA, 0); /* the last comparison */
	assert_passed();
	KERNEL(MI(0x1c, 2) | 6 << 12, 1, KERNEL_DATA, 0);
	assert_refused("semaphore-mode");
	/* No vGPU owns the display, and a signal could wake any waiter: both have no effect. */
	KERNEL(MI(0x14, 1), 0, 0, MI(0x03, 0), MI(0x1b, 0), 0x20);
	assert_passed();
}

static void update_gtt_goes_through_the_guests_table(void **state)
{
	KERNEL(MI(0x23, 2), KERNEL_DATA, 0x1234003, 0x1);
	assert_passed();
	assert_int_equal(guest.updates, 1);
	assert_int_equal(guest.updated_index, KERNEL_DATA >> 12);
	assert_true(guest.updated_entry == 0x101234003ull);
	KERNEL(MI(0x23, 2), OUTSIDE, 0x1234003, 0x1);
	assert_refused("ggtt-range");
	KERNEL(MI(0x23, 4), OUTSIDE - 0x1000, 3, 0, 3, 0);
	assert_refused("ggtt-range");
	KERNEL(MI(0x23, 3), KERNEL_DATA, 3, 0, 3);
	assert_refused("length");
	assert_int_equal(guest.updates, 1);
}

static void batches_start_only_at_allowed_addresses(void **state)
{
	KERNEL(BATCH_END);
	assert_refused("batch-place");
	KERNEL(MI(0x36, 2), 0, LO(USER_START), HI(USER_START));
	assert_refused("batch-place");
	KERNEL(START_SECOND, LO(USER_BATCH), HI(USER_BATCH));
	assert_refused("batch-level");
	USER(START_KERNEL, KERNEL_BATCH, 0);
	assert_refused("batch-space");
	put(USER_BATCH2, START_SECOND, LO(USER_START + 0x20000), HI(USER_START), BATCH_END);
	USER(START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2));
	assert_refused("batch-level");
}

static void the_blitters_commands_pass_on_the_blitter(void **state)
{
	USER(0x54c00008, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_passed();
	USER(0x50800008, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_passed();
	USER(LOAD_IMM(1), 0x22200, 0x00010001);
	assert_passed();
	USER(0x7a000004, 0, 0, 0, 0, 0);
	assert_refused("unknown-command");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(commands_of_i915_pass),
		TEST(unknown_commands_are_refused),
		cmocka_unit_test_setup_teardown(each_generation_has_its_commands, setup_vcs8,
						teardown),
		TEST(lengths_are_checked),
		TEST(global_addresses_stay_in_the_partition),
		TEST(users_cannot_name_global_addresses),
		TEST(registers_are_those_of_the_list),
		TEST(registers_shared_by_vgpus_are_refused),
		TEST(update_gtt_goes_through_the_guests_table),
		TEST(batches_start_only_at_allowed_addresses),
		cmocka_unit_test_setup_teardown(update_gtt_goes_through_the_guests_table,
						setup_gen8, teardown),
		cmocka_unit_test_setup_teardown(the_blitters_commands_pass_on_the_blitter,
						setup_bcs, teardown),
	};

	return cmocka_run_group_tests_name("audit rules", tests, NULL, NULL);
}
