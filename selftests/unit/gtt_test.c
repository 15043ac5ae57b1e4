// SPDX-License-Identifier: GPL-2.0-only
/* Translation of PPGTT tables, and when each policy brings them up to date. */
#include "gtt_fake.h"

static void strict(void)
{
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "strict"), 0);
}

static void test_unused_entries_share_one_scratch_chain(void **state)
{
	unsigned int i;

	/* What i915 does: everything unused leads to PDP 2, PD 3, PT 4, data page. */
	for (i = 0; i < 512; i++) {
		set(1, i, to(2));
		set(2, i, to(3));
		set(3, i, to(4));
		set(4, i, to(DATA));
	}
	assert_false(IS_ERR(hold4(1)));
	assert_int_equal(STAT(tables_now), 4);
	assert_int_equal(STAT(pinned_pages_now), 5);
	assert_int_equal(fake.pins[DATA], 1);
	assert_true(shadow(fake.held[0].bus, 3, 511u, 7u, 300u)[9] == maps(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, fake.held[0].root), 0);
}

static void test_strict_traps_translate_at_once(void **state)
{
	struct ghyvi_root *root;

	strict();
	plant(1);
	root = hold4(1);
	assert_true(fake.protected[1] && fake.protected[2] && fake.protected[3] &&
		    fake.protected[4]);
	set(4, 7, to(DATA));
	set(4, 8, to(DATA) & ~2ull);
	assert_true(shadow_pt(root)[7] == maps(DATA));
	assert_true(shadow_pt(root)[8] == (maps(DATA) & ~2ull));
	assert_int_equal(STAT(table_write_traps), 2);
	assert_int_equal(STAT(relaxes), 0);
	assert_true(fake.protected[4]);
}

static void test_segmented_relaxes_at_the_first_write_and_protects_at_sync(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	root = hold4(1);
	assert_true(fake.protected[1] && fake.protected[2] && fake.protected[3]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(fake.protected[4]);
	set(4, 1, to(DATA));
	assert_false(fake.protected[4]);
	assert_int_equal(STAT(relaxes), 1);
	set(4, 2, to(DATA + 1));
	assert_int_equal(STAT(table_write_traps), 1);
	assert_true(shadow_pt(root)[1] == maps(DATA));
	assert_true(shadow_pt(root)[2] == 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[2] == maps(DATA + 1));
	assert_true(fake.protected[4]);
	set(3, 5, to(6));
	assert_true(fake.protected[3]);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 5u)[0] == 0);
}

static void test_flush_updates_without_protecting_and_invalidates(void **state)
{
	struct ghyvi_root *root;
	u32 before;

	plant(1);
	root = hold4(1);
	set(4, 1, to(DATA));
	before = fake.invalidations;
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[1] == maps(DATA));
	assert_false(fake.protected[4]);
	assert_true(fake.invalidations > before);
	set(4, 1, 0);
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[1] == 0);
}

static void test_cleared_entries_leave_the_shadow_and_reset_releases_the_pin(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 1, to(DATA));
	root = hold4(1);
	assert_int_equal(fake.pins[DATA], 1);
	set(4, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == 0);
	assert_int_equal(fake.pins[DATA], 1); /* idle */
	release_all();
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(pinned_pages_now), 0);
}

static void test_replaced_entries_follow_and_release_the_old_target(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 1, to(DATA));
	root = hold4(1);
	set(4, 1, to(DATA + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == maps(DATA + 1));
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_int_equal(fake.pins[DATA], 0);
	/* a whole subtree: 3 -> 8 */
	set(8, 0, to(9));
	set(9, 3, to(DATA + 2));
	set(2, 0, to(8));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 0u)[3] == maps(DATA + 2));
	assert_int_equal(fake.pins[3] + fake.pins[4], 0);
	assert_false(fake.protected[3]);
}

static void test_an_entry_written_in_halves(void **state)
{
	struct ghyvi_root *root;
	unsigned int policy;

	plant(1);
	root = hold4(1);
	for (policy = 0; policy < 2; policy++) {
		ghyvi_gtt_set_policy(fake.gtt, policy ? "strict" : "segmented");
		set(4, 9, to(DATA));
		guest_write(at(4, 9) + 4, 4, 1); /* now beyond guest memory */
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(is_scratch(shadow_pt(root)[9]));
		guest_write(at(4, 9), 4, (u32)to(DATA + 1));
		guest_write(at(4, 9) + 4, 4, 0);
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[9] == maps(DATA + 1));
	}
}

