// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulated GPU without a virtual machine: registers, execution lists, the rules of batches, and
 * the reports of broken rules. RAM is an array, and all GGTT entries map the page of their own
 * number unless a test says otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <ghyvi/gen8_cmds.h>
#include "emu.h"

#define RAM_BYTES (16u << 20)
#define HWSP 0x10000u
#define RING 0x20000u
#define CONTEXT 0x100000u /* image of context n: + n * CONTEXT_STRIDE */
#define CONTEXT_STRIDE 0x40000u
#define RING_STRIDE 0x1000u
#define TABLES 0x400000u /* PML4, PDP, PD, PT: one page each */
#define DATA 0x800000u /* physical page of the data */
#define DATA_VA 0x200000000ull /* where the PPGTT maps it */
#define BATCH 0x801000u /* physical page of a batch */
#define BATCH_VA (DATA_VA + 0x1000)
#define GGTT_DATA 0x900000u

#define NOOP 0u
#define BATCH_END (0x0au << 23)
#define ARB_CHECK (0x05u << 23)
#define STORE_GGTT (0x20u << 23 | 1u << 22 | 2)
#define STORE_PPGTT (0x20u << 23 | 2)
#define LRI (0x22u << 23 | 1)
#define BATCH_START (0x31u << 23 | MI_BATCH_PPGTT_HSW | 1)
#define SEMAPHORE (0x1cu << 23 | 1u << 15 | 4u << 12 | 2) /* PPGTT, equal */
#define FLUSH_DW (0x26u << 23 | 2)
#define USER_INTERRUPT (0x02u << 23)
#define SET_PREDICATE (0x01u << 23) /* off */
#define SET_PREDICATE_ALWAYS (SET_PREDICATE | 15)

static struct emu *emu;
static u8 *ram;
static unsigned int messages;

static void count_message(struct emu *emu, u64 address, u32 data)
{
	messages++;
}

static const struct emu_transport_ops ops = { .msi = count_message };

static u32 rd(u32 offset)
{
	return emu_reg_read(emu, offset, EMU_CPU);
}

static void wr(u32 offset, u32 value)
{
	emu_reg_write(emu, offset, value, EMU_CPU);
}

static u32 *word(u32 physical)
{
	return (u32 *)(ram + physical);
}

static u64 *entry(u32 physical)
{
	return (u64 *)(ram + physical);
}

static void enable_msi(void)
{
	emu_config_write(emu, 0xb0, 0xfee00000, 4);
	emu_config_write(emu, 0xae, 1, 2);
	emu_config_write(emu, 0x04, 7, 2);
}

static void enable_engine(u32 base)
{
	wr(base + RING_HWS_PGA, HWSP);
	wr(base + RING_MODE, RING_MODE_RUN_LIST_ENABLE << 16 | RING_MODE_RUN_LIST_ENABLE);
	wr(base + RING_CSB_POINTER, 0xffff0505);
	wr(base + RING_IMR, 0);
}

static void apply_workarounds(void)
{
	wr(0x4090, 0x02000100);
	wr(0x4ddc, 0x88000000);
	wr(0x940c, 0x00004000);
	wr(0x4ab0, 0x00040000);
	wr(0x20d4, 0x00040004);
	wr(0x20e0, 0x40004000);
	wr(0xb004, 0x80);
}

static void build_tables(void)
{
	unsigned int level;

	for (level = 0; level < 3; level++)
		*entry(TABLES + level * 0x1000 +
		       8 * (DATA_VA >> (39 - 9 * level) & (GHYVI_ENTRIES - 1))) =
			(TABLES + (level + 1) * 0x1000) | 3;
	*entry(TABLES + 0x3000) = DATA | 3;
	*entry(TABLES + 0x3008) = BATCH | 3;
}

