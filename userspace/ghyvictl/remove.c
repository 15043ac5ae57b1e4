// SPDX-License-Identifier: GPL-2.0-only
/*
 * remove. A write to the attribute "remove" of a vGPU in use sleeps uninterruptibly until the VM
 * releases it. So ghyvictl first requests the unplug, waits until the vGPU is free, and then writes
 * "remove". If the wait is aborted, no removal is pending.
 */
#include <errno.h>
#include "ctl.h"

#define TIMEOUT_S 60
#define TIMEOUT_TEXT "60"
#define LOOK_S 0.1
/* VFIO repeats its request at the same interval. */
#define ASK_AGAIN_S 10

static int remove_free(struct ctl *ctl, const struct ghyvi_vgpu *vgpu)
{
	const char *mdevctl = mdevctl_program(ctl), *uuid = ghyvi_vgpu_uuid(vgpu);
	const char *const argv[] = { mdevctl, "stop", "-u", uuid, NULL };
	int ret;

	if (mdevctl) {
		ret = program_run(argv);
		if (ret)
			complain("mdevctl stop failed with status %d", ret);
		return ret ? STATUS_ERROR : STATUS_OK;
	}
	ret = ghyvi_vgpu_remove(vgpu, false);
	if (ret)
		complain("%s: %s", uuid, reason_of(ret));
	return status_of(ret);
}

/* Returns an exit status. */
static int request_unplug(const struct ghyvi_vgpu *vgpu, const char *holder)
{
	const char *uuid = ghyvi_vgpu_uuid(vgpu);
	int ret = ghyvi_vgpu_unplug(vgpu);

	switch (ret) {
	case 0:
	case -ENXIO: /* the VM has just released it */
		return STATUS_OK;
	case -EOPNOTSUPP:
		complain("%s uses %s and does not take unplug requests; stop it", holder, uuid);
		return STATUS_BUSY;
	case -EPROTO:
		complain("the ghyvi module in the kernel is older than this program, and cannot "
			 "request that %s unplugs %s; stop it",
			 holder, uuid);
		return STATUS_BUSY;
	default:
		complain("%s: %s", uuid, reason_of(ret));
		return status_of(ret);
	}
}

/* Returns an exit status: STATUS_OK when the vGPU is free or has been removed. */
static int wait_until_free(const struct ghyvi_vgpu *vgpu, const char *holder, double timeout_s)
{
	const char *uuid = ghyvi_vgpu_uuid(vgpu);
	double until = seconds_now() + timeout_s, ask_again = seconds_now() + ASK_AGAIN_S;
	int status;

	complain("asked %s to unplug %s; waiting, %g s at most; Ctrl-C ends the wait", holder, uuid,
		 timeout_s);
	while (ghyvi_vgpu_is_open(vgpu) > 0) {
		if (stop_asked) {
			complain("stopped waiting for %s; %s is not removed, but may still be "
				 "unplugged",
				 holder, uuid);
			return STATUS_BUSY;
		}
		if (seconds_now() >= until) {
			complain("%s did not unplug %s in %g s: its guest does not respond, or its "
				 "machine type cannot; stop it, or wait longer with --timeout",
				 holder, uuid, timeout_s);
			return STATUS_BUSY;
		}
		if (seconds_now() >= ask_again) {
			status = request_unplug(vgpu, holder);
			if (status)
				return status;
			ask_again += ASK_AGAIN_S;
		}
		sleep_seconds(LOOK_S);
	}
	return STATUS_OK;
}

static int take_from(const struct ghyvi_vgpu *vgpu, const struct holder *holder,
		     const struct change *change)
{
	const char *uuid = ghyvi_vgpu_uuid(vgpu);
	char text[HOLDER_TEXT_BYTES];
	int status;

	holder_text(holder, text);
	if (!change || !change->force) {
		complain("%s is used by %s; stop it, or request the unplug with --force", uuid,
			 text);
		return STATUS_BUSY;
	}
	if (holder->stuck) {
		complain("%s cannot unplug %s: %s; stop the VM", text, uuid, holder->stuck);
		return STATUS_BUSY;
	}
	stop_on_signals();
	status = request_unplug(vgpu, text);
	return status ?: wait_until_free(vgpu, text, change->timeout_s);
}

int remove_vgpu(struct ctl *ctl, const struct ghyvi_vgpu *vgpu, const struct change *change)
{
	const char *uuid = ghyvi_vgpu_uuid(vgpu);
	int status = STATUS_OK, open = ghyvi_vgpu_is_open(vgpu);
	char text[HOLDER_TEXT_BYTES];
	struct holder holder = {};

	if (open)
		holder_find(vgpu, &holder);
	if (open == -ENOENT) {
		/* A pending removal deletes the attributes before it waits. */
		complain("%s is being removed already, and the removal waits for %s to release it; "
			 "stop that process",
			 uuid, holder_text(&holder, text));
		status = STATUS_BUSY;
	} else if (open < 0) {
		complain("%s: %s", uuid, reason_of(open));
		status = status_of(open);
	} else if (open) {
		status = take_from(vgpu, &holder, change);
	}
	holder_free(&holder);
	return status ?: remove_free(ctl, vgpu);
}

static int remove_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct change *change = data;
	int status;

	if (stop_asked)
		return STATUS_BUSY;
	status = remove_vgpu(change->ctl, vgpu, change);
	if (!status)
		json_array_append_new(change->done, json_text(ghyvi_vgpu_uuid(vgpu)));
	return status;
}

struct remove_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	struct change change;
};

static error_t parse_remove(int key, char *argument, struct argp_state *state)
{
	struct remove_options *options = state->input;

	switch (key) {
	case 'f':
		options->change.force = true;
		return 0;
	case 't':
		options->change.timeout_s = parse_seconds(argument, state);
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

int cmd_remove(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "force", 'f', NULL, 0, "If a VM uses it, request the unplug and wait", 0 },
		{ "timeout", 't', "SECONDS", 0, "How long --force waits (default " TIMEOUT_TEXT ")",
		  0 },
		{}
	};
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_remove,
		.args_doc = "UUID...",
		.doc = "Remove vGPUs, through mdevctl if it is installed.",
		.children = ctl_children,
	};
	struct remove_options options = {
		.uuids = { .ctl = ctl },
		.change = { .timeout_s = TIMEOUT_S },
	};
	int status;

	status = parse_options(&argp, argc, argv, &options);
	return status ?: change_each(&options.uuids, &options.change, "removed", remove_one);
}
