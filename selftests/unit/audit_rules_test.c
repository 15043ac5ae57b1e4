// SPDX-License-Identifier: GPL-2.0-only
/* The commands that pass the audit, and those that are refused. */
#include "audit_fixture.h"

#define OUTSIDE (GGTT_START + GGTT_BYTES)
#define FLUSH_DW(dwords) MI(0x26, (dwords)-2)
#define POST (1u << 14)
#define STORE_INDEX (1u << 21)
#define PIPE_CONTROL 0x7a000004u
#define PIPE_GGTT (1u << 24)

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

static void short_forms_of_gen7_pass(void **state)
{
	KERNEL(PIPE_CONTROL - 1, 0x01104080, KERNEL_DATA, 0, 9);
	assert_passed();
	USER(PIPE_CONTROL - 1, POST, 0x1000, 0, 9);
	assert_passed();
	KERNEL(PIPE_CONTROL - 2, 0x01104080, KERNEL_DATA, 0);
	assert_refused("length");
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

/* Where an engine that goes by the length would skip what the auditor has checked as a command. */
static void a_wait_for_the_codec_has_one_dword(void **state)
{
	USER(0x68000100, MI(0, 0));
	assert_passed();
	USER(0x68000101, MI(0, 0));
	assert_refused("length");
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

static void global_addresses_stay_in_the_partition_of_a_move(void **state)
{
	const struct ghyvi_range both[] = { { GGTT_START, GGTT_BYTES }, { OUTSIDE, 0x1000 } };

	ghyvi_audit_set_ggtt(guest.audit, both, 2);
	KERNEL(STORE | GLOBAL, OUTSIDE, 0, 1);
	assert_passed();
	KERNEL(STORE | GLOBAL, OUTSIDE + 0x1000, 0, 1);
	assert_refused("ggtt-range");
	ghyvi_audit_set_ggtt(guest.audit, both, 1);
	KERNEL(STORE | GLOBAL, OUTSIDE, 0, 1);
	assert_refused("ggtt-range");
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
		KERNEL(MI(0x2f, 1) | 5 << 8 | GLOBAL, outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x2e, 3) | GLOBAL, LO(USER_START), HI(USER_START), outside[i], 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x2e, 3) | BIT(21), outside[i], 0, LO(USER_START), HI(USER_START));
		assert_refused("ggtt-range");
		KERNEL(PIPE_CONTROL, POST | PIPE_GGTT, outside[i], 0, 0, 0);
		assert_refused("ggtt-range");
		KERNEL(FLUSH_DW(5) | POST, (outside[i] & ~7u) | 4, 0, 0, 0);
		assert_refused("ggtt-range");
		KERNEL(MI(0x28, 2), (outside[i] & ~63u) | 1, 0, 0);
		assert_refused("ggtt-range");
		KERNEL(START_KERNEL, outside[i], 0);
		assert_refused("ggtt-range");
	}
	/* A report has 256 bytes. */
	KERNEL(MI(0x28, 2), (OUTSIDE - 192) | 1, 0, 0);
	assert_refused("ggtt-range");
	KERNEL(MI(0x28, 2), (OUTSIDE - 256) | 1, 0, 0);
	assert_passed();
	/* The upper half counts, too. */
	KERNEL(STORE | GLOBAL, KERNEL_DATA, 1, 1);
	assert_refused("ggtt-range");
	/* Of several elements the last one is outside the partition. */
	KERNEL(MI(0x20, 3) | GLOBAL, OUTSIDE - 4, 0, 1, 2);
	assert_refused("ggtt-range");
	KERNEL(MI(0x20, 3) | GLOBAL, OUTSIDE - 8, 0, 1, 2);
	assert_passed();
	/* Without the bit the addresses are in the PPGTT. */
	KERNEL(STORE, OUTSIDE, 0, 1);
	assert_passed();
	KERNEL(FLUSH_DW(5) | POST, OUTSIDE, 0, 0, 0);
	assert_passed();
	/* The upper half of a short packet's address is 0, whatever follows the packet. */
	KERNEL(FLUSH_DW(2) | POST, KERNEL_DATA | 4, 0x7fffff);
	assert_passed();
	KERNEL(FLUSH_DW(2) | POST, OUTSIDE | 4);
	assert_refused("ggtt-range");
	/* Without a post-sync operation nothing is written, and an index is not an address. */
	KERNEL(PIPE_CONTROL, PIPE_GGTT, OUTSIDE, 0, 0, 0);
	assert_passed();
	KERNEL(PIPE_CONTROL, POST | PIPE_GGTT | STORE_INDEX, 0x40, 0, 0, 0);
	assert_passed();
	/* Other flags, bit 0 among them, do not make the address a global one. */
	KERNEL(PIPE_CONTROL, (POST | 0x1fff) & ~PIPE_GGTT, OUTSIDE, 0, 0, 0);
	assert_passed();
}

