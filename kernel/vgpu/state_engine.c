// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execlists and parked workloads in the state of a vGPU.
 *
 * Guest memory does not describe a parked workload: its context was loaded, its ring was advanced,
 * and its commands were audited. All of that is saved, and is checked when it is loaded. The
 * workload's page tables are looked up, and guest memory is accessed, when it is prepared again.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/string.h>
#include "state_io.h"

/*
 * Bytes of the thread group that the workload is in; 0: none. While the vGPU runs, when only the
 * size of its state is asked for, an engine may have the job.
 */
static size_t group_bytes(const struct vgpu_workload *workload)
{
	const struct ghyvi_pgpu_ops *ops = workload->engine->vgpu->params.pgpu->ops;

	return workload->parked && ops->job_group_bytes ?
		       ops->job_group_bytes(&workload->base.job) :
		       0;
}

static size_t workload_bytes(const struct vgpu_workload *workload)
{
	return 2 * sizeof(struct state_header) + sizeof(struct state_workload) +
	       workload->engine->vgpu->params.pgpu->ops->job_state_bytes +
	       ghyvi_commands_state_bytes(workload->base.job.commands) + group_bytes(workload);
}

/* Room that sections after this one need at least. */
#define ENDING_BYTES                                                                   \
	(GHYVI_ENGINES * (sizeof(struct state_header) + sizeof(struct state_engine)) + \
	 sizeof(struct state_header) + sizeof(struct state_display) + sizeof(struct state_header))

/* Whether it fits into a state; the buffer may be smaller, and is found to be full then. */
static bool workload_fits(const struct vgpu_workload *workload, const struct state_writer *writer)
{
	return !writer->full &&
	       GHYVI_STATE_BYTES_MAX - writer->bytes >= workload_bytes(workload) + ENDING_BYTES;
}

static void workload_save(struct vgpu_workload *workload, struct state_writer *writer)
{
	const struct ghyvi_pgpu_ops *ops = workload->engine->vgpu->params.pgpu->ops;
	struct ghyvi_commands *commands = workload->base.job.commands;
	struct state_workload *state;
	void *to;

	state_section_begin(writer, STATE_WORKLOAD);
	state = state_reserve(writer, sizeof(*state));
	if (state) {
		*state = (struct state_workload){
			.descriptor = workload->descriptor,
			.runs_again = workload->runs_again,
			.head = workload->head,
			.tail = workload->tail,
			.control = workload->control,
			.registers_new = workload->registers_new,
		};
		memcpy(state->gprs, workload->gprs, sizeof(state->gprs));
		memcpy(state->registers, workload->registers, sizeof(state->registers));
		memcpy(state->context, workload->context, sizeof(state->context));
	}
	to = state_reserve(writer, ops->job_state_bytes);
	if (to)
		ops->job_save(&workload->base.job, to);
	to = state_reserve(writer, ghyvi_commands_state_bytes(commands));
	if (to)
		ghyvi_commands_save(commands, to);
	state_section_end(writer);
}

static void group_save(struct vgpu_workload *workload, struct state_writer *writer)
{
	size_t bytes = group_bytes(workload);
	void *to;

	if (!bytes)
		return;
	state_section_begin(writer, STATE_GROUP);
	to = state_reserve(writer, bytes);
	if (to)
		workload->engine->vgpu->params.pgpu->ops->job_group_save(&workload->base.job, to);
	state_section_end(writer);
}

void vgpu_engine_save(struct vgpu_engine *engine, struct state_writer *writer)
{
	struct vgpu_workload *workload = engine->workload;
	struct state_engine state = {
		.id = engine->id,
		.elsp_count = engine->elsp_count,
		.active = { engine->active[0], engine->active[1] },
		.pending = { engine->pending[0], engine->pending[1] },
		.nr_active = engine->nr_active,
		.has_pending = engine->has_pending,
		.halted = engine->halted,
		.csb = engine->csb,
	};

	lockdep_assert_held(&engine->vgpu->lock);
	memcpy(state.elsp, engine->elsp, sizeof(state.elsp));
	if (workload) {
		state.workload = workload_fits(workload, writer);
		state.dropped = !state.workload;
	}
	state_section(writer, STATE_ENGINE, &state, sizeof(state));
	if (state.workload) {
		workload_save(workload, writer);
		group_save(workload, writer);
	}
	if (state.dropped && writer->to && !writer->full)
		ghyvi_report(
			engine->vgpu->params.reporter,
			"%s: the state has no room for the commands of a workload; it will be stopped",
			ghyvi_engine_name(engine->id));
}

