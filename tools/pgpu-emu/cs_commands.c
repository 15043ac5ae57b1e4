// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands by the hardware's rules. Rings and batches in the GGTT are privileged: they may do
 * everything. A batch in the PPGTT is not. Its forbidden commands become NOOPs, and its register
 * writes are dropped unless the register is in the built-in list or in a FORCE_TO_NONPRIV slot
 * (PRM vol. 2a, MI_BATCH_BUFFER_START, "User Mode Privileged Commands"). The blitter of Gen9 checks
 * no register (i915_cmd_parser.c, CVE-2019-0155).
 *
 * MI_SET_PREDICATE belongs to the engine. The manual confines it to a batch, whose end ends it
 * here: i915 repairs a stray one after a user batch only from Gen12.5 on. A ring that leaves it on
 * breaks the manual's rule; then it lasts until something turns it off, in whichever context.
 *
 * Blits, MI_MATH, MI_ATOMIC and the post-sync operations are executed by softgpu's code.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <ghyvi/gen8_cmds.h>
#include "emu.h"

/* Adversary: longer than drivers like to wait; i915 waits for 640 ms. */
#define SLOW_DRAW_ONE_IN 2
#define SLOW_DRAW_NS (200 * NSEC_PER_MSEC)

#define MI_OPCODES 64
#define MI_ARB_ON BIT(0)
/* Upper halves of headers. */
#define RENDER_3DPRIMITIVE 0x7b00

/* ---- registers ---- */

/* What a batch in the PPGTT may write (PRM vol. 7, "User Mode Non-Privileged Registers"). */
static const struct {
	u32 first, last;
} user_registers[] = {
	{ 0x2290, 0x2294 }, { 0x2300, 0x2357 },
	{ 0x2400, 0x241f }, { 0x2420, 0x2420 },
	{ 0x2430, 0x2443 }, { 0x2500, 0x250b },
	{ 0x5200, 0x521f }, { 0x5240, 0x525f },
	{ 0x5280, 0x528f }, { BCS_SWCTRL, BCS_SWCTRL + 3 },
};

/* From Coffee Lake on a slot says which accesses it opens, and to 1, 4, 16 or 64 registers. */
static bool slot_opens(const struct emu_engine *engine, u32 slot, u32 offset)
{
	u32 address = slot & RING_FORCE_TO_NONPRIV_ADDRESS_MASK, registers = 1;

	if (engine->emu->platform->slots_have_rights) {
		if (slot & RING_FORCE_TO_NONPRIV_READ_ONLY)
			return false;
		registers <<= 2 * (slot & RING_FORCE_TO_NONPRIV_RANGE);
	}
	return offset - address < 4 * registers;
}

static bool is_slotted(struct emu_engine *engine, u32 offset)
{
	unsigned int i;

	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++)
		if (slot_opens(engine, *emu_reg(engine->emu, EMU_NONPRIV_SLOT(engine, i)), offset))
			return true;
	return false;
}

static bool may_write(struct emu_engine *engine, u32 offset)
{
	unsigned int i;

	if (softgpu_stream(&engine->cs)->privileged || engine->cs.id == GHYVI_BCS)
		return true;
	if (offset - engine->cs.base - GEN8_RING_CS_GPR < GEN8_RING_CS_GPR_BYTES)
		return true;
	for (i = 0; i < ARRAY_SIZE(user_registers); i++)
		if (offset - user_registers[i].first <=
		    user_registers[i].last - user_registers[i].first)
			return true;
	return is_slotted(engine, offset);
}

/*
 * Hardware goes on after a forbidden command, and tells in EIR if that is unmasked (PRM vol. 2c,
 * "EIR", Command Privilege Violation).
 */
static int privilege_violation(struct emu_engine *engine)
{
	struct emu *emu = engine->emu;

	if (*emu_reg(emu, engine->cs.base + RING_EMR) & RING_ERROR_PRIVILEGE)
		return SOFTGPU_OK;
	*emu_reg(emu, engine->cs.base + RING_EIR) |= RING_ERROR_PRIVILEGE;
	emu_irq_raise(engine, EMU_IRQ_ERROR);
	return SOFTGPU_OK;
}

