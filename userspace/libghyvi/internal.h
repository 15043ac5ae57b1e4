/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_INTERNAL_H
#define GHYVI_INTERNAL_H

#include <libudev.h>
#include "ghyvi.h"
#include "known_stats.h"

/* What is not exported is hidden (-fvisibility=hidden and libghyvi.map). */
#define GHYVI_API __attribute__((visibility("default")))

/* The start of every ghyvi type's `name`. */
#define GHYVI_TYPE_PREFIX "ghyvi-"

/* libudev looks at this one and no other. */
#define SYSFS "/sys"

struct ghyvi {
	struct udev *udev;
};

struct ghyvi_type {
	char *id;
	char *name;
	char *parent;
	char *description;
	unsigned int available;
};

struct ghyvi_parent {
	char *name;
	char *path;
};

struct ghyvi_vgpu {
	char *uuid;
	char *parent;
	char *type_id;
	char *type_name;
	char *path;
	char *debugfs;
};

struct names {
	char **at;
	size_t count;
};

int names_add(struct names *names, const char *name);
/* As numbers in them go. */
void names_sort(struct names *names);
void names_free(struct names *names);
/* Those in a directory, sorted, without those that begin with "." */
int names_read(struct names *names, const char *directory);

/* Sorted. Those that may be parents: most PCI devices offer no types. Other vendors' mdevs, too. */
int parent_names(struct names *names, struct ghyvi *ghyvi);
int vgpu_names(struct names *names, struct ghyvi *ghyvi);
/* NULL: there is none, or no memory. Freed with udev_device_unref(). */
struct udev_device *parent_device(struct ghyvi *ghyvi, const char *name);
struct udev_device *vgpu_device(struct ghyvi *ghyvi, const char *uuid);

/* Formats a path, and frees nothing; NULL: no memory. */
char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What follows the last "/". */
const char *last_component(const char *path);

/* Both return 0 or a negative errno. What is read loses the newline at its end. */
int read_text(const char *path, char *value, size_t bytes);
int write_text(const char *path, const char *value);

/* A directory of sysfs, with settings in those directories of it for which is_group(). */
struct settings {
	const char *path;
	bool (*is_group)(const char *name);
};

/* As ghyvi_vgpu_read(), ghyvi_vgpu_write() and ghyvi_vgpu_each_attribute(). */
int settings_read(const struct settings *settings, const char *attribute, char *value,
		  size_t bytes);
int settings_write(const struct settings *settings, const char *attribute, const char *value);
int settings_each(const struct settings *settings,
		  int (*each)(void *data, const char *attribute, bool writable), void *data);

#endif
