// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile guest's screen, on the whole core: any registers over any GGTT, which another vCPU
 * changes meanwhile. Every byte of the guest's memory is the same, so every pixel is one of few
 * values. Anything else comes from memory that is not the guest's.
 */
#include <pthread.h>
#include "move_fixture.h"
#include "random.h"
#include "vgpu/display_regs.h"

#define DRAWS 100000u
#define CHANGING_DRAWS 20000u
#define BYTE 0x5au
#define WINDOW_PAGES (MOVE_WINDOW_BYTES / GHYVI_PAGE_BYTES)
#define ROWS 32u
#define FADE 0x90u

static struct move_host host;
static u32 page[GHYVI_PAGE_BYTES / 4];
/* The colours that pixels may have, and the same as a table. */
static u32 colours[20000];
static u32 nr_colours;
static bool allowed[1 << 24];

static void allow(u32 colour)
{
	if (allowed[colour])
		return;
	assert_in_range(nr_colours, 0, ARRAY_SIZE(colours) - 1);
	allowed[colour] = true;
	colours[nr_colours++] = colour;
}

static u32 of_255(u32 value, u32 part)
{
	return (value * part * 2 + 255) / 510;
}

/* @colour, with @alpha, @premultiplied or not, on a plane of alpha @fade, over @below. */
static u32 blended(u32 below, u32 colour, u32 alpha, bool premultiplied, u32 fade)
{
	u32 i, result = 0, channel;

	for (i = 0; i < 24; i += 8) {
		channel = premultiplied ? colour >> i & 255 : of_255(colour >> i & 255, alpha);
		channel =
			of_255(channel, fade) + of_255(below >> i & 255, 255 - of_255(alpha, fade));
		result |= (channel > 255 ? 255 : channel) << i;
	}
	return result;
}

/* A plane, or the cursor, which is an opaque or a premultiplied plane. */
static void allow_a_plane(void)
{
	/* Black; a pixel of 32 bits, one of 16 bits, one of three times 10 bits in each order. */
	const u32 opaque[] = {
		0,
		BYTE << 16 | BYTE << 8 | BYTE,
		(11u * 8 + 11 / 4) << 16 | (18u * 4 + 18 / 16) << 8 | (26u * 8 + 26 / 4),
		0x69a596,
		0x96a569,
	};
	u32 below = nr_colours, i, k;

	for (i = 0; i < ARRAY_SIZE(opaque); i++)
		allow(opaque[i]);
	for (k = 0; k < below; k++) {
		for (i = 0; i < ARRAY_SIZE(opaque); i++)
			allow(blended(colours[k], opaque[i], 255, true, FADE));
		for (i = 0; i < 4; i++)
			allow(blended(colours[k], opaque[1], BYTE, i & 1, i & 2 ? FADE : 255));
	}
}

static int set_up(void **state)
{
	u32 i;

	move_host_begin(&host, NULL);
	memset(move_ram, BYTE, MOVE_RAM_PAGES * GHYVI_PAGE_BYTES);
	ghyvi_vgpu_set_display(host.vgpu, true);
	ghyvi_vgpu_set_bar0(host.vgpu, MOVE_BAR0_GPA);
	nr_colours = 0;
	memset(allowed, 0, sizeof(allowed));
	allow(0);
	for (i = 0; i < GHYVI_PLANES + 1; i++)
		allow_a_plane();
	return 0;
}

static int tear_down(void **state)
{
	move_host_end(&host);
	return 0;
}

/* Mostly a page of the guest, else anything. */
static void change_entry(struct random *r)
{
	u64 *table = ghyvi_vgpu_ggtt_table(host.vgpu);
	u32 index = MOVE_WINDOW / GHYVI_PAGE_BYTES + random_range(r, 0, WINDOW_PAGES - 1);
	u64 entry = random_next(r);

	switch (random_range(r, 0, 7)) {
	case 0:
		break;
	case 1:
		entry = 0;
		break;
	case 2: /* around the memory */
		entry = MOVE_RAM_GPA +
			(random_range(r, 0, MOVE_RAM_PAGES + 64) - 32ull) * GHYVI_PAGE_BYTES;
		entry |= GHYVI_ENTRY_PRESENT;
		break;
	default:
		entry = MOVE_RAM_GPA +
			random_range(r, 0, MOVE_RAM_PAGES - 1) * (u64)GHYVI_PAGE_BYTES;
		entry |= GHYVI_ENTRY_PRESENT;
	}
	WRITE_ONCE(table[index], entry);
	/* The entry before the window is not the vGPU's. */
	WRITE_ONCE(table[MOVE_WINDOW / GHYVI_PAGE_BYTES - 1], entry);
}

static u32 address(struct random *r)
{
	switch (random_range(r, 0, 7)) {
	case 0:
		return random_next(r);
	case 1:
		return 0u - random_range(r, 1, 16) * GHYVI_PAGE_BYTES;
	default:
		return MOVE_WINDOW - 0x4000 + random_range(r, 0, WINDOW_PAGES + 8) * 4096;
	}
}

/* A value like those of a driver, or anything. */
static u32 plausible(struct random *r, u32 value)
{
	u32 wild = random_next(r);

	switch (random_range(r, 0, 9)) {
	case 0:
		return wild;
	case 1:
		return value ^ 1u << (wild & 31);
	default:
		return value;
	}
}

