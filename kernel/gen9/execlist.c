// SPDX-License-Identifier: GPL-2.0-only
/*
 * The submit port and the context status buffer. A submission is pending until the buffer has an
 * event that promotes it; hardware loses one that is written before.
 *
 * DOC: ports
 *
 * What hardware should execute follows from the state of the jobs: the first job that may run and
 * then the second. If hardware has something else, and takes a submission, it gets that. The first
 * context may be the one that it executes already: a lite restore, which only moves the tail. So a
 * job is added behind another one, and withdrawn, without an arbitration point of the first.
 *
 * While the first job is kept away from the engine (an invalidation of its guest), the second may
 * begin. Then it is the first from now on. Otherwise one guest could make the job of another one
 * leave and return again and again.
 *
 * Any other submission waits for the job that the engine executes, as long as that job likes. So
 * such a one contains no job, only the host's own context, and the second job is withdrawn before:
 * a job that hardware has can be taken back without another one having to give way first.
 *
 * The tail of the second job in hardware is not kept up to date. It is when the job is the first.
 * Hardware may have begun the second job already, and its save of the context overwrites the tail
 * in the image. So the second job is withdrawn before it is submitted as the second again.
 *
 * Behind an IOMMU the interrupt can be earlier than the entry and the pointer in the status page.
 * Only the page counts: hardware writes it after the image that it has saved. The pointer in the
 * register tells that something is on its way, then the page is looked at again.
 *
 * Hardware may take a context that it has executed last for one that it still has, and not load its
 * image. But between two submissions the image may have been written. So whatever is no lite
 * restore forces a restore.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
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

static struct gen9_context *context_of(const struct ghyvi_job *job)
{
	return gen9_context(job->pgpu_context);
}

static bool ports_contain(struct gen9_context *const *ports, const struct gen9_context *context)
{
	return ports[0] == context || ports[1] == context;
}

bool gen9_has_context(const struct gen9_engine *engine, const struct gen9_context *context)
{
	return ports_contain(engine->active, context) || ports_contain(engine->pending, context);
}

struct ghyvi_job *gen9_running_job(const struct gen9_engine *engine)
{
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (engine->active[0] == context_of(engine->jobs[i]) &&
		    !gen9_job(engine->jobs[i])->ended)
			return engine->jobs[i];
	return NULL;
}

struct ghyvi_job *gen9_present_job(const struct gen9_engine *engine)
{
	const struct gen9_context *context = engine->active[0] ?: engine->pending[0];
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (context == context_of(engine->jobs[i]) && !gen9_job(engine->jobs[i])->ended)
			return engine->jobs[i];
	return NULL;
}

/* ---- submission ---- */

static u64 element_of(struct gen9_context *context, u32 tail)
{
	WRITE_ONCE(gen9_state(context)[GHYVI_CTX_RING_TAIL], tail);
	return context->descriptor;
}

static void elsp_submit(struct gen9_engine *engine, u64 first, u64 second)
{
	lockdep_assert_held(&engine->lock);
	gen9_ggtt_flush(engine->gpu);
	wmb(); /* commands, images and tables before the submission */
	gen9_engine_write(engine, RING_ELSP, upper_32_bits(second));
	gen9_engine_write(engine, RING_ELSP, lower_32_bits(second));
	gen9_engine_write(engine, RING_ELSP, upper_32_bits(first));
	gen9_engine_write(engine, RING_ELSP, lower_32_bits(first));
}

void gen9_submit_kernel(struct gen9_engine *engine, u32 tail)
{
	engine->kernel_tail = tail;
	engine->pending[0] = engine->kernel_context;
	elsp_submit(engine, element_of(engine->kernel_context, tail) | CTX_DESC_FORCE_RESTORE, 0);
}

/* The ring of the kernel context contains NOOPs now: two more take jobs off the engine. */
static void submit_nothing(struct gen9_engine *engine)
{
	gen9_submit_kernel(engine, (engine->kernel_tail + GEN9_TAIL_BYTES) % GHYVI_PAGE_BYTES);
}

/*
 * The tail with which the job is submitted. Behind its end by two NOOPs when its image is loaded,
 * which may have its head at the end, in the last batch: with this tail the ring is not empty. If
 * hardware has the job it may have executed all of it, so the tail moves.
 */
