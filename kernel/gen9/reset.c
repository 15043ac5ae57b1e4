// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets. An engine is stopped and asked to get ready first: a reset of a running engine can hang
 * the system. If one does not get ready, or cannot be reset, the whole GPU is, in the second try
 * also if engines do not get ready, as i915 does. If that fails the GPU is dead.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "gen9.h"

#define SETTLE_US 50

static const u32 domains[GHYVI_ENGINES] = {
	[GHYVI_RCS] = GEN6_GRDOM_RENDER,
	[GHYVI_BCS] = GEN6_GRDOM_BLT,
	[GHYVI_VCS] = GEN6_GRDOM_MEDIA,
	[GHYVI_VECS] = GEN6_GRDOM_VECS,
};

/* An engine that hangs does not become idle, which its reset does not need. */
static void stop_ring(struct gen9_engine *engine)
{
	gen9_engine_write(engine, RING_MI_MODE, MASKED_BIT_ENABLE(MI_MODE_STOP));
	gen9_wait(engine->gpu, engine->base + RING_MI_MODE, MI_MODE_IDLE, MI_MODE_IDLE,
		  GEN9_STOP_US);
}

static int get_ready(struct gen9_engine *engine)
{
	u32 offset = engine->base + RING_RESET_CTL;
	u32 control = gen9_read(engine->gpu, offset);

	if (control & RESET_CTL_CAT_ERROR) {
		gen9_write(engine->gpu, offset, MASKED_BIT_ENABLE(RESET_CTL_CAT_ERROR));
		return gen9_wait(engine->gpu, offset, RESET_CTL_CAT_ERROR, 0, GEN9_RESET_READY_US);
	}
	if (control & RESET_CTL_READY)
		return 0;
	gen9_write(engine->gpu, offset, MASKED_BIT_ENABLE(RESET_CTL_REQUEST));
	return gen9_wait(engine->gpu, offset, RESET_CTL_READY, RESET_CTL_READY,
			 GEN9_RESET_READY_US);
}

static void withdraw_request(struct gen9_engine *engine)
{
	gen9_engine_write(engine, RING_RESET_CTL, MASKED_BIT_DISABLE(RESET_CTL_REQUEST));
}

/*
 * Two resets must complete, because the state of an engine may settle only after the first. Some
 * need a second request.
 */
static int reset_domain(struct gen9 *gpu, u32 domain)
{
	unsigned int i, completed = 0;

	for (i = 0; i < GEN9_RESET_WRITES && completed < 2; i++) {
		gen9_write(gpu, GEN6_GDRST, domain);
		completed += !gen9_wait(gpu, GEN6_GDRST, domain, 0, GEN9_RESET_US);
	}
	udelay(SETTLE_US);
	return completed == 2 ? 0 : -ETIMEDOUT;
}

/* Returns 0, -ETIMEDOUT; -EBUSY: an engine does not get ready, and @only_ready is set. */
static int try_reset(struct gen9 *gpu, unsigned long engines, u32 domain, bool only_ready)
{
	int err = 0, unready;
	unsigned int i;

	for_each_set_bit(i, &engines, GHYVI_ENGINES) {
		stop_ring(&gpu->engines[i]);
		unready = get_ready(&gpu->engines[i]); /* also behind one that is not */
		err = err ?: unready;
	}
	err = err && only_ready ? -EBUSY : reset_domain(gpu, domain);
	for_each_set_bit(i, &engines, GHYVI_ENGINES)
		withdraw_request(&gpu->engines[i]);
	return err;
}

static int reset_engine(struct gen9_engine *engine)
{
	unsigned int try;
	int err = -ETIMEDOUT;

	for (try = 0; try < GEN9_RESET_TRIES && err == -ETIMEDOUT; try++)
		err = try_reset(engine->gpu, BIT(engine->id), domains[engine->id], true);
	return err;
}

int gen9_reset_all(struct gen9 *gpu)
{
	unsigned int try;
	int err = -ETIMEDOUT;

	for (try = 0; try < GEN9_RESET_TRIES && err; try++)
		err = try_reset(gpu, BIT(GHYVI_ENGINES) - 1, GEN6_GRDOM_FULL, !try);
	return err;
}

static void ports_clear(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	memset(engine->active, 0, sizeof(engine->active));
	memset(engine->pending, 0, sizeof(engine->pending));
	gen9_jobs_account(engine);
	wake_up_all(&engine->left);
}

