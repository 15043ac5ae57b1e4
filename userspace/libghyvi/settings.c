// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of a sysfs directory, and which of them are settings. The library has no list of
 * settings: it uses the files that the kernel provides.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "internal.h"

/* Accepts "word" and "word/word", so that a path cannot leave the directory. */
static bool is_attribute(const char *text)
{
	const char *slash = strchr(text, '/');

	if (!*text || *text == '/' || strlen(text) > NAME_MAX)
		return false;
	if (slash && (!slash[1] || strchr(slash + 1, '/')))
		return false;
	return !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_/")];
}

/* Converts the error of a file access: -ENODEV if the whole directory has disappeared. */
static int explain(const struct settings *settings, int error)
{
	if ((error == -ENOENT || error == -ENOTDIR) && access(settings->path, F_OK))
		return -ENODEV;
	return error == -ENOTDIR || error == -EISDIR ? -ENOENT : error;
}

int settings_read(const struct settings *settings, const char *attribute, char *value, size_t bytes)
{
	char *path;
	int ret;

	if (!is_attribute(attribute))
		return -EINVAL;
	path = path_of("%s/%s", settings->path, attribute);
	if (!path)
		return -ENOMEM;
	ret = explain(settings, read_text(path, value, bytes));
	free(path);
	return ret;
}

static bool is_writable(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && (status.st_mode & 0222);
}

/* Links, such as to the type and to the driver, are not groups. */
static bool has_group(const struct settings *settings, const char *name)
{
	struct stat status;
	bool found;
	char *path;

	if (!settings->is_group(name))
		return false;
	path = path_of("%s/%s", settings->path, name);
	found = path && !lstat(path, &status) && S_ISDIR(status.st_mode);
	free(path);
	return found;
}

static bool is_single(const struct settings *settings, const char *name)
{
	return settings->single && !strcmp(name, settings->single);
}

static bool is_setting(const struct settings *settings, const char *attribute)
{
	char group[NAME_MAX + 1];

	if (!strchr(attribute, '/'))
		return is_single(settings, attribute);
	snprintf(group, sizeof(group), "%s", attribute);
	group[strcspn(group, "/")] = '\0';
	return has_group(settings, group);
}

int settings_write(const struct settings *settings, const char *attribute, const char *value)
{
	struct stat status;
	char *path;
	int ret;

	if (!is_attribute(attribute))
		return -EINVAL;
	if (strlen(value) >= GHYVI_VALUE_BYTES - 1)
		return -E2BIG;
	path = path_of("%s/%s", settings->path, attribute);
	if (!path)
		return -ENOMEM;
	ret = 0;
	if (stat(path, &status))
		ret = explain(settings, -errno);
	else if (S_ISDIR(status.st_mode))
		ret = -ENOENT;
	else if (!is_setting(settings, attribute) || !is_writable(path))
		ret = -EROFS;
	if (!ret)
		ret = explain(settings, write_text(path, value));
	free(path);
	return ret;
}

/* Content that is no line of text, which programs read and write as a file. */
static bool is_binary(const char *attribute)
{
	return !strcmp(attribute, "display/edid");
}

static int each_in_group(const char *path, const char *group,
			 int (*each)(void *, const char *, bool), void *data)
{
	struct names files = {};
	size_t i;
	int ret;

	ret = names_read(&files, path);
	for (i = 0; !ret && i < files.count; i++) {
		char *file = path_of("%s/%s", path, files.at[i]);
		char *name = path_of("%s/%s", group, files.at[i]);

		if (!file || !name)
			ret = -ENOMEM;
		else if (!is_binary(name))
			ret = each(data, name, is_writable(file));
		free(file);
		free(name);
	}
	names_free(&files);
	return ret;
}

/* Returns -ENODEV if a group or setting that was there before has disappeared. */
static int check_present(const struct settings *settings, const struct names *entries)
{
	struct stat status;
	int ret = 0;
	char *path;
	size_t i;

	for (i = 0; !ret && i < entries->count; i++) {
		if (!is_single(settings, entries->at[i]) && !settings->is_group(entries->at[i]))
			continue;
		path = path_of("%s/%s", settings->path, entries->at[i]);
		if (!path)
			ret = -ENOMEM;
		else if (lstat(path, &status))
			ret = -ENODEV;
		free(path);
	}
	return ret;
}

int settings_each(const struct settings *settings,
		  int (*each)(void *data, const char *attribute, bool writable), void *data)
{
	struct names entries = {};
	size_t i;
	int ret;

	ret = explain(settings, names_read(&entries, settings->path));
	for (i = 0; !ret && i < entries.count; i++) {
		char *path;

		if (!is_single(settings, entries.at[i]) && !has_group(settings, entries.at[i]))
			continue;
		path = path_of("%s/%s", settings->path, entries.at[i]);
		if (!path)
			ret = -ENOMEM;
		else if (is_single(settings, entries.at[i]))
			ret = each(data, entries.at[i], is_writable(path));
		else
			ret = each_in_group(path, entries.at[i], each, data);
		free(path);
	}
	/* What disappeared during the iteration was skipped, or failed with -ENOENT. */
	if (!ret || ret == -ENOENT)
		ret = check_present(settings, &entries) ?: ret;
	names_free(&entries);
	return ret;
}