static u32 next_tail(const struct gen9_job *job, bool present)
{
	return present ? max(job->end, job->hw_tail + GEN9_TAIL_BYTES) :
			 min(job->end + GEN9_TAIL_BYTES, job->limit);
}

/* Test whether there are NOOPs to withdraw a second job when the first was submitted with @tail. */
static bool may_have_second(const struct gen9_job *job, u32 tail)
{
	return tail + GEN9_TAIL_BYTES <= job->limit;
}

static u64 job_element(struct gen9_engine *engine, struct ghyvi_job *base, bool lite)
{
	struct gen9_job *job = gen9_job(base);
	u32 tail = next_tail(job, ports_contain(engine->active, context_of(base)));

	if (WARN_ON_ONCE(tail > job->limit)) {
		tail = job->hw_tail;
		lite = false;
	}
	job->hw_tail = tail;
	set_bit(engine->id, &gen9_client(base->client)->engines);
	return element_of(context_of(base), tail) | (lite ? 0 : CTX_DESC_FORCE_RESTORE);
}

static void submit_jobs(struct gen9_engine *engine, struct ghyvi_job *base,
			struct ghyvi_job *behind)
{
	u64 first, second = 0;

	engine->pending[0] = context_of(base);
	first = job_element(engine, base, engine->active[0] == context_of(base));
	if (behind && may_have_second(gen9_job(base), gen9_job(base)->hw_tail) &&
	    !ports_contain(engine->active, context_of(behind))) {
		engine->pending[1] = context_of(behind);
		second = job_element(engine, behind, false);
	}
	elsp_submit(engine, first, second);
}

static bool must_leave(const struct gen9_engine *engine, const struct ghyvi_job *base)
{
	return gen9_job(base)->stop >= 0 || engine->paused ||
	       atomic_read(&gen9_client(base->client)->held);
}

/* Get the jobs that hardware should execute, in order: @running is the first if it may stay. */
static void wanted_jobs(const struct gen9_engine *engine, const struct ghyvi_job *running,
			struct ghyvi_job **jobs)
{
	unsigned int i, count = 0;

	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (!gen9_job(engine->jobs[i])->ended && !must_leave(engine, engine->jobs[i]))
			jobs[count++] = engine->jobs[i];
	if (count == GEN9_PORTS && jobs[1] == running)
		swap(jobs[0], jobs[1]);
}

/* The engine executes the first of the wanted jobs. */
static bool must_submit(const struct gen9_engine *engine, struct ghyvi_job *const *jobs)
{
	const struct gen9_job *job = gen9_job(jobs[0]);
	const struct gen9_context *second = jobs[1] ? context_of(jobs[1]) : NULL;

	if (job->hw_tail < job->end)
		return true;
	if (engine->active[1] == second)
		return false;
	return engine->active[1] || may_have_second(job, next_tail(job, true));
}

static void jobs_settle(struct gen9_engine *engine);

void gen9_engine_update(struct gen9_engine *engine)
{
	struct ghyvi_job *jobs[GEN9_PORTS] = {}, *running;

	lockdep_assert_held(&engine->lock);
	/* A reset is in progress, and decides how the job ends that it is for. */
	if (engine->blocked)
		return;
	jobs_settle(engine);
	if (engine->pending[0])
		return;
	running = gen9_running_job(engine);
	wanted_jobs(engine, running, jobs);
	if (!running || running == jobs[0]) {
		if (jobs[0] && (!running || must_submit(engine, jobs)))
			submit_jobs(engine, jobs[0], jobs[1]);
	} else if (engine->active[1]) {
		submit_jobs(engine, running, NULL);
	} else {
		submit_nothing(engine);
	}
}

/* ---- the time and the end of jobs ---- */

static void watchdog_start(struct gen9_engine *engine, struct gen9_job *job, u64 now, u64 left)
{
	job->deadline_ns = now + left;
	mod_delayed_work(engine->gpu->wq, &engine->watchdog, nsecs_to_jiffies(left) + 1);
}

void gen9_job_restart_budget(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);

	lockdep_assert_held(&engine->lock);
	job->left_ns = base->budget_ns;
	if (base->budget_ns && job->since_ns)
		watchdog_start(engine, job, ktime_get_ns(), job->left_ns);
}

