// SPDX-License-Identifier: GPL-2.0-only
/* First come, first served, over all vGPUs of the pGPU. */
#include "sched_types.h"

static struct sched_run *fifo_peek(struct sched_engine *engine)
{
	struct ghyvi_workload *workload;
	struct sched_run *run;

	list_for_each_entry(workload, &engine->order, order) {
		run = sched_run_of(workload);
		if (sched_is_ready(run))
			return run;
	}
	return NULL;
}

static struct sched_run *fifo_next(struct sched_engine *engine, u64 now, u64 *until)
{
	return fifo_peek(engine);
}

const struct sched_policy sched_fifo = {
	.name = "fifo",
	.next = fifo_next,
	.peek = fifo_peek,
};
