// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatches of the software pGPU, and a worker that takes them: a thread of the test, by the
 * functions that /dev/ghyvi-eu calls.
 */
#include "compute_kernels.h"
#include "softgpu_audited.h"

#define STATE_BASE_ADDRESS 0x61010011u
#define MEDIA_VFE_STATE 0x70000007u
#define GPGPU_WALKER 0x7105000du
#define WALKER_DWORDS 15
#define SURFACE_BASE 4 /* index of its low half */

static void emit_walker(struct rig *rig)
{
	u32 walker[WALKER_DWORDS] = { GPGPU_WALKER, 0, 0, 0, 0, 0, 0, 8, 0, 0, 1, 0, 1, 1, 1 };

	ring_emit(rig, walker, WALKER_DWORDS);
	ring_pad(rig);
}

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
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	assert_int_equal(unit.seen.base[0], STATE_BASE_ADDRESS);
	assert_int_equal(unit.seen.base[SURFACE_BASE], 0x11001);
	assert_memory_equal(unit.seen.vfe, vfe, sizeof(vfe));
	assert_int_equal(unit.seen.constants[0], 0);
	assert_int_equal(unit.seen.dispatch_dim[1], 7);
	assert_int_equal(unit.seen.dwords, WALKER_DWORDS);
	assert_int_equal(unit.seen.command[0], GPGPU_WALKER);
	assert_int_equal(unit.seen.command[7], 8);
	assert_int_equal(unit.seen.groups, 0);
	assert_true(rig->job.compute);

	/* The next job of the context goes on with it. */
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 2);
	assert_int_equal(unit.seen.base[SURFACE_BASE], 0x11001);
	assert_int_equal(unit.seen.number, 2);
	unit_stop(&unit);
}

static void without_workers_a_dispatch_has_no_effect(void **state)
{
	struct rig *rig = *state;

	emit_walker(rig);
	ring(rig, MI_STORE, ADDRESS(DATA), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 5);
	assert_non_null(strstr(rig->reporter.last, "ghyvi-eud"));
	rig->reporter.last[0] = 0;
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_string_equal(rig->reporter.last, ""); /* once */
}

static void fault_at(struct unit *unit, u64 address, bool write)
{
	int err;

	unit->fault =
		(struct softgpu_worker_fault){ .address = address, .write = write, .pages = 4 };
	err = softgpu_worker_translate(unit->worker, &unit->fault);
	assert_int_equal(err, unit->fault.err);
	if (!err)
		mutex_unlock(&unit->worker->insert);
}

static u8 *faulted[4];
static int fault_errors[4];
static bool fault_drops[4];

static void touch(struct unit *unit, struct ghyvi_eu_next *next)
{
	static const struct {
		u64 address;
		bool write;
	} accesses[] = { { DATA + PAGE_SIZE, true },
			 { READ_ONLY, false },
			 { READ_ONLY, true },
			 { SCRATCH, false } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(accesses); i++) {
		fault_at(unit, accesses[i].address, accesses[i].write);
		faulted[i] = unit->fault.zeros ? NULL : unit->fault.pointer;
		fault_errors[i] = unit->fault.err;
		fault_drops[i] = unit->fault.drops;
		if (!i && unit->fault.count > 1) /* what is contiguous may be mapped at once */
			memset(faulted[0], 0x5a, unit->fault.count * PAGE_SIZE);
	}
}

static void a_worker_maps_what_its_context_may_access(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, touch);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (i = 0; i < ARRAY_SIZE(fault_errors); i++)
		assert_int_equal(fault_errors[i], 0);
	assert_ptr_equal(faulted[0], rig->data + PAGE_SIZE);
	assert_int_equal(rig->data[PAGE_SIZE * 2], 0x5a);
	assert_ptr_equal(faulted[1], rig->read_only);
	assert_ptr_equal(faulted[2],
			 rig->read_only); /* what loads read after a store without effect */
	assert_null(faulted[3]); /* zeros, not the scratch page itself */
	for (i = 0; i < ARRAY_SIZE(fault_drops); i++)
		assert_int_equal(fault_drops[i], i == 2);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
	unit_stop(&unit);
}

static void touch_hole(struct unit *unit, struct ghyvi_eu_next *next)
{
	fault_at(unit, HOLE, false);
	fault_errors[0] = unit->fault.err;
	fault_at(unit, DATA, false); /* the job has ended: nothing is mapped any more */
	fault_errors[1] = unit->fault.err;
	sem_post(&unit->go);
}

