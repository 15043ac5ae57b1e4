/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the fuzzer (fuzz_i915.c) shares with the program that executes its inputs
 * (executor.c), which may be in a guest: there it is BAR 2 of QEMU's ivshmem-plain.
 */
#ifndef FUZZ_I915_EXCHANGE_H
#define FUZZ_I915_EXCHANGE_H

#include "counters.h"

#define INPUT_BYTES 4096u

/* What the executor says of an input. */
enum verdict {
	FINE,
	I915_FAILED, /* a valid batch could not be executed afterwards */
	STORE_MISSING, /* it was, without its effect */
	MEMORY_CHANGED, /* an object of another file and address space has changed */
};

/*
 * struct exchange
 * @ready: the executor has begun; it sets this to 1
 * @asked: number of the input that is to be executed
 * @done: number of the last one that was
 * @bytes: of @input
 * @verdict: enum verdict
 * @counters: of the points in i915 that the executor's thread has executed
 */
struct exchange {
	uint32_t ready, asked, done, bytes, verdict;
	uint8_t input[INPUT_BYTES];
	uint8_t counters[COUNTERS_BYTES] __attribute__((aligned(4096)));
};

#define EXCHANGE_BYTES (1u << 17) /* a BAR's size is a power of two */

#endif
