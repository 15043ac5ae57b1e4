// SPDX-License-Identifier: GPL-2.0-only
/* Random interleavings against an independent translation, and threads. */
#include "gtt_moves.h"

#define SEEDS 300u

static u64 state;

static u32 rnd(u32 n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 20) % n);
}

/* A tree or some, before anybody looks. */
static void plant_some(void)
{
	unsigned int step;

	for (step = 0; step < 40; step++)
		edit();
}

static void play(u64 seed)
{
	unsigned int step;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	alias = seed & 1;
	fake_init(2);
	plant_some();
	fake.race = seed & 2 ? racing_store : NULL;
	for (step = 0; step < 150; step++)
		move();
	fake.race = NULL;
	fake_fini();
}

static void test_any_interleaving_ends_in_the_guests_translation(void **s)
{
	u64 seed, last = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : SEEDS;

	for (seed = getenv("SEED") ? last : 1; seed <= last; seed++) {
		if (getenv("SEED_VERBOSE"))
			fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
		play(seed);
	}
}

static _Atomic bool stop;

static void *trapping(void *unused)
{
	u32 i, n = 12345;

	for (i = 0; i < 4000; i++) {
		n = n * 1103515245 + 12345;
		set(n >> 30 ? 4 : 3, 1 + (n >> 16) % 50,
		    n >> 30 ? to(DATA + (n >> 8) % 64) : to(5 + (n >> 8) % 3));
	}
	stop = true;
	return NULL;
}

static void test_one_vcpu_stores_while_another_submits(void **s)
{
	struct ghyvi_root *root;
	pthread_t thread;
	u32 turn;

	plant(1);
	root = hold4(1);
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
	alias = false;
	compare_everything();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_interleaving_ends_in_the_guests_translation),
		TEST(test_one_vcpu_stores_while_another_submits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
