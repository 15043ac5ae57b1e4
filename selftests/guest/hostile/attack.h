/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attacks, and the stage that most of them play on: one context per engine, one tree with a few data pages,
 * and a page that belongs to the guest's kernel and no user batch may reach.
 */
#ifndef HOSTILE_ATTACK_H
#define HOSTILE_ATTACK_H

#include "random.h"
#include "world.h"

/**
 * struct attack - a class of attacks
 * @name: begins with its letter in shadowing.md section "attacks", where it has one
 * @what: one line
 * @share: of the trials of a run over all classes, in relation to the others
 * @begin: in a new world, once a round; may be NULL, as @end
 * @trial: one attack, and the check of its effects; counts as one trial
 * @end: stop what still runs
 */
struct attack {
	const char *name;
	const char *what;
	unsigned int share;
	void (*begin)(struct random *random);
	void (*trial)(struct random *random);
	void (*end)(void);
};

extern const struct attack attack_toctou, attack_table_race; /* attack_race.c */
extern const struct attack attack_to_absent, attack_unmap, attack_smram,
	attack_split_entry; /* attack_stale.c */
extern const struct attack attack_aliasing, attack_foreign; /* attack_tables.c */
extern const struct attack attack_scan, attack_trap, attack_exhaust; /* attack_load.c */
extern const struct attack attack_infinite, attack_schedule; /* attack_engine.c */
extern const struct attack attack_commands, attack_user; /* attack_commands.c */
extern const struct attack attack_registers, attack_port, attack_image,
	attack_ring; /* attack_state.c */

/** world_begin() - nothing mapped, nothing running, engines reset. */
void world_begin(void);
/** world_end() - engines reset, no tree known to the host. */
void world_end(void);

extern uint64_t effects;
/** effect() - something happened that must not; counted, and the first few are printed. */
__attribute__((format(printf, 1, 2))) void effect(const char *format, ...);

#define DATA_PAGES 8u
#define STAGE_BATCH 0x100000ull
#define STAGE_DATA 0x40200000ull /* DATA_PAGES pages */
#define STAGE_NOWHERE 0x123456789000ull /* no entry on the way */
#define KERNEL_MARK 0x6b65726eu

struct stage {
	struct tables tables;
	struct context contexts[ENGINES];
	unsigned int data[DATA_PAGES];
	unsigned int batch; /* at STAGE_BATCH, and in the GGTT at batch_address */
	uint32_t batch_address;
	unsigned int kernel; /* in the GGTT only */
	uint32_t kernel_address;
};

extern struct stage stage;

/** stage_set() - for begin(). */
void stage_set(struct random *random);
/** stage_check_kernel() - an effect, if the kernel's page has changed. */
void stage_check_kernel(const char *by);
static inline volatile uint32_t *stage_data(unsigned int i)
{
	return page_at(stage.data[i]);
}
/** stage_store() - have @id store @value at @address of the stage's tree, in a ring of its own. */
enum outcome stage_store(enum engine_id id, uint64_t address, uint32_t value);

/** stream_write() - a batch of random commands for @engine, with the stage's addresses, to the stage's batch page. */
void stream_write(struct random *random, const struct engine *engine, volatile uint32_t *to);

/* ---- the other vCPU (other.c): calls step() again and again ---- */

void other_start(void (*step)(struct random *random), uint64_t seed);
/** other_pause() - when it returns step() does not run, until other_resume(). */
void other_pause(void);
void other_resume(void);
void other_stop(void);

static inline bool one_in(struct random *random, unsigned int n)
{
	return !random_range(random, 0, n - 1);
}

#endif
