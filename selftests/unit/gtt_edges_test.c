// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where buffers, ranges and tables end; and that the self-check looks at their last entries, too.
 */
#include "gtt_fake.h"

/* Where the host reads. */

#define TOP_OF_48 (BIT_ULL(48) - 4096)

static void mark(u64 gfn)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		page_of(gfn)[i] = gfn << 32 | i;
}

/*
 * The last page of the address space is DATA, the first DATA + 1, and the one after that is not
 * there.
 */
static void plant_ends(void)
{
	mark(DATA);
	mark(DATA + 1);
	plant(1);
	set(4, 0, to(DATA + 1));
	set(1, 511, to(6));
	set(6, 511, to(7));
	set(7, 511, to(8));
	set(8, 511, to(DATA));
}

static void assert_ends_are_read(struct ghyvi_root *root, u64 top)
{
	u64 got[3] = { 1, 2, 3 };

	assert_int_equal(ghyvi_gtt_ppgtt_read(root, top + 4080, got, 16), 0);
	assert_true(got[0] == page_of(DATA)[510] && got[1] == page_of(DATA)[511] && got[2] == 3);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, top + 4088, got, 16), 0);
	assert_true(got[0] == page_of(DATA)[511] && got[1] == page_of(DATA + 1)[0]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4088, got, 8), 0);
	assert_true(got[0] == page_of(DATA + 1)[511]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4088, got, 9), -EFAULT);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4096, got, 0), 0);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 4096, got, 1), -EFAULT);
}

static void reads_end_with_the_buffer_and_wrap_with_the_address_space(void **state)
{
	u64 gpa[4] = { 3 << 12, 9 << 12, 10 << 12, 7 << 12 };

	plant_ends();
	assert_ends_are_read(hold4(1), TOP_OF_48);
	assert_ends_are_read(hold(gpa, 3), 0xfffff000);
}

static void nested_reads_end_there_too(void **state)
{
	u64 gpa[4] = { 3 << 12, 9 << 12, 10 << 12, 7 << 12 };

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	plant_ends();
	assert_ends_are_read(hold4(1), TOP_OF_48);
	assert_ends_are_read(hold(gpa, 3), 0xfffff000);
}

/* No GPU of these has pages of 1 GiB; bit 7 of an entry of the last level has another meaning. */
static void nested_reads_know_which_entries_are_of_large_pages(void **state)
{
	struct ghyvi_root *root;
	u64 got = 1;

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	mark(DATA);
	plant(1);
	set(4, 0, to(DATA) | GHYVI_ENTRY_LARGE);
	set(2, 1, to(3) | GHYVI_ENTRY_LARGE);
	root = hold4(1);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, 8, &got, 8), 0);
	assert_true(got == page_of(DATA)[1]);
	assert_int_equal(ghyvi_gtt_ppgtt_read(root, BIT_ULL(30) + 8, &got, 8), 0);
	assert_true(got == 0);
}

#define GGTT_INDEX (FIRST_GGTT_TABLE * GHYVI_ENTRIES)
#define GGTT_ADDRESS ((u64)GGTT_INDEX << 12)

static void global_writes_have_any_length(void **state)
{
	static const unsigned char text[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char got[40];
	unsigned int offset, bytes;

	fake.guest_ggtt[GGTT_INDEX + 3] = to(DATA);
	ghyvi_gtt_sync(fake.gtt, NULL);
	for (offset = 0; offset < 8; offset++)
		for (bytes = 0; bytes <= 32; bytes++) {
			memset(page_of(DATA), 0xee, 4096);
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
			assert_int_equal(((u8 *)page_of(DATA))[offset + bytes], 0xee);
		}
}

static void engine_stores_to_the_ggtt_take_effect_at_once(void **state)
{
	u64 last = GGTT_INDEX + 4 * GHYVI_ENTRIES - 1;

	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX, to(DATA));
	assert_true(fake.guest_ggtt[GGTT_INDEX] == to(DATA));
	assert_true(fake.ggtt[GGTT_INDEX] == maps(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, last, to(DATA + 1));
	assert_true(fake.guest_ggtt[last] == to(DATA + 1));
	assert_true(fake.ggtt[last] == maps(DATA + 1));
	ghyvi_gtt_ggtt_store(fake.gtt, last, 0);
	assert_true(fake.ggtt[last] == 0);
	/* Not the vGPU's. */
	ghyvi_gtt_ggtt_store(fake.gtt, last + 1, to(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX - 1, to(DATA));
	ghyvi_gtt_ggtt_store(fake.gtt, ~0ull, to(DATA));
	assert_true(fake.guest_ggtt[GGTT_INDEX - 1] == 0);
	assert_int_equal(STAT(pinned_pages_now), 2);
	/* And what the guest says about a nested job is the pGPU's to read. */
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), 0);
	ghyvi_gtt_ggtt_store(fake.gtt, GGTT_INDEX + 5, to(DATA + 2));
	assert_true(fake.guest_ggtt[GGTT_INDEX + 5] == to(DATA + 2));
	assert_true(fake.ggtt[GGTT_INDEX + 5] == 0);
}

