// SPDX-License-Identifier: GPL-2.0-only
/* Pauses, saves, loads and resets of a vGPU while its guest and its user do all they can. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "move_one.h"

#define RAM_GFN (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT)
#define ROUNDS 30

static _Atomic bool stop_threads;

/* The guest's CPUs need not have stopped. */
static void *access_registers(void *data)
{
	static const u32 offsets[] = { RING_CSB_POINTER, RING_HWS_PGA, RING_IMR, RING_EIR,
				       RING_TIMESTAMP };
	unsigned int seed = 1, i, engine;

	while (!stop_threads) {
		engine = rand_r(&seed) % GHYVI_ENGINES;
		for (i = 0; i < ARRAY_SIZE(offsets); i++)
			move_rd(&host, ghyvi_engine_base(engine) + offsets[i]);
		move_submit(&host, engine, engine);
		move_wr(&host, GEN8_MASTER_IRQ, 0);
		move_wr(&host, GEN8_GT_ISR0 + IRQ_IIR, ~0u);
		move_wr(&host, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
		if (!(rand_r(&seed) % 50))
			move_wr(&host, GEN6_GDRST, rand_r(&seed) % 3 ? GEN6_GRDOM_BLT : ~0u);
		if (!(rand_r(&seed) % 50))
			ghyvi_gtt_unmap(ghyvi_vgpu_gtt(host.vgpu), RAM_GFN, MOVE_RAM_PAGES);
	}
	return NULL;
}

static void ignore_page(void *data, u64 gfn)
{
}

/* What the user may call without device->lock. */
static void *read_log_and_size(void *data)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);

	while (!stop_threads) {
		ghyvi_gtt_log_start(gtt);
		ghyvi_gtt_log_read(gtt, RAM_GFN, MOVE_RAM_PAGES, ignore_page, NULL);
		ghyvi_gtt_log_read(gtt, RAM_GFN, MOVE_RAM_PAGES, ignore_page, NULL);
		assert_true(ghyvi_vgpu_state_bytes(host.vgpu, 0) <= GHYVI_STATE_BYTES_MAX);
		ghyvi_gtt_log_stop(gtt);
	}
	return NULL;
}

static void build_work(void)
{
	unsigned int i, n;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		MOVE_RING(i, MOVE_CALL(i));
		for (n = 0; n < 100; n++)
			MOVE_BATCH(i, MOVE_STORE(i, 10 + n, n));
		MOVE_BATCH(i, MOVE_BATCH_END);
	}
}

static void save_and_load(bool loads)
{
	u64 owner = 0;
	size_t bytes;
	void *state;

	assert_int_equal(ghyvi_vgpu_save(host.vgpu, &owner, sizeof(owner), &state, &bytes), 0);
	if (loads)
		assert_int_equal(ghyvi_vgpu_load(host.vgpu, state, bytes, &owner, sizeof(owner)),
				 0);
	kvfree(state);
}

static void everything_at_once(void **state)
{
	pthread_t threads[2];
	unsigned int round;

	srand(9);
	build_work();
	pthread_create(&threads[0], NULL, access_registers, NULL);
	pthread_create(&threads[1], NULL, read_log_and_size, NULL);
	for (round = 0; round < ROUNDS; round++) {
		nanosleep(&(struct timespec){ .tv_nsec = rand() % 1000000 }, NULL);
		ghyvi_vgpu_pause(host.vgpu);
		save_and_load(rand() % 2);
		if (!(rand() % 8))
			ghyvi_vgpu_reset_under_driver(host.vgpu);
		if (!(rand() % 16))
			ghyvi_vgpu_reset(host.vgpu);
		ghyvi_vgpu_set_bar0(host.vgpu, MOVE_BAR0_GPA);
		ghyvi_vgpu_resume(host.vgpu);
	}
	stop_threads = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_at_once, one_setup, one_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
