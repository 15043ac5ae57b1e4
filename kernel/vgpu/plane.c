// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture of a vGPU's display, as pipe A sends it to the monitor: its first plane, and the
 * cursor over it. The register file says what they are, the GGTT where their pixels are.
 *
 * A row of tiles is contiguous in the GGTT, one page each. An X tile has 8 rows of 512 bytes, a Y
 * tile 8 columns of 32 rows of 16 bytes.
 *
 * DOC: what is not shown
 *
 * Pixels that no plane covers are black. So is a plane whose format, tiling or rotation is none of
 * those below (i915 sets them only at the request of a program), and a page that is none of the
 * guest's memory. A cursor of another format than ARGB is not drawn. Overlay planes and the scalers
 * are ignored.
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "display_regs.h"
#include "vgpu_types.h"

#define X_TILE_BYTES 512u /* of a row of a tile */
#define X_TILE_ROWS 8u
#define Y_TILE_BYTES 128u
#define Y_TILE_ROWS 32u
#define Y_COLUMN_BYTES 16u
#define Y_COLUMN_PAGE_BYTES (Y_COLUMN_BYTES * Y_TILE_ROWS)
#define LINEAR_PITCH_BYTES 64u /* unit of PLANE_STRIDE */

static_assert(GHYVI_BAND_PIXELS / GHYVI_PICTURE_WIDTH_MAX >= X_TILE_ROWS);
static_assert(GHYVI_BAND_ROWS >= Y_TILE_ROWS);

/* What is drawn, and where the pages are read to. */
struct reader {
	struct ghyvi_vgpu *vgpu;
	u8 *page;
	u64 faults;
};

/* Pixels of the guest, and the rectangle of them that is on the screen. */
struct surface {
	u64 address;
	u32 pitch; /* bytes from a row to the next; tiled: from a row of tiles */
	u32 tile_bytes, tile_rows; /* a row of a tile, and their number; 0: linear */
	u32 pixel_bytes;
	bool swapped; /* red and blue */
	u32 x, y; /* of the first pixel of the rectangle */
	u32 left, top, right, bottom; /* of the rectangle on the screen */
};

/* Returns @bytes bytes of one page of the GGTT. */
static const u8 *read_page(struct reader *reader, u64 address, size_t bytes)
{
	if (ghyvi_gtt_ggtt_read(reader->vgpu->gtt, address, reader->page, bytes)) {
		memset(reader->page, 0, bytes);
		reader->faults++;
	}
	return reader->page;
}

static u32 rgb_of_565(u16 pixel)
{
	u32 red = pixel >> 11, green = pixel >> 5 & 0x3f, blue = pixel & 0x1f;

	return (red << 3 | red >> 2) << 16 | (green << 2 | green >> 4) << 8 |
	       (blue << 3 | blue >> 2);
}

static void convert(const struct surface *surface, const u8 *from, u32 *to, u32 bytes)
{
	const u32 *wide = (const u32 *)from;
	const u16 *narrow = (const u16 *)from;
	u32 i, n = bytes / surface->pixel_bytes;

	if (surface->pixel_bytes == 2)
		for (i = 0; i < n; i++)
			to[i] = rgb_of_565(narrow[i]);
	else if (surface->swapped)
		for (i = 0; i < n; i++)
			to[i] = (wide[i] & 0xff) << 16 | (wide[i] & 0xff00) |
				(wide[i] >> 16 & 0xff);
	else
		for (i = 0; i < n; i++)
			to[i] = wide[i] & 0xffffff;
}

static bool decode_plane(const struct ghyvi_picture *picture, struct surface *surface)
{
	u32 control = picture->plane_control;
	u32 stride = FIELD_GET(PLANE_STRIDE_MASK, picture->plane_stride);

	if (!(control & PLANE_CTL_ENABLE) || control & PLANE_CTL_UNSHOWN)
		return false;
	memset(surface, 0, sizeof(*surface));
	switch (control & PLANE_CTL_FORMAT_MASK_SKL) {
	case PLANE_CTL_FORMAT_XRGB_8888:
		surface->pixel_bytes = 4;
		surface->swapped = control & PLANE_CTL_ORDER_RGBX;
		break;
	case PLANE_CTL_FORMAT_RGB_565:
		surface->pixel_bytes = 2;
		break;
	default:
		return false;
	}
	switch (control & PLANE_CTL_TILED_MASK) {
	case PLANE_CTL_TILED_LINEAR:
		surface->pitch = stride * LINEAR_PITCH_BYTES;
		break;
	case PLANE_CTL_TILED_X:
		surface->tile_bytes = X_TILE_BYTES;
		surface->tile_rows = X_TILE_ROWS;
		surface->pitch = stride * GHYVI_PAGE_BYTES;
		break;
	case PLANE_CTL_TILED_Y:
		surface->tile_bytes = Y_TILE_BYTES;
		surface->tile_rows = Y_TILE_ROWS;
		surface->pitch = stride * GHYVI_PAGE_BYTES;
		break;
	default:
		return false;
	}
	surface->address = picture->plane_surface & PLANE_SURF_ADDR_MASK;
	surface->x = FIELD_GET(PLANE_X_MASK, picture->plane_offset);
	surface->y = FIELD_GET(PLANE_Y_MASK, picture->plane_offset);
	surface->left = FIELD_GET(PLANE_X_MASK, picture->plane_position);
	surface->top = FIELD_GET(PLANE_Y_MASK, picture->plane_position);
	surface->right = min_t(u32,
			       surface->left + FIELD_GET(PLANE_X_MASK, picture->plane_size) + 1,
			       picture->width);
	surface->bottom = min_t(u32,
				surface->top + FIELD_GET(PLANE_Y_MASK, picture->plane_size) + 1,
				picture->height);
	return surface->left < surface->right;
}

