// SPDX-License-Identifier: GPL-2.0-only
/* Random interleavings against an independent translation, and threads. */
#include "gtt_random.h"

#define SEEDS 300u

static void play(u64 seed)
{
	unsigned int step;

	fake.race = seed & 2 ? racing_store : NULL;
	for (step = 0; step < 150; step++)
		move();
}

static void any_interleaving_ends_in_the_guests_translation(void **s)
{
	play_seeds(SEEDS, play);
}

static _Atomic bool stop;

static void *trapping(void *unused)
{
	u32 i, n = 12345;

	for (i = 0; i < 4000; i++) {
		n = n * 1103515245 + 12345;
		write_pte(n >> 30 ? PT_GFN : PD_GFN, 1 + (n >> 16) % 50,
			  n >> 30 ? pte(DATA + (n >> 8) % 64) : pte(PT2_GFN + (n >> 8) % 3));
	}
	stop = true;
	return NULL;
}

static void one_vcpu_stores_while_another_submits(void **s)
{
	struct ghyvi_root *root;
	pthread_t thread;
	u32 turn;

	build_tree(PML4_GFN);
	root = get_root4(PML4_GFN);
	stop = false;
	pthread_create(&thread, NULL, trapping, NULL);
	for (turn = 0; !stop; turn++) {
		ghyvi_gtt_sync(fake.gtt, root);
		if (turn % 16 == 0)
			ghyvi_gtt_set_policy(fake.gtt, turn % 48 == 16 ? "nested" :
						       turn % 32       ? "strict" :
									 "segmented");
		if (turn % 7 == 0)
			ghyvi_gtt_flush(fake.gtt);
	}
	pthread_join(thread, NULL);
	ghyvi_gtt_sync(fake.gtt, root);
	compare_everything();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_interleaving_ends_in_the_guests_translation),
		TEST(one_vcpu_stores_while_another_submits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
