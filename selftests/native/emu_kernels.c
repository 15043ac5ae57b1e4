// SPDX-License-Identifier: GPL-2.0-only
#include "../eu/code.h"
#include "emu_kernels.h"

#define STATELESS 255u
#define SHARED 254u
#define UNTYPED_READ (1u << 14 | 2u << 12 | 14u << 8)
#define RESPONSE(registers) ((registers) << 20)
#define UNTYPED_WRITE (9u << 14 | 2u << 12 | 14u << 8) /* one channel, 8 lanes */
#define UNTYPED_ATOMIC_ADD (2u << 14 | 1u << 12 | 7u << 8)
#define DATA_PORT 12
#define NOTIFICATION 0x90

/* EMU_KERNEL_SHARES: each round, each thread makes STEPS numbers, and adds its neighbour's last. */
#define SHARE_THREADS 4u
#define SHARE_ROUNDS 250u
#define SHARE_STEPS 16u
#define SHARE_FACTOR 1664525u
#define SHARE_ADDEND 1013904223u
#define PAYLOAD(registers) ((registers) << 25)

static void adds(struct code *c)
{
	unsigned int n;

	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 10), ONE(EU_UD, 0, 4), IMM(EU_UD, 32)));
	for (n = 0; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 10, n * 4), ONE(EU_UD, 10, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 11), VEC(EU_UD, 10), IMM(EU_UD, 7)));
	emit_send(c, 8, DATA_PORT, 0, 10, PAYLOAD(2u) | UNTYPED_ATOMIC_ADD | STATELESS, false);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	emit_end(c);
}

static void copies(struct code *c)
{
	unsigned int n;

	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 10), ONE(EU_UD, 127, 4), IMM(EU_UD, 32)));
	for (n = 1; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 10, n * 4), ONE(EU_UD, 10, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 11), IMM(EU_UD, ~0u)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 12), VEC(EU_UD, 10), IMM(EU_UD, EMU_COPIES_BYTES)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 14), VEC(EU_UD, 12), IMM(EU_UD, EMU_COPIES_BYTES)));
	emit_send(c, 8, DATA_PORT, 0, 10, PAYLOAD(2u) | UNTYPED_WRITE | STATELESS, false);
	emit_send(c, 8, DATA_PORT, 15, 12, PAYLOAD(1u) | RESPONSE(1u) | UNTYPED_READ | STATELESS,
		  false);
	emit_send(c, 8, DATA_PORT, 0, 14, PAYLOAD(2u) | UNTYPED_WRITE | STATELESS, false);
	emit_end(c);
}

static void wild(struct code *c)
{
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0x7fff0000)));
	emit_send(c, 8, DATA_PORT, 0, 10, PAYLOAD(2u) | UNTYPED_WRITE | STATELESS, false);
	emit_end(c);
}

static void endless(struct code *c)
{
	emit_jump(c, -16);
}

/* r@reg: 32 * the thread's number in its group + @offset, modulo all, + 4 * lane */
static void slot(struct code *c, unsigned int reg, uint32_t offset)
{
	const uint32_t last = 32 * (SHARE_THREADS - 1);
	unsigned int n;

	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, reg), ONE(EU_UD, 0, 20), IMM(EU_UD, 32)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, reg), VEC(EU_UD, reg), IMM(EU_UD, offset)));
	no_mask(emit2(c, EU_AND, 8, VEC(EU_UD, reg), VEC(EU_UD, reg), IMM(EU_UD, last)));
	for (n = 1; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, reg, n * 4), ONE(EU_UD, reg, n * 4),
			      IMM(EU_UD, n * 4)));
}

