/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The best waiting limit in hindsight: what a policy costs that knows nothing of a gap but how long
 * it has lasted, and that was given the limit that suits the trace and the costs best.
 *
 * A trap relaxes the page. The scan of a submission protects it if @limit scans before it have
 * found no store since the last one. The limit is the same for all pages and all of the trace.
 * Pages that are linked start relaxed, or all of them protected, whichever is cheaper; pages that
 * existed before the trace start protected. With the limit 0 this is segmented.
 */
#ifndef GHYVI_SIM_LIMITS_H
#define GHYVI_SIM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* The limits are 0, 1, 2, 4 and so on, and at last none. */
#define LIMITS 20
#define LIMIT_NONE UINT64_MAX

static inline uint64_t limit_at(unsigned int index)
{
	if (index == LIMITS - 1)
		return LIMIT_NONE;
	return index ? 1ull << (index - 1) : 0;
}

struct limit_counts {
	uint64_t traps, scans, protects;
};

/* struct limit_totals - of all pages, by whether linked pages start relaxed, and by limit */
struct limit_totals {
	struct limit_counts counts[2][LIMITS];
};

/* struct limit_page - number of clean scans since the last store, or that the page is protected */
struct limit_page {
	uint32_t clean[2][LIMITS];
};

#define LIMIT_PROTECTED UINT32_MAX
#define LIMIT_CLEAN_MAX (LIMIT_PROTECTED - 1) /* above all limits but the last */

static inline void limit_start(struct limit_page *page, bool linked)
{
	unsigned int relaxed, i;

	for (relaxed = 0; relaxed < 2; relaxed++)
		for (i = 0; i < LIMITS; i++)
			page->clean[relaxed][i] = relaxed && linked ? 0 : LIMIT_PROTECTED;
}

static inline void limit_store(struct limit_page *page, struct limit_totals *totals)
{
	unsigned int relaxed, i;

	for (relaxed = 0; relaxed < 2; relaxed++) {
		for (i = 0; i < LIMITS; i++) {
			totals->counts[relaxed][i].traps += page->clean[relaxed][i] ==
							    LIMIT_PROTECTED;
			page->clean[relaxed][i] = 0;
		}
	}
}

/* @count consecutive submissions that reach the page */
static inline void limit_submissions(struct limit_page *page, struct limit_totals *totals,
				     uint64_t count)
{
	unsigned int relaxed, i;

	for (relaxed = 0; relaxed < 2; relaxed++) {
		for (i = 0; i < LIMITS; i++) {
			struct limit_counts *counts = &totals->counts[relaxed][i];
			uint32_t *clean = &page->clean[relaxed][i];
			uint64_t limit = limit_at(i);

			if (*clean == LIMIT_PROTECTED || !count)
				continue;
			if (limit != LIMIT_NONE && *clean + count > limit) {
				counts->scans += limit + 1 - *clean;
				counts->protects++;
				*clean = LIMIT_PROTECTED;
				continue;
			}
			counts->scans += count;
			*clean = *clean + count < LIMIT_CLEAN_MAX ? *clean + count :
								    LIMIT_CLEAN_MAX;
		}
	}
}

#endif
