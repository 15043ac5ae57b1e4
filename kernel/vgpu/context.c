// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the guest's context image before a workload runs, and writes it back afterwards.
 *
 * The engine uses only the host's copy of the image, so the guest cannot change what was validated.
 * In the guest's image only the few dwords that hardware would save are written. They are written
 * one by one, because the guest may write others (the ring tail) at the same time. A workload that
 * the scheduler preempts keeps its copy. The copy is written back, and the image read again, only
 * after the context has completed.
 */
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/string.h>
#include <ghyvi/memcg.h>
#include <trace/events/ghyvi.h>
#include "vgpu_types.h"

void ghyvi_vgpu_set_check(struct ghyvi_vgpu *vgpu, bool on)
{
	WRITE_ONCE(vgpu->check, on);
}

bool ghyvi_vgpu_get_check(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->check);
}

static u64 state_address(const struct vgpu_workload *workload, unsigned int index)
{
	return (workload->descriptor & DESC_LRCA) + CONTEXT_STATE_OFFSET + 4 * (u64)index;
}

static int read_state(struct vgpu_workload *workload, unsigned int index, u32 *dwords,
		      unsigned int count)
{
	return ghyvi_gtt_ggtt_read(workload->engine->vgpu->gtt, state_address(workload, index),
				   dwords, count * sizeof(*dwords));
}

/* A write fails only if the guest has unmapped its own image. That affects only this guest. */
static void write_state(struct vgpu_workload *workload, unsigned int index, u32 value)
{
	(void)ghyvi_gtt_ggtt_write(workload->engine->vgpu->gtt, state_address(workload, index),
				   &value, sizeof(value));
}

static unsigned int levels_of(const struct vgpu_workload *workload)
{
	u64 addressing = FIELD_GET(GEN8_CTX_ADDRESSING_MODE_MASK, workload->descriptor);

	return addressing == INTEL_LEGACY_64B_CONTEXT ? 4 : 3;
}

/*
 * @pdps: dwords of the image from GHYVI_CTX_PDP3_UDW on. @gpa: argument of ghyvi_gtt_get_root(),
 * PDP0 first.
 */
static void roots_from(const u32 *pdps, unsigned int levels, u64 gpa[4])
{
	unsigned int i;

	memset(gpa, 0, 4 * sizeof(*gpa));
	for (i = 0; i < (levels == 4 ? 1 : 4); i++) {
		u32 hi = pdps[4 * (3 - i)];
		u32 lo = pdps[4 * (3 - i) + 2];

		gpa[i] = ((u64)hi << 32 | lo) & GHYVI_PAGE_MASK;
	}
}

/* Look up the tree that the context's copy names. */
static int get_root(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	unsigned int levels = levels_of(workload);
	struct ghyvi_root *root;
	u64 gpa[4];

	roots_from(workload->context + GHYVI_CTX_PDP3_UDW, levels, gpa);
	root = ghyvi_gtt_get_root(vgpu->gtt, gpa, levels);
	if (IS_ERR(root)) {
		ghyvi_report_stop(
			vgpu->params.reporter, workload->engine->id,
			"%s: page tables at guest address 0x%llx not accepted (error %ld)",
			ghyvi_engine_name(workload->engine->id), (unsigned long long)gpa[0],
			PTR_ERR(root));
		return (int)PTR_ERR(root);
	}
	workload->root = root;
	return 0;
}

/*
 * Read the image before the sync, never after it. The guest writes a request and its table entries
 * before the tail in the image covers the request. A tail read after the sync might cover requests
 * whose entries were written after the scan, and the engine would execute them through a stale
 * shadow.
 */
static int read_and_sync(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	int err;

	if (read_state(workload, 0, workload->context, GHYVI_CTX_DWORDS)) {
		ghyvi_report_stop(vgpu->params.reporter, workload->engine->id,
				  "%s: context image 0x%llx is not mapped",
				  ghyvi_engine_name(workload->engine->id),
				  (unsigned long long)(workload->descriptor & DESC_LRCA));
		return -EFAULT;
	}
	err = get_root(workload);
	if (!err)
		ghyvi_gtt_sync(vgpu->gtt, workload->root);
	return err;
}

static int check_descriptor(const struct vgpu_workload *workload)
{
	const struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	u64 descriptor = workload->descriptor;
	u64 addressing = FIELD_GET(GEN8_CTX_ADDRESSING_MODE_MASK, descriptor);

	if ((descriptor & GEN8_CTX_VALID) && (descriptor & GEN8_CTX_PRIVILEGE) &&
	    (addressing == INTEL_LEGACY_64B_CONTEXT || addressing == INTEL_LEGACY_32B_CONTEXT) &&
	    vgpu_owns_ggtt(vgpu, descriptor & DESC_LRCA, CONTEXT_MIN_BYTES))
		return 0;
	ghyvi_report_stop(vgpu->params.reporter, workload->engine->id,
			  "%s: context descriptor 0x%llx is not valid",
			  ghyvi_engine_name(workload->engine->id), (unsigned long long)descriptor);
	return -EINVAL;
}

