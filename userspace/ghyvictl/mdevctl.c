// SPDX-License-Identifier: GPL-2.0-only
/* Definitions in mdevctl: finding, storing and replacing them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

/* mdevctl's output: [{"PARENT": [{"UUID": {"mdev_type": ...}}, ...]}, ...] */
void defined_find(const char *mdevctl, const char *uuid, struct defined *defined)
{
	const char *const argv[] = { mdevctl, "list", "-d", "--dumpjson", NULL };
	char *text = program_output(argv);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	json_t *parents, *devices, *device, *found;
	const char *parent;
	size_t i, k;

	*defined = (struct defined){};
	json_array_foreach(all, i, parents)
	{
		json_object_foreach(parents, parent, devices)
		{
			json_array_foreach(devices, k, device)
			{
				found = json_object_get(device, uuid);
				if (!found || defined->parent)
					continue;
				defined->parent = strdup(parent);
				defined->definition = json_incref(found);
			}
		}
	}
	json_decref(all);
	free(text);
}

void defined_free(struct defined *defined)
{
	free(defined->parent);
	json_decref(defined->definition);
	*defined = (struct defined){};
}

/* Returns the exit status of mdevctl. */
static int define(const char *mdevctl, const char *uuid, const char *parent, json_t *definition)
{
	char *text = json_dumps(definition, 0), *path = NULL;
	int fd = text ? text_file(text) : -1, status = 127;

	if (fd >= 0 && asprintf(&path, "/proc/self/fd/%d", fd) > 0) {
		const char *const argv[] = { mdevctl, "define",	    "-u", uuid, "-p",
					     parent,  "--jsonfile", path, NULL };

		status = program_run(argv);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	free(text);
	return status;
}

/* The notations of the kernel: decimal, also with leading zeros, and hexadecimal after "0x". */
static unsigned long slot_number(const char *text)
{
	return strtoul(text, NULL, strncasecmp(text, "0x", 2) ? 10 : 16);
}

/* A gen9_4 has the slots 0 to 3; the range of the setting is that of the type with most slots. */
static int check_slots(const json_t *definition)
{
	const char *type = json_string_value(json_object_get(definition, "mdev_type")), *value;
	const char *number = type ? strrchr(type, '_') : NULL;
	unsigned long slots = number ? strtoul(number + 1, NULL, 10) : 0;
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(definition, "attrs"), i, each)
	{
		value = json_string_value(json_object_get(each, "slot"));
		if (value && slots && slot_number(value) >= slots) {
			complain("slot=%s: a %s has slot 0 to %lu; choose one of these", value,
				 type, slots - 1);
			return STATUS_ERROR;
		}
	}
	return STATUS_OK;
}

static int undefine_and_define(const char *mdevctl, const char *uuid, const char *parent,
			       json_t *definition, const struct defined *old)
{
	int status;

	if (old->parent) {
		const char *const argv[] = { mdevctl, "undefine",  "-u", uuid,
					     "-p",    old->parent, NULL };

		status = program_run(argv);
		if (status) {
			complain("mdevctl undefine failed with status %d; nothing was changed",
				 status);
			return STATUS_ERROR;
		}
	}
	status = define(mdevctl, uuid, parent, definition);
	if (!status)
		return STATUS_OK;
	complain("mdevctl define failed with status %d; mdevctl list -d shows what is defined",
		 status);
	if (old->parent && define(mdevctl, uuid, old->parent, old->definition))
		complain("the old definition of %s for %s is lost", uuid, old->parent);
	return STATUS_ERROR;
}

/* Signals that end this program, and mdevctl, wait: between the two commands nothing is defined. */
int define_with_mdevctl(const char *mdevctl, const char *uuid, const char *parent,
			json_t *definition, const struct defined *old)
{
	int status = check_slots(definition);
	sigset_t signals, before;

	if (status)
		return status;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	status = undefine_and_define(mdevctl, uuid, parent, definition, old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
