// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mechanism and its model: a trace is played as a guest's stores to a gtt, and in the
 * simulator. Both run the same decisions, so both must count the same. Traces are generated, or
 * random ones in which table pages come and go in two trees.
 */
#include "gtt_fake.h"

#include "../../tools/sim/generator.h"
#include "sim_listed.h"

#define FIRST_PAGE 300u /* of the generator; all its pages are in one page directory */
#define WINDOW_PAGES 336u
#define FIRST_TABLE 10u

/* Costs are given, not measured: instead of kernel/gtt/costs.c. */
void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa)
{
}

static void link_window(void)
{
	u32 i;

	write_pte(PML4_GFN, 0, pte(PDP_GFN));
	write_pte(PDP_GFN, 0, pte(PD_GFN));
	for (i = 0; i < WINDOW_PAGES; i++)
		write_pte(PD_GFN, i, pte(FIRST_TABLE + i));
}

/* No entry keeps its value: each store is a change. */
static void store_all(const struct trace_record *record)
{
	u64 gfn = FIRST_TABLE + record->page - FIRST_PAGE;
	u32 i;

	for (i = record->entry; i < record->entry + record->count; i++)
		write_pte(gfn, i, guest_page(gfn)[i] == pte(DATA) ? pte(DATA + 1) : pte(DATA));
}

static void play(struct generator *g, struct ghyvi_root *root)
{
	struct trace_record record;

	g->source.rewind(&g->source);
	while (g->source.next(&g->source, &record) > 0) {
		if (record.type == TRACE_SUBMISSION)
			ghyvi_gtt_sync(fake.gtt, root);
		else
			store_all(&record);
	}
}

static void compare(const char *policy, const char *resolution, bool heavy, u32 frames,
		    const struct ghyvi_shadow_tuning *tuning)
{
	const struct ghyvi_shadow_policy *decisions = ghyvi_shadow_policy_find(policy);
	struct sim_result result;
	struct ghyvi_root *root;
	struct generator g;
	u64 traps, protects;

	fake_init(0);
	fake.unchecked = true;
	ghyvi_gtt_set_policy(fake.gtt, "segmented"); /* new pages are protected */
	link_window();
	root = get_synced_root4(PML4_GFN);
	ghyvi_gtt_set_tuning(fake.gtt, tuning);
	/* Not by ghyvi_gtt_set_policy(): the simulator's pages are protected at first. */
	fake.gtt->policy = decisions;
	traps = STAT(table_write_traps);
	protects = STAT(protects);
	assert_int_equal(STAT(scans), 0);

	assert_int_equal(generator_init(&g, resolution, heavy, frames, 8), 0);
	play(&g, root);
	g.source.rewind(&g.source);
	assert_int_equal(simulate(&g.source, &decisions, 1, tuning, SIM_PROFILE_PAGES, &result), 0);
	assert_int_equal(STAT(table_write_traps) - traps, result.policies[0].traps);
	assert_int_equal(STAT(scans), result.policies[0].pages_scanned);
	assert_int_equal(STAT(entries_changed), result.policies[0].entries_found);
	assert_int_equal(STAT(protects) - protects, result.policies[0].protects);
	sim_result_free(&result);
	generator_free(&g);
	fake_fini();
}

static void the_mechanism_does_what_the_simulator_counts(void **state)
{
	static const char *const policies[] = { "strict", "dynamic", "segmented", "oos",
						"adaptive" };
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		compare(policies[i], "1080p", true, 4, &tuning);
		compare(policies[i], "720p", false, 400, &tuning);
	}
	compare("adaptive", "1080p", true, 30, &tuning);
}

/* The policies that weigh bursts and gaps. */
static void adaptive_does_the_same_at_other_costs(void **state)
{
	static const u32 costs[][3] = { { 5000, 3000, 6000 },
					{ 15000, 100, 20000 },
					{ 50000, 10000, 40000 } };
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		tuning.trap_ns = costs[i][0];
		tuning.scan_ns = costs[i][1];
		tuning.protect_ns = costs[i][2];
		compare("adaptive", "720p", true, 25, &tuning);
		compare("adaptive", "720p", false, 400, &tuning);
	}
}

