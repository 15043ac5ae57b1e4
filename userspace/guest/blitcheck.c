// SPDX-License-Identifier: GPL-2.0-only
/*
 * blitcheck: submits random fills and copies to the blitter, in several contexts concurrently. It
 * compares every byte of every surface with a CPU reference, including bytes that no command
 * writes.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "blitcheck.h"
#include "clock.h"
#include "gem.h"
#include "options.h"

#define CONTEXTS_MAX 64
#define SURFACES 3
#define BLITS 8 /* per batch */
#define BATCHES 2 /* per round, over the same surfaces */
#define WAIT_S 60
#define PATTERN_BUFFERS 8
#define PATTERN_PIXELS 256 /* width and height; 4 bytes each: 256 KiB */
#define PATTERN_PAUSE_MS 100

static struct {
	uint64_t seed;
	unsigned int rounds;
	unsigned int contexts;
	unsigned int size;
	double time_s;
	double hold_s;
	int only; /* the only context to run, or -1 */
	int pattern; /* byte value, or -1 */
	const char *bad_batch;
	bool self_test;
	bool json;
	bool no_fast_copy;
} options = {
	.seed = 1,
	.rounds = 6,
	.contexts = 4,
	.size = 160,
	.hold_s = 5,
	.only = -1,
	.pattern = -1,
};

struct worker {
	pthread_t thread;
	unsigned int number;
	struct gem gem;
	struct random random;
	uint8_t *found;
	size_t found_bytes;
	uint64_t rounds, blits, bytes;
	int status; /* EXIT_... */
	char message[1024];
};

static atomic_bool stop;
static struct worker workers[CONTEXTS_MAX];

static __attribute__((format(printf, 3, 4))) void fail(struct worker *w, int status,
						       const char *format, ...)
{
	size_t used = strlen(w->message);
	va_list args;

	va_start(args, format);
	vsnprintf(w->message + used, sizeof(w->message) - used, format, args);
	va_end(args);
	w->status = status;
	atomic_store(&stop, true);
}

static int check_call(struct worker *w, int ret, const char *what)
{
	if (ret)
		fail(w, EXIT_TROUBLE, "context %u, round %" PRIu64 ": %s: %s\n", w->number,
		     w->rounds, what, strerror(-ret));
	return ret;
}

/* ---- one round of random blits ---- */

static void describe(struct worker *w, const struct surface *surfaces, const struct blit *blits,
		     unsigned int count, unsigned int target)
{
	static const char *const names[] = { "XY_COLOR_BLT", "XY_SRC_COPY_BLT",
					     "XY_FAST_COPY_BLT" };
	const struct surface *s = &surfaces[target];

	fail(w, EXIT_MISMATCH,
	     "surface %u: %ux%u, %u bpp, %s, pitch %u, offset %u; blits to it in this batch:\n",
	     target, s->width, s->height, s->pixel_bytes * 8, tiling_name(s->tiling), s->pitch,
	     s->offset);
	for (unsigned int i = 0; i < count; i++) {
		const struct blit *b = &blits[i];

		if (b->dst == target)
			fail(w, EXIT_MISMATCH,
			     "  %s (%u,%u)-(%u,%u) from surface %u (%s) %u,%u rop %02x mask %08x\n",
			     names[b->op], b->x1, b->y1, b->x2, b->y2, b->src,
			     tiling_name(surfaces[b->src].tiling), b->sx, b->sy, b->rop,
			     b->write_mask);
	}
}

/* Returns 0 if the object has the expected content. */
static int compare(struct worker *w, const struct surface *s, uint32_t handle, unsigned int number)
{
	uint32_t at, wrong = 0, first = 0;
	unsigned int x, y;
	int ret;

	ret = check_call(w, gem_read(&w->gem, handle, 0, w->found, s->object_bytes), "pread");
	if (ret)
		return ret;
	w->bytes += s->object_bytes;
	if (!memcmp(w->found, s->expected, s->object_bytes))
		return 0;
	for (at = 0; at < s->object_bytes; at++)
		if (w->found[at] != s->expected[at] && !wrong++)
			first = at;
	fail(w, EXIT_MISMATCH, "mismatch: context %u round %" PRIu64 " surface %u byte %u ",
	     w->number, w->rounds, number, first);
	if (surface_locate(s, first, &x, &y))
		fail(w, EXIT_MISMATCH, "x %u y %u", x, y);
	else
		fail(w, EXIT_MISMATCH, "(outside the pixels)");
	fail(w, EXIT_MISMATCH,
	     ": expected %02x found %02x; %u of %u bytes differ; seed %" PRIu64 "\n",
	     s->expected[first], w->found[first], wrong, s->object_bytes, options.seed);
	return -EILSEQ;
}

