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

/**
 * struct blit_source - where a blit reads its source
 * @kind: enum blit_source_kind
 * @surface: color source: the surface; mono source in memory: its base
 * @x: color source: first pixel; mono source: bits to skip in each row
 * @y: first row
 * @data: mono source in the command; NULL: it is in memory
 * @data_bytes: size of @data in bytes
 * @row_bits: mono source: distance of rows in bits
 * @colors: mono source: pixels of bits that are 0 and 1
 * @transparent: mono source: pixels whose bit is 0 are not written
 */
struct blit_source {
	enum blit_source_kind kind;
	struct softgpu_surface surface;
	s32 x, y;
	const u8 *data;
	u32 data_bytes;
	u32 row_bits;
	u32 colors[2];
	bool transparent;
};

enum blit_pattern_kind {
	BLIT_NO_PATTERN,
	BLIT_SOLID_PATTERN, /* each pixel is @colors[1] */
	BLIT_PATTERN, /* @pixels */
};

/**
 * struct blit_pattern - the pattern of a blit
 * @kind: enum blit_pattern_kind
 * @x: the pattern's pixel that belongs to column 0 of the destination
 * @y: the pattern's row that belongs to row 0 of the destination
 * @colors: colors of a solid or a mono pattern
 * @pixels: rows of pixels, without padding
 * @skip: bit n of element y: pixel n of row y is not written
 */
struct blit_pattern {
	enum blit_pattern_kind kind;
	u8 x, y;
	u32 colors[2];
	u8 pixels[BLIT_PATTERN_PIXELS * BLIT_PATTERN_PIXELS * 4];
	u8 skip[BLIT_PATTERN_PIXELS];
};

/**
 * struct blit - a blit
 * @dst: the destination
 * @x1: left edge of the rectangle
 * @y1: top edge
 * @x2: right edge, exclusive
 * @y2: bottom edge, exclusive
 * @pixel_bytes: bytes of a pixel; 1, 2, 4, and for plain copies 8, 16
 * @rop: result for pattern, source and destination: bit (P << 2 | S << 1 | D)
 * @mask: bits of a 32-bit pixel that are written
 * @source: the source
 * @pattern: the pattern
 */
struct blit {
	struct softgpu_surface dst;
	s32 x1, y1, x2, y2;
	unsigned int pixel_bytes;
	u32 rop;
	u32 mask;
	struct blit_source source;
	struct blit_pattern pattern;
};

/**
 * softgpu_blit() - execute a blit.
 * @engine: engine of the calling thread; only BCS, which has @engine->rows
 * @blit: the blit
 *
 * Context: the access mutex is held; it is dropped and retaken when the slice is used up.
 * Return: 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_blit(struct softgpu_engine *engine, const struct blit *blit);

/* Set the pattern's pixels from 8 bytes of bits and the pattern's colors. */
void softgpu_blit_mono_pattern(struct blit *blit, const u8 *bits, bool transparent);

#endif
