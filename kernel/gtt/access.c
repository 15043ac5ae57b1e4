// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads by the host from a context's PPGTT. They return what an engine would read: zero where an
 * entry could not be translated.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "entries.h"
#include "pins.h"
#include "trees.h"

static unsigned int index_at(u64 address, unsigned int level)
{
	return address >> (GHYVI_PAGE_SHIFT + 9 * (level - 1)) & (GHYVI_ENTRIES - 1);
}

/*
 * Walk the shadow of @root. Sets @page to NULL where it maps scratch. Entries hold addresses for
 * engines, so each entry only tells whether something is mapped; the snapshot that it was
 * translated from tells which guest page.
 */
static int walk_shadow(struct ghyvi_root *root, u64 address, const void **page)
{
	const struct ghyvi_shadow_page *shadow = root->pages[0];
	struct ghyvi_gtt *gtt = root->gtt;
	const struct ghyvi_table_page *table;
	unsigned int level, number, below;
	u64 entry, guest, gfn;
	struct ghyvi_pin *pin;

	*page = NULL;
	if (root->levels == GHYVI_LEVEL_PDP)
		shadow = root->pages[index_at(address, GHYVI_LEVEL_PDP)];
	for (;; shadow = table->shadows[below]) {
		if (!shadow || !shadow->table)
			return 0;
		level = shadow->level;
		number = index_at(address, max_t(unsigned int, level, GHYVI_LEVEL_PT));
		entry = READ_ONCE(shadow->entries[number]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -EFAULT;
		if (entry == ghyvi_entry_scratch(gtt, level))
			return 0;
		if (level == GHYVI_LEVEL_PT_64K) {
			guest = shadow->table->snapshot[round_down(number, GHYVI_PTES_PER_64K)];
			gfn = ghyvi_entry_group_gfn(guest) + number % GHYVI_PTES_PER_64K;
			break;
		}
		guest = shadow->table->snapshot[number];
		gfn = ghyvi_entry_gfn(guest);
		if (level == GHYVI_LEVEL_PT)
			break;
		if (ghyvi_entry_is_large(level, guest)) {
			gfn = ghyvi_entry_large_gfn(guest) + index_at(address, GHYVI_LEVEL_PT);
			break;
		}
		below = ghyvi_entry_below(gtt, level, guest);
		table = xa_load(&gtt->tables, gfn);
		if (WARN_ON_ONCE(!table))
			return 0;
	}
	pin = ghyvi_pin_find(gtt, gfn);
	if (!WARN_ON_ONCE(!pin))
		*page = phys_to_virt(pin->hpa);
	return 0;
}

static int walk_guest(struct ghyvi_root *root, u64 address, const void **page)
{
	unsigned int level = root->levels;
	u64 gfn = root->gpa[0] >> GHYVI_PAGE_SHIFT, entry, number;
	bool groups = false;
	struct ghyvi_pin *pin;
	const u64 *entries;

	*page = NULL;
	/* A three-level context contains the addresses of its four page directories. */
	if (level == GHYVI_LEVEL_PDP)
		gfn = root->gpa[index_at(address, level--)] >> GHYVI_PAGE_SHIFT;
	for (;; level--) {
		pin = ghyvi_nested_pin(root->gtt, gfn);
		if (IS_ERR(pin))
			return 0;
		entries = phys_to_virt(pin->hpa);
		if (!level)
			break;
		number = index_at(address, level);
		entry = READ_ONCE(
			entries[groups ? round_down(number, GHYVI_PTES_PER_64K) : number]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -EFAULT;
		gfn = groups ? ghyvi_entry_group_gfn(entry) + number % GHYVI_PTES_PER_64K :
			       ghyvi_entry_gfn(entry);
		groups = level == GHYVI_LEVEL_PD &&
			 ghyvi_entry_below(root->gtt, level, entry) == GHYVI_LEVEL_PT_64K;
		if (ghyvi_entry_is_large(level, entry))
			gfn = ghyvi_entry_large_gfn(entry) + index_at(address, --level);
		else if (level == GHYVI_LEVEL_PDP && entry & GHYVI_ENTRY_LARGE)
			return 0;
	}
	*page = entries;
	return 0;
}

int ghyvi_gtt_ppgtt_read(struct ghyvi_root *root, u64 address, void *buffer, size_t bytes)
{
	struct ghyvi_gtt *gtt = root->gtt;
	const void *page;
	size_t at, part;
	int ret = 0;

	mutex_lock(&gtt->lock);
	for (at = 0; at < bytes; at += part, address += part) {
		address &= root->levels == 3 ? GENMASK_ULL(31, 0) : GENMASK_ULL(47, 0);
		part = min_t(size_t, bytes - at, GHYVI_PAGE_BYTES - address % GHYVI_PAGE_BYTES);
		ret = root->nested ? walk_guest(root, address, &page) :
				     walk_shadow(root, address, &page);
		if (ret)
			break;
		if (page)
			memcpy(buffer + at, page + address % GHYVI_PAGE_BYTES, part);
		else
			memset(buffer + at, 0, part);
	}
	ghyvi_gtt_unlock(gtt);
	return ret;
}
