/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread of gmedia: a transcode pipeline over surfaces that share a window of graphics
 * addresses.
 *
 * The model: a frame is four submissions. Decode fills a surface; scale, encode and pack each copy
 * the previous surface to the next one. Surfaces are used round-robin, so the surface that is
 * written is always the least recently used one.
 *
 * Softpinning limits the graphics memory: a surface is bound only at one of a fixed number of
 * slots. A surface without a slot takes the least recently used slot. execbuffer2 then finds the
 * vma of another object there (i915_gem_gtt_reserve -> i915_gem_evict_for_node). It waits for that
 * object and unbinds it (gen8_ppgtt_clear: one store of the scratch entry per page of the surface).
 * Then it binds the new one (gen8_ppgtt_insert: again one store per page). There are no relocations
 * and no copies. No table is freed while it also maps neighbouring slots; a surface of 512 pages or
 * more can be the only user of a table, and then i915 replaces the table.
 */
#ifndef GHYVI_GUEST_GMEDIA_H
#define GHYVI_GUEST_GMEDIA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "gem.h"

#define STAGES 4 /* decode, scale, encode, pack */
#define IN_FLIGHT 2 /* frames */
#define SURFACES_MAX 1024u
#define NO_SLOT (-1)

/**
 * struct pipeline_shape - Parameters that are the same for all threads
 * @pages: size of a surface; the first two thirds are luma, the rest is chroma
 * @surfaces: number of surfaces of a thread
 * @slots: number of slots; no surface is ever rebound if it is @surfaces or more
 * @touch_rows: rows of 4 KiB of the surface that a submission writes, at least 2
 * @verify: compare the content of the surfaces after each frame
 */
struct pipeline_shape {
	unsigned int pages;
	unsigned int surfaces;
	unsigned int slots;
	unsigned int touch_rows;
	bool verify;
};

struct pipeline {
	const struct pipeline_shape *shape;
	struct gem gem;
	unsigned int number;
	struct surface plane[2]; /* luma, chroma: rows of one page with a stride of some pages */
	uint32_t surface[SURFACES_MAX]; /* handles */
	int slot_of[SURFACES_MAX]; /* by surface; NO_SLOT: not bound */
	int surface_in[SURFACES_MAX]; /* by slot; -1: free */
	uint64_t used[SURFACES_MAX]; /* by slot: number of the last submission, for LRU */
	uint32_t commands[IN_FLIGHT][STAGES];
	uint64_t submissions;
	uint64_t frames; /* submitted since the start */
	uint64_t rebinds; /* how many times a surface took the slot of another one */
	uint64_t verified; /* frames */
	struct batch batch;
	const char *step; /* the step that failed */
};

/* All return 0 or a negative errno. */
int pipeline_open(struct pipeline *p, const struct pipeline_shape *shape, unsigned int number);
/**
 * pipeline_frame() - Submit one frame.
 * @p: the pipeline
 *
 * First waits for the completion of the frame that is IN_FLIGHT frames older.
 *
 * Return: 0, -EILSEQ if a surface has unexpected content, or another negative errno.
 */
int pipeline_frame(struct pipeline *p);
/**
 * pipeline_drain() - Wait for the completion of all frames.
 * @p: the pipeline
 *
 * Return: 0 or a negative errno.
 */
int pipeline_drain(struct pipeline *p);
void pipeline_close(struct pipeline *p);

#endif
