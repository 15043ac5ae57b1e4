/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table from the numbers of pages and roots in a trace to array indices, with open
 * addressing. At most half of the slots are used.
 */
#ifndef GHYVI_SIM_INDEX_H
#define GHYVI_SIM_INDEX_H

#include <stdint.h>

#define INDEX_NONE (~0u)

struct index_slot {
	uint64_t number;
	uint32_t place; /* INDEX_NONE: the slot is empty */
};

/* An index of all zeroes is empty. */
struct index {
	struct index_slot *slots;
	uint32_t room, used;
};

/* Returns the place of @number, or INDEX_NONE. */
uint32_t index_find(const struct index *index, uint64_t number);
/* Adds @number, which must not be in the index, with @place. Returns 0, or -1 if out of memory. */
int index_add(struct index *index, uint64_t number, uint32_t place);
/* Removes all numbers; keeps the memory. */
void index_clear(struct index *index);
void index_free(struct index *index);

#endif
