/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the table pages of one vGPU have shown about bursts, gaps and runs (terms: shadow_policy.h).
 * A single page has too few of them to predict from, and a driver uses many pages in the same way.
 * So the statistics are kept for all pages of a vGPU together.
 *
 * The functions take no lock. The caller serializes calls for one vGPU (gtt->lock).
 */
#ifndef GHYVI_SHADOW_EXPERIENCE_H
#define GHYVI_SHADOW_EXPERIENCE_H

#include <ghyvi/types.h>

/*
 * Durations are classified by powers of two: 0, 1, 2..3, 4..7, and so on. The last class is open.
 */
#define GHYVI_DURATION_CLASSES 16u
/* The context of a gap is 1 plus the class of the gap before it, or GHYVI_GAP_UNKNOWN. */
#define GHYVI_GAP_UNKNOWN 0u
#define GHYVI_GAP_CONTEXTS (GHYVI_DURATION_CLASSES + 1)
/* The context of a burst or run is the part of the page in which it starts. */
#define GHYVI_BURST_STARTS 16u
/* Number of pages of a run that are recorded. */
#define GHYVI_RUN_PAGES 8u

/**
 * struct ghyvi_histogram - histogram of recent durations
 *
 * A duration is counted in syncs (gaps) or in stores (bursts).
 */
struct ghyvi_histogram {
	/** @count: number of durations in each class */
	u16 count[GHYVI_DURATION_CLASSES];
	/** @longest: longest duration in each class */
	u16 longest[GHYVI_DURATION_CLASSES];
	/** @sum: sum of the durations in each class */
	u32 sum[GHYVI_DURATION_CLASSES];
	/** @total: number of durations in all classes */
	u32 total;
	/** @censored: durations that have not ended; see ghyvi_histogram_add_censored() */
	u32 censored;
	/** @limit: the threshold: after how many units it would have been cheapest to buy */
	u32 limit;
};

/**
 * struct ghyvi_rent_or_buy - costs of a rent-or-buy decision
 *
 * The costs are measured and change, so they are passed to each function that needs them.
 */
struct ghyvi_rent_or_buy {
	/** @rent_ns: cost of each unit of time until buying, in ns */
	u64 rent_ns;
	/** @buy_ns: cost of buying, which ends the rent, in ns */
	u64 buy_ns;
	/** @enter_ns: cost of not buying at once, in addition to the rent, in ns */
	u64 enter_ns;
};

/**
 * struct ghyvi_experience - statistics of the table pages of one vGPU; all zeroes at first
 *
 * Each credit is a regret budget in ns: it grows when decisions cost less than the bound and
 * shrinks when they cost more. It has an upper limit.
 */
struct ghyvi_experience {
	/** @gaps: lengths of gaps in syncs, by the context of the gap */
	struct ghyvi_histogram gaps[GHYVI_GAP_CONTEXTS];
	/** @bursts: stores of bursts after the first one, by the context of the burst */
	struct ghyvi_histogram bursts[GHYVI_BURST_STARTS];
	/** @gap_credit_ns: twice the optimum in hindsight minus the cost paid, for gaps */
	s64 gap_credit_ns;
	/** @burst_credit_ns: twice the optimum in hindsight minus the cost paid, for bursts */
	s64 burst_credit_ns;
	/**
	 * @ahead_credit_ns: cost of the traps saved by relaxing neighbours ahead, minus the cost of
	 * neighbours that were relaxed but not written
	 */
	s64 ahead_credit_ns;
	/** @runs: number of recent runs that reached each page, by the context of the run */
	u8 runs[GHYVI_BURST_STARTS][GHYVI_RUN_PAGES];
};

/**
 * ghyvi_durations_add() - Record a duration that has ended.
 * @durations: the histogram
 * @duration: number of units; more than 65535 count as 65535
 * @rental: present costs of the decision
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_durations_add(struct ghyvi_histogram *durations, u32 duration,
			 const struct ghyvi_rent_or_buy *rental);

/**
 * ghyvi_histogram_add_censored() - Record a duration that had not ended when waiting for its end
 * stopped.
 * @durations: the histogram
 * @rental: present costs of the decision
 *
 * The duration counts as longer than all that have ended, until ghyvi_histogram_remove_censored().
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_histogram_add_censored(struct ghyvi_histogram *durations,
				  const struct ghyvi_rent_or_buy *rental);

/**
 * ghyvi_histogram_remove_censored() - Remove a duration that ghyvi_histogram_add_censored()
 * recorded and that has ended.
 * @durations: the histogram
 *
 * The caller records the duration with ghyvi_durations_add().
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_histogram_remove_censored(struct ghyvi_histogram *durations);

/**
 * ghyvi_duration_class() - Classify a duration.
 * @duration: number of units, any value
 *
 * Context: Any context.
 * Return: 0..GHYVI_DURATION_CLASSES - 1.
 */
unsigned int ghyvi_duration_class(u32 duration);

/**
 * ghyvi_rental_limit() - Get the threshold of a rent-or-buy decision.
 * @durations: the histogram of the decision's context
 * @credit_ns: the regret budget, in ns
 * @rental: present costs of the decision
 *
 * Context: Any context. Serialized by the caller.
 * Return: the number of units to pay rent for before buying. This is @limit of the histogram. If no
 * duration is recorded, it is a small part of the break-even point (price / rent). If the regret
 * budget is used up, it is the break-even point. U32_MAX if one of the latter two applies and the
 * rent is 0.
 */
u32 ghyvi_rental_limit(const struct ghyvi_histogram *durations, s64 credit_ns,
		       const struct ghyvi_rent_or_buy *rental);

/**
 * ghyvi_regret_charge() - Account the outcome of a decision to a regret budget.
 * @credit_ns: the regret budget, in ns
 * @gained_ns: gain in ns; a loss if negative
 * @buy_ns: price of the decision in ns; the budget is limited to a multiple of it
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_regret_charge(s64 *credit_ns, s64 gained_ns, u64 buy_ns);

/**
 * ghyvi_regret_ok() - Test whether a regret budget allows a decision that may lose its price.
 * @credit_ns: the regret budget, in ns
 * @buy_ns: price of the decision, in ns
 *
 * Context: Any context.
 * Return: false if losses exceed gains by more than a multiple of @buy_ns.
 */
bool ghyvi_regret_ok(s64 credit_ns, u64 buy_ns);

#endif
