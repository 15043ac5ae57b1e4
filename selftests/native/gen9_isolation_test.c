// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest must not reach on the emulated GPU, with its kernel under its control. Each test
 * fails without the protection that it is for. What the emulator cannot show is said here, too.
 * Tests are in this program, or in the one in brackets: (test) is gen9_test, (memory), (ports),
 * (neighbours) are gen9_memory_test, gen9_ports_test, gen9_neighbours_test.
 *
 * commands with privilege are copies that were audited
 *	ring, indirect batch		ring_and_indirect_batch_run_from_their_copies
 *	batch in the GGTT		kernel_batches_run_from_their_copies (test)
 *	image pages, BBSTATE, PDPs	image_of_the_guest_is_not_loaded
 *	BBSTATE of an earlier job	batch_of_an_earlier_job_is_not_resumed
 *	refused commands		refused_command_ends_the_job_in_front_of_it (test)
 * user batches of the blitter are copies whatever the mode
 *					blitter_batches_are_always_copied,
 *					blitter_user_batch_writes_no_register (test),
 *					batch_does_not_leave_its_copy_at_the_end_of_the_ppgtt
 * copies of user batches have the rights of user batches
 *					copied_user_batch_does_not_reach_the_ggtt,
 *					copied_user_batch_starts_no_batch_of_the_ggtt,
 *					registers_of_the_host_are_out_of_reach
 * status pages of the host		status_page_of_the_host_is_out_of_reach
 * no state of a client reaches another one
 *	registers			no_register_carries_a_value_to_another_client
 *	MI_SET_PREDICATE		predicate_of_privileged_commands_is_dropped (test),
 *					predicate_of_a_copied_batch_is_dropped (test)
 *	commands in a used ring		ring_contains_no_commands_of_an_earlier_job (memory)
 *	unmapped addresses		unmapped_addresses_are_not_shared (memory),
 *					next_client_of_a_part_finds_nothing_of_the_former (memory),
 *					reset_client_finds_nothing_of_its_former_user (memory)
 *	registers and local memory of	threads_find_nothing_of_another_client,
 *	threads (EUs, SLM)		own_indirect_batch_keeps_the_hosts
 *	3D state, L3, URB		not emulated. Images are loaded without restore-inhibit, see
 *					no_register_carries_a_value_to_another_client
 * entries of the GGTT are the client's own, in its own ranges
 *					ggtt_entries_are_the_clients_own (memory),
 *					client_is_moved_to_other_ranges (memory)
 * pages are unpinned after switch-out and TLB invalidation
 *					invalidation_reaches_each_used_tlb (memory),
 *					invalidation_takes_the_job_off_and_back (test)
 * fences, MOCS, PPAT, NONPRIV, PCODE, frequency, power wells are storage for guests
 *					registers_of_the_host_are_out_of_reach
 * clocks				shared; see "Side channels" in Documentation/security.md
 * a guest causes resets of its engine only
 *					endless_job_is_reset_for_an_invalidation (test),
 *					second_job_survives_the_reset_of_the_first (ports),
 *					full_reset_ends_the_guilty_job_only
 * interrupts are limited		storm_of_interrupts_is_limited,
 *					storm_of_interrupts_masks_no_other_guest (neighbours)
 * semaphores are preempted, and charged
 *					preempted_batch_goes_on (test),
 *					preempted_job_makes_way_for_the_second (ports)
 * tables of guests are not walked	image_of_the_guest_is_not_loaded
 * pages of another guest are not accessed, whatever a test does
 *					oracle_reports_a_page_of_another_guest, and tear_down()
 *					after each test of each program
 * prefetch hits valid entries		prefetch_behind_a_ring_hits_valid_entries (memory)
 */
#include "gen9_guest.h"

/* The same job may run again with other commands. */
static void rerun(struct test_job *job)
{
	ghyvi_commands_free(job->base.commands);
	job->base.commands = NULL;
	memset(job->base.backend, 0, ops->job_bytes);
	job->context[GHYVI_CTX_RING_HEAD] = job->tail;
}

