// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatches of the software pGPU: what a worker gets, how one gives way and goes on, what it may
 * execute. The worker is a thread of the test.
 */
#include "compute_kernels.h"
#include "softgpu_audited.h"

#define STATE_BASE_ADDRESS 0x61010011u
#define MEDIA_VFE_STATE 0x70000007u
#define WALKER_DWORDS 15
#define SURFACE_BASE 4 /* index of its low half */

static void emit_bases(struct rig *rig, u32 surface)
{
	u32 base[19] = { STATE_BASE_ADDRESS };

	base[SURFACE_BASE] = surface;
	ring_emit(rig, base, ARRAY_SIZE(base));
	ring_pad(rig);
}

static void a_dispatch_has_its_command_and_the_state_of_its_context(void **state)
{
	struct rig *rig = *state;
	u32 vfe[9] = { MEDIA_VFE_STATE, 1, 2, 3 };
	struct unit unit;

	unit_start(&unit, NULL);
	emit_bases(rig, 0x11000 | 1);
	ring_emit(rig, vfe, ARRAY_SIZE(vfe));
	emit_bases(rig, 0x22000); /* without its modify-enable bit */
	ring(rig, MI_LRI(1), 0x2504, 7);
	ring_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	assert_int_equal(unit.seen.base[0], STATE_BASE_ADDRESS);
	assert_int_equal(unit.seen.base[SURFACE_BASE], 0x11001);
	assert_memory_equal(unit.seen.vfe, vfe, sizeof(vfe));
	assert_int_equal(unit.seen.constants[0], 0);
	assert_int_equal(unit.seen.dispatch_dim[1], 7);
	assert_int_equal(unit.seen.dwords, WALKER_DWORDS);
	assert_int_equal(unit.seen.command[0], WALKER);
	assert_int_equal(unit.seen.command[7], 8);
	assert_int_equal(unit.seen.groups, 0);
	assert_true(rig->job.compute);

	/* The next job of the context goes on with it. */
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 2);
	assert_int_equal(unit.seen.base[SURFACE_BASE], 0x11001);
	assert_int_equal(unit.seen.number, 2);
	unit_stop(&unit);
}

static void without_workers_a_dispatch_has_no_effect(void **state)
{
	struct rig *rig = *state;

	ring_walker(rig);
	ring(rig, MI_STORE, ADDRESS(DATA), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 5);
	assert_non_null(strstr(rig->reporter.last, "ghyvi-eud"));
	rig->reporter.last[0] = 0;
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	assert_string_equal(rig->reporter.last, ""); /* once */
}

/* Do as a worker that is asked to give way after five groups. */
static void give_way(struct unit *unit, struct ghyvi_eu_next *next)
{
	if (next->groups)
		return;
	sem_post(&unit->go);
	while (READ_ONCE(unit->worker->control->yield) != next->number)
		sched_yield();
	next->status = GHYVI_EU_YIELDED;
	next->groups = 5;
}

static void a_dispatch_gives_way_and_goes_on(void **state)
{
	static const u64 groups[] = { 0x300000000, 0x300000005, 5 };
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	u64 saved[SOFTGPU_JOB_STATE_BYTES / 8];
	struct unit unit;
	unsigned int i;

	unit_start(&unit, give_way);
	ring_walker(rig);
	ring(rig, MI_STORE | 1 << 22, DATA_GGTT, 0, 5);
	audit(rig, with);
	rig_start(rig);
	sem_wait(&unit.go);
	rig_preempt(rig);
	assert_int_not_equal(unit.task.hurried, 0);
	assert_int_equal(rig->backend.groups, 5);
	assert_int_equal(*(u32 *)rig->ggtt_data, 0);

	/* It moves with the vGPU. */
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		rig->backend.groups = groups[i];
		softgpu_ops.job_save(&rig->job, saved);
		memset(&rig->backend, 0, sizeof(rig->backend));
		rig->job.compute = false;
		assert_int_equal(softgpu_ops.job_load(&rig->job, saved), 0);
		assert_true(rig->job.compute);
		assert_true(rig->backend.groups == groups[i]);
	}

	rig_start(rig);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 2);
	assert_int_equal(unit.seen.groups, 5);
	assert_int_equal(rig->backend.groups, 0);
	assert_int_equal(*(u32 *)rig->ggtt_data, 5);
	unit_stop(&unit);
	finish(rig, with);
}

