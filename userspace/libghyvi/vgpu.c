// SPDX-License-Identifier: GPL-2.0-only
/* vGPUs and their attributes. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "internal.h"

struct ghyvi_vgpus {
	struct ghyvi_vgpu **at;
	size_t count;
};

GHYVI_API bool ghyvi_is_uuid(const char *text)
{
	size_t i;

	for (i = 0; i < GHYVI_UUID_CHARS; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return !text[i];
}

GHYVI_API int ghyvi_new_uuid(char *uuid)
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		return -EIO;
	b[6] = (b[6] & 0x0f) | 0x40; /* version 4 */
	b[8] = (b[8] & 0x3f) | 0x80; /* variant 1 */
	snprintf(uuid, GHYVI_UUID_CHARS + 1,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		 b[15]);
	return 0;
}

GHYVI_API void ghyvi_vgpu_free(struct ghyvi_vgpu *vgpu)
{
	if (!vgpu)
		return;
	free(vgpu->uuid);
	free(vgpu->parent);
	free(vgpu->type_id);
	free(vgpu->type_name);
	free(vgpu->path);
	free(vgpu->debugfs);
	free(vgpu);
}

/* Reads the name and the id of the type through the link mdev_type, and the parent's name. */
static int type_of(struct ghyvi_vgpu *vgpu, struct udev_device *device)
{
	struct udev_device *parent = udev_device_get_parent(device);
	char name[GHYVI_VALUE_BYTES];
	char *link, *file, *real = NULL;
	int ret = -ENOMEM;

	link = path_of("%s/mdev_type", udev_device_get_syspath(device));
	file = path_of("%s/mdev_type/name", udev_device_get_syspath(device));
	if (!link || !file)
		goto out;
	ret = -ENODEV;
	if (!parent || read_text(file, name, sizeof(name)) ||
	    strncmp(name, GHYVI_TYPE_PREFIX, strlen(GHYVI_TYPE_PREFIX)))
		goto out;
	real = realpath(link, NULL);
	if (!real)
		goto out;
	vgpu->type_name = strdup(name);
	vgpu->type_id = strdup(last_component(real));
	vgpu->parent = strdup(udev_device_get_sysname(parent));
	ret = vgpu->type_name && vgpu->type_id && vgpu->parent ? 0 : -ENOMEM;
out:
	free(link);
	free(file);
	free(real);
	return ret;
}

GHYVI_API int ghyvi_vgpu_find(struct ghyvi *ghyvi, const char *uuid, struct ghyvi_vgpu **out)
{
	struct udev_device *device = NULL;
	struct ghyvi_vgpu *vgpu;
	char *at;
	int ret = -ENOMEM;

	if (!ghyvi_is_uuid(uuid))
		return -EINVAL;
	vgpu = calloc(1, sizeof(*vgpu));
	if (!vgpu)
		return -ENOMEM;
	vgpu->uuid = strdup(uuid);
	if (!vgpu->uuid)
		goto fail;
	for (at = vgpu->uuid; *at; at++)
		*at = tolower((unsigned char)*at);
	vgpu->path = path_of(SYSFS "/bus/mdev/devices/%s", vgpu->uuid);
	vgpu->debugfs = path_of(SYSFS "/kernel/debug/ghyvi/%s", vgpu->uuid);
	if (!vgpu->path || !vgpu->debugfs)
		goto fail;
	device = vgpu_device(ghyvi, vgpu->uuid);
	ret = device ? type_of(vgpu, device) : -ENODEV;
	if (ret)
		goto fail;
	udev_device_unref(device);
	*out = vgpu;
	return 0;
fail:
	udev_device_unref(device);
	ghyvi_vgpu_free(vgpu);
	return ret;
}

GHYVI_API int ghyvi_vgpus_read(struct ghyvi *ghyvi, struct ghyvi_vgpus **out)
{
	struct ghyvi_vgpus *vgpus;
	struct names uuids = {};
	size_t i;
	int ret;

	vgpus = calloc(1, sizeof(*vgpus));
	ret = vgpus ? vgpu_names(&uuids, ghyvi) : -ENOMEM;
	if (!ret) {
		vgpus->at = calloc(uuids.count + 1, sizeof(*vgpus->at));
		ret = vgpus->at ? 0 : -ENOMEM;
	}
	for (i = 0; !ret && i < uuids.count; i++) {
		ret = ghyvi_vgpu_find(ghyvi, uuids.at[i], &vgpus->at[vgpus->count]);
		if (!ret)
			vgpus->count++;
		else if (ret == -ENODEV || ret == -EINVAL)
			ret = 0; /* of another driver, or removed in the meantime */
	}
	names_free(&uuids);
	if (ret) {
		ghyvi_vgpus_free(vgpus);
		return ret;
	}
	*out = vgpus;
	return 0;
}

