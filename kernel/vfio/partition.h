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

/**
 * struct ghyvi_partition - the slices of one vGPU.
 * @first: number of the first slice; 0 in a private GGTT
 * @slices: number of slices; a power of two
 */
struct ghyvi_partition {
	unsigned int first;
	unsigned int slices;
};

/**
 * struct ghyvi_partitions - the slices of a pGPU that are in use.
 * @private_ggtt: each vGPU has a GGTT of its own; constant
 * @count: number of slices
 * @mask: bit mask of the slices; 0 if @private_ggtt
 *
 * The caller serialises accesses.
 */
struct ghyvi_partitions {
	bool private_ggtt;
	unsigned int count;
	u32 mask;
};

/**
 * ghyvi_partition_alloc() - allocate the first free range of slices.
 * @used: slices that are in use; updated
 * @slices: number of slices, a power of two, at most GHYVI_SLICES
 * @partition: filled in
 *
 * Return: 0, or -ENOSPC.
 */
int ghyvi_partition_alloc(struct ghyvi_partitions *used, unsigned int slices,
			  struct ghyvi_partition *partition);
/**
 * ghyvi_partition_alloc_slot() - allocate a range of slices that was asked for.
 * @used: slices that are in use, of a pGPU whose vGPUs share one GGTT; updated
 * @slices: as for ghyvi_partition_alloc()
 * @slot: number of the range among all ranges of @slices slices, less than GHYVI_SLICES / @slices
 * @partition: filled in
 *
 * Return: 0, or -EBUSY.
 */
int ghyvi_partition_alloc_slot(struct ghyvi_partitions *used, unsigned int slices,
			       unsigned int slot, struct ghyvi_partition *partition);
/**
 * ghyvi_partition_slot() - get the number of a range of slices, see ghyvi_partition_alloc_slot().
 * @partition: result of ghyvi_partition_alloc()
 *
 * Return: the number.
 */
static inline unsigned int ghyvi_partition_slot(const struct ghyvi_partition *partition)
{
	return partition->first / partition->slices;
}

/**
 * ghyvi_partition_free() - free a range of slices.
 * @used: slices that are in use; updated
 * @partition: result of ghyvi_partition_alloc()
 */
void ghyvi_partition_free(struct ghyvi_partitions *used, const struct ghyvi_partition *partition);
/**
 * ghyvi_partition_available() - count the ranges of slices that could be allocated.
 * @used: slices that are in use
 * @slices: number of slices per range, a power of two, at most GHYVI_SLICES
 *
 * Return: the number of ranges.
 */
unsigned int ghyvi_partition_available(const struct ghyvi_partitions *used, unsigned int slices);

/**
 * ghyvi_partition_mappable() - get the part of a partition that a CPU can access through BAR 2.
 * @partition: slices of the vGPU
 * @resources: resources of the pGPU
 *
 * Return: an address range of the GGTT; may be empty.
 */
struct ghyvi_range ghyvi_partition_mappable(const struct ghyvi_partition *partition,
					    const struct ghyvi_pgpu_resources *resources);
/**
 * ghyvi_partition_hidden() - get the part of a partition that only engines can access.
 * @partition: slices of the vGPU
 * @resources: resources of the pGPU
 *
 * Return: an address range of the GGTT.
 */
struct ghyvi_range ghyvi_partition_hidden(const struct ghyvi_partition *partition,
					  const struct ghyvi_pgpu_resources *resources);
/**
 * ghyvi_partition_possible() - check the resources of a pGPU that is about to be registered.
 * @resources: resources of the pGPU
 *
 * Return: false if a value is not within the limits of struct ghyvi_pgpu_resources, or what is not
 * reserved is too small for GHYVI_SLICES slices of 2 MiB.
 */
bool ghyvi_partition_possible(const struct ghyvi_pgpu_resources *resources);

#endif
