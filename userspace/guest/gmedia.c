// SPDX-License-Identifier: GPL-2.0-only
/*
 * gmedia: transcode pipelines whose surfaces do not fit into their graphics memory, so that the
 * driver rebinds them all the time. It measures the cost of page table updates.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "blitcheck.h"
#include "clock.h"
#include "gmedia.h"
#include "options.h"

#define THREADS_MAX 64
/* Values of the gHyvi paper: graphics memory shared by all threads, and surfaces per thread. */
#define PAPER_PAGES (672 * 256)
#define PAPER_SURFACES 50

enum media_case {
	CASE_AUTO,
	CASE_HEAVY,
	CASE_NORMAL,
};

static const char *const case_names[] = { "auto", "heavy", "normal" };

/* Sizes of NV12 surfaces, with the number of lines rounded up to 16 */
static const struct resolution {
	const char *name;
	unsigned int pages;
} resolutions[] = { { "480p", 127 }, { "720p", 338 }, { "1080p", 765 } };

static struct {
	enum media_case which;
	const struct resolution *resolution;
	unsigned int threads;
	unsigned int surfaces; /* before scaling */
	unsigned int window_mib; /* per thread, before scaling; 0: automatic */
	unsigned int scale;
	unsigned int frames;
	double seconds;
	unsigned int touch_rows;
	bool verify;
	bool json;
} options = {
	.which = CASE_HEAVY,
	.resolution = &resolutions[1],
	.threads = 4,
	.surfaces = PAPER_SURFACES,
	.scale = 4,
	.frames = 100,
	.touch_rows = 16,
};

struct worker {
	pthread_t thread;
	struct pipeline pipeline;
	unsigned int warm_up; /* frames that are not timed */
	uint64_t frames, rebinds; /* after the warm-up */
	double ended_s;
	int error;
};

static struct pipeline_shape shape;
static struct worker *workers;
static pthread_barrier_t ready;
static double started_s;
static atomic_bool stop;

static void *work(void *argument)
{
	struct worker *w = argument;
	struct pipeline *p = &w->pipeline;
	uint64_t rebinds;

	for (unsigned int i = 0; !w->error && i < w->warm_up; i++)
		w->error = pipeline_frame(p);
	if (!w->error)
		w->error = pipeline_drain(p);
	if (w->error)
		atomic_store(&stop, true);
	rebinds = p->rebinds;
	if (pthread_barrier_wait(&ready) == PTHREAD_BARRIER_SERIAL_THREAD)
		started_s = now_s();
	pthread_barrier_wait(&ready);
	while (!w->error && !atomic_load(&stop) && w->frames < options.frames) {
		if (options.seconds && now_s() - started_s >= options.seconds)
			break;
		w->error = pipeline_frame(p);
		w->frames += !w->error;
	}
	if (!w->error)
		w->error = pipeline_drain(p);
	if (w->error)
		atomic_store(&stop, true);
	w->ended_s = now_s();
	w->rebinds = p->rebinds - rebinds;
	return NULL;
}

/* ---- sizes ---- */

static bool fits_as_in_the_paper(void)
{
	return (uint64_t)options.threads * options.surfaces * options.resolution->pages <=
	       PAPER_PAGES;
}

static unsigned int heavy_slots(void)
{
	unsigned int pages = options.resolution->pages,
		     slots = PAPER_PAGES / options.threads / pages;
	unsigned int most = options.surfaces * 2 / 3;

	if (options.window_mib)
		return options.window_mib * 256 / pages;
	/* With few threads, all surfaces would fit into the paper's graphics memory. */
	return slots < most ? slots : most;
}

static int choose_shape(void)
{
	shape.pages = options.resolution->pages;
	shape.touch_rows = options.touch_rows < shape.pages ? options.touch_rows : shape.pages;
	shape.verify = options.verify;
	shape.surfaces = options.surfaces / options.scale;
	if (shape.surfaces < STAGES)
		shape.surfaces = STAGES;
	if (options.which == CASE_AUTO) {
		bool fits = options.window_mib ? heavy_slots() >= options.surfaces :
						 fits_as_in_the_paper();

		options.which = fits ? CASE_NORMAL : CASE_HEAVY;
	}
	if (options.which == CASE_NORMAL) {
		shape.slots = shape.surfaces;
		return 0;
	}
	shape.slots = heavy_slots() / options.scale;
	/*
	 * A submission needs two slots: for the surface that it reads and the one that it writes.
	 */
	if (shape.slots < 2)
		shape.slots = 2;
	if (shape.slots < shape.surfaces)
		return 0;
	fprintf(stderr, "gmedia: %u surfaces fit into a window of %u: not a heavy case\n",
		shape.surfaces, shape.slots);
	return -EINVAL;
}