/* ---- commands with privilege ---- */

static void ring_and_indirect_batch_run_from_their_copies(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u32 *ring = guest_page(&guests[0], RING), *batch = guest_page(&guests[0], KERNEL_BATCH);
	unsigned int i;

	put((u8 *)batch, DWORDS(STORE_GGTT, DATA, 0, 1));
	job->context[GHYVI_CTX_INDIRECT] = KERNEL_BATCH | 1;
	RINGS(job, STORE_GGTT, DATA + 4, 0, 2);
	audit(job);
	batch[3] = 3;
	ring[3] = 4;
	start(job);
	batch[3] = 5;
	ring[3] = 6;
	finish(job, GHYVI_JOB_COMPLETE);
	assert_int_equal(at(&guests[0], DATA), 1);
	assert_int_equal(at(&guests[0], DATA + 4), 2);

	/* What may not be in a ring may not be there, either. */
	put((u8 *)batch, DWORDS(LRI(1), 0x2080, 0x1000));
	rerun(job);
	RINGS(job, STORE_GGTT, DATA + 4, 0, 7);
	i = host_registers();
	start(job);
	assert_false(waits(job));
	assert_int_equal(host_registers(), i);
	job_free(job);
}

/* In memory and in the core's copy, everything that hardware would take from an image. */
static void spoil_image(struct test_job *job)
{
	static const u32 lists[] = { LRI(3), 0x2080, 0x1000, 0x24d0, 0x2080, 0x4090, 0 };
	static const u16 batch[] = { RING_BBADDR_UDW, RING_BBADDR, RING_BBSTATE };
	enum ghyvi_engine_id engine = job->base.engine;
	u32 base = ghyvi_engine_base(engine), control = 0xffff0009;
	unsigned int i;

	for (i = 1; i < 22; i++)
		put(guest_page(job->guest, IMAGE(engine) + i * 4096), lists, ARRAY_SIZE(lists));
	job->context[GHYVI_CTX_CONTROL] = control;
	for (i = 0; i < ARRAY_SIZE(batch); i++)
		job->context[0x0c + 2 * i] = base + batch[i];
	job->context[0x0d] = HI(USER_BATCH);
	job->context[0x0f] = LO(USER_BATCH) | 1;
	job->context[0x11] = RING_BB_PPGTT;
	job->context[0x19] = DATA | 1; /* batch per context */
	for (i = GHYVI_CTX_PDP3_UDW; i <= GHYVI_CTX_PDP0_LDW; i += 2)
		job->context[i] = 0x12345000;
	for (i = 0x41; i < GHYVI_CTX_GPR - 1; i += 2)
		job->context[i + 1] = ~0u;
}

static void image_of_the_guest_is_not_loaded(void **state)
{
	u32 registers = host_registers();
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct test_job *job = job_new(&guests[0], i);

		*(u32 *)guest_page(&guests[0], DATA) = 0;
		USER(&guests[0], STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 1, BATCH_END);
		put(guest_page(&guests[0], DATA + 0x40), DWORDS(BATCH_END));
		*(u32 *)guests[0].user[1] = 0;
		spoil_image(job);
		RINGS(job, STORE_GGTT, DATA, 0, 2, NOOP);
		run_once(job);
		assert_int_equal(at(&guests[0], DATA), 2);
		assert_int_equal(*(u32 *)guests[0].user[1], 0);
		assert_int_equal(host_registers(), registers);
		assert_int_equal(gen9_shim_emu.engines[i].pdp[0], (uintptr_t)guests[0].tables[0]);
		assert_int_equal(engine_register(i, RING_CONTEXT_CONTROL) & 1, 0);
		assert_int_equal(engine_register(i, RING_BB_PER_CTX_PTR), 0);
		job_free(job);
	}
}

