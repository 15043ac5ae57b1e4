// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory that VFIO takes away.
 *
 * vfio_iommu_type1 calls .dma_unmap() with device_list_lock held; vfio_unpin_pages() takes
 * iommu->lock. A concurrent unmap and a device that joins or leaves take them in the other order.
 * Pinning takes iommu->lock with the mm's lock held. So a worker unpins, and the caller waits with
 * a timeout. When it expires, the caller may give up: type 1 releases both locks in turn, sees
 * pinned pages, and asks again. How often it may is counted for each system call, see
 * kernel/kvm/guard.c.
 */
#include <ghyvi/compat.h>
#include <ghyvi/gtt.h>
#include "unmap.h"

/* Long enough for most ranges. If a VMM's threads block each other, they do so for this long. */
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
		ghyvi_gtt_unmap(unmap->mm, range.gfn, range.count);
		unmap_complete(unmap);
		wake_up_all(&unmap->wait);
	}
}

/*
 * Put the range on the list unless it waits there already. Returns @done when it will have been
 * done, or 0: no room.
 */
static u64 unmap_enqueue(struct ghyvi_unmap *unmap, u64 gfn, u64 count)
{
	const struct ghyvi_unmap_range *range;
	u64 number;

	spin_lock(&unmap->lock);
	/* Not what has been begun: pages can have been pinned since. */
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

/* @number: of the range, or 0 as long as there was no room. Part of a wait's condition: no sleep. */
static bool is_done(struct ghyvi_unmap *unmap, u64 gfn, u64 count, u64 *number)
{
	bool done;

	if (!*number) {
		*number = unmap_enqueue(unmap, gfn, count);
		if (!*number)
			return false;
		queue_work(ghyvi_unbound_wq, &unmap->work);
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

void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_gtt *mm)
{
	unmap->mm = mm;
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
