// SPDX-License-Identifier: GPL-2.0-only
/* kernel/gen9 on the emulated GPU: two jobs on an engine, and random operations on them. */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

/* ---- two jobs on an engine ---- */

/*
 * Run @count waiting jobs of the two guests in turn on @engine. The next one starts before its
 * predecessor ends, if @ahead, else afterwards. Returns how often the engine became idle.
 */
static u64 alternate(enum ghyvi_engine_id engine, unsigned int count, bool ahead)
{
	struct emu_engine *hardware = &gen9_shim_emu.engines[engine];
	u64 idles = hardware->idles;
	struct test_job *job = NULL, *next;
	unsigned int i;

	for (i = 0; i < count; i++) {
		next = waiting_job(&guests[i % 2], engine);
		if (job && !ahead) {
			release_guest(job->guest);
			finish(job, GHYVI_JOB_COMPLETE);
		}
		start(next);
		pump_events(3);
		if (job && ahead) {
			assert_int_equal(next->base.begun_ns, 0);
			assert_int_equal(job->status, -1);
			release_guest(job->guest);
			finish(job, GHYVI_JOB_COMPLETE);
			assert_true(next->base.begun_ns);
		}
		if (job)
			job_free(job);
		job = next;
	}
	idles = hardware->idles - idles;
	release_guest(job->guest);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
	return idles;
}

static void engine_does_not_idle_between_two_jobs(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		assert_int_equal(alternate(i, 50, false), 49);
		assert_int_equal(alternate(i, 50, true), 0);
	}
}

static void third_job_and_second_of_a_context_are_not_taken(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *same = job_new(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);

	RINGS(same, NOOP, NOOP);
	audit(same);
	start(first);
	assert_int_equal(ops->run(pgpu, &same->base), -EBUSY);
	start(second);
	assert_int_equal(ops->run(pgpu, &same->base), -EBUSY);
	complete_waiting(&guests[0], first);
	complete_waiting(&guests[1], second);
	job_free(first);
	job_free(second);
	job_free(same);
}

/* The first job can neither be preempted nor does it end. */
static void second_job_is_withdrawn_from_an_endless_one(void **state)
{
	struct test_job *first = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;
	unsigned int i;

	start(first);
	pump(5);
	for (i = 0; i < 20; i++) {
		start(second);
		pump(i % 3);
		ops->preempt(pgpu, &second->base);
		finish(second, GHYVI_JOB_PREEMPTED);
		assert_int_equal(second->base.busy_ns, 0);
	}
	start(second);
	pump(2);
	ops->cancel(pgpu, &second->base);
	finish(second, GHYVI_JOB_CANCELLED);
	assert_false(second->base.fault.valid);
	assert_int_equal(first->status, -1);
	assert_int_equal(gen9_shim_emu.resets, resets);
	ops->cancel(pgpu, &first->base);
	finish(first, GHYVI_JOB_CANCELLED);
	job_free(first);
	job_free(second);
	expect_working_engines();
}

static void preempted_job_makes_way_for_the_second(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_VCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_VCS);
	unsigned int i;

	start(first);
	start(second);
	pump_events(5);
	ops->preempt(pgpu, &first->base);
	finish(first, GHYVI_JOB_PREEMPTED);
	assert_true(first->base.busy_ns);
	for (i = 0; i < 1000 && !READ_ONCE(second->base.begun_ns); i++)
		pump_events(5);
	assert_true(second->base.begun_ns);
	start(first); /* now the second one */
	pump_events(5);
	complete_waiting(&guests[1], second);
	complete_waiting(&guests[0], first);
	assert_int_equal(((u32 *)guests[0].user[1])[1], 2);
	assert_int_equal(((u32 *)guests[1].user[1])[1], 2);
	job_free(first);
	job_free(second);
}

static void second_job_survives_the_reset_of_the_first(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *first = endless_job(&guests[0], i);
		struct test_job *second = waiting_job(&guests[1], i);

		first->base.budget_ns = 20 * NSEC_PER_MSEC;
		second->base.budget_ns = 300 * NSEC_PER_MSEC;
		start(first);
		start(second);
		finish(first, GHYVI_JOB_ERROR);
		assert_true(first->base.fault.valid);
		complete_waiting(&guests[1], second);
		assert_int_equal(((u32 *)guests[1].user[1])[1], 2);
		job_free(first);
		job_free(second);
	}
}

