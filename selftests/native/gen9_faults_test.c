// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults and errors: each ends its own job, and no interrupt storms.
 */
#include "gen9_driver.h"

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
		engine_of(GHYVI_VCS)->fault_address = ~0ull;
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

/* gen9_faults_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(page_fault_without_an_interrupt_ends_its_job),
		TEST(job_that_goes_on_is_not_ended_for_a_fault),
		TEST(fault_of_another_engine_survives_a_reset),
		TEST(error_raises_no_storm_of_interrupts),
		TEST(error_of_a_job_that_has_left_masks_no_later_one),
		TEST(error_is_unmasked_when_a_job_that_did_not_leave_in_time_ends),
		TEST(fault_before_the_driver_is_not_its_own),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
