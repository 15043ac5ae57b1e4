// SPDX-License-Identifier: GPL-2.0-only
/*
 * CRCs of the pipe: which picture each is of, when it is computed, and how frames wait for it. zlib
 * computes the expected ones, of pictures that were drawn as a whole.
 */
#include <zlib.h>
#include "vgpu/display_regs.h"
#include "vgpu_guest.h"

#define WIDTH 200u
#define HEIGHT 70u /* no multiple of the rows of a band */
#define SURFACE (HIDDEN_START + 0x100000)
#define SURFACE_2 (HIDDEN_START + 0x200000)
#define CURSOR (HIDDEN_START + 0x40000)
#define WHOLE_PIPE (PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_DMUX_SKL)

static u64 access_ns;
static unsigned int accesses;

static void count_access(void)
{
	accesses++;
	now_ns += access_ns;
}

static int set_up(int (*profile)(void **state), void **state)
{
	int err;
	u32 i;

	stop_clock();
	access_ns = 0;
	err = profile(state);
	ghyvi_vgpu_set_display(vgpu, true);
	ghyvi_vgpu_reset(vgpu);
	for (i = 0; i < HIDDEN_BYTES; i += 4)
		*(u32 *)(gtt.memory + i) = (i / 4 * 2654435761u) ^ i >> 12;
	accesses = 0;
	gtt.in_access = count_access;
	wr(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	wr(PIPE(IRQ_IMR), ~(u32)GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPE(IRQ_IER), GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPEASRC, (WIDTH - 1) << 16 | (HEIGHT - 1));
	wr(VTOTAL_A, 99 << 16 | (HEIGHT - 1));
	wr(PIPEACONF, PIPECONF_ENABLE);
	wr(PLANE_STRIDE_1_A, 13);
	wr(PLANE_SIZE_1_A, (HEIGHT - 1) << 16 | (WIDTH - 1));
	wr(PLANE_CTL_1_A, PLANE_CTL_ENABLE | PLANE_CTL_FORMAT_XRGB_8888);
	wr(PLANE_SURF_1_A, SURFACE);
	return err;
}

static int setup_crc(void **state)
{
	return set_up(setup_gen9, state);
}

static int setup_broadwell(void **state)
{
	int err = set_up(setup_gen8, state);

	wr(PLANE_STRIDE_1_A, 13 * 64);
	wr(PLANE_CTL_1_A, PLANE_CTL_ENABLE | DISP_FORMAT_BGRX888);
	wr(PLANE_SURF_1_A, SURFACE);
	return err;
}

static int end(void **state)
{
	gtt.in_access = NULL;
	gtt.unmapped_page = 0;
	return teardown_display(state);
}

/* As i915's handler does. Returns the CRC; @number: set to that of the frame. */
static u32 next_crc(u32 *number)
{
	u32 crc;

	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPE(IRQ_IIR), GEN8_PIPE_CDCLK_CRC_DONE);
	*number = rd(PIPEA_FRMCOUNT_G4X);
	crc = rd(PIPE_CRC_RES_1_A);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), crc);
	return crc;
}

/* Of what the registers show now, in the next frame. */
static u32 crc(void)
{
	u32 number;

	next_crc(&number);
	return next_crc(&number);
}

/* The CRC of what the registers show, without the cursor if @bare. */
static u32 expected_crc(bool bare)
{
	static u32 pixels[WIDTH * HEIGHT], page[GHYVI_PAGE_BYTES / 4];
	struct ghyvi_picture picture;

	assert_int_equal(ghyvi_vgpu_get_picture(vgpu, &picture), 0);
	assert_int_equal(picture.width, WIDTH);
	assert_int_equal(picture.height, HEIGHT);
	if (bare)
		picture.cursor_control = 0;
	ghyvi_vgpu_draw(vgpu, &picture, 0, HEIGHT, pixels, page);
	return ~(u32)crc32(0, (const void *)pixels, sizeof(pixels));
}

