// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler core: how a workload gets an engine and leaves it. There is one run queue per vGPU
 * and engine (rq.c). At most one workload *owns* an engine: it is the current one.
 *
 * DOC: life of a workload
 *
 * queue -> QUEUED -> (kick) RUNNING -> (job.done) DONE -> complete()
 *
 * Only a workload that is ready is queued: its owner has synced, audited and copied all that the
 * engine needs (@prepare of struct ghyvi_pgpu_ops). So any thread may start any workload, and to
 * start it takes no time: the backend's run() neither copies nor sleeps.
 *
 * A thread that kicks a free engine lets the policy pick a run queue. The first workload of that
 * run queue is started: it owns the engine until DONE. Each thread that releases the engine kicks
 * it again, so a kick that found the engine busy is never lost. If the policy wants the engine to
 * idle, the engine stays free and the clock kicks it later.
 *
 * complete() waits for locks that the workload's guest can hold for long; this must delay only that
 * guest. So the thread of the pGPU that calls done() passes the engine to the next workload first.
 * Then it calls complete() only if the pGPU does without the thread meanwhile (@done_may_wait).
 * Otherwise a work item of the workload does. Either kicks the engine afterwards. Work items are in
 * a workqueue of their entity: items that wait in a shared one could use up the number that it runs
 * at a time.
 *
 * If the pGPU takes two jobs per engine, the workload that is expected to run next is passed to the
 * pGPU ahead of its turn (staging).
 *
 * While a workload runs, it is charged (rq.c), and the clock monitors it (preempt.c): on behalf
 * of enqueued vGPUs it is preempted after its timeslice. If the preemption takes longer than
 * preempt_timeout_us, a work item of its vGPU cancels its job, and its owner is told that it
 * failed. The clock itself waits for nothing: it serves all engines.
 *
 * Locks: engine->lock protects run queues, the current workload, and the states of the engine's
 * workloads. run(), preempt() and the clock's arm() are called with it held; cancel(),
 * update_tail() and complete() without: other vGPUs start their workloads meanwhile. It is a
 * spinlock because guests' threads take it: one that is throttled with a mutex would keep all vGPUs
 * from starting. A backend must not call done() from inside run(): done() takes the lock.
 *
 * DOC: staging
 *
 * A pGPU that takes two jobs per engine gets the next job while the current one runs. It
 * switches to that job by itself. So the engine does not idle while the end of the current job is
 * handled.
 *
 * A staged workload is still QUEUED. Policies and accounting do not know of it. When the current
 * workload releases the engine, the staged one is dispatched, because the pGPU may have begun it
 * already. So the policy's choice is made one workload early. If an arrival changes the choice, the
 * staged job is recalled: preempt() gives a job back at once that has not begun.
 */
#include "sched_types.h"

/* ---- staging; callers hold engine->lock ---- */

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
	rq = engine->nr_enqueued ? engine->policy->peek_next(engine) : running;
	if (!rq || list_empty(&rq->queue) || (rq == running && rq->entity->knobs.cap))
		return NULL;
	return list_first_entry(&rq->queue, struct ghyvi_workload, link);
}

static void recall_staged(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;

	lockdep_assert_held(&engine->lock);
	if (engine->staged && engine->nr_enqueued && sched->ops->preempt &&
	    engine->policy->peek_next(engine) != sched_rq_of(engine->staged))
		sched->ops->preempt(sched->pgpu, &engine->staged->job);
}

/* If the pGPU refuses the job, its workload waits for its turn. */
static void stage_next(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;
	struct ghyvi_workload *workload = stage_candidate(engine);

	if (workload && !sched->ops->run(sched->pgpu, &workload->job))
		engine->staged = workload;
}

/* Make the staged workload the current one; the engine is free. */
static void dispatch_staged(struct sched_engine *engine)
{
	struct ghyvi_workload *workload = engine->staged;
	u64 now = ghyvi_sched_update_clock(engine);

	lockdep_assert_held(&engine->lock);
	engine->staged = NULL;
	ghyvi_sched_dispatch(engine, workload, now);
	ghyvi_sched_update_clock(engine); /* the job may have begun before now */
	ghyvi_sched_check_preempt(engine, now);
}

/* ---- the end of a workload: its job is done, or it never ran; its owner is told ---- */

/*
 * For how long the current workload, which leaves the engine, kept it from others. Before it began,
 * the engine was busy with other work, or the host was late. So is the host while the job waits for
 * a page.
 */
static u64 overstayed_ns(const struct sched_engine *engine, u64 now)
{
	const struct ghyvi_job *job = &engine->current_workload->job;
	u64 waited_ns = ghyvi_job_waited_ns(job, now) - engine->contended_waited_ns;
	u64 from = max(engine->contended_since_ns, job->begun_ns) + waited_ns;

	return engine->contended_since_ns && job->busy_ns && now > from ? now - from : 0;
}

