/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user space may rely on besides VFIO (linux/vfio.h) and sysfs (Documentation/ABI).
 */
#ifndef _UAPI_LINUX_GHYVI_H
#define _UAPI_LINUX_GHYVI_H

#include <linux/types.h>

/*
 * The software pGPU's PCI function. The vendor ID is not assigned in pci.ids (as of
 * 2023.04.10); the function exists only on ghyvi's own virtual bus. Class: processing
 * accelerator, so that no display driver and no VGA arbiter binds it.
 */
#define GHYVI_SOFTGPU_PCI_VENDOR 0x6779 /* "gy" */
#define GHYVI_SOFTGPU_PCI_DEVICE 0x0001
#define GHYVI_SOFTGPU_PCI_CLASS 0x120000
/* The first PCI domain tried for that bus. */
#define GHYVI_SOFTGPU_PCI_DOMAIN 0x1000

/*
 * What debugfs' ghyvi/<uuid>/screen begins with. Then come @height rows of @stride bytes. All
 * numbers have the host's byte order.
 */
struct ghyvi_screen_header {
	__u32 format; /* GHYVI_SCREEN_FORMAT */
	__u32 width; /* pixels */
	__u32 height;
	__u32 stride;
};
/* DRM_FORMAT_XRGB8888 of drm_fourcc.h; X is 0 */
#define GHYVI_SCREEN_FORMAT 0x34325258

#endif
