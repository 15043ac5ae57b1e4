// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter: fills and copies rectangles with any raster operation.
 *
 * Rows are processed from top to bottom even if source and destination overlap. Within a row the
 * source is read before it is overwritten.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "surface.h"

#define OPCODE_2D(header) ((header) >> 22 & 0x7f)
#define XY_FAST_COPY 0x42
#define XY_COLOR 0x50
#define XY_SRC_COPY 0x53

#define COLOR_DWORDS 7
#define COPY_DWORDS 10

#define WRITE_ALPHA BIT(21)
#define WRITE_RGB BIT(20)
#define SRC_TILED BIT(15)
#define DST_TILED BIT(11)
#define FAST_SRC_TILING(header) ((header) >> 20 & 3)
#define FAST_DST_TILING(header) ((header) >> 13 & 3)
#define DEPTH(dword) ((dword) >> 24 & 3)
#define FAST_DEPTH(dword) ((dword) >> 24 & 7)
#define ROP(dword) ((dword) >> 16 & 0xff)

#define ROP_SOURCE 0xcc
#define ROP_PATTERN 0xf0
/*
 * The result of an operation for inputs P, S and D is its bit (P << 2 | S << 1 | D). So it depends
 * on an input if bits differ whose numbers differ only in that input.
 */
#define ROP_USES_DST(rop) ((((rop) >> 1) ^ (rop)) & 0x55)
#define ROP_USES_SRC(rop) ((((rop) >> 2) ^ (rop)) & 0x33)

/* Cost of a row in addition to its bytes: even an empty row takes time. */
#define ROW_COST_BYTES 64

#define ALL_BITS 0xffffffffu
#define ALPHA_BITS 0xff000000u

struct blit {
	struct softgpu_surface dst, src;
	s32 x1, y1, x2, y2; /* destination rectangle; x2 and y2 are exclusive */
	s32 src_x, src_y;
	unsigned int pixel_bytes;
	u32 rop;
	u32 mask; /* bits of a 32-bit pixel that are written */
	bool has_src;
	u32 color; /* the pattern, if there is no source */
};

static s32 low16(u32 dword)
{
	return (s16)(dword & 0xffff);
}

static s32 high16(u32 dword)
{
	return (s16)(dword >> 16);
}

static struct softgpu_surface blt_surface(const u32 *address, u32 pitch, enum softgpu_tiling tiling)
{
	return (struct softgpu_surface){
		.base = ((u64)address[1] << 32 | address[0]) & GENMASK_ULL(47, 0),
		.pitch_bytes = tiling == SOFTGPU_LINEAR ? low16(pitch) : low16(pitch) * 4,
		.tiling = tiling,
	};
}

static enum softgpu_tiling tiling_of(struct softgpu_engine *engine, bool tiled, u32 y_bit)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;
	u32 control = 0;

	if (!tiled)
		return SOFTGPU_LINEAR;
	if (BCS_SWCTRL < params->registers_bytes)
		control = READ_ONCE(params->registers[BCS_SWCTRL / 4]);
	return control & y_bit ? SOFTGPU_Y_TILED : SOFTGPU_X_TILED;
}

static u64 rop64(u32 rop, u64 p, u64 s, u64 d)
{
	u64 result = 0;

	if (rop & BIT(0))
		result |= ~p & ~s & ~d;
	if (rop & BIT(1))
		result |= ~p & ~s & d;
	if (rop & BIT(2))
		result |= ~p & s & ~d;
	if (rop & BIT(3))
		result |= ~p & s & d;
	if (rop & BIT(4))
		result |= p & ~s & ~d;
	if (rop & BIT(5))
		result |= p & ~s & d;
	if (rop & BIT(6))
		result |= p & s & ~d;
	if (rop & BIT(7))
		result |= p & s & d;
	return result;
}

