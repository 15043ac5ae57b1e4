// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command streamer: the software pGPU's, over the objects of a VM, with the auditor beside it
 * and the execution units behind it. kernel/softgpu executes MI commands and blits, kernel/audit
 * judges each batch, userspace/eu executes walkers.
 *
 * A batch is started as i915 does it: by a MI_BATCH_BUFFER_START in a ring, which is the only thing
 * in the GGTT here. So the auditor sees a user batch.
 */
#include <stdarg.h>
#include <unistd.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <ghyvi/audit.h>
#include <ghyvi/gen8_cmds.h>
#include <ghyvi/gen8_regs.h>
#include "softgpu/engine.h"
#include "compute.h"
#include "cs.h"
#include "settings.h"

#define RING_ADDRESS GHYVI_PAGE_BYTES
#define RING_BYTES GHYVI_PAGE_BYTES
#define START_USER_BATCH (MI_BATCH_BUFFER_START_OP << 23 | 1 | MI_BATCH_PPGTT_HSW)
#define SEMAPHORE_POLL_US 20
#define GEN 9

#define PIPELINE_3DPRIMITIVE 0x7b00 /* upper half of the header */
#define GPGPU_DISPATCHDIM 0x2500 /* X, Y, Z */

/* Registers that i915 lists for user batches of Skylake (gt/intel_workarounds.c). */
static const u32 listed_registers[] = { 0x2248, 0x2580, 0x7304, 0xb118, 0x2690, 0x2694, 0x2698 };

/**
 * struct cs - an engine with the state of one context
 * @engine: the software pGPU's engine
 * @gpu: the bases of the engines
 * @client: has @registers
 * @job: has @context, and the audited commands while a batch runs
 * @softgpu_job: softgpu's part of @job
 * @stats: what the auditor counts
 * @reporter: what the auditor refused last
 * @device: names @reporter's messages
 * @owner: reads commands for the auditor
 * @audit: the auditor, NULL: off
 * @vm: address space of batches
 * @ring: the commands that start the batch
 * @context: registers that a context keeps
 * @registers: all other registers
 * @compute: the execution units, NULL: not the render engine
 * @error: where softgpu_error() writes
 * @scratch: what addresses without an object read as, if that is set
 */
struct cs {
	struct softgpu_engine engine;
	struct softgpu gpu;
	struct softgpu_client client;
	struct ghyvi_job job;
	struct softgpu_job softgpu_job;
	struct ghyvi_stats stats;
	struct ghyvi_reporter reporter;
	struct device device;
	struct ghyvi_audit_owner owner;
	struct ghyvi_audit *audit;
	struct vm *vm;
	struct compute *compute;
	char *error;
	u32 ring[RING_BYTES / 4];
	u32 context[GHYVI_CTX_DWORDS];
	u32 registers[GHYVI_REGISTERS_END / 4];
	u8 scratch[GHYVI_PAGE_BYTES];
};

static struct cs *cs_of(struct softgpu_engine *engine)
{
	return container_of(engine, struct cs, engine);
}

/* ---- called by softgpu's command code ---- */

uint64_t cs_timestamp(void)
{
	return softgpu_ticks(GEN, ktime_get_ns()) & GENMASK_ULL(TIMESTAMP_BITS - 1, 0);
}

/* Nothing else waits for the thread, so a command may move any number of bytes. */
int softgpu_yield(struct softgpu_engine *engine)
{
	engine->bytes_left = SOFTGPU_SLICE_BYTES;
	return SOFTGPU_OK;
}

int softgpu_checkpoint(struct softgpu_engine *engine)
{
	return softgpu_yield(engine);
}

/* The first error is the cause. */
int softgpu_error(struct softgpu_engine *engine, const char *format, ...)
{
	struct cs *cs = cs_of(engine);
	va_list args;
	int bytes;

	if (!cs->error || cs->error[0])
		return SOFTGPU_ERROR;
	bytes = scnprintf(cs->error, CS_ERROR_BYTES,
			  "%s, %s at %#llx: ", ghyvi_engine_name(engine->id),
			  engine->level ? "batch" : "ring",
			  (unsigned long long)engine->command_pos);
	va_start(args, format);
	vsnprintf(cs->error + bytes, CS_ERROR_BYTES - bytes, format, args);
	va_end(args);
	return SOFTGPU_ERROR;
}

