/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guest memory that VFIO takes away, while it holds locks that others wait for.
 */
#ifndef GHYVI_UNMAP_H
#define GHYVI_UNMAP_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct ghyvi_gtt;

/* As many as threads may unmap at the same time; one more waits for room, or gives up. */
#define GHYVI_UNMAP_RANGES 8u

struct ghyvi_unmap_range {
	u64 gfn;
	u64 count;
};

/**
 * struct ghyvi_unmap - ranges of guest pages on their way out of one vGPU
 * @mm: constant
 * @wait: for @done
 * @lock: protects everything below; innermost
 * @ranges: number n at place n % GHYVI_UNMAP_RANGES, from @done to @asked
 * @asked, @begun, @done: how many there were so far
 */
struct ghyvi_unmap {
	struct ghyvi_gtt *mm;
	struct work_struct work;
	wait_queue_head_t wait;
	spinlock_t lock;
	struct ghyvi_unmap_range ranges[GHYVI_UNMAP_RANGES];
	u64 asked;
	u64 begun;
	u64 done;
};

void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_gtt *mm);
/** ghyvi_unmap_fini() - nobody asks any more; afterwards nothing is under way. */
void ghyvi_unmap_fini(struct ghyvi_unmap *unmap);
/**
 * ghyvi_unmap() - ghyvi_gtt_unmap() by a worker, and wait for it.
 * @unmap: of the vGPU
 * @gfn: first page
 * @count: number of pages
 * @may_give_up: asked each time that the worker has not finished within a quarter of a second;
 *	NULL: wait as long as it takes
 *
 * Context: may sleep; not with the mm's lock.
 * Return: true when nothing of the range is pinned; false when @may_give_up returned true before
 * that: the caller releases its locks and asks again.
 */
bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count, bool (*may_give_up)(void));

#endif
