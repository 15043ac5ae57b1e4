/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a guest can say to a command streamer: the commands of the four Gen8/9 engines and the registers that
 * they may touch, as facts about the hardware plus one rule for each. One truth for whoever reads a command
 * stream: the auditor (kernel/audit), and a pGPU that executes commands itself.
 *
 * Domain R is what the guest's kernel wrote: rings, indirect context batches, batches in the GGTT. Domain U is
 * what its user space may have written: batches in the PPGTT, and all that they lead to.
 */
#ifndef GHYVI_COMMANDS_H
#define GHYVI_COMMANDS_H

#include <ghyvi/types.h>

/* What a domain may do with a command. */
enum ghyvi_command_rule {
	GHYVI_REFUSED, /* the job ends: what unknown commands get */
	GHYVI_DROPPED, /* no effect, as the hardware does with privileged commands of users */
	GHYVI_ALLOWED,
	GHYVI_PPGTT_ONLY_DROP, /* allowed on the PPGTT; dropped with the GGTT bit of the header */
	GHYVI_PPGTT_ONLY_REJECT, /* allowed on the PPGTT; refused with the GGTT bit of the header */
};

#define MI_USE_GGTT BIT(22) /* the GGTT bit of MI commands that have one */

/* How a packet says which address space an address of it is in. */
enum ghyvi_address_space {
	GHYVI_ADDRESS_NONE, /* no such operand */
	GHYVI_ADDRESS_PPGTT, /* always; the shadow isolates it */
	GHYVI_ADDRESS_BIT22, /* the GGTT when the header has MI_USE_GGTT */
	GHYVI_ADDRESS_BIT21, /* the same, bit 21 (the second address of a copy) */
	GHYVI_ADDRESS_DWORD1_BIT0, /* bit 0 of dword 1 */
	GHYVI_ADDRESS_POST, /* only with a post-sync operation; see GHYVI_CHECK_FLUSH_DW and PIPE_CONTROL */
};

#define GHYVI_ADDRESS_READ BIT(0)
#define GHYVI_ADDRESS_WRITE BIT(1)

/**
 * struct ghyvi_command_address - an address operand
 * @dword: index of its low dword; the high one follows
 * @space: enum ghyvi_address_space
 * @access: GHYVI_ADDRESS_*
 * @bytes: how many it touches; 0: as many as the packet has dwords behind the address
 */
struct ghyvi_command_address {
	u8 dword;
	u8 space;
	u8 access;
	u8 bytes;
};

/* Commands whose operands need more than a table can say. */
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
};

#define GHYVI_ANY_LENGTH 0xffff
/* The longest packet whose operands count (MI_STORE_DATA_IMM: 10 bits of length); longer ones are skipped. */
#define GHYVI_PACKET_DWORDS_MAX 1025

/**
 * struct ghyvi_command
 * @name: NULL: there is no such command
 * @least, @most: dwords that it can have, header included
 * @engines: bit mask of enum ghyvi_engine_id
 * @length_bits: the low bits of the header that hold its length - 2; 0: it has one dword
 * @kernel, @user: enum ghyvi_command_rule for domains R and U
 * @gen: the first generation that knows it
 * @check: enum ghyvi_command_check
 * @reads_register, @writes_register: index of the dword that names one, 0: none
 * @plain: allowed to everybody, and nothing of the below: whoever knows its length knows all
 * @addresses: those that may lead anywhere but into the PPGTT, and those of MI commands
 */
struct ghyvi_command {
	const char *name;
	u16 least, most;
	u8 engines;
	u8 length_bits;
	u8 kernel, user;
	u8 gen;
	bool plain;
	u8 check;
	u8 reads_register, writes_register;
	struct ghyvi_command_address addresses[2];
};

/** ghyvi_command_find() - what @header is on @engine; NULL: unknown there. Any context. */
const struct ghyvi_command *ghyvi_command_find(enum ghyvi_engine_id engine, u32 header);

/**
 * ghyvi_command_dwords() - length of the packet that starts with @header, as the engine would skip it, known or not
 * (@command, from ghyvi_command_find(), may be NULL). 0: no packet of this engine starts like that.
 */
unsigned int ghyvi_command_dwords(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
				  u32 header);

/** ghyvi_command_rule() - what @command with this @header may do: GHYVI_REFUSED, DROPPED or ALLOWED. */
static inline enum ghyvi_command_rule ghyvi_command_rule(const struct ghyvi_command *command, u32 header,
							 bool privileged)
{
	u8 rule = privileged ? command->kernel : command->user;

	if (rule < GHYVI_PPGTT_ONLY_DROP)
		return rule;
	if (!(header & MI_USE_GGTT))
		return GHYVI_ALLOWED;
	return rule == GHYVI_PPGTT_ONLY_DROP ? GHYVI_DROPPED : GHYVI_REFUSED;
}

/** ghyvi_command_length() - dwords of a packet of @command. */
static inline unsigned int ghyvi_command_length(const struct ghyvi_command *command, u32 header)
{
	return command->length_bits ? (header & ((1u << command->length_bits) - 1)) + 2 : 1;
}

/* What domains R and U may do with a register that is listed. Both may read any, and see 0 where none is listed. */
enum ghyvi_register_right {
	GHYVI_REGISTER_READ_ONLY, /* writes are dropped */
	GHYVI_REGISTER_KERNEL, /* domain R writes; writes of U are dropped */
	GHYVI_REGISTER_CONTROL, /* the same, and reads as 0 */
	GHYVI_REGISTER_LISTED, /* as KERNEL, and U when a NONPRIV slot names it (RCS only) */
	GHYVI_REGISTER_BLITTER, /* everybody on BCS, elsewhere as KERNEL */
	GHYVI_REGISTER_GEN8, /* everybody on Gen8; on Gen9, where it means something else, as KERNEL */
	GHYVI_REGISTER_ALL,
	GHYVI_REGISTER_GPR, /* as ALL, but never in bytes */
};

/**
 * struct ghyvi_register_rule
 * @first, @last: byte offsets; from the engine's base for registers that every engine has
 * @masked: takes bits from the low half of a write where the high half has ones
 */
struct ghyvi_register_rule {
	u32 first, last;
	u8 right;
	bool masked;
};

/* The part of BAR 0 that has registers at all, and the bits of a command that name one. */
#define GHYVI_REGISTERS_END 0x200000u
#define GHYVI_REGISTER_MASK GENMASK(22, 2)

/** ghyvi_register_find() - the rule for commands of @engine; NULL: writes of R end the job, those of U are dropped. */
const struct ghyvi_register_rule *ghyvi_register_find(enum ghyvi_engine_id engine, u32 offset);

/* With byte disables, masks and the halves of a GPR could be split in ways that nobody needs. */
static inline bool ghyvi_register_takes_bytes(const struct ghyvi_register_rule *rule)
{
	return !rule->masked && rule->right != GHYVI_REGISTER_GPR;
}

/* What executes commands needs to know some of them apart; from the engine's base. */
#define GHYVI_GPR_FIRST 0x600
#define GHYVI_GPR_BYTES 0x80
#define GHYVI_MI_MODE 0x9c
#define GHYVI_TIMESTAMP_LOW 0x358
#define GHYVI_TIMESTAMP_HIGH 0x35c
#define GHYVI_CONTEXT_TIMESTAMP 0x3a8

#endif
