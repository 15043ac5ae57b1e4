/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches for the hostile guest's fixture: its streams, and any command of the auditor's tables. */
#ifndef FUZZ_COMMANDS_H
#define FUZZ_COMMANDS_H

#include <stdint.h>

#define WILD 16u /* one argument of this many is invalid */

/* ---- commands.c ---- */

#define COMMAND_DWORDS 40u

/* Writes a command of an engine (enum engine_id) to @dw, and returns its length in dwords. */
unsigned int command_any(unsigned int engine, uint32_t *dw);

/* ---- compose.c ---- */

/* An address in the fixture's data, and what may be one. */
uint32_t any_address(void);
uint32_t any_dword(void);

struct engine;
/* Writes commands for @engine to @page, a page, and zeros after them. */
void batch_compose(const struct engine *engine, uint32_t *page);

#endif
