// SPDX-License-Identifier: GPL-2.0-only
/*
 * Redirection of paths: those of DRM nodes and of their sysfs lead to a tree of ordinary files and
 * links, which make-root makes beside the library. Programs list it with readdir() as they are used
 * to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include "shim.h"

static const char *const redirected[] = {
	"/dev/dri",
	"/sys/dev/char/226:",
	"/sys/class/drm",
	"/sys/bus/pci/devices",
	"/sys/devices/pci0000:00/0000:00:02.0",
	"/sys/kernel/debug/dri",
};

static char root[PATH_MAX];
static size_t root_bytes;

/* DIR/libghyvi-i915.so has DIR/i915-root. */
static void find_root(void)
{
	Dl_info info;
	char *slash;

	if (!dladdr(find_root, &info) || strlen(info.dli_fname) >= sizeof(root) - 16)
		return;
	strcpy(root, info.dli_fname);
	slash = strrchr(root, '/');
	strcpy(slash ? slash + 1 : root, "i915-root");
	root_bytes = strlen(root);
}

const char *path_redirect(const char *path, char *buffer)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t bytes;

	if (!path || path[0] != '/' || (path[1] != 'd' && path[1] != 's'))
		return path;
	for (size_t i = 0; i < ARRAY_LENGTH(redirected); i++) {
		bytes = strlen(redirected[i]);
		if (strncmp(path, redirected[i], bytes) ||
		    (redirected[i][bytes - 1] != ':' && path[bytes] && path[bytes] != '/'))
			continue;
		pthread_once(&once, find_root);
		bytes = strlen(path);
		if (root_bytes + bytes >= PATH_MAX)
			return path;
		memcpy(buffer, root, root_bytes);
		memcpy(buffer + root_bytes, path, bytes + 1);
		return buffer;
	}
	return path;
}

const char *path_without_root(const char *path)
{
	if (!root_bytes || strncmp(path, root, root_bytes) || path[root_bytes] != '/')
		return path;
	return path + root_bytes;
}

int path_minor(const char *path)
{
	static const struct {
		const char *path;
		int minor;
	} nodes[] = {
		{ "/dev/dri/renderD128", RENDER_MINOR },
		{ "/dev/dri/by-path/pci-0000:00:02.0-render", RENDER_MINOR },
		{ "/dev/dri/card0", CARD_MINOR },
		{ "/dev/dri/by-path/pci-0000:00:02.0-card", CARD_MINOR },
	};

	path = path_without_root(path);
	for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++)
		if (!strcmp(path, nodes[i].path))
			return nodes[i].minor;
	return -1;
}
