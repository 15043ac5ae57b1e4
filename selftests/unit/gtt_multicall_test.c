// SPDX-License-Identifier: GPL-2.0-only
/* Stores to page tables that the guest declares, and the host makes. */
#include <ghyvi/multicall.h>
#include "gtt_fake.h"

#define RECORDS_GFN 900u
#define RECORDS ((u64)RECORDS_GFN << 12)

static struct ghyvi_multicall_record *records(void)
{
	return (struct ghyvi_multicall_record *)guest_page(RECORDS_GFN);
}

static void record(unsigned int i, u64 gfn, unsigned int index, u64 value)
{
	records()[i] = (struct ghyvi_multicall_record){ pte_gpa(gfn, index), value };
}

/* The call of @count records must apply @applied of them and return @error. */
static void call(u32 count, u32 applied, int error)
{
	u32 got = ~0u;

	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, RECORDS, count, &got), error);
	assert_int_equal(got, applied);
}

static void assert_result(u32 applied, int error)
{
	assert_true(*guest_page(RECORDS_GFN) ==
		    (GHYVI_MULTICALL_DONE | (u64)-error << 16 | applied));
}

static struct ghyvi_root *begin(const char *policy)
{
	struct ghyvi_root *root;

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, policy), 0);
	build_tree(PML4_GFN);
	root = get_synced_root4(PML4_GFN);
	return root;
}

static void records_are_applied_without_a_trap(void **state)
{
	struct ghyvi_root *root = begin("strict");

	record(0, PT_GFN, 7, pte(DATA));
	record(1, PT_GFN, 511, pte(DATA + 1) & ~2ull);
	record(2, PT_GFN, 7, pte(DATA + 2));
	call(3, 3, 0);
	assert_result(3, 0);
	assert_true(guest_page(PT_GFN)[7] == pte(DATA + 2));
	assert_true(guest_page(PT_GFN)[511] == (pte(DATA + 1) & ~2ull));
	assert_true(shadow_pt(root)[7] == spte(DATA + 2));
	assert_true(shadow_pt(root)[511] == (spte(DATA + 1) & ~2ull));
	assert_int_equal(STAT(table_write_traps), 0);
	assert_int_equal(STAT(multicalls), 1);
	assert_int_equal(STAT(multicall_entries), 3);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_full_page_of_records_is_applied(void **state)
{
	struct ghyvi_root *root = begin("strict");
	unsigned int i;

	for (i = 0; i < GHYVI_MULTICALL_RECORDS; i++)
		record(i, PT_GFN, 2 * i, pte(DATA + i));
	call(GHYVI_MULTICALL_RECORDS, GHYVI_MULTICALL_RECORDS, 0);
	assert_result(GHYVI_MULTICALL_RECORDS, 0);
	for (i = 0; i < GHYVI_MULTICALL_RECORDS; i++)
		assert_true(shadow_pt(root)[2 * i] == spte(DATA + i));
}

/* No store to the directory traps, so the host has taken the page for a table until the call. */
static void the_page_of_records_may_be_a_table_that_was_freed(void **state)
{
	struct ghyvi_root *root = begin("relaxed");

	write_pte(PD_GFN, 1, pte(RECORDS_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PD_GFN, 1, 0);
	record(0, PT_GFN, 7, pte(DATA));
	call(1, 1, 0);
	assert_result(1, 0);
	assert_true(shadow_pt(root)[7] == spte(DATA));
}

/* A trap would relax the page. */
static void a_protected_page_stays_protected(void **state)
{
	begin("segmented");
	assert_true(fake.protected[PT_GFN]);
	record(0, PT_GFN, 1, pte(DATA));
	call(1, 1, 0);
	assert_true(fake.protected[PT_GFN]);
	assert_int_equal(STAT(relaxes), 0);
	write_pte(PT_GFN, 2, pte(DATA));
	assert_false(fake.protected[PT_GFN]);
}

static void the_first_bad_record_ends_the_call(void **state)
{
	const struct {
		u64 address;
		int error;
	} bad[] = {
		{ pte_gpa(PT_GFN, 1) + 4, -EINVAL },
		{ pte_gpa(PT_GFN, 1) + 1, -EINVAL },
		{ pte_gpa(DATA, 0), -ENOENT },
		{ pte_gpa(RECORDS_GFN, 0), -ENOENT },
		{ pte_gpa(BAR_GFN, 0), -ENOENT },
		{ ~7ull, -ENOENT },
		{ BIT_ULL(63) | pte_gpa(PT_GFN, 1), -ENOENT },
	};
	struct ghyvi_root *root = begin("strict");
	unsigned int i;

	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		record(0, PT_GFN, 0, pte(DATA + i));
		records()[1] = (struct ghyvi_multicall_record){ bad[i].address, pte(DATA) };
		record(2, PT_GFN, 2, pte(DATA));
		call(3, 1, bad[i].error);
		assert_result(1, bad[i].error);
		assert_true(shadow_pt(root)[0] == spte(DATA + i));
		assert_true(!shadow_pt(root)[1] && !shadow_pt(root)[2]);
		assert_true(!guest_page(DATA)[0]);
	}
}

static void a_call_out_of_bounds_does_nothing(void **state)
{
	u32 applied;

	begin("strict");
	record(0, PT_GFN, 1, pte(DATA));
	call(0, 0, -EINVAL);
	call(GHYVI_MULTICALL_RECORDS + 1, 0, -EINVAL);
	call(~0u, 0, -EINVAL);
	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, RECORDS + 8, 1, &applied), -EINVAL);
	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, RECORDS | BIT_ULL(39), 1, &applied),
			 -EINVAL);
	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, ~0xfffull, 1, &applied), -EINVAL);
	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, (u64)RAM_PAGES << 12, 1, &applied), -EFAULT);
	assert_int_equal(guest_page(PT_GFN)[1], 0);
	assert_true(records()[0].address == pte_gpa(PT_GFN, 1));
}

