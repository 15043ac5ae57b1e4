// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter's commands. Layouts are those of Gen8 and Gen9, which have addresses of two dwords,
 * as xf86-video-intel (src/sna) emits them; names of fields are the manual's.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "blit.h"

#define OPCODE_2D(header) ((header) >> 22 & 0x7f)

/* Dword 0. */
#define WRITE_ALPHA BIT(21)
#define WRITE_RGB BIT(20)
#define MONO_FIRST_BIT(header) ((header) >> 17 & 7)
#define TEXT_BYTE_PACKED BIT(16)
#define SRC_TILED BIT(15)
#define PATTERN_X(header) ((header) >> 12 & 7)
#define DST_TILED BIT(11)
#define PATTERN_Y(header) ((header) >> 8 & 7)
/* BR13: dword 1 of the commands that have it. */
#define SOLID_PATTERN BIT(31)
#define CLIPPING BIT(30)
#define MONO_SRC_TRANSPARENT BIT(29)
#define MONO_PAT_TRANSPARENT BIT(28)
#define DEPTH(dword) ((dword) >> 24 & 3)
#define ROP(dword) ((dword) >> 16 & 0xff)
/* XY_FAST_COPY_BLT has fields of its own. */
#define FAST_SRC_TILING(header) ((header) >> 20 & 3)
#define FAST_DST_TILING(header) ((header) >> 13 & 3)
#define FAST_DEPTH(dword) ((dword) >> 24 & 7)
#define FAST_SRC_YF BIT(31) /* Y tiles are of the kind Yf */
#define FAST_DST_YF BIT(30)
#define FAST_Y 2
#define FAST_YS 3 /* tiles of 64 KiB */

/* Rows of a mono source begin at words. Text has its own rule. */
#define MONO_ROW_BITS 16
#define PATTERN_ADDRESS_MASK GENMASK_ULL(47, 6)

static s32 low16(u32 dword)
{
	return (s16)(dword & 0xffff);
}

static s32 high16(u32 dword)
{
	return (s16)(dword >> 16);
}

static u64 blt_address(const u32 *dwords)
{
	return ((u64)dwords[1] << 32 | dwords[0]) & GENMASK_ULL(47, 0);
}

static struct softgpu_surface blt_surface(const u32 *address, u32 pitch, enum softgpu_tiling tiling)
{
	return (struct softgpu_surface){
		.base = blt_address(address),
		.pitch_bytes = tiling == SOFTGPU_LINEAR ? low16(pitch) : low16(pitch) * 4,
		.tiling = tiling,
	};
}

static enum softgpu_tiling tiling_of(struct softgpu_engine *engine, bool tiled, u32 y_bit)
{
	if (!tiled)
		return SOFTGPU_LINEAR;
	return softgpu_register_peek(engine, BCS_SWCTRL) & y_bit ? SOFTGPU_Y_TILED :
								   SOFTGPU_X_TILED;
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
		return BLIT_ALL_BITS;
	return (header & WRITE_ALPHA ? BLIT_ALPHA_BITS : 0) |
	       (header & WRITE_RGB ? ~BLIT_ALPHA_BITS : 0);
}

static void blit_rectangle(struct blit *blit, u32 first, u32 last)
{
	blit->x1 = low16(first);
	blit->y1 = high16(first);
	blit->x2 = low16(last);
	blit->y2 = high16(last);
}

/* Clip to the rectangle of XY_SETUP_BLT and XY_SETUP_CLIP_BLT; right and bottom are exclusive. */
static void blit_clip(struct softgpu_engine *engine, struct blit *blit, u32 br13)
{
	const struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;
	s32 x = blit->x1, y = blit->y1;

	if (!(br13 & CLIPPING))
		return;
	blit->x1 = max(blit->x1, low16(setup->clip[0]));
	blit->y1 = max(blit->y1, high16(setup->clip[0]));
	blit->x2 = min(blit->x2, low16(setup->clip[1]));
	blit->y2 = min(blit->y2, high16(setup->clip[1]));
	blit->source.x += blit->x1 - x;
	blit->source.y += blit->y1 - y;
}

/* @header: with the write enables. @dst: address of the destination */
static void blit_begin(struct softgpu_engine *engine, struct blit *blit, u32 header, u32 br13,
		       const u32 *dst)
{
	bool tiled = engine->packet[0] & DST_TILED;

	blit->pixel_bytes = depth_bytes(DEPTH(br13));
	blit->rop = ROP(br13);
	blit->mask = write_mask(header, blit->pixel_bytes);
	blit->dst = blt_surface(dst, br13, tiling_of(engine, tiled, BCS_DST_Y));
	blit->pattern.x = PATTERN_X(engine->packet[0]);
	blit->pattern.y = PATTERN_Y(engine->packet[0]);
}

