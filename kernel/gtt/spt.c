// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow page tables: what engines walk. A guest page that holds table entries is a *table page*;
 * its shadow for one level is a *shadow page*. Drivers point all unused entries at one scratch
 * chain, so all entries that use a guest page at the same level share one shadow page. A guest page
 * that is used at several levels, which only an attacker does, has a shadow page for each level. A
 * shadow entry points to a lower level or maps data, so there are no cycles.
 *
 * A table page is *protected* (its stores trap), *relaxed* (its shadow may be stale, and the next
 * sync compares it), or both. sync.c and the policies of kernel/shadow decide when. A *sync* of a
 * table page compares the guest's entries with the *snapshot*, from which alone shadows are
 * derived, and translates those that differ. An entry that cannot be translated maps scratch; if
 * that may pass it is *deferred*, and syncs retry it.
 *
 * In this order: entries that cannot be translated; states of a table page; entries of 4 KiB, of
 * 64 KiB, and above the last level; table pages and shadow pages; the sync.
 *
 * DOC: runs of entries
 *
 * One sync may translate thousands of last-level entries. An entry that maps a page holds a
 * reference on its pin. Drivers bind consecutive pages to consecutive entries, and fill unused
 * entries with one scratch page. So entries are translated in runs: one look-up of the block of
 * pins, one test of its masks. A run that needs more than references (a page to pin, an entry to
 * reject) is translated entry by entry.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <trace/events/ghyvi.h>

#include "internal.h"

u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level)
{
	if (level <= GHYVI_LEVEL_PT)
		return ghyvi_leaf_scratch(gtt);
	return gtt->scratch_dma[level - 1] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

/*
 * Count an entry that cannot be translated because of @error, and record it for the report of
 * ghyvi_gtt_unlock().
 */
static struct ghyvi_translation entry_reject(struct ghyvi_gtt *gtt, unsigned int level,
					     u64 guest_entry, int error)
{
	struct ghyvi_translation scratch = { ghyvi_entry_scratch(gtt, level), error };

	/*
	 * Only an unsupported format is final. All other errors may pass, so the entry is deferred.
	 * VFIO may map the memory again, the host may be short of memory, or the calling thread is
	 * being killed.
	 */
	if (error == -EOPNOTSUPP)
		scratch.err = 0;
	if (error == -ENOSPC) {
		scratch.err = -EFAULT; /* retried when a table page has been freed */
		gtt->deferral.table_limit_hit = true;
	}
	ghyvi_count(gtt->params.stats, entries_rejected);
	gtt->rejected = (struct ghyvi_rejected){ guest_entry, level, error };
	return scratch;
}

/*
 * A GPU store to a table page would not trap, so a table page is not mapped as data. i915 maps
 * tables of its migration VM and never uses the mapping, so this is not reported. A data page that
 * becomes a table page later stays mapped. That is safe: shadows are derived from snapshots, so GPU
 * stores to it can only affect the guest itself.
 *
 * Returns -EFAULT, with which the entry is deferred until the table page has been freed, if one of
 * @count guest pages from @gfn on is a table page, else 0.
 */
static int reject_alias(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
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

static struct ghyvi_tree *find_tree(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	struct ghyvi_tree *tree = NULL;
	unsigned int level;

	for (level = 0; level <= GHYVI_LEVELS; level++) {
		if (!table->shadows[level])
			continue;
		if (tree && tree != table->shadows[level]->tree)
			return &gtt->shared_tree;
		tree = table->shadows[level]->tree;
	}
	return tree ?: &gtt->shared_tree;
}

void ghyvi_table_mark_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (!list_empty(&table->relaxed_node))
		return;
	table->compared = gtt->syncs; /* until now every store has trapped */
	list_add_tail(&table->relaxed_node, &table->tree->relaxed);
	atomic64_inc(&gtt->params.stats->relaxed_now);
}

void ghyvi_table_clear_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (list_empty(&table->relaxed_node))
		return;
	list_del_init(&table->relaxed_node);
	atomic64_dec(&gtt->params.stats->relaxed_now);
}

