// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to rows of bytes on surfaces, in chunks that are contiguous within a page.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "surface.h"

/* A tile of either kind is one page. */
#define X_TILE_WIDTH_SHIFT 9
#define X_TILE_ROWS_SHIFT 3
#define Y_TILE_WIDTH_SHIFT 7
#define Y_TILE_ROWS_SHIFT 5
#define Y_COLUMN_SHIFT 4
#define LOW(value, bits) ((value) & ((1 << (bits)) - 1))

bool softgpu_surface_valid(const struct softgpu_surface *surface)
{
	switch (surface->tiling) {
	case SOFTGPU_X_TILED:
		return surface->pitch_bytes > 0 && !LOW(surface->pitch_bytes, X_TILE_WIDTH_SHIFT);
	case SOFTGPU_Y_TILED:
		return surface->pitch_bytes > 0 && !LOW(surface->pitch_bytes, Y_TILE_WIDTH_SHIFT);
	default:
		return true;
	}
}

/*
 * Returns the address of a byte. @run: bytes of the row that are contiguous there, within the page.
 */
static u64 surface_locate(const struct softgpu_surface *surface, s64 x, s64 y, u32 *run)
{
	u64 address;
	s64 tile;

	switch (surface->tiling) {
	case SOFTGPU_X_TILED:
		tile = (y >> X_TILE_ROWS_SHIFT) * (surface->pitch_bytes >> X_TILE_WIDTH_SHIFT) +
		       (x >> X_TILE_WIDTH_SHIFT);
		*run = (1 << X_TILE_WIDTH_SHIFT) - LOW(x, X_TILE_WIDTH_SHIFT);
		return (surface->base & GHYVI_PAGE_MASK) + (u64)tile * GHYVI_PAGE_BYTES +
		       (LOW(y, X_TILE_ROWS_SHIFT) << X_TILE_WIDTH_SHIFT) +
		       LOW(x, X_TILE_WIDTH_SHIFT);
	case SOFTGPU_Y_TILED:
		tile = (y >> Y_TILE_ROWS_SHIFT) * (surface->pitch_bytes >> Y_TILE_WIDTH_SHIFT) +
		       (x >> Y_TILE_WIDTH_SHIFT);
		*run = (1 << Y_COLUMN_SHIFT) - LOW(x, Y_COLUMN_SHIFT);
		return (surface->base & GHYVI_PAGE_MASK) + (u64)tile * GHYVI_PAGE_BYTES +
		       (LOW(x, Y_TILE_WIDTH_SHIFT) >>
			Y_COLUMN_SHIFT << (Y_COLUMN_SHIFT + Y_TILE_ROWS_SHIFT)) +
		       (LOW(y, Y_TILE_ROWS_SHIFT) << Y_COLUMN_SHIFT) + LOW(x, Y_COLUMN_SHIFT);
	default:
		address = softgpu_surface_linear(surface, x, y);
		*run = GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1));
		return address;
	}
}

/* Copy between the surface and @row. @row is not modified if @write is true. */
static __always_inline int surface_move(struct softgpu_engine *engine,
					const struct softgpu_surface *surface, s64 x, s64 y,
					u32 bytes, u8 *row, bool write)
{
	u64 address;
	u32 run;
	int err;
	u8 *p;

	for (; bytes; bytes -= run, x += run, row += run) {
		address = surface_locate(surface, x, y, &run);
		run = min(run, bytes);
		err = softgpu_map(engine, SOFTGPU_PPGTT, address, write, &p);
		if (err)
			return err;
		if (!write)
			memcpy(row, p, run);
		else if (p)
			memcpy(p, row, run);
		err = softgpu_spend(engine, run);
		if (err)
			return err;
	}
	return 0;
}

int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			 s64 x, s64 y, u32 bytes, u8 *row)
{
	return surface_move(engine, surface, x, y, bytes, row, false);
}

int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, const u8 *row)
{
	return surface_move(engine, surface, x, y, bytes, (u8 *)row, true);
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
