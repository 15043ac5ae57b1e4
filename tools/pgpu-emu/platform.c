// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPUs that the emulator can be: what software sees of a platform, and what it must write there
 * before it submits (i915: gen9_gt_workarounds_init() and what it calls). The fuses are the same:
 * each is a GT2, one slice with three subslices.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "emu.h"

#define BDW_DISABLE_HDC_INVALIDATION BIT(25)
#define ECOCHK_DIS_TLB BIT(8)

/* RP0, RP1, RPn in units of 50 MHz. */
#define RP_STATE_CAP(mhz0, mhz1, mhzn) ((mhz0) / 50 | (mhz1) / 50 << 8 | (mhzn) / 50 << 16)

static const struct emu_platform platforms[] = {
	{
		.name = "skylake",
		.device = 0x1912,
		.revision = 6, /* G0 */
		.rp_state_cap = RP_STATE_CAP(1150, 350, 350),
		.ecochk = BDW_DISABLE_HDC_INVALIDATION | ECOCHK_DIS_TLB,
	},
	{
		.name = "kabylake",
		.device = 0x5912,
		.revision = 4, /* F0 */
		.rp_state_cap = RP_STATE_CAP(1150, 350, 350),
		.ecochk = BDW_DISABLE_HDC_INVALIDATION | ECOCHK_DIS_TLB,
	},
	{
		.name = "coffeelake",
		.device = 0x3e92,
		.revision = 0,
		.rp_state_cap = RP_STATE_CAP(1200, 350, 350),
		.ecochk = BDW_DISABLE_HDC_INVALIDATION,
		.slots_have_rights = true,
	},
	{
		.name = "cometlake",
		.device = 0x9bc8,
		.revision = 3,
		.rp_state_cap = RP_STATE_CAP(1100, 350, 350),
		.ecochk = BDW_DISABLE_HDC_INVALIDATION,
		.slots_have_rights = true,
	},
};

const struct emu_platform *emu_platform_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(platforms); i++)
		if (!name || !strcmp(platforms[i].name, name))
			return &platforms[i];
	return NULL;
}