static void batch_of_an_earlier_job_is_not_resumed(void **state)
{
	struct test_job *job = waiting_job(&guests[0], GHYVI_RCS);

	start_and_pump(job);
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	/* The core withdraws it. The guest submits something else on the same context. */
	job_free(job);
	release_guest(&guests[0]);
	job = job_new(&guests[0], GHYVI_RCS);
	RINGS(job, STORE_GGTT, DATA, 0, 9);
	run_once(job);
	assert_int_equal(at(&guests[0], DATA), 9);
	assert_int_equal(((u32 *)guests[0].user[1])[1], 0);
	job_free(job);
}

static void blitter_batches_are_always_copied(void **state)
{
	struct ghyvi_pgpu_resources resources = {};
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);
	struct ghyvi_audit_params params = {
		.gen = 9,
		.ggtt = { guests[0].client->params.ggtt[0] },
		.nr_ggtt = 1,
		.enforced = true,
		.owner = &guests[0].owner,
		.reporter = &guests[0].reporter,
		.stats = &guests[0].stats,
	};
	struct ghyvi_audit *right = guests[0].audit;

	ops->resources(pgpu, &resources);
	assert_true(resources.audit_enforced);
	assert_true(resources.audit_user_engines & BIT(GHYVI_BCS));
	/* An auditor that did not copy the batch. */
	guests[0].audit = ghyvi_audit_create(&params);
	*(u32 *)guests[0].user[1] = 0;
	USER(&guests[0], STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 1, BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	assert_int_equal(*(u32 *)guests[0].user[1], 0);
	job_free(job);
	ghyvi_audit_destroy(guests[0].audit);
	guests[0].audit = right;
}

/*
 * Behind the copy of the last page of the PPGTT there is no copy of its first page, but whatever
 * the host has at that address of the GGTT.
 */
static void batch_does_not_leave_its_copy_at_the_end_of_the_ppgtt(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_BCS);
	const u64 end = BIT_ULL(48) - 8;

	guests[0].user_at[0] = BIT_ULL(48) - 4096;
	guests[0].user_at[1] = 0;
	memset(guests[0].user[0], 0, 4096);
	put(guests[0].user[1], DWORDS(STORE_PPGTT, LO(USER_DATA), HI(USER_DATA), 1, BATCH_END));
	RINGS(job, START_USER, LO(end), HI(end), NOOP);
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	assert_false(job->base.fault.acthd >= HOST_GGTT);
	job_free(job);
}

/* Copies are in the GGTT, where hardware gives a batch all rights. */
static void copied_user_batch_does_not_reach_the_ggtt(void **state)
{
	static const u32 commands[][5] = {
		{ STORE_GGTT, DATA, 0, 1 },
		{ SRM_GGTT, 0x2358, DATA, 0 },
		{ COPY_MEM | COPY_MEM_DST_GGTT, DATA, 0, LO(USER_DATA), HI(USER_DATA) },
		{ FLUSH_GGTT, DATA | FLUSH_USE_GGTT, 0, 1 },
		{ FLUSH_INDEX, (DATA & 0xfff) | FLUSH_USE_GGTT, 0, 1 },
	};
	unsigned int i, k;

	ghyvi_audit_set_mode(guests[0].audit, "full");
	for (k = 0; k < GHYVI_ENGINES; k++)
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			struct test_job *job = job_new(&guests[0], k);

			*(u32 *)guest_page(&guests[0], DATA) = 0;
			*(u32 *)guest_page(&guests[0], HWSP_PAGE) = 0;
			*(u32 *)guests[0].user[1] = 5;
			memset(guests[0].user[0], 0, 4096);
			put(guests[0].user[0], commands[i], ARRAY_SIZE(commands[i]));
			((u32 *)guests[0].user[0])[5] = BATCH_END;
			RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
			start(job);
			assert_false(waits(job));
			assert_int_equal(at(&guests[0], DATA), 0);
			assert_int_equal(at(&guests[0], HWSP_PAGE), 0);
			job_free(job);
		}
}

/*
 * A batch of the GGTT that has the same address is copied, too: only the ring may start it. Bit 8
 * of a start in a user batch does not matter.
 */
