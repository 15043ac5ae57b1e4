/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shortcuts: a fast path for plain commands, whose only rule is their length. They are derived from
 * the command tables and indexed by the upper half of the header. Most commands are plain, so the
 * check is hardly more than finding the next command. A command without a shortcut is looked up in
 * the tables, which remain the only source of rules.
 */
#ifndef GHYVI_AUDIT_SHORTCUTS_H
#define GHYVI_AUDIT_SHORTCUTS_H

#include <linux/compiler.h>
#include <ghyvi/types.h>

#define AUDIT_SHORTCUT_BLOCKS 2048
#define AUDIT_SHORTCUT_BLOCK 32

/* struct audit_shortcut - the length of a plain command */
struct audit_shortcut {
	u16 least; /* minimum length in dwords, header included */
	u16 most; /* maximum length; less than @least: there is no shortcut */
	u32 length_bits; /* as in struct ghyvi_command */
};

/* struct ghyvi_audit_shortcuts - the shortcuts of one engine */
struct ghyvi_audit_shortcuts {
	/* all blocks of shortcuts, each indexed by bits 20:16 of the header */
	const struct audit_shortcut (*blocks)[AUDIT_SHORTCUT_BLOCK];
	u8 block[AUDIT_SHORTCUT_BLOCKS]; /* number of a block, by bits 31:21 of the header */
};

/* Returns the shortcuts of all engines of a generation (8 or 9), by engine. May sleep. */
const struct ghyvi_audit_shortcuts *ghyvi_audit_shortcuts(unsigned int gen);

static inline const struct audit_shortcut *
audit_shortcut_find(const struct ghyvi_audit_shortcuts *shortcuts, u32 header)
{
	return &shortcuts->blocks[shortcuts->block[header >> 21]][header >> 16 & 31];
}

/*
 * Returns the length of a packet in dwords. Without a shortcut, the caller's check against least
 * and most fails. Branches on the usual values let the CPU predict the position of the next command
 * instead of waiting for the load of @shortcut.
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
	return (header & ((1u << bits) - 1)) + (shortcut->least == 1 ? 1 : 2);
}

#endif
