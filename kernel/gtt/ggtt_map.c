// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores to the GGTT table without the hypervisor's help.
 *
 * DOC: protection by mapping
 *
 * The guest's GGTT table is host memory, which the owner of the BAR maps for the guest. A page of
 * it that is not mapped cannot be written, so removing the mapping protects the page: the next
 * access faults, the owner maps the page again, and ghyvi_gtt_ggtt_map() marks it as written. The
 * fault precedes the store, so a sync takes marked pages to be relaxed. The fault handler holds
 * mmap_lock and must not take gtt->lock; ggtt_map.lock nests inside both.
 *
 * A page is marked and mapped in one critical section, and unmarked and unmapped in another.
 * Otherwise a page could be mapped without a mark.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>

#include "tables.h"
#include "trees.h"

void ghyvi_ggtt_map_init(struct ghyvi_gtt *gtt)
{
	mutex_init(&gtt->ggtt_map.lock);
}

void ghyvi_ggtt_map_fini(struct ghyvi_gtt *gtt)
{
	mutex_destroy(&gtt->ggtt_map.lock);
}

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
	int ret;

	if (page >= GHYVI_GGTT_TABLES_MAX)
		return -EINVAL;
	mutex_lock(&ggtt_map->lock);
	mark_written(ggtt_map, page, true);
	ret = map(data);
	mutex_unlock(&ggtt_map->lock);
	return ret;
}

void ghyvi_ggtt_collect(struct ghyvi_gtt *gtt)
{
	struct ghyvi_ggtt_map *ggtt_map = &gtt->ggtt_map;
	struct ghyvi_table_page *table;
	u64 written;
	u32 i;

	lockdep_assert_held(&gtt->lock);
	if (!ggtt_map->nr_unmapped)
		return;
	mutex_lock(&ggtt_map->lock);
	for (i = 0; i < ARRAY_SIZE(ggtt_map->written); i++) {
		for (written = ggtt_map->written[i]; written; written &= written - 1) {
			u32 page = i * 64 + __ffs(written);

			table = page < gtt->nr_ggtt_tables ? gtt->ggtt_tables[page] : NULL;
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
	unsigned int at, run, i;

	lockdep_assert_held(&gtt->lock);
	if (!user)
		return 0;
	mutex_lock(&ggtt_map->lock);
	for (at = 0; at < count; at += run) {
		run = run_of(tables + at, count - at);
		for (i = tables[at]->ggtt_page; i < tables[at]->ggtt_page + run; i++)
			mark_written(ggtt_map, i, false);
		user->unmap(user, tables[at]->ggtt_page, run);
	}
	mutex_unlock(&ggtt_map->lock);
	for (i = 0; i < count; i++)
		tables[i]->unmapped = true;
	ggtt_map->nr_unmapped += count;
	return count;
}
