/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_POLICIES_H
#define GHYVI_POLICIES_H

#include <ghyvi/choice.h>
#include <ghyvi/shadow_policy.h>

/* The names of ghyvi_shadow_policies, in the same order. */
extern const struct ghyvi_choices ghyvi_shadow_policy_choices;

extern const struct ghyvi_shadow_policy ghyvi_policy_strict;
extern const struct ghyvi_shadow_policy ghyvi_policy_full;
extern const struct ghyvi_shadow_policy ghyvi_policy_static;
extern const struct ghyvi_shadow_policy ghyvi_policy_dynamic;
extern const struct ghyvi_shadow_policy ghyvi_policy_segmented;
extern const struct ghyvi_shadow_policy ghyvi_policy_oos;
extern const struct ghyvi_shadow_policy ghyvi_policy_adaptive;
extern const struct ghyvi_shadow_policy ghyvi_policy_relaxed;
extern const struct ghyvi_shadow_policy ghyvi_policy_nested;

static inline bool ghyvi_policy_always(const struct ghyvi_shadow_view *page)
{
	return true;
}

static inline bool ghyvi_policy_never(const struct ghyvi_shadow_view *page)
{
	return false;
}

#endif
