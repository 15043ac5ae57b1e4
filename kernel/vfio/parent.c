// SPDX-License-Identifier: GPL-2.0-only
/*
 * pGPUs as mdev parents: registration, types, and available instances.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <ghyvi/backend.h>
#include <ghyvi/engines.h>
#include <ghyvi/export.h>
#include <ghyvi/sched.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "parent.h"

static const unsigned int divisors[] = { 1, 2, 4, 8, 16, 32 };

static unsigned int type_slices(const struct ghyvi_type *type)
{
	return GHYVI_SLICES / type->divisor;
}

static void warn_no_room(const struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			 const struct ghyvi_partitions *used)
{
	if (used->private_ggtt)
		dev_warn(
			pgpu->dev,
			"no room for a vGPU of type %s: it takes %u of %u slices of the pGPU, and %u are free. Remove a vGPU or choose a smaller type\n",
			type->sysfs_name, type_slices(type), GHYVI_SLICES,
			GHYVI_SLICES - used->count);
	else
		dev_warn(
			pgpu->dev,
			"no room for a vGPU of type %s: it takes %u of %u slices of the GGTT, contiguous and aligned; free slices: %*pbl. Remove a vGPU or choose a smaller type\n",
			type->sysfs_name, type_slices(type), GHYVI_SLICES, GHYVI_SLICES,
			(unsigned long[]){ ~used->mask & (BIT(GHYVI_SLICES) - 1) });
}

int ghyvi_pgpu_alloc_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			  struct ghyvi_partition *partition)
{
	struct ghyvi_partitions used;
	int ret;

	mutex_lock(&pgpu->lock);
	ret = ghyvi_partition_alloc(&pgpu->used, type_slices(type), partition);
	used = pgpu->used;
	mutex_unlock(&pgpu->lock);
	if (ret)
		warn_no_room(pgpu, type, &used);
	return ret;
}

int ghyvi_pgpu_alloc_slot(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type, unsigned int slot,
			  struct ghyvi_partition *partition)
{
	int ret;

	mutex_lock(&pgpu->lock);
	ret = ghyvi_partition_alloc_slot(&pgpu->used, type_slices(type), slot, partition);
	mutex_unlock(&pgpu->lock);
	return ret;
}

void ghyvi_pgpu_free_vgpu(struct ghyvi_pgpu *pgpu, const struct ghyvi_partition *partition)
{
	mutex_lock(&pgpu->lock);
	ghyvi_partition_free(&pgpu->used, partition);
	mutex_unlock(&pgpu->lock);
}

unsigned int ghyvi_type_available(struct mdev_type *mdev)
{
	struct ghyvi_pgpu *pgpu = ghyvi_pgpu_of(mdev);
	unsigned int available;

	mutex_lock(&pgpu->lock);
	available = ghyvi_partition_available(&pgpu->used, type_slices(ghyvi_type_of(mdev)));
	mutex_unlock(&pgpu->lock);
	return available;
}

static int describe_engines(u32 engines, char *buffer, int at)
{
	const char *separator = "";
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (!(engines & BIT(i)))
			continue;
		at += sysfs_emit_at(buffer, at, "%s%s", separator, ghyvi_engine_name(i));
		separator = "+";
	}
	return at;
}

ssize_t ghyvi_type_describe(struct mdev_type *mdev, char *buffer)
{
	const struct ghyvi_type *type = ghyvi_type_of(mdev);
	const struct ghyvi_pgpu *pgpu = ghyvi_pgpu_of(mdev);
	struct ghyvi_partition partition = { .first = 0, .slices = type_slices(type) };
	int at;

	at = sysfs_emit(buffer, "device=8086:%04x, aperture=%lluM, ggtt=%lluM, engines=",
			ghyvi_profile_device_id(type->profile),
			ghyvi_bar2_range(&partition, &pgpu->resources).bytes >> 20,
			ghyvi_partition_hidden(&partition, &pgpu->resources).bytes >> 20);
	at = describe_engines(pgpu->resources.engines, buffer, at);
	return at + sysfs_emit_at(buffer, at, ", fences=0, max_instance=%u\n", type->divisor);
}

/* Returns how many types the pGPU offers. */
static unsigned int make_types(struct ghyvi_pgpu *pgpu)
{
	static const struct ghyvi_device_profile *const profiles[] = { &ghyvi_profile_gen9,
								       &ghyvi_profile_gen8 };
	unsigned int i, n = 0;

	BUILD_BUG_ON(ARRAY_SIZE(profiles) * ARRAY_SIZE(divisors) != GHYVI_TYPES);
	for (i = 0; i < GHYVI_TYPES; i++) {
		struct ghyvi_type *type = &pgpu->types[i];

		type->profile = profiles[i / ARRAY_SIZE(divisors)];
		type->divisor = divisors[i % ARRAY_SIZE(divisors)];
		scnprintf(type->sysfs_name, sizeof(type->sysfs_name), "gen%u_%u",
			  ghyvi_profile_gen(type->profile), type->divisor);
		scnprintf(type->pretty_name, sizeof(type->pretty_name), "ghyvi-%s",
			  type->sysfs_name);
		type->mdev.sysfs_name = type->sysfs_name;
		type->mdev.pretty_name = type->pretty_name;
		if (pgpu->resources.gens & BIT(ghyvi_profile_gen(type->profile)))
			pgpu->type_list[n++] = &type->mdev;
	}
	return n;
}

struct ghyvi_pgpu *__ghyvi_pgpu_register(struct module *owner, struct device *parent,
					 struct ghyvi_pgpu_device *device)
{
	struct ghyvi_pgpu *pgpu;
	int ret;

	pgpu = kzalloc(sizeof(*pgpu), GFP_KERNEL);
	if (!pgpu)
		return ERR_PTR(-ENOMEM);
	pgpu->dev = parent;
	pgpu->owner = owner;
	pgpu->pgpu = device;
	mutex_init(&pgpu->lock);
	ghyvi_reporter_init(&pgpu->reporter, parent);
	device->ops->resources(device, &pgpu->resources);
	pgpu->used.private_ggtt = pgpu->resources.private_ggtt;
	ret = -EINVAL;
	if (!ghyvi_partition_possible(&pgpu->resources) || !pgpu->resources.jobs_per_engine)
		goto free_pgpu;

	pgpu->sched = ghyvi_sched_create(device);
	ret = IS_ERR(pgpu->sched) ? PTR_ERR(pgpu->sched) : -ENOMEM;
	if (IS_ERR_OR_NULL(pgpu->sched))
		goto free_pgpu;

	ret = ghyvi_pgpu_add_attributes(pgpu);
	if (ret)
		goto destroy_sched;
	ret = mdev_register_parent(&pgpu->parent, parent, &ghyvi_mdev_driver, pgpu->type_list,
				   make_types(pgpu));
	if (ret)
		goto remove_attributes;
	return pgpu;

remove_attributes:
	ghyvi_pgpu_remove_attributes(pgpu);
destroy_sched:
	ghyvi_sched_destroy(pgpu->sched);
free_pgpu:
	kfree(pgpu);
	return ERR_PTR(ret);
}
GHYVI_EXPORT(__ghyvi_pgpu_register);

void ghyvi_pgpu_unregister(struct ghyvi_pgpu *pgpu)
{
	mdev_unregister_parent(&pgpu->parent);
	ghyvi_pgpu_remove_attributes(pgpu);
	WARN_ON(pgpu->used.count);
	ghyvi_sched_destroy(pgpu->sched);
	kfree(pgpu);
}
GHYVI_EXPORT(ghyvi_pgpu_unregister);
