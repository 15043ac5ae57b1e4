/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread of gmedia: a transcode pipeline over surfaces that share a window of graphics addresses.
 *
 * DOC: what stands for what
 * A frame is four submissions: decode fills a surface, scale, encode and pack each copy the one before to the
 * next. Surfaces are used in turn, so the one that is written has always been unused for longest.
 *
 * Graphics memory is limited by softpinning: a surface is only ever bound at one of a fixed number of slots. One
 * that has none takes the slot of the least recently used. execbuffer2 then finds another object's
 * vma there (i915_gem_gtt_reserve -> i915_gem_evict_for_node), waits for it and unbinds it (gen8_ppgtt_clear: as
 * many stores of the scratch entry as the surface has pages), and binds the new one (gen8_ppgtt_insert: as many
 * stores again). Nothing else moves: no relocations, no copies, and no table is freed as long as it also serves
 * the slot's neighbours (a surface of 512 pages and more can own a table alone: i915 then replaces the table).
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
 * struct pipeline_shape - the same for all threads
 * @pages: of a surface, the first two thirds luma, then chroma
 * @slots: @surfaces or more: nothing is ever rebound
 * @touch_rows: rows of 4 KiB that a submission writes, of all @pages, at least 2
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
	struct surface plane[2]; /* luma, chroma: rows of one page, some pages apart */
	uint32_t surface[SURFACES_MAX]; /* handles */
	int slot_of[SURFACES_MAX]; /* NO_SLOT: not bound */
	int surface_in[SURFACES_MAX]; /* of slots; -1: free */
	uint64_t used[SURFACES_MAX]; /* of slots: number of the submission, for LRU */
	uint32_t commands[IN_FLIGHT][STAGES];
	uint64_t submissions;
	uint64_t frames; /* submitted since the start */
	uint64_t rebinds; /* surfaces that took another one's slot */
	uint64_t verified; /* frames */
	struct batch batch;
	const char *step; /* what failed */
};

/* All return 0 or -errno; pipeline_frame: -EILSEQ when a surface does not hold what it must. */
int pipeline_open(struct pipeline *p, const struct pipeline_shape *shape, unsigned int number);
/** pipeline_frame() - submit one frame; returns when the one IN_FLIGHT before it is done. */
int pipeline_frame(struct pipeline *p);
/** pipeline_drain() - wait for all frames. */
int pipeline_drain(struct pipeline *p);
void pipeline_close(struct pipeline *p);

#endif
