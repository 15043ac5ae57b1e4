// SPDX-License-Identifier: GPL-2.0-only
/* Formats of texels, and conversion from and to the 32-bit channels that kernels see. */
#include "machine.h"

#include <math.h>
#include <string.h>

#define F(code, type, bytes, r, g, b, a, sr, sg, sb, sa)                        \
	{                                                                       \
		code, type, { r, g, b, a }, { sr, sg, sb, sa }, bytes, false, 0 \
	}
#define LUMINANCE(code, type, bytes, r, a, kind)                               \
	{                                                                      \
		code, type, { r, 0, 0, a }, { 0, 0, 0, 0 }, bytes, false, kind \
	}
#define SRGB(code, sr, sb)                                                    \
	{                                                                     \
		code, EU_UNORM, { 8, 8, 8, 8 }, { sr, 8, sb, 24 }, 4, true, 0 \
	}

static const struct eu_format formats[] = {
	F(0x000, EU_FLOAT, 16, 32, 32, 32, 32, 0, 32, 64, 96),
	F(0x001, EU_SINT, 16, 32, 32, 32, 32, 0, 32, 64, 96),
	F(0x002, EU_UINT, 16, 32, 32, 32, 32, 0, 32, 64, 96),
	F(0x040, EU_FLOAT, 12, 32, 32, 32, 0, 0, 32, 64, 0),
	F(0x041, EU_SINT, 12, 32, 32, 32, 0, 0, 32, 64, 0),
	F(0x042, EU_UINT, 12, 32, 32, 32, 0, 0, 32, 64, 0),
	F(0x080, EU_UNORM, 8, 16, 16, 16, 16, 0, 16, 32, 48),
	F(0x081, EU_SNORM, 8, 16, 16, 16, 16, 0, 16, 32, 48),
	F(0x082, EU_SINT, 8, 16, 16, 16, 16, 0, 16, 32, 48),
	F(0x083, EU_UINT, 8, 16, 16, 16, 16, 0, 16, 32, 48),
	F(0x084, EU_FLOAT, 8, 16, 16, 16, 16, 0, 16, 32, 48),
	F(0x085, EU_FLOAT, 8, 32, 32, 0, 0, 0, 32, 0, 0),
	F(0x086, EU_SINT, 8, 32, 32, 0, 0, 0, 32, 0, 0),
	F(0x087, EU_UINT, 8, 32, 32, 0, 0, 0, 32, 0, 0),
	F(0x0c0, EU_UNORM, 4, 8, 8, 8, 8, 16, 8, 0, 24),
	SRGB(0x0c1, 16, 0),
	F(0x0c2, EU_UNORM, 4, 10, 10, 10, 2, 0, 10, 20, 30),
	F(0x0c4, EU_UINT, 4, 10, 10, 10, 2, 0, 10, 20, 30),
	F(0x0c7, EU_UNORM, 4, 8, 8, 8, 8, 0, 8, 16, 24),
	SRGB(0x0c8, 0, 16),
	F(0x0c9, EU_SNORM, 4, 8, 8, 8, 8, 0, 8, 16, 24),
	F(0x0ca, EU_SINT, 4, 8, 8, 8, 8, 0, 8, 16, 24),
	F(0x0cb, EU_UINT, 4, 8, 8, 8, 8, 0, 8, 16, 24),
	F(0x0cc, EU_UNORM, 4, 16, 16, 0, 0, 0, 16, 0, 0),
	F(0x0cd, EU_SNORM, 4, 16, 16, 0, 0, 0, 16, 0, 0),
	F(0x0ce, EU_SINT, 4, 16, 16, 0, 0, 0, 16, 0, 0),
	F(0x0cf, EU_UINT, 4, 16, 16, 0, 0, 0, 16, 0, 0),
	F(0x0d0, EU_FLOAT, 4, 16, 16, 0, 0, 0, 16, 0, 0),
	F(0x0d1, EU_UNORM, 4, 10, 10, 10, 2, 20, 10, 0, 30),
	F(0x0d6, EU_SINT, 4, 32, 0, 0, 0, 0, 0, 0, 0),
	F(0x0d7, EU_UINT, 4, 32, 0, 0, 0, 0, 0, 0, 0),
	F(0x0d8, EU_FLOAT, 4, 32, 0, 0, 0, 0, 0, 0, 0),
	F(0x0e9, EU_UNORM, 4, 8, 8, 8, 0, 16, 8, 0, 0),
	F(0x0eb, EU_UNORM, 4, 8, 8, 8, 0, 0, 8, 16, 0),
	F(0x100, EU_UNORM, 2, 5, 6, 5, 0, 11, 5, 0, 0),
	F(0x102, EU_UNORM, 2, 5, 5, 5, 1, 10, 5, 0, 15),
	F(0x104, EU_UNORM, 2, 4, 4, 4, 4, 8, 4, 0, 12),
	F(0x106, EU_UNORM, 2, 8, 8, 0, 0, 0, 8, 0, 0),
	F(0x107, EU_SNORM, 2, 8, 8, 0, 0, 0, 8, 0, 0),
	F(0x108, EU_SINT, 2, 8, 8, 0, 0, 0, 8, 0, 0),
	F(0x109, EU_UINT, 2, 8, 8, 0, 0, 0, 8, 0, 0),
	F(0x10a, EU_UNORM, 2, 16, 0, 0, 0, 0, 0, 0, 0),
	F(0x10b, EU_SNORM, 2, 16, 0, 0, 0, 0, 0, 0, 0),
	F(0x10c, EU_SINT, 2, 16, 0, 0, 0, 0, 0, 0, 0),
	F(0x10d, EU_UINT, 2, 16, 0, 0, 0, 0, 0, 0, 0),
	F(0x10e, EU_FLOAT, 2, 16, 0, 0, 0, 0, 0, 0, 0),
	LUMINANCE(0x111, EU_UNORM, 2, 16, 0, 2),
	LUMINANCE(0x112, EU_UNORM, 2, 16, 0, 1),
	LUMINANCE(0x113, EU_UNORM, 2, 0, 16, 0),
	F(0x140, EU_UNORM, 1, 8, 0, 0, 0, 0, 0, 0, 0),
	F(0x141, EU_SNORM, 1, 8, 0, 0, 0, 0, 0, 0, 0),
	F(0x142, EU_SINT, 1, 8, 0, 0, 0, 0, 0, 0, 0),
	F(0x143, EU_UINT, 1, 8, 0, 0, 0, 0, 0, 0, 0),
	LUMINANCE(0x144, EU_UNORM, 1, 0, 8, 0),
	LUMINANCE(0x145, EU_UNORM, 1, 8, 0, 2),
	LUMINANCE(0x146, EU_UNORM, 1, 8, 0, 1),
};

