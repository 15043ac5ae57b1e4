// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets of an engine and of the function, suspend, a dead GPU, and the end of the driver: no job
 * and no access to memory outlives them.
 */
#include "gen9_driver.h"

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

/* The worker of the watch gets control while the whole GPU is being reset. */
static void watch_in_the_reset(u32 offset, u32 value)
{
	struct gen9_engine *engine = engine_of(GHYVI_VCS);

	if (offset != GEN6_GDRST || !(value & GEN6_GRDOM_FULL))
		return;
	gen9_shim_written = NULL;
	engine->watch.at_ns = 0;
	gen9_watch(&engine->watch.work);
}

static void job_is_watched_after_a_reset_of_the_whole_gpu(void **state)
{
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	struct test_job *neighbour = endless_job(&guests[1], GHYVI_VCS);
	struct test_job *job = endless_job(&guests[0], GHYVI_BCS);
	const unsigned int timeout_ms = gen9_preempt_timeout_ms;
	const u32 modes = adversary->modes;
	u64 end;

	gen9_preempt_timeout_ms = 1;
	neighbour->base.budget_ns = 2 * NSEC_PER_SEC;
	job->base.budget_ns = 20 * NSEC_PER_MSEC;
	start(neighbour);
	start(job);
	adversary->modes |= BIT(EMU_UNREADY);
	gen9_shim_written = watch_in_the_reset;
	finish(job, GHYVI_JOB_ERROR);
	assert_null(gen9_shim_written);
	assert_false(gen9_of(pgpu)->dead);
	pump(20);
	assert_int_equal(neighbour->status, -1);
	guests[1].tables[3][2] = 0;
	USER(&guests[1], STORE_PPGTT, LO(USER_BATCH + 0x2000), HI(USER_BATCH), 1, BATCH_END);
	end = ktime_get_ns() + NSEC_PER_SEC;
	while (neighbour->status < 0 && ktime_get_ns() < end)
		pump(1);
	assert_int_equal(neighbour->status, GHYVI_JOB_ERROR);
	adversary->modes = modes;
	gen9_preempt_timeout_ms = timeout_ms;
	job_free(job);
	job_free(neighbour);
	gen9_shim_emu.violations[EMU_NOT_PRESENT] = 0;
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

/* ---- the function ---- */

static bool is_master(void)
{
	return emu_config_read(&gen9_shim_emu, 4, 2) & 4;
}

static void dead_gpu_is_no_bus_master(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	assert_true(is_master());
	gen9_shim_lost = true;
	ops->cancel(pgpu, &job->base);
	assert_false(is_master());
	gen9_shim_lost = false;
	finish(job, GHYVI_JOB_CANCELLED);
	job_free(job);
	/* Nor is it after a suspend. */
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	assert_false(is_master());
}

static unsigned int ends_seen;

static void check_end_without_master(struct work_struct *work)
{
	if (work != &engine_of(GHYVI_RCS)->done_work && work != &engine_of(GHYVI_BCS)->done_work)
		return;
	assert_false(is_master());
	ends_seen++;
}

/* When a job has ended, its memory gets other users. */
static void no_job_ends_before_a_dead_gpu_has_lost_its_accesses(void **state)
{
	struct test_job *guilty = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *other = waiting_job(&guests[1], GHYVI_BCS);

	start(guilty);
	start(other);
	pump(20);
	ends_seen = 0;
	gen9_shim_lost = true;
	gen9_shim_queued = check_end_without_master;
	ops->cancel(pgpu, &guilty->base);
	gen9_shim_queued = NULL;
	gen9_shim_lost = false;
	assert_int_equal(ends_seen, 2);
	assert_true(gen9_of(pgpu)->dead);
	finish(guilty, GHYVI_JOB_CANCELLED);
	finish(other, GHYVI_JOB_CANCELLED);
	job_free(guilty);
	job_free(other);
}

static bool reset_as_master, was_reset;

static void note_first_reset(u32 offset, u32 value)
{
	if (offset != GEN6_GDRST || was_reset)
		return;
	was_reset = true;
	reset_as_master = is_master();
}

/* A former driver may have left running engines, and addresses of memory that it has freed. */
static void gpu_becomes_bus_master_after_its_reset(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (i)
			gen9_shim_driver->driver.pm->suspend(&pdev.dev);
		else
			tear_down(state);
		assert_false(is_master());
		was_reset = false;
		gen9_shim_written = note_first_reset;
		if (i)
			gen9_shim_driver->driver.pm->resume(&pdev.dev);
		else
			set_up(state);
		gen9_shim_written = NULL;
		assert_true(was_reset);
		assert_false(reset_as_master);
		assert_true(is_master());
	}
	expect_working(GHYVI_RCS);
}

