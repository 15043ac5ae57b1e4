// SPDX-License-Identifier: GPL-2.0-only
/*
 * MI commands: batches, stores, register accesses, semaphores. The rules of each domain are in
 * <ghyvi/commands.h>.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include "engine.h"

#define MI_OPCODES 64

static enum softgpu_space mi_space(u32 header)
{
	return header & MI_USE_GGTT ? SOFTGPU_GGTT : SOFTGPU_PPGTT;
}

static int mi_user_interrupt(struct softgpu_engine *engine)
{
	engine->events |= GHYVI_EVENT_USER_INTERRUPT;
	return SOFTGPU_OK;
}

static int mi_batch_end(struct softgpu_engine *engine)
{
	if (!engine->level)
		return softgpu_error(engine, "BATCH_BUFFER_END in the ring");
	if (softgpu_stream(engine)->end)
		return softgpu_error(engine, "BATCH_BUFFER_END in an indirect context batch");
	softgpu_stream_pop(engine);
	return SOFTGPU_OK;
}

static int mi_batch_start(struct softgpu_engine *engine)
{
	const struct softgpu_stream *from = softgpu_stream(engine);
	u32 header = engine->packet[0];
	struct softgpu_stream stream = { .address = gen8_cmd_address(&engine->packet[1]) };
	unsigned int level = engine->level ?: 1;

	if (from->end)
		return softgpu_error(engine, "BATCH_BUFFER_START in an indirect context batch");
	if (header & MI_BATCH_SECOND_LEVEL) {
		if (engine->level != 1)
			return softgpu_error(engine, "second-level batch started from %s",
					     engine->level ? "a second-level batch" : "the ring");
		level = 2;
	}
	/* As on hardware, user batches start others in the PPGTT only, whatever bit 8 says. */
	stream.privileged = from->privileged && !(header & MI_BATCH_PPGTT_HSW);
	stream.space = stream.privileged ? SOFTGPU_GGTT : SOFTGPU_PPGTT;
	if (header & MI_BATCH_PREDICATE && !softgpu_predicate(engine, MI_PREDICATE_RESULT_1))
		return SOFTGPU_OK;
	if (header & MI_BATCH_ADD_OFFSET) {
		if (stream.privileged)
			return softgpu_error(engine, "GGTT batch at a variable offset");
		stream.address += softgpu_register_peek(engine, engine->base + BB_OFFSET) &
				  BB_OFFSET_MASK;
	}
	return softgpu_stream_push(engine, level, &stream);
}

static int mi_conditional_end(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	u32 data = header & MI_DO_COMPARE ? engine->packet[1] : 0;
	u64 address = gen8_cmd_address(&engine->packet[2]);
	u32 value, mask = ~0u;
	int err = 0;

	/* Whether the batch would end or not. */
	if (!engine->level || softgpu_stream(engine)->end)
		return softgpu_error(engine, "CONDITIONAL_BATCH_BUFFER_END outside of a batch");

	/* With a mask, memory is an aligned qword: the mask, then the value. */
	if (header & MI_COMPARE_MASK && engine->client->base.params.gen >= 9) {
		err = softgpu_read32(engine, mi_space(header), address & ~4ULL, &mask);
		address |= 4;
	}
	if (!err)
		err = softgpu_read32(engine, mi_space(header), address, &value);
	if (err)
		return err;
	return (value & mask) > data ? SOFTGPU_OK : mi_batch_end(engine);
}

static int mi_store_data(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	u64 address = gen8_cmd_address(&engine->packet[1]);
	unsigned int step = header & MI_STORE_QWORD_IMM ? 2 : 1;
	unsigned int i;
	int err = 0;

	if (!gen8_store_data_valid(header, engine->packet_dwords))
		return softgpu_error(engine, "STORE_DATA_IMM of %u dwords in qwords",
				     engine->packet_dwords - 3);
	for (i = 3; i < engine->packet_dwords && !err; i += step, address += 4 * step) {
		const u32 *data = &engine->packet[i];

		if (step == 2)
			err = softgpu_write64(engine, mi_space(header), address,
					      (u64)data[1] << 32 | data[0]);
		else
			err = softgpu_write32(engine, mi_space(header), address, data[0]);
	}
	return err;
}

/* A report has an identification, the time, and no counts: nothing is drawn. */
static int mi_report_perf(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	u64 address = gen8_cmd_address(&packet[1]) & MI_REPORT_ADDRESS_MASK;
	bool ggtt = packet[1] & MI_REPORT_USE_GGTT;
	unsigned int i;
	u32 value;
	int err = 0;

	/* ghyvi_command_rule() has checked only bit 22 of the header. */
	if (ggtt && !softgpu_stream(engine)->privileged)
		return SOFTGPU_OK;
	for (i = 0; i < MI_REPORT_DWORDS && !err; i++) {
		value = i == 0 ? packet[3] :
			i == 1 ? lower_32_bits(softgpu_engine_timestamp(engine)) :
				 0;
		err = softgpu_write32(engine, ggtt ? SOFTGPU_GGTT : SOFTGPU_PPGTT, address + 4 * i,
				      value);
	}
	return err;
}

static int mi_load_imm(struct softgpu_engine *engine)
{
	u32 disables = MI_LRI_BYTE_DISABLES(engine->packet[0]);
	unsigned int i;
	int err = 0;

	if (!(engine->packet_dwords & 1))
		return softgpu_error(engine, "LOAD_REGISTER_IMM without a last value");
	for (i = 1; i < engine->packet_dwords && !err; i += 2)
		err = softgpu_register_write(engine, engine->packet[i], engine->packet[i + 1],
					     disables);
	return err;
}

