/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and bits that only the emulated hardware needs, by i915's names. Those that the vGPU
 * has too are in <ghyvi/gen8_regs.h>.
 */
#ifndef PGPU_EMU_HW_REGS_H
#define PGPU_EMU_HW_REGS_H

#include <linux/bits.h>

/* Configuration space (PRM vol. 12, "GTTMMADR", "GGC", "BDSM"). */
#define SNB_GMCH_CTRL 0x50 /* GGC */
#define BDW_GMCH_GGMS_SHIFT 6
#define BDW_GMCH_GGMS_8MB 3
#define BDW_GMCH_GMS_SHIFT 8
#define GEN9_GMCH_GMS_4MB 0xf0
#define GEN6_BSM 0x5c /* BDSM */

/* Forcewake (PRM vol. 2c, "Force Wake Request/Acknowledge"). */
#define FORCEWAKE_RENDER_GEN9 0xa278
#define FORCEWAKE_MEDIA_GEN9 0xa270
#define FORCEWAKE_GT_GEN9 0xa188
#define FORCEWAKE_ACK_RENDER_GEN9 0x0d84
#define FORCEWAKE_ACK_MEDIA_GEN9 0x0d88
#define FORCEWAKE_ACK_GT_GEN9 0x130044
#define FORCEWAKE_KERNEL_FALLBACK BIT(15)

/* Engine registers, relative to the engine's base. */
#define RING_BBSTATE 0x110
#define RING_SBBADDR 0x114
#define RING_SBBSTATE 0x118
#define RING_SBBADDR_UDW 0x11c
#define RING_BB_PPGTT BIT(5) /* BBSTATE: the batch is in the PPGTT */
#define RING_BB_VALID BIT(0) /* BBADDR */
#define RING_BB_PER_CTX_PTR 0x1c0
#define RING_BB_PER_CTX_VALID BIT(0)
#define RING_INDIRECT_CTX 0x1c4
#define RING_INDIRECT_CTX_OFFSET 0x1c8
#define RING_BB_OFFSET 0x158
#define RING_CTX_PDP(n) (0x270 + 8 * (n))
#define RING_PREDICATE_RESULT 0x41c
#define RING_NOPID 0x094
/* FORCE_TO_NONPRIV: one of the engine's slots; an unused one names its RING_NOPID. */
#define EMU_NONPRIV_SLOT(engine, i) ((engine)->cs.base + 0x4d0 + 4 * (i))
#define RING_FORCE_TO_NONPRIV_READ_ONLY BIT(28)
#define RING_FORCE_TO_NONPRIV_RANGE 3u
#define RING_ERROR_PRIVILEGE BIT(2)
#define RING_INSTDONE 0x06c

#define GEN8_OACTXCONTROL 0x2360

/* Sources of the sixteen interrupts of an engine. */
#define EMU_IRQ_USER 0
#define EMU_IRQ_ERROR 3
#define EMU_IRQ_FLUSH 4
#define EMU_IRQ_CONTEXT_SWITCH 8
#define EMU_IRQ_SEMAPHORE 11

#define RING_MODE_RUN_LIST_ENABLE BIT(15)

/* Fences: what the CPU sees of tiled objects in the aperture. */
#define FENCE_REG_GEN6_LO(i) (0x100000 + 8 * (i))
#define FENCE_REG_GEN6_HI(i) (FENCE_REG_GEN6_LO(i) + 4)
#define EMU_FENCES 32
#define GEN6_FENCE_VALID BIT(0)
#define GEN6_FENCE_TILING_Y BIT(1)
#define GEN6_FENCE_PITCH GENMASK(10, 0) /* of the upper half; in units, less one */
#define GEN6_FENCE_PITCH_UNIT 128

/* Faults. */
#define GEN8_RING_FAULT_REG 0x4094
#define RING_FAULT_VALID BIT(0)
#define GEN8_FAULT_TLB_DATA0 0x4b10
#define GEN8_FAULT_TLB_DATA1 0x4b14

/* TLB invalidation of VCS and BCS. */
#define GEN8_M1TCR 0x4264
#define GEN8_BTCR 0x426c

/* MOCS: 64 dwords per engine; the L3 control registers belong to the render engine. */
#define GEN9_LNCFCMOCS0 0xb020
#define GEN9_GFX_MOCS 0xc800
#define GEN9_MFX0_MOCS 0xc900
#define GEN9_VEBOX_MOCS 0xcb00
#define GEN9_BLT_MOCS 0xcc00
#define MOCS_BYTES 0x100

