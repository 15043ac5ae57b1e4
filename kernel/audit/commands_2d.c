// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter's commands. Their addresses are always in the PPGTT of the context. Lengths are those
 * of Gen8 and Gen9, with addresses of two dwords: one dword per address more than in sources that
 * describe earlier generations. Commands with immediate data are longer.
 */
#include "tables.h"

#define ROW(_name, _source, _least, _most) \
	[_name] = GHYVI_PLAIN(#_name, _source, _least, _most, 8, 8, BIT(GHYVI_BCS), CONTEXT)
/*
 * Blits with a color key or with one of the fixed patterns. No driver that is known emits them, and
 * the public manuals of Gen8 and Gen9 do not define the modes of the key. The job ends with a
 * reason, because a copy that is silently missing looks like a defect of the driver.
 */
#define REFUSED(_name, _source, _least, _most)        \
	[_name] = { .name = #_name,                   \
		    .source = GHYVI_SOURCE_##_source, \
		    .least = _least,                  \
		    .most = _most,                    \
		    .engines = BIT(GHYVI_BCS),        \
		    .length_bits = 8,                 \
		    .kernel = GHYVI_REFUSED,          \
		    .user = GHYVI_REFUSED,            \
		    .gen = 8 }
#define ANY GHYVI_ANY_LENGTH

const struct ghyvi_command ghyvi_2d_commands[GHYVI_2D_OPCODES] = {
	ROW(XY_SETUP_BLT, SNA, 10, 10),
	ROW(XY_SETUP_CLIP_BLT, SNA, 3, 3),
	ROW(XY_SETUP_MONO_PATTERN_SL_BLT, SNA, 10, 10),
	ROW(XY_PIXEL_BLT, SNA, 2, 2),
	ROW(XY_SCANLINES_BLT, SNA, 3, 3),
	ROW(XY_TEXT_BLT, SNA_DEBUG, 5, 5),
	ROW(XY_TEXT_IMMEDIATE_BLT, SNA, 3, ANY),
	ROW(COLOR_BLT, I915, 6, 6),
	[XY_FAST_COPY_BLT] =
		GHYVI_PLAIN("XY_FAST_COPY_BLT", I915, 10, 10, 8, 9, BIT(GHYVI_BCS), CONTEXT),
	ROW(SRC_COPY_BLT, SNA_DEBUG, 8, 8),
	ROW(XY_COLOR_BLT, SNA, 7, 7),
	ROW(XY_PAT_BLT, SNA, 8, 8),
	ROW(XY_MONO_PAT_BLT, SNA, 10, 10),
	ROW(XY_SRC_COPY_BLT, SNA, 10, 10),
	ROW(XY_MONO_SRC_COPY_BLT, SNA, 10, 10),
	ROW(XY_FULL_BLT, SNA_DEBUG, 12, 12),
	ROW(XY_FULL_MONO_SRC_BLT, SNA_DEBUG, 12, 12),
	ROW(XY_FULL_MONO_PATTERN_BLT, SNA, 14, 14),
	ROW(XY_FULL_MONO_PATTERN_MONO_SRC_BLT, SNA, 14, 14),
	REFUSED(XY_MONO_PAT_FIXED_BLT, SNA_DEBUG, 2, ANY),
	ROW(XY_MONO_SRC_COPY_IMMEDIATE_BLT, SNA, 8, ANY),
	ROW(XY_PAT_BLT_IMMEDIATE, SNA_DEBUG, 6, ANY),
	REFUSED(XY_SRC_COPY_CHROMA_BLT, GVT, 2, ANY),
	ROW(XY_FULL_IMMEDIATE_PATTERN_BLT, GVT, 10, ANY),
	ROW(XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT, SNA_DEBUG, 10, ANY),
	REFUSED(XY_PAT_CHROMA_BLT, SNA_DEBUG, 2, ANY),
	REFUSED(XY_PAT_CHROMA_BLT_IMMEDIATE, SNA_DEBUG, 2, ANY),
};
