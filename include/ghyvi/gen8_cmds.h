/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits of Gen8/Gen9 commands, by i915's names where it has one (gt/intel_gpu_commands.h), in one
 * place for the auditor, the pGPUs and the emulated GPU. Lengths, and opcodes that only the tables
 * need, are there (<ghyvi/commands.h>).
 */
#ifndef GHYVI_GEN8_CMDS_H
#define GHYVI_GEN8_CMDS_H

#include <linux/bits.h>
#include <ghyvi/types.h>

#define MI_OPCODE(header) ((header) >> 23 & 0x3f)
/* Values of MI_OPCODE(), by i915's names where it has one. */
enum gen8_mi_opcode {
	MI_NOOP_OP = 0x00,
	MI_SET_PREDICATE_OP = 0x01,
	MI_USER_INTERRUPT_OP = 0x02,
	MI_ARB_CHECK_OP = 0x05,
	MI_RS_CONTROL_OP = 0x06,
	MI_REPORT_HEAD_OP = 0x07,
	MI_ARB_ON_OFF_OP = 0x08,
	MI_URB_ATOMIC_ALLOC_OP = 0x09,
	MI_BATCH_BUFFER_END_OP = 0x0a,
	MI_SUSPEND_FLUSH_OP = 0x0b,
	MI_PREDICATE_OP = 0x0c,
	MI_TOPOLOGY_FILTER_OP = 0x0d,
	MI_SET_APPID_OP = 0x0e,
	MI_RS_CONTEXT_OP = 0x0f,
	MI_LOAD_SCAN_LINES_INCL_OP = 0x12,
	MI_LOAD_SCAN_LINES_EXCL_OP = 0x13,
	MI_DISPLAY_FLIP_OP = 0x14,
	MI_SET_CONTEXT_OP = 0x18,
	MI_MATH_OP = 0x1a,
	MI_SEMAPHORE_WAIT_OP = 0x1c,
	MI_STORE_DATA_IMM_OP = 0x20,
	MI_STORE_DATA_INDEX_OP = 0x21,
	MI_LOAD_REGISTER_IMM_OP = 0x22,
	MI_UPDATE_GTT_OP = 0x23,
	MI_STORE_REGISTER_MEM_OP = 0x24,
	MI_FLUSH_DW_OP = 0x26,
	MI_REPORT_PERF_COUNT_OP = 0x28,
	MI_LOAD_REGISTER_MEM_OP = 0x29,
	MI_LOAD_REGISTER_REG_OP = 0x2a,
	MI_COPY_MEM_MEM_OP = 0x2e,
	MI_ATOMIC_OP = 0x2f,
	MI_BATCH_BUFFER_START_OP = 0x31,
	MI_CONDITIONAL_BATCH_BUFFER_END_OP = 0x36,
};

#define MI_USE_GGTT BIT(22) /* the GGTT bit of MI commands that have one */

/* The dword-aligned address in two dwords of a command. */
static inline u64 gen8_cmd_address(const u32 *dwords)
{
	return ((u64)dwords[1] << 32 | dwords[0]) & GENMASK_ULL(47, 2);
}

/* The address of a qword: the target of a post-sync operation. */
static inline u64 gen8_cmd_qword_address(const u32 *dwords)
{
	return gen8_cmd_address(dwords) & GENMASK_ULL(47, 3);
}

/* MI_BATCH_BUFFER_START */
#define MI_BATCH_PPGTT_HSW BIT(8)
#define MI_BATCH_PREDICATE BIT(15) /* jump only if MI_PREDICATE_RESULT_1 is set */
#define MI_BATCH_ADD_OFFSET BIT(16) /* add the register BB_OFFSET to the address */
#define MI_BATCH_SECOND_LEVEL BIT(22)

/* MI_PREDICATE (gen8.xml, gen9.xml) */
#define MI_PREDICATE_COMPARE(header) ((header)&3)
#define MI_PREDICATE_COMBINE(header) ((header) >> 3 & 3)
#define MI_PREDICATE_LOAD(header) ((header) >> 6 & 3)

