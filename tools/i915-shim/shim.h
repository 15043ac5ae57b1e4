/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private types and functions of the library that stands in for i915 in one process.
 *
 * A fd of a DRM node has a struct file with the process' handles, as in the kernel. Batches run in
 * threads, one for each engine of a context (struct timeline), so that a batch may wait for one
 * that is submitted later.
 *
 * Locks, outermost first:
 *   gpu_lock    protects everything but what follows: files, handles, objects, contexts, fences,
 *               and the lists of bindings. gpu_changed is broadcast when a fence signals, when a
 *               request is queued, and when a point is added to a syncobj.
 *   vm->lock    protects the map of a VM. Writers hold gpu_lock as well.
 */
#ifndef I915_SHIM_H
#define I915_SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "cs.h"
#include "settings.h"

#define PAGE_BYTES 4096u
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

extern pthread_mutex_t gpu_lock;
extern pthread_cond_t gpu_changed;

/* ---- handles ---- */

/* Pointers by identifier; identifiers begin at 1. */
struct table {
	void **slots;
	unsigned int size;
};

/* Returns the identifier, or -ENOMEM. */
int table_add(struct table *table, void *what);
void *table_get(const struct table *table, uint32_t id);
void *table_remove(struct table *table, uint32_t id);

/* ---- file descriptors ---- */

enum fd_kind {
	FD_NONE,
	FD_DRM, /* struct file */
	FD_BUFFER, /* struct object: a dma-buf */
	FD_FENCE, /* struct fence: a sync_file */
	FD_SYNCOBJ, /* struct syncobj */
};

#define RENDER_MINOR 128
#define CARD_MINOR 0

struct file {
	unsigned int refs; /* fds */
	unsigned int minor;
	struct table objects;
	struct table contexts;
	struct table vms;
	struct table syncobjs;
};

/* fds.c. */
enum fd_kind fd_find(int fd, void **what);
/* fd_forget() drops the reference to @what that the caller has. */
void fd_note(int fd, enum fd_kind kind, void *what);
/* These two take gpu_lock. */
void fd_copy(int from, int to);
void fd_forget(int fd);
int file_open(unsigned int minor, int flags);
int file_ioctl(struct file *file, unsigned long request, void *arg);

/* ---- buffer objects ---- */

struct use {
	struct fence *fence;
	bool write;
};

struct binding {
	struct binding *next; /* of the object */
	struct vm *vm;
	struct object *object;
	uint64_t address;
	uint64_t bytes;
};

/**
 * struct object - a buffer object
 * @refs: handles, dma-bufs, mappings by the CPU, and requests
 * @bytes: size, a multiple of PAGE_BYTES
 * @memory: where this process maps it
 * @offset: place in the arena, which is also the offset for mmap(); 0: user memory
 * @read_only: engines' writes are dropped
 * @tiling: as set by GEM_SET_TILING; not used here
 * @stride: as @tiling
 * @caching: as set by GEM_SET_CACHING; not used here
 * @uses: requests that use it, some of which may be complete
 * @nr_uses: length of @uses
 * @bindings: where it is in VMs
 * @name: for GEM_FLINK, 0: none
 */
struct object {
	unsigned int refs;
	uint64_t bytes;
	uint8_t *memory;
	uint64_t offset;
	bool read_only;
	uint32_t tiling;
	uint32_t stride;
	uint32_t caching;
	struct use *uses;
	unsigned int nr_uses;
	struct binding *bindings;
	int name;
};

/* objects.c; callers hold gpu_lock. Functions return 0 or a negative errno. */
void object_get(struct object *object);
void object_put(struct object *object);
/* Replaces the uses that are complete. */
int object_use(struct object *object, struct fence *fence, bool write);
bool object_busy(const struct object *object, bool writers_only);
/* Wait with a deadline of CLOCK_MONOTONIC in ns; -ETIME. */
int object_wait(struct object *object, bool writers_only, int64_t deadline_ns);
int objects_ioctl(struct file *file, unsigned long request, void *arg);
/* A mapping of arena memory, as mmap(). Takes gpu_lock. */
void *object_mmap(void *address, size_t bytes, int protection, int flags, uint64_t offset);
/* The process unmaps this range. Takes gpu_lock. */
void object_munmap(void *address, size_t bytes);

