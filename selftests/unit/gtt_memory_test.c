// SPDX-License-Identifier: GPL-2.0-only
/* Guest memory that cannot be pinned or is unmapped, the GGTT, the self-check. */
#include "gtt_fake.h"

static void enomem_evicts_idle_pins(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PT_GFN, 1, pte(DATA + 1));
	root = get_root4(PML4_GFN);
	write_pte(PT_GFN, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	fake.pin_limit = fake.pinned;
	write_pte(PT_GFN, 2, pte(DATA + 2));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(fake.pins[DATA], 0);
	assert_true(shadow_pt(root)[2] == spte(DATA + 2));
	/* for a table page as well */
	write_pte(PT_GFN, 2, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	assert_int_equal(fake.pins[PT2_GFN], 1);
	/* without an idle pin to evict, the entry maps scratch */
	write_pte(PT_GFN, 3, pte(DATA + 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[3]));
	assert_int_equal(STAT(pin_failures), 2); /* at the trap, and again in the sync */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void bind_and_unbind(struct ghyvi_root *root, u64 gfn)
{
	write_pte(PT_GFN, 0, pte(gfn));
	write_pte(PT_GFN, 0, 0);
	ghyvi_gtt_sync(fake.gtt, root);
}

static void idle_pins_that_were_used_again_stay_longer(void **state)
{
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	struct ghyvi_root *root;

	tuning.idle_pins = 3;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	bind_and_unbind(root, DATA);
	bind_and_unbind(root, DATA + 1);
	bind_and_unbind(root, DATA + 2);
	assert_int_equal(fake.gtt->nr_idle_pins, 3);
	bind_and_unbind(root, DATA);
	write_pte(PT_GFN, 1, pte(DATA + 1)); /* in use, after it was idle for longest */
	bind_and_unbind(root, DATA + 3);
	assert_int_equal(fake.gtt->nr_idle_pins, 3);
	bind_and_unbind(root, DATA + 4);
	assert_int_equal(fake.gtt->nr_idle_pins, 1);
	assert_int_equal(fake.pins[DATA], 1);
	assert_int_equal(fake.pins[DATA + 1], 1);
	assert_int_equal(fake.pins[DATA + 2] + fake.pins[DATA + 3] + fake.pins[DATA + 4], 0);
	assert_true(shadow_pt(root)[1] == spte(DATA + 1));
	/* Only once. */
	bind_and_unbind(root, DATA + 2);
	bind_and_unbind(root, DATA + 3);
	bind_and_unbind(root, DATA + 4);
	assert_int_equal(fake.pins[DATA], 0);
}

static void pins_of_distant_and_of_adjacent_pages(void **state)
{
	static const u64 gfns[] = {
		DATA, DATA + 1, DATA + 64 * 64, DATA + 64 * 64 + 1, DATA + 64 * 128, RAM_PAGES - 1
	};
	struct ghyvi_root *root;
	u32 i;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	for (i = 0; i < ARRAY_SIZE(gfns); i++)
		write_pte(PT_GFN, i, pte(gfns[i]));
	for (i = 0; i < ARRAY_SIZE(gfns); i++)
		assert_true(shadow_pt(root)[i] == spte(gfns[i]));
	/* Only the pages of the range are released if it begins and ends inside a block of pins. */
	set_absent(DATA + 1, true);
	set_absent(DATA + 64 * 64, true);
	ghyvi_gtt_unmap(fake.gtt, DATA + 1, 64 * 64);
	for (i = 0; i < ARRAY_SIZE(gfns); i++) {
		assert_int_equal(fake.pins[gfns[i]], i != 1 && i != 2);
		assert_true(shadow_pt(root)[i] == spte(gfns[i]) || is_scratch(shadow_pt(root)[i]));
	}
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void a_pinned_page_that_is_a_table_is_not_data(void **state)
{
	struct ghyvi_root *root;

	ghyvi_gtt_set_policy(fake.gtt, "strict");
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_root4(PML4_GFN);
	write_pte(PD_GFN, 1, pte(DATA));
	write_pte(PT_GFN, 1, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[1]));
	write_pte(PD_GFN, 1, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PT_GFN, 2, pte(DATA));
	assert_true(shadow_pt(root)[2] == spte(DATA));
	/* A table that is pinned as the root of a nested job, too. */
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	ghyvi_gtt_put_root(ghyvi_gtt_get_root(fake.gtt, (u64[]){ PT_GFN << 12 }, 4));
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	write_pte(PT_GFN, 3, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[3]));
}

/*
 * No page can be protected, so one sync finds both the end of a table and the new use of its page.
 */
static void a_table_that_becomes_data(void **state)
{
	struct ghyvi_root *root;

	fake.protect_broken = true;
	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PT2_GFN, 0, pte(DATA + 1));
	root = get_synced_root4(PML4_GFN);
	write_pte(PD_GFN, 0, 0);
	write_pte(PT2_GFN, 0, pte(PT_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_table(fake.held[0].dma, 3, 0u, 0u, 1u)[0] == spte(PT_GFN));
}

static void ggtt_entries_are_gone_before_their_page_is_evicted(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	fake.guest_ggtt[first] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == spte(DATA));
	/* One comparison frees DATA and then needs its room for DATA + 1. */
	fake.pin_limit = 1;
	fake.guest_ggtt[first] = 0;
	fake.guest_ggtt[first + 1] = pte(DATA + 1);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == 0);
	assert_true(fake.ggtt[first + 1] == spte(DATA + 1));
}

