/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets and bits of the registers of the displays of Gen8 and Gen9, by i915's names (i915_reg.h,
 * intel_mchbar_regs.h, display/intel_gmbus_regs.h): pipe A, transcoder A and the ports.
 */
#ifndef GHYVI_VGPU_DISPLAY_REGS_H
#define GHYVI_VGPU_DISPLAY_REGS_H

#include <linux/bits.h>

#define MONITOR_PORT 1 /* DDI B */

/* Pipe B, which a Broadwell has, has the same registers as pipe A. */
#define PIPE_NEXT_BYTES 0x1000

/* Pipe A: timings hold the size or position minus one, the total in the upper half. */
#define HTOTAL_A 0x60000
#define VTOTAL_A 0x6000c
#define PIPEASRC 0x6001c
#define PIPESRC_WIDTH_MASK GENMASK(28, 16) /* minus one, as the height */
#define PIPESRC_HEIGHT_MASK GENMASK(12, 0)
#define PIPEA_LINK_M1 0x60040
#define PIPEA_LINK_N1 0x60044

#define PIPE_CRC_CTL_A 0x60050
#define PIPE_CRC_ENABLE BIT(31)
#define PIPE_CRC_SOURCE_MASK_SKL GENMASK(30, 28)
#define PIPE_CRC_SOURCE_PLANE_1_SKL (0u << 28)
#define PIPE_CRC_SOURCE_PLANE_2_SKL (2u << 28)
#define PIPE_CRC_SOURCE_PLANE_3_SKL (6u << 28)
#define PIPE_CRC_SOURCE_DMUX_SKL (4u << 28) /* all planes */
#define PIPE_CRC_SOURCE_MASK_IVB GENMASK(30, 29)
#define PIPE_CRC_SOURCE_PRIMARY_IVB (0u << 29)
#define PIPE_CRC_SOURCE_SPRITE_IVB BIT(29)
#define PIPE_CRC_SOURCE_PF_IVB (2u << 29) /* all planes */
#define PIPE_CRC_RES_1_A 0x60064

#define PIPEADSL 0x70000
#define PIPEACONF 0x70008
#define PIPECONF_ENABLE BIT(31)
#define PIPECONF_STATE_ENABLE BIT(30)
#define PIPEA_FRMCOUNT_G4X 0x70040
#define PIPEA_FLIPCOUNT_G4X 0x70044

#define CURACNTR 0x70080
#define MCURSOR_MODE_MASK 0x27u
#define MCURSOR_MODE_128_ARGB_AX 0x22u
#define MCURSOR_MODE_256_ARGB_AX 0x23u
#define MCURSOR_MODE_64_ARGB_AX 0x27u
#define MCURSOR_ROTATE_180 BIT(15)
#define CURABASE 0x70084
#define CURAPOS 0x70088
#define CURSOR_POS_Y_SIGN BIT(31)
#define CURSOR_POS_Y_MASK GENMASK(30, 16)
#define CURSOR_POS_X_SIGN BIT(15)
#define CURSOR_POS_X_MASK GENMASK(14, 0)
#define CUR_FBC_CTL_A 0x700a0
#define CUR_FBC_EN BIT(31)
#define CUR_FBC_HEIGHT_MASK GENMASK(7, 0) /* minus one */
/* Planes 2 and 3 have the same registers, each PLANE_NEXT_BYTES further on. */
#define PLANE_NEXT_BYTES 0x100
#define PLANE_CTL_1_A 0x70180
#define PLANE_CTL_ENABLE BIT(31)
#define PLANE_CTL_FORMAT_MASK_SKL GENMASK(27, 24)
#define PLANE_CTL_FORMAT_XRGB_2101010 (2u << 24)
#define PLANE_CTL_FORMAT_XRGB_8888 (4u << 24)
#define PLANE_CTL_FORMAT_RGB_565 (14u << 24)
#define PLANE_CTL_ORDER_RGBX BIT(20)
#define PLANE_CTL_RENDER_DECOMPRESSION_ENABLE BIT(15)
#define PLANE_CTL_TILED_MASK GENMASK(12, 10)
#define PLANE_CTL_TILED_LINEAR 0u
#define PLANE_CTL_TILED_X (1u << 10)
#define PLANE_CTL_TILED_Y (4u << 10)
#define PLANE_CTL_TILED_YF (5u << 10)
#define PLANE_CTL_FLIP_HORIZONTAL BIT(8)
#define PLANE_CTL_ALPHA_MASK GENMASK(5, 4)
#define PLANE_CTL_ALPHA_SW_PREMULTIPLY (2u << 4)
#define PLANE_CTL_ALPHA_HW_PREMULTIPLY (3u << 4)
#define PLANE_CTL_ROTATE_90 BIT(0) /* clockwise */
#define PLANE_CTL_ROTATE_180 BIT(1)
/* Planes with one of these are shown as black, see plane.c. */
#define PLANE_CTL_UNSHOWN (PLANE_CTL_RENDER_DECOMPRESSION_ENABLE | PLANE_CTL_FLIP_HORIZONTAL)
#define PLANE_STRIDE_1_A 0x70188
#define PLANE_STRIDE_MASK GENMASK(11, 0) /* 64 bytes, or tiles */
#define PLANE_POS_1_A 0x7018c
/* Coordinates in PLANE_POS, PLANE_SIZE (minus one) and PLANE_OFFSET. */
#define PLANE_Y_MASK GENMASK(28, 16)
#define PLANE_X_MASK GENMASK(12, 0)
#define PLANE_SIZE_1_A 0x70190
#define PLANE_KEYMSK_1_A 0x70198
#define PLANE_KEYMSK_ALPHA_ENABLE BIT(31)
#define PLANE_SURF_1_A 0x7019c
#define PLANE_SURF_ADDR_MASK GENMASK(31, 12)
#define PLANE_KEYMAX_1_A 0x701a0
#define PLANE_KEYMAX_ALPHA_MASK GENMASK(31, 24)
#define PLANE_OFFSET_1_A 0x701a4
#define PLANE_SURFLIVE_1_A 0x701ac