/* The caller holds engine->lock, and then completes the workload. */
static void release_engine(struct sched_engine *engine, struct ghyvi_workload *workload,
			   enum ghyvi_job_status status)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 now = ghyvi_sched_update_clock(engine);
	u64 busy_ns = workload->job.busy_ns;

	lockdep_assert_held(&engine->lock);
	ghyvi_sched_settle(engine, busy_ns, now);
	workload->overstayed_ns = overstayed_ns(engine, now);
	engine->current_workload = NULL;
	ghyvi_sched_set_state(engine, workload, WORKLOAD_DONE);
	ghyvi_sched_arm(engine, GHYVI_SCHED_NEVER);
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), busy_ns, busy_ns);
	if (engine->policy->on_complete)
		engine->policy->on_complete(engine, rq, busy_ns, status == GHYVI_JOB_PREEMPTED,
					    now);
	engine->preempt_requested_ns = 0;
	engine->contended_since_ns = 0;
	ghyvi_sched_requeue(engine, rq, now);
	if (engine->staged && engine->staged->state == WORKLOAD_QUEUED)
		dispatch_staged(engine);
}

/* As soon as complete() is called, the workload may be freed or submitted again. */
static void complete_here(struct ghyvi_workload *workload)
{
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;

	workload->complete(workload, workload->status);
	ghyvi_sched_kick(sched, id);
}

static void complete_work(struct work_struct *work)
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

/* Complete @workload, which is DONE, asynchronously. The caller must kick the engine. */
static void complete_async(struct ghyvi_workload *workload, enum ghyvi_job_status status)
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
		complete_async(workload, status);
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
	complete_async(workload, status);
}

/* @done of the job of every workload. */
static void job_done(struct ghyvi_job *job, enum ghyvi_job_status status)
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
	release_engine(engine, workload, status);
	spin_unlock(&engine->lock);
	if (stopped && job->busy_ns)
		ghyvi_sched_report_preempt_timeout(engine, workload);
	complete_done(workload, status);
	sched_exit(sched);
}

/* ---- the begin of a workload ---- */

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	u64 now;

	workload->sched = sched;
	workload->job.done = job_done;
	INIT_WORK(&workload->done, complete_work);
	spin_lock(&engine->lock);
	workload->timed_out = false;
	workload->parking = false;
	workload->overstayed_ns = 0;
	workload->job.begun_ns = 0;
	workload->job.busy_ns = 0;
	workload->job.waited_ns = 0;
	workload->job.events = 0;
	workload->job.fault.valid = false;
	now = ghyvi_sched_link(engine, workload);
	ghyvi_sched_check_preempt(engine, now);
	recall_staged(engine);
	spin_unlock(&engine->lock);
}

/*
 * If the engine is free, start the workload that the policy picks. Returns it if the pGPU has
 * refused its job: the caller must complete it, and try again. Caller holds engine->lock.
 */
static struct ghyvi_workload *start_next(struct sched_engine *engine)
{
	struct ghyvi_sched *sched = engine->sched;
	struct ghyvi_workload *workload;
	u64 until = GHYVI_SCHED_NEVER;
	struct sched_rq *rq;
	u64 now;

	lockdep_assert_held(&engine->lock);
	if (engine->current_workload || engine->staged || !engine->nr_enqueued)
		return NULL;
	now = ghyvi_sched_update_clock(engine);
	rq = engine->policy->pick_next(engine, now, &until);
	if (!rq) {
		ghyvi_sched_arm(engine, until);
		return NULL;
	}
	workload = list_first_entry(&rq->queue, struct ghyvi_workload, link);
	ghyvi_sched_dispatch(engine, workload, now);
	if (sched->ops->run(sched->pgpu, &workload->job)) {
		release_engine(engine, workload, GHYVI_JOB_ERROR);
		return workload;
	}
	ghyvi_sched_check_preempt(engine, ghyvi_sched_update_clock(engine));
	return NULL;
}

void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *refused;

	atomic_inc(&sched->active_calls);
	do {
		spin_lock(&engine->lock);
		refused = start_next(engine);
		if (!refused)
			stage_next(engine);
		spin_unlock(&engine->lock);
		if (refused)
			complete_async(refused, GHYVI_JOB_ERROR);
	} while (refused);
	sched_exit(sched);
}

/* cancel() waits for the engine, so a work item calls it: the clock serves others meanwhile. */
void ghyvi_sched_timer(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	struct sched_rq *stop = NULL;

	atomic_inc(&sched->active_calls);
	spin_lock(&engine->lock);
	engine->armed = GHYVI_SCHED_NEVER;
	if (ghyvi_sched_should_stop(engine, ghyvi_sched_update_clock(engine))) {
		engine->current_workload->timed_out = true;
		stop = sched_rq_of(engine->current_workload);
		if (sched->has_workers)
			queue_work(stop->entity->workers, &stop->stop);
	}
	spin_unlock(&engine->lock);
	if (stop && !sched->has_workers)
		ghyvi_sched_stop_current(stop);
	ghyvi_sched_kick(sched, id);
	sched_exit(sched);
}
