// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times one operation of a device, for a number of sizes. Prints a line of JSON for each size. The
 * data that an operation moved is compared before it is timed.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "options.h"
#include "transfer.h"

#define KIB_MAX (1u << 20)
#define ROUNDS_MAX 1000000u
#define SIZES_MAX 32
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2

enum operation { WRITE, READ, COPY, FILL, LAUNCH, OPERATIONS };

static const char *const names[OPERATIONS] = { "write", "read", "copy", "fill", "launch" };

static enum operation operation = WRITE;
static size_t sizes[SIZES_MAX];
static unsigned int size_count;
static unsigned int rounds; /* 0: until the time is over */
static unsigned int milliseconds = 300;
static bool wait_for_line;

static const struct argp_option options[] = {
	{ "operation", 'o', "NAME", 0, "write, read, copy, fill or launch (default write)", 0 },
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

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'o':
		for (operation = 0; operation < OPERATIONS; operation++)
			if (!strcmp(argument, names[operation]))
				return 0;
		argp_error(state, "no operation %s", argument);
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
	.doc = "Time an operation of a device.\v"
	       "Exit status: 0 success, 1 the data is wrong or the device failed, 2 no device.",
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static int run(uint8_t *data, size_t bytes)
{
	switch (operation) {
	case WRITE:
		return transfer_backend.write(data, bytes);
	case READ:
		return transfer_backend.read(data, bytes);
	case COPY:
		return transfer_backend.copy(bytes);
	case FILL:
		return transfer_backend.fill(0x5a, bytes);
	default:
		return transfer_backend.launch();
	}
}

/* Writes a pattern, and reads what the operation makes of it. */
static int check(uint8_t *data, size_t bytes, uint32_t seed)
{
	uint32_t value = seed;
	int ret;

	if (operation == LAUNCH)
		return run(data, bytes);
	for (size_t i = 0; i < bytes; i++)
		data[i] = (value = value * 1664525 + 1013904223) >> 24;
	ret = transfer_backend.write(data, bytes);
	if (!ret)
		ret = operation == FILL ? run(data, bytes) : transfer_backend.copy(bytes);
	memset(data, 0, bytes);
	if (!ret)
		ret = transfer_backend.read(data, bytes);
	value = seed;
	for (size_t i = 0; !ret && i < bytes; i++) {
		value = value * 1664525 + 1013904223;
		if (data[i] != (operation == FILL ? 0x5a : value >> 24)) {
			fprintf(stderr, "%s: byte %zu of %zu is wrong\n", names[operation], i,
				bytes);
			ret = -EILSEQ;
		}
	}
	return ret;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static int measure(uint8_t *data, size_t bytes, double *times)
{
	double begin = now_s(), last = begin, now;
	unsigned int count = 0;
	int ret = 0;

	while (!ret && count < ROUNDS_MAX &&
	       (rounds ? count < rounds : count < 3 || last - begin < milliseconds * 1e-3)) {
		ret = run(data, bytes);
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

static int all_sizes(uint8_t *data, double *times)
{
	char line[16];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < size_count; i++)
		ret = check(data, sizes[i], i + 1);
	if (!ret && wait_for_line) {
		printf("ready\n");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return -EPIPE;
	}
	for (unsigned int i = 0; !ret && i < size_count; i++)
		ret = measure(data, sizes[i], times);
	return ret;
}

int main(int argc, char **argv)
{
	size_t most = 0;
	uint8_t *data;
	double *times;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!size_count || operation == LAUNCH) {
		sizes[0] = 4096 << 10;
		size_count = 1;
	}
	for (unsigned int i = 0; i < size_count; i++)
		most = sizes[i] > most ? sizes[i] : most;
	if (operation == LAUNCH && !transfer_backend.launch) {
		fprintf(stderr, "%s has no launch\n", transfer_backend.name);
		return EXIT_WRONG;
	}
	data = malloc(most);
	times = malloc(ROUNDS_MAX * sizeof(*times));
	if (!data || !times)
		return EXIT_WRONG;
	ret = transfer_backend.open(most);
	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	if (!ret)
		ret = all_sizes(data, times);
	transfer_backend.close();
	return ret ? EXIT_WRONG : 0;
}
