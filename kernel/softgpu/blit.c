// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution of blits, row by row.
 *
 * A blit can be preempted between two bands of rows, and goes on behind those that are done. It
 * gets a pattern in memory again then; the result of a blit that overwrites its own pattern is
 * undefined.
 *
 * If source and destination overlap, the result is as if the source was read first: rows are
 * processed in an order that reads each before it is overwritten, and so is each row.
 *
 * A raster operation of pattern P, source S and destination D is A(P, S) ^ (D & B(P, S)): A is its
 * value for D = 0, and B tells where the value for D = 1 differs. With one input, A and B are
 * evaluated on the destination in place; with two inputs, for a row before.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "blit.h"

/*
 * The result of an operation for inputs P, S and D is its bit (P << 2 | S << 1 | D). So it depends
 * on an input if bits differ whose numbers differ only in that input.
 */
#define ROP_USES_SRC(rop) ((((rop) >> 2) ^ (rop)) & 0x33)

/* Cost of a row in addition to its bytes: even an empty row takes time. */
#define ROW_COST_BYTES 64

/*
 * Parts of engine->rows. Pixels of more than 4 bytes occur only in plain copies, which use the
 * first part as a whole.
 */
#define PART_BYTES SOFTGPU_MERGE_BYTES

enum rows_part {
	PART_SOURCE,
	PART_PATTERN,
	PART_A, /* softgpu_surface_merge() expects PART_B behind it */
	PART_B,
	PART_BITS,
};

static u8 *rows_part(const struct softgpu_engine *engine, enum rows_part part)
{
	return engine->rows + part * PART_BYTES;
}

/* All ones if bit @index of the operation is set. */
static u64 rop_bit(u32 rop, unsigned int index)
{
	return rop >> index & 1 ? ~0ULL : 0;
}

/* @step: bit number of the input: 2 for S, 4 for P. The other input is taken as 0. */
static struct softgpu_rop rop_of(u32 rop, u32 pixel_mask, unsigned int step)
{
	u64 mask = (u64)pixel_mask << 32 | pixel_mask;
	u64 a0 = rop_bit(rop, 0), b0 = a0 ^ rop_bit(rop, 1);
	u64 a1 = a0 ^ rop_bit(rop, step);
	u64 b1 = b0 ^ rop_bit(rop, step) ^ rop_bit(rop, step + 1);

	return (struct softgpu_rop){
		.a0 = a0 & mask,
		.a1 = a1 & mask,
		.b0 = (b0 & mask) ^ ~mask,
		.b1 = b1 & mask,
	};
}

static void fill_row(u8 *row, u32 color, unsigned int pixel_bytes, u32 bytes)
{
	u64 pixels = 0;
	u32 i;

	/* Little endian: the low-order bytes of the color come first. */
	for (i = 0; i < sizeof(pixels); i += pixel_bytes)
		memcpy((u8 *)&pixels + i, &color, pixel_bytes);
	for (i = 0; i + sizeof(pixels) <= bytes; i += sizeof(pixels))
		memcpy(row + i, &pixels, sizeof(pixels));
	memcpy(row + i, &pixels, bytes - i);
}

void softgpu_blit_mono_pattern(struct blit *blit, const u8 *bits, bool transparent)
{
	struct blit_pattern *pattern = &blit->pattern;
	unsigned int row, x;

	pattern->kind = BLIT_PATTERN;
	for (row = 0; row < BLIT_PATTERN_PIXELS; row++)
		for (x = 0; x < BLIT_PATTERN_PIXELS; x++) {
			unsigned int set = bits[row] >> (7 - x) & 1;

			memcpy(pattern->pixels +
				       (row * BLIT_PATTERN_PIXELS + x) * blit->pixel_bytes,
			       &pattern->colors[set], blit->pixel_bytes);
			if (transparent && !set)
				pattern->skip[row] |= BIT(x);
		}
}

