/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest that can move between hosts: its memory is there once; each host has a software pGPU with
 * engine threads, a scheduler and one vGPU, with the whole core except KVM and VFIO.
 */
#ifndef MOVE_FIXTURE_H
#define MOVE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include <ghyvi/gen8_regs.h>
#include "softgpu/softgpu.h"
#include "vgpu/vgpu.h"

#define MOVE_RAM_GPA 0x1000000ull
#define MOVE_RAM_PAGES 64u
#define MOVE_BAR0_GPA 0xc0000000ull
#define MOVE_WINDOW (256u << 20)
#define MOVE_WINDOW_BYTES (4u << 20)

/* Pages of guest memory. Page n is at n * 4 KiB in the PPGTT, in the GGTT behind MOVE_WINDOW. */
enum {
	MOVE_PML4 = 1,
	MOVE_PDP,
	MOVE_PD,
	MOVE_PT,
	MOVE_STATUS = 8, /* one per engine */
	MOVE_IMAGES = 12, /* two per context */
	MOVE_RINGS = 24,
	MOVE_BATCHES = 32, /* one per context */
	MOVE_DATA = 40,
};

struct move_host {
	struct ghyvi_hv hv;
	struct softgpu *gpu;
	struct ghyvi_pgpu_ops ops; /* of @gpu; a test may replace some */
	struct ghyvi_sched *sched;
	struct ghyvi_vgpu *vgpu;
	struct ghyvi_stats stats;
	struct ghyvi_reporter reporter;
	struct device dev;
	_Atomic u32 pins[MOVE_RAM_PAGES];
	_Atomic u32 pinned; /* calls of pin() */
	_Atomic u32 interrupts;
	bool protects; /* pages can be protected; stores are not reported even so */
};

extern u8 *move_ram;

/* A host with a vGPU. Changes of @params, which may be NULL, apply before it is created. */
void move_host_begin(struct move_host *host, void (*change)(struct ghyvi_vgpu_params *params));
/* Asserts that nothing is pinned any more. */
void move_host_end(struct move_host *host);
const char *move_report(struct move_host *host);

/* The guest: its tables, status pages, contexts and rings are built for @host's vGPU. */
void move_guest_begin(struct move_host *host);
/* Only the registers and the GGTT of @host's vGPU, which shares the rest with another one. */
void move_vgpu_begin(struct move_host *host);
u32 *move_page(unsigned int page);
static inline u32 move_ggtt(unsigned int page)
{
	return MOVE_WINDOW + page * GHYVI_PAGE_BYTES;
}
u64 move_descriptor(unsigned int context);
void move_wr(struct move_host *host, u32 offset, u32 value);
u32 move_rd(struct move_host *host, u32 offset);
/* The guest's store to a register that it has mapped, and that traps (ghyvi_vgpu_try_remap()). */
void move_store(struct move_host *host, u32 offset, u32 value);
/* Append commands to the ring of @context, and to its batch. */
void move_ring(unsigned int context, unsigned int count, const u32 *dwords);
void move_batch(unsigned int context, unsigned int count, const u32 *dwords);
void move_submit(struct move_host *host, enum ghyvi_engine_id engine, unsigned int context);
/* Wait for up to ten seconds until the dword at @at has the value. */
void move_await(const u32 *at, u32 value);
void move_await_idle(struct move_host *host, enum ghyvi_engine_id engine);
/* Dword @i of data page @page. */
static inline u32 *move_data(unsigned int page, unsigned int i)
{
	return move_page(MOVE_DATA + page) + i;
}

/*
 * Start the context with the number of the engine, and wait until it is in the middle of its batch:
 * it has stored 1 and 2 to dwords 1 and 2 of its data page, and waits until dword 0 is 1. Then it
 * stores what it had in a register, 0x1234, to dword 3, leaves the batch and stores 4 to dword 4.
 * @user: the batch is one of user space
 */
void move_begin_waiting(struct move_host *host, enum ghyvi_engine_id engine, bool user);
/* Let it go on, and wait until it is complete. */
void move_end_waiting(struct move_host *host, enum ghyvi_engine_id engine);

#define MOVE_RING(context, ...) \
	move_ring(context, sizeof((const u32[]){ __VA_ARGS__ }) / 4, (const u32[]){ __VA_ARGS__ })
#define MOVE_BATCH(context, ...) \
	move_batch(context, sizeof((const u32[]){ __VA_ARGS__ }) / 4, (const u32[]){ __VA_ARGS__ })

/* Commands on dword @i of data page @page of the PPGTT. */
#define MOVE_AT(page, i) ((MOVE_DATA + (page)) * GHYVI_PAGE_BYTES + 4 * (i))
#define MOVE_STORE(page, i, value) 0x20u << 23 | 2, MOVE_AT(page, i), 0, value
#define MOVE_AWAIT(page, i, value) 0x1cu << 23 | 2 | BIT(15) | 4 << 12, value, MOVE_AT(page, i), 0
#define MOVE_LOAD(reg, value) 0x22u << 23 | 1, reg, value
#define MOVE_SAVE(reg, page, i) 0x24u << 23 | 2, reg, MOVE_AT(page, i), 0
#define MOVE_BATCH_END 0x0au << 23, 0
/* A batch of the guest's kernel, in the GGTT. */
#define MOVE_CALL(context) \
	0x31u << 23 | 1, MOVE_WINDOW + (MOVE_BATCHES + (context)) * GHYVI_PAGE_BYTES, 0, 0
/* A batch of user space, in the PPGTT. */
#define MOVE_CALL_USER(context) \
	0x31u << 23 | 1 | BIT(8), (MOVE_BATCHES + (context)) * GHYVI_PAGE_BYTES, 0, 0
#define MOVE_INTERRUPT 2u << 23, 0

#endif
