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
 * (sched_take_back()): then the clock takes the engine back, the workload is QUEUED again, first in
 * its vGPU's queue and @late. The policy does not see a vGPU whose first workload is late. When it
 * has been prepared, the vGPU waits for its turn like one that just submitted.
 *
 * While a workload runs, it is charged (charge.c), and the clock watches it (watch.c): when others
 * wait it is asked to leave after its timeslice, and stopped if it does not for preempt_timeout_us;
 * its owner is told that it failed.
 *
 * Locks, outermost first: engine->start (makes "not cancelled yet -> run()" one step), engine->lock
 * (queues, current and the states of its workloads). Neither is held over prepare() or complete();
 * run() runs under start, which is why a backend must not call done() from inside run(): done() may
 * have to wait for somebody who waits for start. preempt() and the clock's arm() are called under engine->lock.
 */
#include <linux/module.h>
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static void preparation_work(struct work_struct *work);
static void kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id, const struct sched_run *own,
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

static bool has_engine(struct sched_engine *engine, struct sched_run *run)
{
	return engine->current_workload && sched_run_of(engine->current_workload) == run;
}

void sched_unwait(struct sched_engine *engine, struct sched_run *run)
{
	if (!run->waiting)
		return;
	run->waiting = false;
	engine->nr_waiting--;
	if (engine->policy->unwait)
		engine->policy->unwait(engine, run);
}

void sched_wait_again(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	if (run->waiting || !sched_is_ready(run) || has_engine(engine, run))
		return;
	run->waiting = true;
	engine->nr_waiting++;
	if (engine->policy->wait)
		engine->policy->wait(engine, run, now);
}

/* Give the engine up; the workload is only to be handed back from here on. Caller holds engine->lock. */
static void release_engine_locked(struct sched_engine *engine, struct ghyvi_workload *workload,
				  enum ghyvi_job_status status)
{
	struct sched_run *run = sched_run_of(workload);
	u64 now = sched_update_clock(engine);
	u64 busy_ns = 0;

	if (workload->state == WORKLOAD_RUNNING)
		busy_ns = workload->job.busy_ns;
	sched_settle(engine, busy_ns, now);
	workload->state = WORKLOAD_DONE;
	engine->current_workload = NULL;
	sched_arm(engine, GHYVI_SCHED_NEVER);
	if (run->entity->stats)
		ghyvi_count_add(sched_stats_of(run), busy_ns, busy_ns);
	if (engine->policy->on_complete)
		engine->policy->on_complete(engine, run, busy_ns,
					    status == GHYVI_JOB_PREEMPTED, now);
	engine->asked_ns = 0;
	engine->pressed_ns = 0;
	sched_wait_again(engine, run, now);
}

void sched_take_back(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;
	struct sched_run *run;

	if (!workload || !workload->preparing || !engine->nr_waiting || now < sched_late_at(engine))
		return;
	if (workload->state == WORKLOAD_WITHDRAWN) {
		release_engine_locked(engine, workload, GHYVI_JOB_CANCELLED);
		workload->state = WORKLOAD_WITHDRAWN;
		return;
	}
	run = sched_run_of(workload);
	workload->late = true;
	workload->queued_ns = now;
	list_add(&workload->link, &run->queue);
	list_add(&workload->order, &engine->order);
	if (list_empty(&run->ready))
		list_add_tail(&run->ready, &engine->ready);
	release_engine_locked(engine, workload, GHYVI_JOB_PREEMPTED);
	workload->state = WORKLOAD_QUEUED;
}

/* The workload may be gone, or on its next way through, as soon as complete() is called. */
static void complete_work(struct work_struct *work)
{
	struct ghyvi_workload *workload = container_of(work, struct ghyvi_workload, done);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;
	const struct sched_run *own = sched_run_of(workload);

	workload->complete(workload, workload->status);
	kick(sched, id, own, true);
}

