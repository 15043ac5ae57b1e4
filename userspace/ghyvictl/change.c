// SPDX-License-Identifier: GPL-2.0-only
/* set, reset, remove */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

int remove_vgpu(struct ctl *ctl, const struct ghyvi_vgpu *vgpu, bool force)
{
	const char *mdevctl = mdevctl_program(ctl), *uuid = ghyvi_vgpu_uuid(vgpu);
	const char *const argv[] = { mdevctl, "stop", "-u", uuid, NULL };
	int ret;

	ret = force ? 0 : ghyvi_vgpu_is_open(vgpu);
	if (ret > 0) {
		complain("%s is used by a VM; stop that, or take the GPU from it with --force",
			 uuid);
		return STATUS_BUSY;
	}
	if (ret < 0) {
		complain("%s: %s", uuid, reason_of(ret));
		return status_of(ret);
	}
	if (mdevctl) {
		ret = program_run(argv);
		if (ret)
			complain("mdevctl stop failed with status %d", ret);
		return ret ? STATUS_ERROR : STATUS_OK;
	}
	ret = ghyvi_vgpu_remove(vgpu, force);
	if (ret)
		complain("%s: %s", uuid, reason_of(ret));
	return status_of(ret);
}

struct set_options {
	struct uuid_options words; /* first: parse_uuids() takes this struct; a UUID and settings */
	const char *file;
};

static error_t parse_set(int key, char *argument, struct argp_state *state)
{
	struct set_options *options = state->input;

	if (key != 'f')
		return parse_uuids(key, argument, state);
	options->file = argument;
	return 0;
}

static int set_all(const struct set_options *options, const struct target *target)
{
	int status = options->file ? set_from_file(target, options->file) : STATUS_OK;
	int i;

	for (i = 1; !status && i < options->words.count; i++)
		status = set_attribute(target, options->words.uuids[i]);
	return status;
}

int cmd_set(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "file", 'f', "FILE", 0,
		  "First those of an mdevctl definition or its list of attributes (JSON; -: standard input)",
		  0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_set,
		.args_doc = "UUID|PGPU ATTRIBUTE=VALUE...",
		.doc = "Change settings of a vGPU or pGPU, in the order given, until one is refused. ghyvictl show lists "
		       "them.",
		.children = ctl_children,
	};
	struct set_options options = { .words = { .ctl = ctl } };
	struct target target;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.words.count < 2 && !(options.words.count && options.file)) {
		complain(
			"a UUID (or a pGPU) and at least one ATTRIBUTE=VALUE; see ghyvictl set --help");
		return STATUS_USAGE;
	}
	status = need_target(ctl, options.words.uuids[0], &target);
	if (status)
		return status;
	status = set_all(&options, &target);
	if (!status && ctl->json)
		status = json_print(json_target(&target), JSON_INDENT(2));
	target_free(&target);
	return status;
}

struct change {
	struct ctl *ctl;
	bool force;
	json_t *done;
};

static int reset_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct change *change = data;
	int ret = ghyvi_vgpu_reset(vgpu);

	if (ret)
		complain("%s: %s", ghyvi_vgpu_uuid(vgpu), reason_of(ret));
	else
		json_array_append_new(change->done, json_text(ghyvi_vgpu_uuid(vgpu)));
	return status_of(ret);
}

static int remove_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct change *change = data;
	int status = remove_vgpu(change->ctl, vgpu, change->force);

	if (!status)
		json_array_append_new(change->done, json_text(ghyvi_vgpu_uuid(vgpu)));
	return status;
}

/* For what must never be done to all vGPUs because a variable in a script was empty. */
static int change_each(const struct uuid_options *options, struct change *change, const char *key,
		       int (*each)(struct ghyvi_vgpu *vgpu, void *data))
{
	int status;

	if (!options->count) {
		complain("which vGPU? ghyvictl list shows those there are");
		return STATUS_USAGE;
	}
	change->ctl = options->ctl;
	change->done = json_array();
	status = each_vgpu(options, each, change);
	if (options->ctl->json)
		return json_print(json_pack("{s:o}", key, change->done), JSON_INDENT(2)) ?: status;
	json_decref(change->done);
	return status;
}

int cmd_reset(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "UUID...",
		.doc = "Reset vGPUs. A guest that uses one sees its GPU hang, and starts over.",
		.children = ctl_children,
	};
	struct uuid_options options = { .ctl = ctl };
	struct change change = {};
	int status;

	status = parse_options(&argp, argc, argv, &options);
	return status ?: change_each(&options, &change, "reset", reset_one);
}

struct remove_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	bool force;
};

static error_t parse_remove(int key, char *argument, struct argp_state *state)
{
	struct remove_options *options = state->input;

	if (key != 'f')
		return parse_uuids(key, argument, state);
	options->force = true;
	return 0;
}

int cmd_remove(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "force", 'f', NULL, 0,
		  "Also while a VM uses it: it is asked to let go, and waited for", 0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_remove,
		.args_doc = "UUID...",
		.doc = "Remove vGPUs. Through mdevctl where that is installed.",
		.children = ctl_children,
	};
	struct remove_options options = { .uuids = { .ctl = ctl } };
	struct change change = {};
	int status;

	status = parse_options(&argp, argc, argv, &options);
	change.force = options.force;
	return status ?: change_each(&options.uuids, &change, "removed", remove_one);
}
