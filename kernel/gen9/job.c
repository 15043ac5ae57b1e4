// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: the operations of the core, and what stops a job that does not stop by itself. A job is
 * taken off its engine by a preemption; if that takes too long the engine is reset.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <ghyvi/cpu_time.h>
#include "gen9.h"

#define POLL_JIFFIES 1

unsigned int gen9_preempt_timeout_ms = GEN9_PREEMPT_TIMEOUT_MS;

/* A job that could leave at once needs some ms on a busy host. */
static int timeout_set(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, GEN9_PREEMPT_TIMEOUT_MIN_MS,
				     GEN9_PREEMPT_TIMEOUT_MAX_MS);
}

static const struct kernel_param_ops timeout_ops = { .set = timeout_set, .get = param_get_uint };
module_param_cb(preempt_timeout_ms, &timeout_ops, &gen9_preempt_timeout_ms, 0644);
MODULE_PARM_DESC(
	preempt_timeout_ms,
	"time in ms that a job gets to leave an engine for an invalidation by its own guest: 50 to 60000, default 640");

static struct gen9_engine *engine_of(struct ghyvi_pgpu_device *pgpu, const struct ghyvi_job *job)
{
	return &gen9_of(pgpu)->engines[job->engine];
}

/* ---- time limits ---- */

static bool has_job(const struct gen9_engine *engine, const struct ghyvi_job *base)
{
	lockdep_assert_held(&engine->lock);
	return engine->jobs[0] == base || engine->jobs[1] == base;
}

void gen9_engine_kick(struct gen9_engine *engine)
{
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	gen9_csb_process(engine);
	gen9_engine_update(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
}

bool gen9_jobs_contain(const struct gen9_jobs *jobs, const struct ghyvi_job *base)
{
	unsigned int i;

	if (jobs->job) /* another one may be at its address when it has ended */
		return base == jobs->job && gen9_job(base)->stop > GHYVI_JOB_PREEMPTED;
	for (i = 0; i < jobs->nr_clients; i++)
		if (jobs->clients[i] == base->client)
			return true;
	return !jobs->clients;
}

static bool jobs_have_left(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	unsigned long flags;
	bool left = true;
	unsigned int i;

	spin_lock_irqsave(&engine->lock, flags);
	gen9_csb_process(engine);
	gen9_engine_update(engine);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		if (!gen9_job(engine->jobs[i])->ended && gen9_jobs_contain(jobs, engine->jobs[i]) &&
		    gen9_has_context(engine, gen9_context(engine->jobs[i]->pgpu_context)))
			left = false;
	spin_unlock_irqrestore(&engine->lock, flags);
	return left;
}

/* Events may come without an interrupt, so the status buffer is polled as well. */
static bool wait_a_tick(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	return wait_event_timeout(engine->left, jobs_have_left(engine, jobs), POLL_JIFFIES);
}

/* Returns the engines that have not been left after @limit_ms. */
static unsigned long wait_in_time(struct gen9 *gpu, unsigned long engines,
				  const struct gen9_jobs *jobs, unsigned int limit_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(limit_ms), late = 0;
	unsigned int i;
	bool left;

	for_each_set_bit(i, &engines, GHYVI_ENGINES) {
		do
			left = wait_a_tick(&gpu->engines[i], jobs);
		while (!left && time_before(jiffies, deadline));
		if (!left)
			late |= BIT(i);
	}
	return late;
}

struct forced_leave {
	struct work_struct work;
	struct gen9_engine *engine;
	const struct gen9_jobs *jobs;
};

static void forced_leave_work(struct work_struct *work)
{
	struct forced_leave *call = container_of(work, struct forced_leave, work);
	struct gen9 *gpu = call->engine->gpu;

	mutex_lock(&gpu->control);
	if (!jobs_have_left(call->engine, call->jobs))
		gen9_engine_reset(call->engine, call->jobs);
	mutex_unlock(&gpu->control);
}

/* If another job is in the way there is no reset. The scheduler knows how long that one may be. */
static void force_to_leave(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	struct forced_leave call = { .engine = engine, .jobs = jobs };

	do
		gen9_worker_call(engine->gpu, &call.work, forced_leave_work);
	while (!wait_a_tick(engine, jobs));
}

void gen9_wait_left(struct gen9 *gpu, unsigned long engines, const struct gen9_jobs *jobs,
		    unsigned int limit_ms)
{
	unsigned long late = wait_in_time(gpu, engines, jobs, limit_ms);
	unsigned int i;

	for_each_set_bit(i, &late, GHYVI_ENGINES)
		force_to_leave(&gpu->engines[i], jobs);
}

static void set_paused(struct gen9_engine *engine, bool paused)
{
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	engine->paused = paused;
	spin_unlock_irqrestore(&engine->lock, flags);
	gen9_engine_kick(engine);
}

static const struct gen9_jobs all_jobs;

void gen9_engines_pause(struct gen9 *gpu)
{
	unsigned long late;
	unsigned int i;

	lockdep_assert_held(&gpu->control);
	for (i = 0; i < GHYVI_ENGINES; i++)
		set_paused(&gpu->engines[i], true);
	late = wait_in_time(gpu, BIT(GHYVI_ENGINES) - 1, &all_jobs,
			    READ_ONCE(gen9_preempt_timeout_ms));
	for_each_set_bit(i, &late, GHYVI_ENGINES)
		gen9_engine_reset(&gpu->engines[i], &all_jobs);
}

unsigned long gen9_engines_pause_working(struct gen9 *gpu)
{
	unsigned long paused = 0;
	unsigned int i;

	lockdep_assert_held(&gpu->control);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (gpu->engines[i].blocked || gpu->engines[i].paused)
			continue;
		paused |= BIT(i);
		set_paused(&gpu->engines[i], true);
	}
	wait_in_time(gpu, paused, &all_jobs, READ_ONCE(gen9_preempt_timeout_ms));
	return paused;
}

