// SPDX-License-Identifier: GPL-2.0-only
/*
 * No device: the copies of the CPU. They are what the software GPU can reach at best.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "transfer.h"

static uint8_t *buffers[2];

static int memory_open(size_t bytes)
{
	for (int i = 0; i < 2; i++) {
		buffers[i] = malloc(bytes);
		if (!buffers[i])
			return -ENOMEM;
		memset(buffers[i], 0, bytes);
	}
	return 0;
}

static int memory_write(const void *data, size_t bytes)
{
	memcpy(buffers[0], data, bytes);
	return 0;
}

static int memory_read(void *data, size_t bytes)
{
	memcpy(data, buffers[1], bytes);
	return 0;
}

static int memory_copy(size_t bytes)
{
	memcpy(buffers[1], buffers[0], bytes);
	return 0;
}

static int memory_fill(uint8_t value, size_t bytes)
{
	memset(buffers[1], value, bytes);
	return 0;
}

static void memory_close(void)
{
	free(buffers[0]);
	free(buffers[1]);
}

const struct transfer_backend transfer_backend = {
	.name = "memory",
	.open = memory_open,
	.write = memory_write,
	.read = memory_read,
	.copy = memory_copy,
	.fill = memory_fill,
	.close = memory_close,
};
