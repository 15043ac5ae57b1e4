/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and bits that only the owner of the hardware needs, by i915's names. Those that the
 * vGPU has too are in <ghyvi/gen8_regs.h>.
 */
#ifndef GHYVI_GEN9_REGS_H
#define GHYVI_GEN9_REGS_H

#include <linux/bits.h>
#include <ghyvi/gen8_cmds.h>
#include <ghyvi/gen8_regs.h>

/* Write the bits @bits of a register whose upper half selects bits of the lower half. */
#define MASKED_BIT_ENABLE(bits) ((u32)(bits) << 16 | (u32)(bits))
#define MASKED_BIT_DISABLE(bits) ((u32)(bits) << 16)

/* Configuration space. */
#define GTTMMADR_BAR 0
#define GFXMEM_BAR 2
#define SNB_GMCH_CTRL 0x50 /* GGC */
#define BDW_GMCH_GGMS_SHIFT 6
#define BDW_GMCH_GGMS_MASK 3

/* BAR 0: registers, then the GGTT's entries. */
#define GEN8_GTTADR_OFFSET (8u << 20)
#define GEN9_REGISTERS_BYTES (2u << 20)

/* Forcewake: request and acknowledge of the three domains. */
#define FORCEWAKE_MEDIA_GEN9 0xa270
#define FORCEWAKE_RENDER_GEN9 0xa278
#define FORCEWAKE_GT_GEN9 0xa188
#define FORCEWAKE_ACK_RENDER_GEN9 0x0d84
#define FORCEWAKE_ACK_MEDIA_GEN9 0x0d88
#define FORCEWAKE_ACK_GT_GEN9 0x130044
#define FORCEWAKE_KERNEL BIT(0)
#define FORCEWAKE_KERNEL_FALLBACK BIT(15)

/* Accesses that no unit has claimed. */
#define FPGA_DBG_RM_NOCLAIM BIT(31)

/* Power management. */
#define GEN6_RP_CONTROL 0xa024
#define GEN6_RC_CONTROL 0xa090
#define GEN6_RC_STATE 0xa094
#define GEN9_PG_ENABLE 0xa210

/* Engine registers, relative to the engine's base. */
#define RING_MODE_RUN_LIST_ENABLE BIT(15)
#define RING_ERRORS GENMASK(15, 0) /* RING_EIR; the upper half is not for software */
#define RING_SEMA_WAIT_POLL 0x24c

/* Sources of the sixteen interrupts of an engine. */
#define GT_RENDER_USER_INTERRUPT BIT(0)
#define GT_CS_MASTER_ERROR_INTERRUPT BIT(3)
#define GT_RENDER_PIPECTL_NOTIFY_INTERRUPT BIT(4)
#define GT_CONTEXT_SWITCH_INTERRUPT BIT(8)

/* Banks of the display; those of pipes are from GEN8_DE_PIPE_ISR_A on. */
#define GEN8_DE_PORT_ISR 0x44440
#define GEN8_DE_MISC_ISR 0x44460

/* TLB invalidation of the video and the blitter engine. */
#define GEN8_M1TCR 0x4264
#define GEN8_BTCR 0x426c

/* Translation. */
#define GEN8_GAMW_ECO_DEV_RW_IA 0x4080
#define GAMW_ECO_ENABLE_64K_IPS_FIELD 0xf
#define FENCE_REG_GEN6_LO(i) (0x100000 + 8 * (i))
#define FENCE_REG_GEN6_HI(i) (FENCE_REG_GEN6_LO(i) + 4)
#define FENCES 32
#define HSW_GTT_CACHE_EN 0x4024
#define GEN8_PRIVATE_PAT_LO 0x40e0
#define GEN8_PRIVATE_PAT_HI 0x40e4
#define GEN8_RING_FAULT_REG 0x4094
#define RING_FAULT_VALID BIT(0)
#define RING_FAULT_ENGINE(fault) ((fault) >> 12 & 7)
#define GEN8_FAULT_TLB_DATA0 0x4b10 /* address bits 43:12 */
#define GEN8_FAULT_TLB_DATA1 0x4b14
#define FAULT_VA_HIGH GENMASK(3, 0) /* address bits 47:44 */
#define FAULT_GTT_SEL BIT(4)

/* MOCS: 64 dwords per engine, and two entries per dword of the L3's. */
#define GEN9_LNCFCMOCS0 0xb020
#define GEN9_GFX_MOCS0 0xc800
#define GEN9_MFX0_MOCS0 0xc900
#define GEN9_VEBOX_MOCS0 0xcb00
#define GEN9_BLT_MOCS0 0xcc00
#define GEN9_NUM_MOCS_ENTRIES 64

