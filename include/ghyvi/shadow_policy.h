/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policy interface of shadowing. A policy only decides and has no mechanism: it is one file in
 * kernel/shadow/ with one table, listed in policies.c. The module, the simulator and the tests run
 * the same code.
 *
 * Costs: with n stores to a table page between two submissions, a strict page costs n traps. A
 * relaxed page costs one scan at each submission that can reach it, and one protection if it
 * becomes strict again.
 *
 * Terminology: the stores to a page between two syncs that reach it are a burst. The time from one
 * burst of a page to the next is a gap. A page is expected to have a burst when a burst of a page
 * before it in the address space has begun with a trap.
 */
#ifndef GHYVI_SHADOW_POLICY_H
#define GHYVI_SHADOW_POLICY_H

#include <ghyvi/shadow_experience.h>
#include <ghyvi/types.h>

#define GHYVI_RANK_UNKNOWN (~0u)
#define GHYVI_RANK_INTERVAL 256u /* syncs between two rankings */
/* A page's predictions may lose this many rounds more than twice the optimum. */
#define GHYVI_REGRET_ROUNDS 4
/* A vGPU may pay this many rounds more than under "segmented". */
#define GHYVI_STARTUP_ROUNDS 32
/* Ranges of struct ghyvi_shadow_tuning. */
#define GHYVI_STATIC_PAGES_MAX 65536u
#define GHYVI_OOS_THRESHOLD_MAX 65535u
#define GHYVI_IDLE_PINS_MAX (1u << 24)
#define GHYVI_TABLES_MIN 256u
#define GHYVI_TABLES_MAX (1u << 20)

/**
 * struct ghyvi_page_history - what policies know about a table page
 *
 * Maintained by ghyvi_history_trap(), ghyvi_history_relaxed(), ghyvi_history_scan(),
 * ghyvi_history_expect() and ghyvi_history_ahead(), except @rank and @leaf.
 */
struct ghyvi_page_history {
	/** @account: what the page has cost, see kernel/shadow/account.c */
	struct ghyvi_page_account account;
	/** @heat: all stores found so far: trapped ones, and entries that scans found changed */
	u64 heat;
	/** @rank: rank among leaf pages by @heat, 0: the hottest; GHYVI_RANK_UNKNOWN: not ranked */
	u32 rank;
	/** @burst_at: number of syncs that had reached the page when its last burst began */
	u32 burst_at;
	/** @writes: trapped stores of that burst; 0 after a scan */
	u32 writes;
	/**
	 * @scans: scans since that burst began, including the one that compared it; 0 if the page
	 * has not been relaxed since. If @ahead: 1, and the scans since the page was relaxed.
	 */
	u32 scans;
	/** @expected_at: if @expected: number of syncs that had reached the page then */
	u32 expected_at;
	/** @passed: number of units of the present burst or gap that the experience has recorded */
	u32 passed;
	/** @gap_context: context of the present gap; GHYVI_GAP_UNKNOWN before the second burst */
	u8 gap_context;
	/**
	 * @start: part of the page with the first store of the last burst that began with a trap,
	 * 0..GHYVI_BURST_STARTS - 1
	 */
	u8 start;
	/**
	 * @expected: if not 0, a page before it in the address space, at this distance, had a burst
	 * since the last burst of the page, 1..GHYVI_AHEAD_PAGES
	 */
	u8 expected;
	/** @expected_start: if @expected: @start of that page's burst */
	u8 expected_start;
	/** @leaf: the page holds translations of data pages only. Other pages cannot be relaxed. */
	bool leaf;
	/**
	 * @known: the page had a burst. Otherwise the members about bursts and gaps mean nothing,
	 * except @writes and @scans, which are 0 or count from the start.
	 */
	bool known;
	/** @ahead: a trap on a neighbour relaxed the page, and no scan has found a store since */
	bool ahead;
	/**
	 * @measures: the last burst began with a trap that is not to relax the page, so that the
	 * time to the next one is measured
	 */
	bool measures;
};

/**
 * struct ghyvi_shadow_tuning - costs and settings of one vGPU that decisions depend on
 *
 * The module measures the costs. The simulator is given them.
 */