static void only_as_many_ranges_count_as_there_are(void **state)
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

/* What goes with memory that goes, and what stays. */

static void memory_beside_a_root_is_none_of_it(void **state)
{
	struct ghyvi_root *root;

	plant(11);
	set(14, 0, to(DATA));
	root = hold4(11);
	release_all(); /* the mm keeps it */
	ghyvi_gtt_unmap(fake.gtt, 10, 1);
	ghyvi_gtt_unmap(fake.gtt, 12, 3);
	ghyvi_gtt_unmap(fake.gtt, 0, 11);
	assert_ptr_equal(hold4(11), root);
	release_all();
	ghyvi_gtt_unmap(fake.gtt, 0, 12);
	assert_int_equal(fake.pins[11], 0);
	assert_int_equal(fake.gtt->nr_roots, 0);
	hold4(11);
	release_all();
	ghyvi_gtt_unmap(fake.gtt, 11, 1);
	assert_int_equal(fake.gtt->nr_roots, 0);
}

static void a_root_of_three_levels_goes_with_any_of_its_directories(void **state)
{
	u64 gpa[4] = { 13 << 12, 18 << 12, 23 << 12, 28 << 12 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		hold(gpa, 3);
		release_all();
		assert_int_equal(fake.gtt->nr_roots, 1);
		ghyvi_gtt_unmap(fake.gtt, 14 + 5 * i, 4);
		ghyvi_gtt_unmap(fake.gtt, 9 + 5 * i, 4);
		assert_int_equal(fake.gtt->nr_roots, 1);
		ghyvi_gtt_unmap(fake.gtt, 13 + 5 * i, 1);
		assert_int_equal(fake.gtt->nr_roots, 0);
	}
	/* The pages that a tree of four levels does not have are not taken for page 0. */
	plant(11);
	hold4(11);
	release_all();
	ghyvi_gtt_unmap(fake.gtt, 0, 1);
	assert_int_equal(fake.gtt->nr_roots, 1);
}

