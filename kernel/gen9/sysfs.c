// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of the function beside those that every pGPU has. User space:
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "gen9.h"

static bool is_max(const struct device_attribute *attr)
{
	return !strcmp(attr->attr.name, "freq_max");
}

static ssize_t limit_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", gen9_frequency_get(dev_get_drvdata(dev), is_max(attr)));
}

static ssize_t limit_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			   size_t count)
{
	u32 mhz;
	int err = kstrtou32(buffer, 0, &mhz);

	return (err ?: gen9_frequency_set(dev_get_drvdata(dev), is_max(attr), mhz)) ?: count;
}

static struct device_attribute dev_attr_freq_min = __ATTR(freq_min, 0644, limit_show, limit_store);
static struct device_attribute dev_attr_freq_max = __ATTR(freq_max, 0644, limit_show, limit_store);

static ssize_t freq_act_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	int mhz = gen9_frequency_actual(dev_get_drvdata(dev));

	return mhz < 0 ? mhz : sysfs_emit(buffer, "%d\n", mhz);
}
static DEVICE_ATTR_RO(freq_act);

static struct attribute *attributes[] = {
	&dev_attr_freq_min.attr,
	&dev_attr_freq_max.attr,
	&dev_attr_freq_act.attr,
	NULL,
};

/* The registration has made the folder. */
static const struct attribute_group group = { .name = "ghyvi", .attrs = attributes };

int gen9_sysfs_create(struct gen9 *gpu)
{
	return sysfs_merge_group(&gpu->pdev->dev.kobj, &group);
}

void gen9_sysfs_remove(struct gen9 *gpu)
{
	sysfs_unmerge_group(&gpu->pdev->dev.kobj, &group);
}
