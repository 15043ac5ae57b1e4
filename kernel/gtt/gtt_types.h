/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of struct ghyvi_gtt, shared by kernel/gtt (what a translation is) and kernel/shadow (when it is
 * brought up to date).
 */
#ifndef GHYVI_GTT_TYPES_H
#define GHYVI_GTT_TYPES_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <ghyvi/gtt.h>
#include <ghyvi/shadow_policy.h>

/* Trees that one guest can make the host keep; for table pages see tables_max of struct ghyvi_shadow_tuning. */
#define GHYVI_MAX_ROOTS 4096u
/* Submissions after its last use until a tree is old, and pages of younger ones that one operation may evict (evict.c). */
#define GHYVI_EVICT_AGE 64u
#define GHYVI_EVICT_YOUNG 1024u
/* Entries that are compared, and translated again, in one go: a cache line. */
#define GHYVI_PTES_PER_LINE 8u
/* Table pages write-protected in one call. */
#define GHYVI_PROTECT_BATCH 256u

/**
 * struct ghyvi_tree - what the tables that only one root leads to have in common; part of the root
 * @id: for those who watch; from 1 on, and 0 for tables that several roots lead to (scratch chains)
 * @relaxed: its last-level pages to compare at the next synchronisation that is for its sake, or for all
 * @synced: synchronisations for its sake
 * @last_sync: the number (ghyvi_gtt.syncs) of the last of them; of the shared tree: of the last for the sake of all
 * @pages: shadow pages that it alone leads to
 * @refused: entries of those pages that found no table page left, since they were tried again last
 */
struct ghyvi_tree {
	u64 id;
	struct list_head relaxed;
	u32 synced;
	u64 last_sync;
	u32 pages;
	u32 refused;
};

/* In a snapshot: "not what the guest has, look again". Bit 0 is clear, so it never translates. */
#define GHYVI_SNAPSHOT_STALE BIT_ULL(63)

/*
 * Entries that wait for a pin are tried again: all of them when the guest has been given memory, and by each synchronisation what was
 * refused for another reason than that there was none. In one synchronisation so many of the latter may fail, and so many of
 * the former until it goes on to no other table; the rest has to wait for the next.
 */
#define GHYVI_RETRY_NOMEM 64u
#define GHYVI_RETRY_UNBACKED 4096u

/* A guest page that shadow entries point to. Lives as long as an entry uses it, and idle for a while after. */
struct ghyvi_pin {
	u64 gfn;
	u64 bus;
	u32 refs; /* shadow entries that point at it, and one while mapped */
	bool pinned; /* else there is none, and nothing else here means anything */
	bool table; /* in gtt->tables, too */
	bool again; /* idle again since it came to gtt->idle_pins */
	struct list_head idle; /* on gtt->idle_pins while refs is 0, and until somebody looks there if not */
	struct list_head mapped; /* on gtt->mapped_pins while the pGPU has it in the client's guest memory */
};

/*
 * Pins of neighbours live together, and a block of them as long as one does: what is bound together lies together more
 * often than not, and each of thousands of entries that a synchronisation translates needs two pins.
 */
#define GHYVI_PIN_BLOCK 64u
#define GHYVI_BLOCK_CACHE_SLOTS 64u
struct ghyvi_pin_block {
	u64 number; /* gfn / GHYVI_PIN_BLOCK */
	u32 used; /* of @pins */
	struct ghyvi_pin pins[GHYVI_PIN_BLOCK];
};

/* A guest page of 2 MiB that shadow entries point to: all its pages are pinned while it lives. */
struct ghyvi_large {
	u64 gfn; /* of its first page */
	u64 bus; /* of its first page, or of @table */
	u64 *table; /* stands for it where it is not contiguous; else NULL */
	u32 refs; /* shadow entries */
	struct list_head dying; /* on gtt->dying_larges while refs is 0 and not yet reaped */
};

