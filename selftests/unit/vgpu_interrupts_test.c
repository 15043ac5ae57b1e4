// SPDX-License-Identifier: GPL-2.0-only
/* Masks, sticky bits and the edge rule, with the values that i915 programs. */
#include <unistd.h>
#include "vgpu_guest.h"

#define BANK(n, reg) (GEN8_GT_ISR0 + (n)*GEN8_IRQ_BANK_SIZE + (reg))

static void raise_event(enum ghyvi_engine_id id, u32 events)
{
	vgpu_irq_raise(&vgpu->engines[id], events);
}

static int setup_like_i915(void **state)
{
	static const u32 imr[] = { 0xf6f6f6f6, 0xf6f6f6f6, ~0u, 0xfffff6f6 };
	static const u32 ier[] = { 0x09090909, 0x09090909, 0, 0x0909 };
	unsigned int i;
	int err = setup_gen9(state);

	for (i = 0; i < 4; i++) {
		wr(BANK(i, IRQ_IMR), imr[i] & ~0x09010901u);
		wr(BANK(i, IRQ_IER), ier[i] | (i == 2 ? 0 : 0x09010901u));
	}
	wr(GHYVI_RENDER_BASE + RING_IMR, 0xfffff6f7);
	wr(GHYVI_VIDEO_BASE + RING_IMR, 0xfffff6f7);
	wr(GHYVI_VIDEO_ENHANCE_BASE + RING_IMR, 0xfffff6f7);
	wr(GHYVI_BLITTER_BASE + RING_IMR, 0xf6f7ffff);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	return err;
}

static void each_engine_raises_its_bit_in_its_bank(void **state)
{
	raise_event(GHYVI_RCS, BIT(8));
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | BIT(0));
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(8));
	raise_event(GHYVI_BCS, BIT(8));
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(8) | BIT(24));
	raise_event(GHYVI_VCS, BIT(8));
	assert_int_equal(rd(BANK(1, IRQ_IIR)), BIT(8));
	raise_event(GHYVI_VECS, BIT(8));
	assert_int_equal(rd(BANK(3, IRQ_IIR)), BIT(8));
	assert_int_equal(rd(GEN8_MASTER_IRQ),
			 GEN8_MASTER_IRQ_CONTROL | BIT(0) | BIT(1) | BIT(2) | BIT(6));
}

static void a_message_for_each_rising_edge_only(void **state)
{
	raise_event(GHYVI_RCS, BIT(8));
	assert_int_equal(atomic_read(&interrupts), 1);
	raise_event(GHYVI_RCS, BIT(8));
	raise_event(GHYVI_BCS, BIT(8));
	assert_int_equal(atomic_read(&interrupts), 1);
	/* the handler: master off, acknowledge, master on */
	wr(GEN8_MASTER_IRQ, 0);
	assert_int_equal(rd(GEN8_MASTER_IRQ), BIT(0) | BIT(1));
	wr(BANK(0, IRQ_IIR), rd(BANK(0, IRQ_IIR)));
	assert_int_equal(rd(GEN8_MASTER_IRQ), 0);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(atomic_read(&interrupts), 1);
	raise_event(GHYVI_RCS, BIT(8));
	assert_int_equal(atomic_read(&interrupts), 2);
}

static void an_interrupt_while_the_master_is_off_is_sent_when_it_is_on(void **state)
{
	wr(GEN8_MASTER_IRQ, 0);
	raise_event(GHYVI_VCS, BIT(8));
	assert_int_equal(atomic_read(&interrupts), 0);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(atomic_read(&interrupts), 1);
	/* not acknowledged: each switching on is an edge */
	wr(GEN8_MASTER_IRQ, 0);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(atomic_read(&interrupts), 2);
}

static void ring_imr_drops_what_it_masks(void **state)
{
	raise_event(GHYVI_RCS, GHYVI_EVENT_USER_INTERRUPT);
	raise_event(GHYVI_BCS, GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0);
	wr(GHYVI_RENDER_BASE + RING_IMR, 0xfffff6f6);
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0); /* was not remembered */
	assert_int_equal(atomic_read(&interrupts), 0);
	raise_event(GHYVI_RCS, GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(0));
	wr(GHYVI_BLITTER_BASE + RING_IMR, 0xf6f6ffff);
	raise_event(GHYVI_BCS, GHYVI_EVENT_USER_INTERRUPT);
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(0) | BIT(16));
	assert_int_equal(atomic_read(&interrupts), 1);
}

