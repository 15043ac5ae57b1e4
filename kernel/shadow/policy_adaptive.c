// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "adaptive" makes three decisions. Each takes the choice that was cheapest recently in
 * the same situation (see experience.c). Costs are measured: T of a trap, S of a scan, P of a
 * protection.
 *
 * - Relax: a strict page pays rent T for each store. Relaxing it costs one scan and one protection,
 *   S + P. The number of stores in a burst is predicted from where in the page the burst starts.
 * - Protect: a relaxed page pays rent S at each submission. Protecting it costs P, plus T for the
 *   store that relaxes it again. The length of a gap is predicted from the length of the previous
 *   gap.
 * - Relax ahead: the neighbours of a page are relaxed with it if that is expected to pay. It saves
 *   traps, and costs scans of the neighbours that are not written. The length of a run is predicted
 *   from where in its first page it starts.
 *
 * Documentation/policies.md has the competitive ratio that this guarantees, and its lower bounds.
 */
#include <linux/kernel.h>

#include "policies.h"

static bool adaptive_relax(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_experience *experience = page->experience;
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(page->tuning);

	/*
	 * Another trap costs at least as much as relaxing in error: never trap more than segmented.
	 */
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

	return page->history->scans >=
	       ghyvi_rental_limit(&experience->gaps[page->history->gap_context],
				  experience->gap_credit_ns, &rental);
}

const struct ghyvi_shadow_policy ghyvi_policy_adaptive = {
	.name = "adaptive",
	/* A page that was just linked into a tree is about to be filled by the guest. */
	.relax_new = ghyvi_policy_always,
	.relax = adaptive_relax,
	.ahead = adaptive_ahead,
	.protect = adaptive_protect,
};
