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
#define CREDIT_PRICES 32
/* Without any experience, this part of the price is spent on waiting to get some. */
#define FIRST_WAIT 16
/* Waiting has to promise this part of the cost. */
#define PROMISE 16

unsigned int ghyvi_duration_class(u32 duration)
{
	return min_t(unsigned int, fls(duration), GHYVI_DURATION_CLASSES - 1);
}

/* What would have been cheapest for all durations known: not to wait at all, or until the end of some class? */
static u32 cheapest_limit(const struct ghyvi_durations *d, const struct ghyvi_rental *rental)
{
	u32 longer = d->total + d->waiting, limit = 0;
	u64 cost, rented = longer * rental->stay_ns, best = longer * rental->price_ns;
	unsigned int class;

	for (class = 0; class < GHYVI_DURATION_CLASSES; class++) {
		if (!d->count[class])
			continue;
		if (d->longest[class] * rental->rent_ns > rental->price_ns)
			break;
		rented += d->sum[class] * rental->rent_ns;
		longer -= d->count[class];
		cost = rented + longer * ((d->longest[class] + 1) * rental->rent_ns + rental->price_ns);
		if (cost + cost / PROMISE < best) {
			best = cost;
			limit = d->longest[class] + 2;
		}
	}
	return limit;
}

static void durations_age(struct ghyvi_durations *d)
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
	d->waiting /= 2;
}

/* One more will be known; at most DURATIONS_MAX are, those that wait included. */
static void durations_make_room(struct ghyvi_durations *d)
{
	if (d->total + d->waiting >= DURATIONS_MAX)
		durations_age(d);
}

void ghyvi_durations_add(struct ghyvi_durations *d, u32 duration, const struct ghyvi_rental *rental)
{
	unsigned int class = ghyvi_duration_class(duration);

	duration = min(duration, DURATION_MAX);
	durations_make_room(d);
	d->count[class]++;
	d->sum[class] += duration;
	d->longest[class] = max_t(u32, d->longest[class], duration);
	d->total++;
	d->limit = cheapest_limit(d, rental);
}

void ghyvi_durations_wait(struct ghyvi_durations *d, const struct ghyvi_rental *rental)
{
	durations_make_room(d);
	d->waiting++;
	d->limit = cheapest_limit(d, rental);
}

void ghyvi_durations_over(struct ghyvi_durations *d)
{
	if (d->waiting)
		d->waiting--;
}

u32 ghyvi_rental_limit(const struct ghyvi_durations *d, s64 credit_ns, const struct ghyvi_rental *rental)
{
	u64 price = rental->price_ns;

	if (ghyvi_credit_left(credit_ns, price)) {
		if (d->total || d->waiting)
			return d->limit;
		price /= FIRST_WAIT;
	}
	return rental->rent_ns ? min_t(u64, div64_u64(price, rental->rent_ns), U32_MAX) : U32_MAX;
}

void ghyvi_credit(s64 *credit_ns, s64 gained_ns, u64 price_ns)
{
	*credit_ns = min_t(s64, *credit_ns + gained_ns, CREDIT_PRICES * price_ns);
}

bool ghyvi_credit_left(s64 credit_ns, u64 price_ns)
{
	return credit_ns + (s64)(CREDIT_PRICES * price_ns) >= 0;
}
