// SPDX-License-Identifier: GPL-2.0-only
/*
 * i915's ioctls, and those of DRM that it serves, with arguments that fit mostly. Their list, and
 * which value means what, is i915_drm.h's.
 */
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define CONTEXTS 4u
#define VMS 4u
#define SYNCOBJS 4u
#define FDS 4u
#define PAGE 4096u
#define USER_PAGES 64u
#define BUFFER_BYTES 8192u
#define A_MILLISECOND 1000000ll

int drm;

static struct {
	uint32_t objects[OBJECTS], contexts[CONTEXTS], vms[VMS], syncobjs[SYNCOBJS];
	unsigned int next_object;
	uint64_t configuration;
	int fds[FDS];
} have;
static uint8_t user[USER_PAGES * PAGE] __attribute__((aligned(PAGE)));
static uint64_t buffer[BUFFER_BYTES / 8];

static uint32_t any_of(const uint32_t *ids, unsigned int count)
{
	return below(WILD) ? ids[below(count)] : (uint32_t)take(4);
}

uint32_t any_object(void)
{
	return any_of(have.objects, OBJECTS);
}

uint32_t any_context(void)
{
	return below(2) ? any_of(have.contexts, CONTEXTS) : 0;
}

uint32_t any_syncobj(void)
{
	return any_of(have.syncobjs, SYNCOBJS);
}

int any_fd(void)
{
	return have.fds[below(FDS)];
}

void keep_fd(int fd)
{
	int *place = &have.fds[below(FDS)];

	if (*place >= 0)
		close(*place);
	*place = fd;
}

/* Those after the objects of batch.c replace each other. */
static uint32_t keep_object(uint32_t handle)
{
	have.objects[have.next_object] = handle;
	if (++have.next_object == OBJECTS)
		have.next_object = OBJECTS / 2;
	return handle;
}

uint32_t object_make(uint64_t bytes)
{
	struct drm_i915_gem_create create = { .size = bytes };

	return ioctl(drm, DRM_IOCTL_I915_GEM_CREATE, &create) ? 0 : keep_object(create.handle);
}

/* So small that the guest's memory is enough, or larger than it. */
static uint64_t any_size(void)
{
	if (below(WILD))
		return (1 + below(64)) * (uint64_t)PAGE;
	return below(2) ? take(2) : 1ull << (40 + below(24));
}

static void create(void)
{
	const struct drm_i915_gem_memory_class_instance memory[2] = { { below(2), 0 } };
	struct drm_i915_gem_create_ext_memory_regions regions = {
		.base.name = below(4),
		.num_regions = below(3),
		.regions = (uintptr_t)memory,
	};
	struct drm_i915_gem_create_ext request = {
		.size = any_size(),
		.flags = below(8) ? 0 : take(4),
		.extensions = below(2) ? (uintptr_t)&regions : 0,
	};

	if (below(2)) {
		object_make(any_size());
		return;
	}
	if (!ioctl(drm, DRM_IOCTL_I915_GEM_CREATE_EXT, &request))
		keep_object(request.handle);
}

static void userptr(void)
{
	unsigned int first = below(USER_PAGES);
	struct drm_i915_gem_userptr request = {
		.user_ptr = below(WILD) ? (uintptr_t)user + first * PAGE : take(8),
		.user_size = below(WILD) ? (1 + below(USER_PAGES - first)) * (uint64_t)PAGE :
					   take(4),
		.flags = below(2) ? 0 :
			 below(2) ? 1u << below(3) :
				    take(4),
	};

	if (!ioctl(drm, DRM_IOCTL_I915_GEM_USERPTR, &request))
		keep_object(request.handle);
	if (!below(4))
		madvise(user + first * PAGE, PAGE, MADV_DONTNEED);
}

