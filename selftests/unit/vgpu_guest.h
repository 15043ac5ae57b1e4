/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of execlists: a guest with i915's bookkeeping. Each promotion must find a submission
 * pending, and each completion an active element. A completed context must have run to the tail
 * that the guest gave it.
 */
#ifndef VGPU_GUEST_H
#define VGPU_GUEST_H

#include "vgpu_fake.h"
#include "vgpu/vgpu_types.h"

#define CONTEXTS 6
#define RING_BYTES 4096u
#define HWSP(engine) (HIDDEN_START + 0x1000 * (1 + (engine)))
#define LRCA(c) (HIDDEN_START + 0x100000 + 0x4000 * (c))
#define STATE(c, i) (LRCA(c) + 4096 + 4 * (i))
#define RINGS(c) (HIDDEN_START + 0x180000 + RING_BYTES * (c))
#define PML4(c) (0x40000000ull + 0x1000 * (c))

/* The guest's view of one engine. */
struct execlist_guest {
	u32 base;
	enum ghyvi_engine_id id;
	int active[2], pending[2]; /* context numbers, -1: none */
	bool has_pending;
	u32 csb_read;
	u32 tails[CONTEXTS]; /* tails that the guest has written */
	int promotes, completes;
};
extern struct execlist_guest guest;

u64 descriptor(int c);
void elsp(u64 element0, u64 element1);
void reset_books(void);
void make_context(int c);
void start_engine(enum ghyvi_engine_id id, u32 base);
int setup_rcs(void **state);
int setup_bcs_gen8(void **state);
void move_tail(int c);
void submit(int c0, int c1);
/* Move the tail of context @c, and submit it alone. */
void submit_work(int c);

/*
 * Consume one status entry as i915 does. Returns it, or 0 if there is none. consume() also compares
 * registers and the context's image, which may be ahead of the entries while an engine runs.
 */
u32 consume(void);
u32 consume_concurrently(void);
/* The last workload on the engine completes, and the guest sees that. */
void complete_last(void);
void guest_reset(void);

/* A workload of another vGPU. */
extern struct ghyvi_workload foreign;
/* It runs. */
void occupy_engine(void);
/* This vGPU's workload runs, and is preempted at @head when @foreign waits. */
void be_preempted(u32 head);

#define RCS(f) cmocka_unit_test_setup_teardown(f, setup_rcs, teardown)
#define BCS8(f) cmocka_unit_test_setup_teardown(f, setup_bcs_gen8, teardown)

#endif
