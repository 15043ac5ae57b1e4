/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internal state of struct ghyvi_gtt, shared by kernel/gtt (how entries are translated) and
 * kernel/shadow (when shadows are synced).
 *
 * Functions declared here run with gtt->lock held unless their comment says otherwise. Those
 * outside the trap and scan loops assert it. ghyvi_gtt_create() and the end of ghyvi_gtt_destroy()
 * call some of the others without the lock, because no other thread can reach the gtt then.
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
/* A tree is young until GHYVI_EVICT_AGE submissions have passed since its last use (evict.c). */
#define GHYVI_EVICT_AGE 64u
/* Maximum number of pages of young trees that one operation evicts. */
#define GHYVI_EVICT_YOUNG 1024u
/* Entries compared and translated together: one cache line. */
#define GHYVI_PTES_PER_LINE 8u
/* Maximum number of table pages write-protected in one call. */
#define GHYVI_PROTECT_BATCH 256u

/**
 * struct ghyvi_tree - common state of the tables that only one root reaches; embedded in the root
 * @id: number exposed in tracepoints, from 1 on; 0 for gtt->shared_tree, whose tables are reached
 *	from several roots (scratch chains)
 * @relaxed: relaxed last-level table pages; the next sync of this tree, or of all trees, compares
 *	them
 * @synced: number of syncs of this tree alone
 * @last_sync: ghyvi_gtt.syncs at the last of them; for gtt->shared_tree, at the last sync of all
 *	trees
 * @pages: shadow pages that only this root reaches
 * @refused: entries of those pages that were refused a table page (-ENOSPC) since the last time
 *	that such entries were retried
 */
struct ghyvi_tree {
	u64 id;
	struct list_head relaxed;
	u32 synced;
	u64 last_sync;
	u32 pages;
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
 */
#define GHYVI_RETRY_NOMEM 64u
#define GHYVI_RETRY_UNBACKED 4096u

/*
 * A pinned guest page that shadow entries map. It stays pinned while an entry maps it and, idle,
 * for some time after.
 */
struct ghyvi_pin {
	u64 gfn;
	u64 bus;
	u32 refs; /* shadow entries that map it, plus one while mapped */
	bool pinned; /* if false, all other fields are meaningless */
	bool table; /* the guest page is also in gtt->tables */
	bool again; /* was used and became idle again since it was added to gtt->idle_pins */
	/*
	 * On gtt->idle_pins while refs is 0. A pin that is used again stays on the list until
	 * ghyvi_pins_trim() reaches it.
	 */
	struct list_head idle;
	struct list_head mapped; /* on gtt->mapped_pins while mapped for nested jobs (map_guest) */
};

/*
 * Pins of neighbouring gfns share a block, which is freed with its last pin. A sync looks up two
 * pins for each of thousands of entries, and drivers mostly bind neighbouring pages together.
 */
#define GHYVI_PIN_BLOCK 64u
#define GHYVI_BLOCK_CACHE_SLOTS 64u
struct ghyvi_pin_block {
	u64 number; /* gfn / GHYVI_PIN_BLOCK */
	u32 used; /* number of @pins that are pinned */
	struct ghyvi_pin pins[GHYVI_PIN_BLOCK];
};

/* A guest page of 2 MiB that shadow entries map. All its 4 KiB pages are pinned while it exists. */
struct ghyvi_large {
	u64 gfn; /* of its first 4 KiB page */
	u64 bus; /* of its first 4 KiB page, or of @table */
	u64 *table; /* 4 KiB entries, if the host pages are not contiguous and aligned; else NULL */
	u32 refs; /* shadow entries */
	struct list_head dying; /* on gtt->dying_larges while refs is 0 and not yet reaped */
};

/* The shadow of a table page for one level: what the GPU walks. */
struct ghyvi_shadow_page {
	/* NULL after ghyvi_shadow_detach(): all entries map scratch until the page is freed. */
	struct ghyvi_table_page *table;
	unsigned int level;
	u64 *entries; /* a host page; for the GGTT a copy of the entries given to the pGPU */
	u32 refs; /* parent entries and roots */
	struct ghyvi_tree *tree; /* the only tree that reaches it, or gtt->shared_tree */
	/* Level PT_64K only: the page directory entry that may have the 64 KiB bit (IPS) set. */
	struct ghyvi_shadow_page *parent;
	unsigned int parent_index;
	bool ips_set; /* the bit is set in that entry */
	bool ips_cached; /* an engine may have cached an entry with the bit set */
	/* one bit per group: not one contiguous, aligned 64 KiB of host memory */
	u32 noncontig_mask;
	u32 check_mark; /* last self-check that visited it */
	struct list_head dying; /* on gtt->dying while refs is 0 and not yet reaped */
};

/*
 * A guest page that holds table entries. It is write-protected, or listed (relaxed), or both: a
 * store that does not trap is found by the next sync. The exception is a GGTT page that has no
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
	u64 parent_gfn; /* hint: the page directory that last linked it, */
	u32 parent_index; /* and the entry in it */
	bool protected;
	/*
	 * While listed: gtt->syncs when the snapshot was last known to equal the guest's entries.
	 */
	u64 compared;
	/* an entry that points to this page as data is deferred while it is a table */
	bool has_blocked_alias;
	u64 deferred[GHYVI_ENTRIES / 64]; /* one bit for each deferred entry */
	u64 unbacked[GHYVI_ENTRIES / 64]; /* one bit for each of them that failed with -EFAULT */
	bool retry; /* may have deferred entries, and stays listed because of them */
	bool nomem; /* some deferred entries are not in @unbacked */
	u64 generation; /* gtt->generation at the last retry of the deferred entries */
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
	bool retry; /* some entries of @top may have to be translated again */
	struct ghyvi_shadow_page *pages[4]; /* [0]: the PML4; or the four page directories */
	struct list_head lru; /* on gtt->root_lru; on gtt->dying_roots when refs is 0 */
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
	struct ghyvi_experience experience;
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
	 * The tables that several roots may reach, upper levels and the GGTT included. Its synced
	 * counts the syncs of any single tree.
	 */
	struct ghyvi_tree shared_tree;
	u32 flushes; /* syncs of all trees */
	u64 syncs; /* all syncs, of one tree or of all */
	u64 submissions; /* syncs of a single tree */
	u32 young_left; /* pages of young trees that this operation may still evict */

