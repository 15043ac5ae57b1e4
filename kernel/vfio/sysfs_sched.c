// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's attributes, usable at any time:
 *
 *	/sys/bus/mdev/devices/<uuid>/sched/
 *		weight, cap, priority
 *	/sys/class/mdev_bus/<parent>/ghyvi/
 *		scheduler
 *		timeslice_us, preempt_timeout_us, window_us
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "parent.h"
#include "setting.h"

#define SCHEDULER_NAME_BYTES 32

static void get_knobs(struct ghyvi_vgpu *vgpu, void *values)
{
	ghyvi_sched_knobs(ghyvi_vgpu_sched_entity(vgpu), values);
}

static int set_knobs(struct ghyvi_vgpu *vgpu, const void *values)
{
	return ghyvi_sched_set_knobs(ghyvi_vgpu_sched_entity(vgpu), values);
}

static const struct ghyvi_settings knobs = {
	.group = "sched",
	.get = get_knobs,
	.set = set_knobs,
};

GHYVI_SETTING(knobs, struct ghyvi_sched_knobs, weight, 0644);
GHYVI_SETTING(knobs, struct ghyvi_sched_knobs, cap, 0644);
GHYVI_SETTING(knobs, struct ghyvi_sched_knobs, priority, 0644);

static struct attribute *knob_attributes[] = {
	&setting_weight.attr.attr,
	&setting_cap.attr.attr,
	&setting_priority.attr.attr,
	NULL,
};

const struct attribute_group ghyvi_sched_group = {
	.name = "sched",
	.attrs = knob_attributes,
};

/*
 * The parent's driver data is its driver's. So the attributes belong to the pGPU, and find it by what they
 * are embedded in.
 */
static struct ghyvi_pgpu *pgpu_of(struct device_attribute *attr)
{
	return container_of(attr, struct ghyvi_pgpu_attribute, attr)->pgpu;
}

static ssize_t scheduler_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return ghyvi_sched_policy_list(pgpu_of(attr)->sched, buffer, PAGE_SIZE);
}

static ssize_t scheduler_store(struct device *dev, struct device_attribute *attr,
			       const char *buffer, size_t bytes)
{
	char name[SCHEDULER_NAME_BYTES];
	int ret;

	if (strscpy(name, buffer, sizeof(name)) < 0)
		return -EINVAL;
	ret = ghyvi_sched_set_policy(pgpu_of(attr)->sched, strim(name));
	return ret ?: bytes;
}

static u32 *setting(struct ghyvi_sched_settings *settings, struct device_attribute *attr)
{
	return (void *)settings + container_of(attr, struct ghyvi_pgpu_attribute, attr)->offset;
}

static ssize_t setting_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_settings(pgpu_of(attr)->sched, &settings);
	return sysfs_emit(buffer, "%u\n", *setting(&settings, attr));
}

static ssize_t setting_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			     size_t bytes)
{
	struct ghyvi_pgpu *pgpu = pgpu_of(attr);
	struct ghyvi_sched_settings settings;
	u32 value;
	int ret;

	if (kstrtou32(buffer, 0, &value))
		return -EINVAL;
	mutex_lock(&pgpu->lock); /* one setting at a time */
	ghyvi_sched_settings(pgpu->sched, &settings);
	*setting(&settings, attr) = value;
	ret = ghyvi_sched_set_settings(pgpu->sched, &settings);
	mutex_unlock(&pgpu->lock);
	return ret ?: bytes;
}

static const struct {
	struct device_attribute attr;
	size_t offset;
} templates[GHYVI_PGPU_ATTRIBUTES] = {
	{ __ATTR(scheduler, 0644, scheduler_show, scheduler_store), 0 },
	{ __ATTR(timeslice_us, 0644, setting_show, setting_store),
	  offsetof(struct ghyvi_sched_settings, timeslice_us) },
	{ __ATTR(preempt_timeout_us, 0644, setting_show, setting_store),
	  offsetof(struct ghyvi_sched_settings, preempt_timeout_us) },
	{ __ATTR(window_us, 0644, setting_show, setting_store),
	  offsetof(struct ghyvi_sched_settings, window_us) },
};

int ghyvi_pgpu_add_attributes(struct ghyvi_pgpu *pgpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_PGPU_ATTRIBUTES; i++) {
		struct ghyvi_pgpu_attribute *attribute = &pgpu->attributes[i];

		attribute->attr = templates[i].attr;
		attribute->offset = templates[i].offset;
		attribute->pgpu = pgpu;
		sysfs_attr_init(&attribute->attr.attr);
		pgpu->attribute_list[i] = &attribute->attr.attr;
	}
	pgpu->attribute_group.name = "ghyvi";
	pgpu->attribute_group.attrs = pgpu->attribute_list;
	return sysfs_create_group(&pgpu->dev->kobj, &pgpu->attribute_group);
}

void ghyvi_pgpu_remove_attributes(struct ghyvi_pgpu *pgpu)
{
	sysfs_remove_group(&pgpu->dev->kobj, &pgpu->attribute_group);
}
