// SPDX-License-Identifier: GPL-2.0-only
/* Internal state of table pages: levels, ranks, lists, statistics; and the ranges of settings. */
#include "gtt_fake.h"

static struct ghyvi_table_page *table_at(u64 gfn)
{
	return xa_load(&fake.gtt->tables, gfn);
}

static bool is_listed(u64 gfn)
{
	return !list_empty(&table_at(gfn)->relaxed_node);
}

/* PML4 1, PDP 2, PD 3, page tables 4 and up. */
static struct ghyvi_root *make_tree(unsigned int page_tables)
{
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	for (i = 0; i < page_tables; i++) {
		write_pte(PD_GFN, i, pte(PT_GFN + i));
		write_pte(PT_GFN + i, 0, pte(DATA + i));
	}
	root = get_synced_root4(PML4_GFN);
	return root;
}

static void only_page_tables_are_leaves(void **state)
{
	struct ghyvi_root *root = make_tree(2), *second;
	u64 gpa[4] = { PD_GFN << 12 };

	assert_false(table_at(1)->history.leaf);
	assert_false(table_at(2)->history.leaf);
	assert_false(table_at(3)->history.leaf);
	assert_true(table_at(4)->history.leaf);
	assert_int_equal(table_at(4)->levels, BIT(GHYVI_LEVEL_PT));
	assert_int_equal(table_at(3)->levels, BIT(GHYVI_LEVEL_PD));
	assert_ptr_equal(table_at(4)->tree, &root->tree);
	assert_ptr_equal(table_at(3)->tree, &root->tree);
	assert_int_equal(table_at(5)->parent_gfn, 3);
	assert_int_equal(table_at(5)->parent_index, 1);
	/* The page directory of one tree is one of three levels' in another. */
	second = get_root(gpa, 3);
	ghyvi_gtt_sync(fake.gtt, second);
	assert_int_equal(table_at(3)->levels, BIT(GHYVI_LEVEL_PD));
	assert_ptr_equal(table_at(3)->tree, &fake.gtt->shared_tree);
	assert_ptr_equal(table_at(4)->tree, &fake.gtt->shared_tree);
	assert_true(table_at(4)->history.leaf);
}

/* A page is a leaf only while it has no use above the last level. */
static void a_page_with_a_higher_use_is_not_a_leaf(void **state)
{
	u64 higher[] = { 1, 2, 3 };
	struct ghyvi_root *root = make_tree(1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(higher); i++) {
		write_pte(PD_GFN, 7, pte(higher[i]));
		ghyvi_gtt_sync(fake.gtt, root);
		assert_false(table_at(higher[i])->history.leaf);
		assert_true(table_at(higher[i])->shadows[GHYVI_LEVEL_PT]);
		write_pte(PD_GFN, 7, 0);
		ghyvi_gtt_sync(fake.gtt, root);
		ghyvi_gtt_flush(fake.gtt);
		assert_false(table_at(higher[i])->history.leaf);
		assert_null(table_at(higher[i])->shadows[GHYVI_LEVEL_PT]);
	}
	/* The PT also becomes a page directory, and then only a page table again. */
	write_pte(PDP_GFN, 3, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(table_at(4)->history.leaf);
	assert_int_equal(table_at(4)->levels, BIT(GHYVI_LEVEL_PT) | BIT(GHYVI_LEVEL_PD));
	write_pte(PDP_GFN, 3, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(table_at(4)->history.leaf);
	assert_int_equal(table_at(4)->levels, BIT(GHYVI_LEVEL_PT));
}

/* The hottest page has rank 0; pages that were not written have no rank. */
static void the_most_written_pages_have_the_first_ranks(void **state)
{
	static const u32 heats[] = { 3, 0, 9, 5, 5, 1 };
	static const u32 ranks[] = { 3, GHYVI_RANK_UNKNOWN, 0, 1, 1, 4 };
	unsigned int i;

	make_tree(ARRAY_SIZE(heats));
	table_at(3)->history.heat = 100;
	for (i = 0; i < ARRAY_SIZE(heats); i++) {
		table_at(4 + i)->history.heat = heats[i];
		table_at(4 + i)->history.rank = 77;
	}
	for (i = 0; i < fake.gtt->nr_ggtt_tables; i++)
		if (fake.gtt->ggtt_tables[i])
			fake.gtt->ggtt_tables[i]->history.heat = 0;
	mutex_lock(&fake.gtt->lock);
	ghyvi_tables_rank(fake.gtt);
	mutex_unlock(&fake.gtt->lock);
	for (i = 0; i < ARRAY_SIZE(heats); i++) {
		if (heats[i] == 5)
			assert_in_range(table_at(4 + i)->history.rank, 1, 2);
		else
			assert_int_equal(table_at(4 + i)->history.rank, ranks[i]);
	}
	assert_int_equal(table_at(3)->history.rank, GHYVI_RANK_UNKNOWN);
	assert_int_not_equal(table_at(7)->history.rank, table_at(8)->history.rank);
}

/* At the visit of each table, and at each comparison. */
static void to_rank_many_tables_reschedules(void **state)
{
	const unsigned int tables = 300;
	unsigned long before;
	unsigned int i;

	make_tree(tables);
	for (i = 0; i < tables; i++)
		table_at(4 + i)->history.heat = 1 + i;
	mutex_lock(&fake.gtt->lock);
	before = shim_rescheds;
	ghyvi_tables_rank(fake.gtt);
	assert_true(shim_rescheds - before >= 2 * tables);
	mutex_unlock(&fake.gtt->lock);
}

static void protection_is_lost_only_in_the_reported_range(void **state)
{
	struct ghyvi_root *root = make_tree(6);
	unsigned int i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 1; i < 10; i++) {
		assert_true(fake.protected[i]);
		assert_false(is_listed(i));
	}
	ghyvi_gtt_protection_lost(fake.gtt, PT2_GFN, 2);
	for (i = 1; i < 10; i++) {
		assert_int_equal(fake.protected[i], i != 5 && i != 6);
		assert_int_equal(is_listed(i), i == 5 || i == 6);
	}
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 1; i < 10; i++)
		assert_true(fake.protected[i]);
}