static void close_object(void)
{
	uint32_t *place = &have.objects[OBJECTS / 2 + below(OBJECTS / 2)];
	struct drm_gem_close request = { .handle = *place };

	ioctl(drm, DRM_IOCTL_GEM_CLOSE, &request);
	*place = 0;
}

static void read_or_write(void)
{
	struct drm_i915_gem_pread request = {
		.handle = any_object(),
		.offset = below(4) ? take(2) : take(8),
		.size = below(4) ? below(BUFFER_BYTES) : take(4),
		.data_ptr = below(WILD) ? (uintptr_t)buffer : take(8),
	};

	if (request.size > BUFFER_BYTES && request.data_ptr == (uintptr_t)buffer)
		request.size = BUFFER_BYTES;
	ioctl(drm, below(2) ? DRM_IOCTL_I915_GEM_PREAD : DRM_IOCTL_I915_GEM_PWRITE, &request);
}

/* Reads and writes by the kernel fail with EFAULT where this program would get SIGBUS. */
static void touch(uint8_t *at, size_t bytes)
{
	int pipes[2];

	if (pipe(pipes))
		return;
	for (unsigned int n = below(4); n; n--) {
		uint8_t *word = at + take(3) % bytes / 8 * 8;

		if (write(pipes[1], word, 8) == 8 && below(2))
			(void)!read(pipes[0], word, 8);
	}
	close(pipes[0]);
	close(pipes[1]);
}

static void map(void)
{
	struct drm_i915_gem_mmap_offset request = {
		.handle = any_object(),
		.flags = below(WILD) ? below(5) : take(4),
	};
	struct drm_i915_gem_mmap old = {
		.handle = any_object(),
		.offset = below(4) ? 0 : take(3),
		.size = any_size(),
		.flags = below(3),
	};
	size_t bytes = (1 + below(16)) * (size_t)PAGE;
	uint8_t *at;

	if (!below(4)) {
		if (!ioctl(drm, DRM_IOCTL_I915_GEM_MMAP, &old)) {
			touch((void *)(uintptr_t)old.addr_ptr, old.size);
			munmap((void *)(uintptr_t)old.addr_ptr, old.size);
		}
		return;
	}
	if (ioctl(drm, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request))
		return;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, drm,
		  request.offset + (below(8) ? 0 : PAGE * take(2)));
	if (at == MAP_FAILED)
		return;
	touch(at, bytes);
	if (!below(4)) /* a batch may use what is mapped */
		submit_any();
	touch(at, bytes);
	munmap(at, bytes);
}

static void manage_object(void)
{
	struct drm_i915_gem_set_domain domain = { any_object(), 1u << below(8),
						  below(2) ? 1u << below(8) : 0 };
	struct drm_i915_gem_caching caching = { any_object(), below(4) };
	struct drm_i915_gem_set_tiling tiling = { any_object(), below(4),
						  below(4) ? 512u << below(4) : take(4), 0 };
	struct drm_i915_gem_get_tiling which = { .handle = any_object() };
	struct drm_i915_gem_madvise advice = { any_object(), below(4), 0 };
	struct drm_i915_gem_busy busy = { .handle = any_object() };
	struct drm_i915_gem_wait wait = { any_object(), below(WILD) ? 0 : take(1),
					  below(4) * A_MILLISECOND };
	struct drm_i915_gem_sw_finish finish = { any_object() };
	const struct {
		unsigned long request;
		void *argument;
	} calls[] = {
		{ DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain },
		{ DRM_IOCTL_I915_GEM_SET_CACHING, &caching },
		{ DRM_IOCTL_I915_GEM_GET_CACHING, &caching },
		{ DRM_IOCTL_I915_GEM_SET_TILING, &tiling },
		{ DRM_IOCTL_I915_GEM_GET_TILING, &which },
		{ DRM_IOCTL_I915_GEM_MADVISE, &advice },
		{ DRM_IOCTL_I915_GEM_BUSY, &busy },
		{ DRM_IOCTL_I915_GEM_WAIT, &wait },
		{ DRM_IOCTL_I915_GEM_SW_FINISH, &finish },
		{ DRM_IOCTL_I915_GEM_THROTTLE, NULL },
	};
	unsigned int n = below(COUNT(calls));

	ioctl(drm, calls[n].request, calls[n].argument);
}

