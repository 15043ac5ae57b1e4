/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Surfaces in the PPGTT: rows of bytes in linear or tiled memory.
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
	s64 pitch_bytes; /* may be negative for a linear surface */
	enum softgpu_tiling tiling;
};

/**
 * softgpu_surface_valid() - test whether the pitch of a surface is valid for its tiling.
 * @surface: surface to test
 *
 * Return: true if it is.
 */
bool softgpu_surface_valid(const struct softgpu_surface *surface);

/**
 * softgpu_surface_read() - read a part of a row.
 * @engine: engine of the calling thread
 * @surface: surface to read
 * @x: first byte in the row
 * @y: number of the row
 * @bytes: number of bytes
 * @row: destination
 *
 * Context: the access mutex is held; it is dropped and retaken when the slice is used up.
 * Return: 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_surface_read(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			 s64 x, s64 y, u32 bytes, u8 *row);
/**
 * softgpu_surface_write() - write a part of a row.
 * @engine: engine of the calling thread
 * @surface: surface to write
 * @x: first byte in the row
 * @y: number of the row
 * @bytes: number of bytes
 * @row: source
 *
 * Context: the access mutex is held; it is dropped and retaken when the slice is used up.
 * Return: 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_surface_write(struct softgpu_engine *engine, const struct softgpu_surface *surface,
			  s64 x, s64 y, u32 bytes, const u8 *row);
/**
 * softgpu_copy() - move memory between linear addresses, which may overlap.
 * @engine: engine of the calling thread; only BCS, which has @engine->rows
 * @dst: PPGTT address of the destination
 * @src: PPGTT address of the source
 * @bytes: number of bytes
 *
 * Context: the access mutex is held; it is dropped and retaken when the slice is used up.
 * Return: 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
int softgpu_copy(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes);

/* Address of byte @x of row @y of a linear surface. */
static inline u64 softgpu_surface_linear(const struct softgpu_surface *surface, s64 x, s64 y)
{
	return surface->base + y * surface->pitch_bytes + x;
}

#endif