static void copied_user_batch_starts_no_batch_of_the_ggtt(void **state)
{
	static const enum ghyvi_engine_id engines[] = { GHYVI_BCS, GHYVI_RCS };
	unsigned int k;

	ghyvi_audit_set_mode(guests[0].audit, "full");
	guests[0].user_at[1] = KERNEL_BATCH;
	for (k = 0; k < ARRAY_SIZE(engines); k++) {
		struct test_job *job = job_new(&guests[0], engines[k]);

		*(u32 *)guest_page(&guests[0], DATA) = 0;
		put(guest_page(&guests[0], KERNEL_BATCH),
		    DWORDS(ATOMIC_INCREMENT_GGTT, DATA, 0, BATCH_END));
		USER(&guests[0], START_KERNEL, KERNEL_BATCH, 0);
		put(guests[0].user[1], DWORDS(STORE_PPGTT, LO(USER_DATA + 0x100),
					      HI(USER_DATA + 0x100), 7 + k, BATCH_END));
		RINGS(job, START_KERNEL, KERNEL_BATCH, 0, START_USER, LO(USER_BATCH),
		      HI(USER_BATCH));
		run_once(job);
		assert_int_equal(at(&guests[0], DATA), 1);
		assert_int_equal(((u32 *)guests[0].user[1])[0x40], 7 + k);
		job_free(job);
	}
}

/* ---- registers ---- */

/* Ways to write a register. Each returns the number of dwords. */
static unsigned int way_imm(enum ghyvi_engine_id engine, u32 offset, u32 *at)
{
	memcpy(at, ((u32[]){ LRI(1), offset, ~0u }), 12);
	return 3;
}

static unsigned int way_mem(enum ghyvi_engine_id engine, u32 offset, u32 *at)
{
	memcpy(at, ((u32[]){ LRM_PPGTT, offset, LO(USER_DATA), HI(USER_DATA) }), 16);
	return 4;
}

static unsigned int way_reg(enum ghyvi_engine_id engine, u32 offset, u32 *at)
{
	memcpy(at, ((u32[]){ LRI(1), GPR(engine, 0), ~0u, LRR, GPR(engine, 0), offset }), 24);
	return 6;
}

static unsigned int way_pipe(enum ghyvi_engine_id engine, u32 offset, u32 *at)
{
	memcpy(at, ((u32[]){ PIPE_CONTROL, PIPE_CONTROL_MMIO, offset, 0, ~0u, 0 }), 24);
	return 6;
}

static unsigned int (*const ways[])(enum ghyvi_engine_id engine, u32 offset,
				    u32 *at) = { way_imm, way_mem, way_reg, way_pipe };

/* What all vGPUs share. */
static const u32 shared[] = {
	0x100000, 0x100004, 0x1000f8, /* fences */
	0xb020,	  0xb09c,   0xc800,   0xc8fc, 0xc900,	0xcb00,	  0xcc00,  0xccfc, /* MOCS */
	0x40e0,	  0x40e4,   0x24d0,   0x24fc, 0x138124, 0x138128, /* PPAT, NONPRIV, PCODE */
	0xa008,	  0xa024,   0xa090,   0xa094, 0xa210,	0x45400,  0x45404, /* frequency, power */
	0x941c,	  0xa278,   0xa188,   0xa270, 0x4080,	0x4024,	  0x44200, 0x44304, 0x4430c,
	0x44314,  0x4090,   0x4094,   0x4ddc, 0x4dd4,	0x9424,	  0x940c,  0x4ab0,  0xb004,
	0xb118,	  0xb11c,   0xb008,   0x20d4, 0x20e0,	0x70180,  0x70008, 0xfdc,   0x9120,
};

/* Of each engine. */
static const u32 of_engine[] = { 0x50, 0x54, 0x80, 0x98, 0xa8, 0xb4, 0xd0, 0x230, 0x29c, 0x3a0 };

#define SHARED (ARRAY_SIZE(shared) + GHYVI_ENGINES * ARRAY_SIZE(of_engine))

static u32 shared_offset(unsigned int i)
{
	if (i < ARRAY_SIZE(shared))
		return shared[i];
	i -= ARRAY_SIZE(shared);
	return ghyvi_engine_base(i % GHYVI_ENGINES) + of_engine[i / GHYVI_ENGINES];
}

