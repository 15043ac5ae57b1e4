// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "gmedia.h"

#define WAIT_S 120
#define ROW_PIXELS (PAGE_BYTES / 4)
#define ROW_STRIDE_PAGES_MAX 7u /* the pitch is a signed 16-bit number of bytes */
#define SLICES_MAX 16u /* fills per plane and frame; limited because Gen9's driver parses each */

/*
 * Far apart, so that the only holes near the window are its own slots. i915 binds its own objects
 * (copies of batches) in the smallest hole, which is the one between these two addresses.
 */
#define COMMANDS_ADDRESS 0x20000000ull
#define WINDOW_ADDRESS 0x40000000ull

/* A color that is different in every thread, frame and slice, so that stale content is detected. */
static uint32_t slice_color(const struct pipeline *p, uint64_t frame, unsigned int plane,
			    unsigned int slice)
{
	uint64_t x = ((p->number * 2 + plane) * SLICES_MAX + slice + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ frame) * 0xbf58476d1ce4e5b9ull;
	return (x ^ x >> 29) >> 16;
}

static unsigned int slices(const struct surface *plane)
{
	return plane->height < SLICES_MAX ? plane->height : SLICES_MAX;
}

/* The first row of a slice; the height for the slice after the last one. */
static unsigned int slice_row(const struct surface *plane, unsigned int slice)
{
	return plane->height * slice / slices(plane);
}

/* Distributes the rows over as much of the plane as the pitch allows. */
static void shape_plane(struct surface *plane, unsigned int first, unsigned int pages,
			unsigned int rows)
{
	unsigned int stride = pages / rows;

	if (stride > ROW_STRIDE_PAGES_MAX)
		stride = ROW_STRIDE_PAGES_MAX;
	*plane = (struct surface){
		.tiling = TILING_LINEAR,
		.pixel_bytes = 4,
		.width = ROW_PIXELS,
		.height = rows,
		.pitch = stride * PAGE_BYTES,
		.offset = first * PAGE_BYTES,
	};
}

static int failed(struct pipeline *p, const char *step, int ret)
{
	if (ret)
		p->step = step;
	return ret;
}

int pipeline_open(struct pipeline *p, const struct pipeline_shape *shape, unsigned int number)
{
	unsigned int chroma = shape->pages / 3, luma = shape->pages - chroma;
	unsigned int chroma_rows = shape->touch_rows / 3 ? shape->touch_rows / 3 : 1;
	int ret;

	memset(p, 0, sizeof(*p));
	p->shape = shape;
	p->number = number;
	shape_plane(&p->plane[0], 0, luma, shape->touch_rows - chroma_rows);
	shape_plane(&p->plane[1], luma, chroma, chroma_rows);
	ret = failed(p, "open", gem_open(&p->gem));
	if (ret)
		return ret;
	for (unsigned int i = 0; !ret && i < shape->surfaces; i++) {
		p->slot_of[i] = NO_SLOT;
		p->surface_in[i] = -1;
		ret = gem_create(&p->gem, (uint64_t)shape->pages * PAGE_BYTES, &p->surface[i]);
	}
	for (unsigned int i = 0; !ret && i < IN_FLIGHT * STAGES; i++)
		ret = gem_create(&p->gem, BATCH_BYTES, &p->commands[i / STAGES][i % STAGES]);
	if (ret)
		gem_close(&p->gem);
	return failed(p, "create", ret);
}

void pipeline_close(struct pipeline *p)
{
	gem_close(&p->gem);
}

static uint64_t slot_address(const struct pipeline *p, int slot)
{
	return WINDOW_ADDRESS + (uint64_t)slot * p->shape->pages * PAGE_BYTES;
}

/* Returns a free slot, or the least recently used one. */
static int choose_slot(const struct pipeline *p)
{
	unsigned int slots = p->shape->slots, best = 0;

	for (unsigned int i = 0; i < slots; i++) {
		if (p->surface_in[i] < 0)
			return i;
		if (p->used[i] < p->used[best])
			best = i;
	}
	return best;
}

static void place(struct pipeline *p, unsigned int surface)
{
	int slot = p->slot_of[surface];

	if (slot == NO_SLOT) {
		slot = choose_slot(p);
		if (p->surface_in[slot] >= 0) {
			p->slot_of[p->surface_in[slot]] = NO_SLOT;
			p->rebinds++;
		}
		p->surface_in[slot] = surface;
		p->slot_of[surface] = slot;
	}
	p->used[slot] = p->submissions;
}

static unsigned int surface_of(const struct pipeline *p, uint64_t frame, unsigned int stage)
{
	return (frame * STAGES + stage) % p->shape->surfaces;
}