static u32 black_crc(void)
{
	static const u32 pixels[WIDTH * HEIGHT];

	return ~(u32)crc32(0, (const void *)pixels, sizeof(pixels));
}

static void show_cursor(u32 x, u32 y)
{
	wr(CURACNTR, MCURSOR_MODE_64_ARGB_AX);
	wr(CURAPOS, y << 16 | x);
	wr(CURABASE, CURSOR);
}

static void equal_pictures_have_equal_crcs_and_no_others(void **state)
{
	u32 *last = (u32 *)(gtt.memory + 0x100000) + 13 * 16 * (HEIGHT - 1) + WIDTH - 1;
	u32 first, now;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	first = crc();
	assert_int_equal(first, expected_crc(false));
	assert_int_equal(crc(), first);
	*last ^= 1;
	now = crc();
	assert_int_not_equal(now, first);
	assert_int_equal(now, expected_crc(false));
	*last ^= 1;
	assert_int_equal(crc(), first);
	*last ^= 1u << 24; /* alpha, which is not shown */
	assert_int_equal(crc(), first);
	wr(PLANE_SURF_1_A, SURFACE_2);
	assert_int_not_equal(crc(), first);
	wr(PLANE_SURF_1_A, SURFACE);
	assert_int_equal(crc(), first);
	show_cursor(10, 20);
	now = crc();
	assert_int_not_equal(now, first);
	assert_int_equal(now, expected_crc(false));
	show_cursor(11, 20);
	assert_int_not_equal(crc(), now);
	wr(CURACNTR, 0);
	wr(CURABASE, 0);
	assert_int_equal(crc(), first);
}

static void a_source_leaves_other_planes_out(void **state)
{
	u32 source;

	show_cursor(10, 20);
	for (source = 0; source < 8; source++) {
		u32 expected = black_crc();

		if (source == 4)
			expected = expected_crc(false);
		else if (source == 0)
			expected = expected_crc(true);
		wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | source << 28);
		assert_int_equal(crc(), expected);
	}
	assert_int_not_equal(expected_crc(false), expected_crc(true));
}

/* Plane @plane shows what the first one does, or what its registers say. */
static void show_plane(u32 plane, u32 surface)
{
	u32 at = plane * PLANE_NEXT_BYTES;

	wr(PLANE_STRIDE_1_A + at, 13);
	wr(PLANE_SIZE_1_A + at, (HEIGHT - 1) << 16 | (WIDTH - 1));
	wr(PLANE_CTL_1_A + at, PLANE_CTL_ENABLE | PLANE_CTL_FORMAT_XRGB_8888);
	wr(PLANE_SURF_1_A + at, surface);
}

static void each_plane_is_a_source(void **state)
{
	static const u32 sources[] = { 0, 2, 6 };
	u32 plane, first = expected_crc(true);

	for (plane = 1; plane < GHYVI_PLANES; plane++) {
		wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | sources[plane] << 28);
		assert_int_equal(crc(), black_crc());
		show_plane(plane, SURFACE);
		assert_int_equal(crc(), first);
		show_plane(plane, SURFACE_2);
		assert_int_not_equal(crc(), first);
		wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
		assert_int_equal(crc(), expected_crc(false));
		wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE);
		assert_int_equal(crc(), first);
	}
}

static void a_broadwell_has_its_own_sources(void **state)
{
	const u32 sprite = PLANE_NEXT_BYTES;
	u32 source, first = expected_crc(true), only;

	wr(PLANE_STRIDE_1_A + sprite, 13 * 64);
	wr(PLANE_SIZE_1_A + sprite, (HEIGHT - 1) << 16 | (WIDTH - 1));
	wr(PLANE_CTL_1_A + sprite, PLANE_CTL_ENABLE | SPRITE_FORMAT_RGBX888);
	wr(PLANE_SURF_1_A + sprite, SURFACE_2);
	only = expected_crc(true);
	assert_int_not_equal(only, first);
	show_cursor(10, 20);
	for (source = 0; source < 4; source++) {
		u32 expected[] = { first, only, expected_crc(false), black_crc() };

		wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | source << 29);
		assert_int_equal(crc(), expected[source]);
	}
}

