// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operands of commands bit by bit: atomics and arithmetic against a reference, post-sync writes,
 * stores and loads.
 */
#include "softgpu_fixture.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define ATOMIC(op) ((u32)(op) << 8)
#define ATOMIC_INLINE (MI(0x2f, 9) | 1 << 18)
#define ATOMIC_SHORT MI(0x2f, 1)
#define ATOMIC_64 (1 << 19 | 2 << 12)
#define ATOMIC_RETURN (1 << 16)
#define POST_DEPTH_COUNT (2 << 14)

/* Atomics. */

static u64 reference(unsigned int op, u64 old, u64 first, u64 second, bool wide)
{
	s64 so = wide ? (s64)old : (s32)old, sf = wide ? (s64)first : (s32)first;
	u64 uo = wide ? old : (u32)old, uf = wide ? first : (u32)first;
	const u64 results[] = {
		0,
		old & first,
		old | first,
		old ^ first,
		first,
		old + 1,
		old - 1,
		old + first,
		old - first,
		first - old,
		so > sf ? old : first,
		so < sf ? old : first,
		uo > uf ? old : first,
		uo < uf ? old : first,
		uo == uf ? second : old,
	};

	return wide ? results[op] : (old & ~0xffffffffULL) | (u32)results[op];
}

static const u64 values[] = { 0,
			      1,
			      0x7fffffff,
			      0x80000000,
			      0xffffffff,
			      0x100000000,
			      0x180000001,
			      0x7fffffffffffffff,
			      0x8000000000000000,
			      0xffffffffffffffff,
			      0x123456789abcdef0 };

#define VALUES ARRAY_SIZE(values)
#define SECOND 0xfedcba9876543210ULL

/* Inline operands or those in R0 and R2, returned to R4 or not, on either space. */
static void atomics_equal_the_reference(void **state)
{
	struct rig *rig = *state;
	unsigned int op, form, i, k;

	for (op = 1; op <= 14; op++)
		for (form = 0; form < 16; form++) {
			bool wide = form & 1, is_inline = form & 2, returns = form & 4,
			     ggtt = form & 8;
			u64 address = ggtt ? DATA_GGTT : DATA | 0xffff000000000000ULL;
			u8 *memory = ggtt ? rig->ggtt_data : rig->data;
			u32 header = (is_inline ? ATOMIC_INLINE : ATOMIC_SHORT) | ATOMIC(op) |
				     (wide ? ATOMIC_64 : 0) | (returns ? ATOMIC_RETURN : 0) |
				     (ggtt ? MI_GGTT : 0);
			u64 last = 0x1111111122222222ULL, result = 0;

			load_gpr(rig, 4, last);
			for (i = 0; i < VALUES; i++) {
				u64 first = values[(i + op + form) % VALUES];

				*(u64 *)(memory + 16 * i) = values[i];
				if (is_inline) {
					ring(rig, header, ADDRESS(address + 16 * i), LOW(first),
					     LOW(SECOND), HIGH(first), HIGH(SECOND), 0, 0, 0, 0);
				} else {
					load_gpr(rig, 0, first);
					load_gpr(rig, 2, SECOND);
					ring(rig, header, ADDRESS(address + 16 * i));
				}
			}
			assert_completes(rig);
			for (k = 0; k < VALUES; k++) {
				result = reference(op, values[k], values[(k + op + form) % VALUES],
						   SECOND, wide);
				if (*(u64 *)(memory + 16 * k) != result)
					fail_msg("atomic %u form %u of %#llx: %#llx, not %#llx", op,
						 form, (unsigned long long)values[k],
						 *(unsigned long long *)(memory + 16 * k),
						 (unsigned long long)result);
			}
			if (returns)
				last = wide ? result : (last & ~0xffffffffULL) | (u32)result;
			assert_true(gpr(rig, 4) == last);
		}
}

