// SPDX-License-Identifier: GPL-2.0-only
#include "../eu/code.h"
#include "emu_kernels.h"

#define STATELESS 255u
#define UNTYPED_WRITE (9u << 14 | 2u << 12 | 14u << 8) /* one channel, 8 lanes */
#define UNTYPED_ATOMIC_ADD (2u << 14 | 1u << 12 | 7u << 8)
#define DATA_PORT 12
#define PAYLOAD(registers) ((registers) << 25)

static void adds(struct code *c)
{
	unsigned int n;

	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 10), ONE(EU_UD, 0, 4), IMM(EU_UD, 32)));
	for (n = 0; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 10, n * 4), ONE(EU_UD, 10, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 11), VEC(EU_UD, 10), IMM(EU_UD, 7)));
	emit_send(c, 8, DATA_PORT, 0, 10, PAYLOAD(2u) | UNTYPED_ATOMIC_ADD | STATELESS, false);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	emit_end(c);
}

static void wild(struct code *c)
{
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0x7fff0000)));
	emit_send(c, 8, DATA_PORT, 0, 10, PAYLOAD(2u) | UNTYPED_WRITE | STATELESS, false);
	emit_end(c);
}

static void endless(struct code *c)
{
	uint32_t *dw = emit(c, EU_JMPI, 1);

	no_mask(dw);
	put_field(dw, 90, 89, EU_FILE_IMM);
	put_field(dw, 127, 96, (uint32_t)-16);
}

size_t emu_kernel_put(enum emu_kernel kernel, void *code)
{
	static struct code c;

	c.count = 0;
	switch (kernel) {
	case EMU_KERNEL_ADDS:
		adds(&c);
		break;
	case EMU_KERNEL_WILD:
		wild(&c);
		break;
	case EMU_KERNEL_ENDLESS:
		endless(&c);
		break;
	case EMU_KERNEL_UNSUPPORTED:
		emit2(&c, EU_PLN, 8, VEC(EU_F, 10), VEC(EU_F, 11), VEC(EU_F, 12));
		break;
	}
	memcpy(code, c.dw, c.count * 16);
	return c.count * 16;
}

void emu_kernel_descriptor(uint32_t descriptor[8])
{
	memset(descriptor, 0, 8 * sizeof(*descriptor));
	descriptor[6] = 1; /* thread of a group */
}

static void put_base(uint32_t *at, uint64_t address)
{
	at[0] = (uint32_t)address | 1;
	at[1] = (uint32_t)(address >> 32);
}

void emu_kernel_state(uint32_t *batch, uint64_t general, uint64_t dynamic, uint64_t instruction)
{
	uint32_t *base = batch, *vfe = base + 19, *load = vfe + 9;

	memset(batch, 0, EMU_STATE_DWORDS * sizeof(*batch));
	base[0] = 0x61010011;
	put_base(base + 1, general);
	put_base(base + 6, dynamic);
	put_base(base + 10, instruction);
	/* No bounds: i915's first batch of a context leaves some. */
	base[12] = base[13] = base[14] = base[15] = 0xfffff001;
	vfe[0] = 0x70000007;
	load[0] = 0x70020002;
	load[2] = 32;
}

void emu_kernel_walker(uint32_t *batch, uint32_t groups)
{
	memset(batch, 0, EMU_WALKER_DWORDS * sizeof(*batch));
	batch[0] = 0x7105000d;
	batch[7] = groups;
	batch[10] = batch[12] = 1;
	batch[13] = batch[14] = ~0u;
}
