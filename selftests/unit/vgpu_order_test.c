// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which another vCPU sees writes: each write to guest memory and each interrupt adds a
 * letter to a record. The interrupt handler looks at memory when it is called, not when the test
 * has time.
 */
#include "vgpu_guest.h"

static struct {
	char record[64];
	unsigned int length;
	u32 handled; /* status entries that handlers have seen */
	u32 errors; /* of the last error interrupt: its cause */
} seen;

static void note(char what)
{
	if (seen.length == sizeof(seen.record) - 1)
		return;
	/* The image is written dword by dword, in any order. */
	if (what == 'i' && seen.length && seen.record[seen.length - 1] == what)
		return;
	seen.record[seen.length++] = what;
	seen.record[seen.length] = 0;
}

static void on_write(u64 address, size_t bytes)
{
	u64 status_page = HWSP(guest.id);

	if (address == status_page + HWSP_CSB_WRITE)
		note('p');
	else if (address >= status_page && address < status_page + GHYVI_PAGE_BYTES)
		note('e');
	else
		note('i');
}

/*
 * As i915's: acknowledge, then read the status entries up to the pointer, in memory. The device
 * model holds its mutex, so that an assertion would never end: what is wrong with an entry leaves a
 * '?'.
 */
static void handle(void)
{
	u32 causes, write, status, context, slot;

	wr(GEN8_MASTER_IRQ, 0);
	causes = rd(GEN8_GT_ISR0 + IRQ_IIR);
	wr(GEN8_GT_ISR0 + IRQ_IIR, causes);
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	if (causes & GHYVI_EVENT_CS_ERROR) {
		note('x');
		seen.errors = rd(guest.base + RING_EIR);
	}
	if (!(causes & GHYVI_EVENT_CONTEXT_SWITCH))
		return;
	note('!');
	write = peek(HWSP(guest.id) + HWSP_CSB_WRITE);
	for (slot = guest.csb_read; slot != write; seen.handled++) {
		slot = (slot + 1) % GEN8_CSB_ENTRIES;
		status = peek(HWSP(guest.id) + HWSP_CSB + 8 * slot);
		context = peek(HWSP(guest.id) + HWSP_CSB + 8 * slot + 4);
		if (status == ~0u || (status & GEN8_CTX_STATUS_COMPLETE &&
				      peek(STATE(0, GHYVI_CTX_RING_HEAD)) != guest.tails[0]))
			note('?');
		if (status != rd(guest.base + RING_CSB + 8 * slot) ||
		    context != rd(guest.base + RING_CSB + 8 * slot + 4))
			note('?');
		guest.csb_read = slot;
	}
}

static void watch(void)
{
	memset(&seen, 0, sizeof(seen));
	gtt.after_write = on_write;
	on_interrupt = handle;
}

static void stop_watching(void)
{
	gtt.after_write = NULL;
	on_interrupt = NULL;
}

static void a_promotion_is_entry_then_pointer_then_interrupt(void **state)
{
	move_tail(0);
	watch();
	submit(0, -1);
	assert_string_equal(seen.record, "ep!");
	assert_int_equal(seen.handled, 1);
	stop_watching();
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void a_completion_comes_after_the_saved_image(void **state)
{
	submit_work(0);
	handle();
	watch();
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_string_equal(seen.record, "iep!");
	assert_int_equal(seen.handled, 1);
	stop_watching();
}

static void a_late_lite_restore_saves_the_image_and_reports_no_event(void **state)
{
	submit_work(0);
	gpu.stale = true;
	move_tail(0);
	elsp(descriptor(0), 0);
	handle();
	watch();
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_string_equal(seen.record, "i");
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_string_equal(seen.record, "iep!");
	stop_watching();
}

static void an_error_interrupt_finds_its_cause(void **state)
{
	wr(GEN8_GT_ISR0 + IRQ_IIR, ~0u);
	submit_work(0);
	handle();
	watch();
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_string_equal(seen.record, "x");
	assert_int_equal(seen.errors, RING_ERROR_INSTRUCTION);
	stop_watching();
}

static void a_lost_event_still_interrupts(void **state)
{
	gtt.unmapped_page = HIDDEN_START;
	wr(guest.base + RING_HWS_PGA, HIDDEN_START);
	move_tail(0);
	watch();
	submit(0, -1);
	stop_watching();
	assert_string_equal(seen.record, "!");
	assert_int_equal(seen.handled, 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(a_promotion_is_entry_then_pointer_then_interrupt),
		RCS(a_completion_comes_after_the_saved_image),
		RCS(a_late_lite_restore_saves_the_image_and_reports_no_event),
		RCS(an_error_interrupt_finds_its_cause),
		RCS(a_lost_event_still_interrupts),
	};

	return cmocka_run_group_tests_name("vgpu order", tests, NULL, NULL);
}
