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

struct ghyvi_mm;

/* As many as there are threads that unmap at the same time; one more waits for room. */
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
 * @given_up: calls that came back with their range not done, since there last was nothing to do
 */
struct ghyvi_unmap {
	struct ghyvi_mm *mm;
	struct work_struct work;
	wait_queue_head_t wait;
	spinlock_t lock;
	struct ghyvi_unmap_range ranges[GHYVI_UNMAP_RANGES];
	u64 asked;
	u64 begun;
	u64 done;
	unsigned int given_up;
};

void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_mm *mm);
/** ghyvi_unmap_fini() - nobody asks any more; afterwards nothing is under way. */
void ghyvi_unmap_fini(struct ghyvi_unmap *unmap);
/**
 * ghyvi_unmap() - ghyvi_mm_unmap(), by another thread. Returns true when that is done, false when the caller must let go of
 * its locks and ask again.
 */
bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count);

#endif
