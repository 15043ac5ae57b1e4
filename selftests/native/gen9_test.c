// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/gen9 on the emulated GPU in one process: jobs, two per engine, preemption, budgets and
 * resets. Isolation is in gen9_isolation_test.c.
 */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

/* ---- tests ---- */

static void ring_stores_and_interrupts_on_each_engine(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = job_new(&guests[0], i);

		RINGS(job, STORE_GGTT, DATA + 4 * i, 0, 0x100 + i, USER_INTERRUPT);
		run_once(job);
		assert_int_equal(at(&guests[0], DATA + 4 * i), 0x100 + i);
		assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
		assert_true(job->base.busy_ns);
		job_free(job);
	}
}

static void user_batches_run_on_each_engine(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = job_new(&guests[0], i);

		USER(&guests[0], STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 0x200 + i, BATCH_END);
		RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), USER_INTERRUPT);
		run_once(job);
		assert_int_equal(*(u32 *)guests[0].user[1], 0x200 + i);
		job_free(job);
	}
}

static void kernel_batches_run_from_their_copies(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	audit(job);
	/* The guest changes the batch after the audit. */
	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 8, BATCH_END));
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 7);
	job_free(job);
}

static void blitter_user_batch_writes_no_register(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);
	u32 before = *emu_reg(&gen9_shim_emu, 0x22080);

	USER(&guests[0], LRI(2), 0x22080, 0x1000, 0x2229c, 0x80000000, LRI(1), 0x22600, 5,
	     SRM_PPGTT, 0x22600, LO(USER_DATA), HI(USER_DATA), BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	run_once(job);
	assert_int_equal(*emu_reg(&gen9_shim_emu, 0x22080), before);
	assert_int_equal(*(u32 *)guests[0].user[1], 5);
	job_free(job);
}

static void ring_writes_no_register_that_contexts_share(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u32 l3 = *emu_reg(&gen9_shim_emu, 0xb118), slot = *emu_reg(&gen9_shim_emu, 0x24d0);

	RINGS(job, LRI(4), 0xb118, 0xffffffff, 0x24d0, 0x2080, 0x2600, 9, 0x209c, 0x01000100);
	RINGS(job, SRM_GGTT, 0x2600, DATA, 0, SRM_GGTT, 0x2080, DATA + 4, 0);
	*(u32 *)guest_page(&guests[0], DATA + 4) = 1;
	run_once(job);
	assert_int_equal(*emu_reg(&gen9_shim_emu, 0xb118), l3);
	assert_int_equal(*emu_reg(&gen9_shim_emu, 0x24d0), slot);
	assert_int_equal(at(&guests[0], DATA), 9); /* its own register */
	assert_int_equal(at(&guests[0], DATA + 4), 0); /* RING_HWS_PGA of the host */
	job_free(job);
}

/* Neither the commands that follow in the ring are predicated, nor those of the next context. */
static void expect_no_predicate(struct test_job *job)
{
	*(u32 *)guest_page(&guests[0], DATA) = 0;
	*(u32 *)guest_page(&guests[1], DATA) = 0;
	RINGS(job, STORE_GGTT, DATA, 0, 6, USER_INTERRUPT);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 6);
	assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
	job_free(job);

	job = job_new(&guests[1], GHYVI_RCS);
	RINGS(job, STORE_GGTT, DATA + guests[1].base, 0, 7);
	run_once(job);
	assert_int_equal(at(&guests[1], DATA), 7);
	job_free(job);
}

static void predicate_of_privileged_commands_is_dropped(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	RINGS(job, SET_PREDICATE(PREDICATE_ALWAYS));
	expect_no_predicate(job);

	job = job_new(&guests[0], GHYVI_RCS);
	put(guest_page(&guests[0], KERNEL_BATCH),
	    DWORDS(SET_PREDICATE(PREDICATE_ALWAYS), STORE_GGTT, DATA + 4, 0, 5, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0);
	expect_no_predicate(job);
	assert_int_equal(at(&guests[0], DATA + 4), 5);
}

static void predicate_of_a_user_batch_ends_with_it(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	USER(&guests[0], STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 1,
	     SET_PREDICATE(PREDICATE_ALWAYS), STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 2,
	     BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), STORE_GGTT, DATA, 0, 3, NOOP);
	run_once(job);
	assert_int_equal(*(u32 *)guests[0].user[1], 1);
	assert_int_equal(at(&guests[0], DATA), 3);
	job_free(job);
}

