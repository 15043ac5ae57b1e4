// SPDX-License-Identifier: GPL-2.0-only
/* Guest memory that cannot be had or goes away, roots, limits, the GGTT, the self-check. */
#include "gtt_fake.h"

#define MOST_TABLES 8192u

static void test_enomem_evicts_idle_pins(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 0, to(DATA));
	set(4, 1, to(DATA + 1));
	root = hold4(1);
	set(4, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = fake.pinned;
	set(4, 2, to(DATA + 2));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.pins[DATA], 0);
	assert_true(shadow_pt(root)[2] == maps(DATA + 2));
	/* for a table page as well */
	set(4, 2, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	set(3, 1, to(5));
	assert_int_equal(fake.pins[5], 1);
	/* and when there is nothing to evict, scratch */
	set(4, 3, to(DATA + 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[3]));
	assert_int_equal(STAT(pin_failures),
			 2); /* at the trap, and tried again by the synchronisation */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void bind_and_unbind(struct ghyvi_root *root, u64 gfn)
{
	set(4, 0, to(gfn));
	set(4, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
}

static void test_idle_pins_that_were_used_again_stay_longer(void **state)
{
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	struct ghyvi_root *root;

	tuning.idle_pins = 3;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	root = hold4(1);
	bind_and_unbind(root, DATA);
	bind_and_unbind(root, DATA + 1);
	bind_and_unbind(root, DATA + 2);
	assert_int_equal(fake.gtt->nr_idle_pins, 3);
	bind_and_unbind(root, DATA);
	set(4, 1, to(DATA + 1)); /* in use where it was idle for longest */
	bind_and_unbind(root, DATA + 3);
	assert_int_equal(fake.gtt->nr_idle_pins, 3);
	bind_and_unbind(root, DATA + 4);
	assert_int_equal(fake.gtt->nr_idle_pins, 1);
	assert_int_equal(fake.pins[DATA], 1);
	assert_int_equal(fake.pins[DATA + 1], 1);
	assert_int_equal(fake.pins[DATA + 2] + fake.pins[DATA + 3] + fake.pins[DATA + 4], 0);
	assert_true(shadow_pt(root)[1] == maps(DATA + 1));
	/* Only once. */
	bind_and_unbind(root, DATA + 2);
	bind_and_unbind(root, DATA + 3);
	bind_and_unbind(root, DATA + 4);
	assert_int_equal(fake.pins[DATA], 0);
}

static void test_pins_far_apart_and_side_by_side(void **state)
{
	static const u64 gfns[] = {
		DATA, DATA + 1, DATA + 64 * 64, DATA + 64 * 64 + 1, DATA + 64 * 128, RAM_PAGES - 1
	};
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	root = hold4(1);
	for (i = 0; i < ARRAY_SIZE(gfns); i++)
		set(4, i, to(gfns[i]));
	for (i = 0; i < ARRAY_SIZE(gfns); i++)
		assert_true(shadow_pt(root)[i] == maps(gfns[i]));
	/* Of a range that begins and ends in the middle, what lies in it. */
	set_absent(DATA + 1, true);
	set_absent(DATA + 64 * 64, true);
	ghyvi_gtt_unmap(fake.gtt, DATA + 1, 64 * 64);
	for (i = 0; i < ARRAY_SIZE(gfns); i++) {
		assert_int_equal(fake.pins[gfns[i]], i != 1 && i != 2);
		assert_true(shadow_pt(root)[i] == maps(gfns[i]) || is_scratch(shadow_pt(root)[i]));
	}
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_pinned_page_that_is_a_table_is_not_data(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	set(4, 0, to(DATA));
	root = hold4(1);
	set(3, 1, to(DATA));
	set(4, 1, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[1]));
	set(3, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	set(4, 2, to(DATA));
	assert_true(shadow_pt(root)[2] == maps(DATA));
	/* A table that is pinned as the root of a nested job, too. */
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	ghyvi_gtt_put_root(ghyvi_gtt_get_root(fake.gtt, (u64[]){ 4 << 12 }, 4));
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	set(4, 3, to(4));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[3]));
}

/*
 * Of tables: nothing can be protected, so that what was a table is found in the same
 * synchronisation as its new use.
 */
static void test_a_table_that_becomes_data(void **state)
{
	struct ghyvi_root *root;

	fake.protect_broken = true;
	plant(1);
	set(3, 1, to(5));
	set(4, 0, to(DATA));
	set(5, 0, to(DATA + 1));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	set(3, 0, 0);
	set(5, 0, to(4));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[0] == maps(4));
}