/* Pipe B shows nothing; pipe A what is set up. */
static void a_crc_is_that_of_the_pipe_that_is_on(void **state)
{
	const u32 b = PIPE_NEXT_BYTES, irq_b = PIPE(GEN8_IRQ_BANK_SIZE);
	u32 first;

	wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_PF_IVB);
	first = crc();
	wr(PIPE_CRC_CTL_A + b, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_PF_IVB);
	wr(PIPEASRC + b, (WIDTH - 1) << 16 | (HEIGHT - 1));
	wr(irq_b + IRQ_IMR, ~(u32)GEN8_PIPE_CDCLK_CRC_DONE);
	wr(irq_b + IRQ_IER, GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPEACONF + b, PIPECONF_ENABLE);
	pass(USUAL_NS);
	pass(USUAL_NS);
	assert_int_equal(rd(irq_b + IRQ_IIR), GEN8_PIPE_CDCLK_CRC_DONE);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	assert_int_equal(rd(PIPE_CRC_RES_1_A + b), black_crc());
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
}

static void the_other_pipe_changes_no_crc(void **state)
{
	const u32 b = PIPE_NEXT_BYTES;
	u32 first, other, number;

	show_cursor(10, 20);
	wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_PF_IVB);
	first = crc();
	wr(CURAPOS, 0);
	wr(CURABASE + b, CURSOR);
	assert_int_equal(crc(), first);
	wr(CURABASE, CURSOR);
	next_crc(&number);
	/* A frame has ended, whose CRC is due. */
	pass(USUAL_NS);
	wr(PIPE_CRC_CTL_A + b, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_PF_IVB);
	wr(PIPEACONF + b, 0);
	other = rd(PIPE_CRC_RES_1_A);
	assert_int_not_equal(other, first);
	/* The CRC of the next one will not be read. */
	wr(PIPE(IRQ_IIR), ~0u);
	pass(USUAL_NS);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE);
	accesses = 0;
	wr(PIPE(GEN8_IRQ_BANK_SIZE) + IRQ_IMR, ~(u32)GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPE(GEN8_IRQ_BANK_SIZE) + IRQ_IER, GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPEACONF + b, PIPECONF_ENABLE);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), other);
	assert_int_equal(rd(PIPE_CRC_RES_1_A + b), 0);
	assert_int_equal(accesses, 0);
}

static void the_registers_of_a_plane_count_when_its_surface_is_stored(void **state)
{
	u32 plane, at, first, second;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	for (plane = 0; plane < GHYVI_PLANES; plane++) {
		at = plane * PLANE_NEXT_BYTES;
		show_plane(plane, SURFACE + plane * 0x1000);
		first = crc();
		wr(PLANE_POS_1_A + at, 3 << 16 | 5);
		assert_int_equal(crc(), first);
		/* The surface of another plane leaves this one alone. */
		wr(PLANE_SURF_1_A + (plane + 1) % GHYVI_PLANES * PLANE_NEXT_BYTES,
		   rd(PLANE_SURF_1_A + (plane + 1) % GHYVI_PLANES * PLANE_NEXT_BYTES));
		assert_int_equal(crc(), first);
		wr(PLANE_SURF_1_A + at, SURFACE + plane * 0x1000);
		assert_int_equal(rd(PLANE_SURFLIVE_1_A + at), SURFACE + plane * 0x1000);
		second = crc();
		assert_int_not_equal(second, first);
		assert_int_equal(second, expected_crc(false));
	}
}