static void index_stores_go_to_the_guests_pages(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_VCS);

	RINGS(job, FLUSH_INDEX, 0x40, 0, 0x77, FLUSH_INDEX, 0x40 | BIT(2), 0, 0x78);
	run_once(job);
	assert_int_equal(at(&guests[0], IMAGE(GHYVI_VCS) + 0x40), 0x77);
	assert_int_equal(at(&guests[0], HWSP_PAGE + 0x40), 0x78);
	job_free(job);
}

static void registers_of_another_client_are_not_visible(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	RINGS(job, LRI(2), 0x2600, 0x12345678, 0x7004, 0xffff00ff);
	run_once(job);
	assert_int_equal(job->context[GHYVI_CTX_GPR], 0x12345678);
	job_free(job);

	job = job_new(&guests[1], GHYVI_RCS);
	RINGS(job, SRM_GGTT, 0x2600, DATA + guests[1].base, 0);
	RINGS(job, SRM_GGTT, 0x7004, DATA + guests[1].base + 4, 0);
	*(u32 *)guest_page(&guests[1], DATA) = 1;
	job->base.restore = false;
	run_once(job);
	assert_int_equal(at(&guests[1], DATA), 0);
	assert_int_equal(at(&guests[1], DATA + 4) & 0xffff, BIT(6) | BIT(1)); /* the host's */
	job_free(job);
}

static void context_keeps_its_registers(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	RINGS(job, LRI(1), 0x22608, 0xabc);
	run_once(job);
	RINGS(job, SRM_GGTT, 0x22608, DATA, 0);
	ghyvi_commands_free(job->base.commands);
	job->base.commands = NULL;
	memset(job->base.backend, 0, ops->job_bytes);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 0xabc);
	job_free(job);
}

/* The tail moves while the engine may be anywhere; the ring wraps many times. */
static void tail_moves_are_executed(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);
	unsigned int i, moves = 0;
	u32 value = 0;

	for (i = 0; i < 400; i++) {
		bool extended = false;

		USER(&guests[0], STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), ++value, BATCH_END);
		RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP, STORE_GGTT, DATA, 0,
		      value, USER_INTERRUPT);
		if (job->base.commands && job->status < 0 &&
		    !ghyvi_audit_extend(job->base.commands, job->tail)) {
			extended = !ops->update_tail(pgpu, &job->base, job->tail);
			moves += extended;
		}
		if (!extended && job->base.commands) {
			finish(job, GHYVI_JOB_COMPLETE);
			ghyvi_commands_free(job->base.commands);
			job->base.commands = NULL;
			memset(job->base.backend, 0, ops->job_bytes);
		}
		if (!extended)
			start(job);
		pump(i % 3);
	}
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
	assert_int_equal(at(&guests[0], DATA), value);
	assert_int_equal(*(u32 *)guests[0].user[1], value);
	assert_true(moves > 10);
	job_free(job);
}

static void preempted_batch_goes_on(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = waiting_job(&guests[0], i), *other = job_new(&guests[1], i);

		start(job);
		pump(20);
		ops->preempt(pgpu, &job->base);
		finish(job, GHYVI_JOB_PREEMPTED);
		RINGS(other, STORE_GGTT, DATA + guests[1].base, 0, 3);
		run_once(other);
		start(job);
		pump(20);
		assert_int_equal(job->status, -1);
		*(u32 *)guests[0].user[1] = 1;
		finish(job, GHYVI_JOB_COMPLETE);
		assert_int_equal(((u32 *)guests[0].user[1])[1], 2);
		assert_int_equal(at(&guests[1], DATA), 3);
		job_free(job);
		job_free(other);
	}
}

static void invalidation_takes_the_job_off_and_back(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_VECS);
	u8 *page = (u8 *)gen9_shim_page_alloc();

	start(job);
	pump(20);
	/* The data page becomes another one. */
	memcpy(page, guests[0].user[1], 4096);
	guests[0].tables[3][1] = map(&guests[0], page, GHYVI_PAGE_DATA) | 3;
	ops->invalidate(&guests[0].client, 1);
	assert_int_equal(job->status, -1);
	/* Until the invalidation returned, the engine might use either entry. */
	gen9_shim_emu.violations[EMU_PPGTT_STALE] = 0;
	guests[0].user[1] = page;
	*(u32 *)page = 1;
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(((u32 *)page)[1], 2);
	job_free(job);
}