struct ghyvi_shadow_tuning {
	/** @trap_ns: cost of one trapped store, in ns */
	u32 trap_ns;
	/** @scan_ns: cost of comparing one table page with its snapshot, in ns */
	u32 scan_ns;
	/**
	 * @protect_ns: cost of write-protecting one page, in ns, including the fault with which the
	 * guest makes the page writable after the protection was removed
	 */
	u32 protect_ns;
	/** @static_pages: number of pages that "static" keeps relaxed, 0..65536, default 200 */
	u32 static_pages;
	/**
	 * @oos_threshold: number of the trapped store, counted from the last sync, at which "oos"
	 * relaxes a page, 1..65535, default 2
	 */
	u32 oos_threshold;
	/**
	 * @idle_pins: maximum number of guest pages kept pinned although no entry maps them any
	 * more, 0..16777216, default 262144 (1 GiB). Drivers unbind and bind the same pages again,
	 * and pinning is expensive. Fewer are kept when pinning fails.
	 */
	u32 idle_pins;
	/**
	 * @tables_max: maximum number of guest table pages (PPGTT) shadowed at a time,
	 * 256..1048576, default 16384, which map 32 GiB. Each costs the host up to three pages (its
	 * snapshot, a shadow, bookkeeping). With the default this is 192 MiB, charged to the memory
	 * cgroup of the thread that shadows the page.
	 */
	u32 tables_max;
};

#define GHYVI_SHADOW_TUNING_DEFAULT                                                          \
	{                                                                                    \
		.trap_ns = 40000, .scan_ns = 1000, .protect_ns = 20000, .static_pages = 200, \
		.oos_threshold = 2, .idle_pins = 262144, .tables_max = 16384                 \
	}

/**
 * ghyvi_burst_rental() - Get the costs of the decision when to relax a strict page.
 * @tuning: the present costs
 *
 * The rent is the trap of each store. Buying means to relax the page, scan it and protect it again.
 *
 * Context: Any context.
 * Return: the costs, per store.
 */
static inline struct ghyvi_rent_or_buy ghyvi_burst_rental(const struct ghyvi_shadow_tuning *tuning)
{
	return (struct ghyvi_rent_or_buy){ tuning->trap_ns,
					   (u64)tuning->scan_ns + tuning->protect_ns, 0, 0 };
}

/**
 * ghyvi_round_ns() - Get the cost of relaxing a page at a trap, scanning and protecting it.
 * @tuning: the present costs
 *
 * Context: Any context.
 * Return: the cost, in ns.
 */
static inline s64 ghyvi_round_ns(const struct ghyvi_shadow_tuning *tuning)
{
	return (s64)tuning->trap_ns + tuning->scan_ns + tuning->protect_ns;
}

/**
 * struct ghyvi_shadow_view - all data that a decision may depend on
 */
struct ghyvi_shadow_view {
	/** @history: the page */
	const struct ghyvi_page_history *history;
	/** @tuning: costs and settings of its vGPU */
	const struct ghyvi_shadow_tuning *tuning;
	/** @experience: statistics of its vGPU, of pages of its kind */
	const struct ghyvi_experience *experience;
};

/**
 * struct ghyvi_shadow_policy - a shadowing policy
 *
 * The functions are called with gtt->lock held, for leaf pages only, and change nothing.
 */
struct ghyvi_shadow_policy {
	/** @name: the policy's name in sysfs */
	const char *name;
	/**
	 * @nested: there are no shadows, the pGPU walks the guest's tables. The functions below
	 * decide only for tables that jobs begun under another policy still use.
	 */
	bool nested;
	/**
	 * @untracked: the hypervisor is not asked to write-protect guest memory, at any level. The
	 * functions below decide only about pages of the GGTT.
	 */
	bool untracked;
	/** @ranked: the policy depends on @rank of struct ghyvi_page_history */
	bool ranked;
	/**
	 * @relax_new: Returns true to start a page relaxed when it is first shadowed or when the
	 * policy is switched to.
	 */
	bool (*relax_new)(const struct ghyvi_shadow_view *page);
	/**
	 * @relax: Called after a trapped store. Returns true to relax the page.
	 * ghyvi_gtt_ggtt_live() calls it for a store that has not happened.
	 */
	bool (*relax)(const struct ghyvi_shadow_view *page);
	/**
	 * @ahead: Called when a page is relaxed after a trap. Returns the number of neighbours
	 * after it to relax with it. Optional: NULL means none.
	 */
	unsigned int (*ahead)(const struct ghyvi_shadow_view *page);
	/**
	 * @protect: Called by a sync for a relaxed page, before the scan. Returns true to protect
	 * the page; that scan is its last one then. Optional: NULL means never.
	 */
	bool (*protect)(const struct ghyvi_shadow_view *page);
};