/* MI_SET_PREDICATE (gen9.xml): which condition turns the following commands into MI_NOOP */
#define MI_SET_PREDICATE_ENABLE(header) ((header)&0xf)
enum gen8_set_predicate {
	MI_SET_PREDICATE_DISABLE = 0, /* i915's name; none */
	MI_SET_PREDICATE_RESULT2_CLEAR = 1,
	MI_SET_PREDICATE_RESULT2_SET = 2,
	MI_SET_PREDICATE_RESULT_CLEAR = 3,
	MI_SET_PREDICATE_RESULT_SET = 4,
	MI_SET_PREDICATE_NOT_1_SLICE = 5, /* the number of slices that are powered */
	MI_SET_PREDICATE_NOT_2_SLICES = 6,
	MI_SET_PREDICATE_NOT_3_SLICES = 7,
	MI_SET_PREDICATE_ALWAYS = 15,
};

/* MI_STORE_REGISTER_MEM */
#define MI_SRM_PREDICATE BIT(21) /* store only if MI_PREDICATE_RESULT is set */

/* MI_CONDITIONAL_BATCH_BUFFER_END */
#define MI_DO_COMPARE BIT(21)
#define MI_COMPARE_MASK BIT(19) /* Gen9: memory holds a mask and a value; see intel/media-driver */

/* MI_COPY_MEM_MEM */
#define MI_COPY_MEM_MEM_DST_GGTT BIT(21)

/* MI_STORE_DATA_IMM */
#define MI_STORE_QWORD_IMM BIT(21)

/* Does a packet of @dwords contain whole elements? */
static inline bool gen8_store_data_valid(u32 header, unsigned int dwords)
{
	return !(header & MI_STORE_QWORD_IMM) || dwords & 1;
}

/* MI_ATOMIC */
#define MI_ATOMIC_BYTES(header) (4u << ((header) >> 19 & 3))
#define MI_ATOMIC_INLINE BIT(18)
#define MI_ATOMIC_INLINE_DWORDS 11
#define MI_ATOMIC_RETURN BIT(16)
#define MI_ATOMIC_OPERATION(header) ((header) >> 8 & 0xf)
#define MI_ATOMIC_OPERATION_FIRST 1
#define MI_ATOMIC_OPERATION_LAST 0xe
/* Bits 15:12 encode the size once more: 0 dword, 2 qword, 4 octword. */
#define MI_ATOMIC_CLASS(header) ((header) >> 12 & 0xf)
#define MI_ATOMIC_CLASS_DWORD 0
#define MI_ATOMIC_CLASS_QWORD 2

/* Octwords are not supported. */
static inline bool gen8_atomic_valid(const u32 *packet, unsigned int dwords)
{
	unsigned int bytes = MI_ATOMIC_BYTES(packet[0]);
	unsigned int operation = MI_ATOMIC_OPERATION(packet[0]);
	unsigned int class = bytes == 8 ? MI_ATOMIC_CLASS_QWORD : MI_ATOMIC_CLASS_DWORD;

	return operation >= MI_ATOMIC_OPERATION_FIRST && operation <= MI_ATOMIC_OPERATION_LAST &&
	       bytes <= 8 && MI_ATOMIC_CLASS(packet[0]) == class &&
	       !(gen8_cmd_address(packet + 1) & (bytes - 1)) &&
	       (!(packet[0] & MI_ATOMIC_INLINE) || dwords == MI_ATOMIC_INLINE_DWORDS);
}

/* MI_REPORT_PERF_COUNT (gen8.xml, gen9.xml) */
#define MI_REPORT_USE_GGTT BIT(0) /* in the address */
#define MI_REPORT_ADDRESS_MASK GENMASK_ULL(47, 6)
#define MI_REPORT_DWORDS 64 /* in each format of Gen8 and Gen9 that drivers use */

/* MI_LOAD_REGISTER_IMM */
#define MI_LOAD_REGISTER_IMM(count) ((u32)MI_LOAD_REGISTER_IMM_OP << 23 | (2 * (count)-1))
#define MI_LRI_FORCE_POSTED BIT(12)
#define MI_LRI_BYTE_DISABLES(header) ((header) >> 8 & 0xf)

/* MI_SEMAPHORE_WAIT */
#define MI_SEMAPHORE_REGISTER_POLL BIT(16)
#define MI_SEMAPHORE_COMPARE(header) ((header) >> 12 & 7)