/* The pattern's pixels for a row of the destination. */
static void pattern_row(const struct blit *blit, s32 y, u32 bytes, u8 *row)
{
	const struct blit_pattern *pattern = &blit->pattern;
	u32 unit = BLIT_PATTERN_PIXELS * blit->pixel_bytes, byte, n, shift;
	const u8 *pixels = pattern->pixels + (u32)(y + pattern->y) % BLIT_PATTERN_PIXELS * unit;

	if (pattern->kind != BLIT_PATTERN) {
		fill_row(row, pattern->colors[1], blit->pixel_bytes, bytes);
		return;
	}
	shift = (u32)(blit->x1 + pattern->x) % BLIT_PATTERN_PIXELS * blit->pixel_bytes;
	for (byte = 0; byte < bytes; byte += n, shift = 0) {
		n = min(bytes - byte, unit - shift);
		memcpy(row + byte, pixels + shift, n);
	}
}

/* Get the bits of row @y of a mono source. @bits: set to the byte with the first of @count bits. */
static int mono_bits(struct softgpu_engine *engine, const struct blit *blit, s32 y, u32 count,
		     const u8 **bits)
{
	const struct blit_source *source = &blit->source;
	u64 first = (u64)(source->y + y) * source->row_bits + source->x;
	u32 bytes = DIV_ROUND_UP(first % 8 + count, 8);

	if (!source->data) {
		*bits = rows_part(engine, PART_BITS);
		return softgpu_surface_read(engine, &source->surface, first / 8, 0, bytes, 1,
					    rows_part(engine, PART_BITS));
	}
	/* What the command omits is 0. */
	if (first / 8 + bytes > source->data_bytes) {
		*bits = rows_part(engine, PART_BITS);
		memset(rows_part(engine, PART_BITS), 0, bytes);
		if (first / 8 < source->data_bytes)
			memcpy(rows_part(engine, PART_BITS), source->data + first / 8,
			       source->data_bytes - first / 8);
		return SOFTGPU_OK;
	}
	*bits = source->data + first / 8;
	return SOFTGPU_OK;
}

/* Do not write a pixel: result = destination. */
static void skip_pixel(u8 *a, const struct blit *blit, u32 pixel)
{
	memset(a + pixel * blit->pixel_bytes, 0, blit->pixel_bytes);
	memset(a + PART_BYTES + pixel * blit->pixel_bytes, 0xff, blit->pixel_bytes);
}

static int mono_row(struct softgpu_engine *engine, const struct blit *blit, s32 y, u32 pixels,
		    const u8 **bits)
{
	u32 first = ((u64)(blit->source.y + y) * blit->source.row_bits + blit->source.x) % 8, i;
	u8 *row = rows_part(engine, PART_SOURCE);
	int err = mono_bits(engine, blit, y, pixels, bits);

	for (i = 0; i < pixels && !err; i++)
		memcpy(row + i * blit->pixel_bytes,
		       &blit->source.colors[(*bits)[(first + i) / 8] >> (7 - (first + i) % 8) & 1],
		       blit->pixel_bytes);
	return err;
}

/* Evaluate A and B for a row of P and S. */
static void evaluate_row(struct softgpu_engine *engine, const struct blit *blit, u32 bytes)
{
	const u8 *s_row = rows_part(engine, PART_SOURCE), *p_row = rows_part(engine, PART_PATTERN);
	/* For pattern bits that are 0 and 1. */
	const struct softgpu_rop at_0 = rop_of(blit->rop, blit->mask, 2);
	const struct softgpu_rop at_1 = rop_of(blit->rop >> 4, blit->mask, 2);
	u8 *a_row = rows_part(engine, PART_A);
	u64 p = 0, s = 0, a, b;
	u32 byte, n;

	for (byte = 0; byte < bytes; byte += n) {
		n = min_t(u32, bytes - byte, sizeof(s));
		memcpy(&s, s_row + byte, n);
		memcpy(&p, p_row + byte, n);
		a = (~p & (at_0.a0 ^ (s & at_0.a1))) | (p & (at_1.a0 ^ (s & at_1.a1)));
		b = (~p & (at_0.b0 ^ (s & at_0.b1))) | (p & (at_1.b0 ^ (s & at_1.b1)));
		memcpy(a_row + byte, &a, n);
		memcpy(a_row + PART_BYTES + byte, &b, n);
	}
}

