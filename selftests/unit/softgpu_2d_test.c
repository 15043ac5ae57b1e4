// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every 2D command that the blitter draws, with random operands, against a reference that computes
 * one pixel after the other. The reference knows the layouts of commands from the manual and from
 * xf86-video-intel, and nothing of the engine or its tables.
 */
#include "softgpu_fixture.h"

#define SIZE (DATA_PAGES * 4096u)
#define DST (SIZE / 2)
#define COLOR_SRC 0x1003u
#define PATTERN 0x9000u
#define MONO_SRC 0xa001u
#define PITCH 700
#define ROUNDS 60

enum source { NO_SRC, COLOR, MONO, MONO_NOW };
enum pattern { NO_PAT, SOLID, TILE, TILE_NOW, BITS };

/* Commands with header, BR13, rectangle and destination in dwords 0 to 5. */
static const struct {
	unsigned int opcode;
	enum source source;
	enum pattern pattern;
} commands[] = {
	{ 0x50, NO_SRC, SOLID },    { 0x51, NO_SRC, TILE },	{ 0x52, NO_SRC, BITS },
	{ 0x53, COLOR, NO_PAT },    { 0x54, MONO, NO_PAT },	{ 0x55, COLOR, TILE },
	{ 0x56, MONO, TILE },	    { 0x57, COLOR, BITS },	{ 0x58, MONO, BITS },
	{ 0x71, MONO_NOW, NO_PAT }, { 0x72, NO_SRC, TILE_NOW }, { 0x74, COLOR, TILE_NOW },
	{ 0x75, MONO, TILE_NOW },
};

static unsigned int seed = 1;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

struct draw {
	enum source source;
	enum pattern pattern;
	unsigned int bpp, rop, enables;
	int x1, y1, x2, y2;
	bool clipped;
	int cx1, cy1, cx2, cy2;
	int sx, sy; /* color source */
	unsigned int first_bit, row_bits; /* mono source */
	unsigned int px, py; /* pattern: pixel and row at the origin of the destination */
	bool src_transparent, pat_transparent;
	u32 src_bg, src_fg, pat_bg, pat_fg;
	u8 bits[8], tile[256], now[512];
};

static void random_draw(struct draw *d)
{
	unsigned int i;

	memset(d, 0, sizeof(*d));
	d->bpp = 1u << pick(3);
	d->rop = pick(4) ? pick(256) : 0xcc;
	d->enables = pick(4) ? 3 : pick(4);
	d->x1 = pick(40);
	d->y1 = pick(20);
	d->x2 = d->x1 + pick(45);
	d->y2 = d->y1 + pick(20);
	d->clipped = pick(2);
	d->cx1 = pick(40);
	d->cy1 = pick(20);
	d->cx2 = d->cx1 + pick(60);
	d->cy2 = d->cy1 + pick(30);
	d->sx = pick(30);
	d->sy = pick(30);
	d->first_bit = pick(8);
	d->px = pick(8);
	d->py = pick(8);
	d->src_transparent = pick(2);
	d->pat_transparent = pick(2);
	d->src_bg = pick(1u << 24) << 8 | pick(256);
	d->src_fg = pick(1u << 24) << 8 | pick(256);
	d->pat_bg = pick(1u << 24) << 8 | pick(256);
	d->pat_fg = pick(1u << 24) << 8 | pick(256);
	for (i = 0; i < sizeof(d->bits); i++)
		d->bits[i] = pick(256);
	for (i = 0; i < sizeof(d->tile); i++)
		d->tile[i] = pick(256);
	for (i = 0; i < sizeof(d->now); i++)
		d->now[i] = pick(256);
	d->row_bits = (d->x2 - d->x1 + d->first_bit + 15) / 16 * 16;
}

static u32 get(const u8 *p, unsigned int bytes)
{
	u32 value = 0;

	memcpy(&value, p, bytes);
	return value;
}

static bool bit(const u8 *bits, unsigned int index)
{
	return bits[index / 8] & 0x80 >> index % 8;
}

