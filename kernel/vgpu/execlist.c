// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execlists: the submit port with its two elements, and the context status events that report their
 * progress to the guest.
 *
 * DOC: model and limits
 *
 * A submission is *pending* from the write of its fourth dword until it is *promoted* (one event).
 * From then on its elements are *active*. Only the first active element is prepared (synced,
 * audited, and copied by the backend) and queued to the scheduler. Each element ends with one
 * complete event; then the next one is prepared and queued. A pending submission is
 * promoted as soon as
 *   - no element is active (event IDLE_ACTIVE), or
 *   - its element 0 is the context of the first active element (LITE_RESTORE). The ring tail moves
 *     forward; a second active element is dropped without an event, as with every promotion.
 *
 * Otherwise the submission stays pending: a submission of the guest never preempts another one. The
 * guest driver does not request preemption on a virtual GPU: it has no reason to without
 * semaphores, and it disables arbitration around each batch. It replaces only a context whose
 * completion it has seen. In every interleaving the guest sees exactly one promotion per submission
 * and one completion per active element, in an order that hardware could have produced.
 *
 * The scheduler does preempt a workload for another vGPU. The guest sees this only as a slow
 * engine. Its context stays active, the host's copy holds the position at which to resume, and the
 * guest's image is not written.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <ghyvi/cpu_time.h>
#include <ghyvi/memcg.h>
#include <trace/events/ghyvi.h>
#include "vgpu_types.h"

static u32 context_id(u64 element)
{
	return upper_32_bits(element);
}

static struct ghyvi_engine_stats *stats_of(struct vgpu_engine *engine)
{
	return ghyvi_engine_stats(engine->vgpu->params.stats, engine->id);
}

static void update_queue_depth(struct vgpu_engine *engine)
{
	unsigned int pending = engine->has_pending ? 1 + !!engine->pending[1] : 0;
	unsigned int depth = engine->vgpu->failsafe ? 0 : engine->nr_active + pending;

	atomic64_set(&stats_of(engine)->queued_now, depth);
}

/* The guest driver blames the context in the high dword of the status for a hang. */
void vgpu_update_port_regs(struct vgpu_engine *engine)
{
	u32 mode = engine_get(engine, RING_MI_MODE) & ~(u32)MI_MODE_IDLE;
	u32 pointer = engine_get(engine, RING_CSB_POINTER) & ~(u32)CSB_POINTER_WRITE;

	lockdep_assert_held(&engine->vgpu->lock);
	if (!engine->nr_active || mode & MI_MODE_STOP)
		mode |= MI_MODE_IDLE;
	engine_set(engine, RING_MI_MODE, mode);
	engine_set(engine, RING_EXECLIST_STATUS_HI,
		   engine->nr_active ? context_id(engine->active[0]) : 0);
	engine_set(engine, RING_CSB_POINTER, pointer | engine->csb);
}

/*
 * Write one context status entry. The guest must see the entry, the write pointer and the interrupt
 * in this order.
 */
static void csb_emit(struct vgpu_engine *engine, u32 status, u64 element)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	u64 hwsp = engine_get(engine, RING_HWS_PGA);
	u64 entry = (u64)context_id(element) << 32 | status;
	u32 slot = (engine->csb + 1) % GEN8_CSB_ENTRIES;
	int err;

	engine->csb = slot;
	engine_set(engine, RING_CSB + 8 * slot, lower_32_bits(entry));
	engine_set(engine, RING_CSB + 8 * slot + 4, upper_32_bits(entry));
	vgpu_update_port_regs(engine);

	err = ghyvi_gtt_ggtt_write(vgpu->gtt, hwsp + HWSP_CSB + 8 * slot, &entry, sizeof(entry));
	smp_wmb(); /* entry before pointer */
	if (!err)
		err = ghyvi_gtt_ggtt_write(vgpu->gtt, hwsp + HWSP_CSB_WRITE, &slot, sizeof(slot));
	if (err)
		ghyvi_report(vgpu->params.reporter,
			     "%s: status page 0x%llx is not mapped, event lost",
			     ghyvi_engine_name(engine->id), (unsigned long long)hwsp);
	engine->events |= GHYVI_EVENT_CONTEXT_SWITCH;
}

/*
 * Raise the events of a completion, and of the promotion that follows it, together: the guest gets
 * one interrupt for them.
 */
