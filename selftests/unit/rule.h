/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_UNIT_RULE_H
#define GHYVI_UNIT_RULE_H

#include <stdio.h>
#include <stdlib.h>

/*
 * What a fake or a fuzz target demands of the code under test: also where cmocka's assertions
 * cannot be.
 */
#define ASSERT(c)                                                                             \
	do {                                                                                  \
		if (!(c)) {                                                                   \
			fprintf(stderr, "rule broken: %s (%s:%d)\n", #c, __FILE__, __LINE__); \
			abort();                                                              \
		}                                                                             \
	} while (0)

#endif
