/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of kernel/gtt: the state of struct ghyvi_gtt. The functions are in internal.h.
 */
#ifndef GHYVI_GTT_TYPES_H
#define GHYVI_GTT_TYPES_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <ghyvi/gtt.h>
#include <ghyvi/shadow_policy.h>

/*
 * Maximum number of trees kept per guest. The maximum number of table pages is tables_max in struct
 * ghyvi_shadow_tuning.
 */
#define GHYVI_MAX_ROOTS 4096u
/* A tree is young until GHYVI_EVICT_AGE submissions have passed since its last use (roots.c). */
#define GHYVI_EVICT_AGE 64u
/* Maximum number of pages of young trees that one operation evicts. */
#define GHYVI_EVICT_YOUNG 1024u
/* Entries compared together: one cache line. */
#define GHYVI_PTES_PER_LINE 8u
/* Maximum number of entries translated together: a translation has as many on its stack. */
#define GHYVI_PTES_PER_UPDATE 32u
/* Bits per value of ghyvi_gtt.dirty; less than the 63 that fit, so that numbers are shifts. */
#define GHYVI_DIRTY_BITS 32u
/* Maximum number of table pages write-protected in one call. */
#define GHYVI_PROTECT_BATCH 256u

/*
 * struct ghyvi_tree - common state of the tables that only one root reaches; embedded in the root
 * @id: number exposed in tracepoints, from 1 on; 0 for gtt->shared_tree, whose tables are reached
 *	from several roots (scratch chains)
 * @relaxed: relaxed table pages; the next sync of this tree, or of all trees, compares them
 * @last_sync: ghyvi_gtt.syncs at the last of them; for gtt->shared_tree, at the last sync of all
 *	trees
 * @refused: entries of those pages that were refused a table page (-ENOSPC) since the last time
 *	that such entries were retried
 */
struct ghyvi_tree {
	u64 id;
	struct list_head relaxed;
	u32 synced; /* number of syncs of this tree alone */
	u64 last_sync;
	u32 pages; /* shadow pages that only this root reaches */
	u32 refused;
};

/*
 * Snapshot value of an entry that the next sync must translate again although the guest did not
 * change it. The present bit is clear, so the value itself is never translated.
 */
#define GHYVI_SNAPSHOT_STALE BIT_ULL(63)

/*
 * An entry that could not be pinned is deferred: it maps scratch, and syncs retry it. If the
 * generation (ghyvi_generation()) changed since the last retry of a table page, a sync retries all
 * its deferred entries. After GHYVI_RETRY_UNBACKED failures the sync does so for no further table
 * page. Otherwise a sync retries only entries that failed with an error other than -EFAULT, until
 * GHYVI_RETRY_NOMEM of them have failed. The rest is left to the next sync.
 *
 * struct ghyvi_deferred is what each table page knows of its deferred entries, struct
 * ghyvi_deferral what a gtt knows of all.
 */
#define GHYVI_RETRY_NOMEM 64u
#define GHYVI_RETRY_UNBACKED 4096u

struct ghyvi_deferred {
	u64 entries[GHYVI_ENTRIES / 64]; /* one bit for each deferred entry */
	u64 unbacked[GHYVI_ENTRIES / 64]; /* one bit for each of them that failed with -EFAULT */
	bool retry; /* there may be deferred entries, and the page stays relaxed because of them */
	bool nomem; /* some of @entries are not in @unbacked */
	u64 generation; /* ghyvi_deferral.generation at the last retry of the entries */
};

/* A shadow entry. @err: it maps scratch, and is deferred with this error; 0: it is not deferred. */
struct ghyvi_translation {
	u64 entry;
	int err;
};

struct ghyvi_deferral {
	u32 nomem_left; /* failures left in this sync, see GHYVI_RETRY_NOMEM */
	u32 unbacked_left; /* the same for GHYVI_RETRY_UNBACKED */
	bool any; /* an entry has been deferred since the gtt was created */
	u64 refused_gfn; /* the last table page that an entry was refused as data */
	bool vain_look; /* ghyvi_gtt_drop_unlinked() has found nothing since the last sync */
	bool table_limit_hit; /* an entry was refused a table page (-ENOSPC) since one was freed */
	u64 tables_freed; /* how often table pages were freed, or allowed, that entries need */
	u64 generation; /* ghyvi_generation() at the last sync, if @any */
};

