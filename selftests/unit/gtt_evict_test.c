// SPDX-License-Identifier: GPL-2.0-only
/* The limit of table pages: which trees are evicted, which stay, and what it costs. */
#include "gtt_random.h"

#define SEEDS 150u
#define FIRST_TREE 1u
#define FIRST_DATA 14000u

static u32 directories(u32 page_tables)
{
	return DIV_ROUND_UP(page_tables, GHYVI_ENTRIES);
}

/*
 * A tree from @gfn on: PML4, PDP, page directories and @page_tables page tables, each of which maps
 * 2 MiB of data that other trees map, too. Returns the number of table pages.
 */
static u32 build_large_tree(u64 gfn, u32 page_tables)
{
	u64 directory = gfn + 2, table = directory + directories(page_tables);
	u32 i, e;

	guest_page(gfn)[0] = pte(gfn + 1);
	for (i = 0; i < directories(page_tables); i++)
		guest_page(gfn + 1)[i] = pte(directory + i);
	for (i = 0; i < page_tables; i++) {
		guest_page(directory + i / GHYVI_ENTRIES)[i % GHYVI_ENTRIES] = pte(table + i);
		for (e = 0; e < GHYVI_ENTRIES; e++)
			guest_page(table + i)[e] = pte(FIRST_DATA + (gfn + i + e) % 2000);
	}
	return 2 + directories(page_tables) + page_tables;
}

static bool is_complete(struct ghyvi_root *root, u64 gfn, u32 page_tables)
{
	u64 *directory, *entry;
	u32 i;

	for (i = 0; i < page_tables; i++) {
		directory = shadow_table(ghyvi_root_dma(root), 2, 0u, i / GHYVI_ENTRIES);
		entry = &directory[i % GHYVI_ENTRIES];
		if (maps_scratch(*entry, 2) ||
		    shadow_table(*entry & GHYVI_SHADOW_ADDRESS_MASK, 0)[7] !=
			    spte(FIRST_DATA + (gfn + i + 7) % 2000))
			return false;
	}
	return true;
}

/* Returns true if the whole tree was shadowed when the workload could start. */
static bool submit(u64 gfn, u32 page_tables)
{
	struct ghyvi_root *root = get_root4(gfn);
	bool complete;

	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_in_range(STAT(tables_now), 1, fake.gtt->tuning.tables_max);
	complete = is_complete(root, gfn, page_tables);
	if (complete)
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	put_root(fake.nr_held - 1);
	return complete;
}

static void announce(u64 gfn)
{
	u64 gpa = gfn << 12;
	struct ghyvi_root *root = ghyvi_gtt_get_root(fake.gtt, &gpa, 4);

	assert_false(IS_ERR(root));
	ghyvi_gtt_put_root(root);
}

/* 32 MiB each; of 512 contexts that is 16 GiB, and 9728 table pages. */
static void run_many_contexts(u32 contexts, u32 tables_max, const char *policy)
{
	const u32 page_tables = 16, each = 3 + page_tables;
	u32 i, round;

	fake.unchecked = true;
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, policy), 0);
	limit_tables(tables_max);
	for (i = 0; i < contexts; i++) {
		build_large_tree(FIRST_TREE + i * each, page_tables);
		announce(FIRST_TREE + i * each);
	}
	for (round = 0; round < 2; round++)
		for (i = 0; i < contexts; i++)
			assert_true(submit(FIRST_TREE + i * each, page_tables));
	for (i = 0; i < contexts; i++)
		forget_root4(FIRST_TREE + i * each);
	assert_int_equal(STAT(tables_now), 0);
}

static void the_default_fits_512_contexts_and_16_gib(void **s)
{
	const struct ghyvi_shadow_tuning defaults = GHYVI_SHADOW_TUNING_DEFAULT;

	run_many_contexts(512, defaults.tables_max, "adaptive");
	assert_int_equal(STAT(evicted_trees), 0);
	assert_int_equal(STAT(entries_rejected), 0);
}

