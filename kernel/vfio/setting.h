/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes of a vGPU that are each one u32 of a struct. The struct is read, checked and applied
 * as a whole.
 */
#ifndef GHYVI_SETTING_H
#define GHYVI_SETTING_H

#include <linux/device.h>
#include "parse.h"

struct ghyvi_device;
struct ghyvi_vgpu;

#define GHYVI_SETTINGS_BYTES 64

/*
 * struct ghyvi_settings - a struct of u32 members, of at most GHYVI_SETTINGS_BYTES.
 * @get: copy the current values
 * @set: apply new values. Returns 0, or -EINVAL if one is out of range; then no value changes.
 */
struct ghyvi_settings {
	const char *group; /* directory of the attributes */
	void (*get)(struct ghyvi_vgpu *vgpu, void *values);
	int (*set)(struct ghyvi_vgpu *vgpu, const void *values);
};

/* struct ghyvi_setting - an attribute. */
struct ghyvi_setting {
	struct device_attribute attr; /* the sysfs attribute */
	const struct ghyvi_settings *settings; /* the struct that the attribute is a member of */
	size_t offset; /* offset of the member in the struct, in bytes */
	struct ghyvi_value_range range; /* valid values */
};

ssize_t ghyvi_setting_show(struct device *dev, struct device_attribute *attr, char *buffer);
ssize_t ghyvi_setting_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			    size_t bytes);

/**
 * ghyvi_u32_store() - store to an attribute that is one number, but of no struct.
 * @device: the vGPU
 * @name: of the attribute, for the report of a value that is none
 * @range: valid values
 * @buffer: what was written
 * @bytes: its length
 * @set: apply a valid value, with the device's lock held. Returns 0 or -errno.
 *
 * Return: @bytes, -EINVAL, or what @set returns.
 */
ssize_t ghyvi_u32_store(struct ghyvi_device *device, const char *name,
			const struct ghyvi_value_range *range, const char *buffer, size_t bytes,
			int (*set)(struct ghyvi_device *device, u32 value));

ssize_t ghyvi_flag_show(struct ghyvi_device *device, char *buffer,
			bool (*get)(const struct ghyvi_vgpu *vgpu));

/*
 * Define the attribute @name in @directory, 0 or 1, of an object of its own. @get_value: of the
 * vGPU. @set_value: as for ghyvi_u32_store().
 */
#define GHYVI_FLAG_ATTRIBUTE(directory, name, get_value, set_value)                           \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr,         \
				   char *buffer)                                              \
	{                                                                                     \
		return ghyvi_flag_show(dev_get_drvdata(dev), buffer, get_value);              \
	}                                                                                     \
	static ssize_t name##_store(struct device *dev, struct device_attribute *attr,        \
				    const char *buffer, size_t bytes)                         \
	{                                                                                     \
		return ghyvi_u32_store(dev_get_drvdata(dev), directory "/" #name,             \
				       &(const struct ghyvi_value_range){ .max = 1 }, buffer, \
				       bytes, set_value);                                     \
	}                                                                                     \
	static DEVICE_ATTR_RW(name)

/* Define the settings @name in the directory @directory, of the object @of of the vGPU @vgpu. */
#define GHYVI_SETTINGS(name, directory, of, get_values, set_values)        \
	static void name##_get(struct ghyvi_vgpu *vgpu, void *values)      \
	{                                                                  \
		get_values(of, values);                                    \
	}                                                                  \
	static int name##_set(struct ghyvi_vgpu *vgpu, const void *values) \
	{                                                                  \
		return set_values(of, values);                             \
	}                                                                  \
	static const struct ghyvi_settings name = { directory, name##_get, name##_set }

#define GHYVI_SETTING_ATTRIBUTE(of, type, member, mode, store_function, ...)      \
	static struct ghyvi_setting setting_##member = {                          \
		.attr = __ATTR(member, mode, ghyvi_setting_show, store_function), \
		.settings = &(of),                                                \
		.offset = offsetof(type, member),                                 \
		.range = { __VA_ARGS__ },                                         \
	};                                                                        \
	static_assert(sizeof(type) <= GHYVI_SETTINGS_BYTES)

/* Define setting_<member>, whose valid values are @lowest..@highest. */
#define GHYVI_SETTING(of, type, member, lowest, highest)                                      \
	GHYVI_SETTING_ATTRIBUTE(of, type, member, 0644, ghyvi_setting_store, .min = (lowest), \
				.max = (highest))

#define GHYVI_SETTING_RO(of, type, member) GHYVI_SETTING_ATTRIBUTE(of, type, member, 0444, NULL)

#endif