void softgpu_tlb_flush(struct softgpu_engine *engine)
{
	engine->epoch++;
}

/* Never called: slots say that nothing is logged. */
void softgpu_log_write(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot)
{
}

/* Objects are mapped in whole pages. */
static u8 *page_of(struct cs *cs, u64 address, bool *writable)
{
	uint64_t bytes;
	u8 *page = vm_translate(cs->vm, address & GHYVI_PAGE_MASK, &bytes, writable);

	if (page || !shim_settings()->scratch)
		return page;
	counts.unmapped++;
	*writable = false;
	return cs->scratch;
}

int softgpu_tlb_fill(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
		     enum softgpu_space space, u64 address)
{
	struct cs *cs = cs_of(engine);
	bool writable = false;
	u8 *page = NULL;

	if (space == SOFTGPU_PPGTT)
		page = page_of(cs, address, &writable);
	else if (address - RING_ADDRESS < RING_BYTES)
		page = (u8 *)cs->ring;
	if (!page)
		return softgpu_error(engine, "command %#010x: no object is bound at %#llx",
				     engine->packet[0], (unsigned long long)address);
	*slot = (struct softgpu_tlb_entry){ .page = address >> GHYVI_PAGE_SHIFT,
					    .epoch = engine->epoch,
					    .pointer = page,
					    .writable = writable };
	return SOFTGPU_OK;
}

u32 softgpu_contiguous(struct softgpu_engine *engine, u64 address, const u8 *pointer, u32 bytes,
		       bool write)
{
	return min_t(u32, bytes, GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1)));
}

/* ---- commands ---- */

/* Long packets of the 3D pipeline are skipped, as it is not there. */
bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header)
{
	return softgpu_packet_type(header) == SOFTGPU_PACKET_3D &&
	       !softgpu_is_pipe_control(command) && !compute_takes(header);
}

static int render_command(struct softgpu_engine *engine)
{
	struct cs *cs = cs_of(engine);
	char error[CS_ERROR_BYTES];
	u32 dimensions[3];
	unsigned int i;
	int err = softgpu_check_command(engine, "");

	if (err || softgpu_job(engine->job)->noop)
		return err;
	if (softgpu_is_pipe_control(engine->command))
		return softgpu_pipe_control(engine);
	if (engine->packet[0] >> 16 == PIPELINE_3DPRIMITIVE && shim_settings()->skip_draws)
		counts.draws++;
	else if (engine->packet[0] >> 16 == PIPELINE_3DPRIMITIVE)
		return softgpu_error(engine, "3DPRIMITIVE: there is no 3D pipeline");
	if (!cs->compute || !compute_takes(engine->packet[0]))
		return SOFTGPU_OK;
	for (i = 0; i < ARRAY_SIZE(dimensions); i++)
		dimensions[i] = softgpu_register_peek(engine, GPGPU_DISPATCHDIM + 4 * i);
	if (!compute_command(cs->compute, engine->packet, engine->packet_dwords, dimensions, error))
		return SOFTGPU_OK;
	return softgpu_error(engine, "%s: %s", engine->command->name, error);
}

int softgpu_command(struct softgpu_engine *engine)
{
	switch (softgpu_packet_type(engine->packet[0])) {
	case SOFTGPU_PACKET_MI:
		return softgpu_mi(engine);
	case SOFTGPU_PACKET_2D:
		return softgpu_blt(engine);
	default:
		return render_command(engine);
	}
}

/* ---- the auditor ---- */

