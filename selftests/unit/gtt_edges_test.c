// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ends of buffers, ranges and tables, also in the self-check.
 */
#include "gtt_fake.h"

/* Reads by the host. */

#define TOP_OF_48 (BIT_ULL(48) - 4096)

static void mark(u64 gfn)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		guest_page(gfn)[i] = gfn << 32 | i;
}

/*
 * The last page of the address space is DATA, the first is DATA + 1, and the second is not present.
 */
static void build_ends(void)
{
	mark(DATA);
	mark(DATA + 1);
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA + 1));
	write_pte(PML4_GFN, 511, pte(PDP_B_GFN));
	write_pte(PDP_B_GFN, 511, pte(PD_B_GFN));
	write_pte(PD_B_GFN, 511, pte(PT_B_GFN));
	write_pte(PT_B_GFN, 511, pte(DATA));
}

static void assert_ends_are_read(struct ghyvi_root *root, u64 top)
{
	u64 got[3] = { 1, 2, 3 };

	assert_int_equal(ghyvi_gtt_ppgtt_read(root, top + 4080, got, 16), 0);
	assert_true(got[0] == guest_page(DATA)[510] && got[1] == guest_page(DATA)[511] &&
		    got[2] == 3);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, top + 4088, got, 16), 0);
	assert_true(got[0] == guest_page(DATA)[511] && got[1] == guest_page(DATA + 1)[0]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4088, got, 8), 0);
	assert_true(got[0] == guest_page(DATA + 1)[511]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4088, got, 9), -EFAULT);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4096, got, 0), 0);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4096, got, 1), -EFAULT);
}

static void reads_end_with_the_buffer_and_wrap_with_the_address_space(void **state)
{
	u64 gpa[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD_B_GFN << 12 };

	build_ends();
	assert_ends_are_read(get_root4(PML4_GFN), TOP_OF_48);
	assert_ends_are_read(get_root(gpa, 3), 0xfffff000);
}

static void nested_reads_end_with_the_buffer_and_wrap_too(void **state)
{
	u64 gpa[4] = { PD_GFN << 12, PD2_GFN << 12, PD3_GFN << 12, PD_B_GFN << 12 };

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	build_ends();
	assert_ends_are_read(get_root4(PML4_GFN), TOP_OF_48);
	assert_ends_are_read(get_root(gpa, 3), 0xfffff000);
}

/*
 * These GPUs have no pages of 1 GiB, and bit 7 of an entry of the last level has another meaning.
 */
static void nested_reads_tell_large_pages_from_tables(void **state)
{
	struct ghyvi_root *root;
	u64 got = 1;

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	mark(DATA);
	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA) | GHYVI_ENTRY_LARGE);
	write_pte(PDP_GFN, 1, pte(PD_GFN) | GHYVI_ENTRY_LARGE);
	root = get_root4(PML4_GFN);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 8, &got, 8), 0);
	assert_true(got == guest_page(DATA)[1]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, BIT_ULL(30) + 8, &got, 8), 0);
	assert_true(got == 0);
}

#define GGTT_INDEX (FIRST_GGTT_TABLE * GHYVI_ENTRIES)
#define GGTT_ADDRESS ((u64)GGTT_INDEX << 12)

static void ggtt_writes_may_have_any_length(void **state)
{
	static const unsigned char text[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char got[40];
	unsigned int offset, bytes;

	fake.guest_ggtt[GGTT_INDEX + 3] = pte(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (offset = 0; offset < 8; offset++)
		for (bytes = 0; bytes <= 32; bytes++) {
			memset(guest_page(DATA), 0xee, 4096);
			assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt,
							      GGTT_ADDRESS + 3 * 4096 + offset,
							      text, bytes),
					 0);
			memset(got, 0, sizeof(got));
			assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt,
							     GGTT_ADDRESS + 3 * 4096 + offset, got,
							     bytes),
					 0);
			assert_memory_equal(got, text, bytes);
			assert_int_equal(((u8 *)guest_page(DATA))[offset + bytes], 0xee);
		}
}

