// SPDX-License-Identifier: GPL-2.0-only
/* Execlists, one rule after the other: events, lite restore, errors, resets. */
#include "vgpu_guest.h"

static void test_one_context(void **state)
{
	struct ghyvi_job *job;

	poke(STATE(0, GHYVI_CTX_GPR), 0x1111);
	move_tail(0);
	submit(0, -1);
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
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0);
	assert_int_equal(rd(guest.base + RING_MI_MODE), MI_MODE_IDLE);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_CONTROL)), 0x000f0008);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_TIMESTAMP)), 7);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR)), 0x1111);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR + 2)), 0x2222);
	assert_int_equal(atomic64_read(&stats.workloads), 1);
	assert_int_equal(atomic64_read(&stats.submissions_rcs), 1);

	move_tail(0);
	submit(0, -1);
	assert_true(gpu.running[GHYVI_RCS]->restore);
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

/* Threads of the host may do all of that. */
static void test_what_a_workload_allocates_is_charged_to_its_guest(void **state)
{
	move_tail(0);
	submit(0, -1);
	assert_int_equal(gtt.syncs, 1);
	assert_int_equal(client.fault(client.owner, 1), -EFAULT);
	assert_int_equal(gtt.uncharged, 0);
	gtt.uncharged_writes = 0;
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(gtt.uncharged_writes, 0);
	assert_int_equal(charged, 0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
}

static void test_the_saved_image_is_not_written_elsewhere(void **state)
{
	static u8 before[8192], after[8192];
	u32 i, differs = 0;

	for (i = 0x60; i < 2048; i++)
		poke(LRCA(1) + 4 * i, peek(LRCA(1) + 4 * i) ?: 0xdead0000 + i);
	make_context(1);
	poke(STATE(1, GHYVI_CTX_INDIRECT), 0);
	move_tail(1);
	memcpy(before, fake_memory(LRCA(1), 8192), sizeof(before));
	submit(1, -1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	memcpy(after, fake_memory(LRCA(1), 8192), sizeof(after));
	for (i = 0; i < 8192; i += 4)
		if (memcmp(before + i, after + i, 4)) {
			u32 index = (i - 4096) / 4;

			differs++;
			assert_true(index == GHYVI_CTX_CONTROL || index == GHYVI_CTX_RING_HEAD ||
				    index == GHYVI_CTX_TIMESTAMP);
		}
	assert_int_equal(differs, 3);
}

static void test_gen8_blitter_has_neither_gprs_nor_indirect_context(void **state)
{
	poke(STATE(0, GHYVI_CTX_INDIRECT), 0x12345003);
	poke(STATE(0, GHYVI_CTX_GPR), 0x77);
	move_tail(0);
	submit(0, -1);
	assert_int_equal(gpu.running[GHYVI_BCS]->context[GHYVI_CTX_INDIRECT], 0);
	assert_int_equal(gpu.running[GHYVI_BCS]->context[GHYVI_CTX_GPR], 0);
	gpu.running[GHYVI_BCS]->context[GHYVI_CTX_GPR] = 0x99;
	finish(GHYVI_BCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR)), 0x77);
}

/* What a driver looks at when it reports a hang: where the context that was loaded last is. */
static void expect_shown(u32 head)
{
	assert_int_equal(rd(guest.base + RING_HEAD), head);
	assert_int_equal(rd(guest.base + RING_ACTHD), head);
	assert_int_equal(rd(guest.base + RING_TAIL), 0x80);
	assert_int_equal(rd(guest.base + RING_START), RINGS(1));
	assert_int_equal(rd(guest.base + RING_CTL), 1);
	assert_int_equal(rd(guest.base + RING_PDP0_LDW), lower_32_bits(PML4(1)));
	assert_int_equal(rd(guest.base + RING_PDP0_UDW), 3);
}

static void test_registers_tell_where_the_context_is(void **state)
{
	poke(STATE(1, GHYVI_CTX_RING_HEAD), 0x40);
	poke(STATE(1, GHYVI_CTX_RING_TAIL), 0x80);
	poke(STATE(1, GHYVI_CTX_PDP0_UDW), 3);
	submit(1, -1);
	expect_shown(0x40);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	expect_shown(0x80);
	assert_int_equal(rd(guest.base + RING_CTX_TIMESTAMP), 7);
}

static s64 queued(void)
{
	return atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->queued_now);
}

static void test_two_elements(void **state)
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
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
	assert_int_equal(queued(), 0);
}

static void test_an_empty_context_completes_without_the_gpu(void **state)
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
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
}

static void one_more_request(void)
{
	move_tail(0);
}

