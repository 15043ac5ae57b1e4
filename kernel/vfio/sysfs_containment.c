// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/bus/mdev/devices/<uuid>/containment/
 *	budget_ms, budget_minsn, points_max, window_ms
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/sysfs.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "setting.h"

GHYVI_SETTINGS(containment, "containment", vgpu, ghyvi_vgpu_get_containment,
	       ghyvi_vgpu_set_containment);

#define CONTAINMENT_SETTING(name, lowest, highest) \
	GHYVI_SETTING(containment, struct ghyvi_containment, name, lowest, highest);
GHYVI_CONTAINMENT_SETTINGS(CONTAINMENT_SETTING)

static struct attribute *containment_attributes[] = {
	&setting_budget_ms.attr.attr,
	&setting_budget_minsn.attr.attr,
	&setting_points_max.attr.attr,
	&setting_window_ms.attr.attr,
	NULL,
};

const struct attribute_group ghyvi_containment_group = {
	.name = "containment",
	.attrs = containment_attributes,
};