static void tail_moves_while_the_job_is_away(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	RINGS(job, STORE_GGTT, DATA, 0, 11);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	*(u32 *)guests[0].user[1] = 1;
	start(job);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(at(&guests[0], DATA), 11);
	job_free(job);
}

/* Append a store of @value and tell the engine. Returns the result of update_tail(). */
static int move_tail(struct test_job *job, u32 address, u32 value)
{
	RINGS(job, STORE_GGTT, address, 0, value);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	return ops->update_tail(pgpu, &job->base, job->tail);
}

/* The copy of the ring has other offsets than the ring; the guest sees its own. */
static void ring_is_compacted_while_the_job_is_away(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	unsigned int i, moves = 0;

	start(job);
	pump(20);
	for (i = 0; i < 100 && !move_tail(job, DATA + 4 * i, i + 1); i++)
		moves++;
	assert_in_range(moves, 10, 99); /* until the copy is full */
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 12); /* after the start of the batch */
	RINGS(job, STORE_GGTT, DATA + 4 * moves + 4, 0, 77);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	start(job);
	pump(20);
	for (i = 0; i < 10; i++)
		assert_int_equal(move_tail(job, DATA + 0x800 + 4 * i, i + 1), 0);
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
	for (i = 0; i <= moves; i++)
		assert_int_equal(at(&guests[0], DATA + 4 * i), i + 1);
	assert_int_equal(at(&guests[0], DATA + 4 * moves + 4), 77);
	for (i = 0; i < 10; i++)
		assert_int_equal(at(&guests[0], DATA + 0x800 + 4 * i), i + 1);
	job_free(job);
}

static void cancelled_job_leaves_the_engine(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	ops->cancel(pgpu, &job->base);
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_CANCELLED);
	pump(20);
	assert_int_equal(((u32 *)guests[0].user[1])[1], 0);
	job_free(job);
	ring_stores_and_interrupts_on_each_engine(state);
}

static void endless_job_is_stopped_by_its_budget(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = endless_job(&guests[0], i);

		job->base.budget_ns = 30 * NSEC_PER_MSEC;
		start(job);
		finish(job, GHYVI_JOB_ERROR);
		assert_true(job->base.fault.valid);
		job_free(job);
	}
	ring_stores_and_interrupts_on_each_engine(state);
}

static void endless_job_is_reset_for_an_invalidation(void **state)
{
	struct test_job *job = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *other = waiting_job(&guests[1], GHYVI_VCS);

	start(other);
	start(job);
	pump(20);
	ops->invalidate(&guests[0].client, 1);
	finish(job, GHYVI_JOB_ERROR);
	*(u32 *)guests[1].user[1] = 1;
	finish(other, GHYVI_JOB_COMPLETE);
	job_free(job);
	job_free(other);
	ring_stores_and_interrupts_on_each_engine(state);
}

static struct test_job *late_job;

/* The event of the job's end was on its way when the engine was stopped. Then the core frees it. */
static void end_late_job(u32 offset, u32 value)
{
	struct emu_engine *hardware = &gen9_shim_emu.engines[late_job->base.engine];
	u32 base = hardware->cs.base;
	u32 mode = *emu_reg(&gen9_shim_emu, base + RING_MI_MODE);
	struct test_job *job = late_job;

	if (offset != base + RING_RESET_CTL || !(value & RESET_CTL_REQUEST))
		return;
	gen9_shim_written = NULL;
	*emu_reg(&gen9_shim_emu, base + RING_MI_MODE) = mode & ~(u32)MI_MODE_STOP;
	USER(job->guest, BATCH_END, BATCH_END, BATCH_END, BATCH_END);
	pump(20);
	*emu_reg(&gen9_shim_emu, base + RING_MI_MODE) = mode;
	if (job->status < 0)
		return;
	late_job = NULL;
	job_free(job);
}

static void job_that_ends_during_a_reset_is_given_back_once(void **state)
{
	late_job = endless_job(&guests[0], GHYVI_RCS);
	start(late_job);
	pump(20);
	gen9_shim_written = end_late_job;
	ops->cancel(pgpu, &late_job->base);
	assert_null(gen9_shim_written);
	assert_non_null(late_job); /* the reset has not ended it before */
	finish(late_job, GHYVI_JOB_CANCELLED);
	job_free(late_job);
	ring_stores_and_interrupts_on_each_engine(state);
}

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
		pump(3);
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
	release_guest(&guests[0]);
	finish(first, GHYVI_JOB_COMPLETE);
	release_guest(&guests[1]);
	finish(second, GHYVI_JOB_COMPLETE);
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
	ring_stores_and_interrupts_on_each_engine(state);
}