static void write_register(struct emu_engine *engine, u32 field, u32 value)
{
	u32 offset = field & GHYVI_REGISTER_MASK;

	if (may_write(engine, offset))
		emu_reg_write(engine->emu, offset, value, EMU_CS);
	else
		privilege_violation(engine);
}

static u32 read_register(struct emu_engine *engine, u32 field)
{
	return emu_reg_read(engine->emu, field & GHYVI_REGISTER_MASK, EMU_CS);
}

/* ---- MI ---- */

static enum softgpu_space mi_space(u32 header)
{
	return header & MI_USE_GGTT ? SOFTGPU_GGTT : SOFTGPU_PPGTT;
}

static int mi_noop(struct emu_engine *engine)
{
	u32 header = engine->cs.packet[0];

	if (header & BIT(22))
		*emu_reg(engine->emu, engine->cs.base + RING_NOPID) = header & GENMASK(21, 0);
	return SOFTGPU_OK;
}

static int mi_user_interrupt(struct emu_engine *engine)
{
	emu_irq_raise(engine, EMU_IRQ_USER);
	return SOFTGPU_OK;
}

static int mi_arb_check(struct emu_engine *engine)
{
	engine->arbitration_point = true;
	return SOFTGPU_OK;
}

static int mi_arb_on_off(struct emu_engine *engine)
{
	engine->arbitration = engine->cs.packet[0] & MI_ARB_ON;
	return SOFTGPU_OK;
}

static bool predicate_bit(const struct emu_engine *engine, u32 at)
{
	return *emu_reg(engine->emu, engine->cs.base + at) & 1;
}

/* The fuses say that there is one slice. */
static int mi_set_predicate(struct emu_engine *engine)
{
	bool noop = false;

	switch (MI_SET_PREDICATE_ENABLE(engine->cs.packet[0])) {
	case MI_SET_PREDICATE_RESULT2_CLEAR:
		noop = !predicate_bit(engine, MI_PREDICATE_RESULT_2);
		break;
	case MI_SET_PREDICATE_RESULT2_SET:
		noop = predicate_bit(engine, MI_PREDICATE_RESULT_2);
		break;
	case MI_SET_PREDICATE_RESULT_CLEAR:
		noop = !predicate_bit(engine, MI_PREDICATE_RESULT);
		break;
	case MI_SET_PREDICATE_RESULT_SET:
		noop = predicate_bit(engine, MI_PREDICATE_RESULT);
		break;
	case MI_SET_PREDICATE_NOT_2_SLICES:
	case MI_SET_PREDICATE_NOT_3_SLICES:
	case MI_SET_PREDICATE_ALWAYS:
		noop = true;
		break;
	}
	engine->predicated = noop && engine->cs.id == GHYVI_RCS;
	return SOFTGPU_OK;
}

static bool is_never_predicated(u32 header)
{
	switch (MI_OPCODE(header)) {
	case MI_SET_PREDICATE_OP:
	case MI_BATCH_BUFFER_START_OP:
	case MI_BATCH_BUFFER_END_OP:
	case MI_CONDITIONAL_BATCH_BUFFER_END_OP:
		return softgpu_packet_type(header) == SOFTGPU_PACKET_MI;
	default:
		return false;
	}
}

static int mi_batch_end(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;

	if (!cs->level)
		return softgpu_error(cs, "BATCH_BUFFER_END in the ring");
	cs->level--;
	engine->predicated = false;
	softgpu_stream_drop_window(cs);
	return SOFTGPU_OK;
}

/*
 * A batch inherits at most the privilege of the stream that starts it: one in the PPGTT starts
 * others there only, whatever bit 8 says (i915's igt_cs_tlb() chains so). Bit 22 calls a
 * second-level batch from a batch; elsewhere it has no effect.
 */
static int mi_batch_start(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 header = cs->packet[0];
	bool ppgtt = header & MI_BATCH_PPGTT_HSW || !softgpu_stream(cs)->privileged;
	struct softgpu_stream stream = {
		.address = gen8_cmd_address(&cs->packet[1]),
		.space = ppgtt ? SOFTGPU_PPGTT : SOFTGPU_GGTT,
		.privileged = !ppgtt,
	};
	unsigned int level = cs->level ?: 1;

	if (header & MI_BATCH_PREDICATE && !predicate_bit(engine, MI_PREDICATE_RESULT_1))
		return SOFTGPU_OK;
	if (header & MI_BATCH_SECOND_LEVEL && cs->level == 1)
		level = 2;
	return softgpu_stream_push(cs, level, &stream);
}

