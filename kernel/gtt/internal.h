/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of kernel/gtt for each other, by file, lowest first: a file calls only itself and the
 * files before it. selftests/static/run checks the order.
 *
 * They run with gtt->lock held unless their comment says otherwise. Those outside the trap and scan
 * loops assert it. Exceptions are ghyvi_gtt_create() and the end of ghyvi_gtt_destroy(): no other
 * thread can reach the gtt then.
 */
#ifndef GHYVI_GTT_INTERNAL_H
#define GHYVI_GTT_INTERNAL_H

#include <linux/bitops.h>
#include "gtt_types.h"

/* ---- costs.c: update the costs in gtt->tuning ---- */

void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa);

/* ---- aperture.c ---- */

void ghyvi_aperture_init(struct ghyvi_aperture *aperture);
void ghyvi_aperture_fini(struct ghyvi_gtt *gtt);
/* Remove all mappings, and free the pages that they used. */
void ghyvi_aperture_reset(struct ghyvi_gtt *gtt);
/*
 * The shadow entries of @count GGTT pages from @page on have changed: they must not be mapped any
 * more. Their mappings are removed by ghyvi_aperture_flush(), before their pins are released.
 */
void ghyvi_aperture_remove(struct ghyvi_gtt *gtt, u64 page, u64 count);
void ghyvi_aperture_remove_all(struct ghyvi_gtt *gtt);
/* For ghyvi_aperture_flush(): there is a page that was removed. */
void ghyvi_aperture_unmap(struct ghyvi_gtt *gtt);
/* Remove the mappings of all pages that were removed. Each operation on a gtt ends with it. */
static inline void ghyvi_aperture_flush(struct ghyvi_gtt *gtt)
{
	if (gtt->aperture.first <= gtt->aperture.last)
		ghyvi_aperture_unmap(gtt);
}
/*
 * What to map at GGTT page @page, behind which is the guest page at @memory (NULL: none). Returns
 * NULL if memory is short.
 */
void *ghyvi_aperture_backing(struct ghyvi_gtt *gtt, u64 page, u64 *memory);
/* Let the user map host-physical page @hpa_page at GGTT page @page. Returns 0 or -ENOMEM. */
int ghyvi_aperture_add(struct ghyvi_gtt *gtt, u64 page, u64 hpa_page);

/*
 * Returns when no engine uses a translation from before the call, and no page is mapped through the
 * aperture because of one.
 */
static inline void ghyvi_gtt_invalidate(struct ghyvi_gtt *gtt)
{
	ghyvi_aperture_flush(gtt);
	gtt->params.pgpu_ops->invalidate(&gtt->params.client, 1);
}

/* Install the shadow entries [@first, @last] of a GGTT table page in the pGPU. */
static inline void ghyvi_ggtt_publish(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				      unsigned int first, unsigned int last)
{
	gtt->params.pgpu_ops->ggtt_write(gtt->params.client,
					 (u64)table->ggtt_page * GHYVI_ENTRIES + first,
					 table->shadows[GHYVI_LEVEL_PT]->entries + first,
					 last - first + 1);
}

/* ---- pins.c ---- */

/* Record that the host, or a CPU, has written to page @gfn, or may do so until the log is read. */
void ghyvi_dirty_record(struct ghyvi_gtt *gtt, u64 gfn);
/*
 * Pin @gfn through the hypervisor. On -ENOMEM unmap half of the pages mapped for nested jobs,
 * release the idle pins and try again. @updating: a GGTT table page whose shadow has entries that
 * are not published yet, or NULL.
 */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *hpa, struct ghyvi_table_page *updating);
/* Find the first pin in [*@gfn, @last] and set *@gfn to its page. Returns NULL if there is none. */
struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last);
/*
 * Pin a page that is not pinned; @updating as above. Returns the pin with one reference, or an
 * ERR_PTR.
 */
struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn,
				   struct ghyvi_table_page *updating);
void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn);
/* Record in the pin of @gfn, if there is one, whether the guest page is a table page. */
void ghyvi_pin_set_table(struct ghyvi_gtt *gtt, u64 gfn, bool table);
/*
 * Take a reference for each entry of @run if all its pages are pinned already and none is a table
 * page. Returns the DMA address of the first page, followed by those of the next ones, or NULL.
 */
const dma_addr_t *ghyvi_pins_hold(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run);
/* Drop a reference for each entry of @run. */
void ghyvi_pins_put(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run);
/*
 * Take a reference on each of @count pages (a power of two) from @gfn on (a multiple of it), or on
 * none. Returns 1 if their DMA addresses are contiguous and aligned to their total size, so that
 * the GPU can use them as one page at *@first; 0 if they are not; or a negative errno.
 */
