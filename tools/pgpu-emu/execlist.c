// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution lists: the submit port, the two elements, and the context status buffer (PRM vol. 7,
 * "Execution List"; i915: gen8_csb_parse()).
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "emu.h"

#define CSB_SWITCHED (GEN8_CTX_STATUS_ELEMENT_SWITCH | GEN8_CTX_STATUS_COMPLETE | CTX_STATUS_LEFT)
#define CSB_IDLE (GEN8_CTX_STATUS_ACTIVE_IDLE | GEN8_CTX_STATUS_COMPLETE | CTX_STATUS_LEFT)
#define CSB_LITE_RESTORE (GEN8_CTX_STATUS_PREEMPTED | GEN8_CTX_STATUS_LITE_RESTORE)

#define REFUSE_ONE_IN 4
#define REFUSE_NS (5 * NSEC_PER_MSEC)
#define LATE_CSB_ONE_IN 3
#define LATE_CSB_NS NSEC_PER_MSEC
#define PREFETCH_LINES 4
#define LINE_BYTES 64

/* ---- context status buffer ---- */

/* The saved head, then the entry, then the pointer: i915 relies on that order. */
static void write_event(const struct emu_late_event *late)
{
	if (late->head)
		WRITE_ONCE(*late->head, late->head_value);
	if (!late->hwsp)
		return;
	smp_wmb(); /* the driver reads the entry, then the image */
	WRITE_ONCE(*(u64 *)(late->hwsp + HWSP_CSB + 8 * late->entry), late->event);
	smp_wmb(); /* the driver reads the pointer, then the entry */
	WRITE_ONCE(*(u32 *)(late->hwsp + HWSP_CSB_WRITE), late->entry);
	smp_wmb(); /* the interrupt handler finds both */
}

void emu_late_events_settle(struct emu_engine *engine, bool all)
{
	unsigned int done = 0;

	while (done < engine->nr_late_events &&
	       (all || engine->late_events[done].at_ns <= ktime_get_ns()))
		write_event(&engine->late_events[done++]);
	engine->nr_late_events -= done;
	memmove(engine->late_events, engine->late_events + done,
		engine->nr_late_events * sizeof(engine->late_events[0]));
}

/*
 * With an IOMMU, stores may arrive after the interrupt that was sent behind them (i915 4.15:
 * "missed breadcrumb syndrome"). They stay in their order. The registers are right at once. i915,
 * which reads memory, may not find an event before its next interrupt or heartbeat.
 */
static void send_event(struct emu_engine *engine, u8 *hwsp, u64 event)
{
	struct emu_late_event late = { .hwsp = hwsp,
				       .event = event,
				       .entry = engine->csb_write,
				       .head = engine->saved_head,
				       .head_value = engine->saved_head_value };
	struct emu_adversary *adversary = &engine->emu->adversary;

	engine->saved_head = NULL;
	if (engine->nr_late_events == EMU_LATE_EVENTS)
		emu_late_events_settle(engine, true);
	if (emu_adversary_strikes(adversary, EMU_LATE_CSB, LATE_CSB_ONE_IN))
		late.at_ns = ktime_get_ns() + emu_random(adversary, LATE_CSB_NS);
	if (late.at_ns || engine->nr_late_events)
		engine->late_events[engine->nr_late_events++] = late;
	else
		write_event(&late);
}

static void csb_event(struct emu_engine *engine, u32 status, u64 descriptor)
{
	u32 page = *emu_reg(engine->emu, engine->cs.base + RING_HWS_PGA);
	u64 event = (u64)upper_32_bits(descriptor) << 32 | status;
	u8 *hwsp;

	if (!engine->csb_preset)
		emu_violation(engine->emu, EMU_CSB_POINTER, "%s", emu_engine_name(engine));
	engine->csb_preset = true;
	engine->csb_write = (engine->csb_write + 1) % GEN8_CSB_ENTRIES;
	engine->csb[engine->csb_write] = event;
	hwsp = emu_engine_ggtt(engine, page, true);
	send_event(engine, hwsp, event);
	emu_irq_raise(engine, EMU_IRQ_CONTEXT_SWITCH);
}

