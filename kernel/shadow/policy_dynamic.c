// SPDX-License-Identifier: GPL-2.0-only
/* A leaf page is relaxed by its first store, for good (gHyvi, USENIX ATC '15). */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_dynamic = {
	.name = "dynamic",
	.relax_new = ghyvi_policy_never,
	.relax = ghyvi_policy_always,
	.protect = ghyvi_policy_never,
};
