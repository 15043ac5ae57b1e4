/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests that look into kernel/gen9, or have to do with what no job shows. */
#ifndef GEN9_DRIVER_H
#define GEN9_DRIVER_H

#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

static inline struct gen9_engine *engine_of(enum ghyvi_engine_id id)
{
	return &gen9_of(pgpu)->engines[id];
}

#endif
