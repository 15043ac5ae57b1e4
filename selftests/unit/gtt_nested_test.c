// SPDX-License-Identifier: GPL-2.0-only
/* The policy "nested": nothing shadowed, switching to and fro, pages mapped for the pGPU. */
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

static void test_entering_drops_all_shadows(void **state)
{
	u64 traps;

	policy("strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	plant(1);
	set(4, 0, to(DATA));
	set(BAR_GFN, FIRST, to(DATA + 1));
	hold4(1);
	release_all();
	assert_true(fake.protected[4] && fake.protected[BAR_GFN + FIRST_GGTT_TABLE]);
	assert_true(fake.ggtt[FIRST] == maps(DATA + 1));
	policy("nested");
	nothing_is_protected();
	assert_int_equal(STAT(tables_now) + STAT(relaxed_now), 0);
	assert_true(fake.ggtt[FIRST] == 0);
	traps = STAT(reconstructions);
	set(4, 1, to(DATA + 2));
	set(BAR_GFN, FIRST + 1, to(DATA + 3));
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_flush(fake.gtt);
	assert_int_equal(STAT(reconstructions), traps);
	/* A trap of before that comes late. */
	ghyvi_gtt_trap(fake.gtt, at(BAR_GFN, FIRST + 1), 8);
	assert_true(fake.ggtt[FIRST + 1] == 0);
	ghyvi_gtt_protection_lost(fake.gtt, 0, GFNS);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN + 500);
	ghyvi_gtt_ggtt_live(fake.gtt);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	assert_int_equal(STAT(relaxed_now), 0);
}

static void test_leaving_shadows_everything_again(void **state)
{
	struct ghyvi_root *root;

	policy("nested");
	ghyvi_gtt_ggtt_live(fake.gtt);
	plant(1);
	set(4, 0, to(DATA));
	set(BAR_GFN, FIRST, to(DATA + 1));
	root = hold4(1);
	assert_true(fake.held[0].bus == 0);
	policy("strict");
	assert_true(fake.ggtt[FIRST] == maps(DATA + 1));
	assert_int_equal(STAT(protected_now), fake.ggtt_tables);
	/* The old job goes on as it began, a new one has shadows. */
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	assert_true(fake.mapped[DATA]);
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(checks), 0);
	root = hold4(1);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_true(fake.protected[4]);
	set(4, 1, to(DATA + 2));
	assert_true(shadow_pt(root)[1] == maps(DATA + 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_int_equal(STAT(checks), 1);
	release_number(0);
	assert_int_equal(fake.nr_mapped, 0);
	assert_true(shadow_pt(fake.held[0].root)[0] == maps(DATA));
}

static void test_held_trees_stay_in_sync_until_they_are_put(void **state)
{
	struct ghyvi_root *root;

	policy("strict");
	ghyvi_gtt_ggtt_live(fake.gtt);
	plant(1);
	root = hold4(1);
	policy("nested");
	nothing_is_protected();
	assert_int_equal(STAT(relaxed_now), 4 + fake.ggtt_tables);
	/* What a lite restore of the running job brings, at every level, and new tables. */
	set(4, 0, to(DATA));
	set(3, 1, to(6));
	set(6, 0, to(DATA + 1));
	set(BAR_GFN, FIRST, to(DATA + 2));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_true(shadow_pt(root)[0] == maps(DATA));
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[0] == maps(DATA + 1));
	assert_true(fake.ggtt[FIRST] == maps(DATA + 2));
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	/* What the guest unmapped is out of reach once it has flushed. */
	set(4, 0, 0);
	ghyvi_gtt_flush(fake.gtt);
	assert_true(shadow_pt(root)[0] == 0);
	nothing_is_protected();
	/* A job that begins now is nested; the other one's end takes the shadows away. */
	hold4(1);
	assert_true(fake.held[1].bus == 0);
	release_number(0);
	assert_int_equal(STAT(tables_now) + STAT(relaxed_now), 0);
	assert_true(fake.ggtt[FIRST] == 0);
}

static void test_a_held_tree_survives_policy_switches(void **state)
{
	struct ghyvi_root *root;
	int i;

	plant(1);
	root = hold4(1);
	for (i = 0; i < 4; i++) {
		policy(i % 2 ? "strict" : "nested");
		set(4, (unsigned int)i, to(DATA + (u64)i));
		ghyvi_gtt_sync(fake.gtt, root);
		assert_true(shadow_pt(root)[i] == maps(DATA + (u64)i));
	}
	assert_true(fake.protected[1] && fake.protected[4]);
	/* The tree is created again, over the same shadow pages. */
	hold4(1);
	assert_ptr_not_equal(fake.held[0].root, fake.held[1].root);
	assert_true(fake.held[0].bus == fake.held[1].bus);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
}

static void test_a_pgpu_without_the_capability(void **state)
{
	char names[128];

	policy("segmented");
	fake.gtt->params.nested = false;
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "nested"), -EOPNOTSUPP);
	ghyvi_gtt_policy_list(fake.gtt, names, sizeof(names));
	assert_non_null(strstr(names, "[segmented] "));
	assert_non_null(strstr(names, " adaptive nested\n"));
}

