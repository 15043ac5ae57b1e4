// SPDX-License-Identifier: GPL-2.0-only
/*
 * Online ski rental with predictions. The rent-or-buy threshold is the one that would have been
 * optimal for the recent durations (a histogram). The accounts (account.c) bound what this loses
 * when the durations change.
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
/* Without any recorded duration, a first wait may cost 1/EXPLORE_RATIO of the price. */
#define EXPLORE_RATIO 16
/* Waiting must be expected to save 1/MIN_GAIN_RATIO of its cost, compared with buying at once. */
#define MIN_GAIN_RATIO 16

unsigned int ghyvi_duration_class(u32 duration)
{
	return min_t(unsigned int, fls(duration), GHYVI_DURATION_CLASSES - 1);
}

/* Explore: one duration tells more than none. */
static struct ghyvi_rental_plan plan_unknown(const struct ghyvi_rent_or_buy *rental)
{
	u64 price = rental->buy_ns + rental->again_ns;
	u64 units = rental->rent_ns ? div64_u64(price / EXPLORE_RATIO, rental->rent_ns) : U32_MAX;

	return (struct ghyvi_rental_plan){ min_t(u64, units, U32_MAX), price };
}

/* The number of durations that ended with a burst. */
static u32 durations_returned(const struct ghyvi_histogram *d)
{
	u32 returned = d->total;
	unsigned int bucket;

	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++)
		returned -= d->freed[bucket];
	return returned;
}

struct ghyvi_rental_plan ghyvi_rental_plan(const struct ghyvi_histogram *d,
					   const struct ghyvi_rent_or_buy *rental)
{
	u32 all = d->total + d->censored, longer = all, again = durations_returned(d), limit = 0;
	u64 at_once = longer * rental->buy_ns + again * rental->again_ns;
	u64 cost, best = U64_MAX, rented = longer * rental->enter_ns;
	struct ghyvi_rental_plan plan;
	unsigned int bucket;

	if (!all)
		return plan_unknown(rental);
	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++) {
		if (!d->count[bucket])
			continue;
		if (d->longest[bucket] * rental->rent_ns > rental->buy_ns + rental->again_ns)
			break;
		rented += d->sum[bucket] * rental->rent_ns;
		longer -= d->count[bucket];
		again -= d->count[bucket] - d->freed[bucket];
		cost = rented + again * rental->again_ns +
		       longer * ((d->longest[bucket] + 1) * rental->rent_ns + rental->buy_ns);
		if (cost < best) {
			best = cost;
			limit = d->longest[bucket] + 2;
		}
	}
	if (!limit || best + best / MIN_GAIN_RATIO >= at_once) {
		best = at_once;
		limit = 0;
	}
	plan.limit = limit;
	plan.cost_ns = div_u64(best, all);
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
