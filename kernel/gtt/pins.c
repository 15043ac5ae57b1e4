// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins of the guest pages that shadow entries map: one pin per page, with a reference per entry. A
 * page that no entry maps stays pinned for some time, because drivers unbind and rebind the same
 * pages. Binding such a page again usually costs no more than a bit: the pin is found without a
 * search and stays on the list of idle pins.
 *
 * A block is the pins of 64 neighbouring pages. Its seven masks say what state each page is in:
 *
 *	pinned idle shared  references      on the list of idle pins (@on_lru)
 *	0      -    -       no pin          no
 *	1      1    0       none            yes; @second_chance: idle again since it was added
 *	1      0    0       one             yes if it was idle before and was not trimmed since
 *	1      0    1       1 + extra_refs  as with one
 *
 * @tables, beside these: the guest page is a table page, too, so entries do not map it any more.
 *
 * DOC: Pages that a VMM gives back
 *
 * A pin names the page that the guest has, as long as the VMM discards none under it. QEMU does
 * not: with a VFIO device it inhibits the balloon, free page reporting and postcopy, and virtio-mem
 * unmaps what it takes, which .dma_unmap() tells. x-balloon-allowed=on lifts that and is not
 * supported: a pin, idle or not, then keeps the old page while the guest's CPUs get a new one. The
 * guest harms itself only, because a pinned page does not become free.
 *
 * DOC: 2 MiB pages
 *
 * The 512 pins of a guest page of 2 MiB are taken and released together. If their DMA addresses are
 * contiguous and aligned, the shadow entry maps one 2 MiB page. Otherwise it points to a table of
 * the host's own with 4 KiB entries. All entries that map the same guest page share that table, so
 * a guest cannot multiply tables. The entries that point to it carry the write permission.
 *
 * Here is also what the release of a pin needs: the record of pages that the host has written.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "internal.h"

void ghyvi_dirty_record(struct ghyvi_gtt *gtt, u64 gfn)
{
	void *entry = xa_load(&gtt->dirty, gfn / GHYVI_DIRTY_BITS);
	unsigned long bits = entry ? xa_to_value(entry) : 0;

	lockdep_assert_held(&gtt->lock);
	if (bits & BIT(gfn % GHYVI_DIRTY_BITS))
		return;
	entry = xa_store(&gtt->dirty, gfn / GHYVI_DIRTY_BITS,
			 xa_mk_value(bits | BIT(gfn % GHYVI_DIRTY_BITS)), GFP_KERNEL_ACCOUNT);
	if (!xa_err(entry))
		return;
	gtt->log_lost = true;
	ghyvi_report(gtt->params.reporter,
		     "migration: no memory to log a page that the vGPU wrote; migrate again");
}

/* Get the block of @gfn, and allocate it if necessary. NULL if memory is short. */
static struct ghyvi_pin_block *block_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, gfn / GHYVI_PIN_BLOCK);

	if (block)
		return block;
	block = kzalloc(sizeof(*block), GFP_KERNEL_ACCOUNT);
	if (!block)
		return NULL;
	block->number = gfn / GHYVI_PIN_BLOCK;
	if (xa_err(xa_store(&gtt->pin_blocks, block->number, block, GFP_KERNEL_ACCOUNT))) {
		kfree(block);
		return NULL;
	}
	return block;
}

static void block_free(struct ghyvi_gtt *gtt, struct ghyvi_pin_block *block)
{
	struct ghyvi_pin_block **near = ghyvi_pin_block_cached(gtt, block->number);

	if (*near == block)
		*near = NULL;
	xa_erase(&gtt->pin_blocks, block->number);
	kfree(block);
}

