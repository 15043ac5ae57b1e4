// SPDX-License-Identifier: GPL-2.0-only
/*
 * The orders of the policy "fair", and its use of cap.c: kernel/sched/policy_fair.c.
 *
 * Bounds: none for the orders. Caps: all settings and knobs, any time, turns and charges of less
 * than 2^50 ns. The functions of cap.c are replaced by their contract.
 */
#include "prove.h"
#include <sched/policy_fair.c>

static struct ghyvi_sched sched;
static struct ghyvi_sched_entity entity;
static struct sched_rq *const rq = &entity.rqs[0];
static bool window_set;

void ghyvi_sched_cap_set_window(struct sched_cap *cap, struct sched_cap *old, u64 window_ns,
				u64 now)
{
	prove(window_ns >= 1000ULL * GHYVI_SCHED_WINDOW_MIN_US);
	prove(window_ns <= 1000ULL * GHYVI_SCHED_WINDOW_MAX_US);
	window_set = true;
}

/* Without a window, or with a cap of 0, the functions below divide by zero. */
static void check_cap(const struct sched_cap *cap, u32 percent)
{
	prove(window_set && percent >= 1 && percent <= GHYVI_SCHED_CAP_MAX);
}

void ghyvi_sched_cap_charge(struct sched_cap *cap, u32 percent, s64 ns, u64 now)
{
	check_cap(cap, percent);
}

u64 ghyvi_sched_cap_eligible_at(struct sched_cap *cap, u32 percent, u64 turn_ns, u64 now)
{
	check_cap(cap, percent);
	return any_in(now, U64_MAX);
}

u64 ghyvi_sched_cap_used_up_at(struct sched_cap *cap, u32 percent, u64 now)
{
	check_cap(cap, percent);
	return any_in(now, U64_MAX);
}

static struct sched_engine *any_engine(u32 weight)
{
	sched.settings.timeslice_us =
		any_in(GHYVI_SCHED_TIMESLICE_MIN_US, GHYVI_SCHED_TIMESLICE_MAX_US);
	sched.settings.window_us = any_in(GHYVI_SCHED_WINDOW_MIN_US, GHYVI_SCHED_WINDOW_MAX_US);
	sched.engines[0].sched = &sched;
	entity.sched = &sched;
	entity.knobs.weight = weight;
	entity.knobs.cap = any_in(0, GHYVI_SCHED_CAP_MAX);
	entity.knobs.priority = any_in(0, GHYVI_SCHED_PRIORITY_MAX);
	rq->entity = &entity;
	rq->fair.vtime = any_bits(60);
	rq->fair.service_ns = any_bits(40);
	rq->fair.served_ns = any_bits(40);
	rq->fair.stay_ns = any_bits(40);
	return &sched.engines[0];
}

/* The keys of the trees are in a strict total order, however far apart they are. */
#define PROVE_ORDER(less, node, key)                                                            \
	do {                                                                                    \
		struct sched_rq a, b, c;                                                        \
                                                                                                \
		prove(!less(&a.fair.node, &a.fair.node));                                       \
		prove(!less(&a.fair.node, &b.fair.node) || !less(&b.fair.node, &a.fair.node));  \
		prove(less(&a.fair.node, &b.fair.node) || less(&b.fair.node, &a.fair.node) ||   \
		      a.fair.key == b.fair.key);                                                \
		prove(!less(&a.fair.node, &b.fair.node) || !less(&b.fair.node, &c.fair.node) || \
		      less(&a.fair.node, &c.fair.node));                                        \
	} while (0)

void orders(void)
{
	PROVE_ORDER(less_rank, by_rank, rank);
	PROVE_ORDER(less_vtime, by_vtime, vtime);
	PROVE_ORDER(less_throttled, by_rank, eligible_at);
}

/* The cap's functions are called with a window and a cap that is not 0. */
void caps(void)
{
	struct sched_engine *engine = any_engine(GHYVI_SCHED_WEIGHT_DEFAULT);
	u64 now = nondet_u64();
	s64 ns = nondet_s64();

	assume(ns > -(1LL << 50) && ns < 1LL << 50);
	window_set = false;
	prove(eligible_at(engine, rq, now) >= now);
	window_set = false;
	prove(fair_used_up_at(engine, rq, now) >= now);
	window_set = false;
	fair_ran(engine, rq, ns, now);
	prove((s64)rq->fair.served_ns >= 0);
}
