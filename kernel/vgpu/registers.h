/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register offsets and bits of the Gen8/Gen9 GPU that a guest sees, as far as they have a behaviour
 * or a value of their own. Everything else is storage and needs no name.
 */
#ifndef GHYVI_VGPU_REGISTERS_H
#define GHYVI_VGPU_REGISTERS_H

#include <linux/bits.h>
#include <ghyvi/engines.h>

/* Engines: each has one page of registers. */
#define ENGINE_REGISTERS_BYTES 0x1000

/* Relative to the engine's base. */
#define RING_EXCC 0x028
#define RING_TAIL 0x030
#define RING_HEAD 0x034
#define RING_START 0x038
#define RING_CTL 0x03c
#define RING_PSMI_CTL 0x050
#define RING_ACTHD_UDW 0x05c
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

#define TIMESTAMP_BITS 36

/* Per-engine TLB invalidation, one dword each: RCS, VCS0, VCS1, BCS, VECS. */
#define TLB_INVALIDATE_FIRST 0x4260
#define TLB_INVALIDATE_LAST 0x4270
#define GFX_FLUSH_CONTROL 0x101008

#define GEN_RESET 0x941c /* GDRST */
#define GEN_RESET_FULL BIT(0)
#define GEN_RESET_RENDER BIT(1)
#define GEN_RESET_VIDEO BIT(2)
#define GEN_RESET_BLITTER BIT(3)
#define GEN_RESET_VIDEO_ENHANCE BIT(4)

/* Interrupts. */
#define MASTER_IRQ 0x44200
#define MASTER_IRQ_ENABLE BIT(31)
#define MASTER_IRQ_RENDER BIT(0)
#define MASTER_IRQ_BLITTER BIT(1)
#define MASTER_IRQ_VIDEO BIT(2)
#define MASTER_IRQ_VIDEO2 BIT(3)
#define MASTER_IRQ_VIDEO_ENHANCE BIT(6)
#define IRQ_BANK_FIRST 0x44300
#define IRQ_BANK_BYTES 0x10
#define IRQ_BANKS 4
#define IRQ_BANK_LAST (IRQ_BANK_FIRST + IRQ_BANKS * IRQ_BANK_BYTES - 4)
#define IRQ_ISR 0x0
#define IRQ_IMR 0x4
#define IRQ_IIR 0x8
#define IRQ_IER 0xc
#define DISPLAY_PIPE_IRQ_FIRST 0x44400 /* seven banks: pipes, hot plug, port, misc */
#define DISPLAY_IRQ_BANKS 7
#define PCU_IRQ 0x444e0
#define SOUTH_DISPLAY_IRQ 0xc4000

/* Power wells: one state, four requesters. Well i: request bit 2i + 1, state bit 2i. */
#define POWER_WELL_FIRST 0x45400
#define POWER_WELL_LAST 0x4540c
#define POWER_WELL_REQUESTS 0xaaaaaaaau

#define PCODE_MAILBOX 0x138124
#define PCODE_GO BIT(31)
#define PCODE_STATUS GENMASK(7, 0)

/* Values fixed by the hardware. */
#define FUSE2 0x9120
#define EU_DISABLE0 0x9134
#define EU_DISABLE2 0x913c
#define CTC_MODE 0xa26c
#define GUC_STATUS 0xc000
#define GUC_STATUS_MIA_IN_RESET BIT(0)
#define GUC_WOPCM_SIZE 0xc050
#define GUC_WOPCM_OFFSET 0xc340
#define FUSE_STATUS 0x42000
#define FUSE_STRAP 0x42014 /* Gen8 */
#define FUSE_STRAP_DISPLAY_OFF BIT(30)
#define FPGA_DEBUG 0x42300
#define DISPLAY_FUSE 0x51000 /* Gen9: DFSM */
#define DISPLAY_FUSE_PIPES_OFF (BIT(30) | BIT(28) | BIT(21))
#define SOUTH_FUSE_STRAP 0xc2014
#define PCH_RAWCLK 0xc6204
#define EDRAM_CAP 0x120010
#define RP_STATE_CAP 0x145998

#define FENCE_FIRST 0x100000
#define FENCE_LAST 0x1000fc

/* The para-virtual page. */
#define PVINFO_FIRST 0x78000
#define PVINFO_LAST 0x78ffc
#define PVINFO_MAGIC_LO 0x78000
#define PVINFO_MAGIC_HI 0x78004
#define PVINFO_MAGIC 0x4776544776544776ull
#define PVINFO_VERSION 0x78008 /* major 15:0, minor 31:16 */
#define PVINFO_ID 0x7800c
#define PVINFO_CAPS 0x78010
#define PVINFO_CAP_FULL_PPGTT BIT(2)
#define PVINFO_CAP_HWSP_EMULATION BIT(3)
#define PVINFO_CAP_LARGE_PAGES BIT(4) /* VGT_CAPS_HUGE_GTT: 64 KiB and 2 MiB in PPGTTs */
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
	NOTIFY_L3_CREATE = 2,
	NOTIFY_L3_DESTROY = 3,
	NOTIFY_L4_CREATE = 4,
	NOTIFY_L4_DESTROY = 5,
	NOTIFY_CONTEXT_CREATE = 6,
	NOTIFY_CONTEXT_DESTROY = 7,
};

/* Context descriptor, as written to the submit port (element = hi << 32 | lo). */
#define DESC_VALID BIT_ULL(0)
#define DESC_FORCE_RESTORE BIT_ULL(2)
#define DESC_ADDRESSING_SHIFT 3
#define DESC_ADDRESSING GENMASK_ULL(4, 3)
#define DESC_ADDRESSING_32BIT 1 /* 3-level */
#define DESC_ADDRESSING_64BIT 3 /* 4-level */
#define DESC_PRIVILEGE BIT_ULL(8)
#define DESC_LRCA GENMASK_ULL(31, 12)
#define DESC_SAME_CONTEXT (DESC_LRCA | DESC_ADDRESSING | GENMASK_ULL(63, 32))

/* Context status buffer, in the engine's hardware status page. */
#define CSB_ENTRIES 6
#define HWSP_CSB 0x40
#define HWSP_CSB_WRITE 0x7c
#define CSB_RESET_POINTER (CSB_ENTRIES - 1)
#define CSB_IDLE_ACTIVE BIT(0)
#define CSB_PREEMPTED BIT(1)
#define CSB_ELEMENT_SWITCH BIT(2)
#define CSB_ACTIVE_IDLE BIT(3)
#define CSB_COMPLETE BIT(4)
#define CSB_LITE_RESTORE BIT(15)

/* Values in the context image. */
#define CONTEXT_STATE_OFFSET GHYVI_PAGE_BYTES /* the page after the PPHWSP */
#define CONTEXT_MIN_BYTES (2 * GHYVI_PAGE_BYTES)
#define CONTEXT_RESTORE_INHIBIT BIT(0)
#define CONTEXT_RESTORE_INHIBIT_MASK BIT(16)
#define RING_CTL_ENABLE BIT(0)
#define RING_CTL_PAGES GENMASK(20, 12) /* size in pages, minus one */
#define RING_HEAD_OFFSET GENMASK(20, 2) /* above: wrap count */
#define CONTEXT_GPRS 16

#endif
