// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture of a vGPU's display, as its pipe sends it to the monitor: its planes, and the cursor
 * over them. The register file says what they are, the GGTT where their pixels are.
 *
 * A row of tiles is contiguous in the GGTT, one page each. An X tile has 8 rows of 512 bytes. A Y
 * tile has 8 columns of 32 rows of 16 bytes, and so has a Yf tile, in another order.
 *
 * DOC: rotation
 *
 * For a plane that is turned by 90 degrees, the guest maps the pages of its tiles in the order
 * that turns the picture, so that only what is within a tile is still to turn. 180 degrees are the
 * same pixels from the last one on; 270 degrees are both.
 *
 * DOC: what is not shown
 *
 * Pixels that no plane covers are black. So is a plane whose format or tiling is none of those
 * below (i915 sets them only at the request of a program), and a page that is none of the guest's
 * memory. A cursor of another format than ARGB is not drawn. Colour keys, tables of colours and the
 * scalers are ignored.
 */
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include "display_regs.h"
#include "vgpu_types.h"

#define X_TILE_ROWS 8u
#define Y_TILE_BYTES 128u
#define Y_TILE_ROWS 32u
#define Y_COLUMN_BYTES 16u
#define Y_COLUMN_PAGE_BYTES (Y_COLUMN_BYTES * Y_TILE_ROWS)

static_assert(GHYVI_BAND_PIXELS / GHYVI_PICTURE_WIDTH_MAX >= X_TILE_ROWS);
static_assert(GHYVI_BAND_ROWS >= Y_TILE_ROWS);

/* A guest can make each page take long. What a band does not get in this time is black. */
#define BAND_NS (2 * NSEC_PER_SEC)

/* What is drawn, until when, and where the pages are read to. */
struct reader {
	struct ghyvi_vgpu *vgpu;
	u64 end_ns;
	u8 *page;
	u64 faults;
};

/* Pixels of the guest, and the rectangle of them that is on the screen. */
struct surface {
	u64 address;
	u32 pitch; /* bytes from a row to the next; tiled: from a row of tiles */
	u32 tile_bytes; /* of a row of a tile, as it is shown; 0: linear */
	u32 tile_rows;
	bool yf;
	u32 pixel_bytes;
	u32 format;
	bool swapped; /* red and blue */
	bool plain; /* the usual case, which is fast: words as on the screen, in that order */
	bool turned; /* by 90 degrees */
	s32 step; /* on the screen, from a pixel of a row to the next one; -1: upside down */
	u32 alpha_mode; /* PLANE_CTL_ALPHA_*; 0: pixels have none */
	u32 alpha; /* of the plane */
	u32 x, y; /* of the first pixel of the rectangle that is on the screen */
	u32 left, top, right, bottom; /* of the rectangle on the screen */
};

