// SPDX-License-Identifier: GPL-2.0-only
/* reset, and what it shares with remove */
#include <string.h>
#include "ctl.h"

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