static void test_stores_of_any_size_and_alignment(void **state)
{
	u64 four[4] = { to(DATA), 0, to(DATA + 2), to(DATA + 3) };
	struct ghyvi_root *root;
	unsigned int i;

	strict();
	plant(1);
	set(3, 1, to(5)); /* 4 and 5 are neighbours in memory, too */
	root = hold4(1);
	guest_write_bytes(at(4, 10), four, 32);
	for (i = 0; i < 4; i++)
		assert_true(shadow_pt(root)[10 + i] == (four[i] ? maps(DATA + i) : 0));
	/* crosses the page */
	guest_write_bytes(at(4, 510), four, 32);
	assert_true(shadow_pt(root)[510] == maps(DATA));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[0] == maps(DATA + 2));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[1] == maps(DATA + 3));
	/* 8 bytes over two entries: upper half of 20 and lower half of 21 */
	set(4, 20, to(DATA + 1));
	guest_write(at(4, 20) + 4, 8, to(DATA + 4) << 32);
	assert_true(shadow_pt(root)[20] == maps(DATA + 1));
	assert_true(shadow_pt(root)[21] == maps(DATA + 4));
	guest_write(at(4, 21) + 1, 1, 0x55);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* crosses into a page that is no table */
	guest_write_bytes(at(5, 511), four, 16);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[511] == maps(DATA));
}

static void test_one_page_as_directory_and_as_page_table(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(3, 1, to(5));
	set(5, 0, to(DATA));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	/* PT 5 is relaxed and changed when it becomes a page directory, too. */
	set(5, 1, to(6));
	set(5, 2, to(7));
	set(6, 3, to(DATA + 1));
	set(2, 1, to(5));
	assert_true(fake.protected[5]);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 1u, 1u)[3] == maps(DATA + 1));
	/* Its other life goes on. Entry 1 leads to a table page, which engines must not write. */
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[0] == maps(DATA));
	set(5, 4, to(DATA + 2));
	assert_true(fake.protected[5]);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[4] == maps(DATA + 2));
	set(2, 1, 0);
	set(5, 5, to(DATA + 3)); /* a leaf again: relaxed */
	assert_false(fake.protected[5]);
}

static void test_self_map_at_every_level(void **state)
{
	struct ghyvi_root *root;

	set(1, 0, to(1));
	set(1, 1, to(DATA));
	root = hold4(1);
	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[0])); /* engines would write the table */
	set(1, 0, to(DATA + 1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set(1, 2, to(1));
	assert_true(is_scratch(shadow(fake.held[0].bus, 3, 2u, 2u, 2u)[2]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	release_all();
	forget4(1);
	assert_int_equal(STAT(tables_now), 0);
	assert_int_equal(fake.pins[1], 0);
}

static void test_bogus_entries_point_at_scratch_and_are_counted(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(1, 1, to(RAM_PAGES + 1));
	set(2, 1, to(5) | GHYVI_ENTRY_LARGE);
	set(3, 1, to(5) | GHYVI_ENTRY_LARGE);
	set(4, 1, to(RAM_PAGES));
	set(4, 2, to(2));
	root = hold4(1);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 0)[1], 4));
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[1], 3));
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 2, 0u, 0u)[1], 2));
	assert_true(is_scratch(shadow_pt(root)[1]));
	assert_true(is_scratch(shadow_pt(root)[2]));
	assert_int_equal(STAT(entries_rejected), 5);
	assert_int_equal(fake.pins[5], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_report_last(&fake.reporter, (char[GHYVI_REPORT_BYTES]){ 0 }, GHYVI_REPORT_BYTES);
	/* The last one. */
	assert_string_equal(
		fake.reporter.last,
		"table entry 0x4001003 of level 4 cannot be translated (-14), scratch page used");
	ghyvi_gtt_sync(fake.gtt, root);
	fake.reporter.last[0] = '\0';
	set(4, 3, to(DATA));
	assert_string_equal(fake.reporter.last, "");
}

