// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window is 672 MiB of a 2 GiB address space and starts at 600 MiB: table pages 150..317 of 512
 * with 4-byte entries, 300..635 of 1024 with 8-byte entries. In the heavy case each submission
 * first clears one surface and inserts another in the slot that was cleared one frame earlier. The
 * slots are a systematic sample of a triangular density, visited with a golden-ratio stride.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"

#define SUBMISSIONS 4u /* per frame: decode, scale, encode, pack */
#define FRAMES_MAX 10000000u
#define NORMAL_STORES 2u
#define PEAK 0.5

static const struct resolution {
	const char *name;
	uint32_t surface; /* pages of an NV12 surface */
	uint32_t frames; /* of the paper's "10 s" under strict */
} resolutions[] = {
	{ "480p", 127, 617 },
	{ "720p", 338, 232 },
	{ "1080p", 765, 103 },
};

static const struct resolution *find_resolution(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(resolutions) / sizeof(resolutions[0]); i++)
		if (!strcmp(resolutions[i].name, name))
			return &resolutions[i];
	return NULL;
}

uint32_t generator_default_frames(const char *name, bool heavy)
{
	const struct resolution *resolution = find_resolution(name);

	return !resolution ? 0 : heavy ? resolution->frames : 1000;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	uint64_t rest;

	for (; b; a = b, b = rest)
		rest = a % b;
	return a;
}

static uint32_t pick_slot(uint64_t i, uint64_t count, uint32_t slots)
{
	double q = ((double)i + 0.5) / (double)count;
	double x = q < PEAK ? pow(q * PEAK, 0.5) : 1 - pow((1 - q) * (1 - PEAK), 0.5);
	uint32_t slot = (uint32_t)(x * slots);

	return slot < slots ? slot : slots - 1;
}

static uint32_t *slot_sequence(uint64_t count, uint32_t slots)
{
	uint64_t stride = (uint64_t)((double)count * 0.6180339887) | 1;
	uint32_t *sequence = calloc(count, sizeof(*sequence));
	uint64_t i;

	if (!sequence)
		return NULL;
	while (gcd(stride, count) != 1)
		stride += 2;
	for (i = 0; i < count; i++)
		sequence[i] = pick_slot(i * stride % count, count, slots);
	return sequence;
}

static uint32_t entries_of(const struct generator *g)
{
	return trace_entries(&g->source);
}

/* Emits stores to the rest of the surface, up to the end of the table page. */
static void emit_run(struct generator *g, struct trace_record *record)
{
	uint32_t entries = entries_of(g);

	record->type = TRACE_STORES;
	record->page = g->at / entries;
	record->entry = g->at % entries;
	record->count = entries - record->entry < g->left ? entries - record->entry : g->left;
	g->at += record->count;
	g->left -= record->count;
}

static void emit_submission(struct generator *g, struct trace_record *record)
{
	record->type = TRACE_SUBMISSION;
	g->step = 0;
	if (++g->submission == SUBMISSIONS) {
		g->submission = 0;
		g->frame++;
	}
}

/* The steps of a submission: clear a surface, insert another one, submit. */
static bool next_heavy(struct generator *g, struct trace_record *record)
{
	uint64_t at = (uint64_t)g->frame * SUBMISSIONS + g->submission;

	if (g->left) {
		emit_run(g, record);
		return true;
	}
	if (g->step == 2)
		return false;
	if (!g->step)
		at += SUBMISSIONS;
	g->step++;
	g->at = (uint64_t)g->first_page * entries_of(g) + (uint64_t)g->slots[at] * g->surface;
	g->left = g->surface;
	emit_run(g, record);
	return true;
}

static bool next_normal(struct generator *g, struct trace_record *record)
{
	if (g->submission || g->step == NORMAL_STORES)
		return false;
	record->type = TRACE_STORES;
	record->page = g->first_page + (uint64_t)g->frame * 37 % g->window_pages;
	record->entry = ((uint64_t)g->frame * 13 + g->step) % entries_of(g);
	record->count = 1;
	g->step++;
	return true;
}

static int generator_next(struct trace_source *source, struct trace_record *record)
{
	struct generator *g = (struct generator *)source;

	if (g->frame == g->frames)
		return 0;
	memset(record, 0, sizeof(*record));
	if (!(g->heavy ? next_heavy(g, record) : next_normal(g, record)))
		emit_submission(g, record);
	return 1;
}

static int generator_rewind(struct trace_source *source)
{
	struct generator *g = (struct generator *)source;

	g->frame = g->submission = g->step = 0;
	g->left = 0;
	return 0;
}

int generator_init(struct generator *g, const char *name, bool heavy, uint32_t frames,
		   unsigned int entry_bytes)
{
	const struct resolution *resolution = find_resolution(name);
	uint32_t scale = entry_bytes / 4;

	_Static_assert(offsetof(struct generator, source) == 0,
		       "a source is cast to its generator");
	memset(g, 0, sizeof(*g));
	if (!resolution || (entry_bytes != 4 && entry_bytes != 8) || !frames || frames > FRAMES_MAX)
		return -1;
	g->source.next = generator_next;
	g->source.rewind = generator_rewind;
	g->source.entry_bytes = entry_bytes;
	g->source.table_pages = 512 * scale;
	g->heavy = heavy;
	g->surface = resolution->surface;
	g->first_page = 150 * scale;
	g->window_pages = 168 * scale;
	g->frames = frames;
	if (heavy)
		g->slots = slot_sequence(((uint64_t)frames + 1) * SUBMISSIONS,
					 g->window_pages * entries_of(g) / g->surface);
	return heavy && !g->slots ? -1 : 0;
}

void generator_free(struct generator *g)
{
	free(g->slots);
	g->slots = NULL;
}
