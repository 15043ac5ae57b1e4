// SPDX-License-Identifier: GPL-2.0-only
/* The register page of an engine. What is not listed here is storage. */
#include <linux/kernel.h>
#include "emu.h"

struct emu_engine *emu_engine_of(struct emu *emu, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if (offset - emu->engines[i].cs.base < ENGINE_REGISTERS_BYTES)
			return &emu->engines[i];
	return NULL;
}

bool emu_engine_stopped(const struct emu_engine *engine)
{
	return *emu_reg(engine->emu, engine->cs.base + RING_MI_MODE) & MI_MODE_STOP;
}

/* An engine stops between two commands, so a stopped engine is idle unless it hangs. */
static u32 mi_mode(const struct emu_engine *engine)
{
	u32 value = *emu_reg(engine->emu, engine->cs.base + RING_MI_MODE) & ~(u32)MI_MODE_IDLE;
	bool idle = engine->state == EMU_IDLE ||
		    (emu_engine_stopped(engine) && engine->state != EMU_HUNG);

	return value | (idle ? MI_MODE_IDLE : 0);
}

static u64 position(const struct emu_engine *engine)
{
	const struct softgpu_engine *cs = &engine->cs;

	return cs->level ? cs->streams[cs->level].address : (u64)cs->ring_start + cs->ring_head;
}

static u32 batch_address(const struct emu_engine *engine, unsigned int level)
{
	const struct softgpu_engine *cs = &engine->cs;

	return cs->level >= level ? (u32)cs->streams[level].address | RING_BB_VALID : 0;
}

static u32 batch_address_high(const struct emu_engine *engine, unsigned int level)
{
	const struct softgpu_engine *cs = &engine->cs;

	return cs->level >= level ? upper_32_bits(cs->streams[level].address) : 0;
}

static u32 batch_state(const struct emu_engine *engine, unsigned int level)
{
	const struct softgpu_engine *cs = &engine->cs;

	return cs->level >= level && cs->streams[level].space == SOFTGPU_PPGTT ? RING_BB_PPGTT : 0;
}

/* EXECLIST_STATUS: the context on the engine (PRM vol. 2c, "Execlist Status Register"). */
static u32 execlist_status(const struct emu_engine *engine)
{
	u32 value = 0;

	if (engine->state != EMU_IDLE)
		value |= BIT(engine->port ? 17 : 16) | (engine->port ? 1 : 0) << 14;
	return value | (engine->has_pending ? BIT(2) : 0);
}

static u32 csb_read(const struct emu_engine *engine, u32 at)
{
	u64 entry = engine->csb[(at - RING_CSB) / 8];

	return at & 4 ? upper_32_bits(entry) : lower_32_bits(entry);
}

static bool is_gpr(u32 at)
{
	return at - GEN8_RING_CS_GPR < GEN8_RING_CS_GPR_BYTES;
}

u32 emu_engine_read(struct emu_engine *engine, u32 offset)
{
	const struct softgpu_engine *cs = &engine->cs;
	u32 at = offset - cs->base;
	u32 stored = *emu_reg(engine->emu, offset);

	if (is_gpr(at))
		return cs->gpr[(at - GEN8_RING_CS_GPR) / 4];
	if (at - RING_CSB < 8 * GEN8_CSB_ENTRIES)
		return csb_read(engine, at);
	switch (at) {
	case RING_TAIL:
		return cs->ring_tail;
	case RING_HEAD:
		return cs->ring_head;
	case RING_START:
		return cs->ring_start;
	case RING_CTL:
		return cs->ring_bytes ? (cs->ring_bytes - GHYVI_PAGE_BYTES) | RING_CTL_ENABLE : 0;
	case RING_ACTHD:
		return lower_32_bits(position(engine));
	case RING_ACTHD_UDW:
		return upper_32_bits(position(engine));
	case RING_IPEHR:
		return cs->packet[0];
	case RING_BBADDR:
		return batch_address(engine, 1);
	case RING_BBADDR_UDW:
		return batch_address_high(engine, 1);
	case RING_BBSTATE:
		return batch_state(engine, 1);
	case RING_SBBADDR:
		return batch_address(engine, 2);
	case RING_SBBADDR_UDW:
		return batch_address_high(engine, 2);
	case RING_SBBSTATE:
		return batch_state(engine, 2);
	case RING_MI_MODE:
		return mi_mode(engine);
	case RING_EXECLIST_STATUS_LO:
		return execlist_status(engine);
	case RING_EXECLIST_STATUS_HI:
		return engine->state == EMU_IDLE ? 0 : upper_32_bits(engine->image.descriptor);
	case RING_CSB_POINTER:
		return (stored & ~(u32)CSB_POINTER_WRITE) | engine->csb_write;
	case RING_TIMESTAMP:
		return lower_32_bits(softgpu_engine_timestamp(cs));
	case RING_TIMESTAMP_UDW:
		return upper_32_bits(softgpu_engine_timestamp(cs));
	case RING_CTX_TIMESTAMP:
		return engine->state == EMU_IDLE ? stored : softgpu_context_timestamp(cs);
	default:
		return stored;
	}
}

