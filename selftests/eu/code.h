/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_TEST_CODE_H
#define GHYVI_EU_TEST_CODE_H

#include "../../userspace/eu/machine.h"

#include <string.h>

static inline uint32_t bits_of(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

/* Makes instructions of a test: native form, align1 unless said otherwise. */
struct code {
	uint32_t dw[1024][4];
	unsigned int count;
};

static inline void put_field(uint32_t dw[4], unsigned int high, unsigned int low, uint64_t v)
{
	unsigned int bit;

	for (bit = low; bit <= high; bit++, v >>= 1) {
		dw[bit / 32] &= ~(1u << bit % 32);
		dw[bit / 32] |= (uint32_t)(v & 1) << bit % 32;
	}
}

/* An operand: a register region, or an immediate. */
struct op {
	unsigned int file, type, reg, sub; /* sub in bytes */
	unsigned int v, w, h; /* as encoded; of a destination only h */
	bool neg, abs;
	uint64_t imm;
};

#define VEC(type_, reg_) \
	((struct op){ .file = EU_FILE_GRF, .type = type_, .reg = reg_, .v = 4, .w = 3, .h = 1 })
#define ONE(type_, reg_, sub_) \
	((struct op){ .file = EU_FILE_GRF, .type = type_, .reg = reg_, .sub = sub_ })
#define IMM(type_, value_) ((struct op){ .file = EU_FILE_IMM, .type = type_, .imm = value_ })
#define ARF(type_, reg_) ((struct op){ .file = EU_FILE_ARF, .type = type_, .reg = reg_, .h = 1 })
#define NEG(operand)                    \
	({                              \
		struct op o_ = operand; \
		o_.neg = true;          \
		o_;                     \
	})
#define ABS(operand)                    \
	({                              \
		struct op o_ = operand; \
		o_.abs = true;          \
		o_;                     \
	})

static inline uint32_t *emit(struct code *c, unsigned int op, unsigned int lanes)
{
	uint32_t *dw = c->dw[c->count++];

	memset(dw, 0, 16);
	put_field(dw, 6, 0, op);
	put_field(dw, 23, 21, (unsigned int)__builtin_ctz(lanes));
	return dw;
}

static inline void put_source(uint32_t *dw, unsigned int n, struct op o)
{
	unsigned int at = n ? 96 : 64;
	/* Types of immediates have numbers of their own. */
	unsigned int type = o.file != EU_FILE_IMM ? o.type :
			    o.type == EU_DF	  ? 10 :
			    o.type == EU_HF	  ? 11 :
						    o.type;

	put_field(dw, n ? 90 : 42, n ? 89 : 41, o.file);
	put_field(dw, n ? 94 : 46, n ? 91 : 43, type);
	if (o.file == EU_FILE_IMM) {
		if (o.type == EU_DF || o.type == EU_Q || o.type == EU_UQ)
			put_field(dw, 127, 64, o.imm);
		else
			put_field(dw, 127, 96, o.imm);
		return;
	}
	put_field(dw, at + 12, at + 5, o.reg);
	put_field(dw, at + 4, at, o.sub);
	put_field(dw, at + 13, at + 13, o.abs);
	put_field(dw, at + 14, at + 14, o.neg);
	put_field(dw, at + 17, at + 16, o.h);
	put_field(dw, at + 20, at + 18, o.w);
	put_field(dw, at + 24, at + 21, o.v);
}

static inline uint32_t *emit2(struct code *c, unsigned int op, unsigned int lanes, struct op dst,
			      struct op a, struct op b)
{
	uint32_t *dw = emit(c, op, lanes);

	put_field(dw, 36, 35, dst.file);
	put_field(dw, 40, 37, dst.type);
	put_field(dw, 60, 53, dst.reg);
	put_field(dw, 52, 48, dst.sub);
	put_field(dw, 62, 61, dst.h ? dst.h : 1);
	/* A wide immediate takes the place of the second source. */
	if (!(a.file == EU_FILE_IMM))
		put_source(dw, 1, b);
	put_source(dw, 0, a);
	return dw;
}

static inline uint32_t *emit1(struct code *c, unsigned int op, unsigned int lanes, struct op dst,
			      struct op a)
{
	return emit2(c, op, lanes, dst, a, (struct op){ .type = EU_UD });
}

static inline void no_mask(uint32_t *dw)
{
	put_field(dw, 34, 34, 1);
}

static inline void condition(uint32_t *dw, unsigned int condition, unsigned int flag)
{
	put_field(dw, 27, 24, condition);
	put_field(dw, 33, 32, flag);
}

static inline void predicate(uint32_t *dw, unsigned int flag, bool inverted)
{
	put_field(dw, 19, 16, 1);
	put_field(dw, 20, 20, inverted);
	put_field(dw, 33, 32, flag);
}

static inline void emit_send(struct code *c, unsigned int lanes, unsigned int sfid,
			     unsigned int dst, unsigned int payload, uint32_t desc, bool eot)
{
	uint32_t *dw = emit(c, EU_SEND, lanes);

	put_field(dw, 27, 24, sfid);
	put_field(dw, 36, 35, dst ? EU_FILE_GRF : EU_FILE_ARF);
	put_field(dw, 60, 53, dst);
	put_field(dw, 42, 41, EU_FILE_GRF);
	put_field(dw, 76, 69, payload);
	put_field(dw, 90, 89, EU_FILE_IMM);
	put_field(dw, 126, 96, desc);
	put_field(dw, 127, 127, eot);
}

/* To the instruction so many bytes after this one's end. */
static inline uint32_t *emit_jump(struct code *c, int32_t bytes)
{
	uint32_t *dw = emit(c, EU_JMPI, 1);

	no_mask(dw);
	put_field(dw, 90, 89, EU_FILE_IMM);
	put_field(dw, 127, 96, (uint32_t)bytes);
	return dw;
}

/* r@reg.@sub += 1; back to instruction @to while it is below @end. */
static inline void emit_loop(struct code *c, unsigned int reg, unsigned int sub, uint32_t end,
			     unsigned int to)
{
	uint32_t *dw;

	no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, reg, sub), ONE(EU_UD, reg, sub), IMM(EU_UD, 1)));
	dw = emit2(c, EU_CMP, 1, ARF(EU_UD, 0), ONE(EU_UD, reg, sub), IMM(EU_UD, end));
	condition(dw, EU_COND_L, 0);
	no_mask(dw);
	predicate(emit_jump(c, ((int32_t)to - (int32_t)c->count - 1) * 16), 0, false);
}