static void what_is_not_the_guests_is_black(void **state)
{
	u32 one_page;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	gtt.unmapped_page = SURFACE;
	one_page = crc();
	assert_int_equal(one_page, expected_crc(false));
	assert_true(atomic64_read(&stats.display_faults) > 0);
	gtt.unmapped_page = 0;
	assert_int_not_equal(crc(), one_page);
	wr(PLANE_SURF_1_A, 0xf0000000);
	assert_int_equal(crc(), black_crc());
	wr(PLANE_CTL_1_A, 0);
	wr(PLANE_SURF_1_A, 0);
	assert_int_equal(crc(), black_crc());
}

static void nothing_is_computed_that_the_guest_does_not_read(void **state)
{
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), 0);
	/* masked, or not enabled */
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE & ~PIPE_CRC_ENABLE);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	wr(PIPE(IRQ_IMR), ~0u);
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	wr(PIPE(IRQ_IER), 0);
	wr(PIPE(IRQ_IMR), ~(u32)GEN8_PIPE_CDCLK_CRC_DONE);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), 0);
	wr(PIPE_CRC_RES_1_A, 77);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), 0);
	/* The pipe is off. */
	wr(PIPEACONF, 0);
	wr(PIPE(IRQ_IER), GEN8_PIPE_CDCLK_CRC_DONE);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(accesses, 0);
	rd(PIPE_CRC_RES_1_A);
	assert_true(accesses >= HEIGHT);
	accesses = 0;
	rd(PIPE_CRC_RES_1_A);
	assert_int_equal(accesses, 0);
}

/* Registers count from a store to the last one on, and from the next vertical blank on. */
static void a_crc_is_of_the_frame_that_has_ended(void **state)
{
	u32 first, second, number;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	first = crc();
	wr(PLANE_CTL_1_A, 0);
	wr(CURACNTR, MCURSOR_MODE_64_ARGB_AX);
	assert_int_equal(crc(), first);
	wr(PLANE_CTL_1_A, PLANE_CTL_ENABLE | PLANE_CTL_FORMAT_XRGB_8888);
	wr(CURACNTR, 0);
	/* Stored in the middle of a frame, which does not show it. */
	assert_int_equal(pass(USUAL_NS / 2), 0);
	wr(PLANE_SURF_1_A, SURFACE_2);
	assert_int_equal(pass(USUAL_NS / 2 + 100), 1);
	/* Nor does the CRC of that frame change when it is read late. */
	wr(PLANE_SURF_1_A, SURFACE);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	wr(PIPE(IRQ_IIR), ~0u);
	second = next_crc(&number);
	assert_int_not_equal(second, first);
	assert_int_equal(next_crc(&number), first);
	wr(PLANE_SURF_1_A, SURFACE_2);
	assert_int_equal(next_crc(&number), first);
	assert_int_equal(next_crc(&number), second);
	assert_int_equal(second, expected_crc(false));
	/* The same of the cursor. */
	show_cursor(10, 20);
	assert_int_equal(next_crc(&number), second);
	assert_int_equal(next_crc(&number), expected_crc(false));
}

/* The guest did not want to know of frames. */
static void the_first_crc_is_of_the_frame_in_which_it_was_switched_on(void **state)
{
	u32 first = expected_crc(false), number;

	assert_int_equal(pass(10 * USUAL_NS), 0);
	wr(PLANE_SURF_1_A, SURFACE_2);
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	assert_int_equal(next_crc(&number), first);
	assert_int_equal(next_crc(&number), expected_crc(false));
	/* A pipe shows in its first frame what was stored before. */
	wr(PIPEACONF, 0);
	wr(PLANE_SURF_1_A, SURFACE);
	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(next_crc(&number), first);
}

