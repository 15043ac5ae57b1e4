/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user-space headers need of Judy arrays to compile. No proof calls these functions. */
#ifndef PROVE_JUDY_H
#define PROVE_JUDY_H

typedef void *Pvoid_t;
typedef void **PPvoid_t;
typedef unsigned long Word_t;

PPvoid_t JudyLGet(const void *array, Word_t index, void *error);
PPvoid_t JudyLIns(Pvoid_t *array, Word_t index, void *error);
int JudyLDel(Pvoid_t *array, Word_t index, void *error);
PPvoid_t JudyLFirst(const void *array, Word_t *index, void *error);
Word_t JudyLFreeArray(Pvoid_t *array, void *error);

#endif
