// SPDX-License-Identifier: GPL-2.0-only
/* Entries of page tables that are translated together: runs of pages, runs of one page. */
#include "gtt_fake.h"

#define ENTRIES 100u

/* Entries [0, ENTRIES) of page table @table, without traps: entry i maps page @gfn + i * @step. */
static void bind_in(u64 table, u64 gfn, unsigned int step)
{
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		guest_page(table)[i] = pte(gfn + i * step);
}

static void bind(u64 gfn, unsigned int step)
{
	bind_in(PT_GFN, gfn, step);
}

static struct ghyvi_root *relaxed_tree(void)
{
	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	return get_root4(PML4_GFN);
}

static void assert_bound(struct ghyvi_root *root, u64 gfn, unsigned int step)
{
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		assert_true(shadow_pt(root)[i] == spte(gfn + i * step));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void sync_bound(struct ghyvi_root *root, u64 gfn, unsigned int step)
{
	bind(gfn, step);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_bound(root, gfn, step);
}

static void runs_replace_runs_of_pinned_pages(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	unsigned int round;

	for (round = 0; round < 3; round++) {
		sync_bound(root, DATA, 1);
		sync_bound(root, DATA + 13, 1);
		sync_bound(root, DATA + 200, 1);
	}
	/* [DATA, DATA + 113) is idle, [DATA + 200, DATA + 300) is not */
	assert_int_equal(fake.gtt->nr_idle_pins, ENTRIES + 13);
	/* A run of idle pins is released with the range. */
	ghyvi_gtt_unmap(fake.gtt, DATA, ENTRIES);
	assert_int_equal(fake.pins[DATA + 50], 0);
	assert_int_equal(fake.pins[DATA + 250], 1);
}

static void one_page_in_all_entries_is_pinned_once_and_released_with_the_last(void **state)
{
	struct ghyvi_root *root = relaxed_tree();

	sync_bound(root, DATA, 1);
	sync_bound(root, DATA + 500, 0);
	assert_int_equal(fake.pins[DATA + 500], 1);
	assert_int_equal(fake.pins[DATA + 501], 0);
	assert_int_equal(fake.gtt->nr_idle_pins, ENTRIES);
	sync_bound(root, DATA, 1);
	assert_int_equal(fake.gtt->nr_idle_pins, 1);
	ghyvi_gtt_unmap(fake.gtt, DATA + 500, 1);
	assert_int_equal(fake.pins[DATA + 500], 0);
}

/* Sync, and assert how many pages no entry maps any more. */
static void sync_idle(struct ghyvi_root *root, u32 idle)
{
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.gtt->nr_idle_pins, idle);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void pages_that_two_tables_map_are_idle_after_the_last_entry(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	unsigned int round;

	write_pte(PD_GFN, 1, pte(PT2_GFN));
	for (round = 0; round < 3; round++) {
		bind(DATA, 1);
		bind_in(PT2_GFN, DATA + 30, 1);
		sync_idle(root, round ? ENTRIES : 0);
		bind(DATA + 500, 1);
		sync_idle(root, 30);
		bind_in(PT2_GFN, DATA + 500, 1);
		sync_idle(root, 30 + ENTRIES);
		bind(DATA, 1);
		sync_idle(root, 30);
		bind_in(PT2_GFN, DATA, 1);
		sync_idle(root, 30 + ENTRIES);
	}
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_int_equal(fake.pins[DATA], 0);
	assert_int_equal(fake.pins[DATA + 1], 1);
}

static void a_page_that_runs_of_both_kinds_map_is_idle_after_the_last_entry(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	unsigned int first;

	write_pte(PD_GFN, 1, pte(PT2_GFN));
	for (first = 0; first < 2; first++) {
		bind(DATA + 10, 0);
		bind_in(PT2_GFN, DATA, 1);
		sync_idle(root, first ? ENTRIES : 0);
		bind_in(first ? PT_GFN : PT2_GFN, DATA + 500, 1);
		sync_idle(root, first ? 0 : ENTRIES - 1);
		bind_in(first ? PT2_GFN : PT_GFN, DATA + 500, 1);
		sync_idle(root, ENTRIES);
	}
}

/* Two entries map one page; the second one is written after the page became a table page. */
static void a_run_of_one_page_ends_before_an_entry_that_maps_scratch(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	u64 table = DATA + 50;

	sync_bound(root, DATA + 500, 1); /* pinned, so that a run replaces both entries */
	write_pte(PT_GFN, 0, pte(table));
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PD_GFN, 1, pte(table));
	write_pte(PT_GFN, 1, pte(table));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(table));
	assert_true(is_scratch(shadow_pt(root)[1]));
	bind(DATA + 500, 1);
	sync_idle(root, 1);
	/* It is data again, in all entries. */
	write_pte(PD_GFN, 1, 0);
	bind(table, 0);
	sync_idle(root, ENTRIES);
	bind(DATA + 500, 1);
	sync_idle(root, 1);
}

