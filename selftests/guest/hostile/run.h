/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_RUN_H
#define HOSTILE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct run
 * @seed: of everything random; the same seed gives the same trials
 * @trials: over all chosen classes, divided by their shares; each class gets at least one
 * @chosen: a class's name or the beginning of one, or NULL for all
 * @skip: trials to leave out at the beginning of each class; a multiple of ROUND_TRIALS repeats exactly
 * @json: where the summary goes, or NULL
 */
struct run {
	uint64_t seed, trials, skip;
	const char *chosen;
	FILE *json;
};

/* After so many trials, memory and tables begin anew, and honest work must succeed. */
#define ROUND_TRIALS 256u

/** run_list() - names and descriptions of all classes. */
void run_list(void);
/** run_attacks() - KTAP on standard output. Returns how many classes failed, or -1 if none is called so. */
int run_attacks(const struct run *run);

#endif
