/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of this name: only what ghyvi uses. */
#ifndef SHIM_BITOPS_H
#define SHIM_BITOPS_H

#include <ghyvi_shim.h>

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned int hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

#endif