static void color_source(struct softgpu_engine *engine, struct blit *blit, u32 position, u32 pitch,
			 const u32 *address)
{
	bool tiled = engine->packet[0] & SRC_TILED;

	blit->source.kind = BLIT_COLOR_SOURCE;
	blit->source.x = low16(position);
	blit->source.y = high16(position);
	blit->source.surface = blt_surface(address, pitch, tiling_of(engine, tiled, BCS_SRC_Y));
}

/* @colors: background, foreground */
static void mono_source(struct softgpu_engine *engine, struct blit *blit, const u32 *colors)
{
	struct blit_source *source = &blit->source;
	u32 first = MONO_FIRST_BIT(engine->packet[0]);

	source->kind = BLIT_MONO_SOURCE;
	source->x = first;
	source->row_bits = DIV_ROUND_UP(blit->x2 - blit->x1 + first, MONO_ROW_BITS) * MONO_ROW_BITS;
	source->colors[0] = colors[0];
	source->colors[1] = colors[1];
	source->transparent = engine->packet[1] & MONO_SRC_TRANSPARENT;
}

static void mono_source_immediate(struct softgpu_engine *engine, struct blit *blit,
				  unsigned int first)
{
	blit->source.data = (const u8 *)&engine->packet[first];
	blit->source.data_bytes = 4 * (engine->packet_dwords - first);
}

/* @colors: background, foreground; @bits: two dwords */
static void mono_pattern(struct blit *blit, u32 br13, const u32 *colors, const u32 *bits)
{
	blit->pattern.colors[0] = colors[0];
	blit->pattern.colors[1] = colors[1];
	if (br13 & SOLID_PATTERN)
		blit->pattern.kind = BLIT_SOLID_PATTERN;
	else
		softgpu_blit_mono_pattern(blit, (const u8 *)bits, br13 & MONO_PAT_TRANSPARENT);
}

static unsigned int pattern_bytes(const struct blit *blit)
{
	return BLIT_PATTERN_PIXELS * BLIT_PATTERN_PIXELS * blit->pixel_bytes;
}

static int color_pattern(struct softgpu_engine *engine, struct blit *blit, u64 address)
{
	const struct softgpu_surface memory = { .base = address & PATTERN_ADDRESS_MASK };

	blit->pattern.kind = BLIT_PATTERN;
	return softgpu_surface_read(engine, &memory, 0, 0, pattern_bytes(blit), 1,
				    blit->pattern.pixels);
}

/* What the command omits is 0. */
static int color_pattern_immediate(struct softgpu_engine *engine, struct blit *blit,
				   unsigned int first)
{
	blit->pattern.kind = BLIT_PATTERN;
	memcpy(blit->pattern.pixels, &engine->packet[first],
	       min(4 * (engine->packet_dwords - first), pattern_bytes(blit)));
	return SOFTGPU_OK;
}

/* Set source and pattern. */
static int blit_operands(struct softgpu_engine *engine, struct blit *blit)
{
	const u32 *packet = engine->packet;

	switch (OPCODE_2D(packet[0])) {
	case XY_COLOR_BLT:
		blit->pattern.kind = BLIT_SOLID_PATTERN;
		blit->pattern.colors[1] = packet[6];
		return SOFTGPU_OK;
	case XY_PAT_BLT:
		return color_pattern(engine, blit, blt_address(&packet[6]));
	case XY_PAT_BLT_IMMEDIATE:
		return color_pattern_immediate(engine, blit, 6);
	case XY_MONO_PAT_BLT:
		mono_pattern(blit, packet[1], &packet[6], &packet[8]);
		return SOFTGPU_OK;
	case XY_SRC_COPY_BLT:
		color_source(engine, blit, packet[6], packet[7], &packet[8]);
		return SOFTGPU_OK;
	case XY_MONO_SRC_COPY_IMMEDIATE_BLT:
		mono_source(engine, blit, &packet[6]);
		mono_source_immediate(engine, blit, 8);
		return SOFTGPU_OK;
	case XY_FULL_BLT:
		color_source(engine, blit, packet[7], packet[6], &packet[8]);
		return color_pattern(engine, blit, blt_address(&packet[10]));
	case XY_FULL_IMMEDIATE_PATTERN_BLT:
		color_source(engine, blit, packet[7], packet[6], &packet[8]);
		return color_pattern_immediate(engine, blit, 10);
	case XY_FULL_MONO_PATTERN_BLT:
		color_source(engine, blit, packet[7], packet[6], &packet[8]);
		mono_pattern(blit, packet[1], &packet[10], &packet[12]);
		return SOFTGPU_OK;
	}
	/* The others have a mono source in memory. */
	mono_source(engine, blit, &packet[8]);
	blit->source.surface.base = blt_address(&packet[6]);
	switch (OPCODE_2D(packet[0])) {
	case XY_FULL_MONO_SRC_BLT:
		return color_pattern(engine, blit, blt_address(&packet[10]));
	case XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT:
		return color_pattern_immediate(engine, blit, 10);
	case XY_FULL_MONO_PATTERN_MONO_SRC_BLT:
		mono_pattern(blit, packet[1], &packet[10], &packet[12]);
		break;
	}
	return SOFTGPU_OK;
}

