// SPDX-License-Identifier: GPL-2.0-only
/* MI commands and PIPE_CONTROL: lengths, effects, and the privilege that each needs. */
#include "softgpu_fixture.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define FLUSH_DW(dwords) MI(0x26, (dwords)-2)
#define POST_IMMEDIATE (1 << 14)
#define POST_TIMESTAMP (3 << 14)
#define STORE_INDEX (1 << 21)
#define NOTIFY (1 << 8)

static enum ghyvi_job_status run_on(struct rig *rig, enum ghyvi_engine_id engine, u32 header)
{
	rig_reset(rig);
	rig->job.engine = engine;
	memset(rig->batch, 0, 0x4000);
	rig->batch[0] = header;
	rig->batch[0x800] = MI_BATCH_END;
	return rig_run_batch(rig);
}

static void state_packets_are_skipped_on_engines_that_know_them(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(run_on(rig, GHYVI_RCS, 0x61010011), GHYVI_JOB_COMPLETE);
	assert_int_equal(run_on(rig, GHYVI_VCS, 0x70000fff), GHYVI_JOB_ERROR); /* over the end */
	assert_int_equal(run_on(rig, GHYVI_VCS, 0x700000ff), GHYVI_JOB_COMPLETE);
	assert_int_equal(run_on(rig, GHYVI_BCS, 0x61010011), GHYVI_JOB_ERROR);
	assert_int_equal(run_on(rig, GHYVI_RCS, 0x54000005), GHYVI_JOB_ERROR);
	assert_int_equal(run_on(rig, GHYVI_RCS, 0x20000000), GHYVI_JOB_ERROR);
}

static void stores_of_several_elements(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI(0x20, 4), ADDRESS(DATA), 1, 2, 3);
	ring(rig, MI(0x20, 5) | 1 << 21, ADDRESS(DATA + 16), 4, 5, 6, 7);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT + 4), 8);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 3);
	assert_true(data64(rig, 24) == 0x700000006ULL);
	assert_int_equal(((u32 *)rig->ggtt_data)[1], 8);
}

static void a_qword_store_across_pages_reaches_both(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_STORE_QWORD, ADDRESS(DATA + 4092), 1, 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4092), 1);
	assert_int_equal(data32(rig, 4096), 2);
}

static void store_index_writes_the_named_page(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x2080 / 4] = HWSP_GGTT;
	ring(rig, MI(0x21, 1) | 1 << 21, 0x800, 5, MI(0x21, 1), 0x804, 6);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0x800), 5);
	assert_int_equal(*(u32 *)(rig->hwsp + 0x804), 6);
	/* A user must not reach the engine's page. */
	rig_reset(rig);
	batch(rig->batch, MI(0x21, 1) | 1 << 21, 0x808, 7, MI(0x21, 1), 0x80c, 8, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0x808), 7);
	assert_int_equal(*(u32 *)(rig->hwsp + 0x80c), 0);
	/* Nor the page behind the context's, the first of its image. */
	rig_reset(rig);
	batch(rig->batch, MI(0x21, 2) | 1 << 21, 0xffc, 9, 10, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0xff8), 9);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0xffc), 10);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0x1000), 0);
}

static void registers_move_between_memory_and_each_other(void **state)
{
	struct rig *rig = *state;

	*(u32 *)(rig->data + 64) = 0xabcd;
	ring(rig, MI_LRI(2), GPR(1), 11, GPR(2), 22, MI_LRR, GPR(1), GPR(3), MI_LRM, GPR(4),
	     ADDRESS(DATA + 64));
	ring(rig, MI_SRM, GPR(3), ADDRESS(DATA), MI_SRM, GPR(4), ADDRESS(DATA + 4),
	     MI_SRM | MI_GGTT, GPR(2), ADDRESS(DATA_GGTT), MI(0x2e, 3), ADDRESS(DATA + 8),
	     ADDRESS(DATA + 64));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 11);
	assert_int_equal(data32(rig, 4), 0xabcd);
	assert_int_equal(data32(rig, 8), 0xabcd);
	assert_int_equal(*(u32 *)rig->ggtt_data, 22);
}