static void half_the_tables_run_512_contexts_and_16_gib(void **s)
{
	run_many_contexts(512, 4096, "adaptive");
	/* Each submission makes room for about one tree. */
	assert_in_range(STAT(evicted_trees), 512, 2 * 512 + 512);
}

static void few_tables_run_64_contexts_under_strict(void **s)
{
	run_many_contexts(64, GHYVI_TABLES_MIN, "strict");
}

static void the_least_recently_used_tree_is_evicted_first(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, 80);
	u32 i;

	limit_tables(GHYVI_TABLES_MIN); /* three such trees */
	for (i = 1; i < 4; i++)
		build_large_tree(FIRST_TREE + i * tables, 80);
	for (i = 0; i < 3; i++)
		assert_true(submit(FIRST_TREE + i * tables, 80));
	assert_true(submit(FIRST_TREE, 80));
	assert_int_equal(STAT(evicted_trees), 0);
	assert_true(submit(FIRST_TREE + 3 * tables, 80));
	assert_int_equal(STAT(evicted_trees), 1);
	assert_int_equal(fake.pins[FIRST_TREE + tables], 0);
	assert_int_equal(fake.pins[FIRST_TREE], 1);
	assert_int_equal(fake.pins[FIRST_TREE + 2 * tables], 1);
}

static void an_announced_tree_that_was_evicted_is_shadowed_again(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, 200);

	limit_tables(GHYVI_TABLES_MIN);
	build_large_tree(FIRST_TREE + tables, 200);
	announce(FIRST_TREE);
	announce(FIRST_TREE + tables);
	assert_true(submit(FIRST_TREE + tables, 200));
	assert_int_equal(fake.pins[FIRST_TREE], 0);
	assert_true(submit(FIRST_TREE, 200));
	/* The guest's driver destroys both trees, one of which is evicted. */
	forget_root4(FIRST_TREE + tables);
	forget_root4(FIRST_TREE);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(submit(FIRST_TREE + tables, 200));
}

static void a_tree_held_by_a_workload_is_not_evicted(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, 200);
	struct ghyvi_root *held;
	u64 second = (FIRST_TREE + tables) << 12;
	struct ghyvi_root *root;

	limit_tables(GHYVI_TABLES_MIN);
	build_large_tree(FIRST_TREE + tables, 200);
	held = get_root4(FIRST_TREE);
	ghyvi_gtt_sync(fake.gtt, held);
	root = ghyvi_gtt_get_root(fake.gtt, &second, 4);
	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(is_complete(root, FIRST_TREE + tables, 200));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_put_root(root);
	assert_true(is_complete(held, 1, 200));
	assert_int_equal(STAT(evicted_trees), 0);
	/*
	 * The workload has completed. Entries that got no table page get one now, without a change
	 * by the guest.
	 */
	put_all_roots();
	assert_true(submit(FIRST_TREE + tables, 200));
	assert_int_equal(STAT(evicted_trees), 1);
}

static void a_root_is_refused_while_workloads_hold_all_tables(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, GHYVI_TABLES_MIN - 3);
	u64 second = (FIRST_TREE + tables) << 12;

	limit_tables(GHYVI_TABLES_MIN);
	build_large_tree(FIRST_TREE + tables, 1);
	get_root4(FIRST_TREE);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &second, 4)), -ENOSPC);
	put_all_roots();
	assert_true(submit(FIRST_TREE + tables, 1));
}

