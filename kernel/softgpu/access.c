// SPDX-License-Identifier: GPL-2.0-only
/* Accesses of commands to single dwords and qwords of guest memory. */
#include <linux/kernel.h>
#include "engine.h"

int softgpu_read32(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u32 *value)
{
	u8 *p;
	int err = softgpu_map(engine, space, address & ~3ULL, false, &p);

	if (!err)
		*value = softgpu_load32(engine, p);
	return err;
}

int softgpu_write32(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u32 value)
{
	u8 *p;
	int err = softgpu_map(engine, space, address & ~3ULL, true, &p);

	if (!err && p)
		softgpu_store32(engine, p, value);
	softgpu_stream_drop_window(engine);
	return err;
}

int softgpu_write64(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u64 value)
{
	u8 *p;
	int err;

	/* Write an aligned qword atomically: a reader must not see half of a sequence number. */
	if (!IS_ALIGNED(address & ~3ULL, 8)) {
		err = softgpu_write32(engine, space, address, lower_32_bits(value));
		return err ?: softgpu_write32(engine, space, address + 4, upper_32_bits(value));
	}
	err = softgpu_map(engine, space, address & ~7ULL, true, &p);
	if (!err && p)
		softgpu_store64(engine, p, value);
	softgpu_stream_drop_window(engine);
	return err;
}
