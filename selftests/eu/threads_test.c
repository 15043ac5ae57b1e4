// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads_test [PROGRAM]: runs that share a cache, each with threads of its own, under TSan. The
 * groups change memory in common by atomic operations only, or each has its own. The cache is too
 * small for what runs, so pages of decoded instructions come and go. Results are those of one
 * thread. Without PROGRAM, what ocloc made of kernels.cl, only kernels made by hand are executed.
 */
#include "code.h"
#include "kernel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 3, WORKERS = 3, ITEMS = 1024, CACHE_BYTES = 64 << 10, BUDGET = 700 };

static const char *program;
static struct eu_cache *cache;

static void broken(const char *what)
{
	fprintf(stderr, "threads_test: %s\n", what);
	exit(1);
}

static void execute(const struct eu_memory *memory, const struct eu_dispatch *d,
		    unsigned int workers, const char *name)
{
	struct eu_cache_counters counters;
	struct eu_error error;
	struct eu_run *run = eu_run_begin(cache, memory, d, &error);
	enum eu_status status;

	if (!run)
		broken(error.text);
	eu_run_threads(run, workers);
	while ((status = eu_run(run, BUDGET, &error)) == EU_AGAIN)
		eu_cache_counters(cache, &counters);
	if (status) {
		fprintf(stderr, "threads_test: %s: %s\n", name, error.text);
		exit(1);
	}
	eu_run_end(run);
}

/* ---- by hand: each group adds its number to a counter, and stores it in its own row ---- */

static void counting(unsigned int workers)
{
	static const uint32_t groups = 300;
	struct code c = { .count = 0 };
	struct eu_memory memory;
	struct eu_dispatch d = { .simd = 8 };
	uint32_t *code, *data, n;
	struct gpu gpu;

	gpu_make(&gpu);
	memory = gpu_memory(&gpu);
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 12), IMM(EU_UD, 0)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 13), ONE(EU_UD, 127, 4)));
	emit_send(&c, 8, 12, 0, 12, 2u << 25 | 2u << 14 | 1u << 12 | 7u << 8 | 255, false);
	no_mask(emit2(&c, EU_MUL, 8, VEC(EU_UD, 14), ONE(EU_UD, 127, 4), IMM(EU_UD, 32)));
	for (n = 0; n < 8; n++)
		no_mask(emit2(&c, EU_ADD, 1, ONE(EU_UD, 14, n * 4), ONE(EU_UD, 14, n * 4),
			      IMM(EU_UD, 4096 + n * 4)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 15), ONE(EU_UD, 127, 4)));
	emit_send(&c, 8, 12, 0, 14, 2u << 25 | 9u << 14 | 2u << 12 | 14u << 8 | 255, false);
	emit_end(&c);
	d.instruction.address = gpu_alloc(&gpu, 4096, &code);
	memcpy(code, c.dw, c.count * 16);
	d.general.address = gpu_alloc(&gpu, 4096 + groups * 32, &data);
	d.instruction.bytes = d.general.bytes = UINT64_MAX;
	d.end[0] = groups;
	d.end[1] = d.end[2] = d.threads[0] = d.threads[1] = d.threads[2] = 1;
	d.right_mask = d.bottom_mask = ~0u;
	execute(&memory, &d, workers, "counting");
	if (data[0] != groups * (groups - 1) / 2 * 8)
		broken("a sum is wrong");
	for (n = 0; n < groups * 8; n++)
		if (data[1024 + n] != n / 8)
			broken("a row is wrong");
	gpu_free(&gpu);
}

/* ---- compiled ones, with shared memory, barriers, atomics; each result a checksum ---- */

static uint64_t launch(const char *name, unsigned int workers)
{
	struct argument arguments[KERNEL_ARGUMENTS] = { 0 };
	uint32_t *data[3], n, k;
	struct kernel kernel;
	struct eu_memory memory;
	struct eu_dispatch d;
	struct gpu gpu;
	uint64_t sum = 0;
	bool product = !strcmp(name, "product"), total = !strcmp(name, "total");
	bool hash = !strcmp(name, "hash");

	gpu_make(&gpu);
	memory = gpu_memory(&gpu);
	if (kernel_load(&kernel, program, name))
		broken(name);
	for (n = 0; n < 3; n++) {
		arguments[n].bytes = ITEMS * 4;
		arguments[n].buffer = gpu_alloc(&gpu, ITEMS * 4, &data[n]);
		for (k = 0; k < ITEMS; k++)
			data[n][k] = product ? 0x3f800000 + k * 4096 : k * 0x01010101u;
	}
	/* Where the value is that follows the buffers. */
	if (total)
		arguments[2] = (struct argument){ .local = 128 * 4 };
	n = product || total ? 3 : hash ? 1 : 2;
	arguments[n] = (struct argument){ .value = { product ? 32 : hash ? 9 : ITEMS } };
	if (product)
		kernel_dispatch(&kernel, &gpu, (uint32_t[]){ 32, 32, 1 }, (uint32_t[]){ 16, 16, 1 },
				arguments, &d);
	else
		kernel_dispatch(&kernel, &gpu, (uint32_t[]){ ITEMS, 1, 1 },
				(uint32_t[]){ 128, 1, 1 }, arguments, &d);
	execute(&memory, &d, workers, name);
	for (n = 0; n < 3; n++)
		for (k = 0; k < ITEMS; k++)
			sum = sum * 6364136223846793005ull + data[n][k];
	kernel_free(&kernel);
	gpu_free(&gpu);
	return sum;
}

static const char *const names[] = { "hash", "product", "histogram", "total" };
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static uint64_t sums[NAMES];

static void *some(void *argument)
{
	unsigned int first = *(const unsigned int *)argument, n, k;

	counting(WORKERS);
	for (n = 0; program && n < NAMES; n++) {
		k = (first + n) % NAMES;
		if (launch(names[k], WORKERS) != sums[k])
			broken(names[k]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int first[RUNS], n;
	pthread_t threads[RUNS];

	program = argc > 1 ? argv[1] : NULL;
	cache = eu_cache_create(CACHE_BYTES);
	counting(1);
	for (n = 0; program && n < NAMES; n++)
		sums[n] = launch(names[n], 1);
	for (n = 0; n < RUNS; n++) {
		first[n] = n;
		if (pthread_create(&threads[n], NULL, some, &first[n]))
			broken("no thread");
	}
	for (n = 0; n < RUNS; n++)
		pthread_join(threads[n], NULL);
	eu_cache_destroy(cache);
	printf("ok runs of %u threads each beside each other, %u kernels\n", WORKERS,
	       1 + (program ? NAMES : 0));
	return 0;
}
