// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine is a thread that takes one job at a time. It loads the ring state from the context,
 * executes commands until the ring head reaches the tail, and saves the state.
 *
 * DOC: preemption
 *
 * A job can be preempted between any two commands, of the indirect context batch too, between two
 * bands of a blit, and anywhere in a dispatch (compute.c). Its register state is then saved in the
 * host's copy of the context. Its position (the batches that it is in, their addresses, the rows of
 * the blit that are done, and what the dispatch has reached) is saved in struct softgpu_job. The
 * guest can access neither. The next run() resumes at that position. A band is at most 2 MiB, so a
 * preemption request waits for that, for the process that executes the dispatch, or for one other
 * command. A nested job that waits for a page ends at once and executes its command again,
 * unless it is within a band of a blit.
 *
 * DOC: relief
 *
 * An engine that has no further job lets its thread complete the last one, so that the completion
 * needs no other thread (softgpu_done_may_wait()). The thread may wait for the guest's locks
 * then. A work item executes the jobs that arrive meanwhile. From within the work item no
 * completion waits for a guest, so the engine never does. The items have a workqueue of their pGPU,
 * which runs those of all engines at a time: in the system's, they would wait for other items, and
 * jobs of any length would keep other items waiting.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "engine.h"
#include "softgpu.h"
#include "workers.h"

/* struct softgpu_job, @state */
enum {
	JOB_QUEUED = 1,
	JOB_RUNNING,
	JOB_LEAVING, /* the final status is decided; the tail can no longer move */
};

#define POLL_NS 10000u
#define POLL_MAX_NS 500000u

/*
 * A command waits for a value in memory. Poll after a pause. Pauses grow with the time that it has
 * waited, so that a wait without end does not cost the host a timer interrupt each 10 us. A request
 * to stop the job, or to preempt it, needs no timer.
 */
static int softgpu_pause(struct softgpu_engine *engine)
{
	const struct softgpu_job *job = softgpu_job(engine->job);

	engine->pause_ns = min(engine->pause_ns + engine->pause_ns / 4 + POLL_NS, POLL_MAX_NS);
	softgpu_stream_rewind(engine);
	softgpu_raise(engine);
	softgpu_access_end(engine);
	(void)wait_event_hrtimeout(engine->passes, READ_ONCE(job->stop) || READ_ONCE(job->preempt),
				   engine->pause_ns);
	softgpu_access_begin(engine);
	return softgpu_decide(engine);
}

static int softgpu_step(struct softgpu_engine *engine)
{
	int verdict = SOFTGPU_OK;

	if (--engine->commands_left <= 0)
		verdict = softgpu_checkpoint(engine);
	if (verdict)
		return verdict;
	engine->redo = true;
	verdict = softgpu_stream_fetch(engine);
	if (!verdict)
		verdict = softgpu_command(engine);
	if (likely(!verdict))
		return SOFTGPU_OK;
	switch (verdict) {
	case SOFTGPU_AGAIN:
		return softgpu_pause(engine);
	case SOFTGPU_PREEMPTED:
		softgpu_stream_rewind(engine);
		return verdict;
	case SOFTGPU_DONE: /* the indirect context batch ends at its size */
		softgpu_stream_pop(engine);
		return SOFTGPU_OK;
	default:
		return verdict;
	}
}

/* Get the indirect context batch. Returns false if the context has none. */
static bool softgpu_indirect(const struct softgpu_engine *engine, struct softgpu_stream *stream)
{
	u32 pointer = engine->job->context[GHYVI_CTX_INDIRECT];

	*stream = (struct softgpu_stream){
		.space = SOFTGPU_GGTT,
		.privileged = true,
		.address = ghyvi_indirect_begin(pointer),
		.end = ghyvi_indirect_end(pointer),
	};
	return engine->id == GHYVI_RCS && stream->end > stream->address;
}

/* Test whether the ring head has reached the tail that the engine knows. */
static bool softgpu_at_tail(const struct softgpu_engine *engine)
{
	return !engine->level && engine->ring_head == engine->ring_tail;
}

