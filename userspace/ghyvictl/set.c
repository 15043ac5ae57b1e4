// SPDX-License-Identifier: GPL-2.0-only
/*
 * set: changes settings now and, with --save, for the future: in the definition of a vGPU, in the
 * file of a pGPU, or in the profile of a type.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

struct set_options {
	struct uuid_options words; /* first: parse_uuids() takes this struct; a name and settings */
	const char *file;
	bool save, restore;
};

enum { KEY_SAVE = 0x200, KEY_RESTORE };

static error_t parse_set(int key, char *argument, struct argp_state *state)
{
	struct set_options *options = state->input;

	switch (key) {
	case 'f':
		options->file = argument;
		return 0;
	case KEY_SAVE:
		options->save = true;
		return 0;
	case KEY_RESTORE:
		options->restore = true;
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

/* ---- --save ---- */

/* Removes the settings without a value, which are changes of the file only. */
static json_t *without_removals(json_t *list)
{
	json_t *kept = json_array(), *each, *value;
	const char *name;
	size_t i;

	json_array_foreach(list, i, each)
	{
		json_object_foreach(each, name, value)
		{
			if (*json_string_value(value))
				json_array_append(kept, each);
		}
	}
	return kept;
}

/* If the pGPU exists, the kernel checks the values, and uses them at once. */
static int save_of_pgpu(struct ctl *ctl, const char *name, json_t *list)
{
	json_t *values = without_removals(list);
	struct ghyvi_parent *parent;
	int status;

	if (ghyvi_parent_find(ctl->ghyvi, name, &parent)) {
		status = check_settings(values, SETTING_OF_PGPU);
	} else {
		const struct target target = { .parent = parent };

		status = set_settings(&target, values);
		ghyvi_parent_free(parent);
	}
	json_decref(values);
	return status ?: save_settings(name, list);
}

/* A default would be for all vGPUs of the type, but no two of a pGPU can have the same slot. */
static int refuse_slot(json_t *list)
{
	json_t *each;
	size_t i;

	json_array_foreach(list, i, each)
	{
		if (json_object_get(each, "slot")) {
			complain("no two vGPUs can have the same slot: use ghyvictl define --set "
				 "slot=N for each");
			return STATUS_ERROR;
		}
	}
	return STATUS_OK;
}

static int save_of_type(const char *type, json_t *list)
{
	json_t *values = without_removals(list);
	int status = check_settings(values, SETTING_OF_VGPU);

	if (!status)
		status = refuse_slot(values);
	json_decref(values);
	return status ?: save_settings(type, list);
}

/* Replaces the value of each attribute in @attributes, or appends it. */
static void merge(json_t *attributes, json_t *list)
{
	json_t *each, *old, *value;
	const char *name;
	size_t i, k;

	json_array_foreach(list, i, each)
	{
		json_object_foreach(each, name, value)
		{
			/* Backwards, because of the removals. */
			for (k = json_array_size(attributes); k-- > 0;) {
				old = json_array_get(attributes, k);
				if (json_object_get(old, name))
					json_array_remove(attributes, k);
			}
			json_array_append(attributes, each);
		}
	}
}

static int save_in_definition(struct ctl *ctl, const char *uuid, const struct defined *old,
			      json_t *list)
{
	json_t *definition = json_deep_copy(old->definition);
	int status;

	if (!json_is_array(json_object_get(definition, "attrs")))
		json_object_set_new(definition, "attrs", json_array());
	merge(json_object_get(definition, "attrs"), list);
	status = define_with_mdevctl(mdevctl_program(ctl), uuid, old->parent, definition, old);
	json_decref(definition);
	return status;
}

/* If the vGPU does not exist, only its definition changes. */
static int save_of_vgpu(struct ctl *ctl, const char *word, json_t *list)
{
	struct ghyvi_vgpu *vgpu = NULL;
	struct defined old = {};
	int status = STATUS_OK;
	char *uuid;

	if (!mdevctl_program(ctl)) {
		complain("definitions need mdevctl, which is not installed: apt install mdevctl");
		return STATUS_ERROR;
	}
	uuid = full_uuid(ctl, word);
	defined_find(mdevctl_program(ctl), uuid, &old);
	if (ghyvi_vgpu_find(ctl->ghyvi, uuid, &vgpu)) {
		if (old.parent)
			status = check_settings(list, SETTING_OF_VGPU);
		else
			vgpu = need_vgpu(ctl, word, &status);
	} else if (old.parent) {
		const struct target target = { .vgpu = vgpu };

		status = set_settings(&target, list);
	} else {
		complain("%s is not defined, and nothing was changed; ghyvictl define %s saves "
			 "all of its settings",
			 uuid, uuid);
		status = STATUS_NOT_FOUND;
	}
	if (!status)
		status = save_in_definition(ctl, uuid, &old, list);
	defined_free(&old);
	ghyvi_vgpu_free(vgpu);
	free(uuid);
	return status;
}

static int save(struct ctl *ctl, const char *word, json_t *list)
{
	if (is_pgpu_name(word))
		return save_of_pgpu(ctl, word, list);
	if (type_of_word(word))
		return save_of_type(type_of_word(word), list);
	return save_of_vgpu(ctl, word, list);
}

/* ---- --restore ---- */

/* Continues after a setting that is rejected. */
static int restore(struct ctl *ctl, const char *name)
{
	int status = STATUS_OK, now;
	struct target target;
	json_t *list, *each;
	size_t i;

	if (!is_pgpu_name(name)) {
		char *shown = clean(name);

		complain("\"%s\" is not a pGPU, such as 1000:00:00.0", shown);
		free(shown);
		return STATUS_USAGE;
	}
	status = need_target(ctl, name, &target);
	if (status)
		return status;
	status = saved_settings(name, &list);
	json_array_foreach(list, i, each)
	{
		json_t *one = json_pack("[O]", each);

		now = set_settings(&target, one);
		status = status ?: now;
		json_decref(one);
	}
	json_decref(list);
	target_free(&target);
	return status;
}

/* ---- set ---- */

static const struct argp_option set_argp_options[] = {
	{ "file", 'f', "FILE", 0,
	  "First apply an mdevctl definition or list of attributes (JSON; -: standard input)", 0 },
	{ "save", KEY_SAVE, NULL, 0,
	  "Also save them: in the definition of the vGPU, for the next start of the pGPU, or as "
	  "defaults for new vGPUs of TYPE. \"ATTRIBUTE=\" removes what is saved for a pGPU or TYPE",
	  0 },
	{ "restore", KEY_RESTORE, NULL, 0, "Apply what is saved for a pGPU; a udev rule does it",
	  0 },
	{}
};

static const struct argp set_argp = {
	.options = set_argp_options,
	.parser = parse_set,
	.args_doc = "UUID|PGPU ATTRIBUTE=VALUE...\n--save UUID|PGPU|TYPE ATTRIBUTE=VALUE...\n"
		    "--restore PGPU",
	.doc = "Change settings of a vGPU or pGPU, in the given order, until one is rejected. "
	       "ghyvictl show lists the settings.",
	.children = ctl_children,
};

/* Returns an exit status; *list is a new reference. */
static int read_settings(const struct set_options *options, json_t **list)
{
	int status, i;

	*list = json_array();
	status = options->file ? append_file(*list, options->file) : STATUS_OK;
	for (i = 1; !status && i < options->words.count; i++)
		status = append_assignment(*list, options->words.uuids[i]);
	return status;
}

static int set_now(struct ctl *ctl, const char *word, json_t *list)
{
	struct target target;
	int status;

	if (type_of_word(word)) {
		complain("%s is a type, without settings of its own; --save saves defaults for "
			 "new vGPUs of it",
			 type_of_word(word));
		return STATUS_USAGE;
	}
	status = need_target(ctl, word, &target);
	if (status)
		return status;
	status = set_settings(&target, list);
	if (!status && ctl->json)
		status = json_print(json_target(&target), JSON_INDENT(2));
	target_free(&target);
	return status;
}

static int check_usage(const struct set_options *options)
{
	if (options->restore) {
		if (options->words.count == 1 && !options->file && !options->save)
			return STATUS_OK;
		complain("--restore takes one pGPU, without settings and --save");
		return STATUS_USAGE;
	}
	if (options->words.count >= 2 || (options->words.count && options->file))
		return STATUS_OK;
	complain("give a UUID (or a pGPU) and at least one ATTRIBUTE=VALUE; see ghyvictl set "
		 "--help");
	return STATUS_USAGE;
}

int cmd_set(struct ctl *ctl, int argc, char **argv)
{
	struct set_options options = { .words = { .ctl = ctl } };
	const char *word;
	json_t *list;
	int status;

	status = parse_options(&set_argp, argc, argv, &options) ?: check_usage(&options);
	if (status)
		return status;
	word = options.words.uuids[0];
	if (options.restore)
		return restore(ctl, word);
	status = read_settings(&options, &list);
	if (!status)
		status = options.save ? save(ctl, word, list) : set_now(ctl, word, list);
	if (!status && options.save && ctl->json)
		status = json_print(json_pack("{s:o, s:O}", "name", json_text(word), "saved", list),
				    JSON_INDENT(2));
	json_decref(list);
	return status;
}
