// SPDX-License-Identifier: GPL-2.0-only
/* Settings of vGPUs and pGPUs: reading and changing them, and explaining errors. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define NAMES_MAX 64

const char *target_name(const struct target *target)
{
	return target->vgpu ? ghyvi_vgpu_uuid(target->vgpu) : ghyvi_parent_name(target->parent);
}

int target_read(const struct target *target, const char *attribute, char *value)
{
	return target->vgpu ?
		       ghyvi_vgpu_read(target->vgpu, attribute, value, GHYVI_VALUE_BYTES) :
		       ghyvi_parent_read(target->parent, attribute, value, GHYVI_VALUE_BYTES);
}

static int target_write(const struct target *target, const char *attribute, const char *value)
{
	return target->vgpu ? ghyvi_vgpu_write(target->vgpu, attribute, value) :
			      ghyvi_parent_write(target->parent, attribute, value);
}

int each_setting(const struct target *target,
		 int (*each)(void *data, const char *attribute, bool writable), void *data)
{
	return target->vgpu ? ghyvi_vgpu_each_attribute(target->vgpu, each, data) :
			      ghyvi_parent_each_attribute(target->parent, each, data);
}

const char *target_value(const struct target *target, const char *attribute, char *value)
{
	char *cleaned;

	if (target_read(target, attribute, value))
		return strcpy(value, "?");
	cleaned = clean(value);
	memcpy(value, cleaned, strlen(cleaned)); /* clean() keeps the length */
	free(cleaned);
	return value;
}