static bool source_pixel(const struct draw *d, const u8 *memory, int x, int y, u32 *pixel)
{
	const u8 *bits = d->source == MONO ? memory + MONO_SRC : d->now;
	bool set;

	*pixel = 0;
	switch (d->source) {
	case NO_SRC:
		return true;
	case COLOR:
		*pixel = get(memory + COLOR_SRC + (d->sy + y - d->y1) * PITCH +
				     (d->sx + x - d->x1) * (int)d->bpp,
			     d->bpp);
		return true;
	default:
		set = bit(bits, (y - d->y1) * d->row_bits + d->first_bit + x - d->x1);
		*pixel = set ? d->src_fg : d->src_bg;
		return set || !d->src_transparent;
	}
}

static bool pattern_pixel(const struct draw *d, const u8 *memory, int x, int y, u32 *pixel)
{
	unsigned int column = (x + d->px) % 8, row = (y + d->py) % 8;
	bool set;

	*pixel = 0;
	switch (d->pattern) {
	case NO_PAT:
		return true;
	case SOLID:
		*pixel = d->pat_fg;
		return true;
	case TILE:
	case TILE_NOW:
		*pixel = get((d->pattern == TILE ? memory + PATTERN : d->tile) +
				     (row * 8 + column) * d->bpp,
			     d->bpp);
		return true;
	default:
		set = bit(d->bits + row, column);
		*pixel = set ? d->pat_fg : d->pat_bg;
		return set || !d->pat_transparent;
	}
}

static void reference(const struct draw *d, const u8 *before, u8 *after)
{
	u32 mask = d->bpp < 4 ? ~0u :
				(d->enables & 2 ? 0xff000000 : 0) | (d->enables & 1 ? 0xffffff : 0);
	unsigned int b, index;
	int x, y;

	for (y = d->y1; y < d->y2; y++)
		for (x = d->x1; x < d->x2; x++) {
			u32 at = DST + y * PITCH + x * d->bpp, p, s, result = 0;
			u32 old = get(before + at, d->bpp);

			if (d->clipped && (x < d->cx1 || x >= d->cx2 || y < d->cy1 || y >= d->cy2))
				continue;
			if (!source_pixel(d, before, x, y, &s) |
			    !pattern_pixel(d, before, x, y, &p))
				continue;
			for (b = 0; b < 8 * d->bpp; b++) {
				index = (p >> b & 1) << 2 | (s >> b & 1) << 1 | (old >> b & 1);
				result |= (u32)(d->rop >> index & 1) << b;
			}
			result = (old & ~mask) | (result & mask);
			memcpy(after + at, &result, d->bpp);
		}
}

static u32 br13(const struct draw *d)
{
	return (u32)d->clipped << 30 | (u32)d->src_transparent << 29 |
	       (u32)d->pat_transparent << 28 | (d->bpp == 4 ? 3 : d->bpp - 1) << 24 | d->rop << 16 |
	       PITCH;
}

static u32 point(int x, int y)
{
	return (u32)y << 16 | x;
}

static void check(struct rig *rig, const struct draw *d, u8 *expected, const char *what)
{
	u32 i;

	memcpy(expected, rig->data, SIZE);
	reference(d, rig->data, expected);
	rig->job.engine = GHYVI_BCS;
	if (rig_run(rig) != GHYVI_JOB_COMPLETE)
		fail_msg("%s: %s", what, rig_reason(rig));
	for (i = 0; i < SIZE; i++)
		if (expected[i] != rig->data[i])
			fail_msg("%s: byte %#x (pixel %d,%d) is %#x, not %#x; bpp %u rop %#x rect "
				 "%d,%d-%d,%d clip %d",
				 what, i, (int)(i - DST) % PITCH / (int)d->bpp,
				 (int)(i - DST) / PITCH, rig->data[i], expected[i], d->bpp, d->rop,
				 d->x1, d->y1, d->x2, d->y2, d->clipped);
	rig_reset(rig);
}

#define CLIP_BLT (2u << 29 | 0x03 << 22 | 1)

