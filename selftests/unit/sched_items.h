/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduler with its own threads and the real clock, on a pGPU whose jobs end when the test says
 * so. An item is a workload that counts what the scheduler does with it.
 */
#ifndef SCHED_ITEMS_H
#define SCHED_ITEMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include <ghyvi/sched.h>

#define WORKLOADS 8

struct item {
	struct ghyvi_workload base;
	int number;
	void (*in_complete)(struct item *item);
	_Atomic int completed;
	_Atomic int status;
	_Atomic bool off_limits; /* cancelled: must not reach an engine any more */
	u32 context[GHYVI_CTX_DWORDS];
};

struct items_gpu {
	pthread_mutex_t lock;
	struct ghyvi_job *running[GHYVI_ENGINES];
	int run_error, update_error;
	_Atomic int cancels, preempts;
	_Atomic int updates;
	void (*in_update)(void);
	int order[1000];
	_Atomic int runs;
	bool never_begins; /* jobs return without having begun */
	void (*before_run)(void); /* in run(), with the engine's lock held */
	void (*in_cancel)(void);
};
extern struct items_gpu gpu;
extern struct ghyvi_sched *sched;
extern struct ghyvi_stats stats;
extern struct ghyvi_reporter reporter;
extern struct device device;
extern struct item items[WORKLOADS];

/* Take the job off @engine. Returns NULL if there is none. */
struct ghyvi_job *gpu_take(enum ghyvi_engine_id engine);
void wait_for(_Atomic int *counter);
void wait_for_runs(int runs);

#define PATIENCE_MS 10000

/* Waits for at most PATIENCE_MS. Returns whether @counter has become @value. */
bool becomes(_Atomic int *counter, int value);

/* Returns the number of the item that ran as the @n-th. */
int ran(int n);

/* The job on @engine ends with @status. Returns its item. */
struct item *gpu_leave(enum ghyvi_engine_id engine, enum ghyvi_job_status status);

/* As gpu_leave(), and wait until the item is completed. */
void gpu_finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status);
int setup(void **state);
int teardown(void **state);
void queue(int i);
struct ghyvi_sched_entity *give_owner(struct item *item);

/* Queue item @i and kick the engine. */
void submit_to(enum ghyvi_engine_id engine, int i);
void submit(int i);
void set_timeouts(u32 timeslice_us, u32 preempt_timeout_us);

extern _Atomic int go;

void wait_to_go(struct item *item);

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
