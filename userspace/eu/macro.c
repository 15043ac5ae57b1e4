// SPDX-License-Identifier: GPL-2.0-only
/*
 * The macros for IEEE division and square root. math.invm and math.rsqtm give an estimate, or, for
 * operands that are zero or not finite, the result and a flag that says so. A sequence of madm, a
 * fused multiply-add, refines the estimate. An operand can have two more bits of exponent than its
 * type, in one of acc2 to acc9, so that nothing in between overflows or loses bits to denormals.
 *
 * How the hardware encodes these numbers is not public, and no program sees it. Here an exponent's
 * lower bits are in the general register and the two upper ones, as a signed number, in the
 * accumulator. So a number that the type can hold looks as usual. The lowest exponent is that of
 * zero, the highest that of infinities and NaNs; there are no denormals.
 */
#include "alu.h"

#include <math.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

enum { MATH_INVM = 14, ROUND_EVEN = 0, ROUND_UP, ROUND_DOWN, ESTIMATE_BITS = 24 };

typedef unsigned __int128 u128;

/* What the type of a macro's operands is, and how the thread rounds. */
struct macro_format {
	unsigned int bits; /* of a mantissa, without the one that is not stored */
	unsigned int exponent_bits;
	int bias;
	int top; /* the largest exponent field */
	uint64_t sign;
	unsigned int rounding;
	bool denormals;
};

/* @mantissa / 2^63 * 2^@exponent; bit 63 is set in all numbers but zero. */
struct macro_number {
	bool negative;
	bool special; /* infinite, or not a number: @bits has it */
	int exponent;
	uint64_t mantissa;
	uint64_t bits; /* without sign */
};

static struct macro_format format_of(const struct eu_exec *x, const struct eu_insn *i)
{
	bool is_double = i->src[0].type == EU_DF;
	uint32_t cr0 = eu_reg32(x->t, EU_REG_CR0);
	struct macro_format f = {
		.bits = is_double ? 52 : 23,
		.exponent_bits = is_double ? 11 : 8,
		.sign = 1ull << (is_double ? 63 : 31),
		.rounding = cr0 >> EU_CR0_ROUNDING_SHIFT & 3,
		.denormals = cr0 & (is_double ? EU_CR0_DF_DENORMALS : EU_CR0_F_DENORMALS),
	};

	f.top = (1 << f.exponent_bits) - 1;
	f.bias = f.top / 2;
	return f;
}

/* Exponents of zero, and of what is not finite. */
static int lowest(const struct macro_format *f)
{
	return -(2 << f->exponent_bits);
}

static int highest(const struct macro_format *f)
{
	return (2 << f->exponent_bits) - 1;
}

/* The byte of an accumulator that has the upper bits of a lane's exponent. */
static uint8_t *upper_bits(struct eu_exec *x, const struct eu_operand *o, unsigned int lane)
{
	return x->t->reg + EU_REG_ACC0 + (2 + o->macro) * EU_REG_BYTES + lane * o->bytes;
}

/* A number that has no upper bits: its type's own exponents, among them that of denormals. */
static int own_exponent(const struct macro_format *f, int field, uint64_t *fraction)
{
	if (field == f->top)
		return highest(f);
	if (field)
		return field;
	if (!*fraction || !f->denormals)
		return lowest(f);
	field = 1;
	while (!(*fraction >> f->bits)) {
		*fraction <<= 1;
		field--;
	}
	return field;
}

static struct macro_number unpack(struct eu_exec *x, const struct macro_format *f,
				  const struct eu_operand *o, unsigned int lane, uint64_t raw)
{
	uint64_t one = 1ull << f->bits, fraction = raw & (one - 1);
	int field = (int)(raw >> f->bits & (uint64_t)f->top), exponent;
	struct macro_number n = { .negative = raw & f->sign, .bits = raw & (f->sign - 1) };

	if (o->absolute)
		n.negative = false;
	n.negative ^= o->negate;
	if (o->macro == EU_NO_MACRO)
		exponent = own_exponent(f, field, &fraction);
	else
		exponent = field +
			   (int8_t)(*upper_bits(x, o, lane) << 6) / 64 * (1 << f->exponent_bits);
	n.special = exponent == highest(f);
	if (exponent != lowest(f))
		n.mantissa = (fraction | one) << (63 - f->bits);
	n.exponent = exponent - f->bias;
	return n;
}

static int unpack_all(struct eu_exec *x, const struct eu_insn *i, const struct macro_format *f,
		      unsigned int source, struct macro_number *to)
{
	uint64_t raw[EU_LANES];
	unsigned int lane;

	if (eu_gather(x, i, source, raw))
		return -1;
	for (lane = 0; lane < i->lanes; lane++)
		to[lane] = unpack(x, f, &i->src[source], lane, raw[lane]);
	return 0;
}