/* It is DONE. Does not wait; the caller kicks. */
static void hand_back(struct ghyvi_workload *workload, enum ghyvi_job_status status)
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

	atomic_inc(&sched->inside);
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
		sched_tell_stopped(engine, workload);
	hand_back(workload, status);
	sched_kick(sched, id);
	sched_leave(sched);
}

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = engine_of(sched, workload);
	struct sched_run *run;
	bool woke;
	u64 now;

	workload->sched = sched;
	workload->job.done = job_done;
	INIT_WORK(&workload->preparation, preparation_work);
	INIT_WORK(&workload->done, complete_work);
	run = sched_run_of(workload);
	spin_lock(&engine->lock);
	now = sched_update_clock(engine);
	workload->state = WORKLOAD_QUEUED;
	workload->preparing = false;
	workload->prepared = false;
	workload->late = false;
	workload->timed_out = false;
	workload->queued_ns = now;
	woke = list_empty(&run->queue) && !has_engine(engine, run);
	list_add_tail(&workload->link, &run->queue);
	list_add_tail(&workload->order, &engine->order);
	if (list_empty(&run->ready))
		list_add_tail(&run->ready, &engine->ready);
	if (list_empty(&run->link))
		list_add_tail(&run->link, &engine->runs);
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, run, woke, now);
	sched_wait_again(engine, run, now);
	sched_review(engine, now);
	sched_look_ahead(engine);
	spin_unlock(&engine->lock);
}
EXPORT_SYMBOL_GPL(ghyvi_sched_queue);

static void unqueue(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_run *run = sched_run_of(workload);

	list_del_init(&workload->link);
	list_del_init(&workload->order);
	if (!list_empty(&run->queue))
		return;
	list_del_init(&run->ready);
	sched_unwait(engine, run);
}

/* @workload, which is QUEUED, will not run. Caller holds engine->lock. */
static void drop(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	unqueue(engine, workload);
	if (!workload->late)
		return;
	/* Those behind it waited for it to be prepared. */
	workload->late = false;
	sched_wait_again(engine, sched_run_of(workload), sched_now(engine->sched));
}

static void switch_to(struct sched_engine *engine, struct sched_run *run)
{
	struct ghyvi_reporter *from = engine->last ? engine->last->entity->reporter : NULL;

	engine->last = run;
	if (run->entity->stats)
		ghyvi_count(sched_stats_of(run), switches);
	if (run->entity->reporter)
		trace_ghyvi_switch(from, run->entity->reporter, engine->id);
}

/* The policy's choice gets the engine. */
static struct ghyvi_workload *dispatch(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	struct ghyvi_workload *workload = list_first_entry(&run->queue, struct ghyvi_workload, link);

	sched_unwait(engine, run);
	unqueue(engine, workload);
	workload->state = WORKLOAD_PREPARING;
	workload->job.begun_ns = 0;
	workload->job.busy_ns = 0;
	engine->current_workload = workload;
	engine->given_ns = now;
	if (run->entity->stats)
		ghyvi_count_add(sched_stats_of(run), wait_ns, now - workload->queued_ns);
	if (engine->last != run)
		switch_to(engine, run);
	sched_arm(engine, GHYVI_SCHED_NEVER);
	return workload;
}

/*
 * A workload has got the engine. Returns true when the calling thread must take it from here, false
 * when another thread does. @own, @host: as for kick(). Caller holds engine->lock.
 */
static bool take_charge(struct sched_engine *engine, struct ghyvi_workload *workload,
			const struct sched_run *own, bool host, u64 now)
{
	struct workqueue_struct *workers = engine->sched->workers;
	bool under_way = workload->preparing;

	workload->preparing = !workload->prepared;
	if (!workers)
		return true;
	sched_review(engine, now);
	if (under_way)
		return false;
	if (own == sched_run_of(workload) || (host && workload->prepared))
		return true;
	queue_work(workers, &workload->preparation);
	return false;
}

/*
 * Take the next workload and the engine with it; NULL when there is none, not yet, the engine is
 * taken, or another thread goes on with it.
 */
static struct ghyvi_workload *take_next(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
					const struct sched_run *own, bool host)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload = NULL;
	struct sched_run *run;
	u64 until = GHYVI_SCHED_NEVER;
	u64 now;

	spin_lock(&engine->lock);
	if (!engine->current_workload && engine->nr_waiting) {
		now = sched_update_clock(engine);
		run = engine->policy->next(engine, now, &until);
		if (run)
			workload = dispatch(engine, run, now);
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
	struct ghyvi_reporter *reporter = sched_run_of(workload)->entity->reporter;

	if (reporter)
		trace_ghyvi_start(reporter, engine->id, engine->started_ns - workload->queued_ns);
}

/*
 * Returns true when the workload runs (or already ran: it must not be touched any more), false with
 * @status when it is ours to hand back.
 */
static bool start(struct ghyvi_sched *sched, struct sched_engine *engine,
		  struct ghyvi_workload *workload, enum ghyvi_job_status *status)
{
	bool started = false;
	bool withdrawn;

