// SPDX-License-Identifier: GPL-2.0-only
/* Allocation of slices of the GGTT address space, and their address ranges. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include "partition.h"

/* A GGTT table page translates 2 MiB. Two vGPUs must not share a table page. */
#define PARTITION_ALIGN_BYTES ((u64)GHYVI_ENTRIES * GHYVI_PAGE_BYTES)

static u32 slices_mask(unsigned int first, unsigned int slices)
{
	return (u32)(BIT_ULL(slices) - 1) << first;
}

int ghyvi_partition_alloc(u32 *used, unsigned int slices, struct ghyvi_partition *partition)
{
	unsigned int first;

	for (first = 0; first < GHYVI_SLICES; first += slices) {
		if (*used & slices_mask(first, slices))
			continue;
		*used |= slices_mask(first, slices);
		partition->first = first;
		partition->slices = slices;
		return 0;
	}
	return -ENOSPC;
}

void ghyvi_partition_free(u32 *used, const struct ghyvi_partition *partition)
{
	*used &= ~slices_mask(partition->first, partition->slices);
}

unsigned int ghyvi_partition_available(u32 used, unsigned int slices)
{
	unsigned int first, available = 0;

	for (first = 0; first < GHYVI_SLICES; first += slices)
		if (!(used & slices_mask(first, slices)))
			available++;
	return available;
}

/*
 * Empty for now: every access to the aperture would trap, so guests are not given a part of it.
 */
struct ghyvi_range ghyvi_partition_mappable(const struct ghyvi_partition *partition,
					    const struct ghyvi_pgpu_resources *resources)
{
	return (struct ghyvi_range){ .start = 0, .bytes = 0 };
}

struct ghyvi_range ghyvi_partition_hidden(const struct ghyvi_partition *partition,
					  const struct ghyvi_pgpu_resources *resources)
{
	u64 hidden = resources->ggtt_bytes - resources->aperture_bytes;
	u64 slice = hidden / GHYVI_SLICES & ~(PARTITION_ALIGN_BYTES - 1);

	return (struct ghyvi_range){
		.start = resources->aperture_bytes + partition->first * slice,
		.bytes = partition->slices * slice,
	};
}
