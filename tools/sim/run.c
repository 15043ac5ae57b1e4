// SPDX-License-Identifier: GPL-2.0-only
/*
 * One policy over the trace, as the module would do it (kernel/shadow/track.c, sync.c): a submission first asks which
 * relaxed pages to take back, then scans all relaxed pages it can reach: a page that is taken back is scanned once
 * more. Stores that trap update the snapshot, so scans find only the entries that were stored to while the page was relaxed.
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

u32 *page_slot(struct simulation *sim, u64 number)
{
	u32 slot = (number * 0x9e3779b97f4a7c15ull) >> 32 & sim->index_mask;

	while (sim->index[slot] != NONE && sim->pages[sim->index[slot]].number != number)
		slot = (slot + 1) & sim->index_mask;
	return &sim->index[slot];
}

/* Submissions that reached the page so far. */
static u64 reached(const struct simulation *sim, u32 at)
{
	u32 root = sim->pages[at].root;

	return root == EVERY_ROOT ? sim->counts->submissions : sim->roots[root].submissions;
}

/* The page @by places on in the address space, or NONE. */
static u32 neighbour(struct simulation *sim, u32 at, s64 by)
{
	return at == NONE ? NONE : *page_slot(sim, sim->pages[at].number + by);
}

static struct ghyvi_shadow_view view(const struct simulation *sim, const struct run *run, u32 at)
{
	return (struct ghyvi_shadow_view){ &run->pages[at].history, sim->tuning, &run->experience };
}

static void run_relax(struct run *run, u32 at)
{
	run->pages[at].relaxed_at = run->relaxed_count;
	run->relaxed[run->relaxed_count++] = at;
}

void run_take_back(struct run *run, u32 at)
{
	u32 place = run->pages[at].relaxed_at, last;

	if (place == NONE)
		return;
	last = run->relaxed[--run->relaxed_count];
	run->relaxed[place] = last;
	run->pages[last].relaxed_at = place;
	run->pages[at].relaxed_at = NONE;
}

void run_new_page(struct simulation *sim, struct run *run, u32 at, bool linked_now)
{
	struct ghyvi_shadow_view seen = view(sim, run, at);
	struct page *page = &run->pages[at];
	bool starts_relaxed;

	memset(page, 0, sizeof(*page));
	page->relaxed_at = NONE;
	page->history.leaf = true;
	page->history.rank = run->policy->ranked ? sim->pages[at].rank : GHYVI_RANK_UNKNOWN;
	starts_relaxed = run->policy->relax_new(&seen);
	/* A policy that would take the page back at once, or learn to, starts from a protected page. */
	if (!linked_now && run->policy != ghyvi_shadow_policy_find("full") && !run->policy->ranked)
		starts_relaxed = false;
	if (starts_relaxed)
		run_relax(run, at);
}

/* A burst of the page began: it may continue a run of its neighbours', or join two. */
static void run_burst(struct simulation *sim, struct run *run, u32 at)
{
	u32 before = neighbour(sim, at, -1);

	while (at != NONE && ghyvi_history_run(before == NONE ? NULL : &run->pages[before].history,
					       &run->pages[at].history, &run->experience)) {
		before = at;
		at = neighbour(sim, at, 1);
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
		if (run->pages[at].relaxed_at != NONE || sim->pages[at].freed)
			continue;
		run->pages[at].history.ahead = true;
		run_relax(run, at);
	}
}

static void run_trap(struct simulation *sim, struct run *run, u32 at, u32 entry)
{
	struct ghyvi_shadow_view seen = view(sim, run, at);

	run->counts->traps++;
	if (ghyvi_history_trap(&run->pages[at].history, &run->experience, sim->tuning, reached(sim, at),
			       entry * GHYVI_BURST_STARTS / sim->entries))
		run_burst(sim, run, at);
	if (!run->policy->relax(&seen))
		return;
	run_relax(run, at);
	run_relax_ahead(sim, run, at);
}

void run_store(struct simulation *sim, struct run *run, u32 at, u32 entry, u32 count, bool wide)
{
	struct page *page = &run->pages[at];

	while (count && page->relaxed_at == NONE) {
		run_trap(sim, run, at, entry);
		if (wide)
			return;
		entry++;
		count--;
	}
	written_set(&page->written, entry, count);
}

static bool reaches(const struct simulation *sim, u32 at, u32 root)
{
	return sim->pages[at].root == EVERY_ROOT || sim->pages[at].root == root;
}

void run_submission(struct simulation *sim, struct run *run, u32 root)
{
	u32 i, at, kept = 0, count = run->relaxed_count;
	struct ghyvi_shadow_view seen;
	struct page *page;

	for (i = 0; i < count; i++) {
		seen = view(sim, run, run->relaxed[i]);
		run->pages[run->relaxed[i]].taken_back = reaches(sim, run->relaxed[i], root) &&
							 run->policy->protect(&seen);
	}
	for (i = 0; i < count; i++) {
		at = run->relaxed[i];
		page = &run->pages[at];
		page->relaxed_at = page->taken_back ? NONE : kept;
		if (!page->taken_back)
			run->relaxed[kept++] = at;
		run->counts->protects += page->taken_back;
		if (!reaches(sim, at, root))
			continue;
		run->counts->pages_scanned++;
		run->counts->entries_found += page->written.count;
		if (ghyvi_history_scan(&page->history, &run->experience, sim->tuning, reached(sim, at),
				       page->written.count, page->taken_back))
			run_burst(sim, run, at);
		written_clear(&page->written);
	}
	run->relaxed_count = kept;
}
