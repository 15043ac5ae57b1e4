// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters' names and meanings, from the list that the kernel makes its files from. Alone in a file: that
 * header's struct ghyvi_stats is the kernel's, not the library's.
 */
#include <ghyvi/stats.h>
#include "known_stats.h"

#define KNOWN_STAT(name, what) { #name, what },
const struct known_stat known_stats[] = { GHYVI_STATS(KNOWN_STAT) };

const size_t known_stats_count = sizeof(known_stats) / sizeof(known_stats[0]);
