// SPDX-License-Identifier: GPL-2.0-only
/* The policy "nested": no shadows, policy switches, pages mapped for the pGPU. */
#include "gtt_fake.h"

#define FIRST (FIRST_GGTT_TABLE * 512)
#define ADDRESS (FIRST_GGTT_TABLE * SPAN)

static void policy(const char *name)
{
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, name), 0);
}

static void nothing_is_protected(void)
{
	u32 i;

	for (i = 0; i < GFNS; i++)
		assert_false(fake.protected[i]);
	assert_int_equal(STAT(protected_now), 0);
}

static void entering_drops_all_shadows(void **state)
{
	u64 traps;

	policy("strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(BAR_GFN, FIRST, pte(DATA + 1));
	get_root4(PML4_GFN);
	put_all_roots();
	assert_true(fake.protected[PT_GFN] && fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	assert_true(fake.ggtt[FIRST] == spte(DATA + 1));
	policy("nested");
	nothing_is_protected();
	assert_int_equal(STAT(tables_now) + STAT(relaxed_now), 0);
	assert_true(fake.ggtt[FIRST] == 0);
	traps = STAT(scans);
	write_pte(PT_GFN, 1, pte(DATA + 2));
	write_pte(BAR_GFN, FIRST + 1, pte(DATA + 3));
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_flush(fake.gtt);
	assert_int_equal(STAT(scans), traps);
	/* A trap from before the switch arrives late. */
	ghyvi_gtt_trap(fake.gtt, pte_gpa(BAR_GFN, FIRST + 1), 8);
	assert_true(fake.ggtt[FIRST + 1] == 0);
	ghyvi_gtt_protection_lost(fake.gtt, 0, GFNS);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN + 500);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	assert_int_equal(STAT(relaxed_now), 0);
}

static void leaving_shadows_everything_again(void **state)
{
	struct ghyvi_root *root;

	policy("nested");
	ghyvi_gtt_ggtt_live(fake.gtt);
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(BAR_GFN, FIRST, pte(DATA + 1));
	root = get_root4(PML4_GFN);
	assert_true(fake.held[0].dma == 0);
	policy("strict");
	assert_true(fake.ggtt[FIRST] == spte(DATA + 1));
	assert_int_equal(STAT(protected_now), fake.ggtt_tables);
	/* The old job stays nested, a new one uses shadows. */
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	assert_true(fake.mapped[DATA]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(checks), 0);
	root = get_root4(PML4_GFN);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_true(fake.protected[PT_GFN]);
	write_pte(PT_GFN, 1, pte(DATA + 2));
	assert_true(shadow_pt(root)[1] == spte(DATA + 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(checks), 1);
	put_root(0);
	assert_int_equal(fake.nr_mapped, 0);
	assert_true(shadow_pt(fake.held[0].root)[0] == spte(DATA));
}

static void held_trees_stay_in_sync_until_they_are_put(void **state)
{
	struct ghyvi_root *root;

	policy("strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	policy("nested");
	nothing_is_protected();
	assert_int_equal(STAT(relaxed_now), 4 + fake.ggtt_tables);
	/* A lite restore of the running job brings changes at every level, and new tables. */
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PT2_GFN, 0, pte(DATA + 1));
	write_pte(BAR_GFN, FIRST, pte(DATA + 2));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[0] == spte(DATA + 1));
	assert_true(fake.ggtt[FIRST] == spte(DATA + 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* A page that the guest unmapped is unreachable after its flush. */
	write_pte(PT_GFN, 0, 0);
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[0] == 0);
	nothing_is_protected();
	/* A job that starts now is nested; the end of the other one releases the shadows. */
	get_root4(PML4_GFN);
	assert_true(fake.held[1].dma == 0);
	put_root(0);
	assert_int_equal(STAT(tables_now) + STAT(relaxed_now), 0);
	assert_true(fake.ggtt[FIRST] == 0);
}

static void a_held_tree_keeps_its_shadow_over_policy_switches(void **state)
{
	struct ghyvi_root *root;
	int i;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	for (i = 0; i < 4; i++) {
		policy(i % 2 ? "strict" : "nested");
		write_pte(PT_GFN, (unsigned int)i, pte(DATA + (u64)i));
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[i] == spte(DATA + (u64)i));
	}
	assert_true(fake.protected[PML4_GFN] && fake.protected[PT_GFN]);
	/* The tree is created again, over the same shadow pages. */
	get_root4(PML4_GFN);
	assert_ptr_not_equal(fake.held[0].root, fake.held[1].root);
	assert_true(fake.held[0].dma == fake.held[1].dma);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* The guest sees the end of a job before the host has put the job's tree. */
static void a_destroyed_tree_has_no_tables_although_it_is_held(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	policy("nested");
	forget_root4(PML4_GFN);
	assert_int_equal(STAT(tables_now), 0);
	assert_null(root->pages[0]->table);
}

static void a_pgpu_without_the_capability(void **state)
{
	char names[128];

	policy("segmented");
	fake.gtt->params.nested = false;
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), -EOPNOTSUPP);
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[segmented] "));
	assert_non_null(strstr(names, " adaptive relaxed nested\n"));
}

