/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts below the device model, as fakes: a GTT over flat memory, which replaces kernel/gtt; a
 * pGPU that keeps each job until the test finishes it; an interrupt that is counted.
 */
#ifndef VGPU_FAKE_H
#define VGPU_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include <ghyvi/gen8_regs.h>
#include "vgpu/vgpu.h"

#define HIDDEN_START (256u << 20)
#define HIDDEN_BYTES (8u << 20)
#define FAKE_HZ 10000000u

/* GTT */

struct ghyvi_root {
	u64 gpa;
	unsigned int levels;
	int refs;
};

/* Is the calling thread's memory charged to the guest? */
extern __thread int charged;

struct fake_gtt {
	pthread_mutex_t lock;
	/* Calls that may allocate, by threads whose memory is not charged. */
	_Atomic int uncharged, uncharged_reads, uncharged_writes;
	_Alignas(8) u8 memory[HIDDEN_BYTES]; /* what the hidden window maps */
	u64 unmapped_page; /* GGTT address of a page that is not mapped, or 0 */
	int live; /* created and not destroyed */
	int roots_live;
	int root_error;
	int move_error;
	struct ghyvi_range partition[2]; /* that the last move gave */
	int syncs, flushes, lives, forgets, forgets_all, resets, traps, losses, closes, logging,
		forgotten;
	struct ghyvi_root *last_sync;
	/* Another vCPU, right after a scan. */
	void (*after_sync)(void);
	void (*in_flush)(void);
	/* Another CPU, which sees the writes of the device model in their order. */
	void (*after_write)(u64 address, size_t bytes);
	void (*in_fault)(u64 gfn);
	void (*in_access)(void); /* of the host, to the GGTT */
	_Atomic int faults;
	u64 ggtt_gfn;
	u64 written; /* the guest page that the log has */
	int multicalls, multicall_error;
	u64 last_records;
	u32 last_count;
	u64 last_root;
	unsigned int last_levels;
};
extern struct fake_gtt gtt;

u8 *fake_memory(u64 address, size_t bytes);
u32 peek(u64 address);
void poke(u64 address, u32 value);

/* pGPU */

#define FAKE_THREADS 64

struct fake_gpu {
	pthread_mutex_t lock;
	struct ghyvi_job *running[GHYVI_ENGINES];
	u64 clock;
	int runs, cancels;
	int clients;
	int contexts, contexts_created, contexts_mapped;
	int contexts_max; /* 0: no limit */
	int prepares, unprepares, tails; /* calls; see fake_prepares_jobs() */
	int prepare_error;
	void (*in_prepare)(struct ghyvi_job *job);
	void (*in_update)(struct ghyvi_job *job);
	void (*in_unprepare)(struct ghyvi_job *job);
	bool stale; /* update_tail() comes too late */
	bool dead; /* run() fails */
	pthread_t threads[FAKE_THREADS]; /* that deliver cancelled jobs */
	unsigned int nr_threads;
	void (*on_return)(void); /* another vCPU, before a cancelled job is delivered */
};
extern struct fake_gpu gpu;

extern struct ghyvi_client_params client;

/* A context that is in a job is not destroyed: ASan would see it in fake_run() and finish(). */
struct fake_context {
	struct ghyvi_pgpu_context base;
	unsigned int jobs; /* that ran */
	bool mapped;
};

/* The fake's part of a job: the core must keep it across preemptions and clear it for a new job. */
struct fake_job {
	unsigned int level;
	u32 tail; /* that the core gave last; in the context only when the job is returned */
};

struct fake_job *fake_job(const struct ghyvi_job *job);

extern struct ghyvi_pgpu_device fake_pgpu;
/* A backend that prepares jobs, or (at first) one that need not. */
void fake_prepares_jobs(bool on);

/* Wait until cancelled jobs are delivered. */
void settle(void);
struct ghyvi_job *take_job(enum ghyvi_engine_id engine);
bool gpu_busy(enum ghyvi_engine_id engine);

/* The job, which take_job() returned, or which is on @engine, ends with @status. */
void finish_job(struct ghyvi_job *job, enum ghyvi_job_status status);
void finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status);

/* the vGPU */

extern struct ghyvi_stats stats;
extern struct ghyvi_reporter reporter;
extern struct device device;
extern atomic_t interrupts;
extern atomic_t events; /* calls of struct ghyvi_vgpu_params' @event */
extern s64 failsafes_at_event; /* the counter at the last one */
extern struct ghyvi_sched *sched;
extern struct ghyvi_vgpu *vgpu;

/*
 * Use the scheduler's own threads (timeouts, look-ahead, completions). Otherwise all runs in the
 * test's thread.
 */
extern bool sched_threads;
/* Without these threads: how far the scheduler's clock is ahead of the host's; 0 at first. */
extern u64 calm_ahead_ns;

/* The pages that the device model protects itself: registers in BAR 0. */
struct host_bar {
	u64 gfn; /* of BAR 0, when its pages were protected last */
	bool refuse;
	u32 users[GHYVI_REGISTER_PAGES]; /* of the protection of each page */
};
extern struct host_bar host_bar;

/* Is the page that contains @offset protected? */
bool host_protects(u32 offset);

/* The guest's interrupt handler. The device model's mutex may be held. */
extern void (*on_interrupt)(void);

/* Of vGPUs that are made from now on. */
extern struct ghyvi_range mappable;

struct ghyvi_vgpu *create_vgpu(const struct ghyvi_device_profile *profile);
int make_vgpu(const struct ghyvi_device_profile *profile);
int setup_gen9(void **state);
int setup_gen8(void **state);
int teardown(void **state);
/* What the guest sees in the memory of a register's page. */
u32 shown(u32 offset);
/* A store by the guest: memory changes first, and the store traps if the page is protected. */
void guest_stores(u32 offset, u64 value, unsigned int bytes);

/* The mirror shows the value of a trapped read, while the page is protected. */
u32 rd(u32 offset);
void wr(u32 offset, u32 value);
const char *last_report(void);

/* the display */

#define PIPE(reg) (GEN8_DE_PIPE_ISR_A + (reg))
#define USUAL_NS (NSEC_PER_SEC / 60) /* of a frame */
#define AUX_SEND                                                                       \
	(DP_AUX_CH_CTL_SEND_BUSY | DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR | \
	 DP_AUX_CH_CTL_RECEIVE_ERROR | DP_AUX_CH_CTL_INTERRUPT)

extern u64 now_ns;
/* The time is @now_ns until teardown_display(). */
void stop_clock(void);
/* Let time pass. Returns how many timers have expired. */
unsigned int pass(u64 ns);
/* stop_clock(), and a vGPU with a display whose interrupts are masked. */
int setup_gen9_display(void **state);
int setup_gen8_display(void **state);
int teardown_display(void **state);
/*
 * Send a message on the channel with this control register. Returns the size of the reply, or 0 if
 * there is none.
 */
unsigned int aux_by(u32 control, const u8 *message, unsigned int bytes, u8 *reply);

#endif
