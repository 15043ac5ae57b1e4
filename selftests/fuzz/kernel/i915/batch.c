// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches, and their submission. Their addresses are in FIXTURE_DATA and FIXTURE_BATCH. Objects
 * have these addresses, or the kernel chooses some and relocates.
 */
#include <i915_drm.h>

#include "attack.h"
#include "executor.h"

#define BATCHES 4u
#define BATCH_DWORDS (PAGE_BYTES / 4)
#define RELOCATIONS 8u
#define FENCES 3u
#define WAIT_NS 5000000000ll /* a hanging batch is left to i915 */

/* What streams refer to. A user does not know addresses in the GGTT; the aperture is a guess. */
struct fixture fixture = { .batch_address = 0x100000, .kernel_address = 0x200000 };
uint32_t window_start, window_bytes = 0x10000000;

static uint32_t data, batches[BATCHES];

void batches_begin(void)
{
	data = object_make(DATA_PAGES * PAGE_BYTES);
	for (unsigned int i = 0; i < BATCHES; i++)
		batches[i] = object_make(PAGE_BYTES);
}

/* Returns the bytes of the batch. */
static unsigned int compose(const struct engine *engine, uint32_t *dwords)
{
	unsigned int at;

	batch_compose(engine, dwords);
	for (at = BATCH_DWORDS; at > 2 && !dwords[at - 1]; at--)
		;
	return 4 * ((at + 1) & ~1u);
}

static void relocate(struct drm_i915_gem_relocation_entry *entries, unsigned int objects)
{
	for (unsigned int i = 0; i < RELOCATIONS; i++)
		entries[i] = (struct drm_i915_gem_relocation_entry){
			.target_handle = below(WILD) ? below(objects) : (uint32_t)take(1),
			.delta = 8 * take(1),
			.offset = below(WILD) ? 4 * take(1) : take(8),
			.presumed_offset = below(2) ? ~0ull : FIXTURE_DATA,
			.read_domains = 1u << below(8),
			.write_domain = below(2) ? 1u << below(8) : 0,
		};
}

static uint64_t any_place(void)
{
	switch (below(8)) {
	case 0:
		return FIXTURE_DATA + PAGE_BYTES * below(DATA_PAGES);
	case 1:
		return take(8) & 0xfffffffff000;
	case 2:
		return take(8);
	default:
		return (uint64_t)below(1u << 20) << 12;
	}
}

static uint64_t any_flags(void)
{
	uint64_t flags = 0;

	if (!below(4))
		flags |= I915_EXEC_NO_RELOC;
	if (!below(8))
		flags |= I915_EXEC_FENCE_OUT;
	if (!below(8))
		flags |= below(2) ? I915_EXEC_FENCE_IN : I915_EXEC_FENCE_SUBMIT;
	if (!below(8))
		flags |= below(2) ? I915_EXEC_FENCE_ARRAY : I915_EXEC_USE_EXTENSIONS;
	if (!below(2 * WILD))
		flags |= 1ull << below(24);
	return flags;
}

void submit_any(void)
{
	static const struct {
		uint64_t flag;
		struct engine engine;
	} rings[] = {
		{ I915_EXEC_RENDER, { .id = RCS, .base = 0x2000 } },
		{ I915_EXEC_BLT, { .id = BCS, .base = 0x22000 } },
		{ I915_EXEC_BSD, { .id = VCS, .base = 0x12000 } },
		{ I915_EXEC_VEBOX, { .id = VECS, .base = 0x1a000 } },
	};
	static uint32_t dwords[BATCH_DWORDS];
	struct drm_i915_gem_relocation_entry relocations[RELOCATIONS];
	struct drm_i915_gem_exec_object2 objects[6] = { 0 };
	struct drm_i915_gem_exec_fence fences[FENCES];
	uint64_t points[FENCES] = { take(1), take(1) };
	struct drm_i915_gem_execbuffer_ext_timeline_fences timeline = {
		.base.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES,
		.fence_count = FENCES,
		.handles_ptr = (uintptr_t)fences,
		.values_ptr = (uintptr_t)points,
	};
	unsigned int ring = below(4), which = below(BATCHES), count = 0, more = below(4);
	bool fixed = below(4);
	struct drm_i915_gem_execbuffer2 execution = { .buffers_ptr = (uintptr_t)objects };
	struct drm_i915_gem_pwrite write = { .data_ptr = (uintptr_t)dwords };

	write.handle = batches[which];
	write.size = compose(&rings[ring].engine, dwords);
	ioctl(drm, DRM_IOCTL_I915_GEM_PWRITE, &write);

	objects[count++] = (struct drm_i915_gem_exec_object2){
		.handle = data,
		.offset = FIXTURE_DATA,
		.flags = (fixed ? EXEC_OBJECT_PINNED : 0) | (below(4) ? EXEC_OBJECT_WRITE : 0),
	};
	for (; more; more--)
		objects[count++] = (struct drm_i915_gem_exec_object2){
			.handle = any_object(),
			.offset = any_place(),
			.alignment = below(8) ? 0 : 1ull << below(64),
			.flags = below(4) ? EXEC_OBJECT_SUPPORTS_48B_ADDRESS |
						    (below(2) ? EXEC_OBJECT_PINNED : 0) :
					    take(2),
		};
	relocate(relocations, count + 1);
	objects[count++] = (struct drm_i915_gem_exec_object2){
		.handle = batches[which],
		.offset = FIXTURE_BATCH + (below(4) ? which << 16 : 0),
		.flags = EXEC_OBJECT_SUPPORTS_48B_ADDRESS | (fixed ? EXEC_OBJECT_PINNED : 0),
		.relocation_count = below(4) ? 0 : below(RELOCATIONS),
		.relocs_ptr = (uintptr_t)relocations,
	};
	execution.buffer_count = count;
	execution.batch_len = below(4) ? write.size : below(2) ? 0 : 8 * take(1);
	execution.batch_start_offset = below(8) ? 0 : 8 * below(64);
	execution.flags = I915_EXEC_HANDLE_LUT | any_flags() | rings[ring].flag;
	if (!below(8)) /* of a context with other engines */
		execution.flags = I915_EXEC_HANDLE_LUT | below(8);
	execution.rsvd1 = any_context();
	execution.rsvd2 = (uint32_t)any_fd();
	if (execution.flags & (I915_EXEC_FENCE_ARRAY | I915_EXEC_USE_EXTENSIONS))
		for (unsigned int i = 0; i < FENCES; i++)
			fences[i] = (struct drm_i915_gem_exec_fence){ any_syncobj(), below(4) };
	if (execution.flags & I915_EXEC_FENCE_ARRAY) {
		execution.cliprects_ptr = (uintptr_t)fences;
		execution.num_cliprects = FENCES;
	} else if (execution.flags & I915_EXEC_USE_EXTENSIONS) {
		execution.cliprects_ptr = (uintptr_t)&timeline;
	}
	if (!ioctl(drm, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &execution) &&
	    execution.flags & I915_EXEC_FENCE_OUT)
		keep_fd(execution.rsvd2 >> 32);
}

void batches_wait(void)
{
	struct drm_i915_gem_wait wait = { .timeout_ns = WAIT_NS };

	for (unsigned int i = 0; i < BATCHES; i++) {
		wait.bo_handle = batches[i];
		ioctl(drm, DRM_IOCTL_I915_GEM_WAIT, &wait);
	}
}
