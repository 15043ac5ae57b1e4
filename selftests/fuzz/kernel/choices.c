// SPDX-License-Identifier: GPL-2.0-only
/* With the functions of random.h, for attacks: their choices are those of the input. */
#include <string.h>

#include "choices.h"
#include "random.h"

static struct {
	const uint8_t *data;
	size_t left;
	struct random after;
} input;

void choices_begin(const uint8_t *data, size_t bytes)
{
	input.data = data;
	input.left = bytes;
	input.after.state = 0x2545f4914f6cdd1dull;
}

bool choices_left(void)
{
	return input.left;
}

uint64_t take(unsigned int bytes)
{
	uint64_t value = 0;

	if (bytes > input.left) {
		input.left = 0;
		input.after.state ^= input.after.state << 13;
		input.after.state ^= input.after.state >> 7;
		input.after.state ^= input.after.state << 17;
		return input.after.state;
	}
	memcpy(&value, input.data, bytes);
	input.data += bytes;
	input.left -= bytes;
	return value;
}

uint32_t below(uint32_t n)
{
	return take(n > 0x100 ? 4 : 1) % n;
}

void random_seed(struct random *r, uint64_t seed)
{
	r->state = seed;
}

uint64_t random_next(struct random *r)
{
	(void)r;
	return take(8);
}

unsigned int random_range(struct random *r, unsigned int low, unsigned int high)
{
	unsigned int range = high - low;

	(void)r;
	return low + take(range > 0xffff ? 4 : range > 0xff ? 2 : 1) % (range + 1ull);
}

void random_fill(struct random *r, void *buffer, size_t bytes)
{
	(void)r;
	for (uint8_t *p = buffer; bytes; bytes--)
		*p++ = take(1);
}
