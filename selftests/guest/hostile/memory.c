// SPDX-License-Identifier: GPL-2.0-only
/* Allocation of pages, and the canary pages. */
#include <string.h>

#include "guest_env.h"

#define CANARY_MIX 0x9e3779b97f4a7c15ull

static unsigned int next_page;

void memory_reset(void)
{
	/*
	 * Use machine_store() because the host may still track a page of an attack as a table page.
	 */
	for (unsigned int i = 0; i < next_page * (PAGE_BYTES / 8); i++) {
		volatile uint64_t *word = (volatile uint64_t *)machine.memory + i;

		if (*word)
			machine_store(word, 0, 8);
	}
	next_page = 0;
}

unsigned int take_page(void)
{
	if (next_page == PAGES)
		give_up("an attack needs more than %u pages", PAGES);
	return next_page++;
}

static uint64_t canary(size_t at)
{
	return (at + 1) * CANARY_MIX;
}

void canaries_plant(void)
{
	uint64_t *words = page_at(PAGES);

	for (size_t i = 0; i < (size_t)CANARIES * PAGE_BYTES / 8; i++)
		words[i] = canary(i);
}

unsigned int canaries_changed(unsigned int first, unsigned int count)
{
	const volatile uint64_t *words = page_at(PAGES);
	unsigned int changed = 0;

	for (unsigned int page = first; page < first + count; page++) {
		size_t at = (size_t)page * (PAGE_BYTES / 8), end = at + PAGE_BYTES / 8;

		while (at < end && words[at] == canary(at))
			at++;
		changed += at != end;
	}
	return changed;
}
