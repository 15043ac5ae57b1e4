// SPDX-License-Identifier: GPL-2.0-only
/*
 * Definitions in mdevctl's format, {"mdev_type", "start", "attrs": [{"attribute": "value"}, ...]}.
 * See man 5 ghyvi-mdev.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wanted.h"

/* ---- settings as a list of attributes ---- */

struct collected {
	const struct target *target;
	json_t *list;
};

static int collect(void *data, const char *attribute, bool writable)
{
	struct collected *collected = data;
	char value[GHYVI_VALUE_BYTES];
	int ret;

	if (!writable)
		return 0;
	ret = target_read(collected->target, attribute, value);
	if (ret)
		return ret == -ENODEV ? ret : 0;
	json_array_append_new(collected->list,
			      json_pack("{s:o}", attribute, json_text(active_value(value))));
	return 0;
}

json_t *json_attributes(const struct target *target, int *status)
{
	struct collected collected = { target, json_array() };
	int ret = each_setting(target, collect, &collected);

	*status = status_of(ret);
	if (!ret)
		return collected.list;
	complain("%s: %s", target_name(target), reason_of(ret));
	json_decref(collected.list);
	return NULL;
}

/* "attrs" is optional in a definition. */
static bool is_definition(json_t *json)
{
	return json_object_get(json, "attrs") || json_object_get(json, "mdev_type");
}

/* True for NULL and for an array of objects. */
static bool is_list(json_t *list)
{
	json_t *attribute;
	size_t i;

	json_array_foreach(list, i, attribute)
	{
		if (!json_is_object(attribute))
			return false;
	}
	return !list || json_is_array(list);
}

static int append_list(json_t *list, json_t *attributes, const char *path)
{
	json_t *attribute, *value;
	const char *name;
	size_t i;

	json_array_foreach(attributes, i, attribute)
	{
		json_object_foreach(attribute, name, value)
		{
			if (!json_is_string(value)) {
				char *shown = clean(name);

				complain("%s: the value of \"%s\" is not a string", path, shown);
				free(shown);
				return STATUS_USAGE;
			}
			json_array_append_new(list, json_pack("{s:O}", name, value));
		}
	}
	return STATUS_OK;
}

json_t *json_of_file(const char *path)
{
	json_error_t error;
	json_t *json = strcmp(path, "-") ? json_load_file(path, 0, &error) :
					   json_loadf(stdin, 0, &error);

	if (!json && error.line > 0)
		complain("%s, line %d: %s", path, error.line, error.text);
	else if (!json)
		complain("%s", error.text);
	return json;
}

int append_file(json_t *list, const char *path)
{
	json_t *json = json_of_file(path);
	json_t *attributes = json_is_object(json) ? json_object_get(json, "attrs") : json;
	int status = STATUS_USAGE;

	if (!json)
		return STATUS_USAGE;
	if ((json_is_object(json) && !is_definition(json)) || !is_list(attributes))
		complain("%s: neither a definition nor a list of attributes; man 5 ghyvi-mdev",
			 path);
	else
		status = append_list(list, attributes, path);
	json_decref(json);
	return status;
}

/* ---- define ---- */

struct define_options {
	struct wanted wanted; /* first: parse_wanted() takes this struct */
	const char *start; /* "auto", "manual", or NULL: not given */
	bool replace;
};

enum { KEY_MANUAL = 0x200, KEY_REPLACE };

static error_t parse_define(int key, char *argument, struct argp_state *state)
{
	struct define_options *options = state->input;

	switch (key) {
	case 'a':
		options->start = "auto";
		return 0;
	case KEY_MANUAL:
		options->start = "manual";
		return 0;
	case KEY_REPLACE:
		options->replace = true;
		return 0;
	default:
		return parse_wanted(key, argument, state);
	}
}

static const struct argp_option define_argp_options[] = {
	WANTED_OPTIONS,
	{ "auto", 'a', NULL, 0, "Start it when its pGPU appears, also after a reboot", 0 },
	{ "manual", KEY_MANUAL, NULL, 0, "Start it on request only (default)", 0 },
	{ "replace", KEY_REPLACE, NULL, 0,
	  "Replace an existing definition; without --auto and --manual keep its start", 0 },
	{}
};

static const struct argp define_argp = {
	.options = define_argp_options,
	.parser = parse_define,
	.args_doc = "TYPE|UUID",
	.doc = "Define a vGPU in mdevctl and print its UUID: a new one of TYPE, with the saved "
	       "settings of that type, or the existing vGPU UUID with its current settings. "
	       "mdevctl start -u UUID starts it, mdevctl undefine -u UUID deletes the definition.",
	.children = ctl_children,
};

