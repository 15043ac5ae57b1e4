// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest pages of 2 MiB that shadow entries map. Their 512 pins are taken and released together. If
 * their DMA addresses are contiguous and aligned, the shadow entry maps one 2 MiB page. Otherwise
 * it points to a table of the host's own with 4 KiB entries. All entries that map the same guest
 * page share that table, so a guest cannot multiply tables. The entries that point to it carry the
 * write permission.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "entries.h"
#include "pins.h"

static int large_split(struct ghyvi_gtt *gtt, struct ghyvi_large *large)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin *pin;
	unsigned int i;
	int ret;

	large->table = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!large->table)
		return -ENOMEM;
	ret = p->pgpu_ops->map_page(p->client, virt_to_phys(large->table), GHYVI_PAGE_TABLE,
				    &large->dma);
	if (ret) {
		free_page((unsigned long)large->table);
		return ret;
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
	int ret;

	large = kzalloc(sizeof(*large), GFP_KERNEL_ACCOUNT);
	if (!large)
		return ERR_PTR(-ENOMEM);
	large->gfn = gfn;
	INIT_LIST_HEAD(&large->dying);
	ret = ghyvi_pages_get(gtt, gfn, GHYVI_ENTRIES, &large->dma);
	if (ret < 0)
		goto err_free;
	ret = ret ? 0 : large_split(gtt, large);
	if (ret)
		goto err_unpin;
	large_count(gtt, large, 1);
	ret = xa_err(xa_store(&gtt->larges, gfn, large, GFP_KERNEL_ACCOUNT));
	if (ret) {
		large_destroy(gtt, large); /* no entry refers to it yet */
		return ERR_PTR(ret);
	}
	return large;

err_unpin:
	ghyvi_pages_put(gtt, gfn, GHYVI_ENTRIES);
err_free:
	kfree(large);
	return ERR_PTR(ret);
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

u64 ghyvi_large_entry(const struct ghyvi_large *large)
{
	return large->dma | GHYVI_ENTRY_PRESENT | (large->table ? 0 : GHYVI_ENTRY_LARGE);
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