static int mi_conditional_end(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 header = cs->packet[0];
	u32 data = header & MI_DO_COMPARE ? cs->packet[1] : 0;
	u32 value;
	int err = softgpu_read32(cs, mi_space(header), gen8_cmd_address(&cs->packet[2]), &value);

	if (err)
		return err;
	return value > data ? SOFTGPU_OK : mi_batch_end(engine);
}

static int mi_store_data(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 header = cs->packet[0];
	u64 address = gen8_cmd_address(&cs->packet[1]);
	unsigned int step = header & MI_STORE_QWORD_IMM ? 2 : 1;
	unsigned int i;
	int err = 0;

	for (i = 3; i + step <= cs->packet_dwords && !err; i += step, address += 4 * step) {
		const u32 *data = &cs->packet[i];

		if (step == 2)
			err = softgpu_write64(cs, mi_space(header), address,
					      (u64)data[1] << 32 | data[0]);
		else
			err = softgpu_write32(cs, mi_space(header), address, data[0]);
	}
	return err;
}

static int mi_load_imm(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 disables = MI_LRI_BYTE_DISABLES(cs->packet[0]);
	unsigned int i, byte;

	for (i = 1; i + 1 < cs->packet_dwords; i += 2) {
		u32 value = cs->packet[i + 1], old = 0;

		if (disables)
			old = read_register(engine, cs->packet[i]);
		for (byte = 0; byte < 4; byte++)
			if (disables & BIT(byte))
				value = (value & ~(0xffu << 8 * byte)) | (old & 0xffu << 8 * byte);
		write_register(engine, cs->packet[i], value);
	}
	return SOFTGPU_OK;
}

/* MI_UPDATE_GTT: entries of 64 bits from the address in dword 1 on. */
static int mi_update_gtt(struct emu_engine *engine)
{
	const u32 *packet = engine->cs.packet;
	u32 index = (packet[1] & MI_UPDATE_GTT_ADDRESS_MASK) >> GHYVI_PAGE_SHIFT;
	unsigned int i;

	for (i = 2; i + 1 < engine->cs.packet_dwords; i += 2, index++)
		emu_ggtt_write(engine->emu, EMU_GGTT_OFFSET + 8 * index,
			       (u64)packet[i + 1] << 32 | packet[i], 8);
	return SOFTGPU_OK;
}

static int mi_store_register(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 value = read_register(engine, cs->packet[1]);

	return softgpu_write32(cs, mi_space(cs->packet[0]), gen8_cmd_address(&cs->packet[2]),
			       value);
}

static int mi_load_register(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 value;
	int err = softgpu_read32(cs, mi_space(cs->packet[0]), gen8_cmd_address(&cs->packet[2]),
				 &value);

	if (!err)
		write_register(engine, cs->packet[1], value);
	return err;
}

static int mi_copy_register(struct emu_engine *engine)
{
	const u32 *packet = engine->cs.packet;

	write_register(engine, packet[2], read_register(engine, packet[1]));
	return SOFTGPU_OK;
}

static int mi_copy_memory(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 header = cs->packet[0];
	u32 value;
	int err = softgpu_read32(cs, mi_space(header), gen8_cmd_address(&cs->packet[3]), &value);

	return err   ?:
		       softgpu_write32(
			       cs, header & MI_COPY_MEM_MEM_DST_GGTT ? SOFTGPU_GGTT : SOFTGPU_PPGTT,
			       gen8_cmd_address(&cs->packet[1]), value);
}

/* Signal mode waits for MI_SEMAPHORE_SIGNAL on real hardware; polling sees the same value. */
static int mi_semaphore_wait(struct emu_engine *engine)
{
	struct softgpu_engine *cs = &engine->cs;
	u32 header = cs->packet[0];
	u32 value;
	int err = 0;

	if (header & MI_SEMAPHORE_REGISTER_POLL)
		value = read_register(engine, cs->packet[2]);
	else
		err = softgpu_read32(cs, mi_space(header), gen8_cmd_address(&cs->packet[2]),
				     &value);
	if (err)
		return err;
	if (!gen8_semaphore_passes(MI_SEMAPHORE_COMPARE(header), value, cs->packet[1]))
		return SOFTGPU_AGAIN;
	engine->arbitration_point = true;
	return SOFTGPU_OK;
}