void gen9_engine_recover(struct gen9_engine *engine, bool forced)
{
	struct gen9 *gpu = engine->gpu;

	mutex_lock(&gpu->control);
	if (!engine->blocked && !engine->paused) {
		set_paused(engine, true);
		wait_in_time(gpu, BIT(engine->id), &all_jobs, READ_ONCE(gen9_preempt_timeout_ms));
		gen9_engine_reset(engine, forced ? &all_jobs : NULL);
		set_paused(engine, false);
	}
	mutex_unlock(&gpu->control);
}

void gen9_engine_resume(struct gen9_engine *engine)
{
	set_paused(engine, false);
}

/* The deadline moves when the job gets a new tail, and belongs to whichever job is there now. */
void gen9_watchdog(struct work_struct *work)
{
	struct gen9_engine *engine =
		container_of(to_delayed_work(work), struct gen9_engine, watchdog);
	struct gen9 *gpu = engine->gpu;
	struct gen9_jobs jobs = {};
	struct ghyvi_job *base;
	u64 deadline = 0, now;
	bool expired;

	spin_lock_irq(&engine->lock);
	gen9_csb_process(engine);
	gen9_engine_update(engine);
	base = gen9_running_job(engine);
	if (base)
		deadline = gen9_job(base)->deadline_ns;
	now = ktime_get_ns();
	expired = deadline && now >= deadline;
	/* When the lock is dropped the job may end, and another one may be at the same address. */
	if (expired) {
		gen9_job(base)->stop = GHYVI_JOB_ERROR;
		gen9_job(base)->overran = true;
		ghyvi_count(base->client->params.stats, budget_overruns);
		gen9_engine_update(engine);
	}
	spin_unlock_irq(&engine->lock);
	jobs.job = base;
	if (expired)
		gen9_wait_left(gpu, BIT(engine->id), &jobs, GEN9_END_MS);
	else if (deadline)
		mod_delayed_work(gpu->wq, &engine->watchdog, nsecs_to_jiffies(deadline - now) + 1);
}

/* ---- run ---- */

