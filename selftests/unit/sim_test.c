// SPDX-License-Identifier: GPL-2.0-only
/* The simulator: the paper's counts. */
#include "../../tools/sim/generator.h"
#include "sim_listed.h"

/* All policies over the generator; @counts in the order of ghyvi_shadow_policies. */
static void run_gmedia(const char *resolution, bool heavy, unsigned int entry_bytes,
		       const struct ghyvi_shadow_tuning *tuning, struct sim_result *result)
{
	struct generator g;

	assert_int_equal(generator_init(&g, resolution, heavy,
					generator_default_frames(resolution, heavy), entry_bytes),
			 0);
	assert_int_equal(simulate(&g.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  tuning, SIM_PROFILE_BAND, result),
			 0);
	generator_free(&g);
}

/* Tables print so many digits: @value times @scale, rounded. */
static void assert_rounds(double value, double scale, u64 expected)
{
	assert_int_equal((u64)(value * scale + 0.5), expected);
}

static double per_store(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].traps / (double)r->trace.stores;
}

static double compared_per_changed(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].entries_compared /
	       (double)r->trace.entries_changed;
}

static double scanned(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].pages_scanned / (double)r->trace.submissions;
}

static void counts_equal_the_table_720p(void **state)
{
	struct sim_result r;

	run_gmedia("720p", true, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 627328);
	assert_int_equal(r.trace.entries_changed, 627328);
	assert_int_equal(r.trace.pairs, 2464);
	assert_int_equal(r.trace.submissions, 928);
	assert_int_equal(r.trace.most_written, 7516);
	assert_int_equal(r.trace.pages_written, 163);
	assert_int_equal(r.policies[place("strict")].traps, 627328);
	assert_int_equal(r.policies[place("strict")].pages_scanned, 0);
	assert_int_equal(r.policies[place("full")].traps, 0);
	assert_int_equal(r.policies[place("full")].pages_scanned, 512 * 928);
	assert_int_equal(r.policies[place("segmented")].traps, 2464);
	assert_int_equal(r.policies[place("segmented")].pages_scanned, 2464);
	assert_int_equal(r.policies[place("oos")].traps, 2 * 2464);
	assert_int_equal(r.policies[place("dynamic")].traps, 163);
	assert_rounds(per_store(&r, "dynamic"), 1e5, 26);
	assert_rounds(per_store(&r, "segmented"), 1e5, 393);
	assert_rounds(per_store(&r, "oos"), 1e5, 786);
	assert_rounds(scanned(&r, "dynamic"), 1, 103);
	assert_rounds(scanned(&r, "segmented"), 1e2, 266);
	assert_rounds(scanned(&r, "oos"), 1e2, 266);
	assert_rounds(compared_per_changed(&r, "full"), 1, 776);
	assert_rounds(compared_per_changed(&r, "dynamic"), 1, 157);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 402);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 402);
	sim_result_free(&r);
}

static void counts_equal_the_table_static(void **state)
{
	static const struct {
		u32 pages, traps, compared;
	} expected[] = { { 50, 4917, 76 }, { 100, 1633, 151 }, { 200, 0, 303 }, { 300, 0, 454 } };
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		tuning.static_pages = expected[i].pages;
		run_gmedia("720p", true, 4, &tuning, &r);
		assert_rounds(per_store(&r, "static"), 1e4, expected[i].traps);
		assert_int_equal(r.policies[place("static")].pages_scanned,
				 expected[i].pages * 928);
		assert_rounds(compared_per_changed(&r, "static"), 1, expected[i].compared);
		sim_result_free(&r);
	}
}

static void counts_equal_the_table_thresholds(void **state)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result r;

	tuning.oos_threshold = 8;
	run_gmedia("720p", true, 4, &tuning, &r);
	assert_rounds(per_store(&r, "oos"), 1e4, 313);
	assert_rounds(scanned(&r, "oos"), 1e2, 263);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 398);
	sim_result_free(&r);
	tuning.oos_threshold = 64;
	run_gmedia("720p", true, 4, &tuning, &r);
	assert_rounds(per_store(&r, "oos"), 1e3, 240);
	assert_rounds(scanned(&r, "oos"), 1e2, 242);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 366);
	sim_result_free(&r);
}

