// SPDX-License-Identifier: GPL-2.0-only
/* Resets that the guest asks for: of single engines or of all. */
#include <trace/events/ghyvi.h>
#include "vgpu_types.h"

static const u32 reset_bits[GHYVI_ENGINES] = {
	[GHYVI_RCS] = GEN_RESET_RENDER,
	[GHYVI_BCS] = GEN_RESET_BLITTER,
	[GHYVI_VCS] = GEN_RESET_VIDEO,
	[GHYVI_VECS] = GEN_RESET_VIDEO_ENHANCE,
};

/*
 * The register reads 0 when the reset is over, and it is over when this returns: the guest polls no
 * longer than 2 ms. Bits of what we do not have (GuC, second video engine) have nothing to stop.
 */
void vgpu_reset_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	bool full = value & GEN_RESET_FULL;
	u32 engines = 0;
	unsigned int i;

	(void)offset;
	mutex_lock(&vgpu->lock);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (!full && !(value & reset_bits[i]))
			continue;
		vgpu_engine_reset(&vgpu->engines[i]);
		engines |= 1u << i;
		if (!full)
			ghyvi_count(vgpu->params.stats, engine_resets);
	}
	if (full) {
		ghyvi_count(vgpu->params.stats, device_resets);
		/*
		 * Perhaps a new driver begins here, and the one before has crashed without taking leave of its trees: what were
		 * their tables would lead to scratch as data.
		 */
		ghyvi_mm_forget_roots(vgpu->mm);
	}
	mutex_unlock(&vgpu->lock);

	if (engines)
		trace_ghyvi_reset(vgpu->params.reporter,
				  full ? engines | 1u << GHYVI_ENGINES : engines);
}

/* The handshake before a reset. We can always be reset, so ready follows request at once. */
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
