// SPDX-License-Identifier: GPL-2.0-only
/* The blitter against a reference that knows only bytes and addresses. */
#include "softgpu_fixture.h"

#define XY_COLOR 0x54000005u
#define XY_SRC_COPY 0x54c00008u
#define XY_FAST_COPY 0x50800008u
#define WRITE_ALL (3u << 20)
#define SIZE (DATA_PAGES * 4096u)
#define DST_BASE (SIZE / 2)

struct blit {
	int x1, y1, x2, y2, sx, sy;
	unsigned int bpp, rop;
	int dst_pitch, src_pitch; /* bytes */
	int dst_tiling, src_tiling; /* 0 linear, 1 X, 2 Y, 3 Yf, 4 Ys */
	u32 dst, src; /* offsets into the data area */
	u32 mask, color;
	bool fill;
};

/* Where the bits of an address within a tile come from, the highest first: by bytes of a pixel. */
static const char *swizzle(int tiling, unsigned int bpp)
{
	static const char *const yf[] = { "XYXYYYYYXXXX", "XYXYXYYYXXXX", "XYXYXYYYXXXX",
					  "XYXYXXYYXXXX", "XYXYXXYYXXXX" };
	static const char *const ys[] = { "XYXYXYXYYYYYXXXX", "XYXYXYXYXYYYXXXX",
					  "XYXYXYXYXYYYXXXX", "XYXYXYXYXXYYXXXX",
					  "XYXYXYXYXXYYXXXX" };

	return (tiling == 3 ? yf : ys)[__builtin_ctz(bpp)];
}

static int tile_width(int tiling, unsigned int bpp)
{
	const char *c;
	int width = 1;

	if (tiling < 3)
		return tiling == 0 ? 1 : tiling == 1 ? 512 : 128;
	for (c = swizzle(tiling, bpp); *c; c++)
		width *= *c == 'X' ? 2 : 1;
	return width;
}

static u32 locate_swizzled(u32 base, int pitch, const char *bits, int width, int x, int y)
{
	int length = strlen(bits), rows = (1 << length) / width, i;
	u32 tile = (y / rows) * (pitch / width) + x / width, at = 0;

	x %= width;
	y %= rows;
	for (i = length - 1; i >= 0; i--) {
		int *from = bits[i] == 'X' ? &x : &y;

		at |= (u32)(*from & 1) << (length - 1 - i);
		*from >>= 1;
	}
	return base + (tile << length) + at;
}

/* As the PRM defines the tilings. */
static u32 locate(u32 base, int pitch, int tiling, unsigned int bpp, int x, int y)
{
	switch (tiling) {
	case 3:
	case 4:
		return locate_swizzled(base, pitch, swizzle(tiling, bpp), tile_width(tiling, bpp),
				       x, y);
	case 1:
		return base + ((y / 8) * (pitch / 512) + x / 512) * 4096 + (y % 8) * 512 + x % 512;
	case 2:
		return base + ((y / 32) * (pitch / 128) + x / 128) * 4096 + (x % 128) / 16 * 512 +
		       (y % 32) * 16 + x % 16;
	default:
		return base + y * pitch + x;
	}
}

static void reference(u8 *memory, const struct blit *b)
{
	int width = max((b->x2 - b->x1) * (int)b->bpp, 0), height = max(b->y2 - b->y1, 0), x, y,
	    bit;
	u8 *source = malloc(width * height + 1), *row;

	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++)
			source[y * width + x] =
				b->fill ? b->color >> 8 * (x % b->bpp) :
					  memory[locate(b->src, b->src_pitch, b->src_tiling, b->bpp,
							b->sx * (int)b->bpp + x, b->sy + y)];
	for (y = 0; y < height; y++) {
		row = source + y * width;
		for (x = 0; x < width; x++) {
			u8 *d = &memory[locate(b->dst, b->dst_pitch, b->dst_tiling, b->bpp,
					       b->x1 * (int)b->bpp + x, b->y1 + y)];
			u8 mask = b->bpp == 4 ? b->mask >> 8 * (x % 4) : 0xff, result = 0;

			for (bit = 0; bit < 8; bit++) {
				int in = row[x] >> bit & 1, index = *d >> bit & 1;

				index |= b->fill ? in << 2 : in << 1;
				result |= (b->rop >> index & 1) << bit;
			}
			*d = (*d & ~mask) | (result & mask);
		}
	}
	free(source);
}

static u32 depth_of(unsigned int bpp, bool fast)
{
	switch (bpp) {
	case 1:
		return 0;
	case 2:
		return 1;
	case 4:
		return 3;
	case 8:
		return 4;
	default:
		assert_true(fast);
		return 5;
	}
}

static u32 pitch_field(int pitch, int tiling)
{
	return (tiling ? pitch / 4 : pitch) & 0xffff;
}

