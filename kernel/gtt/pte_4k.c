// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation of last-level entries (4 KiB pages), including those of the GGTT. One sync may
 * translate thousands of them. An entry that maps a page holds a reference on its pin.
 */
#include <linux/compiler.h>
#include <linux/err.h>

#include "entries.h"
#include "pins.h"
#include "tables.h"

static u64 leaf_translate(struct ghyvi_gtt *gtt, u64 guest_entry, bool ggtt)
{
	u64 gfn = ghyvi_entry_gfn(guest_entry), flags = GHYVI_ENTRY_PRESENT;
	struct ghyvi_pin *pin;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return 0;
	pin = ghyvi_pin_find(gtt, gfn);
	if ((!pin || pin->table) && ghyvi_entry_hides_table(gtt, gfn, 1))
		return ghyvi_leaf_scratch(gtt);
	pin = pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn);
	if (IS_ERR(pin))
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT, guest_entry, PTR_ERR(pin));
	/* GGTT entries have no write bit. */
	if (ggtt || (guest_entry & GHYVI_ENTRY_WRITE))
		flags |= GHYVI_ENTRY_WRITE;
	return pin->dma | flags;
}

/* The new entry's reference is taken before the old one is dropped: both may be on the same pin. */
static void leaf_write(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       u64 old, u64 entry)
{
	u64 old_entry = page->entries[index];

	WRITE_ONCE(page->entries[index], entry);
	if (unlikely(gtt->aperture.count && ghyvi_table_is_ggtt(page->table)))
		ghyvi_aperture_remove(gtt, (u64)page->table->ggtt_page * GHYVI_ENTRIES + index, 1);
	if (ghyvi_leaf_is_mapped(gtt, old_entry))
		ghyvi_pin_put(gtt, ghyvi_entry_gfn(old));
}

void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count)
{
	bool ggtt = ghyvi_table_is_ggtt(page->table);
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (values[i] == old[i])
			continue;
		leaf_write(gtt, page, index + i, old[i], leaf_translate(gtt, values[i], ggtt));
		if (gtt->deferral.err)
			ghyvi_table_defer_entry(gtt, page->table, index + i);
	}
}

void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old)
{
	leaf_write(gtt, page, index, old, ghyvi_leaf_scratch(gtt));
}