/* Decide before a command whether the job ends: at the ring's tail, or by softgpu_decide(). */
static int softgpu_continue(struct softgpu_engine *engine)
{
	struct ghyvi_job *job = engine->job;
	int verdict = SOFTGPU_OK;
	unsigned long flags;

	if (likely(!softgpu_at_tail(engine) && !READ_ONCE(softgpu_job(job)->preempt) &&
		   !READ_ONCE(softgpu_job(job)->stop)))
		return SOFTGPU_OK;

	spin_lock_irqsave(&engine->lock, flags);
	if (softgpu_at_tail(engine)) {
		/* Commands that update_tail() added have budgets of their own. */
		engine->ring_tail = softgpu_job(job)->tail & RING_TAIL_MASK;
		if (!softgpu_at_tail(engine)) {
			softgpu_job(job)->since_ns = ktime_get_ns();
			softgpu_job(job)->slices = 0;
		} else if (!softgpu_job(job)->stop) {
			verdict = SOFTGPU_DONE;
		}
	}
	if (verdict)
		softgpu_job(job)->state = JOB_LEAVING;
	spin_unlock_irqrestore(&engine->lock, flags);
	if (verdict)
		return verdict;

	if (!engine->level)
		engine->command_pos = engine->ring_head;
	if (engine->ring_tail >= engine->ring_bytes)
		return softgpu_error(engine, "ring tail %#x is outside the ring of %#x bytes",
				     engine->ring_tail, engine->ring_bytes);
	return softgpu_decide(engine);
}

/* Restore the batches that the job was in when it was preempted. */
static void softgpu_resume(struct softgpu_engine *engine)
{
	const struct softgpu_job *job = softgpu_job(engine->job);
	unsigned int i;

	for (i = 0; i < job->level; i++)
		engine->streams[1 + i] = (struct softgpu_stream){
			.space = job->batches[i].ggtt ? SOFTGPU_GGTT : SOFTGPU_PPGTT,
			.privileged = job->batches[i].ggtt,
			.address = job->batches[i].address,
		};
	if (job->indirect)
		engine->streams[1].end =
			ghyvi_indirect_end(engine->job->context[GHYVI_CTX_INDIRECT]);
	engine->level = job->level;
}

static void softgpu_save_gprs(const struct softgpu_engine *engine)
{
	unsigned int i;

	for (i = 0; i < 2 * SOFTGPU_GPRS; i++)
		engine->job->context[GHYVI_CTX_GPR + 2 * i] = engine->gpr[i];
}

static void softgpu_suspend(struct softgpu_engine *engine)
{
	struct ghyvi_job *job = engine->job;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&engine->lock, flags);
	softgpu_job(job)->state = JOB_LEAVING;
	spin_unlock_irqrestore(&engine->lock, flags);
	softgpu_save_gprs(engine); /* needed for Gen8 as well, although its image has no GPRs */
	for (i = 0; i < engine->level; i++) {
		softgpu_job(job)->batches[i].address = engine->streams[1 + i].address;
		softgpu_job(job)->batches[i].ggtt = engine->streams[1 + i].space == SOFTGPU_GGTT;
	}
	softgpu_job(job)->level = engine->level;
	softgpu_job(job)->indirect = engine->level && softgpu_stream(engine)->end;
	softgpu_job(job)->begun = true;
	/*
	 * Keep the tail that the engine knows: a tail moved since then must not extend the budget
	 * of the earlier commands, see softgpu_decide().
	 */
	softgpu_job(job)->spent_ns = ktime_get_ns() - softgpu_job(job)->since_ns;
	softgpu_job(job)->known_tail = engine->ring_tail;
	job->context[GHYVI_CTX_RING_TAIL] = softgpu_job(job)->tail;
}