/* The host asks for the highest or the lowest frequency, in 50 / 3 MHz. */
static bool is_request_of_the_host(u32 value)
{
	u32 limits = *emu_reg(&gen9_shim_emu, GEN6_RP_STATE_CAP);

	return value == (limits & 0xff) * 3 << 23 || value == (limits >> 16 & 0xff) * 3 << 23;
}

static void registers_of_the_host_are_out_of_reach(void **state)
{
	static const enum ghyvi_engine_id engines[] = { GHYVI_RCS, GHYVI_BCS };
	u64 resets = gen9_shim_emu.resets;
	u32 before[SHARED], commands[8];
	unsigned int i, way, k, checked;

	ghyvi_audit_set_mode(guests[0].audit, "full");
	memset(guests[0].user[1], 0xff, 4096);
	for (i = 0; i < SHARED; i++)
		before[i] = *emu_reg(&gen9_shim_emu, shared_offset(i));
	for (k = 0; k < ARRAY_SIZE(engines); k++)
		for (way = 0; way < ARRAY_SIZE(ways); way++)
			for (i = 0; i < SHARED; i++)
				run_everywhere(engines[k], commands,
					       ways[way](engines[k], shared_offset(i), commands));
	for (i = checked = 0; i < SHARED; i++) {
		u32 offset = shared_offset(i);

		/* The backend uses it. */
		if ((offset & 0xfff) == RING_ELSP || offset == GEN8_MASTER_IRQ)
			continue;
		if (offset == 0xa008) {
			assert_true(is_request_of_the_host(*emu_reg(&gen9_shim_emu, offset)));
			continue;
		}
		if (before[i] != *emu_reg(&gen9_shim_emu, offset))
			print_error("register %#x\n", offset);
		assert_int_equal(before[i], *emu_reg(&gen9_shim_emu, offset));
		checked++;
	}
	assert_true(checked > SHARED - 10);
	assert_int_equal(gen9_shim_emu.resets, resets);
}

/* All registers of the ranges in which contexts have state. */
static const struct {
	u32 first, last;
} stateful[] = {
	{ 0x2000, 0x27fc }, { 0x2b00, 0x2b00 }, { 0x5200, 0x528c }, { 0x7000, 0x7018 },
	{ 0x7300, 0x731c }, { 0x83a4, 0x83a8 }, { 0x91b8, 0x91c4 }, { 0xb000, 0xb11c },
	{ 0xe100, 0xe100 }, { 0xe180, 0xe194 }, { 0xe4f0, 0xe4f4 },
};

#define STATEFUL_MAX 1200
#define PATTERN 0xffff5a5au

static unsigned int list_stateful(enum ghyvi_engine_id engine, u32 *offsets)
{
	unsigned int i, count = 0;
	u32 offset;

	for (i = 0; i < ARRAY_SIZE(stateful); i++)
		for (offset = stateful[i].first; offset <= stateful[i].last; offset += 4) {
			if (engine != GHYVI_RCS && i)
				break;
			assert_true(count < STATEFUL_MAX);
			offsets[count++] = offset - GHYVI_RENDER_BASE + ghyvi_engine_base(engine);
			if (i)
				offsets[count - 1] = offset;
		}
	return count;
}

/* Some may be refused, so each has its own job. Clocks differ by themselves. */
static void read_registers(struct guest *guest, enum ghyvi_engine_id engine, const u32 *offsets,
			   unsigned int count, u32 *values)
{
	unsigned int i, k;

	for (i = 0; i < count; i += k) {
		struct test_job *job = job_new(guest, engine);

		job->base.restore = false;
		for (k = 0; k < 100 && i + k < count; k++) {
			*(u32 *)guest_page(guest, DATA + 4 * k) = 0xdeadbeef;
			RINGS(job, SRM_GGTT, offsets[i + k], DATA + guest->base + 4 * k, 0);
		}
		start(job);
		assert_false(waits(job));
		if (job->status != GHYVI_JOB_COMPLETE && k > 1) {
			/* The first one that is refused ends the job: go on behind it. */
			for (k = 0; at(guest, DATA + 4 * k) != 0xdeadbeef; k++)
				values[i + k] = at(guest, DATA + 4 * k);
			values[i + k++] = 0;
		} else {
			memcpy(values + i, guest_page(guest, DATA), 4 * k);
		}
		job_free(job);
	}
}