void emu_csb_pointer_write(struct emu_engine *engine, u32 value)
{
	u32 *reg = emu_reg(engine->emu, engine->cs.base + RING_CSB_POINTER);

	*reg = emu_masked(*reg, value);
	if (!(value >> 16 & CSB_POINTER_WRITE))
		return;
	engine->csb_write = (*reg & CSB_POINTER_WRITE) % GEN8_CSB_ENTRIES;
	engine->csb_preset = true;
}

/* ---- elements ---- */

static void load(struct emu_engine *engine, unsigned int port)
{
	engine->port = port;
	engine->state = EMU_RUNNING;
	if (!emu_context_load(engine, engine->active[port]))
		emu_engine_hang(engine, "the context %#llx cannot be loaded",
				(unsigned long long)engine->active[port]);
	else if (port && engine->cs.ring_head == engine->cs.ring_tail)
		emu_violation(engine->emu, EMU_IDLE_PROMOTION, "%s: context %#x head %#x",
			      emu_engine_name(engine), engine->image.lrca, engine->cs.ring_head);
}

static void promote(struct emu_engine *engine)
{
	engine->active[0] = engine->pending[0];
	engine->active[1] = engine->pending[1];
	engine->has_pending = false;
}

/* Whether the context that is submitted is the one that runs. */
static bool is_again(const struct emu_engine *engine)
{
	return !((engine->pending[0] ^ engine->image.descriptor) & DESC_SAME_CONTEXT);
}

static bool is_lite(const struct emu_engine *engine)
{
	return is_again(engine) && !(engine->pending[0] & CTX_DESC_FORCE_RESTORE);
}

static void lite_restore(struct emu_engine *engine)
{
	u32 tail = engine->cs.ring_tail;

	promote(engine);
	engine->port = 0;
	engine->image.descriptor = engine->active[0];
	emu_context_update_tail(engine);
	if (engine->cs.ring_tail == tail)
		emu_violation(engine->emu, EMU_SAME_TAIL, "%s: context %#x tail %#x",
			      emu_engine_name(engine), engine->image.lrca, tail);
	csb_event(engine, CSB_LITE_RESTORE, engine->active[0]);
}

/* @why: what the context was doing. */
static void preempt(struct emu_engine *engine, u32 why)
{
	u64 previous = engine->image.descriptor;

	/*
	 * A forced restore is how software takes a tail back (i915: execlists_update_context()), so
	 * no save overwrites that one.
	 */
	if (is_again(engine))
		emu_context_update_tail(engine);
	emu_context_save(engine);
	promote(engine);
	csb_event(engine, GEN8_CTX_STATUS_PREEMPTED | CTX_STATUS_LEFT | why, previous);
	load(engine, 0);
}

static u32 reason(const struct emu_engine *engine)
{
	const struct softgpu_engine *cs = &engine->cs;

	if (engine->state == EMU_WAITING)
		return GEN8_CTX_STATUS_SEMAPHORE;
	return !cs->level && cs->ring_head == cs->ring_tail ? GEN8_CTX_STATUS_COMPLETE : 0;
}

/* Adversary: hardware may take long to preempt, for example in the middle of a draw. */
static bool refuses(struct emu_engine *engine)
{
	u64 now = ktime_get_ns();

	if (engine->refuses_until_ns > now)
		return true;
	if (engine->refuses_until_ns) {
		engine->refuses_until_ns = 0;
		return false;
	}
	if (!emu_adversary_strikes(&engine->emu->adversary, EMU_NO_PREEMPT, REFUSE_ONE_IN))
		return false;
	engine->refuses_until_ns = now + emu_random(&engine->emu->adversary, REFUSE_NS);
	return true;
}

