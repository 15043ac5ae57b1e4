/* SPDX-License-Identifier: GPL-2.0-only */
/* The command tables. Only files of this folder include this header. */
#ifndef GHYVI_AUDIT_TABLES_H
#define GHYVI_AUDIT_TABLES_H

#include <ghyvi/commands.h>
#include <ghyvi/gen8_cmds.h>

#define GHYVI_ALL_ENGINES (BIT(GHYVI_RCS) | BIT(GHYVI_BCS) | BIT(GHYVI_VCS) | BIT(GHYVI_VECS))

#define GHYVI_MI_OPCODES 64
#define GHYVI_2D_OPCODES 128

extern const struct ghyvi_command ghyvi_mi_commands[GHYVI_MI_OPCODES]; /* by bits 28:23 */
extern const struct ghyvi_command ghyvi_2d_commands[GHYVI_2D_OPCODES]; /* by bits 28:22 */

/*
 * Commands of type 3 are in blocks of 32. Bits 28:21 (subtype 28:27, opcode 26:24, upper part of
 * the sub-opcode 23:21) select a block, bits 20:16 a command in it.
 */
#define GHYVI_BLOCKS 256
#define GHYVI_BLOCK_COMMANDS 32
#define GHYVI_BLOCK(subtype, opcode, upper) ((subtype) << 6 | (opcode) << 3 | (upper))
extern const struct ghyvi_command *const ghyvi_render_blocks[GHYVI_BLOCKS];
extern const struct ghyvi_command *const ghyvi_video_blocks[GHYVI_BLOCKS];
extern const struct ghyvi_command *const ghyvi_enhance_blocks[GHYVI_BLOCKS];

enum ghyvi_packet_type {
	GHYVI_TYPE_MI = 0,
	GHYVI_TYPE_2D = 2,
	GHYVI_TYPE_3D = 3, /* 3D and GPGPU on RCS; video on VCS, video enhancement on VECS */
};

#define GHYVI_PACKET_TYPE(header) ((header) >> 29)
#define GHYVI_OPCODE_2D(header) ((header) >> 22 & 0x7f)
#define GHYVI_BLOCK_3D(header) ((header) >> 21 & 0xff)
#define GHYVI_COMMAND_3D(header) ((header) >> 16 & 0x1f)

/* NULL: none */
extern const struct ghyvi_command *const *const ghyvi_command_blocks[GHYVI_ENGINES];

/* ghyvi_command_find(), inline for callers that look up many commands. */
static inline const struct ghyvi_command *ghyvi_command_in_tables(enum ghyvi_engine_id engine,
								  u32 header)
{
	const struct ghyvi_command *const *blocks = ghyvi_command_blocks[engine];
	const struct ghyvi_command *command = NULL;

	switch (GHYVI_PACKET_TYPE(header)) {
	case GHYVI_TYPE_3D:
		command = blocks ? blocks[GHYVI_BLOCK_3D(header)] : NULL;
		command = command ? command + GHYVI_COMMAND_3D(header) : NULL;
		break;
	case GHYVI_TYPE_MI:
		command = &ghyvi_mi_commands[MI_OPCODE(header)];
		break;
	case GHYVI_TYPE_2D:
		command = &ghyvi_2d_commands[GHYVI_OPCODE_2D(header)];
		break;
	}
	return command && command->engines & BIT(engine) ? command : NULL;
}

/*
 * A command that is allowed in all streams and accesses memory through the PPGTT only. _source: as
 * in enum ghyvi_command_source, without GHYVI_SOURCE_; _hardware likewise.
 */
#define GHYVI_PLAIN(_name, _source, _least, _most, _bits, _gen, _engines, _hardware)             \
	{                                                                                        \
		.name = _name, .source = GHYVI_SOURCE_##_source, .least = _least, .most = _most, \
		.engines = _engines, .length_bits = _bits, .kernel = GHYVI_ALLOWED,              \
		.user = GHYVI_ALLOWED, .hardware = GHYVI_HARDWARE_##_hardware, .gen = _gen,      \
		.plain = true,                                                                   \
	}

#endif
