// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "band" (BAND of Gdev and GPUvm): "credit" with two differences. A vGPU is demoted only
 * if it has also received more than its share. Before the engine is given to a vGPU that is over
 * its share, it idles for 500 us. In this time a vGPU with short workloads can submit.
 */
#include "policy_credit.h"

#define BAND_WAIT_NS (500 * 1000ULL)

static bool over_share(struct sched_engine *engine, struct sched_rq *rq)
{
	return credit_rq(rq)->permille * ghyvi_sched_total_weight(engine) >
	       1000ULL * rq->entity->knobs.weight;
}

static bool is_alone(struct sched_engine *engine)
{
	return engine->rqs.next->next == &engine->rqs;
}

static void band_on_arrival(struct sched_engine *engine, struct sched_rq *rq, bool woke, u64 now)
{
	if (!engine->current_workload && woke)
		credit_engine(engine)->arrived = rq;
}

static void band_on_complete(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns,
			     bool preempted, u64 now)
{
	struct credit_engine *budgets = credit_engine(engine);

	if (credit_rq(rq)->left_ns < 0 && over_share(engine, rq))
		list_move_tail(&rq->link, &engine->rqs);
	budgets->from = rq;
	budgets->completed = true;
	budgets->arrived = NULL;
	budgets->wait_until = 0;
}

/* Must the engine idle before @rq is picked? */
static bool band_waits(struct sched_engine *engine, struct sched_rq *rq)
{
	if (is_alone(engine) || !over_share(engine, rq))
		return false;
	if (credit_engine(engine)->completed)
		return rq != credit_engine(engine)->from;
	return credit_rq(rq)->left_ns <= 0; /* @rq woke on an idle engine */
}

static struct sched_rq *band_pick_next(struct sched_engine *engine, u64 now, u64 *until)
{
	struct credit_engine *budgets = credit_engine(engine);
	struct sched_rq *rq = budgets->arrived;

	/*
	 * A vGPU that wakes while the engine idles is picked, unless it has itself used up its
	 * budget and is over its share.
	 */
	if (budgets->wait_until && rq && !list_empty(&rq->queue) &&
	    !(credit_rq(rq)->left_ns <= 0 && over_share(engine, rq)))
		goto out;
	rq = ghyvi_sched_first_ready(engine);
	if (budgets->wait_until ? now >= budgets->wait_until : !band_waits(engine, rq))
		goto out;
	if (!budgets->wait_until)
		budgets->wait_until = now + BAND_WAIT_NS;
	*until = budgets->wait_until;
	return NULL;
out:
	budgets->wait_until = 0;
	budgets->arrived = NULL;
	budgets->completed = false;
	return rq;
}

static void band_remove(struct sched_engine *engine, struct sched_rq *rq)
{
	struct credit_engine *budgets = credit_engine(engine);

	if (budgets->from == rq)
		budgets->from = NULL;
	if (budgets->arrived == rq)
		budgets->arrived = NULL;
}

const struct sched_policy ghyvi_sched_band = {
	.name = "band",
	.init = ghyvi_sched_credit_init,
	.tick_ns = CREDIT_PERIOD_NS,
	.tick = ghyvi_sched_credit_tick,
	.on_arrival = band_on_arrival,
	.on_complete = band_on_complete,
	.charge = ghyvi_sched_credit_charge,
	.pick_next = band_pick_next,
	.peek_next = ghyvi_sched_first_ready,
	.remove = band_remove,
};
