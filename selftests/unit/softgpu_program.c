// SPDX-License-Identifier: GPL-2.0-only
#include "softgpu_program.h"
#include "random.h"

#define STEPS 2000

static struct random numbers;
static unsigned int generation;

static unsigned int rnd(unsigned int n)
{
	return random_range(&numbers, 0, n - 1);
}

static const u64 areas[] = { BATCH, BATCH2, BATCH3 };

/* Generation. */

static u32 any_value(void)
{
	static const u32 values[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

	return rnd(3) ? values[rnd(ARRAY_SIZE(values))] : rnd(1 << 16) << 16 | rnd(1 << 16);
}

static u32 any_register(void)
{
	return rnd(2) ? 0x2600 + 4 * rnd(32) : 0x2400 + 4 * rnd(8);
}

static u64 any_memory(unsigned int alignment)
{
	return DATA + rnd(8 * PROGRAM_WORDS / alignment) * alignment;
}

static u32 any_alu_word(void)
{
	static const u32 computing[] = { 0x100, 0x101, 0x102, 0x103, 0x104 };
	static const u32 readable[] = { 0x31, 0x32, 0x33 };
	u32 target = 0x20 + rnd(2), source = rnd(4) ? rnd(16) : readable[rnd(3)];

	switch (rnd(6)) {
	case 0:
		return (rnd(2) ? 0x081u : 0x481u) << 20 | target << 10;
	case 1:
	case 2:
		return (rnd(2) ? 0x080u : 0x480u) << 20 | target << 10 | source;
	case 3:
		return computing[rnd(5)] << 20;
	case 4:
		return (rnd(2) ? 0x180u : 0x580u) << 20 | rnd(16) << 10 |
		       (rnd(4) ? readable[rnd(3)] : rnd(16));
	default:
		return 0;
	}
}

static unsigned int put_address(u32 *p, u64 address)
{
	p[0] = LOW(address);
	p[1] = HIGH(address);
	return 2;
}

/* A store, and a wait for what it has stored. */
static unsigned int put_wait(u32 *p)
{
	u32 is = any_value(), data = rnd(2) ? any_value() : is;
	const u32 passing[3][3] = { { 0, 1, 5 }, { 2, 3, 5 }, { 1, 3, 4 } };
	u64 address = any_memory(4);

	p[0] = 0x20u << 23 | 2;
	put_address(p + 1, address);
	p[3] = is;
	p[4] = 0x1cu << 23 | 1 << 15 | passing[is > data ? 0 : is < data ? 1 : 2][rnd(3)] << 12 | 2;
	p[5] = data;
	return 6 + put_address(p + 6, address);
}

/* A flush that writes a dword or a qword. */
static unsigned int put_flush(u32 *p)
{
	unsigned int count = 4 + rnd(2);

	p[0] = 0x26u << 23 | rnd(2) << 18 | 1 << 14 | (count - 2);
	put_address(p + 1, any_memory(8));
	p[3] = any_value();
	p[4] = any_value();
	return count;
}

/* A flush of the render engine, with a stall and perhaps with a write of a qword. */
static unsigned int put_pipe_control(u32 *p)
{
	p[0] = 0x7a000004;
	p[1] = 1 << 20 | rnd(2) << 18 | (rnd(4) ? 1 << 14 : 0);
	put_address(p + 2, any_memory(8));
	p[4] = any_value();
	p[5] = any_value();
	return 6;
}

/* Write one command; returns its length. */
static unsigned int put_command(u32 *p)
{
	unsigned int n = 1, i, count;

	switch (rnd(16)) {
	case 0: /* registers from data */
		count = 1 + rnd(3);
		p[0] = 0x22u << 23 | (2 * count - 1);
		for (i = 0; i < count; i++, n += 2) {
			p[n] = any_register();
			p[n + 1] = any_value();
		}
		return n;
	case 1: /* store a register, perhaps under the predicate */
		p[0] = 0x24u << 23 | rnd(2) << 21 | 2;
		p[1] = any_register();
		return 2 + put_address(p + 2, any_memory(4));
	case 2: /* load one */
		p[0] = 0x29u << 23 | 2;
		p[1] = any_register();
		return 2 + put_address(p + 2, any_memory(4));
	case 3:
		p[0] = 0x2au << 23 | 1;
		p[1] = any_register();
		p[2] = any_register();
		return 3;
	case 4: /* memory from data */
		p[0] = 0x20u << 23 | 2;
		put_address(p + 1, any_memory(4));
		p[3] = any_value();
		if (rnd(2))
			return 4;
		p[0] = 0x20u << 23 | 1 << 21 | 3;
		put_address(p + 1, DATA + 8 * rnd(PROGRAM_WORDS));
		p[4] = any_value();
		return 5;
	case 5:
		p[0] = 0x2eu << 23 | 3;
		put_address(p + 1, any_memory(4));
		put_address(p + 3, any_memory(4));
		return 5;
	case 6:
	case 7:
		count = 1 + rnd(8);
		p[0] = 0x1au << 23 | (count - 1);
		for (i = 0; i < count; i++)
			p[n++] = any_alu_word();
		return n;
	case 8:
		i = rnd(2); /* 64 bits */
		p[0] = 0x2fu << 23 | i << 19 | rnd(2) << 16 | i << 13 << 0 | (1 + rnd(14)) << 8 | 1;
		put_address(p + 1, any_memory(i ? 8 : 4));
		if (rnd(2))
			return 3;
		p[0] |= 1 << 18 | 8;
		p[0] = (p[0] & ~0xffu) | 9;
		for (i = 0; i < 8; i++)
			p[3 + i] = any_value();
		return 11;
	case 9:
		p[0] = 0x0cu << 23 | (u32[]){ 0, 2, 3 }[rnd(3)] << 6 | rnd(4) << 3 | rnd(4);
		return 1;
	case 10: /* end the batch unless memory is greater */
		p[0] = 0x36u << 23 | rnd(2) << 21 | 2;
		if (generation > 8) /* compare with a mask */
			p[0] |= rnd(2) << 19;
		p[1] = any_value();
		return 2 + put_address(p + 2, any_memory(8));
	case 11: /* the following commands do nothing, or something again */
		p[0] = 0x01u << 23 | (u32[]){ 0, 0, 0, 1, 2, 3, 4, 15 }[rnd(8)];
		return 1;
	case 12:
		return put_wait(p);
	case 13:
		return put_flush(p);
	case 14:
		return put_pipe_control(p);
	default: /* a jump or a call, forward in code so that programs end; perhaps predicated */
		return 0;
	}
}

/* Batch 0 jumps to 1 and calls 2; batch 1 calls 2. Nothing goes back. */
static unsigned int put_start(u32 *p, unsigned int area)
{
	bool call = area == 1 || rnd(2);

	if (area == 2)
		return 0;
	p[0] = 0x31u << 23 | 1 << 8 | (call ? 1 << 22 : 0) | rnd(2) << 15 | 1;
	return 1 + put_address(p + 1, areas[call ? 2 : 1]);
}

void program_make(struct machine *m, unsigned int gen, u64 seed)
{
	unsigned int area, at, n, i;

	generation = gen;
	random_seed(&numbers, seed);
	memset(m, 0, sizeof(*m));
	for (area = 0; area < 3; area++) {
		for (at = 0; at < PROGRAM_DWORDS - 20; at += n) {
			n = put_command(&m->code[area][at]);
			if (!n)
				n = put_start(&m->code[area][at], area);
		}
		m->code[area][at] = 0x05000000;
	}
	for (i = 0; i < 2 * PROGRAM_WORDS; i++)
		m->memory[i] = any_value();
}

void program_make_ring(struct machine *m)
{
	unsigned int at, count, i;

	for (at = 0; at + 4 <= PROGRAM_RING_DWORDS; at += count) {
		u32 *p = m->ring + at;

		count = 3 + rnd(2);
		p[0] = 0x21u << 23 | rnd(2) << 21 | (count - 2);
		p[1] = PROGRAM_STATUS_OFFSET;
		p[1] += count == 3 ? 4 * rnd(PROGRAM_STATUS_DWORDS) :
				     8 * rnd(PROGRAM_STATUS_DWORDS / 2);
		p[2] = any_value();
		if (count == 4)
			p[3] = any_value();
	}
	m->ring_dwords = at;
	for (i = 0; i < PROGRAM_STATUS_DWORDS; i++) {
		m->status[0][i] = any_value();
		m->status[1][i] = any_value();
	}
}

/* The second interpreter. */

static u32 *reg(struct machine *m, u32 offset)
{
	if (offset >= 0x2600)
		return (u32 *)m->gpr + (offset - 0x2600) / 4;
	return &m->predicate[(offset - 0x2400) / 4];
}

static u32 *word(struct machine *m, const u32 *address)
{
	return &m->memory[(address[0] - LOW(DATA)) / 4];
}

static u64 predicate64(const struct machine *m, unsigned int index)
{
	return (u64)m->predicate[index + 1] << 32 | m->predicate[index];
}

static void run_predicate(struct machine *m, u32 command)
{
	u64 delta = predicate64(m, 0) - predicate64(m, 2);
	bool compare = false, old = m->predicate[6] & 1;

	switch (command & 3) {
	case 0:
		compare = true;
		break;
	case 2:
		compare = predicate64(m, 0) == predicate64(m, 2);
		m->predicate[4] = (u32)delta;
		m->predicate[5] = delta >> 32;
		break;
	case 3:
		compare = delta == predicate64(m, 4);
		break;
	}
	switch (command >> 3 & 3) {
	case 1:
		compare = compare && old;
		break;
	case 2:
		compare = compare || old;
		break;
	case 3:
		compare = compare != old;
		break;
	}
	if ((command >> 6 & 3) == 3)
		compare = !compare;
	if (command >> 6 & 3)
		m->predicate[6] = m->predicate[7] = compare;
}

static void run_math(struct machine *m, const u32 *words, unsigned int count)
{
	u64 source[2] = { 0, 0 }, result = 0, value;
	bool zero = false, carry = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		u32 operation = words[i] >> 20, to = words[i] >> 10 & 0x3ff,
		    from = words[i] & 0x3ff;

		value = from < 16    ? m->gpr[from] :
			from == 0x31 ? result :
			from == 0x32 ? (zero ? ~0ull : 0) :
				       (carry ? ~0ull : 0);
		if (operation & 0x400)
			value = ~value;
		switch (operation & 0x3ff) {
		case 0x080:
			source[to - 0x20] = value;
			continue;
		case 0x081:
			source[to - 0x20] = operation & 0x400 ? ~0ull : 0;
			continue;
		case 0x180:
			m->gpr[to] = value;
			continue;
		case 0x100:
			result = source[0] + source[1];
			carry = (unsigned __int128)source[0] + source[1] > ~0ull;
			break;
		case 0x101:
			result = source[0] - source[1];
			carry = source[1] > source[0];
			break;
		case 0x102:
			result = source[0] & source[1];
			carry = false;
			break;
		case 0x103:
			result = source[0] | source[1];
			carry = false;
			break;
		case 0x104:
			result = source[0] ^ source[1];
			carry = false;
			break;
		default:
			continue;
		}
		zero = result == 0;
	}
}