/* What is stored after the end of a frame is in none that began then, whenever its timer runs. */
static void a_late_timer_moves_nothing_to_an_earlier_frame(void **state)
{
	u32 first, number, before;

	wr(PIPE(IRQ_IMR), ~(u32)(GEN8_PIPE_CDCLK_CRC_DONE | GEN9_PIPE_PLANE1_FLIP_DONE));
	wr(PIPE(IRQ_IER), GEN8_PIPE_CDCLK_CRC_DONE | GEN9_PIPE_PLANE1_FLIP_DONE);
	pass(USUAL_NS);
	wr(PIPE(IRQ_IIR), ~0u);
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	crc();
	first = next_crc(&before);
	now_ns += 3 * USUAL_NS;
	wr(PLANE_SURF_1_A, SURFACE_2);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), before + 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE);
	wr(PIPE(IRQ_IIR), ~0u);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	now_ns += 3 * USUAL_NS;
	show_cursor(10, 20);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), before + 2);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE | GEN9_PIPE_PLANE1_FLIP_DONE);
	wr(PIPE(IRQ_IIR), ~0u);
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	assert_int_equal(next_crc(&number), expected_crc(true));
	assert_int_equal(next_crc(&number), expected_crc(false));
	assert_int_equal(number, before + 4);
}

static void each_frame_has_a_crc_however_late_the_timer_is(void **state)
{
	u32 before, number, i;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	next_crc(&before);
	for (i = 0; i < 5; i++) {
		now_ns += i * 7 * USUAL_NS;
		if (i & 1)
			rd(PIPEA_FRMCOUNT_G4X);
		next_crc(&number);
		assert_int_equal(number, ++before);
	}
}

static void the_blank_lasts_until_the_crc_was_read(void **state)
{
	u32 frame, i;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	crc();
	assert_int_equal(pass(USUAL_NS), 1);
	frame = rd(PIPEA_FRMCOUNT_G4X);
	for (i = 0; i < 9; i++) {
		assert_int_equal(pass(NSEC_PER_SEC / 2), 0);
		assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame);
		assert_int_equal(rd(PIPEADSL), HEIGHT);
	}
	rd(PIPE_CRC_RES_1_A);
	assert_int_equal(pass(USUAL_NS / 2), 0);
	assert_int_equal(rd(PIPEADSL), (HEIGHT + 50) % 100);
	assert_int_equal(pass(USUAL_NS / 2 + 100), 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame + 1);

	/* A guest that does not read it loses it. */
	assert_int_equal(pass(5 * NSEC_PER_SEC + USUAL_NS + 100), 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame + 2);
	/* One that wants it no more waits no more. */
	wr(PIPE_CRC_CTL_A, 0);
	pass(10 * USUAL_NS + 100);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame + 12);
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	assert_int_equal(pass(USUAL_NS), 1);
	wr(PIPE(IRQ_IMR), ~0u);
	pass(10 * USUAL_NS + 100);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame + 23);
}

static void the_guest_has_as_much_time_as_a_slow_crc_takes(void **state)
{
	const u64 crc_ns = 10 * USUAL_NS;
	u32 number;
	u64 began;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	crc();
	accesses = 0;
	next_crc(&number);
	access_ns = crc_ns / accesses;
	assert_int_equal(pass(USUAL_NS), 1);
	began = now_ns;
	rd(PIPE_CRC_RES_1_A);
	assert_true(now_ns - began > crc_ns / 2);
	assert_int_equal(pass(now_ns - began), 0);
	assert_int_equal(pass(USUAL_NS + 100), 1);
}

static bool stop_in_access;

static void other_vcpu(void)
{
	if (!stop_in_access)
		return;
	stop_in_access = false;
	wr(PIPE_CRC_CTL_A, 0);
}

static void a_crc_that_is_not_wanted_any_more_stops_no_frame(void **state)
{
	u32 first, frame;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	first = crc();
	wr(PLANE_SURF_1_A, SURFACE_2);
	next_crc(&frame);
	pass(USUAL_NS);
	frame = rd(PIPEA_FRMCOUNT_G4X);
	gtt.in_access = other_vcpu;
	stop_in_access = true;
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	assert_false(stop_in_access);
	pass(10 * USUAL_NS + 100);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), frame + 10);
}

