/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_REPORT_H
#define GHYVICTL_REPORT_H

#include "ctl.h"

/*
 * Rounds are the objects that `stat --seconds --json` prints. A round counts if it has interval_s.
 * A vGPU in it counts if it has uuid, policy, counters and rates_per_s. Unknown keys, and missing
 * ones, are not errors.
 */

/*
 * The sum of the counters of a vGPU whose name is @name or, if @name ends with "*", has the prefix
 * before it.
 */
double sum_of(json_t *counters, const char *name);

struct chart {
	const char *title;
	const char *unit;
	const char *counter; /* argument of sum_of() */
	double scale;
};

/* The last entry has no title. */
extern const struct chart report_charts[];

/*
 * Draws the charts as SVG. Returns an array in the order of report_charts, with NULL at its end;
 * the caller frees the strings and the array. On failure prints a message and returns NULL.
 */
char **report_draw(json_t *rounds);

struct page {
	json_t *rounds;
	char **drawings;
};

/* Writes @page, a struct page; a callback of replace_file(). */
int report_put(void *page, FILE *out);

#endif
