// SPDX-License-Identifier: GPL-2.0-only
/* list, types */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define VGPU_ROW "%-36s  %-14s  %-14s  %-8s  %s\n"
#define TYPE_ROW "%-24s  %-14s  %9s  %s\n"

static int list_one(struct ghyvi_vgpu *vgpu, void *data)
{
	char state[GHYVI_VALUE_BYTES], policy[GHYVI_VALUE_BYTES];

	if (data)
		json_array_append_new(data, json_vgpu(vgpu));
	else
		printf(VGPU_ROW, ghyvi_vgpu_uuid(vgpu), ghyvi_vgpu_type_name(vgpu),
		       ghyvi_vgpu_parent(vgpu), value_or_unknown(vgpu, "state", state),
		       policy_or_unknown(vgpu, policy));
	return STATUS_OK;
}

int cmd_list(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "[UUID...]",
		.doc = "List vGPUs: UUID, type, parent, state and shadowing policy.",
		.children = ctl_children,
	};
	struct uuid_options options = { .ctl = ctl };
	json_t *list = NULL;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (ctl->json)
		list = json_array();
	else
		printf(VGPU_ROW, "UUID", "TYPE", "PARENT", "STATE", "POLICY");
	status = each_vgpu(&options, list_one, list);
	if (list)
		return json_print(json_pack("{s:o}", "vgpus", list), JSON_INDENT(2)) ?: status;
	return status;
}

/* Converts "a=1, b=2" to an object; skips words of another form. */
static json_t *json_description(const char *description)
{
	json_t *json = json_object();
	char *copy = clean(description), *word, *rest, *equals;

	for (word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
		equals = strchr(word, '=');
		if (!equals || equals == word)
			continue;
		*equals = '\0';
		json_object_set_new(json, word, json_string(equals + 1));
	}
	free(copy);
	return json;
}

static void print_type(const struct ghyvi_type *type)
{
	char number[16], *description = clean(ghyvi_type_description(type));

	snprintf(number, sizeof(number), "%u", ghyvi_type_available(type));
	printf(TYPE_ROW, ghyvi_type_id(type), ghyvi_type_parent(type), number, description);
	free(description);
}

static json_t *type_json(const struct ghyvi_type *type)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o}", "type", json_text(ghyvi_type_id(type)),
			 "name", json_text(ghyvi_type_name(type)), "parent",
			 json_text(ghyvi_type_parent(type)), "available",
			 (json_int_t)ghyvi_type_available(type), "description",
			 json_text(ghyvi_type_description(type)), "properties",
			 json_description(ghyvi_type_description(type)));
}

static error_t parse_nothing(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = *(struct ctl **)state->input;
	return 0;
}

int cmd_types(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_nothing,
		.doc = "List the types of vGPUs: type, parent, number that can be created now, "
		       "description.",
		.children = ctl_children,
	};
	struct ghyvi_types *types;
	json_t *list;
	size_t i;
	int ret;

	ret = parse_options(&argp, argc, argv, &ctl);
	if (ret)
		return ret;
	ret = ghyvi_types_read(ctl->ghyvi, &types);
	if (ret) {
		complain("cannot list types: %s", strerror(-ret));
		return STATUS_ERROR;
	}
	list = json_array();
	if (!ctl->json)
		printf(TYPE_ROW, "TYPE", "PARENT", "AVAILABLE", "DESCRIPTION");
	for (i = 0; i < ghyvi_types_count(types); i++) {
		json_array_append_new(list, type_json(ghyvi_types_at(types, i)));
		if (!ctl->json)
			print_type(ghyvi_types_at(types, i));
	}
	if (!ctl->json && !ghyvi_types_count(types))
		complain("no parent offers vGPUs; ghyvictl doctor says what is missing");
	ghyvi_types_free(types);
	list = json_pack("{s:o}", "types", list);
	if (ctl->json)
		return json_print(list, JSON_INDENT(2));
	json_decref(list);
	return STATUS_OK;
}