static int run_batch(struct worker *w, struct surface *surfaces, const uint32_t *handles,
		     const uint64_t *addresses, bool softpin)
{
	bool fast = w->gem.gen >= 9 && !options.no_fast_copy;
	struct blit blits[BLITS];
	uint32_t commands = 0;
	struct batch *batch;
	int ret, state = -1;

	batch = malloc(sizeof(*batch));
	if (!batch)
		return check_call(w, -ENOMEM, "batch");
	batch_init(batch, softpin);
	for (unsigned int i = 0; i < SURFACES; i++)
		batch_object(batch, handles[i], addresses[i], true);
	for (unsigned int i = 0; i < BLITS; i++) {
		blit_choose(&w->random, surfaces, SURFACES, fast, &blits[i]);
		batch_blit(batch, surfaces, &blits[i], &state);
		if (!random_range(&w->random, 0, 2))
			batch_flush(batch);
		w->blits++;
	}
	ret = check_call(w, gem_create(&w->gem, BATCH_BYTES, &commands), "create");
	if (!ret)
		ret = check_call(w,
				 batch_submit(batch, &w->gem, commands, addresses[SURFACES],
					      I915_EXEC_BLT),
				 "execbuffer2");
	/* The CPU computes the reference while the engine executes the batch. */
	for (unsigned int i = 0; !ret && i < BLITS; i++)
		blit_reference(surfaces, &blits[i]);
	if (!ret)
		ret = check_call(w, gem_wait(&w->gem, commands, WAIT_S), "wait");
	for (unsigned int i = 0; !ret && i < SURFACES; i++) {
		ret = compare(w, &surfaces[i], handles[i], i);
		if (ret == -EILSEQ)
			describe(w, surfaces, blits, BLITS, i);
	}
	if (commands)
		gem_destroy(&w->gem, commands);
	free(batch);
	return ret;
}

/* Chooses new addresses each round, so that surfaces cross boundaries of tables on all levels. */
static void choose_addresses(struct random *r, const struct surface *surfaces, uint64_t *addresses)
{
	uint64_t at = 1ull << random_range(r, 30, 46);

	at += (random_next(r) & 0xfff) << 21;
	at -= (uint64_t)random_range(r, 0, 8) * PAGE_BYTES;
	for (unsigned int i = 0; i < SURFACES; i++) {
		addresses[i] = at;
		at += surfaces[i].object_bytes + (uint64_t)random_range(r, 0, 1024) * PAGE_BYTES;
	}
	addresses[SURFACES] = at;
}

static int run_round(struct worker *w)
{
	unsigned int pixel_bytes = 1u << random_range(&w->random, 0, 2);
	bool softpin = random_range(&w->random, 0, 1);
	uint32_t handles[SURFACES] = { 0 };
	struct surface surfaces[SURFACES];
	uint64_t addresses[SURFACES + 1];
	int ret = 0;

	for (unsigned int i = 0; i < SURFACES; i++)
		surface_choose(&w->random, &surfaces[i], pixel_bytes, options.size);
	choose_addresses(&w->random, surfaces, addresses);
	for (unsigned int i = 0; !ret && i < SURFACES; i++) {
		struct surface *s = &surfaces[i];

		s->expected = malloc(s->object_bytes);
		if (s->object_bytes > w->found_bytes) {
			free(w->found);
			w->found_bytes = s->object_bytes;
			w->found = malloc(w->found_bytes);
		}
		if (!s->expected || !w->found)
			ret = check_call(w, -ENOMEM, "surface");
		if (ret)
			break;
		random_fill(&w->random, s->expected, s->object_bytes);
		ret = check_call(w, gem_create(&w->gem, s->object_bytes, &handles[i]), "create");
		if (!ret)
			ret = check_call(
				w, gem_write(&w->gem, handles[i], 0, s->expected, s->object_bytes),
				"pwrite");
	}
	for (unsigned int i = 0; !ret && i < BATCHES; i++)
		ret = run_batch(w, surfaces, handles, addresses, softpin);
	for (unsigned int i = 0; i < SURFACES; i++) {
		if (handles[i])
			gem_destroy(&w->gem, handles[i]);
		free(surfaces[i].expected);
	}
	w->rounds++;
	return ret;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	double end = now_s() + options.time_s;
	int ret;

	while (!atomic_load(&stop)) {
		if (options.time_s ? now_s() >= end : w->rounds >= options.rounds)
			break;
		if (run_round(w))
			break;
	}
	ret = gem_guilty(&w->gem);
	if (ret && !w->status)
		fail(w, EXIT_TROUBLE, "context %u was reset: %d\n", w->number, ret);
	return NULL;
}

