// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sync of a table page, traps, and what a policy makes of them. The states of a page are those
 * of gtt/protect.c.
 */
#include <linux/compiler.h>

#include <trace/events/ghyvi.h>

#include "../gtt/tables.h"
#include "../gtt/trees.h"
#include "shadow.h"

/* Number of syncs that have reached the page so far. */
static u32 table_now(struct ghyvi_gtt *gtt, const struct ghyvi_table_page *table)
{
	return table->tree->synced + gtt->flushes;
}

void ghyvi_table_relax(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_mark_relaxed(gtt, table);
	ghyvi_count(gtt->params.stats, relaxes);
	trace_oos_change(gtt->params.reporter, "relax", table->gfn);
}

/* A burst of the page began with a trap. The pages after it may be written next. */
static void expect_neighbours(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	unsigned int start = table->history.start, distance;

	for (distance = 1; distance <= GHYVI_AHEAD_PAGES; distance++) {
		table = ghyvi_table_neighbour(gtt, table, 1);
		if (!table)
			return;
		if (table->protected && table->history.leaf)
			ghyvi_history_expect(&table->history, ghyvi_table_experience(gtt, table),
					     &gtt->tuning, table_now(gtt, table), start, distance);
	}
}

static bool entry_differs(const u64 *guest, const u64 *snapshot)
{
	return READ_ONCE(*guest) != *snapshot;
}

/* Unrolled by hand, because most lines are equal and a loop doubles the cost of comparing them. */
static bool line_differs(const u64 *guest, const u64 *snapshot)
{
	return entry_differs(guest, snapshot) || entry_differs(guest + 1, snapshot + 1) ||
	       entry_differs(guest + 2, snapshot + 2) || entry_differs(guest + 3, snapshot + 3) ||
	       entry_differs(guest + 4, snapshot + 4) || entry_differs(guest + 5, snapshot + 5) ||
	       entry_differs(guest + 6, snapshot + 6) || entry_differs(guest + 7, snapshot + 7);
}

/* Returns the end of the lines from @at on that differ, at most one update. */
static unsigned int lines_end(const struct ghyvi_table_page *table, unsigned int at)
{
	unsigned int end = min(at + GHYVI_PTES_PER_UPDATE, GHYVI_ENTRIES);

	while (at < end && line_differs(table->guest + at, table->snapshot + at))
		at += GHYVI_PTES_PER_LINE;
	return at;
}

/*
 * Retry deferred entries within the limits of GHYVI_RETRY_UNBACKED and GHYVI_RETRY_NOMEM. Entries
 * that the guest has changed are translated with their line instead.
 */
static void try_again(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int *first,
		      unsigned int *last)
{
	bool all = table->deferred.generation != gtt->deferral.generation;
	u32 *left = all ? &gtt->deferral.unbacked_left : &gtt->deferral.nomem_left;
	unsigned int i;

	if (all ? !gtt->deferral.unbacked_left : !table->deferred.nomem)
		return;
	table->deferred.generation = gtt->deferral.generation;
	table->deferred.nomem = false;
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!ghyvi_table_entry_deferred(table, i) ||
		    (!all && ghyvi_table_entry_unbacked(table, i)))
			continue;
		/* The guest may restore a changed entry before its line is compared: keep it. */
		if (READ_ONCE(table->guest[i]) != table->snapshot[i] || (!all && !*left)) {
			ghyvi_table_set_nomem(table, i);
			continue;
		}
		ghyvi_table_retry_entry(gtt, table, i);
		*first = min(*first, i);
		*last = i;
		if (ghyvi_table_entry_deferred(table, i) && *left)
			--*left;
	}
}

static bool any_waits(const struct ghyvi_table_page *table)
{
	unsigned int i;
	u64 any = 0;

	for (i = 0; i < GHYVI_ENTRIES / 64; i++)
		any |= table->deferred.entries[i];
	return any;
}

unsigned int ghyvi_table_sync(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	unsigned int at, end, changed = 0, first = GHYVI_ENTRIES, last = 0;

	if (table->deferred.retry)
		try_again(gtt, table, &first, &last);
	for (at = 0; at < GHYVI_ENTRIES; at = end) {
		end = lines_end(table, at);
		if (end == at) {
			end += GHYVI_PTES_PER_LINE;
			continue;
		}
		changed += ghyvi_table_update(gtt, table, at, table->guest + at, end - at);
		first = min(first, at);
		last = max(last, end - 1);
	}
	table->compared = gtt->syncs;
	if (table->deferred.retry)
		table->deferred.retry = any_waits(table);
	if (first <= last && ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, first, last);
	ghyvi_count(gtt->params.stats, reconstructions);
	ghyvi_count_add(gtt->params.stats, entries_compared, GHYVI_ENTRIES);
	ghyvi_count_add(gtt->params.stats, entries_changed, changed);
	if (table->history.leaf)
		ghyvi_history_scan(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, table_now(gtt, table), changed, table->protected);
	trace_oos_sync(gtt->params.reporter, gtt->policy->name, table->gfn, GHYVI_ENTRIES, changed);
	return changed;
}

