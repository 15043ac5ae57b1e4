// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays the trace under one policy, like the module (kernel/gtt/sync.c, spt.c). A submission
 * first asks the policy which relaxed pages to protect, then scans all relaxed pages that it can
 * reach, including those that become protected. Trapped stores update the snapshot, so a scan finds
 * only the entries that were written while the page was relaxed.
 */
#include <string.h>

#include "replay.h"

void written_set(struct written *written, u32 entry, u32 count)
{
	u64 bit;

	for (; count; entry++, count--) {
		bit = 1ull << entry % 64;
		written->count += !(written->bits[entry / 64] & bit);
		written->bits[entry / 64] |= bit;
	}
}

void written_clear(struct written *written)
{
	if (written->count)
		memset(written, 0, sizeof(*written));
}

/*
 * Returns the page at distance @by in the address space, or NONE. As in the module, both pages must
 * be linked in the same page directory, if the page number contains the directory.
 */
static u32 neighbour(struct simulation *sim, u32 at, s64 by)
{
	const struct guest_page *page = &sim->pages[at], *other;
	u64 number = page->number + by;
	u32 found;

	if (page->number & TRACE_PAGE_PLACED &&
	    number / TRACE_PLACES != page->number / TRACE_PLACES)
		return NONE;
	found = index_find(&sim->page_index, number);
	if (found == NONE)
		return NONE;
	other = &sim->pages[found];
	/* Pages of different roots are in different address spaces. */
	if (!other->there ||
	    (other->root != page->root && other->root != EVERY_ROOT && page->root != EVERY_ROOT))
		return NONE;
	return found;
}

/*
 * In recorded traces the pages of the GGTT are those that are known by their gfn; pages that exist
 * from the start are of generated traces, which have no GGTT.
 */
static bool is_ggtt(const struct simulation *sim, u32 at)
{
	u64 number = sim->pages[at].number;

	return !(number & TRACE_PAGE_PLACED) && number >= sim->source->table_pages;
}

static struct ghyvi_experience *experience_of(const struct simulation *sim, struct run *run, u32 at)
{
	return is_ggtt(sim, at) ? &run->ggtt_experience : &run->experience;
}

static struct ghyvi_shadow_view view(const struct simulation *sim, struct run *run, u32 at)
{
	return (struct ghyvi_shadow_view){ &run->pages[at].history, sim->tuning,
					   experience_of(sim, run, at) };
}

static void queue_add(struct run *run, struct page_list *list, u32 at)
{
	struct page *page = &run->pages[at];

	page->next = NONE;
	page->before = list->last;
	if (list->last == NONE)
		list->first = at;
	else
		run->pages[list->last].next = at;
	list->last = at;
}

static void queue_del(struct run *run, struct page_list *list, u32 at)
{
	struct page *page = &run->pages[at];

	if (page->before == NONE)
		list->first = page->next;
	else
		run->pages[page->before].next = page->next;
	if (page->next == NONE)
		list->last = page->before;
	else
		run->pages[page->next].before = page->before;
}

/* Without write tracking, only pages of the GGTT can be protected. */
static bool can_protect(const struct simulation *sim, const struct run *run, u32 at)
{
	return run->policy->protect && (!run->policy->untracked || is_ggtt(sim, at));
}

/* Puts the relaxed page @at on the lists of @root. */
static void relaxed_add(struct run *run, u32 at, u32 root)
{
	struct relaxed_pages *relaxed = &run->relaxed[root];
	struct page *page = &run->pages[at];

	if (!page->stays) {
		queue_add(run, &relaxed->revocable, at);
		return;
	}
	relaxed->staying++;
	if (page->written.count)
		queue_add(run, &relaxed->written, at);
}

static void relaxed_del(struct run *run, u32 at, u32 root)
{
	struct relaxed_pages *relaxed = &run->relaxed[root];
	struct page *page = &run->pages[at];

	if (!page->stays) {
		queue_del(run, &relaxed->revocable, at);
		return;
	}
	relaxed->staying--;
	if (page->written.count)
		queue_del(run, &relaxed->written, at);
}

static void run_relax(struct simulation *sim, struct run *run, u32 at)
{
	run->pages[at].relaxed = true;
	run->pages[at].stays = !can_protect(sim, run, at);
	relaxed_add(run, at, sim->pages[at].root);
}

/* Relaxes a protected page. Where faults are the traps, the guest's mapping is back at once. */
static void run_relax_protected(struct simulation *sim, struct run *run, u32 at)
{
	run_relax(sim, run, at);
	run->pages[at].faults = !run->policy->untracked;
}

static void run_protect(struct simulation *sim, struct run *run, u32 at)
{
	run->pages[at].relaxed = false;
	relaxed_del(run, at, sim->pages[at].root);
}

void run_free_page(struct simulation *sim, struct run *run, u32 at)
{
	ghyvi_history_free(&run->pages[at].history, experience_of(sim, run, at), sim->tuning,
			   submissions_of(sim, at));
	if (run->pages[at].relaxed)
		run_protect(sim, run, at);
}

void run_change_root(struct simulation *sim, struct run *run, u32 at, u32 from, u32 to)
{
	struct page *page = &run->pages[at];

	if (page->relaxed) {
		relaxed_del(run, at, from);
		relaxed_add(run, at, to);
	}
	/* Convert to the count of the new root, so that the age of the burst does not change. */
	page->history.burst_at += sim->roots[to].submissions - sim->roots[from].submissions;
	page->history.expected_at += sim->roots[to].submissions - sim->roots[from].submissions;
}

