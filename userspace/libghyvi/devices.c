// SPDX-License-Identifier: GPL-2.0-only
/* Devices, as libudev finds them: from sysfs alone where no udev daemon runs. */
#include <errno.h>
#include "internal.h"

/* The mdev core's own class, mdev_bus, has no devices but links to some, which libudev does not follow. */
#define PARENT_SUBSYSTEM "pci"
#define VGPU_SUBSYSTEM "mdev"

static struct udev_device *device_find(struct ghyvi *ghyvi, const char *subsystem, const char *name)
{
	return udev_device_new_from_subsystem_sysname(ghyvi->udev, subsystem, name);
}

struct udev_device *parent_device(struct ghyvi *ghyvi, const char *name)
{
	return device_find(ghyvi, PARENT_SUBSYSTEM, name);
}

struct udev_device *vgpu_device(struct ghyvi *ghyvi, const char *uuid)
{
	return device_find(ghyvi, VGPU_SUBSYSTEM, uuid);
}

static int device_names(struct names *names, struct ghyvi *ghyvi, const char *subsystem)
{
	struct udev_enumerate *enumerate;
	struct udev_list_entry *entry;
	int ret;

	*names = (struct names){};
	enumerate = udev_enumerate_new(ghyvi->udev);
	if (!enumerate)
		return -ENOMEM;
	ret = udev_enumerate_add_match_subsystem(enumerate, subsystem);
	if (ret >= 0)
		ret = udev_enumerate_scan_devices(enumerate);
	if (ret < 0)
		goto unref;
	ret = 0;
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumerate)) {
		ret = names_add(names, last_component(udev_list_entry_get_name(entry)));
		if (ret)
			break;
	}
	if (ret)
		names_free(names);
	names_sort(names);
unref:
	udev_enumerate_unref(enumerate);
	return ret;
}

int parent_names(struct names *names, struct ghyvi *ghyvi)
{
	return device_names(names, ghyvi, PARENT_SUBSYSTEM);
}

int vgpu_names(struct names *names, struct ghyvi *ghyvi)
{
	return device_names(names, ghyvi, VGPU_SUBSYSTEM);
}
