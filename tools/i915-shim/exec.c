// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission. A request waits for its fences in the thread of its timeline, then runs. Requests of
 * different timelines run at the same time. Where they share an object, they are ordered as in
 * i915: a writer waits for all earlier uses, a reader for earlier writers.
 */
#define _GNU_SOURCE
#include <drm.h>
#include <errno.h>
#include <i915_drm.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "shim.h"

#define ADDRESS_MASK ((1ull << 48) - 1)
#define SUPPORTED_FLAGS                                                                         \
	(I915_EXEC_RING_MASK | I915_EXEC_CONSTANTS_MASK | I915_EXEC_NO_RELOC |                  \
	 I915_EXEC_HANDLE_LUT | I915_EXEC_BSD_MASK | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT | \
	 I915_EXEC_BATCH_FIRST | I915_EXEC_FENCE_ARRAY | I915_EXEC_FENCE_SUBMIT |               \
	 I915_EXEC_USE_EXTENSIONS)

struct request {
	struct request *next;
	struct context *context;
	struct fence *fence;
	uint64_t batch;
	struct fence **waits;
	unsigned int nr_waits;
	struct object **objects;
	unsigned int nr_objects;
};

struct timeline {
	struct cs *cs;
	struct vm *vm;
	enum cs_engine engine;
	struct request *first;
	struct request **last;
	bool closing;
};

/* ---- timelines ---- */

static void request_free(struct request *request)
{
	unsigned int i;

	for (i = 0; i < request->nr_waits; i++)
		fence_put(request->waits[i]);
	for (i = 0; i < request->nr_objects; i++)
		object_put(request->objects[i]);
	if (request->context)
		context_put(request->context);
	fence_put(request->fence);
	free(request->waits);
	free(request->objects);
	free(request);
}

static void wait_for_fences(struct request *request)
{
	for (unsigned int i = 0; i < request->nr_waits; i++)
		while (!request->waits[i]->done)
			gpu_wait(INT64_MAX);
}

/* Caller holds gpu_lock, which is released while the batch runs. */
static void run_request(struct timeline *timeline, struct request *request)
{
	char error[CS_ERROR_BYTES] = "";
	int err;

	wait_for_fences(request);
	if (request->context->lost) {
		request->context->pending++;
		fence_signal(request->fence, -EIO);
		return;
	}
	pthread_mutex_unlock(&gpu_lock);
	err = cs_run(timeline->cs, request->batch, error);
	counts.batches++;
	counts.failed += !!err;
	if (err)
		shim_error("a batch failed: %s", error);
	pthread_mutex_lock(&gpu_lock);
	if (err)
		context_failed(request->context);
	fence_signal(request->fence, err);
}

static void *timeline_thread(void *argument)
{
	struct timeline *timeline = argument;
	struct request *request;

	pthread_mutex_lock(&gpu_lock);
	for (;;) {
		request = timeline->first;
		if (!request && timeline->closing)
			break;
		if (!request) {
			gpu_wait(INT64_MAX);
			continue;
		}
		timeline->first = request->next;
		if (!timeline->first)
			timeline->last = &timeline->first;
		run_request(timeline, request);
		request_free(request);
	}
	vm_put(timeline->vm);
	pthread_mutex_unlock(&gpu_lock);
	cs_destroy(timeline->cs);
	free(timeline);
	return NULL;
}

/* Signals of the process are handled by its own threads. */
static int start_thread(struct timeline *timeline)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, timeline_thread, timeline);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -err;
}

static struct timeline *timeline_create(struct context *context, enum cs_engine engine)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->engine = engine;
	timeline->last = &timeline->first;
	timeline->vm = context->vm;
	timeline->cs = cs_create(engine, context->vm);
	if (!timeline->cs || start_thread(timeline)) {
		if (timeline->cs)
			cs_destroy(timeline->cs);
		free(timeline);
		return NULL;
	}
	vm_get(context->vm);
	return timeline;
}

void timeline_destroy(struct timeline *timeline)
{
	timeline->closing = true;
	pthread_cond_broadcast(&gpu_changed);
}

static void timeline_queue(struct timeline *timeline, struct request *request)
{
	*timeline->last = request;
	timeline->last = &request->next;
	pthread_cond_broadcast(&gpu_changed);
}

/* The index of the timeline; all legacy indices of the render engine are one. */
static int find_timeline(struct context *context, uint64_t flags, struct timeline **timeline)
{
	unsigned int index = flags & I915_EXEC_RING_MASK;

	if (index >= context->nr_engines || context->engines[index] < 0)
		return -EINVAL;
	if (context->legacy && index == I915_EXEC_DEFAULT)
		index = I915_EXEC_RENDER;
	if (!context->timelines[index])
		context->timelines[index] = timeline_create(context, context->engines[index]);
	*timeline = context->timelines[index];
	return *timeline ? 0 : -ENOMEM;
}

