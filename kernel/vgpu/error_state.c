// SPDX-License-Identifier: GPL-2.0-only
/*
 * The error state of a vGPU: what an engine and its workload were like when the engine stopped with
 * an error, or when the guest reset it under way. The first one is kept until it is cleared, also
 * when the vGPU gets another user; later ones are only counted. It has no data of the guest, unless
 * the administrator asks for the audited commands around the place where the engine stopped.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "vgpu_types.h"

/* Audited commands to keep, in dwords: so many before the place, and after it. */
#define COMMANDS_AROUND 64u

#define NAME(name) #name,
static const char *const register_names[] = { GHYVI_FAULT_REGISTERS(NAME) };
#undef NAME

/* What an error state keeps of the workload. */
struct error_workload {
	u64 descriptor;
	int error;
	bool loaded; /* @tail is valid */
	u32 tail;
	bool stopped; /* the engine has left it: the rest is valid */
	u32 head;
	u64 busy_ns;
	struct ghyvi_job_fault fault;
};

/* @running: the workload that a reset drops, until its engine has left it and @fault is known. */
struct vgpu_error_state {
	s64 time;
	u64 at_ns;
	enum ghyvi_engine_id engine;
	char reason[GHYVI_REPORT_BYTES];
	u32 registers[GHYVI_NR_FAULT_REGISTERS];
	u64 csb[GEN8_CSB_ENTRIES];
	u64 active[2];
	u64 pending[2];
	bool has_workload;
	struct error_workload workload;
	const struct vgpu_workload *running;
	u64 nr_submissions;
	struct vgpu_submission submissions[VGPU_SUBMISSIONS];
	bool with_commands;
	u64 commands_address;
	unsigned int nr_commands;
	u32 commands[]; /* 2 * COMMANDS_AROUND, if @with_commands */
};

void vgpu_submission_begin(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;

	lockdep_assert_held(&vgpu->lock);
	workload->submission = ++vgpu->nr_submissions;
	vgpu->submissions[workload->submission % VGPU_SUBMISSIONS] = (struct vgpu_submission){
		.at_ns = ktime_get_ns(),
		.descriptor = workload->descriptor,
		.tail = workload->tail,
		.loaded = workload->loaded,
		.engine = workload->engine->id,
	};
}

void vgpu_submission_end(struct vgpu_workload *workload, enum vgpu_submission_status status)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	u64 submission = workload->submission;

	workload->submission = 0;
	if (submission && vgpu->nr_submissions - submission < VGPU_SUBMISSIONS)
		vgpu->submissions[submission % VGPU_SUBMISSIONS].status = status;
}

void vgpu_submissions_forget(struct ghyvi_vgpu *vgpu)
{
	lockdep_assert_held(&vgpu->lock);
	memset(vgpu->submissions, 0, sizeof(vgpu->submissions));
	vgpu->nr_submissions = 0;
}

/* Is the dword at @offset of @page a copy? Of the ring's pages, parts are not. */
static bool is_copy(const struct ghyvi_commands_page *page, u64 offset)
{
	u64 pos = page->pos + offset;

	if (offset >= GHYVI_PAGE_BYTES)
		return false;
	if (page->source != GHYVI_FETCH_RING)
		return true;
	if (page->from < page->to)
		return pos >= page->from && pos < page->to;
	return pos >= page->from || pos < page->to;
}

/* Find the page of the audited commands that has @address, and the address of the page. */
static bool find_page(const struct vgpu_workload *workload, u64 address,
		      struct ghyvi_commands_page *page, u64 *page_address)
{
	struct ghyvi_commands_iter iter = { .commands = workload->base.job.commands };
	u64 ring = workload->context[GHYVI_CTX_RING_START];

	while (ghyvi_commands_iter_next(&iter, page)) {
		*page_address = page->source == GHYVI_FETCH_RING ? ring + page->pos : page->pos;
		if (is_copy(page, address - *page_address))
			return true;
	}
	return false;
}

/* Copy the audited commands around the place at which the workload stopped. */
static void copy_commands(struct vgpu_error_state *state, const struct vgpu_workload *workload)
{
	const struct ghyvi_job_fault *fault = &workload->base.job.fault;
	struct ghyvi_commands_page page;
	u64 address, from, to;

	if (!state->with_commands || !workload->base.job.commands || !fault->valid ||
	    !find_page(workload, fault->acthd & ~3ull, &page, &address))
		return;
	from = (fault->acthd & ~3ull) - address;
	for (to = from; state->nr_commands < COMMANDS_AROUND && is_copy(&page, to); to += 4)
		state->nr_commands++;
	while (state->nr_commands < 2 * COMMANDS_AROUND && from && is_copy(&page, from - 4)) {
		state->nr_commands++;
		from -= 4;
	}
	state->commands_address = address + from;
	memcpy(state->commands, page.dwords + from / 4, 4 * state->nr_commands);
}

