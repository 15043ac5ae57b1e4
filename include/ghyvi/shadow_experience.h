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
/* The context of a burst, and of pages after it, is the part of the page in which it starts. */
#define GHYVI_BURST_STARTS 16u
/* Probabilities are counted in 1/GHYVI_CERTAIN. */
#define GHYVI_CERTAIN 32768u
/* Number of pages after a page that may be relaxed with it. */
#define GHYVI_AHEAD_PAGES 7u

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
	/** @freed: number of durations in each class that ended because the page was freed */
	u16 freed[GHYVI_DURATION_CLASSES];
	/** @sum: sum of the durations in each class */
	u32 sum[GHYVI_DURATION_CLASSES];
	/**
	 * @units: number of units of each class during which durations might have ended, those of
	 * durations that have not ended included; see ghyvi_histogram_pass(). A duration that ended
	 * in a class counts with all units of the class.
	 */
	u64 units[GHYVI_DURATION_CLASSES];
	/** @total: number of durations in all classes */
	u32 total;
	/** @censored: durations that have not ended; see ghyvi_histogram_add_censored() */
	u32 censored;
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
	/**
	 * @again_ns: cost of a duration that ends after buying, unless it ends because the page is
	 * freed, in ns; negative if it is cheaper then than one that ends before
	 */
	s64 again_ns;
};

/**
 * struct ghyvi_rental_plan - the decision that is expected to be the cheapest
 */
struct ghyvi_rental_plan {
	/** @limit: after how many units to buy */
	u32 limit;
	/** @cost_ns: expected cost of a duration with this limit, in ns */
	u64 cost_ns;
	/** @returns: probability that the duration ends with a burst, in 1/GHYVI_CERTAIN */
	u32 returns;
	/** @waits: classes in which to rent, see ghyvi_histogram_waits() */
	u32 waits;
};

/**
 * struct ghyvi_gap_forecast - gaps of one context, and what they are expected to cost
 */
struct ghyvi_gap_forecast {
	/** @gaps: their lengths in syncs, up to the next burst or until the page was freed */
	struct ghyvi_histogram gaps;
	/** @waits: in which classes to keep a page relaxed, see ghyvi_histogram_waits() */
	u32 waits;
	/** @news: gaps that have ended since @waits was planned */
	u32 news;
	/** @rent_ns: cost of clean scans since @waits was planned */
	u64 rent_ns;
	/** @planned: @waits is valid */
	bool planned;
	/**
	 * @price_ns: expected cost of entering the gap relaxed instead of protected, in ns, at most
	 * S + P; negative if a relaxed page is better off. Valid if @gaps has any.
	 */
	s64 price_ns;
};

/**
 * struct ghyvi_page_account - what a page has cost, and what it had to cost
 *
 * The optimum is the offline optimum of the page that relaxes it at traps only.
 */
struct ghyvi_page_account {
	/**
	 * @offset_ns: the work function: cost of the optimum that ends with the page relaxed, minus
	 * cost of the optimum that ends with it protected, -(S + P)..T
	 */
	s64 offset_ns;
	/** @regret_ns: cost paid minus twice the cost of the optimum, bounded below */
	s64 regret_ns;
	/** @paid_ns: cost paid since the last ghyvi_account_settle() */
	u64 paid_ns;
	/**
	 * @due_ns: P if the page stayed relaxed after its last burst: the part of the cost of
	 * "segmented" that the balance of the vGPU does not include yet
	 */
	u32 due_ns;
};

/**
 * struct ghyvi_experience - statistics of the table pages of one vGPU; all zeroes at first
 *
 * A vGPU has one for its page tables and one for the pages of the GGTT, which drivers write in
 * other rhythms: most of them once, while they load. Each has its accounts.
 */