void gen9_ports_clear(struct gen9_engine *engine)
{
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	ports_clear(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
}

static bool has_late_event(struct gen9_engine *engine)
{
	unsigned long flags;
	bool late;

	spin_lock_irqsave(&engine->lock, flags);
	gen9_csb_process(engine);
	late = gen9_csb_is_late(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
	return late;
}

/* A blocked engine: afterwards its ports are those that it stopped with. */
static void engine_stop(struct gen9_engine *engine)
{
	unsigned int looks;

	stop_ring(engine);
	for (looks = 0; looks < GEN9_LATE_LOOKS && has_late_event(engine); looks++)
		usleep_range(GEN9_LATE_US, 2 * GEN9_LATE_US);
}

/*
 * Test whether the job, which the engine executes or should begin, is a reason for its reset: it
 * has been waited for, ends anyway, or has made the engine find an error.
 */
static bool is_reason(const struct gen9_engine *engine, const struct ghyvi_job *base,
		      const struct gen9_jobs *jobs)
{
	lockdep_assert_held(&engine->lock);
	return gen9_job(base)->stop > GHYVI_JOB_PREEMPTED ||
	       (engine->errors && engine->error_context == gen9_context(base->pgpu_context)) ||
	       (jobs && gen9_jobs_contain(jobs, base));
}

/* Returns false if the engine executes a job that is no reason: that job goes on. */
static bool block_for(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	const struct ghyvi_job *present;
	unsigned long flags;
	bool reason;

	spin_lock_irqsave(&engine->lock, flags);
	gen9_csb_process(engine);
	present = gen9_present_job(engine);
	reason = !present || is_reason(engine, present, jobs);
	if (reason)
		engine->blocked = true; /* afterwards nothing is submitted */
	spin_unlock_irqrestore(&engine->lock, flags);
	return reason;
}

/*
 * Get the job that the stopped engine executes, if it is a reason for the reset. It cannot
 * continue. The one that was may have been complete just before the engine stopped. A job may have
 * done anything in its restore, whose event may come later.
 */
static struct ghyvi_job *blame_job(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	struct ghyvi_job *present;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	present = gen9_present_job(engine);
	if (present && !is_reason(engine, present, jobs))
		present = NULL;
	if (present) {
		if (gen9_job(present)->stop <= GHYVI_JOB_PREEMPTED)
			gen9_job(present)->stop = GHYVI_JOB_ERROR;
		if (!present->begun_ns)
			WRITE_ONCE(present->begun_ns, ktime_get_ns());
		gen9_job(present)->irq_turns = GEN9_IRQ_TURNS;
		gen9_job_record_fault(engine, present);
		gen9_context(present->pgpu_context)->valid = false;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return present;
}

/* The engine does not execute it any more. Its memory gets other users. */
static void end_guilty_job(struct gen9_engine *engine, struct ghyvi_job *guilty)
{
	unsigned long flags;

	if (!guilty)
		return;
	spin_lock_irqsave(&engine->lock, flags);
	gen9_job_end(engine, guilty, gen9_job(guilty)->stop);
	spin_unlock_irqrestore(&engine->lock, flags);
}

static void engine_unblock(struct gen9_engine *engine)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&engine->lock, flags);
	ports_clear(engine);
	gen9_context_clear_stop(engine, engine->kernel_context);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++)
		gen9_context_clear_stop(engine, gen9_context(engine->jobs[i]->pgpu_context));
	gen9_engine_start(engine);
	engine->blocked = false;
	gen9_engine_update(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
}

static void end_all_jobs(struct gen9_engine *engine)
{
	unsigned int i;

	lockdep_assert_held(&engine->lock);
	for (i = 0; i < GEN9_PORTS && engine->jobs[i]; i++) {
		int stop = gen9_job(engine->jobs[i])->stop;

		if (!gen9_job(engine->jobs[i])->ended)
			gen9_job_end(engine, engine->jobs[i],
				     stop > GHYVI_JOB_PREEMPTED ? stop : GHYVI_JOB_CANCELLED);
	}
}

/* Everything ends. The core sees -EIO from now on. */
void gen9_die(struct gen9 *gpu)
{
	unsigned long flags;
	unsigned int i;

	dev_err(&gpu->pdev->dev, "the GPU cannot be reset; unbind the driver and reboot\n");
	WRITE_ONCE(gpu->dead, true);
	/* Whatever the engines still do, memory that jobs have used will have other users. */
	pci_clear_master(gpu->pdev);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct gen9_engine *engine = &gpu->engines[i];

		spin_lock_irqsave(&engine->lock, flags);
		engine->blocked = true;
		ports_clear(engine);
		end_all_jobs(engine);
		spin_unlock_irqrestore(&engine->lock, flags);
	}
}

/* Returns true if the fault is that of another engine, which still stands there. */
static bool leave_fault(struct gen9_engine *engine)
{
	u32 fault = gen9_read(engine->gpu, GEN8_RING_FAULT_REG);
	unsigned long flags;
	unsigned int i;
	bool stays;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct gen9_engine *other = &engine->gpu->engines[i];

		if (other == engine || !gen9_fault_is_of(other, fault))
			continue;
		spin_lock_irqsave(&other->lock, flags);
		gen9_csb_process(other);
		/* The event of the job's begin may be late. */
		stays = gen9_running_job(other) || gen9_csb_is_late(other);
		if (stays)
			gen9_watch_soon(other);
		spin_unlock_irqrestore(&other->lock, flags);
		return stays;
	}
	return false;
}

