// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler core: one run queue per vGPU and engine. At most one workload owns an engine.
 *
 * DOC: life of a workload
 *
 * queue -> QUEUED -> (kick) PREPARING -> RUNNING -> (job.done) DONE -> complete()
 *
 * A thread that kicks a free engine lets the policy pick a run queue. The first workload of that
 * run queue is dispatched: it owns the engine until DONE. Each thread that releases the engine
 * kicks it again, so a kick that found the engine busy is never lost. If the policy wants the
 * engine to idle, the engine stays free and the clock kicks it later.
 *
 * prepare() pins memory and waits for locks of the workload's guest, possibly for long. Its callers
 * are a submitting thread of the same guest, the workload's own work item, and the work item that
 * completed a workload of the same vGPU. Threads of other guests do not call it, because they may
 * be killed or throttled meanwhile. Nor do threads that vGPUs share: the clock thread, engine
 * threads, work items of other vGPUs. All of these pass the workload to its work item. For the same
 * reason a thread of one guest does not start a workload of another guest, even if it is prepared.
 *
 * Work items are in a workqueue of their entity: items that wait in a shared one could use up the
 * number that it runs at a time.
 *
 * The backend's run() may have to copy the job's commands (@run_copies). The engine waits for that,
 * and so does a thread that withdraws the job. So no guest's thread calls such a run(), not even
 * for its own workload: after prepare() it passes the workload to its work item.
 *
 * complete() waits for locks that the workload's guest can hold for long; this must delay only that
 * guest. So the thread of the pGPU that calls done() passes the engine to the next workload first.
 * Then it calls complete() only if the pGPU does without the thread meanwhile (@done_may_wait).
 * Otherwise a second work item of the workload does. Either kicks the engine afterwards.
 *
 * While an engine is busy, the workload that the policy is expected to pick next is prepared ahead
 * of its turn (QUEUED and @preparing). If it is dispatched before prepare() returns, the thread
 * that prepares it also starts it.
 *
 * If the pGPU takes two jobs per engine, that workload is also passed to the pGPU ahead of its turn
 * (stage.c).
 *
 * A workload that was dispatched keeps the engine for a limited time before it starts if other
 * vGPUs are enqueued: the thread that prepares and starts it may be its guest's, and get no time on
 * a CPU. Then the clock takes the engine back (ghyvi_sched_revoke_late()): the workload is QUEUED
 * again, first in its run queue, and @late. A run queue whose first workload is late is not
 * enqueued in the policy. When the thread finds that out, after prepare() or when it is about to
 * call run(), the run queue is treated like one that just woke.
 *
 * While a workload runs, it is charged (charge.c), and the clock monitors it (preempt.c): on behalf
 * of enqueued vGPUs it is preempted after its timeslice. If the preemption takes longer than
 * preempt_timeout_us, its job is cancelled and its owner is told that it failed.
 *
 * Locks, outermost first: engine->start (held while a run() that copies is called; taken only by
 * threads of the host, which may call it), engine->lock (run queues, current workload, states of
 * the engine's workloads: the step from "not cancelled" to RUNNING is atomic). Neither is held
 * across prepare() or complete(). A run() that does not copy is called with engine->lock held, also
 * by a guest's thread: one that is throttled with a mutex would keep all vGPUs from starting. A
 * backend must not call done() from inside run(): done() takes engine->lock, and may have to wait
 * for a thread that waits for engine->start. cancel() and update_tail() are called without either:
 * other vGPUs start their workloads meanwhile. Their callers wait for the end of a run() that
 * copies for their own workload (@in_run), and may be a guest's, so they take no mutex for that.
 * preempt() and the clock's arm() are called with engine->lock held.
 */
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static void preparation_work(struct work_struct *work);

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
	if (rq->waiting || !sched_is_ready(rq) || has_engine(engine, rq))
		return;
	rq->waiting = true;
	engine->nr_waiting++;
	if (engine->policy->enqueue)
		engine->policy->enqueue(engine, rq, now);
}

