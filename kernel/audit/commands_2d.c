// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter's commands. Their addresses are always in the PPGTT of the context. Lengths are exact
 * for the commands that drivers use and that a pGPU in software executes. The lengths of the others
 * depend on immediate data, or differ between manuals; the engine skips them by their length field.
 */
#include "tables.h"

#define ROW(_opcode, _name, _least, _most) \
	[_opcode] = GHYVI_PLAIN(_name, _least, _most, 8, 8, BIT(GHYVI_BCS))
#define ANY GHYVI_ANY_LENGTH

const struct ghyvi_command ghyvi_2d_commands[GHYVI_2D_OPCODES] = {
	ROW(0x01, "XY_SETUP_BLT", 2, ANY),
	ROW(0x03, "XY_SETUP_CLIP_BLT", 2, ANY),
	ROW(0x11, "XY_SETUP_MONO_PATTERN_SL_BLT", 2, ANY),
	ROW(0x24, "XY_PIXEL_BLT", 2, ANY),
	ROW(0x25, "XY_SCANLINES_BLT", 2, ANY),
	ROW(0x26, "XY_TEXT_BLT", 2, ANY),
	ROW(0x31, "XY_TEXT_IMMEDIATE_BLT", 2, ANY),
	ROW(0x40, "COLOR_BLT", 2, ANY),
	[0x42] = GHYVI_PLAIN("XY_FAST_COPY_BLT", 10, 10, 8, 9, BIT(GHYVI_BCS)),
	ROW(0x43, "SRC_COPY_BLT", 2, ANY),
	ROW(0x50, "XY_COLOR_BLT", 7, 7),
	ROW(0x51, "XY_PAT_BLT", 2, ANY),
	ROW(0x52, "XY_MONO_PAT_BLT", 2, ANY),
	ROW(0x53, "XY_SRC_COPY_BLT", 10, 10),
	ROW(0x54, "XY_MONO_SRC_COPY_BLT", 2, ANY),
	ROW(0x55, "XY_FULL_BLT", 2, ANY),
	ROW(0x56, "XY_FULL_MONO_SRC_BLT", 2, ANY),
	ROW(0x57, "XY_FULL_MONO_PATTERN_BLT", 2, ANY),
	ROW(0x58, "XY_FULL_MONO_PATTERN_MONO_SRC_BLT", 2, ANY),
	ROW(0x59, "XY_MONO_PAT_FIXED_BLT", 2, ANY),
	ROW(0x71, "XY_MONO_SRC_COPY_IMMEDIATE_BLT", 2, ANY),
	ROW(0x72, "XY_PAT_BLT_IMMEDIATE", 2, ANY),
	ROW(0x73, "XY_SRC_COPY_CHROMA_BLT", 2, ANY),
	ROW(0x74, "XY_FULL_IMMEDIATE_PATTERN_BLT", 2, ANY),
	ROW(0x75, "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT", 2, ANY),
	ROW(0x76, "XY_PAT_CHROMA_BLT", 2, ANY),
	ROW(0x77, "XY_PAT_CHROMA_BLT_IMMEDIATE", 2, ANY),
};