static void two_failed_pins_in_one_line_of_the_ggtt(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;
	u32 i;

	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		fake.guest_ggtt[first + i] = pte(DATA + i);
	ghyvi_gtt_sync(fake.gtt, NULL);
	fake.pin_limit = fake.pinned;
	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		write_pte(BAR_GFN + FIRST_GGTT_TABLE, i, pte(DATA + 100 + i));
	/* The fake asserts that no entry maps a page when it is unpinned. */
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (i = 0; i < GHYVI_PTES_PER_LINE; i++)
		assert_true(fake.ggtt[first + i] == spte(DATA + 100 + i) ||
			    is_scratch(fake.ggtt[first + i]));
}

static void a_page_that_cannot_be_owned_is_scratch(void **state)
{
	struct ghyvi_root *root;
	u64 gpa = PML4_B_GFN << 12;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	fake.own_limit = fake.owned_pages;
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PD_GFN, 1, pte(PT2_GFN));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 2, 0u, 0u)[1], 2));
	assert_int_equal(fake.pins[DATA] + fake.pins[PT2_GFN], 0);
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -ENOMEM);
	assert_int_equal(fake.pins[PML4_B_GFN], 0);
}

static void unmap_of_a_data_page(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = pte(DATA);
	root = get_synced_root4(PML4_GFN);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA - 3, 7);
	assert_int_equal(fake.pins[DATA], 0);
	assert_true(is_scratch(shadow_pt(root)[0]));
	assert_true(is_scratch(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3]));
	set_absent(DATA, false);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 3] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Values that the host uses internally and a guest may know. */
static void entries_that_are_not_present_never_map_scratch(void **state)
{
	struct ghyvi_root *root;
	u32 i;

	build_tree(PML4_GFN);
	for (i = 0; i < 64; i++)
		write_pte(PT_GFN, i, BIT_ULL(i) & ~1ull);
	root = get_synced_root4(PML4_GFN);
	for (i = 0; i < 64; i++)
		assert_int_equal(shadow_pt(root)[i], 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/*
	 * The value of a stale snapshot entry: scratch may stay, because the compare finds no
	 * change.
	 */
	write_pte(PT_GFN, 0, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, root);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	write_pte(PT_GFN, 0, GHYVI_SNAPSHOT_STALE);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void unmap_of_table_pages(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	root = get_synced_root4(PML4_GFN);
	ghyvi_gtt_unmap(fake.gtt, PD_GFN, 2);
	assert_int_equal(fake.pins[PD_GFN] + fake.pins[PT_GFN] + fake.pins[DATA], 0);
	assert_false(fake.protected[PD_GFN] || fake.protected[PT_GFN]);
	assert_true(maps_scratch(shadow_table(fake.held[0].dma, 1, 0u)[0], 3));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == spte(DATA));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* A running job has the address of the root's shadow page. That page stays, and maps scratch. */
static void unmap_of_a_held_root(bool forgotten)
{
	u64 dma;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	get_root4(PML4_GFN);
	dma = fake.held[0].dma;
	if (forgotten)
		forget_root4(PML4_GFN);
	ghyvi_gtt_unmap(fake.gtt, PML4_GFN, DATA);
	assert_int_equal(fake.pins[PML4_GFN] + fake.pins[PDP_GFN] + fake.pins[DATA], 0);
	assert_true(dma == ghyvi_root_dma(fake.held[0].root));
	assert_int_equal(kind_of(dma), GHYVI_PAGE_TABLE);
	assert_true(maps_scratch(shadow_table(dma, 0)[0], 4));
	assert_true(maps_scratch(shadow_table(dma, 0)[511], 4));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, fake.held[0].root), 0);
	get_root4(PML4_GFN); /* memory is back */
	assert_true(shadow_pt(fake.held[1].root)[0] == spte(DATA));
	put_all_roots();
	assert_int_equal(kind_of(dma), 3);
}

