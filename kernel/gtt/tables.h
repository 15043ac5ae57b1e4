/* SPDX-License-Identifier: GPL-2.0-only */
/* Table pages, their shadow pages and states. Locking as in gtt_types.h. */
#ifndef GHYVI_GTT_TABLES_H
#define GHYVI_GTT_TABLES_H

#include "gtt_types.h"

/* tables.c */
struct ghyvi_shadow_page *ghyvi_shadow_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int level,
					   struct ghyvi_tree *tree);
void ghyvi_shadow_put(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/* Map scratch at @index and release what was translated from @guest_entry. Works for any level. */
void ghyvi_shadow_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
			u64 guest_entry);
/* Detach @page from its table page. The shadow page remains, and all its entries map scratch. */
void ghyvi_shadow_detach(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page);
/*
 * Free shadow pages, 2 MiB pages and roots without references, and then the oldest idle pins if
 * there are more than idle_pins of struct ghyvi_shadow_tuning, after one invalidation of the pGPU
 * for all of them.
 */
void ghyvi_gtt_reap(struct ghyvi_gtt *gtt);
/* As ghyvi_gtt_reap(), but release all idle pins. */
void ghyvi_gtt_reap_all(struct ghyvi_gtt *gtt);
/* Call @visit for every table page, GGTT and PPGTT. */
void ghyvi_tables_each(struct ghyvi_gtt *gtt,
		       void (*visit)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				     void *data),
		       void *data);
/* Returns true if one of @count guest pages from @gfn on is a table page. */
bool ghyvi_tables_in(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/*
 * Read @count entries from @source, each once, into the snapshot from @index on, at most
 * GHYVI_PTES_PER_UPDATE. @source may be the guest's entries. Translate those that changed in all
 * shadows. Returns their number.
 */
unsigned int ghyvi_table_update(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
				unsigned int index, const u64 *source, unsigned int count);
/* Mark entry @index, whose translation has just failed with gtt->deferral.err, as deferred. */
void ghyvi_table_defer_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index);
/* Translate the deferred entry @index again, in each shadow that maps scratch there. */
void ghyvi_table_retry_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table,
			     unsigned int index);

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

/* The next (@by 1) or previous (@by -1) table page in the address space, or NULL. */
struct ghyvi_table_page *ghyvi_table_neighbour(struct ghyvi_gtt *gtt,
					       const struct ghyvi_table_page *table, int by);
/* Needs no lock. Returns NULL if memory is short. */
struct ghyvi_table_page *ghyvi_table_alloc(struct ghyvi_gtt *gtt, u64 gfn, u64 *guest,
					   int ggtt_page);
/* Also called without the lock, when the gtt is created or destroyed. */
void ghyvi_table_free(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* protect.c */
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

#endif