/* ---- objects ---- */

static uint64_t canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16);
}

static int take_objects(struct file *file, struct request *request,
			const struct drm_i915_gem_exec_object2 *list, unsigned int count)
{
	struct object *object;

	request->objects = calloc(count, sizeof(*request->objects));
	if (!request->objects)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		object = table_get(&file->objects, list[i].handle);
		if (!object)
			return -ENOENT;
		object_get(object);
		request->objects[request->nr_objects++] = object;
	}
	return 0;
}

static int bind_objects(struct request *request, struct drm_i915_gem_exec_object2 *list,
			bool pinned)
{
	uint64_t address;
	int err;

	for (unsigned int i = 0; i < request->nr_objects; i++) {
		if (!!(list[i].flags & EXEC_OBJECT_PINNED) != pinned)
			continue;
		address = list[i].offset & ADDRESS_MASK;
		err = vm_bind(request->context->vm, request->objects[i], !pinned,
			      !(list[i].flags & EXEC_OBJECT_SUPPORTS_48B_ADDRESS), &address);
		if (err)
			return err;
		list[i].offset = canonical(address);
	}
	return 0;
}

static int relocate(struct request *request, const struct drm_i915_gem_exec_object2 *list,
		    unsigned int index, bool by_index, struct drm_i915_gem_relocation_entry *entry)
{
	struct object *object = request->objects[index];
	unsigned int target = entry->target_handle;
	uint64_t value;
	int err;

	if (!by_index)
		for (target = 0; target < request->nr_objects; target++)
			if (list[target].handle == entry->target_handle)
				break;
	if (target >= request->nr_objects)
		return -ENOENT;
	if (entry->offset % 4 || entry->offset > object->bytes - sizeof(value))
		return -EINVAL;
	if (entry->presumed_offset == list[target].offset)
		return 0;
	err = object_wait(object, false, INT64_MAX);
	if (err)
		return err;
	value = canonical(list[target].offset + entry->delta);
	memcpy(object->memory + entry->offset, &value, sizeof(value));
	entry->presumed_offset = list[target].offset;
	return 0;
}

