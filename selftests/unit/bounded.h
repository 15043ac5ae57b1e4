/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every test case of a cmocka program is bounded by itself (bounded_helper.c): GHYVI_CASE_SECONDS,
 * 0 for no bound.
 */
#ifndef BOUNDED_H
#define BOUNDED_H

/*
 * The clock starts, and case @name is what runs from here on; NULL: no case, and no bound. @name
 * stays.
 */
void bound_case(const char *name);

#endif