void run_new_page(struct simulation *sim, struct run *run, u32 at, bool linked_now)
{
	struct ghyvi_shadow_view seen = view(sim, run, at);
	struct page *page = &run->pages[at];
	bool starts_relaxed;

	memset(page, 0, sizeof(*page));
	page->history.leaf = true;
	page->history.rank = run->policy->ranked ? sim->pages[at].rank : GHYVI_RANK_UNKNOWN;
	starts_relaxed = run->policy->relax_new(&seen);
	/*
	 * Policies that would soon protect the page, or learn to do so, start with a protected
	 * page.
	 */
	if (!linked_now && run->policy != ghyvi_shadow_policy_find("full") &&
	    !run->policy->ranked && !run->policy->untracked)
		starts_relaxed = false;
	if (starts_relaxed)
		run_relax(sim, run, at);
}

/* As expect_neighbours() of the module. */
static void run_expect(struct simulation *sim, struct run *run, u32 at)
{
	unsigned int start = run->pages[at].history.start, distance;
	struct page *page;

	for (distance = 1; distance <= GHYVI_AHEAD_PAGES; distance++) {
		at = neighbour(sim, at, 1);
		if (at == NONE)
			return;
		page = &run->pages[at];
		if (!page->relaxed)
			ghyvi_history_expect(&page->history, experience_of(sim, run, at),
					     sim->tuning, submissions_of(sim, at), start, distance);
	}
}

static void run_relax_ahead(struct simulation *sim, struct run *run, u32 at)
{
	struct ghyvi_shadow_view seen = view(sim, run, at);
	unsigned int left = run->policy->ahead ? run->policy->ahead(&seen) : 0;

	for (; left; left--) {
		at = neighbour(sim, at, 1);
		if (at == NONE)
			return;
		if (run->pages[at].relaxed)
			continue;
		ghyvi_history_ahead(&run->pages[at].history);
		run_relax_protected(sim, run, at);
	}
}

static void run_trap(struct simulation *sim, struct run *run, u32 at, u32 entry)
{
	struct ghyvi_shadow_view seen = view(sim, run, at);

	run->counts->traps++;
	if (ghyvi_history_trap(&run->pages[at].history, experience_of(sim, run, at), sim->tuning,
			       submissions_of(sim, at),
			       entry * GHYVI_BURST_STARTS / sim->entries) &&
	    run->policy->ahead)
		run_expect(sim, run, at);
	if (!run->policy->relax(&seen))
		return;
	run_relax_protected(sim, run, at);
	ghyvi_history_relaxed(&run->pages[at].history, experience_of(sim, run, at));
	run_relax_ahead(sim, run, at);
}

void run_store(struct simulation *sim, struct run *run, u32 at, u32 entry, u32 count, bool wide)
{
	struct page *page = &run->pages[at];

	while (count && !page->relaxed) {
		run_trap(sim, run, at, entry);
		if (wide)
			return;
		entry++;
		count--;
	}
	if (!count)
		return;
	run->counts->faults += page->faults;
	page->faults = false;
	if (page->stays && !page->written.count)
		queue_add(run, &run->relaxed[sim->pages[at].root].written, at);
	written_set(&page->written, entry, count);
}

static void decide_list(struct simulation *sim, struct run *run, u32 root)
{
	struct ghyvi_shadow_view seen;
	u32 at;

	for (at = run->relaxed[root].revocable.first; at != NONE; at = run->pages[at].next) {
		seen = view(sim, run, at);
		run->pages[at].taken_back = run->policy->protect(&seen);
	}
}

static void scan_staying(struct run *run, u32 root)
{
	struct relaxed_pages *relaxed = &run->relaxed[root];
	struct page *page;
	u32 at;

	run->counts->pages_scanned += relaxed->staying;
	for (at = relaxed->written.first; at != NONE; at = page->next) {
		page = &run->pages[at];
		run->counts->entries_found += page->written.count;
		written_clear(&page->written);
	}
	relaxed->written = (struct page_list){ NONE, NONE };
}

static void scan_revocable(struct simulation *sim, struct run *run, u32 root)
{
	struct page *page;
	u32 at, next;

	for (at = run->relaxed[root].revocable.first; at != NONE; at = next) {
		page = &run->pages[at];
		next = page->next;
		run->counts->pages_scanned++;
		run->counts->entries_found += page->written.count;
		run->counts->protects += page->taken_back;
		ghyvi_history_scan(&page->history, experience_of(sim, run, at), sim->tuning,
				   submissions_of(sim, at), page->written.count, page->taken_back);
		written_clear(&page->written);
		if (page->taken_back)
			run_protect(sim, run, at);
	}
}

static void scan_list(struct simulation *sim, struct run *run, u32 root)
{
	scan_staying(run, root);
	scan_revocable(sim, run, root);
}

/*
 * The same order as in the module: all decisions to protect precede all scans, and pages that all
 * roots reach come first.
 */
void run_submission(struct simulation *sim, struct run *run, u32 root)
{
	decide_list(sim, run, EVERY_ROOT);
	decide_list(sim, run, root);
	scan_list(sim, run, EVERY_ROOT);
	scan_list(sim, run, root);
}
