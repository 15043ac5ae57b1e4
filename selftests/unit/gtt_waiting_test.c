// SPDX-License-Identifier: GPL-2.0-only
/* Entries whose page cannot be had, and when they are tried again. */
#include "gtt_fake.h"

#define MOST_TABLES 8192u

/* The guest writes nothing: what it had before is right again. */
static void test_memory_that_comes_back_after_a_synchronisation(void **state)
{
	const u64 group = DATA - DATA % GHYVI_PTES_PER_64K + GHYVI_PTES_PER_64K;
	struct ghyvi_root *root;
	u64 failures;

	plant(1);
	set(4, 0, to(group));
	set(3, 1, to(5) | GHYVI_ENTRY_64K);
	set(5, 16, to(group));
	set(5, 32, to(group + 16));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = to(group);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	set_absent(group, true);
	ghyvi_gtt_unmap(fake.gtt, group, 1);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	/* Nothing has come since: no use in trying again. */
	failures = STAT(pin_failures);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(pin_failures), failures);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(group, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(group));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[16] == maps(group));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[32] == maps(group + 16));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3] == maps(group));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_table_pages_that_come_back_after_a_synchronisation(void **state)
{
	struct ghyvi_root *root;

	plant(1);
	set(4, 0, to(DATA));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	set_absent(3, true);
	set_absent(4, true);
	ghyvi_gtt_unmap(fake.gtt, 3, 2);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[0], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(3, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 2, 0u, 0u)[0], 2));
	set_absent(4, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_page_directory_of_three_levels_that_comes_back(void **state)
{
	u64 gpa[4] = { 3 << 12, 8 << 12, 9 << 12, 10 << 12 };
	struct ghyvi_root *root;

	set_absent(8, true);
	root = hold(gpa, 3);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 0)[1], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(8, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(leads_to_scratch(shadow(fake.held[0].bus, 0)[1], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_page_whose_bogus_entries_are_gone_is_looked_at_no_more(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
	set(4, 0, to(RAM_PAGES));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables + 1);
	set(4, 0, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
}

static u32 scratch_entries(const u64 *entries, u32 n)
{
	u32 i, scratch = 0;

	for (i = 0; i < n; i++)
		scratch += is_scratch(entries[i]);
	return scratch;
}

static void test_retries_of_deferred_entries_are_limited(void **state)
{
	struct ghyvi_root *root;
	u64 rejected;
	u32 i;

	plant(1);
	root = hold4(1);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	fake.pin_limit = fake.pinned;
	for (i = 0; i < 100; i++)
		set(4, i, to(DATA + i));
	assert_int_equal(scratch_entries(shadow_pt(root), 100), 100);
	rejected = STAT(entries_rejected);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(entries_rejected) - rejected, GHYVI_RETRY_NOMEM);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Those that do not fail are not limited. */
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < 100; i++)
		assert_int_equal(shadow_pt(root)[i], maps(DATA + i));
	/* Nothing is left to look at. */
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_cleared_entry_is_not_deferred(void **state)
{
	struct ghyvi_root *root;
	u32 i, last = 2 * GHYVI_RETRY_NOMEM;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	plant(1);
	for (i = 0; i <= last; i++)
		set(4, i, to(DATA + i));
	fake.pin_limit = 4;
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[last]));
	set(4, last, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[last - 1]));
	assert_int_equal(shadow_pt(root)[last], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_entries_to_retry_in_a_page_that_gets_two_more_uses_at_once(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	set(4, 0, to(4) | GHYVI_ENTRY_64K);
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		set(4, i, to(DATA + i));
	fake.pin_limit = 4;
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	/*
	 * As a page directory, 4 leads to itself as a table of 64 KiB pages; that finds what could
	 * not be pinned before.
	 */
	fake.pin_limit = ~0u;
	set(2, 1, to(4));
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		assert_true(shadow_pt(root)[i] == maps(DATA + i) || is_scratch(shadow_pt(root)[i]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Each table was counted once. */
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		set(4, i, 0);
	set(2, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(tables_now), 4);
}

/* A submission reads the context's image through the GGTT before it synchronises. */
static void test_the_host_reads_memory_that_came_back(void **state)
{
	u64 value, first = FIRST_GGTT_TABLE * 512, address = (first + 3) << 12;

	fake.guest_ggtt[first + 3] = to(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), 0);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), -EFAULT);
	set_absent(DATA, false);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), 0);
	assert_true(fake.ggtt[first + 3] == maps(DATA));
}

/*
 * The hypervisor's pin was interrupted, say, because the thread that pins is being killed. Another
 * thread finds nothing wrong, and no memory has come since.
 */
static const int passing_errors[] = { -EINTR, -EPERM, -EAGAIN, -EBUSY, -ENODEV };

static void fail_next_pin(unsigned int error)
{
	fake.pin_error = passing_errors[error];
	fake.pin_errors = 1;
}

