// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware does or may do, beyond the course of jobs: engines that do not get ready for their
 * reset, contexts that are saved while they are stopped.
 */
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

static struct gen9_engine *engine_of(enum ghyvi_engine_id id)
{
	return &gen9_of(pgpu)->engines[id];
}

static void expect_working(enum ghyvi_engine_id id)
{
	struct test_job *job = job_new(&guests[0], id);

	*(u32 *)guest_page(&guests[0], DATA) = 0;
	RINGS(job, STORE_GGTT, DATA, 0, 0x55);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 0x55);
	job_free(job);
}

/* ---- contexts ---- */

/* A guest decides how many contexts there ever are. The emulator reports reserved bits. */
static void ids_of_contexts_stay_in_their_field(void **state)
{
	struct ghyvi_pgpu_context **context = &guests[0].context[GHYVI_BCS];
	unsigned int i;

	for (i = 0; i <= 1u << 16; i++) {
		ops->context_destroy(*context);
		*context = ops->context_create(guests[0].client, GHYVI_BCS,
					       IMAGE(GHYVI_BCS) + guests[0].base);
		assert_false(IS_ERR(*context));
	}
	expect_working(GHYVI_BCS);
}

/* ---- the clock ---- */

/* Only the lower half of TIMESTAMP is read: it wraps after 358 s. */
static void clock_counts_the_wraps_of_its_lower_half(void **state)
{
	static const int errors_s[] = { -170, -60, 0, 60, 170 };
	struct gen9 *gpu = gen9_of(pgpu);
	const u64 not_read_s = 20 * 60;
	unsigned int i;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(errors_s); i++) {
		before = ops->timestamp(pgpu);
		gpu->clock_ns -= not_read_s * NSEC_PER_SEC;
		gpu->clock_ticks -= (not_read_s + errors_s[i]) * GEN9_TIMESTAMP_HZ;
		assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
	}
}

/* Guests read the clock while the function is being reset: registers read as all ones then. */
static void clock_goes_on_while_the_function_is_lost(void **state)
{
	u64 before = ops->timestamp(pgpu);
	unsigned int i;

	gen9_shim_lost = true;
	for (i = 0; i < 3; i++)
		assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
	gen9_shim_lost = false;
	assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
}

/* Its register begins again at an unknown time then. */
static void clock_does_not_follow_a_register_that_is_being_reset(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	const u64 ahead = 60 * GEN9_TIMESTAMP_HZ;
	u64 before = ops->timestamp(pgpu);

	gen9_shim_driver->err_handler->reset_prepare(&pdev);
	gpu->clock_ticks += ahead; /* as if the register had lost so much */
	assert_in_range(ops->timestamp(pgpu) - before, ahead, ahead + GEN9_TIMESTAMP_HZ);
	gen9_shim_driver->err_handler->reset_done(&pdev);
	assert_in_range(ops->timestamp(pgpu) - before, 0, GEN9_TIMESTAMP_HZ);
}

/* ---- the frequency ---- */

/* In units of 50 MHz. */
static u32 frequency(void)
{
	return emu_frequency(&gen9_shim_emu) / GEN9_FREQ_SCALER;
}

static void expect_frequency(u32 expected)
{
	u64 end = ktime_get_ns() + 2 * NSEC_PER_SEC;

	while (frequency() != expected && ktime_get_ns() < end)
		pump(1);
	assert_int_equal(frequency(), expected);
}

/* It stays for a while when there is no job: requests take the power unit some ms. */
static void highest_frequency_is_asked_for_while_there_are_jobs(void **state)
{
	const u32 limits = gen9_shim_emu.platform->rp_state_cap;
	struct test_job *job = waiting_job(&guests[0], GHYVI_VCS);
	u64 began;

	expect_frequency(limits >> 16 & 0xff);
	start(job);
	expect_frequency(limits & 0xff);
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	*emu_reg(&gen9_shim_emu, GEN6_RPNSWREQ) = 0; /* lost */
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	expect_frequency(limits & 0xff);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(frequency(), limits & 0xff);
	began = ktime_get_ns();
	expect_frequency(limits >> 16 & 0xff);
	assert_in_range(ktime_get_ns() - began, 50 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	job_free(job);
}

/* By the administrator, in MHz. */
static void frequencies_that_are_asked_for_can_be_set(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	const u32 limits = gen9_shim_emu.platform->rp_state_cap;
	const u32 lowest = (limits >> 16 & 0xff) * 50, highest = (limits & 0xff) * 50;
	struct test_job *job = waiting_job(&guests[0], GHYVI_VCS);

	assert_int_equal(gen9_frequency_get(gpu, false), lowest);
	assert_int_equal(gen9_frequency_get(gpu, true), highest);
	assert_int_equal(gen9_frequency_set(gpu, true, highest + 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, false, lowest - 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, false, lowest + 100), 0);
	expect_frequency((lowest + 100) / 50);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 50), -EINVAL);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 200), 0);
	start(job);
	expect_frequency((lowest + 200) / 50);
	assert_int_equal(gen9_frequency_actual(gpu), lowest + 200);
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	assert_int_equal(gen9_frequency_actual(gpu), 0);
	assert_int_equal(gen9_frequency_set(gpu, true, lowest + 250), 0);
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	expect_frequency((lowest + 250) / 50);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* All registers read as ones then. */
static void function_that_is_lost_has_no_frequency(void **state)
{
	struct gen9 *gpu = gen9_of(pgpu);
	u32 limits[2];

	gen9_shim_lost = true;
	assert_int_equal(gen9_frequency_actual(gpu), -ENODEV);
	gen9_shim_lost = false;
	assert_in_range(gen9_frequency_actual(gpu), 1, 8000);
	memcpy(limits, gpu->frequency_limits, sizeof(limits));
	memset(gpu->frequency_limits, 0, sizeof(limits));
	memset(gpu->frequencies, 0, sizeof(limits));
	assert_int_equal(gen9_frequency_set(gpu, true, 0), -ENODEV);
	assert_int_equal(gen9_frequency_set(gpu, false, 0), -ENODEV);
	memcpy(gpu->frequency_limits, limits, sizeof(limits));
	memcpy(gpu->frequencies, limits, sizeof(limits));
}