static void unmap_of_a_root(void **state)
{
	unmap_of_a_held_root(false);
}

static void unmap_of_a_forgotten_root(void **state)
{
	unmap_of_a_held_root(true);
}

static void freed_table_pages_lose_their_protection(void **state)
{
	build_tree(PML4_GFN);
	get_root4(PML4_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	write_pte(PDP_GFN, 0, 0);
	assert_false(fake.protected[PD_GFN] || fake.protected[PT_GFN]);
	assert_true(fake.protected[PDP_GFN]);
	put_all_roots();
	forget_root4(PML4_GFN);
	assert_int_equal(STAT(protected_now), 0);
	assert_int_equal(fake.pinned, 0);
}

static void ggtt_is_compared_until_live_and_protected_after(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(STAT(protected_now), 0);
	write_pte(BAR_GFN, first + 1, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first + 1] == spte(DATA));
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	assert_int_equal(STAT(protected_now), fake.ggtt_tables);
	assert_true(fake.protected[BAR_GFN + FIRST_GGTT_TABLE] && !fake.protected[BAR_GFN]);
	write_pte(BAR_GFN, first + 1, pte(DATA + 1) & ~2ull); /* no write bit in the GGTT */
	assert_true(fake.ggtt[first + 1] == spte(DATA + 1));
	write_pte(BAR_GFN, first + 2, pte(RAM_PAGES));
	assert_true(is_scratch(fake.ggtt[first + 2]));
	write_pte(BAR_GFN, first + 1, 0);
	assert_true(fake.ggtt[first + 1] == 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, NULL), 0);
}

static void ggtt_remapped_and_hidden(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN - 50);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.protected[BAR_GFN - 50 + FIRST_GGTT_TABLE]);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	assert_false(fake.protected[BAR_GFN - 50 + FIRST_GGTT_TABLE]);
	write_pte(BAR_GFN, first, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == spte(DATA) && !fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	assert_int_equal(STAT(protected_now), 0);
	fake.guest_ggtt[first] = 0;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first] == 0);
}

static void ggtt_pages_that_cannot_be_protected(void **state)
{
	u64 first = FIRST_GGTT_TABLE * 512;

	fake.protect_broken_at[BAR_GFN + FIRST_GGTT_TABLE + 1] = true;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(STAT(protected_now), fake.ggtt_tables - 1);
	assert_int_equal(STAT(relaxed_now), 1);
	write_pte(BAR_GFN, first + 512, pte(DATA));
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_true(fake.ggtt[first + 512] == spte(DATA));
}

static void global_addresses_are_read_and_written_where_the_guest_maps_them(void **state)
{
	u64 address = FIRST_GGTT_TABLE * SPAN, value = 0x1122334455667788, got = 0;

	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 1] = pte(DATA + 5);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 3] = pte(RAM_PAGES);
	/* The host uses the current entry, although no sync followed the store. */
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address, &got, 8), 0);
	ghyvi_gtt_sync(fake.gtt, NULL);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 4092, &value, 8), 0);
	assert_int_equal(*(u32 *)((u8 *)guest_page(DATA) + 4092), 0x55667788);
	assert_int_equal(*(u32 *)guest_page(DATA + 5), 0x11223344);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address + 4092, &got, 8), 0);
	assert_true(got == value);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 8188, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, address + 3 * 4096, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, 0, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ~0ull - 3, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, address + 4 * SPAN, &got, 4), -EFAULT);
}

static void corrupt(struct ghyvi_root *root, u64 *entry, u64 value)
{
	u64 right = *entry;

	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	*entry = value;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	*entry = right;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void the_self_check_finds_corrupted_entries(void **state)
{
	struct ghyvi_root *root;
	u64 *pt;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 1, pte(DATA));
	write_pte(PT_GFN, 2, pte(DATA + 1) & ~2ull);
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512] = pte(DATA + 2);
	root = get_synced_root4(PML4_GFN);
	pt = shadow_pt(root);
	corrupt(root, pt, spte(DATA)); /* not present in the guest */
	corrupt(root, pt + 1, 0); /* lost */
	corrupt(root, pt + 1, spte(DATA + 1)); /* another page */
	corrupt(root, pt + 1, pt[1] & ~2ull);
	corrupt(root, pt + 2, pt[2] | 2);
	corrupt(root, shadow_table(fake.held[0].dma, 2, 0u, 0u), spte(DATA));
	corrupt(root, &fake.ggtt[FIRST_GGTT_TABLE * 512], 0);
	assert_int_equal(STAT(check_differences), 7);
	assert_int_equal(STAT(checks), 21);
}

static struct ghyvi_table_page *table_at(u64 gfn)
{
	return xa_load(&fake.gtt->tables, gfn);
}