	mutex_lock(&engine->start);
	spin_lock(&engine->lock);
	withdrawn = workload->state == WORKLOAD_WITHDRAWN;
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
			engine->asked_ns = engine->pressed_ns = 0;
		sched_review(engine, sched_update_clock(engine));
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
static bool go_on(struct ghyvi_sched *sched, struct sched_engine *engine,
		  struct ghyvi_workload *workload, int err)
{
	enum ghyvi_job_status status;

	if (err) {
		spin_lock(&engine->lock);
		status = workload->state == WORKLOAD_WITHDRAWN ? GHYVI_JOB_CANCELLED :
								 GHYVI_JOB_ERROR;
		release_engine_locked(engine, workload, status);
		spin_unlock(&engine->lock);
	} else if (start(sched, engine, workload, &status)) {
		return true;
	}
	hand_back(workload, status);
	return false;
}

/*
 * Preparing is host time that depends on what the guest submits, and the engine may idle meanwhile:
 * so it is charged like time on the engine, in the guest's thread as in the host's.
 */
static int prepare(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_run *run = sched_run_of(workload);
	u64 began = sched_now(engine->sched);
	int err = workload->prepare(workload);
	u64 now, took;

	spin_lock(&engine->lock);
	now = sched_update_clock(engine);
	took = now - began;
	if (run->entity->stats)
		ghyvi_count_add(sched_stats_of(run), prepare_ns, took);
	if (engine->policy->charge) {
		sched_unwait(engine, run);
		engine->policy->charge(run, took);
		sched_wait_again(engine, run, now);
	}
	spin_unlock(&engine->lock);
	return err;
}

/* A workload that was late is prepared: its vGPU waits again. Caller holds engine->lock. */
static void late_is_ready(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_run *run = sched_run_of(workload);
	u64 now = sched_update_clock(engine);

	workload->late = false;
	if (engine->policy->on_arrival)
		engine->policy->on_arrival(engine, run, true, now);
	sched_wait_again(engine, run, now);
	sched_review(engine, now);
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
		drop(engine, workload);
		status = GHYVI_JOB_ERROR;
	}
	workload->state = WORKLOAD_DONE;
	spin_unlock(&engine->lock);
	hand_back(workload, status);
}

/*
 * Caller has set @preparing, or it was set for the caller. Returns true when @workload runs, false
 * when the caller must kick.
 */
static bool prepare_and_go_on(struct sched_engine *engine, struct ghyvi_workload *workload)
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
	return go_on(engine->sched, engine, workload, err);
}

/*
 * @own: the calling thread works for this vGPU, and may prepare its workloads; NULL: for none. Only
 *	compared: it may be gone.
 * @host: the calling thread is one of the host, and may start any workload that is prepared
 */
static void kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id, const struct sched_run *own,
		 bool host)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload;
	bool runs = false;

	atomic_inc(&sched->inside);
	while (!runs && (workload = take_next(sched, id, own, host)))
		runs = workload->prepared ? go_on(sched, engine, workload, 0) :
					    prepare_and_go_on(engine, workload);
	sched_leave(sched);
}

void sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	kick(sched, id, NULL, true);
}

void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id,
		      const struct ghyvi_sched_entity *guest)
{
	kick(sched, id, &(guest ?: sched->nobody)->runs[id], false);
}
EXPORT_SYMBOL_GPL(ghyvi_sched_kick);

/* Prepares the workload unless it is, and starts it if it has the engine then. */
static void preparation_work(struct work_struct *work)
{
	struct ghyvi_workload *workload = container_of(work, struct ghyvi_workload, preparation);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;
	struct sched_engine *engine = &sched->engines[id];

	atomic_inc(&sched->inside);
	if (workload->prepared)
		go_on(sched, engine, workload, 0);
	else
		prepare_and_go_on(engine, workload);
	sched_kick(sched, id);
	sched_leave(sched);
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
		drop(engine, workload);
		workload->state = workload->preparing ? WORKLOAD_WITHDRAWN : WORKLOAD_IDLE;
		taken_back = !workload->preparing;
		break;
	case WORKLOAD_PREPARING:
		workload->state = WORKLOAD_WITHDRAWN;
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
EXPORT_SYMBOL_GPL(ghyvi_sched_cancel);

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
EXPORT_SYMBOL_GPL(ghyvi_sched_update_tail);
