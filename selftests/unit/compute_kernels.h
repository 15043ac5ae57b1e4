/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A worker of the test that executes kernels as ghyvi-eud does, and a dispatch whose groups are
 * long: EMU_KERNEL_SHARES of selftests/native/emu_kernels.h, or without an end.
 */
#ifndef COMPUTE_KERNELS_H
#define COMPUTE_KERNELS_H

#include "compute_unit.h"

/* For unit_start(). */
void kernels_execute(struct unit *unit, struct ghyvi_eu_next *next);

/* Instructions and descriptor of the kernel, for two pages. */
void kernels_put(void *code, void *descriptor, bool endless);
/* The commands that dispatch @groups of it; returns how many dwords. */
unsigned int kernels_commands(u32 *commands, u64 output, u64 descriptor, u64 code, u32 groups);
/* As both of these, of any kernel, with a few bits the other way round. */
unsigned int kernels_hostile(void *code, void *descriptor, u32 *commands, u64 output,
			     u64 descriptor_address, u64 code_address, unsigned int *seed);
/* What a lane of a group adds to its dword, which is at 32 * group + 4 * lane. */
u32 kernels_result(u32 group, unsigned int lane);

#endif
