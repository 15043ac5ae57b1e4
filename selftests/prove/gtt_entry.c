// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation of an entry: kernel/gtt/leaf.c and spt.c.
 *
 * Bounds: none for entries, levels, addresses, limits and errors. One entry is translated. A group
 * of 64 KiB has its 16 pages. Pins, 2 MiB pages, and in above() the look-up and creation of a
 * shadow page are replaced by what internal.h promises of them: any result, any error. What is
 * proved of pins by themselves is in gtt_pins.c and gtt_refs.c.
 */
#include "prove.h"
#include <gtt/leaf.c>
#include <gtt/spt.c>

static struct ghyvi_gtt gtt;
static struct ghyvi_stats stats;
static struct ghyvi_table_page table;
static struct ghyvi_tree tree;
static struct ghyvi_shadow_page child;
static struct ghyvi_large large;
static struct ghyvi_pin pin;
static dma_addr_t dmas[GHYVI_PTES_PER_64K]; /* of the pages that the entry maps */
static u64 guest_entry, first_gfn, pages;
static bool is_pinned, hides_table; /* one of these pages is a table page */
static int held; /* references that translation took on what the shadow entry maps */

static int any_error(void)
{
	return -(int)any_in(1, MAX_ERRNO);
}

/* An address in the guest's pages: not that of a scratch page or table. */
static dma_addr_t any_dma(void)
{
	dma_addr_t dma = nondet_u64() & GHYVI_SHADOW_ADDRESS_MASK;
	unsigned int level;

	for (level = 0; level < GHYVI_LEVELS; level++)
		assume(dma != gtt.scratch_dma[level]);
	return dma;
}

struct ghyvi_pin *contract_ghyvi_pin_find(struct ghyvi_gtt *any, u64 gfn)
{
	prove(gfn == first_gfn && pages == 1);
	return is_pinned ? &pin : NULL;
}

bool contract_ghyvi_pin_is_table(const struct ghyvi_pin *any)
{
	prove(is_pinned && any == &pin);
	return hides_table;
}

struct ghyvi_pin *contract_ghyvi_pin_hold(struct ghyvi_gtt *any, struct ghyvi_pin *old)
{
	prove(is_pinned && old == &pin);
	held++;
	return old;
}

struct ghyvi_pin *contract_ghyvi_pin_create(struct ghyvi_gtt *any, u64 gfn,
					    struct ghyvi_table_page *updating)
{
	prove(gfn == first_gfn && pages == 1 && !is_pinned);
	/* Only entries of the GGTT are in the pGPU before they are published. */
	prove(updating == (ghyvi_table_is_ggtt(&table) ? &table : NULL));
	if (nondet_bool())
		return ERR_PTR(any_error());
	held++;
	return &pin;
}

dma_addr_t contract_ghyvi_pin_dma(const struct ghyvi_pin *any)
{
	prove(any == &pin && held == 1);
	return dmas[0];
}

/* All references or none. The addresses may be contiguous, but need not be. */
int contract_ghyvi_pages_get(struct ghyvi_gtt *any, u64 gfn, unsigned int count, dma_addr_t *first)
{
	prove(gfn == first_gfn && count == pages && !(gfn % count));
	if (nondet_bool())
		return any_error();
	held++;
	return nondet_bool();
}

const dma_addr_t *contract_ghyvi_pin_dmas(struct ghyvi_gtt *any, u64 gfn)
{
	prove(gfn == first_gfn && held == 1);
	return dmas;
}

struct ghyvi_large *contract_ghyvi_large_get(struct ghyvi_gtt *any, u64 gfn)
{
	prove(gfn == first_gfn && pages == GHYVI_ENTRIES && !(gfn % pages));
	if (nondet_bool())
		return ERR_PTR(any_error());
	held++;
	return &large;
}

struct ghyvi_shadow_page *contract_ghyvi_shadow_get(struct ghyvi_gtt *any, u64 gfn,
						    unsigned int level, struct ghyvi_tree *of)
{
	prove(gfn == ghyvi_entry_gfn(guest_entry) && !pages && of == &tree);
	if (nondet_bool())
		return ERR_PTR(any_error());
	child.level = level;
	held++;
	return &child;
}

/* The first table page in a range. */
void *contract_xa_find(struct xarray *xa, unsigned long *index, unsigned long last, int filter)
{
	prove(xa == &gtt.tables);
	prove(*index == first_gfn && last == first_gfn + pages - 1);
	return hides_table ? &table : NULL;
}

void *contract_xa_find_after(struct xarray *xa, unsigned long *index, unsigned long last,
			     int filter)
{
	return NULL;
}