/* What the scan did not see does not run: its table entries may be newer than the shadow. */
static void test_requests_added_after_the_scan_wait_for_the_next(void **state)
{
	u32 tail;

	move_tail(0);
	tail = guest.tails[0];
	gtt.after_sync = one_more_request;
	submit(0, -1);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], tail);
	consume();
	tail = guest.tails[0];
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], tail);
	gtt.after_sync = NULL;
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void test_lite_restore_moves_the_tail(void **state)
{
	int syncs;

	move_tail(0);
	submit(0, -1);
	consume();
	move_tail(0);
	move_tail(1);
	syncs = gtt.syncs;
	submit(0, 1);
	assert_true(gtt.syncs > syncs); /* the new requests' mappings */
	assert_int_equal(consume(), 0x8002);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], guest.tails[0]);
	assert_int_equal(gpu.runs, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x14);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(atomic64_read(&stats.lite_restores), 1);
}

static void test_a_submission_that_adds_nothing_is_merged(void **state)
{
	move_tail(0);
	submit(0, -1);
	consume();
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(gpu.runs, 1);
}

static void test_a_lite_restore_that_comes_too_late_runs_again(void **state)
{
	move_tail(0);
	submit(0, -1);
	consume();
	gpu.stale = true;
	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0);
	assert_int_equal(gpu.runs, 2);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
}

/* Another vGPU has the engine; ours comes to the scheduler's queue and no further. */
static int foreign_prepare(struct ghyvi_workload *base)
{
	return 0;
}

static void foreign_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
}

static u32 foreign_context[GHYVI_CTX_DWORDS];
static struct ghyvi_workload foreign = {
	.prepare = foreign_prepare,
	.complete = foreign_complete,
	.job.context = foreign_context,
};

static void occupy_engine(void)
{
	foreign.job.engine = guest.id;
	ghyvi_sched_queue(sched, &foreign);
	ghyvi_sched_kick(sched, guest.id, NULL);
	assert_ptr_equal(gpu.running[guest.id], &foreign.job);
}

static void test_lite_restore_of_a_queued_context(void **state)
{
	occupy_engine();
	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], guest.tails[0]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
}

/* Ours is on the engine; it leaves until another vGPU's workload, which waits, is there. */
static void be_preempted(u32 head)
{
	int i;

	foreign.job.engine = guest.id;
	ghyvi_sched_queue(sched, &foreign);
	for (i = 0; i < 10 && gpu.running[guest.id] != &foreign.job; i++) {
		gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD] = head;
		finish(guest.id, GHYVI_JOB_PREEMPTED);
	}
	assert_ptr_equal(gpu.running[guest.id], &foreign.job);
}

/*
 * The guest sees an engine that is slow. What it writes to the image, as to that of any active
 * context, is not read.
 */
static void test_a_preempted_context_is_active_and_goes_on_from_the_hosts_copy(void **state)
{
	struct ghyvi_commands *commands;
	struct ghyvi_job *job;
	int syncs;
	u32 i;

	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	job = gpu.running[guest.id];
	fake_job(job)->level = 2;
	commands = job->commands;
	be_preempted(8);
	assert_int_equal(consume(), 0);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0x20);
	assert_int_equal(rd(guest.base + RING_HEAD), 8);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), 0);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_TIMESTAMP)), 0);
	for (i = 1; i < GHYVI_CTX_GPR; i += 2)
		if (i != GHYVI_CTX_RING_TAIL)
			poke(STATE(0, i), 0xbad00000 + i);
	syncs = gtt.syncs;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_ptr_equal(gpu.running[guest.id], job);
	assert_ptr_equal(job->commands, commands);
	assert_int_equal(fake_job(job)->level, 2);
	assert_true(job->root == PML4(0));
	assert_int_equal(job->context[GHYVI_CTX_RING_START], RINGS(0));
	assert_int_equal(job->context[GHYVI_CTX_RING_HEAD], 8);
	assert_true(gtt.syncs > syncs); /* tables may have changed meanwhile */
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), guest.tails[0]);
	assert_int_equal(atomic64_read(&stats.engine_errors), 0);
	assert_true(atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->preemptions) > 0);
}

/* The engine was still busy with what came before. */
static void test_who_never_began_was_not_preempted(void **state)
{
	struct ghyvi_job *job;

	move_tail(0);
	submit(0, -1);
	job = take_job(guest.id);
	job->done(job, GHYVI_JOB_PREEMPTED);
	assert_ptr_equal(gpu.running[guest.id], job);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&stats, guest.id)->preemptions), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0x18);
}

static void test_lite_restore_of_a_preempted_context(void **state)
{
	move_tail(0);
	submit(0, -1);
	consume();
	be_preempted(8);
	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD], 8);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], guest.tails[0]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
}

