// SPDX-License-Identifier: GPL-2.0-only
/* Device profiles: the kinds of GPU that a vGPU can emulate. */
#include "vgpu_types.h"

static const struct ghyvi_register_value gen8_values[] = {
	{ GEN8_FUSE2, 0x02000000 }, /* one slice, all subslices */
	{ PCH_RAWCLK, 24 }, /* MHz */
	{ 0, 0 },
};

static const struct ghyvi_register_value gen9_values[] = {
	{ GEN8_FUSE2, 0x02800000 }, /* one slice, three subslices */
	{ CTC_MODE, 4 }, /* 24 MHz crystal, divided by two */
	{ GUC_STATUS, GUC_STATUS_MIA_IN_RESET },
	{ FUSE_STATUS, 0x8e000000 }, /* all power gates' fuses distributed */
	{ PCH_RAWCLK, 24 }, /* MHz */
	{ 0, 0 },
};

const struct ghyvi_device_profile ghyvi_profile_gen8 = {
	.name = "gen8",
	.device_id = 0x1612, /* Broadwell GT2 */
	.revision = 9,
	.gen = 8,
	.timestamp_hz = 12500000,
	.context_has_gprs = false,
	.values = gen8_values,
	.display = &vgpu_display_bdw,
};

const struct ghyvi_device_profile ghyvi_profile_gen9 = {
	.name = "gen9",
	.device_id = 0x1912, /* Skylake GT2 */
	.revision = 6, /* the oldest production stepping */
	.gen = 9,
	.timestamp_hz = 12000000,
	.context_has_gprs = true,
	.values = gen9_values,
	.display = &vgpu_display_skl,
};

unsigned int ghyvi_profile_gen(const struct ghyvi_device_profile *profile)
{
	return profile->gen;
}

u16 ghyvi_profile_device_id(const struct ghyvi_device_profile *profile)
{
	return profile->device_id;
}

u8 ghyvi_profile_revision(const struct ghyvi_device_profile *profile)
{
	return profile->revision;
}
