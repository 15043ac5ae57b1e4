// SPDX-License-Identifier: GPL-2.0-only
/*
 * The display that user space sees: a plane in a region, which is always off.
 *
 * QEMU refuses display=on, and with it ramfb=on, if the device supports neither kind of plane.
 * While the plane is off, QEMU shows the frame buffer of the guest's firmware (ramfb) instead.
 */
#include "device.h"

int ghyvi_display_query(struct vfio_device_gfx_plane_info *plane)
{
	const struct vfio_device_gfx_plane_info off = {
		.argsz = plane->argsz,
		.flags = plane->flags,
		.drm_plane_type = plane->drm_plane_type,
	};

	switch (plane->flags) {
	case VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION:
		return 0;
	case VFIO_GFX_PLANE_TYPE_REGION:
		*plane = off;
		return 0;
	default:
		return -EINVAL;
	}
}