/* One level's translation of a table page: what the GPU walks. */
struct ghyvi_shadow_page {
	struct ghyvi_table_page *table; /* NULL: lost its table page, leads to scratch until it is freed */
	unsigned int level;
	u64 *entries; /* a host page; for the GGTT a copy of what the pGPU was given */
	u32 refs; /* parent entries and roots */
	struct ghyvi_tree *tree; /* the only one that leads here, or gtt->shared_tree */
	/* Level PT_64K: */
	struct ghyvi_shadow_page *parent; /* the page, */
	unsigned int parent_index; /* and the entry in it, that leads here and may say that pages have 64 KiB */
	bool ips_set; /* it says so */
	bool ips_cached; /* an engine may have seen that one said so */
	u32 noncontig_mask; /* one bit a group: not 64 KiB side by side in the host */
	u32 check_mark; /* last self-check that visited it */
	struct list_head dying; /* on gtt->dying while refs is 0 and not yet reaped */
};

/*
 * A guest page that holds table entries. At every moment it is protected, or listed, or both: a store that
 * does not trap is found by the next synchronisation.
 */
struct ghyvi_table_page {
	u64 gfn; /* GHYVI_INVALID_GFN for a GGTT page while the BAR is not mapped */
	u64 *guest; /* pinned guest memory, or part of params.ggtt */
	u64 *snapshot; /* what the shadows were derived from, each entry read once */
	struct ghyvi_shadow_page *shadows[GHYVI_LEVELS + 1]; /* by level, */
	u32 levels; /* one bit for each of them */
	struct ghyvi_tree *tree; /* the only one that leads here, or gtt->shared_tree */
	struct list_head relaxed_node; /* on the list of @tree */
	int ggtt_page; /* which page of the GGTT table; -1 for PPGTT tables */
	u64 parent_gfn; /* where it was linked last, as a hint: the page directory, */
	u32 parent_index; /* and the entry in it */
	bool protected;
	u64 compared; /* while listed: the number of the last synchronisation when the snapshot was what the guest has */
	bool has_blocked_alias; /* an entry that leads to it as data waits until it is no table */
	u64 deferred[GHYVI_ENTRIES / 64]; /* one bit for each entry that leads to scratch for want of a pin, */
	u64 unbacked[GHYVI_ENTRIES / 64]; /* and for those of them whose memory is not there */
	bool retry; /* may have such entries, and stays listed for them */
	bool nomem; /* some of them are not absent */
	u64 generation; /* of the guest's memory, when they were tried last */
	struct ghyvi_page_history history;
};

struct ghyvi_root {
	struct ghyvi_gtt *gtt;
	bool nested; /* only the addresses; none of the lists and pages below */
	struct ghyvi_tree tree;
	unsigned int levels;
	u64 gpa[4]; /* only the bits that count */
	u64 used; /* number of the submission (ghyvi_gtt.submissions) that named it last */
	u32 refs; /* the gtt's own while known, and workloads' */
	bool known; /* in gtt->roots */
	u64 *top; /* levels == 3: a host page with four entries */
	bool retry; /* some of them are missing, for want of a pin perhaps */
	struct ghyvi_shadow_page *pages[4]; /* [0]: the PML4; or the four page directories */
	struct list_head lru; /* on gtt->root_lru; when nobody holds it, on gtt->dying_roots */
};

/* An entry that could not be translated: a guest can make it millions at once, and who looks sees one. */
struct ghyvi_rejected {
	u64 guest_entry;
	unsigned int level;
	int error; /* 0: none since the lock was taken */
};

struct ghyvi_gtt {
	struct ghyvi_gtt_params params;
	/* Protects everything below, and all table pages, shadow pages, pins and roots of this gtt. */
	struct mutex lock;
	const struct ghyvi_shadow_policy *policy;
	struct ghyvi_shadow_tuning tuning;
	struct ghyvi_experience experience;
	u32 rank_in; /* synchronisations until pages are ranked again */
	u64 last_trap_gpa;
	u64 last_trap_ns;

