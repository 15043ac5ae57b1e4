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

bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool taken_back, passed;

	/*
	 * With engine->start held, no workload is between the check for WORKLOAD_CANCELLED and
	 * run().
	 */
	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	taken_back = withdraw_workload(engine, workload, &passed);
	spin_unlock(&engine->lock);
	mutex_unlock(&engine->start);

	/*
	 * The job may be done by now. The backend ignores jobs that it does not know, and the
	 * workload stays valid until its owner can continue in complete().
	 */
	if (passed)
		sched->ops->cancel(sched->pgpu, &workload->job);
	return taken_back;
}

bool ghyvi_sched_park(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool taken_back, passed;

	/* As in ghyvi_sched_cancel(). A request before run() would have no effect. */
	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	WRITE_ONCE(workload->parking, true);
	taken_back = withdraw_workload(engine, workload, &passed);
	if (passed && sched->ops->preempt)
		sched->ops->preempt(sched->pgpu, &workload->job);
	spin_unlock(&engine->lock);
	mutex_unlock(&engine->start);
	return taken_back;
}

int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	int err = -ESTALE;
	bool passed;
	int state;

	/* As in ghyvi_sched_cancel(): if the job is passed, run() has returned. */
	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	state = workload->state;
	passed = state == WORKLOAD_RUNNING || sched_is_staged(engine, workload);
	if (!passed && (state == WORKLOAD_QUEUED || state == WORKLOAD_PREPARING)) {
		workload->job.context[GHYVI_CTX_RING_TAIL] = tail;
		err = 0;
	}
	spin_unlock(&engine->lock);
	mutex_unlock(&engine->start);

	/*
	 * The thread is the guest's, and the backend may have to copy commands: no other workload
	 * waits for that. The job may be done by now, as in ghyvi_sched_cancel().
	 */
	if (passed)
		err = sched->ops->update_tail(sched->pgpu, &workload->job, tail);
	return err;
}
