// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stale translations: entries that are cleared or replaced while their page is relaxed, memory that
 * is removed, entries that are written in halves.
 */
#include <unistd.h>

#include "attack.h"

#define VA 0x80000000ull
#define NEIGHBOUR_OF(va) ((va) + 0x200000) /* in another table */
#define GONE_BIT (1ull << 38) /* an address bit of an entry, far beyond the guest's memory */
#define HEARTBEAT_PAGE 3u
#define HEARTBEAT (FIXTURE_DATA + HEARTBEAT_PAGE * PAGE_BYTES)
#ifndef LOOP_LIMIT_NS
#define LOOP_LIMIT_NS 2000000000u
#endif
#define LOOP_LOOK_NS 300000u
#define HIDDEN_US_MAX 200

static volatile uint64_t *entry;

static void stale_begin(struct random *random)
{
	fixture_setup(random);
	entry = tables_entry(&fixture.tables, VA, 1);
}

/*
 * Writes other entries of the page, a random number of times, so that the policy may relax the
 * page.
 */
static void relax_page(struct random *random)
{
	for (unsigned int i = random_range(random, 0, 6); i; i--)
		entry_write(entry + random_range(random, 1, ENTRIES - 1),
			    entry_of(machine.gpa[fixture.data[2]]));
}

static void flush(struct random *random)
{
	if (one_in(random, 2))
		machine_write(TLB_INVALIDATE + 4 * random_range(random, 0, TLB_REGISTERS - 1), 1,
			      4);
}

/*
 * Starts a user batch that stores to @address and to a heartbeat page, in a loop until it is
 * stopped.
 */
static void start_loop(struct context *context, uint64_t address, uint32_t value)
{
	const uint32_t loop[] = {
		MI(MI_STORE_DATA, 4),
		(uint32_t)address,
		address >> 32,
		value,
		MI(MI_STORE_DATA, 4),
		(uint32_t)HEARTBEAT,
		HEARTBEAT >> 32,
		1,
		MI(MI_BATCH_START, 3) | BATCH_PPGTT,
		(uint32_t)FIXTURE_BATCH,
		FIXTURE_BATCH >> 32,
	};
	volatile uint32_t *batch = page_at(fixture.batch);

	for (unsigned int i = 0; i < sizeof(loop) / 4; i++)
		batch[i] = loop[i];
	context_rewind(context);
	emit_batch(context, true, FIXTURE_BATCH);
	context_submit(context);
}

/*
 * Waits for two iterations of the loop, so that at least one has started after the call. Also
 * returns if the engine has stopped, and after a timeout.
 */
static void loop_goes_round(const struct context *context)
{
	volatile uint32_t *heartbeat = fixture_data(HEARTBEAT_PAGE);
	uint64_t started = now_ns();

	for (unsigned int round = 0; round < 2; round++) {
		*heartbeat = 0;
		while (!*heartbeat && now_ns() - started < LOOP_LIMIT_NS) {
			machine_relax();
			if (now_ns() - started > LOOP_LOOK_NS &&
			    machine_read(context->engine->base + RING_EIR) & 1)
				return;
		}
	}
}

/* ---- (c) ---- */

/*
 * Once the TLB register reads 0 no engine may use the old translation, even within a running batch.
 */
static void unmap_under_loop(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	volatile uint32_t *word = fixture_data(0);

	*word = 0;
	entry_write(entry, entry_of(machine.gpa[fixture.data[0]]));
	relax_page(random);
	start_loop(context, VA, 1);
	loop_goes_round(context);
	if (!*word)
		effect("a loop of stores does not start");
	entry_write(entry, one_in(random, 2) ? 0 : entry_of(machine.gpa[fixture.data[1]]));
	machine_write(TLB_INVALIDATE, 1, 4);
	machine_read(TLB_INVALIDATE);
	*word = 2;
	loop_goes_round(context);
	if (*word != 2)
		effect("a running batch still stores to a page that was unmapped and invalidated");
	engine_reset(context->engine);
}

static void unmap_between(struct random *random)
{
	enum engine_id id = random_range(random, 0, ENGINES - 1);
	bool replaced = one_in(random, 2);
	volatile uint32_t *old = fixture_data(0), *new = fixture_data(1);
	uint32_t value = (uint32_t)random_next(random) | 1;
	enum outcome outcome;

	*old = *new = 0;
	entry_write(entry, entry_of(machine.gpa[fixture.data[0]]));
	outcome = fixture_store(id, VA, 1);
	if (outcome != RAN || *old != 1)
		effect("a store through a new entry ended with %d, page 0x%x", outcome, *old);
	relax_page(random);
	entry_write(entry, replaced ? entry_of(machine.gpa[fixture.data[1]]) : 0);
	flush(random);
	outcome = fixture_store(id, VA, value);
	if (outcome != (replaced ? RAN : STOPPED))
		effect("a store through %s entry ended with %d",
		       replaced ? "a replaced" : "a cleared", outcome);
	if (*old != 1 || *new != (replaced ? value : 0))
		effect("a store of 0x%x used the old translation (0x%x, 0x%x)", value, *old, *new);
}

static void to_absent_trial(struct random *random)
{
	if (one_in(random, 8))
		unmap_under_loop(random);
	else
		unmap_between(random);
}

const struct attack attack_to_absent = {
	.name = "c-present-to-absent",
	.what = "entries cleared or replaced in relaxed pages, also during a running batch",
	.share = 8,
	.begin = stale_begin,
	.trial = to_absent_trial,
};

/* ---- (d) ---- */

/* An address in a register may have bits that the address field of an entry lacks. */
static uint64_t with_other_bits(uint64_t gpa, struct random *random)
{
	return gpa | (random_next(random) & ~ENTRY_ADDRESS);
}