/* ---- page faults ---- */

/* A job of the guest that stores to an address of its PPGTT without a page. */
static struct test_job *faulting_job(struct guest *guest, enum ghyvi_engine_id engine)
{
	struct test_job *job = job_new(guest, engine);

	guest->tables[3][2] = 0;
	RINGS(job, STORE_PPGTT, LO(USER_BATCH + 0x2000), HI(USER_BATCH), 1, NOOP, NOOP);
	return job;
}

/* The registers were read before the reset, which clears IPEHR. */
static void has_hardware_registers(const struct ghyvi_job_fault *fault)
{
	unsigned int i;

	assert_true(fault->valid && fault->has_registers);
	for (i = 0; ghyvi_fault_register(i) != RING_IPEHR; i++)
		assert_in_range(i, 0, GHYVI_NR_FAULT_REGISTERS - 2);
	assert_int_not_equal(fault->ipehr, 0);
	assert_int_equal(fault->registers[i], fault->ipehr);
}

/* Hardware raises no interrupt. The job ends long before its budget, and the next one runs. */
static void page_fault_without_an_interrupt_ends_its_job(void **state)
{
	char text[GHYVI_REPORT_BYTES];
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = faulting_job(&guests[0], i);
		struct test_job *next = waiting_job(&guests[1], i);

		job->base.budget_ns = 2 * NSEC_PER_SEC;
		*emu_reg(&gen9_shim_emu, ghyvi_engine_base(i) + RING_EMR) = ~0u;
		start(job);
		start(next);
		finish(job, GHYVI_JOB_ERROR);
		assert_in_range(job->base.busy_ns, 1, 300 * NSEC_PER_MSEC);
		ghyvi_report_last(&guests[0].reporter, text, sizeof(text));
		assert_non_null(strstr(text, "page fault at 0x200002000"));
		has_hardware_registers(&job->base.fault);
		pump(20);
		assert_int_equal(next->status, -1);
		release_guest(&guests[1]);
		finish(next, GHYVI_JOB_COMPLETE);
		job_free(job);
		job_free(next);
	}
	gen9_shim_emu.violations[EMU_NOT_PRESENT] = 0;
}

/*
 * A fault that is in the register, and an engine that goes on: the job is not the one that made it.
 */
static void job_that_goes_on_is_not_ended_for_a_fault(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_VCS);
	u64 end;

	*emu_reg(&gen9_shim_emu, GEN8_RING_FAULT_REG) = RING_FAULT_VALID | 1u << 12;
	USER(&guests[0], NOOP, NOOP, NOOP, NOOP, NOOP, NOOP, NOOP, START_USER, LO(USER_BATCH),
	     HI(USER_BATCH));
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(job);
	end = ktime_get_ns() + 50 * NSEC_PER_MSEC;
	while (ktime_get_ns() < end) {
		pump(1);
		/* As an engine that has executed something in between. */
		engine_of(GHYVI_VCS)->fault_at = ~0ull;
	}
	assert_int_equal(job->status, -1);
	*emu_reg(&gen9_shim_emu, GEN8_RING_FAULT_REG) = 0;
	USER(&guests[0], BATCH_END, BATCH_END, BATCH_END, BATCH_END, BATCH_END, BATCH_END,
	     BATCH_END, BATCH_END);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* The register has one fault at a time. Another engine is reset before a worker looked at it. */
static void fault_of_another_engine_survives_a_reset(void **state)
{
	struct test_job *faulting = faulting_job(&guests[0], GHYVI_VCS);
	struct test_job *endless = endless_job(&guests[1], GHYVI_BCS);
	const struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_VCS];
	char text[GHYVI_REPORT_BYTES];
	unsigned int i;

	faulting->base.budget_ns = 2 * NSEC_PER_SEC;
	start(endless);
	pump(20);
	start(faulting);
	for (i = 0; i < 100000 && hardware->state != EMU_HUNG; i++)
		gen9_shim_interrupt(); /* no worker runs */
	assert_int_equal(hardware->state, EMU_HUNG);
	ops->cancel(pgpu, &endless->base);
	finish(endless, GHYVI_JOB_CANCELLED);
	finish(faulting, GHYVI_JOB_ERROR);
	assert_in_range(faulting->base.busy_ns, 1, 500 * NSEC_PER_MSEC);
	ghyvi_report_last(&guests[0].reporter, text, sizeof(text));
	assert_non_null(strstr(text, "page fault at 0x200002000"));
	job_free(endless);
	job_free(faulting);
	gen9_shim_emu.violations[EMU_NOT_PRESENT] = 0;
}

/* ---- resets ---- */

static void engine_that_does_not_get_ready_is_reset(void **state)
{
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	const u32 modes = adversary->modes;
	unsigned int i;

	adversary->modes |= BIT(EMU_UNREADY);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = endless_job(&guests[0], i);

		job->base.budget_ns = 20 * NSEC_PER_MSEC;
		start(job);
		finish(job, GHYVI_JOB_ERROR);
		job_free(job);
		assert_false(gen9_of(pgpu)->dead);
		expect_working(i);
	}
	adversary->modes = modes;
}

/* The worker of the watch gets control while the whole GPU is being reset. */
static void watch_in_the_reset(u32 offset, u32 value)
{
	struct gen9_engine *engine = engine_of(GHYVI_VCS);

	if (offset != GEN6_GDRST || !(value & GEN6_GRDOM_FULL))
		return;
	gen9_shim_written = NULL;
	engine->watch.at_ns = 0;
	gen9_watch(&engine->watch.work);
}

