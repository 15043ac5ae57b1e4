// SPDX-License-Identifier: GPL-2.0-only
/* The emulated GPU: the adversary modes, and garbage. */
#include <time.h>
#include "emu_fixture.h"

/* ---- adversary ---- */

static void late_stores_reach_memory_at_the_end(void **state)
{
	static const u32 noops[400];

	emu_adversary_parse(&emu->adversary, "late-write");
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 6);
	emit(0, noops, ARRAY_SIZE(noops));
	submit(descriptor(0), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_int_equal(*word(GGTT_DATA), 0);
	run_all();
	assert_int_equal(*word(GGTT_DATA), 6);
}

/* i915 takes a request whose first store is not there for one that has not begun. */
static void reset_takes_no_store_back(void **state)
{
	emu_adversary_parse(&emu->adversary, "late-write");
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 7, 0xdeadbeef, NOOP);
	run_context(0);
	assert_int_equal(emu->engines[GHYVI_RCS].state, EMU_HUNG);
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
	assert_int_equal(*word(GGTT_DATA), 7);
}

static void flush_makes_late_stores_visible(void **state)
{
	static const u32 noops[400];

	emu_adversary_parse(&emu->adversary, "late-write");
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 6, FLUSH_DW, 0, 0, 0);
	emit(0, noops, ARRAY_SIZE(noops));
	submit(descriptor(0), 0);
	assert_int_equal(emu_run_engines(emu), EMU_WORK_NOW);
	assert_int_equal(*word(GGTT_DATA), 6);
}

static void second_event_shows_when_the_first_is_cleared(void **state)
{
	emu_adversary_parse(&emu->adversary, "double-iir");
	wr(GEN8_GT_ISR0 + IRQ_IMR, 0);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	emu_irq_raise(&emu->engines[GHYVI_RCS], EMU_IRQ_USER);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_GT_ISR0 + IRQ_IIR), 1);
	wr(GEN8_GT_ISR0 + IRQ_IIR, 1);
	assert_int_equal(rd(GEN8_GT_ISR0 + IRQ_IIR), 0);
}

#define TRIES 100

static void some_resets_need_another_try(void **state)
{
	unsigned int i, in_a_row = 0, failed = 0;

	emu_adversary_parse(&emu->adversary, "slow-reset");
	for (i = 0; i < 10 * TRIES; i++) {
		wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
		in_a_row = rd(GEN6_GDRST) ? in_a_row + 1 : 0;
		failed += !!in_a_row;
		assert_in_range(in_a_row, 0, 2);
	}
	assert_in_range(failed, 10, 5 * TRIES);
}

static void lost_acknowledgement_needs_the_fallback(void **state)
{
	unsigned int i, lost = 0;

	emu_adversary_parse(&emu->adversary, "lost-wake");
	for (i = 0; i < 10 * TRIES; i++) {
		wr(FORCEWAKE_GT_GEN9, 0x00010001);
		if (rd(FORCEWAKE_ACK_GT_GEN9) & 1)
			goto put;
		lost++;
		wr(FORCEWAKE_GT_GEN9, 0x80008000);
		assert_int_equal(rd(FORCEWAKE_ACK_GT_GEN9), 0x8001);
		wr(FORCEWAKE_GT_GEN9, 0x80000000);
put:
		wr(FORCEWAKE_GT_GEN9, 0x00010000);
		wr(FORCEWAKE_GT_GEN9, 0x80000000);
	}
	assert_in_range(lost, 1, TRIES);
}

/* Time of this thread: what the machine does meanwhile does not count. */
static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void late_acknowledgement_comes_within_the_time_limit(void **state)
{
	u64 start, late = 0;
	unsigned int i;

	emu_adversary_parse(&emu->adversary, "late-wake");
	for (i = 0; i < TRIES; i++) {
		start = cpu_ns();
		wr(FORCEWAKE_GT_GEN9, i & 1 ? 0x00010000 : 0x00010001);
		while (rd(FORCEWAKE_ACK_GT_GEN9) != !(i & 1))
			late++;
		assert_true(cpu_ns() - start < 50 * NSEC_PER_MSEC);
	}
	assert_true(late);
}

