// SPDX-License-Identifier: GPL-2.0-only
/* Integer operations on 64-bit lanes. */
#include "alu.h"

#include <string.h>

static unsigned int width_of(const struct eu_insn *i)
{
	return i->exec_type == EU_Q || i->exec_type == EU_UQ ? 64 :
	       i->exec_type == EU_D || i->exec_type == EU_UD ? 32 :
							       16;
}

/* The bits of a value as an unsigned one of the operation's width. */
static uint64_t unsigned_of(int64_t v, unsigned int width)
{
	return width == 64 ? (uint64_t)v : (uint64_t)v & ((1ull << width) - 1);
}

static int64_t shift(const struct eu_insn *i, int64_t a, int64_t b)
{
	unsigned int width = width_of(i);
	bool wide = width == 64 || i->dst.bytes == 8;
	unsigned int count = (uint64_t)b & (wide ? 63 : 31);

	switch (i->op) {
	case EU_SHL:
		return (int64_t)((uint64_t)a << count);
	case EU_SHR:
		return (int64_t)(unsigned_of(a, width) >> count);
	default:
		/* A source without a sign is shifted as one that is not negative. */
		return i->src[0].type == EU_UQ ? (int64_t)((uint64_t)a >> count) : a >> count;
	}
}

/* Smaller destinations are saturated once more, from what 64 bits hold. */
static int64_t saturating(const struct eu_insn *i, __int128 v)
{
	if (i->saturate && i->dst.type == EU_UQ)
		return v > (__int128)UINT64_MAX ? -1 : v < 0 ? 0 : (int64_t)(uint64_t)v;
	if (i->saturate)
		return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
	return (int64_t)v;
}

/* A source whose minus 64 bits may not hold. */
static __int128 wide(const struct eu_insn *i, unsigned int n, int64_t v)
{
	const struct eu_operand *o = &i->src[n];
	uint64_t plain = o->negate ? -(uint64_t)v : (uint64_t)v;
	__int128 result = o->type == EU_UQ ? (__int128)plain : (__int128)(int64_t)plain;

	return o->negate ? -result : result;
}

static int64_t find_high(const struct eu_insn *i, int64_t v)
{
	uint32_t u = (uint32_t)v;

	if (i->src[0].type == EU_D || i->src[0].type == EU_W || i->src[0].type == EU_B)
		u = (int32_t)u < 0 ? ~u : u;
	return u ? __builtin_clz(u) : 0xffffffffu;
}

static uint32_t reversed(uint32_t v)
{
	v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
	v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
	v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(v);
}

static int64_t extract(const struct eu_insn *i, int64_t a, int64_t b, int64_t c)
{
	unsigned int width = (uint64_t)a & 31, offset = (uint64_t)b & 31;
	uint32_t v = (uint32_t)c >> offset;

	if (!width)
		return 0;
	if (i->src[2].type != EU_D)
		return v & ((1u << width) - 1);
	/* Bits past the source's last are copies of its sign. */
	v = (uint32_t)((int32_t)(uint32_t)c >> offset);
	return (int32_t)(v << (32 - width)) >> (32 - width);
}

/* bfi2: @insert goes where the first bit of @mask is; bfi1 makes masks of a width and an offset. */
static int64_t inserted(uint32_t mask, uint32_t insert, uint32_t base)
{
	if (!mask)
		return base;
	return (insert << __builtin_ctz(mask) & mask) | (base & ~mask);
}

/* Sets the accumulator to what an operation leaves there besides its result. */
static void set_acc(struct eu_exec *x, uint32_t lanes, unsigned int lane, int64_t v)
{
	uint32_t low = (uint32_t)v;

	if (!(lanes >> lane & 1) || lane >= 16)
		return;
	memcpy(x->t->reg + EU_REG_ACC0 + lane * 4, &low, 4);
	x->t->acc_high[lane] = (int32_t)(v >> 32);
}

static int64_t acc_of(const struct eu_exec *x, unsigned int lane)
{
	uint32_t low = eu_reg32(x->t, EU_REG_ACC0 + (lane & 15) * 4);

	return (int64_t)((uint64_t)(uint32_t)x->t->acc_high[lane & 15] << 32) | low;
}

/*
 * The instructions that read or write the accumulator on the side. mach adds the upper half of src1
 * to a product that mul has begun with the lower half.
 */