static void preempted_job_makes_way_for_the_second(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_VCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_VCS);
	u64 idles;

	start(first);
	start(second);
	pump(5);
	idles = gen9_shim_emu.engines[GHYVI_VCS].idles;
	ops->preempt(pgpu, &first->base);
	finish(first, GHYVI_JOB_PREEMPTED);
	assert_true(first->base.busy_ns);
	pump(5);
	assert_true(second->base.begun_ns);
	start(first); /* now the second one */
	pump(5);
	release_guest(&guests[1]);
	finish(second, GHYVI_JOB_COMPLETE);
	assert_int_equal(gen9_shim_emu.engines[GHYVI_VCS].idles, idles);
	release_guest(&guests[0]);
	finish(first, GHYVI_JOB_COMPLETE);
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
		release_guest(&guests[1]);
		finish(second, GHYVI_JOB_COMPLETE);
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
	release_guest(&guests[0]);
	finish(first, GHYVI_JOB_COMPLETE);
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
	release_guest(&guests[1]);
	finish(second, GHYVI_JOB_COMPLETE);
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
	release_guest(&guests[0]);
	finish(first, GHYVI_JOB_COMPLETE);
	release_guest(&guests[1]);
	finish(second, GHYVI_JOB_COMPLETE);
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

static void refused_command_ends_the_job_in_front_of_it(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	RINGS(job, STORE_GGTT, DATA, 0, 1, STORE_GGTT, 0x1000, 0, 2);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 16);
	assert_int_equal(at(&guests[0], DATA), 1);
	job_free(job);

	job = job_new(&guests[0], GHYVI_RCS);
	RINGS(job, STORE_GGTT, 0x1000, 0, 2);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 0);
	job_free(job);
}

static void suspended_gpu_goes_on(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
	ring_stores_and_interrupts_on_each_engine(state);
}

/*
 * Until a job must leave its engine, a lost GPU looks like a busy one. Then each job is given back,
 * no new one is taken, and the driver can be unbound.
 */
static void lost_gpu_gives_every_job_back(void **state)
{
	struct test_job *jobs[2][GHYVI_ENGINES], *late;
	u64 begin;
	unsigned int i, k;

	for (i = 0; i < GHYVI_ENGINES; i++)
		for (k = 0; k < 2; k++) {
			jobs[k][i] = waiting_job(&guests[k], i);
			start(jobs[k][i]);
		}
	pump(20);
	gen9_shim_lost = true;
	begin = ktime_get_ns();
	ops->preempt(pgpu, &jobs[0][GHYVI_VCS]->base);
	pump(20);
	assert_int_equal(jobs[0][GHYVI_VCS]->status, -1);
	ops->cancel(pgpu, &jobs[0][GHYVI_VCS]->base); /* as the scheduler when time is up */
	for (i = 0; i < GHYVI_ENGINES; i++)
		for (k = 0; k < 2; k++) {
			assert_false(waits(jobs[k][i]));
			assert_int_equal(jobs[k][i]->status, GHYVI_JOB_CANCELLED);
			job_free(jobs[k][i]);
		}
	assert_in_range(ktime_get_ns() - begin, 0, 5 * NSEC_PER_SEC);
	late = waiting_job(&guests[0], GHYVI_RCS);
	audit(late);
	assert_int_equal(ops->run(pgpu, &late->base), -EIO);
	job_free(late);
}

static void command_inside_of_another_is_refused(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	/* The second jump leads to the operand of a store, which is a valid command, too. */
	USER(&guests[0], LRI(1), 0x22600, NOOP, START_USER, LO(USER_BATCH + 8), HI(USER_BATCH));
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	job_free(job);
}

static void three_levels_are_walked(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u64 *pdp = (u64 *)gen9_shim_page_alloc();

	/* The same page directory, below 4 GiB. */
	pdp[1] = guests[0].tables[1][USER_BATCH >> 30 & 511];
	job->base.root = map(&guests[0], pdp, GHYVI_PAGE_TABLE);
	job->base.levels = 3;
	*(u32 *)guests[0].user[1] = 0;
	RINGS(job, STORE_PPGTT, 1u << 30 | 0x1000, 0, 5);
	run_once(job);
	assert_int_equal(*(u32 *)guests[0].user[1], 5);
	job_free(job);
}

