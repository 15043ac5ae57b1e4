// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler core: one run queue per vGPU and engine. At most one workload owns an engine.
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
 * pGPU ahead of its turn (stage.c).
 *
 * While a workload runs, it is charged (charge.c), and the clock monitors it (preempt.c): on behalf
 * of enqueued vGPUs it is preempted after its timeslice. If the preemption takes longer than
 * preempt_timeout_us, a work item of its vGPU cancels its job, and its owner is told that it
 * failed. The clock itself waits for nothing: it serves all engines.
 *
 * Locks: engine->lock protects run queues, the current workload, and the states of the engine's
 * workloads. run(), preempt() and the clock's arm() are called with it held; cancel(),
 * update_tail() and complete() without: other vGPUs start their workloads meanwhile. It is a
 * spinlock because guests' threads take it: one that is throttled with a mutex would keep all vGPUs
 * from starting. A backend must not call done() from inside run(): done() takes the lock.
 */
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static bool may_become(int from, int to)
{
	switch (to) {
	case WORKLOAD_IDLE:
		return from == WORKLOAD_QUEUED;
	case WORKLOAD_QUEUED:
		return from == WORKLOAD_IDLE || from == WORKLOAD_DONE;
	case WORKLOAD_RUNNING:
		return from == WORKLOAD_QUEUED;
	default:
		return from == WORKLOAD_QUEUED || from == WORKLOAD_RUNNING;
	}
}

void ghyvi_sched_set_state(struct sched_engine *engine, struct ghyvi_workload *workload, int state)
{
	lockdep_assert_held(&engine->lock);
	WARN_ON_ONCE(!may_become(workload->state, state));
	WARN_ON_ONCE((state == WORKLOAD_RUNNING) != (engine->current_workload == workload));
	WARN_ON_ONCE((state == WORKLOAD_QUEUED) == list_empty(&workload->link));
	WARN_ON_ONCE(engine->staged == workload && state != WORKLOAD_DONE);
	workload->state = state;
}

void ghyvi_sched_arm(struct sched_engine *engine, u64 at)
{
	lockdep_assert_held(&engine->lock);
	if (engine->armed == at)
		return;
	engine->armed = at;
	engine->sched->clock->arm(engine->sched->clock, engine->id, at);
}

static bool has_engine(struct sched_engine *engine, struct sched_rq *rq)
{
	return engine->current_workload && sched_rq_of(engine->current_workload) == rq;
}

void ghyvi_sched_dequeue(struct sched_engine *engine, struct sched_rq *rq)
{
	lockdep_assert_held(&engine->lock);
	if (!rq->waiting)
		return;
	rq->waiting = false;
	engine->nr_waiting--;
	if (engine->policy->dequeue)
		engine->policy->dequeue(engine, rq);
}

void ghyvi_sched_requeue(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	lockdep_assert_held(&engine->lock);
	if (rq->waiting || list_empty(&rq->queue) || has_engine(engine, rq))
		return;
	rq->waiting = true;
	engine->nr_waiting++;
	if (engine->policy->enqueue)
		engine->policy->enqueue(engine, rq, now);
}

/*
 * For how long the current workload, which leaves the engine, kept it from others. Before it began,
 * the engine was busy with other work, or the host was late. So is the host while the job waits for
 * a page.
 */
static u64 overstayed_ns(const struct sched_engine *engine, u64 now)
{
	const struct ghyvi_job *job = &engine->current_workload->job;
	u64 from = max(engine->contended_since_ns, job->begun_ns) + job->waited_ns;

	return engine->contended_since_ns && job->busy_ns && now > from ? now - from : 0;
}

void ghyvi_sched_release_engine(struct sched_engine *engine, struct ghyvi_workload *workload,
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
		ghyvi_sched_dispatch_staged(engine);
}

