// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of a table page: traps and scans are divided into bursts and gaps, which are recorded
 * in the vGPU's experience and in the page's account.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_policy.h>

#define BURST_STORES_MAX 4096u /* longer bursts count as this in the average */
/* A plan is made again after this part of the gaps of its context has ended. */
#define NEWS_RATIO 16u

/*
 * What it is worth to find the page relaxed when a burst begins that ends a gap and begins one of
 * @context: the trap, or if the page is not worth relaxing, all traps of the burst minus the price.
 * It is negative if that price is higher than the traps.
 */
static s64 benefit(const struct ghyvi_experience *experience,
		   const struct ghyvi_shadow_tuning *tuning, unsigned int context)
{
	const struct ghyvi_gap_forecast *forecast = &experience->forecasts[context];
	s64 price = (s64)tuning->scan_ns + tuning->protect_ns;
	s64 traps = (s64)tuning->trap_ns * max(experience->burst_stores, 16u) / 16;

	if (tuning->trap_ns >= price)
		return tuning->trap_ns;
	if (forecast->gaps.total)
		price = forecast->price_ns;
	return min_t(s64, traps - price, tuning->trap_ns);
}

/* The mean of benefit() at the ends of recent gaps of pages that were not freed. */
static s64 mean_benefit(const struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning,
			const struct ghyvi_histogram *gaps)
{
	u32 returned = 0, count;
	unsigned int i;
	s64 sum = 0;

	for (i = 0; i < GHYVI_DURATION_CLASSES; i++) {
		count = gaps->count[i] - gaps->freed[i];
		returned += count;
		if (count)
			sum += (s64)count * benefit(experience, tuning, i + 1);
	}
	return returned ? sum / (s64)returned : tuning->trap_ns;
}

/*
 * Plan for another gap of this context: a step of value iteration over the contexts. @all: the
 * gaps of all contexts, or NULL.
 */
static void forecast_plan(struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning,
			  struct ghyvi_gap_forecast *forecast, const struct ghyvi_histogram *all)
{
	s64 mean = mean_benefit(experience, tuning, &forecast->gaps);
	struct ghyvi_rent_or_buy rental = { .rent_ns = tuning->scan_ns,
					    .buy_ns = tuning->protect_ns,
					    .enter_ns = tuning->scan_ns,
					    .again_ns = mean };
	struct ghyvi_rental_plan plan = ghyvi_rental_plan(&forecast->gaps, all, &rental);
	s64 saved = mean * plan.returns / (s64)GHYVI_CERTAIN;

	forecast->planned = true;
	forecast->news = 0;
	forecast->rent_ns = 0;
	forecast->waits = plan.waits;
	forecast->price_ns = min_t(s64, (s64)(tuning->scan_ns + plan.cost_ns) - saved,
				   (s64)tuning->scan_ns + tuning->protect_ns);
}

/* The page was expected to be written. It is now, or it is freed, or expected once more. */
static void expectation_ends(struct ghyvi_page_history *history,
			     struct ghyvi_experience *experience,
			     const struct ghyvi_shadow_tuning *tuning, u32 now, bool written)
{
	struct ghyvi_gap_forecast *forecast;

	if (!history->expected)
		return;
	forecast = &experience->ahead[history->expected_start][history->expected - 1];
	history->expected = 0;
	ghyvi_histogram_remove_censored(&forecast->gaps);
	ghyvi_histogram_add(&forecast->gaps, now - history->expected_at, 0, !written);
	/* What did not pay still does not, so traps of pages that no page follows are cheap. */
	if (written || forecast->price_ns < 0)
		forecast_plan(experience, tuning, forecast, NULL);
}

void ghyvi_history_expect(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start,
			  unsigned int distance)
{
	if (!history->known || history->burst_at == now)
		return;
	expectation_ends(history, experience, tuning, now, false);
	history->expected_at = now;
	history->expected_start = start;
	history->expected = distance;
	ghyvi_histogram_add_censored(&experience->ahead[start][distance - 1].gaps);
}

static void gap_add(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		    const struct ghyvi_shadow_tuning *tuning, u32 clean, bool freed)
{
	struct ghyvi_gap_forecast *forecast = &experience->forecasts[history->gap_context];

	ghyvi_histogram_add(&forecast->gaps, clean, history->passed, freed);
	ghyvi_histogram_add(&experience->all_gaps, clean, history->passed, freed);
	history->passed = 0;
	if (++forecast->news * NEWS_RATIO >= forecast->gaps.total || !forecast->planned)
		forecast_plan(experience, tuning, forecast, &experience->all_gaps);
}

static void gap_ends(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		     const struct ghyvi_shadow_tuning *tuning, u32 clean)
{
	gap_add(history, experience, tuning, clean, false);
	ghyvi_account_submissions(&history->account, tuning, clean + 1);
	history->gap_context = 1 + ghyvi_duration_class(clean);
}

