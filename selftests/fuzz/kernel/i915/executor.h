/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_I915_EXECUTOR_H
#define FUZZ_I915_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "choices.h"

#define OBJECTS 16u
#define WILD 16u /* one argument of this many is invalid */

/* ---- calls.c: the file of this input and what it has ---- */

extern int drm;
/* Opens a file of the driver and makes a few objects. Returns false if it cannot. */
bool calls_begin(void);
/* Makes one ioctl, or accesses a mapping. */
void call_any(void);
/* Waits for the batches of this input, and closes the file. */
void calls_end(void);

/* Handles of objects. The first are those of batch.c. */
uint32_t any_object(void);
uint32_t object_make(uint64_t bytes);
uint32_t any_context(void);
uint32_t any_syncobj(void);
/* A sync_file, or another file; -1: there is none. */
int any_fd(void);
void keep_fd(int fd);

/* ---- batch.c: objects with commands, and their submission ---- */

void batches_begin(void);
void submit_any(void);
void batches_wait(void);

/* ---- commands.c: any command of the auditor's tables ---- */

#define COMMAND_DWORDS 40u

/* Writes a command of an engine (enum engine_id) to @dw, and returns its length in dwords. */
unsigned int command_any(unsigned int engine, uint32_t *dw);
/* An address in the object with data, and what may be one. */
uint32_t any_address(void);
uint32_t any_dword(void);

#endif
