// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "credit" (CREDIT of Gdev and GPUvm). Budgets are refilled every 30 ms in proportion to
 * weight. The first run queue with work in a list is picked; a vGPU that exhausted its budget moves
 * to the end of the list. Work-conserving. It is included for comparison: while each vGPU has one
 * request outstanding, it is no fairer than "fifo".
 */
#include <linux/math64.h>
#include "policy_credit.h"

#define BUDGET_WINDOW_NS (1000 * 1000 * 1000ULL)

u64 ghyvi_sched_total_weight(struct sched_engine *engine)
{
	struct sched_rq *rq;
	u64 total = 0;

	list_for_each_entry(rq, &engine->rqs, link)
		total += rq->entity->knobs.weight;
	return total;
}

void ghyvi_sched_credit_init(struct sched_engine *engine, u64 now)
{
	credit_engine(engine)->window_start = now;
}

/* A budget that leaves [-period, period] is reset to 0. */
void ghyvi_sched_credit_tick(struct sched_engine *engine, u64 now)
{
	struct credit_engine *budgets = credit_engine(engine);
	const s64 period = CREDIT_PERIOD_NS;
	u32 total = ghyvi_sched_total_weight(engine);
	u64 elapsed = now - budgets->window_start;
	bool over = elapsed >= BUDGET_WINDOW_NS;
	struct sched_rq *rq;

	list_for_each_entry(rq, &engine->rqs, link) {
		struct credit_rq *budget = credit_rq(rq);

		budget->left_ns += mul_u64_u32_div(period, rq->entity->knobs.weight, total);
		if (budget->left_ns > period || budget->left_ns < -period)
			budget->left_ns = 0;
		budget->permille = elapsed ? div64_u64(budget->used_ns * 1000, elapsed) : 0;
		if (over)
			budget->used_ns = 0;
	}
	if (over)
		budgets->window_start = now;
}

void ghyvi_sched_credit_charge(struct sched_rq *rq, s64 ns)
{
	struct credit_rq *budget = credit_rq(rq);

	budget->left_ns -= ns;
	/* The time given back may have been charged before a tick that began a new window. */
	if (ns < 0)
		budget->used_ns -= min_t(u64, budget->used_ns, -ns);
	else
		budget->used_ns += ns;
}

struct sched_rq *ghyvi_sched_first_ready(struct sched_engine *engine)
{
	struct sched_rq *rq;

	list_for_each_entry(rq, &engine->rqs, link)
		if (!list_empty(&rq->queue))
			return rq;
	return NULL;
}

static void credit_on_complete(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns,
			       bool preempted, u64 now)
{
	if (credit_rq(rq)->left_ns <= 0)
		list_move_tail(&rq->link, &engine->rqs);
}

static struct sched_rq *credit_pick_next(struct sched_engine *engine, u64 now, u64 *until)
{
	return ghyvi_sched_first_ready(engine);
}

const struct sched_policy ghyvi_sched_credit = {
	.name = "credit",
	.init = ghyvi_sched_credit_init,
	.tick_ns = CREDIT_PERIOD_NS,
	.tick = ghyvi_sched_credit_tick,
	.on_complete = credit_on_complete,
	.charge = ghyvi_sched_credit_charge,
	.pick_next = credit_pick_next,
	.peek_next = ghyvi_sched_first_ready,
};
