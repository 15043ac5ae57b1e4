/* SPDX-License-Identifier: GPL-2.0-only */
/* Internals of the replay: the pages of the guest, and their state under each policy. */
#ifndef GHYVI_SIM_REPLAY_H
#define GHYVI_SIM_REPLAY_H

#include <ghyvi_shim.h>

#include "index.h"
#include "limits.h"
#include "optimum.h"
#include "simulate.h"

#define ENTRIES_MAX (TRACE_TABLE_PAGE_BYTES / 4)
#define WORDS (ENTRIES_MAX / 64)
#define EVERY_ROOT 0u /* instead of a root: submissions of all roots reach the page */
#define NONE INDEX_NONE

/* The set of written entries. The count makes clearing an empty set cheap. */
struct written {
	u64 bits[WORDS];
	u32 count;
};

/* The state of a page under one policy. */
struct page {
	struct ghyvi_page_history history;
	struct written written; /* while relaxed: since the last scan */
	bool relaxed;
	bool taken_back; /* becomes protected at this submission */
	bool faults; /* while relaxed: the next store faults */
	bool stays; /* while relaxed: cannot become protected until it is freed */
	u32 next, before; /* while relaxed: in a list of its root */
};

struct page_list {
	u32 first, last;
};

/*
 * The relaxed pages that the submissions of a root reach.
 *
 * A submission visits the pages that may become protected. The others are counted, so that traces
 * with many pages do not take time for each page and submission; their history is not kept beyond
 * the trap that relaxed them, since no decision depends on it any more.
 */
struct relaxed_pages {
	/*
	 * @revocable: pages that may become protected, in the order in which they were relaxed, as
	 * in the module: the learning depends on it
	 */
	struct page_list revocable;
	struct page_list written; /* of those that stay: pages with changed entries */
	u64 staying;
};

struct run {
	const struct ghyvi_shadow_policy *policy;
	struct sim_policy_counts *counts;
	struct page *pages;
	struct relaxed_pages *relaxed; /* by root */
	struct ghyvi_experience experience, ggtt_experience;
};

/* A page of the guest. */
struct guest_page {
	u64 number;
	u64 stores;
	struct written written; /* since the last submission */
	struct optimum foresight, trap_only, started;
	struct limit_page limits;
	u64 submissions_seen; /* submissions of the page that the optimum has accounted for */
	u32 root; /* the only root that reaches it, or EVERY_ROOT */
	u32 rank;
	bool there; /* exists; otherwise no policy tracks it and no submission reaches it */
	bool freed; /* has existed before */
};

/* The number of submissions of a root; roots[EVERY_ROOT] has the number of all submissions. */
struct root {
	u64 submissions;
};

/* The result of the first pass: the rank of each page, sorted by page number. */
struct profile {
	u64 number;
	u32 rank;
};

struct simulation {
	struct trace_source *source;
	const struct ghyvi_shadow_tuning *tuning;
	struct sim_costs costs;
	struct sim_trace_counts *counts;
	struct limit_totals limits;
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

/* The number of submissions that have reached page @at. */
static inline u64 submissions_of(const struct simulation *sim, u32 at)
{
	return sim->roots[sim->pages[at].root].submissions;
}

/* Adds the entries [@entry, @entry + @count). */
void written_set(struct written *written, u32 entry, u32 count);
void written_clear(struct written *written);

/* Page @at exists from now on. @linked_now: it has just been linked; otherwise it is older. */
void run_new_page(struct simulation *sim, struct run *run, u32 at, bool linked_now);
/* Page @at has been freed. */
void run_free_page(struct simulation *sim, struct run *run, u32 at);
/* Submissions of root @to reach the existing page @at, instead of those of @from. */
void run_change_root(struct simulation *sim, struct run *run, u32 at, u32 from, u32 to);
/* @count stores to consecutive entries from @entry on, or one @wide store to all of them. */
void run_store(struct simulation *sim, struct run *run, u32 at, u32 entry, u32 count, bool wide);
/* A submission that uses @root. */
void run_submission(struct simulation *sim, struct run *run, u32 root);

#endif
