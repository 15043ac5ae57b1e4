/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attacks, and the fixture that most of them use: one context per engine, one page table tree
 * with a few data pages, and a page of the guest's kernel that no user batch may access.
 */
#ifndef HOSTILE_ATTACK_H
#define HOSTILE_ATTACK_H

#include "random.h"
#include "guest_env.h"

/*
 * struct attack - a class of attacks
 * @name: begins with the letter of the class in Documentation/security.md, if it has one
 * @what: description, one line
 * @share: weight of the class in the distribution of trials
 * @begin: called once per round in a new environment; may be NULL
 * @trial: one attack and the check of its effects; counts as one trial
 * @end: called at the end of a round, to stop threads; may be NULL
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
extern const struct attack attack_multicall; /* attack_multicall.c */
extern const struct attack attack_commands, attack_user; /* attack_commands.c */
extern const struct attack attack_registers, attack_port, attack_image,
	attack_ring; /* attack_state.c */

/* Creates a new environment: empty GGTT, idle engines after a reset. */
void env_begin(void);
/* Resets the engines and makes the host forget all trees. */
void env_end(void);

extern uint64_t effects;

/* Reports a forbidden effect of an attack: counts it, and prints the first few. */
__attribute__((format(printf, 1, 2))) void effect(const char *format, ...);

#define DATA_PAGES 8u
#define FIXTURE_BATCH 0x100000ull
#define FIXTURE_DATA 0x40200000ull /* DATA_PAGES pages */
#define FIXTURE_NOWHERE 0x123456789000ull /* not mapped on any level */
#define KERNEL_MARK 0x6b65726eu

struct fixture {
	struct tables tables;
	struct context contexts[ENGINES];
	unsigned int data[DATA_PAGES];
	unsigned int batch; /* at FIXTURE_BATCH, and in the GGTT at batch_address */
	uint32_t batch_address;
	unsigned int kernel; /* in the GGTT only */
	uint32_t kernel_address;
};

extern struct fixture fixture;

/* Creates the fixture; a callback for struct attack.begin. */
void fixture_setup(struct random *random);
/* Reports an effect if the page of the kernel has changed. */
void fixture_check_kernel(const char *by);
static inline volatile uint32_t *fixture_data(unsigned int i)
{
	return page_at(fixture.data[i]);
}
/* Submits a store of @value to @address of the fixture's tree on engine @id, and waits for it. */
enum outcome fixture_store(enum engine_id id, uint64_t address, uint32_t value);

/* Writes a batch of random commands for @engine, with addresses of the fixture, to @to. */
void stream_write(struct random *random, const struct engine *engine, volatile uint32_t *to);

/* ---- second_vcpu.c: a thread on another vCPU that calls step() in a loop ---- */

/* Starts the thread in the paused state. */
void second_vcpu_start(void (*step)(struct random *random), uint64_t seed);
/*
 * Pauses the thread. On return step() is not running, and it is not called until
 * second_vcpu_resume().
 */
void second_vcpu_pause(void);
void second_vcpu_resume(void);
void second_vcpu_stop(void);

static inline bool one_in(struct random *random, unsigned int n)
{
	return !random_range(random, 0, n - 1);
}

#endif
