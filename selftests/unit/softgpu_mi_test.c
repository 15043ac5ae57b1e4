// SPDX-License-Identifier: GPL-2.0-only
/* MI commands and PIPE_CONTROL: their lengths and effects. */
#include "softgpu_fixture.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))

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
	/* Longer than what engines fetch; MEDIA_VFE_STATE of RCS has the same opcode. */
	assert_int_equal(run_on(rig, GHYVI_VCS, 0x700005ff), GHYVI_JOB_COMPLETE);
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
	/* Not the page behind the context's, the first of its image. */
	rig_reset(rig);
	ring(rig, MI(0x21, 2) | 1 << 21, 0xffc, 9, 10);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
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
	/* The context image has the results. */
#define R(n)                                                    \
	((u64)rig->context[GHYVI_CTX_GPR + 4 * (n) + 2] << 32 | \
	 rig->context[GHYVI_CTX_GPR + 4 * (n)])
	assert_true(R(2) == 0x100000001ULL);
	assert_true(R(3) == 2 - 0xffffffffULL);
	assert_true(R(4) == ~0ULL); /* borrow */
	assert_true(R(5) == ~0ULL); /* not zero */
	assert_true(R(6) == 2); /* LOAD1 loads all ones */
#undef R
	ring(rig, MI(0x1a, 0), ALU(0x7ff, 0, 0));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

#define PREDICATE(load, combine, compare) (MI(0x0c, 0) | (load) << 6 | (combine) << 3 | (compare))
#define LOAD 2
#define LOAD_INVERSE 3
#define PREDICATE_SRC0 0x2400
#define PREDICATE_SRC1 0x2408
#define PREDICATE_RESULT 0x2418
#define SRM_PREDICATED (MI_SRM | 1 << 21)

/* The result of one MI_PREDICATE, as a later command sees it, if it was @old before. */
static u32 predicate(struct rig *rig, bool old, u32 command, u64 a, u64 b)
{
	rig_reset(rig);
	memset(rig->data, 0, 16);
	ring(rig, MI_LRI(6), PREDICATE_SRC0, LOW(a), PREDICATE_SRC0 + 4, HIGH(a), PREDICATE_SRC1,
	     LOW(b), PREDICATE_SRC1 + 4, HIGH(b), PREDICATE_RESULT, old, PREDICATE_RESULT_1, old);
	ring(rig, command, MI_LRI(1), GPR(0), 1, SRM_PREDICATED, GPR(0), ADDRESS(DATA), MI_SRM,
	     PREDICATE_RESULT, ADDRESS(DATA + 4), MI_SRM, PREDICATE_RESULT_1, ADDRESS(DATA + 8));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), data32(rig, 4));
	assert_int_equal(data32(rig, 0), data32(rig, 8));
	return data32(rig, 0);
}

static void predicates_compare_combine_and_load(void **state)
{
	struct rig *rig = *state;
	unsigned int old, value;

	for (old = 0; old < 2; old++) {
		for (value = 0; value < 2; value++) {
			/* The comparison TRUE has the value 0, FALSE 1. */
			assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 0, !value), 0, 0),
					 value);
			assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 1, !value), 0, 0),
					 old & value);
			assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 2, !value), 0, 0),
					 old | value);
			assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 3, !value), 0, 0),
					 old ^ value);
			assert_int_equal(predicate(rig, old, PREDICATE(LOAD_INVERSE, 0, !value), 0,
						   0),
					 !value);
			assert_int_equal(predicate(rig, old, PREDICATE(0, 0, !value), 0, 0), old);
		}
		/* All 64 bits count. */
		assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 0, 2), 1ULL << 63, 1ULL << 63),
				 1);
		assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 0, 2), 1ULL << 63, 0), 0);
		/* It stored the difference, with which the next one is compared. */
		assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 0, 3), 1ULL << 63 | 5, 5), 1);
		assert_int_equal(predicate(rig, old, PREDICATE(LOAD, 0, 3), 0, 0), 0);
	}
}

static void a_predicated_start_jumps_if_the_predicate_is_set(void **state)
{
	struct rig *rig = *state;
	unsigned int set;

	for (set = 0; set < 2; set++) {
		rig_reset(rig);
		memset(rig->data, 0, 16);
		batch(rig->batch, MI_LRI(1), PREDICATE_RESULT_1, set,
		      MI_BATCH_START | MI_SECOND_LEVEL | MI_PREDICATED, ADDRESS(BATCH2),
		      MI_BATCH_START | MI_PREDICATED, ADDRESS(BATCH3), MI_STORE, ADDRESS(DATA + 8),
		      3, MI_BATCH_END);
		batch(rig->batch2, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
		batch(rig->batch3, MI_STORE, ADDRESS(DATA + 4), 2, MI_BATCH_END);
		ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 12), 4);
		assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(data32(rig, 0), set ? 1 : 0);
		assert_int_equal(data32(rig, 4), set ? 2 : 0);
		assert_int_equal(data32(rig, 8), set ? 0 : 3);
		assert_int_equal(data32(rig, 12), 4);
	}
}

