// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/gen9 on the emulated GPU: what one guest asks for neither ends nor repeats work of another
 * one, and makes it wait for nothing that a guest decides.
 */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

#define STEPS_DEFAULT 4000

static void pump_for(unsigned int ms)
{
	u64 end = ktime_get_ns() + ms * NSEC_PER_MSEC;

	while (ktime_get_ns() < end)
		pump(1);
}

/* How long a call waits: polls are counted, because time is that of this machine. */
static unsigned int polls;

static void count_poll(void)
{
	polls++;
}

static void begin_counting(void)
{
	polls = 0;
	gen9_shim_waiting = count_poll;
}

static void expect_no_wait(void)
{
	gen9_shim_waiting = NULL;
	assert_int_equal(polls, 0);
}

/* ---- jobs that must leave the engine, and cannot ---- */

/* The scheduler has asked it to yield, and is patient. */
static struct test_job *unwilling_job(struct guest *guest, enum ghyvi_engine_id engine)
{
	struct test_job *job = endless_job(guest, engine);

	start_and_pump(job);
	ops->preempt(pgpu, &job->base);
	pump_for(5);
	assert_int_equal(job->status, -1);
	return job;
}

static void end_by_cancel(struct test_job *job)
{
	ops->cancel(pgpu, &job->base);
	finish(job, GHYVI_JOB_CANCELLED);
	job_free(job);
}