static void atomics_that_do_not_exist_are_errors(void **state)
{
	struct rig *rig = *state;

	ring(rig, ATOMIC_SHORT | ATOMIC(0), ADDRESS(DATA));
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(15), ADDRESS(DATA));
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(5) | 2 << 19 | 4 << 12, ADDRESS(DATA)); /* an octword */
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(5) | 2 << 12,
	     ADDRESS(DATA)); /* what the size is, twice, differently */
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(5) | 1 << 19, ADDRESS(DATA));
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(5) | ATOMIC_64, ADDRESS(DATA + 4));
	assert_error(rig, "not supported");
	ring(rig, ATOMIC_SHORT | ATOMIC(5) | 1 << 18, ADDRESS(DATA));
	assert_error(rig, "not supported");
	assert_true(data64(rig, 0) == 0);
	ring(rig, ATOMIC_SHORT | ATOMIC(5), LOW(DATA + 4) | 3,
	     HIGH(DATA)); /* the low bits of an address do not count */
	assert_completes(rig);
	assert_int_equal(data32(rig, 4), 1);
	assert_int_equal(data32(rig, 0), 0);
}

/* The engine executes the stored command, even if it prefetched the old one. */
static void stores_are_visible_to_later_commands(void **state)
{
	struct rig *rig = *state;

	/* The store's value is that of the MI_STORE two commands on: 3 instead of 0. */
	batch(rig->batch, MI_STORE, ADDRESS(BATCH + 4 * 7), 3, MI_STORE, ADDRESS(DATA), 0,
	      MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 3);
	rig_reset(rig);
	batch(rig->batch, ATOMIC_SHORT | ATOMIC(5), ADDRESS(BATCH + 4 * 6), MI_STORE, ADDRESS(DATA),
	      7, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 8);
	rig_reset(rig);
	batch(rig->batch, MI_STORE_QWORD, ADDRESS(BATCH + 4 * 8), 9, 5, 0, MI_STORE, ADDRESS(DATA),
	      0, 0, MI_BATCH_END);
	rig->batch[5] = MI_STORE;
	batch(rig->batch + 5, MI_STORE, ADDRESS(DATA), 7, MI_BATCH_END);
	batch(rig->batch, MI_STORE_QWORD, ADDRESS(BATCH + 4 * 8), 9, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 9);
}

/* Arithmetic. */

static void math_equals_the_reference(void **state)
{
	static const u32 ops[] = { 0x100, 0x101, 0x102, 0x103, 0x104 };
	struct rig *rig = *state;
	unsigned int i, k, op;

	for (op = 0; op < ARRAY_SIZE(ops); op++)
		for (i = 0; i < VALUES; i++)
			for (k = i % 2; k < VALUES; k += 2) {
				u64 a = values[i], b = values[k];
				const u64 results[] = { a + b, a - b, a & b, a | b, a ^ b };
				bool carry = op == 0 ? a + b < a : op == 1 && a < b;
				u64 result = results[op];

				load_gpr(rig, 14, a);
				load_gpr(rig, 15, b);
				/* The addition before sets the carry, which must be cleared. */
				ring(rig, MI(0x1a, 15), ALU(0x481, 0x20, 0), ALU(0x481, 0x21, 0),
				     ALU(0x101, 0, 0), ALU(0x180, 8, 0x31), ALU(0x180, 9, 0x32),
				     ALU(0x081, 0x20, 0), ALU(0x101, 0, 0), ALU(0x180, 10, 0x33),
				     ALU(0x080, 0x20, 14), ALU(0x080, 0x21, 15), ALU(ops[op], 0, 0),
				     ALU(0x180, 0, 0x31), ALU(0x580, 1, 0x31), ALU(0x180, 2, 0x32),
				     ALU(0x180, 3, 0x33), ALU(0, 0, 0));
				ring(rig, MI(0x1a, 3), ALU(0x480, 0x20, 14), ALU(0x081, 0x21, 0),
				     ALU(0x103, 0, 0), ALU(0x180, 4, 0x31));
				assert_completes(rig);
				assert_true(gpr(rig, 0) == result);
				assert_true(gpr(rig, 1) == ~result);
				assert_true(gpr(rig, 2) == (result ? 0 : ~0ULL));
				assert_true(gpr(rig, 3) == (carry ? ~0ULL : 0));
				assert_true(gpr(rig, 4) == ~a);
				assert_true(gpr(rig, 8) == 0);
				assert_true(gpr(rig, 9) == ~0ULL);
				assert_true(gpr(rig, 10) == ~0ULL);
				assert_true(gpr(rig, 14) == a);
			}
}

