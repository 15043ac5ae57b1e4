/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the four Gen8/9 engines and the registers that they may access: facts about the
 * hardware, plus one rule for each. All readers of command streams share these tables: the auditor
 * (kernel/audit), and a pGPU that executes commands in software.
 *
 * A command stream is privileged if the guest's kernel wrote it: rings, indirect context batches,
 * batches in the GGTT. It is a user stream if the guest's user space may have written it: batches
 * in the PPGTT, and all batches that these start.
 */
#ifndef GHYVI_COMMANDS_H
#define GHYVI_COMMANDS_H

#include <ghyvi/gen8_cmds.h>
#include <ghyvi/types.h>

/* What a stream may do with a command. */
enum ghyvi_command_rule {
	GHYVI_REFUSED, /* the job ends with an error, as for unknown commands */
	GHYVI_DROPPED, /* no effect, as on hardware for privileged commands of user streams */
	GHYVI_ALLOWED,
	GHYVI_PPGTT_ONLY_DROP, /* allowed on the PPGTT; dropped with the GGTT bit of the header */
	GHYVI_PPGTT_ONLY_REJECT, /* allowed on the PPGTT; refused with the GGTT bit of the header */
};

/*
 * What hardware does with a command in a ring, which has no restrictions there. A pGPU in software
 * restricts commands itself. Each command that a stream may execute says it.
 */
enum ghyvi_command_hardware {
	GHYVI_HARDWARE_UNKNOWN, /* refused by a backend for hardware */
	/*
	 * Reaches the state of the context, its PPGTT and audited addresses, or raises its events.
	 */
	GHYVI_HARDWARE_CONTEXT,
	/* So do some operands; a backend rewrites the others, which reach more. */
	GHYVI_HARDWARE_OPERANDS,
	/* Reaches what vGPUs share: a backend drops it. */
	GHYVI_HARDWARE_SHARED,
};

/* How a packet selects the address space of one of its addresses. */
enum ghyvi_address_space {
	GHYVI_ADDRESS_NONE, /* no such operand */
	GHYVI_ADDRESS_PPGTT, /* always the PPGTT; the shadow isolates it */
	GHYVI_ADDRESS_BIT22, /* the GGTT if the header has MI_USE_GGTT */
	GHYVI_ADDRESS_BIT21, /* the GGTT if the header has bit 21 (second address of a copy) */
	GHYVI_ADDRESS_DWORD1_BIT0, /* the GGTT if dword 1 has bit 0 */
	GHYVI_ADDRESS_POST, /* of a post-sync operation: GHYVI_CHECK_FLUSH_DW, _PIPE_CONTROL */
};

#define GHYVI_ADDRESS_READ BIT(0)
#define GHYVI_ADDRESS_WRITE BIT(1)

/**
 * struct ghyvi_command_address - an address operand of a command
 */
struct ghyvi_command_address {
	/** @dword: index of the low dword; the high dword follows */
	u8 dword;
	/** @space: enum ghyvi_address_space */
	u8 space;
	/** @access: GHYVI_ADDRESS_READ, GHYVI_ADDRESS_WRITE */
	u8 access;
	/** @bytes: number of bytes accessed; 0: as many as the packet has after the address */
	u16 bytes;
};

/* Commands whose operands need a function to check them. */
enum ghyvi_command_check {
	GHYVI_CHECK_NONE,
	GHYVI_CHECK_BATCH_START,
	GHYVI_CHECK_BATCH_END,
	GHYVI_CHECK_BATCH_MAY_END,
	GHYVI_CHECK_LOAD_IMM, /* pairs of register and value from dword 1 on */
	GHYVI_CHECK_SEMAPHORE_WAIT,
	GHYVI_CHECK_FLUSH_DW,
	GHYVI_CHECK_PIPE_CONTROL,
	GHYVI_CHECK_UPDATE_GTT,
	GHYVI_CHECK_STORE_DATA,
	GHYVI_CHECK_ATOMIC,
};

