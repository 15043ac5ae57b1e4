// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vGPU's partition of the GGTT. The guest's table is host memory that the guest maps (the upper
 * half of BAR 0). The shadow entries are installed in the pGPU.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dirty_log.h"
#include "pins.h"
#include "tables.h"
#include "trees.h"

/* Bytes mapped by one table page. */
#define GGTT_TABLE_SPAN ((u64)GHYVI_ENTRIES << GHYVI_PAGE_SHIFT)

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

/* Create the table pages of the partition. After an error some of them exist. */
static int ggtt_add_tables(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_range *range;
	unsigned int r;
	u64 address;
	int ret;

	gtt->ggtt_gfn = GHYVI_INVALID_GFN;
	gtt->nr_ggtt_tables = 0;
	for (r = 0; r < gtt->params.nr_ggtt_ranges; r++) {
		range = &gtt->params.ggtt_ranges[r];
		gtt->nr_ggtt_tables =
			max_t(u32, gtt->nr_ggtt_tables,
			      DIV_ROUND_UP(range->start + range->bytes, GGTT_TABLE_SPAN));
	}
	gtt->ggtt_tables = kvcalloc(max(gtt->nr_ggtt_tables, 1u), sizeof(*gtt->ggtt_tables),
				    GFP_KERNEL_ACCOUNT);
	if (!gtt->ggtt_tables)
		return -ENOMEM;
	for (r = 0; r < gtt->params.nr_ggtt_ranges; r++) {
		range = &gtt->params.ggtt_ranges[r];
		if (WARN_ON_ONCE(range->start % GGTT_TABLE_SPAN || range->bytes % GGTT_TABLE_SPAN))
			return -EINVAL;
		for (address = range->start; address < range->start + range->bytes;
		     address += GGTT_TABLE_SPAN) {
			ret = ggtt_add_table(gtt, address / GGTT_TABLE_SPAN);
			if (ret)
				return ret;
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

int ghyvi_ggtt_init(struct ghyvi_gtt *gtt)
{
	gtt->ggtt_shadowed = true;
	return ggtt_add_tables(gtt);
}

void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt)
{
	ggtt_free_tables(gtt, gtt->ggtt_tables, gtt->nr_ggtt_tables);
}

int ghyvi_gtt_move_ggtt(struct ghyvi_gtt *gtt, const struct ghyvi_range *ranges,
			unsigned int nr_ranges, const struct ghyvi_range *aperture_copied)
{
	struct ghyvi_gtt_params before;
	struct ghyvi_table_page **tables;
	u32 count, i;
	int ret;

	mutex_lock(&gtt->lock);
	before = gtt->params;
	tables = gtt->ggtt_tables;
	count = gtt->nr_ggtt_tables;
	memcpy(gtt->params.ggtt_ranges, ranges, nr_ranges * sizeof(*ranges));
	gtt->params.nr_ggtt_ranges = nr_ranges;
	gtt->params.aperture_copied = *aperture_copied;
	ret = ggtt_add_tables(gtt);
	if (ret) {
		gtt->params = before;
		swap(tables, gtt->ggtt_tables);
		swap(count, gtt->nr_ggtt_tables);
	} else {
		for (i = 0; i < count; i++)
			if (tables[i])
				gtt->forget_table(gtt, tables[i]);
		gtt->params.pgpu_ops->client_set_ggtt(gtt->params.client, ranges, nr_ranges);
	}
	ggtt_free_tables(gtt, tables, count);
	ghyvi_gtt_unlock(gtt);
	return ret;
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

void ghyvi_ggtt_publish(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last)
{
	gtt->params.pgpu_ops->ggtt_write(gtt->params.client,
					 (u64)table->ggtt_page * GHYVI_ENTRIES + first,
					 table->shadows[GHYVI_LEVEL_PT]->entries + first,
					 last - first + 1);
	gtt->ggtt_updating = NULL;
}

struct ghyvi_table_page *ghyvi_ggtt_table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	if (gtt->ggtt_gfn == GHYVI_INVALID_GFN || gfn < gtt->ggtt_gfn ||
	    gfn - gtt->ggtt_gfn >= gtt->nr_ggtt_tables)
		return NULL;
	return gtt->ggtt_tables[gfn - gtt->ggtt_gfn];
}

void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_table_page *table;
	u32 i;

	mutex_lock(&gtt->lock);
	if (gfn != gtt->ggtt_gfn) {
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
	ghyvi_gtt_unlock(gtt);
}

/*
 * Sync one entry of a relaxed page before the host accesses memory through it: the guest may have
 * changed it since the last sync. A deferred entry is retried here as well, because the sync of a
 * submission comes only after the context image has been read.
 */
static void refresh_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index)
{
	ghyvi_ggtt_collect(gtt);
	if (list_empty(&table->relaxed_node))
		return;
	if (!ghyvi_table_update(gtt, table, index, table->guest + index, 1)) {
		if (!ghyvi_table_entry_deferred(table, index))
			return;
		ghyvi_table_retry_entry(gtt, table, index);
	}
	ghyvi_ggtt_publish(gtt, table, index, index);
}

struct ghyvi_pin *ghyvi_ggtt_pin(struct ghyvi_gtt *gtt, u64 address)
{
	unsigned int index = (address >> GHYVI_PAGE_SHIFT) % GHYVI_ENTRIES;
	struct ghyvi_table_page *table;
	struct ghyvi_pin *pin;
	u64 entry;

	if (address / GGTT_TABLE_SPAN >= gtt->nr_ggtt_tables)
		return NULL;
	table = gtt->ggtt_tables[address / GGTT_TABLE_SPAN];
	if (!table)
		return NULL;
	if (gtt->policy->nested) {
		entry = READ_ONCE(table->guest[index]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return NULL;
		pin = ghyvi_nested_pin(gtt, ghyvi_entry_gfn(entry));
		return IS_ERR(pin) ? NULL : pin;
	}
	refresh_entry(gtt, table, index);
	if (!ghyvi_leaf_is_mapped(gtt, table->shadows[GHYVI_LEVEL_PT]->entries[index]))
		return NULL;
	pin = ghyvi_pin_find(gtt, ghyvi_entry_gfn(table->snapshot[index]));
	WARN_ON_ONCE(!pin);
	return pin;
}

/* The guest polls some words while the host writes them, so an aligned word is a single store. */
static void copy_to_guest(void *to, const void *from, size_t bytes)
{
	if (bytes == 8 && IS_ALIGNED((unsigned long)to, 8))
		WRITE_ONCE(*(u64 *)to, *(const u64 *)from);
	else if (bytes == 4 && IS_ALIGNED((unsigned long)to, 4))
		WRITE_ONCE(*(u32 *)to, *(const u32 *)from);
	else
		memcpy(to, from, bytes);
}

static int ggtt_copy(struct ghyvi_gtt *gtt, u64 address, void *read, const void *write,
		     size_t bytes)
{
	struct ghyvi_pin *pin;
	size_t part, at;
	int ret = 0;
	void *byte;

	mutex_lock(&gtt->lock);
	for (at = 0; at < bytes; at += part) {
		part = min_t(size_t, bytes - at,
			     GHYVI_PAGE_BYTES - (address + at) % GHYVI_PAGE_BYTES);
		pin = ghyvi_ggtt_pin(gtt, address + at);
		if (!pin) {
			ret = -EFAULT;
			break;
		}
		byte = phys_to_virt(pin->hpa) + (address + at) % GHYVI_PAGE_BYTES;
		if (read) {
			memcpy(read + at, byte, part);
			continue;
		}
		copy_to_guest(byte, write + at, part);
		ghyvi_dirty_mark(gtt, pin);
	}
	ghyvi_gtt_unlock(gtt);
	return ret;
}

int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *gtt, u64 address, void *buffer, size_t bytes)
{
	return ggtt_copy(gtt, address, buffer, NULL, bytes);
}

int ghyvi_gtt_ggtt_write(struct ghyvi_gtt *gtt, u64 address, const void *buffer, size_t bytes)
{
	return ggtt_copy(gtt, address, NULL, buffer, bytes);
}

void ghyvi_gtt_ggtt_store(struct ghyvi_gtt *gtt, u64 index, u64 entry)
{
	struct ghyvi_table_page *table = NULL;

	mutex_lock(&gtt->lock);
	if (index / GHYVI_ENTRIES < gtt->nr_ggtt_tables)
		table = gtt->ggtt_tables[index / GHYVI_ENTRIES];
	if (table) {
		WRITE_ONCE(table->guest[index % GHYVI_ENTRIES], entry);
		if (gtt->ggtt_shadowed) {
			ghyvi_table_update(gtt, table, index % GHYVI_ENTRIES, &entry, 1);
			ghyvi_ggtt_publish(gtt, table, index % GHYVI_ENTRIES,
					   index % GHYVI_ENTRIES);
		}
	}
	ghyvi_gtt_unlock(gtt);
}
