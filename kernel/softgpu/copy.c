// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies between linear addresses. A piece of a copy is as long as both sides are contiguous in the
 * host, so that it is mapped, copied and accounted at once.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "surface.h"

/* Number of bytes before @end that are in the same page as the last of them. */
static u32 to_page_start(u64 end)
{
	return ((end - 1) & (GHYVI_PAGE_BYTES - 1)) + 1;
}

/* Copy through a buffer: mapping one page has invalidated the pointer to the other. */
static int copy_apart(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes)
{
	u8 *p;
	int err;

	err = softgpu_map(engine, SOFTGPU_PPGTT, src, false, &p);
	if (err)
		return err;
	memcpy(engine->rows, p, bytes);
	err = softgpu_map(engine, SOFTGPU_PPGTT, dst, true, &p);
	if (err)
		return err;
	if (p)
		memcpy(p, engine->rows, bytes);
	return softgpu_spend(engine, bytes);
}

/* Copy from the pages at @dst and @src on. @bytes: set to what was copied. */
static int copy_piece(struct softgpu_engine *engine, u64 dst, u64 src, u32 *bytes)
{
	u8 *from, *to;
	u64 slice;
	int err;

	err = softgpu_map(engine, SOFTGPU_PPGTT, src, false, &from);
	if (err)
		return err;
	slice = engine->slice;
	err = softgpu_map(engine, SOFTGPU_PPGTT, dst, true, &to);
	if (err)
		return err;
	if (unlikely(engine->slice != slice || !to)) { /* @from may be invalid */
		*bytes = min(*bytes, min(softgpu_to_page_end(dst), softgpu_to_page_end(src)));
		return copy_apart(engine, dst, src, *bytes);
	}
	*bytes = min_t(u32, *bytes, SOFTGPU_SLICE_BYTES);
	*bytes = softgpu_contiguous(engine, src, from, *bytes, false);
	*bytes = softgpu_contiguous(engine, dst, to, *bytes, true);
	memmove(to, from, *bytes);
	return softgpu_spend(engine, *bytes);
}

int softgpu_copy(struct softgpu_engine *engine, u64 dst, u64 src, u32 bytes)
{
	bool backwards = dst - src < bytes;
	u32 run;
	int err = 0;

	for (; bytes && !err; bytes -= run) {
		if (backwards) {
			run = min(bytes,
				  min(to_page_start(dst + bytes), to_page_start(src + bytes)));
			err = copy_piece(engine, dst + bytes - run, src + bytes - run, &run);
			continue;
		}
		run = bytes;
		err = copy_piece(engine, dst, src, &run);
		dst += run;
		src += run;
	}
	return err;
}
