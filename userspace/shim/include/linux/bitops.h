/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of this name: only what ghyvi uses. */
#include <ghyvi_shim.h>

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}