static void a_job_gets_the_root_of_its_policy(void **state)
{
	u64 four[4] = { PD2_GFN << 12, PD3_GFN << 12, 0, PD4_GFN << 12 };
	struct ghyvi_job job = { .levels = 7 };
	struct ghyvi_root *root;
	u64 gpa = PML4_GFN << 12;

	policy("nested");
	ghyvi_root_job(get_root(four, 3), &job);
	assert_true(job.nested && job.levels == 3 && !memcmp(job.guest_root, four, sizeof(four)));
	ghyvi_root_job(get_root(&gpa, 4), &job);
	assert_true(job.nested && job.levels == 4 && job.guest_root[0] == gpa);
	gpa = (u64)RAM_PAGES << 12;
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -EFAULT);
	policy("segmented");
	gpa = PML4_GFN << 12;
	root = get_root(&gpa, 4);
	ghyvi_root_job(root, &job);
	assert_true(!job.nested && job.root == ghyvi_root_dma(root) && job.levels == 4);
}

static void pages_are_mapped_once_and_unmapped_with_their_memory(void **state)
{
	policy("nested");
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + 1), 0);
	assert_int_equal(fake.pins[DATA], 1);
	assert_int_equal(STAT(pinned_pages_now), 2);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, RAM_PAGES), -EFAULT);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_true(!fake.mapped[DATA] && fake.mapped[DATA + 1]);
	assert_int_equal(fake.pins[DATA], 0);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), -EFAULT);
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned + fake.nr_mapped, 0);
	/* The client has no memory for another page. */
	fake.map_limit = 0;
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + 1), -ENOMEM);
	assert_int_equal(fake.gtt->nr_idle_pins, 1);
}

static void the_page_mapped_longest_ago_is_unmapped_to_make_room(void **state)
{
	u32 i;

	policy("nested");
	fake.pin_limit = 8;
	for (i = 0; i < 9; i++)
		assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + i), 0);
	assert_int_equal(fake.nr_mapped, 5);
	for (i = 0; i < 9; i++)
		assert_true(fake.mapped[DATA + i] == (i >= 4));
	/* The same with shadows. */
	policy("strict");
	fake.pin_limit = 4;
	build_tree(PML4_GFN);
	assert_false(IS_ERR(get_root4(PML4_GFN)));
	assert_int_equal(fake.nr_mapped, 0);
}

#define IDLE_PINS 1024u

