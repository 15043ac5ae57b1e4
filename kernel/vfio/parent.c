// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types of vGPU that a pGPU offers: descriptions, available instances, slices.
 */
#include <linux/sysfs.h>
#include <ghyvi/engines.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "parent.h"

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
	int err;

	mutex_lock(&pgpu->lock);
	err = ghyvi_partition_alloc(&pgpu->used, type_slices(type), partition);
	used = pgpu->used;
	mutex_unlock(&pgpu->lock);
	if (err)
		warn_no_room(pgpu, type, &used);
	return err;
}

int ghyvi_pgpu_alloc_slot(struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type, unsigned int slot,
			  struct ghyvi_partition *partition)
{
	int err;

	mutex_lock(&pgpu->lock);
	err = ghyvi_partition_alloc_slot(&pgpu->used, type_slices(type), slot, partition);
	mutex_unlock(&pgpu->lock);
	return err;
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

static int describe_engines(u32 engines, char *buffer, int bytes)
{
	const char *separator = "";
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (!(engines & BIT(i)))
			continue;
		bytes += sysfs_emit_at(buffer, bytes, "%s%s", separator, ghyvi_engine_name(i));
		separator = "+";
	}
	return bytes;
}

ssize_t ghyvi_type_describe(struct mdev_type *mdev, char *buffer)
{
	const struct ghyvi_type *type = ghyvi_type_of(mdev);
	const struct ghyvi_pgpu *pgpu = ghyvi_pgpu_of(mdev);
	struct ghyvi_partition partition = { .first = 0, .slices = type_slices(type) };
	int bytes;

	bytes = sysfs_emit(buffer, "device=8086:%04x, aperture=%lluM, ggtt=%lluM, engines=",
			   ghyvi_profile_device_id(type->profile),
			   ghyvi_bar2_range(&partition, &pgpu->resources).bytes >> 20,
			   ghyvi_partition_hidden(&partition, &pgpu->resources).bytes >> 20);
	bytes = describe_engines(pgpu->resources.engines, buffer, bytes);
	return bytes + sysfs_emit_at(buffer, bytes, ", fences=0, max_instance=%u\n", type->divisor);
}
