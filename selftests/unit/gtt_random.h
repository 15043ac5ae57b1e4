/* SPDX-License-Identifier: GPL-2.0-only */
/* The choices of gtt_moves.h are pseudo-random: a seed always gives the same moves. */
#ifndef GTT_RANDOM_H
#define GTT_RANDOM_H

#include "gtt_moves.h"

/*
 * For each seed from 1 to @seeds: create the fakes, let the guest edit its tables 40 times, call
 * @play, destroy the fakes. With an odd seed a page may be a table of any level. @play may set
 * fake.race. If the environment has SEED, only that seed is played; SEED_VERBOSE prints each seed.
 */
void play_seeds(u64 seeds, void (*play)(u64 seed));

#endif