int ghyvi_pages_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, dma_addr_t *first);
/* Drop these references; @count may be any multiple of GHYVI_PIN_BLOCK. */
void ghyvi_pages_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count);
/*
 * Release the oldest idle pins until at most @keep are left. The caller has invalidated the pGPU
 * since these pins became idle, or since nothing that maps them could be reached.
 */
void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep);
/* Pin guest page @gfn and map it for nested jobs. Returns its pin or an ERR_PTR. */
struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn);
/* Unmap the @count pages mapped longest ago. Pins without other references become idle. */
void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count);
/* Unmap @count guest pages from @gfn on. */
void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/*
 * Take a reference on the 2 MiB page at @gfn (a multiple of GHYVI_ENTRIES), and pin it first if
 * necessary. Returns it, or an ERR_PTR if one of its pages cannot be pinned or memory is short.
 */
struct ghyvi_large *ghyvi_large_get(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_large_put(struct ghyvi_gtt *gtt, u64 gfn);
/* Free the 2 MiB pages without references. The caller has invalidated the pGPU. */
void ghyvi_larges_reap(struct ghyvi_gtt *gtt);

/* The read-only shadow entry of level PD that maps @large. */
static inline u64 ghyvi_large_entry(const struct ghyvi_large *large)
{
	return large->dma | GHYVI_ENTRY_PRESENT | (large->table ? 0 : GHYVI_ENTRY_LARGE);
}

/* Returns true if one of @count guest pages from @gfn on is a table page. */
static inline bool ghyvi_tables_in(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	unsigned long found = gfn;

	return xa_find(&gtt->tables, &found, gfn + count - 1, XA_PRESENT);
}

/* Where a block is cached that was looked up by its number. */
static inline struct ghyvi_pin_block **ghyvi_pin_block_cached(struct ghyvi_gtt *gtt, u64 number)
{
	return &gtt->block_cache[number % GHYVI_BLOCK_CACHE_SLOTS];
}

/* Look up a block by its number. Returns NULL if there is none. */
static inline struct ghyvi_pin_block *ghyvi_pin_block(struct ghyvi_gtt *gtt, u64 number)
{
	struct ghyvi_pin_block **near = ghyvi_pin_block_cached(gtt, number);

	if (!*near || (*near)->number != number)
		*near = xa_load(&gtt->pin_blocks, number);
	return *near;
}

/* Returns the pin of @gfn, or NULL if the page is not pinned. */
static inline struct ghyvi_pin *ghyvi_pin_find(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK);

	if (!block || !(block->pinned & BIT_ULL(gfn % GHYVI_PIN_BLOCK)))
		return NULL;
	return &block->pins[gfn % GHYVI_PIN_BLOCK];
}

/* The DMA addresses of the pinned page @gfn and of those after it in its block. */
static inline const dma_addr_t *ghyvi_pin_dmas(struct ghyvi_gtt *gtt, u64 gfn)
{
	return ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK)->dma + gfn % GHYVI_PIN_BLOCK;
}

static inline bool ghyvi_pin_is_idle(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->idle & BIT_ULL(pin->slot);
}

/* Returns true if the guest page is also a table page. */
static inline bool ghyvi_pin_is_table(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->tables & BIT_ULL(pin->slot);
}

/* Take another reference on a pin, which may be idle. */
static inline struct ghyvi_pin *ghyvi_pin_hold(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block_of(pin);
	u64 bit = BIT_ULL(pin->slot);

	if (block->idle & bit) {
		block->idle &= ~bit;
		gtt->nr_idle_pins--;
	} else {
		block->shared |= bit;
		block->extra_refs[pin->slot]++;
	}
	return pin;
}

/*
 * Take a reference on the pin of @gfn, and pin the page first if necessary. Returns it or an
 * ERR_PTR.
 */
static inline struct ghyvi_pin *ghyvi_pin_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	return pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn, NULL);
}

static inline void ghyvi_dirty_mark(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (unlikely(gtt->logging))
		ghyvi_dirty_record(gtt, ghyvi_pin_gfn(pin));
}

/* @pin is about to be released; no engine can write to its page any more. */
static inline void ghyvi_dirty_unpin(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	if (unlikely(gtt->logging && p->pgpu_ops->log_read(p->client, ghyvi_pin_dma(pin))))
		ghyvi_dirty_record(gtt, ghyvi_pin_gfn(pin));
}

/* ---- tables.c ---- */

static inline bool ghyvi_table_entry_deferred(const struct ghyvi_table_page *table,
					      unsigned int index)
{
	return table->deferred.entries[index / 64] & BIT_ULL(index % 64);
}

static inline bool ghyvi_table_entry_unbacked(const struct ghyvi_table_page *table,
					      unsigned int index)
{
	return table->deferred.unbacked[index / 64] & BIT_ULL(index % 64);
}

