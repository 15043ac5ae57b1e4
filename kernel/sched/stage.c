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
 */
#include "sched_types.h"

/*
 * Returns the workload that can be staged now, or NULL. A vGPU with a cap may have to pause between
 * two of its workloads, so it is not staged behind itself. Caller holds engine->lock.
 */
static struct ghyvi_workload *stage_candidate(struct sched_engine *engine)
{
	struct ghyvi_workload *current_workload = engine->current_workload;
	struct sched_rq *rq, *running;

	lockdep_assert_held(&engine->lock);
	if (!engine->sched->stages || engine->staged || !current_workload ||
	    current_workload->timed_out)
		return NULL;
	running = sched_rq_of(current_workload);
	rq = engine->nr_waiting ? engine->policy->peek_next(engine) : running;
	if (!rq || list_empty(&rq->queue) || (rq == running && rq->entity->knobs.cap))
		return NULL;
	return list_first_entry(&rq->queue, struct ghyvi_workload, link);
}

void ghyvi_sched_recall_staged(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;

	lockdep_assert_held(&engine->lock);
	if (engine->staged && engine->nr_waiting && sched->ops->preempt &&
	    engine->policy->peek_next(engine) != sched_rq_of(engine->staged))
		sched->ops->preempt(sched->pgpu, &engine->staged->job);
}

/* If the pGPU refuses the job, its workload waits for its turn. */
void ghyvi_sched_stage_next(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;
	struct ghyvi_workload *workload = stage_candidate(engine);

	if (workload && !sched->ops->run(sched->pgpu, &workload->job))
		engine->staged = workload;
}
