// SPDX-License-Identifier: GPL-2.0-only
#include "vgpu_moves.h"

/* Offsets near something interesting, values with interesting bits. */
static u32 random_offset(void)
{
	static const u32 near[] = { GHYVI_RENDER_BASE,	GHYVI_VIDEO_BASE, GHYVI_VIDEO_ENHANCE_BASE,
				    GHYVI_BLITTER_BASE, GEN8_MASTER_IRQ,  0x4260,
				    GEN6_GDRST,		PVINFO_NOTIFY,	  0x45400,
				    GEN6_PCODE_MAILBOX };
	u32 base = near[rnd(ARRAY_SIZE(near))];

	switch (rnd(64)) {
	case 0:
		return rnd(GHYVI_REGISTERS_BYTES + 64);
	case 1:
		return (base & ~0xfffu) + RING_ELSP;
	default:
		return base + rnd(0x400);
	}
}

static u64 random_value(void)
{
	u64 value;

	switch (rnd(4)) {
	case 0:
		value = descriptor(rnd(CONTEXTS));
		return rnd(4) ? value : value ^ 1ull << rnd(64);
	case 1:
		return 1ull << rnd(33);
	case 2:
		return HWSP(rnd(4));
	default:
		value = (u64)rnd(~0u) << 32;
		return value | rnd(~0u);
	}
}

/* Events other than register accesses. */
static void rare_move(void)
{
	struct ghyvi_containment containment = { .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };
	u8 buffer[64];
	u32 offset;

	switch (rnd(6)) {
	case 0:
		ghyvi_vgpu_reset(vgpu);
		break;
	case 1:
		ghyvi_vgpu_set_bar0(vgpu, rnd(2) ? GHYVI_BAR_UNMAPPED : (u64)rnd(~0u) << 24);
		break;
	case 2:
		memset(buffer, 0x5a, sizeof(buffer));
		offset = HIDDEN_START - 32 + rnd(64);
		ghyvi_vgpu_aperture_write(vgpu, offset, buffer, rnd(sizeof(buffer)));
		break;
	case 3:
		offset = rnd(~0u);
		ghyvi_vgpu_aperture_read(vgpu, offset, buffer, rnd(sizeof(buffer)));
		break;
	case 4:
		ghyvi_vgpu_reset_under_driver(vgpu);
		break;
	default:
		containment.points_max = rnd(200);
		assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &containment), 0);
	}
}

/*
 * Anywhere on a page that is memory, unaligned and over its end, too; whether or not it is
 * protected.
 */
static void store_in_mirror(u32 offset, u64 value, unsigned int bytes)
{
	offset %= GHYVI_REGISTERS_BYTES;
	if (!ghyvi_vgpu_register_page(vgpu, offset))
		offset = GEN8_MASTER_IRQ + offset % 0x400;
	guest_stores(offset, value, min(bytes, GHYVI_PAGE_BYTES - offset % GHYVI_PAGE_BYTES));
}

void move(void)
{
	unsigned int bytes = 1u << rnd(4);
	u32 offset = random_offset();
	int engine = rnd(GHYVI_ENGINES);

	if (rnd(8))
		offset &= ~(bytes - 1);
	if (rnd(3))
		ghyvi_vgpu_register_write(vgpu, offset, random_value(), bytes);
	else if (!rnd(4))
		store_in_mirror(offset, random_value(), bytes);
	else
		ghyvi_vgpu_register_read(vgpu, offset, bytes);
	if (rnd(8) == 0) {
		u64 state = STATE(rnd(CONTEXTS), 1);

		state += 8 * rnd(32);
		poke(state, (u32)random_value());
	}
	if (rnd(64) == 0)
		make_context(rnd(CONTEXTS));
	if (rnd(32) == 0) {
		int c = rnd(CONTEXTS);

		move_tail(c);
		elsp(descriptor(c), rnd(2) ? descriptor(rnd(CONTEXTS)) : 0);
	}
	if (rnd(128) == 0) {
		wr(GEN6_GDRST, GEN6_GRDOM_FULL);
		make_context(rnd(CONTEXTS));
	}
	if (rnd(256) == 0)
		rare_move();
	if (rnd(16) == 0 && gpu_busy(engine)) {
		static const enum ghyvi_job_status ends[] = { GHYVI_JOB_COMPLETE,
							      GHYVI_JOB_PREEMPTED,
							      GHYVI_JOB_ERROR };

		finish(engine, ends[rnd(ARRAY_SIZE(ends))]);
	}
	/* a cancelled job keeps the engine until its thread gets a turn */
	if (gpu.nr_threads > FAKE_THREADS / 2 || rnd(32) == 0)
		settle();
}
