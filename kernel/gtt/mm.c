// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of an mm, guest memory that goes away, and the debugfs dump.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "mm_types.h"

static void report_rejected(struct ghyvi_mm *mm)
{
	if (!mm->rejected.error)
		return;
	ghyvi_report(mm->params.reporter,
		     "table entry 0x%llx of level %u cannot be translated (%d), scratch page used",
		     mm->rejected.guest_entry, mm->rejected.level, mm->rejected.error);
	mm->rejected.error = 0;
}

void ghyvi_mm_unlock(struct ghyvi_mm *mm)
{
	report_rejected(mm);
	ghyvi_tables_reap(mm);
	if (mm->nr_idle_pins > mm->tuning.idle_pins)
		ghyvi_pins_trim(mm, mm->tuning.idle_pins / 2);
	mutex_unlock(&mm->lock);
}

static void scratch_fini(struct ghyvi_mm *mm)
{
	const struct ghyvi_mm_params *p = &mm->params;
	unsigned int i;

	p->pgpu_ops->invalidate(p->client);
	for (i = 0; i < GHYVI_LEVELS; i++) {
		if (!mm->scratch_tables[i])
			continue;
		p->pgpu_ops->disown_page(p->client, virt_to_phys(mm->scratch_tables[i]));
		free_page((unsigned long)mm->scratch_tables[i]);
	}
	if (mm->scratch) {
		p->pgpu_ops->disown_page(p->client, mm->scratch);
		free_page((unsigned long)phys_to_virt(mm->scratch));
	}
}

static u64 *scratch_page(struct ghyvi_mm *mm, enum ghyvi_page_kind kind)
{
	u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);

	if (page && mm->params.pgpu_ops->own_page(mm->params.client, virt_to_phys(page), kind)) {
		free_page((unsigned long)page);
		return NULL;
	}
	return page;
}

static int scratch_init(struct ghyvi_mm *mm)
{
	unsigned int level, i;
	u64 *page, entry;

	page = scratch_page(mm, GHYVI_PAGE_SCRATCH);
	if (!page)
		return -ENOMEM;
	mm->scratch = virt_to_phys(page);
	for (level = GHYVI_LEVEL_PT; level <= GHYVI_LEVELS; level++) {
		page = scratch_page(mm, GHYVI_PAGE_TABLE);
		if (!page)
			return -ENOMEM;
		entry = ghyvi_entry_scratch(mm, level);
		for (i = 0; i < GHYVI_ENTRIES; i++)
			page[i] = entry;
		mm->scratch_tables[level - 1] = page;
	}
	return 0;
}

struct ghyvi_mm *ghyvi_mm_create(const struct ghyvi_mm_params *params)
{
	struct ghyvi_mm *mm;
	int ret;

	mm = kvzalloc(sizeof(*mm), GFP_KERNEL_ACCOUNT);
	if (!mm)
		return ERR_PTR(-ENOMEM);
	mm->params = *params;
	mm->policy = ghyvi_shadow_policy_default;
	mm->tuning = (struct ghyvi_shadow_tuning)GHYVI_SHADOW_TUNING_DEFAULT;
	mutex_init(&mm->lock);
	xa_init(&mm->pin_blocks);
	xa_init(&mm->larges);
	xa_init(&mm->tables);
	xa_init(&mm->roots);
	INIT_LIST_HEAD(&mm->idle_pins);
	INIT_LIST_HEAD(&mm->mapped_pins);
	INIT_LIST_HEAD(&mm->shared_tree.relaxed);
	INIT_LIST_HEAD(&mm->dying_roots);
	INIT_LIST_HEAD(&mm->dying_larges);
	INIT_LIST_HEAD(&mm->dying);
	INIT_LIST_HEAD(&mm->root_lru);

	ret = scratch_init(mm);
	if (!ret)
		ret = ghyvi_ggtt_init(mm);
	if (ret) {
		ghyvi_ggtt_fini(mm);
		scratch_fini(mm);
		kvfree(mm);
		return ERR_PTR(ret);
	}
	return mm;
}

void ghyvi_mm_reset(struct ghyvi_mm *mm)
{
	mutex_lock(&mm->lock);
	mm->generation = 0; /* the next VM's begins anew */
	ghyvi_roots_empty_all(mm);
	ghyvi_roots_forget_all(mm);
	ghyvi_ggtt_reset(mm);
	ghyvi_nested_evict(mm, mm->nr_mapped_pins);
	ghyvi_tables_reap(mm);
	ghyvi_pins_trim(mm, 0);
	mutex_unlock(&mm->lock);
}

