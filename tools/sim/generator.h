/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A deterministic model of the page table traffic of the gHyvi paper's media workload.
 */
#ifndef GHYVI_SIM_GENERATOR_H
#define GHYVI_SIM_GENERATOR_H

#include "trace.h"

/*
 * struct generator - a trace source
 * @heavy: surfaces exceed the graphics memory and are rebound all the time; otherwise the trace has
 * two
 *	stores per frame
 * @surface: number of pages of a surface
 * @slots: heavy: the slot of each rebound surface, in order
 */
struct generator {
	struct trace_source source;
	bool heavy;
	uint32_t surface;
	uint32_t first_page, window_pages;
	uint32_t frames;
	uint32_t *slots;
	/* the current position */
	uint32_t frame, submission, step;
	uint64_t at, left; /* next entry of this step, and number of entries that are left */
};

/**
 * generator_default_frames() - The default number of frames.
 * @resolution: "480p", "720p" or "1080p"
 * @heavy: about 627,000 stores; otherwise 1000 frames
 *
 * Return: the number of frames; 0 if @resolution is unknown.
 */
uint32_t generator_default_frames(const char *resolution, bool heavy);
/**
 * generator_init() - Initialize a generator.
 * @generator: to be freed with generator_free()
 * @resolution: "480p", "720p" or "1080p"
 * @heavy: see struct generator
 * @frames: at least 1
 * @entry_bytes: 4 (512 table pages) or 8 (1024 table pages)
 *
 * Return: 0, or -1 for an invalid argument or if there is no memory.
 */
int generator_init(struct generator *generator, const char *resolution, bool heavy, uint32_t frames,
		   unsigned int entry_bytes);
void generator_free(struct generator *generator);

#endif
