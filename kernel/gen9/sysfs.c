// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of the function beside those that every pGPU has. User space:
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>
#include "gen9.h"

static ssize_t show(struct device *dev, char *buffer, bool fast)
{
	return sysfs_emit(buffer, "%u\n", gen9_frequency_get(dev_get_drvdata(dev), fast));
}

static ssize_t store(struct device *dev, const char *buffer, size_t count, bool fast)
{
	u32 mhz;
	int err = kstrtou32(buffer, 0, &mhz);

	return (err ?: gen9_frequency_set(dev_get_drvdata(dev), fast, mhz)) ?: count;
}

static ssize_t freq_min_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return show(dev, buffer, false);
}

static ssize_t freq_min_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			      size_t count)
{
	return store(dev, buffer, count, false);
}
static DEVICE_ATTR_RW(freq_min);

static ssize_t freq_max_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return show(dev, buffer, true);
}

static ssize_t freq_max_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			      size_t count)
{
	return store(dev, buffer, count, true);
}
static DEVICE_ATTR_RW(freq_max);

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
