// SPDX-License-Identifier: GPL-2.0-only
/*
 * Staging: a pGPU that takes two jobs per engine gets the next job while the current one runs. It
 * switches to that job by itself. So the engine does not idle while the end of the current job is
 * handled.
 *
 * A staged workload is still QUEUED. Policies and accounting do not know of it. When the current
 * workload releases the engine, the staged one is dispatched, because the pGPU may have begun it
 * already. So the policy's choice is made one workload early. If an arrival changes the choice, the
 * staged job is recalled: preempt() gives a job back at once that has not begun.
 *
 * Only threads of the host stage workloads. The one that prepares a workload ahead kicks the engine
 * afterwards, and so does each one that releases the engine or gets a recalled job back.
 */
#include "sched_types.h"

/*
 * Returns the workload that can be staged now, or NULL. A vGPU with a cap may have to pause between
 * two of its workloads, so it is not staged behind itself. Caller holds engine->lock.
 */
static struct ghyvi_workload *stage_candidate(struct sched_engine *engine)
{
	struct ghyvi_workload *current_workload = engine->current_workload;
	struct ghyvi_workload *next;
	struct sched_rq *rq, *running;

	lockdep_assert_held(&engine->lock);
	if (!engine->sched->stages || engine->staged || engine->stopping || !current_workload ||
	    current_workload->state != WORKLOAD_RUNNING)
		return NULL;
	running = sched_rq_of(current_workload);
	rq = engine->nr_waiting ? engine->policy->peek_next(engine) : running;
	if (!rq || list_empty(&rq->queue) || (rq == running && rq->entity->knobs.cap))
		return NULL;
	next = list_first_entry(&rq->queue, struct ghyvi_workload, link);
	return next->prepared ? next : NULL;
}

void ghyvi_sched_recall_staged(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;

	lockdep_assert_held(&engine->lock);
	if (engine->staged && engine->nr_waiting && sched->ops->preempt &&
	    engine->policy->peek_next(engine) != sched_rq_of(engine->staged))
		sched->ops->preempt(sched->pgpu, &engine->staged->job);
}

void ghyvi_sched_unstage(struct sched_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	engine->staged = NULL;
	engine->staged_passed = false;
}

/*
 * @workload is staged, but run() was not called for it yet: call it. Returns false if the pGPU
 * refused the job and the engine is free. Sets @cancelled if the caller must complete the workload:
 * it was cancelled meanwhile, and the pGPU refused it. Locks as for ghyvi_sched_run().
 */
static bool pass_staged(struct sched_engine *engine, struct ghyvi_workload *workload,
			bool *cancelled)
{
	bool busy = true;
	int err;

	lockdep_assert_held(&engine->lock);
	err = ghyvi_sched_run(engine, workload);
	/*
	 * If the lock was dropped, only holders of engine->start stage, so this is the same
	 * submission of the workload.
	 */
	if (engine->staged == workload) {
		if (err) {
			ghyvi_sched_unstage(engine);
			*cancelled = workload->state == WORKLOAD_CANCELLED;
			if (*cancelled)
				workload->state = WORKLOAD_DONE;
			busy = engine->current_workload;
		} else {
			engine->staged_passed = true;
			if (!engine->current_workload)
				ghyvi_sched_dispatch_staged(engine);
			else
				ghyvi_sched_recall_staged(engine); /* had no effect before run() */
		}
	}
	return busy;
}

bool ghyvi_sched_stage_next(struct sched_engine *engine, bool host)
{
	struct ghyvi_workload *workload;
	bool cancelled = false;
	bool kick = false;

	if (!engine->sched->stages || (engine->sched->has_workers && !host))
		return false;
	ghyvi_sched_lock_start(engine);
	workload = stage_candidate(engine);
	if (workload) {
		engine->staged = workload;
		kick = !pass_staged(engine, workload, &cancelled);
	}
	ghyvi_sched_unlock_start(engine);
	if (cancelled)
		ghyvi_sched_complete(workload, GHYVI_JOB_CANCELLED);
	return kick;
}
