// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler core: one queue per vGPU and engine, one workload per engine at a time.
 *
 * DOC: life of a workload
 *
 * queue -> QUEUED -> (kick) PREPARING -> RUNNING -> (job.done) DONE -> complete()
 *
 * Whoever finds the engine free and a workload to run owns the engine until DONE: the
 * thread that kicks, and from RUNNING on the pGPU's engine thread. An owner asks the policy
 * again after it gave the engine up, so a kick that found the engine taken is never lost. When the policy
 * rather waits, the engine stays free, and the clock kicks it when the time has come.
 *
 * complete() is called by a worker, one for each workload, which kicks after it: it waits for locks that the workload's guest
 * can hold as long as it likes, and who waits is to be that guest, not the engine or the threads that all share.
 *
 * A workload that waits may be prepared ahead of its turn (ahead.c). When its turn comes meanwhile, the thread that
 * prepares it becomes the engine's owner.
 *
 * While a workload runs and others wait, the clock watches it: after its timeslice it is asked to leave, and
 * if it does not for preempt_timeout_us, stopped; its owner is told that it failed.
 *
 * Locks, outermost first: engine->start (makes "not cancelled yet -> run()" one step), engine->lock
 * (queues, current and the states of its workloads). Neither is held over prepare() or complete();
 * run() runs under start, which is why a backend must not call done() from inside run(): done() may
 * have to wait for somebody who waits for start. preempt() and the clock's arm() are called under engine->lock.
 */
#include <linux/module.h>
#include <trace/events/ghyvi.h>
#include "sched_types.h"

#define SCHED_TICKS_MAX 64 /* caught up with; the rest of a long pause counts as none */

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

/* What time it is, and no decision is based on the state before the last tick. */
static u64 decision_time(struct sched_engine *engine)
{
	const struct sched_policy *policy = engine->policy;
	u64 now = sched_now(engine->sched);
	unsigned int i;

	if (!policy->tick || now < engine->next_tick)
		return now;
	for (i = 0; now >= engine->next_tick && i < SCHED_TICKS_MAX; i++) {
		policy->tick(engine, engine->next_tick);
		engine->next_tick += policy->tick_ns;
	}
	if (now >= engine->next_tick)
		engine->next_tick = now + policy->tick_ns;
	return now;
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
	if (run->waiting || list_empty(&run->queue) || has_engine(engine, run))
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
	u64 now = decision_time(engine);
	u64 busy_ns = 0;

	if (workload->state == WORKLOAD_RUNNING)
		busy_ns = workload->job.busy_ns;
	workload->state = WORKLOAD_DONE;
	engine->current_workload = NULL;
	engine->asked_ns = 0;
	sched_arm(engine, GHYVI_SCHED_NEVER);
	if (run->entity->stats)
		ghyvi_count_add(sched_stats_of(run), busy_ns, busy_ns);
	if (engine->policy->on_complete)
		engine->policy->on_complete(engine, run, busy_ns,
					    status == GHYVI_JOB_PREEMPTED, now);
	sched_wait_again(engine, run, now);
}

/* The workload may be gone, or on its next way through, as soon as complete() is called. */
static void complete_work(struct work_struct *work)
{
	struct ghyvi_workload *workload = container_of(work, struct ghyvi_workload, done);
	struct ghyvi_sched *sched = workload->sched;
	enum ghyvi_engine_id id = workload->job.engine;

	workload->complete(workload, workload->status);
	ghyvi_sched_kick(sched, id);
}

/* It is DONE. Does not wait; the caller kicks. */
static void hand_back(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	struct ghyvi_sched *sched = workload->sched;

	workload->status = status;
	if (sched->completer)
		queue_work(sched->completer, &workload->done);
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
	ghyvi_sched_kick(sched, id);
	sched_leave(sched);
}

/* Whose preparation would spare the engine a pause? Caller holds engine->lock. */
static struct ghyvi_workload *worth_preparing(struct sched_engine *engine)
{
	struct ghyvi_workload *current_workload = engine->current_workload;
	struct ghyvi_workload *next;
	struct sched_run *run;

	if (!current_workload || current_workload->state != WORKLOAD_RUNNING)
		return NULL;
	run = engine->nr_waiting ? engine->policy->peek(engine) : sched_run_of(current_workload);
	if (!run || list_empty(&run->queue))
		return NULL;
	next = list_first_entry(&run->queue, struct ghyvi_workload, link);
	return next->ahead || next->prepared ? NULL : next;
}

