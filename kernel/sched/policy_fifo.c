// SPDX-License-Identifier: GPL-2.0-only
/* The policy "fifo": workloads run in order of arrival, over all vGPUs of the pGPU. */
#include "sched_types.h"

static struct sched_rq *fifo_peek_next(struct sched_engine *engine)
{
	struct ghyvi_workload *workload =
		list_first_entry_or_null(&engine->order, struct ghyvi_workload, order);

	return workload ? sched_rq_of(workload) : NULL;
}

static struct sched_rq *fifo_pick_next(struct sched_engine *engine, u64 now, u64 *until)
{
	return fifo_peek_next(engine);
}

const struct sched_policy ghyvi_sched_fifo = {
	.name = "fifo",
	.pick_next = fifo_pick_next,
	.peek_next = fifo_peek_next,
};
