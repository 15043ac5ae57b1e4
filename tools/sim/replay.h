/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a replay: the guest's pages, and the same pages as each policy has them. */
#ifndef GHYVI_SIM_REPLAY_H
#define GHYVI_SIM_REPLAY_H

#include <ghyvi_shim.h>

#include "optimum.h"
#include "simulate.h"

#define ENTRIES_MAX (TRACE_TABLE_PAGE_BYTES / 4)
#define WORDS (ENTRIES_MAX / 64)
#define ROOTS_MAX 65536u
#define EVERY_ROOT (~0u)
#define NONE (~0u)

/* Entries written; the count is kept, clearing is cheap for clean pages. */
struct written {
	u64 bits[WORDS];
	u32 count;
};

/* A page, as one policy has it. */
struct page {
	struct ghyvi_page_history history;
	struct written written; /* while relaxed, since the last scan */
	u32 relaxed_at; /* place in the list of relaxed pages, NONE if protected */
	bool taken_back; /* at this submission */
};

struct run {
	const struct ghyvi_shadow_policy *policy;
	struct sim_policy_counts *counts;
	struct page *pages;
	u32 *relaxed, relaxed_count;
	struct ghyvi_experience experience;
};

/* A page, as the guest has it. */
struct guest_page {
	u64 number;
	u64 stores;
	struct written written; /* since the last submission */
	struct optimum foresight, trap_only;
	u64 submissions_seen; /* of those that reach it, how many the optimum has accounted for */
	u32 root; /* index of the only root that reaches it, or EVERY_ROOT */
	u32 rank;
	bool freed;
};

struct root {
	u64 number;
	u64 submissions;
};

struct simulation {
	struct trace_source *source;
	const struct ghyvi_shadow_tuning *tuning;
	struct sim_costs costs;
	struct sim_trace_counts *counts;
	u32 entries;
	struct guest_page *pages;
	u32 page_count, page_room;
	u32 *index, index_mask; /* page number -> place in pages, open addressing */
	struct root *roots;
	u32 root_count;
	u32 *dirty, dirty_count; /* pages written since the last submission */
	struct run *runs;
	unsigned int run_count;
};

/** written_set() - entries [@entry, @entry + @count) */
void written_set(struct written *written, u32 entry, u32 count);
void written_clear(struct written *written);

/** page_slot() - where the index of pages has @number, or would have it */
u32 *page_slot(struct simulation *sim, u64 number);

/** run_new_page() - page @at exists now; @linked_now: by a record, else from the start */
void run_new_page(struct simulation *sim, struct run *run, u32 at, bool linked_now);
/** run_take_back() - page @at is not relaxed any more, or not there */
void run_take_back(struct run *run, u32 at);
/** run_store() - @count stores to entries from @entry on, or one @wide one to all of them */
void run_store(struct simulation *sim, struct run *run, u32 at, u32 entry, u32 count, bool wide);
/** run_submission() - one that uses @root */
void run_submission(struct simulation *sim, struct run *run, u32 root);

#endif