/* Wait for the group. r127 is r0 of the start; the notification register is 0. */
static inline void emit_barrier(struct code *c)
{
	uint32_t *dw;

	emit_send(c, 1, 3, 0, 127, 0x02000004, false);
	no_mask(c->dw[c->count - 1]);
	dw = emit(c, EU_WAIT, 1);
	put_source(dw, 0, ARF(EU_UD, 0x90));
	no_mask(dw);
}

static inline void emit_end(struct code *c)
{
	emit_send(c, 8, 7, 0, 127, 0x02000010, true);
	no_mask(c->dw[c->count - 1]);
}

/* A source of three: whole registers or one value. */
static inline void put_third(uint32_t *dw, unsigned int n, struct op o)
{
	unsigned int at = n == 0 ? 64 : n == 1 ? 85 : 106;

	put_field(dw, 37 + 2 * n, 37 + 2 * n, o.abs);
	put_field(dw, 38 + 2 * n, 38 + 2 * n, o.neg);
	put_field(dw, at, at, !o.v);
	put_field(dw, at + 8, at + 1, 0xe4);
	put_field(dw, at + 11, at + 9, o.v ? 0 : o.sub / 4);
	put_field(dw, at + 19, at + 12, o.reg);
}

static inline uint32_t *emit_mad(struct code *c, unsigned int lanes, unsigned int type,
				 unsigned int dst, const struct op sources[3])
{
	unsigned int code = type == EU_F ? 0 : type == EU_D ? 1 : 2, n;
	uint32_t *dw = emit(c, EU_MAD, lanes);

	put_field(dw, 8, 8, 1);
	put_field(dw, 45, 43, code);
	put_field(dw, 48, 46, code);
	put_field(dw, 52, 49, 15);
	put_field(dw, 63, 56, dst);
	for (n = 0; n < 3; n++)
		put_third(dw, n, sources[n]);
	return dw;
}

#endif
