/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of a paravirtual guest, to compare the policies with: GPUvm's multicall, and PVMMIO,
 * which Intel wrote for GVT-g. The guest's driver does not store to page tables. It queues each
 * update, and hands the queue over with one exit when it holds a batch, and before each submission.
 * ghyvi/multicall.h is what the module offers; a batch there has at most 256 updates.
 */
#ifndef GHYVI_SIM_MULTICALL_H
#define GHYVI_SIM_MULTICALL_H

#include "trace.h"

#define MULTICALL_NAME "multicall" /* in the list of policies */
#define MULTICALL_BATCH_MAX 512u
#define MULTICALL_BATCH_DEFAULT 64u

/*
 * struct multicall - counts of the model
 * @batch: number of updates at which the queue is handed over, 1..MULTICALL_BATCH_MAX
 * @queued: updates in the queue
 * @exits: number of times that the queue was handed over
 * @entries: updates that were handed over. An entry counts each time that it is written, and a wide
 *	store counts as one update for each of its entries.
 */
struct multicall {
	uint32_t batch;
	uint32_t queued;
	uint64_t exits, entries;
};

/**
 * multicall_replay() - Count the exits of a trace.
 * @multicall: all zeroes, except @batch
 * @source: the trace; read from its start to its end
 *
 * The end of the trace hands the queue over, too. The guest has one queue for all page tables.
 *
 * Return: 0, or -1 with source->message set.
 */
int multicall_replay(struct multicall *multicall, struct trace_source *source);

#endif
