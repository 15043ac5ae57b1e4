/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A worker of the software pGPU as a thread of the test, by the functions that /dev/ghyvi-eu calls.
 * It executes no kernel: the test says what it answers.
 */
#ifndef COMPUTE_UNIT_H
#define COMPUTE_UNIT_H

#include <pthread.h>
#include <semaphore.h>
#include <linux/atomic.h>
#include <softgpu/workers.h>

struct unit {
	struct softgpu_worker *worker;
	pthread_t thread;
	struct task_struct task;
	atomic_t taken; /* how often its pages were taken away */
	atomic_t killed; /* how often its process was killed */
	void (*execute)(struct unit *unit, struct ghyvi_eu_next *next);
	struct ghyvi_eu_next seen; /* the last dispatch */
	struct softgpu_group
		*group; /* in progress: the dispatch's, and after @execute the answer's */
	struct softgpu_worker_fault fault;
	_Atomic unsigned int dispatches;
	sem_t go; /* for @execute */
	bool killed_next; /* its process is killed while it waits for the next dispatch */
	int end; /* what ended the thread */
};

/* @execute is called for each dispatch, which ends at once without it. */
void unit_start(struct unit *unit, void (*execute)(struct unit *, struct ghyvi_eu_next *));
/* The process ends. */
void unit_stop(struct unit *unit);
/* The thread ends by itself. */
void unit_join(struct unit *unit);
/* Answer that the dispatch has given way, within a group of so many bytes of this value. */
void unit_yield(struct unit *unit, struct ghyvi_eu_next *next, size_t bytes, u8 value);

#endif