static void prefetch_reads_past_the_tail(void **state)
{
	make_context(0, GHYVI_RENDER_BASE);
	emu_ggtt_write(emu, EMU_GGTT_OFFSET + 8 * ((RING + RING_STRIDE) >> 12), 0, 8);
	wr(GFX_FLSH_CNTL_GEN6, 1);
	image(0)[GHYVI_CTX_RING_HEAD] = 0xff8;
	image(0)[GHYVI_CTX_RING_TAIL] = 0xff8;
	run_context(0);
	expect_no_violation();
	emu_adversary_parse(&emu->adversary, "prefetch");
	run_context(0);
	expect_violations(EMU_GGTT_NOT_PRESENT, 4);
}

static void preemption_is_refused_for_a_while_only(void **state)
{
	emu_adversary_parse(&emu->adversary, "no-preempt");
	start_waiting();
	make_context(1, GHYVI_RENDER_BASE);
	submit(descriptor(1), 0);
	while (emu->engines[GHYVI_RCS].has_pending) {
		emu->engines[GHYVI_RCS].poll_at_ns = 0;
		run_all();
	}
	assert_int_equal(csb(1), 0x882);
}

static void time_passes(u64 ns)
{
	u64 end = ktime_get_ns() + ns;

	while (ktime_get_ns() < end)
		emu_run_engines(emu);
	run_all();
}

/* The register has the event at once; memory has it and the saved head later, in one order. */
static void late_event_is_in_the_register_first(void **state)
{
	const u32 *pointer = word(HWSP + HWSP_CSB_WRITE);
	struct emu_engine *engine = &emu->engines[GHYVI_RCS];
	unsigned int n, late = 0;

	emu_adversary_parse(&emu->adversary, "late-csb");
	make_context(0, GHYVI_RENDER_BASE);
	for (n = 0; n < TRIES / 4; n++) {
		EMIT(0, NOOP, NOOP);
		run_context(0);
		if (*pointer != (rd(GHYVI_RENDER_BASE + RING_CSB_POINTER) & 7)) {
			assert_int_not_equal(csb(engine->csb_write), 0x818);
			assert_int_not_equal(image(0)[GHYVI_CTX_RING_HEAD],
					     image(0)[GHYVI_CTX_RING_TAIL]);
			late++;
		}
		time_passes(2 * NSEC_PER_MSEC);
		assert_int_equal(*pointer, engine->csb_write);
		assert_int_equal(csb(engine->csb_write), 0x818);
		assert_int_equal(image(0)[GHYVI_CTX_RING_HEAD], image(0)[GHYVI_CTX_RING_TAIL]);
		*word(HWSP + HWSP_CSB + 8 * engine->csb_write) = ~0u;
	}
	assert_in_range(late, 1, TRIES / 4 - 1);
	expect_no_violation();
}

static void save_stores_the_tail_that_hardware_has(void **state)
{
	u32 tail;

	emu_adversary_parse(&emu->adversary, "stale-tail");
	start_waiting();
	tail = image(0)[GHYVI_CTX_RING_TAIL];
	EMIT(0, NOOP, NOOP);
	make_context(1, GHYVI_RENDER_BASE);
	run_context(1);
	assert_int_equal(image(0)[GHYVI_CTX_RING_TAIL], tail);
}

static void slow_draw_is_not_preempted(void **state)
{
	const u32 walker[16] = { GPGPU_WALKER };
	unsigned int n;
	u32 preempted;
	u64 end;

	emu_adversary_parse(&emu->adversary, "slow-draw");
	make_context(0, GHYVI_RENDER_BASE);
	for (n = 0; n < 8; n++)
		emit(0, walker, ARRAY_SIZE(walker));
	submit(descriptor(0), 0);
	while (!emu->engines[GHYVI_RCS].draws_until_ns)
		emu_run_engines(emu);
	end = emu->engines[GHYVI_RCS].draws_until_ns;
	make_context(1, GHYVI_RENDER_BASE);
	EMIT(1, NOOP, NOOP);
	submit(descriptor(1), 0);
	do {
		run_all();
		preempted = csb(1);
	} while (!preempted && ktime_get_ns() < end);
	assert_true(ktime_get_ns() >= end);
	for (n = 0; n < TRIES && csb(2) != 0x818; n++)
		time_passes(20 * NSEC_PER_MSEC);
	assert_int_equal(csb(2), 0x818);
}