static void math_on_unknown_operands_is_an_error(void **state)
{
	static const u32 words[] = {
		ALU(0x080, 0x20, 0x10), ALU(0x080, 0x20, 0x30), ALU(0x080, 0x20, 0x34),
		ALU(0x080, 0x20, 0x20), ALU(0x480, 0x21, 0x10), ALU(0x080, 0x22, 0),
		ALU(0x080, 0x1f, 0),	ALU(0x081, 0, 0),	ALU(0x481, 0x22, 0),
		ALU(0x180, 0x10, 0x31), ALU(0x180, 0, 0x10),	ALU(0x580, 0x10, 0x31),
		ALU(0x580, 0, 0x21),	ALU(1, 0, 0),		ALU(0x105, 0, 0),
		ALU(0x082, 0x20, 0),	ALU(0x181, 0, 0x31),
	};
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		ring(rig, MI(0x1a, 0), words[i]);
		assert_error(rig, "unknown word");
	}
	ring(rig, MI(0x1a, 0), ALU(0x180, 15, 0x33));
	assert_completes(rig);
}

/* Posts. */

#define FULL ~0ULL

static void post_sync_writes_the_given_size(void **state)
{
	/* All post-sync operations of RCS and BCS; @bytes of 0x8877665544332211 at DATA. */
	static const struct {
		u32 dwords[6];
		unsigned int count, bytes;
		bool is_flush;
	} rows[] = {
		{ { PIPE_CONTROL, POST_IMMEDIATE, ADDRESS(DATA), 0x44332211, 0x88776655 },
		  6,
		  8,
		  false },
		{ { PIPE_CONTROL - 1, POST_IMMEDIATE, ADDRESS(DATA), 0x44332211 }, 5, 8, false },
		{ { FLUSH_DW(4) | POST_IMMEDIATE, ADDRESS(DATA), 0x44332211 }, 4, 4, true },
		{ { FLUSH_DW(5) | POST_IMMEDIATE, ADDRESS(DATA), 0x44332211, 0x88776655 },
		  5,
		  8,
		  true },
	};
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rig->job.engine = rows[i].is_flush ? GHYVI_BCS : GHYVI_RCS;
		*(u64 *)rig->data = *(u64 *)(rig->data + 8) = FULL;
		ring_emit(rig, rows[i].dwords, rows[i].count);
		assert_completes(rig);
		assert_int_equal(data32(rig, 0), 0x44332211);
		assert_int_equal(data32(rig, 4), rows[i].bytes == 4 ? 0xffffffff :
						 rows[i].count == 5 && !rows[i].is_flush ?
								      0 :
								      0x88776655);
		assert_true(data64(rig, 8) == FULL);
	}
}

/* A post of PIPE_CONTROL is a qword: bit 2 of its address does not count. */
static void pipe_control_posts_to_aligned_qwords(void **state)
{
	struct rig *rig = *state;

	memset(rig->data, 0xff, 24);
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE, ADDRESS(DATA + 12), 1, 2);
	assert_completes(rig);
	assert_true(data64(rig, 0) == FULL);
	assert_true(data64(rig, 8) == 0x200000001ULL);
	assert_true(data64(rig, 16) == FULL);
}