#define OTHER_PML4 4u
#define OTHER_PDP 5u
#define OTHER_PD 6u
#define SHARED_PD 7u

/*
 * Page directories: one of each root, and one that both share. The recorder's numbers for the last
 * page of the second and the first of the third are consecutive.
 */
static const struct directory {
	u64 gfn, first_table, root;
	bool shared;
} directories[] = { { PD_GFN, 100, 1, false },
		    { OTHER_PD, 200, 2, false },
		    { SHARED_PD, 300, 0, true } };

#define SLOTS 24u /* of each directory that are used: the last 12 and the first 12 */
#define SLOT_FIRST 500u

struct slot {
	const struct directory *directory;
	u32 number, index;
	u64 table, page;
};

static struct slot slot_at(u32 number)
{
	const struct directory *directory = &directories[number / SLOTS];
	u32 index = (SLOT_FIRST + number % SLOTS) % GHYVI_ENTRIES;

	return (struct slot){ directory, number, index, directory->first_table + number % SLOTS,
			      TRACE_PAGE_PLACED | directory->gfn * TRACE_PLACES | index };
}

/*
 * What both did in addition to the trace: stores to directories, which trap, and first protections.
 */
static struct {
	struct ghyvi_root *roots[2];
	u64 traps, protects, serial;
	bool linked[ARRAY_SIZE(directories) * SLOTS];
	bool shared[ARRAY_SIZE(directories) * SLOTS]; /* two directories point there */
	struct listed trace;
} trees;

static void trees_init(const struct ghyvi_shadow_policy *policy,
		       const struct ghyvi_shadow_tuning *tuning)
{
	fake_init(0);
	fake.unchecked = true;
	memset(&trees, 0, sizeof(trees));
	listed_init(&trees.trace, 0);
	ghyvi_gtt_set_policy(fake.gtt, policy->name);
	ghyvi_gtt_set_tuning(fake.gtt, tuning);
	write_pte(PML4_GFN, 0, pte(PDP_GFN));
	write_pte(PDP_GFN, 0, pte(PD_GFN));
	write_pte(PDP_GFN, 1, pte(SHARED_PD));
	write_pte(OTHER_PML4, 0, pte(OTHER_PDP));
	write_pte(OTHER_PDP, 0, pte(OTHER_PD));
	write_pte(OTHER_PDP, 1, pte(SHARED_PD));
	trees.roots[0] = get_root4(PML4_GFN);
	trees.roots[1] = get_root4(OTHER_PML4);
	trees.protects = STAT(protects);
}

static void trees_link(struct slot slot)
{
	u64 protects = STAT(protects);

	write_pte(slot.directory->gfn, slot.index, pte(slot.table));
	trees.protects += STAT(protects) - protects;
	trees.traps++;
	trees.linked[slot.number] = true;
	list(&trees.trace, slot.directory->shared ? page_shared(slot.page) :
						    page_root(slot.page, slot.directory->root));
}

static void trees_free(struct slot slot)
{
	write_pte(slot.directory->gfn, slot.index, 0);
	trees.traps++;
	if (trees.shared[slot.number]) {
		write_pte(directories[!(slot.directory - directories)].gfn, SLOTS + slot.number, 0);
		trees.traps++;
	}
	trees.shared[slot.number] = false;
	trees.linked[slot.number] = false;
	list(&trees.trace, freed(slot.page));
}

/*
 * A surface that reaches into the pages after the first. No entry keeps its value: the bits above
 * the address are ignored.
 */
static void trees_store(u32 number, u32 entry, u32 count)
{
	struct slot slot;
	u32 part, i;

	for (; count && number < ARRAY_SIZE(trees.linked) && trees.linked[number];
	     number++, entry = 0) {
		slot = slot_at(number);
		part = min(count, GHYVI_ENTRIES - entry);
		list(&trees.trace, stores(slot.page, entry, part));
		for (i = 0; i < part; i++)
			write_pte(slot.table, entry + i, pte(DATA + i % 64) | ++trees.serial << 40);
		count -= part;
	}
}