static void math_adds_subtracts_and_keeps_flags(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_LRI(4), GPR(0), 0xffffffff, GPR(0) + 4, 0, GPR(1), 2, GPR(1) + 4, 0);
	ring(rig, MI(0x1a, 15), ALU(0x80, 0x20, 0), ALU(0x80, 0x21, 1), ALU(0x100, 0, 0),
	     ALU(0x180, 2, 0x31), ALU(0x80, 0x20, 1), ALU(0x80, 0x21, 0), ALU(0x101, 0, 0),
	     ALU(0x180, 3, 0x31), ALU(0x180, 4, 0x33), ALU(0x580, 5, 0x32), ALU(0x480, 0x20, 1),
	     ALU(0x481, 0x21, 0), ALU(0x104, 0, 0), ALU(0x180, 6, 0x31), ALU(0x081, 0x20, 0),
	     ALU(0x103, 0, 0));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	/* A context register file holds what came out. */
#define R(n)                                                    \
	((u64)rig->context[GHYVI_CTX_GPR + 4 * (n) + 2] << 32 | \
	 rig->context[GHYVI_CTX_GPR + 4 * (n)])
	assert_true(R(2) == 0x100000001ULL);
	assert_true(R(3) == 2 - 0xffffffffULL);
	assert_true(R(4) == ~0ULL); /* borrow */
	assert_true(R(5) == ~0ULL); /* not zero */
	assert_true(R(6) == (~2ULL ^ 1));
#undef R
	ring(rig, MI(0x1a, 0), ALU(0x7ff, 0, 0));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

static u32 atomic_op(struct rig *rig, unsigned int op, u32 memory, u32 first, u32 second)
{
	rig_reset(rig);
	*(u32 *)rig->data = memory;
	ring(rig, MI(0x2f, 9) | 1 << 18 | 1 << 16 | op << 8, ADDRESS(DATA), first, second, 0, 0, 0,
	     0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->context[GHYVI_CTX_GPR + 2 * 8], data32(rig, 0));
	return data32(rig, 0);
}

static void atomics_do_what_their_names_say(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(atomic_op(rig, 1, 12, 10, 0), 8);
	assert_int_equal(atomic_op(rig, 2, 12, 3, 0), 15);
	assert_int_equal(atomic_op(rig, 3, 12, 10, 0), 6);
	assert_int_equal(atomic_op(rig, 4, 12, 10, 0), 10);
	assert_int_equal(atomic_op(rig, 5, 12, 10, 0), 13);
	assert_int_equal(atomic_op(rig, 6, 12, 10, 0), 11);
	assert_int_equal(atomic_op(rig, 7, 12, 10, 0), 22);
	assert_int_equal(atomic_op(rig, 8, 12, 10, 0), 2);
	assert_int_equal(atomic_op(rig, 9, 12, 10, 0), (u32)-2);
	assert_int_equal(atomic_op(rig, 0xa, (u32)-5, 10, 0), 10);
	assert_int_equal(atomic_op(rig, 0xb, (u32)-5, 10, 0), (u32)-5);
	assert_int_equal(atomic_op(rig, 0xc, (u32)-5, 10, 0), (u32)-5);
	assert_int_equal(atomic_op(rig, 0xd, (u32)-5, 10, 0), 10);
	assert_int_equal(atomic_op(rig, 0xe, 12, 12, 99), 99);
	assert_int_equal(atomic_op(rig, 0xe, 12, 13, 99), 12);
	rig_reset(rig);
	*(u64 *)rig->data = 0xffffffffULL;
	ring(rig, MI(0x2f, 1) | 1 << 19 | 0x25 << 8, ADDRESS(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0x100000000ULL);
}

#define ATOMIC_ADD_RETURNED (MI(0x2f, 9) | 1 << 18 | 1 << 16 | 7 << 8)
#define ATOMIC_64 (1 << 19 | 2 << 12)

/* R4 gets as much as memory did. */
static void atomics_return_all_that_they_wrote(void **state)
{
	struct rig *rig = *state;
	u32 *r4 = rig->context + GHYVI_CTX_GPR + 2 * 8;

	r4[0] = r4[2] = 0xdead;
	*(u64 *)rig->data = 0xffffffffULL;
	ring(rig, ATOMIC_ADD_RETURNED | ATOMIC_64, ADDRESS(DATA), 2, 0, 5, 0, 0, 0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0x600000001ULL);
	assert_int_equal(r4[0], 1);
	assert_int_equal(r4[2], 6);
	ring(rig, ATOMIC_ADD_RETURNED, ADDRESS(DATA), 2, 0, 5, 0, 0, 0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0x600000003ULL);
	assert_int_equal(r4[0], 3);
	assert_int_equal(r4[2], 6);
}

static void atomics_need_memory_that_can_be_written(void **state)
{
	struct rig *rig = *state;

	*(u32 *)rig->read_only = 5;
	ring(rig, ATOMIC_ADD_RETURNED, ADDRESS(READ_ONLY), 2, 0, 5, 0, 0, 0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)rig->read_only, 5);
	ring(rig, ATOMIC_ADD_RETURNED, ADDRESS(HOLE), 2, 0, 5, 0, 0, 0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "not present"));
}

