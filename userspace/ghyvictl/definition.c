// SPDX-License-Identifier: GPL-2.0-only
/*
 * Definitions in mdevctl's format, {"mdev_type", "start", "attrs": [{"attribute": "value"}, ...]}.
 * See man 5 ghyvi-mdev.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wanted.h"

/* ---- settings as a list of attributes ---- */

struct collected {
	const struct target *target;
	json_t *list;
};

static int collect(void *data, const char *attribute, bool writable)
{
	struct collected *collected = data;
	char value[GHYVI_VALUE_BYTES], *open, *close;

	if (!writable)
		return 0;
	target_value(collected->target, attribute, value);
	open = strchr(value, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		*close = '\0';
	json_array_append_new(collected->list,
			      json_pack("{s:o}", attribute, json_text(close ? open + 1 : value)));
	return 0;
}

json_t *json_attributes(const struct target *target)
{
	struct collected collected = { target, json_array() };

	each_setting(target, collect, &collected);
	return collected.list;
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

static int set_from_list(const struct target *target, json_t *list)
{
	json_t *attribute, *value;
	int status = STATUS_OK;
	const char *name;
	char *assignment;
	size_t i;

	json_array_foreach(list, i, attribute)
	{
		json_object_foreach(attribute, name, value)
		{
			if (status)
				return status;
			if (!json_is_string(value)) {
				complain("the value of \"%s\" is not a string", name);
				return STATUS_USAGE;
			}
			if (asprintf(&assignment, "%s=%s", name, json_string_value(value)) < 0)
				abort();
			status = set_attribute(target, assignment);
			free(assignment);
		}
	}
	return status;
}

int set_from_file(const struct target *target, const char *path)
{
	json_error_t error;
	json_t *json = strcmp(path, "-") ? json_load_file(path, 0, &error) :
					   json_loadf(stdin, 0, &error);
	json_t *list = json_is_object(json) ? json_object_get(json, "attrs") : json;
	int status = STATUS_USAGE;

	if (!json && error.line > 0)
		complain("%s, line %d: %s", path, error.line, error.text);
	else if (!json)
		complain("%s", error.text);
	else if ((json_is_object(json) && !is_definition(json)) || !is_list(list))
		complain("%s: neither a definition nor a list of attributes; man 5 ghyvi-mdev",
			 path);
	else
		status = set_from_list(target, list);
	json_decref(json);
	return status;
}

/* ---- define ---- */

struct define_options {
	struct wanted wanted; /* first: parse_wanted() takes this struct */
	bool automatic;
};

static error_t parse_define(int key, char *argument, struct argp_state *state)
{
	struct define_options *options = state->input;

	if (key != 'a')
		return parse_wanted(key, argument, state);
	options->automatic = true;
	return 0;
}

static const struct argp_option define_argp_options[] = {
	WANTED_OPTIONS,
	{ "auto", 'a', NULL, 0, "Start it when its pGPU appears, also after a reboot", 0 },
	{}
};

static const struct argp define_argp = {
	.options = define_argp_options,
	.parser = parse_define,
	.args_doc = "TYPE|UUID",
	.doc = "Define a vGPU in mdevctl and print its UUID: a new one of TYPE, or the existing "
	       "vGPU UUID with its current settings. mdevctl start -u UUID starts it, mdevctl "
	       "undefine -u UUID deletes the definition.",
	.children = ctl_children,
};

/* Appends: mdevctl applies an attribute that is given twice in this order, so the last one wins. */
static void append_settings(json_t *list, const struct wanted *wanted)
{
	size_t i;

	for (i = 0; i < wanted->settings_count; i++) {
		const char *equals = strchr(wanted->settings[i], '=');
		char *name = strndup(wanted->settings[i], equals - wanted->settings[i]);
		char *shown = name ? clean(name) : NULL;

		if (!shown)
			abort();
		json_array_append_new(list, json_pack("{s:o}", shown, json_text(equals + 1)));
		free(shown);
		free(name);
	}
}

static int define_with_mdevctl(const char *mdevctl, const char *uuid, const char *parent,
			       json_t *definition)
{
	char *text = json_dumps(definition, 0), *path = NULL;
	int fd = text ? text_file(text) : -1, status = 127;

	if (fd >= 0 && asprintf(&path, "/proc/self/fd/%d", fd) > 0) {
		const char *const argv[] = { mdevctl, "define",	    "-u", uuid, "-p",
					     parent,  "--jsonfile", path, NULL };

		status = program_run(argv);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	free(text);
	if (!status)
		return STATUS_OK;
	complain("mdevctl define failed with status %d; mdevctl list -d shows what is defined",
		 status);
	return STATUS_ERROR;
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

/* Consumes the reference to @attributes. */
static int define(const struct define_options *options, const char *uuid, const char *parent,
		  const char *type, json_t *attributes)
{
	const struct ctl *ctl = options->wanted.ctl;
	const char *mdevctl = mdevctl_program(ctl);
	json_t *definition;
	int status;

	append_settings(attributes, &options->wanted);
	definition = json_pack("{s:s, s:s, s:o}", "mdev_type", type, "start",
			       options->automatic ? "auto" : "manual", "attrs", attributes);
	if (!mdevctl) {
		complain("definitions need mdevctl, which is not installed: apt install mdevctl");
		status = STATUS_ERROR;
	} else {
		status = define_with_mdevctl(mdevctl, uuid, parent, definition);
	}
	if (!status)
		status = print_definition(ctl, uuid, parent, definition);
	json_decref(definition);
	return status;
}

static int define_existing(struct define_options *options)
{
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
	status = define(options, ghyvi_vgpu_uuid(vgpu), ghyvi_vgpu_parent(vgpu),
			ghyvi_vgpu_type_id(vgpu), json_attributes(&target));
	ghyvi_vgpu_free(vgpu);
	return status;
}

static int define_new(struct define_options *options)
{
	const struct ghyvi_type *type;
	int status;

	status = wanted_uuid(&options->wanted) ?: wanted_type(&options->wanted, &type);
	return status ?:
			define(options, options->wanted.uuid, ghyvi_type_parent(type),
			       ghyvi_type_id(type), json_array());
}

int cmd_define(struct ctl *ctl, int argc, char **argv)
{
	struct define_options options = { .wanted = { .ctl = ctl } };
	int status;

	status = parse_options(&define_argp, argc, argv, &options);
	if (!status)
		status = ghyvi_is_uuid(options.wanted.type) ? define_existing(&options) :
							      define_new(&options);
	wanted_free(&options.wanted);
	return status;
}
