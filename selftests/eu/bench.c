// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lane operations per second of one core: an integer loop, float mads, a matrix product with shared
 * memory and barriers. Counts CPU time, the best of five, and fails below the goals if told so.
 */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double rate(struct gpu *gpu, const struct eu_dispatch *d, const char *name)
{
	struct eu_memory memory = gpu_memory(gpu);
	struct eu_cache *cache = eu_cache_create(64 << 20);
	struct eu_error error;
	double best = 0;
	int n;

	for (n = 0; n < 5; n++) {
		struct eu_run *run = eu_run_begin(cache, &memory, d, &error);
		double begin = seconds(), used;
		struct eu_counters counters;

		if (!run || eu_run(run, UINT64_MAX, &error)) {
			fprintf(stderr, "bench: %s: %s\n", name, error.text);
			exit(1);
		}
		used = seconds() - begin;
		eu_run_counters(run, &counters);
		if ((double)counters.lanes / used > best)
			best = (double)counters.lanes / used;
		eu_run_end(run);
	}
	eu_cache_destroy(cache);
	return best;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kernel, *name;
		double goal;
	} what[] = { { "hash", "integer loop", 1.5e9 },
		     { "mads", "float mad", 1.5e9 },
		     { "product", "matrix product", 0.5e9 } };
	double least = argc > 2 ? atof(argv[2]) : 0;
	int failed = 0;
	unsigned int n, k;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [FRACTION-OF-GOALS]\n", argv[0]);
		return 2;
	}
	printf("%-16s %14s %6s\n", "kernel", "G lane ops/s", "goal");
	for (n = 0; n < 3; n++) {
		static const float factor = 0.3f;
		struct argument arguments[KERNEL_ARGUMENTS] = { 0 };
		struct kernel kernel;
		struct eu_dispatch d;
		struct gpu gpu;
		double got;

		gpu_make(&gpu);
		if (kernel_load(&kernel, argv[1], what[n].kernel)) {
			fprintf(stderr, "bench: no kernel %s in %s\n", what[n].kernel, argv[1]);
			return 1;
		}
		for (k = 0; k < (n == 2 ? 3 : 1); k++) {
			arguments[k].bytes = 65536 * 4;
			arguments[k].buffer = gpu_alloc(&gpu, 65536 * 4, NULL);
		}
		arguments[n == 2 ? 3 : n == 1 ? 2 : 1].value[0] = n == 2 ? 256 : 2000;
		if (n == 1)
			memcpy(&arguments[1].value[0], &factor, 4);
		if (n == 2)
			kernel_dispatch(&kernel, &gpu, (uint32_t[]){ 256, 256, 1 },
					(uint32_t[]){ 16, 16, 1 }, arguments, &d);
		else
			kernel_dispatch(&kernel, &gpu, (uint32_t[]){ 4096, 1, 1 },
					(uint32_t[]){ 128, 1, 1 }, arguments, &d);
		got = rate(&gpu, &d, what[n].name);
		printf("%-16s %14.2f %6.1f\n", what[n].name, got / 1e9, what[n].goal / 1e9);
		failed |= got < what[n].goal * least;
		kernel_free(&kernel);
		gpu_free(&gpu);
	}
	return failed;
}
