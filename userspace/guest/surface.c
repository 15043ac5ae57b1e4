// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "surface.h"

unsigned int tile_width(enum tiling tiling)
{
	return tiling == TILING_X ? 512 : tiling == TILING_Y ? 128 : 1;
}

/* In rows; 1 for linear. */
static unsigned int tile_height(enum tiling tiling)
{
	return tiling == TILING_X ? 8 : tiling == TILING_Y ? 32 : 1;
}

const char *tiling_name(enum tiling tiling)
{
	static const char *const names[] = { "linear", "X", "Y" };

	return names[tiling];
}

uint32_t surface_address(const struct surface *s, uint32_t xb, uint32_t y)
{
	uint32_t tile, tw = tile_width(s->tiling), th = tile_height(s->tiling);

	if (s->tiling == TILING_LINEAR)
		return s->offset + y * s->pitch + xb;
	tile = s->offset + y / th * (s->pitch * th) + xb / tw * TILE_BYTES;
	if (s->tiling == TILING_X)
		return tile + y % 8 * 512 + xb % 512;
	return tile + xb % 128 / 16 * 512 + y % 32 * 16 + xb % 16;
}

bool surface_locate(const struct surface *s, uint32_t address, unsigned int *x, unsigned int *y)
{
	uint32_t tiles, tile, in, row, xb;

	if (address < s->offset)
		return false;
	address -= s->offset;
	if (s->tiling == TILING_LINEAR) {
		row = address / s->pitch;
		xb = address % s->pitch;
	} else {
		tiles = s->pitch / tile_width(s->tiling);
		tile = address / TILE_BYTES;
		in = address % TILE_BYTES;
		row = tile / tiles * tile_height(s->tiling);
		xb = tile % tiles * tile_width(s->tiling);
		if (s->tiling == TILING_X) {
			row += in / 512;
			xb += in % 512;
		} else {
			row += in % 512 / 16;
			xb += in / 512 * 16 + in % 16;
		}
	}
	*x = xb / s->pixel_bytes;
	*y = row;
	return *x < s->width && row < s->height;
}

/* From @offset to the end of the surface. */
static uint32_t surface_bytes(const struct surface *s)
{
	unsigned int th = tile_height(s->tiling);

	return (s->height + th - 1) / th * th * s->pitch;
}

/* A ternary raster operation, bit by bit. */
static uint32_t apply_rop(uint8_t rop, uint32_t p, uint32_t s, uint32_t d)
{
	uint32_t result = 0;

	for (int term = 0; term < 8; term++)
		if (rop & 1 << term)
			result |= (term & 4 ? p : ~p) & (term & 2 ? s : ~s) & (term & 1 ? d : ~d);
	return result;
}

static uint32_t pixel_read(const struct surface *s, unsigned int x, unsigned int y)
{
	uint32_t value = 0;

	/*
	 * A pixel never crosses a tile or a column of a tile: their widths are multiples of 16
	 * bytes.
	 */
	memcpy(&value, s->expected + surface_address(s, x * s->pixel_bytes, y), s->pixel_bytes);
	return value;
}

static void pixel_write(struct surface *s, unsigned int x, unsigned int y, uint32_t value)
{
	memcpy(s->expected + surface_address(s, x * s->pixel_bytes, y), &value, s->pixel_bytes);
}

void blit_reference(struct surface *surfaces, const struct blit *blit)
{
	struct surface *dst = &surfaces[blit->dst];
	const struct surface *src = &surfaces[blit->src];
	unsigned int width = blit->x2 - blit->x1, height = blit->y2 - blit->y1;
	uint32_t *source = NULL;

	if (blit->op != BLIT_COLOR) {
		source = malloc(sizeof(*source) * width * height);
		if (!source)
			abort();
		for (unsigned int y = 0; y < height; y++)
			for (unsigned int x = 0; x < width; x++)
				source[y * width + x] = pixel_read(src, blit->sx + x, blit->sy + y);
	}
	for (unsigned int y = 0; y < height; y++) {
		for (unsigned int x = 0; x < width; x++) {
			uint32_t old = pixel_read(dst, blit->x1 + x, blit->y1 + y);
			uint32_t new = apply_rop(blit->rop, blit->color,
						 source ? source[y * width + x] : 0, old);

			new = (new & blit->write_mask) | (old & ~blit->write_mask);
			pixel_write(dst, blit->x1 + x, blit->y1 + y, new);
		}
	}
	free(source);
}

