// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "full": no leaf page is ever protected, and every sync compares all leaf pages that it
 * reaches (gHyvi, USENIX ATC '15).
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_full = {
	.name = "full",
	.relax_new = ghyvi_policy_always,
	.relax = ghyvi_policy_always,
};