/* A result: bits of the general register, with the upper ones of the exponent for @o. */
static uint64_t store(struct eu_exec *x, const struct macro_format *f, const struct eu_operand *o,
		      unsigned int lane, bool negative, int exponent, uint64_t fraction)
{
	if (o->macro != EU_NO_MACRO)
		*upper_bits(x, o, lane) = exponent >> f->exponent_bits & 3;
	return (negative ? f->sign : 0) | (uint64_t)(exponent & f->top) << f->bits | fraction;
}

/* Zero, an infinity or a NaN, as its bits are. */
static uint64_t store_special(struct eu_exec *x, const struct macro_format *f,
			      const struct eu_operand *o, unsigned int lane, uint64_t bits)
{
	uint64_t magnitude = bits & (f->sign - 1);

	return store(x, f, o, lane, bits & f->sign, magnitude ? highest(f) : lowest(f),
		     magnitude & ((1ull << f->bits) - 1));
}

/* @sum, shifted to the right; what falls out leaves a trace in bit 0. */
static u128 shift_right(u128 sum, int by)
{
	if (by > 126)
		return sum != 0;
	return sum >> by | ((sum & (((u128)1 << by) - 1)) != 0);
}

/* Rounds @sum / 2^127 * 2^@exponent; bit 127 is set. */
static uint64_t pack(struct eu_exec *x, const struct macro_format *f, const struct eu_operand *o,
		     unsigned int lane, bool negative, int exponent, u128 sum)
{
	unsigned int away = negative ? ROUND_DOWN : ROUND_UP, drop = 127 - f->bits;
	bool extended = o->macro != EU_NO_MACRO, up;
	int least = extended ? lowest(f) + 1 : 1, most = (extended ? highest(f) : f->top) - 1;
	uint64_t one = 1ull << f->bits, kept;
	u128 rest, half;

	exponent += f->bias;
	if (exponent < least) {
		sum = shift_right(sum, least - exponent);
		exponent = least;
	}
	kept = (uint64_t)(sum >> drop);
	rest = sum & (((u128)1 << drop) - 1);
	half = (u128)1 << (drop - 1);
	if (f->rounding == ROUND_EVEN)
		up = rest > half || (rest == half && (kept & 1));
	else
		up = rest && f->rounding == away;
	kept += up;
	if (kept >> f->bits == 2) {
		kept >>= 1;
		exponent++;
	}
	if (exponent > most) {
		if (f->rounding == ROUND_EVEN || f->rounding == away)
			return store(x, f, o, lane, negative, most + 1, 0);
		return store(x, f, o, lane, negative, most, one - 1);
	}
	if (kept >= one)
		return store(x, f, o, lane, negative, exponent, kept - one);
	/* Less than the smallest exponent has: a denormal of the type, or nothing. */
	if (extended || !f->denormals)
		kept = 0;
	return store(x, f, o, lane, negative, least - 1, kept);
}

/* A number's bits in its type, as far as products and sums of what is not finite depend on it. */
static double rough(const struct macro_number *n, const struct macro_format *f)
{
	bool infinite = n->bits == (uint64_t)f->top << f->bits;
	double d = n->special ? (infinite ? INFINITY : NAN) : n->mantissa ? 1 : 0;

	return n->negative ? -d : d;
}

static uint64_t type_bits(const struct macro_format *f, double d)
{
	float single = (float)d;
	uint32_t v;
	uint64_t w;

	memcpy(&v, &single, sizeof(v));
	memcpy(&w, &d, sizeof(w));
	return f->bits == 23 ? v : w;
}

static unsigned int leading_zeros(u128 v)
{
	uint64_t high = (uint64_t)(v >> 64);

	return high ? (unsigned int)__builtin_clzll(high) :
		      64 + (unsigned int)__builtin_clzll((uint64_t)v);
}

/* a + b * c, rounded once. */
static uint64_t multiply_add(struct eu_exec *x, const struct macro_format *f,
			     const struct eu_operand *o, unsigned int lane,
			     const struct macro_number *a, const struct macro_number *b,
			     const struct macro_number *c)
{
	/* Both have their highest bit at 124 or 125. Mantissas are short, so no bit is lost. */
	u128 product = (u128)b->mantissa * c->mantissa >> 2, addend = (u128)a->mantissa << 61, sum;
	int exponent = b->exponent + c->exponent, away = a->exponent - exponent;
	bool negative = b->negative ^ c->negative;
	unsigned int zeros;

	if (a->special || b->special || c->special)
		return store_special(x, f, o, lane,
				     type_bits(f, fma(rough(b, f), rough(c, f), rough(a, f))));
	if (!addend || (product && away <= 0)) {
		addend = shift_right(addend, addend ? -away : 0);
	} else {
		product = shift_right(product, product ? away : 0);
		exponent = a->exponent;
	}
	if (negative == a->negative) {
		sum = product + addend;
	} else if (product > addend) {
		sum = product - addend;
	} else {
		sum = addend - product;
		negative = sum ? a->negative : f->rounding == ROUND_DOWN;
	}
	if (!sum)
		return store_special(x, f, o, lane, negative ? f->sign : 0);
	zeros = leading_zeros(sum);
	return pack(x, f, o, lane, negative, exponent + 3 - (int)zeros, sum << zeros);
}

