// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vGPU's partition of the GGTT. The guest's table is host memory that the guest maps (the upper
 * half of BAR 0). The shadow entries are installed in the pGPU.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

static int ggtt_add_table(struct ghyvi_gtt *gtt, u32 number)
{
	struct ghyvi_table_page *table;
	struct ghyvi_shadow_page *page;

	table = ghyvi_table_alloc(gtt, GHYVI_INVALID_GFN,
				  gtt->params.ggtt + (size_t)number * GHYVI_ENTRIES, number);
	if (!table)
		return -ENOMEM;
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		goto err_table;
	page->entries = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		goto err_page;
	page->table = table;
	page->level = GHYVI_LEVEL_PT;
	page->refs = 1;
	page->tree = &gtt->shared_tree;
	INIT_LIST_HEAD(&page->dying);
	table->shadows[GHYVI_LEVEL_PT] = page;
	table->levels = BIT(GHYVI_LEVEL_PT);
	gtt->ggtt_tables[number] = table;
	return 0;

err_page:
	kfree(page);
err_table:
	ghyvi_table_free(gtt, table);
	return -ENOMEM;
}

int ghyvi_ggtt_init(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_range *range;
	unsigned int r;
	u64 address;
	int err;

	gtt->ggtt_gfn = GHYVI_INVALID_GFN;
	gtt->nr_ggtt_tables = 0;
	for (r = 0; r < gtt->params.nr_ggtt_ranges; r++) {
		range = &gtt->params.ggtt_ranges[r];
		gtt->nr_ggtt_tables =
			max_t(u32, gtt->nr_ggtt_tables,
			      DIV_ROUND_UP(range->start + range->bytes, GHYVI_GGTT_TABLE_SPAN));
	}
	gtt->ggtt_tables = kvcalloc(max(gtt->nr_ggtt_tables, 1u), sizeof(*gtt->ggtt_tables),
				    GFP_KERNEL_ACCOUNT);
	if (!gtt->ggtt_tables)
		return -ENOMEM;
	for (r = 0; r < gtt->params.nr_ggtt_ranges; r++) {
		range = &gtt->params.ggtt_ranges[r];
		if (WARN_ON_ONCE(range->start % GHYVI_GGTT_TABLE_SPAN ||
				 range->bytes % GHYVI_GGTT_TABLE_SPAN))
			return -EINVAL;
		for (address = range->start; address < range->start + range->bytes;
		     address += GHYVI_GGTT_TABLE_SPAN) {
			err = ggtt_add_table(gtt, address / GHYVI_GGTT_TABLE_SPAN);
			if (err)
				return err;
		}
	}
	return 0;
}

static void ggtt_free_tables(struct ghyvi_gtt *gtt, struct ghyvi_table_page **tables, u32 count)
{
	struct ghyvi_table_page *table;
	u32 i;

	for (i = 0; tables && i < count; i++) {
		table = tables[i];
		if (!table)
			continue;
		free_page((unsigned long)table->shadows[GHYVI_LEVEL_PT]->entries);
		kfree(table->shadows[GHYVI_LEVEL_PT]);
		ghyvi_table_free(gtt, table);
	}
	kvfree(tables);
}

void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt)
{
	ggtt_free_tables(gtt, gtt->ggtt_tables, gtt->nr_ggtt_tables);
}

int ghyvi_ggtt_move(struct ghyvi_gtt *gtt, const struct ghyvi_range *ranges, unsigned int nr_ranges,
		    const struct ghyvi_range *aperture_copied)
{
	struct ghyvi_table_page **tables = gtt->ggtt_tables;
	struct ghyvi_gtt_params before = gtt->params;
	u32 count = gtt->nr_ggtt_tables, i;
	int err;

	lockdep_assert_held(&gtt->lock);
	memcpy(gtt->params.ggtt_ranges, ranges, nr_ranges * sizeof(*ranges));
	gtt->params.nr_ggtt_ranges = nr_ranges;
	gtt->params.aperture_copied = *aperture_copied;
	err = ghyvi_ggtt_init(gtt);
	if (err) {
		gtt->params = before;
		swap(tables, gtt->ggtt_tables);
		swap(count, gtt->nr_ggtt_tables);
	} else {
		for (i = 0; i < count; i++)
			if (tables[i])
				ghyvi_table_forget(gtt, tables[i]);
		gtt->params.pgpu_ops->client_set_ggtt(gtt->params.client, ranges, nr_ranges);
	}
	ggtt_free_tables(gtt, tables, count);
	return err;
}

void ghyvi_ggtt_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	lockdep_assert_held(&gtt->lock);
	ghyvi_table_unprotect(gtt, table);
	if (table->gfn == GHYVI_INVALID_GFN || !gtt->ggtt_shadowed)
		ghyvi_table_clear_relaxed(gtt, table);
	else
		ghyvi_table_mark_relaxed(gtt, table);
}

void ghyvi_ggtt_reset(struct ghyvi_gtt *gtt)
{
	static const u64 none[GHYVI_PTES_PER_UPDATE];
	struct ghyvi_table_page *table;
	u32 i, e;

	lockdep_assert_held(&gtt->lock);
	for (i = 0; i < gtt->nr_ggtt_tables; i++) {
		table = gtt->ggtt_tables[i];
		if (!table)
			continue;
		ghyvi_ggtt_relax(gtt, table);
		for (e = 0; e < GHYVI_ENTRIES; e += GHYVI_PTES_PER_UPDATE)
			ghyvi_table_update(gtt, table, e, none, GHYVI_PTES_PER_UPDATE);
		ghyvi_ggtt_publish(gtt, table, 0, GHYVI_ENTRIES - 1);
	}
}