/* Assign @table to the tree that reaches it now, after its shadow pages have changed. */
static void table_update_tree(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	struct ghyvi_tree *tree = find_tree(gtt, table);

	lockdep_assert_held(&gtt->lock);
	/* Each tree counts its own syncs. Keep the number of syncs since the page's last burst. */
	table->history.burst_at += tree->synced - table->tree->synced;
	table->history.expected_at += tree->synced - table->tree->synced;
	table->tree = tree;
	if (!list_empty(&table->relaxed_node))
		list_move_tail(&table->relaxed_node, &tree->relaxed);
}

bool ghyvi_table_protect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	lockdep_assert_held(&gtt->lock);
	if (table->protected)
		return true;
	if (gtt->policy->nested || ghyvi_gtt_is_untracked(gtt))
		return false;
	if (table->gfn == GHYVI_INVALID_GFN || p->hv->ops->protect(p->hv, &table->gfn, 1) != 1)
		return false;
	table->protected = true;
	ghyvi_count(p->stats, protects);
	atomic64_inc(&p->stats->protected_now);
	trace_oos_change(p->reporter, "protect", table->gfn);
	return true;
}

void ghyvi_table_unprotect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	if (!table->protected)
		return;
	if (table->unmapped) /* the next access maps it */
		gtt->ggtt_map.nr_unmapped--;
	else
		p->hv->ops->unprotect(p->hv, &table->gfn, 1);
	table->unmapped = false;
	table->protected = false;
	ghyvi_count(p->stats, unprotects);
	atomic64_dec(&p->stats->protected_now);
}

/* Protect or list a new @table, as the policy decides, before its entries are first read. */
static void table_protect_initial(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				  unsigned int level)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);

	lockdep_assert_held(&gtt->lock);
	if (level <= GHYVI_LEVEL_PT && gtt->policy->relax_new(&page))
		ghyvi_table_mark_relaxed(gtt, table);
	else if (!ghyvi_table_protect(gtt, table))
		ghyvi_table_mark_relaxed(gtt, table);
}

/* Entry @index, whose translation has just failed with @err, maps scratch: retry it. */
static void table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			      unsigned int index, int err)
{
	u64 bit = BIT_ULL(index % 64);

	if (!table->deferred.retry)
		table->deferred.generation = gtt->deferral.generation;
	if (err != -EFAULT)
		ghyvi_table_set_nomem(table, index);
	else if (!ghyvi_table_entry_deferred(table, index))
		table->deferred.unbacked[index / 64] |= bit;
	table->deferred.entries[index / 64] |= bit;
	table->deferred.retry = true;
	gtt->deferral.any = true;
	ghyvi_table_mark_relaxed(gtt, table);
}

static void table_clear_deferred(struct ghyvi_table_page *table, unsigned int index)
{
	table->deferred.entries[index / 64] &= ~BIT_ULL(index % 64);
	table->deferred.unbacked[index / 64] &= ~BIT_ULL(index % 64);
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
	if ((!pin || ghyvi_pin_is_table(pin)) && reject_alias(gtt, gfn, 1))
		return (struct ghyvi_translation){ ghyvi_leaf_scratch(gtt), -EFAULT };
	pin = pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn, ggtt);
	if (IS_ERR(pin))
		return entry_reject(gtt, GHYVI_LEVEL_PT, guest_entry, PTR_ERR(pin));
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

/*
 * Translate @count entries of a page of level PT from @index on. @values are the guest's entries,
 * @old those that the present shadow entries were translated from.
 */
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
			table_defer_entry(gtt, page->table, index + i, translation.err);
		i++;
	}
}

/*
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

/*
 * Entry @index of @parent is about to point to @page, of level PT_64K. Returns GHYVI_ENTRY_64K if
 * the entry may have this bit set, else 0.
 */
static u64 table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
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

/* The entry that could have GHYVI_ENTRY_64K set no longer points to @page. */
static void table_64k_unlink(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	lockdep_assert_held(&gtt->lock);
	page->parent = NULL;
	if (page->ips_set)
		atomic64_dec(&gtt->params.stats->kept_64k_now);
	page->ips_set = false;
}

