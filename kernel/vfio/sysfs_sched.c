// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's attributes, usable at any time:
 *
 *	/sys/bus/mdev/devices/<uuid>/sched/
 *		weight, cap, priority
 *	/sys/class/mdev_bus/<parent>/ghyvi/
 *		scheduler
 *		timeslice_us, preempt_timeout_us, window_us
 *		type_share
 *		last_error
 *
 * Documentation/ABI/testing/sysfs-bus-mdev-ghyvi describes each.
 */
#include <linux/sysfs.h>
#include <ghyvi/choice.h>
#include <ghyvi/settings.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "parent.h"
#include "setting.h"

GHYVI_SETTINGS(knobs, "sched", ghyvi_vgpu_sched_entity(vgpu), ghyvi_sched_get_knobs,
	       ghyvi_sched_set_knobs);

#define KNOB_SETTING(name, lowest, highest) \
	GHYVI_SETTING(knobs, struct ghyvi_sched_knobs, name, lowest, highest);
GHYVI_KNOB_SETTINGS(KNOB_SETTING)

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
 * The parent's driver data belongs to its driver. So the attributes are embedded in struct
 * ghyvi_pgpu, and find it through the enclosing struct ghyvi_pgpu_attribute.
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
	char name[GHYVI_PARSE_NAME_BYTES];
	int err = ghyvi_parse_name(buffer, bytes, name);

	if (!err)
		err = ghyvi_sched_set_policy(pgpu_of(attr)->sched, name);
	if (err)
		ghyvi_report(&pgpu_of(attr)->reporter, "ghyvi/scheduler: there is no policy \"%s\"",
			     name);
	return err ?: bytes;
}

static u32 *setting_of(struct ghyvi_sched_settings *settings, struct device_attribute *attr)
{
	return (void *)settings + container_of(attr, struct ghyvi_pgpu_attribute, attr)->offset;
}

static ssize_t setting_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_get_settings(pgpu_of(attr)->sched, &settings);
	return sysfs_emit(buffer, "%u\n", *setting_of(&settings, attr));
}

static ssize_t setting_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			     size_t bytes)
{
	const struct ghyvi_pgpu_attribute *attribute =
		container_of(attr, struct ghyvi_pgpu_attribute, attr);
	struct ghyvi_pgpu *pgpu = attribute->pgpu;
	struct ghyvi_sched_settings settings;
	char reason[GHYVI_PARSE_REASON_BYTES];
	u32 value;
	int err = ghyvi_parse_u32(buffer, bytes, &attribute->range, &value, reason);

	if (err) {
		ghyvi_report(&pgpu->reporter, "ghyvi/%s: %s", attr->attr.name, reason);
		return err;
	}
	mutex_lock(&pgpu->lock); /* one setting at a time */
	ghyvi_sched_get_settings(pgpu->sched, &settings);
	*setting_of(&settings, attr) = value;
	err = ghyvi_sched_set_settings(pgpu->sched, &settings);
	mutex_unlock(&pgpu->lock);
	return err ?: bytes;
}

static ssize_t last_error_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&pgpu_of(attr)->reporter, text, sizeof(text));
	return sysfs_emit(buffer, "%s\n", text);
}

static const char *const type_share_names[] = {
	[GHYVI_TYPE_SHARE_NONE] = "none",
	[GHYVI_TYPE_SHARE_WEIGHT] = "weight",
	[GHYVI_TYPE_SHARE_CAP] = "cap",
};

static const char *type_share_name(unsigned int i)
{
	return type_share_names[i];
}

static const struct ghyvi_choices type_shares = { type_share_name, ARRAY_SIZE(type_share_names) };

static ssize_t type_share_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	return ghyvi_choice_list(&type_shares, READ_ONCE(pgpu_of(attr)->type_share), buffer,
				 PAGE_SIZE);
}

static ssize_t type_share_store(struct device *dev, struct device_attribute *attr,
				const char *buffer, size_t bytes)
{
	struct ghyvi_pgpu *pgpu = pgpu_of(attr);
	char name[GHYVI_PARSE_NAME_BYTES];
	int share = ghyvi_parse_name(buffer, bytes, name) ?: ghyvi_choice_find(&type_shares, name);

	if (share >= 0) {
		WRITE_ONCE(pgpu->type_share, share);
		return bytes;
	}
	ghyvi_report(&pgpu->reporter, "ghyvi/type_share: there is no share \"%s\"", name);
	return share;
}

void ghyvi_pgpu_init_knobs(const struct ghyvi_pgpu *pgpu, const struct ghyvi_type *type,
			   struct ghyvi_sched_entity *entity)
{
	const enum ghyvi_type_share share = READ_ONCE(pgpu->type_share);
	struct ghyvi_sched_knobs knobs;

	if (share == GHYVI_TYPE_SHARE_NONE)
		return;
	ghyvi_sched_get_knobs(entity, &knobs);
	knobs.weight = GHYVI_TYPE_SHARE_WEIGHT_WHOLE / type->divisor;
	if (share == GHYVI_TYPE_SHARE_CAP)
		knobs.cap = DIV_ROUND_UP(GHYVI_SCHED_CAP_MAX, type->divisor);
	WARN_ON_ONCE(ghyvi_sched_set_knobs(entity, &knobs));
}

#define PGPU_SETTING(name, lowest, highest, zero)          \
	{ __ATTR(name, 0644, setting_show, setting_store), \
	  offsetof(struct ghyvi_sched_settings, name),     \
	  { .min = (lowest), .max = (highest), .or_zero = (zero) } },

static const struct {
	struct device_attribute attr;
	size_t offset;
	struct ghyvi_value_range range;
} templates[GHYVI_PGPU_ATTRIBUTES] = {
	{ .attr = __ATTR(scheduler, 0644, scheduler_show, scheduler_store) },
	{ .attr = __ATTR(type_share, 0644, type_share_show, type_share_store) },
	{ .attr = __ATTR_RO(last_error) },
	GHYVI_PGPU_SETTINGS(PGPU_SETTING)
};

int ghyvi_pgpu_add_attributes(struct ghyvi_pgpu *pgpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_PGPU_ATTRIBUTES; i++) {
		struct ghyvi_pgpu_attribute *attribute = &pgpu->attributes[i];

		attribute->attr = templates[i].attr;
		attribute->offset = templates[i].offset;
		attribute->range = templates[i].range;
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