/* An entry that maps @bytes, or a table if that is 0. */
static void any_state(u64 bytes)
{
	unsigned int i;

	guest_entry = nondet_u64();
	pages = bytes / GHYVI_PAGE_BYTES;
	if (pages)
		first_gfn = round_down((guest_entry & GHYVI_GUEST_ADDRESS_MASK) >> 12, pages);
	for (i = 0; i < GHYVI_LEVELS; i++)
		gtt.scratch_dma[i] = nondet_u64() & GHYVI_SHADOW_ADDRESS_MASK;
	for (i = 0; i < GHYVI_PTES_PER_64K; i++)
		dmas[i] = any_dma();
	gtt.params.stats = &stats;
	gtt.params.pages_64k = nondet_bool();
	gtt.deferral.unbacked_left = nondet_u32();
	table.ggtt_page = nondet_bool() ? -1 : (int)any_bits(11);
	is_pinned = nondet_bool();
	hides_table = nondet_bool();
	child.dma = any_dma();
	large.dma = any_dma();
	large.table = nondet_bool() ? dmas : NULL;
	held = 0;
}

/* An entry of level PT, or of the GGTT, which has no write bit. */
void leaf(void)
{
	struct ghyvi_translation translation;
	u64 write;

	any_state(GHYVI_PAGE_BYTES);
	write = ghyvi_table_is_ggtt(&table) ? GHYVI_ENTRY_WRITE : guest_entry & GHYVI_ENTRY_WRITE;
	translation = leaf_translate(&gtt, guest_entry, &table);
	if (!(guest_entry & GHYVI_ENTRY_PRESENT)) {
		prove(!translation.entry && !translation.err && !held);
	} else if (!held) {
		prove(translation.entry == ghyvi_leaf_scratch(&gtt));
		prove(translation.err <= 0 && translation.err != -ENOSPC);
	} else {
		prove(held == 1 && !hides_table && !translation.err);
		prove(translation.entry == (dmas[0] | GHYVI_ENTRY_PRESENT | write));
	}
}

/* A group of 16 entries, from one of level PT_64K. */
void group(void)
{
	struct pte_group group;
	unsigned int i;

	any_state(64 << 10);
	group_translate(&gtt, guest_entry, &group);
	if (!(guest_entry & GHYVI_ENTRY_PRESENT))
		prove(group.whole && !group.err && !held);
	else if (!held)
		prove(!group.whole && group.err <= 0 && group.err != -ENOSPC);
	else
		prove(held == 1 && !hides_table && !group.err);
	for (i = 0; i < GHYVI_PTES_PER_64K; i++) {
		if (!(guest_entry & GHYVI_ENTRY_PRESENT))
			prove(!group.entries[i]);
		else if (!held)
			prove(group.entries[i] == ghyvi_leaf_scratch(&gtt));
		else
			prove(group.entries[i] ==
			      (dmas[i] | GHYVI_ENTRY_PRESENT | (guest_entry & GHYVI_ENTRY_WRITE)));
	}
}

/* An entry of level PD, PDP or PML4. That of a PD may map 2 MiB, that of a PDP never 1 GiB. */
void above(void)
{
	u64 write = GHYVI_ENTRY_WRITE, level = any_in(GHYVI_LEVEL_PD, GHYVI_LEVEL_PML4);
	struct ghyvi_translation translation;
	bool is_large;

	is_large = level == GHYVI_LEVEL_PD && nondet_bool();
	any_state(is_large ? GHYVI_ENTRIES * GHYVI_PAGE_BYTES : 0);
	assume(is_large == ghyvi_entry_is_large(level, guest_entry));
	write &= guest_entry;
	translation = ghyvi_entry_translate(&gtt, level, guest_entry, &tree);
	if (!(guest_entry & GHYVI_ENTRY_PRESENT)) {
		prove(!translation.entry && !translation.err && !held);
	} else if (!held) {
		prove(translation.entry ==
		      (gtt.scratch_dma[level - 1] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE));
		prove(translation.err <= 0 && translation.err != -ENOSPC);
	} else if (is_large) {
		prove(held == 1 && !hides_table && !translation.err);
		prove(translation.entry == (large.dma | GHYVI_ENTRY_PRESENT | write |
					    (large.table ? 0 : GHYVI_ENTRY_LARGE)));
	} else {
		prove(held == 1 && !translation.err);
		prove(level != GHYVI_LEVEL_PDP || !(guest_entry & GHYVI_ENTRY_LARGE));
		prove(translation.entry == (child.dma | GHYVI_ENTRY_PRESENT | write));
		prove(child.level == level - 1 ||
		      (child.level == GHYVI_LEVEL_PT_64K && level == GHYVI_LEVEL_PD &&
		       guest_entry & GHYVI_ENTRY_64K && gtt.params.pages_64k));
	}
}