static int prepare_first(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);
	u32 pages = base->context[GHYVI_CTX_RING_CTL] & (u32)RING_CTL_PAGES;
	struct gen9_copies copies;
	int err;

	if (!base->commands || !base->pgpu_context)
		return -EINVAL;
	job->iter.commands = base->commands;
	job->ring_bytes = pages + GHYVI_PAGE_BYTES;
	job->tail = base->context[GHYVI_CTX_RING_TAIL];
	/* A job that was preempted has used up a part of its budget. */
	job->left_ns = base->budget_ns;
	err = gen9_install_begin(engine, base);
	if (err)
		return err;
	err = gen9_copies_get(&copies, base);
	if (!err)
		err = gen9_install_commands(engine, base, &copies, &job->tail, &job->refused);
	gen9_copies_put(&copies, engine->gpu);
	if (err)
		return err;
	job->prepared = true;
	/* The first command was refused. */
	return job->refused && job->tail == base->context[GHYVI_CTX_RING_HEAD] ? -EACCES : 0;
}

/* What was preempted gets room for commands that are added. */
int gen9_prepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *base)
{
	struct gen9_engine *engine = engine_of(pgpu, base);
	int err = 0;

	if (gen9_job(base)->prepared)
		gen9_ring_compact(base);
	else
		err = prepare_first(engine, base);
	if (err)
		ghyvi_report_stop(base->client->params.reporter, engine->id,
				  "%s: commands cannot be installed (error %d)",
				  ghyvi_engine_name(engine->id), err);
	else
		gen9_ring_publish(base);
	return err;
}

/* What a guest keeps while its context is idle must be small. */
void gen9_unprepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *base)
{
	struct gen9_context *context = gen9_context(base->pgpu_context);

	if (!context)
		return;
	gen9_context_put_batches(context, gen9_of(pgpu));
	gen9_ring_end(gen9_of(pgpu), context);
}

/* A context is in one port only, and its image belongs to the job that has it. */
static bool can_take(struct gen9_engine *engine, const struct ghyvi_job *base)
{
	lockdep_assert_held(&engine->lock);
	return !engine->jobs[1] &&
	       (!engine->jobs[0] || engine->jobs[0]->pgpu_context != base->pgpu_context);
}

/* An extension of the job may be in progress. */
static void job_take(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);

	lockdep_assert_held(&engine->lock);
	job->stop = -1;
	job->overran = false;
	job->irq_turns = 0;
	job->ended = false;
	job->since_ns = 0;
	job->spent_ns = 0;
	job->deadline_ns = 0;
	base->begun_ns = 0;
	base->busy_ns = 0;
	engine->jobs[engine->jobs[0] ? 1 : 0] = base;
	gen9_csb_process(engine);
	gen9_engine_update(engine);
}

/* The core calls it for one job of an engine at a time. */
int gen9_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *base)
{
	struct gen9_engine *engine = engine_of(pgpu, base);
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&engine->lock, flags);
	if (gen9_of(pgpu)->dead)
		err = -EIO;
	else if (!can_take(engine, base))
		err = -EBUSY;
	else
		job_take(engine, base);
	spin_unlock_irqrestore(&engine->lock, flags);
	return err;
}

static bool can_extend(struct gen9_engine *engine, const struct ghyvi_job *base, u32 tail)
{
	const struct gen9_job *job = gen9_job(base);

	lockdep_assert_held(&engine->lock);
	return job->prepared && !job->ended && !job->refused && !job->sealed &&
	       gen9_ring_has_room(base, tail);
}

void gen9_worker_wait(struct gen9 *gpu, struct work_struct *work)
{
	queue_work(gpu->wq, work);
	flush_work(work);
	destroy_work_on_stack(work);
}

struct extension {
	struct work_struct work;
	struct gen9_engine *engine;
	struct ghyvi_job *job;
	struct gen9_copies copies;
	u32 tail;
	int err;
};

static bool begin_extension(struct gen9_engine *engine, struct ghyvi_job *base, u32 tail)
{
	unsigned long flags;
	bool can;

	spin_lock_irqsave(&engine->lock, flags);
	can = can_extend(engine, base, tail);
	gen9_job(base)->extending = can;
	spin_unlock_irqrestore(&engine->lock, flags);
	return can;
}

/*
 * The job may be run, and end, meanwhile. It is not given back before the end of the extension, so
 * the thread must not be a guest's, and it does not wait for memory. The guest pays for the CPU
 * time all the same.
 */
