/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_UNIT_RULE_H
#define GHYVI_UNIT_RULE_H

#include <stdio.h>
#include <stdlib.h>

/*
 * Aborts if the code under test breaks a rule of a fake or fuzz target. Also usable where cmocka's
 * assertions are not.
 */
#define ASSERT(c)                                                                             \
	do {                                                                                  \
		if (!(c)) {                                                                   \
			fprintf(stderr, "rule broken: %s (%s:%d)\n", #c, __FILE__, __LINE__); \
			abort();                                                              \
		}                                                                             \
	} while (0)

#endif