	struct ghyvi_table_page **ggtt_tables; /* by page number; NULL outside the partition */
	u32 nr_ggtt_tables;
	bool ggtt_shadowed; /* if false, no GGTT entry is installed, listed or protected */
	struct ghyvi_table_page *ggtt_updating; /* has entries that are not published yet */
	u64 ggtt_gfn; /* see ghyvi_gtt_set_ggtt_gfn() */
	bool ggtt_live; /* see ghyvi_gtt_ggtt_live() */

	struct ghyvi_rejected rejected;
	int defer_err; /* error because of which the last translation is deferred, or 0 */
	u32 retry_nomem_left,
		/* failures left in this sync, see GHYVI_RETRY_NOMEM and GHYVI_RETRY_UNBACKED */
		retry_unbacked_left;
	bool has_deferred; /* an entry has been deferred since the gtt was created */
	bool table_limit_hit; /* an entry was refused a table page (-ENOSPC) since one was freed */
	/* how often table pages were freed, or allowed, that deferred entries need */
	u64 tables_freed;
	u64 generation; /* ghyvi_generation() at the last sync, if an entry has been deferred */
	u64 scratch; /* bus address of the page that entries which cannot be translated map */
	u64 *scratch_tables[GHYVI_LEVELS]; /* by level - 1: every entry maps scratch */

	u32 check_mark;
	u32 check_ggtt; /* next GGTT table page whose translations the self-check compares */

	/* Table pages that protect_list() collects for one protect call. */
	u64 batch_gfns[GHYVI_PROTECT_BATCH];
	struct ghyvi_table_page *batch[GHYVI_PROTECT_BATCH];
};

static inline bool ghyvi_table_is_ggtt(const struct ghyvi_table_page *table)
{
	return table->ggtt_page >= 0;
}

static inline struct ghyvi_shadow_view ghyvi_table_view(const struct ghyvi_gtt *gtt,
							const struct ghyvi_table_page *table)
{
	return (struct ghyvi_shadow_view){ &table->history, &gtt->tuning, &gtt->experience };
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
	return gtt->scratch | GHYVI_ENTRY_PRESENT;
}

