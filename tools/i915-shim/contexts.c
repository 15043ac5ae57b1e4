// SPDX-License-Identifier: GPL-2.0-only
/* GEM contexts: parameters, engine maps, and what became of their batches. */
#include <drm.h>
#include <errno.h>
#include <i915_drm.h>
#include <stdlib.h>
#include <string.h>
#include "shim.h"

#define GTT_BYTES (1ull << 48)

/* Parameters that are on or off, and have no effect here. */
#define FLAGS                                                                                   \
	(1ull << I915_CONTEXT_PARAM_NO_ZEROMAP | 1ull << I915_CONTEXT_PARAM_BANNABLE |          \
	 1ull << I915_CONTEXT_PARAM_NO_ERROR_CAPTURE | 1ull << I915_CONTEXT_PARAM_RECOVERABLE | \
	 1ull << I915_CONTEXT_PARAM_PERSISTENCE)
#define FLAGS_DEFAULT                                                                   \
	(1ull << I915_CONTEXT_PARAM_BANNABLE | 1ull << I915_CONTEXT_PARAM_RECOVERABLE | \
	 1ull << I915_CONTEXT_PARAM_PERSISTENCE)

static uint32_t resets; /* of engines, in the process */

void context_failed(struct context *context)
{
	resets++;
	context->active++;
	context->lost = true;
}

static struct context *context_create(void)
{
	static const int8_t legacy[] = { CS_RENDER, CS_RENDER, CS_VIDEO, CS_COPY,
					 CS_VIDEO_ENHANCE };
	struct context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->refs = 1;
	context->legacy = true;
	context->nr_engines = ARRAY_LENGTH(legacy);
	memcpy(context->engines, legacy, sizeof(legacy));
	context->flags = FLAGS_DEFAULT;
	return context;
}

static void drop_timelines(struct context *context)
{
	for (unsigned int i = 0; i < ENGINES_MAX; i++) {
		if (context->timelines[i])
			timeline_destroy(context->timelines[i]);
		context->timelines[i] = NULL;
	}
}

/* Timelines keep the VM of their own. */
void context_put(struct context *context)
{
	if (--context->refs)
		return;
	drop_timelines(context);
	if (context->vm)
		vm_put(context->vm);
	free(context);
}

static int engine_of(struct i915_engine_class_instance engine)
{
	if (engine.engine_class == (__u16)I915_ENGINE_CLASS_INVALID)
		return -1;
	return engine.engine_class < CS_ENGINES && !engine.engine_instance ? engine.engine_class :
									     -EINVAL;
}

/* A virtual engine is its first sibling. */
static int engines_extension(struct context *context, const struct i915_user_extension *extension)
{
	const struct i915_context_engines_load_balance *balance = (const void *)extension;
	int engine;

	if (extension->name == I915_CONTEXT_ENGINES_EXT_BOND)
		return 0;
	if (extension->name != I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE)
		return -EINVAL;
	if (balance->engine_index >= context->nr_engines || !balance->num_siblings)
		return -EINVAL;
	engine = engine_of(balance->engines[0]);
	if (engine < 0)
		return -EINVAL;
	context->engines[balance->engine_index] = engine;
	return 0;
}

static int set_engines(struct context *context, const struct drm_i915_gem_context_param *param)
{
	const struct i915_context_param_engines *map = (void *)(uintptr_t)param->value;
	const struct i915_user_extension *extension;
	unsigned int i, count;
	int engine, err;

	if (!param->size) {
		struct context *fresh = context_create();

		if (!fresh)
			return -ENOMEM;
		drop_timelines(context);
		memcpy(context->engines, fresh->engines, sizeof(context->engines));
		context->nr_engines = fresh->nr_engines;
		context->legacy = true;
		free(fresh);
		return 0;
	}
	if (param->size < sizeof(*map) || (param->size - sizeof(*map)) % sizeof(map->engines[0]))
		return -EINVAL;
	count = (param->size - sizeof(*map)) / sizeof(map->engines[0]);
	if (count > ENGINES_MAX)
		return -EINVAL;
	drop_timelines(context);
	for (i = 0; i < count; i++) {
		engine = engine_of(map->engines[i]);
		if (engine < -1)
			return -ENOENT;
		context->engines[i] = engine;
	}
	context->nr_engines = count;
	context->legacy = false;
	for (extension = (void *)(uintptr_t)map->extensions; extension;
	     extension = (void *)(uintptr_t)extension->next_extension) {
		err = engines_extension(context, extension);
		if (err)
			return err;
	}
	return 0;
}

static int get_engines(const struct context *context, struct drm_i915_gem_context_param *param)
{
	struct i915_context_param_engines *map = (void *)(uintptr_t)param->value;
	unsigned int i, count = context->legacy ? 0 : context->nr_engines;
	size_t bytes = sizeof(*map) + count * sizeof(map->engines[0]);

	if (count && param->size) {
		if (param->size < bytes)
			return -EINVAL;
		map->extensions = 0;
		for (i = 0; i < count; i++)
			map->engines[i] =
				(struct i915_engine_class_instance){ .engine_class =
									     context->engines[i] };
	}
	param->size = count ? bytes : 0;
	return 0;
}

/* As i915, only a context that has not run. */
static int set_vm(struct file *file, struct context *context, uint64_t id)
{
	struct vm *vm = table_get(&file->vms, id);

	if (!vm)
		return -ENOENT;
	vm_get(vm);
	drop_timelines(context);
	if (context->vm)
		vm_put(context->vm);
	context->vm = vm;
	return 0;
}

static int get_vm(struct file *file, struct context *context,
		  struct drm_i915_gem_context_param *param)
{
	int id = table_add(&file->vms, context->vm);