static void put_command(struct rig *rig, unsigned int opcode, const struct draw *d)
{
	u32 dwords[256], n = 6, bytes;

	dwords[0] = 2u << 29 | opcode << 22 | d->enables << 20 | d->px << 12 | d->py << 8;
	if (d->source == MONO || d->source == MONO_NOW)
		dwords[0] |= d->first_bit << 17;
	dwords[1] = br13(d);
	dwords[2] = point(d->x1, d->y1);
	dwords[3] = point(d->x2, d->y2);
	dwords[4] = LOW(DATA + DST);
	dwords[5] = HIGH(DATA + DST);
	if (d->source == COLOR && d->pattern != NO_PAT) {
		dwords[n++] = PITCH;
		dwords[n++] = point(d->sx, d->sy);
	} else if (d->source == COLOR) {
		dwords[n++] = point(d->sx, d->sy);
		dwords[n++] = PITCH;
	}
	if (d->source == COLOR || d->source == MONO) {
		dwords[n++] = LOW(DATA + (d->source == COLOR ? COLOR_SRC : MONO_SRC));
		dwords[n++] = HIGH(DATA);
	}
	if (d->source == MONO || d->source == MONO_NOW) {
		dwords[n++] = d->src_bg;
		dwords[n++] = d->src_fg;
	}
	if (d->pattern == BITS) {
		dwords[n++] = d->pat_bg;
		dwords[n++] = d->pat_fg;
		memcpy(&dwords[n], d->bits, 8);
		n += 2;
	} else if (d->pattern == SOLID) {
		dwords[n++] = d->pat_fg;
	} else if (d->pattern == TILE) {
		dwords[n++] = LOW(DATA + PATTERN);
		dwords[n++] = HIGH(DATA);
	} else if (d->pattern == TILE_NOW) {
		memcpy(&dwords[n], d->tile, 64 * d->bpp);
		n += 16 * d->bpp;
	}
	if (d->source == MONO_NOW) {
		bytes = (d->row_bits * (d->y2 - d->y1) / 8 + 7) / 8 * 8;
		memcpy(&dwords[n], d->now, bytes);
		n += bytes / 4;
	}
	dwords[0] |= n - 2;
	ring(rig, CLIP_BLT, point(d->cx1, d->cy1), point(d->cx2, d->cy2));
	ring_emit(rig, dwords, n);
}

static void fill_memory(struct rig *rig)
{
	u32 i;

	for (i = 0; i < SIZE; i++)
		rig->data[i] = pick(256);
}

static void commands_draw_what_the_reference_draws(void **state)
{
	u8 *expected = malloc(SIZE);
	struct rig *rig = *state;
	unsigned int i, round;
	char what[32];
	struct draw d;

	fill_memory(rig);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			random_draw(&d);
			d.source = commands[i].source;
			d.pattern = commands[i].pattern;
			put_command(rig, commands[i].opcode, &d);
			snprintf(what, sizeof(what), "2D command %#x", commands[i].opcode);
			check(rig, &d, expected, what);
		}
	free(expected);
}

/* XY_SETUP_BLT or XY_SETUP_MONO_PATTERN_SL_BLT. */
static void put_setup(struct rig *rig, const struct draw *d)
{
	bool mono = d->pattern == BITS;
	u32 bits[2];

	memcpy(bits, d->bits, 8);
	ring(rig, 2u << 29 | (mono ? 0x11 : 0x01) << 22 | d->enables << 20 | 8, br13(d),
	     point(d->cx1, d->cy1), point(d->cx2, d->cy2), ADDRESS(DATA + DST),
	     mono ? d->pat_bg : d->src_bg, mono ? d->pat_fg : d->src_fg,
	     mono ? bits[0] : LOW(DATA + PATTERN), mono ? bits[1] : HIGH(DATA));
}