static void semaphores_compare_memory_with_data(void **state)
{
	/* memory 5 against 4, 5, 6 */
	static const bool passes[6][3] = { { 1, 0, 0 }, { 1, 1, 0 }, { 0, 0, 1 },
					   { 0, 1, 1 }, { 0, 1, 0 }, { 1, 0, 1 } };
	struct rig *rig = *state;

	*(u32 *)rig->data = 5;
	for (unsigned int compare = 0; compare < 6; compare++)
		for (unsigned int i = 0; i < 3; i++) {
			rig_reset(rig);
			ring(rig, MI_SEMAPHORE(compare), 4 + i, ADDRESS(DATA));
			rig_start(rig);
			if (!passes[compare][i]) {
				usleep_range(200, 200);
				softgpu_ops.cancel(rig->gpu, &rig->job);
			}
			assert_int_equal(rig_wait(rig), passes[compare][i] ? GHYVI_JOB_COMPLETE :
									     GHYVI_JOB_CANCELLED);
		}
}

static void a_conditional_end_continues_while_memory_is_greater(void **state)
{
	struct rig *rig = *state;

	*(u32 *)rig->data = 5;
	batch(rig->batch, MI(0x36, 2) | 1 << 21, 4, ADDRESS(DATA), MI_STORE, ADDRESS(DATA + 4), 1,
	      MI(0x36, 2) | 1 << 21, 5, ADDRESS(DATA), MI_STORE, ADDRESS(DATA + 8), 1);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4), 1);
	assert_int_equal(data32(rig, 8), 0);
}

static void pipe_control_posts_to_the_given_address(void **state)
{
	struct rig *rig = *state;
	u64 stamp;

	ring(rig, PIPE_CONTROL, POST_IMMEDIATE | 1 << 24 | NOTIFY, ADDRESS(DATA_GGTT + 8), 1, 2);
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE, ADDRESS(DATA + 8), 3, 4);
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE | STORE_INDEX, 0xd0, 0, 5, 6);
	ring(rig, PIPE_CONTROL, POST_TIMESTAMP, ADDRESS(DATA + 16), 0, 0);
	ring(rig, PIPE_CONTROL, 0x01000000, 0, 0, 0, 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(*(u64 *)(rig->ggtt_data + 8) == 0x200000001ULL);
	assert_true(data64(rig, 8) == 0x400000003ULL);
	assert_true(*(u64 *)(rig->pphwsp + 0xd0) == 0x600000005ULL);
	stamp = softgpu_ticks(9, ktime_get_ns()) & 0xfffffffffULL;
	assert_true(stamp - data64(rig, 16) < 12000000);
	assert_int_equal(atomic_read(&rig->notifies), 1);
	ring(rig, PIPE_CONTROL, 1 << 23 | POST_IMMEDIATE, 0x2080, 0, 1, 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

static void missing_operands_of_a_short_packet_are_zero(void **state)
{
	struct rig *rig = *state;

	*(u64 *)(rig->data + 8) = ~0ULL;
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE, ADDRESS(DATA), 3, 4);
	ring(rig, PIPE_CONTROL - 2, POST_IMMEDIATE, ADDRESS(DATA + 8));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0x400000003ULL);
	assert_true(data64(rig, 8) == 0);
}