/* To a job that has nothing yet, as on another host. */
static void move_job(struct rig *rig)
{
	u64 saved[SOFTGPU_JOB_STATE_BYTES / 8];
	size_t bytes = softgpu_ops.job_group_bytes(&rig->job);
	void *group = malloc(bytes + 1);

	softgpu_ops.job_save(&rig->job, saved);
	if (bytes)
		softgpu_ops.job_group_save(&rig->job, group);
	softgpu_ops.job_free(&rig->job);
	memset(&rig->backend, 0, sizeof(rig->backend));
	assert_int_equal(softgpu_ops.job_load(&rig->job, saved), bytes ? 1 : 0);
	if (bytes)
		assert_int_equal(softgpu_ops.job_group_load(&rig->job, group, bytes), 0);
	free(group);
}

#define GROUPS 3
#define WITHIN_LEAST 50 /* preemptions in the middle of a group */

/* Preempts the job again and again; each second time the rest is another worker's. */
static unsigned int preempt_to_the_end(struct rig *rig, struct unit units[2], unsigned int *now,
				       unsigned int *seed)
{
	unsigned int moves = 0, within = 0;
	enum ghyvi_job_status status;

	for (;;) {
		rig_start(rig);
		if (rand_r(seed) % 2)
			usleep_range(rand_r(seed) % 300, 400);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		if (status == GHYVI_JOB_COMPLETE)
			return within;
		if (status != GHYVI_JOB_PREEMPTED)
			fail_msg("%s", rig_reason(rig));
		within += rig->backend.group != NULL;
		move_job(rig);
		if (moves++ % 2)
			continue;
		unit_start(&units[!*now], kernels_execute);
		unit_stop(&units[*now]);
		*now = !*now;
	}
}

/* Threads of a real kernel wait for each other and share memory. */
static void a_group_gives_way_anywhere_and_goes_on_to_the_bit(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	unsigned int i, within = 0, rounds, now = 0, seed = 1;
	struct unit units[2];
	u32 commands[64];

	unit_start(&units[now], kernels_execute);
	kernels_put(rig->batch2, rig->batch3, false);
	for (rounds = 0; within < WITHIN_LEAST; rounds++) { /* fewer if the machine is busy */
		rig_reset(rig);
		ring_emit(rig, commands, kernels_commands(commands, DATA, BATCH3, BATCH2, GROUPS));
		ring_pad(rig);
		ghyvi_commands_free(rig->job.commands);
		audit(rig, with);
		within += preempt_to_the_end(rig, units, &now, &seed);
		assert_null(rig->backend.group);
		memset(&rig->backend, 0, sizeof(rig->backend));
	}
	for (i = 0; i < 8 * GROUPS; i++)
		assert_int_equal(data32(rig, 4 * i), rounds * kernels_result(i / 8, i % 8));
	unit_stop(&units[now]);
	finish(rig, with);
}

static void put_kernel(struct rig *rig, bool endless)
{
	u32 commands[64];

	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	kernels_put(rig->batch2, rig->batch3, endless);
	ring_emit(rig, commands, kernels_commands(commands, DATA, BATCH3, BATCH2, GROUPS));
	ring_pad(rig);
}