static void change_plane(struct random *r, u32 at, u32 width, u32 height)
{
	static const u32 formats[] = { 4u << 24, 4u << 24 | 1u << 20, 14u << 24, 2u << 24,
				       2u << 24 | 1u << 20 };
	static const u32 tilings[] = { 0, 1u << 10, 4u << 10, 4u << 10 | 1 };
	static const u32 alphas[] = { 0, 0, 2u << 4, 3u << 4 };

	move_wr(&host, PLANE_CTL_1_A + at,
		plausible(r, 1u << 31 | formats[random_range(r, 0, 4)] |
				     tilings[random_range(r, 0, 3)] |
				     alphas[random_range(r, 0, 3)] |
				     (random_range(r, 0, 3) ? 0 : PLANE_CTL_ROTATE_180)));
	move_wr(&host, PLANE_STRIDE_1_A + at, plausible(r, random_range(r, 0, 40)));
	move_wr(&host, PLANE_POS_1_A + at,
		plausible(r, random_range(r, 0, 50) << 16 | random_range(r, 0, 50)));
	move_wr(&host, PLANE_SIZE_1_A + at, plausible(r, height << 16 | width));
	move_wr(&host, PLANE_OFFSET_1_A + at,
		plausible(r, random_range(r, 0, 70) << 16 | random_range(r, 0, 200)));
	move_wr(&host, PLANE_KEYMAX_1_A + at, FADE << 24 | (random_next(r) & 0xffffff));
	move_wr(&host, PLANE_KEYMSK_1_A + at, random_next(r));
	move_wr(&host, PLANE_SURF_1_A + at, address(r));
}

static void change_registers(struct random *r)
{
	static const u32 cursors[] = { 0, 0x27, 0x22, 0x23 };
	u32 width = random_range(r, 0, 99), height = random_range(r, 0, 99), i;

	/* Rarely the width is wild: such a band has up to 8192 columns. */
	move_wr(&host, PIPEASRC,
		random_range(r, 0, 99) ? width << 16 | height : (u32)random_next(r));
	move_wr(&host, PIPEACONF, random_range(r, 0, 99) ? 1u << 31 : 0);
	for (i = 0; i < GHYVI_PLANES; i++)
		change_plane(r, i * PLANE_NEXT_BYTES, width, height);
	move_wr(&host, CURACNTR, plausible(r, cursors[random_range(r, 0, 3)]));
	move_wr(&host, CURABASE, address(r));
	move_wr(&host, CURAPOS,
		plausible(r, (random_next(r) & 0x80008000) | random_range(r, 0, 127) << 16 |
				     random_range(r, 0, 127)));
	move_wr(&host, CUR_FBC_CTL_A,
		random_range(r, 0, 3) ? 0 : 1u << 31 | random_range(r, 0, 255));
}

/* The most pages that a band can have: Y tiles or rows of pixels, and rows of the cursor. */
static u64 pages_max(const struct ghyvi_picture *picture, u32 rows)
{
	u64 tiled = (picture->width * 4 / 128 + 2) * ((rows - 1) / 8 + 2);
	u64 linear = rows * (u64)(picture->width * 4 / 4096 + 2);

	return GHYVI_PLANES * max(tiled, linear) + rows;
}

static void draw_once(struct random *r)
{
	struct ghyvi_picture picture;
	u32 first, rows, i, *pixels;
	u64 faults;

	if (ghyvi_vgpu_get_picture(host.vgpu, &picture))
		return;
	assert_in_range(picture.width, 1, GHYVI_PICTURE_WIDTH_MAX);
	assert_true((u64)picture.width * picture.height <= ghyvi_vgpu_picture_pixels(host.vgpu));
	first = random_range(r, 0, picture.height - 1);
	rows = random_range(r, 1, min(ROWS, picture.height - first));
	pixels = malloc(4 * (size_t)picture.width * rows);
	faults = (u64)atomic64_read(&host.stats.display_faults);
	ghyvi_vgpu_draw(host.vgpu, &picture, first, rows, pixels, page);
	faults = (u64)atomic64_read(&host.stats.display_faults) - faults;
	assert_true(faults <= pages_max(&picture, rows));
	for (i = 0; i < picture.width * rows; i++)
		if (pixels[i] >> 24 || !allowed[pixels[i]])
			fail_msg("pixel %u of %ux%u is %#x", i, picture.width, rows, pixels[i]);
	free(pixels);
}

static void any_registers_over_any_ggtt_show_only_the_guests_memory(void **state)
{
	struct random r;
	u32 i, k;

	random_seed(&r, 1);
	for (i = 0; i < 4 * WINDOW_PAGES; i++)
		change_entry(&r);
	for (i = 0; i < DRAWS; i++) {
		for (k = 0; k < 4; k++)
			change_entry(&r);
		change_registers(&r);
		draw_once(&r);
	}
	assert_true(atomic64_read(&host.stats.display_faults) > DRAWS / 10);
	assert_true(atomic64_read(&host.stats.pinned_pages_now) > 0);
}

static _Atomic bool stop;

static void *other_vcpu(void *unused)
{
	struct random r;

	random_seed(&r, 2);
	while (!stop) {
		change_entry(&r);
		change_registers(&r);
	}
	return NULL;
}

static void another_vcpu_may_change_all_meanwhile(void **state)
{
	pthread_t thread;
	struct random r;
	u32 i;

	random_seed(&r, 3);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, other_vcpu, NULL), 0);
	for (i = 0; i < CHANGING_DRAWS; i++)
		draw_once(&r);
	stop = true;
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			any_registers_over_any_ggtt_show_only_the_guests_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_vcpu_may_change_all_meanwhile, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