static void raise_events(struct vgpu_engine *engine)
{
	lockdep_assert_held(&engine->vgpu->lock);
	if (!engine->events)
		return;
	smp_wmb(); /* pointer of the status buffer before interrupt */
	vgpu_irq_raise(engine, engine->events);
	engine->events = 0;
}

static void job_event(struct ghyvi_job *job, u32 events)
{
	struct vgpu_workload *workload = container_of(job, struct vgpu_workload, base.job);

	vgpu_irq_raise(workload->engine, events);
}

static void report_error(struct vgpu_engine *engine)
{
	engine_set(engine, RING_ESR, RING_ERROR_INSTRUCTION);
	if (engine_get(engine, RING_EMR) & RING_ERROR_INSTRUCTION)
		return;
	engine_set(engine, RING_EIR, engine_get(engine, RING_EIR) | RING_ERROR_INSTRUCTION);
	smp_wmb(); /* cause before interrupt */
	vgpu_irq_raise(engine, GHYVI_EVENT_CS_ERROR);
}

void vgpu_engine_halt(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	lockdep_assert_held(&engine->vgpu->lock);
	engine->halted = true;
	ghyvi_count(engine->vgpu->params.stats, engine_errors);
	report_error(engine);
	vgpu_error_keep(engine, workload, NULL);
}

void vgpu_work_get(struct ghyvi_vgpu *vgpu)
{
	atomic_inc(&vgpu->outstanding);
}

/* The vGPU may be freed as soon as the count is 0; then only its address is used. */
void vgpu_work_put(struct ghyvi_vgpu *vgpu)
{
	if (atomic_dec_and_test(&vgpu->outstanding))
		wake_up_var(&vgpu->outstanding);
}

void vgpu_wait_returned(struct ghyvi_vgpu *vgpu)
{
	/* Pairs with vgpu_work_put(): all stores of the last thread are visible afterwards. */
	wait_var_event(&vgpu->outstanding, !atomic_read_acquire(&vgpu->outstanding));
}

bool vgpu_wait_returned_timeout(struct ghyvi_vgpu *vgpu, u32 us)
{
	return wait_var_event_timeout(&vgpu->outstanding, !atomic_read_acquire(&vgpu->outstanding),
				      usecs_to_jiffies(us) + 1);
}

static void workload_complete(struct ghyvi_workload *base, enum ghyvi_job_status status);

static struct vgpu_workload *workload_alloc(struct vgpu_engine *engine)
{
	struct vgpu_workload *workload = engine->spare;

	lockdep_assert_held(&engine->vgpu->lock);
	engine->spare = NULL;
	if (workload)
		return workload;
	workload =
		kzalloc(sizeof(*workload) + engine->vgpu->params.pgpu->ops->job_bytes, GFP_KERNEL);
	if (!workload)
		return NULL;
	workload->context = (u32 *)get_zeroed_page(GFP_KERNEL);
	if (!workload->context) {
		kfree(workload);
		return NULL;
	}
	workload->engine = engine;
	workload->base.job.context = workload->context;
	workload->base.job.backend = workload->backend;
	return workload;
}

/* Release the commands and the root of the last run, and reset the flags. */
static void workload_clear(struct vgpu_workload *workload)
{
	const struct ghyvi_pgpu_ops *ops = workload->engine->vgpu->params.pgpu->ops;

	if (ops->job_free)
		ops->job_free(&workload->base.job);
	ghyvi_memcg_put(workload->base.job.memcg);
	workload->base.job.memcg = NULL;
	ghyvi_commands_free(workload->base.job.commands);
	workload->base.job.commands = NULL;
	vgpu_context_handle_put(workload);
	if (workload->root)
		ghyvi_gtt_put_root(workload->root);
	workload->root = NULL;
	workload->runs_again = false;
	workload->parked = false;
	workload->abandoned = false;
	workload->error = 0;
	workload->loaded = false;
	vgpu_submission_end(workload, VGPU_SUBMISSION_DROPPED);
	workload->base.job.fault.valid = false;
	workload->base.overstayed_ns = 0;
}

void vgpu_workload_free(struct vgpu_workload *workload)
{
	workload_clear(workload);
	free_page((unsigned long)workload->context);
	kfree(workload);
}