static void counts_equal_the_table_other_sizes(void **state)
{
	struct sim_result r;

	run_gmedia("720p", true, 8, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 627328);
	assert_int_equal(r.trace.pairs, 3067);
	assert_rounds(per_store(&r, "segmented"), 1e5, 489);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 250);
	assert_rounds(compared_per_changed(&r, "full"), 1, 776);
	sim_result_free(&r);
	run_gmedia("1080p", true, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 630360);
	assert_int_equal(r.trace.pairs, 1434);
	assert_rounds(per_store(&r, "segmented"), 1e5, 227);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 233);
	assert_rounds(compared_per_changed(&r, "full"), 1, 343);
	sim_result_free(&r);
}

static void normal_case_has_two_stores_per_frame(void **state)
{
	struct sim_result r;

	run_gmedia("720p", false, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 2000);
	assert_int_equal(r.trace.submissions, 4000);
	assert_int_equal(r.trace.pairs, 1000);
	assert_int_equal(r.policies[place("strict")].traps, 2000);
	assert_int_equal(r.policies[place("segmented")].traps, 1000);
	assert_int_equal(r.policies[place("oos")].traps, 2000);
	sim_result_free(&r);
}

/* Half of the start-up cost that adaptive guarantees. */
#define STARTUP_ROUNDS 16ull

/* Corners and middle of the grid that tools/sim/sweep covers. */
static void adaptive_is_as_good_as_segmented_on_generated_traces(void **state)
{
	static const u32 costs[][3] = { { 5000, 100, 40000 },	{ 5000, 3000, 6000 },
					{ 15000, 300, 6000 },	{ 15000, 10000, 20000 },
					{ 40000, 1000, 20000 }, { 50000, 100, 1000 } };
	static const char *const resolutions[] = { "480p", "720p", "1080p" };
	const struct ghyvi_shadow_policy *two[] = { ghyvi_shadow_policy_find("adaptive"),
						    ghyvi_shadow_policy_find("segmented") };
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct generator g;
	struct sim_result r;
	unsigned int i, c;
	u64 start_ns;
	bool heavy;

	for (i = 0; i < 8; i++) {
		heavy = i < 6;
		assert_int_equal(generator_init(&g, resolutions[i % 3], heavy,
						generator_default_frames(resolutions[i % 3], heavy),
						heavy ? 4 + 4 * (i / 3) : 4 + 4 * (i % 2)),
				 0);
		for (c = 0; c < ARRAY_SIZE(costs); c++) {
			tuning.trap_ns = costs[c][0];
			tuning.scan_ns = costs[c][1];
			tuning.protect_ns = costs[c][2];
			g.source.rewind(&g.source);
			assert_int_equal(simulate(&g.source, two, 2, &tuning, SIM_PROFILE_BAND, &r),
					 0);
			start_ns = STARTUP_ROUNDS *
				   (tuning.trap_ns + tuning.scan_ns + tuning.protect_ns);
			assert_true(r.policies[0].cost_ns * 1000 <=
				    r.policies[1].cost_ns * 1001 + start_ns * 1000);
			if (tuning.trap_ns >= tuning.scan_ns + tuning.protect_ns)
				assert_true(r.policies[0].traps <= r.policies[1].traps);
			if (tuning.trap_ns == default_tuning.trap_ns)
				assert_true(r.policies[0].cost_ns * 10 <= r.optimum_trap_ns * 13);
			sim_result_free(&r);
		}
		generator_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_equal_the_table_720p),
		cmocka_unit_test(counts_equal_the_table_static),
		cmocka_unit_test(counts_equal_the_table_thresholds),
		cmocka_unit_test(counts_equal_the_table_other_sizes),
		cmocka_unit_test(normal_case_has_two_stores_per_frame),
		cmocka_unit_test(adaptive_is_as_good_as_segmented_on_generated_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