static void users_cannot_name_global_addresses(void **state)
{
	/* The engine drops these, so the audit need not refuse them. */
	USER(STORE | GLOBAL, OUTSIDE, 0, 1);
	assert_passed();
	USER(PIPE_CONTROL, POST | PIPE_GGTT, OUTSIDE, 0, 0, 0);
	assert_passed();
	USER(MI(0x1c, 2) | GLOBAL, 1, KERNEL_DATA, 0);
	assert_refused("domain");
	USER(MI(0x23, 2), GGTT_START, 0, 0);
	assert_refused("domain");
}

/* A ring of i915 4.3 to 5.4 on Gen9, with as many registers as its tables have. */
static void put_registers(u32 first, unsigned int count)
{
	unsigned int i;

	ring(LOAD_IMM(count));
	for (i = 0; i < count; i++)
		ring(first + 4 * i, i);
	ring(NOOP);
}

static void workarounds_in_rings_of_older_kernels_pass(void **state)
{
	unsigned int engine;

	fresh();
	put_registers(0xb020, 32); /* LNCFCMOCS */
	for (engine = 0; engine < 5; engine++)
		put_registers(0xc800 + 0x100 * engine, 64); /* MOCS */
	put_registers(0x24d0, 12); /* FORCE_TO_NONPRIV */
	assert_submit_passes();
	KERNEL(LOAD_IMM(10), 0xe4f0, 0x01000100, 0xe194, 0x00800080, 0x7004, 0x00400040, 0xe188,
	       0x00200000, 0x7300, 0x80008000, 0xe184, 0x00020002, 0xe180, 0x20002000, 0x2580,
	       0x00010000, 0x7014, 0x00800080, 0x7008, 0x01000100, NOOP);
	assert_passed();
	KERNEL(LOAD_IMM(4), 0x20c0, 0x00800080, 0x209c, 0x40004000, 0x7000, 0x00040000, 0xe4f4,
	       0x01000100, NOOP); /* Gen8 */
	assert_passed();
	KERNEL(LOAD_IMM(1), 0xb010, 1); /* L3CNTLREG1 of Gen7 */
	assert_refused("register");
}

static void registers_are_those_of_the_list(void **state)
{
	KERNEL(LOAD_IMM(1), 0x2230, 1); /* the submit port */
	assert_refused("register");
	KERNEL(LOAD_IMM(2), 0x2600, 1, 0x941c, 1); /* the reset, behind a harmless one */
	assert_refused("register");
	KERNEL(LOAD_IMM(1), 0x22600, 1); /* another engine's */
	assert_refused("register");
	KERNEL(MI(0x29, 2), 0x2270, LO(USER_START), HI(USER_START));
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
	/* The engine drops writes of user batches. A register that does not exist is refused. */
	USER(LOAD_IMM(1), 0x2230, 1);
	assert_passed();
	USER(LOAD_IMM(1), 0x200000, 1);
	assert_refused("register-file");
}

