/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_RUNNER_H
#define HOSTILE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * struct run - parameters of a run
 * @seed: random seed; the same seed gives the same trials
 * @trials: number of trials of all chosen classes, distributed by their shares, but at least one
 * per class
 * @chosen: name of a class, or the beginning of names, or NULL for all
 * @skip: number of trials to skip at the beginning of each class; with a multiple of ROUND_TRIALS
 * the
 *	remaining trials are exactly the same
 * @json: file for the summary, or NULL
 */
struct run {
	uint64_t seed, trials, skip;
	const char *chosen;
	FILE *json;
};

/* After this number of trials a valid workload must succeed, and memory and tables are reset. */
#define ROUND_TRIALS 256u

/* Prints the names and descriptions of all classes. */
void run_list(void);
/*
 * Prints KTAP to standard output. Returns the number of classes that failed, or -1 if @run->chosen
 * matches no class.
 */
int run_attacks(const struct run *run);

#endif
