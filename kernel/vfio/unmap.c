// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpinning of guest memory that VFIO unmaps.
 *
 * vfio_iommu_type1 calls .dma_unmap() with device_list_lock held, and vfio_unpin_pages() takes
 * iommu->lock. A concurrent unmap, or a device that is attached or detached, takes the two locks in
 * the other order (ABBA). Pinning takes iommu->lock with the lock of struct ghyvi_gtt held. So a
 * worker unpins, and the caller waits with a timeout. When it expires, the caller may give up:
 * type1 then releases both locks, finds pinned pages, and calls .dma_unmap() again. The number of
 * times that it may give up is limited per system call; see kernel/kvm/guard.c.
 */
#include <ghyvi/gtt.h>
#include "unmap.h"

/* Long enough for most ranges. If threads of a VMM block each other, they do so for this time. */
#define GHYVI_UNMAP_PATIENCE (HZ / 4)

static bool unmap_dequeue(struct ghyvi_unmap *unmap, struct ghyvi_unmap_range *range)
{
	bool more;

	spin_lock(&unmap->lock);
	more = unmap->begun < unmap->asked;
	if (more)
		*range = unmap->ranges[unmap->begun++ % GHYVI_UNMAP_RANGES];
	spin_unlock(&unmap->lock);
	return more;
}

static void unmap_complete(struct ghyvi_unmap *unmap)
{
	spin_lock(&unmap->lock);
	unmap->done++;
	spin_unlock(&unmap->lock);
}

static void unmap_work(struct work_struct *work)
{
	struct ghyvi_unmap *unmap = container_of(work, struct ghyvi_unmap, work);
	struct ghyvi_unmap_range range;

	while (unmap_dequeue(unmap, &range)) {
		ghyvi_gtt_unmap(unmap->gtt, range.gfn, range.count);
		unmap_complete(unmap);
		wake_up_all(&unmap->wait);
	}
}

/*
 * Queue the range unless it is already queued. Returns the value that unmap->done reaches when the
 * range is complete, or 0 if the queue is full.
 */
static u64 unmap_enqueue(struct ghyvi_unmap *unmap, u64 gfn, u64 count)
{
	const struct ghyvi_unmap_range *range;
	u64 number;

	spin_lock(&unmap->lock);
	/* Ignore ranges that have been started: pages may have been pinned since then. */
	for (number = unmap->begun; number < unmap->asked; number++) {
		range = &unmap->ranges[number % GHYVI_UNMAP_RANGES];
		if (range->gfn == gfn && range->count == count)
			break;
	}
	if (number - unmap->done >= GHYVI_UNMAP_RANGES) {
		number = 0;
	} else {
		if (number == unmap->asked)
			unmap->ranges[unmap->asked++ % GHYVI_UNMAP_RANGES] =
				(struct ghyvi_unmap_range){ gfn, count };
		number++;
	}
	spin_unlock(&unmap->lock);
	return number;
}

/*
 * @number: result of unmap_enqueue(), or 0 while the range could not be queued. Called from a wait
 * condition, so it must not sleep.
 */
static bool is_done(struct ghyvi_unmap *unmap, u64 gfn, u64 count, u64 *number)
{
	bool done;

	if (!*number) {
		*number = unmap_enqueue(unmap, gfn, count);
		if (!*number)
			return false;
		queue_work(unmap->workers, &unmap->work);
	}
	spin_lock(&unmap->lock);
	done = unmap->done >= *number;
	spin_unlock(&unmap->lock);
	return done;
}

bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count, bool (*may_give_up)(void))
{
	u64 number = 0;

	while (!wait_event_timeout(unmap->wait, is_done(unmap, gfn, count, &number),
				   GHYVI_UNMAP_PATIENCE))
		if (may_give_up && may_give_up())
			return false;
	return true;
}

void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_gtt *gtt,
		      struct workqueue_struct *workers)
{
	unmap->gtt = gtt;
	unmap->workers = workers;
	INIT_WORK(&unmap->work, unmap_work);
	init_waitqueue_head(&unmap->wait);
	spin_lock_init(&unmap->lock);
	unmap->asked = 0;
	unmap->begun = 0;
	unmap->done = 0;
}

void ghyvi_unmap_fini(struct ghyvi_unmap *unmap)
{
	cancel_work_sync(&unmap->work);
}
