// SPDX-License-Identifier: GPL-2.0-only
/* Small files and directories. */
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
	/* One write is one value; a store callback is never given half of it. */
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

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int names_read(struct names *names, const char *directory)
{
	struct dirent **entries;
	int i, count, ret = 0;

	*names = (struct names){};
	count = scandir(directory, &entries, visible, versionsort);
	if (count < 0)
		return -errno;
	names->at = calloc(count + 1, sizeof(*names->at));
	if (!names->at)
		ret = -ENOMEM;
	for (i = 0; i < count; i++) {
		if (!ret) {
			names->at[i] = strdup(entries[i]->d_name);
			if (names->at[i])
				names->count++;
			else
				ret = -ENOMEM;
		}
		free(entries[i]);
	}
	free(entries);
	if (ret)
		names_free(names);
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
