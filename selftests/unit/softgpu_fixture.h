/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A software pGPU with one client: a ring and status pages in the GGTT, a batch and data in the
 * PPGTT. Tests write commands, run a job on a real engine thread, and look at memory.
 */
#ifndef SOFTGPU_FIXTURE_H
#define SOFTGPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/io.h>
#include <linux/err.h>
#include <ghyvi/audit.h>
#include <softgpu/engine.h>
#include <softgpu/softgpu.h>

#define REGISTERS_BYTES 0x200000u
#define MAX_PAGES 4096
#define GUEST_PAGES 16384u

/* GGTT layout. What is not listed is not present. */
#define GGTT_BYTES 0x100000u
#define RING_GGTT 0x10000u
#define RING_BYTES 0x4000u
#define CONTEXT_GGTT 0x20000u
#define HWSP_GGTT 0x30000u
#define DATA_GGTT 0x40000u
#define INDIRECT_GGTT 0x50000u
#define HOLE_GGTT 0x90000u
#define OUTSIDE_GGTT 0x200000u

/* PPGTT layout. */
#define BATCH 0x100000ULL
#define BATCH_PAGES 16
#define BATCH2 (BATCH + 0x4000)
#define BATCH3 (BATCH + 0x8000)
#define DATA 0xffff00200000ULL /* as an address above 4 GiB, where i915 puts things */
#define DATA_PAGES 64
#define READ_ONLY 0x300000ULL
#define SCRATCH 0x301000ULL
#define HOLE 0x400000ULL

struct rig {
	struct ghyvi_client_owner owner;
	struct ghyvi_audit_owner audit_owner; /* see softgpu_audited.h */
	struct softgpu *gpu;
	struct ghyvi_pgpu_client *client;
	struct ghyvi_client_params params;
	struct ghyvi_reporter reporter;
	struct ghyvi_stats stats;
	struct device dev;
	u32 *registers;

	u8 *ring, *pphwsp, *hwsp, *ggtt_data, *indirect; /* GGTT */
	u32 *batch, *batch2, *batch3; /* PPGTT */
	u8 *data, *read_only, *scratch;
	u64 *pml4;

	void *blocks[64];
	unsigned int nr_blocks;
	u64 owned[MAX_PAGES];
	unsigned int nr_owned;

	/*
	 * Nested: the same tables with guest-physical addresses, and a core that maps pages on
	 * faults.
	 */
	u64 *guest_ggtt;
	u64 guest_bus[GUEST_PAGES]; /* guest page -> host page, 0: no memory */
	u32 mapped[GUEST_PAGES]; /* 0, or grows with time */
	unsigned int nr_guest, nr_mapped,
		map_limit; /* the last: pages that may be mapped at once */
	struct xarray guest_of; /* host page -> guest page */
	pthread_mutex_t gtt; /* the core's, which is held over invalidate */
	atomic_t faults;
	void (*in_fault)(struct rig *rig, u64 gfn);
	_Atomic int fault_status; /* of the last fault, of any engine */
	_Atomic bool fault_is_slow; /* faults remain in progress */

	u32 context[GHYVI_CTX_DWORDS];
	struct ghyvi_job job;
	struct softgpu_job backend;
	u32 tail;
	sem_t done;
	enum ghyvi_job_status status;
	atomic_t interrupts, notifies;
};

u8 *rig_alloc(struct rig *rig, unsigned int pages);

/* An engine in software uses the host's address of a page as it is. */
int rig_map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind);

/* The level-1 entry of @address; tables are made on the way. */
u64 *rig_entry(struct rig *rig, u64 address);
void rig_map(struct rig *rig, u64 address, void *p, unsigned int pages, u64 flags);
u8 *rig_ppgtt(struct rig *rig, u64 address, unsigned int pages, u64 flags);
u8 *rig_ggtt(struct rig *rig, u64 address, unsigned int pages);

/* The entry of level 2 that @address is translated with. */
u64 *rig_directory_entry(struct rig *rig, u64 address);

/* A page of 2 MiB. */
u8 *rig_large(struct rig *rig, u64 address, u64 flags);
struct rig *rig_of(struct ghyvi_job *job);

/* Unmap a guest page as the core does. Caller holds rig->gtt. */
void rig_unmap_guest(struct rig *rig, u64 gfn);

/* Returns the guest page that represents host page @p; numbers start at 1. */
u64 rig_gfn(struct rig *rig, const void *p);

/*
 * Make jobs nested from now on. The shadow tables become guest tables, and no page is owned or
 * mapped.
 */
