// SPDX-License-Identifier: GPL-2.0-only
/* Translation of PPGTT tables, and when each policy brings them up to date. */
#include "gtt_fake.h"

static void strict(void)
{
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "strict"), 0);
}

static void unused_entries_share_one_scratch_chain(void **state)
{
	unsigned int i;

	/* As i915 does: all unused entries map one scratch chain of PDP, PD, PT and data page. */
	for (i = 0; i < 512; i++) {
		write_pte(PML4_GFN, i, pte(PDP_GFN));
		write_pte(PDP_GFN, i, pte(PD_GFN));
		write_pte(PD_GFN, i, pte(PT_GFN));
		write_pte(PT_GFN, i, pte(DATA));
	}
	assert_false(IS_ERR(get_root4(PML4_GFN)));
	assert_int_equal(STAT(tables_now), 4);
	assert_int_equal(STAT(pinned_pages_now), 5);
	assert_int_equal(fake.pins[DATA], 1);
	assert_true(shadow_table(fake.held[0].dma, 3, 511u, 7u, 300u)[9] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, fake.held[0].root), 0);
}

static void strict_traps_translate_at_once(void **state)
{
	struct ghyvi_root *root;

	strict();
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	assert_true(fake.protected[PML4_GFN] && fake.protected[PDP_GFN] && fake.protected[PD_GFN] &&
		    fake.protected[PT_GFN]);
	write_pte(PT_GFN, 7, pte(DATA));
	write_pte(PT_GFN, 8, pte(DATA) & ~2ull);
	assert_true(shadow_pt(root)[7] == spte(DATA));
	assert_true(shadow_pt(root)[8] == (spte(DATA) & ~2ull));
	assert_int_equal(STAT(table_write_traps), 2);
	assert_int_equal(STAT(relaxes), 0);
	assert_true(fake.protected[PT_GFN]);
}

static void segmented_relaxes_at_the_first_write_and_protects_at_sync(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	assert_true(fake.protected[PML4_GFN] && fake.protected[PDP_GFN] && fake.protected[PD_GFN]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(fake.protected[PT_GFN]);
	write_pte(PT_GFN, 1, pte(DATA));
	assert_false(fake.protected[PT_GFN]);
	assert_int_equal(STAT(relaxes), 1);
	write_pte(PT_GFN, 2, pte(DATA + 1));
	assert_int_equal(STAT(table_write_traps), 1);
	assert_true(shadow_pt(root)[1] == spte(DATA));
	assert_true(shadow_pt(root)[2] == 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[2] == spte(DATA + 1));
	assert_true(fake.protected[PT_GFN]);
	write_pte(PD_GFN, 5, pte(PT3_GFN));
	assert_true(fake.protected[PD_GFN]);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 5u)[0] == 0);
}

static void flush_updates_without_protecting_and_invalidates(void **state)
{
	struct ghyvi_root *root;
	u32 before;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA));
	before = fake.invalidations;
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[1] == spte(DATA));
	assert_false(fake.protected[PT_GFN]);
	assert_true(fake.invalidations > before);
	write_pte(PT_GFN, 1, 0);
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[1] == 0);
}

static void cleared_entries_leave_the_shadow_and_reset_releases_the_pin(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA));
	root = get_root4(PML4_GFN);
	assert_int_equal(fake.pins[DATA], 1);
	write_pte(PT_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == 0);
	assert_int_equal(fake.pins[DATA], 1); /* idle */
	put_all_roots();
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(pinned_pages_now), 0);
}

static void replaced_entries_follow_and_release_the_old_target(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA));
	root = get_root4(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA + 1));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == spte(DATA + 1));
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_int_equal(fake.pins[DATA], 0);
	/* A whole subtree: PD2 replaces PD. */
	write_pte(PD2_GFN, 0, pte(PT2_GFN));
	write_pte(PT2_GFN, 3, pte(DATA + 2));
	write_pte(PDP_GFN, 0, pte(PD2_GFN));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 0u)[3] == spte(DATA + 2));
	assert_int_equal(fake.pins[PD_GFN] + fake.pins[PT_GFN], 0);
	assert_false(fake.protected[PD_GFN]);
}

