// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffer objects. Their memory is a piece of one sparse file, the arena, so that each mapping of an
 * object shows the same bytes. The arena is mapped as a whole for the engines. An object of user
 * memory has none.
 *
 * The pages of a freed object go back to the kernel: the next object there reads as zero. A CPU
 * mapping keeps an object, as it does in the kernel.
 */
#define _GNU_SOURCE
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <Judy.h>
#include "shim.h"

#define ARENA_BYTES (1ull << 36)
#define ARENA_FIRST (1ull << 20) /* an offset for mmap() is not 0 */

struct mapping {
	struct object *object;
	size_t bytes;
};

static struct {
	int fd;
	uint8_t *memory;
	void *free; /* JudyL: offset of a free piece to its size in bytes */
	void *mappings; /* JudyL: address in this process to struct mapping */
	void *objects; /* JudyL: offset to struct object */
	struct table names;
} arena = { .fd = -1 };

static int arena_init(void)
{
	PPvoid_t slot;

	if (arena.memory)
		return 0;
	arena.fd = memfd_create("i915", MFD_CLOEXEC);
	if (arena.fd < 0 || ftruncate(arena.fd, ARENA_BYTES))
		return -ENOMEM;
	arena.memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    arena.fd, 0);
	if (arena.memory == MAP_FAILED) {
		arena.memory = NULL;
		return -ENOMEM;
	}
	slot = JudyLIns(&arena.free, ARENA_FIRST, PJE0);
	if (!slot || slot == PPJERR)
		return -ENOMEM;
	*(Word_t *)slot = ARENA_BYTES - ARENA_FIRST;
	return 0;
}

/* First fit. Returns 0 without space. */
static uint64_t arena_alloc(uint64_t bytes)
{
	Word_t offset = 0, left;
	PPvoid_t slot;

	for (slot = JudyLFirst(arena.free, &offset, PJE0); slot;
	     slot = JudyLNext(arena.free, &offset, PJE0)) {
		left = *(Word_t *)slot;
		if (left < bytes)
			continue;
		JudyLDel(&arena.free, offset, PJE0);
		if (left > bytes) {
			slot = JudyLIns(&arena.free, offset + bytes, PJE0);
			*(Word_t *)slot = left - bytes;
		}
		return offset;
	}
	return 0;
}