void emu_execlist_arbitrate(struct emu_engine *engine)
{
	if (!engine->has_pending || emu_engine_stopped(engine))
		return;
	switch (engine->state) {
	case EMU_IDLE:
		if (engine->idle_since_ns)
			engine->idle_ns += ktime_get_ns() - engine->idle_since_ns;
		engine->idle_since_ns = 0;
		promote(engine);
		csb_event(engine, GEN8_CTX_STATUS_IDLE_ACTIVE, engine->active[0]);
		load(engine, 0);
		break;
	case EMU_RUNNING:
	case EMU_WAITING:
		if (is_lite(engine))
			lite_restore(engine);
		else if (engine->arbitration && engine->arbitration_point &&
			 !engine->draws_until_ns && !refuses(engine))
			preempt(engine, reason(engine));
		break;
	case EMU_HUNG:
		break;
	}
}

/* Adversary: the command streamer fetches ahead, past the tail and the ring's end. */
static void prefetch(struct emu_engine *engine)
{
	const struct softgpu_engine *cs = &engine->cs;
	unsigned int i;

	if (!emu_adversary_has(&engine->emu->adversary, EMU_PREFETCH))
		return;
	for (i = 1; i <= PREFETCH_LINES; i++)
		emu_engine_ggtt(engine, cs->ring_start + cs->ring_tail + i * LINE_BYTES, false);
}

void emu_execlist_complete(struct emu_engine *engine)
{
	u64 previous = engine->image.descriptor;

	prefetch(engine);
	/* The end of the ring is an arbitration point, too. */
	engine->arbitration_point = true;
	engine->arbitration = true;
	if (engine->has_pending) {
		emu_execlist_arbitrate(engine);
		return;
	}
	emu_context_save(engine);
	if (!engine->port && engine->active[1]) {
		csb_event(engine, CSB_SWITCHED, previous);
		load(engine, 1);
		return;
	}
	engine->state = EMU_IDLE;
	engine->idles++;
	engine->idle_since_ns = ktime_get_ns();
	csb_event(engine, CSB_IDLE, previous);
}

/* ---- the submit port ---- */

static void check_workarounds(struct emu_engine *engine)
{
	/* What i915 writes before the first submission, and verifies. */
	const struct {
		u32 offset, bits;
		bool render;
	} needed[] = {
		{ GAM_ECOCHK, engine->emu->platform->ecochk, false },
		{ MMCD_MISC_CTRL, MMCD_WORKAROUNDS, false },
		{ GEN7_UCGCTL4, GEN8_EU_GAUNIT_CLOCK_GATE_DISABLE, false },
		{ GEN9_GAMT_ECO_REG_RW_IA, GAMT_ECO_ENABLE_IN_PLACE_DECOMPRESS, false },
		{ GEN9_CSFE_CHICKEN1_RCS, GEN9_PREEMPT_GPGPU_SYNC_SWITCH_DISABLE, true },
		{ GEN7_FF_SLICE_CS_CHICKEN1, GEN9_FFSC_PERCTX_PREEMPT_CTRL, true },
		{ GEN8_GARBCNTL, GEN9_GAPS_TSV_CREDIT_DISABLE, true },
	};
	struct emu *emu = engine->emu;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if ((*emu_reg(emu, needed[i].offset) & needed[i].bits) != needed[i].bits &&
		    (!needed[i].render || engine->cs.id == GHYVI_RCS))
			emu_violation(emu, EMU_WORKAROUND, "%s: register %#x is %#x, lacks %#x",
				      emu_engine_name(engine), needed[i].offset,
				      *emu_reg(emu, needed[i].offset),
				      needed[i].bits & ~*emu_reg(emu, needed[i].offset));
}

