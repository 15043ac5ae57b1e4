// SPDX-License-Identifier: GPL-2.0-only
/* The arguments that give a QEMU command line the emulated GPU. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "transport.h"

#define ADDED_MAX 16

unsigned long emu_launch_memory_mb(char **arguments)
{
	unsigned long value = 0;
	char *end;

	for (; *arguments; arguments++) {
		if (strcmp(*arguments, "-m") || !arguments[1])
			continue;
		value = strtoul(arguments[1], &end, 10);
		if (*end == 'G')
			value <<= 10;
	}
	return value;
}

/*
 * The GPU comes first, because QEMU gives the devices without an address the slots that are free
 * at that point, and drivers look for it at 00:02.0. RAM must be a file that both processes map.
 */
char **emu_launch_arguments(char **arguments, const struct emu_launch *launch)
{
	unsigned int count = 0, i, n = 0;
	char *ram, *device, *qtest;
	char **result;

	while (arguments[count])
		count++;
	result = calloc(count + ADDED_MAX, sizeof(*result));
	if (!result ||
	    asprintf(&ram, "memory-backend-memfd,id=pgpu-ram,size=%luM,share=on",
		     emu_launch_memory_mb(arguments)) < 0 ||
	    asprintf(&device, "x-pci-proxy-dev,id=pgpu,fd=%d,addr=0x2", launch->device_fd) < 0 ||
	    asprintf(&qtest, "unix:%s", launch->qtest_path) < 0)
		return NULL;
	result[n++] = arguments[0];
	result[n++] = "-object";
	result[n++] = ram;
	result[n++] = "-machine";
	result[n++] = "memory-backend=pgpu-ram";
	result[n++] = "-device";
	result[n++] = device;
	result[n++] = "-qtest";
	result[n++] = qtest;
	result[n++] = "-qtest-log";
	result[n++] = "none";
	for (i = 1; i < count; i++)
		result[n++] = arguments[i];
	return result;
}