static void test_roots_say_where_jobs_begin(void **state)
{
	u64 four[4] = { 8 << 12, 9 << 12, 0, 11 << 12 };
	struct ghyvi_job job = { .levels = 7 };
	struct ghyvi_root *root;
	u64 gpa = 1 << 12;

	policy("nested");
	ghyvi_root_job(hold(four, 3), &job);
	assert_true(job.nested && job.levels == 3 && !memcmp(job.guest_root, four, sizeof(four)));
	ghyvi_root_job(hold(&gpa, 4), &job);
	assert_true(job.nested && job.levels == 4 && job.guest_root[0] == gpa);
	gpa = (u64)RAM_PAGES << 12;
	assert_int_equal(PTR_ERR(ghyvi_gtt_get_root(fake.gtt, &gpa, 4)), -EFAULT);
	policy("segmented");
	gpa = 1 << 12;
	root = hold(&gpa, 4);
	ghyvi_root_job(root, &job);
	assert_true(!job.nested && job.root == ghyvi_root_bus(root) && job.levels == 4);
}

static void test_pages_are_mapped_once_and_unmapped_with_their_memory(void **state)
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
	/* The client has no memory for one more. */
	fake.map_limit = 0;
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + 1), -ENOMEM);
	assert_int_equal(fake.gtt->nr_idle_pins, 1);
}

static void test_pages_mapped_longest_ago_make_room(void **state)
{
	u32 i;

	policy("nested");
	fake.pin_limit = 8;
	for (i = 0; i < 9; i++)
		assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA + i), 0);
	assert_int_equal(fake.nr_mapped, 5);
	for (i = 0; i < 9; i++)
		assert_true(fake.mapped[DATA + i] == (i >= 4));
	/* For shadows, too. */
	policy("strict");
	fake.pin_limit = 4;
	plant(1);
	assert_false(IS_ERR(hold4(1)));
	assert_int_equal(fake.nr_mapped, 0);
}

#define IDLE_PINS 1024u

static void test_far_more_pages_stay_mapped_than_idle_pins(void **state)
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

static void test_global_addresses_are_read_and_written_through_the_guests_table(void **state)
{
	u64 value = 0x1122334455667788, got = 0;

	policy("nested");
	fake.guest_ggtt[FIRST] = to(DATA);
	fake.guest_ggtt[FIRST + 1] = to(DATA + 5);
	fake.guest_ggtt[FIRST + 3] = to(RAM_PAGES);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, ADDRESS + 4092, &value, 8), 0);
	assert_int_equal(*(u32 *)((u8 *)page_of(DATA) + 4092), 0x55667788);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4092, &got, 8), 0);
	assert_true(got == value);
	fake.guest_ggtt[FIRST] = 0;
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4088, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_write(fake.gtt, ADDRESS + 3 * 4096, &value, 8), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, 0, &got, 4), -EFAULT);
	assert_int_equal(ghyvi_gtt_ggtt_read(fake.gtt, ADDRESS + 4 * SPAN, &got, 4), -EFAULT);
	assert_true(fake.mapped[DATA + 5]);
}

static void test_reset_while_nested_and_shadowed_roots_are_held(void **state)
{
	plant(1);
	hold4(1);
	policy("nested");
	hold4(1);
	assert_int_equal(ghyvi_gtt_fault(fake.gtt, DATA), 0);
	ghyvi_gtt_reset(fake.gtt);
	assert_int_equal(fake.pinned, 0);
	assert_int_equal(STAT(tables_now), 0);
	release_all();
	assert_int_equal(STAT(relaxed_now), 0);
	hold4(1);
	policy("strict");
	ghyvi_gtt_sync(fake.gtt, NULL);
}

/* A submission of one context pays for its own pages only. */
static void test_sync_does_not_compare_what_only_another_tree_leads_to(void **state)
{
	struct ghyvi_root *one, *other;
	u64 scans;

	policy("segmented");
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	plant(1);
	plant(11);
	set(3, 1, to(20)); /* both lead here */
	set(13, 1, to(20));
	one = hold4(1);
	other = hold4(11);
	ghyvi_gtt_sync(fake.gtt, NULL);
	set(4, 0, to(DATA));
	set(14, 0, to(DATA + 1));
	assert_int_equal(STAT(relaxed_now), 2);
	page_of(14)[1] = to(DATA + 2);
	scans = STAT(reconstructions);
	ghyvi_gtt_sync(fake.gtt, one);
	assert_int_equal(STAT(reconstructions), scans + 1);
	assert_true(fake.protected[4] && !fake.protected[14]);
	assert_true(shadow_pt(other)[1] == 0);
	ghyvi_gtt_sync(fake.gtt, one);
	assert_int_equal(STAT(reconstructions), scans + 1);
	ghyvi_gtt_sync(fake.gtt, other);
	assert_int_equal(STAT(reconstructions), scans + 2);
	assert_true(shadow_pt(other)[1] == maps(DATA + 2));
	/* The shared page is of either's concern. */
	set(20, 0, to(DATA + 3));
	page_of(20)[1] = to(DATA + 4);
	ghyvi_gtt_sync(fake.gtt, other);
	assert_true(shadow(fake.held[0].bus, 3, 0u, 0u, 1u)[1] == maps(DATA + 4));
	assert_true(shadow(fake.held[1].bus, 3, 0u, 0u, 1u)[1] == maps(DATA + 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_entering_drops_all_shadows),
		TEST(test_leaving_shadows_everything_again),
		TEST(test_held_trees_stay_in_sync_until_they_are_put),
		TEST(test_a_held_tree_survives_policy_switches),
		TEST(test_a_pgpu_without_the_capability),
		TEST(test_roots_say_where_jobs_begin),
		TEST(test_pages_are_mapped_once_and_unmapped_with_their_memory),
		TEST(test_pages_mapped_longest_ago_make_room),
		TEST(test_far_more_pages_stay_mapped_than_idle_pins),
		TEST(test_global_addresses_are_read_and_written_through_the_guests_table),
		TEST(test_reset_while_nested_and_shadowed_roots_are_held),
		TEST(test_sync_does_not_compare_what_only_another_tree_leads_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
