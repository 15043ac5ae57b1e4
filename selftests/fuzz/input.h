/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of the fuzzer as a source of choices. After the last byte every choice is 0.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <ghyvi_shim.h>

struct input {
	const u8 *at;
	size_t left;
};
extern struct input input;

void input_init(const u8 *data, size_t bytes);
u32 input_take(unsigned int bytes);

/* A number below @n; consumes as few bytes as possible. */
u32 rnd(u32 n);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

#endif
