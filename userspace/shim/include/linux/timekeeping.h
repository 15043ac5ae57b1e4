/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of this name: only what ghyvi uses. */
#ifndef GHYVI_SHIM_TIMEKEEPING_H
#define GHYVI_SHIM_TIMEKEEPING_H

#include <time.h>
#include <ghyvi_shim.h>

static inline s64 ktime_get_real_seconds(void)
{
	return time(NULL);
}

#endif
