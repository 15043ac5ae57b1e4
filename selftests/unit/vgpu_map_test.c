// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every dword of the register file: its value after power-on, and what a write to it leaves. A
 * missing, superfluous or misplaced row of the rule table fails here.
 */
#include "vgpu_guest.h"

enum kind {
	STORAGE,
	MASKED, /* the high half says which bits of the low half count */
	CONSTANT,
	SPECIAL, /* has a test of its own */
};

struct range {
	u32 first, last;
	enum kind kind;
};

/* From an engine's base. */
static const struct range engine_ranges[] = {
	{ 0x028, 0x028, MASKED },   { 0x050, 0x050, MASKED },	{ 0x080, 0x080, SPECIAL },
	{ 0x09c, 0x09c, SPECIAL },  { 0x0b0, 0x0b0, SPECIAL },	{ 0x0b8, 0x0b8, CONSTANT },
	{ 0x0c0, 0x0c0, MASKED },   { 0x0d0, 0x0d0, SPECIAL },	{ 0x230, 0x230, SPECIAL },
	{ 0x234, 0x238, CONSTANT }, { 0x244, 0x244, MASKED },	{ 0x29c, 0x29c, MASKED },
	{ 0x358, 0x35c, SPECIAL },  { 0x370, 0x39c, CONSTANT }, { 0x3a0, 0x3a0, SPECIAL },
};

static const struct range ranges[] = {
	{ 0x2088, 0x2088, MASKED },	  { 0x2090, 0x2090, MASKED },
	{ 0x20d4, 0x20d4, MASKED },	  { 0x20d8, 0x20d8, MASKED },
	{ 0x20e0, 0x20e4, MASKED },	  { 0x20ec, 0x20ec, MASKED },
	{ 0x2580, 0x2580, MASKED },	  { 0x4260, 0x4270, CONSTANT },
	{ 0x7000, 0x7018, MASKED },	  { 0x7300, 0x7304, MASKED },
	{ 0x731c, 0x731c, MASKED },	  { 0x83a4, 0x83a4, MASKED },
	{ 0x9120, 0x9120, CONSTANT },	  { 0x9134, 0x913c, CONSTANT },
	{ 0x941c, 0x941c, SPECIAL },	  { 0xc000, 0xc000, CONSTANT },
	{ 0xc050, 0xc050, CONSTANT },	  { 0xc340, 0xc340, CONSTANT },
	{ 0xe100, 0xe100, MASKED },	  { 0xe180, 0xe18c, MASKED },
	{ 0xe194, 0xe194, MASKED },	  { 0xe4f0, 0xe4f4, MASKED },
	{ 0x22200, 0x22200, MASKED },	  { 0x42000, 0x42000, CONSTANT },
	{ 0x42014, 0x42014, CONSTANT },	  { 0x42300, 0x42300, CONSTANT },
	{ 0x44200, 0x44200, SPECIAL },	  { 0x44300, 0x4433c, SPECIAL },
	{ 0x44400, 0x4446c, SPECIAL },	  { 0x444e0, 0x444ec, SPECIAL },
	{ 0x45008, 0x45008, SPECIAL },	  { 0x45400, 0x4540c, SPECIAL },
	{ 0x46010, 0x46010, SPECIAL },	  { 0x51000, 0x51000, CONSTANT },
	{ 0x64838, 0x64838, CONSTANT },	  { 0x78000, 0x78ffc, SPECIAL },
	{ 0xc2014, 0xc2014, CONSTANT },	  { 0xc4000, 0xc400c, SPECIAL },
	{ 0x100000, 0x1000fc, CONSTANT }, { 0x101008, 0x101008, CONSTANT },
	{ 0x120010, 0x120010, CONSTANT }, { 0x138124, 0x138124, SPECIAL },
	{ 0x145998, 0x145998, CONSTANT },
};

static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE, GHYVI_VIDEO_BASE,
			     GHYVI_VIDEO_ENHANCE_BASE };

static enum kind kind_of(u32 offset)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if (offset >= ranges[i].first && offset <= ranges[i].last)
			return ranges[i].kind;
	for (k = 0; k < ARRAY_SIZE(bases); k++)
		for (i = 0; i < ARRAY_SIZE(engine_ranges); i++)
			if (offset - bases[k] >= engine_ranges[i].first &&
			    offset - bases[k] <= engine_ranges[i].last)
				return engine_ranges[i].kind;
	return STORAGE;
}

