// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "nested": no shadow tables. The pGPU walks the guest's tables and translates
 * guest-physical addresses itself, as an IOMMU with nested paging would. There are no traps, scans
 * or protections, so the other policies are measured against this one.
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_nested = {
	.name = "nested",
	.nested = true,
	/*
	 * Tables that are still shadowed, for jobs begun under another policy, are never protected.
	 */
	.relax_new = ghyvi_policy_always,
	.relax = ghyvi_policy_always,
};
