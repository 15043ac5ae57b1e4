/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PCI configuration space that a guest sees. It is pure data, without locks or side effects.
 */
#ifndef GHYVI_CONFIG_H
#define GHYVI_CONFIG_H

#include <linux/types.h>
#include "vgpu/vgpu.h"

#define GHYVI_CONFIG_BYTES 256

/* struct ghyvi_config - a configuration space, little endian. */
struct ghyvi_config {
	u8 space[GHYVI_CONFIG_BYTES]; /* contents */
	u8 writable[GHYVI_CONFIG_BYTES]; /* mask of the bits that a guest can change */
};

/* Set the power-on contents. @aperture_bytes: size of BAR 2, a power of two */
void ghyvi_config_reset(struct ghyvi_config *config, const struct ghyvi_device_profile *profile,
			u64 aperture_bytes);
/* @offset + @bytes is at most GHYVI_CONFIG_BYTES. */
void ghyvi_config_read(const struct ghyvi_config *config, u32 offset, void *buffer, u32 bytes);
/* Write the bits that are writable. @offset and @bytes: as above */
void ghyvi_config_write(struct ghyvi_config *config, u32 offset, const void *buffer, u32 bytes);
/*
 * The guest-physical address of BAR 0, or GHYVI_BAR_UNMAPPED if memory decoding is off or the
 * address is invalid.
 */
u64 ghyvi_config_bar0(const struct ghyvi_config *config);

#endif
