/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of the attacks: guest memory, page tables, contexts, and the operations of a GPU
 * driver. Attacks start from a valid state, because an attack that fails the first check tests only
 * that check.
 */
#ifndef HOSTILE_GUEST_ENV_H
#define HOSTILE_GUEST_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen9_abi.h"
#include "pci_bar0.h"

/* ---- memory.c ---- */

#define CANARIES 256u /* the last pages of the memory */
#define PAGES (MACHINE_PAGES - CANARIES)

/*
 * Frees and clears all pages except the canaries. No table or context may refer to them any more.
 */
void memory_reset(void);
/* Returns the number of a free page; exits the program if there is none. */
unsigned int take_page(void);
static inline void *page_at(unsigned int page)
{
	return machine.memory + (size_t)page * PAGE_BYTES;
}

/* Writes a pattern to the canaries. No table of this program ever maps them. */
void canaries_plant(void);
/* Returns how many of the @count canaries from @first on have changed. */
unsigned int canaries_changed(unsigned int first, unsigned int count);

/* ---- tables.c ---- */

extern uint32_t window_start, window_bytes; /* the vGPU's partition of the GGTT, by PVINFO */
extern uint32_t window_limit; /* use no more bytes of it */

/* Unmaps all pages. */
void ggtt_reset(void);
/* Maps @gpa at the next free address and returns the address. */
uint32_t ggtt_map(uint64_t gpa);
/* Writes any entry of the table, by address. */
void ggtt_write(uint32_t address, uint64_t entry);

struct tables {
	unsigned int root; /* page of the PML4 */
};

/* Returns an empty tree. */
struct tables tables_make(void);
/* Returns the entry of @level (1: PTE) for @address; allocates the tables above as needed. */
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

/*
 * Sends the g2v notification "page table created" for the tree with the root @page. With three
 * levels, the three following pages are its other page directories.
 */
void root_announce(unsigned int page, unsigned int levels);
/*
 * The same for a tree of three levels whose four page directories are all at @address. The address
 * may have any bits. There is no notification of its destruction.
 */
void directories_announce(uint64_t address);
/* The host knows the tree without a notification, because a context uses it. */
void root_used(unsigned int page, unsigned int levels);
/* Sends "page table destroyed" for all trees of root_announce() and root_used(). */
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
/* How many times slower the host is than usual: a debug kernel. */
#define SLOWNESS_MAX 100
extern unsigned int slowness;

extern uint64_t resets, errors_seen, timeouts_seen, slowest_reset_ns;

/* Resets the GPU and enables execlists, with a status page for each engine. */
void engines_start(void);
/* Resets one engine: RESET_CTL handshake, GDRST, resume. */
void engine_reset(struct engine *engine);

enum outcome { RAN, STOPPED, TIMED_OUT };

/*
 * Waits until @completions contexts have completed, for @limit_us times slowness in total. Returns
 * STOPPED if the engine reports an error in EIR.
 */
enum outcome engine_wait(struct engine *engine, unsigned int completions, unsigned int limit_us);
/* Like engine_wait(), and resets the engine unless the result is RAN. */
enum outcome engine_settle(struct engine *engine, unsigned int completions, unsigned int limit_us);
/* Writes the two elements to the submit port, ELSP. */
void engine_submit(const struct engine *engine, uint64_t element0, uint64_t element1);

/* ---- context.c ---- */

/*
 * struct context
 * @state: dwords of the second page of the image
 * @ring: one page
 * @tail: byte offset of the next command in the ring
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

/* Number of pages of each new image; at least 2. */
extern unsigned int image_pages;
void context_make(struct context *context, enum engine_id id, const struct tables *tables);
/* Writes the initial image of a context that has never run, with an empty ring. */
void context_fill(struct context *context, const struct tables *tables);
/* Appends dwords to the ring. They must fit before its end. */
void emit(struct context *context, const uint32_t *dwords, unsigned int count);
/* Appends MI_STORE_DATA_IMM of one dword, to the GGTT or the PPGTT. */
void emit_store(struct context *context, bool global, uint64_t address, uint32_t value);
/* Appends MI_BATCH_BUFFER_START; @user: in the PPGTT. */
void emit_batch(struct context *context, bool user, uint64_t address);
/* Empties the ring: head and tail are 0. */
void context_rewind(struct context *context);
/* Pads the ring to a qword, writes the tail to the image and submits the context in port 0. */
void context_submit(struct context *context);
/* Like context_submit(), and waits. Resets the engine unless the result is RAN. */
enum outcome context_run(struct context *context, unsigned int limit_us);

/* Enough time for any valid workload, on a nested emulator under load. */
#ifndef VALID_LIMIT_US
#define VALID_LIMIT_US 20000000u
#endif

/* ---- sanity_check.c ---- */

/*
 * Creates a new environment and runs a valid workload on every engine. Returns NULL, or a
 * description of the failure.
 */
const char *sanity_check(void);

uint64_t now_ns(void);

/* ---- give_up.c ---- */

__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...);

#endif
