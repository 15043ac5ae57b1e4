// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>
#include "gem.h"

#define RENDER_NODE_FIRST 128
#define RENDER_NODES 16

static int call(const struct gem *gem, unsigned long request, void *argument)
{
	return drmIoctl(gem->fd, request, argument) ? -errno : 0;
}

static bool is_i915(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool found = version && !strcmp(version->name, "i915");

	drmFreeVersion(version);
	return found;
}

static int open_node(void)
{
	for (int i = 0; i < RENDER_NODES; i++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", RENDER_NODE_FIRST + i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_i915(fd))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

int gem_open(struct gem *gem)
{
	struct drm_i915_gem_context_create create = { 0 };
	int device_id = 0;
	struct drm_i915_getparam parameter = { .param = I915_PARAM_CHIPSET_ID,
					       .value = &device_id };
	int ret;

	gem->fd = open_node();
	if (gem->fd < 0)
		return gem->fd;
	ret = call(gem, DRM_IOCTL_I915_GETPARAM, &parameter);
	if (!ret)
		ret = call(gem, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);
	if (ret) {
		close(gem->fd);
		return ret;
	}
	gem->context = create.ctx_id;
	gem->gen = device_id >> 8 == 0x16 || device_id >> 8 == 0x22 ? 8 : 9;
	return 0;
}

int gem_another_context(const struct gem *gem, struct gem *another)
{
	struct drm_i915_gem_context_create create = { 0 };
	int ret = call(gem, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create);

	*another = *gem;
	another->context = create.ctx_id;
	return ret;
}

void gem_close(struct gem *gem)
{
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = gem->context };

	call(gem, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
	close(gem->fd);
}

int gem_create(const struct gem *gem, uint64_t bytes, uint32_t *handle)
{
	struct drm_i915_gem_create create = { .size = bytes };
	int ret = call(gem, DRM_IOCTL_I915_GEM_CREATE, &create);

	*handle = create.handle;
	return ret;
}

int gem_read_only(const struct gem *gem, void *pages, uint64_t bytes, uint32_t *handle)
{
	struct drm_i915_gem_userptr user = { .user_ptr = (uintptr_t)pages,
					     .user_size = bytes,
					     .flags = I915_USERPTR_READ_ONLY };
	int ret = call(gem, DRM_IOCTL_I915_GEM_USERPTR, &user);

	*handle = user.handle;
	return ret;
}

void gem_destroy(const struct gem *gem, uint32_t handle)
{
	struct drm_gem_close arguments = { .handle = handle };

	call(gem, DRM_IOCTL_GEM_CLOSE, &arguments);
}

int gem_write(const struct gem *gem, uint32_t handle, uint64_t offset, const void *data,
	      uint64_t bytes)
{
	struct drm_i915_gem_pwrite arguments = {
		.handle = handle,
		.offset = offset,
		.size = bytes,
		.data_ptr = (uintptr_t)data,
	};

	return call(gem, DRM_IOCTL_I915_GEM_PWRITE, &arguments);
}

int gem_read(const struct gem *gem, uint32_t handle, uint64_t offset, void *data, uint64_t bytes)
{
	struct drm_i915_gem_pread arguments = {
		.handle = handle,
		.offset = offset,
		.size = bytes,
		.data_ptr = (uintptr_t)data,
	};

	return call(gem, DRM_IOCTL_I915_GEM_PREAD, &arguments);
}

int gem_wait(const struct gem *gem, uint32_t handle, double timeout_s)
{
	struct drm_i915_gem_wait arguments = { .bo_handle = handle, .timeout_ns = timeout_s * 1e9 };

	return call(gem, DRM_IOCTL_I915_GEM_WAIT, &arguments);
}

int gem_guilty(const struct gem *gem)
{
	struct drm_i915_reset_stats stats = { .ctx_id = gem->context };
	int ret = call(gem, DRM_IOCTL_I915_GET_RESET_STATS, &stats);

	return ret ? ret : (int)stats.batch_active;
}

void batch_init(struct batch *batch, bool softpin)
{
	memset(batch, 0, sizeof(*batch));
	batch->softpin = softpin;
}

unsigned int batch_object(struct batch *batch, uint32_t handle, uint64_t address, bool write)
{
	struct drm_i915_gem_exec_object2 *object = &batch->object[batch->objects];

	object->handle = handle;
	object->flags = EXEC_OBJECT_SUPPORTS_48B_ADDRESS | (write ? EXEC_OBJECT_WRITE : 0);
	if (batch->softpin) {
		object->flags |= EXEC_OBJECT_PINNED;
		object->offset = address;
	}
	return batch->objects++;
}

void batch_emit(struct batch *batch, uint32_t dword)
{
	/* Reserve two dwords for the end of the batch. */
	if (batch->dwords + 2 >= BATCH_DWORDS)
		batch->overflow = true;
	else
		batch->dword[batch->dwords++] = dword;
}

void batch_address(struct batch *batch, unsigned int object, uint32_t delta, bool write)
{
	uint64_t address = batch->object[object].offset + delta;

	if (!batch->softpin) {
		struct drm_i915_gem_relocation_entry *relocation =
			&batch->relocation[batch->relocations];

		if (batch->relocations == RELOCATIONS_MAX) {
			batch->overflow = true;
			return;
		}
		batch->relocations++;
		relocation->target_handle = object;
		relocation->delta = delta;
		relocation->offset = batch->dwords * 4;
		relocation->presumed_offset = ~0ull;
		relocation->read_domains = I915_GEM_DOMAIN_RENDER;
		relocation->write_domain = write ? I915_GEM_DOMAIN_RENDER : 0;
		address = 0;
	}
	batch_emit(batch, address);
	batch_emit(batch, address >> 32);
}

void batch_flush(struct batch *batch)
{
	batch_emit(batch, MI_FLUSH_DW);
	for (int i = 0; i < 3; i++)
		batch_emit(batch, 0);
}

static uint32_t pitch_field(const struct surface *s)
{
	return s->tiling == TILING_LINEAR ? s->pitch : s->pitch / 4;
}

static void set_y_tiling(struct batch *batch, int value, int *state)
{
	if (*state == value)
		return;
	/* The flush keeps the change from affecting earlier blits. */
	batch_flush(batch);
	batch_emit(batch, MI_LOAD_REGISTER_IMM);
	batch_emit(batch, BCS_SWCTRL);
	batch_emit(batch, BCS_SWCTRL_MASK | value);
	*state = value;
}

void batch_blit(struct batch *batch, const struct surface *surfaces, const struct blit *blit,
		int *state)
{
	static const uint32_t depth[] = { [1] = 0, [2] = 1, [4] = 3 };
	const struct surface *dst = &surfaces[blit->dst], *src = &surfaces[blit->src];
	uint32_t control = 0;
	int y_tiling = 0;

	if (blit->op == BLIT_FAST_COPY) {
		batch_emit(batch, XY_FAST_COPY_BLT | src->tiling << 20 | dst->tiling << 13);
		batch_emit(batch, depth[dst->pixel_bytes] << 24 | pitch_field(dst));
	} else {
		if (dst->tiling == TILING_Y)
			y_tiling |= BCS_SWCTRL_DST_Y;
		if (blit->op == BLIT_COPY && src->tiling == TILING_Y)
			y_tiling |= BCS_SWCTRL_SRC_Y;
		set_y_tiling(batch, y_tiling, state);
		if (dst->tiling != TILING_LINEAR)
			control |= XY_DST_TILED;
		if (blit->op == BLIT_COPY && src->tiling != TILING_LINEAR)
			control |= XY_SRC_TILED;
		if (dst->pixel_bytes == 4) {
			control |= blit->write_mask & 0xff000000 ? XY_WRITE_ALPHA : 0;
			control |= blit->write_mask & 0x00ffffff ? XY_WRITE_RGB : 0;
		}
		batch_emit(batch,
			   (blit->op == BLIT_COPY ? XY_SRC_COPY_BLT : XY_COLOR_BLT) | control);
		batch_emit(batch,
			   depth[dst->pixel_bytes] << 24 | blit->rop << 16 | pitch_field(dst));
	}
	batch_emit(batch, blit->y1 << 16 | blit->x1);
	batch_emit(batch, blit->y2 << 16 | blit->x2);
	batch_address(batch, blit->dst, dst->offset, true);
	if (blit->op == BLIT_COLOR) {
		batch_emit(batch, blit->color);
		return;
	}
	batch_emit(batch, blit->sy << 16 | blit->sx);
	batch_emit(batch, pitch_field(src));
	batch_address(batch, blit->src, src->offset, false);
}

int batch_submit(struct batch *batch, const struct gem *gem, uint32_t handle, uint64_t address,
		 uint64_t engine)
{
	struct drm_i915_gem_execbuffer2 arguments = { 0 };
	unsigned int self;
	int ret;

	if (batch->overflow)
		return -E2BIG;
	batch->dword[batch->dwords++] = MI_BATCH_BUFFER_END;
	if (batch->dwords & 1)
		batch->dword[batch->dwords++] = MI_NOOP;
	ret = gem_write(gem, handle, 0, batch->dword, batch->dwords * 4);
	if (ret)
		return ret;
	self = batch_object(batch, handle, address, false);
	batch->object[self].relocs_ptr = (uintptr_t)batch->relocation;
	batch->object[self].relocation_count = batch->relocations;
	arguments.buffers_ptr = (uintptr_t)batch->object;
	arguments.buffer_count = batch->objects;
	arguments.batch_len = batch->dwords * 4;
	arguments.flags = engine | I915_EXEC_HANDLE_LUT;
	i915_execbuffer2_set_context_id(arguments, gem->context);
	return call(gem, DRM_IOCTL_I915_GEM_EXECBUFFER2, &arguments);
}
