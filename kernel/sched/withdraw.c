// SPDX-License-Identifier: GPL-2.0-only
/* What the owner of a submitted workload may still do to it: cancel, park, move the ring tail. */
#include "sched_types.h"

/*
 * Withdraw @workload unless its job was passed to the pGPU. Sets @passed if it was, and returns
 * true if the workload belongs to its owner again. A staged one that is parked stays QUEUED: if it
 * has begun it will own the engine, and must yield in time as any other.
 */
static bool withdraw_workload(struct sched_engine *engine, struct ghyvi_workload *workload,
			      bool park, bool *passed)
{
	lockdep_assert_held(&engine->lock);
	*passed = workload->state == WORKLOAD_RUNNING || engine->staged == workload;
	if (workload->state != WORKLOAD_QUEUED || (*passed && park))
		return false;
	ghyvi_sched_unlink(engine, workload);
	/* A staged job stays staged until it is done. */
	ghyvi_sched_set_state(engine, workload, *passed ? WORKLOAD_DONE : WORKLOAD_IDLE);
	return !*passed;
}

bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool taken_back, passed;

	spin_lock(&engine->lock);
	taken_back = withdraw_workload(engine, workload, false, &passed);
	spin_unlock(&engine->lock);
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

	spin_lock(&engine->lock);
	WRITE_ONCE(workload->parking, true);
	taken_back = withdraw_workload(engine, workload, true, &passed);
	if (passed && sched->ops->preempt)
		sched->ops->preempt(sched->pgpu, &workload->job);
	spin_unlock(&engine->lock);
	return taken_back;
}

int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	bool queued, passed;

	spin_lock(&engine->lock);
	queued = workload->state == WORKLOAD_QUEUED;
	/* A backend that prepares jobs has to prepare what is added, too. */
	passed = workload->state == WORKLOAD_RUNNING ||
		 (queued && (engine->staged == workload || sched->ops->prepare));
	if (queued && !passed)
		workload->job.context[GHYVI_CTX_RING_TAIL] = tail;
	spin_unlock(&engine->lock);
	if (passed)
		return sched->ops->update_tail(sched->pgpu, &workload->job, tail);
	return queued ? 0 : -ESTALE;
}
