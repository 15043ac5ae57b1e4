/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offline optimum of one table page, by dynamic programming over its two states.
 *
 * A protected page costs a trap for each store, and may become relaxed after it. A relaxed page
 * costs a scan at each submission that reaches it, and may become protected there. The initial
 * state is the better one, unless optimum_start() says otherwise.
 */
#ifndef GHYVI_SIM_OPTIMUM_H
#define GHYVI_SIM_OPTIMUM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_costs {
	uint64_t trap_ns, scan_ns, protect_ns;
};

/*
 * struct optimum - minimum cost so far for each current state of the page
 * @foresight: the page may also be relaxed at a submission, without cost, before it is written. No
 * online
 *	policy can know when. Without @foresight the optimum relaxes like policies do, after a trap.
 */
struct optimum {
	uint64_t protected_ns, relaxed_ns;
	bool foresight;
};

#define OPTIMUM_NEVER_NS (1ull << 60) /* the cost of a state that the page cannot be in */

/* Accounts for @count consecutive stores. */
static inline void optimum_stores(struct optimum *o, const struct sim_costs *costs, uint64_t count)
{
	uint64_t let_go = o->protected_ns + costs->trap_ns;

	if (!count)
		return;
	if (let_go < o->relaxed_ns)
		o->relaxed_ns = let_go;
	o->protected_ns += count * costs->trap_ns;
}

/* Accounts for @count consecutive submissions without a store between them. */
static inline void optimum_submissions(struct optimum *o, const struct sim_costs *costs,
				       uint64_t count)
{
	uint64_t taken_back = o->relaxed_ns + costs->scan_ns + costs->protect_ns;

	if (!count)
		return;
	/* If protection pays off at all, it does so at the first submission. */
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

/* The page starts in the given state. */
static inline void optimum_start(struct optimum *o, bool relaxed)
{
	uint64_t cost = optimum_cost(o);

	o->protected_ns = relaxed ? OPTIMUM_NEVER_NS : cost;
	o->relaxed_ns = relaxed ? cost : OPTIMUM_NEVER_NS;
}

/* The page is freed: when it is used again, it starts in the better state. */
static inline void optimum_restart(struct optimum *o)
{
	o->protected_ns = o->relaxed_ns = optimum_cost(o);
}

#endif
