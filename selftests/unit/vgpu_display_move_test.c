// SPDX-License-Identifier: GPL-2.0-only
/* A vGPU with a display moves: the other host takes its monitor and its frames over. */
#include <linux/crc32.h>
#include <linux/hrtimer.h>
#include "move_pair.h"
#include "vgpu/display_regs.h"
#include "vgpu/state_io.h"

#define USUAL_NS (NSEC_PER_SEC / 60)
#define PIPE(reg) (GEN8_DE_PIPE_ISR_A + (reg))
#define MONITOR DISPLAY_PORT_BYTES

static atomic64_t now_ns; /* the scheduler's thread reads it, too */

static u64 test_clock(void)
{
	return atomic64_read(&now_ns);
}

static unsigned int pass(u64 ns)
{
	atomic64_add(ns, &now_ns);
	return shim_run_timers();
}

static int setup_displays(void **state)
{
	int err;

	atomic64_set(&now_ns, ktime_get_ns());
	shim_clock = test_clock;
	err = pair_setup(state);
	ghyvi_vgpu_set_resolution(from.vgpu, 0);
	ghyvi_vgpu_set_display(from.vgpu, true);
	ghyvi_vgpu_set_display(to.vgpu, true);
	ghyvi_vgpu_reset(from.vgpu);
	move_wr(&from, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	move_wr(&from, PIPE(IRQ_IMR), ~(u32)(GEN8_PIPE_VBLANK | GEN9_PIPE_PLANE1_FLIP_DONE));
	move_wr(&from, PIPE(IRQ_IER), GEN8_PIPE_VBLANK | GEN9_PIPE_PLANE1_FLIP_DONE);
	move_wr(&from, PIPEACONF, PIPECONF_ENABLE);
	return err;
}

static int end(void **state)
{
	int err = pair_teardown(state);

	shim_clock = NULL;
	return err;
}

/* Write to, or read from (@write false) DPCD 0x101. */
static u8 lanes(struct move_host *host, bool write, u8 value)
{
	u32 header = (write ? 0x80u : 0x90u) << 24 | 0x0101 << 8;

	move_wr(host, DP_AUX_CH_DATA_A + MONITOR, header);
	move_wr(host, DP_AUX_CH_DATA_A + MONITOR + 4, (u32)value << 24);
	move_wr(host, DP_AUX_CH_CTL_A + MONITOR,
		DP_AUX_CH_CTL_SEND_BUSY | (write ? 5 : 4) << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT);
	return move_rd(host, DP_AUX_CH_DATA_A + MONITOR) >> 16;
}

/* The first byte of the EDID's detailed timing that tells the resolution: the width. */
static u8 edid_byte(struct move_host *host, u8 at)
{
	move_wr(host, DP_AUX_CH_DATA_A + MONITOR, 0x40005000);
	move_wr(host, DP_AUX_CH_DATA_A + MONITOR + 4, (u32)at << 24);
	move_wr(host, DP_AUX_CH_CTL_A + MONITOR,
		DP_AUX_CH_CTL_SEND_BUSY | 5 << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT);
	move_wr(host, DP_AUX_CH_DATA_A + MONITOR, 0x50005000);
	move_wr(host, DP_AUX_CH_CTL_A + MONITOR,
		DP_AUX_CH_CTL_SEND_BUSY | 4 << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT);
	return move_rd(host, DP_AUX_CH_DATA_A + MONITOR) >> 16;
}

static void frames_flips_and_the_monitor_go_on(void **state)
{
	u8 expected[GHYVI_EDID_BYTES_MAX], other[GHYVI_EDID_BYTES_MAX];
	u32 interrupts;

	ghyvi_vgpu_get_edid(from.vgpu, expected);
	ghyvi_vgpu_get_edid(to.vgpu, other);
	assert_int_not_equal(expected[56], other[56]);
	lanes(&from, true, 0x82);
	pass(USUAL_NS * 7 / 2);
	move_wr(&from, PIPE(IRQ_IIR), ~0u);
	move_wr(&from, PLANE_SURF_1_A, 0x10001000);
	assert_int_equal(move_rd(&from, PIPEA_FRMCOUNT_G4X), 3);
	pair_move();
	interrupts = to.interrupts;

	assert_int_equal(move_rd(&to, PIPEA_FRMCOUNT_G4X), 3);
	assert_int_equal(move_rd(&to, PLANE_SURF_1_A), 0x10001000);
	assert_int_equal(lanes(&to, false, 0), 0x82);
	assert_int_equal(edid_byte(&to, 56), expected[56]);
	assert_int_equal(pass(USUAL_NS / 2 - 1000), 0);
	assert_int_equal(move_rd(&to, PIPE(IRQ_IIR)), 0);
	assert_int_equal(pass(2000), 1);
	assert_int_equal(move_rd(&to, PIPEA_FRMCOUNT_G4X), 4);
	assert_int_equal(move_rd(&to, PIPE(IRQ_IIR)),
			 GEN8_PIPE_VBLANK | GEN9_PIPE_PLANE1_FLIP_DONE);
	assert_true(to.interrupts > interrupts);
	/* The monitor of the next guest is this host's. */
	ghyvi_vgpu_reset(to.vgpu);
	assert_int_equal(edid_byte(&to, 56), other[56]);
}

/* The registers, which are saved, tell which pipe is the display, the one switched on last. */
static void show_on_pipe_b(u32 pipe_a)
{
	const u32 b = PIPE_NEXT_BYTES, irq_b = PIPE(GEN8_IRQ_BANK_SIZE);

	move_wr(&from, irq_b + IRQ_IMR, ~(u32)GEN8_PIPE_VBLANK);
	move_wr(&from, irq_b + IRQ_IER, GEN8_PIPE_VBLANK);
	move_wr(&from, PIPEACONF, pipe_a);
	move_wr(&from, PIPEACONF + b, PIPECONF_ENABLE);
	pass(USUAL_NS * 7 / 2);
	move_wr(&from, irq_b + IRQ_IIR, ~0u);
	pair_move();
	assert_int_equal(pass(USUAL_NS / 2 - 1000), 0);
	assert_int_equal(pass(2000), 1);
	assert_int_equal(move_rd(&to, irq_b + IRQ_IIR), GEN8_PIPE_VBLANK);
	assert_int_equal(move_rd(&to, PIPE(IRQ_IIR)), 0);
	assert_int_equal(move_rd(&to, PIPEACONF), 0);
}

static void pipe_b_goes_on(void **state)
{
	show_on_pipe_b(0);
}

static void pipe_b_goes_on_if_pipe_a_was_not_switched_off(void **state)
{
	show_on_pipe_b(PIPECONF_ENABLE);
}

/* Give the monitor an EDID of two blocks, of which the second one has @value at @at. */
static void set_long_edid(struct move_host *host, unsigned int at, u8 value)
{
	u8 edid[GHYVI_EDID_BYTES_MAX];

	ghyvi_vgpu_get_edid(host->vgpu, edid);
	edid[126] = 1;
	edid[127] -= 1;
	memset(edid + GHYVI_EDID_BYTES, 0, GHYVI_EDID_BYTES);
	edid[at] = value;
	edid[255] = -value;
	assert_null(ghyvi_vgpu_set_edid(host->vgpu, edid, sizeof(edid)));
}

/* Neither host needs the other one's EDID, whatever their sizes are. */
static void the_guest_keeps_its_edid(void **state)
{
	set_long_edid(&from, 200, 0x5a);
	pair_move();
	assert_int_equal(edid_byte(&to, 126), 1);
	assert_int_equal(edid_byte(&to, 200), 0x5a);
	assert_int_equal(edid_byte(&to, 255), (u8)-0x5a);
	ghyvi_vgpu_reset(to.vgpu);
	assert_int_equal(edid_byte(&to, 126), 0);

	ghyvi_vgpu_set_resolution(from.vgpu, 0);
	set_long_edid(&to, 200, 0x5a);
	ghyvi_vgpu_reset(from.vgpu);
	pair_move();
	assert_int_equal(edid_byte(&to, 126), 0);
	assert_int_equal(edid_byte(&to, 128 + 56), edid_byte(&from, 56));
	ghyvi_vgpu_reset(to.vgpu);
	assert_int_equal(edid_byte(&to, 200), 0x5a);
}

static void a_monitor_that_is_unplugged_stays_so(void **state)
{
	ghyvi_vgpu_set_connected(from.vgpu, false);
	pair_move();
	assert_false(ghyvi_vgpu_is_connected(to.vgpu));
	assert_int_equal(move_rd(&to, SDEISR), 0);
	ghyvi_vgpu_set_connected(to.vgpu, true);
	assert_int_equal(move_rd(&to, SDEISR), SDE_PORTB_HOTPLUG_CPT);
}

static void a_second_block_of_another_size_is_refused(void **state)
{
	struct state_header *header;
	size_t bytes;
	void *saved;

	set_long_edid(&from, 200, 0x5a);
	saved = pair_save(&from, &bytes);
	header = saved + bytes - sizeof(*header) - GHYVI_EDID_BYTES - sizeof(*header);
	assert_int_equal(header->type, STATE_EDID);
	assert_int_equal(header->bytes, GHYVI_EDID_BYTES);
	header->bytes -= 8;
	((struct state_header *)((u8 *)(header + 1) + header->bytes))->type = STATE_OPTIONAL | 77;
	((struct state_header *)((u8 *)(header + 1) + header->bytes))->bytes = 0;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	header->bytes += 8;
	header->type = STATE_DISPLAY; /* twice */
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	free(saved);
}

/* Its interrupt was sent at the source: the guest is about to read it. */
static void a_crc_that_is_due_is_computed_by_the_other_host(void **state)
{
	const u32 pixel = 0x123456, plane = 2 * PLANE_NEXT_BYTES;
	u64 *table = ghyvi_vgpu_ggtt_table(from.vgpu);
	u32 frame;

	/* One pixel, of the highest plane. */
	WRITE_ONCE(table[MOVE_WINDOW / GHYVI_PAGE_BYTES], MOVE_RAM_GPA | GHYVI_ENTRY_PRESENT);
	*(u32 *)move_ram = pixel;
	move_wr(&from, PLANE_CTL_1_A + plane, PLANE_CTL_ENABLE | PLANE_CTL_FORMAT_XRGB_8888);
	move_wr(&from, PLANE_SURF_1_A + plane, MOVE_WINDOW);
	move_wr(&from, PIPE(IRQ_IMR), ~(u32)GEN8_PIPE_CDCLK_CRC_DONE);
	move_wr(&from, PIPE(IRQ_IER), GEN8_PIPE_CDCLK_CRC_DONE);
	move_wr(&from, PIPE_CRC_CTL_A, PIPE_CRC_ENABLE | PIPE_CRC_SOURCE_DMUX_SKL);
	pass(USUAL_NS);
	assert_int_equal(move_rd(&from, PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE);
	pair_move();
	frame = move_rd(&to, PIPEA_FRMCOUNT_G4X);
	assert_int_equal(move_rd(&to, PIPE(IRQ_IIR)), GEN8_PIPE_CDCLK_CRC_DONE);
	assert_int_equal(move_rd(&to, PIPE_CRC_RES_1_A),
			 crc32_le(~0u, (const void *)&pixel, sizeof(pixel)));
	pass(USUAL_NS);
	assert_int_equal(move_rd(&to, PIPEA_FRMCOUNT_G4X), frame + 1);
}

static void both_or_none_must_have_a_display(void **state)
{
	size_t bytes;
	void *saved = pair_save(&from, &bytes);

	ghyvi_vgpu_set_display(to.vgpu, false);
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	assert_non_null(strstr(move_report(&to), "display/enabled is 1 at the source, 0 here"));
	ghyvi_vgpu_resume(to.vgpu);
	assert_int_equal(pass(10 * USUAL_NS), 0); /* nothing of it runs here */
	free(saved);

	ghyvi_vgpu_reset(from.vgpu);
	ghyvi_vgpu_set_display(from.vgpu, false);
	ghyvi_vgpu_reset(from.vgpu);
	ghyvi_vgpu_set_display(to.vgpu, true);
	saved = pair_save(&from, &bytes);
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	assert_non_null(strstr(move_report(&to), "display/enabled is 0 at the source, 1 here"));
	free(saved);
}

/* The section is the last one before the end, which is empty. */
static struct state_display *section(void *saved, size_t bytes)
{
	u8 *end = (u8 *)saved + bytes - sizeof(struct state_header);
	struct state_header *header =
		(void *)(end - sizeof(struct state_display) - sizeof(*header));

	assert_int_equal(header->type, STATE_DISPLAY);
	assert_int_equal(header->bytes, sizeof(struct state_display));
	return (void *)(header + 1);
}

static void a_wrong_section_is_refused_or_harmless(void **state)
{
	struct state_display *display;
	struct state_header *header;
	size_t bytes;
	void *saved = pair_save(&from, &bytes);

	display = section(saved, bytes);
	header = (struct state_header *)display - 1;
	display->flip = 2;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	memset(display, 0xff, sizeof(*display));
	display->flip = 1;
	assert_int_equal(pair_load(&to, saved, bytes), 0);
	ghyvi_vgpu_resume(to.vgpu);
	pass(10 * USUAL_NS);
	assert_true(move_rd(&to, PIPEA_FRMCOUNT_G4X) < 100);
	assert_int_equal(edid_byte(&to, 56), 0xff);
	header->bytes -= 8;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	header->bytes += 8;
	/* not at the end */
	header->type = STATE_END;
	assert_int_equal(pair_load(&to, saved, bytes), -EINVAL);
	free(saved);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_displays, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_flips_and_the_monitor_go_on),
		TEST(pipe_b_goes_on),
		TEST(pipe_b_goes_on_if_pipe_a_was_not_switched_off),
		TEST(the_guest_keeps_its_edid),
		TEST(a_monitor_that_is_unplugged_stays_so),
		TEST(a_second_block_of_another_size_is_refused),
		TEST(a_crc_that_is_due_is_computed_by_the_other_host),
		TEST(both_or_none_must_have_a_display),
		TEST(a_wrong_section_is_refused_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
