/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One vGPU as user space sees it: an mdev device, a VFIO device, a directory in sysfs.
 */
#ifndef GHYVI_DEVICE_H
#define GHYVI_DEVICE_H

#include <linux/mdev.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vfio.h>
#include <ghyvi/report.h>
#include <ghyvi/stats.h>
#include "config.h"
#include "parent.h"
#include "unmap.h"

struct dentry;
struct eventfd_ctx;
struct ghyvi_vm;
struct ghyvi_vgpu;

/**
 * struct ghyvi_device - lives from mdev creation to removal
 * @partition, @vgpu, @gvm: constant
 * @lock: serialises open, close, resets and configuration space; protects @config, @bar0, @open. Outermost:
 *	the vGPU's and the mm's locks are taken under it, never the other way. Not taken by register and
 *	BAR accesses.
 * @bar0: where BAR 0 is in the guest, as last told to @vgpu, or GHYVI_BAR_UNMAPPED. Written with @lock held,
 *	read without
 * @request: eventfd by which the user wants to be asked to let go; protected by @request_lock
 */
struct ghyvi_device {
	struct vfio_device vdev;
	struct ghyvi_pgpu *pgpu;
	const struct ghyvi_type *type;
	struct ghyvi_partition partition;
	int id;
	struct ghyvi_reporter reporter;
	struct ghyvi_stats stats;
	struct ghyvi_vm *gvm;
	struct ghyvi_vgpu *vgpu;
	struct ghyvi_unmap unmap;
	struct dentry *debugfs;

	struct mutex lock;
	struct ghyvi_config config;
	u64 bar0;
	bool open;

	spinlock_t request_lock;
	struct eventfd_ctx *request;
};

static inline struct ghyvi_device *ghyvi_device_of(struct vfio_device *vdev)
{
	return container_of(vdev, struct ghyvi_device, vdev);
}

/* mdev.c */
extern struct mdev_driver ghyvi_mdev_driver;

/* device.c */
extern const struct vfio_device_ops ghyvi_device_ops;
/* The whole device, as a bus reset would; @device->lock is held. */
void ghyvi_device_reset(struct ghyvi_device *device);
/* Tell the vGPU where BAR 0 is, if that changed; @device->lock is held. */
void ghyvi_device_update_bar0(struct ghyvi_device *device);

/* region.c */
ssize_t ghyvi_region_read(struct vfio_device *vdev, char __user *buffer, size_t bytes, loff_t *at);
ssize_t ghyvi_region_write(struct vfio_device *vdev, const char __user *buffer, size_t bytes,
			   loff_t *at);
int ghyvi_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma);
/* Has anything else a reference on memory of BAR 0? @device is closed, @device->lock is held. */
bool ghyvi_region_is_referenced(struct ghyvi_device *device);
int ghyvi_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
		      struct vfio_info_cap *caps);

/* ioctl.c */
long ghyvi_device_ioctl(struct vfio_device *vdev, unsigned int command, unsigned long argument);

/* irq.c */
unsigned int ghyvi_irq_count(u32 index);
int ghyvi_irq_set(struct ghyvi_device *device, const struct vfio_irq_set *set, const void *data);
void ghyvi_irq_release(struct ghyvi_device *device);
/* Ask the user to let the device go. Returns false when it has not said how. */
bool ghyvi_irq_request(struct ghyvi_device *device);

/* sysfs.c */
extern const struct attribute_group *ghyvi_device_groups[];

/* sysfs_audit.c */
extern const struct attribute_group ghyvi_audit_group;

/* sysfs_sched.c */
extern const struct attribute_group ghyvi_sched_group;

/* sysfs_containment.c */
extern const struct attribute_group ghyvi_containment_group;

/* sysfs_stats.c */
extern const struct attribute_group ghyvi_stats_group, ghyvi_usage_group;

/* debugfs.c */
void ghyvi_debugfs_init(void);
void ghyvi_debugfs_exit(void);
void ghyvi_debugfs_add(struct ghyvi_device *device);
void ghyvi_debugfs_remove(struct ghyvi_device *device);

#endif
