// SPDX-License-Identifier: GPL-2.0-only
/* Execlists: submissions that are engine errors, and what remains usable after them. */
#include "vgpu_guest.h"

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
	submit_work(5);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	complete_last();
}

static void an_engine_error_stops_it_until_reset(void **state)
{
	u32 head;

	submit_work(0);
	head = gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD] = 0x40;
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_HEAD), head);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_RING_HEAD)), 0);
	expect_error(NULL);
	assert_int_equal(atomic64_read(&stats.engine_errors), 1);
}

static void a_dead_gpu_is_an_engine_error(void **state)
{
	gpu.dead = true;
	submit_work(0);
	gpu.dead = false;
	expect_error(NULL);
}

static void a_context_with_bad_page_tables_is_an_engine_error(void **state)
{
	gtt.root_error = -EFAULT;
	submit_work(0);
	gtt.root_error = 0;
	expect_error("not accepted");
}

static void a_context_without_a_mapped_image_is_an_engine_error(void **state)
{
	gtt.unmapped_page = STATE(0, 0);
	submit(0, -1);
	gtt.unmapped_page = 0;
	expect_error("not mapped");
}

/* Submit context 0 with another value in its image. */
static void bad_ring_of(unsigned int index, u32 value)
{
	move_tail(0);
	poke(STATE(0, index), value);
	submit(0, -1);
	expect_error("ring start");
}

static void bad_ring(unsigned int index, u32 value)
{
	make_context(0);
	bad_ring_of(index, value);
}

static void a_context_with_a_bad_ring_is_an_engine_error(void **state)
{
	bad_ring(GHYVI_CTX_RING_CTL, 0);
	bad_ring(GHYVI_CTX_RING_START, RINGS(0) + 4);
	bad_ring(GHYVI_CTX_RING_START, 0);
	bad_ring(GHYVI_CTX_RING_START, HIDDEN_START - 4096);
	bad_ring(GHYVI_CTX_RING_START, 0xfffff000);
	bad_ring(GHYVI_CTX_RING_HEAD, RING_BYTES);
	bad_ring(GHYVI_CTX_RING_TAIL, RING_BYTES);
	bad_ring(GHYVI_CTX_RING_TAIL, 4);
	/* 2 MiB: leaves the window */
	make_context(0);
	poke(STATE(0, GHYVI_CTX_RING_CTL), 0x1ff001);
	bad_ring_of(GHYVI_CTX_RING_START, HIDDEN_START + HIDDEN_BYTES - 0x100000);
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

static void a_bad_descriptor_is_an_engine_error(void **state)
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

static void three_level_contexts(void **state)
{
	move_tail(0);
	elsp((descriptor(0) & ~GEN8_CTX_ADDRESSING_MODE_MASK) | 1 << 3, 0);
	assert_int_equal(gpu.running[guest.id]->levels, 3);
	assert_int_equal(gtt.last_levels, 3);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void a_second_pending_submission_is_refused(void **state)
{
	submit_work(0);
	consume();
	submit(1, -1);
	elsp(descriptor(2), 0);
	assert_non_null(strstr(last_report(), "still pending"));
	complete_last();
	assert_int_equal(consume(), 1);
	assert_int_equal(consume(), 0x18);
	assert_int_equal(consume(), 0);
}

static void a_bad_status_page_loses_only_events(void **state)
{
	wr(guest.base + RING_HWS_PGA, 0x1000);
	assert_non_null(strstr(last_report(), "outside"));
	move_tail(0);
	elsp(descriptor(0), 0);
	assert_non_null(strstr(last_report(), "event lost"));
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(an_engine_error_stops_it_until_reset),
		RCS(a_dead_gpu_is_an_engine_error),
		RCS(a_context_with_bad_page_tables_is_an_engine_error),
		RCS(a_context_without_a_mapped_image_is_an_engine_error),
		RCS(a_context_with_a_bad_ring_is_an_engine_error),
		RCS(a_bad_descriptor_is_an_engine_error),
		RCS(three_level_contexts),
		RCS(a_second_pending_submission_is_refused),
		RCS(a_bad_status_page_loses_only_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