/*
 * Tables have no address without an entry, but a guest can change its tables while its job runs,
 * so a fault of its PPGTT is the job's. Any other is an error of ghyvi or of the hardware.
 */
static void take_fault(struct gen9_engine *engine, struct ghyvi_job *guilty)
{
	struct gen9 *gpu = engine->gpu;
	u32 low = gen9_read(gpu, GEN8_FAULT_TLB_DATA0), high = gen9_read(gpu, GEN8_FAULT_TLB_DATA1);
	u64 address = (u64)(high & FAULT_VA_HIGH) << 44 | (u64)low << GHYVI_PAGE_SHIFT;
	u32 fault;

	if (leave_fault(engine))
		return;
	fault = gen9_clear_fault(gpu);
	if (guilty && !(high & FAULT_GTT_SEL) && gen9_fault_is_of(engine, fault)) {
		gen9_job(guilty)->faulted = true;
		gen9_job(guilty)->fault_address = address;
	} else if (fault && __ratelimit(&gpu->unreliable)) {
		dev_warn(&gpu->pdev->dev, "page fault at the %s address 0x%llx (0x%08x)\n",
			 high & FAULT_GTT_SEL ? "GGTT" : "PPGTT", (unsigned long long)address,
			 fault);
	}
}

/* Caller has blocked engines. A thread that invalidates the TLB of one has ended, or sees that. */
static void wait_for_invalidations(struct gen9 *gpu)
{
	spin_lock(&gpu->tlb_lock);
	spin_unlock(&gpu->tlb_lock);
}

static int reset_everything(struct gen9 *gpu)
{
	unsigned long paused;
	unsigned int i;

	dev_warn(&gpu->pdev->dev, "resetting the whole GPU\n");
	gen9_clock_stop(gpu);
	paused = gen9_engines_pause_working(gpu);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		spin_lock_irq(&gpu->engines[i].lock);
		gpu->engines[i].blocked = true;
		spin_unlock_irq(&gpu->engines[i].lock);
		engine_stop(&gpu->engines[i]);
	}
	for_each_set_bit(i, &paused, GHYVI_ENGINES)
		gen9_engine_resume(&gpu->engines[i]);
	wait_for_invalidations(gpu);
	return gen9_reset_all(gpu);
}

/* Translations of before the reset may be left. The engines are blocked. */
static void engines_invalidate(struct gen9 *gpu, unsigned long engines)
{
	unsigned int i;

	spin_lock(&gpu->tlb_lock);
	for_each_set_bit(i, &engines, GHYVI_ENGINES)
		gen9_engine_invalidate(&gpu->engines[i]);
	spin_unlock(&gpu->tlb_lock);
}

/*
 * Jobs on other engines are innocent, and so is the second of this engine. Each continues where it
 * left its engine. If all engines have to be reset, one that did not leave in time continues where
 * it came to it: it executes some commands again, like a request that i915 replays.
 */
void gen9_engine_reset(struct gen9_engine *engine, const struct gen9_jobs *jobs)
{
	struct gen9 *gpu = engine->gpu;
	unsigned long engines = BIT(engine->id);
	struct ghyvi_job *guilty;
	unsigned int i;
	int err;

	lockdep_assert_held(&gpu->control);
	if (gpu->dead || !block_for(engine, jobs))
		return;
	wait_for_invalidations(gpu);
	engine_stop(engine);
	guilty = blame_job(engine, jobs);
	take_fault(engine, guilty);
	err = reset_engine(engine);
	if (err) {
		engines = BIT(GHYVI_ENGINES) - 1;
		err = reset_everything(gpu);
	}
	if (err) { /* ends all jobs */
		gen9_die(gpu);
		return;
	}
	end_guilty_job(engine, guilty);
	if (engines != BIT(engine->id))
		gen9_gt_start(gpu);
	engines_invalidate(gpu, engines);
	for_each_set_bit(i, &engines, GHYVI_ENGINES)
		engine_unblock(&gpu->engines[i]);
}

static bool has_error(const struct gen9_engine *engine)
{
	return READ_ONCE(engine->errors) && !READ_ONCE(engine->blocked);
}

/*
 * The engine stands at a command that it does not know, or at an access without a translation. Only
 * a reset makes it continue. Suspend and unbind reset it themselves.
 *
 * If the job with the error has left without a reset, another one must not end for it. But errors
 * of the engine are masked until it is reset. If the other one does not leave in time, the next job
 * that leaves queues this work again.
 */
void gen9_error_work(struct work_struct *work)
{
	struct gen9_engine *engine = container_of(work, struct gen9_engine, error_work);
	struct gen9 *gpu = engine->gpu;

	mutex_lock(&gpu->control);
	if (has_error(engine))
		gen9_engine_reset(engine, NULL);
	mutex_unlock(&gpu->control);
	if (has_error(engine))
		gen9_engine_recover(engine, false);
}