static void protection_of_ggtt_pages_is_lost_only_in_the_reported_range(void **state)
{
	struct ghyvi_table_page *table;
	unsigned int i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (i = FIRST_GGTT_TABLE; i < FIRST_GGTT_TABLE + 4; i++)
		assert_true(fake.protected[BAR_GFN + i]);
	ghyvi_gtt_protection_lost(fake.gtt, BAR_GFN + FIRST_GGTT_TABLE + 1, 2);
	for (i = 0; i < 4; i++) {
		table = fake.gtt->ggtt_tables[FIRST_GGTT_TABLE + i];
		assert_int_equal(fake.protected[table->gfn], i == 0 || i == 3);
		assert_int_equal(table->protected, i == 0 || i == 3);
		assert_int_equal(list_empty(&table->relaxed_node), i == 0 || i == 3);
	}
}

/* Policies that start relaxed do not protect the page tables of a new tree. */
static void new_pages_are_protected_or_relaxed_by_policy(void **state)
{
	static const struct {
		const char *name;
		bool leaf_protected;
	} rows[] = {
		{ "strict", true }, { "full", false }, { "static", true }, { "adaptive", false }
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 pml4 = PML4_GFN + 10 * i;

		assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, rows[i].name), 0);
		build_tree(pml4);
		write_pte(pml4 + 3, 0, pte(DATA));
		get_root4(pml4);
		assert_true(fake.protected[pml4]);
		assert_true(fake.protected[pml4 + 1]);
		assert_true(fake.protected[pml4 + 2]);
		if (fake.protected[pml4 + 3] != rows[i].leaf_protected)
			fail_msg("%s", rows[i].name);
		assert_int_equal(is_listed(pml4 + 3), !rows[i].leaf_protected);
		assert_false(is_listed(pml4 + 2));
	}
}

static void compares_and_traps_are_counted(void **state)
{
	struct ghyvi_root *root = make_tree(2);
	u64 compared, changed, scans, relaxed, traps, bytes;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_listed(4) && is_listed(5));
	compared = STAT(entries_compared);
	changed = STAT(entries_changed);
	scans = STAT(scans);
	relaxed = STAT(relaxed_now);
	write_pte(PT_GFN, 511, pte(DATA + 3));
	write_pte(PT_GFN, 0, pte(DATA + 4));
	write_pte(PT2_GFN, 17, pte(DATA + 5));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(scans) - scans, relaxed);
	assert_int_equal(STAT(entries_compared) - compared, relaxed * GHYVI_ENTRIES);
	assert_int_equal(STAT(entries_changed) - changed, 3);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	traps = STAT(table_write_traps);
	bytes = STAT(table_write_bytes);
	write_pte(PD_GFN, 9, 0);
	guest_write((PD_GFN << 12) + 100, 2, 0);
	assert_int_equal(STAT(table_write_traps) - traps, 2);
	assert_int_equal(STAT(table_write_bytes) - bytes, 10);
}