struct vgpu_workload *vgpu_engine_workload(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = workload_alloc(engine);

	if (!workload)
		return NULL;
	workload->descriptor = engine->active[0];
	workload->base.owner = vgpu->sched_entity;
	workload->base.complete = workload_complete;
	workload->base.job.engine = engine->id;
	workload->base.job.event = job_event;
	workload->base.job.budget_ns = vgpu->containment.budget_ms * NSEC_PER_MSEC;
	workload->base.job.budget_minsn = vgpu->containment.budget_minsn;
	return workload;
}

/* Keep the object as the engine's spare, or free it. */
static void workload_recycle(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	workload_clear(workload);
	if (engine->spare)
		vgpu_workload_free(workload);
	else
		engine->spare = workload;
}

/* @worker_ns: of threads of the backend. */
static void charge_preparation(struct vgpu_engine *engine, u64 ns, u64 worker_ns)
{
	lockdep_assert_held(&engine->vgpu->lock);
	engine->charged_ns += ns;
	ghyvi_sched_charge_preparation(engine->vgpu->sched_entity, engine->id, ns + worker_ns);
}

/* What the backend has made for a workload costs time once more when it is given up. */
static void workload_unprepare(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	const struct ghyvi_vgpu_params *params = &engine->vgpu->params;
	struct ghyvi_cpu_time time;

	if (!params->pgpu->ops->unprepare || !workload->root)
		return;
	ghyvi_cpu_time_begin(&time);
	params->pgpu->ops->unprepare(params->pgpu, &workload->base.job);
	charge_preparation(engine, ghyvi_cpu_time_end(&time), 0);
}

/* The backend, too, forgets a workload that does not run (any more). */
static void workload_drop(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	vgpu_error_stopped(workload);
	workload_unprepare(engine, workload);
	workload_recycle(engine, workload);
}

/* Drop the engine's workload. On return no job of the engine accesses guest memory. */
static void abandon_workload(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = engine->workload;

	engine->workload = NULL;
	if (!workload)
		return;
	if (workload->parked) {
		workload_drop(engine, workload);
		return;
	}
	workload->abandoned = true;
	if (ghyvi_sched_cancel(vgpu->params.sched, &workload->base)) {
		workload_drop(engine, workload);
		vgpu_work_put(vgpu);
		return;
	}
	engine->abandoned = true;
}

void vgpu_engine_hold(struct vgpu_engine *engine)
{
	lockdep_assert_held(&engine->vgpu->lock);
	abandon_workload(engine);
	if (engine->nr_active)
		engine->halted = true;
	update_queue_depth(engine);
}

/* Enter failsafe state if there is a reason: @why is not NULL. */
static void enter_failsafe_if(struct ghyvi_vgpu *vgpu, const char *why)
{
	unsigned int i;

	if (!why)
		return;
	WRITE_ONCE(vgpu->failsafe, true);
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_engine_hold(&vgpu->engines[i]);
	vgpu_mirror_show_all(vgpu); /* an engine that still ran showed its position */
	/*
	 * No engine executes a job of this vGPU any more. Unset the address of the GGTT table
	 * first; otherwise ghyvi_gtt_reset() leaves its pages relaxed, and the next sync shadows
	 * them again.
	 */
	ghyvi_gtt_set_ggtt_gfn(vgpu->gtt, GHYVI_INVALID_GFN);
	ghyvi_gtt_reset(vgpu->gtt);
	ghyvi_count(vgpu->params.stats, failsafes);
	ghyvi_report(vgpu->params.reporter,
		     "failsafe: %s; restart the VM, or write 1 to reset and reload its driver",
		     why);
	vgpu_event(vgpu); /* the event of the violation may have been sent before the count */
}

/* The engine's workload has failed, by its own fault or for want of memory. */
static void workload_fail(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	engine->workload = NULL;
	vgpu_engine_halt(engine, workload);
	enter_failsafe_if(engine->vgpu, vgpu_violation(workload));
}

/*
 * The backend copies what it must, and the workload is queued. The caller must make sure that the
 * scheduler is kicked after vgpu->lock was dropped.
 */
static int prepare_and_queue(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	const struct ghyvi_pgpu_ops *ops = vgpu->params.pgpu->ops;
	int err;

	WARN_ON_ONCE(workload->engine->workload != workload || workload->parked);
	err = ops->prepare ? ops->prepare(vgpu->params.pgpu, &workload->base.job) : 0;
	if (err)
		return err;
	vgpu_work_get(vgpu);
	ghyvi_sched_queue(vgpu->params.sched, &workload->base);
	return 0;
}

