// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest pages of 2 MiB: one large page where the host's pages are contiguous, a table of 4 KiB
 * pages elsewhere.
 */
#include "gtt_fake.h"

static u64 large(u64 gfn)
{
	return pte(gfn) | GHYVI_ENTRY_LARGE;
}

/* The shadow of the page directory of build_tree(). */
static u64 *shadow_pd(void)
{
	return shadow_table(fake.held[0].dma, 2, 0u, 0u);
}

static u64 pinned_of(u64 gfn)
{
	u64 i, n = 0;

	for (i = gfn; i < gfn + GHYVI_ENTRIES; i++)
		n += !!fake.pins[i];
	return n;
}

static struct ghyvi_root *build_large(u64 gfn)
{
	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, large(gfn));
	return get_root4(PML4_GFN);
}

static void contiguous_pages_stay_one_entry(void **state)
{
	struct ghyvi_root *root = build_large(LARGE_WHOLE);

	assert_true(shadow_pd()[1] == (spte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_int_equal(pinned_of(LARGE_WHOLE), 512);
	assert_int_equal(STAT(large_pages_now), 1);
	/* Address bits below 2 MiB are ignored. Entries may differ in permission. */
	write_pte(PD_GFN, 2, (large(LARGE_WHOLE + 77) | BIT_ULL(12)) & ~GHYVI_ENTRY_WRITE);
	assert_true(shadow_pd()[2] == (shadow_pd()[1] & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(STAT(large_pages_now), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);

	write_pte(PD_GFN, 1, 0);
	assert_int_equal(STAT(large_pages_now), 1);
	write_pte(PD_GFN, 2, pte(PT_GFN));
	assert_int_equal(STAT(large_pages_now), 0);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 511, 1);
	assert_int_equal(pinned_of(LARGE_WHOLE), 0);
}

static void scattered_large_pages_get_a_shadow_table(void **state)
{
	struct ghyvi_root *root = build_large(LARGE_SCATTERED);
	u64 entry = shadow_pd()[1], *pages = shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u);
	unsigned int i;

	assert_false(entry & GHYVI_ENTRY_LARGE);
	for (i = 0; i < 512; i++)
		assert_true(pages[i] == spte(LARGE_SCATTERED + i));
	assert_int_equal(STAT(split_pages_now), 1);
	assert_int_equal(STAT(large_pages_now), 0);
	/* All entries that map the same page share one table; each has its own permission. */
	for (i = 2; i < 100; i++)
		write_pte(PD_GFN, i, large(LARGE_SCATTERED) & ~GHYVI_ENTRY_WRITE);
	assert_true(shadow_pd()[99] == (entry & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(STAT(split_pages_now), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* The self-check looks at each page. */
	pages[300] = spte(LARGE_SCATTERED + 301);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 99);
	pages[300] = spte(LARGE_SCATTERED + 300);

	for (i = 1; i < 100; i++)
		write_pte(PD_GFN, i, 0);
	assert_int_equal(STAT(split_pages_now), 0);
}

static void check_part_lost(u64 gfn, u64 lost)
{
	struct ghyvi_root *root = build_large(gfn);
	u64 entry = shadow_pd()[1];

	set_absent(lost, true);
	ghyvi_gtt_unmap(fake.gtt, lost, 1);
	assert_true(maps_scratch(shadow_pd()[1], 2));
	assert_int_equal(pinned_of(gfn), 0);
	assert_int_equal(STAT(large_pages_now) + STAT(split_pages_now), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(maps_scratch(shadow_pd()[1], 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Mapped again, and unmapped again before a sync. */
	set_absent(lost, false);
	ghyvi_gtt_unmap(fake.gtt, lost, 1);
	write_pte(PD_GFN, 1, large(gfn) & ~GHYVI_ENTRY_WRITE);
	write_pte(PD_GFN, 1, large(gfn));
	if (entry & GHYVI_ENTRY_LARGE)
		assert_true(shadow_pd()[1] == entry);
	else
		assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[511] == spte(gfn + 511));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void unmapping_any_part_of_a_large_page_zaps_all_of_it(void **state)
{
	check_part_lost(LARGE_WHOLE, LARGE_WHOLE + 255);
}

static void unmapping_any_part_of_a_split_page_zaps_all_of_it(void **state)
{
	check_part_lost(LARGE_SCATTERED, LARGE_SCATTERED + 511);
}

static void a_page_over_the_pin_limit_maps_scratch_until_there_is_room(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 3 + 1 + 511; /* tables; pages */
	root = build_large(LARGE_WHOLE);
	assert_true(maps_scratch(shadow_pd()[1], 2));
	assert_int_equal(STAT(large_pages_now), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(maps_scratch(shadow_pd()[1], 2));
	/* The pins of the failed attempt are available to others. */
	write_pte(PT_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	fake.pin_limit += 2;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1] == (spte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_retry_ends_when_the_page_gets_another_use(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 4 + 511;
	root = build_large(LARGE_WHOLE);
	fake.pin_limit = ~0u;
	write_pte(PDP_GFN, 1, pte(PT_GFN)); /* the page table as page directory, and */
	write_pte(PD_GFN, 2, pte(PD_GFN)); /* the page directory as page table */
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1] == (spte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 2u)[1] == spte(LARGE_WHOLE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Both entries are zapped. */
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE, 1);
	assert_int_equal(pinned_of(LARGE_WHOLE), 0);
}

static void invalid_large_entries_map_scratch(void **state)
{
	struct ghyvi_root *root = build_large(RAM_PAGES);

	assert_true(maps_scratch(shadow_pd()[1], 2));
	/* Engines must not write to tables, and pages of 1 GiB do not exist. */
	write_pte(PD_GFN, 2, large(4));
	assert_true(maps_scratch(shadow_pd()[2], 2));
	write_pte(PDP_GFN, 1, large(LARGE_WHOLE));
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[1], 3));
	assert_int_equal(STAT(entries_rejected), 3);
	/* Bit 7 is ignored in page tables. */
	write_pte(PT_GFN, 1, large(LARGE_WHOLE + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == spte(LARGE_WHOLE + 1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void read_all(struct ghyvi_root *root, u64 gfn)
{
	u64 i, value;

	for (i = 0; i < 512; i++) {
		*guest_page(gfn + i) = i + 9;
		assert_int_equal(ghyvi_gtt_ppgtt_read(root, SPAN + (i << 12), &value, 8), 0);
		assert_int_equal(value, i + 9);
	}
}

static void the_host_reads_through_large_pages(void **state)
{
	struct ghyvi_root *root = build_large(LARGE_WHOLE);

	read_all(root, LARGE_WHOLE);
	write_pte(PD_GFN, 1, large(LARGE_SCATTERED));
	read_all(root, LARGE_SCATTERED);
	put_all_roots();
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	root = get_root4(PML4_GFN);
	read_all(root, LARGE_SCATTERED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(contiguous_pages_stay_one_entry),
		TEST(scattered_large_pages_get_a_shadow_table),
		TEST(unmapping_any_part_of_a_large_page_zaps_all_of_it),
		TEST(unmapping_any_part_of_a_split_page_zaps_all_of_it),
		TEST(a_page_over_the_pin_limit_maps_scratch_until_there_is_room),
		TEST(a_retry_ends_when_the_page_gets_another_use),
		TEST(invalid_large_entries_map_scratch),
		TEST(the_host_reads_through_large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
