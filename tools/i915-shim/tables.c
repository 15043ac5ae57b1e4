// SPDX-License-Identifier: GPL-2.0-only
/* Identifiers of handles, as the kernel's: the lowest free one from 1 on. */
#include <errno.h>
#include <stdlib.h>
#include "shim.h"

int table_add(struct table *table, void *what)
{
	unsigned int id, size;
	void **slots;

	for (id = 1; id < table->size && table->slots[id]; id++)
		;
	if (id >= table->size) {
		size = table->size ? 2 * table->size : 64;
		slots = reallocarray(table->slots, size, sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		for (unsigned int i = table->size; i < size; i++)
			slots[i] = NULL;
		table->slots = slots;
		table->size = size;
		id = id ?: 1;
	}
	table->slots[id] = what;
	return (int)id;
}

void *table_get(const struct table *table, uint32_t id)
{
	return id && id < table->size ? table->slots[id] : NULL;
}

void *table_remove(struct table *table, uint32_t id)
{
	void *what = table_get(table, id);

	if (what)
		table->slots[id] = NULL;
	return what;
}
