// SPDX-License-Identifier: GPL-2.0-only
/* show */
#include <string.h>
#include "ctl.h"

#define SETTING_ROW "  %-26s %s%s\n"

struct show_options {
	struct uuid_options words; /* first: parse_uuids() takes this struct; UUIDs and pGPUs */
	bool attributes, ranges;
};

enum { KEY_RANGES = 0x200 };

/* The output: JSON arrays, or NULL for text. */
struct shown {
	json_t *vgpus, *parents, *types;
	struct table *table; /* instead of text */
};

static const struct table_column columns[] = { { .name = "NAME" },   { .name = "SETTING" },
					       { .name = "VALUE" },  { .name = "ACCESS" },
					       { .name = "VALUES" }, {} };

#define DEFAULT_COLUMNS "NAME,SETTING,VALUE,ACCESS"

/* A setting for the table; only the active one of several choices. */
struct rows {
	const struct target *target;
	struct table *table;
};

static int add_row(void *data, const char *attribute, bool writable)
{
	char value[GHYVI_VALUE_BYTES], values[GHYVI_REASON_BYTES] = "";
	const struct rows *rows = data;
	const char *row[] = { target_name(rows->target), attribute, value, writable ? "rw" : "ro",
			      values };

	target_value(rows->target, attribute, value);
	row[2] = active_value(value);
	ghyvi_setting_values(attribute, values, sizeof(values));
	table_row(rows->table, row);
	return 0;
}

static int print_setting(void *data, const char *attribute, bool writable)
{
	char value[GHYVI_VALUE_BYTES];

	printf(SETTING_ROW, attribute, target_value(data, attribute, value),
	       writable ? "" : "  (read-only)");
	return 0;
}

static void print_time(const char *name, time_t time)
{
	char text[TIME_BYTES];

	if (*time_text(time, ' ', text))
		printf(SETTING_ROW, name, text, "");
}

static void print_vgpu(const struct ghyvi_vgpu *vgpu)
{
	char value[GHYVI_VALUE_BYTES];
	const char *error;

	printf("%s\n", ghyvi_vgpu_uuid(vgpu));
	printf("  %-26s %s (%s)\n", "type", ghyvi_vgpu_type_name(vgpu), ghyvi_vgpu_type_id(vgpu));
	printf(SETTING_ROW, "parent", ghyvi_vgpu_parent(vgpu), "");
	printf(SETTING_ROW, "path", ghyvi_vgpu_path(vgpu), "");
	printf(SETTING_ROW, "state", value_or_unknown(vgpu, "state", value), "");
	if (ghyvi_vgpu_is_open(vgpu) > 0) {
		struct holder holder;
		char user[HOLDER_TEXT_BYTES];

		holder_find(vgpu, &holder);
		printf(SETTING_ROW, "user", holder_text(&holder, user), "");
		holder_free(&holder);
	}
	print_time("open_time", open_time(vgpu));
	error = value_or_unknown(vgpu, "last_error", value);
	printf(SETTING_ROW, "last_error", *error ? error : "-", "");
	if (*error)
		print_time("last_error_time", last_error_time(vgpu));
}

/* Converts [{"attribute": "value"}, ...] to one object. */
static json_t *json_saved(json_t *list)
{
	json_t *saved = json_object(), *each;
	size_t i;

	json_array_foreach(list, i, each)
	{
		json_object_update(saved, each);
	}
	return saved;
}

static void print_saved(json_t *list)
{
	json_t *saved = json_saved(list), *value;
	const char *name;

	json_object_foreach(saved, name, value)
	{
		printf(SETTING_ROW, name, json_string_value(value), "  (saved)");
	}
	json_decref(saved);
}

/* The saved settings of a pGPU or type, as text or added to @json. Returns an exit status. */
static int show_saved(const char *name, json_t *json)
{
	json_t *list;
	int status = saved_settings(name, &list);

	if (json)
		json_object_set_new(json, "saved", json_saved(list));
	else
		print_saved(list);
	json_decref(list);
	return status;
}

static int show_target(const struct target *target, const struct shown *shown)
{
	int status = target->vgpu ? check_present(target->vgpu) : STATUS_OK;
	json_t *json = NULL;

	if (status)
		return status;
	if (shown->table) {
		struct rows rows = { target, shown->table };

		each_setting(target, add_row, &rows);
		return STATUS_OK;
	}
	if (shown->vgpus) {
		json = json_target(target);
		json_array_append_new(target->vgpu ? shown->vgpus : shown->parents, json);
	} else if (target->vgpu) {
		print_vgpu(target->vgpu);
	} else {
		printf("%s\n", ghyvi_parent_name(target->parent));
	}
	if (!json)
		each_setting(target, print_setting, (void *)target);
	if (target->parent)
		status = show_saved(ghyvi_parent_name(target->parent), json);
	return status;
}

static int show_type(const char *type, const struct shown *shown)
{
	json_t *json = NULL;

	if (shown->table) {
		complain("%s is a type, without settings of its own; show %s without a table", type,
			 type);
		return STATUS_USAGE;
	}
	if (shown->types) {
		json = json_pack("{s:s}", "type", type);
		json_array_append_new(shown->types, json);
	} else {
		printf("%s\n", type);
	}
	return show_saved(type, json);
}

