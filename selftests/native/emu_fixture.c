// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU with an array as RAM, and the contexts of the tests. */
#include <stdlib.h>
#include "emu_fixture.h"

struct emu *emu;
u8 *ram;
unsigned int messages;

static void count_message(struct emu *emu, u64 address, u32 data)
{
	messages++;
}

static const struct emu_transport_ops ops = { .msi = count_message };

u32 rd(u32 offset)
{
	return emu_reg_read(emu, offset, EMU_CPU);
}

void wr(u32 offset, u32 value)
{
	emu_reg_write(emu, offset, value, EMU_CPU);
}

u32 *word(u32 physical)
{
	return (u32 *)(ram + physical);
}

u64 *entry(u32 physical)
{
	return (u64 *)(ram + physical);
}

static void enable_msi(void)
{
	emu_config_write(emu, 0xb0, 0xfee00000, 4);
	emu_config_write(emu, 0xae, 1, 2);
	emu_config_write(emu, 0x04, 7, 2);
}

void enable_engine(u32 base)
{
	wr(base + RING_HWS_PGA, HWSP);
	wr(base + RING_MODE, RING_MODE_RUN_LIST_ENABLE << 16 | RING_MODE_RUN_LIST_ENABLE);
	wr(base + RING_CSB_POINTER, 0xffff0505);
	wr(base + RING_IMR, 0);
}

void apply_workarounds(void)
{
	wr(0x4090, 0x02000100);
	wr(0x4ddc, 0x88000000);
	wr(0x940c, 0x00004000);
	wr(0x4ab0, 0x00040000);
	wr(0x20d4, 0x00040004);
	wr(0x20e0, 0x40004000);
	wr(0xb004, 0x80);
}

void build_tables(void)
{
	unsigned int level;

	for (level = 0; level < 3; level++)
		*entry(TABLES + level * 0x1000 +
		       8 * (DATA_VA >> (39 - 9 * level) & (GHYVI_ENTRIES - 1))) =
			(TABLES + (level + 1) * 0x1000) | 3;
	*entry(TABLES + 0x3000) = DATA | 3;
	*entry(TABLES + 0x3008) = BATCH | 3;
}

void set_up_again(void)
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

int set_up(void **state)
{
	emu = calloc(1, sizeof(*emu));
	ram = aligned_alloc(4096, RAM_BYTES);
	emu_adversary_seed(&emu->adversary, 1);
	assert_int_equal(emu_init(emu), 0);
	emu->transport = &ops;
	emu_ram_insert(emu, &(struct emu_ram_region){ .bytes = RAM_BYTES, .memory = ram });
	messages = 0;
	set_up_again();
	return 0;
}

int tear_down(void **state)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		free(emu->engines[i].cs.rows);
	emu_compute_free(&emu->engines[GHYVI_RCS]);
	emu_ram_release(emu);
	free(emu->regs);
	free(emu->ggtt);
	free(emu->ggtt_live);
	free(emu->ggtt_dirty);
	free(emu->ggtt_is_dirty);
	free(emu->images.notes);
	free(emu);
	free(ram);
	return 0;
}

/* ---- contexts ---- */

u32 *image(unsigned int n)
{
	return word(CONTEXT + n * CONTEXT_STRIDE + GHYVI_PAGE_BYTES);
}

u32 *ring(unsigned int n)
{
	return word(RING + n * RING_STRIDE);
}

void make_context(unsigned int n, u32 base)
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

void emit(unsigned int n, const u32 *commands, unsigned int dwords)
{
	u32 tail = image(n)[GHYVI_CTX_RING_TAIL];

	memcpy(ring(n) + tail / 4, commands, 4 * dwords);
	image(n)[GHYVI_CTX_RING_TAIL] = tail + 4 * ((dwords + 1) & ~1u);
}

u64 descriptor(unsigned int n)
{
	return (u64)(n + 1) << 37 | (CONTEXT + n * CONTEXT_STRIDE) | 0x119;
}

void submit_to(u32 base, u64 first, u64 second)
{
	wr(base + RING_ELSP, second >> 32);
	wr(base + RING_ELSP, second);
	wr(base + RING_ELSP, first >> 32);
	wr(base + RING_ELSP, first);
}

void submit(u64 first, u64 second)
{
	submit_to(GHYVI_RENDER_BASE, first, second);
}

void run_all(void)
{
	while (emu_run_engines(emu) == EMU_WORK_NOW)
		;
}

void run_context(unsigned int n)
{
	submit(descriptor(n), 0);
	run_all();
}

void start_waiting(void)
{
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, SEMAPHORE, 1, (u32)DATA_VA, DATA_VA >> 32);
	run_context(0);
	assert_int_equal(csb(0), 0x1);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_WAITING);
}

u32 csb(unsigned int i)
{
	return *word(HWSP + HWSP_CSB + 8 * i);
}

void expect_violations(enum emu_violation kind, u64 count)
{
	unsigned int i;

	for (i = 0; i < EMU_VIOLATIONS; i++)
		assert_int_equal(emu->violations[i], i == kind ? count : 0);
}

void expect_no_violation(void)
{
	expect_violations(EMU_VIOLATIONS, 0);
}
