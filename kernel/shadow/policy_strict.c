// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "strict": every store to a table page traps and is translated at once (gVirt, USENIX
 * ATC '14; GVT-g today).
 */
#include "policies.h"

const struct ghyvi_shadow_policy ghyvi_policy_strict = {
	.name = "strict",
	.relax_new = ghyvi_policy_never,
	.relax = ghyvi_policy_never,
	.protect = ghyvi_policy_always,
};
