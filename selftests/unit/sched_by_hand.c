// SPDX-License-Identifier: GPL-2.0-only
#include "sched_by_hand.h"

struct ghyvi_sched *sched;

struct player players[VGPUS];

u64 now;

u64 armed[GHYVI_ENGINES];

struct hand_gpu gpu;

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	lockdep_assert_held(&sched->engines[engine].lock);
	armed[engine] = at;
}

static struct ghyvi_sched_clock by_hand = { .now = clock_now, .arm = clock_arm };

static int gpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	lockdep_assert_held(&sched->engines[job->engine].lock);
	assert_null(gpu.job);
	gpu.runs++;
	if (gpu.refusals && !--gpu.refusals) {
		gpu.run_result = 0;
		return -EIO;
	}
	if (!gpu.run_result)
		gpu.job = job;
	return gpu.run_result;
}

static void gpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	lockdep_assert_held(&sched->engines[job->engine].lock);
	assert_ptr_equal(job, gpu.job);
	gpu.preempts++;
}

static void gpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	might_sleep();
	assert_ptr_equal(job, gpu.job);
	gpu.cancels++;
	if (gpu.in_cancel)
		gpu.in_cancel();
}

static const struct ghyvi_pgpu_ops ops = { .run = gpu_run,
					   .preempt = gpu_preempt,
					   .cancel = gpu_cancel };
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };

static void player_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct player *player = container_of(base, struct player, base);

	might_sleep();
	player->status = status;
	player->completed++;
}

int setup(void **state)
{
	struct player *player;

	memset(players, 0, sizeof(players));
	memset(&gpu, 0, sizeof(gpu));
	now = NSEC_PER_SEC;
	shim_quiet = true;
	sched = ghyvi_sched_create_on(&gpu_device, &by_hand);
	for (player = players; player < players + VGPUS; player++) {
		player->entity = ghyvi_sched_entity_create(sched, &player->stats, NULL);
		player->base.owner = player->entity;
		player->base.complete = player_complete;
		player->base.job.context = player->context;
	}
	return IS_ERR(sched);
}

void submit(unsigned int i)
{
	ghyvi_sched_queue(sched, &players[i].base);
	ghyvi_sched_kick(sched, GHYVI_RCS);
}

void submit_both(void)
{
	submit(0);
	submit(1);
}

void leave(u64 ns, enum ghyvi_job_status status)
{
	struct ghyvi_job *job = gpu.job;

	assert_non_null(job);
	now += ns;
	gpu.job = NULL;
	job->busy_ns = ns;
	job->done(job, status);
}

void fire(void)
{
	armed[GHYVI_RCS] = GHYVI_SCHED_NEVER;
	ghyvi_sched_timer(sched, GHYVI_RCS);
}

void fire_after(u64 ns)
{
	now += ns;
	fire();
}

void drain(void)
{
	while (gpu.job || sched->engines[GHYVI_RCS].nr_enqueued) {
		if (gpu.job)
			leave(MS, GHYVI_JOB_COMPLETE);
		else
			fire_after(MS);
	}
	now += 100 * MS;
}

int teardown(void **state)
{
	unsigned int i;

	drain(); /* if the test failed */
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(players[i].entity);
	ghyvi_sched_destroy(sched);
	return 0;
}

void assert_runs(unsigned int i)
{
	assert_ptr_equal(gpu.job, &players[i].base.job);
}

void set_settings(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_get_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}

void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap, .priority = priority };

	assert_int_equal(ghyvi_sched_set_knobs(players[i].entity, &knobs), 0);
}