static void the_limit_of_idle_pins_does_not_limit_mapped_pages(void **state)
{
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	u32 i;

	tuning.idle_pins = IDLE_PINS;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	policy("nested");
	for (i = 0; i < 4 * IDLE_PINS; i++)
		assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + i), 0);
	assert_int_equal(fake.nr_mapped, 4 * IDLE_PINS);
	policy("segmented");
	assert_true(STAT(pinned_pages_now) <= IDLE_PINS);
}

static void global_addresses_are_read_and_written_through_the_guests_table(void **state)
{
	u64 value = 0x1122334455667788, got = 0;

	policy("nested");
	fake.guest_ggtt[FIRST] = pte(DATA);
	fake.guest_ggtt[FIRST + 1] = pte(DATA + 5);
	fake.guest_ggtt[FIRST + 3] = pte(RAM_PAGES);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, ADDRESS + 4092, &value, 8), 0);
	assert_int_equal(*(u32 *)((u8 *)guest_page(DATA) + 4092), 0x55667788);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4092, &got, 8), 0);
	assert_true(got == value);
	fake.guest_ggtt[FIRST] = 0;
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4088, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, ADDRESS + 3 * 4096, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, 0, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4 * SPAN, &got, 4), -EFAULT);
	assert_true(fake.mapped[DATA + 5]);
}

static void reset_while_nested_and_shadowed_roots_are_held(void **state)
{
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	policy("nested");
	get_root4(PML4_GFN);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(tables_now), 0);
	put_all_roots();
	assert_int_equal(STAT(relaxed_now), 0);
	get_root4(PML4_GFN);
	policy("strict");
	ghyvi_gtt_sync(fake.gtt, NULL);
}

/* A submission of one context syncs only the pages of its tree. */
static void sync_skips_pages_that_only_another_tree_links(void **state)
{
	const u64 shared = FIRST_FREE_GFN;
	struct ghyvi_root *one, *other;
	u64 scans;

	policy("segmented");
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	write_pte(PD_GFN, 1, pte(shared));
	write_pte(PD_B_GFN, 1, pte(shared));
	one = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PT_B_GFN, 0, pte(DATA + 1));
	assert_int_equal(STAT(relaxed_now), 2);
	guest_page(PT_B_GFN)[1] = pte(DATA + 2);
	scans = STAT(scans);
	ghyvi_gtt_sync(fake.gtt, one);
	assert_int_equal(STAT(scans), scans + 1);
	assert_true(fake.protected[PT_GFN] && !fake.protected[PT_B_GFN]);
	assert_true(shadow_pt(other)[1] == 0);
	ghyvi_gtt_sync(fake.gtt, one);
	assert_int_equal(STAT(scans), scans + 1);
	ghyvi_gtt_sync(fake.gtt, other);
	assert_int_equal(STAT(scans), scans + 2);
	assert_true(shadow_pt(other)[1] == spte(DATA + 2));
	/* A sync of either tree includes the shared page. */
	write_pte(shared, 0, pte(DATA + 3));
	guest_page(shared)[1] = pte(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[1] == spte(DATA + 4));
	assert_true(shadow_table(fake.held[1].dma, 3, 0u, 0u, 1u)[1] == spte(DATA + 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entering_drops_all_shadows),
		TEST(leaving_shadows_everything_again),
		TEST(held_trees_stay_in_sync_until_they_are_put),
		TEST(a_held_tree_keeps_its_shadow_over_policy_switches),
		TEST(a_destroyed_tree_has_no_tables_although_it_is_held),
		TEST(a_pgpu_without_the_capability),
		TEST(a_job_gets_the_root_of_its_policy),
		TEST(pages_are_mapped_once_and_unmapped_with_their_memory),
		TEST(the_page_mapped_longest_ago_is_unmapped_to_make_room),
		TEST(the_limit_of_idle_pins_does_not_limit_mapped_pages),
		TEST(global_addresses_are_read_and_written_through_the_guests_table),
		TEST(reset_while_nested_and_shadowed_roots_are_held),
		TEST(sync_skips_pages_that_only_another_tree_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
