// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predictions for a table page. Its traps and scans are divided into bursts and gaps, which are
 * recorded in the vGPU's experience and in the page's account.
 *
 * DOC: online ski rental with predictions
 *
 * The rent-or-buy threshold is the one that is optimal for the recent durations of a context (a
 * histogram) and an imaginary one. That one is distributed like the durations of all contexts, so
 * that a context of which little is known uses what the others have shown, and a threshold is not
 * the longest of a few durations. The accounts (account.c) bound what this loses when the durations
 * change.
 *
 * Durations that have not ended show that it takes long, so a histogram also counts in how many
 * units of each class durations might have ended (the actuarial estimate of Kaplan and Meier). A
 * class is taken to have all its ends at their mean: shorter durations show nothing about them.
 *
 * In this order: durations; bursts and gaps.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_policy.h>

#define DURATIONS_MAX 256u /* at this number of durations all counts are halved */
#define DURATION_MAX 0xffffu
/* The regret budget in multiples of the price: the maximum loss, and the maximum saved up. */
#define REGRET_BUDGET 32
/* Without any recorded duration: the probability that one ends before it has doubled. */
#define PRIOR (GHYVI_CERTAIN / 8)
/* Waiting must be expected to save 1/MIN_GAIN_RATIO of its cost, compared with buying at once. */
#define MIN_GAIN_RATIO 8
/* When this many durations might have ended in one class, all counts are halved. */
#define AT_RISK_MAX 4096u
#define BURST_STORES_MAX 4096u /* longer bursts count as this in the average */
/* A plan is made again after this part of the gaps of its context has ended. */
#define NEWS_RATIO 16u

/* ---- durations ---- */

unsigned int ghyvi_duration_class(u32 duration)
{
	return min_t(unsigned int, fls(duration), GHYVI_DURATION_CLASSES - 1);
}

static u32 class_first(unsigned int bucket)
{
	return bucket ? 1u << (bucket - 1) : 0;
}

static u32 class_last(unsigned int bucket)
{
	return bucket < GHYVI_DURATION_CLASSES - 1 ? (1u << bucket) - 1 : DURATION_MAX;
}

static u32 class_width(unsigned int bucket)
{
	return bucket ? 1u << (bucket - 1) : 1;
}

/* Part of a class of durations: what is decided when a duration has reached @from. */
struct stage {
	u32 from, mean, to; /* units: the first, of those that end, the last */
	u32 ends, returns; /* probabilities that it ends, and that it does so with a burst */
	u32 bits; /* in the plan's waits */
};

/*
 * Of ending in a class of @width units: @events in @units units, and an imaginary duration with the
 * probability @prior.
 */
static u32 end_probability(u32 events, u64 units, u32 width, u32 prior)
{
	return div64_u64(((u64)events * GHYVI_CERTAIN + prior) * width, units + width);
}

/* The units in which durations of @d might have ended in a class. */
static u64 units_at_risk(const struct ghyvi_histogram *d, unsigned int bucket)
{
	u64 width = class_width(bucket);

	/* Halving rounds. */
	return max_t(u64, d->units[bucket], d->count[bucket] * width) + d->censored * width;
}

/* @plan is the plan from the end of the stage on, and becomes the one from its start on. */
static void plan_stage(struct ghyvi_rental_plan *plan, const struct ghyvi_rent_or_buy *rental,
		       const struct stage *stage)
{
	u32 goes_on = GHYVI_CERTAIN - stage->ends;
	u64 units = (u64)stage->ends * (stage->mean - stage->from) +
		    (u64)goes_on * (stage->to + 1 - stage->from);
	u64 wait = (units * rental->rent_ns + goes_on * plan->cost_ns) / GHYVI_CERTAIN, buy;
	s64 again;

	plan->returns = stage->returns + goes_on * plan->returns / GHYVI_CERTAIN;
	again = (s64)plan->returns * rental->again_ns / (s64)GHYVI_CERTAIN;
	buy = max_t(s64, (s64)rental->buy_ns + again, 0);
	if (!stage->from) {
		wait += rental->enter_ns;
		wait += wait / MIN_GAIN_RATIO;
	}
	plan->cost_ns = min(buy, wait);
	if (buy <= wait) {
		plan->limit = 0;
		return;
	}
	plan->waits |= stage->bits;
	if (!plan->limit)
		plan->limit = stage->to + 2;
}