void ghyvi_table_forget(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	if (table->history.leaf)
		ghyvi_history_free(&table->history, ghyvi_table_experience(gtt, table),
				   &gtt->tuning, table_now(gtt, table));
}

static void relax_ahead(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table)
{
	struct ghyvi_shadow_view page = ghyvi_table_view(gtt, table);
	unsigned int left = gtt->policy->ahead ? gtt->policy->ahead(&page) : 0;

	for (; left; left--) {
		table = ghyvi_table_neighbour(gtt, table, 1);
		if (!table)
			return;
		if (!table->protected || !table->history.leaf)
			continue;
		ghyvi_history_ahead(&table->history);
		ghyvi_table_relax(gtt, table);
	}
}

void ghyvi_table_stored(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int first,
			unsigned int last)
{
	unsigned int at, count, changed = 0;

	for (at = first; at <= last; at += count) {
		count = min(last - at + 1, GHYVI_PTES_PER_UPDATE);
		changed += ghyvi_table_update(gtt, table, at, table->guest + at, count);
	}
	if (changed && ghyvi_table_is_ggtt(table))
		ghyvi_ggtt_publish(gtt, table, first, last);
}

/* Handle a trapped store: translate the entries that it touched, then apply the policy. */
static void table_trap(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int offset,
		       unsigned int bytes)
{
	unsigned int first = offset / 8, last = (offset + bytes - 1) / 8;
	struct ghyvi_shadow_view page;

	ghyvi_table_stored(gtt, table, first, last);
	/* Only leaf pages are relaxed, so only their stores are recorded. */
	if (!table->history.leaf)
		return;
	if (ghyvi_history_trap(&table->history, ghyvi_table_experience(gtt, table), &gtt->tuning,
			       table_now(gtt, table), first * GHYVI_BURST_STARTS / GHYVI_ENTRIES) &&
	    gtt->policy->ahead)
		expect_neighbours(gtt, table);
	page = ghyvi_table_view(gtt, table);
	if (!table->protected || !gtt->policy->relax(&page))
		return;
	ghyvi_table_relax(gtt, table);
	ghyvi_history_relaxed(&table->history, ghyvi_table_experience(gtt, table));
	relax_ahead(gtt, table);
}

static struct ghyvi_table_page *table_by_gfn(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_table_page *table = xa_load(&gtt->tables, gfn);

	return table ? table : ghyvi_ggtt_table_by_gfn(gtt, gfn);
}

void ghyvi_gtt_trap(struct ghyvi_gtt *gtt, u64 gpa, unsigned int bytes)
{
	struct ghyvi_table_page *table;
	unsigned int offset, part;

	trace_ghyvi_trap(gtt->params.reporter, READ_ONCE(gtt->policy)->name, gpa, bytes);
	ghyvi_count(gtt->params.stats, table_write_traps);
	ghyvi_count_add(gtt->params.stats, table_writes_bytes, bytes);
	mutex_lock(&gtt->lock);
	/* The store trapped before the policy changed. Pages that are still shadowed are listed. */
	if (gtt->policy->nested)
		goto out;
	ghyvi_cost_trapped(gtt, gpa);
	for (; bytes; gpa += part, bytes -= part) {
		offset = gpa % GHYVI_PAGE_BYTES;
		part = min(bytes, GHYVI_PAGE_BYTES - offset);
		table = table_by_gfn(gtt, gpa >> GHYVI_PAGE_SHIFT);
		if (table)
			table_trap(gtt, table, offset, part);
	}
out:
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_protection_lost(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_table_page *table;
	unsigned long at;
	u32 i;

	mutex_lock(&gtt->lock);
	xa_for_each_range(&gtt->tables, at, table, gfn, gfn + count - 1) {
		ghyvi_table_unprotect(gtt, table);
		ghyvi_table_mark_relaxed(gtt, table);
	}
	for (i = 0; i < gtt->nr_ggtt_tables; i++) {
		table = gtt->ggtt_tables[i];
		if (!table || table->gfn == GHYVI_INVALID_GFN || table->gfn < gfn ||
		    table->gfn - gfn >= count)
			continue;
		ghyvi_ggtt_relax(gtt, table);
	}
	ghyvi_gtt_unlock(gtt);
}
