// SPDX-License-Identifier: GPL-2.0-only
/*
 * headless - preloaded to Xorg: says that the GPU has a display without outputs. i915 offers no
 * mode setting on a vGPU, and xf86-video-intel refuses a GPU without. It needs none for a virtual
 * head.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <drm.h>

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int fd, unsigned long request, void *argument);
	struct drm_mode_card_res *resources;
	va_list arguments;
	int result;

	va_start(arguments, request);
	resources = va_arg(arguments, void *);
	va_end(arguments);
	if (!real)
		real = dlsym(RTLD_NEXT, "ioctl");
	result = real(fd, request, resources);
	if (result < 0 && errno == EOPNOTSUPP && request == DRM_IOCTL_MODE_GETRESOURCES) {
		memset(resources, 0, sizeof(*resources));
		resources->max_width = resources->max_height = 8192;
		result = 0;
	}
	return result;
}
