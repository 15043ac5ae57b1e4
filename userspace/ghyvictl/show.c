// SPDX-License-Identifier: GPL-2.0-only
/* show */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define SETTING_ROW "  %-26s %s%s\n"

struct show_options {
	struct uuid_options words; /* first: parse_uuids() takes this struct; UUIDs and pGPUs */
	bool attributes;
};

/* The output: JSON arrays, or NULL for text. */
struct shown {
	json_t *vgpus, *parents;
};

static int print_setting(void *data, const char *attribute, bool writable)
{
	char value[GHYVI_VALUE_BYTES];

	printf(SETTING_ROW, attribute, target_value(data, attribute, value),
	       writable ? "" : "  (read-only)");
	return 0;
}

static void print_vgpu(const struct ghyvi_vgpu *vgpu)
{
	char value[GHYVI_VALUE_BYTES];
	const char *error;
	time_t at;

	printf("%s\n", ghyvi_vgpu_uuid(vgpu));
	printf("  %-26s %s (%s)\n", "type", ghyvi_vgpu_type_name(vgpu), ghyvi_vgpu_type_id(vgpu));
	printf(SETTING_ROW, "parent", ghyvi_vgpu_parent(vgpu), "");
	printf(SETTING_ROW, "path", ghyvi_vgpu_path(vgpu), "");
	printf(SETTING_ROW, "state", value_or_unknown(vgpu, "state", value), "");
	error = value_or_unknown(vgpu, "last_error", value);
	printf(SETTING_ROW, "last_error", *error ? error : "-", "");
	at = last_error_time(vgpu);
	if (*error && at && strftime(value, sizeof(value), "%F %T", localtime(&at)))
		printf(SETTING_ROW, "last_error_time", value, "");
}

static void show_target(const struct target *target, const struct shown *shown)
{
	if (shown->vgpus) {
		json_array_append_new(target->vgpu ? shown->vgpus : shown->parents,
				      json_target(target));
		return;
	}
	if (target->vgpu)
		print_vgpu(target->vgpu);
	else
		printf("%s\n", ghyvi_parent_name(target->parent));
	each_setting(target, print_setting, (void *)target);
}

static int show_vgpu(struct ghyvi_vgpu *vgpu, void *data)
{
	const struct target target = { .vgpu = vgpu };

	show_target(&target, data);
	return STATUS_OK;
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

			show_target(&target, shown);
			ghyvi_parent_free(parent);
		}
		last = name;
	}
	ghyvi_types_free(types);
	return STATUS_OK;
}

static int show_named(const struct show_options *options, const struct shown *shown)
{
	int status = STATUS_OK, found, i;
	struct target target;

	for (i = 0; i < options->words.count; i++) {
		found = need_target(options->words.ctl, options->words.uuids[i], &target);
		if (!found)
			show_target(&target, shown);
		target_free(&target);
		status = status ?: found;
	}
	return status;
}

/* For mdevctl's callout: the settings of one vGPU in mdevctl's format. */
static int show_attributes(const struct uuid_options *options)
{
	struct target target;
	int status;

	if (options->count != 1) {
		complain("--attributes needs exactly one UUID");
		return STATUS_USAGE;
	}
	status = need_target(options->ctl, options->uuids[0], &target);
	if (status)
		return status;
	status = json_print(json_attributes(&target), JSON_INDENT(2));
	target_free(&target);
	return status;
}

static error_t parse_show(int key, char *argument, struct argp_state *state)
{
	struct show_options *options = state->input;

	if (key != 'a')
		return parse_uuids(key, argument, state);
	options->attributes = true;
	return 0;
}

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	json_t *root;
	static const struct argp_option argp_options[] = {
		{ "attributes", 'a', NULL, 0,
		  "Only the settings that can be changed, as mdevctl's list of attributes (JSON)",
		  0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_show,
		.args_doc = "[UUID|PGPU...]",
		.doc = "Show state, settings and last error of vGPUs and pGPUs; without a name, of "
		       "all.",
		.children = ctl_children,
	};
	struct show_options options = { .words = { .ctl = ctl } };
	struct shown shown = {};
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.attributes)
		return show_attributes(&options.words);
	if (ctl->json) {
		shown.vgpus = json_array();
		shown.parents = json_array();
	}
	status = options.words.count ? show_named(&options, &shown) : show_all(&options, &shown);
	if (!ctl->json)
		return status;
	root = json_pack("{s:o, s:o}", "vgpus", shown.vgpus, "parents", shown.parents);
	return json_print(root, JSON_INDENT(2)) ?: status;
}
