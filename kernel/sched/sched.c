// SPDX-License-Identifier: GPL-2.0-only
/* Creation and destruction of schedulers, and of entities: vGPUs as a scheduler sees them. */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "sched_types.h"

/*
 * The owner bounds the number of workloads, and so of items. The workqueue adds no limit, because
 * an item that it kept back would wait for those that wait for the guest's memory. Linux 6.9 and
 * later divide the number by NUMA nodes.
 */
static bool create_workers(struct ghyvi_sched_entity *entity)
{
	entity->workers = alloc_workqueue("ghyvi", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return entity->workers;
}

struct ghyvi_sched_entity *ghyvi_sched_entity_create(struct ghyvi_sched *sched,
						     struct ghyvi_stats *stats,
						     struct ghyvi_reporter *reporter)
{
	struct ghyvi_sched_entity *entity = kzalloc(sizeof(*entity), GFP_KERNEL);
	unsigned int i;

	if (!entity)
		return NULL;
	if (sched->has_workers && !create_workers(entity)) {
		kfree(entity);
		return NULL;
	}
	entity->sched = sched;
	entity->stats = stats;
	entity->reporter = reporter;
	entity->knobs.weight = GHYVI_SCHED_WEIGHT_DEFAULT;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct sched_rq *rq = &entity->rqs[i];

		rq->entity = entity;
		INIT_LIST_HEAD(&rq->queue);
		INIT_LIST_HEAD(&rq->ready);
		INIT_LIST_HEAD(&rq->link);
		INIT_WORK(&rq->stop, ghyvi_sched_stop_work);
	}
	return entity;
}

void ghyvi_sched_entity_destroy(struct ghyvi_sched_entity *entity)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct sched_engine *engine = &entity->sched->engines[i];
		struct sched_rq *rq = &entity->rqs[i];

		spin_lock(&engine->lock);
		WARN_ON(!list_empty(&rq->queue));
		if (engine->policy->remove)
			engine->policy->remove(engine, rq);
		list_del_init(&rq->link);
		if (engine->last == rq)
			engine->last = NULL;
		spin_unlock(&engine->lock);
	}
	/* After complete(), an item still kicks its engine. One that stops a job may be late. */
	if (entity->workers)
		destroy_workqueue(entity->workers);
	kfree(entity);
}

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
	mutex_init(&sched->policy_lock);
	sched->settings.timeslice_us = GHYVI_SCHED_TIMESLICE_DEFAULT_US;
	sched->settings.preempt_timeout_us = GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US;
	sched->settings.window_us = GHYVI_SCHED_WINDOW_DEFAULT_US;
	atomic_set(&sched->active_calls, 0);
	for (i = 0; i < GHYVI_ENGINES; i++)
		init_engine(sched, i);
	sched->anon_entity = ghyvi_sched_entity_create(sched, NULL, NULL);
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