static enum eu_step with_accumulator(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	int64_t a[EU_LANES], b[EU_LANES], r[EU_LANES] = { 0 };
	struct eu_insn plain;
	unsigned int lane;

	if (eu_load_int(x, i, 0, a) || eu_load_int(x, i, 1, b))
		return EU_FAILED;
	if (i->lanes > 16)
		return eu_fail(x, i, EU_ILLEGAL, "more lanes than the accumulator has");
	if (i->op == EU_MAC && i->dst.bytes != 4)
		return eu_fail(x, i, EU_UNSUPPORTED, "not with words in the accumulator");
	for (lane = 0; lane < i->lanes; lane++) {
		int64_t acc = acc_of(x, lane);

		switch (i->op) {
		case EU_MAC:
			acc = r[lane] = acc + a[lane] * b[lane];
			break;
		case EU_MACH: {
			int64_t high = i->src[1].type == EU_D ? b[lane] >> 16 :
								(int64_t)((uint32_t)b[lane] >> 16);

			acc = (int64_t)((uint64_t)acc + ((uint64_t)(a[lane] * high) << 16));
			r[lane] = acc >> 32;
			break;
		}
		case EU_ADDC:
			r[lane] = (uint32_t)((uint64_t)a[lane] + (uint64_t)b[lane]);
			acc = (((uint64_t)(uint32_t)a[lane] + (uint32_t)b[lane]) >> 32) & 1;
			break;
		default:
			r[lane] = (uint32_t)((uint64_t)a[lane] - (uint64_t)b[lane]);
			acc = (uint32_t)a[lane] < (uint32_t)b[lane];
			break;
		}
		if (i->op != EU_MAC || i->write_acc)
			set_acc(x, lanes, lane, acc);
	}
	plain = *i;
	plain.write_acc = false;
	return eu_finish_int(x, &plain, lanes, r);
}

static enum eu_step three(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	int64_t a[EU_LANES], b[EU_LANES], c[EU_LANES];
	unsigned int lane;

	if (eu_load_int(x, i, 0, a) || eu_load_int(x, i, 1, b) || eu_load_int(x, i, 2, c))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++) {
		if (i->op == EU_BFE)
			a[lane] = extract(i, a[lane], b[lane], c[lane]);
		else if (i->op == EU_BFI2)
			a[lane] = inserted((uint32_t)a[lane], (uint32_t)b[lane], (uint32_t)c[lane]);
		else
			a[lane] = saturating(i, a[lane] + (__int128)b[lane] * c[lane]);
	}
	return eu_finish_int(x, i, lanes, a);
}

/**
 * eu_alu_int() - an operation whose sources are integers
 *
 * Return: EU_NEXT or EU_FAILED.
 */
enum eu_step eu_alu_int(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	int64_t a[EU_LANES], b[EU_LANES];
	unsigned int lane;

	switch (i->op) {
	case EU_MAC:
	case EU_MACH:
	case EU_ADDC:
	case EU_SUBB:
		return with_accumulator(x, i, lanes);
	case EU_BFE:
	case EU_BFI2:
	case EU_MAD:
		return three(x, i, lanes);
	default:
		break;
	}
	if (eu_load_int(x, i, 0, a) || (i->sources > 1 && eu_load_int(x, i, 1, b)))
		return EU_FAILED;
	switch (i->op) {
	case EU_NOT:
		EACH(~a[lane]);
	case EU_AND:
		EACH(a[lane] & b[lane]);
	case EU_OR:
		EACH(a[lane] | b[lane]);
	case EU_XOR:
		EACH(a[lane] ^ b[lane]);
	case EU_SHL:
	case EU_SHR:
	case EU_ASR:
		EACH(shift(i, a[lane], b[lane]));
	case EU_ADD:
		EACH(saturating(i, wide(i, 0, a[lane]) + wide(i, 1, b[lane])));
	case EU_MUL:
		EACH(saturating(i, (__int128)((unsigned __int128)wide(i, 0, a[lane]) *
					      (unsigned __int128)wide(i, 1, b[lane]))));
	case EU_AVG:
		EACH((a[lane] + b[lane] + 1) >> 1);
	case EU_LZD:
		EACH((uint32_t)a[lane] ? __builtin_clz((uint32_t)a[lane]) : 32);
	case EU_FBH:
		EACH(find_high(i, a[lane]));
	case EU_FBL:
		EACH((uint32_t)a[lane] ? (int64_t)__builtin_ctz((uint32_t)a[lane]) : 0xffffffff);
	case EU_CBIT:
		EACH(__builtin_popcountll(unsigned_of(a[lane], i->src[0].bytes * 8u)));
	case EU_BFREV:
		EACH(reversed((uint32_t)a[lane]));
	case EU_BFI1:
		EACH((uint32_t)(((1ull << ((uint64_t)a[lane] & 31)) - 1) << (b[lane] & 31)));
	default:
		return eu_fail(x, i, EU_UNSUPPORTED, "not for integers");
	}
	return eu_finish_int(x, i, lanes, a);
}
