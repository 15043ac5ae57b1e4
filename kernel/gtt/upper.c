// SPDX-License-Identifier: GPL-2.0-only
/*
 * One guest entry above the last level to one shadow entry, and the reference that the shadow entry holds: on the shadow page
 * below, or on a large page.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>

#include "gtt_types.h"

u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level)
{
	if (level <= GHYVI_LEVEL_PT)
		return ghyvi_leaf_scratch(gtt);
	return virt_to_phys(gtt->scratch_tables[level - 2]) | GHYVI_ENTRY_PRESENT |
	       GHYVI_ENTRY_WRITE;
}

u64 ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, int error)
{
	/*
	 * Final is only what no pin can mend. VFIO may give memory back that it has taken away, the
	 * host may be short of memory, and a pin fails in a thread that is being killed.
	 */
	gtt->defer_err = error == -EOPNOTSUPP ? 0 : error;
	if (error == -ENOSPC) {
		gtt->defer_err = -EFAULT; /* as if it were not there, until a table has gone */
		gtt->table_limit_hit = true;
	}
	ghyvi_count(gtt->params.stats, entries_rejected);
	gtt->rejected = (struct ghyvi_rejected){ guest_entry, level, error };
	return ghyvi_entry_scratch(gtt, level);
}

/*
 * A GPU store to a table page would not trap. i915 maps tables of its migration VM and never uses the mapping, so this
 * is no reason for a log line. (A page that becomes a table later stays mapped; shadows derive from snapshots, so the
 * guest can only fool itself.)
 */
bool ghyvi_entry_hides_table(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table;
	unsigned long at;
	bool hides = false;

	xa_for_each_range(&gtt->tables, at, table, gfn, gfn + count - 1) {
		table->has_blocked_alias = true;
		hides = true;
	}
	if (!hides)
		return false;
	gtt->defer_err = -EFAULT; /* as if it were not there, until it is no table any more */
	ghyvi_count(gtt->params.stats, entries_rejected);
	return true;
}

static u64 translate_large(struct ghyvi_gtt *gtt, u64 guest_entry)
{
	u64 gfn = ghyvi_entry_large_gfn(guest_entry);
	struct ghyvi_large *large;

	if (ghyvi_entry_hides_table(gtt, gfn, GHYVI_ENTRIES))
		return ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PD);
	large = ghyvi_large_get(gtt, gfn);
	if (IS_ERR(large)) {
		/* What it took to find out is as much as many others would be; short of room, they would not fare better. */
		gtt->retry_nomem_left = 0;
		gtt->retry_unbacked_left -= min(gtt->retry_unbacked_left, GHYVI_RETRY_NOMEM);
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PD, guest_entry, PTR_ERR(large));
	}
	return ghyvi_large_entry(large) | (guest_entry & GHYVI_ENTRY_WRITE);
}

u64 ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, struct ghyvi_tree *tree)
{
	struct ghyvi_shadow_page *child;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return 0;
	if (ghyvi_entry_is_large(level, guest_entry))
		return translate_large(gtt, guest_entry);
	if (level == GHYVI_LEVEL_PDP && (guest_entry & GHYVI_ENTRY_LARGE))
		return ghyvi_entry_reject(gtt, level, guest_entry, -EOPNOTSUPP);
	child = ghyvi_shadow_get(gtt, ghyvi_entry_gfn(guest_entry), ghyvi_entry_below(gtt, level, guest_entry), tree);
	if (IS_ERR(child)) {
		tree->refused += PTR_ERR(child) == -ENOSPC;
		return ghyvi_entry_reject(gtt, level, guest_entry, PTR_ERR(child));
	}
	return virt_to_phys(child->entries) | GHYVI_ENTRY_PRESENT |
	       (guest_entry & GHYVI_ENTRY_WRITE);
}

static void release_table(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 guest_entry)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, ghyvi_entry_gfn(guest_entry));
	struct ghyvi_shadow_page *child;

	child = table ? table->shadows[ghyvi_entry_below(gtt, page->level, guest_entry)] : NULL;
	if (WARN_ON_ONCE(!child))
		return;
	/* The same table may stand there again. */
	if (child->parent == page && child->parent_index == index &&
	    (page->entries[index] & GHYVI_SHADOW_ADDRESS_MASK) != virt_to_phys(child->entries))
		ghyvi_table_64k_unlink(gtt, child);
	ghyvi_shadow_put(gtt, child);
}

void ghyvi_entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 guest_entry,
			 u64 shadow_entry)
{
	unsigned int level = page->level;

	if (!(shadow_entry & GHYVI_ENTRY_PRESENT) || shadow_entry == ghyvi_entry_scratch(gtt, level))
		return;
	if (ghyvi_entry_is_large(level, guest_entry))
		ghyvi_large_put(gtt, ghyvi_entry_large_gfn(guest_entry));
	else
		release_table(gtt, page, index, guest_entry);
}
