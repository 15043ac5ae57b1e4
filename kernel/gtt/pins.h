/* SPDX-License-Identifier: GPL-2.0-only */
/* Pins of guest pages. Locking as in gtt_types.h. */
#ifndef GHYVI_GTT_PINS_H
#define GHYVI_GTT_PINS_H

#include "gtt_types.h"

/* pins.c */
/*
 * Pin @gfn through the hypervisor. On -ENOMEM unmap half of the pages mapped for nested jobs,
 * release the idle pins and try again.
 */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *hpa);
/* Look up a block by its number and cache it in gtt->block_cache. Returns NULL if there is none. */
struct ghyvi_pin_block *ghyvi_pin_block(struct ghyvi_gtt *gtt, u64 number);
/* Find the first pin in [*@gfn, @last] and set *@gfn to its page. Returns NULL if there is none. */
struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last);
/* Pin a page that is not pinned. Returns the pin with one reference, or an ERR_PTR. */
struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn);
void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn);
/* Record in the pin of @gfn, if there is one, whether the guest page is a table page. */
void ghyvi_pin_table(struct ghyvi_gtt *gtt, u64 gfn, bool table);
/*
 * Take a reference for each entry of @run if all its pages are pinned already and none is a table
 * page. Returns the DMA address of the first page, followed by those of the next ones, or NULL.
 */
const dma_addr_t *ghyvi_pins_hold(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run);
/* Drop a reference for each entry of @run. */
void ghyvi_pins_put(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run);
/*
 * Take a reference on each of @count pages (a power of two) from @gfn on (a multiple of it), or on
 * none. Returns 1 if their DMA addresses are contiguous and aligned to their total size, so that
 * the GPU can use them as one page at *@first; 0 if they are not; or a negative errno.
 */
int ghyvi_pages_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, dma_addr_t *first);
/* Drop these references; @count may be any multiple of GHYVI_PIN_BLOCK. */
void ghyvi_pages_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count);
/*
 * Release the oldest idle pins until at most @keep are left. The caller has invalidated the pGPU
 * since these pins became idle, or since nothing that maps them could be reached.
 */
void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep);

/* Returns the pin of @gfn, or NULL if the page is not pinned. */
static inline struct ghyvi_pin *ghyvi_pin_find(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK);

	if (!block || !(block->pinned & BIT_ULL(gfn % GHYVI_PIN_BLOCK)))
		return NULL;
	return &block->pins[gfn % GHYVI_PIN_BLOCK];
}

/* The DMA addresses of the pinned page @gfn and of those after it in its block. */
static inline const dma_addr_t *ghyvi_pin_dmas(struct ghyvi_gtt *gtt, u64 gfn)
{
	return ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK)->dma + gfn % GHYVI_PIN_BLOCK;
}

static inline bool ghyvi_pin_is_idle(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->idle & BIT_ULL(pin->slot);
}

/* Returns true if the guest page is also a table page. */
static inline bool ghyvi_pin_is_table(const struct ghyvi_pin *pin)
{
	return ghyvi_pin_block_of(pin)->tables & BIT_ULL(pin->slot);
}

/* Take another reference on a pin, which may be idle. */
static inline struct ghyvi_pin *ghyvi_pin_hold(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block_of(pin);
	u64 bit = BIT_ULL(pin->slot);

	if (block->idle & bit) {
		block->idle &= ~bit;
		gtt->nr_idle_pins--;
	} else {
		block->shared |= bit;
		block->more[pin->slot]++;
	}
	return pin;
}

/*
 * Take a reference on the pin of @gfn, and pin the page first if necessary. Returns it or an
 * ERR_PTR.
 */
static inline struct ghyvi_pin *ghyvi_pin_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	return pin ? ghyvi_pin_hold(gtt, pin) : ghyvi_pin_create(gtt, gfn);
}

#endif