/* Each of them takes 511 pins before it fails. */
static void test_others_are_let_in_among_large_pages_that_lack_one(void **state)
{
	unsigned long before;
	u32 i;

	plant(1);
	set_absent(LARGE_WHOLE + 511, true);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		set(3, i, to(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	before = shim_rescheds;
	hold4(1);
	assert_int_equal(STAT(entries_rejected), GHYVI_ENTRIES);
	assert_true(shim_rescheds - before >= GHYVI_ENTRIES / GHYVI_PTES_PER_LINE);
}

static void test_bits_that_are_no_address_are_ignored(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 0, to(DATA) | BIT_ULL(63) | BIT_ULL(40) | 0xff8);
	set(4, 1, to(DATA) & ~1ull); /* not present */
	root = hold4(1);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_true(shadow_pt(root)[1] == 0);
}

static void test_policy_switch_while_relaxed(void **state)
{
	struct ghyvi_root *root;
	char names[64];

	plant(1);
	root = hold4(1);
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[segmented]"));
	set(4, 1, to(DATA));
	strict();
	assert_true(fake.protected[4]);
	assert_true(shadow_pt(root)[1] == maps(DATA));
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[strict]"));
	assert_int_equal(names[strlen(names) - 1], '\n');
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nonsense"), -EINVAL);
	set(4, 2, to(DATA));
	assert_true(fake.protected[4]);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	set(4, 3, to(DATA));
	assert_false(fake.protected[4]);
}

static void test_a_page_that_cannot_be_protected_is_compared_at_each_sync(void **state)
{
	struct ghyvi_root *root;

	strict();
	fake.protect_broken = true;
	plant(1);
	root = hold4(1);
	set(4, 1, to(DATA));
	set(2, 1, to(8));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == maps(DATA));
	assert_true(shadow(fake.held[0].bus, 2, 0u, 1u)[0] == 0);
	set(4, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == 0);
	fake.protect_broken = false;
	fake.protect_broken_at[3] = true; /* one of a batch does not keep the others from it */
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(fake.protected[1] && fake.protected[2] && !fake.protected[3] &&
		    fake.protected[4]);
	set(3, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow(fake.held[0].bus, 2, 0u, 0u)[0] == 0);
}

/*
 * Without protection upper levels are compared, too, and only that shows where a stale page belongs
 * now.
 */
static void test_a_page_that_a_second_tree_leads_to_is_up_to_date_for_it(void **state)
{
	struct ghyvi_root *first, *second;

	fake.protect_broken = true;
	plant(1);
	plant(11);
	first = hold4(1);
	second = hold4(11);
	ghyvi_gtt_sync(fake.gtt, NULL);
	set(4, 0, to(DATA));
	set(13, 5, to(4));
	ghyvi_gtt_sync(fake.gtt, second);
	assert_int_equal(shadow(ghyvi_root_bus(second), 3, 0u, 0u, 5u)[0], maps(DATA));
	assert_int_equal(shadow_pt(first)[0], maps(DATA));
}

/* All that is below becomes shared at once. */
static void test_others_are_let_in_while_a_second_tree_takes_over_a_large_one(void **state)
{
	unsigned long before;
	u32 i;

	plant(1);
	for (i = 1; i < 300; i++)
		set(3, i, to(20 + i));
	hold4(1);
	set(11, 0, to(2));
	before = shim_rescheds;
	hold4(11);
	assert_true(shim_rescheds - before >= 300);
}

/* What debugfs shows first of it. */
static u32 users_in_dump(void)
{
	char *text = NULL, *users;
	size_t bytes;
	struct seq_file m = { .f = open_memstream(&text, &bytes) };
	u32 n;

	ghyvi_gtt_dump(fake.gtt, &m);
	fclose(m.f);
	users = strstr(text, " users ");
	assert_non_null(users);
	n = (u32)strtoul(users + 7, NULL, 10);
	free(text);
	return n;
}

static struct ghyvi_page_history *history_of(u64 gfn)
{
	return &((struct ghyvi_table_page *)xa_load(&fake.gtt->tables, gfn))->history;
}

static void sync_times(struct ghyvi_root *root, u32 times)
{
	while (times--)
		ghyvi_gtt_sync(fake.gtt, root);
}

/*
 * Each tree counts its own synchronisations, and a page may come to belong to one that has counted
 * more, or less.
 */
static void test_a_gap_is_as_long_when_the_page_changes_trees(void **state)
{
	const struct ghyvi_experience *experience = &fake.gtt->experience;
	struct ghyvi_root *first, *second;

	plant(1);
	set(4, 0, to(DATA));
	plant(11);
	first = hold4(1);
	second = hold4(11);
	sync_times(second, 1000);
	set(4, 1, to(DATA + 1));
	sync_times(first, 3);
	/* From the first's alone to everybody's. */
	set(13, 1, to(4) | GHYVI_ENTRY_64K);
	set(4, 1, to(DATA + 2));
	assert_int_equal(history_of(4)->gap_context, 1 + ghyvi_duration_class(2));
	assert_int_equal(experience->gaps[GHYVI_GAP_UNKNOWN].longest[ghyvi_duration_class(2)], 2);
	sync_times(second, 5);
	/* And to the second's alone, which has counted less. */
	set(3, 0, 0);
	sync_times(first, 2);
	set(4, 1, to(DATA + 3));
	assert_int_equal(history_of(4)->gap_context, 1 + ghyvi_duration_class(4));
	assert_int_equal(
		experience->gaps[1 + ghyvi_duration_class(2)].longest[ghyvi_duration_class(4)], 4);
}

