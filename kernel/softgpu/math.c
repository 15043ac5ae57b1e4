// SPDX-License-Identifier: GPL-2.0-only
/* MI_MATH: a 64-bit ALU whose operands are the general purpose registers. */
#include <linux/kernel.h>
#include "engine.h"

#define ALU_OPCODE(word) ((word) >> 20)
#define ALU_FIRST(word) ((word) >> 10 & 0x3ff)
#define ALU_SECOND(word) ((word)&0x3ff)

enum {
	ALU_NOOP = 0x000,
	ALU_LOAD = 0x080,
	ALU_LOAD0 = 0x081,
	ALU_ADD = 0x100,
	ALU_SUB = 0x101,
	ALU_AND = 0x102,
	ALU_OR = 0x103,
	ALU_XOR = 0x104,
	ALU_STORE = 0x180,
	ALU_LOADINV = 0x480,
	ALU_LOAD1 = 0x481,
	ALU_STOREINV = 0x580,
};

enum {
	ALU_SRCA = 0x20,
	ALU_SRCB = 0x21,
	ALU_ACCU = 0x31,
	ALU_ZF = 0x32,
	ALU_CF = 0x33,
};

struct alu {
	u64 a, b, accu;
	bool zero, carry;
};

static bool alu_read(const struct softgpu_engine *engine, const struct alu *alu, u32 operand,
		     u64 *value)
{
	if (operand < SOFTGPU_GPRS) {
		*value = softgpu_gpr(engine, operand);
		return true;
	}
	switch (operand) {
	case ALU_ACCU:
		*value = alu->accu;
		return true;
	case ALU_ZF: /* A flag is stored as all ones or all zeros. */
		*value = alu->zero ? ~0ULL : 0;
		return true;
	case ALU_CF:
		*value = alu->carry ? ~0ULL : 0;
		return true;
	default:
		return false;
	}
}

static bool alu_load(struct alu *alu, u32 operand, u64 value)
{
	if (operand == ALU_SRCA)
		alu->a = value;
	else if (operand == ALU_SRCB)
		alu->b = value;
	else
		return false;
	return true;
}

static bool alu_store(struct softgpu_engine *engine, u32 operand, u64 value)
{
	if (operand >= SOFTGPU_GPRS)
		return false;
	engine->gpr[2 * operand] = lower_32_bits(value);
	engine->gpr[2 * operand + 1] = upper_32_bits(value);
	return true;
}

static void alu_compute(struct alu *alu, u32 opcode)
{
	alu->carry = false;
	switch (opcode) {
	case ALU_ADD:
		alu->accu = alu->a + alu->b;
		alu->carry = alu->accu < alu->a;
		break;
	case ALU_SUB:
		alu->accu = alu->a - alu->b;
		alu->carry = alu->a < alu->b;
		break;
	case ALU_AND:
		alu->accu = alu->a & alu->b;
		break;
	case ALU_OR:
		alu->accu = alu->a | alu->b;
		break;
	case ALU_XOR:
		alu->accu = alu->a ^ alu->b;
		break;
	}
	alu->zero = !alu->accu;
}

static bool alu_step(struct softgpu_engine *engine, struct alu *alu, u32 word)
{
	u32 opcode = ALU_OPCODE(word);
	u64 value;

	switch (opcode) {
	case ALU_NOOP:
		return true;
	case ALU_LOAD0:
		return alu_load(alu, ALU_FIRST(word), 0);
	case ALU_LOAD1:
		return alu_load(alu, ALU_FIRST(word), ~0ULL); /* all ones, not the number 1 */
	case ALU_LOAD:
	case ALU_LOADINV:
		if (!alu_read(engine, alu, ALU_SECOND(word), &value))
			return false;
		return alu_load(alu, ALU_FIRST(word), opcode == ALU_LOAD ? value : ~value);
	case ALU_STORE:
	case ALU_STOREINV:
		if (!alu_read(engine, alu, ALU_SECOND(word), &value))
			return false;
		return alu_store(engine, ALU_FIRST(word), opcode == ALU_STORE ? value : ~value);
	case ALU_ADD:
	case ALU_SUB:
	case ALU_AND:
	case ALU_OR:
	case ALU_XOR:
		alu_compute(alu, opcode);
		return true;
	default:
		return false;
	}
}

int softgpu_mi_math(struct softgpu_engine *engine)
{
	struct alu alu = {};
	unsigned int i;

	for (i = 1; i < engine->packet_dwords; i++)
		if (!alu_step(engine, &alu, engine->packet[i]))
			return softgpu_error(engine, "MATH with the unknown word %#010x",
					     engine->packet[i]);
	return SOFTGPU_OK;
}
