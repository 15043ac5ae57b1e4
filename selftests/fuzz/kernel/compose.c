// SPDX-License-Identifier: GPL-2.0-only
/* Batches of any commands: see commands.h. */
#include <string.h>

#include "attack.h"
#include "choices.h"
#include "commands.h"

#define TABLE_COMMANDS 12u

uint32_t any_address(void)
{
	return FIXTURE_DATA + 8 * below(DATA_PAGES * PAGE_BYTES / 8);
}

uint32_t any_dword(void)
{
	switch (below(5)) {
	case 0:
		return 0;
	case 1:
		return any_address();
	case 2:
		return take(1);
	case 3:
		return (uint32_t)FIXTURE_BATCH + 4 * take(1);
	default:
		return take(4);
	}
}

/* Commands of the tables first: their kinds are more than a stream's. */
void batch_compose(const struct engine *engine, uint32_t *page)
{
	struct random random = { 1 };
	unsigned int at = 0;

	memset(page, 0, PAGE_BYTES);
	for (unsigned int n = below(TABLE_COMMANDS); n; n--)
		at += command_any(engine->id, page + at);
	stream_write(&random, engine, page + at);
}