/* Take a reference on each page of the group, or map scratch. */
static void group_translate(struct ghyvi_gtt *gtt, u64 guest_entry, struct pte_group *group)
{
	u64 gfn = ghyvi_entry_group_gfn(guest_entry);
	const dma_addr_t *dma;
	dma_addr_t first;
	unsigned int i;
	int ret;

	group->whole = !(guest_entry & GHYVI_ENTRY_PRESENT);
	group->err = 0;
	memset64(group->entries, group->whole ? 0 : ghyvi_leaf_scratch(gtt), GHYVI_PTES_PER_64K);
	if (group->whole)
		return;
	group->err = reject_alias(gtt, gfn, GHYVI_PTES_PER_64K);
	if (group->err)
		return;
	ret = ghyvi_pages_get(gtt, gfn, GHYVI_PTES_PER_64K, &first);
	if (ret < 0) {
		group->err = entry_reject(gtt, GHYVI_LEVEL_PT_64K, guest_entry, ret).err;
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
 * Returns 0 or the error with which the entry is deferred.
 */
static int group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		     u64 old, u64 value)
{
	struct pte_group group;

	if (index % GHYVI_PTES_PER_64K)
		return 0;
	group_translate(gtt, value, &group);
	group_write(gtt, page, index, old, &group);
	return group.err;
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

struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest,
					   int ggtt_page)
{
	struct ghyvi_table_page *table;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->snapshot = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!table->snapshot) {
		kfree(table);
		return NULL;
	}
	table->gfn = gfn;
	table->guest = guest;
	table->ggtt_page = ggtt_page;
	table->history.rank = GHYVI_RANK_UNKNOWN;
	table->history.leaf = true;
	table->tree = &gtt->shared_tree;
	INIT_LIST_HEAD(&table->relaxed_node);
	INIT_LIST_HEAD(&table->blocking);
	return table;
}

void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_clear_relaxed(gtt, table);
	free_page((unsigned long)table->snapshot);
	kfree(table);
}

static struct ghyvi_table_page *table_create(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_table_page *table;
	unsigned int i;
	u64 hpa;
	int ret;

	if (gtt->nr_tables >= gtt->tuning.tables_max)
		return ERR_PTR(-ENOSPC);
	ret = ghyvi_pin_page(gtt, gfn, &hpa, NULL);
	if (ret) {
		ghyvi_count(p->stats, pin_failures);
		return ERR_PTR(ret);
	}
	table = ghyvi_table_alloc(gtt, gfn, phys_to_virt(hpa), -1);
	if (!table) {
		ret = -ENOMEM;
		goto err_unpin;
	}
	ret = xa_err(xa_store(&gtt->tables, gfn, table, GFP_KERNEL_ACCOUNT));
	if (ret)
		goto err_free;
	ghyvi_pin_set_table(gtt, gfn, true);
	gtt->nr_tables++;
	atomic64_inc(&p->stats->tables_now);
	atomic64_inc(&p->stats->pinned_pages_now);

	/* Write-protect (or list) before the scan, so that no store is missed in between. */
	table_protect_initial(gtt, table, level);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		table->snapshot[i] = READ_ONCE(table->guest[i]);
	return table;

err_free:
	ghyvi_table_free(gtt, table);
err_unpin:
	p->hv->ops->unpin(p->hv, gfn);
	return ERR_PTR(ret);
}

void ghyvi_table_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (table->history.leaf)
		ghyvi_history_free(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, ghyvi_table_now(gtt, table));
}

static void table_destroy(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	u64 gfn = table->gfn;

	ghyvi_table_forget(gtt, table);
	xa_erase(&gtt->tables, gfn);
	ghyvi_pin_set_table(gtt, gfn, false);
	gtt->nr_tables--;
	gtt->deferral.tables_freed += !list_empty(&table->blocking) ||
				      gtt->deferral.table_limit_hit;
	list_del(&table->blocking);
	gtt->deferral.table_limit_hit = false;
	atomic64_dec(&gtt->params.stats->tables_now);
	trace_ghyvi_table_free(gtt->params.reporter, gfn);
	ghyvi_table_free(gtt, table);
	gtt->params.hv->ops->unpin(gtt->params.hv, gfn);
	atomic64_dec(&gtt->params.stats->pinned_pages_now);
}