/* r10: the numbers; r11: counters; r12 and r14: where this thread's are shared, and the next's */
static void shares(struct code *c)
{
	unsigned int rounds, steps, n;

	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 1, ARF(EU_UD, NOTIFICATION), IMM(EU_UD, 0)));
	slot(c, 12, 0);
	slot(c, 14, 32);
	/* 32 * group + 4 * lane: where the result goes, and, with the thread's slot, the seed */
	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 16), ONE(EU_UD, 127, 4), IMM(EU_UD, 32)));
	for (n = 1; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 16, n * 4), ONE(EU_UD, 16, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 16), VEC(EU_UD, 12)));
	no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 11, 0), IMM(EU_UD, 0)));
	rounds = c->count;
	no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 11, 4), IMM(EU_UD, 0)));
	steps = c->count;
	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, SHARE_FACTOR)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, SHARE_ADDEND)));
	emit_loop(c, 11, 4, SHARE_STEPS, steps);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 13), VEC(EU_UD, 10)));
	emit_send(c, 8, DATA_PORT, 0, 12, PAYLOAD(2u) | UNTYPED_WRITE | SHARED, false);
	emit_barrier(c);
	emit_send(c, 8, DATA_PORT, 15, 14, PAYLOAD(1u) | RESPONSE(1u) | UNTYPED_READ | SHARED,
		  false);
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), VEC(EU_UD, 15)));
	emit_barrier(c);
	emit_loop(c, 11, 0, SHARE_ROUNDS, rounds);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 17), VEC(EU_UD, 10)));
	emit_send(c, 8, DATA_PORT, 0, 16, PAYLOAD(2u) | UNTYPED_ATOMIC_ADD | STATELESS, false);
	emit_end(c);
}

void emu_kernel_shares_result(uint32_t group, uint32_t result[8])
{
	uint32_t x[SHARE_THREADS], last[SHARE_THREADS], factor = 1, addend = 0, n, t, lane;

	for (n = 0; n < SHARE_STEPS; n++) { /* all steps of a round are one */
		factor *= SHARE_FACTOR;
		addend = addend * SHARE_FACTOR + SHARE_ADDEND;
	}
	for (lane = 0; lane < 8; lane++) {
		for (t = 0; t < SHARE_THREADS; t++)
			x[t] = 32 * group + 4 * lane + 32 * t + 4 * lane;
		for (n = 0; n < SHARE_ROUNDS; n++) {
			for (t = 0; t < SHARE_THREADS; t++)
				last[t] = x[t] * factor + addend;
			for (t = 0; t < SHARE_THREADS; t++)
				x[t] = last[t] + last[(t + 1) % SHARE_THREADS];
		}
		for (result[lane] = t = 0; t < SHARE_THREADS; t++)
			result[lane] += x[t];
	}
}

size_t emu_kernel_put(enum emu_kernel kernel, void *code)
{
	static struct code c;

	c.count = 0;
	switch (kernel) {
	case EMU_KERNEL_ADDS:
		adds(&c);
		break;
	case EMU_KERNEL_WILD:
		wild(&c);
		break;
	case EMU_KERNEL_ENDLESS:
		endless(&c);
		break;
	case EMU_KERNEL_SHARES:
		shares(&c);
		break;
	case EMU_KERNEL_COPIES:
		copies(&c);
		break;
	case EMU_KERNEL_UNSUPPORTED:
		emit2(&c, EU_PLN, 8, VEC(EU_F, 10), VEC(EU_F, 11), VEC(EU_F, 12));
		break;
	}
	memcpy(code, c.dw, c.count * 16);
	return c.count * 16;
}

void emu_kernel_descriptor(uint32_t descriptor[8])
{
	memset(descriptor, 0, 8 * sizeof(*descriptor));
	descriptor[6] = 1; /* thread of a group */
}

static void put_base(uint32_t *at, uint64_t address)
{
	at[0] = (uint32_t)address | 1;
	at[1] = (uint32_t)(address >> 32);
}

void emu_kernel_state(uint32_t *batch, uint64_t general, uint64_t dynamic, uint64_t instruction)
{
	uint32_t *base = batch, *vfe = base + 19, *load = vfe + 9;

	memset(batch, 0, EMU_STATE_DWORDS * sizeof(*batch));
	base[0] = 0x61010011;
	put_base(base + 1, general);
	put_base(base + 6, dynamic);
	put_base(base + 10, instruction);
	/* No bounds: i915's first batch of a context leaves some. */
	base[12] = base[13] = base[14] = base[15] = 0xfffff001;
	vfe[0] = 0x70000007;
	load[0] = 0x70020002;
	load[2] = 32;
}

void emu_kernel_walker(uint32_t *batch, uint32_t groups)
{
	memset(batch, 0, EMU_WALKER_DWORDS * sizeof(*batch));
	batch[0] = 0x7105000d;
	batch[7] = groups;
	batch[10] = batch[12] = 1;
	batch[13] = batch[14] = ~0u;
}

void emu_kernel_share(uint32_t *descriptor, uint32_t *walker)
{
	if (descriptor)
		descriptor[6] = 1 << 21 | 1 << 16 | SHARE_THREADS; /* barrier, 1 KiB */
	if (walker)
		walker[4] = SHARE_THREADS - 1;
}