static bool is_clock(u32 offset)
{
	offset &= 0xfff;
	return offset == RING_TIMESTAMP || offset == RING_TIMESTAMP_UDW ||
	       offset == RING_CTX_TIMESTAMP;
}

static void no_register_carries_a_value_to_another_client(void **state)
{
	u32 offsets[STATEFUL_MAX], before[STATEFUL_MAX], after[STATEFUL_MAX];
	unsigned int engine, i, count;

	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		count = list_stateful(engine, offsets);
		read_registers(&guests[1], engine, offsets, count, before);
		for (i = 0; i < count; i++) {
			struct test_job *job;

			job = job_new(&guests[0], engine);
			RINGS(job, LRI(1), offsets[i], PATTERN, NOOP);
			start(job);
			assert_false(waits(job));
			job_free(job);
		}
		read_registers(&guests[1], engine, offsets, count, after);
		/* What cannot be read may have effects. */
		for (i = 0; i < count; i++)
			assert_int_not_equal(*emu_reg(&gen9_shim_emu, offsets[i]) & 0xffff,
					     PATTERN & 0xffff);
		for (i = 0; i < count; i++) {
			if (before[i] != after[i] && !is_clock(offsets[i]))
				print_error("register %#x: %#x, %#x\n", offsets[i], before[i],
					    after[i]);
			assert_true(before[i] == after[i] || is_clock(offsets[i]));
		}
	}
}

/* ---- execution units ---- */

#define HOST_LINES 3 /* of 63 */
#define WALKER GPGPU_WALKER, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

static void run_walker(struct guest *guest, u32 indirect)
{
	struct test_job *job = job_new(guest, GHYVI_RCS);

	USER(guest, WALKER, BATCH_END);
	job->context[GHYVI_CTX_INDIRECT] = indirect;
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	run_once(job);
	job_free(job);
}

/* No driver of the guest clears them. The emulator reports threads that find something. */
static void threads_find_nothing_of_another_client(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);

	run_walker(&guests[1], 0);
	USER(&guests[0], WALKER, WAIT_PPGTT, 1, LO(USER_DATA), HI(USER_DATA), WALKER, BATCH_END);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start_and_pump(job);
	ops->preempt(pgpu, &job->base);
	finish(job, GHYVI_JOB_PREEMPTED);
	run_walker(&guests[1], 0);
	start(job);
	complete_waiting(&guests[0], job);
	job_free(job);
}

/* The batch is as long as hardware takes together with the host's commands, and one line longer. */
static void own_indirect_batch_keeps_the_hosts(void **state)
{
	const u32 address = KERNEL_BATCH + 0x40, longest = 63 - HOST_LINES;
	u32 *batch = guest_page(&guests[0], address), lines;
	struct test_job *job;

	memset(batch, 0, 64 * longest);
	put((u8 *)(batch + 16 * longest - 4), DWORDS(STORE_GGTT, DATA, 0, 1));
	for (lines = longest; lines <= longest + 1; lines++) {
		run_walker(&guests[1], 0);
		*(u32 *)guest_page(&guests[0], DATA) = 0;
		job = job_new(&guests[0], GHYVI_RCS);
		USER(&guests[0], WALKER, BATCH_END);
		job->context[GHYVI_CTX_INDIRECT] = address | lines;
		RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
		start(job);
		finish(job, lines == longest ? GHYVI_JOB_COMPLETE : GHYVI_JOB_ERROR);
		assert_int_equal(at(&guests[0], DATA), lines == longest);
		job_free(job);
	}
}

/* ---- status pages ---- */

