/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest of our own making: memory, tables, contexts, and the ways a driver uses a vGPU. The attacks begin from
 * here, because an attack that is refused at the first glance tests only that glance.
 */
#ifndef HOSTILE_WORLD_H
#define HOSTILE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract.h"
#include "machine.h"

/* ---- memory.c ---- */

#define CANARIES 256u /* the last pages of the machine */
#define PAGES (MACHINE_PAGES - CANARIES)

/** memory_reset() - all pages but the canaries are free and zero. Nothing may refer to them any more. */
void memory_reset(void);
/** take_page() - number of a free page; ends the program when there is none. */
unsigned int take_page(void);
static inline void *page_at(unsigned int page)
{
	return machine.memory + (size_t)page * PAGE_BYTES;
}

/** canaries_plant() - fill those pages that no table of ours ever names. */
void canaries_plant(void);
/** canaries_changed() - how many of @count, from number @first on, are not as planted. */
unsigned int canaries_changed(unsigned int first, unsigned int count);

/* ---- tables.c ---- */

extern uint32_t window_start, window_bytes; /* of the global address space: ours (2.1) */

/** ggtt_reset() - nothing mapped. */
void ggtt_reset(void);
/** ggtt_map() - at the next free address, which is returned. */
uint32_t ggtt_map(uint64_t gpa);
/** ggtt_write() - any entry of the table, by address. */
void ggtt_write(uint32_t address, uint64_t entry);

struct tables {
	unsigned int root; /* page of the PML4 */
};

/** tables_make() - an empty tree. */
struct tables tables_make(void);
/** tables_entry() - where the entry of @level (1: the last) for @address is; makes the levels above as needed. */
volatile uint64_t *tables_entry(const struct tables *tables, uint64_t address, unsigned int level);
void tables_map(const struct tables *tables, uint64_t address, uint64_t gpa);
static inline uint64_t entry_of(uint64_t gpa)
{
	return gpa | ENTRY_PRESENT | ENTRY_WRITE;
}
static inline void entry_write(volatile uint64_t *entry, uint64_t value)
{
	machine_store(entry, value, 8);
}

/** root_announce() - g2v notification (2.3) of a tree whose top is @page; L3: and the three pages behind it. */
void root_announce(unsigned int page, unsigned int levels);
/** directories_announce() - of a tree of three levels, all four at @address, which may have any bits. Nobody announces its end. */
void directories_announce(uint64_t address);
/** root_used() - the tree is known to the host although not announced. */
void root_used(unsigned int page, unsigned int levels);
/** roots_retire() - announce the end of all that were announced or used. */
void roots_retire(void);

/* ---- engine.c ---- */

struct engine {
	enum engine_id id;
	uint32_t base;
	uint32_t status_page; /* GGTT address of the HWSP */
	volatile uint32_t *status;
	uint32_t csb_read;
};

extern struct engine engines[ENGINES];
extern uint64_t resets, errors_seen, timeouts_seen, slowest_reset_ns;

/** engines_start() - full reset, status pages, run lists (5.4). */
void engines_start(void);
/** engine_reset() - the handshake of 5.4 for one engine. */
void engine_reset(struct engine *engine);

enum outcome { RAN, STOPPED, TIMED_OUT };

/**
 * engine_wait() - until @completions contexts have completed.
 * @limit_us: for all of it
 * Returns STOPPED when the engine reports an error (5.5).
 */
enum outcome engine_wait(struct engine *engine, unsigned int completions, unsigned int limit_us);
/** engine_settle() - engine_wait(), and a reset when it did not end well. */
enum outcome engine_settle(struct engine *engine, unsigned int completions, unsigned int limit_us);
/** engine_submit() - the four writes of 5.1. */
void engine_submit(const struct engine *engine, uint64_t element0, uint64_t element1);

/* ---- context.c ---- */

/**
 * struct context
 * @state: dwords of the image's second page
 * @ring: one page
 * @tail: byte offset in the ring of the next command
 */
struct context {
	struct engine *engine;
	uint32_t lrca;
	volatile uint32_t *status, *state;
	uint32_t ring_start;
	volatile uint32_t *ring;
	uint32_t tail;
	uint64_t descriptor;
};

void context_make(struct context *context, enum engine_id id, const struct tables *tables);
/** context_fill() - the image as at the beginning (5.2), the ring empty. */
void context_fill(struct context *context, const struct tables *tables);
/** emit() - dwords to the ring; there must be room up to its end. */
void emit(struct context *context, const uint32_t *dwords, unsigned int count);
/** emit_store() - STORE_DATA_IMM of one dword; to the GGTT or the PPGTT. */
void emit_store(struct context *context, bool global, uint64_t address, uint32_t value);
/** emit_batch() - jump to a batch; @user: in the PPGTT. */
void emit_batch(struct context *context, bool user, uint64_t address);
/** context_rewind() - before a trial: an empty ring at its start. */
void context_rewind(struct context *context);
/** context_submit() - pad to a qword, tell the tail, submit alone. */
void context_submit(struct context *context);
/** context_run() - and wait; engines that did not end well are reset. */
enum outcome context_run(struct context *context, unsigned int limit_us);

/* Time enough for anything honest, on a nested emulator under load. */
#define HONEST_LIMIT_US 20000000u

/* ---- good_work.c ---- */

/**
 * good_work() - a new world, and honest work on every engine. Returns NULL, or what did not work.
 */
const char *good_work(void);

uint64_t now_ns(void);
__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...);

#endif