static void a_paused_guests_memory_is_not_read(void **state)
{
	u32 first, second, number;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	first = crc();
	wr(PLANE_SURF_1_A, SURFACE_2);
	next_crc(&number);
	assert_int_equal(pass(USUAL_NS), 1);
	ghyvi_vgpu_pause(vgpu);
	accesses = 0;
	assert_int_equal(rd(PIPE_CRC_RES_1_A), first);
	assert_int_equal(accesses, 0);
	ghyvi_vgpu_resume(vgpu);
	assert_int_equal(pass(USUAL_NS), 0);
	second = rd(PIPE_CRC_RES_1_A);
	assert_int_not_equal(second, first);
	assert_int_equal(second, expected_crc(false));
}

static void be_killed(void)
{
	count_access();
	shim_killed = true;
}

/* A guest can make each page take long, but a VM that is killed has to end. */
static void the_thread_of_a_killed_vm_computes_no_further(void **state)
{
	u32 number, whole;

	wr(PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_DMUX_SKL);
	crc();
	accesses = 0;
	next_crc(&number);
	whole = accesses;
	accesses = 0;
	gtt.in_access = be_killed;
	next_crc(&number);
	shim_killed = false;
	assert_in_range(accesses, 1, whole / 2);
}

/* A vCPU that waits for its read holds up its QEMU. */
static void a_crc_ends_in_time_however_slow_each_band_is(void **state)
{
	u64 began;

	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	crc();
	pass(USUAL_NS);
	access_ns = 200 * NSEC_PER_MSEC;
	began = now_ns;
	rd(PIPE_CRC_RES_1_A);
	assert_in_range(now_ns - began, 2 * NSEC_PER_SEC, 2200 * NSEC_PER_MSEC);
}

static void a_reset_leaves_no_crc(void **state)
{
	wr(PIPE_CRC_CTL_A, WHOLE_PIPE);
	crc();
	pass(USUAL_NS);
	ghyvi_vgpu_reset(vgpu);
	accesses = 0;
	assert_int_equal(rd(PIPE_CRC_RES_1_A), 0);
	assert_int_equal(rd(PIPE_CRC_CTL_A), 0);
	assert_int_equal(accesses, 0);
	pass(6 * NSEC_PER_SEC); /* of the frame before */
	assert_int_equal(pass(10 * NSEC_PER_SEC), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_crc, end)
#define BROADWELL(f) cmocka_unit_test_setup_teardown(f, setup_broadwell, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(equal_pictures_have_equal_crcs_and_no_others),
		TEST(a_source_leaves_other_planes_out),
		TEST(each_plane_is_a_source),
		BROADWELL(a_broadwell_has_its_own_sources),
		BROADWELL(a_crc_is_that_of_the_pipe_that_is_on),
		BROADWELL(the_other_pipe_changes_no_crc),
		TEST(the_registers_of_a_plane_count_when_its_surface_is_stored),
		TEST(what_is_not_the_guests_is_black),
		TEST(nothing_is_computed_that_the_guest_does_not_read),
		TEST(a_crc_is_of_the_frame_that_has_ended),
		TEST(the_first_crc_is_of_the_frame_in_which_it_was_switched_on),
		TEST(a_late_timer_moves_nothing_to_an_earlier_frame),
		TEST(each_frame_has_a_crc_however_late_the_timer_is),
		TEST(the_blank_lasts_until_the_crc_was_read),
		TEST(the_guest_has_as_much_time_as_a_slow_crc_takes),
		TEST(a_crc_that_is_not_wanted_any_more_stops_no_frame),
		TEST(a_paused_guests_memory_is_not_read),
		TEST(the_thread_of_a_killed_vm_computes_no_further),
		TEST(a_crc_ends_in_time_however_slow_each_band_is),
		TEST(a_reset_leaves_no_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
