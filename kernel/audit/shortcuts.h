/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A way to plain commands that is shorter than the tables, made from them: their lengths by the upper half of their
 * header. Most commands are plain, and to look at one takes not much longer than to find the next one. A command
 * without a shortcut is looked up in the tables, so that these alone say what is right.
 */
#ifndef GHYVI_AUDIT_SHORTCUTS_H
#define GHYVI_AUDIT_SHORTCUTS_H

#include <linux/compiler.h>
#include <ghyvi/types.h>

#define AUDIT_SHORTCUT_BLOCKS 2048
#define AUDIT_SHORTCUT_BLOCK 32

/**
 * struct audit_shortcut - to a plain command
 * @least, @most: dwords, header included; in what is none @most is the smaller one
 * @length_bits: as in struct ghyvi_command
 */
struct audit_shortcut {
	u16 least, most;
	u32 length_bits;
};

/** struct audit_shortcuts - of one engine: blocks by bits 31:21 of the header, in each 32 commands by bits 20:16. */
struct audit_shortcuts {
	const struct audit_shortcut (*blocks)[AUDIT_SHORTCUT_BLOCK];
	u8 block[AUDIT_SHORTCUT_BLOCKS];
};

/** audit_shortcuts() - of all engines of a generation, by their ids. May sleep. */
const struct audit_shortcuts *audit_shortcuts(unsigned int gen);

static inline const struct audit_shortcut *audit_shortcut_find(const struct audit_shortcuts *shortcuts,
							       u32 header)
{
	return &shortcuts->blocks[shortcuts->block[header >> 21]][header >> 16 & 31];
}

/*
 * Of the packet, which need not be that of a shortcut. Branches for what is usual, so that the processor foresees where
 * the next command is, and does not wait for the shortcut.
 */
static inline unsigned int audit_shortcut_length(const struct audit_shortcut *shortcut, u32 header)
{
	unsigned int bits = shortcut->length_bits;

	if (likely(bits == 8))
		return (header & 0xff) + 2;
	if (bits == 0)
		return 1;
	if (bits == 12)
		return (header & 0xfff) + 2;
	if (bits == 16)
		return (header & 0xffff) + 2;
	return (header & ((1u << bits) - 1)) + 2;
}

#endif