static void invalidation_leaves_a_neighbour_that_must_yield_alone(void **state)
{
	struct test_job *job = unwilling_job(&guests[0], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;

	begin_counting();
	ops->invalidate(&guests[1].client, 1);
	expect_no_wait();
	assert_int_equal(job->status, -1);
	assert_int_equal(gen9_shim_emu.resets, resets);
	end_by_cancel(job);
}

/* The second job has not begun, so nothing of it depends on the first. */
static void second_job_is_withdrawn_from_a_neighbour_that_must_yield(void **state)
{
	struct test_job *first = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;

	start(first);
	start_and_pump(second);
	ops->preempt(pgpu, &first->base);
	pump_for(5);
	begin_counting();
	ops->invalidate(&guests[1].client, 1);
	ops->cancel(pgpu, &second->base);
	expect_no_wait();
	finish(second, GHYVI_JOB_CANCELLED);
	assert_int_equal(first->status, -1);
	assert_int_equal(gen9_shim_emu.resets, resets);
	job_free(second);
	end_by_cancel(first);
}

/* Each recall moves the tail of the first job over its NOOPs. */
static void second_job_is_withdrawn_however_often_it_was(void **state)
{
	struct test_job *first = job_new(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;
	u32 *counter = &((u32 *)guests[0].user[1])[2];
	unsigned int i;

	memset(guests[0].user[1], 0, 16);
	/* It waits, counts, and jumps to itself. */
	USER(&guests[0], WAIT_PPGTT, 1, LO(USER_DATA), HI(USER_DATA), MI(0x2f, 1) | 5u << 8,
	     LO(USER_DATA + 8), HI(USER_DATA), NOOP, START_USER, LO(USER_BATCH + 28),
	     HI(USER_BATCH + 28));
	RINGS(first, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(first);
	start_and_pump(second);
	for (i = 0; i < 8; i++) {
		ops->invalidate(&guests[1].client, 1);
		pump(10);
	}
	/* Both are submitted again, and the first one before the second. */
	ops->invalidate(&guests[0].client, 1);
	pump_events(20);
	ops->invalidate(&guests[1].client, 1);
	pump(20);
	release_guest(&guests[0]);
	for (i = 0; i < 100000 && !READ_ONCE(*counter); i++)
		pump(1); /* adversaries let it begin late */
	pump_for(2);
	assert_int_equal(*counter, 1);
	ops->invalidate(&guests[1].client, 1);
	pump_for(2);
	assert_int_equal(*counter, 1);
	assert_int_equal(first->status, -1);
	assert_int_equal(gen9_shim_emu.resets, resets);
	ops->cancel(pgpu, &second->base);
	finish(second, GHYVI_JOB_CANCELLED);
	job_free(second);
	end_by_cancel(first);
}

static unsigned int moves; /* submissions of the host's own context, which take jobs off */

static void count_moves(u32 offset, u32 value)
{
	const struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	static unsigned int writes;

	if (offset == GHYVI_RENDER_BASE + RING_ELSP && !(++writes % 4))
		moves += (value & GHYVI_PAGE_MASK) == engine->kernel_context->image->ggtt;
}

/* Once it has begun it stays on the engine, whatever the guest of the first does. */
static void second_job_that_has_begun_stays(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	unsigned int i;

	gen9_shim_written = count_moves;
	start(first);
	start(second);
	for (i = 0; i < 1000 && !READ_ONCE(second->base.begun_ns); i++) {
		pump_events(5);
		ops->invalidate(&guests[0].client, 1);
	}
	assert_true(second->base.begun_ns);
	assert_in_range(moves, 1, 1000);
	moves = 0;
	for (i = 0; i < 100; i++) {
		ops->invalidate(&guests[0].client, 1);
		pump(i % 4);
	}
	assert_int_equal(moves, 0);
	gen9_shim_written = NULL;
	assert_int_equal(first->status, -1);
	complete_waiting(&guests[1], second);
	assert_int_equal(first->status, -1);
	complete_waiting(&guests[0], first);
	job_free(first);
	job_free(second);
}

/* ---- what others wait for ---- */

/* Batches that jump to themselves, until their time is over. */
static struct loop {
	u32 *batch; /* NULL: none */
	u64 end_ns;
} loops[2][GHYVI_ENGINES];

static void end_loops(void)
{
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < GHYVI_ENGINES; k++)
			if (loops[i][k].batch && ktime_get_ns() >= loops[i][k].end_ns) {
				WRITE_ONCE(*loops[i][k].batch, BATCH_END);
				loops[i][k].batch = NULL;
			}
}

/* Append a user batch of @ms to the ring. It has no arbitration point. */
static void add_loop(struct test_job *job, unsigned int ms)
{
	enum ghyvi_engine_id engine = job->base.engine;
	struct loop *loop = &loops[job->guest - guests][engine];
	u64 at = USER_BATCH + 64 * engine;

	loop->batch = (u32 *)(job->guest->user[0] + 64 * engine);
	loop->end_ns = ktime_get_ns() + ms * NSEC_PER_MSEC;
	put((u8 *)loop->batch, DWORDS(NOOP, START_USER, LO(at), HI(at)));
	RINGS(job, START_USER, LO(at), HI(at), NOOP);
}

static unsigned int calls_of_other;

/* Another guest invalidates while the first one's call waits. */
static void invalidate_meanwhile(void)
{
	struct gen9 *gpu = gen9_of(pgpu);

	end_loops();
	if (!atomic_read(&gen9_client(guests[0].client)->held))
		return;
	assert_true(mutex_trylock(&gpu->control)); /* the tests have one thread */
	mutex_unlock(&gpu->control);
	gen9_shim_waiting = end_loops;
	ops->invalidate(&guests[1].client, 1);
	gen9_shim_waiting = invalidate_meanwhile;
	calls_of_other++;
}

/*
 * Nothing is reset. The calls of the other guest return while the first one's call waits for three
 * commands: if each waited for one of them, there would be three.
 */
static void invalidation_waits_for_no_other_guest(void **state)
{
	static const enum ghyvi_engine_id ids[] = { GHYVI_RCS, GHYVI_VCS, GHYVI_VECS };
	u64 resets = gen9_shim_emu.resets, began;
	struct test_job *jobs[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		jobs[i] = job_new(&guests[0], ids[i]);
		add_loop(jobs[i], 60 + 30 * i);
		start_and_pump(jobs[i]);
	}
	calls_of_other = 0;
	gen9_shim_waiting = invalidate_meanwhile;
	began = ktime_get_ns();
	ops->invalidate(&guests[0].client, 1);
	gen9_shim_waiting = NULL;
	assert_true(ktime_get_ns() - began >= 50 * NSEC_PER_MSEC);
	assert_true(calls_of_other > 10);
	assert_int_equal(gen9_shim_emu.resets, resets);
	for (i = 0; i < 3; i++) {
		finish(jobs[i], GHYVI_JOB_COMPLETE);
		job_free(jobs[i]);
	}
}

static u64 resets_before;
static unsigned int polls_before;

static void count_poll_before_resets(void)
{
	if (gen9_shim_emu.resets == resets_before)
		polls_before++;
	count_poll();
}

/*
 * The engines give way at the same time, so the limit is that of one: nothing waits for it again
 * after the first reset.
 */
static void one_limit_is_for_all_engines(void **state)
{
	struct test_job *jobs[GHYVI_ENGINES];
	unsigned int i;
	u64 began;

	gen9_preempt_timeout_ms = 400;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		jobs[i] = endless_job(&guests[0], i);
		start(jobs[i]);
	}
	pump(50);
	resets_before = gen9_shim_emu.resets;
	polls = polls_before = 0;
	gen9_shim_waiting = count_poll_before_resets;
	began = ktime_get_ns();
	ops->invalidate(&guests[0].client, 1);
	gen9_shim_waiting = NULL;
	assert_true(ktime_get_ns() - began >= gen9_preempt_timeout_ms * NSEC_PER_MSEC);
	assert_in_range(polls, 1, polls_before + polls_before / 2);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		finish(jobs[i], GHYVI_JOB_ERROR);
		job_free(jobs[i]);
	}
	expect_working_engines();
}