static void imr_drops_and_ier_holds_back(void **state)
{
	wr(BANK(0, IRQ_IMR), ~0u);
	raise_event(GHYVI_RCS, BIT(8));
	assert_int_equal(rd(BANK(0, IRQ_IIR)), 0);
	wr(BANK(0, IRQ_IMR), 0);
	wr(BANK(0, IRQ_IER), 0);
	raise_event(GHYVI_RCS, BIT(8));
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(8));
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(atomic_read(&interrupts), 0);
	wr(BANK(0, IRQ_IER), BIT(8));
	assert_int_equal(atomic_read(&interrupts), 1);
}

static void acknowledging_takes_only_the_written_bits(void **state)
{
	raise_event(GHYVI_RCS, BIT(8) | BIT(3));
	wr(BANK(0, IRQ_IIR), BIT(3));
	assert_int_equal(rd(BANK(0, IRQ_IIR)), BIT(8));
	wr(BANK(0, IRQ_ISR), ~0u);
	assert_int_equal(rd(BANK(0, IRQ_ISR)), 0);
}

#define LIKE_I915(f) cmocka_unit_test_setup_teardown(f, setup_like_i915, teardown)

/* A backend's handler of a hard interrupt, on the CPU that it interrupts. */
static void backend_interrupt(void)
{
	void (*interrupt)(void) = shim_interrupt;

	shim_interrupt = NULL;
	raise_event(GHYVI_BCS, BIT(0));
	shim_interrupt = interrupt;
}

static void an_event_from_a_hard_interrupt_finds_no_lock_held(void **state)
{
	alarm(20); /* instead of a deadlock */
	shim_interrupt = backend_interrupt;
	raise_event(GHYVI_RCS, BIT(8));
	wr(BANK(0, IRQ_IIR), BIT(8));
	wr(GEN8_MASTER_IRQ, 0);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	ghyvi_vgpu_set_bar0(vgpu, 0xf0000000);
	rd(GEN8_MASTER_IRQ);
	vgpu_mirror_show_all(vgpu);
	vgpu_irq_reset(vgpu);
	shim_interrupt = NULL;
	alarm(0);
}

static unsigned int job_events;

/* As above, on behalf of a job on another engine of the vGPU, which runs all the time. */
static void job_interrupt(void)
{
	void (*interrupt)(void) = shim_interrupt;
	struct ghyvi_job *job = gpu.running[GHYVI_BCS];

	if (!job)
		return;
	shim_interrupt = NULL;
	job->event(job, GHYVI_EVENT_USER_INTERRUPT | GHYVI_EVENT_FLUSH_NOTIFY);
	job_events++;
	shim_interrupt = interrupt;
}

/*
 * Wherever the device model and the scheduler hold a spinlock with interrupts enabled, a job may
 * raise an event: it must need none of these locks.
 */
static void events_of_a_job_may_interrupt_all_that_happens_to_another(void **state)
{
	alarm(20);
	job_events = 0;
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	submit_work(5);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	shim_interrupt = job_interrupt;
	move_tail(0);
	move_tail(1);
	submit(0, 1);
	consume();
	move_tail(0);
	submit(0, 1); /* lite restore */
	consume();
	ghyvi_sched_timer(sched, guest.id);
	finish(guest.id, GHYVI_JOB_PREEMPTED);
	ghyvi_sched_kick(sched, guest.id);
	assert_non_null(gpu.running[guest.id]);
	wr(BANK(0, IRQ_IIR), ~0u);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	ghyvi_sched_kick(sched, guest.id);
	assert_non_null(gpu.running[guest.id]);
	finish(guest.id, GHYVI_JOB_ERROR);
	guest_reset();
	submit_work(0);
	ghyvi_vgpu_reset_under_driver(vgpu); /* cancels the job */
	shim_interrupt = NULL;
	assert_in_range(job_events, 20, 1000);
	assert_true(rd(BANK(0, IRQ_IIR)) & GHYVI_EVENT_USER_INTERRUPT << 16);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIKE_I915(each_engine_raises_its_bit_in_its_bank),
		LIKE_I915(a_message_for_each_rising_edge_only),
		LIKE_I915(an_interrupt_while_the_master_is_off_is_sent_when_it_is_on),
		LIKE_I915(ring_imr_drops_what_it_masks),
		LIKE_I915(imr_drops_and_ier_holds_back),
		LIKE_I915(acknowledging_takes_only_the_written_bits),
		LIKE_I915(an_event_from_a_hard_interrupt_finds_no_lock_held),
		RCS(events_of_a_job_may_interrupt_all_that_happens_to_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
