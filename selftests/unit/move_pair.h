/* SPDX-License-Identifier: GPL-2.0-only */
/* Two hosts, and a guest on the first of them, whose vGPU the other can take over. */
#ifndef MOVE_PAIR_H
#define MOVE_PAIR_H

#include "move_fixture.h"

extern struct move_host from, to;

int pair_setup(void **state);
int pair_teardown(void **state);
/* Pause the vGPU. Returns its state, to be freed by the caller. */
void *pair_save(struct move_host *host, size_t *bytes);
/* Returns what ghyvi_vgpu_load() returns. ASan sees reads beyond the end of @state. */
int pair_load(struct move_host *host, const void *state, size_t bytes);
/* Move the vGPU from @from to @to, where it goes on. */
void pair_move(void);

#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, pair_setup, pair_teardown)

#endif
