// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which commands have an effect on memory or registers. The others are skipped by their length,
 * which must be one that the tables of <ghyvi/commands.h> allow.
 */
#include "engine.h"

bool softgpu_is_compute(const struct ghyvi_command *command, u32 header)
{
	u32 opcode = header >> 16;

	/* Commands of the video engine have the same opcodes. */
	return command && command->engines & BIT(GHYVI_RCS) &&
	       (opcode == STATE_BASE_ADDRESS ||
		(opcode >= MEDIA_VFE_STATE && opcode <= MEDIA_INTERFACE_DESCRIPTOR_LOAD) ||
		gen8_is_dispatch(header));
}

bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return softgpu_packet_type(header) != SOFTGPU_PACKET_MI &&
	       softgpu_packet_type(header) != SOFTGPU_PACKET_2D &&
	       !softgpu_is_pipe_control(command) && !softgpu_is_compute(command, header);
}
