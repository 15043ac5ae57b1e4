// SPDX-License-Identifier: GPL-2.0-only
/* pGPUs and their settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* The other directories belong to the driver core and the mdev core. */
static bool is_group(const char *name)
{
	return !strcmp(name, "ghyvi");
}

static struct settings settings_of(const struct ghyvi_parent *parent)
{
	return (struct settings){ parent->path, is_group, NULL };
}

GHYVI_API void ghyvi_parent_free(struct ghyvi_parent *parent)
{
	if (!parent)
		return;
	free(parent->name);
	free(parent->path);
	free(parent);
}

/* Returns 0 if PCI device @name offers a ghyvi type. */
static int offers_types(struct ghyvi *ghyvi, const char *name)
{
	struct ghyvi_types *types;
	bool found = false;
	size_t i;
	int ret;

	ret = ghyvi_types_read(ghyvi, &types);
	if (ret)
		return ret;
	for (i = 0; i < ghyvi_types_count(types) && !found; i++)
		found = !strcmp(ghyvi_type_parent(ghyvi_types_at(types, i)), name);
	ghyvi_types_free(types);
	return found ? 0 : -ENODEV;
}

GHYVI_API int ghyvi_parent_find(struct ghyvi *ghyvi, const char *name, struct ghyvi_parent **out)
{
	struct ghyvi_parent *parent;
	struct udev_device *device;
	int ret;

	ret = offers_types(ghyvi, name);
	if (ret)
		return ret;
	device = parent_device(ghyvi, name);
	if (!device)
		return -ENODEV;
	ret = -ENOMEM;
	parent = calloc(1, sizeof(*parent));
	if (!parent)
		goto unref;
	parent->name = strdup(name);
	parent->path = strdup(udev_device_get_syspath(device));
	if (!parent->name || !parent->path) {
		ghyvi_parent_free(parent);
		goto unref;
	}
	*out = parent;
	ret = 0;
unref:
	udev_device_unref(device);
	return ret;
}

GHYVI_API const char *ghyvi_parent_name(const struct ghyvi_parent *parent)
{
	return parent->name;
}

GHYVI_API int ghyvi_parent_read(const struct ghyvi_parent *parent, const char *attribute,
				char *value, size_t bytes)
{
	struct settings settings = settings_of(parent);

	return settings_read(&settings, attribute, value, bytes);
}

GHYVI_API int ghyvi_parent_write(const struct ghyvi_parent *parent, const char *attribute,
				 const char *value)
{
	struct settings settings = settings_of(parent);

	return settings_write(&settings, attribute, value);
}

GHYVI_API int ghyvi_parent_each_attribute(const struct ghyvi_parent *parent,
					  int (*each)(void *data, const char *attribute,
						      bool writable),
					  void *data)
{
	struct settings settings = settings_of(parent);

	return settings_each(&settings, each, data);
}
