/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_I915_EXECUTOR_H
#define FUZZ_I915_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "choices.h"
#include "commands.h"

#define OBJECTS 16u

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

#endif
