// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and descriptions of the counters, from the list that also defines the kernel's sysfs files.
 * In a file of its own because struct ghyvi_stats of that header is the kernel's, not the
 * library's.
 */
#include <ghyvi/stats.h>
#include "known_stats.h"

#define KNOWN_STAT(name, what) { #name, what },
const struct known_stat known_stats[] = { GHYVI_STATS(KNOWN_STAT) };

const size_t known_stats_count = sizeof(known_stats) / sizeof(known_stats[0]);
