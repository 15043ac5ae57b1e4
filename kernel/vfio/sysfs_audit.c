// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auditor's attributes, usable before the vGPU is opened and while its guest runs:
 *
 *	/sys/bus/mdev/devices/<uuid>/audit/
 *		mode
 *		budget_bytes, budget_commands, budget_batches
 *		budget_us
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "setting.h"

static bool audit_may_log;
module_param(audit_may_log, bool, 0444);
MODULE_PARM_DESC(
	audit_may_log,
	"allow audit/mode \"log\", in which refused commands run (default: no; for debugging)");

static struct ghyvi_audit *audit_of(struct device *dev)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);

	return ghyvi_vgpu_audit(device->vgpu);
}

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return ghyvi_audit_mode_list(audit_of(dev), buffer, PAGE_SIZE);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			  size_t bytes)
{
	struct ghyvi_device *device = dev_get_drvdata(dev);
	char name[GHYVI_PARSE_NAME_BYTES];
	int err = ghyvi_parse_name(buffer, bytes, name);

	if (!err && !strcmp(name, "log") && !audit_may_log) {
		ghyvi_report(
			&device->reporter,
			"audit/mode: refused: \"log\" needs ghyvi loaded with audit_may_log=1");
		return -EPERM;
	}
	if (!err) {
		mutex_lock(&device->lock);
		err = ghyvi_audit_set_mode(audit_of(dev), name);
		mutex_unlock(&device->lock);
	}
	if (err)
		ghyvi_report(&device->reporter, "audit/mode: there is no mode \"%s\"", name);
	return err ?: bytes;
}
static DEVICE_ATTR_RW(mode);

GHYVI_SETTINGS(budget, "audit", ghyvi_vgpu_audit(vgpu), ghyvi_audit_get_budget,
	       ghyvi_audit_set_budget);

#define BUDGET_SETTING(name, lowest, highest) \
	GHYVI_SETTING(budget, struct ghyvi_audit_budget, name, lowest, highest);
GHYVI_AUDIT_SETTINGS(BUDGET_SETTING)

/*
 * It was a limit in time, which refused correct submissions when their thread got no CPU. Stored
 * definitions of vGPUs may set it: without the attribute they would not start any more.
 */
static ssize_t budget_us_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "0\n");
}

static ssize_t budget_us_store(struct device *dev, struct device_attribute *attr,
			       const char *buffer, size_t bytes)
{
	dev_warn_once(dev, "audit/budget_us has no effect any more and will be removed\n");
	return bytes;
}
static DEVICE_ATTR_RW(budget_us);

static struct attribute *audit_attributes[] = {
	&dev_attr_mode.attr,
	&setting_budget_bytes.attr.attr,
	&setting_budget_commands.attr.attr,
	&setting_budget_batches.attr.attr,
	&dev_attr_budget_us.attr,
	NULL,
};

const struct attribute_group ghyvi_audit_group = {
	.name = "audit",
	.attrs = audit_attributes,
};