/*
 * What preparing a workload costs, memory and CPU time, is charged to the guest, whichever thread
 * does it.
 */
struct preparation {
	struct ghyvi_hv_charge charge;
	struct ghyvi_cpu_time time;
};

static void preparation_begin(struct vgpu_engine *engine, struct preparation *preparation)
{
	lockdep_assert_held(&engine->vgpu->lock);
	vgpu_charge(engine->vgpu, &preparation->charge);
	ghyvi_cpu_time_begin(&preparation->time);
}

static void preparation_end(struct vgpu_engine *engine, struct preparation *preparation,
			    u64 worker_ns)
{
	u64 ns = ghyvi_cpu_time_end(&preparation->time);

	vgpu_uncharge(engine->vgpu, &preparation->charge);
	charge_preparation(engine, ns, worker_ns);
}

/* Load the first active element and queue it. Returns false if it was complete already. */
static bool execlist_submit(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = vgpu_engine_workload(engine);
	struct preparation preparation;
	bool empty = false;

	if (!workload) {
		ghyvi_report_stop(vgpu->params.reporter, engine->id, "%s: no memory for a workload",
				  ghyvi_engine_name(engine->id));
		vgpu_engine_halt(engine, NULL);
		return true;
	}
	engine->workload = workload;
	preparation_begin(engine, &preparation);
	workload->error = vgpu_context_load(workload);
	vgpu_submission_begin(workload);
	if (!workload->error) {
		empty = workload->head == workload->tail;
		if (!empty)
			workload->error = prepare_and_queue(workload);
	}
	preparation_end(engine, &preparation, 0);
	if (empty) {
		engine->workload = NULL;
		vgpu_submission_end(workload, VGPU_SUBMISSION_COMPLETE);
	} else if (workload->error) {
		workload_fail(engine, workload);
	}
	if (empty || workload->error)
		workload_drop(engine, workload);
	return !empty;
}

/* The guest has moved the tail of the engine's workload to @tail. */
static void move_tail(struct vgpu_workload *workload, u32 tail)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;

	if (ghyvi_audit_extend(workload->base.job.commands, tail) ||
	    ghyvi_sched_update_tail(vgpu->params.sched, &workload->base, tail))
		workload->runs_again = true;
	workload->tail = tail;
	vgpu_submission_end(workload, VGPU_SUBMISSION_EXTENDED);
	vgpu_submission_begin(workload);
}

/*
 * Try to merge the pending submission into the workload. On success it will run up to the tail that
 * the guest has set.
 */
static bool extend_workload(struct vgpu_engine *engine, struct vgpu_workload *workload)
{
	u32 tail;

	/*
	 * As in read_and_sync(): read the tail before the sync that serves the requests up to it.
	 */
	if (vgpu_context_tail(workload, &tail) || vgpu_context_attach(workload))
		return false;
	vgpu_context_sync(workload);
	if (tail == workload->tail)
		return true;
	/*
	 * The guest requests a reload because it moved the tail back, so this is no lite restore.
	 */
	if (engine->pending[0] & CTX_DESC_FORCE_RESTORE)
		return false;
	move_tail(workload, tail);
	engine_set(engine, RING_TAIL, tail);
	return true;
}

/* Try to merge the pending submission into the first active element. */
static bool lite_restore(struct vgpu_engine *engine)
{
	struct preparation preparation;
	bool merged;

	if ((engine->pending[0] ^ engine->active[0]) & DESC_SAME_CONTEXT)
		return false;
	/* Not loaded yet: vgpu_context_load() will read the new tail. */
	if (!engine->workload)
		return true;
	preparation_begin(engine, &preparation);
	merged = extend_workload(engine, engine->workload);
	preparation_end(engine, &preparation, engine->workload->base.job.worker_ns);
	engine->workload->base.job.worker_ns = 0;
	return merged;
}

static void execlist_promote(struct vgpu_engine *engine, u32 status)
{
	memcpy(engine->active, engine->pending, sizeof(engine->active));
	engine->nr_active = engine->active[1] & GEN8_CTX_VALID ? 2 : 1;
	engine->has_pending = false;
	csb_emit(engine, status, engine->active[0]);
}

static bool submissions_blocked(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->resetting || vgpu->paused || vgpu->failsafe;
}

