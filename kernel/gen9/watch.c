// SPDX-License-Identifier: GPL-2.0-only
/*
 * What no interrupt tells. An engine whose job makes a page fault stops without one: only a
 * register of the GPU says so, and a guest can cause it. So while an engine has a job a worker
 * looks at that register, and at the status buffer, whose event may have been written after its
 * interrupt.
 */
#include <linux/delay.h>
#include "gen9.h"

#define WATCH_JIFFIES (HZ / 100 ?: 1)

/* As hardware numbers them in the register. */
static const u8 fault_ids[GHYVI_ENGINES] = {
	[GHYVI_RCS] = 0,
	[GHYVI_VCS] = 1,
	[GHYVI_BCS] = 2,
	[GHYVI_VECS] = 3,
};

bool gen9_fault_is_of(const struct gen9_engine *engine, u32 fault)
{
	return fault != ~0u && fault & RING_FAULT_VALID &&
	       RING_FAULT_ENGINE(fault) == fault_ids[engine->id];
}

/* The engine stands if it is twice at the same place of the same context. */
static bool engine_stands(struct gen9_engine *engine)
{
	u64 address = (u64)gen9_engine_read(engine, RING_ACTHD_UDW) << 32 |
		      gen9_engine_read(engine, RING_ACTHD);
	bool same = engine->fault_context == engine->active[0] && engine->fault_address == address;

	engine->fault_context = engine->active[0];
	engine->fault_address = address;
	return same;
}

/* Returns the time until the next look. */
static unsigned long watch_look(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	if (!gen9_fault_is_of(engine, gen9_read(engine->gpu, GEN8_RING_FAULT_REG))) {
		engine->fault_context = NULL;
		return WATCH_JIFFIES;
	}
	if (!engine_stands(engine))
		return 1;
	engine->errors |= GEN9_ERROR_FAULT;
	engine->error_context = engine->active[0];
	queue_work(engine->gpu->wq, &engine->error_work);
	return WATCH_JIFFIES;
}

/* Returns true if the status page is to be looked at again soon. */
static bool is_late(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	if (!gen9_csb_is_late(engine)) {
		engine->late_looks = 0;
		return false;
	}
	if (++engine->late_looks < GEN9_LATE_LOOKS)
		return true;
	if (engine->late_looks == GEN9_LATE_LOOKS && __ratelimit(&engine->gpu->unreliable))
		dev_warn(&engine->gpu->pdev->dev, "%s: a status event does not arrive in memory\n",
			 ghyvi_engine_name(engine->id));
	return false;
}

void gen9_watch(struct work_struct *work)
{
	struct gen9_engine *engine = container_of(to_delayed_work(work), struct gen9_engine, watch);
	bool late = false;

	spin_lock_irq(&engine->lock);
	if (!engine->blocked) {
		gen9_csb_process(engine);
		gen9_engine_update(engine);
		late = is_late(engine);
		if (!late && (gen9_running_job(engine) || engine->late_looks))
			mod_delayed_work(engine->gpu->wq, &engine->watch, watch_look(engine));
	}
	spin_unlock_irq(&engine->lock);
	if (!late)
		return;
	usleep_range(GEN9_LATE_US, 2 * GEN9_LATE_US);
	mod_delayed_work(engine->gpu->wq, &engine->watch, 0);
}

void gen9_watch_soon(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	mod_delayed_work(engine->gpu->wq, &engine->watch, 0);
}

void gen9_watch_start(struct gen9_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	queue_delayed_work(engine->gpu->wq, &engine->watch, WATCH_JIFFIES);
}
