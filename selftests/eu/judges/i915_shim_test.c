// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/i915-shim as a driver sees it. The program is linked with the library's sources, whose
 * functions then stand in front of the C library's as in a preloaded library, so that sanitizers
 * see both sides.
 */
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>
#include <cmocka.h>
#include "shim.h"

#define NODE "/dev/dri/renderD128"
#define PAGE 4096u
#define PLACE 0x7f0000000000ull
#define FAR_PLACE 0xffff800000100000ull /* canonical form of an address with bit 47 */
#define MI(opcode, length) ((uint32_t)(opcode) << 23 | (length))
#define BATCH_END MI(0x0a, 0)
#define STORE MI(0x20, 2)
#define SEMAPHORE_WAIT_EQUAL (MI(0x1c, 2) | 1u << 15 | 4u << 12)
#define UNKNOWN_COMMAND MI(0x16, 0)
#define LO(address) ((uint32_t)(address))
#define HI(address) ((uint32_t)((uint64_t)(address) >> 32))

static int node;

static int setup(void **state)
{
	(void)state;
	node = open(NODE, O_RDWR | O_CLOEXEC);
	return node < 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(node);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define assert_done(call) assert_int_equal((call) ? errno : 0, 0)
#define assert_refused(call, why)             \
	do {                                  \
		assert_int_equal((call), -1); \
		assert_int_equal(errno, why); \
	} while (0)

/* ---- helpers ---- */

struct buffer {
	uint32_t handle;
	uint64_t bytes;
	uint32_t *memory;
	uint64_t address;
	uint64_t flags;
};

static void *map_handle(uint32_t handle, uint64_t bytes)
{
	struct drm_i915_gem_mmap_offset offset = { .handle = handle, .flags = I915_MMAP_OFFSET_WB };
	void *memory;

	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset));
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node, offset.offset);
	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static struct buffer make(uint64_t bytes, uint64_t address)
{
	struct drm_i915_gem_create create = { .size = bytes };

	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &create));
	return (struct buffer){ .handle = create.handle,
				.bytes = bytes,
				.memory = map_handle(create.handle, bytes),
				.address = address,
				.flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS };
}

static void drop(struct buffer *buffer)
{
	struct drm_gem_close close = { .handle = buffer->handle };

	assert_done(ioctl(node, DRM_IOCTL_GEM_CLOSE, &close));
	munmap(buffer->memory, buffer->bytes);
}

static void wait_idle(const struct buffer *buffer)
{
	struct drm_i915_gem_wait wait = { .bo_handle = buffer->handle, .timeout_ns = -1 };

	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_WAIT, &wait));
}

static bool is_busy(const struct buffer *buffer)
{
	struct drm_i915_gem_busy busy = { .handle = buffer->handle };

	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_BUSY, &busy));
	return busy.busy;
}

static uint32_t make_context(void)
{
	struct drm_i915_gem_context_create create = {};

	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create));
	return create.ctx_id;
}

/* The last buffer is the batch. */
static int execute(uint32_t context, uint64_t flags, struct buffer *const *buffers,
		   unsigned int count, struct drm_i915_gem_execbuffer2 *more)
{
	struct drm_i915_gem_exec_object2 objects[4] = {};
	struct drm_i915_gem_execbuffer2 args = more ? *more : (struct drm_i915_gem_execbuffer2){};
	int status;

	for (unsigned int i = 0; i < count; i++)
		objects[i] = (struct drm_i915_gem_exec_object2){ .handle = buffers[i]->handle,
								 .offset = buffers[i]->address,
								 .flags = buffers[i]->flags };
	args.buffers_ptr = (uintptr_t)objects;
	args.buffer_count = count;
	args.flags |= flags;
	args.rsvd1 = context;
	status = ioctl(node,
		       more ? DRM_IOCTL_I915_GEM_EXECBUFFER2_WR : DRM_IOCTL_I915_GEM_EXECBUFFER2,
		       &args);
	if (more)
		*more = args;
	for (unsigned int i = 0; i < count; i++)
		buffers[i]->address = objects[i].offset;
	return status;
}

#define BUFFERS(...)                               \
	((struct buffer *const[]){ __VA_ARGS__ }), \
		(sizeof((struct buffer *const[]){ __VA_ARGS__ }) / sizeof(struct buffer *))

