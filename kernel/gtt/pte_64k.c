// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of 64 KiB pages (Gen9): each 16th guest entry stands for a group of 16. Their shadows have all 512 entries
 * of 4 KiB, so that they are right whether or not the entry that leads there says "64 KiB". It may say so while each
 * group is contiguous and aligned in the host; the GPU then reads one entry of a group, and takes fifteen pages on trust.
 *
 * One entry of level 2 at most says so, the one that came first, since it must not any more before the first group that
 * is apart is written: others that lead to the same shadow have 4 KiB pages.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "gtt_types.h"

/* The shadow of an entry for 64 KiB. */
struct group {
	u64 entries[GHYVI_PTES_PER_64K];
	bool whole; /* the GPU may have it as one page */
};

/* Before any entry is written that is no part of 64 KiB. */
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
	/* An engine may have loaded it, perhaps before it went: it would look for 64 KiB at what is written next. */
	gtt->params.pgpu_ops->invalidate(gtt->params.client);
	page->ips_cached = false;
}

/* Whether the entry that leads to @page may say "64 KiB" from now on. */
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

u64 ghyvi_table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, struct ghyvi_shadow_page *parent,
			 unsigned int index)
{
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
	page->parent = NULL;
	if (page->ips_set)
		atomic64_dec(&gtt->params.stats->kept_64k_now);
	page->ips_set = false;
}

/* A reference on each page, or scratch. */
static void group_translate(struct ghyvi_gtt *gtt, u64 guest_entry, struct group *group)
{
	u64 gfn = ghyvi_entry_group_gfn(guest_entry), bus;
	const struct ghyvi_pin *pins;
	unsigned int i;
	int ret;

	group->whole = !(guest_entry & GHYVI_ENTRY_PRESENT);
	memset64(group->entries, group->whole ? 0 : ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	if (group->whole || ghyvi_entry_hides_table(gtt, gfn, GHYVI_PTES_PER_64K))
		return;
	ret = ghyvi_pins_get(gtt, gfn, GHYVI_PTES_PER_64K, &bus);
	if (ret < 0) {
		ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT_64K, guest_entry, ret);
		return;
	}
	group->whole = ret;
	pins = ghyvi_pin_find(gtt, gfn);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		group->entries[i] = pins[i].bus | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE);
}

/* What stands at @index was translated from @old. */
static void group_write(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old,
			const struct group *group)
{
	u64 old_entry = page->entries[index];
	u32 bit = BIT(index / GHYVI_PTES_PER_64K);
	unsigned int i;

	if (!group->whole)
		table_split(gtt, page);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		WRITE_ONCE(page->entries[index + i], group->entries[i]);
	page->noncontig_mask = group->whole ? page->noncontig_mask & ~bit : page->noncontig_mask | bit;
	if (!page->ips_set && table_keep(gtt, page))
		WRITE_ONCE(page->parent->entries[page->parent_index],
			   page->parent->entries[page->parent_index] | GHYVI_ENTRY_64K);
	if (ghyvi_leaf_is_mapped(gtt, old_entry))
		ghyvi_pins_put(gtt, ghyvi_entry_group_gfn(old), GHYVI_PTES_PER_64K);
}

void ghyvi_group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old, u64 value)
{
	struct group group;

	if (index % GHYVI_PTES_PER_64K)
		return;
	group_translate(gtt, value, &group);
	group_write(gtt, page, index, old, &group);
}

void ghyvi_group_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old)
{
	struct group group = { .whole = false };

	if (index % GHYVI_PTES_PER_64K)
		return;
	memset64(group.entries, ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	group_write(gtt, page, index, old, &group);
}
