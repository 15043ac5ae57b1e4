/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unpinning of guest memory that VFIO unmaps, while VFIO holds locks that pinning needs.
 */
#ifndef GHYVI_UNMAP_H
#define GHYVI_UNMAP_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct ghyvi_gtt;

/* Number of ranges in the queue. A thread that finds it full waits for room, or gives up. */
#define GHYVI_UNMAP_RANGES 8u

struct ghyvi_unmap_range {
	u64 gfn;
	u64 count;
};

/**
 * struct ghyvi_unmap - queue of ranges of guest pages that one vGPU must unpin.
 * @gtt: translation state of the vGPU; constant
 * @workers: workqueue of @work; constant
 * @work: worker that unpins
 * @wait: waiters for a change of @done
 * @lock: protects the members below. Innermost.
 * @ranges: the queue; range number n is in slot n % GHYVI_UNMAP_RANGES, and n is in @done..@asked -
 *	1
 * @asked: number of ranges queued so far
 * @begun: number of ranges started so far
 * @done: number of ranges completed so far
 */
struct ghyvi_unmap {
	struct ghyvi_gtt *gtt;
	struct workqueue_struct *workers;
	struct work_struct work;
	wait_queue_head_t wait;
	spinlock_t lock;
	struct ghyvi_unmap_range ranges[GHYVI_UNMAP_RANGES];
	u64 asked;
	u64 begun;
	u64 done;
};

/**
 * ghyvi_unmap_init() - initialize an empty queue.
 * @unmap: queue
 * @gtt: translation state of the vGPU
 * @workers: workqueue for the worker, which waits for the lock of @gtt and so for guest memory
 */
void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_gtt *gtt,
		      struct workqueue_struct *workers);
/**
 * ghyvi_unmap_fini() - stop the worker of a queue.
 * @unmap: queue; no further range will be queued
 *
 * Context: may sleep.
 */
void ghyvi_unmap_fini(struct ghyvi_unmap *unmap);
/**
 * ghyvi_unmap() - call ghyvi_gtt_unmap() in a worker, and wait for it.
 * @unmap: queue of the vGPU
 * @gfn: first page
 * @count: number of pages
 * @may_give_up: called each time that the worker has not completed the range within a quarter of a
 *	second; true ends the wait. NULL: wait without a limit.
 *
 * Context: may sleep; the caller does not hold the lock of struct ghyvi_gtt.
 * Return: true if no page of the range is pinned; false if @may_give_up has ended the wait before.
 * Then the caller must release its locks and try again.
 */
bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count, bool (*may_give_up)(void));

#endif