/*
 * Draw row @y of the screen. A pixel is in one page: it is aligned, and so are the rows.
 */
static void draw_linear(struct reader *reader, const struct surface *surface, u32 y, u32 *row)
{
	u64 address = surface->address + (u64)(surface->y + y - surface->top) * surface->pitch +
		      surface->x * surface->pixel_bytes;
	u32 left = (surface->right - surface->left) * surface->pixel_bytes, bytes;

	for (row += surface->left; left; left -= bytes, address += bytes) {
		bytes = min_t(u32, left, GHYVI_PAGE_BYTES - address % GHYVI_PAGE_BYTES);
		convert(surface, read_page(reader, address, bytes), row, bytes);
		row += bytes / surface->pixel_bytes;
	}
}

/* Draw bytes @first to @last of row @row of the tile in @page. */
static void draw_tile_row(const struct surface *surface, const u8 *page, u32 row, u32 first,
			  u32 last, u32 *to)
{
	u32 bytes;

	if (surface->tile_bytes == X_TILE_BYTES) {
		convert(surface, page + row * X_TILE_BYTES + first, to, last - first);
		return;
	}
	for (; first < last; first += bytes, to += bytes / surface->pixel_bytes) {
		bytes = min(last - first, Y_COLUMN_BYTES - first % Y_COLUMN_BYTES);
		convert(surface,
			page + first / Y_COLUMN_BYTES * Y_COLUMN_PAGE_BYTES + row * Y_COLUMN_BYTES +
				first % Y_COLUMN_BYTES,
			to, bytes);
	}
}

/* Draw the rows of the screen from @y on that are in one row of tiles. Returns the next one. */
static u32 draw_tiles(struct reader *reader, const struct surface *surface, u32 y, u32 end,
		      u32 *pixels, u32 width)
{
	u32 row = surface->y + y - surface->top, tile_row = row / surface->tile_rows;
	u32 rows = min(end - y, surface->tile_rows - row % surface->tile_rows), i;
	u32 at = surface->x * surface->pixel_bytes;
	u32 last = at + (surface->right - surface->left) * surface->pixel_bytes, bytes, first;
	const u8 *page;

	pixels += surface->left;
	row %= surface->tile_rows;
	for (; at < last; at += bytes, pixels += bytes / surface->pixel_bytes) {
		first = at % surface->tile_bytes;
		bytes = min(last - at, surface->tile_bytes - first);
		page = read_page(reader,
				 surface->address + (u64)tile_row * surface->pitch +
					 (u64)(at / surface->tile_bytes) * GHYVI_PAGE_BYTES,
				 GHYVI_PAGE_BYTES);
		for (i = 0; i < rows; i++)
			draw_tile_row(surface, page, row + i, first, first + bytes,
				      pixels + i * width);
	}
	return y + rows;
}

static void draw_plane(struct reader *reader, const struct ghyvi_picture *picture, u32 first,
		       u32 rows, u32 *pixels)
{
	struct surface surface;
	u32 y, end;

	if (!decode_plane(picture, &surface))
		return;
	y = max(first, surface.top);
	end = min(first + rows, surface.bottom);
	while (y < end) {
		u32 *row = pixels + (y - first) * picture->width;

		if (surface.tile_bytes)
			y = draw_tiles(reader, &surface, y, end, row, picture->width);
		else
			draw_linear(reader, &surface, y++, row);
	}
}

/* The colours of the cursor are multiplied by its alpha already. */
static u32 blend(u32 cursor, u32 pixel)
{
	u32 through = 255 - (cursor >> 24), result = 0, shift;

	for (shift = 0; shift < 24; shift += 8)
		result |= min(255u,
			      (cursor >> shift & 0xff) +
				      DIV_ROUND_CLOSEST((pixel >> shift & 0xff) * through, 255u))
			  << shift;
	return result;
}