/* All of a driver's first steps, on a device with any history. */
static void set_up_again(void)
{
	unsigned int i;

	memset(ram, 0, RAM_BYTES);
	emu_device_reset(emu);
	for (i = 0; i < RAM_BYTES >> GHYVI_PAGE_SHIFT; i++)
		emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * i, (u64)i << GHYVI_PAGE_SHIFT | 1, 8);
	wr(GFX_FLSH_CNTL_GEN6, 1);
	enable_msi();
	apply_workarounds();
	enable_engine(GHYVI_RENDER_BASE);
	build_tables();
}

static int set_up(void **state)
{
	emu = calloc(1, sizeof(*emu));
	ram = aligned_alloc(4096, RAM_BYTES);
	emu_adversary_seed(&emu->adversary, 1);
	assert_int_equal(emu_init(emu), 0);
	emu->transport = &ops;
	emu->ram.regions[0] = (struct emu_ram_region){ .bytes = RAM_BYTES, .memory = ram };
	emu->ram.count = 1;
	messages = 0;
	set_up_again();
	return 0;
}

static int tear_down(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		free(emu->engines[i].cs.rows);
	free(emu->regs);
	free(emu->ggtt);
	free(emu->ggtt_live);
	free(emu->ggtt_dirty);
	free(emu->images.notes);
	free(emu);
	free(ram);
	return 0;
}

/* ---- contexts ---- */

static u32 *image(unsigned int n)
{
	return word(CONTEXT + n * CONTEXT_STRIDE + GHYVI_PAGE_BYTES);
}

static u32 *ring(unsigned int n)
{
	return word(RING + n * RING_STRIDE);
}

/* The image of context @n for the engine at @base, with restore-inhibit as at a first use. */
static void make_context(unsigned int n, u32 base)
{
	u32 *state = image(n);
	unsigned int i;

	state[1] = 0x1100101b;
	state[2] = base + RING_CONTEXT_CONTROL;
	state[3] = 0x000f0009;
	state[4] = base + RING_HEAD;
	state[6] = base + RING_TAIL;
	state[8] = base + RING_START;
	state[9] = RING + n * RING_STRIDE;
	state[10] = base + RING_CTL;
	state[11] = RING_CTL_ENABLE;
	state[12] = base + RING_BBADDR_UDW;
	state[14] = base + RING_BBADDR;
	state[16] = base + RING_BBSTATE;
	state[18] = base + RING_SBBADDR_UDW;
	state[20] = base + RING_SBBADDR;
	state[22] = base + RING_SBBSTATE;
	state[24] = base + RING_BB_PER_CTX_PTR;
	state[26] = base + RING_INDIRECT_CTX;
	state[28] = base + RING_INDIRECT_CTX_OFFSET;
	state[0x21] = 0x11001011; /* nine registers, of which only PDP0 matters */
	state[0x22] = base + RING_CTX_TIMESTAMP;
	for (i = 0; i < 8; i++)
		state[0x24 + 2 * i] = base + RING_CTX_PDP(3) + 4 - 4 * i;
	state[GHYVI_CTX_PDP0_LDW] = TABLES;
}

static void emit(unsigned int n, const u32 *commands, unsigned int dwords)
{
	u32 tail = image(n)[GHYVI_CTX_RING_TAIL];

	memcpy(ring(n) + tail / 4, commands, 4 * dwords);
	image(n)[GHYVI_CTX_RING_TAIL] = tail + 4 * ((dwords + 1) & ~1u);
}

#define EMIT(n, ...) \
	emit(n, (const u32[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u32[]){ __VA_ARGS__ })))

static u64 descriptor(unsigned int n)
{
	return (u64)(n + 1) << 37 | (CONTEXT + n * CONTEXT_STRIDE) | 0x119;
}

static void submit_to(u32 base, u64 first, u64 second)
{
	wr(base + RING_ELSP, second >> 32);
	wr(base + RING_ELSP, second);
	wr(base + RING_ELSP, first >> 32);
	wr(base + RING_ELSP, first);
}

static void submit(u64 first, u64 second)
{
	submit_to(GHYVI_RENDER_BASE, first, second);
}

static void run_all(void)
{
	while (emu_run_engines(emu) == EMU_WORK_NOW)
		;
}

static u32 csb(unsigned int i)
{
	return *word(HWSP + HWSP_CSB + 8 * i);
}

