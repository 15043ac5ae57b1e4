// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of a vGPU:
 *
 *	/sys/bus/mdev/devices/<uuid>/
 *		stats/<counter>			one per line of GHYVI_STATS
 *		usage				for programs that read drm-usage-stats
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/sysfs.h>
#include "device.h"

struct stat_attribute {
	struct device_attribute attr;
	size_t offset;
};

static ssize_t stat_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	size_t offset = container_of(attr, struct stat_attribute, attr)->offset;
	const atomic64_t *counter = (void *)&device->stats + offset;

	return sysfs_emit(buffer, "%lld\n", atomic64_read(counter));
}

#define STAT_ATTRIBUTE(name, what)                            \
	static struct stat_attribute stat_##name = {          \
		.attr = __ATTR(name, 0444, stat_show, NULL),  \
		.offset = offsetof(struct ghyvi_stats, name), \
	};
GHYVI_STATS(STAT_ATTRIBUTE)

#define STAT_POINTER(name, what) &stat_##name.attr.attr,
static struct attribute *stats_attributes[] = {
	GHYVI_STATS(STAT_POINTER) NULL,
};

const struct attribute_group ghyvi_stats_group = {
	.name = "stats",
	.attrs = stats_attributes,
};

/* The engine names that i915 uses in drm-usage-stats. */
static const char *const usage_names[GHYVI_ENGINES] = {
	[GHYVI_RCS] = "render",
	[GHYVI_BCS] = "copy",
	[GHYVI_VCS] = "video",
	[GHYVI_VECS] = "video-enhance",
};

/*
 * DRM drivers show this text in /proc/<pid>/fdinfo/<fd>. The file of a VFIO device belongs to the
 * VFIO core, which has no show_fdinfo callback for drivers.
 */
static ssize_t usage_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	unsigned int i;
	int bytes;

	bytes = sysfs_emit(buffer, "drm-driver:\tghyvi\ndrm-pdev:\t%s\ndrm-client-id:\t%d\n",
			   dev_name(device->pgpu->dev), device->id);
	for (i = 0; i < GHYVI_ENGINES; i++)
		bytes += sysfs_emit_at(
			buffer, bytes, "drm-engine-%s:\t%lld ns\n", usage_names[i],
			atomic64_read(&ghyvi_engine_stats(&device->stats, i)->busy_ns));
	return bytes;
}
static DEVICE_ATTR_RO(usage);

static struct attribute *usage_attributes[] = {
	&dev_attr_usage.attr,
	NULL,
};

const struct attribute_group ghyvi_usage_group = {
	.attrs = usage_attributes,
};