static u32 cursor_size(u32 control)
{
	switch (control & MCURSOR_MODE_MASK) {
	case MCURSOR_MODE_64_ARGB_AX:
		return 64;
	case MCURSOR_MODE_128_ARGB_AX:
		return 128;
	case MCURSOR_MODE_256_ARGB_AX:
		return 256;
	default:
		return 0;
	}
}

static void draw_cursor(struct reader *reader, const struct ghyvi_picture *picture, u32 first,
			u32 rows, u32 *pixels)
{
	s32 size = cursor_size(picture->cursor_control), height = size;
	s32 left = FIELD_GET(CURSOR_POS_X_MASK, picture->cursor_position);
	s32 top = FIELD_GET(CURSOR_POS_Y_MASK, picture->cursor_position);
	s32 x, x_end, y, y_end;
	const u32 *cursor;
	u32 *row;

	if (!size)
		return;
	if (picture->cursor_fbc & CUR_FBC_EN)
		height = min_t(s32, size, FIELD_GET(CUR_FBC_HEIGHT_MASK, picture->cursor_fbc) + 1);
	if (picture->cursor_position & CURSOR_POS_X_SIGN)
		left = -left;
	if (picture->cursor_position & CURSOR_POS_Y_SIGN)
		top = -top;
	x_end = min_t(s32, left + size, picture->width);
	y_end = min_t(s32, top + height, first + rows);
	for (y = max_t(s32, top, first); y < y_end; y++) {
		/* The first page of a cursor begins a row, so a row is in one page. */
		cursor = (const u32 *)read_page(reader,
						(u64)(picture->cursor_base & PLANE_SURF_ADDR_MASK) +
							(y - top) * size * 4,
						size * 4);
		row = pixels + (y - first) * picture->width;
		for (x = max(left, 0); x < x_end; x++)
			row[x] = blend(cursor[x - left], row[x]);
	}
}

u32 ghyvi_picture_band(const struct ghyvi_picture *picture)
{
	return min_t(u32, rounddown_pow_of_two(GHYVI_BAND_PIXELS / picture->width),
		     GHYVI_BAND_ROWS);
}

void ghyvi_vgpu_draw(struct ghyvi_vgpu *vgpu, const struct ghyvi_picture *picture, u32 first,
		     u32 rows, u32 *pixels, void *page)
{
	struct reader reader = { .vgpu = vgpu, .page = page };

	memset(pixels, 0, 4 * (size_t)rows * picture->width);
	draw_plane(&reader, picture, first, rows, pixels);
	draw_cursor(&reader, picture, first, rows, pixels);
	ghyvi_count_add(vgpu->params.stats, display_faults, reader.faults);
	vgpu_unpin_if_failsafe(vgpu); /* a completion may have caused it */
}

void vgpu_get_plane(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	picture->plane_control = vgpu_get(vgpu, PLANE_CTL_1_A);
	picture->plane_stride = vgpu_get(vgpu, PLANE_STRIDE_1_A);
	picture->plane_position = vgpu_get(vgpu, PLANE_POS_1_A);
	picture->plane_size = vgpu_get(vgpu, PLANE_SIZE_1_A);
	picture->plane_surface = vgpu_get(vgpu, PLANE_SURF_1_A);
	picture->plane_offset = vgpu_get(vgpu, PLANE_OFFSET_1_A);
}

void vgpu_get_cursor(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	picture->cursor_control = vgpu_get(vgpu, CURACNTR);
	picture->cursor_base = vgpu_get(vgpu, CURABASE);
	picture->cursor_position = vgpu_get(vgpu, CURAPOS);
	picture->cursor_fbc = vgpu_get(vgpu, CUR_FBC_CTL_A);
}

void vgpu_get_size(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	u32 source = vgpu_get(vgpu, PIPEASRC);

	picture->width = FIELD_GET(PIPESRC_WIDTH_MASK, source) + 1;
	picture->height = min_t(u32, FIELD_GET(PIPESRC_HEIGHT_MASK, source) + 1,
				ghyvi_vgpu_picture_pixels(vgpu) / picture->width);
}

static int get_picture(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	memset(picture, 0, sizeof(*picture));
	if (!vgpu->display.on || vgpu->failsafe || !(vgpu_get(vgpu, PIPEACONF) & PIPECONF_ENABLE))
		return -ENODATA;
	if (vgpu->paused)
		return -EBUSY;
	vgpu_get_size(vgpu, picture);
	vgpu_get_plane(vgpu, picture);
	vgpu_get_cursor(vgpu, picture);
	return 0;
}

int ghyvi_vgpu_get_picture(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	int ret;

	mutex_lock(&vgpu->lock);
	ret = get_picture(vgpu, picture);
	mutex_unlock(&vgpu->lock);
	return ret;
}
