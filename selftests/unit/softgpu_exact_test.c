// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operands of commands bit by bit: atomics and arithmetic against a reference, post-sync writes,
 * validation of contexts, and the registers that engines publish.
 */
#include "softgpu_fixture.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define ATOMIC(op) ((u32)(op) << 8)
#define ATOMIC_INLINE (MI(0x2f, 9) | 1 << 18)
#define ATOMIC_SHORT MI(0x2f, 1)
#define ATOMIC_64 (1 << 19 | 2 << 12)
#define ATOMIC_RETURN (1 << 16)
#define FLUSH_DW(dwords) MI(0x26, (dwords)-2)
#define POST_IMMEDIATE (1 << 14)
#define POST_DEPTH_COUNT (2 << 14)
#define POST_TIMESTAMP (3 << 14)
#define STORE_INDEX (1 << 21)
#define TLB_INVALIDATE (1 << 18)
#define NOTIFY (1 << 8)
#define SECOND_HZ 12000000

/* Registers of an engine, from its base. */
#define RCS 0x2000
#define BCS 0x22000

static u64 gpr(struct rig *rig, unsigned int n)
{
	return (u64)rig->context[GHYVI_CTX_GPR + 4 * n + 2] << 32 |
	       rig->context[GHYVI_CTX_GPR + 4 * n];
}

static void load_gpr(struct rig *rig, unsigned int n, u64 value)
{
	ring(rig, MI_LRI(2), GPR(n), LOW(value), GPR(n) + 4, HIGH(value));
}

static void assert_error(struct rig *rig, const char *reason)
{
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	if (!strstr(rig_reason(rig), reason))
		fail_msg("%s, not %s", rig_reason(rig), reason);
	rig_reset(rig);
}

static void assert_completes(struct rig *rig)
{
	if (rig_run(rig) != GHYVI_JOB_COMPLETE)
		fail_msg("%s", rig_reason(rig));
	rig_reset(rig);
}

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
	assert_error(rig, "inline data");
	assert_true(data64(rig, 0) == 0);
	ring(rig, ATOMIC_SHORT | ATOMIC(5), LOW(DATA + 4) | 3,
	     HIGH(DATA)); /* the low bits of an address do not count */
	assert_completes(rig);
	assert_int_equal(data32(rig, 4), 1);
	assert_int_equal(data32(rig, 0), 0);
}

/* A command that comes next in memory is what was stored, also when it was fetched before. */
static void stores_are_seen_by_the_commands_behind_them(void **state)
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
				/* Addition sets the carry before; it must not stay. */
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

static void math_on_what_does_not_exist_is_an_error(void **state)
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
	/* All that a post can be on RCS and BCS; @bytes of 0x8877665544332211 at DATA. */
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

/* What is before the failing element has been done, what is behind it not. */
static void an_error_ends_a_packet_in_the_middle(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_LRI(3), 0xb118, 7, 0x200000, 8, 0x7014, 0x00010001);
	assert_error(rig, "beyond the register file");
	assert_int_equal(rig->registers[0xb118 / 4], 7);
	assert_int_equal(rig->registers[0x7014 / 4], 0);
	ring(rig, MI(0x20, 3), ADDRESS(DATA + DATA_PAGES * 4096 - 4), 1, 2);
	assert_error(rig, "not present");
	assert_int_equal(data32(rig, DATA_PAGES * 4096 - 4), 1);
	/* A load that fails writes nothing, a store of what cannot be read neither. */
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
	assert_int_equal(rig->registers[0x7014 / 4], 0);
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

/* What engines show while and after they run. */

static u32 shown(struct rig *rig, u32 offset)
{
	return READ_ONCE(rig->registers[offset / 4]);
}

static void wait_until_shown(struct rig *rig, u32 offset, u32 value)
{
	while (shown(rig, offset) != value) /* never: shows as a time-out of the test program */
		usleep_range(50, 100);
}