/*
 * A class in two stages, the latter beyond the longest duration.
 * @prior: probability of an end in the class, of imaginary durations
 */
static void plan_class(struct ghyvi_rental_plan *plan, const struct ghyvi_rent_or_buy *rental,
		       const struct ghyvi_histogram *d, unsigned int bucket, u32 prior)
{
	u32 count = d->count[bucket], first = class_first(bucket), last = class_last(bucket);
	u64 units = units_at_risk(d, bucket);
	u32 width = class_width(bucket);
	struct stage stage = { first, first, last, .bits = 3u << 2 * bucket };

	if (count) {
		stage.from = d->longest[bucket] + 1u;
		stage.bits = 2u << 2 * bucket;
	}
	if (stage.from <= last) {
		stage.mean = (stage.from + last) / 2;
		stage.ends = end_probability(0, units - (u64)count * width, width,
					     prior * (last + 1 - stage.from) / (last + 1 - first));
		stage.returns = stage.ends;
		plan_stage(plan, rental, &stage);
	}
	if (!count)
		return;
	stage.to = stage.from - 1;
	stage.from = first;
	stage.bits = 1u << 2 * bucket;
	stage.mean = max(first, min(d->sum[bucket] / count, stage.to));
	stage.ends = end_probability(count, units, width, prior);
	stage.returns = stage.ends;
	if (d->freed[bucket])
		stage.returns = end_probability(count - d->freed[bucket], units, width, prior);
	plan_stage(plan, rental, &stage);
}

/* Probability of an end in a class for the imaginary duration of one context. */
static u32 class_prior(const struct ghyvi_histogram *all, unsigned int bucket)
{
	if (!all)
		return PRIOR;
	return end_probability(all->count[bucket], units_at_risk(all, bucket), class_width(bucket),
			       PRIOR);
}

struct ghyvi_rental_plan ghyvi_rental_plan(const struct ghyvi_histogram *d,
					   const struct ghyvi_histogram *all,
					   const struct ghyvi_rent_or_buy *rental)
{
	struct ghyvi_rental_plan plan = { .cost_ns = rental->buy_ns };
	unsigned int bucket = GHYVI_DURATION_CLASSES;

	while (bucket--) {
		if (class_first(bucket) * rental->rent_ns >
		    rental->buy_ns + max_t(s64, rental->again_ns, 0))
			continue;
		plan_class(&plan, rental, d, bucket, class_prior(all, bucket));
	}
	return plan;
}

bool ghyvi_histogram_waits(const struct ghyvi_histogram *d, u32 waits, u32 unit)
{
	unsigned int bucket = ghyvi_duration_class(unit);
	bool beyond = !d->count[bucket] || unit > d->longest[bucket];

	return waits >> (2 * bucket + beyond) & 1;
}

static void durations_age(struct ghyvi_histogram *d)
{
	unsigned int bucket;

	d->total = 0;
	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++) {
		d->count[bucket] /= 2;
		d->freed[bucket] /= 2;
		d->sum[bucket] /= 2;
		d->units[bucket] /= 2;
		if (!d->count[bucket])
			d->longest[bucket] = 0;
		d->total += d->count[bucket];
	}
	/* Pages that were freed never report the end of their duration, so forget these as well. */
	d->censored /= 2;
}

/* Before another duration is recorded. At most DURATIONS_MAX are, unfinished ones included. */
static void durations_make_room(struct ghyvi_histogram *d)
{
	if (d->total + d->censored >= DURATIONS_MAX)
		durations_age(d);
}

u32 ghyvi_histogram_shown(const struct ghyvi_histogram *d, const struct ghyvi_histogram *all,
			  u32 unit)
{
	unsigned int bucket = ghyvi_duration_class(unit);

	if (!d->count[bucket])
		d = all;
	if (!d->count[bucket])
		return unit + 1;
	/* Before the mean; this is faster than to divide. */
	if ((unit + 1) * d->count[bucket] <= d->sum[bucket])
		return class_first(bucket);
	return class_first(bucket) + class_width(bucket);
}

