/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paper's table-page traffic, made up. No random numbers.
 */
#ifndef GHYVI_SIM_GENERATOR_H
#define GHYVI_SIM_GENERATOR_H

#include "trace.h"

/**
 * struct generator - a trace source
 * @heavy: surfaces overflow graphics memory and are rebound all the time; otherwise two stores per frame
 * @surface: pages of one surface
 * @slots: slot of each surface that is rebound, in order (heavy)
 */
struct generator {
	struct trace_source source;
	bool heavy;
	uint32_t surface;
	uint32_t first_page, window_pages;
	uint32_t frames;
	uint32_t *slots;
	/* where it stands */
	uint32_t frame, submission, step;
	uint64_t at, left; /* entries still to be written in this step */
};

/** generator_default_frames() - about 627,000 stores; 1000 frames of the normal case. 0: no such resolution. */
uint32_t generator_default_frames(const char *resolution, bool heavy);
/**
 * generator_init() - @resolution: "480p", "720p" or "1080p"; @entry_bytes: 4 (512 table pages) or 8 (1024).
 * Returns 0, or -1 (unknown resolution, other entry size, no frames, no memory). generator_free() releases it.
 */
int generator_init(struct generator *generator, const char *resolution, bool heavy, uint32_t frames,
		   unsigned int entry_bytes);
void generator_free(struct generator *generator);

#endif
