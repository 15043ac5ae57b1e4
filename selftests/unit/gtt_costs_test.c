// SPDX-License-Identifier: GPL-2.0-only
/* Which pages of a sync are a sample of the cost of a scan. */
#include "gtt_fake.h"

#define SCAN_NS 8000u

static u64 test_ns;

/* Each look at it takes 4 us. */
static u64 ticking_clock(void)
{
	return test_ns += 4000;
}

/* Two relaxed page tables; from now on the clock ticks. */
static struct ghyvi_root *measured_tables(void)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 0, pte(PT_GFN));
	write_pte(PD_GFN, 1, pte(PT_GFN + 1));
	root = get_synced_root4(PML4_GFN);
	ghyvi_gtt_set_policy(fake.gtt, "full");
	ghyvi_gtt_sync(fake.gtt, root);
	fake.gtt->tuning.scan_ns = SCAN_NS;
	shim_clock = ticking_clock;
	return root;
}

/* The time of pages that have changed includes translation. */
static void only_unchanged_pages_are_a_sample_of_a_scan(void **state)
{
	struct ghyvi_root *root = measured_tables();
	const u32 *scan = &fake.gtt->tuning.scan_ns;

	write_pte(PT_GFN, 0, pte(DATA + 4));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(*scan, SCAN_NS);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(*scan < SCAN_NS);
	shim_clock = NULL;
}

static void unchanged_pages_are_a_sample_beside_others_that_changed(void **state)
{
	struct ghyvi_root *root = measured_tables();
	const u32 *scan = &fake.gtt->tuning.scan_ns;

	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(*scan, SCAN_NS - SCAN_NS / 8 + 4000 / 2 / 8);
	shim_clock = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_unchanged_pages_are_a_sample_of_a_scan),
		TEST(unchanged_pages_are_a_sample_beside_others_that_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