static void job_begins(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);
	u64 now = ktime_get_ns();

	job->irq_turns = GEN9_IRQ_TURNS;
	if (job->since_ns)
		return;
	job->since_ns = now;
	job->faulted = false;
	gen9_watch_start(engine);
	if (!base->begun_ns)
		WRITE_ONCE(base->begun_ns, now);
	if (base->budget_ns)
		watchdog_start(engine, job, now, job->left_ns);
}

static void job_pauses(struct gen9_job *job)
{
	u64 now = ktime_get_ns();

	if (!job->since_ns)
		return;
	job->spent_ns += now - job->since_ns;
	job->since_ns = 0;
	if (job->deadline_ns)
		job->left_ns = job->deadline_ns > now ? job->deadline_ns - now : 1;
	job->deadline_ns = 0;
}

void gen9_jobs_account(struct gen9_engine *engine)
{
	const struct ghyvi_job *running = gen9_running_job(engine);
	unsigned int i;

	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++) {
		if (engine->jobs[i] == running)
			job_begins(engine, engine->jobs[i]);
		else
			job_pauses(gen9_job(engine->jobs[i]));
	}
	gen9_frequency_update(engine, running);
	if (running)
		gen9_irq_job_runs(engine, running);
}

void gen9_job_end(struct gen9_engine *engine, struct ghyvi_job *base, enum ghyvi_job_status status)
{
	struct gen9_job *job = gen9_job(base);

	lockdep_assert_held(&engine->lock);
	job_pauses(job);
	job->status = status;
	job->ended = true;
	if (engine->error_context == context_of(base))
		engine->error_context = NULL; /* its address may become another one's */
	WRITE_ONCE(base->busy_ns, base->begun_ns ? max_t(u64, job->spent_ns, 1) : 0);
	queue_work(engine->gpu->wq, &engine->done_work);
	wake_up_all(&engine->left);
}

void gen9_job_record_fault(struct gen9_engine *engine, struct ghyvi_job *base)
{
	u32 head = gen9_engine_read(engine, RING_HEAD) & (u32)RING_HEAD_MASK;
	struct ghyvi_job_fault *fault = &base->fault;
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	for (i = 0; i < GHYVI_NR_FAULT_REGISTERS; i++)
		fault->registers[i] = gen9_engine_read(engine, ghyvi_fault_register(i));
	fault->has_registers = true;
	fault->acthd = (u64)gen9_engine_read(engine, RING_ACTHD_UDW) << 32 |
		       gen9_engine_read(engine, RING_ACTHD);
	fault->ipehr = gen9_engine_read(engine, RING_IPEHR);
	fault->instdone = gen9_engine_read(engine, RING_INSTDONE);
	fault->ring_head = gen9_ring_offset(base, head);
	fault->valid = true;
}

/* The status with which the job ends now, or -1: it is in hardware, or will be again. */
static int end_of(const struct gen9_engine *engine, const struct ghyvi_job *base)
{
	const struct gen9_job *job = gen9_job(base);

	if (job->ended || gen9_has_context(engine, context_of(base)))
		return -1;
	/* It would have ended so in the reset, had it not left before. */
	if (job->stop <= GHYVI_JOB_PREEMPTED && engine->errors &&
	    engine->error_context == context_of(base))
		return GHYVI_JOB_ERROR;
	if (base->begun_ns && gen9_context_reached(context_of(base), job->end))
		return job->refused ? GHYVI_JOB_ERROR : GHYVI_JOB_COMPLETE;
	return job->stop;
}

/*
 * End jobs that have left. Their last events may have no interrupt yet, which would come after they
 * have been given back. The engine may have begun the next job, too, whose events are among those.
 */
static void jobs_settle(struct gen9_engine *engine)
{
	int status[GEN9_PORTS];
	unsigned int i;
	bool any;
	u32 sources;

	do {
		any = false;
		for (i = 0; i < GEN9_PORTS; i++) {
			status[i] = engine->jobs[i] ? end_of(engine, engine->jobs[i]) : -1;
			any |= status[i] >= 0;
		}
		if (!any)
			return;
		sources = gen9_irq_take(engine);
		gen9_csb_process(engine);
		gen9_irq_deliver(engine, sources | engine->late_sources);
		for (i = 0; i < GEN9_PORTS; i++)
			if (status[i] >= 0)
				gen9_job_end(engine, engine->jobs[i], status[i]);
	} while (any);
}

