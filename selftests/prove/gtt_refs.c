// SPDX-License-Identifier: GPL-2.0-only
/*
 * References on pins: kernel/gtt/pins.c.
 *
 * Bounds: none for runs of entries in a block of 64 pages, nor for the state of the block. Each
 * proof is about any one page of it. The loops over the pages of a mask, refs_add(), refs_sub() and
 * pins_idle(), are replaced by what they do to this page, which is not proved here.
 */
#include "prove.h"
#include <gtt/pins.c>

/* No page has more references than a guest can have entries. */
#define MORE_MAX (1U << 31)

static struct ghyvi_gtt gtt;
static struct ghyvi_pin_block block;
static unsigned int page; /* any page of the block */
static u64 bit;

struct ghyvi_pin_block *contract_ghyvi_pin_block(struct ghyvi_gtt *any, u64 number)
{
	prove(number == block.number);
	return &block;
}

void contract_refs_add(struct ghyvi_pin_block *any, u64 pages, unsigned int count)
{
	if (pages & bit)
		block.extra_refs[page] += count;
	block.shared |= pages;
}

/* Of the other pages, any may have lost the last of their further references. */
void contract_refs_sub(struct ghyvi_pin_block *any, u64 pages, unsigned int count)
{
	u64 single = nondet_u64() & pages & ~bit;

	if (pages & bit) {
		prove(block.shared & bit && block.extra_refs[page] >= count);
		block.extra_refs[page] -= count;
		single |= block.extra_refs[page] ? 0 : bit;
	}
	block.shared &= ~single;
}

void contract_pins_idle(struct ghyvi_gtt *any, struct ghyvi_pin_block *of, u64 idle)
{
	block.idle |= idle;
	block.on_lru |= idle;
}

/* As the comment at the head of pins.c counts them. */
static u64 references(void)
{
	if (!(block.pinned & bit) || block.idle & bit)
		return 0;
	return 1 + (u64)block.extra_refs[page];
}

/* How many entries of @run map the page. */
static u64 uses(const struct ghyvi_pin_run *run)
{
	unsigned int first = run->gfn % GHYVI_PIN_BLOCK;

	if (!run->step)
		return page == first ? run->count : 0;
	return page >= first && page < first + run->count;
}

static struct ghyvi_pin_run any_run(void)
{
	struct ghyvi_pin_run run = { .gfn = any_bits(36), .step = nondet_bool() };

	run.count = (unsigned int)any_in(run.step ? 1 : 2, GHYVI_PIN_BLOCK);
	assume(!run.step || run.gfn % GHYVI_PIN_BLOCK + run.count <= GHYVI_PIN_BLOCK);
	block.number = run.gfn / GHYVI_PIN_BLOCK;
	block.pinned = nondet_u64();
	block.tables = nondet_u64();
	block.idle = nondet_u64() & block.pinned;
	block.shared = nondet_u64() & block.pinned & ~block.idle;
	block.on_lru = block.idle | (nondet_u64() & block.pinned);
	page = any_bits(6);
	bit = BIT_ULL(page);
	block.extra_refs[page] = block.shared & bit ? any_in(1, MORE_MAX) : 0;
	return run;
}

static void check_state(void)
{
	prove(!(block.idle & bit) || (block.pinned & bit && block.on_lru & bit));
	prove(!(block.shared & bit) || (block.pinned & ~block.idle & bit));
	prove(!(block.shared & bit) == !block.extra_refs[page]);
}

/* A run takes one reference for each entry, or none at all if a page is not pinned, or a table. */
void hold(void)
{
	struct ghyvi_pin_run run = any_run();
	u64 before = references();
	const dma_addr_t *dma = ghyvi_pins_hold(&gtt, &run);

	check_state();
	if (!dma) {
		prove(references() == before);
		return;
	}
	prove(dma == &block.dma[run.gfn % GHYVI_PIN_BLOCK]);
	prove(references() == before + uses(&run));
	prove(!uses(&run) || (block.pinned & ~block.tables & bit));
}

/* The entries of a run drop what each of them holds. A page without references becomes idle. */
void put(void)
{
	struct ghyvi_pin_run run = any_run();
	u64 before = references(), first = run.gfn % GHYVI_PIN_BLOCK;
	u64 mask = (run.step ? U64_MAX >> (GHYVI_PIN_BLOCK - run.count) : 1) << first;

	assume(!(mask & ~(block.pinned & ~block.idle)));
	assume(run.step || block.shared & BIT_ULL(first));
	assume(before >= uses(&run));
	ghyvi_pins_put(&gtt, &run);
	check_state();
	prove(references() == before - uses(&run));
}
