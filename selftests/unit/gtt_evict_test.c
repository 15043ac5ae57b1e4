// SPDX-License-Identifier: GPL-2.0-only
/* Table pages are limited: which trees go, which stay, and what that costs. */
#include "gtt_moves.h"

#define SEEDS 150u
#define FIRST_DATA 14000u

static u64 state;

static u32 rnd(u32 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 20) % n);
}

static u32 directories(u32 page_tables)
{
	return DIV_ROUND_UP(page_tables, GHYVI_ENTRIES);
}

/*
 * A tree from @gfn on: the top, one table of directories, these, and the page tables, each of which
 * maps 2 MiB of data that other trees map, too. Returns how many pages that takes.
 */
static u32 plant_tree(u64 gfn, u32 page_tables)
{
	u64 directory = gfn + 2, table = directory + directories(page_tables);
	u32 i, e;

	page_of(gfn)[0] = to(gfn + 1);
	for (i = 0; i < directories(page_tables); i++)
		page_of(gfn + 1)[i] = to(directory + i);
	for (i = 0; i < page_tables; i++) {
		page_of(directory + i / GHYVI_ENTRIES)[i % GHYVI_ENTRIES] = to(table + i);
		for (e = 0; e < GHYVI_ENTRIES; e++)
			page_of(table + i)[e] = to(FIRST_DATA + (gfn + i + e) % 2000);
	}
	return 2 + directories(page_tables) + page_tables;
}

static bool is_complete(struct ghyvi_root *root, u64 gfn, u32 page_tables)
{
	u64 *directory, *entry;
	u32 i;

	for (i = 0; i < page_tables; i++) {
		directory = shadow(ghyvi_root_bus(root), 2, 0u, i / GHYVI_ENTRIES);
		entry = &directory[i % GHYVI_ENTRIES];
		if (leads_to_scratch(*entry, 2) ||
		    shadow(*entry & GHYVI_SHADOW_ADDRESS_MASK, 0)[7] !=
			    maps(FIRST_DATA + (gfn + i + 7) % 2000))
			return false;
	}
	return true;
}

/* Returns whether all of the tree was there when the workload could start. */
static bool submit(u64 gfn, u32 page_tables)
{
	struct ghyvi_root *root = hold4(gfn);
	bool complete;

	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_in_range(STAT(tables_now), 1, fake.gtt->tuning.tables_max);
	complete = is_complete(root, gfn, page_tables);
	if (complete)
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	release_number(fake.nr_held - 1);
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
		plant_tree(1 + i * each, page_tables);
		announce(1 + i * each);
	}
	for (round = 0; round < 2; round++)
		for (i = 0; i < contexts; i++)
			assert_true(submit(1 + i * each, page_tables));
	for (i = 0; i < contexts; i++)
		forget4(1 + i * each);
	assert_int_equal(STAT(tables_now), 0);
}

static void test_512_contexts_and_16_gib_fit_by_default(void **s)
{
	const struct ghyvi_shadow_tuning defaults = GHYVI_SHADOW_TUNING_DEFAULT;

	run_many_contexts(512, defaults.tables_max, "adaptive");
	assert_int_equal(STAT(evicted_trees), 0);
	assert_int_equal(STAT(entries_rejected), 0);
}

static void test_512_contexts_and_16_gib_run_in_half_the_tables(void **s)
{
	run_many_contexts(512, 4096, "adaptive");
	/* Each submission makes room for about one tree. */
	assert_in_range(STAT(evicted_trees), 512, 2 * 512 + 512);
}

static void test_64_contexts_run_in_few_tables_under_strict(void **s)
{
	run_many_contexts(64, GHYVI_TABLES_MIN, "strict");
}

static void test_the_tree_used_least_recently_goes(void **s)
{
	const u32 tables = plant_tree(1, 80);
	u32 i;

	limit_tables(GHYVI_TABLES_MIN); /* three such trees */
	for (i = 1; i < 4; i++)
		plant_tree(1 + i * tables, 80);
	for (i = 0; i < 3; i++)
		assert_true(submit(1 + i * tables, 80));
	assert_true(submit(1, 80));
	assert_int_equal(STAT(evicted_trees), 0);
	assert_true(submit(1 + 3 * tables, 80));
	assert_int_equal(STAT(evicted_trees), 1);
	assert_int_equal(fake.pins[1 + tables], 0);
	assert_int_equal(fake.pins[1], 1);
	assert_int_equal(fake.pins[1 + 2 * tables], 1);
}

