/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all proofs share. A proof includes this header, and then sources of kernel/ as they are.
 *
 * CBMC takes the value of a function without a body whose name begins with nondet_ to be any value
 * of its type, a new one in each call. So these functions are "for all" in a proof.
 */
#ifndef PROVE_H
#define PROVE_H

#include <ghyvi_shim.h>

u32 nondet_u32(void);
s64 nondet_s64(void);
u64 nondet_u64(void);
bool nondet_bool(void);

/* What is not so is not considered. */
#define assume(condition) __CPROVER_assume(condition)
/* What must be so. */
#define prove(condition) __CPROVER_assert(condition, #condition)

/* A warning of the kernel is a failure. */
#undef WARN_ON
#define WARN_ON(condition)              \
	({                              \
		bool __w = (condition); \
		prove(!__w);            \
		__w;                    \
	})

/* Any value of so many bits. The others are constants to CBMC, which makes arithmetic cheap. */
static inline u64 any_bits(unsigned int bits)
{
	return nondet_u64() & ((1ULL << bits) - 1);
}

/* Any value from @low to @high. */
static inline u64 any_in(u64 low, u64 high)
{
	u64 value = high ? nondet_u64() & U64_MAX >> __builtin_clzll(high) : 0;

	assume(value >= low && value <= high);
	return value;
}

#endif