/* Workarounds of the GT, by i915's intel_workarounds.c. */
#define GEN8_MCR_SELECTOR 0x0fdc
#define GEN8_MCR_SLICE_MASK GENMASK(27, 26)
#define GEN8_MCR_SUBSLICE_MASK GENMASK(25, 24)
#define GEN8_MCR_SUBSLICE(subslice) ((u32)(subslice) << 24)
#define GEN9_F2_SS_DIS_SHIFT 20
#define GEN9_F2_SS_DIS_MASK GENMASK(23, 20)
#define GAM_ECOCHK 0x4090
#define BDW_DISABLE_HDC_INVALIDATION BIT(25)
#define ECOCHK_DIS_TLB BIT(8)
#define GEN9_GAMT_ECO_REG_RW_IA 0x4ab0
#define GAMT_ECO_ENABLE_IN_PLACE_DECOMPRESS BIT(18)
#define GAMT_CHKN_BIT_REG 0x4ab8
#define GAMT_CHKN_DISABLE_DYNAMIC_CREDIT_SHARING BIT(28)
#define MMCD_MISC_CTRL 0x4ddc
#define MMCD_PCLA BIT(31)
#define MMCD_HOTSPOT_EN BIT(27)
#define GEN8_L3_LRA_1_GPGPU 0x4dd4
#define L3_LRA_1_GPGPU_SKL 0x67f1427f
#define GEN7_MISCCPCTL 0x9424
#define GEN7_DOP_CLOCK_GATE_ENABLE BIT(0)
#define GEN6_UCGCTL1 0x9400
#define GEN6_GAMUNIT_CLOCK_GATE_DISABLE BIT(22)
#define GEN8_UCGCTL6 0x9430
#define GEN8_SDEUNIT_CLOCK_GATE_DISABLE BIT(14)
#define GEN7_UCGCTL4 0x940c
#define GEN8_EU_GAUNIT_CLOCK_GATE_DISABLE BIT(14)

/* Workarounds of the render engine. */
#define GEN9_PREEMPT_GPGPU_SYNC_SWITCH_DISABLE BIT(2) /* GEN9_CSFE_CHICKEN1_RCS */
#define GEN9_FFSC_PERCTX_PREEMPT_CTRL BIT(14) /* GEN7_FF_SLICE_CS_CHICKEN1 */
#define GEN8_GARBCNTL 0xb004
#define GEN9_GAPS_TSV_CREDIT_DISABLE BIT(7)
#define GEN9_SCRATCH_LNCF1 0xb008
#define GEN9_LNCF_NONIA_COHERENT_ATOMICS_ENABLE BIT(0)
#define GEN8_L3SQCREG4 0xb118
#define GEN8_LQSC_FLUSH_COHERENT_LINES BIT(21)
#define GEN8_LQSQ_NONIA_COHERENT_ATOMICS_ENABLE BIT(22)
#define GEN9_SCRATCH1 0xb11c /* BDW_SCRATCH1 */
#define EVICTION_PERF_FIX_ENABLE BIT(8)
#define GEN9_LBS_SLA_RETRY_TIMER_DECREMENT_ENABLE BIT(2)

/* Workarounds that contexts save. */
#define CACHE_MODE_1 0x7004
#define GEN8_4x4_STC_OPTIMIZATION_DISABLE BIT(6)
#define GEN9_PARTIAL_RESOLVE_IN_VC_DISABLE BIT(1)
#define COMMON_SLICE_CHICKEN2 0x7014
#define GEN9_PBE_COMPRESSED_HASH_SELECTION BIT(13)
#define GEN8_SBE_DISABLE_REPLAY_BUF_OPTIMIZATION BIT(8)
#define HDC_FORCE_CSR_NON_COHERENT_OVR_DISABLE BIT(15)
#define HDC_FORCE_CONTEXT_SAVE_RESTORE_NON_COHERENT BIT(5)
#define HDC_FORCE_NON_COHERENT BIT(4)
#define GEN7_SBE_SS_CACHE_DISPATCH_PORT_SHARING_DISABLE BIT(4) /* GEN7_HALF_SLICE_CHICKEN1 */
#define GEN8_ST_PO_DISABLE BIT(13) /* HALF_SLICE_CHICKEN2 */
#define HALF_SLICE_CHICKEN3 0xe184
#define GEN8_SAMPLER_POWER_BYPASS_DIS BIT(1)
#define GEN9_CCS_TLB_PREFETCH_ENABLE BIT(3) /* GEN9_HALF_SLICE_CHICKEN5 */
#define GEN9_SAMPLER_HASH_COMPRESSED_READ_ADDR BIT(8) /* GEN9_HALF_SLICE_CHICKEN7 */
#define GEN9_ENABLE_YV12_BUGFIX BIT(4)
#define GEN9_ENABLE_GPGPU_PREEMPTION BIT(2)
#define FLOW_CONTROL_ENABLE BIT(15) /* GEN8_ROW_CHICKEN */
#define PARTIAL_INSTRUCTION_SHOOTDOWN_DISABLE BIT(8)
#define GEN9_PREEMPT_3D_OBJECT_LEVEL BIT(0) /* GEN8_CS_CHICKEN1 */
#define GEN9_PREEMPT_GPGPU_LEVEL_MASK (BIT(2) | BIT(1))
#define GEN9_PREEMPT_GPGPU_COMMAND_LEVEL BIT(2)