static int softgpu_load(struct softgpu_engine *engine)
{
	struct ghyvi_job *job = engine->job;
	const u32 *context = job->context;
	u32 control = context[GHYVI_CTX_RING_CTL];
	unsigned int i;

	engine->level = 0;
	engine->pause_ns = 0;
	engine->streams[0] = (struct softgpu_stream){ .space = SOFTGPU_GGTT, .privileged = true };
	engine->packet[0] = 0;
	engine->ring_start = context[GHYVI_CTX_RING_START];
	engine->ring_bytes = (control & RING_CTL_PAGES) + GHYVI_PAGE_BYTES;
	engine->ring_head = context[GHYVI_CTX_RING_HEAD] & RING_HEAD_MASK;
	engine->ring_tail = context[GHYVI_CTX_RING_TAIL] & RING_TAIL_MASK;
	if (softgpu_job(job)->begun)
		engine->ring_tail = softgpu_job(job)->known_tail;
	engine->command_pos = engine->ring_head;
	engine->context_timestamp = context[GHYVI_CTX_TIMESTAMP];
	memset(engine->gpr, 0, sizeof(engine->gpr));
	if (softgpu_job(job)->begun || (job->restore && engine->client->base.params.gen >= 9))
		for (i = 0; i < 2 * SOFTGPU_GPRS; i++)
			engine->gpr[i] = context[GHYVI_CTX_GPR + 2 * i];
	softgpu_resume(engine);
	softgpu_stream_drop_window(engine);
	softgpu_tlb_reset(engine);
	engine->ppgtt_mask = job->levels == GHYVI_LEVEL_PML4 ? GENMASK_ULL(47, 0) :
							       GENMASK_ULL(31, 0);

	if (!(control & RING_CTL_ENABLE) || !IS_ALIGNED(engine->ring_start, GHYVI_PAGE_BYTES) ||
	    engine->ring_head >= engine->ring_bytes || engine->ring_tail >= engine->ring_bytes)
		return softgpu_error(engine, "bad ring: start %#x control %#x head %#x tail %#x",
				     engine->ring_start, control, engine->ring_head,
				     engine->ring_tail);
	if (job->levels != GHYVI_LEVEL_PML4 && job->levels != GHYVI_LEVEL_PDP)
		return softgpu_error(engine, "%u levels of tables", job->levels);
	if (job->nested &&
	    (!engine->client->base.params.owner || !engine->client->base.params.ggtt_table))
		return softgpu_error(engine, "nested job of a client without guest tables");
	return SOFTGPU_OK;
}

static void softgpu_save(struct softgpu_engine *engine)
{
	u32 *context = engine->job->context;

	context[GHYVI_CTX_RING_HEAD] = engine->ring_head;
	context[GHYVI_CTX_TIMESTAMP] = softgpu_context_timestamp(engine);
	if (engine->client->base.params.gen >= 9)
		softgpu_save_gprs(engine);
}

/* Execute @job in the calling thread. Returns the status for done(). */
static enum ghyvi_job_status softgpu_engine_execute(struct softgpu_engine *engine,
						    struct ghyvi_job *job)
{
	enum ghyvi_job_status status = GHYVI_JOB_COMPLETE;
	struct softgpu_stream indirect;
	unsigned long flags;
	int verdict;

	engine->client = softgpu_client(job->client);
	engine->started_ns = ktime_get_ns();
	spin_lock_irqsave(&engine->lock, flags);
	if (!softgpu_job(job)->stop)
		softgpu_job(job)->state = JOB_RUNNING;
	softgpu_job(job)->since_ns = engine->started_ns - softgpu_job(job)->spent_ns;
	spin_unlock_irqrestore(&engine->lock, flags);
	if (softgpu_job(job)->state == JOB_QUEUED)
		return GHYVI_JOB_CANCELLED;
	WRITE_ONCE(job->begun_ns, engine->started_ns);
	engine->excused = false;

