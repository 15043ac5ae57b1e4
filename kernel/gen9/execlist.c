// SPDX-License-Identifier: GPL-2.0-only
/*
 * The submit port and the context status buffer. Only element 0 is used. A submission is pending
 * until the buffer has an event that promotes it; hardware loses one that is written before.
 */
#include <linux/ktime.h>
#include "gen9.h"

#define CSB_PROMOTES (GEN8_CTX_STATUS_IDLE_ACTIVE | GEN8_CTX_STATUS_PREEMPTED)
#define CSB_UNWRITTEN (~0ULL)
#define CSB_READS 1000

static u64 *csb_entry(struct gen9_engine *engine, unsigned int index)
{
	return (u64 *)((u8 *)engine->status->cpu + HWSP_CSB) + index;
}

static u32 *csb_write_pointer(struct gen9_engine *engine)
{
	return engine->status->cpu + HWSP_CSB_WRITE / sizeof(u32);
}

/* The first event after a reset goes to entry 0. */
void gen9_csb_reset(struct gen9_engine *engine)
{
	u32 pointer = 0xffffu << 16 | CSB_RESET_POINTER << CSB_POINTER_READ_SHIFT |
		      CSB_RESET_POINTER;
	unsigned int i;

	gen9_engine_write(engine, RING_CSB_POINTER, pointer);
	gen9_engine_read(engine, RING_CSB_POINTER);
	engine->csb_head = CSB_RESET_POINTER;
	WRITE_ONCE(*csb_write_pointer(engine), CSB_RESET_POINTER);
	for (i = 0; i < GEN8_CSB_ENTRIES; i++)
		WRITE_ONCE(*csb_entry(engine, i), CSB_UNWRITTEN);
	wmb(); /* the page before hardware writes to it */
	gen9_engine_write(engine, RING_CSB_POINTER, pointer);
	gen9_engine_read(engine, RING_CSB_POINTER);
}

static struct gen9_context *job_context(const struct gen9_engine *engine)
{
	return engine->job ? gen9_context(engine->job->pgpu_context) : NULL;
}

/* ---- submission ---- */

static void submit(struct gen9_engine *engine, struct gen9_context *context, u32 tail)
{
	lockdep_assert_held(&engine->lock);
	WRITE_ONCE(gen9_state(context)[GHYVI_CTX_RING_TAIL], tail);
	engine->pending = context;
	gen9_ggtt_flush(engine->gpu);
	wmb(); /* commands, image and tables before the submission */
	gen9_engine_write(engine, RING_ELSP, 0);
	gen9_engine_write(engine, RING_ELSP, 0);
	gen9_engine_write(engine, RING_ELSP, upper_32_bits(context->descriptor));
	gen9_engine_write(engine, RING_ELSP, lower_32_bits(context->descriptor));
}

void gen9_submit_kernel(struct gen9_engine *engine, u32 tail)
{
	engine->kernel_tail = tail;
	submit(engine, engine->kernel_context, tail);
}

/* The ring of the kernel context contains NOOPs now: two more take the job off the engine. */
static void submit_nothing(struct gen9_engine *engine)
{
	gen9_submit_kernel(engine, (engine->kernel_tail + 8) % GHYVI_PAGE_BYTES);
}

static void submit_job(struct gen9_engine *engine)
{
	struct gen9_job *job = gen9_job(engine->job);

	job->hw_tail = job->end;
	set_bit(engine->id, &gen9_client(engine->job->client)->engines);
	submit(engine, job_context(engine), job->hw_tail);
}

void gen9_engine_update(struct gen9_engine *engine)
{
	struct gen9_job *job;
	bool stop;

	lockdep_assert_held(&engine->lock);
	if (!engine->job || engine->blocked || engine->pending)
		return;
	job = gen9_job(engine->job);
	if (job->ended)
		return;
	stop = job->stop >= 0 || engine->paused;
	if (engine->active == job_context(engine)) {
		if (stop)
			submit_nothing(engine);
		else if (job->end != job->hw_tail)
			submit_job(engine);
	} else if (job->stop >= 0) {
		gen9_job_end(engine, job->stop);
	} else if (!stop) {
		submit_job(engine);
	}
}

/* ---- the job's time and end ---- */

static void job_begins(struct gen9_engine *engine)
{
	struct gen9_job *job = gen9_job(engine->job);
	u64 now = ktime_get_ns();

	if (job->since_ns)
		return;
	job->since_ns = now;
	if (!engine->job->begun_ns)
		WRITE_ONCE(engine->job->begun_ns, now);
}

