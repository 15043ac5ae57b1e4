// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatch of commands. The tables of <ghyvi/commands.h> say which commands exist, how long they
 * are, and which domain may use them. A command without an effect on memory or registers is skipped
 * by its length, which must be one that the tables allow.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include "engine.h"

enum packet_type {
	TYPE_MI = 0,
	TYPE_2D = 2,
};

#define PACKET_TYPE(header) ((header) >> 29)

static bool is_pipe_control(const struct ghyvi_command *command)
{
	return command && command->check == GHYVI_CHECK_PIPE_CONTROL;
}

bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return PACKET_TYPE(header) != TYPE_MI && PACKET_TYPE(header) != TYPE_2D &&
	       !is_pipe_control(command);
}

int softgpu_check_command(struct softgpu_engine *engine, const char *type)
{
	const struct ghyvi_command *command = engine->command;

	if (!command || command->gen > engine->client->base.params.gen)
		return softgpu_error(engine, "%scommand %#010x is unknown", type,
				     engine->packet[0]);
	if (engine->packet_dwords < command->least || engine->packet_dwords > command->most)
		return softgpu_error(engine, "%s of %u dwords", command->name,
				     engine->packet_dwords);
	return SOFTGPU_OK;
}

int softgpu_command(struct softgpu_engine *engine)
{
	int err;

	switch (PACKET_TYPE(engine->packet[0])) {
	case TYPE_MI:
		return softgpu_mi(engine);
	case TYPE_2D:
		return softgpu_blt(engine);
	default:
		err = softgpu_check_command(engine, "");
		if (err || !is_pipe_control(engine->command) || softgpu_job(engine->job)->noop)
			return err;
		return softgpu_pipe_control(engine);
	}
}