static void flush_dw_posts_to_the_given_address(void **state)
{
	struct rig *rig = *state;
	u64 stamp;

	rig->job.engine = GHYVI_BCS;
	*(u64 *)(rig->data + 8) = *(u64 *)(rig->data + 24) = ~0ULL;
	ring(rig, FLUSH_DW(4) | POST_IMMEDIATE | NOTIFY, LOW(DATA_GGTT + 8) | 4, 0, 1);
	ring(rig, FLUSH_DW(4) | POST_IMMEDIATE, ADDRESS(DATA + 8), 2);
	ring(rig, FLUSH_DW(5) | POST_IMMEDIATE, ADDRESS(DATA + 16), 3, 4);
	ring(rig, FLUSH_DW(4) | POST_IMMEDIATE | STORE_INDEX, 0xd0, 0, 5);
	ring(rig, FLUSH_DW(4) | POST_TIMESTAMP, ADDRESS(DATA + 24), 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(rig->ggtt_data + 8), 1);
	assert_true(data64(rig, 8) == 0xffffffff00000002ULL);
	assert_true(data64(rig, 16) == 0x400000003ULL);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0xd0), 5);
	stamp = softgpu_ticks(9, ktime_get_ns()) & 0xfffffffffULL;
	assert_true(stamp - data64(rig, 24) < 12000000);
	assert_int_equal(atomic_read(&rig->notifies), 1);
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
		{ { MI(0x28, 1) }, true, true },
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

static void users_write_only_registers_that_are_theirs(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x24d0 / 4] = 0xb118; /* listed, and on the host's list */
	rig->registers[0x24d4 / 4] = 0x2080; /* listed by the guest only */
	batch(rig->batch, MI_LRI(8), 0xb118, 5, 0x2080, 6, 0x7304, 0x10001, 0x2088, 0x10001, 0x2300,
	      7, 0x2410, 8, 0x2358, 9, 0x22200, 0x30003, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0xb118 / 4], 5);
	assert_int_equal(rig->registers[0x2080 / 4], 0);
	assert_int_equal(rig->registers[0x7304 / 4], 0);
	assert_int_equal(rig->registers[0x2088 / 4], 0);
	assert_int_equal(rig->registers[0x2300 / 4], 7);
	assert_int_equal(rig->registers[0x2410 / 4], 8);
	assert_int_equal(rig->registers[0x2358 / 4], 0);
	assert_int_equal(rig->registers[0x22200 / 4], 0); /* the blitter's */
	/* The last slot counts, the register behind it is none. */
	rig_reset(rig);
	rig->registers[0x24fc / 4] = 0x7014;
	rig->registers[0x2500 / 4] = 0x7304;
	batch(rig->batch, MI_LRI(2), 0x7014, 0x10001, 0x7304, 0x10001, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0x7014 / 4], 1);
	assert_int_equal(rig->registers[0x7304 / 4], 0);
}

