// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile guest's screen, on the whole core, of both generations: any registers over any GGTT,
 * which another vCPU changes meanwhile; messages to the monitor, which comes and goes; frames and
 * their CRCs. Every byte of the guest's memory is the same, so every pixel is one of few values.
 * Anything else comes from memory that is not the guest's.
 */
#include <pthread.h>
#include <linux/hrtimer.h>
#include "move_fixture.h"
#include "random.h"
#include "vgpu/display_regs.h"
#include "vgpu/vgpu_types.h"

/* One thread has nothing to race with: TSan, which is ten times as slow, only looks for threads. */
#ifdef __SANITIZE_THREAD__
#define TRIALS 10000u
#else
#define TRIALS 100000u
#endif
#define CHANGING_TRIALS 20000u
#define BYTE 0x5au
#define WINDOW_PAGES (MOVE_WINDOW_BYTES / GHYVI_PAGE_BYTES)
#define ROWS 32u
#define FADE 0x90u

static struct move_host host;
static bool broadwell;
static u8 edid[GHYVI_EDID_BYTES_MAX];
static u32 answers; /* of the monitor */
static atomic64_t now_ns;
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

static u64 test_clock(void)
{
	return atomic64_read(&now_ns);
}

static void choose_profile(struct ghyvi_vgpu_params *params)
{
	params->profile = broadwell ? &ghyvi_profile_gen8 : &ghyvi_profile_gen9;
}

