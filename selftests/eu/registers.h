/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_TEST_REGISTERS_H
#define GHYVI_EU_TEST_REGISTERS_H

#include "code.h"

/* The thread that executes a test's instructions. */
static struct eu_thread thread;
static struct eu_exec exec;

static inline uint32_t dword(unsigned int reg, unsigned int n)
{
	return eu_reg32(&thread, reg * 32 + n * 4);
}

static inline void set_dword(unsigned int reg, unsigned int n, uint32_t v)
{
	eu_set_reg32(&thread, reg * 32 + n * 4, v);
}

static uint64_t random_state = 88172645463325252ull;

static inline uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

#endif
