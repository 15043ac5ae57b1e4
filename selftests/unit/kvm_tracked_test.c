// SPDX-License-Identifier: GPL-2.0-only
/* kernel/kvm/tracked.c: KVM tracks a page from its first user to its last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "kvm/tracked.h"
#include "rule.h"

#define PAGES 16u

static struct {
	u32 tracked[PAGES]; /* KVM's counts */
	bool absent[PAGES];
} vm;
static struct ghyvi_tracked tracked;

static bool add(void *unused, u64 gfn)
{
	/* A store can trap from here on. */
	ASSERT(ghyvi_tracked_has(&tracked, gfn));
	if (vm.absent[gfn])
		return false;
	vm.tracked[gfn]++;
	return true;
}

static void remove_page(void *unused, u64 gfn)
{
	ASSERT(vm.tracked[gfn]);
	vm.tracked[gfn]--;
}

static const struct ghyvi_tracked_ops ops = { .add = add, .remove = remove_page };

static unsigned int get(u64 gfn, unsigned int count)
{
	u64 gfns[PAGES], i;

	for (i = 0; i < count; i++)
		gfns[i] = gfn + i;
	return ghyvi_tracked_get(&tracked, &ops, NULL, gfns, count);
}

static void put(u64 gfn)
{
	ghyvi_tracked_put(&tracked, &ops, NULL, &gfn, 1);
}

static int setup(void **state)
{
	memset(&vm, 0, sizeof(vm));
	ghyvi_tracked_init(&tracked);
	return 0;
}

static int teardown(void **state)
{
	ghyvi_tracked_fini(&tracked);
	return 0;
}

static void a_page_stays_tracked_until_its_last_user_relaxes_it(void **state)
{
	assert_int_equal(get(3, 1), 1);
	assert_int_equal(get(3, 1), 1);
	assert_int_equal(vm.tracked[3], 1);
	put(3);
	assert_int_equal(vm.tracked[3], 1);
	assert_true(ghyvi_tracked_has(&tracked, 3));
	put(3);
	assert_int_equal(vm.tracked[3], 0);
	assert_false(ghyvi_tracked_has(&tracked, 3));
	put(3); /* ignored */
	assert_int_equal(get(3, 1), 1);
	put(3);
	assert_int_equal(vm.tracked[3], 0);
}

static void protection_ends_at_the_first_page_that_is_absent(void **state)
{
	vm.absent[5] = true;
	assert_int_equal(get(3, 4), 2);
	assert_false(ghyvi_tracked_has(&tracked, 5));
	assert_int_equal(vm.tracked[6], 0);
	vm.absent[5] = false;
	assert_int_equal(get(3, 4), 4);
	put(3);
	assert_int_equal(vm.tracked[3], 1);
	put(5);
	assert_int_equal(vm.tracked[5], 0);
}

static void removal_of_a_slot_drops_all_users(void **state)
{
	get(2, 4);
	get(3, 1);
	assert_int_equal(ghyvi_tracked_drop(&tracked, &ops, NULL, 3, 4), 2);
	assert_int_equal(vm.tracked[2], 1);
	assert_int_equal(vm.tracked[3] + vm.tracked[4], 0);
	assert_int_equal(vm.tracked[5], 1);
	/* An old user that drops its use late does not affect a new user. */
	put(3);
	get(3, 1);
	assert_int_equal(vm.tracked[3], 1);
	assert_int_equal(ghyvi_tracked_drop(&tracked, &ops, NULL, 0, PAGES - 1), 3);
	assert_int_equal(ghyvi_tracked_drop(&tracked, &ops, NULL, 0, PAGES - 1), 0);
}

#define TRACKED_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACKED_TEST(a_page_stays_tracked_until_its_last_user_relaxes_it),
		TRACKED_TEST(protection_ends_at_the_first_page_that_is_absent),
		TRACKED_TEST(removal_of_a_slot_drops_all_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
