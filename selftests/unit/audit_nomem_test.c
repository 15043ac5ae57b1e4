// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of the auditor fails once: allocation n, for every n until none is left to fail.
 * A submission is refused with -ENOMEM as a whole, or audited; a ring that grows is not extended;
 * nothing leaks (ASan).
 */
#include "audit_fixture.h"

/* Commands in the ring, in a kernel batch and in user batches that cross pages. */
static void fill_ring(void)
{
	unsigned int i;

	fresh();
	for (i = 0; i < 1500; i++)
		put(USER_BATCH + 4 * i, NOOP);
	put(USER_BATCH + 4 * i, START_SECOND, LO(USER_BATCH2), HI(USER_BATCH2), BATCH_END);
	put(USER_BATCH2, STORE, LO(USER_START), HI(USER_START), 1, BATCH_END);
	put(KERNEL_BATCH, NOOP, BATCH_END);
	ring(START_KERNEL, LO(KERNEL_BATCH), 0, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP,
	     NOOP);
}

/* Returns 0 or -ENOMEM. */
static int try_submission(void)
{
	guest.submission.tail = guest.tail;
	guest.commands = ghyvi_audit_submission(guest.audit, &guest.submission);
	if (!IS_ERR(guest.commands))
		return 0;
	assert_int_equal(PTR_ERR(guest.commands), -ENOMEM);
	guest.commands = NULL;
	return -ENOMEM;
}

/* Extend the ring by a batch, and by no-ops until it would be full. */
static int try_extension(void)
{
	u32 tail = guest.tail;
	int err;

	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	while (guest.tail != RING_BYTES - 8)
		ring(NOOP);
	err = ghyvi_audit_extend(guest.commands, guest.tail);
	if (err)
		guest.tail = tail;
	return err;
}

static void fail_each(const char *mode, unsigned long least)
{
	unsigned long n;
	int err;

	for (n = 1;; n++) {
		make_audit(9, GHYVI_RCS, mode);
		fill_ring();
		shim_fail_allocs(n, 1);
		err = try_submission();
		if (!err)
			err = try_extension();
		if (!shim_failed_allocs())
			break;
		shim_fail_allocs(0, 0);
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
		if (guest.commands)
			assert_passed(); /* up to the old tail */
		else
			assert_int_equal(try_submission(), 0);
		assert_int_equal(try_extension(), 0);
		assert_passed();
		drop_audit();
	}
	shim_fail_allocs(0, 0);
	assert_int_equal(err, 0);
	assert_passed();
	drop_audit();
	assert_in_range(n, least, 100);
}

static void any_allocation_of_an_audit_may_fail(void **state)
{
	fail_each("full", 12);
}

static void any_allocation_of_an_audit_of_privileged_commands_may_fail(void **state)
{
	fail_each("privileged", 8);
}

static void any_allocation_of_a_log_may_fail(void **state)
{
	fail_each("log", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_allocation_of_an_audit_may_fail),
		cmocka_unit_test(any_allocation_of_an_audit_of_privileged_commands_may_fail),
		cmocka_unit_test(any_allocation_of_a_log_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
