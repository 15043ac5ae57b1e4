// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containment of a guest that breaks the rules. A bad workload is stopped with an error. After too
 * many of them the whole vGPU enters *failsafe state*. Its jobs do not run, and its memory is
 * neither pinned nor tracked. Reads return all ones (0 for interrupt registers) and writes are
 * dropped, as with a device that fell off the bus. Other vGPUs are not affected. The `reset`
 * attribute and the end of the VM end failsafe state.
 *
 * Points are a leaky bucket: it overflows at points_max, and points_max drain in each window. A
 * guest can cause VFIO's reset, so that one ends failsafe state only when the bucket has drained to
 * points_max: otherwise a guest that reboots at once could have a bad workload per reboot. It adds
 * the points of the workloads that it stops, and does not end what the isolation oracle began.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "vgpu_types.h"

void vgpu_containment_init(struct ghyvi_vgpu *vgpu)
{
	vgpu->containment = (struct ghyvi_containment)GHYVI_CONTAINMENT_DEFAULT;
}

void vgpu_event(const struct ghyvi_vgpu *vgpu)
{
	if (vgpu->params.event)
		vgpu->params.event(vgpu->params.reporter);
}

/*
 * enter_failsafe_if() sets the flag before it resets the gtt: a page that was pinned later is found
 * here.
 */
void vgpu_unpin_if_failsafe(struct ghyvi_vgpu *vgpu)
{
	if (!vgpu_is_failsafe(vgpu))
		return;
	mutex_lock(&vgpu->lock);
	if (vgpu->failsafe)
		ghyvi_gtt_reset(vgpu->gtt);
	mutex_unlock(&vgpu->lock);
}

/*
 * Returns false when the isolation oracle has stopped an access since the last reset that forgets
 * points. Such an access is a bug of the host. The vGPU enters failsafe state before the guest can
 * exploit the bug again.
 */
static bool isolation_held(const struct ghyvi_vgpu *vgpu)
{
	return (u64)atomic64_read(&vgpu->params.stats->oracle_violations) ==
	       vgpu->oracle_violations;
}

/* Points for a failed workload. Errors that the host may have caused cost none. */
static u32 points_of(const struct vgpu_workload *workload)
{
	const struct ghyvi_job_fault *fault = &workload->base.job.fault;

	if (fault->valid && fault->excused)
		return 0;
	switch (workload->error) {
	case -ENOMEM:
	case -EAGAIN:
	case -EFAULT: /* not mapped, possibly because the host failed to pin the page */
		return 0;
	case -EINVAL:
		return GHYVI_MALFORMED_POINTS;
	default:
		return 1;
	}
}

/*
 * Points for the time that others have lost because the workload did not yield. It is the same time
 * whether the workload was stopped for it, yielded in the end, or was reset by its guest. Less than
 * GHYVI_OVERSTAY_FREE_MS is free: a host whose CPUs are busy is late, and a correct guest has
 * commands that hardware cannot preempt.
 */
static u32 overstay_points(const struct vgpu_workload *workload)
{
	u64 ms = div_u64(workload->base.overstayed_ns, NSEC_PER_MSEC);

	if (ms < GHYVI_OVERSTAY_FREE_MS)
		return 0;
	return (u32)min_t(u64, div_u64(ms, GHYVI_OVERSTAY_POINT_MS), GHYVI_POINTS_MAX);
}

static u64 window_ns(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->containment.window_ms) * NSEC_PER_MSEC;
}

/* How many whole points drain in @ns. Two windows drain all. */
static u64 points_in(const struct ghyvi_vgpu *vgpu, u64 ns)
{
	u64 window = window_ns(vgpu);

	return ns < 2 * window ? div64_u64(ns * READ_ONCE(vgpu->containment.points_max), window) :
				 U64_MAX;
}

/* The time of the rest counts for the next call. */
static void drain_points(struct ghyvi_vgpu *vgpu, u64 now)
{
	u64 drained = points_in(vgpu, now - vgpu->points_drained_ns);

	/* ghyvi_vgpu_is_failsafe() reads the words without the lock. */
	if (drained >= vgpu->violation_points) {
		WRITE_ONCE(vgpu->violation_points, 0);
		WRITE_ONCE(vgpu->points_drained_ns, now);
	} else if (drained) {
		WRITE_ONCE(vgpu->violation_points, vgpu->violation_points - drained);
		WRITE_ONCE(vgpu->points_drained_ns,
			   vgpu->points_drained_ns + div64_u64(drained * window_ns(vgpu),
							       vgpu->containment.points_max));
	}
}

/* In failsafe state, what is too many drains in a window. */
static void clamp_points(struct ghyvi_vgpu *vgpu)
{
	u32 points_max = vgpu->containment.points_max;

	if (points_max)
		WRITE_ONCE(vgpu->violation_points, min(vgpu->violation_points, 2 * points_max));
}

static bool too_many_points(const struct ghyvi_vgpu *vgpu)
{
	u32 points_max = vgpu->containment.points_max;

	return points_max && vgpu->violation_points > points_max;
}

