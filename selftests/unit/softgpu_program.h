/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random programs of MI commands, and a second interpreter for them. It is slow, and written from
 * the manual's definitions alone: it uses neither the tables nor a header of the engine, only
 * numbers. A program is three user batches with jumps and calls, and perhaps a ring that stores to
 * the status pages before it starts them.
 */
#ifndef SOFTGPU_PROGRAM_H
#define SOFTGPU_PROGRAM_H

#include "softgpu_fixture.h"

#define PROGRAM_DWORDS 400 /* of each of the three batches */
#define PROGRAM_RING_DWORDS 32
#define PROGRAM_STATUS_OFFSET 0x400 /* of what programs use in a status page */
#define PROGRAM_STATUS_DWORDS 16
#define PROGRAM_WORDS 32 /* of memory that programs use, 8 bytes each, from DATA on */

/* The state that a program changes, and the program. */
struct machine {
	u64 gpr[16];
	u32 predicate[8]; /* 0x2400 to 0x241c */
	u32 memory[2 * PROGRAM_WORDS];
	u32 status[2][PROGRAM_STATUS_DWORDS]; /* of the engine, of the context */
	u32 code[3][PROGRAM_DWORDS];
	u32 ring[PROGRAM_RING_DWORDS];
	unsigned int ring_dwords;
};

void program_make(struct machine *m, unsigned int gen, u64 seed);

/* Add a ring to a program that has just been made. */
void program_make_ring(struct machine *m);

/* Run the program in @m on its state. */
void program_interpret(struct machine *m);

/* Put the program and its state where the engine finds them. The ring has that of @m then. */
void program_put(struct rig *rig, const struct machine *m);

/* Returns how the state that the engine left differs from @m, or NULL. */
const char *program_difference(struct rig *rig, const struct machine *m);

#endif