static void test_users_of_a_root_in_the_dump(void **state)
{
	plant(1);
	hold4(1);
	assert_int_equal(users_in_dump(), 1);
	hold4(1);
	assert_int_equal(users_in_dump(), 2);
	forget4(1);
	assert_int_equal(users_in_dump(), 2);
	release_number(1);
	assert_int_equal(users_in_dump(), 1);
}

static void test_protection_lost_is_made_good_at_the_next_sync(void **state)
{
	struct ghyvi_root *root;

	strict();
	plant(1);
	root = hold4(1);
	memset((void *)fake.protected, 0, 100);
	ghyvi_gtt_protection_lost(fake.gtt, 0, 100);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(STAT(relaxed_now), 4 + fake.ggtt_tables);
	set(4, 1, to(DATA));
	set(3, 1, to(5));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == maps(DATA));
	assert_true(fake.protected[1] && fake.protected[4] && fake.protected[5]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static int race_index;
static void store_while_the_mm_works(void)
{
	u64 value = to(7);

	/* a store to table 1 that needs no trap, since protection is broken or not there yet */
	if (race_index && !fake.protected[1]) {
		assert_false(guest_store(at(1, race_index), &value, 8));
		race_index = 0;
	}
}

/*
 * A scan that began before the page was protected must not be the last one. Entry 300 of the page
 * leads, through page @via, to the page itself: the flush that finds it protects the page. Until
 * then another vCPU stores to entry 1.
 */
static void protected_in_the_middle_of_its_scan(u64 via)
{
	struct ghyvi_root *root;

	fake.protect_broken_at[1] = true;
	set(1, 511, to(2));
	set(5, 0, to(1));
	root = hold4(1);
	fake.protect_broken_at[1] = false;
	set(1, 300, to(via));
	race_index = 1;
	fake.race = store_while_the_mm_works;
	ghyvi_gtt_flush(fake.gtt);
	fake.race = NULL;
	assert_int_equal(race_index, 0);
	assert_true(fake.protected[1]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow(fake.held[0].bus, 0)[1] & 1);
}

static void test_page_protected_in_the_middle_of_its_scan_stays_listed(void **state)
{
	protected_in_the_middle_of_its_scan(1);
}

/* It has no entry that leads to a table as data, for which it would stay listed. */
static void test_page_that_waits_for_nothing_stays_listed_too(void **state)
{
	protected_in_the_middle_of_its_scan(5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unused_entries_share_one_scratch_chain),
		TEST(test_strict_traps_translate_at_once),
		TEST(test_segmented_relaxes_at_the_first_write_and_protects_at_sync),
		TEST(test_flush_updates_without_protecting_and_invalidates),
		TEST(test_cleared_entries_leave_the_shadow_and_reset_releases_the_pin),
		TEST(test_replaced_entries_follow_and_release_the_old_target),
		TEST(test_an_entry_written_in_halves),
		TEST(test_stores_of_any_size_and_alignment),
		TEST(test_one_page_as_directory_and_as_page_table),
		TEST(test_self_map_at_every_level),
		TEST(test_bogus_entries_point_at_scratch_and_are_counted),
		TEST(test_others_are_let_in_among_large_pages_that_lack_one),
		TEST(test_bits_that_are_no_address_are_ignored),
		TEST(test_policy_switch_while_relaxed),
		TEST(test_a_page_that_cannot_be_protected_is_compared_at_each_sync),
		TEST(test_a_page_that_a_second_tree_leads_to_is_up_to_date_for_it),
		TEST(test_others_are_let_in_while_a_second_tree_takes_over_a_large_one),
		TEST(test_a_gap_is_as_long_when_the_page_changes_trees),
		TEST(test_users_of_a_root_in_the_dump),
		TEST(test_protection_lost_is_made_good_at_the_next_sync),
		TEST(test_page_protected_in_the_middle_of_its_scan_stays_listed),
		TEST(test_page_that_waits_for_nothing_stays_listed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