static void job_is_watched_after_a_reset_of_the_whole_gpu(void **state)
{
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	struct test_job *neighbour = endless_job(&guests[1], GHYVI_VCS);
	struct test_job *job = endless_job(&guests[0], GHYVI_BCS);
	const unsigned int timeout_ms = gen9_preempt_timeout_ms;
	const u32 modes = adversary->modes;
	u64 end;

	gen9_preempt_timeout_ms = 1;
	neighbour->base.budget_ns = 2 * NSEC_PER_SEC;
	job->base.budget_ns = 20 * NSEC_PER_MSEC;
	start(neighbour);
	start(job);
	adversary->modes |= BIT(EMU_UNREADY);
	gen9_shim_written = watch_in_the_reset;
	finish(job, GHYVI_JOB_ERROR);
	assert_null(gen9_shim_written);
	assert_false(gen9_of(pgpu)->dead);
	pump(20);
	assert_int_equal(neighbour->status, -1);
	guests[1].tables[3][2] = 0;
	USER(&guests[1], STORE_PPGTT, LO(USER_BATCH + 0x2000), HI(USER_BATCH), 1, BATCH_END);
	end = ktime_get_ns() + NSEC_PER_SEC;
	while (neighbour->status < 0 && ktime_get_ns() < end)
		pump(1);
	assert_int_equal(neighbour->status, GHYVI_JOB_ERROR);
	adversary->modes = modes;
	gen9_preempt_timeout_ms = timeout_ms;
	job_free(job);
	job_free(neighbour);
	gen9_shim_emu.violations[EMU_NOT_PRESENT] = 0;
}

static struct test_job *stopped_job;

static u32 *mode_of(const struct test_job *job)
{
	const struct gen9_engine *engine = engine_of(job->base.engine);

	return gen9_state(gen9_context(job->base.pgpu_context)) +
	       gen9_saved_find(engine, engine->base + RING_MI_MODE)->dword;
}

/* The engine has switched to the second job and saved it between its stop and its reset. */
static void save_stopped_job(u32 offset, u32 value)
{
	if (offset != engine_of(stopped_job->base.engine)->base + RING_RESET_CTL)
		return;
	gen9_shim_written = NULL;
	*mode_of(stopped_job) |= MASKED_BIT_ENABLE(MI_MODE_STOP);
}

static void context_that_was_saved_while_stopped_continues(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *first = endless_job(&guests[0], i);

		stopped_job = waiting_job(&guests[1], i);
		start(first);
		start(stopped_job);
		pump(20);
		gen9_shim_written = save_stopped_job;
		ops->cancel(pgpu, &first->base);
		finish(first, GHYVI_JOB_CANCELLED);
		assert_null(gen9_shim_written);
		release_guest(&guests[1]);
		finish(stopped_job, GHYVI_JOB_COMPLETE);
		job_free(first);
		job_free(stopped_job);
	}
}

/* It completed, and the next job of its context begins with its image. */
static void next_job_of_a_stopped_context_runs(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	RINGS(job, STORE_GGTT, DATA, 0, 1);
	run_once(job);
	*mode_of(job) |= MASKED_BIT_ENABLE(MI_MODE_STOP);
	job_free(job);
	expect_working(GHYVI_BCS);
}

/* ---- errors and faults ---- */

/* The source of the interrupt stays active until the error is masked. */
static void error_raises_no_storm_of_interrupts(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	char text[GHYVI_REPORT_BYTES];
	unsigned int i;
	u64 before;

	start(job);
	pump(20);
	before = gen9_shim_emu.interrupts;
	emu_engine_hang(&gen9_shim_emu.engines[GHYVI_RCS], "test");
	for (i = 0; i < 1000; i++) /* no work runs */
		gen9_shim_interrupt();
	assert_in_range(gen9_shim_emu.interrupts - before, 1, 20);
	finish(job, GHYVI_JOB_ERROR);
	ghyvi_report_last(&guests[0].reporter, text, sizeof(text));
	assert_non_null(strstr(text, "reset at command 0x"));
	job_free(job);
	expect_working(GHYVI_RCS);
}

static void wait_until_it_waits(const struct emu_engine *hardware)
{
	unsigned int i;

	for (i = 0; i < 100000 && hardware->state != EMU_WAITING; i++)
		gen9_shim_interrupt();
	assert_int_equal(hardware->state, EMU_WAITING);
}

/*
 * The first job makes its engine report an error, but hardware goes on: the job leaves before the
 * engine is reset, and the second begins. No work runs.
 */
static void error_of_a_job_that_leaves(struct test_job *first, struct test_job *second)
{
	struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_RCS];
	unsigned int i;

	start(first);
	start(second);
	wait_until_it_waits(hardware);
	emu_engine_hang(hardware, "test");
	hardware->state = EMU_WAITING;
	for (i = 0; i < 1000 && !engine_of(GHYVI_RCS)->errors; i++)
		gen9_shim_interrupt();
	ops->preempt(pgpu, &first->base);
	for (i = 0; i < 100000 && !second->base.begun_ns; i++)
		gen9_shim_interrupt();
	assert_true(second->base.begun_ns);
}

static void expect_errors_to_be_unmasked(void)
{
	unsigned int i;

	for (i = 0; i < 1000 && engine_of(GHYVI_RCS)->errors; i++)
		pump(1);
	assert_int_equal(engine_register(GHYVI_RCS, RING_EMR), ~(u32)RING_ERROR_INSTRUCTION);
}

/* The next one is innocent. The first is a violation, as it would be with a reset in time. */
static void error_of_a_job_that_has_left_masks_no_later_one(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = waiting_job(&guests[1], GHYVI_RCS);
	const u32 modes = gen9_shim_emu.adversary.modes;
	char text[256];

	gen9_shim_emu.adversary.modes = 0;
	error_of_a_job_that_leaves(first, second);
	wait_until_it_waits(&gen9_shim_emu.engines[GHYVI_RCS]);
	finish(first, GHYVI_JOB_ERROR);
	ghyvi_report_last(&guests[0].reporter, text, sizeof(text));
	assert_non_null(strstr(text, "error of the engine"));
	expect_errors_to_be_unmasked();
	assert_int_equal(second->status, -1);
	release_guest(&guests[1]);
	finish(second, GHYVI_JOB_COMPLETE);
	gen9_shim_emu.adversary.modes = modes;
	job_free(first);
	job_free(second);
}