/*
 * A pinned guest page that shadow entries map. It stays pinned while an entry maps it and, idle,
 * for some time after. What each translation needs of it is in the arrays and masks of its block.
 */
struct ghyvi_pin {
	u64 hpa;
	u8 slot; /* index in its block */
	/*
	 * On gtt->idle_pins while it has no references. A pin that is used again stays on the list
	 * until ghyvi_pins_trim() reaches it.
	 */
	struct list_head lru_node;
	struct list_head mapped; /* on gtt->mapped_pins while mapped for nested jobs (map_guest) */
};

/*
 * Pins of neighbouring gfns share a block, which is freed with its last pin. Drivers mostly bind
 * neighbouring pages together, so a sync takes and releases the pins of many entries at once. The
 * masks have one bit for each page of the block. Most pages are mapped by one entry. Its reference
 * is in the masks alone, so that a run of such pages costs as much as one page.
 */
#define GHYVI_PIN_BLOCK 64u
#define GHYVI_BLOCK_CACHE_SLOTS 64u
struct ghyvi_pin_block {
	u64 number; /* gfn / GHYVI_PIN_BLOCK */
	u64 pinned; /* what else is known of a page is meaningless unless its bit is set */
	u64 tables; /* pages that are also in gtt->tables */
	u64 idle; /* pages without references: one per shadow entry, plus one while mapped */
	u64 shared; /* pages with several references */
	u64 on_lru; /* pages whose pin is on gtt->idle_pins */
	/* of these, pages that were used and became idle again since they were added */
	u64 second_chance;
	u32 extra_refs[GHYVI_PIN_BLOCK]; /* references beyond the first, 0 unless @shared */
	dma_addr_t dma[GHYVI_PIN_BLOCK]; /* what shadow entries hold */
	struct ghyvi_pin pins[GHYVI_PIN_BLOCK];
};
static_assert(sizeof(struct ghyvi_pin_block) <= GHYVI_PAGE_BYTES);

/*
 * Shadow entries that map consecutive guest pages of one block (@step is 1), or at least two that
 * map the same page (@step is 0).
 */
struct ghyvi_pin_run {
	u64 gfn; /* of the first entry */
	unsigned int count; /* entries */
	unsigned int step; /* pages from one entry to the next */
};

static inline struct ghyvi_pin_block *ghyvi_pin_block_of(const struct ghyvi_pin *pin)
{
	return container_of(pin - pin->slot, struct ghyvi_pin_block, pins[0]);
}

static inline u64 ghyvi_pin_gfn(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->number * GHYVI_PIN_BLOCK + pin->slot;
}

static inline dma_addr_t ghyvi_pin_dma(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->dma[pin->slot];
}

/* A guest page of 2 MiB that shadow entries map. All its 4 KiB pages are pinned while it exists. */
struct ghyvi_large {
	u64 gfn; /* of its first 4 KiB page */
	dma_addr_t dma; /* of its first 4 KiB page, or of @table */
	/* 4 KiB entries, if the DMA addresses are not contiguous and aligned; else NULL */
	u64 *table;
	u32 refs; /* shadow entries */
	struct list_head dying; /* on gtt->dying_larges while refs is 0 and not yet reaped */
};

/* The shadow of a table page for one level: what the GPU walks. */
struct ghyvi_shadow_page {
	/* NULL after ghyvi_shadow_detach(): all entries map scratch until the page is freed. */
	struct ghyvi_table_page *table;
	unsigned int level;
	u64 *entries; /* a host page; for the GGTT a copy of the entries given to the pGPU */
	dma_addr_t dma; /* of @entries; not used for the GGTT */
	u32 refs; /* parent entries and roots */
	struct ghyvi_tree *tree; /* the only tree that reaches it, or gtt->shared_tree */
	/* Level PT_64K only: the page directory entry that may have the 64 KiB bit (IPS) set. */
	struct ghyvi_shadow_page *parent;
	unsigned int parent_index;
	bool ips_set; /* the bit is set in that entry */
	bool ips_cached; /* an engine may have cached an entry with the bit set */
	/* one bit per group: its DMA addresses are not contiguous and aligned */
	u32 noncontig_mask;
	u32 check_mark; /* last self-check that visited it */
	struct list_head dying; /* on gtt->dying while refs is 0 and not yet reaped */
};