static void test_ggtt_entries_are_gone_before_their_page_is_evicted(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	fake.guest_ggtt[first] = to(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == maps(DATA));
	/* One comparison frees DATA and then needs its room for DATA + 1. */
	fake.pin_limit = 1;
	fake.guest_ggtt[first] = 0;
	fake.guest_ggtt[first + 1] = to(DATA + 1);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == 0);
	assert_true(fake.ggtt[first + 1] == maps(DATA + 1));
}

static void test_no_room_twice_in_one_line_of_the_ggtt(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;
	u32 i;

	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		fake.guest_ggtt[first + i] = to(DATA + i);
	ghyvi_gtt_sync(fake.gtt, NULL);
	fake.pin_limit = fake.pinned;
	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		set(BAR_GFN + FIRST_GGTT_TABLE, i, to(DATA + 100 + i));
	ghyvi_gtt_sync(
		fake.gtt,
		NULL); /* the fake sees to it that no entry leads to a page when it is unpinned */
	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		assert_true(fake.ggtt[first + i] == maps(DATA + 100 + i) ||
			    is_scratch(fake.ggtt[first + i]));
}

static void test_a_page_that_cannot_be_owned_is_scratch(void **state)
{
	struct ghyvi_root *root;
	u64 gpa = 11 << 12;

	plant(1);
	root = hold4(1);
	fake.own_limit = fake.owned_pages;
	set(4, 0, to(DATA));
	set(3, 1, to(5));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 2, 0u, 0u)[1], 2));
	assert_int_equal(fake.pins[DATA] + fake.pins[5], 0);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOMEM);
	assert_int_equal(fake.pins[11], 0);
}