/* ---- hostile rings and batches ---- */

#define HOSTILE_TRIALS 400

static u32 some(u32 limit)
{
	return (u32)random() % limit;
}

static u32 some_register(enum ghyvi_engine_id engine)
{
	static const u32 offsets[] = { 0x2080,	0x22080, 0x24d0, 0xb118, 0xc800, 0x2270,  0x22274,
				       0x44200, 0x9c,	 0x29c,	 0x230,	 0x600,	 0x2580,  0x7004,
				       0x7304,	0x22200, 0x2358, 0x941c, 0x4090, 0x101008 };
	u32 offset = offsets[some(ARRAY_SIZE(offsets))];

	return offset < 0x1000 ? ghyvi_engine_base(engine) + offset : offset;
}

static u32 some_address(void)
{
	static const u32 addresses[] = {
		DATA,	      HWSP_PAGE,  IMAGE(0), IMAGE(1) + 0x1000,
		KERNEL_BATCH, 0xf8000000, 0x1000,   GUEST_GGTT + 0x400000,
	};
	/* Mostly its own, or most rings would be refused at once. */
	return (some(8) ? DATA : addresses[some(ARRAY_SIZE(addresses))]) + 8 * some(256);
}

/* Append one command. Returns the number of dwords. */
static unsigned int some_command(enum ghyvi_engine_id engine, u32 *at)
{
	static const u8 single[] = { 0x00, 0x02, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0c, 0x0f };
	u32 ggtt = some(2) ? BIT(22) : 0;
	u64 address = ggtt ? some_address() : USER_DATA + 8 * some(256);

	switch (some(11)) {
	case 0:
		at[0] = LRI(1);
		at[1] = some_register(engine);
		at[2] = random();
		return 3;
	case 1:
		at[0] = MI(0x24, 2) | ggtt;
		at[1] = some_register(engine);
		at[2] = LO(address);
		at[3] = HI(address);
		return 4;
	case 2:
		at[0] = MI(0x29, 2) | ggtt;
		at[1] = some_register(engine);
		at[2] = LO(address);
		at[3] = HI(address);
		return 4;
	case 3:
		at[0] = MI(0x2a, 1);
		at[1] = some_register(engine);
		at[2] = some_register(engine);
		return 3;
	case 4:
		at[0] = MI(0x20, 2) | ggtt;
		at[1] = LO(address);
		at[2] = HI(address);
		at[3] = random();
		return 4;
	case 5:
		at[0] = MI(0x26, 2) | (some(2) ? BIT(14) : 0) | (some(2) ? BIT(21) : 0) |
			(some(2) ? BIT(18) : 0) | (some(2) ? BIT(8) : 0);
		at[1] = LO(address) | (ggtt ? BIT(2) : 0);
		at[2] = HI(address);
		at[3] = random();
		return 4;
	case 6:
		at[0] = MI(0x21, 1) | (some(2) ? BIT(21) : 0);
		at[1] = 8 * some(512);
		at[2] = random();
		return 3;
	case 7:
		at[0] = MI(0x23, 2);
		at[1] = some_address() & ~0xfffu;
		at[2] = random();
		at[3] = 0;
		return 4;
	case 8:
		if (engine != GHYVI_RCS)
			break;
		at[0] = 0x7a000004;
		at[1] = (u32)random() & (BIT(24) | BIT(23) | BIT(21) | BIT(14) | BIT(8) | BIT(18));
		at[2] = LO(address);
		at[3] = HI(address);
		at[4] = random();
		at[5] = 0;
		return 6;
	case 9:
		at[0] = MI(0x2e, 3) | ggtt | (some(2) ? BIT(21) : 0);
		at[1] = LO(address);
		at[2] = HI(address);
		at[3] = LO(address);
		at[4] = HI(address);
		return 5;
	}
	at[0] = MI(single[some(ARRAY_SIZE(single))], 0);
	return 1;
}