void ghyvi_sched_release_engine(struct sched_engine *engine, struct ghyvi_workload *workload,
				enum ghyvi_job_status status)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 now = ghyvi_sched_update_clock(engine);
	u64 busy_ns = 0;

	lockdep_assert_held(&engine->lock);
	ghyvi_sched_charge_run(engine, workload);
	if (workload->state == WORKLOAD_RUNNING)
		busy_ns = workload->job.busy_ns;
	ghyvi_sched_settle(engine, busy_ns, now);
	workload->state = WORKLOAD_DONE;
	engine->current_workload = NULL;
	ghyvi_sched_arm(engine, GHYVI_SCHED_NEVER);
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), busy_ns, busy_ns);
	if (engine->policy->on_complete)
		engine->policy->on_complete(engine, rq, busy_ns, status == GHYVI_JOB_PREEMPTED,
					    now);
	workload->overstayed_ns = engine->contended_since_ns ? now - engine->contended_since_ns : 0;
	engine->preempt_requested_ns = 0;
	engine->contended_since_ns = 0;
	ghyvi_sched_requeue(engine, rq, now);
	if (engine->staged_passed && sched_is_staged(engine, engine->staged))
		ghyvi_sched_dispatch_staged(engine);
}

void ghyvi_sched_revoke_late(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;
	struct sched_rq *rq;

	lockdep_assert_held(&engine->lock);
	if (!workload || !workload->preparing || !engine->nr_waiting ||
	    now < ghyvi_sched_late_at(engine))
		return;
	if (workload->state == WORKLOAD_CANCELLED) {
		ghyvi_sched_release_engine(engine, workload, GHYVI_JOB_CANCELLED);
		workload->state = WORKLOAD_CANCELLED;
		return;
	}
	rq = sched_rq_of(workload);
	workload->late = true;
	workload->queued_ns = now;
	list_add(&workload->link, &rq->queue);
	list_add(&workload->order, &engine->order);
	if (list_empty(&rq->ready))
		list_add_tail(&rq->ready, &engine->ready);
	ghyvi_sched_release_engine(engine, workload, GHYVI_JOB_PREEMPTED);
	workload->state = WORKLOAD_QUEUED;
}

static void unqueue_workload(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);

	list_del_init(&workload->link);
	list_del_init(&workload->order);
	if (!list_empty(&rq->queue))
		return;
	list_del_init(&rq->ready);
	ghyvi_sched_dequeue(engine, rq);
}

void ghyvi_sched_drop(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	lockdep_assert_held(&engine->lock);
	unqueue_workload(engine, workload);
	if (!workload->late)
		return;
	/* The run queue was not enqueued because its first workload was late. */
	workload->late = false;
	ghyvi_sched_requeue(engine, sched_rq_of(workload), sched_now(engine->sched));
}

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = sched_engine_of(sched, workload);
	struct sched_rq *rq;
	bool woke;
	u64 now;

	workload->sched = sched;
	workload->job.done = ghyvi_sched_job_done;
	INIT_WORK(&workload->preparation, preparation_work);
	INIT_WORK(&workload->done, ghyvi_sched_complete_work);
	rq = sched_rq_of(workload);
	spin_lock(&engine->lock);
	now = ghyvi_sched_update_clock(engine);
	workload->state = WORKLOAD_QUEUED;
	workload->preparing = false;
	workload->prepared = false;
	workload->late = false;
	workload->timed_out = false;
	workload->parking = false;
	workload->queued_ns = now;
	workload->overstayed_ns = 0;
	workload->job.begun_ns = 0;
	workload->job.busy_ns = 0;
	workload->job.events = 0;
	workload->job.fault.valid = false;
	woke = list_empty(&rq->queue) && !has_engine(engine, rq);
	list_add_tail(&workload->link, &rq->queue);
	list_add_tail(&workload->order, &engine->order);
	if (list_empty(&rq->ready))
		list_add_tail(&rq->ready, &engine->ready);
	if (list_empty(&rq->link))
		list_add_tail(&rq->link, &engine->rqs);
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, rq, woke, now);
	ghyvi_sched_requeue(engine, rq, now);
	ghyvi_sched_check_preempt(engine, now);
	ghyvi_sched_recall_staged(engine);
	ghyvi_sched_look_ahead(engine);
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

