// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register accesses by commands. GPRs and timestamps belong to the engine. The registers that a
 * context saves are in the job's copy of the context. All other registers are words of the vGPU's
 * register file; a write has none of the side effects of a write by the guest's CPU. The rules for
 * each register are in <ghyvi/commands.h>.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "engine.h"

static u32 file_read(const struct softgpu_engine *engine, u32 offset)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;

	return offset < params->registers_bytes ? READ_ONCE(params->registers[offset / 4]) : 0;
}

static void file_write(struct softgpu_engine *engine, u32 offset, u32 value)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;

	if (offset < params->registers_bytes)
		ghyvi_client_set_register(params, offset, value);
}

/* The word of a register in the job's context; NULL: it is in the register file. */
static u32 *context_word(const struct softgpu_engine *engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);
	int slot = rule ? ghyvi_register_slot(engine->id, rule, offset) : -1;

	return slot < 0 ? NULL : &engine->job->context[ghyvi_context_value(slot)];
}

u32 softgpu_register_peek(const struct softgpu_engine *engine, u32 offset)
{
	const u32 *word = context_word(engine, offset);

	return word ? *word : file_read(engine, offset);
}

void softgpu_register_poke(struct softgpu_engine *engine, u32 offset, u32 value)
{
	u32 *word = context_word(engine, offset);

	if (word)
		*word = value;
	else
		file_write(engine, offset, value);
}

/* Test whether the guest kernel has listed the register in a NONPRIV slot for user batches. */
static bool is_listed(const struct softgpu_engine *engine, u32 offset)
{
	unsigned int i;

	if (engine->id != GHYVI_RCS)
		return false;
	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++)
		if ((file_read(engine, RING_FORCE_TO_NONPRIV_FIRST + 4 * i) &
		     RING_FORCE_TO_NONPRIV_ADDRESS_MASK) == offset)
			return true;
	return false;
}

static u32 *gpr_at(struct softgpu_engine *engine, u32 offset)
{
	return &engine->gpr[(offset - engine->base - GEN8_RING_CS_GPR) / 4];
}

/*
 * Timestamps of any engine can be read; CTX_TIMESTAMP only of the engine that executes the command.
 * Other registers that commands only read have what the guest's CPU wrote.
 */
static u32 read_only(const struct softgpu_engine *engine, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		switch (offset - engine->gpu->engines[i].base) {
		case RING_TIMESTAMP:
			return lower_32_bits(softgpu_engine_timestamp(engine));
		case RING_TIMESTAMP_UDW:
			return upper_32_bits(softgpu_engine_timestamp(engine));
		case RING_CTX_TIMESTAMP:
			return i == engine->id ? softgpu_context_timestamp(engine) : 0;
		}
	}
	return file_read(engine, offset);
}

int softgpu_register_read(struct softgpu_engine *engine, u32 field, u32 *value)
{
	u32 offset = field & GHYVI_REGISTER_MASK;
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);

	if (offset >= GHYVI_REGISTERS_END)
		return softgpu_error(engine, "register %#x is beyond the register file", offset);
	*value = 0;
	if (!rule || rule->right == GHYVI_REGISTER_CONTROL)
		return SOFTGPU_OK;
	if (rule->right == GHYVI_REGISTER_GPR)
		*value = *gpr_at(engine, offset);
	else if (rule->right == GHYVI_REGISTER_READ_ONLY)
		*value = read_only(engine, offset);
	else
		*value = softgpu_register_peek(engine, offset);
	return SOFTGPU_OK;
}

/* Write the bits that the byte disables, or the mask in a masked register's high half, select. */
static void merge_write(struct softgpu_engine *engine, u32 offset, u32 value, u32 byte_disables,
			bool masked)
{
	u32 old = softgpu_register_peek(engine, offset);
	u32 bits = 0;
	unsigned int i;

	if (masked) {
		softgpu_register_poke(engine, offset,
				      (old & ~(value >> 16) & 0xffff) | (value & (value >> 16)));
		return;
	}
	for (i = 0; i < 4; i++)
		if (!(byte_disables & BIT(i)))
			bits |= 0xffu << 8 * i;
	softgpu_register_poke(engine, offset, (old & ~bits) | (value & bits));
}

/*
 * Hardware executes the indirect context batch after it has restored the command streamer, and
 * before the other registers of the context: a write to one of those is lost, as the image has the
 * value that counts. i915 clears a bit of COMMON_SLICE_CHICKEN2 in that batch, which user batches
 * may set.
 */
static bool is_restored_later(const struct softgpu_engine *engine,
			      const struct ghyvi_register_rule *rule, u32 offset)
{
	return engine->streams[engine->level].end && engine->job->restore &&
	       offset - engine->base >= ENGINE_REGISTERS_BYTES &&
	       ghyvi_register_slot(engine->id, rule, offset) >= 0;
}

int softgpu_register_write(struct softgpu_engine *engine, u32 field, u32 value, u32 byte_disables)
{
	bool privileged = softgpu_stream(engine)->privileged;
	u32 offset = field & GHYVI_REGISTER_MASK;
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);
	bool listed;

	if (offset >= GHYVI_REGISTERS_END)
		return softgpu_error(engine, "register %#x is beyond the register file", offset);
	listed = rule && rule->right == GHYVI_REGISTER_LISTED && is_listed(engine, offset);
	switch (ghyvi_register_write_rule(engine->id, rule, offset, privileged, byte_disables,
					  listed)) {
	case GHYVI_REFUSED:
		return softgpu_error(engine,
				     rule ? "register %#x written in bytes" :
					    "register %#x must not be written by commands",
				     offset);
	case GHYVI_DROPPED:
		return SOFTGPU_OK;
	default:
		break;
	}
	/*
	 * A command streamer cannot stop itself, so the STOP bit must not reach the register file.
	 */
	if (offset - engine->base == RING_MI_MODE)
		value &= ~(MI_MODE_STOP | MI_MODE_STOP << 16);
	if (is_restored_later(engine, rule, offset))
		return SOFTGPU_OK;
	if (rule->right == GHYVI_REGISTER_GPR)
		*gpr_at(engine, offset) = value;
	else
		merge_write(engine, offset, value, byte_disables, rule->masked);
	return SOFTGPU_OK;
}

u64 softgpu_acthd(struct softgpu_engine *engine)
{
	return engine->level ? softgpu_stream(engine)->address :
			       (u64)engine->ring_start + engine->ring_head;
}

void softgpu_registers_publish(struct softgpu_engine *engine)
{
	u64 acthd = softgpu_acthd(engine);

	lockdep_assert_held(&engine->access);
	file_write(engine, engine->base + RING_HEAD, engine->ring_head);
	file_write(engine, engine->base + RING_START, engine->ring_start);
	file_write(engine, engine->base + RING_CTL, (engine->ring_bytes - GHYVI_PAGE_BYTES) | 1);
	file_write(engine, engine->base + RING_IPEHR, engine->packet[0]);
	file_write(engine, engine->base + RING_ACTHD, lower_32_bits(acthd));
	file_write(engine, engine->base + RING_ACTHD_UDW, upper_32_bits(acthd));
	if (engine->level) {
		file_write(engine, engine->base + RING_BBADDR, lower_32_bits(acthd) | 1);
		file_write(engine, engine->base + RING_BBADDR_UDW, upper_32_bits(acthd));
	}
}