/* A million instructions are 245 slices, in however many turns. */
static void a_job_that_executes_too_many_instructions_is_stopped(void **state)
{
	struct rig *rig = *state;
	enum ghyvi_job_status status;
	unsigned int turns = 0;
	struct unit unit;

	unit_start(&unit, kernels_execute);
	rig->job.budget_minsn = 1;
	put_kernel(rig, false);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_in_range(rig->backend.slices, 1, 244);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 0);

	put_kernel(rig, true);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), ": 1 million instructions used up"));
	assert_int_equal(rig->backend.slices, 246);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
	assert_null(rig->backend.group);

	put_kernel(rig, true);
	do {
		rig_start(rig);
		if (turns++ % 2)
			usleep_range(200, 300);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
	} while (status == GHYVI_JOB_PREEMPTED);
	assert_int_equal(status, GHYVI_JOB_ERROR);
	assert_true(turns > 1);
	assert_int_equal(rig->backend.slices, 246);

	/* Without a limit only time counts; the next job's results are right. */
	rig->job.budget_minsn = 0;
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	put_kernel(rig, true);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "GPU time"));
	assert_int_equal(rig->backend.slices, 0);
	softgpu_ops.job_free(&rig->job);
	rig->job.budget_ns = 0;
	put_kernel(rig, false);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	unit_stop(&unit);
}

static void what_a_moved_job_has_executed_counts(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	enum ghyvi_job_status status;
	struct unit unit;

	unit_start(&unit, kernels_execute);
	rig->job.budget_minsn = 1;
	put_kernel(rig, true);
	audit(rig, with);
	for (;;) {
		rig_start(rig);
		usleep_range(200, 300);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		if (status != GHYVI_JOB_PREEMPTED)
			break;
		move_job(rig);
	}
	assert_int_equal(status, GHYVI_JOB_ERROR);
	assert_int_equal(rig->backend.slices, 246);

	/* To a vGPU that allows less. */
	put_kernel(rig, true);
	rig->backend.slices = 1000;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), ": 1 million instructions used up"));
	assert_int_equal(rig->backend.slices, 1001);
	unit_stop(&unit);
	finish(rig, with);
}

/* Each says that it has executed half of what it may, or that more is left than it got. */
static void count_half(struct unit *unit, struct ghyvi_eu_next *next)
{
	next->slices = unit->dispatches % 2 ? next->slices / 2 : UINT_MAX;
}

/* What one dispatch has executed, the next one may not. */
static void all_dispatches_of_a_job_have_one_budget(void **state)
{
	struct rig *rig = *state;
	struct unit unit;

	unit_start(&unit, count_half);
	rig->job.budget_minsn = 1;
	ring_walker(rig);
	ring_walker(rig);
	ring_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 3);
	assert_int_equal(rig->backend.slices, 246 - 246 / 2 / 2);
	unit_stop(&unit);
}

#define HOSTILE 100

/* Whatever a kernel does costs its own job at most; the next one's results are right. */
static void hostile_kernels_reach_only_their_own_memory(void **state)
{
	u8 read_only[PAGE_SIZE], ggtt_data[PAGE_SIZE];
	unsigned int i, errors = 0, seed = 1;
	struct rig *rig = *state;
	enum ghyvi_job_status status;
	struct unit unit;
	u32 commands[64];

	unit_start(&unit, kernels_execute);
	memset(rig->read_only, 0xa5, PAGE_SIZE);
	memcpy(read_only, rig->read_only, PAGE_SIZE);
	memcpy(ggtt_data, rig->ggtt_data, PAGE_SIZE);
	for (i = 0; i < HOSTILE; i++) {
		rig_reset(rig);
		rig->job.budget_ns = 20 * NSEC_PER_MSEC;
		ring_emit(rig, commands,
			  kernels_hostile(rig->batch2, rig->batch3, commands,
					  rand_r(&seed) % 4 ? DATA : READ_ONLY, BATCH3, BATCH2,
					  &seed));
		ring_pad(rig);
		status = rig_run(rig);
		assert_true(status == GHYVI_JOB_COMPLETE || status == GHYVI_JOB_ERROR);
		errors += status == GHYVI_JOB_ERROR;
		softgpu_ops.job_free(&rig->job);
		memset(&rig->backend, 0, sizeof(rig->backend));
	}
	assert_in_range(errors, 1, HOSTILE - 1);
	assert_memory_equal(rig->read_only, read_only, PAGE_SIZE);
	assert_memory_equal(rig->ggtt_data, ggtt_data, PAGE_SIZE);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);

	rig_reset(rig);
	rig->job.budget_ns = 0;
	memset(rig->data, 0, PAGE_SIZE);
	kernels_put(rig->batch2, rig->batch3, false);
	ring_emit(rig, commands, kernels_commands(commands, DATA, BATCH3, BATCH2, GROUPS));
	ring_pad(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (i = 0; i < 8 * GROUPS; i++)
		assert_int_equal(data32(rig, 4 * i), kernels_result(i / 8, i % 8));
	unit_stop(&unit);
}