static void expect_violations(enum emu_violation kind, u64 count)
{
	unsigned int i;

	for (i = 0; i < EMU_VIOLATIONS; i++)
		assert_int_equal(emu->violations[i], i == kind ? count : 0);
}

static void expect_no_violation(void)
{
	expect_violations(EMU_VIOLATIONS, 0);
}

/* ---- registers ---- */

static void masked_registers_keep_other_bits(void **state)
{
	wr(HALF_SLICE_CHICKEN2, 0x00050005);
	wr(HALF_SLICE_CHICKEN2, 0x00040000);
	assert_int_equal(rd(HALF_SLICE_CHICKEN2), 1);
}

static void reset_handshake_is_immediate(void **state)
{
	wr(GHYVI_RENDER_BASE + RING_RESET_CTL, 0x00010001);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_RESET_CTL), 3);
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	assert_int_equal(rd(GEN6_GDRST), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0);
	wr(GHYVI_RENDER_BASE + RING_RESET_CTL, 0x00010000);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_RESET_CTL), 0);
}

static void each_edge_of_the_master_sends_one_message(void **state)
{
	wr(GEN8_GT_ISR0 + IRQ_IMR, 0);
	wr(GEN8_GT_ISR0 + IRQ_IER, 1);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	assert_int_equal(messages, 0);
	wr(GEN8_MASTER_IRQ, 1u << 31);
	assert_int_equal(messages, 1);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 1u << 31 | GEN8_GT_RCS_IRQ);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	assert_int_equal(messages, 1);
	wr(GEN8_MASTER_IRQ, 0);
	wr(GEN8_MASTER_IRQ, 1u << 31);
	assert_int_equal(messages, 2);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 1u << 31);
}

static void sleeping_domains_are_reported(void **state)
{
	wr(0x7014, 0x00010001);
	wr(GEN6_RC_CONTROL, GEN6_RC_CTL_RC6_ENABLE);
	assert_int_equal(rd(0x7014), 0);
	expect_violations(EMU_ASLEEP, 1);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010001);
	assert_int_equal(rd(FORCEWAKE_ACK_RENDER_GEN9), 1);
	assert_int_equal(rd(0x7014), 1);
	assert_int_equal(rd(0x1a09c), 0); /* the media domain */
	expect_violations(EMU_ASLEEP, 2);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010000);
	wr(GEN6_RC_CONTROL, 0);
	assert_int_equal(rd(0x7014), 1);
}

static void config_space_has_two_bars_and_msi(void **state)
{
	unsigned int i;

	assert_int_equal(emu_config_read(emu, 0, 4), 0x19128086);
	for (i = 0; i < 7; i++)
		emu_config_write(emu, 0x10 + 4 * i, ~0u, 4);
	assert_int_equal(emu_config_read(emu, 0x10, 4), ~(EMU_GTTMMADR_BYTES - 1));
	assert_int_equal(emu_config_read(emu, 0x14, 4), 0);
	assert_int_equal(emu_config_read(emu, 0x18, 4), ~(EMU_GMADR_BYTES - 1) | 8);
	assert_int_equal(emu_config_read(emu, 0x28, 4), 0);
	assert_int_equal(emu_config_read(emu, 0x34, 1), 0xac);
}

/* ---- execution lists ---- */

static void one_context_completes(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234, USER_INTERRUPT, NOOP);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0x1234);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(csb(1), 0x18);
	assert_int_equal(*word(HWSP + HWSP_CSB_WRITE), 1);
	assert_int_equal(image(0)[GHYVI_CTX_RING_HEAD], image(0)[GHYVI_CTX_RING_TAIL]);
	assert_int_equal(image(0)[GHYVI_CTX_CONTROL] & 1, 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_EXECLIST_STATUS_HI), 0);
	expect_no_violation();
}

