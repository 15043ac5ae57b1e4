// SPDX-License-Identifier: GPL-2.0-only
/* What streams may do: the privilege that commands need, and the registers that they access. */
#include "softgpu_fixture.h"

/* By no command, neither the engine's page nor the context's. */
static void users_write_no_status_page(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	rig->registers[0x2080 / 4] = HWSP_GGTT;
	batch(rig->batch, MI(0x21, 1) | 1 << 21, 0x808, 7, MI(0x21, 1), 0x80c, 8, PIPE_CONTROL,
	      POST_IMMEDIATE | STORE_INDEX, 0xd0, 0, 5, 6,
	      FLUSH_DW(4) | POST_IMMEDIATE | STORE_INDEX, 0xe0, 0, 9,
	      FLUSH_DW(5) | POST_TIMESTAMP | STORE_INDEX, 0xe8, 0, 9, 9, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	for (i = 0; i < 4096; i++) {
		assert_int_equal(rig->pphwsp[i], 0);
		assert_int_equal(rig->hwsp[i], 0);
	}
}

static void users_cannot_reach_the_ggtt(void **state)
{
	struct rig *rig = *state;
	u32 *p = rig->batch;

	rig->registers[0x2080 / 4] = HWSP_GGTT;
#define PUT(...) (batch(p, __VA_ARGS__), p += sizeof((u32[]){ __VA_ARGS__ }) / 4)
	PUT(MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT), 1);
	PUT(MI_SRM | MI_GGTT, GPR(0), ADDRESS(DATA_GGTT));
	PUT(MI_LRI(1), GPR(0), 77);
	PUT(MI_SRM | MI_GGTT, GPR(0), ADDRESS(DATA_GGTT + 4));
	PUT(MI_LRM | MI_GGTT, GPR(0), ADDRESS(DATA_GGTT + 8)); /* dropped: R0 stays */
	PUT(MI_SRM, GPR(0), ADDRESS(DATA));
	PUT(MI(0x2e, 3) | 1 << 21, ADDRESS(DATA_GGTT + 12), ADDRESS(DATA));
	PUT(MI(0x2e, 3) | 1 << 22, ADDRESS(DATA + 4), ADDRESS(CONTEXT_GGTT));
	PUT(MI(0x2f, 1) | 5 << 8 | MI_GGTT, ADDRESS(DATA_GGTT + 16));
	PUT(PIPE_CONTROL, POST_IMMEDIATE | 1 << 24 | NOTIFY, ADDRESS(DATA_GGTT + 24), 1, 1);
	PUT(PIPE_CONTROL, POST_IMMEDIATE | STORE_INDEX | 1 << 24, 0x100, 0, 1, 1);
	PUT(PIPE_CONTROL, 1 << 23 | POST_IMMEDIATE, 0x2080, 0, 1, 1);
	PUT(FLUSH_DW(4) | POST_IMMEDIATE | NOTIFY, (DATA_GGTT + 32) | 4, 0, 1);
	PUT(FLUSH_DW(4) | POST_IMMEDIATE | STORE_INDEX, 0x108 | 4, 0, 1);
	PUT(MI_BATCH_END);
#undef PUT
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	for (unsigned int i = 0; i < 4096; i++) {
		assert_int_equal(rig->ggtt_data[i], 0);
		assert_int_equal(rig->hwsp[i], 0);
	}
	assert_int_equal(data32(rig, 0), 77);
	assert_int_equal(atomic_read(&rig->notifies), 0);
}

static void some_commands_end_the_job(void **state)
{
	/* In the ring, then in a user batch. */
	static const struct {
		u32 dwords[4];
		bool kernel, user;
	} rows[] = {
		{ { MI(0x23, 1) }, true, true },
		{ { MI(0x27, 1) }, true, true },
		{ { MI(0x28, 1) }, true, true }, /* of three dwords */
		{ { MI(0x18, 0) }, true, true },
		{ { MI(0x16, 1) }, true, true },
		{ { MI(0x30, 1) }, true, true },
		{ { MI(0x2b, 2) }, true, false },
		{ { MI(0x2c, 1) }, true, false },
		{ { MI(0x2d, 1) }, true, false },
		{ { MI(0x14, 1) }, false, false },
		{ { MI_SEMAPHORE(5) | 1 << 16, 1 }, true, true },
		{ { MI_SEMAPHORE(5) | MI_GGTT, 1, DATA_GGTT }, false, true },
		{ { MI_LRI(1), 0x2030, 1 }, true, false }, /* RING_TAIL */
		{ { MI_LRI(1), 0x941c, 1 }, true, false }, /* GDRST */
		{ { MI_LRI(1), 0x200000, 1 }, true, true },
		{ { MI_SRM, 0x200000, ADDRESS(DATA) }, true, true },
		{ { MI_BATCH_START_GGTT, DATA_GGTT }, false, true },
	};
	struct rig *rig = *state;

	*(u32 *)rig->ggtt_data = MI_BATCH_END;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		rig_reset(rig);
		ring_emit(rig, rows[i].dwords, 4);
		if (rig_run(rig) != (rows[i].kernel ? GHYVI_JOB_ERROR : GHYVI_JOB_COMPLETE))
			fail_msg("%#x in the ring: %s", rows[i].dwords[0], rig_reason(rig));
		rig_reset(rig);
		memset(rig->batch, 0, 64);
		memcpy(rig->batch, rows[i].dwords, 16);
		rig->batch[8] = MI_BATCH_END;
		if (rig_run_batch(rig) != (rows[i].user ? GHYVI_JOB_ERROR : GHYVI_JOB_COMPLETE))
			fail_msg("%#x in a batch: %s", rows[i].dwords[0], rig_reason(rig));
	}
	assert_int_equal(rig->registers[0x941c / 4], 0);
}