void ghyvi_history_free(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now)
{
	expectation_ends(history, experience, tuning, now, false);
	if (history->known && now != history->burst_at)
		gap_add(history, experience, tuning, now - history->burst_at - 1, true);
	ghyvi_account_settle(&history->account, experience, tuning, false, false);
}

static void burst_begins(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			 const struct ghyvi_shadow_tuning *tuning, u32 now, bool trapped)
{
	expectation_ends(history, experience, tuning, now, true);
	if (history->known)
		gap_ends(history, experience, tuning, now - history->burst_at - 1);
	else
		ghyvi_account_open(&history->account, tuning, !trapped);
	history->known = true;
	history->burst_at = now;
	history->scans = 0;
	history->measures = false;
}

static void burst_ends(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		       const struct ghyvi_shadow_tuning *tuning, u32 stores, bool stays)
{
	if (!stores)
		return;
	/* The others involve no decision of the policy. */
	if (history->writes) {
		ghyvi_histogram_add(&experience->bursts[history->start], stores - 1,
				    history->passed, false);
		ghyvi_histogram_add(&experience->all_bursts, stores - 1, history->passed, false);
		history->passed = 0;
	}
	experience->burst_stores += min(stores, BURST_STORES_MAX) - experience->burst_stores / 16;
	ghyvi_account_stores(&history->account, tuning, stores);
	ghyvi_account_settle(&history->account, experience, tuning, true, stays);
	history->writes = 0;
}

bool ghyvi_history_trap(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start)
{
	bool begins = !history->known || history->burst_at != now;

	if (begins) {
		burst_ends(history, experience, tuning, history->writes, false);
		burst_begins(history, experience, tuning, now, true);
		history->measures = ghyvi_account_measures(experience, true);
		history->start = start;
	}
	history->writes++;
	history->heat++;
	history->account.paid_ns += tuning->trap_ns;
	return begins;
}

void ghyvi_history_relaxed(struct ghyvi_page_history *history, struct ghyvi_experience *experience)
{
	u32 shown = min(history->writes - 1, 0xffffu);

	ghyvi_histogram_pass(&experience->bursts[history->start], history->passed, shown);
	ghyvi_histogram_pass(&experience->all_bursts, history->passed, shown);
	history->passed = max(history->passed, shown);
}

/* A scan of a page that was relaxed ahead. */
static void ahead_scanned(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning, bool right, bool taken_back)
{
	s64 lost = tuning->scan_ns + (taken_back ? (s64)tuning->protect_ns : 0);

	if (!history->ahead)
		return;
	ghyvi_regret_charge(&experience->ahead_credit_ns, right ? (s64)tuning->trap_ns : -lost,
			    tuning->trap_ns);
	history->ahead = !right && !taken_back;
}

/* The gap has not ended: this scan, number @clean of them, has found no store. */
static void gap_passes(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
		       const struct ghyvi_shadow_tuning *tuning, u32 clean, bool taken_back)
{
	struct ghyvi_gap_forecast *forecast = &experience->forecasts[history->gap_context];
	u32 unit = clean - 1, shown;

	/* The page was protected in between, or its gap is too long to matter. */
	if (!clean || clean != history->scans || clean > 0xffff)
		return;
	shown = ghyvi_histogram_shown(&forecast->gaps, &experience->all_gaps, unit);
	if (shown > history->passed) {
		ghyvi_histogram_pass(&forecast->gaps, history->passed, shown);
		ghyvi_histogram_pass(&experience->all_gaps, history->passed, shown);
		history->passed = shown;
	}
	forecast->rent_ns += tuning->scan_ns;
	if (taken_back) {
		ghyvi_histogram_skip(&experience->all_gaps, history->passed);
		history->passed = ghyvi_histogram_skip(&forecast->gaps, history->passed);
	}
	if (taken_back || 2 * forecast->rent_ns >= tuning->protect_ns)
		forecast_plan(experience, tuning, forecast, &experience->all_gaps);
}

void ghyvi_history_scan(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, u32 changed,
			bool taken_back)
{
	bool old = !history->known || history->burst_at != now;

	history->heat += changed;
	ahead_scanned(history, experience, tuning, changed, taken_back);
	if (old)
		burst_ends(history, experience, tuning, history->writes, false);
	/* The first gap of a page that starts relaxed begins when it is linked. */
	if (old && (changed || !history->known))
		burst_begins(history, experience, tuning, now, false);
	if (old && changed)
		ghyvi_account_measures(experience, false);
	history->account.paid_ns += tuning->scan_ns + (taken_back ? tuning->protect_ns : 0);
	if (changed || history->writes)
		burst_ends(history, experience, tuning, history->writes + changed, !taken_back);
	else if (old)
		gap_passes(history, experience, tuning, now - history->burst_at, taken_back);
	history->scans++;
}
