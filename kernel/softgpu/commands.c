// SPDX-License-Identifier: GPL-2.0-only
/* Dispatch of commands. */
#include "engine.h"

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
		if (err || softgpu_job(engine->job)->noop)
			return err;
		if (softgpu_is_pipe_control(engine->command))
			return softgpu_pipe_control(engine);
		return softgpu_is_compute(engine->command, engine->packet[0]) ?
			       softgpu_compute(engine) :
			       SOFTGPU_OK;
	}
}
