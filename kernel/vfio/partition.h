/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Division of a pGPU into GHYVI_SLICES equal slices. A slice is a part of the GGTT address space,
 * without the ranges that the backend reserves.
 *
 * If the vGPUs share one GGTT, a vGPU gets a contiguous, naturally aligned range of slices. If each
 * has a private GGTT, a vGPU gets the first slices of its own, so that its addresses depend on its
 * type only. The number of slices is limited all the same: a type is a part of the pGPU.
 */
#ifndef GHYVI_PARTITION_H
#define GHYVI_PARTITION_H

#include <ghyvi/pgpu.h>

#define GHYVI_SLICES 32

/* struct ghyvi_partition - the slices of one vGPU. */
struct ghyvi_partition {
	unsigned int first; /* number of the first slice; 0 in a private GGTT */
	unsigned int slices; /* number of slices; a power of two */
};

/*
 * struct ghyvi_partitions - the slices of a pGPU that are in use.
 *
 * The caller serialises accesses.
 */
struct ghyvi_partitions {
	bool private_ggtt; /* each vGPU has a GGTT of its own; constant */
	unsigned int count; /* number of slices */
	u32 mask; /* bit mask of the slices; 0 if @private_ggtt */
};

/*
 * Allocate the first free range of @slices slices, a power of two, at most GHYVI_SLICES. Returns 0
 * or -ENOSPC.
 */
int ghyvi_partition_alloc(struct ghyvi_partitions *used, unsigned int slices,
			  struct ghyvi_partition *partition);
/*
 * Allocate range number @slot among all ranges of @slices slices, less than GHYVI_SLICES / @slices.
 * The vGPUs of the pGPU share one GGTT. Returns 0 or -EBUSY.
 */
int ghyvi_partition_alloc_slot(struct ghyvi_partitions *used, unsigned int slices,
			       unsigned int slot, struct ghyvi_partition *partition);
/* The number of a range of slices, see above. */
static inline unsigned int ghyvi_partition_slot(const struct ghyvi_partition *partition)
{
	return partition->first / partition->slices;
}

void ghyvi_partition_free(struct ghyvi_partitions *used, const struct ghyvi_partition *partition);
/* The number of ranges of @slices slices that could be allocated. */
unsigned int ghyvi_partition_available(const struct ghyvi_partitions *used, unsigned int slices);

/* The part of a partition that a CPU can access through BAR 2; may be empty. */
struct ghyvi_range ghyvi_partition_mappable(const struct ghyvi_partition *partition,
					    const struct ghyvi_pgpu_resources *resources);
/* The part of a partition that only engines can access. */
struct ghyvi_range ghyvi_partition_hidden(const struct ghyvi_partition *partition,
					  const struct ghyvi_pgpu_resources *resources);
/*
 * Check the resources of a pGPU that is about to be registered. Returns false if a value is not
 * within the limits of struct ghyvi_pgpu_resources, or what is not reserved is too small for
 * GHYVI_SLICES slices of 2 MiB.
 */
bool ghyvi_partition_possible(const struct ghyvi_pgpu_resources *resources);

#endif