/* @input is the source, or the pattern if the blit has no source. The other one is taken as 0. */
static void rop_row(const struct blit *blit, u8 *dst, const u8 *input, u32 bytes)
{
	u64 mask = (u64)blit->mask << 32 | blit->mask;
	u32 at, n;

	for (at = 0; at < bytes; at += n) {
		u64 d = 0, in = 0, result;

		n = min_t(u32, bytes - at, sizeof(u64));
		memcpy(&d, dst + at, n);
		memcpy(&in, input + at, n);
		result = blit->has_src ? rop64(blit->rop, 0, in, d) : rop64(blit->rop, in, 0, d);
		result = (d & ~mask) | (result & mask);
		memcpy(dst + at, &result, n);
	}
}

/* Process one row of a blit that is not a plain copy between linear surfaces. */
static int blit_row(struct softgpu_engine *engine, const struct blit *blit, s32 row, u32 bytes)
{
	u8 *input = engine->rows, *dst = engine->rows + SOFTGPU_ROW_BYTES;
	s64 x = (s64)blit->x1 * blit->pixel_bytes;
	s64 y = (s64)blit->y1 + row;
	bool plain = blit->mask == ALL_BITS &&
		     blit->rop == (blit->has_src ? ROP_SOURCE : ROP_PATTERN);
	int err = 0;

	if (blit->has_src && ROP_USES_SRC(blit->rop))
		err = softgpu_surface_read(engine, &blit->src, (s64)blit->src_x * blit->pixel_bytes,
					   (s64)blit->src_y + row, bytes, input);
	if (!err && plain)
		return softgpu_surface_write(engine, &blit->dst, x, y, bytes, input);
	if (!err && (ROP_USES_DST(blit->rop) || blit->mask != ALL_BITS))
		err = softgpu_surface_read(engine, &blit->dst, x, y, bytes, dst);
	if (err)
		return err;
	rop_row(blit, dst, input, bytes);
	return softgpu_surface_write(engine, &blit->dst, x, y, bytes, dst);
}

static void fill_row(u8 *row, u32 color, unsigned int pixel_bytes, u32 bytes)
{
	u32 i;

	/* Little endian: the low-order bytes of the color come first. */
	for (i = 0; i < bytes; i += pixel_bytes)
		memcpy(row + i, &color, pixel_bytes);
}

static int blit_run(struct softgpu_engine *engine, const struct blit *blit)
{
	bool direct = blit->has_src && blit->rop == ROP_SOURCE && blit->mask == ALL_BITS &&
		      blit->dst.tiling == SOFTGPU_LINEAR && blit->src.tiling == SOFTGPU_LINEAR;
	s32 row, rows = blit->y2 - blit->y1;
	int err = 0;
	u32 bytes;

	if (!softgpu_surface_valid(&blit->dst) ||
	    (blit->has_src && !softgpu_surface_valid(&blit->src)))
		return softgpu_error(engine, "blit %#010x: pitch does not fit the tiling",
				     engine->packet[0]);
	if (blit->x2 <= blit->x1 || rows <= 0 || !blit->mask)
		return SOFTGPU_OK;
	bytes = (u32)(blit->x2 - blit->x1) * blit->pixel_bytes;
	if (!blit->has_src)
		fill_row(engine->rows, blit->color, blit->pixel_bytes, bytes);

	for (row = 0; row < rows && !err; row++) {
		if (direct)
			err = softgpu_copy(engine,
					   softgpu_surface_linear(&blit->dst,
								  (s64)blit->x1 * blit->pixel_bytes,
								  (s64)blit->y1 + row),
					   softgpu_surface_linear(
						   &blit->src, (s64)blit->src_x * blit->pixel_bytes,
						   (s64)blit->src_y + row),
					   bytes);
		else
			err = blit_row(engine, blit, row, bytes);
		if (!err)
			err = softgpu_spend(engine, ROW_COST_BYTES);
	}
	softgpu_stream_drop_window(engine);
	return err;
}

static void blit_rectangle(struct blit *blit, const u32 *packet)
{
	blit->x1 = low16(packet[2]);
	blit->y1 = high16(packet[2]);
	blit->x2 = low16(packet[3]);
	blit->y2 = high16(packet[3]);
}

