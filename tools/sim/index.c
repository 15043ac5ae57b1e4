// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "index.h"

#define ROOM_FIRST 1024u /* a power of two */

/*
 * Returns the slot of @number, or the empty slot for it. Neighbouring pages have consecutive
 * numbers; the high bits of the product distribute them.
 */
static struct index_slot *slot_of(const struct index *index, uint64_t number)
{
	uint32_t at = (number * 0x9e3779b97f4a7c15ull) >> 32 & (index->room - 1);

	while (index->slots[at].place != INDEX_NONE && index->slots[at].number != number)
		at = (at + 1) & (index->room - 1);
	return &index->slots[at];
}

uint32_t index_find(const struct index *index, uint64_t number)
{
	return index->room ? slot_of(index, number)->place : INDEX_NONE;
}

static int index_grow(struct index *index)
{
	struct index bigger = { .room = index->room ? index->room * 2 : ROOM_FIRST,
				.used = index->used };
	uint32_t i;

	bigger.slots = malloc(bigger.room * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	memset(bigger.slots, 0xff, bigger.room * sizeof(*bigger.slots));
	for (i = 0; i < index->room; i++)
		if (index->slots[i].place != INDEX_NONE)
			*slot_of(&bigger, index->slots[i].number) = index->slots[i];
	free(index->slots);
	*index = bigger;
	return 0;
}

int index_add(struct index *index, uint64_t number, uint32_t place)
{
	if (index->used * 2 >= index->room && index_grow(index))
		return -1;
	*slot_of(index, number) = (struct index_slot){ number, place };
	index->used++;
	return 0;
}

void index_clear(struct index *index)
{
	if (index->room)
		memset(index->slots, 0xff, index->room * sizeof(*index->slots));
	index->used = 0;
}

void index_free(struct index *index)
{
	free(index->slots);
	*index = (struct index){ 0 };
}
