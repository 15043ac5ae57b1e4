// SPDX-License-Identifier: GPL-2.0-only
/* set, reset */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

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
		  "First apply an mdevctl definition or list of attributes (JSON; -: standard "
		  "input)",
		  0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_set,
		.args_doc = "UUID|PGPU ATTRIBUTE=VALUE...",
		.doc = "Change settings of a vGPU or pGPU, in the given order, until one is "
		       "rejected. ghyvictl show lists the settings.",
		.children = ctl_children,
	};
	struct set_options options = { .words = { .ctl = ctl } };
	struct target target;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.words.count < 2 && !(options.words.count && options.file)) {
		complain("give a UUID (or a pGPU) and at least one ATTRIBUTE=VALUE; see ghyvictl "
			 "set --help");
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

static bool in_failsafe(const struct ghyvi_vgpu *vgpu)
{
	char state[GHYVI_VALUE_BYTES];

	return !strcmp(value_or_unknown(vgpu, "state", state), "failsafe");
}

static int reset_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct change *change = data;
	int ret;

	if (in_failsafe(vgpu))
		complain("%s is in failsafe state, so the driver in its guest has disabled the "
			 "GPU; reload the guest's driver or restart the VM after this reset",
			 ghyvi_vgpu_uuid(vgpu));
	ret = ghyvi_vgpu_reset(vgpu);
	if (ret)
		complain("%s: %s", ghyvi_vgpu_uuid(vgpu), reason_of(ret));
	else
		json_array_append_new(change->done, json_text(ghyvi_vgpu_uuid(vgpu)));
	return status_of(ret);
}

int change_each(const struct uuid_options *options, struct change *change, const char *key,
		int (*each)(struct ghyvi_vgpu *vgpu, void *data))
{
	int status;

	if (!options->count) {
		complain("UUID missing; ghyvictl list shows them");
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
		.doc = "Stop the jobs of vGPUs, and end failsafe state. A guest that uses a vGPU "
		       "sees a GPU hang and recovers.",
		.children = ctl_children,
	};
	struct uuid_options options = { .ctl = ctl };
	struct change change = {};
	int status;

	status = parse_options(&argp, argc, argv, &options);
	return status ?: change_each(&options, &change, "reset", reset_one);
}
