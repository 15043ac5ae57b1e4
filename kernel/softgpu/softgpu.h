/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software pGPU. Its engines execute real command streams through shadow tables in host memory.
 */
#ifndef GHYVI_SOFTGPU_H
#define GHYVI_SOFTGPU_H

#include <ghyvi/pgpu.h>

struct softgpu;

extern const struct ghyvi_pgpu_ops softgpu_ops;

/**
 * softgpu_create() - create a software pGPU and start its engines, one thread each.
 *
 * Context: may sleep.
 * Return: the pGPU; ERR_PTR(-ENOMEM); ERR_PTR of another errno of kthread_run().
 */
struct softgpu *softgpu_create(void);
/**
 * softgpu_device() - get a software pGPU as the core sees it.
 * @gpu: pGPU
 *
 * Context: any.
 * Return: the first argument of softgpu_ops.
 */
struct ghyvi_pgpu_device *softgpu_device(struct softgpu *gpu);
/**
 * softgpu_destroy() - stop the engines and free a software pGPU.
 * @gpu: pGPU without clients
 *
 * Context: may sleep.
 */
void softgpu_destroy(struct softgpu *gpu);

#endif
