/* SPDX-License-Identifier: GPL-2.0-only */
/* What the guest programs' command lines have in common. */
#ifndef GUEST_OPTIONS_H
#define GUEST_OPTIONS_H

#include <argp.h>

/* A number from @low to @high, or argp_error(). */
unsigned long parse_number(struct argp_state *state, const char *text, unsigned long low,
			   unsigned long high);

#endif
