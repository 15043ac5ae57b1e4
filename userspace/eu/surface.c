// SPDX-License-Identifier: GPL-2.0-only
/* Surfaces: RENDER_SURFACE_STATE through the binding table, and where a texel is in memory. */
#include "machine.h"

#include <string.h>

enum { TILE_LINEAR, TILE_W, TILE_X, TILE_Y };
enum { FORMAT_RAW = 0x1ff };

static uint32_t bits(uint32_t dword, unsigned int high, unsigned int low)
{
	return dword >> low & (high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1);
}

static int fill(struct eu_exec *x, const struct eu_insn *i, const uint32_t dw[16],
		struct eu_surface *s)
{
	uint32_t code = bits(dw[0], 26, 18);
	unsigned int n;

	memset(s, 0, sizeof(*s));
	s->type = (uint8_t)bits(dw[0], 31, 29);
	s->array = bits(dw[0], 28, 28);
	s->tile = (uint8_t)bits(dw[0], 13, 12);
	s->valign = 2u << bits(dw[0], 17, 16);
	s->halign = 2u << bits(dw[0], 15, 14);
	s->qpitch = bits(dw[1], 14, 0) * 4;
	s->pitch = bits(dw[3], 17, 0) + 1;
	s->address = (uint64_t)dw[9] << 32 | dw[8];
	s->address &= 0xffffffffffffull;
	for (n = 0; n < 4; n++)
		s->select[n] = (uint8_t)(dw[7] >> (25 - 3 * n) & 7);
	if (s->type == EU_SURFACE_NULL) {
		s->valid = true;
		return 0;
	}
	s->format = eu_format_of(code);
	if (!s->format && code != FORMAT_RAW) {
		eu_fail(x, i, EU_UNSUPPORTED, "surface format 0x%x", code);
		return -1;
	}
	s->texel_bytes = s->format ? s->format->texel_bytes : 1;
	if (s->type == EU_SURFACE_BUFFER || s->type == EU_SURFACE_STRUCTURED) {
		uint64_t entries = ((uint64_t)bits(dw[3], 31, 21) << 21 |
				    (uint64_t)bits(dw[2], 29, 16) << 7 | bits(dw[2], 6, 0)) +
				   1;

		s->bytes = entries * (code == FORMAT_RAW ? 1 : s->pitch);
		s->width = entries > UINT32_MAX ? UINT32_MAX : (uint32_t)entries;
		s->height = s->depth = 1;
		s->valid = true;
		return 0;
	}
	if (s->type > EU_SURFACE_3D) {
		eu_fail(x, i, EU_UNSUPPORTED, "surface type %u", s->type);
		return -1;
	}
	if (s->tile == TILE_W || !s->format) {
		eu_fail(x, i, EU_UNSUPPORTED, "an image of tile mode %u, format 0x%x", s->tile,
			code);
		return -1;
	}
	if (bits(dw[4], 5, 3)) {
		eu_fail(x, i, EU_UNSUPPORTED, "a multisampled image");
		return -1;
	}
	if (s->type == EU_SURFACE_3D && s->array) {
		eu_fail(x, i, EU_ILLEGAL, "an array of 3D images");
		return -1;
	}
	s->width = bits(dw[2], 13, 0) + 1;
	s->height = s->type == EU_SURFACE_1D ? 1 : bits(dw[2], 29, 16) + 1;
	s->depth = s->type == EU_SURFACE_3D || s->array ? bits(dw[3], 31, 21) + 1 : 1;
	s->min_slice = bits(dw[4], 28, 18);
	s->min_level = bits(dw[5], 7, 4);
	s->levels = bits(dw[5], 3, 0) + 1;
	s->valid = true;
	return 0;
}

/** eu_surface_get() - the surface at an index of the binding table, NULL after eu_fail() */
const struct eu_surface *eu_surface_get(struct eu_exec *x, const struct eu_insn *i, uint32_t index)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	struct eu_surface *s = &x->surfaces[index & 255];
	uint32_t entry, dw[16];

	if (s->valid)
		return s;
	if (eu_read(x, d->surface.address + d->binding_table + index * 4, &entry, sizeof(entry),
		    EU_ACCESS_STATE))
		return NULL;
	if (eu_read(x, d->surface.address + (entry & ~63u), dw, sizeof(dw), EU_ACCESS_STATE))
		return NULL;
	return fill(x, i, dw, s) ? NULL : s;
}

/** eu_surface_byte() - GPU address of a byte of an image's rows */
uint64_t eu_surface_byte(const struct eu_surface *s, uint32_t column, uint32_t row)
{
	uint64_t tiles;

	switch (s->tile) {
	case TILE_X:
		tiles = (uint64_t)(row / 8) * (s->pitch / 512) + column / 512;
		return s->address + tiles * 4096 + row % 8 * 512 + column % 512;
	case TILE_Y:
		tiles = (uint64_t)(row / 32) * (s->pitch / 128) + column / 128;
		return s->address + tiles * 4096 + column % 128 / 16 * 512 + row % 32 * 16 +
		       column % 16;
	default:
		return s->address + (uint64_t)row * s->pitch + column;
	}
}

static uint32_t aligned(uint32_t v, uint32_t to)
{
	return (v + to - 1) / to * to;
}

static uint32_t smaller(uint32_t v, uint32_t level)
{
	v >>= level;
	return v ? v : 1;
}

/**
 * eu_surface_texel() - GPU address of a texel
 * @s: an image
 * @x: its column
 * @y: its row
 * @z: its slice
 * @level: its level of detail, below 15
 *
 * Level 1 is below level 0, all others below each other to the right of level 1.
 */
uint64_t eu_surface_texel(const struct eu_surface *s, uint32_t x, uint32_t y, uint32_t z,
			  uint32_t level)
{
	uint32_t left = 0, top = 0, n;

	if (s->type == EU_SURFACE_BUFFER)
		return s->address + (uint64_t)x * s->pitch;
	z += s->min_slice;
	if (s->type == EU_SURFACE_1D) {
		for (n = 0; n < level; n++)
			left += aligned(smaller(s->width, n), s->halign);
		return s->address + ((uint64_t)z * s->qpitch + left + x) * s->texel_bytes;
	}
	if (level) {
		top = aligned(s->height, s->valign);
		if (level > 1)
			left = aligned(smaller(s->width, 1), s->halign);
		for (n = 2; n < level; n++)
			top += aligned(smaller(s->height, n), s->valign);
	}
	return eu_surface_byte(s, (left + x) * s->texel_bytes, z * s->qpitch + top + y);
}
