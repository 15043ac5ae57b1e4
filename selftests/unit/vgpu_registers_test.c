// SPDX-License-Identifier: GPL-2.0-only
/* The register file, driven in the order in which i915 probes. */
#include "vgpu_fake.h"
#include <ghyvi/multicall.h>
#include "vgpu/vgpu_types.h"

static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE, GHYVI_VIDEO_BASE,
			     GHYVI_VIDEO_ENHANCE_BASE };

static void unknown_registers_are_storage_that_reads_zero(void **state)
{
	u32 offset;

	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		assert_int_not_equal(rd(offset) == ~0u && offset != 0x20a8 && offset != 0x120a8 &&
					     offset != 0x1a0a8 && offset != 0x220a8 &&
					     offset != 0x44304 && offset != 0x44314 &&
					     offset != 0x44324 && offset != 0x44334,
				     1);
	assert_int_equal(rd(0x43224), 0);
	wr(0x43224, 0x00800100);
	assert_int_equal(rd(0x43224), 0x00800100);
	wr(0x1ffffc, 0xffffffff);
	assert_int_equal(rd(0x1ffffc), 0xffffffff);
	/* GT workarounds are verified by reading back. */
	wr(0x4ab0, 0x00040000);
	wr(0xfdc, 0x12345678);
	assert_int_equal(rd(0x4ab0), 0x00040000);
	assert_int_equal(rd(0xfdc), 0x12345678);
	wr(0x4024, 0xf0007fff);
	assert_int_equal(rd(0x4024), 0xf0007fff);
}

static void pvinfo_announces_the_partition(void **state)
{
	assert_true(ghyvi_vgpu_register_read(vgpu, PVINFO_MAGIC_LO, 8) == VGT_MAGIC);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, PVINFO_VERSION, 2), 1);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, PVINFO_VERSION + 2, 2), 0);
	assert_int_equal(rd(PVINFO_CAPS), 0x1c);
	assert_int_equal(rd(PVINFO_ID), 1);
	assert_int_equal(rd(PVINFO_MAPPABLE_BASE), 0);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), 0);
	assert_int_equal(rd(PVINFO_HIDDEN_BASE), HIDDEN_START);
	assert_int_equal(rd(PVINFO_HIDDEN_BYTES), HIDDEN_BYTES);
	assert_int_equal(rd(PVINFO_FENCES), 0);
	wr(PVINFO_DISPLAY_READY, 1);
	assert_int_equal(rd(PVINFO_DISPLAY_READY), 1);
	assert_string_equal(last_report(), "");
	wr(PVINFO_CAPS, 0xff);
	assert_int_equal(rd(PVINFO_CAPS), 0x1c);
	assert_non_null(strstr(last_report(), "read-only"));
}

static void pvinfo_announces_a_mappable_window(void **state)
{
	struct ghyvi_vgpu *mine = vgpu;

	mappable = (struct ghyvi_range){ 0x100000, 0x200000 };
	vgpu = create_vgpu(&ghyvi_profile_gen9);
	mappable.bytes = 0;
	assert_int_equal(rd(PVINFO_MAPPABLE_BASE), 0x100000);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), 0x200000);
	assert_int_equal(rd(PVINFO_HIDDEN_BASE), HIDDEN_START);
	/* A status page is taken in either window. */
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, 0x2ff000);
	assert_string_equal(last_report(), "");
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, 0x300000);
	assert_non_null(strstr(last_report(), "outside"));
	ghyvi_vgpu_destroy(vgpu);
	/* Where the window would be does not matter when it is empty. */
	mappable.start = 0x100000;
	vgpu = create_vgpu(&ghyvi_profile_gen9);
	mappable.start = 0;
	assert_int_equal(rd(PVINFO_MAPPABLE_BASE), 0);
	ghyvi_vgpu_destroy(vgpu);
	vgpu = mine;
}

