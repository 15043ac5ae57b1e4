// SPDX-License-Identifier: GPL-2.0-only
/* Reading and writing of attributes, and sorted lists of names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

char *path_of(const char *format, ...)
{
	va_list args;
	char *path;
	int ret;

	va_start(args, format);
	ret = vasprintf(&path, format, args);
	va_end(args);
	return ret < 0 ? NULL : path;
}

int read_text(const char *path, char *value, size_t bytes)
{
	size_t used = 0;
	ssize_t got;
	int fd, ret = 0;

	if (!bytes)
		return -ENOSPC;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		got = read(fd, value + used, bytes - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			ret = -errno;
		if (got <= 0)
			break;
		used += got;
		if (used == bytes) {
			ret = -ENOSPC;
			break;
		}
	}
	close(fd);
	if (ret)
		return ret;
	if (used && value[used - 1] == '\n')
		used--;
	value[used] = '\0';
	return 0;
}

int write_text(const char *path, const char *value)
{
	ssize_t done;
	char *line;
	int fd, ret = 0;

	line = path_of("%s\n", value);
	if (!line)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		goto free_line;
	}
	/* A single write(), so that the store callback of the attribute gets the whole value. */
	do
		done = write(fd, line, strlen(line));
	while (done < 0 && errno == EINTR);
	if (done < 0)
		ret = -errno;
	else if ((size_t)done != strlen(line))
		ret = -EIO;
	close(fd);
free_line:
	free(line);
	return ret;
}

const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int names_add(struct names *names, const char *name)
{
	char **bigger, *copy;

	bigger = realloc(names->at, (names->count + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	names->at = bigger;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names->at[names->count++] = copy;
	return 0;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
	if (names->count)
		qsort(names->at, names->count, sizeof(*names->at), by_version);
}

int names_read(struct names *names, const char *directory)
{
	const struct dirent *entry;
	int ret = 0;
	DIR *dir;

	*names = (struct names){};
	dir = opendir(directory);
	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			ret = names_add(names, entry->d_name);
	closedir(dir);
	if (ret)
		names_free(names);
	names_sort(names);
	return ret;
}

void names_free(struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		free(names->at[i]);
	free(names->at);
	*names = (struct names){};
}