static void want_ahead(struct sched_engine *engine)
{
	if (engine->sched->ahead && worth_preparing(engine))
		sched_ahead_want(engine->sched->ahead, engine->id);
}

void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload)
{
	struct sched_engine *engine = engine_of(sched, workload);
	struct sched_run *run;
	bool woke;
	u64 now;

	workload->sched = sched;
	workload->job.done = job_done;
	INIT_WORK(&workload->done, complete_work);
	run = sched_run_of(workload);
	spin_lock(&engine->lock);
	now = decision_time(engine);
	workload->state = WORKLOAD_QUEUED;
	workload->ahead = false;
	workload->prepared = false;
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
	want_ahead(engine);
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
	workload->job.busy_ns = 0;
	engine->current_workload = workload;
	if (run->entity->stats)
		ghyvi_count_add(sched_stats_of(run), wait_ns, now - workload->queued_ns);
	if (engine->last != run)
		switch_to(engine, run);
	sched_arm(engine, GHYVI_SCHED_NEVER);
	return workload;
}

/* Take the next workload and the engine with it; NULL when there is none, not yet, or the engine is taken. */
static struct ghyvi_workload *take_next(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload = NULL;
	struct sched_run *run;
	u64 until = GHYVI_SCHED_NEVER;
	u64 now;

	spin_lock(&engine->lock);
	if (!engine->current_workload && engine->nr_waiting) {
		now = decision_time(engine);
		run = engine->policy->next(engine, now, &until);
		if (run)
			workload = dispatch(engine, run, now);
		else
			sched_arm(engine, until);
		if (workload && workload->ahead)
			workload = NULL; /* who prepares it goes on with it */
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
		if (engine->current_workload == workload)
			engine->asked_ns = 0; /* who was asked before the backend had it did not hear */
		sched_review(engine, sched_now(sched));
		want_ahead(engine);
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
 * Preparing is host time that depends on what the guest submits, and in it the engine idles or others are not prepared:
 * so it is charged like time on the engine, whoever's thread this is.
 */
static int prepare(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_run *run = sched_run_of(workload);
	u64 began = sched_now(engine->sched);
	int err = workload->prepare(workload);
	u64 now, took;

	spin_lock(&engine->lock);
	now = decision_time(engine);
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

void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload;
	bool runs = false;

	atomic_inc(&sched->inside);
	while (!runs && (workload = take_next(sched, id))) {
		int err = workload->prepared ? 0 : prepare(engine, workload);

		runs = go_on(sched, engine, workload, err);
	}
	sched_leave(sched);
}
EXPORT_SYMBOL_GPL(ghyvi_sched_kick);

/* It was prepared while it waited, and was not given the engine meanwhile. Caller holds engine->lock, which is dropped. */
static void prepared_ahead(struct sched_engine *engine, struct ghyvi_workload *workload, int err)
{
	enum ghyvi_job_status status = GHYVI_JOB_CANCELLED;

	if (workload->state == WORKLOAD_QUEUED) {
		workload->prepared = !err;
		if (!err) {
			spin_unlock(&engine->lock);
			return;
		}
		unqueue(engine, workload);
		status = GHYVI_JOB_ERROR;
	}
	workload->state = WORKLOAD_DONE;
	spin_unlock(&engine->lock);
	hand_back(workload, status);
}

void sched_look_ahead(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	struct ghyvi_workload *workload;
	int err;

	atomic_inc(&sched->inside);
	spin_lock(&engine->lock);
	workload = worth_preparing(engine);
	if (workload) {
		if (workload->owner && workload->owner->stats)
			ghyvi_count(sched_stats_of(sched_run_of(workload)), prepared_ahead);
		workload->ahead = true;
		spin_unlock(&engine->lock);
		err = prepare(engine, workload);
		spin_lock(&engine->lock);
		workload->ahead = false;
		if (engine->current_workload == workload) {
			spin_unlock(&engine->lock);
			go_on(sched, engine, workload, err);
		} else {
			prepared_ahead(engine, workload, err);
		}
		ghyvi_sched_kick(sched, id);
	} else {
		spin_unlock(&engine->lock);
	}
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
		unqueue(engine, workload);
		workload->state = workload->ahead ? WORKLOAD_WITHDRAWN : WORKLOAD_IDLE;
		taken_back = !workload->ahead;
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
