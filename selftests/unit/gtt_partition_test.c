// SPDX-License-Identifier: GPL-2.0-only
/* A gtt whose partition of the GGTT is replaced by another one. */
#include "gtt_fake.h"

/* Two partitions of two table pages, and the page in each of them that the tests use. */
#define PARTITION_BYTES (2 * SPAN)
#define PAGE_IN(partition) ((FIRST_GGTT_TABLE + 2u * (partition)) * 512u + 515u)

static int move_to(unsigned int partition)
{
	const struct ghyvi_range range = {
		FIRST_GGTT_TABLE * SPAN + partition * PARTITION_BYTES,
		PARTITION_BYTES,
	};
	const struct ghyvi_range copied = { range.start, GHYVI_PAGE_BYTES };
	int ret;

	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	ghyvi_gtt_reset(fake.gtt);
	memset(fake.guest_ggtt, 0, (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_PAGE_BYTES);
	ret = ghyvi_gtt_move_ggtt(fake.gtt, &range, 1, &copied);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	return ret;
}

/* The guest maps a page in each partition. Only the one in @partition has an effect. */
static void check_partition(unsigned int partition)
{
	u32 i, value;

	for (i = 0; i < 2; i++)
		fake.guest_ggtt[PAGE_IN(i)] = pte(DATA + i);
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (i = 0; i < 2; i++) {
		ASSERT(!!fake.ggtt[PAGE_IN(i)] == (i == partition));
		ASSERT(ghyvi_gtt_ggtt_read(fake.gtt, (u64)PAGE_IN(i) << 12, &value, 4) ==
		       (i == partition ? 0 : -EFAULT));
	}
	ASSERT((fake.ggtt[PAGE_IN(partition)] & GHYVI_SHADOW_ADDRESS_MASK) ==
	       dma_page_of(DATA + partition));
	ASSERT(!ghyvi_gtt_check(fake.gtt, NULL));
}

static void entries_count_in_the_new_partition_only(void **state)
{
	unsigned int round;

	for (round = 0; round < 4; round++) {
		ASSERT(!move_to(round & 1));
		check_partition(round & 1);
	}
}

static void a_move_keeps_the_policy_and_its_tuning(void **state)
{
	struct ghyvi_shadow_tuning tuning;
	char list[200];

	ASSERT(!ghyvi_gtt_set_policy(fake.gtt, "strict"));
	limit_tables(GHYVI_TABLES_MIN + 1);
	ASSERT(!move_to(1));
	ghyvi_gtt_policy_list(fake.gtt, list, sizeof(list));
	ASSERT(strstr(list, "[strict]"));
	ghyvi_gtt_get_tuning(fake.gtt, &tuning);
	ASSERT(tuning.tables_max == GHYVI_TABLES_MIN + 1);
}

/* Under this policy the GGTT is not shadowed. */
static void a_move_under_nested_installs_nothing(void **state)
{
	ASSERT(!ghyvi_gtt_set_policy(fake.gtt, "nested"));
	ASSERT(!move_to(1));
	fake.guest_ggtt[PAGE_IN(1)] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	ASSERT(!fake.ggtt[PAGE_IN(1)]);
	ASSERT(!ghyvi_gtt_set_policy(fake.gtt, "segmented"));
	ghyvi_gtt_sync(fake.gtt, NULL);
	ASSERT(fake.ggtt[PAGE_IN(1)]);
}

static void the_copied_page_of_the_aperture_moves(void **state)
{
	const u64 page = (FIRST_GGTT_TABLE + 2) * 512u;

	ASSERT(!move_to(1));
	fake.guest_ggtt[page] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	*guest_page(DATA) = 5;
	ASSERT(*(u64 *)aperture_access(page) == 5);
	ASSERT(aperture_access(page) != (u8 *)guest_page(DATA));
}

static void without_memory_a_move_changes_nothing(void **state)
{
	unsigned long n;
	int ret;

	ASSERT(!move_to(0));
	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		ret = move_to(1);
		if (!shim_failed_allocs())
			break;
		shim_fail_allocs(0, 0);
		ASSERT(ret == -ENOMEM);
		check_partition(0);
	}
	shim_fail_allocs(0, 0);
	ASSERT(!ret && n > 2 * 4);
	check_partition(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entries_count_in_the_new_partition_only),
		TEST(a_move_keeps_the_policy_and_its_tuning),
		TEST(a_move_under_nested_installs_nothing),
		TEST(the_copied_page_of_the_aperture_moves),
		TEST(without_memory_a_move_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