void ghyvi_ggtt_shadow(struct ghyvi_gtt *gtt, bool on)
{
	lockdep_assert_held(&gtt->lock);
	if (gtt->ggtt_shadowed == on)
		return;
	gtt->ggtt_shadowed = on;
	ghyvi_ggtt_reset(gtt);
}

struct ghyvi_table_page *ghyvi_ggtt_table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	if (gtt->ggtt_gfn == GHYVI_INVALID_GFN)
		return NULL;
	return ghyvi_ggtt_table(gtt, gfn - gtt->ggtt_gfn); /* wraps below the table */
}

void ghyvi_ggtt_set_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_table_page *table;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	if (gfn == gtt->ggtt_gfn)
		return;
	for (i = 0; i < gtt->nr_ggtt_tables; i++) {
		table = gtt->ggtt_tables[i];
		if (!table)
			continue;
		ghyvi_table_unprotect(gtt, table); /* at its old gfn */
		table->gfn = gfn == GHYVI_INVALID_GFN ? gfn : gfn + i;
		ghyvi_ggtt_relax(gtt, table);
	}
	gtt->ggtt_gfn = gfn;
	gtt->ggtt_live = false;
	if (gtt->policy->nested) /* the address decides whether pages are mapped */
		ghyvi_aperture_remove_all(gtt);
}

/*
 * DOC: protection by mapping
 *
 * Stores to the GGTT table are noticed without the hypervisor's help. The guest's GGTT table is
 * host memory, which the owner of the BAR maps for the guest. A page of it that is not mapped
 * cannot be written, so removing the mapping protects the page: the next access faults, the owner
 * maps the page again, and ghyvi_gtt_ggtt_map() marks it as written. The fault precedes the store,
 * so a sync takes marked pages to be relaxed. The fault handler holds mmap_lock and must not take
 * gtt->lock; ggtt_map.lock nests inside both.
 *
 * A page is marked and mapped in one critical section, and unmarked and unmapped in another.
 * Otherwise a page could be mapped without a mark.
 */

/* ghyvi_ggtt_is_written() reads the marks without the lock. */
static void mark_written(struct ghyvi_ggtt_map *ggtt_map, u64 page, bool written)
{
	u64 others = ggtt_map->written[page / 64] & ~BIT_ULL(page % 64);

	lockdep_assert_held(&ggtt_map->lock);
	WRITE_ONCE(ggtt_map->written[page / 64], others | (u64)written << page % 64);
}

int ghyvi_gtt_ggtt_map(struct ghyvi_gtt *gtt, u64 page, int (*map)(void *data), void *data)
{
	struct ghyvi_ggtt_map *ggtt_map = &gtt->ggtt_map;
	int err;

	if (page >= GHYVI_GGTT_TABLES_MAX)
		return -EINVAL;
	mutex_lock(&ggtt_map->lock);
	mark_written(ggtt_map, page, true);
	err = map(data);
	mutex_unlock(&ggtt_map->lock);
	return err;
}

void ghyvi_ggtt_collect_written(struct ghyvi_gtt *gtt)
{
	struct ghyvi_ggtt_map *ggtt_map = &gtt->ggtt_map;
	struct ghyvi_table_page *table;
	u64 written;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	mutex_lock(&ggtt_map->lock);
	for (i = 0; i < ARRAY_SIZE(ggtt_map->written); i++) {
		for (written = ggtt_map->written[i]; written; written &= written - 1) {
			u32 page = i * 64 + __ffs(written);

			table = ghyvi_ggtt_table(gtt, page);
			if (!table || !table->unmapped)
				continue;
			ghyvi_count(gtt->params.stats, relaxes);
			ghyvi_ggtt_relax(gtt, table);
			table->history.scans = 0; /* none since that access */
		}
		WRITE_ONCE(ggtt_map->written[i], 0);
	}
	mutex_unlock(&ggtt_map->lock);
}

bool ghyvi_ggtt_is_written(const struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	u32 page = table->ggtt_page;

	smp_rmb(); /* the mark precedes the mapping, and thus the store */
	return READ_ONCE(gtt->ggtt_map.written[page / 64]) & BIT_ULL(page % 64);
}

/* Returns how many of @tables, at most @count, are consecutive pages. */
static unsigned int run_of(struct ghyvi_table_page *const *tables, unsigned int count)
{
	unsigned int run = 1;

	while (run < count && tables[run]->ggtt_page == tables[run - 1]->ggtt_page + 1)
		run++;
	return run;
}

unsigned int ghyvi_ggtt_unmap(struct ghyvi_gtt *gtt, struct ghyvi_table_page *const *tables,
			      unsigned int count)
{
	struct ghyvi_ggtt_map *ggtt_map = &gtt->ggtt_map;
	struct ghyvi_ggtt_user *user = gtt->params.ggtt_user;
	unsigned int first, run, i;

	lockdep_assert_held(&gtt->lock);
	if (!user)
		return 0;
	mutex_lock(&ggtt_map->lock);
	for (first = 0; first < count; first += run) {
		run = run_of(tables + first, count - first);
		for (i = tables[first]->ggtt_page; i < tables[first]->ggtt_page + run; i++)
			mark_written(ggtt_map, i, false);
		user->unmap(user, tables[first]->ggtt_page, run);
	}
	mutex_unlock(&ggtt_map->lock);
	for (i = 0; i < count; i++)
		tables[i]->unmapped = true;
	ggtt_map->nr_unmapped += count;
	return count;
}