#define PART_BYTES 4096u

static bool asked(struct unit *unit, const struct ghyvi_eu_next *next)
{
	return READ_ONCE(unit->worker->control->yield) == next->number;
}

/* Gives way at once, in the first group. */
static void give_way_within(struct unit *unit, struct ghyvi_eu_next *next)
{
	while (!asked(unit, next))
		sched_yield();
	unit_yield(unit, next, PART_BYTES, 0x5a);
	sem_post(&unit->go);
}

static void preempt_within(struct rig *rig, struct unit *unit)
{
	unsigned int before = unit->dispatches;

	WRITE_ONCE(unit->execute, give_way_within);
	rig_start(rig);
	while (unit->dispatches == before)
		sched_yield();
	rig_preempt(rig);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), PART_BYTES);
	sem_wait(&unit->go);
}

static void groups_of_a_state_are_checked(void **state)
{
	static const size_t bad[] = { 0, 4, PART_BYTES - 1, GHYVI_EU_GROUP_BYTES + 8,
				      SIZE_MAX - 7 };
	static u64 group[GHYVI_EU_GROUP_BYTES / 8];
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	u64 saved[SOFTGPU_JOB_STATE_BYTES / 8];
	struct unit unit;
	unsigned int i;

	unit_start(&unit, NULL);
	ring_walker(rig);
	audit(rig, with);
	preempt_within(rig, &unit);
	softgpu_ops.job_save(&rig->job, saved);
	/* More than 3 is refused by ghyvi that would begin the group again. */
	assert_int_equal(*(u32 *)saved, 4);
	softgpu_ops.job_free(&rig->job);
	memset(&rig->backend, 0, sizeof(rig->backend));
	assert_int_equal(softgpu_ops.job_group_load(&rig->job, group, PART_BYTES), -EINVAL);
	assert_int_equal(softgpu_ops.job_load(&rig->job, saved), 1);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(softgpu_ops.job_group_load(&rig->job, group, bad[i]), -EINVAL);
	assert_int_equal(softgpu_ops.job_group_load(&rig->job, group, sizeof(group)), 0);
	assert_int_equal(softgpu_ops.job_group_load(&rig->job, group, sizeof(group)), -EINVAL);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), 0);

	memset(&rig->backend, 0, sizeof(rig->backend));
	*(u32 *)saved = 5;
	assert_int_equal(softgpu_ops.job_load(&rig->job, saved), -EINVAL);
	*(u32 *)saved = 4;
	rig->job.engine = GHYVI_BCS;
	assert_int_equal(softgpu_ops.job_load(&rig->job, saved), -EINVAL);
	rig->job.engine = GHYVI_RCS;
	unit_stop(&unit);
	finish(rig, with);
}

static void hold_group(struct unit *unit, struct ghyvi_eu_next *next)
{
	assert_non_null(unit->group);
	assert_int_equal(unit->group->bytes, PART_BYTES);
	assert_int_equal(unit->group->data[PART_BYTES - 1], 0x5a);
	sem_wait(&unit->go);
}

