// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture of the display. Each expected pixel is computed by itself, from the description of
 * tiles in the PRM: the address of a pixel is assembled from the bits of its coordinates.
 */
#include "vgpu_fake.h"
#include "vgpu/display_regs.h"

#define SURFACE (HIDDEN_START + 0x100000)
#define CURSOR (HIDDEN_START + 0x40000)
#define FORMAT_XRGB (4u << 24)
#define FORMAT_XBGR (4u << 24 | 1u << 20)
#define FORMAT_565 (14u << 24)
#define LINEAR 0u
#define X_TILED (1u << 10)
#define Y_TILED (4u << 10)

static u32 page[GHYVI_PAGE_BYTES / 4];
static struct ghyvi_picture picture;
static u32 *pixels;

static int set_up(void **state)
{
	int ret = setup_gen9(state);
	u32 i;

	assert_int_equal(ghyvi_vgpu_set_display(vgpu, true), 0);
	for (i = 0; i < HIDDEN_BYTES;
	     i += 4) /* no two dwords of a page and no two pages are alike */
		*(u32 *)(gtt.memory + i) = (i / 4 * 2654435761u) ^ i >> 12;
	return ret;
}

static int tear_down(void **state)
{
	free(pixels);
	pixels = NULL;
	return teardown(state);
}

/* Two coordinates in one register. */
static u32 pair(u32 x, u32 y)
{
	return y << 16 | x;
}

static void show(u32 width, u32 height, u32 control, u32 stride)
{
	wr(PIPEASRC, pair(height - 1, width - 1));
	wr(PIPEACONF, 1u << 31);
	wr(PLANE_STRIDE_1_A, stride);
	wr(PLANE_POS_1_A, 0);
	wr(PLANE_SIZE_1_A, pair(width - 1, height - 1));
	wr(PLANE_OFFSET_1_A, 0);
	wr(PLANE_CTL_1_A, 1u << 31 | control);
	wr(PLANE_SURF_1_A, SURFACE);
}

/* Read the picture in bands of @rows rows. */
static void draw_by(u32 rows)
{
	u32 y, n;

	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), 0);
	free(pixels);
	pixels = malloc(4 * (size_t)picture.width * picture.height); /* ASan sees its end */
	memset(pixels, 0xa5, 4 * (size_t)picture.width * picture.height);
	for (y = 0; y < picture.height; y += n) {
		n = min(rows, picture.height - y);
		ghyvi_vgpu_draw(vgpu, &picture, y, n, pixels + y * picture.width, page);
	}
}

static u32 pixel(u32 x, u32 y)
{
	return pixels[y * picture.width + x];
}

static u32 stored(u64 address)
{
	return *(u32 *)fake_memory(address, 4);
}

/* Address of byte @x of row @y. */
static u64 linear_byte(u32 x, u32 y, u32 stride)
{
	return SURFACE + 64ull * stride * y + x;
}

static u64 x_tiled_byte(u32 x, u32 y, u32 stride)
{
	u64 tile = (u64)(y >> 3) * stride + (x >> 9);

	return SURFACE + (tile << 12 | (y & 7) << 9 | (x & 0x1ff));
}

static u64 y_tiled_byte(u32 x, u32 y, u32 stride)
{
	u64 tile = (u64)(y >> 5) * stride + (x >> 7);

	return SURFACE + (tile << 12 | (x >> 4 & 7) << 9 | (y & 31) << 4 | (x & 15));
}

static const struct layout {
	u32 control, stride;
	u64 (*byte)(u32 x, u32 y, u32 stride);
} layouts[] = {
	{ LINEAR, 50, linear_byte },
	{ X_TILED, 7, x_tiled_byte },
	{ Y_TILED, 25, y_tiled_byte },
};

static u32 expand_565(u32 value)
{
	/* The upper bits are repeated below. */
	u32 r = value >> 11 & 31, g = value >> 5 & 63, b = value & 31;

	return (r * 8 + r / 4) * 65536 + (g * 4 + g / 16) * 256 + b * 8 + b / 4;
}

/* The pixel of the surface at (@x, @y) in @layout. */
static u32 expected(const struct layout *layout, u32 format, u32 x, u32 y)
{
	u32 value;

	if (format == FORMAT_565) {
		value = *(u16 *)fake_memory(layout->byte(2 * x, y, layout->stride), 2);
		return expand_565(value);
	}
	value = stored(layout->byte(4 * x, y, layout->stride));
	return format == FORMAT_XRGB ? value & 0xffffff : __builtin_bswap32(value << 8);
}

