/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pages of one vGPU have taught about bursts, gaps and runs (the words: shadow_policy.h). A page alone sees too
 * few of them to learn from; what drivers do to one page they do to others.
 */
#ifndef GHYVI_SHADOW_EXPERIENCE_H
#define GHYVI_SHADOW_EXPERIENCE_H

#include <ghyvi/types.h>

/* Durations are told apart by powers of two: 0, 1, 2..3, 4..7, and so on; the last class has no end. */
#define GHYVI_DURATION_CLASSES 16u
/* What a gap depends on: the class of the gap before, or none known. */
#define GHYVI_GAP_UNKNOWN 0u
#define GHYVI_GAP_CONTEXTS (GHYVI_DURATION_CLASSES + 1)
/* What the length of a burst or run depends on: where in a page it starts. */
#define GHYVI_BURST_STARTS 16u
/* Pages of a run that are looked at. */
#define GHYVI_RUN_PAGES 8u

/**
 * struct ghyvi_histogram - how long something lasted, of late
 * @count: durations in each class; @sum: of them; @longest: of them
 * @total: durations in all classes
 * @waiting: not over yet, and longer than was waited for
 * @limit: what follows from all that: the cheapest place to stop waiting
 */
struct ghyvi_histogram {
	u16 count[GHYVI_DURATION_CLASSES];
	u16 longest[GHYVI_DURATION_CLASSES];
	u32 sum[GHYVI_DURATION_CLASSES];
	u32 total;
	u32 censored;
	u32 limit;
};

/**
 * struct ghyvi_rent_or_buy - a decision that is made over and over: pay @rent for each unit of time, or @price once
 * @rent_ns: per unit; @buy_ns: to be rid of it; @enter_ns: to go on paying rent at all. Costs change, so they are
 *	given each time.
 */
struct ghyvi_rent_or_buy {
	u64 rent_ns;
	u64 buy_ns;
	u64 enter_ns;
};

/**
 * struct ghyvi_experience - one per vGPU, all zeroes at first
 * @gaps, @bursts: durations, by context
 * @gap_credit_ns, @burst_credit_ns: twice what hindsight would have paid, less what was paid; bounded above
 * @ahead_credit_ns: traps that were saved by relaxing neighbours, less what it cost in vain; bounded above
 * @runs: for each start, how many runs reached so many pages, of late
 */
struct ghyvi_experience {
	struct ghyvi_histogram gaps[GHYVI_GAP_CONTEXTS];
	struct ghyvi_histogram bursts[GHYVI_BURST_STARTS];
	s64 gap_credit_ns;
	s64 burst_credit_ns;
	s64 ahead_credit_ns;
	u8 runs[GHYVI_BURST_STARTS][GHYVI_RUN_PAGES];
};

/** ghyvi_durations_add() - one more, over now. */
void ghyvi_durations_add(struct ghyvi_histogram *durations, u32 duration, const struct ghyvi_rent_or_buy *rental);
/** ghyvi_histogram_add_censored() - one that is not over, and was waited for in vain; ghyvi_histogram_remove_censored() - it is over. */
void ghyvi_histogram_add_censored(struct ghyvi_histogram *durations, const struct ghyvi_rent_or_buy *rental);
void ghyvi_histogram_remove_censored(struct ghyvi_histogram *durations);
/** ghyvi_duration_class() - 0..GHYVI_DURATION_CLASSES - 1 */
unsigned int ghyvi_duration_class(u32 duration);
/**
 * ghyvi_rental_limit() - units to pay rent for before paying the price: what was cheapest of late or, when
 * @credit_ns is used up, as many as the price is worth.
 */
u32 ghyvi_rental_limit(const struct ghyvi_histogram *durations, s64 credit_ns, const struct ghyvi_rent_or_buy *rental);
/** ghyvi_regret_charge() - @gained or lost (negative), for a decision of this price. */
void ghyvi_regret_charge(s64 *credit_ns, s64 gained_ns, u64 buy_ns);
/** ghyvi_regret_ok() - may something be tried that could lose @buy_ns? */
bool ghyvi_regret_ok(s64 credit_ns, u64 buy_ns);

#endif