/* The vGPU has moved to a host where its policy is "nested". */
static void what_is_left_of_a_dispatch_is_not_skipped_by_a_nested_job(void **state)
{
	struct rig *rig = *state;
	enum ghyvi_job_status status;
	struct unit unit;

	unit_start(&unit, NULL);
	ring_walker(rig);
	preempt_within(rig, &unit);
	rig_nest(rig);
	status = rig_run(rig);
	unit_stop(&unit);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(status, GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig->reporter.last, "execution units have gone"));
	assert_true(rig->job.fault.excused);
}

/* ASan sees a group that is lost. */
static void a_group_ends_with_its_job(void **state)
{
	struct rig *rig = *state;
	struct unit unit, other;

	unit_start(&unit, NULL);
	ring_walker(rig);
	preempt_within(rig, &unit);

	/* The worker has it when the job is cancelled; then the next job has none. */
	WRITE_ONCE(unit.execute, hold_group);
	rig_start(rig);
	while (unit.dispatches != 2)
		sched_yield();
	rig_cancel(rig);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), 0);
	WRITE_ONCE(unit.execute, NULL);
	sem_post(&unit.go);
	memset(&rig->backend, 0, sizeof(rig->backend));
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.seen.groups, 0);

	/* The process that goes on with it ends. */
	rig_reset(rig);
	ring_walker(rig);
	preempt_within(rig, &unit);
	WRITE_ONCE(unit.execute, hold_group);
	rig_start(rig);
	while (unit.dispatches != 5)
		sched_yield();
	unit_stop(&unit);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), 0);

	/* There is none any more that could go on with it: what is left must not be skipped. */
	unit_start(&other, NULL);
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	ring_walker(rig);
	preempt_within(rig, &other);
	unit_stop(&other);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), 0);

	/* The core drops the job instead of running it. */
	unit_start(&unit, NULL);
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	ring_walker(rig);
	preempt_within(rig, &unit);
	softgpu_ops.job_free(&rig->job);
	unit_stop(&unit);
}

/* The process that had it ends before it can go on: the group is the next one's. */
static void a_group_that_no_worker_can_take_yet_stays(void **state)
{
	struct rig *rig = *state;
	struct unit unit;

	unit_start(&unit, NULL);
	ring_walker(rig);
	preempt_within(rig, &unit);
	unit_stop(&unit);
	unit_start(&unit, hold_group);
	sem_post(&unit.go);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	unit_stop(&unit);
}

/* As a process that is killed before it can take what the engine has given it, and a group too. */
static void a_dispatch_that_was_not_begun_is_the_next_workers(void **state)
{
	struct rig *rig = *state;
	struct unit first, second;

	unit_start(&first, NULL);
	ring_walker(rig);
	preempt_within(rig, &first);
	unit_stop(&first);
	unit_start(&first, NULL);
	WRITE_ONCE(first.killed_next, true);
	rig_start(rig);
	while (READ_ONCE(first.worker->state) != WORKER_POSTED)
		sched_yield();
	unit_start(&second, hold_group);
	sem_post(&second.go);
	unit_join(&first);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(first.end, -EINTR);
	assert_int_equal(first.dispatches, 0);
	assert_int_equal(second.dispatches, 1);
	unit_stop(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_dispatch_has_its_command_and_the_state_of_its_context),
		TEST(without_workers_a_dispatch_has_no_effect),
		TEST(a_dispatch_gives_way_and_goes_on),
		TEST(a_group_gives_way_anywhere_and_goes_on_to_the_bit),
		TEST(a_job_that_executes_too_many_instructions_is_stopped),
		TEST(what_a_moved_job_has_executed_counts),
		TEST(all_dispatches_of_a_job_have_one_budget),
		TEST(hostile_kernels_reach_only_their_own_memory),
		TEST(groups_of_a_state_are_checked),
		TEST(a_group_ends_with_its_job),
		TEST(what_is_left_of_a_dispatch_is_not_skipped_by_a_nested_job),
		TEST(a_group_that_no_worker_can_take_yet_stays),
		TEST(a_dispatch_that_was_not_begun_is_the_next_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
