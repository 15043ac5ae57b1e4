/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces held in memory, as given or at random, and all policies on them. */
#ifndef SIM_LISTED_H
#define SIM_LISTED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "../../tools/sim/simulate.h"

#define RECORDS 64 /* of a random trace, usually */
#define LISTED_MAX 1600

extern const struct ghyvi_shadow_tuning default_tuning;

extern u32 seed;

u32 any(u32 below);
unsigned int place(const char *name);

/* A trace held in memory. */
struct listed {
	struct trace_source source;
	struct trace_record records[LISTED_MAX];
	unsigned int count, at;
};

void listed_init(struct listed *l, u32 table_pages);
void listed_run(struct listed *l, const struct ghyvi_shadow_tuning *tuning, struct sim_result *r);

struct trace_record stores(u64 page, u32 entry, u32 count);
struct trace_record submission(u64 root);
struct trace_record freed(u64 page);
struct trace_record page_root(u64 page, u64 root);
struct trace_record page_shared(u64 page);
void list(struct listed *l, struct trace_record record);

/* Pages that exist from the start, are linked, freed, linked again and change roots. */
void random_trace(struct listed *l, unsigned int count, u32 pages, u32 roots);
struct ghyvi_shadow_tuning random_tuning(void);

#endif
