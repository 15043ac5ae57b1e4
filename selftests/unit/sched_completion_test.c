// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler on an engine of the software pGPU: a slow completion does not delay other vGPUs.
 */
#include <ghyvi/sched.h>
#include "sched/sched_types.h"
#include "softgpu_fixture.h"

#define SHORT_TAIL 8 /* two commands that do nothing; behind them those that take long */
#define SHORT 0
#define LONGS 4 /* so many that the engine always finds one */
#define LONGS_MEANWHILE 5
#define PATIENCE_NS (100 * NSEC_PER_SEC)

struct player {
	struct ghyvi_workload base;
	struct softgpu_job backend;
	u32 context[GHYVI_CTX_DWORDS];
	u32 head, tail;
	unsigned int sleep_ms; /* in complete() */
	bool waits; /* in complete(), for LONGS_MEANWHILE of the others to complete */
	bool again;
	_Atomic bool in_complete;
	_Atomic int completed;
	struct task_struct *completer; /* the thread of the engine, or NULL */
	int raised; /* calls of event() before complete() */
	u32 events; /* that event() was not called with */
	enum ghyvi_job_status status;
};

static struct ghyvi_sched *sched;
static struct ghyvi_sched_entity *entities[3];
static struct ghyvi_stats stats[3];
static struct player players[1 + LONGS];
static _Atomic bool over;
static _Atomic int long_ones;
static _Atomic bool gave_up;
static _Atomic int raised;

static void count_event(struct ghyvi_job *job, u32 events)
{
	raised++;
}

static void queue(struct player *player)
{
	if (player->status != GHYVI_JOB_PREEMPTED) {
		player->context[GHYVI_CTX_RING_HEAD] = player->head;
		player->context[GHYVI_CTX_RING_TAIL] = player->tail;
		memset(&player->backend, 0, sizeof(player->backend));
	}
	ghyvi_sched_queue(sched, &player->base);
}

/* However long that takes: the CPUs may be busy. */
static void wait_for_long_ones(void)
{
	u64 began = ktime_get_ns();
	int until = long_ones + LONGS_MEANWHILE;

	while (long_ones < until && !gave_up) {
		usleep_range(100, 200);
		if (ktime_get_ns() - began > PATIENCE_NS)
			gave_up = true;
	}
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct player *player = container_of(base, struct player, base);

	player->status = status;
	player->completer = shim_current;
	player->raised = raised;
	player->events = base->job.events;
	player->in_complete = true;
	if (player->waits)
		wait_for_long_ones();
	else if (player->sleep_ms)
		usleep_range(1000 * player->sleep_ms, 1000 * player->sleep_ms);
	else
		long_ones++;
	if (player->again && !over) {
		queue(player);
		return;
	}
	player->completed++;
}

static void init_player(struct player *player, struct rig *rig, unsigned int entity, u32 head,
			u32 tail)
{
	memset(player, 0, sizeof(*player));
	memcpy(player->context, rig->context, sizeof(player->context));
	player->head = head;
	player->tail = tail;
	player->base.owner = entities[entity];
	player->base.complete = complete;
	player->base.job = rig->job;
	player->base.job.context = player->context;
	player->base.job.backend = &player->backend;
	player->base.job.event = count_event;
}

static int setup(void **state)
{
	unsigned int i;
	int err = rig_setup(state);
	struct rig *rig = *state;

	if (err)
		return err;
	sched = ghyvi_sched_create(softgpu_device(rig->gpu));
	memset(stats, 0, sizeof(stats));
	for (i = 0; i < ARRAY_SIZE(entities); i++)
		entities[i] = ghyvi_sched_entity_create(sched, &stats[i], NULL);
	over = false;
	long_ones = 0;
	gave_up = false;
	raised = 0;
	return 0;
}

static int teardown(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entities); i++)
		ghyvi_sched_entity_destroy(entities[i]);
	ghyvi_sched_destroy(sched);
	return rig_teardown(state);
}

static void wait_completed(struct player *player)
{
	while (!player->completed)
		usleep_range(100, 200); /* never: shows as a time-out of the test program */
}

/* The completion of the short workload waits for some of the long ones, which go on until @over. */
static void end_beside_long_ones(void)
{
	unsigned int i;

	wait_completed(&players[SHORT]);
	over = true;
	for (i = 1; i <= LONGS; i++)
		wait_completed(&players[i]);
	assert_false(gave_up);
	assert_true(long_ones >= LONGS_MEANWHILE);
}