void rig_nest(struct rig *rig);
struct rig *rig_new(unsigned int gen);
void rig_free(struct rig *rig);
int rig_setup(void **state);
int rig_setup_gen8(void **state);
int rig_teardown(void **state);

/* Commands into the ring, with wrapping. */
#define ring(rig, ...) \
	ring_emit(rig, (const u32[]){ __VA_ARGS__ }, sizeof((const u32[]){ __VA_ARGS__ }) / 4)
void ring_emit(struct rig *rig, const u32 *dwords, unsigned int count);
void ring_pad(struct rig *rig);
#define WALKER 0x7105000du
#define WALKER_DWORDS 15
/* A dispatch, padded. */
void ring_walker(struct rig *rig);
void rig_start(struct rig *rig);
/* Start a batch that stores 1 to the data for ever, and return when it has done so once. */
void rig_start_endless(struct rig *rig);
enum ghyvi_job_status rig_wait(struct rig *rig);
enum ghyvi_job_status rig_run(struct rig *rig);
/* The job, which has no end of its own, ends so. */
void rig_preempt(struct rig *rig);
void rig_cancel(struct rig *rig);

/* Empty the ring. */
void rig_reset(struct rig *rig);

#define batch(p, ...) memcpy(p, (const u32[]){ __VA_ARGS__ }, sizeof((const u32[]){ __VA_ARGS__ }))

#define LOW(a) ((u32)(a))
#define HIGH(a) ((u32)((u64)(a) >> 32))
#define ADDRESS(a) LOW(a), HIGH(a)

#define MI(opcode, length) ((u32)(opcode) << 23 | (length))
#define MI_NOOP 0
#define MI_USER_INTERRUPT MI(0x02, 0)
#define MI_ARB_OFF MI(0x08, 0)
#define MI_ARB_ON MI(0x08, 1)
#define MI_BATCH_END MI(0x0a, 0)
#define MI_BATCH_START (MI(0x31, 1) | 1 << 8)
#define MI_BATCH_START_GGTT MI(0x31, 1)
#define MI_SECOND_LEVEL (1 << 22)
#define MI_PREDICATED (1 << 15)
#define MI_ADD_OFFSET (1 << 16)
#define MI_SET_PREDICATE(enable) MI(0x01, enable)
#define PREDICATE_RESULT_1 0x241c
#define MI_GGTT (1 << 22)
#define MI_STORE MI(0x20, 2)
#define MI_STORE_QWORD (MI(0x20, 3) | 1 << 21)
#define MI_LRI(n) MI(0x22, 2 * (n)-1)
#define MI_SRM MI(0x24, 2)
#define MI_LRM MI(0x29, 2)
#define MI_LRR MI(0x2a, 1)
#define MI_SEMAPHORE(compare) (MI(0x1c, 2) | 1 << 15 | (compare) << 12)
#define PIPE_CONTROL 0x7a000004
#define FLUSH_DW(dwords) MI(0x26, (dwords)-2)
#define POST_IMMEDIATE (1 << 14)
#define POST_TIMESTAMP (3 << 14)
#define STORE_INDEX (1 << 21)
#define NOTIFY (1 << 8)
#define GPR(n) (0x2600 + 8 * (n))
#define RCS 0x2000 /* register bases */
#define BCS 0x22000
#define SECOND_HZ 12000000 /* timestamp ticks of Gen9 */

/* A register of the context that runs on @engine; or one of the register file. */
u32 *rig_register(struct rig *rig, enum ghyvi_engine_id engine, u32 offset);

static inline u32 data32(struct rig *rig, u32 offset)
{
	return READ_ONCE(*(u32 *)(rig->data + offset));
}

static inline u64 data64(struct rig *rig, u32 offset)
{
	return READ_ONCE(*(u64 *)(rig->data + offset));
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

/* Run one batch with user rights; the ring ends after it. */
enum ghyvi_job_status rig_run_batch(struct rig *rig);
/* Begin with an empty ring, and run one dispatch. */
enum ghyvi_job_status rig_run_walker(struct rig *rig);
const char *rig_reason(struct rig *rig);

/* General-purpose register @n, as the context saved it; and a command that loads it. */
u64 gpr(struct rig *rig, unsigned int n);
void load_gpr(struct rig *rig, unsigned int n, u64 value);

/* Run the ring, which must fail with @reason or complete; the ring is empty afterwards. */
void assert_error(struct rig *rig, const char *reason);
void assert_completes(struct rig *rig);

#endif