static void blit_source(struct blit *blit, const u32 *packet, enum softgpu_tiling tiling)
{
	blit->has_src = true;
	blit->src_x = low16(packet[6]);
	blit->src_y = high16(packet[6]);
	blit->src = blt_surface(&packet[8], packet[7], tiling);
}

static unsigned int depth_bytes(u32 depth)
{
	static const u8 bytes[] = { 1, 2, 2, 4 };

	return bytes[depth];
}

/* The write enables apply only to 32-bit pixels. */
static u32 write_mask(u32 header, unsigned int pixel_bytes)
{
	if (pixel_bytes != 4)
		return ALL_BITS;
	return (header & WRITE_ALPHA ? ALPHA_BITS : 0) | (header & WRITE_RGB ? ~ALPHA_BITS : 0);
}

static int xy_color(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	enum softgpu_tiling tiling = tiling_of(engine, packet[0] & DST_TILED, BCS_DST_Y);
	struct blit blit = {
		.pixel_bytes = depth_bytes(DEPTH(packet[1])),
		.rop = ROP(packet[1]),
		.dst = blt_surface(&packet[4], packet[1], tiling),
		.color = packet[6],
	};

	blit_rectangle(&blit, packet);
	blit.mask = write_mask(packet[0], blit.pixel_bytes);
	return blit_run(engine, &blit);
}

static int xy_src_copy(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	enum softgpu_tiling tiling = tiling_of(engine, packet[0] & DST_TILED, BCS_DST_Y);
	struct blit blit = {
		.pixel_bytes = depth_bytes(DEPTH(packet[1])),
		.rop = ROP(packet[1]),
		.dst = blt_surface(&packet[4], packet[1], tiling),
	};

	blit_rectangle(&blit, packet);
	blit.mask = write_mask(packet[0], blit.pixel_bytes);
	blit_source(&blit, packet, tiling_of(engine, packet[0] & SRC_TILED, BCS_SRC_Y));
	return blit_run(engine, &blit);
}

static int xy_fast_copy(struct softgpu_engine *engine)
{
	static const u8 bytes[8] = { 1, 2, 0, 4, 8, 16, 0, 0 };
	const u32 *packet = engine->packet;
	u32 dst_tiling = FAST_DST_TILING(packet[0]);
	u32 src_tiling = FAST_SRC_TILING(packet[0]);
	struct blit blit = {
		.pixel_bytes = bytes[FAST_DEPTH(packet[1])],
		.rop = ROP_SOURCE,
		.mask = ALL_BITS,
	};

	if (!blit.pixel_bytes || dst_tiling > SOFTGPU_Y_TILED || src_tiling > SOFTGPU_Y_TILED)
		return softgpu_error(engine,
				     "XY_FAST_COPY_BLT %#010x %#010x: unknown depth or tiling",
				     packet[0], packet[1]);
	/* The tiling fields have the values of enum softgpu_tiling. */
	blit.dst = blt_surface(&packet[4], packet[1], dst_tiling);
	blit_rectangle(&blit, packet);
	blit_source(&blit, packet, src_tiling);
	return blit_run(engine, &blit);
}

static int blt_length(struct softgpu_engine *engine, unsigned int dwords)
{
	if (engine->packet_dwords == dwords)
		return SOFTGPU_OK;
	return softgpu_error(engine, "blit %#010x of %u dwords", engine->packet[0],
			     engine->packet_dwords);
}

int softgpu_blt(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];

	switch (OPCODE_2D(header)) {
	case XY_COLOR:
		return blt_length(engine, COLOR_DWORDS) ?: xy_color(engine);
	case XY_SRC_COPY:
		return blt_length(engine, COPY_DWORDS) ?: xy_src_copy(engine);
	case XY_FAST_COPY:
		if (engine->client->base.params.gen >= 9)
			return blt_length(engine, COPY_DWORDS) ?: xy_fast_copy(engine);
		break;
	}
	return softgpu_error(engine, "2D command %#010x is unknown", header);
}
