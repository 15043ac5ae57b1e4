// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "adaptive" makes three decisions. Each takes the choice that was cheapest recently in
 * the same situation (see predict.c). Costs are measured: T of a trap, S of a scan, P of a
 * protection.
 *
 * - Relax: a strict page pays rent T for each store. The price of relaxing it is S plus the
 *   expected cost of the gap that follows, at most S + P. The number of stores in a burst is
 *   predicted from where in the page the burst starts.
 * - Protect: a relaxed page pays rent S at each submission. Protecting it costs P, plus up to T for
 *   the stores until it is relaxed again. The length of a gap is predicted from the length of the
 *   previous gap.
 * - Relax ahead: the pages after a page are relaxed with it if that is expected to pay. It saves
 *   traps, and costs scans until they are written. The time until then is predicted like a gap,
 *   from their distance and from where in the first page the burst starts.
 *
 * Two accounts bound what predictions may lose (see account.c): a page that has cost too much more
 * than its optimum follows the work function, and a vGPU that has cost too much more than under
 * "segmented" is treated as under "segmented". Documentation/policies.md has the guarantees.
 */
#include <linux/kernel.h>

#include "policies.h"

static bool adaptive_relax_new(const struct ghyvi_shadow_view *page)
{
	/* A page that was just linked into a tree is about to be filled by the guest. */
	return ghyvi_account_affords(page->experience, page->tuning);
}

/* By the predicted length of the burst, at the expected price of letting the page go. */
static bool relax_predicted(const struct ghyvi_shadow_view *page, struct ghyvi_rent_or_buy rental)
{
	const struct ghyvi_page_history *history = page->history;
	const struct ghyvi_gap_forecast *forecast =
		&page->experience->forecasts[history->gap_context];

	if (forecast->gaps.total && forecast->price_ns <= 0)
		return true;
	if (forecast->gaps.total)
		rental.buy_ns = forecast->price_ns;
	return history->writes > ghyvi_rental_plan(&page->experience->bursts[history->start],
						   &page->experience->all_bursts, &rental)
					 .limit;
}

static bool adaptive_relax(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_page_history *history = page->history;
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(page->tuning);

	/*
	 * Another trap costs at least as much as relaxing in error: never trap more than segmented.
	 */
	if (rental.rent_ns >= rental.buy_ns)
		return history->writes > history->measures;
	if (!ghyvi_account_affords(page->experience, page->tuning))
		return true;
	if (!ghyvi_account_predicts(&history->account, page->tuning))
		return ghyvi_account_relaxes(&history->account, page->tuning, history->writes);
	return relax_predicted(page, rental);
}

static unsigned int adaptive_ahead(const struct ghyvi_shadow_view *page)
{
	struct ghyvi_rent_or_buy rental = ghyvi_burst_rental(page->tuning);
	unsigned int pages = 0;

	if (rental.rent_ns < rental.buy_ns ||
	    !ghyvi_account_affords(page->experience, page->tuning) ||
	    !ghyvi_regret_ok(page->experience->ahead_credit_ns, rental.buy_ns))
		return 0;
	while (pages < GHYVI_AHEAD_PAGES &&
	       ghyvi_history_follows(page->experience, page->history->start, pages + 1))
		pages++;
	return pages;
}

static bool adaptive_protect(const struct ghyvi_shadow_view *page)
{
	const struct ghyvi_page_history *history = page->history;

	if (!ghyvi_account_affords(page->experience, page->tuning))
		return true;
	if (!ghyvi_account_predicts(&history->account, page->tuning))
		return ghyvi_account_protects(&history->account, page->tuning, history->scans);
	return !ghyvi_history_waits(history, page->experience, page->tuning);
}

const struct ghyvi_shadow_policy ghyvi_policy_adaptive = {
	.name = "adaptive",
	.relax_new = adaptive_relax_new,
	.relax = adaptive_relax,
	.ahead = adaptive_ahead,
	.protect = adaptive_protect,
};
