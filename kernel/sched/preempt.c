// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preemption of the running workload: when it is requested, on behalf of other vGPUs or because the
 * vGPU's cap is used up, and how it is enforced.
 */
#include <linux/math64.h>
#include <trace/events/ghyvi.h>
#include "sched_types.h"

static u64 preempt_deadline(struct sched_engine *engine, u64 now)
{
	const struct ghyvi_sched_settings *settings = &engine->sched->settings;
	const struct sched_policy *policy = engine->policy;

	if (policy->yield_at)
		return policy->yield_at(engine, sched_rq_of(engine->current_workload), now);
	if (!settings->preempt_timeout_us)
		return GHYVI_SCHED_NEVER;
	return engine->started_ns +
	       1000ULL * max(settings->timeslice_us, settings->preempt_timeout_us);
}

static void request_preempt(struct sched_engine *engine, u64 now)
{
	struct ghyvi_sched *sched = engine->sched;
	struct sched_rq *rq = sched_rq_of(engine->current_workload);

	engine->preempt_requested_ns = now;
	if (rq->entity->stats)
		ghyvi_count(sched_stats_of(rq), preempt_requests);
	if (rq->entity->reporter)
		trace_ghyvi_preempt(rq->entity->reporter, engine->id, now - engine->started_ns);
	if (sched->ops->preempt)
		sched->ops->preempt(sched->pgpu, &engine->current_workload->job);
}

/*
 * When the current workload is stopped if it does not yield. The timeout counts from its begin at
 * the earliest: before that the engine is busy with other work. Waits for pages of the guest count,
 * although its vGPU is not blamed for them (overstayed_ns()): they may take any time, and the
 * timeout bounds what other vGPUs wait. Caller holds engine->lock.
 */
static u64 preempt_timeout_at(const struct sched_engine *engine)
{
	u64 timeout_ns = 1000ULL * engine->sched->settings.preempt_timeout_us;
	u64 begun_ns = READ_ONCE(engine->current_workload->job.begun_ns);

	if (!engine->contended_since_ns || !timeout_ns)
		return GHYVI_SCHED_NEVER;
	return max(engine->contended_since_ns, begun_ns) + timeout_ns;
}

/*
 * A workload is stopped only on behalf of other vGPUs: preempt_timeout_us counts from the time at
 * which it had to yield to them.
 */
bool ghyvi_sched_should_stop(struct sched_engine *engine, u64 now)
{
	struct ghyvi_workload *workload = engine->current_workload;
	const struct sched_policy *policy = engine->policy;
	u64 at = GHYVI_SCHED_NEVER;
	u64 leave = GHYVI_SCHED_NEVER;

	lockdep_assert_held(&engine->lock);
	if (!workload || workload->timed_out)
		return false;
	if (!engine->nr_enqueued)
		engine->contended_since_ns = 0;
	else if (!engine->contended_since_ns)
		leave = preempt_deadline(engine, now);
	if (now >= leave) {
		engine->contended_since_ns = now;
		engine->contended_waited_ns = ghyvi_job_waited_ns(&workload->job, now);
	} else {
		at = leave;
	}
	if (!engine->preempt_requested_ns) {
		u64 used_up = policy->used_up_at ?
				      policy->used_up_at(engine, sched_rq_of(workload), now) :
				      GHYVI_SCHED_NEVER;

		if (engine->contended_since_ns || now >= used_up)
			request_preempt(engine, now);
		else
			at = min(at, used_up);
	}
	if (engine->contended_since_ns) {
		at = preempt_timeout_at(engine);
		if (now >= at)
			return true;
	}
	ghyvi_sched_arm(engine, at);
	return false;
}

void ghyvi_sched_check_preempt(struct sched_engine *engine, u64 now)
{
	if (ghyvi_sched_should_stop(engine, now))
		ghyvi_sched_arm(engine, now);
}

void ghyvi_sched_report_preempt_timeout(struct sched_engine *engine,
					struct ghyvi_workload *workload)
{
	struct sched_rq *rq = sched_rq_of(workload);
	struct ghyvi_sched_entity *entity = rq->entity;

	if (entity->stats)
		ghyvi_count(sched_stats_of(rq), preempt_timeouts);
	if (entity->reporter)
		ghyvi_report_stop(entity->reporter, engine->id,
				  "engine %u: workload stopped after %llu ms: preemption timed out",
				  engine->id,
				  (unsigned long long)div_u64(workload->job.busy_ns, 1000 * 1000));
}

/*
 * The current workload ignored the preemption request: stop its job. It may have ended meanwhile,
 * or begun only now. job_done() waits for stop() or cancel(), so that the workload stays valid. So
 * do all other vGPUs.
 */
void ghyvi_sched_stop_current(struct sched_rq *rq)
{
	struct ghyvi_sched *sched = rq->entity->sched;
	struct sched_engine *engine = &sched->engines[rq - rq->entity->rqs];
	struct ghyvi_workload *workload;

	spin_lock(&engine->lock);
	workload = engine->current_workload;
	if (!workload || sched_rq_of(workload) != rq || !workload->timed_out || engine->stopping) {
		spin_unlock(&engine->lock);
		return;
	}
	if (sched_now(sched) < preempt_timeout_at(engine)) {
		workload->timed_out = false;
		ghyvi_sched_check_preempt(engine, ghyvi_sched_update_clock(engine));
		spin_unlock(&engine->lock);
		return;
	}
	WRITE_ONCE(engine->stopping, true);
	spin_unlock(&engine->lock);

	if (sched->ops->stop)
		sched->ops->stop(sched->pgpu, &workload->job);
	else
		sched->ops->cancel(sched->pgpu, &workload->job);

	spin_lock(&engine->lock);
	WRITE_ONCE(engine->stopping, false);
	spin_unlock(&engine->lock);
	wake_up_all(&engine->stopped);
}

void ghyvi_sched_stop_work(struct work_struct *work)
{
	ghyvi_sched_stop_current(container_of(work, struct sched_rq, stop));
}
