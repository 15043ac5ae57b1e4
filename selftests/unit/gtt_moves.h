/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of guest, host and GPU on a gtt, in any order, and an independent translation to
 * compare with after each sync. For random tests and fuzzing.
 */
#ifndef GTT_MOVES_H
#define GTT_MOVES_H

#include "gtt_fake.h"

/* Guest pages 1 to 14 are tables. Unless alias is set, the number says of which level. */
#define PML4(i) (1u + (i)) /* 0 and 1 */
#define PDP(i) (3u + (i)) /* 0 to 2 */
#define PD(i) (6u + (i)) /* 0 to 3 */
#define PT(i) (10u + (i)) /* 0 to 4 */
#define TABLES PT(5)
#define DATAS 40u
#define RECORDS_GFN 900u /* of multicall */

/*
 * Returns a number below @n: the source of all choices, which the program defines. Use one choice
 * per statement. Otherwise compilers may order the calls differently, and an input of a fuzzer
 * means different moves to different compilers.
 */
u32 rnd(u32 n);

/* Tables have no level of their own: any page may be a table of any level, and data. */
extern bool alias;
/* There are not enough table pages for all trees: those that are held may lack tables. */
extern bool few_tables;

/* Another vCPU stores to a table while the code under test runs; its trap waits for the lock. */
void racing_store(void);
void deliver(void);
void compare_everything(void);
void edit(void);
void root_operation(void);

/* One move of guest, host or GPU. */
void move(void);

#endif