static void a_ggtt_batch_has_the_rights_of_the_ring(void **state)
{
	struct rig *rig = *state;

	batch(rig->ggtt_data, MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT + 0x100), 9, MI_BATCH_END);
	ring(rig, MI_BATCH_START_GGTT, ADDRESS(DATA_GGTT));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(rig->ggtt_data + 0x100), 9);
}

/* As on hardware; i915's igt_cs_tlb() chains its batches so. */
static void batches_that_a_user_batch_starts_are_user_batches(void **state)
{
	struct rig *rig = *state;
	unsigned int second;

	for (second = 0; second <= 1; second++) {
		rig_reset(rig);
		memset(rig->data, 0, 16);
		batch(rig->batch, MI_BATCH_START_GGTT | (second ? MI_SECOND_LEVEL : 0),
		      ADDRESS(BATCH2), MI_STORE, ADDRESS(DATA + 4), 3, MI_BATCH_END);
		batch(rig->batch2, MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT + 0x100), 1, MI_STORE,
		      ADDRESS(DATA), 2, MI_BATCH_END);
		assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(*(u32 *)(rig->ggtt_data + 0x100), 0);
		assert_int_equal(data32(rig, 0), 2);
		assert_int_equal(data32(rig, 4), second ? 3 : 0);
	}
}

static void users_write_only_registers_of_their_list(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x24d0 / 4] = 0xb118; /* listed, and on the host's list */
	rig->registers[0x24d4 / 4] = 0x2080; /* listed by the guest only */
	batch(rig->batch, MI_LRI(8), 0xb118, 5, 0x2080, 6, 0x7304, 0x10001, 0x2088, 0x10001, 0x2300,
	      7, 0x2410, 8, 0x2358, 9, 0x22200, 0x30003, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0xb118 / 4], 5);
	assert_int_equal(rig->registers[0x2080 / 4], 0);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7304), 0);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x2088), 0);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x2300), 7);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x2410), 8);
	assert_int_equal(rig->registers[0x2358 / 4], 0);
	assert_int_equal(*rig_register(rig, GHYVI_BCS, 0x22200), 0); /* the blitter's */
	/* The last slot counts, the register behind it is none. */
	rig_reset(rig);
	rig->registers[0x24fc / 4] = 0x7014;
	rig->registers[0x2500 / 4] = 0x7304;
	batch(rig->batch, MI_LRI(2), 0x7014, 0x10001, 0x7304, 0x10001, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7014), 1);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7304), 0);
}

/* As IGT's gem_ctx_isolation lists them for RCS of Gen8 and Gen9; and the one of BCS. */
static const struct {
	u32 offset;
	unsigned int dwords;
	bool masked;
} user_registers[] = {
	{ 0x2094, 1, false }, { 0x23bc, 1, false }, { 0x20c0, 1, true },  { 0x2310, 14, false },
	{ 0x2300, 4, false }, { 0x22c8, 2, false }, { 0x22d8, 2, false }, { 0x2500, 3, false },
	{ 0x2400, 8, false }, { 0x2420, 1, false }, { 0x2430, 5, false }, { 0x2290, 2, false },
	{ 0x22f0, 4, false }, { 0x2158, 1, false }, { 0x2360, 2, false }, { 0x2448, 4, false },
	{ 0x7000, 3, true },  { 0x7034, 1, false }, { 0xe400, 2, false }, { 0x5200, 8, false },
	{ 0x5240, 8, false }, { 0x5280, 4, false }, { 0x2b00, 1, false }, { 0x91b8, 4, false },
	{ 0x20d8, 1, true }, /* not in that list: Mesa's drivers for Gen9 write it */
};

static u32 user_value(unsigned int row, unsigned int i)
{
	u32 value = 0x5a5a0000 | row << 8 | i;

	return user_registers[row].masked ? value | 0xffff0000 : value;
}