static void hostile_commands_stay_in_their_guest(void **state)
{
	u32 registers = host_registers(), commands[64], packet[8];
	unsigned int i, j, trial, count, good = 0;

	for (trial = 0; trial < HOSTILE_TRIALS; trial++) {
		enum ghyvi_engine_id engine = some(GHYVI_ENGINES);
		struct test_job *job = job_new(&guests[0], engine);

		job->base.budget_ns = 200 * NSEC_PER_MSEC;
		for (count = 0; count < 40;) {
			unsigned int dwords = some_command(engine, packet);

			memcpy(commands + count, packet, 4 * dwords);
			count += dwords;
		}
		commands[count++] = BATCH_END;
		if (trial % 3)
			add(job, commands, count - 1);
		else
			put(guests[0].user[0], commands, count);
		RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
		if (trial % 3)
			USER(&guests[0], BATCH_END);
		start(job);
		assert_false(waits(job));
		good += job->status == GHYVI_JOB_COMPLETE;
		assert_int_equal(host_registers(), registers);
		job_free(job);
	}
	assert_true(good > HOSTILE_TRIALS / 20);
	for (i = 0; i < GUEST_PAGES; i++)
		for (j = 0; j < 4096; j++)
			assert_int_equal(guests[1].pages[i][j], 0);
	ring_stores_and_interrupts_on_each_engine(state);
}

/* The entries of the GPU's table as the device has them: no address of a former client stays. */
#define SHARE_BYTES (256u << 20)
#define CONTEXTS_MAX 4096

static struct ghyvi_pgpu_client *client_with(u64 first)
{
	struct ghyvi_client_params params = guests[0].client->params;
	struct ghyvi_pgpu_client *client;

	params.ggtt[0] = (struct ghyvi_range){ first, SHARE_BYTES };
	client = ops->client_create(pgpu, &params);
	assert_false(IS_ERR(client));
	return client;
}

/* Create contexts until there is no room. Returns how many. */
static unsigned int fill(struct ghyvi_pgpu_client *client, struct ghyvi_pgpu_context **contexts)
{
	unsigned int count;

	for (count = 0; count < CONTEXTS_MAX; count++) {
		contexts[count] = ops->context_create(client, GHYVI_RCS, count << 12);
		if (IS_ERR(contexts[count])) {
			assert_int_equal(PTR_ERR(contexts[count]), -ENOMEM);
			return count;
		}
	}
	fail_msg("%u contexts", count);
	return 0;
}

/* What is reserved for the host is divided, too. */
static void greedy_client_leaves_others_their_share(void **state)
{
	static struct ghyvi_pgpu_context *greedy[CONTEXTS_MAX], *modest[CONTEXTS_MAX];
	struct ghyvi_pgpu_client *first = client_with(0x40000000), *second;
	unsigned int share = GEN9_HOST_GGTT_PAGES / ((4ull << 30) / SHARE_BYTES);
	unsigned int alone = fill(first, greedy), count, left;

	assert_true(alone * GEN9_LR_CONTEXT_RENDER_PAGES > GEN9_HOST_GGTT_PAGES / 2);
	ops->context_destroy(greedy[--alone]);
	for (left = alone; left > alone / 2; left--)
		ops->context_destroy(greedy[left - 1]);
	second = client_with(0x50000000);
	while (left < CONTEXTS_MAX) {
		greedy[left] = ops->context_create(first, GHYVI_RCS, left << 12);
		if (IS_ERR(greedy[left]))
			break;
		left++;
	}
	count = fill(second, modest);
	assert_true(count * GEN9_LR_CONTEXT_RENDER_PAGES > share / 3);
	ring_stores_and_interrupts_on_each_engine(state); /* of a third client */
	while (left)
		ops->context_destroy(greedy[--left]);
	while (count)
		ops->context_destroy(modest[--count]);
	ops->client_destroy(second);
	ops->client_destroy(first);
}

static void idle_context_keeps_no_batches(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	struct gen9_context *context = gen9_context(job->base.pgpu_context);

	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	start(job);
	assert_false(list_empty(&context->batches));
	finish(job, GHYVI_JOB_COMPLETE);
	assert_true(list_empty(&context->batches));
	job_free(job);
}