/* Can an entry that maps @gfn be replaced with others in one step? */
static bool is_in_runs(u64 gfn)
{
	struct ghyvi_pin_run run = { gfn, 1, 1 };
	bool held;

	mutex_lock(&fake.gtt->lock);
	held = ghyvi_pins_hold(fake.gtt, &run);
	if (held)
		ghyvi_pins_put(fake.gtt, &run);
	mutex_unlock(&fake.gtt->lock);
	return held;
}

static void a_page_that_was_a_table_is_in_runs_again(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	u64 table = DATA + 50;

	write_pte(PT_GFN, 0, pte(table));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_in_runs(table));
	write_pte(PD_GFN, 1, pte(table));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(is_in_runs(table));
	write_pte(PD_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_in_runs(table));
}

static void a_table_page_in_a_run_of_pinned_pages_maps_scratch(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	u64 table = DATA + 50;
	u32 i;

	sync_bound(root, DATA, 1);
	sync_bound(root, DATA + 500, 1);
	write_pte(PD_GFN, 1, pte(table)); /* pinned, idle, and a table page now */
	bind(DATA, 1);
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < ENTRIES; i++)
		if (DATA + i == table)
			assert_true(is_scratch(shadow_pt(root)[i]));
		else
			assert_true(shadow_pt(root)[i] == spte(DATA + i));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* It is data again. */
	write_pte(PD_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_bound(root, DATA, 1);
}

static void a_deferred_entry_in_a_run_holds_no_pin(void **state)
{
	struct ghyvi_root *root = relaxed_tree();

	sync_bound(root, DATA + 500, 1);
	set_absent(DATA + 30, true);
	bind(DATA, 1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[30]));
	sync_bound(root, DATA + 500, 1);
	assert_int_equal(fake.gtt->nr_idle_pins, ENTRIES - 1);
	set_absent(DATA + 30, false);
	sync_bound(root, DATA, 1);
	assert_int_equal(fake.gtt->nr_idle_pins, ENTRIES);
}

/* The addresses of entries end at bit 38: the page after the last one is page 0. */
static void a_run_ends_where_the_address_field_does(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	u64 last = GHYVI_GUEST_ADDRESS_MASK >> GHYVI_PAGE_SHIFT;
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		guest_page(PT_GFN)[i] = pte(last - 30) + i * GHYVI_PAGE_BYTES;
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < ENTRIES; i++)
		if (i <= 30 || (i - 31 >= PML4_GFN && i - 31 <= PT_GFN))
			assert_true(is_scratch(shadow_pt(root)[i]));
		else
			assert_true(shadow_pt(root)[i] == spte(i - 31));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void permissions_of_a_run_are_those_of_each_entry(void **state)
{
	struct ghyvi_root *root = relaxed_tree();
	u32 i;

	sync_bound(root, DATA, 1);
	for (i = 0; i < ENTRIES; i++)
		guest_page(PT_GFN)[i] = pte(DATA + i) & ~(i % 7 < 3 ? GHYVI_ENTRY_WRITE : 0ull);
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < ENTRIES; i++)
		assert_true(shadow_pt(root)[i] ==
			    (spte(DATA + i) & ~(i % 7 < 3 ? GHYVI_ENTRY_WRITE : 0ull)));
	assert_int_equal(fake.gtt->nr_idle_pins, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_replace_runs_of_pinned_pages),
		TEST(one_page_in_all_entries_is_pinned_once_and_released_with_the_last),
		TEST(pages_that_two_tables_map_are_idle_after_the_last_entry),
		TEST(a_page_that_runs_of_both_kinds_map_is_idle_after_the_last_entry),
		TEST(a_run_of_one_page_ends_before_an_entry_that_maps_scratch),
		TEST(a_page_that_was_a_table_is_in_runs_again),
		TEST(a_table_page_in_a_run_of_pinned_pages_maps_scratch),
		TEST(a_deferred_entry_in_a_run_holds_no_pin),
		TEST(a_run_ends_where_the_address_field_does),
		TEST(permissions_of_a_run_are_those_of_each_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