/*
 * A guest page that holds table entries. It is write-protected, or relaxed, or both: a store
 * that does not trap is found by the next sync. The exception is a GGTT page that has no
 * shadow or that the guest cannot write because the BAR is not mapped; it can be neither.
 */
struct ghyvi_table_page {
	u64 gfn; /* GHYVI_INVALID_GFN for a GGTT page while the BAR is not mapped */
	u64 *guest; /* pinned guest memory, or part of params.ggtt */
	u64 *snapshot; /* the entries that the shadows are derived from, each read once */
	struct ghyvi_shadow_page *shadows[GHYVI_LEVELS + 1]; /* by level */
	u32 levels; /* one bit for each of @shadows that exists */
	struct ghyvi_tree *tree; /* the only tree that reaches it, or gtt->shared_tree */
	struct list_head relaxed_node; /* on @tree->relaxed while relaxed */
	int ggtt_page; /* page number in the GGTT table; -1 for PPGTT tables */
	u64 parent_gfn; /* hint: the table page that last linked it, */
	u32 parent_index; /* and the entry in it */
	bool protected;
	bool unmapped; /* GGTT, if @protected: by ghyvi_ggtt_unmap(), and not by the hypervisor */
	/*
	 * While relaxed: gtt->syncs when the snapshot was last known to equal the guest's entries.
	 */
	u64 compared;
	u64 passed; /* gtt->passes when it was synced last */
	/* on gtt->blocking if an entry that points to this page as data is deferred meanwhile */
	struct list_head blocking;
	u64 linked; /* of such a page: gtt->syncs when it was last known to be a table */
	struct ghyvi_deferred deferred;
	struct ghyvi_page_history history;
};

struct ghyvi_root {
	struct ghyvi_gtt *gtt;
	bool nested; /* has only the addresses, none of the lists and pages below */
	struct ghyvi_tree tree;
	unsigned int levels;
	u64 gpa[4]; /* address bits only, see root_address() */
	u64 used; /* ghyvi_gtt.submissions at its last use */
	u32 refs; /* one per workload, plus one of the gtt while known */
	bool known; /* in gtt->roots */
	u64 *top; /* levels == 3: a host page with four entries */
	dma_addr_t top_dma; /* its address */
	bool retry; /* some entries of @top may have to be translated again */
	struct ghyvi_shadow_page *pages[4]; /* [0]: the PML4; or the four page directories */
	struct list_head lru; /* on gtt->root_lru; on gtt->dying_roots when refs is 0 */
};

/*
 * struct ghyvi_aperture - the pages of the aperture that may be mapped
 * @lock: protects @pages; nests in gtt->lock. A holder maps a page, so that no page is mapped after
 *	it was removed here.
 * @first: the removed pages that the user may have mapped are in @first..@last, GGTT page numbers;
 *	none if @last < @first. Both under gtt->lock.
 * @scratch: mapped where a GGTT entry maps nothing, or NULL; under gtt->lock. It is not the scratch
 *	page of engines, which no user may write.
 * @copy: mapped as the copied page of struct ghyvi_gtt_params, or NULL; under gtt->lock as the next
 */
struct ghyvi_aperture {
	struct mutex lock;
	struct xarray pages; /* GGTT page number -> host-physical page number */
	u32 count; /* number of elements in @pages; under gtt->lock */
	u64 first;
	u64 last; /* see @first */
	void *scratch;
	u64 *copy;
	u64 *original; /* its content when it was copied, or NULL */
	u64 *copied; /* the guest page that it is a copy of, or NULL: none */
};

/* Bytes mapped by one page of the GGTT table. */
#define GHYVI_GGTT_TABLE_SPAN ((u64)GHYVI_ENTRIES << GHYVI_PAGE_SHIFT)
/* Pages of the GGTT table of the largest global address space, 4 GiB. */
#define GHYVI_GGTT_TABLES_MAX 2048u