void ghyvi_mm_destroy(struct ghyvi_mm *mm)
{
	ghyvi_mm_reset(mm);
	ghyvi_ggtt_fini(mm);
	scratch_fini(mm);
	xa_destroy(&mm->pin_blocks);
	xa_destroy(&mm->larges);
	xa_destroy(&mm->tables);
	xa_destroy(&mm->roots);
	mutex_destroy(&mm->lock);
	kvfree(mm);
}

/* Does a present entry lead into the range of guest pages? */
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

/* Entries of one shadow page that lead into the range of guest pages lead to scratch from now on. */
static void shadow_scrub(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table = page->table;
	u64 entry, scratch = ghyvi_entry_scratch(mm, page->level);
	bool changed = false;
	unsigned int i, level, step = page->level == GHYVI_LEVEL_PT_64K ? GHYVI_PTES_PER_64K : 1;

	for (i = 0; i < GHYVI_ENTRIES; i += step) {
		entry = page->entries[i];
		if (!(entry & GHYVI_ENTRY_PRESENT) || entry == scratch ||
		    !leads_into(page->level, table->snapshot[i], gfn, count))
			continue;
		/* One snapshot serves all levels of this guest page: scrub the entry in each of them. */
		for (level = 0; level <= GHYVI_LEVELS; level++)
			if (table->shadows[level])
				ghyvi_shadow_clear(mm, table->shadows[level], i, table->snapshot[i]);
		table->snapshot[i] = GHYVI_SNAPSHOT_STALE;
		changed = true;
	}
	if (!changed)
		return;
	/* The guest's entry stays as it is and the memory may come back: look again at the next sync. */
	ghyvi_table_mark_relaxed(mm, table);
	if (ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(mm, table, 0, GHYVI_ENTRIES - 1);
}

static void table_zap_range(struct ghyvi_mm *mm, struct ghyvi_table_page *table, u64 gfn, u64 count)
{
	unsigned int i;

	for (i = 0; i <= GHYVI_LEVELS; i++)
		if (table->shadows[i])
			shadow_scrub(mm, table->shadows[i], gfn, count);
}

static bool range_in_use(struct ghyvi_mm *mm, u64 gfn, u64 count)
{
	u64 at = gfn;

	return ghyvi_pin_next(mm, &at, gfn + count - 1) || ghyvi_tables_in(mm, gfn, count);
}

/*
 * Walks everything instead of keeping a reverse map: memory goes away when a guest ends or unplugs
 * memory, while a reverse map would be paid for by every entry ever written.
 */
void ghyvi_mm_unmap(struct ghyvi_mm *mm, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table;
	unsigned long at;
	u32 i;

	if (!count)
		return;
	mutex_lock(&mm->lock);
	if (!range_in_use(mm, gfn, count))
		goto out;
	ghyvi_nested_unmap(mm, gfn, count);
	ghyvi_roots_zap_range(mm, gfn, count);
	xa_for_each(&mm->tables, at, table) {
		table_zap_range(mm, table, gfn, count);
		cond_resched();
	}
	for (i = 0; i < mm->nr_ggtt_tables; i++)
		if (mm->ggtt_tables[i])
			table_zap_range(mm, mm->ggtt_tables[i], gfn, count);
	ghyvi_tables_reap(mm);
	ghyvi_pins_trim(mm, 0);
out:
	ghyvi_mm_unlock(mm);
}

void ghyvi_mm_dump(struct ghyvi_mm *mm, struct seq_file *m)
{
	struct ghyvi_table_page *table;
	struct ghyvi_root *root;
	unsigned int i, present, uses;
	unsigned long at;

	mutex_lock(&mm->lock);
	seq_printf(m, "policy %s, %u table pages, %u roots, %u idle pins, %u mapped pins\n", mm->policy->name,
		   mm->nr_tables, mm->nr_roots, mm->nr_idle_pins, mm->nr_mapped_pins);
	list_for_each_entry(root, &mm->root_lru, lru)
		seq_printf(m, "root 0x%llx levels %u users %u\n", root->gpa[0], root->levels,
			   root->refs - root->known);
	xa_for_each(&mm->tables, at, table) {
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
	mutex_unlock(&mm->lock);
}
