// SPDX-License-Identifier: GPL-2.0-only
/*
 * No shadow tables: the pGPU walks the guest's own and translates guest-physical addresses by itself, as an IOMMU
 * with nested paging would. No traps, no scans, no protection; what the others are measured against.
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_nested = {
	.name = "nested",
	.nested = true,
	/* What is still shadowed, for jobs that began under another policy, is never protected. */
	.relax_new = ghyvi_policy_always,
	.relax = ghyvi_policy_always,
	.protect = ghyvi_policy_never,
};
