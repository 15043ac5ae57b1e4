// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of 64 KiB pages (Gen9). Only each 16th guest entry counts; it maps a group of 16
 * pages. The shadow has all 512 entries of 4 KiB. So it is correct with and without the 64 KiB bit
 * (IPS) in the page directory entry (PDE) that points to it. The bit may be set while the DMA
 * addresses of each group are contiguous and aligned, because the GPU then reads the first entry of
 * a group and not the other 15.
 *
 * Only the first PDE linked to a shadow page may have the bit set. Before a group that is not
 * contiguous is written, the bit must be cleared and the pGPU invalidated, so at most one PDE has
 * to be changed. Other PDEs that point to the same shadow page use its 4 KiB entries.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "entries.h"
#include "pins.h"

/* The shadow of a 64 KiB guest entry. */
struct group {
	u64 entries[GHYVI_PTES_PER_64K];
	bool whole; /* the GPU may use it as one 64 KiB page, or it is not present */
};

/* Must be called before entries of a group that is not one 64 KiB page are written. */
static void table_split(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	u64 *entry;

	if (!page->ips_cached)
		return;
	if (page->ips_set) {
		entry = &page->parent->entries[page->parent_index];
		WRITE_ONCE(*entry, *entry & ~GHYVI_ENTRY_64K);
		page->ips_set = false;
		atomic64_dec(&gtt->params.stats->kept_64k_now);
	}
	/*
	 * An engine may have cached a PDE with the bit set, even if the bit is clear by now. It
	 * would treat the next entries that are written as 64 KiB pages.
	 */
	ghyvi_gtt_invalidate(gtt);
	page->ips_cached = false;
}

/* Returns true if the PDE that points to @page may have the 64 KiB bit set from now on. */
static bool table_keep(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	if (!page->ips_set && page->parent && !page->noncontig_mask) {
		page->ips_set = true;
		page->ips_cached = true;
		ghyvi_count(gtt->params.stats, kept_64k);
		atomic64_inc(&gtt->params.stats->kept_64k_now);
	}
	return page->ips_set;
}

u64 ghyvi_table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
			 struct ghyvi_shadow_page *parent, unsigned int index)
{
	lockdep_assert_held(&gtt->lock);
	if (!page->parent) {
		page->parent = parent;
		page->parent_index = index;
	}
	if (page->parent != parent || page->parent_index != index)
		return 0;
	return table_keep(gtt, page) ? GHYVI_ENTRY_64K : 0;
}

void ghyvi_table_64k_unlink(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	lockdep_assert_held(&gtt->lock);
	page->parent = NULL;
	if (page->ips_set)
		atomic64_dec(&gtt->params.stats->kept_64k_now);
	page->ips_set = false;
}

/* Take a reference on each page of the group, or map scratch. */
static void group_translate(struct ghyvi_gtt *gtt, u64 guest_entry, struct group *group)
{
	u64 gfn = ghyvi_entry_group_gfn(guest_entry);
	const dma_addr_t *dma;
	dma_addr_t first;
	unsigned int i;
	int ret;

	group->whole = !(guest_entry & GHYVI_ENTRY_PRESENT);
	memset64(group->entries, group->whole ? 0 : ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	if (group->whole || ghyvi_entry_hides_table(gtt, gfn, GHYVI_PTES_PER_64K))
		return;
	ret = ghyvi_pages_get(gtt, gfn, GHYVI_PTES_PER_64K, &first);
	if (ret < 0) {
		ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT_64K, guest_entry, ret);
		return;
	}
	group->whole = ret;
	dma = ghyvi_pin_dmas(gtt, gfn);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		group->entries[i] = dma[i] | GHYVI_ENTRY_PRESENT |
				    (guest_entry & GHYVI_ENTRY_WRITE);
}

/* Replace the group at @index, which was translated from @old. */
static void group_write(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 old, const struct group *group)
{
	u64 old_entry = page->entries[index];
	u32 bit = BIT(index / GHYVI_PTES_PER_64K);
	unsigned int i;

	if (!group->whole)
		table_split(gtt, page);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		WRITE_ONCE(page->entries[index + i], group->entries[i]);
	page->noncontig_mask = group->whole ? page->noncontig_mask & ~bit :
					      page->noncontig_mask | bit;
	if (!page->ips_set && table_keep(gtt, page))
		WRITE_ONCE(page->parent->entries[page->parent_index],
			   page->parent->entries[page->parent_index] | GHYVI_ENTRY_64K);
	if (ghyvi_leaf_is_mapped(gtt, old_entry))
		ghyvi_pages_put(gtt, ghyvi_entry_group_gfn(old), GHYVI_PTES_PER_64K);
}

void ghyvi_group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		     u64 old, u64 value)
{
	struct group group;

	if (index % GHYVI_PTES_PER_64K)
		return;
	group_translate(gtt, value, &group);
	group_write(gtt, page, index, old, &group);
}

void ghyvi_group_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       u64 old)
{
	struct group group = { .whole = false };

	if (index % GHYVI_PTES_PER_64K)
		return;
	memset64(group.entries, ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	group_write(gtt, page, index, old, &group);
}