static int read_commands(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
			 void *buffer, size_t bytes)
{
	struct cs *cs = container_of(owner, struct cs, owner);
	bool writable;
	u8 *page;

	if (!root) {
		memcpy(buffer, (u8 *)cs->ring + (address - RING_ADDRESS), bytes);
		return 0;
	}
	page = page_of(cs, address, &writable);
	if (!page)
		return -EFAULT;
	memcpy(buffer, page + (address & (GHYVI_PAGE_BYTES - 1)), bytes);
	return 0;
}

static void no_ggtt(struct ghyvi_audit_owner *owner, u64 index, u64 entry)
{
}

static int audit_init(struct cs *cs)
{
	static const char *const modes[] = { [AUDIT_LOG] = "log", [AUDIT_FULL] = "full" };
	struct ghyvi_audit_params params = {
		.gen = GEN,
		.ggtt = { { RING_ADDRESS, RING_BYTES } },
		.nr_ggtt = 1,
		.owner = &cs->owner,
		.reporter = &cs->reporter,
		.stats = &cs->stats,
	};

	if (shim_settings()->audit == AUDIT_OFF)
		return 0;
	cs->owner = (struct ghyvi_audit_owner){ .read = read_commands, .update_ggtt = no_ggtt };
	cs->audit = ghyvi_audit_create(&params);
	if (IS_ERR(cs->audit)) {
		cs->audit = NULL;
		return -ENOMEM;
	}
	return ghyvi_audit_set_mode(cs->audit, modes[shim_settings()->audit]);
}

/* The root is only compared with NULL. */
static struct ghyvi_commands *audit(struct cs *cs)
{
	const struct ghyvi_submission submission = {
		.engine = cs->engine.id,
		.root = (struct ghyvi_root *)cs->vm,
		.ppgtt_mask = cs->engine.ppgtt_mask,
		.ring_start = RING_ADDRESS,
		.ring_bytes = RING_BYTES,
		.head = cs->engine.ring_head,
		.tail = cs->engine.ring_tail,
	};
	u64 audited = atomic64_read(&cs->stats.audited_commands);
	u64 refused = atomic64_read(&cs->stats.audit_rejects);
	struct ghyvi_commands *commands = ghyvi_audit_submission(cs->audit, &submission);

	audited = atomic64_read(&cs->stats.audited_commands) - audited;
	refused = atomic64_read(&cs->stats.audit_rejects) - refused;
	counts.audited += audited;
	counts.refused += refused;
	if (refused) {
		char text[GHYVI_REPORT_BYTES];

		ghyvi_report_last(&cs->reporter, text, sizeof(text));
		shim_error("the auditor refuses %llu commands: %s", (unsigned long long)refused,
			   text);
	}
	return commands;
}

/* ---- batches ---- */

struct cs *cs_create(enum cs_engine which, struct vm *vm)
{
	static const enum ghyvi_engine_id ids[CS_ENGINES] = {
		[CS_RENDER] = GHYVI_RCS,
		[CS_COPY] = GHYVI_BCS,
		[CS_VIDEO] = GHYVI_VCS,
		[CS_VIDEO_ENHANCE] = GHYVI_VECS,
	};
	struct cs *cs = vzalloc(sizeof(*cs));
	struct softgpu_engine *engine;
	unsigned int i;

