/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Surfaces in the PPGTT: rows of bytes in linear or tiled memory.
 */
#ifndef GHYVI_SOFTGPU_SURFACE_H
#define GHYVI_SOFTGPU_SURFACE_H

#include "engine.h"

/* The order of the first three is that of the fields of XY_FAST_COPY_BLT. */
enum softgpu_tiling {
	SOFTGPU_LINEAR,
	SOFTGPU_X_TILED, /* 512 bytes x 8 rows */
	SOFTGPU_Y_TILED, /* 128 bytes x 32 rows, in columns of 16 bytes */
	/* Gen9: tiles of 4 and 64 KiB whose shape depends on the bits of a pixel. */
	SOFTGPU_YF_8,
	SOFTGPU_YF_16, /* and 32 */
	SOFTGPU_YF_64, /* and 128 */
	SOFTGPU_YS_8,
	SOFTGPU_YS_16,
	SOFTGPU_YS_64,
	SOFTGPU_TILINGS
};

struct softgpu_surface {
	u64 base;
	s64 pitch_bytes; /* may be negative for a linear surface */
	enum softgpu_tiling tiling;
};

/*
 * struct softgpu_tile - how a tile maps the bytes of its rows to addresses
 * @x_bits: the address bits within a tile that come from the byte's number in the row, low to high;
 *	the others come from the number of the row
 */
struct softgpu_tile {
	u32 x_bits;
	u8 bits; /* number of address bits within a tile; 12 or more */
	u8 width_shift; /* log2 of the bytes of a tile's row; the number of bits in @x_bits */
	u8 rows_shift; /* log2 of the number of rows */
	u8 block_shift; /* log2 of the bytes of a row that are in one page */
	u8 run_shift; /* log2 of the bytes of a row that are contiguous */
};

/* By enum softgpu_tiling; not for linear surfaces. */
extern const struct softgpu_tile softgpu_tiles[SOFTGPU_TILINGS];

/*
 * struct softgpu_rop - a raster operation on a row, with one input
 *
 * The result for input i and destination d is a0 ^ (i & a1) ^ (d & (b0 ^ (i & b1))). The constants
 * repeat every 32 bits; a mask of bits that are not written is part of them.
 */
struct softgpu_rop {
	u64 a0; /* the part without input and destination */
	u64 a1; /* the part of the input */
	u64 b0; /* the part of the destination */
	u64 b1; /* the part of both */
};

/* Bytes between the two rows of softgpu_surface_merge(). */
#define SOFTGPU_MERGE_BYTES (SOFTGPU_ROW_BYTES / 4)

/* Test whether the pitch of a surface is valid for its tiling. */
bool softgpu_surface_valid(const struct softgpu_surface *surface);

/*
 * Accesses of commands to a part of some rows: @bytes bytes each of @rows rows, from byte @x of row
 * @y on. The access mutex is held; it is dropped and retaken when the slice is used up. Return 0,
 * SOFTGPU_ERROR or SOFTGPU_CANCELLED. @buffer: rows of @bytes bytes
 */
int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			 s64 x, s64 y, u32 bytes, u32 rows, u8 *buffer);
int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, u32 rows, const u8 *buffer);
/* Combine them with an input in @buffer. @rop: how, from byte @x on */
int softgpu_surface_rop(struct softgpu_engine *engine, const struct softgpu_surface *surface, s64 x,
			s64 y, u32 bytes, u32 rows, const u8 *buffer,
			const struct softgpu_rop *rop);
/*
 * Combine a part of one row with two inputs: a is @row, b is SOFTGPU_MERGE_BYTES behind it. The
 * result for destination d is a ^ (b & d).
 */
int softgpu_surface_merge(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, const u8 *row);
/*
 * Combine them with rows of another surface, which do not overlap them. Only BCS, which has
 * @engine->rows. @dst_x: the first byte of a pixel. @rop: NULL: copy
 */
int softgpu_surface_combine(struct softgpu_engine *engine, const struct softgpu_surface *dst,
			    s64 dst_x, s64 dst_y, const struct softgpu_surface *src, s64 src_x,
			    s64 src_y, u32 bytes, u32 rows, const struct softgpu_rop *rop);
/* Move memory between linear addresses of the PPGTT, which may overlap. Only BCS, as above. */
int softgpu_copy(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes);

/* Address of byte @x of row @y of a linear surface. */
static inline u64 softgpu_surface_linear(const struct softgpu_surface *surface, s64 x, s64 y)
{
	return surface->base + y * surface->pitch_bytes + x;
}

/* Number of bytes from @address on that are in its page. */
static inline u32 softgpu_to_page_end(u64 address)
{
	return GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1));
}

/* Number of rows of a tile; 1 for a linear surface. */
static inline s64 softgpu_tile_rows(enum softgpu_tiling tiling)
{
	return 1 << softgpu_tiles[tiling].rows_shift;
}

/* Number of rows of a surface that the same pages contain; 1 for a linear surface. */
static inline u32 softgpu_page_rows(enum softgpu_tiling tiling)
{
	return tiling == SOFTGPU_LINEAR ?
		       1 :
		       1u << (GHYVI_PAGE_SHIFT - softgpu_tiles[tiling].block_shift);
}

#endif