static void an_entry_written_in_halves(void **state)
{
	struct ghyvi_root *root;
	unsigned int policy;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	for (policy = 0; policy < 2; policy++) {
		ghyvi_gtt_set_policy(fake.gtt, policy ? "strict" : "segmented");
		write_pte(PT_GFN, 9, pte(DATA));
		guest_write(pte_gpa(PT_GFN, 9) + 4, 4, 1); /* now beyond guest memory */
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(is_scratch(shadow_pt(root)[9]));
		guest_write(pte_gpa(PT_GFN, 9), 4, (u32)pte(DATA + 1));
		guest_write(pte_gpa(PT_GFN, 9) + 4, 4, 0);
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[9] == spte(DATA + 1));
	}
}

static void stores_of_any_size_and_alignment(void **state)
{
	u64 four[4] = { pte(DATA), 0, pte(DATA + 2), pte(DATA + 3) };
	struct ghyvi_root *root;
	unsigned int i;

	strict();
	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN)); /* the guest frame after PT_GFN, too */
	root = get_root4(PML4_GFN);
	guest_write_bytes(pte_gpa(PT_GFN, 10), four, 32);
	for (i = 0; i < 4; i++)
		assert_true(shadow_pt(root)[10 + i] == (four[i] ? spte(DATA + i) : 0));
	/* crosses the page */
	guest_write_bytes(pte_gpa(PT_GFN, 510), four, 32);
	assert_true(shadow_pt(root)[510] == spte(DATA));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[0] == spte(DATA + 2));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[1] == spte(DATA + 3));
	/* 8 bytes over two entries: upper half of 20 and lower half of 21 */
	write_pte(PT_GFN, 20, pte(DATA + 1));
	guest_write(pte_gpa(PT_GFN, 20) + 4, 8, pte(DATA + 4) << 32);
	assert_true(shadow_pt(root)[20] == spte(DATA + 1));
	assert_true(shadow_pt(root)[21] == spte(DATA + 4));
	guest_write(pte_gpa(PT_GFN, 21) + 1, 1, 0x55);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* crosses into a page that is no table */
	guest_write_bytes(pte_gpa(PT2_GFN, 511), four, 16);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[511] == spte(DATA));
}

static void one_page_as_directory_and_as_page_table(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PT2_GFN, 0, pte(DATA));
	root = get_synced_root4(PML4_GFN);
	/* PT2 is relaxed and changed when it becomes a page directory, too. */
	write_pte(PT2_GFN, 1, pte(PT3_GFN));
	write_pte(PT2_GFN, 2, pte(PT4_GFN));
	write_pte(PT3_GFN, 3, pte(DATA + 1));
	write_pte(PDP_GFN, 1, pte(PT2_GFN));
	assert_true(fake.protected[PT2_GFN]);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 1u, 1u)[3] == spte(DATA + 1));
	/*
	 * Its use as a page table continues. Entry 1 maps a table page, which engines must not
	 * write.
	 */
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[0] == spte(DATA));
	write_pte(PT2_GFN, 4, pte(DATA + 2));
	assert_true(fake.protected[PT2_GFN]);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[4] == spte(DATA + 2));
	write_pte(PDP_GFN, 1, 0);
	write_pte(PT2_GFN, 5, pte(DATA + 3)); /* a leaf again: relaxed */
	assert_false(fake.protected[PT2_GFN]);
}

static void self_map_at_every_level(void **state)
{
	struct ghyvi_root *root;

	write_pte(PML4_GFN, 0, pte(PML4_GFN));
	write_pte(PML4_GFN, 1, pte(DATA));
	root = get_root4(PML4_GFN);
	assert_false(IS_ERR(root));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[0])); /* engines would write the table */
	write_pte(PML4_GFN, 0, pte(DATA + 1));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	write_pte(PML4_GFN, 2, pte(PML4_GFN));
	assert_true(is_scratch(shadow_table(fake.held[0].dma, 3, 2u, 2u, 2u)[2]));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	put_all_roots();
	forget_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), 0);
	assert_int_equal(fake.pins[PML4_GFN], 0);
}

/* Hardware cannot forbid engines to write through GGTT entries. */
static void the_next_guest_sees_a_clean_scratch_page(void **state)
{
	u32 *page = (u32 *)fake.gtt->scratch[0];

	page[7] = 0x12345678;
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(page[7], 0);
	assert_int_equal(fake.client_resets, 1);
}