static void arena_free(uint64_t offset, uint64_t bytes)
{
	Word_t at = offset;
	PPvoid_t slot;

	fallocate(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
	slot = JudyLPrev(arena.free, &at, PJE0);
	if (slot && at + *(Word_t *)slot == offset) {
		offset = at;
		bytes += *(Word_t *)slot;
		JudyLDel(&arena.free, at, PJE0);
	}
	slot = JudyLGet(arena.free, offset + bytes, PJE0);
	if (slot) {
		at = offset + bytes;
		bytes += *(Word_t *)slot;
		JudyLDel(&arena.free, at, PJE0);
	}
	slot = JudyLIns(&arena.free, offset, PJE0);
	*(Word_t *)slot = bytes;
}

/* ---- objects ---- */

static uint64_t round_up_to_page(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static int object_create(uint64_t bytes, struct object **result)
{
	struct object *object;
	PPvoid_t slot;
	int err;

	bytes = round_up_to_page(bytes);
	if (!bytes)
		return -EINVAL;
	err = arena_init();
	if (err)
		return err;
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	object->offset = arena_alloc(bytes);
	if (!object->offset) {
		free(object);
		return -ENOMEM;
	}
	object->refs = 1;
	object->bytes = bytes;
	object->memory = arena.memory + object->offset;
	object->caching = I915_CACHING_CACHED;
	slot = JudyLIns(&arena.objects, object->offset, PJE0);
	*slot = object;
	*result = object;
	return 0;
}

static int object_of_user_memory(const struct drm_i915_gem_userptr *user, struct object **result)
{
	unsigned char resident[1];
	struct object *object;
	uint64_t at;

	if (user->user_ptr % PAGE_BYTES || user->user_size % PAGE_BYTES || !user->user_size)
		return -EINVAL;
	if (user->flags & ~(I915_USERPTR_READ_ONLY | I915_USERPTR_PROBE))
		return user->flags & I915_USERPTR_UNSYNCHRONIZED ? -ENODEV : -EINVAL;
	if (user->flags & I915_USERPTR_PROBE)
		for (at = 0; at < user->user_size; at += PAGE_BYTES)
			if (mincore((void *)(uintptr_t)(user->user_ptr + at), PAGE_BYTES, resident))
				return -EFAULT;
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	object->refs = 1;
	object->bytes = user->user_size;
	object->memory = (uint8_t *)(uintptr_t)user->user_ptr;
	object->read_only = user->flags & I915_USERPTR_READ_ONLY;
	object->caching = I915_CACHING_CACHED;
	*result = object;
	return 0;
}

void object_get(struct object *object)
{
	object->refs++;
}

static void drop_uses(struct object *object)
{
	unsigned int i, kept = 0;

	for (i = 0; i < object->nr_uses; i++) {
		if (object->uses[i].fence->done)
			fence_put(object->uses[i].fence);
		else
			object->uses[kept++] = object->uses[i];
	}
	object->nr_uses = kept;
}

void object_put(struct object *object)
{
	if (--object->refs)
		return;
	drop_uses(object);
	free(object->uses);
	vm_unbind_object(object);
	if (object->name)
		table_remove(&arena.names, object->name);
	if (object->offset) {
		JudyLDel(&arena.objects, object->offset, PJE0);
		arena_free(object->offset, object->bytes);
	}
	free(object);
}

int object_use(struct object *object, struct fence *fence, bool write)
{
	struct use *uses;

	drop_uses(object);
	uses = reallocarray(object->uses, object->nr_uses + 1, sizeof(*uses));
	if (!uses)
		return -ENOMEM;
	object->uses = uses;
	uses[object->nr_uses++] = (struct use){ .fence = fence_get(fence), .write = write };
	return 0;
}

bool object_busy(const struct object *object, bool writers_only)
{
	unsigned int i;

	for (i = 0; i < object->nr_uses; i++)
		if (!object->uses[i].fence->done && (object->uses[i].write || !writers_only))
			return true;
	return false;
}

int object_wait(struct object *object, bool writers_only, int64_t deadline_ns)
{
	int err = 0;

	object_get(object);
	while (!err && object_busy(object, writers_only))
		err = gpu_wait(deadline_ns);
	object_put(object);
	return err;
}

/* ---- mappings by the CPU ---- */

static int note_mapping(void *address, size_t bytes, struct object *object)
{
	struct mapping *mapping = malloc(sizeof(*mapping));
	PPvoid_t slot = mapping ? JudyLIns(&arena.mappings, (Word_t)address, PJE0) : NULL;

	if (!slot || slot == PPJERR) {
		free(mapping);
		return -ENOMEM;
	}
	*mapping = (struct mapping){ .object = object, .bytes = bytes };
	*slot = mapping;
	object_get(object);
	return 0;
}

static void forget_mappings(void *address, size_t bytes)
{
	Word_t at = (Word_t)address;
	struct mapping *mapping;
	PPvoid_t slot;

	while ((slot = JudyLFirst(arena.mappings, &at, PJE0))) {
		mapping = *slot;
		if (at + mapping->bytes > (Word_t)address + bytes)
			return;
		JudyLDel(&arena.mappings, at, PJE0);
		object_put(mapping->object);
		free(mapping);
	}
}

void object_munmap(void *address, size_t bytes)
{
	if (!arena.mappings)
		return;
	pthread_mutex_lock(&gpu_lock);
	forget_mappings(address, round_up_to_page(bytes));
	pthread_mutex_unlock(&gpu_lock);
}

static void *map_object(struct object *object, void *address, size_t bytes, int protection,
			int flags, uint64_t within)
{
	void *result;

	bytes = round_up_to_page(bytes);
	if (!object->offset || within + bytes > object->bytes) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	flags = (flags & ~MAP_PRIVATE) | MAP_SHARED;
	result = (void *)real_mmap(address, bytes, protection, flags, arena.fd,
				   object->offset + within);
	if (result == MAP_FAILED)
		return result;
	forget_mappings(result, bytes);
	if (note_mapping(result, bytes, object)) {
		real_munmap(result, bytes);
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return result;
}

void *object_mmap(void *address, size_t bytes, int protection, int flags, uint64_t offset)
{
	Word_t at = offset;
	void *result;
	PPvoid_t slot;

	pthread_mutex_lock(&gpu_lock);
	slot = JudyLLast(arena.objects, &at, PJE0);
	if (slot) {
		result = map_object(*slot, address, bytes, protection, flags, offset - at);
	} else {
		errno = EINVAL;
		result = MAP_FAILED;
	}
	pthread_mutex_unlock(&gpu_lock);
	return result;
}

/* ---- ioctls ---- */

/* Gives the caller's reference to a new handle. */
static int add_handle(struct file *file, struct object *object, __u32 *handle)
{
	int id = table_add(&file->objects, object);

	if (id < 0) {
		object_put(object);
		return id;
	}
	*handle = id;
	return 0;
}

/* An object that comes from outside has one handle in a file. */
static int import(struct file *file, struct object *object, __u32 *handle)
{
	unsigned int id;

	for (id = 1; id < file->objects.size; id++)
		if (file->objects.slots[id] == object) {
			*handle = id;
			return 0;
		}
	object_get(object);
	return add_handle(file, object, handle);
}

static int gem_create(struct file *file, __u64 *bytes, __u32 *handle)
{
	struct object *object;
	int err = object_create(*bytes, &object);

	if (err)
		return err;
	*bytes = object->bytes;
	return add_handle(file, object, handle);
}

static int gem_create_ext(struct file *file, struct drm_i915_gem_create_ext *create)
{
	const struct i915_user_extension *extension = (void *)(uintptr_t)create->extensions;

	/* There is one memory region, so its list says nothing. */
	for (; extension; extension = (void *)(uintptr_t)extension->next_extension)
		if (extension->name != I915_GEM_CREATE_EXT_MEMORY_REGIONS)
			return -EINVAL;
	return gem_create(file, &create->size, &create->handle);
}

static int gem_userptr(struct file *file, struct drm_i915_gem_userptr *user)
{
	struct object *object;
	int err = object_of_user_memory(user, &object);

	return err ?: add_handle(file, object, &user->handle);
}

static int gem_close(struct file *file, const struct drm_gem_close *close)
{
	struct object *object = table_remove(&file->objects, close->handle);

	if (!object)
		return -EINVAL;
	object_put(object);
	return 0;
}

static int gem_mmap(struct object *object, struct drm_i915_gem_mmap *map)
{
	void *address;

	if (map->flags & ~(__u64)I915_MMAP_WC)
		return -EINVAL;
	address = map_object(object, NULL, map->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     map->offset);
	if (address == MAP_FAILED)
		return -errno;
	map->addr_ptr = (uintptr_t)address;
	return 0;
}

static int gem_read_write(struct object *object, uint64_t offset, uint64_t bytes, uint64_t data,
			  bool write)
{
	int err;

	if (offset > object->bytes || bytes > object->bytes - offset)
		return -EINVAL;
	err = object_wait(object, !write, INT64_MAX);
	if (err)
		return err;
	if (write)
		memcpy(object->memory + offset, (void *)(uintptr_t)data, bytes);
	else
		memcpy((void *)(uintptr_t)data, object->memory + offset, bytes);
	return 0;
}

static int gem_wait(struct object *object, struct drm_i915_gem_wait *wait)
{
	int64_t start = now_ns(), left = wait->timeout_ns;
	int err = object_wait(object, false,
			      left < 0 || left > INT64_MAX - start ? INT64_MAX : start + left);

	if (left >= 0) {
		left -= now_ns() - start;
		wait->timeout_ns = left > 0 ? left : 0;
	}
	return err;
}

static int gem_busy(const struct object *object, struct drm_i915_gem_busy *busy)
{
	unsigned int i;

	busy->busy = 0;
	for (i = 0; i < object->nr_uses; i++) {
		const struct use *use = &object->uses[i];

		if (use->fence->done)
			continue;
		busy->busy |= 0x10000u << use->fence->engine_class;
		if (use->write)
			busy->busy |= use->fence->engine_class + 1;
	}
	return 0;
}

static int gem_flink(struct object *object, struct drm_gem_flink *flink)
{
	if (!object->name) {
		int name = table_add(&arena.names, object);

		if (name < 0)
			return name;
		object->name = name;
	}
	flink->name = object->name;
	return 0;
}

static int gem_open(struct file *file, struct drm_gem_open *open)
{
	struct object *object = table_get(&arena.names, open->name);
	int err;

	if (!object)
		return -ENOENT;
	err = import(file, object, &open->handle);
	open->size = object->bytes;
	return err;
}

/* The fd is a file as large as the object, which is how programs ask for its size. */
static int prime_export(struct object *object, struct drm_prime_handle *prime)
{
	int fd = memfd_create("dma-buf", prime->flags & DRM_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, object->bytes)) {
		close(fd);
		return -ENOMEM;
	}
	object_get(object);
	fd_note(fd, FD_BUFFER, object);
	prime->fd = fd;
	return 0;
}

static int prime_import(struct file *file, struct drm_prime_handle *prime)
{
	void *object;

	if (fd_find(prime->fd, &object) != FD_BUFFER)
		return -EINVAL;
	return import(file, object, &prime->handle);
}

/* The ioctls of an object; each begins with its handle. */
static const unsigned long object_ioctls[] = {
	DRM_IOCTL_I915_GEM_MMAP,
	DRM_IOCTL_I915_GEM_MMAP_GTT,
	DRM_IOCTL_I915_GEM_MMAP_OFFSET,
	DRM_IOCTL_I915_GEM_PREAD,
	DRM_IOCTL_I915_GEM_PWRITE,
	DRM_IOCTL_I915_GEM_SET_DOMAIN,
	DRM_IOCTL_I915_GEM_SW_FINISH,
	DRM_IOCTL_I915_GEM_BUSY,
	DRM_IOCTL_I915_GEM_WAIT,
	DRM_IOCTL_I915_GEM_MADVISE,
	DRM_IOCTL_I915_GEM_SET_CACHING,
	DRM_IOCTL_I915_GEM_GET_CACHING,
	DRM_IOCTL_I915_GEM_SET_TILING,
	DRM_IOCTL_I915_GEM_GET_TILING,
	DRM_IOCTL_GEM_FLINK,
	DRM_IOCTL_PRIME_HANDLE_TO_FD,
};

static int ioctl_of_object(struct file *file, unsigned long request, void *arg)
{
	struct object *object = table_get(&file->objects, *(__u32 *)arg);

	if (!object)
		return -ENOENT;
	switch (request) {
	case DRM_IOCTL_I915_GEM_MMAP:
		return gem_mmap(object, arg);
	case DRM_IOCTL_I915_GEM_MMAP_GTT: /* begins as the next one does */
	case DRM_IOCTL_I915_GEM_MMAP_OFFSET:
		if (!object->offset)
			return -ENODEV;
		((struct drm_i915_gem_mmap_gtt *)arg)->offset = object->offset;
		return 0;
	case DRM_IOCTL_I915_GEM_PREAD: {
		struct drm_i915_gem_pread *args = arg;

		return gem_read_write(object, args->offset, args->size, args->data_ptr, false);
	}
	case DRM_IOCTL_I915_GEM_PWRITE: {
		struct drm_i915_gem_pwrite *args = arg;

		return gem_read_write(object, args->offset, args->size, args->data_ptr, true);
	}
	case DRM_IOCTL_I915_GEM_SET_DOMAIN:
		return object_wait(object, !((struct drm_i915_gem_set_domain *)arg)->write_domain,
				   INT64_MAX);
	case DRM_IOCTL_I915_GEM_SW_FINISH:
		return 0;
	case DRM_IOCTL_I915_GEM_BUSY:
		return gem_busy(object, arg);
	case DRM_IOCTL_I915_GEM_WAIT:
		return gem_wait(object, arg);
	case DRM_IOCTL_I915_GEM_MADVISE:
		((struct drm_i915_gem_madvise *)arg)->retained = 1;
		return 0;
	case DRM_IOCTL_I915_GEM_SET_CACHING:
		object->caching = ((struct drm_i915_gem_caching *)arg)->caching;
		return 0;
	case DRM_IOCTL_I915_GEM_GET_CACHING:
		((struct drm_i915_gem_caching *)arg)->caching = object->caching;
		return 0;
	case DRM_IOCTL_I915_GEM_SET_TILING: {
		struct drm_i915_gem_set_tiling *args = arg;

		object->tiling = args->tiling_mode;
		object->stride = args->tiling_mode ? args->stride : 0;
		args->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
		return 0;
	}
	case DRM_IOCTL_I915_GEM_GET_TILING: {
		struct drm_i915_gem_get_tiling *args = arg;

		args->tiling_mode = object->tiling;
		args->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
		args->phys_swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
		return 0;
	}
	case DRM_IOCTL_GEM_FLINK:
		return gem_flink(object, arg);
	case DRM_IOCTL_PRIME_HANDLE_TO_FD:
		return prime_export(object, arg);
	}
	return -ENOTTY;
}

int objects_ioctl(struct file *file, unsigned long request, void *arg)
{
	struct drm_i915_gem_create *create = arg;

	switch (request) {
	case DRM_IOCTL_I915_GEM_CREATE:
		return gem_create(file, &create->size, &create->handle);
	case DRM_IOCTL_I915_GEM_CREATE_EXT:
		return gem_create_ext(file, arg);
	case DRM_IOCTL_I915_GEM_USERPTR:
		return gem_userptr(file, arg);
	case DRM_IOCTL_GEM_CLOSE:
		return gem_close(file, arg);
	case DRM_IOCTL_GEM_OPEN:
		return gem_open(file, arg);
	case DRM_IOCTL_PRIME_FD_TO_HANDLE:
		return prime_import(file, arg);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(object_ioctls); i++)
		if (request == object_ioctls[i])
			return ioctl_of_object(file, request, arg);
	return -ENOTTY;
}