static void second_element_follows(void **state)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		make_context(n, GHYVI_RENDER_BASE);
		EMIT(n, STORE_GGTT, GGTT_DATA + 4 * n, 0, n + 1);
	}
	submit(descriptor(0), descriptor(1));
	run_all();
	assert_int_equal(*word(GGTT_DATA), 1);
	assert_int_equal(*word(GGTT_DATA + 4), 2);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(csb(1), 0x14);
	assert_int_equal(csb(2), 0x18);
}

/* Context 0 waits for DATA to become 1. */
static void start_waiting(void)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, SEMAPHORE, 1, (u32)DATA_VA, DATA_VA >> 32);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_WAITING);
}

static void lite_restore_moves_the_tail(void **state)
{
	start_waiting();
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(csb(1), 0x8002);
	*word(DATA) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(*word(GGTT_DATA), 7);
	assert_int_equal(csb(2), 0x18);
	expect_no_violation();
}

static void same_tail_is_reported(void **state)
{
	start_waiting();
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_SAME_TAIL, 1);
}

static void changed_image_needs_a_forced_restore(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, NOOP, NOOP);
	submit(descriptor(0), 0);
	run_all();
	EMIT(0, NOOP, NOOP); /* the tail may move */
	submit(descriptor(0), 0);
	run_all();
	expect_no_violation();
	image(0)[GHYVI_CTX_RING_HEAD] = 0;
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_NO_RESTORE, 1);
	image(0)[GHYVI_CTX_RING_HEAD] = 0;
	submit(descriptor(0) | CTX_DESC_FORCE_RESTORE, 0);
	run_all();
	expect_violations(EMU_NO_RESTORE, 1);
}

static void waiter_is_preempted_in_its_batch_and_resumes(void **state)
{
	u32 *batch = word(BATCH);

	make_context(0, GHYVI_RENDER_BASE);
	memcpy(batch,
	       (const u32[]){ SEMAPHORE, 1, (u32)DATA_VA, DATA_VA >> 32, STORE_PPGTT,
			      (u32)DATA_VA + 8, DATA_VA >> 32, 3, BATCH_END },
	       36);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	submit(descriptor(0), 0);
	run_all();
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, STORE_GGTT, GGTT_DATA, 0, 5);
	submit(descriptor(1), 0);
	run_all();
	assert_int_equal(csb(1), 0x2);
	assert_int_equal(csb(2), 0x18);
	assert_int_equal(*word(GGTT_DATA), 5);
	assert_int_equal(image(0)[0x0f], (u32)BATCH_VA | 1);
	assert_int_equal(image(0)[0x11], RING_BB_PPGTT);

	*word(DATA) = 1;
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(DATA + 8), 3);
	assert_int_equal(csb(4), 0x18);
	assert_int_equal(image(0)[0x0f], 0);
	expect_no_violation();
}

static void batch_without_arbitration_point_is_not_preempted(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	memcpy(word(BATCH), (const u32[]){ NOOP, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32 }, 16);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	emu_run_engines(emu);
	submit(descriptor(1), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_true(emu->engines[GHYVI_RCS].has_pending);
	*word(BATCH) = ARB_CHECK;
	run_all();
	assert_int_equal(csb(1), 0x2);
	assert_int_equal(csb(2), 0x18);
}

static void early_submission_is_dropped_and_reported(void **state)
{
	start_waiting();
	emu->engines[GHYVI_RCS].arbitration = false;
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(1), 0);
	submit(descriptor(1), 0);
	expect_violations(EMU_ELSP_EARLY, 1);
}

static void reset_of_a_running_engine_is_reported(void **state)
{
	start_waiting();
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	expect_violations(EMU_RESET_RUNNING, 1);
}

static void event_without_preset_pointer_is_reported(void **state)
{
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	apply_workarounds();
	wr(GHYVI_RENDER_BASE + RING_MODE,
	   RING_MODE_RUN_LIST_ENABLE << 16 | RING_MODE_RUN_LIST_ENABLE);
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HWSP);
	make_context(0, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_CSB_POINTER, 1);
}

static void missing_workaround_is_reported(void **state)
{
	wr(0x20e0, 0x40000000);
	make_context(0, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	expect_violations(EMU_WORKAROUND, 1);
}

/* ---- images ---- */

static void batch_state_of_software_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[0x11] = RING_BB_PPGTT;
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_BBSTATE, 1);
}