/* The deferred entry @index is retried even if the generation does not change. */
static inline void ghyvi_table_set_nomem(struct ghyvi_table_page *table, unsigned int index)
{
	table->deferred.unbacked[index / 64] &= ~BIT_ULL(index % 64);
	table->deferred.nomem = true;
}

/* Call @visit for every table page, GGTT and PPGTT. */
void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				     void *data),
		       void *data);
/* The next (@by 1) or previous (@by -1) table page in the address space, or NULL. */
struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by);
/* Needs no lock. Returns NULL if memory is short. */
struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest,
					   int ggtt_page);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Add @table to the list of its tree: its shadow may be stale until the next sync. */
void ghyvi_table_mark_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_clear_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Write-protect @table. Returns true if guest stores to it trap now. */
bool ghyvi_table_protect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_unprotect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Assign @table to the tree that reaches it now, after its shadow pages have changed. */
void ghyvi_table_update_tree(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Entry @index, whose translation has just failed with @err, maps scratch: retry it. */
void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index, int err);
/* Make a table page of @gfn, to be used at @level first. Returns it or an ERR_PTR. */
struct ghyvi_table_page *ghyvi_table_create(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level);
/* The table page has no shadow pages any more. */
void ghyvi_table_destroy(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* @table is about to be freed: record what it has shown. */
void ghyvi_table_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/*
 * Returns true if nothing refers to @table. The guest may have made anything else of the page, so a
 * sync does not read it. If it is linked again, it is listed again.
 */
static inline bool ghyvi_table_is_dying(const struct ghyvi_table_page *table)
{
	u32 levels;

	for (levels = table->levels; levels; levels &= levels - 1)
		if (table->shadows[__ffs(levels)]->refs)
			return false;
	return true;
}
/*
 * Returns true if this pass has yet to sync @table. It ends even if the guest goes on storing, and
 * has tables move from one tree to another meanwhile.
 */
static inline bool ghyvi_table_is_due(const struct ghyvi_gtt *gtt,
				      const struct ghyvi_table_page *table)
{
	return table->passed != gtt->passes && !ghyvi_table_is_dying(table);
}
/* Number of syncs that have reached the page so far. */
static inline u32 ghyvi_table_now(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	return table->tree->synced + gtt->flushes;
}

/* ---- leaf.c ---- */

/* Shadow entry of @level for a guest entry that cannot be translated. Needs no lock. */
static inline u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level)
{
	if (level <= GHYVI_LEVEL_PT)
		return ghyvi_leaf_scratch(gtt);
	return gtt->scratch_dma[level - 1] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

/*
 * Count an entry that cannot be translated because of @err, and record it for the report of
 * ghyvi_gtt_unlock(). Returns its translation.
 */
struct ghyvi_translation ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level,
					    u64 guest_entry, int err);
/*
 * Returns -EFAULT, with which the entry is deferred until the table page has been freed, if one of
 * @count guest pages from @gfn on is a table page, else 0.
 */
int ghyvi_entry_reject_alias(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/*
 * Entry @index of @parent is about to point to @page, of level PT_64K. Returns GHYVI_ENTRY_64K if
 * the entry may have this bit set, else 0.
 */
u64 ghyvi_table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
			 struct ghyvi_shadow_page *parent, unsigned int index);
/* The entry that could have GHYVI_ENTRY_64K set no longer points to @page. */
void ghyvi_table_64k_unlink(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/*
 * Translate @count entries of a page of the last level from @index on. @values are the guest's
 * entries, @old those that the present shadow entries were translated from. What cannot be
 * translated is deferred.
 */
void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count);
/* Map scratch at @index of such a page, and release what was translated from @old. */
void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old);

/* ---- spt.c ---- */

/*
 * Translate @guest_entry of @level, above the last level, of a table page of @tree. The shadow
 * entry holds a reference on the shadow page or 2 MiB page that it points to, or maps scratch.
 */
struct ghyvi_translation ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level,
					       u64 guest_entry, struct ghyvi_tree *tree);
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree);
void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/* Map scratch at @index and release what was translated from @guest_entry. Works for any level. */
void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry);
/* Detach @page from its table page. The shadow page remains, and all its entries map scratch. */
void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/* Free the shadow pages without references. The caller has invalidated the pGPU. */
void ghyvi_tables_reap(struct ghyvi_gtt *gtt);
/*
 * Read @count entries from @source, each once, into the snapshot from @index on, at most
 * GHYVI_PTES_PER_UPDATE. @source may be the guest's entries. Translate those that changed in all
 * shadows. Returns their number.
 */
unsigned int ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				unsigned int index, const u64 *source, unsigned int count);
/* Translate the deferred entry @index again, in each shadow that maps scratch there. */
void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index);