/**
 * ghyvi_history_trap() - Record a trapped store to a page.
 * @history: the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 * @now: number of syncs that have reached the page so far
 * @start: part of the page with the store, 0..GHYVI_BURST_STARTS - 1
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 * Return: true if a burst began. The caller then calls ghyvi_history_expect() for pages after it.
 */
bool ghyvi_history_trap(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start);

/**
 * ghyvi_history_relaxed() - Record that the trap that was just recorded relaxed the page.
 * @history: the page
 * @experience: statistics of its vGPU
 *
 * The stores so far show how long bursts are before this one ends, so that a driver that fills many
 * pages between two submissions does not trap in each of them until the next.
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 */
void ghyvi_history_relaxed(struct ghyvi_page_history *history, struct ghyvi_experience *experience);

/**
 * ghyvi_history_scan() - Record a scan of a page.
 * @history: the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 * @now: number of syncs that reached the page before this one
 * @changed: number of entries that the scan found changed, 0..GHYVI_ENTRIES
 * @taken_back: the page was write-protected before the scan
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 */
void ghyvi_history_scan(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, u32 changed,
			bool taken_back);

/**
 * ghyvi_history_free() - Record that a page is freed.
 * @history: the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 * @now: number of syncs that have reached the page so far
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 */
void ghyvi_history_free(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now);

/**
 * ghyvi_history_expect() - Record that a protected page may have a burst soon.
 * @history: the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 * @now: number of syncs that have reached the page so far
 * @start: @start of the page before it in the address space, a burst of which began with a trap
 * @distance: distance to that page, 1..GHYVI_AHEAD_PAGES
 *
 * The experience counts the time until the burst as long, until it ends.
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 */
void ghyvi_history_expect(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start,
			  unsigned int distance);

/**
 * ghyvi_history_ahead() - Record that a trap on a neighbour relaxed a page.
 * @history: the page
 */
static inline void ghyvi_history_ahead(struct ghyvi_page_history *history)
{
	history->ahead = true;
	history->scans = 1;
}

/**
 * ghyvi_history_follows() - Predict whether a page is written soon after another one.
 * @experience: statistics of the vGPU
 * @start: @start of the other page, a burst of which began with a trap
 * @distance: distance to that page, 1..GHYVI_AHEAD_PAGES
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 * Return: true if it pays to relax the page with the other one.
 */
static inline bool ghyvi_history_follows(const struct ghyvi_experience *experience,
					 unsigned int start, unsigned int distance)
{
	const struct ghyvi_gap_forecast *forecast = &experience->ahead[start][distance - 1];

	return forecast->gaps.total && forecast->price_ns < 0;
}

/**
 * ghyvi_history_waits() - Predict whether it pays to keep a relaxed page so during its next scan.
 * @history: the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 *
 * Context: Any context. Serialized by the caller (gtt->lock).
 * Return: false to protect the page before the scan.
 */
bool ghyvi_history_waits(const struct ghyvi_page_history *history,
			 const struct ghyvi_experience *experience,
			 const struct ghyvi_shadow_tuning *tuning);

/**
 * ghyvi_account_open() - Open the account of a page.
 * @account: the account, all zeroes
 * @tuning: costs of its vGPU
 * @relaxed: the state in which the page starts
 *
 * Context: Any context. Serialized by the caller (gtt->lock), like all that follow.
 */
void ghyvi_account_open(struct ghyvi_page_account *account,
			const struct ghyvi_shadow_tuning *tuning, bool relaxed);

