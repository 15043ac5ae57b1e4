// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "segmented": a leaf page is relaxed by its first store, and compared and protected
 * again at the next submission. This is the default of the gHyvi paper ("dynamic segmented partial
 * reconstruction", USENIX ATC '15).
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_segmented = {
	.name = "segmented",
	.relax_new = ghyvi_policy_never,
	.relax = ghyvi_policy_always,
	.protect = ghyvi_policy_always,
};