static void error_is_unmasked_when_a_job_that_did_not_leave_in_time_ends(void **state)
{
	struct test_job *first = waiting_job(&guests[0], GHYVI_RCS);
	struct test_job *second = job_new(&guests[1], GHYVI_RCS);
	const u32 modes = gen9_shim_emu.adversary.modes;
	const unsigned int timeout_ms = gen9_preempt_timeout_ms;

	gen9_preempt_timeout_ms = GEN9_PREEMPT_TIMEOUT_MIN_MS;
	gen9_shim_emu.adversary.modes = 0;
	USER(&guests[1], START_USER, LO(USER_BATCH), HI(USER_BATCH)); /* no arbitration point */
	RINGS(second, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	error_of_a_job_that_leaves(first, second);
	finish(first, GHYVI_JOB_ERROR);
	pump(10);
	assert_int_not_equal(engine_of(GHYVI_RCS)->errors, 0);
	assert_int_equal(engine_register(GHYVI_RCS, RING_EMR), ~0u);
	*(u32 *)guests[1].user[0] = BATCH_END;
	finish(second, GHYVI_JOB_COMPLETE);
	expect_errors_to_be_unmasked();
	gen9_shim_emu.adversary.modes = modes;
	gen9_preempt_timeout_ms = timeout_ms;
	job_free(first);
	job_free(second);
}

static void fault_before_the_driver_is_not_its_own(void **state)
{
	const struct pci_device_id *id = gen9_shim_driver->id_table;

	tear_down(state);
	*emu_reg(&gen9_shim_emu, GEN8_RING_FAULT_REG) = 0x2000 | RING_FAULT_VALID;
	assert_int_equal(gen9_shim_driver->probe(&pdev, id), 0);
	assert_int_equal(*emu_reg(&gen9_shim_emu, GEN8_RING_FAULT_REG) & RING_FAULT_VALID, 0);
	gen9_shim_driver->remove(&pdev);
	set_up(state);
}

/* ---- translation ---- */

#define LARGE_VA (USER_BATCH + (2u << 20))

static void large_entries_are_used_without_the_gtt_cache(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u64 start_of_ram = gen9_shim_emu.ram.regions[0].start;

	guests[0].tables[2][1] = start_of_ram | GHYVI_ENTRY_LARGE | GHYVI_ENTRY_PRESENT;
	RINGS(job, MI(0x29, 2), 0x2600, LO(LARGE_VA), HI(LARGE_VA));
	run_once(job);
	job_free(job);
	assert_int_equal(oracle_violations(), 1); /* the page is the host's */
}

/* ---- contexts ---- */

static void render_contexts_request_all_execution_units(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	const u32 *image = gen9_state(gen9_context(job->base.pgpu_context));

	RINGS(job, NOOP, NOOP);
	run_once(job);
	assert_int_equal(image[CTX_R_PWR_CLK_STATE], 0x20c8);
	assert_int_equal(image[CTX_R_PWR_CLK_STATE + 1], 0x80000088); /* as i915 */
	job_free(job);
}

/* What hardware has written to the status page of an engine is taken back, and comes later. */
static struct late_event {
	u64 entries[GEN8_CSB_ENTRIES];
	u32 pointer;
} late_event;

static void take_back_event(struct gen9_engine *engine, bool pointer)
{
	u64 *entries = (u64 *)((u8 *)engine->status->cpu + HWSP_CSB);
	u32 *write = engine->status->cpu + HWSP_CSB_WRITE / 4, i;

	memcpy(late_event.entries, entries, sizeof(late_event.entries));
	late_event.pointer = *write;
	for (i = engine->csb_head; i != late_event.pointer; i = (i + 1) % GEN8_CSB_ENTRIES)
		entries[(i + 1) % GEN8_CSB_ENTRIES] = ~0ull;
	if (pointer)
		*write = engine->csb_head;
}

static void give_event(struct gen9_engine *engine)
{
	memcpy((u8 *)engine->status->cpu + HWSP_CSB, late_event.entries,
	       sizeof(late_event.entries));
	engine->status->cpu[HWSP_CSB_WRITE / 4] = late_event.pointer;
}

/*
 * The event of the end of a job arrives after its interrupt. Its entry in the register is not the
 * one that counts: an older one would stay behind in the page, and be taken for one a lap later.
 */
static void late_status_event_is_waited_for(void **state)
{
	struct gen9_engine *engine = engine_of(GHYVI_BCS);
	const struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_BCS];
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	const u32 modes = adversary->modes;
	unsigned int round, i;
	u64 began;

	adversary->modes &= ~BIT(EMU_LATE_CSB); /* what is late here is for the test to say */
	for (round = 0; round < 4 * GEN8_CSB_ENTRIES; round++) {
		struct test_job *job = waiting_job(&guests[0], GHYVI_BCS);

		start(job);
		pump(20);
		for (i = 0; i < 100000 && engine->csb_head != hardware->csb_write; i++)
			pump(1); /* adversaries delay interrupts */
		assert_int_equal(engine->csb_head, hardware->csb_write);
		release_guest(&guests[0]);
		for (i = 0; i < 100000 && hardware->state != EMU_IDLE; i++)
			gen9_shim_step();
		assert_int_not_equal(engine->csb_head, hardware->csb_write);
		take_back_event(engine, round % 2);
		pump(20);
		assert_int_equal(job->status, -1);
		give_event(engine);
		began = ktime_get_ns(); /* no interrupt comes any more */
		finish(job, GHYVI_JOB_COMPLETE);
		assert_true(ktime_get_ns() - began <
			    (gen9_shim_emu.adversary.modes ? 50 : 5) * NSEC_PER_MSEC);
		job_free(job);
	}
	adversary->modes = modes;
}

/* ---- the function ---- */

static bool is_master(void)
{
	return emu_config_read(&gen9_shim_emu, 4, 2) & 4;
}

