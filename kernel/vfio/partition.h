/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pGPU's global address space, divided: GHYVI_SLICES equal slices, of which a vGPU takes an aligned run.
 */
#ifndef GHYVI_PARTITION_H
#define GHYVI_PARTITION_H

#include <ghyvi/pgpu.h>

#define GHYVI_SLICES 32

/**
 * struct ghyvi_partition - one vGPU's part
 * @first: number of the first slice
 * @slices: how many; a power of two
 */
struct ghyvi_partition {
	unsigned int first;
	unsigned int slices;
};

/** ghyvi_partition_alloc() - the first free aligned run of @slices in the bit mask @used. 0 or -ENOSPC. */
int ghyvi_partition_alloc(u32 *used, unsigned int slices, struct ghyvi_partition *partition);
void ghyvi_partition_free(u32 *used, const struct ghyvi_partition *partition);
/** ghyvi_partition_available() - how many runs of @slices could be taken now. */
unsigned int ghyvi_partition_available(u32 used, unsigned int slices);

/* What a guest may use of the global address space: the part that its CPU reaches, and the rest. */
struct ghyvi_range ghyvi_partition_mappable(const struct ghyvi_partition *partition,
					    const struct ghyvi_pgpu_resources *resources);
struct ghyvi_range ghyvi_partition_hidden(const struct ghyvi_partition *partition,
					  const struct ghyvi_pgpu_resources *resources);

#endif
