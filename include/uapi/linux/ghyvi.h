/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user space may rely on besides VFIO (linux/vfio.h) and sysfs (Documentation/ABI).
 */
#ifndef _UAPI_LINUX_GHYVI_H
#define _UAPI_LINUX_GHYVI_H

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

#endif