static void test_after_a_reset_a_preempted_context_begins_as_its_image_says(void **state)
{
	move_tail(0);
	submit(0, -1);
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

static void test_reset_takes_a_queued_context_back(void **state)
{
	occupy_engine();
	move_tail(0);
	submit(0, -1);
	consume();
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	reset_books();
	assert_int_equal(gpu.cancels, 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_null(gpu.running[guest.id]);
	assert_int_equal(consume(), 0);
}

/* The guest submits again after the context was loaded and before it is on the engine. */
static int (*real_prepare)(struct ghyvi_workload *base);

static int submit_after_prepare(struct ghyvi_workload *base)
{
	int err = real_prepare(base);

	base->prepare = real_prepare;
	move_tail(0);
	submit(0, -1);
	assert_int_equal(consume(), 0x8002);
	return err;
}

static int reset_after_prepare(struct ghyvi_workload *base)
{
	int err = real_prepare(base);

	base->prepare = real_prepare;
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	reset_books();
	return err;
}

static void submit_intercepted(int (*prepare)(struct ghyvi_workload *base))
{
	struct ghyvi_workload *base;

	occupy_engine();
	submit(0, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	base = &vgpu->engines[guest.id].workload->base;
	real_prepare = base->prepare;
	base->prepare = prepare;
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void test_lite_restore_of_an_empty_context_on_its_way(void **state)
{
	submit_intercepted(submit_after_prepare);
	assert_int_equal(consume(), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), guest.tails[0]);
}

static void test_lite_restore_of_a_loaded_context_on_its_way(void **state)
{
	move_tail(0);
	submit_intercepted(submit_after_prepare);
	assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_TAIL], guest.tails[0]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
}

static void test_reset_of_a_loaded_context_on_its_way(void **state)
{
	move_tail(0);
	submit_intercepted(reset_after_prepare);
	assert_null(gpu.running[guest.id]);
	assert_int_equal(consume(), 0);
	assert_int_equal(gtt.roots_live, 0);
}

static void test_another_context_waits_for_the_running_ones(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, -1);
	consume();
	submit(1, -1);
	assert_int_equal(consume(), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
}

static void test_a_waiting_submission_merges_into_the_second_element(void **state)
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

static void expect_error(const char *reason)
{
	assert_int_equal(rd(guest.base + RING_EIR), 1);
	assert_int_not_equal(rd(guest.base + RING_ESR), 0);
	assert_true(rd(0x44308) & BIT(3));
	assert_int_not_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(consume(), 0);
	if (reason)
		assert_non_null(strstr(last_report(), reason));
	/* nothing moves until reset */
	submit(5, -1);
	assert_int_equal(consume(), 0);
	guest_reset();
	assert_int_equal(rd(guest.base + RING_EIR), 0);
	assert_int_equal(rd(guest.base + RING_ESR), 0);
	wr(0x44308, ~0u);
	move_tail(5);
	submit(5, -1);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
}

static void test_an_engine_error_stops_it_until_reset(void **state)
{
	u32 head;

	move_tail(0);
	submit(0, -1);
	head = gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD] = 0x40;
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_HEAD), head);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), 0);
	expect_error(NULL);
	assert_int_equal(atomic64_read(&stats.engine_errors), 1);
}

static void test_a_dead_gpu_is_an_engine_error(void **state)
{
	gpu.dead = true;
	move_tail(0);
	submit(0, -1);
	gpu.dead = false;
	expect_error(NULL);
}

static void test_bad_page_tables(void **state)
{
	gtt.root_error = -EFAULT;
	move_tail(0);
	submit(0, -1);
	gtt.root_error = 0;
	expect_error("not accepted");
}

static void test_an_unmapped_image(void **state)
{
	gtt.unmapped_page = STATE(0, 0);
	submit(0, -1);
	gtt.unmapped_page = 0;
	expect_error("not mapped");
}

static void bad_ring(unsigned int index, u32 value)
{
	make_context(0);
	move_tail(0);
	poke(STATE(0, index), value);
	submit(0, -1);
	expect_error("ring start");
}

static void test_bad_rings(void **state)
{
	bad_ring(GHYVI_CTX_RING_CTL, 0);
	bad_ring(GHYVI_CTX_RING_START, RINGS(0) + 4);
	bad_ring(GHYVI_CTX_RING_START, 0);
	bad_ring(GHYVI_CTX_RING_START, HIDDEN_START - 4096);
	bad_ring(GHYVI_CTX_RING_START, 0xfffff000);
	bad_ring(GHYVI_CTX_RING_CTL, 0x1ff001); /* 2 MiB: leaves the window */
	bad_ring(GHYVI_CTX_RING_HEAD, RING_BYTES);
	bad_ring(GHYVI_CTX_RING_TAIL, RING_BYTES);
	bad_ring(GHYVI_CTX_RING_TAIL, 4);
	make_context(0);
	poke(STATE(0, GHYVI_CTX_RING_HEAD), 0x20);
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 0x24);
	submit(0, -1);
	expect_error("rcs: ring start 0x10180000 control 0x1 head 0x20 tail 0x24 is not valid");
	assert_int_equal(gpu.runs, 10); /* context 5's */
}