static void test_an_announced_tree_that_was_evicted_is_shadowed_again(void **s)
{
	const u32 tables = plant_tree(1, 200);

	limit_tables(GHYVI_TABLES_MIN);
	plant_tree(1 + tables, 200);
	announce(1);
	announce(1 + tables);
	assert_true(submit(1 + tables, 200));
	assert_int_equal(fake.pins[1], 0);
	assert_true(submit(1, 200));
	/* The guest takes back what is evicted, and what is not. */
	forget4(1 + tables);
	forget4(1);
	assert_int_equal(STAT(tables_now), 0);
	assert_true(submit(1 + tables, 200));
}

static void test_a_tree_that_a_workload_holds_stays(void **s)
{
	const u32 tables = plant_tree(1, 200);
	struct ghyvi_root *held;
	u64 second = (1 + tables) << 12;
	struct ghyvi_root *root;

	limit_tables(GHYVI_TABLES_MIN);
	plant_tree(1 + tables, 200);
	held = hold4(1);
	ghyvi_gtt_sync(fake.gtt, held);
	root = ghyvi_gtt_get_root(fake.gtt, &second, 4);
	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(is_complete(root, 1 + tables, 200));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_put_root(root);
	assert_true(is_complete(held, 1, 200));
	assert_int_equal(STAT(evicted_trees), 0);
	/*
	 * The workload is through: what found no table does now, although the guest has changed
	 * nothing.
	 */
	release_all();
	assert_true(submit(1 + tables, 200));
	assert_int_equal(STAT(evicted_trees), 1);
}

static void test_no_tree_can_be_made_while_workloads_hold_all(void **s)
{
	const u32 tables = plant_tree(1, GHYVI_TABLES_MIN - 3);
	u64 second = (1 + tables) << 12;

	limit_tables(GHYVI_TABLES_MIN);
	plant_tree(1 + tables, 1);
	hold4(1);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &second, 4)), -ENOSPC);
	release_all();
	assert_true(submit(1 + tables, 1));
}

/* Two of them do not fit, and each submission would shadow one again. */
static void test_large_trees_in_turn_cost_no_more_than_the_budget(void **s)
{
	const u32 page_tables = GHYVI_EVICT_YOUNG + 200, tables = plant_tree(1, page_tables);
	u32 turn, complete = 0;
	u64 rejected;

	fake.unchecked = true;
	limit_tables(2 * tables - 100);
	plant_tree(1 + tables, page_tables);
	for (turn = 0; turn < 40; turn++)
		complete += submit(1 + turn % 2 * tables, page_tables);
	assert_int_equal(complete, 20);
	assert_int_equal(STAT(evicted_trees), 0);
	/* Nor does what waits cost much. */
	rejected = STAT(entries_rejected);
	submit(1 + tables, page_tables);
	assert_in_range(STAT(entries_rejected) - rejected, 0, 200);
	/* One of them alone, until the other is old. */
	for (turn = 0; turn < GHYVI_EVICT_AGE && !submit(1 + tables, page_tables); turn++)
		;
	assert_in_range(turn, GHYVI_EVICT_AGE - 3, GHYVI_EVICT_AGE - 1);
	assert_int_equal(STAT(evicted_trees), 1);
}

static void test_small_trees_in_turn_go_within_the_budget(void **s)
{
	const u32 trees = 8, page_tables = GHYVI_EVICT_YOUNG / 2 - 3, tables = 3 + page_tables;
	u64 before;
	u32 i;

	fake.unchecked = true;
	limit_tables(4 * tables);
	for (i = 0; i < trees; i++)
		plant_tree(1 + i * tables, page_tables);
	for (i = 0; i < 4 * trees; i++) {
		before = STAT(evicted_trees);
		assert_true(submit(1 + i % trees * tables, page_tables));
		assert_in_range(STAT(evicted_trees) - before, 0, 2);
	}
}

static void test_one_operation_evicts_young_trees_within_the_budget(void **s)
{
	const u32 trees = 20, small = 200, large = 3000, tables = plant_tree(1, small);
	const u64 last = 1 + trees * tables;
	u64 before;
	u32 i;

	fake.unchecked = true;
	limit_tables(trees * tables);
	for (i = 1; i < trees; i++)
		plant_tree(1 + i * tables, small);
	plant_tree(last, large);
	for (i = 0; i < trees; i++)
		assert_true(submit(1 + i * tables, small));
	for (i = 0; i < 10; i++) {
		before = STAT(evicted_trees);
		if (submit(last, large))
			break;
		/* At first one for the top page, which is an operation of its own. */
		assert_in_range(STAT(evicted_trees) - before, 1, GHYVI_EVICT_YOUNG / tables + !i);
	}
	assert_in_range(i, 2, 4);
}

