// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of translation and shadowing fails: only allocation n, and in a second round n
 * and all later ones, for every n. A failure is an error or an entry that points at scratch;
 * nothing leaks (fake_fini(), ASan); and the next synchronisation with memory ends in the guest's
 * translation.
 */
#include "gtt_random.h"

#define SEEDS 150u

static const u64 directories[4] = { PD(0) << 12, PD(1) << 12, PD(2) << 12, PD(3) << 12 };

/*
 * Trees of four and of three levels that share a table, with pages of each size, and GGTT entries.
 */
static void build_everything(void)
{
	write_pte(PML4(0), 0, pte(PDP(0)));
	write_pte(PDP(0), 0, pte(PD(0)));
	write_pte(PD(0), 0, pte(PT(0)));
	write_pte(PD(0), 1, pte(PT(1)) | GHYVI_ENTRY_64K);
	write_pte(PD(0), 2, pte(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	write_pte(PD(0), 3, pte(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	write_pte(PD(1), 1, pte(PT(2)));
	write_pte(PT(0), 0, pte(DATA));
	write_pte(PT(0), 7, pte(DATA + 200));
	write_pte(PT(1), 0, pte(DATA - DATA % 16 + 16));
	write_pte(PT(2), 3, pte(DATA + 70));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 1] = pte(DATA + 400);
}

/* All operations that allocate; each step may fail. */
static void use_everything(void)
{
	const u64 ggtt = (FIRST_GGTT_TABLE * 512 + 1) << 12;
	u64 value;

	get_root4(PML4(0));
	get_root(directories, 3);
	ghyvi_gtt_sync(fake.gtt, fake.nr_held ? fake.held[0].root : NULL);
	ghyvi_gtt_ggtt_read(fake.gtt, ggtt, &value, 8);
	write_pte(PD(0), 4, pte(PT(3)));
	write_pte(PT(3), 1, pte(DATA + 300));
	write_pte(PD(2), 0, pte(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	ghyvi_gtt_set_policy(fake.gtt, "static");
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	get_root4(PML4(0));
	ghyvi_gtt_fault(fake.gtt, DATA + 500);
	ghyvi_gtt_ggtt_read(fake.gtt, ggtt, &value, 8);
	ghyvi_gtt_set_policy(fake.gtt, "segmented");
}

/* Try again, with memory. */
static void try_with_memory(void)
{
	put_all_roots();
	ASSERT(!IS_ERR(get_root4(PML4(0))));
	ASSERT(!IS_ERR(get_root(directories, 3)));
	ghyvi_gtt_sync(fake.gtt, NULL);
	compare_everything();
	assert_true(shadow_pt(fake.held[0].root)[0] == spte(DATA));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 1] == spte(DATA + 400));
}

/* Returns false if no allocation failed, because there are fewer than @n. */
static bool fail_from(unsigned long n, unsigned long count)
{
	bool failed;

	fake_init(2);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	build_everything();
	shim_fail_allocs(n, count);
	use_everything();
	failed = shim_failed_allocs();
	shim_fail_allocs(0, 0);
	try_with_memory();
	fake_fini();
	return failed;
}

static void any_allocation_of_a_guest_at_work_may_fail(void **s)
{
	unsigned long n;

	for (n = 1; fail_from(n, 1); n++)
		;
	assert_in_range(n, 80, 1000);
}

static void all_allocations_from_any_one_on_may_fail(void **s)
{
	unsigned long n;

	for (n = 1; fail_from(n, ~0UL); n++)
		;
	assert_in_range(n, 80, 1000);
}

static void creation_without_memory_leaves_nothing(void **s)
{
	struct ghyvi_gtt_params params;
	struct ghyvi_gtt *gtt;
	unsigned long n;

	fake_init(2);
	params = fake.gtt->params;
	ghyvi_gtt_destroy(fake.gtt);
	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		gtt = ghyvi_gtt_create(&params);
		if (!shim_failed_allocs())
			break;
		assert_int_equal(PTR_ERR(gtt), -ENOMEM);
		assert_true(xa_empty(&fake.owned));
	}
	shim_fail_allocs(0, 0);
	assert_in_range(n, 10, 100);
	fake.gtt = gtt;
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	build_everything();
	try_with_memory();
	fake_fini();
}

/*
 * Random moves, some without memory. The comparison follows the next syncs with memory, and a move
 * follows the comparison: some moves compare, too, but sync once or twice only.
 */
static void play_with_failures(u64 seed)
{
	unsigned int step, i, n;

	for (step = 0; step < 30; step++) {
		fake.race = seed & 2 ? racing_store : NULL;
		n = 1 + rnd(12);
		shim_fail_allocs(n, rnd(4) ? 1 : ~0UL);
		for (i = 0; i < 4; i++)
			rnd(2) ? edit() : root_operation();
		ghyvi_gtt_sync(fake.gtt, fake.nr_held ? fake.held[0].root : NULL);
		shim_fail_allocs(0, 0);
		fake.race = NULL;
		deliver();
		fake.pin_limit = ~0u;
		/*
		 * A large page that cannot be pinned ends the retries of one sync, and each table
		 * that a sync frees is a reason to try such pages again.
		 */
		for (i = 0; i < 16; i++)
			ghyvi_gtt_sync(fake.gtt, NULL);
		compare_everything();
		move();
	}
}

static void random_failures_end_in_the_guests_translation(void **s)
{
	play_seeds(SEEDS, play_with_failures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_allocation_of_a_guest_at_work_may_fail),
		cmocka_unit_test(all_allocations_from_any_one_on_may_fail),
		cmocka_unit_test(creation_without_memory_leaves_nothing),
		cmocka_unit_test(random_failures_end_in_the_guests_translation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
