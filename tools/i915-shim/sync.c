// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences, sync_files and syncobjs. A sync_file is an eventfd that becomes readable when its fence
 * signals, so poll() works. A syncobj has one fence, or on a timeline a fence for each point.
 */
#define _GNU_SOURCE
#include <drm.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "shim.h"

pthread_mutex_t gpu_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t gpu_changed;

struct point {
	uint64_t value;
	struct fence *fence;
};

/**
 * struct syncobj - a DRM syncobj
 * @refs: handles and fds
 * @fence: the binary fence, or NULL
 * @points: those of the timeline, in ascending order; of the complete ones only the last
 * @nr_points: length of @points
 */
struct syncobj {
	unsigned int refs;
	struct fence *fence;
	struct point *points;
	unsigned int nr_points;
};

__attribute__((constructor)) static void sync_init(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&gpu_changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int gpu_wait(int64_t deadline_ns)
{
	struct timespec deadline = { .tv_sec = deadline_ns / 1000000000,
				     .tv_nsec = deadline_ns % 1000000000 };

	if (deadline_ns == INT64_MAX)
		return -pthread_cond_wait(&gpu_changed, &gpu_lock);
	if (deadline_ns <= now_ns() ||
	    pthread_cond_timedwait(&gpu_changed, &gpu_lock, &deadline) == ETIMEDOUT)
		return -ETIME;
	return 0;
}

/* ---- fences ---- */

struct fence *fence_create(bool done)
{
	struct fence *fence = calloc(1, sizeof(*fence));

	if (fence) {
		fence->refs = 1;
		fence->done = done;
	}
	return fence;
}

struct fence *fence_get(struct fence *fence)
{
	fence->refs++;
	return fence;
}

void fence_put(struct fence *fence)
{
	if (!fence || --fence->refs)
		return;
	for (unsigned int i = 0; i < fence->nr_wake; i++)
		close(fence->wake[i]);
	free(fence->wake);
	free(fence);
}

static void wake_fd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		shim_error("cannot signal a sync_file: %s", strerror(errno));
}

void fence_signal(struct fence *fence, int error)
{
	fence->error = error;
	fence->done = true;
	for (unsigned int i = 0; i < fence->nr_wake; i++)
		wake_fd(fence->wake[i]);
	pthread_cond_broadcast(&gpu_changed);
}

int fence_fd(struct fence *fence)
{
	int fd = eventfd(0, EFD_CLOEXEC), copy;
	int *wake;

	if (fd < 0)
		return -errno;
	if (fence->done) {
		wake_fd(fd);
	} else {
		copy = dup(fd);
		wake = reallocarray(fence->wake, fence->nr_wake + 1, sizeof(*wake));
		if (!wake || copy < 0) {
			close(fd);
			return -ENOMEM;
		}
		wake[fence->nr_wake++] = copy;
		fence->wake = wake;
	}
	fd_note(fd, FD_FENCE, fence_get(fence));
	return fd;
}

/* ---- syncobjs ---- */

static void drop_points(struct syncobj *syncobj, unsigned int count)
{
	if (!count)
		return;
	for (unsigned int i = 0; i < count; i++)
		fence_put(syncobj->points[i].fence);
	syncobj->nr_points -= count;
	memmove(syncobj->points, syncobj->points + count,
		syncobj->nr_points * sizeof(*syncobj->points));
}

static void syncobj_clear(struct syncobj *syncobj)
{
	fence_put(syncobj->fence);
	syncobj->fence = NULL;
	drop_points(syncobj, syncobj->nr_points);
}

void syncobj_get(struct syncobj *syncobj)
{
	syncobj->refs++;
}

void syncobj_put(struct syncobj *syncobj)
{
	if (--syncobj->refs)
		return;
	syncobj_clear(syncobj);
	free(syncobj->points);
	free(syncobj);
}

/* Points complete in order. */
static void retire_points(struct syncobj *syncobj)
{
	unsigned int done = 0;

	while (done < syncobj->nr_points && syncobj->points[done].fence->done)
		done++;
	if (done > 1)
		drop_points(syncobj, done - 1);
}