static void emit_decode(struct pipeline *p, uint64_t frame)
{
	int state = 0;

	for (unsigned int plane = 0; plane < 2; plane++) {
		const struct surface *s = &p->plane[plane];

		for (unsigned int slice = 0; slice < slices(s); slice++) {
			struct blit fill = {
				.op = BLIT_COLOR,
				.x2 = ROW_PIXELS,
				.y1 = slice_row(s, slice),
				.y2 = slice_row(s, slice + 1),
				.rop = ROP_PATTERN,
				.color = slice_color(p, frame, plane, slice),
				.write_mask = ~0u,
			};

			batch_blit(&p->batch, s, &fill, &state);
		}
	}
}

/* Copies object 1 to object 0. */
static void emit_copy(struct pipeline *p)
{
	int state = 0;

	for (unsigned int plane = 0; plane < 2; plane++) {
		struct surface both[2] = { p->plane[plane], p->plane[plane] };
		struct blit copy = {
			.op = BLIT_COPY,
			.src = 1,
			.x2 = ROW_PIXELS,
			.y2 = both[0].height,
			.rop = ROP_SOURCE,
			.write_mask = ~0u,
		};

		batch_blit(&p->batch, both, &copy, &state);
	}
}

static int submit_stage(struct pipeline *p, unsigned int stage)
{
	unsigned int dst = surface_of(p, p->frames, stage), ring = p->frames % IN_FLIGHT;
	uint64_t address = COMMANDS_ADDRESS + (ring * STAGES + stage) * BATCH_BYTES;

	p->submissions++;
	batch_init(&p->batch, true);
	if (stage) {
		unsigned int src = surface_of(p, p->frames, stage - 1);

		/* Place the source first, so that the destination cannot evict it. */
		place(p, src);
		place(p, dst);
		batch_object(&p->batch, p->surface[dst], slot_address(p, p->slot_of[dst]), true);
		batch_object(&p->batch, p->surface[src], slot_address(p, p->slot_of[src]), false);
		emit_copy(p);
	} else {
		place(p, dst);
		batch_object(&p->batch, p->surface[dst], slot_address(p, p->slot_of[dst]), true);
		emit_decode(p, p->frames);
	}
	return failed(p, "execbuffer2",
		      batch_submit(&p->batch, &p->gem, p->commands[ring][stage], address,
				   I915_EXEC_BLT | I915_EXEC_NO_RELOC));
}

static int wait_for(struct pipeline *p, uint64_t frame)
{
	return failed(p, "wait",
		      gem_wait(&p->gem, p->commands[frame % IN_FLIGHT][STAGES - 1], WAIT_S));
}

/*
 * Compares the rows that the GPU wrote. The CPU reads the object itself, so the result does not
 * depend on the GPU's address translation for this access.
 */
static int verify_surface(struct pipeline *p, uint64_t frame, unsigned int stage)
{
	uint32_t handle = p->surface[surface_of(p, frame, stage)];
	uint32_t found[ROW_PIXELS];

	for (unsigned int plane = 0; plane < 2; plane++) {
		const struct surface *s = &p->plane[plane];

		for (unsigned int row = 0, slice = 0; row < s->height; row++) {
			int ret = gem_read(&p->gem, handle, surface_address(s, 0, row), found,
					   sizeof(found));
			uint32_t color;

			if (ret)
				return failed(p, "pread", ret);
			while (row >= slice_row(s, slice + 1))
				slice++;
			color = slice_color(p, frame, plane, slice);
			for (unsigned int x = 0; x < ROW_PIXELS; x++) {
				if (found[x] == color)
					continue;
				fprintf(stderr,
					"gmedia: thread %u frame %llu stage %u: plane %u row %u pixel %u: "
					"expected %08x found %08x\n",
					p->number, (unsigned long long)frame, stage, plane, row, x,
					color, found[x]);
				return failed(p, "verify", -EILSEQ);
			}
		}
	}
	return 0;
}

int pipeline_frame(struct pipeline *p)
{
	uint64_t frame = p->frames;
	int ret = 0;

	if (frame >= IN_FLIGHT)
		ret = wait_for(p, frame - IN_FLIGHT);
	for (unsigned int stage = 0; !ret && stage < STAGES; stage++)
		ret = submit_stage(p, stage);
	if (ret)
		return ret;
	p->frames++;
	if (!p->shape->verify)
		return 0;
	ret = wait_for(p, frame);
	for (unsigned int stage = 0; !ret && stage < STAGES; stage++)
		ret = verify_surface(p, frame, stage);
	p->verified += !ret;
	return ret;
}

int pipeline_drain(struct pipeline *p)
{
	int ret = 0;

	for (unsigned int i = 1; !ret && i <= IN_FLIGHT && i <= p->frames; i++)
		ret = wait_for(p, p->frames - i);
	return ret;
}
