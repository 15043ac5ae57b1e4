/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_CRC32_H
#define SHIM_LINUX_CRC32_H

#include <linux/types.h>

/* The kernel's: bits are neither inverted before nor after it. */
static inline u32 crc32_le(u32 crc, const void *data, size_t bytes)
{
	static const u32 of_nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *at = data;

	while (bytes--) {
		crc ^= *at++;
		crc = crc >> 4 ^ of_nibble[crc & 15];
		crc = crc >> 4 ^ of_nibble[crc & 15];
	}
	return crc;
}

#endif