/**
 * ghyvi_account_stores() - Account for a burst in the optimum.
 * @account: the account
 * @tuning: costs of its vGPU
 * @stores: number of stores, at least 1
 */
void ghyvi_account_stores(struct ghyvi_page_account *account,
			  const struct ghyvi_shadow_tuning *tuning, u32 stores);

/**
 * ghyvi_account_submissions() - Account for submissions without stores between them in the optimum.
 * @account: the account
 * @tuning: costs of its vGPU
 * @submissions: their number
 */
void ghyvi_account_submissions(struct ghyvi_page_account *account,
			       const struct ghyvi_shadow_tuning *tuning, u32 submissions);

/**
 * ghyvi_account_settle() - Move the cost paid to the accounts of the page and the vGPU.
 * @account: the account of the page
 * @experience: statistics of its vGPU
 * @tuning: costs of its vGPU
 * @burst: a burst has ended, for which "segmented" pays a trap, a scan and a protection
 * @stays: the page stays relaxed after the burst. The balance includes the protection with the next
 * call, as the cost of the gap that replaces it is paid until then.
 */
void ghyvi_account_settle(struct ghyvi_page_account *account, struct ghyvi_experience *experience,
			  const struct ghyvi_shadow_tuning *tuning, bool burst, bool stays);

/**
 * ghyvi_account_measures() - Decide whether to spend a trap on measuring the cost of traps.
 * @experience: statistics of the vGPU, a burst of which begins
 * @trapped: the burst begins with a trap
 *
 * Return: true at most once for 1024 bursts that began without a trap, for a burst that begins with
 * one.
 */
bool ghyvi_account_measures(struct ghyvi_experience *experience, bool trapped);

/**
 * ghyvi_account_predicts() - Test whether a page may follow the predictions.
 * @account: the account of the page
 * @tuning: costs of its vGPU
 *
 * Return: false if the page has cost too much more than twice the optimum.
 */
static inline bool ghyvi_account_predicts(const struct ghyvi_page_account *account,
					  const struct ghyvi_shadow_tuning *tuning)
{
	return account->regret_ns <= GHYVI_REGRET_ROUNDS * ghyvi_round_ns(tuning);
}

/**
 * ghyvi_account_affords() - Test whether a vGPU may decide otherwise than "segmented".
 * @experience: statistics of the vGPU
 * @tuning: its costs
 *
 * Return: false if it has paid too much more than "segmented" would have.
 */
static inline bool ghyvi_account_affords(const struct ghyvi_experience *experience,
					 const struct ghyvi_shadow_tuning *tuning)
{
	return experience->balance_ns >= -GHYVI_STARTUP_ROUNDS * ghyvi_round_ns(tuning);
}

/**
 * ghyvi_account_relaxes() - Decide for a protected page by the work function.
 * @account: the account of the page, without the present burst
 * @tuning: costs of its vGPU
 * @traps: trapped stores of the burst so far
 *
 * Return: true if the optimum would end relaxed by now, whatever follows.
 */
bool ghyvi_account_relaxes(const struct ghyvi_page_account *account,
			   const struct ghyvi_shadow_tuning *tuning, u32 traps);

/**
 * ghyvi_account_protects() - Decide for a relaxed page by the work function.
 * @account: the account of the page, with its last burst
 * @tuning: costs of its vGPU
 * @scans: scans since that burst began
 *
 * Return: true if the optimum would end protected after another scan, whatever follows.
 */
bool ghyvi_account_protects(const struct ghyvi_page_account *account,
			    const struct ghyvi_shadow_tuning *tuning, u32 scans);

/* All policies, in the order in which sysfs lists them. */
extern const struct ghyvi_shadow_policy *const ghyvi_shadow_policies[];
extern const unsigned int ghyvi_shadow_policy_count;
extern const struct ghyvi_shadow_policy *const ghyvi_shadow_policy_default;

/**
 * ghyvi_shadow_policy_find() - Find a policy by its name.
 * @name: the name
 *
 * Context: Any context.
 * Return: the policy, or NULL if there is none of that name.
 */
const struct ghyvi_shadow_policy *ghyvi_shadow_policy_find(const char *name);

#endif
