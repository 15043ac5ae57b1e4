/* SPDX-License-Identifier: GPL-2.0-only */
/* The execution units behind a render engine. */
#ifndef I915_SHIM_COMPUTE_H
#define I915_SHIM_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>
#include "cs.h"

struct compute;

/* @vm: the memory of kernels. Returns NULL if out of memory. */
struct compute *compute_create(struct vm *vm);
void compute_destroy(struct compute *compute);
/* Must the engine fetch this packet as a whole, and hand it to compute_command()? */
bool compute_takes(uint32_t header);
/*
 * Execute a command. @dimensions: GPGPU_DISPATCHDIM. Returns 0 or -EIO with the reason in @error.
 */
int compute_command(struct compute *compute, const uint32_t *packet, uint32_t dwords,
		    const uint32_t dimensions[3], char error[CS_ERROR_BYTES]);

#endif
