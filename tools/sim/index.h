/* SPDX-License-Identifier: GPL-2.0-only */
/* From the numbers that a trace gives to pages and roots to places in arrays: open addressing, at most half full. */
#ifndef GHYVI_SIM_INDEX_H
#define GHYVI_SIM_INDEX_H

#include <stdint.h>

#define INDEX_NONE (~0u)

struct index_slot {
	uint64_t number;
	uint32_t place; /* INDEX_NONE: the slot is empty */
};

/** struct index - all zeroes: nothing in it */
struct index {
	struct index_slot *slots;
	uint32_t room, used;
};

/** index_find() - the place of @number, or INDEX_NONE */
uint32_t index_find(const struct index *index, uint64_t number);
/** index_add() - @number, which is not there yet, has @place. Returns 0, or -1: out of memory. */
int index_add(struct index *index, uint64_t number, uint32_t place);
/** index_clear() - nothing is in it any more; the memory stays. */
void index_clear(struct index *index);
void index_free(struct index *index);

#endif
