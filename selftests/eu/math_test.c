// SPDX-License-Identifier: GPL-2.0-only
/*
 * The math instruction against what Documentation/results/eu.md says of it. Quotients and square
 * roots are the host's, bit by bit. Others are within a number of ulps of the same function with
 * the longer mantissa of long double.
 */
#include "code.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#pragma STDC FENV_ACCESS ON

enum { INV = 1, LOG, EXP, SQT, RSQT, SIN, COS, FDIV = 9, POW, IDIV, IQOT, IREM, INVM, RSQTM };
enum { LANES = 16, A = 10, B = 20, RESULT = 30 };

static struct eu_thread thread;
static struct eu_exec exec;

static uint64_t random_state;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t bits_of(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

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

static void macros_are_exact_and_end_early(void **state)
{
	unsigned int n, lane, f;

	(void)state;
	random_state = 5783321;
	for (f = INVM; f <= RSQTM; f++) {
		struct eu_insn floats, doubles;

		decode(&floats, f, EU_F, EU_F);
		decode(&doubles, f, EU_DF, EU_DF);
		for (n = 0; n < OPERANDS; n += LANES) {
			float a[LANES], b[LANES];
			double c[8], d[8];

			for (lane = 0; lane < LANES; lane++)
				operands(n + lane < OPERANDS ? n + lane : lane, &a[lane], &b[lane]);
			eu_flags(&thread)[0] = 0;
			execute_with(&floats, a, b, sizeof(a), 0x4c0);
			assert_int_equal(eu_flags(&thread)[0], 0xffff);
			for (lane = 0; lane < LANES; lane++)
				check_exact(f, eu_reg32(&thread, RESULT * 32 + lane * 4),
					    f == INVM ? a[lane] / b[lane] : sqrtf(a[lane]), a[lane],
					    b[lane]);
			for (lane = 0; lane < 8; lane++) {
				uint64_t v = random64(), w = random64();

				memcpy(&c[lane], &v, 8);
				memcpy(&d[lane], &w, 8);
			}
			eu_flags(&thread)[0] = 0;
			execute_with(&doubles, c, d, sizeof(c), 0x4c0);
			assert_int_equal(eu_flags(&thread)[0], 0xff);
			for (lane = 0; lane < 8; lane++) {
				double want = f == INVM ? c[lane] / d[lane] : sqrt(c[lane]), got;

				memcpy(&got, thread.reg + RESULT * 32 + lane * 8, 8);
				if (isnan(want) ? !isnan(got) : memcmp(&got, &want, 8))
					fail_msg("macro %u of %a, %a: %a, not %a", f, c[lane],
						 d[lane], got, want);
			}
		}
	}
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
		cmocka_unit_test(macros_are_exact_and_end_early),
		cmocka_unit_test(integers_divide),
		cmocka_unit_test(functions_are_within_their_ulps),
		cmocka_unit_test(functions_of_halves_are_within_their_ulps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
