/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets and bits of Gen8/Gen9 registers, by i915's names (i915_reg.h, gt/intel_engine_regs.h,
 * gt/intel_gt_regs.h, i915_pvinfo.h), in one place for the vGPU, the auditor and the software pGPU.
 * Only registers with side effects or a fixed value are named; the others are plain storage.
 */
#ifndef GHYVI_GEN8_REGS_H
#define GHYVI_GEN8_REGS_H

#include <linux/bits.h>
#include <ghyvi/engines.h>

/* Each engine has one page of registers. */
#define ENGINE_REGISTERS_BYTES 0x1000

/* Offsets relative to the engine's base. */
#define RING_EXCC 0x028
#define RING_TAIL 0x030
#define RING_HEAD 0x034
#define RING_START 0x038
#define RING_CTL 0x03c
#define RING_PSMI_CTL 0x050
#define RING_ACTHD_UDW 0x05c
#define RING_IPEIR 0x064
#define RING_IPEHR 0x068
#define RING_INSTDONE 0x06c
#define RING_ACTHD 0x074
#define RING_HWS_PGA 0x080
#define RING_HWSTAM 0x098
#define RING_MI_MODE 0x09c
#define MI_MODE_STOP BIT(8)
#define MI_MODE_IDLE BIT(9)
#define RING_IMR 0x0a8
#define RING_EIR 0x0b0
#define RING_EMR 0x0b4
#define RING_ESR 0x0b8
#define RING_ERROR_INSTRUCTION BIT(0)
#define RING_INSTPM 0x0c0
#define RING_RESET_CTL 0x0d0
#define RESET_CTL_REQUEST BIT(0)
#define RESET_CTL_READY BIT(1)
#define RESET_CTL_CAT_ERROR BIT(2)
#define RING_BBADDR 0x140
#define RING_BBADDR_UDW 0x168
#define RING_ELSP 0x230
#define RING_EXECLIST_STATUS_LO 0x234
#define RING_EXECLIST_STATUS_HI 0x238
#define RING_CONTEXT_CONTROL 0x244
#define RING_PDP0_LDW 0x270
#define RING_PDP0_UDW 0x274
#define RING_MODE 0x29c
#define RING_TIMESTAMP 0x358
#define RING_TIMESTAMP_UDW 0x35c
#define RING_CSB 0x370 /* six entries of 8 bytes */
#define RING_CSB_POINTER 0x3a0
#define CSB_POINTER_WRITE GENMASK(2, 0)
#define CSB_POINTER_READ_SHIFT 8
#define RING_CTX_TIMESTAMP 0x3a8
/* Registers of an engine that tell why it has stopped; as many as GHYVI_NR_FAULT_REGISTERS. */
#define GHYVI_FAULT_REGISTERS(r)                                                              \
	r(RING_START) r(RING_HEAD) r(RING_TAIL) r(RING_CTL) r(RING_MI_MODE) r(RING_HWS_PGA)   \
		r(RING_ACTHD) r(RING_ACTHD_UDW) r(RING_BBADDR) r(RING_BBADDR_UDW) r(RING_EIR) \
			r(RING_EMR) r(RING_ESR) r(RING_IPEIR) r(RING_IPEHR) r(RING_INSTDONE)  \
				r(RING_INSTPM) r(RING_IMR) r(RING_PDP0_LDW) r(RING_PDP0_UDW)  \
					r(RING_EXECLIST_STATUS_LO) r(RING_EXECLIST_STATUS_HI) \
						r(RING_CSB_POINTER)
#define MI_PREDICATE_SRC0 0x400 /* 64 bits, as the next two */
#define MI_PREDICATE_SRC1 0x408
#define MI_PREDICATE_DATA 0x410
#define MI_PREDICATE_RESULT 0x418
#define MI_PREDICATE_RESULT_1 0x41c
#define MI_PREDICATE_RESULT_2 0x3bc
#define BB_OFFSET 0x158
#define BB_OFFSET_MASK GENMASK(31, 2)
#define RING_FORCE_TO_NONPRIV_SLOTS 12 /* of the render engine, from 0x24d0 on */
#define RING_FORCE_TO_NONPRIV_FIRST 0x24d0
#define RING_FORCE_TO_NONPRIV_ADDRESS_MASK GENMASK(25, 2)
#define GEN8_RING_CS_GPR 0x600 /* sixteen of 64 bits */
#define GEN8_RING_CS_GPR_BYTES 0x80

#define TIMESTAMP_BITS 36

