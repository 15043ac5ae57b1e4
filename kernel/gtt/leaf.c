// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow entries of the last level, for pages of 4 KiB and of 64 KiB; before them, what becomes of
 * an entry of any level that cannot be translated.
 *
 * DOC: runs of entries
 *
 * One sync may translate thousands of last-level entries. An entry that maps a page holds a
 * reference on its pin. Drivers bind consecutive pages to consecutive entries, and fill unused
 * entries with one scratch page. So entries are translated in runs: one look-up of the block of
 * pins, one test of its masks. A run that needs more than references (a page to pin, an entry to
 * reject) is translated entry by entry.
 *
 * DOC: page tables of 64 KiB pages
 *
 * Gen9 only. Only each 16th guest entry counts; it maps a group of 16 pages. The shadow has all 512
 * entries of 4 KiB. So it is correct with and without the 64 KiB bit (IPS) in the page directory
 * entry (PDE) that points to it. The bit may be set while the DMA addresses of each group are
 * contiguous and aligned, because the GPU then reads the first entry of a group and not the other
 * 15.
 *
 * Only the first PDE linked to a shadow page may have the bit set. Before a group that is not
 * contiguous is written, the bit must be cleared and the pGPU invalidated, so at most one PDE has
 * to be changed. Other PDEs that point to the same shadow page use its 4 KiB entries.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/minmax.h>

#include "internal.h"

struct ghyvi_translation ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level,
					    u64 guest_entry, int err)
{
	struct ghyvi_translation scratch = { ghyvi_entry_scratch(gtt, level), err };

	/*
	 * Only an unsupported format is final. All other errors may pass, so the entry is deferred.
	 * VFIO may map the memory again, the host may be short of memory, or the calling thread is
	 * being killed.
	 */
	if (err == -EOPNOTSUPP)
		scratch.err = 0;
	if (err == -ENOSPC) {
		scratch.err = -EFAULT; /* retried when a table page has been freed */
		gtt->deferral.table_limit_hit = true;
	}
	ghyvi_count(gtt->params.stats, entries_rejected);
	gtt->rejected = (struct ghyvi_rejected){ guest_entry, level, err };
	return scratch;
}

/*
 * A GPU store to a table page would not trap, so a table page is not mapped as data. i915 maps
 * tables of its migration VM and never uses the mapping, so this is not reported. A data page that
 * becomes a table page later stays mapped. That is safe: shadows are derived from snapshots, so GPU
 * stores to it can only affect the guest itself.
 */
int ghyvi_entry_reject_alias(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table;
	unsigned long table_gfn;
	bool hides = false;

	xa_for_each_range(&gtt->tables, table_gfn, table, gfn, gfn + count - 1) {
		if (list_empty(&table->blocking))
			list_add_tail(&table->blocking, &gtt->blocking);
		table->linked = gtt->syncs;
		gtt->deferral.refused_gfn = table_gfn;
		hides = true;
	}
	if (!hides)
		return 0;
	ghyvi_count(gtt->params.stats, entries_rejected);
	return -EFAULT;
}

static u64 leaf_flags(u64 guest_entry, bool ggtt)
{
	/* GGTT entries have no write bit. */
	return GHYVI_ENTRY_PRESENT | (ggtt ? GHYVI_ENTRY_WRITE : guest_entry & GHYVI_ENTRY_WRITE);
}

static struct ghyvi_translation leaf_translate(struct ghyvi_gtt *gtt, u64 guest_entry,
					       struct ghyvi_table_page *table)
{
	struct ghyvi_table_page *ggtt = ghyvi_table_is_ggtt(table) ? table : NULL;
	u64 gfn = ghyvi_entry_gfn(guest_entry);
	struct ghyvi_pin *pin;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return (struct ghyvi_translation){};
	pin = ghyvi_pin_find(gtt, gfn);
	if ((!pin || ghyvi_pin_is_table(pin)) && ghyvi_entry_reject_alias(gtt, gfn, 1))
		return (struct ghyvi_translation){ ghyvi_leaf_scratch(gtt), -EFAULT };
	pin = pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn, ggtt);
	if (IS_ERR(pin))
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT, guest_entry, PTR_ERR(pin));
	return (struct ghyvi_translation){ ghyvi_pin_dma(pin) | leaf_flags(guest_entry, ggtt), 0 };
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