/* Its budget begins with its execution. */
static void waiting_in_the_second_port_costs_no_budget(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_BCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_BCS);
	u64 end;

	second->base.budget_ns = 60 * NSEC_PER_MSEC;
	start(first);
	start(second);
	while (!first->base.begun_ns)
		pump(1);
	end = first->base.begun_ns + 100 * NSEC_PER_MSEC;
	while (ktime_get_ns() < end)
		pump(1);
	assert_int_equal(second->status, -1);
	complete_waiting(&guests[0], first);
	assert_true(first->base.busy_ns >= 90 * NSEC_PER_MSEC);
	assert_true(second->base.begun_ns >= end);
	finish(second, GHYVI_JOB_ERROR);
	assert_in_range(second->base.busy_ns, 60 * NSEC_PER_MSEC, TEST_S * NSEC_PER_SEC);
	job_free(first);
	job_free(second);
}

static void invalidation_for_the_second_leaves_the_first_alone(void **state)
{
	struct test_job *first = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;

	start(first);
	start(second);
	pump(5);
	ops->invalidate(&guests[1].client, 1);
	assert_int_equal(first->status, -1);
	assert_int_equal(second->status, -1);
	assert_int_equal(gen9_shim_emu.resets, resets);
	ops->cancel(pgpu, &first->base);
	finish(first, GHYVI_JOB_CANCELLED);
	complete_waiting(&guests[1], second);
	job_free(first);
	job_free(second);
}

static void second_job_gets_no_interrupt_of_the_first(void **state)
{
	struct test_job *first = job_new(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	u64 end = ktime_get_ns() + TEST_S * NSEC_PER_SEC;

	*(u32 *)guests[0].user[1] = 0;
	USER(&guests[0], WAIT_PPGTT, 1, LO(USER_DATA), HI(USER_DATA), BATCH_END);
	RINGS(first, USER_INTERRUPT, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	start(first);
	start(second);
	/* Adversaries delay interrupts. */
	while (!(first->events & GHYVI_EVENT_USER_INTERRUPT) && ktime_get_ns() < end)
		pump(1);
	assert_true(first->events & GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(second->events, 0);
	complete_waiting(&guests[0], first);
	complete_waiting(&guests[1], second);
	job_free(first);
	job_free(second);
}

/* ---- random operations on two jobs per engine ---- */

/* A job that stores 1, 2, 3 ... to a word of its guest, with a batch that may wait in between. */
struct counter {
	struct test_job *job;
	u32 address, value;
};

#define RANDOM_STEPS 3000

static void count_on(struct counter *counter)
{
	RINGS(counter->job, STORE_GGTT, counter->address, 0, ++counter->value, USER_INTERRUPT,
	      ARB_CHECK);
}

static void restart(struct counter *counter)
{
	struct test_job *job = counter->job;

	if (job->status == GHYVI_JOB_PREEMPTED) {
		start(job);
		return;
	}
	/* All stores up to the tail that was accepted, in order: the last one is visible. */
	if (job->status == GHYVI_JOB_COMPLETE && job->base.commands)
		assert_int_equal(at(job->guest, counter->address - job->guest->base),
				 counter->value);
	ghyvi_commands_free(job->base.commands);
	job->base.commands = NULL;
	memset(job->base.backend, 0, ops->job_bytes);
	job->context[GHYVI_CTX_RING_HEAD] = job->tail;
	count_on(counter);
	start(job);
}

static void random_step(struct counter *counter)
{
	struct test_job *job = counter->job;

	if (job->status >= 0 || !job->base.commands) {
		restart(counter);
		return;
	}
	switch (random() % 8) {
	case 0:
		ops->preempt(pgpu, &job->base);
		break;
	case 1:
		ops->cancel(pgpu, &job->base);
		assert_false(waits(job));
		break;
	case 2:
		ops->invalidate(&job->guest->client, 1);
		break;
	case 3:
	case 4:
	case 5:
		count_on(counter);
		if (ghyvi_audit_extend(job->base.commands, job->tail) ||
		    ops->update_tail(pgpu, &job->base, job->tail)) {
			/* As the core does: it ends at the tail before. */
			assert_false(waits(job));
			job->status = GHYVI_JOB_CANCELLED;
		}
		break;
	default:
		pump(random() % 4);
	}
}

/* The first job ends, and the second begins, just before the engine stops for its reset. */
static void end_first_job(u32 offset, u32 value)
{
	u32 *mode = emu_reg(&gen9_shim_emu, GHYVI_RENDER_BASE + RING_MI_MODE);
	unsigned int i;

	if (offset != GHYVI_RENDER_BASE + RING_MI_MODE)
		return;
	gen9_shim_written = NULL;
	*mode &= ~(u32)MI_MODE_STOP;
	*(u32 *)guests[0].user[0] = BATCH_END;
	for (i = 0; i < 1000; i++)
		gen9_shim_step();
	*mode |= MI_MODE_STOP;
}

static void second_job_that_has_begun_is_not_blamed(void **state)
{
	struct test_job *first = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);

	start(first);
	start_and_pump(second);
	gen9_shim_written = end_first_job;
	ops->cancel(pgpu, &first->base);
	assert_null(gen9_shim_written);
	finish(first, GHYVI_JOB_COMPLETE);
	pump(20);
	assert_int_equal(second->status, -1);
	complete_waiting(&guests[1], second);
	job_free(first);
	job_free(second);
}

/* It counts in memory, then waits. */
static struct test_job *counting_job(struct guest *guest)
{
	struct test_job *job = waiting_job(guest, GHYVI_RCS);
	u32 batch[16];

	memcpy(batch, guest->user[0], sizeof(batch));
	memset(guest->user[1], 0, 16);
	USER(guest, MI(0x2f, 1) | 5u << 8, LO(USER_DATA + 8), HI(USER_DATA));
	put(guest->user[0] + 12, batch, 12);
	return job;
}

static u32 count_of(const struct guest *guest)
{
	return READ_ONCE(((const u32 *)guest->user[1])[2]);
}

/* The page of the engine as it was before its last events, and what they have written there. */
static struct events {
	u64 entries[GEN8_CSB_ENTRIES];
	u32 pointer;
	bool are_late;
} events;

static u32 *pointer_of(const struct gen9_engine *engine)
{
	return engine->status->cpu + HWSP_CSB_WRITE / 4;
}

static void give_late_events(void)
{
	struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];

	if (!events.are_late)
		return;
	events.are_late = false;
	memcpy((u8 *)engine->status->cpu + HWSP_CSB, events.entries, sizeof(events.entries));
	*pointer_of(engine) = events.pointer;
}

static void take_events_back(void)
{
	struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	u64 *entries = (u64 *)((u8 *)engine->status->cpu + HWSP_CSB);
	u32 i;

	events.are_late = true;
	events.pointer = *pointer_of(engine);
	memcpy(events.entries, entries, sizeof(events.entries));
	for (i = engine->csb_head; i != events.pointer; i = (i + 1) % GEN8_CSB_ENTRIES)
		entries[(i + 1) % GEN8_CSB_ENTRIES] = ~0ull;
	*pointer_of(engine) = engine->csb_head;
}

static void end_first_job_late(u32 offset, u32 value)
{
	end_first_job(offset, value);
	if (!gen9_shim_written)
		take_events_back();
}

/* With an IOMMU, the event of its end arrives after the engine was stopped. */
static void job_that_ends_before_its_reset_completes(void **state)
{
	void (*const hooks[])(u32 offset, u32 value) = { end_first_job, end_first_job_late };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		struct test_job *first = endless_job(&guests[0], GHYVI_RCS);
		struct test_job *second = counting_job(&guests[1]);

		start(first);
		start_and_pump(second);
		gen9_shim_written = hooks[i];
		gen9_shim_waiting = give_late_events;
		ops->cancel(pgpu, &first->base);
		assert_null(gen9_shim_written);
		finish(first, GHYVI_JOB_COMPLETE);
		gen9_shim_waiting = NULL;
		assert_false(events.are_late);
		complete_waiting(&guests[1], second);
		assert_int_equal(count_of(&guests[1]), 1);
		job_free(first);
		job_free(second);
	}
}

