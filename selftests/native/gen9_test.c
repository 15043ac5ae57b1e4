// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/gen9 on the emulated GPU in one process: jobs, preemption, budgets and resets. Other
 * subjects are in gen9_*_test.c.
 */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

/* ---- tests ---- */

static void ring_stores_and_interrupts_on_each_engine(void **state)
{
	expect_working_engines();
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

/* Else the end of the batch might be a NOOP, and what follows it in its page would be executed. */
static void predicate_of_a_copied_batch_is_dropped(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	ghyvi_audit_set_mode(guests[0].audit, "full");
	USER(&guests[0], SET_PREDICATE(PREDICATE_ALWAYS), STORE_PPGTT, LO(USER_DATA), HI(USER_DATA),
	     1, BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	run_once(job);
	assert_int_equal(*(u32 *)guests[0].user[1], 1);
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

		start_and_pump(job);
		ops->preempt(pgpu, &job->base);
		finish(job, GHYVI_JOB_PREEMPTED);
		RINGS(other, STORE_GGTT, DATA + guests[1].base, 0, 3);
		run_once(other);
		start_and_pump(job);
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

	start_and_pump(job);
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

/* Append a store of @value and tell the engine. Returns the result of update_tail(). */
static int move_tail(struct test_job *job, u32 address, u32 value)
{
	RINGS(job, STORE_GGTT, address, 0, value);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	return ops->update_tail(pgpu, &job->base, job->tail);
}

/* It was prepared, and waits for the engine, for the first time or after a preemption. */
static void tail_moves_while_the_job_is_away(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	unsigned int again;

	audit(job);
	for (again = 0; again < 2; again++) {
		assert_int_equal(ops->prepare(pgpu, &job->base), 0);
		assert_int_equal(move_tail(job, DATA + 4 * again, 11 + again), 0);
		assert_int_equal(job->context[GHYVI_CTX_RING_TAIL], job->tail);
		assert_true(job->base.worker_ns > 0);
		job->status = -1;
		assert_int_equal(ops->run(pgpu, &job->base), 0);
		job->started = true;
		if (again)
			break;
		pump(20);
		ops->preempt(pgpu, &job->base);
		finish(job, GHYVI_JOB_PREEMPTED);
	}
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
	assert_int_equal(at(&guests[0], DATA), 11);
	assert_int_equal(at(&guests[0], DATA + 4), 12);
	job_free(job);
}

/* The copy of the ring has other offsets than the ring; the guest sees its own. */
static void ring_is_compacted_while_the_job_is_away(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	unsigned int i, moves = 0;

	start_and_pump(job);
	for (i = 0; i < 100 && !move_tail(job, DATA + 4 * i, i + 1); i++)
		moves++;
	assert_in_range(moves, 10, 99); /* until the copy is full */
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 12); /* after the start of the batch */
	RINGS(job, STORE_GGTT, DATA + 4 * moves + 4, 0, 77);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	job->context[GHYVI_CTX_RING_TAIL] = job->tail;
	start_and_pump(job);
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

/* Nothing of commands that cannot be installed is executed, neither now nor after a preemption. */
static void extension_that_fails_leaves_no_commands(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_BCS);
	u32 end = job->tail;

	*(u32 *)guest_page(&guests[0], DATA) = 0;
	start_and_pump(job);
	/* The second jump leads to the operand of a store, so the batch is refused. */
	put(guest_page(&guests[0], KERNEL_BATCH),
	    DWORDS(LRI(1), 0x22600, NOOP, START_KERNEL, KERNEL_BATCH + 8, 0));
	RINGS(job, STORE_GGTT, DATA, 0, 5, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), -ESTALE);
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	assert_int_equal(job->context[GHYVI_CTX_RING_TAIL], end);
	release_guest(&guests[0]);
	start(job);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], end);
	assert_int_equal(at(&guests[0], DATA), 0);
	job_free(job);
}

static struct test_job *extended_job;

static void preempt_extended_job(void)
{
	unsigned int i;

	if (!gen9_job(&extended_job->base)->extending)
		return;
	gen9_shim_preempted = NULL;
	assert_true(gen9_shim_in_work); /* the job stays meanwhile, so it is no guest's thread */
	ops->preempt(pgpu, &extended_job->base);
	for (i = 0; i < 100000 && !gen9_job(&extended_job->base)->ended; i++) {
		gen9_shim_interrupt();
		gen9_watch(&gen9_of(pgpu)->engines[GHYVI_RCS].watch.work); /* for late events */
	}
	assert_true(gen9_job(&extended_job->base)->ended);
}