static u64 atomic_result(unsigned int operation, u64 old, u64 a, u64 b, bool wide)
{
	s64 so = wide ? (s64)old : (s32)old, sa = wide ? (s64)a : (s32)a;

	switch (operation) {
	case 1:
		return old & a;
	case 2:
		return old | a;
	case 3:
		return old ^ a;
	case 4:
		return a;
	case 5:
		return old + 1;
	case 6:
		return old - 1;
	case 7:
		return old + a;
	case 8:
		return old - a;
	case 9:
		return a - old;
	case 10:
		return so >= sa ? old : a;
	case 11:
		return so <= sa ? old : a;
	case 12:
		return old >= a ? old : a;
	case 13:
		return old <= a ? old : a;
	default:
		return old == a ? b : old;
	}
}

static void run_atomic(struct machine *m, const u32 *p)
{
	bool wide = p[0] >> 19 & 3, is_inline = p[0] & 1 << 18;
	u64 mask = wide ? ~0ull : 0xffffffff, old, result;
	u64 a = (is_inline ? (u64)p[5] << 32 | p[3] : m->gpr[0]) & mask;
	u64 b = (is_inline ? (u64)p[6] << 32 | p[4] : m->gpr[2]) & mask;
	u32 *at = word(m, p + 1);

	old = at[0] | (wide ? (u64)at[1] << 32 : 0);
	result = atomic_result(p[0] >> 8 & 0xf, old, a, b, wide) & mask;
	at[0] = (u32)result;
	if (wide)
		at[1] = result >> 32;
	if (p[0] & 1 << 16)
		m->gpr[4] = wide ? result : (m->gpr[4] & ~mask) | result;
}

