/* SPDX-License-Identifier: GPL-2.0-only */
/* One host whose guest can submit, for tests of a vGPU that stays where it is. */
#ifndef MOVE_ONE_H
#define MOVE_ONE_H

#include "move_fixture.h"

extern struct move_host host;

int one_setup(void **state);
int one_teardown(void **state);

#endif
