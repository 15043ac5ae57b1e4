// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address arithmetic of the auditor: ranges of the GGTT, distances in rings, positions in rings and
 * batches (kernel/audit/copy.c and audit.h, <ghyvi/types.h>).
 *
 * Bounds: ranges: none, but that of a partition ends in the 64-bit address space. Distances and
 * positions: rings of 4 KiB to 2 MiB, packets of any length that fit into them, PPGTTs of 48 bits.
 */
#include "prove.h"
#include <audit/copy.c>

#define RING_BYTES_MAX (2u << 20)

/* A range that is contained begins and ends inside, also where the sums overflow. */
void ranges(void)
{
	struct ghyvi_range range = { nondet_u64(), nondet_u64() };
	u64 address = nondet_u64(), bytes = nondet_u64();

	assume(range.bytes <= U64_MAX - range.start);
	if (!ghyvi_ranges_contain(&range, 1, address, bytes))
		return;
	prove(address >= range.start);
	prove(bytes <= U64_MAX - address);
	prove(address + bytes <= range.start + range.bytes);
	prove(address < range.start + range.bytes);
}

static struct ghyvi_commands commands;
static struct audit_scan scan = { .commands = &commands };

static u32 any_offset(void)
{
	return (u32)any_in(0, commands.submission.ring_bytes - 1);
}

/* The distance between two offsets is less than the ring, and leads from one to the other. */
void distances(void)
{
	u32 from, to, distance;

	commands.submission.ring_bytes = (u32)any_in(GHYVI_PAGE_BYTES, RING_BYTES_MAX);
	from = any_offset();
	to = any_offset();
	distance = audit_ring_distance(&commands.submission, from, to);
	prove(distance < commands.submission.ring_bytes);
	prove(from + distance == to || from + distance == to + commands.submission.ring_bytes);
}

/* A position stays in the ring, or in the address space of the batch, and aligned to a dword. */
void positions(void)
{
	unsigned int dwords = (unsigned int)any_in(0, GHYVI_ANY_LENGTH + 2);
	u64 pos;

	commands.submission.ring_bytes = (u32)any_in(GHYVI_PAGE_BYTES, RING_BYTES_MAX);
	commands.submission.ppgtt_mask = GENMASK_ULL(47, 0);
	scan.source = (u8)any_in(GHYVI_FETCH_RING, GHYVI_FETCH_PPGTT);
	scan.privileged = scan.source != GHYVI_FETCH_PPGTT;
	scan.mask = scan.privileged ? GENMASK_ULL(31, 0) : commands.submission.ppgtt_mask;
	scan.pos = any_in(0, scan.source == GHYVI_FETCH_RING ? commands.submission.ring_bytes - 1 :
							       scan.mask);
	assume(!(scan.pos % 4) && !(commands.submission.ring_bytes % 4));
	assume(scan.source != GHYVI_FETCH_RING || 4 * dwords <= commands.submission.ring_bytes);
	pos = audit_pos_after(&scan, dwords);
	prove(pos <= scan.mask && !(pos % 4));
	prove(scan.source != GHYVI_FETCH_RING || pos < commands.submission.ring_bytes);
	/* Keys of pages tell the streams and the pages apart. */
	prove(audit_key_source(audit_key(scan.source, pos)) == scan.source);
	prove(audit_key_address(audit_key(scan.source, pos)) == (pos & GHYVI_PAGE_MASK));
}