static void a_large_page_goes_with_its_first_and_its_last_page(void **state)
{
	static const u64 gone[] = { LARGE_WHOLE, LARGE_WHOLE + 511 };
	static const u64 stays[] = { LARGE_WHOLE - 1, LARGE_WHOLE + 512 };
	struct ghyvi_root *root;
	unsigned int i;

	plant(1);
	set(3, 1, to(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	/* Its neighbours are pinned, too: else nothing would be looked at. */
	set(4, 0, to(LARGE_WHOLE - 1));
	set(4, 1, to(LARGE_WHOLE + 512));
	root = hold4(1);
	for (i = 0; i < 2; i++) {
		ghyvi_gtt_sync(fake.gtt, root);
		ghyvi_gtt_unmap(fake.gtt, stays[i], 1);
		assert_true(shadow(ghyvi_root_bus(root), 2, 0u, 0u)[1] & GHYVI_ENTRY_LARGE);
		assert_true(is_scratch(shadow_pt(root)[i]));
		ghyvi_gtt_unmap(fake.gtt, gone[i], 1);
		assert_true(leads_to_scratch(shadow(ghyvi_root_bus(root), 2, 0u, 0u)[1], 2));
		assert_int_equal(fake.pins[gone[i]], 0);
	}
}

/* The self-check. */

/* The GGTT's pages take turns: whichever one it begins with, a wrong entry is one difference. */
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

	plant(1);
	set(4, 511, to(DATA));
	set(4, 300, to(DATA + 1));
	set(3, 1, to(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	set(3, 2, to(5) | GHYVI_ENTRY_64K);
	set(5, 496, to(DATA + 64));
	set(3, 511, to(6));
	fake.guest_ggtt[GGTT_INDEX + 4 * GHYVI_ENTRIES - 1] = to(DATA + 2);
	fake.guest_ggtt[GGTT_INDEX + 5] = to(DATA + 3);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	pd = shadow(ghyvi_root_bus(root), 2, 0u, 0u);
	pt = shadow_pt(root);
	split = phys_to_virt(pd[1] & GHYVI_SHADOW_ADDRESS_MASK);
	groups = phys_to_virt(pd[2] & GHYVI_SHADOW_ADDRESS_MASK);
	corrupt(root, &pt[511], 0);
	corrupt(root, &pt[300], maps(DATA));
	corrupt(root, &pt[510], maps(DATA)); /* there is none in the guest's */
	corrupt(root, &split[511], split[510]);
	corrupt(root, &split[0], 0);
	corrupt(root, &split[7], split[7] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &pd[1], pd[1] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &pd[511], pd[0]);
	corrupt(root, &pd[511], 0);
	corrupt(root, &pd[510], pd[511]);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 4 * GHYVI_ENTRIES - 1], 0);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 5], fake.ggtt[GGTT_INDEX + 5] & ~GHYVI_ENTRY_WRITE);
	corrupt(root, &fake.ggtt[GGTT_INDEX + 6], maps(DATA + 3));
	/*
	 * The entry that leads there says 64 KiB, so it is wrong, too; and once it does not, only
	 * the page is.
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

/* Scratch is right for what cannot be had, and wrong for what can. */
static void the_self_check_asks_whether_scratch_is_needed(void **state)
{
	struct ghyvi_root *root;
	u64 *pd, *pt, pd_scratch, pt_scratch;

	plant(1);
	set(4, 0, to(DATA));
	set(4, 1, to(RAM_PAGES)); /* no memory of the guest's */
	set(3, 1, to(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	set(3, 2, to(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	set(3, 3, to(5) | GHYVI_ENTRY_64K);
	set(5, 0, to(DATA + 64));
	set(3, 4, to(RAM_PAGES));
	set(2, 1, to(6) | GHYVI_ENTRY_LARGE); /* of 1 GiB: there are none */
	set(3, 5, to(7));
	set_absent(LARGE_SCATTERED + 511, true);
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	pd = shadow(ghyvi_root_bus(root), 2, 0u, 0u);
	pt = shadow_pt(root);
	pt_scratch = pt[1];
	pd_scratch = pd[2];
	assert_true(is_scratch(pt_scratch) && leads_to_scratch(pd_scratch, 2));
	corrupt(root, &pt[0], pt_scratch);
	corrupt(root, &pd[1], pd_scratch);
	corrupt(root, &pd[5], pd_scratch);
	corrupt(root, &((u64 *)phys_to_virt(pd[3] & GHYVI_SHADOW_ADDRESS_MASK))[15], pt_scratch);
	/* The last page of the 2 MiB is there again, and the guest has not been told so. */
	fake.absent[LARGE_SCATTERED + 511] = false;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 1);
	fake.absent[LARGE_SCATTERED + 511] = true;
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

/* What an administrator sees. */

static void the_dump_has_a_line_for_each_root_and_table(void **state)
{
	char text[2048] = "";
	struct seq_file m = { fmemopen(text, sizeof(text), "w") };
	struct ghyvi_root *root;

	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	plant(1);
	set(3, 1, to(4)); /* the page table, once more */
	set(3, 2, to(3)); /* the page directory, as a page table */
	set(4, 511, to(DATA));
	set(4, 9, to(DATA));
	root = hold4(1);
	ghyvi_gtt_sync(fake.gtt, root);
	set(4, 9, 0);
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

	ghyvi_gtt_tuning(fake.gtt, &tuning);
	tuning.idle_pins = GHYVI_IDLE_PINS_MAX;
	tuning.static_pages = GHYVI_STATIC_PAGES_MAX;
	tuning.oos_threshold = GHYVI_OOS_THRESHOLD_MAX;
	assert_int_equal(ghyvi_gtt_set_tuning(fake.gtt, &tuning), 0);
	ghyvi_gtt_tuning(fake.gtt, &again);
	ghyvi_gtt_tuning(fake.gtt, &again);
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
		TEST(nested_reads_end_there_too),
		TEST(nested_reads_know_which_entries_are_of_large_pages),
		TEST(global_writes_have_any_length),
		TEST(engine_stores_to_the_ggtt_take_effect_at_once),
		TEST(only_as_many_ranges_count_as_there_are),
		TEST(memory_beside_a_root_is_none_of_it),
		TEST(a_root_of_three_levels_goes_with_any_of_its_directories),
		TEST(a_large_page_goes_with_its_first_and_its_last_page),
		TEST(the_self_check_looks_at_the_last_entries),
		TEST(the_self_check_asks_whether_scratch_is_needed),
		TEST(the_dump_has_a_line_for_each_root_and_table),
		TEST(the_tuning_can_be_read_again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