static void dead_gpu_is_no_bus_master(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	assert_true(is_master());
	gen9_shim_lost = true;
	ops->cancel(pgpu, &job->base);
	assert_false(is_master());
	gen9_shim_lost = false;
	finish(job, GHYVI_JOB_CANCELLED);
	job_free(job);
	/* Nor is it after a suspend. */
	gen9_shim_driver->driver.pm->suspend(&pdev.dev);
	gen9_shim_driver->driver.pm->resume(&pdev.dev);
	assert_false(is_master());
}

static unsigned int ends_seen;

static void check_end_without_master(struct work_struct *work)
{
	if (work != &engine_of(GHYVI_RCS)->done_work && work != &engine_of(GHYVI_BCS)->done_work)
		return;
	assert_false(is_master());
	ends_seen++;
}

/* When a job has ended, its memory gets other users. */
static void no_job_ends_before_a_dead_gpu_has_lost_its_accesses(void **state)
{
	struct test_job *guilty = endless_job(&guests[0], GHYVI_RCS);
	struct test_job *other = waiting_job(&guests[1], GHYVI_BCS);

	start(guilty);
	start(other);
	pump(20);
	ends_seen = 0;
	gen9_shim_lost = true;
	gen9_shim_queued = check_end_without_master;
	ops->cancel(pgpu, &guilty->base);
	gen9_shim_queued = NULL;
	gen9_shim_lost = false;
	assert_int_equal(ends_seen, 2);
	assert_true(gen9_of(pgpu)->dead);
	finish(guilty, GHYVI_JOB_CANCELLED);
	finish(other, GHYVI_JOB_CANCELLED);
	job_free(guilty);
	job_free(other);
}

static bool reset_as_master, was_reset;

static void note_first_reset(u32 offset, u32 value)
{
	if (offset != GEN6_GDRST || was_reset)
		return;
	was_reset = true;
	reset_as_master = is_master();
}

/* A former driver may have left running engines, and addresses of memory that it has freed. */
static void gpu_becomes_bus_master_after_its_reset(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (i)
			gen9_shim_driver->driver.pm->suspend(&pdev.dev);
		else
			tear_down(state);
		assert_false(is_master());
		was_reset = false;
		gen9_shim_written = note_first_reset;
		if (i)
			gen9_shim_driver->driver.pm->resume(&pdev.dev);
		else
			set_up(state);
		gen9_shim_written = NULL;
		assert_true(was_reset);
		assert_false(reset_as_master);
		assert_true(is_master());
	}
	expect_working(GHYVI_RCS);
}

/* A function that is suspended is not accessible, and is not taken for dead. */
static void suspended_gpu_is_left_alone(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start(job);
	pump(20);
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	gen9_shim_lost = true;
	ops->invalidate(&guests[0].client, 1);
	engine_of(GHYVI_RCS)->errors = 1; /* found just before */
	queue_work(gen9_of(pgpu)->wq, &engine_of(GHYVI_RCS)->error_work);
	pump(20);
	gen9_shim_lost = false;
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	assert_false(gen9_of(pgpu)->dead);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
}

/* The reset of a suspend may come while the host's own context is saved. */
static void save_kernel_context(u32 offset, u32 value)
{
	const struct gen9_engine *engine = engine_of(GHYVI_RCS);

	if (offset != engine->base + RING_RESET_CTL)
		return;
	gen9_shim_written = NULL;
	gen9_state(engine->kernel_context)[gen9_saved_find(engine, engine->base + RING_MI_MODE)
						   ->dword] |= MASKED_BIT_ENABLE(MI_MODE_STOP);
}

static void hosts_context_works_after_a_suspend(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	u64 resets;

	start(job);
	pump(20);
	gen9_shim_written = save_kernel_context;
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	assert_null(gen9_shim_written);
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	pump(20);
	resets = gen9_shim_emu.resets;
	ops->invalidate(&guests[0].client, 1); /* submits the host's context */
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(gen9_shim_emu.resets, resets);
	job_free(job);
}

/*
 * The kernel saves and restores the configuration. Guests change entries of the GGTT while the
 * function cannot be accessed, which the driver has to write later.
 */
static void jobs_continue_after_a_reset_of_the_function(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);
	u8 config[sizeof(gen9_shim_emu.config)];
	u64 entry = ops->ggtt_read(guests[0].client, DATA >> GHYVI_PAGE_SHIFT);

	start(job);
	pump(20);
	gen9_shim_driver->err_handler->reset_prepare(&pdev);
	memcpy(config, gen9_shim_emu.config, sizeof(config));
	emu_device_reset(&gen9_shim_emu);
	ops->ggtt_write(guests[0].client, DATA >> GHYVI_PAGE_SHIFT, &entry, 1);
	memcpy(gen9_shim_emu.config, config, sizeof(config));
	gen9_shim_driver->err_handler->reset_done(&pdev);
	assert_false(gen9_of(pgpu)->dead);
	release_guest(&guests[0]);
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);
	expect_working(GHYVI_BCS);
}

/* tear_down() looks for works that are queued when the driver waits for the others. */
static void watchdog_of_an_ended_job_does_not_outlive_the_driver(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);

	job->base.budget_ns = 10 * NSEC_PER_SEC;
	RINGS(job, STORE_GGTT, DATA, 0, 1);
	run_once(job);
	job_free(job);
}

static struct page *scratch_page;
static bool scratch_freed;

static void check_master(struct page *page)
{
	if (page != scratch_page)
		return;
	assert_false(is_master());
	scratch_freed = true;
}

static void memory_is_freed_without_bus_mastering(void **state)
{
	scratch_page = gen9_of(pgpu)->scratch[0].page;
	scratch_freed = false;
	gen9_shim_freed = check_master;
	tear_down(state);
	gen9_shim_freed = NULL;
	assert_true(scratch_freed);
	set_up(state);
}

static void stop_transcoder(u32 offset, u32 value)
{
	if (offset == PIPECONF_EDP && !(value & PIPECONF_ENABLE))
		*emu_reg(&gen9_shim_emu, offset) &= ~(u32)PIPECONF_STATE_ENABLE;
}