/* The first six dwords of most commands: header, BR13, rectangle, destination. */
static int xy_blt(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	struct blit blit = {};
	int err;

	blit_begin(engine, &blit, packet[0], packet[1], &packet[4]);
	blit_rectangle(&blit, packet[2], packet[3]);
	err = blit_operands(engine, &blit);
	if (err)
		return err;
	blit_clip(engine, &blit, packet[1]);
	return softgpu_blit(engine, &blit);
}

/* XY_SETUP_*: keep operands for the commands below. They last as long as the job. */
static int xy_setup(struct softgpu_engine *engine)
{
	struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;
	const u32 *packet = engine->packet;

	*setup = (struct softgpu_blt_setup){
		.header = packet[0],
		.br13 = packet[1],
		.clip = { packet[2], packet[3] },
		.dst = { packet[4], packet[5] },
		.colors = { packet[6], packet[7] },
		.pattern = { packet[8], packet[9] },
	};
	return SOFTGPU_OK;
}

static int xy_setup_clip(struct softgpu_engine *engine)
{
	struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;

	setup->clip[0] = engine->packet[1];
	setup->clip[1] = engine->packet[2];
	return SOFTGPU_OK;
}

/* What XY_SETUP_* say for the current command. */
static void setup_begin(struct softgpu_engine *engine, struct blit *blit)
{
	const struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;

	blit_begin(engine, blit, setup->header, setup->br13, setup->dst);
}

static int xy_pixel(struct softgpu_engine *engine)
{
	const struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;
	struct blit blit = { .pattern = { .kind = BLIT_SOLID_PATTERN } };

	setup_begin(engine, &blit);
	blit.pattern.colors[1] = setup->colors[1];
	blit_rectangle(&blit, engine->packet[1], engine->packet[1]);
	blit.x2++;
	blit.y2++;
	blit_clip(engine, &blit, setup->br13);
	return softgpu_blit(engine, &blit);
}

static int xy_scanlines(struct softgpu_engine *engine)
{
	const struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;
	struct blit blit = {};
	int err = SOFTGPU_OK;

	setup_begin(engine, &blit);
	if (OPCODE_2D(setup->header) == XY_SETUP_MONO_PATTERN_SL_BLT)
		mono_pattern(&blit, setup->br13, setup->colors, setup->pattern);
	else
		err = color_pattern(engine, &blit, blt_address(setup->pattern));
	if (err)
		return err;
	blit_rectangle(&blit, engine->packet[1], engine->packet[2]);
	blit_clip(engine, &blit, setup->br13);
	return softgpu_blit(engine, &blit);
}

static int xy_text(struct softgpu_engine *engine)
{
	const struct softgpu_blt_setup *setup = &softgpu_job(engine->job)->setup;
	bool packed = engine->packet[0] & TEXT_BYTE_PACKED;
	struct blit blit = { .source = { .kind = BLIT_MONO_SOURCE } };

	setup_begin(engine, &blit);
	blit_rectangle(&blit, engine->packet[1], engine->packet[2]);
	blit.source.row_bits = blit.x2 - blit.x1;
	if (packed)
		blit.source.row_bits = DIV_ROUND_UP(blit.source.row_bits, 8) * 8;
	blit.source.colors[0] = setup->colors[0];
	blit.source.colors[1] = setup->colors[1];
	blit.source.transparent = setup->br13 & MONO_SRC_TRANSPARENT;
	if (OPCODE_2D(engine->packet[0]) == XY_TEXT_IMMEDIATE_BLT)
		mono_source_immediate(engine, &blit, 3);
	else
		blit.source.surface.base = blt_address(&engine->packet[3]);
	blit_clip(engine, &blit, setup->br13);
	return softgpu_blit(engine, &blit);
}

