/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A registered pGPU: the mdev parent with its types, and the slices of it that are in use.
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
struct ghyvi_sched_entity;

#define GHYVI_TYPES 12

/*
 * struct ghyvi_type - a type of vGPU that can be created.
 * @pretty_name: contents of the type's name file, for example "ghyvi-gen9_4"
 */
struct ghyvi_type {
	struct mdev_type mdev; /* the mdev type */
	const struct ghyvi_device_profile *profile; /* kind of GPU that the guest sees */
	unsigned int divisor; /* a vGPU of this type gets 1/@divisor of the pGPU */
	char sysfs_name[16]; /* last part of the type id, for example "gen9_4" */
	char pretty_name[24]; /* at most GHYVI_TYPE_BYTES */
};

#define GHYVI_PGPU_ATTRIBUTES 6

/* The weight of a vGPU that gets a whole pGPU; divisible by the divisor of every type. */
#define GHYVI_TYPE_SHARE_WEIGHT_WHOLE 960

/**
 * enum ghyvi_type_share - what a new vGPU gets in proportion to the size of its type.
 * @GHYVI_TYPE_SHARE_NONE: nothing; all vGPUs begin with the default weight and no cap
 * @GHYVI_TYPE_SHARE_WEIGHT: the weight
 * @GHYVI_TYPE_SHARE_CAP: the weight and the cap
 */
enum ghyvi_type_share {
	GHYVI_TYPE_SHARE_NONE,
	GHYVI_TYPE_SHARE_WEIGHT,
	GHYVI_TYPE_SHARE_CAP,
};

/*
 * An attribute of the parent, in the group "ghyvi". @offset and @range are used by the attributes
 * that are members of struct ghyvi_sched_settings.
 */
struct ghyvi_pgpu_attribute {
	struct device_attribute attr;
	struct ghyvi_pgpu *pgpu;
	size_t offset;
	struct ghyvi_value_range range;
};

/*
 * struct ghyvi_pgpu - a registered pGPU. All members except @used and @type_share are constant
 * after registration.
 * @type_list: pointers to those of @types that the pGPU offers, for the mdev core
 * @attributes: attributes in the group "ghyvi" of @dev
 * @attribute_list: pointers to @attributes, for sysfs
 * @type_share: the attribute of this name; read and written without a lock
 */
struct ghyvi_pgpu {
	struct mdev_parent parent; /* the mdev parent */
	struct ghyvi_type types[GHYVI_TYPES]; /* the vGPU types */
	struct mdev_type *type_list[GHYVI_TYPES];
	struct device *dev; /* device of the pGPU */
	struct module *owner; /* module of the backend */
	struct ghyvi_pgpu_device *pgpu; /* the pGPU as the backend registered it */
	struct ghyvi_pgpu_resources resources; /* resources that are divided among vGPUs */
	struct ghyvi_sched *sched; /* scheduler */
	struct ghyvi_reporter reporter; /* messages about the pGPU */
	struct ghyvi_pgpu_attribute attributes[GHYVI_PGPU_ATTRIBUTES];
	struct attribute *attribute_list[GHYVI_PGPU_ATTRIBUTES + 1];
	struct attribute_group attribute_group; /* the group "ghyvi" */
	struct mutex lock; /* protects @used; serialises writers of the scheduler settings */
	struct ghyvi_partitions used; /* the slices that are in use */
	enum ghyvi_type_share type_share;
};

static inline struct ghyvi_type *ghyvi_type_of(struct mdev_type *mdev)
{
	return container_of(mdev, struct ghyvi_type, mdev);
}

static inline struct ghyvi_pgpu *ghyvi_pgpu_of(struct mdev_type *mdev)
{
	return container_of(mdev->parent, struct ghyvi_pgpu, parent);
}

/* Allocate a partition. May sleep. Returns 0, or -ENOSPC, which is logged with its reason. */
int ghyvi_pgpu_alloc_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			  struct ghyvi_partition *partition);
/*
 * Allocate partition number @slot, less than @type->divisor. The vGPUs of the pGPU share one GGTT.
 * May sleep. Returns 0, or -EBUSY, which is not logged.
 */
int ghyvi_pgpu_alloc_slot(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type, unsigned int slot,
			  struct ghyvi_partition *partition);
/* May sleep. */
void ghyvi_pgpu_free_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_partition *partition);

/* sysfs_sched.c: the group "ghyvi" of the parent. Returns 0 or a negative errno of sysfs. */
int ghyvi_pgpu_add_attributes(struct ghyvi_pgpu *pgpu);
void ghyvi_pgpu_remove_attributes(struct ghyvi_pgpu *pgpu);
/* Sets the weight and cap of a new vGPU as the attribute type_share says. May sleep. */
void ghyvi_pgpu_init_knobs(const struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			   struct ghyvi_sched_entity *entity);

/* Callbacks of struct mdev_driver. */
unsigned int ghyvi_type_available(struct mdev_type *mdev);
ssize_t ghyvi_type_describe(struct mdev_type *mdev, char *buffer);

#endif