static int mi_store_register(struct softgpu_engine *engine)
{
	u32 value;
	int err = softgpu_register_read(engine, engine->packet[1], &value);

	if (engine->packet[0] & MI_SRM_PREDICATE && !softgpu_predicate(engine, MI_PREDICATE_RESULT))
		return err;
	if (err)
		return err;
	return softgpu_write32(engine, mi_space(engine->packet[0]),
			       gen8_cmd_address(&engine->packet[2]), value);
}

static int mi_load_register(struct softgpu_engine *engine)
{
	u32 value;
	int err = softgpu_read32(engine, mi_space(engine->packet[0]),
				 gen8_cmd_address(&engine->packet[2]), &value);

	return err ?: softgpu_register_write(engine, engine->packet[1], value, 0);
}

static int mi_copy_register(struct softgpu_engine *engine)
{
	u32 value;
	int err = softgpu_register_read(engine, engine->packet[1], &value);

	return err ?: softgpu_register_write(engine, engine->packet[2], value, 0);
}

static int mi_copy_memory(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	bool dst_ggtt = header & MI_COPY_MEM_MEM_DST_GGTT;
	u32 value;
	int err;

	/* ghyvi_command_rule() has checked only bit 22, the GGTT bit of the source. */
	if (dst_ggtt && !softgpu_stream(engine)->privileged)
		return SOFTGPU_OK;
	err = softgpu_read32(engine, mi_space(header), gen8_cmd_address(&engine->packet[3]),
			     &value);
	if (err)
		return err;
	return softgpu_write32(engine, dst_ggtt ? SOFTGPU_GGTT : SOFTGPU_PPGTT,
			       gen8_cmd_address(&engine->packet[1]), value);
}

static int mi_semaphore_wait(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	unsigned int compare = MI_SEMAPHORE_COMPARE(header);
	u32 value;
	int err;

	if (softgpu_stream(engine)->end)
		return softgpu_error(engine, "SEMAPHORE_WAIT in an indirect context batch");
	if (header & MI_SEMAPHORE_REGISTER_POLL || compare > 5)
		return softgpu_error(engine, "SEMAPHORE_WAIT %#010x: mode not supported", header);
	err = softgpu_read32(engine, mi_space(header), gen8_cmd_address(&engine->packet[2]),
			     &value);
	if (err)
		return err;
	if (!gen8_semaphore_passes(compare, value, engine->packet[1]))
		return SOFTGPU_AGAIN;
	engine->pause_ns = 0;
	return SOFTGPU_OK;
}

/*
 * Handlers by opcode. A command without a handler has no effect. That includes ARB_ON_OFF:
 * submissions of the guest do not preempt each other, and preemption by the host is invisible to
 * the guest.
 */
static int (*const mi_execute[MI_OPCODES])(struct softgpu_engine *engine) = {
	[MI_SET_PREDICATE_OP] = softgpu_mi_set_predicate,
	[MI_USER_INTERRUPT_OP] = mi_user_interrupt,
	[MI_BATCH_BUFFER_END_OP] = mi_batch_end,
	[MI_PREDICATE_OP] = softgpu_mi_predicate,
	[MI_MATH_OP] = softgpu_mi_math,
	[MI_SEMAPHORE_WAIT_OP] = mi_semaphore_wait,
	[MI_STORE_DATA_IMM_OP] = mi_store_data,
	[MI_STORE_DATA_INDEX_OP] = softgpu_mi_store_index,
	[MI_LOAD_REGISTER_IMM_OP] = mi_load_imm,
	[MI_STORE_REGISTER_MEM_OP] = mi_store_register,
	[MI_REPORT_PERF_COUNT_OP] = mi_report_perf,
	[MI_FLUSH_DW_OP] = softgpu_mi_flush_dw,
	[MI_LOAD_REGISTER_MEM_OP] = mi_load_register,
	[MI_LOAD_REGISTER_REG_OP] = mi_copy_register,
	[MI_COPY_MEM_MEM_OP] = mi_copy_memory,
	[MI_ATOMIC_OP] = softgpu_mi_atomic,
	[MI_BATCH_BUFFER_START_OP] = mi_batch_start,
	[MI_CONDITIONAL_BATCH_BUFFER_END_OP] = mi_conditional_end,
};

/* Commands that MI_SET_PREDICATE does not turn into MI_NOOP. */
static bool is_never_noop(const struct ghyvi_command *command, u32 header)
{
	return MI_OPCODE(header) == MI_SET_PREDICATE_OP ||
	       command->check == GHYVI_CHECK_BATCH_START ||
	       command->check == GHYVI_CHECK_BATCH_END ||
	       command->check == GHYVI_CHECK_BATCH_MAY_END;
}

int softgpu_mi(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	const struct ghyvi_command *command = engine->command;
	bool privileged = softgpu_stream(engine)->privileged;
	enum ghyvi_command_rule rule;
	int err = softgpu_check_command(engine, "MI ");

	if (err)
		return err;
	rule = ghyvi_command_rule(command, header, privileged);
	if (rule == GHYVI_REFUSED)
		return softgpu_error(engine, "%s is not allowed in a %s", command->name,
				     privileged ? "ring" : "user batch");
	/* The auditor has updated the guest's table. */
	if (command->check == GHYVI_CHECK_UPDATE_GTT &&
	    !gen8_update_gtt_valid(engine->packet_dwords))
		return softgpu_error(engine, "UPDATE_GTT of %u dwords", engine->packet_dwords);
	if (rule == GHYVI_DROPPED || !mi_execute[MI_OPCODE(header)])
		return SOFTGPU_OK;
	if (softgpu_job(engine->job)->noop && !is_never_noop(command, header))
		return SOFTGPU_OK;
	return mi_execute[MI_OPCODE(header)](engine);
}
