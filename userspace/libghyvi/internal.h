/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_INTERNAL_H
#define GHYVI_INTERNAL_H

#include <libudev.h>
#include "ghyvi.h"
#include "known_stats.h"

/* Exports a function; all others are hidden (-fvisibility=hidden and libghyvi.map). */
#define GHYVI_API __attribute__((visibility("default")))

/* The prefix of the `name` attribute of every ghyvi type. */
#define GHYVI_TYPE_PREFIX "ghyvi-"

/* The only mount point that libudev supports. */
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
/* Sorts with strverscmp(): numbers in names are in numeric order. */
void names_sort(struct names *names);
void names_free(struct names *names);
/* Reads a directory, sorted; skips names that begin with ".". */
int names_read(struct names *names, const char *directory);

/*
 * Both return candidates, sorted: all PCI devices, most of which offer no types, and all mdevs,
 * including those of other drivers.
 */
int parent_names(struct names *names, struct ghyvi *ghyvi);
int vgpu_names(struct names *names, struct ghyvi *ghyvi);
/* NULL: there is no such device, or no memory. Free it with udev_device_unref(). */
struct udev_device *parent_device(struct ghyvi *ghyvi, const char *name);
struct udev_device *vgpu_device(struct ghyvi *ghyvi, const char *uuid);

/* Formats a path; the caller frees it. NULL: no memory. */
char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The part after the last "/". */
const char *last_component(const char *path);

/* Both return 0 or a negative errno. read_text() removes the newline at the end. */
int read_text(const char *path, char *value, size_t bytes);
int write_text(const char *path, const char *value);

/*
 * A directory in sysfs. Its subdirectories for which is_group() is true contain the settings, and
 * @single, if not NULL, names the only setting that is in the directory itself.
 */
struct settings {
	const char *path;
	bool (*is_group)(const char *name);
	const char *single;
};

/* Like ghyvi_vgpu_read(), ghyvi_vgpu_write() and ghyvi_vgpu_each_attribute(). */
int settings_read(const struct settings *settings, const char *attribute, char *value,
		  size_t bytes);
int settings_write(const struct settings *settings, const char *attribute, const char *value);
int settings_each(const struct settings *settings,
		  int (*each)(void *data, const char *attribute, bool writable), void *data);

#endif