/* ---- address spaces ---- */

struct vm {
	unsigned int refs; /* handles, contexts, bindings */
	pthread_rwlock_t lock;
	void *map; /* JudyL: address to struct binding */
	uint64_t next; /* where to look for a free place */
};

/* vm.c; callers hold gpu_lock, which waits for requests may release */
struct vm *vm_create(void);
void vm_get(struct vm *vm);
void vm_put(struct vm *vm);
/*
 * Bind @object at @address, or anywhere if @anywhere; sets @address. Objects that are in the way
 * are unbound when they are idle.
 */
int vm_bind(struct vm *vm, struct object *object, bool anywhere, bool low, uint64_t *address);
void vm_unbind_object(struct object *object);
int vms_ioctl(struct file *file, unsigned long request, void *arg);

/* ---- fences ---- */

/**
 * struct fence - the completion of a request
 * @refs: holders
 * @done: the request has ended
 * @error: 0 or a negative errno, when @done
 * @wake: eventfds of sync_files
 * @nr_wake: length of @wake
 * @engine_class: enum cs_engine, for GEM_BUSY
 */
struct fence {
	unsigned int refs;
	bool done;
	int error;
	int *wake;
	unsigned int nr_wake;
	unsigned int engine_class;
};

/* sync.c; callers hold gpu_lock */
struct fence *fence_create(bool done);
struct fence *fence_get(struct fence *fence);
void fence_put(struct fence *fence);
void fence_signal(struct fence *fence, int error);
/* Wait for gpu_changed until @deadline_ns; -ETIME. */
int gpu_wait(int64_t deadline_ns);
int64_t now_ns(void);
struct syncobj;
void syncobj_get(struct syncobj *syncobj);
void syncobj_put(struct syncobj *syncobj);
/* The fence of point @point (0: the binary fence), NULL if there is none yet. No reference. */
struct fence *syncobj_fence(const struct syncobj *syncobj, uint64_t point);
int syncobj_set(struct syncobj *syncobj, uint64_t point, struct fence *fence);
int syncobjs_ioctl(struct file *file, unsigned long request, void *arg);
/* A new sync_file; a negative errno. */
int fence_fd(struct fence *fence);

/* ---- contexts and requests ---- */

#define ENGINES_MAX 64

struct timeline;

/**
 * struct context - a GEM context
 * @refs: handles and requests
 * @vm: address space
 * @engines: what each index of the engine map is: enum cs_engine, or -1
 * @nr_engines: length of @engines
 * @legacy: no engine map: the index is that of I915_EXEC_RING_MASK
 * @timelines: by index of the engine map; NULL: not used so far
 * @priority: as set; not used here
 * @flags: bit n: context parameter n is on
 * @lost: a request failed; all later ones are refused with -EIO
 * @active: number of requests that failed
 * @pending: number of requests that were queued behind one that failed
 */
struct context {
	unsigned int refs;
	struct vm *vm;
	int8_t engines[ENGINES_MAX];
	unsigned int nr_engines;
	bool legacy;
	struct timeline *timelines[ENGINES_MAX];
	int64_t priority;
	uint64_t flags;
	bool lost;
	uint32_t active;
	uint32_t pending;
};

/* contexts.c */
int context_create_default(struct file *file);
struct context *context_find(struct file *file, uint32_t id);
void context_put(struct context *context);
/* A request of @context failed. */
void context_failed(struct context *context);
int contexts_ioctl(struct file *file, unsigned long request, void *arg);

/* exec.c */
int exec_ioctl(struct file *file, void *arg);
void timeline_destroy(struct timeline *timeline);

/* query.c */
int query_ioctl(unsigned long request, void *arg);

/* libc.c: the functions that the library stands in front of */
void *real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int real_munmap(void *address, size_t bytes);

/* paths.c */
/* The path to use for @path: @path itself, or a path below the library's own tree in @buffer. */
const char *path_redirect(const char *path, char *buffer);
/* The path as the process asked for it. */
const char *path_without_root(const char *path);
/* The minor of the DRM node at a redirected path; -1: none. */
int path_minor(const char *path);

#endif
