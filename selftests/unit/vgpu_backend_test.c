// SPDX-License-Identifier: GPL-2.0-only
/* What the device model expects of a backend, on the software pGPU itself. */
#include "move_one.h"

#define BASE GHYVI_RENDER_BASE

/* i915's ring_is_idle(). */
static bool ring_is_idle(void)
{
	return (move_rd(&host, BASE + RING_HEAD) & RING_HEAD_MASK) ==
		       (move_rd(&host, BASE + RING_TAIL) & RING_TAIL_MASK) &&
	       move_rd(&host, BASE + RING_MI_MODE) & MI_MODE_IDLE;
}

/* The tail register is that of the last submission, before and after the engine reaches it. */
static void the_ring_is_idle_after_a_lite_restore(void **state)
{
	u32 *tail = &move_page(MOVE_IMAGES + 1)[GHYVI_CTX_RING_TAIL];

	assert_true(ring_is_idle());
	move_begin_waiting(&host, GHYVI_RCS, true);
	assert_int_equal(move_rd(&host, BASE + RING_TAIL), *tail);
	assert_false(ring_is_idle());
	MOVE_RING(GHYVI_RCS, MOVE_STORE(0, 5, 5));
	move_submit(&host, GHYVI_RCS, GHYVI_RCS);
	assert_int_equal(atomic64_read(&host.stats.lite_restores), 1);
	assert_int_equal(move_rd(&host, BASE + RING_TAIL), *tail);
	move_end_waiting(&host, GHYVI_RCS);
	move_await(move_data(0, 5), 5);
	move_await_idle(&host, GHYVI_RCS);
	assert_int_equal(move_rd(&host, BASE + RING_TAIL), *tail);
	assert_true(ring_is_idle());
}

static void share_gen8(struct ghyvi_vgpu_params *params)
{
	params->profile = &ghyvi_profile_gen8;
}

static int gen8_setup(void **state)
{
	move_host_begin(&host, share_gen8);
	move_guest_begin(&host);
	return 0;
}

/* PIPE_CONTROL with a timestamp, and the clock that the CPU reads. */
static void the_cpu_never_reads_less_than_an_engine_has_stored(void **state)
{
	u64 stored, read;
	unsigned int i;

	for (i = 1; i <= 200; i++) {
		MOVE_RING(GHYVI_RCS, 0x7a000004, 3 << 14 | 1 << 20, MOVE_AT(0, 2), 0, 0, 0,
			  MOVE_STORE(0, 5, i));
		move_submit(&host, GHYVI_RCS, GHYVI_RCS);
		while (READ_ONCE(*move_data(0, 5)) != i)
			;
		stored = READ_ONCE(*(u64 *)move_data(0, 2));
		read = move_rd(&host, BASE + RING_TIMESTAMP) |
		       (u64)move_rd(&host, BASE + RING_TIMESTAMP + 4) << 32;
		assert_true(stored);
		assert_true(read >= stored);
		move_await_idle(&host, GHYVI_RCS);
		if (i % 80 == 0) { /* the ring has a page */
			move_page(MOVE_IMAGES + 1)[GHYVI_CTX_RING_HEAD] = 0;
			move_page(MOVE_IMAGES + 1)[GHYVI_CTX_RING_TAIL] = 0;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_ring_is_idle_after_a_lite_restore, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(the_cpu_never_reads_less_than_an_engine_has_stored,
						gen8_setup, one_teardown),
		cmocka_unit_test_setup_teardown(the_cpu_never_reads_less_than_an_engine_has_stored,
						one_setup, one_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
