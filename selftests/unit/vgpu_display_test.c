// SPDX-License-Identifier: GPL-2.0-only
/* The display: what i915 polls, the monitor's answers, and the time of frames. */
#include <unistd.h>
#include <linux/hrtimer.h>
#include "vgpu/display_regs.h"
#include "vgpu/vgpu_types.h"
#include "vgpu_guest.h"

#define MONITOR DISPLAY_PORT_BYTES /* the registers of port B follow those of port A */
#define B PIPE_NEXT_BYTES /* and those of pipe B those of pipe A */
#define PORT(reg) (GEN8_DE_PORT_ISR + (reg))

static int setup_without(void **state)
{
	stop_clock();
	return setup_gen9(state);
}

/* off and on */

static void without_a_display_its_registers_are_storage(void **state)
{
	static const u32 offsets[] = {
		PIPEACONF,
		PIPEADSL,
		PIPEA_FRMCOUNT_G4X,
		PLANE_SURF_1_A,
		PLANE_CTL_1_A,
		CURABASE,
		PIPE_CRC_CTL_A,
		PIPE_CRC_RES_1_A,
		DPLL_STATUS,
		PCH_GMBUS1,
		PCH_GMBUS2,
		PCH_PORT_HOTPLUG,
		DDI_BUF_CTL_A + MONITOR,
		DP_AUX_CH_CTL_A + MONITOR,
		DP_TP_STATUS_A + MONITOR,
		LCPLL2_CTL,
	};
	unsigned int i;

	assert_false(ghyvi_vgpu_has_display(vgpu));
	assert_int_equal(rd(SKL_DFSM), DISPLAY_FUSE_PIPES_OFF);
	assert_int_equal(rd(SDEISR), 0);
	assert_int_equal(rd(DDI_BUF_CTL_A), 0);
	assert_int_not_equal(rd(PVINFO_HIDDEN_BYTES), 0);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		assert_false(ghyvi_vgpu_traps_page(vgpu, offsets[i]));
		wr(offsets[i], ~0u);
		assert_int_equal(rd(offsets[i]), ~0u);
	}
	wr(PIPE(IRQ_IER), GEN8_PIPE_VBLANK);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
}

static void a_display_has_pipe_a_and_is_reset_like_the_rest(void **state)
{
	static const u32 trapped[] = { PIPE_CRC_CTL_A, DPLL_STATUS, PIPEADSL, PCH_GMBUS1 };
	unsigned int i;

	assert_int_equal(rd(SKL_DFSM) & BIT(30), 0);
	assert_int_equal(rd(SKL_DFSM) & (BIT(28) | BIT(21)), BIT(28) | BIT(21));
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), 0);
	for (i = 0; i < ARRAY_SIZE(trapped); i++)
		assert_true(ghyvi_vgpu_traps_page(vgpu, trapped[i]));
	assert_false(ghyvi_vgpu_traps_page(vgpu, DDI_BUF_CTL_A));
	wr(PIPEACONF, PIPECONF_ENABLE);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(PIPEACONF), 0);
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
	ghyvi_vgpu_set_display(vgpu, false);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(SKL_DFSM), DISPLAY_FUSE_PIPES_OFF);
	assert_int_equal(rd(SDEISR), 0);
}

static void only_a_trapped_aperture_is_hidden_from_a_display(void **state)
{
	const struct ghyvi_range low = { 0x200000, 0x200000 }, page = { 0x200000, PAGE_SIZE };
	const struct ghyvi_range high = { HIDDEN_START, HIDDEN_BYTES }, none = {};

	assert_int_equal(ghyvi_vgpu_move_ggtt(vgpu, &low, &high, &page), 0);
	assert_int_equal(rd(PVINFO_MAPPABLE_BASE), low.start);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), 0);
	assert_int_equal(ghyvi_vgpu_move_ggtt(vgpu, &low, &high, &none), 0);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), low.bytes);
	ghyvi_vgpu_set_display(vgpu, false);
	assert_int_equal(ghyvi_vgpu_move_ggtt(vgpu, &low, &high, &page), 0);
	assert_int_equal(rd(PVINFO_MAPPABLE_BYTES), low.bytes);
}

/* what is polled */

