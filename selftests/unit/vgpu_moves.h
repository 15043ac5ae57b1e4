/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accesses of a guest to the device model in any order, also those that no driver makes. For random
 * tests and fuzzing.
 */
#ifndef VGPU_MOVES_H
#define VGPU_MOVES_H

#include "vgpu_guest.h"

/*
 * Returns a number below @n: the source of all choices, which the program defines. Use one choice
 * per statement, as in gtt_moves.h.
 */
u32 rnd(u32 n);

/* One access, and sometimes an event that changes its effect. */
void move(void);

#endif