/* A dispatch or a blit may take longer than any other command. */
static void job_survives_its_own_invalidation(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u64 resets = gen9_shim_emu.resets;

	add_loop(job, 300);
	start_and_pump(job);
	gen9_shim_waiting = end_loops;
	ops->invalidate(&guests[0].client, 1);
	finish(job, GHYVI_JOB_COMPLETE);
	gen9_shim_waiting = NULL;
	assert_int_equal(gen9_shim_emu.resets, resets);
	job_free(job);
}

/* Each of them may take jobs off their engines. The rate is that of one guest. */
static void invalidations_of_a_guest_are_limited_in_rate(void **state)
{
	const unsigned int ticks = 10, per_tick = 5000 / HZ;
	u64 began = ktime_get_ns(), spent;
	unsigned int i;

	for (i = 0; i < ticks * per_tick; i++)
		ops->invalidate(&guests[0].client, 1);
	spent = ktime_get_ns() - began;
	assert_true(spent >= (ticks - 2) * (NSEC_PER_SEC / HZ));
	began = ktime_get_ns();
	for (i = 0; i < per_tick / 2; i++)
		ops->invalidate(&guests[1].client, 1);
	assert_true(ktime_get_ns() - began < spent / 2);
}

/* @first has been released; @second, of the other guest, is behind it. */
static void end_waiting(struct test_job *first, struct test_job *second)
{
	finish(first, GHYVI_JOB_COMPLETE);
	complete_waiting(&guests[1], second);
	job_free(first);
	job_free(second);
}

