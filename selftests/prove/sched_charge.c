// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a workload is charged: kernel/sched/rq.c.
 *
 * Bounds: three events and a completion, at any times below 2^40 ns (18 minutes) in order. The job
 * begins and ends at any of them, and the pGPU reports any GPU time. The policy has no ticks.
 */
#include "prove.h"
#include <sched/rq.c>

#define TIME_BITS 40

static struct ghyvi_sched sched;
static struct ghyvi_sched_entity entity;
static struct ghyvi_workload workload;
static u64 now_ns;
static s64 charged;

static u64 any_now(struct ghyvi_sched_clock *clock)
{
	u64 later = any_bits(TIME_BITS);

	assume(later >= now_ns);
	now_ns = later;
	return now_ns;
}

static void sum_up(struct sched_rq *rq, s64 ns)
{
	charged += ns;
}

static struct ghyvi_sched_clock any_clock = { .now = any_now };
static const struct sched_policy policy = { .name = "sum", .charge = sum_up };

/* While it runs, it is charged no more than the time since it began, and never less than before. */
static void event(struct sched_engine *engine)
{
	s64 before = charged;

	if (!workload.job.begun_ns && nondet_bool())
		workload.job.begun_ns = any_bits(TIME_BITS);
	if (workload.job.begun_ns && !workload.job.busy_ns && nondet_bool())
		workload.job.busy_ns = any_bits(TIME_BITS);
	ghyvi_sched_update_clock(engine);
	prove(charged >= before);
	prove(charged == (s64)engine->charged_ns);
	prove(!charged || (u64)charged <= now_ns - workload.job.begun_ns);
}

/* After its completion, the charges have summed up to its GPU time. */
void charges(void)
{
	struct sched_engine *engine = &sched.engines[GHYVI_RCS];

	sched.clock = &any_clock;
	engine->sched = &sched;
	engine->policy = &policy;
	engine->current_workload = &workload;
	workload.sched = &sched;
	workload.owner = &entity;
	workload.job.engine = GHYVI_RCS;
	event(engine);
	event(engine);
	event(engine);
	ghyvi_sched_settle(engine, workload.job.busy_ns, now_ns);
	prove(charged == (s64)workload.job.busy_ns);
	prove(!engine->charged_ns);
}