static void an_address_that_is_not_mapped_ends_the_job(void **state)
{
	struct rig *rig = *state;
	struct unit unit;

	unit_start(&unit, touch_hole);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	sem_wait(&unit.go);
	assert_true(fault_errors[0] == -EFAULT || fault_errors[0] == -EAGAIN); /* already */
	assert_int_equal(fault_errors[1], -EAGAIN);
	assert_int_equal(rig->job.fault.ipehr, GPGPU_WALKER);

	WRITE_ONCE(unit.execute, NULL);
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE); /* the worker is as good as before */
	unit_stop(&unit);
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
	emit_walker(rig);
	ring(rig, MI_STORE | 1 << 22, DATA_GGTT, 0, 5);
	audit(rig, with);
	rig_start(rig);
	sem_wait(&unit.go);
	rig_preempt(rig);
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
	emit_walker(rig);
	emit_walker(rig);
	emit_walker(rig);
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

static void compute_for_ever(struct unit *unit, struct ghyvi_eu_next *next)
{
	sem_wait(&unit->go);
}

/* Nothing charges what a process does that a guest has taken over. */
static void a_process_that_does_not_end_what_was_given_up_is_ended(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, compute_for_ever);
	for (i = 0; i < 2; i++) {
		rig_reset(rig);
		emit_walker(rig);
		rig_start(rig);
		while (unit.dispatches == i)
			sched_yield();
		assert_false(shim_expire(&unit.worker->overdue)); /* it may compute for long */
		rig_cancel(rig);
		softgpu_ops.job_free(&rig->job);
		if (!i) {
			sem_post(&unit.go);
			while (READ_ONCE(unit.worker->state) != WORKER_READY)
				sched_yield();
		}
		assert_true(shim_expire(&unit.worker->overdue));
		assert_int_equal(atomic_read(&unit.killed), i); /* the first one in time */
		memset(&rig->backend, 0, sizeof(rig->backend));
	}
	unit_stop(&unit);
}

/* Jobs that give way again and again while they wait for it do not put its end off. */
static void a_process_that_is_waited_for_gets_no_second_delay(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, compute_for_ever);
	emit_walker(rig);
	rig_start(rig);
	while (!unit.dispatches)
		sched_yield();
	rig_cancel(rig);
	softgpu_ops.job_free(&rig->job);
	/* Taken out of the queue: a delay that begins is seen. */
	assert_true(atomic_exchange(&unit.worker->overdue.pending, false));
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	emit_walker(rig);
	for (i = 0; i < 3; i++) {
		rig_start(rig);
		usleep_range(1000, 2000);
		rig_preempt(rig);
	}
	assert_false(atomic_exchange(&unit.worker->overdue.pending, true));
	assert_true(shim_expire(&unit.worker->overdue));
	assert_int_equal(atomic_read(&unit.killed), 1);
	unit_stop(&unit);
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
	emit_walker(rig);
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
	emit_walker(rig);
	preempt_within(rig, &unit);
	rig_nest(rig);
	status = rig_run(rig);
	unit_stop(&unit);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(status, GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig->reporter.last, "execution units have gone"));
}

/* ASan sees a group that is lost. */
static void a_group_ends_with_its_job(void **state)
{
	struct rig *rig = *state;
	struct unit unit, other;

	unit_start(&unit, NULL);
	emit_walker(rig);
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
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.seen.groups, 0);

	/* The process that goes on with it ends. */
	rig_reset(rig);
	emit_walker(rig);
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
	emit_walker(rig);
	preempt_within(rig, &other);
	unit_stop(&other);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(softgpu_ops.job_group_bytes(&rig->job), 0);

	/* The core drops the job instead of running it. */
	unit_start(&unit, NULL);
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	emit_walker(rig);
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
	emit_walker(rig);
	preempt_within(rig, &unit);
	unit_stop(&unit);
	unit_start(&unit, hold_group);
	sem_post(&unit.go);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	unit_stop(&unit);
}

static void hang(struct unit *unit, struct ghyvi_eu_next *next)
{
	sem_wait(&unit->go);
}

static void a_worker_that_hangs_costs_its_client_the_job(void **state)
{
	struct rig *rig = *state;
	struct unit unit;

	unit_start(&unit, NULL);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	WRITE_ONCE(unit.execute, hang);
	rig_reset(rig);
	emit_walker(rig);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
	assert_int_equal(READ_ONCE(unit.worker->control->abort), 2);

	/* It does not answer yet: the next dispatch waits for it, and can be cancelled. */
	rig->job.budget_ns = 0;
	rig_reset(rig);
	emit_walker(rig);
	rig_start(rig);
	rig_cancel(rig);

	/* The old answer is nobody's. */
	WRITE_ONCE(unit.execute, NULL);
	sem_post(&unit.go);
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	unit_stop(&unit);
}