#define GPR0 (GHYVI_RENDER_BASE + GEN8_RING_CS_GPR)
#define SRM_GGTT (0x24u << 23 | 1u << 22 | 2)

static void inhibited_restore_shows_the_previous_context(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, LRI, GPR0, 0x5ec4e7, NOOP);
	submit(descriptor(0), 0);
	run_all();
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, SRM_GGTT, GPR0, GGTT_DATA, 0);
	submit(descriptor(1), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0x5ec4e7);
}

static void saved_context_gets_its_registers_back(void **state)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		make_context(n, GHYVI_RENDER_BASE);
		EMIT(n, LRI, GPR0, 10 + n, NOOP);
		EMIT(n, LRI, 0x7014, 0xffff0000 | (1u << n), NOOP);
		submit(descriptor(n), 0);
		run_all();
	}
	EMIT(0, SRM_GGTT, GPR0, GGTT_DATA, 0);
	EMIT(0, SRM_GGTT, 0x7014, GGTT_DATA + 4, 0);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 10);
	assert_int_equal(*word(GGTT_DATA + 4), 1);
	expect_no_violation();
}

/* kvmgt scans from the engine's part on, up to the end of the image. */
static void saved_image_is_one_stream_with_one_end(void **state)
{
	unsigned int i = 0x50, lists = 0;
	const u32 *dwords = image(0);

	make_context(0, GHYVI_RENDER_BASE);
	submit(descriptor(0), 0);
	run_all();
	while (dwords[i] != BATCH_END) {
		assert_in_range(i, 0x50, 2 * GHYVI_PAGE_BYTES / 4);
		if (dwords[i] == NOOP) {
			i++;
			continue;
		}
		assert_int_equal(MI_OPCODE(dwords[i]), 0x22);
		lists++;
		i += (dwords[i] & 0xff) + 2;
	}
	assert_in_range(i, GHYVI_PAGE_BYTES / 4, 2 * GHYVI_PAGE_BYTES / 4);
	assert_in_range(lists, 4, 10);
}

/* i915 and kvmgt write the OA control into saved images, at a fixed place. */
static void oa_control_has_a_fixed_place(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	image(0)[0x128] = GEN8_OACTXCONTROL; /* before a first use there is no list around it */
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(image(0)[0x128], GEN8_OACTXCONTROL);
	assert_int_equal(image(0)[0x3de], 0xe458);
	image(0)[0x129] = 0x41;
	EMIT(0, NOOP, NOOP);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(rd(GEN8_OACTXCONTROL), 0x41);
	expect_no_violation();
}

/* ---- privilege ---- */

static void run_user_batch(u32 base, const u32 *commands, unsigned int dwords)
{
	make_context(0, base);
	memcpy(word(BATCH), commands, 4 * dwords);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32);
	submit_to(base, descriptor(0), 0);
	run_all();
}

static void user_batch_cannot_write_control_registers(void **state)
{
	run_user_batch(GHYVI_RENDER_BASE,
		       (const u32[]){ LRI, GHYVI_RENDER_BASE + RING_HWS_PGA, 0x5000, BATCH_END },
		       4);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), HWSP);
	assert_int_equal(csb(1), 0x18);
}

static void user_batch_of_the_blitter_can(void **state)
{
	enable_engine(GHYVI_BLITTER_BASE);
	run_user_batch(GHYVI_BLITTER_BASE,
		       (const u32[]){ LRI, GHYVI_RENDER_BASE + RING_HWS_PGA, 0x5000, BATCH_END },
		       4);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0x5000);
}

static void user_batch_cannot_store_to_the_ggtt(void **state)
{
	run_user_batch(GHYVI_RENDER_BASE,
		       (const u32[]){ STORE_GGTT, GGTT_DATA, 0, 1, STORE_PPGTT, (u32)DATA_VA,
				      DATA_VA >> 32, 2, BATCH_END },
		       9);
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(*word(DATA), 2);
}

