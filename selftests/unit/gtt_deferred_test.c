// SPDX-License-Identifier: GPL-2.0-only
/* Deferred entries, and when they are retried. */
#include "gtt_fake.h"

#define MOST_TABLES 8192u

/* The guest writes nothing: its old entries are valid again. */
static void memory_that_returns_is_mapped_by_the_next_sync(void **state)
{
	const u64 group = DATA - DATA % GHYVI_PTES_PER_64K + GHYVI_PTES_PER_64K;
	struct ghyvi_root *root;
	u64 failures;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(group));
	write_pte(PD_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT2_GFN, 16, pte(group));
	write_pte(PT2_GFN, 32, pte(group + 16));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = pte(group);
	root = get_synced_root4(PML4_GFN);
	set_absent(group, true);
	ghyvi_gtt_unmap(fake.gtt, group, 1);
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	/* No memory was added since, so there is no retry. */
	failures = STAT(pin_failures);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(pin_failures), failures);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(group, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(group));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[16] == spte(group));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[32] == spte(group + 16));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3] == spte(group));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void table_pages_that_return_are_shadowed_by_the_next_sync(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_synced_root4(PML4_GFN);
	set_absent(PD_GFN, true);
	set_absent(PT_GFN, true);
	ghyvi_gtt_unmap(fake.gtt, PD_GFN, 2);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[0], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(PD_GFN, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 2, 0u, 0u)[0], 2));
	set_absent(PT_GFN, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_page_directory_of_a_three_level_root_that_returns_is_shadowed(void **state)
{
	u64 gpa[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD4_GFN << 12 };
	struct ghyvi_root *root;

	set_absent(PD2_GFN, true);
	root = get_root(gpa, 3);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 0)[1], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	set_absent(PD2_GFN, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(maps_scratch(shadow_table(fake.held[0].dma, 0)[1], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_page_without_bogus_entries_is_not_scanned_again(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	root = get_synced_root4(PML4_GFN);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
	write_pte(PT_GFN, 0, pte(RAM_PAGES));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables + 1);
	write_pte(PT_GFN, 0, pte(DATA));
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

static void retries_of_deferred_entries_are_limited(void **state)
{
	struct ghyvi_root *root;
	u64 rejected;
	u32 i;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	fake.pin_limit = fake.pinned;
	for (i = 0; i < 100; i++)
		write_pte(PT_GFN, i, pte(DATA + i));
	assert_int_equal(scratch_entries(shadow_pt(root), 100), 100);
	rejected = STAT(entries_rejected);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(entries_rejected) - rejected, GHYVI_RETRY_NOMEM);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Only failures are limited. */
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < 100; i++)
		assert_int_equal(shadow_pt(root)[i], spte(DATA + i));
	/* No entry is deferred any more. */
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_cleared_entry_is_not_deferred(void **state)
{
	struct ghyvi_root *root;
	u32 i, last = 2 * GHYVI_RETRY_NOMEM;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	for (i = 0; i <= last; i++)
		write_pte(PT_GFN, i, pte(DATA + i));
	fake.pin_limit = 4;
	root = get_synced_root4(PML4_GFN);
	assert_true(is_scratch(shadow_pt(root)[last]));
	write_pte(PT_GFN, last, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[last - 1]));
	assert_int_equal(shadow_pt(root)[last], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void entries_to_retry_in_a_page_that_gets_two_more_uses_at_once(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(PT_GFN) | GHYVI_ENTRY_64K);
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		write_pte(PT_GFN, i, pte(DATA + i));
	fake.pin_limit = 4;
	root = get_synced_root4(PML4_GFN);
	/*
	 * As a page directory, the PT points to itself as a table of 64 KiB pages. Its translation
	 * finds the page that could not be pinned before.
	 */
	fake.pin_limit = ~0u;
	write_pte(PDP_GFN, 1, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		assert_true(shadow_pt(root)[i] == spte(DATA + i) || is_scratch(shadow_pt(root)[i]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* Each table was counted once. */
	for (i = 1; i <= 2 * GHYVI_RETRY_NOMEM; i++)
		write_pte(PT_GFN, i, 0);
	write_pte(PDP_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(tables_now), 4);
}

/* A submission reads the context's image through the GGTT before it synchronises. */
static void the_host_reads_memory_that_returned(void **state)
{
	u64 value, first = FIRST_GGTT_TABLE * 512, address = (first + 3) << 12;

	fake.guest_ggtt[first + 3] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), 0);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), -EFAULT);
	set_absent(DATA, false);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &value, 8), 0);
	assert_true(fake.ggtt[first + 3] == spte(DATA));
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

static void a_data_page_is_retried_after_a_temporary_failure(void **state)
{
	const u64 groups = 4 * DATA, *entries;
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	root = get_synced_root4(PML4_GFN);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		fail_next_pin(i);
		write_pte(PT_GFN, i, pte(DATA + i));
		sync_after_failed_pin(root);
		assert_true(shadow_pt(root)[i] == spte(DATA + i));

		fail_next_pin(i);
		write_pte(PT2_GFN, 16 * i, pte(groups + 16 * i));
		sync_after_failed_pin(root);
		entries = shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u);
		assert_true(entries[16 * i] == spte(groups + 16 * i));

		fail_next_pin(i);
		fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + i] = pte(2 * DATA + i);
		sync_after_failed_pin(root);
		assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + i] == spte(2 * DATA + i));
	}
}