/* This would be a deadlock if the engine waited for the completion. */
static void neighbours_complete_while_a_completion_is_under_way(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	rig->batch[BATCH_PAGES * PAGE_SIZE / 4 - 1] = MI_BATCH_END;
	ring(rig, 0, 0);
	for (i = 0; i < 4; i++)
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	ring_pad(rig);
	init_player(&players[SHORT], rig, 0, 0, SHORT_TAIL);
	players[SHORT].waits = true;
	for (i = 1; i <= LONGS; i++) {
		init_player(&players[i], rig, 1, SHORT_TAIL, rig->tail);
		players[i].again = true;
	}
	for (i = 0; i <= LONGS; i++)
		queue(&players[i]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	end_beside_long_ones();
}

static void the_engine_s_thread_completes_its_last_workload(void **state)
{
	struct rig *rig = *state;

	init_player(&players[SHORT], rig, 0, 0, SHORT_TAIL);
	queue(&players[SHORT]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	wait_completed(&players[SHORT]);
	assert_int_equal(players[SHORT].status, GHYVI_JOB_COMPLETE);
	assert_non_null(players[SHORT].completer);
	assert_ptr_equal(players[SHORT].completer, rig->gpu->engines[GHYVI_RCS].thread);
}

static void run_a_user_interrupt(struct rig *rig)
{
	ring(rig, MI_USER_INTERRUPT, MI_NOOP);
	init_player(&players[SHORT], rig, 0, 0, rig->tail);
	queue(&players[SHORT]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	wait_completed(&players[SHORT]);
}

static void the_completion_gets_the_last_events(void **state)
{
	run_a_user_interrupt(*state);
	assert_int_equal(players[SHORT].events, GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(raised, 0);
}

static void events_do_not_wait_for_a_worker(void **state)
{
	static struct ghyvi_pgpu_ops ops;

	ops = *sched->ops;
	ops.done_may_wait = NULL;
	sched->ops = &ops;
	run_a_user_interrupt(*state);
	assert_null(players[SHORT].completer);
	assert_int_equal(players[SHORT].raised, 1);
	assert_int_equal(players[SHORT].events, 0);
}

/* The engine's thread is in the completion, so another one must execute and complete the others. */
static void neighbours_complete_while_the_engine_s_thread_completes(void **state)
{
	struct rig *rig = *state;
	unsigned int i;

	init_player(&players[SHORT], rig, 0, 0, SHORT_TAIL);
	players[SHORT].waits = true;
	queue(&players[SHORT]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	while (!players[SHORT].in_complete)
		usleep_range(100, 200);
	assert_non_null(players[SHORT].completer);
	for (i = 1; i <= LONGS; i++) {
		init_player(&players[i], rig, 1, 0, SHORT_TAIL);
		players[i].again = true;
		queue(&players[i]);
	}
	ghyvi_sched_kick(sched, GHYVI_RCS);
	end_beside_long_ones();
}

/*
 * The longest timeslice there is, because the CPUs may be busy, and a completion that takes longer.
 */
static void a_slow_completion_is_not_charged_to_the_next_timeslice(void **state)
{
	struct ghyvi_sched_settings settings;
	struct rig *rig = *state;
	unsigned int i;

	ghyvi_sched_get_settings(sched, &settings);
	settings.timeslice_us = GHYVI_SCHED_TIMESLICE_MAX_US;
	settings.window_us = GHYVI_SCHED_WINDOW_MAX_US;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
	for (i = 0; i < 3; i++)
		init_player(&players[i], rig, i, 0, SHORT_TAIL);
	players[0].sleep_ms = 200;
	queue(&players[0]);
	ghyvi_sched_kick(sched, GHYVI_RCS);
	while (!players[0].in_complete)
		usleep_range(100, 200);
	for (i = 1; i < 3; i++) {
		queue(&players[i]);
		ghyvi_sched_kick(sched, GHYVI_RCS);
	}
	for (i = 0; i < 3; i++) {
		wait_completed(&players[i]);
		assert_int_equal(players[i].status, GHYVI_JOB_COMPLETE);
		assert_int_equal(atomic64_read(&stats[i].preempt_requests_rcs), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(neighbours_complete_while_a_completion_is_under_way),
		TEST(the_engine_s_thread_completes_its_last_workload),
		TEST(the_completion_gets_the_last_events),
		TEST(events_do_not_wait_for_a_worker),
		TEST(neighbours_complete_while_the_engine_s_thread_completes),
		TEST(a_slow_completion_is_not_charged_to_the_next_timeslice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
