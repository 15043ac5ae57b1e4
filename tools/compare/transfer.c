// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times operations of a device, for a number of sizes. Prints a line of JSON for each operation and
 * size. The data that the device moves is compared before anything is timed.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "options.h"
#include "transfer.h"

#define KIB_MAX (1u << 20)
#define ROUNDS_MAX 1000000u
#define SIZES_MAX 32
#define ALIGNMENT 4096
#define FILL_BYTE 0x5a
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2

enum operation { WRITE, READ, COPY, FILL, LAUNCH, OPERATIONS };

static const char *const names[OPERATIONS] = { "write", "read", "copy", "fill", "launch" };

static bool wanted[OPERATIONS];
static size_t sizes[SIZES_MAX];
static unsigned int size_count;
static unsigned int rounds; /* 0: until the time is over */
static unsigned int milliseconds = 300;
static bool wait_for_line;

static const struct argp_option options[] = {
	{ "operations", 'o', "NAME,...", 0, "Of write, read, copy, fill, launch (default write)",
	  0 },
	{ "kib", 'k', "N,...", 0, "Sizes in KiB (default 4096)", 0 },
	{ "rounds", 'r', "N", 0, "Operations of each size (default: see --milliseconds)", 0 },
	{ "milliseconds", 'm', "N", 0, "Repeat for this time, and thrice at least (default 300)",
	  0 },
	{ "wait", 'w', NULL, 0, "Print \"ready\" and wait for a line on stdin before timing", 0 },
	{ 0 },
};

static void parse_sizes(struct argp_state *state, char *text)
{
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (size_count == SIZES_MAX)
			argp_error(state, "more than %d sizes", SIZES_MAX);
		sizes[size_count++] = parse_number(state, word, 4, KIB_MAX) << 10;
	}
}

static bool exists(enum operation operation)
{
	switch (operation) {
	case COPY:
		return transfer_backend.copy;
	case FILL:
		return transfer_backend.fill;
	case LAUNCH:
		return transfer_backend.launch;
	default:
		return true;
	}
}

static void parse_operations(struct argp_state *state, char *text)
{
	int i;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		for (i = 0; i < OPERATIONS && strcmp(word, names[i]); i++)
			;
		if (i == OPERATIONS || !exists(i))
			argp_error(state, "no operation %s", word);
		wanted[i] = true;
	}
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'o':
		parse_operations(state, argument);
		return 0;
	case 'k':
		parse_sizes(state, argument);
		return 0;
	case 'r':
		rounds = parse_number(state, argument, 1, ROUNDS_MAX);
		return 0;
	case 'm':
		milliseconds = parse_number(state, argument, 1, 600000);
		return 0;
	case 'w':
		wait_for_line = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Time operations of a device.\v"
	       "Exit status: 0 success, 1 the data is wrong or the device failed, 2 no device.",
};

static int run(enum operation operation, void *data, size_t bytes)
{
	switch (operation) {
	case WRITE:
		return transfer_backend.write(data, bytes);
	case READ:
		return transfer_backend.read(data, bytes);
	case COPY:
		return transfer_backend.copy(bytes);
	case FILL:
		return transfer_backend.fill(FILL_BYTE, bytes);
	default:
		return transfer_backend.launch();
	}
}

static uint64_t pattern(uint64_t seed, size_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull * (2 * seed + 1);
}

static int check_words(const uint64_t *data, size_t bytes, uint64_t seed, bool filled)
{
	for (size_t i = 0; i < bytes / sizeof(*data); i++) {
		if (data[i] != (filled ? FILL_BYTE * (~0ull / 255) : pattern(seed, i))) {
			fprintf(stderr, "%s of %zu bytes: word %zu is wrong\n",
				filled ? "fill" : "copy", bytes, i);
			return -EILSEQ;
		}
	}
	return 0;
}

/*
 * Writes a pattern and reads it, or its copy if there are copies; then reads a fill. Sizes are
 * multiples of 4 KiB.
 */
static int check(uint64_t *data, size_t bytes, uint64_t seed)
{
	int ret;

	for (size_t i = 0; i < bytes / sizeof(*data); i++)
		data[i] = pattern(seed, i);
	ret = transfer_backend.write(data, bytes);
	if (!ret && transfer_backend.copy)
		ret = transfer_backend.copy(bytes);
	memset(data, 0, bytes);
	if (!ret)
		ret = transfer_backend.read(data, bytes);
	if (!ret)
		ret = check_words(data, bytes, seed, false);
	if (ret || !wanted[FILL])
		return ret;
	ret = transfer_backend.fill(FILL_BYTE, bytes);
	if (!ret)
		ret = transfer_backend.read(data, bytes);
	return ret ? ret : check_words(data, bytes, seed, true);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static int measure(enum operation operation, void *data, size_t bytes, double *times)
{
	double begin = now_s(), last = begin, now;
	unsigned int count = 0;
	int ret = 0;

	while (!ret && count < ROUNDS_MAX &&
	       (rounds ? count < rounds : count < 3 || last - begin < milliseconds * 1e-3)) {
		ret = run(operation, data, bytes);
		now = now_s();
		times[count++] = now - last;
		last = now;
	}
	if (ret)
		return ret;
	qsort(times, count, sizeof(*times), compare);
	printf("{\"system\": \"%s\", \"operation\": \"%s\", \"bytes\": %zu, \"rounds\": %u, "
	       "\"seconds\": %.9f, \"median_s\": %.9f}\n",
	       transfer_backend.name, names[operation], operation == LAUNCH ? 0 : bytes, count,
	       last - begin, times[count / 2]);
	fflush(stdout);
	return 0;
}

static int measure_all(uint64_t *data, double *times)
{
	int ret = 0;

	for (int operation = 0; !ret && operation < OPERATIONS; operation++) {
		/* A launch has no size. */
		unsigned int count = operation == LAUNCH ? 1 : size_count;

		for (unsigned int i = 0; !ret && wanted[operation] && i < count; i++)
			ret = measure(operation, data, sizes[i], times);
	}
	return ret;
}

static int check_all(uint64_t *data)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < size_count; i++)
		ret = check(data, sizes[i], i);
	/* The first launch compiles the kernel. */
	return ret || !wanted[LAUNCH] ? ret : transfer_backend.launch();
}

static int wait_for_begin(void)
{
	char line[16];

	printf("ready\n");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : -EPIPE;
}

int main(int argc, char **argv)
{
	size_t most = 0;
	uint64_t *data;
	double *times;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!memchr(wanted, true, sizeof(wanted)))
		wanted[WRITE] = true;
	if (!size_count)
		sizes[size_count++] = 4096 << 10;
	for (unsigned int i = 0; i < size_count; i++)
		most = sizes[i] > most ? sizes[i] : most;
	data = aligned_alloc(ALIGNMENT, most); /* block devices access it directly */
	times = malloc(ROUNDS_MAX * sizeof(*times));
	if (!data || !times)
		return EXIT_WRONG;
	ret = transfer_backend.open(most);
	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	if (!ret)
		ret = check_all(data);
	if (!ret && wait_for_line)
		ret = wait_for_begin();
	if (!ret)
		ret = measure_all(data, times);
	transfer_backend.close();
	fflush(NULL);
	_exit(ret ? EXIT_WRONG : 0); /* without the destructors of libraries: see opencl.c */
}