/* ---- events ---- */

static void report_unreliable(struct gen9_engine *engine, const char *what, u64 value)
{
	if (__ratelimit(&engine->gpu->unreliable))
		dev_warn(&engine->gpu->pdev->dev, "%s: %s (0x%llx)\n",
			 ghyvi_engine_name(engine->id), what, (unsigned long long)value);
}

static void ports_promoted(struct gen9_engine *engine)
{
	unsigned int i;

	for (i = 0; i < GEN9_PORTS; i++) {
		engine->active[i] = engine->pending[i];
		engine->pending[i] = NULL;
	}
}

static void csb_event(struct gen9_engine *engine, u32 status)
{
	if (!(status & CSB_PROMOTES)) {
		engine->active[0] = status & GEN8_CTX_STATUS_ACTIVE_IDLE ? NULL : engine->active[1];
		engine->active[1] = NULL;
	} else if (engine->pending[0]) {
		ports_promoted(engine);
	} else {
		report_unreliable(engine, "a status event without a submission", status);
	}
	gen9_jobs_account(engine);
	/* The reset may have been put off because of a job that did not leave. */
	if (engine->errors && !engine->blames)
		queue_work(engine->gpu->wq, &engine->error_work);
}

/*
 * Hardware may write the pointer before the entry; both are on their way. The register has the
 * entry, too, but if that were taken, the one that comes late would be taken for the next event at
 * its place. Returns CSB_UNWRITTEN if it has not come yet.
 */
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

/* The last event that hardware has written, or will have. After a reset it is the preset value. */
static unsigned int last_event(const struct gen9_engine *engine)
{
	u32 pointer = gen9_engine_read(engine, RING_CSB_POINTER);

	return pointer == ~0u ? engine->csb_head : pointer & (u32)CSB_POINTER_WRITE;
}

bool gen9_csb_is_late(const struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	return last_event(engine) != engine->csb_head;
}

/* The job that has raised the interrupts may have begun by this event. */
static void deliver_late(struct gen9_engine *engine)
{
	gen9_irq_deliver(engine, engine->late_sources);
	if (engine->csb_head == engine->sources_event)
		engine->late_sources = 0;
}

void gen9_deliver_soon(struct gen9_engine *engine, u32 sources)
{
	lockdep_assert_held(&engine->lock);
	gen9_irq_deliver(engine, sources);
	engine->sources_event = last_event(engine);
	if (engine->csb_head == engine->sources_event)
		return;
	engine->late_sources |= sources;
	gen9_watch_soon(engine);
}

/* The engine has reported its error after the event @error_event. */
static void blame_context(struct gen9_engine *engine)
{
	if (!engine->blames || engine->csb_head != engine->error_event)
		return;
	engine->blames = false;
	engine->error_context = engine->active[0] ?: engine->pending[0];
	queue_work(engine->gpu->wq, &engine->error_work);
}

void gen9_blame_soon(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	engine->blames = true;
	engine->error_event = last_event(engine);
	blame_context(engine);
	gen9_csb_process(engine);
	if (engine->blames)
		gen9_watch_soon(engine);
}

void gen9_csb_process(struct gen9_engine *engine)
{
	u32 write = READ_ONCE(*csb_write_pointer(engine));

	lockdep_assert_held(&engine->lock);
	if (write >= GEN8_CSB_ENTRIES) {
		report_unreliable(engine, "bad write pointer of the status buffer", write);
		return;
	}
	if (write == engine->csb_head)
		return;
	rmb(); /* the pointer before the entries */
	while (engine->csb_head != write) {
		unsigned int next = (engine->csb_head + 1) % GEN8_CSB_ENTRIES;
		u64 entry = csb_take(engine, next);

		if (entry == CSB_UNWRITTEN) {
			gen9_watch_soon(engine);
			break;
		}
		engine->csb_head = next;
		csb_event(engine, lower_32_bits(entry));
		blame_context(engine);
		deliver_late(engine);
	}
	wake_up_all(&engine->left);
}
