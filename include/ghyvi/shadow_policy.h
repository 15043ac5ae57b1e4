/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seam 3a: shadowing policies. Decisions only, no mechanism: a policy is one file in kernel/shadow/ with
 * one table, listed in policies.c. The module, the simulator and the tests run the same code.
 *
 * Costs: with n stores to a table page between two submissions, a protected page costs n traps; a relaxed one costs
 * one scan at each submission that can reach it, and one protection if it is taken back.
 *
 * Words: the stores to a page between two synchronisations that reach it are a burst. From one burst of a page to the
 * next is a gap. Neighbours in the address space that have a burst at the same time are a run.
 */
#ifndef GHYVI_SHADOW_POLICY_H
#define GHYVI_SHADOW_POLICY_H

#include <ghyvi/shadow_experience.h>
#include <ghyvi/types.h>

#define GHYVI_RANK_UNKNOWN (~0u)
#define GHYVI_RANK_INTERVAL 256u /* synchronisations between two rankings */
#define GHYVI_STATIC_PAGES_MAX 65536u
#define GHYVI_OOS_THRESHOLD_MAX 65535u
#define GHYVI_IDLE_PINS_MAX (1u << 24)
#define GHYVI_TABLES_MIN 256u
#define GHYVI_TABLES_MAX (1u << 20)

/**
 * struct ghyvi_page_history - what a policy may know of a table page; kept by the functions below
 * @heat: stores seen ever: trapped ones, and entries that scans found changed
 * @rank: place among all table pages by @heat, 0 the hottest; GHYVI_RANK_UNKNOWN before the first ranking
 * @leaf: holds translations of data pages only (no other page can be relaxed)
 * @known: had a burst; else nothing below means anything but @writes and @scans, which are 0 or count from the start
 * @burst_at: synchronisations that had reached the page when its last burst came
 * @writes: stores of that burst that trapped; 0 after a scan
 * @scans: scans since that burst began, the one that compared it included; 0 while the page was not relaxed since
 * @gap_context: how long the gap before that burst was, GHYVI_GAP_UNKNOWN before the second burst
 * @start: place of the first store that trapped, in parts of the page
 * @in_run: it belongs to a run, as page number @run_index, and the run's first page has @run_start as its @start
 * @waited: taken back since that burst after scans in vain, which the experience counts as a long gap meanwhile
 * @ahead: relaxed by a trap of a neighbour, and not scanned since
 */
struct ghyvi_page_history {
	u64 heat;
	u32 rank;
	u32 burst_at;
	u32 writes;
	u32 scans;
	u8 gap_context;
	u8 start;
	u8 run_index;
	u8 run_start;
	bool leaf;
	bool known;
	bool in_run;
	bool waited;
	bool ahead;
};

/**
 * struct ghyvi_shadow_tuning - what decisions depend on besides pages; one per vGPU
 * @trap_ns: cost of one trapped store; @scan_ns: of comparing one page; @protect_ns: of write-protecting one page
 *	(and of the fault by which a lifted protection takes effect). Measured by the module, given to the simulator.
 * @static_pages: pages that `static` keeps relaxed, 0..65536, default 200
 * @oos_threshold: trapped store, counted from the last synchronisation on, at which `oos` relaxes; 1..65535, default 2
 * @idle_pins: guest pages kept pinned although no entry names them any more, since drivers unbind and bind the same
 *	pages again and pinning is dear; 0..16777216, default 262144 (1 GiB). Fewer when pinning fails.
 * @tables_max: guest table pages (PPGTT) shadowed at a time; 256..1048576, default 16384, which map 32 GiB. Each costs the
 *	host up to three pages (its snapshot, a shadow, bookkeeping): 192 MiB, charged to the memory cgroup of the thread
 *	that shadows it.
 */
struct ghyvi_shadow_tuning {
	u32 trap_ns;
	u32 scan_ns;
	u32 protect_ns;
	u32 static_pages;
	u32 oos_threshold;
	u32 idle_pins;
	u32 tables_max;
};

#define GHYVI_SHADOW_TUNING_DEFAULT \
	{ .trap_ns = 40000, .scan_ns = 1000, .protect_ns = 20000, .static_pages = 200, .oos_threshold = 2, \
	  .idle_pins = 262144, .tables_max = 16384 }

/**
 * ghyvi_gap_rental() - a relaxed page pays scans, or it is protected and relaxed again by a trap. A page whose burst a scan
 * found is scanned once more to be taken back.
 */
static inline struct ghyvi_rent_or_buy ghyvi_gap_rental(const struct ghyvi_shadow_tuning *tuning)
{
	return (struct ghyvi_rent_or_buy){ tuning->scan_ns, (u64)tuning->protect_ns + tuning->trap_ns,
				      tuning->scan_ns };
}

/** ghyvi_burst_rental() - a protected page pays traps, or it is let go, scanned and protected again. */
static inline struct ghyvi_rent_or_buy ghyvi_burst_rental(const struct ghyvi_shadow_tuning *tuning)
{
	return (struct ghyvi_rent_or_buy){ tuning->trap_ns, (u64)tuning->scan_ns + tuning->protect_ns, 0 };
}

/** struct ghyvi_shadow_view - all that a decision may look at */
struct ghyvi_shadow_view {
	const struct ghyvi_page_history *history;
	const struct ghyvi_shadow_tuning *tuning;
	const struct ghyvi_experience *experience;
};

struct ghyvi_shadow_policy {
	const char *name;
	bool nested; /* no shadows at all; the pGPU walks the guest's tables, and nothing is decided */
	bool ranked; /* looks at history->rank */
	/** @relax_new: start a leaf page relaxed when it is first shadowed or the policy is switched to? */
	bool (*relax_new)(const struct ghyvi_shadow_view *page);
	/** @relax: after a trapped store: let the page go? */
	bool (*relax)(const struct ghyvi_shadow_view *page);
	/** @ahead: the page is let go: how many of the neighbours after it with it? NULL: none, ever. */
	unsigned int (*ahead)(const struct ghyvi_shadow_view *page);
	/** @protect: at a synchronisation point: take a relaxed page back? Called before the page's last scan. */
	bool (*protect)(const struct ghyvi_shadow_view *page);
};

/*
 * What happens to pages. @now counts the synchronisations that reached the page before this one or, for a trap, so far.
 * @start: where in the page the store was, 0..GHYVI_BURST_STARTS - 1. Both return whether a burst began; then the page's
 * neighbours are to be told, with ghyvi_history_run().
 */
bool ghyvi_history_trap(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, unsigned int start);
/** ghyvi_history_scan() - compared, @changed entries found; @taken_back: protected before. */
bool ghyvi_history_scan(struct ghyvi_page_history *history, struct ghyvi_experience *experience,
			const struct ghyvi_shadow_tuning *tuning, u32 now, u32 changed, bool taken_back);
/**
 * ghyvi_history_run() - a burst of @history began; @before is the page before it in the address space, or NULL.
 * Returns whether it belongs to a run now and did not before; then the page after it may, too.
 */
bool ghyvi_history_run(const struct ghyvi_page_history *before, struct ghyvi_page_history *history,
		       struct ghyvi_experience *experience);

extern const struct ghyvi_shadow_policy *const ghyvi_shadow_policies[];
extern const unsigned int ghyvi_shadow_policy_count;
extern const struct ghyvi_shadow_policy *const ghyvi_shadow_policy_default;

/** ghyvi_shadow_policy_find() - by name; NULL if there is none. */
const struct ghyvi_shadow_policy *ghyvi_shadow_policy_find(const char *name);

#endif
