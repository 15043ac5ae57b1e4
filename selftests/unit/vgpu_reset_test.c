// SPDX-License-Identifier: GPL-2.0-only
/* The state that each kind of reset keeps and clears, and what the guest's driver sees. */
#include "vgpu_guest.h"

#define ENTRY 0x12345003ull
#define ENTRIES (GHYVI_GGTT_TABLE_BYTES / 8)
#define BAR0 0x80000000ull
#define TABLE_GFN ((BAR0 + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT)
#define STORAGE 0x43224 /* a register that is storage */
#define IMR0 0x44304
#define IIR0 0x44308
#define IER0 0x4430c
#define RCS_ERROR BIT(3) /* in bank 0 */
#define BCS_ERROR BIT(19)

static u64 *ggtt(void)
{
	return ghyvi_vgpu_ggtt_table(vgpu);
}

/* What a driver writes when it is loaded, and never again after a hang. */
static void load_driver(void)
{
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	ggtt()[0] = ENTRY;
	ggtt()[ENTRIES - 1] = ENTRY;
	wr(STORAGE, 0x800000);
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
}

static int setup_loaded(void **state)
{
	int err = setup_gen9(state);

	load_driver();
	return err;
}

static void assert_driver_finds_its_gpu(void)
{
	assert_true(ggtt()[0] == ENTRY && ggtt()[ENTRIES - 1] == ENTRY);
	assert_true(gtt.ggtt_gfn == TABLE_GFN);
	assert_int_equal(rd(STORAGE), 0x800000);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), HWSP(GHYVI_RCS));
	assert_int_equal(rd(GHYVI_BLITTER_BASE + RING_HWS_PGA), HWSP(GHYVI_BCS));
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_IMR), 0);
	assert_int_equal(rd(IMR0), 0);
	assert_int_equal(rd(IER0), ~0u);
	assert_true(rd(GEN8_MASTER_IRQ) & GEN8_MASTER_IRQ_CONTROL);
	assert_int_equal(rd(PVINFO_MAGIC_LO), lower_32_bits(VGT_MAGIC));
}

static void run(int c)
{
	submit_work(c);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
}

static void assert_works(void)
{
	run(0);
	complete_last();
	assert_int_equal(consume(), 0);
}

/* As i915's handler: the cause, its acknowledgement, and the reset of the engine. */
static void answer_error(u32 source)
{
	wr(GEN8_MASTER_IRQ, 0);
	assert_int_equal(rd(IIR0) & source, source);
	wr(IIR0, rd(IIR0));
	assert_int_equal(rd(guest.base + RING_EIR), RING_ERROR_INSTRUCTION);
	wr(guest.base + RING_EIR, ~0u);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	/* The engine with the error. */
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI),
			 upper_32_bits(descriptor(guest.active[0])));
	guest_reset();
	assert_int_equal(rd(guest.base + RING_ESR), 0);
}

static void an_engine_reset_keeps_everything_else(void **state)
{
	run(0);
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	run(1);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	guest_reset();
	settle();
	assert_true(gpu_busy(GHYVI_BCS));
	assert_driver_finds_its_gpu();
	assert_int_equal(gtt.resets, 0);
	assert_int_equal(gtt.forgets_all, 0);
	assert_int_equal(atomic64_read(&stats.engine_resets), 1);
	assert_works();
	finish(GHYVI_BCS, GHYVI_JOB_COMPLETE);
}

static void a_full_reset_by_the_guest_keeps_registers_and_ggtt(void **state)
{
	run(0);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	settle();
	reset_books();
	assert_false(gpu_busy(GHYVI_RCS));
	assert_driver_finds_its_gpu();
	assert_int_equal(gtt.forgets_all, 1);
	assert_int_equal(atomic64_read(&stats.device_resets), 1);
	assert_works();
}

static void a_device_reset_keeps_nothing(void **state)
{
	run(0);
	ghyvi_vgpu_reset(vgpu);
	assert_true(ggtt()[0] == 0 && ggtt()[ENTRIES - 1] == 0);
	assert_int_equal(rd(STORAGE), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0);
	assert_int_equal(rd(IMR0), ~0u);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EIR), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EXECLIST_STATUS_HI), 0);
}

static void a_reset_under_a_driver_keeps_what_a_driver_writes_only_once(void **state)
{
	run(0);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_driver_finds_its_gpu();
	assert_int_equal(gtt.roots_live, 0);
	assert_int_equal(gtt.resets, 1);
	assert_int_equal(atomic64_read(&stats.device_resets), 1);
}