	softgpu_access_begin(engine);
	verdict = softgpu_load(engine);
	if (!verdict && !softgpu_job(job)->begun && softgpu_indirect(engine, &indirect))
		softgpu_stream_push(engine, 1, &indirect);
	while (!verdict) {
		verdict = softgpu_continue(engine);
		if (!verdict)
			verdict = softgpu_step(engine);
	}
	/*
	 * After an error RING_HEAD must be the offset of the bad command. After a cancel it stays
	 * after the last command, which had its effect.
	 */
	if (verdict == SOFTGPU_ERROR && !engine->level)
		engine->ring_head = engine->command_pos;
	softgpu_save(engine);
	if (verdict == SOFTGPU_ERROR || verdict == SOFTGPU_CANCELLED)
		job->fault = (struct ghyvi_job_fault){
			.valid = true,
			.excused = engine->excused,
			.acthd = softgpu_acthd(engine),
			.ipehr = engine->packet[0],
			.ring_head = engine->ring_head,
		};
	if (verdict == SOFTGPU_PREEMPTED)
		softgpu_suspend(engine);
	softgpu_access_end(engine);

	if (verdict == SOFTGPU_ERROR)
		status = GHYVI_JOB_ERROR;
	else if (verdict == SOFTGPU_CANCELLED)
		status = GHYVI_JOB_CANCELLED;
	else if (verdict == SOFTGPU_PREEMPTED)
		status = GHYVI_JOB_PREEMPTED;
	job->events = 0;
	if (status == GHYVI_JOB_COMPLETE)
		job->events = engine->events;
	else
		softgpu_raise(engine);
	engine->events = 0;
	WRITE_ONCE(job->busy_ns, ktime_get_ns() - engine->started_ns);
	return status;
}

bool softgpu_engine_work(struct softgpu_engine *engine)
{
	enum ghyvi_job_status status;
	struct ghyvi_job *job;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	job = engine->job;
	spin_unlock_irqrestore(&engine->lock, flags);
	if (!job)
		return false;
	status = softgpu_engine_execute(engine, job);
	spin_lock_irqsave(&engine->lock, flags);
	softgpu_job(job)->state = JOB_LEAVING;
	if (status == GHYVI_JOB_CANCELLED && !job->busy_ns)
		job->context[GHYVI_CTX_RING_TAIL] =
			softgpu_job(job)->tail; /* it may be run later */
	WRITE_ONCE(engine->job, NULL);
	engine->relieved = false;
	WRITE_ONCE(engine->left, engine->left + 1);
	spin_unlock_irqrestore(&engine->lock, flags);
	wake_up_all(&engine->gone);
	job->done(job, status);
	return true;
}

static void softgpu_relieve(struct work_struct *work)
{
	softgpu_engine_work(container_of(work, struct softgpu_engine, relief));
}

bool softgpu_done_may_wait(struct ghyvi_pgpu_device *pgpu, enum ghyvi_engine_id id)
{
	struct softgpu_engine *engine = &softgpu_of(pgpu)->engines[id];
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&engine->lock, flags);
	may = current == engine->thread && !engine->job;
	if (may)
		engine->away = true;
	spin_unlock_irqrestore(&engine->lock, flags);
	return may;
}

/* The thread is back. Returns true if it has a job to execute. */
static bool softgpu_thread_has_job(struct softgpu_engine *engine)
{
	unsigned long flags;
	bool has;

	spin_lock_irqsave(&engine->lock, flags);
	engine->away = false;
	has = engine->job && !engine->relieved;
	spin_unlock_irqrestore(&engine->lock, flags);
	return has;
}

static int softgpu_engine_thread(void *data)
{
	struct softgpu_engine *engine = data;
	bool has_job;

	do {
		wait_event_idle(engine->wake, (has_job = softgpu_thread_has_job(engine)) ||
						      kthread_should_stop());
		if (has_job)
			softgpu_engine_work(engine);
	} while (has_job);
	return 0;
}

int softgpu_engine_init(struct softgpu_engine *engine, struct softgpu *gpu, enum ghyvi_engine_id id)
{
	engine->gpu = gpu;
	engine->id = id;
	engine->base = ghyvi_engine_base(id);
	engine->epoch = 1;
	spin_lock_init(&engine->lock);
	mutex_init(&engine->access);
	init_waitqueue_head(&engine->slice_end);
	init_waitqueue_head(&engine->wake);
	init_waitqueue_head(&engine->passes);
	init_waitqueue_head(&engine->gone);
	INIT_WORK(&engine->relief, softgpu_relieve);
	if (id == GHYVI_BCS) {
		engine->rows = vzalloc(2 * SOFTGPU_ROW_BYTES);
		if (!engine->rows)
			return -ENOMEM;
	}
	return 0;
}