static void pin_free(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block_of(pin);
	const struct ghyvi_gtt_params *p = &gtt->params;
	u64 bit = BIT_ULL(pin->slot);

	list_del(&pin->lru_node);
	block->on_lru &= ~bit;
	block->idle &= ~bit;
	gtt->nr_idle_pins--;
	ghyvi_dirty_unpin(gtt, pin);
	block->pinned &= ~bit;
	p->pgpu_ops->unmap_page(p->client, ghyvi_pin_dma(pin));
	p->hv->ops->unpin(p->hv, ghyvi_pin_gfn(pin));
	atomic64_dec(&p->stats->pinned_pages_now);
	if (!block->pinned)
		block_free(gtt, block);
}

/* Idle pins count against RLIMIT_MEMLOCK, so they are released before -ENOMEM is returned. */
int ghyvi_pin_page(struct ghyvi_gtt *gtt, u64 gfn, u64 *hpa, struct ghyvi_table_page *updating)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	int err;

	lockdep_assert_held(&gtt->lock);
	err = p->hv->ops->pin(p->hv, gfn, hpa);
	if (err == -ENOMEM && (gtt->nr_idle_pins || gtt->nr_mapped_pins)) {
		/* Only half: the walk that needs this page has just mapped the tables above it. */
		ghyvi_nested_evict(gtt, (gtt->nr_mapped_pins + 1) / 2);
		/*
		 * The update in progress may have replaced shadow entries that the pGPU still has.
		 * Publish them before their pins are released; more entries of this table page may
		 * follow.
		 */
		if (updating)
			ghyvi_ggtt_publish(gtt, updating, 0, GHYVI_ENTRIES - 1);
		ghyvi_gtt_invalidate(gtt);
		ghyvi_pins_trim(gtt, 0);
		err = p->hv->ops->pin(p->hv, gfn, hpa);
	}
	return err;
}

struct ghyvi_pin *ghyvi_pin_create(struct ghyvi_gtt *gtt, u64 gfn,
				   struct ghyvi_table_page *updating)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin_block *block;
	struct ghyvi_pin *pin;
	unsigned int slot;
	dma_addr_t dma;
	u64 hpa;
	int err;

	/* Pinning comes first because a guest can make it fail at will. */
	err = ghyvi_pin_page(gtt, gfn, &hpa, updating);
	if (err)
		goto err_count;
	err = p->pgpu_ops->map_page(p->client, hpa, GHYVI_PAGE_DATA, &dma);
	if (err)
		goto err_unpin;
	block = block_get(gtt, gfn);
	if (!block) {
		err = -ENOMEM;
		goto err_unmap;
	}
	slot = gfn % GHYVI_PIN_BLOCK;
	block->pinned |= BIT_ULL(slot);
	block->tables &= ~BIT_ULL(slot);
	if (ghyvi_tables_in(gtt, gfn, 1))
		block->tables |= BIT_ULL(slot);
	block->dma[slot] = dma;
	pin = &block->pins[slot];
	pin->hpa = hpa;
	pin->slot = slot;
	INIT_LIST_HEAD(&pin->lru_node);
	INIT_LIST_HEAD(&pin->mapped);
	atomic64_inc(&p->stats->pinned_pages_now);
	return pin;

err_unmap:
	p->pgpu_ops->unmap_page(p->client, dma);
err_unpin:
	p->hv->ops->unpin(p->hv, gfn);
err_count:
	ghyvi_count(p->stats, pin_failures);
	return ERR_PTR(err);
}

struct ghyvi_pin *ghyvi_pin_next(struct ghyvi_gtt *gtt, u64 *gfn, u64 last)
{
	unsigned long number = *gfn / GHYVI_PIN_BLOCK;
	struct ghyvi_pin_block *block;

	lockdep_assert_held(&gtt->lock);
	while ((block = xa_find(&gtt->pin_blocks, &number, last / GHYVI_PIN_BLOCK, XA_PRESENT))) {
		*gfn = max_t(u64, *gfn, number * GHYVI_PIN_BLOCK);
		for (; *gfn <= last && *gfn / GHYVI_PIN_BLOCK == number; ++*gfn)
			if (block->pinned & BIT_ULL(*gfn % GHYVI_PIN_BLOCK))
				return &block->pins[*gfn % GHYVI_PIN_BLOCK];
		number++;
	}
	return NULL;
}