static void extension_work(struct work_struct *work)
{
	struct extension *call = container_of(work, struct extension, work);
	struct gen9_engine *engine = call->engine;
	struct ghyvi_job *base = call->job;
	struct gen9_job *job = gen9_job(base);
	struct ghyvi_cpu_time time;
	unsigned long flags;
	bool refused;
	int err;

	if (!begin_extension(engine, base, call->tail))
		return;
	ghyvi_cpu_time_begin(&time);
	err = gen9_install_commands(engine, base, &call->copies, &call->tail, &refused);
	spin_lock_irqsave(&engine->lock, flags);
	job->extending = false;
	if (job->ended)
		queue_work(engine->gpu->wq, &engine->done_work);
	if (err) {
		gen9_ring_withdraw(base);
	} else if (!job->ended || job->status == GHYVI_JOB_PREEMPTED) {
		/* A job that has just been preempted executes them when it runs again. */
		job->tail = call->tail;
		base->context[GHYVI_CTX_RING_TAIL] = call->tail;
		job->refused = refused;
		gen9_ring_publish(base);
		gen9_job_restart_budget(engine, base);
		gen9_csb_process(engine);
		gen9_engine_update(engine);
		call->err = 0;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	base->worker_ns += ghyvi_cpu_time_end(&time);
}

int gen9_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	struct extension call = {
		.engine = engine_of(pgpu, job),
		.job = job,
		.tail = tail,
		.err = -ESTALE,
	};

	if (!gen9_job(job)->prepared)
		return -ESTALE;
	if (!gen9_copies_get(&call.copies, job))
		gen9_worker_call(gen9_of(pgpu), &call.work, extension_work);
	gen9_copies_put(&call.copies, gen9_of(pgpu));
	return call.err;
}

void gen9_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *base)
{
	struct gen9_engine *engine = engine_of(pgpu, base);
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	if (has_job(engine, base) && !gen9_job(base)->ended && gen9_job(base)->stop < 0) {
		gen9_job(base)->stop = GHYVI_JOB_PREEMPTED;
		gen9_csb_process(engine);
		gen9_engine_update(engine);
	}
	spin_unlock_irqrestore(&engine->lock, flags);
}

struct cancellation {
	struct work_struct work;
	struct gen9_engine *engine;
	struct ghyvi_job *job;
};

static void cancellation_work(struct work_struct *work)
{
	struct cancellation *call = container_of(work, struct cancellation, work);
	struct gen9_engine *engine = call->engine;
	const struct gen9_jobs jobs = { .job = call->job };
	struct ghyvi_job *base = call->job;
	unsigned long flags;
	bool has_it;

	spin_lock_irqsave(&engine->lock, flags);
	gen9_csb_process(engine);
	has_it = has_job(engine, base) && !gen9_job(base)->ended;
	if (has_it)
		gen9_job(base)->stop = GHYVI_JOB_CANCELLED;
	gen9_engine_update(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
	if (has_it)
		gen9_wait_left(engine->gpu, BIT(engine->id), &jobs, GEN9_END_MS);
}

void gen9_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct cancellation call = { .engine = engine_of(pgpu, job), .job = job };

	gen9_worker_call(gen9_of(pgpu), &call.work, cancellation_work);
}

/* ---- done ---- */

/*
 * Where the guest believes the engine is. Addresses of the host's copies of batches mean nothing to
 * it; then only the position in the ring is left.
 */
static u64 guest_address(const struct gen9_engine *engine, const struct ghyvi_job *base,
			 u64 address)
{
	const struct gen9_window *ring = gen9_context(base->pgpu_context)->ring;
	u64 place = address - ring->ggtt;

	if (place < ring->pages * GHYVI_PAGE_BYTES)
		return base->context[GHYVI_CTX_RING_START] + gen9_ring_offset(base, place);
	if (address - (engine->gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES) < GEN9_HOST_GGTT_BYTES)
		return base->context[GHYVI_CTX_RING_START] + base->fault.ring_head;
	return address;
}

