// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: registers, interrupts, domains, configuration space. */
#include <unistd.h>
#include "emu_fixture.h"

static void masked_registers_keep_other_bits(void **state)
{
	wr(HALF_SLICE_CHICKEN2, 0x00050005);
	wr(HALF_SLICE_CHICKEN2, 0x00040000);
	assert_int_equal(rd(HALF_SLICE_CHICKEN2), 1);
}

static void reset_handshake_is_immediate(void **state)
{
	wr(GHYVI_RENDER_BASE + RING_RESET_CTL, 0x00010001);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_RESET_CTL), 3);
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	assert_int_equal(rd(GEN6_GDRST), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0);
	wr(GHYVI_RENDER_BASE + RING_RESET_CTL, 0x00010000);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_RESET_CTL), 0);
}

static void each_edge_of_the_master_sends_one_message(void **state)
{
	wr(GEN8_GT_ISR0 + IRQ_IMR, 0);
	wr(GEN8_GT_ISR0 + IRQ_IER, 1);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	assert_int_equal(messages, 0);
	wr(GEN8_MASTER_IRQ, 1u << 31);
	assert_int_equal(messages, 1);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 1u << 31 | GEN8_GT_RCS_IRQ);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	assert_int_equal(messages, 1);
	wr(GEN8_MASTER_IRQ, 0);
	wr(GEN8_MASTER_IRQ, 1u << 31);
	assert_int_equal(messages, 2);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_MASTER_IRQ), 1u << 31);
}

static void sleeping_domains_are_reported(void **state)
{
	wr(0x7014, 0x00010001);
	wr(GEN6_RC_CONTROL, GEN6_RC_CTL_RC6_ENABLE);
	assert_int_equal(rd(0x7014), 0);
	expect_violations(EMU_ASLEEP, 1);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010001);
	assert_int_equal(rd(FORCEWAKE_ACK_RENDER_GEN9), 1);
	assert_int_equal(rd(0x7014), 1);
	assert_int_equal(rd(0x1a09c), 0); /* the media domain */
	expect_violations(EMU_ASLEEP, 2);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010000);
	wr(GEN6_RC_CONTROL, 0);
	assert_int_equal(rd(0x7014), 1);
}

/* i915 releases its request in a timer, which may come before the read. */
static void a_posting_read_may_come_after_the_release(void **state)
{
	wr(GEN6_RC_CONTROL, GEN6_RC_CTL_RC6_ENABLE);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010001);
	wr(0x7014, 0x00010001);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010000);
	rd(0x7014);
	expect_violations(EMU_ASLEEP, 0);
	rd(0x7018);
	expect_violations(EMU_ASLEEP, 1);
	wr(GEN6_RC_CONTROL, 0);
}

static u32 residency_after(u32 ms)
{
	u32 before = rd(GEN6_GT_GFX_RC6);

	emu_run_engines(emu);
	usleep(1000 * ms);
	return rd(GEN6_GT_GFX_RC6) - before;
}

/* By hardware or by software, with no request and nothing to do (i915: live_rc6_manual()). */
static void time_in_rc6_is_counted(void **state)
{
	assert_int_equal(residency_after(2), 0);
	wr(GEN6_RC_CONTROL, GEN6_RC_CTL_RC6_ENABLE);
	assert_int_equal(residency_after(2), 0);
	wr(GEN6_RC_STATE, RC_SW_TARGET_RC6);
	assert_in_range(residency_after(2), 2000000 / RC6_UNIT_NS, ~0u >> 1);
	wr(FORCEWAKE_GT_GEN9, 0x80008000); /* by any bit of the request */
	emu_run_engines(emu);
	assert_int_equal(residency_after(2), 0);
	wr(GEN6_RC_STATE, 0);
	wr(FORCEWAKE_GT_GEN9, 0x80000000);
	emu_run_engines(emu);
	assert_int_equal(residency_after(2), 0);
	wr(GEN6_RC_CONTROL, GEN6_RC_CTL_HW_ENABLE | GEN6_RC_CTL_RC6_ENABLE);
	assert_in_range(residency_after(2), 2000000 / RC6_UNIT_NS, ~0u >> 1);
	wr(FORCEWAKE_RENDER_GEN9, 0x00010001);
	wr(FORCEWAKE_GT_GEN9, 0x00010001);
	start_waiting();
	wr(FORCEWAKE_RENDER_GEN9, 0x00010000);
	wr(FORCEWAKE_GT_GEN9, 0x00010000);
	assert_int_equal(residency_after(2), 0);
}

static u32 pcode(u32 command, u32 data)
{
	wr(GEN6_PCODE_DATA, data);
	wr(GEN6_PCODE_MAILBOX, GEN6_PCODE_READY | command);
	assert_int_equal(rd(GEN6_PCODE_MAILBOX), 0); /* complete, no error */
	return rd(GEN6_PCODE_DATA);
}

