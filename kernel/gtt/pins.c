// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins of the guest pages that shadow entries map: one pin per page, with a reference per entry. A
 * page that no entry maps stays pinned for some time, because drivers unbind and rebind the same
 * pages. Binding such a page again usually costs no more than a counter: the pin is found without a
 * search and stays on the list of idle pins.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "dirty_log.h"
#include "pins.h"
#include "tables.h"
#include "trees.h"

static struct ghyvi_pin_block **cached_block(struct ghyvi_gtt *gtt, u64 number)
{
	return &gtt->block_cache[number % GHYVI_BLOCK_CACHE_SLOTS];
}

struct ghyvi_pin_block *ghyvi_pin_block(struct ghyvi_gtt *gtt, u64 number)
{
	struct ghyvi_pin_block **near = cached_block(gtt, number);

	if (!*near || (*near)->number != number)
		*near = xa_load(&gtt->pin_blocks, number);
	return *near;
}

static struct ghyvi_pin *pin_of(struct ghyvi_pin_block *block, u64 gfn)
{
	return &block->pins[gfn % GHYVI_PIN_BLOCK];
}

/* Get the block of @gfn for one more pin, and allocate it if necessary. NULL if memory is short. */
static struct ghyvi_pin_block *block_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK);

	if (!block) {
		block = kzalloc(sizeof(*block), GFP_KERNEL_ACCOUNT);
		if (!block)
			return NULL;
		block->number = gfn / GHYVI_PIN_BLOCK;
		if (xa_err(xa_store(&gtt->pin_blocks, block->number, block, GFP_KERNEL_ACCOUNT))) {
			kfree(block);
			return NULL;
		}
	}
	block->used++;
	return block;
}

static void block_put(struct ghyvi_gtt *gtt, struct ghyvi_pin_block *block)
{
	struct ghyvi_pin_block **near = cached_block(gtt, block->number);

	if (--block->used)
		return;
	if (*near == block)
		*near = NULL;
	xa_erase(&gtt->pin_blocks, block->number);
	kfree(block);
}

static void pin_free(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	list_del(&pin->idle);
	gtt->nr_idle_pins--;
	ghyvi_dirty_unpin(gtt, pin);
	pin->pinned = false;
	p->pgpu_ops->unmap_page(p->client, pin->dma);
	p->hv->ops->unpin(p->hv, ghyvi_pin_gfn(pin));
	atomic64_dec(&p->stats->pinned_pages_now);
	block_put(gtt, ghyvi_pin_block_of(pin));
}

/* Idle pins count against RLIMIT_MEMLOCK, so they are released before -ENOMEM is returned. */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *hpa)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_table_page *updating = gtt->ggtt_updating;
	int ret;

	lockdep_assert_held(&gtt->lock);
	ret = p->hv->ops->pin(p->hv, gfn, hpa);
	if (ret == -ENOMEM && (gtt->nr_idle_pins || gtt->nr_mapped_pins)) {
		/* Only half: the walk that needs this page has just mapped the tables above it. */
		ghyvi_nested_evict(gtt, (gtt->nr_mapped_pins + 1) / 2);
		/*
		 * The update in progress may have replaced shadow entries that the pGPU still has.
		 * Publish them before their pins are released; more entries of this table page may
		 * follow.
		 */
		if (updating)
			ghyvi_ggtt_publish(gtt, updating, 0, GHYVI_ENTRIES - 1);
		gtt->ggtt_updating = updating;
		ghyvi_gtt_invalidate(gtt);
		ghyvi_pins_trim(gtt, 0);
		ret = p->hv->ops->pin(p->hv, gfn, hpa);
	}
	return ret;
}

struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin_block *block;
	struct ghyvi_pin *pin;
	dma_addr_t dma;
	u64 hpa;
	int ret;

	/* Pinning comes first because a guest can make it fail at will. */
	ret = ghyvi_pin_page(gtt, gfn, &hpa);
	if (ret)
		goto err;
	ret = p->pgpu_ops->map_page(p->client, hpa, GHYVI_PAGE_DATA, &dma);
	if (ret)
		goto err_unpin;
	block = block_get(gtt, gfn);
	if (!block) {
		ret = -ENOMEM;
		goto err_unmap;
	}
	pin = pin_of(block, gfn);
	pin->hpa = hpa;
	pin->dma = dma;
	pin->slot = gfn % GHYVI_PIN_BLOCK;
	pin->refs = 1;
	pin->pinned = true;
	pin->table = ghyvi_tables_in(gtt, gfn, 1);
	pin->again = false;
	INIT_LIST_HEAD(&pin->idle);
	INIT_LIST_HEAD(&pin->mapped);
	atomic64_inc(&p->stats->pinned_pages_now);
	return pin;

