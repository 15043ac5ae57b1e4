/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits of Gen8/Gen9 commands, by i915's names where it has one (gt/intel_gpu_commands.h), in one
 * place for the auditor and the software pGPU. Opcodes and lengths are in the command tables
 * (<ghyvi/commands.h>).
 */
#ifndef GHYVI_GEN8_CMDS_H
#define GHYVI_GEN8_CMDS_H

#include <linux/bits.h>
#include <ghyvi/types.h>

#define MI_OPCODE(header) ((header) >> 23 & 0x3f)
#define MI_USE_GGTT BIT(22) /* the GGTT bit of MI commands that have one */

/* The dword-aligned address in two dwords of a command. */
static inline u64 gen8_cmd_address(const u32 *dwords)
{
	return ((u64)dwords[1] << 32 | dwords[0]) & GENMASK_ULL(47, 2);
}

/* MI_BATCH_BUFFER_START */
#define MI_BATCH_PPGTT_HSW BIT(8)
#define MI_BATCH_SECOND_LEVEL BIT(22)

/* MI_CONDITIONAL_BATCH_BUFFER_END */
#define MI_DO_COMPARE BIT(21)

/* MI_COPY_MEM_MEM */
#define MI_COPY_MEM_MEM_DST_GGTT BIT(21)

/* MI_STORE_DATA_IMM */
#define MI_STORE_QWORD_IMM BIT(21)

/* MI_LOAD_REGISTER_IMM */
#define MI_LRI_BYTE_DISABLES(header) ((header) >> 8 & 0xf)

/* MI_SEMAPHORE_WAIT */
#define MI_SEMAPHORE_REGISTER_POLL BIT(16)
#define MI_SEMAPHORE_COMPARE(header) ((header) >> 12 & 7)
#define MI_SEMAPHORE_COMPARE_LAST 5

/* MI_UPDATE_GTT */
#define MI_UPDATE_GTT_ADDRESS_MASK GENMASK(31, 12)

/* The post-sync operation: MI_FLUSH_DW dword 0, PIPE_CONTROL dword 1. */
#define GEN8_POST_SYNC(dword) ((dword) >> 14 & 3)
#define GEN8_POST_STORE_INDEX BIT(21) /* to the hardware status page, or the PPHWSP */
#define MI_INVALIDATE_TLB BIT(18)
#define MI_FLUSH_DW_NOTIFY BIT(8)
#define MI_FLUSH_DW_USE_GTT BIT(2) /* in the address */
#define PIPE_CONTROL_GLOBAL_GTT_IVB BIT(24)
#define PIPE_CONTROL_MMIO_WRITE BIT(23)

/* MI_STORE_DATA_INDEX */
#define MI_STORE_INDEX_PPHWSP BIT(21)

#endif
