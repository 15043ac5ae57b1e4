// SPDX-License-Identifier: GPL-2.0-only
/* The arguments that give a QEMU command line the emulated GPU. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "transport.h"

#define ADDED_MAX 16
#define DEFAULT_MB 128 /* QEMU's */

/* QEMU's sizes: 4096, 4G, slots=2,size=4G. */
unsigned long emu_launch_memory_mb(char **arguments)
{
	unsigned long value = 0;
	char *size, *end;

	for (; *arguments; arguments++) {
		if (strcmp(*arguments, "-m") || !arguments[1])
			continue;
		size = strstr(arguments[1], "size=");
		value = strtoul(size ? size + strlen("size=") : arguments[1], &end, 10);
		if (toupper(*end) == 'G')
			value <<= 10;
		else if (toupper(*end) == 'T')
			value <<= 20;
	}
	return value;
}

/* Whether the user has said which file is the RAM, which must then be shared. */
static bool has_memory(char **arguments)
{
	for (; *arguments; arguments++)
		if (strstr(*arguments, "memory-backend=") || strstr(*arguments, "memdev="))
			return true;
	return false;
}

static char *device_argument(const struct emu_launch *launch)
{
	char *device;
	int length;

	if (launch->socket)
		length = asprintf(&device,
				  "{\"driver\": \"vfio-user-pci\", \"id\": \"pgpu\", "
				  "\"socket\": {\"type\": \"unix\", \"path\": \"%s\"}}",
				  launch->socket);
	else
		length = asprintf(&device, "x-pci-proxy-dev,id=pgpu,fd=%d,addr=0x2",
				  launch->device_fd);
	return length < 0 ? NULL : device;
}

/*
 * The GPU comes first, because QEMU gives the devices without an address the slots that are free
 * at that point, and drivers look for it at 00:02.0. The vfio-user device has no address, because
 * QEMU creates devices with JSON arguments last. RAM must be a file that both processes map.
 */
char **emu_launch_arguments(char **arguments, const struct emu_launch *launch)
{
	char *ram, *device = device_argument(launch), *qtest;
	unsigned int count = 0, i, n = 0;
	char **result;

	while (arguments[count])
		count++;
	result = calloc(count + ADDED_MAX, sizeof(*result));
	if (!result || !device ||
	    asprintf(&ram, "memory-backend-memfd,id=pgpu-ram,size=%luM,share=on",
		     emu_launch_memory_mb(arguments) ?: DEFAULT_MB) < 0)
		return NULL;
	result[n++] = arguments[0];
	if (!has_memory(arguments)) {
		result[n++] = "-object";
		result[n++] = ram;
		result[n++] = "-machine";
		result[n++] = "memory-backend=pgpu-ram";
	}
	result[n++] = "-device";
	result[n++] = device;
	if (!launch->socket) {
		if (asprintf(&qtest, "unix:%s", launch->qtest_path) < 0)
			return NULL;
		result[n++] = "-qtest";
		result[n++] = qtest;
		result[n++] = "-qtest-log";
		result[n++] = "none";
	}
	for (i = 1; i < count; i++)
		result[n++] = arguments[i];
	return result;
}
