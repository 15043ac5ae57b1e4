// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CRC of a picture, by which a guest's tests tell whether two pictures are equal.
 *
 * It is not the number that hardware computes, which is not documented: only that equal pictures
 * have equal CRCs counts. As there, other sources than the whole pipe leave planes out.
 */
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "vgpu_types.h"

/*
 * A guest can make each page take long, and the vCPU that reads holds up its QEMU. No band begins
 * after this time: the CRC is that of what was read.
 */
#define CRC_NS (2 * NSEC_PER_SEC)

struct scratch {
	u32 band[GHYVI_BAND_PIXELS];
	u8 page[GHYVI_PAGE_BYTES];
};

/* What a source leaves out is black. Hardware has more planes than a vGPU. */
static void choose_source(const struct vgpu_display_kind *kind, struct ghyvi_picture *picture,
			  u32 control)
{
	u32 source = control & kind->crc_source_mask;
	unsigned int i;

	if (source == kind->crc_of_pipe)
		return;
	picture->cursor_control = 0;
	for (i = 0; i < GHYVI_PLANES; i++)
		if (source != kind->crc_of_plane[i])
			picture->planes[i].control = 0;
}

/*
 * The guest's own thread computes it, 6 ms for 1920x1080, so it is the guest that pays. Without
 * memory it is 0, as that of no picture. That of a VM that is being killed is not read.
 */
u32 vgpu_crc(struct ghyvi_vgpu *vgpu, const struct ghyvi_picture *shown, u32 control)
{
	struct scratch *scratch = kvmalloc(sizeof(*scratch), GFP_KERNEL_ACCOUNT);
	struct ghyvi_picture picture = *shown;
	u64 end_ns = ktime_get_ns() + CRC_NS;
	u32 crc = ~0u, first = 0, rows;

	if (!scratch)
		return 0;
	choose_source(vgpu->params.profile->display, &picture, control);
	for (; first < picture.height && ktime_get_ns() < end_ns && !fatal_signal_pending(current);
	     first += rows) {
		rows = min(ghyvi_picture_band(&picture), picture.height - first);
		ghyvi_vgpu_draw(vgpu, &picture, first, rows, scratch->band, scratch->page);
		crc = crc32_le(crc, (const void *)scratch->band,
			       sizeof(u32) * (size_t)rows * picture.width);
		cond_resched();
	}
	kvfree(scratch);
	return crc;
}
