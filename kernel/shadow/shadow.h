/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of kernel/shadow for each other. Locking as in gtt_types.h. */
#ifndef GHYVI_SHADOW_SHADOW_H
#define GHYVI_SHADOW_SHADOW_H

#include "../gtt/gtt_types.h"

/* relax.c */
/*
 * Sync @table: compare the guest's entries with the snapshot and translate those that differ, and
 * retry deferred entries. Returns how many entries differed.
 */
unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);
/* Unprotect and list @table. The next sync finds the stores that do not trap meanwhile. */
void ghyvi_table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* The guest's entries @first to @last of @table may have changed: translate those that did. */
void ghyvi_table_stored(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last);
/* @table is about to be freed. */
void ghyvi_table_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table);

/* rank.c */
/* Rank the leaf pages by heat, see struct ghyvi_page_history. */
void ghyvi_tables_rank(struct ghyvi_gtt *gtt);

/* costs.c: update the costs in gtt->tuning */
void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages);
void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa);

/* sync.c */
/* Sync the relaxed pages that @tree may reach, or all of them if @tree is NULL. */
void ghyvi_gtt_sync_locked(struct ghyvi_gtt *gtt, struct ghyvi_tree *tree);

#endif
