/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of a Gen9 vGPU: registers, page tables, context images and commands. The
 * definitions follow i915 of Linux 6.1. They are not shared with the host's code, so that the
 * attacks do not inherit errors of the host.
 */
#ifndef HOSTILE_GEN9_ABI_H
#define HOSTILE_GEN9_ABI_H

#include <stdint.h>

#define PAGE_BYTES 4096u
#define PAGE_DWORDS (PAGE_BYTES / 4)
#define ENTRIES 512u /* per table page, 8 bytes each */

#define REGISTERS_BYTES 0x200000u
#define GGTT_TABLE_OFFSET 0x800000u
#define GGTT_TABLE_BYTES 0x800000u
#define BAR0_BYTES 0x1000000u

enum engine_id { RCS, BCS, VCS, VECS, ENGINES };

/* Registers relative to the base of an engine */
#define RING_HWS_PGA 0x80
#define RING_MI_MODE 0x9c
#define RING_EIR 0xb0
#define RING_EMR 0xb4
#define RING_RESET_CTL 0xd0
#define RING_ELSP 0x230
#define RING_MODE 0x29c
#define RING_TIMESTAMP 0x358
#define RING_CSB_POINTER 0x3a0
#define RING_GPR 0x600

#define EMR_BAD_COMMAND_ONLY 0xfffffffeu
#define RUN_LISTS 0x80008000u
#define CSB_POINTERS_RESET 0xffff0505u

#define GEN6_GDRST 0x941c /* GEN6_GDRST */
#define GEN6_GRDOM_FULL 1u
#define TLB_INVALIDATE 0x4260 /* GEN8_RTCR and the four registers after it */
#define TLB_REGISTERS 5u
#define GGTT_FLUSH 0x101008 /* GFX_FLSH_CNTL_GEN6 */
#define FORCE_TO_NONPRIV 0x24d0 /* RING_FORCE_TO_NONPRIV: twelve registers */

#define PVINFO 0x78000 /* i915_pvinfo.h */
#define PVINFO_MAGIC_LOW 0x76544776u
#define PVINFO_HIDDEN_BASE 0x78048
#define PVINFO_HIDDEN_BYTES 0x7804c
#define PVINFO_NOTIFY 0x78818
#define PVINFO_PDP0 0x78838
#define VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE 2u /* VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE */
#define VGT_G2V_PPGTT_L3_PAGE_TABLE_DESTROY 3u
#define VGT_G2V_PPGTT_L4_PAGE_TABLE_CREATE 4u
#define VGT_G2V_PPGTT_L4_PAGE_TABLE_DESTROY 5u
/* ghyvi's own: multicall */
#define PVINFO_CAPS 0x78010
#define CAPS_MULTICALL 0x10000u
#define PVINFO_MULTICALL 0x78f00 /* lo, hi */
#define VGT_G2V_MULTICALL 0x67680000u /* plus the number of records */
#define MULTICALL_APPLIED 0xffffull /* bits of the result */
#define MULTICALL_DONE (1ull << 63)

/* Page table entries */
#define ENTRY_PRESENT 1ull
#define ENTRY_WRITE 2ull
#define ENTRY_LARGE 0x80ull
#define ENTRY_64K 0x800ull
#define ENTRY_ADDRESS 0x7ffffff000ull /* bits 38:12 */
#define LEVELS 4u

/* Context descriptor */
#define GEN8_CTX_VALID 1ull
#define CTX_DESC_FORCE_RESTORE 4ull
#define DESC_64BIT (3ull << 3)
#define DESC_32BIT (1ull << 3)
#define GEN8_CTX_PRIVILEGE 0x100ull

/* Register state: dwords of the second page of the context image */
#define CTX_CONTROL 0x03
#define CTX_RING_HEAD 0x05
#define CTX_RING_TAIL 0x07
#define CTX_RING_START 0x09
#define CTX_RING_CTL 0x0b
#define CTX_INDIRECT 0x1b
#define CTX_INDIRECT_OFFSET 0x1d
#define CTX_TIMESTAMP 0x23
#define CTX_PDP3_HIGH 0x25
#define CTX_PDP0_HIGH 0x31
#define CTX_PDP0_LOW 0x33
#define CTX_GPR 0x69
#define CTX_CONTROL_FIRST_LOAD 0x000f0009u
#define CTX_INDIRECT_OFFSET_GEN9 0x980u
#define RING_HEAD_MASK 0x1ffffcu

/* Hardware status page */
#define HWSP_CSB 0x40
#define HWSP_CSB_WRITE 0x7c
#define GEN8_CSB_ENTRIES 6u
#define CSB_PROMOTED 3u /* either bit */

/* Commands */
#define MI(opcode, dwords) ((uint32_t)(opcode) << 23 | ((dwords)-2))
#define MI_NOOP 0u
#define MI_USER_INTERRUPT (0x02u << 23)
#define MI_ARB_CHECK (0x05u << 23)
#define MI_BATCH_END (0x0au << 23)
#define MI_MATH 0x1a
#define MI_SEMAPHORE_SIGNAL 0x1b
#define MI_SEMAPHORE_WAIT 0x1c
#define MI_STORE_DATA 0x20
#define MI_STORE_INDEX 0x21
#define MI_LOAD_IMM 0x22
#define MI_UPDATE_GTT 0x23
#define MI_STORE_REGISTER 0x24
#define MI_FLUSH_DW 0x26
#define MI_CLFLUSH 0x27
#define MI_LOAD_MEMORY 0x29
#define MI_COPY_REGISTER 0x2a
#define MI_COPY_MEMORY 0x2e
#define MI_ATOMIC 0x2f
#define MI_BATCH_START 0x31
#define MI_CONDITIONAL_END 0x36
#define MI_GGTT (1u << 22)
#define MI_QWORD (1u << 21)
#define BATCH_PPGTT (1u << 8)
#define BATCH_SECOND_LEVEL (1u << 22)
#define SEMAPHORE_POLL (1u << 15)
#define SEMAPHORE_EQUAL (4u << 12)
#define FLUSH_POST_IMMEDIATE (1u << 14)
#define FLUSH_STORE_INDEX (1u << 21)
#define FLUSH_DW_GGTT 4u /* in the address */
#define PIPE_CONTROL 0x7a000004u /* 6 dwords */
#define PIPE_CONTROL_GGTT (1u << 24)
#define PIPE_CONTROL_MMIO (1u << 23)
#define XY_COLOR 0x54300005u /* 7 dwords, 32 bits per pixel */
#define XY_COPY 0x54f00008u /* 10 dwords */
#define BLIT_32BPP (3u << 24)
#define ROP_FILL (0xf0u << 16)
#define ROP_COPY (0xccu << 16)

#endif