/* As if the job ended while update_tail() writes to the ring and to new batches. */
static void job_that_is_being_extended_keeps_its_windows(void **state)
{
	struct gen9_engine *engine = &gen9_of(pgpu)->engines[GHYVI_RCS];
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	struct gen9_context *context = gen9_context(job->base.pgpu_context);

	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(STORE_GGTT, DATA, 0, 7, BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	start(job);
	gen9_job(&job->base)->extending = true;
	while (!READ_ONCE(gen9_job(&job->base)->ended))
		gen9_shim_pump();
	pump(10);
	assert_int_equal(job->status, -1);
	assert_false(list_empty(&context->batches));
	gen9_job(&job->base)->extending = false;
	queue_work(engine->gpu->wq, &engine->done_work);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

static void client_is_moved_to_other_ranges(void **state)
{
	const u32 old = (GUEST_GGTT >> 12) + 2 * GUEST_PAGES, new = old + GUEST_PAGES;
	struct ghyvi_client_params params = guests[0].client->params;
	const struct ghyvi_range range = { (u64) new << 12, GUEST_PAGES * 4096u };
	const u64 *table = gen9_shim_emu.ggtt;
	struct ghyvi_pgpu_client *moved;
	u8 *page = (u8 *)gen9_shim_page_alloc();
	const u64 scratch = table[0]; /* the host's */
	u64 entry, own;
	dma_addr_t dma;
	unsigned int i;

	params.ggtt[0] = (struct ghyvi_range){ (u64)old << 12, GUEST_PAGES * 4096u };
	moved = ops->client_create(pgpu, &params);
	assert_false(IS_ERR(moved));
	assert_int_equal(ops->map_page(moved, (uintptr_t)page, GHYVI_PAGE_DATA, &dma), 0);
	entry = dma | 1;
	own = table[old + 1];
	assert_int_not_equal(own, scratch);
	ops->ggtt_write(moved, old, &entry, 1);
	assert_int_equal(table[old], entry);
	ops->client_set_ggtt(moved, &range, 1);
	for (i = 0; i < GUEST_PAGES; i++) {
		assert_int_equal(table[old + i], scratch);
		assert_int_equal(table[new + i], own);
	}
	ops->ggtt_write(moved, new + GUEST_PAGES - 1, &entry, 1);
	assert_int_equal(table[new + GUEST_PAGES - 1], entry);
	ops->invalidate(&moved, 1);
	ops->unmap_page(moved, dma);
	ops->client_destroy(moved);
	assert_int_equal(table[new + GUEST_PAGES - 1], own);
	gen9_shim_page_free((struct page *)page);
	ring_stores_and_interrupts_on_each_engine(state);
}

/* gen9_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ring_stores_and_interrupts_on_each_engine),
		TEST(user_batches_run_on_each_engine),
		TEST(kernel_batches_run_from_their_copies),
		TEST(blitter_user_batch_writes_no_register),
		TEST(ring_writes_no_register_that_contexts_share),
		TEST(predicate_of_privileged_commands_is_dropped),
		TEST(predicate_of_a_user_batch_ends_with_it),
		TEST(index_stores_go_to_the_guests_pages),
		TEST(registers_of_another_client_are_not_visible),
		TEST(client_is_moved_to_other_ranges),
		TEST(greedy_client_leaves_others_their_share),
		TEST(idle_context_keeps_no_batches),
		TEST(job_that_is_being_extended_keeps_its_windows),
		TEST(context_keeps_its_registers),
		TEST(tail_moves_are_executed),
		TEST(preempted_batch_goes_on),
		TEST(invalidation_takes_the_job_off_and_back),
		TEST(tail_moves_while_the_job_is_away),
		TEST(ring_is_compacted_while_the_job_is_away),
		TEST(cancelled_job_leaves_the_engine),
		TEST(endless_job_is_stopped_by_its_budget),
		TEST(endless_job_is_reset_for_an_invalidation),
		TEST(engine_does_not_idle_between_two_jobs),
		TEST(third_job_and_second_of_a_context_are_not_taken),
		TEST(second_job_is_withdrawn_from_an_endless_one),
		TEST(preempted_job_makes_way_for_the_second),
		TEST(job_that_ends_during_a_reset_is_given_back_once),
		TEST(second_job_survives_the_reset_of_the_first),
		TEST(waiting_in_the_second_port_costs_no_budget),
		TEST(invalidation_for_the_second_leaves_the_first_alone),
		TEST(second_job_gets_no_interrupt_of_the_first),
		TEST(random_operations_lose_no_command),
		TEST(refused_command_ends_the_job_in_front_of_it),
		TEST(suspended_gpu_goes_on),
		TEST(lost_gpu_gives_every_job_back),
		TEST(command_inside_of_another_is_refused),
		TEST(three_levels_are_walked),
		TEST(hostile_commands_stay_in_their_guest),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
