// SPDX-License-Identifier: GPL-2.0-only
/*
 * spin priority|timeslice|semaphore|stubborn: batches that keep the render engine busy until
 * another context gets it. Each mode needs another way in which hardware switches contexts.
 *
 * priority: a batch loops over an arbitration point; a context of higher priority must preempt it.
 * timeslice: a batch loops over an arbitration point; a context of the same priority gets a slice.
 * semaphore: a batch waits for memory that a batch of the same priority writes after it.
 * stubborn: a batch loops without an arbitration point; the driver must reset the engine.
 *
 * Exit status: 0 as expected, 1 not, 77 no i915 device.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <xf86drm.h>
#include "gem.h"

#define MI_SEMAPHORE_WAIT (0x1cu << 23 | 1u << 15 | 4u << 12 | 2) /* poll, equal */
#define SPINNER_ADDRESS 0x40000000ull
#define OTHER_ADDRESS 0x44000000ull
#define FLAG_ADDRESS 0x48000000ull
#define FLAG_BYTES 4096
#define FLAG_VALUE 0x600dcafeu
#define PRIORITY_LOW (-500)
#define PRIORITY_HIGH 500
#define WAIT_S 60

/* An object, and the memory of it that the CPU sees while an engine uses it. */
struct buffer {
	uint32_t handle;
	volatile uint32_t *words;
};

struct scene {
	struct gem spinner, other;
	struct buffer spinner_commands, other_commands, flag;
};

static struct batch batch;

static int fail(const char *what, int ret)
{
	printf("%s: %s\n", what, strerror(-ret));
	return ret;
}

static int make_buffer(const struct gem *gem, uint64_t bytes, struct buffer *buffer)
{
	struct drm_i915_gem_mmap map = { .size = bytes };
	int ret = gem_create(gem, bytes, &buffer->handle);

	if (ret)
		return ret;
	map.handle = buffer->handle;
	if (drmIoctl(gem->fd, DRM_IOCTL_I915_GEM_MMAP, &map))
		return -errno;
	buffer->words = (volatile uint32_t *)(uintptr_t)map.addr_ptr;
	return 0;
}

static int set_priority(const struct gem *gem, int priority)
{
	struct drm_i915_gem_context_param parameter = {
		.ctx_id = gem->context,
		.param = I915_CONTEXT_PARAM_PRIORITY,
		.value = (uint64_t)(int64_t)priority,
	};

	return drmIoctl(gem->fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &parameter) ? -errno : 0;
}

static int make_scene(struct scene *scene)
{
	int ret = gem_open(&scene->spinner);

	if (!ret)
		ret = gem_another_context(&scene->spinner, &scene->other);
	if (!ret)
		ret = make_buffer(&scene->spinner, BATCH_BYTES, &scene->spinner_commands);
	if (!ret)
		ret = make_buffer(&scene->spinner, BATCH_BYTES, &scene->other_commands);
	if (!ret)
		ret = make_buffer(&scene->spinner, FLAG_BYTES, &scene->flag);
	return ret;
}

static void emit_address(uint64_t address)
{
	batch_emit(&batch, (uint32_t)address);
	batch_emit(&batch, address >> 32);
}

static int submit_loop(const struct scene *scene, uint32_t first)
{
	batch_init(&batch, true);
	batch_emit(&batch, first);
	batch_emit(&batch, MI_BATCH_BUFFER_START_PPGTT);
	emit_address(SPINNER_ADDRESS);
	return batch_submit(&batch, &scene->spinner, scene->spinner_commands.handle,
			    SPINNER_ADDRESS, I915_EXEC_RENDER);
}

static int submit_wait(const struct scene *scene)
{
	batch_init(&batch, true);
	/* Not marked as written: the kernel must not order the two batches. */
	batch_object(&batch, scene->flag.handle, FLAG_ADDRESS, false);
	batch.object[0].flags |= EXEC_OBJECT_ASYNC;
	batch_emit(&batch, MI_SEMAPHORE_WAIT);
	batch_emit(&batch, FLAG_VALUE);
	emit_address(FLAG_ADDRESS);
	return batch_submit(&batch, &scene->spinner, scene->spinner_commands.handle,
			    SPINNER_ADDRESS, I915_EXEC_RENDER);
}