/* What i915 writes for each of the GPU's frequencies it reads again (i915: st_llc_verify()). */
static void frequency_table_is_kept(void **state)
{
	u32 i;

	for (i = 7; i < 24; i++)
		pcode(GEN6_PCODE_WRITE_MIN_FREQ_TABLE, (2 * i) << 16 | (i + 1) << 8 | i);
	for (i = 7; i < 24; i++)
		assert_int_equal(pcode(GEN6_PCODE_READ_MIN_FREQ_TABLE, i), (2 * i) << 8 | (i + 1));
}

static void config_space_has_two_bars_and_msi(void **state)
{
	unsigned int i;

	assert_int_equal(emu_config_read(emu, 0, 4), 0x19128086);
	for (i = 0; i < 7; i++)
		emu_config_write(emu, 0x10 + 4 * i, ~0u, 4);
	assert_int_equal(emu_config_read(emu, 0x10, 4), ~(EMU_GTTMMADR_BYTES - 1));
	assert_int_equal(emu_config_read(emu, 0x14, 4), 0);
	assert_int_equal(emu_config_read(emu, 0x18, 4), ~(EMU_GMADR_BYTES - 1) | 8);
	assert_int_equal(emu_config_read(emu, 0x28, 4), 0);
}

/* As lspci shows them on real machines. */
static void capabilities_are_those_of_real_machines(void **state)
{
	assert_int_equal(emu_config_read(emu, 0x34, 1), 0x40);
	assert_int_equal(emu_config_read(emu, 0x40, 3), 0x0c7009);
	assert_int_equal(emu_config_read(emu, 0x70, 4), 0x0092ac10); /* version 2, integrated */
	assert_int_equal(emu_config_read(emu, 0xac, 2), 0xd005);
	assert_int_equal(emu_config_read(emu, 0xd0, 2), 0x0001);
	assert_int_equal(emu_config_read(emu, 0xd4, 4) & 8, 0); /* NoSoftRst- */
	assert_int_equal(emu_config_read(emu, 0x100, 4), 0x2001001b); /* PASID, ATS, PRI */
	assert_int_equal(emu_config_read(emu, 0x200, 4), 0x3001000f);
	assert_int_equal(emu_config_read(emu, 0x300, 4), 0x00010013);
}

static void function_level_reset_forgets_everything(void **state)
{
	emu_config_write(emu, 0x78, 0x7fff, 2);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), HWSP);
	emu_config_write(emu, 0x78, 0x8000, 2);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_HWS_PGA), 0);
	assert_int_equal(emu_config_read(emu, 0x78, 2), 0);
}

static void platforms_differ_in_id_and_workarounds(void **state)
{
	static const struct {
		const char *name;
		u32 id, ecochk;
	} platforms[] = { { "skylake", 0x19128086, 0x02000100 },
			  { "kabylake", 0x59128086, 0x02000100 },
			  { "coffeelake", 0x3e928086, 0x02000000 },
			  { "cometlake", 0x9bc88086, 0x02000000 } };
	unsigned int i;

	assert_ptr_equal(emu->platform, emu_platform_find("skylake"));
	assert_null(emu_platform_find("broadwell"));
	for (i = 0; i < ARRAY_SIZE(platforms); i++) {
		emu->platform = emu_platform_find(platforms[i].name);
		set_up_again();
		assert_int_equal(emu_config_read(emu, 0, 4), platforms[i].id);
		assert_int_equal(rd(GEN6_RP_STATE_CAP) & 0xffff00, 0x070700); /* 350 MHz */
		wr(GAM_ECOCHK, platforms[i].ecochk);
		make_context(0, GHYVI_RENDER_BASE);
		submit(descriptor(0), 0);
		expect_violations(EMU_WORKAROUND, i);
		wr(GAM_ECOCHK, BIT(8)); /* lacks bit 25 */
		run_all();
		make_context(1, GHYVI_RENDER_BASE);
		submit(descriptor(1), 0);
		expect_violations(EMU_WORKAROUND, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(masked_registers_keep_other_bits),
		TEST(reset_handshake_is_immediate),
		TEST(each_edge_of_the_master_sends_one_message),
		TEST(sleeping_domains_are_reported),
		TEST(a_posting_read_may_come_after_the_release),
		TEST(time_in_rc6_is_counted),
		TEST(frequency_table_is_kept),
		TEST(config_space_has_two_bars_and_msi),
		TEST(capabilities_are_those_of_real_machines),
		TEST(function_level_reset_forgets_everything),
		TEST(platforms_differ_in_id_and_workarounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
