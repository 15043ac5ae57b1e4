// SPDX-License-Identifier: GPL-2.0-only
/* The costs that the module measures: what is a sample, and how samples are averaged. */
#include "gtt_fake.h"

/* A clock that only the test advances. */
static u64 test_ns;

static u64 test_clock(void)
{
	return test_ns;
}

static struct ghyvi_root *two_tables(void)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 0, pte(PT_GFN));
	write_pte(PD_GFN, 1, pte(PT_GFN + 1));
	root = get_root4(PML4_GFN);
	ghyvi_gtt_sync(fake.gtt, root);
	return root;
}

static void costs_are_between_one_nanosecond_and_a_millisecond(void **state)
{
	u32 *trap = &fake.gtt->tuning.trap_ns, *scan = &fake.gtt->tuning.scan_ns,
	    *protect = &fake.gtt->tuning.protect_ns;

	shim_clock = test_clock;
	test_ns = 10000000;
	*scan = 800;
	ghyvi_cost_scanned(fake.gtt, test_ns - 4000, 0);
	assert_int_equal(*scan, 800);
	ghyvi_cost_scanned(fake.gtt, test_ns - 4000, 5);
	assert_int_equal(*scan, 800);
	ghyvi_cost_scanned(fake.gtt, test_ns - 8000, 5);
	assert_int_equal(*scan, 900);
	ghyvi_cost_scanned(fake.gtt, test_ns, 1);
	assert_int_equal(*scan, 900);
	ghyvi_cost_scanned(fake.gtt, test_ns - 1000001, 1);
	assert_int_equal(*scan, 900);
	ghyvi_cost_scanned(fake.gtt, test_ns - 1000000, 1);
	assert_int_equal(*scan, 900 - 900 / 8 + 1000000 / 8);
	*scan = 1;
	ghyvi_cost_scanned(fake.gtt, test_ns - 1, 1);
	assert_int_equal(*scan, 1);
	*trap = 600;
	*protect = 0;
	ghyvi_cost_protected(fake.gtt, test_ns - 1000, 2);
	assert_int_equal(*protect, (500 + 300) / 8);
	ghyvi_cost_protected(fake.gtt, test_ns - 1000, 0);
	assert_int_equal(*protect, (500 + 300) / 8);
	/* Only traps of neighbouring entries that follow quickly are samples. */
	*trap = 800;
	ghyvi_cost_trapped(fake.gtt, 0x1000);
	test_ns += 1600;
	ghyvi_cost_trapped(fake.gtt, 0x1008);
	assert_int_equal(*trap, 900);
	test_ns += 1600;
	ghyvi_cost_trapped(fake.gtt, 0x1011);
	assert_int_equal(*trap, 900);
	test_ns += 1600;
	ghyvi_cost_trapped(fake.gtt, 0x1009);
	assert_int_equal(*trap, 900);
	test_ns += 200000;
	ghyvi_cost_trapped(fake.gtt, 0x1011);
	assert_int_equal(*trap, 900);
	test_ns += 199999;
	ghyvi_cost_trapped(fake.gtt, 0x1019);
	assert_int_equal(*trap, 900 - 900 / 8 + 199999 / 8);
	shim_clock = NULL;
}

static u64 ticking_clock(void)
{
	return test_ns += 4000;
}

/* The time of pages that have changed includes translation. */
static void only_unchanged_pages_are_a_sample_of_a_scan(void **state)
{
	struct ghyvi_root *root = two_tables();
	u32 *scan = &fake.gtt->tuning.scan_ns;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	ghyvi_gtt_sync(fake.gtt, root);
	*scan = 80;
	shim_clock = ticking_clock;
	write_pte(PT_GFN, 0, pte(DATA + 4));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(*scan, 80);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(*scan > 80);
	shim_clock = NULL;
}

static void unchanged_pages_are_a_sample_beside_others_that_changed(void **state)
{
	struct ghyvi_root *root = two_tables();
	u32 *scan = &fake.gtt->tuning.scan_ns;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	ghyvi_gtt_sync(fake.gtt, root);
	*scan = 80;
	shim_clock = ticking_clock;
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(*scan, 80 - 80 / 8 + 4000 / 2 / 8);
	shim_clock = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(costs_are_between_one_nanosecond_and_a_millisecond),
		TEST(only_unchanged_pages_are_a_sample_of_a_scan),
		TEST(unchanged_pages_are_a_sample_beside_others_that_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
