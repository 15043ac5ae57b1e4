// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to rows of bytes on surfaces, cell by cell. The pages of a cell are mapped together, its
 * bytes are processed row by row, and it is accounted once. With a tiled side a cell has several
 * pages in a row, because other orders of access defeat the CPU's prefetcher. It has a single page
 * if both sides are tiled alike; such a page is processed as a whole.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "surface.h"

#define IN_PAGE ((u32)GHYVI_PAGE_BYTES - 1)
#define Y_TILE_X_BITS 0xe0f
#define Y_COLUMN_BYTES 512
#define Y_BLOCK_BYTES 128
#define Y_LINE_BYTES 64 /* cache line: of a column, Y_LINE_ROWS rows */
#define Y_LINE_ROWS 4

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
	OP_COPY,
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
	u32 byte;

	for (byte = 0; byte + 32 <= bytes; byte += 32) {
		rop_8(dst + byte, input + byte, &rop, both);
		rop_8(dst + byte + 8, input + byte + 8, &rop, both);
		rop_8(dst + byte + 16, input + byte + 16, &rop, both);
		rop_8(dst + byte + 24, input + byte + 24, &rop, both);
	}
	return byte;
}

/* The operation from byte @done of a row on. Pages can end within a pixel. */
static __always_inline struct softgpu_rop rop_after(const struct softgpu_rop *rop, u32 done)
{
	return (struct softgpu_rop){
		rotate_bytes(rop->a0, done & 3),
		rotate_bytes(rop->a1, done & 3),
		rotate_bytes(rop->b0, done & 3),
		rotate_bytes(rop->b1, done & 3),
	};
}