static u32 point(int x, int y)
{
	return (u32)y << 16 | (x & 0xffff);
}

/* Yf is a kind of Y. */
static u32 fast_field(int tiling)
{
	return tiling == 4 ? 3 : tiling == 3 ? 2 : tiling;
}

static enum ghyvi_job_status blit(struct rig *rig, const struct blit *b, bool fast)
{
	u32 flags = (b->dst_tiling ? 1 << 11 : 0) | (b->src_tiling ? 1 << 15 : 0);
	u32 enables = (b->mask >> 31) << 21 | (b->mask & 1) << 20;
	u32 first = b->rop << 16 | depth_of(b->bpp, fast) << 24 |
		    pitch_field(b->dst_pitch, b->dst_tiling);

	rig_reset(rig);
	rig->job.engine = GHYVI_BCS;
	ring(rig, MI_LRI(1), 0x22200, 3 << 16 | (b->src_tiling == 2) | (b->dst_tiling == 2) << 1);
	if (b->fill)
		ring(rig, XY_COLOR | flags | enables, first, point(b->x1, b->y1),
		     point(b->x2, b->y2), ADDRESS(DATA + b->dst), b->color);
	else
		ring(rig,
		     fast ? XY_FAST_COPY | fast_field(b->src_tiling) << 20 |
				     fast_field(b->dst_tiling) << 13 :
			    XY_SRC_COPY | flags | enables,
		     fast ? (first & ~0xff0000u) | (u32)(b->src_tiling == 3) << 31 |
				     (u32)(b->dst_tiling == 3) << 30 :
			    first,
		     point(b->x1, b->y1), point(b->x2, b->y2), ADDRESS(DATA + b->dst),
		     point(b->sx, b->sy), pitch_field(b->src_pitch, b->src_tiling),
		     ADDRESS(DATA + b->src));
	return rig_run(rig);
}

static unsigned int seed = 1;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

static void fill_random(u8 *p, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		p[i] = pick(256);
}

static void compare(struct rig *rig, const struct blit *b, bool fast)
{
	u8 *expected = malloc(SIZE);

	memcpy(expected, rig->data, SIZE);
	reference(expected, b);
	if (blit(rig, b, fast) != GHYVI_JOB_COMPLETE)
		fail_msg("%s", rig_reason(rig));
	if (memcmp(expected, rig->data, SIZE)) {
		u32 i = 0;

		while (expected[i] == rig->data[i])
			i++;
		fail_msg(
			"%s byte %#x: %#x, not %#x; (%d,%d)-(%d,%d) from %d,%d bpp %u rop %#x mask %#x "
			"pitch %d %d tiling %d %d base %#x %#x",
			fast	? "fast" :
			b->fill ? "fill" :
				  "copy",
			i, rig->data[i], expected[i], b->x1, b->y1, b->x2, b->y2, b->sx, b->sy,
			b->bpp, b->rop, b->mask, b->dst_pitch, b->src_pitch, b->dst_tiling,
			b->src_tiling, b->dst, b->src);
	}
	free(expected);
}

static int random_pitch(int tiling)
{
	if (tiling == 1)
		return 512 * (1 + pick(3));
	if (tiling == 2)
		return 128 * (1 + pick(10));
	return 1 + pick(1500);
}

/* Both surfaces stay inside their halves of the data area. */
static struct blit random_blit(bool fast)
{
	struct blit b = { .bpp = 1u << pick(fast ? 5 : 3) };
	int width, height;

	b.dst_tiling = pick(3);
	b.src_tiling = pick(3);
	b.dst_pitch = random_pitch(b.dst_tiling);
	b.src_pitch = random_pitch(b.src_tiling);
	width = pick(min(b.dst_pitch, b.src_pitch) / (int)b.bpp + 1);
	height = pick(30);
	b.x1 = pick(b.dst_pitch / b.bpp - width + 1);
	b.sx = pick(b.src_pitch / b.bpp - width + 1);
	b.y1 = pick(30);
	b.sy = pick(30);
	b.x2 = b.x1 + width;
	b.y2 = b.y1 + height;
	b.dst = DST_BASE + (b.dst_tiling ? 0 : pick(4096));
	b.src = b.src_tiling ? 0 : pick(4096);
	b.rop = 0xcc;
	b.mask = 0xffffffff;
	return b;
}

static void random_copies_equal_the_reference(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int i = 0; i < 400; i++) {
		struct blit b = random_blit(false);

		compare(rig, &b, false);
	}
}

static void random_fast_copies_equal_the_reference(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int i = 0; i < 400; i++) {
		struct blit b = random_blit(true);

		compare(rig, &b, true);
	}
}

