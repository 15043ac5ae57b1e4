// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation of last-level entries (4 KiB pages), including those of the GGTT. One sync may
 * translate thousands of them. An entry that maps a page holds a reference on its pin.
 *
 * Drivers bind consecutive pages to consecutive entries, and fill unused entries with one scratch
 * page. So entries are translated in runs: one look-up of the block of pins, one test of its masks.
 * A run that needs more than references (a page to pin, an entry to reject) is translated entry by
 * entry.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/minmax.h>

#include "entries.h"
#include "pins.h"
#include "tables.h"

static u64 leaf_flags(u64 guest_entry, bool ggtt)
{
	/* GGTT entries have no write bit. */
	return GHYVI_ENTRY_PRESENT | (ggtt ? GHYVI_ENTRY_WRITE : guest_entry & GHYVI_ENTRY_WRITE);
}

static u64 leaf_translate(struct ghyvi_gtt *gtt, u64 guest_entry, bool ggtt)
{
	u64 gfn = ghyvi_entry_gfn(guest_entry);
	struct ghyvi_pin *pin;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return 0;
	pin = ghyvi_pin_find(gtt, gfn);
	if ((!pin || ghyvi_pin_is_table(pin)) && ghyvi_entry_hides_table(gtt, gfn, 1))
		return ghyvi_leaf_scratch(gtt);
	pin = pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn);
	if (IS_ERR(pin))
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT, guest_entry, PTR_ERR(pin));
	return ghyvi_pin_dma(pin) | leaf_flags(guest_entry, ggtt);
}

/*
 * The longest run that the present guest entries from @entries on, at most @count, begin with. If
 * @shadow is not NULL, the run ends before the first of these shadow entries that is @scratch. The
 * guest entries of a run are present, so all other shadow entries are mapped.
 */
static __always_inline struct ghyvi_pin_run leaf_run(const u64 *entries, unsigned int count,
						     const u64 *shadow, u64 scratch)
{
	u64 gfn = ghyvi_entry_gfn(*entries), next = *entries, stride = GHYVI_PAGE_BYTES;
	unsigned int n = 0;

	if (count > 1 && entries[1] == next)
		stride = 0;
	else
		count = min_t(u64, count, GHYVI_PIN_BLOCK - gfn % GHYVI_PIN_BLOCK);
	do
		next += stride;
	while (++n < count && entries[n] == next && (!shadow || shadow[n] != scratch));
	return (struct ghyvi_pin_run){ gfn, n, stride || n == 1 };
}

/* Drop what the shadow entries from @shadow on hold. They were translated from @old. */
static void leaf_release(struct ghyvi_gtt *gtt, const u64 *shadow, const u64 *old,
			 unsigned int count)
{
	struct ghyvi_pin_run run;
	unsigned int i;

	for (i = 0; i < count; i += run.count) {
		run = (struct ghyvi_pin_run){ .count = 1 };
		if (!ghyvi_leaf_is_mapped(gtt, shadow[i]))
			continue;
		run = leaf_run(old + i, count - i, shadow + i, ghyvi_leaf_scratch(gtt));
		ghyvi_pins_put(gtt, &run);
	}
}

/* The shadow entries [@index, @index + @count) of @page have changed. */
static void leaf_changed(struct ghyvi_gtt *gtt, const struct ghyvi_shadow_page *page,
			 unsigned int index, unsigned int count)
{
	if (unlikely(gtt->aperture.count && ghyvi_table_is_ggtt(page->table)))
		ghyvi_aperture_remove(gtt, (u64)page->table->ggtt_page * GHYVI_ENTRIES + index,
				      count);
}

/*
 * The new entry's reference is taken before the old one is dropped: both may be on the same pin.
 * No pin is freed before the pGPU is invalidated, which happens after this entry is written.
 */
static void leaf_write(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       u64 old, u64 entry)
{
	leaf_release(gtt, page->entries + index, &old, 1);
	WRITE_ONCE(page->entries[index], entry);
	leaf_changed(gtt, page, index, 1);
}

/* Returns how many entries were translated: 0 if the first run is no matter of references alone. */
static unsigned int leaf_set_run(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
				 unsigned int index, const u64 *old, const u64 *values,
				 unsigned int count)
{
	struct ghyvi_pin_run run;
	const dma_addr_t *dma;
	unsigned int i;
	u64 flags;

	if (!(*values & GHYVI_ENTRY_PRESENT))
		return 0;
	run = leaf_run(values, count, NULL, 0);
	dma = ghyvi_pins_hold(gtt, &run);
	if (!dma)
		return 0;
	leaf_release(gtt, page->entries + index, old, run.count);
	flags = leaf_flags(*values, ghyvi_table_is_ggtt(page->table));
	for (i = 0; i < run.count; i++, dma += run.step)
		WRITE_ONCE(page->entries[index + i], *dma | flags);
	leaf_changed(gtt, page, index, run.count);
	return run.count;
}

void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count)
{
	bool ggtt = ghyvi_table_is_ggtt(page->table);
	unsigned int i = 0, run;

	while (i < count) {
		run = values[i] == old[i] ?
			      1 :
			      leaf_set_run(gtt, page, index + i, old + i, values + i, count - i);
		i += run;
		if (run)
			continue;
		leaf_write(gtt, page, index + i, old[i], leaf_translate(gtt, values[i], ggtt));
		if (gtt->deferral.err)
			ghyvi_table_defer_entry(gtt, page->table, index + i);
		i++;
	}
}

void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old)
{
	leaf_write(gtt, page, index, old, ghyvi_leaf_scratch(gtt));
}
