// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/bus/mdev/devices/<uuid>/slot
 *	which partition of the pGPU's GGTT the vGPU has; absent where each vGPU has a private GGTT
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes it.
 */
#include <linux/build_bug.h>
#include <linux/sysfs.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "setting.h"

/* The tools check slots by the former, the kernel by the type. */
static_assert(GHYVI_SLOT_MAX == GHYVI_SLICES - 1);

static ssize_t slot_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	/* Without device->lock, whose holder may be waiting for guest memory. */
	const struct ghyvi_partition partition = {
		.first = READ_ONCE(device->partition.first),
		.slices = READ_ONCE(device->partition.slices), /* the type decides */
	};

	return sysfs_emit(buffer, "%u\n", ghyvi_partition_slot(&partition));
}

/* Move the vGPU, which is not open, to a partition that was allocated for it. */
static int move_to(struct ghyvi_device *device, const struct ghyvi_partition *partition)
{
	const struct ghyvi_pgpu_resources *resources = &device->pgpu->resources;
	struct ghyvi_range mappable = ghyvi_bar2_range(partition, resources);
	struct ghyvi_range hidden = ghyvi_partition_hidden(partition, resources);
	struct ghyvi_range copied = ghyvi_bar2_copied(partition, resources);

	return ghyvi_vgpu_move_ggtt(device->vgpu, &mappable, &hidden, &copied);
}

/*
 * Exchange the partition of the vGPU and @partition. slot_show() reads @first without the lock, so
 * the store must be a single one; @slices of both is that of the type.
 */
static void set_partition(struct ghyvi_device *device, struct ghyvi_partition *partition)
{
	unsigned int first = device->partition.first;

	lockdep_assert_held(&device->lock);
	WRITE_ONCE(device->partition.first, partition->first);
	partition->first = first;
}

static int set_slot(struct ghyvi_device *device, u32 slot)
{
	struct ghyvi_partition partition;
	int err;

	lockdep_assert_held(&device->lock);
	if (slot == ghyvi_partition_slot(&device->partition))
		return 0;
	if (device->open) {
		ghyvi_report(&device->reporter,
			     "slot: cannot change while a VM uses the vGPU; stop the VM");
		return -EBUSY;
	}
	err = ghyvi_pgpu_alloc_slot(device->pgpu, device->type, slot, &partition);
	if (err) {
		ghyvi_report(&device->reporter,
			     "slot: another vGPU has a part of slot %u; move or remove that one",
			     slot);
		return err;
	}
	err = move_to(device, &partition);
	if (err)
		ghyvi_report(&device->reporter, "slot: no memory for the new addresses (error %d)",
			     err);
	else
		set_partition(device, &partition);
	ghyvi_pgpu_free_vgpu(device->pgpu, &partition); /* the one that is not used (any more) */
	return err;
}

static ssize_t slot_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			  size_t bytes)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	const struct ghyvi_value_range range = { .max = device->type->divisor - 1 };

	return ghyvi_u32_store(device, "slot", &range, buffer, bytes, set_slot);
}
static DEVICE_ATTR_RW(slot);

static umode_t slot_is_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct ghyvi_device *device = dev_get_drvdata(kobj_to_dev(kobj));

	return device->pgpu->resources.private_ggtt ? 0 : attr->mode;
}

static struct attribute *slot_attributes[] = {
	&dev_attr_slot.attr,
	NULL,
};

const struct attribute_group ghyvi_slot_group = {
	.attrs = slot_attributes,
	.is_visible = slot_is_visible,
};