/* As if hardware wrote the event of its begin after the restore, in which it can do anything. */
static void job_that_is_reset_in_its_restore_has_begun(void **state)
{
	struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_RCS];
	struct test_job *job = endless_job(&guests[0], GHYVI_RCS);
	const u32 modes = gen9_shim_emu.adversary.modes;
	unsigned int i;

	gen9_shim_emu.adversary.modes = 0;
	start(job);
	for (i = 0; i < 100000 && hardware->state != EMU_RUNNING; i++)
		gen9_shim_step();
	take_events_back();
	events.are_late = false; /* nor on their way */
	hardware->csb_write = gen9_of(pgpu)->engines[GHYVI_RCS].csb_head;
	ops->cancel(pgpu, &job->base);
	finish(job, GHYVI_JOB_CANCELLED);
	assert_true(job->base.busy_ns);
	gen9_shim_emu.adversary.modes = modes;
	job_free(job);
	expect_working_engines();
}

/* Run the hardware alone until it executes the second of its jobs. */
static void reach_second_job(struct emu_engine *hardware)
{
	unsigned int i;

	for (i = 0; i < 100000 && hardware->port == 0; i++)
		gen9_shim_step();
	assert_int_equal(hardware->port, 1);
}

/* It ends before the submission that the first one's new commands need is promoted. */
static void second_job_that_has_begun_unseen_is_not_submitted_again(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = endless_job(&guests[1], GHYVI_RCS);
	const u32 modes = gen9_shim_emu.adversary.modes;

	gen9_shim_emu.adversary.modes = 0; /* what is late here is for the test to say */
	start(first);
	start_and_pump(second);
	release_guest(&guests[0]);
	reach_second_job(&gen9_shim_emu.engines[GHYVI_RCS]);
	take_events_back();
	RINGS(first, STORE_GGTT, DATA, 0, 3);
	assert_int_equal(ghyvi_audit_extend(first->base.commands, first->tail), 0);
	assert_int_equal(ops->update_tail(pgpu, &first->base, first->tail), 0);
	WRITE_ONCE(*(u32 *)guests[1].user[0], BATCH_END);
	give_late_events();
	finish(first, GHYVI_JOB_COMPLETE);
	finish(second, GHYVI_JOB_COMPLETE);
	assert_int_equal(at(&guests[0], DATA), 3);
	assert_int_equal(violations(), 0);
	gen9_shim_emu.adversary.modes = modes;
	job_free(first);
	job_free(second);
}