/* One store in a batch after MI_SET_PREDICATE: is it executed? */
static bool stored_after(struct rig *rig, u32 enable, bool result, bool result_2)
{
	rig_reset(rig);
	memset(rig->data, 0, 16);
	batch(rig->batch, MI_LRI(2), PREDICATE_RESULT, result, 0x23bc, result_2,
	      MI_SET_PREDICATE(enable), MI_STORE, ADDRESS(DATA), 1, PIPE_CONTROL, POST_IMMEDIATE,
	      ADDRESS(DATA + 8), 1, 0, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 4), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), data32(rig, 8));
	assert_int_equal(data32(rig, 4), 2); /* the ring is not affected */
	return data32(rig, 0);
}

static void set_predicate_makes_commands_noops(void **state)
{
	struct rig *rig = *state;

	assert_true(stored_after(rig, 0, 0, 0));
	assert_false(stored_after(rig, 1, 0, 0));
	assert_true(stored_after(rig, 1, 0, 1));
	assert_true(stored_after(rig, 2, 0, 0));
	assert_false(stored_after(rig, 2, 0, 1));
	assert_false(stored_after(rig, 3, 0, 1));
	assert_true(stored_after(rig, 3, 1, 0));
	assert_true(stored_after(rig, 4, 0, 1));
	assert_false(stored_after(rig, 4, 1, 0));
	assert_true(stored_after(rig, 5, 0, 0)); /* one slice is powered, neither two nor three */
	assert_false(stored_after(rig, 6, 0, 0));
	assert_false(stored_after(rig, 7, 0, 0));
	assert_false(stored_after(rig, 15, 1, 1));
}

/* A preempted batch remembers it; engines without the command ignore it, and so does a ring. */
static void set_predicate_lasts_to_the_end_of_its_batch(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_SET_PREDICATE(15), MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH2),
	      MI_STORE, ADDRESS(DATA + 4), 1, MI_BATCH_START, ADDRESS(BATCH3));
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 8), 1, MI_BATCH_END);
	batch(rig->batch3, MI_STORE, ADDRESS(DATA + 12), 1, MI_SET_PREDICATE(0), MI_SEMAPHORE(4), 1,
	      ADDRESS(DATA), MI_SET_PREDICATE(15), MI_STORE, ADDRESS(DATA + 16), 1, MI_BATCH_END);
	ring(rig, MI_SET_PREDICATE(15), MI_BATCH_START, ADDRESS(BATCH), MI_SET_PREDICATE(15),
	     MI_STORE, ADDRESS(DATA + 20), 1);
	rig_start(rig);
	usleep_range(500, 500);
	rig_preempt(rig);
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data32(rig, 4) == 0 && data64(rig, 8) == 0 && data32(rig, 16) == 0);
	assert_int_equal(data32(rig, 20), 1);

	rig_reset(rig);
	rig->job.engine = GHYVI_VCS;
	batch(rig->batch, MI_SET_PREDICATE(15), MI_STORE, ADDRESS(DATA), 5, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 5);
}

/* The guest's kernel writes what is after a batch of the user, or after the context's batch. */
static void set_predicate_does_not_reach_other_privileged_commands(void **state)
{
	struct rig *rig = *state;

	batch(rig->ring + 0x1000, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH), MI_STORE,
	      ADDRESS(DATA), 1, MI_BATCH_END);
	batch(rig->batch, MI_SET_PREDICATE(15), MI_BATCH_END);
	ring(rig, MI_BATCH_START_GGTT, ADDRESS(RING_GGTT + 0x1000));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);

	rig_reset(rig);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	batch(rig->indirect, MI_SET_PREDICATE(15), MI_STORE, ADDRESS(DATA + 4), 1);
	ring(rig, MI_STORE, ADDRESS(DATA + 8), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4), 0);
	assert_int_equal(data32(rig, 8), 1);
}

