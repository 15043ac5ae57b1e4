// SPDX-License-Identifier: GPL-2.0-only
/*
 * BAND of Gdev and GPUvm: CREDIT, but a vGPU is demoted only when it is also over its share, and the engine idles for
 * 500 us before it goes to one that is over its share, so that a vGPU with short workloads gets in.
 */
#include <linux/math64.h>
#include "sched_types.h"

#define BAND_WAIT_NS (500 * 1000ULL)

static bool over_share(struct sched_engine *engine, struct sched_run *run)
{
	return run->budget.permille * sched_total_weight(engine) >
	       1000ULL * run->entity->knobs.weight;
}

static bool alone(struct sched_engine *engine)
{
	return engine->runs.next->next == &engine->runs;
}

static void band_on_arrival(struct sched_engine *engine, struct sched_run *run, bool woke, u64 now)
{
	if (!engine->current_workload && woke)
		engine->budget.arrived = run;
}

static void band_on_complete(struct sched_engine *engine, struct sched_run *run, u64 busy_ns,
			     bool preempted, u64 now)
{
	if (run->budget.left_ns < 0 && over_share(engine, run))
		list_move_tail(&run->link, &engine->runs);
	engine->budget.from = run;
	engine->budget.completed = true;
	engine->budget.arrived = NULL;
	engine->budget.wait_until = 0;
}

/* Is the engine to idle before @run gets it? */
static bool band_waits(struct sched_engine *engine, struct sched_run *run)
{
	if (alone(engine) || !over_share(engine, run))
		return false;
	if (engine->budget.completed)
		return run != engine->budget.from;
	return run->budget.left_ns <= 0; /* it has just submitted to an idle engine */
}

static struct sched_run *band_next(struct sched_engine *engine, u64 now, u64 *until)
{
	struct sched_run *run = engine->budget.arrived;

	/* Who comes while the engine idles on purpose gets in, unless it is the reason. */
	if (engine->budget.wait_until && run && sched_is_ready(run) &&
	    !(run->budget.left_ns <= 0 && over_share(engine, run)))
		goto out;
	run = sched_first_ready(engine);
	if (engine->budget.wait_until ? now >= engine->budget.wait_until : !band_waits(engine, run))
		goto out;
	if (!engine->budget.wait_until)
		engine->budget.wait_until = now + BAND_WAIT_NS;
	*until = engine->budget.wait_until;
	return NULL;
out:
	engine->budget.wait_until = 0;
	engine->budget.arrived = NULL;
	engine->budget.completed = false;
	return run;
}

const struct sched_policy sched_band = {
	.name = "band",
	.tick_ns = SCHED_BUDGET_PERIOD_NS,
	.tick = sched_budget_tick,
	.on_arrival = band_on_arrival,
	.on_complete = band_on_complete,
	.charge = sched_budget_charge,
	.next = band_next,
	.peek = sched_first_ready,
	.forget = sched_budget_forget,
};