static void what_is_requested_follows_at_once(void **state)
{
	wr(LCPLL1_CTL, LCPLL_PLL_ENABLE);
	assert_int_equal(rd(LCPLL1_CTL), LCPLL_PLL_ENABLE | LCPLL_PLL_LOCK);
	assert_int_equal(rd(DPLL_STATUS), BIT(0));
	wr(LCPLL2_CTL, LCPLL_PLL_ENABLE);
	wr(WRPLL_CTL2, LCPLL_PLL_ENABLE);
	assert_int_equal(rd(DPLL_STATUS), BIT(0) | BIT(8) | BIT(24));
	wr(DPLL_STATUS, 0);
	wr(LCPLL2_CTL, 0);
	assert_int_equal(rd(DPLL_STATUS), BIT(0) | BIT(24));

	assert_int_equal(rd(DDI_BUF_CTL_A + MONITOR), DDI_BUF_IS_IDLE);
	wr(DDI_BUF_CTL_A + MONITOR, DDI_BUF_CTL_ENABLE | DDI_BUF_IS_IDLE);
	assert_int_equal(rd(DDI_BUF_CTL_A + MONITOR), DDI_BUF_CTL_ENABLE);
	wr(DDI_BUF_CTL_A + MONITOR, 0);
	assert_int_equal(rd(DDI_BUF_CTL_A + MONITOR), DDI_BUF_IS_IDLE);

	wr(DP_TP_CTL_A + MONITOR, DP_TP_CTL_LINK_TRAIN_IDLE);
	assert_int_equal(rd(DP_TP_STATUS_A + MONITOR), DP_TP_STATUS_IDLE_DONE);
	wr(DP_TP_STATUS_A + MONITOR, 0);
	assert_int_equal(rd(DP_TP_STATUS_A + MONITOR), DP_TP_STATUS_IDLE_DONE);
	wr(DP_TP_CTL_A + MONITOR, 0);
	assert_int_equal(rd(DP_TP_STATUS_A + MONITOR), 0);

	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(rd(PIPEACONF), PIPECONF_ENABLE | PIPECONF_STATE_ENABLE);
	wr(PIPEACONF, PIPECONF_STATE_ENABLE);
	assert_int_equal(rd(PIPEACONF), 0);

	wr(PCH_GMBUS1, BIT(30) | GMBUS_CYCLE_WAIT);
	assert_int_equal(rd(PCH_GMBUS2), GMBUS_SATOER);
	wr(PCH_GMBUS1, GMBUS_SW_CLR_INT);
	assert_int_equal(rd(PCH_GMBUS2), 0);
}

static u32 mailbox(u32 command, u32 data)
{
	wr(GEN6_PCODE_DATA, data);
	wr(GEN6_PCODE_MAILBOX, GEN6_PCODE_READY | command);
	return rd(GEN6_PCODE_MAILBOX);
}

static void the_mailbox_knows_latencies_and_no_memory_clock(void **state)
{
	assert_int_equal(mailbox(GEN9_PCODE_READ_MEM_LATENCY, 0), 0);
	assert_int_equal(rd(GEN6_PCODE_DATA) & 0xff, 2);
	assert_int_equal(mailbox(GEN9_PCODE_READ_MEM_LATENCY, 1), 0);
	assert_true((rd(GEN6_PCODE_DATA) & 0xff) > 32);
	assert_int_equal(mailbox(GEN9_PCODE_SAGV_CONTROL, 0), GEN6_PCODE_ILLEGAL_CMD);
	assert_int_equal(mailbox(7, 3), 0);
	assert_int_equal(rd(GEN6_PCODE_DATA), 3);
}

/* the AUX channel */

static unsigned int aux_at(u32 port, const u8 *message, unsigned int bytes, u8 *reply)
{
	return aux_by(DP_AUX_CH_CTL_A + port, message, bytes, reply);
}

static unsigned int aux(const u8 *message, unsigned int bytes, u8 *reply)
{
	return aux_at(MONITOR, message, bytes, reply);
}

static u8 dpcd(u32 address)
{
	const u8 read[] = { 0x90 | address >> 16, address >> 8, address, 0 };
	u8 reply[AUX_BYTES];

	assert_int_equal(aux(read, sizeof(read), reply), 2);
	assert_int_equal(reply[0], 0);
	return reply[1];
}

static void set_dpcd(u32 address, u8 value)
{
	const u8 write[] = { 0x80 | address >> 16, address >> 8, address, 0, value };
	u8 reply[AUX_BYTES];

	assert_int_equal(aux(write, sizeof(write), reply), 1);
	assert_int_equal(reply[0], 0);
}

static void the_link_is_trained_on_the_lanes_that_are_set(void **state)
{
	assert_int_equal(dpcd(0), 0x12);
	assert_int_equal(dpcd(1), 0x14); /* 5.4 Gbit/s */
	assert_int_equal(dpcd(2) & 0x1f, 4); /* lanes */
	assert_int_equal(dpcd(0x200), 1); /* sinks */
	assert_int_equal(dpcd(0x202), 0);
	set_dpcd(0x100, 0x0a);
	set_dpcd(0x101, 0x82);
	assert_int_equal(dpcd(0x100), 0x0a);
	assert_int_equal(dpcd(0x202), 0x77);
	assert_int_equal(dpcd(0x203), 0);
	set_dpcd(0x101, 0x84);
	assert_int_equal(dpcd(0x203), 0x77);
	assert_int_equal(dpcd(0x204) & 1, 1);
	assert_int_equal(dpcd(0x600), 1);
	set_dpcd(0x600, 2);
	assert_int_equal(dpcd(0x600), 2);
	set_dpcd(0, 0);
	set_dpcd(0xfffff, 0xff);
	assert_int_equal(dpcd(0), 0x12);
	assert_int_equal(dpcd(0xfffff), 0);
}

