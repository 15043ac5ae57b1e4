/* SPDX-License-Identifier: GPL-2.0-only */
/* Execution units: walkers and media objects, by userspace/eu. */
#ifndef PGPU_EMU_COMPUTE_H
#define PGPU_EMU_COMPUTE_H

#include <stdbool.h>
#include <linux/types.h>

struct emu_compute;
struct emu_engine;

/* What the execution units have done, for statistics. */
struct emu_compute_counts {
	u64 dispatches; /* that have ended */
	u64 groups;
	u64 instructions;
	u64 preempted; /* dispatches that left the engine before their end */
	u64 within; /* of these, in the middle of a thread group */
};

/* Of the render engine. Returns 0 or -ENOMEM. */
int emu_compute_init(struct emu_engine *engine);
void emu_compute_free(struct emu_engine *engine);
/* Forget the state and the dispatch. */
void emu_compute_reset(struct emu_engine *engine);
struct emu_compute_counts emu_compute_counts(const struct emu_engine *engine);

/* Whether the units have a use for a command of the render engine. */
bool emu_compute_takes(u32 header);
/* Take the command in the packet. Returns a softgpu_cs_status. */
int emu_compute_command(struct emu_engine *engine);
/* Whether a dispatch has begun and not ended: no command may be executed meanwhile. */
bool emu_compute_runs(const struct emu_engine *engine);
/* Execute the dispatch for a while. Returns a softgpu_cs_status. */
int emu_compute_slice(struct emu_engine *engine);

/*
 * Context images. When a context leaves within a dispatch, the command streamer goes back to the
 * walker, and the image has the group to go on with. A group in progress is in the context's memory
 * by then.
 */
#define EMU_COMPUTE_IMAGE_DWORDS 51
void emu_compute_leave(struct emu_engine *engine);
void emu_compute_save(struct emu_engine *engine, u32 *state); /* so many dwords */
/* Forget the state of another context, then take each command that the image has. */
void emu_compute_forget(struct emu_engine *engine);
void emu_compute_load(struct emu_engine *engine, const u32 *command, unsigned int dwords);
/* The image is loaded: the next command of the context may be the walker to go on with. */
void emu_compute_loaded(struct emu_engine *engine);

#endif