void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				     void *data),
		       void *data)
{
	struct ghyvi_table_page *table;
	unsigned long gfn;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	xa_for_each(&gtt->tables, gfn, table)
		visit(gtt, table, data);
	for (i = 0; i < gtt->nr_ggtt_tables; i++)
		if (gtt->ggtt_tables[i])
			visit(gtt, gtt->ggtt_tables[i], data);
}

struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by)
{
	struct ghyvi_table_page *parent;
	unsigned int index = table->parent_index + by;

	if (ghyvi_table_is_ggtt(table)) {
		index = table->ggtt_page + by;
		return index < gtt->nr_ggtt_tables ? gtt->ggtt_tables[index] : NULL;
	}
	parent = xa_load(&gtt->tables, table->parent_gfn);
	/* parent_gfn is a hint: the guest may have linked the table elsewhere since. */
	if (!parent || !parent->shadows[GHYVI_LEVEL_PD] || index >= GHYVI_ENTRIES ||
	    ghyvi_entry_gfn(parent->snapshot[table->parent_index]) != table->gfn ||
	    !(parent->snapshot[index] & GHYVI_ENTRY_PRESENT) ||
	    ghyvi_entry_is_large(GHYVI_LEVEL_PD, parent->snapshot[index]))
		return NULL;
	return xa_load(&gtt->tables, ghyvi_entry_gfn(parent->snapshot[index]));
}

static struct ghyvi_translation translate_large(struct ghyvi_gtt *gtt, u64 guest_entry)
{
	u64 gfn = ghyvi_entry_large_gfn(guest_entry);
	struct ghyvi_large *large;

	if (reject_alias(gtt, gfn, GHYVI_ENTRIES))
		return (struct ghyvi_translation){ ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PD),
						   -EFAULT };
	large = ghyvi_large_get(gtt, gfn);
	if (IS_ERR(large)) {
		/*
		 * Pinning 512 pages may cost as much as all other retries of this sync. If memory
		 * is short, they would fail as well.
		 */
		gtt->deferral.nomem_left = 0;
		gtt->deferral.unbacked_left -= min(gtt->deferral.unbacked_left, GHYVI_RETRY_NOMEM);
		return entry_reject(gtt, GHYVI_LEVEL_PD, guest_entry, PTR_ERR(large));
	}
	return (struct ghyvi_translation){
		ghyvi_large_entry(large) | (guest_entry & GHYVI_ENTRY_WRITE), 0
	};
}

struct ghyvi_translation ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level,
					       u64 guest_entry, struct ghyvi_tree *tree)
{
	struct ghyvi_shadow_page *child;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return (struct ghyvi_translation){};
	if (ghyvi_entry_is_large(level, guest_entry))
		return translate_large(gtt, guest_entry);
	if (level == GHYVI_LEVEL_PDP && (guest_entry & GHYVI_ENTRY_LARGE))
		return entry_reject(gtt, level, guest_entry, -EOPNOTSUPP);
	child = ghyvi_shadow_get(gtt, ghyvi_entry_gfn(guest_entry),
				 ghyvi_entry_below(gtt, level, guest_entry), tree);
	if (IS_ERR(child)) {
		tree->refused += PTR_ERR(child) == -ENOSPC;
		return entry_reject(gtt, level, guest_entry, PTR_ERR(child));
	}
	return (struct ghyvi_translation){
		child->dma | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE), 0
	};
}

/*
 * @page has lost a link. If the other trees have none any more, it belongs to the tree of the last
 * link: otherwise the sync of any tree would compare it for as long as it exists. A page of a level
 * above has tables below, and remains shared. So does one that this sync has not compared yet: it
 * may be done with the pages of that tree.
 */