	if (!cs)
		return NULL;
	engine = &cs->engine;
	cs->vm = vm;
	shim_quiet = true; /* audit() says what is refused */
	cs->device.name = "batch";
	ghyvi_reporter_init(&cs->reporter, &cs->device);
	for (i = 0; i < GHYVI_ENGINES; i++)
		cs->gpu.engines[i].base = ghyvi_engine_base(i);
	for (i = 0; i < ARRAY_SIZE(listed_registers); i++)
		cs->registers[RING_FORCE_TO_NONPRIV_FIRST / 4 + i] = listed_registers[i];
	cs->client.base.params = (struct ghyvi_client_params){
		.registers = cs->registers,
		.registers_bytes = sizeof(cs->registers),
		.gen = GEN,
		.reporter = &cs->reporter,
		.stats = &cs->stats,
	};
	cs->job.client = &cs->client.base;
	cs->job.engine = ids[which];
	cs->job.context = cs->context;
	cs->job.backend = &cs->softgpu_job;
	engine->gpu = &cs->gpu;
	engine->id = ids[which];
	engine->base = ghyvi_engine_base(engine->id);
	engine->client = &cs->client;
	engine->job = &cs->job;
	engine->epoch = 1;
	engine->ppgtt_mask = GENMASK_ULL(47, 0);
	engine->bytes_left = SOFTGPU_SLICE_BYTES;
	engine->ring_start = RING_ADDRESS;
	engine->ring_bytes = RING_BYTES;
	engine->streams[0] = (struct softgpu_stream){ .space = SOFTGPU_GGTT, .privileged = true };
	engine->started_ns = ktime_get_ns();
	engine->rows = engine->id == GHYVI_BCS ? vzalloc(2 * SOFTGPU_ROW_BYTES) : NULL;
	cs->compute = engine->id == GHYVI_RCS ? compute_create(vm) : NULL;
	if (audit_init(cs) || (engine->id == GHYVI_BCS && !engine->rows) ||
	    (engine->id == GHYVI_RCS && !cs->compute)) {
		cs_destroy(cs);
		return NULL;
	}
	return cs;
}

void cs_destroy(struct cs *cs)
{
	if (cs->audit)
		ghyvi_audit_destroy(cs->audit);
	compute_destroy(cs->compute);
	vfree(cs->engine.rows);
	vfree(cs);
}

static void note_command(struct softgpu_engine *engine)
{
	const char *name = engine->command ? engine->command->name : "unknown";

	if (!engine->level)
		return;
	count_command(name, 1);
	if (shim_settings()->log_commands)
		log_line("%#llx: %s (%u dwords)", (unsigned long long)engine->command_pos, name,
			 engine->packet_dwords);
}

/* A semaphore is polled: the thread that changes it runs meanwhile. */
static int execute(struct cs *cs, u64 *commands)
{
	struct softgpu_engine *engine = &cs->engine;
	bool again = false;
	int status;

	for (;;) {
		status = softgpu_stream_fetch(engine);
		if (status)
			return status;
		if (!again)
			note_command(engine);
		*commands += !again;
		status = softgpu_command(engine);
		again = status == SOFTGPU_AGAIN;
		if (again) {
			softgpu_stream_rewind(engine);
			engine->epoch++;
			usleep(SEMAPHORE_POLL_US);
		} else if (status) {
			return status;
		}
	}
}

int cs_run(struct cs *cs, uint64_t batch, char error[CS_ERROR_BYTES])
{
	const u32 start[] = { START_USER_BATCH, lower_32_bits(batch), upper_32_bits(batch), 0 };
	struct softgpu_engine *engine = &cs->engine;
	struct ghyvi_commands *commands = NULL;
	u64 executed = 0;
	int status;

	memcpy(cs->ring, start, sizeof(start));
	cs->error = error;
	error[0] = '\0';
	engine->epoch++;
	engine->level = 0;
	engine->ring_head = 0;
	engine->ring_tail = sizeof(start);
	softgpu_stream_drop_window(engine);
	if (cs->audit)
		commands = audit(cs);
	if (IS_ERR(commands))
		return -ENOMEM;
	cs->job.commands = shim_settings()->audit == AUDIT_FULL ? commands : NULL;
	status = execute(cs, &executed);
	cs->job.commands = NULL;
	ghyvi_commands_free(commands);
	if (shim_settings()->log_batches)
		log_line("%s: batch at %#llx: %llu commands, %s", ghyvi_engine_name(engine->id),
			 (unsigned long long)batch, (unsigned long long)executed,
			 status == SOFTGPU_DONE ? "complete" : "failed");
	cs->error = NULL;
	if (status == SOFTGPU_DONE)
		return 0;
	if (!error[0])
		snprintf(error, CS_ERROR_BYTES, "%s, batch at %#llx: a command was refused",
			 ghyvi_engine_name(engine->id), (unsigned long long)batch);
	return -EIO;
}