static void every_layout_and_format_is_shown(void **state)
{
	static const u32 formats[] = { FORMAT_XRGB, FORMAT_XBGR, FORMAT_565 };
	static const u32 bands[] = { 1, 7, 32, 200 };
	u32 l, f, b, x, y;

	for (l = 0; l < ARRAY_SIZE(layouts); l++)
		for (f = 0; f < ARRAY_SIZE(formats); f++)
			for (b = 0; b < ARRAY_SIZE(bands); b++) {
				show(797, 131, formats[f] | layouts[l].control, layouts[l].stride);
				draw_by(bands[b]);
				assert_int_equal(picture.width, 797);
				assert_int_equal(picture.height, 131);
				for (y = 0; y < 131; y++)
					for (x = 0; x < 797; x++)
						if (pixel(x, y) !=
						    expected(&layouts[l], formats[f], x, y))
							fail_msg("layout %u format %u: (%u, %u)", l,
								 f, x, y);
			}
	assert_int_equal(atomic64_read(&stats.display_faults), 0);
}

static void a_plane_is_a_part_of_its_surface_and_of_the_screen(void **state)
{
	static const struct {
		u32 x, y, left, top, width, height;
	} parts[] = {
		{ 0, 0, 10, 20, 30, 40 },    { 33, 5, 0, 0, 64, 48 },	{ 1, 1, 1, 1, 1, 1 },
		{ 129, 63, 60, 40, 90, 90 }, { 3, 31, 63, 47, 50, 50 }, { 0, 0, 64, 0, 5, 5 },
		{ 0, 0, 0, 48, 5, 5 },
	};
	u32 l, i, x, y, expect;

	for (l = 0; l < ARRAY_SIZE(layouts); l++)
		for (i = 0; i < ARRAY_SIZE(parts); i++) {
			show(64, 48, FORMAT_XRGB | layouts[l].control, layouts[l].stride);
			wr(PLANE_OFFSET_1_A, pair(parts[i].x, parts[i].y));
			wr(PLANE_POS_1_A, pair(parts[i].left, parts[i].top));
			wr(PLANE_SIZE_1_A, pair(parts[i].width - 1, parts[i].height - 1));
			draw_by(11);
			for (y = 0; y < 48; y++)
				for (x = 0; x < 64; x++) {
					expect = x >= parts[i].left && y >= parts[i].top &&
								 x - parts[i].left <
									 parts[i].width &&
								 y - parts[i].top <
									 parts[i].height ?
							 expected(&layouts[l], FORMAT_XRGB,
								  x - parts[i].left + parts[i].x,
								  y - parts[i].top + parts[i].y) :
							 0;
					if (pixel(x, y) != expect)
						fail_msg("layout %u part %u: (%u, %u)", l, i, x, y);
				}
		}
}

static u32 expected_blend(u32 below, u32 cursor)
{
	double a = (cursor >> 24) / 255.0;
	u32 i, channel, result = 0;

	for (i = 0; i < 3; i++) {
		channel = (cursor >> 8 * i & 255) +
			  (u32)((below >> 8 * i & 255) * (1 - a) + 0.5 + 1e-9);
		result |= (channel > 255 ? 255 : channel) << 8 * i;
	}
	return result;
}

static void the_cursor_is_blended_wherever_it_is(void **state)
{
	static const struct {
		u32 mode, size;
	} sizes[] = { { 0x27, 64 }, { 0x22, 128 }, { 0x23, 256 } };
	static const int places[][2] = { { 0, 0 },     { 17, 30 },   { -1, 5 },
					 { -63, -63 }, { -64, 0 },   { 0, -64 },
					 { 199, 99 },  { 200, 0 },   { 3, 100 },
					 { -300, 20 }, { 190, -10 }, { -32767, -32767 },
					 { 32767, 0 }, { 0, 32767 } };
	u32 s, p, h, height;
	int x, y, cx, cy;
	u32 below, expect;

	for (s = 0; s < ARRAY_SIZE(sizes); s++)
		for (p = 0; p < ARRAY_SIZE(places); p++)
			for (h = 0; h < 2; h++) {
				show(200, 100, FORMAT_XRGB | LINEAR, 50);
				height = h ? sizes[s].size / 2 - 1 : sizes[s].size;
				wr(CURACNTR, sizes[s].mode);
				wr(CUR_FBC_CTL_A, h ? 1u << 31 | (height - 1) : 0);
				wr(CURAPOS, (places[p][0] < 0 ? 0x8000 : 0) | abs(places[p][0]) |
						    (places[p][1] < 0 ? 1u << 31 : 0) |
						    (u32)abs(places[p][1]) << 16);
				wr(CURABASE, CURSOR);
				draw_by(13);
				for (y = 0; y < 100; y++)
					for (x = 0; x < 200; x++) {
						cx = x - places[p][0];
						cy = y - places[p][1];
						below = expected(&layouts[0], FORMAT_XRGB, x, y);
						expect = below;
						if (cx >= 0 && cy >= 0 && cx < (int)sizes[s].size &&
						    cy < (int)height)
							expect = expected_blend(
								below,
								stored(CURSOR +
								       4 * (cy * sizes[s].size +
									    cx)));
						if (pixel(x, y) != expect)
							fail_msg("cursor %u at %u: (%d, %d)", s, p,
								 x, y);
					}
			}
}

