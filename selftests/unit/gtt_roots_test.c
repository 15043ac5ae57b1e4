// SPDX-License-Identifier: GPL-2.0-only
/* Roots of page tables: references, addresses, resets, and the limits of their number. */
#include "gtt_fake.h"

#define MOST_TABLES 8192u

static void three_level_roots(void **state)
{
	u64 gpa[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, (u64)(RAM_PAGES + 5) << 12 };
	u64 other[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD4_GFN << 12 };
	struct ghyvi_root *root;
	unsigned int i;
	u64 *top;

	write_pte(PD_GFN, 0, pte(PT_GFN));
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_root(gpa, 3);
	top = shadow_table(fake.held[0].dma, 0);
	assert_true(shadow_table(fake.held[0].dma, 2, 0u, 0u)[0] == spte(DATA));
	assert_true(maps_scratch(top[3], 3));
	/* An address behind 4 GiB is the scratch page's, too. */
	for (i = 4; i < 512; i++)
		assert_true(maps_scratch(top[i], 3));
	assert_true(fake.protected[PD_GFN] && fake.protected[PD2_GFN] && fake.protected[PD3_GFN]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_ptr_equal(get_root(gpa, 3), root);
	assert_ptr_not_equal(get_root(other, 3), root); /* same first directory, another tree */
	assert_false(maps_scratch(shadow_table(fake.held[2].dma, 0)[3], 3));
	ghyvi_gtt_unmap(fake.gtt, PD2_GFN, 1);
	assert_true(maps_scratch(top[0], 3));
	put_all_roots();
	ghyvi_gtt_forget_root(fake.gtt, other, 3);
	assert_int_equal(fake.pins[PD_GFN], 0);
}

/* Hostile guests set bits of a root's address that an entry's address does not have. */
static void high_address_bits_of_roots_are_ignored(void **state)
{
	const u64 high = BIT_ULL(40) | BIT_ULL(63);
	u64 gpa[4] = { PD_GFN << 12 | high, PD2_GFN << 12 | high, PD3_GFN << 12 | high,
		       PD4_GFN << 12 | high };
	u64 plain[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD4_GFN << 12 };
	u64 gpa4[4] = { PML4_GFN << 12 | high };
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	root = get_root(gpa, 3);
	assert_ptr_equal(get_root(plain, 3), root);
	ghyvi_gtt_unmap(fake.gtt, PD2_GFN, 1);
	assert_int_equal(fake.pins[PD2_GFN], 0);
	root = get_root(gpa4, 4);
	assert_ptr_equal(get_root4(PML4_GFN), root);
	ghyvi_gtt_unmap(fake.gtt, PML4_GFN, 1);
	assert_int_equal(fake.pins[PML4_GFN], 0);
	put_all_roots();
	get_root(gpa, 3);
	put_all_roots();
	ghyvi_gtt_forget_root(fake.gtt, plain, 3);
	assert_int_equal(fake.pins[PD_GFN], 0);
}

static void get_put_forget_in_any_order(void **state)
{
	struct ghyvi_root *root;
	u64 bogus = (u64)RAM_PAGES << 12;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	assert_ptr_equal(get_root4(PML4_GFN), root);
	forget_root4(PML4_GFN);
	forget_root4(PML4_GFN);
	forget_root4(77);
	assert_int_equal(fake.pins[PML4_GFN], 0);
	assert_ptr_not_equal(get_root4(PML4_GFN), root);
	put_root(0);
	put_root(1);
	assert_int_equal(fake.pins[PML4_GFN], 1);
	put_all_roots();
	assert_int_equal(fake.pins[PML4_GFN], 1); /* known */
	forget_root4(PML4_GFN);
	assert_int_equal(fake.pins[PML4_GFN], 0);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &bogus, 4)), -EFAULT);
}

/* A workload may hold the tree for a moment after the guest saw its completion. */
static void pages_of_a_forgotten_tree_are_data_at_once(void **state)
{
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	forget_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), 0);
	build_tree(PML4_B_GFN);
	write_pte(PT_B_GFN, 0, pte(PT_GFN));
	get_root4(PML4_B_GFN);
	assert_true(shadow_table(fake.held[1].dma, 3, 0u, 0u, 0u)[0] == spte(PT_GFN));
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 0)[0], 4));
}

/* A driver is loaded after one that crashed. */
static void all_trees_can_be_forgotten(void **state)
{
	u64 directories[4] = { PD_GFN << 12, PD_GFN << 12, PD_GFN << 12, PD_GFN << 12 };

	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	put_all_roots();
	get_root(directories, 3);
	ghyvi_gtt_forget_roots(fake.gtt);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 0)[0], 3));
	build_tree(PML4_B_GFN);
	write_pte(PT_B_GFN, 0, pte(PT_GFN));
	get_root4(PML4_B_GFN);
	assert_true(shadow_table(fake.held[1].dma, 3, 0u, 0u, 0u)[0] == spte(PT_GFN));
	put_all_roots();
	ghyvi_gtt_forget_roots(fake.gtt);
	assert_int_equal(STAT(protected_now), 0);
	assert_true(get_root4(PML4_GFN));
}

static void reset_with_a_held_root(bool forgotten)
{
	u64 dma;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 1);
	get_root4(PML4_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	if (forgotten)
		forget_root4(PML4_GFN);
	dma = fake.held[0].dma;
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512] == 0);
	assert_true(maps_scratch(shadow_table(dma, 0)[0], 4));
	put_all_roots();
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512] == spte(DATA + 1));
}

static void reset_while_a_root_is_held(void **state)
{
	reset_with_a_held_root(false);
}

static void reset_while_a_forgotten_root_is_held(void **state)
{
	reset_with_a_held_root(true);
}

static void number_of_roots_is_limited(void **state)
{
	u64 gpa = 5000ull << 12;
	u32 i;

	fake.unchecked = true;
	for (i = 0; i < GHYVI_MAX_ROOTS; i++)
		assert_false(IS_ERR(get_root4(100 + i)));
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOSPC);
	put_root(7);
	assert_false(IS_ERR(get_root4(5000))); /* the tree that is not held was evicted */
	assert_int_equal(STAT(evicted_trees), 1);
	assert_int_equal(fake.pins[107], 0);
}

static void number_of_table_pages_is_limited(void **state)
{
	u64 gpa = 90 << 12;

	fake.unchecked = true;
	limit_tables(MOST_TABLES);
	build_full_directories(17);
	get_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	assert_int_equal(STAT(entries_rejected), 19);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(three_level_roots),
		TEST(high_address_bits_of_roots_are_ignored),
		TEST(get_put_forget_in_any_order),
		TEST(pages_of_a_forgotten_tree_are_data_at_once),
		TEST(all_trees_can_be_forgotten),
		TEST(reset_while_a_root_is_held),
		TEST(reset_while_a_forgotten_root_is_held),
		TEST(number_of_roots_is_limited),
		TEST(number_of_table_pages_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