static void transcoder_of_edp_is_stopped(void **state)
{
	u32 *transcoder = emu_reg(&gen9_shim_emu, PIPECONF_EDP);
	u32 *plane = emu_reg(&gen9_shim_emu, PLANE_CTL(0, 0));
	u32 *fuses = emu_reg(&gen9_shim_emu, SKL_DFSM), before = *fuses;

	*fuses = 0;
	*emu_reg(&gen9_shim_emu, HSW_PWR_WELL_CTL2) = SKL_PW_1_STATE << 1;
	*transcoder = PIPECONF_ENABLE | PIPECONF_STATE_ENABLE;
	*plane = PLANE_CTL_ENABLE;
	gen9_shim_written = stop_transcoder;
	assert_int_equal(gen9_display_off(gen9_of(pgpu)), 0);
	gen9_shim_written = NULL;
	assert_int_equal(*transcoder, 0);
	assert_int_equal(*plane, 0);
	*fuses = before;
}

/* What firmware has enabled would interrupt for ever: the driver does not clear the events. */
static void interrupts_of_the_display_are_masked(void **state)
{
	static const u32 banks[] = { 0x44400, 0x44410, 0x44440, 0x44460, 0x444e0, 0xc4000 };
	u32 *fuses = emu_reg(&gen9_shim_emu, SKL_DFSM), before = *fuses;
	unsigned int i;

	tear_down(state);
	*fuses = 0;
	*emu_reg(&gen9_shim_emu, 0x45400) = 1u << 29 | 1u << 31; /* both power wells */
	for (i = 0; i < ARRAY_SIZE(banks); i++) {
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IMR) = 0;
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IER) = ~0u;
		*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IIR) = 1;
	}
	set_up(state);
	for (i = 0; i < ARRAY_SIZE(banks); i++) {
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IMR), ~0u);
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IER), 0);
		assert_int_equal(*emu_reg(&gen9_shim_emu, banks[i] + IRQ_IIR), 0);
	}
	*fuses = before;
	*emu_reg(&gen9_shim_emu, 0x45400) = 0;
}

static void rc6_of_a_former_driver_is_off(void **state)
{
	*emu_reg(&gen9_shim_emu, GEN6_RC_STATE) = 0x40000;
	gen9_gt_start(gen9_of(pgpu));
	assert_int_equal(*emu_reg(&gen9_shim_emu, GEN6_RC_STATE), 0);
}

/* ---- the self-test ---- */

/* As if engines did not look at the right to write. */
static void make_scratch_writable(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);
	u64 *entries = page_address(gpu->scratch[1].page);
	unsigned int i;

	if (offset != GHYVI_BLITTER_BASE + RING_ELSP)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		entries[i] |= GHYVI_ENTRY_WRITE;
}

/* As if accesses to the PPGTT went to the GGTT. */
static void map_ppgtt_to_ggtt(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);
	u64 *entries = page_address(gpu->scratch[1].page);
	unsigned int i;

	if (offset != GHYVI_BLITTER_BASE + RING_ELSP)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		entries[i] = gpu->engines[GHYVI_BCS].kernel_context->ring->backing[0].dma |
			     GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

static void expect_refusal(int error)
{
	assert_int_equal(gen9_shim_driver->probe(&pdev, gen9_shim_driver->id_table), error);
}

static void store_that_must_be_lost_is_found(void **state)
{
	void (*const defects[])(u32 offset, u32 value) = { make_scratch_writable,
							   map_ppgtt_to_ggtt };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defects); i++) {
		tear_down(state);
		gen9_shim_written = defects[i];
		expect_refusal(-EIO);
		gen9_shim_written = NULL;
		set_up(state);
	}
}

/* As if the render engine executed no indirect context batch. */
static void lose_restore_batch(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);

	if (offset == GHYVI_RENDER_BASE + RING_ELSP)
		gen9_state(gpu->engines[GHYVI_RCS].kernel_context)[GHYVI_CTX_INDIRECT] = 0;
}

static void restore_without_the_hosts_batch_is_found(void **state)
{
	tear_down(state);
	gen9_shim_written = lose_restore_batch;
	expect_refusal(-EIO);
	gen9_shim_written = NULL;
	set_up(state);
}

/* ---- workarounds ---- */

static void lose_workaround(u32 offset, u32 value)
{
	*emu_reg(&gen9_shim_emu, GAM_ECOCHK) = 0;
}

static void register_that_does_not_keep_its_value_is_found(void **state)
{
	assert_int_equal(gen9_workarounds_verify(gen9_of(pgpu)), 0);
	tear_down(state);
	gen9_shim_written = lose_workaround;
	expect_refusal(-EIO);
	gen9_shim_written = NULL;
	set_up(state);
}

static void lose_multicast_workaround(u32 offset, u32 value)
{
	if (offset == GEN8_GARBCNTL)
		*emu_reg(&gen9_shim_emu, offset) = 0;
}

/* The read may come from a unit that is fused off. */
static void multicast_register_that_reads_as_another_value_is_tolerated(void **state)
{
	tear_down(state);
	gen9_shim_written = lose_multicast_workaround;
	assert_int_equal(set_up(state), 0);
	gen9_shim_written = NULL;
	tear_down(state);
	memset(gen9_shim_emu.violations, 0, sizeof(gen9_shim_emu.violations));
	set_up(state);
}

/* The lists of an image go on to its end, and contain what guests rely on. */
static void lists_of_saved_registers_are_complete(void **state)
{
	unsigned int i, k;
	u32 offset;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		const struct gen9_engine *engine = engine_of(i);

		assert_int_equal(engine->default_state[engine->saved_end], MI_BATCH_BUFFER_END);
		for (k = 0; (offset = gen9_needed_register(engine, k)); k++)
			assert_non_null(gen9_saved_find(engine, offset));
		assert_in_range(k, i == GHYVI_RCS ? 32 + 10 : 32, i == GHYVI_RCS ? 32 + 20 : 32);
	}
}

static void report_has(const char *text)
{
	if (!strstr(gen9_shim_report, text))
		fail_msg("no \"%s\" in:\n%.4000s", text, gen9_shim_report);
}