static u32 ring_bytes(u32 ctl)
{
	return (ctl & (u32)RING_CTL_PAGES) + GHYVI_PAGE_BYTES;
}

static bool tail_ok(const u32 *context, u32 tail)
{
	return tail < ring_bytes(context[GHYVI_CTX_RING_CTL]) && !(tail & 7);
}

static int check_ring(const struct vgpu_workload *workload)
{
	const struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	u32 *context = workload->context;
	u32 ctl = context[GHYVI_CTX_RING_CTL];
	u32 start = context[GHYVI_CTX_RING_START];
	u32 tail = context[GHYVI_CTX_RING_TAIL];

	/* The upper bits count wraps of the ring and are ignored. */
	context[GHYVI_CTX_RING_HEAD] &= (u32)RING_HEAD_MASK;
	if ((ctl & RING_CTL_ENABLE) && !(start & (GHYVI_PAGE_BYTES - 1)) &&
	    vgpu_owns_ggtt(vgpu, start, ring_bytes(ctl)) &&
	    context[GHYVI_CTX_RING_HEAD] < ring_bytes(ctl) && tail_ok(context, tail))
		return 0;
	ghyvi_report_stop(vgpu->params.reporter, workload->engine->id,
			  "%s: ring start 0x%x control 0x%x head 0x%x tail 0x%x is not valid",
			  ghyvi_engine_name(workload->engine->id), start, ctl,
			  context[GHYVI_CTX_RING_HEAD], tail);
	return -EINVAL;
}

/* Clear slots whose dwords hold other data in the image of this generation or engine. */
static void blank_absent_slots(struct vgpu_workload *workload)
{
	u32 *context = workload->context;

	if (workload->engine->vgpu->params.profile->context_has_gprs)
		return;
	memset(context + GHYVI_CTX_GPR, 0, 4 * CONTEXT_GPRS * sizeof(*context));
	if (workload->engine->id != GHYVI_RCS) {
		context[GHYVI_CTX_INDIRECT] = 0;
		context[GHYVI_CTX_INDIRECT_OFFSET] = 0;
	}
}

/*
 * The registers that a context saves besides those with a fixed place. Hardware keeps them in parts
 * of the image that no driver interprets. ghyvi keeps them as a list of offsets and values in the
 * page of the register state, behind what drivers know. It is the guest's memory: an image that
 * the guest copies takes its registers along, and no state of a context stays in the host. What
 * the guest writes there are register values, which its commands could write as well.
 */
#define CONTEXT_REGISTERS_HEADER (MI_LOAD_REGISTER_IMM(GHYVI_CONTEXT_SLOTS) | MI_LRI_FORCE_POSTED)

/*
 * A register that the image does not have, because the context is new or was saved by another
 * version of ghyvi, has the value that the guest's CPU wrote to it.
 */
static void load_registers(struct vgpu_workload *workload)
{
	const struct vgpu_engine *engine = workload->engine;
	u32 *list = workload->context + GHYVI_CTX_REGISTERS;
	bool valid = workload->base.job.restore && list[0] == CONTEXT_REGISTERS_HEADER;
	unsigned int i;

	BUILD_BUG_ON(GHYVI_CTX_REGISTERS + 1 + 2 * GHYVI_CONTEXT_SLOTS > GHYVI_CTX_DWORDS);
	workload->registers_new = !valid;
	list[0] = CONTEXT_REGISTERS_HEADER;
	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++) {
		u32 *pair = &list[1 + 2 * i];

		if (!valid || pair[0] != engine->slots[i]) {
			workload->registers_new = true;
			pair[0] = engine->slots[i];
			pair[1] = pair[0] ? vgpu_get(engine->vgpu, pair[0]) : 0;
		}
		workload->registers[i] = pair[1];
	}
}

/* The list as a whole: the guest has no reason to write to it at the same time. */
static void save_registers(const struct vgpu_workload *workload)
{
	const u32 *list = workload->context + GHYVI_CTX_REGISTERS;
	bool changed = workload->registers_new;
	unsigned int i;

	for (i = 0; i < GHYVI_CONTEXT_SLOTS && !changed; i++)
		changed = workload->context[ghyvi_context_value(i)] != workload->registers[i];
	if (changed)
		(void)ghyvi_gtt_ggtt_write(workload->engine->vgpu->gtt,
					   state_address(workload, GHYVI_CTX_REGISTERS), list,
					   (1 + 2 * GHYVI_CONTEXT_SLOTS) * sizeof(*list));
}