static void promote_pending(struct vgpu_engine *engine)
{
	if (!engine->has_pending)
		return;
	if (!engine->nr_active) {
		execlist_promote(engine, GEN8_CTX_STATUS_IDLE_ACTIVE);
	} else if (lite_restore(engine)) {
		ghyvi_count(engine->vgpu->params.stats, lite_restores);
		execlist_promote(engine, GEN8_CTX_STATUS_PREEMPTED | GEN8_CTX_STATUS_LITE_RESTORE);
	}
}

/* Remove the first active element, which is complete. */
static void execlist_retire(struct vgpu_engine *engine)
{
	u64 element = engine->active[0];
	bool last = engine->nr_active == 1;

	ghyvi_count(engine->vgpu->params.stats, workloads);
	engine->active[0] = engine->active[1];
	engine->active[1] = 0;
	engine->nr_active--;
	csb_emit(engine,
		 GEN8_CTX_STATUS_COMPLETE |
			 (last ? GEN8_CTX_STATUS_ACTIVE_IDLE : GEN8_CTX_STATUS_ELEMENT_SWITCH),
		 element);
}

/*
 * Promote and submit as far as possible. Caller holds vgpu->lock, and kicks the scheduler after
 * dropping it.
 */
static void execlist_advance(struct vgpu_engine *engine)
{
	bool submitted = false;

	lockdep_assert_held(&engine->vgpu->lock);
	while (!submitted && !engine->halted && !submissions_blocked(engine->vgpu)) {
		promote_pending(engine);
		/* The guest need not wait for the preparation to see what has completed. */
		raise_events(engine);
		/*
		 * An abandoned workload is about to be returned. The backend may have its context
		 * until then.
		 */
		if (!engine->nr_active || engine->workload || engine->abandoned)
			break;
		submitted = execlist_submit(engine);
		if (!submitted)
			execlist_retire(engine);
	}
	raise_events(engine);
	update_queue_depth(engine);
}

/* Queue a preempted workload again. It keeps its loaded state. */
static void requeue_preempted(struct vgpu_workload *workload)
{
	struct vgpu_engine *engine = workload->engine;
	struct preparation preparation;
	int err;

	vgpu_update_ring_regs(workload);
	preparation_begin(engine, &preparation);
	err = vgpu_context_attach(workload);
	if (!err) {
		vgpu_context_sync(workload);
		err = prepare_and_queue(workload);
	}
	preparation_end(engine, &preparation, 0);
	if (!err)
		return;
	workload->error = err;
	workload_fail(engine, workload);
	workload_drop(engine, workload);
}

/* The vGPU is paused: keep a workload that was withdrawn or preempted. */
static void park_workload(struct vgpu_workload *workload)
{
	workload->parked = true;
	vgpu_update_ring_regs(workload);
}

/* A reset, or failsafe state, drops a preempted workload; a pause keeps it. */
static bool parks_workloads(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->paused && !vgpu->resetting && !vgpu->failsafe;
}

/*
 * The workload may have failed, or delayed others, before a reset dropped it. What the reset of an
 * administrator drops is not held against the guest. Returns why the vGPU must enter failsafe
 * state, or NULL.
 */
static const char *account_abandoned(struct vgpu_workload *workload, enum ghyvi_job_status status)
{
	const struct ghyvi_vgpu *vgpu = workload->engine->vgpu;

	if (vgpu->failsafe || vgpu->forgetting)
		return NULL;
	return status == GHYVI_JOB_ERROR ? vgpu_violation(workload) : vgpu_overstay(workload);
}

static void write_results(struct vgpu_workload *workload)
{
	struct vgpu_engine *engine = workload->engine;

	vgpu_context_save(workload);
	vgpu_submission_end(workload, VGPU_SUBMISSION_COMPLETE);
	if (workload->runs_again) /* to reach a newer tail */
		ghyvi_count(engine->vgpu->params.stats, workloads);
	else
		execlist_retire(engine);
}

/* Show in the engine's registers where it stopped the workload. */
static void show_fault(struct vgpu_workload *workload)
{
	const struct ghyvi_job_fault *fault = &workload->base.job.fault;
	struct vgpu_engine *engine = workload->engine;

	lockdep_assert_held(&engine->vgpu->lock);
	if (!fault->valid) {
		engine_set(engine, RING_HEAD, workload->context[GHYVI_CTX_RING_HEAD]);
		return;
	}
	engine_set(engine, RING_HEAD, fault->ring_head);
	engine_set(engine, RING_ACTHD, lower_32_bits(fault->acthd));
	engine_set(engine, RING_ACTHD_UDW, upper_32_bits(fault->acthd));
	engine_set(engine, RING_IPEHR, fault->ipehr);
	engine_set(engine, RING_INSTDONE, fault->instdone);
}

