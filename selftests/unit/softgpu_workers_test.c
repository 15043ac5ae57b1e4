// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of the software pGPU: the pages that they get and lose, and what one costs that hangs,
 * ends, or answers wrongly. The worker is a thread of the test.
 */
#include "compute_unit.h"
#include "softgpu_fixture.h"

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
static unsigned int fault_counts[4];
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
		faulted[i] = unit->fault.zeros ? NULL : unit->fault.pointers[0];
		fault_counts[i] = unit->fault.count;
		fault_errors[i] = unit->fault.err;
		fault_drops[i] = unit->fault.drops;
	}
}

static void a_worker_maps_what_its_context_may_access(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, touch);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	for (i = 0; i < ARRAY_SIZE(fault_errors); i++)
		assert_int_equal(fault_errors[i], 0);
	assert_ptr_equal(faulted[0], rig->data + PAGE_SIZE);
	assert_ptr_equal(faulted[1], rig->read_only);
	assert_ptr_equal(faulted[2],
			 rig->read_only); /* what loads read after a store without effect */
	assert_null(faulted[3]); /* zeros, not the scratch page itself */
	for (i = 0; i < ARRAY_SIZE(fault_drops); i++)
		assert_int_equal(fault_drops[i], i == 2);
	assert_int_equal(fault_counts[0], 4);
	assert_int_equal(fault_counts[1], 1); /* SCRATCH is behind it */
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
	unit_stop(&unit);
}

static void touch_backwards(struct unit *unit, struct ghyvi_eu_next *next)
{
	fault_at(unit, DATA, true);
}

static void one_fault_maps_pages_in_any_order(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	for (i = 0; i < 4; i++)
		rig_map(rig, DATA + i * PAGE_SIZE, rig->data + (3 - i) * PAGE_SIZE, 1,
			i < 3 ? GHYVI_ENTRY_WRITE : 0);
	unit_start(&unit, touch_backwards);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.fault.count, 3); /* the last one may not be written */
	for (i = 0; i < 3; i++)
		assert_ptr_equal(unit.fault.pointers[i], rig->data + (3 - i) * PAGE_SIZE);
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
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_ERROR);
	sem_wait(&unit.go);
	assert_true(fault_errors[0] == -EFAULT || fault_errors[0] == -EAGAIN); /* already */
	assert_int_equal(fault_errors[1], -EAGAIN);
	assert_int_equal(rig->job.fault.ipehr, WALKER);

	WRITE_ONCE(unit.execute, NULL);
	/* The worker is as good as before. */
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	unit_stop(&unit);
}

static void hang(struct unit *unit, struct ghyvi_eu_next *next)
{
	sem_wait(&unit->go);
}

/* Nothing charges what a process does that a guest has taken over. */
static void a_process_that_does_not_end_what_was_given_up_is_ended(void **state)
{
	struct rig *rig = *state;
	struct unit unit;
	unsigned int i;

	unit_start(&unit, hang);
	for (i = 0; i < 2; i++) {
		rig_reset(rig);
		ring_walker(rig);
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

	unit_start(&unit, hang);
	ring_walker(rig);
	rig_start(rig);
	while (!unit.dispatches)
		sched_yield();
	rig_cancel(rig);
	softgpu_ops.job_free(&rig->job);
	/* Taken out of the queue: a delay that begins is seen. */
	assert_true(atomic_exchange(&unit.worker->overdue.pending, false));
	memset(&rig->backend, 0, sizeof(rig->backend));
	rig_reset(rig);
	ring_walker(rig);
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

static void a_worker_that_hangs_costs_its_client_the_job(void **state)
{
	struct rig *rig = *state;
	struct unit unit;

	unit_start(&unit, NULL);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	WRITE_ONCE(unit.execute, hang);
	rig_reset(rig);
	ring_walker(rig);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.budget_overruns), 1);
	assert_int_equal(READ_ONCE(unit.worker->control->abort), 2);

	/* It does not answer yet: the next dispatch waits for it, and can be cancelled. */
	rig->job.budget_ns = 0;
	rig_reset(rig);
	ring_walker(rig);
	rig_start(rig);
	rig_cancel(rig);

	/* No engine waits for the old answer. */
	WRITE_ONCE(unit.execute, NULL);
	sem_post(&unit.go);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	unit_stop(&unit);
}

static void new_worker_gets_next_dispatch(struct rig *rig)
{
	struct unit unit;

	unit_start(&unit, NULL);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(unit.dispatches, 1);
	unit_stop(&unit);
}

