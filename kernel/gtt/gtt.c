// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation, reset and destruction of a gtt, removal of guest memory, and the debugfs dump.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"
#include "../shadow/policies.h"

static void scratch_fini(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	unsigned int i;

	ghyvi_gtt_invalidate(gtt);
	for (i = 0; i < GHYVI_LEVELS; i++) {
		if (!gtt->scratch[i])
			continue;
		p->pgpu_ops->unmap_page(p->client, gtt->scratch_dma[i]);
		free_page((unsigned long)gtt->scratch[i]);
	}
}

static int scratch_init(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	unsigned int level;
	u64 *page;
	int err;

	for (level = 0; level < GHYVI_LEVELS; level++) {
		page = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
		if (!page)
			return -ENOMEM;
		err = p->pgpu_ops->map_page(p->client, virt_to_phys(page),
					    level ? GHYVI_PAGE_TABLE : GHYVI_PAGE_SCRATCH,
					    &gtt->scratch_dma[level]);
		if (err) {
			free_page((unsigned long)page);
			return err;
		}
		if (level)
			memset64(page, ghyvi_entry_scratch(gtt, level), GHYVI_ENTRIES);
		gtt->scratch[level] = page;
	}
	return 0;
}

struct ghyvi_gtt *ghyvi_gtt_create(const struct ghyvi_gtt_params *params)
{
	struct ghyvi_gtt *gtt;
	int err;

	gtt = kvzalloc(sizeof(*gtt), GFP_KERNEL_ACCOUNT);
	if (!gtt)
		return ERR_PTR(-ENOMEM);
	gtt->params = *params;
	gtt->policy = params->untracked ? &ghyvi_policy_relaxed : ghyvi_shadow_policy_default;
	gtt->tuning = (struct ghyvi_shadow_tuning)GHYVI_SHADOW_TUNING_DEFAULT;
	mutex_init(&gtt->lock);
	mutex_init(&gtt->ggtt_map.lock);
	/* Without the flag the nodes are not charged, whatever gfp xa_store() gets. */
	xa_init_flags(&gtt->pin_blocks, XA_FLAGS_ACCOUNT);
	xa_init_flags(&gtt->larges, XA_FLAGS_ACCOUNT);
	xa_init_flags(&gtt->tables, XA_FLAGS_ACCOUNT);
	xa_init_flags(&gtt->roots, XA_FLAGS_ACCOUNT);
	xa_init_flags(&gtt->dirty, XA_FLAGS_ACCOUNT);
	ghyvi_aperture_init(&gtt->aperture);
	gtt->ggtt_shadowed = true;
	INIT_LIST_HEAD(&gtt->idle_pins);
	INIT_LIST_HEAD(&gtt->mapped_pins);
	INIT_LIST_HEAD(&gtt->shared_tree.relaxed);
	INIT_LIST_HEAD(&gtt->dying_roots);
	INIT_LIST_HEAD(&gtt->dying_larges);
	INIT_LIST_HEAD(&gtt->dying);
	INIT_LIST_HEAD(&gtt->blocking);
	INIT_LIST_HEAD(&gtt->root_lru);

	err = scratch_init(gtt);
	if (!err)
		err = ghyvi_ggtt_init(gtt);
	if (err) {
		ghyvi_ggtt_fini(gtt);
		scratch_fini(gtt);
		ghyvi_aperture_fini(gtt);
		mutex_destroy(&gtt->ggtt_map.lock);
		kvfree(gtt);
		return ERR_PTR(err);
	}
	return gtt;
}

/*
 * Hardware writes to scratch pages through GGTT entries. What this guest has left there is not for
 * the next one.
 */
static void clear_scratch(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	memset(gtt->scratch[0], 0, GHYVI_PAGE_BYTES);
	if (p->pgpu_ops->client_reset)
		p->pgpu_ops->client_reset(p->client);
}

void ghyvi_gtt_reset(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	gtt->deferral.generation = 0; /* memory_generation starts over with the next VM */
	ghyvi_roots_drop_all(gtt);
	ghyvi_ggtt_reset(gtt);
	ghyvi_nested_evict(gtt, gtt->nr_mapped_pins);
	ghyvi_aperture_reset(gtt);
	ghyvi_gtt_reap_all(gtt);
	clear_scratch(gtt);
	mutex_unlock(&gtt->lock);
}

void ghyvi_gtt_destroy(struct ghyvi_gtt *gtt)
{
	ghyvi_gtt_reset(gtt);
	ghyvi_ggtt_fini(gtt);
	scratch_fini(gtt);
	ghyvi_aperture_fini(gtt);
	xa_destroy(&gtt->pin_blocks);
	xa_destroy(&gtt->larges);
	xa_destroy(&gtt->tables);
	xa_destroy(&gtt->roots);
	xa_destroy(&gtt->dirty);
	mutex_destroy(&gtt->ggtt_map.lock);
	mutex_destroy(&gtt->lock);
	kvfree(gtt);
}

/* Returns true if a present entry maps, or points to a table in, the range of guest pages. */
static bool leads_into(unsigned int level, u64 guest_entry, u64 gfn, u64 count)
{
	u64 target = ghyvi_entry_gfn(guest_entry), pages = 1;

	if (ghyvi_entry_is_large(level, guest_entry)) {
		target = ghyvi_entry_large_gfn(guest_entry);
		pages = GHYVI_ENTRIES;
	} else if (level == GHYVI_LEVEL_PT_64K) {
		target = ghyvi_entry_group_gfn(guest_entry);
		pages = GHYVI_PTES_PER_64K;
	}
	return target < gfn + count && gfn < target + pages;
}