/**
 * enum ghyvi_command_source - the description of a command from which its entry has been written
 * @GHYVI_SOURCE_NONE: there is no such command
 * @GHYVI_SOURCE_XML: Mesa, src/intel/genxml/gen8.xml and gen9.xml (gen80.xml and gen90.xml in later
 *	versions), which agree
 * @GHYVI_SOURCE_XML8: Mesa, src/intel/genxml/gen8.xml, and not gen9.xml
 * @GHYVI_SOURCE_XML9: Mesa, src/intel/genxml/gen9.xml, and not gen8.xml, or where both differ
 * @GHYVI_SOURCE_I915: Linux, drivers/gpu/drm/i915/gt/intel_gpu_commands.h; lengths as i915 emits
 *	the commands (gt/intel_migrate.c) or checks them (i915_cmd_parser.c)
 * @GHYVI_SOURCE_MHW_MI: Intel's media driver, mhw_mi_hwcmd_g8_X.h and mhw_mi_hwcmd_g9_X.h
 * @GHYVI_SOURCE_MHW_VDENC: Intel's media driver, mhw_vdbox_vdenc_hwcmd_g9_kbl.h
 * @GHYVI_SOURCE_MHW_SFC12: Intel's media driver, mhw_sfc_hwcmd_g12_X.h; opcodes that
 *	mhw_sfc_hwcmd_g9_X.h does not have
 * @GHYVI_SOURCE_MHW_VEBOX: Intel's media driver, mhw_vebox_hwcmd_g8_X.h and mhw_vebox_hwcmd_g9_X.h
 * @GHYVI_SOURCE_VAAPI: intel-vaapi-driver, src/i965_defines.h
 * @GHYVI_SOURCE_SNA: xf86-video-intel, src/sna/sna_reg.h; lengths as src/sna/sna_accel.c and
 *	sna_blt.c emit the commands for Gen8
 * @GHYVI_SOURCE_SNA_DEBUG: xf86-video-intel, src/sna/kgem_debug.c, where addresses have one dword
 * @GHYVI_SOURCE_GVT: Linux, drivers/gpu/drm/i915/gvt/cmd_parser.c; a fact that no other public
 *	source states
 */
enum ghyvi_command_source {
	GHYVI_SOURCE_NONE,
	GHYVI_SOURCE_XML,
	GHYVI_SOURCE_XML8,
	GHYVI_SOURCE_XML9,
	GHYVI_SOURCE_I915,
	GHYVI_SOURCE_MHW_MI,
	GHYVI_SOURCE_MHW_VDENC,
	GHYVI_SOURCE_MHW_SFC12,
	GHYVI_SOURCE_MHW_VEBOX,
	GHYVI_SOURCE_VAAPI,
	GHYVI_SOURCE_SNA,
	GHYVI_SOURCE_SNA_DEBUG,
	GHYVI_SOURCE_GVT,
};

#define GHYVI_ANY_LENGTH 0xffff
/*
 * Longest packet whose operands are checked (MI_STORE_DATA_IMM: 10 bits of length). Plain commands
 * may be longer.
 */
#define GHYVI_PACKET_DWORDS_MAX 1025

/**
 * struct ghyvi_command - a command and its rules
 */
struct ghyvi_command {
	/** @name: name in the manuals; NULL: there is no such command */
	const char *name;
	/** @source: enum ghyvi_command_source */
	u8 source;
	/** @least: minimum length in dwords, header included */
	u16 least;
	/** @most: maximum length in dwords, header included; or GHYVI_ANY_LENGTH */
	u16 most;
	/** @engines: bit mask of enum ghyvi_engine_id */
	u8 engines;
	/**
	 * @length_bits: number of low header bits that hold the length - 2, or the length - 1 if
	 * @least is 1; 0: one dword
	 */
	u8 length_bits;
	/** @kernel: enum ghyvi_command_rule for privileged streams */
	u8 kernel;
	/** @user: enum ghyvi_command_rule for user streams */
	u8 user;
	/** @hardware: enum ghyvi_command_hardware */
	u8 hardware;
	/** @gen: first generation that has the command, 8 or 9 */
	u8 gen;
	/** @plain: allowed in all streams, and only the length is to be checked */
	bool plain;
	/** @check: enum ghyvi_command_check */
	u8 check;
	/** @reads_register: index of the dword that names the register to read; 0: none */
	u8 reads_register;
	/** @writes_register: index of the dword that names the register to write; 0: none */
	u8 writes_register;
	/** @addresses: operands of MI commands, and those that can be outside of the PPGTT */
	struct ghyvi_command_address addresses[2];
};

/**
 * ghyvi_command_find() - look up a command.
 * @engine: the engine
 * @header: first dword of the packet
 *
 * Context: any.
 * Return: the command, or NULL: @engine has no such command.
 */
const struct ghyvi_command *ghyvi_command_find(enum ghyvi_engine_id engine, u32 header);

/**
 * ghyvi_command_dwords() - get the length by which an engine skips a packet.
 * @engine: the engine
 * @command: what ghyvi_command_find() returned, may be NULL
 * @header: first dword of the packet
 *
 * Context: any.
 * Return: the length in dwords, header included; 0: no packet of @engine has such a header.
 */
unsigned int ghyvi_command_dwords(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
				  u32 header);

/**
 * ghyvi_command_rule() - get the rule for a command in a stream.
 * @command: the command
 * @header: first dword of the packet
 * @privileged: the stream is privileged
 *
 * Context: any.
 * Return: GHYVI_REFUSED, GHYVI_DROPPED or GHYVI_ALLOWED.
 */
