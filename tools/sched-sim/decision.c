// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU time of a scheduling decision on this computer. All vGPUs always have one workload
 * queued, and nothing else happens.
 */
#include <stdlib.h>
#include <time.h>
#include "experiments.h"

#define DECISIONS 20000
#define TRIES 7
#define BUSY_NS 100000

struct bench {
	struct ghyvi_pgpu_device pgpu;
	struct ghyvi_sched_clock clock;
	struct ghyvi_sched *sched;
	u64 now, timer;
	struct ghyvi_job *running; /* NULL: the engine idles until @timer */
};

static int bench_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct bench *bench = container_of(pgpu, struct bench, pgpu);

	job->begun_ns = bench->now ?: 1; /* 0: not begun */
	bench->running = job;
	return 0;
}

static void bench_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
}

static const struct ghyvi_pgpu_ops bench_ops = { .run = bench_run, .preempt = bench_preempt };

static u64 bench_now(struct ghyvi_sched_clock *clock)
{
	return container_of(clock, struct bench, clock)->now;
}

static void bench_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	container_of(clock, struct bench, clock)->timer = at;
}

static void complete(struct ghyvi_workload *workload, enum ghyvi_job_status status)
{
	if (status == GHYVI_JOB_COMPLETE)
		ghyvi_sched_queue(workload->sched, workload);
}

/* Nanoseconds of CPU time. */
static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

static void decide(struct bench *bench, unsigned int times)
{
	while (times--) {
		struct ghyvi_job *job = bench->running;

		bench->now += BUSY_NS;
		job->busy_ns = BUSY_NS;
		bench->running = NULL;
		job->done(job, GHYVI_JOB_COMPLETE);
		while (!bench->running) {
			bench->now = max(bench->now, bench->timer);
			ghyvi_sched_timer(bench->sched, job->engine);
		}
	}
}

double sim_decision_ns(const char *policy, unsigned int vgpus)
{
	struct ghyvi_workload *workloads = calloc(vgpus, sizeof(*workloads));
	u32 context[GHYVI_CTX_DWORDS];
	struct bench bench = { .pgpu.ops = &bench_ops };
	u64 best = U64_MAX;
	unsigned int i;

	bench.clock.now = bench_now;
	bench.clock.arm = bench_arm;
	bench.sched = ghyvi_sched_create_on(&bench.pgpu, &bench.clock);
	ghyvi_sched_set_policy(bench.sched, policy);
	for (i = 0; i < vgpus; i++) {
		workloads[i].owner = ghyvi_sched_entity_create(bench.sched, NULL, NULL);
		workloads[i].complete = complete;
		workloads[i].job.engine = GHYVI_RCS;
		workloads[i].job.context = context;
		ghyvi_sched_queue(bench.sched, &workloads[i]);
	}
	ghyvi_sched_kick(bench.sched, GHYVI_RCS);
	for (i = 0; i < TRIES; i++) {
		u64 begin = cpu_ns();

		decide(&bench, DECISIONS);
		best = min(best, cpu_ns() - begin);
	}
	for (i = 0; i < vgpus; i++)
		if (&workloads[i].job != bench.running)
			ghyvi_sched_cancel(bench.sched, &workloads[i]);
	bench.running->done(bench.running, GHYVI_JOB_CANCELLED);
	for (i = 0; i < vgpus; i++)
		ghyvi_sched_entity_destroy(workloads[i].owner);
	ghyvi_sched_destroy(bench.sched);
	free(workloads);
	return (double)best / DECISIONS;
}