static void a_start_adds_the_offset_register(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_LRI(1), 0x2158, 0x1002, MI_BATCH_START | MI_ADD_OFFSET,
	      ADDRESS(BATCH2 - 0x1000));
	batch(rig->batch2, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
	/* Privileged batches do not depend on a register that user batches write. */
	rig_reset(rig);
	ring(rig, MI_BATCH_START_GGTT | MI_ADD_OFFSET, ADDRESS(INDIRECT_GGTT));
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

/* R4 gets as many bytes as memory. */
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
				softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
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

#define REPORT MI(0x28, 2)

static void performance_reports_have_no_counts(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	memset(rig->data, 0xff, 0x200);
	memset(rig->ggtt_data, 0xff, 0x200);
	ring(rig, REPORT, ADDRESS(DATA + 0x40), 0x1234, REPORT, DATA_GGTT | 1, 0, 0x5678);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0x3c), ~0u);
	assert_int_equal(data32(rig, 0x40), 0x1234);
	assert_int_equal(*(u32 *)rig->ggtt_data, 0x5678);
	for (i = 2; i < 64; i++)
		assert_int_equal(data32(rig, 0x40 + 4 * i), 0);
	assert_int_equal(data32(rig, 0x140), ~0u);
	/* Users: their own memory only. */
	rig_reset(rig);
	memset(rig->data, 0xff, 0x200);
	batch(rig->batch, REPORT, DATA_GGTT | 1, 0, 9, REPORT, ADDRESS(DATA), 0xabc, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0xabc);
	assert_int_equal(*(u32 *)rig->ggtt_data, 0x5678);
}

static void missing_operands_of_a_short_packet_are_zero(void **state)
{
	struct rig *rig = *state;

	*(u64 *)(rig->data + 8) = ~0ULL;
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE, ADDRESS(DATA), 3, 4);
	ring(rig, PIPE_CONTROL - 1, POST_IMMEDIATE, ADDRESS(DATA + 8), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_true(data64(rig, 0) == 0x400000003ULL);
	assert_true(data64(rig, 8) == 5);
	ring(rig, PIPE_CONTROL - 2, POST_IMMEDIATE, ADDRESS(DATA + 8));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
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

/* The core raises it with the completion. */
static void user_interrupts_at_the_end_are_left_to_the_core(void **state)
{
	struct rig *rig = *state;

	batch(rig->batch, MI_USER_INTERRUPT, MI_BATCH_END);
	ring(rig, MI_USER_INTERRUPT);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->interrupts), 1);
	assert_int_equal(rig->job.events, GHYVI_EVENT_USER_INTERRUPT);
}

static void a_user_interrupt_does_not_wait_for_a_long_job(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	ring(rig, MI_USER_INTERRUPT, MI_NOOP);
	for (i = 0; i < 2 * SOFTGPU_SLICE_COMMANDS; i++)
		ring(rig, MI_NOOP, MI_NOOP);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->interrupts), 1);
	assert_int_equal(rig->job.events, 0);
}

static void a_job_that_fails_raises_its_user_interrupts(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_USER_INTERRUPT, MI_BATCH_END); /* not allowed in the ring */
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic_read(&rig->interrupts), 1);
	assert_int_equal(rig->job.events, 0);
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
		RIG_TEST(predicates_compare_combine_and_load),
		RIG_TEST(a_predicated_start_jumps_if_the_predicate_is_set),
		RIG_TEST(set_predicate_makes_commands_noops),
		RIG_TEST(set_predicate_lasts_to_the_end_of_its_batch),
		RIG_TEST(set_predicate_does_not_reach_other_privileged_commands),
		RIG_TEST(a_start_adds_the_offset_register),
		RIG_TEST(atomics_do_what_their_names_say),
		RIG_TEST(atomics_return_all_that_they_wrote),
		RIG_TEST(atomics_need_memory_that_can_be_written),
		RIG_TEST(semaphores_compare_memory_with_data),
		RIG_TEST(a_conditional_end_continues_while_memory_is_greater),
		RIG_TEST(pipe_control_posts_to_the_given_address),
		RIG_TEST(performance_reports_have_no_counts),
		RIG_TEST(missing_operands_of_a_short_packet_are_zero),
		RIG_TEST(flush_dw_posts_to_the_given_address),
		RIG_TEST(the_context_timestamp_counts_while_the_context_runs),
		cmocka_unit_test_setup_teardown(gen8_ticks_at_its_own_rate_and_keeps_no_registers,
						rig_setup_gen8, rig_teardown),
		RIG_TEST(user_interrupts_at_the_end_are_left_to_the_core),
		RIG_TEST(a_user_interrupt_does_not_wait_for_a_long_job),
		RIG_TEST(a_job_that_fails_raises_its_user_interrupts),
	};

	return cmocka_run_group_tests_name("softgpu commands", tests, NULL, NULL);
}
