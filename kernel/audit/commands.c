// SPDX-License-Identifier: GPL-2.0-only
/* Lookup of commands in the tables, and the lengths of unknown commands. */
#include <linux/kernel.h>
#include <ghyvi/export.h>
#include "tables.h"

const struct ghyvi_command *const *const ghyvi_command_blocks[GHYVI_ENGINES] = {
	[GHYVI_RCS] = ghyvi_render_blocks,
	[GHYVI_VCS] = ghyvi_video_blocks,
	[GHYVI_VECS] = ghyvi_enhance_blocks,
};

const struct ghyvi_command *ghyvi_command_find(enum ghyvi_engine_id engine, u32 header)
{
	return ghyvi_command_in_tables(engine, header);
}
GHYVI_EXPORT(ghyvi_command_find);

#define GHYVI_MI_FIRST_LONG 0x10 /* opcodes below are one dword */
#define GHYVI_SUBTYPE(header) ((header) >> 27 & 3)
#define GHYVI_SUBTYPE_SINGLE 1
#define GHYVI_SUBTYPE_MEDIA 2

/*
 * Returns the number of low header bits that hold the length of an unknown command; 0: one dword,
 * -1: there is no such packet. Known commands can differ; their tables say so.
 */
static int usual_length_bits(enum ghyvi_engine_id engine, u32 header)
{
	switch (GHYVI_PACKET_TYPE(header)) {
	case GHYVI_TYPE_MI:
		return MI_OPCODE(header) < GHYVI_MI_FIRST_LONG ? 0 : 8;
	case GHYVI_TYPE_2D:
		return engine == GHYVI_BCS ? 8 : -1;
	case GHYVI_TYPE_3D:
		break;
	default:
		return -1;
	}
	switch (engine) {
	case GHYVI_BCS:
		return -1;
	case GHYVI_RCS:
		if (GHYVI_SUBTYPE(header) == GHYVI_SUBTYPE_SINGLE)
			return (header >> 24 & 7) <= 1 ? 0 : 8;
		return GHYVI_SUBTYPE(header) == GHYVI_SUBTYPE_MEDIA ? 16 : 8;
	default:
		return 12;
	}
}

unsigned int ghyvi_command_dwords(enum ghyvi_engine_id engine, const struct ghyvi_command *command,
				  u32 header)
{
	int bits;

	if (command)
		return ghyvi_command_length(command, header);
	bits = usual_length_bits(engine, header);
	if (bits <= 0)
		return bits + 1;
	return (header & ((1u << bits) - 1)) + 2;
}
GHYVI_EXPORT(ghyvi_command_dwords);