static u64 element(const struct emu_engine *engine, unsigned int index)
{
	/* Order of the writes: element 1 high, low, element 0 high, low. */
	const u32 *words = &engine->elsp[index ? 0 : 2];
	u64 descriptor = (u64)words[0] << 32 | words[1];

	return descriptor & GEN8_CTX_VALID ? descriptor : 0;
}

/*
 * Bits 52:32 of a descriptor are the id of the context, those behind are reserved or a group (PRM
 * vol. 7, "Context Descriptor Format"; i915: intel_lrc.c). No two contexts may have one id:
 * hardware tells them apart by it.
 */
static void check_reserved(struct emu_engine *engine, u64 descriptor)
{
	if (descriptor & DESC_AFTER_ID)
		emu_violation(engine->emu, EMU_INVALID_CONTEXT, "%s: reserved bits in %#llx",
			      emu_engine_name(engine), (unsigned long long)descriptor);
}

static void check_ids(struct emu_engine *engine, u64 descriptor, u64 other)
{
	if (descriptor && other && !((descriptor ^ other) & DESC_ID) &&
	    (descriptor ^ other) & DESC_LRCA)
		emu_violation(engine->emu, EMU_INVALID_CONTEXT, "%s: one id in %#llx and %#llx",
			      emu_engine_name(engine), (unsigned long long)descriptor,
			      (unsigned long long)other);
}

static void submit(struct emu_engine *engine)
{
	struct emu *emu = engine->emu;

	engine->submissions++;
	check_workarounds(engine);
	if (!(*emu_reg(emu, engine->cs.base + RING_MODE) & RING_MODE_RUN_LIST_ENABLE))
		emu_violation(emu, EMU_RUN_LIST_OFF, "%s", emu_engine_name(engine));
	if (engine->has_pending) {
		emu_violation(emu, EMU_ELSP_EARLY, "%s: context %#x", emu_engine_name(engine),
			      engine->elsp[3]);
		return;
	}
	if (!element(engine, 0)) {
		emu_violation(emu, EMU_INVALID_CONTEXT, "%s: element 0 is not valid",
			      emu_engine_name(engine));
		return;
	}
	engine->pending[0] = element(engine, 0);
	engine->pending[1] = element(engine, 1);
	engine->has_pending = true;
	check_reserved(engine, engine->pending[0]);
	check_reserved(engine, engine->pending[1]);
	check_ids(engine, engine->pending[0], engine->pending[1]);
	/* i915 gives the id of a context that has left to another one at once. */
	if (engine->state == EMU_IDLE)
		return;
	check_ids(engine, engine->pending[0], engine->image.descriptor);
	check_ids(engine, engine->pending[1], engine->image.descriptor);
}

void emu_elsp_write(struct emu_engine *engine, u32 value)
{
	engine->elsp[engine->elsp_words++] = value;
	if (engine->elsp_words < ARRAY_SIZE(engine->elsp))
		return;
	engine->elsp_words = 0;
	submit(engine);
}

void emu_execlist_reset(struct emu_engine *engine)
{
	emu_late_events_settle(engine, true);
	engine->saved_head = NULL;
	engine->draws_until_ns = 0;
	engine->pauses_until_ns = 0;
	engine->state = EMU_IDLE;
	engine->has_pending = false;
	engine->elsp_words = 0;
	engine->active[0] = 0;
	engine->active[1] = 0;
	engine->port = 0;
	engine->csb_write = GEN8_CSB_ENTRIES - 1; /* the next event goes to entry 0 */
	engine->csb_preset = false;
	engine->refuses_until_ns = 0;
	engine->idle_since_ns = 0;
	engine->image.descriptor = 0;
	emu_late_writes_drain(engine); /* they have left the engine */
	engine->softgpu_job.rows = 0;
	engine->predicated = false;
	engine->cs.level = 0;
	engine->cs.ring_head = 0;
	engine->cs.ring_tail = 0;
	engine->cs.ring_start = 0;
	engine->cs.ring_bytes = 0;
	softgpu_stream_drop_window(&engine->cs);
}