static bool has_setting(json_t *list, const char *name)
{
	json_t *each;
	size_t i;

	json_array_foreach(list, i, each)
	{
		if (json_object_get(each, name))
			return true;
	}
	return false;
}

/*
 * Appends the settings of the command line: mdevctl applies an attribute that is given twice in
 * this order, so the last one wins. They are checked now, because the kernel sees them only when
 * the vGPU is started. The settings in @attributes may be those of an existing vGPU, and include
 * some that this program does not know.
 */
static int append_wanted(json_t *attributes, const struct wanted *wanted)
{
	char values[GHYVI_REASON_BYTES];
	json_t *list = json_array(), *each, *value;
	int status = STATUS_OK;
	const char *name;
	size_t i;

	for (i = 0; !status && i < wanted->settings_count; i++)
		status = append_assignment(list, wanted->settings[i]);
	json_array_foreach(list, i, each)
	{
		json_object_foreach(each, name, value)
		{
			if (has_setting(attributes, name) &&
			    ghyvi_setting_values(name, values, sizeof(values)) == -ENOENT)
				continue;
			status = status ?:
					  check_setting(name, json_string_value(value),
							SETTING_OF_VGPU);
		}
	}
	json_array_extend(attributes, list);
	json_decref(list);
	return status;
}

static int print_definition(const struct ctl *ctl, const char *uuid, const char *parent,
			    json_t *definition)
{
	if (!ctl->json) {
		printf("%s\n", uuid);
		return STATUS_OK;
	}
	return json_print(json_pack("{s:s, s:s, s:O}", "uuid", uuid, "parent", parent, "definition",
				    definition),
			  JSON_INDENT(2));
}

static int define(const struct define_options *options, const char *uuid, const char *parent,
		  const char *type, json_t *attributes)
{
	const struct ctl *ctl = options->wanted.ctl;
	const char *mdevctl = mdevctl_program(ctl), *start = options->start;
	struct defined old;
	json_t *definition;
	int status;

	if (!mdevctl) {
		complain("definitions need mdevctl, which is not installed: apt install mdevctl");
		return STATUS_ERROR;
	}
	defined_find(mdevctl, uuid, &old);
	if (old.parent && !options->replace) {
		complain("%s is defined for %s already; --replace replaces the definition", uuid,
			 old.parent);
		defined_free(&old);
		return STATUS_BUSY;
	}
	if (!start)
		start = json_string_value(json_object_get(old.definition, "start"));
	definition = json_pack("{s:s, s:s, s:O}", "mdev_type", type, "start", start ?: "manual",
			       "attrs", attributes);
	status = define_with_mdevctl(mdevctl, uuid, parent, definition, &old);
	if (!status)
		status = print_definition(ctl, uuid, parent, definition);
	json_decref(definition);
	defined_free(&old);
	return status;
}

static int define_existing(struct define_options *options)
{
	json_t *attributes;
	struct ghyvi_vgpu *vgpu;
	struct target target;
	int status;

	if (*options->wanted.uuid || options->wanted.parent) {
		complain("an existing vGPU is defined without --uuid and --parent");
		return STATUS_USAGE;
	}
	vgpu = need_vgpu(options->wanted.ctl, options->wanted.type, &status);
	if (!vgpu)
		return status;
	target = (struct target){ .vgpu = vgpu };
	attributes = json_attributes(&target, &status);
	if (attributes)
		status = append_wanted(attributes, &options->wanted);
	if (!status)
		status = define(options, ghyvi_vgpu_uuid(vgpu), ghyvi_vgpu_parent(vgpu),
				ghyvi_vgpu_type_id(vgpu), attributes);
	json_decref(attributes);
	ghyvi_vgpu_free(vgpu);
	return status;
}

static int define_new(struct define_options *options)
{
	const struct ghyvi_type *type;
	json_t *attributes = NULL;
	int status;

	status = wanted_uuid(&options->wanted) ?: wanted_type(&options->wanted, &type);
	if (!status)
		status = saved_settings(type_of_word(ghyvi_type_id(type)) ?: "", &attributes);
	if (!status)
		status = check_settings(attributes, SETTING_OF_VGPU);
	if (!status)
		status = append_wanted(attributes, &options->wanted);
	if (!status)
		status = define(options, options->wanted.uuid, ghyvi_type_parent(type),
				ghyvi_type_id(type), attributes);
	json_decref(attributes);
	return status;
}

int cmd_define(struct ctl *ctl, int argc, char **argv)
{
	struct define_options options = { .wanted = { .ctl = ctl } };
	int status;

	status = parse_options(&define_argp, argc, argv, &options);
	if (!status)
		status = type_of_word(options.wanted.type) ? define_new(&options) :
							     define_existing(&options);
	wanted_free(&options.wanted);
	return status;
}
