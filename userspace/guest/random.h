/* SPDX-License-Identifier: GPL-2.0-only */
/* Pseudo-random numbers (xorshift64*); a seed gives the same sequence on every machine. */
#ifndef GUEST_RANDOM_H
#define GUEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_next(struct random *r);
/* Returns a number from @low to @high, both inclusive. */
unsigned int random_range(struct random *r, unsigned int low, unsigned int high);
void random_fill(struct random *r, void *buffer, size_t bytes);

#endif
