// SPDX-License-Identifier: GPL-2.0-only
/*
 * The software pGPU: resources, operations, creation and destruction.
 */
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "engine.h"
#include "softgpu.h"

static void softgpu_resources(struct ghyvi_pgpu_device *pgpu,
			      struct ghyvi_pgpu_resources *resources)
{
	*resources = (struct ghyvi_pgpu_resources){
		.engines = BIT(GHYVI_RCS) | BIT(GHYVI_BCS) | BIT(GHYVI_VCS) | BIT(GHYVI_VECS),
		.gens = BIT(8) | BIT(9),
		.ggtt_bytes = SOFTGPU_GGTT_BYTES,
		.aperture_bytes = SOFTGPU_APERTURE_BYTES,
		.fences = 0,
		.timestamp_hz = NSEC_PER_SEC,
		.jobs_per_engine = 1,
		.nested = true,
		.private_ggtt = true,
	};
}

static bool softgpu_owns_ggtt(struct ghyvi_pgpu_client *handle, u64 address, u64 bytes)
{
	const struct ghyvi_client_params *params = &handle->params;

	return ghyvi_ranges_contain(params->ggtt, params->nr_ggtt, address, bytes);
}

static void softgpu_ggtt_write(struct ghyvi_pgpu_client *handle, u64 first, const u64 *entries,
			       unsigned int count)
{
	u64 *ggtt = softgpu_client(handle)->ggtt;
	unsigned int i;

	if (WARN_ON_ONCE(!softgpu_owns_ggtt(handle, first << GHYVI_PAGE_SHIFT,
					    (u64)count << GHYVI_PAGE_SHIFT)))
		return;
	for (i = 0; i < count; i++)
		WRITE_ONCE(ggtt[first + i], entries[i]);
}

static u64 softgpu_ggtt_read(struct ghyvi_pgpu_client *handle, u64 index)
{
	return softgpu_owns_ggtt(handle, index << GHYVI_PAGE_SHIFT, GHYVI_PAGE_BYTES) ?
		       READ_ONCE(softgpu_client(handle)->ggtt[index]) :
		       0;
}

/*
 * The clock that engines read, before it is divided into ticks. If the core divided ticks of one
 * generation into those of another one, a CPU would read less than an engine has stored before.
 */
static u64 softgpu_timestamp(struct ghyvi_pgpu_device *pgpu)
{
	return ktime_get_ns();
}

const struct ghyvi_pgpu_ops softgpu_ops = {
	.name = "softgpu",
	.job_bytes = sizeof(struct softgpu_job),
	.resources = softgpu_resources,
	.client_create = softgpu_client_create,
	.client_destroy = softgpu_client_destroy,
	.client_reset = softgpu_client_reset,
	.map_page = softgpu_map_page,
	.unmap_page = softgpu_unmap_page,
	.ggtt_write = softgpu_ggtt_write,
	.ggtt_read = softgpu_ggtt_read,
	.map_guest = softgpu_map_guest,
	.unmap_guest = softgpu_unmap_guest,
	.invalidate = softgpu_invalidate,
	.log_set = softgpu_log_set,
	.log_read = softgpu_log_read,
	.run = softgpu_run,
	.update_tail = softgpu_update_tail,
	.preempt = softgpu_preempt,
	.cancel = softgpu_cancel,
	.stop = softgpu_stop,
	.done_may_wait = softgpu_done_may_wait,
	.job_state_bytes = SOFTGPU_JOB_STATE_BYTES,
	.job_save = softgpu_job_save,
	.job_load = softgpu_job_load,
	.job_free = softgpu_job_free,
	.job_group_bytes = softgpu_job_group_bytes,
	.job_group_save = softgpu_job_group_save,
	.job_group_load = softgpu_job_group_load,
	.timestamp = softgpu_timestamp,
};

struct softgpu *softgpu_create(void)
{
	struct softgpu *gpu = kvzalloc(sizeof(*gpu), GFP_KERNEL);
	unsigned int i;
	int err;

	if (!gpu)
		return ERR_PTR(-ENOMEM);
	gpu->base.ops = &softgpu_ops;
	gpu->workers = alloc_workqueue("ghyvi-softgpu", WQ_UNBOUND, GHYVI_ENGINES);
	if (!gpu->workers) {
		kvfree(gpu);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < GHYVI_ENGINES; i++) {
		err = softgpu_engine_init(&gpu->engines[i], gpu, i);
		if (err)
			goto fail;
	}
	for (i = 0; i < GHYVI_ENGINES; i++) {
		err = softgpu_engine_start(&gpu->engines[i]);
		if (err)
			goto fail;
	}
	return gpu;

fail:
	softgpu_destroy(gpu);
	return ERR_PTR(err);
}

struct ghyvi_pgpu_device *softgpu_device(struct softgpu *gpu)
{
	return &gpu->base;
}

void softgpu_destroy(struct softgpu *gpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		softgpu_engine_fini(&gpu->engines[i]);
	destroy_workqueue(gpu->workers);
	kvfree(gpu);
}