void surface_choose(struct random *r, struct surface *s, unsigned int pixel_bytes,
		    unsigned int size)
{
	unsigned int row_bytes, tw;

	s->tiling = random_range(r, 0, 3);
	if (s->tiling > TILING_Y)
		s->tiling = TILING_LINEAR;
	s->pixel_bytes = pixel_bytes;
	s->width = random_range(r, size / 8 + 1, size);
	s->height = random_range(r, size / 8 + 1, size);
	row_bytes = s->width * pixel_bytes;
	tw = tile_width(s->tiling);
	if (s->tiling == TILING_LINEAR) {
		/* XY_FAST_COPY_BLT requires a multiple of 16. */
		s->pitch = (row_bytes + 15) & ~15u;
		switch (random_range(r, 0, 3)) {
		case 0: /* rows cross page boundaries at different offsets */
			s->pitch += 16 * random_range(r, 1, 255);
			break;
		case 1: /* rows are more than a page apart */
			s->pitch += PAGE_BYTES + 16 * random_range(r, 0, 31);
			if (s->height > 64)
				s->height = 64;
			break;
		}
		s->offset = random_range(r, 0, 1) ? 64 * random_range(r, 0, 63) : 0;
	} else {
		s->pitch = (row_bytes + tw - 1) / tw * tw + tw * random_range(r, 0, 1);
		s->offset = PAGE_BYTES * random_range(r, 0, 1);
	}
	s->object_bytes = (s->offset + surface_bytes(s) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	s->object_bytes += PAGE_BYTES * random_range(r, 0, 1);
	s->expected = NULL;
}

static void swap(unsigned int *a, unsigned int *b)
{
	unsigned int was = *a;

	*a = *b;
	*b = was;
}

/* Chooses a length of at most @limit; often @limit itself or a very small one. */
static unsigned int choose_length(struct random *r, unsigned int limit)
{
	switch (random_range(r, 0, 5)) {
	case 0:
		return limit;
	case 1:
		return random_range(r, 1, limit < 4 ? limit : 4);
	default:
		return random_range(r, 1, limit);
	}
}

void blit_choose(struct random *r, const struct surface *surfaces, unsigned int count, bool fast,
		 struct blit *blit)
{
	static const uint8_t color_rops[] = { ROP_PATTERN, ROP_PATTERN, ROP_PATTERN, 0x5a, 0x0f,
					      0xa0,	   0xfa,	0x55,	     0x00, 0xff };
	static const uint8_t copy_rops[] = { ROP_SOURCE, ROP_SOURCE, ROP_SOURCE, 0x66, 0x88,
					     0xee,	 0x33,	     0x44,	 0x22, 0xbb };
	const struct surface *dst, *src;
	unsigned int width, height, step = 1;

	memset(blit, 0, sizeof(*blit));
	blit->op = random_range(r, 0, fast ? 2 : 1);
	blit->dst = random_range(r, 0, count - 1);
	blit->src = random_range(r, 0, count - 1);
	/* The result of an overlapping XY_FAST_COPY_BLT is undefined. */
	if (blit->op == BLIT_FAST_COPY && blit->src == blit->dst) {
		if (count > 1)
			blit->src = (blit->dst + 1) % count;
		else
			blit->op = BLIT_COPY;
	}
	dst = &surfaces[blit->dst];
	src = blit->op == BLIT_COLOR ? dst : &surfaces[blit->src];
	width = dst->width < src->width ? dst->width : src->width;
	height = dst->height < src->height ? dst->height : src->height;
	width = choose_length(r, width);
	height = choose_length(r, height);
	/* XY_FAST_COPY_BLT requires that the first pixel is on a 16-byte boundary. */
	if (blit->op == BLIT_FAST_COPY)
		step = 16 / dst->pixel_bytes;
	blit->x1 = random_range(r, 0, dst->width - width) / step * step;
	blit->y1 = random_range(r, 0, dst->height - height);
	blit->sx = random_range(r, 0, src->width - width) / step * step;
	blit->sy = random_range(r, 0, src->height - height);
	/*
	 * Within one surface, copy only upwards or sideways. It is not known for all blitters
	 * whether an overlapping copy downwards starts at the bottom.
	 */
	if (blit->op == BLIT_COPY && blit->src == blit->dst && blit->sy < blit->y1) {
		swap(&blit->sx, &blit->x1);
		swap(&blit->sy, &blit->y1);
	}
	blit->x2 = blit->x1 + width;
	blit->y2 = blit->y1 + height;
	blit->write_mask = dst->pixel_bytes == 4 ? ~0u : (1u << 8 * dst->pixel_bytes) - 1;
	blit->rop = ROP_SOURCE;
	if (blit->op == BLIT_COLOR) {
		blit->rop = color_rops[random_range(r, 0, sizeof(color_rops) - 1)];
		blit->color = random_next(r) & blit->write_mask;
	} else if (blit->op == BLIT_COPY) {
		blit->rop = copy_rops[random_range(r, 0, sizeof(copy_rops) - 1)];
	}
	if (blit->op != BLIT_FAST_COPY && dst->pixel_bytes == 4 && !random_range(r, 0, 4))
		blit->write_mask = random_range(r, 0, 1) ? 0xffffff : 0xff000000;
}

/* ---- self-test: independent computations of the same results ---- */

/* Composes the address from the bits of the coordinates, as the manuals draw them. */
static uint32_t address_by_bits(const struct surface *s, uint32_t xb, uint32_t y)
{
	uint32_t tiles_x = s->pitch / tile_width(s->tiling);

	if (s->tiling == TILING_X)
		return s->offset +
		       (((y >> 3) * tiles_x + (xb >> 9)) << 12 | (y & 7) << 9 | (xb & 511));
	return s->offset + (((y >> 5) * tiles_x + (xb >> 7)) << 12 | (xb >> 4 & 7) << 9 |
			    (y & 31) << 4 | (xb & 15));
}

static int test_addresses(struct random *r)
{
	struct surface s;
	int failures = 0;

	for (int round = 0; round < 60; round++) {
		unsigned int x, y;
		uint8_t *seen;

		surface_choose(r, &s, 1u << random_range(r, 0, 2), 200);
		seen = calloc(1, s.object_bytes);
		for (uint32_t row = 0; row < s.height; row++) {
			for (uint32_t xb = 0; xb < s.width * s.pixel_bytes; xb++) {
				uint32_t address = surface_address(&s, xb, row);

				if (address >= s.object_bytes || seen[address]++ ||
				    (s.tiling != TILING_LINEAR &&
				     address != address_by_bits(&s, xb, row)) ||
				    !surface_locate(&s, address, &x, &y) ||
				    x != xb / s.pixel_bytes || y != row)
					failures++;
			}
		}
		for (uint32_t address = 0; address < s.object_bytes; address++)
			if (!seen[address] && surface_locate(&s, address, &x, &y))
				failures++;
		free(seen);
	}
	if (failures)
		printf("self-test: %d wrong tile addresses\n", failures);
	return failures;
}

/* Copies bytes instead of pixels, row by row from top to bottom through a buffer. */
static void blit_by_rows(const struct surface *surfaces, uint8_t *const *memory,
			 const struct blit *blit)
{
	const struct surface *dst = &surfaces[blit->dst], *src = &surfaces[blit->src];
	unsigned int bytes = (blit->x2 - blit->x1) * dst->pixel_bytes, height = blit->y2 - blit->y1;
	uint8_t *row = malloc(bytes);

	for (unsigned int y = 0; y < height; y++) {
		for (unsigned int xb = 0; xb < bytes; xb++)
			row[xb] = blit->op == BLIT_COLOR ?
					  0 :
					  memory[blit->src][surface_address(
						  src, blit->sx * src->pixel_bytes + xb,
						  blit->sy + y)];
		for (unsigned int xb = 0; xb < bytes; xb++) {
			uint32_t shift = xb % dst->pixel_bytes * 8;
			uint8_t *byte = &memory[blit->dst][surface_address(
				dst, blit->x1 * dst->pixel_bytes + xb, blit->y1 + y)];
			uint8_t mask = blit->write_mask >> shift, result = 0;

			for (int bit = 0; bit < 8; bit++) {
				int p = blit->color >> shift >> bit & 1, s = row[xb] >> bit & 1,
				    d = *byte >> bit & 1;

				result |= (blit->rop >> (p << 2 | s << 1 | d) & 1) << bit;
			}
			*byte = (result & mask) | (*byte & ~mask);
		}
	}
	free(row);
}

static int test_blits(struct random *r)
{
	int failures = 0;

	for (int round = 0; round < 40; round++) {
		unsigned int pixel_bytes = 1u << random_range(r, 0, 2);
		struct surface surfaces[3];
		uint8_t *memory[3];

		for (int i = 0; i < 3; i++) {
			surface_choose(r, &surfaces[i], pixel_bytes, 96);
			surfaces[i].expected = malloc(surfaces[i].object_bytes);
			memory[i] = malloc(surfaces[i].object_bytes);
			random_fill(r, memory[i], surfaces[i].object_bytes);
			memcpy(surfaces[i].expected, memory[i], surfaces[i].object_bytes);
		}
		for (int n = 0; n < 12; n++) {
			struct blit blit;

			blit_choose(r, surfaces, 3, true, &blit);
			if (blit.x2 > surfaces[blit.dst].width ||
			    blit.y2 > surfaces[blit.dst].height)
				failures++;
			blit_reference(surfaces, &blit);
			blit_by_rows(surfaces, memory, &blit);
			for (int i = 0; i < 3; i++) {
				if (memcmp(memory[i], surfaces[i].expected,
					   surfaces[i].object_bytes)) {
					printf("self-test: round %d blit %d: op %d rop %02x differs in surface %d\n",
					       round, n, blit.op, blit.rop, i);
					failures++;
					memcpy(memory[i], surfaces[i].expected,
					       surfaces[i].object_bytes);
				}
			}
		}
		for (int i = 0; i < 3; i++) {
			free(surfaces[i].expected);
			free(memory[i]);
		}
	}
	return failures;
}

int surface_self_test(uint64_t seed)
{
	struct random r;
	int failures;

	random_seed(&r, seed);
	failures = test_addresses(&r) + test_blits(&r);
	printf("self-test: %s\n", failures ? "FAILED" : "passed");
	return failures;
}
