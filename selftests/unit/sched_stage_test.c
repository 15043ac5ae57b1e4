// SPDX-License-Identifier: GPL-2.0-only
/* Staging (kernel/sched/core.c): a pGPU whose engines take two jobs, driven by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "sched/policy_credit.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC

static struct guest {
	struct ghyvi_workload base;
	u32 context[GHYVI_CTX_DWORDS];
	struct ghyvi_sched_entity *entity;
	struct ghyvi_stats stats;
	unsigned int completed;
	enum ghyvi_job_status status;
} guests[VGPUS];

static struct {
	struct ghyvi_job *jobs[2]; /* in order of execution */
	unsigned int jobs_per_engine, runs, tails;
	struct ghyvi_job *preempted, *cancelled;
	int next_result; /* of run() of a second job */
} gpu;

static struct ghyvi_sched *sched;
static struct sched_engine *engine;
static u64 now;

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id id, u64 at)
{
}

static struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static void gpu_resources(struct ghyvi_pgpu_device *pgpu, struct ghyvi_pgpu_resources *resources)
{
	resources->jobs_per_engine = gpu.jobs_per_engine;
}

static int gpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	lockdep_assert_held(&engine->lock);
	assert_null(gpu.jobs[1]);
	assert_int_equal(job->begun_ns, 0);
	assert_int_equal(job->busy_ns, 0);
	gpu.runs++;
	if (!gpu.jobs[0]) {
		gpu.jobs[0] = job;
		job->begun_ns = now;
		return 0;
	}
	assert_int_equal(gpu.jobs_per_engine, 2);
	if (!gpu.next_result)
		gpu.jobs[1] = job;
	return gpu.next_result;
}

static void gpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	lockdep_assert_held(&engine->lock);
	gpu.preempted = job;
}

static void gpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	gpu.cancelled = job;
}

static int gpu_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	gpu.tails++;
	return job == gpu.jobs[0] || job == gpu.jobs[1] ? 0 : -ESTALE;
}

static const struct ghyvi_pgpu_ops ops = {
	.resources = gpu_resources,
	.run = gpu_run,
	.preempt = gpu_preempt,
	.cancel = gpu_cancel,
	.update_tail = gpu_update_tail,
};
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };

static void guest_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct guest *guest = container_of(base, struct guest, base);

	guest->status = status;
	guest->completed++;
}

static void create(unsigned int jobs_per_engine)
{
	unsigned int i;

	memset(guests, 0, sizeof(guests));
	memset(&gpu, 0, sizeof(gpu));
	gpu.jobs_per_engine = jobs_per_engine;
	now = NSEC_PER_SEC;
	shim_quiet = true;
	sched = ghyvi_sched_create_on(&gpu_device, &by_hand);
	engine = &sched->engines[GHYVI_RCS];
	for (i = 0; i < VGPUS; i++) {
		guests[i].entity = ghyvi_sched_entity_create(sched, &guests[i].stats, NULL);
		guests[i].base.owner = guests[i].entity;
		guests[i].base.complete = guest_complete;
		guests[i].base.job.context = guests[i].context;
	}
}

static int setup(void **state)
{
	create(2);
	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	return 0;
}

static struct ghyvi_job *job_of(unsigned int i)
{
	return &guests[i].base.job;
}

static void submit(unsigned int i)
{
	ghyvi_sched_queue(sched, &guests[i].base);
	ghyvi_sched_kick(sched, GHYVI_RCS);
}

/* The engine switches from its first job to the next one. */
static struct ghyvi_job *switch_jobs(u64 ns)
{
	struct ghyvi_job *job = gpu.jobs[0];

	assert_non_null(job);
	now += ns;
	job->busy_ns = now - job->begun_ns;
	gpu.jobs[0] = gpu.jobs[1];
	gpu.jobs[1] = NULL;
	if (gpu.jobs[0])
		gpu.jobs[0]->begun_ns = now;
	return job;
}

static void first_ends(u64 ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = switch_jobs(ns);

	job->done(job, status);
}

static void second_is_given_back(enum ghyvi_job_status status)
{
	struct ghyvi_job *job = gpu.jobs[1];

	gpu.jobs[1] = NULL;
	job->done(job, status);
}

static int teardown(void **state)
{
	unsigned int i;

	gpu.next_result = 0;
	while (gpu.jobs[0])
		first_ends(MS, GHYVI_JOB_COMPLETE);
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(guests[i].entity);
	ghyvi_sched_destroy(sched);
	return 0;
}

static void assert_executes(const struct ghyvi_job *first, const struct ghyvi_job *second)
{
	assert_ptr_equal(gpu.jobs[0], first);
	assert_ptr_equal(gpu.jobs[1], second);
}

