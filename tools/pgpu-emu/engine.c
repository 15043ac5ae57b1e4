// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: execution of rings and batches in slices, and what the command code of softgpu calls.
 */
#include <stdarg.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>
#include "emu.h"

#define SLICE_COMMANDS 256
#define BLIT_SLICE_BYTES (16 * SOFTGPU_SLICE_BYTES)
#define SEMAPHORE_POLL_NS (20 * 1000)
#define SEMAPHORE_SPIN_NS (200 * 1000) /* drivers take the time of short waits */
#define RESTORE_COMMANDS_MAX 4096
#define HANG_COMMANDS 200000
#define SLOW_CLOCK_NS (2 * NSEC_PER_MSEC) /* at most, in one go */

/* ---- called by softgpu's command code ---- */

u32 softgpu_register_peek(const struct softgpu_engine *cs, u32 offset)
{
	const struct emu_engine *engine = container_of(cs, const struct emu_engine, cs);

	return emu_reg_read(engine->emu, offset, EMU_CS);
}

/* Within a band of a blit: the slice ends behind it. */
int softgpu_yield(struct softgpu_engine *cs)
{
	cs->bytes_left = 0;
	return SOFTGPU_OK;
}

/*
 * Between two bands of a blit, which goes on in the next slice. That one is larger, because it
 * begins with what was prepared in this one already: page walks, and rows of the pattern.
 */
int softgpu_checkpoint(struct softgpu_engine *cs)
{
	cs->bytes_left = BLIT_SLICE_BYTES;
	emu_engine_from(cs)->moved_much = true;
	return SOFTGPU_PREEMPTED;
}

int softgpu_error(struct softgpu_engine *cs, const char *format, ...)
{
	struct emu_engine *engine = emu_engine_from(cs);
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	emu_log(engine->emu, "%s: context %#x, %s at %#llx: %s", emu_engine_name(engine),
		engine->image.lrca, cs->level ? "batch" : "ring",
		(unsigned long long)cs->command_pos, text);
	return SOFTGPU_ERROR;
}

int ghyvi_commands_fetch(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source,
			 unsigned int level, u64 at, u32 ring_head,
			 struct ghyvi_cmd_prefetch *window)
{
	return 0; /* nothing is audited here */
}

static void engine_event(struct ghyvi_job *job, u32 events)
{
	struct emu_engine *engine = container_of(job, struct emu_engine, job);

	if (events & GHYVI_EVENT_USER_INTERRUPT)
		emu_irq_raise(engine, EMU_IRQ_USER);
	if (events & GHYVI_EVENT_FLUSH_NOTIFY)
		emu_irq_raise(engine, EMU_IRQ_FLUSH);
}

/* ---- slices ---- */

int emu_engine_init(struct emu *emu, enum ghyvi_engine_id id)
{
	struct emu_engine *engine = &emu->engines[id];
	struct ghyvi_client_params *params = &engine->client.base.params;

	engine->emu = emu;
	params->gen = 9;
	params->registers = emu->regs;
	params->registers_bytes = EMU_REGISTERS_BYTES;
	engine->job.client = &engine->client.base;
	engine->job.engine = id;
	engine->job.event = engine_event;
	engine->job.backend = &engine->softgpu_job;
	engine->cs.id = id;
	engine->cs.base = ghyvi_engine_base(id);
	engine->cs.client = &engine->client;
	engine->cs.job = &engine->job;
	engine->cs.epoch = 1;
	engine->cs.bytes_left = SOFTGPU_SLICE_BYTES;
	engine->tlb_generation = 1;
	engine->cs.rows = vzalloc(2 * SOFTGPU_ROW_BYTES);
	if (!engine->cs.rows)
		return -ENOMEM;
	return id == GHYVI_RCS ? emu_compute_init(engine) : 0;
}

void emu_engine_hang(struct emu_engine *engine, const char *format, ...)
{
	struct emu *emu = engine->emu;
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	emu_log(emu, "%s hangs: %s", emu_engine_name(engine), text);
	engine->state = EMU_HUNG;
	if (engine->faulted)
		return;
	*emu_reg(emu, engine->cs.base + RING_EIR) |= RING_ERROR_INSTRUCTION;
	*emu_reg(emu, engine->cs.base + RING_ESR) |= RING_ERROR_INSTRUCTION;
	if (!(*emu_reg(emu, engine->cs.base + RING_EMR) & RING_ERROR_INSTRUCTION))
		emu_irq_raise(engine, EMU_IRQ_ERROR);
}

/* The semaphore's condition is not met. The interrupt tells the driver once per wait. */
static void wait_for_semaphore(struct emu_engine *engine)
{
	u64 now = ktime_get_ns();

	softgpu_stream_rewind(&engine->cs);
	if (engine->state != EMU_WAITING) {
		emu_irq_raise(engine, EMU_IRQ_SEMAPHORE);
		engine->spins_until_ns = now + SEMAPHORE_SPIN_NS;
	}
	engine->state = EMU_WAITING;
	engine->arbitration_point = true;
	engine->poll_at_ns = now + SEMAPHORE_POLL_NS;
}