static void bogus_entries_point_at_scratch_and_are_counted(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PML4_GFN, 1, pte(RAM_PAGES + 1));
	write_pte(PDP_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_LARGE);
	write_pte(PD_GFN, 1, pte(PT2_GFN) | GHYVI_ENTRY_LARGE);
	write_pte(PT_GFN, 1, pte(RAM_PAGES));
	write_pte(PT_GFN, 2, pte(PDP_GFN));
	root = get_root4(PML4_GFN);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 0)[1], 4));
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[1], 3));
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 2, 0u, 0u)[1], 2));
	assert_true(is_scratch(shadow_pt(root)[1]));
	assert_true(is_scratch(shadow_pt(root)[2]));
	assert_int_equal(STAT(entries_rejected), 5);
	assert_int_equal(fake.pins[PT2_GFN], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_report_last(&fake.reporter, (char[GHYVI_REPORT_BYTES]){ 0 }, GHYVI_REPORT_BYTES);
	/* The last one. */
	assert_string_equal(
		fake.reporter.last,
		"table entry 0x4001003 of level 4 cannot be translated (-14), scratch page used");
	ghyvi_gtt_sync(fake.gtt, root);
	fake.reporter.last[0] = '\0';
	write_pte(PT_GFN, 3, pte(DATA));
	assert_string_equal(fake.reporter.last, "");
}

/* Each large page takes 511 pins before it fails. */
static void a_sync_of_scattered_large_pages_reschedules(void **state)
{
	unsigned long before;
	u32 i;

	build_tree(PML4_GFN);
	set_absent(LARGE_WHOLE + 511, true);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		write_pte(PD_GFN, i, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	before = shim_rescheds;
	get_root4(PML4_GFN);
	assert_int_equal(STAT(entries_rejected), GHYVI_ENTRIES);
	assert_true(shim_rescheds - before >= GHYVI_ENTRIES / GHYVI_PTES_PER_LINE);
}

static void bits_outside_the_address_field_are_ignored(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA) | BIT_ULL(63) | BIT_ULL(40) | 0xff8);
	write_pte(PT_GFN, 1, pte(DATA) & ~1ull); /* not present */
	root = get_root4(PML4_GFN);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_true(shadow_pt(root)[1] == 0);
}

static void policy_switch_while_relaxed(void **state)
{
	struct ghyvi_root *root;
	char names[96];

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[segmented]"));
	write_pte(PT_GFN, 1, pte(DATA));
	strict();
	assert_true(fake.protected[PT_GFN]);
	assert_true(shadow_pt(root)[1] == spte(DATA));
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[strict]"));
	assert_int_equal(names[strlen(names) - 1], '\n');
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nonsense"), -EINVAL);
	write_pte(PT_GFN, 2, pte(DATA));
	assert_true(fake.protected[PT_GFN]);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	write_pte(PT_GFN, 3, pte(DATA));
	assert_false(fake.protected[PT_GFN]);
}

static void a_page_that_cannot_be_protected_is_compared_at_each_sync(void **state)
{
	struct ghyvi_root *root;

	strict();
	fake.protect_broken = true;
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA));
	write_pte(PDP_GFN, 1, pte(PD2_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == spte(DATA));
	assert_true(shadow_table(fake.held[0].dma, 2, 0u, 1u)[0] == 0);
	write_pte(PT_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == 0);
	fake.protect_broken = false;
	/* The failure of one page of a batch does not affect the others. */
	fake.protect_broken_at[PD_GFN] = true;
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(fake.protected[PML4_GFN] && fake.protected[PDP_GFN] &&
		    !fake.protected[PD_GFN] && fake.protected[PT_GFN]);
	write_pte(PD_GFN, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(fake.held[0].dma, 2, 0u, 0u)[0] == 0);
}

/*
 * Without protection upper levels are compared, too. Only that comparison finds the trees of a
 * stale page.
 */
static void a_page_that_a_second_tree_links_is_synced_for_it(void **state)
{
	struct ghyvi_root *first, *second;

	fake.protect_broken = true;
	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	first = get_root4(PML4_GFN);
	second = get_root4(PML4_B_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PD_B_GFN, 5, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, second);
	assert_int_equal(shadow_table(ghyvi_root_dma(second), 3, 0u, 0u, 5u)[0], spte(DATA));
	assert_int_equal(shadow_pt(first)[0], spte(DATA));
}