/* Beside the registers, for the same reasons. Commands in a new context have no state to add to. */
static void load_compute(struct vgpu_workload *workload)
{
	BUILD_BUG_ON(GHYVI_CTX_COMPUTE < GHYVI_CTX_REGISTERS + 1 + 2 * GHYVI_CONTEXT_SLOTS ||
		     GHYVI_CTX_COMPUTE + GHYVI_COMPUTE_DWORDS > GHYVI_CTX_DWORDS);
	if (!workload->base.job.restore)
		memset(workload->context + GHYVI_CTX_COMPUTE, 0,
		       GHYVI_COMPUTE_DWORDS * sizeof(u32));
}

static void save_compute(const struct vgpu_workload *workload)
{
	if (workload->base.job.compute)
		(void)ghyvi_gtt_ggtt_write(workload->engine->vgpu->gtt,
					   state_address(workload, GHYVI_CTX_COMPUTE),
					   workload->context + GHYVI_CTX_COMPUTE,
					   GHYVI_COMPUTE_DWORDS * sizeof(u32));
}

/*
 * The guest driver prints these registers in its hang report. An engine that runs shows its
 * position, but the tail is the core's alone: it is the last one that the guest has submitted.
 */
void vgpu_update_ring_regs(struct vgpu_workload *workload)
{
	struct vgpu_engine *engine = workload->engine;
	const u32 *context = workload->context;

	lockdep_assert_held(&engine->vgpu->lock);
	engine_set(engine, RING_HEAD, context[GHYVI_CTX_RING_HEAD]);
	engine_set(engine, RING_TAIL, workload->tail);
	engine_set(engine, RING_START, context[GHYVI_CTX_RING_START]);
	engine_set(engine, RING_CTL, context[GHYVI_CTX_RING_CTL]);
	engine_set(engine, RING_ACTHD, context[GHYVI_CTX_RING_HEAD]);
	engine_set(engine, RING_PDP0_LDW, context[GHYVI_CTX_PDP0_LDW]);
	engine_set(engine, RING_PDP0_UDW, context[GHYVI_CTX_PDP0_UDW]);
}

void vgpu_context_submission(const struct vgpu_workload *workload,
			     struct ghyvi_submission *submission)
{
	const u32 *context = workload->context;

	*submission = (struct ghyvi_submission){
		.engine = workload->engine->id,
		.root = workload->root,
		.ppgtt_mask = levels_of(workload) == 4 ? GENMASK_ULL(47, 0) : GENMASK_ULL(31, 0),
		.lrca = (u32)(workload->descriptor & DESC_LRCA),
		.ring_start = context[GHYVI_CTX_RING_START],
		.ring_bytes = ring_bytes(context[GHYVI_CTX_RING_CTL]),
		.head = context[GHYVI_CTX_RING_HEAD],
		.tail = context[GHYVI_CTX_RING_TAIL],
	};
	if (submission->engine == GHYVI_RCS) {
		submission->indirect = ghyvi_indirect_begin(context[GHYVI_CTX_INDIRECT]);
		submission->indirect_bytes =
			ghyvi_indirect_end(context[GHYVI_CTX_INDIRECT]) - submission->indirect;
	}
}

/*
 * Called after the sync, because the commands are read through the shadow, and before the job can
 * run.
 */
static int audit_workload(struct vgpu_workload *workload)
{
	struct ghyvi_submission submission;
	struct ghyvi_commands *commands;

	vgpu_context_submission(workload, &submission);
	commands = ghyvi_audit_submission(workload->engine->vgpu->audit, &submission);
	if (IS_ERR(commands))
		return (int)PTR_ERR(commands);
	workload->base.job.commands = commands;
	/* The submission was split: this workload runs a part, and the context once more. */
	if (ghyvi_commands_tail(commands) != submission.tail) {
		workload->context[GHYVI_CTX_RING_TAIL] = ghyvi_commands_tail(commands);
		workload->runs_again = true;
	}
	return 0;
}

static void init_job(struct vgpu_workload *workload)
{
	struct ghyvi_job *job = &workload->base.job;

	job->client = workload->engine->vgpu->client;
	job->lrca = (u32)(workload->descriptor & DESC_LRCA);
	job->restore = !((workload->control & CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT) &&
			 (workload->control & CTX_CTRL_RESTORE_INHIBIT_MASKED));
	job->compute = false;
	job->memcg = ghyvi_memcg_get(NULL); /* the caller charges the guest's */
}

