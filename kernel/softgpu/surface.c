// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to rows of bytes on surfaces. A row is mapped and accounted once for each page that it
 * crosses: 4 KiB of a linear row, or its part of a tile.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "surface.h"

#define IN_PAGE ((u32)GHYVI_PAGE_BYTES - 1)
#define Y_TILE_X_BITS 0xe0f
#define Y_COLUMN_BYTES 512

/* Those of Gen9 are as in intel/gmmlib, Utility/CpuSwizzleBlt.c (INTEL_TILE_YF_*, _YS_*). */
const struct softgpu_tile softgpu_tiles[SOFTGPU_TILINGS] = {
	[SOFTGPU_X_TILED] = { 0x1ff, 12, 9, 3, 9, 9 },
	[SOFTGPU_Y_TILED] = { Y_TILE_X_BITS, 12, 7, 5, 7, 4 },
	[SOFTGPU_YF_8] = { 0xa0f, 12, 6, 6, 6, 4 },
	[SOFTGPU_YF_16] = { 0xa8f, 12, 7, 5, 7, 4 },
	[SOFTGPU_YF_64] = { 0xacf, 12, 8, 4, 8, 4 },
	[SOFTGPU_YS_8] = { 0xaa0f, 16, 8, 8, 6, 4 },
	[SOFTGPU_YS_16] = { 0xaa8f, 16, 9, 7, 7, 4 },
	[SOFTGPU_YS_64] = { 0xaacf, 16, 10, 6, 8, 4 },
};

bool softgpu_surface_valid(const struct softgpu_surface *surface)
{
	if (surface->tiling == SOFTGPU_LINEAR)
		return true;
	return surface->pitch_bytes > 0 &&
	       !(surface->pitch_bytes & ((1 << softgpu_tiles[surface->tiling].width_shift) - 1));
}

enum surface_op {
	OP_READ,
	OP_WRITE,
	OP_ROP,
	OP_MERGE,
};

/* Move the low bits of @value to the places that are set in @bits. */
static u32 spread_bits(u32 value, u32 bits)
{
	u32 result = 0;

	for (; value && bits; value >>= 1, bits &= bits - 1)
		if (value & 1)
			result |= bits & -bits;
	return result;
}

/* Rotate a constant that repeats every 32 bits to the right. */
static u64 rotate_bytes(u64 value, u32 bytes)
{
	return value >> 8 * bytes | value << (64 - 8 * bytes) % 64;
}

/*
 * @both: the destination meets the input, or there is a constant; exclusive or, and copies of a
 * part of each pixel, do without.
 */
static __always_inline void rop_8(u8 *dst, const u8 *input, const struct softgpu_rop *rop,
				  bool both)
{
	u64 d, in;

	memcpy(&d, dst, sizeof(d));
	memcpy(&in, input, sizeof(in));
	if (both)
		d = rop->a0 ^ (in & rop->a1) ^ (d & (rop->b0 ^ (in & rop->b1)));
	else
		d = (in & rop->a1) ^ (d & rop->b0);
	memcpy(dst, &d, sizeof(d));
}

/* Process groups of 32 bytes, whose parts do not depend on each other; returns the bytes done. */
static __always_inline u32 rop_groups(u8 *dst, const u8 *input, u32 bytes,
				      const struct softgpu_rop rop, bool both)
{
	u32 at;

	for (at = 0; at + 32 <= bytes; at += 32) {
		rop_8(dst + at, input + at, &rop, both);
		rop_8(dst + at + 8, input + at + 8, &rop, both);
		rop_8(dst + at + 16, input + at + 16, &rop, both);
		rop_8(dst + at + 24, input + at + 24, &rop, both);
	}
	return at;
}

/* @done: number of bytes of the row before @dst. Pages can end within a pixel. */
static void rop_run(u8 *dst, const u8 *input, u32 bytes, const struct softgpu_rop *rop, u32 done)
{
	const struct softgpu_rop now = {
		rotate_bytes(rop->a0, done & 3),
		rotate_bytes(rop->a1, done & 3),
		rotate_bytes(rop->b0, done & 3),
		rotate_bytes(rop->b1, done & 3),
	};
	u64 d = 0, in = 0;
	u32 at, n;

	if (now.a0 || now.b1)
		at = rop_groups(dst, input, bytes, now, true);
	else
		at = rop_groups(dst, input, bytes, now, false);
	for (; at < bytes; at += n) {
		n = min_t(u32, bytes - at, sizeof(d));
		memcpy(&d, dst + at, n);
		memcpy(&in, input + at, n);
		d = now.a0 ^ (in & now.a1) ^ (d & (now.b0 ^ (in & now.b1)));
		memcpy(dst + at, &d, n);
	}
}

