// SPDX-License-Identifier: GPL-2.0-only
/*
 * Online ski rental with predictions. The rent-or-buy threshold is the one that is optimal for the
 * recent durations of a context (a histogram) and an imaginary one. That one is distributed like
 * the durations of all contexts, so that a context of which little is known uses what the others
 * have shown, and a threshold is not the longest of a few durations. The accounts (account.c) bound
 * what this loses when the durations change.
 *
 * Durations that have not ended show that it takes long, so a histogram also counts in how many
 * units of each class durations might have ended (the actuarial estimate of Kaplan and Meier). A
 * class is taken to have all its ends at their mean: shorter durations show nothing about them.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_experience.h>

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
static u32 probability(u32 events, u64 units, u32 width, u32 prior)
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
		stage.ends = probability(0, units - (u64)count * width, width,
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
	stage.ends = probability(count, units, width, prior);
	stage.returns = stage.ends;
	if (d->freed[bucket])
		stage.returns = probability(count - d->freed[bucket], units, width, prior);
	plan_stage(plan, rental, &stage);
}

/* Probability of an end in a class for the imaginary duration of one context. */
static u32 class_prior(const struct ghyvi_histogram *all, unsigned int bucket)
{
	if (!all)
		return PRIOR;
	return probability(all->count[bucket], units_at_risk(all, bucket), class_width(bucket),
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