static void read_edid(u8 *edid, unsigned int bytes)
{
	static const u8 to_begin[] = { 0x40, 0, 0x50, 0, 0 }, more[] = { 0x50, 0, 0x50, 15 };
	static const u8 address_only[] = { 0x50, 0, 0x50 };
	u8 reply[AUX_BYTES];
	unsigned int i;

	assert_int_equal(aux(to_begin, sizeof(to_begin), reply), 1);
	assert_int_equal(reply[0], 0);
	assert_int_equal(aux(address_only, sizeof(address_only), reply), 1);
	for (i = 0; i < bytes; i += 16) {
		assert_int_equal(aux(more, sizeof(more), reply), 17);
		assert_int_equal(reply[0], 0);
		memcpy(edid + i, reply + 1, 16);
	}
}

static void the_guest_reads_the_edid_of_each_resolution(void **state)
{
	u8 edid[GHYVI_EDID_BYTES], expected[GHYVI_EDID_BYTES_MAX], sum;
	unsigned int i, n, clock, width, height, lines;
	char name[16];

	assert_string_equal(ghyvi_display_resolution(GHYVI_RESOLUTION_DEFAULT), "1920x1080");
	assert_null(ghyvi_display_resolution(GHYVI_RESOLUTIONS));
	for (n = 0; n < GHYVI_RESOLUTIONS; n++) {
		ghyvi_vgpu_set_resolution(vgpu, n);
		assert_int_equal(ghyvi_vgpu_get_edid(vgpu, expected), sizeof(edid));
		read_edid(edid, sizeof(edid));
		assert_memory_equal(edid, expected, sizeof(edid));
		for (sum = 0, i = 0; i < sizeof(edid); i++)
			sum += edid[i];
		assert_int_equal(sum, 0);
		width = edid[56] | (edid[58] & 0xf0) << 4;
		height = edid[59] | (edid[61] & 0xf0) << 4;
		snprintf(name, sizeof(name), "%ux%u", width, height);
		assert_string_equal(name, ghyvi_display_resolution(n));
		clock = edid[54] | edid[55] << 8;
		lines = height + edid[60];
		/* 59 to 60 Hz */
		assert_in_range(clock * 10000 / ((width + edid[57]) * lines), 59, 60);
		/* The vertical blank takes at least 460 us, without its last line less. */
		assert_true((u64)edid[60] * 1000000 / (60 * lines) >= 459);
		assert_true((u64)(edid[60] - 1) * 1000000 / (60 * lines) <= 460);
	}
}

static void set_sum(u8 *block)
{
	u8 sum = 0;
	unsigned int i;

	for (i = 0; i < GHYVI_EDID_BYTES - 1; i++)
		sum += block[i];
	block[i] = -sum;
}

/* Users without rights read it. The shim aborts the program at a mutex that is held. */
static void the_edid_is_read_without_a_lock_that_sleeps(void **state)
{
	u8 edid[GHYVI_EDID_BYTES_MAX];

	mutex_lock(&vgpu->lock);
	assert_int_equal(ghyvi_vgpu_get_edid(vgpu, edid), GHYVI_EDID_BYTES);
	mutex_unlock(&vgpu->lock);
	assert_int_equal(edid[1], 0xff);
}

/* Two blocks: the default EDID, and an extension of CTA-861 with a timing of 3840x2160. */
static void get_long_edid(u8 *edid)
{
	u8 *extension = edid + GHYVI_EDID_BYTES;

	assert_int_equal(ghyvi_vgpu_get_edid(vgpu, edid), GHYVI_EDID_BYTES);
	edid[126] = 1;
	set_sum(edid);
	memset(extension, 0, GHYVI_EDID_BYTES);
	extension[0] = 2;
	extension[1] = 3;
	extension[2] = 4;
	extension[4] = 1; /* a clock */
	extension[4 + 2] = 3840 & 0xff;
	extension[4 + 4] = 3840 >> 8 << 4;
	extension[4 + 5] = 2160 & 0xff;
	extension[4 + 7] = 2160 >> 8 << 4;
	set_sum(extension);
}

