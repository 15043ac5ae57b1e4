// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of a job. Between two slices the engine has no pointer to guest memory, raises its events,
 * shows its position, and decides whether the job goes on. The first slice after an invalidation
 * has no translation from before it.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "engine.h"

/* A new epoch invalidates all entries at once; epoch 0 is never current. */
void softgpu_tlb_flush(struct softgpu_engine *engine)
{
	lockdep_assert_held(&engine->access);
	engine->epoch++;
}

void softgpu_tlb_reset(struct softgpu_engine *engine)
{
	lockdep_assert_held(&engine->access);
	memset(engine->runs, 0, sizeof(engine->runs));
	memset(engine->guest_runs, 0, sizeof(engine->guest_runs));
	softgpu_tlb_flush(engine);
}

void softgpu_access_begin(struct softgpu_engine *engine)
{
	u64 generation;

	mutex_lock(&engine->access);
	WRITE_ONCE(engine->slice, engine->slice + 1);
	smp_mb(); /* softgpu_invalidate() sees this slice, or the slice sees its generation */
	generation = atomic64_read(&engine->client->generation);
	if (generation != engine->client_generation) {
		engine->client_generation = generation;
		softgpu_tlb_reset(engine);
	}
	engine->commands_left = SOFTGPU_SLICE_COMMANDS;
	engine->bytes_left = SOFTGPU_SLICE_BYTES;
}

void softgpu_access_end(struct softgpu_engine *engine)
{
	softgpu_registers_publish(engine);
	/* After all accesses of the slice; pairs with softgpu_invalidate(). */
	smp_store_release(&engine->ended, engine->slice);
	mutex_unlock(&engine->access);
	wake_up_all(&engine->slice_end);
}

static bool softgpu_over_budget(const struct ghyvi_job *job)
{
	return job->budget_ns && ktime_get_ns() - softgpu_job(job)->since_ns > job->budget_ns;
}

int softgpu_decide(struct softgpu_engine *engine)
{
	struct ghyvi_job *job = engine->job;

	if (READ_ONCE(softgpu_job(job)->stop))
		return SOFTGPU_CANCELLED;
	if (softgpu_over_budget(job)) {
		ghyvi_count(engine->client->base.params.stats, budget_overruns);
		return softgpu_error(engine, "GPU time of %llu ms used up",
				     (unsigned long long)div_u64(job->budget_ns, NSEC_PER_MSEC));
	}
	return READ_ONCE(softgpu_job(job)->preempt) ? SOFTGPU_PREEMPTED : SOFTGPU_OK;
}

void softgpu_raise(struct softgpu_engine *engine)
{
	if (engine->events)
		engine->job->event(engine->job, engine->events);
	engine->events = 0;
}

int softgpu_checkpoint(struct softgpu_engine *engine)
{
	softgpu_raise(engine);
	softgpu_access_end(engine);
	cond_resched();
	softgpu_access_begin(engine);
	return softgpu_decide(engine);
}

int softgpu_yield(struct softgpu_engine *engine)
{
	int verdict = softgpu_checkpoint(engine);

	if (verdict != SOFTGPU_PREEMPTED)
		return verdict;
	engine->bytes_left = 0; /* softgpu_part_done() decides again */
	return SOFTGPU_OK;
}