/* The store covers half of the last entry of a page and half of the first of the next. */
static void a_store_across_pages_traps_on_both(void **state)
{
	struct ghyvi_root *root;
	u64 value = pte(DATA + 9);

	root = make_tree(2);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	write_pte(PT_GFN, 511, pte(DATA + 1));
	write_pte(PT2_GFN, 0, pte(DATA + 2));
	/* KVM reports a string instruction like this. */
	*(u64 *)guest_byte(pte_gpa(PT_GFN, 511)) = pte(DATA + 7);
	*(u64 *)guest_byte(pte_gpa(PT2_GFN, 0)) = value;
	ghyvi_gtt_trap(fake.gtt, pte_gpa(PT_GFN, 511) + 4, 8);
	assert_true(shadow_table(ghyvi_root_dma(root), 3, 0u, 0u, 0u)[511] == spte(DATA + 7));
	assert_true(shadow_table(ghyvi_root_dma(root), 3, 0u, 0u, 1u)[0] == spte(DATA + 9));
}

static void each_line_of_a_page_is_compared(void **state)
{
	struct ghyvi_root *root = make_tree(1);
	unsigned int i;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		write_pte(PT_GFN, i, pte(DATA + 16 + i % 64));
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[i] == spte(DATA + 16 + i % 64));
	}
}

/* An entry that changes to the value of its neighbour is compared with its own snapshot. */
static void an_entry_that_becomes_equal_to_another_is_found(void **state)
{
	struct ghyvi_root *root = make_tree(1);
	unsigned int i, k;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	for (i = 0; i < GHYVI_PTES_PER_LINE; i++) {
		for (k = 0; k < GHYVI_PTES_PER_LINE; k++)
			write_pte(PT_GFN, k, pte(DATA + (k == i ? 2 : 1)));
		ghyvi_gtt_sync(fake.gtt, root);
		write_pte(PT_GFN, i, pte(DATA + 1));
		ghyvi_gtt_sync(fake.gtt, root);
		for (k = 0; k < GHYVI_PTES_PER_LINE; k++)
			assert_true(shadow_pt(root)[k] == spte(DATA + 1));
	}
}

static void a_comparison_tells_how_many_entries_changed(void **state)
{
	static const unsigned int indices[] = { 0, 7, 8, 300, 301, 511 };
	unsigned int i;

	make_tree(1);
	ghyvi_gtt_set_policy(fake.gtt, "full");
	for (i = 0; i <= ARRAY_SIZE(indices); i++) {
		unsigned int k;

		for (k = 0; k < i; k++)
			write_pte(PT_GFN, indices[k], pte(DATA + 10 * i + k));
		mutex_lock(&fake.gtt->lock);
		assert_int_equal(ghyvi_table_sync(fake.gtt, table_at(4)), i);
		assert_int_equal(ghyvi_table_sync(fake.gtt, table_at(4)), 0);
		mutex_unlock(&fake.gtt->lock);
	}
}

/* A single retried entry in a page without other changes is published. */
static void a_global_entry_whose_page_comes_back_is_published(void **state)
{
	u64 table = BAR_GFN + FIRST_GGTT_TABLE + 1;

	set_absent(DATA + 50, true);
	write_pte(table, 37, pte(DATA + 50));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(is_scratch(fake.ggtt[(FIRST_GGTT_TABLE + 1) * GHYVI_ENTRIES + 37]));
	set_absent(DATA + 50, false);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[(FIRST_GGTT_TABLE + 1) * GHYVI_ENTRIES + 37] == spte(DATA + 50));
}

static void policies_are_found_by_name(void **state)
{
	char names[128];
	int bytes;

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "none"), -EINVAL);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, ""), -EINVAL);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "strict"), 0);
	bytes = ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_int_equal(bytes, strlen(names));
	assert_string_equal(names,
			    "[strict] full static dynamic segmented oos adaptive relaxed nested\n");
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_string_equal(names,
			    "strict full static dynamic segmented oos adaptive relaxed [nested]\n");
}

