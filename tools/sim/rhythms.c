// SPDX-License-Identifier: GPL-2.0-only
/* What the families of rhythms share: random numbers, address spaces and the list of records. */
#include <stdlib.h>
#include <string.h>

#include "rhythms.h"

#define ENTRIES 512u
#define ROOTS_APART (SPACE_TABLES / TRACE_PLACES)

static void emit(struct rhythm *r, struct trace_record record)
{
	struct trace_record *bigger;

	if (r->failed)
		return;
	if (r->count == r->room) {
		r->room = r->room ? r->room * 2 : 1024;
		bigger = realloc(r->records, r->room * sizeof(*bigger));
		if (!bigger) {
			r->failed = true;
			return;
		}
		r->records = bigger;
	}
	r->records[r->count++] = record;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t random_next(struct rhythm *r)
{
	uint64_t z = r->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t rhythm_any(struct rhythm *r, uint32_t low, uint32_t high)
{
	return low + (uint32_t)((random_next(r) >> 32) * (high - low + 1ull) >> 32);
}

static uint64_t table_number(const struct space *space, uint32_t table)
{
	return space->root ?
		       TRACE_PAGE_PLACED | (space->root * ROOTS_APART * TRACE_PLACES + table) :
		       table;
}

struct space *space_new(struct rhythm *r, uint64_t root, bool frees)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space) {
		r->failed = true;
		return NULL;
	}
	space->root = root;
	space->frees = frees;
	space->next = 1;
	return space;
}

static void table_free(struct rhythm *r, struct space *space, uint32_t table)
{
	space->linked[table] = false;
	emit(r,
	     (struct trace_record){ .type = TRACE_PAGE_FREED, .page = table_number(space, table) });
}

void space_end(struct rhythm *r, struct space *space)
{
	uint32_t table;

	for (table = 0; space && table < SPACE_TABLES; table++)
		if (space->linked[table])
			table_free(r, space, table);
	free(space);
}

static bool is_bound(const struct space *space, uint32_t at)
{
	return space->bound[at / 64] >> at % 64 & 1;
}

uint32_t space_hole(struct space *space, uint32_t pages, uint32_t limit)
{
	uint32_t at = space->next, length = 0, tried;

	for (tried = 0; tried < 2 * limit; tried++, at++) {
		if (at >= limit) {
			at = 1;
			length = 0;
		}
		length = is_bound(space, at) ? 0 : length + 1;
		if (length == pages) {
			space->next = at + 1;
			return at + 1 - pages;
		}
	}
	return 0;
}

/* Emits the stores to @pages entries, table page by table page. */
static void write_entries(struct rhythm *r, struct space *space, uint32_t at, uint32_t pages,
			  bool present)
{
	uint32_t table, count, i;

	for (; pages; at += count, pages -= count) {
		table = at / ENTRIES;
		count = ENTRIES - at % ENTRIES < pages ? ENTRIES - at % ENTRIES : pages;
		if (!space->linked[table] && space->root)
			emit(r, (struct trace_record){ .type = TRACE_PAGE_ROOT,
						       .page = table_number(space, table),
						       .root = space->root });
		space->linked[table] = space->root;
		emit(r, (struct trace_record){ .type = TRACE_STORES,
					       .page = table_number(space, table),
					       .entry = at % ENTRIES,
					       .count = count });
		for (i = at; i < at + count; i++) {
			space->used[table] += present - is_bound(space, i);
			space->bound[i / 64] &= ~(1ull << i % 64);
			space->bound[i / 64] |= (uint64_t)present << i % 64;
		}
		if (space->frees && space->root && !space->used[table])
			table_free(r, space, table);
	}
}

void space_bind(struct rhythm *r, struct space *space, uint32_t at, uint32_t pages)
{
	if (space)
		write_entries(r, space, at, pages, true);
}

void space_unbind(struct rhythm *r, struct space *space, uint32_t at, uint32_t pages)
{
	if (space)
		write_entries(r, space, at, pages, false);
}

void space_submit(struct rhythm *r, const struct space *space)
{
	emit(r, (struct trace_record){ .type = TRACE_SUBMISSION, .root = space ? space->root : 0 });
}

void object_bind(struct rhythm *r, struct space *space, struct object *object)
{
	if (!object->bound)
		space_bind(r, space, object->at, object->pages);
	object->bound = true;
}

void object_unbind(struct rhythm *r, struct space *space, struct object *object)
{
	if (object->bound)
		space_unbind(r, space, object->at, object->pages);
	object->bound = false;
}

static int rhythm_next(struct trace_source *source, struct trace_record *record)
{
	struct rhythm *r = (struct rhythm *)source;

	if (r->at == r->count)
		return 0;
	*record = r->records[r->at++];
	return 1;
}

static int rhythm_rewind(struct trace_source *source)
{
	((struct rhythm *)source)->at = 0;
	return 0;
}

static const struct rhythm_family *find_in(const struct rhythm_family *family, const char *name)
{
	for (; family->name; family++)
		if (!strcmp(family->name, name))
			return family;
	return NULL;
}

const struct rhythm_family *rhythm_find(const char *name)
{
	const struct rhythm_family *family = find_in(rhythm_tuning, name);

	return family ? family : find_in(rhythm_judging, name);
}

int rhythm_init(struct rhythm *r, const struct rhythm_family *family, uint32_t seed)
{
	_Static_assert(offsetof(struct rhythm, source) == 0, "a source is cast to its rhythm");
	*r = (struct rhythm){ .random = seed };
	r->source.next = rhythm_next;
	r->source.rewind = rhythm_rewind;
	r->source.entry_bytes = 8;
	family->generate(r);
	if (r->failed)
		rhythm_free(r);
	return r->failed ? -1 : 0;
}

void rhythm_free(struct rhythm *r)
{
	free(r->records);
	r->records = NULL;
	r->count = 0;
}