static int relocate_all(struct request *request, const struct drm_i915_gem_exec_object2 *list,
			uint64_t flags)
{
	struct drm_i915_gem_relocation_entry *entries;
	int err;

	for (unsigned int i = 0; i < request->nr_objects; i++) {
		entries = (void *)(uintptr_t)list[i].relocs_ptr;
		for (unsigned int j = 0; j < list[i].relocation_count; j++) {
			err = relocate(request, list, i, flags & I915_EXEC_HANDLE_LUT, &entries[j]);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- fences ---- */

static int add_wait(struct request *request, struct fence *fence)
{
	struct fence **waits;

	if (fence->done)
		return 0;
	waits = reallocarray(request->waits, request->nr_waits + 1, sizeof(*waits));
	if (!waits)
		return -ENOMEM;
	request->waits = waits;
	waits[request->nr_waits++] = fence_get(fence);
	return 0;
}

static int wait_for_objects(struct request *request, const struct drm_i915_gem_exec_object2 *list)
{
	int err = 0;

	for (unsigned int i = 0; i < request->nr_objects && !err; i++) {
		const struct object *object = request->objects[i];

		if (list[i].flags & EXEC_OBJECT_ASYNC)
			continue;
		for (unsigned int j = 0; j < object->nr_uses && !err; j++)
			if (list[i].flags & EXEC_OBJECT_WRITE || object->uses[j].write)
				err = add_wait(request, object->uses[j].fence);
	}
	return err;
}

struct fence_list {
	const struct drm_i915_gem_exec_fence *fences;
	const uint64_t *points; /* NULL: binary */
	uint64_t count;
};

static int find_fences(const struct drm_i915_gem_execbuffer2 *args, struct fence_list *list)
{
	const struct drm_i915_gem_execbuffer_ext_timeline_fences *timeline;
	const struct i915_user_extension *extension;

	*list = (struct fence_list){};
	if (args->flags & I915_EXEC_FENCE_ARRAY) {
		list->fences = (void *)(uintptr_t)args->cliprects_ptr;
		list->count = args->num_cliprects;
		return 0;
	}
	if (!(args->flags & I915_EXEC_USE_EXTENSIONS))
		return 0;
	for (extension = (void *)(uintptr_t)args->cliprects_ptr; extension;
	     extension = (void *)(uintptr_t)extension->next_extension) {
		if (extension->name != DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES)
			return -EINVAL;
		timeline = (const void *)extension;
		list->fences = (void *)(uintptr_t)timeline->handles_ptr;
		list->points = (void *)(uintptr_t)timeline->values_ptr;
		list->count = timeline->fence_count;
	}
	return 0;
}

static int wait_for_syncobjs(struct file *file, struct request *request,
			     const struct fence_list *list)
{
	struct fence *fence;
	int err = 0;

	for (uint64_t i = 0; i < list->count && !err; i++) {
		const struct syncobj *syncobj = table_get(&file->syncobjs, list->fences[i].handle);

		if (!syncobj)
			return -ENOENT;
		if (!(list->fences[i].flags & I915_EXEC_FENCE_WAIT))
			continue;
		fence = syncobj_fence(syncobj, list->points ? list->points[i] : 0);
		err = fence ? add_wait(request, fence) : -EINVAL;
	}
	return err;
}

static int signal_syncobjs(struct file *file, struct request *request,
			   const struct fence_list *list)
{
	int err = 0;

	for (uint64_t i = 0; i < list->count && !err; i++)
		if (list->fences[i].flags & I915_EXEC_FENCE_SIGNAL)
			err = syncobj_set(table_get(&file->syncobjs, list->fences[i].handle),
					  list->points ? list->points[i] : 0, request->fence);
	return err;
}

static int wait_for_file(struct request *request, const struct drm_i915_gem_execbuffer2 *args)
{
	void *fence;

	if (!(args->flags & (I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT)))
		return 0;
	if (fd_find((int)args->rsvd2, &fence) != FD_FENCE)
		return -EINVAL;
	return add_wait(request, fence);
}

/* ---- the ioctl ---- */

static int prepare(struct file *file, struct request *request,
		   const struct drm_i915_gem_execbuffer2 *args, const struct fence_list *fences)
{
	struct drm_i915_gem_exec_object2 *list = (void *)(uintptr_t)args->buffers_ptr;
	unsigned int batch = args->flags & I915_EXEC_BATCH_FIRST ? 0 : args->buffer_count - 1;
	int err = take_objects(file, request, list, args->buffer_count);

	err = err ?: bind_objects(request, list, true);
	err = err ?: bind_objects(request, list, false);
	err = err ?: relocate_all(request, list, args->flags);
	err = err ?: wait_for_objects(request, list);
	err = err ?: wait_for_syncobjs(file, request, fences);
	err = err ?: wait_for_file(request, args);
	for (unsigned int i = 0; i < request->nr_objects && !err; i++)
		err = object_use(request->objects[i], request->fence,
				 list[i].flags & EXEC_OBJECT_WRITE);
	request->batch = (list[batch].offset & ADDRESS_MASK) + args->batch_start_offset;
	return err;
}

static int check(const struct drm_i915_gem_execbuffer2 *args, const struct context *context)
{
	if (!context)
		return -ENOENT;
	if (!args->buffer_count || args->batch_start_offset % 8 || args->batch_len % 8)
		return -EINVAL;
	if (args->flags & ~(uint64_t)SUPPORTED_FLAGS) {
		shim_error("EXECBUFFER2: unknown flags %#llx",
			   (unsigned long long)(args->flags & ~(uint64_t)SUPPORTED_FLAGS));
		return -EINVAL;
	}
	return context->lost ? -EIO : 0;
}

/* On success @request belongs to its timeline, and @fence is a reference for the caller. */
static int submit(struct file *file, struct drm_i915_gem_execbuffer2 *args, struct request *request,
		  struct fence **fence)
{
	struct context *context = context_find(file, args->rsvd1 & UINT32_MAX);
	struct timeline *timeline;
	struct fence_list fences;
	int err = check(args, context);

	err = err ?: find_timeline(context, args->flags, &timeline);
	err = err ?: find_fences(args, &fences);
	if (err)
		return err;
	context->refs++;
	request->context = context;
	request->fence = fence_create(false);
	if (!request->fence)
		return -ENOMEM;
	request->fence->engine_class = timeline->engine;
	err = prepare(file, request, args, &fences);
	err = err ?: signal_syncobjs(file, request, &fences);
	if (!err && args->flags & I915_EXEC_FENCE_OUT) {
		err = fence_fd(request->fence);
		if (err >= 0) {
			args->rsvd2 = (args->rsvd2 & UINT32_MAX) | (uint64_t)err << 32;
			err = 0;
		}
	}
	if (err) {
		fence_signal(request->fence, err); /* some objects may have it already */
		return err;
	}
	*fence = fence_get(request->fence);
	timeline_queue(timeline, request);
	return 0;
}

int exec_ioctl(struct file *file, void *arg)
{
	struct request *request = calloc(1, sizeof(*request));
	struct fence *fence = NULL;
	int err;

	if (!request)
		return -ENOMEM;
	err = submit(file, arg, request, &fence);
	if (err) {
		request_free(request);
		return err;
	}
	while (shim_settings()->synchronous && !fence->done)
		gpu_wait(INT64_MAX);
	err = fence->done ? fence->error : 0;
	fence_put(fence);
	return shim_settings()->synchronous ? err : 0;
}