	struct xarray pin_blocks; /* gfn / GHYVI_PIN_BLOCK -> struct ghyvi_pin_block */
	struct ghyvi_pin_block *block_cache[GHYVI_BLOCK_CACHE_SLOTS]; /* found last, by the low bits of their number */
	struct list_head idle_pins; /* oldest first */
	u32 nr_idle_pins; /* with refs 0 */
	struct list_head mapped_pins; /* for nested jobs; oldest first */
	u32 nr_mapped_pins;

	struct xarray larges; /* gfn -> struct ghyvi_large */
	struct list_head dying_larges; /* that nothing points to */

	struct xarray tables; /* gfn -> struct ghyvi_table_page, PPGTT only */
	u32 nr_tables;
	struct list_head dying; /* shadow pages that nothing points to */

	struct xarray roots; /* root_key() -> struct ghyvi_root */
	struct list_head root_lru; /* all shadowed roots, those that only workloads hold included */
	struct list_head dying_roots; /* freed after the tables that belong to them */
	u32 nr_roots;
	u32 nr_nested_roots;
	u64 last_tree;
	/* Listed: what any root may lead to, upper levels and the GGTT included. Synced: for any one root's sake. */
	struct ghyvi_tree shared_tree;
	u32 flushes; /* synchronisations of all trees */
	u64 syncs; /* synchronisations of any */
	u64 submissions; /* synchronisations for the sake of one root */
	u32 young_left; /* pages of young trees that this operation may still evict */

	struct ghyvi_table_page **ggtt_tables; /* by table page number; NULL outside the partition */
	u32 nr_ggtt_tables;
	bool ggtt_shadowed; /* else nothing of it is installed, listed or protected */
	struct ghyvi_table_page *ggtt_updating; /* has entries that are not published yet */
	u64 ggtt_gfn;
	bool ggtt_live;

	struct ghyvi_rejected rejected;
	int defer_err; /* why the translation just made leads to scratch: an error that passes, or 0 */
	u32 retry_nomem_left, retry_unbacked_left; /* that may still fail in this synchronisation */
	bool has_deferred; /* an entry has ever waited for a pin */
	bool table_limit_hit; /* an entry was refused a table page since one went */
	u64 tables_freed; /* tables that went whose place entries wait for */
	u64 generation; /* of the guest's memory and of these, at this synchronisation */
	u64 scratch; /* bus address of the page behind entries that cannot be translated */
	u64 *scratch_tables[GHYVI_LEVELS]; /* by level - 1: every entry leads to scratch */