static void pvinfo_announces_another_partition_after_a_move(void **state)
{
	const struct ghyvi_range low = { 0x200000, 0x200000 }, none = {};
	const struct ghyvi_range high = { HIDDEN_START + HIDDEN_BYTES, HIDDEN_BYTES };

	gtt.move_error = -ENOMEM;
	assert_int_equal(ghyvi_vgpu_move_ggtt(vgpu, &low, &high, &none), -ENOMEM);
	assert_int_equal(rd(PVINFO_HIDDEN_BASE), HIDDEN_START);
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HIDDEN_START);
	assert_string_equal(last_report(), "");

	gtt.move_error = 0;
	assert_int_equal(ghyvi_vgpu_move_ggtt(vgpu, &low, &high, &none), 0);
	assert_memory_equal(&gtt.partition[0], &low, sizeof(low));
	assert_memory_equal(&gtt.partition[1], &high, sizeof(high));
	assert_int_equal(rd(PVINFO_MAPPABLE_BASE), low.start);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), low.bytes);
	assert_int_equal(rd(PVINFO_HIDDEN_BASE), high.start);
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HIDDEN_START + HIDDEN_BYTES);
	assert_string_equal(last_report(), "");
	wr(GHYVI_RENDER_BASE + RING_HWS_PGA, HIDDEN_START);
	assert_non_null(strstr(last_report(), "outside"));
}

static void notifications_reach_the_gtt(void **state)
{
	wr(PVINFO_PDP0_LO, 0x12345000);
	wr(PVINFO_PDP0_LO + 4, 0x1);
	wr(PVINFO_NOTIFY, 4);
	assert_true(gtt.last_root == 0x112345000ull);
	assert_int_equal(gtt.last_levels, 4);
	assert_int_equal(gtt.roots_live, 0);
	wr(PVINFO_NOTIFY, 5);
	assert_int_equal(gtt.forgets, 1);
	assert_int_equal(gtt.last_levels, 4);
	wr(PVINFO_NOTIFY, 3);
	assert_int_equal(gtt.last_levels, 3);
	wr(PVINFO_NOTIFY, 7);
	assert_string_equal(last_report(), "");
	wr(PVINFO_NOTIFY, 99);
	assert_non_null(strstr(last_report(), "notification 99"));
	gtt.root_error = -EFAULT;
	wr(PVINFO_NOTIFY, 4);
	assert_non_null(strstr(last_report(), "not accepted"));
	assert_int_equal(rd(PVINFO_NOTIFY), 0);
}

static void multicall_is_offered_if_set_and_stays_so(void **state)
{
	wr(PVINFO_MULTICALL_LO, 0x12345000);
	wr(PVINFO_MULTICALL_HI, 0x1);
	wr(PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 3);
	assert_non_null(strstr(last_report(), "unknown notification"));
	assert_int_equal(gtt.multicalls, 0);
	ghyvi_vgpu_set_multicall(vgpu, true);
	assert_int_equal(rd(PVINFO_CAPS), 0x1001c);
	assert_int_equal(rd(PVINFO_MULTICALL_LO), 0x12345000);
	ghyvi_report_forget(&reporter);
	wr(PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 3);
	assert_string_equal(last_report(), "");
	assert_int_equal(gtt.multicalls, 1);
	assert_true(gtt.last_records == 0x112345000ull);
	assert_int_equal(gtt.last_count, 3);
	wr(PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 0xffff);
	assert_int_equal(gtt.last_count, 0xffff);
	gtt.multicall_error = -ENOENT;
	wr(PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 9);
	assert_non_null(strstr(last_report(), "multicall: 0 of 9 entries applied"));
	wr(PVINFO_NOTIFY, 4);
	assert_int_equal(gtt.multicalls, 3);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(PVINFO_CAPS), 0x1001c);
	assert_int_equal(rd(PVINFO_MULTICALL_LO), 0);
	ghyvi_vgpu_set_multicall(vgpu, false);
	assert_int_equal(rd(PVINFO_CAPS), 0x1c);
}

static void gen9_fuses(void **state)
{
	assert_int_equal(rd(FPGA_DBG), 0);
	assert_int_equal(rd(SKL_DFSM), 0x50200000);
	assert_int_equal(rd(PCH_RAWCLK), 24);
	assert_int_equal(rd(CTC_MODE), 4);
	assert_int_equal(rd(GEN8_FUSE2), 0x02800000);
	assert_int_equal(rd(GEN8_EU_DISABLE0), 0);
	assert_int_equal(rd(FUSE_STATUS), 0x8e000000);
	assert_int_equal(rd(GUC_STATUS), 1);
	assert_int_equal(rd(GUC_WOPCM_SIZE), 0);
	assert_int_equal(rd(HSW_EDRAM_CAP), 0);
	wr(GEN8_FUSE2, 0);
	assert_int_equal(rd(GEN8_FUSE2), 0x02800000);
	assert_int_equal(ghyvi_profile_device_id(&ghyvi_profile_gen9), 0x1912);
	assert_int_equal(ghyvi_profile_revision(&ghyvi_profile_gen9), 6);
}

