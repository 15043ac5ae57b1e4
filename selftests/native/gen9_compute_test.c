// SPDX-License-Identifier: GPL-2.0-only
/* kernel/gen9 on the emulated GPU: guests with kernels on the execution units. */
#include "emu_kernels.h"
#include "gen9_guest.h"

/* Offsets in the page of the batch. */
#define DESCRIPTOR_AT 1024
#define KERNEL_AT 2048
#define LOAD_AT (EMU_STATE_DWORDS - 1) /* dword of the batch: where descriptors are loaded from */
#define GROUPS 128 /* in x: a page of output */
#define LONG 64 /* groups in y, for more than one slice */

/* Each lane adds its number once for each group in y. */
static struct test_job *kernel_job(struct guest *guest, u32 rounds)
{
	u32 page[1024] = { 0 }, *walker = page + EMU_STATE_DWORDS;
	struct test_job *job = job_new(guest, GHYVI_RCS);

	emu_kernel_state(page, USER_DATA, USER_BATCH, USER_BATCH);
	page[LOAD_AT] = DESCRIPTOR_AT;
	emu_kernel_walker(walker, GROUPS);
	walker[10] = rounds;
	walker[EMU_WALKER_DWORDS] = BATCH_END;
	emu_kernel_descriptor(page + DESCRIPTOR_AT / 4);
	page[DESCRIPTOR_AT / 4] = KERNEL_AT;
	emu_kernel_put(EMU_KERNEL_ADDS, page + KERNEL_AT / 4);
	put(guest->user[0], page, ARRAY_SIZE(page));
	memset(guest->user[1], 0, 4096);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	return job;
}

static void expect_sums(const struct guest *guest, u32 rounds)
{
	const u32 *sums = (const u32 *)guest->user[1];
	u32 i;

	for (i = 0; i < 1024; i++)
		assert_int_equal(sums[i], rounds * (4 * i + 7));
}

static void kernel_of_a_guest_computes(void **state)
{
	struct test_job *job = kernel_job(&guests[0], 1);

	start(job);
	finish(job, GHYVI_JOB_COMPLETE);
	expect_sums(&guests[0], 1);
	job_free(job);
}

/* Each group is executed once, and the other guest's kernel is in between. */
static void kernel_is_preempted_between_groups(void **state)
{
	const volatile u32 *sums = (const u32 *)guests[0].user[1];
	struct test_job *job = kernel_job(&guests[0], LONG), *other;
	bool adversary = gen9_shim_emu.adversary.modes;

	start(job);
	while (!sums[0])
		pump(1);
	ops->preempt(pgpu, &job->base);
	assert_false(waits(job));
	/* An adversary may let it end first. */
	if (job->status != GHYVI_JOB_PREEMPTED)
		assert_true(adversary);
	else
		assert_in_range(sums[1023], 0, LONG * (4 * 1023 + 7) - 1);
	other = kernel_job(&guests[1], 2);
	start(other);
	finish(other, GHYVI_JOB_COMPLETE);
	expect_sums(&guests[1], 2);
	if (job->status == GHYVI_JOB_PREEMPTED) {
		start(job);
		finish(job, GHYVI_JOB_COMPLETE);
	}
	expect_sums(&guests[0], LONG);
	job_free(other);
	job_free(job);
}

/* gen9_compute_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(kernel_of_a_guest_computes),
		TEST(kernel_is_preempted_between_groups),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