/*
 * READY follows REQUEST at once; a catastrophic error does not occur (PRM vol. 2c, RESET_CTL).
 * Adversary: a busy engine never gets ready. i915 then resets it at its second try nevertheless
 * (gen8_reset_engines()).
 */
static void reset_control(struct emu_engine *engine, u32 value)
{
	u32 *reg = emu_reg(engine->emu, engine->cs.base + RING_RESET_CTL);

	*reg = emu_masked(*reg, value) & ~(u32)RESET_CTL_READY;
	if (*reg & RESET_CTL_REQUEST &&
	    (engine->state == EMU_IDLE || !emu_adversary_has(&engine->emu->adversary, EMU_UNREADY)))
		*reg |= RESET_CTL_READY;
}

static void hwsp_write(struct emu_engine *engine, u32 value)
{
	struct emu *emu = engine->emu;

	if (emu->hwsp_end && (value < emu->hwsp_start || value >= emu->hwsp_end))
		emu_violation(emu, EMU_HWSP, "%s: %#x", emu_engine_name(engine), value);
	*emu_reg(emu, engine->cs.base + RING_HWS_PGA) = value & (u32)GHYVI_PAGE_MASK;
}

static bool is_masked(u32 at)
{
	switch (at) {
	case RING_EXCC:
	case RING_PSMI_CTL:
	case RING_MI_MODE:
	case RING_INSTPM:
	case RING_CONTEXT_CONTROL:
	case RING_MODE:
		return true;
	default:
		return false;
	}
}

/* Registers that tell the engine's position are read-only for the CPU with execution lists. */
void emu_engine_write(struct emu_engine *engine, u32 offset, u32 value, enum emu_source source)
{
	u32 at = offset - engine->cs.base;
	u32 *reg = emu_reg(engine->emu, offset);

	if (is_gpr(at)) {
		engine->cs.gpr[(at - GEN8_RING_CS_GPR) / 4] = value;
		return;
	}
	if (is_masked(at)) {
		*reg = emu_masked(*reg, value);
		return;
	}
	switch (at) {
	case RING_ELSP:
		emu_elsp_write(engine, value);
		break;
	case RING_CSB_POINTER:
		emu_csb_pointer_write(engine, value);
		break;
	case RING_RESET_CTL:
		reset_control(engine, value);
		break;
	case RING_EIR:
		/* Only a reset clears an instruction error (PRM vol. 2c, "EIR"). */
		*reg &= ~value | RING_ERROR_INSTRUCTION;
		break;
	case RING_HWS_PGA:
		hwsp_write(engine, value);
		break;
	case RING_CTX_TIMESTAMP:
		engine->cs.context_timestamp = value;
		engine->cs.started_ns = ktime_get_ns();
		*reg = value;
		break;
	case RING_TIMESTAMP:
	case RING_TIMESTAMP_UDW:
	case RING_ESR:
		break;
	default:
		*reg = value;
	}
}