/* Returns true if a last-level shadow entry holds a pin; for a 64 KiB group, on all 16 of them. */
static inline bool ghyvi_leaf_is_mapped(const struct ghyvi_gtt *gtt, u64 shadow_entry)
{
	return shadow_entry & GHYVI_ENTRY_PRESENT && shadow_entry != ghyvi_leaf_scratch(gtt);
}

/* gtt/pins.c */
/*
 * Pin @gfn through the hypervisor. On -ENOMEM unmap half of the pages mapped for nested jobs,
 * release the idle pins and try again.
 */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *bus);
/* Look up a block by its number and cache it in gtt->block_cache. Returns NULL if there is none. */
struct ghyvi_pin_block *ghyvi_pin_block(struct ghyvi_gtt *gtt, u64 number);
/* Find the first pin in [*@gfn, @last] and set *@gfn to its page. Returns NULL if there is none. */
struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last);
/* Pin a page that is not pinned. Returns the pin with one reference, or an ERR_PTR. */
struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn);
/* Record in the pin of @gfn, if there is one, whether the guest page is a table page. */
void ghyvi_pin_table(struct ghyvi_gtt *gtt, u64 gfn, bool table);
/*
 * Take a reference on each of @count pages (a power of two) from @gfn on, or on none. Returns 1 if
 * the host pages are contiguous and aligned to their total size, so that the GPU can use them as
 * one page at *@bus; 0 if they are not; or a negative errno.
 */
int ghyvi_pins_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, u64 *bus);
void ghyvi_pins_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count);
/* Invalidate, then release the oldest idle pins until at most @keep are left. */
void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep);

/*
 * A number that changes when entries deferred with -EFAULT are worth a retry: memory was added to
 * the guest, or a table page that they need was freed.
 */
static inline u64 ghyvi_generation(const struct ghyvi_gtt *gtt)
{
	return gtt->params.hv_ops->memory_generation(gtt->params.hv) + gtt->tables_freed;
}

/*
 * Returns the pin of @gfn, or NULL if the page is not pinned. The pins of a 64 KiB group are in one
 * block, so they are an array.
 */
static inline struct ghyvi_pin *ghyvi_pin_find(struct ghyvi_gtt *gtt, u64 gfn)
{
	u64 number = gfn / GHYVI_PIN_BLOCK;
	struct ghyvi_pin_block *block = gtt->block_cache[number % GHYVI_BLOCK_CACHE_SLOTS];
	struct ghyvi_pin *pin;

	if (!block || block->number != number) {
		block = ghyvi_pin_block(gtt, number);
		if (!block)
			return NULL;
	}
	pin = &block->pins[gfn % GHYVI_PIN_BLOCK];
	return pin->pinned ? pin : NULL;
}

/* Take another reference on a pin, which may be idle. */
static inline struct ghyvi_pin *ghyvi_pin_hold(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (!pin->refs++)
		gtt->nr_idle_pins--;
	return pin;
}

/*
 * Take a reference on the pin of @gfn, and pin the page first if necessary. Returns it or an
 * ERR_PTR.
 */
static inline struct ghyvi_pin *ghyvi_pin_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	return pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn);
}

/* gtt/pte_4k.c */
/*
 * Translate @count entries of a page of level PT from @index on. @values are the guest's entries,
 * @old those that the present shadow entries were translated from.
 */
void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count);
/* Map scratch at @index and release what was translated from @old. */
void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old);

/* gtt/pte_2m.c */
/*
 * Take a reference on the 2 MiB page at @gfn (a multiple of GHYVI_ENTRIES), and pin it first if
 * necessary. Returns it, or an ERR_PTR if one of its pages cannot be pinned or memory is short.
 */
struct ghyvi_large *ghyvi_large_get(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_large_put(struct ghyvi_gtt *gtt, u64 gfn);
/* The read-only shadow entry of level PD that maps @large. */
u64 ghyvi_large_entry(const struct ghyvi_large *large);
/* Free the 2 MiB pages without references. The caller has invalidated the pGPU. */
void ghyvi_larges_reap(struct ghyvi_gtt *gtt);

/* gtt/upper.c */
/* Shadow entry of @level for a guest entry that cannot be translated. Needs no lock. */
u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level);
/*
 * Count an entry that cannot be translated because of @error, and record it for the report of
 * ghyvi_gtt_unlock(). Sets gtt->defer_err. Returns the shadow entry to use, which maps scratch.
 */