	u32 check_mark;
	u32 check_ggtt; /* next GGTT page for the slow part of the self-check */

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

/* Does a guest's entry of @level stand for a page of 2 MiB? */
static inline bool ghyvi_entry_is_large(unsigned int level, u64 guest_entry)
{
	return level == GHYVI_LEVEL_PD && guest_entry & GHYVI_ENTRY_PRESENT && guest_entry & GHYVI_ENTRY_LARGE;
}

/* Its first page. */
static inline u64 ghyvi_entry_large_gfn(u64 guest_entry)
{
	return round_down(ghyvi_entry_gfn(guest_entry), GHYVI_ENTRIES);
}

/* A guest's entry of @level, not of a large page, leads to a table; as what is it used? */
static inline unsigned int ghyvi_entry_below(const struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry)
{
	if (level == GHYVI_LEVEL_PD && guest_entry & GHYVI_ENTRY_64K && gtt->params.pages_64k)
		return GHYVI_LEVEL_PT_64K;
	return level - 1;
}

static inline u64 ghyvi_entry_group_gfn(u64 guest_entry)
{
	return round_down(ghyvi_entry_gfn(guest_entry), GHYVI_PTES_PER_64K);
}

/* What stands for an entry of the last level that cannot be translated. */
static inline u64 ghyvi_leaf_scratch(const struct ghyvi_gtt *gtt)
{
	return gtt->scratch | GHYVI_ENTRY_PRESENT;
}

/* Does a shadow entry of the last level hold a reference on a pin, or of a group on sixteen? */
static inline bool ghyvi_leaf_is_mapped(const struct ghyvi_gtt *gtt, u64 shadow_entry)
{
	return shadow_entry & GHYVI_ENTRY_PRESENT && shadow_entry != ghyvi_leaf_scratch(gtt);
}

/* gtt/pins.c */
/** ghyvi_pin_page() - the hypervisor's pin; releases idle pins when it has no room. */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *bus);
/** ghyvi_pin_block() - the block of this number, or NULL; it is near from now on. */
struct ghyvi_pin_block *ghyvi_pin_block(struct ghyvi_gtt *gtt, u64 number);
/** ghyvi_pin_next() - the first one that is pinned from *@gfn up to @last, which *@gfn then is; or NULL. */
struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last);
/** ghyvi_pin_create() - pin what is not pinned, with one reference. ERR_PTR. */
struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn);
/** ghyvi_pin_table() - the guest page is a table from now on, or no longer. */
void ghyvi_pin_table(struct ghyvi_gtt *gtt, u64 gfn, bool table);
/**
 * ghyvi_pins_get() - ghyvi_pin_get() for @count pages (a power of two) from @gfn on, all or none. Returns 1 when they
 * are one page of that size for the GPU, at *@bus; 0 when they are not; or a negative errno.
 */
int ghyvi_pins_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, u64 *bus);
void ghyvi_pins_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count);
/** ghyvi_pins_trim() - release idle pins down to @keep. Invalidates first. */
void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep);

/* Changes whenever an entry that waits for what was not there is worth another try. */
static inline u64 ghyvi_generation(const struct ghyvi_gtt *gtt)
{
	return gtt->params.hv_ops->memory_generation(gtt->params.hv) + gtt->tables_freed;
}

/* The guest page if it is pinned, or NULL. Those of a group of 64 KiB lie side by side. */
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

/* One reference more. */
static inline struct ghyvi_pin *ghyvi_pin_hold(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (!pin->refs++)
		gtt->nr_idle_pins--;
	return pin;
}

/* A reference; the page is pinned for it if it is not. ERR_PTR. */
static inline struct ghyvi_pin *ghyvi_pin_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	return pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn);
}

/* gtt/pte_4k.c */
/** ghyvi_leaf_set() - @count guest entries from @index on of a table of 4 KiB pages were @old and are @values. */
void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, const u64 *old,
		    const u64 *values, unsigned int count);
/** ghyvi_leaf_clear() - what was translated from @old leads to scratch. */
void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old);

/* gtt/pte_2m.c */
/**
 * ghyvi_large_get() - a reference on the 2 MiB of guest memory from @gfn (a multiple of GHYVI_ENTRIES) on, pinned.
 * ERR_PTR when a page of it cannot be pinned (-EFAULT, -ENOMEM).
 */
struct ghyvi_large *ghyvi_large_get(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_large_put(struct ghyvi_gtt *gtt, u64 gfn);
/** ghyvi_large_entry() - the shadow entry of level 2, read-only */
u64 ghyvi_large_entry(const struct ghyvi_large *large);
/** ghyvi_larges_reap() - free those that nothing points to; the caller has invalidated. */
void ghyvi_larges_reap(struct ghyvi_gtt *gtt);

/* gtt/upper.c */
/** ghyvi_entry_scratch() - what stands for an entry of @level that cannot be translated. */
u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level);
/**
 * ghyvi_entry_reject() - count an entry that cannot be translated, and report it if it is the last before the lock is let
 * go. Returns what stands for it.
 */