static void keep_workload(struct vgpu_error_state *state, const struct vgpu_workload *workload)
{
	state->has_workload = true;
	state->workload = (struct error_workload){
		.descriptor = workload->descriptor,
		.error = workload->error,
		.loaded = workload->loaded,
		.tail = workload->tail,
	};
}

/* The engine has left the workload, which the backend no longer writes to. */
static void keep_position(struct vgpu_error_state *state, const struct vgpu_workload *workload)
{
	state->workload.stopped = true;
	state->workload.head = workload->context[GHYVI_CTX_RING_HEAD];
	state->workload.busy_ns = workload->base.job.busy_ns;
	state->workload.fault = workload->base.job.fault;
	copy_commands(state, workload);
}

static void keep_engine(struct vgpu_error_state *state, const struct vgpu_engine *engine)
{
	unsigned int i;

	state->engine = engine->id;
	for (i = 0; i < GHYVI_NR_FAULT_REGISTERS; i++)
		state->registers[i] = engine_get(engine, ghyvi_fault_register(i));
	for (i = 0; i < GEN8_CSB_ENTRIES; i++)
		state->csb[i] = (u64)engine_get(engine, RING_CSB + 8 * i + 4) << 32 |
				engine_get(engine, RING_CSB + 8 * i);
	memcpy(state->active, engine->active, sizeof(state->active));
	if (engine->has_pending)
		memcpy(state->pending, engine->pending, sizeof(state->pending));
}

/* A host thread may execute this: the guest pays for the memory. */
static struct vgpu_error_state *alloc_state(const struct ghyvi_vgpu *vgpu)
{
	bool with_commands = READ_ONCE(vgpu->errors_with_commands);
	struct vgpu_error_state *state;
	struct ghyvi_hv_charge charge;

	vgpu_charge(vgpu, &charge);
	state = kzalloc(sizeof(*state) + (with_commands ? 2 * COMMANDS_AROUND * sizeof(u32) : 0),
			GFP_KERNEL_ACCOUNT);
	vgpu_uncharge(vgpu, &charge);
	if (state)
		state->with_commands = with_commands;
	return state;
}

void vgpu_error_keep(struct vgpu_engine *engine, struct vgpu_workload *workload, const char *reason)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_error_state *state;

	lockdep_assert_held(&vgpu->lock);
	vgpu->nr_errors++;
	if (workload)
		vgpu_submission_end(workload,
				    reason ? VGPU_SUBMISSION_DROPPED : VGPU_SUBMISSION_FAILED);
	state = vgpu->error_state ? NULL : alloc_state(vgpu);
	/* In any case: it is not the reason of a later error. */
	ghyvi_report_stop_take(vgpu->params.reporter, engine->id, state ? state->reason : NULL);
	if (!state)
		return;
	state->time = ktime_get_real_seconds();
	state->at_ns = ktime_get_ns();
	if (reason)
		strscpy(state->reason, reason, sizeof(state->reason));
	keep_engine(state, engine);
	if (workload)
		keep_workload(state, workload);
	if (workload && !reason)
		keep_position(state, workload);
	state->nr_submissions = vgpu->nr_submissions;
	memcpy(state->submissions, vgpu->submissions, sizeof(state->submissions));
	WRITE_ONCE(vgpu->error_state, state); /* ghyvi_vgpu_has_error() reads it without the lock */
}

void vgpu_error_reset(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	bool first = !vgpu->error_state;

	if (engine->halted || !engine->nr_active)
		return; /* kept before, or no error */
	vgpu_error_keep(engine, engine->workload, "the guest reset an engine that had work");
	if (first && vgpu->error_state)
		vgpu->error_state->running = engine->workload;
}

void vgpu_error_stopped(const struct vgpu_workload *workload)
{
	struct vgpu_error_state *state = workload->engine->vgpu->error_state;

	lockdep_assert_held(&workload->engine->vgpu->lock);
	if (!state || !state->running || state->running != workload)
		return;
	state->running = NULL;
	keep_position(state, workload);
}

static void show_workload(const struct error_workload *workload, struct seq_file *m)
{
	seq_printf(m, "descriptor: 0x%016llx\n", (unsigned long long)workload->descriptor);
	seq_printf(m, "lrca: 0x%08x\n", (u32)(workload->descriptor & DESC_LRCA));
	if (workload->error)
		seq_printf(m, "error: %d\n", workload->error);
	if (workload->loaded)
		seq_printf(m, "tail: 0x%08x\n", workload->tail);
	if (workload->loaded && workload->stopped) {
		seq_printf(m, "head: 0x%08x\n", workload->head);
		seq_printf(m, "busy_us: %llu\n",
			   (unsigned long long)div_u64(workload->busy_ns, NSEC_PER_USEC));
	}
	if (workload->fault.valid) {
		seq_printf(m, "fault_address: 0x%012llx\n",
			   (unsigned long long)workload->fault.acthd);
		seq_printf(m, "fault_header: 0x%08x\n", workload->fault.ipehr);
		seq_printf(m, "fault_instdone: 0x%08x\n", workload->fault.instdone);
		seq_printf(m, "fault_ring_head: 0x%08x\n", workload->fault.ring_head);
	}
}