/* Is the wait over? @compare: MI_SEMAPHORE_COMPARE(), 0 to 5 */
static inline bool gen8_semaphore_passes(unsigned int compare, u32 memory, u32 data)
{
	switch (compare) {
	case 0:
		return memory > data;
	case 1:
		return memory >= data;
	case 2:
		return memory < data;
	case 3:
		return memory <= data;
	case 4:
		return memory == data;
	default:
		return memory != data;
	}
}
#define MI_SEMAPHORE_COMPARE_LAST 5

/* MI_UPDATE_GTT */
#define MI_UPDATE_GTT_ADDRESS_MASK GENMASK(31, 12)

/* Does a packet of @dwords contain whole entries? */
static inline bool gen8_update_gtt_valid(unsigned int dwords)
{
	return !(dwords & 1);
}

/* The post-sync operation: MI_FLUSH_DW dword 0, PIPE_CONTROL dword 1. */
#define GEN8_POST_SYNC_MASK GENMASK(15, 14)
#define GEN8_POST_SYNC(dword) ((dword) >> 14 & 3)
#define MI_FLUSH_DW_POST_RESERVED 2
#define GEN8_POST_STORE_INDEX BIT(21) /* to the hardware status page, or the PPHWSP */
#define MI_INVALIDATE_TLB BIT(18)
#define MI_FLUSH_DW_NOTIFY BIT(8)
#define MI_FLUSH_DW_USE_GTT BIT(2) /* in the address */
#define PIPE_CONTROL_GLOBAL_GTT_IVB BIT(24)
#define PIPE_CONTROL_MMIO_WRITE BIT(23)

/* Opcodes of 2D commands, by the manual's names. */
enum gen8_2d_opcode {
	XY_SETUP_BLT = 0x01,
	XY_SETUP_CLIP_BLT = 0x03,
	XY_SETUP_MONO_PATTERN_SL_BLT = 0x11,
	XY_PIXEL_BLT = 0x24,
	XY_SCANLINES_BLT = 0x25,
	XY_TEXT_BLT = 0x26,
	XY_TEXT_IMMEDIATE_BLT = 0x31,
	COLOR_BLT = 0x40,
	XY_FAST_COPY_BLT = 0x42,
	SRC_COPY_BLT = 0x43,
	XY_COLOR_BLT = 0x50,
	XY_PAT_BLT = 0x51,
	XY_MONO_PAT_BLT = 0x52,
	XY_SRC_COPY_BLT = 0x53,
	XY_MONO_SRC_COPY_BLT = 0x54,
	XY_FULL_BLT = 0x55,
	XY_FULL_MONO_SRC_BLT = 0x56,
	XY_FULL_MONO_PATTERN_BLT = 0x57,
	XY_FULL_MONO_PATTERN_MONO_SRC_BLT = 0x58,
	XY_MONO_PAT_FIXED_BLT = 0x59,
	XY_MONO_SRC_COPY_IMMEDIATE_BLT = 0x71,
	XY_PAT_BLT_IMMEDIATE = 0x72,
	XY_SRC_COPY_CHROMA_BLT = 0x73,
	XY_FULL_IMMEDIATE_PATTERN_BLT = 0x74,
	XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT = 0x75,
	XY_PAT_CHROMA_BLT = 0x76,
	XY_PAT_CHROMA_BLT_IMMEDIATE = 0x77,
};

/* Bits 31:16 of headers of what execution units need. userspace/eu has them in eu_state.h. */
enum gen8_media_opcode {
	STATE_BASE_ADDRESS = 0x6101,
	MEDIA_VFE_STATE = 0x7000,
	MEDIA_CURBE_LOAD = 0x7001,
	MEDIA_INTERFACE_DESCRIPTOR_LOAD = 0x7002,
	MEDIA_STATE_FLUSH = 0x7004,
	/* Dispatches: */
	MEDIA_OBJECT = 0x7100,
	GPGPU_WALKER = 0x7105,
	MEDIA_OBJECT_GRPID = 0x7106,
};

static inline bool gen8_is_dispatch(u32 header)
{
	return header >> 16 >= MEDIA_OBJECT && header >> 16 <= MEDIA_OBJECT_GRPID;
}

/* MI_STORE_DATA_INDEX */
#define MI_STORE_INDEX_PPHWSP BIT(21)

#endif
