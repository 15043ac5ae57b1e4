/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernel/compat/probe would write: the shim has the interfaces of 6.1, unless stated. */
#include <ghyvi_shim.h>

#define GHYVI_HAVE_HRTIMER_SETUP 1 /* linux/hrtimer.h has only the later interface */
