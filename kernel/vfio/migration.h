/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live migration as VFIO's user sees it: the states of the protocol (version 2), and the file that
 * the state of the vGPU is transferred through.
 */
#ifndef GHYVI_MIGRATION_H
#define GHYVI_MIGRATION_H

#include <linux/types.h>
#include <linux/vfio.h>

struct ghyvi_device;
struct ghyvi_migration_file;

/*
 * struct ghyvi_migration - migration state of a device; protected by device->lock.
 * @file: the file of a transfer in progress, with a reference; NULL in other states
 */
struct ghyvi_migration {
	enum vfio_device_mig_state state; /* the state of the protocol */
	struct ghyvi_migration_file *file;
};

/* Offer migration to the user, if the backend can move vGPUs. Before the registration with VFIO. */
void ghyvi_migration_init(struct ghyvi_device *device);
/* Reset the whole device, like a bus reset. Caller holds device->lock. */
void ghyvi_device_reset(struct ghyvi_device *device);
/* The same, but @reset_vgpu resets the vGPU. */
void ghyvi_device_reset_with(struct ghyvi_device *device,
			     void (*reset_vgpu)(struct ghyvi_vgpu *vgpu));
/*
 * The user has closed the device: stop logging writes, and end the effect of loaded settings.
 * Caller holds device->lock.
 */
void ghyvi_migration_close(struct ghyvi_device *device);
/* .device_feature of struct vfio_device_ops, for features that the kernel's VFIO does not know. */
int ghyvi_migration_feature(struct vfio_device *vdev, u32 flags, void __user *argument,
			    size_t bytes);

#endif
