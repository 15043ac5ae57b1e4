/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernel/compat/probe would write: the shim has the interfaces of 6.1. */
#include <ghyvi_shim.h>