static void engine_stores_to_the_ggtt_take_effect_at_once(void **state)
{
	u64 last = GGTT_INDEX + 4 * GHYVI_ENTRIES - 1;

	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX, pte(DATA));
	assert_true(fake.guest_ggtt[GGTT_INDEX] == pte(DATA));
	assert_true(fake.ggtt[GGTT_INDEX] == spte(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, last, pte(DATA + 1));
	assert_true(fake.guest_ggtt[last] == pte(DATA + 1));
	assert_true(fake.ggtt[last] == spte(DATA + 1));
	ghyvi_gtt_ggtt_store(fake.gtt, last, 0);
	assert_true(fake.ggtt[last] == 0);
	/* Not the vGPU's. */
	ghyvi_gtt_ggtt_store(fake.gtt, last + 1, pte(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX - 1, pte(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, ~0ull, pte(DATA));
	assert_true(fake.guest_ggtt[GGTT_INDEX - 1] == 0);
	assert_int_equal(STAT(pinned_pages_now), 2);
	/* With nested jobs the pGPU reads the guest's entries itself. */
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX + 5, pte(DATA + 2));
	assert_true(fake.guest_ggtt[GGTT_INDEX + 5] == pte(DATA + 2));
	assert_true(fake.ggtt[GGTT_INDEX + 5] == 0);
}

static void ranges_beyond_their_number_are_ignored(void **state)
{
	struct ghyvi_gtt_params params = fake.gtt->params;
	struct ghyvi_gtt *gtt;

	params.ggtt_ranges[1] = (struct ghyvi_range){ 8 * SPAN, SPAN };
	gtt = ghyvi_gtt_create(&params);
	assert_int_equal(gtt->nr_ggtt_tables, FIRST_GGTT_TABLE + 4);
	ghyvi_gtt_destroy(gtt);
	params.nr_ggtt_ranges = 0;
	gtt = ghyvi_gtt_create(&params);
	assert_int_equal(gtt->nr_ggtt_tables, 0);
	ghyvi_gtt_destroy(gtt);
}

/* Unmapping memory: which roots and pages are released, and which stay. */

static void unmapping_pages_beside_a_root_keeps_the_root(void **state)
{
	struct ghyvi_root *root;

	build_tree(PML4_B_GFN);
	write_pte(PT_B_GFN, 0, pte(DATA));
	root = get_root4(PML4_B_GFN);
	put_all_roots(); /* the gtt keeps the root */
	ghyvi_gtt_unmap(fake.gtt, PML4_B_GFN - 1, 1);
	ghyvi_gtt_unmap(fake.gtt, PML4_B_GFN + 1, 3);
	ghyvi_gtt_unmap(fake.gtt, 0, PML4_B_GFN);
	assert_ptr_equal(get_root4(PML4_B_GFN), root);
	put_all_roots();
	ghyvi_gtt_unmap(fake.gtt, 0, PML4_B_GFN + 1);
	assert_int_equal(fake.pins[PML4_B_GFN], 0);
	assert_int_equal(fake.gtt->nr_roots, 0);
	get_root4(PML4_B_GFN);
	put_all_roots();
	ghyvi_gtt_unmap(fake.gtt, PML4_B_GFN, 1);
	assert_int_equal(fake.gtt->nr_roots, 0);
}

static void a_three_level_root_is_forgotten_with_any_of_its_directories(void **state)
{
	const u64 directories[4] = { 13, 18, 23, 28 };
	u64 gpa[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		gpa[i] = directories[i] << 12;
	for (i = 0; i < 4; i++) {
		get_root(gpa, 3);
		put_all_roots();
		assert_int_equal(fake.gtt->nr_roots, 1);
		ghyvi_gtt_unmap(fake.gtt, directories[i] + 1, 4);
		ghyvi_gtt_unmap(fake.gtt, directories[i] - 4, 4);
		assert_int_equal(fake.gtt->nr_roots, 1);
		ghyvi_gtt_unmap(fake.gtt, directories[i], 1);
		assert_int_equal(fake.gtt->nr_roots, 0);
	}
	/* The unused page directories of a four-level root are not mistaken for page 0. */
	build_tree(PML4_B_GFN);
	get_root4(PML4_B_GFN);
	put_all_roots();
	ghyvi_gtt_unmap(fake.gtt, 0, 1);
	assert_int_equal(fake.gtt->nr_roots, 1);
}

static void unmapping_the_first_or_last_page_zaps_a_large_page(void **state)
{
	static const u64 gone[] = { LARGE_WHOLE, LARGE_WHOLE + 511 };
	static const u64 stays[] = { LARGE_WHOLE - 1, LARGE_WHOLE + 512 };
	struct ghyvi_root *root;
	unsigned int i;

	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	/* Its neighbours are pinned, too; otherwise unmapping them would do nothing. */
	write_pte(PT_GFN, 0, pte(LARGE_WHOLE - 1));
	write_pte(PT_GFN, 1, pte(LARGE_WHOLE + 512));
	root = get_root4(PML4_GFN);
	for (i = 0; i < 2; i++) {
		ghyvi_gtt_sync(fake.gtt, root);
		ghyvi_gtt_unmap(fake.gtt, stays[i], 1);
		assert_true(shadow_table(ghyvi_root_dma(root), 2, 0u, 0u)[1] & GHYVI_ENTRY_LARGE);
		assert_true(is_scratch(shadow_pt(root)[i]));
		ghyvi_gtt_unmap(fake.gtt, gone[i], 1);
		assert_true(maps_scratch(shadow_table(ghyvi_root_dma(root), 2, 0u, 0u)[1], 2));
		assert_int_equal(fake.pins[gone[i]], 0);
	}
}

/* The self-check. */

/*
 * The check starts at a different page of the GGTT each time. It always counts a wrong entry once.
 */
static void corrupt(struct ghyvi_root *root, u64 *entry, u64 value)
{
	u64 right = *entry;
	unsigned int i;

	for (i = 0; i < FIRST_GGTT_TABLE + fake.ggtt_tables; i++) {
		*entry = value;
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
		*entry = right;
		assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	}
}

static void the_self_check_looks_at_the_last_entries(void **state)
{
	struct ghyvi_root *root;
	u64 *split, *pd, *pt, *groups;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 511, pte(DATA));
	write_pte(PT_GFN, 300, pte(DATA + 1));
	write_pte(PD_GFN, 1, pte(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	write_pte(PD_GFN, 2, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT2_GFN, 496, pte(DATA + 64));
	write_pte(PD_GFN, 511, pte(PT3_GFN));
	fake.guest_ggtt[GGTT_INDEX + 4 * GHYVI_ENTRIES - 1] = pte(DATA + 2);
	fake.guest_ggtt[GGTT_INDEX + 5] = pte(DATA + 3);
	root = get_synced_root4(PML4_GFN);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	pd = shadow_table(ghyvi_root_dma(root), 2, 0u, 0u);
	pt = shadow_pt(root);
	split = host_of(pd[1]);
	groups = host_of(pd[2]);
	corrupt(root, &pt[511], 0);
	corrupt(root, &pt[300], spte(DATA));
	corrupt(root, &pt[510], spte(DATA)); /* there is none in the guest's */
	corrupt(root, &split[511], split[510]);
	corrupt(root, &split[0], 0);
	corrupt(root, &split[7], split[7] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &pd[1], pd[1] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &pd[511], pd[0]);
	corrupt(root, &pd[511], 0);
	corrupt(root, &pd[510], pd[511]);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 4 * GHYVI_ENTRIES - 1], 0);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 5], fake.ggtt[GGTT_INDEX + 5] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 6], spte(DATA + 3));
	/*
	 * The entry that points there has the 64 KiB bit, so it is wrong, too. Without the bit only
	 * the page is wrong.
	 */
	assert_true(pd[2] & GHYVI_ENTRY_64K);
	groups[511] ^= 1 << 12;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	pd[2] &= ~GHYVI_ENTRY_64K;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	assert_non_null(strstr(fake.reporter.last, "entry 511"));
	groups[511] ^= 1 << 12;
	pd[2] |= GHYVI_ENTRY_64K;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* Scratch is correct for an entry that cannot be translated, and wrong for any other. */