/* Caller holds vgpu->lock. */
static void complete_workload(struct vgpu_workload *workload, enum ghyvi_job_status status)
{
	struct vgpu_engine *engine = workload->engine;
	struct ghyvi_vgpu *vgpu = engine->vgpu;

	WARN_ON_ONCE(workload->parked || workload->abandoned != engine->abandoned ||
		     workload->abandoned == (engine->workload == workload));
	engine->events |= workload->base.job.events;
	if (workload->abandoned) {
		enter_failsafe_if(vgpu, account_abandoned(workload, status));
		ghyvi_report_stop_take(vgpu->params.reporter, engine->id, NULL);
		engine->abandoned = false;
		workload_drop(engine, workload);
		execlist_advance(engine);
		return;
	}
	trace_ghyvi_complete(vgpu->params.reporter, engine->id, workload->base.job.lrca, status,
			     workload->base.job.busy_ns);
	if (status == GHYVI_JOB_PREEMPTED) {
		if (workload->base.job.busy_ns)
			ghyvi_count(stats_of(engine), preemptions);
		engine->workload = NULL; /* failsafe state, which may begin, must not abandon it */
		enter_failsafe_if(vgpu, vgpu_overstay(workload));
		engine->workload = workload;
		if (parks_workloads(vgpu)) {
			park_workload(workload);
			return;
		}
		if (!submissions_blocked(vgpu)) {
			requeue_preempted(workload);
			return;
		}
	}
	engine->workload = NULL;
	if (status == GHYVI_JOB_PREEMPTED) {
		/* A reset is in progress, or failsafe state has begun: the guest sees no event. */
		engine->events = 0;
		workload_drop(engine, workload);
		return;
	}
	if (status == GHYVI_JOB_COMPLETE) {
		write_results(workload);
		enter_failsafe_if(vgpu, vgpu_overstay(workload));
	} else {
		show_fault(workload);
		/* The pGPU has refused a job that did not begin. That is no fault of the guest. */
		if (!workload->base.job.busy_ns)
			workload->error = -EAGAIN;
		workload_fail(engine, workload);
	}
	workload_drop(engine, workload);
	execlist_advance(engine);
}

/*
 * A completion writes some words to guest memory, less work than to charge it. But first pages may
 * have to be pinned, and tables that the guest has freed to be found. So it is charged when so much
 * has come together.
 */
#define UNPAID_NS (100 * NSEC_PER_USEC)

/* @charged_ns: the part of @ns that is charged already. */
static void charge_rest(struct vgpu_engine *engine, u64 ns, u64 charged_ns)
{
	if (ns > charged_ns)
		engine->unpaid_ns += ns - charged_ns;
	if (engine->unpaid_ns < UNPAID_NS)
		return;
	charge_preparation(engine, engine->unpaid_ns, 0);
	engine->unpaid_ns = 0;
}

/*
 * The scheduler kicks the engine after this callback, so workloads that execlist_advance() or
 * requeue_preempted() queue need no kick here.
 */
static void workload_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct vgpu_workload *workload = container_of(base, struct vgpu_workload, base);
	struct vgpu_engine *engine = workload->engine;
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct ghyvi_hv_charge memory;
	struct ghyvi_cpu_time time;
	u64 charged_ns;

	vgpu_charge(vgpu, &memory);
	mutex_lock(&vgpu->lock);
	ghyvi_cpu_time_begin(&time);
	charged_ns = engine->charged_ns;
	complete_workload(workload, status);
	raise_events(engine);
	charge_rest(engine, ghyvi_cpu_time_end(&time), engine->charged_ns - charged_ns);
	mutex_unlock(&vgpu->lock);
	vgpu_uncharge(vgpu, &memory);
	vgpu_work_put(vgpu);
}

