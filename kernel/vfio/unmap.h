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

/*
 * struct ghyvi_unmap - queue of ranges of guest pages that one vGPU must unpin.
 * @ranges: the queue; range number n is in slot n % GHYVI_UNMAP_RANGES, and n is in @done..@asked -
 *	1
 */
struct ghyvi_unmap {
	struct ghyvi_gtt *gtt; /* translation state of the vGPU; constant */
	struct workqueue_struct *workers; /* workqueue of @work; constant */
	struct work_struct work; /* worker that unpins */
	wait_queue_head_t wait; /* waiters for a change of @done */
	spinlock_t lock; /* protects the members below. Innermost. */
	struct ghyvi_unmap_range ranges[GHYVI_UNMAP_RANGES];
	u64 asked; /* number of ranges queued so far */
	u64 begun; /* number of ranges started so far */
	u64 done; /* number of ranges completed so far */
};

/* @workers: for the worker, which waits for the lock of @gtt and so for guest memory */
void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_gtt *gtt,
		      struct workqueue_struct *workers);
/* Stop the worker. No further range will be queued. May sleep. */
void ghyvi_unmap_fini(struct ghyvi_unmap *unmap);
/*
 * Call ghyvi_gtt_unmap() in the worker, and wait for it. @may_give_up: called each time that the
 * worker has not completed the range within a quarter of a second; true ends the wait. NULL: wait
 * without a limit. May sleep; the caller does not hold the lock of struct ghyvi_gtt. Returns true
 * if no page of the range is pinned; false if @may_give_up has ended the wait before. Then the
 * caller must release its locks and try again.
 */
bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count, bool (*may_give_up)(void));

#endif