static void test_unmap_of_a_data_page(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 0, to(DATA));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = to(DATA);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA - 3, 7);
	assert_int_equal(fake.pins[DATA], 0);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_true(is_scratch(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3]));
	set_absent(DATA, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3] == maps(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Values of ours that a guest may know. */
static void test_no_entry_that_is_not_present_is_scratch(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	plant(1);
	for (i = 0; i < 64; i++)
		set(4, i, BIT_ULL(i) & ~1ull);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < 64; i++)
		assert_int_equal(shadow_pt(root)[i], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* The one for which scratch may stay, since it reads as if nothing had changed. */
	set(4, 0, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	set(4, 0, GHYVI_SNAPSHOT_STALE);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_unmap_of_table_pages(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 0, to(DATA));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_unmap(fake.gtt, 3, 2);
	assert_int_equal(fake.pins[3] + fake.pins[4] + fake.pins[DATA], 0);
	assert_false(fake.protected[3] || fake.protected[4]);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[0], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* A job that runs was given the address of the top page: that page stays, and leads to scratch. */
static void unmap_of_a_held_root(bool forgotten)
{
	u64 bus;

	plant(1);
	set(4, 0, to(DATA));
	hold4(1);
	bus = fake.held[0].bus;
	if (forgotten)
		forget4(1);
	ghyvi_gtt_unmap(fake.gtt, 1, DATA);
	assert_int_equal(fake.pins[1] + fake.pins[2] + fake.pins[DATA], 0);
	assert_true(bus == ghyvi_root_bus(fake.held[0].root));
	assert_int_equal(kind_of(bus), GHYVI_PAGE_TABLE);
	assert_true(leads_to_scratch(shadow(bus, 0)[0], 4));
	assert_true(leads_to_scratch(shadow(bus, 0)[511], 4));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, fake.held[0].root), 0);
	hold4(1); /* memory is back */
	assert_true(shadow_pt(fake.held[1].root)[0] == maps(DATA));
	release_all();
	assert_int_equal(kind_of(bus), 3);
}

static void test_unmap_of_a_root(void **state)
{
	unmap_of_a_held_root(false);
}

static void test_unmap_of_a_forgotten_root(void **state)
{
	unmap_of_a_held_root(true);
}

static void test_freed_table_pages_lose_their_protection(void **state)
{
	plant(1);
	hold4(1);
	ghyvi_gtt_sync(fake.gtt, NULL);
	set(2, 0, 0);
	assert_false(fake.protected[3] || fake.protected[4]);
	assert_true(fake.protected[2]);
	release_all();
	forget4(1);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(fake.pinned, 0);
}

static void test_three_level_roots(void **state)
{
	u64 gpa[4] = { 3 << 12, 8 << 12, 9 << 12, (u64)(RAM_PAGES + 5) << 12 };
	u64 other[4] = { 3 << 12, 8 << 12, 9 << 12, 10 << 12 };
	struct ghyvi_root *root;
	u64 *top;

	set(3, 0, to(4));
	set(4, 0, to(DATA));
	root = hold(gpa, 3);
	top = shadow(fake.held[0].bus, 0);
	assert_true(shadow(fake.held[0].bus, 2, 0u, 0u)[0] == maps(DATA));
	assert_true(leads_to_scratch(top[3], 3));
	assert_true(fake.protected[3] && fake.protected[8] && fake.protected[9]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_ptr_equal(hold(gpa, 3), root);
	assert_ptr_not_equal(hold(other, 3), root); /* same first directory, another tree */
	assert_false(leads_to_scratch(shadow(fake.held[2].bus, 0)[3], 3));
	ghyvi_gtt_unmap(fake.gtt, 8, 1);
	assert_true(leads_to_scratch(top[0], 3));
	release_all();
	ghyvi_gtt_forget_root(fake.gtt, other, 3);
	assert_int_equal(fake.pins[3], 0);
}

/* Bits of a root's address that an entry's does not have, as hostile guests write them. */
static void test_address_bits_of_roots_that_do_not_count(void **state)
{
	const u64 high = BIT_ULL(40) | BIT_ULL(63);
	u64 gpa[4] = { 3 << 12 | high, 8 << 12 | high, 9 << 12 | high, 10 << 12 | high };
	u64 plain[4] = { 3 << 12, 8 << 12, 9 << 12, 10 << 12 };
	u64 gpa4[4] = { 1 << 12 | high };
	struct ghyvi_root *root;

	plant(1);
	root = hold(gpa, 3);
	assert_ptr_equal(hold(plain, 3), root);
	ghyvi_gtt_unmap(fake.gtt, 8, 1);
	assert_int_equal(fake.pins[8], 0);
	root = hold(gpa4, 4);
	assert_ptr_equal(hold4(1), root);
	ghyvi_gtt_unmap(fake.gtt, 1, 1);
	assert_int_equal(fake.pins[1], 0);
	release_all();
	hold(gpa, 3);
	release_all();
	ghyvi_gtt_forget_root(fake.gtt, plain, 3);
	assert_int_equal(fake.pins[3], 0);
}

static void test_get_put_forget_in_any_order(void **state)
{
	struct ghyvi_root *root;
	u64 bogus = (u64)RAM_PAGES << 12;

	plant(1);
	root = hold4(1);
	assert_ptr_equal(hold4(1), root);
	forget4(1);
	forget4(1);
	forget4(77);
	assert_int_equal(fake.pins[1], 0);
	assert_ptr_not_equal(hold4(1), root);
	release_number(0);
	release_number(1);
	assert_int_equal(fake.pins[1], 1);
	release_all();
	assert_int_equal(fake.pins[1], 1); /* known */
	forget4(1);
	assert_int_equal(fake.pins[1], 0);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &bogus, 4)), -EFAULT);
}

/* A workload that has ended for the guest may hold the tree a moment longer. */
static void test_pages_of_a_forgotten_tree_are_data_at_once(void **state)
{
	plant(1);
	hold4(1);
	forget4(1);
	assert_int_equal(STAT(tables_now), 0);
	plant(11);
	set(14, 0, to(4));
	hold4(11);
	assert_true(shadow(fake.held[1].bus, 3, 0u, 0u, 0u)[0] == maps(4));
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 0)[0], 4));
}

/* A driver that comes after one that crashed. */
static void test_all_trees_can_be_forgotten(void **state)
{
	u64 directories[4] = { 3 << 12, 3 << 12, 3 << 12, 3 << 12 };

	plant(1);
	hold4(1);
	release_all();
	hold(directories, 3);
	ghyvi_gtt_forget_roots(fake.gtt);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 0)[0], 3));
	plant(11);
	set(14, 0, to(4));
	hold4(11);
	assert_true(shadow(fake.held[1].bus, 3, 0u, 0u, 0u)[0] == maps(4));
	release_all();
	ghyvi_gtt_forget_roots(fake.gtt);
	assert_int_equal(STAT(protected_now), 0);
	assert_true(hold4(1));
}

static void reset_with_a_held_root(bool forgotten)
{
	u64 bus;

	plant(1);
	set(4, 0, to(DATA));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = to(DATA + 1);
	hold4(1);
	ghyvi_gtt_sync(fake.gtt, NULL);
	if (forgotten)
		forget4(1);
	bus = fake.held[0].bus;
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512] == 0);
	assert_true(leads_to_scratch(shadow(bus, 0)[0], 4));
	release_all();
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512] == maps(DATA + 1));
}

