// SPDX-License-Identifier: GPL-2.0-only
/* ghyvi_open(), the types that parents offer, and the creation of vGPUs. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

struct ghyvi_types {
	struct ghyvi_type *at;
	size_t count;
};

GHYVI_API int ghyvi_open(struct ghyvi **out, const char *sysfs)
{
	struct ghyvi *ghyvi;

	if ((sysfs && strcmp(sysfs, SYSFS)) || access(SYSFS, F_OK))
		return -ENOENT;
	ghyvi = calloc(1, sizeof(*ghyvi));
	if (!ghyvi)
		return -ENOMEM;
	ghyvi->udev = udev_new();
	if (!ghyvi->udev) {
		free(ghyvi);
		return -ENOMEM;
	}
	*out = ghyvi;
	return 0;
}

GHYVI_API void ghyvi_close(struct ghyvi *ghyvi)
{
	if (!ghyvi)
		return;
	udev_unref(ghyvi->udev);
	free(ghyvi);
}

GHYVI_API const char *ghyvi_sysfs(const struct ghyvi *ghyvi)
{
	(void)ghyvi;
	return SYSFS;
}

static void type_clear(struct ghyvi_type *type)
{
	free(type->id);
	free(type->name);
	free(type->parent);
	free(type->description);
}

/* Returns 1 for a ghyvi type, 0 for a type of another driver or one that has been removed. */
static int type_read(struct ghyvi_type *type, const char *directory, const char *parent,
		     const char *id)
{
	char name[GHYVI_VALUE_BYTES] = "", text[GHYVI_VALUE_BYTES] = "", number[GHYVI_VALUE_BYTES];
	char *path;
	int ret;

	*type = (struct ghyvi_type){};
	path = path_of("%s/%s/name", directory, id);
	if (!path)
		return -ENOMEM;
	ret = read_text(path, name, sizeof(name));
	free(path);
	if (ret || strncmp(name, GHYVI_TYPE_PREFIX, strlen(GHYVI_TYPE_PREFIX)))
		return 0;

	path = path_of("%s/%s/description", directory, id);
	if (!path)
		return -ENOMEM;
	if (read_text(path, text, sizeof(text)))
		text[0] = '\0';
	free(path);

	path = path_of("%s/%s/available_instances", directory, id);
	if (!path)
		return -ENOMEM;
	if (!read_text(path, number, sizeof(number)))
		type->available = strtoul(number, NULL, 10);
	free(path);

	type->id = strdup(id);
	type->name = strdup(name);
	type->parent = strdup(parent);
	type->description = strdup(text);
	if (type->id && type->name && type->parent && type->description)
		return 1;
	type_clear(type);
	return -ENOMEM;
}

/* Adds nothing for a PCI device that offers no types or has been removed. */
static int types_of_parent(struct ghyvi_types *types, struct ghyvi *ghyvi, const char *name)
{
	struct udev_device *parent;
	struct ghyvi_type *bigger;
	struct names ids = {};
	char *directory = NULL;
	size_t i;
	int ret = 0;

	parent = parent_device(ghyvi, name);
	if (!parent)
		return 0;
	directory = path_of("%s/mdev_supported_types", udev_device_get_syspath(parent));
	ret = directory ? names_read(&ids, directory) : -ENOMEM;
	if (ret) {
		ret = ret == -ENOMEM ? ret : 0;
		goto unref;
	}
	bigger = realloc(types->at, (types->count + ids.count + 1) * sizeof(*bigger));
	if (!bigger) {
		ret = -ENOMEM;
		goto unref;
	}
	types->at = bigger;
	for (i = 0; i < ids.count; i++) {
		ret = type_read(&types->at[types->count], directory, name, ids.at[i]);
		if (ret < 0)
			goto unref;
		types->count += ret;
	}
	ret = 0;
unref:
	names_free(&ids);
	free(directory);
	udev_device_unref(parent);
	return ret;
}

GHYVI_API int ghyvi_types_read(struct ghyvi *ghyvi, struct ghyvi_types **out)
{
	struct ghyvi_types *types;
	struct names parents = {};
	size_t i;
	int ret;

	types = calloc(1, sizeof(*types));
	ret = types ? parent_names(&parents, ghyvi) : -ENOMEM;
	for (i = 0; !ret && i < parents.count; i++)
		ret = types_of_parent(types, ghyvi, parents.at[i]);
	names_free(&parents);
	if (ret) {
		ghyvi_types_free(types);
		return ret;
	}
	*out = types;
	return 0;
}

GHYVI_API void ghyvi_types_free(struct ghyvi_types *types)
{
	size_t i;

	if (!types)
		return;
	for (i = 0; i < types->count; i++)
		type_clear(&types->at[i]);
	free(types->at);
	free(types);
}

GHYVI_API size_t ghyvi_types_count(const struct ghyvi_types *types)
{
	return types->count;
}

GHYVI_API const struct ghyvi_type *ghyvi_types_at(const struct ghyvi_types *types, size_t index)
{
	return &types->at[index];
}

GHYVI_API const char *ghyvi_type_id(const struct ghyvi_type *type)
{
	return type->id;
}

GHYVI_API const char *ghyvi_type_name(const struct ghyvi_type *type)
{
	return type->name;
}

GHYVI_API const char *ghyvi_type_parent(const struct ghyvi_type *type)
{
	return type->parent;
}

GHYVI_API const char *ghyvi_type_description(const struct ghyvi_type *type)
{
	return type->description;
}

GHYVI_API unsigned int ghyvi_type_available(const struct ghyvi_type *type)
{
	return type->available;
}

GHYVI_API bool ghyvi_type_is(const struct ghyvi_type *type, const char *word)
{
	const char *in_id = strrchr(type->id, '-');

	return !strcmp(word, type->id) || !strcmp(word, type->name) ||
	       !strcmp(word, type->name + strlen(GHYVI_TYPE_PREFIX)) ||
	       (in_id && !strcmp(word, in_id + 1));
}

GHYVI_API int ghyvi_create(struct ghyvi *ghyvi, const struct ghyvi_type *type, const char *uuid)
{
	struct udev_device *parent;
	char *path;
	int ret;

	if (!ghyvi_is_uuid(uuid))
		return -EINVAL;
	parent = parent_device(ghyvi, type->parent);
	if (!parent)
		return -ENODEV;
	path = path_of("%s/mdev_supported_types/%s/create", udev_device_get_syspath(parent),
		       type->id);
	ret = path ? write_text(path, uuid) : -ENOMEM;
	free(path);
	udev_device_unref(parent);
	return ret == -ENOENT ? -ENODEV : ret;
}
