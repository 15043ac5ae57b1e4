// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory that VFIO takes away.
 *
 * VFIO (type 1) asks for the pages of a range with its device_list_lock held. To give them back takes its iommu->lock,
 * and whoever has that may be waiting for device_list_lock: another thread that unmaps, or a device that joins. All that
 * pin pages hold the mm's lock, too. So somebody else does the work, and the caller waits for a limited time: then
 * it returns, VFIO lets go of both locks in turn, sees that something is still pinned, and asks again.
 */
#include <ghyvi/compat.h>
#include <ghyvi/mm.h>
#include "unmap.h"

#define PATIENCE (HZ / 4)
/*
 * VFIO asks eleven times, then it is a BUG. So this often, and then for as long as it takes: it is slow work, or a
 * process that goes out of its way to block its own threads. Counted anew once all is done; pages that are pinned again in
 * between (see ghyvi_kvm_unmapping()) can make that happen twice or three times for one of VFIO's.
 */
#define GIVE_UP_MAX 3

static bool begin(struct ghyvi_unmap *unmap, struct ghyvi_unmap_range *range)
{
	bool more;

	spin_lock(&unmap->lock);
	more = unmap->begun < unmap->asked;
	if (more)
		*range = unmap->ranges[unmap->begun++ % GHYVI_UNMAP_RANGES];
	spin_unlock(&unmap->lock);
	return more;
}

static void end(struct ghyvi_unmap *unmap)
{
	spin_lock(&unmap->lock);
	unmap->done++;
	if (unmap->done == unmap->asked)
		unmap->given_up = 0;
	spin_unlock(&unmap->lock);
}

static void unmap_work(struct work_struct *work)
{
	struct ghyvi_unmap *unmap = container_of(work, struct ghyvi_unmap, work);
	struct ghyvi_unmap_range range;

	while (begin(unmap, &range)) {
		ghyvi_mm_unmap(unmap->mm, range.gfn, range.count);
		end(unmap);
		wake_up_all(&unmap->wait);
	}
}

/* Put the range on the list unless it waits there already. Returns @done when it will have been done, or 0: no room. */
static u64 ask(struct ghyvi_unmap *unmap, u64 gfn, u64 count)
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

static bool is_done(struct ghyvi_unmap *unmap, u64 number)
{
	bool done;

	spin_lock(&unmap->lock);
	done = unmap->done >= number;
	spin_unlock(&unmap->lock);
	return done;
}

/* May a caller whose range is not done go away? */
static bool may_give_up(struct ghyvi_unmap *unmap, u64 number)
{
	bool may;

	spin_lock(&unmap->lock);
	may = unmap->done < number && unmap->given_up < GIVE_UP_MAX;
	unmap->given_up += may;
	spin_unlock(&unmap->lock);
	return may;
}

bool ghyvi_unmap(struct ghyvi_unmap *unmap, u64 gfn, u64 count)
{
	u64 number;

	wait_event(unmap->wait, (number = ask(unmap, gfn, count)));
	queue_work(ghyvi_unbound_wq, &unmap->work);
	if (wait_event_timeout(unmap->wait, is_done(unmap, number), PATIENCE))
		return true;
	if (may_give_up(unmap, number))
		return false;
	wait_event(unmap->wait, is_done(unmap, number));
	return true;
}

void ghyvi_unmap_init(struct ghyvi_unmap *unmap, struct ghyvi_mm *mm)
{
	unmap->mm = mm;
	INIT_WORK(&unmap->work, unmap_work);
	init_waitqueue_head(&unmap->wait);
	spin_lock_init(&unmap->lock);
	unmap->asked = 0;
	unmap->begun = 0;
	unmap->done = 0;
	unmap->given_up = 0;
}

void ghyvi_unmap_fini(struct ghyvi_unmap *unmap)
{
	cancel_work_sync(&unmap->work);
}
