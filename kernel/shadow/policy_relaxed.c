// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "relaxed": no store to guest memory traps, for hypervisors that do not tell modules of
 * stores. Every sync compares all table pages of the tree that it reaches, upper levels included.
 * Pages of the GGTT are the host's memory: they are protected by removing the guest's mapping
 * (kernel/gtt/ggtt.c). Letting a page stay mapped costs a scan at each sync, and is given up
 * when the scans since the last store have cost as much as the removal: at most twice the optimum.
 */
#include "policies.h"

static bool relaxed_protect(const struct ghyvi_shadow_view *page)
{
	return (u64)page->history->scans * page->tuning->scan_ns >= page->tuning->protect_ns;
}

const struct ghyvi_shadow_policy ghyvi_policy_relaxed = {
	.name = "relaxed",
	.untracked = true,
	.relax_new = ghyvi_policy_always,
	.relax = ghyvi_policy_always,
	.protect = relaxed_protect,
};
