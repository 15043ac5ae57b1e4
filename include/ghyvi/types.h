/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words and sizes shared by every folder; see Documentation/design for the vocabulary.
 */
#ifndef GHYVI_TYPES_H
#define GHYVI_TYPES_H

#include <linux/types.h>
#include <linux/bits.h>

/* GPU pages and host pages are both 4 KiB: the only size x86 hosts and Gen8/9 share. */
#define GHYVI_PAGE_SHIFT 12
#define GHYVI_PAGE_BYTES (1u << GHYVI_PAGE_SHIFT)
#define GHYVI_PAGE_MASK (~(u64)(GHYVI_PAGE_BYTES - 1))

/* One table page holds 512 eight-byte entries, on every level and in the GGTT. */
#define GHYVI_ENTRIES 512

/* What one entry of level 2 covers, as a table or as one page. */
#define GHYVI_LARGE_BYTES (GHYVI_ENTRIES * GHYVI_PAGE_BYTES)

/* Table levels: 1 holds translations of data pages (PT, and every GGTT table page), 4 is the PML4. */
#define GHYVI_LEVEL_PT_64K 0 /* the same table, if it is one of 64 KiB pages */
#define GHYVI_LEVEL_PT 1
#define GHYVI_LEVEL_PD 2
#define GHYVI_LEVEL_PDP 3
#define GHYVI_LEVEL_PML4 4
#define GHYVI_LEVELS 4

/* Gen8+ entry bits, guest tables and shadow tables alike (Broadwell PRM vol. 5, "PPGTT"). */
#define GHYVI_ENTRY_PRESENT BIT_ULL(0)
#define GHYVI_ENTRY_WRITE BIT_ULL(1)
#define GHYVI_ENTRY_LARGE BIT_ULL(7) /* level 2: a page of 2 MiB; level 3: of 1 GiB, which we do not have */
#define GHYVI_ENTRY_64K BIT_ULL(11) /* level 2, Gen9: the table's pages have 64 KiB; it is read at each 16th entry */
#define GHYVI_PTES_PER_64K 16u /* entries of which the first stands for 64 KiB */
/* A guest's addresses have 39 bits; the host's own (in shadow entries) up to 48. */
#define GHYVI_GUEST_ADDRESS_MASK GENMASK_ULL(38, 12)
#define GHYVI_SHADOW_ADDRESS_MASK GENMASK_ULL(47, 12)

#define GHYVI_INVALID_GFN (~0ULL)

enum ghyvi_engine_id {
	GHYVI_RCS,
	GHYVI_BCS,
	GHYVI_VCS,
	GHYVI_VECS,
	GHYVI_ENGINES,
};

/* A range of a global graphics address space, in bytes, page aligned. */
struct ghyvi_range {
	u64 start;
	u64 bytes;
};

static inline bool ghyvi_range_contains(const struct ghyvi_range *r, u64 address)
{
	return address >= r->start && address - r->start < r->bytes;
}

static inline bool ghyvi_range_contains_range(const struct ghyvi_range *r, u64 address, u64 bytes)
{
	return ghyvi_range_contains(r, address) && bytes <= r->start + r->bytes - address;
}

#endif
