// SPDX-License-Identifier: GPL-2.0-only
/* Creation of the shortcuts, once for all auditors. */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include "shortcuts.h"

#define FIRST_GEN 8
#define GENS 2

/*
 * Equal blocks are shared. When all are in use, further commands have no shortcuts and are looked
 * up in the tables.
 */
#define DIFFERENT_BLOCKS 128
static struct audit_shortcut blocks[DIFFERENT_BLOCKS][AUDIT_SHORTCUT_BLOCK];
static unsigned int nr_blocks;
static struct ghyvi_audit_shortcuts shortcuts[GENS][GHYVI_ENGINES];
static DEFINE_MUTEX(lock); /* protects all of the above until they are complete */

static const struct audit_shortcut none = { .least = 1 };

static struct audit_shortcut shortcut_to(unsigned int gen, enum ghyvi_engine_id engine, u32 header)
{
	const struct ghyvi_command *command = ghyvi_command_find(engine, header);

	if (!command || !command->plain || command->gen > gen)
		return none;
	return (struct audit_shortcut){ command->least, command->most, command->length_bits };
}

/*
 * Returns the number of a block that equals the last one, blocks[nr_blocks]: an existing one, or
 * the last one, which is then kept. Returns 0 (no shortcuts) if no block is left. Caller holds
 * lock.
 */
static u8 block_like_last(void)
{
	unsigned int i;

	lockdep_assert_held(&lock);
	for (i = 0; i < nr_blocks; i++)
		if (!memcmp(blocks[i], blocks[nr_blocks], sizeof(blocks[i])))
			return i;
	if (nr_blocks == DIFFERENT_BLOCKS - 1)
		return 0;
	return nr_blocks++;
}

static void make_one(unsigned int gen, enum ghyvi_engine_id engine)
{
	struct ghyvi_audit_shortcuts *made = &shortcuts[gen - FIRST_GEN][engine];
	unsigned int i, j;

	for (i = 0; i < AUDIT_SHORTCUT_BLOCKS; i++) {
		for (j = 0; j < AUDIT_SHORTCUT_BLOCK; j++)
			blocks[nr_blocks][j] = shortcut_to(gen, engine, i << 21 | j << 16);
		made->block[i] = block_like_last();
	}
	made->blocks = blocks;
}

/* Block 0 has no shortcuts. Caller holds lock. */
static void make_all(void)
{
	unsigned int gen, engine, j;

	lockdep_assert_held(&lock);
	for (j = 0; j < AUDIT_SHORTCUT_BLOCK; j++)
		blocks[0][j] = none;
	nr_blocks = 1;
	for (gen = FIRST_GEN; gen < FIRST_GEN + GENS; gen++)
		for (engine = 0; engine < GHYVI_ENGINES; engine++)
			make_one(gen, engine);
}

const struct ghyvi_audit_shortcuts *ghyvi_audit_shortcuts(unsigned int gen)
{
	mutex_lock(&lock);
	if (!nr_blocks)
		make_all();
	mutex_unlock(&lock);
	return shortcuts[gen - FIRST_GEN];
}
