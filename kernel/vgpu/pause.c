// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pause and resume. A vGPU is paused when its VM is stopped to be saved or migrated.
 *
 * DOC: what a pause keeps
 *
 * A workload that the engine was asked to stop ends between two commands, as after a preemption on
 * behalf of another vGPU. It is *parked*: the host's copy of the context, the backend's part of the
 * job and the audited commands hold its position. The resumed vGPU queues it again. Completions
 * that were under way are delivered before the pause has begun, so the guest's status pages contain
 * all of them.
 */
#include "vgpu_types.h"

/*
 * How long a workload may take to yield, in us. A pause has a limit even if preemption has none
 * (preempt_timeout_us 0).
 */
static u32 patience_us(struct ghyvi_vgpu *vgpu)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_get_settings(vgpu->params.sched, &settings);
	return (settings.preempt_timeout_us ?: GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US) +
	       settings.timeslice_us;
}

static void for_engines(struct ghyvi_vgpu *vgpu, void (*act)(struct vgpu_engine *engine))
{
	unsigned int i;

	lockdep_assert_held(&vgpu->lock);
	for (i = 0; i < GHYVI_ENGINES; i++)
		act(&vgpu->engines[i]);
}

void ghyvi_vgpu_pause(struct ghyvi_vgpu *vgpu)
{
	mutex_lock(&vgpu->lock);
	vgpu->paused = true;
	vgpu_display_pause(vgpu);
	for_engines(vgpu, vgpu_engine_park);
	mutex_unlock(&vgpu->lock);

	if (!vgpu_wait_returned_timeout(vgpu, patience_us(vgpu))) {
		mutex_lock(&vgpu->lock);
		for_engines(vgpu, vgpu_engine_stop);
		mutex_unlock(&vgpu->lock);
		vgpu_wait_returned(vgpu);
	}
	/* Write the copied page of the aperture back now, not while guest memory is saved. */
	ghyvi_gtt_aperture_close(vgpu->gtt);
}

void ghyvi_vgpu_resume(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;
	bool paused;

	/*
	 * A guest that waits for an interrupt reads and writes mapped registers only, so the access
	 * that traps may never come after a move.
	 */
	if (READ_ONCE(vgpu->bar_moved))
		ghyvi_vgpu_try_remap(vgpu);
	mutex_lock(&vgpu->lock);
	paused = vgpu->paused;
	vgpu->paused = false;
	vgpu_display_resume(vgpu);
	if (paused)
		for_engines(vgpu, vgpu_engine_unpark);
	/* The state may come from another host, which cannot have sent the interrupt here. */
	if (paused)
		vgpu_irq_remind(vgpu);
	mutex_unlock(&vgpu->lock);

	for (i = 0; paused && i < GHYVI_ENGINES; i++)
		ghyvi_sched_kick(vgpu->params.sched, i);
}