static void the_kernels_workarounds_are_masked_stores(void **state)
{
	struct rig *rig = *state;

	rig->registers[0x7014 / 4] = 0xf0;
	ring(rig, MI_LRI(4), 0x7014, 0x00300001 << 0, 0xb118, 0x12345678, 0x209c, 0x01020302,
	     0x20c0, 0x00800080);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0x7014 / 4], 0xc0);
	assert_int_equal(rig->registers[0xb118 / 4], 0x12345678);
	/* STOP is not the command streamer's to set. */
	assert_int_equal(rig->registers[0x209c / 4] & 0x100, 0);
	assert_int_equal(rig->registers[0x20c0 / 4], 0x80);
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

static void the_context_timestamp_counts_while_the_context_runs(void **state)
{
	struct rig *rig = *state;
	u32 first;

	rig->context[GHYVI_CTX_TIMESTAMP] = 1000;
	ring(rig, MI_SRM, 0x23a8, ADDRESS(DATA), MI_SRM, 0x2358, ADDRESS(DATA + 4));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	first = rig->context[GHYVI_CTX_TIMESTAMP];
	assert_true(data32(rig, 0) >= 1000 && data32(rig, 0) <= first);
	assert_true(first - 1000 < 12000000);
	usleep_range(20000, 20000);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(rig->context[GHYVI_CTX_TIMESTAMP] - first < 12000 * 18);
}

static void gen8_ticks_at_its_own_rate_and_keeps_no_registers(void **state)
{
	struct rig *rig = *state;

	assert_true(softgpu_ticks(8, 80000) == 1000);
	assert_true(softgpu_ticks(9, 1000000) == 12000);
	ring(rig, MI_LRI(1), GPR(0), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->context[GHYVI_CTX_GPR], 0);
}

static void a_user_interrupt_reaches_the_core(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_USER_INTERRUPT, MI_BATCH_END);
	ring(rig, MI_USER_INTERRUPT);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->interrupts), 2);
}

static void users_cannot_turn_preemption_off(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_ARB_OFF, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_SEMAPHORE(4), 1, ADDRESS(DATA));
	rig_start(rig);
	usleep_range(500, 500);
	softgpu_ops.preempt(rig->gpu, &rig->job);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_PREEMPTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(state_packets_are_skipped_on_engines_that_know_them),
		RIG_TEST(stores_of_several_elements),
		RIG_TEST(a_qword_store_across_pages_reaches_both),
		RIG_TEST(store_index_writes_the_named_page),
		RIG_TEST(registers_move_between_memory_and_each_other),
		RIG_TEST(math_adds_subtracts_and_keeps_flags),
		RIG_TEST(atomics_do_what_their_names_say),
		RIG_TEST(atomics_return_all_that_they_wrote),
		RIG_TEST(atomics_need_memory_that_can_be_written),
		RIG_TEST(semaphores_compare_memory_with_data),
		RIG_TEST(a_conditional_end_continues_while_memory_is_greater),
		RIG_TEST(pipe_control_posts_to_the_given_address),
		RIG_TEST(missing_operands_of_a_short_packet_are_zero),
		RIG_TEST(flush_dw_posts_to_the_given_address),
		RIG_TEST(users_cannot_reach_the_ggtt),
		RIG_TEST(some_commands_end_the_job),
		RIG_TEST(a_ggtt_batch_has_the_rights_of_the_ring),
		RIG_TEST(users_write_only_registers_that_are_theirs),
		RIG_TEST(the_kernels_workarounds_are_masked_stores),
		RIG_TEST(byte_disables_keep_bytes),
		RIG_TEST(registers_that_are_not_listed_read_zero),
		RIG_TEST(the_context_timestamp_counts_while_the_context_runs),
		cmocka_unit_test_setup_teardown(gen8_ticks_at_its_own_rate_and_keeps_no_registers,
						rig_setup_gen8, rig_teardown),
		RIG_TEST(a_user_interrupt_reaches_the_core),
		RIG_TEST(users_cannot_turn_preemption_off),
	};

	return cmocka_run_group_tests_name("softgpu commands", tests, NULL, NULL);
}