static void test_what_the_guest_has_taken_back_evicts_nothing(void **s)
{
	const u32 tables = plant_tree(1, 200);
	struct ghyvi_root *held;
	u32 i;

	limit_tables(2 * tables + 50);
	plant_tree(1 + tables, 200);
	plant_tree(1 + 2 * tables, 200);
	held = hold4(1);
	ghyvi_gtt_sync(fake.gtt, held);
	hold4(1 + tables);
	assert_false(submit(1 + 2 * tables, 200));
	release_all();
	for (i = 0; i < 200; i++)
		set(1 + 2 * tables + 2, i, 0);
	assert_true(submit(1 + 2 * tables, 0));
	assert_int_equal(STAT(evicted_trees), 0);
}

/* It has few tables by now, and so may go although it is young. */
static void test_a_tree_is_as_large_as_it_is_now(void **s)
{
	const u32 before = GHYVI_EVICT_YOUNG + 200, tables = plant_tree(1, before);
	u32 i;

	fake.unchecked = true;
	limit_tables(tables + 10);
	assert_true(submit(1, before));
	for (i = 100; i < before; i++)
		set(3 + i / GHYVI_ENTRIES, i % GHYVI_ENTRIES, 0);
	assert_true(submit(1, 100));
	plant_tree(1 + tables, before);
	assert_true(submit(1 + tables, before));
	assert_int_equal(STAT(evicted_trees), 1);
}

static void test_an_announcement_makes_a_tree_young(void **s)
{
	const u32 page_tables = GHYVI_EVICT_YOUNG + 200, tables = plant_tree(1, page_tables);
	u32 i;

	fake.unchecked = true;
	limit_tables(2 * tables - 100);
	plant_tree(1 + tables, page_tables);
	for (i = 0; i < GHYVI_EVICT_AGE; i++)
		assert_true(submit(1 + tables, page_tables));
	forget4(1 + tables);
	announce(1);
	assert_false(submit(1 + tables, page_tables));
	assert_int_equal(STAT(evicted_trees), 0);
}

static void test_a_lower_limit_takes_effect_at_once_a_higher_one_at_the_next_submission(void **s)
{
	const u32 tables = plant_tree(1, 300);
	struct ghyvi_shadow_tuning tuning;
	u32 i;

	for (i = 0; i < 3; i++) {
		plant_tree(1 + i * tables, 300);
		assert_true(submit(1 + i * tables, 300));
	}
	assert_int_equal(STAT(tables_now), 3 * tables);
	limit_tables(2 * tables);
	assert_int_equal(STAT(tables_now), 2 * tables);
	limit_tables(GHYVI_TABLES_MIN);
	assert_int_equal(STAT(tables_now), 0);
	assert_false(submit(1, 300));
	limit_tables(tables);
	assert_true(submit(1, 300));
	ghyvi_gtt_tuning(fake.gtt, &tuning);
	tuning.tables_max = GHYVI_TABLES_MIN - 1;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
	tuning.tables_max = GHYVI_TABLES_MAX + 1;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
}

/* Lists of pages to compare, protected pages, pins and references, whatever goes when. */
static void test_evictions_among_any_moves(void **s)
{
	unsigned int step;
	u64 seed, last = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : SEEDS;

	few_tables = true;
	for (seed = getenv("SEED") ? last : 1; seed <= last; seed++) {
		state = seed * 0x9e3779b97f4a7c15ull + 1;
		alias = seed & 1;
		fake_init(2);
		for (step = 0; step < 40; step++)
			edit();
		fake.race = seed & 2 ? racing_store : NULL;
		for (step = 0; step < 150; step++) {
			if (!rnd(20)) {
				fake.gtt->tuning.tables_max = 4 + rnd(8);
				fake.gtt->tables_freed++;
			}
			move();
			if (!rnd(3))
				root_operation();
			deliver();
		}
		fake.race = NULL;
		fake_fini();
	}
	few_tables = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_512_contexts_and_16_gib_fit_by_default),
		TEST(test_512_contexts_and_16_gib_run_in_half_the_tables),
		TEST(test_64_contexts_run_in_few_tables_under_strict),
		TEST(test_the_tree_used_least_recently_goes),
		TEST(test_an_announced_tree_that_was_evicted_is_shadowed_again),
		TEST(test_a_tree_that_a_workload_holds_stays),
		TEST(test_no_tree_can_be_made_while_workloads_hold_all),
		TEST(test_large_trees_in_turn_cost_no_more_than_the_budget),
		TEST(test_small_trees_in_turn_go_within_the_budget),
		TEST(test_one_operation_evicts_young_trees_within_the_budget),
		TEST(test_what_the_guest_has_taken_back_evicts_nothing),
		TEST(test_a_tree_is_as_large_as_it_is_now),
		TEST(test_an_announcement_makes_a_tree_young),
		TEST(test_a_lower_limit_takes_effect_at_once_a_higher_one_at_the_next_submission),
		cmocka_unit_test(test_evictions_among_any_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