/* Masked registers (the upper half selects bits of the lower) with workarounds, kept per vGPU. */
#define FF_SLICE_CHICKEN 0x2088
#define _3D_CHICKEN3 0x2090
#define GEN9_CSFE_CHICKEN1_RCS 0x20d4
#define GEN9_CS_DEBUG_MODE2 0x20d8 /* without a name in i915 */
#define GEN7_FF_SLICE_CS_CHICKEN1 0x20e0
#define FF_SLICE_CS_CHICKEN2 0x20e4
#define GEN9_CS_DEBUG_MODE1 0x20ec
#define GEN8_CS_CHICKEN1 0x2580
#define CACHE_MODE_0_GEN7 0x7000
#define HIZ_CHICKEN 0x7018
#define HDC_CHICKEN0 0x7300
#define GEN8_HDC_CHICKEN1 0x7304
#define SLICE_COMMON_ECO_CHICKEN1 0x731c
#define VF_PREEMPTION 0x83a4
#define GEN7_HALF_SLICE_CHICKEN1 0xe100
#define HALF_SLICE_CHICKEN2 0xe180
#define GEN9_HALF_SLICE_CHICKEN5 0xe188
#define GEN9_HALF_SLICE_CHICKEN7 0xe194
#define GEN10_SAMPLER_MODE 0xe18c /* on Gen9 as well */
#define GEN8_ROW_CHICKEN 0xe4f0
#define GEN7_ROW_CHICKEN2 0xe4f4 /* Gen8 */
#define BCS_SWCTRL 0x22200
#define BCS_SRC_Y BIT(0)
#define BCS_DST_Y BIT(1)

/* Per-engine TLB invalidation, one dword each: RCS, VCS0, VCS1, BCS, VECS. */
#define GEN8_RTCR 0x4260
#define GEN8_VTCR 0x4270
#define GFX_FLSH_CNTL_GEN6 0x101008

#define GEN6_GDRST 0x941c /* GDRST */
#define GEN6_GRDOM_FULL BIT(0)
#define GEN6_GRDOM_RENDER BIT(1)
#define GEN6_GRDOM_MEDIA BIT(2)
#define GEN6_GRDOM_BLT BIT(3)
#define GEN6_GRDOM_VECS BIT(4)

/* Interrupt registers. */
#define GEN8_MASTER_IRQ 0x44200
#define GEN8_MASTER_IRQ_CONTROL BIT(31)
#define GEN8_GT_RCS_IRQ BIT(0)
#define GEN8_GT_BCS_IRQ BIT(1)
#define GEN8_GT_VCS0_IRQ BIT(2)
#define GEN8_GT_VCS1_IRQ BIT(3)
#define GEN8_GT_VECS_IRQ BIT(6)
#define GEN8_GT_ISR0 0x44300
#define GEN8_IRQ_BANK_SIZE 0x10
#define GEN8_GT_IRQ_BANKS 4
#define GEN8_GT_IER3 (GEN8_GT_ISR0 + GEN8_GT_IRQ_BANKS * GEN8_IRQ_BANK_SIZE - 4)
#define IRQ_ISR 0x0
#define IRQ_IMR 0x4
#define IRQ_IIR 0x8
#define IRQ_IER 0xc
#define GEN8_DE_PIPE_ISR_A 0x44400 /* seven banks: pipes, hot plug, port, misc */
#define DISPLAY_IRQ_BANKS 7
#define DISPLAY_IRQ_LAST (GEN8_DE_PIPE_ISR_A + DISPLAY_IRQ_BANKS * GEN8_IRQ_BANK_SIZE - 4)
#define GEN8_PCU_ISR 0x444e0
#define SDEISR 0xc4000

/*
 * Power wells: four requesters with one register each; the state bits are common. Well i has
 * request bit 2i + 1 and state bit 2i.
 */
#define HSW_PWR_WELL_CTL1 0x45400
#define HSW_PWR_WELL_CTL4 0x4540c
#define POWER_WELL_REQUESTS 0xaaaaaaaau

/* Display clock and buffer of Gen9: bit 31 requests a state, bit 30 reports it. */
#define DBUF_CTL_S1 0x45008
#define DBUF_POWER_REQUEST BIT(31)
#define DBUF_POWER_STATE BIT(30)
#define LCPLL1_CTL 0x46010
#define LCPLL_PLL_ENABLE BIT(31)
#define LCPLL_PLL_LOCK BIT(30)
#define EDP_PSR_IIR 0x64838

#define GEN6_PCODE_MAILBOX 0x138124
#define GEN6_PCODE_READY BIT(31)
#define PCODE_STATUS GENMASK(7, 0)

/* Registers that describe the hardware: fuses, straps, capabilities, status. */
#define GEN8_FUSE2 0x9120
#define GEN8_EU_DISABLE0 0x9134
#define GEN8_EU_DISABLE2 0x913c
#define CTC_MODE 0xa26c
#define GUC_STATUS 0xc000
#define GUC_STATUS_MIA_IN_RESET BIT(0)
#define GUC_WOPCM_SIZE 0xc050
#define DMA_GUC_WOPCM_OFFSET 0xc340
#define FUSE_STATUS 0x42000
#define FUSE_STRAP 0x42014 /* Gen8 */
#define FUSE_STRAP_DISPLAY_OFF BIT(30)
#define FPGA_DBG 0x42300
#define SKL_DFSM 0x51000 /* Gen9: DFSM */
#define DISPLAY_FUSE_PIPES_OFF (BIT(30) | BIT(28) | BIT(21))
#define SOUTH_FUSE_STRAP 0xc2014
#define PCH_RAWCLK 0xc6204
#define HSW_EDRAM_CAP 0x120010
#define GEN6_RP_STATE_CAP 0x145998

