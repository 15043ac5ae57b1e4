// SPDX-License-Identifier: GPL-2.0-only
/*
 * Online ski rental with predictions. The rent-or-buy threshold is the one that is optimal for the
 * recent durations of a context (a histogram) and an imaginary one. That one is distributed like
 * the durations of all contexts, so that a context of which little is known uses what the others
 * have shown, and a threshold is not the longest of a few durations. The accounts (account.c) bound
 * what this loses when the durations change.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_experience.h>

#define DURATIONS_MAX 256u /* at this number of durations all counts are halved */
#define DURATION_MAX 0xffffu
/* The regret budget in multiples of the price: the maximum loss, and the maximum saved up. */
#define REGRET_BUDGET 32
/* Without any recorded duration: the probability that one ends before it has doubled. */
#define PRIOR (GHYVI_CERTAIN / 32)
/* Waiting must be expected to save 1/MIN_GAIN_RATIO of its cost, compared with buying at once. */
#define MIN_GAIN_RATIO 8

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

/* Part of a class of durations: what is decided when a duration has reached @from. */
struct stage {
	u32 from, mean, to; /* units: the first, of those that end, the last */
	u32 ends, returns; /* probabilities that it ends, and that it does so with a burst */
};

/* @events of @number durations and one imaginary duration, the probability of which is @prior */
static u32 probability(u32 events, u32 number, u32 prior)
{
	return (events * GHYVI_CERTAIN + prior) / (number + 1);
}

/* @plan is the plan from the end of the stage on, and becomes the one from its start on. */
static void plan_stage(struct ghyvi_rental_plan *plan, const struct ghyvi_rent_or_buy *rental,
		       const struct stage *stage)
{
	u32 goes_on = GHYVI_CERTAIN - stage->ends;
	u64 units = (u64)stage->ends * (stage->mean - stage->from) +
		    (u64)goes_on * (stage->to + 1 - stage->from);
	u64 wait = (units * rental->rent_ns + goes_on * plan->cost_ns) / GHYVI_CERTAIN, buy;

	plan->returns = stage->returns + goes_on * plan->returns / GHYVI_CERTAIN;
	buy = rental->buy_ns + plan->returns * rental->again_ns / GHYVI_CERTAIN;
	if (!stage->from) {
		wait += rental->enter_ns;
		wait += wait / MIN_GAIN_RATIO;
	}
	plan->cost_ns = min(buy, wait);
	if (buy <= wait)
		plan->limit = 0;
	else if (!plan->limit)
		plan->limit = stage->to + 2;
}

/*
 * A class in two stages, the latter beyond the longest duration.
 * @reached: number of durations that reached the class. @prior: probability of an end in the class.
 */
static void plan_class(struct ghyvi_rental_plan *plan, const struct ghyvi_rent_or_buy *rental,
		       const struct ghyvi_histogram *d, unsigned int bucket, u32 reached, u32 prior)
{
	u32 count = d->count[bucket], first = class_first(bucket), last = class_last(bucket);
	struct stage stage = { first, first, last, 0, 0 };

	if (count)
		stage.from = d->longest[bucket] + 1u;
	if (stage.from <= last) {
		stage.mean = (stage.from + last) / 2;
		stage.ends = probability(0, reached - count,
					 prior * (last + 1 - stage.from) / (last + 1 - first));
		stage.returns = stage.ends;
		plan_stage(plan, rental, &stage);
	}
	if (!count)
		return;
	stage.to = stage.from - 1;
	stage.from = first;
	stage.mean = max(first, min(d->sum[bucket] / count, stage.to));
	stage.ends = probability(count, reached, prior);
	stage.returns = stage.ends;
	if (d->freed[bucket])
		stage.returns = probability(count - d->freed[bucket], reached, prior);
	plan_stage(plan, rental, &stage);
}

struct ghyvi_rental_plan ghyvi_rental_plan(const struct ghyvi_histogram *d,
					   const struct ghyvi_histogram *all,
					   const struct ghyvi_rent_or_buy *rental)
{
	struct ghyvi_rental_plan plan = { .cost_ns = rental->buy_ns };
	u32 reached = d->censored, all_reached = all ? all->censored : 0, prior = PRIOR;
	unsigned int bucket = GHYVI_DURATION_CLASSES;

	while (bucket--) {
		reached += d->count[bucket];
		all_reached += all ? all->count[bucket] : 0;
		if (class_first(bucket) * rental->rent_ns > rental->buy_ns + rental->again_ns)
			continue;
		if (all)
			prior = probability(all->count[bucket], all_reached, PRIOR);
		plan_class(&plan, rental, d, bucket, reached, prior);
	}
	return plan;
}

static void durations_age(struct ghyvi_histogram *d)
{
	unsigned int bucket;

	d->total = 0;
	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++) {
		d->count[bucket] /= 2;
		d->freed[bucket] /= 2;
		d->sum[bucket] /= 2;
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

void ghyvi_histogram_add(struct ghyvi_histogram *d, u32 duration, bool freed)
{
	unsigned int bucket = ghyvi_duration_class(duration);

	durations_make_room(d);
	duration = min(duration, DURATION_MAX);
	d->count[bucket]++;
	d->freed[bucket] += freed;
	d->sum[bucket] += duration;
	d->longest[bucket] = max_t(u32, d->longest[bucket], duration);
	d->total++;
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
