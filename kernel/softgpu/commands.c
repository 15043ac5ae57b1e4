// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatch of commands. The tables of <ghyvi/commands.h> say which commands exist, how long they
 * are, and which domain may use them. A command without an effect on memory or registers is skipped
 * by its length, which must be one that the tables allow.
 */
#include <linux/kernel.h>
#include "engine.h"

bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return softgpu_packet_type(header) != SOFTGPU_PACKET_MI &&
	       softgpu_packet_type(header) != SOFTGPU_PACKET_2D &&
	       !softgpu_is_pipe_control(command);
}

int softgpu_command(struct softgpu_engine *engine)
{
	int err;

	switch (softgpu_packet_type(engine->packet[0])) {
	case SOFTGPU_PACKET_MI:
		return softgpu_mi(engine);
	case SOFTGPU_PACKET_2D:
		return softgpu_blt(engine);
	default:
		err = softgpu_check_command(engine, "");
		if (err || !softgpu_is_pipe_control(engine->command) ||
		    softgpu_job(engine->job)->noop)
			return err;
		return softgpu_pipe_control(engine);
	}
}