static void shadow_unshare(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	const struct ghyvi_table_page *parent = xa_load(&gtt->tables, page->table->parent_gfn);
	const struct ghyvi_shadow_page *last = parent ? parent->shadows[GHYVI_LEVEL_PD] : NULL;
	u64 entry = last ? last->entries[page->table->parent_index] : 0;

	if (page->refs != 1 || page->level > GHYVI_LEVEL_PT || page->tree != &gtt->shared_tree ||
	    !(entry & GHYVI_ENTRY_PRESENT) || (entry & GHYVI_SHADOW_ADDRESS_MASK) != page->dma ||
	    last->tree == page->tree)
		return;
	if (!list_empty(&page->table->relaxed_node) && page->table->compared != gtt->syncs)
		return;
	page->tree->pages--;
	page->tree = last->tree;
	page->tree->pages++;
	table_update_tree(gtt, page->table);
}

static void release_table(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 guest_entry)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, ghyvi_entry_gfn(guest_entry));
	struct ghyvi_shadow_page *child;

	child = table ? table->shadows[ghyvi_entry_below(gtt, page->level, guest_entry)] : NULL;
	if (WARN_ON_ONCE(!child))
		return;
	/* Keep the link if the new entry at @index points to the same table. */
	if (child->parent == page && child->parent_index == index &&
	    (page->entries[index] & GHYVI_SHADOW_ADDRESS_MASK) != child->dma)
		table_64k_unlink(gtt, child);
	ghyvi_shadow_put(gtt, child);
	shadow_unshare(gtt, child);
}

/*
 * Drop the reference that @shadow_entry holds. It was translated from @guest_entry and has been
 * replaced at @index of @page, which is above the last level.
 */
static void entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 guest_entry, u64 shadow_entry)
{
	unsigned int level = page->level;

	if (!(shadow_entry & GHYVI_ENTRY_PRESENT) ||
	    shadow_entry == ghyvi_entry_scratch(gtt, level))
		return;
	if (ghyvi_entry_is_large(level, guest_entry))
		ghyvi_large_put(gtt, ghyvi_entry_large_gfn(guest_entry));
	else
		release_table(gtt, page, index, guest_entry);
}

/* Translate entry @index of a shadow page above the last level. @value is the guest's entry. */
static struct ghyvi_translation shadow_translate(struct ghyvi_gtt *gtt,
						 struct ghyvi_shadow_page *page, unsigned int index,
						 u64 value)
{
	struct ghyvi_translation translation =
		ghyvi_entry_translate(gtt, page->level, value, page->tree);
	struct ghyvi_table_page *child;

	if (!(value & GHYVI_ENTRY_PRESENT) || ghyvi_entry_is_large(page->level, value))
		return translation;
	child = xa_load(&gtt->tables, ghyvi_entry_gfn(value));
	if (child && page->level == GHYVI_LEVEL_PD &&
	    translation.entry != ghyvi_entry_scratch(gtt, page->level) &&
	    ghyvi_entry_below(gtt, page->level, value) == GHYVI_LEVEL_PT_64K)
		translation.entry |=
			table_64k_link(gtt, child->shadows[GHYVI_LEVEL_PT_64K], page, index);
	if (child) {
		child->parent_gfn = page->table->gfn;
		child->parent_index = index;
		if (page->level == GHYVI_LEVEL_PD)
			trace_ghyvi_table_link(gtt->params.reporter, child->gfn, page->tree->id,
					       child->parent_gfn, index);
	}
	return translation;
}

/*
 * Guest entry @index, above the last level, changed from @old to @value. Returns 0 or the error
 * with which the entry is deferred.
 */
static int shadow_set_one(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			  u64 old, u64 value)
{
	struct ghyvi_translation translation = shadow_translate(gtt, page, index, value);
	u64 old_entry = page->entries[index];

	WRITE_ONCE(page->entries[index], translation.entry);
	entry_release(gtt, page, index, old, old_entry);
	return translation.err;
}

/* @count guest entries from @index on changed from @old to @values. */
static void shadow_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       const u64 *old, const u64 *values, unsigned int count)
{
	unsigned int i;
	int err;

	if (page->level == GHYVI_LEVEL_PT) {
		leaf_set(gtt, page, index, old, values, count);
		return;
	}
	for (i = 0; i < count; i++) {
		if (values[i] == old[i])
			continue;
		if (page->level == GHYVI_LEVEL_PT_64K)
			err = group_set(gtt, page, index + i, old[i], values[i]);
		else
			err = shadow_set_one(gtt, page, index + i, old[i], values[i]);
		if (err)
			table_defer_entry(gtt, page->table, index + i, err);
	}
}

