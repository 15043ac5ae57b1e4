// SPDX-License-Identifier: GPL-2.0-only
/* Output files. */
#define _GNU_SOURCE
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ctl.h"

int text_file(const char *text)
{
	int fd = memfd_create("ghyvictl", 0);
	size_t bytes = strlen(text), at = 0;
	ssize_t wrote;

	while (fd >= 0 && at < bytes) {
		wrote = write(fd, text + at, bytes - at);
		if (wrote <= 0) {
			close(fd);
			return -1;
		}
		at += wrote;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* A rename would take a device, or a link such as /dev/stdout, from all other programs. */
static int may_replace(const char *file)
{
	struct stat status;

	if (lstat(file, &status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) ? 0 : -ENOTREGULAR;
}

/*
 * Ends the writing of @out, and closes it. Returns 0 or a negative errno. The stream discards what
 * it cannot write: a later fflush() and fclose() may succeed, and only ferror() is still set.
 */
static int finish_file(FILE *out)
{
	int ret = ferror(out) ? -EIO : 0;

	if (!ret && (fflush(out) || fchmod(fileno(out), 0644)))
		ret = -errno;
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

/*
 * The temporary file is in the same directory because rename() is atomic only within a file system.
 * Prometheus's collector ignores it: it reads *.prom only.
 */
int replace_file(const char *file, int (*put)(void *data, FILE *out), void *data)
{
	char *copy, *temporary;
	int fd, finished, ret = may_replace(file);
	FILE *out;

	if (ret)
		return ret;
	copy = strdup(file);
	if (!copy)
		return -ENOMEM;
	ret = asprintf(&temporary, "%s/.ghyvictl-XXXXXX", dirname(copy));
	free(copy);
	if (ret < 0)
		return -ENOMEM;
	fd = mkstemp(temporary);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		ret = -errno;
		if (fd >= 0) {
			close(fd);
			unlink(temporary);
		}
		goto free_name;
	}
	ret = put(data, out);
	finished = finish_file(out);
	ret = ret ?: finished;
	if (!ret && rename(temporary, file))
		ret = -errno;
	if (ret)
		unlink(temporary);
free_name:
	free(temporary);
	return ret;
}