struct fence *syncobj_fence(const struct syncobj *syncobj, uint64_t point)
{
	if (!point)
		return syncobj->fence;
	for (unsigned int i = 0; i < syncobj->nr_points; i++)
		if (syncobj->points[i].value >= point)
			return syncobj->points[i].fence;
	return NULL;
}

int syncobj_set(struct syncobj *syncobj, uint64_t point, struct fence *fence)
{
	struct point *points;

	pthread_cond_broadcast(&gpu_changed);
	if (!point) {
		if (fence)
			fence_get(fence);
		syncobj_clear(syncobj);
		syncobj->fence = fence;
		return 0;
	}
	retire_points(syncobj);
	if (syncobj->nr_points && syncobj->points[syncobj->nr_points - 1].value >= point)
		return -EINVAL;
	points = reallocarray(syncobj->points, syncobj->nr_points + 1, sizeof(*points));
	if (!points)
		return -ENOMEM;
	syncobj->points = points;
	points[syncobj->nr_points++] = (struct point){ .value = point, .fence = fence_get(fence) };
	return 0;
}

static int syncobj_create(struct file *file, struct drm_syncobj_create *create)
{
	struct syncobj *syncobj = calloc(1, sizeof(*syncobj));
	int id;

	if (!syncobj)
		return -ENOMEM;
	syncobj->refs = 1;
	if (create->flags & DRM_SYNCOBJ_CREATE_SIGNALED)
		syncobj->fence = fence_create(true);
	id = table_add(&file->syncobjs, syncobj);
	if (id < 0) {
		syncobj_put(syncobj);
		return id;
	}
	create->handle = id;
	return 0;
}

static int syncobj_signal(struct syncobj *syncobj, uint64_t point)
{
	struct fence *fence = fence_create(true);
	int err = fence ? syncobj_set(syncobj, point, fence) : -ENOMEM;

	fence_put(fence);
	return err;
}

/* Apply @call to each syncobj of an array of handles. */
static int for_each_syncobj(struct file *file, uint64_t handles, uint64_t points, uint32_t count,
			    int (*call)(struct syncobj *syncobj, uint64_t point))
{
	const uint32_t *handle = (void *)(uintptr_t)handles;
	const uint64_t *point = (void *)(uintptr_t)points;
	struct syncobj *syncobj;
	int err = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!table_get(&file->syncobjs, handle[i]))
			return -ENOENT;
	for (uint32_t i = 0; i < count && !err; i++) {
		syncobj = table_get(&file->syncobjs, handle[i]);
		err = call(syncobj, point ? point[i] : 0);
	}
	return err;
}

static int syncobj_reset(struct syncobj *syncobj, uint64_t point)
{
	(void)point;
	syncobj_clear(syncobj);
	return 0;
}

/* Returns the number of syncobjs that wait no longer, or an error if one has no fence yet. */
static int count_signalled(struct file *file, const uint32_t *handles, const uint64_t *points,
			   uint32_t count, uint32_t flags, uint32_t *first)
{
	const struct syncobj *syncobj;
	const struct fence *fence;
	int signalled = 0;

	for (uint32_t i = 0; i < count; i++) {
		syncobj = table_get(&file->syncobjs, handles[i]);
		if (!syncobj)
			return -ENOENT;
		fence = syncobj_fence(syncobj, points ? points[i] : 0);
		if (!fence && !(flags & (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
					 DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE)))
			return -EINVAL;
		if (fence && (fence->done || flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE)) {
			if (!signalled)
				*first = i;
			signalled++;
		}
	}
	return signalled;
}

static int syncobj_wait(struct file *file, uint64_t handles, uint64_t points, uint32_t count,
			uint32_t flags, int64_t deadline_ns, uint32_t *first)
{
	bool all = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	int signalled, err;

	for (;;) {
		signalled = count_signalled(file, (void *)(uintptr_t)handles,
					    (void *)(uintptr_t)points, count, flags, first);
		if (signalled < 0)
			return signalled;
		if (all ? signalled == (int)count : signalled)
			return 0;
		err = gpu_wait(deadline_ns);
		if (err)
			return err;
	}
}