static void skip_pixels(struct softgpu_engine *engine, const struct blit *blit, s32 row, u32 pixels,
			const u8 *bits)
{
	const struct blit_pattern *pattern = &blit->pattern;
	u8 skip = pattern->skip[(u32)(blit->y1 + row + pattern->y) % BLIT_PATTERN_PIXELS];
	u32 first = ((u64)(blit->source.y + row) * blit->source.row_bits + blit->source.x) % 8, i;
	u8 *a = rows_part(engine, PART_A);

	for (i = 0; i < pixels && skip; i++)
		if (skip >> (u32)(blit->x1 + i + pattern->x) % BLIT_PATTERN_PIXELS & 1)
			skip_pixel(a, blit, i);
	for (i = 0; i < pixels && blit->source.transparent; i++)
		if (!(bits[(first + i) / 8] >> (7 - (first + i) % 8) & 1))
			skip_pixel(a, blit, i);
}

/* A row of a blit with a pattern and a source, or with bits. */
static int blit_row_general(struct softgpu_engine *engine, const struct blit *blit, s32 row,
			    u32 bytes)
{
	u32 pixels = bytes / blit->pixel_bytes;
	const u8 *bits = NULL;
	int err = SOFTGPU_OK;

	if (blit->source.kind == BLIT_MONO_SOURCE)
		err = mono_row(engine, blit, row, pixels, &bits);
	else if (blit->source.kind == BLIT_COLOR_SOURCE && ROP_USES_SRC(blit->rop))
		err = softgpu_surface_read(engine, &blit->source.surface,
					   (s64)blit->source.x * blit->pixel_bytes,
					   (s64)blit->source.y + row, bytes, 1,
					   rows_part(engine, PART_SOURCE));
	if (err)
		return err;
	pattern_row(blit, blit->y1 + row, bytes, rows_part(engine, PART_PATTERN));
	evaluate_row(engine, blit, bytes);
	skip_pixels(engine, blit, row, pixels, bits);
	return softgpu_surface_merge(engine, &blit->dst, (s64)blit->x1 * blit->pixel_bytes,
				     (s64)blit->y1 + row, bytes, rows_part(engine, PART_A));
}

/* How blit_rows() processes rows. */
enum blit_way {
	BLIT_LINEAR, /* a plain copy between linear surfaces */
	BLIT_DIRECT, /* a color source that does not overlap the destination */
	BLIT_SIMPLE, /* one input, through engine->rows */
	BLIT_GENERAL,
};

/*
 * Rows with one input, a color source or a solid pattern. The pattern is in engine->rows, as often
 * as the rows.
 */
static int blit_rows_simple(struct softgpu_engine *engine, const struct blit *blit,
			    enum blit_way way, const struct softgpu_rop *rop, s32 row, u32 rows,
			    u32 bytes)
{
	s64 x = (s64)blit->x1 * blit->pixel_bytes, y = (s64)blit->y1 + row;
	bool copy = !rop->a0 && !~rop->a1 && !rop->b0 && !rop->b1;
	s64 src_x = (s64)blit->source.x * blit->pixel_bytes, src_y = (s64)blit->source.y + row;
	int err = SOFTGPU_OK;

	if (way == BLIT_DIRECT)
		return softgpu_surface_combine(engine, &blit->dst, x, y, &blit->source.surface,
					       src_x, src_y, bytes, rows, copy ? NULL : rop);
	if (blit->source.kind == BLIT_COLOR_SOURCE && ROP_USES_SRC(blit->rop))
		err = softgpu_surface_read(engine, &blit->source.surface, src_x, src_y, bytes, rows,
					   engine->rows);
	if (err)
		return err;
	if (copy)
		return softgpu_surface_write(engine, &blit->dst, x, y, bytes, rows, engine->rows);
	return softgpu_surface_rop(engine, &blit->dst, x, y, bytes, rows, engine->rows, rop);
}

/* Rows of a plain copy between linear surfaces; several only if there is nothing between them. */
static int blit_rows_linear(struct softgpu_engine *engine, const struct blit *blit, s32 row,
			    u32 bytes)
{
	u64 dst = softgpu_surface_linear(&blit->dst, (s64)blit->x1 * blit->pixel_bytes,
					 (s64)blit->y1 + row);
	u64 src = softgpu_surface_linear(&blit->source.surface,
					 (s64)blit->source.x * blit->pixel_bytes,
					 (s64)blit->source.y + row);

	return softgpu_copy(engine, dst, src, bytes);
}