static void registers_shared_by_vgpus_are_refused(void **state)
{
	KERNEL(MI(0x27, 1), GGTT_START, 0);
	assert_refused("not-supported"); /* CLFLUSH */
	KERNEL(MI(0x28, 2), GGTT_START, 0, 0); /* REPORT_PERF_COUNT */
	assert_passed();
	USER(MI(0x28, 2), LO(USER_START), HI(USER_START), 0);
	assert_passed();
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
	/* Reserved forms of a flush and an atomic, and a part of an element. */
	KERNEL(FLUSH_DW(4) | 2 << 14, 0, 0, 0);
	assert_refused("post-sync");
	KERNEL(MI(0x2f, 1), 0x1000, 0);
	assert_refused("atomic");
	USER(MI(0x2f, 1) | 5 << 8, 0x1002, 0);
	assert_passed(); /* the low bits of an address do not count */
	USER(MI(0x2f, 1) | 0x25 << 8 | 1 << 19, 0x1004, 0);
	assert_refused("atomic");
	USER(STORE | 1 << 21, 0x1000, 0, 1);
	assert_refused("length");
	/*
	 * Waits for the display and signals pass without effect: no vGPU owns the display, and a
	 * signal could wake waiters of others.
	 */
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
	/* Commands of the batch that come first have not run yet. */
	put(KERNEL_BATCH, MI(0x23, 2), KERNEL_DATA, 3, 0, BATCH_END);
	KERNEL(START_KERNEL, KERNEL_BATCH, 0, NOOP);
	assert_refused("update-gtt");
	assert_int_equal(guest.updates, 1);
}

/* i915 does not wait there, and hardware cannot preempt the load of a context. */
static void the_load_of_a_context_does_not_wait(void **state)
{
	const u32 wait[] = { MI(0x1c, 2) | GLOBAL | BIT(15), 0, KERNEL_DATA, 0 };

	fresh();
	put(KERNEL_BATCH, wait[0], wait[1], wait[2], wait[3], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	ring(NOOP, NOOP);
	guest.submission.indirect = KERNEL_BATCH;
	guest.submission.indirect_bytes = 64;
	assert_submit_refused("wait-place");
	guest.submission.indirect_bytes = 0;
	KERNEL(wait[0], wait[1], wait[2], wait[3]);
	assert_passed();
}

static void batches_start_only_at_allowed_addresses(void **state)
{
	KERNEL(BATCH_END);
	assert_refused("batch-place");
	KERNEL(MI(0x36, 2), 0, LO(USER_START), HI(USER_START));
	assert_refused("batch-place");
	KERNEL(START_SECOND, LO(USER_BATCH), HI(USER_BATCH));
	assert_refused("batch-level");
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
	const struct CMUnitTest tests[] = {
		TEST(commands_of_i915_pass),
		TEST(short_forms_of_gen7_pass),
		TEST(unknown_commands_are_refused),
		cmocka_unit_test_setup_teardown(each_generation_has_its_commands, setup_vcs8,
						teardown),
		cmocka_unit_test_setup_teardown(a_wait_for_the_codec_has_one_dword, setup_vcs8,
						teardown),
		TEST(lengths_are_checked),
		TEST(global_addresses_stay_in_the_partition),
		TEST(global_addresses_stay_in_the_partition_of_a_move),
		TEST(users_cannot_name_global_addresses),
		TEST(workarounds_in_rings_of_older_kernels_pass),
		TEST(registers_are_those_of_the_list),
		TEST(registers_shared_by_vgpus_are_refused),
		TEST(update_gtt_goes_through_the_guests_table),
		TEST(the_load_of_a_context_does_not_wait),
		TEST(batches_start_only_at_allowed_addresses),
		cmocka_unit_test_setup_teardown(update_gtt_goes_through_the_guests_table,
						setup_gen8, teardown),
		cmocka_unit_test_setup_teardown(the_blitters_commands_pass_on_the_blitter,
						setup_bcs, teardown),
	};

	return cmocka_run_group_tests_name("audit rules", tests, NULL, NULL);
}