static int open_worker(struct worker *w, unsigned int number)
{
	int ret = gem_open(&w->gem);

	w->number = number;
	random_seed(&w->random, options.seed * CONTEXTS_MAX + number);
	if (ret == -ENODEV) {
		fprintf(stderr, "blitcheck: no i915 device\n");
		return EXIT_NO_DEVICE;
	}
	if (ret) {
		fprintf(stderr, "blitcheck: %s\n", strerror(-ret));
		return EXIT_TROUBLE;
	}
	return 0;
}

static int run_checks(void)
{
	unsigned int first = options.only < 0 ? 0 : options.only;
	unsigned int last = options.only < 0 ? options.contexts - 1 : first;
	uint64_t rounds = 0, blits = 0, bytes = 0;
	double started = now_s();
	int status = EXIT_RIGHT;

	for (unsigned int i = first; i <= last; i++) {
		status = open_worker(&workers[i], i);
		if (status)
			return status;
	}
	for (unsigned int i = first; i <= last; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			abort();
	for (unsigned int i = first; i <= last; i++) {
		struct worker *w = &workers[i];

		pthread_join(w->thread, NULL);
		gem_close(&w->gem);
		free(w->found);
		fputs(w->message, options.json ? stderr : stdout);
		if (w->status && status != EXIT_MISMATCH)
			status = w->status;
		rounds += w->rounds;
		blits += w->blits;
		bytes += w->bytes;
	}
	printf(options.json ? "{\"ok\": %s, \"gen\": %u, \"seed\": %" PRIu64
			      ", \"contexts\": %u, \"rounds\": %" PRIu64 ", \"blits\": %" PRIu64
			      ", \"bytes_compared\": %" PRIu64 ", \"seconds\": %.2f}\n" :
			      "blitcheck: %s: gen %u, seed %" PRIu64 ", %u contexts, %" PRIu64
			      " rounds, %" PRIu64 " blits, %" PRIu64 " bytes compared, %.2f s\n",
	       options.json ? (status ? "false" : "true") : (status ? "WRONG" : "right"),
	       workers[first].gem.gen, options.seed, last - first + 1, rounds, blits, bytes,
	       now_s() - started);
	return status;
}

/* ---- buffers filled with one byte value, checked repeatedly ---- */

static int run_pattern(void)
{
	struct surface surfaces[PATTERN_BUFFERS];
	uint32_t handles[PATTERN_BUFFERS] = { 0 }, commands = 0;
	struct worker *w = &workers[0];
	static struct batch batch;
	double end = now_s() + options.hold_s;
	int status, ret = 0, state = -1;
	unsigned int passes = 0;

	status = open_worker(w, 0);
	if (status)
		return status;
	w->found_bytes = PATTERN_PIXELS * PATTERN_PIXELS * 4;
	w->found = malloc(w->found_bytes);
	for (unsigned int i = 0; i < PATTERN_BUFFERS; i++) {
		surfaces[i] = (struct surface){
			.pixel_bytes = 4,
			.width = PATTERN_PIXELS,
			.height = PATTERN_PIXELS,
			.pitch = PATTERN_PIXELS * 4,
			.object_bytes = PATTERN_PIXELS * PATTERN_PIXELS * 4,
			.expected = malloc(w->found_bytes),
		};
		if (!surfaces[i].expected || !w->found)
			abort();
		memset(surfaces[i].expected, options.pattern, w->found_bytes);
		ret = ret   ?:
			      check_call(w, gem_create(&w->gem, w->found_bytes, &handles[i]),
					 "create");
	}
	ret = ret ?: check_call(w, gem_create(&w->gem, BATCH_BYTES, &commands), "create");
	/* The first pass fills all buffers; each later pass copies every buffer to another one. */
	while (!ret) {
		batch_init(&batch, false);
		state = -1;
		for (unsigned int i = 0; i < PATTERN_BUFFERS; i++)
			batch_object(&batch, handles[i], 0, true);
		for (unsigned int i = 0; i < PATTERN_BUFFERS; i++) {
			struct blit blit = {
				.op = passes ? BLIT_COPY : BLIT_COLOR,
				.dst = (i + passes) % PATTERN_BUFFERS,
				.src = (i + 2 * passes) % PATTERN_BUFFERS,
				.x2 = PATTERN_PIXELS,
				.y2 = PATTERN_PIXELS,
				.rop = passes ? ROP_SOURCE : ROP_PATTERN,
				.color = options.pattern * 0x01010101u,
				.write_mask = ~0u,
			};

			batch_blit(&batch, surfaces, &blit, &state);
		}
		ret = check_call(w, batch_submit(&batch, &w->gem, commands, 0, I915_EXEC_BLT),
				 "execbuffer2");
		ret = ret ?: check_call(w, gem_wait(&w->gem, commands, WAIT_S), "wait");
		for (unsigned int i = 0; !ret && i < PATTERN_BUFFERS; i++)
			ret = compare(w, &surfaces[i], handles[i], i);
		passes++;
		if (ret || now_s() >= end)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = PATTERN_PAUSE_MS * 1000000l }, NULL);
	}
	fputs(w->message, stdout);
	printf("blitcheck: pattern %02x: %s: %u passes over %u buffers\n", options.pattern,
	       w->status ? "WRONG" : "right", passes, PATTERN_BUFFERS);
	gem_close(&w->gem);
	return w->status;
}