/*
 * Sync @table: compare the guest's entries with the snapshot and translate those that differ, and
 * retry deferred entries. Returns how many entries differed.
 */
unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* ---- ggtt.c ---- */

/*
 * Create the table pages of the partition. After an error some of them exist. Called without the
 * lock by ghyvi_gtt_create().
 */
int ghyvi_ggtt_init(struct ghyvi_gtt *gtt);
/* Only for ghyvi_gtt_create() and ghyvi_gtt_destroy(); without the lock. */
void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt);
/* ghyvi_gtt_move_ggtt() and ghyvi_gtt_set_ggtt_gfn(), with the lock held. */
int ghyvi_ggtt_move(struct ghyvi_gtt *gtt, const struct ghyvi_range *ranges, unsigned int nr_ranges,
		    const struct ghyvi_range *aperture_copied);
void ghyvi_ggtt_set_gfn(struct ghyvi_gtt *gtt, u64 gfn);
/* Clear every GGTT shadow entry. The next sync reads the guest's entries again. */
void ghyvi_ggtt_reset(struct ghyvi_gtt *gtt);
/* Unprotect a GGTT page and list it, unless it has no shadow or the BAR is not mapped. */
void ghyvi_ggtt_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Enable or disable shadowing of the GGTT. Once enabled, the next sync fills the shadow entries. */
void ghyvi_ggtt_shadow(struct ghyvi_gtt *gtt, bool on);
struct ghyvi_table_page *ghyvi_ggtt_table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn);
/* For ghyvi_ggtt_collect(): there are unmapped pages. */
void ghyvi_ggtt_collect_written(struct ghyvi_gtt *gtt);
/* Relax the unmapped pages that the guest has accessed since. */
static inline void ghyvi_ggtt_collect(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	if (gtt->ggtt_map.nr_unmapped)
		ghyvi_ggtt_collect_written(gtt);
}
/*
 * Returns true if the guest may have written the unmapped page since. What was read from the page
 * before the call is from before such a store if this returns false.
 */
bool ghyvi_ggtt_is_written(const struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table);
/*
 * Protect @count GGTT pages by removing their mappings. Returns @count, or 0 if there is no user
 * that could. The caller sets protected.
 */
unsigned int ghyvi_ggtt_unmap(struct ghyvi_gtt *gtt, struct ghyvi_table_page *const *tables,
			      unsigned int count);

/* ---- roots.c ---- */

/*
 * Free shadow pages, 2 MiB pages and roots without references, and then all idle pins, after one
 * invalidation of the pGPU for all of them.
 */
void ghyvi_gtt_reap_all(struct ghyvi_gtt *gtt);
/* The same, but idle pins only if there are more than idle_pins of struct ghyvi_shadow_tuning. */
void ghyvi_gtt_reap_unused(struct ghyvi_gtt *gtt);
/*
 * Report the last rejected entry, free unreachable tables, trim idle pins if there are more than
 * idle_pins of struct ghyvi_shadow_tuning, and unlock gtt->lock.
 */
void ghyvi_gtt_unlock(struct ghyvi_gtt *gtt);
/*
 * Release the tables of all roots, and forget the roots. Only those that workloads hold remain;
 * they map only scratch.
 */
void ghyvi_roots_drop_all(struct ghyvi_gtt *gtt);
/* Empty and forget the roots that have a top-level table page in the range of guest pages. */
void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/* Translate the missing entries of @root->top; @root has three levels. */
void ghyvi_root_fill_top(struct ghyvi_root *root);
/* Start an operation that may evict trees. */
static inline void ghyvi_trees_evict_begin(struct ghyvi_gtt *gtt)
{
	gtt->young_left = GHYVI_EVICT_YOUNG;
}
/* Returns true if a tree can be evicted. */
bool ghyvi_trees_can_evict(struct ghyvi_gtt *gtt);
/*
 * Evict the least recently used trees until @wanted more table pages fit or no tree can be evicted.
 * Frees their tables, so no translation may be in progress. Returns true if a table page was freed.
 */
bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted);
/* The policy has become "nested" (enter) or another one (leave). */
void ghyvi_nested_enter(struct ghyvi_gtt *gtt);
void ghyvi_nested_leave(struct ghyvi_gtt *gtt);

/* ---- sync.c ---- */

/*
 * If @gfn is a table page that the guest's tables link no more, free all tables that the guest has
 * unlinked. Returns true if deferred entries are worth a retry.
 */
bool ghyvi_gtt_drop_unlinked(struct ghyvi_gtt *gtt, u64 gfn);
/* Rank the leaf pages by heat, see struct ghyvi_page_history. */
void ghyvi_tables_rank(struct ghyvi_gtt *gtt);
/* The guest's entries @first to @last of @table may have changed: translate those that did. */
void ghyvi_table_stored(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last);

#endif