/* The value of a context's parameter, in *buffer if it is longer than the field. */
static void any_parameter(struct drm_i915_gem_context_param *request)
{
	struct i915_context_param_engines *engines = (void *)buffer;
	struct drm_i915_gem_context_param_sseu *sseu = (void *)buffer;
	unsigned int count = below(5);

	*request = (struct drm_i915_gem_context_param){
		.param = below(WILD) ? below(14) : take(4),
		.value = below(4) ? below(2) : take(8),
	};
	switch (request->param) {
	case I915_CONTEXT_PARAM_PRIORITY:
		request->value = (int64_t)below(2100) - 1050;
		break;
	case I915_CONTEXT_PARAM_VM:
		request->value = any_of(have.vms, VMS);
		break;
	case I915_CONTEXT_PARAM_RINGSIZE:
		request->value = PAGE << below(8);
		break;
	case I915_CONTEXT_PARAM_SSEU:
		memset(buffer, 0, sizeof(*sseu));
		sseu->engine.engine_class = below(4);
		sseu->slice_mask = take(1);
		sseu->subslice_mask = take(1);
		sseu->min_eus_per_subslice = below(9);
		sseu->max_eus_per_subslice = below(9);
		request->size = sizeof(*sseu);
		request->value = (uintptr_t)buffer;
		break;
	case I915_CONTEXT_PARAM_ENGINES:
		memset(buffer, 0, BUFFER_BYTES);
		for (unsigned int i = 0; i < count; i++)
			engines->engines[i] = (struct i915_engine_class_instance){
				below(WILD) ? below(5) : take(2), below(WILD) ? 0 : take(2)
			};
		if (!below(4)) { /* the first engine is one of the others */
			struct i915_context_engines_load_balance *balance = (void *)(buffer + 64);

			balance->base.name = below(3);
			balance->num_siblings = below(4);
			memcpy(balance->engines, engines->engines, sizeof(engines->engines[0]) * 5);
			engines->engines[0] = (struct i915_engine_class_instance){ -1, -1 };
			engines->extensions = (uintptr_t)balance;
		}
		request->size = sizeof(*engines) + count * sizeof(engines->engines[0]);
		request->value = (uintptr_t)buffer;
		break;
	}
	if (!below(WILD))
		request->size = take(1);
}

static void contexts(void)
{
	struct drm_i915_gem_context_create_ext_setparam set = {
		.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM,
	};
	struct drm_i915_gem_context_create_ext create = {
		.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS | below(4),
		.extensions = (uintptr_t)&set,
	};
	uint32_t *place = &have.contexts[below(CONTEXTS)];
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = *place };
	struct drm_i915_reset_stats stats = { .ctx_id = any_context() };

	any_parameter(&set.param);
	switch (below(8)) {
	case 0:
	case 1:
		if (below(2))
			create.flags = 0;
		if (!ioctl(drm, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &create))
			*place = create.ctx_id;
		break;
	case 2:
		ioctl(drm, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
		break;
	case 3:
		ioctl(drm, DRM_IOCTL_I915_GET_RESET_STATS, &stats);
		break;
	case 4:
		set.param.ctx_id = any_context();
		if (!ioctl(drm, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &set.param) &&
		    set.param.param == I915_CONTEXT_PARAM_VM)
			have.vms[below(VMS)] = set.param.value;
		break;
	default:
		set.param.ctx_id = any_context();
		ioctl(drm, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set.param);
		break;
	}
}