/*
 * Removes a page that is the target of a running batch, or the table that maps the target, and
 * possibly the root of a tree.
 */
static void unmap_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	volatile uint64_t *above = tables_entry(&fixture.tables, VA, 2);
	uint64_t hidden_gpa, table = *above;
	volatile uint32_t *hidden = machine_hidden_page(&hidden_gpa);
	volatile uint32_t *word = fixture_data(0);
	bool as_table = hidden && one_in(random, 2);

	if (as_table) {
		for (unsigned int i = 0; i < ENTRIES; i++)
			machine_store((volatile uint64_t *)hidden + i,
				      entry_of(machine.gpa[fixture.data[0]]), 8);
		entry_write(above, entry_of(hidden_gpa));
	} else {
		entry_write(entry, entry_of(hidden ? hidden_gpa : machine.gpa[fixture.data[0]]));
	}
	if (hidden && one_in(random, 4))
		directories_announce(with_other_bits(hidden_gpa, random));
	*word = 0;
	start_loop(context, VA, 1);
	if (one_in(random, 2))
		loop_goes_round(context);
	machine_hide(true, one_in(random, 2));
	usleep(random_range(random, 0, HIDDEN_US_MAX));
	machine_hide(false, false);
	engine_reset(context->engine);

	/* The page is restored and must be usable again. */
	entry_write(above, table);
	entry_write(entry, entry_of(hidden ? hidden_gpa : machine.gpa[fixture.data[0]]));
	word = hidden ? hidden : word;
	*word = 0;
	if (fixture_store(context->engine->id, VA, 3) != RAN || *word != 3)
		effect("memory that was removed and restored is not usable (0x%x)", *word);
	entry_write(entry, 0);
}

const struct attack attack_unmap = {
	.name = "d-unmap",
	.what = "removal of memory and of BAR 0 that running batches and table pages use",
	.share = 1,
	.begin = stale_begin,
	.trial = unmap_trial,
};

/*
 * A page directory, which is write-protected under every policy, in memory that the CPU also sees
 * in system management mode. The memory is removed and restored in that address space only.
 */
static volatile uint64_t *low;
static uint64_t low_gpa, table_of[2];

static void smram_begin(struct random *random)
{
	uint64_t other = NEIGHBOUR_OF(VA);

	stale_begin(random);
	low = machine_low_page(&low_gpa);
	for (unsigned int i = 0; i < 2; i++)
		tables_map(&fixture.tables, i ? other : VA, machine.gpa[fixture.data[i]]);
	table_of[0] = *tables_entry(&fixture.tables, VA, 2);
	table_of[1] = *tables_entry(&fixture.tables, other, 2);
	for (unsigned int i = 0; low && i < ENTRIES; i++)
		entry_write(low + i, 0);
	if (low)
		entry_write(tables_entry(&fixture.tables, VA, 3), entry_of(low_gpa));
}

static void smram_trial(struct random *random)
{
	volatile uint64_t *slot = low ? &low[VA >> 21 & (ENTRIES - 1)] :
					tables_entry(&fixture.tables, VA, 2);
	uint32_t value = (uint32_t)random_next(random) | 1;
	unsigned int table = random_range(random, 0, 1);

	for (unsigned int i = 0; i < 2; i++, table ^= 1) {
		*fixture_data(0) = *fixture_data(1) = 0;
		entry_write(slot, table_of[table]);
		if (fixture_store(random_range(random, 0, ENGINES - 1), VA, value) != RAN ||
		    *fixture_data(table) != value || *fixture_data(!table))
			effect("a store through table %u changed the pages to 0x%x 0x%x", table,
			       *fixture_data(0), *fixture_data(1));
		machine_smram(random_range(random, 1, 3));
		machine_smram(0);
	}
}

const struct attack attack_smram = {
	.name = "d-smram",
	.what = "a page directory in memory that is removed only for system management mode",
	.share = 1,
	.begin = smram_begin,
	.trial = smram_trial,
};

/* ---- (g) ---- */

static void write_half(unsigned int half, uint32_t value)
{
	machine_store((volatile uint32_t *)entry + half, value, 4);
}

/*
 * Submits between the writes of the two halves of an entry. After one half is written, the entry
 * maps an address outside of the guest's memory.
 */
static void split_trial(struct random *random)
{
	enum engine_id id = random_range(random, 0, ENGINES - 1);
	uint64_t from = entry_of(machine.gpa[fixture.data[0]]),
		 to = entry_of(machine.gpa[fixture.data[1]]);
	unsigned int looks = random_range(random, 1, 7);
	uint32_t value = (uint32_t)random_next(random) | 1;
	volatile uint32_t *old = fixture_data(0), *new = fixture_data(1);

	entry_write(entry, from);
	*old = *new = 0;
	if (looks & 1 && (fixture_store(id, VA, value) != RAN || *old != value))
		effect("a store through a new entry was not executed");
	*old = 0;
	write_half(1, (from | GONE_BIT) >> 32);
	if (looks & 2 && (fixture_store(id, VA, value) != RAN || *old || *new))
		effect("a store through half an entry changed a page (0x%x 0x%x)", *old, *new);
	write_half(0, (uint32_t)to);
	if (looks & 4 && (fixture_store(id, VA, value) != RAN || *old || *new))
		effect("a store through the other half of an entry changed a page (0x%x 0x%x)",
		       *old, *new);
	write_half(1, to >> 32);
	if (fixture_store(id, VA, value) != RAN || *old || *new != value)
		effect("a store through an entry written in halves went wrong (0x%x 0x%x)", *old,
		       *new);
}

const struct attack attack_split_entry = {
	.name = "g-split-entry",
	.what = "entries written in two halves with submissions between them",
	.share = 8,
	.begin = stale_begin,
	.trial = split_trial,
};
