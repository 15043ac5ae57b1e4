// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of 64 KiB pages: kept while each of their pages is contiguous in the host, of 4 KiB
 * otherwise.
 */
#include "gtt_fake.h"

#define APART (LARGE_SCATTERED + 5 * 16u) /* 64 KiB that are not contiguous */

static u64 *shadow_pd(void)
{
	return shadow(fake.held[0].bus, 2, 0u, 0u);
}

/*
 * A tree whose page table has 64 KiB pages from LARGE_WHOLE on. The other entries of a group are
 * not read.
 */
static struct ghyvi_root *plant_64k(void)
{
	unsigned int i;

	plant(1);
	set(3, 0, to(4) | GHYVI_ENTRY_64K);
	for (i = 0; i < 64; i++)
		set(4, i, i % 16 ? to(DATA + i) : to(LARGE_WHOLE + i));
	return hold4(1);
}

static bool says_64k(unsigned int index)
{
	return shadow_pd()[index] & GHYVI_ENTRY_64K;
}

static void test_contiguous_groups_stay_large(void **state)
{
	struct ghyvi_root *root = plant_64k();
	unsigned int i;

	assert_true(says_64k(0));
	for (i = 0; i < 64; i++)
		assert_true(shadow_pt(root)[i] == maps(LARGE_WHOLE + i));
	assert_true(shadow_pt(root)[64] == 0);
	assert_int_equal(fake.pins[DATA + 1], 0);
	/* The permission is the entry's; address bits below 64 KiB do not count. */
	set(4, 16, to(LARGE_WHOLE + 35) & ~GHYVI_ENTRY_WRITE);
	set(4, 17, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	for (i = 0; i < 16; i++)
		assert_true(shadow_pt(root)[16 + i] ==
			    (maps(LARGE_WHOLE + 32 + i) & ~GHYVI_ENTRY_WRITE));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(kept_64k_now), 1);
	assert_int_equal(STAT(tables_64k), 1);
	/* As other tables again. */
	set(3, 0, to(4));
	assert_false(says_64k(0));
	assert_true(shadow_pt(root)[17] == maps(DATA));
	assert_int_equal(STAT(kept_64k_now), 0);
}

static void test_one_group_apart_makes_the_table_one_of_4k(void **state)
{
	struct ghyvi_root *root = plant_64k();
	u32 invalidations = fake.invalidations;
	unsigned int i;

	set(4, 32, to(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(0));
	/* Engines have forgotten that it said so, before they can find what is no 64 KiB. */
	assert_true(fake.invalidations > invalidations);
	for (i = 0; i < 16; i++)
		assert_true(shadow_pt(root)[32 + i] == maps(APART + i));
	assert_true(shadow_pt(root)[17] == maps(LARGE_WHOLE + 17));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Did it still say so, the self-check would know. */
	shadow_pd()[0] |= GHYVI_ENTRY_64K;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	shadow_pd()[0] &= ~GHYVI_ENTRY_64K;

	set(4, 0, 0); /* the others do not matter */
	set(4, 32, to(LARGE_WHOLE));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	assert_true(shadow_pt(root)[5] == 0);
	assert_int_equal(STAT(kept_64k), 2);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_only_the_first_pde_has_the_64k_bit(void **state)
{
	struct ghyvi_root *root = plant_64k();

	set(3, 1, to(4) | GHYVI_ENTRY_64K);
	set(3, 2, to(4));
	assert_true(says_64k(0));
	assert_false(says_64k(1) || says_64k(2));
	assert_true((shadow_pd()[1] | GHYVI_ENTRY_64K) == shadow_pd()[0]);
	assert_false(shadow_pd()[2] == shadow_pd()[1]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Written again, also with another permission, it is still the one. */
	set(3, 0, (to(4) | GHYVI_ENTRY_64K) & ~GHYVI_ENTRY_WRITE);
	assert_true(says_64k(0));
	set(4, 0, to(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(0));
	set(4, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	/* It goes, and what comes next may be it. */
	set(3, 0, 0);
	assert_int_equal(STAT(kept_64k_now), 0);
	set(4, 0, to(APART));
	set(3, 3, to(4) | GHYVI_ENTRY_64K);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(says_64k(1) || says_64k(3));
	set(4, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(3) && !says_64k(1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* An engine remembers what an entry said that has gone since. */
static void test_a_cached_64k_bit_is_invalidated_first(void **state)
{
	struct ghyvi_root *root = plant_64k();
	u32 invalidations;

	set(3, 1, to(4) | GHYVI_ENTRY_64K);
	assert_true(says_64k(0));
	assert_false(says_64k(1));
	set(3, 0, 0);
	invalidations = fake.invalidations;
	set(4, 32, to(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pd()[1]);
	assert_false(says_64k(1));
	assert_true(fake.invalidations > invalidations);
	/* Once is enough. */
	invalidations = fake.invalidations;
	set(4, 48, to(APART));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.invalidations, invalidations);
}

static void test_losing_any_part_scrubs_the_group(void **state)
{
	struct ghyvi_root *root = plant_64k();
	unsigned int i;

	set_absent(LARGE_WHOLE + 20, true);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 20, 1);
	assert_false(says_64k(0));
	for (i = 0; i < 16; i++) {
		assert_true(is_scratch(shadow_pt(root)[16 + i]));
		assert_int_equal(fake.pins[LARGE_WHOLE + 16 + i], 0);
		assert_true(shadow_pt(root)[i] == maps(LARGE_WHOLE + i));
	}
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[16]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(LARGE_WHOLE + 20, false);
	ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE + 20, 1);
	set(4, 16, 0);
	set(4, 16, to(LARGE_WHOLE + 16));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_pin_too_few_is_scratch_until_there_is_room(void **state)
{
	struct ghyvi_root *root;

	fake.pin_limit = 4 + 4 * 16 - 1;
	root = plant_64k();
	assert_true(is_scratch(shadow_pt(root)[48]));
	assert_false(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	fake.pin_limit++;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[48] == maps(LARGE_WHOLE + 48));
	assert_true(says_64k(0));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_guest_without_them(void **state)
{
	struct ghyvi_root *root;

	fake.gtt->params.pages_64k = false;
	root = plant_64k();
	assert_false(says_64k(0));
	assert_true(shadow_pt(root)[17] == maps(DATA + 17));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void read_all(struct ghyvi_root *root)
{
	u64 i, value;

	for (i = 0; i < 64; i++) {
		*page_of(LARGE_WHOLE + i) = i + 9;
		assert_int_equal(ghyvi_gtt_ppgtt_read(root, i << 12, &value, 8), 0);
		assert_int_equal(value, i + 9);
	}
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 65 << 12, &value, 8), -EFAULT);
}

static void test_the_host_reads_through_them(void **state)
{
	struct ghyvi_root *root = plant_64k();

	read_all(root);
	release_all();
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	root = hold4(1);
	read_all(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_contiguous_groups_stay_large),
		TEST(test_one_group_apart_makes_the_table_one_of_4k),
		TEST(test_only_the_first_pde_has_the_64k_bit),
		TEST(test_a_cached_64k_bit_is_invalidated_first),
		TEST(test_losing_any_part_scrubs_the_group),
		TEST(test_a_pin_too_few_is_scratch_until_there_is_room),
		TEST(test_a_guest_without_them),
		TEST(test_the_host_reads_through_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
