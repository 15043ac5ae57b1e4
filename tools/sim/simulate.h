/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replay of a trace under policies: the module's decision code (kernel/shadow/policy_*.c) on a
 * model of the mechanism (kernel/gtt/sync.c, spt.c).
 */
#ifndef GHYVI_SIM_SIMULATE_H
#define GHYVI_SIM_SIMULATE_H

#include <ghyvi/shadow_policy.h>

#include "trace.h"

/*
 * struct sim_trace_counts - counts of a trace that do not depend on the policy
 * @pairs: (table page, submission) pairs with stores to the page since the previous submission
 * @entries_changed: distinct entries written between two submissions, summed over all submissions
 * @pages_written: number of table pages with stores
 * @most_written: number of stores to the hottest page
 */
struct sim_trace_counts {
	uint64_t stores, submissions, pairs, entries_changed, pages_written, most_written;
};

/*
 * struct sim_policy_counts - counts of one policy
 * @faults: faults of stores to pages that were protected and are relaxed now. KVM removes the
 *	protection lazily, so relaxing a page after a trap takes a second exit. It is part of the
 *	cost of protecting the page.
 * @entries_found: changed entries that scans found; the others were translated in traps
 * @cost_ns: total of traps, scans and protections, at the given costs
 */
struct sim_policy_counts {
	uint64_t traps, faults, pages_scanned, entries_compared, entries_found, protects, cost_ns;
};

/*
 * struct sim_limit - the waiting limit that is cheapest for the whole trace; see limits.h
 * @scans: the limit in clean scans; UINT64_MAX: none, pages stay relaxed
 * @relaxed: linked pages start relaxed
 * @cost_ns: total of traps, scans and protections, at the given costs
 */
struct sim_limit {
	uint64_t scans;
	bool relaxed;
	uint64_t cost_ns;
};

struct sim_result {
	struct sim_trace_counts trace;
	struct sim_policy_counts *policies; /* in the order given */
	uint64_t optimum_ns; /* with foresight */
	uint64_t optimum_trap_ns; /* without: relaxes at traps only */
	uint64_t optimum_started_ns; /* the same, but each page starts as under adaptive */
	struct sim_limit limit; /* the best waiting limit in hindsight */
};

/**
 * enum sim_profile - How a first pass over the whole trace ranks the pages
 * @SIM_PROFILE_PAGES: by the number of stores, as in the module (which knows only past stores)
 * @SIM_PROFILE_BAND: first the static_pages consecutive pages that have the most stores in total,
 * the hot
 *	band of the paper
 *
 * Of pages with equal numbers of stores, the one with the lower number ranks higher.
 */
enum sim_profile { SIM_PROFILE_PAGES, SIM_PROFILE_BAND };

/**
 * simulate() - Replay a trace under several policies.
 * @source: the trace; read from its start, twice if one of the policies is ranked
 * @policies: the policies
 * @count: number of policies, or 0 for the counts of the trace and the optima
 * @tuning: costs and parameters of the policies
 * @profile: how to rank pages for ranked policies
 * @result: the counts; free it with sim_result_free() after a successful call
 *
 * Pages 0..table_pages-1 exist from the start; every other page exists from its first record on. A
 * page counts as newly linked if a root record announces it, or if it is written after it was
 * freed. For a newly linked page relax_new of the policy decides, as in the module. Its initial
 * protection costs nothing, for policies as for the optimum. Every other page starts in the state
 * that it has when the policy is enabled in a running guest, with one exception: under policies
 * other than "full", "relaxed" and the ranked ones it starts protected, because relax_new of
 * adaptive is meant for newly linked pages.
 *
 * Under "relaxed", pages of the GGTT can be protected. A fault on one of them counts as a trap.
 *
 * The age of a burst is the number of submissions that have reached the page since. It does not
 * change when the page changes roots.
 *
 * history->writes counts trapped stores since the last submission, whether or not the page was
 * relaxed.
 *
 * dynamic scans a page at every submission after its first store, so the number of scans per
 * submission increases to the number of written pages.
 *
 * Return: 0, or -1 with source->message set.
 */
int simulate(struct trace_source *source, const struct ghyvi_shadow_policy *const *policies,
	     unsigned int count, const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
	     struct sim_result *result);

/**
 * simulate_experienced() - Replay a trace in a guest that has replayed another, or the same.
 * @source: as for simulate()
 * @before: what the guest has done before; the same as @source to replay that twice
 * @policies: as for simulate()
 * @count: as for simulate()
 * @tuning: as for simulate()
 * @profile: as for simulate()
 * @result: the counts of @source alone; free it with sim_result_free() after a successful call
 *
 * As simulate(), but a policy keeps what it has learnt from @before. What it paid or saved there
 * does not count, and none of its pages is left. A vGPU keeps its experience until its policy is
 * changed or the VMM closes it. So this is what a guest pays that goes on as a short trace begins,
 * or that starts another program.
 *
 * Return: 0, or -1 with source->message or before->message set.
 */
int simulate_experienced(struct trace_source *source, struct trace_source *before,
			 const struct ghyvi_shadow_policy *const *policies, unsigned int count,
			 const struct ghyvi_shadow_tuning *tuning, enum sim_profile profile,
			 struct sim_result *result);
void sim_result_free(struct sim_result *result);

#endif
