// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets that the guest requests (one engine or all) and resets of the vGPU from outside. The
 * section Resets of Documentation/architecture.md lists what each reset keeps and clears.
 */
#include <trace/events/ghyvi.h>
#include "vgpu_types.h"

static const u32 reset_bits[GHYVI_ENGINES] = {
	[GHYVI_RCS] = GEN6_GRDOM_RENDER,
	[GHYVI_BCS] = GEN6_GRDOM_BLT,
	[GHYVI_VCS] = GEN6_GRDOM_MEDIA,
	[GHYVI_VECS] = GEN6_GRDOM_VECS,
};

/*
 * The reset is complete when this function returns, so the register always reads 0. The guest polls
 * it for at most 2 ms. Bits of units that are not emulated (GuC, second video engine) are ignored.
 */
void vgpu_reset_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	bool full = value & GEN6_GRDOM_FULL;
	u32 engines = 0;
	unsigned int i;

	mutex_lock(&vgpu->lock);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (!full && !(value & reset_bits[i]))
			continue;
		vgpu_error_reset(&vgpu->engines[i]);
		vgpu_engine_reset(&vgpu->engines[i]);
		engines |= 1u << i;
		if (!full)
			ghyvi_count(vgpu->params.stats, engine_resets);
	}
	if (full) {
		ghyvi_count(vgpu->params.stats, device_resets);
		/*
		 * A full reset may mean that a new guest driver is loading after a crash. Drop all
		 * roots. The new driver may use the old table pages as data, and an entry that maps
		 * a table page as data maps the scratch page.
		 */
		ghyvi_gtt_forget_roots(vgpu->gtt);
		vgpu_context_handles_forget(vgpu);
	}
	mutex_unlock(&vgpu->lock);

	if (full)
		vgpu_event(vgpu);
	if (engines)
		trace_ghyvi_reset(vgpu->params.reporter,
				  full ? engines | 1u << GHYVI_ENGINES : engines);
}

/*
 * Handshake before an engine reset. An engine can always be reset, so READY follows REQUEST at
 * once.
 */
void vgpu_reset_ctl_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	mutex_lock(&vgpu->lock);
	value = vgpu_masked(vgpu_get(vgpu, offset), value);
	value &= ~(u32)(RESET_CTL_READY | RESET_CTL_CAT_ERROR);
	if (value & RESET_CTL_REQUEST)
		value |= RESET_CTL_READY;
	vgpu_set(vgpu, offset, value);
	mutex_unlock(&vgpu->lock);
}

/*
 * Stop the engines and wait until the scheduler has returned every workload. workload_complete()
 * takes vgpu->lock, so the wait is without it. Submissions are held back until the caller clears
 * vgpu->resetting. @forget: the points that the workloads have earned are about to be forgotten.
 */
static void stop_engines(struct ghyvi_vgpu *vgpu, void (*stop)(struct vgpu_engine *engine),
			 bool forget)
{
	unsigned int i;

	mutex_lock(&vgpu->lock);
	vgpu->resetting = true;
	vgpu->forgetting = forget;
	for (i = 0; i < GHYVI_ENGINES; i++)
		stop(&vgpu->engines[i]);
	mutex_unlock(&vgpu->lock);
	vgpu_wait_returned(vgpu);
}

static void note_reset(struct ghyvi_vgpu *vgpu)
{
	ghyvi_count(vgpu->params.stats, device_resets);
	trace_ghyvi_reset(vgpu->params.reporter, (2u << GHYVI_ENGINES) - 1);
	vgpu_event(vgpu);
}

static void reset_registers(struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_register_value *value;
	unsigned int i;

	vgpu_table_clear((u64 *)vgpu->registers, GHYVI_REGISTERS_BYTES / 8);
	vgpu_mirror_show_all(vgpu);
	for (i = 0; i < GHYVI_ENGINES; i++)
		engine_set(&vgpu->engines[i], RING_IMR, ~0u);
	for (value = vgpu->params.profile->values; value->offset; value++)
		vgpu_set(vgpu, value->offset, value->value);
	vgpu_pvinfo_reset(vgpu);
	vgpu_display_reset(vgpu);
	vgpu_irq_reset(vgpu);
}