/* @done: number of bytes of the row before @dst */
static void rop_run(u8 *dst, const u8 *input, u32 bytes, const struct softgpu_rop *rop, u32 done)
{
	const struct softgpu_rop now = rop_after(rop, done);
	u64 d = 0, in = 0;
	u32 byte, n;

	if (now.a0 || now.b1)
		byte = rop_groups(dst, input, bytes, now, true);
	else
		byte = rop_groups(dst, input, bytes, now, false);
	for (; byte < bytes; byte += n) {
		n = min_t(u32, bytes - byte, sizeof(d));
		memcpy(&d, dst + byte, n);
		memcpy(&in, input + byte, n);
		d = now.a0 ^ (in & now.a1) ^ (d & (now.b0 ^ (in & now.b1)));
		memcpy(dst + byte, &d, n);
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

/* Process contiguous bytes. @done: number of bytes of the row before them. */
static __always_inline void combine_run(u8 *dst, const u8 *src, u32 bytes, enum surface_op op,
					const struct softgpu_rop *rop, u32 done)
{
	switch (op) {
	case OP_COPY:
		memcpy(dst, src, bytes);
		break;
	case OP_ROP:
		rop_run(dst, src, bytes, rop, done);
		break;
	case OP_MERGE:
		merge_run(dst, src, bytes);
		break;
	}
}

/*
 * One of the two sides of an operation: rows of a surface, from byte @x of row @y on, or rows of
 * @pitch_bytes bytes in a buffer.
 */
struct side {
	const struct softgpu_surface *surface; /* NULL: @buffer */
	s64 x, y;
	u8 *buffer;
	u32 pitch_bytes;
};

/*
 * A position in a side. The byte is at @page + @x_offset + @y_offset. Each offset has its own bits
 * of the address: the bits of the other are set before an addition, so that the carry skips them.
 */
struct cursor {
	u8 *page; /* NULL: the page drops writes */
	u32 x_offset, y_offset;
	u32 x_bits, y_bits;
	u32 run; /* bytes of a row that are contiguous, a power of two */
	u32 block_shift; /* log2 of the bytes of a row that are in one page of a tile */
	u32 skip; /* bytes of the first of these blocks that are before the cell */
	u32 first; /* byte of the cell where cursor_begin() has put each row's begin */
	u32 first_x; /* @x_offset of that byte */
};

/*
 * A cell is what is mapped at once: @rows rows of @bytes bytes, from byte @byte of row @row of both
 * sides on.
 */
struct cell {
	u32 byte, row, bytes, rows;
};

static __always_inline bool side_is_tiled(const struct side *side)
{
	return side->surface && side->surface->tiling != SOFTGPU_LINEAR;
}

/* Number of bytes, from byte @byte of the rows on, that are in the same page of a tile. */
static __always_inline u32 side_block_left(const struct side *side, u32 byte)
{
	u32 block;

	if (!side_is_tiled(side))
		return GHYVI_PAGE_BYTES;
	block = 1u << softgpu_tiles[side->surface->tiling].block_shift;
	return block - ((side->x + byte) & (block - 1));
}

/* Number of bytes of a row, from byte @byte on, that are in the same page of a linear surface. */
static __always_inline u32 side_page_left(const struct side *side, u32 byte, u32 row)
{
	if (!side->surface)
		return GHYVI_PAGE_BYTES;
	return softgpu_to_page_end(
		softgpu_surface_linear(side->surface, side->x + byte, side->y + row));
}

/* Number of rows, from @row on, that are in the same pages of tiles. */
static __always_inline u32 side_rows_left(const struct side *side, u32 row)
{
	u32 rows;

	if (!side_is_tiled(side))
		return SOFTGPU_CELL_ROWS;
	rows = softgpu_page_rows(side->surface->tiling);
	return rows - ((side->y + row) & (rows - 1));
}

/* Begin each row of the cell behind its first @bytes, which need not be the end of a block. */
static __always_inline void cursor_begin(struct cursor *cursor, u32 bytes)
{
	cursor->first = bytes;
	cursor->first_x = spread_bits((cursor->skip + bytes) & ((1u << cursor->block_shift) - 1),
				      cursor->x_bits);
}

static __always_inline int cell_map_tiled(struct softgpu_engine *engine, const struct side *side,
					  const struct cell *cell, bool write, u8 **pages,
					  struct cursor *cursor)
{
	const struct softgpu_surface *surface = side->surface;
	const struct softgpu_tile *tile = &softgpu_tiles[surface->tiling];
	u32 tile_mask = (1u << tile->bits) - 1, y_mask = ~tile->x_bits & tile_mask;
	u32 block = 1u << tile->block_shift;
	s64 x = side->x + cell->byte, y = side->y + cell->row, end = x + cell->bytes;
	u32 y_spread = spread_bits(y & ((1 << tile->rows_shift) - 1), y_mask), x_spread;
	s64 tile_row = (y >> tile->rows_shift) * (surface->pitch_bytes >> tile->width_shift);
	u64 first = (surface->base & ~(u64)tile_mask) + ((u64)tile_row << tile->bits);
	int err = 0;

	*cursor = (struct cursor){
		.y_offset = y_spread & IN_PAGE,
		.x_bits = tile->x_bits & IN_PAGE,
		.y_bits = y_mask & IN_PAGE,
		.run = 1u << tile->run_shift,
		.block_shift = tile->block_shift,
	};
	cursor->skip = x & (block - 1);
	cursor_begin(cursor, 0);
	for (x -= cursor->skip; x < end && !err; x += block) {
		/* A tile of one page has one block in each row. */
		x_spread = tile->bits > GHYVI_PAGE_SHIFT ?
				   spread_bits(x & ((1 << tile->width_shift) - 1), tile->x_bits) :
				   0;
		err = softgpu_map(engine, SOFTGPU_PPGTT,
				  first + ((u64)(x >> tile->width_shift) << tile->bits) +
					  ((x_spread | y_spread) & ~IN_PAGE),
				  write, pages++);
	}
	return err;
}

/* Map two pages for each row; the second only if the row crosses into it. */
static __always_inline int cell_map_linear(struct softgpu_engine *engine, const struct side *side,
					   const struct cell *cell, bool write, u8 **pages)
{
	u64 address;
	u32 i, left;
	int err = 0;

	for (i = 0; i < cell->rows && !err; i++, pages += 2) {
		address = softgpu_surface_linear(side->surface, side->x + cell->byte,
						 side->y + cell->row + i);
		left = softgpu_to_page_end(address);
		err = softgpu_map(engine, SOFTGPU_PPGTT, address, write, &pages[0]);
		if (!err && left < cell->bytes)
			err = softgpu_map(engine, SOFTGPU_PPGTT, address + left, write, &pages[1]);
	}
	return err;
}

static __always_inline int cell_map(struct softgpu_engine *engine, const struct side *side,
				    const struct cell *cell, bool write, u8 **pages,
				    struct cursor *cursor)
{
	if (side_is_tiled(side))
		return cell_map_tiled(engine, side, cell, write, pages, cursor);
	*cursor = (struct cursor){ .x_bits = ~0u, .run = 1u << 31 };
	return side->surface ? cell_map_linear(engine, side, cell, write, pages) : 0;
}

/*
 * Move to byte @done of row @i of the cell. @bytes is limited to those in the same page; the cursor
 * is behind the bytes before.
 */
static __always_inline void cursor_set(struct cursor *cursor, const struct side *side,
				       const struct cell *cell, u8 *const *pages, u32 i, u32 done,
				       u32 *bytes)
{
	u32 block = 1u << cursor->block_shift, in_block, left;

	if (side_is_tiled(side)) {
		in_block = (cursor->skip + done) & (block - 1);
		cursor->page = pages[(cursor->skip + done) >> cursor->block_shift];
		if (done == cursor->first)
			cursor->x_offset = cursor->first_x;
		else if (!in_block)
			cursor->x_offset = 0;
		*bytes = min(*bytes, block - in_block);
	} else if (!side->surface) {
		cursor->page = side->buffer + (u64)(cell->row + i) * side->pitch_bytes + cell->byte;
		cursor->x_offset = done;
	} else {
		left = side_page_left(side, cell->byte, cell->row + i);
		cursor->page = pages[2 * i + (done >= left)];
		cursor->x_offset = done >= left ? done - left : done;
		*bytes = min(*bytes, done >= left ? *bytes : left - done);
	}
}

/* @bytes: to the end of a run at most */
static __always_inline u32 cursor_x_after(const struct cursor *cursor, u32 x_offset, u32 bytes)
{
	return ((x_offset | ~cursor->x_bits) + bytes) & cursor->x_bits;
}

static __always_inline void cursor_next_row(struct cursor *cursor)
{
	cursor->y_offset = ((cursor->y_offset | ~cursor->y_bits) + 1) & cursor->y_bits;
}

/* The distance of groups of 16 bytes; 0 if it is not constant or the first group is not whole. */
static __always_inline u32 cursor_step(const struct cursor *cursor)
{
	if (cursor->x_bits == ~0u)
		return 16;
	return cursor->x_bits == Y_TILE_X_BITS && !(cursor->x_offset & 15) ? Y_COLUMN_BYTES : 0;
}

/* Process @bytes of a row, in one page of each side, and move both cursors behind them. */
static __always_inline void combine_row(struct cursor *dst, struct cursor *src, u32 bytes,
					enum surface_op op, const struct softgpu_rop *rop, u32 done)
{
	u32 run = min(dst->run, src->run), to = dst->x_offset, from = src->x_offset, n;
	u32 to_step = cursor_step(dst), from_step = cursor_step(src);
	u8 *dst_row = dst->page + dst->y_offset;
	const u8 *src_row = src->page + src->y_offset;

	if (unlikely(!dst->page)) {
		dst->x_offset = cursor_x_after(dst, to, spread_bits(bytes, dst->x_bits));
		src->x_offset = cursor_x_after(src, from, spread_bits(bytes, src->x_bits));
		return;
	}
	/* With a constant length this is two instructions instead of a call. */
	if (run == 16 && to_step && from_step)
		for (; bytes >= 16; bytes -= 16, done += 16) {
			combine_run(dst_row + to, src_row + from, 16, op, rop, done);
			to += to_step;
			from += from_step;
		}
	for (; bytes; bytes -= n, done += n) {
		n = min(bytes,
			min(dst->run - (to & (dst->run - 1)), src->run - (from & (src->run - 1))));
		combine_run(dst_row + to, src_row + from, n, op, rop, done);
		to = cursor_x_after(dst, to, n);
		from = cursor_x_after(src, from, n);
	}
	dst->x_offset = to;
	src->x_offset = from;
}

/*
 * Copy @bytes of @count rows between @rows and whole blocks of Y tiles. combine_row() could do it,
 * but it takes more time because its number of columns varies, and because it takes one row at a
 * time. Returns the number of bytes of each row that were copied.
 */
static __always_inline u32 copy_columns(u8 *const *pages, u32 y_offset, u8 *const *rows, u32 count,
					u32 bytes, bool to_tiles)
{
	u32 done, byte, i;
	u8 *column;

	for (done = 0; done + Y_BLOCK_BYTES <= bytes; done += Y_BLOCK_BYTES) {
		column = pages[done / Y_BLOCK_BYTES];
		if (unlikely(!column))
			continue;
		column += y_offset;
		for (byte = done; byte < done + Y_BLOCK_BYTES; byte += 16, column += Y_COLUMN_BYTES)
			for (i = 0; i < count; i++)
				if (to_tiles)
					memcpy(column + 16 * i, rows[i] + byte, 16);
				else
					memcpy(rows[i] + byte, column + 16 * i, 16);
	}
	return done;
}

static __always_inline bool cursor_has_columns(const struct cursor *cursor)
{
	return cursor->x_bits == Y_TILE_X_BITS && !cursor->skip;
}

/*
 * Copy @rows rows of @bytes bytes from whole columns of Y tiles to others, where the rows of a
 * column are contiguous. Returns the number of bytes of each row that were copied.
 */
static __always_inline u32 copy_between_columns(u8 *const *dst_pages, struct cursor *to,
						u8 *const *src_pages, struct cursor *from,
						u32 bytes, u32 rows)
{
	u32 done, dst_x, src_x;
	u8 *page;

	for (done = 0; done + 16 <= bytes; done += 16) {
		dst_x = to->skip + done;
		src_x = from->skip + done;
		page = dst_pages[dst_x / Y_BLOCK_BYTES];
		if (unlikely(!page))
			continue;
		memcpy(page + dst_x % Y_BLOCK_BYTES / 16 * Y_COLUMN_BYTES + to->y_offset,
		       src_pages[src_x / Y_BLOCK_BYTES] +
			       src_x % Y_BLOCK_BYTES / 16 * Y_COLUMN_BYTES + from->y_offset,
		       16 * rows);
	}
	cursor_begin(to, done);
	cursor_begin(from, done);
	return done;
}

/*
 * Copy the first bytes of row @i of a cell, or of several rows from @i on, if there is a faster
 * way. Returns how many bytes of each; *@count is the number of rows.
 */
static __always_inline u32 copy_rows_begin(const struct side *dst, struct cursor *to,
					   u8 **dst_pages, const struct side *src,
					   struct cursor *from, u8 **src_pages,
					   const struct cell *cell, u32 i, u32 *count)
{
	bool to_tiles = cursor_has_columns(to);
	struct cursor *tiles = to_tiles ? to : from, *lines = to_tiles ? from : to;
	u8 **tile_pages = to_tiles ? dst_pages : src_pages;
	u8 *rows[Y_LINE_ROWS];
	u32 bytes = cell->bytes, n;

	*count = 1;
	if (to->x_bits == Y_TILE_X_BITS && from->x_bits == Y_TILE_X_BITS &&
	    !((to->skip | from->skip) & 15)) {
		*count = cell->rows;
		return copy_between_columns(dst_pages, to, src_pages, from, cell->bytes,
					    cell->rows);
	}
	if (!cursor_has_columns(tiles) || lines->x_bits != ~0u)
		return 0;
	/* Not from tiles: stores to several rows at the same place of a page delay loads. */
	if (to_tiles && cell->rows - i >= Y_LINE_ROWS && !(to->y_offset & (Y_LINE_BYTES - 1)))
		*count = Y_LINE_ROWS;
	for (n = 0; n < *count; n++) {
		cursor_set(lines, to_tiles ? src : dst, cell, to_tiles ? src_pages : dst_pages,
			   i + n, 0, &bytes);
		if (!lines->page)
			return 0;
		rows[n] = lines->page + lines->x_offset;
	}
	if (*count == 1)
		return copy_columns(tile_pages, tiles->y_offset, rows, 1, bytes, to_tiles);
	return copy_columns(tile_pages, tiles->y_offset, rows, Y_LINE_ROWS, bytes, to_tiles);
}

/* Returns true if the cell is a page of both sides with the same order of bytes. */
static __always_inline bool cell_is_page(const struct side *dst, const struct cursor *to,
					 const struct side *src, const struct cursor *from,
					 const struct cell *cell)
{
	return dst->surface->tiling == src->surface->tiling &&
	       cell->bytes * cell->rows == GHYVI_PAGE_BYTES &&
	       !(to->first_x | to->y_offset | from->first_x | from->y_offset);
}

/* Combine a cell through a buffer, because mapping a page has invalidated pointers to others. */
static int combine_apart(struct softgpu_engine *engine, const struct side *dst,
			 const struct side *src, const struct cell *cell,
			 const struct softgpu_rop *rop)
{
	s64 dst_x = dst->x + cell->byte, dst_y = dst->y + cell->row;
	struct softgpu_rop rest;
	int err = softgpu_surface_read(engine, src->surface, src->x + cell->byte,
				       src->y + cell->row, cell->bytes, cell->rows, engine->rows);

	if (err)
		return err;
	if (!rop)
		return softgpu_surface_write(engine, dst->surface, dst_x, dst_y, cell->bytes,
					     cell->rows, engine->rows);
	rest = rop_after(rop, cell->byte);
	return softgpu_surface_rop(engine, dst->surface, dst_x, dst_y, cell->bytes, cell->rows,
				   engine->rows, &rest);
}

/* Mapping a page has invalidated pointers to others: process one block alone. */
#define CELL_NARROW 0x20

/* @narrow: the cell has one page, or a buffer on each side */
static __always_inline int combine_cell(struct softgpu_engine *engine, const struct side *dst,
					const struct side *src, const struct cell *cell,
					bool narrow, enum surface_op op,
					const struct softgpu_rop *rop)
{
	u8 **dst_pages = engine->cell_pages[0], **src_pages = engine->cell_pages[1];
	u64 slice = engine->slice;
	struct cursor to, from;
	u32 i, end, first, done, count, n;
	int err;

	err = cell_map(engine, src, cell, false, src_pages, &from);
	if (!err)
		err = cell_map(engine, dst, cell, true, dst_pages, &to);
	if (err)
		return err;
	if (unlikely(engine->slice != slice)) {
		if (dst->surface && src->surface)
			return combine_apart(engine, dst, src, cell, rop);
		if (!narrow)
			return CELL_NARROW;
	}
	if (side_is_tiled(dst) && side_is_tiled(src)) {
		if (dst_pages[0] && cell_is_page(dst, &to, src, &from, cell)) {
			combine_run(dst_pages[0], src_pages[0], GHYVI_PAGE_BYTES, op, rop,
				    cell->byte);
			return 0;
		}
	}
	for (i = 0; i < cell->rows;) {
		first = 0;
		end = i + 1;
		if (op == OP_COPY) {
			first = copy_rows_begin(dst, &to, dst_pages, src, &from, src_pages, cell, i,
						&count);
			end = i + count;
		}
		for (; i < end; i++) {
			for (done = first; done < cell->bytes; done += n) {
				n = cell->bytes - done;
				cursor_set(&to, dst, cell, dst_pages, i, done, &n);
				cursor_set(&from, src, cell, src_pages, i, done, &n);
				combine_row(&to, &from, n, op, rop, cell->byte + done);
			}
			cursor_next_row(&to);
			cursor_next_row(&from);
		}
	}
	return 0;
}

/* Returns true if pages of both sides contain the same rows and columns in the same order. */
static __always_inline bool sides_are_alike(const struct side *dst, const struct side *src)
{
	const struct softgpu_tile *tile;

	if (!side_is_tiled(dst) || !side_is_tiled(src) ||
	    dst->surface->tiling != src->surface->tiling)
		return false;
	tile = &softgpu_tiles[dst->surface->tiling];
	return !((dst->x - src->x) & ((1 << tile->block_shift) - 1)) &&
	       !((dst->y - src->y) & (softgpu_page_rows(dst->surface->tiling) - 1));
}

/* Number of bytes from byte @byte of row @row on for one cell. */
static __always_inline u32 cell_width(const struct side *dst, const struct side *src, u32 byte,
				      u32 row, bool single)
{
	if (!side_is_tiled(dst) && !side_is_tiled(src))
		return min(side_page_left(dst, byte, row), side_page_left(src, byte, row));
	if (single)
		return min(side_block_left(dst, byte), side_block_left(src, byte));
	return softgpu_to_page_end((side_is_tiled(dst) ? dst : src)->x + byte);
}

static __always_inline u32 cell_height(const struct side *dst, const struct side *src, u32 row,
				       bool alike)
{
	u32 rows;

	if (!side_is_tiled(dst) && !side_is_tiled(src))
		return 1;
	rows = min(side_rows_left(dst, row), side_rows_left(src, row));
	return alike ? rows : min_t(u32, rows, SOFTGPU_CELL_ROWS);
}

static __always_inline int combine_sides(struct softgpu_engine *engine, const struct side *dst,
					 const struct side *src, u32 bytes, u32 rows,
					 enum surface_op op, const struct softgpu_rop *rop)
{
	bool alike = sides_are_alike(dst, src), narrow = false;
	struct cell cell = {};
	int err = 0;

	for (; cell.row < rows; cell.row += cell.rows) {
		cell.rows = min(rows - cell.row, cell_height(dst, src, cell.row, alike));
		for (cell.byte = 0; cell.byte < bytes; cell.byte += cell.bytes) {
			cell.bytes = min(bytes - cell.byte, cell_width(dst, src, cell.byte,
								       cell.row, alike || narrow));
			err = combine_cell(engine, dst, src, &cell, narrow, op, rop);
			narrow = err == CELL_NARROW;
			if (narrow)
				cell.bytes = 0;
			else if (!err)
				err = softgpu_spend(engine, cell.bytes * cell.rows);
			if (err && !narrow)
				return err;
		}
	}
	return 0;
}

int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			 s64 x, s64 y, u32 bytes, u32 rows, u8 *buffer)
{
	const struct side dst = { .buffer = buffer, .pitch_bytes = bytes };
	const struct side src = { .surface = surface, .x = x, .y = y };

	return combine_sides(engine, &dst, &src, bytes, rows, OP_COPY, NULL);
}

int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, u32 rows, const u8 *buffer)
{
	const struct side dst = { .surface = surface, .x = x, .y = y };
	const struct side src = { .buffer = (u8 *)buffer, .pitch_bytes = bytes };

	return combine_sides(engine, &dst, &src, bytes, rows, OP_COPY, NULL);
}

