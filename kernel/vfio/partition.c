// SPDX-License-Identifier: GPL-2.0-only
/* Allocation of slices of the GGTT address space, and their address ranges. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include "partition.h"

#define GGTT_MAX_BYTES (4ULL << 30)

/* A GGTT table page translates 2 MiB. Two vGPUs must not share a table page. */
#define PARTITION_ALIGN_BYTES ((u64)GHYVI_ENTRIES * GHYVI_PAGE_BYTES)

static u32 slices_mask(unsigned int first, unsigned int slices)
{
	return (u32)(BIT_ULL(slices) - 1) << first;
}

static void partition_take(struct ghyvi_partitions *used, unsigned int first, unsigned int slices,
			   struct ghyvi_partition *partition)
{
	used->count += slices;
	if (!used->private_ggtt)
		used->mask |= slices_mask(first, slices);
	*partition = (struct ghyvi_partition){ .first = first, .slices = slices };
}

int ghyvi_partition_alloc(struct ghyvi_partitions *used, unsigned int slices,
			  struct ghyvi_partition *partition)
{
	unsigned int first;

	if (slices > GHYVI_SLICES - used->count)
		return -ENOSPC;
	for (first = 0; first < GHYVI_SLICES; first += slices) {
		if (used->mask & slices_mask(first, slices))
			continue;
		partition_take(used, first, slices, partition);
		return 0;
	}
	return -ENOSPC;
}

int ghyvi_partition_alloc_slot(struct ghyvi_partitions *used, unsigned int slices,
			       unsigned int slot, struct ghyvi_partition *partition)
{
	if (used->mask & slices_mask(slot * slices, slices))
		return -EBUSY;
	partition_take(used, slot * slices, slices, partition);
	return 0;
}

void ghyvi_partition_free(struct ghyvi_partitions *used, const struct ghyvi_partition *partition)
{
	used->count -= partition->slices;
	if (!used->private_ggtt)
		used->mask &= ~slices_mask(partition->first, partition->slices);
}

unsigned int ghyvi_partition_available(const struct ghyvi_partitions *used, unsigned int slices)
{
	unsigned int first, available = 0;

	if (used->private_ggtt)
		return (GHYVI_SLICES - used->count) / slices;
	for (first = 0; first < GHYVI_SLICES; first += slices)
		if (!(used->mask & slices_mask(first, slices)))
			available++;
	return available;
}

/* The range from @start to @end or the next address that the backend reserves; may be empty. */
static struct ghyvi_range unreserved_from(const struct ghyvi_pgpu_resources *resources, u64 start,
					  u64 end)
{
	unsigned int i;

	for (i = 0; i < resources->nr_reserved; i++) {
		const struct ghyvi_range *reserved = &resources->reserved[i];

		if (ghyvi_range_contains(reserved, start))
			end = start;
		else if (reserved->start >= start)
			end = min(end, reserved->start);
	}
	return (struct ghyvi_range){ .start = start, .bytes = end > start ? end - start : 0 };
}

/* The largest range between @first and @end, from a table page on, that is not reserved. */
static struct ghyvi_range divided_range(const struct ghyvi_pgpu_resources *resources, u64 first,
					u64 end)
{
	struct ghyvi_range range, largest = {};
	unsigned int i;
	u64 start;

	for (i = 0; i <= resources->nr_reserved; i++) {
		start = first;
		if (i)
			start = max(start, resources->reserved[i - 1].start +
						   resources->reserved[i - 1].bytes);
		range = unreserved_from(resources, round_up(start, PARTITION_ALIGN_BYTES), end);
		if (range.bytes > largest.bytes)
			largest = range;
	}
	return largest;
}

static u64 slice_bytes(const struct ghyvi_range *range)
{
	return round_down(range->bytes / GHYVI_SLICES, PARTITION_ALIGN_BYTES);
}

static struct ghyvi_range hidden_range(const struct ghyvi_pgpu_resources *resources)
{
	return divided_range(resources, resources->aperture_bytes, resources->ggtt_bytes);
}

static struct ghyvi_range part_of(const struct ghyvi_range *range,
				  const struct ghyvi_partition *partition)
{
	return (struct ghyvi_range){
		.start = range->start + partition->first * slice_bytes(range),
		.bytes = partition->slices * slice_bytes(range),
	};
}

struct ghyvi_range ghyvi_partition_mappable(const struct ghyvi_partition *partition,
					    const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range range = divided_range(resources, 0, resources->aperture_bytes);

	return part_of(&range, partition);
}

struct ghyvi_range ghyvi_partition_hidden(const struct ghyvi_partition *partition,
					  const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range range = hidden_range(resources);

	return part_of(&range, partition);
}

static bool reserved_is_valid(const struct ghyvi_pgpu_resources *resources)
{
	const struct ghyvi_range ggtt = { .start = 0, .bytes = resources->ggtt_bytes };
	unsigned int i;

	for (i = 0; i < resources->nr_reserved; i++) {
		const struct ghyvi_range *reserved = &resources->reserved[i];

		if (!ghyvi_range_contains_range(&ggtt, reserved->start, reserved->bytes) ||
		    (reserved->start | reserved->bytes) & ~GHYVI_PAGE_MASK)
			return false;
	}
	return true;
}

bool ghyvi_partition_possible(const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range range;

	if (!is_power_of_2(resources->ggtt_bytes) || resources->ggtt_bytes > GGTT_MAX_BYTES ||
	    !is_power_of_2(resources->aperture_bytes) ||
	    resources->aperture_bytes >= resources->ggtt_bytes ||
	    resources->nr_reserved > GHYVI_RESERVED_RANGES || !reserved_is_valid(resources))
		return false;
	range = hidden_range(resources);
	return slice_bytes(&range);
}