/* Read the image of @engine from the report: lines of an index and eight dwords. */
static void assert_report_has_image(const struct gen9_engine *engine)
{
	u32 *state = calloc(gen9_state_dwords(engine), sizeof(*state)), at, d[8];
	const char *line;
	char head[64];

	snprintf(head, sizeof(head), "\n%s: the default image", ghyvi_engine_name(engine->id));
	line = strstr(gen9_shim_report, head);
	assert_non_null(line);
	for (line = strchr(line + 1, '\n'); line && line[1] != '\n';
	     line = strchr(line + 1, '\n')) {
		if (sscanf(line, "%x %x %x %x %x %x %x %x %x", &at, d, d + 1, d + 2, d + 3, d + 4,
			   d + 5, d + 6, d + 7) != 9)
			break;
		assert_true(at + 8 <= gen9_state_dwords(engine));
		memcpy(state + at, d, sizeof(d));
	}
	assert_memory_equal(state, engine->default_state, gen9_state_dwords(engine) * sizeof(u32));
	free(state);
}

static void report_has_values_and_images(void **state)
{
	char text[128];
	unsigned int i;

	report_has("self-test: 0\n");
	snprintf(text, sizeof(text), "\nregister 0x%x: 0x", GEN8_GARBCNTL);
	report_has(text);
	report_has("\nrcs: the stored value: 0x67687976, expected 0x67687976: ok\n");
	report_has("\nbcs: what a blit to the PPGTT has left in the GGTT: 0x00000000, ");
	assert_null(strstr(gen9_shim_report, "wrong"));
	assert_null(strstr(gen9_shim_report, "not saved"));
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_report_has_image(engine_of(i));
}

static void report_of_a_failed_probe_says_what_was_wrong(void **state)
{
	char text[128];

	tear_down(state);
	gen9_shim_written = lose_workaround;
	expect_refusal(-EIO);
	gen9_shim_written = NULL;
	report_has("self-test: -5\n");
	snprintf(text, sizeof(text), "\nregister 0x%x: 0x00000000, expected 0x", GAM_ECOCHK);
	report_has(text);
	report_has(": wrong\n");
	report_has("vecs: the default image, in dwords: the test has not come to it\n");
	set_up(state);
	report_has_values_and_images(state);
}

#define NO_COMMAND 0xe0000000u

/* The list of registers is short then: nothing else would tell. */
static void unknown_command_in_an_image_is_reported(void **state)
{
	struct gen9_engine *engine = engine_of(GHYVI_RCS);
	u32 *header = gen9_state(engine->kernel_context) + CTX_LRI_HEADER_2, offset;
	char text[128];
	unsigned int i;

	assert_int_equal(*header, engine->default_state[CTX_LRI_HEADER_2]);
	*header = NO_COMMAND;
	vfree(engine->default_state);
	kvfree(engine->saved);
	assert_int_equal(gen9_context_record_default(engine, engine->kernel_context), 0);
	gen9_report_publish(gen9_of(pgpu), 0);
	snprintf(text, sizeof(text), "in dwords; %u registers, up to dword 0x%x: 0x%08x\n",
		 engine->nr_saved, CTX_LRI_HEADER_2, NO_COMMAND);
	report_has(text);
	for (i = 0; (offset = gen9_needed_register(engine, i)); i++) {
		snprintf(text, sizeof(text), "\nregister 0x%x is not saved\n", offset);
		report_has(text);
	}
	assert_in_range(i, 32 + 10, 32 + 20);
	tear_down(state);
	set_up(state);
}

static void probe_as(void **state, u16 device, u8 revision)
{
	tear_down(state);
	pdev.device = device;
	pdev.revision = revision;
	set_up(state);
}

/* Kaby Lake B0, C0 (revision 5, too), F0. */
static void workarounds_of_kaby_lake_follow_its_steppings(void **state)
{
	static const struct {
		u8 revision, poll;
		u32 clocks;
	} steppings[] = { { 1, 1, BIT(14) }, { 2, 1, 0 }, { 4, 0, 0 }, { 5, 1, 0 }, { 7, 0, 0 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steppings); i++) {
		*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6) = 0;
		probe_as(state, 0x5912, steppings[i].revision);
		assert_int_equal(*emu_reg(&gen9_shim_emu, 0x22000 + RING_SEMA_WAIT_POLL),
				 steppings[i].poll);
		assert_int_equal(*emu_reg(&gen9_shim_emu, 0x2000 + RING_SEMA_WAIT_POLL), 0);
		assert_int_equal(*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6), steppings[i].clocks);
	}
	*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6) = 0;
	probe_as(state, 0x1912, 6);
}

/* WaToEnableHwFixForPushConstHWBug begins with the C0 stepping. */
static void replay_buffer_of_early_kaby_lake_is_left_alone(void **state)
{
	static const struct {
		u8 revision;
		u16 device;
		u32 bit;
	} gpus[] = {
		{ 0, 0x5912, 0 }, { 1, 0x5912, 0 }, { 2, 0x5912, BIT(8) }, { 0, 0x3e92, BIT(8) }
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gpus); i++) {
		const struct gen9_saved_register *chicken;
		struct gen9_engine *render;

		probe_as(state, gpus[i].device, gpus[i].revision);
		render = engine_of(GHYVI_RCS);
		chicken = gen9_saved_find(render, COMMON_SLICE_CHICKEN2);
		assert_int_equal(render->default_state[chicken->dword] & BIT(8), gpus[i].bit);
	}
	probe_as(state, 0x1912, 6);
}

/* User batches of three engines are not audited, and a former driver may have opened registers. */
static void slots_of_a_former_driver_are_cleared_on_each_engine(void **state)
{
	unsigned int i, slot;

	for (i = 0; i < GHYVI_ENGINES; i++)
		for (slot = 0; slot < RING_FORCE_TO_NONPRIV_SLOTS; slot++)
			*emu_reg(&gen9_shim_emu, ghyvi_engine_base(i) + 0x4d0 + 4 * slot) = 0x20c0;
	probe_as(state, 0x9bc5, 3);
	for (i = 0; i < GHYVI_ENGINES; i++)
		for (slot = i == GHYVI_RCS ? 5 : 1; slot < RING_FORCE_TO_NONPRIV_SLOTS; slot++)
			assert_int_equal(*emu_reg(&gen9_shim_emu,
						  ghyvi_engine_base(i) + 0x4d0 + 4 * slot),
					 ghyvi_engine_base(i) + 0x94);
	probe_as(state, 0x1912, 6);
}