static void vms(void)
{
	struct drm_i915_gem_vm_control request = { .flags = below(WILD) ? 0 : take(4) };
	uint32_t *place = &have.vms[below(VMS)];

	if (below(2)) {
		if (!ioctl(drm, DRM_IOCTL_I915_GEM_VM_CREATE, &request))
			*place = request.vm_id;
	} else {
		request.vm_id = *place;
		ioctl(drm, DRM_IOCTL_I915_GEM_VM_DESTROY, &request);
	}
}

static void syncobjs(void)
{
	uint32_t handles[2] = { any_syncobj(), any_syncobj() };
	uint64_t points[2] = { take(1), take(1) };
	struct drm_syncobj_create create = { .flags = below(2) };
	struct drm_syncobj_destroy destroy = { .handle = any_syncobj() };
	struct drm_syncobj_handle file = { any_syncobj(), below(2), any_fd(), 0 };
	struct drm_syncobj_array array = { (uintptr_t)handles, 1 + below(2), 0 };
	struct drm_syncobj_timeline_array timeline = { (uintptr_t)handles, (uintptr_t)points,
						       1 + below(2), below(2) };
	struct drm_syncobj_transfer transfer = { any_syncobj(), any_syncobj(), take(1),
						 take(1),	below(4),      0 };
	struct drm_syncobj_wait wait = { .handles = (uintptr_t)handles,
					 .timeout_nsec = 1, /* since boot: not at all */
					 .count_handles = 1 + below(2),
					 .flags = below(8) };

	switch (below(10)) {
	case 0:
		if (!ioctl(drm, DRM_IOCTL_SYNCOBJ_CREATE, &create))
			have.syncobjs[below(SYNCOBJS)] = create.handle;
		break;
	case 1:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
		break;
	case 2:
		if (!ioctl(drm, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file))
			keep_fd(file.fd);
		break;
	case 3:
		if (!ioctl(drm, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &file))
			have.syncobjs[below(SYNCOBJS)] = file.handle;
		break;
	case 4:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
		break;
	case 5:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_RESET, &array);
		break;
	case 6:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_SIGNAL, &array);
		break;
	case 7:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &timeline);
		break;
	case 8:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_QUERY, &timeline);
		break;
	default:
		ioctl(drm, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);
		break;
	}
}

static void share(void)
{
	struct drm_prime_handle request = { any_object(), below(4) ? O_RDWR : take(4), any_fd() };
	struct dma_buf_sync sync = { below(8) };
	struct drm_gem_flink name = { .handle = any_object() };
	struct drm_gem_open open_name;

	switch (below(4)) {
	case 0:
		if (!ioctl(drm, DRM_IOCTL_PRIME_HANDLE_TO_FD, &request))
			keep_fd(request.fd);
		break;
	case 1:
		if (!ioctl(drm, DRM_IOCTL_PRIME_FD_TO_HANDLE, &request))
			keep_object(request.handle);
		break;
	case 2:
		ioctl(any_fd(), DMA_BUF_IOCTL_SYNC, &sync);
		break;
	default:
		ioctl(drm, DRM_IOCTL_GEM_FLINK, &name);
		open_name = (struct drm_gem_open){ .name = name.name };
		if (!ioctl(drm, DRM_IOCTL_GEM_OPEN, &open_name))
			keep_object(open_name.handle);
		break;
	}
}