static void slot_opens_a_register(void **state)
{
	const u32 batch[] = { LRI, 0x2248, 0x77, BATCH_END };

	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x2248), 0);
	wr(RING_FORCE_TO_NONPRIV_FIRST, 0x2248);
	run_user_batch(GHYVI_RENDER_BASE, batch, 4);
	assert_int_equal(rd(0x2248), 0x77);
}

static void predicate_ends_with_its_batch(void **state)
{
	const u32 commands[] = {
		SET_PREDICATE_ALWAYS, STORE_PPGTT, (u32)DATA_VA,     DATA_VA >> 32, 1,
		SET_PREDICATE,	      STORE_PPGTT, (u32)DATA_VA + 4, DATA_VA >> 32, 2,
		SET_PREDICATE_ALWAYS, BATCH_END
	};

	memcpy(word(BATCH), commands, sizeof(commands));
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32, STORE_GGTT, GGTT_DATA, 0, 3, NOOP);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(DATA), 0);
	assert_int_equal(*word(DATA + 4), 2);
	assert_int_equal(*word(GGTT_DATA), 3);
	expect_no_violation();
}

static void predicate_of_a_ring_reaches_the_next_context(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(0, SET_PREDICATE_ALWAYS, NOOP);
	EMIT(1, STORE_GGTT, GGTT_DATA, 0, 1, SET_PREDICATE, STORE_GGTT, GGTT_DATA + 4, 0, 2, NOOP);
	submit(descriptor(0), descriptor(1));
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0);
	assert_int_equal(*word(GGTT_DATA + 4), 2);
	expect_no_violation();
}

/* ---- translations ---- */

static void ggtt_change_without_flush_is_reported(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 9);
	emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * (GGTT_DATA >> 12), DATA | 1, 8);
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_GGTT_STALE, 1);
	assert_int_equal(*word(DATA), 9);
}

static void wait_with_changed_entry(void)
{
	start_waiting();
	*entry(TABLES + 0x3000) = (DATA + 0x2000) | 3;
	*word(DATA + 0x2000) = 1;
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
}

static void ppgtt_change_without_invalidation_is_reported(void **state)
{
	wait_with_changed_entry();
	expect_violations(EMU_PPGTT_STALE, 1);
	assert_int_equal(csb(1), 0x18);
}

static void adversary_keeps_stale_translations(void **state)
{
	emu_adversary_parse(&emu->adversary, "stale-tlb");
	wait_with_changed_entry();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_WAITING);
	wr(GEN8_RTCR, 1);
	assert_int_equal(rd(GEN8_RTCR), 0);
	emu->engines[GHYVI_RCS].poll_at_ns = 0;
	run_all();
	assert_int_equal(csb(1), 0x18);
}

static void absent_entry_hangs_the_engine(void **state)
{
	*entry(TABLES + 0x3000) = 0;
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 2);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	assert_int_equal(rd(GEN8_RING_FAULT_REG) & RING_FAULT_VALID, 1);
	expect_violations(EMU_NOT_PRESENT, 1);
}

static void read_only_pages_drop_writes(void **state)
{
	*entry(TABLES + 0x3000) = DATA | 1;
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_PPGTT, (u32)DATA_VA, DATA_VA >> 32, 2);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(DATA), 0);
	assert_int_equal(csb(1), 0x18);
}

/* ---- adversary ---- */

static void late_stores_reach_memory_at_the_end(void **state)
{
	static const u32 noops[400];

	emu_adversary_parse(&emu->adversary, "late-write");
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 6);
	emit(0, noops, ARRAY_SIZE(noops));
	submit(descriptor(0), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_int_equal(*word(GGTT_DATA), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 6);
}

static void flush_makes_late_stores_visible(void **state)
{
	static const u32 noops[400];

	emu_adversary_parse(&emu->adversary, "late-write");
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 6, FLUSH_DW, 0, 0, 0);
	emit(0, noops, ARRAY_SIZE(noops));
	submit(descriptor(0), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_int_equal(*word(GGTT_DATA), 6);
}

