/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_STATE_H
#define GHYVI_EU_STATE_H

#include "eu.h"

/**
 * DOC: Commands that set up the execution units
 *
 * A command streamer hands each command of the 3D/media class (type 3) to eu_state_command(). It
 * keeps what STATE_BASE_ADDRESS, MEDIA_VFE_STATE, MEDIA_CURBE_LOAD and
 * MEDIA_INTERFACE_DESCRIPTOR_LOAD say, and makes a struct eu_dispatch of a GPGPU_WALKER or
 * MEDIA_OBJECT. All other commands are left to the caller.
 */

/* Bits 31:16 of the headers. */
enum eu_media_opcode {
	EU_STATE_BASE_ADDRESS = 0x6101,
	EU_MEDIA_VFE_STATE = 0x7000,
	EU_MEDIA_CURBE_LOAD = 0x7001,
	EU_MEDIA_INTERFACE_DESCRIPTOR_LOAD = 0x7002,
	EU_MEDIA_STATE_FLUSH = 0x7004,
	EU_MEDIA_OBJECT = 0x7100,
	EU_MEDIA_OBJECT_PRT = 0x7102,
	EU_MEDIA_OBJECT_WALKER = 0x7103,
	EU_GPGPU_WALKER = 0x7105,
	EU_MEDIA_OBJECT_GRPID = 0x7106,
};

/** EU_CURBE_BYTES: the most constant data that MEDIA_CURBE_LOAD takes */
#define EU_CURBE_BYTES 65536u
/** EU_DESCRIPTORS: interface descriptors that the hardware holds */
#define EU_DESCRIPTORS 64u

/**
 * struct eu_state - the media pipeline's state of one context
 *
 * Plain data without pointers: a caller copies it to switch or save a context. All zero is the
 * state after reset. Only this file's functions look inside.
 */
struct eu_state {
	/* private: */
	uint64_t general_base, surface_base, dynamic_base, indirect_base, instruction_base;
	/* Bytes from the base on that may be accessed; 0: no bound. */
	uint64_t general_bytes, dynamic_bytes, indirect_bytes, instruction_bytes;
	uint64_t scratch;
	uint32_t scratch_bytes;
	uint32_t descriptors; /* valid ones */
	uint32_t descriptor[EU_DESCRIPTORS][8]; /* INTERFACE_DESCRIPTOR_DATA as loaded */
	uint32_t curbe_bytes;
	/* GPGPU_DISPATCHDIM{X,Y,Z}, MMIO 0x2500, 0x2504, 0x2508: for an indirect GPGPU_WALKER. */
	uint32_t dispatch_dim[3];
	uint8_t curbe[EU_CURBE_BYTES];
};

/**
 * enum eu_command - what eu_state_command() did
 * @EU_COMMAND_OTHER: the command is none of the media pipeline's; nothing happened
 * @EU_COMMAND_TAKEN: the state was updated, or the command needs nothing (MEDIA_STATE_FLUSH)
 * @EU_COMMAND_DISPATCH: *dispatch is to be run before the next command
 * @EU_COMMAND_ERROR: *error says what is wrong; the job is to end as for a hang
 */
enum eu_command {
	EU_COMMAND_OTHER,
	EU_COMMAND_TAKEN,
	EU_COMMAND_DISPATCH,
	EU_COMMAND_ERROR,
};

/**
 * eu_state_command() - take one command
 * @state: the context's state
 * @memory: from where descriptors and constants are loaded, with EU_ACCESS_STATE
 * @command: the command, its header first
 * @dwords: its length in dwords, header included
 * @dispatch: filled for EU_COMMAND_DISPATCH; its @constants point into @state. A walker without
 *	groups is EU_COMMAND_TAKEN, whatever the state is.
 * @error: filled for EU_COMMAND_ERROR
 *
 * Return: what it did.
 */
enum eu_command eu_state_command(struct eu_state *state, const struct eu_memory *memory,
				 const uint32_t *command, uint32_t dwords,
				 struct eu_dispatch *dispatch, struct eu_error *error);

#endif
