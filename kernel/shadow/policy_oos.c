// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "oos": a leaf page is relaxed by store number oos_threshold (default 2) and protected
 * again at the next submission. GVT-g's source contains this as "out of sync" pages, switched off.
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