/*
 * In a user batch the flush is sent, but a post-sync write to the GGTT or a status page is dropped
 * (PRM vol. 2a, as above).
 */
static int flush_dw(struct emu_engine *engine)
{
	u32 *packet = engine->cs.packet;
	int status;

	emu_late_writes_drain(engine);
	if (!softgpu_stream(&engine->cs)->privileged &&
	    (packet[0] & GEN8_POST_STORE_INDEX || packet[1] & MI_FLUSH_DW_USE_GTT))
		packet[0] &= ~(u32)GEN8_POST_SYNC_MASK;
	status = softgpu_mi_flush_dw(&engine->cs);
	emu_late_writes_drain(engine); /* the post-sync write completes the flush */
	return status;
}

static int pipe_control(struct emu_engine *engine)
{
	u32 *packet = engine->cs.packet;
	int status;

	emu_late_writes_drain(engine);
	if (packet[1] & PIPE_CONTROL_FLUSH_L3) {
		engine->eu_used = false;
		engine->eu_foreign = false;
	}
	if (packet[1] & PIPE_CONTROL_MMIO_WRITE) {
		if (softgpu_stream(&engine->cs)->privileged)
			write_register(engine, packet[2], packet[4]);
		packet[1] &= ~(u32)(PIPE_CONTROL_MMIO_WRITE | GEN8_POST_SYNC_MASK);
	}
	if (!softgpu_stream(&engine->cs)->privileged &&
	    packet[1] & (GEN8_POST_STORE_INDEX | PIPE_CONTROL_GLOBAL_GTT_IVB))
		packet[1] &= ~(u32)GEN8_POST_SYNC_MASK;
	status = softgpu_pipe_control(&engine->cs);
	emu_late_writes_drain(engine);
	return status;
}

static int mi_store_index(struct emu_engine *engine)
{
	return softgpu_mi_store_index(&engine->cs);
}

static int mi_math(struct emu_engine *engine)
{
	return softgpu_mi_math(&engine->cs);
}

static int mi_atomic(struct emu_engine *engine)
{
	return softgpu_mi_atomic(&engine->cs);
}

/* Commands that dispatch threads; media objects have several subopcodes. */
static bool dispatches_threads(const struct emu_engine *engine)
{
	const u32 header = engine->cs.packet[0];

	return engine->cs.id == GHYVI_RCS &&
	       (header >> 16 == RENDER_3DPRIMITIVE || gen8_is_dispatch(header));
}

/*
 * Threads begin with what those before them have left in registers and local memory. Only a
 * PIPE_CONTROL clears it (i915: gen9_init_indirectctx_bb(), for CVE-2019-14615).
 */
static int render_command(struct emu_engine *engine)
{
	if (engine->cs.id == GHYVI_RCS && engine->cs.packet[0] == GPGPU_CSR_BASE_ADDRESS) {
		engine->csr_base[0] = engine->cs.packet[1] & GHYVI_PAGE_MASK;
		engine->csr_base[1] = engine->cs.packet[2];
	}
	if (!dispatches_threads(engine))
		return emu_compute_command(engine);
	if (emu_adversary_strikes(&engine->emu->adversary, EMU_SLOW_DRAW, SLOW_DRAW_ONE_IN))
		engine->draws_until_ns =
			ktime_get_ns() + emu_random(&engine->emu->adversary, SLOW_DRAW_NS);
	if (engine->eu_foreign)
		emu_violation(engine->emu, EMU_EU_STATE, "context %#x: command %#010x",
			      engine->image.lrca, engine->cs.packet[0]);
	engine->eu_used = true;
	return emu_compute_command(engine);
}