/* All tables below become shared at once. */
static void linking_a_large_tree_to_a_second_root_reschedules(void **state)
{
	unsigned long before;
	u32 i;

	build_tree(PML4_GFN);
	for (i = 1; i < 300; i++)
		write_pte(PD_GFN, i, pte(FIRST_FREE_GFN + i));
	get_root4(PML4_GFN);
	write_pte(PML4_B_GFN, 0, pte(PDP_GFN));
	before = shim_rescheds;
	get_root4(PML4_B_GFN);
	assert_true(shim_rescheds - before >= 300);
}

/* The number of users of the root that debugfs shows. */
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

static unsigned int submissions;

/* Aborts if the thread holds the lock. */
static void submit_meanwhile(void)
{
	mutex_lock(&fake.gtt->lock);
	submissions++;
	mutex_unlock(&fake.gtt->lock);
}

static void the_dump_lets_submissions_in_between_tables(void **state)
{
	char *text = NULL, *at;
	size_t bytes;
	struct seq_file m = { .f = open_memstream(&text, &bytes) };
	u32 i, lines = 0;

	build_tree(PML4_GFN);
	for (i = 1; i < 300; i++)
		write_pte(PD_GFN, i, pte(FIRST_FREE_GFN + i));
	get_root4(PML4_GFN);
	submissions = 0;
	shim_on_resched = submit_meanwhile;
	ghyvi_gtt_dump(fake.gtt, &m);
	shim_on_resched = NULL;
	fclose(m.f);
	for (at = text; (at = strstr(at, "\ntable ")); at++)
		lines++;
	free(text);
	assert_int_equal(lines, fake.gtt->nr_tables);
	assert_in_range(submissions, 300 / 50, 300);
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
 * Each tree counts its own syncs. A page may move to a tree that has counted more, or fewer.
 */
static void a_page_that_changes_trees_keeps_its_gap(void **state)
{
	const struct ghyvi_experience *experience = &fake.gtt->experience;
	struct ghyvi_root *first, *second;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	build_tree(PML4_B_GFN);
	first = get_root4(PML4_GFN);
	second = get_root4(PML4_B_GFN);
	sync_times(second, 1000);
	write_pte(PT_GFN, 1, pte(DATA + 1));
	sync_times(first, 3);
	/* The pages of the first root become shared. */
	write_pte(PD_B_GFN, 1, pte(PT_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT_GFN, 1, pte(DATA + 2));
	assert_int_equal(history_of(PT_GFN)->gap_context, 1 + ghyvi_duration_class(2));
	assert_int_equal(
		experience->forecasts[GHYVI_GAP_UNKNOWN].gaps.longest[ghyvi_duration_class(2)], 2);
	sync_times(second, 5);
	/* Now only the second tree links it, which has counted fewer. */
	write_pte(PD_GFN, 0, 0);
	sync_times(first, 2);
	write_pte(PT_GFN, 1, pte(DATA + 3));
	assert_int_equal(history_of(PT_GFN)->gap_context, 1 + ghyvi_duration_class(4));
	assert_int_equal(experience->forecasts[1 + ghyvi_duration_class(2)]
				 .gaps.longest[ghyvi_duration_class(4)],
			 4);
}

/* Gaps of pages of the GGTT say nothing about those of page tables, nor these about those. */
static void the_ggtt_has_its_own_experience(void **state)
{
	const struct ghyvi_histogram *gaps = &fake.gtt->experience.all_gaps;
	const struct ghyvi_histogram *ggtt_gaps = &fake.gtt->ggtt_experience.all_gaps;
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	ghyvi_gtt_set_policy(fake.gtt, "adaptive");
	for (i = 0; i < 4; i++) {
		fake.guest_ggtt[FIRST_GGTT_TABLE * GHYVI_ENTRIES] = pte(DATA + i);
		sync_times(root, 3);
	}
	assert_int_equal(ggtt_gaps->total, 4); /* the first began with the policy */
	assert_int_equal(gaps->total, 0);
	for (i = 0; i < 3; i++) {
		write_pte(PT_GFN, 0, pte(DATA + i));
		sync_times(root, 5);
	}
	assert_int_equal(ggtt_gaps->total, 4);
	assert_int_equal(gaps->total, 3);
	/* The next user of the vGPU does not pay for that. */
	ghyvi_gtt_forget_guest(fake.gtt);
	assert_int_equal(ggtt_gaps->total, 0);
	assert_int_equal(gaps->total, 0);
}

static void the_dump_counts_users_of_a_root(void **state)
{
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	assert_int_equal(users_in_dump(), 1);
	get_root4(PML4_GFN);
	assert_int_equal(users_in_dump(), 2);
	forget_root4(PML4_GFN);
	assert_int_equal(users_in_dump(), 2);
	put_root(1);
	assert_int_equal(users_in_dump(), 1);
}

static void lost_protection_is_restored_by_the_next_sync(void **state)
{
	struct ghyvi_root *root;

	strict();
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	memset((void *)fake.protected, 0, 100);
	ghyvi_gtt_protection_lost(fake.gtt, 0, 100);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(STAT(relaxed_now), 4 + fake.ggtt_tables);
	write_pte(PT_GFN, 1, pte(DATA));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[1] == spte(DATA));
	assert_true(fake.protected[PML4_GFN] && fake.protected[PT_GFN] && fake.protected[PT2_GFN]);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static int race_index;
static void store_without_a_trap(void)
{
	u64 value = pte(PT4_GFN);

	/* A store to the PML4 that does not trap: protection fails or is not established yet. */
	if (race_index && !fake.protected[PML4_GFN]) {
		assert_false(guest_store(pte_gpa(PML4_GFN, race_index), &value, 8));
		race_index = 0;
	}
}

/*
 * A scan that began before the page was protected must not be the last one. Entry 300 of the page
 * points, through page @via, to the page itself. The flush that finds it protects the page. Until
 * then another vCPU stores to entry 1.
 */
static void protected_in_the_middle_of_its_scan(u64 via)
{
	struct ghyvi_root *root;

	fake.protect_broken_at[PML4_GFN] = true;
	write_pte(PML4_GFN, 511, pte(PDP_GFN));
	write_pte(PT2_GFN, 0, pte(PML4_GFN));
	root = get_root4(PML4_GFN);
	fake.protect_broken_at[PML4_GFN] = false;
	write_pte(PML4_GFN, 300, pte(via));
	race_index = 1;
	fake.race = store_without_a_trap;
	ghyvi_gtt_flush(fake.gtt);
	fake.race = NULL;
	assert_int_equal(race_index, 0);
	assert_true(fake.protected[PML4_GFN]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow_table(fake.held[0].dma, 0)[1] & 1);
}

static void a_page_protected_during_its_scan_stays_relaxed(void **state)
{
	protected_in_the_middle_of_its_scan(1);
}

/* The page has no deferred entry, which would keep it on the relaxed list. */
static void a_page_without_deferred_entries_stays_relaxed_too(void **state)
{
	protected_in_the_middle_of_its_scan(5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unused_entries_share_one_scratch_chain),
		TEST(strict_traps_translate_at_once),
		TEST(segmented_relaxes_at_the_first_write_and_protects_at_sync),
		TEST(flush_updates_without_protecting_and_invalidates),
		TEST(cleared_entries_leave_the_shadow_and_reset_releases_the_pin),
		TEST(replaced_entries_follow_and_release_the_old_target),
		TEST(an_entry_written_in_halves),
		TEST(stores_of_any_size_and_alignment),
		TEST(one_page_as_directory_and_as_page_table),
		TEST(self_map_at_every_level),
		TEST(the_next_guest_sees_a_clean_scratch_page),
		TEST(bogus_entries_point_at_scratch_and_are_counted),
		TEST(a_sync_of_scattered_large_pages_reschedules),
		TEST(bits_outside_the_address_field_are_ignored),
		TEST(policy_switch_while_relaxed),
		TEST(a_page_that_cannot_be_protected_is_compared_at_each_sync),
		TEST(a_page_that_a_second_tree_links_is_synced_for_it),
		TEST(linking_a_large_tree_to_a_second_root_reschedules),
		TEST(the_dump_lets_submissions_in_between_tables),
		TEST(a_page_that_changes_trees_keeps_its_gap),
		TEST(the_ggtt_has_its_own_experience),
		TEST(the_dump_counts_users_of_a_root),
		TEST(lost_protection_is_restored_by_the_next_sync),
		TEST(a_page_protected_during_its_scan_stays_relaxed),
		TEST(a_page_without_deferred_entries_stays_relaxed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
