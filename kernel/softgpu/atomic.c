// SPDX-License-Identifier: GPL-2.0-only
/* MI_ATOMIC: a read-modify-write that is atomic for other engines and the guest's CPUs. */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include "engine.h"

/* Without inline data, the operands are in R0 and R2. The result goes to R4 in both forms. */
#define OPERAND1_GPR 0
#define OPERAND2_GPR 2
#define RETURN_GPR 4

enum {
	OP_AND = 1,
	OP_OR,
	OP_XOR,
	OP_MOVE,
	OP_INC,
	OP_DEC,
	OP_ADD,
	OP_SUB,
	OP_RSUB,
	OP_IMAX,
	OP_IMIN,
	OP_UMAX,
	OP_UMIN,
	OP_CMPWR,
};

struct operands {
	u64 first, second;
};

/* The operands are sign-extended to 64 bits, so that one function serves both widths. */
static u64 atomic_result(unsigned int operation, s64 old, s64 first, s64 second, u64 mask)
{
	u64 a = (u64)old, b = (u64)first;

	switch (operation) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_MOVE:
		return b;
	case OP_INC:
		return a + 1;
	case OP_DEC:
		return a - 1;
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_RSUB:
		return b - a;
	case OP_IMAX:
		return old > first ? a : b;
	case OP_IMIN:
		return old < first ? a : b;
	case OP_UMAX:
		return (a & mask) > (b & mask) ? a : b;
	case OP_UMIN:
		return (a & mask) < (b & mask) ? a : b;
	default: /* OP_CMPWR: memory is compared with operand 1 */
		return (a & mask) == (b & mask) ? (u64)second : a;
	}
}

static u64 atomic32(u32 *p, unsigned int operation, const struct operands *operands)
{
	u32 old, new;

	do {
		old = READ_ONCE(*p);
		new = (u32)atomic_result(operation, (s32)old, (s32)operands->first,
					 (s32)operands->second, U32_MAX);
	} while (cmpxchg(p, old, new) != old);
	return new;
}

static u64 atomic64(u64 *p, unsigned int operation, const struct operands *operands)
{
	u64 old, new;

	do {
		old = READ_ONCE(*p);
		new = atomic_result(operation, (s64)old, (s64)operands->first,
				    (s64)operands->second, U64_MAX);
	} while (cmpxchg(p, old, new) != old);
	return new;
}

int softgpu_mi_atomic(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	u32 header = packet[0];
	unsigned int bytes = MI_ATOMIC_BYTES(header);
	unsigned int operation = MI_ATOMIC_OPERATION(header);
	u64 address = gen8_cmd_address(&packet[1]);
	struct operands operands;
	u64 result;
	u8 *p;
	int err;

	if (!gen8_atomic_valid(packet, engine->packet_dwords))
		return softgpu_error(engine, "ATOMIC %#010x at %#llx is not supported", header,
				     address);
	if (header & MI_ATOMIC_INLINE) {
		/* The dwords of the two operands are interleaved. */
		operands.first = (u64)packet[5] << 32 | packet[3];
		operands.second = (u64)packet[6] << 32 | packet[4];
	} else {
		operands.first = softgpu_gpr(engine, OPERAND1_GPR);
		operands.second = softgpu_gpr(engine, OPERAND2_GPR);
	}

	err = softgpu_map(engine, header & MI_USE_GGTT ? SOFTGPU_GGTT : SOFTGPU_PPGTT, address,
			  true, &p);
	if (err || !p)
		return err;
	if (bytes == 8)
		result = atomic64((u64 *)p, operation, &operands);
	else
		result = atomic32((u32 *)p, operation, &operands);
	softgpu_stream_drop_window(engine);
	if (header & MI_ATOMIC_RETURN) {
		engine->gpr[2 * RETURN_GPR] = lower_32_bits(result);
		if (bytes == 8)
			engine->gpr[2 * RETURN_GPR + 1] = upper_32_bits(result);
	}
	return SOFTGPU_OK;
}
