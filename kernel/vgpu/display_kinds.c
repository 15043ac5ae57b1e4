// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the displays of a Skylake and a Broadwell do not have in common.
 *
 * A plane of a Broadwell is described as the Skylake's that shows the same, so that plane.c draws
 * one kind. A Broadwell has two planes, the first of which is as large as the picture. Both are
 * linear or X tiled, are not blended, and count their pitch in bytes.
 */
#include <linux/bitfield.h>
#include <linux/kernel.h>
#include "display_regs.h"
#include "vgpu_types.h"

u32 vgpu_pipe_get(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	return vgpu_get(vgpu, offset + READ_ONCE(vgpu->display.pipe) * PIPE_NEXT_BYTES);
}

/* Skylake */

static u32 skl_symbol_khz(struct ghyvi_vgpu *vgpu)
{
	/* By number in DPLL_CTRL1. */
	static const u32 rates[] = { 540000, 270000, 162000, 324000, 216000, 432000, 0, 0 };
	u32 pll = vgpu_get(vgpu, DPLL_CTRL2) >>
			  (MONITOR_PORT * DPLL_CTRL2_BITS + DPLL_CTRL2_DDI_CLK_SEL_SHIFT) &
		  DPLL_CTRL2_DDI_CLK_SEL_MASK;

	return rates[vgpu_get(vgpu, DPLL_CTRL1) >>
			     (pll * DPLL_CTRL1_BITS + DPLL_CTRL1_LINK_RATE_SHIFT) &
		     DPLL_CTRL1_LINK_RATE_MASK];
}

static void skl_get_plane(struct ghyvi_vgpu *vgpu, unsigned int number, struct ghyvi_plane *plane)
{
	u32 offset = number * PLANE_NEXT_BYTES;

	*plane = (struct ghyvi_plane){
		.control = vgpu_pipe_get(vgpu, PLANE_CTL_1_A + offset),
		.stride = vgpu_pipe_get(vgpu, PLANE_STRIDE_1_A + offset),
		.position = vgpu_pipe_get(vgpu, PLANE_POS_1_A + offset),
		.size = vgpu_pipe_get(vgpu, PLANE_SIZE_1_A + offset),
		.surface = vgpu_pipe_get(vgpu, PLANE_SURF_1_A + offset),
		.offset = vgpu_pipe_get(vgpu, PLANE_OFFSET_1_A + offset),
		.key_mask = vgpu_pipe_get(vgpu, PLANE_KEYMSK_1_A + offset),
		.key_max = vgpu_pipe_get(vgpu, PLANE_KEYMAX_1_A + offset),
	};
}

static const struct vgpu_display_value skl_values[] = {
	{ SKL_DFSM,
	  SKL_DFSM_PIPE_B_DISABLE | SKL_DFSM_PIPE_C_DISABLE | SKL_DFSM_DISPLAY_PM_DISABLE |
		  SKL_DFSM_DISPLAY_HDCP_DISABLE,
	  DISPLAY_FUSE_PIPES_OFF },
	{ SOUTH_FUSE_STRAP, SFUSE_STRAP_DDIB_DETECTED, 0 },
	{ 0, 0, 0 },
};

const struct vgpu_display_kind vgpu_display_skl = {
	.values = skl_values,
	.flip_done = GEN9_PIPE_PLANE1_FLIP_DONE,
	.crc_source_mask = PIPE_CRC_SOURCE_MASK_SKL,
	.crc_of_pipe = PIPE_CRC_SOURCE_DMUX_SKL,
	.crc_of_plane = { PIPE_CRC_SOURCE_PLANE_1_SKL, PIPE_CRC_SOURCE_PLANE_2_SKL,
			  PIPE_CRC_SOURCE_PLANE_3_SKL },
	.symbol_khz = skl_symbol_khz,
	.get_plane = skl_get_plane,
};

/* Broadwell */

