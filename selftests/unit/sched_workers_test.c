// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items of the scheduler: those of one vGPU delay no other vGPU, and end before their entity.
 */
#include <semaphore.h>
#include "sched/sched_types.h"
#include "sched_items.h"

/* As many items as a workqueue can run at a time. */
static struct item waiting[WQ_MAX_ACTIVE];
static sem_t memory; /* that the items wait for; they are too many to poll */

static void wait_for_memory(struct item *item)
{
	sem_wait(&memory);
}

static int setup_waiting(void **state)
{
	unsigned int i;

	sem_init(&memory, 0, 0);
	memset(waiting, 0, sizeof(waiting));
	if (setup(state))
		return -1;
	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		waiting[i].base = items[0].base;
		waiting[i].base.job.context = waiting[i].context;
	}
	return 0;
}

static void let_them_go_on(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waiting); i++)
		sem_post(&memory);
	for (i = 0; i < ARRAY_SIZE(waiting); i++)
		wait_for(&waiting[i].completed);
}

static void completions_that_wait_keep_no_other_vgpu_from_completing(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);
	unsigned int i;
	bool completed;

	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		waiting[i].base.owner = one;
		waiting[i].in_complete = wait_for_memory;
		ghyvi_sched_queue(sched, &waiting[i].base);
		ghyvi_sched_kick(sched, GHYVI_RCS);
		gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	}
	submit(1);
	gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	completed = becomes(&items[1].completed, 1);
	let_them_go_on();
	wait_for(&items[1].completed);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
	assert_true(completed);
}

static _Atomic int in_run, run_ended;

static void run_for_50_ms(void)
{
	in_run = 1;
	usleep_range(50 * 1000, 50 * 1000);
	run_ended = 1;
}

static void queue_1(struct item *item)
{
	queue(1);
}

/* The first vGPU's work item, which completes its workload, starts that of the second one. */
static void the_destruction_of_an_entity_waits_for_its_work_items(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);
	int ended;

	in_run = run_ended = 0;
	submit(0);
	gpu.before_run = run_for_50_ms;
	items[0].in_complete = queue_1;
	gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for(&items[0].completed);
	wait_for(&in_run);
	ghyvi_sched_entity_destroy(one);
	ended = run_ended;
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu.before_run = NULL;
	ghyvi_sched_entity_destroy(other);
	assert_int_equal(ended, 1);
}

/*
 * It comes when the workload that it should have stopped has completed, and finds the next one, or
 * that of another vGPU.
 */
static void a_late_work_item_stops_no_other_workload(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	submit(0);
	ghyvi_sched_stop_work(&one->rqs[GHYVI_RCS].stop);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	submit(1);
	ghyvi_sched_stop_work(&one->rqs[GHYVI_RCS].stop);
	assert_int_equal(gpu.cancels, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

#define WAITING(f) cmocka_unit_test_setup_teardown(f, setup_waiting, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WAITING(completions_that_wait_keep_no_other_vgpu_from_completing),
		TEST(the_destruction_of_an_entity_waits_for_its_work_items),
		TEST(a_late_work_item_stops_no_other_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
