// SPDX-License-Identifier: GPL-2.0-only
/*
 * File descriptors that the library made, and the dispatch of ioctls. A fd is an ordinary one of an
 * empty file or an eventfd, so that its number is free for nothing else; what it stands for is in a
 * table.
 */
#define _GNU_SOURCE
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "shim.h"

#define FDS_MAX 65536

static struct {
	_Atomic(int) kind; /* enum fd_kind */
	void *what;
} fds[FDS_MAX];

enum fd_kind fd_find(int fd, void **what)
{
	enum fd_kind kind;

	if (fd < 0 || fd >= FDS_MAX)
		return FD_NONE;
	kind = fds[fd].kind;
	if (kind)
		*what = fds[fd].what;
	return kind;
}

void fd_note(int fd, enum fd_kind kind, void *what)
{
	if (fd >= FDS_MAX) {
		shim_error("fd %d is too high to be followed", fd);
		return;
	}
	fds[fd].what = what;
	fds[fd].kind = kind;
}

static void file_put(struct file *file)
{
	if (--file->refs)
		return;
	for (unsigned int i = 0; i < file->contexts.size; i++)
		if (file->contexts.slots[i])
			context_put(file->contexts.slots[i]);
	for (unsigned int i = 0; i < file->vms.size; i++)
		if (file->vms.slots[i])
			vm_put(file->vms.slots[i]);
	for (unsigned int i = 0; i < file->objects.size; i++)
		if (file->objects.slots[i])
			object_put(file->objects.slots[i]);
	for (unsigned int i = 0; i < file->syncobjs.size; i++)
		if (file->syncobjs.slots[i])
			syncobj_put(file->syncobjs.slots[i]);
	free(file->contexts.slots);
	free(file->vms.slots);
	free(file->objects.slots);
	free(file->syncobjs.slots);
	free(file);
}

static void what_get(enum fd_kind kind, void *what)
{
	switch (kind) {
	case FD_DRM:
		((struct file *)what)->refs++;
		break;
	case FD_BUFFER:
		object_get(what);
		break;
	case FD_FENCE:
		fence_get(what);
		break;
	case FD_SYNCOBJ:
		syncobj_get(what);
		break;
	case FD_NONE:
		break;
	}
}

static void what_put(enum fd_kind kind, void *what)
{
	switch (kind) {
	case FD_DRM:
		file_put(what);
		break;
	case FD_BUFFER:
		object_put(what);
		break;
	case FD_FENCE:
		fence_put(what);
		break;
	case FD_SYNCOBJ:
		syncobj_put(what);
		break;
	case FD_NONE:
		break;
	}
}

void fd_copy(int from, int to)
{
	enum fd_kind kind;
	void *what;

	fd_forget(to);
	kind = fd_find(from, &what);
	if (!kind)
		return;
	pthread_mutex_lock(&gpu_lock);
	what_get(kind, what);
	pthread_mutex_unlock(&gpu_lock);
	fd_note(to, kind, what);
}

void fd_forget(int fd)
{
	enum fd_kind kind;
	void *what;

	kind = fd_find(fd, &what);
	if (!kind)
		return;
	fds[fd].kind = FD_NONE;
	pthread_mutex_lock(&gpu_lock);
	what_put(kind, what);
	pthread_mutex_unlock(&gpu_lock);
}

int file_open(unsigned int minor, int flags)
{
	struct file *file = calloc(1, sizeof(*file));
	int fd, err;

	if (!file) {
		errno = ENOMEM;
		return -1;
	}
	file->refs = 1;
	file->minor = minor;
	pthread_mutex_lock(&gpu_lock);
	err = context_create_default(file);
	pthread_mutex_unlock(&gpu_lock);
	fd = err ? -1 : memfd_create("drm", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (fd < 0) {
		pthread_mutex_lock(&gpu_lock);
		file_put(file);
		pthread_mutex_unlock(&gpu_lock);
		errno = EMFILE;
		return -1;
	}
	fd_note(fd, FD_DRM, file);
	return fd;
}

/* ---- ioctls ---- */

static int dispatch(struct file *file, unsigned long request, void *arg)
{
	int err;

	/* Mesa has a name for the number that execbuffer had before it returned fences. */
	if (request == DRM_IOCTL_I915_GEM_EXECBUFFER2 ||
	    request == DRM_IOCTL_I915_GEM_EXECBUFFER2_WR)
		return exec_ioctl(file, arg);
	if (request == DRM_IOCTL_I915_GEM_VM_CREATE || request == DRM_IOCTL_I915_GEM_VM_DESTROY)
		return vms_ioctl(file, request, arg);
	err = query_ioctl(request, arg);
	if (err == -ENOTTY)
		err = contexts_ioctl(file, request, arg);
	if (err == -ENOTTY)
		err = syncobjs_ioctl(file, request, arg);
	if (err == -ENOTTY)
		err = objects_ioctl(file, request, arg);
	return err;
}

int file_ioctl(struct file *file, unsigned long request, void *arg)
{
	int err;

	pthread_mutex_lock(&gpu_lock);
	err = dispatch(file, request, arg);
	if (err == -ENOTTY) {
		counts.unknown_ioctls++;
		shim_error("ioctl %#lx (DRM number %#lx, %lu bytes) is not supported", request,
			   (unsigned long)_IOC_NR(request), (unsigned long)_IOC_SIZE(request));
		err = -EINVAL;
	}
	if (shim_settings()->log_ioctls)
		log_line("ioctl %#lx: %d", (unsigned long)_IOC_NR(request), err);
	pthread_mutex_unlock(&gpu_lock);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
