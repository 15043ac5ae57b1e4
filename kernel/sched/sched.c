// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler core: one queue per vGPU and engine, one workload per engine at a time.
 *
 * DOC: life of a workload
 *
 * queue -> QUEUED -> (kick) PREPARING -> RUNNING -> (job.done) DONE -> complete()
 *
 * A thread that kicks a free engine has the policy choose a vGPU. That vGPU's first workload owns
 * the engine until DONE. Each thread that releases the engine kicks it again, so a kick that found
 * the engine taken is never lost. When the policy prefers to wait, the engine stays free, and the
 * clock kicks it when the time has come.
 *
 * prepare() is called by the thread with which a guest submits, for a workload of the same vGPU, by
 * the workload's own work item (sched->workers), or by that with which a workload of the same vGPU
 * completed. prepare() pins memory and waits for locks of the workload's guest, possibly for long.
 * So no thread of another guest calls it, which could be killed or throttled meanwhile, nor a
 * thread that vGPUs share: the clock's, an engine's, another vGPU's work item. All of these pass
 * the workload to its work item. For the same reason the thread of a guest does not start a
 * workload of another guest, even one that is prepared.
 *
 * complete() is called by a second work item of the workload, which then kicks: it waits for locks
 * that the workload's guest can hold for long, and that must delay only this guest.
 *
 * While an engine runs, the workload that the policy would choose next is prepared ahead of its
 * turn (QUEUED and @preparing). When its turn comes meanwhile, it gets the engine, and the thread
 * that prepares it starts it.
 *
 * A workload that got the engine before it was prepared keeps it for a limited time if others wait
 * (sched_revoke_late()): then the clock takes the engine back, the workload is QUEUED again, first in
 * its vGPU's queue and @late. The policy does not see a vGPU whose first workload is late. When it
 * has been prepared, the vGPU waits for its turn like one that just submitted.
 *
 * While a workload runs, it is charged (charge.c), and the clock watches it (preempt.c): when others
 * wait it is asked to leave after its timeslice, and stopped if it does not for preempt_timeout_us;
 * its owner is told that it failed.
 *
 * Locks, outermost first: engine->start (makes "not cancelled yet -> run()" one step), engine->lock
 * (queues, current and the states of its workloads). Neither is held over prepare() or complete();
 * run() runs under start, which is why a backend must not call done() from inside run(): done() may
 * have to wait for somebody who waits for start. preempt() and the clock's arm() are called under engine->lock.
 */
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static void preparation_work(struct work_struct *work);
static void kick_engine(struct ghyvi_sched *sched, enum ghyvi_engine_id id, const struct sched_rq *own,
		 bool host);

static struct sched_engine *engine_of(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	return &sched->engines[workload->job.engine];
}

void sched_arm(struct sched_engine *engine, u64 at)
{
	if (engine->armed == at)
		return;
	engine->armed = at;
	engine->sched->clock->arm(engine->sched->clock_data, engine->id, at);
}

static bool has_engine(struct sched_engine *engine, struct sched_rq *rq)
{
	return engine->current_workload && sched_rq_of(engine->current_workload) == rq;
}

void sched_dequeue(struct sched_engine *engine, struct sched_rq *rq)
{
	if (!rq->waiting)
		return;
	rq->waiting = false;
	engine->nr_waiting--;
	if (engine->policy->dequeue)
		engine->policy->dequeue(engine, rq);
}

void sched_requeue(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	if (rq->waiting || !sched_is_ready(rq) || has_engine(engine, rq))
		return;
	rq->waiting = true;
	engine->nr_waiting++;
	if (engine->policy->enqueue)
		engine->policy->enqueue(engine, rq, now);
}

/* Give the engine up; the workload is only to be handed back from here on. Caller holds engine->lock. */
static void release_engine_locked(struct sched_engine *engine, struct ghyvi_workload *workload,
				  enum ghyvi_job_status status)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 now = sched_update_clock(engine);
	u64 busy_ns = 0;

	if (workload->state == WORKLOAD_RUNNING)
		busy_ns = workload->job.busy_ns;
	sched_settle(engine, busy_ns, now);
	workload->state = WORKLOAD_DONE;
	engine->current_workload = NULL;
	sched_arm(engine, GHYVI_SCHED_NEVER);
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), busy_ns, busy_ns);
	if (engine->policy->on_complete)
		engine->policy->on_complete(engine, rq, busy_ns,
					    status == GHYVI_JOB_PREEMPTED, now);
	engine->preempt_requested_ns = 0;
	engine->contended_since_ns = 0;
	sched_requeue(engine, rq, now);
}