void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry)
{
	u64 old_entry;

	if (page->level == GHYVI_LEVEL_PT) {
		leaf_write(gtt, page, index, guest_entry, ghyvi_leaf_scratch(gtt));
		return;
	}
	if (page->level == GHYVI_LEVEL_PT_64K) {
		group_clear(gtt, page, index, guest_entry);
		return;
	}
	old_entry = page->entries[index];
	WRITE_ONCE(page->entries[index], ghyvi_entry_scratch(gtt, page->level));
	entry_release(gtt, page, index, guest_entry, old_entry);
}

/* Translate the entries of a new shadow page from the snapshot. */
static void shadow_fill(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	static const u64 none[GHYVI_PTES_PER_LINE];
	unsigned int index;

	for (index = 0; index < GHYVI_ENTRIES; index += GHYVI_PTES_PER_LINE) {
		shadow_set(gtt, page, index, none, page->table->snapshot + index,
			   GHYVI_PTES_PER_LINE);
		cond_resched();
	}
}

static struct ghyvi_shadow_page *shadow_create(struct ghyvi_gtt *gtt,
					       struct ghyvi_table_page *table, unsigned int level,
					       struct ghyvi_tree *tree)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_shadow_page *page;
	int ret;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	ret = -ENOMEM;
	page->entries = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		goto err_free;
	ret = p->pgpu_ops->map_page(p->client, virt_to_phys(page->entries), GHYVI_PAGE_TABLE,
				    &page->dma);
	if (ret)
		goto err_page;
	page->table = table;
	page->level = level;
	page->refs = 1;
	page->tree = tree;
	tree->pages++;
	if (level == GHYVI_LEVEL_PT_64K)
		ghyvi_count(p->stats, tables_64k);
	INIT_LIST_HEAD(&page->dying);
	table->shadows[level] = page;
	table->levels |= BIT(level);
	if (level > GHYVI_LEVEL_PT)
		table->history.leaf = false;
	table_update_tree(gtt, table);
	shadow_fill(gtt, page);
	return page;

err_page:
	free_page((unsigned long)page->entries);
err_free:
	kfree(page);
	return ERR_PTR(ret);
}

/* A second tree reaches @page now, and with it all tables below. */
static void shadow_share(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *child;
	unsigned int i, below;

	if (page->tree == &gtt->shared_tree)
		return;
	cond_resched();
	page->tree->pages--;
	page->tree = &gtt->shared_tree;
	page->tree->pages++;
	table_update_tree(gtt, page->table);
	for (i = 0; page->level > GHYVI_LEVEL_PT && i < GHYVI_ENTRIES; i++) {
		if (ghyvi_entry_is_large(page->level, page->table->snapshot[i]))
			continue;
		child = xa_load(&gtt->tables, ghyvi_entry_gfn(page->table->snapshot[i]));
		below = ghyvi_entry_below(gtt, page->level, page->table->snapshot[i]);
		if (child && child->shadows[below])
			shadow_share(gtt, child->shadows[below]);
	}
}

/* Protect and sync @table, which is about to be used above the last level. */
static void table_make_strict(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	/*
	 * Sync the page here only if it is a leaf: its entries point to no other table page. A page
	 * that is also used at upper levels may be in the middle of an update further up the call
	 * stack. If such a page is not protected yet, it is relaxed already and stays so.
	 */
	bool leaf = table->history.leaf;

	lockdep_assert_held(&gtt->lock);
	/* The next sync removes the page from the list. It finds no difference. */
	ghyvi_table_protect(gtt, table);
	if (leaf)
		ghyvi_table_sync(gtt, table);
}