int softgpu_engine_start(struct softgpu_engine *engine)
{
	struct task_struct *thread = kthread_run(softgpu_engine_thread, engine, "ghyvi/%s",
						 ghyvi_engine_name(engine->id));

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	engine->thread = thread;
	return 0;
}

void softgpu_engine_fini(struct softgpu_engine *engine)
{
	if (engine->thread) {
		WRITE_ONCE(engine->stopping, true);
		kthread_stop(engine->thread);
		cancel_work_sync(&engine->relief);
	}
	vfree(engine->rows);
	if (engine->gpu)
		mutex_destroy(&engine->access);
}

static struct softgpu_engine *engine_of(struct ghyvi_pgpu_device *pgpu, const struct ghyvi_job *job)
{
	return &softgpu_of(pgpu)->engines[job->engine];
}

int softgpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct softgpu_engine *engine = engine_of(pgpu, job);
	bool relieved = false;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->stopping || !engine->thread) {
		err = -EIO;
	} else if (engine->job) {
		err = -EBUSY;
	} else {
		softgpu_job(job)->state = JOB_QUEUED;
		softgpu_job(job)->tail = job->context[GHYVI_CTX_RING_TAIL];
		softgpu_job(job)->stop = false;
		softgpu_job(job)->preempt = false;
		/* A job that the thread itself gives its engine is executed after done(). */
		relieved = engine->away && current != engine->thread;
		engine->relieved = relieved;
		WRITE_ONCE(engine->job, job);
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	if (relieved)
		queue_work(engine->gpu->workers, &engine->relief);
	else if (!err)
		wake_up_all(&engine->wake);
	return err;
}

int softgpu_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	struct softgpu_engine *engine = engine_of(pgpu, job);
	unsigned long flags;
	int err = -ESTALE;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->job == job && softgpu_job(job)->state != JOB_LEAVING) {
		softgpu_job(job)->tail = tail;
		err = 0;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return err;
}

/* Wake the engine if @job waits: for a worker, a value, or a guest page; see softgpu_fault(). */
static void wake_waiting(struct softgpu_engine *engine, const struct ghyvi_job *job)
{
	struct ghyvi_client_owner *owner = job->client->params.owner;

	wake_up_all(&engine->passes);
	if (job->nested && owner)
		wake_up_all(&owner->faulted);
}

void softgpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct softgpu_engine *engine = engine_of(pgpu, job);
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->job == job) {
		WRITE_ONCE(softgpu_job(job)->preempt, true);
		wake_waiting(engine, job);
	}
	spin_unlock_irqrestore(&engine->lock, flags);
}

/* Returns whether the job runs. It has ended when engine->left is not *@left any more. */
static bool job_stop(struct softgpu_engine *engine, struct ghyvi_job *job, u64 *left)
{
	bool running = false;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	/* The same job may be run again after it ended: compare @left instead of @job. */
	*left = engine->left;
	if (engine->job == job) {
		WRITE_ONCE(softgpu_job(job)->stop, true);
		running = softgpu_job(job)->state != JOB_QUEUED;
		wake_waiting(engine, job);
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return running;
}

void softgpu_stop(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	u64 left;

	job_stop(engine_of(pgpu, job), job, &left);
}

/*
 * Do not wait for a job that is still queued. The thread may be in done() of the previous job,
 * which may wait for a lock that the caller holds. Because backend.stop is set under engine->lock,
 * the thread will not begin the job.
 */
void softgpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct softgpu_engine *engine = engine_of(pgpu, job);
	u64 left;

	might_sleep();
	if (job_stop(engine, job, &left))
		wait_event(engine->gone, READ_ONCE(engine->left) != left);
	/* A worker may not have noticed yet that the job has ended, now or before. */
	softgpu_client_take_pages(softgpu_client(job->client));
}
