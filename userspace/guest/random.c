// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "random.h"

void random_seed(struct random *r, uint64_t seed)
{
	r->state = seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
	if (!r->state)
		r->state = 1;
	for (int i = 0; i < 8; i++)
		random_next(r);
}

uint64_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

unsigned int random_range(struct random *r, unsigned int low, unsigned int high)
{
	return low + (random_next(r) >> 32) % (high - low + 1);
}

void random_fill(struct random *r, void *buffer, size_t bytes)
{
	uint8_t *p = buffer;

	while (bytes) {
		uint64_t value = random_next(r);
		size_t n = bytes < sizeof(value) ? bytes : sizeof(value);

		memcpy(p, &value, n);
		p += n;
		bytes -= n;
	}
}
