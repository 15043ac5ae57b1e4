// SPDX-License-Identifier: GPL-2.0-only
#include "vgpu_guest.h"

struct execlist_guest guest;

u64 descriptor(int c)
{
	return c < 0 ? 0 : (u64)(0x20 * (c + 1)) << 32 | LRCA(c) | 0x119;
}

void elsp(u64 element0, u64 element1)
{
	wr(guest.base + RING_ELSP, upper_32_bits(element1));
	wr(guest.base + RING_ELSP, lower_32_bits(element1));
	wr(guest.base + RING_ELSP, upper_32_bits(element0));
	wr(guest.base + RING_ELSP, lower_32_bits(element0));
}

void reset_books(void)
{
	int i;

	guest.active[0] = guest.active[1] = guest.pending[0] = guest.pending[1] = -1;
	guest.has_pending = false;
	guest.csb_read = 5;
	poke(HWSP(guest.id) + HWSP_CSB_WRITE, 5);
	for (i = 0; i < GEN8_CSB_ENTRIES; i++) {
		poke(HWSP(guest.id) + HWSP_CSB + 8 * i, ~0u);
		poke(HWSP(guest.id) + HWSP_CSB + 8 * i + 4, ~0u);
	}
}

void make_context(int c)
{
	poke(STATE(c, GHYVI_CTX_CONTROL), 0x000f0009);
	poke(STATE(c, GHYVI_CTX_RING_HEAD), 0);
	poke(STATE(c, GHYVI_CTX_RING_TAIL), 0);
	poke(STATE(c, GHYVI_CTX_RING_START), RINGS(c));
	poke(STATE(c, GHYVI_CTX_RING_CTL), (RING_BYTES - 4096) | 1);
	poke(STATE(c, GHYVI_CTX_PDP0_UDW), upper_32_bits(PML4(c)));
	poke(STATE(c, GHYVI_CTX_PDP0_LDW), lower_32_bits(PML4(c)));
	guest.tails[c] = 0;
}

void start_engine(enum ghyvi_engine_id id, u32 base)
{
	int c;

	memset(&guest, 0, sizeof(guest));
	guest.id = id;
	guest.base = base;
	wr(base + RING_HWS_PGA, HWSP(id));
	wr(base + RING_MODE, 0x80008000);
	wr(base + RING_IMR, 0);
	wr(base + RING_EMR, ~1u);
	for (c = 0; c < 4; c++) {
		wr(0x44304 + 0x10 * c, 0);
		wr(0x4430c + 0x10 * c, ~0u);
	}
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	reset_books();
	for (c = 0; c < CONTEXTS; c++)
		make_context(c);
}

int setup_rcs(void **state)
{
	int err = setup_gen9(state);

	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	return err;
}

int setup_bcs_gen8(void **state)
{
	int err = setup_gen8(state);

	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	return err;
}

void move_tail(int c)
{
	guest.tails[c] = (guest.tails[c] + 8 * (1 + rand() % 40)) % RING_BYTES;
	poke(STATE(c, GHYVI_CTX_RING_TAIL), guest.tails[c]);
}

void submit(int c0, int c1)
{
	assert_false(guest.has_pending);
	guest.pending[0] = c0;
	guest.pending[1] = c1;
	guest.has_pending = true;
	elsp(descriptor(c0), descriptor(c1));
}

void submit_work(int c)
{
	move_tail(c);
	submit(c, -1);
}

static u32 consume_entry(u32 write)
{
	u64 entry;
	u32 status;

	if (guest.csb_read == write)
		return 0;
	guest.csb_read = (guest.csb_read + 1) % GEN8_CSB_ENTRIES;
	entry = HWSP(guest.id) + HWSP_CSB + 8 * guest.csb_read;
	status = peek(entry);
	assert_int_not_equal(status, ~0u);
	poke(entry, ~0u);
	poke(entry + 4, ~0u);
	if (status & 3) {
		assert_true(guest.has_pending);
		memcpy(guest.active, guest.pending, sizeof(guest.active));
		guest.has_pending = false;
		guest.promotes++;
	} else {
		assert_true(guest.active[0] >= 0);
		guest.active[0] = guest.active[1];
		guest.active[1] = -1;
		guest.completes++;
	}
	return status;
}

u32 consume(void)
{
	u32 write = peek(HWSP(guest.id) + HWSP_CSB_WRITE), status;
	int active[2] = { guest.active[0], guest.active[1] };

	assert_true(write < GEN8_CSB_ENTRIES);
	assert_int_equal(rd(guest.base + RING_CSB_POINTER) & 7, write);
	status = consume_entry(write);
	if (!status || status & 3)
		return status;
	assert_int_equal(status, active[1] >= 0 ? 0x14 : 0x18);
	/* unless the guest has already given it more to do */
	if (!guest.has_pending || (active[0] != guest.pending[0] && active[0] != guest.pending[1]))
		assert_int_equal(peek(STATE(active[0], GHYVI_CTX_RING_HEAD)),
				 guest.tails[active[0]]);
	return status;
}

u32 consume_concurrently(void)
{
	return consume_entry(peek(HWSP(guest.id) + HWSP_CSB_WRITE));
}

void complete_last(void)
{
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
}

void guest_reset(void)
{
	int c;

	wr(guest.base + RING_RESET_CTL, 0x00010001);
	wr(GEN6_GDRST, guest.id == GHYVI_RCS ? GEN6_GRDOM_RENDER : GEN6_GRDOM_BLT);
	assert_int_equal(rd(GEN6_GDRST), 0);
	assert_false(gpu_busy(guest.id));
	wr(guest.base + RING_RESET_CTL, 0x00010000);
	reset_books();
	wr(guest.base + RING_CSB_POINTER, 0xffff0505);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0);
	for (c = 0; c < CONTEXTS; c++)
		poke(STATE(c, GHYVI_CTX_RING_HEAD), guest.tails[c]);
}

/* Another vGPU has the engine, so this vGPU's workload stays in the scheduler's queue. */
static void foreign_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
}

static u32 foreign_context[GHYVI_CTX_DWORDS];

struct ghyvi_workload foreign = {
	.complete = foreign_complete,
	.job.context = foreign_context,
};

void occupy_engine(void)
{
	foreign.job.engine = guest.id;
	ghyvi_sched_queue(sched, &foreign);
	ghyvi_sched_kick(sched, guest.id);
	assert_ptr_equal(gpu.running[guest.id], &foreign.job);
}

void be_preempted(u32 head)
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
