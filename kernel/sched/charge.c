// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of an engine, and the charge for the workload that it runs.
 *
 * DOC: charging
 *
 * A running workload is charged whenever the state of its engine is looked at: when work arrives,
 * when a policy is asked for a decision, when a timer fires, before a knob, a setting or the policy
 * changes. Each time the part is charged that ran since the last time, so that no decision is based
 * on what a workload had before it began.
 *
 * Time counts from job.begun_ns, which the pGPU sets: a job that the pGPU has but did not begin
 * costs nothing. At the completion job.busy_ns is the truth, and the charge is settled to it. What
 * was charged before can be more than that, by the time between the end of the job and its
 * completion; then the difference is given back. So the sum over a workload's charges is its
 * busy_ns exactly, whatever happened meanwhile.
 */
#include "sched_types.h"

#define SCHED_TICKS_MAX 64 /* caught up with; the rest of a long pause counts as none */

/* The current workload has been on the engine for @ran_ns in all, as of @now. */
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

	if (!workload || workload->state != WORKLOAD_RUNNING)
		return;
	begun_ns = READ_ONCE(workload->job.begun_ns);
	ran_ns = begun_ns && now > begun_ns ? now - begun_ns : 0;
	/* The job may have ended already, and its done() be on its way. */
	busy_ns = READ_ONCE(workload->job.busy_ns);
	if (busy_ns)
		ran_ns = min(ran_ns, busy_ns);
	if (ran_ns > engine->charged_ns)
		charge_up_to(engine, ran_ns, now);
}

u64 sched_update_clock(struct sched_engine *engine)
{
	const struct sched_policy *policy = engine->policy;
	u64 now = sched_now(engine->sched);
	unsigned int i;

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

void sched_settle(struct sched_engine *engine, u64 busy_ns, u64 now)
{
	charge_up_to(engine, busy_ns, now);
	engine->charged_ns = 0;
}
