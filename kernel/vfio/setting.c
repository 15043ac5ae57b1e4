// SPDX-License-Identifier: GPL-2.0-only
/* Attributes that are one u32, of a struct or alone. */
#include <linux/sysfs.h>
#include "device.h"
#include "setting.h"

ssize_t ghyvi_setting_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	const struct ghyvi_setting *setting = container_of(attr, struct ghyvi_setting, attr);
	struct ghyvi_device *device = dev_get_drvdata(dev);
	u32 values[GHYVI_SETTINGS_BYTES / sizeof(u32)];

	setting->settings->get(device->vgpu, values);
	return sysfs_emit(buffer, "%u\n", values[setting->offset / sizeof(u32)]);
}

ssize_t ghyvi_setting_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			    size_t bytes)
{
	const struct ghyvi_setting *setting = container_of(attr, struct ghyvi_setting, attr);
	struct ghyvi_device *device = dev_get_drvdata(dev);
	u32 values[GHYVI_SETTINGS_BYTES / sizeof(u32)];
	char reason[GHYVI_PARSE_REASON_BYTES];
	u32 value;
	int err = ghyvi_parse_u32(buffer, bytes, &setting->range, &value, reason);

	if (err) {
		ghyvi_report(&device->reporter, "%s/%s: %s", setting->settings->group,
			     attr->attr.name, reason);
		return err;
	}
	mutex_lock(&device->lock); /* one setting at a time */
	setting->settings->get(device->vgpu, values);
	values[setting->offset / sizeof(u32)] = value;
	err = setting->settings->set(device->vgpu, values);
	mutex_unlock(&device->lock);
	return err ?: bytes;
}

ssize_t ghyvi_u32_store(struct ghyvi_device *device, const char *name,
			const struct ghyvi_value_range *range, const char *buffer, size_t bytes,
			int (*set)(struct ghyvi_device *device, u32 value))
{
	char reason[GHYVI_PARSE_REASON_BYTES];
	u32 value;
	int err = ghyvi_parse_u32(buffer, bytes, range, &value, reason);

	if (err) {
		ghyvi_report(&device->reporter, "%s: %s", name, reason);
		return err;
	}
	mutex_lock(&device->lock);
	err = set(device, value);
	mutex_unlock(&device->lock);
	return err ?: bytes;
}

ssize_t ghyvi_flag_show(struct ghyvi_device *device, char *buffer,
			bool (*get)(const struct ghyvi_vgpu *vgpu))
{
	return sysfs_emit(buffer, "%d\n", get(device->vgpu));
}
