// SPDX-License-Identifier: GPL-2.0-only
/* Execlists, one rule after the other: events, lite restore, preemption, resets. */
#include <semaphore.h>
#include "vgpu_guest.h"

/* The tail that the job on the guest's engine runs up to. */
static u32 tail_on_engine(void)
{
	return fake_job(gpu.running[guest.id])->tail;
}

static void one_context(void **state)
{
	struct ghyvi_job *job;

	poke(STATE(0, GHYVI_CTX_GPR), 0x1111);
	submit_work(0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0);
	assert_int_equal(atomic_read(&interrupts), 1);
	job = gpu.running[GHYVI_RCS];
	assert_non_null(job);
	assert_true(job->root == PML4(0));
	assert_int_equal(job->levels, 4);
	assert_int_equal(job->lrca, LRCA(0));
	assert_false(job->restore);
	assert_int_equal(job->context[GHYVI_CTX_RING_TAIL], guest.tails[0]);
	assert_int_equal(job->context[GHYVI_CTX_GPR], 0x1111);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0x20);
	assert_int_equal(rd(guest.base + RING_MI_MODE), 0);

	job->context[GHYVI_CTX_GPR + 2] = 0x2222;
	complete_last();
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0);
	assert_int_equal(rd(guest.base + RING_MI_MODE), MI_MODE_IDLE);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_CONTROL)), 0x000f0008);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_TIMESTAMP)), 7);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR)), 0x1111);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR + 2)), 0x2222);
	assert_int_equal(atomic64_read(&stats.workloads), 1);
	assert_int_equal(atomic64_read(&stats.submissions_rcs), 1);

	submit_work(0);
	assert_true(gpu.running[GHYVI_RCS]->restore);
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static int fault_status(void)
{
	return client.owner->fault_status(client.owner, GHYVI_RCS);
}

static int fault_on(u64 gfn)
{
	int err;

	client.owner->fault(client.owner, GHYVI_RCS, gfn);
	wait_event(client.owner->faulted, (err = fault_status()) != -EINPROGRESS);
	return err;
}

