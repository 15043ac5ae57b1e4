/* SPDX-License-Identifier: GPL-2.0-only */
/* Translation of guest entries, by level and page size. Locking as in gtt_types.h. */
#ifndef GHYVI_GTT_ENTRIES_H
#define GHYVI_GTT_ENTRIES_H

#include "gtt_types.h"

/* upper.c */
/* Shadow entry of @level for a guest entry that cannot be translated. Needs no lock. */
u64 ghyvi_entry_scratch(const struct ghyvi_gtt *gtt, unsigned int level);
/*
 * Count an entry that cannot be translated because of @error, and record it for the report of
 * ghyvi_gtt_unlock(). Sets gtt->deferral.err. Returns the shadow entry to use, which maps scratch.
 */
u64 ghyvi_entry_reject(struct ghyvi_gtt *gtt, unsigned int level, u64 guest_entry, int error);
/*
 * Returns true if one of @count guest pages from @gfn on is a table page, which must not be mapped
 * as data. The entry is counted and deferred (gtt->deferral.err) then.
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

/* pte_4k.c */
/*
 * Translate @count entries of a page of level PT from @index on. @values are the guest's entries,
 * @old those that the present shadow entries were translated from.
 */
void ghyvi_leaf_set(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		    const u64 *old, const u64 *values, unsigned int count);
/* Map scratch at @index and release what was translated from @old. */
void ghyvi_leaf_clear(struct ghyvi_gtt *gtt, struct ghyvi_shadow_page *page, unsigned int index,
		      u64 old);

/* pte_64k.c */
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

/* pte_2m.c */
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

#endif
