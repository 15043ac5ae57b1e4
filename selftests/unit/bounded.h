/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every test case of a cmocka program is bounded by itself (bounded_helper.c): GHYVI_CASE_SECONDS,
 * 0 for no bound.
 */
#ifndef BOUNDED_H
#define BOUNDED_H

/*
 * Start the clock of case @name, or stop it if @name is NULL. The string must stay valid.
 */
void bound_case(const char *name);

#endif
