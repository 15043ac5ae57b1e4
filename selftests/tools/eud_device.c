// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded to ghyvi-eud: a device with one vGPU, which has no dispatch. Instead of asking for one,
 * the process of the vGPU maps 1 GiB if HOSTILE_MAP is set: "FLAGS FILE", with a FILE of 1 for the
 * device.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCEPT 0xe0 /* number of GHYVI_EU_ACCEPT */

static void map_as_asked(int file)
{
	const char *asked = getenv("HOSTILE_MAP");
	int flags, of_device;

	if (asked && sscanf(asked, "%i %i", &flags, &of_device) == 2)
		mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE,
		     of_device ? file : -1, 0);
}

int ioctl(int file, unsigned long command, ...)
{
	static int accepted;
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if ((command & 0xff) != ACCEPT) {
		map_as_asked(file);
		return syscall(SYS_ioctl, file, command, argument);
	}
	if (accepted++) {
		wait(NULL); /* until the process of the first vGPU has ended */
		_exit(0);
	}
	strcpy(argument, "the first vGPU");
	return 0;
}
