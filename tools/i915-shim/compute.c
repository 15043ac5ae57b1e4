// SPDX-License-Identifier: GPL-2.0-only
/* Execution of walkers and media objects by userspace/eu, on the objects of a VM. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "compute.h"
#include "eu_state.h"
#include "settings.h"

#define CODE_BYTES (64u << 20) /* of decoded instructions */
#define PIPELINE(header) ((header) >> 27 & 3)
#define PIPELINE_MEDIA 2

struct compute {
	struct vm *vm;
	struct eu_cache *cache;
	struct eu_memory memory;
	struct eu_state state;
	uint8_t scratch[EU_PAGE_BYTES]; /* what nothing is bound to reads as, if that is set */
	uint8_t dropped[EU_PAGE_BYTES]; /* stores that have no effect */
};

static void *map(void *context, uint64_t address, enum eu_access access)
{
	struct compute *compute = context;
	bool writable = false;
	uint64_t bytes;
	uint8_t *page = vm_translate(compute->vm, address, &bytes, &writable);

	if (page && (writable || access != EU_ACCESS_WRITE))
		return page;
	if (page)
		return compute->dropped;
	if (!shim_settings()->scratch)
		return NULL;
	counts.unmapped++;
	return access == EU_ACCESS_WRITE ? compute->dropped : compute->scratch;
}

static const struct eu_memory_ops memory_ops = { .map = map };

struct compute *compute_create(struct vm *vm)
{
	struct compute *compute = calloc(1, sizeof(*compute));

	if (!compute)
		return NULL;
	compute->vm = vm;
	compute->memory = (struct eu_memory){ .ops = &memory_ops, .context = compute };
	compute->cache = eu_cache_create(CODE_BYTES);
	if (!compute->cache) {
		free(compute);
		return NULL;
	}
	return compute;
}

void compute_destroy(struct compute *compute)
{
	if (!compute)
		return;
	eu_cache_destroy(compute->cache);
	free(compute);
}

bool compute_takes(uint32_t header)
{
	return header >> 16 == EU_STATE_BASE_ADDRESS || PIPELINE(header) == PIPELINE_MEDIA;
}

static int failed(const struct eu_error *error, char text[CS_ERROR_BYTES])
{
	int bytes = snprintf(text, CS_ERROR_BYTES, "%s", error->text);

	if (error->status == EU_FAULT)
		bytes += snprintf(text + bytes, CS_ERROR_BYTES - bytes, ", address %#" PRIx64,
				  error->address);
	if (error->ip)
		snprintf(text + bytes, CS_ERROR_BYTES - bytes,
			 ", instruction at %#" PRIx64 ": %08x %08x %08x %08x, group %u,%u,%u",
			 error->ip, error->instruction[0], error->instruction[1],
			 error->instruction[2], error->instruction[3], error->group[0],
			 error->group[1], error->group[2]);
	return -EIO;
}

static void note(const struct eu_run *run, int64_t ns)
{
	struct eu_counters counters;

	eu_run_counters(run, &counters);
	counts.dispatches++;
	counts.groups += counters.groups;
	counts.instructions += counters.instructions;
	counts.lanes += counters.lanes;
	counts.dispatch_ns += ns;
	if (shim_settings()->log_batches)
		log_line("dispatch: %" PRIu64 " groups, %" PRIu64 " instructions, %" PRId64 " us",
			 counters.groups, counters.instructions, ns / 1000);
}

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int dispatch(struct compute *compute, const struct eu_dispatch *dispatch,
		    char text[CS_ERROR_BYTES])
{
	struct eu_error error = { .text = "the dispatch is not valid" };
	struct eu_run *run;
	enum eu_status status;
	int64_t start = clock_ns();

	run = eu_run_begin(compute->cache, &compute->memory, dispatch, &error);
	if (!run)
		return failed(&error, text);
	eu_run_threads(run, shim_settings()->threads);
	do {
		status = eu_run(run, UINT64_MAX, &error);
	} while (status == EU_AGAIN);
	note(run, clock_ns() - start);
	eu_run_end(run);
	return status == EU_DONE ? 0 : failed(&error, text);
}

int compute_command(struct compute *compute, const uint32_t *packet, uint32_t dwords,
		    const uint32_t dimensions[3], char text[CS_ERROR_BYTES])
{
	struct eu_dispatch walk;
	struct eu_error error = { .text = "the command is not valid" };

	memcpy(compute->state.dispatch_dim, dimensions, sizeof(compute->state.dispatch_dim));
	switch (eu_state_command(&compute->state, &compute->memory, packet, dwords, &walk,
				 &error)) {
	case EU_COMMAND_DISPATCH:
		return dispatch(compute, &walk, text);
	case EU_COMMAND_ERROR:
		return failed(&error, text);
	default:
		return 0;
	}
}