static void registers_show_where_an_engine_is(void **state)
{
	struct rig *rig = *state;
	u64 semaphore = DATA + 0x40;

	ring(rig, 0, 0, MI_SEMAPHORE(4), 1, ADDRESS(DATA), 0);
	rig_start(rig);
	wait_until_shown(rig, RCS + 0x74, RING_GGTT + 8);
	wait_until_shown(rig, RCS + 0x68, MI_SEMAPHORE(4));
	assert_int_equal(shown(rig, RCS + 0x5c), 0);
	assert_int_equal(shown(rig, RCS + 0x30), 32);
	assert_int_equal(shown(rig, RCS + 0x34), 8);
	assert_int_equal(shown(rig, RCS + 0x38), RING_GGTT);
	assert_int_equal(shown(rig, RCS + 0x3c), (RING_BYTES - 4096) | 1);
	assert_int_equal(shown(rig, RCS + 0x140), 0);
	assert_int_equal(shown(rig, RCS + 0x168), 0);
	WRITE_ONCE(*(u32 *)rig->data, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(shown(rig, RCS + 0x34), 32);
	assert_int_equal(shown(rig, RCS + 0x74), RING_GGTT + 32);
	rig_reset(rig);

	WRITE_ONCE(*(u32 *)rig->data, 0);
	batch(rig->data + 0x40, MI_SEMAPHORE(4), 1, ADDRESS(DATA), MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(semaphore));
	rig_start(rig);
	wait_until_shown(rig, RCS + 0x5c, HIGH(semaphore));
	wait_until_shown(rig, RCS + 0x74, LOW(semaphore));
	assert_int_equal(shown(rig, RCS + 0x140), LOW(semaphore) | 1);
	assert_int_equal(shown(rig, RCS + 0x168), HIGH(semaphore));
	WRITE_ONCE(*(u32 *)rig->data, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
}

static u64 in_16_days(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return ((u64)time.tv_sec + 400 * 3600) * NSEC_PER_SEC + (u64)time.tv_nsec;
}

static void timestamps_wrap_at_36_bits(void **state)
{
	struct rig *rig = *state;
	u64 ticks;

	shim_clock = in_16_days; /* 0x1000000000 ticks are 95 minutes */
	ring(rig, MI_SRM, RCS + 0x358, ADDRESS(DATA), MI_SRM, RCS + 0x35c, ADDRESS(DATA + 4));
	ring(rig, PIPE_CONTROL, POST_TIMESTAMP, ADDRESS(DATA + 8), 0, 0);
	ticks = softgpu_ticks(9, ktime_get_ns());
	assert_completes(rig);
	assert_true(ticks > 1ULL << 40);
	ticks &= GENMASK_ULL(35, 0);
	assert_true(data64(rig, 0) - ticks < 60ULL * SECOND_HZ ||
		    data64(rig, 0) < 60ULL * SECOND_HZ);
	assert_int_equal(data64(rig, 0) >> 36, 0);
	assert_int_equal(data64(rig, 8) >> 36, 0);
	shim_clock = NULL;
}

static void timestamps_of_every_engine_can_be_read(void **state)
{
	static const u32 bases[] = { RCS, BCS, 0x12000, 0x1a000 };
	struct rig *rig = *state;
	u64 before, after;
	unsigned int i;

	rig->context[GHYVI_CTX_TIMESTAMP] = 5000;
	memset(rig->data, 0xff, 64);
	for (i = 0; i < 4; i++)
		ring(rig, MI_SRM, bases[i] + 0x358, ADDRESS(DATA + 16 * i), MI_SRM,
		     bases[i] + 0x35c, ADDRESS(DATA + 16 * i + 4), MI_SRM, bases[i] + 0x3a8,
		     ADDRESS(DATA + 16 * i + 8));
	before = softgpu_ticks(9, ktime_get_ns()) & GENMASK_ULL(35, 0);
	assert_completes(rig);
	after = softgpu_ticks(9, ktime_get_ns()) & GENMASK_ULL(35, 0);
	for (i = 0; i < 4; i++) {
		assert_in_range(data64(rig, 16 * i), before, after);
		if (i)
			assert_int_equal(data32(rig, 16 * i + 8), 0);
		else
			assert_in_range(data32(rig, 8), 5000, 5000 + (after - before));
	}
}

/* What can be loaded. */

static void a_context_must_name_a_ring_of_whole_pages(void **state)
{
	static const struct {
		u32 start, control, head, tail;
		bool good;
	} rows[] = {
		{ RING_GGTT, 1, 4096 - 8, 0, true },
		{ RING_GGTT, 1, 4096, 0, false },
		{ RING_GGTT, 1, 0, 4096, false },
		{ RING_GGTT, 1, 4096 - 4, 4096 - 8, true },
		{ RING_GGTT, 0x1001, 4096, 8192 - 8, true },
		{ RING_GGTT, 0x1001, 8192, 0, false },
		{ RING_GGTT, 0x1001, 0, 8192, false },
		{ RING_GGTT, 0x1000, 0, 0, false },
		{ RING_GGTT + 4, 1, 0, 0, false },
		{ RING_GGTT + 2048, 1, 0, 0, false },
		{ RING_GGTT, 0xff000fff, 3, 7, true },
	};
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		enum ghyvi_job_status status;

		rig->context[GHYVI_CTX_RING_START] = rows[i].start;
		rig->context[GHYVI_CTX_RING_CTL] = rows[i].control;
		rig->context[GHYVI_CTX_RING_HEAD] = rows[i].head;
		rig->context[GHYVI_CTX_RING_TAIL] = rows[i].tail;
		rig->job.budget_ns = NSEC_PER_SEC;
		assert_int_equal(softgpu_ops.run(rig->gpu, &rig->job), 0);
		status = rig_wait(rig);
		if (status != (rows[i].good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR))
			fail_msg("row %u: %d, %s", i, status, rig_reason(rig));
	}
}

static void tables_have_three_or_four_levels(void **state)
{
	struct rig *rig = *state;
	unsigned int levels;

	for (levels = 0; levels < 6; levels++) {
		rig->job.levels = levels;
		assert_int_equal(rig_run(rig),
				 levels == 3 || levels == 4 ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
	}
}

/* Gen9 loads what the context has; Gen8, or a context that is not restored, begins with zeroes. */
static void registers_are_saved_and_loaded_at_the_same_place(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < 16; i++)
		load_gpr(rig, i, 0x100000001ULL * (i + 1));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(gpr(rig, i) == 0x100000001ULL * (i + 1));
	for (i = 0; i < 16; i++)
		ring(rig, MI_SRM, GPR(i), ADDRESS(DATA + 8 * i), MI_SRM, GPR(i) + 4,
		     ADDRESS(DATA + 8 * i + 4));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(data64(rig, 8 * i) == 0x100000001ULL * (i + 1));
	rig->job.restore = false;
	for (i = 0; i < 16; i++)
		ring(rig, MI_SRM, GPR(i), ADDRESS(DATA + 8 * i), MI_SRM, GPR(i) + 4,
		     ADDRESS(DATA + 8 * i + 4));
	assert_completes(rig);
	for (i = 0; i < 16; i++)
		assert_true(data64(rig, 8 * i) == 0);
}

static void gen8_loads_no_registers(void **state)
{
	struct rig *rig = *state;

	rig->context[GHYVI_CTX_GPR] = 7;
	*(u32 *)rig->data = 5;
	ring(rig, MI_SRM, GPR(0), ADDRESS(DATA));
	assert_completes(rig);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(rig->context[GHYVI_CTX_GPR], 7);
}

/* It comes before the ring, is as long as its lines, and is RCS's only. */
static void an_indirect_context_is_as_long_as_its_lines(void **state)
{
	struct rig *rig = *state;
	unsigned int lines;

	for (lines = 0; lines < 4; lines++) {
		unsigned int i;

		memset(rig->data, 0, 64);
		memset(rig->indirect, 0, 4096);
		for (i = 0; i < 3; i++) {
			/* The last thing of each line. */
			u32 *p = (u32 *)(rig->indirect + 64 * i + 48);

			batch(p, MI_STORE, ADDRESS(DATA + 4 * i), i + 1);
		}
		rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | lines;
		rig->job.engine = GHYVI_RCS;
		assert_completes(rig);
		for (i = 0; i < 3; i++)
			assert_int_equal(data32(rig, 4 * i), i < lines ? i + 1 : 0);
		memset(rig->data, 0, 64);
		rig->job.engine = GHYVI_BCS;
		assert_completes(rig);
		assert_int_equal(data32(rig, 0), 0);
	}
	rig->job.engine = GHYVI_RCS;
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	batch(rig->indirect, MI_BATCH_END);
	assert_error(rig, "indirect context batch");
	batch(rig->indirect, MI_BATCH_START, ADDRESS(BATCH));
	assert_error(rig, "indirect context batch");
	batch(rig->indirect + 56, MI_STORE, LOW(DATA));
	memset(rig->indirect, 0, 56);
	assert_error(rig, "do not fit");
}

static void a_blit_needs_all_its_dwords(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	ring(rig, 0x54000004, 3 << 24 | 0xf0 << 16 | 64, 0, 0x00010001, ADDRESS(DATA));
	assert_error(rig, "of 6 dwords");
	ring(rig, 0x54000006, 3 << 24 | 0xf0 << 16 | 64, 0, 0x00010001, ADDRESS(DATA), 1, 1);
	assert_error(rig, "of 8 dwords");
	ring(rig, 0x54c00007, 3 << 24 | 0xcc << 16 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     LOW(DATA));
	assert_error(rig, "of 9 dwords");
	ring(rig, 0x50800007, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, LOW(DATA));
	assert_error(rig, "of 9 dwords");
	ring(rig, 0x50800008, 2 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, ADDRESS(DATA));
	assert_error(rig, "unknown depth or tiling");
	ring(rig, 0x50800008 | 3 << 13, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     ADDRESS(DATA));
	assert_error(rig, "unknown depth or tiling");
	ring(rig, 0x50800008 | 3 << 20, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64,
	     ADDRESS(DATA));
	assert_error(rig, "unknown depth or tiling");
	ring(rig, 0x50c00008, 3 << 24 | 64, 0, 0x00010001, ADDRESS(DATA), 0, 64, ADDRESS(DATA));
	assert_error(rig, "is unknown");
}

static void pitches_of_tiles_are_positive_multiples(void **state)
{
	/* In dwords, as a tiled surface has it; then whether it fits X and Y tiles. */
	static const struct {
		u32 pitch;
		bool x, y;
	} rows[] = {
		{ 0, false, false },	  { 128, true, true },	 { 32, false, true },
		{ 127, false, false },	  { 129, false, false }, { 31, false, false },
		{ 0xff80, false, false }, { 256, true, true },	 { 64, false, true },
	};
	struct rig *rig = *state;
	unsigned int i, tiling;

	rig->job.engine = GHYVI_BCS;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (tiling = 1; tiling < 3; tiling++) {
			bool good = tiling == 1 ? rows[i].x : rows[i].y;

			ring(rig, 0x50800008 | tiling << 13, 3 << 24 | rows[i].pitch, 0, 0x00010001,
			     ADDRESS(DATA), 0, 64, ADDRESS(DATA));
			assert_int_equal(rig_run(rig), good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
			rig_reset(rig);
			ring(rig, 0x50800008 | tiling << 20, 3 << 24 | 64, 0, 0x00010001,
			     ADDRESS(DATA), 0, rows[i].pitch, ADDRESS(DATA));
			assert_int_equal(rig_run(rig), good ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
			rig_reset(rig);
		}
}

/* It waits for nothing: the engine has another job, or none, or has not begun. */
static void a_cancel_of_what_is_not_on_the_engine_returns(void **state)
{
	struct rig *rig = *state;
	struct softgpu_job backend = {};
	struct ghyvi_job stranger = {
		.client = rig->client,
		.engine = GHYVI_RCS,
		.context = rig->context,
		.backend = &backend,
	};

	softgpu_ops.cancel(rig->gpu, &rig->job);
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_completes(rig);
	softgpu_ops.cancel(rig->gpu, &rig->job);
	softgpu_ops.preempt(rig->gpu, &rig->job);
	assert_int_equal(softgpu_ops.update_tail(rig->gpu, &rig->job, 8), -ESTALE);
	ring(rig, MI_SEMAPHORE(4), 7, ADDRESS(DATA));
	rig_start(rig);
	softgpu_ops.cancel(rig->gpu, &stranger);
	softgpu_ops.preempt(rig->gpu, &stranger);
	assert_int_equal(softgpu_ops.update_tail(rig->gpu, &stranger, 8), -ESTALE);
	assert_false(backend.stop || backend.preempt);
	WRITE_ONCE(*(u32 *)rig->data, 7);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
}

/* Slices: an engine lets others at its translations between them. */

static void a_batch_of_many_commands_lets_others_in(void **state)
{
	struct rig *rig = *state;
	struct softgpu_engine *engine = &rig->gpu->engines[GHYVI_RCS];
	unsigned int i;
	u64 slice;

	slice = engine->slice;
	for (i = 0; i < 10 * SOFTGPU_SLICE_COMMANDS; i++)
		ring(rig, 0);
	assert_completes(rig);
	assert_in_range(engine->slice - slice, 10, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(atomics_equal_the_reference),
		RIG_TEST(atomics_that_do_not_exist_are_errors),
		RIG_TEST(stores_are_seen_by_the_commands_behind_them),
		RIG_TEST(math_equals_the_reference),
		RIG_TEST(math_on_what_does_not_exist_is_an_error),
		RIG_TEST(post_sync_writes_the_given_size),
		RIG_TEST(a_depth_count_is_zero),
		RIG_TEST(timestamps_are_posted_whole),
		RIG_TEST(indices_stay_in_their_page),
		RIG_TEST(only_a_kernels_flush_notifies),
		RIG_TEST(conditional_ends_compare_with_data_or_zero),
		RIG_TEST(operands_of_stores_and_loads),
		RIG_TEST(packets_with_half_an_element_are_errors),
		RIG_TEST(an_error_ends_a_packet_in_the_middle),
		RIG_TEST(bytes_are_disabled_one_by_one),
		RIG_TEST(each_slot_of_the_list_gives_users_a_register),
		RIG_TEST(registers_show_where_an_engine_is),
		RIG_TEST(timestamps_wrap_at_36_bits),
		RIG_TEST(timestamps_of_every_engine_can_be_read),
		RIG_TEST(a_context_must_name_a_ring_of_whole_pages),
		RIG_TEST(tables_have_three_or_four_levels),
		RIG_TEST(registers_are_saved_and_loaded_at_the_same_place),
		cmocka_unit_test_setup_teardown(gen8_loads_no_registers, rig_setup_gen8,
						rig_teardown),
		RIG_TEST(an_indirect_context_is_as_long_as_its_lines),
		RIG_TEST(a_blit_needs_all_its_dwords),
		RIG_TEST(pitches_of_tiles_are_positive_multiples),
		RIG_TEST(a_cancel_of_what_is_not_on_the_engine_returns),
		RIG_TEST(a_batch_of_many_commands_lets_others_in),
	};

	return cmocka_run_group_tests_name("softgpu operands", tests, NULL, NULL);
}
