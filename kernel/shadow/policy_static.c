// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "static": a fixed number of leaf pages, the hottest ones observed, are relaxed. All
 * others are strict (gHyvi, USENIX ATC '15, "static partial reconstruction").
 */
#include "policies.h"

static bool static_is_hot(const struct ghyvi_shadow_view *page)
{
	return page->history->rank < page->tuning->static_pages;
}

static bool static_is_cold(const struct ghyvi_shadow_view *page)
{
	return !static_is_hot(page);
}

const struct ghyvi_shadow_policy ghyvi_policy_static = {
	.name = "static",
	.ranked = true,
	.relax_new = static_is_hot,
	.relax = static_is_hot,
	.protect = static_is_cold,
};