u64 ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, int error);
/*
 * Returns true if one of @count guest pages from @gfn on is a table page, which must not be mapped
 * as data. The entry is counted and deferred (gtt->defer_err) then.
 */
bool ghyvi_entry_hides_table(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/*
 * Translate @guest_entry of @level, above the last level, of a table page of @tree. Returns the
 * shadow entry, which holds a reference on the shadow page or 2 MiB page that it points to, or maps
 * scratch.
 */
u64 ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry,
			  struct ghyvi_tree *tree);
/*
 * Drop the reference that @shadow_entry holds. It was translated from @guest_entry and has been
 * replaced at @index of @page, which is above the last level.
 */
void ghyvi_entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			 u64 guest_entry, u64 shadow_entry);

/* gtt/pte_64k.c */
/*
 * Entry @index of @parent is about to point to @page, of level PT_64K. Returns GHYVI_ENTRY_64K if
 * the entry may have this bit set, else 0.
 */
u64 ghyvi_table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page,
			 struct ghyvi_shadow_page *parent, unsigned int index);
/* The entry that could have GHYVI_ENTRY_64K set no longer points to @page. */
void ghyvi_table_64k_unlink(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/*
 * Translate entry @index of a page of level PT_64K. @value is the guest's entry, @old the one that
 * the present shadow entries were translated from. Indices that do not begin a group are ignored.
 */
void ghyvi_group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		     u64 old, u64 value);
/* Map scratch in the group at @index and release what was translated from @old. */
void ghyvi_group_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		       u64 old);

/* gtt/tables.c */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree);
void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/* Map scratch at @index and release what was translated from @guest_entry. Works for any level. */
void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry);
/* Detach @page from its table page. The shadow page remains, and all its entries map scratch. */
void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/*
 * Free shadow pages, 2 MiB pages and roots without references, after one invalidation of the pGPU.
 */
void ghyvi_tables_reap(struct ghyvi_gtt *gtt);
/* Returns true if one of @count guest pages from @gfn on is a table page. */
bool ghyvi_tables_in(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/*
 * Set @count entries of the snapshot, at most GHYVI_PTES_PER_LINE, from @index on to @values, which
 * were read from the guest, and translate those that changed in all shadows.
 */
void ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index,
			const u64 *values, unsigned int count);
/* Mark entry @index, whose translation has just failed with gtt->defer_err, as deferred. */
void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index);
/* Translate the deferred entry @index again, in each shadow that maps scratch there. */
void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index);

static inline bool ghyvi_table_entry_deferred(const struct ghyvi_table_page *table,
					      unsigned int index)
{
	return table->deferred[index / 64] & BIT_ULL(index % 64);
}

static inline bool ghyvi_table_entry_unbacked(const struct ghyvi_table_page *table,
					      unsigned int index)
{
	return table->unbacked[index / 64] & BIT_ULL(index % 64);
}

/* The deferred entry @index is retried even if the generation does not change. */
static inline void ghyvi_table_set_nomem(struct ghyvi_table_page *table, unsigned int index)
{
	table->unbacked[index / 64] &= ~BIT_ULL(index % 64);
	table->nomem = true;
}

/* The next (@by 1) or previous (@by -1) table page in the address space, or NULL. */
struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by);
/* Needs no lock. Returns NULL if memory is short. */
struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest,
					   int ggtt_page);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* gtt/nested.c */
/* The policy has become "nested" (enter) or another one (leave). */
void ghyvi_nested_enter(struct ghyvi_gtt *gtt);
void ghyvi_nested_leave(struct ghyvi_gtt *gtt);
/*
 * After a root was released or the policy changed: if no root of the other mode is left, release
 * what only that mode needs (the GGTT's shadow, or mapped guest pages).
 */