/* COLOR_BLT, SRC_COPY_BLT: no coordinates, but a height and a width in bytes. */
static int linear_blt(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	struct blit blit = {
		.pixel_bytes = depth_bytes(DEPTH(packet[1])),
		.rop = ROP(packet[1]),
		.dst = blt_surface(&packet[3], packet[1], SOFTGPU_LINEAR),
		.y2 = packet[2] >> 16,
	};

	blit.mask = write_mask(packet[0], blit.pixel_bytes);
	blit.x2 = (packet[2] & 0xffff) / blit.pixel_bytes;
	if (OPCODE_2D(packet[0]) == COLOR_BLT) {
		blit.pattern.kind = BLIT_SOLID_PATTERN;
		blit.pattern.colors[1] = packet[5];
	} else {
		blit.source.kind = BLIT_COLOR_SOURCE;
		blit.source.surface = blt_surface(&packet[6], packet[5], SOFTGPU_LINEAR);
	}
	return softgpu_blit(engine, &blit);
}

/* The first three values of the field are those of enum softgpu_tiling. */
static enum softgpu_tiling fast_tiling(u32 field, bool yf, unsigned int pixel_bytes)
{
	unsigned int shape = pixel_bytes == 1 ? 0 : pixel_bytes <= 4 ? 1 : 2;

	if (field == FAST_YS)
		return SOFTGPU_YS_8 + shape;
	if (field == FAST_Y && yf)
		return SOFTGPU_YF_8 + shape;
	return field;
}

static int xy_fast_copy(struct softgpu_engine *engine)
{
	static const u8 bytes[8] = { 1, 2, 0, 4, 8, 16, 0, 0 };
	const u32 *packet = engine->packet;
	enum softgpu_tiling dst_tiling, src_tiling;
	struct blit blit = {
		.pixel_bytes = bytes[FAST_DEPTH(packet[1])],
		.rop = ROP_SOURCE,
		.mask = BLIT_ALL_BITS,
	};

	if (!blit.pixel_bytes)
		return softgpu_error(engine, "XY_FAST_COPY_BLT %#010x: unknown depth", packet[1]);
	dst_tiling =
		fast_tiling(FAST_DST_TILING(packet[0]), packet[1] & FAST_DST_YF, blit.pixel_bytes);
	src_tiling =
		fast_tiling(FAST_SRC_TILING(packet[0]), packet[1] & FAST_SRC_YF, blit.pixel_bytes);
	blit.dst = blt_surface(&packet[4], packet[1], dst_tiling);
	blit_rectangle(&blit, packet[2], packet[3]);
	blit.source.kind = BLIT_COLOR_SOURCE;
	blit.source.x = low16(packet[6]);
	blit.source.y = high16(packet[6]);
	blit.source.surface = blt_surface(&packet[8], packet[7], src_tiling);
	return softgpu_blit(engine, &blit);
}

int softgpu_blt(struct softgpu_engine *engine)
{
	const struct ghyvi_command *command = engine->command;
	u32 header = engine->packet[0];

	if (!command || command->gen > engine->client->base.params.gen)
		return softgpu_error(engine, "2D command %#010x is unknown", header);
	if (engine->packet_dwords < command->least || engine->packet_dwords > command->most)
		return softgpu_error(engine, "blit %#010x of %u dwords", header,
				     engine->packet_dwords);
	if (ghyvi_command_rule(command, header, softgpu_stream(engine)->privileged) ==
	    GHYVI_REFUSED)
		return softgpu_error(engine, "%s is not supported by vGPUs", command->name);
	switch (OPCODE_2D(header)) {
	case XY_SETUP_BLT:
	case XY_SETUP_MONO_PATTERN_SL_BLT:
		return xy_setup(engine);
	case XY_SETUP_CLIP_BLT:
		return xy_setup_clip(engine);
	case XY_PIXEL_BLT:
		return xy_pixel(engine);
	case XY_SCANLINES_BLT:
		return xy_scanlines(engine);
	case XY_TEXT_BLT:
	case XY_TEXT_IMMEDIATE_BLT:
		return xy_text(engine);
	case COLOR_BLT:
	case SRC_COPY_BLT:
		return linear_blt(engine);
	case XY_FAST_COPY_BLT:
		return xy_fast_copy(engine);
	default:
		return xy_blt(engine);
	}
}
