/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of this name: only what ghyvi uses. */
#include <ghyvi_shim.h>
