// SPDX-License-Identifier: GPL-2.0-only
/* Multicall (the host's include/ghyvi/multicall.h): records that no driver would write. */
#include "attack.h"

#define RECORDS 256u
#define SPAN (1ull << 21) /* that one page table maps */
#define OUTSIDE (1ull << 37) /* no guest of the tests has memory there */
#define TARGETS 5u

static unsigned int records_page;
static volatile uint64_t *records; /* address, value, address, value, ... */
static uint64_t targets[TARGETS]; /* addresses of two page tables and the tables above them */

/* The guest-physical address of the table page that contains @entry. */
static uint64_t table_of(volatile uint64_t *entry)
{
	return machine.gpa[((uint8_t *)entry - machine.memory) / PAGE_BYTES];
}

static uint64_t any_target(struct random *random)
{
	unsigned int i = random_range(random, 0, one_in(random, 8) ? TARGETS - 1 : 1);

	return targets[i] + 8 * random_range(random, 0, ENTRIES - 1);
}

static uint64_t any_place(struct random *random)
{
	uint64_t page = random_range(random, 0, MACHINE_PAGES - 1);

	switch (random_range(random, 0, 31)) {
	case 0:
		return random_next(random) | OUTSIDE;
	case 1: /* also the canaries, and data */
		return machine.gpa[page] + 8 * random_range(random, 0, ENTRIES - 1);
	case 2:
		return machine.bar0 + GGTT_TABLE_OFFSET + window_start / PAGE_BYTES * 8;
	case 3:
		return any_target(random) + random_range(random, 1, 7);
	case 4:
		return 1ull << random_range(random, 38, 63) | any_target(random);
	default:
		return any_target(random);
	}
}

/* Engines write through these entries, so they map no other memory of this guest. */
static uint64_t any_value(struct random *random)
{
	switch (random_range(random, 0, 15)) {
	case 0:
		return random_next(random) | OUTSIDE;
	case 1:
		return entry_of(machine.gpa[records_page]); /* becomes a table, or data */
	case 2:
		return entry_of(targets[random_range(random, 0, TARGETS - 1)]);
	case 3:
	case 4:
		return 0;
	default:
		return entry_of(machine.gpa[fixture.data[random_range(random, 0, DATA_PAGES - 1)]]);
	}
}

static void scribble(struct random *random)
{
	unsigned int i = random_range(random, 0, RECORDS - 1);

	entry_write(&records[2 * i], any_place(random));
	entry_write(&records[2 * i + 1], any_value(random));
}

static void multicall_begin(struct random *random)
{
	fixture_setup(random);
	records_page = take_page();
	records = page_at(records_page);
	targets[0] = table_of(tables_entry(&fixture.tables, FIXTURE_DATA, 1));
	targets[1] = table_of(tables_entry(&fixture.tables, FIXTURE_DATA + SPAN, 1));
	for (unsigned int level = 2; level <= LEVELS; level++)
		targets[level] = table_of(tables_entry(&fixture.tables, FIXTURE_DATA, level));
	second_vcpu_start(scribble, random_next(random));
}

static void set_records(uint64_t gpa)
{
	machine_write(PVINFO_MULTICALL, (uint32_t)gpa, 4);
	machine_write(PVINFO_MULTICALL + 4, gpa >> 32, 4);
}

static uint64_t any_records(struct random *random)
{
	switch (random_range(random, 0, 15)) {
	case 0:
		return random_next(random) | OUTSIDE;
	case 1:
		return any_target(random) & ENTRY_ADDRESS;
	case 2:
		return machine.bar0 + (one_in(random, 2) ? GGTT_TABLE_OFFSET : 0);
	case 3:
		return machine.gpa[records_page] + 8;
	default:
		return machine.gpa[records_page];
	}
}

static void check_result(uint64_t before, unsigned int count)
{
	uint64_t result = records[0];

	/* The other vCPU is paused. */
	if (result != before && result >> 63 && (result & MULTICALL_APPLIED) > count)
		effect("%u records, 0x%llx", count, (unsigned long long)result);
}

static void multicall_trial(struct random *random)
{
	unsigned int count = one_in(random, 16) ? random_range(random, 0, 0xffff) :
						  random_range(random, 1, 32);
	bool race = one_in(random, 4);
	uint64_t before;

	for (unsigned int i = 0; i < count && i < RECORDS; i++) {
		entry_write(&records[2 * i], any_place(random));
		entry_write(&records[2 * i + 1], any_value(random));
	}
	before = records[0];
	set_records(any_records(random));
	if (race)
		second_vcpu_resume();
	machine_write(PVINFO_NOTIFY, VGT_G2V_MULTICALL + count, 4);
	if (race)
		second_vcpu_pause();
	else
		check_result(before, count);
	/* The page may be a table by now: the result must not be an entry of it. */
	entry_write(&records[0], 0);
	if (one_in(random, 4)) /* nor the value */
		fixture_store(random_range(random, 0, ENGINES - 1), FIXTURE_DATA, 2 * count);
	fixture_check_kernel("a multicall");
	if (one_in(random, 16)) {
		/* The records may have unmapped the fixture. */
		roots_retire();
		root_announce(fixture.tables.root, 4);
	}
}

const struct attack attack_multicall = {
	.name = "multicall",
	.what = "declared stores to tables: any address, value and number; records that change",
	.share = 5,
	.begin = multicall_begin,
	.trial = multicall_trial,
	.end = second_vcpu_stop,
};
