// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload that has an engine while others wait: when it is asked to leave, and what becomes of it if it does not.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static u64 leave_at(struct sched_engine *engine, u64 now)
{
	const struct ghyvi_sched_settings *settings = &engine->sched->settings;
	const struct sched_policy *policy = engine->policy;

	if (policy->yield_at)
		return policy->yield_at(engine, sched_run_of(engine->current_workload), now);
	if (!settings->preempt_timeout_us)
		return GHYVI_SCHED_NEVER;
	return engine->started_ns +
	       1000ULL * max(settings->timeslice_us, settings->preempt_timeout_us);
}

/*
 * The running workload: when must it be asked to leave, when be stopped? Does the asking. Returns true when it must be
 * stopped now.
 */
static bool review(struct sched_engine *engine, u64 now)
{
	struct ghyvi_sched *sched = engine->sched;
	struct ghyvi_workload *workload = engine->current_workload;
	u64 timeout_ns = 1000ULL * sched->settings.preempt_timeout_us;
	struct sched_run *run;
	u64 at;

	if (workload && workload->preparing) {
		sched_review_preparing(engine);
		return false;
	}
	if (!workload || workload->state != WORKLOAD_RUNNING || engine->stopping)
		return false;
	run = sched_run_of(workload);
	if (!engine->nr_waiting) {
		engine->asked_ns = 0;
		sched_arm(engine, GHYVI_SCHED_NEVER);
		return false;
	}
	if (!engine->asked_ns) {
		at = leave_at(engine, now);
		if (now < at) {
			sched_arm(engine, at);
			return false;
		}
		engine->asked_ns = now;
		if (run->entity->stats)
			ghyvi_count(sched_stats_of(run), preempt_requests);
		if (run->entity->reporter)
			trace_ghyvi_preempt(run->entity->reporter, engine->id,
					    now - engine->started_ns);
		if (sched->ops->preempt)
			sched->ops->preempt(sched->pgpu, &workload->job);
	}
	if (timeout_ns && now >= engine->asked_ns + timeout_ns)
		return true;
	sched_arm(engine, timeout_ns ? engine->asked_ns + timeout_ns : GHYVI_SCHED_NEVER);
	return false;
}

void sched_review(struct sched_engine *engine, u64 now)
{
	if (review(engine, now))
		sched_arm(engine, now); /* stopping takes a context that may sleep */
}

void sched_tell_stopped(struct sched_engine *engine, struct ghyvi_workload *workload)
{
	struct sched_run *run = sched_run_of(workload);
	struct ghyvi_sched_entity *entity = run->entity;

	if (entity->stats)
		ghyvi_count(sched_stats_of(run), preempt_timeouts);
	if (entity->reporter)
		ghyvi_report(entity->reporter,
			     "engine %u: workload stopped after %llu ms, it did not make way for another vGPU in preempt_timeout_us",
			     engine->id,
			     (unsigned long long)div_u64(workload->job.busy_ns, 1000 * 1000));
}

/* The current workload did not leave. Caller holds engine->lock, which is dropped. */
static void stop_current(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;

	WRITE_ONCE(engine->stopping, true);
	workload->timed_out = true;
	sched_arm(engine, GHYVI_SCHED_NEVER);
	spin_unlock(&engine->lock);

	engine->sched->ops->cancel(engine->sched->pgpu, &workload->job);

	spin_lock(&engine->lock);
	WRITE_ONCE(engine->stopping, false);
	/* It was not on the engine yet, perhaps. */
	sched_arm(engine, now + 1000ULL * engine->sched->settings.preempt_timeout_us);
	spin_unlock(&engine->lock);
	wake_up_all(&engine->stopped);
}

void ghyvi_sched_timer(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];
	bool taken;
	u64 now;

	atomic_inc(&sched->inside);
	spin_lock(&engine->lock);
	engine->armed = GHYVI_SCHED_NEVER;
	now = sched_now(sched);
	sched_take_back(engine, now);
	taken = engine->current_workload;
	if (review(engine, now))
		stop_current(engine, now);
	else
		spin_unlock(&engine->lock);
	if (!taken)
		sched_kick(sched, id);
	sched_leave(sched);
}
EXPORT_SYMBOL_GPL(ghyvi_sched_timer);