static void test_reset_while_a_root_is_held(void **state)
{
	reset_with_a_held_root(false);
}

static void test_reset_while_a_forgotten_root_is_held(void **state)
{
	reset_with_a_held_root(true);
}

static void test_number_of_roots_is_limited(void **state)
{
	u64 gpa = 5000ull << 12;
	u32 i;

	fake.unchecked = true;
	for (i = 0; i < GHYVI_MAX_ROOTS; i++)
		assert_false(IS_ERR(hold4(100 + i)));
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOSPC);
	release_number(7);
	assert_false(IS_ERR(hold4(5000))); /* the tree that is not held was evicted */
	assert_int_equal(STAT(evicted_trees), 1);
	assert_int_equal(fake.pins[107], 0);
}

static void test_number_of_table_pages_is_limited(void **state)
{
	u64 gpa = 90 << 12;
	u32 i;

	fake.unchecked = true;
	limit_tables(MOST_TABLES);
	set(1, 0, to(2));
	for (i = 0; i < 17; i++)
		set(2, i, to(10 + i));
	for (i = 0; i < 17 * 512; i++)
		set(10 + i / 512, i % 512, to(100 + i));
	hold4(1);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	assert_int_equal(STAT(entries_rejected), 19);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOSPC);
}

static void test_ggtt_is_compared_until_live_and_protected_after(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(STAT(protected_now), 0);
	set(BAR_GFN, first + 1, to(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first + 1] == maps(DATA));
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	assert_int_equal(STAT(protected_now), fake.ggtt_tables);
	assert_true(fake.protected[BAR_GFN + FIRST_GGTT_TABLE] && !fake.protected[BAR_GFN]);
	set(BAR_GFN, first + 1, to(DATA + 1) & ~2ull); /* no write bit in the GGTT */
	assert_true(fake.ggtt[first + 1] == maps(DATA + 1));
	set(BAR_GFN, first + 2, to(RAM_PAGES));
	assert_true(is_scratch(fake.ggtt[first + 2]));
	set(BAR_GFN, first + 1, 0);
	assert_true(fake.ggtt[first + 1] == 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

static void test_ggtt_remapped_and_hidden(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN - 50);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.protected[BAR_GFN - 50 + FIRST_GGTT_TABLE]);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	assert_false(fake.protected[BAR_GFN - 50 + FIRST_GGTT_TABLE]);
	set(BAR_GFN, first, to(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == maps(DATA) && !fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	assert_int_equal(STAT(protected_now), 0);
	fake.guest_ggtt[first] = 0;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == 0);
}

static void test_ggtt_pages_that_cannot_be_protected(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	fake.protect_broken_at[BAR_GFN + FIRST_GGTT_TABLE + 1] = true;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(STAT(protected_now), fake.ggtt_tables - 1);
	assert_int_equal(STAT(relaxed_now), 1);
	set(BAR_GFN, first + 512, to(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first + 512] == maps(DATA));
}

static void test_global_addresses_are_read_and_written_where_the_guest_maps_them(void **state)
{
	u64 address = FIRST_GGTT_TABLE * SPAN, value = 0x1122334455667788, got = 0;

	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = to(DATA);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 1] = to(DATA + 5);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = to(RAM_PAGES);
	/* Not synchronised since, and still the host goes where the entry leads now. */
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &got, 8), 0);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 4092, &value, 8), 0);
	assert_int_equal(*(u32 *)((u8 *)page_of(DATA) + 4092), 0x55667788);
	assert_int_equal(*(u32 *)page_of(DATA + 5), 0x11223344);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address + 4092, &got, 8), 0);
	assert_true(got == value);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 8188, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 3 * 4096, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, 0, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ~0ull - 3, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address + 4 * SPAN, &got, 4), -EFAULT);
}

