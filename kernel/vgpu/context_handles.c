// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend's state of the guest's contexts (struct ghyvi_pgpu_context).
 *
 * A guest does not tell when it frees a context. So a state is created at the first submission of a
 * context and kept until the context at this address is another one, the vGPU is reset, or
 * VGPU_CONTEXT_HANDLES_MAX others were used since. User space of a guest sets some of it only once,
 * so the last one is a loss, and is reported. If the backend has no room for another state, those
 * that were not used for long give up their places, see @context_unmap of struct ghyvi_pgpu_ops.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include "vgpu_types.h"

struct vgpu_context_handle {
	struct list_head node; /* in vgpu->context_handles, most recently used first */
	struct ghyvi_pgpu_context *pgpu; /* of the backend */
	u64 image; /* guest-physical address of the image's register state, by the guest's GGTT */
	unsigned int users; /* workloads that have a reference */
	bool stale; /* to be destroyed when @users becomes 0 */
	bool mapped; /* the backend's state has its place */
};

/* Where the guest has the register state of the context: other memory is another context. */
static u64 image_of(const struct ghyvi_vgpu *vgpu, u32 lrca)
{
	const u64 *entries = vgpu->ggtt_table;

	return READ_ONCE(entries[(lrca + CONTEXT_STATE_OFFSET) >> GHYVI_PAGE_SHIFT]) &
	       GHYVI_GUEST_ADDRESS_MASK;
}

static void handle_destroy(struct ghyvi_vgpu *vgpu, struct vgpu_context_handle *handle)
{
	list_del(&handle->node);
	vgpu->nr_context_handles--;
	vgpu->params.pgpu->ops->context_destroy(handle->pgpu);
	kfree(handle);
}

static void handle_forget(struct ghyvi_vgpu *vgpu, struct vgpu_context_handle *handle)
{
	if (handle->users)
		handle->stale = true;
	else
		handle_destroy(vgpu, handle);
}

static struct vgpu_context_handle *handle_find(struct vgpu_engine *engine, u32 lrca)
{
	struct vgpu_context_handle *handle;

	list_for_each_entry(handle, &engine->vgpu->context_handles, node)
		if (handle->pgpu->lrca == lrca && handle->pgpu->engine == engine->id &&
		    !handle->stale)
			return handle;
	return NULL;
}

/* Destroy the state that was not used for the longest time, if any is not in use. */
static void handles_evict(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_context_handle *handle;

	list_for_each_entry_reverse(handle, &vgpu->context_handles, node) {
		if (handle->users)
			continue;
		ghyvi_report(vgpu->params.reporter,
			     "%s: the state of context %#x is lost: more than %u are in use",
			     ghyvi_engine_name(handle->pgpu->engine), handle->pgpu->lrca,
			     VGPU_CONTEXT_HANDLES_MAX);
		handle_destroy(vgpu, handle);
		return;
	}
}

/*
 * Take its place from the state that was not used for the longest time. Returns false if all that
 * have one are in use.
 */
static bool handles_unmap(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_context_handle *handle;

	list_for_each_entry_reverse(handle, &vgpu->context_handles, node) {
		if (handle->users || !handle->mapped)
			continue;
		vgpu->params.pgpu->ops->context_unmap(handle->pgpu);
		handle->mapped = false;
		return true;
	}
	return false;
}

/* If the backend has no room for another state, the others of this guest make room. */
static struct ghyvi_pgpu_context *create_context(struct vgpu_engine *engine, u32 lrca)
{
	const struct ghyvi_pgpu_ops *ops = engine->vgpu->params.pgpu->ops;
	struct ghyvi_pgpu_context *context;

	do
		context = ops->context_create(engine->vgpu->client, engine->id, lrca);
	while (IS_ERR(context) && PTR_ERR(context) == -ENOMEM && handles_unmap(engine->vgpu));
	return context;
}

static int handle_map(struct ghyvi_vgpu *vgpu, struct vgpu_context_handle *handle)
{
	int err = 0;

	while (!handle->mapped) {
		err = vgpu->params.pgpu->ops->context_map(handle->pgpu);
		handle->mapped = !err;
		if (err && (err != -ENOMEM || !handles_unmap(vgpu)))
			break;
	}
	return err;
}

static struct vgpu_context_handle *handle_create(struct vgpu_engine *engine, u32 lrca, u64 image)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_context_handle *handle;

	if (vgpu->nr_context_handles >= VGPU_CONTEXT_HANDLES_MAX)
		handles_evict(vgpu);
	handle = kzalloc(sizeof(*handle), GFP_KERNEL_ACCOUNT);
	if (!handle)
		return ERR_PTR(-ENOMEM);
	handle->pgpu = create_context(engine, lrca);
	if (IS_ERR(handle->pgpu)) {
		long err = PTR_ERR(handle->pgpu);

		kfree(handle);
		return ERR_PTR(err);
	}
	handle->image = image;
	handle->mapped = true;
	list_add(&handle->node, &vgpu->context_handles);
	vgpu->nr_context_handles++;
	return handle;
}

/* The state of the context at @lrca, which is in its place. Returns it or an ERR_PTR. */
static struct vgpu_context_handle *handle_get(struct vgpu_engine *engine, u32 lrca)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_context_handle *handle;
	u64 image = image_of(vgpu, lrca);
	int err;

	handle = handle_find(engine, lrca);
	if (handle && handle->image != image) {
		handle_forget(vgpu, handle);
		handle = NULL;
	}
	if (!handle)
		handle = handle_create(engine, lrca, image);
	if (IS_ERR(handle))
		return handle;
	err = handle_map(vgpu, handle);
	if (err)
		return ERR_PTR(err);
	list_move(&handle->node, &vgpu->context_handles);
	handle->users++;
	return handle;
}

int vgpu_context_handle_get(struct vgpu_workload *workload)
{
	struct vgpu_engine *engine = workload->engine;
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	struct vgpu_context_handle *handle;

	lockdep_assert_held(&vgpu->lock);
	if (!vgpu->params.pgpu->ops->context_create)
		return 0;
	handle = handle_get(engine, workload->descriptor & DESC_LRCA);
	if (IS_ERR(handle)) {
		ghyvi_report_stop(vgpu->params.reporter, engine->id, "%s: no memory for a context",
				  ghyvi_engine_name(engine->id));
		return (int)PTR_ERR(handle);
	}
	workload->handle = handle;
	workload->base.job.pgpu_context = handle->pgpu;
	return 0;
}

void vgpu_context_handle_put(struct vgpu_workload *workload)
{
	struct ghyvi_vgpu *vgpu = workload->engine->vgpu;
	struct vgpu_context_handle *handle = workload->handle;

	if (!handle)
		return;
	lockdep_assert_held(&vgpu->lock);
	workload->handle = NULL;
	workload->base.job.pgpu_context = NULL;
	handle->users--;
	if (!handle->users && handle->stale)
		handle_destroy(vgpu, handle);
}

void vgpu_context_handles_forget(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_context_handle *handle, *next;

	lockdep_assert_held(&vgpu->lock);
	list_for_each_entry_safe(handle, next, &vgpu->context_handles, node)
		handle_forget(vgpu, handle);
}
