// SPDX-License-Identifier: GPL-2.0-only
/*
 * tablestores: a driver that rewrites page tables between submissions, without i915. It stores the
 * entries itself, or declares them by multicall (the host's include/ghyvi/multicall.h). After each
 * round an engine writes through the entry that was stored last, and the program checks where the
 * value arrives.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attack.h"
#include "bar0_pci.h"
#include "options.h"

#define BATCH_MAX 256u
#define STORES_MAX ENTRIES
#define TABLES_MAX 512u
#define ADDRESS 0x80000000ull /* what the page tables map */
#define SPAN (1ull << 21) /* what each of them maps */

static struct {
	unsigned int batch; /* 0: store the entries */
	unsigned int stores; /* before each submission */
	unsigned int rounds;
	unsigned int tables; /* that take turns */
} run = { .stores = 256, .rounds = 64, .tables = 1 };

static struct {
	volatile uint64_t *entries;
	uint64_t gpa;
} tables[TABLES_MAX];
static volatile uint64_t *records;
static unsigned int queued;
static uint64_t calls;

static const struct argp_option options[] = {
	{ "batch", 'b', "N", 0,
	  "Declare the stores, at most N at a time, 1 to 256 (default 0: store the entries)", 0 },
	{ "stores", 's', "N", 0, "Stores before each submission, 0 to 512 (default 256)", 0 },
	{ "tables", 't', "N", 0, "Page tables, one for each round in turn, 1 to 512 (default 1)",
	  0 },
	{ "rounds", 'r', "N", 0, "Submissions (default 64)", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'b':
		run.batch = parse_number(state, argument, 0, BATCH_MAX);
		break;
	case 's':
		run.stores = parse_number(state, argument, 0, STORES_MAX);
		break;
	case 'r':
		run.rounds = parse_number(state, argument, 1, 1000000);
		break;
	case 't':
		run.tables = parse_number(state, argument, 1, TABLES_MAX);
		break;
	case ARGP_KEY_ARG:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Rewrite a page table of the vGPU of this guest; no driver may be bound to it.",
};

static void table_setup(unsigned int i)
{
	volatile uint64_t *entries = tables_entry(&fixture.tables, ADDRESS + i * SPAN, 1);

	tables[i].entries = entries;
	tables[i].gpa = machine.gpa[((uint8_t *)entries - machine.memory) / PAGE_BYTES];
}

static void multicall_setup(void)
{
	unsigned int page = take_page();

	if (!(machine_read(PVINFO_CAPS) & CAPS_MULTICALL))
		give_up("the vGPU does not offer multicall");
	records = page_at(page);
	machine_write(PVINFO_MULTICALL, (uint32_t)machine.gpa[page], 4);
	machine_write(PVINFO_MULTICALL + 4, machine.gpa[page] >> 32, 4);
}

static void multicall_flush(void)
{
	if (!queued)
		return;
	machine_write(PVINFO_NOTIFY, VGT_G2V_MULTICALL + queued, 4);
	if (records[0] != (MULTICALL_DONE | queued))
		give_up("the result of %u records is 0x%" PRIx64, queued, records[0]);
	queued = 0;
	calls++;
}

static void update(unsigned int table, unsigned int index, uint64_t value)
{
	if (!run.batch) {
		entry_write(&tables[table].entries[index], value);
		return;
	}
	records[2 * queued] = tables[table].gpa + 8 * index;
	records[2 * queued + 1] = value;
	if (++queued == run.batch)
		multicall_flush();
}

/* Each round maps other pages, and begins elsewhere in its table. */
static void one_round(unsigned int round)
{
	unsigned int first = round * 37, index = first % ENTRIES, page = 0;
	unsigned int table = round % run.tables;

	for (unsigned int i = 0; i < run.stores; i++) {
		index = (first + i) % ENTRIES;
		page = (round + i) % DATA_PAGES;
		update(table, index, entry_of(machine.gpa[fixture.data[page]]));
	}
	multicall_flush();
	if (!run.stores) {
		fixture_store(RCS, FIXTURE_DATA, round + 1);
	} else if (fixture_store(RCS, ADDRESS + table * SPAN + index * PAGE_BYTES, round + 1) !=
		   RAN) {
		give_up("the engine stopped in round %u", round);
	}
	if (*fixture_data(page) != round + 1)
		give_up("round %u: entry %u maps another page", round, index);
}

int main(int argc, char **argv)
{
	uint64_t started;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	machine_open(NULL);
	env_begin();
	fixture_setup(NULL);
	for (unsigned int i = 0; i < run.tables; i++)
		table_setup(i);
	if (run.batch)
		multicall_setup();
	fixture_store(RCS, FIXTURE_DATA, 0); /* the host shadows the tables */
	started = now_ns();
	for (unsigned int round = 0; round < run.rounds; round++)
		one_round(round);
	printf("{\"stores\": %" PRIu64 ", \"submissions\": %u, \"multicalls\": %" PRIu64
	       ", \"seconds\": %.6f}\n",
	       (uint64_t)run.stores * run.rounds, run.rounds, calls, (now_ns() - started) / 1e9);
	env_end();
	return 0;
}