void sched_revoke_late(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;
	struct sched_rq *rq;

	if (!workload || !workload->preparing || !engine->nr_waiting || now < sched_late_at(engine))
		return;
	if (workload->state == WORKLOAD_CANCELLED) {
		release_engine_locked(engine, workload, GHYVI_JOB_CANCELLED);
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
	release_engine_locked(engine, workload, GHYVI_JOB_PREEMPTED);
	workload->state = WORKLOAD_QUEUED;
}

/* The workload may be gone, or on its next way through, as soon as complete() is called. */
static void complete_work(struct work_struct *work)
{
	struct ghyvi_workload *workload = container_of(work, struct ghyvi_workload, done);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;
	const struct sched_rq *own = sched_rq_of(workload);

	workload->complete(workload, workload->status);
	kick_engine(sched, id, own, true);
}

/* It is DONE. Does not wait; the caller kicks. */
static void complete_workload(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	struct ghyvi_sched *sched = workload->sched;

	workload->status = status;
	if (sched->workers)
		queue_work(sched->workers, &workload->done);
	else
		workload->complete(workload, status);
}

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
	stopped = workload->timed_out && status == GHYVI_JOB_CANCELLED;
	/* The engine may still be busy with what came before, which is not this one's fault: then it waits again. */
	if (stopped)
		status = job->busy_ns ? GHYVI_JOB_ERROR : GHYVI_JOB_PREEMPTED;
	release_engine_locked(engine, workload, status);
	spin_unlock(&engine->lock);
	if (stopped && job->busy_ns)
		sched_report_preempt_timeout(engine, workload);
	complete_workload(workload, status);
	sched_kick(sched, id);
	sched_exit(sched);
}

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = engine_of(sched, workload);
	struct sched_rq *rq;
	bool woke;
	u64 now;

	workload->sched = sched;
	workload->job.done = job_done;
	INIT_WORK(&workload->preparation, preparation_work);
	INIT_WORK(&workload->done, complete_work);
	rq = sched_rq_of(workload);
	spin_lock(&engine->lock);
	now = sched_update_clock(engine);
	workload->state = WORKLOAD_QUEUED;
	workload->preparing = false;
	workload->prepared = false;
	workload->late = false;
	workload->timed_out = false;
	workload->queued_ns = now;
	woke = list_empty(&rq->queue) && !has_engine(engine, rq);
	list_add_tail(&workload->link, &rq->queue);
	list_add_tail(&workload->order, &engine->order);
	if (list_empty(&rq->ready))
		list_add_tail(&rq->ready, &engine->ready);
	if (list_empty(&rq->link))
		list_add_tail(&rq->link, &engine->rqs);
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, rq, woke, now);
	sched_requeue(engine, rq, now);
	sched_check_preempt(engine, now);
	sched_look_ahead(engine);
	spin_unlock(&engine->lock);
}

static void unqueue_workload(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);

	list_del_init(&workload->link);
	list_del_init(&workload->order);
	if (!list_empty(&rq->queue))
		return;
	list_del_init(&rq->ready);
	sched_dequeue(engine, rq);
}

/* @workload, which is QUEUED, will not run. Caller holds engine->lock. */
static void drop_workload(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	unqueue_workload(engine, workload);
	if (!workload->late)
		return;
	/* Those behind it waited for it to be prepared. */
	workload->late = false;
	sched_requeue(engine, sched_rq_of(workload), sched_now(engine->sched));
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

/* The policy's choice gets the engine. */
static struct ghyvi_workload *dispatch_workload(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	struct ghyvi_workload *workload = list_first_entry(&rq->queue, struct ghyvi_workload, link);

	sched_dequeue(engine, rq);
	unqueue_workload(engine, workload);
	workload->state = WORKLOAD_PREPARING;
	workload->job.begun_ns = 0;
	workload->job.busy_ns = 0;
	engine->current_workload = workload;
	engine->given_ns = now;
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), wait_ns, now - workload->queued_ns);
	if (engine->last != rq)
		switch_to(engine, rq);
	sched_arm(engine, GHYVI_SCHED_NEVER);
	return workload;
}