static void corrupt(struct ghyvi_root *root, u64 *entry, u64 value)
{
	u64 right = *entry;

	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	*entry = value;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	*entry = right;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_the_self_check_finds_corrupted_entries(void **state)
{
	struct ghyvi_root *root;
	u64 *pt;

	plant(1);
	set(4, 1, to(DATA));
	set(4, 2, to(DATA + 1) & ~2ull);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = to(DATA + 2);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	pt = shadow_pt(root);
	corrupt(root, pt, maps(DATA)); /* not present in the guest */
	corrupt(root, pt + 1, 0); /* lost */
	corrupt(root, pt + 1, maps(DATA + 1)); /* another page */
	corrupt(root, pt + 1, pt[1] & ~2ull);
	corrupt(root, pt + 2, pt[2] | 2);
	corrupt(root, shadow(fake.held[0].bus, 2, 0u, 0u), maps(DATA));
	corrupt(root, &fake.ggtt[FIRST_GGTT_TABLE * 512], 0);
	assert_int_equal(STAT(check_differences), 7);
	assert_int_equal(STAT(checks), 21);
}

static struct ghyvi_table_page *table_at(u64 gfn)
{
	return xa_load(&fake.gtt->tables, gfn);
}

/*
 * The check of @root says once that stores may be missed, until a synchronisation meets what is
 * listed again.
 */
static void assert_forgotten(struct ghyvi_root *root, struct ghyvi_table_page *table,
			     struct list_head *list)
{
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(strstr(fake.reporter.last, "stores may be missed"));
	list_move_tail(&table->relaxed_node, list);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_the_self_check_finds_relaxed_pages_that_are_not_compared(void **state)
{
	struct ghyvi_root *root, *other;
	struct ghyvi_table_page *table, *ggtt = fake.gtt->ggtt_tables[FIRST_GGTT_TABLE];

	ghyvi_gtt_set_policy(fake.gtt, "full");
	plant(1);
	plant(11);
	root = hold4(1);
	other = hold4(11);
	table = table_at(4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	list_move_tail(&table->relaxed_node, &other->tree.relaxed);
	assert_forgotten(root, table, &root->tree.relaxed);
	list_del_init(&table->relaxed_node);
	assert_forgotten(root, table, &root->tree.relaxed);
	list_del_init(&ggtt->relaxed_node);
	assert_forgotten(root, ggtt, &fake.gtt->shared_tree.relaxed);
	list_move_tail(&ggtt->relaxed_node, &other->tree.relaxed);
	assert_forgotten(root, ggtt, &fake.gtt->shared_tree.relaxed);
}

static void test_the_self_check_knows_what_a_synchronisation_was_for(void **state)
{
	struct ghyvi_root *root, *other;

	ghyvi_gtt_set_policy(fake.gtt, "segmented");
	plant(1);
	plant(11);
	root = hold4(1);
	other = hold4(11);
	ghyvi_gtt_sync(fake.gtt, root);
	set(4, 0, to(DATA)); /* relaxed now */
	ghyvi_gtt_sync(fake.gtt, other);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_flush(fake.gtt);
	set(4, 1, to(DATA + 1)); /* not seen */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* As if all had been synchronised but it. */
	table_at(4)->compared--;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_enomem_evicts_idle_pins),
		TEST(test_idle_pins_that_were_used_again_stay_longer),
		TEST(test_pins_far_apart_and_side_by_side),
		TEST(test_a_pinned_page_that_is_a_table_is_not_data),
		TEST(test_a_table_that_becomes_data),
		TEST(test_ggtt_entries_are_gone_before_their_page_is_evicted),
		TEST(test_no_room_twice_in_one_line_of_the_ggtt),
		TEST(test_a_page_that_cannot_be_owned_is_scratch),
		TEST(test_unmap_of_a_data_page),
		TEST(test_no_entry_that_is_not_present_is_scratch),
		TEST(test_unmap_of_table_pages),
		TEST(test_unmap_of_a_root),
		TEST(test_unmap_of_a_forgotten_root),
		TEST(test_freed_table_pages_lose_their_protection),
		TEST(test_three_level_roots),
		TEST(test_address_bits_of_roots_that_do_not_count),
		TEST(test_get_put_forget_in_any_order),
		TEST(test_pages_of_a_forgotten_tree_are_data_at_once),
		TEST(test_all_trees_can_be_forgotten),
		TEST(test_reset_while_a_root_is_held),
		TEST(test_reset_while_a_forgotten_root_is_held),
		TEST(test_number_of_roots_is_limited),
		TEST(test_number_of_table_pages_is_limited),
		TEST(test_ggtt_is_compared_until_live_and_protected_after),
		TEST(test_ggtt_remapped_and_hidden),
		TEST(test_ggtt_pages_that_cannot_be_protected),
		TEST(test_global_addresses_are_read_and_written_where_the_guest_maps_them),
		TEST(test_the_self_check_finds_corrupted_entries),
		TEST(test_the_self_check_finds_relaxed_pages_that_are_not_compared),
		TEST(test_the_self_check_knows_what_a_synchronisation_was_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