static void user_batches_write_what_hardware_lets_them_write(void **state)
{
	struct rig *rig = *state;
	unsigned int row, i, at = 0;
	u32 *p = rig->batch;

	for (row = 0; row < ARRAY_SIZE(user_registers); row++)
		for (i = 0; i < user_registers[row].dwords; i++, p += 3)
			batch(p, MI_LRI(1), user_registers[row].offset + 4 * i, user_value(row, i));
	for (row = 0; row < ARRAY_SIZE(user_registers); row++)
		for (i = 0; i < user_registers[row].dwords; i++, p += 4, at += 4)
			batch(p, MI_SRM, user_registers[row].offset + 4 * i, ADDRESS(DATA + at));
	*p = MI_BATCH_END;
	if (rig_run_batch(rig) != GHYVI_JOB_COMPLETE)
		fail_msg("%s", rig_reason(rig));
	for (row = 0, at = 0; row < ARRAY_SIZE(user_registers); row++)
		for (i = 0; i < user_registers[row].dwords; i++, at += 4)
			if (data32(rig, at) != (user_registers[row].masked ?
							user_value(row, i) & 0xffff :
							user_value(row, i)))
				fail_msg("register %#x is %#x", user_registers[row].offset + 4 * i,
					 data32(rig, at));
}

/* Nor MOCS, nor the slots that list registers for user batches. */
static void user_batches_write_no_other_engines_registers(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_LRI(6), 0x22200, 0x30003, 0x220c0, 0x10001, 0xb020, 1, 0xb010, 1,
	      0xc800, 1, 0x24d0, 0x2088, MI_SRM, 0x22200, ADDRESS(DATA), MI_SRM, 0xb020,
	      ADDRESS(DATA + 4), MI_SRM, 0xc800, ADDRESS(DATA + 8), MI_SRM, 0x24d0,
	      ADDRESS(DATA + 12), MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0 && data64(rig, 8) == 0);
	rig_reset(rig);
	rig->job.engine = GHYVI_BCS;
	batch(rig->batch, MI_LRI(3), 0x22200, 0x30003, 0x2300, 7, 0x7000, 0x10001, MI_SRM, 0x22200,
	      ADDRESS(DATA), MI_SRM, 0x2300, ADDRESS(DATA + 4), MI_SRM, 0x7000, ADDRESS(DATA + 8),
	      MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 3);
	assert_int_equal(data32(rig, 4), 0);
	assert_int_equal(data32(rig, 8), 0);
}

static void the_kernels_workarounds_are_masked_stores(void **state)
{
	struct rig *rig = *state;

	*rig_register(rig, GHYVI_RCS, 0x7014) = 0xf0;
	ring(rig, MI_LRI(4), 0x7014, 0x00300001 << 0, 0xb118, 0x12345678, 0x209c, 0x01020302,
	     0x20c0, 0x00800080);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7014), 0xc0);
	assert_int_equal(rig->registers[0xb118 / 4], 0x12345678);
	/* Commands cannot set STOP. */
	assert_int_equal(rig->registers[0x209c / 4] & 0x100, 0);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x20c0), 0x80);
}

static void byte_disables_keep_bytes(void **state)
{
	struct rig *rig = *state;

	rig->registers[0xb118 / 4] = 0x11223344;
	ring(rig, MI_LRI(1) | 5 << 8, 0xb118, 0xaabbccdd);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0xb118 / 4], 0xaa22cc44);
}

static void registers_that_are_not_listed_read_zero(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x44200 / 4] = 0x1234;
	rig->registers[0x2030 / 4] = 0x5678;
	memset(rig->data, 0xff, 8);
	ring(rig, MI_SRM, 0x44200, ADDRESS(DATA), MI_SRM, 0x2030, ADDRESS(DATA + 4));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(data32(rig, 4), 0);
}

/* i915 sets bits by MMIO, and its selftests look for them by commands. */
static void workarounds_of_the_cpu_can_be_read(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x20d4 / 4] = 0x4;
	rig->registers[0x20e0 / 4] = 0x4000;
	ring(rig, MI_LRI(1), 0x20e0, 0x40000000, MI_SRM, 0x20d4, ADDRESS(DATA), MI_SRM, 0x20e0,
	     ADDRESS(DATA + 4));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0x4);
	assert_int_equal(data32(rig, 4), 0x4000);
}

static void users_cannot_turn_preemption_off(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_ARB_OFF, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_SEMAPHORE(4), 1, ADDRESS(DATA));
	rig_start(rig);
	usleep_range(500, 500);
	rig_preempt(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(users_write_no_status_page),
		RIG_TEST(users_cannot_reach_the_ggtt),
		RIG_TEST(some_commands_end_the_job),
		RIG_TEST(a_ggtt_batch_has_the_rights_of_the_ring),
		RIG_TEST(batches_that_a_user_batch_starts_are_user_batches),
		RIG_TEST(users_write_only_registers_of_their_list),
		RIG_TEST(user_batches_write_what_hardware_lets_them_write),
		RIG_TEST(user_batches_write_no_other_engines_registers),
		RIG_TEST(the_kernels_workarounds_are_masked_stores),
		RIG_TEST(byte_disables_keep_bytes),
		RIG_TEST(registers_that_are_not_listed_read_zero),
		RIG_TEST(workarounds_of_the_cpu_can_be_read),
		RIG_TEST(users_cannot_turn_preemption_off),
	};

	return cmocka_run_group_tests_name("softgpu rights", tests, NULL, NULL);
}