static void a_worker_that_ends_costs_its_client_the_job(void **state)
{
	struct rig *rig = *state;
	struct unit first;

	unit_start(&first, hang);
	ring_walker(rig);
	rig_start(rig);
	while (!first.dispatches)
		sched_yield();
	unit_stop(&first);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_int_equal(first.end, -ENODEV);
	new_worker_gets_next_dispatch(rig);
}

/* The daemon has a process that waits for a client, unless it ends. */
static void the_host_has_ended_a_worker_if_none_is_left(void **state)
{
	struct rig *rig = *state;
	struct unit first, spare;
	unsigned int spares;

	for (spares = 0; spares < 2; spares++) {
		unit_start(&first, hang);
		rig_reset(rig);
		ring_walker(rig);
		rig_start(rig);
		while (!first.dispatches)
			sched_yield();
		if (spares)
			unit_start(&spare, NULL);
		unit_stop(&first);
		assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
		assert_int_equal(rig->job.fault.excused, !spares);
	}
	unit_stop(&spare);
}

/* As a process that is being killed: the next dispatch finds it, and is another worker's. */
static void a_worker_that_ends_takes_no_other_dispatch_with_it(void **state)
{
	struct rig *rig = *state;
	struct unit first, second;

	unit_start(&first, NULL);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	WRITE_ONCE(first.execute, hang);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_ERROR);

	rig->job.budget_ns = 0;
	rig_reset(rig);
	ring_walker(rig);
	rig_start(rig); /* waits for the first worker */
	unit_start(&second, NULL);
	usleep_range(5000, 10000);
	unit_stop(&first);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(first.dispatches, 2);
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
		assert_int_equal(rig_run_walker(rig), GHYVI_JOB_ERROR);
	}
	assert_non_null(strstr(rig->reporter.last, "??2Jxxx"));
	wrong_status = GHYVI_EU_ERROR + 1; /* the worker gets -EINVAL, and the engine waits on */
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_ERROR);
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
	ring_walker(rig);
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
	ring_walker(rig);
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

static _Atomic bool stop;

/* Returns the number of answers about another page than the one that was asked for. */
static void *touch_pages(void *worker)
{
	struct softgpu_worker_fault fault;
	uintptr_t wrong = 0;
	u64 address;

	for (address = DATA; !stop; address ^= PAGE_SIZE) {
		fault = (struct softgpu_worker_fault){ .address = address, .pages = 1 };
		if (!softgpu_worker_translate(worker, &fault))
			mutex_unlock(&((struct softgpu_worker *)worker)->insert);
		wrong += fault.address != address;
	}
	return (void *)wrong;
}

static void last_a_little(struct unit *unit, struct ghyvi_eu_next *next)
{
	usleep_range(100, 200);
}

/* A thread of the process faults while another one takes the next dispatch. */
static void a_fault_gets_no_answer_of_an_earlier_dispatch(void **state)
{
	struct rig *rig = *state;
	pthread_t other;
	struct unit unit;
	unsigned int i;
	void *wrong;

	stop = false;
	unit_start(&unit, last_a_little);
	pthread_create(&other, NULL, touch_pages, unit.worker);
	for (i = 0; i < 1000; i++)
		assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
	stop = true;
	pthread_join(other, &wrong);
	unit_stop(&unit);
	assert_null(wrong);
}

static void a_client_that_goes_parts_from_its_worker(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_eu_client name;
	struct unit unit;
	int taken;

	unit_start(&unit, NULL);
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
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
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE); /* the client has a worker */
	WRITE_ONCE(unit.execute, hang);
	rig_reset(rig);
	rig->job.budget_ns = 20 * NSEC_PER_MSEC;
	ring_walker(rig);
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
	assert_int_equal(rig_run_walker(rig), GHYVI_JOB_COMPLETE);
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
		TEST(a_worker_maps_what_its_context_may_access),
		TEST(one_fault_maps_pages_in_any_order),
		TEST(an_address_that_is_not_mapped_ends_the_job),
		TEST(a_process_that_does_not_end_what_was_given_up_is_ended),
		TEST(a_process_that_is_waited_for_gets_no_second_delay),
		TEST(a_worker_that_hangs_costs_its_client_the_job),
		TEST(a_worker_that_ends_costs_its_client_the_job),
		TEST(the_host_has_ended_a_worker_if_none_is_left),
		TEST(a_worker_that_ends_takes_no_other_dispatch_with_it),
		TEST(wrong_answers_are_errors),
		TEST(an_invalidation_takes_pages_away),
		TEST(invalidations_do_not_overtake_a_fault_twice),
		TEST(a_fault_gets_no_answer_of_an_earlier_dispatch),
		TEST(a_client_that_goes_parts_from_its_worker),
		TEST(a_job_that_ends_takes_its_pages_away),
		TEST(the_next_user_of_a_vgpu_has_another_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