/* Returns the shadow page with a reference, which ghyvi_shadow_put() drops, or an ERR_PTR. */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, gfn);
	struct ghyvi_shadow_page *page;

	lockdep_assert_held(&gtt->lock);
	if (table && table->shadows[level]) {
		page = table->shadows[level];
		/* A sync skips a page that is about to be freed. */
		if (!page->refs++ && !list_empty(&table->relaxed_node) &&
		    table->compared != gtt->syncs)
			list_move_tail(&table->relaxed_node, &table->tree->relaxed);
		/* Even if it was dying: the tables below still belong to its former tree. */
		if (page->tree != tree)
			shadow_share(gtt, page);
		return page;
	}
	if (!table) {
		table = table_create(gtt, gfn, level);
		if (IS_ERR(table))
			return ERR_CAST(table);
	} else if (level > GHYVI_LEVEL_PT) {
		table_make_strict(gtt, table);
	}
	page = shadow_create(gtt, table, level, tree);
	if (IS_ERR(page) && !table->levels)
		table_destroy(gtt, table);
	return page;
}

void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	lockdep_assert_held(&gtt->lock);
	if (--page->refs)
		return;
	/*
	 * An engine may have cached its entries, and the guest may point to it again.
	 * ghyvi_gtt_unlock() decides.
	 */
	if (list_empty(&page->dying))
		list_add_tail(&page->dying, &gtt->dying);
}

static void table_drop_shadow(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			      unsigned int level)
{
	table->shadows[level] = NULL;
	table->levels &= ~BIT(level);
	table->history.leaf = !table->shadows[GHYVI_LEVEL_PD] && !table->shadows[GHYVI_LEVEL_PDP] &&
			      !table->shadows[GHYVI_LEVEL_PML4];
	table_update_tree(gtt, table);
}

static void shadow_destroy(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	/* No parent links it, and gtt_reap() has invalidated: entries of 64 KiB may be split. */
	page->ips_cached = false;
	for (i = 0; table && i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(gtt, page, i, table->snapshot[i]);
	if (table)
		table_drop_shadow(gtt, table, page->level);
	page->tree->pages--;
	gtt->params.pgpu_ops->unmap_page(gtt->params.client, page->dma);
	free_page((unsigned long)page->entries);
	kfree(page);
	if (table && !table->levels)
		table_destroy(gtt, table);
}

void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page)
{
	struct ghyvi_table_page *table = page->table;
	unsigned int i;

	lockdep_assert_held(&gtt->lock);
	if (!table)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		ghyvi_shadow_clear(gtt, page, i, table->snapshot[i]);
	page->table = NULL;
	table_drop_shadow(gtt, table, page->level);
	if (!table->levels)
		table_destroy(gtt, table);
}

void ghyvi_tables_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_shadow_page *page;

	lockdep_assert_held(&gtt->lock);
	while (!list_empty(&gtt->dying)) {
		page = list_first_entry(&gtt->dying, struct ghyvi_shadow_page, dying);
		list_del_init(&page->dying);
		if (!page->refs)
			shadow_destroy(gtt, page);
		cond_resched();
	}
}

unsigned int ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				unsigned int index, const u64 *source, unsigned int count)
{
	u64 *values = table->snapshot + index, old[GHYVI_PTES_PER_UPDATE], value;
	unsigned int i, changed = 0;
	u32 levels;

	for (i = 0; i < count; i++) {
		value = READ_ONCE(source[i]);
		changed += value != values[i];
		old[i] = values[i];
		values[i] = value;
	}
	if (!changed)
		return 0;
	for (i = 0; table->deferred.retry && i < count; i++)
		if (values[i] != old[i])
			table_clear_deferred(table, index + i);
	/* Translation may add a level to @table. Its new shadow is filled from the snapshot. */
	for (levels = table->levels; levels; levels &= levels - 1)
		shadow_set(gtt, table->shadows[__ffs(levels)], index, old, values, count);
	return changed;
}

void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index)
{
	u64 none = 0, value = table->snapshot[index];
	struct ghyvi_shadow_page *page;
	u32 levels;

	table_clear_deferred(table, index);
	for (levels = table->levels; levels; levels &= levels - 1) {
		page = table->shadows[__ffs(levels)];
		if (page->entries[index] == ghyvi_entry_scratch(gtt, page->level))
			shadow_set(gtt, page, index, &none, &value, 1);
	}
}

