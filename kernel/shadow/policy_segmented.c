// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relaxed from the first store until the next submission, then compared and protected again: the default of the gHyvi
 * paper ("dynamic segmented partial reconstruction", USENIX ATC '15).
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_segmented = {
	.name = "segmented",
	.relax_new = ghyvi_policy_never,
	.relax = ghyvi_policy_always,
	.protect = ghyvi_policy_always,
};
