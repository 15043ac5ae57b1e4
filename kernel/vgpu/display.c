// SPDX-License-Identifier: GPL-2.0-only
/*
 * The display of a vGPU: pipe A of a Skylake, and a monitor at the DisplayPort of DDI B.
 *
 * A vGPU has none unless it is switched on. Then all pipes are fused off, and the registers are
 * plain storage.
 */
#include "display_regs.h"
#include "vgpu_types.h"

#define DISPLAY_GEN 9

void vgpu_display_reset(struct ghyvi_vgpu *vgpu)
{
	lockdep_assert_held(&vgpu->lock);
	if (vgpu->params.profile->gen != DISPLAY_GEN)
		return;
	vgpu_set(vgpu, SKL_DFSM,
		 vgpu->display.on ?
			 SKL_DFSM_PIPE_B_DISABLE | SKL_DFSM_PIPE_C_DISABLE |
				 SKL_DFSM_DISPLAY_PM_DISABLE | SKL_DFSM_DISPLAY_HDCP_DISABLE :
			 DISPLAY_FUSE_PIPES_OFF);
}

int ghyvi_vgpu_set_display(struct ghyvi_vgpu *vgpu, bool on)
{
	if (on && vgpu->params.profile->gen != DISPLAY_GEN)
		return -EOPNOTSUPP;
	mutex_lock(&vgpu->lock);
	WRITE_ONCE(vgpu->display.on, on);
	vgpu_display_reset(vgpu);
	mutex_unlock(&vgpu->lock);
	return 0;
}

bool ghyvi_vgpu_has_display(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.on);
}

void ghyvi_vgpu_set_resolution(struct ghyvi_vgpu *vgpu, unsigned int resolution)
{
	mutex_lock(&vgpu->lock);
	WRITE_ONCE(vgpu->display.resolution, resolution);
	mutex_unlock(&vgpu->lock);
}

unsigned int ghyvi_vgpu_get_resolution(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.resolution);
}

void ghyvi_vgpu_get_edid(const struct ghyvi_vgpu *vgpu, u8 *edid)
{
	vgpu_monitor_edid(ghyvi_vgpu_get_resolution(vgpu), edid);
}