/* The pin fails when the store traps, or in the first synchronisation. */
static void sync_after_failed_pin(struct ghyvi_root *root)
{
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.pin_errors, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_pin_that_fails_for_a_passing_reason_is_tried_again(void **state)
{
	const u64 groups = 4 * DATA, *entries;
	struct ghyvi_root *root;
	unsigned int i;

	plant(1);
	set(3, 1, to(5) | GHYVI_ENTRY_64K);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		fail_next_pin(i);
		set(4, i, to(DATA + i));
		sync_after_failed_pin(root);
		assert_true(shadow_pt(root)[i] == maps(DATA + i));

		fail_next_pin(i);
		set(5, 16 * i, to(groups + 16 * i));
		sync_after_failed_pin(root);
		entries = shadow(fake.held[0].bus, 3, 0u, 0u, 1u);
		assert_true(entries[16 * i] == maps(groups + 16 * i));

		fail_next_pin(i);
		fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + i] = to(2 * DATA + i);
		sync_after_failed_pin(root);
		assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + i] == maps(2 * DATA + i));
	}
}

static void test_so_is_a_large_page(void **state)
{
	struct ghyvi_root *root;
	unsigned int i;

	plant(1);
	root = hold4(1);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		fail_next_pin(i);
		set(3, 2, to(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
		sync_after_failed_pin(root);
		assert_true(shadow(fake.held[0].bus, 2, 0u, 0u)[2] & GHYVI_ENTRY_LARGE);
		set(3, 2, 0);
		ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE, 512); /* it would still be pinned */
	}
}

static void test_so_is_a_table_page(void **state)
{
	struct ghyvi_root *root;
	unsigned int i;

	plant(1);
	set(4, 0, to(DATA));
	root = hold4(1);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		set(2, 0, 0);
		ghyvi_gtt_sync(fake.gtt, root);
		fail_next_pin(i);
		set(2, 0, to(3));
		sync_after_failed_pin(root);
		assert_true(shadow_pt(root)[0] == maps(DATA));
	}
}

static void test_so_is_a_page_directory_of_three_levels(void **state)
{
	u64 gpa[4] = { 3 << 12, 8 << 12, 9 << 12, 10 << 12 };
	struct ghyvi_root *root;

	fail_next_pin(0);
	root = hold(gpa, 3);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 0)[0], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(leads_to_scratch(shadow(fake.held[0].bus, 0)[0], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static u32 race_stage;

/* Another vCPU takes entry 200 back for as long as it takes to try it again. */
static void change_for_a_moment(void)
{
	if (race_stage > 1)
		return;
	page_of(4)[200] = race_stage++ ? to(DATA + 200) : 0;
}

static void test_a_waiting_entry_that_changes_for_a_moment(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	plant(1);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = fake.pinned;
	set(4, 200, to(DATA + 200));
	set(4, 300, to(DATA + 300));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[200]));
	fake.pin_limit = ~0u;
	race_stage = 0;
	fake.race = change_for_a_moment;
	ghyvi_gtt_sync(fake.gtt, root);
	fake.race = NULL;
	assert_int_equal(race_stage, 2);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[200] == maps(DATA + 200));
	assert_true(shadow_pt(root)[300] == maps(DATA + 300));
}

static void test_entries_that_lead_nowhere_are_not_in_the_way(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	plant(1);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = fake.pinned;
	for (i = 0; i < 2 * GHYVI_RETRY_NOMEM; i++)
		set(4, i, to(RAM_PAGES + i));
	set(4, 2 * GHYVI_RETRY_NOMEM, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[2 * GHYVI_RETRY_NOMEM] == maps(DATA));
}

static void test_memory_comes_back_to_more_tables_than_one_synchronisation_looks_at(void **state)
{
	const u32 tables = 2 * GHYVI_RETRY_UNBACKED / GHYVI_ENTRIES + 2;
	struct ghyvi_root *root;
	u64 rejected;
	u32 i, e;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	fake.unchecked = true;
	plant(1);
	for (i = 0; i < tables; i++) {
		set(3, 1 + i, to(10 + i));
		for (e = 0; e < GHYVI_ENTRIES; e++)
			set(10 + i, e, to(RAM_PAGES + e));
	}
	set_absent(DATA, true);
	set(10 + tables - 1, GHYVI_ENTRIES - 1, to(DATA));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root); /* the first that knows the generation */
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	set_absent(DATA, false);
	for (i = 0; i < 3; i++) {
		rejected = STAT(entries_rejected);
		ghyvi_gtt_sync(fake.gtt, root);
		assert_in_range(STAT(entries_rejected) - rejected, 1,
				GHYVI_RETRY_UNBACKED + GHYVI_ENTRIES);
	}
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, tables)[GHYVI_ENTRIES - 1] == maps(DATA));
	rejected = STAT(entries_rejected);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(entries_rejected), rejected);
}

