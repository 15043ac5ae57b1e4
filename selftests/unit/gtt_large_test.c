// SPDX-License-Identifier: GPL-2.0-only
/* Guest pages of 2 MiB: kept where the host's pages are contiguous, page by page elsewhere. */
#include "gtt_fake.h"

static u64 large(u64 gfn)
{
	return to(gfn) | GHYVI_ENTRY_LARGE;
}

/* The shadow of the page directory of a planted tree. */
static u64 *shadow_pd(void)
{
	return shadow(fake.held[0].bus, 2, 0u, 0u);
}

static u64 pinned_of(u64 gfn)
{
	u64 i, n = 0;

	for (i = gfn; i < gfn + GHYVI_ENTRIES; i++)
		n += !!fake.pins[i];
	return n;
}

static struct ghyvi_root *plant_large(u64 gfn)
{
	plant(1);
	set(3, 1, large(gfn));
	return hold4(1);
}

static void test_contiguous_pages_stay_one_entry(void **state)
{
	struct ghyvi_root *root = plant_large(LARGE_WHOLE);

	assert_true(shadow_pd()[1] == (maps(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_int_equal(pinned_of(LARGE_WHOLE), 512);
	assert_int_equal(STAT(large_pages_now), 1);
	/* Address bits below 2 MiB do not count, nor what permission another entry has. */
	set(3, 2, (large(LARGE_WHOLE + 77) | BIT_ULL(12)) & ~GHYVI_ENTRY_WRITE);
	assert_true(shadow_pd()[2] == (shadow_pd()[1] & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(STAT(large_pages_now), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);

	set(3, 1, 0);
	assert_int_equal(STAT(large_pages_now), 1);
	set(3, 2, to(4));
	assert_int_equal(STAT(large_pages_now), 0);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 511, 1);
	assert_int_equal(pinned_of(LARGE_WHOLE), 0);
}

static void test_other_pages_get_a_table(void **state)
{
	struct ghyvi_root *root = plant_large(LARGE_SCATTERED);
	u64 entry = shadow_pd()[1], *pages = shadow(fake.held[0].bus, 3, 0u, 0u, 1u);
	unsigned int i;

	assert_false(entry & GHYVI_ENTRY_LARGE);
	for (i = 0; i < 512; i++)
		assert_true(pages[i] == maps(LARGE_SCATTERED + i));
	assert_int_equal(STAT(split_pages_now), 1);
	assert_int_equal(STAT(large_pages_now), 0);
	/* One table for all entries that need it; permission is the entry's. */
	for (i = 2; i < 100; i++)
		set(3, i, large(LARGE_SCATTERED) & ~GHYVI_ENTRY_WRITE);
	assert_true(shadow_pd()[99] == (entry & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(STAT(split_pages_now), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* The self-check looks at each page. */
	pages[300] = maps(LARGE_SCATTERED + 301);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 99);
	pages[300] = maps(LARGE_SCATTERED + 300);

	for (i = 1; i < 100; i++)
		set(3, i, 0);
	assert_int_equal(STAT(split_pages_now), 0);
}

static void check_part_lost(u64 gfn, u64 lost)
{
	struct ghyvi_root *root = plant_large(gfn);
	u64 entry = shadow_pd()[1];

	set_absent(lost, true);
	ghyvi_gtt_unmap(fake.gtt, lost, 1);
	assert_true(leads_to_scratch(shadow_pd()[1], 2));
	assert_int_equal(pinned_of(gfn), 0);
	assert_int_equal(STAT(large_pages_now) + STAT(split_pages_now), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(leads_to_scratch(shadow_pd()[1], 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Back, and lost again before anybody looked. */
	set_absent(lost, false);
	ghyvi_gtt_unmap(fake.gtt, lost, 1);
	set(3, 1, large(gfn) & ~GHYVI_ENTRY_WRITE);
	set(3, 1, large(gfn));
	if (entry & GHYVI_ENTRY_LARGE)
		assert_true(shadow_pd()[1] == entry);
	else
		assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[511] == maps(gfn + 511));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_losing_any_part_of_a_large_page_scrubs_all(void **state)
{
	check_part_lost(LARGE_WHOLE, LARGE_WHOLE + 255);
}

static void test_losing_any_part_of_a_split_page_scrubs_all(void **state)
{
	check_part_lost(LARGE_SCATTERED, LARGE_SCATTERED + 511);
}

static void test_a_pin_too_few_is_scratch_until_there_is_room(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 3 + 1 + 511; /* tables; pages */
	root = plant_large(LARGE_WHOLE);
	assert_true(leads_to_scratch(shadow_pd()[1], 2));
	assert_int_equal(STAT(large_pages_now), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(leads_to_scratch(shadow_pd()[1], 2));
	/* What it got is not kept from others. */
	set(4, 0, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	fake.pin_limit += 2;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1] == (maps(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_retry_ends_when_the_page_gets_another_use(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 4 + 511;
	root = plant_large(LARGE_WHOLE);
	fake.pin_limit = ~0u;
	set(2, 1, to(4)); /* the page table as page directory, and */
	set(3, 2, to(3)); /* the page directory as page table */
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1] == (maps(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 2u)[1] == maps(LARGE_WHOLE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Both uses lose it. */
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE, 1);
	assert_int_equal(pinned_of(LARGE_WHOLE), 0);
}

static void test_entries_that_are_no_large_pages(void **state)
{
	struct ghyvi_root *root = plant_large(RAM_PAGES);

	assert_true(leads_to_scratch(shadow_pd()[1], 2));
	/* Engines must not write to tables, and 1 GiB we do not have. */
	set(3, 2, large(4));
	assert_true(leads_to_scratch(shadow_pd()[2], 2));
	set(2, 1, large(LARGE_WHOLE));
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[1], 3));
	assert_int_equal(STAT(entries_rejected), 3);
	/* A size means nothing where there is none. */
	set(4, 1, large(LARGE_WHOLE + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == maps(LARGE_WHOLE + 1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void read_all(struct ghyvi_root *root, u64 gfn)
{
	u64 i, value;

	for (i = 0; i < 512; i++) {
		*page_of(gfn + i) = i + 9;
		assert_int_equal(ghyvi_gtt_ppgtt_read(root, SPAN + (i << 12), &value, 8), 0);
		assert_int_equal(value, i + 9);
	}
}

static void test_the_host_reads_through_them(void **state)
{
	struct ghyvi_root *root = plant_large(LARGE_WHOLE);

	read_all(root, LARGE_WHOLE);
	set(3, 1, large(LARGE_SCATTERED));
	read_all(root, LARGE_SCATTERED);
	release_all();
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	root = hold4(1);
	read_all(root, LARGE_SCATTERED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_contiguous_pages_stay_one_entry),
		TEST(test_other_pages_get_a_table),
		TEST(test_losing_any_part_of_a_large_page_scrubs_all),
		TEST(test_losing_any_part_of_a_split_page_scrubs_all),
		TEST(test_a_pin_too_few_is_scratch_until_there_is_room),
		TEST(test_a_retry_ends_when_the_page_gets_another_use),
		TEST(test_entries_that_are_no_large_pages),
		TEST(test_the_host_reads_through_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