/* Only absent pages are black. */
static void a_page_that_is_not_there_is_black_and_counted(void **state)
{
	u32 l, x, y;
	u64 at;

	for (l = 0; l < ARRAY_SIZE(layouts); l++) {
		gtt.unmapped_page = SURFACE + 0x3000;
		show(797, 64, FORMAT_XRGB | layouts[l].control, layouts[l].stride);
		atomic64_set(&stats.display_faults, 0);
		draw_by(32);
		for (y = 0; y < 64; y++)
			for (x = 0; x < 797; x++) {
				at = layouts[l].byte(4 * x, y, layouts[l].stride);
				if (at >> 12 == gtt.unmapped_page >> 12)
					assert_int_equal(pixel(x, y), 0);
				else
					assert_int_equal(pixel(x, y), stored(at) & 0xffffff);
			}
		/* Linear: each of the rows that are in the page. */
		assert_int_equal(atomic64_read(&stats.display_faults), layouts[l].control ? 1 : 3);
		gtt.unmapped_page = 0;
	}
	/* A surface that leaves the address space does not begin again at 0. */
	show(64, 64, FORMAT_XRGB | LINEAR, 50);
	wr(PLANE_SURF_1_A, 0xfffff000);
	draw_by(32);
	for (y = 0; y < 64; y++)
		for (x = 0; x < 64; x++)
			assert_int_equal(pixel(x, y), 0);
}

static void assert_black(void)
{
	u32 i;

	draw_by(32);
	for (i = 0; i < picture.width * picture.height; i++)
		assert_int_equal(pixels[i], 0);
}

static void a_plane_that_is_off_or_unknown_is_black(void **state)
{
	static const u32 unknown[] = { 0u << 24,
				       1u << 24,
				       2u << 24,
				       6u << 24,
				       12u << 24,
				       FORMAT_XRGB | 5u << 10,
				       FORMAT_XRGB | 2u << 10,
				       FORMAT_XRGB | 1,
				       FORMAT_XRGB | 2,
				       FORMAT_XRGB | 3,
				       FORMAT_XRGB | Y_TILED | 1u << 15,
				       FORMAT_XRGB | 1u << 8 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		show(40, 30, unknown[i], 10);
		assert_black();
	}
	show(40, 30, FORMAT_XRGB, 10);
	wr(PLANE_CTL_1_A, FORMAT_XRGB);
	assert_black();
}

static void a_display_that_is_off_has_no_picture(void **state)
{
	show(40, 30, FORMAT_XRGB, 10);
	draw_by(32);
	wr(PIPEACONF, 0);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), -ENODATA);
	wr(PIPEACONF, 1u << 31);
	ghyvi_vgpu_pause(vgpu);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), -EBUSY);
	ghyvi_vgpu_resume(vgpu);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), 0);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), -ENODATA);
	show(40, 30, FORMAT_XRGB, 10);
	assert_int_equal(ghyvi_vgpu_set_display(vgpu, false), 0);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), -ENODATA);
}

static void a_picture_is_not_larger_than_the_monitor(void **state)
{
	static const u32 widths[] = { 1, 800, 1920, 1921, 4096, 8192 };
	u32 max = ghyvi_vgpu_picture_pixels(vgpu), i;

	assert_int_equal(max, 1920 * 1080);
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		show(widths[i], 8192, FORMAT_XRGB, 10);
		assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), 0);
		assert_int_equal(picture.width, widths[i]);
		assert_int_equal(picture.height, min(8192u, max / widths[i]));
	}
	ghyvi_vgpu_set_resolution(vgpu, 0);
	assert_int_equal(ghyvi_vgpu_picture_pixels(vgpu), 1024 * 768);
}

#define PLANE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLANE_TEST(every_layout_and_format_is_shown),
		PLANE_TEST(a_plane_is_a_part_of_its_surface_and_of_the_screen),
		PLANE_TEST(the_cursor_is_blended_wherever_it_is),
		PLANE_TEST(a_page_that_is_not_there_is_black_and_counted),
		PLANE_TEST(a_plane_that_is_off_or_unknown_is_black),
		PLANE_TEST(a_display_that_is_off_has_no_picture),
		PLANE_TEST(a_picture_is_not_larger_than_the_monitor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