/* Returns @bytes bytes of one page of the GGTT. */
static const u8 *read_page(struct reader *reader, u64 address, size_t bytes)
{
	if (ktime_get_ns() >= reader->end_ns || fatal_signal_pending(current) ||
	    ghyvi_gtt_ggtt_read(reader->vgpu->gtt, address, reader->page, bytes)) {
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

/* The colours of @over are multiplied by its alpha already. */
static u32 blend_pixel(u32 over, u32 pixel)
{
	u32 through = 255 - (over >> 24), result = 0, shift;

	for (shift = 0; shift < 24; shift += 8)
		result |= min(255u,
			      (over >> shift & 0xff) +
				      DIV_ROUND_CLOSEST((pixel >> shift & 0xff) * through, 255u))
			  << shift;
	return result;
}

/* Multiply the four channels of @pixel by @alpha, except for alpha if not @all. */
static u32 fade_pixel(u32 pixel, u32 alpha, bool all)
{
	u32 result = all ? 0 : pixel & 0xff000000, shift;

	for (shift = 0; shift < (all ? 32 : 24); shift += 8)
		result |= DIV_ROUND_CLOSEST((pixel >> shift & 0xff) * alpha, 255u) << shift;
	return result;
}

/* The pixel at @from, as 0xAARRGGBB. */
static u32 read_pixel(const struct surface *surface, const u8 *from)
{
	u32 pixel;

	if (surface->pixel_bytes == 2)
		return rgb_of_565(*(const u16 *)from);
	pixel = *(const u32 *)from;
	if (surface->format == PLANE_CTL_FORMAT_XRGB_2101010)
		pixel = (pixel >> 6 & 0xff0000) | (pixel >> 4 & 0xff00) | (pixel >> 2 & 0xff);
	if (surface->swapped)
		pixel = (pixel & 0xff00ff00) | (pixel & 0xff) << 16 | (pixel >> 16 & 0xff);
	return pixel;
}

static void put_blended(const struct surface *surface, u32 pixel, u32 *to)
{
	switch (surface->alpha_mode) {
	case PLANE_CTL_ALPHA_SW_PREMULTIPLY:
		break;
	case PLANE_CTL_ALPHA_HW_PREMULTIPLY:
		pixel = fade_pixel(pixel, pixel >> 24, false);
		break;
	default:
		pixel |= 0xff000000;
	}
	*to = blend_pixel(fade_pixel(pixel, surface->alpha, true), *to);
}

static void convert_pixels(const struct surface *surface, const u8 *from, u32 *to, u32 bytes)
{
	const u32 *wide = (const u32 *)from;
	const u8 *end = from + bytes;
	u32 i, n = bytes / sizeof(u32);

	if (surface->alpha_mode || surface->alpha < 255)
		for (; from < end; from += surface->pixel_bytes, to += surface->step)
			put_blended(surface, read_pixel(surface, from), to);
	else if (surface->plain)
		for (i = 0; i < n; i++)
			to[i] = wide[i] & 0xffffff;
	else
		for (; from < end; from += surface->pixel_bytes, to += surface->step)
			*to = read_pixel(surface, from) & 0xffffff;
}

static bool decode_format(const struct ghyvi_plane *plane, struct surface *surface)
{
	u32 control = plane->control;

	surface->format = control & PLANE_CTL_FORMAT_MASK_SKL;
	surface->alpha = 255;
	if (plane->key_mask & PLANE_KEYMSK_ALPHA_ENABLE)
		surface->alpha = FIELD_GET(PLANE_KEYMAX_ALPHA_MASK, plane->key_max);
	surface->swapped = control & PLANE_CTL_ORDER_RGBX;
	surface->pixel_bytes = 4;
	switch (surface->format) {
	case PLANE_CTL_FORMAT_XRGB_8888:
		surface->alpha_mode = control & PLANE_CTL_ALPHA_MASK;
		return true;
	case PLANE_CTL_FORMAT_XRGB_2101010:
		return true;
	case PLANE_CTL_FORMAT_RGB_565:
		surface->pixel_bytes = 2;
		return true;
	default:
		return false;
	}
}

static bool decode_tiling(const struct ghyvi_plane *plane, struct surface *surface)
{
	u32 stride = FIELD_GET(PLANE_STRIDE_MASK, plane->stride);

	surface->turned = plane->control & PLANE_CTL_ROTATE_90;
	surface->pitch = stride * GHYVI_PAGE_BYTES;
	switch (plane->control & PLANE_CTL_TILED_MASK) {
	case PLANE_CTL_TILED_LINEAR:
		surface->pitch = stride * LINEAR_PITCH_BYTES;
		return !surface->turned;
	case PLANE_CTL_TILED_X:
		surface->tile_bytes = X_TILE_BYTES;
		surface->tile_rows = X_TILE_ROWS;
		return !surface->turned;
	case PLANE_CTL_TILED_YF:
		surface->yf = true;
		fallthrough;
	case PLANE_CTL_TILED_Y:
		surface->tile_bytes = Y_TILE_BYTES;
		surface->tile_rows = Y_TILE_ROWS;
		if (surface->turned) {
			surface->tile_bytes = Y_TILE_ROWS * surface->pixel_bytes;
			surface->tile_rows = Y_TILE_BYTES / surface->pixel_bytes;
		}
		return true;
	default:
		return false;
	}
}

static bool decode_plane(const struct ghyvi_picture *picture, const struct ghyvi_plane *plane,
			 struct surface *surface)
{
	u32 width = FIELD_GET(PLANE_X_MASK, plane->size) + 1;
	u32 height = FIELD_GET(PLANE_Y_MASK, plane->size) + 1;

	if (!(plane->control & PLANE_CTL_ENABLE) || plane->control & PLANE_CTL_UNSHOWN)
		return false;
	memset(surface, 0, sizeof(*surface));
	if (!decode_format(plane, surface) || !decode_tiling(plane, surface))
		return false;
	surface->address = plane->surface & PLANE_SURF_ADDR_MASK;
	surface->x = FIELD_GET(PLANE_X_MASK, plane->offset);
	surface->y = FIELD_GET(PLANE_Y_MASK, plane->offset);
	surface->left = FIELD_GET(PLANE_X_MASK, plane->position);
	surface->top = FIELD_GET(PLANE_Y_MASK, plane->position);
	surface->right = min_t(u32, surface->left + width, picture->width);
	surface->bottom = min_t(u32, surface->top + height, picture->height);
	if (surface->left >= surface->right || surface->top >= surface->bottom)
		return false;
	surface->step = 1;
	if (plane->control & PLANE_CTL_ROTATE_180) {
		surface->step = -1;
		/* The edges that are cut off on the screen are the first ones of the surface. */
		surface->x += width - (surface->right - surface->left);
		surface->y += height - (surface->bottom - surface->top);
	}
	surface->plain = surface->format == PLANE_CTL_FORMAT_XRGB_8888 && !surface->swapped &&
			 surface->step > 0;
	return true;
}

/* Rows of a surface, and where they are drawn. */
struct rows {
	u32 first, end; /* of the surface */
	u32 *to; /* the pixel of the screen that is the first one of the first row */
	s32 next; /* from there to that of the next row */
};

/* A pixel is in one page: it is aligned, and so are the rows. */
static void draw_linear(struct reader *reader, const struct surface *surface,
			const struct rows *rows)
{
	u32 row, left, bytes, *to;
	u64 address;

	for (row = rows->first; row < rows->end; row++) {
		address = surface->address + (u64)row * surface->pitch +
			  surface->x * surface->pixel_bytes;
		to = rows->to + (s32)(row - rows->first) * rows->next;
		left = (surface->right - surface->left) * surface->pixel_bytes;
		for (; left; left -= bytes, address += bytes) {
			bytes = min_t(u32, left, GHYVI_PAGE_BYTES - address % GHYVI_PAGE_BYTES);
			convert_pixels(surface, read_page(reader, address, bytes), to, bytes);
			to += surface->step * (s32)(bytes / surface->pixel_bytes);
		}
	}
}

/* Where byte @x of row @row of a Y or Yf tile is. */
static u32 in_y_tile(const struct surface *surface, u32 x, u32 row)
{
	u32 column = x / Y_COLUMN_BYTES, offset = x % Y_COLUMN_BYTES;

	if (!surface->yf)
		return column * Y_COLUMN_PAGE_BYTES + row * Y_COLUMN_BYTES + offset;
	/* From bit 7 on, bits of the column and of the row take turns. */
	return offset | (row & 7) << 4 | (column & 1) << 7 | (row & 8) << 5 | (column & 2) << 8 |
	       (row & 16) << 6 | (column & 4) << 9;
}

/* Draw bytes @first to @last of row @row of the tile in @page, which is turned. */
static void draw_turned_row(const struct surface *surface, const u8 *page, u32 row, u32 first,
			    u32 last, u32 *to)
{
	u32 x = row * surface->pixel_bytes, y;

	for (; first < last; first += surface->pixel_bytes, to += surface->step) {
		y = Y_TILE_ROWS - 1 - first / surface->pixel_bytes;
		convert_pixels(surface, page + in_y_tile(surface, x, y), to, surface->pixel_bytes);
	}
}

/* Draw bytes @first to @last of row @row of the tile in @page. */
static void draw_tile_row(const struct surface *surface, const u8 *page, u32 row, u32 first,
			  u32 last, u32 *to)
{
	u32 bytes;

	if (surface->turned) {
		draw_turned_row(surface, page, row, first, last, to);
		return;
	}
	if (surface->tile_bytes == X_TILE_BYTES) {
		convert_pixels(surface, page + row * X_TILE_BYTES + first, to, last - first);
		return;
	}
	for (; first < last; first += bytes) {
		bytes = min(last - first, Y_COLUMN_BYTES - first % Y_COLUMN_BYTES);
		convert_pixels(surface, page + in_y_tile(surface, first, row), to, bytes);
		to += surface->step * (s32)(bytes / surface->pixel_bytes);
	}
}

/* Draw @count rows from @row on, which are in one row of tiles. */
static void draw_tiles(struct reader *reader, const struct surface *surface, u32 row, u32 count,
		       u32 *to, s32 next)
{
	u64 tiles = surface->address + (u64)(row / surface->tile_rows) * surface->pitch;
	u32 offset = surface->x * surface->pixel_bytes, i;
	u32 last = offset + (surface->right - surface->left) * surface->pixel_bytes, bytes, first;
	const u8 *page;

	row %= surface->tile_rows;
	for (; offset < last; offset += bytes) {
		first = offset % surface->tile_bytes;
		bytes = min(last - offset, surface->tile_bytes - first);
		page = read_page(reader,
				 tiles + (u64)(offset / surface->tile_bytes) * GHYVI_PAGE_BYTES,
				 GHYVI_PAGE_BYTES);
		for (i = 0; i < count; i++)
			draw_tile_row(surface, page, row + i, first, first + bytes,
				      to + (s32)i * next);
		to += surface->step * (s32)(bytes / surface->pixel_bytes);
	}
}

static void draw_tiled(struct reader *reader, const struct surface *surface,
		       const struct rows *rows)
{
	u32 row, count;

	for (row = rows->first; row < rows->end; row += count) {
		count = min(rows->end - row, surface->tile_rows - row % surface->tile_rows);
		draw_tiles(reader, surface, row, count,
			   rows->to + (s32)(row - rows->first) * rows->next, rows->next);
	}
}

/* Draw what of a plane is in @count rows of the screen from @first on. */
static void draw_plane(struct reader *reader, const struct ghyvi_picture *picture,
		       const struct ghyvi_plane *plane, u32 first, u32 count, u32 *pixels)
{
	struct surface surface;
	struct rows rows;
	u32 y, end;

	if (!decode_plane(picture, plane, &surface))
		return;
	y = max(first, surface.top);
	end = min(first + count, surface.bottom);
	if (y >= end)
		return;
	if (surface.step > 0) {
		rows.first = surface.y + y - surface.top;
		rows.to = pixels + (y - first) * picture->width + surface.left;
	} else {
		rows.first = surface.y + surface.bottom - end;
		rows.to = pixels + (end - 1 - first) * picture->width + surface.right - 1;
	}
	rows.end = rows.first + end - y;
	rows.next = surface.step * (s32)picture->width;
	if (surface.tile_bytes)
		draw_tiled(reader, &surface, &rows);
	else
		draw_linear(reader, &surface, &rows);
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

/* The cursor's pixel number @x of a row of @size. */
static u32 cursor_pixel(const u32 *row, s32 x, s32 size, bool turned)
{
	return row[turned ? size - 1 - x : x];
}

static void draw_cursor(struct reader *reader, const struct ghyvi_picture *picture, u32 first,
			u32 rows, u32 *pixels)
{
	s32 size = cursor_size(picture->cursor_control), height = size;
	s32 left = FIELD_GET(CURSOR_POS_X_MASK, picture->cursor_position);
	s32 top = FIELD_GET(CURSOR_POS_Y_MASK, picture->cursor_position);
	bool turned = picture->cursor_control & MCURSOR_ROTATE_180;
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
		cursor = (const u32 *)read_page(
			reader,
			(u64)(picture->cursor_base & PLANE_SURF_ADDR_MASK) +
				(turned ? height - 1 - (y - top) : y - top) * size * 4,
			size * 4);
		row = pixels + (y - first) * picture->width;
		for (x = max(left, 0); x < x_end; x++)
			row[x] = blend_pixel(cursor_pixel(cursor, x - left, size, turned), row[x]);
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
	struct reader reader = { .vgpu = vgpu, .end_ns = ktime_get_ns() + BAND_NS, .page = page };
	struct ghyvi_hv_charge charge;
	unsigned int i;

	/* An administrator may look: the guest pays for its tables all the same. */
	vgpu_charge(vgpu, &charge);
	memset(pixels, 0, 4 * (size_t)rows * picture->width);
	for (i = 0; i < GHYVI_PLANES; i++)
		draw_plane(&reader, picture, &picture->planes[i], first, rows, pixels);
	draw_cursor(&reader, picture, first, rows, pixels);
	vgpu_uncharge(vgpu, &charge);
	ghyvi_count_add(vgpu->params.stats, display_faults, reader.faults);
	vgpu_unpin_if_failsafe(vgpu); /* a completion may have caused it */
}

void vgpu_get_plane(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture, unsigned int plane)
{
	vgpu->params.profile->display->get_plane(vgpu, plane, &picture->planes[plane]);
}

void vgpu_get_cursor(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	picture->cursor_control = vgpu_pipe_get(vgpu, CURACNTR);
	picture->cursor_base = vgpu_pipe_get(vgpu, CURABASE);
	picture->cursor_position = vgpu_pipe_get(vgpu, CURAPOS);
	picture->cursor_fbc = vgpu_pipe_get(vgpu, CUR_FBC_CTL_A);
}

void vgpu_get_planes(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	unsigned int i;

	for (i = 0; i < GHYVI_PLANES; i++)
		vgpu_get_plane(vgpu, picture, i);
	vgpu_get_cursor(vgpu, picture);
}

void vgpu_get_size(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	u32 source = vgpu_pipe_get(vgpu, PIPEASRC);

	picture->width = FIELD_GET(PIPESRC_WIDTH_MASK, source) + 1;
	picture->height = min_t(u32, FIELD_GET(PIPESRC_HEIGHT_MASK, source) + 1,
				ghyvi_vgpu_picture_pixels(vgpu) / picture->width);
}

static int get_picture(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	unsigned long flags;

	memset(picture, 0, sizeof(*picture));
	if (!vgpu->display.on || vgpu->failsafe ||
	    !(vgpu_pipe_get(vgpu, PIPEACONF) & PIPECONF_ENABLE))
		return -ENODATA;
	if (vgpu->paused)
		return -EBUSY;
	spin_lock_irqsave(&vgpu->irq_lock, flags); /* all of one pipe */
	vgpu_get_size(vgpu, picture);
	vgpu_get_planes(vgpu, picture);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	return 0;
}

int ghyvi_vgpu_get_picture(struct ghyvi_vgpu *vgpu, struct ghyvi_picture *picture)
{
	int err;

	mutex_lock(&vgpu->lock);
	err = get_picture(vgpu, picture);
	mutex_unlock(&vgpu->lock);
	return err;
}
