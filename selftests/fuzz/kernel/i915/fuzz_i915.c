// SPDX-License-Identifier: GPL-2.0-only
/*
 * i915's ioctls, guided by the coverage of i915 in the guest and of ghyvi in the host. libFuzzer
 * runs in the host, and executor.c in the guest executes the inputs: a guest that is lost costs no
 * more than its last input, which is kept.
 *
 * GHYVI_FUZZ_EXCHANGE is the file that is shared with the executor, GHYVI_FUZZ_POINTS the device
 * with the counters of the host, if there is one, GHYVI_FUZZ_RECENT a folder for the last inputs.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "exchange.h"

#define POLL_US 100
#define READY_LIMIT_S 120
#define INPUT_LIMIT_S 180
#define RECENT 32u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct exchange *exchange;

static void expect(const uint32_t *word, uint32_t value, unsigned int limit_s, const char *what)
{
	time_t end = time(NULL) + limit_s;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
		if (time(NULL) > end) {
			fprintf(stderr, "fuzz_i915: %s for %u s\n", what, limit_s);
			abort();
		}
		usleep(POLL_US);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *path = getenv("GHYVI_FUZZ_EXCHANGE"), *points = getenv("GHYVI_FUZZ_POINTS");

	(void)argc;
	(void)argv;
	exchange = file_map(path, NULL, EXCHANGE_BYTES, 0);
	counters_map(0, path, offsetof(struct exchange, counters));
	if (points)
		counters_map(1, points, 0);
	expect(&exchange->ready, 1, READY_LIMIT_S, "no executor");
	return 0;
}

/* A defect of the host is noticed some inputs later. */
static void keep(uint32_t number, const uint8_t *data, size_t bytes)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/recent-%02u", getenv("GHYVI_FUZZ_RECENT"),
		 number % RECENT);
	file = fopen(path, "w");
	if (file) {
		fwrite(data, 1, bytes, file);
		fclose(file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const verdicts[] = {
		[I915_FAILED] = "i915 does not execute a valid batch",
		[STORE_MISSING] = "a valid batch has not stored what it says",
		[MEMORY_CHANGED] = "memory of another address space has changed",
	};
	uint32_t number = exchange->asked + 1;

	if (bytes > INPUT_BYTES)
		return -1;
	keep(number, data, bytes);
	memcpy(exchange->input, data, bytes);
	exchange->bytes = bytes;
	__atomic_store_n(&exchange->asked, number, __ATOMIC_RELEASE);
	expect(&exchange->done, number, INPUT_LIMIT_S, "no answer of the executor");
	if (exchange->verdict) {
		fprintf(stderr, "fuzz_i915: %s\n",
			exchange->verdict <= MEMORY_CHANGED ? verdicts[exchange->verdict] :
							      "nonsense");
		abort();
	}
	return 0;
}
