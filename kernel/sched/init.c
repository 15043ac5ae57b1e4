// SPDX-License-Identifier: GPL-2.0-only
/* Scheduler creation and destruction. */
#include <linux/err.h>
#include <linux/slab.h>
#include "sched_types.h"

static void init_engine(struct ghyvi_sched *sched, enum ghyvi_engine_id id)
{
	struct sched_engine *engine = &sched->engines[id];

	engine->sched = sched;
	engine->id = id;
	engine->policy = &ghyvi_sched_fair;
	engine->armed = GHYVI_SCHED_NEVER;
	spin_lock_init(&engine->lock);
	init_waitqueue_head(&engine->stopped);
	INIT_LIST_HEAD(&engine->rqs);
	INIT_LIST_HEAD(&engine->ready);
	INIT_LIST_HEAD(&engine->order);
	INIT_LIST_HEAD(&engine->fair.anticipated);
	engine->fair.by_rank = RB_ROOT_CACHED;
	engine->fair.by_vtime = RB_ROOT_CACHED;
	engine->fair.throttled = RB_ROOT_CACHED;
}

static struct ghyvi_sched *sched_create(struct ghyvi_pgpu_device *pgpu, bool has_workers)
{
	struct ghyvi_sched *sched = kzalloc(sizeof(*sched), GFP_KERNEL);
	struct ghyvi_pgpu_resources resources = {};
	unsigned int i;

	if (!sched)
		return NULL;
	sched->ops = pgpu->ops;
	sched->pgpu = pgpu;
	if (pgpu->ops->resources)
		pgpu->ops->resources(pgpu, &resources);
	sched->stages = resources.jobs_per_engine > 1;
	sched->has_workers = has_workers;
	ghyvi_sched_settings_init(sched);
	atomic_set(&sched->active_calls, 0);
	for (i = 0; i < GHYVI_ENGINES; i++)
		init_engine(sched, i);
	sched->anon_entity = ghyvi_sched_entity_alloc(sched);
	if (!sched->anon_entity) {
		kfree(sched);
		return NULL;
	}
	return sched;
}

struct ghyvi_sched *ghyvi_sched_create_on(struct ghyvi_pgpu_device *pgpu,
					  struct ghyvi_sched_clock *clock)
{
	struct ghyvi_sched *sched = sched_create(pgpu, false);

	if (!sched)
		return ERR_PTR(-ENOMEM);
	sched->clock = clock;
	return sched;
}

struct ghyvi_sched *ghyvi_sched_create(struct ghyvi_pgpu_device *pgpu)
{
	struct ghyvi_sched *sched = sched_create(pgpu, true);
	struct ghyvi_sched_clock *clock;

	if (!sched)
		return ERR_PTR(-ENOMEM);
	clock = ghyvi_sched_host_clock_create(sched);
	if (IS_ERR(clock)) {
		ghyvi_sched_entity_destroy(sched->anon_entity);
		kfree(sched);
		return ERR_CAST(clock);
	}
	sched->clock = clock;
	return sched;
}

void ghyvi_sched_destroy(struct ghyvi_sched *sched)
{
	unsigned int i;

	/* Pairs with sched_exit(): all stores of the last thread are visible before we free. */
	wait_var_event(&sched->active_calls, !atomic_read_acquire(&sched->active_calls));
	/*
	 * Those threads read the clock, also after run(), when the job may have been completed. So
	 * do work items; those of the other entities have ended with them.
	 */
	ghyvi_sched_entity_destroy(sched->anon_entity);
	if (sched->has_workers)
		ghyvi_sched_host_clock_destroy(sched->clock);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		WARN_ON(sched->engines[i].current_workload);
		WARN_ON(!list_empty(&sched->engines[i].order));
	}
	mutex_destroy(&sched->policy_lock);
	kfree(sched);
}