/* ---- command line ---- */

enum {
	KEY_PATTERN = 0x100,
	KEY_HOLD,
	KEY_EXEC,
	KEY_SELF_TEST,
	KEY_JSON,
	KEY_CONTEXT,
	KEY_SIZE,
	KEY_NO_FAST_COPY
};

static const struct argp_option option_list[] = {
	{ "seed", 's', "N", 0, "Random seed (default 1)", 0 },
	{ "rounds", 'r', "N", 0, "Rounds per context, each of 2 batches of 8 blits (default 6)",
	  0 },
	{ "contexts", 'c', "N", 0,
	  "Concurrent contexts, each with its own file and address space (default 4)", 0 },
	{ "time", 't', "SECONDS", 0, "Run for this time instead of a number of rounds", 0 },
	{ "size", KEY_SIZE, "PIXELS", 0,
	  "Largest width and height of a surface, 16 to 4096 (default 160)", 0 },
	{ "context", KEY_CONTEXT, "N", 0, "Run only context N, to reproduce its failure", 0 },
	{ "no-fast-copy", KEY_NO_FAST_COPY, NULL, 0,
	  "Do not use XY_FAST_COPY_BLT (Gen8 never does)", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print the result as one JSON object", 0 },
	{ "pattern", KEY_PATTERN, "BYTE", 0,
	  "Fill buffers with BYTE, copy them repeatedly, and report any other byte", 0 },
	{ "hold", KEY_HOLD, "SECONDS", 0, "Duration of --pattern (default 5)", 0 },
	{ "exec", KEY_EXEC, "KIND", 0,
	  "Submit a bad batch and check that the driver recovers: unknown (command), loop "
	  "(endless), nowhere (jump to an unmapped address), badaddr (store to one), bogus-ggtt "
	  "(GGTT entries; needs root, and i915 not loaded yet)",
	  0 },
	{ "self-test", KEY_SELF_TEST, NULL, 0,
	  "Compare the CPU reference with another computation; needs no GPU", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case 's':
		options.seed = parse_number(state, text, 0, ~0ul);
		return 0;
	case 'r':
		options.rounds = parse_number(state, text, 1, 1000000);
		return 0;
	case 'c':
		options.contexts = parse_number(state, text, 1, CONTEXTS_MAX);
		return 0;
	case 't':
		options.time_s = parse_number(state, text, 1, 1000000);
		return 0;
	case KEY_SIZE:
		options.size = parse_number(state, text, 16, 4096);
		return 0;
	case KEY_CONTEXT:
		options.only = parse_number(state, text, 0, CONTEXTS_MAX - 1);
		return 0;
	case KEY_PATTERN:
		options.pattern = parse_number(state, text, 0, 255);
		return 0;
	case KEY_HOLD:
		options.hold_s = parse_number(state, text, 0, 1000000);
		return 0;
	case KEY_EXEC:
		options.bad_batch = text;
		return 0;
	case KEY_SELF_TEST:
		options.self_test = true;
		return 0;
	case KEY_JSON:
		options.json = true;
		return 0;
	case KEY_NO_FAST_COPY:
		options.no_fast_copy = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_usage(state);
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.doc = "Submit random fills and copies to the blitter and compare every byte with "
		       "a CPU reference.\vExit status: 0 no mismatch, 1 a byte was wrong, 2 "
		       "another failure, 77 no i915 device.",
	};

	argp_err_exit_status = EXIT_TROUBLE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (options.self_test)
		return surface_self_test(options.seed) ? EXIT_MISMATCH : EXIT_RIGHT;
	if (options.bad_batch)
		return bad_batch(options.bad_batch);
	return options.pattern >= 0 ? run_pattern() : run_checks();
}