static void after_a_reset_under_a_driver_a_busy_engine_asks_to_be_reset(void **state)
{
	int before;

	run(0);
	before = atomic_read(&interrupts);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_false(gpu_busy(GHYVI_RCS));
	assert_int_equal(atomic_read(&interrupts), before + 1);
	answer_error(RCS_ERROR);
	assert_works();
	assert_int_equal(atomic64_read(&stats.violations), 0);
	assert_int_equal(atomic64_read(&stats.engine_errors), 0);
}

static void a_reset_under_a_driver_cancels_a_waiting_context_too(void **state)
{
	run(0);
	submit_work(1);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_int_equal(consume(), 0);
	answer_error(RCS_ERROR);
	assert_works();
}

static void a_reset_under_a_driver_asks_again_where_an_error_was_missed(void **state)
{
	run(0);
	finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	/* The guest lost it. */
	wr(IIR0, ~0u);
	ghyvi_vgpu_reset_under_driver(vgpu);
	answer_error(RCS_ERROR);
	assert_works();
}

/* i915 does not unmask errors again of an engine that it does not use. */
static void a_reset_under_a_driver_does_not_touch_idle_engines(void **state)
{
	int before = atomic_read(&interrupts);

	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EIR), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_ESR), 0);
	assert_int_equal(atomic_read(&interrupts), before);
	assert_works();
}

static void submit_to_bcs(void)
{
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	submit_work(2);
}

/* Another vCPU submits to an idle engine while the reset waits for what ran on another one. */
static void a_submission_during_a_reset_under_a_driver_waits_for_its_end(void **state)
{
	run(0);
	gpu.on_return = submit_to_bcs;
	ghyvi_vgpu_reset_under_driver(vgpu);
	gpu.on_return = NULL;
	assert_true(gpu_busy(GHYVI_BCS));
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	finish(GHYVI_BCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
}

/* The guest's driver resets the engine first, so the reset has nothing to report. */
static void a_guest_may_reset_the_engine_during_a_restart(void **state)
{
	run(0);
	gpu.on_return = guest_reset;
	ghyvi_vgpu_reset_under_driver(vgpu);
	gpu.on_return = NULL;
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EIR), 0);
	assert_works();
}

static void drive_into_failsafe(void)
{
	const struct ghyvi_containment none = { .points_max = 1,
						.window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };
	int i;

	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &none), 0);
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	run(1);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	for (i = 0; i < 2; i++) {
		if (i)
			guest_reset();
		run(0);
		finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	}
	settle();
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	assert_true(gtt.ggtt_gfn == GHYVI_INVALID_GFN);
}

static void a_reset_under_a_driver_lifts_failsafe_state_and_keeps_the_rest(void **state)
{
	int lives;

	drive_into_failsafe();
	lives = gtt.lives;
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&stats, GHYVI_RCS)->queued_now), 0);
	assert_int_equal(atomic64_read(&ghyvi_engine_stats(&stats, GHYVI_BCS)->queued_now), 0);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
	assert_driver_finds_its_gpu();
	assert_int_equal(gtt.lives, lives + 1);
	answer_error(RCS_ERROR | BCS_ERROR);
	assert_works();
}

/* The guest's answer to an interrupt was dropped; without another one it would wait for ever. */
static void a_reset_under_a_driver_repeats_an_interrupt_that_failsafe_state_swallowed(void **state)
{
	int before;

	drive_into_failsafe();
	before = atomic_read(&interrupts);
	wr(GEN8_MASTER_IRQ, 0);
	wr(IIR0, ~0u);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_true(atomic_read(&interrupts) > before);
}