/** eu_format_of() - the format with a code of RENDER_SURFACE_STATE, NULL if it is not known */
const struct eu_format *eu_format_of(uint32_t code)
{
	unsigned int n;

	for (n = 0; n < sizeof(formats) / sizeof(formats[0]); n++)
		if (formats[n].code == code)
			return &formats[n];
	return NULL;
}

static uint32_t as_bits(float f)
{
	uint32_t v;

	memcpy(&v, &f, sizeof(v));
	return v;
}

static uint64_t field(const uint8_t *texel, unsigned int shift, unsigned int bits)
{
	uint64_t v = 0;

	/* A channel never crosses 8 bytes from its first one. */
	memcpy(&v, texel + shift / 8, (shift % 8 + bits + 7) / 8);
	return v >> shift % 8 & ((1ull << bits) - 1);
}

static float linear(float f)
{
	return f <= 0.04045f ? f / 12.92f : powf((f + 0.055f) / 1.055f, 2.4f);
}

static uint32_t unpack(const struct eu_format *f, const uint8_t *texel, unsigned int c)
{
	unsigned int bits = f->bits[c];
	uint32_t raw = (uint32_t)field(texel, f->shift[c], bits);
	int32_t value = (int32_t)(raw << (32 - bits)) >> (32 - bits);
	float full;

	switch (f->type) {
	case EU_UINT:
		return raw;
	case EU_SINT:
		return (uint32_t)value;
	case EU_FLOAT:
		return bits == 32 ? raw : as_bits(eu_half_to_float((uint16_t)raw));
	case EU_UNORM:
		full = (float)((double)raw / (double)((1ull << bits) - 1));
		return as_bits(f->srgb && c < 3 ? linear(full) : full);
	default:
		full = (float)((double)value / (double)((1ull << (bits - 1)) - 1));
		return as_bits(full < -1 ? -1 : full);
	}
}

/**
 * eu_texel_unpack() - the four channels of a texel, as floats or integers of 32 bits
 *
 * Channels that the format does not have are 0, alpha is 1.
 */
void eu_texel_unpack(const struct eu_format *f, const uint8_t *texel, uint32_t channels[4])
{
	bool integer = f->type == EU_UINT || f->type == EU_SINT;
	unsigned int c;

	for (c = 0; c < 4; c++)
		if (f->bits[c])
			channels[c] = unpack(f, texel, c);
		else
			channels[c] = c < 3 ? 0 : integer ? 1 : as_bits(1);
	if (f->luminance)
		channels[1] = channels[2] = channels[0];
	if (f->luminance == 2)
		channels[3] = channels[0];
}

static uint32_t pack(const struct eu_format *f, uint32_t channel, unsigned int c)
{
	unsigned int bits = f->bits[c];
	int32_t high = (int32_t)((1ull << (bits - 1)) - 1);
	uint32_t all = (uint32_t)((1ull << bits) - 1);
	int32_t value = (int32_t)channel;
	float v;

	memcpy(&v, &channel, sizeof(v));
	switch (f->type) {
	case EU_UINT:
		return channel > all ? all : channel;
	case EU_SINT:
		return (uint32_t)(value > high ? high : value < -high - 1 ? -high - 1 : value);
	case EU_FLOAT:
		return bits == 32 ? channel : eu_float_to_half(v, 0);
	case EU_UNORM:
		if (f->srgb && c < 3)
			v = v <= 0.0031308f ? v * 12.92f : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
		return v > 0 ? (uint32_t)rint((v < 1 ? (double)v : 1) * (double)all) : 0;
	default:
		v = v > 1 ? 1 : v >= -1 ? v : v < -1 ? -1 : 0;
		return (uint32_t)(int32_t)rint((double)v * (double)high);
	}
}

/** eu_texel_pack() - a texel of channels of 32 bits; those that the format lacks are dropped */
void eu_texel_pack(const struct eu_format *f, const uint32_t channels[4], uint8_t *texel)
{
	unsigned int c;

	memset(texel, 0, f->texel_bytes);
	for (c = 0; c < 4; c++) {
		unsigned int bits = f->bits[c], shift = f->shift[c];
		uint64_t v = 0;

		if (!bits)
			continue;
		memcpy(&v, texel + shift / 8, (shift % 8 + bits + 7) / 8);
		v |= ((uint64_t)pack(f, channels[c], c) & ((1ull << bits) - 1)) << shift % 8;
		memcpy(texel + shift / 8, &v, (shift % 8 + bits + 7) / 8);
	}
}
