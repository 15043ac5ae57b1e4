// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of a vGPU, its auditor and its scheduler fails once, one per run. Creation fails
 * with -ENOMEM and leaves nothing (ASan); a submission ends in an engine error that a reset mends,
 * and that is not held against the guest.
 */
#include <dirent.h>
#include "vgpu_guest.h"

static void vgpu_creation_without_memory_leaves_nothing(void **state)
{
	struct ghyvi_vgpu *made;
	unsigned long n;

	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		made = create_vgpu(&ghyvi_profile_gen9);
		if (!shim_failed_allocs())
			break;
		assert_int_equal(PTR_ERR(made), -ENOMEM);
		assert_int_equal(gtt.live, 1); /* the fixture's */
		assert_int_equal(gpu.clients, 1);
	}
	shim_fail_allocs(0, 0);
	assert_in_range(n, 8, 20);
	ghyvi_vgpu_destroy(made);
}

static unsigned int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned int n = 0;

	assert_non_null(tasks);
	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n;
}

static void scheduler_creation_without_memory_leaves_nothing(void **state)
{
	struct ghyvi_sched *made;
	unsigned int before;
	unsigned long n;

	/* TSan has a thread of its own from the first one on. */
	ghyvi_sched_destroy(ghyvi_sched_create(&fake_pgpu));
	before = threads();
	for (n = 1;; n++) {
		shim_fail_allocs(n, 1);
		made = ghyvi_sched_create(&fake_pgpu);
		if (!shim_failed_allocs())
			break;
		assert_int_equal(PTR_ERR(made), -ENOMEM);
		assert_int_equal(threads(), before);
	}
	shim_fail_allocs(0, 0);
	assert_in_range(n, 6, 20);
	ghyvi_sched_destroy(made);
}

static bool engine_stopped(void)
{
	return rd(guest.base + RING_EIR) & 1;
}

static void run_to_the_end(void)
{
	while (gpu_busy(guest.id))
		finish(guest.id, GHYVI_JOB_COMPLETE);
	while (consume())
		;
}

/* Up to its tail, what the engine has was audited. */
static void check_running_job(void)
{
	struct ghyvi_job *job = gpu.running[guest.id];
	u32 last = (job->context[GHYVI_CTX_RING_TAIL] + RING_BYTES - 4) % RING_BYTES;
	struct ghyvi_cmd_prefetch window;

	assert_true(ghyvi_commands_fetch(job->commands, GHYVI_FETCH_RING, 0, last, 0, &window) > 0);
}

/* Two contexts at once, and more for the first while it runs. */
static void use_the_engine(void)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	if (gpu_busy(guest.id)) {
		move_tail(0);
		submit(0, 1);
		check_running_job();
	}
	run_to_the_end();
}

static void any_allocation_of_a_submission_may_fail(void **state)
{
	bool failed;
	unsigned long n;

	for (n = 1;; n++) {
		/* What a workload left for the next is no allocation. */
		teardown(state);
		assert_int_equal(setup_rcs(state), 0);
		shim_fail_allocs(n, 1);
		use_the_engine();
		failed = shim_failed_allocs();
		shim_fail_allocs(0, 0);
		if (!failed)
			break;
		assert_int_equal(atomic64_read(&stats.violations), 0);
		if (engine_stopped())
			guest_reset();
		else
			assert_int_equal(guest.completes, 2);
		guest.completes = 0;
		use_the_engine();
		assert_false(engine_stopped());
		assert_int_equal(guest.completes, 2);
	}
	assert_in_range(n, 8, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(vgpu_creation_without_memory_leaves_nothing),
		RCS(scheduler_creation_without_memory_leaves_nothing),
		RCS(any_allocation_of_a_submission_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
