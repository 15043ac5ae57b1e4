/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replay of a trace under policies: the module's own decision code (kernel/shadow/policy_*.c) over a model of the
 * mechanism (kernel/shadow/relax.c, sync.c).
 */
#ifndef GHYVI_SIM_SIMULATE_H
#define GHYVI_SIM_SIMULATE_H

#include <ghyvi/shadow_policy.h>

#include "trace.h"

/**
 * struct sim_trace_counts - what a trace contains, whatever the policy
 * @pairs: (table page, submission) pairs with stores to the page before the submission
 * @entries_changed: distinct entries stored to before each submission, summed
 * @pages_written: table pages with a store; @most_written: stores to the hottest of them
 */
struct sim_trace_counts {
	uint64_t stores, submissions, pairs, entries_changed, pages_written, most_written;
};

/**
 * struct sim_policy_counts - what a policy did
 * @entries_found: changed entries that scans found; the others were translated in traps
 * @cost_ns: traps, scans and protections at the given costs
 */
struct sim_policy_counts {
	uint64_t traps, pages_scanned, entries_compared, entries_found, protects, cost_ns;
};

struct sim_result {
	struct sim_trace_counts trace;
	struct sim_policy_counts *policies; /* in the order given */
	uint64_t optimum_ns; /* with foresight */
	uint64_t optimum_trap_ns; /* without: relaxes at traps only */
};

/**
 * enum sim_profile - which pages are the hottest, after a first pass over the whole trace (the lower first among equals)
 * @SIM_PROFILE_PAGES: those with most stores, as in the module (which knows only what it has seen so far)
 * @SIM_PROFILE_BAND: the static_pages consecutive pages that got most stores together: the paper's hot band
 */
enum sim_profile { SIM_PROFILE_PAGES, SIM_PROFILE_BAND };

/**
 * simulate() - run @source through @count policies at once, from its start; twice if one of them is ranked.
 *
 * Pages 0..table_pages-1 exist from the start, all others from their first record on. They start as they would if the
 * policy had just been switched to in a running guest, with one exception: policies that do not relax every page for
 * good or by its rank find them protected (adaptive's relax_new is about pages that are linked while it is active).
 * A page that a root record announces, or that was freed and is written again, has just been linked: the policy's
 * relax_new decides, as in the module. Protecting it then is free of charge, as it is for the optimum.
 *
 * A burst is as long ago as submissions have reached the page since; a page that changes roots takes that along.
 *
 * Trapped stores (history->writes) are counted from the last submission on, whether the page was relaxed or not.
 *
 * dynamic scans a page from the submission after its first store on: the mean over the whole run is the expected
 * table's "mean over the ramp", the number of pages written its "steady".
 *
 * Returns 0, or -1 with source->message set. sim_result_free() releases the result of a successful call.
 */
int simulate(struct trace_source *source, const struct ghyvi_shadow_policy *const *policies,
	     unsigned int count, const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
	     struct sim_result *result);
void sim_result_free(struct sim_result *result);

#endif