/* One setting at a time is out of range. */
static void each_setting_has_its_range(void **state)
{
	static const struct {
		size_t offset;
		u32 least, most;
	} rows[] = {
		{ offsetof(struct ghyvi_shadow_tuning, static_pages), 0, GHYVI_STATIC_PAGES_MAX },
		{ offsetof(struct ghyvi_shadow_tuning, oos_threshold), 1, GHYVI_OOS_THRESHOLD_MAX },
		{ offsetof(struct ghyvi_shadow_tuning, idle_pins), 0, GHYVI_IDLE_PINS_MAX },
		{ offsetof(struct ghyvi_shadow_tuning, tables_max), GHYVI_TABLES_MIN,
		  GHYVI_TABLES_MAX },
	};
	struct ghyvi_shadow_tuning before, tuning, after;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ghyvi_gtt_get_tuning(fake.gtt, &before);
		tuning = before;
		*(u32 *)((u8 *)&tuning + rows[i].offset) = rows[i].most + 1;
		assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
		*(u32 *)((u8 *)&tuning + rows[i].offset) = rows[i].least - 1;
		assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), -EINVAL);
		ghyvi_gtt_get_tuning(fake.gtt, &after);
		assert_memory_equal(&after, &before, sizeof(after));
		*(u32 *)((u8 *)&tuning + rows[i].offset) = rows[i].most;
		assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
		ghyvi_gtt_get_tuning(fake.gtt, &after);
		assert_memory_equal(&after, &tuning, sizeof(after));
		*(u32 *)((u8 *)&tuning + rows[i].offset) = rows[i].least;
		assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	}
}

/* A page table has neighbours while the guest's PDE still points to it. */
static void neighbours_are_where_the_page_directory_has_them(void **state)
{
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 0, pte(PT_GFN));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PD_GFN, 3, pte(PT3_GFN));
	write_pte(PD_GFN, 4, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	write_pte(PD_GFN, 5, pte(PT4_GFN));
	write_pte(PD_GFN, 511, pte(PD2_GFN));
	for (i = 4; i < 9; i++)
		write_pte(i, 0, pte(DATA));
	root = get_synced_root4(PML4_GFN);
	assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, table_at(4), 1), table_at(5));
	assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, table_at(5), -1), table_at(4));
	assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, table_at(4), 0), table_at(4));
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(4), -1));
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(5), 1)); /* a hole */
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(6), 1)); /* a large page */
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(8), 1));
	assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, table_at(8), 3 - 511), table_at(6));
	/* The PDE that linked it last does not point to it any more. */
	write_pte(PD_GFN, 20, pte(PT4_GFN));
	write_pte(PD_GFN, 21, pte(PT_GFN));
	write_pte(PD_GFN, 20, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(table_at(7)->parent_index, 20);
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(7), 1));
	assert_int_equal(table_at(4)->parent_index, 21);
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(4), -1));
	/* Pages of the GGTT table are neighbours of each other. */
	for (i = 0; i < 4; i++) {
		struct ghyvi_table_page *page = fake.gtt->ggtt_tables[FIRST_GGTT_TABLE + i];

		assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, page, -1),
				 i ? fake.gtt->ggtt_tables[FIRST_GGTT_TABLE + i - 1] : NULL);
		assert_ptr_equal(ghyvi_table_neighbour(fake.gtt, page, 1),
				 i < 3 ? fake.gtt->ggtt_tables[FIRST_GGTT_TABLE + i + 1] : NULL);
	}
	/* The parent was freed. */
	table_at(4)->parent_gfn = 9999;
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(4), 1));
	table_at(4)->parent_gfn = 2; /* no page directory */
	assert_null(ghyvi_table_neighbour(fake.gtt, table_at(4), 1));
}

static bool waits(u64 gfn, unsigned int index)
{
	return table_at(gfn)->deferred.entries[index / 64] >> index % 64 & 1;
}

static bool lacks(u64 gfn, unsigned int index)
{
	return table_at(gfn)->deferred.unbacked[index / 64] >> index % 64 & 1;
}