/* Commands that are installed while the job leaves its engine are executed once. */
static void job_that_is_preempted_while_it_is_extended_goes_on(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	extended_job = job;
	*(u32 *)guest_page(&guests[0], DATA) = 0;
	start_and_pump(job);
	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP, ATOMIC_INCREMENT_GGTT, DATA, 0, NOOP);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	gen9_shim_preempted = preempt_extended_job;
	assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), 0);
	assert_null(gen9_shim_preempted);
	finish(job, GHYVI_JOB_PREEMPTED);
	assert_int_equal(job->context[GHYVI_CTX_RING_TAIL], job->tail);
	release_guest(&guests[0]);
	start(job);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
	assert_int_equal(at(&guests[0], DATA), 1);
	job_free(job);
}

static unsigned int preemptions_before;

static void add_to_extended_job(void)
{
	if (preemptions_before--)
		return;
	gen9_shim_preempted = NULL;
	RINGS(extended_job, START_KERNEL, KERNEL_BATCH, 0, NOOP, ATOMIC_INCREMENT_GGTT, DATA, 0,
	      NOOP);
	assert_int_equal(ghyvi_audit_extend(extended_job->base.commands, extended_job->tail), 0);
}

/*
 * While their memory is counted they are installed, too, or else update_tail() does that. The job
 * may be done then: the core runs again what is behind the head.
 */
static void commands_that_are_added_during_prepare_are_executed_once(void **state)
{
	unsigned int i, added = 0;
	struct test_job *job;

	for (i = 0; i < 5; i++) {
		job = waiting_job(&guests[0], GHYVI_RCS);
		extended_job = job;
		*(u32 *)guest_page(&guests[0], DATA) = 0;
		put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(BATCH_END));
		RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP);
		preemptions_before = i;
		gen9_shim_preempted = add_to_extended_job;
		start(job);
		added += !gen9_shim_preempted;
		gen9_shim_preempted = NULL;
		if (preemptions_before == UINT_MAX) {
			assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), 0);
			complete_waiting(&guests[0], job);
			assert_int_equal(at(&guests[0], DATA), 1);
			assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], job->tail);
			assert_int_equal(ops->update_tail(pgpu, &job->base, job->tail), -ESTALE);
		} else {
			complete_waiting(&guests[0], job);
		}
		job_free(job);
	}
	assert_in_range(added, 3, 5); /* counting, copying, rewriting */
}

/* So is the end in front of a command that is refused. */
static void refused_extension_of_a_preempted_job_ends_it(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	u32 stop;

	extended_job = job;
	start_and_pump(job);
	put(guest_page(&guests[0], KERNEL_BATCH), DWORDS(BATCH_END));
	RINGS(job, START_KERNEL, KERNEL_BATCH, 0, NOOP, STORE_GGTT, DATA, 0, 3);
	stop = job->tail;
	RINGS(job, STORE_GGTT, 0x1000, 0, 2);
	assert_int_equal(ghyvi_audit_extend(job->base.commands, job->tail), 0);
	gen9_shim_preempted = preempt_extended_job;
	ops->update_tail(pgpu, &job->base, job->tail);
	finish(job, GHYVI_JOB_PREEMPTED);
	release_guest(&guests[0]);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], stop);
	assert_int_equal(at(&guests[0], DATA), 3);
	job_free(job);
}

static void cancelled_job_leaves_the_engine(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start_and_pump(job);
	ops->cancel(pgpu, &job->base);
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_CANCELLED);
	pump(20);
	assert_int_equal(((u32 *)guests[0].user[1])[1], 0);
	job_free(job);
	expect_working_engines();
}

static unsigned int resets_by_guests;

static void note_reset(u32 offset, u32 value)
{
	resets_by_guests += offset == GEN6_GDRST && !gen9_shim_in_work;
}

/*
 * The thread of a guest may get no CPU time, while others need its engine, or what it holds. It
 * waits for its own jobs only if nothing depends on it.
 */