static void every_register_stores_the_bits_of_its_kind(void **state)
{
	static const u32 values[] = { 0xffff5a5a, 0x00f0ffff, 0x12345678, 0 };
	u32 offset, before, expected, value;
	unsigned int i;

	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4) {
		if (kind_of(offset) == SPECIAL)
			continue;
		for (i = 0; i < (kind_of(offset) == STORAGE ? 1 : ARRAY_SIZE(values)); i++) {
			before = rd(offset);
			value = values[i];
			wr(offset, value);
			expected = kind_of(offset) == STORAGE ? value :
				   kind_of(offset) == CONSTANT ?
								before :
								(before & ~(value >> 16) & 0xffff) |
									(value & value >> 16);
			if (rd(offset) != expected)
				fail_msg("register %#x, value %#x: %#x instead of %#x", offset,
					 value, rd(offset), expected);
		}
	}
}

/* Registers that are not 0 after power-on. */
static const struct {
	u32 offset, gen8, gen9;
} power_on[] = {
	{ 0x9120, 0x02000000, 0x02800000 },
	{ 0xa26c, 0, 4 },
	{ 0xc000, 0, 1 },
	{ 0x42000, 0, 0x8e000000 },
	{ 0x42014, 0x40000000, 0 },
	{ 0x44304, ~0u, ~0u },
	{ 0x44314, ~0u, ~0u },
	{ 0x44324, ~0u, ~0u },
	{ 0x44334, ~0u, ~0u },
	{ 0x51000, 0, 0x50200000 },
	{ 0xc6204, 24, 24 },
};

static u32 value_at_power_on(u32 offset, bool gen9)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		switch (offset - bases[i]) {
		case RING_IMR:
			return ~0u;
		case RING_MI_MODE:
			return MI_MODE_IDLE;
		case RING_CSB_POINTER:
			return 0x0505;
		}
	}
	switch (offset) {
	case PVINFO_MAGIC_LO:
		return (u32)VGT_MAGIC;
	case PVINFO_MAGIC_HI:
		return VGT_MAGIC >> 32;
	case PVINFO_VERSION:
		return 1;
	case PVINFO_ID:
		return 1;
	case PVINFO_CAPS:
		return gen9 ? 0x1c : 0x0c;
	case PVINFO_HIDDEN_BASE:
		return HIDDEN_START;
	case PVINFO_HIDDEN_BYTES:
		return HIDDEN_BYTES;
	}
	for (i = 0; i < ARRAY_SIZE(power_on); i++)
		if (offset == power_on[i].offset)
			return gen9 ? power_on[i].gen9 : power_on[i].gen8;
	return 0;
}

static void assert_powered_on(bool gen9)
{
	u32 offset;

	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		if (rd(offset) != value_at_power_on(offset, gen9))
			fail_msg("register %#x is %#x", offset, rd(offset));
}

static void gen9_is_powered_on_and_reset_alike(void **state)
{
	u32 offset;

	assert_powered_on(true);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		if (kind_of(offset) != SPECIAL)
			wr(offset, 0xffff5a5a);
	ghyvi_vgpu_reset(vgpu);
	assert_powered_on(true);
}

static void gen8_is_powered_on(void **state)
{
	assert_powered_on(false);
}

static void status_pages_are_whole_pages(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		wr(bases[i] + RING_HWS_PGA, HIDDEN_START + 0xfff);
		assert_int_equal(rd(bases[i] + RING_HWS_PGA), HIDDEN_START);
		assert_string_equal(last_report(), "");
	}
	wr(bases[0] + RING_HWS_PGA, 0);
	assert_string_equal(last_report(), "");
	wr(bases[0] + RING_HWS_PGA, HIDDEN_START - 4096);
	assert_int_equal(rd(bases[0] + RING_HWS_PGA), HIDDEN_START - 4096);
	assert_non_null(strstr(last_report(), "status page 0xffff000 is outside"));
}

