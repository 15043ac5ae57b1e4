// SPDX-License-Identifier: GPL-2.0-only
/*
 * The math instruction against what Documentation/results/eu.md says of it. Quotients and square
 * roots are the host's, bit by bit. Others are within a number of ulps of the same function with
 * the longer mantissa of long double.
 */
#include "registers.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#pragma STDC FENV_ACCESS ON

enum { INV = 1, LOG, EXP, SQT, RSQT, SIN, COS, FDIV = 9, POW, IDIV, IQOT, IREM, INVM, RSQTM };
enum { LANES = 16, A = 10, B = 20, RESULT = 30 };

static float float_of(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

/* A function of two operands in whole registers. */
static void decode(struct eu_insn *i, unsigned int function, unsigned int type, unsigned int to)
{
	struct code c = { .count = 0 };
	unsigned int lanes = type == EU_DF ? 8 : LANES;
	uint32_t *dw = emit2(&c, EU_MATH, lanes, VEC(to, RESULT), VEC(type, A), VEC(type, B));

	/* Halves that become a half are packed; of other sizes, a lane is a dword. */
	if (type == EU_HF || type == EU_DF) {
		put_field(dw, 88, 85, type == EU_HF ? 5 : 3);
		put_field(dw, 84, 82, type == EU_HF ? 4 : 2);
		put_field(dw, 120, 117, type == EU_HF ? 5 : 3);
		put_field(dw, 116, 114, type == EU_HF ? 4 : 2);
	}
	put_field(dw, 27, 24, function);
	assert_int_equal(eu_decode((const uint8_t *)dw, 16, i), 16);
	eu_bind(i);
	assert_null(i->refused);
}

/* Executes it as a thread whose cr0 is that, and calculates as the test does again. */
static void execute(const struct eu_insn *i, uint32_t cr0)
{
	exec.t = &thread;
	thread.mask = ~0u;
	eu_set_reg32(&thread, EU_REG_CR0, cr0);
	eu_mode_set(&exec);
	assert_int_equal(i->general(&exec, i), EU_NEXT);
	fesetenv(FE_DFL_ENV);
}

static void execute_with(const struct eu_insn *i, const void *a, const void *b, size_t bytes,
			 uint32_t cr0)
{
	memcpy(thread.reg + A * 32, a, bytes);
	memcpy(thread.reg + B * 32, b, bytes);
	execute(i, cr0);
}

/* ---- operands ---- */

enum { SPECIALS = 24, SWEEP = 256 * 2 * 12, NEAR = 8192, RANDOM = 60000 };

static const float specials[SPECIALS] = {
	0.0f,
	-0.0f,
	1.0f,
	-1.0f,
	2.0f,
	0.5f,
	-2.0f,
	3.0f,
	INFINITY,
	-INFINITY,
	NAN,
	0x1p-149f,
	-1e-44f,
	1e-39f,
	0x1p-126f,
	0x1.fffffcp-127f,
	0x1.fffffep127f,
	-0x1.fffffep127f,
	128.0f,
	-149.5f,
	127.9999f,
	-126.0f,
	0x1.921fb6p1f,
	0x1p96f,
};

enum { OPERANDS = SPECIALS * SPECIALS + SWEEP + NEAR + RANDOM };

/*
 * Pairs of operands: all pairs of what is special; each exponent, denormals, infinities and NaNs
 * among them; places where a function is hard; anything.
 */
static void operands(unsigned int n, float *a, float *b)
{
	uint32_t v = (uint32_t)random64(), w = (uint32_t)random64();

	if (n < SPECIALS * SPECIALS) {
		*a = specials[n / SPECIALS];
		*b = specials[n % SPECIALS];
		return;
	}
	n -= SPECIALS * SPECIALS;
	if (n < SWEEP) {
		*a = float_of((n % 512) << 23 | (v & 0x7fffff));
		*b = float_of((n / 512 * 41 + v % 3 * 85) % 256 << 23 | (w & 0x807fffff));
		return;
	}
	n -= SWEEP;
	if (n < NEAR) {
		/* Around 1, where a logarithm loses its digits; around pi/2, as a cosine. */
		*a = n % 2 ? float_of(0x3f800000 - 2048 + n / 2) :
			     (float)(v % 4000) * 0x1.921fb6p0f;
		*b = (float)(int32_t)w * 0x1p-26f;
		return;
	}
	*a = float_of(v);
	*b = float_of(w);
}

/* Halves from the one with the bits @n on, and any others. */
static void halves(unsigned int n, _Float16 a[LANES], _Float16 b[LANES])
{
	unsigned int lane;

	for (lane = 0; lane < LANES; lane++) {
		uint16_t v = (uint16_t)(n + lane), w = (uint16_t)random64();

		memcpy(&a[lane], &v, 2);
		memcpy(&b[lane], &w, 2);
	}
}

/* ---- what is exact ---- */

static float exact(unsigned int function, float a, float b)
{
	switch (function) {
	case INV:
		return 1 / a;
	case SQT:
		return sqrtf(a);
	default:
		return a / b;
	}
}

static float flushed(float f)
{
	return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

static void check_exact(unsigned int function, uint32_t got, float want, float a, float b)
{
	if (isnan(want) ? !isnan(float_of(got)) : got != bits_of(want))
		fail_msg("function %u of %a, %a: %a, not %a", function, (double)a, (double)b,
			 (double)float_of(got), (double)want);
}

static void quotients_and_roots_are_exact(void **state)
{
	static const unsigned int functions[] = { INV, SQT, FDIV };
	static const int modes[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	unsigned int f, n, lane, mode, keep;

	(void)state;
	random_state = 88172645463325252ull;
	for (f = 0; f < 3; f++) {
		struct eu_insn i;

		decode(&i, functions[f], EU_F, EU_F);
		for (n = 0; n + LANES <= OPERANDS; n += LANES) {
			volatile float a[LANES], b[LANES];

			for (lane = 0; lane < LANES; lane++) {
				float p, q;

				operands(n + lane, &p, &q);
				a[lane] = p;
				b[lane] = q;
				eu_set_reg32(&thread, A * 32 + lane * 4, bits_of(p));
				eu_set_reg32(&thread, B * 32 + lane * 4, bits_of(q));
			}
			mode = n / LANES % 4;
			keep = n / LANES % 8 < 6;
			execute(&i, mode << EU_CR0_ROUNDING_SHIFT | (keep ? 0x4c0 : 0));
			for (lane = 0; lane < LANES; lane++) {
				volatile float p = a[lane], q = b[lane], want;

				if (!keep) {
					p = flushed(p);
					q = flushed(q);
				}
				fesetround(modes[mode]);
				want = exact(functions[f], p, q);
				fesetround(FE_TONEAREST);
				/* What rounds up to the smallest normal number may be tiny. */
				if (!keep && fabsf(want) == 0x1p-126f)
					continue;
				check_exact(functions[f], eu_reg32(&thread, RESULT * 32 + lane * 4),
					    keep ? want : flushed(want), a[lane], b[lane]);
			}
		}
	}
}

static void check_half(unsigned int function, const uint16_t *got, double want, double a, double b)
{
	_Float16 half = (_Float16)want;
	uint16_t bits;

	memcpy(&bits, &half, 2);
	if (isnan(want) ? (*got & 0x7fff) <= 0x7c00 : *got != bits)
		fail_msg("function %u of halves %a, %a: 0x%04x, not 0x%04x", function, a, b, *got,
			 bits);
}

/* All halves; the quotient of each and another. */
static void quotients_and_roots_of_halves_are_exact(void **state)
{
	static const unsigned int functions[] = { INV, SQT, FDIV };
	unsigned int f, n, lane;

	(void)state;
	random_state = 362436069;
	for (f = 0; f < 3; f++) {
		struct eu_insn i;

		decode(&i, functions[f], EU_HF, EU_HF);
		for (n = 0; n < 3 * 65536; n += LANES) {
			_Float16 a[LANES], b[LANES];

			halves(n, a, b);
			execute_with(&i, a, b, sizeof(a), 0x4c0);
			for (lane = 0; lane < LANES; lane++) {
				double p = (double)a[lane], q = (double)b[lane];
				uint16_t got;

				memcpy(&got, thread.reg + RESULT * 32 + lane * 2, 2);
				check_half(functions[f], &got,
					   functions[f] == INV ? 1 / p :
					   functions[f] == SQT ? sqrt(p) :
								 p / q,
					   p, q);
			}
		}
	}
}

/* A float would be rounded first: 1 + 2^-11 + 2^-26 is more than half way to the next half. */
static void a_quotient_of_floats_becomes_a_half_at_once(void **state)
{
	struct eu_insn i;
	unsigned int n, lane;

	(void)state;
	random_state = 521288629;
	decode(&i, FDIV, EU_F, EU_HF);
	for (n = 0; n < 60000; n += LANES) {
		float a[LANES], b[LANES];

		for (lane = 0; lane < LANES; lane++) {
			/* Near the middle of two halves, as often as not. */
			b[lane] = float_of(0x3f800000 | (random64() & 0x7fffff));
			a[lane] = n % 32 ? b[lane] * (1 + (float)(random64() % 1024 * 2 + 1) *
								  0x1p-11f) :
					   float_of(0x38000000 + (random64() & 0xfffffff));
			if (n == 0 && lane == 0) {
				a[lane] = 0x1.002002p0f;
				b[lane] = 0x1.fffffep-1f;
			}
		}
		execute_with(&i, a, b, sizeof(a), 0x4c0);
		for (lane = 0; lane < LANES; lane++) {
			double p = (double)a[lane], q = (double)b[lane];
			uint16_t got;

			memcpy(&got, thread.reg + RESULT * 32 + lane * 2, 2);
			check_half(FDIV, &got, p / q, p, q);
		}
	}
}

/* ---- macros ---- */

/* A register, and the accumulator that has more bits of it; 8: none. */
struct term {
	uint8_t reg, macro;
	bool negative;
};

/* @to = @a + @b * @c */
struct step {
	struct term to, a, b, c;
};

enum { ZERO = 40, ONE_REG, HALF, THREE_HALVES, T0 = 50 };

#define WITH(n)              \
	{                    \
		T0 + n, n, 0 \
	}
#define MINUS(n)             \
	{                    \
		T0 + n, n, 1 \
	}
#define PLAIN(reg)        \
	{                 \
		reg, 8, 0 \
	}
#define PLAIN_MINUS(reg)  \
	{                 \
		reg, 8, 1 \
	}

/* What compilers make of a quotient and a root: Newton's iterations, the last of the result. */
static const struct step divide_floats[] = {
	{ WITH(1), PLAIN(ZERO), PLAIN(A), WITH(0) },
	{ WITH(2), PLAIN(ONE_REG), PLAIN_MINUS(B), WITH(0) },
	{ WITH(3), WITH(0), WITH(2), WITH(0) },
	{ WITH(4), PLAIN(A), PLAIN_MINUS(B), WITH(1) },
	{ WITH(5), WITH(1), WITH(4), WITH(3) },
	{ WITH(6), PLAIN(A), PLAIN_MINUS(B), WITH(5) },
	{ PLAIN(RESULT), WITH(5), WITH(6), WITH(3) },
};

static const struct step divide_doubles[] = {
	{ WITH(1), PLAIN(ZERO), PLAIN(A), WITH(0) },
	{ WITH(2), PLAIN(ONE_REG), PLAIN_MINUS(B), WITH(0) },
	{ WITH(3), PLAIN(A), PLAIN_MINUS(B), WITH(1) },
	{ WITH(4), WITH(0), WITH(2), WITH(0) },
	{ WITH(5), PLAIN(ONE_REG), PLAIN_MINUS(B), WITH(4) },
	{ WITH(6), WITH(0), WITH(2), WITH(4) },
	{ WITH(7), WITH(1), WITH(3), WITH(4) },
	{ WITH(0), WITH(4), WITH(6), WITH(5) },
	{ WITH(1), PLAIN(A), PLAIN_MINUS(B), WITH(7) },
	{ PLAIN(RESULT), WITH(7), WITH(1), WITH(0) },
};

static const struct step root_floats[] = {
	{ WITH(1), PLAIN(ZERO), PLAIN(HALF), WITH(0) }, { WITH(2), PLAIN(ZERO), PLAIN(A), WITH(0) },
	{ WITH(3), PLAIN(HALF), MINUS(2), WITH(1) },	{ WITH(4), WITH(1), WITH(3), WITH(1) },
	{ WITH(5), WITH(2), WITH(3), WITH(2) },		{ WITH(6), PLAIN(A), MINUS(5), WITH(5) },
	{ PLAIN(RESULT), WITH(5), WITH(4), WITH(6) },
};

static const struct step root_doubles[] = {
	{ WITH(1), PLAIN(ZERO), PLAIN(HALF), WITH(0) },
	{ WITH(2), PLAIN(ZERO), PLAIN(A), WITH(0) },
	{ WITH(3), PLAIN(HALF), MINUS(2), WITH(1) },
	{ WITH(5), PLAIN(ONE_REG), PLAIN(THREE_HALVES), WITH(3) },
	{ WITH(6), PLAIN(ZERO), WITH(3), WITH(2) },
	{ WITH(7), PLAIN(ZERO), WITH(3), WITH(1) },
	{ WITH(6), WITH(2), WITH(5), WITH(6) },
	{ WITH(5), WITH(1), WITH(5), WITH(7) },
	{ WITH(1), PLAIN(A), MINUS(6), WITH(6) },
	{ PLAIN(RESULT), WITH(6), WITH(1), WITH(5) },
};

/* One of math.invm and math.rsqtm with its sequence, for one register of floats or doubles. */
struct macro {
	unsigned int function, type, count;
	struct eu_insn estimate, step[10];
};

static void decode_step(struct eu_insn *i, const struct step *s, unsigned int type)
{
	const struct term *source[] = { &s->a, &s->b, &s->c };
	struct code c = { .count = 0 };
	uint32_t *dw = emit(&c, EU_MADM, type == EU_DF ? 4 : 8);
	unsigned int n;

	put_field(dw, 8, 8, 1);
	put_field(dw, 45, 43, type == EU_DF ? 3 : 0);
	put_field(dw, 48, 46, type == EU_DF ? 3 : 0);
	put_field(dw, 63, 56, s->to.reg);
	put_field(dw, 52, 49, s->to.macro);
	for (n = 0; n < 3; n++) {
		unsigned int at = 64 + 21 * n;

		put_field(dw, at + 4, at + 1, source[n]->macro);
		put_field(dw, at + 19, at + 12, source[n]->reg);
		put_field(dw, 38 + 2 * n, 38 + 2 * n, source[n]->negative);
	}
	assert_int_equal(eu_decode((const uint8_t *)dw, 16, i), 16);
	eu_bind(i);
	assert_null(i->refused);
}

static void decode_macro(struct macro *m, unsigned int function, unsigned int type)
{
	static const struct step *const steps[2][2] = { { divide_floats, divide_doubles },
							{ root_floats, root_doubles } };
	struct code c = { .count = 0 };
	uint32_t *dw = emit2(&c, EU_MATH, type == EU_DF ? 4 : 8, VEC(type, T0), VEC(type, A),
			     VEC(type, B));
	unsigned int n;

	m->function = function;
	m->type = type;
	m->count = type == EU_DF ? 10 : 7;
	put_field(dw, 8, 8, 1);
	put_field(dw, 27, 24, function);
	put_field(dw, 67, 64, 8);
	put_field(dw, 99, 96, 8);
	assert_int_equal(eu_decode((const uint8_t *)dw, 16, &m->estimate), 16);
	eu_bind(&m->estimate);
	assert_null(m->estimate.refused);
	for (n = 0; n < m->count; n++)
		decode_step(&m->step[n], &steps[function - INVM][type == EU_DF][n], type);
}

/* Registers of constants, in whole. */
static void constants(unsigned int type)
{
	static const double values[] = { 0, 1, 0.5, 1.5 };
	unsigned int n, lane;

	for (n = 0; n < 4; n++)
		for (lane = 0; lane < 8; lane++) {
			float f = (float)values[n];
			uint8_t *to = thread.reg + (ZERO + n) * 32;

			if (type == EU_F)
				memcpy(to + lane * 4, &f, 4);
			else
				memcpy(to + lane / 2 * 8, &values[n], 8);
		}
}

/* Returns lanes whose result was known at once. The last step's rounding is that of @cr0. */
static uint32_t run_macro(const struct macro *m, const void *a, const void *b, uint32_t cr0)
{
	unsigned int bytes = m->type == EU_DF ? 8 : 4, lane, n;
	uint32_t early;

	constants(m->type);
	eu_flags(&thread)[0] = 0;
	execute_with(&m->estimate, a, b, 32, 0x4c0);
	early = eu_flags(&thread)[0];
	for (n = 0; n < m->count; n++)
		execute(&m->step[n], n == m->count - 1 ? cr0 : 0x4c0);
	for (lane = 0; lane < 32 / bytes; lane++)
		if (early >> lane & 1)
			memcpy(thread.reg + RESULT * 32 + lane * bytes,
			       thread.reg + T0 * 32 + lane * bytes, bytes);
	return early;
}

/* Zeros, infinities and NaNs are known at once, and nothing else is. */
static bool known(unsigned int function, double a, double b)
{
	if (a == 0 || !isfinite(a))
		return true;
	return function == INVM ? b == 0 || !isfinite(b) : a < 0;
}

static void check_macro_doubles(const struct macro *m, const double a[4], const double b[4],
				unsigned int mode)
{
	static const int modes[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	uint32_t early = run_macro(m, a, b, 0x4c0 | mode << 4);
	unsigned int lane;

	for (lane = 0; lane < 4; lane++) {
		double want, got;

		fesetround(modes[mode]);
		want = m->function == INVM ? a[lane] / b[lane] : sqrt(a[lane]);
		fesetround(FE_TONEAREST);
		memcpy(&got, thread.reg + RESULT * 32 + lane * 8, 8);
		if (isnan(want) ? !isnan(got) : memcmp(&got, &want, 8))
			fail_msg("macro %u of %a, %a, mode %u: %a, not %a", m->function, a[lane],
				 b[lane], mode, got, want);
		assert_int_equal(early >> lane & 1, known(m->function, a[lane], b[lane]));
	}
}

static double double_of(uint64_t v)
{
	double d;

	memcpy(&d, &v, 8);
	return d;
}

/* The bits of two operands: anything, denormals, quotients that are denormals, hard ones. */
static void double_operands(unsigned int n, double *a, double *b)
{
	uint64_t v = random64(), w = random64(), mantissa = (1ull << 52) - 1;

	switch (n % 5) {
	case 0:
		w = 0x3ff0000000000000ull | (w & mantissa);
		v &= 0x81ffffffffffffffull;
		break;
	case 1:
		v &= mantissa;
		break;
	case 2:
		w &= mantissa;
		break;
	case 3:
		/* A root near the middle of two numbers, a quotient near 1. */
		*a = (double)(v >> 12 | 1ull << 52) + 0.5;
		*a *= *a;
		*b = *a * (1 - (double)(w % 64) * 0x1p-53);
		return;
	}
	*a = double_of(v);
	*b = double_of(w);
}

static void macros_are_exact(void **state)
{
	static const double hard[4][2] = { { 1, 0x1.fffffffffffffp0 },
					   { 0x1.fffffffffffffp1, 0x1.fffffffffffffp-1 },
					   { 0x1p-1074, 0x1.fffffffffffffp1023 },
					   { 0x1.fffffffffffffp1023, 0x1p-1074 } };
	unsigned int n, lane, f;

	(void)state;
	random_state = 5783321;
	for (f = INVM; f <= RSQTM; f++) {
		struct macro floats, doubles;
		double c[4], d[4];

		decode_macro(&floats, f, EU_F);
		decode_macro(&doubles, f, EU_DF);
		for (n = 0; n < OPERANDS; n += 8) {
			float a[8], b[8];
			uint32_t early;

			for (lane = 0; lane < 8; lane++)
				operands(n + lane < OPERANDS ? n + lane : lane, &a[lane], &b[lane]);
			early = run_macro(&floats, a, b, 0x4c0);
			for (lane = 0; lane < 8; lane++) {
				check_exact(f, eu_reg32(&thread, RESULT * 32 + lane * 4),
					    f == INVM ? a[lane] / b[lane] : sqrtf(a[lane]), a[lane],
					    b[lane]);
				assert_int_equal(early >> lane & 1,
						 known(f, (double)a[lane], (double)b[lane]));
			}
		}
		for (n = 0; n < 40000; n += 4) {
			for (lane = 0; lane < 4; lane++)
				double_operands(n + lane, &c[lane], &d[lane]);
			check_macro_doubles(&doubles, c, d, n / 4 % 4);
		}
		for (lane = 0; lane < 4; lane++) {
			c[lane] = hard[lane][0];
			d[lane] = hard[lane][1];
		}
		check_macro_doubles(&doubles, c, d, 0);
	}
}

/* What the type cannot hold comes back as soon as it can; without the accumulator it is lost. */
static void macros_have_two_more_bits_of_exponent(void **state)
{
	static const struct step twice[2][2] = {
		{ { WITH(1), PLAIN(ZERO), PLAIN(A), PLAIN(A) },
		  { PLAIN(RESULT), PLAIN(ZERO), WITH(1), PLAIN(B) } },
		{ { PLAIN(T0), PLAIN(ZERO), PLAIN(A), PLAIN(A) },
		  { PLAIN(RESULT), PLAIN(ZERO), PLAIN(T0), PLAIN(B) } },
	};
	static const float a[8] = { 0x1p100f, 0x1p-100f }, b[8] = { 0x1p-149f, 0x1p127f };
	struct eu_insn i;
	unsigned int n;

	(void)state;
	constants(EU_F);
	for (n = 0; n < 2; n++) {
		decode_step(&i, &twice[n][0], EU_F);
		execute_with(&i, a, b, sizeof(a), 0x4c0);
		decode_step(&i, &twice[n][1], EU_F);
		execute(&i, 0x4c0);
		assert_int_equal(eu_reg32(&thread, RESULT * 32), bits_of(n ? INFINITY : 0x1p51f));
		assert_int_equal(eu_reg32(&thread, RESULT * 32 + 4), bits_of(n ? 0 : 0x1p-73f));
	}
}

static void macros_of_other_forms_are_refused(void **state)
{
	struct macro m;
	struct eu_insn i;
	uint32_t raw[4];

	(void)state;
	decode_macro(&m, INVM, EU_F);
	memcpy(raw, m.step[0].raw, sizeof(raw));
	put_field(raw, 8, 8, 0); /* align1 */
	eu_decode((const uint8_t *)raw, 16, &i);
	assert_non_null(i.refused);
	memcpy(raw, m.step[0].raw, sizeof(raw));
	put_field(raw, 52, 49, 9); /* acc11 */
	eu_decode((const uint8_t *)raw, 16, &i);
	assert_non_null(i.refused);
	memcpy(raw, m.step[0].raw, sizeof(raw));
	put_field(raw, 23, 21, 4); /* 16 lanes */
	eu_decode((const uint8_t *)raw, 16, &i);
	assert_non_null(i.refused);
	memcpy(raw, m.estimate.raw, sizeof(raw));
	put_field(raw, 8, 8, 0);
	eu_decode((const uint8_t *)raw, 16, &i);
	assert_non_null(i.refused);
}

static void integers_divide(void **state)
{
	static const uint32_t some[] = { 0, 1, 2, 7, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff };
	unsigned int n, lane, f, is_signed;

	(void)state;
	random_state = 1099087573;
	for (n = 0; n < 6000; n++) {
		struct eu_insn i;
		uint32_t a[LANES], b[LANES];

		f = IDIV + n % 3;
		is_signed = n / 3 % 2;
		decode(&i, f, is_signed ? EU_D : EU_UD, is_signed ? EU_D : EU_UD);
		for (lane = 0; lane < LANES; lane++) {
			a[lane] = n % 4 ? (uint32_t)random64() >> random64() % 32 :
					  some[random64() % 8];
			b[lane] = n % 5 ? (uint32_t)random64() >> random64() % 32 :
					  some[random64() % 8];
		}
		execute_with(&i, a, b, sizeof(a), 0x4c0);
		for (lane = 0; lane < LANES; lane++) {
			int64_t p = is_signed ? (int32_t)a[lane] : (int64_t)a[lane];
			int64_t q = is_signed ? (int32_t)b[lane] : (int64_t)b[lane];
			int64_t most = !is_signed ? (int64_t)UINT32_MAX :
				       p < 0	  ? (int64_t)INT32_MIN :
						    (int64_t)INT32_MAX;
			uint32_t quotient = (uint32_t)(q ? p / q : most);
			uint32_t remainder = (uint32_t)(q ? p % q : most);

			assert_int_equal(eu_reg32(&thread, RESULT * 32 + lane * 4),
					 f == IREM ? remainder : quotient);
			/* Both: the remainder is behind the quotient. */
			if (f == IDIV)
				assert_int_equal(eu_reg32(&thread, RESULT * 32 + 64 + lane * 4),
						 remainder);
		}
	}
}

/* The accumulator has more bits than a dword: its lowest number has no opposite in 64 of them. */
static void the_lowest_accumulator_is_divided_by_minus_one(void **state)
{
	const uint64_t lowest = 1ull << 63;
	struct code c = { .count = 0 };
	struct eu_insn i;
	uint32_t *dw;

	(void)state;
	dw = emit1(&c, EU_MOV, 1, ARF(EU_Q, 0x20), ONE(EU_Q, A, 0));
	assert_int_equal(eu_decode((const uint8_t *)dw, 16, &i), 16);
	eu_bind(&i);
	execute_with(&i, &lowest, &lowest, sizeof(lowest), 0x4c0);
	dw = emit2(&c, EU_MATH, 1, ONE(EU_D, RESULT, 0), ARF(EU_D, 0x20), ONE(EU_D, B, 0));
	put_field(dw, 27, 24, IDIV);
	assert_int_equal(eu_decode((const uint8_t *)dw, 16, &i), 16);
	eu_bind(&i);
	assert_null(i.refused);
	memset(thread.reg + RESULT * 32, 0x55, 64);
	memset(thread.reg + B * 32, 0xff, 4);
	execute(&i, 0x4c0);
	assert_int_equal(dword(RESULT, 0), 0);
	assert_int_equal(dword(RESULT + 1, 0), 0);
}

/* ---- what is within ulps ---- */

static long double function(unsigned int f, long double a, long double b)
{
	switch (f) {
	case LOG:
		return log2l(a);
	case EXP:
		return exp2l(a);
	case RSQT:
		return 1 / sqrtl(a);
	case SIN:
		return sinl(a);
	case COS:
		return cosl(a);
	default:
		return powl(fabsl(a), b);
	}
}

/*
 * How many units in the last place of a number near @want lie between both. An infinity is the
 * number that would follow the largest one.
 */
static long double ulps(long double got, long double want, int digits, int least, int most)
{
	int exponent;

	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	if (fabsl(want) > ldexpl(1, most))
		want = copysignl(ldexpl(1, most), want);
	if (isinf(got))
		got = copysignl(ldexpl(1, most), got);
	if (want == 0 && got == 0)
		return !signbit(got) == !signbit(want) ? 0 : INFINITY;
	exponent = least;
	if (want != 0)
		frexpl(want, &exponent);
	if (exponent > most)
		exponent = most;
	exponent = exponent - digits < least ? least : exponent - digits;
	return fabsl(got - want) / ldexpl(1, exponent);
}

static void functions_are_within_their_ulps(void **state)
{
	static const unsigned int functions[] = { LOG, EXP, RSQT, SIN, COS, POW };
	unsigned int f, n, lane, mode;

	(void)state;
	random_state = 2463534242;
	for (f = 0; f < 6; f++) {
		long double worst[2] = { 0 };
		struct eu_insn i;

		decode(&i, functions[f], EU_F, EU_F);
		for (n = 0; n + LANES <= OPERANDS; n += LANES) {
			float a[LANES], b[LANES], got[LANES];

			for (lane = 0; lane < LANES; lane++)
				operands(n + lane, &a[lane], &b[lane]);
			mode = n / LANES % 8 < 5 ? 0 : n / LANES % 8 - 4;
			execute_with(&i, a, b, sizeof(a), mode << EU_CR0_ROUNDING_SHIFT | 0x4c0);
			memcpy(got, thread.reg + RESULT * 32, sizeof(got));
			for (lane = 0; lane < LANES; lane++) {
				long double want = function(functions[f], (long double)a[lane],
							    (long double)b[lane]);
				long double off = ulps((long double)got[lane], want, 24, -149, 128);

				/* To nearest, a result is rounded once; else towards one side. */
				if (off > (mode ? 1.01L : 0.51L))
					fail_msg("function %u of %a, %a, mode %u: %a, not %La",
						 functions[f], (double)a[lane], (double)b[lane],
						 mode, (double)got[lane], want);
				worst[mode != 0] = fmaxl(worst[mode != 0], off);
			}
		}
		printf("function %u: %.4Lf ulps, %.4Lf in other modes than to nearest\n",
		       functions[f], worst[0], worst[1]);
	}
}

static void functions_of_halves_are_within_their_ulps(void **state)
{
	static const unsigned int functions[] = { LOG, EXP, RSQT, SIN, COS, POW };
	unsigned int f, n, lane;

	(void)state;
	random_state = 668265263;
	for (f = 0; f < 6; f++) {
		struct eu_insn i;

		decode(&i, functions[f], EU_HF, EU_HF);
		for (n = 0; n < 65536; n += LANES) {
			_Float16 a[LANES], b[LANES], got[LANES];

			halves(n, a, b);
			execute_with(&i, a, b, sizeof(a), 0x4c0);
			memcpy(got, thread.reg + RESULT * 32, sizeof(got));
			for (lane = 0; lane < LANES; lane++) {
				double p = (double)a[lane], q = (double)b[lane];
				long double want =
					function(functions[f], (long double)p, (long double)q);

				if (ulps((long double)(double)got[lane], want, 11, -24, 16) > 0.51L)
					fail_msg("function %u of halves %a, %a: %a, not %La",
						 functions[f], p, q, (double)got[lane], want);
			}
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotients_and_roots_are_exact),
		cmocka_unit_test(quotients_and_roots_of_halves_are_exact),
		cmocka_unit_test(a_quotient_of_floats_becomes_a_half_at_once),
		cmocka_unit_test(macros_are_exact),
		cmocka_unit_test(macros_have_two_more_bits_of_exponent),
		cmocka_unit_test(macros_of_other_forms_are_refused),
		cmocka_unit_test(integers_divide),
		cmocka_unit_test(the_lowest_accumulator_is_divided_by_minus_one),
		cmocka_unit_test(functions_are_within_their_ulps),
		cmocka_unit_test(functions_of_halves_are_within_their_ulps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
