// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation of one guest entry above the last level into one shadow entry. The shadow entry holds
 * a reference on the shadow page or the 2 MiB page that it points to.
 */
#include <linux/err.h>
#include <linux/minmax.h>

#include "entries.h"
#include "tables.h"

u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level)
{
	if (level <= GHYVI_LEVEL_PT)
		return ghyvi_leaf_scratch(gtt);
	return gtt->scratch_dma[level - 1] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

u64 ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, int error)
{
	/*
	 * Only an unsupported format is final. All other errors may pass, so the entry is deferred.
	 * VFIO may map the memory again, the host may be short of memory, or the calling thread is
	 * being killed.
	 */
	gtt->deferral.err = error == -EOPNOTSUPP ? 0 : error;
	if (error == -ENOSPC) {
		gtt->deferral.err = -EFAULT; /* retried when a table page has been freed */
		gtt->deferral.table_limit_hit = true;
	}
	ghyvi_count(gtt->params.stats, entries_rejected);
	gtt->rejected = (struct ghyvi_rejected){ guest_entry, level, error };
	return ghyvi_entry_scratch(gtt, level);
}

/*
 * A GPU store to a table page would not trap, so a table page is not mapped as data. i915 maps
 * tables of its migration VM and never uses the mapping, so this is not reported. A data page that
 * becomes a table page later stays mapped. That is safe: shadows are derived from snapshots, so GPU
 * stores to it can only affect the guest itself.
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
	gtt->deferral.err = -EFAULT; /* retried when the table page has been freed */
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
		/*
		 * Pinning 512 pages may cost as much as all other retries of this sync. If memory
		 * is short, they would fail as well.
		 */
		gtt->deferral.nomem_left = 0;
		gtt->deferral.unbacked_left -= min(gtt->deferral.unbacked_left, GHYVI_RETRY_NOMEM);
		return ghyvi_entry_reject(gtt, GHYVI_LEVEL_PD, guest_entry, PTR_ERR(large));
	}
	return ghyvi_large_entry(large) | (guest_entry & GHYVI_ENTRY_WRITE);
}

u64 ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry,
			  struct ghyvi_tree *tree)
{
	struct ghyvi_shadow_page *child;

	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		return 0;
	if (ghyvi_entry_is_large(level, guest_entry))
		return translate_large(gtt, guest_entry);
	if (level == GHYVI_LEVEL_PDP && (guest_entry & GHYVI_ENTRY_LARGE))
		return ghyvi_entry_reject(gtt, level, guest_entry, -EOPNOTSUPP);
	child = ghyvi_shadow_get(gtt, ghyvi_entry_gfn(guest_entry),
				 ghyvi_entry_below(gtt, level, guest_entry), tree);
	if (IS_ERR(child)) {
		tree->refused += PTR_ERR(child) == -ENOSPC;
		return ghyvi_entry_reject(gtt, level, guest_entry, PTR_ERR(child));
	}
	return child->dma | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE);
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
		ghyvi_table_64k_unlink(gtt, child);
	ghyvi_shadow_put(gtt, child);
}

void ghyvi_entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
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