/* A function that is suspended is not accessible, and is not taken for dead. */
static void suspended_gpu_is_left_alone(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	gen9_shim_lost = true;
	ops->invalidate(&guests[0].client, 1);
	engine_of(GHYVI_RCS)->errors = 1; /* found just before */
	queue_work(gen9_of(pgpu)->wq, &engine_of(GHYVI_RCS)->error_work);
	pump(20);
	gen9_shim_lost = false;
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	assert_false(gen9_of(pgpu)->dead);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* The reset of a suspend may come while the host's own context is saved. */
static void save_kernel_context(u32 offset, u32 value)
{
	const struct gen9_engine *engine = engine_of(GHYVI_RCS);

	if (offset != engine->base + RING_RESET_CTL)
		return;
	gen9_shim_written = NULL;
	gen9_state(engine->kernel_context)[gen9_saved_find(engine, engine->base + RING_MI_MODE)
						   ->dword] |= MASKED_BIT_ENABLE(MI_MODE_STOP);
}

static void hosts_context_works_after_a_suspend(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	u64 resets;

	start(job);
	pump(20);
	gen9_shim_written = save_kernel_context;
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	assert_null(gen9_shim_written);
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	pump(20);
	resets = gen9_shim_emu.resets;
	ops->invalidate(&guests[0].client, 1); /* submits the host's context */
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(gen9_shim_emu.resets, resets);
	job_free(job);
}

/*
 * The kernel saves and restores the configuration. Guests change entries of the GGTT while the
 * function cannot be accessed, which the driver has to write later.
 */
static void jobs_continue_after_a_reset_of_the_function(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	u8 config[sizeof(gen9_shim_emu.config)];
	u64 entry = ops->ggtt_read(guests[0].client, DATA >> GHYVI_PAGE_SHIFT);

	start(job);
	pump(20);
	gen9_shim_driver->err_handler->reset_prepare(&pdev);
	memcpy(config, gen9_shim_emu.config, sizeof(config));
	emu_device_reset(&gen9_shim_emu);
	ops->ggtt_write(guests[0].client, DATA >> GHYVI_PAGE_SHIFT, &entry, 1);
	memcpy(gen9_shim_emu.config, config, sizeof(config));
	gen9_shim_driver->err_handler->reset_done(&pdev);
	assert_false(gen9_of(pgpu)->dead);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
	expect_working(GHYVI_BCS);
}

/* tear_down() looks for works that are queued when the driver waits for the others. */
static void watchdog_of_an_ended_job_does_not_outlive_the_driver(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	job->base.budget_ns = 10 * NSEC_PER_SEC;
	RINGS(job, STORE_GGTT, DATA, 0, 1);
	run_once(job);
	job_free(job);
}

static struct page *scratch_page;
static bool scratch_freed;

static void check_master(struct page *page)
{
	if (page != scratch_page)
		return;
	assert_false(is_master());
	scratch_freed = true;
}

static void memory_is_freed_without_bus_mastering(void **state)
{
	scratch_page = gen9_of(pgpu)->scratch[0].page;
	scratch_freed = false;
	gen9_shim_freed = check_master;
	tear_down(state);
	gen9_shim_freed = NULL;
	assert_true(scratch_freed);
	set_up(state);
}

static void stop_transcoder(u32 offset, u32 value)
{
	if (offset == PIPECONF_EDP && !(value & PIPECONF_ENABLE))
		*emu_reg(&gen9_shim_emu, offset) &= ~(u32)PIPECONF_STATE_ENABLE;
}

static void transcoder_of_edp_is_stopped(void **state)
{
	u32 *transcoder = emu_reg(&gen9_shim_emu, PIPECONF_EDP);
	u32 *plane = emu_reg(&gen9_shim_emu, PLANE_CTL(0, 0));
	u32 *fuses = emu_reg(&gen9_shim_emu, SKL_DFSM), before = *fuses;

	*fuses = 0;
	*emu_reg(&gen9_shim_emu, HSW_PWR_WELL_CTL2) = SKL_PW_1_STATE << 1;
	*transcoder = PIPECONF_ENABLE | PIPECONF_STATE_ENABLE;
	*plane = PLANE_CTL_ENABLE;
	gen9_shim_written = stop_transcoder;
	assert_int_equal(gen9_display_off(gen9_of(pgpu)), 0);
	gen9_shim_written = NULL;
	assert_int_equal(*transcoder, 0);
	assert_int_equal(*plane, 0);
	*fuses = before;
}

/* What firmware has enabled would interrupt for ever: the driver does not clear the events. */
static void interrupts_of_the_display_are_masked(void **state)
{
	static const u32 banks[] = { 0x44400, 0x44410, 0x44440, 0x44460, 0x444e0, 0xc4000 };
	u32 *fuses = emu_reg(&gen9_shim_emu, SKL_DFSM), before = *fuses;
	unsigned int i;

	tear_down(state);
	*fuses = 0;
	*emu_reg(&gen9_shim_emu, 0x45400) = 1u << 29 | 1u << 31; /* both power wells */
	for (i = 0; i < ARRAY_SIZE(banks); i++) {
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IMR) = 0;
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IER) = ~0u;
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IIR) = 1;
	}
	set_up(state);
	for (i = 0; i < ARRAY_SIZE(banks); i++) {
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IMR), ~0u);
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IER), 0);
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IIR), 0);
	}
	*fuses = before;
	*emu_reg(&gen9_shim_emu, 0x45400) = 0;
}

static void rc6_of_a_former_driver_is_off(void **state)
{
	*emu_reg(&gen9_shim_emu, GEN6_RC_STATE) = 0x40000;
	gen9_gt_start(gen9_of(pgpu));
	assert_int_equal(*emu_reg(&gen9_shim_emu, GEN6_RC_STATE), 0);
}

/* gen9_resets_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(engine_that_does_not_get_ready_is_reset),
		TEST(job_is_watched_after_a_reset_of_the_whole_gpu),
		TEST(context_that_was_saved_while_stopped_continues),
		TEST(next_job_of_a_stopped_context_runs),
		TEST(dead_gpu_is_no_bus_master),
		TEST(no_job_ends_before_a_dead_gpu_has_lost_its_accesses),
		TEST(gpu_becomes_bus_master_after_its_reset),
		TEST(suspended_gpu_is_left_alone),
		TEST(hosts_context_works_after_a_suspend),
		TEST(jobs_continue_after_a_reset_of_the_function),
		TEST(watchdog_of_an_ended_job_does_not_outlive_the_driver),
		TEST(memory_is_freed_without_bus_mastering),
		TEST(transcoder_of_edp_is_stopped),
		TEST(interrupts_of_the_display_are_masked),
		TEST(rc6_of_a_former_driver_is_off),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
