/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pixel surfaces in memory and what the blitter does to them, computed by the CPU.
 */
#ifndef GHYVI_GUEST_SURFACE_H
#define GHYVI_GUEST_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define PAGE_BYTES 4096u
#define TILE_BYTES 4096u

#define ROP_PATTERN 0xf0 /* the fill's colour */
#define ROP_SOURCE 0xcc

enum tiling {
	TILING_LINEAR,
	TILING_X, /* 512 bytes x 8 rows, row after row */
	TILING_Y, /* 128 bytes x 32 rows, in columns of 16 bytes */
};

/**
 * struct surface - where the pixels are inside an object
 * @offset: of the first row in the object; a multiple of 64, of 4096 when tiled
 * @pitch: distance of two rows; a multiple of the tile's width when tiled
 * @object_bytes: all of the object, a multiple of 4096
 */
struct surface {
	enum tiling tiling;
	unsigned int pixel_bytes; /* 1, 2, 4 */
	unsigned int width, height; /* pixels */
	uint32_t pitch; /* bytes */
	uint32_t offset; /* bytes */
	uint32_t object_bytes;
	uint8_t *expected; /* what the object must hold */
};

enum blit_op {
	BLIT_COLOR, /* XY_COLOR_BLT */
	BLIT_COPY, /* XY_SRC_COPY_BLT */
	BLIT_FAST_COPY, /* XY_FAST_COPY_BLT */
};

struct blit {
	enum blit_op op;
	unsigned int dst, src; /* surface numbers */
	unsigned int x1, y1, x2, y2; /* destination; x2, y2 exclusive */
	unsigned int sx, sy;
	uint8_t rop;
	uint32_t color;
	uint32_t write_mask; /* bits of a pixel that are written */
};

unsigned int tile_width(enum tiling tiling); /* bytes; 1 for linear */
unsigned int tile_height(enum tiling tiling); /* rows; 1 for linear */
const char *tiling_name(enum tiling tiling);

/** surface_address() - byte offset in the object of byte @xb of row @y */
uint32_t surface_address(const struct surface *s, uint32_t xb, uint32_t y);

/** surface_locate() - the other way round; false if the byte belongs to no pixel. */
bool surface_locate(const struct surface *s, uint32_t address, unsigned int *x, unsigned int *y);

/** surface_bytes() - how many bytes from @offset on the surface covers */
uint32_t surface_bytes(const struct surface *s);

/** apply_rop() - a ternary raster operation, bit by bit */
uint32_t apply_rop(uint8_t rop, uint32_t pattern, uint32_t source, uint32_t destination);

/** blit_reference() - do @blit to the surfaces' expected contents. Overlaps work like memmove(). */
void blit_reference(struct surface *surfaces, const struct blit *blit);

/**
 * surface_choose() - a random geometry of at most @size x @size pixels
 * blit_choose() - a random blit between @count surfaces of one pixel size
 * @fast: XY_FAST_COPY_BLT exists
 */
void surface_choose(struct random *r, struct surface *s, unsigned int pixel_bytes,
		    unsigned int size);
void blit_choose(struct random *r, const struct surface *surfaces, unsigned int count, bool fast,
		 struct blit *blit);

/** surface_self_test() - number of failures, each printed */
int surface_self_test(uint64_t seed);

#endif
