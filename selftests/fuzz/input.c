// SPDX-License-Identifier: GPL-2.0-only
#include "input.h"

struct input input;

void input_init(const u8 *data, size_t bytes)
{
	input.at = data;
	input.left = bytes;
}

u32 input_take(unsigned int bytes)
{
	u32 value = 0;

	for (; bytes && input.left; bytes--, input.left--)
		value = value << 8 | *input.at++;
	return value;
}

u32 rnd(u32 n)
{
	return input_take(n <= 1u << 8 ? 1 : n <= 1u << 16 ? 2 : 4) % n;
}
