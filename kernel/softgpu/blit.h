/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blits: a raster operation on a rectangle of a surface, with a source and a pattern of 8 x 8
 * pixels. blt.c makes them from commands, blit.c executes them.
 */
#ifndef GHYVI_SOFTGPU_BLIT_H
#define GHYVI_SOFTGPU_BLIT_H

#include "surface.h"

#define ROP_SOURCE 0xcc
#define BLIT_ALL_BITS 0xffffffffu
#define BLIT_ALPHA_BITS 0xff000000u
#define BLIT_PATTERN_PIXELS 8

enum blit_source_kind {
	BLIT_NO_SOURCE,
	BLIT_COLOR_SOURCE,
	BLIT_MONO_SOURCE, /* a bit for each pixel, the most significant one of a byte first */
};

/*
 * struct blit_source - where a blit reads its source
 * @surface: color source: the surface; mono source in memory: its base
 * @x: color source: first pixel; mono source: bits to skip in each row
 */
struct blit_source {
	enum blit_source_kind kind; /* enum blit_source_kind */
	struct softgpu_surface surface;
	s32 x, y; /* first row */
	const u8 *data; /* mono source in the command; NULL: it is in memory */
	u32 data_bytes; /* size of @data in bytes */
	u32 row_bits; /* mono source: distance of rows in bits */
	u32 colors[2]; /* mono source: pixels of bits that are 0 and 1 */
	bool transparent; /* mono source: pixels whose bit is 0 are not written */
};

enum blit_pattern_kind {
	BLIT_NO_PATTERN,
	BLIT_SOLID_PATTERN, /* each pixel is @colors[1] */
	BLIT_PATTERN, /* @pixels */
};

/*
 * struct blit_pattern - the pattern of a blit
 * @x: the pattern's pixel that belongs to column 0 of the destination
 * @pixels: rows of pixels, without padding
 */
struct blit_pattern {
	enum blit_pattern_kind kind; /* enum blit_pattern_kind */
	u8 x, y; /* the pattern's row that belongs to row 0 of the destination */
	u32 colors[2]; /* colors of a solid or a mono pattern */
	u8 pixels[BLIT_PATTERN_PIXELS * BLIT_PATTERN_PIXELS * 4];
	u8 skip[BLIT_PATTERN_PIXELS]; /* bit n of element y: pixel n of row y is not written */
};

/*
 * struct blit - a blit
 * @x1: left edge of the rectangle
 * @y1: top edge
 * @x2: right edge, exclusive
 */
struct blit {
	struct softgpu_surface dst; /* the destination */
	s32 x1, y1, x2, y2; /* bottom edge, exclusive */
	unsigned int pixel_bytes; /* bytes of a pixel; 1, 2, 4, and for plain copies 8, 16 */
	u32 rop; /* result for pattern, source and destination: bit (P << 2 | S << 1 | D) */
	u32 mask; /* bits of a 32-bit pixel that are written */
	struct blit_source source; /* the source */
	struct blit_pattern pattern; /* the pattern */
};

/*
 * Execute a blit. Only BCS, which has @engine->rows. The access mutex is held; it is dropped and
 * retaken when the slice is used up. Returns 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_blit(struct softgpu_engine *engine, const struct blit *blit);

/* Set the pattern's pixels from 8 bytes of bits and the pattern's colors. */
void softgpu_blit_mono_pattern(struct blit *blit, const u8 *bits, bool transparent);

#endif
