// SPDX-License-Identifier: GPL-2.0-only
/* Enumeration of devices with libudev. It reads sysfs if no udev daemon is running. */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

/* Class mdev_bus of the mdev core contains only links to devices, which libudev does not follow. */
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
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumerate))
	{
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

struct ghyvi_watch {
	struct udev *udev;
	struct udev_monitor *monitor;
};

GHYVI_API int ghyvi_watch_open(struct ghyvi_watch **out)
{
	struct ghyvi_watch *watch;
	int ret = -ENOMEM;

	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->udev = udev_new();
	if (!watch->udev)
		goto fail;
	/* Receive the kernel's events: those of "udev" need a running daemon. */
	watch->monitor = udev_monitor_new_from_netlink(watch->udev, "kernel");
	if (!watch->monitor) {
		ret = -errno;
		goto fail;
	}
	ret = udev_monitor_filter_add_match_subsystem_devtype(watch->monitor, VGPU_SUBSYSTEM, NULL);
	if (ret >= 0)
		ret = udev_monitor_enable_receiving(watch->monitor);
	if (ret < 0)
		goto fail;
	*out = watch;
	return 0;
fail:
	ghyvi_watch_close(watch);
	return ret;
}

GHYVI_API void ghyvi_watch_close(struct ghyvi_watch *watch)
{
	if (!watch)
		return;
	udev_monitor_unref(watch->monitor);
	udev_unref(watch->udev);
	free(watch);
}

GHYVI_API int ghyvi_watch_fd(const struct ghyvi_watch *watch)
{
	return udev_monitor_get_fd(watch->monitor);
}

GHYVI_API bool ghyvi_watch_take(struct ghyvi_watch *watch)
{
	struct udev_device *device;
	bool any = false;

	for (;;) {
		errno = 0;
		device = udev_monitor_receive_device(watch->monitor);
		/* ENOBUFS: the kernel dropped events, and one of them may have been of a vGPU. */
		if (!device && errno != ENOBUFS)
			return any;
		any = true;
		udev_device_unref(device);
	}
}