/*
 * struct ghyvi_ggtt_map - protection of GGTT pages by mapping, see ggtt.c
 * @lock: nests inside gtt->lock and mmap_lock. Protects @written, and keeps it consistent with the
 *	mappings.
 * @written: one bit for each page that was mapped since it was unmapped last
 */
struct ghyvi_ggtt_map {
	struct mutex lock;
	u64 written[GHYVI_GGTT_TABLES_MAX / 64];
	u32 nr_unmapped; /* number of table pages with @unmapped set; protected by gtt->lock */
};

/*
 * An entry that could not be translated. A guest can cause millions at once, so ghyvi_gtt_unlock()
 * reports only the last one.
 */
struct ghyvi_rejected {
	u64 guest_entry;
	unsigned int level;
	int error; /* 0: no entry since the last report */
};

struct ghyvi_gtt {
	struct ghyvi_gtt_params params;
	/*
	 * Protects all fields below, and all table pages, shadow pages, pins and roots of this gtt.
	 */
	struct mutex lock;
	const struct ghyvi_shadow_policy *policy;
	struct ghyvi_shadow_tuning tuning;
	struct ghyvi_experience experience; /* of page tables */
	struct ghyvi_experience ggtt_experience;
	u32 rank_in; /* syncs until pages are ranked again */
	u64 last_trap_gpa;
	u64 last_trap_ns;

	struct xarray pin_blocks; /* gfn / GHYVI_PIN_BLOCK -> struct ghyvi_pin_block */
	/* Direct-mapped cache of the blocks looked up last, by the low bits of their number. */
	struct ghyvi_pin_block *block_cache[GHYVI_BLOCK_CACHE_SLOTS];
	struct list_head idle_pins; /* oldest first */
	u32 nr_idle_pins; /* pins with refs 0; @idle_pins can have more */
	struct list_head mapped_pins; /* mapped for nested jobs, oldest first */
	u32 nr_mapped_pins;

	struct xarray larges; /* gfn -> struct ghyvi_large */
	struct list_head dying_larges; /* without references, unless used again since */

	struct xarray tables; /* gfn -> struct ghyvi_table_page, PPGTT only */
	u32 nr_tables;
	struct list_head dying; /* the same for shadow pages */
	struct list_head blocking; /* see sync.c */

	struct xarray roots; /* root_key() -> struct ghyvi_root */
	/*
	 * All shadowed roots, including those that only workloads hold; the least recently used
	 * first.
	 */
	struct list_head root_lru;
	struct list_head dying_roots; /* freed after the table pages of their trees */
	u32 nr_roots;
	u32 nr_nested_roots;
	u64 last_tree;
	/*
	 * The tables that several roots may reach, and the GGTT. Its synced counts the syncs of any
	 * single tree.
	 */
	struct ghyvi_tree shared_tree;
	u32 flushes; /* syncs of all trees */
	u64 syncs; /* all syncs, of one tree or of all */
	u64 passes; /* over the relaxed pages, one or more per sync; each syncs a page once */
	u64 submissions; /* syncs of a single tree */
	u32 young_left; /* pages of young trees that this operation may still evict */

	struct ghyvi_table_page **ggtt_tables; /* by page number; NULL outside the partition */
	u32 nr_ggtt_tables;
	bool ggtt_shadowed; /* if false, no GGTT entry is installed, relaxed or protected */
	u64 ggtt_gfn; /* see ghyvi_gtt_set_ggtt_gfn() */
	bool ggtt_live; /* see ghyvi_gtt_ggtt_live() */

	struct ghyvi_ggtt_map ggtt_map;
	struct ghyvi_aperture aperture;
	/* access.c: pages that the host has written, in bits of XArray values by gfn. */
	struct xarray dirty;
	bool logging;
	bool log_lost; /* memory was short: a page that was written is not in the log */
	struct ghyvi_rejected rejected;
	struct ghyvi_deferral deferral;
	/*
	 * By level. [0] is the scratch page, which entries that cannot be translated map. Each
	 * entry of table [n], used at level n, maps [n - 1].
	 */
	u64 *scratch[GHYVI_LEVELS];
	dma_addr_t scratch_dma[GHYVI_LEVELS];