/*
 * The planes of a Broadwell, DSP and SPR, have their registers where Skylake's planes 1 and 2 have
 * them. In the control register, ENABLE and TILED_X are the same, and the sprite's ORDER_RGBX.
 */
#define DISP_FORMAT_MASK GENMASK(29, 26)
#define DISP_FORMAT_BGRX565 (5u << 26)
#define DISP_FORMAT_BGRX888 (6u << 26)
#define DISP_FORMAT_RGBX101010 (8u << 26)
#define DISP_FORMAT_BGRX101010 (10u << 26)
#define DISP_FORMAT_RGBX888 (14u << 26)
#define DISP_ROTATE_180 BIT(15)
#define SPRITE_FORMAT_MASK GENMASK(27, 25)
#define SPRITE_FORMAT_RGBX101010 (1u << 25)
#define SPRITE_FORMAT_RGBX888 (2u << 25)

#define X_TILE_BYTES 512u /* of a row of a tile */
#define LINEAR_PITCH_BYTES 64u /* unit of PLANE_STRIDE */

/* Ports A to E. */
#define DDI_BUF_CTL_A 0x64000
#define DP_AUX_CH_CTL_A 0x64010
#define DP_AUX_CH_DATA_A 0x64014 /* five dwords, of which the first byte is the highest */
#define DP_TP_CTL_A 0x64040
#define DP_TP_STATUS_A 0x64044
#define DISPLAY_PORT_BYTES 0x100 /* distance of the same register of the next port */
#define DISPLAY_PORTS_LAST 0x644fc
#define DDI_BUF_CTL_ENABLE BIT(31)
#define DDI_BUF_IS_IDLE BIT(7)
#define DP_AUX_CH_CTL_SEND_BUSY BIT(31)
#define DP_AUX_CH_CTL_DONE BIT(30)
#define DP_AUX_CH_CTL_INTERRUPT BIT(29)
#define DP_AUX_CH_CTL_TIME_OUT_ERROR BIT(28)
#define DP_AUX_CH_CTL_RECEIVE_ERROR BIT(25)
#define DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT 20
#define DP_AUX_CH_CTL_MESSAGE_SIZE_MASK GENMASK(24, 20)
#define DP_TP_CTL_LINK_TRAIN_MASK GENMASK(10, 8)
#define DP_TP_CTL_LINK_TRAIN_IDLE (2u << 8)
#define DP_TP_STATUS_IDLE_DONE BIT(25)
/* A Broadwell has the AUX channels of ports B to D in the PCH, at the same distance. */
#define PCH_DP_AUX_CH_CTL_B 0xe4110