static bool entry_differs(const u64 *guest, const u64 *snapshot)
{
	return READ_ONCE(*guest) != *snapshot;
}

/* Unrolled by hand, because most lines are equal and a loop doubles the cost of comparing them. */
static bool line_differs(const u64 *guest, const u64 *snapshot)
{
	return entry_differs(guest, snapshot) || entry_differs(guest + 1, snapshot + 1) ||
	       entry_differs(guest + 2, snapshot + 2) || entry_differs(guest + 3, snapshot + 3) ||
	       entry_differs(guest + 4, snapshot + 4) || entry_differs(guest + 5, snapshot + 5) ||
	       entry_differs(guest + 6, snapshot + 6) || entry_differs(guest + 7, snapshot + 7);
}

/* Returns the end of the lines from @at on that differ, at most one update. */
static unsigned int lines_end(const struct ghyvi_table_page *table, unsigned int index)
{
	unsigned int end = min(index + GHYVI_PTES_PER_UPDATE, GHYVI_ENTRIES);

	while (index < end && line_differs(table->guest + index, table->snapshot + index))
		index += GHYVI_PTES_PER_LINE;
	return index;
}

/*
 * Retry deferred entries within the limits of GHYVI_RETRY_UNBACKED and GHYVI_RETRY_NOMEM. Entries
 * that the guest has changed are translated with their line instead.
 */
static void retry_deferred(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			   unsigned int *first, unsigned int *last)
{
	bool all = table->deferred.generation != gtt->deferral.generation;
	u32 *left = all ? &gtt->deferral.unbacked_left : &gtt->deferral.nomem_left;
	unsigned int i;

	if (all ? !gtt->deferral.unbacked_left : !table->deferred.nomem)
		return;
	table->deferred.generation = gtt->deferral.generation;
	table->deferred.nomem = false;
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!ghyvi_table_entry_deferred(table, i) ||
		    (!all && ghyvi_table_entry_unbacked(table, i)))
			continue;
		/* The guest may restore a changed entry before its line is compared: keep it. */
		if (READ_ONCE(table->guest[i]) != table->snapshot[i] || (!all && !*left)) {
			ghyvi_table_set_nomem(table, i);
			continue;
		}
		ghyvi_table_retry_entry(gtt, table, i);
		*first = min(*first, i);
		*last = i;
		if (ghyvi_table_entry_deferred(table, i) && *left)
			--*left;
	}
}

static bool has_deferred(const struct ghyvi_table_page *table)
{
	unsigned int i;
	u64 any = 0;

	for (i = 0; i < GHYVI_ENTRIES / 64; i++)
		any |= table->deferred.entries[i];
	return any;
}

unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	unsigned int index, end, changed = 0, first = GHYVI_ENTRIES, last = 0;

	if (table->deferred.retry)
		retry_deferred(gtt, table, &first, &last);
	for (index = 0; index < GHYVI_ENTRIES; index = end) {
		end = lines_end(table, index);
		if (end == index) {
			end += GHYVI_PTES_PER_LINE;
			continue;
		}
		changed += ghyvi_table_update(gtt, table, index, table->guest + index, end - index);
		first = min(first, index);
		last = max(last, end - 1);
	}
	table->compared = gtt->syncs;
	table->passed = gtt->passes;
	if (table->deferred.retry)
		table->deferred.retry = has_deferred(table);
	if (first <= last && ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, first, last);
	ghyvi_count(gtt->params.stats, reconstructions);
	ghyvi_count_add(gtt->params.stats, entries_compared, GHYVI_ENTRIES);
	ghyvi_count_add(gtt->params.stats, entries_changed, changed);
	if (table->history.leaf)
		ghyvi_history_scan(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, ghyvi_table_now(gtt, table), changed,
				   table->protected);
	trace_oos_sync(gtt->params.reporter, gtt->policy->name, table->gfn, GHYVI_ENTRIES, changed);
	return changed;
}

void ghyvi_table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_mark_relaxed(gtt, table);
	ghyvi_count(gtt->params.stats, relaxes);
	trace_oos_change(gtt->params.reporter, "relax", table->gfn);
}