static void job_pauses(struct gen9_engine *engine)
{
	struct gen9_job *job = gen9_job(engine->job);

	if (job->since_ns)
		job->spent_ns += ktime_get_ns() - job->since_ns;
	job->since_ns = 0;
}

void gen9_job_end(struct gen9_engine *engine, enum ghyvi_job_status status)
{
	struct gen9_job *job = gen9_job(engine->job);

	lockdep_assert_held(&engine->lock);
	job_pauses(engine);
	job->status = status;
	job->ended = true;
	WRITE_ONCE(engine->job->busy_ns, engine->job->begun_ns ? max_t(u64, job->spent_ns, 1) : 0);
	/* The last interrupt may come after the job has been given back. */
	if (engine->job->begun_ns)
		gen9_irq_poll(engine);
	queue_work(engine->gpu->wq, &engine->done_work);
	wake_up_all(&engine->left);
}

void gen9_job_record_fault(struct gen9_engine *engine)
{
	u32 head = gen9_engine_read(engine, RING_HEAD) & (u32)RING_HEAD_MASK;
	struct ghyvi_job_fault *fault = &engine->job->fault;

	lockdep_assert_held(&engine->lock);
	fault->acthd = (u64)gen9_engine_read(engine, RING_ACTHD_UDW) << 32 |
		       gen9_engine_read(engine, RING_ACTHD);
	fault->ipehr = gen9_engine_read(engine, RING_IPEHR);
	fault->instdone = gen9_engine_read(engine, RING_INSTDONE);
	fault->ring_head = gen9_ring_offset(engine->job, head);
	fault->valid = true;
}

/* The job's context has been saved: it is complete, or was taken off, or has a new tail. */
static void job_left(struct gen9_engine *engine)
{
	struct gen9_job *job = gen9_job(engine->job);

	job_pauses(engine);
	if (job->ended || !gen9_context_reached(job_context(engine), job->end))
		return;
	gen9_job_end(engine, job->refused ? GHYVI_JOB_ERROR : GHYVI_JOB_COMPLETE);
}

/* ---- events ---- */

static void unreliable(struct gen9_engine *engine, const char *what, u64 value)
{
	if (__ratelimit(&engine->gpu->unreliable))
		dev_warn(&engine->gpu->pdev->dev, "%s: %s (0x%llx)\n",
			 ghyvi_engine_name(engine->id), what, (unsigned long long)value);
}

static void context_left(struct gen9_engine *engine, struct gen9_context *context)
{
	if (context && context == job_context(engine))
		job_left(engine);
}

static void promoted(struct gen9_engine *engine)
{
	struct gen9_context *previous = engine->active;

	engine->active = engine->pending;
	engine->pending = NULL;
	if (previous != engine->active)
		context_left(engine, previous);
	if (engine->active == job_context(engine))
		job_begins(engine);
}

static void csb_event(struct gen9_engine *engine, u32 status)
{
	struct gen9_context *previous = engine->active;

	if (!(status & CSB_PROMOTES)) {
		engine->active = NULL;
		context_left(engine, previous);
	} else if (engine->pending) {
		promoted(engine);
	} else {
		unreliable(engine, "a status event without a submission", status);
	}
}

/* Hardware may write the pointer before the entry; both are on their way. */
static u64 csb_take(struct gen9_engine *engine, unsigned int index)
{
	unsigned int reads;
	u64 entry;

	for (reads = 0; reads < CSB_READS; reads++) {
		entry = READ_ONCE(*csb_entry(engine, index));
		if (entry != CSB_UNWRITTEN)
			break;
		cpu_relax();
	}
	WRITE_ONCE(*csb_entry(engine, index), CSB_UNWRITTEN);
	return entry;
}

void gen9_csb_process(struct gen9_engine *engine)
{
	u32 write = READ_ONCE(*csb_write_pointer(engine));

	lockdep_assert_held(&engine->lock);
	if (write >= GEN8_CSB_ENTRIES) {
		unreliable(engine, "bad write pointer of the status buffer", write);
		return;
	}
	if (write == engine->csb_head)
		return;
	rmb(); /* the pointer before the entries */
	while (engine->csb_head != write) {
		engine->csb_head = (engine->csb_head + 1) % GEN8_CSB_ENTRIES;
		csb_event(engine, lower_32_bits(csb_take(engine, engine->csb_head)));
	}
	wake_up_all(&engine->left);
}
