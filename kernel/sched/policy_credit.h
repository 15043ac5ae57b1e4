/* SPDX-License-Identifier: GPL-2.0-only */
/* Budgets of the policies "credit" and "band". */
#ifndef GHYVI_POLICY_CREDIT_H
#define GHYVI_POLICY_CREDIT_H

#include <linux/build_bug.h>
#include "sched_types.h"

#define CREDIT_PERIOD_NS (30 * 1000 * 1000ULL)

/* struct credit_rq - a vGPU's budget on one engine, in rq->priv */
struct credit_rq {
	s64 left_ns;
	u64 used_ns; /* GPU time in the current accounting window */
	u64 permille; /* of the accounting window used, at the last tick */
};

/* struct credit_engine - in engine->priv */
struct credit_engine {
	u64 window_start;
	/* used by "band" only */
	u64 wait_until; /* end of the idle period; 0: the engine does not idle */
	struct sched_rq *from, *arrived; /* completed last; woke on the free engine */
	bool completed; /* no decision since the last completion */
};

static inline struct credit_rq *credit_rq(struct sched_rq *rq)
{
	BUILD_BUG_ON(sizeof(struct credit_rq) > sizeof(rq->priv));
	return (struct credit_rq *)rq->priv;
}

static inline struct credit_engine *credit_engine(struct sched_engine *engine)
{
	BUILD_BUG_ON(sizeof(struct credit_engine) > sizeof(engine->priv));
	return (struct credit_engine *)engine->priv;
}

void ghyvi_sched_credit_init(struct sched_engine *engine, u64 now);
void ghyvi_sched_credit_tick(struct sched_engine *engine, u64 now);
void ghyvi_sched_credit_charge(struct sched_rq *rq, s64 ns);
struct sched_rq *ghyvi_sched_first_ready(struct sched_engine *engine);
u64 ghyvi_sched_total_weight(struct sched_engine *engine);

#endif