GHYVI_API void ghyvi_vgpus_free(struct ghyvi_vgpus *vgpus)
{
	size_t i;

	if (!vgpus)
		return;
	for (i = 0; i < vgpus->count; i++)
		ghyvi_vgpu_free(vgpus->at[i]);
	free(vgpus->at);
	free(vgpus);
}

GHYVI_API size_t ghyvi_vgpus_count(const struct ghyvi_vgpus *vgpus)
{
	return vgpus->count;
}

GHYVI_API struct ghyvi_vgpu *ghyvi_vgpus_at(const struct ghyvi_vgpus *vgpus, size_t index)
{
	return vgpus->at[index];
}

GHYVI_API const char *ghyvi_vgpu_uuid(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->uuid;
}

GHYVI_API const char *ghyvi_vgpu_parent(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->parent;
}

GHYVI_API const char *ghyvi_vgpu_type_id(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->type_id;
}

GHYVI_API const char *ghyvi_vgpu_type_name(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->type_name;
}

GHYVI_API const char *ghyvi_vgpu_path(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->path;
}

GHYVI_API const char *ghyvi_vgpu_debugfs(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->debugfs;
}

/* Directories of settings, as opposed to those of counters and of the driver core. */
static bool is_group(const char *name)
{
	return strcmp(name, "stats") && strcmp(name, "power") && strcmp(name, "vfio-dev");
}

static struct settings settings_of(const struct ghyvi_vgpu *vgpu)
{
	return (struct settings){ vgpu->path, is_group, "slot" };
}

GHYVI_API int ghyvi_vgpu_read(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value,
			      size_t bytes)
{
	struct settings settings = settings_of(vgpu);

	return settings_read(&settings, attribute, value, bytes);
}

GHYVI_API int ghyvi_vgpu_write(const struct ghyvi_vgpu *vgpu, const char *attribute,
			       const char *value)
{
	struct settings settings = settings_of(vgpu);

	return settings_write(&settings, attribute, value);
}

GHYVI_API int
ghyvi_vgpu_each_attribute(const struct ghyvi_vgpu *vgpu,
			  int (*each)(void *data, const char *attribute, bool writable), void *data)
{
	struct settings settings = settings_of(vgpu);

	return settings_each(&settings, each, data);
}

GHYVI_API int ghyvi_vgpu_policy(const struct ghyvi_vgpu *vgpu, char *name, size_t bytes)
{
	char text[GHYVI_VALUE_BYTES], *from, *to;
	int ret;

	ret = ghyvi_vgpu_read(vgpu, "policy/mode", text, sizeof(text));
	if (ret)
		return ret;
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return -EPROTO;
	*to = '\0';
	return snprintf(name, bytes, "%s", from + 1) < (int)bytes ? 0 : -ENOSPC;
}

GHYVI_API int ghyvi_vgpu_is_open(const struct ghyvi_vgpu *vgpu)
{
	char state[GHYVI_VALUE_BYTES];
	int ret = ghyvi_vgpu_read(vgpu, "state", state, sizeof(state));

	/* Later kernels may add states: only "created" certainly means that no VM uses it. */
	return ret ?: strcmp(state, "created") != 0;
}

static int write_one(const struct ghyvi_vgpu *vgpu, const char *name)
{
	char *path = path_of("%s/%s", vgpu->path, name);
	int ret;

	if (!path)
		return -ENOMEM;
	ret = write_text(path, "1");
	free(path);
	return ret == -ENOENT || ret == -ENOTDIR ? -ENODEV : ret;
}

GHYVI_API int ghyvi_vgpu_reset(const struct ghyvi_vgpu *vgpu)
{
	return write_one(vgpu, "reset");
}

GHYVI_API int ghyvi_vgpu_unplug(const struct ghyvi_vgpu *vgpu)
{
	int ret = write_one(vgpu, "unplug");

	return ret == -ENODEV && ghyvi_vgpu_is_open(vgpu) >= 0 ? -EPROTO : ret;
}

GHYVI_API int ghyvi_vgpu_remove(const struct ghyvi_vgpu *vgpu, bool force)
{
	int open;

	if (!force) {
		open = ghyvi_vgpu_is_open(vgpu);
		if (open)
			return open < 0 ? open : -EBUSY;
	}
	return write_one(vgpu, "remove");
}