static void the_self_check_finds_entries_that_map_scratch_without_need(void **state)
{
	struct ghyvi_root *root;
	u64 *pd, *pt, pd_scratch, pt_scratch;

	build_tree(PML4_GFN);
	write_pte(PT_GFN, 0, pte(DATA));
	write_pte(PT_GFN, 1, pte(RAM_PAGES)); /* no memory of the guest's */
	write_pte(PD_GFN, 1, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	write_pte(PD_GFN, 2, pte(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	write_pte(PD_GFN, 3, pte(PT2_GFN) | GHYVI_ENTRY_64K);
	write_pte(PT2_GFN, 0, pte(DATA + 64));
	write_pte(PD_GFN, 4, pte(RAM_PAGES));
	write_pte(PDP_GFN, 1, pte(PD2_GFN) | GHYVI_ENTRY_LARGE); /* of 1 GiB: there are none */
	write_pte(PD_GFN, 5, pte(PT4_GFN));
	set_absent(LARGE_SCATTERED + 511, true);
	root = get_synced_root4(PML4_GFN);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	pd = shadow_table(ghyvi_root_dma(root), 2, 0u, 0u);
	pt = shadow_pt(root);
	pt_scratch = pt[1];
	pd_scratch = pd[2];
	assert_true(is_scratch(pt_scratch) && maps_scratch(pd_scratch, 2));
	corrupt(root, &pt[0], pt_scratch);
	corrupt(root, &pd[1], pd_scratch);
	corrupt(root, &pd[5], pd_scratch);
	corrupt(root, &((u64 *)host_of(pd[3]))[15], pt_scratch);
	/* The last page of the 2 MiB is present again, without a change of the generation. */
	fake.absent[LARGE_SCATTERED + 511] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	fake.absent[LARGE_SCATTERED + 511] = true;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* What debugfs shows. */

static void the_dump_has_a_line_for_each_root_and_table(void **state)
{
	char text[2048] = "";
	struct seq_file m = { fmemopen(text, sizeof(text), "w") };

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	build_tree(PML4_GFN);
	write_pte(PD_GFN, 1, pte(PT_GFN)); /* the page table, once more */
	write_pte(PD_GFN, 2, pte(PD_GFN)); /* the page directory, as a page table */
	write_pte(PT_GFN, 511, pte(DATA));
	write_pte(PT_GFN, 9, pte(DATA));
	get_synced_root4(PML4_GFN);
	write_pte(PT_GFN, 9, 0);
	ghyvi_gtt_dump(fake.gtt, &m);
	fclose(m.f);
	assert_string_equal(text,
			    "policy segmented, 4 table pages, 1 roots, 0 idle pins, 0 mapped pins\n"
			    "root 0x1000 levels 4 users 1\n"
			    "table 0x1000 levels 4 parents 1 present 1 strict\n"
			    "table 0x2000 levels 3 parents 1 present 1 strict\n"
			    "table 0x3000 levels 1 2 parents 2 present 3 strict\n"
			    "table 0x4000 levels 1 parents 2 present 1 relaxed\n");
}

static void the_tuning_can_be_read_again_and_again(void **state)
{
	struct ghyvi_shadow_tuning tuning, again;

	ghyvi_gtt_get_tuning(fake.gtt, &tuning);
	tuning.idle_pins = GHYVI_IDLE_PINS_MAX;
	tuning.static_pages = GHYVI_STATIC_PAGES_MAX;
	tuning.oos_threshold = GHYVI_OOS_THRESHOLD_MAX;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	ghyvi_gtt_get_tuning(fake.gtt, &again);
	ghyvi_gtt_get_tuning(fake.gtt, &again);
	assert_memory_equal(&tuning, &again, sizeof(tuning));
	again.idle_pins++;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &again), -EINVAL);
	again = tuning;
	again.static_pages++;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &again), -EINVAL);
	again = tuning;
	again.oos_threshold++;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &again), -EINVAL);
	again.oos_threshold = 0;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &again), -EINVAL);
	again.oos_threshold = 1;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &again), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_end_with_the_buffer_and_wrap_with_the_address_space),
		TEST(nested_reads_end_with_the_buffer_and_wrap_too),
		TEST(nested_reads_tell_large_pages_from_tables),
		TEST(ggtt_writes_may_have_any_length),
		TEST(engine_stores_to_the_ggtt_take_effect_at_once),
		TEST(ranges_beyond_their_number_are_ignored),
		TEST(unmapping_pages_beside_a_root_keeps_the_root),
		TEST(a_three_level_root_is_forgotten_with_any_of_its_directories),
		TEST(unmapping_the_first_or_last_page_zaps_a_large_page),
		TEST(the_self_check_looks_at_the_last_entries),
		TEST(the_self_check_finds_entries_that_map_scratch_without_need),
		TEST(the_dump_has_a_line_for_each_root_and_table),
		TEST(the_tuning_can_be_read_again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