static void a_large_page_is_retried_after_a_temporary_failure(void **state)
{
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		fail_next_pin(i);
		write_pte(PD_GFN, 2, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
		sync_after_failed_pin(root);
		assert_true(shadow_table(fake.held[0].dma, 2, 0u, 0u)[2] & GHYVI_ENTRY_LARGE);
		write_pte(PD_GFN, 2, 0);
		ghyvi_gtt_unmap(fake.gtt, LARGE_WHOLE, 512); /* its page would still be pinned */
	}
}

static void a_table_page_is_retried_after_a_temporary_failure(void **state)
{
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_root4(PML4_GFN);
	for (i = 0; i < ARRAY_SIZE(passing_errors); i++) {
		write_pte(PDP_GFN, 0, 0);
		ghyvi_gtt_sync(fake.gtt, root);
		fail_next_pin(i);
		write_pte(PDP_GFN, 0, pte(PD_GFN));
		sync_after_failed_pin(root);
		assert_true(shadow_pt(root)[0] == spte(DATA));
	}
}

static void a_page_directory_is_retried_after_a_temporary_failure(void **state)
{
	u64 gpa[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD4_GFN << 12 };
	struct ghyvi_root *root;

	fail_next_pin(0);
	root = get_root(gpa, 3);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 0)[0], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(maps_scratch(shadow_table(fake.held[0].dma, 0)[0], 3));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static u32 race_stage;

/* Another vCPU clears entry 200 during its retry, and writes it again. */
static void change_for_a_moment(void)
{
	if (race_stage > 1)
		return;
	guest_page(PT_GFN)[200] = race_stage++ ? pte(DATA + 200) : 0;
}

static void a_deferred_entry_that_changes_and_changes_back_is_retried(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	root = get_synced_root4(PML4_GFN);
	fake.pin_limit = fake.pinned;
	write_pte(PT_GFN, 200, pte(DATA + 200));
	write_pte(PT_GFN, 300, pte(DATA + 300));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[200]));
	fake.pin_limit = ~0u;
	race_stage = 0;
	fake.race = change_for_a_moment;
	ghyvi_gtt_sync(fake.gtt, root);
	fake.race = NULL;
	assert_int_equal(race_stage, 2);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[200] == spte(DATA + 200));
	assert_true(shadow_pt(root)[300] == spte(DATA + 300));
}

static void entries_without_memory_do_not_delay_others(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	root = get_synced_root4(PML4_GFN);
	fake.pin_limit = fake.pinned;
	for (i = 0; i < 2 * GHYVI_RETRY_NOMEM; i++)
		write_pte(PT_GFN, i, pte(RAM_PAGES + i));
	write_pte(PT_GFN, 2 * GHYVI_RETRY_NOMEM, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[2 * GHYVI_RETRY_NOMEM] == spte(DATA));
}

static void memory_returns_to_more_tables_than_one_sync_retries(void **state)
{
	const u32 tables = 2 * GHYVI_RETRY_UNBACKED / GHYVI_ENTRIES + 2;
	struct ghyvi_root *root;
	u64 rejected;
	u32 i, e;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	fake.unchecked = true;
	build_tree(PML4_GFN);
	for (i = 0; i < tables; i++) {
		write_pte(PD_GFN, 1 + i, pte(PD4_GFN + i));
		for (e = 0; e < GHYVI_ENTRIES; e++)
			write_pte(PD4_GFN + i, e, pte(RAM_PAGES + e));
	}
	set_absent(DATA, true);
	write_pte(PD4_GFN + tables - 1, GHYVI_ENTRIES - 1, pte(DATA));
	root = get_synced_root4(PML4_GFN);
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
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, tables)[GHYVI_ENTRIES - 1] ==
		    spte(DATA));
	rejected = STAT(entries_rejected);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(entries_rejected), rejected);
}

/* More tables than the limit: 17 full page directories. */
static void build_too_many_tables(void)
{
	ghyvi_gtt_set_policy(fake.gtt, "full");
	fake.unchecked = true;
	limit_tables(MOST_TABLES);
	build_full_directories(17);
}

