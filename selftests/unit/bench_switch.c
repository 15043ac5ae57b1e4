// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to go from one vGPU's workload to another's: two vGPUs' next to empty workloads in turn, through the
 * scheduler and an engine of the software GPU. One JSON line, per workload: everything; and of that on the engine (loading
 * and saving a context), which is charged to the vGPU. tools/sched-sim takes its switch cost from here.
 */
#include <ghyvi/sched.h>
#include "softgpu_fixture.h"

#define TRIES 20
#define SWITCHES 20000

struct player {
	struct ghyvi_workload base;
	struct rig *rig;
	struct ghyvi_sched *sched;
	u32 context[GHYVI_CTX_DWORDS];
	unsigned int left;
	u64 busy_ns;
};

static sem_t over;

static int prepare(struct ghyvi_workload *base)
{
	struct player *player = container_of(base, struct player, base);

	player->context[GHYVI_CTX_RING_HEAD] = 0;
	return 0;
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct player *player = container_of(base, struct player, base);

	if (status != GHYVI_JOB_COMPLETE)
		abort();
	player->busy_ns += base->job.busy_ns;
	if (--player->left)
		ghyvi_sched_queue(player->sched, base);
	else
		sem_post(&over);
}

static void init_player(struct player *player, struct rig *rig, struct ghyvi_sched *sched)
{
	player->rig = rig;
	player->sched = sched;
	player->base.owner = ghyvi_sched_entity_create(sched, NULL, NULL);
	player->base.prepare = prepare;
	player->base.complete = complete;
	memcpy(player->context, rig->context, sizeof(player->context));
	player->context[GHYVI_CTX_RING_TAIL] = 8;
	player->base.job = rig->job;
	player->base.job.context = player->context;
}

static double time_switches(struct player *players, struct ghyvi_sched *sched)
{
	unsigned int i;
	u64 begin;

	for (i = 0; i < 2; i++) {
		players[i].left = SWITCHES / 2;
		ghyvi_sched_queue(sched, &players[i].base);
	}
	begin = ktime_get_ns();
	ghyvi_sched_kick(sched, GHYVI_RCS);
	for (i = 0; i < 2; i++)
		sem_wait(&over);
	return (double)(ktime_get_ns() - begin) / SWITCHES;
}

int main(void)
{
	struct rig *rig = rig_new(9);
	struct ghyvi_sched *sched = ghyvi_sched_create(&softgpu_ops, rig->gpu);
	struct player *players = calloc(2, sizeof(*players));
	double best = 1e9;
	unsigned int i;

	sem_init(&over, 0, 0);
	if (ghyvi_sched_set_policy(sched, "fifo"))
		abort();
	for (i = 0; i < 2; i++)
		init_player(&players[i], rig, sched);
	for (i = 0; i < TRIES; i++)
		best = min(best, time_switches(players, sched));
	printf("{\"switch_ns\": %.0f, \"switch_on_engine_ns\": %.0f}\n", best,
	       (double)(players[0].busy_ns + players[1].busy_ns) / TRIES / SWITCHES);
	for (i = 0; i < 2; i++)
		ghyvi_sched_entity_destroy(players[i].base.owner);
	ghyvi_sched_destroy(sched);
	rig_free(rig);
	free(players);
	return 0;
}