static void merge_run(u8 *dst, const u8 *input, u32 bytes)
{
	u64 d = 0, a = 0, b = 0;
	u32 n;

	for (; bytes; bytes -= n, dst += n, input += n) {
		n = min_t(u32, bytes, sizeof(d));
		memcpy(&d, dst, n);
		memcpy(&a, input, n);
		memcpy(&b, input + SOFTGPU_MERGE_BYTES, n);
		d = a ^ (b & d);
		memcpy(dst, &d, n);
	}
}

/* Process contiguous bytes. Only OP_READ changes @row. */
static __always_inline void surface_run(u8 *p, u8 *row, u32 bytes, enum surface_op op,
					const struct softgpu_rop *rop, u32 done)
{
	switch (op) {
	case OP_READ:
		memcpy(row, p, bytes);
		break;
	case OP_WRITE:
		memcpy(p, row, bytes);
		break;
	case OP_ROP:
		rop_run(p, row, bytes, rop, done);
		break;
	case OP_MERGE:
		merge_run(p, row, bytes);
		break;
	}
}

/*
 * Process @bytes of a row in one page of a tile, from its byte at @x_offset of the page on. The row
 * adds @y_offset to each address.
 */
static __always_inline void surface_block(const struct softgpu_tile *tile, u8 *page, u32 x_offset,
					  u32 y_offset, u32 bytes, u8 *row, enum surface_op op,
					  const struct softgpu_rop *rop, u32 done)
{
	u32 run = 1u << tile->run_shift, n;

	page += y_offset;
	/* Whole columns of Y tiles, at a constant distance. */
	while (tile->x_bits == Y_TILE_X_BITS && !(x_offset & 15) && bytes >= 16) {
		surface_run(page + x_offset, row, 16, op, rop, done);
		x_offset += Y_COLUMN_BYTES;
		bytes -= 16;
		row += 16;
		done += 16;
	}
	for (; bytes; bytes -= n, row += n, done += n) {
		n = min(bytes, run - (x_offset & (run - 1)));
		/* With a constant length this is two instructions instead of a call. */
		if (n == 16)
			surface_run(page + x_offset, row, 16, op, rop, done);
		else
			surface_run(page + x_offset, row, n, op, rop, done);
		/* The bits of other rows are set, so that the carry skips them. */
		x_offset = ((x_offset | ~tile->x_bits) + n) & tile->x_bits & IN_PAGE;
	}
}

/*
 * Process @rows rows, all in one row of pages of the tiles. @buffer has them at a distance of
 * @bytes.
 */
static __always_inline int surface_tiled(struct softgpu_engine *engine,
					 const struct softgpu_surface *surface, s64 x, s64 y,
					 u32 bytes, u32 rows, u8 *buffer, enum surface_op op,
					 const struct softgpu_rop *rop)
{
	const struct softgpu_tile *tile = &softgpu_tiles[surface->tiling];
	u32 tile_mask = (1u << tile->bits) - 1, block = 1u << tile->block_shift;
	u32 y_mask = ~tile->x_bits & tile_mask, y_offset, row;
	u32 y_bits = spread_bits(y & ((1 << tile->rows_shift) - 1), y_mask);
	s64 tile_row = (y >> tile->rows_shift) * (surface->pitch_bytes >> tile->width_shift);
	u64 first = (surface->base & ~(u64)tile_mask) + ((u64)tile_row << tile->bits), address;
	u32 done, n, within, bits;
	int err;
	u8 *p;

	for (done = 0; done < bytes; done += n, x += n) {
		within = x & ((1 << tile->width_shift) - 1);
		bits = y_bits;
		/* Of tiles of one page, all but the first block of a row begin at 0. */
		if (within & (block - 1) || tile->bits > GHYVI_PAGE_SHIFT)
			bits |= spread_bits(within, tile->x_bits);
		n = min(bytes - done, block - (within & (block - 1)));
		address = first + ((u64)(x >> tile->width_shift) << tile->bits) + (bits & ~IN_PAGE);
		err = softgpu_map(engine, SOFTGPU_PPGTT, address, op != OP_READ, &p);
		if (err)
			return err;
		y_offset = y_bits & IN_PAGE;
		for (row = 0; p && row < rows; row++) {
			surface_block(tile, p, bits & tile->x_bits & IN_PAGE, y_offset, n,
				      buffer + (u64)row * bytes + done, op, rop, done);
			/* The next row: the carry skips the bits of x. */
			y_offset = ((y_offset | ~y_mask) + 1) & y_mask & IN_PAGE;
		}
		err = softgpu_spend(engine, n * rows);
		if (err)
			return err;
	}
	return 0;
}

