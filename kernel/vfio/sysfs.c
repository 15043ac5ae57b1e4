// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU's attributes, usable before it is opened and while its guest runs:
 *
 *	/sys/bus/mdev/devices/<uuid>/
 *		state, open_time, open_pid, last_error, last_error_time, reset, unplug
 *		policy/mode, policy/self_check, policy/bar_remap, policy/multicall
 *		policy/static_pages, policy/oos_threshold, policy/idle_pins, policy/tables_max
 *		policy/trap_ns, policy/scan_ns, policy/protect_ns
 *		slot				see sysfs_slot.c
 *		sched/				see sysfs_sched.c
 *		audit/				see sysfs_audit.c
 *		containment/			see sysfs_containment.c
 *		display/			see sysfs_display.c
 *		stats/<counter>, usage		see sysfs_stats.c
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/string.h>
#include <linux/sysfs.h>
#include <ghyvi/choice.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "setting.h"

static struct ghyvi_device *of_dev(struct device *dev)
{
	return dev_get_drvdata(dev);
}

const char *ghyvi_device_state(const struct ghyvi_device *device)
{
	if (ghyvi_vgpu_is_failsafe(device->vgpu))
		return "failsafe";
	return READ_ONCE(device->open) ? "open" : "created";
}

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%s\n", ghyvi_device_state(of_dev(dev)));
}
static DEVICE_ATTR_RO(state);

static ssize_t open_time_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%lld\n", READ_ONCE(of_dev(dev)->open_time));
}
static DEVICE_ATTR_RO(open_time);

static ssize_t open_pid_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%d\n", ghyvi_device_open_pid(of_dev(dev)));
}
static DEVICE_ATTR_RO(open_pid);

static ssize_t last_error_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&of_dev(dev)->reporter, text, sizeof(text));
	return sysfs_emit(buffer, "%s\n", text);
}
static DEVICE_ATTR_RO(last_error);

static ssize_t last_error_time_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	char text[GHYVI_REPORT_BYTES];

	return sysfs_emit(buffer, "%lld\n",
			  ghyvi_report_last(&of_dev(dev)->reporter, text, sizeof(text)));
}
static DEVICE_ATTR_RO(last_error_time);

/*
 * A guest driver recovers only from a reset that clears no more than GDRST: it never rewrites the
 * GGTT. A vGPU that is not open is reset completely.
 */
static ssize_t reset_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			   size_t bytes)
{
	struct ghyvi_device *device = of_dev(dev);

	if (!sysfs_streq(buffer, "1"))
		return -EINVAL;
	mutex_lock(&device->lock);
	if (device->open)
		ghyvi_vgpu_reset_under_driver(device->vgpu);
	else
		ghyvi_vgpu_reset(device->vgpu);
	mutex_unlock(&device->lock);
	return bytes;
}
static DEVICE_ATTR_WO(reset);

/*
 * The removal of the device sends the same request, but then waits in the kernel, uninterruptibly.
 */
static ssize_t unplug_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			    size_t bytes)
{
	struct ghyvi_device *device = of_dev(dev);

	if (!sysfs_streq(buffer, "1"))
		return -EINVAL;
	if (!READ_ONCE(device->open))
		return -ENXIO;
	return ghyvi_irq_request(device) ? bytes : -EOPNOTSUPP;
}
static DEVICE_ATTR_WO(unplug);

static struct attribute *device_attributes[] = {
	&dev_attr_state.attr,		&dev_attr_open_time.attr,
	&dev_attr_open_pid.attr,	&dev_attr_last_error.attr,
	&dev_attr_last_error_time.attr, &dev_attr_reset.attr,
	&dev_attr_unplug.attr,		NULL,
};

static const struct attribute_group device_group = {
	.attrs = device_attributes,
};

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return ghyvi_gtt_policy_list(ghyvi_vgpu_gtt(of_dev(dev)->vgpu), buffer, PAGE_SIZE);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			  size_t bytes)
{
	struct ghyvi_device *device = of_dev(dev);
	char name[GHYVI_PARSE_NAME_BYTES];
	int err = ghyvi_parse_name(buffer, bytes, name);

	if (!err) {
		mutex_lock(&device->lock);
		err = ghyvi_vgpu_set_policy(device->vgpu, name);
		mutex_unlock(&device->lock);
	}
	if (err == -EOPNOTSUPP)
		ghyvi_report(&device->reporter, "policy/mode: \"%s\" is not supported by this pGPU",
			     name);
	else if (err)
		ghyvi_report(&device->reporter, "policy/mode: there is no policy \"%s\"", name);
	return err ?: bytes;
}
static DEVICE_ATTR_RW(mode);

