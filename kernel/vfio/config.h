/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PCI configuration space that a guest sees. It is pure data, without locks or side effects.
 */
#ifndef GHYVI_CONFIG_H
#define GHYVI_CONFIG_H

#include <linux/types.h>
#include "vgpu/vgpu.h"

#define GHYVI_CONFIG_BYTES 256

/**
 * struct ghyvi_config - a configuration space, little endian.
 * @space: contents
 * @writable: mask of the bits that a guest can change
 */
struct ghyvi_config {
	u8 space[GHYVI_CONFIG_BYTES];
	u8 writable[GHYVI_CONFIG_BYTES];
};

/**
 * ghyvi_config_reset() - set a configuration space to its power-on contents.
 * @config: configuration space
 * @profile: kind of GPU that the guest sees
 * @aperture_bytes: size of BAR 2 in bytes, a power of two
 */
void ghyvi_config_reset(struct ghyvi_config *config, const struct ghyvi_device_profile *profile,
			u64 aperture_bytes);
/**
 * ghyvi_config_read() - read a part of a configuration space.
 * @config: configuration space
 * @offset: first byte
 * @buffer: destination
 * @bytes: length; @offset + @bytes is at most GHYVI_CONFIG_BYTES
 */
void ghyvi_config_read(const struct ghyvi_config *config, u32 offset, void *buffer, u32 bytes);
/**
 * ghyvi_config_write() - write the writable bits of a part of a configuration space.
 * @config: configuration space
 * @offset: first byte
 * @buffer: source
 * @bytes: length; @offset + @bytes is at most GHYVI_CONFIG_BYTES
 */
void ghyvi_config_write(struct ghyvi_config *config, u32 offset, const void *buffer, u32 bytes);
/**
 * ghyvi_config_bar0() - get the guest-physical address of BAR 0.
 * @config: configuration space
 *
 * Return: the address, or GHYVI_BAR_UNMAPPED if memory decoding is off or the address is invalid.
 */
u64 ghyvi_config_bar0(const struct ghyvi_config *config);

#endif