/* The register file has words: a value between two of them would be that of the lower one. */
static void values_of_profiles_have_registers_of_their_own(void **state)
{
	const struct ghyvi_device_profile *profile = vgpu->params.profile;
	const struct ghyvi_register_value *value;

	for (value = profile->values; value->offset; value++) {
		assert_int_equal(value->offset % 4, 0);
		assert_int_equal(rd(value->offset), value->value);
	}
	assert_true(value > profile->values);
}

static void gen8_fuses(void **state)
{
	assert_int_equal(rd(FUSE_STRAP), 1u << 30);
	assert_int_equal(rd(GEN8_FUSE2), 0x02000000);
	assert_int_equal(rd(SKL_DFSM), 0);
	assert_int_equal(rd(0x130040), 0);
	assert_int_equal(ghyvi_profile_gen(&ghyvi_profile_gen8), 8);
	assert_int_equal(rd(PVINFO_CAPS), 0xc); /* only Gen9 has more than 4 KiB */
}

static void masked_registers_change_only_masked_bits(void **state)
{
	wr(0x7300, 0x00ff00aa);
	assert_int_equal(rd(0x7300), 0xaa);
	wr(0x7300, 0x000f0005);
	assert_int_equal(rd(0x7300), 0xa5);
	wr(GHYVI_RENDER_BASE + RING_MODE, 0x80008000);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_MODE), 0x8000);
	wr(0x20d4, 0x00040004);
	assert_int_equal(rd(0x20d4), 4);
	wr(0x20d4, 0x0000ffff);
	assert_int_equal(rd(0x20d4), 4);
	/* The half that says which bits are meant is never stored. */
	assert_int_equal(vgpu_masked(0xdead0001, 0x00020002), 3);
}

static void reset_handshake(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 b = bases[i];

		assert_int_equal(rd(b + RING_RESET_CTL), 0);
		wr(b + RING_RESET_CTL, 0x00010001);
		assert_int_equal(rd(b + RING_RESET_CTL) & 7, 3);
	}
	wr(GEN6_GDRST, 1);
	assert_int_equal(rd(GEN6_GDRST), 0);
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		wr(bases[i] + RING_RESET_CTL, 0x00010000);
		assert_int_equal(rd(bases[i] + RING_RESET_CTL) & 7, 0);
	}
	wr(GEN6_GDRST, 0x20);
	assert_int_equal(rd(GEN6_GDRST), 0);
	assert_int_equal(rd(GUC_STATUS) & 1, 1);
	assert_int_equal(atomic64_read(&stats.device_resets), 1);
}

static void stop_and_idle(void **state)
{
	u32 reg = GHYVI_VIDEO_BASE + RING_MI_MODE;

	assert_int_equal(rd(reg), MI_MODE_IDLE);
	wr(reg, 0x01000100);
	assert_int_equal(rd(reg), MI_MODE_IDLE | MI_MODE_STOP);
	wr(reg, 0x01000000);
	assert_int_equal(rd(reg), MI_MODE_IDLE);
}

static void iir_of_all_units_clear(void **state)
{
	static const u32 units[] = { 0x44300, 0x44310, 0x44320, 0x44330,
				     0x444e0, 0xc4000, 0x44400, 0x44460 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		wr(units[i] + IRQ_IMR, ~0u);
		assert_int_equal(rd(units[i] + IRQ_IMR), ~0u);
		wr(units[i] + IRQ_IER, 0);
		wr(units[i] + IRQ_IIR, ~0u);
		assert_int_equal(rd(units[i] + IRQ_IIR), 0);
		wr(units[i] + IRQ_IIR, ~0u);
		assert_int_equal(rd(units[i] + IRQ_IIR), 0);
	}
}

static void power_wells_follow_any_request(void **state)
{
	assert_int_equal(rd(0x45404), 0);
	wr(0x45404, BIT(31)); /* PW2, driver */
	assert_int_equal(rd(0x45404), BIT(31) | BIT(30));
	assert_int_equal(rd(0x45400), BIT(30));
	wr(0x4540c, BIT(31)); /* debug, too */
	wr(0x45404, 0);
	assert_int_equal(rd(0x45404), BIT(30));
	wr(0x4540c, 0);
	assert_int_equal(rd(0x45404), 0);
}