static void elsp_latch(struct vgpu_engine *engine)
{
	u64 element0 = (u64)engine->elsp[2] << 32 | engine->elsp[3];
	u64 element1 = (u64)engine->elsp[0] << 32 | engine->elsp[1];
	struct ghyvi_reporter *reporter = engine->vgpu->params.reporter;

	ghyvi_count(stats_of(engine), submissions);
	if (!(element0 & GEN8_CTX_VALID)) {
		ghyvi_report(reporter, "%s: submission without a valid element 0 ignored",
			     ghyvi_engine_name(engine->id));
	} else if (engine->has_pending) {
		/* With two pending submissions, one would never get its promotion event. */
		ghyvi_report(reporter, "%s: submission ignored, the previous one is still pending",
			     ghyvi_engine_name(engine->id));
	} else {
		/*
		 * While the vGPU refuses work it stays pending; vgpu_engine_release() promotes it.
		 */
		engine->pending[0] = element0;
		engine->pending[1] = element1 & GEN8_CTX_VALID ? element1 : 0;
		engine->has_pending = true;
	}
}

void vgpu_elsp_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	struct vgpu_engine *engine = vgpu_engine_at(vgpu, offset);
	bool latched;

	mutex_lock(&vgpu->lock);
	engine->elsp[engine->elsp_count++] = value;
	latched = engine->elsp_count == ARRAY_SIZE(engine->elsp);
	if (latched) {
		engine->elsp_count = 0;
		elsp_latch(engine);
		execlist_advance(engine);
	}
	mutex_unlock(&vgpu->lock);

	if (latched)
		ghyvi_sched_kick(vgpu->params.sched, engine->id);
}

void vgpu_csb_pointer_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	struct vgpu_engine *engine = vgpu_engine_at(vgpu, offset);

	mutex_lock(&vgpu->lock);
	value = vgpu_masked((vgpu_get(vgpu, offset) & ~(u32)CSB_POINTER_WRITE) | engine->csb,
			    value);
	engine->csb = min_t(u32, value & CSB_POINTER_WRITE, CSB_RESET_POINTER);
	vgpu_set(vgpu, offset, (value & ~(u32)CSB_POINTER_WRITE) | engine->csb);
	mutex_unlock(&vgpu->lock);
}

void vgpu_engine_park(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = engine->workload;

	lockdep_assert_held(&vgpu->lock);
	if (workload && !workload->parked &&
	    ghyvi_sched_park(vgpu->params.sched, &workload->base)) {
		park_workload(workload);
		vgpu_work_put(vgpu);
	}
}

void vgpu_engine_stop(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = engine->workload;

	lockdep_assert_held(&vgpu->lock);
	if (!workload || workload->parked)
		return;
	ghyvi_report_stop(vgpu->params.reporter, engine->id,
			  "%s: workload stopped: it did not yield in time when the vGPU was paused",
			  ghyvi_engine_name(engine->id));
	/* The completion halts the engine, as after a preemption that timed out. */
	if (ghyvi_sched_cancel(vgpu->params.sched, &workload->base)) {
		park_workload(workload);
		vgpu_work_put(vgpu);
	}
}

void vgpu_engine_unpark(struct vgpu_engine *engine)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_workload *workload = engine->workload;

	lockdep_assert_held(&vgpu->lock);
	if (workload && workload->parked) {
		workload->parked = false;
		requeue_preempted(workload);
	}
	execlist_advance(engine);
}

void vgpu_engine_release(struct vgpu_engine *engine)
{
	lockdep_assert_held(&engine->vgpu->lock);
	if (engine->halted)
		report_error(engine);
	execlist_advance(engine);
}

void vgpu_engine_reset(struct vgpu_engine *engine)
{
	lockdep_assert_held(&engine->vgpu->lock);
	abandon_workload(engine);
	ghyvi_report_stop_take(engine->vgpu->params.reporter, engine->id, NULL);
	engine->elsp_count = 0;
	engine->nr_active = 0;
	engine->has_pending = false;
	engine->halted = false;
	/* All of it is saved, also what is not valid. The next user must not see it. */
	memset(engine->elsp, 0, sizeof(engine->elsp));
	memset(engine->active, 0, sizeof(engine->active));
	memset(engine->pending, 0, sizeof(engine->pending));
	update_queue_depth(engine);
	engine_set(engine, RING_EIR, 0);
	engine_set(engine, RING_ESR, 0);
	engine->csb = CSB_RESET_POINTER;
	engine_set(engine, RING_CSB_POINTER, CSB_RESET_POINTER << CSB_POINTER_READ_SHIFT);
	vgpu_update_port_regs(engine);
}
