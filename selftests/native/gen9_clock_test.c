// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of the engines and the frequency, also while registers read as all ones.
 */
#include "gen9_driver.h"

/* ---- the clock ---- */

/* Only the lower half of TIMESTAMP is read: it wraps after 358 s. */
static void clock_counts_the_wraps_of_its_lower_half(void **state)
{
	static const int errors_s[] = { -170, -60, 0, 60, 170 };
	struct gen9 *gpu = gen9_of(pgpu);
	const u64 not_read_s = 20 * 60;
	unsigned int i;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(errors_s); i++) {
		before = ops->timestamp(pgpu);
		gpu->clock_ns -= not_read_s * NSEC_PER_SEC;
		gpu->clock_ticks -= (not_read_s + errors_s[i]) * GEN9_TIMESTAMP_HZ;
		assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
	}
}

/* Guests read the clock while the function is being reset: registers read as all ones then. */
static void clock_goes_on_while_the_function_is_lost(void **state)
{
	u64 before = ops->timestamp(pgpu);
	unsigned int i;

	gen9_shim_lost = true;
	for (i = 0; i < 3; i++)
		assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
	gen9_shim_lost = false;
	assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
}

/* Its register begins again at an unknown time then. */
static void clock_does_not_follow_a_register_that_is_being_reset(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	const u64 ahead = 60 * GEN9_TIMESTAMP_HZ;
	u64 before = ops->timestamp(pgpu);

	gen9_shim_driver->err_handler->reset_prepare(&pdev);
	gpu->clock_ticks += ahead; /* as if the register had lost so much */
	assert_in_range(ops->timestamp(pgpu) - before, ahead, ahead + GEN9_TIMESTAMP_HZ);
	gen9_shim_driver->err_handler->reset_done(&pdev);
	assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
}

/* ---- the frequency ---- */

/* In units of 50 MHz. */
static u32 frequency(void)
{
	return emu_frequency(&gen9_shim_emu) / GEN9_FREQ_SCALER;
}

static void expect_frequency(u32 expected)
{
	u64 end = ktime_get_ns() + 2 * NSEC_PER_SEC;

	while (frequency() != expected && ktime_get_ns() < end)
		pump(1);
	assert_int_equal(frequency(), expected);
}

/* It stays for a while when there is no job: requests take the power unit some ms. */
static void highest_frequency_is_asked_for_while_there_are_jobs(void **state)
{
	const u32 limits = gen9_shim_emu.platform->rp_state_cap;
	struct test_job *job = waiting_job(&guests[0], GHYVI_VCS);
	u64 began;

	expect_frequency(limits >> 16 & 0xff);
	start(job);
	expect_frequency(limits & 0xff);
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	*emu_reg(&gen9_shim_emu, GEN6_RPNSWREQ) = 0; /* lost */
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	expect_frequency(limits & 0xff);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(frequency(), limits & 0xff);
	began = ktime_get_ns();
	expect_frequency(limits >> 16 & 0xff);
	assert_in_range(ktime_get_ns() - began, 50 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	job_free(job);
}

/* By the administrator, in MHz. */
static void frequencies_that_are_asked_for_can_be_set(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	const u32 limits = gen9_shim_emu.platform->rp_state_cap;
	const u32 lowest = (limits >> 16 & 0xff) * 50, highest = (limits & 0xff) * 50;
	struct test_job *job = waiting_job(&guests[0], GHYVI_VCS);

	assert_int_equal(gen9_frequency_get(gpu, false), lowest);
	assert_int_equal(gen9_frequency_get(gpu, true), highest);
	assert_int_equal(gen9_frequency_set(gpu, true, highest + 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, false, lowest - 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, false, lowest + 100), 0);
	expect_frequency((lowest + 100) / 50);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 200), 0);
	start(job);
	expect_frequency((lowest + 200) / 50);
	assert_int_equal(gen9_frequency_actual(gpu), lowest + 200);
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	assert_int_equal(gen9_frequency_actual(gpu), 0);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 250), 0);
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	expect_frequency((lowest + 250) / 50);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* All registers read as ones then. */
static void function_that_is_lost_has_no_frequency(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	u32 limits[2];

	gen9_shim_lost = true;
	assert_int_equal(gen9_frequency_actual(gpu), -ENODEV);
	gen9_shim_lost = false;
	assert_in_range(gen9_frequency_actual(gpu), 1, 8000);
	memcpy(limits, gpu->frequency_limits, sizeof(limits));
	memset(gpu->frequency_limits, 0, sizeof(limits));
	memset(gpu->frequencies, 0, sizeof(limits));
	assert_int_equal(gen9_frequency_set(gpu, true, 0), -ENODEV);
	assert_int_equal(gen9_frequency_set(gpu, false, 0), -ENODEV);
	memcpy(gpu->frequency_limits, limits, sizeof(limits));
	memcpy(gpu->frequencies, limits, sizeof(limits));
}

/* gen9_clock_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(clock_counts_the_wraps_of_its_lower_half),
		TEST(clock_goes_on_while_the_function_is_lost),
		TEST(clock_does_not_follow_a_register_that_is_being_reset),
		TEST(highest_frequency_is_asked_for_while_there_are_jobs),
		TEST(frequencies_that_are_asked_for_can_be_set),
		TEST(function_that_is_lost_has_no_frequency),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