static void second_event_shows_when_the_first_is_cleared(void **state)
{
	emu_adversary_parse(&emu->adversary, "double-iir");
	wr(GEN8_GT_ISR0 + IRQ_IMR, 0);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_GT_ISR0 + IRQ_IIR), 1);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_GT_ISR0 + IRQ_IIR), 0);
}

#define TRIES 100

static void some_resets_need_another_try(void **state)
{
	unsigned int i, failed = 0;

	emu_adversary_parse(&emu->adversary, "slow-reset");
	for (i = 0; i < TRIES; i++) {
		wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
		failed += !!rd(GEN6_GDRST);
	}
	assert_in_range(failed, 1, TRIES / 2);
}

static void lost_acknowledgement_needs_the_fallback(void **state)
{
	unsigned int i, lost = 0;

	emu_adversary_parse(&emu->adversary, "lost-wake");
	for (i = 0; i < 10 * TRIES; i++) {
		wr(FORCEWAKE_GT_GEN9, 0x00010001);
		if (rd(FORCEWAKE_ACK_GT_GEN9) & 1)
			goto put;
		lost++;
		wr(FORCEWAKE_GT_GEN9, 0x80008000);
		assert_int_equal(rd(FORCEWAKE_ACK_GT_GEN9), 0x8001);
		wr(FORCEWAKE_GT_GEN9, 0x80000000);
put:
		wr(FORCEWAKE_GT_GEN9, 0x00010000);
		wr(FORCEWAKE_GT_GEN9, 0x80000000);
	}
	assert_in_range(lost, 1, TRIES);
}

static void late_acknowledgement_comes_within_the_time_limit(void **state)
{
	u64 start, late = 0;
	unsigned int i;

	emu_adversary_parse(&emu->adversary, "late-wake");
	for (i = 0; i < TRIES; i++) {
		start = ktime_get_ns();
		wr(FORCEWAKE_GT_GEN9, i & 1 ? 0x00010000 : 0x00010001);
		while (rd(FORCEWAKE_ACK_GT_GEN9) != !(i & 1))
			late++;
		assert_true(ktime_get_ns() - start < 50 * NSEC_PER_MSEC);
	}
	assert_true(late);
}

static void prefetch_reads_past_the_tail(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * ((RING + RING_STRIDE) >> 12), 0, 8);
	wr(GFX_FLSH_CNTL_GEN6, 1);
	image(0)[GHYVI_CTX_RING_HEAD] = 0xff8;
	image(0)[GHYVI_CTX_RING_TAIL] = 0xff8;
	submit(descriptor(0), 0);
	run_all();
	expect_no_violation();
	emu_adversary_parse(&emu->adversary, "prefetch");
	submit(descriptor(0), 0);
	run_all();
	expect_violations(EMU_NOT_PRESENT, 4);
}

static void preemption_is_refused_for_a_while_only(void **state)
{
	emu_adversary_parse(&emu->adversary, "no-preempt");
	start_waiting();
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(1), 0);
	while (emu->engines[GHYVI_RCS].has_pending) {
		emu->engines[GHYVI_RCS].poll_at_ns = 0;
		run_all();
	}
	assert_int_equal(csb(1), 0x2);
}

static void modes_are_parsed(void **state)
{
	assert_int_equal(emu_adversary_parse(&emu->adversary, "prefetch,nonsense"), -EINVAL);
	assert_int_equal(emu_adversary_parse(&emu->adversary, "all,hang,unready"), 0);
	assert_int_equal(emu->adversary.modes, (1u << EMU_ADVERSARY_MODES) - 1);
}

/* ---- garbage ---- */

#define GARBAGE_ROUNDS 2000
#define GARBAGE_DWORDS 64

