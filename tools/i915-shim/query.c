// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the GPU is: an HD Graphics 530 (Skylake GT2, 8086:1912) with one slice of three subslices of
 * eight EUs, and what i915 of Linux 6.1 says about it.
 */
#include <drm.h>
#include <errno.h>
#include <i915_drm.h>
#include <string.h>
#include <unistd.h>
#include "shim.h"

#define DEVICE_ID 0x1912
#define REVISION 6
#define SUBSLICES 3
#define EUS_PER_SUBSLICE 8
#define PPGTT_FULL 2
#define RCS_TIMESTAMP 0x2358
#define REG_READ_8B_WORKAROUND 1

static const struct {
	int param;
	int value;
} params[] = {
	{ I915_PARAM_CHIPSET_ID, DEVICE_ID },
	{ I915_PARAM_REVISION, REVISION },
	{ I915_PARAM_HAS_GEM, 1 },
	{ I915_PARAM_NUM_FENCES_AVAIL, 32 },
	{ I915_PARAM_HAS_PAGEFLIPPING, 1 },
	{ I915_PARAM_HAS_EXECBUF2, 1 },
	{ I915_PARAM_HAS_BSD, 1 },
	{ I915_PARAM_HAS_BSD2, 0 },
	{ I915_PARAM_HAS_BLT, 1 },
	{ I915_PARAM_HAS_VEBOX, 1 },
	{ I915_PARAM_HAS_RELAXED_FENCING, 1 },
	{ I915_PARAM_HAS_COHERENT_RINGS, 1 },
	{ I915_PARAM_HAS_RELAXED_DELTA, 1 },
	{ I915_PARAM_HAS_GEN7_SOL_RESET, 1 },
	{ I915_PARAM_HAS_LLC, 1 },
	{ I915_PARAM_HAS_WT, 0 },
	{ I915_PARAM_HAS_ALIASING_PPGTT, PPGTT_FULL },
	{ I915_PARAM_HAS_WAIT_TIMEOUT, 1 },
	{ I915_PARAM_HAS_SEMAPHORES, 1 },
	{ I915_PARAM_HAS_PRIME_VMAP_FLUSH, 1 },
	{ I915_PARAM_HAS_SECURE_BATCHES, 0 },
	{ I915_PARAM_HAS_PINNED_BATCHES, 1 },
	{ I915_PARAM_HAS_EXEC_NO_RELOC, 1 },
	{ I915_PARAM_HAS_EXEC_HANDLE_LUT, 1 },
	{ I915_PARAM_CMD_PARSER_VERSION, 10 },
	{ I915_PARAM_HAS_COHERENT_PHYS_GTT, 1 },
	{ I915_PARAM_MMAP_VERSION, 1 },
	{ I915_PARAM_MMAP_GTT_VERSION, 4 },
	{ I915_PARAM_MMAP_GTT_COHERENT, 1 },
	{ I915_PARAM_SUBSLICE_TOTAL, SUBSLICES },
	{ I915_PARAM_EU_TOTAL, SUBSLICES *EUS_PER_SUBSLICE },
	{ I915_PARAM_SLICE_MASK, 1 },
	{ I915_PARAM_SUBSLICE_MASK, (1 << SUBSLICES) - 1 },
	{ I915_PARAM_HAS_GPU_RESET, 2 },
	{ I915_PARAM_HAS_RESOURCE_STREAMER, 0 },
	{ I915_PARAM_HAS_EXEC_SOFTPIN, 1 },
	{ I915_PARAM_HAS_POOLED_EU, 0 },
	{ I915_PARAM_MIN_EU_IN_POOL, 0 },
	{ I915_PARAM_HAS_SCHEDULER, I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY |
					    I915_SCHEDULER_CAP_PREEMPTION |
					    I915_SCHEDULER_CAP_SEMAPHORES },
	{ I915_PARAM_HAS_EXEC_ASYNC, 1 },
	{ I915_PARAM_HAS_EXEC_FENCE, 1 },
	{ I915_PARAM_HAS_EXEC_CAPTURE, 1 },
	{ I915_PARAM_HAS_EXEC_BATCH_FIRST, 1 },
	{ I915_PARAM_HAS_EXEC_FENCE_ARRAY, 1 },
	{ I915_PARAM_HAS_EXEC_SUBMIT_FENCE, 1 },
	{ I915_PARAM_HAS_EXEC_TIMELINE_FENCES, 1 },
	{ I915_PARAM_HAS_USERPTR_PROBE, 1 },
	{ I915_PARAM_HAS_CONTEXT_ISOLATION, (1 << CS_ENGINES) - 1 },
	{ I915_PARAM_CS_TIMESTAMP_FREQUENCY, CS_TIMESTAMP_HZ },
	{ I915_PARAM_PERF_REVISION, 0 },
};

/* An unknown parameter is an error in i915, too: that is how programs ask for later features. */
static int getparam(const struct drm_i915_getparam *get)
{
	for (size_t i = 0; i < ARRAY_LENGTH(params); i++)
		if (params[i].param == get->param) {
			*get->value = params[i].value;
			return 0;
		}
	return -EINVAL;
}