/* Two of the trees do not fit, and each submission would shadow one of them again. */
static void large_trees_in_turn_cost_no_more_than_the_budget(void **s)
{
	const u32 page_tables = GHYVI_EVICT_YOUNG + 200,
		  tables = build_large_tree(FIRST_TREE, page_tables);
	u32 turn, complete = 0;
	u64 rejected;

	fake.unchecked = true;
	limit_tables(2 * tables - 100);
	build_large_tree(FIRST_TREE + tables, page_tables);
	for (turn = 0; turn < 40; turn++)
		complete += submit(FIRST_TREE + turn % 2 * tables, page_tables);
	assert_int_equal(complete, 20);
	assert_int_equal(STAT(evicted_trees), 0);
	/* Deferred entries do not cost much either. */
	rejected = STAT(entries_rejected);
	submit(FIRST_TREE + tables, page_tables);
	assert_in_range(STAT(entries_rejected) - rejected, 0, 200);
	/* Submit only one tree until the other is old. */
	for (turn = 0; turn < GHYVI_EVICT_AGE && !submit(FIRST_TREE + tables, page_tables); turn++)
		;
	assert_in_range(turn, GHYVI_EVICT_AGE - 3, GHYVI_EVICT_AGE - 1);
	assert_int_equal(STAT(evicted_trees), 1);
}

static void small_trees_in_turn_are_evicted_within_the_budget(void **s)
{
	const u32 trees = 8, page_tables = GHYVI_EVICT_YOUNG / 2 - 3, tables = 3 + page_tables;
	u64 before;
	u32 i;

	fake.unchecked = true;
	limit_tables(4 * tables);
	for (i = 0; i < trees; i++)
		build_large_tree(FIRST_TREE + i * tables, page_tables);
	for (i = 0; i < 4 * trees; i++) {
		before = STAT(evicted_trees);
		assert_true(submit(FIRST_TREE + i % trees * tables, page_tables));
		assert_in_range(STAT(evicted_trees) - before, 0, 2);
	}
}

static void one_operation_evicts_young_trees_within_the_budget(void **s)
{
	const u32 trees = 20, small = 200, large = 3000,
		  tables = build_large_tree(FIRST_TREE, small);
	const u64 last = FIRST_TREE + trees * tables;
	u64 before;
	u32 i;

	fake.unchecked = true;
	limit_tables(trees * tables);
	for (i = 1; i < trees; i++)
		build_large_tree(FIRST_TREE + i * tables, small);
	build_large_tree(last, large);
	for (i = 0; i < trees; i++)
		assert_true(submit(FIRST_TREE + i * tables, small));
	for (i = 0; i < 10; i++) {
		before = STAT(evicted_trees);
		if (submit(last, large))
			break;
		/* The first submission evicts one more tree, for the PML4 page. */
		assert_in_range(STAT(evicted_trees) - before, 1, GHYVI_EVICT_YOUNG / tables + !i);
	}
	assert_in_range(i, 2, 4);
}

static void tables_that_the_guest_unlinked_evict_nothing(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, 200);
	struct ghyvi_root *held;
	u32 i;

	limit_tables(2 * tables + 50);
	build_large_tree(FIRST_TREE + tables, 200);
	build_large_tree(FIRST_TREE + 2 * tables, 200);
	held = get_root4(FIRST_TREE);
	ghyvi_gtt_sync(fake.gtt, held);
	get_root4(FIRST_TREE + tables);
	assert_false(submit(FIRST_TREE + 2 * tables, 200));
	put_all_roots();
	for (i = 0; i < 200; i++)
		write_pte(FIRST_TREE + 2 * tables + 2, i, 0);
	assert_true(submit(FIRST_TREE + 2 * tables, 0));
	assert_int_equal(STAT(evicted_trees), 0);
}

/* The tree has few tables by now, so it may be evicted although it is young. */
static void eviction_counts_the_current_size_of_a_tree(void **s)
{
	const u32 before = GHYVI_EVICT_YOUNG + 200, tables = build_large_tree(FIRST_TREE, before);
	u32 i;

	fake.unchecked = true;
	limit_tables(tables + 10);
	assert_true(submit(FIRST_TREE, before));
	for (i = 100; i < before; i++)
		write_pte(FIRST_TREE + 2 + i / GHYVI_ENTRIES, i % GHYVI_ENTRIES, 0);
	assert_true(submit(FIRST_TREE, 100));
	build_large_tree(FIRST_TREE + tables, before);
	assert_true(submit(FIRST_TREE + tables, before));
	assert_int_equal(STAT(evicted_trees), 1);
}