static int set_self_check(struct ghyvi_device *device, u32 on)
{
	ghyvi_vgpu_set_check(device->vgpu, on);
	return 0;
}

GHYVI_FLAG_ATTRIBUTE("policy", self_check, ghyvi_vgpu_get_check, set_self_check);

static const char *switch_name(unsigned int i)
{
	return i ? "on" : "off";
}

static const struct ghyvi_choices switch_choices = { .name = switch_name, .count = 2 };

/* Set a switch of the vGPU that cannot change while the vGPU is open. */
static ssize_t switch_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			    size_t bytes, bool (*get)(const struct ghyvi_vgpu *vgpu),
			    void (*set)(struct ghyvi_vgpu *vgpu, bool on))
{
	struct ghyvi_device *device = of_dev(dev);
	char name[GHYVI_PARSE_NAME_BYTES];
	int on = ghyvi_parse_name(buffer, bytes, name) ?: ghyvi_choice_find(&switch_choices, name);
	int err = 0;

	if (on < 0) {
		ghyvi_report(&device->reporter, "policy/%s: there is no choice \"%s\"",
			     attr->attr.name, name);
		return on;
	}
	mutex_lock(&device->lock);
	if (!device->open)
		set(device->vgpu, on);
	else if (on != get(device->vgpu))
		err = -EBUSY;
	mutex_unlock(&device->lock);
	if (err)
		ghyvi_report(&device->reporter,
			     "policy/%s: cannot be changed while the vGPU is open",
			     attr->attr.name);
	return err ?: bytes;
}

#define SWITCH(name, get, set)                                                            \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr,     \
				   char *buffer)                                          \
	{                                                                                 \
		return ghyvi_choice_list(&switch_choices, get(of_dev(dev)->vgpu), buffer, \
					 PAGE_SIZE);                                      \
	}                                                                                 \
	static ssize_t name##_store(struct device *dev, struct device_attribute *attr,    \
				    const char *buffer, size_t bytes)                     \
	{                                                                                 \
		return switch_store(dev, attr, buffer, bytes, get, set);                  \
	}                                                                                 \
	static DEVICE_ATTR_RW(name)

SWITCH(bar_remap, ghyvi_vgpu_get_remap, ghyvi_vgpu_set_remap);
SWITCH(multicall, ghyvi_vgpu_get_multicall, ghyvi_vgpu_set_multicall);

GHYVI_SETTINGS(tuning, "policy", ghyvi_vgpu_gtt(vgpu), ghyvi_gtt_get_tuning, ghyvi_gtt_set_tuning);

#define TUNING_SETTING(name, lowest, highest) \
	GHYVI_SETTING(tuning, struct ghyvi_shadow_tuning, name, lowest, highest);
GHYVI_TUNING_SETTINGS(TUNING_SETTING)
GHYVI_SETTING_RO(tuning, struct ghyvi_shadow_tuning, trap_ns);
GHYVI_SETTING_RO(tuning, struct ghyvi_shadow_tuning, scan_ns);
GHYVI_SETTING_RO(tuning, struct ghyvi_shadow_tuning, protect_ns);

static struct attribute *policy_attributes[] = {
	&dev_attr_mode.attr,
	&dev_attr_self_check.attr,
	&dev_attr_bar_remap.attr,
	&dev_attr_multicall.attr,
	&setting_static_pages.attr.attr,
	&setting_oos_threshold.attr.attr,
	&setting_idle_pins.attr.attr,
	&setting_tables_max.attr.attr,
	&setting_trap_ns.attr.attr,
	&setting_scan_ns.attr.attr,
	&setting_protect_ns.attr.attr,
	NULL,
};

static const struct attribute_group policy_group = {
	.name = "policy",
	.attrs = policy_attributes,
};

const struct attribute_group *ghyvi_device_groups[] = {
	&device_group,	      &ghyvi_slot_group,
	&policy_group,	      &ghyvi_sched_group,
	&ghyvi_audit_group,   &ghyvi_containment_group,
	&ghyvi_display_group, &ghyvi_stats_group,
	&ghyvi_usage_group,   NULL,
};