/* Two tiles of 64 KiB in each half, or more of 4 KiB. */
static void fast_copies_know_the_tilings_of_gen9(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int i = 0; i < 300; i++) {
		struct blit b = random_blit(true);
		int width, height;

		b.dst_tiling = pick(5);
		b.src_tiling = b.dst_tiling < 3 ? 3 + (int)pick(2) : (int)pick(5);
		b.dst_pitch = tile_width(b.dst_tiling, b.bpp) * (b.dst_tiling ? 1 + pick(2) : 500);
		b.src_pitch = tile_width(b.src_tiling, b.bpp) * (b.src_tiling ? 1 + pick(2) : 500);
		width = pick(min(b.dst_pitch, b.src_pitch) / (int)b.bpp + 1);
		height = pick(60);
		b.x1 = pick(b.dst_pitch / b.bpp - width + 1);
		b.sx = pick(b.src_pitch / b.bpp - width + 1);
		b.y1 = pick(4);
		b.sy = pick(4);
		b.x2 = b.x1 + width;
		b.y2 = b.y1 + height;
		b.dst = DST_BASE;
		b.src = 0;
		compare(rig, &b, true);
	}
}

static void every_raster_operation_of_copies_and_fills(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int rop = 0; rop < 256; rop++) {
		struct blit b = random_blit(false);

		b.rop = rop;
		compare(rig, &b, false);
		b.fill = true;
		b.color = 0x9ac35a71u * (rop + 1);
		compare(rig, &b, false);
	}
}

static void write_enables_protect_alpha_or_color(void **state)
{
	static const u32 masks[] = { 0, 0xff000000, 0x00ffffff, 0xffffffff };
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int i = 0; i < 64; i++) {
		struct blit b = random_blit(false);

		b.mask = masks[i % 4];
		b.rop = i & 4 ? 0xcc : 0x66;
		compare(rig, &b, false);
		b.fill = true;
		b.rop = i & 4 ? 0xf0 : 0x5a;
		b.color = 0x12345678;
		compare(rig, &b, false);
	}
}

/* Source and destination are the same surface, a few pixels apart. */
static void overlapping_copies_read_their_source_first(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (unsigned int i = 0; i < 300; i++) {
		struct blit b = random_blit(false);
		int dx = pick(7), dy = pick(5), shift; /* max() evaluates twice */

		b.src_tiling = b.dst_tiling;
		b.src_pitch = b.dst_pitch;
		b.src = b.dst;
		b.x2 = min(b.x2, b.dst_pitch / (int)b.bpp - 4);
		b.sx = max(0, b.x1 - 3 + dx);
		b.sy = max(0, b.y1 - 2 + dy);
		b.rop = i % 4 ? 0xcc : 0x66;
		compare(rig, &b, false);
		/* The same by the base: a row of pixels, or of tiles. */
		shift = b.dst_tiling == 2 ? 32 : b.dst_tiling ? 8 : 1;
		b.dst -= shift * b.dst_pitch;
		b.y1 += shift;
		b.y2 += shift;
		compare(rig, &b, false);
	}
}

/* Rows of negative pitch, on which lower means at a lower address. */
static void overlapping_copies_of_upside_down_surfaces(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (int dy = -3; dy <= 3; dy++)
		for (int dx = -5; dx <= 5; dx++) {
			struct blit b = { .x1 = 10 + dx,
					  .x2 = 200 + dx,
					  .y1 = 5 + dy,
					  .y2 = 25 + dy,
					  .sx = 10,
					  .sy = 5,
					  .bpp = 2,
					  .rop = 0xcc,
					  .dst_pitch = -450,
					  .src_pitch = -450,
					  .dst = DST_BASE + 20000,
					  .src = DST_BASE + 20000,
					  .mask = ~0u };

			compare(rig, &b, false);
		}
}

static void rows_longer_than_a_page_overlap_as_in_memmove(void **state)
{
	struct rig *rig = *state;

	fill_random(rig->data, SIZE);
	for (int shift = -40; shift <= 40; shift += 5) {
		struct blit b = { .x1 = 50 + shift,
				  .sx = 50,
				  .x2 = 50 + shift + 9000,
				  .y2 = 3,
				  .bpp = 1,
				  .rop = 0xcc,
				  .dst_pitch = 10001,
				  .src_pitch = 10001,
				  .dst = 77,
				  .src = 77,
				  .mask = ~0u };

		compare(rig, &b, false);
	}
}

static void pitches_may_be_negative(void **state)
{
	struct rig *rig = *state;
	struct blit b = { .x2 = 100,
			  .y2 = 20,
			  .bpp = 4,
			  .rop = 0xcc,
			  .dst_pitch = -512,
			  .src_pitch = 1000,
			  .dst = DST_BASE + 20000,
			  .src = 0,
			  .mask = ~0u };

	fill_random(rig->data, SIZE);
	compare(rig, &b, false);
	b.src_pitch = -600;
	b.src = 30000;
	compare(rig, &b, true);
}