static __always_inline int surface_linear(struct softgpu_engine *engine, u64 address, u32 bytes,
					  u8 *row, enum surface_op op,
					  const struct softgpu_rop *rop)
{
	u32 done, n;
	int err;
	u8 *p;

	for (done = 0; done < bytes; done += n, address += n) {
		n = min_t(u32, bytes - done, GHYVI_PAGE_BYTES - (address & IN_PAGE));
		err = softgpu_map(engine, SOFTGPU_PPGTT, address, op != OP_READ, &p);
		if (err)
			return err;
		if (p)
			surface_run(p, row + done, n, op, rop, done);
		err = softgpu_spend(engine, n);
		if (err)
			return err;
	}
	return 0;
}

/* @buffer: rows of @bytes bytes */
static __always_inline int surface_rows(struct softgpu_engine *engine,
					const struct softgpu_surface *surface, s64 x, s64 y,
					u32 bytes, u32 rows, u8 *buffer, enum surface_op op,
					const struct softgpu_rop *rop)
{
	u32 page_rows = softgpu_page_rows(surface->tiling), n;
	int err = 0;

	for (; rows && !err; rows -= n, y += n, buffer += (u64)n * bytes) {
		n = min_t(u32, rows, page_rows - (y & (page_rows - 1)));
		if (surface->tiling == SOFTGPU_LINEAR)
			err = surface_linear(engine, softgpu_surface_linear(surface, x, y), bytes,
					     buffer, op, rop);
		else
			err = surface_tiled(engine, surface, x, y, bytes, n, buffer, op, rop);
	}
	return err;
}

int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			 s64 x, s64 y, u32 bytes, u32 rows, u8 *buffer)
{
	return surface_rows(engine, surface, x, y, bytes, rows, buffer, OP_READ, NULL);
}

int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, u32 rows, const u8 *buffer)
{
	return surface_rows(engine, surface, x, y, bytes, rows, (u8 *)buffer, OP_WRITE, NULL);
}

int softgpu_surface_rop(struct softgpu_engine *engine, const struct softgpu_surface *surface, s64 x,
			s64 y, u32 bytes, u32 rows, const u8 *buffer, const struct softgpu_rop *rop)
{
	return surface_rows(engine, surface, x, y, bytes, rows, (u8 *)buffer, OP_ROP, rop);
}

int softgpu_surface_merge(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, const u8 *row)
{
	return surface_rows(engine, surface, x, y, bytes, 1, (u8 *)row, OP_MERGE, NULL);
}

static u32 to_page_end(u64 address)
{
	return GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1));
}

/* Number of bytes before @end that are in the same page as the last of them. */
static u32 to_page_start(u64 end)
{
	return ((end - 1) & (GHYVI_PAGE_BYTES - 1)) + 1;
}

/* Copy through a buffer: mapping one page has invalidated the pointer to the other. */
static int copy_apart(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes)
{
	u8 *p;
	int err;

	err = softgpu_map(engine, SOFTGPU_PPGTT, src, false, &p);
	if (err)
		return err;
	memcpy(engine->rows, p, bytes);
	err = softgpu_map(engine, SOFTGPU_PPGTT, dst, true, &p);
	if (err)
		return err;
	if (p)
		memcpy(p, engine->rows, bytes);
	return softgpu_spend(engine, bytes);
}

static int copy_piece(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes)
{
	u8 *from, *to;
	u64 slice;
	int err;

	err = softgpu_map(engine, SOFTGPU_PPGTT, src, false, &from);
	if (err)
		return err;
	slice = engine->slice;
	err = softgpu_map(engine, SOFTGPU_PPGTT, dst, true, &to);
	if (err)
		return err;
	if (unlikely(engine->slice != slice)) /* @from may be invalid */
		return copy_apart(engine, dst, src, bytes);
	if (to)
		memmove(to, from, bytes);
	return softgpu_spend(engine, bytes);
}

int softgpu_copy(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes)
{
	bool backwards = dst - src < bytes;
	u32 run;
	int err = 0;

	for (; bytes && !err; bytes -= run) {
		if (backwards) {
			run = min(bytes,
				  min(to_page_start(dst + bytes), to_page_start(src + bytes)));
			err = copy_piece(engine, dst + bytes - run, src + bytes - run, run);
			continue;
		}
		run = min(bytes, min(to_page_end(dst), to_page_end(src)));
		err = copy_piece(engine, dst, src, run);
		dst += run;
		src += run;
	}
	return err;
}