static void ask(void)
{
	static const uint32_t registers[] = { 0x2358, 0x22358, 0x12358, 0x1a358, 0x2000 };
	int value;
	struct drm_i915_getparam parameter = { below(WILD) ? below(64) : take(4), &value };
	struct drm_i915_query_item items[2] = { 0 };
	struct drm_i915_query query = { 1 + below(2), 0, (uintptr_t)items };
	struct drm_i915_reg_read reg = {
		.offset = (below(4) ? registers[below(COUNT(registers))] : take(3)) | below(4)
	};
	struct drm_i915_gem_get_aperture aperture;

	switch (below(5)) {
	case 0:
		ioctl(drm, DRM_IOCTL_I915_GETPARAM, &parameter);
		break;
	case 1:
		ioctl(drm, DRM_IOCTL_I915_REG_READ, &reg);
		break;
	case 2:
		ioctl(drm, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture);
		break;
	default:
		for (unsigned int i = 0; i < COUNT(items); i++) {
			items[i].query_id = below(WILD) ? 1 + below(6) : take(4);
			items[i].flags = below(WILD) ? below(4) : take(4);
			items[i].data_ptr = (uintptr_t)buffer;
		}
		if (!ioctl(drm, DRM_IOCTL_I915_QUERY, &query) && below(4)) {
			memset(buffer, 0, BUFFER_BYTES);
			for (unsigned int i = 0; i < COUNT(items); i++)
				if (items[i].length > (int)BUFFER_BYTES)
					items[i].length = BUFFER_BYTES;
			ioctl(drm, DRM_IOCTL_I915_QUERY, &query);
		}
		break;
	}
}

/* A vGPU has no OA unit; the arguments are checked nevertheless. */
static void perf(void)
{
	uint64_t properties[12];
	struct drm_i915_perf_open_param open_stream = { below(8), below(7), (uintptr_t)properties };
	struct drm_i915_perf_oa_config config = {
		.n_mux_regs = below(4),
		.n_boolean_regs = below(4),
		.n_flex_regs = below(4),
		.mux_regs_ptr = (uintptr_t)buffer,
		.boolean_regs_ptr = (uintptr_t)buffer,
		.flex_regs_ptr = (uintptr_t)buffer,
	};
	int fd;

	switch (below(3)) {
	case 0:
		for (unsigned int i = 0; i < COUNT(properties); i += 2) {
			properties[i] = 1 + below(9);
			properties[i + 1] = below(4) ? below(32) : take(8);
		}
		fd = ioctl(drm, DRM_IOCTL_I915_PERF_OPEN, &open_stream);
		if (fd >= 0)
			close(fd);
		break;
	case 1:
		memcpy(config.uuid, "01234567-0123-0123-0123-0123456789ab", sizeof(config.uuid));
		config.uuid[0] += below(8);
		for (unsigned int i = 0; i < 8; i++)
			buffer[i] = 0x9888 + 4 * below(256);
		fd = ioctl(drm, DRM_IOCTL_I915_PERF_ADD_CONFIG, &config);
		if (fd >= 0)
			have.configuration = fd;
		break;
	default:
		ioctl(drm, DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &have.configuration);
		break;
	}
}

/* Of all sizes: the kernel copies only as much as an ioctl's number says. */
static void anything(void)
{
	for (unsigned int i = 0; i < 16; i++)
		buffer[i] = below(4) ? below(4) ? take(1) : (uintptr_t)(buffer + 64) : take(8);
	ioctl(drm, _IOC(below(4), 'd', 0x40 + below(0x40), 8 * below(16)), buffer);
}

void call_any(void)
{
	static void (*const calls[])(void) = {
		submit_any, create, submit_any, manage_object, submit_any, contexts,
		submit_any, map,    submit_any, read_or_write, submit_any, syncobjs,
		submit_any, vms,    submit_any, userptr,       share,	   manage_object,
		contexts,   ask,    perf,	close_object,  anything,
	};

	calls[below(COUNT(calls))]();
}

bool calls_begin(void)
{
	memset(&have, 0, sizeof(have));
	for (unsigned int i = 0; i < FDS; i++)
		have.fds[i] = -1;
	drm = open(below(4) ? "/dev/dri/renderD128" : "/dev/dri/card0", O_RDWR | O_CLOEXEC);
	if (drm < 0)
		return false;
	batches_begin();
	return true;
}

void calls_end(void)
{
	batches_wait();
	for (unsigned int i = 0; i < FDS; i++)
		if (have.fds[i] >= 0)
			close(have.fds[i]);
	close(drm);
}
