// SPDX-License-Identifier: GPL-2.0-only
#include "sched_decide.h"

struct ghyvi_sched *sched;
struct sched_engine *engine;
struct ghyvi_workload workloads[VGPUS];
struct sched_rq *runs[VGPUS];
struct ghyvi_stats stats[VGPUS];
struct ghyvi_job *job;
unsigned int preempts;
u64 now, armed;

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id id, u64 at)
{
	lockdep_assert_held(&sched->engines[id].lock);
	armed = at;
}

static struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static int gpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *started)
{
	lockdep_assert_held(&engine->lock);
	assert_null(job);
	job = started;
	job->begun_ns = now;
	return 0;
}

static void gpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *running)
{
	lockdep_assert_held(&engine->lock);
	assert_ptr_equal(running, job);
	preempts++;
}

static void gpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *running)
{
	might_sleep();
}

static const struct ghyvi_pgpu_ops ops = { .run = gpu_run,
					   .preempt = gpu_preempt,
					   .cancel = gpu_cancel };
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };

static void complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	might_sleep();
}

int setup(void **state)
{
	unsigned int i;

	now = NSEC_PER_SEC;
	armed = GHYVI_SCHED_NEVER;
	job = NULL;
	preempts = 0;
	memset(stats, 0, sizeof(stats));
	sched = ghyvi_sched_create_on(&gpu_device, &by_hand);
	engine = &sched->engines[GHYVI_RCS];
	for (i = 0; i < VGPUS; i++) {
		workloads[i] = (struct ghyvi_workload){ .complete = complete };
		workloads[i].owner = ghyvi_sched_entity_create(sched, &stats[i], NULL);
		runs[i] = &workloads[i].owner->rqs[GHYVI_RCS];
	}
	return IS_ERR(sched);
}

int teardown(void **state)
{
	unsigned int i;

	for (i = 0; i < VGPUS; i++)
		if (workloads[i].sched)
			ghyvi_sched_cancel(sched, &workloads[i]);
	if (job) { /* all queued workloads are cancelled */
		job->busy_ns = 0;
		job->done(job, GHYVI_JOB_CANCELLED);
	}
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(workloads[i].owner);
	ghyvi_sched_destroy(sched);
	return 0;
}

void queue(unsigned int i)
{
	ghyvi_sched_queue(sched, &workloads[i]);
}

void submit(unsigned int i)
{
	queue(i);
	ghyvi_sched_kick(sched, GHYVI_RCS);
}

void leave_as(u64 ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *left = job;

	assert_non_null(left);
	now += ns;
	job = NULL;
	left->busy_ns = now - left->begun_ns;
	left->done(left, status);
}

void leave(u64 ns)
{
	leave_as(ns, GHYVI_JOB_COMPLETE);
}

void fire_at(u64 at)
{
	now = at;
	armed = GHYVI_SCHED_NEVER;
	ghyvi_sched_timer(sched, GHYVI_RCS);
}

bool is_running(unsigned int i)
{
	return job == &workloads[i].job;
}

void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap, .priority = priority };

	assert_int_equal(ghyvi_sched_set_knobs(workloads[i].owner, &knobs), 0);
}

void set_settings(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_get_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}