static void an_edid_that_is_written_replaces_that_of_the_resolution(void **state)
{
	u8 edid[GHYVI_EDID_BYTES_MAX], seen[GHYVI_EDID_BYTES_MAX], own[GHYVI_EDID_BYTES_MAX];
	u8 odd[GHYVI_EDID_BYTES];

	ghyvi_vgpu_get_edid(vgpu, own);
	assert_false(ghyvi_vgpu_has_edid(vgpu));
	get_long_edid(edid);
	assert_null(ghyvi_vgpu_set_edid(vgpu, edid, sizeof(edid)));
	assert_true(ghyvi_vgpu_has_edid(vgpu));
	assert_int_equal(ghyvi_vgpu_get_edid(vgpu, seen), sizeof(edid));
	assert_memory_equal(seen, edid, sizeof(edid));
	read_edid(seen, sizeof(seen));
	assert_memory_equal(seen, edid, sizeof(edid));
	assert_int_equal(ghyvi_vgpu_picture_pixels(vgpu), 3840 * 2160);
	/* It stays for the next guest. */
	ghyvi_vgpu_reset(vgpu);
	read_edid(seen, sizeof(seen));
	assert_memory_equal(seen, edid, sizeof(edid));

	/* One block, whose timing is smaller than the resolution */
	memcpy(odd, own, sizeof(odd));
	odd[54 + 2] = 0x80;
	odd[54 + 4] = 0x20; /* 640 */
	set_sum(odd);
	assert_null(ghyvi_vgpu_set_edid(vgpu, odd, sizeof(odd)));
	read_edid(seen, sizeof(seen));
	assert_memory_equal(seen, odd, sizeof(odd));
	assert_memory_equal(seen + sizeof(odd), odd, sizeof(odd));
	assert_int_equal(ghyvi_vgpu_picture_pixels(vgpu), 1920 * 1080);

	/* The same resolution as before, which is stored again */
	ghyvi_vgpu_set_resolution(vgpu, GHYVI_RESOLUTION_DEFAULT);
	assert_false(ghyvi_vgpu_has_edid(vgpu));
	read_edid(seen, GHYVI_EDID_BYTES);
	assert_memory_equal(seen, own, GHYVI_EDID_BYTES);
}

static void a_wrong_edid_is_refused_with_its_cause(void **state)
{
	static const struct {
		unsigned int bytes, at;
		bool sum;
		const char *cause;
	} cases[] = {
		{ 0, 0, false, "size" },	 { 127, 0, false, "size" },
		{ 129, 0, false, "size" },	 { 255, 0, false, "size" },
		{ 257, 0, false, "size" },	 { 256, 0, true, "header" },
		{ 256, 7, true, "header" },	 { 256, 60, false, "checksum" },
		{ 256, 200, false, "checksum" }, { 256, 126, true, "extensions" },
		{ 128, 0, false, "header" },	 { 128, 0, true, "header" },
	};
	u8 edid[GHYVI_EDID_BYTES_MAX + 1] = {}, own[GHYVI_EDID_BYTES_MAX],
				       now[GHYVI_EDID_BYTES_MAX];
	unsigned int i;

	ghyvi_vgpu_get_edid(vgpu, own);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *cause;

		get_long_edid(edid);
		if (cases[i].bytes == 128 || cases[i].bytes == 256)
			edid[cases[i].at] ^= 0x40;
		if (cases[i].sum)
			set_sum(edid);
		cause = ghyvi_vgpu_set_edid(vgpu, edid, cases[i].bytes);
		assert_non_null(cause);
		assert_non_null(strstr(cause, cases[i].cause));
		assert_false(ghyvi_vgpu_has_edid(vgpu));
		assert_int_equal(ghyvi_vgpu_get_edid(vgpu, now), GHYVI_EDID_BYTES);
		assert_memory_equal(now, own, GHYVI_EDID_BYTES);
	}
	/* One block that says that another one follows */
	get_long_edid(edid);
	assert_non_null(strstr(ghyvi_vgpu_set_edid(vgpu, edid, 128), "extensions"));
}

static void timings_beyond_an_extension_are_not_read(void **state)
{
	u8 edid[GHYVI_EDID_BYTES_MAX];
	unsigned int begin;

	for (begin = 0; begin < 256; begin++) {
		get_long_edid(edid);
		memset(edid + 128 + 3, 0xff, 124);
		edid[128 + 2] = begin;
		set_sum(edid + 128);
		assert_null(ghyvi_vgpu_set_edid(vgpu, edid, sizeof(edid)));
		/* Eighteen bytes before the checksum are a whole timing. */
		assert_int_equal(ghyvi_vgpu_picture_pixels(vgpu),
				 begin >= 4 && begin <= 127 - 18 ? 4095 * 4095 : 1920 * 1080);
		ghyvi_vgpu_set_resolution(vgpu, GHYVI_RESOLUTION_DEFAULT);
	}
}

static void messages_without_an_answer_time_out(void **state)
{
	static const u8 valid[] = { 0x90, 0, 0, 0 }, long_read[] = { 0x90, 0, 0, 16 };
	static const u8 short_write[] = { 0x80, 1, 0, 3, 0 };
	static const u8 other_device[] = { 0x10, 0, 0x37, 0 };
	u8 reply[AUX_BYTES];
	unsigned int port;

	assert_int_equal(aux(valid, 4, reply), 2);
	assert_int_equal(aux(valid, 2, reply), 0);
	assert_int_equal(aux(long_read, 4, reply), 0);
	assert_int_equal(aux(short_write, 5, reply), 0);
	assert_int_equal(aux(other_device, 4, reply), 1);
	assert_int_equal(reply[0], 0x40);
	for (port = 0; port < 5; port++)
		if (port != 1)
			assert_int_equal(aux_at(port * DISPLAY_PORT_BYTES, valid, 4, reply), 0);
	/* more bytes than the registers have */
	wr(DP_AUX_CH_CTL_A + MONITOR, AUX_SEND | DP_AUX_CH_CTL_MESSAGE_SIZE_MASK);
	assert_true(rd(DP_AUX_CH_CTL_A + MONITOR) & DP_AUX_CH_CTL_TIME_OUT_ERROR);
}

