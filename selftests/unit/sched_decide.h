/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduler on a clock and a pGPU that do nothing by themselves, for tests of single decisions
 * of a policy. The callbacks assert the locks that the scheduler promises to hold.
 */
#ifndef SCHED_DECIDE_H
#define SCHED_DECIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC
#define US 1000ULL
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static struct ghyvi_sched *sched;
static struct sched_engine *engine;
static struct ghyvi_workload workloads[VGPUS];
static struct sched_rq *runs[VGPUS];
static struct ghyvi_stats stats[VGPUS];
static struct ghyvi_job *job; /* on the engine */
static unsigned int preempts;
static u64 now, armed;

static u64 clock_now(void *clock)
{
	return now;
}

static void clock_arm(void *clock, enum ghyvi_engine_id id, u64 at)
{
	lockdep_assert_held(&sched->engines[id].lock);
	armed = at;
}

static const struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static int gpu_run(void *pgpu, struct ghyvi_job *started)
{
	might_sleep();
	lockdep_assert_held(&engine->start);
	assert_null(job);
	job = started;
	job->begun_ns = now;
	return 0;
}

static void gpu_preempt(void *pgpu, struct ghyvi_job *running)
{
	lockdep_assert_held(&engine->lock);
	assert_ptr_equal(running, job);
	preempts++;
}

static void gpu_cancel(void *pgpu, struct ghyvi_job *running)
{
	might_sleep();
}

static const struct ghyvi_pgpu_ops ops = { .run = gpu_run,
					   .preempt = gpu_preempt,
					   .cancel = gpu_cancel };

static int prepare(struct ghyvi_workload *workload)
{
	might_sleep();
	return 0;
}

static void complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	might_sleep();
}

static int setup(void **state)
{
	unsigned int i;

	now = NSEC_PER_SEC;
	armed = GHYVI_SCHED_NEVER;
	job = NULL;
	preempts = 0;
	memset(stats, 0, sizeof(stats));
	sched = ghyvi_sched_create_on(&ops, NULL, &by_hand, NULL);
	engine = &sched->engines[GHYVI_RCS];
	for (i = 0; i < VGPUS; i++) {
		workloads[i] = (struct ghyvi_workload){ .prepare = prepare, .complete = complete };
		workloads[i].owner = ghyvi_sched_entity_create(sched, &stats[i], NULL);
		runs[i] = &workloads[i].owner->rqs[GHYVI_RCS];
	}
	return IS_ERR(sched);
}

static int teardown(void **state)
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

static inline void queue(unsigned int i)
{
	ghyvi_sched_queue(sched, &workloads[i]);
}

static inline void submit(unsigned int i)
{
	queue(i);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
}

/* The job completes with @status after @ns more. */
static inline void leave_as(u64 ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *left = job;

	assert_non_null(left);
	now += ns;
	job = NULL;
	left->busy_ns = now - left->begun_ns;
	left->done(left, status);
}

static inline void leave(u64 ns)
{
	leave_as(ns, GHYVI_JOB_COMPLETE);
}

static inline void fire_at(u64 at)
{
	now = at;
	armed = GHYVI_SCHED_NEVER;
	ghyvi_sched_timer(sched, GHYVI_RCS);
}

static inline bool is_running(unsigned int i)
{
	return job == &workloads[i].job;
}

static inline void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap, .priority = priority };

	assert_int_equal(ghyvi_sched_set_knobs(workloads[i].owner, &knobs), 0);
}

static inline void set_settings(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}

#endif