static inline enum ghyvi_command_rule ghyvi_command_rule(const struct ghyvi_command *command,
							 u32 header, bool privileged)
{
	u8 rule = privileged ? command->kernel : command->user;

	if (rule < GHYVI_PPGTT_ONLY_DROP)
		return rule;
	if (!(header & MI_USE_GGTT))
		return GHYVI_ALLOWED;
	return rule == GHYVI_PPGTT_ONLY_DROP ? GHYVI_DROPPED : GHYVI_REFUSED;
}

/**
 * ghyvi_command_length() - get the length of a packet of a known command.
 * @command: the command
 * @header: first dword of the packet
 *
 * Context: any.
 * Return: the length in dwords, header included. It may be outside of what @command allows.
 */
static inline unsigned int ghyvi_command_length(const struct ghyvi_command *command, u32 header)
{
	return (header & ((1u << command->length_bits) - 1)) + (command->least == 1 ? 1 : 2);
}

/*
 * What streams may do with a listed register. All streams may read any register; a register that is
 * not listed reads as 0.
 */
enum ghyvi_register_right {
	GHYVI_REGISTER_READ_ONLY, /* writes are dropped */
	GHYVI_REGISTER_KERNEL, /* privileged streams write; writes of user streams are dropped */
	GHYVI_REGISTER_CONTROL, /* as KERNEL, and reads as 0 */
	GHYVI_REGISTER_LISTED, /* as KERNEL; user streams write if a NONPRIV slot names it (RCS) */
	GHYVI_REGISTER_ALL, /* as KERNEL; user streams write on the engine that has the register */
	GHYVI_REGISTER_GPR, /* as ALL, but not with byte disables */
};

/* Number of dwords of registers that a context image saves, besides those with a fixed place. */
#define GHYVI_CONTEXT_SLOTS 100

/**
 * struct ghyvi_register_rule - a range of registers and what streams may do with them
 */
struct ghyvi_register_rule {
	/** @first: offset of the first byte; from the engine's base if every engine has it */
	u32 first;
	/** @last: offset of the last byte, as @first */
	u32 last;
	/** @right: enum ghyvi_register_right */
	u8 right;
	/** @masked: the high half of a write selects the bits of the low half that are written */
	bool masked;
	/**
	 * @slot: the context image saves the range; its dwords are the context's registers from
	 * @slot - 1 on; 0: not saved. See ghyvi_register_slot().
	 */
	u8 slot;
};

/* End of the registers in BAR 0, and the bits of a command that name a register. */
#define GHYVI_REGISTERS_END 0x200000u
#define GHYVI_REGISTER_MASK GENMASK(22, 2)

/**
 * ghyvi_register_find() - look up the rule for a register.
 * @engine: the engine that executes the command
 * @offset: offset of the register in BAR 0 in bytes
 *
 * Context: any.
 * Return: the rule, or NULL: a write ends the job of a privileged stream, and is dropped in a user
 * stream.
 */
const struct ghyvi_register_rule *ghyvi_register_find(enum ghyvi_engine_id engine, u32 offset);

/**
 * ghyvi_register_write_rule() - get the rule for a write to a register by a command.
 * @engine: the engine that executes the command
 * @rule: what ghyvi_register_find() returned, may be NULL
 * @offset: offset of the register
 * @privileged: the stream is privileged
 * @bytes: the command disables the write of some bytes. That could split masks and the halves of a
 *	GPR. No driver needs it, so such writes are refused.
 * @listed: a NONPRIV slot of the guest names the register
 *
 * Context: any.
 * Return: GHYVI_REFUSED (whatever @listed is), GHYVI_DROPPED or GHYVI_ALLOWED.
 */
enum ghyvi_command_rule ghyvi_register_write_rule(enum ghyvi_engine_id engine,
						  const struct ghyvi_register_rule *rule,
						  u32 offset, bool privileged, bool bytes,
						  bool listed);

/**
 * ghyvi_register_slot() - get the place of a register among those that a context image saves.
 * @engine: the engine that executes the command
 * @rule: what ghyvi_register_find() returned, not NULL
 * @offset: offset of the register
 *
 * Context: any.
 * Return: 0 to GHYVI_CONTEXT_SLOTS - 1; -1: no context of @engine saves the register, its value is
 * in the vGPU's register file.
 */
int ghyvi_register_slot(enum ghyvi_engine_id engine, const struct ghyvi_register_rule *rule,
			u32 offset);

/**
 * ghyvi_register_slots() - list the registers that the context images of an engine save.
 * @engine: the engine
 * @offsets: GHYVI_CONTEXT_SLOTS elements; receives the offset of the register in each slot, 0 for
 *	a slot that @engine does not use
 *
 * Context: any.
 */
void ghyvi_register_slots(enum ghyvi_engine_id engine, u32 *offsets);

#endif
