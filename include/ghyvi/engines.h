/* SPDX-License-Identifier: GPL-2.0-only */
/* Names and register bases of the engines, which are the same on Gen8 and Gen9. */
#ifndef GHYVI_ENGINES_H
#define GHYVI_ENGINES_H

#include <ghyvi/types.h>

#define GHYVI_RENDER_BASE 0x02000
#define GHYVI_VIDEO_BASE 0x12000
#define GHYVI_VIDEO_ENHANCE_BASE 0x1a000
#define GHYVI_BLITTER_BASE 0x22000

/**
 * ghyvi_engine_base() - get the offset of an engine's registers.
 * @id: engine, below GHYVI_ENGINES
 *
 * Return: byte offset in BAR 0.
 */
static inline u32 ghyvi_engine_base(enum ghyvi_engine_id id)
{
	static const u32 bases[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GHYVI_RENDER_BASE,
		[GHYVI_BCS] = GHYVI_BLITTER_BASE,
		[GHYVI_VCS] = GHYVI_VIDEO_BASE,
		[GHYVI_VECS] = GHYVI_VIDEO_ENHANCE_BASE,
	};

	return bases[id];
}

/**
 * ghyvi_engine_name() - get the name of an engine.
 * @id: engine, below GHYVI_ENGINES
 *
 * Return: a static string: "rcs", "bcs", "vcs" or "vecs".
 */
static inline const char *ghyvi_engine_name(enum ghyvi_engine_id id)
{
	static const char *const names[GHYVI_ENGINES] = {
		[GHYVI_RCS] = "rcs",
		[GHYVI_BCS] = "bcs",
		[GHYVI_VCS] = "vcs",
		[GHYVI_VECS] = "vecs",
	};

	return names[id];
}

#endif
