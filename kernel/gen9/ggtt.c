// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GGTT. Its entries outlive resets and drivers, so those of a range are written before the
 * range is used: with the scratch page, whose contents no one needs. No entry is ever invalid
 * then, which matters because command streamers fetch ahead.
 */
#include <linux/dma-mapping.h>
#include <linux/vmalloc.h>
#include "gen9.h"

#define ENTRY_ADDRESS GENMASK_ULL(38, 12)
/* Entries that are written with the lock held: lines of the write-combining buffer. */
#define FILL_ENTRIES 64u

u64 gen9_ggtt_entry(dma_addr_t dma)
{
	return (dma & ENTRY_ADDRESS) | GHYVI_ENTRY_PRESENT;
}

int gen9_backing_alloc(struct gen9 *gpu, struct gen9_backing *backing, gfp_t flags)
{
	struct device *dev = &gpu->pdev->dev;

	backing->page = alloc_page(flags | __GFP_ZERO);
	if (!backing->page)
		return -ENOMEM;
	backing->dma = dma_map_page(dev, backing->page, 0, GHYVI_PAGE_BYTES, DMA_BIDIRECTIONAL);
	if (!dma_mapping_error(dev, backing->dma))
		return 0;
	__free_page(backing->page);
	backing->page = NULL;
	return -ENOMEM;
}

void gen9_backing_free(struct gen9 *gpu, struct gen9_backing *backing)
{
	if (!backing->page)
		return;
	dma_unmap_page(&gpu->pdev->dev, backing->dma, GHYVI_PAGE_BYTES, DMA_BIDIRECTIONAL);
	__free_page(backing->page);
	backing->page = NULL;
}

static void write_entry(struct gen9 *gpu, u64 index, u64 entry)
{
	lockdep_assert_held(&gpu->ggtt_lock);
	if (gpu->ggtt[index] == entry)
		return;
	WRITE_ONCE(gpu->ggtt[index], entry); /* also read without the lock */
	writeq(entry, gpu->gtt + index);
	gpu->ggtt_dirty = true;
}

/*
 * Call it before the lock is released: another CPU's flush may come next, and it does not empty the
 * write-combining buffer of this one.
 */
static void drain_entries(struct gen9 *gpu)
{
	lockdep_assert_held(&gpu->ggtt_lock);
	wmb(); /* entries before the unlock, and so before that flush */
}

void gen9_ggtt_set(struct gen9 *gpu, u64 index, u64 entry)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->ggtt_lock, flags);
	write_entry(gpu, index, entry);
	drain_entries(gpu);
	spin_unlock_irqrestore(&gpu->ggtt_lock, flags);
}

void gen9_ggtt_fill(struct gen9 *gpu, u64 index, u64 count, dma_addr_t dma)
{
	u64 entry = gen9_ggtt_entry(dma), end = index + count, stop;
	unsigned long flags;

	while (index < end) {
		stop = min(index + FILL_ENTRIES, end);
		spin_lock_irqsave(&gpu->ggtt_lock, flags);
		for (; index < stop; index++)
			write_entry(gpu, index, entry);
		drain_entries(gpu);
		spin_unlock_irqrestore(&gpu->ggtt_lock, flags);
		cond_resched();
	}
}

void gen9_ggtt_set_scratch(struct gen9 *gpu, u64 index, u64 count)
{
	gen9_ggtt_fill(gpu, index, count, gpu->scratch[0].dma);
}

void gen9_ggtt_restore(struct gen9 *gpu)
{
	u64 index, entries = gpu->ggtt_bytes >> GHYVI_PAGE_SHIFT;
	unsigned long flags;

	for (index = 0; index < entries; index++) {
		if (!READ_ONCE(gpu->ggtt[index]))
			continue;
		spin_lock_irqsave(&gpu->ggtt_lock, flags);
		writeq(gpu->ggtt[index], gpu->gtt + index);
		gpu->ggtt_dirty = true;
		drain_entries(gpu);
		spin_unlock_irqrestore(&gpu->ggtt_lock, flags);
	}
}

/*
 * The write flushes the write-combining buffers and invalidates the GGTT's TLBs. It is posted, but
 * comes before later writes to registers.
 */
void gen9_ggtt_flush(struct gen9 *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->ggtt_lock, flags);
	if (gpu->ggtt_dirty) {
		gpu->ggtt_dirty = false;
		wmb(); /* entries before the flush */
		gen9_write(gpu, GFX_FLSH_CNTL_GEN6, 1);
	}
	spin_unlock_irqrestore(&gpu->ggtt_lock, flags);
}

/* A read waits for the flush, which an engine's submission may have written. */
void gen9_ggtt_flush_sync(struct gen9 *gpu)
{
	gen9_ggtt_flush(gpu);
	gen9_read(gpu, GFX_FLSH_CNTL_GEN6);
}

/* Tables of the PPGTT whose every address is the scratch page, without the right to write. */
static void fill_scratch_tables(struct gen9 *gpu)
{
	unsigned int level, i;

	for (level = 1; level < ARRAY_SIZE(gpu->scratch); level++) {
		u64 *entries = page_address(gpu->scratch[level].page);
		u64 flags = level == 1 ? GHYVI_ENTRY_PRESENT :
					 GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;

		for (i = 0; i < GHYVI_ENTRIES; i++)
			entries[i] = gpu->scratch[level - 1].dma | flags;
	}
}

static int ggtt_size(struct gen9 *gpu)
{
	unsigned int ggms;
	u16 control;

	pci_read_config_word(gpu->pdev, SNB_GMCH_CTRL, &control);
	ggms = control >> BDW_GMCH_GGMS_SHIFT & BDW_GMCH_GGMS_MASK;
	if (!ggms) {
		dev_err(&gpu->pdev->dev, "firmware has reserved no memory for the GGTT\n");
		return -ENODEV;
	}
	gpu->ggtt_bytes = (1ULL << (20 + ggms)) / sizeof(u64) * GHYVI_PAGE_BYTES;
	return 0;
}

int gen9_ggtt_init(struct gen9 *gpu)
{
	unsigned int i;
	u64 entries;
	int err;

	spin_lock_init(&gpu->ggtt_lock);
	err = ggtt_size(gpu);
	if (err)
		return err;
	entries = gpu->ggtt_bytes >> GHYVI_PAGE_SHIFT;
	gpu->gtt = ioremap_wc(pci_resource_start(gpu->pdev, GTTMMADR_BAR) + GEN8_GTTADR_OFFSET,
			      entries * sizeof(u64));
	gpu->ggtt = vzalloc(entries * sizeof(u64));
	err = gpu->gtt && gpu->ggtt ? 0 : -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(gpu->scratch) && !err; i++)
		err = gen9_backing_alloc(gpu, &gpu->scratch[i], GFP_KERNEL);
	if (err) {
		gen9_ggtt_fini(gpu);
		return err;
	}
	fill_scratch_tables(gpu);
	gen9_ggtt_set_scratch(gpu, 0, 1);
	gen9_ggtt_set_scratch(gpu, entries - GEN9_HOST_GGTT_PAGES, GEN9_HOST_GGTT_PAGES);
	gen9_ggtt_flush(gpu);
	return 0;
}

void gen9_ggtt_fini(struct gen9 *gpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gpu->scratch); i++)
		gen9_backing_free(gpu, &gpu->scratch[i]);
	vfree(gpu->ggtt);
	if (gpu->gtt)
		iounmap(gpu->gtt);
}
