/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets and bits of the registers of a Gen9 display, by i915's names (i915_reg.h,
 * display/intel_gmbus_regs.h): pipe A, transcoder A and the ports of Skylake.
 */
#ifndef GHYVI_VGPU_DISPLAY_REGS_H
#define GHYVI_VGPU_DISPLAY_REGS_H

#include <linux/bits.h>

/* Pipe A: timings hold the size or position minus one, the total in the upper half. */
#define HTOTAL_A 0x60000
#define VTOTAL_A 0x6000c
#define PIPEASRC 0x6001c
#define PIPEA_LINK_M1 0x60040
#define PIPEA_LINK_N1 0x60044
#define TRANS_DDI_FUNC_CTL_A 0x60400

#define PIPEADSL 0x70000
#define PIPEACONF 0x70008
#define PIPECONF_ENABLE BIT(31)
#define PIPECONF_STATE_ENABLE BIT(30)
#define PIPEA_FRMCOUNT_G4X 0x70040
#define PIPEA_FLIPCOUNT_G4X 0x70044
#define PIPE_FRMTMSTMP_A 0x70048

#define CURACNTR 0x70080
#define CURABASE 0x70084
#define CURAPOS 0x70088
#define CUR_FBC_CTL_A 0x700a0
#define CURASURFLIVE 0x700ac
#define PLANE_CTL_1_A 0x70180
#define PLANE_STRIDE_1_A 0x70188
#define PLANE_POS_1_A 0x7018c
#define PLANE_SIZE_1_A 0x70190
#define PLANE_SURF_1_A 0x7019c
#define PLANE_OFFSET_1_A 0x701a4
#define PLANE_SURFLIVE_1_A 0x701ac

/* Ports A to E. */
#define DISPLAY_PORTS 5
#define DDI_BUF_CTL_A 0x64000
#define DP_AUX_CH_CTL_A 0x64010
#define DP_AUX_CH_DATA_A 0x64014 /* five dwords, of which the first byte is the highest */
#define DP_TP_CTL_A 0x64040
#define DP_TP_STATUS_A 0x64044
#define DISPLAY_PORT_BYTES 0x100 /* distance of the same register of the next port */
#define DDI_BUF_CTL_ENABLE BIT(31)
#define DDI_BUF_IS_IDLE BIT(7)
#define DP_AUX_CH_CTL_SEND_BUSY BIT(31)
#define DP_AUX_CH_CTL_DONE BIT(30)
#define DP_AUX_CH_CTL_INTERRUPT BIT(29)
#define DP_AUX_CH_CTL_TIME_OUT_ERROR BIT(28)
#define DP_AUX_CH_CTL_RECEIVE_ERROR BIT(25)
#define DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT 20
#define DP_AUX_CH_CTL_MESSAGE_SIZE_MASK GENMASK(24, 20)
#define DP_TP_CTL_ENABLE BIT(31)
#define DP_TP_CTL_LINK_TRAIN_MASK GENMASK(10, 8)
#define DP_TP_CTL_LINK_TRAIN_IDLE (2u << 8)
#define DP_TP_STATUS_IDLE_DONE BIT(25)

/* Clocks. */
#define LCPLL2_CTL 0x46014
#define WRPLL_CTL1 0x46040
#define WRPLL_CTL2 0x46060
#define DPLL_CTRL1 0x6c058
#define DPLL_CTRL2 0x6c05c
#define DPLL_STATUS 0x6c060

/* Interrupts of the display. */
#define GEN8_DE_PIPE_A_IRQ BIT(16)
#define GEN8_DE_PORT_IRQ BIT(20)
#define GEN8_DE_PCH_IRQ BIT(23)
#define GEN8_PIPE_VBLANK BIT(0)
#define GEN9_PIPE_PLANE1_FLIP_DONE BIT(3)
#define GEN8_DE_PORT_ISR 0x44440
#define GEN8_AUX_CHANNEL_A BIT(0)
#define GEN9_AUX_CHANNEL_B BIT(25)

/* South display (Sunrise Point): hot plug, and the I2C of HDMI. */
#define SFUSE_STRAP_DDIB_DETECTED BIT(2)
#define SDE_PORTB_HOTPLUG_CPT BIT(21)
#define PCH_PORT_HOTPLUG 0xc4030
#define PORTA_HOTPLUG_STATUS_MASK GENMASK(25, 24)
#define PORTD_HOTPLUG_STATUS_MASK GENMASK(17, 16)
#define PORTC_HOTPLUG_STATUS_MASK GENMASK(9, 8)
#define PORTB_HOTPLUG_STATUS_MASK GENMASK(1, 0)
#define PORTB_HOTPLUG_ENABLE BIT(4)
#define PORTB_HOTPLUG_LONG_DETECT BIT(1)
#define PCH_PORT_HOTPLUG2 0xc403c
#define PCH_GMBUS1 0xc5104
#define GMBUS_SW_CLR_INT BIT(31)
#define GMBUS_CYCLE_WAIT BIT(25)
#define PCH_GMBUS2 0xc5108
#define GMBUS_HW_RDY BIT(11)
#define GMBUS_SATOER BIT(10)

/* Fuses. */
#define SKL_DFSM_DISPLAY_PM_DISABLE BIT(27)
#define SKL_DFSM_DISPLAY_HDCP_DISABLE BIT(25)
#define SKL_DFSM_PIPE_B_DISABLE BIT(21)
#define SKL_DFSM_PIPE_C_DISABLE BIT(28)

#endif