void vgpu_containment_reset(struct ghyvi_vgpu *vgpu, bool forget)
{
	bool failsafe, held;

	lockdep_assert_held(&vgpu->lock);
	if (forget) {
		WRITE_ONCE(vgpu->violation_points, 0);
		vgpu->oracle_violations = atomic64_read(&vgpu->params.stats->oracle_violations);
	}
	drain_points(vgpu, ktime_get_ns());
	held = isolation_held(vgpu);
	failsafe = vgpu->failsafe && (!held || too_many_points(vgpu));
	WRITE_ONCE(vgpu->failsafe_drains, failsafe && held);
	WRITE_ONCE(vgpu->failsafe, failsafe);
}

void vgpu_containment_load(struct ghyvi_vgpu *vgpu, u32 points, u64 undrained_ns)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&vgpu->lock);
	WRITE_ONCE(vgpu->violation_points, points);
	WRITE_ONCE(vgpu->points_drained_ns, now - min(undrained_ns, now));
	clamp_points(vgpu);
}

static const char *add_points(struct ghyvi_vgpu *vgpu, u32 points)
{
	ghyvi_count(vgpu->params.stats, violations);
	drain_points(vgpu, ktime_get_ns());
	/* Without a limit there can be any number: the sum must not wrap. */
	WRITE_ONCE(vgpu->violation_points, min(vgpu->violation_points, GHYVI_POINTS_MAX) + points);
	if (!too_many_points(vgpu))
		return NULL;
	clamp_points(vgpu);
	return "too many bad workloads in containment/window_ms";
}

const char *vgpu_violation(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	u32 points = points_of(workload) + overstay_points(workload);

	lockdep_assert_held(&vgpu->lock);
	vgpu_event(vgpu);
	if (!isolation_held(vgpu))
		return "the pGPU blocked an access to memory that is not this vGPU's";
	return points ? add_points(vgpu, points) : NULL;
}

const char *vgpu_overstay(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	u32 points = overstay_points(workload);

	lockdep_assert_held(&vgpu->lock);
	if (!points || vgpu->failsafe)
		return NULL;
	vgpu_event(vgpu);
	ghyvi_report(vgpu->params.reporter,
		     "%s: a workload yielded %llu ms too late to others: %u points",
		     ghyvi_engine_name(workload->engine->id),
		     (unsigned long long)div_u64(workload->base.overstayed_ns, NSEC_PER_MSEC),
		     points);
	workload->base.overstayed_ns = 0; /* the workload may still fail */
	return add_points(vgpu, points);
}

/*
 * Without vgpu->lock: its holder may be waiting for guest memory. And any user may ask, whose
 * process could be preempted with the lock held. While points change, the answer can be wrong for a
 * moment.
 */
bool ghyvi_vgpu_is_failsafe(const struct ghyvi_vgpu *vgpu)
{
	u64 since = READ_ONCE(vgpu->points_drained_ns), points = READ_ONCE(vgpu->violation_points);
	u64 points_max = READ_ONCE(vgpu->containment.points_max);

	if (!vgpu_is_failsafe(vgpu) || !READ_ONCE(vgpu->failsafe_drains))
		return vgpu_is_failsafe(vgpu);
	points -= min(points, points_in(vgpu, ktime_get_ns() - since));
	return points_max && points > points_max;
}

/* Without vgpu->lock: its holder may be waiting for guest memory, see ghyvi_gtt_get_tuning(). */
void ghyvi_vgpu_get_containment(struct ghyvi_vgpu *vgpu, struct ghyvi_containment *containment)
{
	const struct ghyvi_containment *from = &vgpu->containment;

	*containment = (struct ghyvi_containment){
		.budget_ms = READ_ONCE(from->budget_ms),
		.points_max = READ_ONCE(from->points_max),
		.window_ms = READ_ONCE(from->window_ms),
		.budget_minsn = READ_ONCE(from->budget_minsn),
	};
}

int ghyvi_vgpu_set_containment(struct ghyvi_vgpu *vgpu, const struct ghyvi_containment *containment)
{
	if (containment->budget_ms > GHYVI_BUDGET_MAX_MS ||
	    containment->budget_minsn > GHYVI_BUDGET_MAX_MINSN ||
	    containment->points_max > GHYVI_POINTS_MAX ||
	    containment->window_ms < GHYVI_VIOLATION_WINDOW_MIN_MS ||
	    containment->window_ms > GHYVI_VIOLATION_WINDOW_MAX_MS)
		return -EINVAL;
	mutex_lock(&vgpu->lock);
	drain_points(vgpu, ktime_get_ns()); /* at the rate until now */
	/* ghyvi_vgpu_get_containment() reads the words without the lock. */
	WRITE_ONCE(vgpu->containment.budget_ms, containment->budget_ms);
	WRITE_ONCE(vgpu->containment.budget_minsn, containment->budget_minsn);
	WRITE_ONCE(vgpu->containment.points_max, containment->points_max);
	WRITE_ONCE(vgpu->containment.window_ms, containment->window_ms);
	clamp_points(vgpu);
	mutex_unlock(&vgpu->lock);
	return 0;
}