static void new_worker_gets_next_dispatch(struct rig *rig)
{
	struct unit unit;

	unit_start(&unit, NULL);
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	unit_stop(&unit);
}

static void a_worker_that_ends_costs_its_client_the_job(void **state)
{
	struct rig *rig = *state;
	struct unit first;

	unit_start(&first, hang);
	emit_walker(rig);
	rig_start(rig);
	while (!first.dispatches)
		sched_yield();
	unit_stop(&first);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_int_equal(first.end, -ENODEV);
	new_worker_gets_next_dispatch(rig);
}

/* As a process that is being killed: the next dispatch finds it, and is another worker's. */
static void a_worker_that_ends_takes_no_other_dispatch_with_it(void **state)
{
	struct rig *rig = *state;
	struct unit first, second;

	unit_start(&first, NULL);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	WRITE_ONCE(first.execute, hang);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);

	rig->job.budget_ns = 0;
	rig_reset(rig);
	emit_walker(rig);
	rig_start(rig); /* waits for the first worker */
	unit_start(&second, NULL);
	usleep_range(5000, 10000);
	unit_stop(&first);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(first.dispatches, 2);
	assert_int_equal(second.dispatches, 1);
	unit_stop(&second);
}

/* As a process that is killed before it can take what the engine has given it, and a group too. */
static void a_dispatch_that_was_not_begun_is_the_next_workers(void **state)
{
	struct rig *rig = *state;
	struct unit first, second;

	unit_start(&first, NULL);
	emit_walker(rig);
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

static u32 wrong_status;

static void answer_wrongly(struct unit *unit, struct ghyvi_eu_next *next)
{
	next->status = wrong_status;
	next->groups = 0;
	memset(next->text, 'x', sizeof(next->text));
	memcpy(next->text, "\302\2332J", 4);
}

static void wrong_answers_are_errors(void **state)
{
	static const u32 statuses[] = { GHYVI_EU_YIELDED, GHYVI_EU_ERROR };
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, answer_wrongly);
	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		wrong_status = statuses[i];
		rig_reset(rig);
		emit_walker(rig);
		assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	}
	assert_non_null(strstr(rig->reporter.last, "??2Jxxx"));
	wrong_status = GHYVI_EU_ERROR + 1; /* the worker gets -EINVAL, and the engine waits on */
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	rig_reset(rig);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	unit_stop(&unit);
	assert_int_equal(unit.end, -EINVAL);
}

static void touch_and_hang(struct unit *unit, struct ghyvi_eu_next *next)
{
	fault_at(unit, DATA, true);
	sem_post(&unit->go);
	while (READ_ONCE(unit->worker->control->abort) != next->number)
		sched_yield();
}

static void an_invalidation_takes_pages_away(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	int taken;

	unit_start(&unit, touch_and_hang);
	emit_walker(rig);
	rig_start(rig);
	sem_wait(&unit.go);
	mutex_lock(&unit.worker->insert);
	assert_true(softgpu_worker_current(unit.worker, &unit.fault));
	mutex_unlock(&unit.worker->insert);
	taken = atomic_read(&unit.taken);
	softgpu_ops.invalidate(&rig->client, 1);
	assert_int_equal(atomic_read(&unit.taken), taken + 1);
	mutex_lock(&unit.worker->insert);
	assert_false(
		softgpu_worker_current(unit.worker, &unit.fault)); /* too late to be inserted */
	mutex_unlock(&unit.worker->insert);
	taken = atomic_read(&unit.taken);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	assert_true(atomic_read(&unit.taken) > taken);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
	unit_stop(&unit);
}

static sem_t may_translate;

static void translate_and_hang(struct unit *unit, struct ghyvi_eu_next *next)
{
	sem_post(&unit->go);
	sem_wait(&may_translate);
	unit->fault = (struct softgpu_worker_fault){ .address = DATA, .write = true, .pages = 1 };
	assert_int_equal(softgpu_worker_translate(unit->worker, &unit->fault), 0);
	assert_true(softgpu_worker_current(unit->worker, &unit->fault));
	mutex_unlock(&unit->worker->insert);
	sem_post(&unit->go);
	while (READ_ONCE(unit->worker->control->abort) != next->number)
		sched_yield();
}

/* Wait until the worker has asked for a page, or has an answer. */
static void wait_for_fault(struct softgpu_worker *worker, bool asked)
{
	bool is;

	do {
		sched_yield();
		spin_lock(&worker->lock);
		is = asked ? worker->in_fault : !worker->in_fault && worker->fault.generation;
		spin_unlock(&worker->lock);
	} while (!is);
}

