// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mechanism and its model: the generated trace as a guest's stores to an mm, and through the simulator. Both run the
 * same decisions, so both must count the same.
 */
#include "mm_fake.h"

#include "../../tools/sim/generator.h"
#include "../../tools/sim/simulate.h"

#define FIRST_PAGE 300u /* of those that the generator writes; in one page directory */
#define WINDOW_PAGES 336u
#define FIRST_TABLE 10u

/* Costs are given, not measured: instead of kernel/shadow/costs.c. */
void ghyvi_cost_scanned(struct ghyvi_mm *mm, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_protected(struct ghyvi_mm *mm, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_trapped(struct ghyvi_mm *mm, u64 gpa)
{
}

static void link_window(void)
{
	u32 i;

	set(1, 0, to(2));
	set(2, 0, to(3));
	for (i = 0; i < WINDOW_PAGES; i++)
		set(3, i, to(FIRST_TABLE + i));
}

/* No entry keeps its value: each store is a change. */
static void stores(const struct trace_record *record)
{
	u64 gfn = FIRST_TABLE + record->page - FIRST_PAGE;
	u32 i;

	for (i = record->entry; i < record->entry + record->count; i++)
		set(gfn, i, page_of(gfn)[i] == to(DATA) ? to(DATA + 1) : to(DATA));
}

static void play(struct generator *g, struct ghyvi_root *root)
{
	struct trace_record record;

	g->source.rewind(&g->source);
	while (g->source.next(&g->source, &record) > 0) {
		if (record.type == TRACE_SUBMISSION)
			ghyvi_mm_sync(fake.mm, root);
		else
			stores(&record);
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
	ghyvi_mm_set_policy(fake.mm, "segmented"); /* new pages are protected */
	link_window();
	root = hold4(1);
	ghyvi_mm_sync(fake.mm, root);
	ghyvi_mm_set_tuning(fake.mm, tuning);
	/* Not by ghyvi_mm_set_policy(): the simulator's pages are protected at first. */
	fake.mm->policy = decisions;
	traps = STAT(table_write_traps);
	protects = STAT(protects);
	assert_int_equal(STAT(reconstructions), 0);

	assert_int_equal(generator_init(&g, resolution, heavy, frames, 8), 0);
	play(&g, root);
	g.source.rewind(&g.source);
	assert_int_equal(simulate(&g.source, &decisions, 1, tuning, SIM_PROFILE_PAGES, &result), 0);
	assert_int_equal(STAT(table_write_traps) - traps, result.policies[0].traps);
	assert_int_equal(STAT(reconstructions), result.policies[0].pages_scanned);
	assert_int_equal(STAT(entries_changed), result.policies[0].entries_found);
	assert_int_equal(STAT(protects) - protects, result.policies[0].protects);
	sim_result_free(&result);
	generator_free(&g);
	fake_fini();
}

static void the_mechanism_does_what_the_simulator_counts(void **state)
{
	static const char *const policies[] = { "strict", "dynamic", "segmented", "oos", "adaptive" };
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		compare(policies[i], "1080p", true, 4, &tuning);
		compare(policies[i], "720p", false, 400, &tuning);
	}
	compare("adaptive", "1080p", true, 30, &tuning);
}

/* Where bursts and gaps are weighed, too. */
static void adaptive_does_the_same_at_other_costs(void **state)
{
	static const u32 costs[][3] = { { 5000, 3000, 6000 }, { 15000, 100, 20000 }, { 50000, 10000, 40000 } };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mechanism_does_what_the_simulator_counts),
		cmocka_unit_test(adaptive_does_the_same_at_other_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