void ghyvi_nested_cleanup(struct ghyvi_gtt *gtt);
/* Pin guest page @gfn and map it for nested jobs. Returns its pin or an ERR_PTR. */
struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn);
/* Unmap the @count pages mapped longest ago. Pins without other references become idle. */
void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count);
/* Unmap @count guest pages from @gfn on. */
void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/* gtt/ggtt.c */
/* Only for ghyvi_gtt_create() and ghyvi_gtt_destroy(); without the lock. */
int ghyvi_ggtt_init(struct ghyvi_gtt *gtt);
void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt);
/* Clear every GGTT shadow entry. The next sync reads the guest's entries again. */
void ghyvi_ggtt_reset(struct ghyvi_gtt *gtt);
/* Unprotect a GGTT page and list it, unless it has no shadow or the BAR is not mapped. */
void ghyvi_ggtt_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Enable or disable shadowing of the GGTT. Once enabled, the next sync fills the shadow entries. */
void ghyvi_ggtt_shadow(struct ghyvi_gtt *gtt, bool on);
/* Install the shadow entries [@first, @last] of a GGTT table page in the pGPU. */
void ghyvi_ggtt_publish(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last);
struct ghyvi_table_page *ghyvi_ggtt_table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn);

/* gtt/evict.c */
/* Start an operation that may evict trees: reset gtt->young_left. */
void ghyvi_trees_evict_begin(struct ghyvi_gtt *gtt);
/*
 * Evict the least recently used trees until @wanted more table pages fit or no tree can be evicted.
 * Frees their tables, so no translation may be in progress. Returns true if a table page was freed.
 */
bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted);
/* Before a pass over @tree: if a tree can be evicted, make entries refused a table page retry. */
void ghyvi_tree_expect_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);
/*
 * After a pass over @tree: evict trees to make room for the entries that were refused a table page.
 * Returns true if another pass should retry them.
 */
bool ghyvi_tree_make_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);

/* gtt/roots.c */
/*
 * Remove @root from gtt->roots and drop the gtt's reference. If it was the last one,
 * ghyvi_tables_reap() frees the tables.
 */
void ghyvi_root_forget(struct ghyvi_root *root);
/* Forget all roots. Only those that workloads hold remain. */
void ghyvi_roots_forget_all(struct ghyvi_gtt *gtt);
/* Release the tables of all roots. The roots that workloads hold map only scratch then. */
void ghyvi_roots_empty_all(struct ghyvi_gtt *gtt);
/* Empty and forget the roots that have a top-level table page in the range of guest pages. */
void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/* Translate the missing entries of @root->top, if @root has three levels. */
void ghyvi_root_fill_top(struct ghyvi_root *root);

/* shadow/relax.c */
/* Add @table to the list of its tree: its shadow may be stale until the next sync. */
void ghyvi_table_mark_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_clear_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Assign @table to the tree that reaches it now, after its shadow pages have changed. */
void ghyvi_table_update_tree(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Write-protect @table. Returns true if guest stores to it trap now. */
bool ghyvi_table_protect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_unprotect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Protect or list a new @table, as the policy decides, before its entries are first read. */
void ghyvi_table_protect_initial(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				 unsigned int level);
/* Protect and sync @table, which is about to be used above the last level. */
void ghyvi_table_make_strict(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/*
 * Sync @table: compare the guest's entries with the snapshot and translate those that differ, and
 * retry deferred entries. Returns how many entries differed.
 */
unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Unprotect and list @table. The next sync finds the stores that do not trap meanwhile. */
void ghyvi_table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* shadow/rank.c */
/* Call @visit for every table page, GGTT and PPGTT. */
void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				     void *data),
		       void *data);
/* Rank the leaf pages by heat, see struct ghyvi_page_history. */
void ghyvi_tables_rank(struct ghyvi_gtt *gtt);

/* shadow/costs.c: update the costs in gtt->tuning */
void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa);

/* shadow/sync.c */
/* Sync the relaxed pages that @tree may reach, or all of them if @tree is NULL. */
void ghyvi_gtt_sync_locked(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);

/* gtt/gtt.c */
/*
 * Report the last rejected entry, free unreachable tables, trim idle pins if there are more than
 * idle_pins of struct ghyvi_shadow_tuning, and unlock gtt->lock.
 */
void ghyvi_gtt_unlock(struct ghyvi_gtt *gtt);

#endif
