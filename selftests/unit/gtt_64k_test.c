// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of 64 KiB pages. The shadow keeps the size while each of the pages is contiguous in
 * the host; otherwise it has 4 KiB pages.
 */
#include "gtt_fake.h"

#define APART (LARGE_SCATTERED + 5 * 16u) /* 64 KiB that are not contiguous */

static u64 *shadow_pd(void)
{
	return shadow_table(fake.held[0].dma, 2, 0u, 0u);
}

/*
 * A tree whose page table has 64 KiB pages from LARGE_WHOLE on. The other entries of a group are
 * not read.
 */
static struct ghyvi_root *build_64k(void)
{
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 0, pte(PT_GFN) | GHYVI_ENTRY_64K);
	for (i = 0; i < 64; i++)
		write_pte(PT_GFN, i, i % 16 ? pte(DATA + i) : pte(LARGE_WHOLE + i));
	return get_root4(PML4_GFN);
}

static bool says_64k(unsigned int index)
{
	return shadow_pd()[index] & GHYVI_ENTRY_64K;
}

static void contiguous_groups_stay_large(void **state)
{
	struct ghyvi_root *root = build_64k();
	unsigned int i;

	assert_true(says_64k(0));
	for (i = 0; i < 64; i++)
		assert_true(shadow_pt(root)[i] == spte(LARGE_WHOLE + i));
	assert_true(shadow_pt(root)[64] == 0);
	assert_int_equal(fake.pins[DATA + 1], 0);
	/* The permission is the entry's; address bits below 64 KiB do not count. */
	write_pte(PT_GFN, 16, pte(LARGE_WHOLE + 35) & ~GHYVI_ENTRY_WRITE);
	write_pte(PT_GFN, 17, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	for (i = 0; i < 16; i++)
		assert_true(shadow_pt(root)[16 + i] ==
			    (spte(LARGE_WHOLE + 32 + i) & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(ips_set_now), 1);
	assert_int_equal(STAT(tables_64k), 1);
	/* Now the table is one of 4 KiB pages. */
	write_pte(PD_GFN, 0, pte(PT_GFN));
	assert_false(says_64k(0));
	assert_true(shadow_pt(root)[17] == spte(DATA));
	assert_int_equal(STAT(ips_set_now), 0);
}

static void one_scattered_group_makes_a_64k_table_a_4k_table(void **state)
{
	struct ghyvi_root *root = build_64k();
	u32 invalidations = fake.invalidations;
	unsigned int i;

	write_pte(PT_GFN, 32, pte(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(0));
	/*
	 * The TLBs are invalidated after the bit is cleared, and before a scattered group is
	 * written.
	 */
	assert_true(fake.invalidations > invalidations);
	for (i = 0; i < 16; i++)
		assert_true(shadow_pt(root)[32 + i] == spte(APART + i));
	assert_true(shadow_pt(root)[17] == spte(LARGE_WHOLE + 17));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* The self-check would find the bit if it were still set. */
	shadow_pd()[0] |= GHYVI_ENTRY_64K;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	shadow_pd()[0] &= ~GHYVI_ENTRY_64K;

	write_pte(PT_GFN, 0, 0); /* the others do not matter */
	write_pte(PT_GFN, 32, pte(LARGE_WHOLE));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	assert_true(shadow_pt(root)[5] == 0);
	assert_int_equal(STAT(ips_set), 2);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void only_the_first_pde_has_the_64k_bit(void **state)
{
	struct ghyvi_root *root = build_64k();

	write_pte(PD_GFN, 1, pte(PT_GFN) | GHYVI_ENTRY_64K);
	write_pte(PD_GFN, 2, pte(PT_GFN));
	assert_true(says_64k(0));
	assert_false(says_64k(1) || says_64k(2));
	assert_true((shadow_pd()[1] | GHYVI_ENTRY_64K) == shadow_pd()[0]);
	assert_false(shadow_pd()[2] == shadow_pd()[1]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* The entry keeps the bit when it is written again, also with another permission. */
	write_pte(PD_GFN, 0, (pte(PT_GFN) | GHYVI_ENTRY_64K) & ~GHYVI_ENTRY_WRITE);
	assert_true(says_64k(0));
	write_pte(PT_GFN, 0, pte(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(0));
	write_pte(PT_GFN, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	/* The entry with the bit is cleared. Another entry may get it. */
	write_pte(PD_GFN, 0, 0);
	assert_int_equal(STAT(ips_set_now), 0);
	write_pte(PT_GFN, 0, pte(APART));
	write_pte(PD_GFN, 3, pte(PT_GFN) | GHYVI_ENTRY_64K);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(1) || says_64k(3));
	write_pte(PT_GFN, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(3) && !says_64k(1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* A TLB may still hold the bit of an entry that is cleared by now. */
static void a_cached_64k_bit_is_invalidated_first(void **state)
{
	struct ghyvi_root *root = build_64k();
	u32 invalidations;

	write_pte(PD_GFN, 1, pte(PT_GFN) | GHYVI_ENTRY_64K);
	assert_true(says_64k(0));
	assert_false(says_64k(1));
	write_pte(PD_GFN, 0, 0);
	invalidations = fake.invalidations;
	write_pte(PT_GFN, 32, pte(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1]);
	assert_false(says_64k(1));
	assert_true(fake.invalidations > invalidations);
	/* One invalidation is enough. */
	invalidations = fake.invalidations;
	write_pte(PT_GFN, 48, pte(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.invalidations, invalidations);
}

/* What was invalidated before it is freed is not invalidated again while it is freed. */
static void a_freed_table_is_invalidated_once(void **state)
{
	struct ghyvi_root *root = build_64k();
	u32 invalidations;
	unsigned int i;

	write_pte(PD_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	for (i = 0; i < 64; i += 16)
		write_pte(PT2_GFN, i, pte(LARGE_WHOLE + i));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0) && says_64k(1));
	ghyvi_gtt_flush(fake.gtt);
	invalidations = fake.invalidations;
	write_pte(PD_GFN, 0, 0);
	write_pte(PD_GFN, 1, 0);
	ghyvi_gtt_flush(fake.gtt);
	assert_int_equal(fake.invalidations, invalidations + 3); /* two tables and the flush */
	assert_int_equal(STAT(ips_set_now), 0);
}

static void unmapping_any_page_of_a_group_zaps_the_group(void **state)
{
	struct ghyvi_root *root = build_64k();
	unsigned int i;

	set_absent(LARGE_WHOLE + 20, true);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 20, 1);
	assert_false(says_64k(0));
	for (i = 0; i < 16; i++) {
		assert_true(is_scratch(shadow_pt(root)[16 + i]));
		assert_int_equal(fake.pins[LARGE_WHOLE + 16 + i], 0);
		assert_true(shadow_pt(root)[i] == spte(LARGE_WHOLE + i));
	}
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[16]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(LARGE_WHOLE + 20, false);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 20, 1);
	write_pte(PT_GFN, 16, 0);
	write_pte(PT_GFN, 16, pte(LARGE_WHOLE + 16));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_page_over_the_pin_limit_maps_scratch_until_there_is_room(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 4 + 4 * 16 - 1;
	root = build_64k();
	assert_true(is_scratch(shadow_pt(root)[48]));
	assert_false(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	fake.pin_limit++;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[48] == spte(LARGE_WHOLE + 48));
	assert_true(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void without_the_64k_capability_tables_are_4k(void **state)
{
	struct ghyvi_root *root;

	fake.gtt->params.pages_64k = false;
	root = build_64k();
	assert_false(says_64k(0));
	assert_true(shadow_pt(root)[17] == spte(DATA + 17));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void read_all(struct ghyvi_root *root)
{
	u64 i, value;

	for (i = 0; i < 64; i++) {
		*guest_page(LARGE_WHOLE + i) = i + 9;
		assert_int_equal(ghyvi_gtt_ppgtt_read(root, i << 12, &value, 8), 0);
		assert_int_equal(value, i + 9);
	}
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 65 << 12, &value, 8), -EFAULT);
}

static void the_host_reads_through_large_pages(void **state)
{
	struct ghyvi_root *root = build_64k();

	read_all(root);
	put_all_roots();
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	root = get_root4(PML4_GFN);
	read_all(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(contiguous_groups_stay_large),
		TEST(one_scattered_group_makes_a_64k_table_a_4k_table),
		TEST(only_the_first_pde_has_the_64k_bit),
		TEST(a_cached_64k_bit_is_invalidated_first),
		TEST(a_freed_table_is_invalidated_once),
		TEST(unmapping_any_page_of_a_group_zaps_the_group),
		TEST(a_page_over_the_pin_limit_maps_scratch_until_there_is_room),
		TEST(without_the_64k_capability_tables_are_4k),
		TEST(the_host_reads_through_large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