	u32 check_mark;
	u32 check_ggtt; /* next GGTT table page whose translations the self-check compares */

	/* Table pages that protect_list() collects for one protect call. */
	u64 batch_gfns[GHYVI_PROTECT_BATCH];
	struct ghyvi_table_page *batch[GHYVI_PROTECT_BATCH];
};

/* Returns true if table pages in guest memory are never write-protected. */
static inline bool ghyvi_gtt_is_untracked(const struct ghyvi_gtt *gtt)
{
	return gtt->params.untracked || gtt->policy->untracked;
}

/* Table page @page of the GGTT, or NULL outside of the partition. */
static inline struct ghyvi_table_page *ghyvi_ggtt_table(const struct ghyvi_gtt *gtt, u64 page)
{
	return page < gtt->nr_ggtt_tables ? gtt->ggtt_tables[page] : NULL;
}

static inline bool ghyvi_table_is_ggtt(const struct ghyvi_table_page *table)
{
	return table->ggtt_page >= 0;
}

/* What pages like @table have shown. */
static inline struct ghyvi_experience *ghyvi_table_experience(struct ghyvi_gtt *gtt,
							      const struct ghyvi_table_page *table)
{
	return ghyvi_table_is_ggtt(table) ? &gtt->ggtt_experience : &gtt->experience;
}

static inline struct ghyvi_shadow_view ghyvi_table_view(struct ghyvi_gtt *gtt,
							const struct ghyvi_table_page *table)
{
	return (struct ghyvi_shadow_view){ &table->history, &gtt->tuning,
					   ghyvi_table_experience(gtt, table) };
}

static inline u64 ghyvi_entry_gfn(u64 guest_entry)
{
	return (guest_entry & GHYVI_GUEST_ADDRESS_MASK) >> GHYVI_PAGE_SHIFT;
}

/* Returns true if a guest entry of @level maps a page of 2 MiB. */
static inline bool ghyvi_entry_is_large(unsigned int level, u64 guest_entry)
{
	return level == GHYVI_LEVEL_PD && guest_entry & GHYVI_ENTRY_PRESENT &&
	       guest_entry & GHYVI_ENTRY_LARGE;
}

/* The first 4 KiB page of the 2 MiB page that @guest_entry maps. */
static inline u64 ghyvi_entry_large_gfn(u64 guest_entry)
{
	return round_down(ghyvi_entry_gfn(guest_entry), GHYVI_ENTRIES);
}

/* The level at which the table that @guest_entry of @level (no large page) points to is used. */
static inline unsigned int ghyvi_entry_below(const struct ghyvi_gtt *gtt, unsigned int level,
					     u64 guest_entry)
{
	if (level == GHYVI_LEVEL_PD && guest_entry & GHYVI_ENTRY_64K && gtt->params.pages_64k)
		return GHYVI_LEVEL_PT_64K;
	return level - 1;
}

static inline u64 ghyvi_entry_group_gfn(u64 guest_entry)
{
	return round_down(ghyvi_entry_gfn(guest_entry), GHYVI_PTES_PER_64K);
}

/* Shadow entry of the last level for a guest entry that cannot be translated. */
static inline u64 ghyvi_leaf_scratch(const struct ghyvi_gtt *gtt)
{
	return gtt->scratch_dma[0] | GHYVI_ENTRY_PRESENT;
}

/* Returns true if a last-level shadow entry holds a pin; for a 64 KiB group, on all 16 of them. */
static inline bool ghyvi_leaf_is_mapped(const struct ghyvi_gtt *gtt, u64 shadow_entry)
{
	return shadow_entry & GHYVI_ENTRY_PRESENT && shadow_entry != ghyvi_leaf_scratch(gtt);
}

/*
 * A number that changes when entries deferred with -EFAULT are worth a retry. Memory was added to
 * the guest then, or a table page that they need was freed.
 */
static inline u64 ghyvi_generation(const struct ghyvi_gtt *gtt)
{
	return gtt->params.hv->ops->memory_generation(gtt->params.hv) + gtt->deferral.tables_freed;
}

#endif