static void the_next_job_is_passed_while_the_first_runs(void **state)
{
	submit(0);
	assert_executes(job_of(0), NULL);
	submit(1);
	submit(2);
	assert_executes(job_of(0), job_of(1));
	assert_int_equal(guests[1].base.state, WORKLOAD_QUEUED);
	assert_int_equal(engine->nr_enqueued, 2);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(engine->current_workload, &guests[1].base);
	assert_int_equal(guests[1].base.state, WORKLOAD_RUNNING);
	assert_executes(job_of(1), job_of(2));
	first_ends(MS, GHYVI_JOB_COMPLETE);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.runs, 3);
	assert_int_equal(guests[2].completed, 1);
	assert_null(engine->current_workload);
}

static void a_pgpu_with_one_job_per_engine_gets_one(void **state)
{
	teardown(state);
	create(1);
	submit(0);
	submit(1);
	assert_executes(job_of(0), NULL);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_executes(job_of(1), NULL);
}

static void time_before_the_dispatch_is_charged(void **state)
{
	struct ghyvi_job *first;

	submit(0);
	submit(1);
	first = switch_jobs(3 * MS);
	now += 2 * MS; /* the end of the first job is reported late */
	first->done(first, GHYVI_JOB_COMPLETE);
	assert_int_equal(engine->charged_ns, 2 * MS);
	first_ends(4 * MS, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&guests[0].stats, GHYVI_RCS)->busy_ns),
			 3 * MS);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&guests[1].stats, GHYVI_RCS)->busy_ns),
			 6 * MS);
}

static void an_arrival_that_goes_first_recalls_the_staged_job(void **state)
{
	struct ghyvi_sched_knobs knobs = { .weight = 100, .priority = 7 };

	assert_int_equal(ghyvi_sched_set_policy(sched, "fair"), 0);
	assert_int_equal(ghyvi_sched_set_knobs(guests[2].entity, &knobs), 0);
	submit(0);
	submit(1);
	assert_executes(job_of(0), job_of(1));
	gpu.preempted = NULL;
	submit(2);
	assert_ptr_equal(gpu.preempted, job_of(1));
	assert_executes(job_of(0), job_of(1));
	second_is_given_back(GHYVI_JOB_PREEMPTED);
	assert_executes(job_of(0), job_of(2));
	assert_int_equal(guests[1].base.state, WORKLOAD_QUEUED);
	assert_int_equal(guests[1].completed, 0);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_executes(job_of(2), job_of(1));
}

static void a_recalled_job_that_has_begun_owns_the_engine(void **state)
{
	submit(0);
	submit(1);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_executes(job_of(1), NULL);
	first_ends(MS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(guests[1].status, GHYVI_JOB_PREEMPTED);
	assert_null(engine->current_workload);
}

static void a_staged_workload_can_be_cancelled(void **state)
{
	submit(0);
	submit(1);
	submit(2);
	assert_false(ghyvi_sched_cancel(sched, &guests[1].base));
	assert_ptr_equal(gpu.cancelled, job_of(1));
	assert_int_equal(engine->nr_enqueued, 1);
	assert_int_equal(guests[1].completed, 0);
	second_is_given_back(GHYVI_JOB_CANCELLED);
	assert_int_equal(guests[1].completed, 1);
	assert_int_equal(guests[1].status, GHYVI_JOB_CANCELLED);
	assert_executes(job_of(0), job_of(2));
}

static void a_cancelled_job_keeps_its_place_until_it_is_given_back(void **state)
{
	struct ghyvi_job *job;

	submit(0);
	submit(1);
	submit(2);
	assert_false(ghyvi_sched_cancel(sched, &guests[1].base));
	job = gpu.jobs[1];
	gpu.jobs[1] = NULL;
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_executes(NULL, NULL);
	job->done(job, GHYVI_JOB_CANCELLED);
	assert_executes(job_of(2), NULL);
}

static void a_recalled_workload_can_be_cancelled(void **state)
{
	submit(0);
	submit(1);
	assert_false(ghyvi_sched_cancel(sched, &guests[1].base));
	second_is_given_back(GHYVI_JOB_PREEMPTED);
	assert_int_equal(guests[1].completed, 1);
	assert_int_equal(guests[1].status, GHYVI_JOB_CANCELLED);
}

static void a_cancelled_job_that_has_begun_is_charged(void **state)
{
	struct ghyvi_job *first;

	assert_int_equal(ghyvi_sched_set_policy(sched, "credit"), 0);
	submit(0);
	submit(1);
	first = switch_jobs(MS);
	assert_false(ghyvi_sched_cancel(sched, &guests[1].base));
	first_ends(2 * MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(credit_rq(sched_rq_of(&guests[1].base))->used_ns, 2 * MS);
	first->done(first, GHYVI_JOB_COMPLETE);
	assert_int_equal(guests[0].completed, 1);
	assert_int_equal(guests[1].completed, 1);
}

/* Whoever runs meanwhile: its counter, and what its cap allows, have the time. */
static void a_staged_job_that_ran_counts_as_gpu_time(void **state)
{
	struct ghyvi_sched_knobs knobs = { .weight = 100, .cap = 50 };
	struct ghyvi_job *first;
	u64 used_ns = 0;
	unsigned int i;

	assert_int_equal(ghyvi_sched_set_policy(sched, "fair"), 0);
	assert_int_equal(ghyvi_sched_set_knobs(guests[1].entity, &knobs), 0);
	submit(0);
	submit(1);
	first = switch_jobs(MS);
	assert_false(ghyvi_sched_cancel(sched, &guests[1].base));
	first_ends(2 * MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&guests[1].stats, GHYVI_RCS)->busy_ns),
			 2 * MS);
	for (i = 0; i < SCHED_CAP_PARTS; i++)
		used_ns += sched_rq_of(&guests[1].base)->fair.cap.parts[i].used_ns;
	assert_int_equal(used_ns, 2 * MS);
	first->done(first, GHYVI_JOB_COMPLETE);
}

