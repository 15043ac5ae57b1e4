// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of random commands. Most commands are valid, so that engines execute a large part of a
 * stream. The others are invalid in one respect or completely.
 */
#include "attack.h"

#define STREAM_DWORDS 256u
#define STREAM_COMMANDS 24u
#define WILD 12u /* one operand of this many is invalid, which ends most streams */

static uint32_t any_register(struct random *random, uint32_t base)
{
	const uint32_t registers[] = {
		base + RING_HWS_PGA,
		base + RING_ELSP,
		base + RING_MODE,
		base + RING_MI_MODE,
		base + RING_RESET_CTL,
		base + RING_CSB_POINTER,
		base + RING_EMR,
		base + RING_TIMESTAMP,
		GEN6_GDRST,
		TLB_INVALIDATE,
		GGTT_FLUSH,
		FORCE_TO_NONPRIV,
		PVINFO,
		PVINFO_NOTIFY,
		0x44200,
		0x4430c,
		0x2580,
		0x22200,
		0xb118,
		0x1ffffc,
		REGISTERS_BYTES,
		0x7ffffc,
	};
	unsigned int i = random_range(random, 0, sizeof(registers) / sizeof(*registers));

	if (!one_in(random, WILD))
		return base + RING_GPR + 4 * random_range(random, 0, 31);
	return i < sizeof(registers) / sizeof(*registers) ?
		       registers[i] :
		       random_range(random, 0, REGISTERS_BYTES - 1) & ~3u;
}

static uint64_t any_address(struct random *random)
{
	const uint64_t addresses[] = {
		FIXTURE_DATA + PAGE_BYTES - 4, /* a qword crosses the end of the page */
		FIXTURE_DATA + (DATA_PAGES - 1) * PAGE_BYTES + 0xffc,
		FIXTURE_BATCH + 4 * random_range(random, 0, STREAM_DWORDS - 1),
		fixture.batch_address + 4 * random_range(random, 0, STREAM_DWORDS - 1),
		fixture.kernel_address + 4 * random_range(random, 0, PAGE_DWORDS - 1),
		window_start - 4,
		window_start + window_bytes,
		window_start + window_bytes - 4,
		0,
		0xfffffffc,
		0x1fffffffcull,
		FIXTURE_NOWHERE,
		0xfffffffffffcull,
		random_next(random),
	};

	if (!one_in(random, WILD))
		return FIXTURE_DATA + 4 * random_range(random, 0, DATA_PAGES * PAGE_DWORDS - 1);
	return addresses[random_range(random, 0, sizeof(addresses) / sizeof(*addresses) - 1)];
}

/* Mostly addresses in the window of the vGPU. */
static uint64_t any_global_address(struct random *random)
{
	if (!one_in(random, WILD))
		return fixture.kernel_address + 4 * random_range(random, 0, PAGE_DWORDS - 1);
	return any_address(random);
}

static unsigned int with_address(uint32_t *dw, uint32_t header, uint64_t address, unsigned int at)
{
	dw[0] = header;
	dw[at] = (uint32_t)address;
	dw[at + 1] = address >> 32;
	return (header & 0x3f) + 2;
}

static uint32_t any_space(struct random *random, uint64_t *address)
{
	bool global = one_in(random, 3);

	*address = global ? any_global_address(random) : any_address(random);
	return global ? MI_GGTT : 0;
}

static unsigned int store(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t space = any_space(random, &address);

	(void)base;
	if (one_in(random, 2))
		return with_address(dw, MI(MI_STORE_DATA, 5) | MI_QWORD | space, address, 1);
	return with_address(dw, MI(MI_STORE_DATA, 4) | space, address, 1);
}

static unsigned int load_imm(struct random *random, uint32_t base, uint32_t *dw)
{
	dw[0] = MI(MI_LOAD_IMM, 5) | (one_in(random, WILD) ? dw[5] & 0xf00 : 0);
	dw[1] = any_register(random, base);
	dw[3] = any_register(random, base);
	return 5;
}

static unsigned int move_register(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t space = any_space(random, &address);

	dw[1] = any_register(random, base);
	dw[2] = any_register(random, base);
	if (one_in(random, 3)) {
		dw[0] = MI(MI_COPY_REGISTER, 3);
		return 3;
	}
	return with_address(dw,
			    MI(one_in(random, 2) ? MI_STORE_REGISTER : MI_LOAD_MEMORY, 4) | space,
			    address, 2);
}

/* Bit 22 selects the address space of the source, bit 21 that of the destination. */
static unsigned int copy_memory(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t from, to;
	uint32_t spaces = any_space(random, &from) | any_space(random, &to) >> 1;

	(void)base;
	with_address(dw, MI(MI_COPY_MEMORY, 5) | spaces, to, 1);
	return with_address(dw, MI(MI_COPY_MEMORY, 5) | spaces, from, 3);
}

static unsigned int flush(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t global = any_space(random, &address) ? FLUSH_DW_GGTT : 0;
	uint32_t flags = one_in(random, WILD) ? dw[5] & 0x3fc180 :
						FLUSH_POST_IMMEDIATE | (dw[5] & 0x40100);

	(void)base;
	return with_address(
		dw, MI(MI_FLUSH_DW, 5) | flags | (one_in(random, 4) ? FLUSH_STORE_INDEX : 0),
		(address & ~7ull) | global, 1);
}

static unsigned int pipe_control(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t global = any_space(random, &address) ? PIPE_CONTROL_GGTT : 0;
	uint32_t flags = dw[5] &
			 ~(PIPE_CONTROL_GGTT | (one_in(random, WILD) ? 0 : PIPE_CONTROL_MMIO));

	(void)base;
	dw[1] = flags | global;
	return with_address(dw, PIPE_CONTROL, address, 2);
}