/* Absent memory, a pin that fails for another reason, and entries that the guest changes. */
static void deferred_entries_are_recorded_one_by_one(void **state)
{
	struct ghyvi_root *root = make_tree(1);
	unsigned int i;

	set_absent(DATA + 100, true);
	write_pte(PT_GFN, 70, pte(DATA + 100));
	write_pte(PT_GFN, 511, pte(DATA + 100));
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		assert_int_equal(waits(4, i), i == 70 || i == 511);
		assert_int_equal(lacks(4, i), i == 70 || i == 511);
	}
	assert_true(table_at(4)->deferred.retry);
	assert_false(table_at(4)->deferred.nomem);
	write_pte(PT_GFN, 70, pte(DATA + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(waits(4, 70) || lacks(4, 70));
	assert_true(waits(4, 511) && lacks(4, 511));
	/* A pin that fails for another reason. */
	fake.pin_error = -EAGAIN;
	fake.pin_errors = 1;
	write_pte(PT_GFN, 71, pte(DATA + 101));
	if (!waits(4, 71))
		ghyvi_gtt_sync(fake.gtt, root);
	if (waits(4, 71)) {
		assert_false(lacks(4, 71));
		assert_true(table_at(4)->deferred.nomem);
	}
	fake.pin_errors = 0;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_false(waits(4, 71));
	assert_true(shadow_pt(root)[71] == spte(DATA + 101));
	set_absent(DATA + 100, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[511] == spte(DATA + 100));
	assert_false(waits(4, 511) || lacks(4, 511) || table_at(4)->deferred.retry);
}

/* Stores next to the GGTT table are ignored; its first and last entries are translated. */
static void accesses_beyond_the_ggtt_are_ignored(void **state)
{
	u64 last = BAR_GFN + FIRST_GGTT_TABLE + 3;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(fake.gtt->nr_ggtt_tables, FIRST_GGTT_TABLE + 4);
	ghyvi_gtt_trap(fake.gtt, (BAR_GFN + fake.gtt->nr_ggtt_tables) << 12, 8);
	ghyvi_gtt_trap(fake.gtt, (BAR_GFN << 12) - 8, 8);
	ghyvi_gtt_trap(fake.gtt, BAR_GFN << 12, 8); /* outside the vGPU's ranges */
	write_pte(last, 511, pte(DATA));
	assert_true(fake.ggtt[(FIRST_GGTT_TABLE + 4) * GHYVI_ENTRIES - 1] == (spte(DATA)));
	write_pte(BAR_GFN + FIRST_GGTT_TABLE, 0, pte(DATA + 1));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * GHYVI_ENTRIES] == (spte(DATA + 1)));
	assert_null(ghyvi_ggtt_table_by_gfn(fake.gtt, BAR_GFN + fake.gtt->nr_ggtt_tables));
	assert_null(ghyvi_ggtt_table_by_gfn(fake.gtt, BAR_GFN - 1));
	assert_non_null(ghyvi_ggtt_table_by_gfn(fake.gtt, last));
}

static bool evict_trees(u32 wanted, bool begin)
{
	bool evicted;

	mutex_lock(&fake.gtt->lock);
	if (begin)
		ghyvi_trees_evict_begin(fake.gtt);
	evicted = ghyvi_trees_evict(fake.gtt, wanted);
	mutex_unlock(&fake.gtt->lock);
	return evicted;
}

/* No more trees are evicted than necessary. */
static void only_as_many_trees_are_evicted_as_needed(void **state)
{
	unsigned int i, tables;

	/* Each has four pages. */
	for (i = 0; i < 5; i++) {
		build_tree(PML4_GFN + 10 * i);
		write_pte(PT_GFN + 10 * i, 0, pte(DATA));
		get_root4(PML4_GFN + 10 * i);
		ghyvi_gtt_sync(fake.gtt, fake.held[0].root);
		put_all_roots();
	}
	tables = fake.gtt->nr_tables;
	assert_int_equal(tables, 20);
	fake.gtt->tuning.tables_max = 20;
	assert_false(evict_trees(0, true));
	assert_int_equal(fake.gtt->nr_tables, 20);
	assert_true(evict_trees(1, false));
	assert_int_equal(fake.gtt->nr_tables, 16);
	assert_int_equal(STAT(evicted_trees), 1);
	assert_null(table_at(1)); /* the least recently used one */
	assert_non_null(table_at(11));
	assert_true(evict_trees(9, false));
	assert_int_equal(fake.gtt->nr_tables, 8);
	assert_int_equal(STAT(evicted_trees), 3);
	fake.gtt->tuning.tables_max = GHYVI_TABLES_MAX;
}