/* Workarounds of each restore of a render context. */
#define GEN9_DISABLE_GATHER_AT_SET_SHADER_COMMON_SLICE BIT(12) /* COMMON_SLICE_CHICKEN2 */
#define FF_SLICE_CHICKEN 0x2088
#define FF_SLICE_CHICKEN_CL_PROVOKING_VERTEX_FIX BIT(1)
#define _3D_CHICKEN3 0x2090
#define _3D_CHICKEN_SF_PROVOKING_VERTEX_FIX BIT(12)

/* Registers that user batches may write through FORCE_TO_NONPRIV. */
#define GEN9_CTX_PREEMPT_REG 0x2248
#define PS_INVOCATION_COUNT 0x2348
#define RING_FORCE_TO_NONPRIV_ACCESS_RD BIT(28)
#define RING_FORCE_TO_NONPRIV_RANGE_4 1u
#define RING_NOPID 0x94

/* Display: what must stop before other memory is behind the GGTT. */
#define PLANE_CTL(pipe, plane) (0x70180 + 0x1000 * (pipe) + 0x100 * (plane))
#define PLANE_SURF(pipe, plane) (0x7019c + 0x1000 * (pipe) + 0x100 * (plane))
#define PLANE_CTL_ENABLE BIT(31)
#define PIPECONF(pipe) (0x70008 + 0x1000 * (pipe))
#define PIPECONF_EDP 0x7f008
#define PIPECONF_ENABLE BIT(31)
#define PIPECONF_STATE_ENABLE BIT(30)
#define PIPES 3
#define PLANES 3
#define HSW_PWR_WELL_CTL2 0x45404
#define SKL_PW_1_STATE BIT(28)
#define SKL_PW_2_STATE BIT(30)

/* Resets. */
#define GEN9_GRDOM_GUC BIT(5)
#define GUC_WOPCM_SIZE_LOCKED BIT(0)

/* Dwords of the register state of a context image that only the host sets. */
#define CTX_LRI_HEADER_0 0x01
#define CTX_BB_FIRST 0x0c /* register and value of the six batch registers */
#define CTX_BB_REGISTERS 6
#define CTX_BB_HEAD_L 0x0f
#define CTX_BB_HEAD_VALID BIT(0)
#define CTX_BB_PER_CTX_PTR 0x19
#define CTX_LRI_HEADER_1 0x21
#define CTX_LRI_HEADER_2 0x41
#define CTX_R_PWR_CLK_STATE 0x42
#define GEN8_RPCS_ENABLE BIT(31)
#define GEN8_RPCS_EU_MAX(count) ((u32)(count) << 4)
#define GEN8_RPCS_EU_MIN(count) ((u32)(count))
#define CTX_CTRL_INHIBIT_SYN_CTX_SWITCH BIT(3)
#define CTX_CTRL_ENGINE_CTX_SAVE_INHIBIT BIT(2)
#define CTX_CTRL_RS_CTX_ENABLE BIT(1)
#define GEN9_INDIRECT_CTX_OFFSET (0x26 << 6)
/* Dwords of page 0 of an image that no unit uses (i915: LRC_PPHWSP_SCRATCH), two of them. */
#define LRC_PPHWSP_SCRATCH 0x34
#define GEN9_LR_CONTEXT_RENDER_PAGES 22
#define GEN8_LR_CONTEXT_OTHER_PAGES 2

/* Commands. */
#define MI_NOOP 0u
#define MI_USER_INTERRUPT (0x02u << 23)
#define MI_BATCH_BUFFER_END (0x0au << 23)
#define MI_ARB_OFF (0x08u << 23)
#define MI_ARB_ON (MI_ARB_OFF | 1)
#define PIPE_CONTROL_6 (3u << 29 | 3u << 27 | 2u << 24 | 4)
#define PIPE_CONTROL_FLUSH_L3 BIT(27)
#define PIPE_CONTROL_CS_STALL BIT(20)
#define PIPE_CONTROL_QW_WRITE BIT(14)
#define PIPE_CONTROL_DC_FLUSH_ENABLE BIT(5)
#define MI_BATCH_BUFFER_START_GGTT (0x31u << 23 | 1)
#define XY_COLOR_BLT_32 (2u << 29 | XY_COLOR_BLT << 22 | 3u << 20 | 5) /* alpha and color */
#define BLT_DEPTH_32 (3u << 24)
#define BLT_ROP_PATCOPY (0xf0u << 16)
#define MI_STORE_DWORD_IMM_GGTT (0x20u << 23 | MI_USE_GGTT | 2)
#define MI_STORE_DWORD_IMM_PPGTT (0x20u << 23 | 2)

/* The frequency that is asked for, in units of 50 / 3 MHz, and the limits, in units of 50 MHz. */
#define GEN6_RPNSWREQ 0xa008
#define GEN6_RPSTAT1 0xa01c
#define GEN9_FREQUENCY_SHIFT 23 /* in both */
#define GEN9_FREQ_SCALER 3
#define RP0_SHIFT 0
#define RPN_SHIFT 16

#endif
