// SPDX-License-Identifier: GPL-2.0-only
/* What the owner of a submitted workload may still do to it: cancel, park, move the ring tail. */
#include "sched_types.h"

/*
 * Withdraw @workload unless its job was passed to the pGPU. Sets @passed if it was, and returns
 * true if the workload belongs to its owner again.
 */
static bool withdraw_workload(struct sched_engine *engine, struct ghyvi_workload *workload,
			      bool *passed)
{
	lockdep_assert_held(&engine->lock);
	*passed = false;
	switch (workload->state) {
	case WORKLOAD_QUEUED:
		ghyvi_sched_drop(engine, workload);
		if (engine->staged == workload) {
			workload->state = WORKLOAD_CANCELLED; /* staged until its job is done */
			*passed = true;
			return false;
		}
		workload->state = workload->preparing ? WORKLOAD_CANCELLED : WORKLOAD_IDLE;
		return !workload->preparing;
	case WORKLOAD_PREPARING:
		workload->state = WORKLOAD_CANCELLED;
		break;
	case WORKLOAD_CANCELLED:
		*passed = engine->staged == workload; /* parked before */
		break;
	case WORKLOAD_RUNNING:
		*passed = true;
		break;
	}
	return false;
}

/*
 * Wait until the pGPU knows the job of @workload, which is passed to it or about to be.
 *
 * The thread may be a guest's, and be throttled. So it does not take engine->start, with which
 * others start their workloads, and does not wait for theirs.
 *
 * The job may be done then. The backend ignores jobs that it does not know, and the workload stays
 * valid until its owner can continue in complete().
 */
static void wait_for_run(struct sched_engine *engine, const struct ghyvi_workload *workload)
{
	spin_lock(&engine->lock);
	while (engine->in_run == workload) {
		spin_unlock(&engine->lock);
		wait_event(engine->ran, READ_ONCE(engine->in_run) != workload);
		spin_lock(&engine->lock);
	}
	spin_unlock(&engine->lock);
}

bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool taken_back, passed;

	spin_lock(&engine->lock);
	taken_back = withdraw_workload(engine, workload, &passed);
	spin_unlock(&engine->lock);
	if (!passed)
		return taken_back;
	wait_for_run(engine, workload);
	sched->ops->cancel(sched->pgpu, &workload->job);
	return taken_back;
}

bool ghyvi_sched_park(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool taken_back, passed;

	spin_lock(&engine->lock);
	WRITE_ONCE(workload->parking, true);
	taken_back = withdraw_workload(engine, workload, &passed);
	spin_unlock(&engine->lock);
	if (!passed || !sched->ops->preempt)
		return taken_back;
	wait_for_run(engine, workload); /* a request before run() would have no effect */
	spin_lock(&engine->lock);
	sched->ops->preempt(sched->pgpu, &workload->job);
	spin_unlock(&engine->lock);
	return taken_back;
}

int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	int err = -ESTALE;
	bool passed;
	u64 began;
	int state;

	spin_lock(&engine->lock);
	state = workload->state;
	passed = state == WORKLOAD_RUNNING || sched_is_staged(engine, workload);
	if (!passed && (state == WORKLOAD_QUEUED || state == WORKLOAD_PREPARING)) {
		workload->job.context[GHYVI_CTX_RING_TAIL] = tail;
		err = 0;
	}
	spin_unlock(&engine->lock);
	if (!passed)
		return err;
	/*
	 * The thread is the guest's, and the backend may have to copy commands: no other workload
	 * waits for that.
	 */
	wait_for_run(engine, workload);
	began = sched_now(sched);
	err = sched->ops->update_tail(sched->pgpu, &workload->job, tail);
	if (sched->run_copies) {
		spin_lock(&engine->lock);
		ghyvi_sched_charge_preparation(engine, sched_rq_of(workload), began);
		spin_unlock(&engine->lock);
	}
	return err;
}