struct ghyvi_experience {
	/** @forecasts: gaps, by the context of the gap */
	struct ghyvi_gap_forecast forecasts[GHYVI_GAP_CONTEXTS];
	/** @all_gaps: the gaps of all contexts */
	struct ghyvi_histogram all_gaps;
	/** @all_bursts: the bursts of all contexts */
	struct ghyvi_histogram all_bursts;
	/** @bursts: stores of bursts after the first one, by the context of the burst */
	struct ghyvi_histogram bursts[GHYVI_BURST_STARTS];
	/** @burst_stores: moving average of the number of stores of a burst, times 16 */
	u32 burst_stores;
	/** @traps_saved: bursts that began without a trap since a trap was spent on measuring */
	u32 traps_saved;
	/**
	 * @balance_ns: cost that "segmented" would have had and a thousandth of it, minus the cost
	 * paid; bounded above
	 */
	s64 balance_ns;
	/**
	 * @ahead_credit_ns: cost of the traps saved by relaxing neighbours ahead, minus the cost of
	 * the scans that found no store, and of protecting neighbours that were not written
	 */
	s64 ahead_credit_ns;
	/**
	 * @ahead: the time from a burst that began with a trap to the next burst of each of the
	 * pages after it, by the context of the burst
	 */
	struct ghyvi_gap_forecast ahead[GHYVI_BURST_STARTS][GHYVI_AHEAD_PAGES];
};

/**
 * ghyvi_histogram_add() - Record a duration that has ended.
 * @durations: the histogram
 * @duration: number of units; more than 65535 count as 65535
 * @passed: number of its units that have been recorded already
 * @freed: it ended because the page was freed
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_histogram_add(struct ghyvi_histogram *durations, u32 duration, u32 passed, bool freed);

/**
 * ghyvi_histogram_shown() - Tell how much of a duration shows that it does not end.
 * @durations: the histogram
 * @all: the durations of all contexts, which decide where @durations has none in the class
 * @unit: a unit in which it did not end; the first one of the duration is 0
 *
 * In a class in which durations have ended, all of it if the duration has reached their mean, and
 * nothing before.
 *
 * Context: Any context. Serialized by the caller.
 * Return: the number of units to record, 0..65536.
 */
u32 ghyvi_histogram_shown(const struct ghyvi_histogram *durations,
			  const struct ghyvi_histogram *all, u32 unit);

/**
 * ghyvi_histogram_pass() - Record that a duration did not end in some units.
 * @durations: the histogram
 * @from: the first of the units
 * @to: the unit after the last, at most 65536
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_histogram_pass(struct ghyvi_histogram *durations, u32 from, u32 to);

/**
 * ghyvi_histogram_skip() - Record that a duration is not observed any more until it ends.
 * @durations: the histogram
 * @passed: number of its units that have been recorded
 *
 * It counts as longer than all that have ended, until ghyvi_histogram_add().
 *
 * Context: Any context. Serialized by the caller.
 * Return: the number of its units that have been recorded now.
 */
u32 ghyvi_histogram_skip(struct ghyvi_histogram *durations, u32 passed);

/**
 * ghyvi_histogram_waits() - Test whether to rent for a unit.
 * @durations: the histogram for which @waits was planned
 * @waits: two bits for each class, the upper one for the part beyond the longest duration in it
 * @unit: the unit; the first one of the duration is 0
 *
 * Context: Any context.
 * Return: false to buy.
 */
bool ghyvi_histogram_waits(const struct ghyvi_histogram *durations, u32 waits, u32 unit);

/**
 * ghyvi_histogram_add_censored() - Record a duration that had not ended when waiting for its end
 * stopped.
 * @durations: the histogram
 *
 * The duration counts as longer than all that have ended, until ghyvi_histogram_remove_censored().
 *
 * Context: Any context. Serialized by the caller.
 */
void ghyvi_histogram_add_censored(struct ghyvi_histogram *durations);

/**
 * ghyvi_histogram_remove_censored() - Remove a duration that ghyvi_histogram_add_censored()
 * recorded and that has ended.
 * @durations: the histogram
 *
 * The caller records the duration with ghyvi_histogram_add().
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
 * ghyvi_rental_plan() - Plan a rent-or-buy decision.
 * @durations: the histogram of the decision's context
 * @all: the histogram of all its contexts. One imaginary duration of the context is distributed
 * like these. Optional: NULL means a duration that is as likely to end in each class.
 * @rental: present costs of the decision
 *
 * Context: Any context. Serialized by the caller.
 * Return: the plan: buy at once, or rent to the end of one of the classes or to the longest
 * duration in one.
 */
struct ghyvi_rental_plan ghyvi_rental_plan(const struct ghyvi_histogram *durations,
					   const struct ghyvi_histogram *all,
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