u64 ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, int error);
/** ghyvi_entry_hides_table() - is one of these guest pages a table, which entries may not lead to as data? Counts, sets gtt->defer_err. */
bool ghyvi_entry_hides_table(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/**
 * ghyvi_entry_translate() - take a reference on what @guest_entry, found in a page of @tree above the last level, names;
 * return the shadow entry.
 */
u64 ghyvi_entry_translate(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, struct ghyvi_tree *tree);
/**
 * ghyvi_entry_release() - drop the reference behind @shadow_entry, which was translated from @guest_entry and is no
 * longer what stands at @index of @page, above the last level.
 */
void ghyvi_entry_release(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 guest_entry,
			 u64 shadow_entry);

/* gtt/pte_64k.c */
/**
 * ghyvi_table_64k_link() - entry @index of @parent is to lead to @page, of level PT_64K. Returns the bit for it to say
 * that pages have 64 KiB, or 0.
 */
u64 ghyvi_table_64k_link(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, struct ghyvi_shadow_page *parent,
			 unsigned int index);
/** ghyvi_table_64k_unlink() - what was linked leads elsewhere now. */
void ghyvi_table_64k_unlink(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/** ghyvi_group_set() - guest entry @index of a table of 64 KiB pages was @old and is @value. */
void ghyvi_group_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old, u64 value);
/** ghyvi_group_clear() - what was translated from @old leads to scratch. */
void ghyvi_group_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index, u64 old);

/* gtt/tables.c */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree);
void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/** ghyvi_shadow_clear() - entry @index, translated from @guest_entry, leads to scratch. */
void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry);
/** ghyvi_shadow_detach() - part from the table page: the shadow page stays and leads to scratch only. */
void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/** ghyvi_tables_reap() - free what nothing points to any more. Invalidates first. */
void ghyvi_tables_reap(struct ghyvi_gtt *gtt);
/** ghyvi_tables_in() - is one of these guest pages a table? */
bool ghyvi_tables_in(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/**
 * ghyvi_table_update() - @count entries of the guest from @index on, at most GHYVI_PTES_PER_LINE, read @values now: snapshot and
 * shadows follow.
 */
void ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index,
			const u64 *values, unsigned int count);
/** ghyvi_table_defer_entry() - entry @index was translated without a pin that it needs (gtt->defer_err): it waits for one. */
void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index);
/** ghyvi_table_retry_entry() - translate entry @index, which waits, for all uses that have scratch there. */
void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index);

static inline bool ghyvi_table_entry_deferred(const struct ghyvi_table_page *table, unsigned int index)
{
	return table->deferred[index / 64] & BIT_ULL(index % 64);
}

static inline bool ghyvi_table_entry_unbacked(const struct ghyvi_table_page *table, unsigned int index)
{
	return table->unbacked[index / 64] & BIT_ULL(index % 64);
}

/* Entry @index waits, but not, or not only, for memory that is not there. */
static inline void ghyvi_table_set_nomem(struct ghyvi_table_page *table, unsigned int index)
{
	table->unbacked[index / 64] &= ~BIT_ULL(index % 64);
	table->nomem = true;
}

/** ghyvi_table_neighbour() - the table page @by places (1 or -1) on in the address space, or NULL. */
struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table,
					       int by);
struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest, int ggtt_page);
void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* gtt/nested.c */
/** ghyvi_nested_enter(), ghyvi_nested_leave() - the policy is "nested" now, or another one. */
void ghyvi_nested_enter(struct ghyvi_gtt *gtt);
void ghyvi_nested_leave(struct ghyvi_gtt *gtt);
/** ghyvi_nested_cleanup() - a root is gone; with the last of its mode goes what only that mode needs. */
void ghyvi_nested_cleanup(struct ghyvi_gtt *gtt);
/** ghyvi_nested_pin() - the guest page, pinned and mapped; ERR_PTR. */
struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn);
/** ghyvi_nested_evict() - unmap the @count pages mapped longest ago; their pins become idle. */
void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count);
/** ghyvi_nested_unmap() - unmap a range of guest pages. */
void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/* gtt/ggtt.c */
int ghyvi_ggtt_init(struct ghyvi_gtt *gtt);
void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt);
void ghyvi_ggtt_reset(struct ghyvi_gtt *gtt);
/** ghyvi_ggtt_relax() - listed while the guest can store to it, nothing to watch while it cannot. */
void ghyvi_ggtt_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_ggtt_shadow() - whether the GGTT has shadow entries at all; the next synchronisation fills them. */
void ghyvi_ggtt_shadow(struct ghyvi_gtt *gtt, bool on);
/** ghyvi_ggtt_publish() - hand entries [@first, @last] of a GGTT table page to the pGPU. */
void ghyvi_ggtt_publish(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last);
struct ghyvi_table_page *ghyvi_ggtt_table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn);

