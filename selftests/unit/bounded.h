/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every test case of a cmocka program is bounded by itself (bounded_helper.c): GHYVI_CASE_SECONDS,
 * 0 for no bound. These are seconds of CPU time, or in which all threads of the program sleep:
 * other work on the machine does not make a case fail.
 */
#ifndef BOUNDED_H
#define BOUNDED_H

/*
 * Start the clock of case @name, or stop it if @name is NULL. The string must stay valid.
 */
void bound_case(const char *name);

#endif