/**
 * eu_madm() - execute a multiply-add of a macro
 *
 * Return: EU_NEXT or EU_FAILED.
 */
enum eu_step eu_madm(struct eu_exec *x, const struct eu_insn *i)
{
	struct macro_format f = format_of(x, i);
	uint32_t lanes = eu_lanes(x->t, i);
	struct macro_number source[3][EU_LANES];
	uint64_t result[EU_LANES] = { 0 };
	unsigned int lane, n;

	if (!lanes)
		return EU_NEXT;
	x->lanes += (unsigned int)__builtin_popcount(lanes);
	for (n = 0; n < 3; n++)
		if (unpack_all(x, i, &f, n, source[n]))
			return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++)
		if (lanes >> lane & 1)
			result[lane] = multiply_add(x, &f, &i->dst, lane, &source[0][lane],
						    &source[1][lane], &source[2][lane]);
	return eu_scatter(x, i, lanes, result) ? EU_FAILED : EU_NEXT;
}

/* 1 / n in 24 bits. Rounded up: from below, 1 / 0x1.fffffep0f would become 0.5. */
static struct macro_number reciprocal(const struct macro_number *n)
{
	uint64_t bits =
		(uint64_t)((((u128)1 << (63 + ESTIMATE_BITS)) + n->mantissa - 1) / n->mantissa);
	bool one = bits >> ESTIMATE_BITS;

	return (struct macro_number){ .negative = n->negative,
				      .exponent = -n->exponent - !one,
				      .mantissa = one ? 1ull << 63 : bits << (64 - ESTIMATE_BITS) };
}

/* 1 / sqrt(n) in 24 bits. Rounded down: from above, sqrt(0x1.fffffffffffffp1) would become 2. */
static struct macro_number reciprocal_root(const struct macro_number *n)
{
	int odd = n->exponent & 1;
	u128 whole = (u128)1 << (63 + 2 * ESTIMATE_BITS), square = (u128)n->mantissa << odd;
	uint64_t bits =
		(uint64_t)(0x1p24 / sqrt((double)(float)n->mantissa * 0x1p-63 * (double)(1 + odd)));
	bool one;

	while (bits * bits * square > whole)
		bits--;
	while ((bits + 1) * (bits + 1) * square <= whole)
		bits++;
	one = bits >> ESTIMATE_BITS;
	return (struct macro_number){ .exponent = -(n->exponent - odd) / 2 - !one,
				      .mantissa = one ? 1ull << 63 : bits << (64 - ESTIMATE_BITS) };
}

/* The result if it is known at once; with signs and infinities as IEEE has them. */
static double at_once(const struct eu_insn *i, double a, double b)
{
	return i->condition == MATH_INVM ? a / b : sqrt(a);
}

static bool ends_early(const struct eu_insn *i, const struct macro_number *a,
		       const struct macro_number *b)
{
	if (a->special || !a->mantissa)
		return true;
	return i->condition == MATH_INVM ? b->special || !b->mantissa : a->negative;
}

/**
 * eu_macro() - execute math.invm or math.rsqtm
 *
 * Return: EU_NEXT or EU_FAILED.
 */
enum eu_step eu_macro(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	struct macro_format f = format_of(x, i);
	struct macro_number a[EU_LANES], b[EU_LANES];
	uint64_t result[EU_LANES] = { 0 };
	uint32_t early = 0;
	unsigned int lane;

	if (unpack_all(x, i, &f, 0, a) || (i->condition == MATH_INVM && unpack_all(x, i, &f, 1, b)))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++) {
		struct macro_number estimate;

		if (!(lanes >> lane & 1))
			continue;
		if (ends_early(i, &a[lane], &b[lane])) {
			double d = at_once(i, rough(&a[lane], &f),
					   i->condition == MATH_INVM ? rough(&b[lane], &f) : 1);

			early |= 1u << lane;
			result[lane] = store_special(x, &f, &i->dst, lane, type_bits(&f, d));
			continue;
		}
		estimate = i->condition == MATH_INVM ? reciprocal(&b[lane]) :
						       reciprocal_root(&a[lane]);
		result[lane] = pack(x, &f, &i->dst, lane, estimate.negative, estimate.exponent,
				    (u128)estimate.mantissa << 64);
	}
	eu_set_flags(x->t, i, lanes, early);
	return eu_scatter(x, i, lanes, result) ? EU_FAILED : EU_NEXT;
}