/* A command without a handler has no effect that software could see here. */
static int (*const mi_execute[MI_OPCODES])(struct emu_engine *engine) = {
	[MI_NOOP_OP] = mi_noop,
	[MI_SET_PREDICATE_OP] = mi_set_predicate,
	[MI_USER_INTERRUPT_OP] = mi_user_interrupt,
	[MI_ARB_CHECK_OP] = mi_arb_check,
	[MI_ARB_ON_OFF_OP] = mi_arb_on_off,
	[MI_BATCH_BUFFER_END_OP] = mi_batch_end,
	[MI_MATH_OP] = mi_math,
	[MI_SEMAPHORE_WAIT_OP] = mi_semaphore_wait,
	[MI_STORE_DATA_IMM_OP] = mi_store_data,
	[MI_STORE_DATA_INDEX_OP] = mi_store_index,
	[MI_LOAD_REGISTER_IMM_OP] = mi_load_imm,
	[MI_UPDATE_GTT_OP] = mi_update_gtt,
	[MI_STORE_REGISTER_MEM_OP] = mi_store_register,
	[MI_FLUSH_DW_OP] = flush_dw,
	[MI_LOAD_REGISTER_MEM_OP] = mi_load_register,
	[MI_LOAD_REGISTER_REG_OP] = mi_copy_register,
	[MI_COPY_MEM_MEM_OP] = mi_copy_memory,
	[MI_ATOMIC_OP] = mi_atomic,
	[MI_BATCH_BUFFER_START_OP] = mi_batch_start,
	[MI_CONDITIONAL_BATCH_BUFFER_END_OP] = mi_conditional_end,
};

/* Commands that become NOOPs in a batch in the PPGTT. */
static bool is_forbidden(u32 header)
{
	switch (MI_OPCODE(header)) {
	case MI_ARB_ON_OFF_OP:
	case MI_SUSPEND_FLUSH_OP:
	case MI_LOAD_SCAN_LINES_INCL_OP:
	case MI_LOAD_SCAN_LINES_EXCL_OP:
	case MI_DISPLAY_FLIP_OP:
	case MI_SET_CONTEXT_OP:
	case MI_UPDATE_GTT_OP:
	case MI_STORE_DATA_INDEX_OP:
		return true;
	case MI_STORE_DATA_IMM_OP:
	case MI_STORE_REGISTER_MEM_OP:
	case MI_LOAD_REGISTER_MEM_OP:
	case MI_ATOMIC_OP:
	case MI_SEMAPHORE_WAIT_OP:
	case MI_CONDITIONAL_BATCH_BUFFER_END_OP:
		return header & MI_USE_GGTT;
	case MI_COPY_MEM_MEM_OP:
		return header & (MI_USE_GGTT | MI_COPY_MEM_MEM_DST_GGTT);
	default:
		return false;
	}
}

static int mi_command(struct emu_engine *engine)
{
	u32 header = engine->cs.packet[0];

	if (!softgpu_stream(&engine->cs)->privileged && is_forbidden(header))
		return privilege_violation(engine);
	if (!mi_execute[MI_OPCODE(header)])
		return SOFTGPU_OK;
	return mi_execute[MI_OPCODE(header)](engine);
}

/* ---- dispatch ---- */

bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return softgpu_packet_type(header) == SOFTGPU_PACKET_3D &&
	       !softgpu_is_pipe_control(command) && header != GPGPU_CSR_BASE_ADDRESS &&
	       !emu_compute_takes(header);
}

/* The engine sees its own stores: those that fetch or access memory otherwise wait for them. */
static bool sees_stores(u32 header)
{
	if (softgpu_packet_type(header) == SOFTGPU_PACKET_3D)
		return emu_compute_takes(header);
	return softgpu_packet_type(header) == SOFTGPU_PACKET_2D ||
	       MI_OPCODE(header) == MI_ATOMIC_OP || MI_OPCODE(header) == MI_BATCH_BUFFER_START_OP ||
	       MI_OPCODE(header) == MI_BATCH_BUFFER_END_OP;
}

int emu_command(struct emu_engine *engine)
{
	if (sees_stores(engine->cs.packet[0]))
		emu_late_writes_drain(engine);
	if (engine->predicated && !is_never_predicated(engine->cs.packet[0]))
		return SOFTGPU_OK;
	switch (softgpu_packet_type(engine->cs.packet[0])) {
	case SOFTGPU_PACKET_MI:
		return mi_command(engine);
	case SOFTGPU_PACKET_2D:
		return softgpu_blt(&engine->cs);
	default:
		return softgpu_is_pipe_control(engine->cs.command) ? pipe_control(engine) :
								     render_command(engine);
	}
}