void ghyvi_sched_unlink(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);

	lockdep_assert_held(&engine->lock);
	list_del_init(&workload->link);
	list_del_init(&workload->order);
	if (!list_empty(&rq->queue))
		return;
	list_del_init(&rq->ready);
	ghyvi_sched_dequeue(engine, rq);
}

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	struct sched_rq *rq;
	bool woke;
	u64 now;

	workload->sched = sched;
	workload->job.done = ghyvi_sched_job_done;
	INIT_WORK(&workload->done, ghyvi_sched_complete_work);
	rq = sched_rq_of(workload);
	spin_lock(&engine->lock);
	now = ghyvi_sched_update_clock(engine);
	workload->timed_out = false;
	workload->parking = false;
	workload->queued_ns = now;
	workload->overstayed_ns = 0;
	workload->job.begun_ns = 0;
	workload->job.busy_ns = 0;
	workload->job.waited_ns = 0;
	workload->job.events = 0;
	workload->job.fault.valid = false;
	woke = list_empty(&rq->queue) && !has_engine(engine, rq);
	list_add_tail(&workload->link, &rq->queue);
	list_add_tail(&workload->order, &engine->order);
	ghyvi_sched_set_state(engine, workload, WORKLOAD_QUEUED);
	if (list_empty(&rq->ready))
		list_add_tail(&rq->ready, &engine->ready);
	if (list_empty(&rq->link))
		list_add_tail(&rq->link, &engine->rqs);
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, rq, woke, now);
	ghyvi_sched_requeue(engine, rq, now);
	ghyvi_sched_check_preempt(engine, now);
	ghyvi_sched_recall_staged(engine);
	spin_unlock(&engine->lock);
}

static void switch_to(struct sched_engine *engine, struct sched_rq *rq)
{
	struct ghyvi_reporter *from = engine->last ? engine->last->entity->reporter : NULL;

	engine->last = rq;
	if (rq->entity->stats)
		ghyvi_count(sched_stats_of(rq), switches);
	if (rq->entity->reporter)
		trace_ghyvi_switch(from, rq->entity->reporter, engine->id);
}

/* Give the engine to @workload, which is QUEUED. Caller holds engine->lock. */
static void dispatch_workload(struct sched_engine *engine, struct ghyvi_workload *workload, u64 now)
{
	struct sched_rq *rq = sched_rq_of(workload);

	ghyvi_sched_dequeue(engine, rq);
	ghyvi_sched_unlink(engine, workload);
	engine->current_workload = workload;
	ghyvi_sched_set_state(engine, workload, WORKLOAD_RUNNING);
	engine->started_ns = now;
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), wait_ns, now - workload->queued_ns);
	if (engine->last != rq)
		switch_to(engine, rq);
	if (rq->entity->reporter)
		trace_ghyvi_start(rq->entity->reporter, engine->id, now - workload->queued_ns);
	ghyvi_sched_arm(engine, GHYVI_SCHED_NEVER);
}

void ghyvi_sched_dispatch_staged(struct sched_engine *engine)
{
	struct ghyvi_workload *workload = engine->staged;
	u64 now = ghyvi_sched_update_clock(engine);

	lockdep_assert_held(&engine->lock);
	engine->staged = NULL;
	dispatch_workload(engine, workload, now);
	ghyvi_sched_update_clock(engine); /* the job may have begun before now */
	ghyvi_sched_check_preempt(engine, now);
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
	if (engine->current_workload || engine->staged || !engine->nr_waiting)
		return NULL;
	now = ghyvi_sched_update_clock(engine);
	rq = engine->policy->pick_next(engine, now, &until);
	if (!rq) {
		ghyvi_sched_arm(engine, until);
		return NULL;
	}
	workload = list_first_entry(&rq->queue, struct ghyvi_workload, link);
	dispatch_workload(engine, workload, now);
	if (sched->ops->run(sched->pgpu, &workload->job)) {
		ghyvi_sched_release_engine(engine, workload, GHYVI_JOB_ERROR);
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
			ghyvi_sched_stage_next(engine);
		spin_unlock(&engine->lock);
		if (refused)
			ghyvi_sched_complete(refused, GHYVI_JOB_ERROR);
	} while (refused);
	sched_exit(sched);
}
