// SPDX-License-Identifier: GPL-2.0-only
/* Changes at run time: knobs of a vGPU, settings and policy of a scheduler. */
#include <linux/kernel.h>
#include <linux/string.h>
#include <ghyvi/choice.h>
#include "sched_types.h"

static const struct sched_policy *const policies[] = { &ghyvi_sched_fifo, &ghyvi_sched_credit,
						       &ghyvi_sched_band, &ghyvi_sched_fair };

static const char *policy_name(unsigned int i)
{
	return policies[i]->name;
}

static const struct ghyvi_choices policy_choices = { policy_name, ARRAY_SIZE(policies) };

/* Reevaluate the decisions of all engines after a change. Caller holds no lock. */
static void reevaluate_all_engines(struct ghyvi_sched *sched)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct sched_engine *engine = &sched->engines[i];

		spin_lock(&engine->lock);
		ghyvi_sched_check_preempt(engine, ghyvi_sched_update_clock(engine));
		spin_unlock(&engine->lock);
		ghyvi_sched_kick(sched, i);
	}
}

/*
 * Readers hold the lock of any one engine, so writers hold those of all. Nothing else takes two of
 * these locks. No mutex: the thread may belong to a VMM, which saves, loads or pauses its vGPU, and
 * get no time on a CPU while other VMMs wait.
 */
static void lock_engines(struct ghyvi_sched *sched)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		spin_lock_nested(&sched->engines[i].lock, i);
}

static void unlock_engines(struct ghyvi_sched *sched)
{
	unsigned int i;

	for (i = GHYVI_ENGINES; i-- > 0;)
		spin_unlock(&sched->engines[i].lock);
}

static bool value_in_range(u32 value, u32 low, u32 high)
{
	return value >= low && value <= high;
}

void ghyvi_sched_get_knobs(struct ghyvi_sched_entity *entity, struct ghyvi_sched_knobs *knobs)
{
	struct sched_engine *engine = &entity->sched->engines[0]; /* any one */

	spin_lock(&engine->lock);
	*knobs = entity->knobs;
	spin_unlock(&engine->lock);
}

int ghyvi_sched_set_knobs(struct ghyvi_sched_entity *entity, const struct ghyvi_sched_knobs *knobs)
{
	struct ghyvi_sched *sched = entity->sched;
	unsigned int i;

	if (!value_in_range(knobs->weight, GHYVI_SCHED_WEIGHT_MIN, GHYVI_SCHED_WEIGHT_MAX) ||
	    knobs->cap > GHYVI_SCHED_CAP_MAX || knobs->priority > GHYVI_SCHED_PRIORITY_MAX)
		return -EINVAL;
	lock_engines(sched);
	/* GPU time until now is charged with the old knobs. */
	for (i = 0; i < GHYVI_ENGINES; i++) {
		ghyvi_sched_update_clock(&sched->engines[i]);
		ghyvi_sched_dequeue(&sched->engines[i], &entity->rqs[i]);
	}
	entity->knobs = *knobs;
	for (i = 0; i < GHYVI_ENGINES; i++)
		ghyvi_sched_requeue(&sched->engines[i], &entity->rqs[i], sched_now(sched));
	unlock_engines(sched);
	reevaluate_all_engines(sched);
	return 0;
}

void ghyvi_sched_get_settings(struct ghyvi_sched *sched, struct ghyvi_sched_settings *settings)
{
	struct sched_engine *engine = &sched->engines[0]; /* any one */

	spin_lock(&engine->lock);
	*settings = sched->settings;
	spin_unlock(&engine->lock);
}

/* Charge the running workload and dequeue all run queues. Caller holds engine->lock. */
static void dequeue_all(struct sched_engine *engine)
{
	struct sched_rq *rq;

	lockdep_assert_held(&engine->lock);
	ghyvi_sched_update_clock(engine);
	list_for_each_entry(rq, &engine->ready, ready)
		ghyvi_sched_dequeue(engine, rq);
}

/* Enqueue all run queues that can be. Caller holds engine->lock. */
static void requeue_all(struct sched_engine *engine)
{
	u64 now = sched_now(engine->sched);
	struct sched_rq *rq;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(rq, &engine->ready, ready)
		ghyvi_sched_requeue(engine, rq, now);
}

int ghyvi_sched_set_settings(struct ghyvi_sched *sched, const struct ghyvi_sched_settings *settings)
{
	unsigned int i;

	if (!value_in_range(settings->timeslice_us, GHYVI_SCHED_TIMESLICE_MIN_US,
			    GHYVI_SCHED_TIMESLICE_MAX_US) ||
	    !value_in_range(settings->window_us, GHYVI_SCHED_WINDOW_MIN_US,
			    GHYVI_SCHED_WINDOW_MAX_US))
		return -EINVAL;
	if (settings->preempt_timeout_us &&
	    !value_in_range(settings->preempt_timeout_us, GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US,
			    GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US))
		return -EINVAL;
	lock_engines(sched);
	for (i = 0; i < GHYVI_ENGINES; i++)
		dequeue_all(&sched->engines[i]);
	sched->settings = *settings;
	for (i = 0; i < GHYVI_ENGINES; i++)
		requeue_all(&sched->engines[i]);
	unlock_engines(sched);
	reevaluate_all_engines(sched);
	return 0;
}

/*
 * Policies share no state: the new one starts as if all vGPUs were new. Caller holds engine->lock.
 */
static void switch_policy(struct sched_engine *engine, const struct sched_policy *policy)
{
	u64 now = sched_now(engine->sched);
	struct sched_rq *rq;

	lockdep_assert_held(&engine->lock);
	dequeue_all(engine);
	list_for_each_entry(rq, &engine->rqs, link) {
		memset(&rq->fair, 0, sizeof(rq->fair));
		memset(rq->priv, 0, sizeof(rq->priv));
	}
	memset(&engine->fair, 0, sizeof(engine->fair));
	memset(engine->priv, 0, sizeof(engine->priv));
	engine->next_tick = now + policy->tick_ns;
	engine->preempt_requested_ns = 0;
	engine->contended_since_ns = 0;
	engine->policy = policy;
	if (policy->init)
		policy->init(engine, now);
	requeue_all(engine);
}

int ghyvi_sched_set_policy(struct ghyvi_sched *sched, const char *name)
{
	int found = ghyvi_choice_find(&policy_choices, name);
	const struct sched_policy *policy;
	unsigned int i;

	if (found < 0)
		return found;
	policy = policies[found];
	mutex_lock(&sched->policy_lock);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct sched_engine *engine = &sched->engines[i];

		spin_lock(&engine->lock);
		if (engine->policy != policy)
			switch_policy(engine, policy);
		spin_unlock(&engine->lock);
	}
	mutex_unlock(&sched->policy_lock);
	reevaluate_all_engines(sched);
	return 0;
}

int ghyvi_sched_policy_list(struct ghyvi_sched *sched, char *buffer, size_t bytes)
{
	unsigned int active = 0;

	mutex_lock(&sched->policy_lock);
	while (active < ARRAY_SIZE(policies) && policies[active] != sched->engines[0].policy)
		active++;
	mutex_unlock(&sched->policy_lock);
	return ghyvi_choice_list(&policy_choices, active, buffer, bytes);
}