static void empty_rectangles_do_nothing(void **state)
{
	struct rig *rig = *state;
	struct blit b = { .x1 = 10,
			  .x2 = 10,
			  .y2 = 5,
			  .bpp = 4,
			  .rop = 0xcc,
			  .dst_pitch = 512,
			  .src_pitch = 512,
			  .dst = DST_BASE,
			  .mask = ~0u };

	compare(rig, &b, false);
	b.x2 = 5; /* the reference has no rows of negative width either */
	assert_int_equal(blit(rig, &b, false), GHYVI_JOB_COMPLETE);
	b.x2 = 20;
	b.y2 = -4;
	assert_int_equal(blit(rig, &b, false), GHYVI_JOB_COMPLETE);
}

/* However many a page of tiles has: the slice does not account them. */
static void a_fill_prepares_only_the_rows_that_it_has(void **state)
{
	struct rig *rig = *state;
	u8 *rows = rig->gpu->engines[GHYVI_BCS].rows;

	memset(rows, 0x77, 4096);
	rig->job.engine = GHYVI_BCS;
	ring(rig, XY_COLOR | 1 << 11, 0xf0 << 16 | 512 / 4, 0, 1 << 16 | 61, ADDRESS(DATA), 0x55);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->data[60], 0x55);
	assert_int_equal(rig->data[61], 0);
	assert_int_equal(rows[60], 0x55);
	assert_int_equal(rows[61], 0x77);
}

static void a_tiled_pitch_must_fit_the_tile(void **state)
{
	struct rig *rig = *state;
	struct blit b = { .x2 = 10,
			  .y2 = 5,
			  .bpp = 4,
			  .rop = 0xcc,
			  .dst_pitch = 500,
			  .dst_tiling = 1,
			  .src_pitch = 512,
			  .dst = DST_BASE,
			  .mask = ~0u };

	assert_int_equal(blit(rig, &b, false), GHYVI_JOB_ERROR);
}

static void a_blit_into_a_read_only_page_is_dropped(void **state)
{
	struct rig *rig = *state;

	memset(rig->read_only, 7, 4096);
	rig->job.engine = GHYVI_BCS;
	ring(rig, XY_COLOR | WRITE_ALL, 3 << 24 | 0xf0 << 16 | 64, 0, point(16, 16),
	     ADDRESS(READ_ONLY), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->read_only[0], 7);
}

static void a_blit_beyond_the_tables_is_an_error(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	ring(rig, XY_COLOR | WRITE_ALL, 3 << 24 | 0xf0 << 16 | 4096, 0, point(1024, 5),
	     ADDRESS(READ_ONLY + 4096), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "not present"));
}

static void the_largest_blit_can_be_cancelled(void **state)
{
	struct rig *rig = *state;
	u64 begin;

	/* Every row on the same page: pitch 0. */
	rig->job.engine = GHYVI_BCS;
	ring(rig, MI_STORE, ADDRESS(DATA + 0x20000), 1);
	ring(rig, XY_COLOR | WRITE_ALL, 0xf0 << 16, point(-0x8000, -0x8000), point(0x7fff, 0x7fff),
	     ADDRESS(DATA + 0x8000), 1);
	rig_start(rig);
	while (!data32(rig, 0x20000))
		sched_yield();
	begin = ktime_get_ns();
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	assert_true(ktime_get_ns() - begin < NSEC_PER_SEC);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
}

static void fast_copy_is_not_known_on_gen8(void **state)
{
	struct rig *rig = *state;
	struct blit b = random_blit(true);

	assert_int_equal(blit(rig, &b, true), GHYVI_JOB_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(random_copies_equal_the_reference),
		RIG_TEST(random_fast_copies_equal_the_reference),
		RIG_TEST(fast_copies_know_the_tilings_of_gen9),
		RIG_TEST(every_raster_operation_of_copies_and_fills),
		RIG_TEST(write_enables_protect_alpha_or_color),
		RIG_TEST(overlapping_copies_read_their_source_first),
		RIG_TEST(overlapping_copies_of_upside_down_surfaces),
		RIG_TEST(rows_longer_than_a_page_overlap_as_in_memmove),
		RIG_TEST(pitches_may_be_negative),
		RIG_TEST(empty_rectangles_do_nothing),
		RIG_TEST(a_fill_prepares_only_the_rows_that_it_has),
		RIG_TEST(a_tiled_pitch_must_fit_the_tile),
		RIG_TEST(a_blit_into_a_read_only_page_is_dropped),
		RIG_TEST(a_blit_beyond_the_tables_is_an_error),
		RIG_TEST(the_largest_blit_can_be_cancelled),
		cmocka_unit_test_setup_teardown(fast_copy_is_not_known_on_gen8, rig_setup_gen8,
						rig_teardown),
	};

	return cmocka_run_group_tests_name("softgpu blitter", tests, NULL, NULL);
}
