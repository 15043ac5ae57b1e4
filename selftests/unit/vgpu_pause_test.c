// SPDX-License-Identifier: GPL-2.0-only
/* A vGPU that is paused, with the software engines: in the middle of batches, and at any moment. */
#include <string.h>
#include <time.h>
#include "move_one.h"

static void nothing_is_written(unsigned int ms)
{
	static u8 before[MOVE_RAM_PAGES * GHYVI_PAGE_BYTES];

	memcpy(before, move_ram, sizeof(before));
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000l }, NULL);
	assert_memory_equal(before, move_ram, sizeof(before));
}

static void a_pause_in_a_batch_keeps_the_position(void **state)
{
	move_begin_waiting(&host, GHYVI_RCS, false);
	ghyvi_vgpu_pause(host.vgpu);
	/* The guest's memory may change; the engine does not look. */
	WRITE_ONCE(*move_data(0, 0), 1);
	nothing_is_written(20);
	/* The commands that run are those that were audited. */
	memset(move_page(MOVE_BATCHES), 0xff, GHYVI_PAGE_BYTES);
	ghyvi_vgpu_resume(host.vgpu);
	move_end_waiting(&host, GHYVI_RCS);
	assert_int_equal(READ_ONCE(*move_data(0, 1)), 1);
	assert_int_equal(atomic64_read(&host.stats.engine_errors), 0);
}

static void a_pause_of_all_engines(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		move_begin_waiting(&host, i, false);
	ghyvi_vgpu_pause(host.vgpu);
	ghyvi_vgpu_pause(host.vgpu);
	nothing_is_written(5);
	ghyvi_vgpu_resume(host.vgpu);
	ghyvi_vgpu_resume(host.vgpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		move_end_waiting(&host, i);
}

static void a_submission_waits_for_the_end_of_the_pause(void **state)
{
	u32 csb = GHYVI_RENDER_BASE + RING_CSB_POINTER, before = move_rd(&host, csb);

	ghyvi_vgpu_pause(host.vgpu);
	MOVE_RING(0, MOVE_STORE(0, 1, 1));
	move_submit(&host, GHYVI_RCS, 0);
	nothing_is_written(5);
	assert_int_equal(move_rd(&host, csb), before);
	ghyvi_vgpu_resume(host.vgpu);
	move_await(move_data(0, 1), 1);
	move_await_idle(&host, GHYVI_RCS);
}

static void a_parked_context_can_get_a_new_tail(void **state)
{
	move_begin_waiting(&host, GHYVI_RCS, false);
	ghyvi_vgpu_pause(host.vgpu);
	MOVE_RING(0, MOVE_STORE(0, 9, 9));
	move_submit(&host, GHYVI_RCS, 0);
	ghyvi_vgpu_resume(host.vgpu);
	move_end_waiting(&host, GHYVI_RCS);
	move_await(move_data(0, 9), 9);
	assert_int_equal(atomic64_read(&host.stats.lite_restores), 1);
}

static void resets_drop_parked_workloads(void **state)
{
	move_begin_waiting(&host, GHYVI_RCS, false);
	move_begin_waiting(&host, GHYVI_BCS, false);
	ghyvi_vgpu_pause(host.vgpu);
	move_wr(&host, GEN6_GDRST, GEN6_GRDOM_BLT);
	ghyvi_vgpu_reset_under_driver(host.vgpu);
	nothing_is_written(5);
	ghyvi_vgpu_resume(host.vgpu);
	WRITE_ONCE(*move_data(0, 0), 1);
	WRITE_ONCE(*move_data(1, 0), 1);
	nothing_is_written(5);
	assert_int_equal(READ_ONCE(*move_data(0, 4)), 0);
	ghyvi_vgpu_pause(host.vgpu);
	ghyvi_vgpu_reset(host.vgpu);
	move_guest_begin(&host);
	move_begin_waiting(&host, GHYVI_RCS, false);
	move_end_waiting(&host, GHYVI_RCS);
}

static void never_preempts(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
}

static void a_job_that_does_not_yield_is_stopped(void **state)
{
	struct ghyvi_sched_settings settings;

	host.ops.preempt = never_preempts;
	ghyvi_sched_get_settings(host.sched, &settings);
	settings.preempt_timeout_us = 20000;
	assert_int_equal(ghyvi_sched_set_settings(host.sched, &settings), 0);
	move_begin_waiting(&host, GHYVI_RCS, false);
	ghyvi_vgpu_pause(host.vgpu);
	nothing_is_written(5);
	assert_non_null(strstr(move_report(&host), "did not yield in time"));
	assert_int_equal(atomic64_read(&host.stats.engine_errors), 1);
	ghyvi_vgpu_resume(host.vgpu);
}

/* Pauses at any moment change nothing in the result. */
static void pauses_at_any_moment(void **state)
{
	unsigned int round, i, n = 0;

	srand(1);
	for (round = 0; round < 40; round++) {
		ghyvi_vgpu_reset(host.vgpu);
		move_guest_begin(&host);
		for (i = 0; i < GHYVI_ENGINES; i++)
			for (n = 0; n < 60; n++)
				MOVE_RING(i, MOVE_STORE(i, 10 + n, round + n));
		for (i = 0; i < GHYVI_ENGINES; i++)
			move_submit(&host, i, i);
		for (i = 0; i < 5; i++) {
			nanosleep(&(struct timespec){ .tv_nsec = rand() % 50000 }, NULL);
			ghyvi_vgpu_pause(host.vgpu);
			if (!(rand() % 8))
				nothing_is_written(1);
			ghyvi_vgpu_resume(host.vgpu);
		}
		for (i = 0; i < GHYVI_ENGINES; i++) {
			move_await_idle(&host, i);
			for (n = 0; n < 60; n++)
				assert_int_equal(READ_ONCE(*move_data(i, 10 + n)), round + n);
		}
		assert_int_equal(atomic64_read(&host.stats.engine_errors), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, one_setup, one_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pause_in_a_batch_keeps_the_position),
		TEST(a_pause_of_all_engines),
		TEST(a_submission_waits_for_the_end_of_the_pause),
		TEST(a_parked_context_can_get_a_new_tail),
		TEST(resets_drop_parked_workloads),
		TEST(a_job_that_does_not_yield_is_stopped),
		TEST(pauses_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
