// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware does or may do, beyond the course of jobs: engines that do not get ready for their
 * reset, contexts that are saved while they are stopped.
 */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

static struct gen9_engine *engine_of(enum ghyvi_engine_id id)
{
	return &gen9_of(pgpu)->engines[id];
}

static void expect_working(enum ghyvi_engine_id id)
{
	struct test_job *job = job_new(&guests[0], id);

	*(u32 *)guest_page(&guests[0], DATA) = 0;
	RINGS(job, STORE_GGTT, DATA, 0, 0x55);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 0x55);
	job_free(job);
}

/* ---- resets ---- */

static void engine_that_does_not_get_ready_is_reset(void **state)
{
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	const u32 modes = adversary->modes;
	unsigned int i;

	adversary->modes |= BIT(EMU_UNREADY);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = endless_job(&guests[0], i);

		job->base.budget_ns = 20 * NSEC_PER_MSEC;
		start(job);
		finish(job, GHYVI_JOB_ERROR);
		job_free(job);
		assert_false(gen9_of(pgpu)->dead);
		expect_working(i);
	}
	adversary->modes = modes;
}

static struct test_job *stopped_job;

static u32 *mode_of(const struct test_job *job)
{
	const struct gen9_engine *engine = engine_of(job->base.engine);

	return gen9_state(gen9_context(job->base.pgpu_context)) +
	       gen9_saved_find(engine, engine->base + RING_MI_MODE)->dword;
}

/* The engine has switched to the second job and saved it between its stop and its reset. */
static void save_stopped_job(u32 offset, u32 value)
{
	if (offset != engine_of(stopped_job->base.engine)->base + RING_RESET_CTL)
		return;
	gen9_shim_written = NULL;
	*mode_of(stopped_job) |= MASKED_BIT_ENABLE(MI_MODE_STOP);
}

static void context_that_was_saved_while_stopped_continues(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *first = endless_job(&guests[0], i);

		stopped_job = waiting_job(&guests[1], i);
		start(first);
		start(stopped_job);
		pump(20);
		gen9_shim_written = save_stopped_job;
		ops->cancel(pgpu, &first->base);
		finish(first, GHYVI_JOB_CANCELLED);
		assert_null(gen9_shim_written);
		release_guest(&guests[1]);
		finish(stopped_job, GHYVI_JOB_COMPLETE);
		job_free(first);
		job_free(stopped_job);
	}
}

/* It completed, and the next job of its context begins with its image. */
static void next_job_of_a_stopped_context_runs(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	RINGS(job, STORE_GGTT, DATA, 0, 1);
	run_once(job);
	*mode_of(job) |= MASKED_BIT_ENABLE(MI_MODE_STOP);
	job_free(job);
	expect_working(GHYVI_BCS);
}

/* gen9_hardware_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(engine_that_does_not_get_ready_is_reset),
		TEST(context_that_was_saved_while_stopped_continues),
		TEST(next_job_of_a_stopped_context_runs),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