static bool wait_is_over(u32 command, u32 is, u32 data)
{
	switch (command >> 12 & 7) {
	case 0:
		return is > data;
	case 1:
		return is >= data;
	case 2:
		return is < data;
	case 3:
		return is <= data;
	case 4:
		return is == data;
	default:
		return is != data;
	}
}

/* With bit 21, the page is that of the context. */
static void run_ring(struct machine *m)
{
	unsigned int at, n, i;

	for (at = 0; at < m->ring_dwords; at += n) {
		const u32 *p = m->ring + at;
		u32 *to = m->status[p[0] >> 21 & 1] + (p[1] - PROGRAM_STATUS_OFFSET) / 4;

		n = (p[0] & 0xff) + 2;
		for (i = 2; i < n; i++)
			to[i - 2] = p[i];
	}
}

/* Returns whether the batch goes on. */
static bool passes(struct machine *m, const u32 *p)
{
	const u32 *at = word(m, p + 2);
	u32 value = p[0] & 1 << 19 ? at[0] & at[1] : at[0];

	return value > (p[0] & 1 << 21 ? p[1] : 0);
}

/* MI_PREDICATE_RESULT_2, which programs do not write, is 0. */
static bool becomes_noop(const struct machine *m, u32 command)
{
	bool result = m->predicate[6] & 1;

	switch (command & 0xf) {
	case 1:
	case 15:
		return true;
	case 3:
		return !result;
	case 4:
		return result;
	default:
		return false;
	}
}

