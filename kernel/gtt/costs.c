// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs of a trap, a scan and a protection on this machine. Each is measured where it occurs and
 * kept as a moving average in the vGPU's tuning, where policies that weigh costs read it.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "internal.h"

#define COST_WEIGHT 8 /* a new sample has a weight of one eighth */
#define COST_MAX_NS 1000000u /* a longer sample was interrupted and is ignored */
/* A sample counts at most as twice the average and this, because it may have been interrupted. */
#define COST_STEP_NS 128u
/* Two stores of one loop trap within this time. The time between them is the cost of a trap. */
#define TRAP_GAP_MAX_NS 200000u

static void cost_update(u32 *cost, u64 sample)
{
	if (!sample || sample > COST_MAX_NS)
		return;
	sample = min(sample, 2ull * *cost + COST_STEP_NS);
	sample = *cost - *cost / COST_WEIGHT + (u32)sample / COST_WEIGHT;
	WRITE_ONCE(*cost, sample ?: 1); /* ghyvi_gtt_get_tuning() reads it without the lock */
}

void ghyvi_cost_scanned(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
	if (pages)
		cost_update(&gtt->tuning.scan_ns, (ktime_get_ns() - started_ns) / pages);
}

/*
 * Removing a protection also costs the guest a fault, when its next store makes the page writable
 * again. The fault is estimated at half a trap and counted as part of the cost of protecting.
 */
void ghyvi_cost_protected(struct ghyvi_gtt *gtt, u64 started_ns, u32 pages)
{
	if (pages)
		cost_update(&gtt->tuning.protect_ns,
			    (ktime_get_ns() - started_ns) / pages + gtt->tuning.trap_ns / 2);
}

/*
 * The handler cannot measure the VM exit itself. The time between two traps of neighbouring entries
 * of one page contains all of it and very little else.
 */
void ghyvi_cost_trapped(struct ghyvi_gtt *gtt, u64 gpa)
{
	u64 now = ktime_get_ns(), gap = now - gtt->last_trap_ns;

	if (gpa - gtt->last_trap_gpa <= 8 && gap < TRAP_GAP_MAX_NS)
		cost_update(&gtt->tuning.trap_ns, gap);
	gtt->last_trap_gpa = gpa;
	gtt->last_trap_ns = now;
}
