// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation that translation and shadowing make fails once: number n, and in a second round
 * n and all after it, for every n until none is left to fail. A failure is an error or an entry
 * that points at scratch; nothing leaks (fake_fini(), ASan); and the next synchronisation with
 * memory ends in the guest's translation.
 */
#include "gtt_moves.h"

#define SEEDS 150u

static u64 state;

static u32 rnd(u32 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 20) % n);
}

static const u64 directories[4] = { 6 << 12, 7 << 12, 8 << 12, 9 << 12 };

/*
 * Trees of four and of three levels that share a table, with pages of each size, and GGTT entries.
 */
static void plant_everything(void)
{
	set(1, 0, to(3));
	set(3, 0, to(6));
	set(6, 0, to(10));
	set(6, 1, to(11) | GHYVI_ENTRY_64K);
	set(6, 2, to(LARGE_WHOLE) | GHYVI_ENTRY_LARGE);
	set(6, 3, to(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	set(7, 1, to(12));
	set(10, 0, to(DATA));
	set(10, 7, to(DATA + 200));
	set(11, 0, to(DATA - DATA % 16 + 16));
	set(12, 3, to(DATA + 70));
	fake.guest_ggtt[FIRST_GGTT_TABLE * 512 + 1] = to(DATA + 400);
}

/* Whatever takes memory; each step may fail. */
static void use_everything(void)
{
	const u64 ggtt = (FIRST_GGTT_TABLE * 512 + 1) << 12;
	u64 value;

	hold4(1);
	hold(directories, 3);
	ghyvi_gtt_sync(fake.gtt, fake.nr_held ? fake.held[0].root : NULL);
	ghyvi_gtt_ggtt_read(fake.gtt, ggtt, &value, 8);
	set(6, 4, to(13));
	set(13, 1, to(DATA + 300));
	set(8, 0, to(LARGE_SCATTERED) | GHYVI_ENTRY_LARGE);
	ghyvi_gtt_set_policy(fake.gtt, "static");
	ghyvi_gtt_sync(fake.gtt, NULL);
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	hold4(1);
	ghyvi_gtt_fault(fake.gtt, DATA + 500);
	ghyvi_gtt_ggtt_read(fake.gtt, ggtt, &value, 8);
	ghyvi_gtt_set_policy(fake.gtt, "segmented");
}

/* The next try, with memory. */
static void try_with_memory(void)
{
	release_all();
	ASSERT(!IS_ERR(hold4(1)));
	ASSERT(!IS_ERR(hold(directories, 3)));
	ghyvi_gtt_sync(fake.gtt, NULL);
	compare_everything();
	assert_true(shadow_pt(fake.held[0].root)[0] == maps(DATA));
	assert_true(fake.ggtt[FIRST_GGTT_TABLE * 512 + 1] == maps(DATA + 400));
}

/* Returns false when nothing was left to fail. */
static bool fail_from(unsigned long n, unsigned long count)
{
	bool failed;

	fake_init(2);
	assert_int_equal(ghyvi_gtt_set_policy(fake.gtt, "segmented"), 0);
	plant_everything();
	shim_fail_allocs(n, count);
	use_everything();
	failed = shim_failed_allocs();
	shim_fail_allocs(0, 0);
	try_with_memory();
	fake_fini();
	return failed;
}

static void test_any_allocation_of_a_guest_at_work_may_fail(void **s)
{
	unsigned long n;

	alias = false;
	for (n = 1; fail_from(n, 1); n++)
		;
	assert_in_range(n, 80, 1000);
}

static void test_memory_may_end_at_any_allocation(void **s)
{
	unsigned long n;

	alias = false;
	for (n = 1; fail_from(n, ~0UL); n++)
		;
	assert_in_range(n, 80, 1000);
}

static void test_creation_without_memory_leaves_nothing(void **s)
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
	plant_everything();
	try_with_memory();
	fake_fini();
}

/*
 * Any moves, and now and then no memory; what is compared is what the next synchronisations with
 * memory made of it.
 */
static void test_random_failures_end_in_the_guests_translation(void **s)
{
	u64 seed, last = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : SEEDS;
	unsigned int step, i, n;

	for (seed = getenv("SEED") ? last : 1; seed <= last; seed++) {
		if (getenv("SEED_VERBOSE"))
			fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
		state = seed * 0x9e3779b97f4a7c15ull + 1;
		alias = seed & 1;
		fake_init(2);
		for (step = 0; step < 40; step++)
			edit();
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
			move();
			fake.pin_limit = ~0u;
			/*
			 * A large page that cannot be pinned ends the tries of one synchronisation.
			 */
			for (i = 0; i < 4; i++)
				ghyvi_gtt_sync(fake.gtt, NULL);
			compare_everything();
		}
		fake_fini();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_allocation_of_a_guest_at_work_may_fail),
		cmocka_unit_test(test_memory_may_end_at_any_allocation),
		cmocka_unit_test(test_creation_without_memory_leaves_nothing),
		cmocka_unit_test(test_random_failures_end_in_the_guests_translation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