static void a_depth_count_is_zero(void **state)
{
	struct rig *rig = *state;

	*(u64 *)rig->data = FULL;
	ring(rig, PIPE_CONTROL, POST_DEPTH_COUNT, ADDRESS(DATA), 1, 2);
	assert_completes(rig);
	assert_true(data64(rig, 0) == 0);
	rig->job.engine = GHYVI_BCS;
	ring(rig, FLUSH_DW(4) | POST_DEPTH_COUNT | NOTIFY, ADDRESS(DATA), 1);
	assert_error(rig, "reserved");
	assert_int_equal(atomic_read(&rig->notifies), 0);
}

static void timestamps_are_posted_whole(void **state)
{
	struct rig *rig = *state;
	u64 before, after;

	memset(rig->data, 0xff, 32);
	ring(rig, PIPE_CONTROL, POST_TIMESTAMP, ADDRESS(DATA), 1, 2);
	before = softgpu_ticks(9, ktime_get_ns());
	assert_completes(rig);
	after = softgpu_ticks(9, ktime_get_ns());
	assert_in_range(data64(rig, 0), before & GENMASK_ULL(35, 0), after & GENMASK_ULL(35, 0));
	rig->job.engine = GHYVI_BCS;
	ring(rig, FLUSH_DW(4) | POST_TIMESTAMP, ADDRESS(DATA + 16), 1);
	assert_completes(rig);
	assert_true(data64(rig, 16) >= data64(rig, 0) &&
		    data64(rig, 16) - data64(rig, 0) < 60ULL * SECOND_HZ);
	assert_true(data64(rig, 24) == FULL);
}

/* Into the engine's page or the context's, by dwords or qwords, and never beyond it. */
static void indices_stay_in_their_page(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	rig->registers[(RCS + 0x80) / 4] = HWSP_GGTT + 0x123; /* the low bits do not count */
	rig->registers[(BCS + 0x80) / 4] = HWSP_GGTT;
	rig->job.lrca = CONTEXT_GGTT + 0x321;
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE | STORE_INDEX, 0xfc, 0, 1,
	     2); /* qwords are aligned */
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE | STORE_INDEX | 1 << 24, 0xf108, 0, 3, 4);
	ring(rig, MI(0x21, 1), 0xffc, 5, MI(0x21, 2), 0x1014, 6, 7);
	ring(rig, MI(0x21, 1) | 1 << 21, 0xf204, 8, MI(0x21, 2) | 1 << 21, 0x30c, 9, 10);
	assert_completes(rig);
	assert_true(*(u64 *)(rig->pphwsp + 0xf8) == 0x200000001ULL);
	assert_true(*(u64 *)(rig->hwsp + 0x108) == 0x400000003ULL);
	assert_int_equal(*(u32 *)(rig->hwsp + 0xffc), 5);
	assert_true(*(u64 *)(rig->hwsp + 0x10) == 0x700000006ULL);
	assert_true(*(u64 *)(rig->pphwsp + 0x200) == 0x800000000ULL);
	assert_true(*(u64 *)(rig->pphwsp + 0x308) == 0xa00000009ULL);
	for (i = 0; i < 4096; i++)
		assert_int_equal(rig->pphwsp[4096 + i], 0);
	rig->job.engine = GHYVI_BCS;
	ring(rig, FLUSH_DW(4) | POST_IMMEDIATE | STORE_INDEX, 0x503, 0, 11);
	ring(rig, FLUSH_DW(4) | POST_IMMEDIATE | STORE_INDEX, 0x608 | 4, 0, 12);
	ring(rig, FLUSH_DW(5) | POST_IMMEDIATE | STORE_INDEX, 0x710 | 4, 0, 13, 14);
	assert_completes(rig);
	assert_int_equal(*(u32 *)(rig->pphwsp + 0x500),
			 11); /* FLUSH_DW's addresses are of qwords */
	assert_int_equal(*(u32 *)(rig->hwsp + 0x608), 12);
	assert_true(*(u64 *)(rig->hwsp + 0x710) == 0xe0000000dULL);
}