static void commands_after_a_setup_use_its_operands(void **state)
{
	u8 *expected = malloc(SIZE);
	struct rig *rig = *state;
	unsigned int round, bytes;
	struct draw d;

	fill_memory(rig);
	for (round = 0; round < 4 * ROUNDS; round++) {
		random_draw(&d);
		switch (round % 5) {
		case 0: /* a pixel: a solid pattern of the foreground */
			d.pattern = round & 1 ? BITS : TILE;
			put_setup(rig, &d);
			if (d.pattern == TILE)
				d.pat_fg = d.src_fg;
			d.pattern = SOLID;
			d.x2 = d.x1 + 1;
			d.y2 = d.y1 + 1;
			ring(rig, 2u << 29 | 0x24 << 22, point(d.x1, d.y1));
			break;
		case 1:
		case 2: /* scan lines of a pattern */
			d.pattern = round % 5 == 1 ? BITS : TILE;
			put_setup(rig, &d);
			ring(rig, 2u << 29 | 0x25 << 22 | d.px << 12 | d.py << 8 | 1,
			     point(d.x1, d.y1), point(d.x2, d.y2));
			break;
		case 3: /* text in memory, its rows packed to bits */
			d.source = MONO;
			d.first_bit = 0;
			d.row_bits = d.x2 - d.x1;
			put_setup(rig, &d);
			ring(rig, 2u << 29 | 0x26 << 22 | 3, point(d.x1, d.y1), point(d.x2, d.y2),
			     ADDRESS(DATA + MONO_SRC));
			break;
		case 4: /* text in the command, its rows packed to bytes */
			d.source = MONO_NOW;
			d.first_bit = 0;
			d.row_bits = (d.x2 - d.x1 + 7) / 8 * 8;
			bytes = (d.row_bits / 8 * (d.y2 - d.y1) + 7) / 8 * 8;
			put_setup(rig, &d);
			ring(rig, 2u << 29 | 0x31 << 22 | 1 << 16 | (1 + bytes / 4),
			     point(d.x1, d.y1), point(d.x2, d.y2));
			ring_emit(rig, (const u32 *)d.now, bytes / 4);
		}
		check(rig, &d, expected, "a command after a setup");
	}
	free(expected);
}

static void blits_without_coordinates(void **state)
{
	u8 *expected = malloc(SIZE);
	struct rig *rig = *state;
	unsigned int round;
	struct draw d;

	fill_memory(rig);
	for (round = 0; round < ROUNDS; round++) {
		random_draw(&d);
		d.x2 -= d.x1;
		d.y2 -= d.y1;
		d.x1 = d.y1 = d.sx = d.sy = 0;
		d.clipped = false;
		d.source = round & 1 ? COLOR : NO_SRC;
		d.pattern = round & 1 ? NO_PAT : SOLID;
		if (round & 1)
			ring(rig, 2u << 29 | 0x43 << 22 | d.enables << 20 | 6, br13(&d),
			     point(d.x2 * (int)d.bpp, d.y2), ADDRESS(DATA + DST), PITCH,
			     ADDRESS(DATA + COLOR_SRC));
		else
			ring(rig, 2u << 29 | 0x40 << 22 | d.enables << 20 | 4, br13(&d),
			     point(d.x2 * (int)d.bpp, d.y2), ADDRESS(DATA + DST), d.pat_fg);
		check(rig, &d, expected, "a blit without coordinates");
	}
	free(expected);
}

static void immediate_data_that_is_missing_is_zero(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	/* 16 x 2 bits need 4 bytes, of which none is there: all background. */
	ring(rig, 2u << 29 | 0x71 << 22 | 3 << 20 | 6, 3 << 24 | 0xcc << 16 | 64, 0, point(16, 2),
	     ADDRESS(DATA), 0x1234, 0x5678);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 64 + 60), 0x1234);
	rig_reset(rig);
	ring(rig, 2u << 29 | 0x72 << 22 | 3 << 20 | 5, 3 << 24 | 0xf0 << 16 | 64, 0, point(8, 8),
	     ADDRESS(DATA), 0x9abc);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0x9abc);
	assert_int_equal(data32(rig, 4), 0);
}

/* Neither are they silently skipped. */
static void color_keys_and_fixed_patterns_end_with_a_reason(void **state)
{
	static const u32 opcodes[] = { 0x59, 0x73, 0x76, 0x77 };
	struct rig *rig = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		rig_reset(rig);
		rig->job.engine = GHYVI_BCS;
		ring(rig, 2u << 29 | opcodes[i] << 22 | 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
		assert_non_null(strstr(rig_reason(rig), "not supported"));
	}
}

