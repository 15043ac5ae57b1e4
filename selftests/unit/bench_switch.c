// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a switch between workloads of two vGPUs, through the scheduler and an engine of the
 * software GPU. One JSON line, per workload. For nearly empty workloads: the whole time of a
 * switch, and the part of it on the engine (loading and saving a context), which is charged to the
 * vGPU. For longer ones: the time that the engine idles between them. Also the time from a
 * submission to an idle engine to its completion. tools/sched-sim takes its switch cost from here.
 */
#include <ghyvi/sched.h>
#include "softgpu_fixture.h"

#define TRIES 20
#define SWITCHES 4000
#define EMPTY 8 /* bytes of the ring */
#define LONG (RING_BYTES - 8)

struct player {
	struct ghyvi_workload base;
	struct softgpu_job backend;
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
	player->base.job = rig->job;
	player->base.job.context = player->context;
	player->base.job.backend = &player->backend;
}

struct cost {
	double all, on_engine; /* ns per workload */
};

/* @nr players do @count workloads each with @tail bytes in the ring. */
static struct cost time_once(struct player *players, unsigned int nr, unsigned int count, u32 tail)
{
	struct cost cost = { .on_engine = 0 };
	u64 begin = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		players[i].left = count;
		players[i].busy_ns = 0;
		players[i].context[GHYVI_CTX_RING_TAIL] = tail;
		ghyvi_sched_queue(players[i].sched, &players[i].base);
	}
	ghyvi_sched_kick(players->sched, GHYVI_RCS, NULL);
	for (i = 0; i < nr; i++)
		sem_wait(&over);
	cost.all = (double)(ktime_get_ns() - begin) / (nr * count);
	for (i = 0; i < nr; i++)
		cost.on_engine += (double)players[i].busy_ns / (nr * count);
	return cost;
}

/* The best of many. */
static struct cost time_switches(struct player *players, u32 tail)
{
	struct cost best = { .all = 1e9 };
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		struct cost cost = time_once(players, 2, SWITCHES / 2, tail);

		if (cost.all - cost.on_engine < best.all - best.on_engine)
			best = cost;
	}
	return best;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each is submitted when all threads have gone to sleep. The median. */
static double time_alone(struct player *player)
{
	double all[20 * TRIES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		usleep_range(500, 500);
		all[i] = time_once(player, 1, 1, EMPTY).all;
	}
	sort(all, ARRAY_SIZE(all), sizeof(all[0]), by_size, NULL);
	return all[ARRAY_SIZE(all) / 2];
}

int main(void)
{
	struct rig *rig = rig_new(9);
	struct ghyvi_sched *sched = ghyvi_sched_create(softgpu_device(rig->gpu));
	struct player *players = calloc(2, sizeof(*players));
	struct cost empty, longer;
	unsigned int i;

	sem_init(&over, 0, 0);
	if (ghyvi_sched_set_policy(sched, "fifo"))
		abort();
	for (i = 0; i < 2; i++)
		init_player(&players[i], rig, sched);
	empty = time_switches(players, EMPTY);
	longer = time_switches(players, LONG);
	printf("{\"switch_ns\": %.0f, \"switch_on_engine_ns\": %.0f, \"idle_between_ns\": %.0f, \"alone_ns\": %.0f}\n",
	       empty.all, empty.on_engine, longer.all - longer.on_engine, time_alone(players));
	for (i = 0; i < 2; i++)
		ghyvi_sched_entity_destroy(players[i].base.owner);
	ghyvi_sched_destroy(sched);
	rig_free(rig);
	free(players);
	return 0;
}
