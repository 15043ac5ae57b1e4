// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of guest pages that a vGPU writes, for live migration: a page that was written after it
 * was sent must be sent again.
 *
 * DOC: three writers
 *
 * The backend logs what engines write, by page of the host. The host's own writes (context images,
 * status pages) go through ghyvi_gtt_ggtt_write(), which records them here. CPUs write through
 * mappings of the aperture; such a page is recorded when it is mapped. Reading the log first takes
 * what was logged, then invalidates the engines' cached translations and removes the mappings. A
 * write through one of these before they are gone belongs to a page that was just reported, and is
 * complete when the reader returns. A later write is logged again.
 *
 * A reader drops the lock to report pages. When a pin is released meanwhile, what the backend has
 * logged of its page is recorded. So what engines wrote is read first.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "aperture.h"
#include "dirty_log.h"
#include "pins.h"
#include "trees.h"

/* Bits per XArray value; less than the 63 that fit, so that numbers are shifts. */
#define DIRTY_BITS 32u

void ghyvi_dirty_record(struct ghyvi_gtt *gtt, u64 gfn)
{
	void *entry = xa_load(&gtt->dirty, gfn / DIRTY_BITS);
	unsigned long bits = entry ? xa_to_value(entry) : 0;

	lockdep_assert_held(&gtt->lock);
	if (bits & BIT(gfn % DIRTY_BITS))
		return;
	entry = xa_store(&gtt->dirty, gfn / DIRTY_BITS, xa_mk_value(bits | BIT(gfn % DIRTY_BITS)),
			 GFP_KERNEL_ACCOUNT);
	if (!xa_err(entry))
		return;
	gtt->log_lost = true;
	ghyvi_report(gtt->params.reporter,
		     "migration: no memory to log a page that the vGPU wrote; migrate again");
}

bool ghyvi_gtt_can_log(const struct ghyvi_gtt *gtt)
{
	return gtt->params.pgpu_ops->log_set && gtt->params.pgpu_ops->log_read;
}

static void forget_all(struct ghyvi_gtt *gtt)
{
	xa_destroy(&gtt->dirty);
	gtt->log_lost = false;
}

int ghyvi_gtt_log_start(struct ghyvi_gtt *gtt)
{
	int ret = 0;

	if (!ghyvi_gtt_can_log(gtt))
		return -EOPNOTSUPP;
	mutex_lock(&gtt->lock);
	if (gtt->logging) {
		ret = -EBUSY;
	} else {
		gtt->logging = true;
		gtt->params.pgpu_ops->log_set(gtt->params.client, true);
		ghyvi_aperture_remove_all(gtt);
	}
	ghyvi_gtt_unlock(gtt);
	return ret;
}

void ghyvi_gtt_log_stop(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	if (gtt->logging) {
		gtt->logging = false;
		gtt->params.pgpu_ops->log_set(gtt->params.client, false);
		forget_all(gtt);
	}
	ghyvi_gtt_unlock(gtt);
}

/* Pages that were taken from the log, to be reported. @next: the first one not looked at. */
struct taken {
	u64 next;
	unsigned int count;
	u64 gfns[DIRTY_BITS];
};

/* Take what the host has written: one value of the XArray. */
static void take_recorded(struct ghyvi_gtt *gtt, struct taken *taken, u64 last)
{
	unsigned long at;
	void *entry;
	u64 gfn, kept = 0;

	xa_for_each_range(&gtt->dirty, at, entry, taken->next / DIRTY_BITS, last / DIRTY_BITS) {
		for (gfn = (u64)at * DIRTY_BITS; gfn < ((u64)at + 1) * DIRTY_BITS; gfn++) {
			if (!(xa_to_value(entry) & BIT(gfn % DIRTY_BITS)))
				continue;
			if (gfn >= taken->next && gfn <= last)
				taken->gfns[taken->count++] = gfn;
			else
				kept |= BIT(gfn % DIRTY_BITS);
		}
		if (kept)
			xa_store(&gtt->dirty, at, xa_mk_value(kept), GFP_KERNEL_ACCOUNT);
		else
			xa_erase(&gtt->dirty, at);
		taken->next = ((u64)at + 1) * DIRTY_BITS;
		return;
	}
	taken->next = last + 1;
}

/* Take what engines have written. */
static void take_logged(struct ghyvi_gtt *gtt, struct taken *taken, u64 last)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin *pin;
	u64 gfn;

	for (gfn = taken->next; gfn <= last && (pin = ghyvi_pin_next(gtt, &gfn, last)); gfn++) {
		if (p->pgpu_ops->log_read(p->client, ghyvi_pin_dma(pin)))
			taken->gfns[taken->count++] = gfn;
		if (taken->count == ARRAY_SIZE(taken->gfns)) {
			taken->next = gfn + 1;
			return;
		}
		cond_resched();
	}
	taken->next = last + 1;
}

/*
 * Report the pages that @take finds. @dirty is called without the lock, because it may access
 * memory of the user, and a page fault there takes any time.
 */
static int report_pages(struct ghyvi_gtt *gtt, u64 first, u64 last,
			void (*take)(struct ghyvi_gtt *gtt, struct taken *taken, u64 last),
			void (*dirty)(void *data, u64 gfn), void *data)
{
	struct taken taken = { .next = first };
	unsigned int i;
	int ret;

	do {
		taken.count = 0;
		mutex_lock(&gtt->lock);
		ret = !gtt->logging ? -EINVAL : gtt->log_lost ? -ENOMEM : 0;
		if (!ret)
			take(gtt, &taken, last);
		mutex_unlock(&gtt->lock);
		for (i = 0; i < taken.count; i++)
			dirty(data, taken.gfns[i]);
	} while (!ret && taken.next <= last);
	return ret;
}

int ghyvi_gtt_log_read(struct ghyvi_gtt *gtt, u64 gfn, u64 count,
		       void (*dirty)(void *data, u64 gfn), void *data)
{
	u64 last = gfn + count - 1;
	int ret;

	if (!count || last < gfn)
		return -EINVAL;
	ret = report_pages(gtt, gfn, last, take_logged, dirty, data);
	if (!ret)
		ret = report_pages(gtt, gfn, last, take_recorded, dirty, data);
	if (ret)
		return ret;
	mutex_lock(&gtt->lock);
	ghyvi_aperture_remove_all(gtt);
	gtt->params.pgpu_ops->invalidate(&gtt->params.client, 1);
	ghyvi_gtt_unlock(gtt);
	return 0;
}