/* The second job makes an error before the end of the first is in the status page. */
static void error_behind_a_late_event_is_that_of_the_second_job(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = counting_job(&guests[1]);
	struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_RCS];
	const u32 modes = gen9_shim_emu.adversary.modes;
	unsigned int i;

	gen9_shim_emu.adversary.modes = 0; /* what is late here is for the test to say */
	start(first);
	start_and_pump(second);
	release_guest(&guests[0]);
	reach_second_job(hardware);
	for (i = 0; i < 100000 && hardware->state != EMU_WAITING; i++)
		gen9_shim_step();
	take_events_back();
	emu_engine_hang(hardware, "test");
	gen9_shim_interrupt();
	pump(5);
	give_late_events();
	finish(first, GHYVI_JOB_COMPLETE);
	finish(second, GHYVI_JOB_ERROR);
	assert_in_range(second->base.busy_ns, 1, 500 * NSEC_PER_MSEC);
	assert_int_equal(count_of(&guests[1]), 1);
	gen9_shim_emu.adversary.modes = modes;
	job_free(first);
	job_free(second);
}

/* Its guest was reset, so an interrupt would be one of before the reset. */
static void cancelled_job_gets_no_interrupt_of_the_next(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	unsigned int i;

	RINGS(second, USER_INTERRUPT, NOOP);
	start(first);
	start_and_pump(second);
	ops->cancel(pgpu, &first->base);
	assert_int_equal(first->events, 0);
	release_guest(&guests[1]);
	/* No work gives the first one back. The watch is for adversaries that delay events. */
	for (i = 0; i < 100000 && !second->events; i++) {
		gen9_shim_interrupt();
		gen9_watch(&gen9_of(pgpu)->engines[GHYVI_RCS].watch.work);
	}
	assert_true(second->events & GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(first->events, 0);
	finish(first, GHYVI_JOB_CANCELLED);
	finish(second, GHYVI_JOB_COMPLETE);
	job_free(first);
	job_free(second);
}

static void random_operations_lose_no_command(void **state)
{
	struct counter counters[GHYVI_ENGINES][2] = {};
	unsigned int i, step;

	for (i = 0; i < 2 * GHYVI_ENGINES; i++) {
		struct counter *counter = &counters[i / 2][i % 2];

		counter->job = job_new(&guests[i % 2], i / 2);
		counter->address = DATA + guests[i % 2].base + 4 * i;
	}
	for (step = 0; step < RANDOM_STEPS; step++)
		random_step(&counters[random() % GHYVI_ENGINES][random() % 2]);
	for (i = 0; i < 2 * GHYVI_ENGINES; i++) {
		struct counter *counter = &counters[i / 2][i % 2];

		while (counter->job->base.commands && waits(counter->job) == 0 &&
		       counter->job->status == GHYVI_JOB_PREEMPTED)
			restart(counter);
		assert_true(counter->value > RANDOM_STEPS / 50);
		job_free(counter->job);
	}
}

/* gen9_ports_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(engine_does_not_idle_between_two_jobs),
		TEST(third_job_and_second_of_a_context_are_not_taken),
		TEST(second_job_is_withdrawn_from_an_endless_one),
		TEST(preempted_job_makes_way_for_the_second),
		TEST(second_job_survives_the_reset_of_the_first),
		TEST(waiting_in_the_second_port_costs_no_budget),
		TEST(invalidation_for_the_second_leaves_the_first_alone),
		TEST(second_job_gets_no_interrupt_of_the_first),
		TEST(second_job_that_has_begun_is_not_blamed),
		TEST(job_that_ends_before_its_reset_completes),
		TEST(job_that_is_reset_in_its_restore_has_begun),
		TEST(second_job_that_has_begun_unseen_is_not_submitted_again),
		TEST(error_behind_a_late_event_is_that_of_the_second_job),
		TEST(cancelled_job_gets_no_interrupt_of_the_next),
		TEST(random_operations_lose_no_command),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