/* By how many rows is the destination rectangle below the source rectangle, if in one surface? */
static s64 blit_rows_apart(const struct blit *blit)
{
	const struct softgpu_surface *src = &blit->source.surface;
	s64 tile_row = blit->dst.pitch_bytes * softgpu_tile_rows(blit->dst.tiling);
	s64 bases = (s64)((blit->dst.base & GHYVI_PAGE_MASK) - (src->base & GHYVI_PAGE_MASK));
	s64 rows = (s64)blit->y1 - blit->source.y;

	/* Drivers reach rows beyond the range of coordinates by an offset of rows of tiles. */
	if (!(bases % tile_row))
		return rows + bases / tile_row * softgpu_tile_rows(blit->dst.tiling);
	return bases;
}

/* Must rows be processed from bottom to top because the copy overwrites its source? */
static bool blit_goes_up(const struct blit *blit)
{
	const struct softgpu_surface *src = &blit->source.surface;
	s64 apart;

	if (blit->source.kind != BLIT_COLOR_SOURCE || blit->dst.tiling != src->tiling ||
	    blit->dst.pitch_bytes != src->pitch_bytes)
		return false;
	if (blit->dst.tiling != SOFTGPU_LINEAR)
		return blit_rows_apart(blit) > 0;
	apart = (s64)(softgpu_surface_linear(&blit->dst, (s64)blit->x1 * blit->pixel_bytes,
					     blit->y1) -
		      softgpu_surface_linear(src, (s64)blit->source.x * blit->pixel_bytes,
					     blit->source.y));
	return blit->dst.pitch_bytes > 0 ? apart > 0 : apart < 0;
}

/*
 * Get the range of graphics addresses that contains the rows of a blit on one of its surfaces, from
 * byte @x of row @y on. Returns false if it wraps around the end of the address space.
 */
static bool rows_range(const struct softgpu_engine *engine, const struct softgpu_surface *surface,
		       s64 x, s64 y, u32 bytes, u32 rows, u64 *first, u64 *last)
{
	const struct softgpu_tile *tile = &softgpu_tiles[surface->tiling];
	s64 pitch = surface->pitch_bytes, end_x = x + bytes - 1, end_y = y + rows - 1;
	s64 base = surface->base, tile_bytes;

	if (surface->tiling == SOFTGPU_LINEAR) {
		*first = base + min(y * pitch, end_y * pitch) + x;
		*last = base + max(y * pitch, end_y * pitch) + end_x;
	} else {
		tile_bytes = 1LL << tile->bits;
		base &= -tile_bytes;
		pitch <<= tile->rows_shift;
		*first = base + (y >> tile->rows_shift) * pitch +
			 (x >> tile->width_shift) * tile_bytes;
		*last = base + (end_y >> tile->rows_shift) * pitch +
			(end_x >> tile->width_shift) * tile_bytes + tile_bytes - 1;
	}
	if ((*first ^ *last) & ~engine->ppgtt_mask)
		return false;
	*first &= engine->ppgtt_mask;
	*last &= engine->ppgtt_mask;
	return true;
}

/* Returns true if there is a source in memory and it certainly does not overlap the destination. */
static bool blit_is_apart(const struct softgpu_engine *engine, const struct blit *blit, u32 bytes)
{
	u32 rows = blit->y2 - blit->y1;
	u64 dst, dst_last, src, src_last;

	return blit->source.kind == BLIT_COLOR_SOURCE &&
	       rows_range(engine, &blit->dst, (s64)blit->x1 * blit->pixel_bytes, blit->y1, bytes,
			  rows, &dst, &dst_last) &&
	       rows_range(engine, &blit->source.surface, (s64)blit->source.x * blit->pixel_bytes,
			  blit->source.y, bytes, rows, &src, &src_last) &&
	       (dst_last < src || src_last < dst);
}

static enum blit_way blit_way_of(const struct blit *blit, bool apart)
{
	bool color = blit->source.kind == BLIT_COLOR_SOURCE;

	if (color ? blit->pattern.kind != BLIT_NO_PATTERN :
		    blit->source.kind != BLIT_NO_SOURCE || blit->pattern.kind != BLIT_SOLID_PATTERN)
		return BLIT_GENERAL;
	if (color && blit->rop == ROP_SOURCE && blit->mask == BLIT_ALL_BITS &&
	    blit->dst.tiling == SOFTGPU_LINEAR && blit->source.surface.tiling == SOFTGPU_LINEAR)
		return BLIT_LINEAR;
	if (apart && ROP_USES_SRC(blit->rop))
		return BLIT_DIRECT;
	return BLIT_SIMPLE;
}