static void put(struct buffer *batch, const uint32_t *dwords, size_t bytes)
{
	memcpy(batch->memory, dwords, bytes);
}

#define PUT(batch, ...) \
	put(batch, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }))

static void put_store(struct buffer *batch, uint64_t address, uint32_t value)
{
	PUT(batch, STORE, LO(address), HI(address), value, BATCH_END, 0);
}

/* ---- the device ---- */

static void libdrm_finds_the_device(void **state)
{
	drmVersionPtr version = drmGetVersion(node);
	drmDevicePtr device = NULL, devices[4];
	struct stat st;

	(void)state;
	assert_string_equal(version->name, "i915");
	drmFreeVersion(version);
	assert_done(fstat(node, &st));
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(major(st.st_rdev), 226);
	assert_int_equal(minor(st.st_rdev), 128);
	assert_int_equal(drmGetDevice2(node, 0, &device), 0);
	assert_int_equal(device->deviceinfo.pci->vendor_id, 0x8086);
	assert_int_equal(device->deviceinfo.pci->device_id, 0x1912);
	drmFreeDevice(&device);
	assert_int_equal(drmGetDevices2(0, devices, 4), 1);
	drmFreeDevices(devices, 1);
}

static void a_copy_of_the_fd_is_the_same_file(void **state)
{
	struct drm_i915_gem_create create = { .size = PAGE };
	struct drm_gem_close close_handle;
	int copy = fcntl(node, F_DUPFD_CLOEXEC, 3);

	(void)state;
	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &create));
	close_handle = (struct drm_gem_close){ .handle = create.handle };
	assert_done(ioctl(copy, DRM_IOCTL_GEM_CLOSE, &close_handle));
	close(copy);
	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &create));
}

static void an_unknown_ioctl_is_invalid(void **state)
{
	uint32_t args[16] = {};

	(void)state;
	assert_refused(ioctl(node, DRM_IOCTL_I915_OVERLAY_ATTRS, args), EINVAL);
}

/* ---- objects ---- */

static void all_mappings_of_an_object_show_its_bytes(void **state)
{
	struct buffer buffer = make(2 * PAGE, 0);
	struct drm_i915_gem_mmap map = { .handle = buffer.handle, .size = PAGE, .offset = PAGE };
	uint32_t value = 0x12345678;
	struct drm_i915_gem_pwrite write = { .handle = buffer.handle,
					     .offset = PAGE + 4,
					     .size = 4,
					     .data_ptr = (uintptr_t)&value };

	(void)state;
	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_MMAP, &map));
	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_PWRITE, &write));
	assert_int_equal(buffer.memory[PAGE / 4 + 1], value);
	assert_int_equal(((uint32_t *)(uintptr_t)map.addr_ptr)[1], value);
	munmap((void *)(uintptr_t)map.addr_ptr, PAGE);
	drop(&buffer);
}

static void a_mapping_outlives_the_handle_and_new_objects_are_zero(void **state)
{
	struct buffer first = make(PAGE, 0), second;
	struct drm_gem_close close_handle = { .handle = first.handle };

	(void)state;
	first.memory[0] = 1;
	assert_done(ioctl(node, DRM_IOCTL_GEM_CLOSE, &close_handle));
	second = make(PAGE, 0);
	second.memory[0] = 2;
	assert_int_equal(first.memory[0], 1);
	munmap(first.memory, PAGE);
	drop(&second);
	first = make(PAGE, 0);
	second = make(PAGE, 0);
	assert_int_equal(first.memory[0], 0);
	assert_int_equal(second.memory[0], 0);
	drop(&first);
	drop(&second);
}