#define PORT_B_LONG 2u /* in PCH_PORT_HOTPLUG, of which bit 4 enables detection */

static void the_monitor_is_plugged_out_and_in(void **state)
{
	static const u8 message[] = { 0x90, 0, 0, 0 };
	u8 reply[AUX_BYTES];
	unsigned int in;

	wr(SDEISR + IRQ_IMR, ~(u32)SDE_PORTB_HOTPLUG_CPT);
	wr(SDEISR + IRQ_IER, ~0u);
	set_dpcd(0x101, 0x84);
	/* Without detection, the guest sees only the level. */
	ghyvi_vgpu_set_connected(vgpu, false);
	assert_int_equal(rd(SDEISR), 0);
	ghyvi_vgpu_set_connected(vgpu, true);
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
	assert_int_equal(atomic_read(&interrupts), 0);
	assert_int_equal(dpcd(0x101), 0); /* the link has to be trained again */

	wr(PCH_PORT_HOTPLUG, PORTB_HOTPLUG_ENABLE);
	ghyvi_vgpu_set_connected(vgpu, true);
	assert_int_equal(atomic_read(&interrupts), 0);
	for (in = 0; in < 2; in++) {
		ghyvi_vgpu_set_connected(vgpu, in);
		assert_int_equal(ghyvi_vgpu_is_connected(vgpu), in);
		assert_int_equal(rd(SDEISR), in ? SDE_PORTB_HOTPLUG_CPT : 0);
		assert_int_equal(atomic_read(&interrupts), 1 + in);
		assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PCH_IRQ);
		assert_int_equal(rd(SDEISR + IRQ_IIR), SDE_PORTB_HOTPLUG_CPT);
		assert_int_equal(rd(PCH_PORT_HOTPLUG), PORTB_HOTPLUG_ENABLE | PORT_B_LONG);
		wr(PCH_PORT_HOTPLUG, PORTB_HOTPLUG_ENABLE);
		assert_int_equal(rd(PCH_PORT_HOTPLUG), PORTB_HOTPLUG_ENABLE | PORT_B_LONG);
		wr(PCH_PORT_HOTPLUG, PORTB_HOTPLUG_ENABLE | PORT_B_LONG);
		assert_int_equal(rd(PCH_PORT_HOTPLUG), PORTB_HOTPLUG_ENABLE);
		wr(SDEISR + IRQ_IIR, SDE_PORTB_HOTPLUG_CPT);
		assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
		assert_int_equal(aux(message, 4, reply), in ? 2 : 0);
	}
	wr(SDEISR, 0);
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
	/* The next guest finds it as it is. */
	ghyvi_vgpu_set_connected(vgpu, false);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(SDEISR), 0);
	assert_int_equal(rd(SDEISR + IRQ_IIR), 0);
	assert_int_equal(rd(PCH_PORT_HOTPLUG), 0);
	assert_int_equal(aux(message, 4, reply), 0);
}

static void an_answer_raises_an_interrupt_if_it_is_unmasked(void **state)
{
	static const u8 message[] = { 0x90, 0, 0, 0 };
	u8 reply[AUX_BYTES];

	wr(PORT(IRQ_IER), GEN9_AUX_CHANNEL_B);
	aux(message, sizeof(message), reply);
	assert_int_equal(rd(PORT(IRQ_IIR)), 0);
	wr(PORT(IRQ_IMR), ~(u32)GEN9_AUX_CHANNEL_B);
	aux(message, sizeof(message), reply);
	assert_int_equal(rd(PORT(IRQ_IIR)), GEN9_AUX_CHANNEL_B);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PORT_IRQ);
	assert_int_equal(atomic_read(&interrupts), 1);
	wr(PORT(IRQ_IIR), GEN9_AUX_CHANNEL_B);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL);
}

/* time */

/* As i915 does: it enables all interrupts once, and masks them. */
static void unmask(u32 events)
{
	wr(PIPE(IRQ_IMR), ~events);
}

static void a_timer_runs_only_while_a_blank_is_awaited(void **state)
{
	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 10);

	unmask(GEN8_PIPE_VBLANK);
	assert_int_equal(pass(USUAL_NS / 2), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(pass(USUAL_NS / 2 + 100), 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_VBLANK);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 11);
	assert_int_equal(rd(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PIPE_A_IRQ);
	assert_int_equal(atomic_read(&interrupts), 1);
	/* late by two frames: one interrupt, and the frames are counted */
	wr(PIPE(IRQ_IIR), GEN8_PIPE_VBLANK);
	assert_int_equal(pass(3 * USUAL_NS), 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 14);
	assert_int_equal(atomic_read(&interrupts), 2);

	/* It expires once more, with no effect. */
	wr(PIPE(IRQ_IIR), GEN8_PIPE_VBLANK);
	unmask(0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 25);

	wr(PIPE(IRQ_IER), 0);
	unmask(GEN8_PIPE_VBLANK);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 35);

	wr(PIPE(IRQ_IER), GEN8_PIPE_VBLANK);
	wr(PIPE(IRQ_IIR), GEN8_PIPE_VBLANK);
	wr(PIPEACONF, 0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 35);
	assert_int_equal(rd(PIPEADSL), 0);
}