/* i915 5.10 enables both although the pipes are fused off, and warns if no state follows. */
static void display_clock_and_buffer_follow_requests(void **state)
{
	static const u32 registers[] = { 0x45008, 0x46010 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		wr(registers[i], BIT(31) | 5);
		assert_int_equal(rd(registers[i]), BIT(31) | BIT(30) | 5);
		wr(registers[i], BIT(30));
		assert_int_equal(rd(registers[i]), 0);
	}
	wr(0x64838, ~0u); /* EDP_PSR_IIR */
	assert_int_equal(rd(0x64838), 0);
}

static void pcode_succeeds(void **state)
{
	wr(0x138128, 0);
	wr(GEN6_PCODE_MAILBOX, BIT(31) | 0x1a);
	assert_int_equal(rd(GEN6_PCODE_MAILBOX) & (BIT(31) | 0xff), 0);
	assert_int_equal(rd(0x138128), 0);
}

static void invalidations_flush_before_they_read_zero(void **state)
{
	u32 reg;
	int n = 0;

	for (reg = 0x4260; reg <= 0x4270; reg += 4) {
		wr(reg, 1);
		assert_int_equal(gtt.flushes, ++n);
		assert_int_equal(rd(reg), 0);
	}
	wr(0x101008, 1);
	assert_int_equal(gtt.flushes, ++n);
	assert_int_equal(rd(0x101008), 0);
	wr(0x425c, 1);
	assert_int_equal(gtt.flushes, n);
}

static void error_registers(void **state)
{
	wr(0x20b4, 0xffffffff);
	wr(0x20b0, 0xffffffff);
	assert_int_equal(rd(0x20b0), 0);
	assert_int_equal(rd(0x20b8), 0);
	wr(0x20b8, 1);
	assert_int_equal(rd(0x20b8), 0);
	wr(0x20b4, 0xfffffffe);
	assert_int_equal(rd(0x20b4), 0xfffffffe);
}

static void csb_pointer(void **state)
{
	assert_int_equal(rd(0x23a0) & 7, 5);
	wr(0x23a0, 0xffff0101);
	assert_int_equal(rd(0x23a0), 0x0101);
	wr(0x23a0, 0xffff0505);
	assert_int_equal(rd(0x23a0), 0x0505);
}

static void timestamps_tick_at_the_advertised_rate(void **state)
{
	gpu.clock = 10ull * FAKE_HZ; /* 10 s */
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_TIMESTAMP), 10u * 12000000);
	assert_int_equal(rd(GHYVI_BLITTER_BASE + RING_TIMESTAMP), 10u * 12000000);
	gpu.clock = 1000ull * FAKE_HZ;
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_TIMESTAMP_UDW), (1000ull * 12000000) >> 32);
	assert_true(ghyvi_vgpu_register_read(vgpu, GHYVI_RENDER_BASE + RING_TIMESTAMP, 8) ==
		    1000ull * 12000000);
	wr(GHYVI_RENDER_BASE + RING_TIMESTAMP, 1);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_TIMESTAMP), (u32)(1000ull * 12000000));
	gpu.clock = 1ull << 40;
	assert_true(rd(GHYVI_RENDER_BASE + RING_TIMESTAMP_UDW) < 16);
}

static void gen8_timestamp(void **state)
{
	gpu.clock = 10ull * FAKE_HZ;
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_TIMESTAMP), 10u * 12500000);
}

static void odd_widths(void **state)
{
	ghyvi_vgpu_register_write(vgpu, 0x43220, 0x1122334455667788ull, 8);
	assert_int_equal(rd(0x43220), 0x55667788);
	assert_int_equal(rd(0x43224), 0x11223344);
	ghyvi_vgpu_register_write(vgpu, 0x43221, 0xaa, 1);
	ghyvi_vgpu_register_write(vgpu, 0x43226, 0xbbcc, 2);
	assert_true(ghyvi_vgpu_register_read(vgpu, 0x43220, 8) == 0xbbcc33445566aa88ull);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43227, 1), 0xbb);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43220, 1), 0x88);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43224, 1), 0x44);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43220, 2), 0xaa88);
	wr(0x43228, ~0u);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43228, 1), 0xff);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x43228, 2), 0xffff);
	/* the last dword, and beyond */
	ghyvi_vgpu_register_write(vgpu, GHYVI_REGISTERS_BYTES - 8, ~0ull, 8);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, GHYVI_REGISTERS_BYTES, 4), 0);
	ghyvi_vgpu_register_write(vgpu, GHYVI_REGISTERS_BYTES, ~0ull, 4);
	ghyvi_vgpu_register_write(vgpu, 0xfffffffc, ~0ull, 4);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, GHYVI_REGISTERS_BYTES - 4, 8), 0);
}

