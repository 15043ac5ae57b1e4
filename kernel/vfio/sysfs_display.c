// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/bus/mdev/devices/<uuid>/display/
 *	enabled, connected, resolution, edid (binary)
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/fs.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <ghyvi/compat.h>
#include <ghyvi/choice.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "setting.h"

static const struct ghyvi_choices resolutions = {
	.name = ghyvi_display_resolution,
	.count = GHYVI_RESOLUTIONS,
};

static int report_busy(struct ghyvi_device *device, const char *name)
{
	ghyvi_report(&device->reporter, "display/%s: cannot be changed while the vGPU is open",
		     name);
	return -EBUSY;
}

static int set_enabled(struct ghyvi_device *device, u32 on)
{
	lockdep_assert_held(&device->lock);
	if (on == ghyvi_vgpu_has_display(device->vgpu))
		return 0;
	if (device->open)
		return report_busy(device, "enabled");
	ghyvi_vgpu_set_display(device->vgpu, on);
	return 0;
}

GHYVI_FLAG_ATTRIBUTE("display", enabled, ghyvi_vgpu_has_display, set_enabled);

static int set_connected(struct ghyvi_device *device, u32 connected)
{
	ghyvi_vgpu_set_connected(device->vgpu, connected);
	return 0;
}

GHYVI_FLAG_ATTRIBUTE("display", connected, ghyvi_vgpu_is_connected, set_connected);

static ssize_t resolution_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);

	return ghyvi_choice_list(&resolutions, ghyvi_vgpu_get_resolution(device->vgpu), buffer,
				 PAGE_SIZE);
}

static ssize_t resolution_store(struct device *dev, struct device_attribute *attr,
				const char *buffer, size_t bytes)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	char name[GHYVI_PARSE_NAME_BYTES];
	int choice = ghyvi_parse_name(buffer, bytes, name) ?: ghyvi_choice_find(&resolutions, name);
	int err = 0;

	if (choice < 0) {
		ghyvi_report(&device->reporter, "display/resolution: there is no resolution \"%s\"",
			     name);
		return choice;
	}
	mutex_lock(&device->lock);
	if (choice != ghyvi_vgpu_get_resolution(device->vgpu) ||
	    ghyvi_vgpu_has_edid(device->vgpu)) {
		if (device->open)
			err = report_busy(device, "resolution");
		else
			ghyvi_vgpu_set_resolution(device->vgpu, choice);
	}
	mutex_unlock(&device->lock);
	return err ?: bytes;
}
static DEVICE_ATTR_RW(resolution);

static ssize_t edid_read(struct file *filp, struct kobject *kobj,
			 GHYVI_BIN_ATTRIBUTE_CONST struct bin_attribute *attr, char *buffer,
			 loff_t pos, size_t bytes)
{
	struct ghyvi_device *device = dev_get_drvdata(kobj_to_dev(kobj));
	u8 edid[GHYVI_EDID_BYTES_MAX];
	size_t size = ghyvi_vgpu_get_edid(device->vgpu, edid);

	return memory_read_from_buffer(buffer, bytes, &pos, edid, size);
}

static int set_edid(struct ghyvi_device *device, const char *edid, size_t bytes)
{
	const char *wrong;

	lockdep_assert_held(&device->lock);
	if (device->open)
		return report_busy(device, "edid");
	wrong = ghyvi_vgpu_set_edid(device->vgpu, (const u8 *)edid, bytes);
	if (!wrong)
		return 0;
	ghyvi_report(&device->reporter, "display/edid: %s", wrong);
	return -EINVAL;
}

static ssize_t edid_write(struct file *filp, struct kobject *kobj,
			  GHYVI_BIN_ATTRIBUTE_CONST struct bin_attribute *attr, char *buffer,
			  loff_t pos, size_t bytes)
{
	struct ghyvi_device *device = dev_get_drvdata(kobj_to_dev(kobj));
	int err;

	mutex_lock(&device->lock);
	/* A part of an EDID has not the size of one. */
	err = set_edid(device, buffer, pos ? 0 : bytes);
	mutex_unlock(&device->lock);
	return err ?: bytes;
}

/* Without a size, the kernel does not cut what is too long. */
static GHYVI_BIN_ATTRIBUTE_CONST struct bin_attribute edid_attribute = {
	.attr = { .name = "edid", .mode = 0644 },
	.read = edid_read,
	.write = edid_write,
};

static struct attribute *display_attributes[] = {
	&dev_attr_enabled.attr,
	&dev_attr_connected.attr,
	&dev_attr_resolution.attr,
	NULL,
};

static GHYVI_BIN_ATTRIBUTE_CONST struct bin_attribute *GHYVI_BIN_ATTRIBUTE_CONST
	display_binaries[] = {
		&edid_attribute,
		NULL,
	};

const struct attribute_group ghyvi_display_group = {
	.name = "display",
	.attrs = display_attributes,
	.bin_attrs = display_binaries,
};
