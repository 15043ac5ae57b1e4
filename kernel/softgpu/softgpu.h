/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software pGPU: engines that execute real command streams through shadow tables in memory.
 */
#ifndef GHYVI_SOFTGPU_H
#define GHYVI_SOFTGPU_H

#include <ghyvi/pgpu.h>

struct softgpu;

extern const struct ghyvi_pgpu_ops softgpu_ops;

/** softgpu_create() - engines started (one thread each). ERR_PTR(-ENOMEM). */
struct softgpu *softgpu_create(void);
/** softgpu_destroy() - no client is left. */
void softgpu_destroy(struct softgpu *gpu);

#endif