void vgpu_power_on(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	lockdep_assert_held(&vgpu->lock);
	reset_registers(vgpu);
	WRITE_ONCE(vgpu->clock_offset_ns, 0);
	vgpu->tables_bytes = 0; /* the next user must not learn it */
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_engine_reset(&vgpu->engines[i]);
}

/* @paused: for another guest, or for the same one after it has migrated: its points are loaded */
static void reset_all(struct ghyvi_vgpu *vgpu, bool paused)
{
	stop_engines(vgpu, vgpu_engine_reset, paused);

	/* A replay would take the old contents of the mirror for stores. */
	mutex_lock(&vgpu->live_lock);
	mutex_lock(&vgpu->lock);
	/* Clear the table first: its entries could be translated again otherwise. */
	vgpu_table_clear(vgpu->ggtt_table, GHYVI_GGTT_TABLE_BYTES / 8);
	vgpu_context_handles_forget(vgpu);
	ghyvi_gtt_reset(vgpu->gtt);
	ghyvi_audit_reset(vgpu->audit);
	vgpu_containment_reset(vgpu, paused);
	if (paused)
		vgpu_submissions_forget(vgpu);
	vgpu_power_on(vgpu);
	vgpu->resetting = false;
	vgpu->forgetting = false;
	vgpu->paused = paused;
	if (paused)
		vgpu_display_pause(vgpu);
	else
		vgpu_display_resume(vgpu);
	mutex_unlock(&vgpu->lock);
	mutex_unlock(&vgpu->live_lock);

	note_reset(vgpu);
}

void ghyvi_vgpu_reset(struct ghyvi_vgpu *vgpu)
{
	reset_all(vgpu, false);
}

void vgpu_reset_paused(struct ghyvi_vgpu *vgpu)
{
	reset_all(vgpu, true);
}

/*
 * Four stores to a submit port that trapped before, and wait for vgpu->lock meanwhile, are a
 * submission. A workload of it could outlive the binding to the VM, and the device.
 */
void ghyvi_vgpu_close(struct ghyvi_vgpu *vgpu)
{
	vgpu_reset_paused(vgpu);
	ghyvi_gtt_forget_guest(vgpu->gtt);
}

/*
 * Failsafe state unset the address of the GGTT table: set it again. The addresses of the mirror's
 * pages were kept up to date, so only their contents need to be restored. A replay would take those
 * for stores, so the caller holds live_lock, too.
 */
static void lift_failsafe(struct ghyvi_vgpu *vgpu, bool forget)
{
	bool failsafe = vgpu->failsafe;

	lockdep_assert_held(&vgpu->live_lock);
	vgpu_containment_reset(vgpu, forget);
	if (!failsafe || vgpu->failsafe)
		return;
	vgpu_place_ggtt(vgpu);
	vgpu_mirror_show_all(vgpu);
	if (!vgpu->paused)
		vgpu_display_resume(vgpu);
}

bool vgpu_access_is_refused(struct ghyvi_vgpu *vgpu)
{
	bool failsafe;

	if (likely(!READ_ONCE(vgpu->failsafe_drains)))
		return vgpu_is_failsafe(vgpu);
	mutex_lock(&vgpu->live_lock);
	mutex_lock(&vgpu->lock);
	if (vgpu->failsafe_drains)
		lift_failsafe(vgpu, false);
	failsafe = vgpu->failsafe;
	mutex_unlock(&vgpu->lock);
	mutex_unlock(&vgpu->live_lock);
	return failsafe;
}

void ghyvi_vgpu_reset_under_driver(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	stop_engines(vgpu, vgpu_engine_hold, true);

	mutex_lock(&vgpu->live_lock);
	mutex_lock(&vgpu->lock);
	vgpu_context_handles_forget(vgpu);
	ghyvi_gtt_reset(vgpu->gtt);
	ghyvi_audit_reset(vgpu->audit);
	lift_failsafe(vgpu, true);
	vgpu->resetting = false;
	vgpu->forgetting = false;
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_engine_release(&vgpu->engines[i]);
	vgpu_irq_remind(vgpu);
	mutex_unlock(&vgpu->lock);
	mutex_unlock(&vgpu->live_lock);

	for (i = 0; i < GHYVI_ENGINES; i++)
		ghyvi_sched_kick(vgpu->params.sched, i);
	note_reset(vgpu);
}
