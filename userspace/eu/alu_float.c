// SPDX-License-Identifier: GPL-2.0-only
/*
 * Floating-point operations. Results are IEEE's in the rounding mode of the thread; a half is
 * computed as float and rounded once more, which is exact for all but mad.
 */
#include "alu.h"

#include <math.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

/*
 * a * b + c of halves, rounded to a half once. The product is exact in a double. If the sum is not,
 * its last bit is made odd, so that the rounding to a half that follows cannot see a tie where
 * there is none.
 */
static double half_mad(float a, float b, float c)
{
	double product = (double)a * (double)b, sum = product + (double)c, part, error;
	uint64_t bits;

	if (!isfinite(sum))
		return sum;
	part = sum - product;
	error = (product - (sum - part)) + ((double)c - part);
	if (error == 0)
		return sum;
	memcpy(&bits, &sum, sizeof(bits));
	if (!(bits & 1)) {
		/* Towards the exact sum. */
		if ((error > 0) == (sum > 0))
			bits++;
		else
			bits--;
		memcpy(&sum, &bits, sizeof(sum));
	}
	return sum;
}

static enum eu_step half_mads(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			      const float *a, const float *b, const float *c)
{
	double r[EU_LANES];
	unsigned int lane;

	for (lane = 0; lane < i->lanes; lane++)
		r[lane] = half_mad(b[lane], c[lane], a[lane]);
	return eu_finish_double(x, i, lanes, r);
}

static float float_acc(const struct eu_exec *x, unsigned int lane)
{
	float f;

	memcpy(&f, x->t->reg + EU_REG_ACC0 + (lane & 15) * 4, sizeof(f));
	return f;
}

/* A dot product's components are the four lanes of a group. */
static float dot(unsigned int op, const float *a, const float *b)
{
	float sum = a[0] * b[0] + a[1] * b[1];

	if (op != EU_DP2)
		sum += a[2] * b[2];
	if (op == EU_DP4)
		sum += a[3] * b[3];
	if (op == EU_DPH)
		sum += b[3];
	return sum;
}

enum eu_step eu_alu_float(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	float a[EU_LANES], b[EU_LANES], c[EU_LANES];
	unsigned int lane;

	if (eu_load_float(x, i, 0, a) || (i->sources > 1 && eu_load_float(x, i, 1, b)) ||
	    (i->sources > 2 && eu_load_float(x, i, 2, c)))
		return EU_FAILED;
	switch (i->op) {
	case EU_ADD:
		EACH(a[lane] + b[lane]);
	case EU_MUL:
		EACH(a[lane] * b[lane]);
	case EU_MAC:
		if (i->dst.type != EU_F)
			return eu_fail(x, i, EU_UNSUPPORTED, "not with halves in the accumulator");
		EACH(fmaf(a[lane], b[lane], float_acc(x, lane)));
	case EU_FRC:
		EACH(a[lane] - floorf(a[lane]));
	case EU_RNDU:
		EACH(ceilf(a[lane]));
	case EU_RNDD:
		EACH(floorf(a[lane]));
	case EU_RNDE:
		EACH(roundevenf(a[lane]));
	case EU_RNDZ:
		EACH(truncf(a[lane]));
	case EU_MAD:
		if (i->src[0].type == EU_HF && i->src[1].type == EU_HF && i->src[2].type == EU_HF &&
		    i->dst.type == EU_HF)
			return half_mads(x, i, lanes, a, b, c);
		EACH(fmaf(b[lane], c[lane], a[lane]));
	case EU_LRP:
		EACH(fmaf(a[lane], b[lane], (1 - a[lane]) * c[lane]));
	case EU_DP4:
	case EU_DPH:
	case EU_DP3:
	case EU_DP2: {
		float sums[EU_LANES];

		if (!i->align16 || i->lanes < 4)
			return eu_fail(x, i, EU_UNSUPPORTED, "a dot product in align1");
		for (lane = 0; lane < i->lanes; lane++)
			sums[lane] = dot(i->op, a + (lane & ~3u), b + (lane & ~3u));
		return eu_finish_float(x, i, lanes, sums);
	}
	default:
		return eu_fail(x, i, EU_UNSUPPORTED, "not for floats");
	}
	return eu_finish_float(x, i, lanes, a);
}

enum eu_step eu_alu_double(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	double a[EU_LANES], b[EU_LANES], c[EU_LANES];
	unsigned int lane;

	if (eu_load_double(x, i, 0, a) || (i->sources > 1 && eu_load_double(x, i, 1, b)) ||
	    (i->sources > 2 && eu_load_double(x, i, 2, c)))
		return EU_FAILED;
	switch (i->op) {
	case EU_ADD:
		EACH(a[lane] + b[lane]);
	case EU_MUL:
		EACH(a[lane] * b[lane]);
	case EU_RNDU:
		EACH(ceil(a[lane]));
	case EU_RNDD:
		EACH(floor(a[lane]));
	case EU_RNDE:
		EACH(roundeven(a[lane]));
	case EU_RNDZ:
		EACH(trunc(a[lane]));
	case EU_FRC:
		EACH(a[lane] - floor(a[lane]));
	case EU_MAD:
		EACH(fma(b[lane], c[lane], a[lane]));
	default:
		return eu_fail(x, i, EU_UNSUPPORTED, "not for doubles");
	}
	return eu_finish_double(x, i, lanes, a);
}