/* A tree at 1 with more tables than there may be: 17 directories from 10 on, which are full. */
static void plant_too_many_tables(void)
{
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	fake.unchecked = true;
	limit_tables(MOST_TABLES);
	set(1, 0, to(2));
	for (i = 0; i < 17; i++)
		set(2, i, to(10 + i));
	for (i = 0; i < 17 * 512; i++)
		set(10 + i / 512, i % 512, to(100 + i));
}

static void test_tables_beyond_the_limit_are_shadowed_when_others_are_gone(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	plant_too_many_tables();
	root = hold4(1);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	assert_true(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[16], 3));
	set(2, 0, 0);
	set(2, 1, 0);
	for (i = 0; i < 3; i++)
		ghyvi_gtt_sync(fake.gtt, root);
	assert_false(leads_to_scratch(shadow(fake.held[0].bus, 1, 0u)[16], 3));
	for (i = 0; i < 512; i++)
		assert_false(leads_to_scratch(shadow(fake.held[0].bus, 2, 0u, 16u)[i], 2));
}

/* Upper tables come first in a synchronisation. */
static void test_entries_that_lack_a_table_are_not_in_the_way(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	plant_too_many_tables();
	for (i = 17; i < 300; i++)
		set(2, i, to(9000 + i));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	fake.pin_limit = fake.pinned;
	set(100, 5, to(16000));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow(fake.held[0].bus, 3, 0u, 0u, 0u)[5]));
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 0u)[5] == maps(16000));
}

/* Generation numbers restart with each VM; the tables of the GGTT are kept. */
static void test_a_generation_that_an_earlier_vm_had(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;
	u32 generation;

	fake.absent[DATA] = true;
	fake.guest_ggtt[first] = to(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	atomic_store(&fake.generation, 7);
	ghyvi_gtt_sync(fake.gtt, NULL);
	fake.guest_ggtt[first] = 0;
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_reset(fake.gtt);
	for (generation = 6; generation < 8; generation++) {
		atomic_store(&fake.generation, generation);
		fake.absent[DATA] = generation == 6;
		fake.guest_ggtt[first] = to(DATA);
		ghyvi_gtt_sync(fake.gtt, NULL);
	}
	assert_true(fake.ggtt[first] == maps(DATA));
}

static void test_the_self_check_finds_entries_that_wait_in_vain(void **state)
{
	struct ghyvi_table_page *table;
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	plant(1);
	set_absent(DATA, true);
	set_absent(9, true);
	set(4, 0, to(DATA));
	set(3, 1, to(9));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* No notification says that the memory is back. */
	fake.absent[DATA] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(
		strstr(fake.reporter.last, "wrong translation: table page 0x4 level 1 entry 0"));
	fake.absent[DATA] = true;
	fake.absent[9] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(
		strstr(fake.reporter.last, "wrong translation: table page 0x3 level 2 entry 1"));
	fake.absent[9] = true;
	/* No sync follows. */
	table = xa_load(&fake.gtt->tables, 4);
	ghyvi_table_clear_relaxed(fake.gtt, table);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	ghyvi_table_mark_relaxed(fake.gtt, table);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	table->retry = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	table->retry = true;
	set_absent(DATA, false);
	/* The next synchronisation will. */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow_pt(root)[0] == maps(DATA));
}

/* What there was no room for is tried by each synchronisation. */
static void test_the_self_check_finds_a_nomem_page_without_retry(void **state)
{
	struct ghyvi_table_page *table;
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	plant(1);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = fake.pinned;
	set(4, 0, to(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = ~0u;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	table = xa_load(&fake.gtt->tables, 4);
	table->nomem = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory_that_comes_back_after_a_synchronisation),
		TEST(test_table_pages_that_come_back_after_a_synchronisation),
		TEST(test_a_page_directory_of_three_levels_that_comes_back),
		TEST(test_a_pin_that_fails_for_a_passing_reason_is_tried_again),
		TEST(test_so_is_a_large_page),
		TEST(test_so_is_a_table_page),
		TEST(test_so_is_a_page_directory_of_three_levels),
		TEST(test_a_page_whose_bogus_entries_are_gone_is_looked_at_no_more),
		TEST(test_retries_of_deferred_entries_are_limited),
		TEST(test_a_cleared_entry_is_not_deferred),
		TEST(test_entries_to_retry_in_a_page_that_gets_two_more_uses_at_once),
		TEST(test_the_host_reads_memory_that_came_back),
		TEST(test_a_waiting_entry_that_changes_for_a_moment),
		TEST(test_entries_that_lead_nowhere_are_not_in_the_way),
		TEST(test_memory_comes_back_to_more_tables_than_one_synchronisation_looks_at),
		TEST(test_tables_beyond_the_limit_are_shadowed_when_others_are_gone),
		TEST(test_entries_that_lack_a_table_are_not_in_the_way),
		TEST(test_a_generation_that_an_earlier_vm_had),
		TEST(test_the_self_check_finds_entries_that_wait_in_vain),
		TEST(test_the_self_check_finds_a_nomem_page_without_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
