// SPDX-License-Identifier: GPL-2.0-only
/* GGTT entries in BAR 0, PPGTT trees in memory, and notifications of trees to the host. */
#include <string.h>

#include "guest_env.h"

#define ROOT_LEVELS_3 1u
#define ROOT_LEVELS_4 2u

uint32_t window_start, window_bytes, window_limit = UINT32_MAX;

static uint32_t ggtt_next;
static uint8_t roots[MACHINE_PAGES]; /* ROOT_LEVELS_* of the trees that the host knows, by root */

void ggtt_write(uint32_t address, uint64_t entry)
{
	machine_store(&machine.ggtt[address / PAGE_BYTES], entry, 8);
}

void ggtt_reset(void)
{
	uint32_t address;

	window_start = machine_read(PVINFO_HIDDEN_BASE);
	window_bytes = machine_read(PVINFO_HIDDEN_BYTES);
	if (window_bytes > window_limit)
		window_bytes = window_limit;
	/*
	 * Attacks may write to all of the table, but the host ignores entries outside of the
	 * window.
	 */
	for (address = window_start; address - window_start < window_bytes; address += PAGE_BYTES)
		if (machine.ggtt[address / PAGE_BYTES])
			ggtt_write(address, 0);
	ggtt_next = window_start;
	machine_write(GGTT_FLUSH, 1, 4);
}

uint32_t ggtt_map(uint64_t gpa)
{
	uint32_t address = ggtt_next;

	if (address - window_start >= window_bytes)
		give_up("the window of the global address space is full");
	ggtt_write(address, entry_of(gpa));
	ggtt_next += PAGE_BYTES;
	return address;
}

struct tables tables_make(void)
{
	return (struct tables){ .root = take_page() };
}

static volatile uint64_t *entries_below(volatile uint64_t *entry)
{
	unsigned int page;

	if (!(*entry & ENTRY_PRESENT)) {
		page = take_page();
		entry_write(entry, entry_of(machine.gpa[page]));
		return page_at(page);
	}
	for (page = 0; page < PAGES; page++)
		if (machine.gpa[page] == (*entry & ENTRY_ADDRESS))
			return page_at(page);
	give_up("an upper-level entry does not point to a table");
}

volatile uint64_t *tables_entry(const struct tables *tables, uint64_t address, unsigned int level)
{
	volatile uint64_t *entries = page_at(tables->root);
	unsigned int at;

	for (at = LEVELS; at > level; at--)
		entries = entries_below(&entries[address >> (12 + 9 * (at - 1)) & (ENTRIES - 1)]);
	return &entries[address >> (12 + 9 * (at - 1)) & (ENTRIES - 1)];
}

void tables_map(const struct tables *tables, uint64_t address, uint64_t gpa)
{
	entry_write(tables_entry(tables, address, 1), entry_of(gpa));
}

static void write_pdp(unsigned int i, uint64_t gpa)
{
	machine_write(PVINFO_PDP0 + 8 * i, (uint32_t)gpa, 4);
	machine_write(PVINFO_PDP0 + 8 * i + 4, gpa >> 32, 4);
}

static void notify(unsigned int page, unsigned int levels, uint32_t message)
{
	for (unsigned int i = 0; i < (levels == 3 ? 4 : 1); i++)
		write_pdp(i, machine.gpa[(page + i) % PAGES]);
	machine_write(PVINFO_NOTIFY, message, 4);
}

void directories_announce(uint64_t address)
{
	for (unsigned int i = 0; i < 4; i++)
		write_pdp(i, address);
	machine_write(PVINFO_NOTIFY, VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE, 4);
}

void root_used(unsigned int page, unsigned int levels)
{
	roots[page] |= levels == 3 ? ROOT_LEVELS_3 : ROOT_LEVELS_4;
}

void root_announce(unsigned int page, unsigned int levels)
{
	notify(page, levels,
	       levels == 3 ? VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE :
			     VGT_G2V_PPGTT_L4_PAGE_TABLE_CREATE);
	root_used(page, levels);
}

void roots_retire(void)
{
	for (unsigned int page = 0; page < MACHINE_PAGES; page++) {
		if (roots[page] & ROOT_LEVELS_3)
			notify(page, 3, VGT_G2V_PPGTT_L3_PAGE_TABLE_DESTROY);
		if (roots[page] & ROOT_LEVELS_4)
			notify(page, 4, VGT_G2V_PPGTT_L4_PAGE_TABLE_DESTROY);
		roots[page] = 0;
	}
}