/*
 * A workload has got the engine. Returns true when the calling thread must take it from here, false
 * when another thread does. @own, @host: as for kick_engine(). Caller holds engine->lock.
 */
static bool take_charge(struct sched_engine *engine, struct ghyvi_workload *workload,
			const struct sched_rq *own, bool host, u64 now)
{
	struct workqueue_struct *workers = engine->sched->workers;
	bool under_way = workload->preparing;

	workload->preparing = !workload->prepared;
	if (!workers)
		return true;
	sched_check_preempt(engine, now);
	if (under_way)
		return false;
	if (own == sched_rq_of(workload) || (host && workload->prepared))
		return true;
	queue_work(workers, &workload->preparation);
	return false;
}

/*
 * Take the next workload and the engine with it; NULL when there is none, not yet, the engine is
 * taken, or another thread goes on with it.
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
	if (!engine->current_workload && engine->nr_waiting) {
		now = sched_update_clock(engine);
		rq = engine->policy->pick_next(engine, now, &until);
		if (rq)
			workload = dispatch_workload(engine, rq, now);
		else
			sched_arm(engine, until);
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

/*
 * Returns true when the workload runs (or already ran: it must not be touched any more), false with
 * @status when it is ours to hand back.
 */
static bool start_workload(struct ghyvi_sched *sched, struct sched_engine *engine,
		  struct ghyvi_workload *workload, enum ghyvi_job_status *status)
{
	bool started = false;
	bool withdrawn;

	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	withdrawn = workload->state == WORKLOAD_CANCELLED;
	if (!withdrawn) {
		workload->state = WORKLOAD_RUNNING;
		engine->started_ns = sched_now(sched);
		trace_start(engine, workload);
	}
	spin_unlock(&engine->lock);

	if (withdrawn)
		*status = GHYVI_JOB_CANCELLED;
	else if (sched->ops->run(sched->pgpu, &workload->job))
		*status = GHYVI_JOB_ERROR;
	else
		started = true;
	spin_lock(&engine->lock);
	if (!started) {
		if (!withdrawn)
			workload->state = WORKLOAD_PREPARING; /* cost nothing */
		release_engine_locked(engine, workload, *status);
	} else {
		/* Asked before the backend had it, it did not hear. */
		if (engine->current_workload == workload)
			engine->preempt_requested_ns = engine->contended_since_ns = 0;
		sched_check_preempt(engine, sched_update_clock(engine));
		sched_look_ahead(engine);
	}
	spin_unlock(&engine->lock);
	mutex_unlock(&engine->start);
	return started;
}

/*
 * The engine is ours for @workload, which is prepared, or could not be (@err). Returns true when it runs, false when
 * the engine is free again and the workload its owner's.
 */
static bool start_prepared(struct ghyvi_sched *sched, struct sched_engine *engine,
		  struct ghyvi_workload *workload, int err)
{
	enum ghyvi_job_status status;

	if (err) {
		spin_lock(&engine->lock);
		status = workload->state == WORKLOAD_CANCELLED ? GHYVI_JOB_CANCELLED :
								 GHYVI_JOB_ERROR;
		release_engine_locked(engine, workload, status);
		spin_unlock(&engine->lock);
	} else if (start_workload(sched, engine, workload, &status)) {
		return true;
	}
	complete_workload(workload, status);
	return false;
}

/*
 * Preparing is host time that depends on what the guest submits, and the engine may idle meanwhile:
 * so it is charged like time on the engine, in the guest's thread as in the host's.
 */
static int prepare(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 began = sched_now(engine->sched);
	int err = workload->prepare(workload);
	u64 now, took;

	spin_lock(&engine->lock);
	now = sched_update_clock(engine);
	took = now - began;
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), prepare_ns, took);
	if (engine->policy->charge) {
		sched_dequeue(engine, rq);
		engine->policy->charge(rq, took);
		sched_requeue(engine, rq, now);
	}
	spin_unlock(&engine->lock);
	return err;
}

