/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_REPORT_H
#define GHYVICTL_REPORT_H

#include "ctl.h"

/*
 * Rounds are what `stat --seconds --json` prints, one object each. A round counts if it has interval_s, and a vGPU in it if
 * it has uuid, policy, counters and rates_per_s; whatever else is there, or is not, is no error.
 */

/* The sum over a vGPU's counters whose name is @name or, with a "*" at its end, begins so. */
double sum_of(json_t *counters, const char *name);

struct chart {
	const char *title;
	const char *unit;
	const char *counter; /* as sum_of() */
	double scale;
};

/* Ends with one without a title. */
extern const struct chart report_charts[];

/* The charts as SVG, in their order, and NULL at the end. The caller frees them and the array. NULL: it complained. */
char **report_draw(json_t *rounds);

struct page {
	json_t *rounds;
	char **drawings;
};

/* Writes a struct page; for replace_file(). */
int report_put(void *page, FILE *out);

#endif