/* Whatever the job before it on the engine has done in the same tick. */
static void storm_of_interrupts_masks_no_other_guest(void **state)
{
	struct test_job *first = job_new(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	const struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	const u32 modes = gen9_shim_emu.adversary.modes;
	unsigned int i;

	gen9_shim_emu.adversary.modes = 0;
	USER(&guests[0], USER_INTERRUPT, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	RINGS(first, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(first);
	start(second);
	/* No work runs, so none ends the mask. */
	for (i = 0; i < 1000000 && !engine->muted; i++)
		gen9_shim_interrupt();
	assert_true(engine->muted);
	*(u32 *)guests[0].user[0] = BATCH_END;
	for (i = 0; i < 1000000 && !second->base.begun_ns; i++)
		gen9_shim_interrupt();
	assert_true(second->base.begun_ns);
	assert_false(engine->muted);
	assert_true(second->events & GHYVI_EVENT_USER_INTERRUPT); /* one may have been lost */
	gen9_shim_emu.adversary.modes = modes;
	end_waiting(first, second);
}

/* It may be the last one of the job before, in the handler that finds the second on the engine. */
static void interrupt_of_a_job_does_not_count_for_the_next(void **state)
{
	const struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_RCS];
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	const struct gen9_irqs *irqs = &gen9_client(guests[1].client)->irqs[GHYVI_RCS];
	const u32 modes = gen9_shim_emu.adversary.modes;
	const u32 *stored = (const u32 *)guests[0].user[1] + 1;
	unsigned int i;

	gen9_shim_emu.adversary.modes = 0;
	RINGS(first, USER_INTERRUPT, NOOP);
	start(first);
	start_and_pump(second);
	release_guest(&guests[0]);
	for (i = 0; i < 100000 && (*stored != 2 || hardware->state != EMU_WAITING); i++)
		gen9_shim_step();
	assert_int_equal(first->events, 0);
	gen9_shim_interrupt();
	assert_true(second->base.begun_ns);
	assert_true(first->events & GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(irqs->count, 0);
	gen9_shim_emu.adversary.modes = modes;
	end_waiting(first, second);
}

static void wait_for_interrupts_of(struct test_job *job, unsigned int count)
{
	unsigned int i;

	for (; count; count--) {
		job->events = 0;
		for (i = 0; i < 100000 && !job->events; i++)
			pump(1);
		assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
	}
}

/* But for the first few, which might be its own. */
static void job_that_waits_gets_no_interrupts_of_another_guest(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = job_new(&guests[1], GHYVI_RCS);
	struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	const u32 modes = gen9_shim_emu.adversary.modes;

	gen9_shim_emu.adversary.modes = 0;
	RINGS(first, USER_INTERRUPT, NOOP);
	USER(&guests[1], USER_INTERRUPT, ARB_CHECK, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	RINGS(second, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(first);
	start_and_pump(second);
	assert_true(first->base.begun_ns);
	atomic_add(1, &gen9_client(guests[0].client)->held);
	gen9_engine_kick(engine);
	wait_for_interrupts_of(second, GEN9_IRQ_TURNS + 2);
	assert_ptr_equal(gen9_running_job(engine), &second->base);
	first->events = 0;
	wait_for_interrupts_of(second, 20);
	assert_int_equal(first->events, 0);
	atomic_add(-1, &gen9_client(guests[0].client)->held);
	*(u32 *)guests[1].user[0] = BATCH_END;
	finish(second, GHYVI_JOB_COMPLETE);
	complete_waiting(&guests[0], first);
	assert_true(first->events & GHYVI_EVENT_USER_INTERRUPT);
	gen9_shim_emu.adversary.modes = modes;
	job_free(first);
	job_free(second);
}

/* ---- random operations of two guests ---- */

/* A job that counts in memory, with batches that cannot be preempted in between. */
struct counter {
	struct test_job *job;
	u32 address;
	u32 before; /* value in memory when the job began */
	u32 added;
};

static u32 value_of(const struct counter *counter)
{
	return at(counter->job->guest, counter->address - counter->job->guest->base);
}

static void count_on(struct counter *counter)
{
	RINGS(counter->job, ATOMIC_INCREMENT_GGTT, counter->address, 0, ARB_CHECK);
	counter->added++;
}

/* Each command is executed once; those of a cancelled job at most once. */
static void check_counter(struct counter *counter)
{
	u32 counted = value_of(counter) - counter->before;

	if (counter->job->status == GHYVI_JOB_COMPLETE)
		assert_int_equal(counted, counter->added);
	else
		assert_in_range(counted, 0, counter->added);
	counter->before += counted;
	counter->added = 0;
}

static void restart(struct counter *counter)
{
	struct test_job *job = counter->job;

	if (job->status == GHYVI_JOB_PREEMPTED) {
		start(job);
		return;
	}
	assert_int_not_equal(job->status, GHYVI_JOB_ERROR);
	check_counter(counter);
	ghyvi_commands_free(job->base.commands);
	job->base.commands = NULL;
	memset(job->base.backend, 0, ops->job_bytes);
	job->context[GHYVI_CTX_RING_HEAD] = job->tail;
	count_on(counter);
	if (job->base.engine != GHYVI_BCS && !(random() % 32)) /* those of the blitter are copies */
		add_loop(job, 55 + random() % 40);
	count_on(counter);
	start(job);
}

static void move_tail(struct counter *counter)
{
	struct test_job *job = counter->job;

	count_on(counter);
	if (!ghyvi_audit_extend(job->base.commands, job->tail) &&
	    !ops->update_tail(pgpu, &job->base, job->tail))
		return;
	/* As the core does: the job ends at the tail before. */
	assert_false(waits(job));
	assert_int_not_equal(job->status, GHYVI_JOB_ERROR);
	job->status = GHYVI_JOB_CANCELLED;
}

static void random_step(struct counter *counter)
{
	struct test_job *job = counter->job;

	if (job->status >= 0 || !job->base.commands) {
		restart(counter);
		return;
	}
	switch (random() % 16) {
	case 0:
	case 1:
		ops->preempt(pgpu, &job->base);
		break;
	case 2:
		ops->cancel(pgpu, &job->base);
		assert_false(waits(job));
		break;
	case 3:
	case 4:
		ops->invalidate(&job->guest->client, 1);
		break;
	case 5:
		if (random() % 64)
			break;
		gen9_shim_driver->err_handler->reset_prepare(&pdev);
		gen9_shim_driver->err_handler->reset_done(&pdev);
		break;
	case 6:
	case 7:
	case 8:
	case 9:
		move_tail(counter);
		break;
	default:
		pump(random() % 4);
	}
}

static unsigned int steps(void)
{
	const char *text = getenv("GEN9_STEPS");

	return text ? strtoul(text, NULL, 0) : STEPS_DEFAULT;
}

static void random_operations_end_and_repeat_no_job_of_another_guest(void **state)
{
	struct counter counters[GHYVI_ENGINES][2] = {};
	unsigned int i, step;

	gen9_shim_waiting = end_loops;
	for (i = 0; i < 2 * GHYVI_ENGINES; i++) {
		struct counter *counter = &counters[i / 2][i % 2];

		counter->job = job_new(&guests[i % 2], i / 2);
		counter->address = DATA + guests[i % 2].base + 4 * i;
		counter->before = value_of(counter);
	}
	for (step = 0; step < steps(); step++)
		random_step(&counters[random() % GHYVI_ENGINES][random() % 2]);
	for (i = 0; i < 2 * GHYVI_ENGINES; i++) {
		struct counter *counter = &counters[i / 2][i % 2];

		while (counter->job->base.commands && waits(counter->job) == 0 &&
		       counter->job->status == GHYVI_JOB_PREEMPTED)
			restart(counter);
		assert_int_not_equal(counter->job->status, GHYVI_JOB_ERROR);
		check_counter(counter);
		assert_true(counter->before > steps() / 100);
		job_free(counter->job);
	}
	gen9_shim_waiting = NULL;
}

static int set_up_limits(void **state)
{
	gen9_preempt_timeout_ms = GEN9_PREEMPT_TIMEOUT_MS;
	gen9_shim_waiting = NULL;
	gen9_shim_written = NULL;
	moves = 0;
	memset(loops, 0, sizeof(loops));
	return set_up(state);
}

#define LIMITS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_limits, tear_down)

/*
 * gen9_neighbours_test [MODES SEED]: adversary modes of the emulator. GEN9_STEPS: number of the
 * random operations.
 */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LIMITS_TEST(invalidation_leaves_a_neighbour_that_must_yield_alone),
		LIMITS_TEST(second_job_is_withdrawn_from_a_neighbour_that_must_yield),
		LIMITS_TEST(second_job_is_withdrawn_however_often_it_was),
		LIMITS_TEST(second_job_that_has_begun_stays),
		LIMITS_TEST(invalidation_waits_for_no_other_guest),
		LIMITS_TEST(one_limit_is_for_all_engines),
		LIMITS_TEST(job_survives_its_own_invalidation),
		LIMITS_TEST(invalidations_of_a_guest_are_limited_in_rate),
		LIMITS_TEST(storm_of_interrupts_masks_no_other_guest),
		LIMITS_TEST(interrupt_of_a_job_does_not_count_for_the_next),
		LIMITS_TEST(job_that_waits_gets_no_interrupts_of_another_guest),
		LIMITS_TEST(random_operations_end_and_repeat_no_job_of_another_guest),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
