// SPDX-License-Identifier: GPL-2.0-only
/* The table of all shadowing policies, in the order in which sysfs lists them. */
#include <linux/kernel.h>

#include <ghyvi/choice.h>
#include "policies.h"

const struct ghyvi_shadow_policy *const ghyvi_shadow_policies[] = {
	&ghyvi_policy_strict,	&ghyvi_policy_full,	 &ghyvi_policy_static,
	&ghyvi_policy_dynamic,	&ghyvi_policy_segmented, &ghyvi_policy_oos,
	&ghyvi_policy_adaptive, &ghyvi_policy_relaxed,	 &ghyvi_policy_nested,
};
const unsigned int ghyvi_shadow_policy_count = ARRAY_SIZE(ghyvi_shadow_policies);
const struct ghyvi_shadow_policy *const ghyvi_shadow_policy_default = &ghyvi_policy_adaptive;

static const char *policy_name(unsigned int i)
{
	return ghyvi_shadow_policies[i]->name;
}

const struct ghyvi_choices ghyvi_shadow_policy_choices = { policy_name,
							   ARRAY_SIZE(ghyvi_shadow_policies) };

const struct ghyvi_shadow_policy *ghyvi_shadow_policy_find(const char *name)
{
	int found = ghyvi_choice_find(&ghyvi_shadow_policy_choices, name);

	return found < 0 ? NULL : ghyvi_shadow_policies[found];
}