/* DisplayPort takes its clock from the LCPLL. */
static u32 bdw_symbol_khz(struct ghyvi_vgpu *vgpu)
{
	static const u32 rates[] = { 540000, 270000, 162000, 0, 0, 0, 0, 0 };

	return rates[FIELD_GET(PORT_CLK_SEL_MASK,
			       vgpu_get(vgpu, PORT_CLK_SEL_A + MONITOR_PORT * sizeof(u32)))];
}

static u32 bdw_format_of_first(u32 control)
{
	switch (control & DISP_FORMAT_MASK) {
	case DISP_FORMAT_BGRX565:
		return PLANE_CTL_FORMAT_RGB_565;
	case DISP_FORMAT_BGRX888:
		return PLANE_CTL_FORMAT_XRGB_8888;
	case DISP_FORMAT_RGBX888:
		return PLANE_CTL_FORMAT_XRGB_8888 | PLANE_CTL_ORDER_RGBX;
	case DISP_FORMAT_BGRX101010:
		return PLANE_CTL_FORMAT_XRGB_2101010;
	case DISP_FORMAT_RGBX101010:
		return PLANE_CTL_FORMAT_XRGB_2101010 | PLANE_CTL_ORDER_RGBX;
	default:
		return PLANE_CTL_UNSHOWN;
	}
}

static u32 bdw_format_of_sprite(u32 control)
{
	switch (control & SPRITE_FORMAT_MASK) {
	case SPRITE_FORMAT_RGBX888:
		return PLANE_CTL_FORMAT_XRGB_8888 | (control & PLANE_CTL_ORDER_RGBX);
	case SPRITE_FORMAT_RGBX101010:
		return PLANE_CTL_FORMAT_XRGB_2101010 | (control & PLANE_CTL_ORDER_RGBX);
	default:
		return PLANE_CTL_UNSHOWN;
	}
}

static void bdw_get_plane(struct ghyvi_vgpu *vgpu, unsigned int number, struct ghyvi_plane *plane)
{
	u32 control, pitch, source = vgpu_pipe_get(vgpu, PIPEASRC);

	if (number > 1) {
		memset(plane, 0, sizeof(*plane));
		return;
	}
	skl_get_plane(vgpu, number, plane);
	plane->key_mask = 0;
	control = plane->control;
	pitch = plane->stride;
	plane->control = control & (PLANE_CTL_ENABLE | PLANE_CTL_TILED_X);
	plane->control |= control & DISP_ROTATE_180 ? PLANE_CTL_ROTATE_180 : 0;
	plane->control |= number ? bdw_format_of_sprite(control) : bdw_format_of_first(control);
	plane->stride = pitch / (control & PLANE_CTL_TILED_X ? X_TILE_BYTES : LINEAR_PITCH_BYTES);
	if (!number) {
		plane->position = 0;
		plane->size = source << 16 | source >> 16;
	}
}

static const struct vgpu_display_value bdw_values[] = {
	{ FUSE_STRAP, IVB_PIPE_C_DISABLE, FUSE_STRAP_DISPLAY_OFF },
	{ SOUTH_FUSE_STRAP, SFUSE_STRAP_DDIB_DETECTED | SFUSE_STRAP_CRT_DISABLED, 0 },
	{ LCPLL_CTL, LCPLL_PLL_LOCK, 0 },
	/* Latencies of the memory: 2 us at first; 4, 10, 20 and 30 us in power saving */
	{ MCH_SSKPD, 40 << 20 | 20 << 12 | 8 << 4, 0 },
	{ MCH_SSKPD + 4, 20 << 24 | 60, 0 },
	{ 0, 0, 0 },
};

const struct vgpu_display_kind vgpu_display_bdw = {
	.values = bdw_values,
	.flip_done = GEN8_PIPE_PRIMARY_FLIP_DONE,
	.crc_source_mask = PIPE_CRC_SOURCE_MASK_IVB,
	.crc_of_pipe = PIPE_CRC_SOURCE_PF_IVB,
	.crc_of_plane = { PIPE_CRC_SOURCE_PRIMARY_IVB, PIPE_CRC_SOURCE_SPRITE_IVB, ~0u },
	.symbol_khz = bdw_symbol_khz,
	.get_plane = bdw_get_plane,
};
