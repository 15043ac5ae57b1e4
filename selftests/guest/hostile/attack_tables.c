// SPDX-License-Identifier: GPL-2.0-only
/* Invalid tables: pages with several roles, and entries that map addresses without guest memory. */
#include "attack.h"

/* ---- (e) ---- */

#define POOL 6u
#define INDICES 8u /* few, so that random walks find present entries */

static unsigned int pool[POOL];

static uint64_t any_entry(struct random *random)
{
	unsigned int page = one_in(random, 4) ?
				    fixture.data[random_range(random, 0, DATA_PAGES - 1)] :
				    pool[random_range(random, 0, POOL - 1)];
	uint64_t flags = ENTRY_PRESENT | (one_in(random, 4) ? 0 : ENTRY_WRITE) |
			 (one_in(random, 16) ? ENTRY_LARGE : 0) |
			 (one_in(random, 8) ? ENTRY_64K : 0);

	return one_in(random, 16) ? 0 : machine.gpa[page] | flags;
}

static void aliasing_begin(struct random *random)
{
	fixture_setup(random);
	for (unsigned int i = 0; i < POOL; i++) {
		pool[i] = take_page();
		/* Contexts also use them as rings and images, by GGTT address. */
		ggtt_map(machine.gpa[pool[i]]);
	}
	for (unsigned int i = 0; i < POOL; i++)
		for (unsigned int j = 0; j < INDICES; j++)
			entry_write((volatile uint64_t *)page_at(pool[i]) + j, any_entry(random));
}

static void scribble(struct random *random)
{
	volatile uint64_t *entries = page_at(pool[random_range(random, 0, POOL - 1)]);
	unsigned int count = one_in(random, 8) ? 64 : random_range(random, 1, 8);

	while (count--)
		entry_write(&entries[random_range(random, 0, INDICES - 1)], any_entry(random));
}

static uint64_t any_address(struct random *random)
{
	uint64_t address = 0;

	for (unsigned int level = 0; level < LEVELS; level++)
		address = address << 9 | random_range(random, 0, INDICES - 1);
	return address << 12 | 4 * random_range(random, 0, PAGE_DWORDS - 1);
}

static void point_at_pool(struct context *context, struct random *random)
{
	unsigned int levels = one_in(random, 4) ? 3 : 4;
	unsigned int first = pool[random_range(random, 0, POOL - 1)];

	for (unsigned int i = 0; i < 4; i++) {
		/* The same page directories as in the notification of roots_retire(). */
		uint64_t gpa = machine.gpa[(first + i) % PAGES];

		context->state[CTX_PDP0_LOW - 4 * i] = (uint32_t)gpa;
		context->state[CTX_PDP0_HIGH - 4 * i] = gpa >> 32;
	}
	context->descriptor &= ~DESC_64BIT;
	context->descriptor |= levels == 4 ? DESC_64BIT : DESC_32BIT;
	root_used(first, levels);
}

static void aliasing_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];

	scribble(random);
	point_at_pool(context, random);
	context_rewind(context);
	for (unsigned int i = random_range(random, 1, 6); i; i--)
		emit_store(context, false, any_address(random), (uint32_t)any_entry(random));
	if (one_in(random, 4))
		emit_batch(context, one_in(random, 2), any_address(random));
	context_submit(context);
	if (one_in(random, 2))
		scribble(random);
	engine_settle(context->engine, 1, 3000);
	if (one_in(random, 32))
		roots_retire();
}

const struct attack attack_aliasing = {
	.name = "e-aliasing",
	.what = "one page as table of several levels and trees, of itself, and as target of stores",
	.share = 8,
	.begin = aliasing_begin,
	.trial = aliasing_trial,
};

/* ---- (f) ---- */

#define PROBE_VA 0x100000000ull /* shares no table below the PML4 with other addresses */
#define MARK 0x5afe5afeu

static uint64_t any_foreign_gpa(struct random *random)
{
	const uint64_t places[] = {
		machine.bar0, /* registers; a store of an engine would not trap */
		machine.bar0 + GGTT_TABLE_OFFSET + (uint64_t)(window_start / PAGE_BYTES) * 8,
		machine.bar0 + BAR0_BYTES,
		0xa0000, /* VGA */
		0xb0000000, /* PCI configuration */
		0xfec00000, /* I/O APIC */
		0xfed00000, /* HPET */
		0xfee00000, /* local APIC */
		0xffff0000, /* firmware */
		1ull << 38,
		ENTRY_ADDRESS, /* the last page that an entry can map */
	};
	unsigned int i = random_range(random, 0, sizeof(places) / sizeof(*places));

	if (i == sizeof(places) / sizeof(*places))
		return (random_next(random) & ENTRY_ADDRESS) | 1ull << 37;
	return places[i] & ENTRY_ADDRESS;
}

/*
 * Reads and then writes @address. Either access may stop the engine. The read may return only zero,
 * and the write must have no effect.
 */
static void probe(struct context *context, bool global, uint64_t address)
{
	const uint32_t copy[] = {
		MI(MI_COPY_MEMORY, 5) | (global ? MI_GGTT : 0),
		(uint32_t)FIXTURE_DATA,
		FIXTURE_DATA >> 32,
		(uint32_t)address,
		address >> 32,
	};

	context_rewind(context);
	emit(context, copy, 5);
	emit_store(context, global, address, MARK);
	context_run(context, VALID_LIMIT_US);
}

static void foreign_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	unsigned int level = random_range(random, 0, LEVELS); /* 0: the GGTT */
	uint64_t gpa = any_foreign_gpa(random);
	volatile uint64_t *own_entry = &machine.ggtt[window_start / PAGE_BYTES];
	uint64_t before = *own_entry;
	volatile uint32_t *word = fixture_data(0);
	volatile uint64_t *entry;
	uint64_t good;
	uint32_t address;

	*word = MARK;
	if (level) {
		tables_map(&fixture.tables, PROBE_VA, machine.gpa[fixture.data[1]]);
		entry = tables_entry(&fixture.tables, PROBE_VA, level);
		good = *entry;
		entry_write(entry, entry_of(gpa));
		probe(context, false, PROBE_VA);
		entry_write(entry, good);
	} else {
		address = window_start + window_bytes - PAGE_BYTES;
		ggtt_write(address, entry_of(gpa));
		probe(context, true, address);
		ggtt_write(address, 0);
	}
	if (*word && *word != MARK)
		effect("level %u entry for 0x%llx: read 0x%x", level, (unsigned long long)gpa,
		       *word);
	if (*own_entry != before)
		effect("an engine wrote to the GGTT table: 0x%llx", (unsigned long long)*own_entry);
}

const struct attack attack_foreign = {
	.name = "f-foreign-pages",
	.what = "entries of every level that map devices, firmware, or memory of others",
	.share = 6,
	.begin = fixture_setup,
	.trial = foreign_trial,
};