/* ---- report ---- */

static double fps_of(const struct worker *w)
{
	double seconds = w->ended_s - started_s;

	return seconds > 0 ? w->frames / seconds : 0;
}

static void report(bool ok)
{
	uint64_t frames = 0, rebinds = 0, verified = 0;
	double seconds = 0, fps;

	for (unsigned int i = 0; i < options.threads; i++) {
		const struct worker *w = &workers[i];

		frames += w->frames;
		rebinds += w->rebinds;
		verified += w->pipeline.verified;
		if (w->ended_s - started_s > seconds)
			seconds = w->ended_s - started_s;
	}
	fps = seconds > 0 ? frames / seconds : 0;
	if (options.json) {
		printf("{\"ok\": %s, \"case\": \"%s\", \"resolution\": \"%s\", \"pages\": %u, "
		       "\"threads\": %u, \"surfaces\": %u, \"slots\": %u, \"warmup_frames\": %u, "
		       "\"frames\": %" PRIu64 ", \"seconds\": %.3f, \"fps_total\": %.3f, "
		       "\"fps_per_thread\": [",
		       ok ? "true" : "false", case_names[options.which], options.resolution->name,
		       shape.pages, options.threads, shape.surfaces, shape.slots,
		       workers[0].warm_up * options.threads, frames, seconds, fps);
		for (unsigned int i = 0; i < options.threads; i++)
			printf("%s%.3f", i ? ", " : "", fps_of(&workers[i]));
		printf("], \"rebinds\": %" PRIu64 ", \"verified\": %" PRIu64 "}\n", rebinds,
		       verified);
		return;
	}
	for (unsigned int i = 0; i < options.threads; i++)
		printf("thread %u: %" PRIu64 " frames, %.2f frames/s\n", i, workers[i].frames,
		       fps_of(&workers[i]));
	printf("gmedia: %s: %s, %s, %u threads, %u surfaces in %u slots of %u pages: %" PRIu64
	       " frames in %.2f s, %.2f frames/s, %" PRIu64 " rebinds, %" PRIu64 " verified\n",
	       ok ? "done" : "FAILED", case_names[options.which], options.resolution->name,
	       options.threads, shape.surfaces, shape.slots, shape.pages, frames, seconds, fps,
	       rebinds, verified);
}

