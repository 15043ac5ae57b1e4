/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software pGPU. Its engines execute real command streams through shadow tables in host memory.
 */
#ifndef GHYVI_SOFTGPU_H
#define GHYVI_SOFTGPU_H

#include <ghyvi/pgpu.h>

struct softgpu;

extern const struct ghyvi_pgpu_ops softgpu_ops;

/*
 * Create a software pGPU and start its engines, one thread each. May sleep. Returns the pGPU,
 * ERR_PTR(-ENOMEM), or ERR_PTR of another errno of kthread_run().
 */
struct softgpu *softgpu_create(void);
/* The pGPU as the core sees it: the first argument of softgpu_ops. */
struct ghyvi_pgpu_device *softgpu_device(struct softgpu *gpu);
/* Stop the engines and free a software pGPU without clients. May sleep. */
void softgpu_destroy(struct softgpu *gpu);

#endif