/* The host's page has the status buffer at 0x40, and nothing else. */
static void status_page_of_the_host_is_out_of_reach(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		u32 page = engine_register(i, RING_HWS_PGA);
		unsigned int k;

		assert_in_range(page, HOST_GGTT, 0xffffefff);
		memset(host_memory(page) + 0x80 / 4, 0, 4096 - 0x80);
		run_everywhere(i, DWORDS(FLUSH_INDEX, 0x400 | FLUSH_USE_GGTT, 0, 1));
		run_everywhere(i, DWORDS(STORE_INDEX, 0x408, 2));
		run_everywhere(i, DWORDS(STORE_INDEX | BIT(21), 0x410, 3));
		run_everywhere(i, DWORDS(REPORT_HEAD, NOOP));
		run_everywhere(i, DWORDS(STORE_GGTT, page + 0x418, 0, 4));
		if (i == GHYVI_RCS)
			run_everywhere(i, DWORDS(PIPE_CONTROL, PIPE_CONTROL_INDEX | BIT(24), 0x420,
						 0, 5, 0));
		for (k = 0x80 / 4; k < 1024; k++)
			assert_int_equal(host_memory(page)[k], 0);
		for (k = 0; k < 0x40 / 4; k++)
			assert_int_equal(host_memory(page)[k], 0);
	}
}

/* ---- resets ---- */

static void fail_engine_resets(u32 offset, u32 value)
{
	if (offset == GEN6_GDRST && value != GEN6_GRDOM_FULL)
		*emu_reg(&gen9_shim_emu, GEN6_GDRST) = value;
}

/* Jobs on other engines, and the second one on this, continue. */
static void full_reset_ends_the_guilty_job_only(void **state)
{
	struct test_job *guilty = endless_job(&guests[0], GHYVI_RCS), *others[GHYVI_ENGINES];
	u32 registers = host_registers();
	unsigned int i;

	start(guilty);
	pump(5);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		others[i] = waiting_job(&guests[1], i);
		start(others[i]);
	}
	pump(20);
	gen9_shim_written = fail_engine_resets;
	ops->cancel(pgpu, &guilty->base);
	gen9_shim_written = NULL;
	finish(guilty, GHYVI_JOB_CANCELLED);
	pump(20);
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_int_equal(others[i]->status, -1);
	release_guest(&guests[1]);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		finish(others[i], GHYVI_JOB_COMPLETE);
		job_free(others[i]);
	}
	job_free(guilty);
	assert_int_equal(host_registers(), registers);
}

/* A guest reuses the memory of what its GPU has executed. */
static void full_reset_repeats_no_command_of_others(void **state)
{
	struct test_job *guilty = endless_job(&guests[0], GHYVI_RCS), *others[GHYVI_ENGINES];
	u32 *words = (u32 *)guests[1].user[1];
	unsigned int i;

	/* An engine may hang, or the job cannot leave it in time. */
	if (emu_adversary_has(&gen9_shim_emu.adversary, EMU_HANG))
		skip();
	start(guilty);
	for (i = GHYVI_BCS; i < GHYVI_ENGINES; i++) {
		others[i] = job_new(&guests[1], i);
		words[0] = 0;
		RINGS(others[i], STORE_PPGTT, LO(USER_DATA + 16 + 4 * i), HI(USER_DATA), 1,
		      WAIT_PPGTT, 1, LO(USER_DATA), HI(USER_DATA), NOOP);
		start(others[i]);
	}
	pump(20);
	for (i = GHYVI_BCS; i < GHYVI_ENGINES; i++) {
		assert_int_equal(words[4 + i], 1);
		words[4 + i] = 0;
	}
	gen9_shim_written = fail_engine_resets;
	ops->cancel(pgpu, &guilty->base);
	gen9_shim_written = NULL;
	finish(guilty, GHYVI_JOB_CANCELLED);
	words[0] = 1;
	for (i = GHYVI_BCS; i < GHYVI_ENGINES; i++) {
		finish(others[i], GHYVI_JOB_COMPLETE);
		assert_int_equal(words[4 + i], 0);
		job_free(others[i]);
	}
	job_free(guilty);
}

/* ---- the oracle ---- */