static int set_up(void **state)
{
	u32 i;

	atomic64_set(&now_ns, ktime_get_ns());
	shim_clock = test_clock;
	move_host_begin(&host, choose_profile);
	ghyvi_vgpu_get_edid(host.vgpu, edid);
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

static int set_up_skylake(void **state)
{
	broadwell = false;
	return set_up(state);
}

static int set_up_broadwell(void **state)
{
	broadwell = true;
	return set_up(state);
}

static int tear_down(void **state)
{
	move_host_end(&host);
	shim_clock = NULL;
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

static u32 plane_control(struct random *r)
{
	static const u32 formats[] = { 4u << 24, 4u << 24 | 1u << 20, 14u << 24, 2u << 24,
				       2u << 24 | 1u << 20 };
	static const u32 tiling[] = { 0, 1u << 10, 4u << 10, 4u << 10 | 1, 5u << 10, 5u << 10 | 1 };
	static const u32 alphas[] = { 0, 0, 2u << 4, 3u << 4 };

	return 1u << 31 | formats[random_range(r, 0, 4)] | tiling[random_range(r, 0, 5)] |
	       alphas[random_range(r, 0, 3)] | (random_range(r, 0, 3) ? 0 : PLANE_CTL_ROTATE_180);
}

/* Of the first plane, or of the sprite. */
static u32 broadwell_control(struct random *r, bool sprite)
{
	static const u32 formats[] = { 5u << 26, 6u << 26, 8u << 26, 10u << 26, 14u << 26 };
	static const u32 sprites[] = { 1u << 25, 1u << 25 | 1u << 20, 2u << 25, 2u << 25 | 1u << 20,
				       0 };
	u32 i = random_range(r, 0, 4);

	return 1u << 31 | (sprite ? sprites[i] : formats[i]) | random_range(r, 0, 1) << 10 |
	       (random_range(r, 0, 3) ? 0 : DISP_ROTATE_180);
}

static void change_plane(struct random *r, u32 at, u32 width, u32 height)
{
	u32 control = broadwell ? broadwell_control(r, at & 0x100) : plane_control(r);

	move_wr(&host, PLANE_CTL_1_A + at, plausible(r, control));
	move_wr(&host, PLANE_STRIDE_1_A + at,
		plausible(r, random_range(r, 0, 40) * (broadwell ? 64 : 1)));
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
	u32 pipe = random_range(r, 0, broadwell ? 1 : 7) == 1 ? PIPE_NEXT_BYTES : 0;

	/* Rarely the width is wild: such a band has up to 8192 columns. */
	move_wr(&host, PIPEASRC + pipe,
		random_range(r, 0, 99) ? width << 16 | height : (u32)random_next(r));
	move_wr(&host, PIPEACONF + pipe, random_range(r, 0, 99) ? 1u << 31 : 0);
	for (i = 0; i < GHYVI_PLANES; i++)
		change_plane(r, pipe + i * PLANE_NEXT_BYTES, width, height);
	move_wr(&host, CURACNTR + pipe, plausible(r, cursors[random_range(r, 0, 3)]));
	move_wr(&host, CURABASE + pipe, address(r));
	move_wr(&host, CURAPOS + pipe,
		plausible(r, (random_next(r) & 0x80008000) | random_range(r, 0, 127) << 16 |
				     random_range(r, 0, 127)));
	move_wr(&host, CUR_FBC_CTL_A + pipe,
		random_range(r, 0, 3) ? 0 : 1u << 31 | random_range(r, 0, 255));
}

static u32 aux_control(struct random *r)
{
	bool pch = random_range(r, 0, 7) ? broadwell : !broadwell;
	u32 port = random_range(r, 0, 7) ? 1 : random_range(r, 1, 3);

	return (pch ? PCH_DP_AUX_CH_CTL_B - DISPLAY_PORT_BYTES : DP_AUX_CH_CTL_A) +
	       port * DISPLAY_PORT_BYTES;
}

/*
 * Send a read or write of the DPCD or the EDID, or anything, of any size. Returns the first four
 * bytes.
 */
static u32 begin_message(struct random *r, u32 control)
{
	static const u8 commands[] = { 8, 9, 9, 0, 4, 1, 5, 5 };
	u32 command = commands[random_range(r, 0, 7)], i, count = random_range(r, 0, 15);
	u32 target = command >= 8 ? random_range(r, 0, 0x700) : random_range(r, 0, 7) ? 0x50 : 0x30;
	u32 message = plausible(r, command << 28 | target << 8 | count);

	move_wr(&host, control + 4, message);
	for (i = 8; i <= AUX_BYTES; i += 4)
		move_wr(&host, control + i, random_next(r));
	i = command & 1 ? 4 : 5 + count;
	move_wr(&host, control,
		plausible(r, DP_AUX_CH_CTL_SEND_BUSY | i << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT));
	return message;
}

static u8 byte_of(u32 control, u32 i)
{
	return move_rd(&host, control + 4 + (i & ~3u)) >> (24 - 8 * (i & 3));
}

/* An answer has nothing but what the monitor has: bytes of the EDID, and zeros behind its end. */
static void send_message(struct random *r)
{
	u32 control = aux_control(r), message, status, bytes, i;
	bool of_edid;

	move_wr(&host, control, DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR);
	message = begin_message(r, control);
	status = move_rd(&host, control);
	if (!(status & DP_AUX_CH_CTL_DONE) || status & DP_AUX_CH_CTL_TIME_OUT_ERROR)
		return;
	answers++;
	bytes = (status & DP_AUX_CH_CTL_MESSAGE_SIZE_MASK) >> DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT;
	assert_in_range(bytes, 1, 17);
	for (i = bytes; i < AUX_BYTES; i++)
		assert_int_equal(byte_of(control, i), 0);
	of_edid = (message >> 28 & ~4u) == 1 && !byte_of(control, 0);
	for (i = 1; i < bytes && of_edid; i++)
		assert_non_null(memchr(edid, byte_of(control, i), sizeof(edid)));
}

/* Frames pass, and the guest may want CRCs of them. */
static void pass_frames(struct random *r)
{
	u32 pipe = random_range(r, 0, broadwell) * PIPE_NEXT_BYTES, n = random_range(r, 0, 4);
	u32 isr = GEN8_DE_PIPE_ISR_A + (pipe ? GEN8_IRQ_BANK_SIZE : 0);

	move_wr(&host, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	move_wr(&host, isr + IRQ_IMR, plausible(r, ~(u32)GEN8_PIPE_CDCLK_CRC_DONE));
	move_wr(&host, isr + IRQ_IER, plausible(r, ~0u));
	move_wr(&host, PIPE_CRC_CTL_A + pipe,
		random_range(r, 0, 7) ? 1u << 31 | random_range(r, 0, 7) << 28 : 0);
	while (n--) {
		atomic64_add(random_range(r, 0, NSEC_PER_SEC / 30), &now_ns);
		shim_run_timers();
		move_wr(&host, isr + IRQ_IIR, ~0u);
		move_rd(&host, PIPEADSL + pipe);
		/* That of a large picture takes long. */
		if (move_rd(&host, PIPEASRC + pipe) <= 0x640064 && !random_range(r, 0, 3))
			move_rd(&host, PIPE_CRC_RES_1_A + pipe);
	}
}

/* What the host does with a display meanwhile. */
static void change_host(struct random *r)
{
	switch (random_range(r, 0, 3)) {
	case 0:
		ghyvi_vgpu_pause(host.vgpu);
		ghyvi_vgpu_resume(host.vgpu);
		break;
	default:
		ghyvi_vgpu_set_connected(host.vgpu, random_range(r, 0, 3));
	}
}

static void change_any(struct random *r)
{
	u32 i, n = random_range(r, 0, 9);

	for (i = 0; i < 4; i++)
		change_entry(r);
	if (n == 0)
		send_message(r);
	else if (n == 1)
		pass_frames(r);
	else if (n == 2)
		change_host(r);
	else
		change_registers(r);
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
	u32 i;

	answers = 0;
	random_seed(&r, 1);
	for (i = 0; i < 4 * WINDOW_PAGES; i++)
		change_entry(&r);
	for (i = 0; i < TRIALS; i++) {
		change_any(&r);
		draw_once(&r);
	}
	assert_true(atomic64_read(&host.stats.display_faults) > TRIALS / 10);
	assert_true(atomic64_read(&host.stats.interrupts) > TRIALS / 1000);
	assert_true(answers > TRIALS / 100);
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
		begin_message(&r, aux_control(&r));
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
	for (i = 0; i < CHANGING_TRIALS; i++) {
		if (!random_range(&r, 0, 9))
			pass_frames(&r);
		draw_once(&r);
	}
	stop = true;
	pthread_join(thread, NULL);
}

#define SKYLAKE(f) cmocka_unit_test_setup_teardown(f, set_up_skylake, tear_down)
#define BROADWELL(f) cmocka_unit_test_setup_teardown(f, set_up_broadwell, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SKYLAKE(any_registers_over_any_ggtt_show_only_the_guests_memory),
		SKYLAKE(another_vcpu_may_change_all_meanwhile),
		BROADWELL(any_registers_over_any_ggtt_show_only_the_guests_memory),
		BROADWELL(another_vcpu_may_change_all_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