/* Map scratch in all entries of one shadow page that refer to the range of guest pages. */
static void shadow_zap_range(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, u64 gfn,
			     u64 count)
{
	struct ghyvi_table_page *table = page->table;
	u64 entry, scratch = ghyvi_entry_scratch(gtt, page->level);
	bool changed = false;
	unsigned int i, level, step = page->level == GHYVI_LEVEL_PT_64K ? GHYVI_PTES_PER_64K : 1;

	for (i = 0; i < GHYVI_ENTRIES; i += step) {
		entry = page->entries[i];
		if (!(entry & GHYVI_ENTRY_PRESENT) || entry == scratch ||
		    !leads_into(page->level, table->snapshot[i], gfn, count))
			continue;
		/* All levels of this guest page share one snapshot, so clear the entry in each. */
		for (level = 0; level <= GHYVI_LEVELS; level++)
			if (table->shadows[level])
				ghyvi_shadow_clear(gtt, table->shadows[level], i,
						   table->snapshot[i]);
		table->snapshot[i] = GHYVI_SNAPSHOT_STALE;
		changed = true;
	}
	if (!changed)
		return;
	/* The guest's entries are unchanged and the memory may come back: the next sync retries. */
	ghyvi_table_mark_relaxed(gtt, table);
	if (ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, 0, GHYVI_ENTRIES - 1);
}

/* @data: the first page and the number of pages */
static void table_zap_range(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	const u64 *range = data;
	unsigned int i;

	for (i = 0; i <= GHYVI_LEVELS; i++)
		if (table->shadows[i])
			shadow_zap_range(gtt, table->shadows[i], range[0], range[1]);
}

static bool range_in_use(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	u64 next = gfn;

	return ghyvi_pin_next(gtt, &next, gfn + count - 1) || ghyvi_tables_in(gtt, gfn, count);
}

/*
 * Walks all tables instead of keeping a reverse map. Memory is removed only when a guest ends or
 * unplugs memory, while every entry ever written would pay for a reverse map.
 */
void ghyvi_gtt_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	u64 range[] = { gfn, count };

	if (!count)
		return;
	mutex_lock(&gtt->lock);
	if (!range_in_use(gtt, gfn, count))
		goto out;
	ghyvi_nested_unmap(gtt, gfn, count);
	ghyvi_roots_zap_range(gtt, gfn, count);
	ghyvi_tables_each(gtt, table_zap_range, range);
	ghyvi_gtt_reap_all(gtt);
out:
	ghyvi_gtt_unlock(gtt);
}

static void dump_table(const struct ghyvi_table_page *table, struct seq_file *m)
{
	unsigned int i, present, uses;

	seq_printf(m, "table 0x%llx levels", table->gfn << GHYVI_PAGE_SHIFT);
	for (i = 0, uses = 0; i <= GHYVI_LEVELS; i++) {
		if (!table->shadows[i])
			continue;
		seq_printf(m, " %u", i);
		uses += table->shadows[i]->refs;
	}
	for (i = 0, present = 0; i < GHYVI_ENTRIES; i++)
		present += table->snapshot[i] & GHYVI_ENTRY_PRESENT;
	seq_printf(m, " parents %u present %u %s\n", uses, present,
		   table->protected ? "strict" : "relaxed");
}

/* The guest's submissions wait for the lock meanwhile, and there may be a million tables. */
#define DUMP_TABLES 32

/* Print some tables from gfn *@next on, and advance it. Returns false after the last one. */
static bool dump_tables(struct ghyvi_gtt *gtt, struct seq_file *m, unsigned long *next)
{
	struct ghyvi_table_page *table;
	unsigned int n = 0;
	unsigned long table_gfn;

	lockdep_assert_held(&gtt->lock);
	xa_for_each_range(&gtt->tables, table_gfn, table, *next, ULONG_MAX) {
		dump_table(table, m);
		*next = table_gfn + 1;
		if (++n == DUMP_TABLES)
			return true;
	}
	return false;
}

void ghyvi_gtt_dump(struct ghyvi_gtt *gtt, struct seq_file *m)
{
	struct ghyvi_root *root;
	unsigned long next = 0;

	mutex_lock(&gtt->lock);
	seq_printf(m, "policy %s, %u table pages, %u roots, %u idle pins, %u mapped pins\n",
		   gtt->policy->name, gtt->nr_tables, gtt->nr_roots, gtt->nr_idle_pins,
		   gtt->nr_mapped_pins);
	list_for_each_entry(root, &gtt->root_lru, lru)
		seq_printf(m, "root 0x%llx levels %u users %u\n", root->gpa[0], root->levels,
			   root->refs - root->known);
	/* A buffer that is too small is discarded, and the dump is repeated with a larger one. */
	while (dump_tables(gtt, m, &next) && !seq_has_overflowed(m)) {
		mutex_unlock(&gtt->lock);
		cond_resched();
		mutex_lock(&gtt->lock);
	}
	mutex_unlock(&gtt->lock);
}

void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	mutex_lock(&gtt->lock);
	ghyvi_ggtt_set_gfn(gtt, gfn);
	ghyvi_gtt_unlock(gtt);
}

int ghyvi_gtt_move_ggtt(struct ghyvi_gtt *gtt, const struct ghyvi_range *ranges,
			unsigned int nr_ranges, const struct ghyvi_range *aperture_copied)
{
	int err;

	mutex_lock(&gtt->lock);
	err = ghyvi_ggtt_move(gtt, ranges, nr_ranges, aperture_copied);
	ghyvi_gtt_unlock(gtt);
	return err;
}
