// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk, without the page cache: all operations reach the device. What the disk had is lost, so it
 * must be named, and must not be in use.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "transfer.h"

#define DISK_VARIABLE "TRANSFER_DISK"

static int disk = -1;

static int failed(const char *what)
{
	int error = errno ? errno : EIO;

	fprintf(stderr, "%s: %s\n", what, strerror(error));
	return -error;
}

static int block_open(size_t bytes)
{
	const char *path = getenv(DISK_VARIABLE);

	(void)bytes; /* a disk that is too small fails when it is written */
	if (!path) {
		fprintf(stderr, "%s must name the disk, which is overwritten\n", DISK_VARIABLE);
		return -ENODEV;
	}
	disk = open(path, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
	return disk < 0 ? failed(path) : 0;
}

/* A short transfer does not occur within a disk. */
static int block_write(const void *data, size_t bytes)
{
	errno = 0;
	return pwrite(disk, data, bytes, 0) == (ssize_t)bytes ? 0 : failed("write");
}

static int block_read(void *data, size_t bytes)
{
	errno = 0;
	return pread(disk, data, bytes, 0) == (ssize_t)bytes ? 0 : failed("read");
}

/* A command without data. */
static int block_launch(void)
{
	return fsync(disk) ? failed("flush") : 0;
}

static void block_close(void)
{
	if (disk >= 0)
		close(disk);
}

const struct transfer_backend transfer_backend = {
	.name = "block",
	.open = block_open,
	.write = block_write,
	.read = block_read,
	.launch = block_launch,
	.close = block_close,
};
