// SPDX-License-Identifier: GPL-2.0-only
/* The error state of a vGPU: what it has, and that the first error is kept until it is cleared. */
#include "vgpu_guest.h"

#define NOTHING "no error state\n"

static const char *text(void)
{
	static char buffer[16384];
	struct seq_file m = { fmemopen(buffer, sizeof(buffer), "w") };

	ghyvi_vgpu_error_show(vgpu, &m);
	fclose(m.f);
	return buffer;
}

static void has(const char *part)
{
	if (!strstr(text(), part))
		fail_msg("no \"%s\" in:\n%s", part, text());
}

static void has_not(const char *part)
{
	assert_null(strstr(text(), part));
}

static unsigned int count(const char *part)
{
	const char *at = text();
	unsigned int n = 0;

	for (; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void set_fault(void)
{
	gpu.running[guest.id]->fault = (struct ghyvi_job_fault){
		.valid = true,
		.acthd = RINGS(0) + 0x10,
		.ipehr = 0x7a000004,
		.instdone = 0xfffffffe,
		.ring_head = 0x10,
		.has_registers = true,
		.registers = { 0xfee1 },
	};
}

/* Context 0 fails, its submission being the first of the vGPU. */
static void fail_one(void)
{
	make_context(0);
	guest.tails[0] = 0x40;
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 0x40);
	submit(0, 1);
	set_fault();
	ghyvi_report_stop(&reporter, guest.id, "a bad command");
	ghyvi_report_stop(&reporter, GHYVI_VCS, "another engine's");
	ghyvi_report(&reporter, "another thread's");
	finish(guest.id, GHYVI_JOB_ERROR);
}

static void without_an_error_there_is_no_error_state(void **state)
{
	submit_work(0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_string_equal(text(), NOTHING);
	assert_false(ghyvi_vgpu_has_error(vgpu));
	ghyvi_vgpu_error_clear(vgpu);
	assert_string_equal(text(), NOTHING);
}

static void an_engine_error_is_shown(void **state)
{
	fail_one();
	assert_true(ghyvi_vgpu_has_error(vgpu));
	has("errors: 1\ntime: ");
	has("\nengine: rcs\nreason: a bad command\n");
	has("\nworkload\ndescriptor: 0x0000002010100119\nlrca: 0x10100000\ntail: 0x00000040\n"
	    "head: 0x00000000\nbusy_us: 0\nfault_address: 0x000010180010\n"
	    "fault_header: 0x7a000004\nfault_instdone: 0xfffffffe\nfault_ring_head: 0x00000010\n");
	has("\nRING_START: 0x10180000\nRING_HEAD: 0x00000010\nRING_TAIL: 0x00000040\n"
	    "RING_CTL: 0x00000001\n");
	has("\nRING_ACTHD: 0x10180010\n");
	has("\nRING_EIR: 0x00000001\nRING_EMR: 0xfffffffe\nRING_ESR: 0x00000001\n");
	has("\nRING_IPEHR: 0x7a000004\nRING_INSTDONE: 0xfffffffe\n");
	has("\nRING_EXECLIST_STATUS_HI: 0x00000020\nRING_CSB_POINTER: 0x00000500\n"
	    "CSB_0: 0x0000002000000001\n");
	has("\nELSP_ACTIVE_0: 0x0000002010100119\nELSP_ACTIVE_1: 0x0000004010104119\n"
	    "ELSP_PENDING_0: 0x0000000000000000\n");
	has("\nregisters of the hardware\nRING_START: 0x0000fee1\nRING_HEAD: 0x00000000\n");
	has(" us, descriptor 0x0000002010100119 tail 0x00000040 failed\n");
	assert_int_equal(count("submission:"), 1);
	has_not("audited commands");
}

static void the_first_error_is_kept_until_it_is_cleared(void **state)
{
	fail_one();
	guest_reset();
	elsp(descriptor(0) & ~GEN8_CTX_PRIVILEGE, 0);
	has("errors: 2\n");
	has("reason: a bad command\n");
	ghyvi_vgpu_error_clear(vgpu);
	assert_string_equal(text(), NOTHING);
	guest_reset();
	assert_string_equal(text(), NOTHING); /* the engine had stopped with an error */
	elsp(descriptor(0) & ~GEN8_CTX_PRIVILEGE, 0);
	has("errors: 1\n");
	has("reason: rcs: context descriptor 0x");
	has("\nerror: -22\n");
	has_not("\nhead: ");
	has_not("\ntail: ");
	has(" us, descriptor 0x0000002010100019 failed\n");
	has_not("fault_address");
}

static void a_guest_that_resets_a_busy_engine_leaves_an_error_state(void **state)
{
	guest_reset();
	assert_string_equal(text(), NOTHING);
	submit_work(0);
	set_fault();
	guest_reset();
	settle();
	has("errors: 1\n");
	has("\nreason: the guest reset an engine that had work\n");
	has("\nfault_address: 0x000010180010\n");
	has("\nRING_START: 0x10180000\n");
	has("\nRING_EXECLIST_STATUS_HI: 0x00000020\n");
	has(" dropped\n");
}

static void a_reset_adds_nothing_to_an_earlier_error(void **state)
{
	fail_one();
	guest_reset();
	submit_work(1);
	guest_reset();
	settle();
	has("errors: 2\n");
	has("\nreason: a bad command\n");
	has("\nfault_header: 0x7a000004\n");
}

static void an_error_without_memory_is_counted(void **state)
{
	submit_work(0);
	shim_fail_allocs(1, 1);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(shim_failed_allocs(), 1);
	shim_fail_allocs(0, 0);
	assert_int_equal(rd(guest.base + RING_EIR), 1);
	assert_string_equal(text(), "errors: 1\n" NOTHING);
	assert_false(ghyvi_vgpu_has_error(vgpu));
	guest_reset();
	fail_one();
	has("errors: 2\n");
	has("\nreason: a bad command\n");
}

static void the_last_submissions_are_shown_with_their_ends(void **state)
{
	unsigned int i;

	for (i = 0; i < VGPU_SUBMISSIONS + 4; i++) {
		submit_work(2);
		consume();
		finish(guest.id, GHYVI_JOB_COMPLETE);
		consume();
	}
	submit_work(0);
	consume();
	submit_work(0); /* a lite restore */
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(count("submission:"), VGPU_SUBMISSIONS);
	assert_int_equal(count(" failed\n"), 1);
	assert_int_equal(count(" extended\n"), 1);
	assert_int_equal(count(" complete\n"), VGPU_SUBMISSIONS - 2);
}

/* What stopped an engine before is not the reason of an error that nothing reports. */
static void a_reason_is_of_its_own_error(void **state)
{
	fail_one();
	guest_reset();
	ghyvi_vgpu_error_clear(vgpu);
	ghyvi_report_stop(&reporter, guest.id, "an error of the workload that is reset");
	guest_reset();
	submit_work(2);
	finish(guest.id, GHYVI_JOB_ERROR);
	has("reason: not reported\n");
}

/* A ring that is not valid has no tail, nor has the next one that of the last. */
static void a_tail_is_of_its_own_submission(void **state)
{
	fail_one();
	guest_reset();
	ghyvi_vgpu_error_clear(vgpu);
	poke(STATE(3, GHYVI_CTX_RING_CTL), 0);
	elsp(descriptor(3), 0);
	has("reason: rcs: ring start 0x");
	has_not("\ntail: ");
	assert_int_equal(count(" tail 0x000000"), 1); /* of the first submission */
}

static void a_new_user_finds_the_former_ones_error_but_not_its_submissions(void **state)
{
	fail_one();
	ghyvi_vgpu_close(vgpu);
	ghyvi_vgpu_reset(vgpu);
	has("errors: 1\n");
	has("reason: a bad command\n");
	ghyvi_vgpu_error_clear(vgpu);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	elsp(descriptor(0) & ~GEN8_CTX_PRIVILEGE, 0);
	assert_int_equal(count("submission:"), 1);
}

/* The page of the ring that has the place is copied by the auditor. */
static void commands_are_kept_only_on_request(void **state)
{
	poke(RINGS(0) + 0x10, 0x11000001); /* MI_LOAD_REGISTER_IMM, of a general register */
	poke(RINGS(0) + 0x14, guest.base + GEN8_RING_CS_GPR);
	poke(RINGS(0) + 0x18, 0x5eed);
	fail_one();
	has_not("5eed");
	ghyvi_vgpu_error_clear(vgpu);
	*ghyvi_vgpu_errors_with_commands(vgpu) = true;
	guest_reset();
	fail_one();
	has("\naudited commands\n0x000010180000: 0x");
	has("0x000010180018: 0x00005eed\n");
	assert_int_equal(count("\n0x0000101"), 0x40 / 4); /* the rest is no copy */
}

static void a_full_text_is_bounded(void **state)
{
	unsigned int i;

	*ghyvi_vgpu_errors_with_commands(vgpu) = true;
	for (i = 0; i < VGPU_SUBMISSIONS; i++) {
		submit_work(2);
		consume();
		finish(guest.id, GHYVI_JOB_COMPLETE);
		consume();
	}
	fail_one();
	assert_in_range(strlen(text()), 1000, 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(without_an_error_there_is_no_error_state),
		RCS(an_engine_error_is_shown),
		RCS(the_first_error_is_kept_until_it_is_cleared),
		RCS(a_guest_that_resets_a_busy_engine_leaves_an_error_state),
		RCS(a_reset_adds_nothing_to_an_earlier_error),
		RCS(an_error_without_memory_is_counted),
		RCS(a_reason_is_of_its_own_error),
		RCS(a_tail_is_of_its_own_submission),
		RCS(a_new_user_finds_the_former_ones_error_but_not_its_submissions),
		RCS(the_last_submissions_are_shown_with_their_ends),
		RCS(commands_are_kept_only_on_request),
		RCS(a_full_text_is_bounded),
	};

	return cmocka_run_group_tests_name("vgpu error state", tests, NULL, NULL);
}
