// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look-ahead: which workload is prepared while the engine runs another one, and how long a workload
 * may keep the engine during its own preparation.
 *
 * Look-ahead prepares (audits, and syncs the shadow of) only the workload that is expected to run
 * next. More would be wasted: each request that the guest adds to a prepared workload costs another
 * sync.
 */
#include <linux/minmax.h>
#include "sched_types.h"

struct ghyvi_workload *ghyvi_sched_lookahead_candidate(struct sched_engine *engine)
{
	struct ghyvi_workload *current_workload = engine->current_workload;
	struct ghyvi_workload *next;
	struct sched_rq *rq;

	lockdep_assert_held(&engine->lock);
	if (!current_workload || current_workload->state != WORKLOAD_RUNNING)
		return NULL;
	rq = engine->nr_waiting ? engine->policy->peek_next(engine) : sched_rq_of(current_workload);
	if (!rq || list_empty(&rq->queue))
		return NULL;
	next = list_first_entry(&rq->queue, struct ghyvi_workload, link);
	return next->preparing || next->prepared ? NULL : next;
}

void ghyvi_sched_look_ahead(struct sched_engine *engine)
{
	struct ghyvi_workload *workload = NULL;

	lockdep_assert_held(&engine->lock);
	if (engine->sched->has_workers)
		workload = ghyvi_sched_lookahead_candidate(engine);
	if (!workload)
		return;
	if (workload->owner && workload->owner->stats)
		ghyvi_count(sched_stats_of(sched_rq_of(workload)), prepared_ahead);
	workload->preparing = true;
	sched_queue_work(workload, &workload->preparation);
}

u64 ghyvi_sched_late_at(const struct sched_engine *engine)
{
	const struct ghyvi_sched_settings *settings = &engine->sched->settings;
	u32 limit_us = settings->timeslice_us;

	if (settings->preempt_timeout_us)
		limit_us = min(limit_us, settings->preempt_timeout_us);
	return engine->given_ns + 1000ULL * limit_us;
}

void ghyvi_sched_check_late(struct sched_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	ghyvi_sched_arm(engine,
			engine->nr_waiting ? ghyvi_sched_late_at(engine) : GHYVI_SCHED_NEVER);
}
