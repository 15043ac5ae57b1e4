// SPDX-License-Identifier: GPL-2.0-only
#include "sim_listed.h"

const struct ghyvi_shadow_tuning default_tuning = GHYVI_SHADOW_TUNING_DEFAULT;

u32 seed;

u32 any(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u32)(((u64)seed * below) >> 32);
}

unsigned int place(const char *name)
{
	unsigned int i;

	for (i = 0; strcmp(ghyvi_shadow_policies[i]->name, name); i++)
		;
	return i;
}

static int listed_next(struct trace_source *source, struct trace_record *record)
{
	struct listed *l = (struct listed *)source;

	if (l->at == l->count)
		return 0;
	*record = l->records[l->at++];
	return 1;
}

static int listed_rewind(struct trace_source *source)
{
	((struct listed *)source)->at = 0;
	return 0;
}

void listed_init(struct listed *l, u32 table_pages)
{
	memset(l, 0, sizeof(*l));
	l->source.next = listed_next;
	l->source.rewind = listed_rewind;
	l->source.entry_bytes = 8;
	l->source.table_pages = table_pages;
}

void listed_run(struct listed *l, const struct ghyvi_shadow_tuning *tuning, struct sim_result *r)
{
	l->at = 0;
	assert_int_equal(simulate(&l->source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  tuning, SIM_PROFILE_PAGES, r),
			 0);
}

struct trace_record stores(u64 page, u32 entry, u32 count)
{
	return (struct trace_record){
		.type = TRACE_STORES, .page = page, .entry = entry, .count = count
	};
}

struct trace_record submission(u64 root)
{
	return (struct trace_record){ .type = TRACE_SUBMISSION, .root = root };
}

struct trace_record freed(u64 page)
{
	return (struct trace_record){ .type = TRACE_PAGE_FREED, .page = page };
}

struct trace_record page_root(u64 page, u64 root)
{
	return (struct trace_record){ .type = TRACE_PAGE_ROOT, .page = page, .root = root };
}

struct trace_record page_shared(u64 page)
{
	return (struct trace_record){ .type = TRACE_PAGE_SHARED, .page = page };
}

void list(struct listed *l, struct trace_record record)
{
	assert_true(l->count < LISTED_MAX);
	l->records[l->count++] = record;
}

static struct trace_record any_record(u32 pages, u32 roots)
{
	struct trace_record record;

	switch (any(12)) {
	case 0:
		return freed(any(pages));
	case 1:
		return page_root(any(pages), any(roots));
	case 2:
		return page_shared(any(pages));
	case 3:
	case 4:
	case 5:
	case 6:
		return submission(any(roots));
	case 7:
	case 8:
		record = stores(any(pages), any(500), 1 + any(3));
		record.type = any(2) ? TRACE_STORES : TRACE_WIDE_STORE;
		return record;
	default:
		return stores(any(pages), any(500), 1);
	}
}

void random_trace(struct listed *l, unsigned int count, u32 pages, u32 roots)
{
	listed_init(l, any(pages + 1));
	while (l->count < count)
		list(l, any_record(pages, roots));
}

struct ghyvi_shadow_tuning random_tuning(void)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;

	tuning.trap_ns = any(30);
	tuning.scan_ns = any(10);
	tuning.protect_ns = any(30);
	tuning.static_pages = any(4);
	tuning.oos_threshold = 1 + any(4);
	return tuning;
}