/* Two dwords are a flush without a post, or one of zero to the low 4 GiB. */
static void a_short_flush_flushes(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	memset(rig->ggtt_data, 0xff, 16);
	ring(rig, FLUSH_DW(2) | NOTIFY, 0);
	assert_completes(rig);
	assert_int_equal(atomic_read(&rig->notifies), 1);
	ring(rig, FLUSH_DW(3) | NOTIFY, 0, 0);
	ring(rig, FLUSH_DW(2) | POST_IMMEDIATE, DATA_GGTT | 4);
	assert_completes(rig);
	assert_int_equal(atomic_read(&rig->notifies), 2);
	assert_int_equal(*(u32 *)rig->ggtt_data, 0);
	assert_int_equal(*(u32 *)(rig->ggtt_data + 4), 0xffffffff);
	ring(rig, FLUSH_DW(6), 0, 0, 0, 0, 0);
	assert_error(rig, "dwords");
}

static void only_a_kernels_flush_notifies(void **state)
{
	struct rig *rig = *state;

	ring(rig, PIPE_CONTROL, NOTIFY, 0, 0, 0, 0, PIPE_CONTROL, 0, 0, 0, 0, 0);
	assert_completes(rig);
	assert_int_equal(atomic_read(&rig->notifies), 1);
	batch(rig->batch, PIPE_CONTROL, NOTIFY, 0, 0, 0, 0, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->notifies), 1);
	rig_reset(rig);
	ring(rig, PIPE_CONTROL, POST_IMMEDIATE | NOTIFY, ADDRESS(HOLE), 1, 1);
	assert_error(rig, "not present");
	assert_int_equal(atomic_read(&rig->notifies), 1);
	ring(rig, PIPE_CONTROL + 1, NOTIFY, 0, 0, 0, 0, 0);
	assert_error(rig, "dwords");
	ring(rig, PIPE_CONTROL, 1 << 23 | NOTIFY, 0x2080, 0, 0, 0);
	assert_error(rig, "writes register 0x2080");
	assert_int_equal(atomic_read(&rig->notifies), 1);
}

/* Memory and registers. */

static void conditional_ends_compare_with_data_or_zero(void **state)
{
	static const struct {
		u32 header, data, memory;
		bool goes_on;
	} rows[] = {
		{ MI(0x36, 2) | 1 << 21, 5, 6, true },	{ MI(0x36, 2) | 1 << 21, 5, 5, false },
		{ MI(0x36, 2) | 1 << 21, 5, 4, false }, { MI(0x36, 2), 5, 1, true },
		{ MI(0x36, 2), 5, 0, false },
	};
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rig_reset(rig);
		*(u32 *)rig->data = rows[i].memory;
		*(u32 *)(rig->data + 4) = 0;
		batch(rig->batch, rows[i].header, rows[i].data, ADDRESS(DATA), MI_STORE,
		      ADDRESS(DATA + 4), 1, MI_BATCH_END);
		assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(data32(rig, 4), rows[i].goes_on);
	}
	rig_reset(rig);
	batch(rig->batch, MI(0x36, 2), 0, ADDRESS(HOLE), MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_ERROR);
}

#define COMPARE_MASKED (MI(0x36, 2) | 1 << 21 | 1 << 19)

/* Returns whether the batch goes on. */
static bool passes_masked(struct rig *rig, u64 address, u32 mask, u32 value, u32 data)
{
	*(u32 *)rig->data = mask;
	*(u32 *)(rig->data + 4) = value;
	*(u32 *)(rig->data + 8) = 0;
	batch(rig->batch, COMPARE_MASKED, data, ADDRESS(address), MI_STORE, ADDRESS(DATA + 8), 1,
	      MI_BATCH_END);
	rig_reset(rig);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	return data32(rig, 8);
}