/* A BAR that the guest moved meanwhile has its last address. */
static void a_bar_moved_in_failsafe_state_is_found(void **state)
{
	drive_into_failsafe();
	ghyvi_vgpu_set_bar0(vgpu, 2 * BAR0);
	assert_true(gtt.ggtt_gfn == GHYVI_INVALID_GFN);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_true(gtt.ggtt_gfn == (2 * BAR0 + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT);
	rd(STORAGE);
	assert_true(host_protects(GEN8_MASTER_IRQ));
	assert_true(host_bar.gfn == 2 * BAR0 >> GHYVI_PAGE_SHIFT);
}

static void a_reset_under_a_driver_forgets_violations(void **state)
{
	drive_into_failsafe();
	ghyvi_vgpu_reset_under_driver(vgpu);
	guest_reset();
	run(0);
	finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
}

/* All registers of pages without and with a mirror: compared with those of a new vGPU. */
static void a_device_reset_sets_each_register_to_its_first_value(void **state)
{
	static u32 first[GHYVI_REGISTERS_BYTES / 4];
	u32 offset, changed = 0;

	ghyvi_vgpu_reset(vgpu);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		first[offset / 4] = vgpu_get(vgpu, offset);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		vgpu_set(vgpu, offset, ~first[offset / 4]);
	ghyvi_vgpu_reset(vgpu);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		changed += vgpu_get(vgpu, offset) != first[offset / 4];
	assert_int_equal(changed, 0);
}

/* The host's workers get no time on a CPU, but the guest's thread does. */
static pthread_t guests_thread;
static _Atomic bool workers_run;
static const struct ghyvi_hv_ops *hv_ops;
static struct ghyvi_hv_ops slow_ops;

static void charge_when_it_runs(struct ghyvi_hv *hv, struct ghyvi_hv_charge *charge)
{
	while (!workers_run && !pthread_equal(pthread_self(), guests_thread))
		usleep_range(1000, 1100);
	hv_ops->charge(hv, charge);
}

static int setup_threads(void **state)
{
	int err;

	sched_threads = true;
	err = setup_rcs(state);
	sched_threads = false;
	guests_thread = pthread_self();
	workers_run = false;
	hv_ops = vgpu->params.hv->ops;
	slow_ops = *hv_ops;
	slow_ops.charge = charge_when_it_runs;
	vgpu->params.hv->ops = &slow_ops;
	return err;
}

static int teardown_threads(void **state)
{
	workers_run = true;
	if (gpu_busy(GHYVI_RCS)) /* if the test failed */
		finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	vgpu->params.hv->ops = hv_ops;
	return teardown(state);
}

/* The first submission is dropped while it runs, and the worker does not return it yet. */
static void what_resets_drop_does_not_pile_up(void **state)
{
	int i;

	for (i = 0; i < 10; i++) {
		move_tail(0);
		elsp(descriptor(0), 0);
		wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	}
	assert_int_equal(atomic_read(&vgpu->outstanding), 1);
	settle();
	reset_books();
	submit_work(0);
	assert_int_equal(consume_concurrently(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	assert_int_equal(atomic_read(&vgpu->outstanding), 1);
	assert_false(gpu_busy(GHYVI_RCS));
	workers_run = true;
	for (i = 0; i < 10000 && !gpu_busy(GHYVI_RCS); i++)
		usleep_range(1000, 1100);
	assert_true(gpu_busy(GHYVI_RCS));
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	vgpu_wait_returned(vgpu);
	assert_int_equal(consume_concurrently(),
			 GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
}

#define LOADED(f) cmocka_unit_test_setup_teardown(f, setup_loaded, teardown)

/* A guest that reboots goes on with what its policy has learnt, another user does not. */
static void the_next_user_gets_no_experience(void **state)
{
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(gtt.forgotten, 0);
	ghyvi_vgpu_close(vgpu);
	assert_int_equal(gtt.forgotten, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOADED(an_engine_reset_keeps_everything_else),
		LOADED(a_full_reset_by_the_guest_keeps_registers_and_ggtt),
		LOADED(a_device_reset_keeps_nothing),
		LOADED(a_device_reset_sets_each_register_to_its_first_value),
		LOADED(a_reset_under_a_driver_keeps_what_a_driver_writes_only_once),
		LOADED(after_a_reset_under_a_driver_a_busy_engine_asks_to_be_reset),
		LOADED(a_reset_under_a_driver_cancels_a_waiting_context_too),
		LOADED(a_reset_under_a_driver_asks_again_where_an_error_was_missed),
		LOADED(a_reset_under_a_driver_does_not_touch_idle_engines),
		LOADED(a_submission_during_a_reset_under_a_driver_waits_for_its_end),
		LOADED(a_guest_may_reset_the_engine_during_a_restart),
		LOADED(a_reset_under_a_driver_lifts_failsafe_state_and_keeps_the_rest),
		LOADED(a_reset_under_a_driver_repeats_an_interrupt_that_failsafe_state_swallowed),
		LOADED(a_bar_moved_in_failsafe_state_is_found),
		LOADED(a_reset_under_a_driver_forgets_violations),
		LOADED(the_next_user_gets_no_experience),
		cmocka_unit_test_setup_teardown(what_resets_drop_does_not_pile_up, setup_threads,
						teardown_threads),
	};

	return cmocka_run_group_tests_name("vgpu reset", tests, NULL, NULL);
}
