// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins by themselves: kernel/gtt/pins.c.
 *
 * Bounds: none for the state of the block that has the page, addresses, limits and errors. One page
 * is pinned, or released. Nothing is mapped for nested jobs, and no writes are logged. The
 * hypervisor, the pGPU and the memory allocator may refuse anything, with any error.
 */
#include "prove.h"
#include <gtt/pins.c>

static struct ghyvi_gtt gtt;
static struct ghyvi_stats stats;
static struct ghyvi_table_page ggtt_page;
static struct ghyvi_table_page *updating;
static struct ghyvi_pin_block block;
static bool published, invalidated, is_table, block_freed;
static int pinned, mapped; /* by the hypervisor and in the pGPU: the page that is being pinned */
static u64 page_gfn;
static dma_addr_t page_dma;

static int any_error(void)
{
	return -(int)any_in(1, MAX_ERRNO);
}

static int pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	prove(gfn == page_gfn && !pinned);
	if (nondet_bool())
		return any_error();
	pinned++;
	*hpa = nondet_u64();
	return 0;
}

static void unpin(struct ghyvi_hv *hv, u64 gfn)
{
	prove(gfn == page_gfn && pinned == 1 && !mapped); /* the pin outlives the mapping */
	pinned--;
}

static int map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
		    dma_addr_t *dma)
{
	prove(pinned == 1 && !mapped && kind == GHYVI_PAGE_DATA);
	if (nondet_bool())
		return any_error();
	mapped++;
	*dma = page_dma;
	return 0;
}

static void unmap_page(struct ghyvi_pgpu_client *client, dma_addr_t dma)
{
	prove(dma == page_dma && mapped == 1);
	mapped--;
}

static void invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	invalidated = true;
}

void ghyvi_aperture_unmap(struct ghyvi_gtt *any)
{
}

static const struct ghyvi_hv_ops hv_ops = { .pin = pin, .unpin = unpin };
static struct ghyvi_hv hv = { &hv_ops };
static const struct ghyvi_pgpu_ops pgpu_ops = { .map_page = map_page,
						.unmap_page = unmap_page,
						.invalidate = invalidate };

/* Without a page of the GGTT, all that the pGPU has was published before. */
void contract_ghyvi_ggtt_publish(struct ghyvi_gtt *any, struct ghyvi_table_page *table,
				 unsigned int first, unsigned int last)
{
	prove(table == updating && table && !first && last == GHYVI_ENTRIES - 1);
	published = true;
}

void contract_ghyvi_pins_trim(struct ghyvi_gtt *any, u32 keep)
{
	/* No engine uses an idle page any more: its entries are replaced, in the pGPU, too. */
	prove(invalidated && published == !!updating && !keep);
}

struct ghyvi_pin_block *contract_block_get(struct ghyvi_gtt *any, u64 gfn)
{
	prove(gfn == page_gfn);
	return nondet_bool() ? &block : NULL;
}

void *contract_xa_find(struct xarray *xa, unsigned long *index, unsigned long last, int filter)
{
	prove(xa == &gtt.tables && *index == page_gfn && last == page_gfn);
	return is_table ? &ggtt_page : NULL;
}

/* All pins are of one block, and the order of the list does not matter. */
struct ghyvi_pin_block *contract_ghyvi_pin_block_of(const struct ghyvi_pin *any)
{
	return &block;
}

void contract_list_del(struct list_head *node)
{
}

void contract_list_del_init(struct list_head *node)
{
}

void contract_list_move_tail(struct list_head *node, struct list_head *list)
{
}

void contract_block_free(struct ghyvi_gtt *any, struct ghyvi_pin_block *empty)
{
	prove(empty == &block && !block.pinned && !block_freed);
	block_freed = true;
}

static void any_gtt(void)
{
	gtt.params.hv = &hv;
	gtt.params.pgpu_ops = &pgpu_ops;
	gtt.params.stats = &stats;
	block.number = any_bits(30);
}

/* Any state that the comment at the head of pins.c allows. */
static void any_block(void)
{
	block.pinned = nondet_u64();
	block.tables = nondet_u64();
	block.idle = nondet_u64() & block.pinned;
	block.shared = nondet_u64() & block.pinned & ~block.idle;
	block.on_lru = (nondet_u64() & block.pinned) | block.idle;
	block.second_chance = nondet_u64() & block.on_lru;
}

/* A page is pinned and mapped once if it has got a pin, and not at all if not. */
void create(void)
{
	unsigned int slot = any_bits(6);
	u64 bit = BIT_ULL(slot), others;
	struct ghyvi_pin *created;

	any_gtt();
	any_block();
	gtt.nr_idle_pins = nondet_u32();
	updating = nondet_bool() ? &ggtt_page : NULL;
	is_table = nondet_bool();
	page_gfn = block.number * GHYVI_PIN_BLOCK + slot;
	page_dma = nondet_u64();
	assume(!(block.pinned & bit));
	others = block.pinned;
	created = ghyvi_pin_create(&gtt, page_gfn, updating);
	if (IS_ERR(created)) {
		prove(PTR_ERR(created) < 0 && PTR_ERR(created) >= -MAX_ERRNO);
		prove(!pinned && !mapped && block.pinned == others);
		return;
	}
	prove(pinned == 1 && mapped == 1 && block.pinned == (others | bit));
	prove(created == &block.pins[slot] && created->slot == slot);
	prove(block.dma[slot] == page_dma);
	prove(!(block.idle & bit) && !(block.shared & bit));
	prove(!!(block.tables & bit) == is_table);
}

/* References of the page @slot, as the comment at the head of pins.c counts them. */
static u64 references(unsigned int slot)
{
	u64 bit = BIT_ULL(slot);

	if (!(block.pinned & bit) || block.idle & bit)
		return 0;
	return 1 + (u64)(block.shared & bit ? block.extra_refs[slot] : 0);
}

/* Only a page without references is released, and the pGPU unmaps it before it is unpinned. */
void trim(void)
{
	unsigned int slot = any_bits(6);
	u64 bit = BIT_ULL(slot), others, before;

	any_gtt();
	any_block();
	page_gfn = block.number * GHYVI_PIN_BLOCK + slot;
	page_dma = block.dma[slot] = nondet_u64();
	block.pins[slot].slot = slot;
	block.extra_refs[slot] = nondet_u32();
	assume(block.on_lru & bit);
	gtt.nr_idle_pins = nondet_u32();
	gtt.idle_pins.next = &block.pins[slot].lru_node;
	pinned = mapped = 1;
	before = references(slot);
	others = block.pinned & ~bit;
	trim_oldest(&gtt);
	prove(pinned == mapped && pinned == !!(block.pinned & bit));
	prove(pinned || !before);
	prove(!pinned || references(slot) == before);
	prove((block.pinned & ~bit) == others && !block_freed == !!block.pinned);
	prove(!(block.idle & bit) || block.on_lru & bit);
}
