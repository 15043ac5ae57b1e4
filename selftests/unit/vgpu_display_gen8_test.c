// SPDX-License-Identifier: GPL-2.0-only
/* The display of a Broadwell: its fuses and clocks, its monitor behind the PCH, and pipe B. */
#include "vgpu/display_regs.h"
#include "vgpu/vgpu_types.h"
#include "vgpu_fake.h"

#define MONITOR DISPLAY_PORT_BYTES /* the registers of port B follow those of port A */
#define B PIPE_NEXT_BYTES /* and those of pipe B those of pipe A */

static void a_broadwell_has_pipe_b_too_and_its_own_fuses(void **state)
{
	assert_int_equal(rd(FUSE_STRAP), IVB_PIPE_C_DISABLE);
	assert_int_equal(rd(SOUTH_FUSE_STRAP),
			 SFUSE_STRAP_DDIB_DETECTED | SFUSE_STRAP_CRT_DISABLED);
	assert_int_equal(rd(SKL_DFSM), 0);
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
	assert_true(ghyvi_vgpu_traps_page(vgpu, PIPEADSL + B));
	assert_true(ghyvi_vgpu_traps_page(vgpu, LCPLL_CTL));
	assert_true(ghyvi_vgpu_traps_page(vgpu, PCH_DP_AUX_CH_CTL_B));
	assert_true(ghyvi_vgpu_traps_page(vgpu, SBI_CTL_STAT));
	ghyvi_vgpu_set_display(vgpu, false);
	assert_int_equal(rd(FUSE_STRAP), FUSE_STRAP_DISPLAY_OFF);
	assert_int_equal(rd(SOUTH_FUSE_STRAP), 0);
	assert_int_equal(rd(LCPLL_CTL), 0);
	wr(LCPLL_CTL, LCPLL_PLL_LOCK | LCPLL_CD_SOURCE_FCLK);
	assert_int_equal(rd(LCPLL_CTL), LCPLL_PLL_LOCK | LCPLL_CD_SOURCE_FCLK);
	wr(SBI_CTL_STAT, SBI_BUSY);
	assert_int_equal(rd(SBI_CTL_STAT), SBI_BUSY);
	wr(PCH_DP_AUX_CH_CTL_B, DP_AUX_CH_CTL_SEND_BUSY);
	assert_int_equal(rd(PCH_DP_AUX_CH_CTL_B), DP_AUX_CH_CTL_SEND_BUSY);
}

static void clocks_of_a_broadwell_follow_at_once(void **state)
{
	assert_int_equal(rd(LCPLL_CTL), LCPLL_PLL_LOCK);
	wr(LCPLL_CTL, LCPLL_CD_SOURCE_FCLK);
	assert_int_equal(rd(LCPLL_CTL),
			 LCPLL_PLL_LOCK | LCPLL_CD_SOURCE_FCLK | LCPLL_CD_SOURCE_FCLK_DONE);
	wr(LCPLL_CTL, rd(LCPLL_CTL) | LCPLL_PLL_DISABLE);
	assert_int_equal(rd(LCPLL_CTL),
			 LCPLL_PLL_DISABLE | LCPLL_CD_SOURCE_FCLK | LCPLL_CD_SOURCE_FCLK_DONE);
	wr(LCPLL_CTL, 0);
	assert_int_equal(rd(LCPLL_CTL), LCPLL_PLL_LOCK);
	wr(SBI_CTL_STAT, 0x600 | SBI_BUSY);
	assert_int_equal(rd(SBI_CTL_STAT), 0x600);
	/* i915 warns if a level has no latency, or less than the one before. */
	assert_in_range(rd(MCH_SSKPD) >> 4 & 0xff, 1, rd(MCH_SSKPD) >> 12 & 0xff);
	assert_in_range(rd(MCH_SSKPD) >> 12 & 0xff, 1, rd(MCH_SSKPD) >> 20 & 0x1ff);
	assert_in_range(rd(MCH_SSKPD) >> 20 & 0x1ff, 1, rd(MCH_SSKPD + 4) & 0x1ff);
	assert_int_not_equal(rd(MCH_SSKPD + 4) >> 24, 0);
}

static void a_broadwell_reaches_its_monitor_through_the_pch(void **state)
{
	static const u8 message[] = { 0x90, 0, 0, 0 };
	u32 control = PCH_DP_AUX_CH_CTL_B;
	u8 reply[AUX_BYTES];

	wr(SDEISR + IRQ_IMR, ~(u32)GEN9_AUX_CHANNEL_B);
	wr(SDEISR + IRQ_IER, GEN9_AUX_CHANNEL_B);
	assert_int_equal(aux_by(control, message, sizeof(message), reply), 2);
	assert_int_equal(reply[1], 0x12);
	assert_int_equal(rd(SDEISR + IRQ_IIR), GEN9_AUX_CHANNEL_B);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PCH_IRQ);
	assert_int_equal(atomic_read(&interrupts), 1);
	wr(control + 4, 0x12345678);
	assert_int_equal(rd(control + 4), 0x12345678);
	/* ports C and D */
	assert_int_equal(aux_by(control + MONITOR, message, sizeof(message), reply), 0);
	assert_int_equal(aux_by(control + 2 * MONITOR, message, sizeof(message), reply), 0);
}

