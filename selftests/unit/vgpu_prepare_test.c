// SPDX-License-Identifier: GPL-2.0-only
/* Preparation: in the guest's thread, before the workload is queued; by the backend, too. */
#include "sched/sched_types.h"
#include "vgpu_guest.h"

static int setup_preparing(void **state)
{
	fake_prepares_jobs(true);
	return setup_rcs(state);
}

static int teardown_preparing(void **state)
{
	int err = teardown(state);

	fake_prepares_jobs(false);
	gpu.in_prepare = NULL;
	gpu.prepare_error = gpu.prepares = gpu.unprepares = gpu.tails = 0;
	return err;
}

static void a_workload_is_prepared_when_it_is_submitted(void **state)
{
	occupy_engine();
	submit_work(0);
	assert_int_equal(gpu.prepares, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.prepares, 1);
	assert_int_equal(gpu.unprepares, 1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0x18);
}

static void a_preempted_workload_is_prepared_again(void **state)
{
	submit_work(0);
	be_preempted(0);
	assert_int_equal(gpu.prepares, 2);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.prepares, 2);
	assert_int_equal(gpu.unprepares, 1);
}

/* What is added to a workload that waits is prepared, too: the backend gets it. */
static void the_backend_gets_the_tail_of_a_workload_that_waits(void **state)
{
	occupy_engine();
	submit_work(0);
	move_tail(0);
	consume();
	submit(0, -1);
	assert_int_equal(gpu.tails, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(fake_job(gpu.running[guest.id])->tail, guest.tails[0]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void what_a_reset_drops_is_unprepared(void **state)
{
	occupy_engine();
	submit_work(0);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	reset_books();
	assert_int_equal(gpu.unprepares, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	submit_work(0);
	guest_reset();
	settle();
	assert_int_equal(gpu.unprepares, 2);
}

/* The host's shortage is not the guest's fault; more than fits, or a refused command, is. */
static void what_the_guest_did_wrong_is_a_violation(void **state)
{
	static const struct {
		int err;
		u32 points;
	} cases[] = { { -ENOMEM, 0 }, { -ENOSPC, 1 }, { -EACCES, 2 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		gpu.prepare_error = cases[i].err;
		submit_work(0);
		assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
		assert_int_equal(consume(), 0);
		assert_int_equal(gpu.runs, 0);
		assert_true(rd(guest.base + RING_EIR) & RING_ERROR_INSTRUCTION);
		assert_int_equal(vgpu->violation_points, cases[i].points);
		assert_int_equal(gpu.unprepares, i + 1);
		guest_reset();
	}
	assert_int_equal(gtt.roots_live, 0);
}

static void a_job_that_the_pgpu_refuses_is_unprepared_and_no_violation(void **state)
{
	gpu.dead = true;
	submit_work(0);
	settle();
	gpu.dead = false;
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(gpu.unprepares, 1);
	assert_true(rd(guest.base + RING_EIR) & RING_ERROR_INSTRUCTION);
	assert_int_equal(vgpu->violation_points, 0);
	guest_reset();
	assert_int_equal(gtt.roots_live, 0);
}

static void a_preempted_workload_that_cannot_be_prepared_again_fails(void **state)
{
	submit_work(0);
	gpu.prepare_error = -ENOMEM;
	finish(guest.id, GHYVI_JOB_PREEMPTED);
	assert_false(gpu_busy(guest.id));
	assert_true(rd(guest.base + RING_EIR) & RING_ERROR_INSTRUCTION);
	assert_int_equal(vgpu->violation_points, 0);
	guest_reset();
	assert_int_equal(gtt.roots_live, 0);
}

static u32 seen, raised;

static void look_at_status(struct ghyvi_job *job)
{
	gpu.in_prepare = NULL;
	seen = peek(HWSP(guest.id) + HWSP_CSB + 8 * ((guest.csb_read + 1) % GEN8_CSB_ENTRIES));
	raised = vgpu_get(vgpu, GEN8_GT_ISR0 + IRQ_IIR);
}

/* However long that takes, the guest sees at once what has completed. */
static void a_completion_does_not_wait_for_the_preparation_of_the_next_element(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	wr(GEN8_GT_ISR0 + IRQ_IIR, ~0u);
	gpu.in_prepare = look_at_status;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(seen, 0x14);
	assert_true(raised & GHYVI_EVENT_CONTEXT_SWITCH);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void sleep_100_ms(struct ghyvi_job *job)
{
	usleep_range(100 * 1000, 100 * 1000);
}

static u64 vtime(void)
{
	return vgpu->sched_entity->rqs[GHYVI_RCS].fair.vtime;
}

/*
 * For want of memory, or of a CPU. The best of some: on a busy host CPU time has a part of what
 * other programs, or other guests of its host, took.
 */
static void a_thread_that_sleeps_in_preparation_costs_no_engine_time(void **state)
{
	u64 best = U64_MAX, before, took;
	unsigned int i;

	gpu.in_prepare = sleep_100_ms;
	for (i = 0; i < 10 && best > 2 * NSEC_PER_MSEC; i++) {
		before = vtime();
		submit_work(0);
		took = vtime() - before;
		assert_in_range(took, 1, 50 * NSEC_PER_MSEC);
		best = min(best, took);
		finish(guest.id, GHYVI_JOB_COMPLETE);
		while (consume())
			;
	}
	assert_true(best <= 2 * NSEC_PER_MSEC);
}

static void add_worker_time(struct ghyvi_job *job)
{
	job->worker_ns += 5 * NSEC_PER_MSEC;
}

static void what_the_backend_s_threads_spend_is_charged(void **state)
{
	u64 before;

	submit_work(0);
	consume();
	before = vtime();
	gpu.in_update = add_worker_time;
	submit_work(0);
	gpu.in_update = NULL;
	assert_true(vtime() - before >= 5 * NSEC_PER_MSEC);
	assert_int_equal(gpu.running[guest.id]->worker_ns, 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static u64 cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_nsec;
}

static void spend_5_ms(struct ghyvi_job *job)
{
	u64 end = cpu_ns() + 5 * NSEC_PER_MSEC;

	while (cpu_ns() < end)
		;
}

static void what_it_takes_to_give_a_job_up_is_charged(void **state)
{
	struct ghyvi_engine_stats *stats = ghyvi_engine_stats(vgpu->params.stats, GHYVI_RCS);
	u64 before;

	submit_work(0);
	before = atomic64_read(&stats->prepare_ns);
	gpu.in_unprepare = spend_5_ms;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	gpu.in_unprepare = NULL;
	assert_true(atomic64_read(&stats->prepare_ns) - before >= 5 * NSEC_PER_MSEC);
}

static bool slow_access;

static void access_for_5_ms(void)
{
	if (slow_access)
		spend_5_ms(NULL);
	slow_access = false;
}

/* Before the host can write, it may have to look for tables that the guest has freed. */
static void what_it_takes_to_save_a_context_is_charged(void **state)
{
	struct ghyvi_engine_stats *stats = ghyvi_engine_stats(vgpu->params.stats, GHYVI_RCS);
	u64 before;

	submit_work(0);
	before = atomic64_read(&stats->prepare_ns);
	slow_access = true;
	gtt.in_access = access_for_5_ms;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	gtt.in_access = NULL;
	assert_false(slow_access);
	assert_true(atomic64_read(&stats->prepare_ns) - before >= 5 * NSEC_PER_MSEC);
	consume();
	consume();
	/* A few words cost less than to charge them. */
	submit_work(0);
	before = atomic64_read(&stats->prepare_ns);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_true(atomic64_read(&stats->prepare_ns) - before < NSEC_PER_MSEC);
}

static void slow_from_now_on(void)
{
	slow_access = true;
}

/* The guest, which sees the completion, makes the next entry of its status page slow to find. */
static void what_follows_a_completion_is_charged(void **state)
{
	struct ghyvi_engine_stats *stats = ghyvi_engine_stats(vgpu->params.stats, GHYVI_RCS);
	u64 before;

	move_tail(0);
	submit(0, 1); /* the second one has nothing to do */
	consume();
	before = atomic64_read(&stats->prepare_ns);
	gtt.after_sync = slow_from_now_on;
	gtt.in_access = access_for_5_ms;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	gtt.in_access = NULL;
	gtt.after_sync = NULL;
	assert_false(slow_access);
	assert_in_range(atomic64_read(&stats->prepare_ns) - before, 5 * NSEC_PER_MSEC,
			8 * NSEC_PER_MSEC); /* once */
}

static void access_for_50_us(void)
{
	u64 end = cpu_ns() + 50 * NSEC_PER_USEC;

	while (slow_access && cpu_ns() < end)
		;
	slow_access = false;
}

static void many_short_completions_are_charged(void **state)
{
	struct ghyvi_engine_stats *stats = ghyvi_engine_stats(vgpu->params.stats, GHYVI_RCS);
	u64 charged = 0, before;
	unsigned int i;

	gtt.in_access = access_for_50_us;
	for (i = 0; i < 100; i++) {
		submit_work(0);
		before = atomic64_read(&stats->prepare_ns);
		slow_access = true;
		finish(guest.id, GHYVI_JOB_COMPLETE);
		charged += atomic64_read(&stats->prepare_ns) - before;
		while (consume())
			;
	}
	gtt.in_access = NULL;
	assert_true(charged >= 99 * 50 * NSEC_PER_USEC);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_preparing, teardown_preparing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_workload_is_prepared_when_it_is_submitted),
		TEST(a_preempted_workload_is_prepared_again),
		TEST(the_backend_gets_the_tail_of_a_workload_that_waits),
		TEST(what_a_reset_drops_is_unprepared),
		TEST(what_the_guest_did_wrong_is_a_violation),
		TEST(a_job_that_the_pgpu_refuses_is_unprepared_and_no_violation),
		TEST(a_preempted_workload_that_cannot_be_prepared_again_fails),
		TEST(a_completion_does_not_wait_for_the_preparation_of_the_next_element),
		TEST(a_thread_that_sleeps_in_preparation_costs_no_engine_time),
		TEST(what_the_backend_s_threads_spend_is_charged),
		TEST(what_it_takes_to_give_a_job_up_is_charged),
		TEST(what_it_takes_to_save_a_context_is_charged),
		TEST(what_follows_a_completion_is_charged),
		TEST(many_short_completions_are_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
