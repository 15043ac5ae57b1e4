// SPDX-License-Identifier: GPL-2.0-only
#include "gtt_random.h"

static u64 rnd_state;

u32 rnd(u32 n)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return (u32)((rnd_state >> 20) % n);
}

static void play_seed(u64 seed, void (*play)(u64 seed))
{
	unsigned int step;

	if (getenv("SEED_VERBOSE"))
		fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	rnd_state = seed * 0x9e3779b97f4a7c15ull + 1;
	alias = seed & 1;
	fake_init(2);
	for (step = 0; step < 40; step++)
		edit();
	play(seed);
	fake.race = NULL;
	fake_fini();
	alias = false;
}

void play_seeds(u64 seeds, void (*play)(u64 seed))
{
	const char *only = getenv("SEED");
	u64 seed;

	if (only) {
		play_seed(strtoull(only, NULL, 0), play);
		return;
	}
	for (seed = 1; seed <= seeds; seed++)
		play_seed(seed, play);
}