/* A workload that was late is prepared: its vGPU waits again. Caller holds engine->lock. */
static void late_is_ready(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	u64 now = sched_update_clock(engine);

	workload->late = false;
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, rq, true, now);
	sched_requeue(engine, rq, now);
	sched_check_preempt(engine, now);
}

/*
 * It was prepared, or could not be (@err), and does not have the engine. Caller holds engine->lock,
 * which is dropped.
 */
static void prepared_ahead(struct sched_engine *engine, struct ghyvi_workload *workload, int err)
{
	enum ghyvi_job_status status = GHYVI_JOB_CANCELLED;

	if (workload->state == WORKLOAD_QUEUED && !err) {
		workload->prepared = true;
		if (workload->late)
			late_is_ready(engine, workload);
		spin_unlock(&engine->lock);
		return;
	}
	if (workload->state == WORKLOAD_QUEUED) {
		drop_workload(engine, workload);
		status = GHYVI_JOB_ERROR;
	}
	workload->state = WORKLOAD_DONE;
	spin_unlock(&engine->lock);
	complete_workload(workload, status);
}

/*
 * Caller has set @preparing, or it was set for the caller. Returns true when @workload runs, false
 * when the caller must kick.
 */
static bool prepare_and_start(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	int err = prepare(engine, workload);

	spin_lock(&engine->lock);
	workload->preparing = false;
	if (engine->current_workload != workload) {
		prepared_ahead(engine, workload, err);
		return false;
	}
	workload->prepared = !err;
	spin_unlock(&engine->lock);
	return start_prepared(engine->sched, engine, workload, err);
}

/*
 * @own: the calling thread works for this vGPU, and may prepare its workloads; NULL: for none. Only
 *	compared: it may be gone.
 * @host: the calling thread is one of the host, and may start any workload that is prepared
 */
static void kick_engine(struct ghyvi_sched *sched, enum ghyvi_engine_id id, const struct sched_rq *own,
		 bool host)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload;
	bool runs = false;

	atomic_inc(&sched->active_calls);
	while (!runs && (workload = take_next(sched, id, own, host)))
		runs = workload->prepared ? start_prepared(sched, engine, workload, 0) :
					    prepare_and_start(engine, workload);
	sched_exit(sched);
}

void sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	kick_engine(sched, id, NULL, true);
}

void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
		      const struct ghyvi_sched_entity *guest)
{
	kick_engine(sched, id, &(guest ?: sched->anon_entity)->rqs[id], false);
}

/* Prepares the workload unless it is, and starts it if it has the engine then. */
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
		prepare_and_start(engine, workload);
	sched_kick(sched, id);
	sched_exit(sched);
}

bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = engine_of(sched, workload);
	bool running = false;
	bool taken_back = false;

	/*
	 * Under start no workload is half way between "may be withdrawn" and "the backend knows
	 * it".
	 */
	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	switch (workload->state) {
	case WORKLOAD_QUEUED:
		drop_workload(engine, workload);
		workload->state = workload->preparing ? WORKLOAD_CANCELLED : WORKLOAD_IDLE;
		taken_back = !workload->preparing;
		break;
	case WORKLOAD_PREPARING:
		workload->state = WORKLOAD_CANCELLED;
		break;
	case WORKLOAD_RUNNING:
		running = true;
		break;
	}
	spin_unlock(&engine->lock);
	mutex_unlock(&engine->start);

	/*
	 * It may be done by now; the backend knows its own jobs, and ours stays valid until
	 * complete() can go on.
	 */
	if (running)
		sched->ops->cancel(sched->pgpu, &workload->job);
	return taken_back;
}

int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail)
{
	struct sched_engine *engine = engine_of(sched, workload);
	int state;
	int err = -ESTALE;

	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	state = workload->state;
	spin_unlock(&engine->lock);
	if (state == WORKLOAD_QUEUED || state == WORKLOAD_PREPARING) {
		workload->job.context[GHYVI_CTX_RING_TAIL] = tail;
		err = 0;
	} else if (state == WORKLOAD_RUNNING) {
		err = sched->ops->update_tail(sched->pgpu, &workload->job, tail);
	}
	mutex_unlock(&engine->start);
	return err;
}