/* The setup belongs to the job: kept over a preemption, and not another job's. */
static void a_setup_lasts_as_long_as_the_job(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	ring(rig, 2u << 29 | 0x01 << 22 | 3 << 20 | 8, 3 << 24 | 0xf0 << 16 | 64, 0, point(16, 2),
	     ADDRESS(DATA), 0, 0x12345678, ADDRESS(DATA + PATTERN), MI_SEMAPHORE(4), 1,
	     ADDRESS(DATA + 0x100), 2u << 29 | 0x24 << 22, point(1, 1));
	rig_start(rig);
	usleep_range(500, 500);
	rig_preempt(rig);
	*(u32 *)(rig->data + 0x100) = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 64 + 4), 0x12345678);
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	ring(rig, 2u << 29 | 0x24 << 22, point(1, 1));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR); /* nothing is mapped at 0 */
}

#define COPY_SRC (DATA + 32 * 4096) /* 16 pages; they are copied to DATA */

static void copy_16_pages(struct rig *rig)
{
	rig->job.engine = GHYVI_BCS;
	ring(rig, 0x54c00008 | 3 << 20, 3 << 24 | 0xcc << 16 | 4096, 0, 16 << 16 | 1024,
	     ADDRESS(DATA), 0, 4096, ADDRESS(COPY_SRC));
}

static void set_pages(u8 *pages, unsigned int count, u8 first)
{
	unsigned int page;

	for (page = 0; page < count; page++)
		memset(pages + page * 4096, first + page, 4096);
}

/* A copy may move many pages at once, but only those that are neighbours in the host, too. */
static void a_copy_of_many_pages_translates_each(void **state)
{
	struct rig *rig = *state;
	unsigned int page;
	u64 entry;

	set_pages(rig->data, DATA_PAGES, 1);
	for (page = 4; page < 6; page++) { /* two pages of the source and of the destination swap */
		swap(*rig_entry(rig, DATA + page * 4096),
		     *rig_entry(rig, DATA + (page + 4) * 4096));
		swap(*rig_entry(rig, COPY_SRC + (page - 3) * 4096),
		     *rig_entry(rig, COPY_SRC + (page + 9) * 4096));
	}
	*rig_entry(rig, DATA + 12 * 4096) &= ~GHYVI_ENTRY_WRITE;
	copy_16_pages(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (page = 0; page < 16; page++) {
		unsigned int from = page == 1 || page == 2   ? page + 12 :
				    page == 13 || page == 14 ? page - 12 :
							       page;
		unsigned int to = page == 4 || page == 5 ? page + 4 :
				  page == 8 || page == 9 ? page - 4 :
							   page;
		u8 expected = page == 12 ? 1 + page : 33 + from;

		assert_int_equal(rig->data[to * 4096], expected);
		assert_memory_equal(rig->data + to * 4096, rig->data + to * 4096 + 1, 4095);
	}
	rig_reset(rig);

	/* A page that is not the client's, though it is a neighbour. */
	entry = *rig_entry(rig, DATA + 11 * 4096) & GHYVI_SHADOW_ADDRESS_MASK;
	softgpu_ops.unmap_page(rig->client, entry);
	set_pages(rig->data, DATA_PAGES, 1);
	copy_16_pages(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 1);
	assert_int_equal(rig->data[10 * 4096], 33 + 10);
	assert_int_equal(rig->data[11 * 4096], 1 + 11);
	assert_int_equal(rig_map_page(rig->client, entry, GHYVI_PAGE_DATA), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_copy_of_many_pages_translates_each),
		RIG_TEST(commands_draw_what_the_reference_draws),
		RIG_TEST(commands_after_a_setup_use_its_operands),
		RIG_TEST(blits_without_coordinates),
		RIG_TEST(immediate_data_that_is_missing_is_zero),
		RIG_TEST(color_keys_and_fixed_patterns_end_with_a_reason),
		RIG_TEST(a_setup_lasts_as_long_as_the_job),
	};

	return cmocka_run_group_tests_name("softgpu 2D commands", tests, NULL, NULL);
}
