/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_KNOWN_STATS_H
#define GHYVI_KNOWN_STATS_H

#include <stddef.h>

/* The kernel's list of counters as of the build of this library, in the kernel's order. */
struct known_stat {
	const char *name;
	const char *what;
};

extern const struct known_stat known_stats[];
extern const size_t known_stats_count;

#endif