static void an_announced_tree_counts_as_recently_used(void **s)
{
	const u32 page_tables = GHYVI_EVICT_YOUNG + 200,
		  tables = build_large_tree(FIRST_TREE, page_tables);
	u32 i;

	fake.unchecked = true;
	limit_tables(2 * tables - 100);
	build_large_tree(FIRST_TREE + tables, page_tables);
	for (i = 0; i < GHYVI_EVICT_AGE; i++)
		assert_true(submit(FIRST_TREE + tables, page_tables));
	forget_root4(FIRST_TREE + tables);
	announce(FIRST_TREE);
	assert_false(submit(FIRST_TREE + tables, page_tables));
	assert_int_equal(STAT(evicted_trees), 0);
}

static void a_lower_limit_takes_effect_at_once_a_higher_one_at_the_next_submission(void **s)
{
	const u32 tables = build_large_tree(FIRST_TREE, 300);
	struct ghyvi_shadow_tuning tuning;
	u32 i;

	for (i = 0; i < 3; i++) {
		build_large_tree(FIRST_TREE + i * tables, 300);
		assert_true(submit(FIRST_TREE + i * tables, 300));
	}
	assert_int_equal(STAT(tables_now), 3 * tables);
	limit_tables(2 * tables);
	assert_int_equal(STAT(tables_now), 2 * tables);
	limit_tables(GHYVI_TABLES_MIN);
	assert_int_equal(STAT(tables_now), 0);
	assert_false(submit(FIRST_TREE, 300));
	limit_tables(tables);
	assert_true(submit(FIRST_TREE, 300));
	ghyvi_gtt_get_tuning(fake.gtt, &tuning);
	tuning.tables_max = GHYVI_TABLES_MIN - 1;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
	tuning.tables_max = GHYVI_TABLES_MAX + 1;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
}

static void play_with_few_tables(u64 seed)
{
	unsigned int step;

	fake.race = seed & 2 ? racing_store : NULL;
	for (step = 0; step < 150; step++) {
		if (!rnd(20)) {
			fake.gtt->tuning.tables_max = 4 + rnd(8);
			fake.gtt->deferral.tables_freed++;
		}
		move();
		if (!rnd(3))
			root_operation();
		deliver();
	}
}

/* Relaxed lists, protection, pins and references stay consistent under evictions in any order. */
static void evictions_among_any_moves(void **s)
{
	few_tables = true;
	play_seeds(SEEDS, play_with_few_tables);
	few_tables = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_default_fits_512_contexts_and_16_gib),
		TEST(half_the_tables_run_512_contexts_and_16_gib),
		TEST(few_tables_run_64_contexts_under_strict),
		TEST(the_least_recently_used_tree_is_evicted_first),
		TEST(an_announced_tree_that_was_evicted_is_shadowed_again),
		TEST(a_tree_held_by_a_workload_is_not_evicted),
		TEST(a_root_is_refused_while_workloads_hold_all_tables),
		TEST(large_trees_in_turn_cost_no_more_than_the_budget),
		TEST(small_trees_in_turn_are_evicted_within_the_budget),
		TEST(one_operation_evicts_young_trees_within_the_budget),
		TEST(tables_that_the_guest_unlinked_evict_nothing),
		TEST(eviction_counts_the_current_size_of_a_tree),
		TEST(an_announced_tree_counts_as_recently_used),
		TEST(a_lower_limit_takes_effect_at_once_a_higher_one_at_the_next_submission),
		cmocka_unit_test(evictions_among_any_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
