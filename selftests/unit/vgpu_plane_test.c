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
#define FORMAT_2101010 (2u << 24)
#define LINEAR 0u
#define X_TILED (1u << 10)
#define Y_TILED (4u << 10)
#define YF_TILED (5u << 10)

static u32 page[GHYVI_PAGE_BYTES / 4];
static struct ghyvi_picture picture;
static u32 *pixels;

/* No two dwords of a page and no two pages are alike. */
static void fill_memory(void)
{
	u32 i;

	for (i = 0; i < HIDDEN_BYTES; i += 4)
		*(u32 *)(gtt.memory + i) = (i / 4 * 2654435761u) ^ i >> 12;
}

static int set_up(void **state)
{
	int ret = setup_gen9(state);

	ghyvi_vgpu_set_display(vgpu, true);
	fill_memory();
	return ret;
}

static int set_up_broadwell(void **state)
{
	int ret = setup_gen8(state);

	ghyvi_vgpu_set_display(vgpu, true);
	fill_memory();
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

/* The bits of an address in a tile, from the highest one on: x y x y x, three of y, four of x. */
static u32 in_yf_tile(u32 x, u32 y)
{
	return (x >> 6 & 1) << 11 | (y >> 4 & 1) << 10 | (x >> 5 & 1) << 9 | (y >> 3 & 1) << 8 |
	       (x >> 4 & 1) << 7 | (y & 7) << 4 | (x & 15);
}

static u64 yf_tiled_byte(u32 x, u32 y, u32 stride)
{
	u64 tile = (u64)(y >> 5) * stride + (x >> 7);

	return SURFACE + (tile << 12 | in_yf_tile(x, y));
}

static const struct layout {
	u32 control, stride;
	u64 (*byte)(u32 x, u32 y, u32 stride);
} layouts[] = {
	{ LINEAR, 50, linear_byte },
	{ X_TILED, 7, x_tiled_byte },
	{ Y_TILED, 25, y_tiled_byte },
	{ YF_TILED, 25, yf_tiled_byte },
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

/* Part @i of a channel of 10 bits, of which 8 are shown. */
static u32 channel_of_10(u32 value, u32 i)
{
	return (value >> 10 * i & 1023) / 4;
}

static void ten_bits_a_channel_are_shown_as_eight(void **state)
{
	u32 order, x, y, value, expect;

	for (order = 0; order < 2; order++) {
		show(99, 17, FORMAT_2101010 | order << 20, 50);
		draw_by(32);
		for (y = 0; y < 17; y++)
			for (x = 0; x < 99; x++) {
				value = stored(linear_byte(4 * x, y, 50));
				expect = channel_of_10(value, order ? 0 : 2) << 16 |
					 channel_of_10(value, 1) << 8 |
					 channel_of_10(value, order ? 2 : 0);
				assert_int_equal(pixel(x, y), expect);
			}
	}
}

/*
 * The pixel (@x, @y) of an image of Y tiles, @tiles of them high, whose pages are mapped as i915
 * does for a plane that is turned: column by column, each from the last tile to the first one, in
 * rows of @stride pages.
 */
static u32 turned_pixel(u32 format, bool yf, u32 x, u32 y, u32 tiles, u32 stride)
{
	u32 bytes = format == FORMAT_565 ? 2 : 4, byte = x * bytes;
	u64 page_of = (u64)(byte / 128) * stride + tiles - 1 - y / 32;
	u32 in_tile = (byte >> 4 & 7) << 9 | (y & 31) << 4 | (byte & 15), value;
	u64 at = SURFACE + (page_of << 12 | (yf ? in_yf_tile(byte, y) : in_tile));

	if (bytes == 2)
		return expand_565(*(u16 *)fake_memory(at, 2));
	value = stored(at);
	return format == FORMAT_XRGB ? value & 0xffffff : __builtin_bswap32(value << 8);
}

/* A part of a plane, at a place of the screen. */
static const struct part {
	u32 x, y, left, top, width, height;
} turned_parts[] = {
	{ 0, 0, 0, 0, 64, 48 },	   { 0, 0, 10, 20, 30, 20 },  { 33, 5, 0, 0, 64, 48 },
	{ 1, 1, 1, 1, 1, 1 },	   { 5, 63, 60, 40, 90, 90 }, { 3, 31, 63, 47, 50, 50 },
	{ 0, 0, 64, 0, 5, 5 },	   { 0, 0, 0, 48, 5, 5 },     { 40, 90, 3, 2, 61, 46 },
	{ 31, 32, 20, 10, 2, 33 },
};

static void show_part(const struct part *part, u32 control, u32 stride)
{
	show(64, 48, control, stride);
	wr(PLANE_OFFSET_1_A, pair(part->x, part->y));
	wr(PLANE_POS_1_A, pair(part->left, part->top));
	wr(PLANE_SIZE_1_A, pair(part->width - 1, part->height - 1));
}

/* Is (@x, @y) in the plane? If so, return in @i and @j where. */
static bool is_in(const struct part *part, u32 x, u32 y, u32 *i, u32 *j)
{
	*i = x - part->left;
	*j = y - part->top;
	return x >= part->left && y >= part->top && *i < part->width && *j < part->height;
}

static void a_plane_upside_down_begins_at_its_end(void **state)
{
	static const u32 formats[] = { FORMAT_XRGB, FORMAT_XBGR, FORMAT_565 };
	const struct part *part;
	u32 l, f, p, x, y, i, j, expect;

	for (l = 0; l < ARRAY_SIZE(layouts); l++)
		for (f = 0; f < ARRAY_SIZE(formats); f++)
			for (p = 0; p < ARRAY_SIZE(turned_parts); p++) {
				part = &turned_parts[p];
				show_part(part, formats[f] | layouts[l].control | 2,
					  layouts[l].stride);
				draw_by(7 + p);
				for (y = 0; y < 48; y++)
					for (x = 0; x < 64; x++) {
						expect = 0;
						if (is_in(part, x, y, &i, &j))
							expect = expected(
								&layouts[l], formats[f],
								part->x + part->width - 1 - i,
								part->y + part->height - 1 - j);
						if (pixel(x, y) != expect)
							fail_msg("%u/%u/%u: (%u, %u)", l, f, p, x,
								 y);
					}
			}
}

/* By 90 degrees (1) and 270 degrees (3) clockwise. */
static void expect_turned(bool yf)
{
	static const u32 formats[] = { FORMAT_XRGB, FORMAT_XBGR, FORMAT_565 };
	const u32 tiles = 6, stride = 8; /* the last pages of a row are padding */
	const struct part *part;
	u32 f, p, turn, x, y, i, j, vx, vy, expect;

	for (f = 0; f < ARRAY_SIZE(formats); f++)
		for (turn = 1; turn <= 3; turn += 2)
			for (p = 0; p < ARRAY_SIZE(turned_parts); p++) {
				part = &turned_parts[p];
				show_part(part, formats[f] | (yf ? YF_TILED : Y_TILED) | turn,
					  stride);
				draw_by(7 + p);
				for (y = 0; y < 48; y++)
					for (x = 0; x < 64; x++) {
						expect = 0;
						if (is_in(part, x, y, &i, &j)) {
							/* In the image that is turned clockwise. */
							vx = part->x +
							     (turn == 1 ? i : part->width - 1 - i);
							vy = part->y +
							     (turn == 1 ? j : part->height - 1 - j);
							expect = turned_pixel(formats[f], yf, vy,
									      tiles * 32 - 1 - vx,
									      tiles, stride);
						}
						if (pixel(x, y) != expect)
							fail_msg("%u/%u/%u: (%u, %u)", f, turn, p,
								 x, y);
					}
			}
	show(64, 48, FORMAT_XRGB | LINEAR | 1, 50);
	draw_by(32);
	assert_int_equal(pixel(3, 3), 0);
	show(64, 48, FORMAT_XRGB | X_TILED | 3, 7);
	draw_by(32);
	assert_int_equal(pixel(3, 3), 0);
}

static void a_turned_plane_shows_its_columns_as_rows(void **state)
{
	expect_turned(false);
	expect_turned(true);
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

static void a_cursor_upside_down_begins_at_its_end(void **state)
{
	u32 x, y, below, height, h;

	for (h = 0; h < 2; h++) {
		show(200, 100, FORMAT_XRGB | LINEAR, 50);
		height = h ? 40 : 64;
		wr(CURACNTR, 0x27 | 1u << 15);
		wr(CUR_FBC_CTL_A, h ? 1u << 31 | (height - 1) : 0);
		wr(CURAPOS, pair(150, 60)); /* the screen cuts it off */
		wr(CURABASE, CURSOR);
		draw_by(13);
		for (y = 0; y < 100; y++)
			for (x = 0; x < 200; x++) {
				below = expected(&layouts[0], FORMAT_XRGB, x, y);
				if (x >= 150 && y >= 60 && x - 150 < 64 && y - 60 < height)
					below = expected_blend(
						below,
						stored(CURSOR + 4 * ((height - 1 - (y - 60)) * 64 +
								     63 - (x - 150))));
				assert_int_equal(pixel(x, y), below);
			}
	}
}

/* Plane @n, 30 by 20 pixels at (@left, @top), of surface @at. */
static void show_overlay(u32 n, u32 left, u32 top, u32 control, u64 at)
{
	u32 base = n * 0x100;

	wr(PLANE_STRIDE_1_A + base, 50);
	wr(PLANE_POS_1_A + base, pair(left, top));
	wr(PLANE_SIZE_1_A + base, pair(29, 19));
	wr(PLANE_OFFSET_1_A + base, 0);
	wr(PLANE_KEYMSK_1_A + base, 0);
	wr(PLANE_CTL_1_A + base, 1u << 31 | FORMAT_XRGB | control);
	wr(PLANE_SURF_1_A + base, (u32)at);
}

static bool is_in_overlay(u32 x, u32 y, u32 left, u32 top)
{
	return x >= left && y >= top && x - left < 30 && y - top < 20;
}

static void higher_planes_are_over_lower_ones_and_below_the_cursor(void **state)
{
	u32 x, y, expect;

	show(64, 48, FORMAT_XRGB | LINEAR, 50);
	show_overlay(2, 20, 15, 0, SURFACE + 0x8000);
	show_overlay(1, 10, 5, 0, SURFACE + 0x4000);
	wr(CURACNTR, 0x27);
	wr(CURAPOS, pair(35, 25));
	wr(CURABASE, CURSOR);
	draw_by(9);
	for (y = 0; y < 48; y++)
		for (x = 0; x < 64; x++) {
			expect = expected(&layouts[0], FORMAT_XRGB, x, y);
			if (is_in_overlay(x, y, 10, 5))
				expect = stored(linear_byte(4 * (x - 10), y - 5, 50) + 0x4000);
			if (is_in_overlay(x, y, 20, 15))
				expect = stored(linear_byte(4 * (x - 20), y - 15, 50) + 0x8000);
			expect &= 0xffffff;
			if (x >= 35 && y >= 25)
				expect = expected_blend(
					expect, stored(CURSOR + 4 * ((y - 25) * 64 + x - 35)));
			if (pixel(x, y) != expect)
				fail_msg("(%u, %u)", x, y);
		}
	wr(PLANE_CTL_1_A, 0);
	wr(PLANE_SURF_1_A, 0);
	draw_by(9);
	assert_int_equal(pixel(0, 0), 0);
	assert_int_equal(pixel(10, 5), stored(SURFACE + 0x4000) & 0xffffff);
}

static u32 nearest(double value)
{
	return (u32)(value + 0.5 + 1e-9);
}

/* Pixel @over with alpha mode @mode, on a plane of alpha @plane, over @below, rounded each time. */
static u32 expected_mix(u32 below, u32 over, u32 mode, u32 plane)
{
	u32 i, channel, alpha = mode ? over >> 24 : 255, result = 0;

	for (i = 0; i < 24; i += 8) {
		channel = over >> i & 255;
		if (mode == 3)
			channel = nearest(channel * (alpha / 255.0));
		channel = nearest(channel * (plane / 255.0)) +
			  nearest((below >> i & 255) *
				  (1 - nearest(alpha * (plane / 255.0)) / 255.0));
		result |= (channel > 255 ? 255 : channel) << i;
	}
	return result;
}

static void a_plane_is_blended_by_the_alpha_of_its_pixels_and_its_own(void **state)
{
	static const u32 modes[] = { 0, 2, 3 }, alphas[] = { 255, 0, 1, 127, 254 };
	u32 m, a, x, y, below, expect;

	for (m = 0; m < ARRAY_SIZE(modes); m++)
		for (a = 0; a < ARRAY_SIZE(alphas); a++) {
			show(64, 48, FORMAT_XRGB | LINEAR, 50);
			show_overlay(1, 10, 5, modes[m] << 4, SURFACE + 0x4000);
			wr(PLANE_KEYMAX_1_A + 0x100, alphas[a] << 24 | 0x123456);
			wr(PLANE_KEYMSK_1_A + 0x100, 1u << 31);
			draw_by(9);
			for (y = 0; y < 48; y++)
				for (x = 0; x < 64; x++) {
					below = expected(&layouts[0], FORMAT_XRGB, x, y);
					expect = below;
					if (is_in_overlay(x, y, 10, 5))
						expect = expected_mix(
							below,
							stored(linear_byte(4 * (x - 10), y - 5,
									   50) +
							       0x4000),
							modes[m], alphas[a]);
					if (pixel(x, y) != expect)
						fail_msg("mode %u alpha %u: (%u, %u): %#x, not %#x",
							 modes[m], alphas[a], x, y, pixel(x, y),
							 expect);
				}
			/* Without its bit, the alpha of the plane does not count. */
			wr(PLANE_KEYMSK_1_A + 0x100, 0x7fffffff);
			draw_by(9);
			assert_int_equal(pixel(12, 7),
					 expected_mix(expected(&layouts[0], FORMAT_XRGB, 12, 7),
						      stored(linear_byte(8, 2, 50) + 0x4000),
						      modes[m], 255));
		}
}

/* Only absent pages are black. */
/* A Broadwell's planes: the first one, and the sprite. */

#define DSP(format) ((format##u) << 26)
#define SPR(format) ((format##u) << 25)

static u32 broadwell_stride(const struct layout *layout)
{
	return layout->stride * (layout->control == X_TILED ? 512 : 64);
}

static void the_first_plane_of_a_broadwell_is_as_large_as_the_screen(void **state)
{
	static const struct {
		u32 control, format;
	} formats[] = { { DSP(6), FORMAT_XRGB }, { DSP(14), FORMAT_XBGR }, { DSP(5), FORMAT_565 } };
	u32 l, f, turned, x, y, i, j;

	for (l = 0; l < 2; l++)
		for (f = 0; f < ARRAY_SIZE(formats); f++)
			for (turned = 0; turned < 2; turned++) {
				show(397, 31,
				     formats[f].control | layouts[l].control | turned << 15,
				     broadwell_stride(&layouts[l]));
				wr(PLANE_POS_1_A, pair(5, 7)); /* of no effect, as the size */
				wr(PLANE_SIZE_1_A, 0);
				wr(PLANE_KEYMSK_1_A, 1u << 31);
				wr(PLANE_OFFSET_1_A, pair(33, 5));
				draw_by(7);
				for (y = 0; y < 31; y++)
					for (x = 0; x < 397; x++) {
						i = 33 + (turned ? 396 - x : x);
						j = 5 + (turned ? 30 - y : y);
						if (pixel(x, y) !=
						    expected(&layouts[l], formats[f].format, i, j))
							fail_msg("%u/%u/%u: (%u, %u)", l, f, turned,
								 x, y);
					}
			}
	assert_int_equal(atomic64_read(&stats.display_faults), 0);
}

static void a_sprite_is_a_part_of_the_screen(void **state)
{
	static const struct {
		u32 control, format;
	} formats[] = { { SPR(2), FORMAT_XRGB }, { SPR(2) | 1u << 20, FORMAT_XBGR } };
	const struct layout at = { X_TILED, 2, x_tiled_byte };
	u32 f, turned, x, y, i, j, expect;

	for (f = 0; f < ARRAY_SIZE(formats); f++)
		for (turned = 0; turned < 2; turned++) {
			show(64, 48, DSP(6), 50 * 64);
			show_overlay(2, 0, 0, 0, SURFACE + 0x8000); /* There is no third plane. */
			show_overlay(1, 10, 5, 0, SURFACE);
			wr(PLANE_CTL_1_A + 0x100,
			   1u << 31 | formats[f].control | X_TILED | turned << 15);
			wr(PLANE_STRIDE_1_A + 0x100, 2 * 512);
			wr(PLANE_KEYMSK_1_A + 0x100, 1u << 31);
			wr(PLANE_OFFSET_1_A + 0x100, pair(3, 4));
			wr(PLANE_SURF_1_A + 0x100, SURFACE);
			draw_by(9);
			for (y = 0; y < 48; y++)
				for (x = 0; x < 64; x++) {
					expect = expected(&layouts[0], FORMAT_XRGB, x, y);
					i = 3 + (turned ? 29 - (x - 10) : x - 10);
					j = 4 + (turned ? 19 - (y - 5) : y - 5);
					if (is_in_overlay(x, y, 10, 5))
						expect = expected(&at, formats[f].format, i, j);
					if (pixel(x, y) != expect)
						fail_msg("%u/%u: (%u, %u)", f, turned, x, y);
				}
		}
}

static void a_broadwell_shows_ten_bits_a_channel_as_eight(void **state)
{
	static const u32 dsp[] = { DSP(10), DSP(8) }, spr[] = { SPR(1), SPR(1) | 1u << 20 };
	u32 order, x, value, expect;

	for (order = 0; order < 2; order++) {
		show(64, 20, dsp[order], 50 * 64);
		show_overlay(1, 30, 0, 0, SURFACE + 0x4000);
		wr(PLANE_CTL_1_A + 0x100, 1u << 31 | spr[order]);
		wr(PLANE_STRIDE_1_A + 0x100, 50 * 64);
		wr(PLANE_SURF_1_A + 0x100, SURFACE + 0x4000);
		draw_by(32);
		for (x = 0; x < 60; x++) {
			value = stored(linear_byte(4 * x, 1, 50));
			if (x >= 30)
				value = stored(linear_byte(4 * (x - 30), 1, 50) + 0x4000);
			expect = channel_of_10(value, order ? 0 : 2) << 16 |
				 channel_of_10(value, 1) << 8 | channel_of_10(value, order ? 2 : 0);
			assert_int_equal(pixel(x, 1), expect);
		}
	}
}

static void pipe_b_shows_its_own_planes_and_cursor(void **state)
{
	const u32 b = PIPE_NEXT_BYTES;

	show(64, 48, DSP(6), 50 * 64);
	wr(PIPEASRC + b, pair(29, 39));
	wr(PIPEACONF + b, 1u << 31);
	wr(PLANE_STRIDE_1_A + b, 50 * 64);
	wr(PLANE_CTL_1_A + b, 1u << 31 | DSP(6));
	wr(PLANE_SURF_1_A + b, SURFACE + 0x4000);
	wr(CURACNTR + b, 0x27);
	wr(CURAPOS + b, pair(20, 10));
	wr(CURABASE + b, CURSOR);
	draw_by(32);
	assert_int_equal(picture.width, 40);
	assert_int_equal(picture.height, 30);
	assert_int_equal(pixel(1, 2), stored(linear_byte(4, 2, 50) + 0x4000) & 0xffffff);
	assert_int_equal(pixel(20, 10),
			 expected_blend(stored(linear_byte(80, 10, 50) + 0x4000) & 0xffffff,
					stored(CURSOR)));
	wr(PIPEACONF + b, 0);
	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), -ENODATA);
	wr(PIPEACONF, 1u << 31);
	draw_by(32);
	assert_int_equal(picture.width, 64);
}

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
				       6u << 24,
				       12u << 24,
				       FORMAT_XRGB | 6u << 10,
				       FORMAT_XRGB | 2u << 10,
				       FORMAT_XRGB | 1,
				       FORMAT_XRGB | X_TILED | 3,
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

static void an_unknown_plane_of_a_broadwell_is_black(void **state)
{
	static const u32 unknown[] = { DSP(0), DSP(2), DSP(7), DSP(12), DSP(15) };
	static const u32 unknown_sprites[] = { SPR(0), SPR(3), SPR(4), SPR(5) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		show(40, 30, unknown[i], 640);
		assert_black();
	}
	for (i = 0; i < ARRAY_SIZE(unknown_sprites); i++) {
		show_overlay(1, 0, 0, 0, SURFACE);
		wr(PLANE_CTL_1_A + 0x100, 1u << 31 | unknown_sprites[i]);
		wr(PLANE_SURF_1_A + 0x100, SURFACE);
		assert_black();
	}
	show(40, 30, DSP(6), 640);
	wr(PLANE_CTL_1_A, DSP(6));
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
	ghyvi_vgpu_set_display(vgpu, false);
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

/* A page that is read may have to be pinned first, and a freed table to be found. */
static void an_administrator_who_looks_pays_no_memory(void **state)
{
	show(64, 64, FORMAT_XRGB | X_TILED, 1);
	wr(CURABASE, CURSOR);
	wr(CURACNTR, MCURSOR_MODE_64_ARGB_AX);
	gtt.uncharged_reads = 0;
	draw_by(8);
	assert_int_equal(gtt.uncharged_reads, 0);
	assert_int_equal(charged, 0);
}

#define PLANE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define BROADWELL(f) cmocka_unit_test_setup_teardown(f, set_up_broadwell, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLANE_TEST(every_layout_and_format_is_shown),
		PLANE_TEST(a_plane_is_a_part_of_its_surface_and_of_the_screen),
		PLANE_TEST(ten_bits_a_channel_are_shown_as_eight),
		PLANE_TEST(a_plane_upside_down_begins_at_its_end),
		PLANE_TEST(a_turned_plane_shows_its_columns_as_rows),
		PLANE_TEST(the_cursor_is_blended_wherever_it_is),
		PLANE_TEST(a_cursor_upside_down_begins_at_its_end),
		PLANE_TEST(higher_planes_are_over_lower_ones_and_below_the_cursor),
		PLANE_TEST(a_plane_is_blended_by_the_alpha_of_its_pixels_and_its_own),
		BROADWELL(the_first_plane_of_a_broadwell_is_as_large_as_the_screen),
		BROADWELL(a_sprite_is_a_part_of_the_screen),
		BROADWELL(a_broadwell_shows_ten_bits_a_channel_as_eight),
		BROADWELL(pipe_b_shows_its_own_planes_and_cursor),
		BROADWELL(an_unknown_plane_of_a_broadwell_is_black),
		PLANE_TEST(a_page_that_is_not_there_is_black_and_counted),
		PLANE_TEST(a_plane_that_is_off_or_unknown_is_black),
		PLANE_TEST(a_display_that_is_off_has_no_picture),
		PLANE_TEST(a_picture_is_not_larger_than_the_monitor),
		PLANE_TEST(an_administrator_who_looks_pays_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