int vgpu_context_load(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	struct ghyvi_job *job = &workload->base.job;
	const u32 *context = workload->context;
	unsigned int i;
	int err;

	lockdep_assert_held(&vgpu->lock);
	err = check_descriptor(workload);
	if (!err)
		err = read_and_sync(workload);
	if (!err)
		err = check_ring(workload);
	if (err)
		return err;
	workload->head = context[GHYVI_CTX_RING_HEAD];
	workload->tail = context[GHYVI_CTX_RING_TAIL];
	workload->loaded = true;
	if (ghyvi_vgpu_get_check(vgpu))
		ghyvi_gtt_check(vgpu->gtt, workload->root);

	blank_absent_slots(workload);
	err = vgpu_context_handle_get(workload);
	if (!err)
		err = audit_workload(workload);
	if (err)
		return err;
	workload->control = context[GHYVI_CTX_CONTROL];
	for (i = 0; i < 2 * CONTEXT_GPRS; i++)
		workload->gprs[i] = context[GHYVI_CTX_GPR + 2 * i];

	ghyvi_root_job(workload->root, job);
	init_job(workload);
	load_registers(workload);
	load_compute(workload);
	memset(job->backend, 0, vgpu->params.pgpu->ops->job_bytes);
	vgpu_update_ring_regs(workload);
	trace_ghyvi_submit(vgpu->params.reporter, job->engine, job->lrca, workload->head,
			   workload->tail);
	return 0;
}

void vgpu_context_sync(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;

	lockdep_assert_held(&vgpu->lock);
	ghyvi_gtt_sync(vgpu->gtt, workload->root);
	if (ghyvi_vgpu_get_check(vgpu))
		ghyvi_gtt_check(vgpu->gtt, workload->root);
}

bool vgpu_context_restore(struct vgpu_workload *workload)
{
	u32 *list = workload->context + GHYVI_CTX_REGISTERS;
	unsigned int i;

	lockdep_assert_held(&workload->engine->vgpu->lock);
	if (check_descriptor(workload) || check_ring(workload) || workload->head & 3 ||
	    workload->head >= ring_bytes(workload->context[GHYVI_CTX_RING_CTL]))
		return false;
	list[0] = CONTEXT_REGISTERS_HEADER;
	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++)
		list[1 + 2 * i] = workload->engine->slots[i];
	init_job(workload);
	memset(workload->base.job.backend, 0, workload->engine->vgpu->params.pgpu->ops->job_bytes);
	return true;
}

bool vgpu_context_in_commands(const struct vgpu_workload *workload)
{
	const struct ghyvi_commands *commands = workload->base.job.commands;
	const u32 *context = workload->context;
	u32 size = ring_bytes(context[GHYVI_CTX_RING_CTL]);
	u32 head = (context[GHYVI_CTX_RING_HEAD] + size - workload->head) % size;
	u32 tail = (context[GHYVI_CTX_RING_TAIL] + size - workload->head) % size;
	u32 end = (ghyvi_commands_tail(commands) + size - workload->head) % size;

	return head <= tail && tail <= end &&
	       ghyvi_commands_reach(commands, context[GHYVI_CTX_RING_HEAD]);
}

int vgpu_context_attach(struct vgpu_workload *workload)
{
	struct ghyvi_job *job = &workload->base.job;
	int err;

	lockdep_assert_held(&workload->engine->vgpu->lock);
	if (workload->root)
		return 0;
	err = get_root(workload);
	if (!err)
		err = vgpu_context_handle_get(workload);
	if (err)
		return err;
	ghyvi_root_job(workload->root, job);
	ghyvi_commands_set_root(job->commands, workload->root);
	return 0;
}

int vgpu_context_tail(struct vgpu_workload *workload, u32 *tail)
{
	int err;

	lockdep_assert_held(&workload->engine->vgpu->lock);
	err = read_state(workload, GHYVI_CTX_RING_TAIL, tail, 1);
	if (err)
		return err;
	return tail_ok(workload->context, *tail) ? 0 : -EINVAL;
}

void vgpu_context_save(struct vgpu_workload *workload)
{
	struct vgpu_engine *engine = workload->engine;
	const u32 *context = workload->context;
	unsigned int i;

	lockdep_assert_held(&engine->vgpu->lock);
	write_state(workload, GHYVI_CTX_RING_HEAD, context[GHYVI_CTX_RING_HEAD]);
	write_state(workload, GHYVI_CTX_TIMESTAMP, context[GHYVI_CTX_TIMESTAMP]);
	if (workload->control & CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT)
		write_state(workload, GHYVI_CTX_CONTROL,
			    workload->control & ~(u32)CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT);
	if (engine->vgpu->params.profile->context_has_gprs)
		for (i = 0; i < 2 * CONTEXT_GPRS; i++)
			if (context[GHYVI_CTX_GPR + 2 * i] != workload->gprs[i])
				write_state(workload, GHYVI_CTX_GPR + 2 * i,
					    context[GHYVI_CTX_GPR + 2 * i]);
	save_registers(workload);
	save_compute(workload);
	engine_set(engine, RING_CTX_TIMESTAMP, context[GHYVI_CTX_TIMESTAMP]);
	vgpu_update_ring_regs(workload);
}