static void a_pipe_that_starts_again_begins_a_frame(void **state)
{
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN8_PIPE_VBLANK);
	pass(USUAL_NS - 10);
	wr(PIPEACONF, 0);
	wr(PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(pass(20), 1); /* of the frame that did not end */
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_VBLANK);
}

/* 1920x1080 at 138.5 MHz on four lanes of 2.7 Gbit/s from DPLL 1. */
static void set_timings(void)
{
	wr(HTOTAL_A, 2079 << 16 | 1919);
	wr(VTOTAL_A, 1110 << 16 | 1079);
	wr(PIPEA_LINK_M1, 138500);
	wr(PIPEA_LINK_N1, 270000);
	wr(DPLL_CTRL1, 1 << (6 + 1) | 1 << 6);
	wr(DPLL_CTRL2, 1 << (3 + 1) | 1 << 3);
}

static void frames_take_the_time_that_the_guest_has_set(void **state)
{
	const u64 frame_ns = 2080ull * 1111 * 1000000 / 138500;

	set_timings();
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN8_PIPE_VBLANK);
	assert_int_equal(rd(PIPEADSL), 1080);
	assert_int_equal(pass(frame_ns - 1), 0);
	assert_int_equal(rd(PIPEADSL), 1079);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 0);
	assert_int_equal(pass(1), 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 1);
	assert_int_equal(rd(PIPEADSL), 1080);
	pass(frame_ns * 40 / 1111);
	assert_in_range(rd(PIPEADSL), 8, 9);
}

static void impossible_timings_give_the_usual_frame(void **state)
{
	static const u32 cases[][4] = {
		{ 0, 0, 0, 0 },		 { ~0u, ~0u, ~0u, ~0u },
		{ 0, 0, 1, 1 },		 { ~0u, ~0u, 1, 0xffffff },
		{ ~0u, 0, 0xffffff, 1 }, { 0, ~0u, 0, 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 before = rd(PIPEA_FRMCOUNT_G4X), lines;

		wr(PIPEACONF, 0);
		wr(HTOTAL_A, cases[i][0]);
		wr(VTOTAL_A, cases[i][1]);
		wr(PIPEA_LINK_M1, cases[i][2]);
		wr(PIPEA_LINK_N1, cases[i][3]);
		wr(PIPEACONF, PIPECONF_ENABLE);
		lines = (cases[i][1] >> 16 & 0x1fff) + 1;
		assert_true(rd(PIPEADSL) < lines);
		pass(NSEC_PER_SEC);
		assert_in_range(rd(PIPEA_FRMCOUNT_G4X) - before, 9, 240);
		assert_true(rd(PIPEADSL) < lines);
	}
}

static bool timer_is_sooner;

/* The timer expires on another CPU, right after this one has read the clock, if it can. */
static u64 racing_clock(void)
{
	u64 now = now_ns;

	if (timer_is_sooner && !pthread_mutex_trylock(&vgpu->irq_lock.lock.m)) {
		pthread_mutex_unlock(&vgpu->irq_lock.lock.m);
		timer_is_sooner = false;
		now_ns += 2 * USUAL_NS;
		shim_run_timers();
	}
	return now;
}

static void a_reader_is_not_behind_the_timer(void **state)
{
	static const u32 offsets[] = { PIPEA_FRMCOUNT_G4X, PIPEADSL };
	unsigned int i;

	wr(VTOTAL_A, 1110 << 16 | 1079);
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN8_PIPE_VBLANK);
	shim_clock = racing_clock;
	for (i = 0; i < 100; i++) {
		timer_is_sooner = true;
		assert_true(rd(offsets[i % 2]) < 1111);
		timer_is_sooner = true;
		wr(PIPE(IRQ_IIR), ~0u);
		timer_is_sooner = true;
		wr(PLANE_SURF_1_A, 0x1000);
		assert_in_range(rd(PIPEA_FRMCOUNT_G4X), 0, 2 * 4 * (i + 1));
	}
}

static void a_flip_is_done_at_the_next_blank(void **state)
{
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN9_PIPE_PLANE1_FLIP_DONE);
	assert_int_equal(pass(3 * USUAL_NS), 0); /* nothing to wait for */
	wr(PLANE_SURF_1_A, 0x10000000);
	assert_int_equal(rd(PLANE_SURF_1_A), 0x10000000);
	assert_int_equal(rd(PLANE_SURFLIVE_1_A), 0x10000000);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN9_PIPE_PLANE1_FLIP_DONE);
	assert_int_equal(atomic_read(&interrupts), 1);
	wr(PIPE(IRQ_IIR), GEN9_PIPE_PLANE1_FLIP_DONE);
	assert_int_equal(pass(10 * USUAL_NS), 0); /* that was the only one */
	assert_int_equal(rd(PIPEA_FLIPCOUNT_G4X), 1);
}

