// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run queues: which are enqueued, which workloads are in them, and what their vGPUs are charged.
 *
 * A workload is *linked* to its run queue from its submission until it gets the engine. A run queue
 * with work that does not have the engine is *enqueued*: the policy may pick it. Its keys in the
 * policy never change meanwhile: a change is bracketed by ghyvi_sched_dequeue() and _requeue().
 *
 * DOC: charging
 *
 * A running workload is charged at every event of its engine. Events are the arrival of work, a
 * decision of the policy, a timer, and the moment before a knob, a setting or the policy changes.
 * Each charge covers the time since the previous one, so no decision is based on the state at the
 * start of the workload.
 *
 * GPU time counts from job.begun_ns, which the pGPU sets: a job that the pGPU has accepted but not
 * begun costs nothing. At the completion, job.busy_ns is authoritative and the charge is settled to
 * it. Earlier charges can exceed it by the time between the end of the job and its completion; the
 * excess is refunded. The charges of a workload therefore always sum up to its busy_ns.
 */
#include <trace/events/ghyvi.h>
#include "sched_types.h"

#define SCHED_TICKS_MAX 64 /* more missed ticks are skipped */

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

static bool is_idle(struct sched_engine *engine, struct sched_rq *rq)
{
	return list_empty(&rq->queue) && !has_engine(engine, rq);
}

void ghyvi_sched_dequeue(struct sched_engine *engine, struct sched_rq *rq)
{
	lockdep_assert_held(&engine->lock);
	if (!rq->enqueued)
		return;
	rq->enqueued = false;
	engine->nr_enqueued--;
	if (engine->policy->dequeue)
		engine->policy->dequeue(engine, rq);
}

void ghyvi_sched_requeue(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	lockdep_assert_held(&engine->lock);
	if (rq->enqueued || list_empty(&rq->queue) || has_engine(engine, rq))
		return;
	rq->enqueued = true;
	engine->nr_enqueued++;
	if (engine->policy->enqueue)
		engine->policy->enqueue(engine, rq, now);
}

u64 ghyvi_sched_link(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	bool woke = is_idle(engine, rq);
	u64 now = ghyvi_sched_update_clock(engine);

	lockdep_assert_held(&engine->lock);
	workload->queued_ns = now;
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
	return now;
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

static void switch_to(struct sched_engine *engine, struct sched_rq *rq)
{
	struct ghyvi_reporter *from = engine->last ? engine->last->entity->reporter : NULL;

	engine->last = rq;
	if (rq->entity->stats)
		ghyvi_count(sched_stats_of(rq), switches);
	if (rq->entity->reporter)
		trace_ghyvi_switch(from, rq->entity->reporter, engine->id);
}

void ghyvi_sched_dispatch(struct sched_engine *engine, struct ghyvi_workload *workload, u64 now)
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

/* Charge the current workload up to a total of @ran_ns of GPU time, as of @now. */
static void charge_up_to(struct sched_engine *engine, u64 ran_ns, u64 now)
{
	struct sched_rq *rq = sched_rq_of(engine->current_workload);
	s64 ns = (s64)(ran_ns - engine->charged_ns);

	if (!ns)
		return;
	engine->charged_ns = ran_ns;
	if (engine->policy->charge)
		engine->policy->charge(rq, ns);
	if (engine->policy->ran)
		engine->policy->ran(engine, rq, ns, now);
}

static void update_curr(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;
	u64 begun_ns, busy_ns, ran_ns;

	if (!workload)
		return;
	begun_ns = READ_ONCE(workload->job.begun_ns);
	ran_ns = begun_ns && now > begun_ns ? now - begun_ns : 0;
	/* The job may have ended already, before done() was called. */
	busy_ns = READ_ONCE(workload->job.busy_ns);
	if (busy_ns)
		ran_ns = min(ran_ns, busy_ns);
	if (ran_ns > engine->charged_ns)
		charge_up_to(engine, ran_ns, now);
}

u64 ghyvi_sched_update_clock(struct sched_engine *engine)
{
	const struct sched_policy *policy = engine->policy;
	u64 now = sched_now(engine->sched);
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	if (policy->tick && now >= engine->next_tick) {
		for (i = 0; now >= engine->next_tick && i < SCHED_TICKS_MAX; i++) {
			update_curr(engine, engine->next_tick);
			policy->tick(engine, engine->next_tick);
			engine->next_tick += policy->tick_ns;
		}
		if (now >= engine->next_tick)
			engine->next_tick = now + policy->tick_ns;
	}
	update_curr(engine, now);
	return now;
}

void ghyvi_sched_settle(struct sched_engine *engine, u64 busy_ns, u64 now)
{
	lockdep_assert_held(&engine->lock);
	charge_up_to(engine, busy_ns, now);
	engine->charged_ns = 0;
}

static void charge_rq(struct sched_engine *engine, struct sched_rq *rq, u64 ns, bool ran, u64 now)
{
	lockdep_assert_held(&engine->lock);
	ghyvi_sched_dequeue(engine, rq);
	if (engine->policy->charge)
		engine->policy->charge(rq, ns);
	if (ran && engine->policy->ran)
		engine->policy->ran(engine, rq, ns, now);
	ghyvi_sched_requeue(engine, rq, now);
}

void ghyvi_sched_charge_run(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns, u64 now)
{
	if (rq->entity->stats)
		ghyvi_count_add(sched_stats_of(rq), busy_ns, busy_ns);
	charge_rq(engine, rq, busy_ns, true, now);
}

void ghyvi_sched_charge_preparation(struct ghyvi_sched_entity *entity, enum ghyvi_engine_id id,
				    u64 ns)
{
	struct sched_engine *engine = &entity->sched->engines[id];
	struct sched_rq *rq = &entity->rqs[id];
	u64 now;

	spin_lock(&engine->lock);
	if (entity->stats)
		ghyvi_count_add(sched_stats_of(rq), prepare_ns, ns);
	now = ghyvi_sched_update_clock(engine);
	if (is_idle(engine, rq) && engine->policy->place)
		engine->policy->place(engine, rq, now);
	charge_rq(engine, rq, ns, false, now);
	spin_unlock(&engine->lock);
}