static void bad_descriptor(u64 element0)
{
	guest.pending[0] = 0;
	guest.pending[1] = -1;
	guest.has_pending = true;
	elsp(element0, 0);
	expect_error("descriptor");
}

static void test_bad_descriptors(void **state)
{
	bad_descriptor(descriptor(0) & ~GEN8_CTX_PRIVILEGE);
	bad_descriptor(descriptor(0) & ~GEN8_CTX_ADDRESSING_MODE_MASK);
	bad_descriptor(0x2000000119ull | (HIDDEN_START + HIDDEN_BYTES));
	bad_descriptor(0x2000000119ull | (HIDDEN_START + HIDDEN_BYTES - 4096));
	bad_descriptor(0x20fffff119ull);
	elsp(descriptor(0) & ~GEN8_CTX_VALID, 0);
	assert_int_equal(consume(), 0);
	assert_non_null(strstr(last_report(), "element 0"));
}

static void test_three_level_contexts(void **state)
{
	move_tail(0);
	elsp((descriptor(0) & ~GEN8_CTX_ADDRESSING_MODE_MASK) | 1 << 3, 0);
	assert_int_equal(gpu.running[guest.id]->levels, 3);
	assert_int_equal(gtt.last_levels, 3);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void test_a_second_pending_submission_is_refused(void **state)
{
	move_tail(0);
	submit(0, -1);
	consume();
	submit(1, -1);
	elsp(descriptor(2), 0);
	assert_non_null(strstr(last_report(), "still pending"));
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 1);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
}

static void test_a_bad_status_page_loses_only_events(void **state)
{
	wr(guest.base + RING_HWS_PGA, 0x1000);
	assert_non_null(strstr(last_report(), "outside"));
	move_tail(0);
	elsp(descriptor(0), 0);
	assert_non_null(strstr(last_report(), "event lost"));
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void test_reset_stops_what_runs(void **state)
{
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	guest_reset();
	assert_int_equal(gpu.cancels, 1);
	settle();
	assert_int_equal(consume(), 0);
	move_tail(2);
	submit(2, -1);
	assert_int_equal(consume(), 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), 0x18);
}

static void test_device_reset_waits_for_what_runs(void **state)
{
	move_tail(0);
	submit(0, -1);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(gtt.roots_live, 0);
	assert_int_equal(peek(HWSP(guest.id) + HWSP_CSB_WRITE), 0); /* only the promotion */
}

static void test_user_interrupts_pass(void **state)
{
	move_tail(0);
	submit(0, -1);
	wr(0x44308, ~0u);
	gpu.running[guest.id]->event(gpu.running[guest.id], GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(rd(0x44308) & 0xffff, 1);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(test_one_context),
		RCS(test_what_a_workload_allocates_is_charged_to_its_guest),
		RCS(test_the_saved_image_is_not_written_elsewhere),
		BCS8(test_gen8_blitter_has_neither_gprs_nor_indirect_context),
		RCS(test_registers_tell_where_the_context_is),
		RCS(test_two_elements),
		RCS(test_an_empty_context_completes_without_the_gpu),
		RCS(test_requests_added_after_the_scan_wait_for_the_next),
		RCS(test_lite_restore_moves_the_tail),
		RCS(test_a_submission_that_adds_nothing_is_merged),
		RCS(test_a_lite_restore_that_comes_too_late_runs_again),
		RCS(test_lite_restore_of_a_queued_context),
		RCS(test_a_preempted_context_is_active_and_goes_on_from_the_hosts_copy),
		RCS(test_who_never_began_was_not_preempted),
		RCS(test_lite_restore_of_a_preempted_context),
		RCS(test_after_a_reset_a_preempted_context_begins_as_its_image_says),
		RCS(test_reset_takes_a_queued_context_back),
		RCS(test_lite_restore_of_an_empty_context_on_its_way),
		RCS(test_lite_restore_of_a_loaded_context_on_its_way),
		RCS(test_reset_of_a_loaded_context_on_its_way),
		RCS(test_another_context_waits_for_the_running_ones),
		RCS(test_a_waiting_submission_merges_into_the_second_element),
		RCS(test_an_engine_error_stops_it_until_reset),
		RCS(test_a_dead_gpu_is_an_engine_error),
		RCS(test_bad_page_tables),
		RCS(test_an_unmapped_image),
		RCS(test_bad_rings),
		RCS(test_bad_descriptors),
		RCS(test_three_level_contexts),
		RCS(test_a_second_pending_submission_is_refused),
		RCS(test_a_bad_status_page_loses_only_events),
		RCS(test_reset_stops_what_runs),
		RCS(test_device_reset_waits_for_what_runs),
		RCS(test_user_interrupts_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
