/* SPDX-License-Identifier: GPL-2.0-only */
/* Workloads with which the VMM does something to a vGPU. They use the fixture (attack.h). */
#ifndef FUZZ_WORK_H
#define FUZZ_WORK_H

struct context;

#define BATCH_LIMIT_US 3000u /* semaphores and jumps may never end */
#define DISPATCH_LIMIT_US 20000u /* a process is made for the first one */

/* Executes a kernel on the execution units. */
void work_dispatch(void);
/* Submits commands that mostly wait, and lets the engine begin. */
struct context *work_begin(void);
/* Lets them end. */
void work_end(struct context *context);
/* Declares stores to tables: a multicall. */
void work_declare(void);

#endif
