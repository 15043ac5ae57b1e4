// SPDX-License-Identifier: GPL-2.0-only
/*
 * The math instruction. Functions are computed in double and rounded once, so they are closer to
 * the exact result than the hardware's, which the manual bounds in ulps.
 */
#include "alu.h"

#include <math.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

enum {
	MATH_INV = 1,
	MATH_LOG,
	MATH_EXP,
	MATH_SQRT,
	MATH_RSQ,
	MATH_SIN,
	MATH_COS,
	MATH_FDIV = 9,
	MATH_POW,
	MATH_INT_DIV,
	MATH_INT_QUOTIENT,
	MATH_INT_REMAINDER,
	MATH_INVM,
	MATH_RSQTM,
};

/*
 * Quotients and square roots of floats have no more than 24 bits in each operand: rounded to a
 * double, and then to what the destination is, they are the same as if rounded once.
 */
static double function(unsigned int f, double a, double b)
{
	switch (f) {
	case MATH_INV:
		return 1 / a;
	case MATH_LOG:
		return log2(a);
	case MATH_EXP:
		return exp2(a);
	case MATH_SQRT:
		return sqrt(a);
	case MATH_RSQ:
		return 1 / sqrt(a);
	case MATH_SIN:
		return sin(a);
	case MATH_COS:
		return cos(a);
	case MATH_FDIV:
		return a / b;
	default:
		return pow(fabs(a), b);
	}
}

/* Division by zero gives the largest quotient, as the manual has it. */
static void divide(bool is_signed, int64_t a, int64_t b, int64_t *quotient, int64_t *remainder)
{
	if (!b) {
		*quotient = !is_signed ? UINT32_MAX : (int64_t)(a < 0 ? INT32_MIN : INT32_MAX);
		*remainder = *quotient;
		return;
	}
	if (b == -1) { /* the lowest number has no opposite, and the host's division traps */
		*quotient = (int64_t) - (uint64_t)a;
		*remainder = 0;
		return;
	}
	*quotient = a / b;
	*remainder = a % b;
}

static enum eu_step integer(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	int64_t a[EU_LANES], b[EU_LANES], q[EU_LANES], r[EU_LANES];
	struct eu_insn plain = *i;
	unsigned int lane;

	if (i->src[0].bytes != 4 || i->src[1].bytes != 4 || eu_kind_of(i) != EU_KIND_INT)
		return eu_fail(x, i, EU_UNSUPPORTED, "a division of other types than dwords");
	if (eu_load_int(x, i, 0, a) || eu_load_int(x, i, 1, b))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++)
		divide(i->src[0].type == EU_D, a[lane], b[lane], &q[lane], &r[lane]);
	plain.condition = 0;
	if (i->condition != MATH_INT_DIV)
		return eu_finish_int(x, &plain, lanes, i->condition == MATH_INT_QUOTIENT ? q : r);
	/* The remainder is in the registers behind the quotient's. */
	if (eu_finish_int(x, &plain, lanes, q) == EU_FAILED)
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++) {
		unsigned int at = i->dst.at[lane] + (i->lanes > 8 ? 64u : 32u);

		if (i->dst.file != EU_FILE_GRF || i->dst.indirect || at + 4 > EU_GRF_BYTES)
			return eu_fail(x, i, EU_ILLEGAL, "a remainder past r127");
		plain.dst.at[lane] = (uint16_t)at;
	}
	return eu_finish_int(x, &plain, lanes, r);
}

/**
 * eu_math() - execute a math instruction; its function is where others have the condition
 *
 * Return: EU_NEXT or EU_FAILED.
 */
enum eu_step eu_math(struct eu_exec *x, const struct eu_insn *i)
{
	uint32_t lanes = eu_lanes(x->t, i);
	double a[EU_LANES], b[EU_LANES] = { 0 };
	struct eu_insn plain;
	unsigned int lane;

	if (!lanes)
		return EU_NEXT;
	x->lanes += (unsigned int)__builtin_popcount(lanes);
	if (i->condition >= MATH_INT_DIV && i->condition <= MATH_INT_REMAINDER)
		return integer(x, i, lanes);
	if (i->condition == MATH_INVM || i->condition == MATH_RSQTM)
		return eu_macro(x, i, lanes);
	if (!i->condition || i->condition == 8)
		return eu_fail(x, i, EU_UNSUPPORTED, "math function %u", i->condition);
	if (i->src[0].type != EU_F && i->src[0].type != EU_HF)
		return eu_fail(x, i, EU_UNSUPPORTED, "math function %u of this type", i->condition);
	if (eu_load_double(x, i, 0, a))
		return EU_FAILED;
	if (i->condition == MATH_FDIV || i->condition == MATH_POW) {
		if (i->src[1].type != EU_F && i->src[1].type != EU_HF)
			return eu_fail(x, i, EU_UNSUPPORTED, "math function %u of this type",
				       i->condition);
		if (eu_load_double(x, i, 1, b))
			return EU_FAILED;
	}
	for (lane = 0; lane < i->lanes; lane++)
		a[lane] = function(i->condition, a[lane], b[lane]);
	plain = *i;
	plain.condition = 0;
	return eu_finish_double(x, &plain, lanes, a);
}
