/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the pixels of a surface are: rows of bytes on a linear or tiled surface of the PPGTT.
 */
#ifndef GHYVI_SOFTGPU_SURFACE_H
#define GHYVI_SOFTGPU_SURFACE_H

#include "engine.h"

enum softgpu_tiling {
	SOFTGPU_LINEAR,
	SOFTGPU_X_TILED, /* 512 bytes x 8 rows */
	SOFTGPU_Y_TILED, /* 128 bytes x 32 rows, in columns of 16 bytes */
};

struct softgpu_surface {
	u64 base;
	s64 pitch_bytes; /* of a linear surface it may be negative */
	enum softgpu_tiling tiling;
};

/** softgpu_surface_valid() - whether the pitch fits the tiling. */
bool softgpu_surface_valid(const struct softgpu_surface *surface);

/*
 * @bytes from byte @x of row @y on. They end the engine's slice when it is used up, between two pieces.
 * 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface, s64 x,
			 s64 y, u32 bytes, u8 *row);
int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface, s64 x,
			  s64 y, u32 bytes, const u8 *row);
/** softgpu_copy() - memmove() between linear addresses. Only on the engine that has @rows. */
int softgpu_copy(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes);

static inline u64 softgpu_surface_linear(const struct softgpu_surface *surface, s64 x, s64 y)
{
	return surface->base + y * surface->pitch_bytes + x;
}

#endif