	if (id < 0)
		return id;
	vm_get(context->vm);
	param->value = id;
	return 0;
}

/* There is one slice of three subslices with eight EUs; other configurations are accepted. */
static int get_sseu(struct drm_i915_gem_context_param *param)
{
	struct drm_i915_gem_context_param_sseu *sseu = (void *)(uintptr_t)param->value;

	if (param->size && param->size < sizeof(*sseu))
		return -EINVAL;
	if (param->size) {
		sseu->slice_mask = 1;
		sseu->subslice_mask = 7;
		sseu->min_eus_per_subslice = 8;
		sseu->max_eus_per_subslice = 8;
	}
	param->size = sizeof(*sseu);
	return 0;
}

static int set_param(struct file *file, struct context *context,
		     const struct drm_i915_gem_context_param *param)
{
	if (param->param < 64 && FLAGS >> param->param & 1) {
		context->flags &= ~(1ull << param->param);
		context->flags |= (uint64_t) !!param->value << param->param;
		return 0;
	}
	switch (param->param) {
	case I915_CONTEXT_PARAM_PRIORITY:
		if ((int64_t)param->value > I915_CONTEXT_MAX_USER_PRIORITY ||
		    (int64_t)param->value < I915_CONTEXT_MIN_USER_PRIORITY)
			return -EINVAL;
		context->priority = param->value;
		return 0;
	case I915_CONTEXT_PARAM_BAN_PERIOD:
	case I915_CONTEXT_PARAM_SSEU:
	case I915_CONTEXT_PARAM_RINGSIZE:
		return 0;
	case I915_CONTEXT_PARAM_VM:
		return set_vm(file, context, param->value);
	case I915_CONTEXT_PARAM_ENGINES:
		return set_engines(context, param);
	}
	return -EINVAL;
}

static int get_param(struct file *file, struct context *context,
		     struct drm_i915_gem_context_param *param)
{
	if (param->param < 64 && FLAGS >> param->param & 1) {
		param->size = 0;
		param->value = context->flags >> param->param & 1;
		return 0;
	}
	switch (param->param) {
	case I915_CONTEXT_PARAM_GTT_SIZE:
		param->value = GTT_BYTES;
		break;
	case I915_CONTEXT_PARAM_PRIORITY:
		param->value = context->priority;
		break;
	case I915_CONTEXT_PARAM_BAN_PERIOD:
	case I915_CONTEXT_PARAM_RINGSIZE:
		param->value = 0;
		break;
	case I915_CONTEXT_PARAM_VM:
		return get_vm(file, context, param);
	case I915_CONTEXT_PARAM_ENGINES:
		return get_engines(context, param);
	case I915_CONTEXT_PARAM_SSEU:
		return get_sseu(param);
	default:
		return -EINVAL;
	}
	param->size = 0;
	return 0;
}

static int add_context(struct file *file, struct context *context)
{
	int id;

	if (!context->vm)
		context->vm = vm_create();
	id = context->vm ? table_add(&file->contexts, context) : -ENOMEM;
	if (id < 0)
		context_put(context);
	return id;
}

/* Context 0 is in the table as 1, and so on. */
int context_create_default(struct file *file)
{
	struct context *context = context_create();
	int id = context ? add_context(file, context) : -ENOMEM;

	return id < 0 ? id : 0;
}

struct context *context_find(struct file *file, uint32_t id)
{
	return table_get(&file->contexts, id + 1);
}

static int create(struct file *file, struct drm_i915_gem_context_create_ext *args, bool extended)
{
	const struct i915_user_extension *extension = NULL;
	struct context *context = context_create();
	int err = 0;

	if (!context)
		return -ENOMEM;
	if (extended && args->flags & I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS)
		extension = (void *)(uintptr_t)args->extensions;
	for (; extension && !err; extension = (void *)(uintptr_t)extension->next_extension) {
		const struct drm_i915_gem_context_create_ext_setparam *set =
			(const void *)extension;

		err = extension->name == I915_CONTEXT_CREATE_EXT_SETPARAM ?
			      set_param(file, context, &set->param) :
			      -EINVAL;
	}
	if (err) {
		context_put(context);
		return err;
	}
	err = add_context(file, context);
	if (err < 0)
		return err;
	args->ctx_id = err - 1;
	return 0;
}

static int destroy(struct file *file, uint32_t id)
{
	struct context *context = id ? table_remove(&file->contexts, id + 1) : NULL;

	if (!context)
		return -ENOENT;
	context_put(context);
	return 0;
}

static int reset_stats(struct file *file, struct drm_i915_reset_stats *stats)
{
	const struct context *context = context_find(file, stats->ctx_id);

	if (!context)
		return -ENOENT;
	stats->reset_count = resets;
	stats->batch_active = context->active;
	stats->batch_pending = context->pending;
	return 0;
}

int contexts_ioctl(struct file *file, unsigned long request, void *arg)
{
	struct drm_i915_gem_context_param *param = arg;
	struct context *context;

	switch (request) {
	case DRM_IOCTL_I915_GEM_CONTEXT_CREATE:
		return create(file, arg, false);
	case DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT:
		return create(file, arg, true);
	case DRM_IOCTL_I915_GEM_CONTEXT_DESTROY:
		return destroy(file, *(__u32 *)arg);
	case DRM_IOCTL_I915_GET_RESET_STATS:
		return reset_stats(file, arg);
	case DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM:
		context = context_find(file, param->ctx_id);
		return context ? get_param(file, context, param) : -ENOENT;
	case DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM:
		context = context_find(file, param->ctx_id);
		return context ? set_param(file, context, param) : -ENOENT;
	}
	return -ENOTTY;
}
