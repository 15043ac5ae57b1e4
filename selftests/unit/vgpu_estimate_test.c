// SPDX-License-Identifier: GPL-2.0-only
/* The size of a vGPU's state, as it is told to a VMM before the VM stops. */
#include "move_one.h"
#include "vgpu/vgpu_types.h"

#define ENTRIES 5000

/* Entries that differ, so that each takes its 8 bytes in a state. */
static void fill_ggtt(void)
{
	u64 *table = ghyvi_vgpu_ggtt_table(host.vgpu);
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		table[i] = (u64)(i + 1) << GHYVI_PAGE_SHIFT;
}

static size_t saved_bytes(void)
{
	u64 owner = 0;
	size_t bytes;
	void *saved;

	assert_int_equal(ghyvi_vgpu_save(host.vgpu, &owner, sizeof(owner), &saved, &bytes), 0);
	kvfree(saved);
	return bytes;
}

static void tables_are_looked_at_once_in_a_second(void **state)
{
	size_t before = ghyvi_vgpu_state_bytes(host.vgpu, 8);
	u64 counted_ns = host.vgpu->tables_counted_ns;

	fill_ggtt();
	/* The test itself may have taken a second. */
	host.vgpu->tables_counted_ns = ktime_get_ns();
	assert_int_equal(ghyvi_vgpu_state_bytes(host.vgpu, 8), before);
	host.vgpu->tables_counted_ns = counted_ns - NSEC_PER_SEC;
	assert_true(ghyvi_vgpu_state_bytes(host.vgpu, 8) >= before + ENTRIES * 8);
}

static void the_size_is_exact_in_a_pause(void **state)
{
	ghyvi_vgpu_state_bytes(host.vgpu, 8);
	fill_ggtt();
	move_begin_waiting(&host, GHYVI_RCS, false);
	ghyvi_vgpu_pause(host.vgpu);
	assert_int_equal(ghyvi_vgpu_state_bytes(host.vgpu, 8), saved_bytes());
	ghyvi_vgpu_resume(host.vgpu);
	WRITE_ONCE(*move_data(0, 0), 1);
	move_end_waiting(&host, GHYVI_RCS);
}

/* The next user asks within a second. */
static void a_reset_forgets_the_size(void **state)
{
	size_t empty;

	ghyvi_vgpu_reset(host.vgpu);
	empty = ghyvi_vgpu_state_bytes(host.vgpu, 8);
	fill_ggtt();
	host.vgpu->tables_counted_ns -= NSEC_PER_SEC;
	assert_true(ghyvi_vgpu_state_bytes(host.vgpu, 8) >= empty + ENTRIES * 8);
	host.vgpu->tables_counted_ns = ktime_get_ns();
	ghyvi_vgpu_reset(host.vgpu);
	assert_int_equal(ghyvi_vgpu_state_bytes(host.vgpu, 8), empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tables_are_looked_at_once_in_a_second, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(the_size_is_exact_in_a_pause, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(a_reset_forgets_the_size, one_setup, one_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