/* Threads of the host may do the work. */
static void allocations_for_a_workload_are_charged_to_its_guest(void **state)
{
	submit_work(0);
	assert_int_equal(gtt.syncs, 1);
	assert_int_equal(fault_on(1), -EFAULT);
	assert_int_equal(gtt.uncharged, 0);
	gtt.uncharged_writes = 0;
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(gtt.uncharged_writes, 0);
	assert_int_equal(charged, 0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
}

/* The administrator does it, with a cgroup of its own. */
static void the_sync_of_a_new_policy_is_charged_to_the_guest(void **state)
{
	assert_int_equal(ghyvi_vgpu_set_policy(vgpu, "adaptive"), 0);
	assert_int_equal(ghyvi_vgpu_set_policy(vgpu, "none"), -EINVAL);
	assert_int_equal(gtt.uncharged, 0);
	assert_int_equal(charged, 0);
}

static sem_t in_fault, go_on;
static u64 faulted[2];

static void slow_memory(u64 gfn)
{
	faulted[gtt.faults - 1] = gfn;
	sem_post(&in_fault);
	sem_wait(&go_on);
}

static void *reset_vgpu(void *data)
{
	ghyvi_vgpu_reset(vgpu);
	return NULL;
}

/* The job that needs the page may be cancelled, and others may follow, before the page is there. */
static void a_fault_waits_for_guest_memory_in_a_thread_of_its_own(void **state)
{
	pthread_t thread;

	sem_init(&in_fault, 0, 0);
	sem_init(&go_on, 0, 0);
	gtt.in_fault = slow_memory;
	gtt.faults = 0;
	submit_work(0);
	client.owner->fault(client.owner, GHYVI_RCS, 1);
	sem_wait(&in_fault);
	assert_int_equal(fault_status(), -EINPROGRESS);
	client.owner->fault(client.owner, GHYVI_RCS, 2);
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	sem_post(&go_on);
	sem_wait(&in_fault);
	assert_int_equal(fault_status(), -EINPROGRESS);
	/* A reset removes all pins, so it must not miss this one. */
	gtt.resets = 0;
	pthread_create(&thread, NULL, reset_vgpu, NULL);
	usleep_range(2000, 2100);
	assert_int_equal(gtt.resets, 0);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	assert_int_equal(gtt.resets, 1);
	assert_int_equal(gtt.faults, 2);
	assert_int_equal(faulted[0], 1);
	assert_int_equal(faulted[1], 2);
	assert_int_equal(fault_status(), -EFAULT);
	gtt.in_fault = NULL;
}

#define BATCH_AT(n) (HIDDEN_START + 0x1c0000 + 0x100 * (n))

/* Three batches, of which the budget allows one: three workloads, but one completion. */
static void a_submission_over_the_audit_budget_runs_in_parts(void **state)
{
	struct ghyvi_audit *auditor = ghyvi_vgpu_audit(vgpu);
	struct ghyvi_audit_budget budget;
	unsigned int i;

	ghyvi_audit_get_budget(auditor, &budget);
	budget.budget_batches = 1;
	assert_int_equal(ghyvi_audit_set_budget(auditor, &budget), 0);
	for (i = 0; i < 3; i++) {
		poke(BATCH_AT(i), 0x05000000);
		poke(RINGS(0) + 16 * i, 0x18800001);
		poke(RINGS(0) + 16 * i + 4, BATCH_AT(i));
		poke(RINGS(0) + 16 * i + 8, 0);
		poke(RINGS(0) + 16 * i + 12, 0);
	}
	guest.tails[0] = 48;
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 48);
	submit(0, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	for (i = 0; i < 3; i++) {
		assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD], 16 * i);
		assert_int_equal(tail_on_engine(), 16 * (i + 1));
		assert_int_equal(consume(), 0);
		finish(guest.id, GHYVI_JOB_COMPLETE);
		assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_TAIL)), 48);
	}
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), 48);
	assert_int_equal(atomic64_read(&stats.audit_rejects), 0);
}

static s64 queued(void)
{
	return atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->queued_now);
}

static void two_elements(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(queued(), 2);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x14);
	assert_int_equal(queued(), 1);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0x40);
	assert_int_equal(gpu.running[guest.id]->lrca, LRCA(1));
	complete_last();
	assert_int_equal(consume(), 0);
	assert_int_equal(queued(), 0);
}

static void an_empty_context_completes_without_the_gpu(void **state)
{
	submit(0, -1);
	assert_int_equal(gpu.runs, 0);
	assert_int_equal(consume(), 1);
	assert_int_equal(consume(), 0x18);
	move_tail(2);
	submit(1, 2);
	assert_int_equal(consume(), 1);
	assert_int_equal(consume(), 0x14);
	assert_int_equal(gpu.runs, 1);
	complete_last();
}

static void one_more_request(void)
{
	move_tail(0);
}

/*
 * Requests added after the scan do not run, because their table entries may be newer than the
 * shadow.
 */