/* As the driver asks for it; the lowest frequency is 350 of 1150 MHz. */
static void clock_is_as_fast_as_software_asks(void **state)
{
	struct emu_engine *engine = &emu->engines[GHYVI_RCS];

	assert_int_equal(rd(GEN6_RPSTAT1) >> 23, 21); /* RP1 */
	emu_adversary_parse(&emu->adversary, "slow-clock");
	start_waiting();
	assert_true(engine->pauses_until_ns);
	wr(GEN6_RPNSWREQ, 69 << 23);
	assert_int_equal(rd(GEN6_RPSTAT1) >> 23, 69);
	engine->poll_at_ns = 0;
	time_passes(NSEC_PER_MSEC);
	assert_true(engine->pauses_until_ns <= ktime_get_ns());
	wr(GEN6_RPNSWREQ, 100 << 23);
	assert_int_equal(rd(GEN6_RPSTAT1) >> 23, 69);
}

static void modes_are_parsed(void **state)
{
	assert_int_equal(emu_adversary_parse(&emu->adversary, "prefetch,nonsense"), -EINVAL);
	assert_int_equal(emu_adversary_parse(&emu->adversary, "all"), 0);
	assert_false(emu_adversary_has(&emu->adversary, EMU_HANG));
	assert_int_equal(
		emu_adversary_parse(&emu->adversary,
				    "hang,unready,lost-wake,slow-reset,late-csb,stale-tail"),
		0);
	assert_int_equal(emu->adversary.modes, (1u << EMU_ADVERSARY_MODES) - 1);
}

/* ---- garbage ---- */

#define GARBAGE_ROUNDS 2000
#define GARBAGE_DWORDS 64

/* A dword of a stream: often a command that exists, an address that is mapped, or a register. */
static u32 garbage(struct emu_adversary *random)
{
	switch (emu_random(random, 5)) {
	case 0:
		return (u32)emu_random(random, 64) << 23 | (u32)emu_random(random, 8) |
		       (u32)emu_random(random, 4) << 21;
	case 1:
		return 2u << 29 | (u32)emu_random(random, 128) << 22 | (u32)emu_random(random, 16);
	case 2:
		return DATA + (u32)emu_random(random, 0x2000);
	case 3:
		return GHYVI_RENDER_BASE + (u32)emu_random(random, 0x1000);
	default:
		return (u32)emu_random(random, 1ull << 32);
	}
}

/* Whatever engines are given, the emulator goes on, and a reset makes them work again. */
static void garbage_never_breaks_the_emulator(void **state)
{
	static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE, GHYVI_VIDEO_BASE,
				     GHYVI_VIDEO_ENHANCE_BASE };
	struct emu_adversary random;
	unsigned int round, i, slices;

	emu_adversary_seed(&random, 5);
	for (round = 0; round < GARBAGE_ROUNDS; round++) {
		u32 base = bases[emu_random(&random, ARRAY_SIZE(bases))];

		build_tables();
		make_context(0, base);
		for (i = 0; i < GARBAGE_DWORDS; i++) {
			ring(0)[i] = garbage(&random);
			word(BATCH)[i] = garbage(&random);
		}
		if (round & 1)
			memcpy(ring(0), (const u32[]){ BATCH_START, (u32)BATCH_VA, BATCH_VA >> 32 },
			       12);
		image(0)[GHYVI_CTX_RING_HEAD] = 0;
		image(0)[GHYVI_CTX_RING_TAIL] = 4 * GARBAGE_DWORDS;
		if (!emu_random(&random, 4))
			image(0)[0x51 + emu_random(&random, 64)] = garbage(&random);
		enable_engine(base);
		submit_to(base, descriptor(0), 0);
		for (slices = 0; slices < 4; slices++)
			emu_run_engines(emu);
		wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	}
	set_up_again();
	make_context(0, GHYVI_RENDER_BASE);
	EMIT(0, STORE_GGTT, GGTT_DATA, 0, 0x1234);
	run_context(0);
	assert_int_equal(*word(GGTT_DATA), 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(late_stores_reach_memory_at_the_end),
		TEST(reset_takes_no_store_back),
		TEST(flush_makes_late_stores_visible),
		TEST(second_event_shows_when_the_first_is_cleared),
		TEST(some_resets_need_another_try),
		TEST(lost_acknowledgement_needs_the_fallback),
		TEST(late_acknowledgement_comes_within_the_time_limit),
		TEST(prefetch_reads_past_the_tail),
		TEST(preemption_is_refused_for_a_while_only),
		TEST(late_event_is_in_the_register_first),
		TEST(save_stores_the_tail_that_hardware_has),
		TEST(slow_draw_is_not_preempted),
		TEST(clock_is_as_fast_as_software_asks),
		TEST(modes_are_parsed),
		TEST(garbage_never_breaks_the_emulator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
