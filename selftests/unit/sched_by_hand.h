/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduler that acts only when the test does: clock and pGPU are the test's. Each player has one
 * workload. Callbacks of the scheduler assert its locks.
 */
#ifndef SCHED_BY_HAND_H
#define SCHED_BY_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"
#include "rule.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC

struct player {
	struct ghyvi_workload base;
	u32 context[GHYVI_CTX_DWORDS];
	struct ghyvi_sched_entity *entity;
	struct ghyvi_stats stats;
	_Atomic int completed;
	enum ghyvi_job_status status;
};

extern struct ghyvi_sched *sched;
extern struct player players[VGPUS];
extern u64 now;
extern u64 armed[GHYVI_ENGINES];

struct hand_gpu {
	struct ghyvi_job *job; /* on the engine */
	unsigned int runs, preempts, cancels;
	int run_result;
	unsigned int refusals; /* run() returns @run_result only so many times; 0: always */
	void (*in_cancel)(void);
};
extern struct hand_gpu gpu;

int setup(void **state);
void submit(unsigned int i);
/* 0 first */
void submit_both(void);

/* The job ran for @ns more and ends with @status. */
void leave(u64 ns, enum ghyvi_job_status status);

/* The timer fires, at the time that is armed or before. */
void fire(void);
void fire_after(u64 ns);

/* Run all queued workloads, and let the engine idle for long. */
void drain(void);
int teardown(void **state);
void assert_runs(unsigned int i);
void set_settings(u32 timeslice_us, u32 preempt_timeout_us);
void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority);

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
