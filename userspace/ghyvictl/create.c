// SPDX-License-Identifier: GPL-2.0-only
/* create */
#define _GNU_SOURCE
#include <errno.h>
#include "wanted.h"

/* How long to wait until a new vGPU appears in sysfs. */
#define APPEAR_S 2.0

static const struct argp_option create_argp_options[] = { WANTED_OPTIONS, {} };

static const struct argp create_argp = {
	.options = create_argp_options,
	.parser = parse_wanted,
	.args_doc = "TYPE",
	.doc = "Create a vGPU, through mdevctl if it is installed, and print its UUID. TYPE is one "
	       "of ghyvictl types, or its suffix, such as gen9_4.",
	.children = ctl_children,
};

static int complain_full(const struct ghyvi_type *full)
{
	complain("No available instances of %s on %s: remove a vGPU (ghyvictl list) or choose a "
		 "smaller type (ghyvictl types)",
		 ghyvi_type_id(full), ghyvi_type_parent(full));
	return STATUS_BUSY;
}

static int create_with_mdevctl(const char *mdevctl, const struct ghyvi_type *type, const char *uuid)
{
	const char *const argv[] = { mdevctl, "start",
				     "-u",    uuid,
				     "-p",    ghyvi_type_parent(type),
				     "-t",    ghyvi_type_id(type),
				     NULL };
	int status = program_run(argv);

	if (!status)
		return STATUS_OK;
	complain("mdevctl start failed with status %d; the kernel's reason is in dmesg", status);
	return STATUS_ERROR;
}

static int create_with_sysfs(struct ctl *ctl, const struct ghyvi_type *type, const char *uuid)
{
	int ret = ghyvi_create(ctl->ghyvi, type, uuid);

	switch (-ret) {
	case 0:
		break;
	case EEXIST:
		complain("there is a vGPU %s already; ghyvictl show %s", uuid, uuid);
		return STATUS_BUSY;
	case ENOSPC:
		complain("no room for %s on %s; dmesg has the reason, ghyvictl types lists what "
			 "fits",
			 ghyvi_type_id(type), ghyvi_type_parent(type));
		break;
	default:
		complain("%s on %s: %s", ghyvi_type_id(type), ghyvi_type_parent(type),
			 reason_of(ret));
	}
	return status_of(ret);
}

/*
 * @watch was opened before the vGPU was created, so its event cannot be missed. If it is NULL, look
 * once now and once at the timeout.
 */
static struct ghyvi_vgpu *wait_for_vgpu(struct ctl *ctl, struct ghyvi_watch *watch,
					const char *uuid)
{
	const double until = seconds_now() + APPEAR_S;
	bool time_is_up = false;
	struct ghyvi_vgpu *vgpu;

	while (ghyvi_vgpu_find(ctl->ghyvi, uuid, &vgpu)) {
		if (time_is_up) {
			complain("%s was created, but does not appear in sysfs", uuid);
			return NULL;
		}
		time_is_up = wait_for_news(watch, -1, until) == NEWS_TIME_IS_UP;
	}
	return vgpu;
}

/* The saved settings of the type, then those of the command line, in a new list. */
static int settings_of(const struct wanted *wanted, const char *type, json_t **settings)
{
	int status = saved_settings(type_of_word(type) ?: "", settings);
	size_t i;

	for (i = 0; !status && i < wanted->settings_count; i++)
		status = append_assignment(*settings, wanted->settings[i]);
	return status;
}

/* Applies the settings to the new vGPU, or removes it if one is rejected. */
static int set_new(const struct wanted *wanted, const struct ghyvi_vgpu *vgpu, json_t *settings)
{
	const struct target target = { .vgpu = vgpu };
	int status;

	status = set_settings(&target, settings);
	if (status && !remove_vgpu(wanted->ctl, vgpu, NULL))
		complain("the vGPU was removed again: nothing was created");
	return status;
}

/* Returns an exit status, with *vgpu set if that is 0; *settings: those to apply. */
static int create_wanted(struct wanted *wanted, struct ghyvi_vgpu **vgpu, json_t **settings)
{
	struct ghyvi_watch *watch = NULL;
	struct ctl *ctl = wanted->ctl;
	const struct ghyvi_type *type;
	const char *mdevctl;
	int status;

	status = wanted_type(wanted, &type);
	if (status)
		return status;
	if (!ghyvi_type_available(type))
		return complain_full(type);
	status = settings_of(wanted, ghyvi_type_id(type), settings);
	if (status)
		return status;
	ghyvi_watch_open(&watch);
	mdevctl = mdevctl_program(ctl);
	status = mdevctl ? create_with_mdevctl(mdevctl, type, wanted->uuid) :
			   create_with_sysfs(ctl, type, wanted->uuid);
	if (!status) {
		*vgpu = wait_for_vgpu(ctl, watch, wanted->uuid);
		status = *vgpu ? STATUS_OK : STATUS_ERROR;
	}
	ghyvi_watch_close(watch);
	return status;
}

static int create(struct wanted *wanted)
{
	struct ctl *ctl = wanted->ctl;
	struct ghyvi_vgpu *vgpu;
	json_t *settings = NULL;
	int status;

	status = wanted_uuid(wanted);
	if (status)
		return status;
	if (!ghyvi_vgpu_find(ctl->ghyvi, wanted->uuid, &vgpu)) {
		complain("there is a vGPU %s already; ghyvictl show %s", wanted->uuid,
			 wanted->uuid);
		ghyvi_vgpu_free(vgpu);
		return STATUS_BUSY;
	}
	status = create_wanted(wanted, &vgpu, &settings);
	if (status) {
		json_decref(settings);
		return status;
	}
	status = set_new(wanted, vgpu, settings);
	json_decref(settings);
	if (!status && ctl->json)
		status = json_print(json_vgpu(vgpu), JSON_INDENT(2));
	else if (!status)
		printf("%s\n", ghyvi_vgpu_uuid(vgpu));
	ghyvi_vgpu_free(vgpu);
	return status;
}

int cmd_create(struct ctl *ctl, int argc, char **argv)
{
	struct wanted wanted = { .ctl = ctl };
	int status;

	status = parse_options(&create_argp, argc, argv, &wanted) ?: create(&wanted);
	wanted_free(&wanted);
	return status;
}