/* From now on the other tree's directory points there, too. */
static void trees_share(u32 number)
{
	struct slot slot = slot_at(number);
	const struct directory *other = &directories[!(slot.directory - directories)];

	if (!trees.linked[number] || trees.shared[number] || slot.directory->shared)
		return;
	trees.shared[number] = true;
	write_pte(other->gfn, SLOTS + number, pte(slot.table));
	trees.traps++;
	list(&trees.trace, page_shared(slot.page));
}

static void trees_submit(u32 root)
{
	list(&trees.trace, submission(root + 1));
	ghyvi_gtt_sync(fake.gtt, trees.roots[root]);
}

static void trees_play(bool share)
{
	u32 number, left;

	while (trees.trace.count < LISTED_MAX - SLOTS * 3) {
		number = any(ARRAY_SIZE(trees.linked));
		switch (any(16)) {
		case 0:
			for (left = any(3); left && number < ARRAY_SIZE(trees.linked);
			     left--, number++)
				if (trees.linked[number])
					trees_free(slot_at(number));
			break;
		case 1:
		case 2: /* several at once, as drivers do */
			for (left = any(6); left && number < ARRAY_SIZE(trees.linked);
			     left--, number++)
				if (!trees.linked[number])
					trees_link(slot_at(number));
			break;
		case 3:
		case 4:
		case 5:
		case 6:
		case 7:
			trees_store(number, any(2) * 300, 400 * (1 + any(4)));
			break;
		case 8:
			if (share)
				trees_share(number);
			break;
		case 9:
			trees_store(number, any(GHYVI_ENTRIES), 1);
			break;
		default:
			trees_submit(any(2));
		}
	}
}

static void compare_trees(const char *policy, const struct ghyvi_shadow_tuning *tuning, bool share)
{
	const struct ghyvi_shadow_policy *decisions = ghyvi_shadow_policy_find(policy);
	struct sim_result result;

	trees_init(decisions, tuning);
	trees_play(share);
	assert_int_equal(simulate(&trees.trace.source, &decisions, 1, tuning, SIM_PROFILE_PAGES,
				  &result),
			 0);
	assert_int_equal(STAT(table_write_traps) - trees.traps, result.policies[0].traps);
	assert_int_equal(STAT(scans), result.policies[0].pages_scanned);
	assert_int_equal(STAT(entries_changed), result.policies[0].entries_found);
	assert_int_equal(STAT(protects) - trees.protects, result.policies[0].protects);
	sim_result_free(&result);
	fake_fini();
}

static void both_do_the_same_when_pages_come_and_go(void **state)
{
	static const char *const policies[] = { "strict",    "full", "dynamic",
						"segmented", "oos",  "adaptive" };
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		seed = i;
		compare_trees(policies[i], &tuning, false);
	}
}

static void adaptive_does_the_same_when_pages_come_and_go(void **state)
{
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;

	for (seed = 1; seed < 1000000000; seed *= 7) {
		tuning.trap_ns = 1000 << any(7);
		tuning.scan_ns = 100 << any(7);
		tuning.protect_ns = 1000 << any(6);
		compare_trees("adaptive", &tuning, false);
	}
}

/*
 * A table that a second tree links changes the clock of its bursts. A trap costs less than letting
 * a page go here, so that no neighbours are relaxed: the module finds them by the place linked
 * last, the simulator by the first.
 */
static void both_do_the_same_when_trees_come_to_share_pages(void **state)
{
	static const char *const policies[] = { "strict",    "full", "dynamic",
						"segmented", "oos",  "adaptive" };
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	unsigned int i;

	tuning.trap_ns = 5000;
	for (i = 0; i < ARRAY_SIZE(policies) * 2; i++) {
		seed = i;
		tuning.protect_ns = 5000 << i % 2 * 2;
		compare_trees(policies[i / 2], &tuning, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mechanism_does_what_the_simulator_counts),
		cmocka_unit_test(adaptive_does_the_same_at_other_costs),
		cmocka_unit_test(both_do_the_same_when_pages_come_and_go),
		cmocka_unit_test(adaptive_does_the_same_when_pages_come_and_go),
		cmocka_unit_test(both_do_the_same_when_trees_come_to_share_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