void ghyvi_pin_set_table(struct ghyvi_gtt *gtt, u64 gfn, bool table)
{
	struct ghyvi_pin *pin = ghyvi_pin_find(gtt, gfn);
	struct ghyvi_pin_block *block;

	lockdep_assert_held(&gtt->lock);
	if (!pin)
		return;
	block = ghyvi_pin_block_of(pin);
	block->tables &= ~BIT_ULL(pin->slot);
	if (table)
		block->tables |= BIT_ULL(pin->slot);
}

/* The pages of @run, in the masks of its block. */
static u64 run_mask(const struct ghyvi_pin_run *run)
{
	u64 pages = run->step ? U64_MAX >> (GHYVI_PIN_BLOCK - run->count) : 1;

	return pages << run->gfn % GHYVI_PIN_BLOCK;
}

/* @count references, at least one, beyond the first one of each of @pages. */
static void refs_add(struct ghyvi_pin_block *block, u64 pages, unsigned int count)
{
	block->shared |= pages;
	for (; pages; pages &= pages - 1)
		block->extra_refs[__ffs(pages)] += count;
}

/* The reverse of refs_add(). */
static void refs_sub(struct ghyvi_pin_block *block, u64 pages, unsigned int count)
{
	unsigned int slot;

	for (; pages; pages &= pages - 1) {
		slot = __ffs(pages);
		block->extra_refs[slot] -= count;
		if (!block->extra_refs[slot])
			block->shared &= ~BIT_ULL(slot);
	}
}

const dma_addr_t *ghyvi_pins_hold(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, run->gfn / GHYVI_PIN_BLOCK);
	u64 mask = run_mask(run);

	if (!block || mask & ~(block->pinned & ~block->tables))
		return NULL;
	if (!run->step)
		refs_add(block, mask, run->count - 1);
	refs_add(block, mask & ~block->idle, 1);
	gtt->nr_idle_pins -= hweight64(block->idle & mask);
	block->idle &= ~mask;
	return block->dma + run->gfn % GHYVI_PIN_BLOCK;
}

/* @idle: pages of @block that have lost their last reference. */
static void pins_idle(struct ghyvi_gtt *gtt, struct ghyvi_pin_block *block, u64 idle)
{
	u64 new = idle & ~block->on_lru;

	block->idle |= idle;
	gtt->nr_idle_pins += hweight64(idle);
	block->second_chance |= idle & block->on_lru;
	block->on_lru |= new;
	for (; new; new &= new - 1)
		list_add_tail(&block->pins[__ffs(new)].lru_node, &gtt->idle_pins);
}

void ghyvi_pins_put(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run)
{
	struct ghyvi_pin_block *block = ghyvi_pin_block(gtt, run->gfn / GHYVI_PIN_BLOCK);
	u64 mask = run_mask(run), shared;

	if (WARN_ON_ONCE(!block || mask & (~block->pinned | block->idle)))
		return;
	if (!run->step)
		refs_sub(block, mask, run->count - 1);
	shared = mask & block->shared;
	refs_sub(block, shared, 1);
	if (mask & ~shared)
		pins_idle(gtt, block, mask & ~shared);
}

void ghyvi_pin_put(struct ghyvi_gtt *gtt, u64 gfn)
{
	ghyvi_pins_put(gtt, &(struct ghyvi_pin_run){ gfn, 1, 1 });
}