static void frames_stand_still_while_the_vgpu_is_paused(void **state)
{
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN8_PIPE_VBLANK);
	pass(USUAL_NS * 7 / 2);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 3);
	wr(PIPE(IRQ_IIR), GEN8_PIPE_VBLANK);
	ghyvi_vgpu_pause(vgpu);
	assert_int_equal(pass(100 * USUAL_NS), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 3);
	assert_int_equal(rd(PIPE(IRQ_IIR)), 0);
	ghyvi_vgpu_pause(vgpu);
	ghyvi_vgpu_resume(vgpu);
	assert_int_equal(pass(USUAL_NS / 2 - 1000), 0);
	assert_int_equal(pass(2000), 1);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 4);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_VBLANK);
}

static void a_reset_ends_the_frames(void **state)
{
	wr(PIPEACONF, PIPECONF_ENABLE);
	unmask(GEN8_PIPE_VBLANK);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(pass(10 * USUAL_NS), 0);
	assert_int_equal(rd(PIPEA_FRMCOUNT_G4X), 0);
	assert_int_equal(atomic_read(&interrupts), 0);
}

/*
 * Stores of a vCPU that have passed the test for failsafe state just before it began, when another
 * one has caused it and VFIO's reset. The points have drained, and no access has ended it yet.
 */
static void the_timer_does_not_run_in_failsafe_state(void **state)
{
	struct ghyvi_containment containment;

	ghyvi_vgpu_get_containment(vgpu, &containment);
	containment.points_max = 1;
	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &containment), 0);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	elsp(descriptor(0) & ~(u64)GEN8_CTX_PRIVILEGE, 0);
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	ghyvi_vgpu_reset(vgpu);
	assert_true(vgpu->failsafe_drains);
	now_ns += 10ull * containment.window_ms * NSEC_PER_MSEC;
	vgpu_display_irq_write(vgpu, PIPE(IRQ_IER), GEN8_PIPE_VBLANK);
	vgpu_display_irq_write(vgpu, PIPE(IRQ_IMR), ~(u32)GEN8_PIPE_VBLANK);
	vgpu_display_pipe_write(vgpu, PIPEACONF, PIPECONF_ENABLE);
	assert_int_equal(pass(USUAL_NS), 0);
	assert_true(vgpu->failsafe);
	/* It does from the access on that ends it. */
	assert_int_equal(rd(PIPEACONF), PIPECONF_ENABLE | PIPECONF_STATE_ENABLE);
	assert_int_equal(pass(USUAL_NS), 1);
}

/* registers that the guest maps */

static void a_blank_is_seen_in_the_mapped_register(void **state)
{
	ghyvi_vgpu_set_remap(vgpu, true);
	ghyvi_vgpu_set_bar0(vgpu, 0xc0000000);
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	wr(PIPEACONF, PIPECONF_ENABLE);
	guest_stores(PIPE(IRQ_IER), GEN8_PIPE_VBLANK, 4);
	guest_stores(PIPE(IRQ_IMR), ~(u32)GEN8_PIPE_VBLANK, 4);
	assert_int_equal(pass(USUAL_NS), 1);
	assert_int_equal(shown(PIPE(IRQ_IIR)), GEN8_PIPE_VBLANK);
	assert_int_equal(shown(GEN8_MASTER_IRQ), GEN8_MASTER_IRQ_CONTROL | GEN8_DE_PIPE_A_IRQ);
	/* Until stores are seen again, a store that clears it must differ from what is shown. */
	ghyvi_vgpu_set_bar0(vgpu, 0xd0000000);
	assert_int_equal(shown(PIPE(IRQ_IIR)), 0);
	assert_int_equal(rd(PIPE(IRQ_IIR)), GEN8_PIPE_VBLANK);
}

/* hostile values */

#define STORES 100000

static const struct {
	u32 first, last;
} display_ranges[] = {
	{ 0x41000, 0x41ffc },
	{ GEN8_DE_PIPE_ISR_A, DISPLAY_IRQ_LAST },
	{ 0x45000, 0x46ffc },
	{ 0x60000, 0x61ffc },
	{ DDI_BUF_CTL_A, DISPLAY_PORTS_LAST },
	{ 0x68000, 0x68ffc },
	{ 0x6c000, 0x6cffc },
	{ 0x70000, 0x71ffc },
	{ 0xc2000, 0xc2ffc },
	{ 0xc4000, 0xc4ffc },
	{ 0xc5100, 0xc5120 },
	{ SBI_CTL_STAT - 8, SBI_CTL_STAT },
	{ PCH_DP_AUX_CH_CTL_B, PCH_DP_AUX_CH_CTL_B + 0x2ec },
	{ LCPLL_CTL, LCPLL_CTL },
	{ GEN6_PCODE_MAILBOX, GEN6_PCODE_DATA + 4 },
};

