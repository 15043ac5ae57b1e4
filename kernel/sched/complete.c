// SPDX-License-Identifier: GPL-2.0-only
/* The end of a workload: its job is done, or it never ran; its owner is told. */
#include "sched_types.h"

/* As soon as complete() is called, the workload may be freed or submitted again. */
static void complete_here(struct ghyvi_workload *workload)
{
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;

	workload->complete(workload, workload->status);
	ghyvi_sched_kick(sched, id);
}

void ghyvi_sched_complete_work(struct work_struct *work)
{
	complete_here(container_of(work, struct ghyvi_workload, done));
}

static void set_status(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	if (status == GHYVI_JOB_CANCELLED && READ_ONCE(workload->parking) && !workload->job.busy_ns)
		status = GHYVI_JOB_PREEMPTED;
	workload->status = status;
}

/* A worker completes @workload. The job's events do not wait for it. */
static void queue_completion(struct ghyvi_workload *workload)
{
	struct ghyvi_job *job = &workload->job;

	if (job->events)
		job->event(job, job->events);
	job->events = 0;
	queue_work(sched_rq_of(workload)->entity->workers, &workload->done);
}

void ghyvi_sched_complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	struct ghyvi_sched *sched = workload->sched;

	set_status(workload, status);
	if (sched->has_workers)
		queue_completion(workload);
	else
		workload->complete(workload, workload->status);
}

/*
 * In done(): complete @workload, which is DONE and has released the engine, and kick the engine.
 * The engine gets its next workload before this thread waits for a guest.
 */
static void complete_done(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;

	if (!sched->has_workers || !sched->ops->done_may_wait) {
		ghyvi_sched_complete(workload, status);
		ghyvi_sched_kick(sched, id);
		return;
	}
	ghyvi_sched_kick(sched, id);
	set_status(workload, status);
	if (sched->ops->done_may_wait(sched->pgpu, id))
		complete_here(workload);
	else
		queue_completion(workload);
}

/*
 * The pGPU has given back the job of @workload, which does not own the engine: it was recalled or
 * cancelled while it was staged. Called with engine->lock held, returns with it released.
 */
static void staged_done(struct sched_engine *engine, struct ghyvi_workload *workload,
			enum ghyvi_job_status status) __releases(&engine->lock)
{
	u64 busy_ns = workload->job.busy_ns;

	lockdep_assert_held(&engine->lock);
	if (engine->staged == workload)
		engine->staged = NULL;
	if (workload->state == WORKLOAD_QUEUED && status == GHYVI_JOB_PREEMPTED && !busy_ns &&
	    !workload->parking) {
		spin_unlock(&engine->lock);
		return;
	}
	if (workload->state == WORKLOAD_QUEUED) {
		ghyvi_sched_unlink(engine, workload);
		ghyvi_sched_set_state(engine, workload, WORKLOAD_DONE);
	} else if (status == GHYVI_JOB_PREEMPTED && !busy_ns) {
		status = GHYVI_JOB_CANCELLED; /* recalled, then cancelled */
	}
	if (busy_ns)
		ghyvi_sched_charge_run(engine, sched_rq_of(workload), busy_ns,
				       ghyvi_sched_update_clock(engine));
	spin_unlock(&engine->lock);
	ghyvi_sched_complete(workload, status);
}

void ghyvi_sched_job_done(struct ghyvi_job *job, enum ghyvi_job_status status)
{
	struct ghyvi_workload *workload = container_of(job, struct ghyvi_workload, job);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = job->engine;
	struct sched_engine *engine = &sched->engines[id];
	bool stopped;

	atomic_inc(&sched->active_calls);
	spin_lock(&engine->lock);
	while (engine->stopping) {
		spin_unlock(&engine->lock);
		wait_event(engine->stopped, !READ_ONCE(engine->stopping));
		spin_lock(&engine->lock);
	}
	if (engine->current_workload != workload) {
		staged_done(engine, workload, status);
		ghyvi_sched_kick(sched, id);
		sched_exit(sched);
		return;
	}
	stopped = workload->timed_out && status == GHYVI_JOB_CANCELLED;
	/*
	 * If the job never began, the engine was busy with an earlier job. That is no fault of this
	 * workload: it is reported as preempted, so that its owner submits it again.
	 */
	if (stopped)
		status = job->busy_ns ? GHYVI_JOB_ERROR : GHYVI_JOB_PREEMPTED;
	ghyvi_sched_release_engine(engine, workload, status);
	spin_unlock(&engine->lock);
	if (stopped && job->busy_ns)
		ghyvi_sched_report_preempt_timeout(engine, workload);
	complete_done(workload, status);
	sched_exit(sched);
}
