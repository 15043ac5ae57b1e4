// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "relaxed": no guest memory is write-protected, pages of the GGTT are protected by
 * removing their mappings, and a sync compares only what its tree can reach.
 */
#include <pthread.h>
#include <sched.h>
#include "gtt_fake.h"

#define FIRST ((u64)FIRST_GGTT_TABLE * GHYVI_ENTRIES)

static int relaxed_setup(void **state)
{
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;

	fake_init(8);
	tuning.scan_ns = 100;
	tuning.protect_ns = 250; /* three scans */
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	return ghyvi_gtt_set_policy(fake.gtt, "relaxed");
}

static int fini(void **state)
{
	fake_fini();
	return 0;
}

/* Costs are given, not measured: instead of kernel/gtt/costs.c. */
void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
}

void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa)
{
}

static u64 scans_of_sync(struct ghyvi_root *root)
{
	u64 before = STAT(scans);

	ghyvi_gtt_sync(fake.gtt, root);
	return STAT(scans) - before;
}

static void syncs(unsigned int count)
{
	while (count--)
		ghyvi_gtt_sync(fake.gtt, NULL);
}

static u32 unmapped_pages(void)
{
	u32 i, count = 0;

	for (i = 0; i < GHYVI_GGTT_TABLES_MAX; i++)
		count += fake.ggtt_unmapped[i];
	return count;
}