err_unmap:
	p->pgpu_ops->unmap_page(p->client, dma);
err_unpin:
	p->hv->ops->unpin(p->hv, gfn);
err:
	ghyvi_count(p->stats, pin_failures);
	return ERR_PTR(ret);
}

struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last)
{
	unsigned long number = *gfn / GHYVI_PIN_BLOCK;
	struct ghyvi_pin_block *block;

	lockdep_assert_held(&gtt->lock);
	while ((block = xa_find(&gtt->pin_blocks, &number, last / GHYVI_PIN_BLOCK, XA_PRESENT))) {
		*gfn = max_t(u64, *gfn, number * GHYVI_PIN_BLOCK);
		for (; *gfn <= last && *gfn / GHYVI_PIN_BLOCK == number; ++*gfn)
			if (pin_of(block, *gfn)->pinned)
				return pin_of(block, *gfn);
		number++;
	}
	return NULL;
}

static void pin_drop(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (WARN_ON_ONCE(!pin || !pin->pinned || !pin->refs))
		return;
	if (--pin->refs)
		return;
	gtt->nr_idle_pins++;
	if (list_empty(&pin->idle))
		list_add_tail(&pin->idle, &gtt->idle_pins);
	else
		pin->again = true;
}

void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn)
{
	pin_drop(gtt, ghyvi_pin_find(gtt, gfn));
}

void ghyvi_pin_table(struct ghyvi_gtt *gtt, u64 gfn, bool table)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);

	lockdep_assert_held(&gtt->lock);
	if (pin)
		pin->table = table;
}

/*
 * Returns the slot of @gfn's pin, which may be unused, or NULL if there is no block for it. @before
 * is the slot of the previous page, or NULL.
 */
static struct ghyvi_pin *pin_place(struct ghyvi_gtt *gtt, u64 gfn, struct ghyvi_pin *before)
{
	struct ghyvi_pin_block *block;

	if (before && gfn % GHYVI_PIN_BLOCK)
		return before + 1;
	block = ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK);
	return block ? pin_of(block, gfn) : NULL;
}

int ghyvi_pins_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, dma_addr_t *dma)
{
	struct ghyvi_pin *pin = NULL;
	bool contiguous = true;
	unsigned int i;

	for (i = 0; i < count; i++) {
		pin = pin_place(gtt, gfn + i, pin);
		pin = pin && pin->pinned ? ghyvi_pin_hold(gtt, pin) :
					   ghyvi_pin_create(gtt, gfn + i);
		if (IS_ERR(pin)) {
			ghyvi_pins_put(gtt, gfn, i);
			return PTR_ERR(pin);
		}
		if (!i)
			*dma = pin->dma;
		contiguous &= pin->dma == *dma + i * GHYVI_PAGE_BYTES;
	}
	cond_resched();
	return contiguous && IS_ALIGNED(*dma, (u64)count * GHYVI_PAGE_BYTES);
}

void ghyvi_pins_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count)
{
	struct ghyvi_pin *pin = NULL;
	unsigned int i;

	for (i = 0; i < count; i++) {
		pin = pin_place(gtt, gfn + i, pin);
		pin_drop(gtt, pin);
	}
}

/*
 * The list is not reordered when a pin is used, which would cost more than the use itself. Instead,
 * a pin that was used and became idle again gets a second chance here.
 */
static void trim_oldest(struct ghyvi_gtt *gtt)
{
	struct ghyvi_pin *pin = list_first_entry(&gtt->idle_pins, struct ghyvi_pin, idle);
	bool again = pin->again;

	pin->again = false;
	if (pin->refs)
		list_del_init(&pin->idle);
	else if (again)
		list_move_tail(&pin->idle, &gtt->idle_pins);
	else
		pin_free(gtt, pin);
}

void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep)
{
	lockdep_assert_held(&gtt->lock);
	while (gtt->nr_idle_pins > keep) {
		trim_oldest(gtt);
		cond_resched();
	}
}