/* What the other tests rely on: tear_down() asks the oracle after each. */
static void oracle_reports_a_page_of_another_guest(void **state)
{
	void *const pages[] = { guests[1].user[1], host_memory(HOST_GGTT) };
	unsigned int i, k;

	for (i = 0; i < GHYVI_ENGINES; i++)
		for (k = 0; k < ARRAY_SIZE(pages); k++) {
			struct test_job *job = job_new(&guests[0], i);

			guests[0].tables[3][2] = (uintptr_t)pages[k] | 3;
			RINGS(job, STORE_PPGTT, LO(USER_BATCH + 0x2ff8), HI(USER_BATCH), 1);
			run_once(job);
			job_free(job);
			assert_int_equal(oracle_violations(), 1);
			assert_int_equal(oracle_violations(), 0);
			ops->invalidate(&guests[0].client, 1);
		}
}

/* ---- interrupts ---- */

/* Run until the interrupts of guests are masked in the engine, or not. */
static void wait_for_mask(enum ghyvi_engine_id engine, bool masked)
{
	u64 end = ktime_get_ns() + TEST_S * NSEC_PER_SEC;

	while (!(engine_register(engine, RING_IMR) & GHYVI_EVENT_USER_INTERRUPT) == masked &&
	       ktime_get_ns() < end)
		pump(1);
	assert_int_equal(!!(engine_register(engine, RING_IMR) & GHYVI_EVENT_USER_INTERRUPT),
			 masked);
}

static void storm_of_interrupts_is_limited(void **state)
{
	struct test_job *job;
	u32 commands[1024];
	u64 interrupts;
	unsigned int i;

	/* It executes more commands than there are between two hangs. */
	if (emu_adversary_has(&gen9_shim_emu.adversary, EMU_HANG))
		skip();
	job = job_new(&guests[0], GHYVI_RCS);
	for (i = 0; i < 1000; i++)
		commands[i] = USER_INTERRUPT;
	commands[i++] = START_USER;
	commands[i++] = LO(USER_BATCH);
	commands[i++] = HI(USER_BATCH);
	put(guests[0].user[0], commands, i);
	RINGS(job, START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	start(job);
	wait_for_mask(GHYVI_RCS, true);
	assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
	interrupts = gen9_shim_emu.interrupts;
	job->events = 0;
	wait_for_mask(GHYVI_RCS, false);
	/* Those of other modes of the adversary are few. */
	assert_in_range(gen9_shim_emu.interrupts - interrupts, 0, 20);
	assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
	wait_for_mask(GHYVI_RCS, true);
	*(u32 *)guests[0].user[0] = BATCH_END;
	finish(job, GHYVI_JOB_COMPLETE);
	job_free(job);

	/* The last interrupts of a job are not lost when they are masked. */
	job = job_new(&guests[0], GHYVI_RCS);
	USER(&guests[0], BATCH_END);
	RINGS(job, USER_INTERRUPT, NOOP);
	run_once(job);
	assert_true(job->events & GHYVI_EVENT_USER_INTERRUPT);
	job_free(job);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ring_and_indirect_batch_run_from_their_copies),
		TEST(image_of_the_guest_is_not_loaded),
		TEST(batch_of_an_earlier_job_is_not_resumed),
		TEST(blitter_batches_are_always_copied),
		TEST(batch_does_not_leave_its_copy_at_the_end_of_the_ppgtt),
		TEST(copied_user_batch_does_not_reach_the_ggtt),
		TEST(copied_user_batch_starts_no_batch_of_the_ggtt),
		TEST(registers_of_the_host_are_out_of_reach),
		TEST(no_register_carries_a_value_to_another_client),
		TEST(threads_find_nothing_of_another_client),
		TEST(own_indirect_batch_keeps_the_hosts),
		TEST(status_page_of_the_host_is_out_of_reach),
		TEST(full_reset_ends_the_guilty_job_only),
		TEST(full_reset_repeats_no_command_of_others),
		TEST(oracle_reports_a_page_of_another_guest),
		TEST(storm_of_interrupts_is_limited),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