static void a_parked_job_that_has_not_begun_is_given_back(void **state)
{
	submit(0);
	submit(1);
	assert_false(ghyvi_sched_park(sched, &guests[1].base));
	assert_ptr_equal(gpu.preempted, job_of(1));
	second_is_given_back(GHYVI_JOB_PREEMPTED);
	assert_int_equal(guests[1].completed, 1);
	assert_int_equal(guests[1].status, GHYVI_JOB_PREEMPTED);
	assert_int_equal(engine->nr_enqueued, 0);
	assert_null(engine->staged);
}

/* The end of the job before it is not handled yet when it is parked. */
static void a_parked_job_that_has_begun_must_yield_in_time(void **state)
{
	struct ghyvi_sched_settings settings;
	struct ghyvi_job *first;

	submit(0);
	submit(1);
	first = switch_jobs(MS);
	assert_false(ghyvi_sched_park(sched, &guests[1].base));
	assert_ptr_equal(gpu.preempted, job_of(1));
	submit(2);
	first->done(first, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(engine->current_workload, &guests[1].base);
	ghyvi_sched_get_settings(sched, &settings);
	now += 1000ULL * settings.preempt_timeout_us;
	ghyvi_sched_timer(sched, GHYVI_RCS);
	now += 1000ULL * settings.preempt_timeout_us;
	ghyvi_sched_timer(sched, GHYVI_RCS);
	assert_ptr_equal(gpu.cancelled, job_of(1));
	first_ends(MS, GHYVI_JOB_CANCELLED);
	assert_int_equal(guests[1].status, GHYVI_JOB_ERROR);
}

static void a_tail_of_a_staged_workload_goes_to_the_pgpu(void **state)
{
	submit(0);
	submit(1);
	assert_int_equal(ghyvi_sched_update_tail(sched, &guests[1].base, 64), 0);
	assert_int_equal(gpu.tails, 1);
	second_is_given_back(GHYVI_JOB_PREEMPTED);
}

static void a_refused_job_waits_for_its_turn(void **state)
{
	gpu.next_result = -EBUSY;
	submit(0);
	submit(1);
	assert_executes(job_of(0), NULL);
	assert_null(engine->staged);
	first_ends(MS, GHYVI_JOB_COMPLETE);
	assert_executes(job_of(1), NULL);
}

static void a_capped_vgpu_is_not_staged_behind_itself(void **state)
{
	static struct ghyvi_workload second;
	struct ghyvi_sched_knobs knobs = { .weight = 100, .cap = 50 };

	second = guests[0].base;
	submit(0);
	ghyvi_sched_queue(sched, &second);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	assert_executes(job_of(0), &second.job);
	second_is_given_back(GHYVI_JOB_PREEMPTED);
	assert_executes(job_of(0), &second.job); /* staged again */
	assert_int_equal(ghyvi_sched_set_knobs(guests[0].entity, &knobs), 0);
	second_is_given_back(GHYVI_JOB_PREEMPTED);
	assert_executes(job_of(0), NULL);
	assert_true(ghyvi_sched_cancel(sched, &second));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_job_is_passed_while_the_first_runs),
		TEST(a_pgpu_with_one_job_per_engine_gets_one),
		TEST(time_before_the_dispatch_is_charged),
		TEST(an_arrival_that_goes_first_recalls_the_staged_job),
		TEST(a_recalled_job_that_has_begun_owns_the_engine),
		TEST(a_staged_workload_can_be_cancelled),
		TEST(a_cancelled_job_keeps_its_place_until_it_is_given_back),
		TEST(a_recalled_workload_can_be_cancelled),
		TEST(a_cancelled_job_that_has_begun_is_charged),
		TEST(a_staged_job_that_ran_counts_as_gpu_time),
		TEST(a_parked_job_that_has_not_begun_is_given_back),
		TEST(a_parked_job_that_has_begun_must_yield_in_time),
		TEST(a_tail_of_a_staged_workload_goes_to_the_pgpu),
		TEST(a_refused_job_waits_for_its_turn),
		TEST(a_capped_vgpu_is_not_staged_behind_itself),
	};

	return cmocka_run_group_tests_name("staging", tests, NULL, NULL);
}
