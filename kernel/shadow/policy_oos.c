// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relaxed from the second store (or oos_threshold) until the next submission: what GVT-g's source contains as
 * "out of sync" pages and keeps switched off.
 */
#include "policies.h"

static bool oos_relax(const struct ghyvi_shadow_view *page)
{
	return page->history->writes >= page->tuning->oos_threshold;
}

const struct ghyvi_shadow_policy ghyvi_policy_oos = {
	.name = "oos",
	.relax_new = ghyvi_policy_never,
	.relax = oos_relax,
	.protect = ghyvi_policy_always,
};
