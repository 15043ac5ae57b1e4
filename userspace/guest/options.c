// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "options.h"

unsigned long parse_number(struct argp_state *state, const char *text, unsigned long low,
			   unsigned long high)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (!*text || *end || value < low || value > high)
		argp_error(state, "'%s' is not a number from %lu to %lu", text, low, high);
	return value;
}