/* 1920x1080 at 138.5 MHz on four lanes of 2.7 Gbit/s, by pipe B. */
static void a_broadwell_has_its_own_clock(void **state)
{
	const u64 frame_ns = 2080ull * 1111 * 1000000 / 138500;

	wr(HTOTAL_A + B, 2079 << 16 | 1919);
	wr(VTOTAL_A + B, 1110 << 16 | 1079);
	wr(PIPEA_LINK_M1 + B, 138500);
	wr(PIPEA_LINK_N1 + B, 270000);
	wr(PORT_CLK_SEL_A + 4, 1u << 29);
	wr(PIPEACONF + B, PIPECONF_ENABLE);
	assert_int_equal(rd(PIPEADSL + B), 1080);
	assert_int_equal(rd(PIPEADSL), 0);
	pass(frame_ns - 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X + B), 0);
	pass(1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X + B), 1);
	/* no clock */
	wr(PIPEACONF + B, 0);
	wr(PORT_CLK_SEL_A + 4, 7u << 29);
	wr(PIPEACONF + B, PIPECONF_ENABLE);
	pass(USUAL_NS);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X + B), 2);
}

static u32 pipe_b(u32 reg)
{
	return PIPE(reg) + GEN8_IRQ_BANK_SIZE;
}

static void the_pipe_that_was_switched_on_last_is_the_display(void **state)
{
	u32 flip = GEN8_PIPE_PRIMARY_FLIP_DONE;

	wr(pipe_b(IRQ_IMR), ~(GEN8_PIPE_VBLANK | flip));
	wr(pipe_b(IRQ_IER), GEN8_PIPE_VBLANK | flip);
	wr(PIPEACONF, PIPECONF_ENABLE);
	wr(PLANE_SURF_1_A + B, 0x10002000);
	assert_int_equal(rd(PLANE_SURFLIVE_1_A + B), 0x10002000);
	assert_int_equal(pass(3 * USUAL_NS), 0); /* nothing is awaited from pipe A */
	wr(PIPEACONF + B, PIPECONF_ENABLE);
	assert_int_equal(rd(PIPEACONF + B), PIPECONF_ENABLE | PIPECONF_STATE_ENABLE);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(pipe_b(IRQ_IIR)), GEN8_PIPE_VBLANK);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PIPE_B_IRQ);
	wr(pipe_b(IRQ_IIR), ~0u);
	wr(PLANE_SURF_1_A + B, 0x10001000);
	wr(PLANE_SURF_1_A, 0x10003000);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(pipe_b(IRQ_IIR)), GEN8_PIPE_VBLANK | flip);
	assert_int_equal(rd(PIPEA_FLIPCOUNT_G4X + B), 2);
	assert_int_equal(rd(PIPEA_FLIPCOUNT_G4X), 1);
	/* The end of pipe A, which is not the display any more */
	wr(pipe_b(IRQ_IIR), ~0u);
	wr(PIPEACONF, 0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(pipe_b(IRQ_IIR)), GEN8_PIPE_VBLANK);
	wr(PIPEACONF + B, 0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(pass(10 * USUAL_NS), 0);
}

static void a_pipe_takes_no_frame_and_no_flip_over(void **state)
{
	u32 flip = GEN8_PIPE_PRIMARY_FLIP_DONE;

	wr(pipe_b(IRQ_IMR), ~(GEN8_PIPE_VBLANK | flip));
	wr(pipe_b(IRQ_IER), GEN8_PIPE_VBLANK | flip);
	wr(PIPEACONF, PIPECONF_ENABLE);
	wr(PLANE_SURF_1_A, 0x10001000);
	pass(USUAL_NS / 2);
	wr(VTOTAL_A + B, 1110 << 16 | 1079);
	wr(PIPEACONF + B, PIPECONF_ENABLE);
	assert_int_equal(rd(PIPEADSL + B), 1080);
	assert_int_equal(pass(USUAL_NS - 1000), 0);
	assert_int_equal(pass(2000), 1);
	assert_int_equal(rd(pipe_b(IRQ_IIR)), GEN8_PIPE_VBLANK);

	/* After a reset, pipe A is the one that a flip is for. */
	ghyvi_vgpu_reset(vgpu);
	pass(USUAL_NS); /* the timer that was running */
	wr(PIPE(IRQ_IMR), ~flip);
	wr(PIPE(IRQ_IER), flip);
	wr(PLANE_SURF_1_A, 0x10001000);
	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), flip);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_gen8_display, teardown_display)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_broadwell_has_pipe_b_too_and_its_own_fuses),
		TEST(clocks_of_a_broadwell_follow_at_once),
		TEST(a_broadwell_reaches_its_monitor_through_the_pch),
		TEST(a_broadwell_has_its_own_clock),
		TEST(the_pipe_that_was_switched_on_last_is_the_display),
		TEST(a_pipe_takes_no_frame_and_no_flip_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
