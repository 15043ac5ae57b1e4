// SPDX-License-Identifier: GPL-2.0-only
/* No leaf page is ever protected, every submission compares them all (gHyvi, USENIX ATC '15). */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_full = {
	.name = "full",
	.relax_new = ghyvi_policy_always,
	.relax = ghyvi_policy_always,
	.protect = ghyvi_policy_never,
};