static int submit_store(const struct scene *scene)
{
	batch_init(&batch, true);
	batch_object(&batch, scene->flag.handle, FLAG_ADDRESS, false);
	batch.object[0].flags |= EXEC_OBJECT_ASYNC;
	batch_emit(&batch, MI_STORE_DATA_IMM);
	emit_address(FLAG_ADDRESS);
	batch_emit(&batch, FLAG_VALUE);
	return batch_submit(&batch, &scene->other, scene->other_commands.handle, OTHER_ADDRESS,
			    I915_EXEC_RENDER);
}

/* The spinner runs, the store gets the engine nevertheless. */
static int store_gets_through(const struct scene *scene)
{
	int ret = submit_store(scene);

	if (ret)
		return fail("submission of the store", ret);
	ret = gem_wait(&scene->other, scene->other_commands.handle, WAIT_S);
	if (ret)
		return fail("wait for the store", ret);
	if (*scene->flag.words != FLAG_VALUE)
		return fail("the store had no effect", -EILSEQ);
	return 0;
}

static int expect_guilty(const struct gem *gem, bool expected)
{
	int guilty = gem_guilty(gem);

	if (guilty < 0)
		return fail("reset statistics", guilty);
	if (!guilty == !expected)
		return 0;
	printf("%d resets by the spinner\n", guilty);
	return -EILSEQ;
}

static int wait_for_spinner(const struct scene *scene)
{
	int ret = gem_wait(&scene->spinner, scene->spinner_commands.handle, WAIT_S);

	return ret ? fail("wait for the spinner", ret) : 0;
}

/* The spinner must yield by itself, and complete afterwards. */
static int run_timeslice(const struct scene *scene)
{
	int ret = submit_loop(scene, MI_ARB_CHECK);

	if (!ret)
		ret = store_gets_through(scene);
	*scene->spinner_commands.words = MI_BATCH_BUFFER_END;
	return ret ?: wait_for_spinner(scene) ?: expect_guilty(&scene->spinner, false);
}

static int run_priority(const struct scene *scene)
{
	int ret = set_priority(&scene->spinner, PRIORITY_LOW);

	if (!ret)
		ret = set_priority(&scene->other, PRIORITY_HIGH);
	if (ret)
		return fail("priority", ret);
	return run_timeslice(scene);
}

static int run_semaphore(const struct scene *scene)
{
	int ret = submit_wait(scene);

	if (!ret)
		ret = store_gets_through(scene);
	return ret ?: wait_for_spinner(scene) ?: expect_guilty(&scene->spinner, false);
}

static int run_stubborn(const struct scene *scene)
{
	int ret = set_priority(&scene->spinner, PRIORITY_LOW);

	if (!ret)
		ret = set_priority(&scene->other, PRIORITY_HIGH);
	if (!ret)
		ret = submit_loop(scene, MI_NOOP);
	if (!ret)
		ret = store_gets_through(scene);
	*scene->spinner_commands.words = MI_BATCH_BUFFER_END;
	return ret ?: wait_for_spinner(scene) ?: expect_guilty(&scene->spinner, true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct scene *scene);
	} modes[] = {
		{ "priority", run_priority },
		{ "timeslice", run_timeslice },
		{ "semaphore", run_semaphore },
		{ "stubborn", run_stubborn },
	};
	struct scene scene = { 0 };
	int ret;

	for (unsigned int i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		ret = make_scene(&scene);
		if (ret == -ENODEV)
			return 77;
		if (ret)
			fail("preparation", ret);
		else
			ret = modes[i].run(&scene);
		return ret ? 1 : 0;
	}
	fprintf(stderr, "usage: spin priority|timeslice|semaphore|stubborn\n");
	return 1;
}