/* Give the engine to @workload, which is QUEUED. */
static void dispatch_workload(struct sched_engine *engine, struct ghyvi_workload *workload, u64 now)
{
	struct sched_rq *rq = sched_rq_of(workload);

	ghyvi_sched_dequeue(engine, rq);
	unqueue_workload(engine, workload);
	workload->state = WORKLOAD_PREPARING;
	engine->current_workload = workload;
	engine->given_ns = now;
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), wait_ns, now - workload->queued_ns);
	if (engine->last != rq)
		switch_to(engine, rq);
	ghyvi_sched_arm(engine, GHYVI_SCHED_NEVER);
}

static bool may_run_here(const struct ghyvi_sched *sched, bool host)
{
	return host || !sched->run_copies || !sched->has_workers;
}

/*
 * Decide which thread prepares and starts @workload, which was just dispatched. Returns true if the
 * calling thread must do that, false if another thread does. @own, @host: as for
 * ghyvi_sched_kick_as(). Caller holds engine->lock.
 */
static bool take_charge(struct sched_engine *engine, struct ghyvi_workload *workload,
			const struct sched_rq *own, bool host, u64 now)
{
	bool under_way = workload->preparing;

	lockdep_assert_held(&engine->lock);
	workload->preparing = true;
	if (!engine->sched->has_workers)
		return true;
	ghyvi_sched_check_preempt(engine, now);
	if (under_way)
		return false;
	if (workload->prepared && !may_run_here(engine->sched, host))
		own = NULL;
	if (own == sched_rq_of(workload) || (host && workload->prepared))
		return true;
	sched_queue_work(workload, &workload->preparation);
	return false;
}

/*
 * Dispatch the next workload if the engine is free. Returns the workload if the calling thread must
 * prepare and start it. Returns NULL if nothing was dispatched: no workload is queued, the engine
 * is busy, or it has to idle. Also if another thread prepares and starts the workload.
 */
static struct ghyvi_workload *take_next(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
					const struct sched_rq *own, bool host)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload = NULL;
	struct sched_rq *rq;
	u64 until = GHYVI_SCHED_NEVER;
	u64 now;

	spin_lock(&engine->lock);
	if (!engine->current_workload && !engine->staged && engine->nr_waiting) {
		now = ghyvi_sched_update_clock(engine);
		rq = engine->policy->pick_next(engine, now, &until);
		if (rq) {
			workload = list_first_entry(&rq->queue, struct ghyvi_workload, link);
			dispatch_workload(engine, workload, now);
		} else {
			ghyvi_sched_arm(engine, until);
		}
		if (workload && !take_charge(engine, workload, own, host, now))
			workload = NULL;
	}
	spin_unlock(&engine->lock);
	return workload;
}

static void trace_start(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct ghyvi_reporter *reporter = sched_rq_of(workload)->entity->reporter;

	if (reporter)
		trace_ghyvi_start(reporter, engine->id, engine->started_ns - workload->queued_ns);
}

void ghyvi_sched_dispatch_staged(struct sched_engine *engine)
{
	struct ghyvi_workload *workload = engine->staged;
	u64 now = ghyvi_sched_update_clock(engine);

	lockdep_assert_held(&engine->lock);
	ghyvi_sched_unstage(engine);
	dispatch_workload(engine, workload, now);
	workload->state = WORKLOAD_RUNNING;
	engine->started_ns = now;
	trace_start(engine, workload);
	ghyvi_sched_update_clock(engine); /* the job may have begun before now */
	ghyvi_sched_check_preempt(engine, now);
	ghyvi_sched_look_ahead(engine);
}

void ghyvi_sched_lock_start(struct sched_engine *engine) __acquires(&engine->lock)
{
	if (engine->sched->run_copies)
		mutex_lock(&engine->start);
	spin_lock(&engine->lock);
}

void ghyvi_sched_unlock_start(struct sched_engine *engine) __releases(&engine->lock)
{
	spin_unlock(&engine->lock);
	if (engine->sched->run_copies)
		mutex_unlock(&engine->start);
}

