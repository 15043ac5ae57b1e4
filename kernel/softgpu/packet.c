// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which commands have an effect on memory or registers. The others are skipped by their length,
 * which must be one that the tables of <ghyvi/commands.h> allow.
 */
#include "engine.h"

/* Upper halves of headers (PRM vol. 2a). */
#define STATE_BASE_ADDRESS 0x6101
#define MEDIA_VFE_STATE 0x7000
#define MEDIA_INTERFACE_DESCRIPTOR_LOAD 0x7002
#define OBJECT_FIRST 0x7100 /* GPGPU_WALKER is one of them */
#define OBJECT_LAST 0x7106

bool softgpu_is_compute(const struct ghyvi_command *command, u32 header)
{
	u32 opcode = header >> 16;

	/* Commands of the video engine have the same opcodes. */
	return command && command->engines & BIT(GHYVI_RCS) &&
	       (opcode == STATE_BASE_ADDRESS ||
		(opcode >= MEDIA_VFE_STATE && opcode <= MEDIA_INTERFACE_DESCRIPTOR_LOAD) ||
		(opcode >= OBJECT_FIRST && opcode <= OBJECT_LAST));
}

bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return softgpu_packet_type(header) != SOFTGPU_PACKET_MI &&
	       softgpu_packet_type(header) != SOFTGPU_PACKET_2D &&
	       !softgpu_is_pipe_control(command) && !softgpu_is_compute(command, header);
}
