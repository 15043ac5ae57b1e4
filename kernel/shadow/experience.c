// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ski rental with experience: how long to pay rent before paying the price, when what lasts how long is known from
 * before. Without a credit earned by doing better than twice the best it falls back to the rule that
 * never does worse.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include <ghyvi/shadow_experience.h>

#define DURATIONS_MAX 256u /* then those known so far count for half */
#define DURATION_MAX 0xffffu
/* Prices that may be lost before doing without experience, and that can be saved up against a worse time. */
#define REGRET_BUDGET 32
/* Without any experience, this part of the price is spent on waiting to get some. */
#define EXPLORE_RATIO 16
/* Waiting has to promise this part of the cost. */
#define MIN_GAIN_RATIO 16

unsigned int ghyvi_duration_class(u32 duration)
{
	return min_t(unsigned int, fls(duration), GHYVI_DURATION_CLASSES - 1);
}

/* What would have been cheapest for all durations known: not to wait at all, or until the end of some class? */
static u32 optimal_threshold(const struct ghyvi_histogram *d, const struct ghyvi_rent_or_buy *rental)
{
	u32 longer = d->total + d->censored, limit = 0;
	u64 cost, rented = longer * rental->enter_ns, best = longer * rental->buy_ns;
	unsigned int class;

	for (class = 0; class < GHYVI_DURATION_CLASSES; class++) {
		if (!d->count[class])
			continue;
		if (d->longest[class] * rental->rent_ns > rental->buy_ns)
			break;
		rented += d->sum[class] * rental->rent_ns;
		longer -= d->count[class];
		cost = rented + longer * ((d->longest[class] + 1) * rental->rent_ns + rental->buy_ns);
		if (cost + cost / MIN_GAIN_RATIO < best) {
			best = cost;
			limit = d->longest[class] + 2;
		}
	}
	return limit;
}

static void durations_age(struct ghyvi_histogram *d)
{
	unsigned int class;

	d->total = 0;
	for (class = 0; class < GHYVI_DURATION_CLASSES; class++) {
		d->count[class] /= 2;
		d->sum[class] /= 2;
		if (!d->count[class])
			d->longest[class] = 0;
		d->total += d->count[class];
	}
	/* Pages that were freed meanwhile do not come back to be subtracted. */
	d->censored /= 2;
}

/* One more will be known; at most DURATIONS_MAX are, those that wait included. */
static void durations_make_room(struct ghyvi_histogram *d)
{
	if (d->total + d->censored >= DURATIONS_MAX)
		durations_age(d);
}

void ghyvi_durations_add(struct ghyvi_histogram *d, u32 duration, const struct ghyvi_rent_or_buy *rental)
{
	unsigned int class = ghyvi_duration_class(duration);

	duration = min(duration, DURATION_MAX);
	durations_make_room(d);
	d->count[class]++;
	d->sum[class] += duration;
	d->longest[class] = max_t(u32, d->longest[class], duration);
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

u32 ghyvi_rental_limit(const struct ghyvi_histogram *d, s64 credit_ns, const struct ghyvi_rent_or_buy *rental)
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