static bool engine_ok(const struct state_engine *state)
{
	if (state->id >= GHYVI_ENGINES || state->elsp_count >= ARRAY_SIZE(state->elsp) ||
	    state->nr_active > ARRAY_SIZE(state->active) || state->csb > CSB_RESET_POINTER ||
	    state->has_pending > 1 || state->halted > 1 || state->workload > 1 ||
	    state->dropped > 1)
		return false;
	if (state->nr_active >= 1 && !(state->active[0] & GEN8_CTX_VALID))
		return false;
	if ((state->nr_active == 2) != !!(state->active[1] & GEN8_CTX_VALID))
		return false;
	if (state->has_pending && !(state->pending[0] & GEN8_CTX_VALID))
		return false;
	return !(state->workload || state->dropped) || (state->nr_active && !state->halted);
}

int vgpu_engine_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader,
		     struct vgpu_engine **loaded)
{
	const struct state_engine *state = state_take(reader, sizeof(*state));
	struct vgpu_engine *engine;

	lockdep_assert_held(&vgpu->lock);
	if (!state || reader->left || !engine_ok(state))
		return -EINVAL;
	engine = &vgpu->engines[state->id];
	*loaded = engine;
	memcpy(engine->elsp, state->elsp, sizeof(engine->elsp));
	engine->elsp_count = state->elsp_count;
	memcpy(engine->active, state->active, sizeof(engine->active));
	engine->nr_active = state->nr_active;
	engine->pending[0] = state->pending[0];
	engine->pending[1] = state->pending[1] & GEN8_CTX_VALID ? state->pending[1] : 0;
	engine->has_pending = state->has_pending;
	engine->halted = state->halted;
	engine->csb = state->csb;
	vgpu_update_port_regs(engine); /* the loaded register file need not match the ports */
	if (state->dropped)
		vgpu_engine_halt(engine, NULL);
	return 0;
}

/* The parts of the job that follow the fixed part. */
static int load_job(struct vgpu_workload *workload, struct state_reader *reader)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	const struct ghyvi_pgpu_ops *ops = vgpu->params.pgpu->ops;
	const void *job = state_take(reader, ops->job_state_bytes);
	struct ghyvi_submission submission;
	struct ghyvi_commands *commands;

	if (!job)
		return -EINVAL;
	vgpu_context_submission(workload, &submission);
	submission.head = workload->head;
	commands = ghyvi_audit_load(vgpu->audit, &submission, reader->from, reader->left);
	if (IS_ERR(commands))
		return (int)PTR_ERR(commands);
	workload->base.job.commands = commands;
	if (!vgpu_context_in_commands(workload))
		return -EINVAL;
	return ops->job_load(&workload->base.job, job);
}

static int load_workload(struct vgpu_workload *workload, struct state_reader *reader)
{
	const struct state_workload *state = state_take(reader, sizeof(*state));
	struct vgpu_engine *engine = workload->engine;

	if (!state || state->runs_again > 1 || state->registers_new > 1 ||
	    (state->descriptor ^ engine->active[0]) & DESC_SAME_CONTEXT)
		return -EINVAL;
	workload->descriptor = state->descriptor;
	workload->runs_again = state->runs_again;
	workload->head = state->head;
	workload->tail = state->tail;
	workload->loaded = true;
	workload->control = state->control;
	workload->registers_new = state->registers_new;
	memcpy(workload->gprs, state->gprs, sizeof(workload->gprs));
	memcpy(workload->registers, state->registers, sizeof(workload->registers));
	memcpy(workload->context, state->context, sizeof(state->context));
	if (!vgpu_context_restore(workload))
		return -EINVAL;
	return load_job(workload, reader);
}

int vgpu_workload_load(struct vgpu_engine *engine, struct state_reader *reader)
{
	struct vgpu_workload *workload;
	int err;

	lockdep_assert_held(&engine->vgpu->lock);
	if (engine->workload || !engine->nr_active || engine->halted || engine->vgpu->failsafe)
		return -EINVAL;
	workload = vgpu_engine_workload(engine);
	if (!workload)
		return -ENOMEM;
	err = load_workload(workload, reader);
	if (err < 0) {
		vgpu_workload_free(workload);
		return err;
	}
	workload->parked = true;
	engine->workload = workload;
	return err;
}

int vgpu_group_load(struct vgpu_engine *engine, struct state_reader *reader)
{
	const struct ghyvi_pgpu_ops *ops = engine->vgpu->params.pgpu->ops;

	lockdep_assert_held(&engine->vgpu->lock);
	return ops->job_group_load(&engine->workload->base.job, reader->from, reader->left);
}