static unsigned int atomic(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t space = any_space(random, &address);

	(void)base;
	return with_address(dw, MI(MI_ATOMIC, 3) | (dw[5] & 0x7f00) | space, address, 1);
}

static unsigned int store_index(struct random *random, uint32_t base, uint32_t *dw)
{
	(void)base;
	dw[0] = MI(MI_STORE_INDEX, 3 + random_range(random, 0, 1)) | (dw[5] & MI_QWORD);
	return (dw[0] & 0xff) + 2;
}

/* LOAD of the two sources, an operation, STORE of the accumulator. */
static unsigned int math(struct random *random, uint32_t base, uint32_t *dw)
{
	(void)base;
	dw[0] = MI(MI_MATH, 5);
	dw[1] = 0x080u << 20 | 0x20 << 10 | (dw[1] & 15);
	dw[2] = 0x080u << 20 | 0x21 << 10 | (dw[2] & 15);
	dw[3] = random_range(random, 0x100, 0x104) << 20;
	dw[4] = one_in(random, WILD) ? dw[5] : 0x180u << 20 | (dw[4] & 15) << 10 | 0x31;
	return 5;
}

/* Mostly jumps to a dword of the same stream, chained or as a second-level batch. */
static unsigned int jump(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address = FIXTURE_BATCH + 4 * random_range(random, 0, STREAM_DWORDS - 1);
	uint32_t flags = BATCH_PPGTT | (dw[5] & BATCH_SECOND_LEVEL);

	(void)base;
	if (one_in(random, 4)) {
		address = any_address(random);
		flags = dw[5] & (BATCH_PPGTT | BATCH_SECOND_LEVEL);
	}
	return with_address(dw, MI(MI_BATCH_START, 3) | flags, address, 1);
}

static unsigned int condition(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address;
	uint32_t space = any_space(random, &address);
	uint32_t opcode = one_in(random, 8) ? MI_SEMAPHORE_WAIT : MI_CONDITIONAL_END;

	(void)base;
	return with_address(dw, MI(opcode, 4) | space | (dw[5] & 0x21f000), address, 2);
}

/* Mostly small, because large blits only take more time. */
static unsigned int blit(struct random *random, uint32_t base, uint32_t *dw)
{
	uint64_t address = any_address(random), from = any_address(random);
	bool copy = one_in(random, 2);
	uint32_t rop = one_in(random, 4) ? dw[5] & 0xff0000 : copy ? ROP_COPY : ROP_FILL;

	(void)base;
	dw[1] = BLIT_32BPP | rop | (one_in(random, WILD) ? dw[5] & 0xffff : 64);
	dw[2] = 0;
	dw[3] = one_in(random, WILD) ? dw[5] : 0x00040010;
	if (!copy)
		return with_address(dw, XY_COLOR | (dw[5] & 0x800), address, 4);
	dw[6] = 0;
	dw[7] = one_in(random, WILD) ? dw[5] : 64;
	with_address(dw, XY_COPY, from, 8);
	return with_address(dw, XY_COPY | (dw[5] & 0x8800), address, 4);
}

/* MI commands of one dword: flags, interrupts, the end of the batch. */
static unsigned int single(struct random *random, uint32_t base, uint32_t *dw)
{
	(void)base;
	dw[0] = random_range(random, 0, 0x0f) << 23;
	return 1;
}

static unsigned int noise(struct random *random, uint32_t base, uint32_t *dw)
{
	(void)base;
	switch (random_range(random, 0, 2)) {
	case 0: /* an MI command that is privileged or undefined */
		dw[0] = MI(random_range(random, 0x10, 0x3f), 4);
		break;
	case 1:
		dw[0] = dw[5] & 0x1fffff3f;
		break;
	}
	return random_range(random, 1, 8);
}

static unsigned int any_command(struct random *random, enum engine_id id, uint32_t base,
				uint32_t *dw)
{
	static const struct {
		unsigned int (*write)(struct random *random, uint32_t base, uint32_t *dw);
	} common[] = {
		{ store },  { load_imm },    { move_register }, { copy_memory }, { flush },
		{ atomic }, { store_index }, { math },		{ condition },
	};
	unsigned int i;

	for (i = 0; i < 12; i++)
		dw[i] = (uint32_t)random_next(random);
	if (one_in(random, 2 * WILD))
		return noise(random, base, dw);
	if (one_in(random, WILD))
		return jump(random, base, dw);
	if (one_in(random, WILD))
		return single(random, base, dw);
	if (id == RCS ? one_in(random, 5) : one_in(random, 4 * WILD))
		return pipe_control(random, base, dw);
	if (id == BCS ? one_in(random, 4) : one_in(random, 4 * WILD))
		return blit(random, base, dw);
	i = random_range(random, 0, sizeof(common) / sizeof(*common) - 1);
	return common[i].write(random, base, dw);
}

void stream_write(struct random *random, const struct engine *engine, volatile uint32_t *to)
{
	uint32_t dw[16];
	unsigned int at = 0;

	for (unsigned int n = random_range(random, 1, STREAM_COMMANDS); n; n--) {
		unsigned int count = any_command(random, engine->id, engine->base, dw);

		/* Sometimes flip one bit of the header, for example of the length. */
		if (one_in(random, 4 * WILD))
			dw[0] ^= 1u << random_range(random, 0, 31);
		for (unsigned int i = 0; i < count && at < STREAM_DWORDS - 1; i++)
			to[at++] = dw[i];
	}
	/* Sometimes the stream continues with the old content of the page. */
	if (!one_in(random, 16))
		to[at] = MI_BATCH_END;
}
