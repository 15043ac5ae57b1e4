/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of the fuzzer as a source of choices. After the last byte every choice is 0.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <ghyvi_shim.h>

static struct {
	const u8 *at;
	size_t left;
} input;

static inline void input_init(const u8 *data, size_t bytes)
{
	input.at = data;
	input.left = bytes;
}

static inline u32 input_take(unsigned int bytes)
{
	u32 value = 0;

	for (; bytes && input.left; bytes--, input.left--)
		value = value << 8 | *input.at++;
	return value;
}

/* A number below @n; consumes as few bytes as possible. */
static __maybe_unused u32 rnd(u32 n)
{
	return input_take(n <= 1u << 8 ? 1 : n <= 1u << 16 ? 2 : 4) % n;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

#endif
