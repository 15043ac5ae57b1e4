// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware leaves a pipe scanning out of stolen memory, through the first GGTT entries. Before
 * these map other memory it must stop, or a monitor shows it.
 */
#include "gen9.h"

#define PIPE_OFF_US 100000

bool gen9_has_display(const struct gen9 *gpu)
{
	return (gen9_read(gpu, SKL_DFSM) & DISPLAY_FUSE_PIPES_OFF) != DISPLAY_FUSE_PIPES_OFF;
}

/* Pipe A is in well 1. */
bool gen9_pipe_has_power(const struct gen9 *gpu, unsigned int pipe)
{
	u32 wells = gen9_read(gpu, HSW_PWR_WELL_CTL2);

	return wells & (pipe ? SKL_PW_2_STATE : SKL_PW_1_STATE);
}

/* Pipes feed the transcoder of their number, or that of eDP, whose power well is that of pipe A. */
static int transcoder_off(struct gen9 *gpu, u32 offset)
{
	u32 value = gen9_read(gpu, offset);

	if (!(value & PIPECONF_ENABLE))
		return 0;
	gen9_write(gpu, offset, value & ~(u32)PIPECONF_ENABLE);
	return gen9_wait(gpu, offset, PIPECONF_STATE_ENABLE, 0, PIPE_OFF_US);
}

static int pipe_off(struct gen9 *gpu, unsigned int pipe)
{
	unsigned int plane;
	int err = 0;
	u32 value;

	for (plane = 0; plane < PLANES; plane++) {
		value = gen9_read(gpu, PLANE_CTL(pipe, plane));
		if (!(value & PLANE_CTL_ENABLE))
			continue;
		gen9_write(gpu, PLANE_CTL(pipe, plane), value & ~(u32)PLANE_CTL_ENABLE);
		gen9_write(gpu, PLANE_SURF(pipe, plane), 0);
	}
	if (!pipe)
		err = transcoder_off(gpu, PIPECONF_EDP);
	return err ?: transcoder_off(gpu, PIPECONF(pipe));
}

int gen9_display_off(struct gen9 *gpu)
{
	unsigned int pipe;
	int err = 0;

	if (!gen9_has_display(gpu))
		return 0;
	for (pipe = 0; pipe < PIPES && !err; pipe++)
		if (gen9_pipe_has_power(gpu, pipe))
			err = pipe_off(gpu, pipe);
	if (err)
		dev_err(&gpu->pdev->dev, "a pipe of the display does not stop\n");
	return err;
}
