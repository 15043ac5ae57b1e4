/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multicall: a guest driver declares stores to its page tables, and the host makes them. The
 * registers and the capability are in PVINFO; no version of i915 uses them.
 */
#ifndef GHYVI_MULTICALL_H
#define GHYVI_MULTICALL_H

#include <linux/bits.h>
#include <ghyvi/types.h>

/*
 * DOC: the guest's side
 *
 * The driver finds GHYVI_CAPS_MULTICALL in PVINFO_CAPS, and writes the guest-physical address of
 * one page of its memory to PVINFO_MULTICALL_LO and _HI. For a call it fills the page with 1 to
 * GHYVI_MULTICALL_RECORDS records from its beginning on, and writes GHYVI_G2V_MULTICALL plus their
 * number to PVINFO_NOTIFY. When that store completes, the host has applied the records in their
 * order, and the first 8 bytes of the page are the result. The result has GHYVI_MULTICALL_DONE set,
 * which no address has.
 *
 * The host stops at the first record that it cannot apply. The driver then makes this store, and
 * those after it, itself, which is always correct: the tables are ordinary ones. The same holds if
 * there is no result at all.
 *
 * DOC: the numbers
 *
 * i915 (Linux 5.10 and 6.1 were read) tests bits 2 to 4 of PVINFO_CAPS and ignores others. Patches
 * for GVT-g that were not merged use bit 5, and registers and notifications that follow those of
 * i915. So the numbers here are far from both: bit 16, the last quarter of the PVINFO page, which
 * i915 declares as reserved, and a notification whose upper half is not 0. GVT-g sets no such bit.
 */
#define GHYVI_CAPS_MULTICALL BIT(16) /* in PVINFO_CAPS */
#define PVINFO_MULTICALL_LO 0x78f00
#define PVINFO_MULTICALL_HI 0x78f04
#define GHYVI_G2V_MULTICALL 0x67680000u
#define GHYVI_MULTICALL_COUNT 0xffffu /* bits of the notification: number of records */

/**
 * struct ghyvi_multicall_record - one store of 8 bytes to a page table
 * @address: guest-physical address of the entry, a multiple of 8
 * @value: the new entry
 */
struct ghyvi_multicall_record {
	u64 address;
	u64 value;
};

#define GHYVI_MULTICALL_RECORDS 256u /* fill the page */

/* The result: */
#define GHYVI_MULTICALL_DONE BIT_ULL(63)
#define GHYVI_MULTICALL_ERROR_SHIFT 16 /* bits 31:16: 0, or an errno of Linux */
#define GHYVI_MULTICALL_APPLIED 0xffffull /* bits 15:0: number of records applied */

#endif
