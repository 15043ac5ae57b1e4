/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes, entry bits and basic types shared by all folders.
 */
#ifndef GHYVI_TYPES_H
#define GHYVI_TYPES_H

#include <linux/types.h>
#include <linux/bits.h>

/*
 * GPU pages and host pages are both 4 KiB, the only size that x86 hosts and Gen8/9 have in common.
 */
#define GHYVI_PAGE_SHIFT 12
#define GHYVI_PAGE_BYTES (1u << GHYVI_PAGE_SHIFT)
#define GHYVI_PAGE_MASK (~(u64)(GHYVI_PAGE_BYTES - 1))

/* A table page has 512 entries of eight bytes, on every level and in the GGTT. */
#define GHYVI_ENTRIES 512

/* Address space covered by one entry of level 2, whether it points to a table or maps a page. */
#define GHYVI_LARGE_BYTES (GHYVI_ENTRIES * GHYVI_PAGE_BYTES)

/* Table levels. Level 1 maps data pages (PT, and every GGTT table page), level 4 is the PML4. */
#define GHYVI_LEVEL_PT_64K 0 /* a page table of 64 KiB pages, in place of level 1 */
#define GHYVI_LEVEL_PT 1
#define GHYVI_LEVEL_PD 2
#define GHYVI_LEVEL_PDP 3
#define GHYVI_LEVEL_PML4 4
#define GHYVI_LEVELS 4

/* Gen8+ entry bits, the same in guest and shadow tables (Broadwell PRM vol. 5, "PPGTT"). */
#define GHYVI_ENTRY_PRESENT BIT_ULL(0)
#define GHYVI_ENTRY_WRITE BIT_ULL(1)
/* Level 2: maps a page of 2 MiB. Level 3: maps a page of 1 GiB, which is not supported. */
#define GHYVI_ENTRY_LARGE BIT_ULL(7)
/*
 * Level 2, Gen9 (IPS): points to a table of 64 KiB pages, of which the GPU reads each 16th entry.
 */
#define GHYVI_ENTRY_64K BIT_ULL(11)
#define GHYVI_PTES_PER_64K 16u /* entries per 64 KiB page, of which only the first counts */
/* Guest-physical addresses have 39 bits, host addresses (in shadow entries) up to 48. */
#define GHYVI_GUEST_ADDRESS_MASK GENMASK_ULL(38, 12)
#define GHYVI_SHADOW_ADDRESS_MASK GENMASK_ULL(47, 12)

#define GHYVI_INVALID_GFN (~0ULL)

/**
 * enum ghyvi_engine_id - command streamers
 * @GHYVI_RCS: render
 * @GHYVI_BCS: blitter
 * @GHYVI_VCS: video
 * @GHYVI_VECS: video enhancement
 * @GHYVI_ENGINES: number of engines
 */
enum ghyvi_engine_id {
	GHYVI_RCS,
	GHYVI_BCS,
	GHYVI_VCS,
	GHYVI_VECS,
	GHYVI_ENGINES,
};

/**
 * struct ghyvi_range - a range of the global graphics address space
 */
struct ghyvi_range {
	/** @start: first address, page aligned */
	u64 start;
	/** @bytes: size in bytes, a multiple of the page size */
	u64 bytes;
};

/**
 * ghyvi_range_contains() - Test whether a range contains an address.
 * @r: the range
 * @address: any address
 *
 * Context: Any context.
 * Return: true if @address is in the range.
 */
static inline bool ghyvi_range_contains(const struct ghyvi_range *r, u64 address)
{
	return address >= r->start && address - r->start < r->bytes;
}

/**
 * ghyvi_range_contains_range() - Test whether a range contains all of another range.
 * @r: the range
 * @address: first address of the other range, any value
 * @bytes: size of the other range in bytes, any value; their sum may overflow
 *
 * Context: Any context.
 * Return: true if @address and the @bytes bytes from there on are in the range.
 */
static inline bool ghyvi_range_contains_range(const struct ghyvi_range *r, u64 address, u64 bytes)
{
	return ghyvi_range_contains(r, address) && bytes <= r->start + r->bytes - address;
}

/**
 * ghyvi_ranges_contain() - Test whether one of several ranges contains all of another range.
 * @ranges: the ranges
 * @count: their number
 * @address: as for ghyvi_range_contains_range()
 * @bytes: as there
 *
 * Context: Any context.
 * Return: true if one of @ranges does.
 */
static inline bool ghyvi_ranges_contain(const struct ghyvi_range *ranges, unsigned int count,
					u64 address, u64 bytes)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (ghyvi_range_contains_range(&ranges[i], address, bytes))
			return true;
	return false;
}

#endif
