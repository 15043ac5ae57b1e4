// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three decisions, each by what was cheapest of late in the same situation at the costs measured (experience.c):
 *
 * - A protected page pays T for each store. Letting it go costs one scan now and one protection: S + P. How many stores
 *   a burst has is known by where in the page it starts.
 * - A relaxed page pays S at each submission. Taking it back costs P, and T for the store that relaxes it again. How
 *   long a gap lasts is known by how long the one before was.
 * - With a page that is let go, its neighbours are, if the traps that this saves are worth what it costs in vain. How
 *   far a run goes is known by where in its first page it starts.
 *
 * What this guarantees, and what nothing can: Documentation/policies.md.
 */
#include <linux/kernel.h>

#include "policies.h"

static bool adaptive_relax(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_experience *experience = page->experience;
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(page->tuning);

	/* The next store would cost more than to be wrong: never more traps than segmented. */
	if (rental.rent_ns >= rental.buy_ns)
		return true;
	return page->history->writes > ghyvi_rental_limit(&experience->bursts[page->history->start],
							  experience->burst_credit_ns, &rental);
}

static unsigned int adaptive_ahead(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_page_history *history = page->history;
	const u8 *runs = page->experience->runs[history->run_start];
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(page->tuning);
	unsigned int i;

	if (!history->in_run || rental.rent_ns < rental.buy_ns ||
	    !ghyvi_regret_ok(page->experience->ahead_credit_ns, rental.buy_ns))
		return 0;
	for (i = history->run_index + 1; i < GHYVI_RUN_PAGES; i++)
		if (runs[i] * rental.rent_ns <=
		    (max(runs[history->run_index], runs[i]) - runs[i]) * rental.buy_ns)
			break;
	return i - history->run_index - 1;
}

static bool adaptive_protect(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_experience *experience = page->experience;
	struct ghyvi_rent_or_buy rental = ghyvi_gap_rental(page->tuning);

	return page->history->scans >= ghyvi_rental_limit(&experience->gaps[page->history->gap_context],
							  experience->gap_credit_ns, &rental);
}

const struct ghyvi_shadow_policy ghyvi_policy_adaptive = {
	.name = "adaptive",
	/* A page that was just linked into a tree is about to be filled. */
	.relax_new = ghyvi_policy_always,
	.relax = adaptive_relax,
	.ahead = adaptive_ahead,
	.protect = adaptive_protect,
};