/* As ghyvi_pins_hold(), but pin the pages first if necessary. Returns an ERR_PTR if that fails. */
static const dma_addr_t *run_get(struct ghyvi_gtt *gtt, const struct ghyvi_pin_run *run)
{
	const dma_addr_t *dma = ghyvi_pins_hold(gtt, run);
	struct ghyvi_pin_run held = { run->gfn, 0, 1 };
	struct ghyvi_pin *pin;

	if (dma)
		return dma;
	for (; held.count < run->count; held.count++) {
		pin = ghyvi_pin_get(gtt, run->gfn + held.count);
		if (!IS_ERR(pin))
			continue;
		if (held.count)
			ghyvi_pins_put(gtt, &held);
		return ERR_CAST(pin);
	}
	return ghyvi_pin_dmas(gtt, run->gfn);
}

int ghyvi_pages_get(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count, dma_addr_t *first)
{
	struct ghyvi_pin_run run = { gfn, min(count, GHYVI_PIN_BLOCK), 1 };
	bool contiguous = true;
	const dma_addr_t *dma;
	unsigned int done, i;

	for (done = 0; done < count; done += run.count, run.gfn += run.count) {
		dma = run_get(gtt, &run);
		if (IS_ERR(dma)) {
			ghyvi_pages_put(gtt, gfn, done);
			return PTR_ERR(dma);
		}
		if (!done)
			*first = *dma;
		for (i = 0; i < run.count; i++)
			contiguous &= dma[i] == *first + (done + i) * GHYVI_PAGE_BYTES;
	}
	cond_resched();
	return contiguous && IS_ALIGNED(*first, (u64)count * GHYVI_PAGE_BYTES);
}

void ghyvi_pages_put(struct ghyvi_gtt *gtt, u64 gfn, unsigned int count)
{
	struct ghyvi_pin_run run = { gfn, min(count, GHYVI_PIN_BLOCK), 1 };
	unsigned int done;

	for (done = 0; done < count; done += run.count, run.gfn += run.count)
		ghyvi_pins_put(gtt, &run);
}

/*
 * The list is not reordered when a pin is used, which would cost more than the use itself. Instead,
 * a pin that was used and became idle again gets a second chance here.
 */
static void trim_oldest(struct ghyvi_gtt *gtt)
{
	struct ghyvi_pin *pin = list_first_entry(&gtt->idle_pins, struct ghyvi_pin, lru_node);
	struct ghyvi_pin_block *block = ghyvi_pin_block_of(pin);
	u64 bit = BIT_ULL(pin->slot);

	if (!(block->idle & bit)) {
		list_del_init(&pin->lru_node);
		block->on_lru &= ~bit;
	} else if (block->second_chance & bit) {
		list_move_tail(&pin->lru_node, &gtt->idle_pins);
	} else {
		pin_free(gtt, pin);
		return;
	}
	block->second_chance &= ~bit;
}

void ghyvi_pins_trim(struct ghyvi_gtt *gtt, u32 keep)
{
	lockdep_assert_held(&gtt->lock);
	while (gtt->nr_idle_pins > keep) {
		trim_oldest(gtt);
		cond_resched();
	}
}

static void pin_unmap(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (list_empty(&pin->mapped))
		return;
	ghyvi_aperture_remove_all(gtt);
	gtt->params.pgpu_ops->unmap_guest(gtt->params.client, ghyvi_pin_gfn(pin));
	list_del_init(&pin->mapped);
	gtt->nr_mapped_pins--;
	/* If the pin is idle now, it is released only after an invalidation. */
	ghyvi_pin_put(gtt, ghyvi_pin_gfn(pin));
}

struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin;
	int err;

	lockdep_assert_held(&gtt->lock);
	pin = ghyvi_pin_get(gtt, gfn);
	if (IS_ERR(pin))
		return pin;
	if (!list_empty(&pin->mapped)) {
		ghyvi_pin_put(gtt, gfn);
		return pin;
	}
	err = gtt->params.pgpu_ops->map_guest(gtt->params.client, gfn, ghyvi_pin_dma(pin));
	if (err) {
		ghyvi_pin_put(gtt, gfn);
		return ERR_PTR(err);
	}
	list_add_tail(&pin->mapped, &gtt->mapped_pins);
	gtt->nr_mapped_pins++;
	return pin;
}