static const char *const statuses[] = {
	[VGPU_SUBMISSION_QUEUED] = "queued",	 [VGPU_SUBMISSION_EXTENDED] = "extended",
	[VGPU_SUBMISSION_COMPLETE] = "complete", [VGPU_SUBMISSION_FAILED] = "failed",
	[VGPU_SUBMISSION_DROPPED] = "dropped",
};

/* The last one first. */
static void show_submissions(const struct vgpu_error_state *state, struct seq_file *m)
{
	u64 last = state->nr_submissions;
	u64 n = min_t(u64, last, VGPU_SUBMISSIONS);

	for (; n; n--, last--) {
		const struct vgpu_submission *submission =
			&state->submissions[last % VGPU_SUBMISSIONS];

		seq_printf(m, "submission: %s -%llu us, descriptor 0x%016llx ",
			   ghyvi_engine_name(submission->engine),
			   (unsigned long long)div_u64(state->at_ns - submission->at_ns,
						       NSEC_PER_USEC),
			   (unsigned long long)submission->descriptor);
		if (submission->loaded)
			seq_printf(m, "tail 0x%08x ", submission->tail);
		seq_printf(m, "%s\n", statuses[submission->status]);
	}
}

static void show_registers(const u32 *registers, struct seq_file *m)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(register_names) != GHYVI_NR_FAULT_REGISTERS);
	for (i = 0; i < GHYVI_NR_FAULT_REGISTERS; i++)
		seq_printf(m, "%s: 0x%08x\n", register_names[i], registers[i]);
}

static void show_state(const struct vgpu_error_state *state, struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "time: %lld\n", (long long)state->time);
	seq_printf(m, "engine: %s\n", ghyvi_engine_name(state->engine));
	seq_printf(m, "reason: %s\n", state->reason[0] ? state->reason : "not reported");
	if (state->has_workload) {
		seq_puts(m, "\nworkload\n");
		show_workload(&state->workload, m);
	}
	seq_puts(m, "\nregisters of the engine, as the guest sees them\n");
	show_registers(state->registers, m);
	for (i = 0; i < GEN8_CSB_ENTRIES; i++)
		seq_printf(m, "CSB_%u: 0x%016llx\n", i, (unsigned long long)state->csb[i]);
	for (i = 0; i < ARRAY_SIZE(state->active); i++)
		seq_printf(m, "ELSP_ACTIVE_%u: 0x%016llx\n", i,
			   (unsigned long long)state->active[i]);
	for (i = 0; i < ARRAY_SIZE(state->pending); i++)
		seq_printf(m, "ELSP_PENDING_%u: 0x%016llx\n", i,
			   (unsigned long long)state->pending[i]);
	if (state->workload.fault.valid && state->workload.fault.has_registers) {
		seq_puts(m, "\nregisters of the hardware\n");
		show_registers(state->workload.fault.registers, m);
	}
	seq_puts(m, "\nlast submissions of the vGPU\n");
	show_submissions(state, m);
	if (state->nr_commands)
		seq_puts(m, "\naudited commands\n");
	for (i = 0; i < state->nr_commands; i++)
		seq_printf(m, "0x%012llx: 0x%08x\n",
			   (unsigned long long)state->commands_address + 4 * i, state->commands[i]);
}

void ghyvi_vgpu_error_show(struct ghyvi_vgpu *vgpu, struct seq_file *m)
{
	mutex_lock(&vgpu->lock);
	if (vgpu->nr_errors)
		seq_printf(m, "errors: %llu\n", (unsigned long long)vgpu->nr_errors);
	if (vgpu->error_state)
		show_state(vgpu->error_state, m);
	else
		seq_puts(m, "no error state\n");
	mutex_unlock(&vgpu->lock);
}

void ghyvi_vgpu_error_clear(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_error_state *state;

	mutex_lock(&vgpu->lock);
	state = vgpu->error_state;
	WRITE_ONCE(vgpu->error_state, NULL);
	vgpu->nr_errors = 0;
	mutex_unlock(&vgpu->lock);
	kfree(state);
}

bool ghyvi_vgpu_has_error(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->error_state);
}

bool *ghyvi_vgpu_errors_with_commands(struct ghyvi_vgpu *vgpu)
{
	return &vgpu->errors_with_commands;
}