static void invalidations_do_not_overtake_a_fault_twice(void **state)
{
	struct rig *rig = *state;
	struct softgpu_engine *engine = &rig->gpu->engines[GHYVI_RCS];
	struct unit unit;

	sem_init(&may_translate, 0, 0);
	unit_start(&unit, translate_and_hang);
	emit_walker(rig);
	rig_start(rig);
	sem_wait(&unit.go);
	/* As softgpu_invalidate() does, before it takes pages away. */
	mutex_lock(&unit.worker->insert);
	sem_post(&may_translate);
	wait_for_fault(unit.worker, false);
	atomic64_inc(&softgpu_client(rig->client)->generation);
	mutex_lock(&engine->access);
	mutex_unlock(&unit.worker->insert);
	wait_for_fault(unit.worker, true);
	assert_false(mutex_trylock(&unit.worker->insert));
	mutex_unlock(&engine->access);
	sem_wait(&unit.go);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_CANCELLED);
	unit_stop(&unit);
}

static void a_client_that_goes_parts_from_its_worker(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_eu_client name;
	struct unit unit;
	int taken;

	unit_start(&unit, NULL);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(softgpu_worker_accept(unit.worker, &name), -EBUSY);
	taken = atomic_read(&unit.taken);
	softgpu_client_part(softgpu_client(rig->client));
	unit_join(&unit);
	assert_int_equal(unit.end, -ENODEV);
	assert_true(atomic_read(&unit.taken) > taken);
	/* It might not ask for a dispatch any more. */
	assert_int_equal(atomic_read(&unit.killed), 1);
}

/* By its budget: it is not cancelled. */
static void a_job_that_ends_takes_its_pages_away(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	int taken;

	unit_start(&unit, NULL);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE); /* the client has a worker */
	WRITE_ONCE(unit.execute, hang);
	rig_reset(rig);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	taken = atomic_read(&unit.taken);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job); /* the guest's reset */
	assert_int_equal(atomic_read(&unit.taken), taken + 1);
	softgpu_ops.job_free(&rig->job); /* what a pause waits for */
	assert_int_equal(atomic_read(&unit.taken), taken + 2);
	softgpu_ops.job_free(&rig->job);
	assert_int_equal(atomic_read(&unit.taken), taken + 2);
	unit_stop(&unit);
}

/* The former user's kernels may have taken the first worker over. */
static void the_next_user_of_a_vgpu_has_another_worker(void **state)
{
	struct rig *rig = *state;
	struct unit first;

	unit_start(&first, NULL);
	emit_walker(rig);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_non_null(softgpu_ops.client_reset);
	softgpu_ops.client_reset(rig->client);
	unit_join(&first);
	assert_int_equal(first.end, -ENODEV);
	new_worker_gets_next_dispatch(rig);
	assert_int_equal(first.dispatches, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_dispatch_has_its_command_and_the_state_of_its_context),
		TEST(without_workers_a_dispatch_has_no_effect),
		TEST(a_worker_maps_what_its_context_may_access),
		TEST(an_address_that_is_not_mapped_ends_the_job),
		TEST(a_dispatch_gives_way_and_goes_on),
		TEST(a_group_gives_way_anywhere_and_goes_on_to_the_bit),
		TEST(a_job_that_executes_too_many_instructions_is_stopped),
		TEST(what_a_moved_job_has_executed_counts),
		TEST(all_dispatches_of_a_job_have_one_budget),
		TEST(hostile_kernels_reach_only_their_own_memory),
		TEST(a_process_that_does_not_end_what_was_given_up_is_ended),
		TEST(a_process_that_is_waited_for_gets_no_second_delay),
		TEST(groups_of_a_state_are_checked),
		TEST(a_group_ends_with_its_job),
		TEST(what_is_left_of_a_dispatch_is_not_skipped_by_a_nested_job),
		TEST(a_group_that_no_worker_can_take_yet_stays),
		TEST(a_worker_that_hangs_costs_its_client_the_job),
		TEST(a_worker_that_ends_costs_its_client_the_job),
		TEST(a_worker_that_ends_takes_no_other_dispatch_with_it),
		TEST(a_dispatch_that_was_not_begun_is_the_next_workers),
		TEST(wrong_answers_are_errors),
		TEST(an_invalidation_takes_pages_away),
		TEST(invalidations_do_not_overtake_a_fault_twice),
		TEST(a_client_that_goes_parts_from_its_worker),
		TEST(a_job_that_ends_takes_its_pages_away),
		TEST(the_next_user_of_a_vgpu_has_another_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