static bool adversary_hangs(struct emu_engine *engine)
{
	struct emu_adversary *adversary = &engine->emu->adversary;

	if (!emu_adversary_has(adversary, EMU_HANG))
		return false;
	if (!engine->hangs_at)
		engine->hangs_at = engine->commands + 1 + emu_random(adversary, HANG_COMMANDS);
	if (engine->commands < engine->hangs_at)
		return false;
	engine->hangs_at = 0;
	engine->emu->hangs++;
	emu_log(engine->emu, "%s hangs: adversary", emu_engine_name(engine));
	engine->state = EMU_HUNG;
	return true;
}

/* Execute one command, or go on with its dispatch. Returns its status. */
static int step(struct emu_engine *engine)
{
	int status;

	if (emu_compute_runs(engine))
		return emu_compute_slice(engine);
	engine->arbitration_point = false;
	engine->faulted = false;
	status = softgpu_stream_fetch(&engine->cs);
	if (status)
		return status;
	status = emu_command(engine);
	if (status == SOFTGPU_PREEMPTED) {
		/* It is no arbitration point, so nothing but a reset comes between. */
		softgpu_stream_rewind(&engine->cs);
		return SOFTGPU_OK;
	}
	engine->softgpu_job.rows = 0; /* the command may have been changed meanwhile */
	engine->commands += status != SOFTGPU_AGAIN; /* a poll of a semaphore is none */
	return status;
}

/*
 * The virtual machine waits for a slice when it accesses a register. So a slice ends when it has
 * moved many bytes, too.
 */
static void run_slice(struct emu_engine *engine)
{
	unsigned int commands;

	engine->moved_much = false;
	engine->cs.epoch++; /* walk again: see gtt.c */
	for (commands = 0; commands < SLICE_COMMANDS; commands++) {
		int status = step(engine);

		if (status == SOFTGPU_DONE)
			emu_execlist_complete(engine);
		else if (status == SOFTGPU_AGAIN)
			wait_for_semaphore(engine);
		else if (status)
			emu_engine_hang(engine, "command %#010x at %#llx", engine->cs.packet[0],
					(unsigned long long)engine->cs.command_pos);
		else if (engine->state == EMU_WAITING)
			engine->state = EMU_RUNNING;
		emu_execlist_arbitrate(engine);
		if (engine->state != EMU_RUNNING || emu_engine_stopped(engine) ||
		    engine->moved_much || engine->draws_until_ns || adversary_hangs(engine))
			return;
	}
}

/* Adversary: the same commands take longer, the lower the frequency is. */
static void pause_after(struct emu_engine *engine, u64 began)
{
	struct emu *emu = engine->emu;
	u64 now = ktime_get_ns();
	u32 highest = GEN9_FREQ_SCALER * (emu->platform->rp_state_cap & 0xff);
	u32 frequency = emu_frequency(emu);

	if (emu_adversary_has(&emu->adversary, EMU_SLOW_CLOCK))
		engine->pauses_until_ns =
			now + min_t(u64, SLOW_CLOCK_NS,
				    (now - began) * (highest - frequency) / frequency);
}

/* Adversary: whether a draw is in progress, or the clock is slow. */
static bool is_busy(struct emu_engine *engine, u64 now)
{
	if (now < max(engine->draws_until_ns, engine->pauses_until_ns))
		return true;
	engine->draws_until_ns = 0;
	engine->pauses_until_ns = 0;
	return false;
}

static enum emu_work waiting(const struct emu_engine *engine, u64 now)
{
	return now < engine->spins_until_ns ? EMU_WORK_NOW : EMU_WORK_LATER;
}

static enum emu_work run_engine(struct emu_engine *engine, u64 now)
{
	u64 began;

	emu_late_events_settle(engine, false);
	if (emu_engine_stopped(engine))
		return EMU_WORK_NONE;
	emu_execlist_arbitrate(engine);
	if (engine->state == EMU_RUNNING && is_busy(engine, now))
		return EMU_WORK_LATER;
	switch (engine->state) {
	case EMU_RUNNING:
		break;
	case EMU_WAITING:
		if (now < engine->poll_at_ns)
			return waiting(engine, now);
		break;
	default:
		return EMU_WORK_NONE;
	}
	began = ktime_get_ns();
	run_slice(engine);
	pause_after(engine, began);
	if (engine->state == EMU_RUNNING)
		return EMU_WORK_NOW;
	return engine->state == EMU_WAITING ? waiting(engine, now) : EMU_WORK_NONE;
}

enum emu_work emu_run_engines(struct emu *emu)
{
	enum emu_work work = EMU_WORK_NONE, more;
	u64 now = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		more = run_engine(&emu->engines[i], now);
		work = max(work, more);
	}
	emu_rc6_settle(emu);
	return work;
}

void emu_run_restore_batch(struct emu_engine *engine, u64 address, u64 end)
{
	struct softgpu_stream stream = {
		.address = address, .end = end, .space = SOFTGPU_GGTT, .privileged = true
	};
	struct softgpu_engine *cs = &engine->cs;
	unsigned int commands;
	int status = SOFTGPU_OK;

	softgpu_stream_push(cs, 1, &stream);
	for (commands = 0; commands < RESTORE_COMMANDS_MAX && cs->level && !status; commands++)
		status = step(engine);
	engine->arbitration_point = false;
	engine->softgpu_job.rows = 0;
	cs->level = 0;
	softgpu_stream_drop_window(cs);
	if ((status && status != SOFTGPU_DONE) || emu_compute_runs(engine))
		emu_engine_hang(engine, "batch of a context restore, command %#010x at %#llx",
				cs->packet[0], (unsigned long long)cs->command_pos);
}