static int show_vgpu(struct ghyvi_vgpu *vgpu, void *data)
{
	const struct target target = { .vgpu = vgpu };

	return show_target(&target, data);
}

static int show_all(const struct show_options *options, const struct shown *shown)
{
	struct ctl *ctl = options->words.ctl;
	struct ghyvi_parent *parent;
	struct ghyvi_types *types;
	const char *last = "";
	int status;
	size_t i;

	status = each_vgpu(&options->words, show_vgpu, (void *)shown);
	if (status || ghyvi_types_read(ctl->ghyvi, &types))
		return status;
	for (i = 0; i < ghyvi_types_count(types); i++) {
		const char *name = ghyvi_type_parent(ghyvi_types_at(types, i));

		if (strcmp(name, last) && !ghyvi_parent_find(ctl->ghyvi, name, &parent)) {
			const struct target target = { .parent = parent };

			status = status ?: show_target(&target, shown);
			ghyvi_parent_free(parent);
		}
		last = name;
	}
	ghyvi_types_free(types);
	return status;
}

static int show_named(const struct show_options *options, const struct shown *shown)
{
	int status = STATUS_OK, found, i;
	struct target target;

	for (i = 0; i < options->words.count; i++) {
		const char *word = options->words.uuids[i];

		if (type_of_word(word)) {
			found = show_type(type_of_word(word), shown);
		} else {
			found = need_target(options->words.ctl, word, &target);
			found = found ?: show_target(&target, shown);
			target_free(&target);
		}
		status = status ?: found;
	}
	return status;
}

/* For mdevctl's callout: the settings of one vGPU in mdevctl's format. */
static int show_attributes(const struct uuid_options *options)
{
	struct target target;
	json_t *attributes;
	int status;

	if (options->count != 1) {
		complain("--attributes needs exactly one UUID");
		return STATUS_USAGE;
	}
	status = need_target(options->ctl, options->uuids[0], &target);
	if (status)
		return status;
	attributes = json_attributes(&target, &status);
	if (attributes)
		status = json_print(attributes, JSON_INDENT(2));
	target_free(&target);
	return status;
}

/* The settings and values that define and set --save accept, with or without a vGPU. */
static int show_ranges(const struct ctl *ctl)
{
	json_t *json = json_object();
	char values[GHYVI_REASON_BYTES];
	const char *name;
	size_t i;

	if (!ctl->json)
		printf("%-26s VALUES\n", "SETTING");
	for (i = 0; (name = ghyvi_setting_name(i)); i++) {
		if (ghyvi_setting_values(name, values, sizeof(values)))
			continue;
		json_object_set_new(json, name, json_text(values));
		if (!ctl->json)
			printf("%-26s %s\n", name, values);
	}
	if (ctl->json)
		return json_print(json_pack("{s:o}", "ranges", json), JSON_INDENT(2));
	json_decref(json);
	return STATUS_OK;
}

static int check_usage(const struct show_options *options)
{
	if ((options->attributes || options->ranges) && wants_table(options->words.ctl)) {
		complain("--attributes and --ranges are no tables; omit --output, --noheadings and "
			 "--raw");
		return STATUS_USAGE;
	}
	if (options->ranges && (options->words.count || options->attributes)) {
		complain("--ranges takes no name, and no --attributes; it is about all settings");
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static error_t parse_show(int key, char *argument, struct argp_state *state)
{
	struct show_options *options = state->input;

	switch (key) {
	case 'a':
		options->attributes = true;
		return 0;
	case KEY_RANGES:
		options->ranges = true;
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	json_t *root;
	static const struct argp_option argp_options[] = {
		{ "attributes", 'a', NULL, 0,
		  "Only the settings that can be changed, as mdevctl's list of attributes (JSON)",
		  0 },
		{ "ranges", KEY_RANGES, NULL, 0, "All settings, with the values that they take",
		  0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_show,
		.args_doc = "[UUID|PGPU|TYPE...]",
		.doc = "Show state, settings and last error of vGPUs, settings of pGPUs, and saved "
		       "settings of pGPUs and types; without a name, of all vGPUs and pGPUs.",

		.children = table_children,
	};
	struct show_options options = { .words = { .ctl = ctl } };
	struct shown shown = {};
	int status;

	status = parse_options(&argp, argc, argv, &options) ?: check_usage(&options);
	if (status)
		return status;
	if (options.ranges)
		return show_ranges(ctl);
	if (options.attributes)
		return show_attributes(&options.words);
	if (ctl->json) {
		shown.vgpus = json_array();
		shown.parents = json_array();
		shown.types = json_array();
	}
	if (wants_table(ctl)) {
		status = table_new(&shown.table, ctl, columns, DEFAULT_COLUMNS);
		if (status)
			return status;
	}
	status = options.words.count ? show_named(&options, &shown) : show_all(&options, &shown);
	if (shown.table)
		table_print(shown.table);
	if (!ctl->json)
		return status;
	root = json_pack("{s:o, s:o, s:o}", "vgpus", shown.vgpus, "parents", shown.parents, "types",
			 shown.types);
	return json_print(root, JSON_INDENT(2)) ?: status;
}
