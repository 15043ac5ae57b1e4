// SPDX-License-Identifier: GPL-2.0-only
/*
 * The settings with their valid values, from the list that also defines the kernel's attributes,
 * and the kernel's parser. So a value can be checked before there is a vGPU.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <ghyvi/settings.h>
#include "../../kernel/vfio/parse.h"
#include "ghyvi.h"

#define GHYVI_API __attribute__((visibility("default")))

struct known_setting {
	const char *name;
	struct ghyvi_value_range range;
	const char *choices; /* separated by blanks; NULL: a number in @range */
};

#define NUMBER(group, name, lowest, highest, zero) \
	{ group #name, { .min = (lowest), .max = (highest), .or_zero = (zero) }, NULL },
#define TUNING(name, lowest, highest) NUMBER("policy/", name, lowest, highest, false)
#define KNOB(name, lowest, highest) NUMBER("sched/", name, lowest, highest, false)
#define AUDIT(name, lowest, highest) NUMBER("audit/", name, lowest, highest, false)
#define CONTAINMENT(name, lowest, highest) NUMBER("containment/", name, lowest, highest, false)
#define PGPU(name, lowest, highest, zero) NUMBER("ghyvi/", name, lowest, highest, zero)

static const struct known_setting known_settings[] = {
	{ "audit/mode", {}, GHYVI_AUDIT_CHOICES },
	{ "display/connected", { .max = 1 }, NULL },
	{ "display/enabled", { .max = 1 }, NULL },
	{ "display/resolution", {}, GHYVI_RESOLUTION_CHOICES },
	{ "ghyvi/scheduler", {}, GHYVI_SCHEDULER_CHOICES },
	{ "ghyvi/type_share", {}, GHYVI_TYPE_SHARE_CHOICES },
	{ "policy/bar_remap", {}, GHYVI_BAR_REMAP_CHOICES },
	{ "policy/multicall", {}, GHYVI_MULTICALL_CHOICES },
	{ "policy/mode", {}, GHYVI_POLICY_CHOICES },
	{ "policy/self_check", { .max = 1 }, NULL },
	{ "slot", { .max = GHYVI_SLOT_MAX }, NULL },
	GHYVI_TUNING_SETTINGS(TUNING) GHYVI_KNOB_SETTINGS(KNOB) GHYVI_AUDIT_SETTINGS(AUDIT)
		GHYVI_CONTAINMENT_SETTINGS(CONTAINMENT) GHYVI_PGPU_SETTINGS(PGPU)
};

static bool is_choice(const char *choices, const char *value)
{
	const size_t length = strlen(value);
	const char *at;

	for (at = choices; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == length && !strncmp(at, value, length))
			return true;
	return false;
}

GHYVI_API const char *ghyvi_setting_name(size_t index)
{
	return index < ARRAY_SIZE(known_settings) ? known_settings[index].name : NULL;
}

static const struct known_setting *find(const char *attribute)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known_settings); i++)
		if (!strcmp(known_settings[i].name, attribute))
			return &known_settings[i];
	return NULL;
}

GHYVI_API int ghyvi_setting_values(const char *attribute, char *text, size_t bytes)
{
	const struct known_setting *setting = find(attribute);
	int length;

	if (!setting)
		return -ENOENT;
	if (setting->choices)
		length = snprintf(text, bytes, "%s", setting->choices);
	else
		length = snprintf(text, bytes, "%s%u..%u", setting->range.or_zero ? "0 and " : "",
				  setting->range.min, setting->range.max);
	return length < (int)bytes ? 0 : -ENOSPC;
}

GHYVI_API int ghyvi_setting_check(const char *attribute, const char *value, char *reason,
				  size_t bytes)
{
	const struct known_setting *setting = find(attribute);
	char text[GHYVI_PARSE_REASON_BYTES];
	u32 number;

	if (!setting) {
		snprintf(reason, bytes, "no setting of this name is known");
		return -ENOENT;
	}
	if (setting->choices) {
		if (is_choice(setting->choices, value))
			return 0;
		snprintf(reason, bytes, "\"%s\" is not one of: %s", value, setting->choices);
		return -EINVAL;
	}
	/*
	 * The parser accepts a newline at the end, as of a write to sysfs. In a file it would end
	 * the setting.
	 */
	if (strchr(value, '\n')) {
		snprintf(reason, bytes, "\"%s\" has more than one line", value);
		return -EINVAL;
	}
	if (!ghyvi_parse_u32(value, strlen(value), &setting->range, &number, text))
		return 0;
	snprintf(reason, bytes, "%s", text);
	return -EINVAL;
}
