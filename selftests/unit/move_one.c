// SPDX-License-Identifier: GPL-2.0-only
#include "move_one.h"

struct move_host host;

int one_setup(void **state)
{
	move_host_begin(&host, NULL);
	move_guest_begin(&host);
	return 0;
}

int one_teardown(void **state)
{
	move_host_end(&host);
	return 0;
}
