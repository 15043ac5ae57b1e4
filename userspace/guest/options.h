/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsing of command lines, shared by the guest programs. */
#ifndef GUEST_OPTIONS_H
#define GUEST_OPTIONS_H

#include <argp.h>

/* Parses a number from @low to @high; calls argp_error() otherwise. */
unsigned long parse_number(struct argp_state *state, const char *text, unsigned long low,
			   unsigned long high);

#endif
