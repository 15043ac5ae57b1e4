// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "dynamic": the first store to a leaf page relaxes it, and it is never protected again
 * (gHyvi, USENIX ATC '15).
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_dynamic = {
	.name = "dynamic",
	.relax_new = ghyvi_policy_never,
	.relax = ghyvi_policy_always,
};
