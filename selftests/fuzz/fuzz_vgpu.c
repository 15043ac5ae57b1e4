// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device model (kernel/vgpu) and the scheduler: arbitrary register accesses, context images,
 * results of jobs, and resets. After a device reset no state may remain.
 */
#include "../unit/vgpu_moves.h"
#include "input.h"

#define MOVES_MAX 400

/*
 * Creating a vGPU takes longer than most inputs, so it is reused while consecutive inputs want the
 * same generation.
 */
static void want_vgpu(bool gen8)
{
	static bool there, is_gen8;
	void *state = NULL;

	if (there && is_gen8 == gen8) {
		start_engine(gen8 ? GHYVI_BCS : GHYVI_RCS,
			     gen8 ? GHYVI_BLITTER_BASE : GHYVI_RENDER_BASE);
		return;
	}
	if (there)
		assert_int_equal(teardown(&state), 0);
	assert_int_equal((gen8 ? setup_bcs_gen8 : setup_rcs)(&state), 0);
	there = true;
	is_gen8 = gen8;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	int i;

	input_init(data, bytes);
	srand(0);
	want_vgpu(rnd(256) < 8);
	for (i = 0; input.left && i < MOVES_MAX; i++)
		move();
	ghyvi_vgpu_reset(vgpu);
	settle();
	assert_int_equal(gtt.roots_live, 0);
	return 0;
}