/* A dword of a stream: often a command that exists, an address that is mapped, or a register. */
static u32 garbage(struct emu_adversary *random)
{
	switch (emu_random(random, 5)) {
	case 0:
		return (u32)emu_random(random, 64) << 23 | (u32)emu_random(random, 8) |
		       (u32)emu_random(random, 4) << 21;
	case 1:
		return 2u << 29 | (u32)emu_random(random, 128) << 22 | (u32)emu_random(random, 16);
	case 2:
		return DATA + (u32)emu_random(random, 0x2000);
	case 3:
		return GHYVI_RENDER_BASE + (u32)emu_random(random, 0x1000);
	default:
		return (u32)emu_random(random, 1ull << 32);
	}
}

/* Whatever engines are given, the emulator goes on, and a reset makes them work again. */
static void garbage_never_breaks_the_emulator(void **state)
{
	static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE, GHYVI_VIDEO_BASE,
				     GHYVI_VIDEO_ENHANCE_BASE };
	struct emu_adversary random;
	unsigned int round, i, slices;

	emu_adversary_seed(&random, 5);
	for (round = 0; round < GARBAGE_ROUNDS; round++) {
		u32 base = bases[emu_random(&random, ARRAY_SIZE(bases))];

		build_tables();
		make_context(0, base);
		for (i = 0; i < GARBAGE_DWORDS; i++) {
			ring(0)[i] = garbage(&random);
			word(BATCH)[i] = garbage(&random);
		}
		if (round & 1)
			memcpy(ring(0), (const u32[]){ BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32 },
			       12);
		image(0)[GHYVI_CTX_RING_HEAD] = 0;
		image(0)[GHYVI_CTX_RING_TAIL] = 4 * GARBAGE_DWORDS;
		if (!emu_random(&random, 4))
			image(0)[0x51 + emu_random(&random, 64)] = garbage(&random);
		enable_engine(base);
		submit_to(base, descriptor(0), 0);
		for (slices = 0; slices < 4; slices++)
			emu_run_engines(emu);
		wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	}
	set_up_again();
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234);
	submit(descriptor(0), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 0x1234);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(masked_registers_keep_other_bits),
		CASE(reset_handshake_is_immediate),
		CASE(each_edge_of_the_master_sends_one_message),
		CASE(sleeping_domains_are_reported),
		CASE(config_space_has_two_bars_and_msi),
		CASE(one_context_completes),
		CASE(second_element_follows),
		CASE(lite_restore_moves_the_tail),
		CASE(same_tail_is_reported),
		CASE(changed_image_needs_a_forced_restore),
		CASE(waiter_is_preempted_in_its_batch_and_resumes),
		CASE(batch_without_arbitration_point_is_not_preempted),
		CASE(early_submission_is_dropped_and_reported),
		CASE(reset_of_a_running_engine_is_reported),
		CASE(event_without_preset_pointer_is_reported),
		CASE(missing_workaround_is_reported),
		CASE(batch_state_of_software_is_reported),
		CASE(inhibited_restore_shows_the_previous_context),
		CASE(saved_context_gets_its_registers_back),
		CASE(saved_image_is_one_stream_with_one_end),
		CASE(oa_control_has_a_fixed_place),
		CASE(user_batch_cannot_write_control_registers),
		CASE(user_batch_of_the_blitter_can),
		CASE(user_batch_cannot_store_to_the_ggtt),
		CASE(slot_opens_a_register),
		CASE(predicate_ends_with_its_batch),
		CASE(predicate_of_a_ring_reaches_the_next_context),
		CASE(ggtt_change_without_flush_is_reported),
		CASE(ppgtt_change_without_invalidation_is_reported),
		CASE(adversary_keeps_stale_translations),
		CASE(absent_entry_hangs_the_engine),
		CASE(read_only_pages_drop_writes),
		CASE(late_stores_reach_memory_at_the_end),
		CASE(flush_makes_late_stores_visible),
		CASE(second_event_shows_when_the_first_is_cleared),
		CASE(some_resets_need_another_try),
		CASE(lost_acknowledgement_needs_the_fallback),
		CASE(late_acknowledgement_comes_within_the_time_limit),
		CASE(prefetch_reads_past_the_tail),
		CASE(preemption_is_refused_for_a_while_only),
		CASE(modes_are_parsed),
		CASE(garbage_never_breaks_the_emulator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