/*
 * The check of @root says once that stores may be missed, until a synchronisation meets what is
 * relaxed again.
 */
static void assert_forgotten(struct ghyvi_root *root, struct ghyvi_table_page *table,
			     struct list_head *list)
{
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(strstr(fake.reporter.last, "stores may be missed"));
	list_move_tail(&table->relaxed_node, list);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void the_self_check_finds_relaxed_pages_that_are_not_compared(void **state)
{
	struct ghyvi_root *root, *other;
	struct ghyvi_table_page *table, *ggtt = fake.gtt->ggtt_tables[FIRST_GGTT_TABLE];

	ghyvi_gtt_set_policy(fake.gtt, "full");
	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	table = table_at(4);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	list_move_tail(&table->relaxed_node, &other->tree.relaxed);
	assert_forgotten(root, table, &root->tree.relaxed);
	list_del_init(&table->relaxed_node);
	assert_forgotten(root, table, &root->tree.relaxed);
	list_del_init(&ggtt->relaxed_node);
	assert_forgotten(root, ggtt, &fake.gtt->shared_tree.relaxed);
	list_move_tail(&ggtt->relaxed_node, &other->tree.relaxed);
	assert_forgotten(root, ggtt, &fake.gtt->shared_tree.relaxed);
}

static void the_self_check_knows_what_a_synchronisation_was_for(void **state)
{
	struct ghyvi_root *root, *other;

	ghyvi_gtt_set_policy(fake.gtt, "segmented");
	build_tree(PML4_GFN);
	build_tree(PML4_B_GFN);
	root = get_root4(PML4_GFN);
	other = get_root4(PML4_B_GFN);
	ghyvi_gtt_sync(fake.gtt, root);
	write_pte(PT_GFN, 0, pte(DATA)); /* relaxed now */
	ghyvi_gtt_sync(fake.gtt, other);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	ghyvi_gtt_flush(fake.gtt);
	write_pte(PT_GFN, 1, pte(DATA + 1)); /* not seen */
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* As if all pages except this one had been synced. */
	table_at(4)->compared--;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, other), 0);
}

/* An invalidation may stop the guest's jobs, so one must do for all that an unmap frees. */
static void an_unmap_invalidates_once(void **state)
{
	u64 gpa4[4] = { PDP_GFN << 12, 0, 0, 0 };
	u32 before;
	u64 gfn;

	build_tree(PML4_GFN);
	for (gfn = 0; gfn < 40; gfn++)
		write_pte(PT_GFN, gfn, pte(DATA + gfn));
	get_root4(PML4_GFN);
	put_all_roots();
	get_root(gpa4, 3); /* a root that has a top page of the host's own */
	put_all_roots();
	before = fake.invalidations;
	ghyvi_gtt_unmap(fake.gtt, 0, RAM_PAGES);
	assert_int_equal(fake.invalidations, before + 1);
	assert_int_equal(fake.pinned, 0);
}

static void a_released_root_invalidates_once(void **state)
{
	u64 gpa4[4] = { PD_GFN << 12, PD_GFN << 12, PD_GFN << 12, PD_GFN << 12 };
	u32 before;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	get_root(gpa4, 3);
	ghyvi_gtt_forget_roots(fake.gtt);
	before = fake.invalidations;
	put_all_roots();
	assert_int_equal(fake.invalidations, before + 1);
	assert_int_equal(STAT(tables_now), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(enomem_evicts_idle_pins),
		TEST(idle_pins_that_were_used_again_stay_longer),
		TEST(pins_of_distant_and_of_adjacent_pages),
		TEST(a_pinned_page_that_is_a_table_is_not_data),
		TEST(a_table_that_becomes_data),
		TEST(ggtt_entries_are_gone_before_their_page_is_evicted),
		TEST(two_failed_pins_in_one_line_of_the_ggtt),
		TEST(a_page_that_cannot_be_owned_is_scratch),
		TEST(unmap_of_a_data_page),
		TEST(entries_that_are_not_present_never_map_scratch),
		TEST(unmap_of_table_pages),
		TEST(unmap_of_a_root),
		TEST(unmap_of_a_forgotten_root),
		TEST(freed_table_pages_lose_their_protection),
		TEST(ggtt_is_compared_until_live_and_protected_after),
		TEST(ggtt_remapped_and_hidden),
		TEST(ggtt_pages_that_cannot_be_protected),
		TEST(global_addresses_are_read_and_written_where_the_guest_maps_them),
		TEST(the_self_check_finds_corrupted_entries),
		TEST(the_self_check_finds_relaxed_pages_that_are_not_compared),
		TEST(the_self_check_knows_what_a_synchronisation_was_for),
		TEST(an_unmap_invalidates_once),
		TEST(a_released_root_invalidates_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
