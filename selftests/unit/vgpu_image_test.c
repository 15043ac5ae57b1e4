// SPDX-License-Identifier: GPL-2.0-only
/*
 * The image of a context: what is loaded from it, kept and saved to it, and what the registers of
 * the engine tell of it.
 */
#include "vgpu_guest.h"

static void the_saved_image_is_not_written_elsewhere(void **state)
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

			if (index - GHYVI_CTX_REGISTERS < 1 + 2 * GHYVI_CONTEXT_SLOTS)
				continue;
			differs++;
			assert_true(index == GHYVI_CTX_CONTROL || index == GHYVI_CTX_RING_HEAD ||
				    index == GHYVI_CTX_TIMESTAMP);
		}
	assert_int_equal(differs, 3);
}

#define SLOT_OF_2300 21
#define SLOT_OF_7014 83
#define PAIR(context, slot) STATE(context, GHYVI_CTX_REGISTERS + 1 + 2 * (slot))

static u32 *register_of(unsigned int slot)
{
	return &gpu.running[guest.id]->context[ghyvi_context_value(slot)];
}

static void run(unsigned int context)
{
	submit_work(context);
	consume();
}

static void complete(void)
{
	finish(guest.id, GHYVI_JOB_COMPLETE);
	consume();
}

/* Each has its own, in its image, from the first run on. */
static void contexts_keep_their_registers(void **state)
{
	unsigned int slot;

	wr(0x7014, 0x00030001);
	run(0);
	/* New: what the CPU wrote, and zeros. */
	for (slot = 0; slot < GHYVI_CONTEXT_SLOTS; slot++)
		assert_int_equal(*register_of(slot), slot == SLOT_OF_7014 ? 1 : 0);
	*register_of(SLOT_OF_2300) = 0x1234;
	*register_of(SLOT_OF_7014) = 0x2;
	complete();
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300)), 0x2300);
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300) + 4), 0x1234);
	assert_int_equal(rd(0x7014), 1);
	assert_int_equal(rd(0x2300), 0);

	run(1);
	assert_int_equal(*register_of(SLOT_OF_2300), 0);
	assert_int_equal(*register_of(SLOT_OF_7014), 1);
	*register_of(SLOT_OF_2300) = 0x5678;
	complete();
	wr(0x7014, 0x00030000);
	run(0);
	assert_int_equal(*register_of(SLOT_OF_2300), 0x1234);
	assert_int_equal(*register_of(SLOT_OF_7014), 2);
	complete();
	run(1);
	assert_int_equal(*register_of(SLOT_OF_2300), 0x5678);
	assert_int_equal(*register_of(SLOT_OF_7014), 1);
	complete();
}

/* What is not the list of this version is not read as one. */
static void a_context_without_a_list_of_registers_is_new(void **state)
{
	unsigned int i;

	run(0);
	*register_of(SLOT_OF_2300) = 0x1234;
	*register_of(SLOT_OF_2300 + 1) = 0x5678;
	complete();
	/* Another register in that slot, as another version may have. */
	poke(PAIR(0, SLOT_OF_2300), 0x2308);
	run(0);
	assert_int_equal(*register_of(SLOT_OF_2300), 0);
	assert_int_equal(*register_of(SLOT_OF_2300 + 1), 0x5678);
	complete();
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300)), 0x2300);
	poke(STATE(0, GHYVI_CTX_REGISTERS), 0);
	run(0);
	assert_int_equal(*register_of(SLOT_OF_2300 + 1), 0);
	*register_of(SLOT_OF_2300 + 1) = 0x9abc;
	complete();
	/* Restore inhibited: the list that is there does not count. */
	poke(STATE(0, GHYVI_CTX_CONTROL), 0x000f0009);
	run(0);
	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++)
		assert_int_equal(*register_of(i), 0);
	complete();
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300 + 1) + 4), 0);
}

static void gen8_blitter_has_neither_gprs_nor_indirect_context(void **state)
{
	poke(STATE(0, GHYVI_CTX_INDIRECT), 0x12345003);
	poke(STATE(0, GHYVI_CTX_GPR), 0x77);
	submit_work(0);
	assert_int_equal(gpu.running[GHYVI_BCS]->context[GHYVI_CTX_INDIRECT], 0);
	assert_int_equal(gpu.running[GHYVI_BCS]->context[GHYVI_CTX_GPR], 0);
	gpu.running[GHYVI_BCS]->context[GHYVI_CTX_GPR] = 0x99;
	finish(GHYVI_BCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR)), 0x77);
}

/*
 * The registers that a driver reports after a hang: the position of the context that was loaded
 * last.
 */
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

static void registers_tell_where_the_context_is(void **state)
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

static void registers_tell_where_the_engine_stopped(void **state)
{
	poke(STATE(1, GHYVI_CTX_RING_TAIL), 0x80);
	submit(1, -1);
	assert_false(gpu.running[guest.id]->fault.valid);
	gpu.running[guest.id]->fault = (struct ghyvi_job_fault){
		.valid = true,
		.acthd = 0x123456789abcull,
		.ipehr = 0x18800101,
		.instdone = 0xfffffffe,
		.ring_head = 0x38,
	};
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_HEAD), 0x38);
	assert_int_equal(rd(guest.base + RING_ACTHD), 0x56789abc);
	assert_int_equal(rd(guest.base + RING_ACTHD_UDW), 0x1234);
	assert_int_equal(rd(guest.base + RING_IPEHR), 0x18800101);
	assert_int_equal(rd(guest.base + RING_INSTDONE), 0xfffffffe);
	/* The next workload starts without it, and an error without it shows the context's head. */
	guest_reset();
	poke(STATE(1, GHYVI_CTX_RING_HEAD), 0x40);
	submit(1, -1);
	assert_false(gpu.running[guest.id]->fault.valid);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_HEAD), 0x40);
	assert_int_equal(rd(guest.base + RING_IPEHR), 0x18800101);
}

static void a_preempted_context_keeps_its_registers(void **state)
{
	run(0);
	*register_of(SLOT_OF_2300) = 0x1234;
	be_preempted(8);
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300)), 0); /* not saved yet */
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(*register_of(SLOT_OF_2300), 0x1234);
	complete();
	assert_int_equal(peek(PAIR(0, SLOT_OF_2300) + 4), 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(the_saved_image_is_not_written_elsewhere),
		RCS(contexts_keep_their_registers),
		RCS(a_context_without_a_list_of_registers_is_new),
		RCS(a_preempted_context_keeps_its_registers),
		BCS8(gen8_blitter_has_neither_gprs_nor_indirect_context),
		RCS(registers_tell_where_the_context_is),
		RCS(registers_tell_where_the_engine_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