static void batches_of_comet_lake_read_the_time_of_their_context(void **state)
{
	static const u32 bases[] = { 0x12000, 0x1a000, 0x22000 };
	unsigned int i;

	probe_as(state, 0x9bc5, 3);
	for (i = 0; i < ARRAY_SIZE(bases); i++)
		assert_int_equal(*emu_reg(&gen9_shim_emu, bases[i] + 0x4d0),
				 (bases[i] + RING_CTX_TIMESTAMP) | BIT(28));
	assert_int_equal(*emu_reg(&gen9_shim_emu, 0x24d0), GEN9_CTX_PREEMPT_REG);
	probe_as(state, 0x1912, 6);
	for (i = 0; i < ARRAY_SIZE(bases); i++)
		assert_int_equal(*emu_reg(&gen9_shim_emu, bases[i] + 0x4d0), bases[i] + 0x94);
}

/* ---- parameters ---- */

static void time_to_leave_has_bounds(void **state)
{
	static const struct {
		const char *text;
		int err;
	} values[] = { { "0", -EINVAL }, { "49", -EINVAL },    { "50", 0 },
		       { "60000", 0 },	 { "60001", -EINVAL }, { "-1", -EINVAL },
		       { "x", -EINVAL }, { "640", 0 },	       { "4294967295", -EINVAL } };
	const struct kernel_param *param = gen9_shim_param_preempt_timeout_ms;
	unsigned int i, before;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		before = gen9_preempt_timeout_ms;
		assert_int_equal(param->ops->set(values[i].text, param), values[i].err);
		assert_int_equal(gen9_preempt_timeout_ms,
				 values[i].err ? before : strtoul(values[i].text, NULL, 10));
	}
	assert_int_equal(gen9_preempt_timeout_ms, GEN9_PREEMPT_TIMEOUT_MS);
}

/* ---- functions that are refused ---- */

static void gpu_that_cannot_be_owned_is_refused(void **state)
{
	tear_down(state);
	gen9_shim_regions_error = -EBUSY; /* a framebuffer has the aperture */
	expect_refusal(-EBUSY);
	gen9_shim_regions_error = 0;
	gen9_shim_dma_max = 256 << 10; /* swiotlb=force */
	expect_refusal(-EOPNOTSUPP);
	gen9_shim_dma_max = SIZE_MAX;
	*emu_reg(&gen9_shim_emu, GUC_WOPCM_SIZE) = GUC_WOPCM_SIZE_LOCKED;
	expect_refusal(-EBUSY);
	*emu_reg(&gen9_shim_emu, GUC_WOPCM_SIZE) = 0;
	set_up(state);
}

/* gen9_hardware_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ids_of_contexts_stay_in_their_field),
		TEST(clock_counts_the_wraps_of_its_lower_half),
		TEST(clock_goes_on_while_the_function_is_lost),
		TEST(clock_does_not_follow_a_register_that_is_being_reset),
		TEST(highest_frequency_is_asked_for_while_there_are_jobs),
		TEST(frequencies_that_are_asked_for_can_be_set),
		TEST(function_that_is_lost_has_no_frequency),
		TEST(page_fault_without_an_interrupt_ends_its_job),
		TEST(job_that_goes_on_is_not_ended_for_a_fault),
		TEST(fault_of_another_engine_survives_a_reset),
		TEST(engine_that_does_not_get_ready_is_reset),
		TEST(job_is_watched_after_a_reset_of_the_whole_gpu),
		TEST(context_that_was_saved_while_stopped_continues),
		TEST(next_job_of_a_stopped_context_runs),
		TEST(error_raises_no_storm_of_interrupts),
		TEST(error_of_a_job_that_has_left_masks_no_later_one),
		TEST(error_is_unmasked_when_a_job_that_did_not_leave_in_time_ends),
		TEST(fault_before_the_driver_is_not_its_own),
		TEST(large_entries_are_used_without_the_gtt_cache),
		TEST(render_contexts_request_all_execution_units),
		TEST(late_status_event_is_waited_for),
		TEST(dead_gpu_is_no_bus_master),
		TEST(no_job_ends_before_a_dead_gpu_has_lost_its_accesses),
		TEST(gpu_becomes_bus_master_after_its_reset),
		TEST(suspended_gpu_is_left_alone),
		TEST(hosts_context_works_after_a_suspend),
		TEST(jobs_continue_after_a_reset_of_the_function),
		TEST(watchdog_of_an_ended_job_does_not_outlive_the_driver),
		TEST(memory_is_freed_without_bus_mastering),
		TEST(transcoder_of_edp_is_stopped),
		TEST(interrupts_of_the_display_are_masked),
		TEST(rc6_of_a_former_driver_is_off),
		TEST(store_that_must_be_lost_is_found),
		TEST(restore_without_the_hosts_batch_is_found),
		TEST(register_that_does_not_keep_its_value_is_found),
		TEST(multicast_register_that_reads_as_another_value_is_tolerated),
		TEST(lists_of_saved_registers_are_complete),
		TEST(report_has_values_and_images),
		TEST(report_of_a_failed_probe_says_what_was_wrong),
		TEST(unknown_command_in_an_image_is_reported),
		TEST(workarounds_of_kaby_lake_follow_its_steppings),
		TEST(replay_buffer_of_early_kaby_lake_is_left_alone),
		TEST(slots_of_a_former_driver_are_cleared_on_each_engine),
		TEST(batches_of_comet_lake_read_the_time_of_their_context),
		TEST(time_to_leave_has_bounds),
		TEST(gpu_that_cannot_be_owned_is_refused),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
