/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduler on a clock and a pGPU that do nothing by themselves, for tests of single decisions
 * of a policy. The callbacks assert the locks that the scheduler promises to hold.
 */
#ifndef SCHED_DECIDE_H
#define SCHED_DECIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include "sched/sched_types.h"

#define VGPUS 3
#define MS NSEC_PER_MSEC
#define US 1000ULL
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

extern struct ghyvi_sched *sched;
extern struct sched_engine *engine;
extern struct ghyvi_workload workloads[VGPUS];
extern struct sched_rq *runs[VGPUS];
extern struct ghyvi_stats stats[VGPUS];
extern struct ghyvi_job *job; /* on the engine */
extern unsigned int preempts;
extern u64 now, armed;

int setup(void **state);
int teardown(void **state);
void queue(unsigned int i);
void submit(unsigned int i);

/* The job completes with @status after @ns more. */
void leave_as(u64 ns, enum ghyvi_job_status status);
void leave(u64 ns);
void fire_at(u64 at);
bool is_running(unsigned int i);
void set_knobs(unsigned int i, u32 weight, u32 cap, u32 priority);
void set_settings(u32 timeslice_us, u32 preempt_timeout_us);

#endif
