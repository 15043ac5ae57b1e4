/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages that a user maps through the aperture. */
#ifndef GHYVI_GTT_APERTURE_H
#define GHYVI_GTT_APERTURE_H

#include <linux/mutex.h>
#include <linux/xarray.h>
#include <ghyvi/gtt.h>

/**
 * struct ghyvi_aperture - the pages of the aperture that may be mapped
 * @lock: protects @pages; nests in gtt->lock. A holder maps a page, so that no page is mapped after
 *	it was removed here.
 * @pages: GGTT page number -> host-physical page number
 * @count: number of elements in @pages; under gtt->lock
 * @first: the removed pages that the user may have mapped are in @first..@last, GGTT page numbers;
 *	none if @last < @first. Both under gtt->lock.
 * @last: see @first
 * @scratch: mapped where a GGTT entry maps nothing, or NULL; under gtt->lock. It is not the scratch
 *	page of engines, which no user may write.
 * @copy: mapped as the copied page of struct ghyvi_gtt_params, or NULL; under gtt->lock as the next
 * @original: its content when it was copied, or NULL
 * @copied: the guest page that it is a copy of, or NULL: none
 */
struct ghyvi_aperture {
	struct mutex lock;
	struct xarray pages;
	u32 count;
	u64 first;
	u64 last;
	void *scratch;
	u64 *copy;
	u64 *original;
	u64 *copied;
};

/* Callers of the functions below hold gtt->lock, but for init and fini. */
void ghyvi_aperture_init(struct ghyvi_aperture *aperture);
void ghyvi_aperture_fini(struct ghyvi_gtt *gtt);
/* Remove all mappings, and free the pages that they used. */
void ghyvi_aperture_reset(struct ghyvi_gtt *gtt);
/*
 * The shadow entries of @count GGTT pages from @page on have changed: they must not be mapped any
 * more. Their mappings are removed by ghyvi_aperture_flush(), before their pins are released.
 */
void ghyvi_aperture_remove(struct ghyvi_gtt *gtt, u64 page, u64 count);
void ghyvi_aperture_remove_all(struct ghyvi_gtt *gtt);
/* Remove the mappings of all pages that were removed. */
void ghyvi_aperture_flush(struct ghyvi_gtt *gtt);

#endif
