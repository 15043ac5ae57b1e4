// SPDX-License-Identifier: GPL-2.0-only
/*
 * Upkeep of the registers that a guest maps: their clock, and the protection of their pages after
 * BAR 0 has moved.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"

/*
 * Maximum age of a timestamp in memory, while the guest uses its GPU, and otherwise. The timer
 * expires with the host's tick: an interrupt of its own would cost the guest a VM exit.
 */
#define CLOCK_BUSY_MS 4
#define CLOCK_IDLE_MS 20

/*
 * A VMM maps BAR 0 when it has handled the access to the configuration space that moved it. Nothing
 * reports that, and on a busy host it may take any time. So the worker waits for a part of the time
 * since the move before it tries again. A missed store of the guest then waits for at most such a
 * part of what its VMM took.
 */
#define REMAP_WAIT_PART 8
#define REMAP_OFTEN_MS 4
#define REMAP_SELDOM_MS 1000
/*
 * A guest decides how many missed stores a worker executes, so that worker rests as many times. The
 * CPU time counts: a worker that waits for a CPU, or for a lock, does nothing for the guest.
 */
#define REMAP_REST_RATIO 10

static void clock_start(struct ghyvi_device *device, unsigned int msecs)
{
	/* A timer expires at the first tick after @expires. */
	mod_timer(&device->remap.clock, jiffies + msecs_to_jiffies(msecs) - 1);
}

static void clock_tick(struct timer_list *timer)
{
	struct ghyvi_device *device = container_of(timer, struct ghyvi_device, remap.clock);

	clock_start(device, ghyvi_vgpu_tick(device->vgpu) ? CLOCK_BUSY_MS : CLOCK_IDLE_MS);
}

static void queue_try(struct ghyvi_device *device, unsigned int msecs)
{
	long rests = (long)(READ_ONCE(device->remap.rests) - jiffies);

	mod_delayed_work(ghyvi_vgpu_workers(device->vgpu), &device->remap.work,
			 max_t(long, rests, msecs_to_jiffies(msecs)));
}

static void try_remap(struct work_struct *work)
{
	struct ghyvi_remap *remap = container_of(work, struct ghyvi_remap, work.work);
	struct ghyvi_device *device = container_of(remap, struct ghyvi_device, remap);
	u64 started, ran, us;
	bool done;

	mutex_lock(&device->lock); /* the binding to the VM remains */
	started = ktime_get_ns();
	ran = current->se.sum_exec_runtime;
	done = !device->open || ghyvi_vgpu_try_remap(device->vgpu);
	/* The scheduler counts at each switch of tasks and at each tick. */
	ran = current->se.sum_exec_runtime - ran + TICK_NSEC;
	us = div_u64(min(ktime_get_ns() - started, ran), NSEC_PER_USEC);
	mutex_unlock(&device->lock);
	WRITE_ONCE(remap->rests,
		   jiffies + usecs_to_jiffies(min_t(u64, REMAP_REST_RATIO * us, U32_MAX)));
	if (!done)
		queue_try(device, clamp_t(unsigned int,
					  jiffies_to_msecs(jiffies - READ_ONCE(remap->moved)) /
						  REMAP_WAIT_PART,
					  REMAP_OFTEN_MS, REMAP_SELDOM_MS));
}

void ghyvi_remap_init(struct ghyvi_device *device)
{
	timer_setup(&device->remap.clock, clock_tick, 0);
	INIT_DELAYED_WORK(&device->remap.work, try_remap);
	device->remap.rests = jiffies;
}

void ghyvi_remap_fini(struct ghyvi_device *device)
{
	cancel_delayed_work_sync(&device->remap.work);
}

void ghyvi_remap_start(struct ghyvi_device *device)
{
	if (ghyvi_kvm_can_track() && ghyvi_vgpu_get_remap(device->vgpu))
		clock_start(device, CLOCK_IDLE_MS);
}

void ghyvi_remap_stop(struct ghyvi_device *device)
{
	timer_delete_sync(&device->remap.clock);
}

void ghyvi_remap_moved(struct ghyvi_device *device)
{
	if (!ghyvi_kvm_can_track() || !ghyvi_vgpu_get_remap(device->vgpu))
		return;
	WRITE_ONCE(device->remap.moved, jiffies);
	queue_try(device, REMAP_OFTEN_MS);
}

/* A state was loaded maybe long before, and what it says of BAR 0 before the VMM mapped it. */
void ghyvi_remap_running(struct ghyvi_device *device)
{
	lockdep_assert_held(&device->lock);
	if (ghyvi_kvm_can_track() && ghyvi_vgpu_get_remap(device->vgpu) &&
	    !ghyvi_vgpu_try_remap(device->vgpu))
		ghyvi_remap_moved(device);
}