/* Each engine's bit resets it, and no other. */
static void a_reset_affects_only_the_engines_it_names(void **state)
{
	static const u32 bits[] = { GEN6_GRDOM_RENDER, GEN6_GRDOM_BLT, GEN6_GRDOM_MEDIA,
				    GEN6_GRDOM_VECS };
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		for (k = 0; k < ARRAY_SIZE(bases); k++)
			wr(bases[k] + RING_CSB_POINTER, 0xffff0202);
		wr(GEN6_GDRST, bits[i]);
		for (k = 0; k < ARRAY_SIZE(bases); k++)
			assert_int_equal(rd(bases[k] + RING_CSB_POINTER), k == i ? 0x0505 : 0x0202);
		assert_int_equal(atomic64_read(&stats.engine_resets), i + 1);
	}
	for (k = 0; k < ARRAY_SIZE(bases); k++)
		wr(bases[k] + RING_CSB_POINTER, 0xffff0202);
	wr(GEN6_GDRST, 0x7e0);
	for (k = 0; k < ARRAY_SIZE(bases); k++)
		assert_int_equal(rd(bases[k] + RING_CSB_POINTER), 0x0202);
	assert_int_equal(atomic64_read(&stats.device_resets), 0);
	assert_int_equal(gtt.forgets_all, 0);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	for (k = 0; k < ARRAY_SIZE(bases); k++)
		assert_int_equal(rd(bases[k] + RING_CSB_POINTER), 0x0505);
	assert_int_equal(atomic64_read(&stats.device_resets), 1);
	assert_int_equal(atomic64_read(&stats.engine_resets), 4);
	assert_int_equal(gtt.forgets_all, 1);
}

/* The guest cannot write the pointer of the hardware, except the reset value. */
static void the_csb_pointer_can_be_moved_to_what_exists(void **state)
{
	u32 reg = guest.base + RING_CSB_POINTER, i;

	for (i = 0; i < 8; i++) {
		wr(reg, 0x00070000 | i);
		assert_int_equal(rd(reg) & 7, min(i, 5));
	}
	wr(reg, 0x07000300);
	assert_int_equal(rd(reg), 0x0305);
	wr(reg, 0x00020000); /* a bit of it */
	assert_int_equal(rd(reg), 0x0305);
	wr(reg, 0x00040000);
	assert_int_equal(rd(reg), 0x0301);
}

/* The status buffer is in registers, too. */
static void events_are_in_the_registers_and_in_the_status_page(void **state)
{
	u32 slot, i;

	for (i = 0; i < 9; i++) {
		submit_work(i % 3);
		slot = rd(guest.base + RING_CSB_POINTER) & 7;
		assert_int_equal(rd(guest.base + RING_CSB + 8 * slot), GEN8_CTX_STATUS_IDLE_ACTIVE);
		assert_int_equal(rd(guest.base + RING_CSB + 8 * slot + 4), 0x20 * (i % 3 + 1));
		assert_int_equal(peek(HWSP(guest.id) + HWSP_CSB + 8 * slot + 4),
				 0x20 * (i % 3 + 1));
		assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_LO), 0);
		assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0x20 * (i % 3 + 1));
		assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
		finish(guest.id, GHYVI_JOB_COMPLETE);
		slot = rd(guest.base + RING_CSB_POINTER) & 7;
		assert_int_equal(rd(guest.base + RING_CSB + 8 * slot),
				 GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
		assert_int_equal(rd(guest.base + RING_CSB + 8 * slot + 4), 0x20 * (i % 3 + 1));
		assert_int_equal(consume(), GEN8_CTX_STATUS_COMPLETE | GEN8_CTX_STATUS_ACTIVE_IDLE);
	}
}

/* An error is reported where it is not masked, and until it is acknowledged. */
static void a_masked_error_does_not_interrupt(void **state)
{
	wr(guest.base + RING_EMR, ~0u);
	wr(0x44308, ~0u);
	submit_work(0);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_EIR), 0);
	assert_int_equal(rd(guest.base + RING_ESR), 1);
	assert_int_equal(rd(0x44308) & BIT(3), 0);
	guest_reset();
	assert_int_equal(rd(guest.base + RING_ESR), 0);
	wr(guest.base + RING_EMR, ~1u);
	submit_work(0);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(rd(guest.base + RING_EIR), 1);
	assert_int_equal(rd(0x44308) & BIT(3), BIT(3));
	wr(guest.base + RING_EIR, 2);
	assert_int_equal(rd(guest.base + RING_EIR), 1);
	assert_int_equal(rd(guest.base + RING_ESR), 1);
	wr(guest.base + RING_EIR, 1);
	assert_int_equal(rd(guest.base + RING_EIR), 0);
	assert_int_equal(rd(guest.base + RING_ESR), 0);
}