static int syncobj_query(struct file *file, const struct drm_syncobj_timeline_array *query)
{
	const uint32_t *handles = (void *)(uintptr_t)query->handles;
	uint64_t *points = (void *)(uintptr_t)query->points;

	for (uint32_t i = 0; i < query->count_handles; i++) {
		struct syncobj *syncobj = table_get(&file->syncobjs, handles[i]);

		if (!syncobj)
			return -ENOENT;
		retire_points(syncobj);
		points[i] = 0;
		if (!syncobj->nr_points)
			continue;
		if (query->flags & DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED)
			points[i] = syncobj->points[syncobj->nr_points - 1].value;
		else if (syncobj->points[0].fence->done)
			points[i] = syncobj->points[0].value;
	}
	return 0;
}

static int syncobj_transfer(struct file *file, const struct drm_syncobj_transfer *transfer)
{
	struct syncobj *from = table_get(&file->syncobjs, transfer->src_handle);
	struct syncobj *to = table_get(&file->syncobjs, transfer->dst_handle);
	struct fence *fence;

	if (!from || !to)
		return -ENOENT;
	fence = syncobj_fence(from, transfer->src_point);
	return fence ? syncobj_set(to, transfer->dst_point, fence) : -EINVAL;
}

static int syncobj_export(struct file *file, struct drm_syncobj_handle *args)
{
	struct syncobj *syncobj = table_get(&file->syncobjs, args->handle);
	int fd;

	if (!syncobj)
		return -EINVAL;
	if (args->flags & DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE) {
		if (!syncobj->fence)
			return -EINVAL;
		fd = fence_fd(syncobj->fence);
	} else {
		fd = eventfd(0, EFD_CLOEXEC);
		if (fd >= 0) {
			syncobj->refs++;
			fd_note(fd, FD_SYNCOBJ, syncobj);
		}
	}
	args->fd = fd;
	return fd < 0 ? fd : 0;
}

static int syncobj_import(struct file *file, struct drm_syncobj_handle *args)
{
	struct syncobj *syncobj;
	void *what;
	int id;

	if (args->flags & DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE) {
		syncobj = table_get(&file->syncobjs, args->handle);
		if (!syncobj || fd_find(args->fd, &what) != FD_FENCE)
			return -EINVAL;
		return syncobj_set(syncobj, 0, what);
	}
	if (fd_find(args->fd, &what) != FD_SYNCOBJ)
		return -EINVAL;
	id = table_add(&file->syncobjs, what);
	if (id < 0)
		return id;
	((struct syncobj *)what)->refs++;
	args->handle = id;
	return 0;
}

int syncobjs_ioctl(struct file *file, unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_SYNCOBJ_CREATE:
		return syncobj_create(file, arg);
	case DRM_IOCTL_SYNCOBJ_DESTROY: {
		struct drm_syncobj_destroy *args = arg;
		struct syncobj *syncobj = table_remove(&file->syncobjs, args->handle);

		if (!syncobj)
			return -EINVAL;
		syncobj_put(syncobj);
		return 0;
	}
	case DRM_IOCTL_SYNCOBJ_WAIT: {
		struct drm_syncobj_wait *args = arg;

		return syncobj_wait(file, args->handles, 0, args->count_handles, args->flags,
				    args->timeout_nsec, &args->first_signaled);
	}
	case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT: {
		struct drm_syncobj_timeline_wait *args = arg;

		return syncobj_wait(file, args->handles, args->points, args->count_handles,
				    args->flags, args->timeout_nsec, &args->first_signaled);
	}
	case DRM_IOCTL_SYNCOBJ_RESET: {
		struct drm_syncobj_array *args = arg;

		return for_each_syncobj(file, args->handles, 0, args->count_handles, syncobj_reset);
	}
	case DRM_IOCTL_SYNCOBJ_SIGNAL: {
		struct drm_syncobj_array *args = arg;

		return for_each_syncobj(file, args->handles, 0, args->count_handles,
					syncobj_signal);
	}
	case DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL: {
		struct drm_syncobj_timeline_array *args = arg;

		return for_each_syncobj(file, args->handles, args->points, args->count_handles,
					syncobj_signal);
	}
	case DRM_IOCTL_SYNCOBJ_QUERY:
		return syncobj_query(file, arg);
	case DRM_IOCTL_SYNCOBJ_TRANSFER:
		return syncobj_transfer(file, arg);
	case DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD:
		return syncobj_export(file, arg);
	case DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE:
		return syncobj_import(file, arg);
	}
	return -ENOTTY;
}