/* For a page of level PT. */
static void leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		     const u64 *old, const u64 *values, unsigned int count)
{
	struct ghyvi_translation translation;
	unsigned int i = 0, run;

	while (i < count) {
		run = values[i] == old[i] ?
			      1 :
			      leaf_set_run(gtt, page, index + i, old + i, values + i, count - i);
		i += run;
		if (run)
			continue;
		translation = leaf_translate(gtt, values[i], page->table);
		leaf_write(gtt, page, index + i, old[i], translation.entry);
		if (translation.err)
			ghyvi_table_defer_entry(gtt, page->table, index + i, translation.err);
		i++;
	}
}

/* The shadow of a 64 KiB guest entry. */
struct pte_group {
	u64 entries[GHYVI_PTES_PER_64K];
	bool whole; /* the GPU may use it as one 64 KiB page, or it is not present */
	int err; /* with which the entry is deferred; 0: it is not */
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
		atomic64_dec(&gtt->params.stats->ips_set_now);
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
		ghyvi_count(gtt->params.stats, ips_set);
		atomic64_inc(&gtt->params.stats->ips_set_now);
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
		atomic64_dec(&gtt->params.stats->ips_set_now);
	page->ips_set = false;
}

/* Take a reference on each page of the group, or map scratch. */
static void group_translate(struct ghyvi_gtt *gtt, u64 guest_entry, struct pte_group *group)
{
	u64 gfn = ghyvi_entry_group_gfn(guest_entry);
	const dma_addr_t *dma;
	dma_addr_t first;
	unsigned int i;
	int whole;

	group->whole = !(guest_entry & GHYVI_ENTRY_PRESENT);
	group->err = 0;
	memset64(group->entries, group->whole ? 0 : ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	if (group->whole)
		return;
	group->err = ghyvi_entry_reject_alias(gtt, gfn, GHYVI_PTES_PER_64K);
	if (group->err)
		return;
	whole = ghyvi_pages_get(gtt, gfn, GHYVI_PTES_PER_64K, &first);
	if (whole < 0) {
		group->err = ghyvi_entry_reject(gtt, GHYVI_LEVEL_PT_64K, guest_entry, whole).err;
		return;
	}
	group->whole = whole;
	dma = ghyvi_pin_dmas(gtt, gfn);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		group->entries[i] = dma[i] | GHYVI_ENTRY_PRESENT |
				    (guest_entry & GHYVI_ENTRY_WRITE);
}

/* Replace the group at @index, which was translated from @old. */
static void group_write(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 old, const struct pte_group *group)
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

/*
 * Translate entry @index of a page of level PT_64K. @value is the guest's entry, @old the one that
 * the present shadow entries were translated from. Indices that do not begin a group are ignored.
 */
static void group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old, u64 value)
{
	struct pte_group group;

	if (index % GHYVI_PTES_PER_64K)
		return;
	group_translate(gtt, value, &group);
	group_write(gtt, page, index, old, &group);
	if (group.err)
		ghyvi_table_defer_entry(gtt, page->table, index, group.err);
}

/* Map scratch in the group at @index and release what was translated from @old. */
static void group_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 old)
{
	struct pte_group group = { .whole = false };

	if (index % GHYVI_PTES_PER_64K)
		return;
	memset64(group.entries, ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	group_write(gtt, page, index, old, &group);
}

void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count)
{
	unsigned int i;

	if (page->level == GHYVI_LEVEL_PT) {
		leaf_set(gtt, page, index, old, values, count);
		return;
	}
	for (i = 0; i < count; i++)
		if (values[i] != old[i])
			group_set(gtt, page, index + i, old[i], values[i]);
}

void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old)
{
	if (page->level == GHYVI_LEVEL_PT)
		leaf_write(gtt, page, index, old, ghyvi_leaf_scratch(gtt));
	else
		group_clear(gtt, page, index, old);
}