static void conditional_ends_mask_the_value_on_gen9(void **state)
{
	struct rig *rig = *state;

	assert_true(passes_masked(rig, DATA, 0xf0, 0x1ff, 0xef));
	assert_false(passes_masked(rig, DATA, 0xf0, 0x1ff, 0xf0));
	assert_false(passes_masked(rig, DATA, 0, 0xffffffff, 0));
	/* The qword is aligned. */
	assert_true(passes_masked(rig, DATA + 4, 0xf0, 0x1ff, 0xef));
	assert_false(passes_masked(rig, DATA + 4, 0xf0, 0x1ff, 0xf0));
}

static void conditional_ends_have_no_mask_on_gen8(void **state)
{
	struct rig *rig = *state;

	assert_false(passes_masked(rig, DATA, 0xf0, 0x1ff, 0xf0));
	assert_true(passes_masked(rig, DATA + 4, 0xf0, 0x1ff, 0xf0));
}

static void operands_of_stores_and_loads(void **state)
{
	struct rig *rig = *state;

	*(u32 *)(rig->ggtt_data + 12) = 0x600d;
	rig->registers[0xb118 / 4] = 0xabcdef;
	/* The low bits and those above 47 of an address do not count. */
	ring(rig, MI_STORE, LOW(DATA) | 3, HIGH(DATA) | 0xffff0000, 0x11);
	ring(rig, MI_LRM | MI_GGTT, GPR(3), ADDRESS(DATA_GGTT + 12), MI_SRM, GPR(3),
	     ADDRESS(DATA + 4));
	ring(rig, MI(0x2e, 3) | 1 << 22, ADDRESS(DATA + 8), ADDRESS(DATA_GGTT + 12));
	ring(rig, MI(0x2e, 3) | 1 << 21, ADDRESS(DATA_GGTT + 16), ADDRESS(DATA));
	ring(rig, MI_SRM, 0xb118, ADDRESS(DATA + 12), MI_SRM | MI_GGTT, 0xb118,
	     ADDRESS(DATA_GGTT + 20));
	ring(rig, MI_LRR, 0xb118, GPR(7) + 4, MI_SRM, GPR(7) + 4, ADDRESS(DATA + 16));
	assert_completes(rig);
	assert_int_equal(data32(rig, 0), 0x11);
	assert_int_equal(data32(rig, 4), 0x600d);
	assert_int_equal(data32(rig, 8), 0x600d);
	assert_int_equal(*(u32 *)(rig->ggtt_data + 16), 0x11);
	assert_int_equal(data32(rig, 12), 0xabcdef);
	assert_int_equal(*(u32 *)(rig->ggtt_data + 20), 0xabcdef);
	assert_int_equal(data32(rig, 16), 0xabcdef);
	assert_int_equal(data32(rig, 20), 0);
}

static void packets_with_half_an_element_are_errors(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI(0x20, 2) | 1 << 21, ADDRESS(DATA), 1);
	assert_error(rig, "in qwords");
	ring(rig, MI(0x20, 4) | 1 << 21, ADDRESS(DATA), 1, 2, 3);
	assert_error(rig, "3 dwords in qwords");
	ring(rig, MI(0x22, 2), GPR(0), 1, GPR(1));
	assert_error(rig, "without a last value");
	assert_true(data64(rig, 0) == 0);
}

/* Elements before the failing one take effect, those after it do not. */
static void an_error_ends_a_packet_in_the_middle(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_LRI(3), 0xb118, 7, 0x200000, 8, 0x7014, 0x00010001);
	assert_error(rig, "beyond the register file");
	assert_int_equal(rig->registers[0xb118 / 4], 7);
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7014), 0);
	ring(rig, MI(0x20, 3), ADDRESS(DATA + DATA_PAGES * 4096 - 4), 1, 2);
	assert_error(rig, "not present");
	assert_int_equal(data32(rig, DATA_PAGES * 4096 - 4), 1);
	/* A load that fails writes nothing, nor does a store whose source cannot be read. */
	ring(rig, MI_LRM, 0xb118, ADDRESS(HOLE));
	assert_error(rig, "not present");
	ring(rig, MI_LRR, 0x200000, 0xb118);
	assert_error(rig, "beyond the register file");
	ring(rig, MI(0x2e, 3), ADDRESS(DATA), ADDRESS(HOLE));
	assert_error(rig, "not present");
	assert_int_equal(rig->registers[0xb118 / 4], 7);
	assert_int_equal(data32(rig, 0), 0);
}