void program_interpret(struct machine *m)
{
	unsigned int area = 0, at = 0, back_area = 0, back = 0, steps, n, i;
	bool called = false, noop = false;
	const u32 *p;

	run_ring(m);
	for (steps = 0; steps < STEPS; steps++) {
		bool ends = false;

		p = &m->code[area][at];
		n = p[0] >> 23 < 0x10 ? 1 : (p[0] & 0xff) + 2;
		at += n;
		if (noop && p[0] >> 23 != 0x01 && p[0] >> 23 != 0x31 && p[0] >> 23 != 0x36 &&
		    p[0] >> 23 != 0x0a)
			continue;
		switch (p[0] >> 23) {
		case 0x01:
			noop = becomes_noop(m, p[0]);
			break;
		case 0x22:
			for (i = 1; i < n; i += 2)
				*reg(m, p[i]) = p[i + 1];
			break;
		case 0x24:
			if (!(p[0] & 1 << 21) || m->predicate[6] & 1)
				*word(m, p + 2) = *reg(m, p[1]);
			break;
		case 0x29:
			*reg(m, p[1]) = *word(m, p + 2);
			break;
		case 0x2a:
			*reg(m, p[2]) = *reg(m, p[1]);
			break;
		case 0x20:
			for (i = 3; i < n; i++)
				word(m, p + 1)[i - 3] = p[i];
			break;
		case 0x1c:
			if (!wait_is_over(p[0], *word(m, p + 2), p[1]))
				fail_msg("the reference waits for ever");
			break;
		case 0x26:
			for (i = 3; i < n; i++)
				word(m, p + 1)[i - 3] = p[i];
			break;
		case 0xf4: /* PIPE_CONTROL */
			for (i = 4; p[1] >> 14 & 1 && i < n; i++)
				word(m, p + 2)[i - 4] = p[i];
			break;
		case 0x2e:
			*word(m, p + 1) = *word(m, p + 3);
			break;
		case 0x1a:
			run_math(m, p + 1, n - 1);
			break;
		case 0x2f:
			run_atomic(m, p);
			break;
		case 0x0c:
			run_predicate(m, p[0]);
			break;
		case 0x36:
			ends = !passes(m, p);
			break;
		case 0x0a:
			ends = true;
			break;
		case 0x31:
			if (p[0] & 1 << 15 && !(m->predicate[7] & 1))
				break;
			if (p[0] & 1 << 22) {
				called = true;
				back_area = area;
				back = at;
			}
			area = p[1] == LOW(BATCH2) ? 1 : 2;
			at = 0;
			break;
		}
		if (ends && !called)
			return;
		if (ends) {
			called = false;
			area = back_area;
			at = back;
		}
	}
	fail_msg("the reference did not end");
}