/* The self-check of tables of 64 KiB pages. */
static void the_self_check_looks_at_each_page_of_a_group(void **state)
{
	struct ghyvi_root *root;
	u64 *shadow_64k, *directory;
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 0, pte(PT_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT_GFN, 0, pte(LARGE_WHOLE));
	write_pte(PT_GFN, 16, pte(LARGE_WHOLE + 16));
	root = get_synced_root4(PML4_GFN);
	shadow_64k = shadow_pt(root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	for (i = 0; i < 48; i += 5) {
		u64 entry = shadow_64k[i];

		shadow_64k[i] = i < 32 ? spte(LARGE_WHOLE + 100) : spte(LARGE_WHOLE);
		assert_int_not_equal(ghyvi_gtt_check(fake.gtt, root), 0);
		shadow_64k[i] = entry;
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	}
	assert_int_equal(STAT(ips_set_now), 1);
	/* Each page is right, but the group is not contiguous, and the PDE says 64 KiB. */
	write_pte(PT_GFN, 32, pte((DATA / 16 + 1) * 16));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(ips_set_now), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	directory = shadow_table(ghyvi_root_dma(root), 2, 0u, 0u);
	assert_int_equal(directory[0] & GHYVI_ENTRY_64K, 0);
	directory[0] |= GHYVI_ENTRY_64K;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	directory[0] &= ~GHYVI_ENTRY_64K;
}

/* A page is strict from its first use above the last level on, not from the next sync. */
static void a_relaxed_page_that_becomes_a_directory_is_strict_at_once(void **state)
{
	ghyvi_gtt_set_policy(fake.gtt, "full");
	make_tree(1);
	assert_true(is_listed(PT_GFN));
	assert_false(fake.protected[PT_GFN]);
	write_pte(PDP_GFN, 5, pte(PT_GFN));
	assert_true(fake.protected[PT_GFN]);
}

static void an_access_crosses_pages_of_the_ggtt_that_are_apart(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512, address = (first << 12) + 0x100, i;
	static u8 bytes[0x2100];

	for (i = 0; i < 3; i++) {
		fake.guest_ggtt[first + i] = pte(DATA + 2 * i);
		memset(guest_page(DATA + 2 * i), 0x11 * (i + 1), GHYVI_PAGE_BYTES);
	}
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, bytes, sizeof(bytes)), 0);
	for (i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0x11 * ((0x100 + i) / GHYVI_PAGE_BYTES + 1));
}

static void pages_of_a_list_are_protected_in_one_call(void **state)
{
	u32 before;

	ghyvi_gtt_set_policy(fake.gtt, "full");
	make_tree(40);
	before = fake.protect_calls;
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	assert_true(fake.protected[4] && fake.protected[43]);
	assert_int_equal(fake.protect_calls, before + 1);
}

/* A thread that pins guest memory holds the lock for as long as the VM's program likes. */
static void settings_can_be_shown_while_the_lock_is_held(void **state)
{
	struct ghyvi_shadow_tuning before, during;

	ghyvi_gtt_get_tuning(fake.gtt, &before);
	mutex_lock(&fake.gtt->lock);
	ghyvi_gtt_get_tuning(fake.gtt, &during);
	mutex_unlock(&fake.gtt->lock);
	assert_memory_equal(&during, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(settings_can_be_shown_while_the_lock_is_held),
		TEST(only_page_tables_are_leaves),
		TEST(a_page_with_a_higher_use_is_not_a_leaf),
		TEST(the_most_written_pages_have_the_first_ranks),
		TEST(to_rank_many_tables_reschedules),
		TEST(protection_is_lost_only_in_the_reported_range),
		TEST(protection_of_ggtt_pages_is_lost_only_in_the_reported_range),
		TEST(new_pages_are_protected_or_relaxed_by_policy),
		TEST(compares_and_traps_are_counted),
		TEST(a_store_across_pages_traps_on_both),
		TEST(each_line_of_a_page_is_compared),
		TEST(an_entry_that_becomes_equal_to_another_is_found),
		TEST(a_comparison_tells_how_many_entries_changed),
		TEST(a_global_entry_whose_page_comes_back_is_published),
		TEST(policies_are_found_by_name),
		TEST(each_setting_has_its_range),
		TEST(neighbours_are_where_the_page_directory_has_them),
		TEST(deferred_entries_are_recorded_one_by_one),
		TEST(accesses_beyond_the_ggtt_are_ignored),
		TEST(only_as_many_trees_are_evicted_as_needed),
		TEST(the_self_check_looks_at_each_page_of_a_group),
		TEST(a_relaxed_page_that_becomes_a_directory_is_strict_at_once),
		TEST(an_access_crosses_pages_of_the_ggtt_that_are_apart),
		TEST(pages_of_a_list_are_protected_in_one_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
