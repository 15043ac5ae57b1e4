/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PCI configuration space that a guest sees. Pure data: no locks, no side effects.
 */
#ifndef GHYVI_CONFIG_H
#define GHYVI_CONFIG_H

#include <linux/types.h>
#include "vgpu/vgpu.h"

#define GHYVI_CONFIG_BYTES 256

/**
 * struct ghyvi_config - content, and which bits a guest can change; little endian
 */
struct ghyvi_config {
	u8 space[GHYVI_CONFIG_BYTES];
	u8 writable[GHYVI_CONFIG_BYTES];
};

/** ghyvi_config_reset() - all as after power-on. @aperture_bytes: size of BAR 2, power of two. */
void ghyvi_config_reset(struct ghyvi_config *config, const struct ghyvi_device_profile *profile,
			u64 aperture_bytes);
/* @offset + @bytes <= GHYVI_CONFIG_BYTES */
void ghyvi_config_read(const struct ghyvi_config *config, u32 offset, void *buffer, u32 bytes);
void ghyvi_config_write(struct ghyvi_config *config, u32 offset, const void *buffer, u32 bytes);
/** ghyvi_config_bar0() - guest-physical address at which BAR 0 answers, or GHYVI_BAR_UNMAPPED. */
u64 ghyvi_config_bar0(const struct ghyvi_config *config);

#endif