static int run(void)
{
	unsigned int opened = 0;
	int status = EXIT_RIGHT;

	workers = calloc(options.threads, sizeof(*workers));
	if (!workers || pthread_barrier_init(&ready, NULL, options.threads))
		abort();
	for (; opened < options.threads; opened++) {
		struct worker *w = &workers[opened];
		int ret = pipeline_open(&w->pipeline, &shape, opened);

		/* Until each surface has been used once, so that its pages and tables exist. */
		w->warm_up = (shape.surfaces + STAGES - 1) / STAGES + 1;
		if (!ret)
			continue;
		fprintf(stderr, "gmedia: %s: %s\n", w->pipeline.step, strerror(-ret));
		status = ret == -ENODEV ? EXIT_NO_DEVICE : EXIT_TROUBLE;
		goto close;
	}
	for (unsigned int i = 0; i < options.threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			abort();
	for (unsigned int i = 0; i < options.threads; i++) {
		struct worker *w = &workers[i];

		pthread_join(w->thread, NULL);
		if (!w->error && gem_guilty(&w->pipeline.gem)) {
			w->pipeline.step = "the context was reset";
			w->error = -EIO;
		}
		if (!w->error)
			continue;
		fprintf(stderr, "gmedia: thread %u: %s: %s\n", i, w->pipeline.step,
			strerror(-w->error));
		if (status != EXIT_MISMATCH)
			status = w->error == -EILSEQ ? EXIT_MISMATCH : EXIT_TROUBLE;
	}
	report(status == EXIT_RIGHT);
close:
	while (opened--)
		pipeline_close(&workers[opened].pipeline);
	free(workers);
	return status;
}

/* ---- command line ---- */

enum { KEY_SECONDS = 0x100, KEY_SURFACES, KEY_WINDOW, KEY_SCALE, KEY_TOUCH, KEY_VERIFY, KEY_JSON };

static const struct argp_option option_list[] = {
	{ "case", 'c', "CASE", 0,
	  "heavy: surfaces evict each other from graphics memory (default); normal: each surface "
	  "stays bound; auto: normal if threads x surfaces x pages of a surface are at most 172032 "
	  "(672 MiB)",
	  0 },
	{ "resolution", 'r', "NAME", 0,
	  "480p, 720p or 1080p: surfaces of 127, 338 or 765 pages (default 720p)", 0 },
	{ "threads", 't', "N", 0, "Pipelines, each with its own file and address space (default 4)",
	  0 },
	{ "frames", 'f', "N", 0, "Frames per thread (default 100)", 0 },
	{ "seconds", KEY_SECONDS, "S", 0, "Start no frame after this time", 0 },
	{ "surfaces", KEY_SURFACES, "N", 0, "Surfaces per thread (default 50)", 0 },
	{ "window-mib", KEY_WINDOW, "MIB", 0,
	  "Graphics memory per thread (default: an equal share of 672 MiB, but at most room for "
	  "two thirds of the surfaces)",
	  0 },
	{ "scale", KEY_SCALE, "N", 0,
	  "Divide the number of surfaces and the window by N (default 4); the cost of a rebind "
	  "stays the same",
	  0 },
	{ "touch-rows", KEY_TOUCH, "N", 0,
	  "Rows of 4 KiB that each submission writes, 2 or more (default 16)", 0 },
	{ "verify", KEY_VERIFY, NULL, 0,
	  "Compare all surfaces of each frame with the expected content; slow, no frames in flight",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "Print the result as one JSON object", 0 },
	{ 0 },
};

static void parse_case(struct argp_state *state, const char *text)
{
	for (unsigned int i = 0; i < sizeof(case_names) / sizeof(case_names[0]); i++) {
		if (!strcmp(text, case_names[i])) {
			options.which = i;
			return;
		}
	}
	argp_error(state, "no case '%s'", text);
}

static void parse_resolution(struct argp_state *state, const char *text)
{
	for (unsigned int i = 0; i < sizeof(resolutions) / sizeof(resolutions[0]); i++) {
		if (!strcmp(text, resolutions[i].name)) {
			options.resolution = &resolutions[i];
			return;
		}
	}
	argp_error(state, "no resolution '%s'", text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case 'c':
		parse_case(state, text);
		return 0;
	case 'r':
		parse_resolution(state, text);
		return 0;
	case 't':
		options.threads = parse_number(state, text, 1, THREADS_MAX);
		return 0;
	case 'f':
		options.frames = parse_number(state, text, 1, 1000000);
		return 0;
	case KEY_SECONDS:
		options.seconds = parse_number(state, text, 1, 1000000);
		return 0;
	case KEY_SURFACES:
		options.surfaces = parse_number(state, text, STAGES, SURFACES_MAX);
		return 0;
	case KEY_WINDOW:
		options.window_mib = parse_number(state, text, 1, 4096);
		return 0;
	case KEY_SCALE:
		options.scale = parse_number(state, text, 1, SURFACES_MAX);
		return 0;
	case KEY_TOUCH:
		options.touch_rows = parse_number(state, text, 2, SURFACES_MAX);
		return 0;
	case KEY_VERIFY:
		options.verify = true;
		return 0;
	case KEY_JSON:
		options.json = true;
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
		.doc = "Simulate transcoding. Each frame is four submissions to the blitter "
		       "(decode, scale, encode, pack) in surfaces that are rebound all the time "
		       "(heavy) or never (normal).\v"
		       "A submission writes only --touch-rows pages of a surface, not all of it, "
		       "so that copying does not hide the cost of page tables. In the heavy case "
		       "each submission unbinds one surface and binds another: 2 x pages table "
		       "entries, 8 x pages per frame. Memory used: threads x surfaces x pages; "
		       "by default (4 threads, 50/4 surfaces of 338 pages) 64 MiB, with 15 "
		       "threads 240 MiB, and 990 MiB with --scale 1. Some untimed frames come "
		       "first, until every surface has been bound.\n\n"
		       "Exit status: 0 success, 1 a pixel was wrong, 2 another failure, "
		       "77 no i915 device.",
	};

	argp_err_exit_status = EXIT_TROUBLE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return choose_shape() ? EXIT_TROUBLE : run();
}
