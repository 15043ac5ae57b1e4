/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cheapest course in hindsight of one table page, by dynamic programming over its two states.
 *
 * A protected page pays the trap for each store, and may be let go after it. A relaxed page pays a scan at each
 * submission that reaches it, and may be protected there. Each page starts in whichever state suits it.
 */
#ifndef GHYVI_SIM_OPTIMUM_H
#define GHYVI_SIM_OPTIMUM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_costs {
	uint64_t trap_ns, scan_ns, protect_ns;
};

/**
 * struct optimum - cheapest cost so far, by the state the page is in now
 * @foresight: the page may also be relaxed at a submission, free of charge and ahead of the store. No policy can
 *	know when; without it the optimum relaxes as policies do, at a trap that is paid.
 */
struct optimum {
	uint64_t protected_ns, relaxed_ns;
	bool foresight;
};

/** optimum_stores() - @count stores, one after another */
static inline void optimum_stores(struct optimum *o, const struct sim_costs *costs, uint64_t count)
{
	uint64_t let_go = o->protected_ns + costs->trap_ns;

	if (!count)
		return;
	if (let_go < o->relaxed_ns)
		o->relaxed_ns = let_go;
	o->protected_ns += count * costs->trap_ns;
}

/** optimum_submissions() - @count submissions in a row, with no store between them */
static inline void optimum_submissions(struct optimum *o, const struct sim_costs *costs, uint64_t count)
{
	uint64_t taken_back = o->relaxed_ns + costs->scan_ns + costs->protect_ns;

	if (!count)
		return;
	/* Protecting pays at the first of them if at all. */
	if (taken_back < o->protected_ns)
		o->protected_ns = taken_back;
	o->relaxed_ns += count * costs->scan_ns;
	if (o->foresight && o->protected_ns < o->relaxed_ns)
		o->relaxed_ns = o->protected_ns;
}

static inline uint64_t optimum_cost(const struct optimum *o)
{
	return o->protected_ns < o->relaxed_ns ? o->protected_ns : o->relaxed_ns;
}

/** optimum_restart() - the page is freed; what reuses it again starts in whichever state suits it */
static inline void optimum_restart(struct optimum *o)
{
	o->protected_ns = o->relaxed_ns = optimum_cost(o);
}

#endif
