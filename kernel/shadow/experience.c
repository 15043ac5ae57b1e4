// SPDX-License-Identifier: GPL-2.0-only
/*
 * Online ski rental with predictions. The rent-or-buy threshold is the one that would have been
 * optimal for the recent durations (a histogram). A regret budget (credit) bounds the loss: it
 * shrinks when decisions cost more than twice the optimum in hindsight. When it is used up, the
 * threshold is that of the 2-competitive break-even rule.
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
/* Waiting must be expected to save 1/MIN_GAIN_RATIO of its cost. */
#define MIN_GAIN_RATIO 16

unsigned int ghyvi_duration_class(u32 duration)
{
	return min_t(unsigned int, fls(duration), GHYVI_DURATION_CLASSES - 1);
}

/*
 * The threshold that would have been cheapest for all recorded durations: 0 (buy at once), or the
 * end of one of the classes.
 */
static u32 optimal_threshold(const struct ghyvi_histogram *d,
			     const struct ghyvi_rent_or_buy *rental)
{
	u32 longer = d->total + d->censored, limit = 0;
	u64 cost, rented = longer * rental->enter_ns, best = longer * rental->buy_ns;
	unsigned int bucket;

	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++) {
		if (!d->count[bucket])
			continue;
		if (d->longest[bucket] * rental->rent_ns > rental->buy_ns)
			break;
		rented += d->sum[bucket] * rental->rent_ns;
		longer -= d->count[bucket];
		cost = rented +
		       longer * ((d->longest[bucket] + 1) * rental->rent_ns + rental->buy_ns);
		if (cost + cost / MIN_GAIN_RATIO < best) {
			best = cost;
			limit = d->longest[bucket] + 2;
		}
	}
	return limit;
}

static void durations_age(struct ghyvi_histogram *d)
{
	unsigned int bucket;

	d->total = 0;
	for (bucket = 0; bucket < GHYVI_DURATION_CLASSES; bucket++) {
		d->count[bucket] /= 2;
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

void ghyvi_durations_add(struct ghyvi_histogram *d, u32 duration,
			 const struct ghyvi_rent_or_buy *rental)
{
	unsigned int bucket = ghyvi_duration_class(duration);

	duration = min(duration, DURATION_MAX);
	durations_make_room(d);
	d->count[bucket]++;
	d->sum[bucket] += duration;
	d->longest[bucket] = max_t(u32, d->longest[bucket], duration);
	d->total++;
	d->limit = optimal_threshold(d, rental);
}

void ghyvi_histogram_add_censored(struct ghyvi_histogram *d, const struct ghyvi_rent_or_buy *rental)
{
	durations_make_room(d);
	d->censored++;
	d->limit = optimal_threshold(d, rental);
}

void ghyvi_histogram_remove_censored(struct ghyvi_histogram *d)
{
	if (d->censored)
		d->censored--;
}

u32 ghyvi_rental_limit(const struct ghyvi_histogram *d, s64 credit_ns,
		       const struct ghyvi_rent_or_buy *rental)
{
	u64 price = rental->buy_ns;

	if (ghyvi_regret_ok(credit_ns, price)) {
		if (d->total || d->censored)
			return d->limit;
		price /= EXPLORE_RATIO;
	}
	return rental->rent_ns ? min_t(u64, div64_u64(price, rental->rent_ns), U32_MAX) : U32_MAX;
}

void ghyvi_regret_charge(s64 *credit_ns, s64 gained_ns, u64 buy_ns)
{
	*credit_ns = min_t(s64, *credit_ns + gained_ns, REGRET_BUDGET * buy_ns);
}

bool ghyvi_regret_ok(s64 credit_ns, u64 buy_ns)
{
	return credit_ns + (s64)(REGRET_BUDGET * buy_ns) >= 0;
}