/*
 * Number of rows to process at once, from row @done on: those in the same pages, so that each page
 * is mapped once. @up: the rows are counted from the bottom.
 */
static u32 band_rows(const struct blit *blit, enum blit_way way, s32 done, bool up, u32 bytes)
{
	u32 dst = softgpu_page_rows(blit->dst.tiling), most, row;
	u32 src = softgpu_page_rows(blit->source.surface.tiling), left = blit->y2 - blit->y1 - done;
	s32 y = dst > 1 ? blit->y1 : blit->source.y;

	if (way == BLIT_LINEAR && blit->dst.pitch_bytes == bytes &&
	    blit->source.surface.pitch_bytes == bytes)
		return min(left, max(1u, SOFTGPU_SLICE_BYTES / bytes));
	if (way == BLIT_LINEAR || way == BLIT_GENERAL)
		return 1;
	if (dst == 1)
		dst = src;
	row = (u32)(up ? y + (blit->y2 - blit->y1) - done : y + done) % dst;
	most = up ? row ?: dst : dst - row;
	most = min(most, 2 * SOFTGPU_ROW_BYTES / bytes);
	return max(1u, min(left, most));
}

/* Prepare as many rows as band_rows() returns at most. It takes time that is not accounted. */
static void fill_rows(struct softgpu_engine *engine, const struct blit *blit, u32 bytes)
{
	u32 rows = min_t(u32, softgpu_page_rows(blit->dst.tiling), 2 * SOFTGPU_ROW_BYTES / bytes);

	rows = min_t(u32, rows, blit->y2 - blit->y1);
	fill_row(engine->rows, blit->pattern.colors[1], blit->pixel_bytes, max(1u, rows) * bytes);
}

static int blit_rows(struct softgpu_engine *engine, const struct blit *blit, u32 bytes)
{
	const struct softgpu_rop rop =
		rop_of(blit->rop, blit->mask, blit->source.kind == BLIT_COLOR_SOURCE ? 2 : 4);
	struct softgpu_job *job = softgpu_job(engine->job);
	s32 row, rows = blit->y2 - blit->y1, done = min_t(u32, job->rows, rows);
	bool apart = blit_is_apart(engine, blit, bytes);
	enum blit_way way = blit_way_of(blit, apart);
	/* If either order is right, follow the CPU's prefetcher. */
	bool up = !apart && blit_goes_up(blit);
	int err = SOFTGPU_OK;
	u32 n;

	if (way == BLIT_SIMPLE && blit->source.kind == BLIT_NO_SOURCE)
		fill_rows(engine, blit, bytes);
	else if (blit->source.kind == BLIT_NO_SOURCE)
		memset(rows_part(engine, PART_SOURCE), 0, bytes);
	job->rows = 0;
	engine->redo = false;
	for (; done < rows && !err; done += n) {
		n = band_rows(blit, way, done, up, bytes);
		row = up ? rows - done - (s32)n : done;
		if (way == BLIT_LINEAR)
			err = blit_rows_linear(engine, blit, row, n * bytes);
		else if (way == BLIT_GENERAL)
			err = blit_row_general(engine, blit, row, bytes);
		else
			err = blit_rows_simple(engine, blit, way, &rop, row, n, bytes);
		if (!err)
			err = softgpu_part_done(engine, n * ROW_COST_BYTES);
	}
	if (err == SOFTGPU_PREEMPTED)
		job->rows = done;
	return err;
}

int softgpu_blit(struct softgpu_engine *engine, const struct blit *blit)
{
	int err;

	if (!softgpu_surface_valid(&blit->dst) || !softgpu_surface_valid(&blit->source.surface))
		return softgpu_error(engine, "blit %#010x: pitch does not fit the tiling",
				     engine->packet[0]);
	if (blit->x2 <= blit->x1 || blit->y2 <= blit->y1 || !blit->mask)
		return SOFTGPU_OK;
	err = blit_rows(engine, blit, (u32)(blit->x2 - blit->x1) * blit->pixel_bytes);
	softgpu_stream_drop_window(engine);
	return err;
}