#define FENCE_REG_GEN6_LO0 0x100000
#define FENCE_REG_GEN6_HI31 0x1000fc

/* PVINFO, the para-virtual page. */
#define PVINFO_FIRST 0x78000
#define PVINFO_LAST 0x78ffc
#define PVINFO_MAGIC_LO 0x78000
#define PVINFO_MAGIC_HI 0x78004
#define VGT_MAGIC 0x4776544776544776ull
#define PVINFO_VERSION 0x78008 /* major 15:0, minor 31:16 */
#define PVINFO_ID 0x7800c
#define PVINFO_CAPS 0x78010
#define VGT_CAPS_FULL_PPGTT BIT(2)
#define VGT_CAPS_HWSP_EMULATION BIT(3)
#define VGT_CAPS_HUGE_GTT BIT(4) /* VGT_CAPS_HUGE_GTT: 64 KiB and 2 MiB in PPGTTs */
#define PVINFO_MAPPABLE_BASE 0x78040
#define PVINFO_MAPPABLE_BYTES 0x78044
#define PVINFO_HIDDEN_BASE 0x78048
#define PVINFO_HIDDEN_BYTES 0x7804c
#define PVINFO_FENCES 0x78050
#define PVINFO_DISPLAY_READY 0x78804
#define PVINFO_NOTIFY 0x78818
#define PVINFO_CURSOR_HOT_X 0x78830
#define PVINFO_CURSOR_HOT_Y 0x78834
#define PVINFO_PDP0_LO 0x78838 /* four pairs (lo, hi) */
#define PVINFO_PDP3_HI 0x78854
#define PVINFO_DESCRIPTOR_LO 0x78858
#define PVINFO_DESCRIPTOR_HI 0x7885c

enum pvinfo_notification {
	VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE = 2,
	VGT_G2V_PPGTT_L3_PAGE_TABLE_DESTROY = 3,
	VGT_G2V_PPGTT_L4_PAGE_TABLE_CREATE = 4,
	VGT_G2V_PPGTT_L4_PAGE_TABLE_DESTROY = 5,
	VGT_G2V_EXECLIST_CONTEXT_CREATE = 6,
	VGT_G2V_EXECLIST_CONTEXT_DESTROY = 7,
};

/* Context descriptor, as written to the submit port (element = high dword << 32 | low dword). */
#define GEN8_CTX_VALID BIT_ULL(0)
#define CTX_DESC_FORCE_RESTORE BIT_ULL(2)
#define GEN8_CTX_ADDRESSING_MODE_SHIFT 3
#define GEN8_CTX_ADDRESSING_MODE_MASK GENMASK_ULL(4, 3)
#define INTEL_LEGACY_32B_CONTEXT 1 /* 3-level */
#define INTEL_LEGACY_64B_CONTEXT 3 /* 4-level */
#define GEN8_CTX_PRIVILEGE BIT_ULL(8)
#define DESC_LRCA GENMASK_ULL(31, 12)
#define DESC_SAME_CONTEXT (DESC_LRCA | GEN8_CTX_ADDRESSING_MODE_MASK | GENMASK_ULL(63, 32))

/* Context status buffer, in the engine's hardware status page. */
#define GEN8_CSB_ENTRIES 6
#define HWSP_CSB 0x40
#define HWSP_CSB_WRITE 0x7c
#define CSB_RESET_POINTER (GEN8_CSB_ENTRIES - 1)
#define GEN8_CTX_STATUS_IDLE_ACTIVE BIT(0)
#define GEN8_CTX_STATUS_PREEMPTED BIT(1)
#define GEN8_CTX_STATUS_ELEMENT_SWITCH BIT(2)
#define GEN8_CTX_STATUS_ACTIVE_IDLE BIT(3)
#define GEN8_CTX_STATUS_COMPLETE BIT(4)
#define GEN8_CTX_STATUS_LITE_RESTORE BIT(15)

/* Values in the context image. */
#define CONTEXT_STATE_OFFSET GHYVI_PAGE_BYTES /* the page after the PPHWSP */
#define CONTEXT_MIN_BYTES (2 * GHYVI_PAGE_BYTES)
#define CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT BIT(0)
#define CTX_CTRL_RESTORE_INHIBIT_MASKED BIT(16)
#define RING_CTL_ENABLE BIT(0)
#define RING_CTL_PAGES GENMASK(20, 12) /* size in pages, minus one */
#define RING_HEAD_MASK GENMASK(20, 2) /* above: wrap count */
#define RING_TAIL_MASK GENMASK(20, 3)
#define CONTEXT_GPRS 16

/* The offset of one of GHYVI_FAULT_REGISTERS from the engine's base. */
static inline u32 ghyvi_fault_register(unsigned int index)
{
#define OFFSET(name) name,
	static const u32 offsets[] = { GHYVI_FAULT_REGISTERS(OFFSET) };
#undef OFFSET

	return offsets[index];
}

#endif
