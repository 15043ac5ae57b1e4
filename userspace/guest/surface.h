/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pixel surfaces in memory, and a CPU reference implementation of the blitter's commands.
 */
#ifndef GHYVI_GUEST_SURFACE_H
#define GHYVI_GUEST_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define PAGE_BYTES 4096u
#define TILE_BYTES 4096u

#define ROP_PATTERN 0xf0 /* the color of a fill */
#define ROP_SOURCE 0xcc

enum tiling {
	TILING_LINEAR,
	TILING_X, /* 512 bytes x 8 rows, in rows */
	TILING_Y, /* 128 bytes x 32 rows, in columns of 16 bytes */
};

/*
 * struct surface - the layout of pixels in an object
 * @offset: of the first row in the object; a multiple of 64, or of 4096 if tiled
 * @pitch: distance of two rows; a multiple of the tile width if tiled
 * @object_bytes: size of the whole object, a multiple of 4096
 */
struct surface {
	enum tiling tiling;
	unsigned int pixel_bytes; /* 1, 2, 4 */
	unsigned int width, height; /* pixels */
	uint32_t pitch; /* bytes */
	uint32_t offset; /* bytes */
	uint32_t object_bytes;
	uint8_t *expected; /* the expected content of the object */
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
const char *tiling_name(enum tiling tiling);

/* Returns the offset in the object of byte @xb of row @y. */
uint32_t surface_address(const struct surface *s, uint32_t xb, uint32_t y);

/* The inverse of surface_address(). Returns false if the byte is not part of a pixel. */
bool surface_locate(const struct surface *s, uint32_t address, unsigned int *x, unsigned int *y);

/* Applies @blit to the expected contents of @surfaces. Overlapping copies work like memmove(). */
void blit_reference(struct surface *surfaces, const struct blit *blit);

/* Chooses a random geometry of at most @size x @size pixels. */
void surface_choose(struct random *r, struct surface *s, unsigned int pixel_bytes,
		    unsigned int size);
/*
 * Chooses a random blit between @count surfaces of the same pixel size. @fast: XY_FAST_COPY_BLT is
 * available.
 */
void blit_choose(struct random *r, const struct surface *surfaces, unsigned int count, bool fast,
		 struct blit *blit);

/* Prints each failure. Returns the number of failures. */
int surface_self_test(uint64_t seed);

#endif
