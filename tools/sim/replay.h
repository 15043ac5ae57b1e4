/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a replay: the guest's pages, and the same pages as each policy has them. */
#ifndef GHYVI_SIM_REPLAY_H
#define GHYVI_SIM_REPLAY_H

#include <ghyvi_shim.h>

#include "index.h"
#include "optimum.h"
#include "simulate.h"

#define ENTRIES_MAX (TRACE_TABLE_PAGE_BYTES / 4)
#define WORDS (ENTRIES_MAX / 64)
#define EVERY_ROOT 0u /* in place of a root: the page is reached by the submissions of all */
#define NONE INDEX_NONE

/* Entries written; the count is kept, clearing is cheap for clean pages. */
struct written {
	u64 bits[WORDS];
	u32 count;
};

/* A page, as one policy has it. */
struct page {
	struct ghyvi_page_history history;
	struct written written; /* while relaxed, since the last scan */
	bool relaxed;
	bool taken_back; /* at this submission */
	u32 next, before; /* while relaxed, in the list of its root */
};

/* Pages in the order in which they were relaxed, as the module has them: what is learned depends on it. */
struct page_list {
	u32 first, last;
};

struct run {
	const struct ghyvi_shadow_policy *policy;
	struct sim_policy_counts *counts;
	struct page *pages;
	struct page_list *relaxed; /* by root */
	struct ghyvi_experience experience;
};

/* A page, as the guest has it. */
struct guest_page {
	u64 number;
	u64 stores;
	struct written written; /* since the last submission */
	struct optimum foresight, trap_only;
	u64 submissions_seen; /* of those that reach it, how many the optimum has accounted for */
	u32 root; /* the only one that reaches it, or EVERY_ROOT */
	u32 rank;
	bool there; /* exists and was not freed since; else no policy has it, and no submission reaches it */
	bool freed; /* was there before */
};

/* Submissions of one root; in the first place, EVERY_ROOT, those of all. */
struct root {
	u64 submissions;
};

/* What the first pass is for: the rank of a page among all, in the order of numbers. */
struct profile {
	u64 number;
	u32 rank;
};

struct simulation {
	struct trace_source *source;
	const struct ghyvi_shadow_tuning *tuning;
	struct sim_costs costs;
	struct sim_trace_counts *counts;
	u32 entries;
	struct guest_page *pages;
	u32 page_count, page_room;
	struct index page_index;
	struct root *roots;
	u32 root_count, root_room;
	struct index root_index;
	u32 *dirty, dirty_count; /* pages written since the last submission */
	struct profile *profile;
	u32 profile_count;
	struct run *runs;
	unsigned int run_count;
};

/* Submissions that reached page @at so far. */
static inline u64 submissions_of(const struct simulation *sim, u32 at)
{
	return sim->roots[sim->pages[at].root].submissions;
}

/** written_set() - entries [@entry, @entry + @count) */
void written_set(struct written *written, u32 entry, u32 count);
void written_clear(struct written *written);

/** run_new_page() - page @at is there now; @linked_now: since this moment, else for a while already */
void run_new_page(struct simulation *sim, struct run *run, u32 at, bool linked_now);
/** run_free_page() - page @at is not there any more */
void run_free_page(struct simulation *sim, struct run *run, u32 at);
/** run_change_root() - page @at, which is there, was reached by the submissions of root @from, and is by those of @to */
void run_change_root(struct simulation *sim, struct run *run, u32 at, u32 from, u32 to);
/** run_store() - @count stores to entries from @entry on, or one @wide one to all of them */
void run_store(struct simulation *sim, struct run *run, u32 at, u32 entry, u32 count, bool wide);
/** run_submission() - one that uses @root */
void run_submission(struct simulation *sim, struct run *run, u32 root);

#endif