static void no_page_of_guest_memory_is_protected(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_root4(PML4_GFN);
	syncs(5);
	for (i = 0; i < GFNS; i++)
		assert_false(fake.protected[i]);
	assert_int_equal(STAT(table_write_traps), 0);
	/* Stores at all levels are found. */
	write_pte(PT_GFN, 1, pte(DATA + 1));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PT2_GFN, 0, pte(DATA + 2));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == spte(DATA + 1));
	assert_true(shadow_table(ghyvi_root_dma(root), 3, 0u, 0u, 1u)[0] == spte(DATA + 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_sync_compares_the_tables_of_its_tree_only(void **state)
{
	struct ghyvi_root *root, *other;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(5);
	assert_int_equal(scans_of_sync(root), 4);
	assert_int_equal(scans_of_sync(other), 4);
	assert_int_equal(scans_of_sync(NULL), 8);
	/* A page directory that both reach is compared for both, with all tables below. */
	write_pte(PDP_B_GFN, 0, pte(PD_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PT2_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(ghyvi_root_dma(other), 3, 0u, 0u, 1u)[0] == spte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

/*
 * The guest unlinks a table, frees it, and gets it back as data. No store trapped, so the link is
 * still in the shadow of a tree that is not synced now.
 */
static void a_freed_table_is_mapped_as_data_at_the_next_sync(void **state)
{
	struct ghyvi_root *root, *other;
	u64 word = 0;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PD_GFN, 2, pte(PT3_GFN));
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	syncs(1);
	write_pte(PD_GFN, 1, pte(PT4_GFN));
	write_pte(PT_B_GFN, 0, pte(PT2_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_pt(other)[0] == spte(PT2_GFN));
	/* In the same tree, at an entry that is compared before the link. */
	write_pte(PD_GFN, 2, pte(PT4_GFN));
	write_pte(PT_GFN, 0, pte(PT3_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(PT3_GFN));
	/* The host accesses a page of the GGTT without a sync, as for a context image. */
	write_pte(PD_GFN, 1, 0);
	write_pte(PD_GFN, 2, 0);
	*guest_page(PT4_GFN) = 0x1234;
	write_pte(BAR_GFN, FIRST, pte(PT4_GFN));
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, FIRST << 12, &word, sizeof(word)), 0);
	assert_true(word == 0x1234);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

/* Only when the page is unlinked, the tables above the page tables are compared in all trees. */
static void a_table_that_is_refused_as_data_costs_no_scan(void **state)
{
	struct ghyvi_root *root, *other;
	u64 alone;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	syncs(1);
	alone = scans_of_sync(other);
	write_pte(PT_B_GFN, 1, pte(PT_GFN));
	assert_int_equal(scans_of_sync(other), alone);
	assert_true(shadow_pt(other)[1] == ghyvi_leaf_scratch(fake.gtt));
	assert_int_equal(scans_of_sync(other), alone);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
	/* No store reaches the refused entry, and no sync the tree. */
	write_pte(PD_GFN, 0, 0);
	assert_int_equal(scans_of_sync(other), 2 * alone + 6);
	assert_true(shadow_pt(other)[1] == spte(PT_GFN));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
}

/* One entry in each of the ways to map data. The page is a table of the first tree until then. */
static void a_freed_table_is_data_of_any_kind(void **state)
{
	static const u64 freed = 16 * GHYVI_PTES_PER_64K, large = LARGE_WHOLE;
	struct ghyvi_root *root, *other;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PD_GFN, 1, pte(freed));
	write_pte(PD_GFN, 2, pte(large + 5));
	write_pte(PDP_GFN, 1, pte(FIRST_FREE_GFN));
	write_pte(PML4_GFN, 1, pte(FIRST_FREE_GFN + 1));
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	syncs(1);
	write_pte(PD_GFN, 1, 0);
	write_pte(PD_B_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT2_GFN, 0, pte(freed));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(ghyvi_root_dma(other), 3, 0u, 0u, 1u)[0] == spte(freed));
	write_pte(PD_GFN, 2, 0);
	write_pte(PD_B_GFN, 2, pte(large) | GHYVI_ENTRY_LARGE);
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(ghyvi_root_dma(other), 2, 0u, 0u)[2] ==
		    (spte(large) | GHYVI_ENTRY_LARGE));
	/* Directories. What is stored to them now is data, and would lead to the other tree. */
	write_pte(PDP_GFN, 1, 0);
	write_pte(FIRST_FREE_GFN, 0, pte(DATA));
	write_pte(PML4_GFN, 1, 0);
	write_pte(FIRST_FREE_GFN + 1, 0, pte(DATA + 1));
	write_pte(PT_B_GFN, 0, pte(FIRST_FREE_GFN));
	write_pte(PT_B_GFN, 1, pte(FIRST_FREE_GFN + 1));
	write_pte(PT_B_GFN, 2, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_pt(other)[0] == spte(FIRST_FREE_GFN));
	assert_true(shadow_pt(other)[1] == spte(FIRST_FREE_GFN + 1));
	assert_true(shadow_pt(other)[2] == spte(DATA));
	/* An entry for 1 GiB is no link, although its address is the same. */
	write_pte(PDP_GFN, 0, pte(PD_GFN) | GHYVI_ENTRY_LARGE);
	write_pte(PT_B_GFN, 3, pte(PD_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_pt(other)[3] == spte(PD_GFN));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
}

/* The guest frees a directory, and makes data of it that looks like entries. */
static void no_table_is_made_of_what_an_unlinked_directory_holds(void **state)
{
	struct ghyvi_root *root;
	u64 tables;
	u32 i;

	build_tree(PML4_GFN);
	write_pte(PDP_GFN, 1, pte(PD2_GFN));
	root = get_synced_root4(PML4_GFN);
	tables = STAT(tables_now);
	write_pte(PDP_GFN, 1, 0);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		write_pte(PD2_GFN, i, pte(DATA + i));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(STAT(tables_now), tables - 1);
	assert_int_equal(STAT(entries_changed), 1);
}

/* The sync reaches the page between the entry that is cleared and the one that links it again. */
static void a_table_that_moves_within_its_tree_is_compared(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	root = get_synced_root4(PML4_GFN);
	write_pte(PDP_GFN, 1, pte(PD2_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PD_GFN, 1, 0);
	write_pte(PD2_GFN, 0, pte(PT2_GFN));
	write_pte(PT2_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(ghyvi_root_dma(root), 3, 0u, 1u, 0u)[0] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* The guest frees a page table, and uses it for another tree before a sync of the first one. */
static void a_page_table_that_changes_trees_is_compared_for_the_new_one_only(void **state)
{
	struct ghyvi_root *root, *other;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	write_pte(PD_GFN, 1, 0);
	write_pte(PD_B_GFN, 1, pte(PT2_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(scans_of_sync(root), 4);
	assert_int_equal(scans_of_sync(other), 5);
	write_pte(PT2_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(ghyvi_root_dma(other), 3, 0u, 0u, 1u)[0] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
	/* Linked twice, and once again. */
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(scans_of_sync(root), 5);
	write_pte(PD_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PT2_GFN, 1, pte(DATA + 1));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(ghyvi_root_dma(other), 3, 0u, 0u, 1u)[1] == spte(DATA + 1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
}

/* Another vCPU: it changes a bit of the entry that the hardware ignores. */
static u32 changes_left;

static void change_self_link(void)
{
	if (changes_left) {
		changes_left--;
		guest_page(PD_GFN)[1] ^= BIT_ULL(52);
	}
}

/* The page directory, which two trees reach, is one of its page tables, too. */
static void a_guest_that_goes_on_storing_does_not_prolong_a_sync(void **state)
{
	struct ghyvi_root *root;
	u64 one, all;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PDP_B_GFN, 0, pte(PD_GFN));
	write_pte(PD_GFN, 1, pte(PD_GFN));
	root = get_root4(PML4_GFN);
	get_root4(PML4_B_GFN);
	syncs(5);
	one = scans_of_sync(root);
	all = scans_of_sync(NULL);
	changes_left = 1000;
	shim_on_resched = change_self_link;
	assert_int_equal(scans_of_sync(root), one);
	assert_int_equal(scans_of_sync(NULL), all);
	shim_on_resched = NULL;
	assert_int_not_equal(changes_left, 1000);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/*
 * The first tree links the other one's page directory and a page table of it. In the same sync the
 * directory is found to link the page table no more, after the first tree's pages were compared.
 */
static void a_page_table_that_leaves_shared_tables_is_compared(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PD_B_GFN, 1, pte(PT2_GFN));
	root = get_root4(PML4_GFN);
	get_root4(PML4_B_GFN);
	syncs(1);
	write_pte(PDP_GFN, 1, pte(PD_B_GFN));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PD_B_GFN, 1, 0);
	write_pte(PT2_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(ghyvi_root_dma(root), 3, 0u, 0u, 1u)[0] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Another vCPU: whenever the sync begins again, it finds some more links to new tables. */
static u64 last_pass;
static u32 linked, links_left;

static void link_more(void)
{
	u32 i;

	if (fake.gtt->passes == last_pass)
		return;
	last_pass = fake.gtt->passes;
	for (i = 0; i < 5 && links_left; i++, linked++, links_left--)
		guest_page(PD_GFN)[1 + linked] = pte(DATA + linked);
}

/* Old trees are evicted for them, and each time all pages of the tree are compared again. */
static void a_guest_that_links_more_and_more_does_not_prolong_a_sync(void **state)
{
	struct ghyvi_root *root;
	u64 passes;
	u32 i;

	limit_tables(GHYVI_TABLES_MIN);
	for (i = 0; i < 63; i++) {
		build_tree(FIRST_FREE_GFN + 4 * i);
		get_root4(FIRST_FREE_GFN + 4 * i);
	}
	put_all_roots();
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	for (i = 0; i < GHYVI_EVICT_AGE; i++)
		ghyvi_gtt_sync(fake.gtt, root);
	passes = fake.gtt->passes;
	links_left = 300;
	shim_on_resched = link_more;
	ghyvi_gtt_sync(fake.gtt, root);
	shim_on_resched = NULL;
	assert_in_range(fake.gtt->passes - passes, 2, 16);
	/* What is left to do is done when the guest has stopped. */
	for (i = 0; i < 4; i++)
		ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	for (i = 0; i < linked; i++)
		assert_false(is_scratch(shadow_table(ghyvi_root_dma(root), 2, 0u, 0u)[1 + i]));
}

/* The hypervisor fails to protect a directory, so its stores do not trap under any policy. */
static void a_freed_table_is_found_without_protection(void **state)
{
	struct ghyvi_root *root, *other;

	fake.protect_broken_at[PD_GFN] = true;
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "strict"), 0);
	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	syncs(1);
	assert_false(fake.protected[PD_GFN]);
	write_pte(PD_GFN, 0, 0);
	write_pte(PT_B_GFN, 0, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_pt(other)[0] == spte(PT_GFN));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Jobs that began before the policy became "nested" still use shadows. */
static void a_freed_table_is_found_after_a_switch_to_nested(void **state)
{
	struct ghyvi_root *other;

	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	write_pte(PD_GFN, 0, 0);
	write_pte(PT_B_GFN, 0, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_pt(other)[0] == spte(PT_GFN));
}

/* What the guest's CPU stores through the aperture must reach the page, with or without jobs. */
static void a_freed_table_is_mapped_in_the_aperture(void **state)
{
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	syncs(1);
	write_pte(PD_GFN, 0, 0);
	write_pte(BAR_GFN, FIRST + 1, pte(PT_GFN));
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(PT_GFN));
}

/* The table has been linked twice. That the first entry still links it is found by looking. */
static void a_guest_causes_one_look_in_vain_between_syncs(void **state)
{
	u64 word, before;

	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	syncs(1);
	write_pte(PD_GFN, 1, pte(PT_GFN));
	syncs(1);
	write_pte(PD_GFN, 1, 0);
	write_pte(BAR_GFN, FIRST, pte(PT_GFN));
	before = STAT(scans);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, FIRST << 12, &word, sizeof(word)), -EFAULT);
	assert_int_equal(STAT(scans), before + 3);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, FIRST << 12, &word, sizeof(word)), -EFAULT);
	assert_int_equal(STAT(scans), before + 3);
	write_pte(PD_GFN, 0, 0);
	syncs(1);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, FIRST << 12, &word, sizeof(word)), 0);
}

static void ggtt_pages_without_stores_are_unmapped_and_not_compared(void **state)
{
	u64 scans;

	syncs(5);
	assert_int_equal(fake.ggtt_unmaps, 0); /* not live */
	ghyvi_gtt_ggtt_live(fake.gtt);
	scans = STAT(scans);
	syncs(8);
	assert_int_equal(unmapped_pages(), fake.ggtt_tables);
	assert_int_equal(fake.ggtt_unmaps, 1); /* one call for all of them */
	assert_int_equal(STAT(protected_now), fake.ggtt_tables);
	assert_int_equal(STAT(relaxed_now), 0);
	assert_true(STAT(scans) - scans <= 4 * fake.ggtt_tables);
	assert_int_equal(scans_of_sync(NULL), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

static void a_fault_makes_its_page_compared_until_it_was_clean_for_long(void **state)
{
	unsigned int i;

	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	write_pte(BAR_GFN, FIRST + GHYVI_ENTRIES + 3, pte(DATA));
	assert_int_equal(fake.ggtt_faults, 1);
	assert_int_equal(scans_of_sync(NULL), 1);
	assert_true(fake.ggtt[FIRST + GHYVI_ENTRIES + 3] == spte(DATA));
	write_pte(BAR_GFN, FIRST + GHYVI_ENTRIES + 4, pte(DATA + 1));
	assert_int_equal(fake.ggtt_faults, 1); /* it is mapped */
	assert_int_equal(scans_of_sync(NULL), 1);
	assert_true(fake.ggtt[FIRST + GHYVI_ENTRIES + 4] == spte(DATA + 1));
	for (i = 0; scans_of_sync(NULL); i++)
		assert_true(i < 4);
	assert_true(i >= 2);
	assert_int_equal(unmapped_pages(), fake.ggtt_tables);
	write_pte(BAR_GFN, FIRST + GHYVI_ENTRIES + 4, 0);
	assert_int_equal(fake.ggtt_faults, 2);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[FIRST + GHYVI_ENTRIES + 4] == 0);
}

static void the_host_reads_what_the_guest_stored_after_a_fault(void **state)
{
	u64 word = 0;

	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	*guest_page(DATA) = 0x1234;
	write_pte(BAR_GFN, FIRST, pte(DATA));
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, FIRST << 12, &word, sizeof(word)), 0);
	assert_true(word == 0x1234);
	/* A flush, as for the TLB registers, finds stores too. */
	syncs(8);
	write_pte(BAR_GFN, FIRST, pte(DATA + 1));
	ghyvi_gtt_flush(fake.gtt);
	assert_true(fake.ggtt[FIRST] == spte(DATA + 1));
}

static void the_self_check_forgives_a_store_after_the_sync(void **state)
{
	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	write_pte(BAR_GFN, FIRST, pte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

static void a_bar_that_moves_loses_its_protection(void **state)
{
	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN - 50);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(STAT(relaxed_now), fake.ggtt_tables);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	fake.guest_ggtt[FIRST] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[FIRST] == spte(DATA));
}

static void the_kind_of_protection_changes_with_the_policy(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "strict"), 0);
	assert_true(fake.protected[PT_GFN] && fake.protected[PD_GFN]);
	assert_true(fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	write_pte(BAR_GFN, FIRST, pte(DATA));
	assert_true(fake.ggtt[FIRST] == spte(DATA));
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "relaxed"), 0);
	assert_false(fake.protected[PT_GFN] || fake.protected[PD_GFN] || fake.protected[PML4_GFN]);
	assert_false(fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	syncs(8);
	assert_int_equal(unmapped_pages(), fake.ggtt_tables);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(BAR_GFN, FIRST, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA) && fake.ggtt[FIRST] == 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

static int map_nothing(void *data)
{
	return -ENOMEM;
}

static void only_pages_of_the_table_can_be_mapped(void **state)
{
	assert_int_equal(ghyvi_gtt_ggtt_map(fake.gtt, GHYVI_GGTT_TABLES_MAX, map_nothing, NULL),
			 -EINVAL);
	assert_int_equal(ghyvi_gtt_ggtt_map(fake.gtt, ~0ull, map_nothing, NULL), -EINVAL);
	assert_int_equal(ghyvi_gtt_ggtt_map(fake.gtt, GHYVI_GGTT_TABLES_MAX - 1, map_nothing, NULL),
			 -ENOMEM);
}

static int map_page(void *data)
{
	return 0;
}

static void *fault_all_pages(void *data)
{
	u32 i;

	for (i = 0; i < fake.ggtt_tables; i++)
		ghyvi_gtt_ggtt_map(fake.gtt, FIRST_GGTT_TABLE + i, map_page, NULL);
	return NULL;
}

/* A fault does not wait for gtt->lock. TSan reports an access that is not meant to race. */
static void pages_are_mapped_during_a_self_check(void **state)
{
	pthread_t thread;

	ghyvi_gtt_ggtt_live(fake.gtt);
	syncs(8);
	assert_int_equal(unmapped_pages(), fake.ggtt_tables);
	assert_int_equal(pthread_create(&thread, NULL, fault_all_pages, NULL), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(scans_of_sync(NULL), fake.ggtt_tables);
}

/*
 * Another vCPU stores increasing values to one entry of each page of the GGTT. The MMU's lock makes
 * a store and an unmapping exclude each other, as hardware does: after an unmapping no store
 * succeeds without a fault.
 */
#define RACE_STORES 4000u

static struct {
	pthread_mutex_t mmu;
	struct ghyvi_ggtt_user user;
	bool unmapped[GHYVI_GGTT_TABLES_MAX]; /* protected by @mmu */
	_Atomic u64 stored[8]; /* by page: the value that was stored last */
	_Atomic u32 faults, syncs;
	_Atomic bool done;
} race;

static void race_unmap(struct ghyvi_ggtt_user *user, u64 page, u64 count)
{
	pthread_mutex_lock(&race.mmu);
	while (count--)
		race.unmapped[page++] = true;
	pthread_mutex_unlock(&race.mmu);
}

static int race_map(void *data)
{
	pthread_mutex_lock(&race.mmu);
	*(bool *)data = false;
	pthread_mutex_unlock(&race.mmu);
	return 0;
}

static void race_store(u32 table, u64 value)
{
	u64 page = FIRST_GGTT_TABLE + table;
	bool unmapped;

	do {
		pthread_mutex_lock(&race.mmu);
		unmapped = race.unmapped[page];
		if (!unmapped)
			__atomic_store_n(&fake.guest_ggtt[FIRST + table * GHYVI_ENTRIES], value,
					 __ATOMIC_RELAXED);
		pthread_mutex_unlock(&race.mmu);
		if (unmapped) {
			race.faults++;
			ghyvi_gtt_ggtt_map(fake.gtt, page, race_map, &race.unmapped[page]);
		}
	} while (unmapped);
	race.stored[table] = value;
}

static void *other_vcpu(void *data)
{
	u32 i, syncs;

	for (i = 0; i < RACE_STORES; i++) {
		race_store(i % 8, pte(DATA + i / 8));
		for (syncs = race.syncs; i % 64 == 0 && race.syncs < syncs + 5;)
			sched_yield(); /* until pages are unmapped */
	}
	race.done = true;
	return NULL;
}

/* A sync finds each store that was complete when it began, or a later one to the same entry. */
static void no_store_is_lost_between_a_fault_and_a_sync(void **state)
{
	u64 stored[8], found;
	pthread_t thread;
	u32 i;

	fake.unchecked = true;
	pthread_mutex_init(&race.mmu, NULL);
	race.user.unmap = race_unmap;
	fake.gtt->params.ggtt_user = &race.user;
	ghyvi_gtt_ggtt_live(fake.gtt);
	assert_int_equal(pthread_create(&thread, NULL, other_vcpu, NULL), 0);
	while (!race.done) {
		for (i = 0; i < 8; i++)
			stored[i] = race.stored[i];
		ghyvi_gtt_sync(fake.gtt, NULL);
		for (i = 0; i < 8; i++) {
			found = fake.gtt->ggtt_tables[FIRST_GGTT_TABLE + i]->snapshot[0];
			assert_true(ghyvi_entry_gfn(found) >= ghyvi_entry_gfn(stored[i]));
		}
		race.syncs++;
	}
	pthread_join(thread, NULL);
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (i = 0; i < 8; i++)
		assert_true(fake.ggtt[FIRST + i * GHYVI_ENTRIES] ==
			    spte(ghyvi_entry_gfn(race.stored[i])));
	assert_true(race.faults > 20);
	fake.gtt->params.ggtt_user = &fake.ggtt_user;
	pthread_mutex_destroy(&race.mmu);
}

#define RELAXED_TEST(function) cmocka_unit_test_setup_teardown(function, relaxed_setup, fini)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RELAXED_TEST(no_page_of_guest_memory_is_protected),
		RELAXED_TEST(a_sync_compares_the_tables_of_its_tree_only),
		RELAXED_TEST(a_freed_table_is_mapped_as_data_at_the_next_sync),
		RELAXED_TEST(a_table_that_is_refused_as_data_costs_no_scan),
		RELAXED_TEST(a_freed_table_is_data_of_any_kind),
		RELAXED_TEST(no_table_is_made_of_what_an_unlinked_directory_holds),
		RELAXED_TEST(a_table_that_moves_within_its_tree_is_compared),
		RELAXED_TEST(a_page_table_that_changes_trees_is_compared_for_the_new_one_only),
		RELAXED_TEST(a_guest_that_goes_on_storing_does_not_prolong_a_sync),
		RELAXED_TEST(a_page_table_that_leaves_shared_tables_is_compared),
		RELAXED_TEST(a_guest_that_links_more_and_more_does_not_prolong_a_sync),
		RELAXED_TEST(a_freed_table_is_found_without_protection),
		RELAXED_TEST(a_freed_table_is_found_after_a_switch_to_nested),
		RELAXED_TEST(a_freed_table_is_mapped_in_the_aperture),
		RELAXED_TEST(a_guest_causes_one_look_in_vain_between_syncs),
		RELAXED_TEST(ggtt_pages_without_stores_are_unmapped_and_not_compared),
		RELAXED_TEST(a_fault_makes_its_page_compared_until_it_was_clean_for_long),
		RELAXED_TEST(the_host_reads_what_the_guest_stored_after_a_fault),
		RELAXED_TEST(the_self_check_forgives_a_store_after_the_sync),
		RELAXED_TEST(a_bar_that_moves_loses_its_protection),
		RELAXED_TEST(the_kind_of_protection_changes_with_the_policy),
		RELAXED_TEST(only_pages_of_the_table_can_be_mapped),
		RELAXED_TEST(pages_are_mapped_during_a_self_check),
		RELAXED_TEST(no_store_is_lost_between_a_fault_and_a_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
