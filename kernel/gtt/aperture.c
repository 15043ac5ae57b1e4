// SPDX-License-Identifier: GPL-2.0-only
/*
 * The aperture: a part of the GGTT address space that a CPU accesses through a BAR. The owner of
 * the BAR maps the guest pages behind it when they are accessed first, so later accesses cost
 * nothing.
 *
 * DOC: mappings as a translation cache
 *
 * The mappings are a cache of GGTT entries, as an engine's TLB is one. A mapping uses the pin of
 * the shadow entry that it was made from. When such an entry changes, its page is removed from
 * ghyvi_aperture.pages at once, and its mapping at the latest when the lock of the gtt is dropped,
 * or before a pin is released: ghyvi_gtt_invalidate() removes mappings, too. The policy "nested"
 * has no shadow entries; all mappings are removed when the guest flushes, or a page is unmapped.
 *
 * DOC: the copied page
 *
 * Not every hypervisor can map every guest page (kernel/vfio/bar2.c). Then only one page of the
 * aperture is mapped, with a copy of the guest page behind it: the first one, through which i915
 * reads thousands of pages after a GPU hang, one after the other. It changes the GGTT entry for
 * each, which ends the mapping. What the guest has stored in the copy by then is written back.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "internal.h"

void ghyvi_aperture_init(struct ghyvi_aperture *aperture)
{
	mutex_init(&aperture->lock);
	xa_init_flags(&aperture->pages, XA_FLAGS_ACCOUNT);
	aperture->first = U64_MAX;
}

static void aperture_free_pages(struct ghyvi_aperture *aperture)
{
	free_page((unsigned long)aperture->scratch);
	free_page((unsigned long)aperture->copy);
	free_page((unsigned long)aperture->original);
	aperture->scratch = NULL;
	aperture->copy = NULL;
	aperture->original = NULL;
}

void ghyvi_aperture_fini(struct ghyvi_gtt *gtt)
{
	aperture_free_pages(&gtt->aperture);
	xa_destroy(&gtt->aperture.pages);
	mutex_destroy(&gtt->aperture.lock);
}

/* The guest page is still pinned: its pin is released after a flush. */
static void aperture_write_back(struct ghyvi_aperture *aperture)
{
	unsigned int i;
	u64 value;

	for (i = 0; aperture->copied && i < GHYVI_PAGE_BYTES / sizeof(u64); i++) {
		value = READ_ONCE(aperture->copy[i]);
		if (value != aperture->original[i])
			WRITE_ONCE(aperture->copied[i], value);
	}
	aperture->copied = NULL;
}

/* Returns the copy of the guest page at @memory, or NULL if memory is short. */
static void *aperture_copy(struct ghyvi_aperture *aperture, u64 *memory)
{
	if (!aperture->copy)
		aperture->copy = (u64 *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!aperture->original)
		aperture->original = (u64 *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!aperture->copy || !aperture->original)
		return NULL;
	if (aperture->copied != memory) {
		aperture_write_back(aperture);
		memcpy(aperture->original, memory, GHYVI_PAGE_BYTES);
		memcpy(aperture->copy, aperture->original, GHYVI_PAGE_BYTES);
		aperture->copied = memory;
	}
	return aperture->copy;
}

static void aperture_removed(struct ghyvi_aperture *aperture, u64 page)
{
	aperture->count--;
	aperture->first = min(aperture->first, page);
	aperture->last = max(aperture->last, page);
}

void ghyvi_aperture_remove(struct ghyvi_gtt *gtt, u64 page, u64 count)
{
	struct ghyvi_aperture *aperture = &gtt->aperture;
	unsigned long index;
	void *entry;

	lockdep_assert_held(&gtt->lock);
	if (!aperture->count)
		return;
	mutex_lock(&aperture->lock);
	xa_for_each_range(&aperture->pages, index, entry, page, page + count - 1) {
		xa_erase(&aperture->pages, index);
		aperture_removed(aperture, index);
	}
	mutex_unlock(&aperture->lock);
}

int ghyvi_aperture_add(struct ghyvi_gtt *gtt, u64 page, u64 hpa_page)
{
	struct ghyvi_aperture *aperture = &gtt->aperture;
	int err;

	lockdep_assert_held(&gtt->lock);
	mutex_lock(&aperture->lock);
	if (!xa_load(&aperture->pages, page))
		aperture->count++;
	err = xa_err(xa_store(&aperture->pages, page, xa_mk_value(hpa_page), GFP_KERNEL_ACCOUNT));
	if (err)
		aperture_removed(aperture, page);
	mutex_unlock(&aperture->lock);
	return err;
}

void ghyvi_aperture_remove_all(struct ghyvi_gtt *gtt)
{
	ghyvi_aperture_remove(gtt, 0, (u64)gtt->nr_ggtt_tables * GHYVI_ENTRIES);
}

void ghyvi_aperture_unmap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_aperture *aperture = &gtt->aperture;
	struct ghyvi_aperture_user *user = gtt->params.aperture_user;
	u64 first = aperture->first, last = aperture->last;
	u64 copied = gtt->params.aperture_copied.start >> GHYVI_PAGE_SHIFT;

	aperture->first = U64_MAX;
	aperture->last = 0;
	user->unmap(user, first << GHYVI_PAGE_SHIFT, (last - first + 1) << GHYVI_PAGE_SHIFT);
	if (gtt->params.aperture_copied.bytes && copied >= first && copied <= last)
		aperture_write_back(aperture);
}

void ghyvi_aperture_reset(struct ghyvi_gtt *gtt)
{
	ghyvi_aperture_remove_all(gtt);
	ghyvi_aperture_flush(gtt);
	/* What this guest wrote to them is not for the next one. */
	aperture_free_pages(&gtt->aperture);
}

void *ghyvi_aperture_backing(struct ghyvi_gtt *gtt, u64 page, u64 *memory)
{
	struct ghyvi_aperture *aperture = &gtt->aperture;

	lockdep_assert_held(&gtt->lock);
	if (!memory) {
		if (!aperture->scratch)
			aperture->scratch = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
		return aperture->scratch;
	}
	if (ghyvi_range_contains(&gtt->params.aperture_copied, page << GHYVI_PAGE_SHIFT))
		return aperture_copy(aperture, memory);
	return memory;
}

int ghyvi_gtt_aperture_map(struct ghyvi_gtt *gtt, u64 address, int (*map)(void *data, u64 hpa),
			   void *data)
{
	struct ghyvi_aperture *aperture = &gtt->aperture;
	int err = -EAGAIN;
	void *entry;

	mutex_lock(&aperture->lock);
	entry = xa_load(&aperture->pages, address >> GHYVI_PAGE_SHIFT);
	if (entry)
		err = map(data, (u64)xa_to_value(entry) << GHYVI_PAGE_SHIFT);
	mutex_unlock(&aperture->lock);
	return err;
}