void ghyvi_histogram_pass(struct ghyvi_histogram *d, u32 from, u32 to)
{
	unsigned int bucket = ghyvi_duration_class(from);
	u32 end;

	for (; from < to; from = end, bucket++) {
		end = min(to, class_last(bucket) + 1);
		if (d->units[bucket] >= AT_RISK_MAX * class_width(bucket))
			durations_age(d);
		d->units[bucket] += end - from;
	}
}

/* The units of class @bucket from @passed on count as passed. */
static void class_pass(struct ghyvi_histogram *d, unsigned int bucket, u32 passed)
{
	u32 end = class_first(bucket) + class_width(bucket);

	if (passed < end)
		d->units[bucket] += end - max(class_first(bucket), passed);
}

u32 ghyvi_histogram_skip(struct ghyvi_histogram *d, u32 passed)
{
	unsigned int bucket = ghyvi_duration_class(passed);

	for (; bucket < GHYVI_DURATION_CLASSES - 1; bucket++)
		class_pass(d, bucket, passed);
	return max(passed, class_first(bucket));
}

void ghyvi_histogram_add(struct ghyvi_histogram *d, u32 duration, u32 passed, bool freed)
{
	unsigned int bucket = ghyvi_duration_class(duration), i = ghyvi_duration_class(passed);

	durations_make_room(d);
	duration = min(duration, DURATION_MAX);
	d->count[bucket]++;
	d->freed[bucket] += freed;
	d->sum[bucket] += duration;
	d->longest[bucket] = max_t(u32, d->longest[bucket], duration);
	d->total++;
	/* It has not passed what ghyvi_histogram_skip() counted beyond its class. */
	for (; i > bucket + 1; i--)
		d->units[i - 1] -= min_t(u64, d->units[i - 1], class_width(i - 1));
	for (; i <= bucket; i++)
		class_pass(d, i, passed);
}

void ghyvi_histogram_add_censored(struct ghyvi_histogram *d)
{
	durations_make_room(d);
	d->censored++;
}

void ghyvi_histogram_remove_censored(struct ghyvi_histogram *d)
{
	if (d->censored)
		d->censored--;
}

void ghyvi_regret_charge(s64 *credit_ns, s64 gained_ns, u64 buy_ns)
{
	*credit_ns = min_t(s64, *credit_ns + gained_ns, REGRET_BUDGET * buy_ns);
}

bool ghyvi_regret_ok(s64 credit_ns, u64 buy_ns)
{
	return credit_ns + (s64)(REGRET_BUDGET * buy_ns) >= 0;
}

/* ---- bursts and gaps ---- */

/*
 * What it is worth to find the page relaxed when a burst begins that ends a gap and begins one of
 * @context: the trap, or if the page is not worth relaxing, all traps of the burst minus the price.
 * It is negative if that price is higher than the traps.
 */
static s64 relaxed_benefit(const struct ghyvi_experience *experience,
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

/* The mean of relaxed_benefit() at the ends of recent gaps of pages that were not freed. */
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
			sum += (s64)count * relaxed_benefit(experience, tuning, i + 1);
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

/* The gaps like the present one, or the times until pages that were relaxed ahead were written. */
static const struct ghyvi_gap_forecast *gap_forecast(const struct ghyvi_page_history *history,
						     const struct ghyvi_experience *experience)
{
	if (history->ahead && history->expected)
		return &experience->ahead[history->expected_start][history->expected - 1];
	return &experience->forecasts[history->gap_context];
}

bool ghyvi_history_waits(const struct ghyvi_page_history *history,
			 const struct ghyvi_experience *experience,
			 const struct ghyvi_shadow_tuning *tuning)
{
	const struct ghyvi_gap_forecast *forecast = gap_forecast(history, experience);
	struct ghyvi_rent_or_buy rental = { .rent_ns = tuning->scan_ns,
					    .buy_ns = tuning->protect_ns,
					    .again_ns = tuning->trap_ns };
	u32 unit = max(history->scans, 1u) - 1, waits = forecast->waits;

	if (!forecast->planned)
		waits = ghyvi_rental_plan(&forecast->gaps, &experience->all_gaps, &rental).waits;
	return ghyvi_histogram_waits(&forecast->gaps, waits, unit);
}