int softgpu_surface_rop(struct softgpu_engine *engine, const struct softgpu_surface *surface, s64 x,
			s64 y, u32 bytes, u32 rows, const u8 *buffer, const struct softgpu_rop *rop)
{
	const struct side dst = { .surface = surface, .x = x, .y = y };
	const struct side src = { .buffer = (u8 *)buffer, .pitch_bytes = bytes };

	return combine_sides(engine, &dst, &src, bytes, rows, OP_ROP, rop);
}

int softgpu_surface_merge(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, const u8 *row)
{
	const struct side dst = { .surface = surface, .x = x, .y = y };
	const struct side src = { .buffer = (u8 *)row };

	return combine_sides(engine, &dst, &src, bytes, 1, OP_MERGE, NULL);
}

int softgpu_surface_combine(struct softgpu_engine *engine, const struct softgpu_surface *dst,
			    s64 dst_x, s64 dst_y, const struct softgpu_surface *src, s64 src_x,
			    s64 src_y, u32 bytes, u32 rows, const struct softgpu_rop *rop)
{
	const struct side to = { .surface = dst, .x = dst_x, .y = dst_y };
	const struct side from = { .surface = src, .x = src_x, .y = src_y };

	if (rop)
		return combine_sides(engine, &to, &from, bytes, rows, OP_ROP, rop);
	return combine_sides(engine, &to, &from, bytes, rows, OP_COPY, NULL);
}