/* Without a reset, the image has the position at which the job was taken off. */
static void record_position(struct gen9_engine *engine, struct ghyvi_job *base)
{
	const struct gen9_context *context = gen9_context(base->pgpu_context);
	const u32 *state = gen9_state(context);
	u32 head = gen9_ring_offset(base, state[GHYVI_CTX_RING_HEAD] & (u32)RING_HEAD_MASK);

	if (base->fault.valid)
		base->fault.acthd = guest_address(engine, base, base->fault.acthd);
	if (base->fault.valid || !base->begun_ns)
		return;
	base->fault = (struct ghyvi_job_fault){
		.valid = true,
		.acthd = base->context[GHYVI_CTX_RING_START] + head,
		.ring_head = gen9_job(base)->refused ? gen9_job(base)->tail : head,
	};
}

/* A refused command was reported by the auditor. */
static void report_error(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct ghyvi_reporter *reporter = base->client->params.reporter;
	const char *name = ghyvi_engine_name(engine->id);

	if (gen9_job(base)->refused || !base->fault.valid)
		return;
	if (gen9_job(base)->faulted)
		ghyvi_report_stop(reporter, engine->id,
				  "%s: context %#x, ring at %#x: page fault at %#llx", name,
				  base->lrca, base->fault.ring_head,
				  (unsigned long long)gen9_job(base)->fault_address);
	else if (gen9_job(base)->overran)
		ghyvi_report_stop(reporter, engine->id,
				  "%s: context %#x, ring at %#x: GPU time of %llu ms used up", name,
				  base->lrca, base->fault.ring_head,
				  (unsigned long long)div_u64(base->budget_ns, NSEC_PER_MSEC));
	else if (base->fault.has_registers)
		ghyvi_report_stop(reporter, engine->id,
				  "%s: context %#x, ring at %#x: reset at command %#010x", name,
				  base->lrca, base->fault.ring_head, base->fault.ipehr);
	else
		ghyvi_report_stop(reporter, engine->id,
				  "%s: context %#x, ring at %#x: error of the engine", name,
				  base->lrca, base->fault.ring_head);
}

static void give_back(struct gen9_engine *engine, struct ghyvi_job *base)
{
	struct gen9_context *context = gen9_context(base->pgpu_context);
	struct gen9_job *job = gen9_job(base);

	if (context->valid)
		gen9_context_store(engine, base);
	switch (job->status) {
	case GHYVI_JOB_COMPLETE:
		base->context[GHYVI_CTX_RING_HEAD] = job->tail;
		break;
	case GHYVI_JOB_PREEMPTED:
		base->context[GHYVI_CTX_RING_TAIL] = job->tail;
		break;
	default:
		record_position(engine, base);
		if (base->fault.valid)
			base->context[GHYVI_CTX_RING_HEAD] = base->fault.ring_head;
		if (job->status == GHYVI_JOB_ERROR)
			report_error(engine, base);
	}
}

/* Take an ended job out of the list. NULL: there is none. */
static struct ghyvi_job *remove_ended(struct gen9_engine *engine)
{
	struct ghyvi_job *base = NULL;
	unsigned int i;

	spin_lock_irq(&engine->lock);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i] && !base; i++)
		if (gen9_job(engine->jobs[i])->ended && !gen9_job(engine->jobs[i])->extending)
			base = engine->jobs[i];
	if (base) {
		if (base == engine->jobs[0])
			engine->jobs[0] = engine->jobs[1];
		engine->jobs[1] = NULL;
	}
	spin_unlock_irq(&engine->lock);
	return base;
}

/* A job that was recalled stays queued in the core, and can be extended there. */
static void let_run_again(struct gen9_engine *engine, struct ghyvi_job *base)
{
	if (gen9_job(base)->status != GHYVI_JOB_PREEMPTED)
		return;
	spin_lock_irq(&engine->lock);
	gen9_job(base)->ended = false;
	spin_unlock_irq(&engine->lock);
}

void gen9_done_work(struct work_struct *work)
{
	struct gen9_engine *engine = container_of(work, struct gen9_engine, done_work);
	struct ghyvi_job *base;

	gen9_irq_synchronize(engine->gpu);
	while ((base = remove_ended(engine)) != NULL) {
		give_back(engine, base);
		let_run_again(engine, base);
		base->done(base, gen9_job(base)->status);
	}
}