const char *active_value(char *value)
{
	char *open = strchr(value, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return value;
	*close = '\0';
	return open + 1;
}

struct details {
	const struct target *target;
	json_t *settings, *choices, *read_only;
};

/* Splits "strict [segmented]": adds both words to @choices and returns the active one. */
static json_t *split_choices(char *value, json_t *choices)
{
	json_t *active = NULL;
	char *word, *rest;

	for (word = strtok_r(value, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		size_t length = strlen(word);

		if (length > 2 && word[0] == '[' && word[length - 1] == ']') {
			word[length - 1] = '\0';
			word++;
			json_decref(active);
			active = json_text(word);
		}
		json_array_append_new(choices, json_text(word));
	}
	return active;
}

static int add_setting(void *data, const char *attribute, bool writable)
{
	char value[GHYVI_VALUE_BYTES];
	struct details *details = data;
	json_t *choices, *active;

	if (target_read(details->target, attribute, value))
		return 0;
	if (!writable)
		json_array_append_new(details->read_only, json_text(attribute));
	if (strchr(value, '[')) {
		choices = json_array();
		active = split_choices(value, choices);
		json_object_set_new(details->settings, attribute, active ?: json_null());
		json_object_set_new(details->choices, attribute, choices);
	} else {
		json_object_set_new(details->settings, attribute, json_text(value));
	}
	return 0;
}

void json_add_settings(json_t *json, const struct target *target)
{
	struct details details = { target, json_object(), json_object(), json_array() };

	each_setting(target, add_setting, &details);
	json_object_set_new(json, "settings", details.settings);
	json_object_set_new(json, "choices", details.choices);
	json_object_set_new(json, "read_only", details.read_only);
}

json_t *json_target(const struct target *target)
{
	json_t *json;

	if (target->vgpu)
		return json_vgpu_details(target->vgpu);
	json = json_pack("{s:o}", "name", json_text(target_name(target)));
	json_add_settings(json, target);
	return json;
}

/*
 * The one of @names in which only the group is missing: "policy/mode" for "mode". NULL: none, or
 * @attribute has a group.
 */
static const char *in_a_group(const char *attribute, const char *const *names, size_t count)
{
	const char *slash;
	size_t i;

	if (strchr(attribute, '/'))
		return NULL;
	for (i = 0; i < count; i++) {
		slash = strchr(names[i], '/');
		if (slash && !strcmp(slash + 1, attribute))
			return names[i];
	}
	return NULL;
}

/* @shown: of ghyvictl show, to list the settings whose names are @names */
static void complain_no_setting(const char *attribute, const char *const *names, size_t count,
				const char *shown)
{
	const char *meant = in_a_group(attribute, names, count) ?: nearest(attribute, names, count);

	if (meant)
		complain("there is no setting \"%s\"; did you mean \"%s\"?", attribute, meant);
	else
		complain("there is no setting \"%s\"; ghyvictl show %s lists them", attribute,
			 shown);
}

static bool of_pgpu(const char *attribute)
{
	return !strncmp(attribute, "ghyvi/", strlen("ghyvi/"));
}

/* ---- settings without a device ---- */

#define KNOWN_MAX 64

static int complain_unknown(const char *attribute, enum setting_kind kind)
{
	const char *names[KNOWN_MAX], *name;
	char values[GHYVI_REASON_BYTES];
	size_t count = 0, i;

	for (i = 0; (name = ghyvi_setting_name(i)) && count < KNOWN_MAX; i++)
		if (of_pgpu(name) == (kind == SETTING_OF_PGPU))
			names[count++] = name;
	if (!ghyvi_setting_values(attribute, values, sizeof(values)))
		complain("\"%s\" is a setting of %s", attribute,
			 of_pgpu(attribute) ? "pGPUs, not of vGPUs" : "vGPUs, not of pGPUs");
	else
		complain_no_setting(attribute, names, count, "--ranges");
	return STATUS_NOT_FOUND;
}

int check_setting(const char *attribute, const char *value, enum setting_kind kind)
{
	char reason[GHYVI_REASON_BYTES], *shown = clean(attribute), *text = clean(value);
	int status = STATUS_OK;
	int ret = ghyvi_setting_check(attribute, value, reason, sizeof(reason));

	if (ret == -ENOENT || of_pgpu(attribute) != (kind == SETTING_OF_PGPU)) {
		status = complain_unknown(shown, kind);
	} else if (ret) {
		char *why = clean(reason);

		complain("%s=%s: %s", shown, text, why);
		free(why);
		status = STATUS_ERROR;
	}
	free(shown);
	free(text);
	return status;
}

int check_settings(json_t *list, enum setting_kind kind)
{
	json_t *each, *value;
	int status = STATUS_OK;
	const char *name;
	size_t i;

	json_array_foreach(list, i, each)
	{
		json_object_foreach(each, name, value)
		{
			status = status ?: check_setting(name, json_string_value(value), kind);
		}
	}
	return status;
}

/* ---- set ---- */

static void complain_attribute(const struct target *target, const char *attribute)
{
	json_t *json = json_object(), *value;
	const char *names[NAMES_MAX], *name;
	char values[GHYVI_REASON_BYTES], *shown = clean(attribute);
	size_t count = 0;

	json_add_settings(json, target);
	json_object_foreach(json_object_get(json, "settings"), name, value)
	{
		if (count < NAMES_MAX)
			names[count++] = name;
	}
	if (!ghyvi_setting_values(attribute, values, sizeof(values)) &&
	    of_pgpu(attribute) == !target->vgpu)
		complain("there is no setting \"%s\" here: this %s does not offer it", shown,
			 target->vgpu ? "vGPU's pGPU, or this version of ghyvi," :
					"version of ghyvi");
	else
		complain_no_setting(shown, names, count, target_name(target));
	free(shown);
	json_decref(json);
}

/* Prints the valid values if the attribute lists them. */
static void complain_choices(const struct target *target, const char *attribute, const char *value)
{
	char text[GHYVI_VALUE_BYTES], list[GHYVI_VALUE_BYTES];
	const char *names[NAMES_MAX], *meant;
	size_t count = 0, i;
	json_t *choices;

	if (!strchr(target_value(target, attribute, text), '['))
		return;
	snprintf(list, sizeof(list), "%s", text);
	choices = json_array();
	json_decref(split_choices(text, choices));
	for (i = 0; i < json_array_size(choices) && i < NAMES_MAX; i++)
		names[count++] = json_string_value(json_array_get(choices, i));
	meant = nearest(value, names, count);
	if (meant && strcmp(meant, value))
		complain("did you mean \"%s\"? It is one of: %s", meant, list);
	else
		complain("it is one of: %s", list);
	json_decref(choices);
}

/* The last_error of @target; empty if there is none or it cannot be read. */
static const char *last_error(const struct target *target, char *text)
{
	if (target_read(target, target->vgpu ? "last_error" : "ghyvi/last_error", text))
		return "";
	return target_value(target, target->vgpu ? "last_error" : "ghyvi/last_error", text);
}

/*
 * Prints why the kernel rejected a value. last_error has the reason if it is different from
 * @error_before, or if it is about this attribute: "ATTRIBUTE: REASON".
 */
static void complain_refused(const struct target *target, const char *attribute, const char *value,
			     const char *error_before, int error)
{
	char text[GHYVI_VALUE_BYTES], *shown = clean(value);
	const char *reason = error == -EROFS || error == -EACCES ? "" : last_error(target, text);
	size_t length = strlen(attribute);
	bool about = !strncmp(reason, attribute, length) && !strncmp(reason + length, ": ", 2);

	if (about)
		reason += length + 2;
	else if (!strcmp(reason, error_before))
		reason = "";
	complain("%s: %s=%s: %s", target_name(target), attribute, shown,
		 *reason ? reason : reason_of(error));
	if (error == -EINVAL)
		complain_choices(target, attribute, value);
	free(shown);
}

int append_assignment(json_t *list, const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	char *name, *shown;
	json_t *pair;

	name = equals && equals > assignment ? strndup(assignment, equals - assignment) : NULL;
	/* NULL: not UTF-8, which is neither a name nor a value of a setting. */
	pair = name ? json_pack("{s:s}", name, equals + 1) : NULL;
	free(name);
	if (pair)
		return json_array_append_new(list, pair) ? STATUS_ERROR : STATUS_OK;
	shown = clean(assignment);
	complain("\"%s\" is not ATTRIBUTE=VALUE, such as policy/mode=segmented", shown);
	free(shown);
	return STATUS_USAGE;
}

/* On failure prints the reason, from last_error if possible, and the valid values. */
static int set_attribute(const struct target *target, const char *attribute, const char *value)
{
	char before[GHYVI_VALUE_BYTES], current[GHYVI_VALUE_BYTES];
	int ret, status;

	snprintf(before, sizeof(before), "%s", last_error(target, current));
	ret = target_write(target, attribute, value);
	status = status_of(ret);
	/* -EINVAL is about the value if the attribute is readable, else about the name. */
	if (ret == -ENOENT ||
	    (ret == -EINVAL && target_read(target, attribute, current) == -EINVAL)) {
		status = STATUS_NOT_FOUND;
		complain_attribute(target, attribute);
	} else if (ret) {
		complain_refused(target, attribute, value, before, ret);
	}
	return status;
}

int set_settings(const struct target *target, json_t *list)
{
	json_t *each, *value;
	int status = STATUS_OK;
	const char *name;
	size_t i;

	json_array_foreach(list, i, each)
	{
		json_object_foreach(each, name, value)
		{
			status = status ?: set_attribute(target, name, json_string_value(value));
		}
	}
	return status;
}