static void bytes_are_disabled_one_by_one(void **state)
{
	struct rig *rig = *state;
	unsigned int disables, i;

	for (disables = 0; disables < 16; disables++) {
		u32 expected = 0;

		rig->registers[0xb118 / 4] = 0x11223344;
		ring(rig, MI_LRI(1) | disables << 8, 0xb118, 0xaabbccdd);
		assert_completes(rig);
		for (i = 0; i < 4; i++)
			expected |= (disables >> i & 1 ? 0x11223344 : 0xaabbccdd) & 0xffu << 8 * i;
		assert_int_equal(rig->registers[0xb118 / 4], expected);
	}
	/* Not of registers that have a mask. */
	ring(rig, MI_LRI(1) | 1 << 8, 0x7014, 0x00010001);
	assert_error(rig, "in bytes");
	assert_int_equal(*rig_register(rig, GHYVI_RCS, 0x7014), 0);
}

static void each_slot_of_the_list_gives_users_a_register(void **state)
{
	struct rig *rig = *state;
	unsigned int slot;

	for (slot = 0; slot < 12; slot++) {
		rig->registers[0xb118 / 4] = 0;
		rig->registers[0x24d0 / 4 + slot] = 0xb118 | 1u << 30 |
						    3; /* other bits do not count */
		rig_reset(rig);
		batch(rig->batch, MI_LRI(1), 0xb118, slot + 1, MI_BATCH_END);
		assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(rig->registers[0xb118 / 4], slot + 1);
		rig->registers[0x24d0 / 4 + slot] = 0;
	}
	rig->registers[0x24d0 / 4 + 12] = rig->registers[0x24d0 / 4 - 1] = 0xb118;
	rig_reset(rig);
	batch(rig->batch, MI_LRI(1), 0xb118, 99, MI_BATCH_END);
	assert_int_equal(rig_run_batch(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->registers[0xb118 / 4], 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(atomics_equal_the_reference),
		RIG_TEST(atomics_that_do_not_exist_are_errors),
		RIG_TEST(stores_are_visible_to_later_commands),
		RIG_TEST(math_equals_the_reference),
		RIG_TEST(math_on_unknown_operands_is_an_error),
		RIG_TEST(post_sync_writes_the_given_size),
		RIG_TEST(pipe_control_posts_to_aligned_qwords),
		RIG_TEST(a_depth_count_is_zero),
		RIG_TEST(timestamps_are_posted_whole),
		RIG_TEST(indices_stay_in_their_page),
		RIG_TEST(a_short_flush_flushes),
		RIG_TEST(only_a_kernels_flush_notifies),
		RIG_TEST(conditional_ends_compare_with_data_or_zero),
		RIG_TEST(conditional_ends_mask_the_value_on_gen9),
		cmocka_unit_test_setup_teardown(conditional_ends_have_no_mask_on_gen8,
						rig_setup_gen8, rig_teardown),
		RIG_TEST(operands_of_stores_and_loads),
		RIG_TEST(packets_with_half_an_element_are_errors),
		RIG_TEST(an_error_ends_a_packet_in_the_middle),
		RIG_TEST(bytes_are_disabled_one_by_one),
		RIG_TEST(each_slot_of_the_list_gives_users_a_register),
	};

	return cmocka_run_group_tests_name("softgpu operands", tests, NULL, NULL);
}