/* The host's store of the result would not trap. */
static void a_table_page_is_no_page_of_records(void **state)
{
	struct ghyvi_root *root = begin("strict");
	u32 applied;

	/* Seen as a record, the only entry of the PD is at an address outside of any table. */
	assert_int_equal(ghyvi_gtt_multicall(fake.gtt, (u64)PD_GFN << 12, 1, &applied), -EBUSY);
	assert_true(guest_page(PD_GFN)[0] == pte(PT_GFN));
	/* The page becomes a table by its own record. */
	record(0, PD_GFN, 1, pte(RECORDS_GFN));
	record(1, PT_GFN, 1, pte(DATA));
	call(2, 2, -EBUSY);
	assert_true(fake.protected[RECORDS_GFN]);
	assert_true(records()[0].address == pte_gpa(PD_GFN, 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow_pt(root)[1] == spte(DATA));
}

static void a_bad_value_maps_scratch_as_that_of_a_trap(void **state)
{
	struct ghyvi_root *root = begin("strict");

	record(0, PT_GFN, 1, pte(RAM_PAGES));
	record(1, PD_GFN, 1, pte(RAM_PAGES + 1));
	call(2, 2, 0);
	assert_true(is_scratch(shadow_pt(root)[1]));
	assert_int_equal(STAT(entries_rejected), 2);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Upper levels, and a table that leaves the tree and comes back. */
static void tables_are_linked_by_records(void **state)
{
	struct ghyvi_root *root = begin("strict");

	write_pte(PT2_GFN, 9, pte(DATA));
	record(0, PD_GFN, 0, 0);
	record(1, PD_GFN, 0, pte(PT_GFN));
	record(2, PD_GFN, 1, pte(PT2_GFN));
	record(3, PT2_GFN, 10, pte(DATA + 1));
	call(4, 4, 0);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[9] == spte(DATA));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[10] == spte(DATA + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void each_policy_applies_records(void **state)
{
	struct ghyvi_root *root = begin("strict");
	unsigned int policy, n = 0;
	const char *name;

	for (policy = 0; policy < ghyvi_shadow_policy_count; policy++) {
		name = ghyvi_shadow_policies[policy]->name;
		if (!strcmp(name, "nested"))
			continue;
		assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, name), 0);
		write_pte(PT_GFN, 1, pte(DATA + ++n));
		record(0, PT_GFN, 1, pte(DATA + ++n));
		record(1, PT_GFN, 2, pte(DATA + n));
		call(2, 2, 0);
		write_pte(PT_GFN, 2, pte(DATA + ++n));
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[1] == spte(DATA + n - 1));
		assert_true(shadow_pt(root)[2] == spte(DATA + n));
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	}
	assert_true(n > 15);
	put_all_roots();
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	call(1, 0, -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_are_applied_without_a_trap),
		TEST(a_full_page_of_records_is_applied),
		TEST(the_page_of_records_may_be_a_table_that_was_freed),
		TEST(a_protected_page_stays_protected),
		TEST(the_first_bad_record_ends_the_call),
		TEST(a_call_out_of_bounds_does_nothing),
		TEST(a_table_page_is_no_page_of_records),
		TEST(a_bad_value_maps_scratch_as_that_of_a_trap),
		TEST(tables_are_linked_by_records),
		TEST(each_policy_applies_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