static void an_imported_object_has_one_handle(void **state)
{
	struct buffer buffer = make(PAGE, 0);
	struct drm_prime_handle prime = { .handle = buffer.handle, .flags = DRM_CLOEXEC };

	(void)state;
	assert_done(ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	assert_int_equal(lseek(prime.fd, 0, SEEK_END), PAGE);
	prime.handle = 0;
	assert_done(ioctl(node, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	assert_int_equal(prime.handle, buffer.handle);
	close(prime.fd);
	drop(&buffer);
}

/* ---- batches ---- */

static void a_batch_stores_to_a_pinned_object(void **state)
{
	struct buffer data = make(2 * PAGE, FAR_PLACE), batch = make(PAGE, PLACE);

	(void)state;
	put_store(&batch, FAR_PLACE + PAGE + 8, 42);
	assert_done(execute(0, I915_EXEC_RENDER, BUFFERS(&data, &batch), NULL));
	assert_int_equal(data.address, FAR_PLACE);
	wait_idle(&data);
	assert_int_equal(data.memory[PAGE / 4 + 2], 42);
	drop(&data);
	drop(&batch);
}

static void a_relocation_finds_the_place_of_its_target(void **state)
{
	struct buffer data = make(PAGE, 0), batch = make(PAGE, 0);
	struct drm_i915_gem_relocation_entry entry = {
		.target_handle = data.handle, .delta = 16, .offset = 4, .presumed_offset = -1
	};
	struct drm_i915_gem_exec_object2 objects[] = {
		{ .handle = data.handle },
		{ .handle = batch.handle, .relocation_count = 1, .relocs_ptr = (uintptr_t)&entry },
	};
	struct drm_i915_gem_execbuffer2 args = { .buffers_ptr = (uintptr_t)objects,
						 .buffer_count = 2,
						 .flags = I915_EXEC_RENDER };

	(void)state;
	put_store(&batch, 0, 7);
	assert_done(ioctl(node, DRM_IOCTL_I915_GEM_EXECBUFFER2, &args));
	assert_int_equal(entry.presumed_offset, objects[0].offset);
	wait_idle(&data);
	assert_int_equal(data.memory[4], 7);
	drop(&data);
	drop(&batch);
}

static void a_pinned_object_takes_the_place_of_another(void **state)
{
	struct buffer old = make(PAGE, PLACE + PAGE), new = make(PAGE, PLACE + PAGE);
	struct buffer batch = make(PAGE, PLACE);

	(void)state;
	put_store(&batch, PLACE + PAGE, 1);
	assert_done(execute(0, I915_EXEC_RENDER, BUFFERS(&old, &batch), NULL));
	assert_done(execute(0, I915_EXEC_RENDER, BUFFERS(&new, &batch), NULL));
	wait_idle(&new);
	assert_int_equal(old.memory[0], 1);
	assert_int_equal(new.memory[0], 1);
	drop(&old);
	drop(&new);
	drop(&batch);
}

static void user_memory_is_an_object_and_may_be_read_only(void **state)
{
	uint32_t *memory = aligned_alloc(PAGE, PAGE);
	struct drm_i915_gem_userptr user = { .user_ptr = (uintptr_t)memory, .user_size = PAGE };
	struct buffer data = { .flags = EXEC_OBJECT_PINNED, .address = PLACE + PAGE };
	struct buffer batch = make(PAGE, PLACE);
	struct drm_gem_close close_handle;

	(void)state;
	memset(memory, 0, PAGE);
	for (int i = 0; i < 2; i++) {
		user.flags = i ? I915_USERPTR_READ_ONLY : I915_USERPTR_PROBE;
		assert_done(ioctl(node, DRM_IOCTL_I915_GEM_USERPTR, &user));
		data.handle = user.handle;
		put_store(&batch, PLACE + PAGE, i + 1);
		assert_done(execute(0, I915_EXEC_RENDER, BUFFERS(&data, &batch), NULL));
		wait_idle(&batch);
		assert_int_equal(memory[0], 1);
		close_handle = (struct drm_gem_close){ .handle = user.handle };
		assert_done(ioctl(node, DRM_IOCTL_GEM_CLOSE, &close_handle));
	}
	drop(&batch);
	free(memory);
}

/* XY_SRC_COPY_BLT of 16 x 16 pixels of four bytes. */
static void the_copy_engine_copies(void **state)
{
	struct buffer from = make(PAGE, PLACE + PAGE), to = make(PAGE, PLACE + 2 * PAGE);
	struct buffer batch = make(PAGE, PLACE);

	(void)state;
	for (unsigned int i = 0; i < PAGE / 4; i++)
		from.memory[i] = i;
	PUT(&batch, 2u << 29 | 0x53u << 22 | 3u << 20 | 8, 0xccu << 16 | 3u << 24 | 64, 0,
	    16u << 16 | 16, LO(to.address), HI(to.address), 0, 64, LO(from.address),
	    HI(from.address), BATCH_END, 0);
	assert_done(execute(0, I915_EXEC_BLT, BUFFERS(&from, &to, &batch), NULL));
	wait_idle(&to);
	assert_memory_equal(from.memory, to.memory, 16 * 64);
	assert_int_equal(to.memory[16 * 16], 0);
	drop(&from);
	drop(&to);
	drop(&batch);
}

/* ---- order ---- */

/* A batch that waits until the CPU stores 1 at the start of @gate, and then stores to @data. */
static void put_wait(struct buffer *batch, const struct buffer *gate, uint64_t data, uint32_t value)
{
	PUT(batch, SEMAPHORE_WAIT_EQUAL, 1, LO(gate->address), HI(gate->address), STORE, LO(data),
	    HI(data), value, BATCH_END, 0);
}

static void open_gate(struct buffer *gate)
{
	__atomic_store_n(&gate->memory[0], 1, __ATOMIC_RELEASE);
}

static void a_writer_waits_for_the_writer_of_another_context(void **state)
{
	struct buffer gate = make(PAGE, PLACE), data = make(PAGE, PLACE + PAGE);
	struct buffer first = make(PAGE, PLACE + 2 * PAGE), second = make(PAGE, PLACE + 3 * PAGE);
	uint32_t contexts[] = { make_context(), make_context() };

	(void)state;
	data.flags |= EXEC_OBJECT_WRITE;
	put_wait(&first, &gate, data.address, 1);
	put_store(&second, data.address, 2);
	assert_done(execute(contexts[0], 0, BUFFERS(&gate, &data, &first), NULL));
	assert_done(execute(contexts[1], 0, BUFFERS(&data, &second), NULL));
	usleep(20000);
	assert_true(is_busy(&second));
	assert_int_equal(data.memory[0], 0);
	open_gate(&gate);
	wait_idle(&data);
	assert_int_equal(data.memory[0], 2);
	drop(&gate);
	drop(&data);
	drop(&first);
	drop(&second);
}

static void a_batch_may_wait_for_one_that_is_submitted_later(void **state)
{
	struct buffer gate = make(PAGE, PLACE), first = make(PAGE, PLACE + 2 * PAGE);
	struct buffer second = make(PAGE, PLACE + 3 * PAGE);
	uint32_t contexts[] = { make_context(), make_context() };

	(void)state;
	put_wait(&first, &gate, gate.address + 8, 5);
	put_store(&second, gate.address, 1);
	assert_done(execute(contexts[0], 0, BUFFERS(&gate, &first), NULL));
	assert_done(execute(contexts[1], 0, BUFFERS(&gate, &second), NULL));
	wait_idle(&first);
	assert_int_equal(gate.memory[2], 5);
	drop(&gate);
	drop(&first);
	drop(&second);
}

static void a_sync_file_becomes_readable_when_the_batch_ends(void **state)
{
	struct buffer gate = make(PAGE, PLACE), batch = make(PAGE, PLACE + PAGE);
	struct buffer other = make(PAGE, PLACE + 2 * PAGE);
	struct drm_i915_gem_execbuffer2 out = {}, in = {};
	struct pollfd wait = { .events = POLLIN };

	(void)state;
	put_wait(&batch, &gate, gate.address + 8, 5);
	assert_done(execute(make_context(), I915_EXEC_FENCE_OUT, BUFFERS(&gate, &batch), &out));
	wait.fd = out.rsvd2 >> 32;
	assert_int_equal(poll(&wait, 1, 20), 0);
	PUT(&other, BATCH_END, 0);
	in.rsvd2 = wait.fd;
	assert_done(execute(make_context(), I915_EXEC_FENCE_IN, BUFFERS(&other), &in));
	usleep(20000);
	assert_true(is_busy(&other));
	open_gate(&gate);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	wait_idle(&other);
	close(wait.fd);
	drop(&gate);
	drop(&batch);
	drop(&other);
}

static uint32_t make_syncobj(void)
{
	struct drm_syncobj_create create = {};

	assert_done(ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	return create.handle;
}

static int64_t soon(void)
{
	return now_ns() + 20 * 1000 * 1000;
}

static void a_syncobj_is_signalled_by_its_batch(void **state)
{
	struct buffer gate = make(PAGE, PLACE), batch = make(PAGE, PLACE + PAGE);
	uint32_t syncobj = make_syncobj();
	struct drm_i915_gem_exec_fence fence = { .handle = syncobj,
						 .flags = I915_EXEC_FENCE_SIGNAL };
	struct drm_i915_gem_execbuffer2 args = { .cliprects_ptr = (uintptr_t)&fence,
						 .num_cliprects = 1 };
	struct drm_syncobj_wait wait = { .handles = (uintptr_t)&syncobj, .count_handles = 1 };

	(void)state;
	assert_refused(ioctl(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait), EINVAL); /* no fence yet */
	put_wait(&batch, &gate, gate.address + 8, 5);
	assert_done(execute(0, I915_EXEC_FENCE_ARRAY, BUFFERS(&gate, &batch), &args));
	wait.timeout_nsec = soon();
	assert_refused(ioctl(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait), ETIME);
	open_gate(&gate);
	wait.timeout_nsec = INT64_MAX;
	assert_done(ioctl(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait));
	drop(&gate);
	drop(&batch);
}

static void points_of_a_timeline_complete_in_order(void **state)
{
	struct buffer batch = make(PAGE, PLACE);
	uint32_t syncobj = make_syncobj();
	uint64_t point = 5, reached = 9;
	struct drm_i915_gem_exec_fence fence = { .handle = syncobj,
						 .flags = I915_EXEC_FENCE_SIGNAL };
	struct drm_i915_gem_execbuffer_ext_timeline_fences extension = {
		.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES,
		.fence_count = 1,
		.handles_ptr = (uintptr_t)&fence,
		.values_ptr = (uintptr_t)&point,
	};
	struct drm_i915_gem_execbuffer2 args = { .cliprects_ptr = (uintptr_t)&extension };
	struct drm_syncobj_timeline_wait wait = { .handles = (uintptr_t)&syncobj,
						  .points = (uintptr_t)&point,
						  .timeout_nsec = INT64_MAX,
						  .count_handles = 1,
						  .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT };
	struct drm_syncobj_timeline_array query = { .handles = (uintptr_t)&syncobj,
						    .points = (uintptr_t)&reached,
						    .count_handles = 1 };

	(void)state;
	assert_done(ioctl(node, DRM_IOCTL_SYNCOBJ_QUERY, &query));
	assert_int_equal(reached, 0);
	PUT(&batch, BATCH_END, 0);
	assert_done(execute(0, I915_EXEC_USE_EXTENSIONS, BUFFERS(&batch), &args));
	point = 3;
	assert_done(ioctl(node, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait));
	assert_done(ioctl(node, DRM_IOCTL_SYNCOBJ_QUERY, &query));
	assert_int_equal(reached, 5);
	point = 6;
	wait.timeout_nsec = soon();
	assert_refused(ioctl(node, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait), ETIME);
	drop(&batch);
}

/* ---- errors ---- */

static struct drm_i915_reset_stats reset_stats(uint32_t context)
{
	struct drm_i915_reset_stats stats = { .ctx_id = context };

	assert_done(ioctl(node, DRM_IOCTL_I915_GET_RESET_STATS, &stats));
	return stats;
}

static void a_bad_batch_costs_its_context_only(void **state)
{
	struct buffer bad = make(PAGE, PLACE), good = make(PAGE, PLACE + PAGE);
	uint32_t contexts[] = { make_context(), make_context() };
	uint32_t before = reset_stats(contexts[1]).reset_count;

	(void)state;
	PUT(&bad, UNKNOWN_COMMAND, BATCH_END);
	put_store(&good, PLACE + PAGE + 64, 3);
	assert_done(execute(contexts[0], 0, BUFFERS(&bad), NULL));
	wait_idle(&bad);
	assert_refused(execute(contexts[0], 0, BUFFERS(&good), NULL), EIO);
	assert_int_equal(reset_stats(contexts[0]).batch_active, 1);
	assert_int_equal(reset_stats(contexts[1]).batch_active, 0);
	assert_int_equal(reset_stats(contexts[1]).reset_count, before + 1);
	assert_done(execute(contexts[1], 0, BUFFERS(&good), NULL));
	wait_idle(&good);
	assert_int_equal(good.memory[16], 3);
	drop(&bad);
	drop(&good);
}

static void an_address_without_an_object_fails_the_batch(void **state)
{
	struct buffer batch = make(PAGE, PLACE);
	uint32_t context = make_context();

	(void)state;
	put_store(&batch, PLACE + 16 * PAGE, 3);
	assert_done(execute(context, 0, BUFFERS(&batch), NULL));
	wait_idle(&batch);
	assert_int_equal(reset_stats(context).batch_active, 1);
	drop(&batch);
}

/* Returns what @call writes to stderr. */
static const char *said(void (*call)(void *argument), void *argument)
{
	static char text[4096];
	int pipes[2], before = dup(STDERR_FILENO);
	ssize_t bytes;

	assert_done(pipe(pipes));
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	call(argument);
	dup2(before, STDERR_FILENO);
	close(before);
	bytes = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	text[bytes < 0 ? 0 : bytes] = '\0';
	return text;
}

struct dispatch {
	struct buffer state, batch;
	uint32_t context;
};

static void run_dispatch(void *argument)
{
	struct dispatch *dispatch = argument;

	assert_done(execute(dispatch->context, I915_EXEC_RENDER,
			    BUFFERS(&dispatch->state, &dispatch->batch), NULL));
	wait_idle(&dispatch->batch);
}

/* The first page of the state is the kernel, the second one the interface descriptor. */
static void an_error_of_a_kernel_names_the_instruction(void **state)
{
	struct dispatch dispatch = { .state = make(2 * PAGE, PLACE + PAGE),
				     .batch = make(PAGE, PLACE),
				     .context = make_context() };
	uint32_t lo = LO(PLACE + PAGE) | 1, hi = HI(PLACE + PAGE), all = 0xfffff001;
	const char *text;

	(void)state;
	dispatch.state.memory[PAGE / 4 + 6] = 1; /* one thread in a group */
	PUT(&dispatch.batch, 0x61010011, lo, hi, 0, lo, hi, lo, hi, lo, hi, lo, hi, all, all, all,
	    all, 0, 0, 0, 0x70000007, 0, 0, 7u << 16 | 2u << 8, 0, 2u << 16, 0, 0, 0, 0x70020002, 0,
	    32, PAGE, 0x7105000d, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, ~0u, ~0u, BATCH_END);
	text = said(run_dispatch, &dispatch);
	assert_int_equal(reset_stats(dispatch.context).batch_active, 1);
	assert_non_null(strstr(text, "GPGPU_WALKER"));
	assert_non_null(strstr(text, "instruction at 0x7f0000001000: 00000000"));
	drop(&dispatch.state);
	drop(&dispatch.batch);
}

/* ---- threads ---- */

static void *submit_many(void *argument)
{
	uint32_t number = (uint32_t)(uintptr_t)argument, context = make_context();
	struct buffer data = make(PAGE, PLACE), batch;

	for (unsigned int i = 0; i < 100; i++) {
		batch = make(PAGE, PLACE + PAGE);
		put_store(&batch, PLACE + 4 * i, number + i);
		assert_done(execute(context, 0, BUFFERS(&data, &batch), NULL));
		drop(&batch);
	}
	wait_idle(&data);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(data.memory[i], number + i);
	drop(&data);
	return NULL;
}

static void threads_submit_at_the_same_time(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, submit_many, (void *)(1000 * i));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(libdrm_finds_the_device),
		TEST(a_copy_of_the_fd_is_the_same_file),
		TEST(an_unknown_ioctl_is_invalid),
		TEST(all_mappings_of_an_object_show_its_bytes),
		TEST(a_mapping_outlives_the_handle_and_new_objects_are_zero),
		TEST(an_imported_object_has_one_handle),
		TEST(a_batch_stores_to_a_pinned_object),
		TEST(a_relocation_finds_the_place_of_its_target),
		TEST(a_pinned_object_takes_the_place_of_another),
		TEST(user_memory_is_an_object_and_may_be_read_only),
		TEST(the_copy_engine_copies),
		TEST(a_writer_waits_for_the_writer_of_another_context),
		TEST(a_batch_may_wait_for_one_that_is_submitted_later),
		TEST(a_sync_file_becomes_readable_when_the_batch_ends),
		TEST(a_syncobj_is_signalled_by_its_batch),
		TEST(points_of_a_timeline_complete_in_order),
		TEST(a_bad_batch_costs_its_context_only),
		TEST(an_address_without_an_object_fails_the_batch),
		TEST(an_error_of_a_kernel_names_the_instruction),
		TEST(threads_submit_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