static void first_access_after_a_move_proves_the_bar(void **state)
{
	rd(0);
	assert_int_equal(gtt.lives, 0);
	ghyvi_vgpu_set_bar0(vgpu, 0xfd000000);
	assert_int_equal(gtt.ggtt_gfn, 0xfd800);
	assert_int_equal(gtt.lives, 0);
	rd(0);
	wr(0x43224, 0);
	assert_int_equal(gtt.lives, 1);
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	assert_true(gtt.ggtt_gfn == GHYVI_INVALID_GFN);
	rd(0);
	assert_int_equal(gtt.lives, 1);
	ghyvi_vgpu_set_bar0(vgpu, 0xfe000000);
	wr(0x43224, 0);
	assert_int_equal(gtt.lives, 2);
}

static void device_reset_restores_everything(void **state)
{
	memset(ghyvi_vgpu_ggtt_table(vgpu), 0x55, GHYVI_GGTT_TABLE_BYTES);
	wr(0x43224, 1);
	wr(0x44200, BIT(31));
	wr(GHYVI_RENDER_BASE + RING_IMR, 0);
	wr(0x23a0, 0xffff0000);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(0x43224), 0);
	assert_int_equal(rd(0x44200), 0);
	assert_int_equal(rd(GHYVI_RENDER_BASE + RING_IMR), ~0u);
	assert_int_equal(rd(0x44304), ~0u);
	assert_int_equal(rd(0x23a0) & 7, 5);
	assert_int_equal(rd(PVINFO_CAPS), 0x1c);
	assert_int_equal(gtt.resets, 1);
	assert_int_equal(*(u64 *)ghyvi_vgpu_ggtt_table(vgpu), 0);
	assert_int_equal(((u8 *)ghyvi_vgpu_ggtt_table(vgpu))[GHYVI_GGTT_TABLE_BYTES - 1], 0);
}

static void aperture_is_bounded(void **state)
{
	u8 buffer[16];

	memset(buffer, 0xff, sizeof(buffer));
	ghyvi_vgpu_aperture_read(vgpu, 0x1000, buffer, sizeof(buffer)); /* not ours: zero */
	assert_int_equal(buffer[0] | buffer[15], 0);
	/* the hidden window starts where the aperture ends */
	memset(gtt.memory, 0x77, 16);
	ghyvi_vgpu_aperture_read(vgpu, HIDDEN_START - 8, buffer, sizeof(buffer));
	assert_int_equal(buffer[8], 0);
	memset(buffer, 1, sizeof(buffer));
	ghyvi_vgpu_aperture_write(vgpu, HIDDEN_START - 8, buffer, sizeof(buffer));
	assert_int_equal(gtt.memory[0], 0x77);
	ghyvi_vgpu_aperture_read(vgpu, ~0ull, buffer, sizeof(buffer));
	assert_int_equal(buffer[0], 0);
}

#define GEN9(f) cmocka_unit_test_setup_teardown(f, setup_gen9, teardown)
#define GEN8(f) cmocka_unit_test_setup_teardown(f, setup_gen8, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GEN9(unknown_registers_are_storage_that_reads_zero),
		GEN9(pvinfo_announces_the_partition),
		GEN9(pvinfo_announces_a_mappable_window),
		GEN9(pvinfo_announces_another_partition_after_a_move),
		GEN9(notifications_reach_the_gtt),
		GEN9(multicall_is_offered_if_set_and_stays_so),
		GEN9(gen9_fuses),
		GEN8(gen8_fuses),
		GEN8(values_of_profiles_have_registers_of_their_own),
		GEN9(values_of_profiles_have_registers_of_their_own),
		GEN9(masked_registers_change_only_masked_bits),
		GEN9(reset_handshake),
		GEN9(stop_and_idle),
		GEN9(iir_of_all_units_clear),
		GEN9(power_wells_follow_any_request),
		GEN9(display_clock_and_buffer_follow_requests),
		GEN9(pcode_succeeds),
		GEN9(invalidations_flush_before_they_read_zero),
		GEN9(error_registers),
		GEN9(csb_pointer),
		GEN9(timestamps_tick_at_the_advertised_rate),
		GEN8(gen8_timestamp),
		GEN9(odd_widths),
		GEN9(first_access_after_a_move_proves_the_bar),
		GEN9(device_reset_restores_everything),
		GEN9(aperture_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
