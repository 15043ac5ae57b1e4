/* SPDX-License-Identifier: GPL-2.0-only */
/* Roots, trees and the GGTT, and what concerns a gtt as a whole. Locking as in gtt_types.h. */
#ifndef GHYVI_GTT_TREES_H
#define GHYVI_GTT_TREES_H

#include "gtt_types.h"

/* roots.c */
/*
 * Remove @root from gtt->roots and drop the gtt's reference. If it was the last one,
 * ghyvi_gtt_reap() frees the tables.
 */
void ghyvi_root_forget(struct ghyvi_root *root);
/* Forget all roots. Only those that workloads hold remain. */
void ghyvi_roots_forget_all(struct ghyvi_gtt *gtt);
/* Release the tables of all roots. The roots that workloads hold map only scratch then. */
void ghyvi_roots_empty_all(struct ghyvi_gtt *gtt);
/* Empty and forget the roots that have a top-level table page in the range of guest pages. */
void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/* Free the roots without references. The caller has invalidated the pGPU and freed their tables. */
void ghyvi_roots_reap(struct ghyvi_gtt *gtt);
/* Translate the missing entries of @root->top, if @root has three levels. */
void ghyvi_root_fill_top(struct ghyvi_root *root);

/* evict.c */
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

/* nested.c */
/* The policy has become "nested" (enter) or another one (leave). */
void ghyvi_nested_enter(struct ghyvi_gtt *gtt);
void ghyvi_nested_leave(struct ghyvi_gtt *gtt);
/*
 * Call it after a root was released or the policy changed. If no root of the other mode is left, it
 * releases what only that mode needs: the GGTT's shadow, or mapped guest pages.
 */
void ghyvi_nested_cleanup(struct ghyvi_gtt *gtt);
/* Pin guest page @gfn and map it for nested jobs. Returns its pin or an ERR_PTR. */
struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn);
/* Unmap the @count pages mapped longest ago. Pins without other references become idle. */
void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count);
/* Unmap @count guest pages from @gfn on. */
void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/* ggtt.c */
/* Only for ghyvi_gtt_create() and ghyvi_gtt_destroy(); without the lock. */
int ghyvi_ggtt_init(struct ghyvi_gtt *gtt);
void ghyvi_ggtt_fini(struct ghyvi_gtt *gtt);
/* Returns the pin of the page behind a GGTT address, or NULL if no guest memory is mapped there. */
struct ghyvi_pin *ghyvi_ggtt_pin(struct ghyvi_gtt *gtt, u64 address);
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

/* ggtt_map.c */
/* Only for ghyvi_gtt_new() and ghyvi_gtt_destroy(); without the lock. */
void ghyvi_ggtt_map_init(struct ghyvi_gtt *gtt);
void ghyvi_ggtt_map_fini(struct ghyvi_gtt *gtt);
/* Relax the unmapped pages that the guest has accessed since. */
void ghyvi_ggtt_collect(struct ghyvi_gtt *gtt);
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

/* gtt.c */
/*
 * Create a gtt under @policy, for ghyvi_gtt_create(). @sync_table is ghyvi_table_sync(). Returns as
 * ghyvi_gtt_create().
 */
struct ghyvi_gtt *
ghyvi_gtt_new(const struct ghyvi_gtt_params *params, const struct ghyvi_shadow_policy *policy,
	      unsigned int (*sync_table)(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table));
/*
 * Report the last rejected entry, free unreachable tables, trim idle pins if there are more than
 * idle_pins of struct ghyvi_shadow_tuning, and unlock gtt->lock.
 */
void ghyvi_gtt_unlock(struct ghyvi_gtt *gtt);

#endif
