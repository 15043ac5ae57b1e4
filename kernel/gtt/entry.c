// SPDX-License-Identifier: GPL-2.0-only
/*
 * One guest entry to one shadow entry, and the reference that the shadow entry holds: on a pin (last
 * level, large pages) or on the shadow page below.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/string.h>

#include "mm_types.h"

u64 ghyvi_entry_scratch(const struct ghyvi_mm *mm, unsigned int level)
{
	if (level <= GHYVI_LEVEL_PT)
		return mm->scratch | GHYVI_ENTRY_PRESENT;
	return virt_to_phys(mm->scratch_tables[level - 2]) | GHYVI_ENTRY_PRESENT |
	       GHYVI_ENTRY_WRITE;
}

static u64 entry_reject(struct ghyvi_mm *mm, unsigned int level, u64 guest_entry, int error)
{
	ghyvi_count(mm->params.stats, entries_rejected);
	ghyvi_report(mm->params.reporter,
		     "table entry 0x%llx of level %u cannot be translated (%d), scratch page used",
		     guest_entry, level, error);
	return ghyvi_entry_scratch(mm, level);
}

/*
 * A GPU store to a table page would not trap. i915 maps tables of its migration VM and never uses the mapping, so this
 * is no reason for a log line. (A page that becomes a table later stays mapped; shadows derive from snapshots, so the
 * guest can only fool itself.)
 */
static bool holds_table(struct ghyvi_mm *mm, u64 gfn, u64 count)
{
	if (!ghyvi_tables_in(mm, gfn, count))
		return false;
	ghyvi_count(mm->params.stats, entries_rejected);
	return true;
}

static u64 translate_leaf(struct ghyvi_mm *mm, u64 guest_entry, bool ggtt)
{
	u64 gfn = ghyvi_entry_gfn(guest_entry), flags = GHYVI_ENTRY_PRESENT;
	struct ghyvi_pin *pin = ghyvi_pin_find(mm, gfn);

	if ((!pin || pin->table) && holds_table(mm, gfn, 1))
		return ghyvi_entry_scratch(mm, GHYVI_LEVEL_PT);
	pin = pin ? ghyvi_pin_hold(mm, pin) : ghyvi_pin_get(mm, gfn);
	if (IS_ERR(pin)) {
		mm->no_pin = PTR_ERR(pin) == -ENOMEM;
		return entry_reject(mm, GHYVI_LEVEL_PT, guest_entry, PTR_ERR(pin));
	}
	/* GGTT entries have no write bit. */
	if (ggtt || (guest_entry & GHYVI_ENTRY_WRITE))
		flags |= GHYVI_ENTRY_WRITE;
	return pin->bus | flags;
}

static u64 translate_large(struct ghyvi_mm *mm, u64 guest_entry)
{
	u64 gfn = ghyvi_entry_large_gfn(guest_entry);
	struct ghyvi_large *large;

	if (holds_table(mm, gfn, GHYVI_ENTRIES))
		return ghyvi_entry_scratch(mm, GHYVI_LEVEL_PD);
	large = ghyvi_large_get(mm, gfn);
	if (IS_ERR(large)) {
		mm->no_pin = PTR_ERR(large) == -ENOMEM;
		/* What it took to find out is as much as all the others would be, and they would not fare better. */
		mm->retries = 0;
		return entry_reject(mm, GHYVI_LEVEL_PD, guest_entry, PTR_ERR(large));
	}
	return ghyvi_large_entry(large) | (guest_entry & GHYVI_ENTRY_WRITE);
}

u64 ghyvi_entry_translate(struct ghyvi_mm *mm, unsigned int level, u64 guest_entry, bool ggtt,
			  struct ghyvi_tree *tree)
{
	struct ghyvi_shadow_page *child;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return 0;
	if (level == GHYVI_LEVEL_PT)
		return translate_leaf(mm, guest_entry, ggtt);
	if (ghyvi_entry_is_large(level, guest_entry))
		return translate_large(mm, guest_entry);
	if (level == GHYVI_LEVEL_PDP && (guest_entry & GHYVI_ENTRY_LARGE))
		return entry_reject(mm, level, guest_entry, -EOPNOTSUPP);
	child = ghyvi_shadow_get(mm, ghyvi_entry_gfn(guest_entry), ghyvi_entry_below(mm, level, guest_entry), tree);
	if (IS_ERR(child))
		return entry_reject(mm, level, guest_entry, PTR_ERR(child));
	return virt_to_phys(child->entries) | GHYVI_ENTRY_PRESENT |
	       (guest_entry & GHYVI_ENTRY_WRITE);
}

void ghyvi_group_translate(struct ghyvi_mm *mm, u64 guest_entry, struct ghyvi_group *group)
{
	u64 gfn = ghyvi_entry_group_gfn(guest_entry), scratch = ghyvi_entry_scratch(mm, GHYVI_LEVEL_PT_64K), bus;
	const struct ghyvi_pin *pins;
	unsigned int i;
	int ret;

	group->whole = !(guest_entry & GHYVI_ENTRY_PRESENT);
	memset64(group->entries, group->whole ? 0 : scratch, GHYVI_GROUP);
	if (group->whole || holds_table(mm, gfn, GHYVI_GROUP))
		return;
	ret = ghyvi_pins_get(mm, gfn, GHYVI_GROUP, &bus);
	if (ret < 0) {
		mm->no_pin = ret == -ENOMEM;
		entry_reject(mm, GHYVI_LEVEL_PT_64K, guest_entry, ret);
		return;
	}
	group->whole = ret;
	pins = ghyvi_pin_find(mm, gfn);
	for (i = 0; i < GHYVI_GROUP; i++)
		group->entries[i] = pins[i].bus | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE);
}

static void release_table(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index, u64 guest_entry)
{
	struct ghyvi_table_page *table = xa_load(&mm->tables, ghyvi_entry_gfn(guest_entry));
	struct ghyvi_shadow_page *child;

	child = table ? table->shadows[ghyvi_entry_below(mm, page->level, guest_entry)] : NULL;
	if (WARN_ON_ONCE(!child))
		return;
	/* The same table may stand there again. */
	if (child->parent == page && child->parent_index == index &&
	    (page->entries[index] & GHYVI_SHADOW_ADDRESS_MASK) != virt_to_phys(child->entries))
		ghyvi_table_64k_unlink(mm, child);
	ghyvi_shadow_put(mm, child);
}

void ghyvi_entry_release(struct ghyvi_mm *mm, struct ghyvi_shadow_page *page, unsigned int index, u64 guest_entry,
			 u64 shadow_entry)
{
	unsigned int level = page->level;

	if (!(shadow_entry & GHYVI_ENTRY_PRESENT) || shadow_entry == ghyvi_entry_scratch(mm, level))
		return;
	if (level == GHYVI_LEVEL_PT_64K)
		ghyvi_pins_put(mm, ghyvi_entry_group_gfn(guest_entry), GHYVI_GROUP);
	else if (level == GHYVI_LEVEL_PT)
		ghyvi_pin_put(mm, ghyvi_entry_gfn(guest_entry));
	else if (ghyvi_entry_is_large(level, guest_entry))
		ghyvi_large_put(mm, ghyvi_entry_large_gfn(guest_entry));
	else
		release_table(mm, page, index, guest_entry);
}