static void requests_added_after_the_scan_wait_for_the_next(void **state)
{
	u32 tail;

	move_tail(0);
	tail = guest.tails[0];
	gtt.after_sync = one_more_request;
	submit(0, -1);
	assert_int_equal(tail_on_engine(), tail);
	consume();
	tail = guest.tails[0];
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	assert_int_equal(tail_on_engine(), tail);
	gtt.after_sync = NULL;
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void lite_restore_moves_the_tail(void **state)
{
	int syncs;

	submit_work(0);
	consume();
	move_tail(0);
	move_tail(1);
	syncs = gtt.syncs;
	submit(0, 1);
	assert_true(gtt.syncs > syncs); /* the new requests' mappings */
	assert_int_equal(consume(), 0x8002);
	assert_int_equal(tail_on_engine(), guest.tails[0]);
	assert_int_equal(gpu.runs, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x14);
	complete_last();
	assert_int_equal(atomic64_read(&stats.lite_restores), 1);
}

/* i915 asks for a reload when it has moved the tail back. */
static void a_forced_restore_with_another_tail_is_no_lite_restore(void **state)
{
	u32 tail;

	submit_work(0);
	consume();
	tail = guest.tails[0];
	move_tail(0);
	elsp(descriptor(0) | CTX_DESC_FORCE_RESTORE, 0);
	assert_int_equal(consume(), 0);
	assert_int_equal(tail_on_engine(), tail);
	assert_int_equal(atomic64_read(&stats.lite_restores), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.runs, 2);
	assert_int_equal(tail_on_engine(), guest.tails[0]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void a_submission_that_adds_nothing_is_merged(void **state)
{
	submit_work(0);
	consume();
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	complete_last();
	assert_int_equal(gpu.runs, 1);
}

static void a_context_runs_again_after_a_late_lite_restore(void **state)
{
	submit_work(0);
	consume();
	gpu.stale = true;
	submit_work(0);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0);
	assert_int_equal(gpu.runs, 2);
	complete_last();
}

/*
 * The guest sees an engine that is slow. What it writes to the image, as to that of any active
 * context, is not read.
 */
static void a_preempted_context_is_active_and_goes_on_from_the_hosts_copy(void **state)
{
	struct ghyvi_commands *commands;
	struct ghyvi_job *job;
	int syncs;
	u32 i;

	submit_work(0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	job = gpu.running[guest.id];
	fake_job(job)->level = 2;
	commands = job->commands;
	syncs = gtt.syncs;
	be_preempted(8);
	assert_true(gtt.syncs > syncs); /* tables may have changed meanwhile */
	assert_int_equal(consume(), 0);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0x20);
	assert_int_equal(rd(guest.base + RING_HEAD), 8);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), 0);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_TIMESTAMP)), 0);
	for (i = 1; i < GHYVI_CTX_GPR; i += 2)
		if (i != GHYVI_CTX_RING_TAIL)
			poke(STATE(0, i), 0xbad00000 + i);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(gpu.running[guest.id], job);
	assert_ptr_equal(job->commands, commands);
	assert_int_equal(fake_job(job)->level, 2);
	assert_true(job->root == PML4(0));
	assert_int_equal(job->context[GHYVI_CTX_RING_START], RINGS(0));
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 8);
	complete_last();
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), guest.tails[0]);
	assert_int_equal(atomic64_read(&stats.engine_errors), 0);
	assert_true(atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->preemptions) > 0);
}

/* The engine was still busy with the previous workload. */
static void a_workload_that_never_began_is_not_reported_as_preempted(void **state)
{
	struct ghyvi_job *job;

	submit_work(0);
	job = take_job(guest.id);
	job->done(job, GHYVI_JOB_PREEMPTED);
	assert_ptr_equal(gpu.running[guest.id], job);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->preemptions), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0x18);
}

static void lite_restore_of_a_preempted_context(void **state)
{
	submit_work(0);
	consume();
	be_preempted(8);
	submit_work(0);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD], 8);
	assert_int_equal(tail_on_engine(), guest.tails[0]);
	complete_last();
	assert_int_equal(consume(), 0);
}

static void after_a_reset_a_preempted_context_begins_as_its_image_says(void **state)
{
	submit_work(0);
	consume();
	fake_job(gpu.running[guest.id])->level = 2;
	be_preempted(8);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	reset_books();
	assert_int_equal(gtt.roots_live, 0);
	assert_int_equal(gtt.forgets_all, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_null(gpu.running[guest.id]);
	poke(STATE(0, GHYVI_CTX_RING_HEAD), 16);
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 64);
	guest.tails[0] = 64;
	submit(0, -1);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD], 16);
	assert_int_equal(fake_job(gpu.running[guest.id])->level, 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0x18);
}

