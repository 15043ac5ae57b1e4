// SPDX-License-Identifier: GPL-2.0-only
/* Entities: vGPUs as the scheduler sees them. */
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

struct ghyvi_sched_entity *ghyvi_sched_entity_alloc(struct ghyvi_sched *sched)
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
	entity->knobs.weight = GHYVI_SCHED_WEIGHT_DEFAULT;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct sched_rq *rq = &entity->rqs[i];

		rq->entity = entity;
		INIT_LIST_HEAD(&rq->queue);
		INIT_LIST_HEAD(&rq->ready);
		INIT_LIST_HEAD(&rq->link);
		INIT_LIST_HEAD(&rq->fair.anticipated);
		INIT_WORK(&rq->stop, ghyvi_sched_stop_work);
	}
	return entity;
}

struct ghyvi_sched_entity *ghyvi_sched_entity_create(struct ghyvi_sched *sched,
						     struct ghyvi_stats *stats,
						     struct ghyvi_reporter *reporter)
{
	struct ghyvi_sched_entity *entity = ghyvi_sched_entity_alloc(sched);

	if (entity) {
		entity->stats = stats;
		entity->reporter = reporter;
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

void ghyvi_sched_get_knobs(struct ghyvi_sched_entity *entity, struct ghyvi_sched_knobs *knobs)
{
	struct sched_engine *engine = &entity->sched->engines[0]; /* any one */

	spin_lock(&engine->lock);
	*knobs = entity->knobs;
	spin_unlock(&engine->lock);
}
