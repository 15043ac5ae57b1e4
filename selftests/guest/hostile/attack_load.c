// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that are cheap for the guest but possibly expensive for the host. test_hostile.py
 * measures their cost in the host; this file only checks their results.
 */
#include "attack.h"

#define TABLES 64u
#define TABLE_VA(i) (0x80000000ull + (i)*0x200000ull)
#define PAGES_PER_TREE 8u

static volatile uint64_t *table[TABLES];
static unsigned int turn;

static void tables_begin(struct random *random)
{
	fixture_setup(random);
	for (unsigned int i = 0; i < TABLES; i++)
		table[i] = tables_entry(&fixture.tables, TABLE_VA(i), 1);
}

/* Submits a context with an empty ring: the head equals the tail. */
static void submit_nothing(struct context *context)
{
	context_rewind(context);
	if (context_run(context, VALID_LIMIT_US) != RAN)
		effect("an empty submission did not complete");
}

static uint64_t turned_entry(unsigned int i)
{
	return entry_of(machine.gpa[fixture.data[(i + turn) % DATA_PAGES]]);
}

/* ---- (h) ---- */

static void scan_trial(struct random *random)
{
	turn++;
	for (unsigned int i = 0; i < TABLES; i++)
		for (unsigned int j = 0; j < ENTRIES; j++)
			entry_write(&table[i][j], turned_entry(j));
	submit_nothing(&fixture.contexts[random_range(random, 0, ENGINES - 1)]);
}

const struct attack attack_scan = {
	.name = "h-scan",
	.what = "every entry of 64 tables rewritten, then an empty submission",
	.share = 1,
	.begin = tables_begin,
	.trial = scan_trial,
};

/* ---- (i) ---- */

static void trap_trial(struct random *random)
{
	unsigned int i, at = random_range(random, 0, TABLES - 1);

	turn++;
	for (i = 0; i < TABLES; i++)
		entry_write(&table[i][0], turned_entry(i));
	submit_nothing(&fixture.contexts[random_range(random, 0, ENGINES - 1)]);
	if (fixture_store(RCS, TABLE_VA(at), turn) != RAN ||
	    fixture_data((at + turn) % DATA_PAGES)[0] != turn)
		effect("the only change of table %u was missed", at);
}

const struct attack attack_trap = {
	.name = "i-trap",
	.what = "one store to each of 64 tables between two submissions",
	.share = 1,
	.begin = tables_begin,
	.trial = trap_trial,
};

/* ---- (j) ---- */

#define EXHAUST_PAGES 4096u

static unsigned int first_page;

/* Makes every page a table whose entries point to random other pages: trees of unbounded size. */
static void exhaust_begin(struct random *random)
{
	fixture_setup(random);
	first_page = take_page();
	while (take_page() < first_page + EXHAUST_PAGES - 1)
		;
	for (unsigned int page = first_page; page < first_page + EXHAUST_PAGES; page++) {
		volatile uint64_t *entries = page_at(page);

		for (unsigned int i = 0; i < PAGES_PER_TREE; i++)
			machine_store(
				&entries[i],
				entry_of(machine.gpa[first_page +
						     random_range(random, 0, EXHAUST_PAGES - 1)]),
				8);
	}
}

static void exhaust_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];

	root_announce(first_page + random_range(random, 0, EXHAUST_PAGES - 1),
		      one_in(random, 4) ? 3 : 4);
	/* The fixture's tree must still work. */
	if (!one_in(random, 8))
		return;
	context_fill(context, &fixture.tables);
	fixture_data(0)[0] = 0;
	if (fixture_store(context->engine->id, FIXTURE_DATA, 1) != RAN || fixture_data(0)[0] != 1)
		effect("a tree stopped working when others were announced");
}

const struct attack attack_exhaust = {
	.name = "j-exhaust",
	.what = "thousands of trees of thousands of tables, beyond the host's limits",
	.share = 1,
	.begin = exhaust_begin,
	.trial = exhaust_trial,
};
