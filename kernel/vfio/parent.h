/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A registered pGPU: the mdev parent with its types, and what of it is taken.
 */
#ifndef GHYVI_PARENT_H
#define GHYVI_PARENT_H

#include <linux/device.h>
#include <linux/mdev.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>
#include <ghyvi/pgpu.h>
#include <ghyvi/report.h>
#include "parse.h"
#include "partition.h"

struct ghyvi_device_profile;
struct ghyvi_sched;

#define GHYVI_TYPES 12

/**
 * struct ghyvi_type - a kind of vGPU that can be created
 * @divisor: such a vGPU is 1/@divisor of the pGPU
 */
struct ghyvi_type {
	struct mdev_type mdev;
	const struct ghyvi_device_profile *profile;
	unsigned int divisor;
	char sysfs_name[16];
	char pretty_name[24];
};

#define GHYVI_PGPU_ATTRIBUTES 5

/* An attribute of the parent in its group "ghyvi"; @offset: in struct ghyvi_sched_settings, for those with a @range. */
struct ghyvi_pgpu_attribute {
	struct device_attribute attr;
	struct ghyvi_pgpu *pgpu;
	size_t offset;
	struct ghyvi_value_range range;
};

/**
 * struct ghyvi_pgpu - constant from registration on, but for @used
 * @used: bit mask of slices taken; protected by @lock
 */
struct ghyvi_pgpu {
	struct mdev_parent parent;
	struct ghyvi_type types[GHYVI_TYPES];
	struct mdev_type *type_list[GHYVI_TYPES];
	struct device *dev;
	struct module *owner;
	const struct ghyvi_pgpu_ops *ops;
	void *pgpu;
	struct ghyvi_pgpu_resources resources;
	struct ghyvi_sched *sched;
	struct ghyvi_reporter reporter;
	struct ghyvi_pgpu_attribute attributes[GHYVI_PGPU_ATTRIBUTES];
	struct attribute *attribute_list[GHYVI_PGPU_ATTRIBUTES + 1];
	struct attribute_group attribute_group;
	struct mutex lock;
	u32 used;
};

static inline struct ghyvi_type *ghyvi_type_of(struct mdev_type *mdev)
{
	return container_of(mdev, struct ghyvi_type, mdev);
}

static inline struct ghyvi_pgpu *ghyvi_pgpu_of(struct mdev_type *mdev)
{
	return container_of(mdev->parent, struct ghyvi_pgpu, parent);
}

/** ghyvi_pgpu_alloc_vgpu() - room for a vGPU of @type. 0, or -ENOSPC, which is logged with its reason. */
int ghyvi_pgpu_alloc_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
		    struct ghyvi_partition *partition);
void ghyvi_pgpu_free_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_partition *partition);

/* sysfs_sched.c: the group "ghyvi" of the parent. 0 or a negative errno. */
int ghyvi_pgpu_add_attributes(struct ghyvi_pgpu *pgpu);
void ghyvi_pgpu_remove_attributes(struct ghyvi_pgpu *pgpu);

/* For struct mdev_driver. */
unsigned int ghyvi_type_available(struct mdev_type *mdev);
ssize_t ghyvi_type_describe(struct mdev_type *mdev, char *buffer);

#endif