/* As ghyvi_sched_run(), for a run() that copies. */
static int run_and_copy(struct sched_engine *engine, struct ghyvi_workload *workload)
	__must_hold(&engine->lock)
{
	struct ghyvi_sched *sched = engine->sched;
	int err;

	lockdep_assert_held(&engine->start);
	lockdep_assert_held(&engine->lock);
	WRITE_ONCE(engine->in_run, workload);
	engine->run_from_ns = sched_now(sched);
	spin_unlock(&engine->lock);
	err = sched->ops->run(sched->pgpu, &workload->job);
	spin_lock(&engine->lock);
	if (!err)
		ghyvi_sched_charge_run(engine, workload);
	WRITE_ONCE(engine->in_run, NULL);
	engine->run_from_ns = 0;
	wake_up_all(&engine->ran);
	return err;
}

int ghyvi_sched_run(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct ghyvi_sched *sched = engine->sched;

	lockdep_assert_held(&engine->lock);
	if (sched->run_copies)
		return run_and_copy(engine, workload);
	return sched->ops->run(sched->pgpu, &workload->job);
}

/*
 * Start a prepared workload. Returns true if it was started; it must not be accessed any more,
 * because it may have completed already. Otherwise it does not own the engine. If *@late, it lost
 * the engine before the call, and the caller must call prepared_ahead(). If not, the engine is
 * released, and the caller must complete the workload with *@status.
 */
static bool start_workload(struct ghyvi_sched *sched, struct sched_engine *engine,
			   struct ghyvi_workload *workload, enum ghyvi_job_status *status,
			   bool *late)
{
	bool started = false;
	bool withdrawn;

	ghyvi_sched_lock_start(engine);
	*late = engine->current_workload != workload;
	if (*late) {
		ghyvi_sched_unlock_start(engine);
		return false;
	}
	workload->preparing = false;
	withdrawn = workload->state == WORKLOAD_CANCELLED;
	*status = withdrawn ? GHYVI_JOB_CANCELLED : GHYVI_JOB_ERROR;
	if (!withdrawn) {
		workload->state = WORKLOAD_RUNNING;
		engine->started_ns = sched_now(sched);
		trace_start(engine, workload);
		started = !ghyvi_sched_run(engine, workload);
	}
	if (!started) {
		if (!withdrawn)
			workload->state = WORKLOAD_PREPARING; /* no GPU time to charge */
		ghyvi_sched_release_engine(engine, workload, *status);
	} else {
		/* A preemption request before run() had no effect; repeat it. */
		if (engine->current_workload == workload)
			engine->preempt_requested_ns = engine->contended_since_ns = 0;
		ghyvi_sched_check_preempt(engine, ghyvi_sched_update_clock(engine));
		ghyvi_sched_look_ahead(engine);
	}
	ghyvi_sched_unlock_start(engine);
	return started;
}

/*
 * Call prepare() and charge its duration like GPU time, whether a thread of the guest or of the
 * host runs it. The duration depends on what the guest submits, and the engine may idle meanwhile.
 */
static int prepare(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 began = sched_now(engine->sched);
	int err = workload->prepare(workload);

	spin_lock(&engine->lock);
	ghyvi_sched_charge_preparation(engine, rq, began);
	spin_unlock(&engine->lock);
	return err;
}

/* A late workload is prepared now: enqueue its vGPU again. Caller holds engine->lock. */
static void late_is_ready(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 now = ghyvi_sched_update_clock(engine);

	lockdep_assert_held(&engine->lock);
	workload->late = false;
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, rq, true, now);
	ghyvi_sched_requeue(engine, rq, now);
	ghyvi_sched_check_preempt(engine, now);
	ghyvi_sched_recall_staged(engine);
}

/*
 * prepare() returned @err for a workload that does not own the engine. Called with engine->lock
 * held, returns with it released.
 */