/* gtt/evict.c */
/** ghyvi_trees_evict_begin() - an operation begins that may evict: a full budget. */
void ghyvi_trees_evict_begin(struct ghyvi_gtt *gtt);
/**
 * ghyvi_trees_evict() - forget the trees used least recently, until @wanted table pages fit or no other tree may go. Frees their
 * tables; no translation may be under way. Returns whether any table page has gone.
 */
bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted);
/** ghyvi_tree_expect_room() - before a pass over @tree: if trees may go, entries that found no table page are tried again. */
void ghyvi_tree_expect_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);
/** ghyvi_tree_make_room() - after a pass over @tree: evict for what was refused. Returns whether another pass is of use. */
bool ghyvi_tree_make_room(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);

/* gtt/roots.c */
/** ghyvi_root_forget() - the gtt's own reference goes; tables that nothing holds then are freed by ghyvi_tables_reap(). */
void ghyvi_root_forget(struct ghyvi_root *root);
/** ghyvi_roots_forget_all() - keep only those that workloads hold. */
void ghyvi_roots_forget_all(struct ghyvi_gtt *gtt);
/** ghyvi_roots_empty_all() - those lose their tables, too: no job uses them. */
void ghyvi_roots_empty_all(struct ghyvi_gtt *gtt);
/** ghyvi_roots_zap_range() - roots whose tables lie in the range of guest pages become empty. */
void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/** ghyvi_root_fill_top() - translate what is missing of the entries of a three-level root. */
void ghyvi_root_fill_top(struct ghyvi_root *root);

/* shadow/relax.c */
void ghyvi_table_mark_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
void ghyvi_table_clear_relaxed(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_table_update_tree() - its uses have changed: find the tree that it belongs to now, and move it there. */
void ghyvi_table_update_tree(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_table_protect() - true when stores trap from now on. */
bool ghyvi_table_protect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
void ghyvi_table_unprotect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_table_protect_initial() - first protection, or none yet, of a page about to be read for the first time. */
void ghyvi_table_protect_initial(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int level);
/** ghyvi_table_make_strict() - a page got a use above the last level: protect and bring up to date. */
void ghyvi_table_make_strict(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_table_sync() - compare with the snapshot, translate what differs; returns how many entries did. */
unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/** ghyvi_table_relax() - stores go unseen until the next synchronisation. */
void ghyvi_table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* shadow/rank.c */
/** ghyvi_tables_each() - call @visit for every table page, GGTT and PPGTT. */
void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data),
		       void *data);
/** ghyvi_tables_rank() - order leaf pages by heat. */
void ghyvi_tables_rank(struct ghyvi_gtt *gtt);

/* shadow/costs.c: measurements for gtt->tuning */
void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa);

/* shadow/sync.c */
/** ghyvi_gtt_sync_locked() - only pages that @tree may lead to, or all (NULL). */
void ghyvi_gtt_sync_locked(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);

/* gtt/gtt.c */
/** ghyvi_gtt_unlock() - report, free what became unreachable, keep the idle pins under their limit, unlock. */
void ghyvi_gtt_unlock(struct ghyvi_gtt *gtt);

#endif