static void reset_cancels_a_queued_context(void **state)
{
	occupy_engine();
	submit_work(0);
	consume();
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	reset_books();
	assert_int_equal(gpu.cancels, 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_null(gpu.running[guest.id]);
	assert_int_equal(consume(), 0);
}

static void an_empty_context_completes_while_another_vgpu_has_the_engine(void **state)
{
	occupy_engine();
	submit(0, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0x18);
	submit_work(0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	complete_last();
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), guest.tails[0]);
}

static void lite_restore_of_a_context_that_waits(void **state)
{
	occupy_engine();
	submit_work(0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	submit_work(0);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(tail_on_engine(), guest.tails[0]);
	complete_last();
	assert_int_equal(consume(), 0);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), guest.tails[0]);
}

static void another_context_waits_for_the_running_ones(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, -1);
	consume();
	submit(1, -1);
	assert_int_equal(consume(), 0);
	complete_last();
	assert_int_equal(consume(), 1);
	complete_last();
}

static void a_waiting_submission_merges_into_the_second_element(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	submit(1, 2);
	assert_int_equal(consume(), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x14);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x14);
	assert_int_equal(consume(), 0x18); /* context 2 is empty */
}

static void reset_stops_the_running_context(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	guest_reset();
	assert_int_equal(gpu.cancels, 1);
	settle();
	assert_int_equal(consume(), 0);
	submit_work(2);
	assert_int_equal(consume(), 1);
	complete_last();
}

static void device_reset_waits_for_the_running_context(void **state)
{
	submit_work(0);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(gtt.roots_live, 0);
	assert_int_equal(peek(HWSP(guest.id) + HWSP_CSB_WRITE), 0); /* only the promotion */
}

static void user_interrupts_pass(void **state)
{
	submit_work(0);
	wr(0x44308, ~0u);
	gpu.running[guest.id]->event(gpu.running[guest.id], GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(rd(0x44308) & 0xffff, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

/* The guest's handler, at once and on another CPU: so each message is one of its own. */
static void handle_at_once(void)
{
	vgpu_irq_write(vgpu, GEN8_GT_ISR0 + IRQ_IIR, ~0u);
}

static void a_completion_and_what_belongs_to_it_send_one_message(void **state)
{
	on_interrupt = handle_at_once;
	submit_work(0);
	assert_int_equal(atomic_read(&interrupts), 1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	submit_work(1); /* stays pending until the completion */
	assert_int_equal(atomic_read(&interrupts), 1);
	gpu.running[guest.id]->events = GHYVI_EVENT_USER_INTERRUPT;
	complete_last();
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(atomic_read(&interrupts), 2);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&interrupts), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(one_context),
		RCS(allocations_for_a_workload_are_charged_to_its_guest),
		RCS(the_sync_of_a_new_policy_is_charged_to_the_guest),
		RCS(a_fault_waits_for_guest_memory_in_a_thread_of_its_own),
		RCS(a_submission_over_the_audit_budget_runs_in_parts),
		RCS(two_elements),
		RCS(a_completion_and_what_belongs_to_it_send_one_message),
		RCS(an_empty_context_completes_without_the_gpu),
		RCS(requests_added_after_the_scan_wait_for_the_next),
		RCS(lite_restore_moves_the_tail),
		RCS(a_forced_restore_with_another_tail_is_no_lite_restore),
		RCS(a_submission_that_adds_nothing_is_merged),
		RCS(a_context_runs_again_after_a_late_lite_restore),
		RCS(a_preempted_context_is_active_and_goes_on_from_the_hosts_copy),
		RCS(a_workload_that_never_began_is_not_reported_as_preempted),
		RCS(lite_restore_of_a_preempted_context),
		RCS(after_a_reset_a_preempted_context_begins_as_its_image_says),
		RCS(reset_cancels_a_queued_context),
		RCS(an_empty_context_completes_while_another_vgpu_has_the_engine),
		RCS(lite_restore_of_a_context_that_waits),
		RCS(another_context_waits_for_the_running_ones),
		RCS(a_waiting_submission_merges_into_the_second_element),
		RCS(reset_stops_the_running_context),
		RCS(device_reset_waits_for_the_running_context),
		RCS(user_interrupts_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