static void prepared_ahead(struct sched_engine *engine, struct ghyvi_workload *workload, int err)
	__releases(&engine->lock)
{
	enum ghyvi_job_status status = GHYVI_JOB_CANCELLED;

	lockdep_assert_held(&engine->lock);
	workload->preparing = false;
	if (workload->state == WORKLOAD_QUEUED && !err) {
		workload->prepared = true;
		if (workload->late)
			late_is_ready(engine, workload);
		spin_unlock(&engine->lock);
		return;
	}
	if (workload->state == WORKLOAD_QUEUED) {
		ghyvi_sched_drop(engine, workload);
		status = GHYVI_JOB_ERROR;
	}
	workload->state = WORKLOAD_DONE;
	spin_unlock(&engine->lock);
	ghyvi_sched_complete(workload, status);
}

/*
 * Called by the thread that has the engine on behalf of @workload after prepare() returned @err:
 * start it, or complete it with an error. Returns true if it was started, false if the engine was
 * released and the caller must kick it.
 */
static bool start_prepared(struct ghyvi_sched *sched, struct sched_engine *engine,
			   struct ghyvi_workload *workload, int err)
{
	enum ghyvi_job_status status;
	bool late = false;

	if (err) {
		spin_lock(&engine->lock);
		status = workload->state == WORKLOAD_CANCELLED ? GHYVI_JOB_CANCELLED :
								 GHYVI_JOB_ERROR;
		ghyvi_sched_release_engine(engine, workload, status);
		spin_unlock(&engine->lock);
	} else if (start_workload(sched, engine, workload, &status, &late)) {
		return true;
	}
	if (late) {
		spin_lock(&engine->lock);
		prepared_ahead(engine, workload, 0);
	} else {
		ghyvi_sched_complete(workload, status);
	}
	return false;
}

/*
 * Prepare @workload, and start it if it owns the engine then, or let its work item do that.
 * @preparing is set already, on behalf of the calling thread. Returns false if the caller must kick
 * the engine. Otherwise the workload was started, or its work item kicks the engine.
 */
static bool prepare_and_start(struct sched_engine *engine, struct ghyvi_workload *workload,
			      bool host)
{
	int err = prepare(engine, workload);

	spin_lock(&engine->lock);
	if (engine->current_workload != workload) {
		prepared_ahead(engine, workload, err);
		return false;
	}
	workload->prepared = !err;
	workload->preparing = !err; /* until a thread has started it */
	if (!err && !may_run_here(engine->sched, host)) {
		sched_queue_work(workload, &workload->preparation);
		spin_unlock(&engine->lock);
		return true;
	}
	spin_unlock(&engine->lock);
	return start_prepared(engine->sched, engine, workload, err);
}

/* On a caller's clock: prepare the workload that is expected to run next. */
static void look_ahead_here(struct sched_engine *engine)
{
	struct ghyvi_workload *workload;

	spin_lock(&engine->lock);
	workload = ghyvi_sched_lookahead_candidate(engine);
	if (workload)
		workload->preparing = true;
	spin_unlock(&engine->lock);
	if (workload)
		prepare_and_start(engine, workload, true);
}

void ghyvi_sched_kick_as(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
			 const struct sched_rq *own, bool host)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload;
	bool runs;

	atomic_inc(&sched->active_calls);
	do {
		runs = false;
		while (!runs && (workload = take_next(sched, id, own, host)))
			runs = workload->prepared ? start_prepared(sched, engine, workload, 0) :
						    prepare_and_start(engine, workload, host);
		if (sched->stages && !sched->has_workers)
			look_ahead_here(engine);
	} while (ghyvi_sched_stage_next(engine, host));
	sched_exit(sched);
}

void ghyvi_sched_kick_host(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	ghyvi_sched_kick_as(sched, id, NULL, true);
}

void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
		      const struct ghyvi_sched_entity *guest)
{
	ghyvi_sched_kick_as(sched, id, &(guest ?: sched->anon_entity)->rqs[id], false);
}

/* Prepare the workload, unless it is prepared, and start it if it owns the engine then. */
static void preparation_work(struct work_struct *work)
{
	struct ghyvi_workload *workload = container_of(work, struct ghyvi_workload, preparation);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;
	struct sched_engine *engine = &sched->engines[id];

	atomic_inc(&sched->active_calls);
	if (workload->prepared)
		start_prepared(sched, engine, workload, 0);
	else
		prepare_and_start(engine, workload, true);
	ghyvi_sched_kick_host(sched, id);
	sched_exit(sched);
}
