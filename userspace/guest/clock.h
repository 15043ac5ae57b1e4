/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of the guest programs and of tools/compare. */
#ifndef GUEST_CLOCK_H
#define GUEST_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary time. */
static inline double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

#endif
