/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generated traces of many rhythms. Each family models how one real program, or driver, causes
 * stores to GPU page tables. The families of the set "tuning" were used while adaptive was
 * designed; those of the set "judging" were not.
 */
#ifndef GHYVI_SIM_RHYTHMS_H
#define GHYVI_SIM_RHYTHMS_H

#include <stddef.h>

#include "trace.h"

/* A trace held in memory, and the state of its random numbers. */
struct rhythm {
	struct trace_source source;
	struct trace_record *records;
	size_t count, room, at;
	uint64_t random;
	bool failed; /* out of memory */
};

/*
 * struct rhythm_family - a family of rhythms
 * @name: as given to ghyvi-sim --rhythm
 * @judging: the family judges adaptive; otherwise it was used for tuning
 * @program: the behaviour that it models, and where that is written down
 * @generate: emits the whole trace; random numbers choose its parameters
 */
struct rhythm_family {
	const char *name;
	bool judging;
	const char *program;
	void (*generate)(struct rhythm *rhythm);
};

extern const struct rhythm_family rhythm_tuning[], rhythm_judging[]; /* end with a NULL name */

/* Returns NULL if there is no family of that name. */
const struct rhythm_family *rhythm_find(const char *name);
/* The same @seed always generates the same trace. Returns 0, or -1 if there is no memory. */
int rhythm_init(struct rhythm *rhythm, const struct rhythm_family *family, uint32_t seed);
void rhythm_free(struct rhythm *rhythm);

/* What follows is for the families. */

#define SPACE_TABLES 512u
#define SPACE_ENTRIES (SPACE_TABLES * 512u)

/*
 * struct space - an address space of the guest: the GGTT, or the PPGTT of a context
 * @root: only submissions of this root reach its table pages; 0: the GGTT, whose table pages
 *	have always existed and which all submissions reach
 * @frees: table pages that become empty are freed, as i915 does; otherwise they remain
 * @next: where the search for a hole goes on
 */
struct space {
	uint64_t root;
	bool frees;
	uint32_t next;
	bool linked[SPACE_TABLES];
	uint16_t used[SPACE_TABLES];
	uint64_t bound[SPACE_ENTRIES / 64];
};

struct object {
	uint32_t at, pages;
	uint32_t when; /* its meaning depends on the family */
	bool bound;
};

/* Uniform in @low..@high. */
uint32_t rhythm_any(struct rhythm *rhythm, uint32_t low, uint32_t high);
static inline bool rhythm_chance(struct rhythm *rhythm, uint32_t percent)
{
	return rhythm_any(rhythm, 0, 99) < percent;
}

/* Returns NULL, with rhythm->failed set, if there is no memory. */
struct space *space_new(struct rhythm *rhythm, uint64_t root, bool frees);
/* Frees all table pages, and @space. */
void space_end(struct rhythm *rhythm, struct space *space);
/* Returns the first entry of a hole of @pages entries below @limit; 0 if there is none. */
uint32_t space_hole(struct space *space, uint32_t pages, uint32_t limit);
/* Writes entries that become present. Links table pages that are missing. */
void space_bind(struct rhythm *rhythm, struct space *space, uint32_t at, uint32_t pages);
/* Writes entries that become absent. */
void space_unbind(struct rhythm *rhythm, struct space *space, uint32_t at, uint32_t pages);
/* A submission that uses @space. */
void space_submit(struct rhythm *rhythm, const struct space *space);

void object_bind(struct rhythm *rhythm, struct space *space, struct object *object);
void object_unbind(struct rhythm *rhythm, struct space *space, struct object *object);

#endif