/* Power management. */
#define RC6_CTX_INFO 0x8504
#define GEN6_RPNSWREQ 0xa008
#define GEN6_RPSTAT1 0xa01c
#define GEN9_FREQUENCY_SHIFT 23 /* of both, in units of 50 / 3 MHz */
#define GEN9_FREQ_SCALER 3
#define GEN6_PM_LAST 0xa0ff
#define GEN6_RC_CONTROL 0xa090
#define GEN6_RC_CTL_HW_ENABLE BIT(31)
#define GEN6_RC_CTL_RC6_ENABLE BIT(18)
#define GEN6_RC_STATE 0xa094
#define RC_SW_TARGET_RC6 BIT(18) /* of the state that software asks for, RC6 is the first */
#define GEN6_GT_GFX_RC6 0x138108 /* time in RC6 */
#define RC6_UNIT_NS 1280
#define GEN6_PCODE_DATA 0x138128
#define SKL_PCODE_CDCLK_CONTROL 0x7
#define GEN9_PCODE_SAGV_CONTROL 0x21
#define GEN9_PCODE_READ_MEM_LATENCY 0x6
#define GEN6_PCODE_WRITE_MIN_FREQ_TABLE 0x8
#define GEN6_PCODE_READ_MIN_FREQ_TABLE 0x9

/* Display, as far as a driver without pipes or GVT-g needs it. */
#define DBUF_CTL_S1 0x45008
#define DBUF_POWER_REQUEST BIT(31)
#define DBUF_POWER_STATE BIT(30)
#define LCPLL1_CTL 0x46010
#define LCPLL_PLL_ENABLE BIT(31)
#define LCPLL_PLL_LOCK BIT(30)
#define EDP_PSR_IIR 0x64838
#define DPLL_STATUS 0x6c060
#define DP_AUX_CH_CTL_A 0x64010
#define DP_AUX_CH_CTL_STEP 0x100
#define DP_AUX_CHANNELS 5
#define DP_AUX_CH_CTL_SEND_BUSY BIT(31)
#define DP_AUX_CH_CTL_DONE BIT(30)
#define DP_AUX_CH_CTL_TIME_OUT_ERROR BIT(28)
#define DP_AUX_CH_CTL_RECEIVE_ERROR BIT(25)
#define PCH_GMBUS1 0xc5104
#define PCH_GMBUS2 0xc5108
#define GMBUS_HW_RDY BIT(11)
#define GMBUS_SATOER BIT(10)

/* Status events: also of contexts that leave in recorded ones; what the context waits for. */
#define GEN8_CTX_STATUS_SEMAPHORE BIT(7)
#define CTX_STATUS_LEFT BIT(11)

/* Context descriptors: the id, and what is behind it. */
#define DESC_ID GENMASK_ULL(52, 32)
#define DESC_AFTER_ID GENMASK_ULL(63, 53)

#define COMMAND_TYPE_3D 3
#define GPGPU_CSR_BASE_ADDRESS 0x61040001u
#define PIPELINE_SELECT 0x69040000u

/* PIPE_CONTROL: also clears the state of the execution units (WaClearSlmSpaceAtContextSwitch). */
#define PIPE_CONTROL_FLUSH_L3 BIT(27)

/* Registers with workarounds that every submission needs (i915: intel_workarounds.c). */
#define GAM_ECOCHK 0x4090
#define GEN9_GAMT_ECO_REG_RW_IA 0x4ab0
#define GAMT_ECO_ENABLE_IN_PLACE_DECOMPRESS BIT(18)
#define MMCD_MISC_CTRL 0x4ddc
#define MMCD_WORKAROUNDS 0x88000000 /* MMCD_PCLA, MMCD_HOTSPOT_EN */
#define GEN7_UCGCTL4 0x940c
#define GEN8_EU_GAUNIT_CLOCK_GATE_DISABLE BIT(14)
#define GEN8_GARBCNTL 0xb004
#define GEN9_GAPS_TSV_CREDIT_DISABLE BIT(7)
#define GEN9_PREEMPT_GPGPU_SYNC_SWITCH_DISABLE BIT(2) /* GEN9_CSFE_CHICKEN1_RCS */
#define GEN9_FFSC_PERCTX_PREEMPT_CTRL BIT(14) /* GEN7_FF_SLICE_CS_CHICKEN1 */

#define HSW_GTT_CACHE_EN 0x4024
#define GEN8_GAMW_ECO_DEV_RW_IA 0x4080
#define GAMW_ECO_ENABLE_64K_IPS_FIELD 0xf

#endif