static void a_guests_thread_neither_resets_nor_cancels_itself(void **state)
{
	struct test_job *job = endless_job(&guests[0], GHYVI_VCS);

	start_and_pump(job);
	resets_by_guests = 0;
	gen9_shim_written = note_reset;
	ops->invalidate(&guests[0].client, 1);
	finish(job, GHYVI_JOB_ERROR);
	start_and_pump(job);
	gen9_shim_waits = 0;
	ops->cancel(pgpu, &job->base);
	assert_int_equal(gen9_shim_waits, 0);
	finish(job, GHYVI_JOB_CANCELLED);
	gen9_shim_written = NULL;
	assert_int_equal(resets_by_guests, 0);
	job_free(job);
	expect_working_engines();
}

static void endless_job_is_stopped_by_its_budget(void **state)
{
	char text[GHYVI_REPORT_BYTES];
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = endless_job(&guests[0], i);

		job->base.budget_ns = 30 * NSEC_PER_MSEC;
		start(job);
		finish(job, GHYVI_JOB_ERROR);
		assert_true(job->base.fault.valid);
		assert_int_equal(atomic64_read(&guests[0].stats.budget_overruns), i + 1);
		ghyvi_report_last(&guests[0].reporter, text, sizeof(text));
		assert_non_null(strstr(text, "GPU time of 30 ms used up"));
		job_free(job);
	}
	expect_working_engines();
}

/* A guest that shares the engine gets its budget once, not in each of its turns. */
static void budget_counts_in_all_turns_of_a_job(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	unsigned int turns = 0;
	u64 end;

	job->base.budget_ns = 50 * NSEC_PER_MSEC;
	do {
		start(job);
		end = ktime_get_ns() + 20 * NSEC_PER_MSEC;
		while (job->status < 0 && ktime_get_ns() < end)
			gen9_shim_pump();
		if (job->status < 0)
			ops->preempt(pgpu, &job->base);
		assert_false(waits(job));
	} while (job->status == GHYVI_JOB_PREEMPTED && ++turns < 20);
	assert_int_equal(job->status, GHYVI_JOB_ERROR);
	assert_in_range(turns, 1, 4);
	assert_int_equal(atomic64_read(&guests[0].stats.budget_overruns), 1);
	job_free(job);
	expect_working_engines();
}

static void endless_job_is_reset_for_an_invalidation(void **state)
{
	struct test_job *job = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *other = waiting_job(&guests[1], GHYVI_VCS);

	start(other);
	start_and_pump(job);
	ops->invalidate(&guests[0].client, 1);
	finish(job, GHYVI_JOB_ERROR);
	*(u32 *)guests[1].user[1] = 1;
	finish(other, GHYVI_JOB_COMPLETE);
	job_free(job);
	job_free(other);
	expect_working_engines();
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
	start_and_pump(late_job);
	gen9_shim_written = end_late_job;
	ops->cancel(pgpu, &late_job->base);
	assert_null(gen9_shim_written);
	assert_non_null(late_job); /* the reset has not ended it before */
	finish(late_job, GHYVI_JOB_CANCELLED);
	job_free(late_job);
	expect_working_engines();
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

	start_and_pump(job);
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	*(u32 *)guests[0].user[1] = 1;
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
	expect_working_engines();
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
		TEST(predicate_of_a_copied_batch_is_dropped),
		TEST(index_stores_go_to_the_guests_pages),
		TEST(registers_of_another_client_are_not_visible),
		TEST(context_keeps_its_registers),
		TEST(tail_moves_are_executed),
		TEST(preempted_batch_goes_on),
		TEST(invalidation_takes_the_job_off_and_back),
		TEST(tail_moves_while_the_job_is_away),
		TEST(ring_is_compacted_while_the_job_is_away),
		TEST(extension_that_fails_leaves_no_commands),
		TEST(job_that_is_preempted_while_it_is_extended_goes_on),
		TEST(commands_that_are_added_during_prepare_are_executed_once),
		TEST(refused_extension_of_a_preempted_job_ends_it),
		TEST(cancelled_job_leaves_the_engine),
		TEST(a_guests_thread_neither_resets_nor_cancels_itself),
		TEST(endless_job_is_stopped_by_its_budget),
		TEST(budget_counts_in_all_turns_of_a_job),
		TEST(endless_job_is_reset_for_an_invalidation),
		TEST(job_that_ends_during_a_reset_is_given_back_once),
		TEST(refused_command_ends_the_job_in_front_of_it),
		TEST(suspended_gpu_goes_on),
		TEST(lost_gpu_gives_every_job_back),
		TEST(command_inside_of_another_is_refused),
		TEST(three_levels_are_walked),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