static void tables_beyond_the_limit_are_shadowed_when_others_are_gone(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	build_too_many_tables();
	root = get_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[16], 3));
	write_pte(PDP_GFN, 0, 0);
	write_pte(PDP_GFN, 1, 0);
	for (i = 0; i < 3; i++)
		ghyvi_gtt_sync(fake.gtt, root);
	assert_false(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[16], 3));
	for (i = 0; i < 512; i++)
		assert_false(maps_scratch(shadow_table(fake.held[0].dma, 2, 0u, 16u)[i], 2));
}

/* Upper tables come first in a synchronisation. */
static void entries_without_a_table_page_do_not_delay_others(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	build_too_many_tables();
	for (i = 17; i < 300; i++)
		write_pte(PDP_GFN, i, pte(9000 + i));
	root = get_synced_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), MOST_TABLES);
	fake.pin_limit = fake.pinned;
	write_pte(100, 5, pte(16000));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_table(fake.held[0].dma, 3, 0u, 0u, 0u)[5]));
	fake.pin_limit = ~0u;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 0u)[5] == spte(16000));
}

/* Generation numbers restart with each VM; the tables of the GGTT are kept. */
static void a_memory_generation_of_an_earlier_vm_is_not_trusted(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;
	u32 generation;

	fake.absent[DATA] = true;
	fake.guest_ggtt[first] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	atomic_store(&fake.generation, 7);
	ghyvi_gtt_sync(fake.gtt, NULL);
	fake.guest_ggtt[first] = 0;
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_reset(fake.gtt);
	for (generation = 6; generation < 8; generation++) {
		atomic_store(&fake.generation, generation);
		fake.absent[DATA] = generation == 6;
		fake.guest_ggtt[first] = pte(DATA);
		ghyvi_gtt_sync(fake.gtt, NULL);
	}
	assert_true(fake.ggtt[first] == spte(DATA));
}

static void the_self_check_finds_deferred_entries_without_reason(void **state)
{
	struct ghyvi_table_page *table;
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	set_absent(DATA, true);
	set_absent(PD3_GFN, true);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PD_GFN, 1, pte(PD3_GFN));
	root = get_synced_root4(PML4_GFN);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* No notification says that the memory is back. */
	fake.absent[DATA] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(
		strstr(fake.reporter.last, "wrong translation: table page 0x4 level 1 entry 0"));
	fake.absent[DATA] = true;
	fake.absent[PD3_GFN] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(
		strstr(fake.reporter.last, "wrong translation: table page 0x3 level 2 entry 1"));
	fake.absent[PD3_GFN] = true;
	/* No sync follows. */
	table = xa_load(&fake.gtt->tables, PT_GFN);
	ghyvi_table_clear_relaxed(fake.gtt, table);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	ghyvi_table_mark_relaxed(fake.gtt, table);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	table->deferred.retry = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	table->deferred.retry = true;
	set_absent(DATA, false);
	/* The next synchronisation will. */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow_pt(root)[0] == spte(DATA));
}

/* Each sync retries entries that failed for lack of room. */
static void the_self_check_finds_a_nomem_page_without_retry(void **state)
{
	struct ghyvi_table_page *table;
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	root = get_synced_root4(PML4_GFN);
	fake.pin_limit = fake.pinned;
	write_pte(PT_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = ~0u;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	table = xa_load(&fake.gtt->tables, PT_GFN);
	table->deferred.nomem = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_that_returns_is_mapped_by_the_next_sync),
		TEST(table_pages_that_return_are_shadowed_by_the_next_sync),
		TEST(a_page_directory_of_a_three_level_root_that_returns_is_shadowed),
		TEST(a_data_page_is_retried_after_a_temporary_failure),
		TEST(a_large_page_is_retried_after_a_temporary_failure),
		TEST(a_table_page_is_retried_after_a_temporary_failure),
		TEST(a_page_directory_is_retried_after_a_temporary_failure),
		TEST(a_page_without_bogus_entries_is_not_scanned_again),
		TEST(retries_of_deferred_entries_are_limited),
		TEST(a_cleared_entry_is_not_deferred),
		TEST(entries_to_retry_in_a_page_that_gets_two_more_uses_at_once),
		TEST(the_host_reads_memory_that_returned),
		TEST(a_deferred_entry_that_changes_and_changes_back_is_retried),
		TEST(entries_without_memory_do_not_delay_others),
		TEST(memory_returns_to_more_tables_than_one_sync_retries),
		TEST(tables_beyond_the_limit_are_shadowed_when_others_are_gone),
		TEST(entries_without_a_table_page_do_not_delay_others),
		TEST(a_memory_generation_of_an_earlier_vm_is_not_trusted),
		TEST(the_self_check_finds_deferred_entries_without_reason),
		TEST(the_self_check_finds_a_nomem_page_without_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