void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count)
{
	lockdep_assert_held(&gtt->lock);
	while (count--)
		pin_unmap(gtt, list_first_entry(&gtt->mapped_pins, struct ghyvi_pin, mapped));
}

void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_pin *pin;
	u64 next;

	lockdep_assert_held(&gtt->lock);
	if (!gtt->nr_mapped_pins)
		return;
	for (next = gfn; (pin = ghyvi_pin_next(gtt, &next, gfn + count - 1)); next++)
		pin_unmap(gtt, pin);
}

static int large_split(struct ghyvi_gtt *gtt, struct ghyvi_large *large)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin *pin;
	unsigned int i;
	int err;

	large->table = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!large->table)
		return -ENOMEM;
	err = p->pgpu_ops->map_page(p->client, virt_to_phys(large->table), GHYVI_PAGE_TABLE,
				    &large->dma);
	if (err) {
		free_page((unsigned long)large->table);
		return err;
	}
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		pin = ghyvi_pin_find(gtt, large->gfn + i);
		large->table[i] = ghyvi_pin_dma(pin) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	}
	return 0;
}

static void large_count(struct ghyvi_gtt *gtt, const struct ghyvi_large *large, int by)
{
	struct ghyvi_stats *stats = gtt->params.stats;

	atomic64_add(by, large->table ? &stats->split_pages_now : &stats->large_pages_now);
}

static void large_destroy(struct ghyvi_gtt *gtt, struct ghyvi_large *large)
{
	large_count(gtt, large, -1);
	list_del(&large->dying);
	xa_erase(&gtt->larges, large->gfn);
	if (large->table) {
		gtt->params.pgpu_ops->unmap_page(gtt->params.client, large->dma);
		free_page((unsigned long)large->table);
	}
	ghyvi_pages_put(gtt, large->gfn, GHYVI_ENTRIES);
	kfree(large);
}

static struct ghyvi_large *large_create(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_large *large;
	int err, whole;

	large = kzalloc(sizeof(*large), GFP_KERNEL_ACCOUNT);
	if (!large)
		return ERR_PTR(-ENOMEM);
	large->gfn = gfn;
	INIT_LIST_HEAD(&large->dying);
	whole = ghyvi_pages_get(gtt, gfn, GHYVI_ENTRIES, &large->dma);
	err = min(whole, 0);
	if (err)
		goto err_free;
	err = whole ? 0 : large_split(gtt, large);
	if (err)
		goto err_unpin;
	large_count(gtt, large, 1);
	err = xa_err(xa_store(&gtt->larges, gfn, large, GFP_KERNEL_ACCOUNT));
	if (err) {
		large_destroy(gtt, large); /* no entry refers to it yet */
		return ERR_PTR(err);
	}
	return large;

err_unpin:
	ghyvi_pages_put(gtt, gfn, GHYVI_ENTRIES);
err_free:
	kfree(large);
	return ERR_PTR(err);
}

struct ghyvi_large *ghyvi_large_get(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_large *large = xa_load(&gtt->larges, gfn);

	lockdep_assert_held(&gtt->lock);
	if (!large) {
		large = large_create(gtt, gfn);
		if (IS_ERR(large))
			return large;
	}
	large->refs++;
	return large;
}

void ghyvi_large_put(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_large *large = xa_load(&gtt->larges, gfn);

	lockdep_assert_held(&gtt->lock);
	if (WARN_ON_ONCE(!large || !large->refs) || --large->refs)
		return;
	/*
	 * An engine may have cached the translation, and the guest may map the page again.
	 * ghyvi_larges_reap() decides.
	 */
	if (list_empty(&large->dying))
		list_add_tail(&large->dying, &gtt->dying_larges);
}

void ghyvi_larges_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_large *large, *next;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(large, next, &gtt->dying_larges, dying) {
		if (large->refs)
			list_del_init(&large->dying);
		else
			large_destroy(gtt, large);
		cond_resched();
	}
}