void program_put(struct rig *rig, const struct machine *m)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		memcpy((u8 *)rig->batch + (areas[i] - BATCH), m->code[i], sizeof(m->code[i]));
	memcpy(rig->data, m->memory, sizeof(m->memory));
	memset(rig->context + GHYVI_CTX_GPR, 0, 4 * 64);
	for (i = 0; i < 8; i++)
		*rig_register(rig, GHYVI_RCS, 0x2400 + 4 * i) = 0;
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	if (!m->ring_dwords)
		return;
	*rig_register(rig, GHYVI_RCS, 0x2080) = HWSP_GGTT;
	memcpy(rig->hwsp + PROGRAM_STATUS_OFFSET, m->status[0], sizeof(m->status[0]));
	memcpy(rig->pphwsp + PROGRAM_STATUS_OFFSET, m->status[1], sizeof(m->status[1]));
	ring_emit(rig, m->ring, m->ring_dwords);
}

const char *program_difference(struct rig *rig, const struct machine *m)
{
	const u32 *const status[2] = { (u32 *)(rig->hwsp + PROGRAM_STATUS_OFFSET),
				       (u32 *)(rig->pphwsp + PROGRAM_STATUS_OFFSET) };
	static char text[80];
	unsigned int i;
	u32 is;

	text[0] = 0;
	for (i = 0; i < 2 * PROGRAM_WORDS; i++)
		if (data32(rig, 4 * i) != m->memory[i])
			snprintf(text, sizeof(text), "word %u is %#x, not %#x", i,
				 data32(rig, 4 * i), m->memory[i]);
	/* The context image of Gen8 has none. */
	for (i = 0; rig->client->params.gen > 8 && i < 32; i++) {
		is = rig->context[GHYVI_CTX_GPR + 2 * i];
		if (is != ((u32 *)m->gpr)[i])
			snprintf(text, sizeof(text), "half %u of the registers is %#x, not %#x", i,
				 is, ((u32 *)m->gpr)[i]);
	}
	for (i = 0; i < 8; i++) {
		is = *rig_register(rig, GHYVI_RCS, 0x2400 + 4 * i);
		if (is != m->predicate[i])
			snprintf(text, sizeof(text), "predicate register %u is %#x, not %#x", i, is,
				 m->predicate[i]);
	}
	for (i = 0; m->ring_dwords && i < PROGRAM_STATUS_DWORDS; i++)
		if (status[0][i] != m->status[0][i] || status[1][i] != m->status[1][i])
			snprintf(text, sizeof(text), "status %u is %#x and %#x, not %#x and %#x", i,
				 status[0][i], status[1][i], m->status[0][i], m->status[1][i]);
	return text[0] ? text : NULL;
}