/* A job has all values of its context image. */
static void a_job_has_the_ring_and_registers_of_its_image(void **state)
{
	static const struct {
		u32 control;
		bool restore;
	} rows[] = { { 0x00010001, false },
		     { 0x00000001, true },
		     { 0x00010000, true },
		     { 0, true },
		     { 0x000f0008, true } };
	struct ghyvi_job *job;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		poke(STATE(0, GHYVI_CTX_CONTROL), rows[i].control);
		for (k = 0; k < 32; k++)
			poke(STATE(0, GHYVI_CTX_GPR + 2 * k), 0x1000 * i + k);
		submit_work(0);
		job = gpu.running[guest.id];
		assert_int_equal(job->restore, rows[i].restore);
		assert_ptr_equal(job->client, &gpu);
		assert_int_equal(job->context[GHYVI_CTX_RING_START], RINGS(0));
		for (k = 0; k < 32; k++)
			assert_int_equal(job->context[GHYVI_CTX_GPR + 2 * k], 0x1000 * i + k);
		/* The image's are written back where they changed, each for itself. */
		for (k = 0; k < 32; k++)
			poke(STATE(0, GHYVI_CTX_GPR + 2 * k), 0xee);
		job->context[GHYVI_CTX_GPR + 2 * (i + 3)]++;
		job->context[GHYVI_CTX_GPR + 2 * 31]++;
		finish(guest.id, GHYVI_JOB_COMPLETE);
		for (k = 0; k < 32; k++)
			assert_int_equal(peek(STATE(0, GHYVI_CTX_GPR + 2 * k)),
					 k == i + 3 || k == 31 ? 0x1000 * i + k + 1 : 0xee);
		assert_int_equal(peek(STATE(0, GHYVI_CTX_CONTROL)), rows[i].control & ~1u);
		consume();
		consume();
	}
}

/* Pages of a ring, and where its head and tail may be. */
static void rings_of_any_size_are_loaded(void **state)
{
	u32 pages;

	for (pages = 1; pages <= 16; pages *= 2) {
		poke(STATE(0, GHYVI_CTX_RING_START), HIDDEN_START + 0x100000);
		poke(STATE(0, GHYVI_CTX_RING_CTL), (pages - 1) << 12 | 1);
		poke(STATE(0, GHYVI_CTX_RING_HEAD),
		     0xffe00000 | (pages * 4096 - 4)); /* wraps are counted above */
		poke(STATE(0, GHYVI_CTX_RING_TAIL), pages * 4096 - 8);
		guest.tails[0] = pages * 4096 - 8;
		submit(0, -1);
		assert_non_null(gpu.running[guest.id]);
		assert_int_equal(gpu.running[guest.id]->context[GHYVI_CTX_RING_HEAD],
				 pages * 4096 - 4);
		finish(guest.id, GHYVI_JOB_COMPLETE);
		consume();
		consume();
	}
	/* The last that fits into the window. */
	poke(STATE(0, GHYVI_CTX_RING_START), HIDDEN_START + HIDDEN_BYTES - 0x4000);
	poke(STATE(0, GHYVI_CTX_RING_CTL), 3 << 12 | 1);
	poke(STATE(0, GHYVI_CTX_RING_HEAD), 0);
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 8);
	guest.tails[0] = 8;
	submit(0, -1);
	assert_non_null(gpu.running[guest.id]);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	consume();
	consume();
	poke(STATE(0, GHYVI_CTX_RING_CTL), 4 << 12 | 1);
	poke(STATE(0, GHYVI_CTX_RING_TAIL), 16);
	submit(0, -1);
	assert_null(gpu.running[guest.id]);
	assert_non_null(strstr(last_report(), "ring start"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_register_stores_the_bits_of_its_kind,
						setup_gen9, teardown),
		cmocka_unit_test_setup_teardown(gen9_is_powered_on_and_reset_alike, setup_gen9,
						teardown),
		cmocka_unit_test_setup_teardown(gen8_is_powered_on, setup_gen8, teardown),
		cmocka_unit_test_setup_teardown(status_pages_are_whole_pages, setup_gen9, teardown),
		cmocka_unit_test_setup_teardown(a_reset_affects_only_the_engines_it_names,
						setup_gen9, teardown),
		RCS(the_csb_pointer_can_be_moved_to_what_exists),
		RCS(events_are_in_the_registers_and_in_the_status_page),
		RCS(a_masked_error_does_not_interrupt),
		RCS(a_job_has_the_ring_and_registers_of_its_image),
		RCS(rings_of_any_size_are_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