/* VGA. */
#define CPU_VGACNTRL 0x41000
#define VGA_DISP_DISABLE BIT(31)

/* Clocks. */
#define LCPLL2_CTL 0x46014
#define WRPLL_CTL1 0x46040
#define WRPLL_CTL2 0x46060
#define DPLL_CTRL1 0x6c058
#define DPLL_CTRL2 0x6c05c
#define DPLL_STATUS 0x6c060
#define DPLL_LOCK_SHIFT 8 /* DPLL i locks with bit 8 * i */
#define DPLL_CTRL1_BITS 6 /* of each DPLL */
#define DPLL_CTRL1_LINK_RATE_SHIFT 1
#define DPLL_CTRL1_LINK_RATE_MASK 7
#define DPLL_CTRL2_BITS 3 /* of each port */
#define DPLL_CTRL2_DDI_CLK_SEL_SHIFT 1
#define DPLL_CTRL2_DDI_CLK_SEL_MASK 3
/* Clocks of a Broadwell. */
#define PORT_CLK_SEL_A 0x46100 /* a dword for each port */
#define PORT_CLK_SEL_MASK GENMASK(31, 29)
#define LCPLL_CTL 0x130040 /* locks with LCPLL_PLL_LOCK */
#define LCPLL_PLL_DISABLE BIT(31)
#define LCPLL_CD_SOURCE_FCLK BIT(21)
#define LCPLL_CD_SOURCE_FCLK_DONE BIT(19)
#define MCH_SSKPD 0x145d10 /* 64 bits */

/* Commands of the PCODE mailbox. */
#define GEN6_PCODE_DATA 0x138128
#define GEN9_PCODE_READ_MEM_LATENCY 0x6
#define GEN9_PCODE_SAGV_CONTROL 0x21
#define GEN6_PCODE_ILLEGAL_CMD 1

/* Interrupts of the display. */
#define GEN8_DE_PIPE_A_IRQ BIT(16)
#define GEN8_DE_PIPE_B_IRQ BIT(17)
#define GEN8_DE_PORT_IRQ BIT(20)
#define GEN8_DE_PCH_IRQ BIT(23)
#define GEN8_PIPE_VBLANK BIT(0)
#define GEN9_PIPE_PLANE1_FLIP_DONE BIT(3)
#define GEN8_PIPE_PRIMARY_FLIP_DONE BIT(4)
#define GEN8_PIPE_CDCLK_CRC_DONE BIT(28)
#define GEN8_DE_PORT_ISR 0x44440
#define GEN8_AUX_CHANNEL_A BIT(0)
/* On a Broadwell, these three are in SDEISR. */
#define GEN9_AUX_CHANNEL_B BIT(25)
#define GEN9_AUX_CHANNEL_C BIT(26)
#define GEN9_AUX_CHANNEL_D BIT(27)

/* South display (Sunrise Point, Lynx Point). */
#define SFUSE_STRAP_DDIB_DETECTED BIT(2)
#define SFUSE_STRAP_CRT_DISABLED BIT(6)
#define SDE_PORTB_HOTPLUG_CPT BIT(21)
#define PCH_PORT_HOTPLUG 0xc4030
#define PORTB_HOTPLUG_ENABLE BIT(4)
#define PORTB_HOTPLUG_LONG_DETECT BIT(1)
#define PORT_HOTPLUG_STATUS_MASK 0x03030303u /* of all ports; ones clear them */
#define PCH_GMBUS1 0xc5104
#define GMBUS_SW_CLR_INT BIT(31)
#define GMBUS_CYCLE_WAIT BIT(25)
#define PCH_GMBUS2 0xc5108
#define GMBUS_SATOER BIT(10)
#define SBI_CTL_STAT 0xc6008
#define SBI_BUSY BIT(0)

/* Fuses. */
#define IVB_PIPE_C_DISABLE BIT(28) /* in FUSE_STRAP */
#define SKL_DFSM_DISPLAY_PM_DISABLE BIT(27)
#define SKL_DFSM_DISPLAY_HDCP_DISABLE BIT(25)
#define SKL_DFSM_PIPE_B_DISABLE BIT(21)
#define SKL_DFSM_PIPE_C_DISABLE BIT(28)

#endif
