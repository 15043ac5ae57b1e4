// SPDX-License-Identifier: GPL-2.0-only
/* Halves, and the floating-point mode of a thread of the GPU. */
#include "machine.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* Rounding modes as cr0 encodes them. */
enum { ROUND_EVEN, ROUND_UP, ROUND_DOWN, ROUND_ZERO };

float eu_half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
	uint32_t bits;
	float f;

	if (exponent == 31) {
		bits = sign | 0x7f800000 | mantissa << 13;
	} else if (exponent) {
		bits = sign | (exponent + 112) << 23 | mantissa << 13;
	} else if (mantissa) {
		unsigned int shift = (unsigned int)__builtin_clz(mantissa) - 21;

		bits = sign | (113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13;
	} else {
		bits = sign;
	}
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Rounds sign, exponent (of a leading one at bit 52) and 53 bits to a half. */
static uint16_t pack_half(bool negative, int exponent, uint64_t mantissa, unsigned int rounding)
{
	uint16_t sign = negative ? 0x8000 : 0;
	int drop = 42;
	uint64_t kept, rest, half;
	bool up;

	if (!mantissa)
		return sign;
	if (exponent < -14)
		drop += -14 - exponent;
	if (drop > 63)
		drop = 63;
	kept = mantissa >> drop;
	rest = mantissa & ((1ull << drop) - 1);
	half = 1ull << (drop - 1);
	if (rounding == ROUND_EVEN)
		up = rest > half || (rest == half && (kept & 1));
	else
		up = rest && rounding == (negative ? ROUND_DOWN : ROUND_UP);
	kept += up;
	/* The hidden bit adds one to the exponent, and so does a carry out of the mantissa. */
	if (exponent >= -14)
		kept += (uint64_t)(exponent + 14) << 10;
	if (kept >= 0x7c00) {
		bool infinite = rounding == ROUND_EVEN ||
				rounding == (negative ? ROUND_DOWN : ROUND_UP);

		return sign | (infinite ? 0x7c00 : 0x7bff);
	}
	return sign | (uint16_t)kept;
}

uint16_t eu_double_to_half(double d, unsigned int rounding)
{
	uint64_t bits, mantissa;
	int exponent;

	memcpy(&bits, &d, sizeof(bits));
	exponent = (int)(bits >> 52 & 0x7ff);
	mantissa = bits & 0xfffffffffffffull;
	if (exponent == 0x7ff) {
		uint16_t payload = mantissa ? 0x7e00 | (uint16_t)(mantissa >> 42) : 0x7c00;

		return (uint16_t)(bits >> 48 & 0x8000) | payload;
	}
	if (exponent)
		mantissa |= 1ull << 52;
	else
		exponent = 1;
	return pack_half(bits >> 63, exponent - 1023, mantissa, rounding);
}

uint16_t eu_float_to_half(float f, unsigned int rounding)
{
	return eu_double_to_half((double)f, rounding);
}

/*
 * eu_mode_set() - make this thread of the process calculate as cr0 of the thread of the GPU says.
 * Denormals are flushed by the general handlers, so that it works the same on each host.
 */
void eu_mode_set(struct eu_exec *x)
{
	static const int modes[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	uint32_t cr0 = eu_reg32(x->t, EU_REG_CR0);
	bool keeps = cr0 & EU_CR0_F_DENORMALS;

	fesetround(modes[cr0 >> EU_CR0_ROUNDING_SHIFT & 3]);
#ifdef __SSE__
	/* The processor flushes floats and doubles alike, so it may only if both are flushed. */
	if (!keeps && !(cr0 & EU_CR0_DF_DENORMALS)) {
		__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
		x->plain = true;
		return;
	}
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x8040u);
#endif
	x->plain = keeps;
}
