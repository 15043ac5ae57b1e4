// SPDX-License-Identifier: GPL-2.0-only
/* list, types */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define TYPE_ROW "%-24s  %-14s  %9s  %s\n"

enum {
	COLUMN_UUID,
	COLUMN_TYPE,
	COLUMN_PARENT,
	COLUMN_STATE,
	COLUMN_POLICY,
	COLUMN_PID,
	COLUMN_VM,
	COLUMN_SINCE,
	COLUMN_ID,
	COLUMN_PATH,
	COLUMN_ERROR,
	COLUMN_ERROR_TIME,
	COLUMNS
};

static const struct table_column columns[COLUMNS + 1] = {
	[COLUMN_UUID] = { .name = "UUID" },	[COLUMN_TYPE] = { .name = "TYPE" },
	[COLUMN_PARENT] = { .name = "PARENT" }, [COLUMN_STATE] = { .name = "STATE" },
	[COLUMN_POLICY] = { .name = "POLICY" }, [COLUMN_PID] = { .name = "PID", .right = true },
	[COLUMN_VM] = { .name = "VM" },		[COLUMN_SINCE] = { .name = "SINCE" },
	[COLUMN_ID] = { .name = "TYPE-ID" },	[COLUMN_PATH] = { .name = "PATH" },
	[COLUMN_ERROR] = { .name = "ERROR" },	[COLUMN_ERROR_TIME] = { .name = "ERROR-TIME" },
};

#define DEFAULT_COLUMNS "UUID,TYPE,PARENT,STATE,POLICY,PID,VM,SINCE"

struct listing {
	json_t *json; /* NULL: text */
	struct table *table;
};

static int list_one(struct ghyvi_vgpu *vgpu, void *data)
{
	char state[GHYVI_VALUE_BYTES], policy[GHYVI_VALUE_BYTES], error[GHYVI_VALUE_BYTES];
	char since[TIME_BYTES], error_time[TIME_BYTES], pid[24] = "";
	const char *values[COLUMNS] = {};
	struct listing *listing = data;
	struct holder holder = {};
	json_t *json;
	int status;

	if (listing->json) {
		json = json_vgpu_user(vgpu);
		status = check_present(vgpu);
		if (!status)
			json_array_append(listing->json, json);
		json_decref(json);
		return status;
	}
	values[COLUMN_UUID] = ghyvi_vgpu_uuid(vgpu);
	values[COLUMN_TYPE] = ghyvi_vgpu_type_name(vgpu);
	values[COLUMN_PARENT] = ghyvi_vgpu_parent(vgpu);
	values[COLUMN_STATE] = value_or_unknown(vgpu, "state", state);
	values[COLUMN_POLICY] = policy_or_unknown(vgpu, policy);
	values[COLUMN_ID] = ghyvi_vgpu_type_id(vgpu);
	values[COLUMN_PATH] = ghyvi_vgpu_path(vgpu);
	values[COLUMN_ERROR] = value_or_unknown(vgpu, "last_error", error);
	values[COLUMN_ERROR_TIME] = time_text(last_error_time(vgpu), 'T', error_time);
	values[COLUMN_SINCE] = time_text(open_time(vgpu), 'T', since);
	if (ghyvi_vgpu_is_open(vgpu) > 0) {
		holder_find(vgpu, &holder);
		/* Only root sees the processes of other users. */
		snprintf(pid, sizeof(pid), holder.pid ? "%ld" : "?", holder.pid);
		values[COLUMN_VM] = holder.vm ?: holder.program;
	}
	values[COLUMN_PID] = pid;
	status = check_present(vgpu);
	if (!status)
		table_row(listing->table, values);
	holder_free(&holder);
	return status;
}

int cmd_list(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "[UUID...]",
		.doc = "List vGPUs: UUID, type, parent, state, shadowing policy, and the VM that has "
		       "it open since when.",
		.children = table_children,
	};
	struct uuid_options options = { .ctl = ctl };
	struct listing listing = {};
	json_t *json;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (ctl->json)
		listing.json = json_array();
	else
		status = table_new(&listing.table, ctl, columns, DEFAULT_COLUMNS);
	if (status)
		return status;
	status = each_vgpu(&options, list_one, &listing);
	if (ctl->json) {
		json = json_pack("{s:o}", "vgpus", listing.json);
		return json_print(json, JSON_INDENT(2)) ?: status;
	}
	table_print(listing.table);
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