/* Registers that begin something are among few hundred others on their pages. */
static const u32 display_actions[] = {
	PIPEACONF,
	PIPEACONF + B,
	PLANE_SURF_1_A,
	PLANE_SURF_1_A + B,
	CURABASE,
	PIPEASRC,
	PIPE_CRC_CTL_A,
	PIPE_CRC_RES_1_A,
	DP_AUX_CH_CTL_A + MONITOR,
	PCH_DP_AUX_CH_CTL_B,
	DDI_BUF_CTL_A + MONITOR,
	PIPE(IRQ_IMR),
	PIPE(IRQ_IER),
	PIPE(IRQ_IIR),
	VTOTAL_A,
	HTOTAL_A,
	PIPEA_LINK_M1,
	PIPEA_LINK_N1,
	DPLL_CTRL1,
	DPLL_CTRL2,
	GEN8_MASTER_IRQ,
	PCH_GMBUS1,
	PCH_PORT_HOTPLUG,
	GEN6_PCODE_MAILBOX,
};

static u32 random_value(void)
{
	u32 value = (u32)random() << 16 ^ (u32)random();

	switch (random() % 4) {
	case 0:
		return 0;
	case 1:
		return ~0u;
	case 2:
		return 1u << value % 32;
	default:
		return value;
	}
}

static void any_values_of_any_registers_do_no_harm(void **state)
{
	static const u8 sizes[] = { 1, 2, 4, 4, 4, 8 };
	u32 frame = 0, last, offset, bytes, n, i, timers = 0, seen = 0;
	u64 bound;

	srandom(20261128);
	for (i = 0; i < STORES; i++) {
		n = (u32)random() % ARRAY_SIZE(display_ranges);
		offset = display_ranges[n].first +
			 (u32)random() % (display_ranges[n].last - display_ranges[n].first + 4);
		if (random() % 2)
			offset = display_actions[(u32)random() % ARRAY_SIZE(display_actions)];
		bytes = sizes[(u32)random() % ARRAY_SIZE(sizes)];
		offset &= ~(bytes - 1);
		ghyvi_vgpu_register_write(vgpu, offset, random_value() | (u64)random_value() << 32,
					  bytes);
		ghyvi_vgpu_register_read(vgpu, offset, bytes);
		/* Time passes in steps; at most one timer expires in each. */
		bound = (u64)random() % (2 * USUAL_NS);
		n = pass(random() % 8 ? bound / 1000 : bound);
		assert_true(n <= 1);
		timers += n;
		seen += !!(rd(PIPE(IRQ_IIR)) & GEN8_PIPE_VBLANK);
		last = frame;
		frame = rd(PIPEA_FRMCOUNT_G4X);
		assert_true(frame - last <= 2 * 16); /* 1/240 s is the shortest frame */
		assert_true(rd(PIPEADSL) <= 0x1fff);
	}
	/* The test has not only been at rest. */
	assert_true(timers > 100 && seen > 100 && frame > 100);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(rd(PIPEACONF), 0);
	assert_int_equal(rd(SDEISR), SDE_PORTB_HOTPLUG_CPT);
}

#define OFF_TEST(f) cmocka_unit_test_setup_teardown(f, setup_without, teardown_display)
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_gen9_display, teardown_display)
#define BROADWELL(f) cmocka_unit_test_setup_teardown(f, setup_gen8_display, teardown_display)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OFF_TEST(without_a_display_its_registers_are_storage),
		TEST(a_display_has_pipe_a_and_is_reset_like_the_rest),
		TEST(only_a_trapped_aperture_is_hidden_from_a_display),
		TEST(what_is_requested_follows_at_once),
		TEST(the_mailbox_knows_latencies_and_no_memory_clock),
		TEST(the_link_is_trained_on_the_lanes_that_are_set),
		TEST(the_guest_reads_the_edid_of_each_resolution),
		TEST(the_edid_is_read_without_a_lock_that_sleeps),
		TEST(an_edid_that_is_written_replaces_that_of_the_resolution),
		TEST(a_wrong_edid_is_refused_with_its_cause),
		TEST(timings_beyond_an_extension_are_not_read),
		TEST(messages_without_an_answer_time_out),
		TEST(the_monitor_is_plugged_out_and_in),
		TEST(an_answer_raises_an_interrupt_if_it_is_unmasked),
		TEST(a_timer_runs_only_while_a_blank_is_awaited),
		TEST(a_pipe_that_starts_again_begins_a_frame),
		TEST(frames_take_the_time_that_the_guest_has_set),
		TEST(impossible_timings_give_the_usual_frame),
		TEST(a_reader_is_not_behind_the_timer),
		TEST(a_flip_is_done_at_the_next_blank),
		TEST(frames_stand_still_while_the_vgpu_is_paused),
		TEST(a_reset_ends_the_frames),
		TEST(the_timer_does_not_run_in_failsafe_state),
		TEST(a_blank_is_seen_in_the_mapped_register),
		TEST(any_values_of_any_registers_do_no_harm),
		BROADWELL(any_values_of_any_registers_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