/* Returns the length of an answer, which is copied if there is room for it. */
static int answer(const struct drm_i915_query_item *item, const void *data, int bytes)
{
	if (item->length && item->length < bytes)
		return -EINVAL;
	if (item->length)
		memcpy((void *)(uintptr_t)item->data_ptr, data, bytes);
	return bytes;
}

static int query_topology(const struct drm_i915_query_item *item)
{
	struct {
		struct drm_i915_query_topology_info info;
		uint8_t slices;
		uint8_t subslices;
		uint8_t eus[SUBSLICES];
	} topology = {
		.info = { .max_slices = 1,
			  .max_subslices = SUBSLICES,
			  .max_eus_per_subslice = EUS_PER_SUBSLICE,
			  .subslice_offset = 1,
			  .subslice_stride = 1,
			  .eu_offset = 2,
			  .eu_stride = 1 },
		.slices = 1,
		.subslices = (1 << SUBSLICES) - 1,
		.eus = { 0xff, 0xff, 0xff },
	};

	return answer(item, &topology, offsetof(typeof(topology), eus) + sizeof(topology.eus));
}

static int query_engines(const struct drm_i915_query_item *item)
{
	struct {
		struct drm_i915_query_engine_info info;
		struct drm_i915_engine_info engines[CS_ENGINES];
	} engines = { .info.num_engines = CS_ENGINES };

	for (int i = 0; i < CS_ENGINES; i++)
		engines.engines[i].engine.engine_class = i;
	return answer(item, &engines, sizeof(engines));
}

static int query_regions(const struct drm_i915_query_item *item)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct {
		struct drm_i915_query_memory_regions info;
		struct drm_i915_memory_region_info region;
	} regions = {
		.info.num_regions = 1,
		.region = { .region.memory_class = I915_MEMORY_CLASS_SYSTEM,
			    .probed_size = bytes,
			    .unallocated_size = bytes },
	};

	return answer(item, &regions, sizeof(regions));
}

static int query(const struct drm_i915_query *query)
{
	struct drm_i915_query_item *item = (void *)(uintptr_t)query->items_ptr;

	if (query->flags)
		return -EINVAL;
	for (uint32_t i = 0; i < query->num_items; i++, item++)
		switch (item->query_id) {
		case DRM_I915_QUERY_TOPOLOGY_INFO:
			item->length = item->flags ? -EINVAL : query_topology(item);
			break;
		case DRM_I915_QUERY_ENGINE_INFO:
			item->length = item->flags ? -EINVAL : query_engines(item);
			break;
		case DRM_I915_QUERY_MEMORY_REGIONS:
			item->length = item->flags ? -EINVAL : query_regions(item);
			break;
		default: /* neither counters of performance nor a table of the GuC */
			item->length = -ENODEV;
		}
	return 0;
}

static int reg_read(struct drm_i915_reg_read *read)
{
	if ((read->offset & ~(__u64)REG_READ_8B_WORKAROUND) != RCS_TIMESTAMP)
		return -EINVAL;
	read->val = cs_timestamp();
	return 0;
}

static int version(struct drm_version *version)
{
	static const char *const texts[] = { "i915", "20201103", "Intel Graphics" };
	struct {
		__kernel_size_t *length;
		char *to;
	} out[] = { { &version->name_len, version->name },
		    { &version->date_len, version->date },
		    { &version->desc_len, version->desc } };

	version->version_major = 1;
	version->version_minor = 6;
	version->version_patchlevel = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		size_t bytes = strlen(texts[i]);

		if (out[i].to)
			memcpy(out[i].to, texts[i],
			       bytes < *out[i].length ? bytes : *out[i].length);
		*out[i].length = bytes;
	}
	return 0;
}

static int get_cap(struct drm_get_cap *cap)
{
	switch (cap->capability) {
	case DRM_CAP_PRIME:
		cap->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
		return 0;
	case DRM_CAP_TIMESTAMP_MONOTONIC:
	case DRM_CAP_SYNCOBJ:
	case DRM_CAP_SYNCOBJ_TIMELINE:
		cap->value = 1;
		return 0;
	}
	cap->value = 0;
	return 0;
}

static int get_unique(struct drm_unique *unique)
{
	static const char name[] = "pci:0000:00:02.0";

	if (unique->unique_len >= sizeof(name) - 1)
		memcpy(unique->unique, name, sizeof(name) - 1);
	unique->unique_len = sizeof(name) - 1;
	return 0;
}

int query_ioctl(unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_I915_GETPARAM:
		return getparam(arg);
	case DRM_IOCTL_I915_QUERY:
		return query(arg);
	case DRM_IOCTL_I915_REG_READ:
		return reg_read(arg);
	case DRM_IOCTL_I915_GEM_GET_APERTURE:
		((struct drm_i915_gem_get_aperture *)arg)->aper_size = 1ull << 32;
		((struct drm_i915_gem_get_aperture *)arg)->aper_available_size = 1ull << 32;
		return 0;
	case DRM_IOCTL_I915_GEM_THROTTLE:
		return 0;
	case DRM_IOCTL_VERSION:
		return version(arg);
	case DRM_IOCTL_GET_CAP:
		return get_cap(arg);
	case DRM_IOCTL_GET_UNIQUE:
		return get_unique(arg);
	case DRM_IOCTL_SET_CLIENT_CAP:
		return -EOPNOTSUPP; /* there is no display */
	}
	return -ENOTTY;
}
